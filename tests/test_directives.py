"""Rules and decisions: read in prompts, kept with where they hold, shown where they hold."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.mcp_client import Server
from tests.session_logs import NOW, claude

from conftest import Cli
from data import data_dir
from factbook import policy
from factbook.extract import directives
from factbook.extract.whole_rules import whole
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading, Span
from factbook.language.reader.tree import Tree
from factbook.memory import Memory
from factbook.model.confidence import is_passive
from factbook.model.directives import language_named, scope_of
from factbook.model.facts import EpisodeKind, Fact, FactKind
from factbook.sources.session_log.echo import subtract
from factbook.store.rows import Filters
from factbook.surface.hook.lookup import Lookup
from factbook.surface.hook.reminder import Reminder
from factbook.testing import FrozenClock

RULES: Mapping[str, tuple[str, str, float]] = {
    "always run the tests with uv": ("rule", "project", 0.9),
    "always run tests with uv": ("rule", "project", 0.9),
    "we went with Postgres": ("decision", "project", 0.9),
    "we're going with sqlite rather than Postgres": ("decision", "project", 0.9),
    "use jest for unit tests": ("rule", "project", 0.9),
    "let's use vitest instead of jest": ("decision", "project", 0.9),
    "lines have at most 80 characters": ("rule", "project", 0.9),
    "lines have at most 100 characters": ("rule", "project", 0.9),
    "squash commits before you merge": ("rule", "project", 0.9),
    "sign every commit in all projects": ("rule", "everywhere", 0.9),
    "prefix commit messages with the ticket id of the board": ("rule", "project", 0.9),
    "commit messages in English": ("rule", "project", 0.9),
    "commit messages in German": ("rule", "project", 0.9),
    "no comments that say what the code does, in any repo": ("rule", "everywhere", 0.9),
    "in Python type hints on everything": ("rule", "language", 0.9),
    "tabs are nicer here": ("rule", "everywhere", 0.01),
    "wrap every page in <Layout> tags": ("rule", "project", 0.9),
    "do that": ("rule", "project", 0.9),
    "errors go to stderr": ("rule", "project", 0.4),
    "lines have at most 120 characters": ("rule", "project", 0.4),
    "use pnpm, not npm": ("rule", "project", 0.9),
    "let's use bun instead of pnpm": ("decision", "project", 0.9),
    "let's use bun from now on": ("decision", "project", 0.9),
    "we go back to pnpm": ("decision", "project", 0.9),
    "never touch the generated files in src/gen": ("rule", "project", 0.9),
    "always answer in German": ("rule", "project", 0.9),
    "always squash commits": ("rule", "project", 0.9),
    "please keep commits separate from now on": ("rule", "project", 0.9),
    "let's do": ("decision", "project", 0.9),
    "about those": ("rule", "project", 0.9),
    "always write": ("rule", "project", 0.9),
    "keep functions under 40 lines in all repos": ("rule", "everywhere", 0.9),
    "keep functions under 60 lines in this repo": ("rule", "project", 0.9),
    "always give me short answers": ("rule", "project", 0.9),
    "from now on give me long answers": ("rule", "project", 0.9),
}
SHOP, BLOG = "/home/ann/shop", "/home/ann/blog"


def marked(text: str) -> Reading:
    """Mark what the table has, as the reader would; all else is as it reads it."""
    marks = [
        Span(text.index(said), text.index(said) + len(said), kind, chance, scope)
        for said, (kind, scope, chance) in RULES.items()
        if said in text
    ]
    return replace(read(text), marks=marks)


@pytest.fixture(autouse=True)
def _reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directives, "read", marked)


class Desk:
    """A memory that reads the sessions of one person."""

    def __init__(self, folder: Path) -> None:
        self.clock = FrozenClock(NOW)
        self.folder = folder
        self.db = folder / "m.db"
        self.memory = Memory(self.db, clock=self.clock, key_file=folder / "key", model=None)
        self.owner = "me"
        self._sessions = 0

    def said(self, *prompts: str, project: str = SHOP, **more: object) -> None:
        """Type prompts into a new session of a project."""
        self._sessions += 1
        session = f"3f0c4b1e-0000-4000-8000-{self._sessions:012}"
        lines = [
            claude("user", text, f"u{self._sessions}-{n}", cwd=project, sessionId=session, **more)
            for n, text in enumerate(prompts)
        ]
        path = self.folder / f"{session}.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
        self.memory.ingest([path], workers=0, owner=self.owner)
        self.memory.read_directives()

    @property
    def facts(self) -> Sequence[Fact]:
        return self.memory.sources.directives()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_rule_is_kept_with_where_it_holds_and_where_it_stands(desk: Desk) -> None:
    desk.said("Fix the cart, and always run the tests with uv, please")
    (fact,) = desk.facts
    assert (fact.predicate, fact.statement) == ("rule", "always run the tests with uv")
    assert scope_of(fact.subject) == ("project", SHOP)
    (shown,) = desk.memory.sources.evidence(fact.id, owner=fact.owner)
    assert shown.quote == fact.statement
    assert shown.position == 1


def test_said_again_it_is_evidence_and_in_another_project_another_rule(desk: Desk) -> None:
    desk.said("always run the tests with uv")
    desk.said("I said: no. So always run the tests with uv")
    desk.said("always run tests with uv")
    desk.said("always run the tests with uv", project=BLOG)
    desk.said("no comments that say what the code does, in any repo")
    desk.said("no comments that say what the code does, in any repo. Now the blog", project=BLOG)
    counts = Counter({fact.subject: fact.evidence_count for fact in desk.facts})
    assert counts == {f"project:{SHOP}": 3, f"project:{BLOG}": 1, "everywhere": 2}


def test_a_rule_outlives_the_log_that_another_one_goes_on_from(desk: Desk) -> None:
    rule = "always run the tests with uv"
    desk.said(rule, isSidechain=True)  # a sub-agent was given the same words
    desk.said(rule)
    desk.said(rule)
    store = desk.memory.store
    first, second = store.evidence(fact_ids=[desk.facts[0].id])
    desk.memory.erasure.erase_episode(first.episode_id)
    assert [fact.statement for fact in desk.facts] == [rule]
    left = store.evidence(fact_ids=[desk.facts[0].id])
    assert [row.episode_id for row in left] == [second.episode_id]
    assert desk.memory.check() == []


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("use jest for unit tests", "let's use vitest instead of jest"),
        ("we went with Postgres", "we're going with sqlite rather than Postgres"),
        ("lines have at most 80 characters", "lines have at most 100 characters"),
    ],
)
def test_a_later_decision_takes_the_place_of_the_earlier(
    desk: Desk, earlier: str, later: str
) -> None:
    desk.said(earlier)
    desk.said(earlier, project=BLOG)
    desk.said(later)
    here = [fact.statement for fact in desk.facts if scope_of(fact.subject)[1] == SHOP]
    assert here == [later]
    assert len(desk.facts) == 2  # and what holds in another project holds on
    desk.said(earlier)
    assert desk.memory.explain(desk.facts[-1].id).fact.statement == earlier


def test_logs_may_come_in_any_order(desk: Desk) -> None:
    desk.said("let's use vitest instead of jest", timestamp="2026-03-02T10:00:00Z")
    desk.said("use jest for unit tests", timestamp="2026-02-02T10:00:00Z")
    assert [fact.statement for fact in desk.facts] == ["let's use vitest instead of jest"]


@pytest.mark.parametrize(
    "over",
    [
        "ok we can drop the rule about squashed commits",
        "No need to squash commits any more. Fix the cart",
        "you can stop squashing commits",
    ],
)
def test_what_is_said_to_be_over_holds_no_more(desk: Desk, over: str) -> None:
    rule = "squash commits before you merge"
    desk.said(rule)
    desk.said("we can drop the rule about mocks")
    desk.said("should we drop the rule about squashed commits?")
    desk.said("don't drop the rule about squashed commits")
    assert [fact.statement for fact in desk.facts] == [rule]
    desk.said(over)
    assert rule not in [fact.statement for fact in desk.facts]


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("use pnpm, not npm", "let's use bun instead of pnpm"),
        ("let's use bun from now on", "forget what I said about bun, we go back to pnpm"),
        ("always answer in German", "you can answer in English again"),
        (
            "never touch the generated files in src/gen",
            "you may touch the generated files in src/gen again",
        ),
    ],
)
def test_what_is_taken_back_or_allowed_again_holds_no_more(
    desk: Desk, rule: str, later: str
) -> None:
    desk.said(rule)
    desk.said(later)
    assert rule not in [fact.statement for fact in desk.facts]
    assert desk.memory.review.questions() == []
    desk.memory.store.check()


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        (
            "never touch the generated files in src/gen",
            "it's fine to edit src/gen now, that restriction is gone",
        ),
        (
            "always squash commits",
            "I was wrong about squashing, please keep commits separate from now on",
        ),
        ("always give me short answers", "from now on give me long answers"),
    ],
)
def test_what_speaks_against_a_rule_and_is_not_sure_is_asked(
    desk: Desk, rule: str, later: str
) -> None:
    desk.said(rule)
    desk.said(later)
    (question,) = desk.memory.review.questions()
    assert rule in question.texts
    desk.memory.store.check()


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("never touch the generated files in src/gen", "ok you can touch the files"),
        ("never touch the generated files in src/gen", "can you touch src/gen again?"),
        ("never touch the generated files in src/gen", "you may touch src/old again"),
        ("always answer in German", "you can answer the mail of Tom in English again"),
        ("always squash commits", "you can look at the commits of Tom again"),
    ],
)
def test_what_is_allowed_for_once_or_of_another_thing_ends_nothing(
    desk: Desk, rule: str, later: str
) -> None:
    desk.said(rule)
    desk.said(later)
    assert [fact.statement for fact in desk.facts] == [rule]
    assert desk.memory.review.questions() == []


def test_another_number_in_one_project_is_asked_where_the_rule_holds_everywhere(desk: Desk) -> None:
    desk.said("keep functions under 40 lines in all repos")
    desk.said("keep functions under 60 lines in this repo", project=BLOG)
    assert len(desk.facts) == 2
    assert len(desk.memory.review.questions()) == 1
    desk.memory.store.check()


def test_a_rule_that_may_be_meant_is_asked_about(desk: Desk) -> None:
    desk.said("prefix commit messages with the ticket id of the board")
    desk.said("we can drop the rule about the board")
    assert len(desk.facts) == 2
    assert len(desk.memory.review.questions()) == 1
    desk.said("we can drop the rule about commit prefixes")
    assert not any(fact.statement.startswith("prefix") for fact in desk.facts)


def test_what_is_not_sure_is_asked(desk: Desk) -> None:
    desk.said("commit messages in English")
    desk.said("commit messages in German")
    (question,) = desk.memory.review.questions()
    assert len(desk.facts) == 2
    desk.memory.review.settle({question.ids: "CONTRADICTION"})
    assert [fact.statement for fact in desk.facts] == ["commit messages in German"]


def test_what_is_only_likely_is_shown_once_it_is_said_again(desk: Desk) -> None:
    def shown() -> list[str]:
        until, now = time.monotonic() + 9, desk.clock()
        look = Lookup(str(desk.db), owner="me", until=until, now=now, project=SHOP)
        digest = look.digest(SHOP, without=frozenset(), session="new")
        return [memory.text for memory in digest if memory.predicate == "rule"]

    desk.said("lines have at most 100 characters")
    desk.said("errors go to stderr")
    desk.said("lines have at most 120 characters from now on")
    assert shown() == ["lines have at most 100 characters"]
    assert len(desk.memory.review.questions()) == 1
    desk.said("errors go to stderr")
    assert "errors go to stderr" in shown()


def test_an_exception_in_one_project_is_asked(desk: Desk) -> None:
    desk.said("sign every commit in all projects")
    desk.said("no need to sign commits any more")
    assert Counter(fact.subject for fact in desk.facts) == {"everywhere": 1, f"project:{SHOP}": 1}
    assert len(desk.memory.review.questions()) == 1
    desk.said("we can drop the rule about signed commits")
    assert "sign every commit in all projects" not in [fact.statement for fact in desk.facts]


def test_it_does_not_fade(desk: Desk) -> None:
    desk.said("we went with Postgres")
    (fact,) = desk.facts
    desk.clock.advance(days=900)
    assert [later.confidence for later in desk.facts] == [fact.confidence]


@pytest.mark.parametrize(
    "prompt",
    [
        "What do you think of this?\n\n> always run the tests with uv\n> as I do",
        "```\nalways run the tests with uv\n```\nwhat is this?",
        "tabs are nicer here",
        "Testing special characters: café, naïve, résumé, 中文, русский, emojis 🚀",
        "do that",
        "about those hidden sheets, they may go",
        "Проверка: always русский, 中文",
    ],
)
def test_nothing_is_kept_of_what_others_say_or_of_little(desk: Desk, prompt: str) -> None:
    desk.said(prompt)
    assert desk.facts == []


def test_what_is_supposed_is_no_rule(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "every page is cached for a day", ("rule", "project", 0.95))
    desk.said("what would change if:\n\n- every page is cached for a day\n- nobody logs in")
    assert desk.facts == []


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("We should NEVER ship with the mock payment provider.", "NEVER ship with the mock"),
        ("ok so for the importer lets go with the small parser for now", "the small parser"),
        ("from now on answer in German", "answer in German"),
        ("Translate this to German: always run the tests with uv", ""),
        ("yes, begin with the cart and go on until it builds", ""),
        ("please run the tests", ""),
        ("Thanks for the music! I play the cello on Sundays.", ""),
        ("fix the failing test in the cart", ""),
        ("I cannot log in to staging, have a look at the proxy", ""),
    ],
)
def test_the_reader_marks_what_holds_on_and_no_request(prompt: str, said: str) -> None:
    marks = [mark for mark in read(prompt).marks if mark.chance >= policy.DIRECTIVE_LIKELY]
    assert [said in prompt[mark.begin : mark.end] for mark in marks] == [True] * bool(said)


def test_who_says_yes_in_the_words_of_a_question_says_it_themselves() -> None:
    asked = "Done. Shall I always run the formatter before each commit and push?"
    said = "2, and yes: always run the formatter before each commit and push"
    place = (said.index("always"), len(said))
    assert not directives.is_copied(said, place, asked)
    assert directives.is_copied(said, place, asked.replace("?", "."))


@pytest.mark.parametrize("copied", [True, False])
def test_what_is_copied_out_of_a_reply_is_the_agents(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, *, copied: bool
) -> None:
    monkeypatch.setitem(RULES, "Prices stay in cents", ("rule", "project", 0.99))
    offer = (
        "Two ways:\n\n1. **Prices stay in cents**, the page rounds them when it shows a cart\n2. X"
    )
    asked = "build it: Prices stay in cents, the page rounds them when it shows a cart"
    log = [
        claude("user", "how do we round?", "u1", cwd=SHOP, sessionId=desk.folder.name),
        claude("assistant", [{"type": "text", "text": offer}], "a1", sessionId=desk.folder.name),
        claude(
            "user", asked if copied else "good. Prices stay in cents then", "u2",
            cwd=SHOP, sessionId=desk.folder.name,
        ),
    ]  # fmt: skip
    path = desk.folder / "3f0c4b1e-0000-4000-8000-000000000099.jsonl"
    path.write_text("\n".join(map(json.dumps, log)) + "\n", encoding="utf-8")
    desk.memory.ingest([path], workers=0)
    desk.memory.read_directives()
    assert len(desk.facts) == (not copied)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("ok, fine, let's do vite", "let's do vite"),
        (
            "always write migrations by hand, as the tool breaks them",
            "always write migrations by hand",
        ),
    ],
)
def test_a_rule_is_kept_with_what_its_words_need(desk: Desk, prompt: str, said: str) -> None:
    desk.said(prompt)
    assert [fact.statement for fact in desk.facts] == [said]


@pytest.mark.parametrize(
    ("prompt", "said", "rule"),
    [
        (
            "I'll start the queue worker myself. just say when",
            "worker myself",
            "I'll start the queue worker myself",
        ),
        (
            "we keep no keys in our app .npmrc file, only in the vault. Fix the cart",
            "we keep no keys in our app",
            "we keep no keys in our app .npmrc file, only in the vault",
        ),
        (
            "pin these: redis 7.2.4 rather than memcached, celery 5.3.6, kombu 5.3.4",
            "redis 7.2.4 rather than memcached, celery 5.3.6, kombu",
            "pin these: redis 7.2.4 rather than memcached, celery 5.3.6, kombu 5.3.4",
        ),
        (
            "if the tests are slow, always mark them (with @slow) and fix the cart",
            "always mark them (with @slow",
            "if the tests are slow, always mark them (with @slow)",
        ),
        (
            "the seeds are broken, they must always load on an empty database",
            "must always load on an empty database",
            "the seeds are broken, they must always load on an empty database",
        ),
        ("no, and also never log an order", "never log an order", "never log an order"),
        ("no deploys on Fridays in here", "no deploys", "no deploys on Fridays in here"),
        ("ok dont mock redis here, start it", "mock redis here", "dont mock redis here, start it"),
        ("Please dont just squash it all", "just squash it", "dont just squash it all"),
        ("ok please sign the tags here", "sign the tags", "sign the tags here"),
        ("great. We avoid print here. Read setup.py", "avoid print", "We avoid print here"),
    ],
)
def test_a_rule_is_whole_and_without_what_only_leads_to_it(
    prompt: str, said: str, rule: str
) -> None:
    begin = prompt.index(said)
    first, last = whole(Tree(read(prompt)), begin, begin + len(said))
    assert prompt[first:last] == rule


@pytest.mark.parametrize(
    ("prompt", "rules"),
    [
        ("make a rule: never push a tag by hand", ["never push a tag by hand"]),
        (
            "create a guideline that says that every endpoint has a timeout",
            ["every endpoint has a timeout"],
        ),
        ("update that rule to say to always seed the database", ["always seed the database"]),
        (
            "split the handlers by resource. add a rule recording this",
            ["split the handlers by resource"],
        ),
        (
            "write a rule on how we name branches\n\n- begin with the ticket\n- no capital letters",
            ["begin with the ticket", "no capital letters"],
        ),
        (
            "next time, if the port is taken, tell me before you kill anything",
            ["next time, if the port is taken, tell me before you kill anything"],
        ),
        (
            'from now on never ask me things like "shall I go on?"',
            ['from now on never ask me things like "shall I go on?"'],
        ),
        ("mention that images must always be below 200 KB", ["images must always be below 200 KB"]),
        ("add an eslint rule that forbids var", []),
        ("add a firewall rule to close port 22", []),
        ("did you add a rule that tags are signed?", []),
        ("I wrote a rule that tags are signed", []),
        ("don't add a rule that tags must be signed", []),
        ("there's no need to write down a rule that tags must be signed", []),
        ("don't forget to add a rule that tags must be signed", ["tags must be signed"]),
        ("no, add a rule that tags must be signed", ["tags must be signed"]),
        ("this rule must name the port. update the rule so that it has a title", []),
        ("write a note that the importer is slow", []),
        ("The cart is empty. note that as a rule it is not", []),
        ("Note: when you load it late, it must be the first call", []),
        ("let's look at that next time", []),
        ('she told me "always squash" and left', []),
    ],
)
def test_what_is_ordered_to_be_written_down_is_the_rule(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, prompt: str, rules: list[str]
) -> None:
    monkeypatch.setattr(directives, "read", read)
    desk.said(prompt)
    given = [fact.statement for fact in desk.facts if is_passive(fact.confidence)]
    assert given == rules
    desk.memory.store.check()


@pytest.mark.parametrize(
    ("prompt", "scope"),
    [
        ("use pnpm in all my projects", "everywhere"),
        ("always squash commits, not just in this repo", "everywhere"),
        ("when you read JSON, always use jq. record this as a global rule", "everywhere"),
        ("always squash all commits in this repo", "project"),
        ("never install packages globally", "project"),
        ("never answer me in more than three sentences", "project"),
    ],
)
def test_a_rule_holds_everywhere_where_it_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, prompt: str, scope: str
) -> None:
    monkeypatch.setattr(directives, "read", read)
    desk.said(prompt)
    assert {scope_of(fact.subject)[0] for fact in desk.facts} == {scope}


def test_what_reads_as_anothers_for_long_gives_no_rule(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "Tools are packages. " * 30

    def doubting(text: str) -> Reading:
        """As the reader doubts a stretch when one of its words is the owner's own."""
        paste = Span(text.index(page), len(text), "paste", 0.2)
        return replace(marked(text), foreign=[paste])

    monkeypatch.setattr(directives, "read", doubting)
    desk.said(f"squash commits before you merge\n{page}always run the tests with uv")
    assert [fact.statement for fact in desk.facts] == ["squash commits before you merge"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("what are my rules?", ["always run the tests with uv", "squash commits before you merge"]),
        ("what are my rules for tests", ["always run the tests with uv"]),
        ("what did we decide about the database", ["we went with Postgres"]),
        ("which rules did we agree on for tests", ["always run the tests with uv"]),
    ],
)
def test_who_asks_for_rules_or_decisions_is_shown_those_first(
    desk: Desk, question: str, said: list[str]
) -> None:
    desk.said("always run the tests with uv")
    desk.said("squash commits before you merge")
    desk.said("we went with Postgres")
    desk.said("what are the rules of chess, and who decides?")
    desk.memory.embed()
    hits = desk.memory.recall(question).hits
    assert sorted(hit.text for hit in hits[: len(said)]) == said


@pytest.mark.parametrize("question", ["firewall rules", "decision tree", "who agreed to the terms"])
def test_rules_of_other_things_are_no_rules_of_ours(desk: Desk, question: str) -> None:
    desk.said("always run the tests with uv")
    desk.said("we went with Postgres")
    assert desk.memory.recall(question).predicates == ()


def test_who_asks_for_rules_where_there_are_none_is_told_so(desk: Desk) -> None:
    desk.said("which rules does chess have?")
    desk.memory.embed()
    assert desk.memory.recall("what are my rules?").lacking == ("rule",)


def test_nobody_else_gives_rules(desk: Desk) -> None:
    desk.said("always run the tests with uv", isSidechain=True)
    assert desk.facts == []


def test_owners_have_rules_of_their_own(desk: Desk) -> None:
    desk.said("use jest for unit tests")
    desk.owner = "bob"
    desk.said("let's use vitest instead of jest")
    assert [fact.statement for fact in desk.facts] == ["use jest for unit tests"]
    (his,) = desk.memory.sources.directives(owner="bob")
    assert his.statement == "let's use vitest instead of jest"


def test_a_secret_is_in_no_rule(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "ghp_" + "a1B2" * 9
    monkeypatch.setitem(RULES, "always push with", ("rule", "project", 0.9))
    desk.said(f"always push with {key} as the token")
    shown = [fact.statement for fact in desk.facts]
    assert not any(key in statement for statement in shown)


def test_a_session_begins_with_the_rules_of_its_project(desk: Desk) -> None:
    desk.said("no comments that say what the code does, in any repo")
    desk.said("we went with Postgres")
    desk.said("always run the tests with uv", project=BLOG)
    look = Lookup(
        str(desk.db), owner="me", until=time.monotonic() + 9, now=desk.clock(), project=SHOP
    )
    first = look.digest(SHOP, without=frozenset(), session="new")[:2]
    assert [memory.text for memory in first] == [
        "we went with Postgres",
        "no comments that say what the code does, in any repo",
    ]
    named = [f"f{fact.id}" for fact in desk.facts]
    assert len(look.named(named, without=frozenset(), session="new")) == 2


def test_what_a_session_begins_with_is_data(desk: Desk) -> None:
    desk.said("wrap every page in <Layout> tags")

    def begins(project: str) -> str:
        until, now = time.monotonic() + 9, desk.clock()
        reminder = Reminder(str(desk.db), owner="me", until=until, now=now)
        return reminder.remind({"name": "new", "cwd": project}, None, {})

    said = begins(SHOP)
    assert "Authority of directive: " in said
    assert "wrap every page in &lt;Layout> tags" in said
    assert "Layout" not in begins(BLOG)


def test_an_agent_that_names_its_folder_gets_its_rules(desk: Desk) -> None:
    desk.said("always run the tests with uv")
    desk.said("errors go to stderr")
    desk.memory.close()
    with Server(desk.db, "--read-only") as server:
        texts = {
            folder: server.call("get_context", question="what is new?", project=folder)["text"]
            for folder in (SHOP, BLOG, "")
        }
    assert [folder for folder, text in texts.items() if "rule" in text or "uv" in text] == [SHOP]
    assert "always run the tests with uv" in texts[SHOP]
    assert "stderr" not in texts[SHOP]


def test_a_rule_of_a_language_holds_where_that_is_written(desk: Desk, tmp_path: Path) -> None:
    desk.said("in Python type hints on everything")
    for name, file in (("snake", "app/main.py"), ("crab", "src/main.rs")):
        (tmp_path / name / file).parent.mkdir(parents=True)
        (tmp_path / name / file).touch()
    (rule,) = desk.facts
    assert scope_of(rule.subject) == ("language", "Python")
    assert desk.memory.sources.directives(project=str(tmp_path / "snake")) == [rule]
    assert desk.memory.sources.directives(project=str(tmp_path / "crab")) == []


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("in python use type hints", "Python"),
        ("all Go code is formatted", "Go"),
        ("go on like this", ""),
        ("no exceptions in C++", "C++"),
        ("see src/main.rust", ""),
        ("TypeScript, strict", "TypeScript"),
    ],
)
def test_a_language_is_named_by_its_name(said: str, language: str) -> None:
    assert language_named(said) == language


def test_what_comes_by_itself_without_a_project_holds_everywhere(desk: Desk) -> None:
    desk.said("always run the tests with uv")
    desk.said("sign every commit in all projects")
    desk.memory.embed()
    talk = desk.memory.conversation(owner="me", session="new")
    came = [*talk.prefetch("how do I run the tests with uv?")]
    came += talk.prefetch("shall I sign every commit?")
    rules = {hit.text for hit in came if hit.predicate == "rule"}
    assert rules == {"sign every commit in all projects"}


def test_what_its_owner_calls_wrong_is_no_rule(desk: Desk) -> None:
    desk.said("always run the tests with uv")
    (fact,) = desk.facts
    desk.memory.review.feedback(fact.id, right=False)
    assert desk.memory.sources.directives() == []


@pytest.mark.skipif(data_dir() is None, reason="the data folder is not here")
def test_real_logs_give_few_rules_and_all_in_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found is printed, so that people can judge it: `pytest -s`."""
    monkeypatch.setattr(directives, "read", read)
    folder = data_dir()
    assert folder is not None
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", model=None) as memory:
        memory.ingest([folder / "sessions"])
        memory.read_directives()
        facts = memory.query_facts(kind=FactKind.DIRECTIVE)
        for fact in facts:
            print(f"{fact.predicate:8} {fact.subject[:40]:40} {fact.statement}")
        prompts = Filters(episode_kinds=[EpisodeKind.PROMPT])
        assert len(facts) < len(memory.store.ids("episode", prompts)) / 3


# --- as they are listed ---------------------------------------------------------------------------


def test_they_are_listed_with_since_when_and_how_often(desk: Desk, cli: Cli) -> None:
    desk.said("always run the tests with uv", timestamp="2026-02-02T10:00:00Z")
    desk.said("always run the tests with uv", timestamp="2026-03-02T10:00:00Z")
    desk.said("no comments that say what the code does, in any repo", project=BLOG)
    desk.memory.close()
    rules = cli("rules", "--project", SHOP, "--db", desk.db, "--json").json()["rules"]
    assert [(one["statement"], one["evidence_count"]) for one in rules] == [
        ("always run the tests with uv", 2),
        ("no comments that say what the code does, in any repo", 1),
    ]
    assert rules[0]["since"] == "2026-02-02T10:00:00.000Z"
    assert rules[0]["evidence"].startswith("e")
    assert "always run the tests" in cli("rules", "--db", desk.db).out
    asked = ("context", "what is new?", "--db", desk.db)
    assert "always run the tests" in cli(*asked, "--project", SHOP).out
    assert "always run the tests" not in cli(*asked).out
    assert "always run the tests" not in cli(*asked, "--project", "/home/ann/elsewhere").out


def test_what_is_only_likely_is_listed_apart(desk: Desk, cli: Cli) -> None:
    desk.said("errors go to stderr")
    desk.said("always run the tests with uv")
    desk.memory.close()
    given, likely = cli("rules", "--db", desk.db).out.split("Likely, and given to no agent")
    assert "always run the tests" in given
    assert "errors go to stderr" in likely


def test_a_file_for_agents_is_the_same_whenever_it_is_made(desk: Desk, cli: Cli) -> None:
    def lines() -> list[str]:
        written = cli("rules", "--format", "agents-md", "--db", desk.db).out
        assert not subtract(written).text.replace("# Rules and decisions", "").strip()
        return written.splitlines()

    desk.said("wrap every page in <Layout> tags", timestamp="2026-02-02T10:00:00Z")
    desk.said("sign every commit in all projects", "errors go to stderr")
    before = lines()
    assert [line for line in before if line.startswith("## ")] == ["## Everywhere", f"## In {SHOP}"]
    wrap = next(line for line in before if "Layout" in line)
    assert wrap.startswith("- wrap every page in &lt;Layout> tags (rule, since 2026-02-02, f")
    assert not any("stderr" in line for line in before)
    assert before[-2].startswith("Left out: 1 that ")
    desk.said("always run the tests with uv")
    after = lines()
    new = [line for line in after if line not in before]
    assert len(new) == 1
    assert [line for line in after if line not in new] == before


def test_a_file_for_agents_draws_in_no_other_file(
    desk: Desk, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RULES, "read @~/.netrc before you push", ("rule", "project", 0.95))
    more = ["install `@acme/shop` with npm, not @acme/cart", "quote a ` before @x in shells"]
    for said in more:
        monkeypatch.setitem(RULES, said, ("rule", "project", 0.95))
    desk.said("read @~/.netrc before you push", *more)
    written = cli("rules", "--format", "agents-md", "--db", desk.db).out
    assert "read `@~/.netrc` before you push" in written
    assert "install `@acme/shop` with npm, not `@acme/cart` (" in written
    assert "quote a ' before `@x` in shells (" in written
    both = cli("rules", "--format", "agents-md", "--json", "--db", desk.db, code=2)
    assert "exclude each other" in both.json()["error"]["message"]
