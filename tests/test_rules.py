"""Rules: what each must find, what it must leave alone, and that no text can hurt the engine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook import policy
from factbook.errors import NotFound
from factbook.extract import shell
from factbook.extract.base import SUBJECTS, WAITS, Rule, parse_place, parse_template, render
from factbook.extract.rules import MAX_HITS, RuleSet
from factbook.extract.session_parser import RULES, SEED_STRICT
from factbook.language.sentences import markdown_sentences
from factbook.model.facts import (
    Answer,
    Candidate,
    Episode,
    EpisodeKind,
    Field,
    Outcome,
    Role,
    Trust,
)
from factbook.model.text import shorten
from rows import every

DEFAULT = RuleSet.default()
SEED_LINE = "sshpass -p 'pwd' ssh root@192.168.20.4 'ls -la'"


def call(tool: str, **fields: str | Sequence[str]) -> Episode:
    """Build a tool call as the readers write it: the name, then one line per input."""
    text = tool
    spans: list[Field] = []
    for name, given_values in fields.items():
        for value in [given_values] if isinstance(given_values, str) else given_values:
            start = len(text) + len(name) + 3
            text += f"\n{name}: {value}"
            spans.append(Field(name=name, start=start, end=start + len(value)))
    return Episode(
        uid="u1",
        source="file:/log.jsonl",
        kind=EpisodeKind.TOOL_CALL,
        role=Role.ASSISTANT,
        trust=Trust.OBSERVED,
        text=text,
        position=1,
        offset=0,
        subject="action_8bbd47e5",
        session="5e55",
        tool=tool,
        fields=tuple(spans),
    )


def written(kind: EpisodeKind, text: str, **more: object) -> Episode:
    """Build a prompt, a reply, a result or a record."""
    subjects = {
        EpisodeKind.PROMPT: "task_0a1b",
        EpisodeKind.RECORD: "session_5e55",
        EpisodeKind.SUMMARY: "session_5e55",
    }
    values: dict[str, object] = {
        "uid": "u2",
        "source": "file:/log.jsonl",
        "kind": kind,
        "role": Role.USER if kind is EpisodeKind.PROMPT else Role.ASSISTANT,
        "trust": Trust.DIRECT if kind is EpisodeKind.PROMPT else Trust.DERIVED,
        "text": text,
        "position": 2,
        "offset": 10,
        "subject": subjects.get(kind, "action_8bbd47e5"),
        "session": "5e55",
        **more,
    }
    return Episode(**values)  # type: ignore[arg-type]


def typed_command(command: str) -> Episode:
    """Build the user's own `!` command."""
    return written(
        EpisodeKind.PROMPT,
        f"!: {command}",
        fields=(Field(name="command", start=3, end=3 + len(command)),),
    )


def objects(episode: Episode, predicate: str, rules: RuleSet = DEFAULT) -> list[str]:
    """Return the objects claimed of one predicate, after checking every span."""
    found = rules.extract(episode)
    check_spans(found, episode)
    return [claim.object for claim in found if claim.predicate == predicate]


def check_spans(found: Sequence[Candidate], episode: Episode) -> None:
    for claim in found:
        assert 0 <= claim.start < claim.end <= len(episode.text)
        assert episode.text[claim.start : claim.end].strip()
        assert claim.object.strip() == claim.object != ""
        assert claim.statement.strip()
        assert 0 < claim.confidence <= 1


# --- the seed's example ---------------------------------------------------------------------------


def test_seed_000_golden_example_yields_exactly_three_facts() -> None:
    episode = call("Bash", command=SEED_LINE)
    found = DEFAULT.extract(episode)
    assert [(c.subject, c.predicate, c.object, c.confidence) for c in found] == [
        ("action_8bbd47e5", "used_tool", "Bash", 1.0),
        ("action_8bbd47e5", "executed_command", SEED_LINE, 1.0),
        ("action_8bbd47e5", "connects_to_host", "192.168.20.4", 0.9),
    ]
    assert [c.method for c in found[:2]] == [
        "Direct from `tool_use.name`",
        "Direct from `input.command`",
    ]
    assert [episode.text[c.start : c.end] for c in found] == ["Bash", SEED_LINE, "192.168.20.4"]
    assert found[2].statement == "connected to host 192.168.20.4 by ssh"


def test_seed_000_golden_example_redacted_still_has_its_host() -> None:
    episode = call("Bash", command=SEED_LINE.replace("pwd", "[REDACTED:password:ab12cd34]"))
    assert objects(episode, "connects_to_host") == ["192.168.20.4"]
    assert len(DEFAULT.extract(episode)) == 3


def test_seed_000_strict_rule_is_the_literal_pattern_on_every_command() -> None:
    strict = RuleSet.default(strict=True)
    found = strict.extract(call("Bash", command=SEED_LINE))
    assert [(c.predicate, c.object) for c in found][2] == ("connects_to_host", "192.168.20.4")
    assert found[2].method == r"Regex `@([\w\.\-]+)` on command text"
    assert objects(call("Bash", command="npm i @types/node"), "connects_to_host", strict) == [
        "types"
    ]
    assert objects(call("Bash", command="git clone git@github.com:a/b"), "connects_to_host") == []


def test_seed_000_predicates_have_the_seeds_confidence() -> None:
    listed = {
        "used_tool": 1.0,
        "executed_command": 1.0,
        "requested_in_session": 1.0,
        "described_as": 1.0,
        "modified_file": 1.0,
        "connects_to_host": 0.9,
        "operation_type": 0.8,
        "mentions_path": 0.8,
        "targets_system": 0.7,
        "provides_solution": 0.7,
        "identifies_issue": 0.7,
        "discovery": 0.6,
    }
    table = {(rule.predicate, rule.confidence) for rule in RULES}
    assert set(listed.items()) <= table
    assert len({rule.predicate for rule in RULES}) >= 12
    assert {rule.confidence for rule in RULES} <= {1.0, 0.9, 0.8, 0.7, 0.6}


def test_task_user_message_is_requested_in_its_session() -> None:
    episode = written(EpisodeKind.PROMPT, "  Please look at the parser.\n")
    (claim,) = DEFAULT.extract(episode)
    assert (claim.subject, claim.predicate, claim.object) == (
        "task_0a1b",
        "requested_in_session",
        "5e55",
    )
    assert claim.statement == "asked in session 5e55: Please look at the parser."
    assert episode.text[claim.start : claim.end] == "Please look at the parser."


# --- the table ------------------------------------------------------------------------------------


@every("rule", [*RULES, SEED_STRICT])
def test_row_of_the_table_is_sound(rule: Rule) -> None:
    assert rule.name.partition(".")[0] == rule.predicate
    assert rule.subject in SUBJECTS
    assert rule.waits_for in WAITS
    assert parse_place(rule.looks_in) is not None
    assert parse_template(rule.statement)
    assert rule.method
    assert rule.cues == tuple(cue.lower() for cue in rule.cues)
    assert len(set(rule.cues)) == len(rule.cues)
    assert rule.pattern is None or rule.find is None


def test_names_of_rules_are_unique() -> None:
    names = [rule.name for rule in (*RULES, SEED_STRICT)]
    assert len(set(names)) == len(names)


def markdown_table(rules: Sequence[Rule]) -> str:
    """Write rules as the Markdown table that docs/rules.md shows."""
    rows = [
        "| rule | confidence | subject | looks in | waits for | ranks | matches | method |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for rule in rules:
        cells = (
            f"`{rule.name}`" + ("" if rule.enabled else " (off)"),
            f"{rule.confidence:.1f}",
            " or ".join(rule.subject.split("|")),
            rule.looks_in,
            {"": "", "answer": "its result", "success": "its success"}[rule.waits_for],
            "" if rule.ranks else "no",
            rule.matches,
            rule.method,
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def test_documentation_holds_the_table() -> None:
    page = (Path(__file__).parents[1] / "docs" / "rules.md").read_text(encoding="utf-8")
    table = page.partition("<!-- rules:begin -->")[2].partition("<!-- rules:end -->")[0]
    assert table.strip() == markdown_table(DEFAULT.rules).strip(), (
        "copy the output of markdown_table(DEFAULT.rules) between the marks in docs/rules.md"
    )


def test_what_does_not_rank_is_the_same_for_rules_and_for_search() -> None:
    for predicate in {rule.predicate for rule in RULES}:
        ranks = {rule.ranks for rule in RULES if rule.predicate == predicate}
        assert ranks == {predicate not in policy.UNRANKED_PREDICATES}
    assert {rule.predicate for rule in RULES} > policy.UNRANKED_PREDICATES


def test_lookup_explains_a_rule_and_refuses_an_unknown_one() -> None:
    text = DEFAULT.explain("connects_to_host")
    assert "confidence 0.9" in text
    assert "field command" in text
    assert DEFAULT.explain("connects_to_host.seed_strict").endswith("It is off.")
    with pytest.raises(NotFound, match="no rule nonsense"):
        DEFAULT.lookup("nonsense")


def test_cues_point_from_words_to_predicates() -> None:
    cues = DEFAULT.cues()
    assert "connects_to_host" in cues["hosts"]
    assert "operation_type" in cues["unpacked"]
    assert "modified_file" in cues["changed"]
    assert all(cue == cue.lower() for cue in cues)


def test_unknown_place_is_refused() -> None:
    for place in ("", "field", "text", "text of nobody", "field a b", "attribute x of Bash"):
        assert parse_place(place) is None
    with pytest.raises(ValueError, match="unknown place"):
        RuleSet([Rule(**{**_plain_rule(), "looks_in": "somewhere"})])  # type: ignore[arg-type]


def _plain_rule() -> dict[str, object]:
    return {
        "name": "x",
        "predicate": "x",
        "confidence": 0.5,
        "method": "m",
        "subject": "action",
        "looks_in": "field command",
        "statement": "{object}",
    }


# --- what the record states -----------------------------------------------------------------------


def test_internal_tools_are_not_used_tools() -> None:
    for tool in policy.INTERNAL_TOOLS:
        assert DEFAULT.extract(call(tool, todos="[]")) == []


def test_a_tool_name_with_a_line_break_has_its_first_line_as_evidence() -> None:
    episode = call("Task", prompt="x")
    odd = 'Task" >\n<parameter name="description'
    episode = Episode(
        **{
            **{name: getattr(episode, name) for name in episode.__slots__},
            "tool": odd,
            "text": 'Task" > <parameter\nprompt: x',
        }
    )
    assert objects(episode, "used_tool") == [odd]


def test_described_as_takes_the_description_of_a_call_alone() -> None:
    assert objects(call("Bash", command="ls", description="List it"), "described_as") == ["List it"]
    assert objects(call("TaskCreate", description="A long story"), "described_as") == []


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch"])
def test_modified_file(tool: str) -> None:
    episode = call(tool, path=["src/auth/token.py", "src/auth/keys.py", "src/auth/token.py"])
    assert objects(episode, "modified_file") == ["src/auth/token.py", "src/auth/keys.py"]
    done = replace(episode, answer=Answer(Outcome.DONE, "ok"))
    assert [one.statement for one in DEFAULT.extract(done)][:1] == [
        "changed file src/auth/token.py"
    ]


def test_files_read_searched_and_fetched() -> None:
    assert objects(call("Read", path="a/b.py"), "read_file") == ["a/b.py"]
    assert objects(call("Read", path="a/b.py"), "modified_file") == []
    assert objects(call("Grep", pattern="def main", path="src"), "searched_code") == ["def main"]
    assert objects(call("Grep", pattern="x", path="src"), "read_file") == []
    url = "https://docs.example.org/start"
    assert objects(call("WebFetch", url=url, prompt="?"), "fetched_url") == [url]
    assert objects(call("mcp__browser__navigate", url=url), "fetched_url") == [url]
    assert objects(call("mcp__tracker__create_link", url=url), "fetched_url") == []
    assert objects(call("WebSearch", query="fts5 ranking"), "searched_for") == ["fts5 ranking"]
    assert objects(call("ToolSearch", query="x"), "searched_for") == []


def test_used_mcp_server_of_a_namespace() -> None:
    episode = call("get_issue", id="1")
    values = {name: getattr(episode, name) for name in episode.__slots__}
    episode = Episode(**{**values, "attributes": {"namespace": "mcp__deepwiki"}})
    assert objects(episode, "used_mcp_server") == ["deepwiki"]


def test_skills_and_sub_agents() -> None:
    assert objects(call("Skill", skill="release-notes"), "used_skill") == ["release-notes"]
    assert objects(call("Task", agent_type="reviewer", prompt="x"), "delegated_to") == ["reviewer"]
    assert objects(call("TeamCreate", agent_type="lead"), "delegated_to") == []


def test_branch_and_pull_request_are_of_the_session() -> None:
    record = written(
        EpisodeKind.RECORD,
        "branch: fix/login",
        attributes={"branch": "fix/login"},
        trust=Trust.OBSERVED,
    )
    (claim,) = DEFAULT.extract(record)
    assert (claim.subject, claim.object) == ("session_5e55", "fix/login")
    assert record.text[claim.start : claim.end] == "fix/login"
    url = "https://git.example.org/ann/box/pull/12"
    record = written(
        EpisodeKind.RECORD, f"pull request: {url}", attributes={"pr_url": url, "pr_number": "12"}
    )
    assert objects(record, "linked_pr") == [url]
    head = written(EpisodeKind.RECORD, "branch: HEAD", attributes={"branch": "HEAD"})
    assert DEFAULT.extract(head) == []


def test_the_users_own_command_is_a_fact_about_the_task() -> None:
    episode = typed_command("ssh backup.example.net uptime")
    found = {(c.subject, c.predicate, c.object) for c in DEFAULT.extract(episode)}
    assert ("task_0a1b", "executed_command", "ssh backup.example.net uptime") in found
    assert ("task_0a1b", "connects_to_host", "backup.example.net") in found
    assert not any(predicate == "used_tool" for _, predicate, _ in found)


def test_results_say_how_a_call_failed() -> None:
    text = "Exit code 1\nTraceback (most recent call last):\n  File \"a.py\"\nKeyError: 'name'"
    result = written(
        EpisodeKind.TOOL_RESULT,
        text,
        is_error=True,
        tool="Bash",
        trust=Trust.EXTERNAL,
        attributes={"exit_code": "1"},
    )
    found = {c.predicate: c for c in DEFAULT.extract(result)}
    assert found["exited_with"].object == "1"
    assert found["exited_with"].trust is Trust.OBSERVED
    assert found["exited_with"].statement == "Bash exited with code 1"
    assert found["failed_with"].statement == "Bash failed: KeyError: 'name'"
    assert found["failed_with"].trust is None


def test_results_that_did_not_fail_say_nothing() -> None:
    for more in ({}, {"attributes": {"exit_code": "0"}}, {"attributes": {"exit_code": "odd"}}):
        text = "error: but the host saw none"
        assert objects(written(EpisodeKind.TOOL_RESULT, text, **more), "exited_with") == []
    denied = written(
        EpisodeKind.TOOL_RESULT, "error: no", is_error=True, attributes={"denied": "true"}
    )
    assert DEFAULT.extract(denied) == []


# --- paths ----------------------------------------------------------------------------------------


def test_targets_system_takes_whole_words_alone() -> None:
    def systems(text: str) -> list[str]:
        return objects(written(EpisodeKind.PROMPT, text), "targets_system")

    assert systems("Back up my Unraid servers and the Raspberry Pi") == [
        "unraid",
        "server",
        "raspberry pi",
        "raspberry",
    ]
    assert systems("Add unit tests for the server module") == []
    assert systems("Fix the MCP server so that it starts") == []
    assert systems("Move it to our home server") == ["server"]
    assert systems("what is this?\n\n```\nnginx: bind() failed on the server\n```") == []
    assert systems('"name": "server", "value": "Vercel"') == []
    assert systems("Follow this plan. " + "It is long. " * 40 + "Start the server.") == []
    assert systems("server.ts, /srv/server/x, mcp-server, observers, nasal, @server") == []
    (claim,) = [
        c
        for c in DEFAULT.extract(written(EpisodeKind.PROMPT, "on the NAS"))
        if c.predicate == "targets_system"
    ]
    assert (claim.statement, claim.confidence) == ("about the system nas", 0.7)


# --- prose ----------------------------------------------------------------------------------------


def test_a_snippet_is_bounded_and_holds_its_keyword() -> None:
    filler = " ".join(f"word{n}" for n in range(80))
    text = f"So {filler} and the test failed because the header was never written, {filler}."
    (snippet,) = objects(written(EpisodeKind.REPLY, text), "identifies_issue")
    assert len(snippet) <= policy.SNIPPET_CHARS
    assert "failed" in snippet
    assert snippet.startswith("…")
    assert snippet.endswith("…")
    assert not snippet.rstrip("…").endswith("wor")


def test_sentences_of_markdown() -> None:
    text = (
        "# Title here\n\nFirst one. Second `a. b` here! E.g. this.\n"
        "1. An item\n2. Another item\n   that goes on\n\n```py\ncode. code\n```\n| a | b |\n\nLast"
    )
    assert [text[a:b] for a, b in markdown_sentences(text)] == [
        "First one.",
        "Second `a. b` here!",
        "E.g. this.",
        "An item",
        "Another item\n   that goes on",
        "Last",
    ]


# --- the engine -----------------------------------------------------------------------------------


def test_the_same_claim_is_made_once_per_episode() -> None:
    episode = call("Bash", command="ssh web1 ls; ssh ann@web1 df; ssh web1")
    assert objects(episode, "connects_to_host") == ["web1"]


def test_ssh_that_only_tells_of_itself_connects_to_no_host() -> None:
    """Options stand before the host, or behind it; what runs there has its own."""

    def hosts(line: str) -> list[str]:
        return objects(call("Bash", command=line), "connects_to_host")

    for line in ("ssh -V build7", "ssh build7 -V", "ssh -G build7", "ssh build7 -p 22 -G"):
        assert hosts(line) == [], line
    for line in ("ssh build7 -p 22 uptime", "ssh build7 git -V"):
        assert hosts(line) == ["build7"], line


def test_a_rule_claims_a_bounded_number_of_objects() -> None:
    command = " ".join(f"/srv/data/file{n}" for n in range(3 * MAX_HITS))
    assert len(objects(call("Bash", command="ls " + command), "mentions_path")) == MAX_HITS


def test_an_episode_without_a_subject_claims_nothing_but_of_its_session() -> None:
    episode = written(EpisodeKind.REPLY, "I found that the cache is never emptied.", subject="")
    assert DEFAULT.extract(episode) == []


def test_statements_are_bounded_and_stay_on_one_line() -> None:
    command = "echo " + "word\n" * 20_000
    found = DEFAULT.extract(call("Bash", command=command))
    executed = next(c for c in found if c.predicate == "executed_command")
    assert executed.object == command.strip()
    assert len(executed.statement) < 320
    assert "\n" not in executed.statement


def test_shorten_and_render() -> None:
    assert shorten("  one \n two  ", 20) == "one two"
    assert shorten("one two three", 9) == "one two…"
    assert shorten("x" * 50, 10) == "x" * 9 + "…"
    assert render("{a} and {b}", {"a": "1"}) == "1 and"
    for bad in ("{a.b}", "{a[0]}", "{a!r}", "{a:>9}", "{}"):
        with pytest.raises(ValueError, match="plain name"):
            parse_template(bad)


_PIECES = """
ssh scp rsync root@h a@b:c 'x "y $( ` ) <<EOF EOF \n ; && | > 2>&1 \\ # { } (( $(( ${ tar
-xzf unzip git commit -m --check test npm install /a/b.c ~/x ./y.z https://a.b/c @ :: :/
error: failed fix found that Traceback FAILED ``` - 1. | ## **b** `c . ! ? 。 [REDACTED:x]
İ ß \ud800 \x00 \u2028 server 0 no if let me … [ ] = * < > </a> C:\\x mcp__a__b
"""
_LOG_LIKE = st.lists(
    st.one_of(st.text(max_size=12), st.sampled_from(_PIECES.split(" "))), max_size=60
).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(text=_LOG_LIKE, kind=st.sampled_from(EpisodeKind), error=st.booleans())
def test_no_text_breaks_the_rules(text: str, kind: EpisodeKind, error: bool) -> None:
    strict = RuleSet.default(strict=True)
    episode = written(
        kind,
        text,
        is_error=error,
        tool=text[:20],
        fields=(
            Field(name="command", start=0, end=len(text)),
            Field(name="path", start=len(text) // 2, end=len(text)),
        ),
        attributes={"exit_code": text[:3], "branch": text[2:9], "pr_url": text[:5]},
    )
    for rules in (DEFAULT, strict):
        found = rules.extract(episode)
        check_spans(found, episode)
        assert found == rules.extract(episode)
        keys = [(c.subject, c.predicate, c.object) for c in found]
        assert len(set(keys)) == len(keys)


@settings(max_examples=200, deadline=None)
@given(text=_LOG_LIKE)
def test_shell_words_stand_where_they_say(text: str) -> None:
    for command in shell.parse(text):
        assert 0 <= command.start < command.end <= len(text)
        for word in command.words:
            assert 0 <= word.start < word.end <= len(text)
            if word.inner >= 0:
                assert text[word.inner : word.inner + len(word.value)] == word.value


HUGE = 64_000


@every(
    "unit",
    [
        "a", "/", "'", '"', "$(", "`", "(", "<<E\n", "\\", "${", "ssh ", "sudo ", "if ", "a=b ",
        ":", "error ", "fix ", "- ", "`─", "1. ", "a.b/", "[", "@", "a\n", ". A", "let me ", "::",
        "\n", "bash -c '", "ssh a ", "no ", "|", "x:/", "~/", ".a/", "'a'b", "!", "!*", "?)",
    ],
)  # fmt: skip
def test_time_is_linear_in_the_text(unit: str) -> None:
    text = (unit * HUGE)[:HUGE]
    started = time.process_time()
    DEFAULT.extract(call("Bash", command=text, description=text, path=text))
    DEFAULT.extract(call("Bash", command="ssh " + text + " error fix found"))
    for kind in (EpisodeKind.PROMPT, EpisodeKind.REPLY, EpisodeKind.TOOL_RESULT):
        DEFAULT.extract(written(kind, text + " error fix found server", is_error=True))
    # Squares would take minutes; the bound leaves room for a slow and busy machine.
    assert time.process_time() - started < 6


@pytest.mark.parametrize("unit", ["!", "!?"])
def test_a_row_of_stops_is_split_in_linear_time(unit: str) -> None:
    text = "It works" + unit * 100_000 + "x"
    started = time.process_time()
    assert len(markdown_sentences(text)) <= 1
    assert time.process_time() - started < 2


# --- what is no report ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        ("provides_solution", "The fix should:\n\n```\nx\n```"),
        ("provides_solution", "The fix requires two more changes in the parser of the cart."),
        ("provides_solution", "You have two options:\n\n1. Pin it - fixed the quick way\n2. Wait"),
        ("identifies_issue", "1. **The Conversion Bug** (lines 893-906)"),
        (
            "identifies_issue",
            "> the build failed because the disk is full\n\nThat is what it says.",
        ),
        ("identifies_issue", "12:43:50 [worker] task 2 failed because the disk is full"),
        ("discovery", "I found the exact strings; applying the patch now."),
        ("provides_solution", "Suggested:\n\n1. **Fix the module reference** in `[tool.x]`"),
        ("provides_solution", "The first commit (doc fixes) is already part of the main branch."),
        (
            "discovery",
            "I have the root cause now. One thing more: the run goes on, so far I see"
            " nothing, I'm going to wait for it.",
        ),
        ("identifies_issue", "I'm fetching the log of the failed upload now."),
        ("identifies_issue", "The scan is long; nothing has failed yet."),
        ("provides_solution", "That patch would be the worse fix: the till then hides its total."),
        ("provides_solution", "Our copy is missing the newer rounding fix of the main project."),
        ("provides_solution", "The reviewer found a gap in my fix: the second till is skipped."),
        ("provides_solution", "The budget fix is in. I am rebuilding so the tests see it."),
        ("identifies_issue", "The failing call is probably the first, so I am reading it."),
        ("discovery", "I found the job files. Next I'm reading whether the linter runs in them."),
        (
            "provides_solution",
            "The label fix was too narrow; the second branch still does nothing.",
        ),
        # Code, also where its fence closes behind words, and where it stands in none.
        (
            "identifies_issue",
            "So:\n```\nprices.```\nThen:\n```diff\n+  throw new Error(`No file found: ${it}`)\n```",
        ),
        ("identifies_issue", "throw new Error(`The drawer of ${till} was not found`)"),
        ("identifies_issue", "raise Error(f'the drawer of {till} was not found')"),
        ("identifies_issue", "console.error(`The drawer of ${till} was not found`);"),
        ("identifies_issue", "+       log.error(`The drawer of ${till} was not found`)"),
        ("discovery", "Root cause: npm rejected the package with:\n\n```text\nE404\n```"),
    ],
)
def test_what_only_labels_supposes_or_quotes_is_no_report(predicate: str, text: str) -> None:
    assert objects(written(EpisodeKind.REPLY, text), predicate) == []


def test_what_is_mended_is_no_fault_beside_it() -> None:
    reply = written(
        EpisodeKind.REPLY,
        "Fixed: 2 failing tests in `till.py` - the prices were rounded twice.\n\n"
        "The drawer test failed because the bell is not wired.",
    )
    assert objects(reply, "provides_solution") == [
        "Fixed: 2 failing tests in `till.py` - the prices were rounded twice."
    ]
    assert objects(reply, "identifies_issue") == [
        "The drawer test failed because the bell is not wired."
    ]


@pytest.mark.parametrize(
    "before",
    [
        "```\nx = 1\n```",
        "```\nprices, or tills.```",
        "```make till``` it is.",
        "```make till```",
        "~~~text\nthe bell\n~~~",
    ],
)
def test_what_stands_behind_code_is_prose_again(before: str) -> None:
    reply = f"{before}\n\nThe drawer is open.\n\n```\nclosed = True\n```\n\nThe bell rings."
    found = [span.of(reply) for span in markdown_sentences(reply)]
    assert found[-2:] == ["The drawer is open.", "The bell rings."]
    assert not any("closed" in one for one in found)


def test_of_an_announcement_the_next_sentence_is_the_fact() -> None:
    reply = written(
        EpisodeKind.REPLY, "FOUND THE ROOT CAUSE! The cache is never cleared on logout. Fixing it."
    )
    assert objects(reply, "discovery") == ["The cache is never cleared on logout."]


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        ("provides_solution", "What I did:\n\n1. Fixed the regex of the parser\n2. Added a test"),
        ("provides_solution", "Fixed the publish job by giving it a workflow of its own."),
        (
            "identifies_issue",
            "The parser fails on dates that lack a year: the regex needs one.",
        ),
        ("discovery", "I found that the loader already returns a count per suite."),
    ],
)
def test_what_was_done_or_found_is_a_report(predicate: str, text: str) -> None:
    assert objects(written(EpisodeKind.REPLY, text), predicate) != []


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        ("provides_solution", "Best fix: keep publish a workflow of its own."),
        ("provides_solution", "The proper fix is to give publish a workflow of its own."),
        ("provides_solution", "Now let me apply both fixes to the publish job."),
        ("identifies_issue", "The loader returns an error if the file is missing."),
    ],
)
def test_what_is_proposed_or_built_so_is_no_report(predicate: str, text: str) -> None:
    assert objects(written(EpisodeKind.REPLY, text), predicate) == []


@pytest.mark.parametrize(
    ("command", "verb"),
    [
        ("xz -9d notes.xz", "unpacked"),
        ("xz -T0 notes", "packed"),
        ("tar -xvzfnotes.tgz", "unpacked"),
        ("tar -C/tmp -czf notes.tgz notes", "packed"),
        ("tar --list -f notes.tgz", "listed"),
        ("gzip -19t notes.gz", "tested"),
    ],
)
def test_the_letters_of_an_option_say_what_is_done_to_an_archive(command: str, verb: str) -> None:
    found = DEFAULT.extract(call("Bash", command=command))
    said = [one.statement for one in found if one.rule == "operation_type.archive"]
    (line,) = said
    assert line.startswith((f"{verb} archive", f"archive to be {verb}"))
