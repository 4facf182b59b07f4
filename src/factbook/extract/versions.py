"""Tell by which redactor and by which rules a text is read: a digest of their code and tables.

A number that somebody raises would be forgotten once; a digest cannot be. It changes with a comment
too, which costs a remark of the doctor and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import resources
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from factbook.extract.rules import RuleSet

_BYTES: Final = 6  # of a digest: it tells versions apart, and is read by people


def redactor_version(redactor: object) -> str:
    """Return the version of a redactor: of everything in the package that it comes from."""
    return _code(type(redactor).__module__.rpartition(".")[0] or type(redactor).__module__)


@lru_cache(maxsize=4)
def rules_version(rules: RuleSet) -> str:
    """Return the version of a set of rules, one's own among them."""
    rows = sorted(
        (rule.name, *(str(value) for name, value in _fields(rule) if name != "find"))
        for rule in rules.rules
    )
    return _digest([_code("factbook.extract"), repr(rows)])


def _fields(rule: object) -> Iterable[tuple[str, object]]:
    return ((name, getattr(rule, name)) for name in type(rule).__slots__)  # type: ignore[attr-defined]


@cache
def _code(package: str) -> str:
    """Return the digest of the sources of a package; of what has none, its name says it all."""
    try:
        files = sorted(
            (traversable.name, traversable.read_text(encoding="utf-8"))
            for traversable in resources.files(package).iterdir()
            if traversable.name.endswith(".py")
        )
    except (ImportError, TypeError, OSError, ValueError):
        return package
    return _digest([text for file in files for text in file])


def _digest(texts: Iterable[str]) -> str:
    made = blake2b(digest_size=_BYTES)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        made.update(len(data).to_bytes(8, "big") + data)
    return made.hexdigest()
