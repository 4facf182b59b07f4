"""What a message does about the names in it (seed 003: engagements from messages)."""

from __future__ import annotations

import time
from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook import policy
from factbook.extract.mentions import PASSING_NAMES, asked_about, hear, preferences_in
from factbook.extract.names import names_in
from factbook.gate.names import structural_problem
from factbook.model.entities import EngagementType, PreferenceType, Valence
from factbook.net.cancel import Cancel, Cancelled, cancelling

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
    ("text", "liked", "disliked"),
    [
        (
            "I love Portishead, Muse and The Cure but hate Coldplay",
            "portishead muse cure",
            "coldplay",
        ),
        ("I don't like Coldplay or Nickelback.", "", "coldplay nickelback"),
        ("Elden Ring is my favorite game", "elden_ring", ""),
        ("my favorite bands are Portishead and Muse", "portishead muse", ""),
        ("Coldplay is so boring.", "", "coldplay"),
        ("honestly, Elden Ring rocks!", "elden_ring", ""),
        ("I'm a huge Radiohead fan", "radiohead", ""),
        ("not a fan of Coldplay", "", "coldplay"),
        ("I can't stand Coldplay anymore", "", "coldplay"),
        ("please stop telling me about Coldplay", "", "coldplay"),
        ("I prefer Muse over Coldplay", "muse", ""),
        ("My wife and I love Muse", "muse", ""),
        ("I love Elden Ring, do you?", "elden_ring", ""),
        ("love the new Radiohead album!", "radiohead", ""),
        ("i love radiohead", "radiohead", ""),
        ("if you ask me, I love Muse", "muse", ""),
        ("I don't think I like Coldplay", "", "coldplay"),
        ("I love listening to Muse with Anna at Blue Bottle", "muse", ""),
        ("I used to hate Muse. Now I love Muse.", "muse", ""),
        ("Got the Wharfedale Denton 85 yesterday. I love it!", "wharfedale_denton_85", ""),
        ("I absolutely adore Muse 😍🎸", "muse", ""),
    ],
)
def test_what_its_owner_says_to_like(text: str, liked: str, disliked: str) -> None:
    said = {name: valence for name, (kind, valence) in heard(text).items() if kind == SAID}
    assert said == {name.replace("_", " "): GOOD for name in liked.split()} | {
        name.replace("_", " "): BAD for name in disliked.split()
    }


@pytest.mark.parametrize(
    "text",
    [
        "My wife loves Radiohead",
        "everybody loves Radiohead",
        "do you like Radiohead?",
        "if I liked Radiohead I would go",
        "I wish I liked Radiohead",
        "I'm not sure I like Radiohead",
        "I used to love Radiohead",
        "I would love a Radiohead ticket",
        'He said "I love Radiohead" yesterday',
        "> I love Radiohead",
        "Anna: I love Radiohead",
        "she told me I hate Radiohead",
        "I don't hate Radiohead",
        "please don't search for Radiohead",
        "I love that you know Radiohead",
        "Ich liebe Radiohead und meinen Hund",
        "Me encanta Radiohead pero no el café",
    ],
)
def test_what_is_no_statement_of_its_owner_is_a_mention(text: str) -> None:
    assert heard(text)["radiohead"][0] == PASSING


@pytest.mark.parametrize(
    "text", ["> I love Zorvon", "Anna: I love Zorvon", 'He said "I love Zorvon" yesterday']
)
def test_what_only_others_name_is_nothing_new(text: str) -> None:
    assert heard(text) == {}


def test_speaking_ill_of_a_thing_is_no_interest_in_it() -> None:
    assert heard("my wife hates Radiohead") == {"radiohead": (PASSING, NEUTRAL)}


# --- questions and requests -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("look up sourdough starters", "sourdough starters"),
        ("can you look Portishead up for me", "portishead"),
        ("who is ada lovelace?", "ada lovelace"),
        ("what is kubernetes?", "kubernetes"),
        ("wharfedale denton 85 reviews?", "wharfedale denton 85"),
        ("Is the Wharfedale Denton 85 any good?", "wharfedale denton 85"),
        ("hey, find me some info about Elden Ring please", "elden ring"),
        ("google wharfedale denton 85 thanks", "wharfedale denton 85"),
    ],
)
def test_what_is_asked_for_is_a_search(text: str, name: str) -> None:
    assert heard(text) == {name: (SEARCH, GOOD)}


@pytest.mark.parametrize(
    "text",
    [
        "what is love?",
        "search for my keys",
        "look up the weather",
        "what time is it?",
        "let's go",
        "find me a good restaurant near here",
        "google it",
        "how are you?",
        "look at that",
        "search",
    ],
)
def test_everyday_requests_name_nothing(text: str) -> None:
    assert heard(text, recent=["radiohead"]) == {}


def test_one_question_may_be_about_two() -> None:
    found = heard("Is the KEF LS50 Meta better than the Wharfedale Denton 85?")
    assert found == {"kef ls50 meta": (SEARCH, GOOD), "wharfedale denton 85": (SEARCH, GOOD)}


@pytest.mark.parametrize(
    "text", ["how much are they?", "is it any good for jazz?", "and what do they cost?"]
)
def test_it_is_what_was_spoken_of_where_that_is_one_thing(text: str) -> None:
    assert heard(text, recent=["kef ls50 meta"]) == {"kef ls50 meta": (MORE, GOOD)}
    assert heard(text, recent=["kef ls50 meta", "radiohead"]) == {}
    assert heard(text) == {}


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


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I left my Apple Watch at home", ["apple watch"]),
        ("I lent the Denton Mini to Ola", ["denton mini", "ola"]),
        ("i lent the denton mini to him", []),
        ("the new Dune Trailer is out", ["dune"]),
        ("I like the Denton Speakers", ["denton"]),
    ],
)
def test_words_behind_a_known_name_make_another_or_say_what_of_it(
    text: str, names: list[str]
) -> None:
    known = {name: name for name in ("apple", "denton", "dune")}
    assert [one.name for one in hear(text, known=known)] == names


def test_what_is_pointed_at_by_its_last_words_is_the_known_one() -> None:
    known = {name: name for name in ("wharfedale denton", "wharfedale denton mini", "ola berg")}
    assert [one.name for one in hear("do you know the Denton?", known=known)] == [
        "wharfedale denton"
    ]
    assert [one.name for one in hear("I sold the Denton Mini", known=known)] == [
        "wharfedale denton mini"
    ]
    assert [one.name for one in hear("we met Berg", known=known)] == ["berg"]


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("find reviews of wharfedale denton", "wharfedale denton"),
        ("wharfedale denton mini", "wharfedale denton mini"),
        ("Blade Runner Soundtrack", "blade runner"),
        ("blade runner filming places", "blade runner"),
        ("blade runner 2049", "blade runner 2049"),
        ("Blade Runner Black Lotus", "blade runner black lotus"),
        ("what is the weather in Oslo", ""),
    ],
)
def test_a_typed_request_is_about_a_known_thing_or_another(request_: str, name: str) -> None:
    known = {one: one for one in ("wharfedale denton", "blade runner")}
    assert asked_about(request_, known=known) == name


def test_the_speaker_and_the_spoken_to_are_not_what_a_message_is_about() -> None:
    assert heard("Hi Ola! My name is Mira. Nice to meet you, Tom.") == {}


def test_pasted_text_makes_no_names_in_passing() -> None:
    people = "Mira Holm, Ola Berg, Tom Dahl, Ida Lund, Per Moe, Liv Ness and Kai Rud were there."
    assert heard(f"yesterday {people}") == {}
    assert heard(f"I love Muse and my friends {people}") == {"muse": (SAID, GOOD)}
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
@settings(max_examples=120, deadline=None)
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


@pytest.mark.parametrize("text", CHATS)
def test_everyday_chats_bring_no_names(text: str) -> None:
    names = [named.name for named in hear(text, known={})]
    assert [name for name in names if structural_problem(name) is None] == []


# --- preferences ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "likes", "dislikes"),
    [
        ("I'm really into espresso", ["espresso"], []),  # seed 003's own
        ("I like to play video games and listen to jazz", ["video games", "jazz"], []),
        (
            "I love hiking, baking cookies and old movies",
            ["hiking", "baking cookies", "old movies"],
            [],
        ),
        ("I like to bake cookies and to read", ["baking cookies"], []),
        ("I can't stand golf. I'm not a fan of country music.", [], ["golf", "country music"]),
        ("Cheeseburgers are my favorite food", ["cheeseburgers"], []),
        ("my favorite band is Portishead", ["portishead"], []),
        ("I'm a huge Radiohead fan", ["radiohead"], []),
        ("I love jazz but hate country", ["jazz"], ["country"]),
        ("i used to hate jazz", [], []),
        ("do you like jazz?", [], []),
        ("my wife loves jazz", [], []),
        ("I'd like a coffee", [], []),
        ("I like that idea, I love it, I like how it works", [], []),
        ("I love my dog and I love you", [], []),
        ("I like it when people are nice", [], []),
        ("I hate Mondays", [], []),
        ("Ich mag Jazz sehr und hasse den Regen", [], []),
    ],
)
def test_topics_that_its_owner_likes_or_dislikes(
    text: str, likes: list[str], dislikes: list[str]
) -> None:
    found = preferences_in(text)
    assert [one.topic for one in found if one.type is PreferenceType.LIKE] == likes
    assert [one.topic for one in found if one.type is PreferenceType.DISLIKE] == dislikes


def test_what_is_said_last_holds() -> None:
    (one,) = preferences_in("I love jazz. Well, I hate jazz now.")
    assert (one.topic, one.type) == ("jazz", PreferenceType.DISLIKE)


@given(st.text(max_size=200))
@settings(max_examples=80, deadline=None)
def test_preferences_stand_in_their_text(text: str) -> None:
    for one in preferences_in("I like " + text):
        assert 0 <= one.start < one.end <= len(text) + 7


# --- lists, weariness and other ways to say it ----------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "my favourite authors are Ursula K. Le Guin, Iain M. Banks and N.K. Jemisin",
            ["ursula k. le guin", "iain m. banks", "n.k. jemisin"],
        ),
        ("My favorite bands: Portishead, Radiohead, Muse", ["portishead", "radiohead", "muse"]),
        ("Some of my favorite bands: Portishead and Radiohead", ["portishead", "radiohead"]),
        ("I like Node.js, Portishead and Muse", ["node.js", "portishead", "muse"]),
    ],
)
def test_all_of_a_list_are_liked(text: str, names: list[str]) -> None:
    assert heard(text) == dict.fromkeys(names, (SAID, GOOD))
    assert [one.topic for one in preferences_in(text)] == names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("no more Elon Musk news please", "elon musk"),
        ("no more news about Tesla", "tesla"),
        ("enough Tesla updates", "tesla"),
        ("please don't send me Tesla updates", "tesla"),
        ("stop recommending me Coldplay", "coldplay"),
        ("I'd rather eat glass than use SAP", "sap"),
        ("I'd rather die than listen to Coldplay again", "coldplay"),
        ("can't stand Jira", "jira"),
        ("Coldplay? never liked them", "coldplay"),
    ],
)
def test_weariness_is_a_dislike(text: str, name: str) -> None:
    assert heard(text) == {name: (SAID, BAD)}


@pytest.mark.parametrize(
    ("text", "likes", "dislikes"),
    [
        ("not a fan of cilantro tbh", [], ["cilantro"]),
        ("I don't like golf anymore", [], ["golf"]),
        ("I really love pottery though", ["pottery"], []),
        ("I love tech news, honestly", ["tech news"], []),
        ("stop recommending me crypto stuff", [], ["crypto"]),
        ("stop sending me the file", [], []),
        ("No more excuses, please", [], []),
        ("I like vitamin C. Anna does not.", ["vitamin c"], []),
        ("Love and kindness should win", [], []),
    ],
)
def test_small_words_are_no_part_of_a_topic(
    text: str, likes: list[str], dislikes: list[str]
) -> None:
    found = preferences_in(text)
    assert [one.topic for one in found if one.type is PreferenceType.LIKE] == likes
    assert [one.topic for one in found if one.type is PreferenceType.DISLIKE] == dislikes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("can't wait for Hollow Knight: Silksong!", {"hollow knight: silksong": (PASSING, GOOD)}),
        ("can't you find Jira?", {"jira": (SEARCH, GOOD)}),
        ("has Netflix gone downhill?", {"netflix": (SEARCH, GOOD)}),  # it asks about a thing
        ("I'd rather use Jira than SAP", {"jira": (PASSING, GOOD), "sap": (PASSING, GOOD)}),
        ("Merry Christmas Lisa!", {}),
    ],
)
def test_what_is_no_statement(
    text: str, expected: dict[str, tuple[EngagementType, Valence]]
) -> None:
    assert heard(text) == expected


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
    assert seconds(16_000) < 1  # in quadratic time it would take 6 s


# --- "it" and "them" ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "likes", "dislikes"),
    [
        ("My sister Klara loves Coldplay but I can't stand them.", [], ["coldplay"]),
        ("I tried the Halden Q40 and I hate it.", [], ["halden q40"]),
        ("I tried the Halden Q40, we hate it.", [], ["halden q40"]),
        ("Jazz? I love it.", ["jazz"], []),
        ("Coldplay? I can't stand them.", [], ["coldplay"]),
        ("Got the Halden Q40 yesterday. I love it!", ["halden q40"], []),
        ("My sister gave me the Halden Q40 for my birthday and I love it", ["halden q40"], []),
        ("Everyone at work uses Slack but I don't like it", [], ["slack"]),
        ("The Halden Q40 is too heavy and I hate it", [], ["halden q40"]),
        ("I love Coldplay and I hate Muse", ["coldplay"], ["muse"]),
    ],
)
def test_a_pronoun_means_the_one_thing_that_is_named(
    text: str, likes: list[str], dislikes: list[str]
) -> None:
    found = preferences_in(text)
    assert [one.topic for one in found if one.type is PreferenceType.LIKE] == likes
    assert [one.topic for one in found if one.type is PreferenceType.DISLIKE] == dislikes
    assert all(text[one.start : one.end].casefold() == one.topic for one in found)
    said = {name: how for name, how in heard(text).items() if how[0] == SAID}
    named = set(likes + dislikes) - {"jazz"}  # which only its preference knows
    assert said == {name: (SAID, BAD if name in dislikes else GOOD) for name in named}


@pytest.mark.parametrize(
    "text",
    [
        "My sister Klara is here, I love her.",
        "My sister Klara moved in with us and I hate it",
        "I met Anna. I love them.",
        "Klara came over. I hate it",
        "My brother Tom likes Coldplay and Muse but I can't stand them",
        "My wife loves jazz and Radiohead but I hate it",
        "I bought the Halden Q40 and a stand and I hate it",
        "The traffic was awful and I hate it",
        "Coldplay broke up and I hate it",
        "Coldplay cancelled the show. I hate it.",
        "I was out with Anna, I hate it here",
        "if I tried the Halden Q40 and I hated it, I would say so",
        "Really? I love it.",
        "Surprised? I love it.",
        "Kids? I love them.",
    ],
)
def test_a_pronoun_that_may_mean_another_thing_or_a_person_means_nothing(text: str) -> None:
    assert preferences_in(text) == []
    assert SAID not in {kind for kind, _ in heard(text).values()}


def test_it_is_not_what_was_spoken_of_before_where_another_thing_stands_nearer() -> None:
    assert heard("I hate it", recent=["radiohead"]) == {"radiohead": (SAID, BAD)}
    assert heard("The traffic was awful and I hate it", recent=["radiohead"]) == {}


# --- shouting and numbers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "likes", "dislikes"),
    [
        ("I LOVE KELP FARMERS!!!", ["kelp farmers"], []),
        ("I LOVE ELDEN RING", ["elden ring"], []),
        ("I LOVE ELDEN RING SO MUCH", ["elden ring"], []),
        ("I LOVE NINE LANTERNS", ["nine lanterns"], []),
        ("I HATE COLDPLAY SO MUCH!!!", [], ["coldplay"]),
        ("I LOVE TO COOK AND TO READ", ["cooking"], []),
        ("I LOVE JAZZ BUT I HATE COUNTRY", ["jazz"], ["country"]),
        ("I TRIED THE HALDEN Q40 AND I HATE IT", [], ["halden q40"]),
        ("I LOVE IT WHEN IT RAINS", [], []),
    ],
)
def test_what_is_shouted_is_read_as_if_it_were_said(
    text: str, likes: list[str], dislikes: list[str]
) -> None:
    found = preferences_in(text)
    assert [one.topic for one in found if one.type is PreferenceType.LIKE] == likes
    assert [one.topic for one in found if one.type is PreferenceType.DISLIKE] == dislikes
    assert set(heard(text)) <= {*likes, *dislikes}


def test_a_shouted_request_names_all_or_nothing() -> None:
    assert heard("WHAT IS THE PRICE OF THE MIKO FOLD S???") == {}
    assert heard("TELL ME ABOUT ELDEN RING") == {"elden ring": (SEARCH, GOOD)}
    assert heard("PLEASE SEARCH FOR RADIOHEAD REVIEWS") == {"radiohead": (SEARCH, GOOD)}


def test_a_number_that_begins_a_name_belongs_to_it() -> None:
    assert heard("Tell me about Nine Lanterns") == {"nine lanterns": (SEARCH, GOOD)}
    assert heard("I love Nine Lanterns") == {"nine lanterns": (SAID, GOOD)}
    assert heard("We ate at Five Guys") == {"five guys": (PASSING, GOOD)}
    assert heard("I ate Nine Apples") == {}
    assert heard("find me three speakers") == {"speakers": (SEARCH, GOOD)}
