"""What bears on a question: what leads, what comes by itself, and what a context holds of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.session_logs import NOW

from conftest import SESSION, record
from factbook import policy
from factbook.embed import token_counter
from factbook.memory import Memory
from factbook.recall.bearing import bearing, covered
from factbook.recall.budget import ContextLimits, Tier
from factbook.testing import FrozenClock

SHARES = st.floats(0.0, 1.0)
COSINES = st.floats(-1.0, 1.0) | st.just(math.nan)
WORDS = st.lists(st.sampled_from("abcdefghij"), max_size=8)
RARITY = st.dictionaries(st.sampled_from("abcdefghij"), st.floats(0.01, 9.0))

TURNS = [
    (
        "Why does the nightly importer of the parcel depot stop at midnight?",
        "The importer stopped at midnight because the log rotation held its lock.",
    ),
    (
        "Which colour did we pick for the banner of the shop?",
        "We picked teal for the banner of the shop, since it reads well on white.",
    ),
    (
        "Move the label printer to the other subnet",
        "The label printer has the address 10.0.7.9 now and prints from the shop.",
    ),
]
CHATS = [
    "My sister Ingrid runs a bakery in Tromsø.",
    "I am allergic to hazelnuts.",
    "We are going to paint the garden fence green next spring.",
    "My old bicycle has a flat tyre again.",
]
UNRELATED = [
    "What is the capital of Mongolia?",
    "How do volcanoes form?",
    "Who composed the Magic Flute?",
    "Explain the offside rule in football",
    "What is the boiling point of ethanol?",
    "Tell me a joke about penguins",
    "How many moons does Jupiter have?",
    "Translate good morning to Japanese",
    "When did the Roman empire fall?",
    "What is the derivative of a sine?",
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    lines = []
    for n, (asked, answer) in enumerate(TURNS):
        lines.append(record("user", f"u{n}", asked))
        lines.append(record("assistant", f"a{n}", [{"type": "text", "text": answer}]))
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Memory(
        tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k", model=None
    ) as opened:
        opened.ingest([log], workers=0)
        for said in CHATS:
            opened.add_turn(said, session="chat")
        opened.embed()
        opened.consolidate()
        opened.embed()
        yield opened
        assert opened.check() == []


# --- the measure ----------------------------------------------------------------------------------


@given(COSINES, SHARES, st.floats(0.0, 1.0), st.floats(0.0, 2.0))
def test_it_lies_between_0_and_1_and_grows_with_both_signs(
    cosine: float, share: float, more: float, nearer: float
) -> None:
    value = bearing(cosine, share)
    assert 0.0 <= value <= 1.0
    assert bearing(cosine, min(1.0, share + more)) >= value
    if not math.isnan(cosine):
        assert bearing(min(1.0, cosine + nearer), share) >= value
        assert value >= bearing(math.nan, share)


@given(WORDS, WORDS, RARITY)
def test_the_share_of_words_lies_between_0_and_1_and_grows_with_them(
    held: list[str], asked: list[str], rarity: dict[str, float]
) -> None:
    share = covered(held, asked, rarity)
    assert 0.0 <= share <= 1.0
    assert 0.0 <= bearing(math.nan, share) <= 1.0
    for n in range(len(held)):
        assert covered(held[:n], asked, rarity) <= share + 1e-9
    if asked:
        assert covered([*asked, *held], asked, rarity) == 1.0


def test_either_sign_is_enough_and_none_is_nothing() -> None:
    assert bearing(policy.BEARS_FULLY, 0.0) == pytest.approx(1.0)
    assert bearing(math.nan, 1.0) == 1.0
    assert bearing(policy.BEARS_FROM, 0.0) == 0.0
    assert bearing(math.nan, 0.0) == 0.0
    assert 0.0 < bearing(0.4, 0.0) < bearing(0.4, 0.5) < 1.0


def test_rare_words_count_more_and_each_once() -> None:
    rarity = {"lock": 4.0, "shop": 1.0}
    assert covered(["lock"], ["lock", "shop"], rarity) == pytest.approx(0.8)
    assert covered(["shop"], ["lock", "shop"], rarity) == pytest.approx(0.2)
    assert covered(["lock"], ["lock", "lock"], rarity) == pytest.approx(1.0)
    assert covered(["lock"], [], rarity) == 0.0


# --- what was told on purpose ---------------------------------------------------------------------


def test_what_was_told_leads_where_it_bears(memory: Memory) -> None:
    told = memory.remember("The banner of the shop is petrol blue.")
    memory.embed()
    question = "Which colour has the banner of the shop?"
    first, *others = memory.recall(question).hits
    assert first.text == told.statement
    assert first.bearing >= policy.TOLD_BEARS
    assert any(hit.turn is not None and "teal" in hit.text for hit in others)


@pytest.mark.parametrize(
    "question",
    ["Why did the importer stop?", "Which address has the label printer now?"],
)
def test_what_was_told_does_not_lead_where_it_does_not_bear(memory: Memory, question: str) -> None:
    memory.remember("My dentist is called Okonkwo.")
    memory.embed()
    first, *_ = memory.recall(question).hits
    assert first.turn is not None
    told = [hit for hit in memory.recall(question, limit=50).hits if "Okonkwo" in hit.text]
    assert all(hit.bearing < policy.TOLD_BEARS for hit in told)


def test_only_a_few_of_what_was_told_lead(memory: Memory) -> None:
    for place in ("kitchen", "cellar", "attic", "office", "garage"):
        memory.remember(f"The label printer of the {place} came with an address sticker.")
    memory.embed()
    hits = memory.recall("Which address has the label printer in the shop now?").hits
    told = [hit.kind == "fact" for hit in hits]
    assert told[: policy.TOLD_LEADS] == [True] * policy.TOLD_LEADS
    third = hits[policy.TOLD_LEADS]
    assert third.turn is not None
    assert "10.0.7.9" in third.text
    behind = hits[policy.TOLD_LEADS + 1 :]
    assert any("sticker" in hit.text and hit.bearing >= policy.TOLD_BEARS for hit in behind)


# --- what comes by itself -------------------------------------------------------------------------


@pytest.mark.parametrize("question", UNRELATED)
def test_nothing_comes_for_what_memory_knows_nothing_of(memory: Memory, question: str) -> None:
    with memory.conversation(session="now") as talk:
        assert [hit.text for hit in talk.prefetch(question)] == []
        assert talk.context(question).included == ()


def test_what_bears_comes_by_itself(memory: Memory) -> None:
    for question, word in (
        ("Does my sister Ingrid still run the bakery?", "Tromsø"),
        ("Is there anything with hazelnuts that I may eat?", "allergic"),
        ("Why did the nightly importer stop?", "rotation"),
        ("Which colour did we pick for the banner of the shop?", "teal"),
    ):
        with memory.conversation(session="now") as talk:
            hits = talk.prefetch(question)
            assert word in "\n".join(hit.text for hit in hits), question
            assert all(hit.bearing >= policy.PASSIVE_BEARS for hit in hits), question


# --- a context ------------------------------------------------------------------------------------


def test_a_context_shows_turns_and_no_record_of_them_beside(memory: Memory) -> None:
    with memory.conversation(session="now") as talk:
        context = talk.context("Why did the nightly importer stop?")
    (turn,) = [
        hit
        for hit in memory.recall("Why did the nightly importer stop?").hits
        if hit.turn is not None and "importer" in hit.turn.asked
    ]
    assert turn.id in context.included
    assert context.text.count("log rotation held its lock") == 1
    assert "asked: Why does the nightly importer" in context.text
    assert "teal" not in context.text


def filling(tmp_path: Path) -> Memory:
    """Return a memory with plenty of turns on one matter, and a few chats."""
    lines = []
    for n in range(30):
        replies = [
            f"I look at the plan of shelf {n} in the herb greenhouse first. It has {n + 2} rows,"
            f" and the pipe of row {n} was laid anew by the gardener, who lists all pipes.",
            f"Shelf {n} of the herb greenhouse is watered at {n % 24}:10 by valve {n + 40}. "
            f"The valve of the shelf stays open for {n + 3} minutes, and the tank above row {n} is"
            f" filled by hand on day {n}, as the gardener asked for when the pump was sold. " * 2,
            f"So shelf {n} is watered twice a day by valve {n + 40}, and nobody has to be there.",
        ]
        lines.append(record("user", f"u{n}", f"How is shelf {n} of the herb greenhouse watered?"))
        lines += [
            record("assistant", f"a{n}{m}", [{"type": "text", "text": reply}])
            for m, reply in enumerate(replies)
        ]
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    memory = Memory(tmp_path / "m.db", clock=FrozenClock(NOW), key_file=tmp_path / "k", model=None)
    memory.ingest([log], workers=0)
    for name in ("basil", "thyme", "sage"):
        memory.add_turn(f"I planted {name} on the shelves of the greenhouse.", session="chat")
    memory.embed()
    return memory


def test_a_context_is_filled_and_never_above_its_limit(tmp_path: Path) -> None:
    question = "How are the shelves of the herb greenhouse watered?"
    with filling(tmp_path) as memory, memory.conversation(session="now") as talk:
        count = token_counter()
        context = talk.context(question)
        assert 0.8 * context.limit <= context.tokens <= context.limit == 1500
        assert context.tokens == count(context.text)
        bare = talk.context(question, limits=ContextLimits(filled=0))
        limits = ContextLimits()
        assert bare.tier_tokens[Tier.EPISODES] <= limits.episodes
        assert bare.tier_tokens[Tier.FACTS] <= limits.facts
        assert set(bare.included) < set(context.included)
        roomy = talk.context(question, limits=ContextLimits(total=9000, filled=9000))
        assert roomy.text.count("asked: ") == policy.CONTEXT_TURNS
        system = "You are the keeper of the greenhouse and answer in short sentences. " * 40
        with_system = talk.context(question, system=system)
        assert with_system.tier_tokens[Tier.SYSTEM] >= limits.system_sure
        assert with_system.tokens <= with_system.limit
        for total in (0, 1, 40, 150, 400, 900):
            small = talk.context(question, system=system, limits=ContextLimits(total=total))
            assert small.tokens <= total
        assert memory.check() == []
