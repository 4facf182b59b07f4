"""Calibrate from which similarity a name belongs to what was asked, and print the curve.

    python scripts/calibrate_names.py [--gold FOLDER] [--json] [--check | --write]

Each case is a search with passages as they stand on pages that it finds: names that the search is
about, and names that stand beside them by accident (sponsors, authors, shops, the page's own menu).
A name is embedded with its sentence (`gate.names.name_text`), the search as it is, both with the
shipped model. Only names that pass the structural filter are counted: the rest never gets there.

The threshold, in steps of 0.05, is the one with the most genuine names kept less others let in; of
those within two points of it the highest, since a sponsor that comes in is looked up for weeks.

`--gold` measures the same on a folder of texts with their names (`dataset.jsonl` with `id` and
`text`, `labels.jsonl` with `id` and `entities`): each name in its sentence against its own text,
and against the text that comes after it, where that does not hold it. `--check` compares the table
in docs/entities.md with what is printed, `--write` renews it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factbook.embed import bundled
from factbook.gate.names import NAME_THRESHOLD, name_text, structural_problem

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "entities.md"
BEGIN, END = "<!-- names:begin -->", "<!-- names:end -->"
STEPS: Final = tuple(round(0.05 * step, 2) for step in range(1, 13))
LEVEL: Final = 0.02  # thresholds this close to the best one are as good


class Case(NamedTuple):
    """One search: sentences that its names stand in, the names between brackets."""

    query: str
    genuine: Sequence[str]
    beside: Sequence[str]


CASES: Final[tuple[Case, ...]] = (
    Case(
        "kef ls50 meta reviews",
        (
            "The [KEF LS50 Meta] is a two-way bookshelf speaker with a coaxial driver.",
            "Its closest rival, the [Wharfedale Denton 85], sounds warmer and costs less.",
            "[Metamaterial Absorption Technology] soaks up the sound from behind the tweeter.",
        ),
        (
            "This test was made possible by [Nordvik Insurance], cover for all you own.",
            "Photographs by [Helga Marten] for the weekend section.",
            "[Trattoria Bellini] opens its doors again after the summer break.",
        ),
    ),
    Case(
        "find me stuff about bookshelf speakers",
        (
            "The [Elac Debut B5.2] is the speaker that we recommend to beginners.",
            "[Q Acoustics 3030i] speakers fill larger rooms with bass.",
            "Small rooms are where the [Dali Menuet] shines.",
        ),
        (
            "Sign up with [Quickletter] and never miss a story.",
            "[Marlow & Finch Solicitors] helps with wills and property.",
            "Our server runs on [Hostgarden], fast and green.",
        ),
    ),
    Case(
        "ai conferences in europe",
        (
            "[ML Prague 2026] brings machine learning researchers to the Vltava in April.",
            "The European track of [NeurIPS] takes place in a second venue.",
            "[Applied ML Days] is a conference held in Lausanne every spring.",
        ),
        (
            "Catering was provided by [Pavlova Bakehouse].",
            "The hotel bar serves a [Sazerac] that guests praise.",
            "Parking is handled by [ParkRight] at the south entrance.",
        ),
    ),
    Case(
        "best espresso machines for home",
        (
            "The [Rancilio Silvia] has made espresso in home kitchens for twenty years.",
            "[Breville Bambino Plus] steams milk by itself and heats in three seconds.",
            "Enthusiasts upgrade to the [La Marzocco Linea Mini].",
        ),
        (
            "[Brightwell Dental] welcomes new patients.",
            "The author, [Tom Ferrante], lives with two dogs.",
            "Get thirty days of [StreamNest] without paying.",
        ),
    ),
    Case(
        "sourdough starter troubleshooting",
        (
            "A [Lievito Madre] is a stiff starter that ferments slowly.",
            "[Tartine Bread] explains how to feed a starter twice a day.",
            "[King Arthur Baking] tells bakers to use rye flour when a starter is weak.",
        ),
        (
            "[Skyline Motors] has new offers on used cars.",
            "Follow [Daily Ledger] for stock market news.",
            "Built with [Pagewright], the site builder.",
        ),
    ),
    Case(
        "hiking trails in the dolomites",
        (
            "The [Alta Via 1] crosses the range from north to south in ten stages.",
            "[Rifugio Lagazuoi] is a mountain hut with a view of the Marmolada.",
            "Hikers start the loop around the [Tre Cime di Lavaredo] at dawn.",
        ),
        (
            "[Creditas Bank] refunds foreign fees.",
            "Comments are moderated by [Disquist].",
            "Learn the piano with [KeyPath] in ten minutes a day.",
        ),
    ),
    Case(
        "rust web frameworks compared",
        (
            "[Axum] builds on Tower and gives handlers typed extractors.",
            "[Actix Web] leads the benchmarks of web frameworks.",
            "[Rocket] checks its routes when the Rust program compiles.",
        ),
        (
            "Order your team lunch from [Green Fork].",
            "[Casa Verde Interiors] designs kitchens.",
            "The banner shows [Lake Orta] at sunset.",
        ),
    ),
    Case(
        "what is the james webb telescope looking at",
        (
            "The telescope's [NIRCam] took a picture of a galaxy from the early universe.",
            "[TRAPPIST-1e] is a planet whose atmosphere Webb is looking for.",
            "The [Carina Nebula] was among the first images of the telescope.",
        ),
        (
            "Save on mattresses at [Dreamloft].",
            "[Harbour Street Gym] offers a free first week.",
            "Edited by [Paula Renner], who also writes about opera.",
        ),
    ),
    Case(
        "learn about beekeeping",
        (
            "The [Langstroth Hive] has frames that a beekeeper can lift out.",
            "[Varroa Destructor] is a mite that weakens bee colonies.",
            "[Buckfast] bees are bred for being gentle and gathering much honey.",
        ),
        (
            "Insure your phone with [ScreenSafe].",
            "[Orbital Games] announced a racing title.",
            "Tickets are sold by [Stagedoor Box Office].",
        ),
    ),
    Case(
        "radiohead new album",
        (
            "[Thom Yorke] sang two unreleased songs at a solo show.",
            "The band last released [A Moon Shaped Pool].",
            "[Jonny Greenwood] says that the band has rehearsed new music.",
        ),
        (
            "[Maplewood Furniture] delivers sofas in a week.",
            "Do your taxes with [FileEasy] tonight.",
            "[Dr. Anders Holm] answers questions about back pain.",
        ),
    ),
    Case(
        "electric cars with the longest range",
        (
            "The [Lucid Air Grand Touring] drives over eight hundred kilometres on a charge.",
            "[Mercedes EQS 450+] is the most efficient electric limousine.",
            "The [Polestar 4] charges at two hundred kilowatts.",
        ),
        (
            "Recipes from [Nonna Pia] every Friday.",
            "[Bluewave Cruises] has cabins left for autumn.",
            "Our newsletter is sent with [Mailpigeon].",
        ),
    ),
    Case(
        "how do i get into film photography",
        (
            "The [Canon AE-1] is the film camera that most people begin with.",
            "[Kodak Portra 400] forgives exposure mistakes.",
            "Develop black and white negatives in [Rodinal] at home.",
        ),
        (
            "[Fairline Mortgages] compares rates for you.",
            "The podcast is supported by [VitaGreens], a powder for your mornings.",
            "[Westbrook Academy] enrols pupils until June.",
        ),
    ),
    Case(
        "studio ghibli films worth watching",
        (
            "[Princess Mononoke] is a film about a forest at war with an iron town.",
            "[Hayao Miyazaki] drew most of the studio's key scenes himself.",
            "Viewers cry over [Grave of the Fireflies] and never watch it twice.",
        ),
        (
            "[Northgate Plumbing] repairs boilers day and night.",
            "Trade shares without fees at [Brokerly].",
            "Hosting by [Cloudmeadow].",
        ),
    ),
    Case(
        "mechanical keyboards for programmers",
        (
            "The [Keychron Q1] is a keyboard with a heavy case and hot-swappable switches.",
            "[Cherry MX Brown] switches have a bump and no click.",
            "Programmers with sore wrists type on the [ZSA Moonlander].",
        ),
        (
            "[Riverside Vets] looks after rabbits too.",
            "Hear the audiobook on [Talecast].",
            "The cover was drawn by [Ines Calder].",
        ),
    ),
    Case(
        "treatment for plantar fasciitis",
        (
            "[Extracorporeal Shockwave Therapy] helps where stretching the foot does not.",
            "The [Strassburg Sock] holds the foot stretched overnight.",
            "The [Windlass Test] is how doctors recognise the heel's inflamed band.",
        ),
        (
            "Rent a van from [Haulaway] this weekend.",
            "[Goldleaf Casino] gives a bonus to new players.",
            "Translated by [Mira Oduya].",
        ),
    ),
    Case(
        "vector databases for small projects",
        (
            "[Chroma] keeps its vectors in a folder and needs no server.",
            "[LanceDB] is an embedded vector database in a columnar format.",
            "[pgvector] adds a vector type to PostgreSQL.",
        ),
        (
            "[Alpenrose Tours] leads walks for beginners.",
            "[Mattress Harbor] ships beds in a box.",
            "Horoscopes by [Stella Marwick].",
        ),
    ),
)

_NAME: Final = re.compile(r"\[([^\]]+)\]")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")


def main() -> int:
    """Print the curve; return 1 where the page shows another one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gold", type=Path, help="a folder of texts with their names")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    pairs = list(_own_pairs())
    table = _table(pairs)
    if given.json:
        print(
            json.dumps({"threshold": chosen(pairs), "used": NAME_THRESHOLD, "curve": curve(pairs)})
        )
    else:
        print(table)
    if given.gold:
        print(f"\nOn {given.gold}:\n\n{_table(list(_gold_pairs(given.gold)))}")
    if given.check or given.write:
        return _page(table, write=given.write)
    return 0


class Pair(NamedTuple):
    """A name beside a search, and whether it belongs there."""

    similarity: float
    genuine: bool


def curve(pairs: Sequence[Pair]) -> list[tuple[float, float, float]]:
    """Return for each threshold which share of the genuine names and of the others passes."""
    genuine = np.array([pair.similarity for pair in pairs if pair.genuine])
    beside = np.array([pair.similarity for pair in pairs if not pair.genuine])
    return [
        (step, float(np.mean(genuine >= step)), float(np.mean(beside >= step))) for step in STEPS
    ]


def chosen(pairs: Sequence[Pair]) -> float:
    """Return the threshold that tells the genuine names best from the others."""
    gains = {step: kept - let_in for step, kept, let_in in curve(pairs)}
    best = max(gains.values())
    return max(step for step, gain in gains.items() if gain >= best - LEVEL)


def _table(pairs: Sequence[Pair]) -> str:
    best = chosen(pairs)
    count = sum(pair.genuine for pair in pairs)
    rows = [
        f"{count} genuine names, {len(pairs) - count} that stand beside them; chosen: {best:.2f}",
        "",
        "| threshold | genuine kept | others let in |",
        "|---|---|---|",
    ]
    for step, kept, let_in in curve(pairs):
        mark = " (chosen)" if step == best else ""
        rows.append(f"| {step:.2f}{mark} | {kept:.0%} | {let_in:.0%} |")
    return "\n".join(rows)


def _own_pairs() -> Iterator[Pair]:
    for case in CASES:
        texts: list[str] = []
        genuine: list[bool] = []
        for sentences, good in ((case.genuine, True), (case.beside, False)):
            for sentence in sentences:
                name = _NAME.findall(sentence)[0]
                if structural_problem(name) is None:
                    texts.append(name_text(name, _NAME.sub(r"\1", sentence)))
                    genuine.append(good)
        similarities = _vectors(texts) @ _vectors([case.query])[0]
        yield from (Pair(float(s), good) for s, good in zip(similarities, genuine, strict=True))


def _gold_pairs(folder: Path) -> Iterator[Pair]:
    texts = {row["id"]: row["text"] for row in _rows(folder / "dataset.jsonl")}
    named = {
        row["id"]: [entity["name"] for entity in row["entities"]]
        for row in _rows(folder / "labels.jsonl")
    }
    order = list(texts)
    whole = dict(zip(order, _vectors([texts[key] for key in order]), strict=True))
    for index, key in enumerate(order):
        sentences = _SENTENCE.split(texts[key])
        names = [name for name in named.get(key, []) if structural_problem(name) is None]
        contexts = [next((s for s in sentences if name in s), "") for name in names]
        vectors = _vectors([name_text(n, c) for n, c in zip(names, contexts, strict=True)])
        other = order[(index + 1) % len(order)]
        for name, vector in zip(names, vectors, strict=True):
            yield Pair(float(vector @ whole[key]), True)
            if name not in texts[other]:
                yield Pair(float(vector @ whole[other]), False)


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    except OSError as error:
        raise SystemExit(
            f"cannot read {path}: {error.strerror}; name a folder that has it"
        ) from error


def _vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    return bundled().embed(texts)


def _page(table: str, *, write: bool) -> int:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    shown, _, after = rest.partition(END)
    if shown.strip() == table:
        print(f"{PAGE.name} shows this table")
        return 0
    if not write:
        print(f"{PAGE.name} shows another table; run scripts/calibrate_names.py --write")
        return 1
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")
    print(f"{PAGE.name} is renewed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
