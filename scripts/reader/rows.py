"""Training rows: open corpora and our own sets, each turned into words and what is right of them.

A row is a dict: `words`, perhaps `after` (words of the assistant's line before, read behind the
text), and any of the targets `pos head rel end name lacks opinion mark prompt cut clauses`.
"""

from __future__ import annotations

import functools
import json
import lzma
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factbook.embed import bundled
from factbook.gate.grounding.ground import allowed_lines, nearest, shown
from factbook.gate.grounding.passage import SpokenSentence, read_passage
from factbook.language.reader import labels
from factbook.language.reader.words import Word, words_of
from reader import spoil
from reader.corpora import LABELLED_TYPES

Row = dict[str, Any]
IGNORED = -100


class RowsError(Exception):
    """Labels and what they label do not belong together."""


# shares of rows that are read in lower case, in capitals, with a slip of the fingers
LOWERED, SHOUTED, SLIPPED = 0.12, 0.03, 0.10


def lines(path: Path) -> Iterator[Row]:
    """Read compressed JSON lines."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def tags_of(count: int, spans: Sequence[tuple[int, int, str]], names: Sequence[str]) -> list[int]:
    """Tag words: outside, begin and inside of stretches (first, behind the last, type)."""
    tags = [0] * count
    for begin, end, kind in spans:
        for i in range(begin, min(end, count)):
            if kind == "?":
                tags[i] = IGNORED
            elif f"B-{kind}" in names:
                tags[i] = names.index(("B-" if i == begin else "I-") + kind)
    return tags


def word_span(words: Sequence[Word], begin: int, end: int) -> tuple[int, int] | None:
    """Return the words that a stretch of characters touches, (first, behind the last)."""
    touched = [i for i, word in enumerate(words) if word.begin < end and word.end > begin]
    return (touched[0], touched[-1] + 1) if touched else None


def meet(place: Sequence[int], other: Sequence[int]) -> bool:
    """Say whether two places of a text share half of the shorter."""
    shared = min(place[1], other[1]) - max(place[0], other[0])
    return shared > 0 and 2 * shared >= min(place[1] - place[0], other[1] - other[0])


def quoted_spans(text: str, quotes: Sequence[str]) -> list[tuple[int, int]]:
    """Find quotes in their order, each behind the one before where it stands there."""
    found, at = [], 0
    for quote in quotes:
        begin = text.find(quote, at)
        if begin < 0:
            begin = text.find(quote)
        at = max(at, begin + len(quote))
        found.append((begin, begin + len(quote)))
    return found


# --- open corpora ---------------------------------------------------------------------------------


def named(row: Row) -> Row:
    """Turn the names of a corpus's sentence into tags, and say which types it never labels."""
    names = row.get("names")
    made = {key: value for key, value in row.items() if key not in ("names", "source")}
    if names is None:
        return made
    made["name"] = tags_of(len(row["words"]), names, labels.NAME_TAGS)
    known = LABELLED_TYPES.get(row.get("source", ""))
    if known:
        made["lacks"] = [
            i for i, t in enumerate(labels.NAME_TAGS) if t != "O" and t[2:] not in known
        ]
    return made


def joined(sentences: Sequence[Row]) -> Row:
    """Make one row of sentences that stood after one another: heads count on, each has its root."""
    made: Row = {"words": [], "pos": [], "head": [], "rel": [], "end": []}
    named = all("name" in s for s in sentences)
    if named:
        made["name"] = []
    for s in sentences:
        offset = len(made["words"])
        made["head"] += [h + offset if h else 0 for h in s["head"]]
        for key in made.keys() - {"head"}:
            made[key] = made[key] + s[key]
    return made


# --- our own --------------------------------------------------------------------------------------


def chat(row: Row) -> Row:
    """A turn cut into clauses."""
    text = row["text"]
    words = words_of(text)
    cut = [0] * len(words)
    foreign = [0] * len(words)  # what is said to be another's view may be told in one's own words
    clauses = []
    for clause, (begin, end) in zip(
        row["clauses"], quoted_spans(text, [c["q"] for c in row["clauses"]]), strict=True
    ):
        span = word_span(words, begin, end)
        if span is None:
            continue
        for i in range(*span):
            cut[i] = 1 if i == span[0] else 2
            foreign[i] = IGNORED if "quoted" in clause["flags"] else 0
        clauses.append(
            {
                "span": span,
                "act": labels.ACTS.index(clause["act"]),
                "of": labels.OWNERS.index(clause["of"]),
                "keep": IGNORED if clause["keep"] is None else clause["keep"],
                "kind": labels.KINDS.index(clause["kind"]) if clause["keep"] else IGNORED,
                "flags": [int(f in clause["flags"]) for f in labels.FLAGS],
            }
        )
    return {
        "words": [w.text for w in words],
        "after": [w.text for w in words_of(row["before"])],
        "cut": cut,
        "foreign": foreign,
        "clauses": clauses,
    }


def opinion(row: Row) -> Row:
    """A message with targets of opinions."""
    return _marked(row, "opinion", [(m["t"], m["s"]) for m in row["opinions"]], labels.OPINION_TAGS)


def name(row: Row) -> Row:
    """A message with names."""
    return _marked(row, "name", [(m["n"], m["k"]) for m in row["names"]], labels.NAME_TAGS)


def prompt(row: Row) -> Row:
    """A developer's prompt with the stretches that state a rule or a decision."""
    quotes = [(m["q"], m["kind"]) for m in row["marks"]]
    made = _marked(row, "mark", quotes, labels.MARK_TAGS)
    made["prompt"] = labels.PROMPT_TYPES.index(row["type"])
    made["scopes"] = [
        {"span": span, "scope": labels.SCOPES.index(mark["scope"])}
        for span, mark in zip(made.pop("spans"), row["marks"], strict=True)
        if span
    ]
    return made


def _marked(row: Row, key: str, quotes: list[tuple[str, str]], tags: Sequence[str]) -> Row:
    words = words_of(row["text"])
    places = quoted_spans(row["text"], [q for q, _ in quotes])
    spans = [word_span(words, *place) for place in places]
    kinds = [
        (span[0], span[1], kind)
        for span, (_, kind) in zip(spans, quotes, strict=True)
        if span is not None
    ]
    return {
        "words": [w.text for w in words],
        key: tags_of(len(words), kinds, tags),
        "spans": spans,
    }


def voice(row: Row) -> Row:
    """A message with the stretches that are not its writer's own words."""
    quotes = [(quote, "foreign") for quote in row["foreign"]]
    return _marked(row, "foreign", quotes, labels.FOREIGN_TAGS)


def handed_on(row: Row) -> Row:
    """A message with the spans that are its writer's own; all others are not."""
    text, at, quotes = row["text"], 0, []
    for begin, end in [*row["own"], (len(text), len(text))]:
        if quote := text[at:begin].strip():
            quotes.append(quote)
        at = end
    return voice({"text": text, "foreign": quotes})


def unlabelled(text: str) -> Row:
    """A text of which nothing is said."""
    return {"words": [w.text for w in words_of(text)]}


def pair(row: Row) -> Row:
    """Two statements of one person."""
    return {"a": row["old"], "b": row["new"], "relation": labels.PAIRS.index(row["label"])}


def told_of(pairs: Iterable[Row], rng: random.Random) -> Iterator[Row]:
    """Yield pairs of statements as one tells of somebody: "User works nights"."""
    for row in pairs:
        old, new = (_of_another(row[side]) for side in ("old", "new"))
        if old and new:
            who = rng.choice(_TELLERS[1:])
            old, new = (who + text[0].lower() + text[1:] for text in (old, new))
            yield pair({"old": old, "new": new, "label": row["label"]})


def matter(row: Row) -> Row:
    """A question, and whether anybody could ask it."""
    return {"a": row["text"], "b": "", "matter": labels.MATTERS.index(MATTER[bool(row["send"])])}


MATTER = {True: "world", False: "own"}


def strangers(
    statements: Sequence[str],
    mates: Sequence[int],
    people: Sequence[str],
    vectors: Any,
    rng: random.Random,
    *,
    near: float,
    far: float,
) -> Iterator[Row]:
    """Yield statements beside others of the circle that recall draws around them: both hold.

    What is held against a statement are its nearest neighbours, of which most have nothing to do
    with it: the two nearest of the same person are taken (of one's own life all holds together),
    and one from anywhere in the circle. `mates` numbers the row of each, `people` who says it;
    neighbours nearer than `near` may well say the same.
    """
    likeness = vectors @ vectors.T
    rows_, said_by = np.asarray(mates), np.asarray(people)
    likeness[rows_[:, None] == rows_[None]] = -1
    likeness[likeness > near] = -1
    for i, statement in enumerate(statements):
        circle = np.flatnonzero(likeness[i] >= far)
        nearest_ = circle[np.argsort(-likeness[i][circle])]
        own = [int(n) for n in nearest_ if said_by[n] == said_by[i]][:2]
        for j in {*own, *rng.sample([int(n) for n in circle], min(1, len(circle)))}:
            yield pair({"old": statement, "new": statements[j], "label": "lookalike"})


def claims(rows_: Sequence[Row], rng: random.Random) -> Iterator[Row]:
    """Yield the sentences of each summary that bear on a claim, and the claim.

    The labelled claims alone teach a network that what shares its words with a summary is false and
    what shares none is true, as they were written to mislead. So each of a summary's own sentences
    holds too, as does what it begins with, and no claim on another summary does. Nor does a
    sentence of its own, or a claim that is true, of which one thing is changed.
    """
    said = [[c["c"] for c in row["claims"] if c["ok"]] for row in rows_]
    for n, row in enumerate(rows_):
        summary = row["summary"]
        for most in rng.sample(READ, LABELLED):
            yield from labelled(row, most)
        talk = read_passage(summary).named
        own = sentences(summary)
        for sentence in () if talk else own:
            begun = _PART.split(sentence)[0]
            if begun != sentence and len(words_of(begun)) >= LEAST_WORDS:
                yield _supported(summary, begun + ".", True)
            yield from changed(summary, sentence, own, rng)
        for claim in rng.sample(said[n], len(said[n]) // 2):
            if wrong := spoil.spoilt(claim, said[n - 1] if talk else own, rng):
                yield _supported(summary, wrong, False)
        neighbour = said[n - 1]  # mostly of the same writer: of the same people and things
        strange = said[(n + rng.randrange(2, len(said) - 1)) % len(said)]
        for other in rng.sample([*neighbour, *strange], STRANGE):
            yield _supported(summary, other, False)


def changed(summary: str, sentence: str, own: Sequence[str], rng: random.Random) -> Iterator[Row]:
    """Yield a sentence of a summary as claims: as it stands, without its head, with one change."""
    yield _supported(summary, sentence, True)
    short = _HEAD.sub("", sentence)
    short = short[:1].upper() + short[1:]
    if short != sentence:
        yield _supported(summary, short, True)
    if wrong := spoil.spoilt(rng.choice((sentence, short)), own, rng):
        yield _supported(summary, wrong, False)


def sentences(summary: str) -> list[str]:
    """Return the sentences of a summary that say something by themselves."""
    return [s for s in _STOP.split(summary) if len(words_of(s)) >= LEAST_WORDS]


def labelled(row: Row, most: int = 3) -> Iterator[Row]:
    """Yield the labelled claims on one summary, each with so many of its sentences."""
    for claim in row["claims"]:
        yield _supported(row["summary"], claim["c"], claim["ok"], most)


def retold(pairs: Sequence[Row], rng: random.Random) -> Iterator[Row]:
    """Yield what people say of themselves, and the same said of them; and what the other said.

    Some of it is shown as a line of a talk is, and told of as one who reads the talk would.
    """
    for pair_ in pairs:
        told = [(text, _of_another(text)) for text in (pair_["old"], pair_["new"])]
        for (text, claim), (other, _) in (told, told[::-1]):
            if claim:
                line, who = rng.choice(_LINES), rng.choice(_TELLERS)
                said = who + claim[0].lower() + claim[1:] if who else claim
                yield {"a": line.format(text), "b": said, "support": 1}
                again = int(pair_["label"] == "reword")
                yield {"a": line.format(other), "b": said, "support": again}
                if wrong := spoil.spoilt(claim, [other], rng):
                    yield {"a": line.format(text), "b": wrong, "support": 0}
                done = _I.match(text)
                if done and done[1] not in _IRREGULAR and rng.random() < FRAMED:
                    phrase = f"{done[1]} {done[2].rstrip('.!')}"
                    not_so, told_so = spoil.not_so(phrase, rng)
                    yield {"a": line.format(not_so), "b": claim, "support": 0}
                    yield {"a": line.format(not_so), "b": told_so, "support": 1}
                    yield {"a": line.format(spoil.so(phrase, rng)), "b": claim, "support": 1}


# how a line of a talk is shown, and how one who tells of it begins
_LINES = ("{}", "{}", "User: {}", 'User: "{}"', "user: {}")
_TELLERS = ("", "User ", "The user ", "user ")
_I = re.compile(
    r"I (love|like|hate|work|live|play|use|drink|eat|own|keep|prefer|want|need|run|drive|read|cook"
    r"|sleep|take|think|speak|write|wear|grow|make|pay|am|have|do) (.+)"
)
_IRREGULAR = {"am": "Is", "have": "Has", "do": "Does"}


def _of_another(text: str) -> str:
    """Tell of its speaker what a statement says; empty where it begins otherwise."""
    said = _I.match(re.sub(r"^I['’]m\b", "I am", re.sub(r"^I['’]ve\b", "I have", text)))
    if said is None or re.search(r"\bI\b", said[2]):
        return ""
    rest = re.sub(r"\bmyself\b", "themselves", re.sub(r"\bmy\b", "their", said[2]))
    return f"{_IRREGULAR.get(said[1], said[1].capitalize() + 's')} {rest}"


def _supported(summary: str, claim: str, holds: bool, most: int = 3) -> Row:
    return {"a": bearing(summary, claim, most), "b": claim, "support": int(holds)}


# Sentences of a summary read beside a labelled claim, and how often with others. The product shows
# one, two and three: a true claim may stand on two, so one alone would be wrongly labelled, and
# five teach to find the right one among them.
READ = (2, 3, 5)
LABELLED = 2
STRANGE = 3  # claims on other summaries that each is held against
FRAMED = 0.5  # share of what is said that is also said to be otherwise
_HEAD = re.compile(r"^(?:The user|User|He|She|They)\s+(?=\w+(?:s|ed)\b)")
LEAST_WORDS = 4  # of a sentence that says something by itself
_PART = re.compile(r", (?:and|but) ")
_STOP = re.compile(r"(?<=[.!?;])\s+|\n+")


def bearing(text: str, claim: str, most: int = 3) -> str:
    """Return the sentences of its owner, or of nobody named, that are nearest to a claim."""
    lines, vectors = _spoken(text)
    near = nearest(vectors, _vectors((claim,))[0])
    return shown([lines[i] for i in sorted(near[:most])])


@functools.lru_cache(maxsize=64)
def _spoken(text: str) -> tuple[Sequence[SpokenSentence], NDArray[np.float32]]:
    passage = read_passage(text)
    lines = [passage.lines[n] for n in allowed_lines(passage, "owner")] or passage.lines
    return lines, _vectors(tuple(spoken.line.text for spoken in lines))


@functools.lru_cache(maxsize=65_536)
def _vectors(texts: tuple[str, ...]) -> NDArray[np.float32]:
    return bundled().embed(texts)


# --- spoilt as people write -----------------------------------------------------------------------


def spoilt(row: Row, rng: random.Random) -> Row:
    """Return a row written as people write: lower case, capitals, or without its last stop."""
    chance = rng.random()
    if chance < LOWERED:
        return {**row, "words": [w.lower() for w in row["words"]]}
    if chance < LOWERED + SHOUTED:
        return {**row, "words": [w.upper() for w in row["words"]]}
    if chance < LOWERED + SHOUTED + SLIPPED and row["words"]:
        words = list(row["words"])
        for at in rng.sample(range(len(words)), max(1, len(words) // 12)):
            words[at] = slipped(words[at], rng)
        return {**row, "words": words}
    return row


def slipped(word: str, rng: random.Random) -> str:
    """Return a word with a letter left out, doubled, or two of them turned round."""
    if len(word) < 5 or not word.isalpha():
        return word
    at = rng.randrange(1, len(word) - 2)
    left, right = word[at], word[at + 1]
    return word[:at] + rng.choice((right, left + left + right, right + left)) + word[at + 2 :]
