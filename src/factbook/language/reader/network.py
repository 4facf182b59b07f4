"""Run the reader's networks: text to scores. docs/reader.md tells how they were made.

The weights of the words' table are the embedder's, read from its file where they lie; everything
else stands in `data/`. Loaded with the first text that is read; nothing is ever downloaded.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from factbook.embed.runtime import runtime
from factbook.errors import ReaderError
from factbook.language.reader.words import shape_of

if TYPE_CHECKING:
    import tokenizers

Floats = NDArray[np.float32]

DATA: Final = Path(__file__).with_name("data")
EMBEDDER: Final = Path(__file__).parents[2] / "embed" / "data"
MAX_TOKENS: Final = 256  # what the network has places for
AFTER_TOKENS: Final = 60  # read of the line that a text answers
WORD_TOKENS: Final = 12  # read of a word
CLS, SEP, UNKNOWN = 101, 102, 100


class Table:
    """The embedder's table of words: 8-bit rows with a scale each, where they lie in its file."""

    def __init__(self, path: Path, places: Mapping[str, Any]) -> None:
        """Map the table; nothing is read yet."""
        rows, scales = places["words.int8"], places["words.scales"]
        self._rows = np.memmap(
            path, np.int8, "r", offset=rows["offset"], shape=tuple(rows["shape"])
        )
        self._scales = np.memmap(
            path, np.float16, "r", offset=scales["offset"], shape=tuple(scales["shape"])
        )

    def of(self, ids: Sequence[int]) -> Floats:
        """Return the vectors of tokens, shape (tokens, 384)."""
        at = np.asarray(ids, np.int64)
        vectors: Floats = self._rows[at].astype(np.float32) * self._scales[at].astype(np.float32)
        return vectors


class Networks:
    """The two networks, each loaded when first asked; safe to share between threads."""

    def __init__(self, folder: Path = DATA, embedder: Path = EMBEDDER) -> None:
        """Read the record of the files; raises ReaderError where it cannot be read."""
        self._folder = folder
        self._embedder = embedder
        try:
            self.record: dict[str, Any] = orjson.loads((folder / "reader.json").read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise ReaderError(reason=f"{folder / 'reader.json'}: {error}") from error
        self._lock = threading.Lock()
        self._sessions: dict[str, Any] = {}
        self._pieces: dict[str, list[int]] = {}

    @property
    def version(self) -> str:
        """The reader's name; it changes with its weights."""
        version: str = self.record["version"]
        return version

    @functools.cached_property
    def table(self) -> Table:
        """The words' vectors."""
        return Table(self._embedder / "model.onnx", self.record["words"])

    @functools.cached_property
    def tokenizer(self) -> tokenizers.Tokenizer:
        """The embedder's tokenizer, without its limits."""
        import tokenizers

        made = tokenizers.Tokenizer.from_file(str(self._embedder / "tokenizer.json"))
        made.no_truncation()
        made.no_padding()
        return made

    @functools.cached_property
    def small(self) -> dict[str, Floats]:
        """The matrices that read clauses."""
        with np.load(self._folder / "clauses.npz") as file:
            return {name: file[name].astype(np.float32) for name in file.files}

    def session(self, name: str) -> Any:
        """Return a network of ONNX, loaded once."""
        with self._lock:
            if name not in self._sessions:
                self._sessions[name] = self._load(name)
            return self._sessions[name]

    def _load(self, name: str) -> Any:
        path, expected = self._folder / name, self.record["files"][name]["bytes"]
        try:
            size = path.stat().st_size
        except OSError as error:
            raise ReaderError(reason=f"{path} cannot be read: {error.strerror}") from error
        if size != expected:
            raise ReaderError(reason=f"{path} has {size:,} bytes, not {expected:,}")
        onnxruntime = runtime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_mem_pattern = False
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def pieces(self, word: str) -> list[int]:
        """Return the tokens of a word, at most 12."""
        ids = self._pieces.get(word)
        if ids is None:
            ids = self.tokenizer.encode(word, add_special_tokens=False).ids[:WORD_TOKENS]
            ids = ids or [UNKNOWN]
            if len(self._pieces) > 50_000:  # of words that people type; a log's are endless
                self._pieces.clear()
            self._pieces[word] = ids
        return ids

    def words(self, words: Sequence[str], after: Sequence[str] = ()) -> dict[str, Floats]:
        """Return the scores of a text's words, shape (words, labels) each, and what trees need.

        At most as many words are read as fit `MAX_TOKENS`; cut the text before. `after` is the line
        that the text answers.
        """
        ids, shapes, first = [CLS], [0], []
        for word in words:
            pieces = self.pieces(word)
            if len(ids) + len(pieces) >= MAX_TOKENS - 1:
                break
            first.append(len(ids))
            ids += pieces
            shapes += [shape_of(word)] * len(pieces)
        ids.append(SEP)
        shapes.append(0)
        segments = [0] * len(ids)
        more = [piece for word in after for piece in self.pieces(word)][
            : max(0, min(AFTER_TOKENS, MAX_TOKENS - len(ids) - 1))
        ]
        if more:
            ids += [*more, SEP]
            shapes += [0] * (len(more) + 1)
            segments += [1] * (len(more) + 1)
        session = self.session("reader.onnx")
        names = [output.name for output in session.get_outputs()]
        values = session.run(
            names,
            {
                "words": self.table.of(ids)[None],
                "shapes": np.array([shapes], np.int64),
                "segments": np.array([segments], np.int64),
                "first": np.array(first, np.int64),
            },
        )
        return {name: value[0] for name, value in zip(names, values, strict=True)}

    def pair(self, first: str, second: str) -> dict[str, Floats]:
        """Return the scores of two texts read at once, one row of labels for each question."""
        b = self.tokenizer.encode(second, add_special_tokens=False).ids[:80]
        a = self.tokenizer.encode(first, add_special_tokens=False).ids[: 247 - len(b)]
        ids = [CLS, *a, SEP, *b, SEP]
        session = self.session("relater.onnx")
        names = [output.name for output in session.get_outputs()]
        values = session.run(
            names,
            {
                "words": self.table.of(ids)[None],
                "shapes": np.zeros((1, len(ids)), np.int64),
                "segments": np.array([[0] * (len(a) + 2) + [1] * (len(b) + 1)], np.int64),
            },
        )
        return {name: value[0] for name, value in zip(names, values, strict=True)}


@functools.cache
def shared() -> Networks:
    """Return the one pair of networks of this process."""
    return Networks()
