"""Run the reader's networks: text to scores. docs/reader.md tells how they were made.

The weights of the words' table are the embedder's, read from its file where they lie; everything
else stands in `data/`. Loaded with the first text that is read; nothing is ever downloaded.
"""

from __future__ import annotations

import functools
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from factbook.embed.runtime import SessionError, open_session
from factbook.embed.words import EMBEDDER, WordTable
from factbook.errors import ReaderError
from factbook.language.reader.boosted import Boosted
from factbook.language.reader.layer import Layer
from factbook.language.reader.pieces import Numbers, Pieces

Floats = NDArray[np.float32]

DATA: Final = Path(__file__).with_name("data")


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

    @property
    def version(self) -> str:
        """The reader's name; it changes with its weights."""
        version: str = self.record["version"]
        return version

    @property
    def checksum(self) -> str:
        """The checksums of the network that reads, to which belongs what was learned of it."""
        files = self.record["files"]
        return " ".join(files[name]["sha256"] for name in ("reader.onnx", "clauses.npz"))

    @property
    def checksum_of_pairs(self) -> str:
        """The checksums of both networks, to which belongs what was learned of two texts."""
        return f"{self.checksum} {self.record['files']['relater.onnx']['sha256']}"

    @functools.cached_property
    def table(self) -> WordTable:
        """The words' vectors."""
        return WordTable(self._embedder / "model.onnx", self.record["words"])

    @functools.cached_property
    def pieces(self) -> Pieces:
        """The embedder's pieces of words."""
        import tokenizers

        made = tokenizers.Tokenizer.from_file(str(self._embedder / "tokenizer.json"))
        made.no_truncation()
        made.no_padding()
        return Pieces(made)

    @functools.cached_property
    def small(self) -> dict[str, Floats]:
        """The matrices that read clauses."""
        held = self._arrays("clauses.npz")
        return {name: array.astype(np.float32) for name, array in held.items()}

    @functools.cached_property
    def standing(self) -> Layer:
        """What tells rules and decisions."""
        return Layer(self._layer("standing"))

    @functools.cached_property
    def taste(self) -> Layer:
        """What tells likes and dislikes."""
        return Layer(self._layer("taste"))

    @functools.cached_property
    def worth(self) -> Layer:
        """What tells what is worth knowing in a month."""
        return Layer(self._layer("worth"))

    @functools.cached_property
    def breaches(self) -> Layer:
        """What tells claims that are no memory of their type."""
        return Layer(self._layer("breaches"))

    @functools.cached_property
    def related(self) -> Boosted:
        """What tells how two statements stand to each other."""
        held = self._arrays("related.npz")
        if str(held["reader"]) != self.checksum_of_pairs:
            raise ReaderError(
                reason=f"{self._folder / 'related'}.npz was learned of other networks; "
                "run scripts/train_related.py"
            )
        return Boosted(held)

    def _layer(self, name: str) -> dict[str, NDArray[Any]]:
        """Return what was learned of the network; ReaderError where it was of another one."""
        held = self._arrays(f"{name}.npz")
        if str(held["reader"]) != self.checksum:
            raise ReaderError(
                reason=f"{self._folder / name}.npz was learned of another reader.onnx; "
                f"run scripts/train_{'layers' if name in ('taste', 'worth') else name}.py"
            )
        return held

    def _arrays(self, name: str) -> dict[str, NDArray[Any]]:
        path = self._folder / name
        try:
            with np.load(path) as file:
                return dict(file)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ReaderError(reason=f"{path}: {error}") from error

    def session(self, name: str) -> Any:
        """Return a network of ONNX, loaded once."""
        with self._lock:
            if name not in self._sessions:
                self._sessions[name] = self._load(name)
            return self._sessions[name]

    def _load(self, name: str) -> Any:
        try:
            return open_session(self._folder / name, self.record["files"][name]["bytes"])
        except SessionError as error:
            raise ReaderError(reason=f"{error}") from error

    def words(self, words: Sequence[str], after: Sequence[str] = ()) -> dict[str, Floats]:
        """Return the scores of a text's words, shape (words, labels) each, and what trees need.

        At most as many words are read as fit; cut the text before. `after` is the line
        that the text answers.
        """
        numbers = self.pieces.text(words, after)
        return self._run("reader.onnx", numbers, first=np.array(numbers.first, np.int64))

    def pair(self, first: str, second: str) -> dict[str, Floats]:
        """Return the scores of two texts read at once, one row of labels for each question."""
        return self._run("relater.onnx", self.pieces.pair(first, second))

    def _run(self, name: str, numbers: Numbers, **more: NDArray[np.int64]) -> dict[str, Floats]:
        session = self.session(name)
        names = [output.name for output in session.get_outputs()]
        values = session.run(
            names,
            {
                "words": self.table.of(numbers.ids)[None],
                "shapes": np.array([numbers.shapes], np.int64),
                "segments": np.array([numbers.segments], np.int64),
                **more,
            },
        )
        return {name: value[0] for name, value in zip(names, values, strict=True)}


@functools.cache
def shared() -> Networks:
    """Return the one pair of networks of this process."""
    return Networks()
