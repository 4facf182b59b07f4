"""What may leave for a search provider, on every road that leads to one."""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from bench import privacy
from hypothesis import given
from hypothesis import strategies as st

import factbook
from factbook import policy
from factbook.errors import SearchError, SearchFailure, UsageError
from factbook.extract import private_matters
from factbook.extract.asked import is_broad_word, pointing
from factbook.gate.outgoing import Matter, contacts_in, may_leave, without_contacts
from factbook.interests.privacy import read_matter
from factbook.language.words import stem, words
from factbook.memory import Memory
from factbook.model.facts import Role
from factbook.search_providers import is_local
from factbook.search_providers.folder import FolderSearch
from factbook.sources.conversation.turn import turn_uid
from factbook.store.derived.searches import search_tasks
from pages import DAY, World, open_world, page
from rows import every

SWIFT = page(
    "Brimley Swift",
    "The Brimley Swift is a kettle with a glass body. The Brimley Swift holds 1.7 litres."
    " The Brimley Swift costs 45 euros.",
)


def asked(
    world: World, text: str, query: str = "", *, session: str = "s", recent: Sequence[str] = ()
) -> bool:
    """Say a message, search for it as a chat does, and tell whether a provider was asked."""
    world.clock.now += 1_000
    own = f"{text} {world.clock.now} which is an id of its own"
    world.memory.add_turn(text, session=session, uid=own)
    uid = turn_uid("me", "", own_id=own, role=Role.USER, text="", occurred_at=None)
    before = len(world.pages.asked)
    known = world.memory.interests.knowledge(text, recent=recent)
    try:
        world.memory.interests.search_for(query or known.query or text, episode=uid)
    except SearchError as error:
        if error.kind is not SearchFailure.WITHHELD or "`/learn` or `/search`" not in str(error):
            raise
    return len(world.pages.asked) > before


# --- the decision ---------------------------------------------------------------------------------

_TEXTS = st.lists(st.text(min_size=1, max_size=8), max_size=2).map(tuple)
_MATTERS = st.builds(
    Matter,
    asked_for=st.just(False),
    own=_TEXTS,
    pronoun=st.booleans(),
    recalls=st.booleans(),
    possessive=st.booleans(),
    first_person=st.booleans(),
    told=_TEXTS,
    read=_TEXTS,
    marked=_TEXTS,
    contacts=_TEXTS,
    private=st.none() | st.floats(-20, 20),
)


@given(_MATTERS)
def test_nothing_that_speaks_for_staying_lets_a_text_leave(matter: Matter) -> None:
    """Default deny: each sign of a private matter can only keep what would have left."""
    verdict = may_leave(matter)
    assert verdict.why
    if verdict.leaves:
        return
    for sign in ("own", "told", "contacts"):
        assert not may_leave(replace(matter, **{sign: ("ann",)})).leaves
    for sign in ("pronoun", "recalls", "possessive", "first_person"):
        assert not may_leave(replace(matter, **{sign: True})).leaves
    assert not may_leave(replace(matter, read=(), marked=())).leaves
    if matter.private is not None:
        assert not may_leave(replace(matter, private=matter.private + 1)).leaves


@given(_MATTERS)
def test_what_is_its_owners_stays_however_it_reads(matter: Matter) -> None:
    for sign in ("own", "contacts"):
        assert not may_leave(replace(matter, private=-math.inf, **{sign: ("ann",)})).leaves
    for sign in ("pronoun", "recalls"):
        assert not may_leave(replace(matter, private=-math.inf, **{sign: True})).leaves
    assert may_leave(replace(matter, asked_for=True)).leaves
    nothing_known = Matter(private=None)
    assert not may_leave(nothing_known).leaves


@every(
    "text",
    [
        "call 07700 900123",
        "+49 170 1234567",
        "ann@example.org",
        "14 Elm Grove",
        "the shed at 14 elm grove",
        "Lindenstraße 12",
        "12 rue de la Paix",
        "via Roma 12",
        "sort code 20-45-12",
        "DE89 3704 0044 0532 0130 00",
        "GB29 NWBK 6016 1331 9268 19",
        "gb29nwbk60161331926819",
        "NO93 8601 1117 947",
        "MT84MALT011000012345MTLCAST001S",
        "4111 1111 1111 1111",
    ],
)
def test_what_reaches_somebody_never_leaves(text: str) -> None:
    assert contacts_in(text)
    assert not any(char.isdigit() for char in without_contacts(text))
    assert "@" not in without_contacts(text)


@pytest.mark.parametrize(
    "text",
    [
        "Worcester Greenstar 4000",
        "what is 100 000 in euros",
        "between 2018 and 2019",
        "on 2023-11-21",
        "1,000,000 people",
        "5 best street foods",
        "the A380 and the WH-1000XM5",
        "the WD40EFRX-68N32N0 and the RM01 ABCD 1234",
    ],
)
def test_other_numbers_are_no_address(text: str) -> None:
    assert contacts_in(text) == ()
    assert without_contacts(text) == text


def test_the_weights_are_those_of_the_reader_that_is_here() -> None:
    """With another reader nothing can be told of a question (`scripts/train_matter.py`)."""
    assert private_matters.privacy("how deep is the Mariana Trench?") is not None


# --- on labelled questions ------------------------------------------------------------------------


@pytest.mark.slow
def test_private_questions_stay_and_others_are_asked(tmp_path: Path) -> None:
    """Of the half that the limits were made on; `python -m bench.privacy` measures the other."""
    found = privacy.figures(privacy.run(privacy.questions(half="built"), tmp_path))
    assert found["private"] >= 150
    assert found["world"] >= 110
    assert found["private_sent"] <= 3
    assert found["world_withheld"] <= 12


@pytest.mark.parametrize(
    "question",
    [
        "what are the symptoms of gonorrhoea",
        "how long after an abortion before sex",
        "how do you get out of debt",
        "what to do when a husband cheats",
        "what's the pin of the garage door",
        "where did granny put the spare key",
        "was hilft gegen feigwarzen",
        "wie hoch ist meine Restschuld",
        "hat er sich gemeldet",
        "cuánto me queda de hipoteca",
        "comment soigner une mycose",
        "sintomi della gravidanza",
        "jak wyjść z długów",
        "как лечить молочницу",
        "怀孕初期有什么症状",
        "妊娠の初期症状は",
    ],
)
def test_what_is_delicate_and_names_nothing_public_stays(tmp_path: Path, question: str) -> None:
    """Health, sex, money, the family and addresses, whoever asks, unless asked for in words."""
    world = open_world(tmp_path, [SWIFT])
    assert not asked(world, question)
    assert asked(world, f"look up {question}")
    world.memory.close()


@pytest.mark.parametrize(
    "question",
    [
        "wie hoch ist meine Kaution",
        "was kostet unsere Versicherung",
        "cuánto cuesta nuestro seguro",
        "où est mon contrat",
        "quanto costa il nostro mutuo",
        "onde está a minha chave",
        "waar is mijn sleutel",
        "gdzie jest mój klucz",
        "где мои ключи",
        "benim anahtarım nerede",
        "我的钥匙在哪里",
        "私の鍵はどこ",
    ],
)
def test_what_is_said_to_be_ones_own_is_read_in_any_language(tmp_path: Path, question: str) -> None:
    world = open_world(tmp_path, [SWIFT])
    read = read_matter(world.memory.store, question, owner="me")
    assert read.possessive
    assert not may_leave(read).leaves
    world.memory.close()


def test_a_question_of_the_world_is_asked_in_another_script(tmp_path: Path) -> None:
    world = open_world(tmp_path, [SWIFT])
    for question in ("какая столица Австралии", "法国的首都是哪里", "富士山の高さは?"):
        assert asked(world, question), question
    assert not asked(world, "ما هي عاصمة أستراليا")  # no language that the weights know
    world.memory.close()


# --- the roads ------------------------------------------------------------------------------------


def test_one_place_asks_a_provider() -> None:
    """A new road to a provider cannot go around the gate: nothing else calls `search` of one."""
    callers = set()
    root = Path(factbook.__file__).parent
    for path in root.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if ".search" in text else ():
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr == "search" and "provider" in ast.unparse(node.func.value).lower():
                callers.add(path.relative_to(root).as_posix())
    # the doctor tries a provider with fixed words
    assert callers == {"interests/lookup.py", "memory/doctor.py"}
    lookup = ast.parse((root / "interests" / "lookup.py").read_text("utf-8"))
    functions = [one for one in ast.walk(lookup) if isinstance(one, ast.FunctionDef)]
    asking = [one for one in functions if "._ask(" in ast.unparse(one)]
    assert {one.name for one in asking} == {"search", "_run"}
    assert all(".cleared(" in ast.unparse(one).split("._ask(")[0] for one in asking)


def test_no_private_name_is_sent_in_a_long_conversation(tmp_path: Path) -> None:
    """Neither asked, nor looked up behind, nor by a query that a model wrote."""
    world = open_world(tmp_path, [SWIFT])
    for said in (
        "My daughter Lena has a fever since Monday.",
        "Tom from work is in hospital, and I love his jokes.",
        "I adore my neighbour Yusuf!",
        "My dog is called Pim.",
        "We had dinner with Carla Rossi.",
    ):
        world.say(said)
    for question in (
        "how is lena?",
        "what helps Lena?",
        "has tom called",
        "How old is Pim?",
        "when is yusuf's birthday?",
        "what does Carla do?",
        "and her sister?",
        "wie geht es Lena?",
        "comment va Yusuf ?",
        "Tom'un nesi var?",
        "what are Lena's symptoms, is it flu?",
        "what does my doctor say about Tom?",
    ):
        assert not asked(world, question), question
        world.memory.background.work(enrich=True)
        world.clock.now += DAY // 4
    # a model that has read the memory
    assert not asked(world, "how do I bake bread?", "bread for lena who has a fever")
    assert not asked(world, "how do I bake bread?", "Carla Rossi bread")
    for _ in range(8):
        world.clock.now += DAY
        world.memory.background.work(enrich=True)
    assert world.pages.asked == []
    # what is asked for on purpose goes, without what reaches somebody
    world.memory.interests.search_web("lena ann@example.org 14 Elm Grove")
    assert world.pages.asked == ["lena"]
    assert world.memory.check() == []
    world.memory.close()


_STAY = (
    "what helps against chlamydia?",
    "symptoms of early menopause",
    "What are the signs of a miscarriage?",
    "how do I tell my wife about my gambling?",
    "is my neighbour Ragnhild Moe a drunk?",
)
_GO = (
    "is it rude to slurp noodles in Japan?",
    "how long does it take to boil an egg?",
    "is it true that owls sleep by day?",
    "how does a gearbox work?",
    "what is a sextant?",
    "who painted the Night Watch?",
)
_GO_ON = (
    "is it dangerous?",
    "how much does it cost?",
    "and its price?",
    "look it up",
    "why is that?",
)


def _content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if not is_broad_word(word)}


def test_no_word_of_a_question_that_stayed_is_sent_with_a_later_one(tmp_path: Path) -> None:
    """Whatever is said between, what "it" points at, and what a model that read it all asks for."""
    world = open_world(tmp_path, [SWIFT])
    drawn = random.Random(5)
    sent = 0
    for number in range(12):
        said: list[str] = []
        stayed: set[str] = set()
        session = f"talk-{number}"
        for text in (drawn.choice(_STAY), *drawn.sample((*_STAY, *_GO, *_GO_ON), 5)):
            query = f"{text} {drawn.choice(said)}" if said and drawn.random() < 0.3 else ""
            recent = said[::-1]
            left = asked(world, text, query, session=session, recent=recent)
            if left:
                sent += 1
                assert not (_content(world.pages.asked[-1]) - _content(text)) & stayed, said
            elif not query:
                stayed |= _content(text)
            said.append(text)
            world.memory.background.work(enrich=True)
        world.clock.now += DAY
    assert sent > 10
    assert world.memory.check() == []
    world.memory.close()


def test_a_question_with_a_clause_of_its_own_goes_on_about_nothing(tmp_path: Path) -> None:
    world = open_world(tmp_path, [SWIFT])
    knowledge = world.memory.interests.knowledge
    for before in (
        "what helps against chlamydia?",
        "My daughter Lena is ill.",
        "what is a sextant?",
    ):
        for question in _GO[:3]:
            found = knowledge(question, recent=["thanks", before])
            assert found.verdict.leaves, (before, question)
            assert found.query == question.rstrip("?")
    for question in (
        "is it dangerous?",
        "how long does it take?",
        "is that strong enough to kill?",
    ):
        assert not knowledge(question, recent=["what helps against chlamydia?"]).verdict.leaves
        assert "sextant" in knowledge(question, recent=["what is a sextant?"]).query
    # what was asked for on purpose is nothing new to whoever is asked
    own = "how do I tell my wife of the Brimley Swift?"
    assert not knowledge("is it loud?", recent=[own]).verdict.leaves
    world.memory.interests.search_web("Brimley Swift")
    world.memory.background.work()
    assert knowledge("is it loud?", recent=[own]).verdict.leaves
    world.memory.close()


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("is it legal to keep bees in a town?", "is    legal to keep bees in a town?"),
        ("is it cheaper to walk or take the tram?", "is    cheaper to walk or take the tram?"),
        ("is it safe to drink?", "is it safe to drink?"),
        ("is it light enough to lift a child on?", "is it light enough to lift a child on?"),
        ("can it play records?", "can it play records?"),
    ],
)
def test_it_announces_a_clause_or_points_back(said: str, left: str) -> None:
    assert pointing(said) == left


def test_no_label_of_a_secret_is_sent(tmp_path: Path) -> None:
    world = open_world(tmp_path, [SWIFT])
    interests = world.memory.interests
    assert asked(world, "look up the password Dohle5519x")
    interests.search_web("Brimley Swift password Dohle5520x")
    interests.learn("the Brimley Swift of Dr. Moe and the pin: 4471")
    interests.schedule("Brimley Swift, my password is Dohle5521x", DAY)
    for _ in range(3):
        world.clock.now += DAY
        world.memory.background.work(enrich=True)
    assert any("Moe" in query for query in world.pages.asked)
    assert len(world.pages.asked) > 6
    for query in world.pages.asked:
        assert "REDACTED" not in query
        assert "Dohle" not in query
        assert "4471" not in query
        assert "  " not in query
    with pytest.raises(UsageError, match="names nothing to learn"):
        interests.learn("Dohle5519x")
    world.memory.close()


def test_what_was_only_spoken_of_is_not_looked_up_by_itself(tmp_path: Path) -> None:
    world = open_world(tmp_path, [SWIFT])
    world.say("I love the Brimley Swift, and I love Marlow.")
    world.memory.background.work()
    assert {"brimley swift", "marlow"} & set(world.names())
    for _ in range(3):
        world.clock.now += DAY
        world.memory.background.work(enrich=True)
    assert world.pages.asked == []
    world.memory.interests.like("brimley swift")
    world.clock.now += DAY
    world.memory.background.work(enrich=True)
    assert world.pages.asked
    assert all("brimley swift" in one for one in world.pages.asked)
    assert world.memory.check() == []
    world.memory.close()


def test_a_search_that_may_be_private_is_set_aside_and_not_tried_again(tmp_path: Path) -> None:
    """A queued search of nobody's command is held to the same, when it is made."""
    from factbook.apply.apply import apply
    from factbook.model.entities import SearchState
    from factbook.model.facts import Trigger
    from factbook.model.interest_ops import QueueSearch

    world = open_world(tmp_path, [SWIFT])
    world.say("My daughter Lena has a fever.")
    ops = [
        QueueSearch(owner="me", query="how is Lena"),
        QueueSearch(owner="me", query="what is tea"),
    ]
    apply(world.memory.store, ops, trigger=Trigger.USER_MESSAGE, actor="test", now=world.clock.now)
    report = world.memory.background.run_searches()
    assert world.pages.asked == ["what is tea"]
    ((query, why),) = report.failed
    assert query == "how is Lena"
    assert "lena is known from your own words alone" in why
    (aside,) = search_tasks(world.memory.store, states=(SearchState.ASIDE,))
    assert aside.query == "how is Lena"
    assert world.memory.check() == []
    world.memory.close()


def test_questions_of_the_world_are_asked(tmp_path: Path) -> None:
    world = open_world(tmp_path, [SWIFT])
    world.memory.interests.learn("brimley swift")
    world.memory.background.work()
    for question in (
        "what do you think of the Brimley Swift, is it expensive?",
        "I'm thinking of buying a Brimley Swift, what do you think, is it expensive?",
        "what filter does the Brimley Swift take?",
        "how do vaccines work?",
        "what do you think of electric cars, are they expensive?",
        "best cargo bike under 2000 euros",
        "¿cuál es la capital de Canadá?",
    ):
        assert asked(world, question), question
    # before a page says something of it, nothing says that it is public
    assert not asked(world, "what filter does my Halden take?")
    assert asked(world, "look up what filter my Halden takes")
    assert world.memory.check() == []
    world.memory.close()


def test_a_question_that_points_back_means_what_was_asked_about(tmp_path: Path) -> None:
    world = open_world(tmp_path, [SWIFT])
    who = "who was Marie Curie?"
    assert not world.memory.interests.knowledge("when did she die?").verdict.leaves
    assert not world.memory.interests.knowledge(
        "how old is she?", recent=["I met Anna"]
    ).verdict.leaves
    spoken = ["My sister is ill."]
    assert not world.memory.interests.knowledge(
        "is she better?", recent=[*spoken, who]
    ).verdict.leaves
    world.memory.close()


def test_the_limits_are_in_order() -> None:
    """The less is known of a name, the more a question has to read like anybody's."""
    assert policy.LEAVES_TOLD <= policy.LEAVES_FIRST <= policy.LEAVES_PLAIN < 0
    assert policy.LEAVES_PLAIN <= policy.LEAVES_MARKED < policy.LEAVES_PUBLIC


# --- one's own documents --------------------------------------------------------------------------

LETTER = "# Letter of Dr Kowalski\n\nDr Kowalski says that my knee needs rest for six weeks.\n"


def _folder_memory(tmp_path: Path) -> Memory:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "knee.md").write_text(LETTER, encoding="utf-8")
    return Memory(tmp_path / "f.db", key_file=tmp_path / "key", search=FolderSearch(folder))


@pytest.mark.parametrize(
    "question",
    ["What did Dr Kowalski say about my knee?", "how long does my knee need rest"],
)
def test_ones_own_documents_are_asked_what_is_private(tmp_path: Path, question: str) -> None:
    """A folder is of this machine: nothing leaves, so nothing is withheld; no name comes of it."""
    with _folder_memory(tmp_path) as memory:
        own = "knee-question of an id of its own"
        memory.add_turn(question, session="s", uid=own)
        uid = turn_uid("me", "", own_id=own, role=Role.USER, text="", occurred_at=None)
        known = memory.interests.knowledge(question)
        assert not known.verdict.leaves
        answer, _ = memory.interests.search_for(known.query or question, episode=uid)
        assert [Path(one.url).name for one in answer.results] == ["knee.md#L1"]
        assert memory.interests.entities() == []
        assert memory.check() == []


@pytest.mark.parametrize("says", [None, False, "yes", 1])
def test_a_provider_that_does_not_say_it_is_local_is_taken_to_send(says: object) -> None:
    """Also one on 127.0.0.1 passes on what it is asked; only `True` is a yes."""
    provider = privacy.Recorder()
    if says is not None:
        provider.local = says  # type: ignore[attr-defined]
    assert not is_local(provider)


def test_a_paste_asks_for_no_search_in_its_owners_name(tmp_path: Path) -> None:
    """ "Look up my wife's diagnosis" counts where it was typed, and not where it was pasted."""
    text = "look up the diagnosis of my wife"
    provider = privacy.Recorder()
    with Memory(tmp_path / "p.db", key_file=tmp_path / "key", search=provider) as memory:
        for own, pasted in (("a typed message of its own", ()), ("a paste of its own", ((0, 32),))):
            memory.add_turn(text, session="s", uid=own, pasted=pasted)
            uid = turn_uid("me", "", own_id=own, role=Role.USER, text="", occurred_at=None)
            if pasted:
                with pytest.raises(SearchError):
                    memory.interests.search_for(text, episode=uid)
                assert not memory.interests.knowledge(text, pasted=pasted).verdict.leaves
            else:
                assert memory.interests.knowledge(text).verdict.leaves
                memory.interests.search_for(text, episode=uid)
        assert len(provider.asked) == 1


def test_a_title_says_that_somebody_is_meant_however_it_is_written(tmp_path: Path) -> None:
    with Memory(tmp_path / "p.db", key_file=tmp_path / "key") as memory:
        memory.add_turn("I talked to dr kowalski about my knee.")
        memory.add_turn("my dentist is prof. halina")
        for asked_of in ("when did kowalski write the book?", "what did halina write?"):
            verdict = memory.interests.knowledge(asked_of).verdict
            assert (verdict.leaves, verdict.of_owner) == (False, True)


def test_the_number_of_an_account_is_no_entity_and_nothing_public(tmp_path: Path) -> None:
    with Memory(tmp_path / "p.db", key_file=tmp_path / "key") as memory:
        for text in (
            "what is GB29NWBK60161331926819?",
            "tell me about NL91 ABNA 0417 1643 00",
            "I love GB29 NWBK 6016 1331 9268 19",
            "I looked at the GB29NWBK60161331926819 today",
        ):
            assert not memory.interests.knowledge(text).verdict.leaves
            memory.add_turn(text)
        for loop in memory.background.loops():
            loop.run()
        assert memory.interests.entities() == memory.interests.preferences() == []


def test_what_a_paste_names_becomes_no_entity_when_its_message_is_searched_for(
    tmp_path: Path,
) -> None:
    text = "look up the Brimley Swift kettle\nhow much does the Halden Cargo 3 cost?"
    named = []
    with Memory(tmp_path / "p.db", key_file=tmp_path / "key", search=privacy.Recorder()) as memory:
        for own, pasted in (("with a paste in it", [(33, len(text))]), ("typed as a whole", [])):
            memory.add_turn(text, session="s", uid=own, pasted=pasted)
            uid = turn_uid("me", "", own_id=own, role=Role.USER, text="", occurred_at=None)
            memory.interests.search_for("brimley swift kettle", episode=uid)
            named.append(any("halden" in one.name for one in memory.interests.entities()))
    assert named == [False, True]
