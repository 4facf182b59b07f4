"""Propose how two texts stand to each other where their words alone do not tell.

Trees grown of what the reader's network and the readings say of both (`related_signs`) propose;
what is exact refuses (`vetoed`). What is sure is merged or retired, if neither has a nearer one in
the whole memory, and what is likely is asked. The numbers of `policy.RELATED` are chosen by
`scripts/train_related.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from operator import ne
from typing import Final, Literal, NamedTuple

from factbook import policy
from factbook.gate.lexicon import TENSES_APART, tables
from factbook.gate.reading import TextReading, read
from factbook.gate.related_signs import Side, signs_of
from factbook.gate.slots import of_a_series, same_people
from factbook.language.reader.reading import NOT_MEANT, Clause, Reading
from factbook.language.reader.relate import Chances, Relater

MAY_BE_OVER: Final = "may_be_over"  # the rule of what the network alone asks about
REWORDED: Final = "reworded"  # the rule of what likely says the same
_SUPPOSED: Final = NOT_MEANT | {"wish"}


class RelatedTexts(NamedTuple):
    """What the rules look at: how likely what is, and what forbids to act on it."""

    chances: Chances  # of the whole texts
    similarity: float  # cosine
    no_merge: str  # why they may not be merged; "" where they may
    no_end: str  # why the newer may not end the older


class Proposed(NamedTuple):
    """How two texts stand to each other, as `judge.Relation` names it."""

    relation: Literal["same", "supersedes", "ambiguous"]
    rule: str
    detail: str


DOUBTED: Final = Proposed("ambiguous", MAY_BE_OVER, "The newer one may end the older.")


def proposed(
    older: tuple[str, TextReading],
    newer: tuple[str, TextReading],
    similarity: float,
    net: Relater,
    closest: Callable[[], bool] | None = None,
) -> Proposed | None:
    """Return how two texts stand to each other; None where they may both hold.

    Each is a text with its reading; `similarity` is their cosine. `closest` tells whether neither
    has a nearer one among all that is known: only then is one of them merged or retired. Raises
    ReaderError where the network cannot be loaded.
    """
    if similarity < policy.RELATED_SIMILARITY:
        return None
    texts = _unchecked(older, newer, similarity, net)
    if decided(texts) is None:
        return None  # as for most: what would forbid it need not be read
    texts = _held_back(texts, older, newer, net)
    told = decided(texts)
    if told is None or told.rule == MAY_BE_OVER or closest is None or closest():
        return told
    return _doubted(texts)


def _held_back(
    texts: RelatedTexts,
    older: tuple[str, TextReading],
    newer: tuple[str, TextReading],
    net: Relater,
) -> RelatedTexts:
    """Return the same with what forbids to act on it."""
    first, second = net.read(older[0]), net.read(newer[0])
    no_merge, no_end = vetoed((first, older[1]), (second, newer[1]))
    if _of_things(first, second):
        no_end = no_end or "unsure"
        if texts.chances.reword < policy.REWORDED_OF_THINGS:
            no_merge = no_merge or "unsure"
    return texts._replace(no_merge=no_merge, no_end=no_end)


def _of_things(*texts: Reading) -> bool:
    """Say whether one of some texts is on things alone: on nobody's life."""
    return any(all(clause.of not in ("me", "person") for clause in text.clauses) for text in texts)


def _unchecked(
    older: tuple[str, TextReading], newer: tuple[str, TextReading], similarity: float, net: Relater
) -> RelatedTexts:
    """Return how likely what is of two texts, whatever forbids to act on it."""
    first, second = (Side(net.read(text), reading) for text, reading in (older, newer))
    scores = net.relate(older[0], newer[0])
    chances = net.weigh(signs_of(first, second, scores, similarity))
    if _of_things(first.read, second.read):  # the trees have learned what people say of themselves
        least = min(chances.change, scores.change), min(chances.reword, scores.reword)
        chances = Chances(*least)
    return RelatedTexts(chances, similarity, "", "")


def decided(texts: RelatedTexts) -> Proposed | None:
    """Return what follows from the chances by the numbers of `policy.RELATED`."""
    numbers, chances = policy.RELATED, texts.chances
    if chances.reword >= numbers["merge"]:
        return None if texts.no_merge else Proposed("same", REWORDED, "Both say the same.")
    if not texts.no_end and chances.change >= numbers["end"]:
        return Proposed("supersedes", "taken_back", "If the newer one holds, the older does not.")
    return _doubted(texts)


def _doubted(texts: RelatedTexts) -> Proposed | None:
    unlikely = texts.chances.change < policy.RELATED["ask"]
    return None if texts.no_end == "other" or unlikely else DOUBTED


def hardly_doubted(
    older: tuple[str, TextReading], newer: tuple[str, TextReading], similarity: float, net: Relater
) -> bool:
    """Tell whether it may be asked if the newer text ends the older, where there is room for it.

    It is less likely than what `proposed` asks about.
    """
    texts = _unchecked(older, newer, similarity, net)
    if texts.chances.change < policy.RELATED_ASK_ONE:
        return False
    return _held_back(texts, older, newer, net).no_end != "other"


def doubt(older: str, newer: str, similarity: float, net: Relater) -> float:
    """Return how likely the newer of two texts ends the older, 0 to 1."""
    texts = _unchecked((older, read(older)), (newer, read(newer)), similarity, net)
    return texts.chances.change


def _told(text: Reading) -> list[Clause]:
    return [clause for clause in text.clauses if clause.act == "tell"]


def _names(text: Reading, kind: str = "") -> set[str]:
    return {
        text.text[name.begin : name.end].casefold().removesuffix("'s").removesuffix("’s")
        for name in text.names
        if not kind or name.type == kind
    }


def _apart(first: set[str], second: set[str]) -> bool:
    return bool(first - second and second - first)


def vetoed(
    older: tuple[Reading, TextReading], newer: tuple[Reading, TextReading]
) -> tuple[str, str]:
    """Return why two texts may not be merged, and why the newer may not end the older.

    "" is no reason; "other" for ending says that they are about two persons or things, so that
    there is nothing to ask either.
    """
    (first, old), (second, new) = older, newer
    if (
        of_a_series(old, new)
        or not same_people(old, new)
        or _apart(_names(first, "person"), _names(second, "person"))
    ):
        return "other", "other"
    if old.asks != new.asks:
        return "question", "question"
    of_me = all(any(clause.of == "me" for clause in text.clauses) for text in (first, second))
    if not (of_me or (old.definite and new.definite)):
        return "indefinite", "indefinite"  # two dogs, not one
    no_end = "question" if new.asks else _no_end(_told(first), _told(second))
    return _no_merge(older, newer) or _known_to_rules(old, new), no_end


def tells_apart(older: str, newer: str, net: Relater) -> str:
    """Return what two texts that somebody would merge differ in; "" for nothing that is exact."""
    first, second = ((net.read(text), read(text)) for text in (older, newer))
    no_merge, _ = vetoed(first, second)
    return "" if no_merge in ("indefinite", "rules") else no_merge or _no_merge(first, second)


def _no_merge(older: tuple[Reading, TextReading], newer: tuple[Reading, TextReading]) -> str:
    (first, old), (second, new) = older, newer
    if old.values and new.values and set(old.values) != set(new.values):
        return "value"
    if _apart(_names(first), _names(second)):
        return "name"
    clashes = tables().quantifier_clashes
    if not clashes.isdisjoint(product(old.quantifiers, new.quantifiers)):
        return "quantifier"
    return "word" if _apart(_signs(old), _signs(new)) else ""


def _known_to_rules(old: TextReading, new: TextReading) -> str:
    """Return "rules" where two texts are the same but for one word, or for when it is so.

    The network, which hears what is meant, is sure that who takes aspirin makes it. Nor is the
    older one joined if it has a number that the newer one lacks: it would be lost.
    """
    first, second = old.normal.split(), new.normal.split()
    one_word = len(first) == len(second) and sum(map(ne, first, second)) == 1
    then = (old.tense, new.tense) in TENSES_APART and len(old.keys ^ new.keys) <= 1
    lost = set(old.values) - set(new.values)
    return "rules" if one_word or then or lost else ""


def _signs(text: TextReading) -> set[str]:
    """Return the words of a text that have no letter and no digit: its emoji."""
    return {key for key in text.keys if not any(map(str.isalnum, key))}


def _no_end(older: Sequence[Clause], newer: Sequence[Clause]) -> str:
    if newer and all(not _SUPPOSED.isdisjoint(clause.flags) for clause in newer):
        return "supposed"
    if len(older) > 1:
        return "part"  # what else the older one says would be gone with it
    if {clause.of for clause in older} != {clause.of for clause in newer}:
        return "owner"
    return ""
