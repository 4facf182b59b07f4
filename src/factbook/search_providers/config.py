"""Read which search provider to use: off unless something is set.

A setting comes from the environment (`FACTBOOK_SEARCH_URL`), else from the table `[search]` of the
configuration file. A folder alone means `folder`, an address alone `searxng`; `provider = "off"`
turns searching off, whatever else is set.

A key is never a setting: it is read from an environment variable, which `key_env` names. Without
`key_env` that is FACTBOOK_SEARCH_KEY; for the hosts of Tavily and Brave also their own
TAVILY_API_KEY and BRAVE_API_KEY, which go to no other host. A key alone turns nothing on. A key is
not sent by plain http to another machine: everyone on the way could read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from factbook import policy
from factbook.net import settings
from factbook.net.http import Secret, read_address
from factbook.net.settings import Table, wrong

if TYPE_CHECKING:
    from factbook.net.setting_types import AnyCase, BeforeValidator, Field, KeyVariable, Url

OFF: Final = "off"
FOLDER: Final = "folder"
SEARXNG: Final = "searxng"
DDGS: Final = "ddgs"
TAVILY: Final = "tavily"
BRAVE: Final = "brave"
PROVIDERS: Final = (FOLDER, SEARXNG, DDGS, TAVILY, BRAVE)

ANSWER_BYTES: Final = 4 * 1024 * 1024  # ours: of the whole answer of a provider

_URLS: Final = {TAVILY: "https://api.tavily.com", BRAVE: "https://api.search.brave.com"}
_HOST_KEYS: Final = {"api.tavily.com": "TAVILY_API_KEY", "api.search.brave.com": "BRAVE_API_KEY"}
_TAKES: Final[Mapping[str, frozenset[str]]] = {  # beside provider, timeout_s and max_answer_bytes
    FOLDER: frozenset({"folder"}),
    SEARXNG: frozenset({"url", "key_env", "language", "engines"}),
    DDGS: frozenset({"engines", "region"}),
    TAVILY: frozenset({"url", "key_env"}),
    BRAVE: frozenset({"url", "key_env", "language"}),
}


def _path(value: object) -> object:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("must be the path of a folder")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """A search provider, and what it needs."""

    provider: Annotated[Literal["folder", "searxng", "ddgs", "tavily", "brave", "off"], AnyCase]
    url: Url = ""  # of its endpoint; "" where it has none
    folder: Annotated[Path, BeforeValidator(_path)] | None = None  # of one's own documents
    key_env: KeyVariable = ""  # the variable that holds the key; "" where none is sent
    timeout_s: Annotated[float, Field(ge=0.1, le=600)] = policy.SEARCH_TIMEOUT_S  # of a search
    max_answer_bytes: Annotated[int, Field(ge=1024, le=1024**3)] = ANSWER_BYTES  # larger: refused
    language: Annotated[
        str,
        Field(
            pattern="^(?:[A-Za-z]{2,3}(?:-[A-Za-z]{2,4})?|all|auto)$",
            description="like en or pt-BR",
        ),
    ] = ""  # of the results; "" leaves it to the provider
    region: Annotated[str, Field(pattern="^[a-z]{2}-[a-z]{2,4}$", description="like us-en")] = (
        ""  # as ddgs writes it
    )
    engines: Annotated[
        str,
        Field(
            pattern="^[A-Za-z0-9_. -]{1,60}(?:,[A-Za-z0-9_. -]{1,60}){0,49}$",
            description="like wikipedia,arxiv",
        ),
    ] = ""  # which ones to ask; "" is the provider's own


def load_search_config(environ: Mapping[str, str], path: Path | None = None) -> SearchConfig | None:
    """Return which search provider to use; None where nothing turns one on.

    `path` is the configuration file, which need not exist; None reads none. A relative `folder` is
    taken from the folder of that file, and in a variable from the current one. Raises UsageError,
    which names the file or the variable and what to do.
    """
    values = _TABLE.found(environ, path)
    if "provider" not in values:
        values["provider"] = _meant(values)
    provider: str = values["provider"]
    if provider == OFF:
        return None
    for name in values.keys() - _TAKES[provider] - _COMMON:
        what = f"{name} is set ({_TABLE.where(name)}), but {provider} does not use it"
        raise wrong(what, f"unset it, or name another provider ({', '.join(PROVIDERS)})")
    if provider == FOLDER:
        values["folder"] = _folder(values.get("folder"), environ, path)
    if provider == SEARXNG and "url" not in values:
        raise wrong("No address is named for searxng", f"set {_TABLE.where('url')}")
    values.setdefault("url", _URLS.get(provider, ""))
    values["key_env"] = _key_env(provider, values, environ)
    return SearchConfig(**values)


def key_of(config: SearchConfig, environ: Mapping[str, str]) -> Secret | None:
    """Return the key of a provider from the environment; None where it needs none.

    Raises UsageError, without the key, where it is not set or cannot be sent.
    """
    return settings.read_key(config.key_env, config.provider, environ)


def _meant(values: Mapping[str, Any]) -> str:
    """Return the provider that settings mean which name none."""
    if not values.keys() - _COMMON - {"key_env"}:
        return OFF
    ways = [name for name, setting in ((FOLDER, "folder"), (SEARXNG, "url")) if setting in values]
    if len(ways) != 1:
        what = "Searching is set up without a provider"
        raise wrong(what, f"set {_TABLE.where('provider')} to one of {', '.join(PROVIDERS)}")
    return ways[0]


def _folder(value: Path | None, environ: Mapping[str, str], path: Path | None) -> Path:
    if value is None:
        raise wrong("No folder of documents is named", f"set {_TABLE.where('folder')}")
    try:
        folder = value.expanduser()
    except RuntimeError:
        raise wrong("The home of the folder of documents is not known", "write it out") from None
    told = environ.get(f"{_TABLE.prefix}FOLDER", "").strip()
    return (folder if told or path is None else path.parent / folder).absolute()


def _key_env(provider: str, values: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    if "key_env" not in _TAKES[provider]:
        return ""
    address = read_address(values["url"])
    own = _HOST_KEYS.get(address.host, "")
    candidates = [_TABLE.key_variable, own]
    variable = settings.key_variable(values.get("key_env", ""), candidates, address, environ)
    if not variable and provider in _URLS:
        names = " or ".join(candidate for candidate in candidates if candidate)
        raise wrong(f"{provider} needs a key, and none is set", f"set {names}")
    return variable


_COMMON: Final = frozenset({"provider", "timeout_s", "max_answer_bytes"})
_TABLE: Final = Table(
    name="search",
    prefix="FACTBOOK_SEARCH_",
    config=SearchConfig,
    key_variable="FACTBOOK_SEARCH_KEY",
)
