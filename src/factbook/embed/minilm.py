"""Run the embedding model that ships with the package: all-MiniLM-L6-v2 with 8-bit weights.

docs/embedder.md tells how the files in `data/` were made, how faithful they are, and what was tried
and rejected; `scripts/make_embedder.py` makes them. Nothing is ever downloaded.
"""

from __future__ import annotations

import functools
import hashlib
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from factbook.embed.runtime import SessionError, check_size, open_session, runtime
from factbook.errors import EmbedderError
from factbook.net import cancel

if TYPE_CHECKING:
    import numpy as np
    import onnxruntime
    import tokenizers
    from numpy.typing import NDArray

    from factbook.embed.words import WordTable

MAX_CHARS: Final = 8192  # what is read of a text; 256 tokens of prose are about 1,200 characters
MAX_THREADS: Final = 4  # the default; more help little, and a memory is seldom alone on a machine
BATCH_TOKENS: Final = 512  # in one run of the model: larger batches are no faster, only larger
UNKNOWN: Final = "[UNK]"  # the token of a word that the vocabulary cannot spell
TOKENISE_TEXTS: Final = 1024  # tokenised at once, so that memory stays bounded for any list

ASKER: Final = "asker.json"  # the record of the network of questions
_DATA: Final = Path(__file__).with_name("data")
_SHARED_LOCK: Final = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    session: onnxruntime.InferenceSession  # onnxruntime allows many runs at a time
    tokenizer: tokenizers.Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asker:
    """The network of questions; it takes the vectors of words from the model's file."""

    session: onnxruntime.InferenceSession
    tokenizer: tokenizers.Tokenizer
    words: WordTable


class BundledEmbedder:
    """Embed texts with the model in the package; safe to share between threads.

    A text is read up to its first 8,192 characters and, of these, up to the model's 256 tokens.
    Lone surrogates and control characters are skipped; case and accents make no difference.
    """

    def __init__(self, *, threads: int | None = None, folder: Path = _DATA) -> None:
        """Read the model's record; the model itself is loaded with the first text.

        `threads` is how many runs of the model go on at once, else as many as there are processors
        for this process, up to 4. Raises `EmbedderError` when the model's record is missing.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"threads is {threads}; give 1 or more, or None for the default")
        self._threads = threads or min(MAX_THREADS, _processors())
        self._folder = folder
        record = _read_record(folder)
        self._id: str = record["id"]
        self._dim: int = record["dim"]
        self._files: dict[str, dict[str, Any]] = record["files"]
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._asker: _Asker | None = None

    def __repr__(self) -> str:
        return f"BundledEmbedder({self._id!r}, threads={self._threads})"

    @property
    def id(self) -> str:
        """The model's name: changes with its weights, its tokenisation and `MAX_CHARS`."""
        return self._id

    @property
    def dim(self) -> int:
        """How many numbers a vector has: 384."""
        return self._dim

    @property
    def threads(self) -> int:
        """How many runs of the model go on at once."""
        return self._threads

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text, in their order: shape (texts, 384), each of length 1.

        A row depends on its own text alone, not on the others of the call. Raises `EmbedderError`
        when the model cannot be loaded, and `Cancelled`, within a run, where the caller is told to
        stop (`factbook.net.cancel`).
        """
        _check_list(texts)
        import numpy as np

        vectors = np.empty((len(texts), self._dim), np.float32)
        if not texts:
            return vectors
        loaded = self._load()
        for begin in range(0, len(texts), TOKENISE_TEXTS):
            chunk = [readable(text) for text in texts[begin : begin + TOKENISE_TEXTS]]
            encodings = loaded.tokenizer.encode_batch_fast(chunk)
            ids = [encoding.ids for encoding in encodings]
            self._run(loaded.session, ids, vectors[begin : begin + len(chunk)])
        return vectors

    def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each question, of the space that `embed` puts records in.

        Shape (questions, 384), each of length 1. A question rarely says what its answer says: a
        copy of the model was trained to put it near the records that answer it
        (docs/embedder.md). Raises as `embed` does.
        """
        _check_list(questions)
        import numpy as np

        vectors = np.empty((len(questions), self._dim), np.float32)
        if not questions:
            return vectors
        asker = self._load_asker()
        with _stoppable() as run:
            for row, question in enumerate(questions):
                ids = asker.tokenizer.encode(readable(question)).ids
                vectors[row] = run(asker.session, {"words": asker.words.of(ids)[None]})[0]
        return vectors

    def load(self) -> None:
        """Load the model now, so that the first text does not wait for it.

        Useful in a thread while a program starts: most of the work holds no lock of Python's.
        Raises `EmbedderError` when the model cannot be loaded.
        """
        self._load()

    def verify(self) -> None:
        """Compare the model's files with their recorded checksums; raises `EmbedderError`."""
        for name, recorded in {**self._files, **_read_record(self._folder, ASKER)["files"]}.items():
            self._verified(name, recorded)

    def _run(
        self,
        session: onnxruntime.InferenceSession,
        ids: list[list[int]],
        out: NDArray[np.float32],
    ) -> None:
        """Embed token ids into the rows of `out`.

        Only texts of the same number of tokens share a run. So there is no padding to compute, and
        none that a text's vector could depend on; as 128 tokens already fill the processor, the
        small batches cost nothing.
        """
        import numpy as np

        by_length: defaultdict[int, list[int]] = defaultdict(list)
        for row, text_ids in enumerate(ids):
            by_length[len(text_ids)].append(row)
        batches = []
        for length in sorted(by_length, reverse=True):  # the longest runs first, none straggles
            rows, size = by_length[length], max(1, BATCH_TOKENS // length)
            batches += [rows[i : i + size] for i in range(0, len(rows), size)]

        with _stoppable() as run_once:

            def run(rows: list[int]) -> None:
                feed = np.array([ids[row] for row in rows], np.int64)
                out[rows] = run_once(session, {"ids": feed})

            if self._threads == 1 or len(batches) == 1:
                for rows in batches:
                    run(rows)
                return
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(min(self._threads, len(batches))) as pool:
                for _ in pool.map(run, batches):
                    pass

    def _load(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = self._read_model()
        return self._loaded

    def _load_asker(self) -> _Asker:
        if self._asker is None:
            with self._lock:
                if self._asker is None:
                    self._asker = self._read_asker()
        return self._asker

    def _read_asker(self) -> _Asker:
        from factbook.embed.words import WordTable

        record = _read_record(self._folder, ASKER)
        if record["words"]["embedder_sha256"] != self._files["model.onnx"]["sha256"]:
            raise EmbedderError(reason=f"{self._folder / ASKER} belongs to another model.onnx")
        # what lies in a file of another length lies elsewhere
        path = self._folder / "model.onnx"
        try:
            check_size(path, self._files["model.onnx"]["bytes"])
        except SessionError as error:
            raise EmbedderError(reason=f"{error}") from error
        loaded = self._loaded
        return _Asker(
            session=self._read_session("asker.onnx", record["files"]["asker.onnx"]["bytes"]),
            tokenizer=self.read_tokenizer() if loaded is None else loaded.tokenizer,
            words=WordTable(path, record["words"]),
        )

    def _read_model(self) -> _Loaded:
        from concurrent.futures import ThreadPoolExecutor

        asker = self._asker
        with ThreadPoolExecutor(1) as pool:  # side by side: onnxruntime needs no lock of Python's
            tokenizer = pool.submit(
                self.read_tokenizer if asker is None else lambda: asker.tokenizer
            )
            session = self._read_session("model.onnx", self._files["model.onnx"]["bytes"])
            return _Loaded(session=session, tokenizer=tokenizer.result())

    def read_tokenizer(self) -> tokenizers.Tokenizer:
        """Return a tokenizer of its own for the caller; raises `EmbedderError`."""
        # the library raises bare exceptions, for which a file of the right checksum gives no cause
        data = self._verified("tokenizer.json", self._files["tokenizer.json"])
        try:
            import tokenizers
        except ImportError as error:
            raise EmbedderError(reason=f"{error}") from error
        return tokenizers.Tokenizer.from_buffer(data)

    def _read_session(self, name: str, size: int) -> onnxruntime.InferenceSession:
        try:
            return open_session(self._folder / name, size)
        except SessionError as error:
            raise EmbedderError(reason=f"{error}") from error

    def _verified(self, name: str, recorded: Mapping[str, Any]) -> bytes:
        path = self._folder / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise EmbedderError(reason=_unreadable(path, error)) from error
        if hashlib.sha256(data).hexdigest() != recorded["sha256"]:
            raise EmbedderError(reason=f"{path} does not have its recorded checksum")
        return data


@contextmanager
def _stoppable() -> Iterator[Callable[[Any, Mapping[str, Any]], Any]]:
    """Give what runs a network once: its first output. It stops within a run when told to.

    Any thread may call it; who tells is asked in the thread that enters.
    """
    ort = runtime()
    fail: type[Exception] = ort.capi.onnxruntime_pybind11_state.Fail
    token = cancel.current()  # of the caller: the threads of a pool obey none
    options = ort.RunOptions()

    def stop() -> None:
        options.terminate = True

    def run(session: onnxruntime.InferenceSession, feed: Mapping[str, Any]) -> Any:
        if token is not None:
            token.check()
        try:
            return session.run(None, feed, options)[0]
        except fail:
            if token is not None:
                token.check()
            raise

    with nullcontext() if token is None else token.on_cancel(stop):
        yield run


def _check_list(texts: Sequence[str]) -> None:
    if isinstance(texts, str):
        raise TypeError("a list of texts is embedded, not one text; put it in a list")


def shared() -> BundledEmbedder:
    """Return the one embedder of this process."""
    with _SHARED_LOCK:  # two threads that ask first must not load two models
        return _shared()


@functools.cache
def _shared() -> BundledEmbedder:
    return BundledEmbedder()


@functools.cache
def token_counter() -> Callable[[str], int]:
    """Return a function that counts the tokens of a text, however long it is.

    A word that the vocabulary cannot spell (over 100 characters, an emoji, a rare script) is one
    token to this model and many to others; it counts as one for every four ASCII characters begun
    and one for each other character.
    """
    tokenizer = shared().read_tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    unknown = tokenizer.token_to_id(UNKNOWN)

    def count(text: str) -> int:
        if not text:
            return 0
        text = _encodable(text)
        encoding = tokenizer.encode(text, add_special_tokens=False)
        total = len(encoding.ids)
        if unknown in encoding.ids:
            for token_id, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
                if token_id == unknown:
                    other = sum(char > "\x7f" for char in text[start:end])
                    total += other + (end - start - other + 3) // 4 - 1
        return total

    return count


def readable(text: str) -> str:
    """Cut a text to what is read of it, and replace what has no UTF-8 form.

    A pair of surrogates becomes the character it stands for; a lone one becomes U+FFFD, which the
    tokenizer skips.
    """
    return _encodable(text[:MAX_CHARS])


def _encodable(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_record(folder: Path, name: str = "model.json") -> dict[str, Any]:
    path = folder / name
    try:
        record: dict[str, Any] = orjson.loads(path.read_bytes())
    except OSError as error:
        raise EmbedderError(reason=_unreadable(path, error)) from error
    except orjson.JSONDecodeError as error:
        raise EmbedderError(reason=f"{path} is not JSON: {error}") from error
    return record


def _unreadable(path: Path, error: OSError) -> str:
    return f"{path} cannot be read: {error.strerror or error}"
