"""Propose predicates that nobody wrote down: operations that recur among executed commands.

Clusters are named from the commands' own words (origins 000.6: `operation_{cluster.id}`; nobody can
judge a number). Nothing is claimed before a person says yes; `as_toml` then writes the rule. A name
holds a program and a subcommand of it, never an operand, a value, a path, a host, an id or a label:
names are read aloud, and kept for ever.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from factbook import policy
from factbook.extract import shell
from factbook.extract.base import word_set
from factbook.extract.clusters import BLOCK_ROWS, density_labels
from factbook.extract.rules import compile_linear, for_re2
from factbook.extract.tests_run import only_looks
from factbook.model.text import shorten

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIN_COUNT: Final = 3  # ours: commands; fewer are chance
MIN_SESSIONS: Final = 2  # ours: what recurs in one session only is that session's task
DOMINANT: Final = 0.3  # ours: share of a cluster that an operation must have to be what it does
RECOGNISED: Final = 0.8  # ours: share of those commands that the pattern must find again
SAID: Final = 0.5  # ours: share of them of which a predicate tells already
EXAMPLES: Final = 3
EXAMPLE_CHARS: Final = 160
CONFIDENCE: Final = policy.PATTERN  # origins 000.6: a pattern, 0.8

_WORD: Final = re.compile(r"[a-z][a-z0-9]*(?:[-_:][a-z0-9]+){0,3}")
_PROGRAM: Final = re.compile(r"[a-z][a-z0-9+]*(?:[-_.][a-z0-9+]+){0,3}")
_ID: Final = re.compile(r"\d{3}|^[0-9a-f]{7,}$|^(?=.*\d)[a-z0-9]{12,}$")
_MAX_WORD: Final = 24
_RUNNERS: Final = {
    "npm": {"run", "run-script"},
    "pnpm": {"run", "exec", "dlx"},
    "yarn": {"run", "dlx"},
    "bun": {"run", "x"},
    "uv": {"run"},
    "poetry": {"run"},
    "docker": {"compose"},
    "gh": {"pr", "issue", "run", "repo", "release", "workflow", "api"},
    "kubectl": {"config", "rollout"},
    "git": {"stash", "remote", "worktree", "submodule"},
    "aws": {"s3", "ec2", "ecs", "lambda", "iam", "logs"},
    "gcloud": {"compute", "run", "container", "auth"},
}
"""First words that say little without the second."""
_SUBCOMMANDS: Final = word_set("""
    git gh glab hub npm pnpm yarn bun deno npx pip pip3 pipx uv poetry pdm conda mamba cargo rustup
    go dotnet mix gem bundle rails rake composer artisan mvn gradle gradlew sbt make just task ninja
    bazel docker podman kubectl helm oc k3s minikube kind terraform tofu pulumi ansible vagrant aws
    gcloud az doctl flyctl fly heroku vercel netlify wrangler supabase firebase railway apt apt-get
    dnf yum pacman brew port snap flatpak systemctl service journalctl launchctl crontab redis-cli
    openssl tmux screen nvm pyenv rbenv asdf mise turbo nx lerna prisma alembic django-admin flask
    celery pre-commit ruff black dvc restic borg rclone zfs zpool virsh lxc nix hg svn jj
    """)
"""Programs whose first plain word is a verb of theirs; of others it could be anything."""
_MODULES: Final = word_set("python python3 py")
_TRIVIAL: Final = word_set("""
    cd ls ll pwd echo printf cat head tail less more sleep true false test exit export set unset
    source which type command read wait clear history date env alias time eval exec return shift
    if then else fi for while do done case esac [ [[ : . mkdir touch cp mv rm ln chmod chown wc sort
    uniq cut tr tee xargs grep rg egrep fgrep sed awk find fd kill pkill killall ps basename dirname
    sudo nohup timeout bash sh zsh python python3 py node ruby perl php
    """)
"""Programs that say nothing of what is being done when they stand alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedCommand:
    """A command that was executed, with the row of its vector."""

    uid: str  # of its episode; counts once
    session: str
    text: str  # redacted
    row: int
    said: tuple[tuple[int, int], ...] = ()  # parts that predicates tell already what they do


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedPredicate:
    """A proposal: a recurring operation and how to recognise it. Waits for a person's yes."""

    name: str  # operation_<program>[_<word>]
    pattern: str  # for RE2; its group `object` is the operation as it is written
    examples: tuple[str, ...]  # commands that it recognises, shortened
    count: int  # of the given commands that it recognises
    sessions: int  # in how many sessions
    words: tuple[str, ...]  # what it is named from
    only_looks: bool = False  # it shows what there is, and changes and checks nothing


class _Head(NamedTuple):
    """What a command does: a program and up to two words of its own vocabulary."""

    program: str
    words: tuple[str, ...]


def find_operations(
    commands: Sequence[ExecutedCommand],
    vectors: NDArray[np.floating[Any]],
    *,
    min_count: int = MIN_COUNT,
    min_sessions: int = MIN_SESSIONS,
) -> list[LearnedPredicate]:
    """Propose a predicate for each operation that recurs and that no predicate tells, best first.

    What does something comes before what only looks, then what is done in most sessions. HDBSCAN
    finds commands that are alike; what at least 30 % of a cluster run names it. `vectors` has a
    unit row for each `row` of a command (shape (rows, dim)). The order of the commands makes no
    difference. Raises ValueError for thresholds below 1 and rows that are missing.
    """
    if min_count < 2 or min_sessions < 1:
        raise ValueError(
            f"min_count is {min_count} and min_sessions is {min_sessions}; give at least 2 and 1"
        )
    if any(not 0 <= command.row < len(vectors) for command in commands):
        raise ValueError(f"a command names a row outside 0 to {len(vectors) - 1}")
    ordered = sorted(commands, key=lambda command: (command.text, command.uid, command.session))
    by_text: dict[str, list[ExecutedCommand]] = {}
    for command in ordered:
        by_text.setdefault(command.text, []).append(command)
    heads = {text: _heads(text) for text in by_text}
    texts = sorted((text for text in by_text if heads[text]), key=lambda text: (heads[text], text))
    wanted: dict[_Head, int] = {}
    for begin in range(0, len(texts), BLOCK_ROWS):
        block = texts[begin : begin + BLOCK_ROWS]
        for head, recognised in _clusters(block, by_text, heads, vectors):
            wanted[head] = wanted.get(head, 0) + recognised
    learned_predicates = []
    for head in sorted(wanted):
        proposal = _proposal(head, ordered)
        if (
            proposal.count >= min_count
            and proposal.sessions >= min_sessions
            and proposal.count >= RECOGNISED * wanted[head]
            and not _is_told(head, ordered)
        ):
            learned_predicates.append(proposal)
    return sorted(
        learned_predicates,
        key=lambda found: (found.only_looks, -found.sessions, -found.count, found.name),
    )


def _clusters(
    texts: Sequence[str],
    by_text: dict[str, list[ExecutedCommand]],
    heads: dict[str, tuple[_Head, ...]],
    vectors: NDArray[np.floating[Any]],
) -> list[tuple[_Head, int]]:
    """Return the operations of each cluster of a block, with how many commands run them."""
    import numpy as np

    matrix = vectors[[by_text[text][0].row for text in texts]].astype(np.float32)
    labels = density_labels(matrix, 2).tolist() if len(texts) > 1 else [-1] * len(texts)
    members: dict[int, list[str]] = {}
    for at, (text, label) in enumerate(zip(texts, labels, strict=True)):
        members.setdefault(label if label >= 0 else -1 - at, []).append(text)
    operations = []
    for some in members.values():
        total = sum(len(by_text[text]) for text in some)
        runs: Counter[_Head] = Counter()
        for text in some:
            for head in set(heads[text]):
                runs[head] += len(by_text[text])
        operations += [
            (head, count)
            for head, count in sorted(runs.items())
            if count >= max(2, DOMINANT * total)
        ]
    return operations


def _heads(text: str) -> tuple[_Head, ...]:
    """Return what the commands of a line do, in order, each once, without what says nothing."""
    heads = map(_head, shell.parse(text))
    return tuple(dict.fromkeys(head for head in heads if head is not None))


def _head(command: shell.ShellCommand) -> _Head | None:
    program = command.name
    values = [word.value for word in command.args]
    if program in _MODULES and "-m" in values[:-1]:
        module = values[values.index("-m") + 1]
        return _Head(program, ("-m", module)) if _is_word(module) else None
    if not _is_word(program, _PROGRAM) or program in _TRIVIAL:
        return None
    if program not in _SUBCOMMANDS:
        return _Head(program, ())
    size = 2 if values and values[0] in _RUNNERS.get(program, ()) else 1
    words = tuple(values[:size])
    # Behind an option it may be that option's value (`git -C folder status`): not taken.
    return _Head(program, words) if len(words) == size and all(map(_is_word, words)) else None


def _is_told(head: _Head, commands: Sequence[ExecutedCommand]) -> bool:
    """Tell whether predicates say of most commands that do it what they do."""
    told: list[bool] = []
    for command in commands:
        if head.program in command.text:
            parts = [part for part in shell.parse(command.text) if _head(part) == head]
            if parts:
                told.append(
                    any(
                        begin < part.end and part.start < end
                        for part in parts
                        for begin, end in command.said
                    )
                )
    return sum(told) > SAID * len(told)


def _is_word(value: str, pattern: re.Pattern[str] = _WORD) -> bool:
    """Tell a word of a program's vocabulary from ids, paths, hosts, labels and secrets."""
    return len(value) <= _MAX_WORD and bool(pattern.fullmatch(value)) and not _ID.search(value)


def _proposal(head: _Head, commands: Sequence[ExecutedCommand]) -> LearnedPredicate:
    words = (head.program, *head.words)
    spoken = tuple(word for word in words if not word.startswith("-"))
    escaped = r"\s+".join(re.sub(r"([.+])", r"\\\1", word) for word in words)
    pattern = rf"(?:^|[\s;&|(`])(?:\./)?(?P<object>{escaped})(?:[\s;&|)`]|$)"
    compiled = compile_linear(pattern)
    seen: dict[str, ExecutedCommand] = {}
    for command in commands:
        if command.uid not in seen and compiled.search(for_re2(command.text)):
            seen[command.uid] = command
    texts = dict.fromkeys(shorten(command.text, EXAMPLE_CHARS) for command in seen.values())
    examples = sorted(texts, key=lambda text: (len(text), text))[:EXAMPLES]
    name = "_".join(("operation", *spoken))
    return LearnedPredicate(
        name=re.sub(r"[^a-z0-9]+", "_", name)[:64].rstrip("_"),
        pattern=pattern,
        examples=tuple(examples),
        count=len(seen),
        sessions=len({command.session for command in seen.values()}),
        words=spoken,
        only_looks=only_looks(" ".join(words)),
    )


def as_toml(proposal: LearnedPredicate) -> str:
    """Write an accepted proposal as a rule for the user's rule file (docs/rules.md)."""
    cues = ", ".join(f'"{word}"' for word in proposal.words)
    return (
        "[[rule]]\n"
        f'name = "{proposal.name}"\n'
        f"confidence = {CONFIDENCE}\n"
        'looks_in = "command"\n'
        f"pattern = '{proposal.pattern}'\n"
        'subject = "action|task"\n'
        'statement = "ran {object}"\n'
        f'method = "Learned from {proposal.count} commands in {proposal.sessions} sessions"\n'
        f"cues = [{cues}]\n"
    )
