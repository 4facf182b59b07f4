"""Read settings from the environment and the configuration file, and say clearly what is wrong.

A table of settings is one table of the configuration file (`[search]`) and the variables of one
prefix (`FACTBOOK_SEARCH_URL`). What is given in the call counts first, then a variable, then the
file; an empty variable counts as not set. A key is never a setting: a table names the variable that
holds it.

Knows: files, variables, types. Does not know: what a setting is for.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from factbook.errors import UsageError
from factbook.net.http import Address, Secret, read_address

Read: TypeAlias = Callable[[object], object]
"""Return a setting as it is used; raises ValueError whose text follows "it"."""

KEY_NAMES: Final = frozenset({"key", "api_key", "secret", "token", "password"})
HIDDEN: Final = frozenset({"url", "key_env"})  # may hold a secret by mistake: not shown in errors

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME: Final = re.compile(r"[!-~][ -~]*")
_SHOWN: Final = 80  # characters of a wrong value


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The settings of one part of factbook."""

    name: str  # in the configuration file
    prefix: str  # of its variables
    settings: Mapping[str, Read]  # name -> what reads it
    key_variable: str  # the variable that holds its key
    options: Mapping[str, str] = field(default_factory=dict)  # setting -> its command line option

    def found(
        self,
        environ: Mapping[str, str],
        path: Path | None,
        given: Mapping[str, object] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Return the settings that stand somewhere; raises UsageError for a wrong one.

        `path` is the configuration file, which need not exist; None reads none. What is `given`
        counts before everything else, where it is not None.
        """
        found: dict[str, Any] = {}
        for name, value in self._of_file(path).items():
            found[name] = self._read(name, value, f"{name} of [{self.name}] in {path}")
        for variable in sorted(environ):
            if not variable.startswith(self.prefix) or not environ[variable].strip():
                continue
            if variable == self.key_variable:
                continue
            name = variable.removeprefix(self.prefix).lower()
            if name not in self.settings or variable != variable.upper():
                known = [f"{self.prefix}{one.upper()}" for one in self.settings]
                what = f"The variable {variable} is no setting"
                raise wrong(what, f"{_meant(variable, [*known, self.key_variable])} or unset it")
            found[name] = self._read(name, environ[variable], f"The variable {variable}")
        for name, value in given.items():
            if name not in self.settings:
                raise TypeError(f"{name} is no setting of [{self.name}]")
            if value is not None:
                option = self.options.get(name)
                where = f"The option {option}" if option else f"The given {name} of [{self.name}]"
                found[name] = self._read(name, value, where)
        return found

    def where(self, name: str) -> str:
        """Say where a setting can be made: "FACTBOOK_SEARCH_URL, or url in [search]"."""
        return f"{self.prefix}{name.upper()}, or {name} in [{self.name}]"

    def _read(self, name: str, value: object, where: str) -> object:
        try:
            return self.settings[name](value)
        except ValueError as error:
            shown = "" if name in HIDDEN else f" is {str(value)[:_SHOWN]!r}, but it"
            raise UsageError(detail=f"{where}{shown} {error}.") from None

    def _of_file(self, path: Path | None) -> Mapping[str, object]:
        content = {} if path is None else _tables(path).get(self.name, {})
        if not isinstance(content, dict):
            what = f"{self.name} in {path} is not a table"
            raise wrong(what, f"write [{self.name}] above its settings")
        for name in content:
            if name in KEY_NAMES:
                raise wrong(
                    f"{name} of [{self.name}] in {path} holds a key, which a file must not",
                    "put it into an environment variable and name that in key_env",
                )
            if name not in self.settings:
                what = f"{name} of [{self.name}] in {path} is no setting"
                raise wrong(what, f"{_meant(name, list(self.settings))} or take it away")
        return content


def _tables(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        what = f"The configuration file {path} cannot be read ({error.strerror or error})"
        raise wrong(what, "check its permissions") from error
    except UnicodeDecodeError as error:
        raise wrong(f"The configuration file {path} is not UTF-8", "save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise wrong(f"The configuration file {path} is not TOML: {error}", "mend it") from error


def wrong(what: str, to_do: str) -> UsageError:
    """Return the error of a wrong setting: what is wrong, and what to do."""
    return UsageError(detail=f"{what}; {to_do}.")


# --- keys -----------------------------------------------------------------------------------------


def key_variable(named: str, candidates: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the variable that holds a key: the one that is named, else the first that is set."""
    return named or next((one for one in candidates if one and environ.get(one)), "")


def check_way(address: Address, variable: str) -> None:
    """Raise UsageError where a key would travel readable."""
    if address.tls or address.loopback:
        return
    raise wrong(
        f"The key in {variable} would travel to {address.url} by plain http, readable on the way",
        "use an https:// address or a tunnel to this machine, or unset the key",
    )


def read_key(variable: str, owner: str, environ: Mapping[str, str]) -> Secret | None:
    """Return the key that a variable holds; None where no variable is named.

    Raises UsageError, without the key, where it is not set or cannot be sent.
    """
    if not variable:
        return None
    value = environ.get(variable, "")
    if not value:
        what = f"The variable {variable}, which is to hold the key of {owner}, is not set"
        raise wrong(what, "set it, or take key_env away")
    try:
        return Secret(value)
    except ValueError as error:
        raise wrong(
            f"The key in the variable {variable} cannot be used: {error}",
            "set it again, without quotes or line breaks",
        ) from None


# --- what a setting may be ------------------------------------------------------------------------


def text(value: object) -> str:
    """Read a name of printable ASCII characters."""
    if not isinstance(value, str) or not _NAME.fullmatch(value.strip()):
        raise ValueError("must be a name of printable ASCII characters")
    return value.strip()


def one_of(*names: str) -> Read:
    """Return what reads one of some names, in any case."""

    def read(value: object) -> str:
        name = value.strip().lower() if isinstance(value, str) else ""
        if name not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return name

    return read


def number(low: float, high: float) -> Read:
    """Return what reads a number within limits."""

    def read(value: object) -> float:
        found = math.nan
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            with suppress(ValueError, OverflowError):
                found = float(value)
        if not low <= found <= high:
            raise ValueError(f"must be a number from {low:g} to {high:g}")
        return found

    return read


def whole(low: int, high: int) -> Read:
    """Return what reads a whole number within limits."""

    def read(value: object) -> int:
        found: int | None = None
        if isinstance(value, str) and re.fullmatch(r"\s*\d{1,18}\s*", value, re.ASCII):
            found = int(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            found = value
        if found is None or not low <= found <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return found

    return read


def yes(value: object) -> bool:
    """Read true or false."""
    named = value.strip().lower() if isinstance(value, str) else value
    if named in ("true", "1", "yes"):
        return True
    if named in ("false", "0", "no"):
        return False
    if isinstance(value, bool):
        return value
    raise ValueError("must be true or false")


def url(example: str) -> Read:
    """Return what reads the address of an endpoint."""

    def read(value: object) -> str:
        try:
            return read_address(value.strip() if isinstance(value, str) else "").url
        except ValueError as error:
            raise ValueError(f"is no address ({error}); give one like {example}") from None

    return read


def variable(example: str) -> Read:
    """Return what reads the name of a variable."""

    def read(value: object) -> str:
        if not isinstance(value, str) or not _VARIABLE.fullmatch(value.strip()):
            raise ValueError(
                f"must be the name of an environment variable such as {example}, never a key"
            )
        return value.strip()

    return read


def _meant(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"write {near[0]}" if near else f"use one of {', '.join(known)}"
