"""Tell people's own words from what they paste, on messages whose spans are known.

    python -m bench.voices [--part "held out"] [--predictions OUT] [--json]

`bench/voices.jsonl` holds messages that several hands wrote for this (`hand`): mails, chats,
interviews, job ads, reviews, novels, phishing, recipes, tickets, lyrics, forum posts, speeches and
more, bare and with words of their owner before, behind or between, and words of others inside a
line; and genuine messages, from a clause to a life story. Each has the spans that are its owner's
own. The reader is trained on one part ("built with"), among much else; the other ("held out") is
only measured. What is held out is of the same hands.

- leaks: of the messages that hold others' words, those of which others' words leave anything
  direct: a statement, a like, or a name with an engagement that weighs something
- own heard: of the statements that rules find in owners' own words, those that are still found
- short heard: the same in messages of less than 300 characters
- own whole: of the messages that are all their owner's own, those in which nothing is overheard

The baseline is `layout`: what shows by quoted lines, headers, fences and reports alone, asked by
likes and names alone, as it was before every road asked. A prediction line is
`{"text", "overheard": [[start, end, why], ...]}`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench._common import emit, print_table, run
from bench.judged import write_lines

PART: Final = "voices"
FILE: Final = Path(__file__).parent / "voices.jsonl"
Z: Final = 1.96  # of a 95 % interval
SHORT: Final = 300  # characters: of a short message


class Message(NamedTuple):
    """One message with the spans that are its owner's own."""

    hand: str  # who wrote it
    part: str
    kind: str
    text: str
    own: Sequence[Sequence[int]]

    @property
    def whole(self) -> bool:
        """Say whether all of it is its owner's own."""
        return [list(one) for one in self.own] == [[0, len(self.text)]]

    def is_own(self, at: int) -> bool:
        """Say whether the owner says what stands at a place."""
        return any(start <= at < end for start, end in self.own)


class Score(NamedTuple):
    """What became of the messages of a part."""

    pastes: int
    leaks: int
    own: int
    heard: int
    short: int
    short_heard: int
    messages: int
    whole: int


@lru_cache(maxsize=1)
def messages() -> tuple[Message, ...]:
    """Return all messages, in the order of the file."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return tuple(Message(**json.loads(line)) for line in lines)


def score(part: str, *, hand: str = "", layout: bool = False) -> Score:
    """Measure a part, of one hand or all; with `layout`, the baseline."""
    from factbook.extract import sentences
    from factbook.extract.mentions import hear
    from factbook.extract.opinions import (
        preferences_in,
    )
    from factbook.extract.quoted_text import pasted
    from factbook.extract.voice import OwnWords, own_words
    from factbook.model.entities import Valence
    from factbook.model.facts import Overheard

    def voice_of(text: str) -> OwnWords:
        return OwnWords(text, tuple(Overheard(*one) for one in pasted(text)))

    pastes = leaks = own = heard = short = short_heard = whole = count = 0
    for one in messages():
        if one.part != part or one.hand != (hand or one.hand):
            continue
        voice = voice_of(one.text) if layout else own_words(one.text)
        read = one.text if layout else voice.text
        stated = {said.start for said in sentences.statements(read)}
        told = sentences.statements(one.text, all_told=True)
        mine = {said.start for said in told if said.clear and one.is_own(said.start)}
        own += len(mine)
        heard += len(mine & stated)
        short += len(mine) * (len(one.text) < SHORT)
        short_heard += len(mine & stated) * (len(one.text) < SHORT)
        count += one.whole
        whole += one.whole and not voice.text.count("\n") > one.text.count("\n")
        if one.whole:
            continue
        pastes += 1
        named = hear(one.text, known={}, voice=voice)
        places = [
            *stated,
            *(span.start for span in preferences_in(one.text, voice=voice)),
            *(name.start for name in named if name.valence is not Valence.NEUTRAL),
        ]
        leaks += any(not one.is_own(at) for at in places)
    return Score(pastes, leaks, own, heard, short, short_heard, count, whole)


def interval(hits: int, of: int) -> str:
    """Return a share in percent with its 95 % interval (Wilson)."""
    if not of:
        return "-"
    share = hits / of
    middle = (share + Z * Z / (2 * of)) / (1 + Z * Z / of)
    half = Z * math.sqrt(share * (1 - share) / of + Z * Z / (4 * of * of)) / (1 + Z * Z / of)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return f"{share:.1%} ({low:.1%} to {high:.1%})"


def _figures(part: str) -> Iterable[tuple[str, Score]]:
    yield "layout", score(part, layout=True)
    for hand in sorted({one.hand for one in messages()}):
        yield f"voice, hand {hand}", score(part, hand=hand)
    yield "voice", score(part)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and write the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.voices", description=__doc__)
    parser.add_argument(
        "--part", default="held out", choices=sorted({one.part for one in messages()})
    )
    parser.add_argument("--predictions", type=Path, default=None)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(argv)
    if given.predictions:
        _predict(given.part, given.predictions)
    rows: list[dict[str, Any]] = []
    figures: dict[str, Any] = {"part": given.part}
    for name, found in _figures(given.part):
        figures[name] = found._asdict()
        rows.append(
            {
                "by": name,
                "leaks": f"{found.leaks} of {found.pastes}, {interval(found.leaks, found.pastes)}",
                "own heard": f"{found.heard} of {found.own}, {interval(found.heard, found.own)}",
                "short heard": f"{found.short_heard} of {found.short},"
                f" {interval(found.short_heard, found.short)}",
                "own whole": f"{found.whole} of {found.messages}",
            }
        )
    if not given.json:
        print_table(f"whose words they are ({given.part})", rows)
    emit(figures, part=PART, as_json=given.json)
    return 0


def _predict(part: str, out: Path) -> None:
    from factbook.extract.voice import own_words

    write_lines(
        out,
        (
            {"text": one.text, "overheard": [list(span) for span in own_words(one.text).overheard]}
            for one in messages()
            if one.part == part
        ),
    )


if __name__ == "__main__":
    sys.exit(run(main))
