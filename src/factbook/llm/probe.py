"""Find out what a configured model answers and what it can do, for `factbook doctor --llm`.

Every line is found out by asking: the server whether it is there, its list whether it has the
model, the model for one small answer under a schema, the embedding model for one vector. A line
that fails says why and what to do. The questions to the models count against the budget.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from factbook.errors import EmbedderError, ModelError, ModelFailure
from factbook.llm.base import Message, Meter, ModelCall
from factbook.llm.client import endpoint_of, open_embedder, open_llm
from factbook.llm.config import EmbedConfig, ModelConfig
from factbook.llm.openai import OpenAI
from factbook.llm.wire import check_status, read_object
from factbook.net.http import Endpoint, Failed, one_line, read_address, require_httpx

LIST_BYTES: Final = 8 * 1024 * 1024  # a list of models; those of the large providers are long
SHOWN_MODELS: Final = 8

PURPOSE: Final = "doctor"


@dataclass(frozen=True, slots=True)
class ProbeLine:
    """One line of what was found out."""

    name: str  # configured, reachable, model, context, answer, request, usage, privacy or embedding
    ok: bool | None  # None: not known, or a thing to know that is no failure
    text: str  # what is so, or why not and what to do


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What was found out about a model."""

    findings: Sequence[ProbeLine]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(finding.ok is not False for finding in self.findings)


class Weather(BaseModel):
    """The small answer that is asked for: an enum, a number, a list, and what may be null."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    sky: Literal["clear", "cloudy", "rain"]
    degrees: int
    words: list[str]
    wind: str | None = None


_QUESTION: Final = (
    Message(role="system", content="Answer with one JSON object and nothing else."),
    Message(
        role="user",
        content="It rains in Bergen at 9 degrees, and the wind is not known. Give the sky (clear, "
        "cloudy or rain), the degrees, two words for the day, and the wind.",
    ),
)


@dataclass(slots=True)
class _Watching:
    """Keeps what the calls used, and tells the real meter, where there is one."""

    meter: Meter | None
    calls: list[ModelCall] = field(default_factory=list)

    def before(self, purpose: str, model: str) -> None:
        if self.meter is not None:
            self.meter.before(purpose, model)

    def after(self, call: ModelCall) -> None:
        self.calls.append(call)
        if self.meter is not None:
            self.meter.after(call)


def probe(
    config: ModelConfig, *, meter: Meter | None = None, environ: Mapping[str, str] = os.environ
) -> Probe:
    """Find out what a language model and its embedding model answer.

    Raises UsageError where the package that speaks HTTP is missing, or the key is.
    """
    require_httpx("A language model")
    findings = [_configured(config)]
    address = read_address(config.url)
    if not address.tls and not address.loopback:
        text = f"what is sent to {config.url} travels by plain http, readable on the way"
        findings.append(ProbeLine("privacy", None, f"{text}; https is better"))
    endpoint = endpoint_of(config, environ)
    reached, models = _reach(config, endpoint)
    findings.append(reached)
    if reached.ok:
        findings.append(_listed(config, models))
        findings.append(_context(config, endpoint, models))
        findings += _answer(config, meter, environ)
    if config.embed is not None:
        findings += probe_embedder(config.embed, meter=meter, environ=environ).findings
    return Probe(findings=findings)


def probe_embedder(
    config: EmbedConfig, *, meter: Meter | None = None, environ: Mapping[str, str] = os.environ
) -> Probe:
    """Find out what an embedding endpoint answers, by two vectors."""
    begun = time.perf_counter()
    try:
        embedder = open_embedder(config, meter=meter, environ=environ)
        embedder.embed(["a walk by the sea"])
    except EmbedderError as error:
        return Probe(findings=[ProbeLine("embedding", False, str(error))])
    took = time.perf_counter() - begun
    text = f"{embedder.id} gives vectors of {embedder.dim:,} numbers, in {took:.1f} seconds"
    return Probe(findings=[ProbeLine("embedding", True, text)])


def _configured(config: ModelConfig) -> ProbeLine:
    key = f"the key in {config.key_env}" if config.key_env else "no key"
    limits = [
        f"{value:g} {what} a day"
        for value, what in (
            (config.daily_calls, "calls"),
            (config.daily_tokens, "tokens"),
            (config.daily_money, config.currency),
        )
        if value is not None
    ]
    text = (
        f"{config.provider}:{config.model} at {config.url}, {key}, {config.timeout_s:g} seconds "
        f"a call, {config.num_ctx:,} tokens, budget: {', '.join(limits) or 'none'}"
    )
    return ProbeLine("configured", True, text)


def _reach(
    config: ModelConfig, endpoint: Endpoint
) -> tuple[ProbeLine, Sequence[Mapping[str, Any]]]:
    """Ask for the list of models: what answers that is a server of this protocol."""
    ollama = config.provider == "ollama"
    begun = time.perf_counter()
    try:
        answer = _get(endpoint, "/api/tags" if ollama else "/models", None, config.timeout_s)
    except Failed as failed:
        what = _what_to_do(failed, config)
        return ProbeLine("reachable", False, f"{failed.reason}{what}"), ()
    took = (time.perf_counter() - begun) * 1000
    models = answer.get("models" if ollama else "data")
    if not isinstance(models, list):
        text = f"{config.url} answers, but with no list of models: is {config.provider} right?"
        return ProbeLine("reachable", False, text), ()
    text = f"{config.url} answers in {took:.0f} ms"
    return ProbeLine("reachable", True, text), [m for m in models if isinstance(m, dict)]


def _what_to_do(failed: Failed, config: ModelConfig) -> str:
    if failed.kind is ModelFailure.CONNECT and config.provider == "ollama":
        return "; start it by `ollama serve`, or set FACTS_LLM_URL"
    if failed.kind is ModelFailure.CONNECT:
        return "; start the server, or set FACTS_LLM_URL"
    if "status 401" in failed.reason or "status 403" in failed.reason:
        key = f"the key in {config.key_env} is" if config.key_env else "no key is"
        return f"; {key} sent"
    if "status 404" in failed.reason:
        return "; does the address name the right path, and provider the right protocol?"
    return ""


def _listed(config: ModelConfig, models: Sequence[Mapping[str, Any]]) -> ProbeLine:
    names = sorted(_name(model) for model in models)
    wanted = {config.model, f"{config.model}:latest", f"models/{config.model}"}
    if wanted & set(names):
        return ProbeLine("model", True, f"{config.model} is there")
    shown = ", ".join(names[:SHOWN_MODELS]) or "none"
    more = f" and {len(names) - SHOWN_MODELS} more" if len(names) > SHOWN_MODELS else ""
    if config.provider == "ollama":
        text = f"{config.model} is not there (it has: {shown}{more}); `ollama pull {config.model}`"
        return ProbeLine("model", False, text)
    # a compatible server may serve its one model under any name
    text = f"{config.model} is not in its list ({shown}{more})"
    return ProbeLine("model", None, text)


def _name(model: Mapping[str, Any]) -> str:
    name = model.get("name") or model.get("model") or model.get("id")
    return one_line(str(name), limit=80)


def _context(
    config: ModelConfig, endpoint: Endpoint, models: Sequence[Mapping[str, Any]]
) -> ProbeLine:
    """Compare the configured context with what the server says of the model."""
    try:
        length = (
            _ollama_length(config, endpoint)
            if config.provider == "ollama"
            else _listed_length(config, models)
        )
    except Failed as failed:
        return ProbeLine("context", None, f"not known: {failed.reason}")
    if length is None:
        text = f"the server does not say; num_ctx says {config.num_ctx:,} tokens"
        return ProbeLine("context", None, text)
    if config.num_ctx > length:
        text = f"num_ctx is {config.num_ctx:,}, but the model has {length:,} tokens; set num_ctx"
        return ProbeLine("context", False, text)
    text = f"{config.num_ctx:,} of the {length:,} tokens that the model has are used (num_ctx)"
    return ProbeLine("context", True, text)


def _ollama_length(config: ModelConfig, endpoint: Endpoint) -> int | None:
    answer = _get(endpoint, "/api/show", {"model": config.model}, config.timeout_s)
    info = answer.get("model_info")
    lengths = [
        value
        for key, value in (info.items() if isinstance(info, dict) else ())
        if key.endswith(".context_length") and type(value) is int
    ]
    return lengths[0] if lengths else None


def _listed_length(config: ModelConfig, models: Sequence[Mapping[str, Any]]) -> int | None:
    """Return what some servers say in their list: vLLM and llama.cpp do."""
    entry = next((model for model in models if _name(model) == config.model), None)
    if entry is None:
        entry = models[0] if len(models) == 1 else {}
    meta = entry.get("meta")
    lengths = [entry.get("max_model_len"), meta.get("n_ctx") if isinstance(meta, dict) else None]
    return next((value for value in lengths if type(value) is int), None)


def _answer(
    config: ModelConfig, meter: Meter | None, environ: Mapping[str, str]
) -> Sequence[ProbeLine]:
    """Ask for one small answer under a schema."""
    watching = _Watching(meter)
    llm = open_llm(config, meter=watching, environ=environ)
    begun = time.perf_counter()
    try:
        llm.ask(_QUESTION, Weather, purpose=PURPOSE)
    except ModelError as error:
        text = f"{error.kind}: {error.details['reason']}"
        if error.kind is ModelFailure.TIMEOUT:
            text += "; a model that is loaded first takes longer: ask again, or raise timeout_s"
        return [ProbeLine("answer", False, text)]
    took = time.perf_counter() - begun
    findings = [ProbeLine("answer", True, f"valid JSON by schema in {took:.1f} seconds")]
    if isinstance(llm.dialect, OpenAI) and (told := llm.dialect.taken.told()):
        findings.append(ProbeLine("request", None, f"the server does not take all of it: {told}"))
    call = watching.calls[-1]
    if call.estimated:
        text = "the server does not say how many tokens it used: 4 bytes are counted as one"
        findings.append(ProbeLine("usage", None, text))
    else:
        used = f"{call.prompt_tokens:,} tokens of prompt and {call.answer_tokens:,} of answer"
        cost = "" if call.money is None else f", {call.money:.6f} {config.currency}"
        findings.append(ProbeLine("usage", True, f"{used}{cost}"))
    return findings


def _get(
    endpoint: Endpoint, path: str, body: Mapping[str, object] | None, timeout_s: float
) -> dict[str, Any]:
    reply = endpoint.send(path, body, timeout_s=timeout_s, max_bytes=LIST_BYTES)
    check_status(reply)
    return read_object(reply.body)
