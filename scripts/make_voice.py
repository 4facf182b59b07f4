"""Fit the weights that tell people's own words from what they hand on, for the package to ship.

    python scripts/make_voice.py FOLDER [--folds] [--made N]

FOLDER holds text of strangers, none of which is shipped: `reader/ud.jsonl.xz` (English Web
Treebank; biographies, interviews, news and travel guides of GUM), `persona_chat/*.csv` and
`longmemeval/*.json`, which NOTICE names. It is put together with the words that people write
before and behind what they hand on (`scripts/voice_frames.txt`) to messages whose spans are known;
what people write of themselves alone stands beside them. The messages of `bench/voices.jsonl` that
are to build with are added, weighing more: they were written by hand.

The model is a conditional random field of two states over the marks of `extract/voice.py`. With
`--folds` nothing is written: each hand of `bench/voices.jsonl` is left out once, and what is said
is which share of own short messages is heard where a share of others' words is.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.voices import Message, messages  # noqa: E402

from factbook.extract.voice import (  # noqa: E402
    WEIGHTS,
    blanked,
    in_layout,
    marks_of,
    odds_of,
)

FRAMES: Final = Path(__file__).with_name("voice_frames.txt")
MADE: Final = 4_000  # messages that hold others' words; nine tenths as many hold none
WEIGHT: Final = 4.0  # of a message that was written by hand
SPREAD: Final = 0.2  # of the prior of a weight: its variance
WORD_SPREAD: Final = 0.06  # the same for a word
LEAST: Final = 20  # messages that show a mark
FOREIGN: Final = 0.25  # share of a unit that others wrote, from which on it counts as theirs
SEED: Final = 1

Part = tuple[str, bool]  # a piece of a message, and whether it is its owner's own

# --- text of strangers ----------------------------------------------------------------------------

# Where the kinds of text of the treebank begin: its sentences stand in the order of its files.
_KINDS: Final = (
    ("weblog", 0, 1500),
    ("mail", 1500, 5300),
    ("newsgroup", 5300, 7100),
    ("answers", 7100, 9850),
    ("review", 9850, 12544),
)
_CHOSEN: Final = ("mail", "mail", "review", "review", "weblog", "newsgroup", "answers", "")
_OPEN: Final = ("bio", "interview", "news", "voyage")  # of GUM: Wikipedia, Wikinews, Wikivoyage


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split(";"))


_PEOPLE: Final = _split(
    "Marta;Ben;Ingrid;Joe;Petra;Luis;Aylin;Sam;Grace;Olga;Karl;Nina;Omar;Kate;Priya;Sven;Mom;Dad;"
    "Grandma;all;team;everyone;neighbours;Hans;Lucy;Tomas"
)
_GREETINGS: Final = _split("Hi;Hi;Dear;Hello;Hey;hey;hi;Liebe;Hola;Dearest")
_FAREWELLS: Final = _split(
    "Best;Best,;Kind regards,;Love,;Cheers,;Thanks,;LG;xx;Yours,;Talk soon,;Hugs;All the best;"
    "Sincerely,;Thank you!;See you;Take care"
)
_WHO: Final = _split(
    "my mum;my mom;my dad;my sister;my brother;my boss;my friend;my friend leo;my wife;my husband;"
    "my flatmate;my neighbour;my ex;my cousin;she;he;a colleague;our landlord;grandma;the guy;anna;"
    "tom;mi hermana;meine mutter"
)
_HELLO: Final = _split("Hi! ;Hello! ;Hey, ;hi ;Hi, ;Good morning! ;hey\n;Hi!\n\n")
_MINE: Final = _split(
    "review of it;review of the hotel;thoughts on it;answer;story;notes;summary;opinion;take;report"
)
_SAYS: Final = _split(
    "wrote;wrote me;said;says;texted;texted me;told me;replied;replies;is like;was like;answered;"
    "posted;sent me;goes;just messaged;writes"
)
_STARS: Final = _split("★★★★★;★☆☆☆☆;★★★★;5/5;Rating: 4/5;⭐⭐⭐⭐⭐;2 stars")


class _Maker:
    """Puts messages together, the same ones each time."""

    def __init__(self, folder: Path, hands: Sequence[Message]) -> None:
        self.rng = random.Random(SEED)
        self.texts, self.guides = _treebank(folder)
        self.lines, self.talks = _personas(folder)
        self.asked = _asked(folder)
        frames = _frames()
        self.before, self.behind, self.own = frames["before"], frames["behind"], frames["own"]
        self.bodies: list[str] = []
        for one in hands:
            parts = parts_of(one)
            if one.whole:
                self.own.append(one.text)
                continue
            theirs = [text for text, own in parts if not own]
            if len(theirs) == 1 and len(theirs[0]) > 60:
                self.bodies.append(theirs[0])
            if len(parts) > 1 and parts[0][1] and len(parts[0][0]) < 250:
                self.before.append(parts[0][0])
            if len(parts) > 1 and parts[-1][1] and len(parts[-1][0]) < 200:
                self.behind.append(parts[-1][0])

    def some(self, count: int) -> str:
        """Return a few things that one person says of themselves."""
        person = self.rng.choice(self.lines)
        return " ".join(self.rng.sample(person, min(len(person), count)))

    def made(self, count: int) -> Iterator[list[Part]]:
        """Yield messages, as their parts."""
        found = [one for _ in range(count) if (one := self._handed_on())]
        yield from found
        for _ in range(len(found) * 9 // 10):
            yield [(self._own_words(), True)]

    def _own_words(self) -> str:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.28:
            text = rng.choice(self.own)
        elif kind < 0.48:
            text = rng.choice(self.asked)
        elif kind < 0.6:
            text = self.some(rng.choice([1, 1, 2, 3, 4]))
        elif kind < 0.76:
            again = self.some(1) + " " + rng.choice(self.asked)
            text = again if rng.random() < 0.5 else rng.choice(self._turns())
        elif kind < 0.8:
            said = [*self.some(rng.choice([1, 2, 3])).split(". "), rng.choice(self.asked)]
            rng.shuffle(said)
            between = rng.choice(["\n\n", "\n", "\n\n"])
            text = between.join(said)
            if rng.random() < 0.4:
                text = f"my {rng.choice(_MINE)}:" + rng.choice(["\n", "\n\n", " "]) + text
        elif kind < 0.87:
            between = rng.choice(["\n\n", "\n", " "])
            text = between.join(rng.choice(self.asked) for _ in range(rng.choice([2, 2, 3])))
        elif kind < 0.94:
            mark = rng.choice(["- ", "- ", "* ", ""])
            opening = rng.choice(["about me:\n", "", "some things about me\n", "facts:\n"])
            text = opening + "\n".join(mark + one for one in rng.choice(self.lines))
        elif kind < 0.97:
            told = rng.choice(["i told", "i wrote", "i said to", "i was telling"])
            text = f"{told} {rng.choice(_WHO[:14])} {rng.choice(['that ', '', ''])}{self.some(1)}"
        else:
            did = rng.choice(
                ["says hi", "said no", "is here", "wrote a book about it", "told me to ask you"]
            )
            text = f"{rng.choice(_WHO[:16])} {did}. {self.some(2)}"
        if rng.random() < 0.04:
            text = rng.choice(_HELLO) + text
        return self._sloppy(text) if rng.random() < 0.5 else text

    def _turns(self) -> list[str]:
        talk = self.rng.choice(self.talks)
        own = [one for one in talk if re.search(r"\b(I|my)\b", one) and 4 < len(one.split()) < 40]
        return own or [self.some(1)]

    def _handed_on(self) -> list[Part] | None:
        rng = self.rng
        body = bool(self.bodies) and rng.random() < 0.4
        kind, text = ("body", rng.choice(self.bodies)) if body else self._strangers()
        if not 15 < len(text) < 2_500 or (kind == "answers" and rng.random() < 0.35):
            return None  # a question to the world reads as one's own
        if not body and rng.random() < 0.4:
            said = re.split(r"(?<=[.!?]) |(?<=\n)", text)
            at = rng.randrange(len(said) + 1)
            said[at:at] = [self.some(rng.choice([1, 1, 2, 3]))]
            text = " ".join(said).replace("\n ", "\n")
        plain = text
        if rng.random() < 0.12:
            text = self._letter(text)
        elif rng.random() < 0.06:
            text = rng.choice(_STARS) + rng.choice([" ", "\n", " - "]) + text
        elif rng.random() < 0.08:
            text = self._page(text)
        shaped = text != plain  # shows by itself what it is
        if rng.random() < 0.12:
            text = self._sloppy(text)
        chance = rng.random()
        if chance < 0.12:
            return self._inside()
        if chance < 0.18 and not body:
            talk = rng.choice(self.talks)
            at = rng.randrange(max(1, len(talk) - 4))
            text = "\n".join(talk[at : at + rng.choice([2, 3, 4, 6])])
        elif chance < 0.25 and not body:
            text = self.some(rng.choice([1, 2, 4]))
        elif kind != "answers" and (
            (rng.random() < 0.25) if shaped else (len(text) > 120 and rng.random() < 0.25)
        ):
            return [(text, False)]
        return self._framed(text)

    def _framed(self, text: str) -> list[Part]:
        rng = self.rng
        before, behind = rng.choice(self.before), rng.choice(self.behind)
        if before[-1] not in " \n":
            before += rng.choice(["\n", "\n\n", "\n\n", ": ", " ", "\n"])
        if rng.random() < 0.2:
            before = self._own_words().split("\n")[0] + rng.choice([" ", ". ", "\n"]) + before
        if behind[0] not in " \n":
            behind = rng.choice(["\n", "\n\n"]) + behind
        if rng.random() < 0.15:
            behind += rng.choice([" ", "\n", ". "]) + self._own_words().split("\n")[0]
        where = rng.random()
        if where < 0.12:
            return self._wrapped(before, text, behind)
        found = [(text, False)]
        if where < 0.74 or where > 0.87:
            found = [(before, True), *found]
        if where > 0.74:
            found = [*found, (behind, True)]
        return found

    def _wrapped(self, before: str, text: str, behind: str) -> list[Part]:
        """Return a message in which a paste shows its own end."""
        rng = self.rng
        text = re.sub(r"\n\s*", "\n", text).replace('"', "")
        quoted = "\n".join("> " + line for line in text.split("\n"))
        text = rng.choice([quoted, f"```\n{text}\n```", f"---\n{text}\n---", f'"{text}"'])
        if rng.random() < 0.6:
            behind = "\n" + self._own_words()
        return [(before.rstrip() + "\n", True), (text, False), ("\n" + behind.lstrip("\n"), True)]

    def _inside(self) -> list[Part]:
        """Return a message in which somebody is told to speak, within a line."""
        rng = self.rng
        told = f"{rng.choice(_WHO)} {rng.choice(_SAYS)}{rng.choice([' ', ' ', ': ', ' - ', ', '])}"
        said = self.some(rng.choice([1, 1, 2])) if rng.random() < 0.7 else rng.choice(self._turns())
        if rng.random() < 0.3:
            said = rng.choice(["hi love ", "hey ", "lol ", "hii ", "hi guys "]) + said
        found = [(told, True), (self._sloppy(said), False)]
        if rng.random() < 0.4:
            before = self._own_words().split("\n")[0][:150] + rng.choice([". ", "\n", ", and "])
            found = [(before, True), *found]
        if rng.random() < 0.4:
            found.append((rng.choice([". ", "\n", "... "]) + rng.choice(self.behind), True))
        return found

    def _strangers(self) -> tuple[str, str]:
        rng = self.rng
        kind = rng.choice(_CHOSEN)
        if not kind:
            guide = rng.choice(self.guides)
            at = rng.randrange(len(guide))
            return kind, self._laid_out(guide[at : at + rng.choice([2, 3, 5, 8])])
        first, last = next((a, b) for name, a, b in _KINDS if name == kind)
        count = rng.choice([1, 2, 3, 4, 5, 6, 8, 10])
        at = rng.randrange(first, last - count)
        return kind, self._laid_out(self.texts[at : at + count])

    def _laid_out(self, sentences: Sequence[str]) -> str:
        """Return sentences as paragraphs; what ends without a stop ends its line."""
        rng, text, run = self.rng, sentences[0], 1
        for above, one in pairwise(sentences):
            apart = any(len(x.split()) < 5 and x[-1] not in ".!?" for x in (above, one))
            if apart or re.match(r"[-*•]|\d[.)]", one) or run >= rng.choice([1, 2, 3, 4, 6]):
                text, run = text + rng.choice(["\n\n", "\n"]) + one, 1
            else:
                text, run = text + " " + one, run + 1
        return text

    def _letter(self, text: str) -> str:
        rng, text = self.rng, text[:600]
        if rng.random() < 0.75:
            hello = f"{rng.choice(_GREETINGS)} {rng.choice(_PEOPLE)}"
            text = hello + rng.choice([",\n\n", ",\n", "!\n\n", ", ", "! "]) + text
        if rng.random() < 0.75:
            bye = rng.choice(_FAREWELLS) + rng.choice(["\n", "\n", " "]) + rng.choice(_PEOPLE)
            text += rng.choice(["\n\n", "\n", " "]) + bye
        return text

    def _page(self, text: str) -> str:
        rng, who = (
            self.rng,
            f"{self.rng.choice(_PEOPLE).title()} {self.rng.choice(_PEOPLE).title()}",
        )
        words = [one.title() for one in re.findall(r"[^\W\d_]+", text)[: rng.choice([2, 3, 5, 7])]]
        link = f"https://www.{words[0].lower()}.example/{rng.randrange(9_000)}" if words else ""
        top = rng.choice([link, link + "\n" + " ".join(words), " ".join(words)])
        top += rng.choice(["", "", f"\nBy {who}", f"\n{who}, {rng.randrange(1990, 2026)}"])
        below = f"{rng.choice(['Posted by', 'Written by', '- ', '— ', '© ', 'Review by'])} {who}"
        text = rng.choice([f"{top}\n\n{text}", f"{top}\n{text}", text])
        return text + rng.choice(["", "\n" + below, "\n\n" + below])

    def _sloppy(self, text: str) -> str:
        rng = self.rng
        if rng.random() < 0.6:
            text = text.lower()
        if rng.random() < 0.6:
            text = re.sub(r"['’]", "", text)
        if rng.random() < 0.3:
            text = re.sub(r"[.](?=\s|$)", rng.choice(["", "", "", ","]), text)
        return text.rstrip(".") if rng.random() < 0.3 else text


def _treebank(folder: Path) -> tuple[list[str], list[list[str]]]:
    texts: list[str] = []
    guides: dict[str, list[str]] = {}
    with lzma.open(folder / "reader" / "ud.jsonl.xz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["split"] != "train":
                continue
            pieces = zip(row["tok"], row["sp"], strict=True)
            text = "".join(word + " " * bool(space) for word, space in pieces).strip()
            text = re.sub(r" (n['’]t|['’](?:s|m|re|ve|d|ll))\b", r"\1", text, flags=re.IGNORECASE)
            if row["src"] == "ewt":
                texts.append(text)
            elif row["doc"].split("_")[1] in _OPEN:
                guides.setdefault(row["doc"], []).append(text)
    return texts, list(guides.values())


def _personas(folder: Path) -> tuple[list[list[str]], list[list[str]]]:
    (path,) = (folder / "persona_chat").glob("*.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    lines = [[x.strip() for x in cell.split("\n") if x.strip()] for row in rows for cell in row[:2]]
    talks = [[x.split(": ", 1)[1] for x in row[2].split("\n") if ": " in x] for row in rows]
    return [one for one in lines if one], [one for one in talks if len(one) > 1]


def _asked(folder: Path) -> list[str]:
    """Return what people ask an assistant; the last line of a cut text is left out."""
    found: list[str] = []
    for one in json.loads((folder / "longmemeval" / "distractors.json").read_bytes()):
        turns = one["text"].split("\n")
        turns = turns[:-1] if len(one["text"]) > 494 else turns
        found += [x for x in turns if 10 < len(x) < 500 and not re.search(r"```|http|^\W", x)]
    return found


def _frames() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    into: list[str] = []
    for line in FRAMES.read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            into = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("# "):
            into.append(line.replace("\\n", "\n"))
    return found


# --- messages as marks ----------------------------------------------------------------------------


def parts_of(message: Message) -> list[Part]:
    """Return a message as its parts."""
    found, at = [], 0
    for start, end in message.own:
        if start > at:
            found.append((message.text[at:start], False))
        found.append((message.text[start:end], True))
        at = end
    return [*found, (message.text[at:], False)] if at < len(message.text) else found


class _Seen:
    """The units of a message that no layout shows, with their marks and whose they are."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.text = "".join(text for text, _ in parts)
        own = [mine for text, mine in parts for _ in text]
        shown = in_layout(self.text)
        left = blanked(self.text, shown)
        units, self.whole, self.marks = marks_of(left, handed=bool(shown))
        foreign = [not mine and sign.isalpha() for mine, sign in zip(own, self.text, strict=True)]
        self.letters = [sum(x.isalpha() for x in left[a:b]) for a, b, *_ in units]
        self.foreign = [sum(foreign[a:b]) for a, b, *_ in units]
        self.theirs = [
            found > FOREIGN * of for found, of in zip(self.foreign, self.letters, strict=True)
        ]
        self.shown = sum(foreign) - sum(self.foreign)  # others' letters that their layout shows
        self.is_own = all(own)


def _columns(seen: Iterable[_Seen]) -> list[tuple[int, str]]:
    counts: Counter[tuple[int, str]] = Counter()
    for one in seen:
        names = {(0, name) for name in one.whole}
        names |= {(n, name) for mark in one.marks for n, of in enumerate(mark) for name in of}
        counts.update(names)
    return sorted(name for name, count in counts.items() if count >= LEAST)


def fit(seen: Sequence[_Seen], weights: Sequence[float]) -> tuple[dict[str, float], ...]:
    """Fit the weights: what speaks for others, and for a change to them and back."""
    columns = _columns(seen)
    number = {name: n for n, name in enumerate(columns)}
    matrices = [_matrix(seen, number, kind) for kind in range(3)]
    turned = [one.T.tocsr() for one in matrices]
    sizes = np.array([len(one.theirs) for one in seen])
    longest, starts = sizes.max(), np.concatenate([[0], np.cumsum(sizes)[:-1]])
    at = starts[:, None] + np.arange(longest)
    known = np.arange(longest) < sizes[:, None]
    at = np.where(known, at, 0)
    theirs = np.where(known, np.concatenate([one.theirs for one in seen])[at], False)
    goes, comes = np.zeros_like(known), np.zeros_like(known)
    goes[:, 1:] = ~theirs[:, :-1] & theirs[:, 1:] & known[:, 1:]
    comes[:, 1:] = theirs[:, :-1] & ~theirs[:, 1:] & known[:, 1:]
    weight = np.asarray(weights)[:, None]
    prior = 1 / np.array(
        [WORD_SPREAD if name[:2] in ("w ", "f ", "l ") else SPREAD for _, name in columns]
    )

    def loss(found: Any) -> tuple[float, Any]:
        here, out, home = ((one @ found)[at] for one in matrices)
        mine, other = np.zeros(at.shape), np.zeros(at.shape)
        other[:, 0] = here[:, 0]
        for n in range(1, longest):
            go = known[:, n]
            mine[:, n] = np.logaddexp(mine[:, n - 1], other[:, n - 1] + home[:, n])
            other[:, n] = np.logaddexp(other[:, n - 1], mine[:, n - 1] + out[:, n]) + here[:, n]
            mine[~go, n], other[~go, n] = mine[~go, n - 1], other[~go, n - 1]
        total = np.logaddexp(mine[:, -1], other[:, -1])[:, None]
        mine_back, other_back = np.zeros(at.shape), np.zeros(at.shape)
        for n in range(longest - 1, 0, -1):
            back = other_back[:, n] + here[:, n]
            same = mine_back[:, n]
            mine_back[:, n - 1] = np.where(known[:, n], np.logaddexp(same, back + out[:, n]), 0)
            other_back[:, n - 1] = np.where(known[:, n], np.logaddexp(back, same + home[:, n]), 0)
        is_theirs = np.exp(other + other_back - total)
        went, came = np.zeros(at.shape), np.zeros(at.shape)
        went[:, 1:] = np.exp(mine[:, :-1] + out[:, 1:] + here[:, 1:] + other_back[:, 1:] - total)
        came[:, 1:] = np.exp(other[:, :-1] + home[:, 1:] + mine_back[:, 1:] - total)
        gold = (here * (theirs & known) + out * goes + home * comes).sum(1)
        value = float((weight[:, 0] * (total[:, 0] - gold)).sum() + (prior * found**2).sum() / 2)
        slope = prior * found
        for matrix, hoped, true in zip(
            turned, (is_theirs, went, came), (theirs, goes, comes), strict=True
        ):
            flat = np.zeros(sizes.sum())
            flat[at[known]] = ((hoped - true) * weight)[known]
            slope = slope + matrix @ flat
        return value, slope

    best = minimize(
        loss, np.zeros(len(columns)), jac=True, method="L-BFGS-B", options={"maxiter": 100}
    )
    fitted: tuple[dict[str, float], ...] = ({}, {}, {})
    for (kind, name), value in zip(columns, best.x, strict=True):
        if abs(value) >= 0.02:
            fitted[kind][name] = round(float(value), 2)
    return fitted


def _matrix(seen: Sequence[_Seen], number: Mapping[tuple[int, str], int], kind: int) -> Any:
    rows, columns, values, row = [], [], [], 0
    for one in seen:
        for mark in one.marks:
            named = {**one.whole, **mark[0]} if not kind else mark[kind]
            for name, value in named.items():
                column = number.get((kind, name))
                if column is not None and value:
                    rows.append(row)
                    columns.append(column)
                    values.append(value)
            row += 1
    return csr_matrix((values, (rows, columns)), shape=(row, len(number)))


# --- the whole ------------------------------------------------------------------------------------


def _fitted(folder: Path, hands: Sequence[Message], made: int) -> tuple[dict[str, float], ...]:
    seen = [_Seen(parts_of(one)) for one in hands]
    strangers = [_Seen(one) for one in _Maker(folder, hands).made(made)]
    weights = [WEIGHT] * len(seen) + [1.0] * len(strangers)
    kept = [
        (one, weight) for one, weight in zip([*seen, *strangers], weights, strict=True) if one.marks
    ]
    return fit([one for one, _ in kept], [weight for _, weight in kept])


SHARES: Final = (0.05, 0.1, 0.15, 0.2, 0.3)
SHORT: Final = 600  # characters


def folds(folder: Path, hands: Sequence[Message], made: int) -> Iterator[str]:
    """Yield for each hand that is left out what of own short messages is heard at which leak."""
    pooled: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    for hand in sorted({one.hand for one in hands}):
        fitted = _fitted(folder, [one for one in hands if one.hand != hand], made)
        theirs: list[tuple[float, float]] = []
        own: list[tuple[float, float]] = []
        for one in hands:
            if one.hand != hand:
                continue
            seen = _Seen(parts_of(one))
            odds = odds_of(fitted, seen.whole, seen.marks)
            if of := seen.shown + sum(seen.foreign):
                theirs.append((99.0, seen.shown / of))
                theirs += [(x, n / of) for x, n in zip(odds, seen.foreign, strict=True)]
            elif len(one.text) < SHORT and (of := sum(seen.letters)):
                own += [(x, n / of) for x, n in zip(odds, seen.letters, strict=True)]
        pooled[0].extend(theirs)
        pooled[1].extend(own)
        yield f"{hand}: {_heard(theirs, own)}"
    yield f"all: {_heard(*pooled)}"


def _heard(theirs: list[tuple[float, float]], own: list[tuple[float, float]]) -> str:
    said = []
    for share in SHARES:
        left = share * sum(of for _, of in theirs)
        border = 0.0
        for border, of in sorted(theirs):  # noqa: B007
            left -= of
            if left < 0:
                break
        heard = sum(of for x, of in own if x < border) / sum(of for _, of in own)
        said.append(f"{heard:.0%} at {share:.0%} (below {border:.1f})")
    return ", ".join(said)


def main() -> None:
    """Fit, and write the weights or print the folds."""
    parser = argparse.ArgumentParser(prog="make_voice.py", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("--made", type=int, default=MADE)
    given = parser.parse_args()
    hands = [one for one in messages() if one.part == "built with"]
    if given.folds:
        for line in folds(given.folder, hands, given.made):
            print(line, flush=True)
        return
    fitted = _fitted(given.folder, hands, given.made)
    names = ("theirs", "to theirs", "to mine")
    lines = (
        f"{json.dumps(name)}: {json.dumps(of, ensure_ascii=False, sort_keys=True)}"
        for name, of in zip(names, fitted, strict=True)
    )
    WEIGHTS.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
    print(f"{WEIGHTS}: {sum(map(len, fitted)):,} weights, {WEIGHTS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
