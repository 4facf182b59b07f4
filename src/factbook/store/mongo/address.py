"""What the URL of a record may say: never less than a majority, never to wait for long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pymongo.errors import ConfigurationError, PyMongoError
from pymongo.uri_parser import parse_uri

from factbook.errors import UsageError

# Milliseconds, where the URL does not say less. A write waits for them with its file's lock held.
_TIMES: Final[Mapping[str, int]] = {
    "serverSelectionTimeoutMS": 3_000,
    "connectTimeoutMS": 1_500,
    "socketTimeoutMS": 3_500,  # longer than for a majority: what it says of that is worth having
    "wTimeoutMS": 3_000,
}
_DNS_S: Final = 5.0  # for the names behind mongodb+srv://, once, when a file is opened
_WEAKER: Final = {
    "w": "majority",
    "journal": True,
    "readconcernlevel": "majority",
    "readpreference": "primary",
}


class Address(NamedTuple):
    """Where a record is, and how long to wait for it."""

    name: str  # for messages: nobody's password is in it
    database: str
    times: Mapping[str, int]  # milliseconds, by the names of the driver's options


def parsed(url: str) -> Address:
    """Return what a URL says.

    Raises UsageError for one that is none, makes a weaker promise, or waits for longer than the
    lock of a file can be held.
    """
    try:
        given: Mapping[str, Any] = parse_uri(url, warn=False, connect_timeout=_DNS_S)
    except ConfigurationError:
        if not url.startswith("mongodb+srv://"):
            raise _no_url() from None
        raise UsageError(
            detail="the URL of the typed store begins with mongodb+srv://, and DNS has no servers"
            " under its name; check it and the network, or name them: mongodb://HOST,HOST/DATABASE"
        ) from None
    except (PyMongoError, OSError, ValueError):
        raise _no_url() from None
    options = {name.lower(): value for name, value in given["options"].items()}
    for name, least in _WEAKER.items():
        if name in options and options[name] != least:
            raise UsageError(
                detail=f"the URL of the typed store asks for {name}={options[name]}; an"
                f" acknowledged memory is kept by {name}={least} alone, so leave it out"
            )
    hosts = ",".join(f"{host}:{port}" if port else host for host, port in given["nodelist"])
    database = given["database"] or "factbook"
    return Address(f"mongodb://{hosts}/{database}", database, _times(options))


def _no_url() -> UsageError:
    """Return the error of what is no URL, without what the driver says: the password is in it."""
    return UsageError(
        detail="the URL of the typed store is none: it is mongodb://HOST/DATABASE, and a name or"
        " password in it has its / : @ and % written as %2F %3A %40 %25; files that it names are"
        " there"
    )


def _times(options: Mapping[str, Any]) -> dict[str, int]:
    """Return in milliseconds how long to wait for what: as a URL says, if it does not say more."""
    if "timeoutms" in options:
        raise UsageError(
            detail="the URL of the typed store says timeoutMS, with which no write has a wtimeout;"
            " say wtimeoutMS, socketTimeoutMS or serverSelectionTimeoutMS instead"
        )
    times = {}
    for name, most in _TIMES.items():
        value = options.get(name.lower(), most)
        if isinstance(value, float):  # the driver has seconds of all but one
            value = round(value * 1000)
        if not value or value > most:
            raise UsageError(
                detail=f"the URL of the typed store says {name}={value or 0}; a write holds its"
                f" file while it waits, so say 1 to {most}, or leave it out"
            )
        times[name] = value
    return times
