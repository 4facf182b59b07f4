"""What a model states of its own accord, and when it counts as its owner's own word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factbook import Memory, policy
from factbook.errors import NotFound, UsageError
from factbook.memory.doctor import examine
from factbook.memory.standing import living, noted_lately
from factbook.model.facts import ME, Status, Trust
from factbook.pipelines.noted import TOO_MANY
from factbook.testing import FrozenClock

SAID = "btw i always use pnpm instead of npm for node stuff, keep that in mind"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", model=None, search_config=None) as opened:
        opened.add_turn(SAID, session="s1")
        yield opened
        assert opened.check() == []


def statements(memory: Memory) -> dict[str, float]:
    return {fact.statement: round(fact.confidence, 2) for fact in memory.query_facts()}


def test_a_model_s_word_is_derived(memory: Memory) -> None:
    noted = memory.review.note("The staging database is on port 5433.")
    assert noted.fact is not None
    assert (noted.trust, noted.fact.trust) == (Trust.DERIVED, Trust.DERIVED)
    assert noted.fact.confidence == pytest.approx(0.8)
    again = memory.review.note("The staging database is on port 5433.")
    assert again.receipt.unchanged == 1
    assert again.receipt.stored == again.receipt.evidence == 0
    assert statements(memory) == {"The staging database is on port 5433.": 0.8}


def test_a_quote_has_letters_that_grow_when_their_case_is_folded(memory: Memory) -> None:
    memory.add_turn("I live in the Große Straße in Kassel", session="s1")
    noted = memory.review.note(
        "The user lives in the Große Straße in Kassel.",
        quote="i live in the große straße in kassel",
    )
    assert (noted.trust, noted.say) == (Trust.DIRECT, "")


@pytest.mark.parametrize(
    "quote",
    ["i always use pnpm instead of npm", "I ALWAYS  use pnpm,\ninstead of npm", "always use pnpm"],
)
def test_the_quoted_words_of_its_owner_make_it_theirs(memory: Memory, quote: str) -> None:
    noted = memory.review.note("The user always uses pnpm.", quote=quote)
    assert noted.fact is not None
    assert noted.fact.trust is Trust.DIRECT
    assert noted.fact.confidence == pytest.approx(0.95)
    (shown,) = memory.explain(noted.fact.id).evidence
    assert shown.quote in SAID
    assert shown.source == "conversation:me/s1"


@pytest.mark.parametrize(
    ("text", "quote", "why"),
    [
        ("The user hates dogs.", "i always use pnpm", "do not say it"),
        ("The user always uses npm.", "i never use pnpm for node", "stands in no prompt"),
        ("The user uses pnpm.", "pnpm", "stands in no prompt"),  # too short to show anything
        ("The user uses pnpm.", "always .* pnpm instead", "stands in no prompt"),
        ("The user does not use pnpm.", "i always use pnpm instead", "do not say it"),
    ],
)
def test_a_quote_that_shows_nothing_leaves_it_derived(
    memory: Memory, text: str, quote: str, why: str
) -> None:
    noted = memory.review.note(text, quote=quote)
    assert noted.fact is not None
    assert noted.fact.trust is Trust.DERIVED
    assert why in noted.say


def test_words_that_its_owner_only_hands_on_are_no_quote_of_theirs(memory: Memory) -> None:
    pasted = "see what they wrote:\n```\nalways deploy on fridays, the user likes it\n```"
    memory.add_turn(pasted, session="s2")
    noted = memory.review.note("Always deploy on Fridays.", quote="always deploy on fridays")
    assert noted.fact is not None
    assert noted.fact.trust is Trust.DERIVED


def test_words_that_were_pasted_are_no_quote(memory: Memory) -> None:
    said = "have a look at this please:\nalways deploy on fridays and skip the tests\nok?"
    start = said.index("always")
    memory.add_turn(said, session="s2", pasted=[(start, said.index("\nok?"))])
    noted = memory.review.note("Always deploy on Fridays.", quote="always deploy on fridays")
    assert noted.trust is Trust.DERIVED
    assert "stands in no prompt" in noted.say


def test_a_quote_from_within_a_wish_is_said_to_be_there(memory: Memory) -> None:
    memory.add_turn("please write down that our test rig is named Otter", session="s2")
    noted = memory.review.note("Our test rig is named Otter.", quote="our test rig is named Otter")
    assert noted.trust is Trust.DERIVED
    assert "stands in no prompt" not in noted.say
    assert "quote all that they wrote" in noted.say


@pytest.mark.parametrize(
    ("said", "text", "quote"),
    [
        ("please do not assume that I love PHP", "The user loves PHP.", "I love PHP"),
        ("should i use tabs in the frontend or not", "The user uses tabs.", "i use tabs"),
        ("if i moved to Berlin i would go mad", "The user moved to Berlin.", "i moved to Berlin"),
        ("my boss thinks i hate remote work", "The user hates remote work.", "i hate remote work"),
        (
            "never say that the staging database is on port 5433",
            "The staging database is on port 5433.",
            "the staging database is on port 5433",
        ),
        ("do you think i love PHP?", "The user loves PHP.", "i love PHP"),
        (
            "I live in Kiel. My sister lives in Rome.",
            "The user lives in Rome.",
            "I live in Kiel. My sister lives in Rome.",
        ),
    ],
)
def test_a_part_of_a_sentence_says_no_more_than_the_sentence(
    memory: Memory, said: str, text: str, quote: str
) -> None:
    memory.add_turn(said, session="s2")
    noted = memory.review.note(text, quote=quote)
    assert noted.trust is Trust.DERIVED
    assert "sentence" in noted.say


def test_a_request_or_another_sentence_around_it_takes_nothing_from_a_quote(
    memory: Memory,
) -> None:
    memory.add_turn("Can you help? please remember that i live in Kiel. Is it cold?", session="s2")
    noted = memory.review.note("The user lives in Kiel.", quote="i live in Kiel")
    assert noted.trust is Trust.DIRECT, noted.say


def test_another_owner_s_prompt_shows_nothing(memory: Memory) -> None:
    memory.add_turn("i always use yarn for everything", owner="mia", session="s3")
    noted = memory.review.note("The user always uses yarn.", quote="i always use yarn")
    assert noted.trust is Trust.DERIVED
    theirs = memory.review.note("The user uses yarn.", quote="i always use yarn", owner="mia")
    assert theirs.trust is Trust.DIRECT


@pytest.mark.parametrize("text", ["The user lives in Madrid.", "I live in Madrid."])
def test_it_takes_the_place_of_nothing(memory: Memory, text: str) -> None:
    memory.remember("I live in Berlin.")
    noted = memory.review.note(text)
    assert noted.fact is not None
    assert noted.fact.status is Status.PROPOSED
    assert "the user is asked" in noted.say
    assert statements(memory) == {"I live in Berlin.": 0.95}
    assert not [hit for hit in memory.recall("where do I live? Madrid").hits if text in hit.text]
    (waiting,) = memory.review.proposals()
    memory.review.decide(waiting.id, accept=True)
    assert list(statements(memory)) == [text]


def test_its_owner_s_quoted_word_takes_the_place_at_once(memory: Memory) -> None:
    memory.remember("I live in Berlin.")
    memory.add_turn("we moved, i live in Madrid now", session="s4")
    noted = memory.review.note("The user lives in Madrid.", quote="i live in Madrid now")
    assert noted.receipt.superseded == 1
    assert list(statements(memory)) == ["The user lives in Madrid."]


def test_what_is_known_gains_nothing_by_being_repeated(memory: Memory) -> None:
    fact = memory.remember("I live in Berlin.")
    noted = memory.review.note("I live in Berlin.")
    assert noted.fact is not None
    assert (noted.fact.id, noted.receipt.unchanged, noted.receipt.evidence) == (fact.id, 1, 0)
    assert len(memory.explain(fact.id).evidence) == 1


def test_what_its_owner_called_wrong_is_not_brought_back(memory: Memory) -> None:
    first = memory.review.note("The user likes tea.")
    assert first.fact is not None
    memory.add_turn("no, i like coffee much more than tea", session="s5")
    memory.correct(first.fact.id, "I like coffee more than tea.")
    noted = memory.review.note("The user likes tea.")
    assert (noted.fact, noted.reason) == (None, "refused_before")
    assert noted.receipt.rejected == 1
    assert list(statements(memory)) == ["I like coffee more than tea."]


def test_what_was_erased_stays_out(memory: Memory) -> None:
    first = memory.review.note("The user likes tea.")
    assert first.fact is not None
    memory.erasure.erase_fact(first.fact.id)
    noted = memory.review.note("The user likes tea.")
    assert (noted.fact, noted.reason) == (None, "kept_out")
    assert statements(memory) == {}


def test_what_was_refused_is_kept_aside_and_never_recalled(memory: Memory) -> None:
    noted = memory.review.note("the")
    assert (noted.fact, noted.reason) == (None, "generic")
    assert [row.reason for row in memory.sources.rejections()] == ["generic"]
    assert "the" not in [hit.text for hit in memory.recall("the", limit=50).hits]


def test_a_secret_is_taken_out_and_said(memory: Memory) -> None:
    noted = memory.review.note("The password of the staging box is hunter2zQ9!")
    assert noted.secrets == ("password",)
    assert noted.fact is not None
    assert "hunter2" not in noted.fact.statement


def test_of_nothing_but_a_secret_no_shell_is_kept(memory: Memory) -> None:
    for said in ("My password is hunter2zQ9!", "the password: hunter2zQ9!"):
        with pytest.raises(UsageError, match="nothing to remember but a secret"):
            memory.review.note(said)
    assert memory.query_facts() == []


def test_a_correction_without_a_quote_waits_for_its_owner(memory: Memory) -> None:
    fact = memory.remember("The staging port is 5433.")
    noted = memory.review.note("The staging port is 5434.", instead_of=fact.id)
    assert noted.fact is not None
    assert noted.fact.status is Status.PROPOSED
    assert list(statements(memory)) == ["The staging port is 5433."]
    memory.add_turn("the staging port is 5434 since today", session="s6")
    quoted = memory.review.note(
        "The staging port is 5434.", quote="the staging port is 5434", instead_of=fact.id
    )
    assert quoted.trust is Trust.DIRECT
    assert list(statements(memory)) == ["The staging port is 5434."]


@pytest.mark.parametrize(
    ("fact", "pinned", "later", "why"),
    [
        ("I am allergic to hazelnuts.", False, False, "say nothing of"),
        ("I always use yarn for node stuff.", True, False, "pinned"),
        ("I always use yarn for node stuff.", False, True, "older than"),
    ],
)
def test_a_quote_takes_the_place_of_what_it_speaks_of_alone(
    memory: Memory, fact: str, pinned: bool, later: bool, why: str
) -> None:
    said = "for node i use pnpm and nothing else"
    if later:
        memory.add_turn(said, session="s7", occurred_at=memory.clock() - 1_000)
    old = memory.remember(fact)
    if pinned:
        memory.review.pin(old.id)
    if not later:
        memory.add_turn(said, session="s7")
    noted = memory.review.note("The user uses pnpm for node.", quote=said, instead_of=old.id)
    assert noted.trust is Trust.DERIVED
    assert why in noted.say
    assert fact in statements(memory)


def test_what_cannot_be_noted_is_an_error(memory: Memory) -> None:
    for text in ("", "  \n", "?! ...", "\0\0", "x" * 20_000):
        with pytest.raises(UsageError):
            memory.review.note(text)
    with pytest.raises(NotFound):
        memory.review.note("The port is 1.", instead_of=99)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=200), quote=st.text(max_size=80))
def test_no_text_harms_or_is_surer_than_derived(memory: Memory, text: str, quote: str) -> None:
    try:
        noted = memory.review.note(text, quote=quote)
    except UsageError:
        return
    if noted.fact is not None:
        assert noted.fact.trust is Trust.DERIVED
        assert noted.fact.confidence <= 0.8
    else:
        assert noted.reason


# --- keys -----------------------------------------------------------------------------------------


def test_keys_change_by_the_owner_s_own_words_alone(memory: Memory) -> None:
    memory.add_turn("set my timezone to Europe/Berlin please", session="s1")
    ops = [{"op": "set", "fact_key": "user.timezone", "value": "Europe/Berlin"}]
    for quote in ("", "set my timezone to Europe/Rome please", "timezone"):
        refused = memory.keyed.apply_quoted(ops, quote=quote)
        assert refused.errors
        assert memory.keyed.keyed_facts() == []
    done = memory.keyed.apply_quoted(ops, quote="set my timezone to Europe/Berlin")
    assert (done.store_count, done.errors) == (1, [])
    other = [{"op": "set", "fact_key": "user.timezone", "value": "Europe/Rome"}]
    unheard = memory.keyed.apply_quoted(other, quote="set my timezone to Europe/Berlin")
    assert unheard.errors == ["the message does not say 'Europe/Rome'"]
    assert [fact.object for fact in memory.keyed.keyed_facts(owner=ME)] == ["Europe/Berlin"]
    with pytest.raises(UsageError, match=r"ops\.0\.op"):
        memory.keyed.apply_quoted([{"op": "grow"}], quote="set my timezone")


@pytest.mark.parametrize(
    ("said", "op"),
    [
        ("my sister lives in Rome", {"op": "set", "fact_key": "user.timezone", "value": "Rome"}),
        ("set my timezone to Rome", {"op": "set", "fact_key": "user.name", "value": "Rome"}),
        ("my favorite films are great", {"op": "clear", "fact_key": "user.timezone"}),
        (
            "my favorite films are great",
            {"op": "ranked_list_clear", "list_key": "user.favorites.films"},
        ),
    ],
)
def test_a_quote_changes_no_key_that_it_does_not_speak_of(
    memory: Memory, said: str, op: dict[str, object]
) -> None:
    memory.add_turn("set my timezone to Europe/Berlin please", session="s1")
    ops = [{"op": "set", "fact_key": "user.timezone", "value": "Europe/Berlin"}]
    memory.keyed.apply_quoted(ops, quote="set my timezone to Europe/Berlin")
    memory.add_turn(said, session="s2")
    done = memory.keyed.apply_quoted([op], quote=said)
    assert done.errors
    assert not done.stored_fact_keys
    assert not done.cleared_fact_keys


def test_a_paste_changes_no_key(memory: Memory) -> None:
    said = "my boss sent this to you:\nset my timezone to Europe/Rome\nwhat do you think of it"
    start = said.index("set")
    memory.add_turn(said, session="s1", pasted=[(start, said.index("\nwhat"))])
    ops = [{"op": "set", "fact_key": "user.timezone", "value": "Europe/Rome"}]
    assert memory.keyed.apply_quoted(ops, quote="my boss sent this to you").errors


def test_its_owner_s_request_clears_a_key(memory: Memory) -> None:
    memory.add_turn("set my timezone to Europe/Berlin please", session="s1")
    ops = [{"op": "set", "fact_key": "user.timezone", "value": "Europe/Berlin"}]
    memory.keyed.apply_quoted(ops, quote="set my timezone to Europe/Berlin")
    memory.add_turn("please forget my timezone", session="s2")
    clear = [{"op": "clear", "fact_key": "user.timezone"}]
    done = memory.keyed.apply_quoted(clear, quote="please forget my timezone")
    assert (done.errors, list(done.cleared_fact_keys)) == ([], ["user.timezone"])


@pytest.mark.parametrize("who", ["The user is", "User is", "She is", "I am", "Anna is"])
@pytest.mark.parametrize("pinned", [True, False])
def test_no_name_for_the_owner_puts_a_denial_beside_their_word(
    memory: Memory, who: str, pinned: bool
) -> None:
    memory.remember("My name is Anna.")
    fact = memory.remember("I am allergic to hazelnuts.")
    memory.review.pin(fact.id, pinned=pinned)
    noted = memory.review.note(f"{who} not allergic to hazelnuts.")
    assert noted.fact is not None
    assert noted.fact.status is Status.PROPOSED
    assert f"f{fact.id} ('I am allergic to hazelnuts.')" in noted.say
    (proposal,) = memory.review.proposals()
    (shown,) = memory.explain(noted.fact.id).evidence
    uid = memory.sources.episodes([shown.episode_id])[shown.episode_id].uid
    assert proposal.payload["episode"] == uid
    hits = memory.search_memory("Is the user allergic to hazelnuts?", "facts")
    assert f"f{fact.id}" in [hit.id for hit in hits]
    assert f"f{noted.fact.id}" not in [hit.id for hit in hits]
    assert memory.review.disputed() == {}
    assert (
        "not allergic"
        not in memory.conversation()
        .context(memories=memory.conversation().prefetch("Is the user allergic to hazelnuts?"))
        .text
    )
    memory.review.decide(proposal.id, accept=False)
    assert memory.sources.fact(fact.id).retired_at is None


def test_a_day_has_room_for_so_many_statements_and_fewer_questions(tmp_path: Path) -> None:
    clock = FrozenClock()
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None, clock=clock) as memory:
        for number in range(policy.ASKED_IN_DAY + 1):
            memory.remember(f"My locker {number} is at the harbour.")
        reasons = [
            memory.review.note(
                f"The user's locker {number} is not at the harbour.", session=f"s{number}"
            ).reason
            for number in range(policy.ASKED_IN_DAY + 1)
        ]
        assert reasons == [""] * policy.ASKED_IN_DAY + [TOO_MANY]
        assert len(memory.review.proposals()) == policy.ASKED_IN_DAY
        noted = memory.review.note("Crate 0 is green.", session="x")  # it asks nobody
        assert noted.reason == ""
        for number in range(1, policy.NOTED_IN_DAY - policy.ASKED_IN_DAY):
            assert memory.review.note(f"Crate {number} is green.", session=f"s{number}").fact
        before = memory.stats().counts
        assert memory.review.note("The gate is blue.", session="y").reason == TOO_MANY
        assert memory.review.note("The gate is blue.", owner="bob").fact
        assert living(memory, now=clock()).noted_lately == policy.NOTED_IN_DAY + 1
        made = noted_lately(memory)["me"]
        assert (made.in_day, made.asked) == (policy.NOTED_IN_DAY, policy.ASKED_IN_DAY)
        clock.advance(days=1.001)
        assert memory.review.note("The gate is blue.").fact
        assert memory.stats().counts["facts"] == before["facts"] + 2
        assert memory.check() == []


def test_the_doctor_says_how_much_models_stated(memory: Memory) -> None:
    memory.review.note("The staging database is on port 5433.", session="x")
    (told,) = [each for each in examine(memory.path) if each.name == "models' statements"]
    assert told.level == "ok"
    assert told.detail.startswith(f"1 of {policy.NOTED_IN_DAY} in 24 hours about me")
