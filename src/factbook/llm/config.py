"""Read which language model and which embedding endpoint to use: off unless something is set.

A setting comes from a flag, else from the environment (`FACTS_LLM_MODEL`, `FACTS_EMBED_URL`), else
from the configuration file (tables `[llm]` and `[embed]`), else it has its default. The first four
settings of `[llm]` and their defaults are seed 004's. An empty variable counts as not set.
`provider = "off"` turns a model off, whatever stands in the places after it.

A key is never a setting: it is read from an environment variable, which `key_env` names. Without
`key_env` that is FACTS_LLM_API_KEY (FACTS_EMBED_API_KEY); for the hosts of OpenAI and Gemini also
their own OPENAI_API_KEY and GEMINI_API_KEY, which go to no other host. A key alone turns nothing
on. A key is not sent by plain http to another machine: everyone on the way could read it.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import platformdirs

from factbook import policy
from factbook.errors import UsageError
from factbook.net.http import Address, Secret, read_address

OFF: Final = "off"

_HOST_KEYS: Final = {
    "api.openai.com": "OPENAI_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
}
_FLAGS: Final = {  # the options of the command line; other settings have none
    "provider": "--llm-provider",
    "model": "--llm-model",
    "url": "--llm-url",
    "timeout_s": "--llm-timeout",
}
_KEEP_ALIVE: Final = re.compile(r"-?[0-9]{1,9}(?P<unit>ms|s|m|h)?")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME: Final = re.compile(r"[!-~][ -~]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedConfig:
    """An endpoint that turns texts into vectors."""

    provider: str  # ollama, openai or gemini (its OpenAI-compatible endpoint)
    model: str
    url: str
    dim: int | None = None  # how many numbers a vector has; None: ask the endpoint once
    ask_dim: bool = False  # ask for that many, of a model that can shorten its vectors
    key_env: str = ""  # the variable that holds the key; "" where none is sent
    timeout_s: float = policy.EMBED_TIMEOUT_S  # the total deadline of a request
    batch: int = policy.ENDPOINT_BATCH  # texts in one request
    keep_alive: str | int = policy.KEEP_ALIVE  # how long Ollama keeps the model loaded
    price_in: float | None = None  # of a million tokens
    currency: str = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A language model behind an endpoint."""

    provider: str = policy.LLM_PROVIDER  # the dialect: ollama or openai
    model: str = policy.LLM_MODEL
    url: str = policy.LLM_URL
    timeout_s: float = policy.LLM_TIMEOUT_S  # the total deadline of a call; silence in a stream
    chat_timeout_s: float = policy.CHAT_TIMEOUT_S  # the total deadline of a streamed answer
    temperature: float | None = 0.0  # None: the server's own, which some models insist on
    num_ctx: int = policy.NUM_CTX  # tokens of prompt and answer; sent to Ollama, believed of others
    keep_alive: str | int = policy.KEEP_ALIVE  # how long Ollama keeps the model loaded
    max_answer_bytes: int = policy.LLM_ANSWER_BYTES  # of the whole answer of the server
    key_env: str = ""  # the variable that holds the key; "" where none is sent
    price_in: float | None = None  # of a million tokens of prompts
    price_out: float | None = None  # of a million tokens of answers
    currency: str = "USD"
    daily_money: float | None = None  # no call begins when that much is spent
    daily_calls: int | None = None
    daily_tokens: int | None = None
    embed: EmbedConfig | None = None  # where vectors come from an endpoint too


def config_path(environ: Mapping[str, str]) -> Path:
    """Return where the configuration file is: $FACTBOOK_CONFIG, else the user's folder."""
    named = environ.get("FACTBOOK_CONFIG")
    return Path(named) if named else platformdirs.user_config_path("factbook") / "config.toml"


def load_config(
    environ: Mapping[str, str], path: Path | None = None, **flags: object
) -> ModelConfig | None:
    """Return which language model to use; None where nothing turns one on.

    `path` is the configuration file, which need not exist; None reads none. `flags` have the names
    of ModelConfig's fields and count where they are not None. Raises UsageError, which names the
    file or the variable and what to do.
    """
    found = _found(_LLM, environ, path, flags)
    if not found or found.get("provider") == OFF:
        return None
    config = ModelConfig(**found, embed=load_embed_config(environ, path))
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
    found = _found(_EMBED, environ, path, flags)
    if not found or found.get("provider") == OFF:
        return None
    found.setdefault("provider", policy.LLM_PROVIDER)
    if "model" not in found:
        raise _wrong("No embedding model is named", "set FACTS_EMBED_MODEL, or model in [embed]")
    if "url" not in found:
        if found["provider"] == "ollama":
            found["url"] = policy.LLM_URL
        elif found["provider"] == "gemini":
            found["url"] = "https://generativelanguage.googleapis.com/v1beta/openai"
        else:
            what = "No address is named for the embedding endpoint"
            raise _wrong(what, "set FACTS_EMBED_URL, or url in [embed]")
    if found.get("ask_dim") and "dim" not in found:
        raise _wrong("ask_dim is set without dim", "say how many numbers a vector shall have")
    found["key_env"] = _key_env(_EMBED, found.get("key_env", ""), found["url"], environ)
    return EmbedConfig(**found)


def key_of(config: ModelConfig | EmbedConfig, environ: Mapping[str, str]) -> Secret | None:
    """Return the key of an endpoint from the environment; None where it needs none.

    Raises UsageError, without the key, where it is not set or cannot be sent.
    """
    if not config.key_env:
        return None
    value = environ.get(config.key_env, "")
    if not value:
        raise _wrong(
            f"The variable {config.key_env}, which is to hold the key of {config.url}, is not set",
            "set it, or take key_env away",
        )
    try:
        return Secret(value)
    except ValueError as error:
        raise _wrong(
            f"The key in the variable {config.key_env} cannot be used: {error}",
            "set it again, without quotes or line breaks",
        ) from None


# --- what a setting may be ------------------------------------------------------------------------


def _text(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value.strip()):
        raise ValueError("must be a name of printable ASCII characters")
    return value.strip()


def _one_of(*names: str) -> Callable[[object], object]:
    def read(value: object) -> str:
        name = value.strip().lower() if isinstance(value, str) else ""
        if name not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return name

    return read


def _number(low: float, high: float) -> Callable[[object], object]:
    def read(value: object) -> float:
        number = math.nan
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            with suppress(ValueError, OverflowError):
                number = float(value)
        if not low <= number <= high:
            raise ValueError(f"must be a number from {low:g} to {high:g}")
        return number

    return read


def _whole(low: int, high: int) -> Callable[[object], object]:
    def read(value: object) -> int:
        number: int | None = None
        if isinstance(value, str) and re.fullmatch(r"\s*\d{1,18}\s*", value, re.ASCII):
            number = int(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            number = value
        if number is None or not low <= number <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return number

    return read


def _yes(value: object) -> bool:
    named = value.strip().lower() if isinstance(value, str) else value
    if named in ("true", "1", "yes"):
        return True
    if named in ("false", "0", "no"):
        return False
    if isinstance(value, bool):
        return value
    raise ValueError("must be true or false")


def _temperature(value: object) -> float | None:
    if isinstance(value, str) and value.strip().lower() == "server":
        return None
    try:
        number = _number(0, 2)(value)
    except ValueError:
        raise ValueError('must be a number from 0 to 2, or "server" to send none') from None
    assert isinstance(number, float)
    return number


def _keep_alive(value: object) -> str | int:
    text = str(value).strip()
    found = _KEEP_ALIVE.fullmatch(text)
    if isinstance(value, bool) or found is None:
        raise ValueError("must be a time such as 30m, 12h or 90 (seconds); -1 keeps it for ever")
    return text if found["unit"] else int(text)  # without a unit Ollama takes a number alone


def _url(value: object) -> str:
    try:
        return read_address(value.strip() if isinstance(value, str) else "").url
    except ValueError as error:
        raise ValueError(f"is no address ({error}); give one like {policy.LLM_URL}") from None


def _variable(value: object) -> str:
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value.strip()):
        raise ValueError(
            "must be the name of an environment variable such as FACTS_LLM_API_KEY, never a key"
        )
    return value.strip()


_HIDDEN: Final = {"url", "key_env"}  # what may hold a secret by mistake is not shown in an error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    name: str  # in the configuration file
    prefix: str  # of its environment variables
    settings: Mapping[str, Callable[[object], object]]  # name -> what reads it

    @property
    def key_variable(self) -> str:
        return f"{self.prefix}API_KEY"


_COUNT: Final = _whole(0, 10**15)
_MONEY: Final = _number(0, 1e9)

_LLM: Final = _Table(
    name="llm",
    prefix="FACTS_LLM_",
    settings={
        "provider": _one_of("ollama", "openai", OFF),
        "model": _text,
        "url": _url,
        "timeout_s": _number(0.1, 3600),
        "chat_timeout_s": _number(0.1, 86_400),
        "temperature": _temperature,
        "num_ctx": _whole(256, 100_000_000),
        "keep_alive": _keep_alive,
        "max_answer_bytes": _whole(1024, 1024**3),
        "key_env": _variable,
        "price_in": _MONEY,
        "price_out": _MONEY,
        "currency": _text,
        "daily_money": _MONEY,
        "daily_calls": _COUNT,
        "daily_tokens": _COUNT,
    },
)
_EMBED: Final = _Table(
    name="embed",
    prefix="FACTS_EMBED_",
    settings={
        "provider": _one_of("ollama", "openai", "gemini", OFF),
        "model": _text,
        "url": _url,
        "dim": _whole(1, 65_536),
        "ask_dim": _yes,
        "key_env": _variable,
        "timeout_s": _number(0.1, 3600),
        "batch": _whole(1, 2048),
        "keep_alive": _keep_alive,
        "price_in": _MONEY,
        "currency": _text,
    },
)


# --- where a setting comes from -------------------------------------------------------------------


def _found(
    table: _Table, environ: Mapping[str, str], path: Path | None, flags: Mapping[str, object]
) -> dict[str, Any]:
    """Return the settings that stand somewhere, the first place winning; wrong ones raise."""
    found: dict[str, Any] = {}
    for name, value in _of_file(table, path).items():
        found[name] = _read(table, name, value, f"{name} of [{table.name}] in {path}")
    for variable in sorted(environ):
        if not variable.startswith(table.prefix) or not environ[variable].strip():
            continue
        if variable == table.key_variable:
            continue
        name = variable.removeprefix(table.prefix).lower()
        if name not in table.settings or variable != variable.upper():
            known = [f"{table.prefix}{one.upper()}" for one in table.settings]
            what = f"The variable {variable} is no setting"
            raise _wrong(what, f"{_meant(variable, [*known, table.key_variable])} or unset it")
        found[name] = _read(table, name, environ[variable], f"The variable {variable}")
    for name, value in flags.items():
        if name not in table.settings:
            raise TypeError(f"{name} is no setting of [{table.name}]")
        if value is not None:
            flag = _FLAGS.get(name) if table is _LLM else None
            where = f"The option {flag}" if flag else f"The given {name} of [{table.name}]"
            found[name] = _read(table, name, value, where)
    return found


def _of_file(table: _Table, path: Path | None) -> Mapping[str, object]:
    if path is None:
        return {}
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        what = f"The configuration file {path} cannot be read ({error.strerror or error})"
        raise _wrong(what, "check its permissions") from error
    except UnicodeDecodeError as error:
        raise _wrong(f"The configuration file {path} is not UTF-8", "save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise _wrong(f"The configuration file {path} is not TOML: {error}", "mend it") from error
    content = tables.get(table.name, {})
    if not isinstance(content, dict):
        what = f"{table.name} in {path} is not a table"
        raise _wrong(what, f"write [{table.name}] above its settings")
    for name in content:
        if name in {"key", "api_key", "token", "password"}:
            raise _wrong(
                f"{name} of [{table.name}] in {path} holds a key, which a file must not",
                "put it into an environment variable and name that in key_env",
            )
        if name not in table.settings:
            what = f"{name} of [{table.name}] in {path} is no setting"
            raise _wrong(what, f"{_meant(name, list(table.settings))} or take it away")
    return content


def _read(table: _Table, name: str, value: object, where: str) -> object:
    try:
        return table.settings[name](value)
    except ValueError as error:
        shown = "" if name in _HIDDEN else f" is {str(value)[:80]!r}, but it"
        raise UsageError(detail=f"{where}{shown} {error}.") from None


def _key_env(table: _Table, named: str, url: str, environ: Mapping[str, str]) -> str:
    """Return the variable that holds the key of an endpoint; "" where no key is sent."""
    address = read_address(url)
    variable = named
    for candidate in (table.key_variable, _HOST_KEYS.get(address.host, "")):
        if not variable and candidate and environ.get(candidate):
            variable = candidate
    if variable:
        _check_way(address, variable)
    return variable


def _check_way(address: Address, variable: str) -> None:
    if address.tls or address.loopback:
        return
    raise _wrong(
        f"The key in {variable} would travel to {address.url} by plain http, readable on the way",
        "use an https:// address or a tunnel to this machine, or unset the key",
    )


def _check_prices(config: ModelConfig) -> None:
    if (config.price_in is None) != (config.price_out is None):
        raise _wrong("Only one of price_in and price_out is set", "set both; 0 is a price too")
    if config.daily_money is not None and config.price_in is None:
        what = "daily_money is set, but what a call costs is not known"
        raise _wrong(what, "set price_in and price_out (of a million tokens), or daily_tokens")


def _meant(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"write {near[0]}" if near else f"use one of {', '.join(known)}"


def _wrong(what: str, to_do: str) -> UsageError:
    return UsageError(detail=f"{what}; {to_do}.")
