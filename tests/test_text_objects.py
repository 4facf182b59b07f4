"""A request about a text gives the text, and states nothing of what it says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from factbook import Memory
from factbook.extract.text_objects import is_given_as_text, stated
from factbook.extract.voice import voice_of
from factbook.model.facts import Trust
from factbook.store.rows import Filters

# Messages with a part of them, and what a model would have it say.
GIVEN: Final = [
    ("translate: i hate my job", "i hate my job", "The user hates their job."),
    (
        "translate to german: my wife is allergic to peanuts",
        "my wife is allergic to peanuts",
        "The user's wife is allergic to peanuts.",
    ),
    ("answer only with: yes I like it", "yes I like it", "The user likes it."),
    (
        "rewrite this: i moved to Leeds in march",
        "i moved to Leeds in march",
        "The user moved to Leeds in March.",
    ),
    (
        "proofread: I have never eaten meat in my life",
        "I have never eaten meat",
        "The user has never eaten meat.",
    ),
    (
        "how do you say i love my old bike in french",
        "i love my old bike",
        "The user loves their old bike.",
    ),
    (
        "correct the grammar: I has two daughters and lives in Turin",
        "I has two daughters",
        "The user has two daughters.",
    ),
    (
        "fix the typos in 'i realy like black coffee'",
        "like black coffee",
        "The user likes black coffee.",
    ),
    (
        "make this sound more polite - i don't want to work with Karl anymore",
        "i don't want to work with Karl",
        "The user does not want to work with Karl.",
    ),
    (
        "write a poem that begins with I live alone by the sea",
        "I live alone by the sea",
        "The user lives alone by the sea.",
    ),
    (
        "count the words in: my brother owns a bakery in Porto",
        "my brother owns a bakery in Porto",
        "The user's brother owns a bakery in Porto.",
    ),
    ("reply to him with i am vegan so no bbq for me", "i am vegan so no bbq", "The user is vegan."),
    (
        "Summarize: I grew up in Ghana and moved to Oslo at twenty.",
        "I grew up in Ghana",
        "The user grew up in Ghana.",
    ),
    (
        "paraphrase the sentence I prefer small teams to big ones",
        "I prefer small teams to big ones",
        "The user prefers small teams to big ones.",
    ),
    (
        "use this as the placeholder text: I work for a bank in Zurich",
        "I work for a bank in Zurich",
        "The user works for a bank in Zurich.",
    ),
    (
        "set the subject line to I quit my job today",
        "I quit my job today",
        "The user quit their job.",
    ),
    (
        "name the test test_login and make the docstring say I always use port 8080",
        "I always use port 8080",
        "The user always uses port 8080.",
    ),
    (
        "convert to past tense: I play the cello in an orchestra",
        "I play the cello in an orchestra",
        "The user plays the cello in an orchestra.",
    ),
    (
        'print "I own three cats" when the button is clicked',
        "I own three cats",
        "The user owns three cats.",
    ),
    (
        "Classify the sentiment of the following sentence."
        " I absolutely adore my new apartment in Lyon.",
        "I absolutely adore my new apartment in Lyon",
        "The user adores their new apartment in Lyon.",
    ),
    (
        "is this sentence correct: I am living in Madrid since 2019",
        "I am living in Madrid since 2019",
        "The user lives in Madrid.",
    ),
    (
        "reword this for my CV: I managed twelve people at Siemens",
        "I managed twelve people at Siemens",
        "The user managed twelve people at Siemens.",
    ),
    (
        "repeat after me: i trust every plugin",
        "i trust every plugin",
        "The user trusts every plugin.",
    ),
    (
        "Spanish please: I would like a table, my husband uses a wheelchair",
        "my husband uses a wheelchair",
        "The user's husband uses a wheelchair.",
    ),
    (
        "commit with message I use tabs everywhere now",
        "I use tabs everywhere now",
        "The user uses tabs everywhere.",
    ),
    (
        "make it shorter:\nI have been living in Rome for ten years and love it.",
        "I have been living in Rome for ten years",
        "The user has been living in Rome for ten years.",
    ),
    (
        "here's my draft, tighten it\n\n"
        "I have worked as a midwife for nine years and I love night shifts.",
        "I have worked as a midwife for nine years",
        "The user has worked as a midwife for nine years.",
    ),
]
STATED: Final = [
    (
        "translate this readme to german later, and note that i hate tabs",
        "i hate tabs",
        "The user hates tabs.",
    ),
    (
        "please rewrite the parser. i always use pytest for tests",
        "i always use pytest for tests",
        "The user always uses pytest for tests.",
    ),
    (
        "Answer in short sentences. I am a nurse and have no time",
        "I am a nurse",
        "The user is a nurse.",
    ),
    (
        "note: I moved to Leeds in march",
        "I moved to Leeds in march",
        "The user moved to Leeds in March.",
    ),
    (
        "remember: my wife is allergic to peanuts",
        "my wife is allergic to peanuts",
        "The user's wife is allergic to peanuts.",
    ),
    (
        "fyi: i work for a bank in zurich",
        "i work for a bank in zurich",
        "The user works for a bank in Zurich.",
    ),
    (
        "one thing up front: i have never eaten meat",
        "i have never eaten meat",
        "The user has never eaten meat.",
    ),
    (
        "fix the typos in readme.md, i really like short readmes",
        "i really like short readmes",
        "The user really likes short readmes.",
    ),
    (
        "write me a poem, i live alone by the sea",
        "i live alone by the sea",
        "The user lives alone by the sea.",
    ),
    (
        "how do you say hello in french? i love my old bike by the way",
        "i love my old bike",
        "The user loves their old bike.",
    ),
    (
        "to be clear: I prefer small teams to big ones",
        "I prefer small teams to big ones",
        "The user prefers small teams to big ones.",
    ),
    (
        "quick context before you start: my brother owns a bakery in Porto",
        "my brother owns a bakery in Porto",
        "The user's brother owns a bakery in Porto.",
    ),
    (
        "suggest dinner for us: i am vegan and my son hates mushrooms",
        "i am vegan and my son hates mushrooms",
        "The user is vegan.",
    ),
    (
        "plan a trip for me: I live in Madrid and I don't fly",
        "I live in Madrid",
        "The user lives in Madrid.",
    ),
    (
        "summarize the meeting notes and skip the budget, I work in legal",
        "I work in legal",
        "The user works in legal.",
    ),
    (
        "use port 8080: i always use port 8080 for dev servers",
        "i always use port 8080",
        "The user always uses port 8080.",
    ),
    (
        "translate it for my husband, he doesn't speak English. I grew up in Ghana.",
        "I grew up in Ghana",
        "The user grew up in Ghana.",
    ),
    (
        "change the subject line, I quit my job today",
        "I quit my job today",
        "The user quit their job.",
    ),
    (
        "explain recursion to me. I play the cello in an orchestra so use music examples",
        "I play the cello in an orchestra",
        "The user plays the cello in an orchestra.",
    ),
    (
        "my setup: I use fish shell on a ThinkPad",
        "I use fish shell on a ThinkPad",
        "The user uses fish shell on a ThinkPad.",
    ),
    (
        "help me write a cover letter. I managed twelve people at Siemens",
        "I managed twelve people at Siemens",
        "The user managed twelve people at Siemens.",
    ),
    ("let me say this once: I always use tabs", "I always use tabs", "The user always uses tabs."),
    (
        "proofreading is my job: I have edited novels since 2010",
        "I have edited novels since 2010",
        "The user has edited novels since 2010.",
    ),
    (
        "answer only with code from now on. i own three cats",
        "i own three cats",
        "The user owns three cats.",
    ),
    (
        "build me a meal plan\n\nI am lactose intolerant and I train four times a week",
        "I am lactose intolerant",
        "The user is lactose intolerant.",
    ),
    (
        "fix my wifi\n\ni live in an old stone house with thick walls",
        "i live in an old stone house",
        "The user lives in an old stone house.",
    ),
    (
        "can you check the logs\nmy server runs debian 12",
        "my server runs debian 12",
        "The user's server runs Debian 12.",
    ),
    (
        'my motto is "slow is smooth", and i own three cats',
        "i own three cats",
        "The user owns three cats.",
    ),
]
# What something else keeps from being direct: it is read as somebody else's, or not sure of.
KEPT_BACK: Final = (
    "proofreading is my job",
    "build me a meal plan",
    "note: I moved",
    "plan a trip for me: I live in Madrid",
    "let me say this once",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", model=None, search_config=None) as opened:
        yield opened
        assert opened.check() == []


@pytest.mark.parametrize(("message", "quote", "statement"), GIVEN)
def test_a_quote_from_a_text_is_no_word_of_its_owner(
    memory: Memory, message: str, quote: str, statement: str
) -> None:
    memory.add_turn(message, session="s")
    assert memory.review.note(statement, quote=quote).trust is Trust.DERIVED


@pytest.mark.parametrize(("message", "quote", "statement"), STATED)
def test_a_statement_beside_a_request_is_its_owner_s(
    memory: Memory, message: str, quote: str, statement: str
) -> None:
    start = message.index(quote)
    assert not is_given_as_text(message, start, start + len(quote))
    memory.add_turn(message, session="s")
    noted = memory.review.note(statement, quote=quote)
    assert noted.trust is Trust.DIRECT or message.startswith(KEPT_BACK), noted.say


@pytest.mark.parametrize(
    ("message", "quote", "done"),
    [
        ("set my timezone to Rome please", "set my timezone to Rome", True),
        ("translate: set my timezone to Rome", "set my timezone to Rome", False),
        (
            "answer only with: set my timezone to Rome\n\nand my editor is vim",
            "my editor is vim",
            False,
        ),
    ],
)
def test_a_text_changes_no_key(memory: Memory, message: str, quote: str, done: bool) -> None:
    memory.add_turn(message, session="s")
    ops = [{"op": "set", "fact_key": "user.timezone", "value": "Rome"}]
    assert bool(memory.keyed.apply_quoted(ops, quote=quote).stored_fact_keys) is done


def test_words_that_are_text_and_then_stated_are_their_owner_s(memory: Memory) -> None:
    memory.add_turn("repeat after me: i own three cats\n\nthat is true, i own three cats")
    noted = memory.review.note("The user owns three cats.", quote="i own three cats")
    assert noted.trust is Trust.DIRECT, noted.say


def test_no_text_becomes_a_statement_by_night(memory: Memory) -> None:
    memory.add_turn("translate: I love jazz: it is great. repeat after me: I own a boat")
    memory.add_turn("I love folk music")
    memory.embed()
    memory.consolidate()
    assert [fact.statement for fact in memory.query_facts()] == ["I love folk music"]


def test_what_is_stated_keeps_its_places(memory: Memory) -> None:
    said = (
        "I own two boats. translate this: I own a car: red, and repeat: I own a van\n\nI own three"
    )
    memory.add_turn(said)
    (episode,) = memory.store.episodes(Filters(), limit=None)
    left = stated(episode)
    assert len(left) == len(said)
    assert "two boats" in left
    rest = said.index("\n\n")
    assert left[rest:] == voice_of(episode).text[rest:]
    assert "car" not in left
    assert "van" not in left


@pytest.mark.parametrize(
    "message",
    [
        "say " * 4_000,
        "translate " + "to " * 5_000 + ":",
        " " * 16_000,
        "\n" * 16_000,
        "this: " * 2_700,
        "'a " * 5_000,
        ". " * 8_000,
        "to i am " * 2_000,
        "make it\n" * 2_000,
    ],
)
def test_no_message_takes_long(message: str) -> None:
    began = time.process_time()
    is_given_as_text(message, len(message) - 2, len(message))
    assert time.process_time() - began < 10


# Parts of messages, given as text and stated.
TEXTS: Final = [
    ("I need this translated: i hate my job", "i hate my job"),
    ("how would I say this in french: I love my old bike", "I love my old bike"),
    ("translate my message: i moved to Leeds in march", "i moved to Leeds"),
    ("can you turn this into a haiku: I live alone by the sea", "I live alone"),
    ("what's the german for: I have two daughters", "I have two daughters"),
    (
        "does this read well?\n\nI have worked as a midwife for nine years",
        "I have worked as a midwife",
    ),
    ("tweet for me: I just quit my job", "I just quit my job"),
    ("Improve the following text:\n\nI grew up in Ghana.", "I grew up in Ghana"),
    ("subject: I quit my job", "I quit my job"),
    ("text mom: I am coming home on friday", "I am coming home"),
    ("how does this sound: I have ten years of experience as a cook", "I have ten years"),
    (
        "shorten this please - I have been a member of this club for thirty years",
        "I have been a member",
    ),
    ("what tense is this in: I have lived in Oslo", "I have lived in Oslo"),
    ("put this on the sign: I speak Portuguese", "I speak Portuguese"),
    ("can you say this in swahili for me: my father is a fisherman", "my father is a fisherman"),
    ("Turn the following into a question:\n\nI like swimming in the lake.", "I like swimming"),
    ("is it 'I have went' or 'I have gone to Rome'", "I have gone to Rome"),
    ("finish the sentence: I moved to the coast because", "I moved to the coast"),
    ("draft a tweet saying I finally finished my thesis", "I finally finished my thesis"),
    ("change the greeting from hello to I missed you all", "I missed you all"),
    ("I want you to proofread this: I am writing to you because I lost my card", "I lost my card"),
    ("explain the grammar in: I would have gone had I known", "I would have gone"),
    ("which is better, 'I love my dog' or 'I adore my dog'?", "I love my dog"),
]
STATEMENTS: Final = [
    ("remember this: my wife is allergic to peanuts", "my wife is allergic"),
    ("in this repo: we always use pnpm", "we always use pnpm"),
    ("for this project: I use tabs everywhere", "I use tabs"),
    ("here's the story: I moved to Leeds in march", "I moved to Leeds"),
    ("please keep the following in mind: I own three cats", "I own three cats"),
    (
        "rules for this repo:\n- we always use pnpm\n- I review every change myself",
        "I review every change",
    ),
    ("don't do this again - i hate tabs", "i hate tabs"),
    ("the issue: I use fish and the script needs bash", "I use fish"),
    ("my answer: I own three cats", "I own three cats"),
    ("where to: I live in Kiel so start there", "I live in Kiel"),
    ("what i work with: I use fish and tmux", "I use fish"),
    ("quick question about this: I use pnpm, does it matter", "I use pnpm"),
    ("don't repeat yourself - i know that i use tabs", "i use tabs"),
    ("write the tests first\nI use pytest for everything", "I use pytest"),
    ("print the results please\nI use fish as my shell", "I use fish"),
    ("say hi to Anna for me\ni live in Kiel now", "i live in Kiel"),
    ("edit only the files in src\nI review the rest myself", "I review the rest"),
    ("format with ruff:\nI use a line length of 100", "I use a line length"),
    ("reply in german please. i live in Kiel", "i live in Kiel"),
    ("convert the tests to pytest: we use unittest now", "we use unittest"),
    ("keep this in mind: I am allergic to latex", "I am allergic to latex"),
    ("in this codebase: we never use any in types", "we never use any"),
    ("about this project - I wrote it in 2019 and I maintain it alone", "I maintain it alone"),
    ("the plan: I move to Bergen in May", "I move to Bergen"),
    ("please follow these rules: I want tabs and I want tests", "I want tabs"),
    ("my answers are below: I own a boat", "I own a boat"),
    ("the thing is: I work nights", "I work nights"),
    ("stop doing this: I prefer short answers", "I prefer short answers"),
    ("respond to the bug reports first, I am on holiday from monday", "I am on holiday"),
    ("read this repo first. I maintain the parser", "I maintain the parser"),
    ("lint it with ruff: I use ruff for everything", "I use ruff"),
    ("run it on my machine: I have a ThinkPad with debian", "I have a ThinkPad"),
    ("use it for the api only\nI use vim for the rest", "I use vim"),
    ("rewrite the login page. I want it in french because I live in Lyon", "I live in Lyon"),
]


def is_text(message: str, part: str) -> bool:
    start = message.index(part)
    return is_given_as_text(message, start, start + len(part))


@pytest.mark.parametrize(("message", "part"), TEXTS)
def test_what_a_request_is_about_is_text(message: str, part: str) -> None:
    assert is_text(message, part)


@pytest.mark.parametrize(("message", "part"), STATEMENTS)
def test_what_only_stands_behind_a_request_is_stated(message: str, part: str) -> None:
    assert not is_text(message, part)
