"""Read where notices go: nowhere, unless something is set.

A setting comes from the environment (`FACTBOOK_NOTIFY_WEBHOOK`), else from the table `[notify]` of
the configuration file, else it has its default. The key that signs what goes to the webhook stands
in FACTBOOK_NOTIFY_KEY, or in the variable that `key_env` names; it turns nothing on by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from factbook import policy
from factbook.interests.deliver import Channel, Desktop
from factbook.interests.webhook import Webhook, read_target, signing_key
from factbook.model.facts import NOTIFY_ON, Trigger
from factbook.net import settings
from factbook.net.http import Secret
from factbook.net.settings import Table, wrong

if TYPE_CHECKING:
    from factbook.net.setting_types import Field, KeyVariable, PlainValidator

KEY_VARIABLE: Final = "FACTBOOK_NOTIFY_KEY"


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
    """Where notices go, besides a chat that is open, and about what."""

    webhook: Annotated[
        str, Field(min_length=1, description="an address such as https://example.org/notices")
    ] = field(default="", repr=False)  # its path may be a secret
    key_env: KeyVariable = KEY_VARIABLE  # the variable that holds the key of the webhook
    allow_private: bool = False  # the webhook may be on this machine or in a private network
    desktop: bool = False  # show them in the corner of the screen, where there is a notifier
    on: Annotated[frozenset[Trigger], PlainValidator(_triggers)] = (
        NOTIFY_ON  # what may lead to a notice at all
    )


def load_notify_config(environ: Mapping[str, str], path: Path | None = None) -> NotifyConfig | None:
    """Return where notices go; None where nothing is set.

    `path` is the configuration file, which need not exist; None reads none. Raises UsageError,
    which names the file or the variable and what to do, also for a webhook that cannot be used.
    """
    values = _TABLE.found(environ, path)
    if not values:
        return None
    config = NotifyConfig(**values)
    if config.webhook:
        read_target(config.webhook, allow_private=config.allow_private)
        signing_key(_key(config, environ).reveal())
    return config


def open_channels(config: NotifyConfig | None, environ: Mapping[str, str]) -> list[Channel]:
    """Return the channels that are configured and there; none of them sends anything yet.

    A desktop without a notifier gives none. Raises UsageError where the key of a webhook is not
    set.
    """
    channels: list[Channel] = []
    if config is None:
        return channels
    if config.webhook:
        key = _key(config, environ)
        channels.append(Webhook(config.webhook, key, allow_private=config.allow_private))
    desktop = Desktop.find(environ) if config.desktop else None
    if desktop is not None:
        channels.append(desktop)
    return channels


def _key(config: NotifyConfig, environ: Mapping[str, str]) -> Secret:
    if not environ.get(config.key_env):
        raise wrong(
            f"The variable {config.key_env}, with which notices to the webhook are signed, is not"
            " set",
            "set it to a long random text, such as from `openssl rand -hex 24`, here and at the"
            " receiver",
        )
    key = settings.read_key(config.key_env, "the webhook", environ)
    assert key is not None  # a variable is named
    return key


_TABLE: Final = Table(
    name="notify",
    prefix="FACTBOOK_NOTIFY_",
    config=NotifyConfig,
    key_variable=KEY_VARIABLE,
)
