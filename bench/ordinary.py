"""Measure what is heard of ordinary, sloppy English, on rows kept aside from rules and training.

    python -m bench.ordinary [--rows FOLDER] [--part held|tune|train] [--sets NAME ...]
        [--show SET] [--json]

The rows of `data/language/ordinary` were written by people who did not know how they would be
read, and labelled before (its README says by which rules). Only those of authors that no rule and
no training ever saw are read by default.

- `chats`: clauses that a careful friend would still want to know in a month. Found where a
  statement that is kept covers over half of one; right where a statement covers one.
- `opinions`: what the writer likes or dislikes, with its sign; right where the target's words
  overlap by over half.
- `names`: whole names, without their type.
- `prompts`: rules and decisions that hold beyond the request.
- `pairs`: what becomes of two statements that are remembered one after the other, after a night:
  of changes those that are settled or asked about; of rewordings those that are joined; of
  look-alikes those that are harmed (merged or retired) or asked about.
- `people`: of people who each tell eighteen things, a day apart, with a night after each: changes
  that are settled or asked about, rewordings that are joined, and of a hundred statements that hold
  those that are gone; of what is asked about, how much is neither.
- `voices`: stretches of a message that are not its writer's own words, messages wholly their
  writer's own of which something is taken for others', and clauses of `chats` that are to be kept
  of which something is.
- `claims`: true claims on a summary that are refused, false ones that are stored, true ones of
  another summary that are stored, and sentences of the summary itself that are refused.
- `talk`: the same of claims on what a person says in a chat, but for its own sentences.
- `types`: claims that are no memory of their type (only wished, half meant, done once, a promise)
  and are known as such, and those that are one and are taken for none.
- `pages`: what a page of the web says of the thing it is about; right where a claim lies over a
  sentence or a row that is a fact of it. CPU time is of all pages together.
- `questions`: private questions that a search provider would be asked and questions of the world
  that it would not, of a memory that knows nothing; and the former where its owner has spoken of
  the names in them that only they and their people know.
- `reports`: sentences of coding agents' replies that report a fault, a fix or a finding, of those
  that hold a word for one.
"""

from __future__ import annotations

import argparse
import json
import lzma
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from rich.console import Console

from bench import privacy
from bench._common import ROOT, BenchError, emit, print_table, run
from factbook.embed import bundled
from factbook.extract.clusters import find_statements, pieces_of
from factbook.extract.directives import directives_in, own_reading
from factbook.extract.mentions import hear
from factbook.extract.names import names_in
from factbook.extract.opinions import preferences_in
from factbook.extract.prose import keyword_pattern, snippets
from factbook.extract.reports import masked, reports
from factbook.extract.session_parser import RULES
from factbook.extract.voice import own_words
from factbook.extract.world import facts_about
from factbook.gate.grounding import Passage, ground, read_passage
from factbook.gate.type_rules import broken_rule
from factbook.gate.typed_claims import judge_typed
from factbook.language.reader.relate import RELATER
from factbook.language.sentences import sentences
from factbook.memory import Memory
from factbook.model.entities import EngagementType, PreferenceType, Valence
from factbook.model.facts import EVERYONE, EpisodeKind, Role, StoredEpisode, Trust
from factbook.model.keys import entity_name
from factbook.model.memory_types import MemoryType, TypedClaim
from factbook.store.derived.facts import lives_by_id
from factbook.store.rows import Life

FOLDER: Final = ROOT / "data" / "language" / "ordinary"
START: Final = 1_790_000_000_000  # when the older ones of the pairs are said: September 2026
Row = dict[str, Any]
Place = tuple[int, int]  # characters of a text, from and to
Show = Callable[[str], None]


def rows_of(folder: Path, name: str, part: str) -> Iterator[Row]:
    """Yield the rows of a set."""
    path = folder / f"{name}.{part}.jsonl.xz"
    if not path.is_file():
        raise BenchError(f"{path} is not there; name the folder of the rows with --rows")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def places_of(text: str, quotes: Sequence[str]) -> list[Place]:
    """Find quotes, each behind the one before where it stands there."""
    places, at = [], 0
    for quote in quotes:
        begin = text.find(quote, at)
        begin = text.find(quote) if begin < 0 else begin
        at = begin + len(quote)
        places.append((begin, at))
    return places


def covers(place: Place, other: Place) -> bool:
    """Say whether two stretches share over half of the shorter."""
    shared = min(place[1], other[1]) - max(place[0], other[0])
    return 2 * shared > min(place[1] - place[0], other[1] - other[0])


class Tally:
    """What was wanted and given, and how much of either is right."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.wanted = self.found = self.given = self.right = 0

    def add(self, given: Sequence[Place], wanted: Sequence[Place]) -> list[tuple[str, Place]]:
        """Count stretches of one text; return each that is missed, and each given wrongly."""
        missed = [w for w in wanted if not any(covers(w, g) for g in given)]
        wrong = [g for g in given if not any(covers(g, w) for w in wanted)]
        self.wanted, self.given = self.wanted + len(wanted), self.given + len(given)
        self.found += len(wanted) - len(missed)
        self.right += len(given) - len(wrong)
        return [("missed", m) for m in missed] + [("wrong", w) for w in wrong]

    def figures(self) -> dict[str, float]:
        """Return recall and precision in percent, and what was counted."""
        return {
            "recall": 100 * self.found / max(1, self.wanted),
            "precision": 100 * self.right / max(1, self.given),
            "wanted": self.wanted,
            "given": self.given,
        }


def marked(
    rows: Sequence[Row],
    wanted: Callable[[Row], Sequence[str]],
    given: Callable[[Row], Sequence[Place]],
    show: Show,
) -> dict[str, float]:
    """Hold stretches that are read against those that are labelled."""
    tally = Tally()
    for row in rows:
        text = row["text"]
        places = places_of(text, wanted(row))
        for kind, (begin, end) in tally.add(given(row), places):
            show(f"{kind}: {text[begin:end]!r}\n    in {text!r}")
    return tally.figures()


# --- the readers ----------------------------------------------------------------------------------


def episode_of(text: str) -> StoredEpisode:
    """Return a turn as the store would hold it."""
    return StoredEpisode(
        id=1,
        uid="e1",
        source_id=1,
        source="chat:1",
        kind=EpisodeKind.TURN,
        role=Role.USER,
        trust=Trust.DIRECT,
        text=text,
        position=1,
        offset=0,
        occurred_at=None,
        owner="me",
        subject="",
        group="",
        session="s1",
        project="",
        branch="",
        agent="",
        tool="",
        call_id="",
        host="chat",
        is_error=False,
        cut=0,
        injected=False,
        overheard=tuple((part.start, part.end) for part in own_words(text).overheard),
    )


def statements_in(row: Row) -> list[Place]:
    """Return what is kept of a turn that was said once."""
    pieces = pieces_of(episode_of(row["text"]), row["before"] or "")
    return [(fact.start, fact.end) for fact in find_statements(pieces)]


def opinions_in(text: str, sign: str) -> list[Place]:
    """Return of what the writer is heard to like, or to dislike."""
    wanted = Valence.POSITIVE if sign == "like" else Valence.NEGATIVE
    said = EngagementType.EXPLICIT_STATEMENT
    named = [
        (one.start, one.end)
        for one in hear(text, known={})
        if one.type is said and one.valence is wanted
    ]
    topics = [
        (one.start, one.end)
        for one in preferences_in(text)
        if (one.type is PreferenceType.DISLIKE) is (sign == "dislike")
    ]
    return [*named, *(t for t in topics if not any(covers(t, n) for n in named))]


def first_places(text: str, places: Sequence[Place]) -> list[Place]:
    """Return where words stand first, as labels name words and not which of equal ones."""
    quotes = dict.fromkeys(text[begin:end] for begin, end in places)
    return [(text.find(quote), text.find(quote) + len(quote)) for quote in quotes]


def rules_in(row: Row) -> list[Place]:
    """Return the rules and decisions that are kept of a prompt."""
    prompt = replace(episode_of(row["text"]), kind=EpisodeKind.PROMPT, host="claude-code")
    reading = own_reading(prompt)
    directives = [] if reading is None else directives_in(prompt, reading)
    return [(directive.start, directive.end) for directive in directives]


# --- the sets -------------------------------------------------------------------------------------


def chats(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Hold what is kept of turns against what a careful friend would keep."""

    def wanted(row: Row) -> list[str]:
        return [clause["q"] for clause in row["clauses"] if clause["keep"]]

    tally = Tally()
    for row in rows:
        quotes = [clause["q"] for clause in row["clauses"]]
        places = places_of(row["text"], quotes)
        judged = list(zip(places, (clause["keep"] for clause in row["clauses"]), strict=True))
        kept = [place for place, keep in judged if keep]
        unsure = [place for place, keep in judged if keep is None]  # on which readers differ
        given = [g for g in statements_in(row) if not any(covers(g, u) for u in unsure)]
        tally.add(given, kept)
        if wanted(row) or given:
            show(f"{row['text']!r}\n    kept {[row['text'][a:b] for a, b in given]}")
    return tally.figures()


def opinions(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Hold likes and dislikes against those that are labelled."""
    tally = Tally()
    for row in rows:
        for sign in ("like", "dislike"):
            text = row["text"]
            quotes = [one["t"] for one in row["opinions"] if one["s"] == sign]
            wanted = [(text.find(quote), text.find(quote) + len(quote)) for quote in quotes]
            given = first_places(text, opinions_in(text, sign))
            if tally.add(given, wanted):
                show(f"{sign} in {text!r}\n    {[text[a:b] for a, b in given]} for {quotes}")
    return tally.figures()


def names(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Count names that are found whole, and nothing else."""
    right = given = wanted = 0
    for row in rows:
        labelled = Counter(one["n"] for one in row["names"])
        read = Counter(span.surface for span in names_in(row["text"]))
        right += (labelled & read).total()
        given, wanted = given + read.total(), wanted + labelled.total()
        if labelled != read:
            show(f"{row['text']!r}\n    {sorted(read)} for {sorted(labelled)}")
    return {
        "recall": 100 * right / max(1, wanted),
        "precision": 100 * right / max(1, given),
        "wanted": wanted,
        "given": given,
    }


def prompts(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Hold rules and decisions against those that are labelled."""
    return marked(rows, lambda row: [one["q"] for one in row["marks"]], rules_in, show)


def pairs(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Let an owner each say one statement and, a week later, the other; see what is known then."""
    told: dict[str, Counter[str]] = {
        label: Counter() for label in ("change", "reword", "lookalike")
    }
    shown = 0
    for row, (verdict, newest) in zip(rows, became(rows), strict=True):
        told[row["label"]][verdict] += 1
        shown += newest
        show(f"{row['label']} {verdict}: {row['old']!r} -> {row['new']!r}")
    sizes = {label: max(1, counts.total()) for label, counts in told.items()}
    change, same, apart = (told[label] for label in ("change", "reword", "lookalike"))
    return {
        "changes settled": 100 * change["settled"] / sizes["change"],
        "changes asked": 100 * change["asked"] / sizes["change"],
        "changes joined (wrong)": 100 * change["joined"] / sizes["change"],
        "rewordings joined": 100 * same["joined"] / sizes["reword"],
        "rewordings retired or asked": 100 * (same["settled"] + same["asked"]) / sizes["reword"],
        "look-alikes harmed": 100 * (apart["settled"] + apart["joined"]) / sizes["lookalike"],
        "look-alikes asked": 100 * apart["asked"] / sizes["lookalike"],
        "newer one stands, in its words": 100 * shown / max(1, len(rows)),
    }


def became(rows: Sequence[Row]) -> Iterator[tuple[str, bool]]:
    """Yield what becomes of the two statements of each row, and whether the newer still stands."""
    with TemporaryDirectory() as folder:
        path, now = Path(folder) / "pairs.db", START
        with Memory(path, clock=lambda: now, key_file=path.with_name("key")) as memory:
            ids = [[memory.remember(row["old"], owner=f"p{n}").id] for n, row in enumerate(rows)]
            now = START + 7 * 24 * 3_600_000
            for n, row in enumerate(rows):
                ids[n].append(memory.remember(row["new"], owner=f"p{n}").id)
            memory.consolidate()
            asked = {question.ids for question in memory.review.questions(owner=EVERYONE)}
            lives = lives_by_id(memory.store, sorted({n for both in ids for n in both}))
    for row, (first, second) in zip(rows, ids, strict=True):
        older, newer = lives[first], lives[second]
        verdict = "apart"
        if are_joined(older, newer):
            verdict = "joined"
        elif not (older.current and newer.current):
            verdict = "settled"
        elif (min(first, second), max(first, second)) in asked:
            verdict = "asked"
        stands = [life.statement for life in (older, newer) if life.current]
        yield verdict, " ".join(row["new"].split()) in stands


def are_joined(one: Life, other: Life) -> bool:
    """Tell whether two statements are one fact, or one of them was merged into the other."""
    return one.id in (other.id, other.merged_into_id) or other.id == one.merged_into_id


def people(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Let each owner tell something a day, with a night after it; see what is known at the end."""
    counts: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        path, now = Path(folder) / "people.db", START
        with Memory(path, clock=lambda: now, key_file=path.with_name("key")) as memory:
            ids: list[list[int]] = [[] for _ in rows]
            for day in range(max(len(row["said"]) for row in rows)):
                for n, row in enumerate(rows):
                    for text in row["said"][day : day + 1]:
                        ids[n].append(memory.remember(text, owner=row["a"]).id)
                now += 8 * 3_600_000
                memory.consolidate()
                now += 16 * 3_600_000
            asked = {question.ids for question in memory.review.questions(owner=EVERYONE)}
            lives = lives_by_id(memory.store, sorted({one for told in ids for one in told}))
    for row, told in zip(rows, ids, strict=True):
        at = {one: n for n, one in enumerate(told)}
        for label in ("change", "reword"):
            for i, j in row[label]:
                older, newer = lives[told[i]], lives[told[j]]
                joined = are_joined(older, newer)
                pair = (min(told[i], told[j]), max(told[i], told[j]))
                counts[label] += 1
                counts[f"{label} joined"] += joined
                counts[f"{label} settled"] += not joined and not older.current
                counts[f"{label} asked"] += not joined and older.current and pair in asked
        over = {i for i, _ in row["change"]}
        said_again = {n for pair in row["reword"] for n in pair}
        for n, one in enumerate(told):
            life, into = lives[one], lives[one].merged_into_id
            counts["held"] += n not in over
            wrong = into is not None and into in at and not {n, at[into]} <= said_again
            gone = n not in over and not life.current and (wrong or into is None)
            counts["gone"] += gone
            if gone:
                by = row["said"][at[into]] if into in at else life.superseded_by
                show(f"gone: {row['said'][n]!r} by {by!r}")
        worth = {frozenset(told[n] for n in pair) for pair in row["change"] + row["reword"]}
        mine = [both for both in asked if at.keys() >= set(both)]
        counts["asked"] += len(mine)
        counts["noise"] += sum(frozenset(both) not in worth for both in mine)
    return {
        "changes settled": 100 * counts["change settled"] / max(1, counts["change"]),
        "changes asked": 100 * counts["change asked"] / max(1, counts["change"]),
        "changes joined (wrong)": 100 * counts["change joined"] / max(1, counts["change"]),
        "rewordings joined": 100 * counts["reword joined"] / max(1, counts["reword"]),
        "rewordings asked": 100 * counts["reword asked"] / max(1, counts["reword"]),
        "of what holds, gone (wrong)": 100 * counts["gone"] / max(1, counts["held"]),
        "questions": counts["asked"],
        "questions about neither": 100 * counts["noise"] / max(1, counts["asked"]),
    }


def voices(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Hold the words that are taken for others' against those that are."""
    tally = Tally()
    own = doubted = 0
    for row in rows:
        text = row["text"]
        given = [(part.start, part.end) for part in own_words(text).overheard]
        faults = tally.add(given, places_of(text, row["foreign"]))
        if not row["foreign"]:
            own, doubted = own + 1, doubted + bool(given)
        if faults:
            show(f"{text!r}\n    {[text[a:b] for a, b in given]} for {row['foreign']}")
    return {**tally.figures(), "own messages doubted": 100 * doubted / max(1, own)}


def doubted_clauses(rows: Sequence[Row]) -> float:
    """Return of how many clauses of turns that are to be kept something is taken for others'."""
    kept = doubted = 0
    for row in rows:
        others = own_words(row["text"]).overheard
        clauses = row["clauses"]
        for place, clause in zip(
            places_of(row["text"], [clause["q"] for clause in clauses]), clauses, strict=True
        ):
            kept += clause["keep"] == 1
            doubted += clause["keep"] == 1 and any(
                part.start < place[1] and place[0] < part.end for part in others
            )
    return 100 * doubted / max(1, kept)


def claims(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Say which claims on a text are stored, of it and of another, and which of its own words.

    The labelled ones were written to mislead: the false share more of the summary's words than the
    true. So the other two tell whether a gate goes by more than that.
    """
    told: dict[str, Counter[bool]] = defaultdict(Counter)
    for row, other in zip(rows, (*rows[-1:], *rows[:-1]), strict=True):
        passage = read_passage(row["summary"])
        held = [("true" if c["ok"] else "false", c["c"], c["why"]) for c in row["claims"]]
        held += [("another's", c["c"], "of another text") for c in other["claims"] if c["ok"]]
        for part in () if passage.named else sentences(row["summary"]):
            held.append(("own", part.of(row["summary"]), "a sentence of the text"))
        for name, text, why in held:
            stored = is_stored(text, passage)
            told[name][stored] += 1
            if stored is not (name in ("true", "own")):
                show(f"{name} ({why}): {text!r}")

    def share(name: str, *, stored: bool) -> float:
        return 100 * told[name][stored] / max(1, told[name].total())

    return {
        "true refused": share("true", stored=False),
        "false stored": share("false", stored=True),
        "of another text stored": share("another's", stored=True),
    } | ({"own sentences refused": share("own", stored=False)} if told["own"] else {})


def is_stored(text: str, passage: Passage) -> bool:
    """Say whether the gate stores a claim, as a fact or as a pattern."""
    return any(
        judge_typed(
            TypedClaim(text=text, type=kind, confidence=0.9, reasoning=""),
            passage,
            embed=bundled().embed,
            net=RELATER,
        ).stored
        for kind in (MemoryType.USER_FACT, MemoryType.USER_PATTERN)
    )


def pages(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Hold what is read of a page's thing against what is said of it there."""
    tally = Tally()
    begun = time.process_time()
    for row in rows:
        text = row["text"]
        thing = entity_name(row["thing"])
        claims, _ = facts_about(text, names={thing: [row["thing"]]}, title=row["title"])
        given = [(claim.start, claim.end) for claim in claims]
        for kind, (begin, end) in tally.add(given, places_of(text, row["facts"])):
            show(f"{kind}: {text[begin:end]!r} of {row['thing']}")
    return {**tally.figures(), "CPU seconds": time.process_time() - begun}


def questions(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Say every question to a memory of its own and see which a provider is asked."""
    asked = [{"q": row["text"], "private": not row["send"], "why": row["why"]} for row in rows]
    again = [
        {**one, "before": " ".join(f"{name} kept me busy all day." for name in own)}
        for one, row in zip(asked, rows, strict=True)
        if (own := [name["n"] for name in row["about"] if name["k"] == "own"])
    ]
    with tempfile.TemporaryDirectory() as folder:
        first = privacy.run(asked, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        second = privacy.run(again, Path(folder))
    for row, result in zip([*asked, *again], [*first, *second], strict=True):
        if result.private is result.sent:
            said = "sent" if result.sent else "withheld"
            show(f"{said} ({row['why']}): {result.question!r}: {result.why}")

    def share(results: Sequence[privacy.Result], *, private: bool) -> float:
        wrong = [result.sent is private for result in results if result.private is private]
        return 100 * sum(wrong) / max(1, len(wrong))

    return {
        "private sent": share(first, private=True),
        "private sent, its names told": share(second, private=True),
        "world withheld": share(first, private=False),
        "world taken for no question": 100
        * sum(not one.asked and not one.private for one in first)
        / max(1, sum(not one.private for one in first)),
    }


def told(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Ask of every sentence what it reports of the things that it has a word for."""
    tally: Counter[str] = Counter()
    for row in rows:
        text, lead = row["text"], row["lead"]
        for rule in RULES:
            words = keyword_pattern(rule.keywords)
            if rule.find is not snippets or not words.search(masked(text).lower()):
                continue
            kind = rule.predicate
            says = kind in row["says"]
            given = reports(text, kind, words, lead=lead)
            tally["right"] += says and given
            tally["given"] += given
            tally["wanted"] += says
            if says is not given:
                show(f"{'wrong' if given else 'missed'} ({kind}): {text!r}")
    return {
        "recall": 100 * tally["right"] / max(1, tally["wanted"]),
        "precision": 100 * tally["right"] / max(1, tally["given"]),
    }


def types(rows: Sequence[Row], show: Show) -> dict[str, float]:
    """Say which claims break the rules of their type."""
    found: Counter[tuple[bool, bool]] = Counter()
    for row in rows:
        kind = MemoryType(row["type"])
        claim = TypedClaim(text=row["text"], type=kind, confidence=0.9, reasoning="")
        passage = read_passage(f"User: {row['text']}")
        grounding = ground(row["text"], passage, speaker="owner")
        rule = broken_rule(claim, grounding, passage)
        found[bool(row["rule"]), rule is not None] += 1
        if (rule.name if rule else "") != row["rule"]:
            show(f"{row['rule'] or 'sound'}, read as {rule and rule.name}: {row['text']}")
    broken, sound = (found[wrong, True] + found[wrong, False] for wrong in (True, False))
    return {
        "breaches known": 100 * found[True, True] / broken,
        "sound ones refused": 100 * found[False, True] / sound,
    }


SETS: Final[Mapping[str, Callable[[Sequence[Row], Show], dict[str, float]]]] = {
    "chats": chats,
    "opinions": opinions,
    "names": names,
    "prompts": prompts,
    "pairs": pairs,
    "people": people,
    "voices": voices,
    "claims": claims,
    "talk": claims,
    "types": types,
    "pages": pages,
    "questions": questions,
    "reports": told,
}


def main() -> int:
    """Read the sets, print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ordinary", description=__doc__)
    parser.add_argument("--rows", type=Path, default=FOLDER, help="the folder of the rows")
    parser.add_argument("--part", choices=("held", "tune", "train"), default="held")
    parser.add_argument("--show", choices=tuple(SETS), help="print what is read wrong of a set")
    parser.add_argument("--sets", nargs="+", choices=tuple(SETS), default=tuple(SETS))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    console = Console()
    figures: dict[str, dict[str, float]] = {}
    for name in given.sets:
        if name == "pages" and given.part == "train":
            continue  # nothing is trained on pages
        rows = list(rows_of(given.rows, name, given.part))

        def show(text: str, name: str = name) -> None:
            if given.show == name:
                console.print(text, markup=False, highlight=False)

        figures[name] = {"rows": len(rows), **SETS[name](rows, show)}
    if "voices" in figures:
        turns = list(rows_of(given.rows, "chats", given.part))
        figures["voices"]["kept clauses doubted"] = doubted_clauses(turns)
    if not given.json:
        print_table(
            "ordinary English, percent",
            [
                {"set": name, "rows": int(values["rows"]), "figure": key, "value": value}
                for name, values in figures.items()
                for key, value in values.items()
                if key != "rows"
            ],
        )
    emit(figures, part="ordinary", as_json=given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main))
