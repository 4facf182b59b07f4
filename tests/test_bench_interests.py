"""Hold the simulated year to what it promises: a seed, hidden truths, a judge that cannot read."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import pytest
from bench._common import run
from bench.interests import main, relations, simulate
from bench.interests_judge import Held, Names, correlations, judge, ungated
from bench.interests_life import START, Act, Invited, Phase, lives, spearman
from bench.interests_topics import ALSO, THINGS, TOPICS
from bench.interests_world import KINDS, PAGES, World, plain
from hypothesis import given
from hypothesis import strategies as st

from factbook.interests.relate import RELATED

DAYS = 60


@pytest.fixture(scope="module")
def world() -> World:
    """Return a small made-up world."""
    return World(seed=5, start=START, days=DAYS)


def acts(seed: int = 5, *, owners: int = 2) -> list[Act]:
    """Return all that some people say and do."""
    made = World(seed=seed, start=START, days=DAYS)
    people = lives(made, seed=seed, days=DAYS, owners=owners)
    return [act for one in people for day in range(DAYS) for act in one.day(day)]


# --- the generator --------------------------------------------------------------------------------


def test_a_seed_gives_one_year_and_another_seed_another() -> None:
    assert acts() == acts()
    assert acts() != acts(6)


def test_the_web_is_the_same_in_every_search_and_learns_with_the_days(world: World) -> None:
    thing = world.things[0]
    query = f"search for {thing.name} reviews"
    pages = world.search(query, 3)
    assert pages == World(seed=5, start=START, days=DAYS).search(query, 3)
    assert len(pages) == PAGES
    assert all(page.url.startswith("https://") and page.text for page in pages)
    assert any(thing.name in page.title for page in pages)
    late = {truth.id for truth in thing.truths if truth.since > 3}
    told = {truth for page in pages for _, truth in world.states(page.text)}
    assert not late & told
    after = {truth for page in world.search(query, DAYS) for _, truth in world.states(page.text)}
    assert late & after


def test_a_search_finds_the_thing_that_is_named_and_not_its_sibling(world: World) -> None:
    named = {thing.name.lower(): thing for thing in world.things}
    longer = [thing for name, thing in named.items() if name.rpartition(" ")[0] in named]
    assert longer, "this seed makes no siblings; take another"
    for thing in longer:
        assert thing.name in world.search(f"find reviews of {thing.name.lower()}", 1)[0].title


def test_pages_hold_what_surrounds_facts(world: World) -> None:
    """Distractors, boilerplate, sponsors, lists and dates stand among the sentences."""
    pages = [page for thing in world.things[:40] for page in world.search(thing.name, 30)]
    text = "\n".join(page.text for page in pages)
    for sign in ("cookies", "Sponsored by", "newsletter", "1. ", "2025", "Rated", "€", "©"):
        assert sign in text
    lines = {line for line in text.splitlines() if not world.states(line)}
    assert len(lines) > 300


def test_every_sentence_of_a_truth_is_known_to_state_it(world: World) -> None:
    for thing in world.things:
        for truth in thing.truths:
            for says in truth.says:
                for subject in (thing.name, thing.the, "it"):
                    said = says.replace("{s}", subject)
                    assert (thing.name, truth.id) in world.states(said[0].upper() + said[1:])
    assert world.states("We use cookies to improve your experience on this site.") == set()


def test_things_have_names_of_their_own(world: World) -> None:
    for kind in KINDS:
        assert sum(thing.kind is kind for thing in world.things) == 12
    called = [name.lower() for thing in world.things for name in {thing.name, thing.short}]
    assert len(called) == len(set(called))


def test_people_say_what_they_care_about(world: World) -> None:
    """What is liked is talked of, what was never begun is not, and small talk names no thing."""
    done = acts(owners=10)
    kinds = Counter(act.truly for act in done)
    for kind in ("learn", "like", "statement", "search", "follow-up", "passing", "approval"):
        assert kinds[kind], kind
    assert any(act.negative for act in done)
    by_owner = {one.name: one for one in lives(world, seed=5, days=DAYS, owners=10)}
    for act in done:
        day = (act.at - int(START.timestamp() * 1000)) / (24 * 3600 * 1000)
        for name in act.things:
            cared = next(one for one in by_owner[act.owner].cares if one.thing.name == name)
            assert any(phase.begins <= day for phase in cared.phases)
    times = [act.at for act in done if act.owner == "ada"]
    assert times == sorted(times)
    assert len(times) == len(set(times))


def test_an_interest_rises_lasts_and_fades() -> None:
    phase = Phase(begins=10, rises=10, lasts=20, fades=30, height=0.8)
    assert [phase.at(day) for day in (9, 15, 20, 40, 70)] == pytest.approx([0, 0.4, 0.8, 0.8, 0.4])
    forever = Phase(begins=0, rises=1, lasts=math.inf, fades=math.inf, height=-1)
    assert forever.at(10_000) == -1


# --- the correlation ------------------------------------------------------------------------------


def test_spearman_is_that_of_the_books() -> None:
    stats = pytest.importorskip("scipy.stats")
    one = {"a": 1.0, "b": 2.0, "c": 2.0, "d": 9.0, "e": -3.0}
    two = {"a": 0.0, "b": 5.0, "c": 0.0, "d": 4.0, "e": 1.0}
    expected = stats.spearmanr(list(one.values()), list(two.values())).statistic
    assert spearman(one, two) == pytest.approx(expected)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1e6, 1e6), min_size=2))
def test_spearman_knows_only_the_order(scores: dict[str, float]) -> None:
    if len(set(scores.values())) > 1:
        assert spearman(scores, scores) == pytest.approx(1)
        assert spearman(scores, {name: -value for name, value in scores.items()}) == pytest.approx(
            -1
        )
    assert spearman(scores, dict.fromkeys(scores, 0.0)) == 0


# --- the judge ------------------------------------------------------------------------------------


def test_the_judge_tells_what_an_entity_is(world: World) -> None:
    names = Names(world)
    one = next(thing for thing in world.things if thing.maker)
    other = next(thing for thing in world.things if thing.kind is not one.kind)
    mine = Invited()
    mine.add(Act(0, "ada", "say", "", things=(one.name,)))
    assert names.kind_of(one.name.lower(), mine) == "thing"
    assert names.kind_of(f"the {one.short}".lower(), mine) == "thing"
    assert names.kind_of(other.name.lower(), mine) == "uninvited"
    assert names.kind_of(one.kind.plural, mine) == "uninvited"
    mine.add(Act(0, "ada", "learn", "", topic=one.kind.plural))
    assert names.kind_of(one.kind.plural, mine) == "topic"
    assert names.kind_of("marta", mine) == "person"
    assert names.kind_of("brightleaf insurance", mine) == "bystander"
    assert names.kind_of(one.maker.lower(), mine) == "bystander"
    for junk in ("2025", "march", "lisbon", f"{one.name} reviews".lower(), "read more", "14 mails"):
        assert names.kind_of(junk, mine) == "junk"


def test_the_judge_counts_what_was_asked_about_and_did_not_become_an_entity(world: World) -> None:
    owner = lives(world, seed=5, days=DAYS, owners=1)[0]
    mine = Invited()
    for does, kind in (("search", KINDS[0]), ("learn", KINDS[1]), ("dislike", KINDS[2])):
        mine.add(Act(0, owner.name, does, "", topic=kind.plural))
    figures = judge(
        [Held(owner=owner.name, name=KINDS[0].plural)],
        names=Names(world),
        world=world,
        owners=[owner],
        invited={owner.name: mine},
        said={owner.name: ""},
        day=0,
    )
    assert figures["topics_found"] == 50.0  # no dislike makes an entity


def test_the_judge_counts_facts_by_what_they_state(world: World) -> None:
    owners = lives(world, seed=5, days=DAYS, owners=1)
    owner = owners[0]
    thing, other = owner.cares[0].thing, owner.cares[1].thing

    def sentence(of: object, place: int, wording: int) -> str:
        truth = of.truths[place]  # type: ignore[attr-defined]
        return truth.says[wording].replace("{s}", of.name)  # type: ignore[attr-defined,no-any-return]

    mine = Invited()
    mine.add(Act(0, owner.name, "say", "", things=(thing.name, other.name)))
    facts = [
        sentence(thing, 1, 0),
        sentence(thing, 1, 0).replace(thing.name, "It"),
        sentence(thing, 1, 1),  # the same in other words
        sentence(other, 0, 0),
        "Subscribe to our newsletter and never miss a deal!",
        "Yusuf borrowed it yesterday",
    ]
    held = [Held(owner=owner.name, name=thing.name.lower(), facts=facts, interest=1.0)]
    figures = judge(
        held,
        names=Names(world),
        world=world,
        owners=owners,
        invited={owner.name: mine},
        said={owner.name: plain("Yusuf borrowed it yesterday.")},
        day=DAYS,
    )
    assert figures["fact_kinds"] == {
        "right": 1, "near_duplicate": 1, "restated": 1, "of_another": 1, "noise": 1, "said": 1,
    }  # fmt: skip
    assert figures["near_duplicates"] == figures["restated"] == 16.67
    assert figures["facts_right"] == 66.67
    assert figures["user_named_share"] == 100.0
    assert figures["things_found"] == 50.0
    assert figures["topics_found"] == 0.0  # nobody asked about one
    assert figures["spearman_worst_owner"] == owner.name


def test_a_ranking_that_knows_the_truth_is_perfect(world: World) -> None:
    owners = lives(world, seed=5, days=DAYS, owners=3)
    invited = {one.name: Invited(things=set(one.hidden(DAYS))) for one in owners}
    scores = {one.name: one.hidden(DAYS) for one in owners}
    found = correlations(scores, owners=owners, invited=invited, day=DAYS)
    assert found == pytest.approx([1.0, 1.0, 1.0])


def test_the_baseline_takes_every_capitalised_name() -> None:
    held = ungated(
        {"ada": ["I love the Pellworth 3", "ok"]},
        {"ada": [("Sponsored by Quantro Bank", False), ("The Lakeside Fair 2025", True)]},
    )
    found = {one.name: one.by_enrichment for one in held}
    assert found["pellworth 3"] is False
    assert found["quantro bank"] is False
    assert found["lakeside fair 2025"] is True


def test_the_topics_of_the_calibration_fit_together() -> None:
    families = {family for family, _, _ in THINGS}
    assert families == set(TOPICS)
    assert all(also <= families for also in ALSO.values())
    assert all(len(said) == 2 for _, _, said in THINGS)


# --- the whole part -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the figures of some weeks of one person."""
    folder = tmp_path_factory.mktemp("interests")
    held = folder / "held.jsonl"
    path = folder / "memory.db"
    figures = simulate(path, days=20, owners=1, seed=3, enrich=1, predictions=held)
    return figures | {"lines": held.read_text(encoding="utf-8").splitlines()}


def test_some_weeks_are_lived_through(lived: dict[str, Any]) -> None:
    """The part runs the product: searches are made and read, facts are true of their entity."""
    assert lived["problems"] == 0
    assert lived["searches"] > 10
    assert lived["facts"] > 20
    assert lived["facts_right"] >= 80
    assert len(lived["lines"]) == lived["entities"]
    first = json.loads(lived["lines"][0])
    assert first.keys() == {"owner", "name", "facts", "interest", "by_enrichment"}


def test_nothing_comes_in_that_nobody_asked_for(lived: dict[str, Any]) -> None:
    """Seed 003, user-gated: no sponsor, author or event, and nothing by a search of our own."""
    assert lived["created_by_enrichment"] == 0
    assert not {"bystander", "uninvited"} & lived["kinds"].keys()
    base = lived["baselines"]["capitalised_names"]
    assert base["created_by_enrichment"] > 0
    assert base["junk_names"] > 0
    assert base["user_named_share"] < lived["user_named_share"]


def test_names_are_names(lived: dict[str, Any]) -> None:
    """Seed 003: no number, year, town or fragment becomes an entity."""
    assert lived["junk_names"] == 0, lived["examples"]["junk"]
    assert lived["user_named_share"] >= 95
    assert lived["split_things"] == 0
    assert lived["topics_found"] == 100
    # What is mentioned once, in passing and in lower case, has no sign of a name.
    assert lived["things_found"] >= 90


def test_the_calibration_prints_what_the_threshold_was_taken_from() -> None:
    """Of what reaches the threshold by names and facts, at least 95 % is right."""
    row = relations([RELATED])[0]
    assert float(str(row["known precision"])) >= 95
    assert float(str(row["known recall"])) >= 30
    assert float(str(row["names recall"])) < float(str(row["known recall"]))


def test_a_year_without_people_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["bench.interests", "--owners", "0"])
    assert run(main) == 2
    assert "give at least one day and 1 to 10 owners" in capsys.readouterr().err
