"""Embed texts by an endpoint: Ollama, OpenAI, or what is compatible with it (Gemini, llama.cpp).

What comes back is believed only as far as it can be checked: as many vectors as texts, each of the
dimension that was named, finite and not zero. They are normalised here, as servers differ in that.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from factbook.errors import EmbedderError, ModelFailure
from factbook.net.http import Endpoint, Failed, encodable, said_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A token is at least a byte: so much fits OpenAI's 8,191 tokens, whatever the language. What a
# smaller model does not read of it, its server cuts off.
MAX_BYTES: Final = 8_000
REQUEST_BYTES: Final = 200_000  # of all texts of a request; OpenAI takes 300,000 tokens
EMPTY: Final = "(empty)"  # sent for a text of white space: most servers refuse an empty one
MAX_DIM: Final = 65_536
_NUMBER_BYTES: Final = 32  # a number as JSON, with room for indentation
_FRAME_BYTES: Final = 64 * 1024


class EmbedEndpointError(EmbedderError):
    """The embedding endpoint {endpoint} gave no usable vectors ({kind}: {reason}); see `factbook doctor --llm`, or go on with text search alone by --no-embed."""  # noqa: E501


class Watch(Protocol):
    """Is told of every request: for the meter, which belongs to the language model's side."""

    def before(self) -> None:
        """Let a request begin; raises EmbedderError where it may not."""

    def after(
        self, *, latency_ms: float, outcome: str, tokens: int | None, sent_bytes: int
    ) -> None:
        """Count a request, however it ended; `tokens` is None where the reply did not say."""


class EndpointEmbedder:
    """An embedding model behind an endpoint; safe to share between threads."""

    def __init__(
        self,
        *,
        provider: str,
        model: str,
        endpoint: Endpoint,
        dim: int,
        ask_dim: bool = False,
        timeout_s: float,
        batch: int,
        keep_alive: str | int = "5m",
        watch: Watch | None = None,
    ) -> None:
        """Name an embedder; nothing is sent yet.

        `provider` is ollama, openai or gemini; `dim` is what is expected of every vector, and with
        `ask_dim` also asked for; `timeout_s` is the total deadline of one request of at most
        `batch` texts.
        """
        if not 1 <= dim <= MAX_DIM:
            raise ValueError(f"dim is {dim}; give 1 to {MAX_DIM:,}")
        if batch < 1:
            raise ValueError(f"batch is {batch}; give 1 or more")
        self._model = model
        self._provider = provider
        self._endpoint = endpoint
        self._dim = dim
        self._ask_dim = ask_dim
        self._timeout_s = timeout_s
        self._batch = batch
        self._keep_alive = keep_alive
        self._watch = watch

    @classmethod
    def open(
        cls,
        *,
        provider: str,
        model: str,
        endpoint: Endpoint,
        dim: int | None,
        ask_dim: bool = False,
        timeout_s: float,
        batch: int,
        keep_alive: str | int = "5m",
        watch: Watch | None = None,
    ) -> EndpointEmbedder:
        """Return an embedder; where `dim` is not known, one request finds it out.

        Raises EmbedderError where that request fails.
        """
        made = cls(
            provider=provider,
            model=model,
            endpoint=endpoint,
            dim=dim or MAX_DIM,
            ask_dim=ask_dim and dim is not None,
            timeout_s=timeout_s,
            batch=batch,
            keep_alive=keep_alive,
            watch=watch,
        )
        if dim is None:
            made._dim = made._ask([EMPTY], dim=None).shape[1]
        return made

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self.id!r}, {self._endpoint.address.url!r})"

    @property
    def id(self) -> str:
        """The model's name: "ollama:nomic-embed-text@768".

        It says what the configuration says. Where a server moves another model under the same
        name, only a new name in the configuration makes factbook embed again.
        """
        return f"{self._provider}:{self._model}@{self._dim}"

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        return self._dim

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text, in their order: shape (texts, dim), each of length 1.

        A text is read up to its first 8,000 bytes of UTF-8. Raises EmbedderError; then nothing of
        the whole call is returned.
        """
        if isinstance(texts, str):
            raise TypeError("embed takes a list of texts, not one text; put it in a list")
        import numpy as np

        vectors = np.empty((len(texts), self._dim), np.float32)
        at = 0
        for batch in self._batches(texts):
            vectors[at : at + len(batch)] = self._ask(batch, dim=self._dim)
            at += len(batch)
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for text in texts:
            readable = _readable(text)
            length = len(readable.encode())
            if batch and (len(batch) == self._batch or size + length > REQUEST_BYTES):
                yield batch
                batch, size = [], 0
            batch.append(readable)
            size += length
        if batch:
            yield batch

    def _ask(self, texts: Sequence[str], *, dim: int | None) -> NDArray[np.float32]:
        """Send one request; return as many rows as texts, each of length 1 and of `dim` numbers."""
        if self._watch is not None:
            self._watch.before()
        begun = time.perf_counter()
        outcome, tokens = "interrupted", None
        sent = sum(len(text.encode()) for text in texts)
        try:
            reply = self._endpoint.send(
                "/api/embed" if self._provider == "ollama" else "/embeddings",
                self._request(texts),
                timeout_s=self._timeout_s,
                max_bytes=_FRAME_BYTES + len(texts) * self._dim * _NUMBER_BYTES,
            )
            if not reply.ok:
                said = said_in(reply.body)
                reason = f"status {reply.status}" + (f": {said}" if said else "")
                raise Failed(ModelFailure.HTTP, reason, unread=True)
            answer = _object(reply.body)
            tokens = _tokens(answer)
            vectors = _unit(self._rows(answer, len(texts)), dim)
            outcome = "ok"
        except Failed as failed:
            outcome = failed.kind
            sent = 0 if failed.unread else sent
            raise self._error(failed.kind, failed.reason) from failed
        finally:
            if self._watch is not None:
                self._watch.after(
                    latency_ms=(time.perf_counter() - begun) * 1000,
                    outcome=str(outcome),
                    tokens=tokens,
                    sent_bytes=sent,
                )
        return vectors

    def _request(self, texts: Sequence[str]) -> dict[str, object]:
        body: dict[str, object] = {"model": self._model, "input": list(texts)}
        if self._provider == "ollama":
            body["truncate"] = True
            body["keep_alive"] = self._keep_alive
        else:
            body["encoding_format"] = "float"
        if self._ask_dim:
            body["dimensions"] = self._dim
        return body

    def _rows(self, answer: dict[str, Any], count: int) -> list[list[float]]:
        rows: Any = answer.get("embeddings") if self._provider == "ollama" else _in_order(answer)
        if not isinstance(rows, list) or len(rows) != count:
            got = f"{len(rows):,} vectors" if isinstance(rows, list) else "no vectors"
            raise Failed(ModelFailure.SCHEMA, f"there are {got} for {count:,} texts")
        found_rows: list[list[float]] = rows
        for row in rows:
            if not isinstance(row, list) or not all(
                isinstance(number, int | float) and not isinstance(number, bool) for number in row
            ):
                raise Failed(ModelFailure.SCHEMA, "a vector is not a list of numbers")
        return found_rows

    def _error(self, kind: ModelFailure, reason: str) -> EmbedEndpointError:
        where = f"{self._provider}:{self._model} at {self._endpoint.address.url}"
        return EmbedEndpointError(endpoint=where, kind=kind, reason=self._endpoint.hide(reason))


def _unit(rows: list[list[float]], dim: int | None) -> NDArray[np.float32]:
    """Return vectors at length 1; raises `Failed` where one has no direction or another length."""
    import numpy as np

    wanted = len(rows[0]) if dim is None else dim
    for row in rows:
        if len(row) != wanted or not row:
            what = "" if dim is None else f", and {dim:,} are expected"
            raise Failed(ModelFailure.SCHEMA, f"a vector has {len(row):,} numbers{what}")
    try:
        vectors = np.array(rows, np.float64)
    except OverflowError:  # a whole number beyond every float
        raise Failed(ModelFailure.SCHEMA, "a vector is not finite") from None
    if not np.isfinite(vectors).all():
        raise Failed(ModelFailure.SCHEMA, "a vector is not finite")
    # by the largest first: the square of a large number is infinite, of a small one zero
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not largest.all():
        raise Failed(ModelFailure.SCHEMA, "a vector is zero")
    vectors /= largest
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def _readable(text: str) -> str:
    plain = encodable(text[:MAX_BYTES])
    if not plain.strip():
        return EMPTY
    return plain.encode()[:MAX_BYTES].decode("utf-8", "ignore")


def _object(body: bytes) -> dict[str, Any]:
    try:
        loads = orjson.loads(body)
    except orjson.JSONDecodeError as error:  # also NaN and infinities, which are no JSON
        raise Failed(ModelFailure.HTTP, f"the body is not JSON ({error.msg})") from error
    if not isinstance(loads, dict):
        raise Failed(ModelFailure.HTTP, "the body is not an object")
    return loads


def _in_order(answer: dict[str, Any]) -> list[object] | None:
    """Return the vectors of the compatible protocol, which numbers them."""
    data = answer.get("data")
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        return None
    numbers = [entry.get("index", at) for at, entry in enumerate(data)]
    if not all(type(number) is int for number in numbers):
        raise Failed(ModelFailure.SCHEMA, "a vector's index is not a number")
    if sorted(numbers) != list(range(len(data))):
        raise Failed(ModelFailure.SCHEMA, "the vectors are not numbered from 0, each once")
    ordered = sorted(zip(numbers, data, strict=True), key=lambda pair: pair[0])
    return [entry.get("embedding") for _, entry in ordered]


def _tokens(answer: dict[str, Any]) -> int | None:
    usage = answer.get("usage")
    count = answer.get("prompt_eval_count")
    if isinstance(usage, dict):
        count = usage.get("prompt_tokens")
    return count if type(count) is int and 0 <= count <= 10**9 else None
