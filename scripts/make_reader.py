"""Train the language reader that ships with factbook, measure it, and write it.

    python scripts/make_reader.py [--corpora FOLDER] [--wheel FILE] [--out FOLDER]

Two networks are trained, both from the weights of the embedder (all-MiniLM-L6-v2, whose table of
words they share): the reader, which tags and parses a text, and the relater, which reads two texts
at once. The open corpora are taken from FOLDER, and fetched where they are missing; our own rows
are `data/language/ordinary`, of which the part `held` is for measuring alone. The figures go to
the screen and into `reader.json`; what misses a target of `TARGETS` is not written.

Seeds are fixed, but sums of floating point differ from one processor to another: the files that
ship are pinned by their hashes. On two cores this takes some three hours.

Needs what factbook itself needs, and onnx and torch:

    python -m venv /tmp/reader && /tmp/reader/bin/pip install . onnx==1.23.2 torch==2.13.0
    /tmp/reader/bin/python scripts/make_reader.py

What was learned of one reader says nothing of the next, which reads nothing before
`scripts/train_standing.py`, `scripts/train_layers.py` and `scripts/train_breaches.py` were run;
`scripts/train_matter.py` belongs to it, too. The clauses of published messages, of which only what
is worth keeping is labelled, are cut by the reader that ships while this runs.

A reader goes on from a written one with `--start`, and is held to one in all that its rows do not
label with `--anchor`; copies of the files of `--out` serve for both:

    make_reader.py --only reader --train reader --start OLD --anchor OLD --rate 0.8 \\
        --minutes 45
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from tokenizers import Tokenizer

import make_embedder
from factbook.embed import bundled
from factbook.language.reader import labels
from factbook.language.reader.pieces import Pieces
from reader import corpora, export, measure, messages, network, rows, train

ROOT: Final = Path(__file__).resolve().parent.parent
OWN: Final = ROOT / "data" / "language" / "ordinary"
OUT: Final = ROOT / "src" / "factbook" / "language" / "reader" / "data"
SEED: Final = 7
STEPS: Final = {"reader": 12_000, "relater": 7_000}

# share of the steps that a source of rows gets
READER_SHARES: Final = {
    "tree": 0.16,
    "names": 0.06,
    "chats": 0.22,
    "opinions": 0.18,
    "own names": 0.12,
    "prompts": 0.16,
    "voices": 0.10,
}
# and of those that go on from older weights, which hold them to all that they do not label
ANCHORED_SHARES: Final = {
    "tree": 0.04,
    "names": 0.02,
    "chats": 0.15,
    "opinions": 0.17,
    "said": 0.24,
    "silent": 0.12,
    "own names": 0.05,
    "prompts": 0.07,
    "voices": 0.09,
    "unlabelled": 0.05,
}
RELATER_SHARES: Final = {
    "inferences": 0.10,
    "pairs": 0.30,
    "strangers": 0.12,
    "claims": 0.33,
    "retold": 0.06,
    "matters": 0.09,
}
DRAFTS: Final = ("letter", "translation", "bio", "own-letter", "own mail draft")
NEAR, FAR = 0.62, 0.2  # cosine of statements that are not of one matter and yet found together

# by figure: at least this, or nothing is written
TARGETS: Final = {
    ("trees", "pos"): 0.965,
    ("trees", "uas"): 0.89,
    ("trees", "las"): 0.865,
    ("names wnut17", "spans", "F"): 0.56,
    ("own chats", "kept of turns", "0.5", "P"): 0.85,
    ("own chats", "kept of turns", "0.5", "R"): 0.75,
    ("own names", "spans", "F"): 0.77,
    ("own opinions", "typed", "F"): 0.45,
    ("own pairs", "right"): 0.72,
    ("inferences", "right"): 0.70,
}

Figures = dict[str, Any]


def own(name: str, part: str) -> Iterator[rows.Row]:
    """Yield our own rows of a set."""
    return rows.lines(OWN / f"{name}.{part}.jsonl.xz")


def handed_on() -> Iterator[rows.Row]:
    """Yield messages with bare pastes, but for drafts, which they label otherwise."""
    with (ROOT / "bench" / "voices.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["part"] == "built with" and row["kind"] not in DRAFTS:
                yield row


def reader_sources(
    open_corpora: corpora.Corpora, shares: Mapping[str, float]
) -> dict[str, tuple[float, Sequence[Any]]]:
    """Return what the reader is trained on, each source with its share."""
    trees = corpora.treebank(open_corpora, "train")
    labelled = messages.labelled(open_corpora, "train") if "said" in shares else ()
    typed = [messages.said(*one) for one in labelled]
    sources: dict[str, Sequence[Any]] = {
        "tree": [[rows.named(s) for s in document] for document in trees],
        "names": [rows.named(s) for s in corpora.names(open_corpora, "train")],
        "chats": [rows.chat(r) for r in own("chats", "train")],
        "opinions": [rows.opinion(r) for r in own("opinions", "train")],
        # of those whose writer says nothing of themselves, nobody knows whose words they are
        "said": [row for row in typed if "foreign" in row],
        "silent": [row for row in typed if "foreign" not in row],
        "own names": [rows.name(r) for r in own("names", "train")],
        "prompts": [rows.prompt(r) for r in own("prompts", "train")],
        "voices": [rows.voice(r) for r in own("voices", "train")]
        + [rows.handed_on(r) for r in handed_on()],
        "unlabelled": [rows.unlabelled(text) for text in unlabelled()],
    }
    return {name: (share, sources[name]) for name, share in shares.items() if sources[name]}


def unlabelled() -> Iterator[str]:
    """Yield texts of which our rows say nothing that the reader reads."""
    for row in own("pairs", "train"):
        yield from (row["old"], row["new"])
    for row in own("questions", "train"):
        yield row["text"]


def relater_sources(open_corpora: corpora.Corpora) -> dict[str, tuple[float, Sequence[Any]]]:
    """Return what the relater is trained on."""
    sources: dict[str, Sequence[Any]] = {
        "inferences": list(corpora.inferences(open_corpora, "train")),
        "pairs": [rows.pair(r) for r in own("pairs", "train")]
        + list(rows.told_of(own("pairs", "train"), random.Random(SEED))),
        "strangers": list(strange(own("pairs", "train"))),
        "claims": list(
            rows.claims([*own("claims", "train"), *own("talk", "train")], random.Random(SEED))
        ),
        "retold": list(rows.retold(list(own("pairs", "train")), random.Random(SEED))),
        "matters": [rows.matter(r) for r in own("questions", "train")] + asked_for_privacy(),
    }
    return {name: (RELATER_SHARES[name], found) for name, found in sources.items()}


def asked_for_privacy() -> list[rows.Row]:
    """Return the questions of the bench of privacy that rules may be made by."""
    with (ROOT / "bench" / "privacy.jsonl").open(encoding="utf-8") as lines:
        return [
            rows.matter({"text": row["q"], "send": not row["private"]})
            for row in map(json.loads, lines)
            if row["half"] == "built"
        ]


def strange(pairs: Iterator[rows.Row]) -> Iterator[rows.Row]:
    """Yield statements of pairs beside those of others that come nearest to them, writer by writer.

    Of two writers one may well say what another says, or what cannot hold beside it.
    """
    by_hand: dict[str, list[rows.Row]] = {}
    for row in pairs:
        by_hand.setdefault(row["a"].partition(".")[0], []).append(row)
    rng = random.Random(SEED)
    for written in by_hand.values():
        said = [
            (row[side], n, row["a"]) for n, row in enumerate(written) for side in ("old", "new")
        ]
        texts, mates, people = zip(*said, strict=True)
        vectors = bundled().embed(texts)
        yield from rows.strangers(texts, mates, people, vectors, rng, near=NEAR, far=FAR)


def measure_reader(net: network.Reader, open_corpora: corpora.Corpora, pieces: Pieces) -> Figures:
    """Measure the reader on what it was not trained on."""
    documents = [
        [rows.named(s) for s in document] for document in corpora.treebank(open_corpora, "test")
    ]
    sentences = [rows.joined([s]) for document in documents for s in document]
    rng = random.Random(1)
    parts = [part for document in documents for part in train.parts_of(document, rng)]
    figures: Figures = {
        "trees": measure.tree_figures(sentences, measure.readings(net, sentences, pieces)),
        "trees of runs": measure.tree_figures(parts, measure.readings(net, parts, pieces)),
    }
    tested = list(corpora.names(open_corpora, "test"))
    for source in ("wnut17", "crossner", "btc"):
        some = [rows.named(r) for r in tested if r["source"] == source]
        read = measure.readings(net, some, pieces)
        figures[f"names {source}"] = measure.span_figures(some, read, "name", labels.NAME_TAGS)
    for name, made, key, tags in (
        ("opinions", rows.opinion, "opinion", labels.OPINION_TAGS),
        ("names", rows.name, "name", labels.NAME_TAGS),
        ("prompts", rows.prompt, "mark", labels.MARK_TAGS),
        ("voices", rows.voice, "foreign", labels.FOREIGN_TAGS),
    ):
        held = [made(r) for r in own(name, "held")]
        read = measure.readings(net, held, pieces)
        for bias in (0.0, 0.7, 1.4):
            found = measure.span_figures(held, read, key, tags, bias)
            figures[f"own {name}" + (f" bias {bias}" if bias else "")] = found
    held = [rows.chat(r) for r in own("chats", "held")]
    figures["own chats"] = measure.clause_figures(held, measure.readings(net, held, pieces))
    return figures


def measure_relater(net: network.Relater, open_corpora: corpora.Corpora, pieces: Pieces) -> Figures:
    """Measure the relater on what it was not trained on."""
    figures: Figures = {}
    inferences = list(corpora.inferences(open_corpora, "test"))[:2000]
    pairs = [rows.pair(r) for r in own("pairs", "held")]
    claims = [c for r in own("claims", "held") for c in rows.labelled(r)]
    talk = [c for r in own("talk", "held") for c in rows.labelled(r)]
    asked = [rows.matter(r) for r in own("questions", "held")]
    rng, changed = random.Random(SEED), list[Any]()
    for row in own("claims", "held"):
        said = rows.sentences(row["summary"])
        for sentence in said:
            changed += rows.changed(row["summary"], sentence, said, rng)
    for name, held, part, answers in (
        ("inferences", inferences, "inference", corpora.INFERENCES),
        ("own pairs", pairs, "relation", labels.PAIRS),
        ("own claims", claims, "support", ("false", "true")),
        ("own talk", talk, "support", ("false", "true")),
        ("own questions", asked, "matter", labels.MATTERS),
        ("own sentences, and one thing changed", changed, "support", ("false", "true")),
    ):
        chances = measure.pair_scores(net, held, pieces, part)
        wanted = [row[part] for row in held]
        figures[name] = measure.confusion(chances, wanted, answers)
    return figures


def made(
    kind: str,
    encoder: network.Encoder,
    open_corpora: corpora.Corpora,
    pieces: Pieces,
    options: argparse.Namespace,
) -> tuple[Any, Figures]:
    """Train one of the two networks, or take it as it was; return it with its figures."""
    is_reader = kind == "reader"
    net: Any = network.Reader(encoder) if is_reader else network.Relater(encoder)
    if options.start:
        before = options.start / f"{kind}.pt"
        if before.is_file():
            net.load_state_dict(torch.load(before), strict=False)
        elif before.with_suffix(".onnx").is_file():
            export.restore(net, options.start)
        else:
            raise make_embedder.MakeError(f"--start: there are no weights {before}, nor .onnx")
    if kind in options.train:
        loss: Callable[..., Any] = train.reader_loss if is_reader else train.relater_loss
        if is_reader:
            shares = ANCHORED_SHARES if options.anchor else READER_SHARES
            sources = reader_sources(open_corpora, shares)
            if options.anchor:
                anchor = copy.deepcopy(net)
                export.restore(anchor, options.anchor)
                loss = train.Anchor(anchor)
        else:
            sources = relater_sources(open_corpora)
        train.train(
            net,
            loss,
            sources,
            pieces,
            steps=STEPS[kind],
            seed=SEED,
            say=say,
            stop_after_s=options.minutes * 60,
            rate=options.rate,
        )
        if is_reader and options.anchor:
            mean_with(net, anchor, options.blend)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            torch.save(net.state_dict(), options.keep / f"{kind}.pt")
    weigh: Callable[..., Figures] = measure_reader if is_reader else measure_relater
    return net, weigh(net, open_corpora, pieces)


def mean_with(net: network.Reader, old: network.Reader, weight: float) -> None:
    """Take the weighted mean of a network and an older one, which is as good and drifts less."""
    before = old.state_dict()
    mixed = {name: torch.lerp(before[name], now, weight) for name, now in net.state_dict().items()}
    net.load_state_dict(mixed, strict=False)


def say(text: str) -> None:
    """Print at once: training is long."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def missed(figures: Mapping[str, Any]) -> list[str]:
    """Name the targets that figures do not reach."""
    wrong = []
    for path, least in TARGETS.items():
        value: Any = figures
        for key in path:
            value = value[key]
        if value < least:
            wrong.append(f"{' '.join(map(str, path))} is {value}, not at least {least}")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, and put the files where they ship from."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, default=Path.home() / ".cache" / "reader-corpora")
    parser.add_argument("--wheel", type=Path, help="the wheel of the embedder's float weights")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder of the reader's files")
    parser.add_argument("--train", nargs="*", default=["reader", "relater"], help="which to train")
    parser.add_argument("--start", type=Path, help="a folder of weights (.pt, .onnx) to go on from")
    parser.add_argument(
        "--anchor", type=Path, help="a written reader to be held to in what is not labelled"
    )
    parser.add_argument(
        "--blend", type=float, default=1.0, help="weight of the new beside --anchor"
    )
    parser.add_argument("--keep", type=Path, help="a folder to keep the trained float weights in")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="of each, at most")
    parser.add_argument("--rate", type=float, default=1.0, help="of learning, 1 for the usual one")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=("reader", "relater"), help="leave the other alone")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    open_corpora = corpora.Corpora(options.corpora)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        try:
            wheel = options.wheel or make_embedder.fetch_wheel(folder)
            source = make_embedder.read_source(wheel)
            tensors = make_embedder.read_safetensors(source["model.safetensors"])
            weights = make_embedder.layer_weights(tensors)
            segments = tensors["embeddings.token_type_embeddings.weight"]
            tokenizer = Tokenizer.from_str(source["tokenizer.json"].decode())
            tokenizer.no_padding()
            tokenizer.no_truncation()
            pieces = Pieces(tokenizer)
            out = folder / "out"
            out.mkdir()
            figures: Figures = {}
            for kind, write in (("reader", export.reader), ("relater", export.relater)):
                if options.only not in (None, kind):
                    continue
                encoder = network.Encoder(weights, segments)
                net, found = made(kind, encoder, open_corpora, pieces, options)
                figures |= found
                write(net.eval(), out)
            if options.only:  # the other one's stay as they ship
                shipped = json.loads((OUT / "reader.json").read_text(encoding="utf-8"))
                figures = {**shipped["figures"], **figures}
                for name in shipped["files"]:
                    if not (out / name).exists():
                        shutil.copyfile(OUT / name, out / name)
            written = json.dumps(figures, indent=1)
            figures = json.loads(written)  # a shipped file's figures have come the same way
            say(written)
            faults = missed(figures)
            if faults:
                raise make_embedder.MakeError("; ".join(faults))
            record = export.record(out, figures, make_embedder.DATA / "model.onnx")
        except (make_embedder.MakeError, corpora.CorpusError, rows.RowsError) as error:
            sys.stderr.write(f"make_reader: {error}\n")
            return 1
        say(record["version"])
        options.out.mkdir(parents=True, exist_ok=True)
        for path in out.iterdir():
            shutil.copyfile(path, options.out / path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
