"""Rule files of users: what they may say, and how what they may not is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook.errors import RuleError
from factbook.extract.base import Rule
from factbook.extract.rules import RuleSet
from factbook.extract.user_rules import (
    MAX_FILE_BYTES,
    MAX_KEYWORDS,
    MAX_PATTERN_CHARS,
    MAX_RULES,
    RESERVED_PREDICATES,
    load_user_rules,
)
from factbook.model.facts import EpisodeKind
from test_rules import call, objects, written

DEPLOYS = """
[[rule]]
name = "deploys_to"
predicate = "deploys_to"
confidence = 0.8
looks_in = "command"
pattern = 'fly deploy .*--app (?P<object>\\S+)'
subject = "action"
cues = ["deploy"]
"""


def load(folder: Path, text: str) -> list[Rule]:
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return load_user_rules(path)


def refusal(folder: Path, text: str) -> tuple[int, str]:
    """Return the line and the reason of a refused file."""
    with pytest.raises(RuleError) as caught:
        load(folder, text)
    error = caught.value
    assert error.exit_code == 5
    line = error.details["line"]
    assert isinstance(line, int)
    where = f"{folder / 'rules.toml'}" + (f", line {line}" if line else "")
    assert str(error) == f"{where}: {error.details['reason']}"
    return line, str(error.details["reason"])


def test_example_of_the_documentation_works(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "rules.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    rules = RuleSet.default(user=load(tmp_path, example))
    command = "fly deploy --remote-only --app box-prod && ssh ann@web1 '@x'"
    assert objects(call("Bash", command=command), "deploys_to", rules) == ["box-prod"]
    assert objects(call("Bash", command=command), "connects_to_host", rules) == ["web1", "x"]
    prompt = written(EpisodeKind.PROMPT, "OPS-0, OPS-12 and WEB-7 on the mainframe and the NAS")
    found = {c.object: c for c in rules.extract(prompt)}
    assert found["OPS-12"].statement == "works on ticket OPS-12 of team OPS"
    assert found["OPS-12"].predicate == "works_on_ticket"
    assert "OPS-0" not in found
    assert {"WEB-7", "mainframe", "nas"} <= set(found)
    assert objects(call("Read", path="a.py"), "read_file", rules) == []
    assert objects(call("Grep", pattern="a"), "searched_code", rules) == []
    assert "deploys_to" in rules.cues()["deploy"]


def test_limits_in_the_documentation_are_the_real_ones() -> None:
    page = (Path(__file__).parents[1] / "docs" / "rules.md").read_text(encoding="utf-8")
    limits = (
        f"Limits: {MAX_RULES} rules, {MAX_PATTERN_CHARS:,} characters a pattern, "
        f"{MAX_KEYWORDS} words a list, {MAX_FILE_BYTES // 1024} KB a file"
    )
    assert limits in page
    assert all(f"`{predicate}`" in page for predicate in RESERVED_PREDICATES)


def test_a_rule_gets_what_it_does_not_say(tmp_path: Path) -> None:
    (rule,) = load(
        tmp_path,
        "[[rule]]\nname = 'opened.door'\nconfidence = 1\nlooks_in = 'reply'\n"
        "pattern = 'door (?P<object>\\d+)'\nsubject = 'action'\n",
    )
    assert rule.predicate == "opened"
    assert rule.looks_in == "text of reply"
    assert rule.method == r"Regex `door (?P<object>\d+)` on text of reply"
    assert rule.statement == "opened {object}"
    assert rule.linear
    rules = RuleSet.default(user=[rule])
    assert rules.lookup("opened.door") is rule
    (claim,) = rules.extract(written(EpisodeKind.REPLY, "Went to door 12."))
    assert (claim.statement, claim.start, claim.end) == ("opened 12", 13, 15)


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert load(tmp_path, "") == []
    assert load(tmp_path, "\ufeff# nothing\n") == []
    assert RuleSet.default(user=[]).rules == RuleSet.default().rules


def test_keywords_replace_or_extend_those_of_a_rule(tmp_path: Path) -> None:
    (only,) = load(tmp_path, "[keywords]\ntargets_system = ['mainframe']\n")
    assert only.keywords == ("mainframe",)
    (more,) = load(tmp_path, "[keywords]\ntargets_system = ['mainframe', '...']\n")
    assert more.keywords[0] == "mainframe"
    assert "unraid" in more.keywords
    for text in (
        "[keywords]\noperation_type.archive = ['...', 'pax']\n",
        "[keywords]\n'operation_type.archive' = ['...', 'pax']\n",
    ):
        rules = RuleSet.default(user=load(tmp_path, text))
        assert rules.lookup("operation_type.archive").keywords[-1] == "pax"
        for command in ("tar xf a.tar", "pax -w x"):
            assert objects(call("Bash", command=command), "operation_type", rules)
    rules = RuleSet.default(user=load(tmp_path, "[keywords]\ndiscovery = ['learned that']\n"))
    reply = written(EpisodeKind.REPLY, "I learned that it is so. I found that it is not.")
    assert objects(reply, "discovery", rules) == ["I learned that it is so."]


def test_switching_rules_keeps_their_place_in_the_table(tmp_path: Path) -> None:
    text = (
        "[disable]\nrules = ['connects_to_host', 'used_tool']\n"
        "[enable]\nrules = ['connects_to_host.seed_strict']\n"
    )
    rules = RuleSet.default(user=load(tmp_path, text))
    assert [rule.name for rule in rules.rules] == [rule.name for rule in RuleSet.default().rules]
    found = rules.extract(call("Bash", command="npm i @types/node"))
    assert [c.predicate for c in found] == ["executed_command", "connects_to_host"]


def test_patterns_take_linear_time_and_any_text(tmp_path: Path) -> None:
    text = DEPLOYS.replace("fly deploy .*--app (?P<object>\\S+)", "(?P<object>(a|aa)+)b")
    assert text != DEPLOYS
    rules = RuleSet.default(user=load(tmp_path, text))
    assert objects(call("Bash", command="a" * 30_000), "deploys_to", rules) == []
    odd = "é\ud800 x aab 漢"
    assert objects(call("Bash", command=odd), "deploys_to", rules) == ["aa"]


REFUSED = [
    ("[[rule]\n", 1, "this is not TOML"),
    ("a = 1\n\nb = = 2\n", 3, "this is not TOML"),
    ("\n[rules]\nx = 1\n", 2, "the file has no key 'rules'; did you mean rule?"),
    ("nonsense = 1\n", 1, "the file has no key 'nonsense'"),
    ("rule = 'x'\n", 1, "write [[rule]]"),
    ("[rule]\nname = 'x'\n", 1, "write [[rule]]"),
    (DEPLOYS.replace("cues", "cue"), 9, "a rule has no key 'cue'; did you mean cues?"),
    (DEPLOYS.replace("confidence = 0.8\n", ""), 2, "the rule has no confidence"),
    (DEPLOYS.replace("0.8", "1.5"), 5, "confidence is 1.5; give a number above 0 and up to 1"),
    (DEPLOYS.replace("0.8", "0"), 5, "confidence is 0"),
    (DEPLOYS.replace("0.8", "nan"), 5, "confidence is nan"),
    (DEPLOYS.replace("0.8", "'high'"), 5, "confidence is 'high', not a number"),
    (DEPLOYS.replace("0.8", "true"), 5, "confidence is True, not a number"),
    (DEPLOYS.replace('"command"', '"the sky"'), 6, "looks_in is 'the sky'; give command, prompt"),
    (DEPLOYS.replace('"command"', '"text of Bash"'), 6, "looks_in is 'text of Bash'"),
    (DEPLOYS.replace('"action"', '"host"'), 8, "subject is 'host'; give one of action, task"),
    (DEPLOYS.replace("(?P<object>", "("), 7, "mark it with (?P<object>...)"),
    (DEPLOYS.replace(".*--app", "(?=x)"), 7, "invalid perl operator: (?="),
    (DEPLOYS.replace(".*--app", r"(a)\1"), 7, "no backreferences"),
    (DEPLOYS.replace(".*--app", "("), 7, "RE2 refuses the pattern: missing )"),
    (DEPLOYS.replace(".*--app", "x" * MAX_PATTERN_CHARS), 7, "give 1 to 1,000"),
    (DEPLOYS.replace('name = "deploys_to"', 'name = "used_tool"'), 3, "a rule of factbook itself"),
    (DEPLOYS.replace('name = "deploys_to"', 'name = "Deploys to"'), 3, "not a lower-case word"),
    (
        DEPLOYS.replace('predicate = "deploys_to"', 'predicate = "executed_command"'),
        4,
        "is reserved",
    ),
    (
        DEPLOYS.replace('predicate = "deploys_to"\n', "").replace('"deploys_to"', '"states.x"'),
        3,
        "the predicate states is reserved",
    ),
    (DEPLOYS.replace('predicate = "deploys_to"', 'predicate = "a.b"'), 4, "not a lower-case word"),
    (DEPLOYS + DEPLOYS, 12, "the name 'deploys_to' is used twice"),
    (DEPLOYS + "statement = 'to {host}'\n", 10, "which the pattern does not capture"),
    (DEPLOYS + "statement = 'to {object.x}'\n", 10, "cannot be filled in"),
    (DEPLOYS + "statement = 'to {object'\n", 10, "cannot be filled in"),
    (DEPLOYS + "statement = '  '\n", 10, "the statement has 2 characters"),
    (DEPLOYS + "embed = 'yes'\n", 10, "embed is 'yes', not true or false"),
    (DEPLOYS + "ignored = [1]\n", 10, "not a list of words"),
    (DEPLOYS + "ignored = ['']\n", 10, "give words of 1 to 60 characters"),
    ("[keywords]\ntargets_systems = ['x']\n", 2, "did you mean targets_system?"),
    ("[keywords]\nused_tool = ['x']\n", 2, "[keywords] has no key 'used_tool'"),
    ("[keywords]\ntargets_system = []\n", 2, "is empty"),
    ("[keywords]\ntargets_system = 'nas'\n", 2, "not a list of words"),
    ("keywords = 1\n", 1, "write [keywords]"),
    (
        "[disable]\nrules = ['use_tool']\n",
        2,
        "there is no rule 'use_tool'; did you mean used_tool?",
    ),
    ("[disable]\nrules = ['zzz']\n", 2, "`factbook predicates` lists them"),
    ("[disable]\nrule = []\n", 2, "did you mean rules?"),
    ("[enable]\nrules = 'all'\n", 2, "not a list of words"),
    ("enable = ['x']\n", 1, "write [enable]"),
    (DEPLOYS + "[disable]\nrules = ['deploys_to']\n", 11, "is a rule of this file"),
    (
        "[enable]\nrules = ['used_tool']\n\n[disable]\nrules = ['used_tool']\n",
        5,
        "both enabled and disabled",
    ),
    ("[[rule]]\nname = 'x'\n" * (MAX_RULES + 1), 2 * MAX_RULES + 1, "more than 200 rules"),
    ("# " + "x" * MAX_FILE_BYTES, 0, "larger than 262,144 bytes"),
    ("x = " + "[" * 5_000, 1, ""),
]


@pytest.mark.parametrize(("text", "line", "reason"), REFUSED, ids=[row[2][:40] for row in REFUSED])
def test_a_bad_file_is_refused(tmp_path: Path, text: str, line: int, reason: str) -> None:
    found = refusal(tmp_path, text)
    assert reason in found[1]
    assert found[0] == line


def test_a_key_in_a_text_of_several_lines_is_no_key(tmp_path: Path) -> None:
    text = DEPLOYS + 'method = """\nconfidence = 3\n[[rule]]\n"""\nembed = 3\n'
    line, reason = refusal(tmp_path, text)
    assert (line, reason) == (14, "embed is 3, not true or false")


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"\.toml: the file cannot be read \(No such file"):
        load_user_rules(tmp_path / "none.toml")
    with pytest.raises(RuleError, match="cannot be read"):
        load_user_rules(tmp_path)
    (tmp_path / "rules.toml").write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(RuleError, match="line 2: this is not UTF-8"):
        load_user_rules(tmp_path / "rules.toml")


PIECES = [DEPLOYS, "[keywords]\n", "[disable]\nrules = []\n", "x = [", "[[rule]]\n", "a.b = 1"]


@settings(max_examples=150, deadline=None)
@given(
    text=st.lists(st.one_of(st.text(max_size=10), st.sampled_from(PIECES)), max_size=6).map(
        "\n".join
    )
)
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    refused = ""
    try:
        RuleSet.default(user=load_user_rules(path))
    except RuleError as error:
        refused = str(error)
    assert not refused or refused.startswith(f"{path}, line ")
