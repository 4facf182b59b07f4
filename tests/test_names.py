"""Where names stand in a text (seed 003, without a model)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook.extract.names import NameSign, is_english, names_in
from factbook.language.common_words import is_everyday, is_place, opens_sentences
from factbook.model.keys import entity_name


def found(text: str) -> list[str]:
    return [span.name for span in names_in(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I bought the KEF LS50 Meta yesterday.", ["kef ls50 meta"]),
        ("My Sony WH-1000XM5 died, so I use AirPods now.", ["sony wh-1000xm5", "airpods"]),
        (
            "Watching Blade Runner 2049 tonight with Anna and Mark",
            ["blade runner 2049", "anna", "mark"],
        ),
        ("Breaking Bad is the best show ever.", ["breaking bad"]),
        (
            "We saw The Dark Knight and New Kids on the Block live",
            ["dark knight", "new kids on the block"],
        ),
        (
            "Vincent van Gogh painted it, not Guillermo del Toro.",
            ["vincent van gogh", "guillermo del toro"],
        ),
        (
            "Mira played the Game of Thrones theme for Ola Berg of Nordlys Press.",
            ["mira", "game of thrones", "ola berg", "nordlys press"],
        ),
        (
            "we listened to Simon and Garfunkel, then to Anna and Mark",
            ["simon and garfunkel", "anna", "mark"],
        ),
        (
            "I use Python 3.12, Node.js, C++ and C# at Bowers & Wilkins",
            ["python 3.12", "node.js", "c++", "c#", "bowers & wilkins"],
        ),
        ("J.R.R. Tolkien and J. K. Rowling wrote about it", ["j.r.r. tolkien", "j. k. rowling"]),
        ("The KEF's LS50 won, and Ender's Game lost", ["kef", "ls50", "ender's game"]),
        (
            "I saw Guns N' Roses and Dr. Dre on the iPhone 15 Pro",
            ["guns n' roses", "dr. dre", "iphone 15 pro"],
        ),
        ("I work at Apple and we use Slack and Notion", ["apple", "slack", "notion"]),
        ("I met Anna 2 weeks ago, she owns 3 AirPods", ["anna", "airpods"]),
        ("I like the Denton 85 more every day, Anna 2 more times", ["denton 85", "anna"]),
        ("Radiohead is touring again", ["radiohead"]),
        ("Solveig pushed the fix", ["solveig"]),
    ],
)
def test_names_are_found_where_they_are_written_as_names(text: str, names: list[str]) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("i was listening on my ls50s when anna called", ["ls50s"]),
        (
            "got the kef ls50 meta, sounds great with the wharfedale denton 85",
            ["kef ls50 meta", "wharfedale denton 85"],
        ),
        ('just hit "the snooze button" lol', []),
        ('i am reading a novel called "the left hand of darkness"', ["left hand of darkness"]),
        ("so good #ElectricGuitar #fun #LS50Meta", ["electric guitar", "ls50 meta"]),
        ("i ran 5km in 25min, 60years old, 5cats, b2b, 24/7", []),
    ],
)
def test_names_in_lower_case_need_a_sign(text: str, names: list[str]) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "Cheeseburgers are my favorite food. Knitting is my passion. Yes. No. Ok.",
        "Hi there! Thanks. Good Morning. See you on Monday in March!",
        "My Mom and Dad love Christmas. I speak Spanish and eat Italian food.",
        "On Friday I fly to Paris, France and then to New York City.",
        "The CEO said the API of the PDF is OK. IMHO the TV is too big, LOL.",
        "I LOVE THIS SO MUCH AND THEN SOME",
        "See https://example.com/Kef/Ls50, www.Example.org, Anna@example.org or @Anna",
        "run `Foo Bar`, open ./src/Foo/Bar.py and C:\\Users\\Anna",
        "```python\nfrom Foo import Bar\nclass Anna(Berg): pass\n```",
        "import pandas as pd\ndf = Foo(Bar);\nTraceback (most recent):\nValueError: Bad Thing",
        "2024-05-01 10:00:00 ERROR Worker Foo failed",
        'click the "Save" button and type \'Cancel\' in the "Name" field',
        'He called it "weird" and "good enough"',
        "The Ten Best Things To Do This Weekend With Your Family",
        "version v2.1 of 3.12 at 10:30 for $1,600, 50% off, 12 inches",
        "Hello, my key is [REDACTED:token:abc] and I'm [user name]",
        "deadbeef12 d41d8cd98f00b204e9800998ecf8427e --Foo=Bar snake_Case getUserName() useEffect",
        "🎉🎉 Yay! 😀 So Happy 😀 Love It!!! ❤️",
        "",
        " \n\t",
    ],
)
def test_what_is_no_name_is_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Ich habe heute den Hund im Garten gesehen und ein Buch über Vögel gelesen.",
        "Hier, j'ai vu Marie dans le jardin avec les enfants de Paul.",
        "Ayer fui con María al Museo y la comida estaba muy rica.",
        "Я люблю Москву и читаю Достоевского каждый вечер.",
        "昨日は東京タワーに行きました。とても楽しかったです。",
        "मैं कल Radiohead के बारे में पढ़ रहा था और यह बहुत अच्छा था",
        "오늘은 친구와 영화를 봤어요. 정말 재미있었어요.",
    ],
)
def test_other_languages_pass_through(text: str) -> None:
    assert found(text) == []
    assert not is_english(text)


def test_titles_in_other_languages_are_found_by_their_quotes() -> None:
    assert found("我昨天读完了《三体》，很喜欢。") == ["三体"]
    assert [span.how for span in names_in("我昨天读完了《三体》")] == [NameSign.QUOTED]


def test_the_sign_of_a_name_is_said() -> None:
    spans = names_in('I like "Dune", Radiohead, the KEF LS50 and #ElectricGuitar.')
    assert [(span.name, span.how) for span in spans] == [
        ("dune", NameSign.QUOTED),
        ("radiohead", NameSign.CAPITALISED),
        ("kef ls50", NameSign.MODEL_NUMBER),
        ("electric guitar", NameSign.HASHTAG),
    ]


def test_whoever_gives_capitals_to_every_word_gives_no_names() -> None:
    assert found("i love Music and Dancing and my Dog and my Garden") == []


@given(st.text(max_size=400) | st.from_regex(r"([A-Z][a-z]{2,8}[ ,.'\"\n#1-9-]{1,2}){1,30}"))
@settings(max_examples=150, deadline=None)
def test_every_name_stands_in_its_text(text: str) -> None:
    last = 0
    for span in names_in(text):
        assert text[span.start : span.end] == span.surface
        assert last <= span.start < span.end
        assert span.name
        assert span.name == entity_name(span.name)
        last = span.end


@pytest.mark.parametrize(
    "piece",
    [
        "so ",
        "I love ",
        '"a ',
        "Anna Berg and ",
        "(",
        "a_",
        "/a",
        "a@",
        "a.",
        "#a ",
        "«a ",
        " ",
        "[a](",
        "ab12",
        "1",
        "\n",
        "`",
        "<a ",
        "<!-- ",
        "Anna: ",
        "\u202e",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    begin = time.process_time()
    names_in(text)
    assert time.process_time() - begin < 8  # a text made to be slow would take minutes


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word", ["watched", "cities", "nicest", "running", "bookshelf", "long-term"]
)
def test_everyday_words_are_known_in_any_form(word: str) -> None:
    assert is_everyday(word)


@pytest.mark.parametrize(
    "word", ["radiohead", "sony", "penny", "dune", "ls50", "wharfedale", "kef"]
)
def test_names_are_no_everyday_words(word: str) -> None:
    assert not is_everyday(word)


def test_what_may_open_a_sentence_is_told_from_what_begins_a_name() -> None:
    assert opens_sentences("watching")
    assert opens_sentences("yesterday")
    assert not opens_sentences("dark")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("france", True),
        ("northern italy", True),
        ("paris, france", True),
        ("new york city", True),
        ("paris hilton", False),
        ("bank of england", False),
        ("kef", False),
        ("north", True),
    ],
)
def test_places_are_told_from_names_that_hold_one(name: str, expected: bool) -> None:
    assert is_place(name) is expected


# --- names in messages ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I just LOVE Jira", ["jira"]),
        ("I really HATE Microsoft Teams", ["microsoft teams"]),
        ("I will NEVER Jira again", ["jira"]),
        ("he called it a BIG MISTAKE today", []),
        ("I use the ARM Cortex here", ["arm cortex"]),
        ("Happy Birthday Mom!!!", []),
        ("Merry Christmas Lisa!", ["lisa"]),
        ("Happy New Year Everybody", []),
        ("I watched Good Morning Vietnam", ["good morning vietnam"]),
        ("Dear Sir or Madam", []),
        ("Dear Hiring Manager", []),
        ("Dear Anna Berg", ["anna berg"]),
    ],
)
def test_shouting_greetings_and_wishes_are_no_part_of_a_name(text: str, names: list[str]) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1. call Tom 2. email Lisa 3. book flights", ["tom", "lisa"]),
        ("Todo: 1) call Tom 2) email Lisa 3) book flights", ["tom", "lisa"]),
        ("I finished Diablo 4. it was great", ["diablo 4"]),
        ("We own a Boss Katana 50. It is loud.", ["boss katana 50"]),
    ],
)
def test_the_number_of_a_list_ends_a_name(text: str, names: list[str]) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Play some Miles Davis", ["miles davis"]),
        ("I bought a Boss Katana 50", ["boss katana 50"]),
        ("Baldur's Gate 3 slaps", ["baldur's gate 3"]),
        ("I ate at McDonald's", ["mcdonald's"]),
        ("I went to Anna's", ["anna"]),
        ("can't wait for Hollow Knight: Silksong!", ["hollow knight: silksong"]),
        ("watching Dune: Part Two tonight", ["dune: part two"]),
        ("I enjoyed Star Wars: A New Hope.", ["star wars: a new hope"]),
        ("I told Anna Berg: Jira is down.", ["anna berg", "jira"]),
        ("Reminder: Jira is down", ["jira"]),
    ],
)
def test_a_name_is_read_whole(text: str, names: list[str]) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("See you there\n– Jenny P.", []),
        ("It works now.\n\nKind regards,\nJenny Prior", []),
        ("Thanks\n- Jenny P.", []),
        ("Meeting notes for this week\n- Tesla", ["tesla"]),
        ("my bands:\n- Radiohead", ["radiohead"]),
        ("we listened to\n- Portishead\n- Radiohead", ["portishead", "radiohead"]),
        ("it fails in Main.py and in utils2.ts", []),
        ("Main.py crashed, Node.js did not", ["node.js"]),
    ],
)
def test_signatures_and_files_are_no_names(text: str, names: list[str]) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("i want an iphone 16 pro", ["iphone 16 pro"]),
        ("just got a dyson v15", ["dyson v15"]),
        ("we own nintendo 64", ["nintendo 64"]),
        ("i have covid 19", []),
        ("i want python 3 times", []),
        ("i have 2 kids and chihuahuas 3", []),
    ],
)
def test_a_thing_in_lower_case_with_its_model(text: str, names: list[str]) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I LOVE KELP FARMERS!!!", []),
        ("I LOVE ELDEN RING", []),
        ("WHAT IS THE PRICE OF THE MIKO FOLD S???", []),
        ("I REALLY HATE COLDPLAY SO MUCH", ["coldplay"]),
        ("I LOVE MY NEW HALDEN Q40!!!", ["halden q40"]),
        ("ELDEN RING", ["elden ring"]),
        ("KEF LS50 META", ["kef ls50 meta"]),
    ],
)
def test_a_shouted_name_is_whole_or_none(text: str, names: list[str]) -> None:
    assert [span.name for span in names_in(text)] == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Tell me about Nine Lanterns", ["nine lanterns"]),
        ("Tell me about Elden Ring", ["elden ring"]),
        ("I watched Seven Wonders", ["seven wonders"]),
        ("I read the Three Body Problem", ["three body problem"]),
        ("I love Nine Inch Nails", ["nine inch nails"]),
        ("I ate Nine Apples", []),
        ("I bought Two Tickets", []),
        ("I stayed for Two Weeks", []),
    ],
)
def test_a_number_begins_a_name_or_counts(text: str, names: list[str]) -> None:
    assert [span.name for span in names_in(text)] == names
