"""Read settings from the environment and the configuration file, and say clearly what is wrong.

A table of settings is one table of the configuration file (`[search]`), the variables of one prefix
(`FACTBOOK_SEARCH_URL`) and the fields of one dataclass, whose annotations say what a setting may
be. What is given in the call counts first, then a variable, then the file; an empty variable counts
as not set. A key is never a setting: a table names the variable that holds it.

Pydantic reads the values. It is imported where something is set, so that nobody else waits for it.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, get_type_hints

import platformdirs

from factbook.errors import UsageError
from factbook.net.http import Address, Secret

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

KEY_NAMES: Final = frozenset({"key", "api_key", "secret", "token", "password"})
HIDDEN: Final = frozenset({"url", "key_env"})  # may hold a secret: not shown in errors

_SHOWN: Final = 80  # characters of a wrong value
_FILE_BYTES: Final = 1024 * 1024  # of a configuration file; a device has no end


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The settings of one part of factbook."""

    name: str  # in the configuration file
    prefix: str  # of its variables
    config: type[Any]  # the dataclass whose fields are the settings
    key_variable: str = ""  # the variable that holds its key; "" where it has none
    besides: frozenset[str] = frozenset()  # fields that are no settings
    options: Mapping[str, str] = field(default_factory=dict)  # setting -> its command line option

    @property
    def settings(self) -> list[str]:
        """The names of the settings."""
        return [setting.name for setting in fields(self.config) if setting.name not in self.besides]

    def found(
        self,
        environ: Mapping[str, str],
        path: Path | None,
        given: Mapping[str, object] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Return the settings that stand somewhere; raises UsageError for a wrong one.

        `path` is the configuration file, which need not exist; None reads none. What is `given`
        counts before everything else, where it is not None. A value that another one overrules must
        be right too.
        """
        places = [*self._of_file(path), *self._of_environ(environ), *self._of_call(given)]
        if not places:
            return {}
        from factbook.net import setting_types

        hints = get_type_hints(self.config, localns=vars(setting_types), include_extras=True)
        return {name: _read(hints[name], name, value, where) for name, value, where in places}

    def where(self, name: str) -> str:
        """Say where a setting can be made: "FACTBOOK_SEARCH_URL, or url in [search]"."""
        return f"{self.prefix}{name.upper()}, or {name} in [{self.name}]"

    # Each of these gives the name of a setting, its value and, for an error, where that stands.

    def _of_file(self, path: Path | None) -> Iterator[tuple[str, object, str]]:
        content = {} if path is None else _tables(path).get(self.name, {})
        if not isinstance(content, dict):
            what = f"{self.name} in {path} is not a table"
            raise wrong(what, f"write [{self.name}] above its settings")
        for name, value in content.items():
            where = f"{name} of [{self.name}] in {path}"
            if self.key_variable and name in KEY_NAMES:
                raise wrong(
                    f"{where} holds a key, which a file must not",
                    "put it into an environment variable and name that in key_env",
                )
            if name not in self.settings:
                raise wrong(
                    f"{where} is no setting", f"{_meant(name, self.settings)} or take it away"
                )
            yield name, value, where

    def _of_environ(self, environ: Mapping[str, str]) -> Iterator[tuple[str, object, str]]:
        for variable in sorted(environ):
            if not variable.startswith(self.prefix) or not environ[variable].strip():
                continue
            if variable == self.key_variable:
                continue
            name = variable.removeprefix(self.prefix).lower()
            if name not in self.settings or variable != variable.upper():
                known = [f"{self.prefix}{setting.upper()}" for setting in self.settings]
                known += [self.key_variable] if self.key_variable else []
                what = f"The variable {variable} is no setting"
                raise wrong(what, f"{_meant(variable, known)} or unset it")
            yield name, environ[variable], f"The variable {variable}"

    def _of_call(self, given: Mapping[str, object]) -> Iterator[tuple[str, object, str]]:
        for name, value in given.items():
            if name not in self.settings:
                raise TypeError(f"{name} is no setting of [{self.name}]")
            if value is not None:
                option = self.options.get(name)
                where = f"The option {option}" if option else f"The given {name} of [{self.name}]"
                yield name, value, where


def config_path(environ: Mapping[str, str]) -> Path:
    """Return where the configuration file is: $FACTBOOK_CONFIG, else the user's folder."""
    named = environ.get("FACTBOOK_CONFIG")
    return Path(named) if named else platformdirs.user_config_path("factbook") / "config.toml"


def wrong(what: str, to_do: str) -> UsageError:
    """Return the error of a wrong setting: what is wrong, and what to do."""
    return UsageError(detail=f"{what}; {to_do}.")


def _tables(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(_FILE_BYTES + 1)
        if len(content) > _FILE_BYTES:
            raise wrong(f"The configuration file {path} is too long for one", "name another file")
        return tomllib.loads(content.decode("utf-8-sig"))  # as some editors save it
    except FileNotFoundError:
        return {}
    except OSError as error:
        what = f"The configuration file {path} cannot be read ({error.strerror or error})"
        raise wrong(what, "check its permissions") from error
    except UnicodeDecodeError as error:
        raise wrong(f"The configuration file {path} is not UTF-8", "save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:  # brackets are nested too deeply
        raise wrong(f"The configuration file {path} is not TOML: {error}", "mend it") from error


def _meant(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"write {near[0]}" if near else f"use one of {', '.join(known)}"


def _read(hint: Any, name: str, value: object, where: str) -> object:
    from pydantic import TypeAdapter, ValidationError

    adapter: TypeAdapter[object] = TypeAdapter(hint)
    value = value.strip() if isinstance(value, str) else value
    try:
        # Text is read as what it stands for; true is no number, and 8.5 no whole one.
        return adapter.validate_python(value, strict=isinstance(value, bool | float))
    except ValidationError as error:
        shown = "" if name in HIDDEN else f" is {str(value)[:_SHOWN]!r}, but it"
        raise UsageError(detail=f"{where}{shown} {_what_it_must(adapter, error)}.") from None


def _what_it_must(adapter: TypeAdapter[object], error: ValidationError) -> str:
    """Say what a setting must be: by its own reader, its description, else its type and limits."""
    first = error.errors()[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    schema = adapter.json_schema()
    schema = schema.get("anyOf", [schema])[0] | schema
    if "description" in schema:
        return f"must be {schema['description']}"
    if "enum" in schema:
        return f"must be one of {', '.join(schema['enum'])}"
    if schema["type"] == "boolean":
        return "must be true or false"
    kind = "a whole number" if schema["type"] == "integer" else "a number"
    return f"must be {kind} from {schema['minimum']} to {schema['maximum']}"


def key_variable(
    named: str, candidates: Sequence[str], address: Address, environ: Mapping[str, str]
) -> str:
    """Return the variable that holds the key of an endpoint: the named one, else the first set.

    "" where there is none. Raises UsageError where the key would travel readable.
    """
    variable = named or next((candidate for candidate in candidates if environ.get(candidate)), "")
    if variable and not address.tls and not address.loopback:
        raise wrong(
            f"The key in {variable} would travel to {address.url} by plain http, readable on the"
            " way",
            "use an https:// address or a tunnel to this machine, or unset the key",
        )
    return variable


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
