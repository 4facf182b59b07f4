"""Read which language model and which embedding endpoint to use: off unless something is set.

A setting comes from a flag, else from the environment (`FACTS_LLM_MODEL`, `FACTS_EMBED_URL`), else
from the configuration file (tables `[llm]` and `[embed]`), else it has its default. The first four
settings of `[llm]` and their defaults are origins 004.1's. An empty variable counts as not set.
`provider = "off"` turns a model off, whatever stands in the places after it.

A key is never a setting: it is read from an environment variable, which `key_env` names. Without
`key_env` that is FACTS_LLM_API_KEY (FACTS_EMBED_API_KEY); for the hosts of OpenAI and Gemini also
their own OPENAI_API_KEY and GEMINI_API_KEY, which go to no other host. A key alone turns nothing
on. A key is not sent by plain http to another machine: everyone on the way could read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from factbook import policy
from factbook.net import settings
from factbook.net.http import Secret, read_address
from factbook.net.settings import Table, wrong

if TYPE_CHECKING:
    from factbook.net.setting_types import (
        AnyCase,
        BeforeValidator,
        Count,
        Field,
        KeepAlive,
        KeyVariable,
        Money,
        Name,
        Url,
    )

OFF: Final = "off"

_HOST_KEYS: Final = {
    "api.openai.com": "OPENAI_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
}


def _no_temperature(value: object) -> object:
    return None if isinstance(value, str) and value.lower() == "server" else value


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedConfig:
    """An endpoint that turns texts into vectors."""

    provider: Annotated[Literal["ollama", "openai", "gemini", "off"], AnyCase]  # gemini: its
    # OpenAI-compatible endpoint; a configuration that is loaded is never off
    model: Name
    url: Url
    dim: Annotated[int, Field(ge=1, le=65_536)] | None = None  # numbers in a vector; None: ask once
    ask_dim: bool = False  # ask for that many, of a model that can shorten its vectors
    key_env: KeyVariable = ""  # the variable that holds the key; "" where none is sent
    timeout_s: Annotated[float, Field(ge=0.1, le=3600)] = policy.EMBED_TIMEOUT_S  # of a request
    batch: Annotated[int, Field(ge=1, le=2048)] = policy.ENDPOINT_BATCH  # texts in one request
    keep_alive: KeepAlive = policy.KEEP_ALIVE  # how long Ollama keeps the model loaded
    price_in: Money | None = None  # of a million tokens
    currency: Name = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A language model behind an endpoint."""

    provider: Annotated[Literal["ollama", "openai", "off"], AnyCase] = policy.LLM_PROVIDER
    model: Name = policy.LLM_MODEL
    url: Url = policy.LLM_URL
    # the total deadline of a call; silence in a stream
    timeout_s: Annotated[float, Field(ge=0.1, le=3600)] = policy.LLM_TIMEOUT_S
    # the total deadline of a streamed answer
    chat_timeout_s: Annotated[float, Field(ge=0.1, le=86_400)] = policy.CHAT_TIMEOUT_S
    temperature: Annotated[
        Annotated[float, Field(ge=0, le=2)] | None,
        BeforeValidator(_no_temperature),
        Field(description='a number from 0 to 2, or "server" to send none'),
    ] = 0.0  # None: the server's own, which some models insist on
    # tokens of prompt and answer; sent to Ollama, believed of others
    num_ctx: Annotated[int, Field(ge=256, le=100_000_000)] = policy.NUM_CTX
    keep_alive: KeepAlive = policy.KEEP_ALIVE  # how long Ollama keeps the model loaded
    # of the whole answer of the server
    max_answer_bytes: Annotated[int, Field(ge=1024, le=1024**3)] = policy.LLM_ANSWER_BYTES
    key_env: KeyVariable = ""  # the variable that holds the key; "" where none is sent
    price_in: Money | None = None  # of a million tokens of prompts
    price_out: Money | None = None  # of a million tokens of answers
    currency: Name = "USD"
    daily_money: Money | None = None  # no call begins when that much is spent
    daily_calls: Count | None = None
    daily_tokens: Count | None = None
    embed: EmbedConfig | None = None  # where vectors come from an endpoint too


def money_of(
    config: ModelConfig | EmbedConfig, prompt_tokens: int, answer_tokens: int = 0
) -> float | None:
    """Return what a call costs in the configured currency; None where no price is configured."""
    if config.price_in is None:
        return None
    price_out = config.price_out if isinstance(config, ModelConfig) else None
    return (prompt_tokens * config.price_in + answer_tokens * (price_out or 0.0)) / 1_000_000


def load_config(
    environ: Mapping[str, str], path: Path | None = None, **flags: object
) -> ModelConfig | None:
    """Return which language model to use; None where nothing turns one on.

    `path` is the configuration file, which need not exist; None reads none. `flags` have the names
    of ModelConfig's fields and count where they are not None. Raises UsageError, which names the
    file or the variable and what to do.
    """
    values = _LLM.found(environ, path, flags)
    if not values or values.get("provider") == OFF:
        return None
    config = ModelConfig(**values, embed=load_embed_config(environ, path))
    _check_prices(config)
    return replace(config, key_env=_key_env(_LLM, config.key_env, config.url, environ))


def load_embed_config(
    environ: Mapping[str, str], path: Path | None = None, **flags: object
) -> EmbedConfig | None:
    """Return which endpoint gives vectors; None where nothing names one.

    As `load_config`, of the table `[embed]` and the variables FACTS_EMBED_*. The model has no
    default, as a file keeps the vectors of one model; neither has the address of another provider
    than Ollama.
    """
    values = _EMBED.found(environ, path, flags)
    if not values or values.get("provider") == OFF:
        return None
    values.setdefault("provider", policy.LLM_PROVIDER)
    if "model" not in values:
        raise wrong("No embedding model is named", "set FACTS_EMBED_MODEL, or model in [embed]")
    if "url" not in values:
        if values["provider"] == "ollama":
            values["url"] = policy.LLM_URL
        elif values["provider"] == "gemini":
            values["url"] = "https://generativelanguage.googleapis.com/v1beta/openai"
        else:
            what = "No address is named for the embedding endpoint"
            raise wrong(what, "set FACTS_EMBED_URL, or url in [embed]")
    if values.get("ask_dim") and "dim" not in values:
        raise wrong("ask_dim is set without dim", "say how many numbers a vector shall have")
    values["key_env"] = _key_env(_EMBED, values.get("key_env", ""), values["url"], environ)
    return EmbedConfig(**values)


def key_of(config: ModelConfig | EmbedConfig, environ: Mapping[str, str]) -> Secret | None:
    """Return the key of an endpoint from the environment; None where it needs none.

    Raises UsageError, without the key, where it is not set or cannot be sent.
    """
    return settings.read_key(config.key_env, config.url, environ)


def _key_env(table: Table, named: str, url: str, environ: Mapping[str, str]) -> str:
    """Return the variable that holds the key of an endpoint; "" where no key is sent."""
    address = read_address(url)
    candidates = [table.key_variable, _HOST_KEYS.get(address.host, "")]
    return settings.key_variable(named, candidates, address, environ)


def _check_prices(config: ModelConfig) -> None:
    if (config.price_in is None) != (config.price_out is None):
        raise wrong("Only one of price_in and price_out is set", "set both; 0 is a price too")
    if config.daily_money is not None and config.price_in is None:
        what = "daily_money is set, but what a call costs is not known"
        raise wrong(what, "set price_in and price_out (of a million tokens), or daily_tokens")


_LLM: Final = Table(
    name="llm",
    prefix="FACTS_LLM_",
    config=ModelConfig,
    key_variable="FACTS_LLM_API_KEY",
    besides=frozenset({"embed"}),
    options={
        "provider": "--llm-provider",
        "model": "--llm-model",
        "url": "--llm-url",
        "timeout_s": "--llm-timeout",
    },
)
_EMBED: Final = Table(
    name="embed", prefix="FACTS_EMBED_", config=EmbedConfig, key_variable="FACTS_EMBED_API_KEY"
)
