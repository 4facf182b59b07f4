"""Simulate a year of ten people who chat, search, learn and like; judge what memory makes of it.

    python -m bench.interests [--days N] [--owners N] [--seed N] [--enrich N] [--predictions OUT]
                              [--plot FILE] [--json]
    python -m bench.interests --relations [--json]

A generator (`bench.interests_life`, `bench.interests_world`) knows what every person cares about on
which day, what each names, and what is true of every thing. The product lives through the year as
it would in use: one file, ten owners, its own loops (searching, reading, embedding, enrichment, the
cleaner, notices, to which people react). Judged by the generator's account alone:

- user_named_share: entities that their owner named or asked about, by name or by kind.
- created_by_enrichment: entities that a search which nobody asked for brought in.
- junk_names: entities that are no name of anything: numbers, years, dates, towns, fragments.
- spearman: rank correlation of the interest shown on the last day with the hidden interest, over
  everything the owner ever named; the mean of the owners.
- things_found, topics_found: of the things that an owner named, and of the kinds that an owner
  searched for, wanted to learn about or liked by command, those that became entities, in percent;
  `split_things` counts the things that are held under more than one name.
- near_duplicates: facts that state in nearly the same words what another fact of the same entity
  states, in percent; `restated` counts those that state it in other words.

Baselines: every run of capitalised words is an entity (names); how often and how lately a thing was
mentioned (ranking). `formula` is the seed's formula over what people truly did: what the ranking
would be if every message were understood.

`--relations` calibrates `interest.relate.RELATED` on written topics and things.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bench._common import BenchError, emit, print_table, run
from bench.cached import Cached
from bench.interests_judge import Held, Names, correlations, judge, ungated
from bench.interests_life import OWNERS, START, Act, Invited, Owner, lives
from bench.interests_topics import ALSO, THINGS, TOPICS
from bench.interests_world import World, plain
from factbook.store.derived.entities import engagements_of, world_facts
from factbook.store.derived.searches import search_logs

DAY_MS: Final = 24 * 3600 * 1000
ENRICH_A_DAY: Final = 6  # of all owners together: the product's own bound is 24
_NAMESPACE: Final = uuid.UUID("5e0c2c4e-64a4-4c0e-9a0c-1f3b7c1d2e4f")
_STRENGTH: Final = {
    "learn": 1.0,
    "like": 0.8,
    "dislike": 0.8,
    "statement": 0.7,
    "search": 0.6,
    "follow-up": 0.5,
    "approval": 0.3,
    "passing": 0.2,
}  # seed 003, once more: the reference must not follow the product


class Web:
    """The made-up web as a search provider of the product."""

    id = "made-up"

    def __init__(self, world: World) -> None:
        """Take the world; the day moves with the simulation."""
        self._world = world
        self.day = 0
        self.asked = 0

    def search(self, query: str, *, limit: int = 8) -> Any:
        """Return what the world finds on this day."""
        from factbook.model.entities import SearchAnswer, SearchResult

        self.asked += 1
        pages = self._world.search(query, self.day)[:limit]
        results = [
            SearchResult(
                title=one.title,
                url=one.url,
                text=one.text,
                published_at=int(one.at.timestamp() * 1000),
            )
            for one in pages
        ]
        return SearchAnswer(provider=self.id, results=results, duration_ms=1)


class Simulation:
    """Ten people and one memory, day by day."""

    def __init__(
        self, path: Path, *, days: int, owners: int, seed: int, enrich: int, world: World
    ) -> None:
        """Make the people and open the memory."""
        from factbook.memory import Memory

        self.now = int(START.timestamp() * 1000)
        self.days = days
        self.world = world
        self.people = lives(world, seed=seed, days=days, owners=owners)
        self.invited = {one.name: Invited() for one in self.people}
        self.messages: dict[str, list[str]] = {one.name: [] for one in self.people}
        self.acts: list[Act] = []
        self.notices: Counter[str] = Counter()
        self._by_name = {one.name: one for one in self.people}
        self._names = Names(world)
        self._enrich = enrich
        self.web = Web(world)
        self.memory = Memory(
            path,
            clock=lambda: self.now,
            embedder=Cached(),
            key_file=path.with_name("key"),
            model=None,
            search=self.web,
        )

    def live(self) -> None:
        """Live through all days."""
        for day in range(self.days):
            self.web.day = day
            acts = sorted(
                (act for one in self.people for act in one.day(day)), key=lambda act: act.at
            )
            for act in acts:
                self.now = act.at
                self._do(act, day)
            self.now = int((START + timedelta(days=day, hours=23)).timestamp() * 1000)
            self._work(day)
        self.now = int((START + timedelta(days=self.days)).timestamp() * 1000)

    # --- what people do -------------------------------------------------------------------------

    def _do(self, act: Act, day: int) -> None:
        self.acts.append(act)
        self.invited[act.owner].add(act)
        memory, owner = self.memory, act.owner
        if act.does == "learn":
            memory.interests.learn(act.text, owner=owner)
        elif act.does == "like":
            memory.interests.like(act.text, owner=owner)
        elif act.does == "dislike":
            memory.interests.dislike(act.text, owner=owner)
        elif act.does == "search":
            self.messages[owner].append(act.text)
            memory.interests.search_web(act.text, owner=owner)
        elif act.does == "approve":
            replies = [one for one in self.acts if one.owner == owner and one.does == "reply"]
            memory.interests.react(f"e{self._episode(replies[-1], day)}", act.text, owner=owner)
        else:
            role = "assistant" if act.does == "reply" else "user"
            if role == "user":
                self.messages[owner].append(act.text)
            memory.add_turn(
                act.text,
                role=role,
                session=_session(act, day),
                occurred_at=act.at,
                uid=_own_id(act),
                owner=owner,
            )

    def _episode(self, act: Act, day: int) -> int:
        from factbook.model.facts import Role
        from factbook.sources.conversation.turn import turn_uid

        uid = turn_uid(
            act.owner,
            _session(act, day),
            own_id=_own_id(act),
            role=Role.ASSISTANT,
            text=act.text,
            occurred_at=act.at,
        )
        return self.memory.store.episode_ids([uid])[uid]

    # --- what happens behind --------------------------------------------------------------------

    def _work(self, day: int) -> None:
        """Do what the worker does in a day: searches, reading, embedding, enrichment, notices."""
        self.memory.background.work()
        for _ in range(self._enrich):
            self.now += 60_000
            report = self.memory.background.work(enrich=True)
            if report.enriched is None or not report.enriched.query:
                break
        self._tell(day)
        self.memory.background.clean()

    def _tell(self, day: int) -> None:
        """Deliver the notices that may go; people who care react to some of them."""
        reactions: list[tuple[str, int, str]] = []

        def show(delivery: Any) -> None:
            owner = delivery.notice.owner
            self.notices["sent"] += 1
            thing = self._names.thing(delivery.entity)
            cares = self._by_name[owner].hidden(day).get(thing, 0.0)
            sign = self._by_name[owner].reaction(cares)
            if sign:
                reactions.append((owner, delivery.notice.id, sign))

        self.memory.background.notifier(show).pass_once()
        for owner, notice_id, sign in reactions:
            self.now += 1_000
            self.notices[sign] += 1
            self.memory.interests.react(f"n{notice_id}", sign, owner=owner)

    # --- what there is at the end ---------------------------------------------------------------

    def held(self) -> list[Held]:
        """Return every entity as the memory holds it."""
        from factbook.model.facts import Trigger

        found = []
        for owner in self.messages:
            unasked = {
                episode_id
                for log in search_logs(self.memory.store, owner)
                if log.trigger is Trigger.ENRICHMENT
                for episode_id in log.episode_ids
            }
            asked = {
                episode_id
                for log in search_logs(self.memory.store, owner)
                if log.trigger is not Trigger.ENRICHMENT
                for episode_id in log.episode_ids
            }
            for row in self.memory.interests.ranked(owner=owner):
                one = row.entity
                by_enrichment = (
                    one.trigger is Trigger.ENRICHMENT or one.episode_id in unasked - asked
                )
                facts = world_facts(self.memory.store, owner, one.name)
                found.append(
                    Held(
                        owner=owner,
                        name=one.name,
                        facts=[fact.object for fact in facts],
                        interest=row.score,
                        by_enrichment=by_enrichment,
                    )
                )
        return found

    def results(self) -> dict[str, list[tuple[str, bool]]]:
        """Return each owner's result texts, and whether nobody asked for the search."""
        from factbook.model.facts import Trigger

        found: dict[str, list[tuple[str, bool]]] = {}
        for owner in self.messages:
            rows: dict[int, bool] = {}
            for log in search_logs(self.memory.store, owner):
                for episode_id in log.episode_ids:
                    own = log.trigger is Trigger.ENRICHMENT
                    rows[episode_id] = rows.get(episode_id, True) and own
            texts = self.memory.store.episodes_by_id(sorted(rows))
            found[owner] = [(texts[one].text, own) for one, own in rows.items()]
        return found


def _own_id(act: Act) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{act.owner}/{act.at}"))


def _session(act: Act, day: int) -> str:
    return f"{act.owner}-day{day}"


# --- the figures ----------------------------------------------------------------------------------


def simulate(
    path: Path,
    *,
    days: int,
    owners: int,
    seed: int,
    enrich: int = ENRICH_A_DAY,
    predictions: Path | None = None,
    plot: Path | None = None,
) -> dict[str, Any]:
    """Live through the days and return the figures, the baselines' beside the product's."""
    before = _cpu()
    world = World(seed=seed, start=START, days=days)
    simulation = Simulation(path, days=days, owners=owners, seed=seed, enrich=enrich, world=world)
    with simulation.memory as memory:
        simulation.live()
        held = simulation.held()
        if predictions is not None:
            _write(predictions, held)
        said = {
            owner: "\n".join(plain(text) for text in texts)
            for owner, texts in simulation.messages.items()
        }
        figures = judge(
            held,
            names=Names(world),
            world=world,
            owners=simulation.people,
            invited=simulation.invited,
            said=said,
            day=days,
        )
        figures["baselines"] = _baselines(simulation, days=days)
        figures["notices"] = dict(simulation.notices)
        figures["searches"] = simulation.web.asked
        figures["messages"] = sum(map(len, simulation.messages.values()))
        figures["problems"] = len(memory.check())
        if plot is not None:
            _draw(simulation, plot, days=days)
    return figures | {
        "days": days,
        "owners": owners,
        "seed": seed,
        "enrichment_a_day": enrich,
        "cpu_seconds": round(_cpu() - before, 1),
        "file_mb": round(path.stat().st_size / 1e6, 1),
    }


def _baselines(simulation: Simulation, *, days: int) -> dict[str, Any]:
    held = ungated(simulation.messages, simulation.results())
    names = Names(simulation.world)
    kinds = Counter(names.kind_of(one.name, simulation.invited[one.owner]) for one in held)
    good = kinds["thing"] + kinds["topic"] + kinds["person"]
    return {
        "capitalised_names": {
            "entities": len(held),
            "user_named_share": round(100 * good / max(1, len(held)), 2),
            "created_by_enrichment": sum(one.by_enrichment for one in held),
            "junk_names": kinds["junk"],
        },
        "spearman": rankings(
            simulation.acts,
            owners=simulation.people,
            invited=simulation.invited,
            day=days,
            now=simulation.now,
        ),
    }


def rankings(
    acts: Sequence[Act],
    *,
    owners: Sequence[Owner],
    invited: Mapping[str, Invited],
    day: int,
    now: int,
) -> dict[str, float]:
    """Return the mean rank correlation of simple rankings and of the formula over true acts."""
    scores: dict[str, dict[str, dict[str, float]]] = {
        name: defaultdict(lambda: defaultdict(float))
        for name in ("mention_count", "last_mention", "formula_without_decay", "formula")
    }
    for act in acts:
        if act.does == "reply":
            continue
        value = _STRENGTH.get(act.truly, 0.0) * (-1 if act.negative else 1)
        for thing in act.things:
            scores["mention_count"][act.owner][thing] += 1
            scores["last_mention"][act.owner][thing] = act.at
            scores["formula_without_decay"][act.owner][thing] += value
            scores["formula"][act.owner][thing] += value * 0.5 ** ((now - act.at) / DAY_MS / 30)
    return {
        name: round(float(np.mean(correlations(one, owners=owners, invited=invited, day=day))), 3)
        for name, one in scores.items()
    }


def _write(path: Path, held: Sequence[Held]) -> None:
    lines = (json.dumps(asdict(one), ensure_ascii=False) for one in held)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _draw(simulation: Simulation, path: Path, *, days: int) -> None:
    """Draw the year of the first owner as the product saw it."""
    from factbook.interests.score import course
    from factbook.memory.reasons import Curve
    from factbook.surface.plots import interest_plot

    owner = simulation.people[0].name
    begin = int(START.timestamp() * 1000)
    moments = [begin + day * DAY_MS for day in range(0, days + 1, max(1, days // 120))]
    curves = [
        Curve(
            name=one.name,
            moments=moments,
            scores=course(
                engagements_of(simulation.memory.store, owner, entity_id=one.id), moments
            ),
        )
        for one in simulation.memory.interests.entities(owner=owner)
    ]
    interest_plot(curves, path, title=f"A simulated year of {owner}: interest over time")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


# --- the calibration of relations -----------------------------------------------------------------


def relations(thresholds: Sequence[float]) -> list[dict[str, object]]:
    """Return precision and recall of relating topics to things, at each threshold.

    Once by the names of the things, once by names and what is known of them, the closest counting.
    A pair that may be said to belong together is counted neither as right nor as wrong.
    """
    from factbook.embed import bundled

    embedder = bundled()
    topics = sorted({topic for some in TOPICS.values() for topic in some})
    rows = embedder.embed(topics)

    def cosines(texts: Sequence[str]) -> NDArray[np.float32]:
        return rows @ embedder.embed(texts).T

    names = cosines([name for _, name, _ in THINGS])
    known = np.maximum.reduce([names, *(cosines([said[n] for *_, said in THINGS]) for n in (0, 1))])
    own = np.array([[topic in TOPICS[one] for one, *_ in THINGS] for topic in topics])
    open_ = np.array([[one in ALSO.get(topic, ()) for one, *_ in THINGS] for topic in topics])
    found: list[dict[str, object]] = []
    for threshold in thresholds:
        row: dict[str, object] = {"threshold": round(threshold, 2)}
        for label, matrix in (("names", names), ("known", known)):
            taken = matrix >= threshold
            right, wrong = int((taken & own).sum()), int((taken & ~own & ~open_).sum())
            row[f"{label} precision"] = 100 * right / (right + wrong) if right + wrong else None
            row[f"{label} recall"] = 100 * right / int(own.sum())
        found.append(row)
    return found


def main() -> int:
    """Run the part from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.interests", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--owners", type=int, default=len(OWNERS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--enrich", type=int, default=ENRICH_A_DAY, help="searches of its own a day"
    )
    parser.add_argument("--predictions", type=Path, help="write what is held, a line per entity")
    parser.add_argument("--plot", type=Path, help="draw the first owner's interest over time")
    parser.add_argument("--relations", action="store_true", help="calibrate relations instead")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.relations:
        rows = relations([0.2 + 0.05 * n for n in range(9)])
        if not given.json:
            print_table("Topics and things, by cosine", rows)
        emit({"relations": rows}, part="interests-relations", as_json=given.json)
        return 0
    if given.days < 1 or not 1 <= given.owners <= len(OWNERS):
        raise BenchError(
            f"{given.days} days of {given.owners} owners cannot be simulated; give at least one day"
            f" and 1 to {len(OWNERS)} owners"
        )
    with tempfile.TemporaryDirectory() as scratch:
        figures = simulate(
            Path(scratch) / "interests.db",
            days=given.days,
            owners=given.owners,
            seed=given.seed,
            enrich=given.enrich,
            predictions=given.predictions,
            plot=given.plot,
        )
    if not given.json:
        _print(figures)
    emit(figures, part="interests", as_json=given.json)
    return 0


def _print(figures: Mapping[str, Any]) -> None:
    ungated_, ranked = figures["baselines"]["capitalised_names"], figures["baselines"]["spearman"]
    columns = ("entities", "user_named_share", "created_by_enrichment", "junk_names")
    print_table(
        f"{figures['days']} days of {figures['owners']} people, {figures['messages']:,} messages,"
        f" {figures['searches']:,} searches",
        [
            {"": "factbook", **{one: figures[one] for one in columns}},
            {"": "every capitalised name", **{one: ungated_[one] for one in columns}},
        ],
    )
    print_table(
        "Ranking on the last day, against hidden interest",
        [
            {
                "": "factbook",
                "spearman": figures["spearman"],
                "worst": figures["spearman_worst"],
                "of": figures["spearman_worst_owner"],
            },
            *({"": name.replace("_", " "), "spearman": value} for name, value in ranked.items()),
        ],
    )
    print_table(
        "Facts",
        [
            {
                one: figures[one]
                for one in (
                    "facts",
                    "facts_per_entity",
                    "near_duplicates",
                    "restated",
                    "facts_right",
                )
            }
        ],
    )
    found = ("things_found", "topics_found", "split_things")
    print_table("What was named, as entities", [{one: figures[one] for one in found}])
    print_table("Entities by what they are", [figures["kinds"]])


if __name__ == "__main__":
    raise SystemExit(run(main))
