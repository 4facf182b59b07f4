"""What a message does about the names in it (seed 003: engagements from messages)."""

from __future__ import annotations

import time
from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook import policy
from factbook.extract.mentions import PASSING_NAMES, hear
from factbook.extract.names import names_in
from factbook.extract.opinions import preferences_in
from factbook.gate.names import structural_problem
from factbook.model.entities import EngagementType, PreferenceType, Valence
from factbook.net.cancel import Cancel, Cancelled, cancelling
from rows import every

KNOWN = {
    "kef ls50 meta": "kef ls50 meta",
    "ls50 meta": "kef ls50 meta",
    "radiohead": "radiohead",
    "espresso machines": "espresso machines",
    "go": "go",
}
SAID, SEARCH, MORE, PASSING = (
    EngagementType.EXPLICIT_STATEMENT,
    EngagementType.SEARCH_INITIATED,
    EngagementType.FOLLOW_UP_QUESTION,
    EngagementType.MENTIONED_IN_PASSING,
)
GOOD, BAD, NEUTRAL = Valence.POSITIVE, Valence.NEGATIVE, Valence.NEUTRAL


def heard(
    text: str, *, recent: Collection[str] = (), proactive: str = ""
) -> dict[str, tuple[EngagementType, Valence]]:
    found = hear(text, known=KNOWN, recent=recent, proactive=proactive)
    return {named.name: (named.type, named.valence) for named in found}


# --- the ten engagements of seed 003, as far as messages bring them -------------------------------


def test_explicit_statement_of_seed_003() -> None:
    """Seed 003, engagements: "I love X" in message; "I'm really into espresso"."""
    assert heard("I'm really into espresso machines") == {"espresso machines": (SAID, GOOD)}
    assert heard("I love Portishead") == {"portishead": (SAID, GOOD)}


def test_search_initiated_of_seed_003() -> None:
    """Seed 003, engagements: "search for LS50 Meta reviews"."""
    assert heard("search for LS50 Meta reviews") == {"kef ls50 meta": (SEARCH, GOOD)}


def test_follow_up_question_of_seed_003() -> None:
    """Seed 003, engagements: "what about the LS50's bass response?"."""
    text = "what about the LS50's bass response?"
    assert heard(text, recent=["kef ls50 meta"]) == {"kef ls50 meta": (MORE, GOOD)}


def test_mentioned_in_passing_of_seed_003() -> None:
    """Seed 003, engagements: "I was listening on my LS50s when..."."""
    text = "I was listening on my LS50s when the doorbell rang"
    assert heard(text, recent=["kef ls50 meta"]) == {"kef ls50 meta": (PASSING, GOOD)}


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("stop telling me about this", EngagementType.PROACTIVE_NEGATIVE_REACTION),
        ("not interested", EngagementType.PROACTIVE_NEGATIVE_REACTION),
        ("👎", EngagementType.PROACTIVE_NEGATIVE_REACTION),
        ("more like this", EngagementType.PROACTIVE_POSITIVE_REACTION),
        ("oh cool, tell me more!", EngagementType.PROACTIVE_POSITIVE_REACTION),
        ("❤️", EngagementType.PROACTIVE_POSITIVE_REACTION),
    ],
)
def test_reactions_to_a_notice_of_seed_003(text: str, type_: EngagementType) -> None:
    """Seed 003, engagements: "stop telling me about this", "more like this" on a notice."""
    valence = policy.ENGAGEMENTS[type_][1]
    assert heard(text, proactive="radiohead") == {"radiohead": (type_, valence)}
    assert all(kind != type_ for kind, _ in heard(text).values())


def test_an_answer_that_is_no_reaction_is_none() -> None:
    assert heard("what's for lunch", proactive="radiohead") == {}
    assert heard("👍👎", proactive="radiohead") == {}


# --- statements -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["> I love Zorvon", "Anna: I love Zorvon", 'He said "I love Zorvon" yesterday']
)
def test_what_only_others_name_is_nothing_new(text: str) -> None:
    assert heard(text) == {}


def test_speaking_ill_of_a_thing_is_no_interest_in_it() -> None:
    assert heard("my wife hates Radiohead") == {"radiohead": (PASSING, NEUTRAL)}


# --- questions and requests -----------------------------------------------------------------------


def test_one_question_may_be_about_two() -> None:
    found = heard("Is the KEF LS50 Meta better than the Wharfedale Denton 85?")
    assert found == {"kef ls50 meta": (SEARCH, GOOD), "wharfedale denton 85": (SEARCH, GOOD)}


def test_another_model_is_no_part_of_a_name() -> None:
    found = heard("what about the LS60?", recent=["kef ls50 meta"])
    assert found == {"ls60": (SEARCH, GOOD)}


# --- names ----------------------------------------------------------------------------------------


def test_known_names_are_found_in_any_case_number_and_by_alias() -> None:
    assert heard("my espresso machine and the ls50 meta") == {
        "espresso machines": (PASSING, GOOD),
        "kef ls50 meta": (PASSING, GOOD),
    }
    assert heard("we code in Go") == {"go": (PASSING, GOOD)}
    assert heard("let's go, go on") == {}


def test_a_longer_name_is_another_one() -> None:
    known = {"blade runner": "blade runner"}
    names = [named.name for named in hear("I saw Blade Runner 2049 today", known=known)]
    assert names == ["blade runner 2049"]


def test_what_is_pointed_at_by_its_last_words_is_the_known_one() -> None:
    known = {name: name for name in ("wharfedale denton", "wharfedale denton mini", "ola berg")}
    assert [one.name for one in hear("do you know the Denton?", known=known)] == [
        "wharfedale denton"
    ]
    assert [one.name for one in hear("I sold the Denton Mini", known=known)] == [
        "wharfedale denton mini"
    ]
    assert [one.name for one in hear("we met Berg", known=known)] == ["berg"]


def test_the_speaker_and_the_spoken_to_are_not_what_a_message_is_about() -> None:
    assert heard("Hi Ola! My name is Mira. Nice to meet you, Tom.") == {}


def test_pasted_text_makes_no_names_in_passing() -> None:
    people = "Mira Holm, Ola Berg, Tom Dahl, Ida Lund, Per Moe, Liv Ness and Kai Rud were there."
    assert heard(f"yesterday {people}") == {}
    assert heard(f"I love Muse and my friends {people}")["muse"] == (SAID, GOOD)
    assert len(hear("we met Mira Holm and Ola Berg", known={})) <= PASSING_NAMES


def test_one_name_counts_once_by_its_strongest() -> None:
    found = hear("Muse is on. I love Muse! Muse, muse.", known={})
    assert [(named.name, named.type) for named in found] == [("muse", SAID)]


def test_places_and_why() -> None:
    text = "I love the KEF LS50 Meta."
    (named,) = hear(text, known=KNOWN)
    assert text[named.start : named.end] == "KEF LS50 Meta"
    assert named.is_known
    assert named.why == "says to like it"


@given(
    st.text(max_size=300)
    | st.from_regex(r"(I (love|hate|met) [A-Z][a-z]{2,8}[ ,.?!\"\n]{1,2}){1,9}")
)
@settings(max_examples=examples(30), deadline=None)
def test_any_text_is_heard(text: str) -> None:
    found = hear(text, known=KNOWN, recent=["radiohead"])
    assert len({named.name for named in found}) == len(found)
    for named in found:
        assert 0 <= named.start < named.end <= len(text)
        assert named.is_known == (named.name in KNOWN.values())


@pytest.mark.parametrize(
    "piece",
    ["so ", "I love ", "i really really ", "but hate ", "(", " ", "Anna: ", "search for the "],
)
def test_no_message_takes_long(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    begin = time.process_time()
    hear(text, known=KNOWN)
    preferences_in(text)
    assert time.process_time() - begin < 10


# --- everyday chats: no junk ----------------------------------------------------------------------

CHATS = (
    "hey!! how was ur weekend",
    "Good morning! Happy Friday! What are you up to today?",
    "I'm a teacher from Ohio and I have 2 dogs and 3 cats. You?",
    "Lol same. My mom said NO WAY haha",
    "On March 3rd we drove from Berlin to Munich in 5 hours",
    "It was 10/10, would do again. $20 for 2 people!",
    "Can u fix the bug in line 42? TypeError: 'NoneType' object is not callable",
    "git push origin main && npm run build  # see https://example.org/a?b=C",
    "The meeting is at 3pm in Room 12. Bring your Laptop.",
    "Merry Christmas and a Happy New Year to you and your Family!",
    "Danke, bis Morgen! Wir sehen uns am Bahnhof mit den Kindern.",
    "👍👍👍 😂",
    "TODO: write tests. FIXME. N/A. Etc.",
    "What's your favorite color? Mine is Blue.",
)


@every("text", CHATS)
def test_everyday_chats_bring_no_names(text: str) -> None:
    names = [named.name for named in hear(text, known={})]
    assert [name for name in names if structural_problem(name) is None] == []


# --- preferences ----------------------------------------------------------------------------------


def test_what_is_said_last_holds() -> None:
    (one,) = preferences_in("I love jazz. Well, I hate jazz now.")
    assert (one.topic, one.type) == ("jazz", PreferenceType.DISLIKE)


@given(st.text(max_size=200))
@settings(max_examples=examples(20), deadline=None)
def test_preferences_stand_in_their_text(text: str) -> None:
    for one in preferences_in("I like " + text):
        assert 0 <= one.start < one.end <= len(text) + 7


# --- lists, weariness and other ways to say it ----------------------------------------------------


def test_a_name_with_its_possessive_is_known_without_it() -> None:
    for text in ("I ate at McDonald's", "I ate at mcdonalds"):
        (one,) = hear(text, known={"mcdonald's": "mcdonald's"})
        assert (one.name, one.is_known) == ("mcdonald's", True)


def test_reading_a_message_can_be_cancelled() -> None:
    token = Cancel()
    token.cancel()
    text = "I love the Marlow 5."
    for read in (
        lambda: hear(text, known={}),
        lambda: preferences_in(text),
        lambda: names_in(text),
    ):
        with cancelling(token), pytest.raises(Cancelled):
            read()


@pytest.mark.parametrize("sign", ["!", "?", ".", "!?", " ", '!"', "a."])
def test_a_row_of_signs_takes_linear_time(sign: str) -> None:
    def seconds(count: int) -> float:
        text = sign * (count // len(sign)) + "x"
        begin = time.process_time()
        hear(text, known=KNOWN, proactive="radiohead")
        preferences_in(text)
        return time.process_time() - begin

    seconds(100)
    assert seconds(16_000) < 5  # the reader's part is 2 s; in quadratic time it would take minutes


# --- "it" and "them" ------------------------------------------------------------------------------


def test_it_is_not_what_was_spoken_of_before_where_another_thing_stands_nearer() -> None:
    assert heard("I hate it", recent=["radiohead"]) == {"radiohead": (SAID, BAD)}
    assert heard("The traffic was awful and I hate it", recent=["radiohead"]) == {}


# --- shouting and numbers -------------------------------------------------------------------------


def test_a_shouted_request_names_what_it_is_about() -> None:
    assert heard("TELL ME ABOUT ELDEN RING") == {"elden ring": (SEARCH, GOOD)}
    assert heard("PLEASE SEARCH FOR RADIOHEAD REVIEWS") == {"radiohead": (SEARCH, GOOD)}


def test_a_number_that_begins_a_name_belongs_to_it() -> None:
    assert heard("Tell me about Nine Lanterns") == {"nine lanterns": (SEARCH, GOOD)}
    assert heard("I love Nine Lanterns") == {"nine lanterns": (SAID, GOOD)}
    assert heard("I ate Nine Apples") == {}
    assert heard("find me three speakers") == {"speakers": (SEARCH, GOOD)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I've got a new therapist Dr Oduya Thursdays at four", "oduya"),
        ("she's getting married to Caoimhe February twelfth in Sligo", "caoimhe"),
        ("I love Ruby Tuesday", "ruby tuesday"),
        ('I love "Brompton May"', "brompton may"),
    ],
)
def test_a_day_behind_a_name_is_no_part_of_it(text: str, name: str) -> None:
    assert list(heard(text)) == [name]
