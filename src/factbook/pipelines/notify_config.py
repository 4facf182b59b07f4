"""Read what may lead to a notice: every trigger of the seed's table, unless something is set.

It comes from the environment (`FACTBOOK_NOTIFY_ON`), else from `on` in the table `[notify]` of the
configuration file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from factbook import policy
from factbook.model.facts import NOTIFY_ON, Trigger
from factbook.net.settings import Table

if TYPE_CHECKING:
    from factbook.net.setting_types import PlainValidator


def _triggers(value: object) -> frozenset[Trigger]:
    names = value.split(",") if isinstance(value, str) else value
    known = sorted(policy.NOTIFY_ON)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"must be a list of {', '.join(known)}")
    wanted = [name.strip().lower() for name in names if name.strip()]
    for trigger in wanted:
        if trigger not in known:
            raise ValueError(f"must name some of {', '.join(known)}, and {trigger[:40]!r} is none")
    return frozenset(Trigger(trigger) for trigger in wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyConfig:
    """What notices are about."""

    on: Annotated[frozenset[Trigger], PlainValidator(_triggers)] = NOTIFY_ON  # what may lead to one


def load_notify_config(environ: Mapping[str, str], path: Path | None = None) -> NotifyConfig:
    """Return what notices are about.

    `path` is the configuration file, which need not exist; None reads none. Raises UsageError,
    which names the file or the variable and what to do.
    """
    return NotifyConfig(**_TABLE.found(environ, path))


_TABLE: Final = Table(name="notify", prefix="FACTBOOK_NOTIFY_", config=NotifyConfig)
