"""Find the preferences that an answer would have to respect, though the question names none.

"I'm off to Bangkok, where should I eat?" shares no word with "peanuts make me ill", and its vector
lies nearer to every remark about restaurants. What joins them is what an answer usually brings:
peanuts, chilli, shrimps. `data/situations.txt` is a small list of that kind, written by hand:
situations of daily life, each with what advice about it tends to contain.

A fact's leaning towards a question that seeks advice is the sum of
1. their cosine;
2. less a share of the mean cosine of the fact with the situations nearest to it: a fact that is
   near to any question about food says little about this one (a hub; querybank normalisation);
3. plus a share of how near the fact is to the nearest thing that the question's situations bring.

Tried and left out on 505 preferences of ten topics: BM25 beside the cosine (it finds the topic,
which all candidates share), the question without its frame ("can you recommend"), its sentences one
by one, hubs among the facts themselves, and the mean of what a situation brings instead of the
nearest.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from factbook.model.facts import FactKind

if TYPE_CHECKING:
    from factbook.embed import Embedder

Floats = NDArray[np.float32]

LEANING_KINDS: Final = frozenset({FactKind.STATEMENT, FactKind.TYPED, FactKind.KEYED})
"""What can be a person's wish; what a tool did or the web says cannot."""

LEANING_CANDIDATES: Final = 100
"""Facts nearest to the question, and to what its situations bring, that are weighed; 40 do too."""

LEANING_SHARE: Final = 1.4
"""Of the best score, for the fact that leans most: what is asked for is advice, not a mention."""

SITUATIONS: Final = 4  # of the question, the nearest ones; 1 to 5 are level
SHARPNESS: Final = 20.0  # weight of a situation: exp(sharpness * cosine); 10 is level
HUB_NEAREST: Final = 5  # situations that tell a hub; 10 is level
HUB_SHARE: Final = 0.75  # 0.5 to 1 are level
BROUGHT_SHARE: Final = 0.5  # 0.4 to 0.6 are level

_DATA: Final = Path(__file__).with_name("data")
_FRAME: Final = "Can you recommend something for {}?"  # situations are compared with questions

_ADVICE: Final = re.compile(
    r"""\b(?: recommend\w* | suggest\w* | advi[cs]e\w* | tips? | ideas? | should\ (?:i|we)
    | how\ (?:can|do|should|could|might|would)\ (?:i|we)
    | what(?:'s|’s|\ (?:are|is|would\ be|kinds?\ of|sorts?\ of))\ (?:some|an?|the\ best|your|good)
    | best\ (?:way|option|choice)s? | looking\ (?:for|to) | help\ (?:me|us) | must-\w+
    | where\ can\ (?:i|we) | good\ (?:option|choice|way|place)s? | worth\ \w+ing )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def seeks_advice(text: str) -> bool:
    """Say whether a text asks what to choose or to do, in English, and not what was."""
    return _ADVICE.search(text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Something that people seek advice about, and what the advice tends to bring."""

    name: str
    brings: tuple[str, ...]

    @property
    def question(self) -> str:
        """Its name as a question, which is how it is compared with questions."""
        return _FRAME.format(self.name)


@cache
def situations() -> tuple[Situation, ...]:
    """Return the situations that the package knows."""
    known = []
    for line in _text().splitlines():
        name, brings = line.split(": ", 1)
        known.append(Situation(name=name, brings=tuple(brings.split(", "))))
    return tuple(known)


def _text() -> str:
    return (_DATA / "situations.txt").read_text(encoding="utf-8")


def digest() -> str:
    """Return what tells this list of situations from another."""
    return hashlib.sha256((_FRAME + _text()).encode()).hexdigest()[:16]


def brought() -> list[str]:
    """Return everything that situations bring, each once, in the order of the list."""
    return list(dict.fromkeys(bring for situation in situations() for bring in situation.brings))


class Associations:
    """The situations as vectors; values in, values out, safe to share between threads."""

    def __init__(self, *, questions: Floats, things: Floats) -> None:
        """Take unit vectors of `situations()` as questions, and of `brought()`."""
        number = {thing: n for n, thing in enumerate(brought())}
        self._questions = questions
        self._things = things
        self._brings = [
            np.asarray([number[bring] for bring in situation.brings]) for situation in situations()
        ]
        if len(questions) != len(self._brings) or len(things) != len(number):
            raise ValueError(
                f"associations got {len(questions)} and {len(things)} vectors, but the list has"
                f" {len(self._brings)} situations and {len(number)} things; embed all of them"
            )

    @classmethod
    def of(cls, embedder: Embedder) -> Associations:
        """Return the associations for an embedder.

        Their vectors come with the package for the bundled model. For another one they are made
        here, about 1,100 short texts, so call it where nobody waits.
        """
        with np.load(_DATA / "situations.npz", allow_pickle=False) as kept:
            if str(kept["embedder"]) == embedder.id and str(kept["digest"]) == digest():
                return cls(
                    questions=kept["questions"].astype(np.float32),
                    things=kept["things"].astype(np.float32),
                )
        return cls(
            questions=embedder.embed([situation.question for situation in situations()]),
            things=embedder.embed(brought()),
        )

    def towards(self, question: Floats) -> Floats:
        """Return a unit vector of what the situations of a question bring, to search with."""
        chosen, weights = self._situations(question)
        mean = np.stack([self._things[self._brings[n]].mean(axis=0) for n in chosen])
        vector = weights @ mean
        unit: Floats = vector / np.linalg.norm(vector)
        return unit

    def leanings(self, question: Floats, facts: Floats) -> Floats:
        """Return how much each fact, a unit row, bears on advice that answers the question."""
        chosen, weights = self._situations(question)
        near = np.stack(
            [_cosines(facts, self._things[self._brings[n]]).max(axis=1) for n in chosen], axis=1
        )
        around = _cosines(facts, self._questions)
        hub = np.partition(around, -HUB_NEAREST, axis=1)[:, -HUB_NEAREST:].mean(axis=1)
        leaning: Floats = np.vecdot(facts, question) - HUB_SHARE * hub
        leaning += BROUGHT_SHARE * np.vecdot(near, weights)
        return leaning

    def _situations(self, question: Floats) -> tuple[list[int], Floats]:
        cosines = np.vecdot(self._questions, question)
        chosen = np.argpartition(cosines, -SITUATIONS)[-SITUATIONS:]
        weights = np.exp(SHARPNESS * (cosines[chosen] - cosines.max()))
        return chosen.tolist(), (weights / weights.sum()).astype(np.float32)


def _cosines(rows: Floats, others: Floats) -> Floats:
    """Return the cosine of every row to every other, all of length 1.

    Not a matrix product: its threads go on spinning for a while, and here a search runs beside it.
    """
    cosines: Floats = np.vecdot(rows[:, None], others[None])
    return cosines
