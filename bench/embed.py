"""Measure the embedder: texts a second, beside the float32 model in onnxruntime, and its start.

    python -m bench.embed [--short N] [--long N] [--repeat N] [--json]

The texts are generated: short ones of about 12 words and long ones of about 180, each list of mixed
lengths in mixed order. Two baselines run the float32 weights, dequantised from the shipped file
(numerically the same cost as the original ones), through the same network:

- `float_plain`: the usual way to run such a model, onnxruntime with its default options and all
  processors, batches of 32 in the given order, padded to the longest of each.
- `float_same_runs`: factbook's own runs of equal lengths, with the float32 file in place of the
  8-bit one. It shows what the 8-bit weights cost in speed.

All take turns, and the best of the repeats counts. `cold_ms` is a new process from its start to its
first vector; `load_ms` is the part of it that makes the embedder ready, imports of numpy and
onnxruntime included.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench._common import BenchError, emit, print_table, run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Embed = Callable[[Sequence[str]], NDArray[np.float32]]

WORDS = {"short": (8, 16), "long": (120, 240)}  # fewest and most words of a text
PLAIN_BATCH = 32

_COLD = """
import sys, time
began = time.perf_counter()
from pathlib import Path
from factbook.embed.minilm import BundledEmbedder
embedder = BundledEmbedder(folder=Path(sys.argv[1]))
embedder.load()
loaded = time.perf_counter()
embedder.embed(["Which hosts did I connect to last week?"])
print((loaded - began) * 1000)
"""


def texts_of(kind: str, count: int) -> list[str]:
    """Generate texts of a kind, the same ones at each run, of words from the model's own proof."""
    from scripts.make_embedder import proof_texts

    words = [word for word in " ".join(proof_texts()).split() if len(word) < 20]
    rng = random.Random(kind)
    return [" ".join(rng.choices(words, k=rng.randint(*WORDS[kind]))) for _ in range(count)]


def write_float_files(model: Path, folder: Path) -> Path:
    """Write the float32 models: one in place of the shipped file, and one that takes padding."""
    try:
        from scripts.make_embedder import build, dequantised_weights

        weights = dequantised_weights(model)
    except ImportError as error:
        raise BenchError(f"the float baseline needs onnx ({error}); pip install onnx") from error
    data = build(weights, quantised=False).SerializeToString()
    (folder / "model.onnx").write_bytes(data)
    record = json.loads(model.with_name("model.json").read_text(encoding="utf-8"))
    record["files"]["model.onnx"]["bytes"] = len(data)
    (folder / "model.json").write_text(json.dumps(record), encoding="utf-8")
    shutil.copyfile(model.with_name("tokenizer.json"), folder / "tokenizer.json")
    padded = folder / "padded.onnx"
    padded.write_bytes(build(weights, quantised=False, padded=True).SerializeToString())
    return padded


def plain(padded: Path, tokenizer_file: Path) -> Embed:
    """Return the plain way to embed with a float32 model in onnxruntime."""
    import numpy as np
    from tokenizers import Tokenizer

    from factbook.embed.runtime import runtime

    session = runtime().InferenceSession(str(padded), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.enable_padding()

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        parts = []
        for begin in range(0, len(texts), PLAIN_BATCH):
            batch = tokenizer.encode_batch(list(texts[begin : begin + PLAIN_BATCH]))
            feed = {
                "ids": np.array([one.ids for one in batch], np.int64),
                "mask": np.array([one.attention_mask for one in batch], np.int64),
            }
            parts.append(session.run(None, feed)[0])
        return np.concatenate(parts)

    return embed


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def cold(folder: Path, repeat: int) -> tuple[float, float]:
    """Return the milliseconds of a new process to its first vector, and of loading in it."""
    wholes, loads = [], []
    for _ in range(repeat):
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", _COLD, str(folder)], check=True, capture_output=True, text=True
        )
        wholes.append((time.perf_counter() - began) * 1000)
        loads.append(float(done.stdout))
    return min(wholes), min(loads)


def measure(counts: dict[str, int], repeat: int) -> dict[str, Any]:
    """Measure the product and the baselines in turns; return the figures."""
    import factbook.embed.minilm as product_module
    from factbook.embed.minilm import BundledEmbedder

    data = Path(product_module.__file__).with_name("data")
    product = BundledEmbedder()
    figures: dict[str, Any] = {"model": product.id, "threads": product.threads}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        padded = write_float_files(data / "model.onnx", folder)
        ways: dict[str, Embed] = {
            "product": product.embed,
            "float_plain": plain(padded, data / "tokenizer.json"),
            "float_same_runs": BundledEmbedder(folder=folder).embed,
        }
        for kind, count in counts.items():
            texts = texts_of(kind, count)
            vectors = {name: embed(texts[:PLAIN_BATCH]) for name, embed in ways.items()}
            best = dict.fromkeys(ways, float("inf"))
            for _ in range(repeat):
                for name, embed in ways.items():
                    best[name] = min(best[name], seconds(partial(embed, texts)))
            agree = vectors["product"] * vectors["float_plain"]
            figures[kind] = {
                "texts": count,
                "words": round(sum(len(text.split()) for text in texts) / count, 1),
                "texts_per_s": count / best["product"],
                "baseline": {name: count / best[name] for name in ways if name != "product"},
                "ratio_to_float_plain": best["float_plain"] / best["product"],
                "cosine_to_float_plain": float(agree.sum(axis=1).mean()),
            }
        question = texts_of("short", 1)
        times = [seconds(partial(product.embed, question)) for _ in range(30)]
        figures["one_text_ms"] = statistics.median(times) * 1000
        folders = {"product": data, "float_same_runs": folder}
        starts = {name: cold(each, max(3, repeat)) for name, each in folders.items()}
        figures["cold_ms"] = {name: whole for name, (whole, _) in starts.items()}
        figures["load_ms"] = {name: load for name, (_, load) in starts.items()}
        figures["model_mb"] = {
            name: (each / "model.onnx").stat().st_size / 1e6 for name, each in folders.items()
        }
    return figures


def main() -> int:
    """Measure, print the tables, and leave the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.embed", description=__doc__)
    parser.add_argument("--short", type=int, default=512, help="how many short texts")
    parser.add_argument("--long", type=int, default=64, help="how many long texts")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if min(given.short, given.long, given.repeat) < 1:
        raise BenchError("--short, --long and --repeat are counts; give 1 or more for each")
    figures = measure({"short": given.short, "long": given.long}, given.repeat)
    if not given.json:
        rows = [
            {
                "texts": f"{kind}, {figures[kind]['words']:g} words",
                "factbook, texts/s": figures[kind]["texts_per_s"],
                "float32 plain": figures[kind]["baseline"]["float_plain"],
                "float32, same runs": figures[kind]["baseline"]["float_same_runs"],
            }
            for kind in WORDS
        ]
        print_table(f"Embedding, {figures['threads']} threads", rows)
        starts = [
            {"start": name, "factbook": one["product"], "float32": one["float_same_runs"]}
            for name, one in (
                ("new process to its first vector, ms", figures["cold_ms"]),
                ("loading the model in it, ms", figures["load_ms"]),
                ("size of the model, MB", figures["model_mb"]),
            )
        ]
        print_table(f"Start; then one question takes {figures['one_text_ms']:.1f} ms", starts)
    emit(figures, part="embed", as_json=given.json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
