"""Learned predicates: what is proposed from executed commands, how it is named, and its rule."""

from __future__ import annotations

import random
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from factbook.extract.predicate_discovery import (
    ExecutedCommand,
    LearnedPredicate,
    as_toml,
    find_operations,
)
from factbook.extract.rules import RuleSet, compile_linear
from factbook.extract.user_rules import load_user_rules
from factbook.model.facts import Episode, EpisodeKind, Field, Role, Trust


def vectors_of(texts: list[str]) -> NDArray[np.float32]:
    """Return bags of hashed words as unit vectors: alike words, near vectors."""
    rows = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            rows[row, zlib.crc32(word.encode()) % 64] += 1.0
        rows[row, 63] += 0.1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def commands(texts: list[str], *, sessions: int = 3) -> list[ExecutedCommand]:
    return [
        ExecutedCommand(uid=f"u{row}", session=f"s{row % sessions}", text=text, row=row)
        for row, text in enumerate(texts)
    ]


DEPLOYS = [f"kubectl apply -f deploy/{name}.yaml" for name in ("web", "api", "jobs", "cron")]
BACKUPS = ["restic backup /srv/photos", "restic backup /srv/mail", "restic backup /home"]
NOISE = ["ls -la", "cd /srv && pwd", "cat notes.txt", "echo done"]


def proposals(texts: list[str], **options: object) -> dict[str, LearnedPredicate]:
    found = find_operations(commands(texts), vectors_of(texts), **options)  # type: ignore[arg-type]
    return {one.name: one for one in found}


def test_recurring_operations_are_named_from_their_own_words() -> None:
    found = proposals(DEPLOYS + BACKUPS + NOISE)
    assert set(found) == {"operation_kubectl_apply", "operation_restic_backup"}
    apply = found["operation_kubectl_apply"]
    assert (apply.count, apply.sessions) == (4, 3)
    assert len(apply.examples) == 3
    assert all(example in DEPLOYS for example in apply.examples)


def test_the_pattern_recognises_the_operation_inside_a_line_and_nothing_else() -> None:
    pattern = compile_linear(proposals(DEPLOYS)["operation_kubectl_apply"].pattern)
    assert pattern.search("cd /srv && kubectl apply -f x.yaml")["object"] == "kubectl apply"
    assert pattern.search("(kubectl  apply)")
    for other in ("kubectl apply-set x", "mykubectl apply", "kubectl get pods", "kubectl", ""):
        assert not pattern.search(other)


def test_what_happens_in_one_session_only_is_not_proposed() -> None:
    some = commands(DEPLOYS, sessions=1)
    assert find_operations(some, vectors_of(DEPLOYS)) == []
    assert find_operations(some, vectors_of(DEPLOYS), min_sessions=1)


def test_what_predicates_tell_already_is_not_proposed() -> None:
    texts = ["git commit -m first", "cd app && git commit -m second", "git commit -m third"]
    told = [replace(one, said=((one.text.index("-m"), len(one.text)),)) for one in commands(texts)]
    assert [one.name for one in find_operations(commands(texts), vectors_of(texts))] == [
        "operation_git_commit"
    ]
    assert find_operations(told, vectors_of(texts)) == []
    beside = [replace(one, said=((0, 3),) if one.text.startswith("cd") else ()) for one in told]
    assert find_operations(beside, vectors_of(texts))  # of another command of the line


def test_what_does_something_comes_before_what_only_looks() -> None:
    texts = ["git status"] * 6 + DEPLOYS + BACKUPS
    found = find_operations(commands(texts), vectors_of(texts))
    assert [one.name for one in found] == [
        "operation_kubectl_apply",
        "operation_restic_backup",
        "operation_git_status",
    ]


def test_few_commands_are_not_proposed() -> None:
    assert proposals(DEPLOYS[:2]) == {}


def test_the_same_record_copied_counts_once() -> None:
    copies = [
        ExecutedCommand(uid="one", session=f"s{n}", text="restic backup /srv", row=0)
        for n in range(5)
    ]
    assert find_operations(copies, vectors_of(["restic backup /srv"])) == []


@pytest.mark.parametrize(
    "text",
    [
        "mysql --password=[REDACTED:password:ab12cd34] shop",
        "git 8bbd47e5aa",
        "docker sk4f9a8b7c6d5e4f",
        "kubectl /srv/secret/file",
        "gh token=hunter2secret",
        "git -c http.extraheader=x fetch",
        "systemctl 192.168.20.4",
        "npm run 20240101",
        "ssh nas.example.org uptime",
    ],
)
def test_no_secret_id_path_or_host_gets_into_a_name(text: str) -> None:
    for name, proposal in proposals([text] * 4).items():
        assert name in {"operation_mysql", "operation_ssh", "operation_uptime"}
        assert set(proposal.words) <= {"mysql", "ssh", "uptime"}


def test_the_order_of_the_commands_makes_no_difference() -> None:
    texts = DEPLOYS + BACKUPS + NOISE
    given_in_order = find_operations(commands(texts), vectors_of(texts))
    shuffled = commands(texts)
    random.Random(5).shuffle(shuffled)
    assert find_operations(shuffled, vectors_of(texts)) == given_in_order


def test_an_accepted_proposal_is_a_rule_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    both = proposals(DEPLOYS + BACKUPS)
    path.write_text("\n".join(as_toml(one) for one in both.values()), encoding="utf-8")
    rules = RuleSet.default(user=load_user_rules(path))
    text = "Bash\ncd infra && kubectl apply -f web.yaml"
    episode = Episode(
        uid="e1",
        source="test",
        kind=EpisodeKind.TOOL_CALL,
        role=Role.ASSISTANT,
        trust=Trust.OBSERVED,
        text=text,
        position=1,
        offset=0,
        subject="action_1",
        tool="Bash",
        fields=(Field(name="command", start=5, end=len(text)),),
    )
    claims = [one for one in rules.extract(episode) if one.predicate == "operation_kubectl_apply"]
    assert [(one.object, one.statement, one.confidence) for one in claims] == [
        ("kubectl apply", "ran kubectl apply", 0.8)
    ]
    assert text[claims[0].start : claims[0].end] == "kubectl apply"


def test_modules_of_python_and_scripts_of_runners_are_told_apart() -> None:
    texts = [f"python -m alembic upgrade {n}" for n in "abc"]
    texts += [f"npm run build:{part}" for part in ("web", "web", "web")]
    found = proposals(texts)
    assert set(found) == {"operation_python_alembic", "operation_npm_run_build_web"}


def test_bad_options_are_refused() -> None:
    with pytest.raises(ValueError, match="min_count is 1"):
        find_operations([], np.zeros((0, 4)), min_count=1)
    with pytest.raises(ValueError, match="outside"):
        find_operations(commands(["git status"]), np.zeros((0, 4)))
    assert find_operations([], np.zeros((0, 4))) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=8), st.text(max_size=30))
def test_any_text_is_a_legal_command(texts: list[str], more: str) -> None:
    texts = [*texts, *(f"git {more}" for _ in range(3))]
    for one in find_operations(commands(texts), vectors_of(texts)):
        compile_linear(one.pattern)
        assert one.name.isidentifier()
        assert one.name.isascii()
