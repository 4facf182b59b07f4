"""The client: one call, one request, one validated object or one ModelError.

Nothing is retried here (origins 004.1): whoever asked keeps its input queued and asks again later.
A request that a server refuses for a part of it, which it names, is another without that part.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from factbook import policy
from factbook.errors import EmbedderError, ModelError, ModelFailure
from factbook.llm.answers import read_answer
from factbook.llm.base import Answer, AnswerPart, Message, Meter, ModelCall, Tool
from factbook.llm.config import EmbedConfig, ModelConfig, key_of, money_of
from factbook.llm.ollama import Ollama
from factbook.llm.openai import OpenAI
from factbook.llm.schema import plain_schema
from factbook.llm.wire import TokenUsage, check_status, what_to_do
from factbook.model.facts import Millis
from factbook.net.http import (
    Endpoint,
    Failed,
    HTTPReply,
    encodable,
    one_line,
    read_address,
    require_httpx,
)

if TYPE_CHECKING:
    from factbook.embed.endpoint import EndpointEmbedder

# a token of a language, or of JSON, is seldom more than 5 bytes: what has fewer tokens than a
# sixth of its bytes is no text, and a prompt that is too long by that measure is so by every other
BYTES_PER_TOKEN_AT_MOST: Final = 6
SAID_CHARS: Final = 60  # ours: of an unusable answer, in the reason
_LEAST_S: Final = 0.001  # a request has no less time, though its deadline is over
BYTES_PER_TOKEN: Final = 4  # where a server does not say how many tokens there were


def open_llm(
    config: ModelConfig,
    *,
    clock: Callable[[], Millis] | None = None,
    meter: Meter | None = None,
    environ: Mapping[str, str] = os.environ,
    redact: Callable[[str], str] = str,
) -> Client:
    """Return the language model of a configuration; nothing is sent yet.

    `clock` gives the time that a call is recorded at, and `redact` takes secrets out of what an
    error repeats of an answer. Raises UsageError where the package that
    speaks HTTP is missing, or the key is.
    """
    require_httpx("A language model")
    dialect = Ollama(config) if config.provider == "ollama" else OpenAI(config)
    return Client(
        config=config,
        dialect=dialect,
        endpoint=endpoint_of(config, environ),
        clock=clock or _now,
        meter=meter,
        redact=redact,
    )


def open_embedder(
    config: EmbedConfig,
    *,
    clock: Callable[[], Millis] | None = None,
    meter: Meter | None = None,
    environ: Mapping[str, str] = os.environ,
) -> EndpointEmbedder:
    """Return the embedder of a configuration.

    Without `dim` in the configuration the endpoint is asked for one vector, to learn it. Raises
    UsageError as `open_llm` does, and EmbedderError where that vector does not come.
    """
    from factbook.embed.endpoint import EndpointEmbedder

    require_httpx("An embedding endpoint")
    name = f"{config.provider}:{config.model}"
    watch = None
    if meter is not None:
        watch = _EmbedWatch(config=config, name=name, meter=meter, clock=clock or _now)
    return EndpointEmbedder.open(
        provider=config.provider,
        model=config.model,
        endpoint=endpoint_of(config, environ),
        dim=config.dim,
        ask_dim=config.ask_dim,
        timeout_s=config.timeout_s,
        batch=config.batch,
        keep_alive=config.keep_alive,
        watch=watch,
    )


def endpoint_of(config: ModelConfig | EmbedConfig, environ: Mapping[str, str]) -> Endpoint:
    """Return where a model is, with its key; raises UsageError where that is missing."""
    address = read_address(base_url(config.provider, config.url))
    return Endpoint(address, key=key_of(config, environ))


def base_url(provider: str, url: str) -> str:
    """Return the address that a provider's paths are appended to.

    For Ollama that is the server itself, though many name its `/api`; for the compatible protocol
    a path that ends with the version, which is `/v1` where none is named.
    """
    if provider == "ollama":
        return url.removesuffix("/api")
    trimmed = url.removesuffix("/chat/completions").removesuffix("/embeddings")
    return trimmed if read_address(trimmed).path else f"{trimmed}/v1"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Client:
    """A language model behind an endpoint (`open_llm`); safe to share between threads."""

    config: ModelConfig
    dialect: Ollama | OpenAI
    endpoint: Endpoint
    clock: Callable[[], Millis]
    meter: Meter | None
    redact: Callable[[str], str] = str
    pause: _Pause = field(default_factory=lambda: _Pause())

    def __repr__(self) -> str:
        return f"Client({self.id!r}, {self.endpoint.address.url!r})"

    @property
    def id(self) -> str:
        """What it is, for the records: "ollama:qwen2.5:7b-instruct"."""
        return f"{self.config.provider}:{self.config.model}"

    @property
    def context_tokens(self) -> int:
        """How many tokens a prompt and its answer may have together, as configured."""
        return self.config.num_ctx

    def ask(self, messages: Sequence[Message], answer: type[Answer], *, purpose: str) -> Answer:
        """Return the model's answer as a validated object of type `answer`.

        Makes one request, and once in a process another for each part of it that a server refuses
        by name. Raises ModelError, whose kind says how it failed; TypeError for a type that no
        server can be held to.
        """
        schema = plain_schema(answer)
        with self._call(purpose, messages) as used:
            reply = self._reply(messages, answer.__name__, schema)
            check_status(reply)
            used.received = len(reply.body)
            text = self.dialect.read(reply.body, used.tally)
            used.received = len(text.encode("utf-8", "replace"))
            return read_answer(text, answer)

    def _reply(
        self, messages: Sequence[Message], name: str, schema: Mapping[str, Any]
    ) -> HTTPReply:
        """Send what the server takes, within one deadline; raises `Failed`."""
        left = self.config.timeout_s
        ends = time.monotonic() + left
        while True:
            body = self.dialect.request(messages, name=name, schema=schema)
            reply = self.endpoint.send(
                self.dialect.chat_path,
                body,
                timeout_s=left,
                max_bytes=self.config.max_answer_bytes,
            )
            if reply.ok or not self.dialect.learn(reply, body):
                return reply
            left = max(ends - time.monotonic(), _LEAST_S)

    def stream(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), *, purpose: str = "chat"
    ) -> Iterator[AnswerPart]:
        """Yield the parts of an answer as they come; raises ModelError.

        A server may be silent for `timeout_s`; all together, with what the reader does between
        the parts, may take `chat_timeout_s`. A reader that stops early closes the connection.
        """
        left = self.config.chat_timeout_s
        ends = time.monotonic() + left
        with self._call(purpose, messages) as used:
            again = True
            while again:
                body = self.dialect.request(messages, tools=tools, stream=True)
                with self.endpoint.open(
                    self.dialect.chat_path,
                    body,
                    timeout_s=left,
                    silence_s=min(self.config.timeout_s, left),
                    max_bytes=self.config.max_answer_bytes,
                ) as answering:
                    again = False
                    if not answering.ok:
                        reply = answering.whole()
                        again = self.dialect.learn(reply, body)
                        if again:
                            left = max(ends - time.monotonic(), _LEAST_S)
                            continue
                        check_status(reply)
                    for piece in self.dialect.pieces(answering, used.tally):
                        used.received += sum(len(call.arguments) for call in piece.calls)
                        used.received += len(piece.text.encode("utf-8", "replace"))
                        yield piece

    @contextmanager
    def _call(self, purpose: str, messages: Iterable[Message]) -> Iterator[_Used]:
        """Let a call begin, name its failure, and count it however it ends."""
        sent = sum(len(encodable(message.content).encode()) for message in messages)
        if sent > self.config.num_ctx * BYTES_PER_TOKEN_AT_MOST:
            raise ModelError(
                kind=ModelFailure.TOO_LARGE,
                model=self.id,
                reason=f"the prompt of {sent:,} bytes cannot fit a context of "
                f"{self.config.num_ctx:,} tokens (num_ctx); nothing was sent",
            )
        if left := self.pause.left_ms(self.clock()):
            reason = f"the server asked for a pause, which has {left / 1000:,.0f} seconds left"
            raise ModelError(
                kind=ModelFailure.HTTP,
                model=self.id,
                reason=f"{reason}; nothing was sent",
                endpoint=True,
                wait_s=left / 1000,
            )
        if self.meter is not None:
            self.meter.before(purpose, self.id)
        used = _Used()
        at, begun = self.clock(), time.perf_counter()
        outcome = "interrupted"
        try:
            yield used
            outcome = "ok"
        except Failed as failed:
            outcome = failed.kind
            sent = 0 if failed.unread else sent
            reason = self.endpoint.hide(failed.reason)
            if said := one_line(self.redact(self.endpoint.hide(failed.said)), limit=SAID_CHARS):
                reason = f"{reason}: {said}"
            if advice := what_to_do(failed):
                reason = f"{reason.rstrip('.')}; {advice}"
            self.pause.until = self.clock() + int(failed.wait_s * 1000)
            raise ModelError(
                kind=failed.kind,
                model=self.id,
                reason=reason,
                endpoint=failed.endpoint,
                wait_s=failed.wait_s,
            ) from failed
        finally:
            if self.meter is not None:
                latency_ms = (time.perf_counter() - begun) * 1000
                self.meter.after(self._counted(purpose, used, at, latency_ms, outcome, sent))

    def _counted(
        self, purpose: str, used: _Used, at: Millis, latency_ms: float, outcome: str, sent: int
    ) -> ModelCall:
        tally = used.tally
        prompt, answer = tally.prompt_tokens, tally.answer_tokens
        estimated = prompt is None or answer is None
        if prompt is None:
            prompt = _tokens(sent)
        if answer is None:
            answer = _tokens(used.received)
        return ModelCall(
            purpose=purpose,
            model=self.id,
            at=at,
            latency_ms=latency_ms,
            outcome=str(outcome),
            prompt_tokens=prompt,
            answer_tokens=answer,
            estimated=estimated and bool(prompt or answer),
            money=money_of(self.config, prompt, answer),
        )


@dataclass(slots=True)
class _Pause:
    """Until when an endpoint asked to be left alone."""

    until: Millis = 0

    def left_ms(self, now: Millis) -> Millis:
        """Return how long that is; 0 where it is over, or so far off that a clock was set."""
        left = self.until - now
        return left if 0 < left <= policy.RETRY_AFTER_S * 1000 else 0


@dataclass(slots=True)
class _Used:
    """What a call has used so far."""

    tally: TokenUsage = field(default_factory=TokenUsage)
    received: int = 0  # bytes of the answer's text


@dataclass(frozen=True, slots=True, kw_only=True)
class _EmbedWatch:
    """Tell the meter of the requests of an embedder."""

    config: EmbedConfig
    name: str
    meter: Meter
    clock: Callable[[], Millis]

    def before(self) -> None:
        try:
            self.meter.before("embed", self.name)
        except ModelError as error:  # whoever embeds knows of the errors of embedders alone
            raise EmbedderError(reason=str(error.details["reason"])) from error

    def after(
        self, *, latency_ms: float, outcome: str, tokens: int | None, sent_bytes: int
    ) -> None:
        count = _tokens(sent_bytes) if tokens is None else tokens
        self.meter.after(
            ModelCall(
                purpose="embed",
                model=self.name,
                at=self.clock(),
                latency_ms=latency_ms,
                outcome=outcome,
                prompt_tokens=count,
                estimated=tokens is None and count > 0,
                money=money_of(self.config, count),
            )
        )


def _tokens(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)


def _now() -> Millis:
    return time.time_ns() // 1_000_000
