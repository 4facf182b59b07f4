"""What is read of one text: values, names, denials, cues, roles, tense."""

from __future__ import annotations

import pytest

from factbook.gate.lexicon import Tense, stem, tables, words_of
from factbook.gate.reading import MAX_WORDS, read


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("It costs 1,500 euros", ("1500eur",)),
        ("It costs €15.50", ("15.5eur",)),
        ("$20 and 20 dollars", ("20usd", "20usd")),
        ("5 km or 5km or 5000 m", ("5000m", "5000m", "5000m")),
        ("2 hours, 120 minutes, 7200 s", ("7200s", "7200s", "7200s")),
        ("half full at 75% or 75 percent", ("75%", "75%")),
        ("two cats, 2 cats, twelve cats", ("12", "2", "2")),
        ("twice or two times", ("2x", "2x")),
        ("the 3rd and the third", ("#3", "#3")),
        ("on 2024-03-11", ("03-11", "2024")),
        ("on 11 March 2024", ("03-11", "2024")),
        ("on March 11th, 2024", ("03-11", "2024")),
        ("on the 11th of March", ("03-11",)),
        ("in March", ("m03",)),
        ("they march on", ()),
        ("he may come", ()),
        ("on Mondays", ("monday",)),
        ("at 8 pm, 8pm, 20:00, 8:00 pm", ("t20:00",) * 4),
        ("at 12 am and noon", ("t00:00", "t12:00")),
        ("Python 3.11 and v3.11", ("3.11", "3.11")),
        ("at -5 degrees or 5 degrees", ("-5deg", "5deg")),
        ("0042 is a code", ("0042",)),
        ("No. 5", ("5",)),
    ],
)
def test_numbers_dates_and_times_have_one_form(text: str, values: tuple[str, ...]) -> None:
    assert read(text).values == values


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The dog of Anna", {"anna"}),
        ("Anna is here. Ben is there", set()),
        ("Copy /etc/app to web-01", {"/etc/app", "web-01"}),
        ("he moved to the US", {"us"}),
        ("they gave us tea", set()),
        ("I met Will and Emily", {"will", "emily"}),
        ("do NOT use it", set()),
    ],
)
def test_names_are_what_a_capital_inside_a_sentence_shows(text: str, names: set[str]) -> None:
    assert read(text).names == names


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("I don't smoke", 1),
        ("I dont smoke", 1),
        ("I don’t smoke", 1),
        ("He is unable to come", 1),
        ("Nobody came", 1),
        ("Tea without sugar", 1),
        ("The user no longer smokes", 1),
        ("Not only Ben came", 0),
        ("No, it is fine", 0),
        ("No more than five came", 0),
        ("He lacks time", 1),
    ],
)
def test_denials_are_counted(text: str, count: int) -> None:
    assert read(text).negations == count


def test_a_denial_reaches_up_to_a_break() -> None:
    assert read("I don't like tea, coffee is fine").denied == {"like", "tea"}
    assert read("I don't like tea but coffee").denied == {"like", "tea"}


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("Anna lives in Oslo", Tense.PRESENT),
        ("Anna lived in Oslo", Tense.PAST),
        ("Anna has lived in Oslo", Tense.PERFECT),
        ("Anna will live in Oslo", Tense.FUTURE),
        ("The logs are stored here", Tense.PRESENT),
        ("Anna quit smoking", Tense.PERFECT),
        ("The red car needs care", Tense.PRESENT),
    ],
)
def test_the_tense_of_a_sentence(text: str, tense: Tense) -> None:
    assert read(text).tense is tense


def test_the_agent_of_a_passive_sentence_is_found() -> None:
    assert read("The report was written by Anna").agent == "anna"
    assert read("The report was written by me").agent == "@1"
    assert read("The report was set up by two men").agent == "man"
    assert read("He is standing by the river").agent == ""


def test_adverbs_of_manner_are_known_by_their_form() -> None:
    table = tables()
    assert all(table.mild(key) for key in read("slowly, grudgingly").keys)
    assert not any(table.mild(key) for key in read("he met Waverly, only weekly").keys - {"meet"})


def test_phrases_are_one_word() -> None:
    assert "turn_on" in read("Dark mode is turned on").keys
    assert read("He used to smoke").modals == {"former"}
    assert read("Docker is used to build").modals == frozenset()
    assert read("He has to leave").modals == {"duty"}


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("I moved to Lyon", {"moved"}),
        ("I no longer smoke", {"ended"}),
        ("I switched from Emacs to Zed", {"switched"}),
        ("I sold the car", {"left"}),
        ("The timeout is now 60 s", {"now"}),
        ("My left knee", {"left"}),
        ("I like tea", set()),
    ],
)
def test_cues_of_change(text: str, cues: set[str]) -> None:
    assert read(text).cues == cues


def test_who_is_spoken_of() -> None:
    assert read("I told my sister").persons == {"1"}
    assert read("The user told her").persons == {"1", "she"}
    assert not read("A man is here").definite
    assert not read("There is a man").definite
    assert read("On Monday the library is open").definite


def test_another_language_is_known_to_be_one() -> None:
    assert read("Anna wohnt in Wien").foreign is False  # "in" is English as well: rules apply
    assert read("我喜欢咖啡").foreign
    assert read("любит кофе").foreign
    assert not read("Anna likes coffee").foreign


def test_long_texts_are_cut_and_say_so() -> None:
    assert read("word " * (MAX_WORDS + 1)).cut
    assert read("x" * 5_000).cut
    assert not read("word " * MAX_WORDS).cut


@pytest.mark.parametrize(
    "chunk", ["", "...", "n't", "'s", "'", "''", "-", "–", "(", "’", "&", "1,", "v", "%", "\x00"]
)
def test_odd_pieces_are_legal(chunk: str) -> None:
    assert isinstance(words_of(chunk), tuple)


def test_the_lists_agree_with_each_other() -> None:
    table = tables()
    for key, others in table.opposites.items():
        assert key not in others
        assert others.isdisjoint(table.same.get(key, frozenset())), key
        for other in others:
            assert key in table.opposites[other]
    for key, others in table.same.items():
        for other in others:
            assert key in table.same[other]
    for key, generals in table.kinds.items():
        assert key not in generals
    assert len(table.opposites) > 500
    assert len(table.same) > 700


@pytest.mark.parametrize(
    ("one", "other"),
    [("like", "hate"), ("open", "closed"), ("enabled", "disabled"), ("hot", "cold")],
)
def test_opposites_are_known(one: str, other: str) -> None:
    assert tables().opposite(stem(one), stem(other))


def test_synonyms_are_not_passed_on() -> None:
    table = tables()
    assert table.synonymous("run", "execut")
    assert table.synonymous("run", "oper")
    assert not table.synonymous("execut", "oper")
