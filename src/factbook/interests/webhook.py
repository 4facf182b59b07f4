"""Deliver notices to a webhook: signed, retried a few times, and never to a private address.

The request follows the open Standard Webhooks format, so libraries that verify it exist for most
languages: `webhook-id` (the same for every try of one notice), `webhook-timestamp` (seconds) and
`webhook-signature` (`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`).

Who can set the address of a webhook could have this machine ask its own network for things
(server-side request forgery). So the name is resolved once for each try, every address that it has
must be a public one, and the connection is made to just that address: a name that resolves to
another address a moment later (DNS rebinding) changes nothing. No redirect is followed and no proxy
is used, as either would choose an address again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ssl
import time
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlsplit

import orjson

from factbook.errors import DeliveryError, ModelFailure, SearchError, UsageError
from factbook.interests.deliver import Delivery
from factbook.model.facts import Millis, iso
from factbook.net import cancel
from factbook.net.address import Resolve, check_public, system_resolve
from factbook.net.http import (
    Address,
    Endpoint,
    Failed,
    Secret,
    encodable,
    read_address,
    require_httpx,
    said_in,
)

WEBHOOK_ATTEMPTS: Final = 4  # ours: tries of one notice
WEBHOOK_PAUSE_S: Final = 1.0  # ours: before the second try; doubles with each
WEBHOOK_TIMEOUT_S: Final = 10.0  # ours: total deadline of one try
WEBHOOK_REPLY_BYTES: Final = 1 << 30  # an answer that took it is not read
KEY_CHARS: Final = 24  # ours: a shorter key can be guessed
_PREFIX: Final = "whsec_"  # how the format marks a key that is base64

# Too many requests, a timeout of theirs, or a fault of theirs: the same may work a moment later.
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


def signing_key(text: str) -> bytes:
    """Return the bytes that a key stands for: `whsec_` and base64, or any long text as it is.

    Raises UsageError, without the key, for one that is short or is not base64.
    """
    if text.startswith(_PREFIX):
        try:
            key = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
        except (binascii.Error, ValueError):
            key = b""
    else:
        key = text.encode()
    if len(key) < KEY_CHARS:
        raise UsageError(
            detail=f"The key of the webhook is too short, or not base64 after {_PREFIX}; set one"
            f" of {KEY_CHARS} characters or more, such as from `openssl rand -hex 24`."
        )
    return key


def sign(key: bytes, notice: str, seconds: int, body: bytes) -> str:
    """Return the `webhook-signature` of one request."""
    signed = b".".join([notice.encode(), str(seconds).encode(), body])
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


class Webhook:
    """A webhook that takes notices; safe to share between threads."""

    id = "webhook"

    def __init__(
        self,
        url: str,
        key: Secret,
        *,
        allow_private: bool = False,
        resolve: Resolve = system_resolve,
        clock: Callable[[], Millis] = lambda: int(time.time() * 1000),
        timeout_s: float = WEBHOOK_TIMEOUT_S,
        pause_s: float = WEBHOOK_PAUSE_S,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Name a webhook; nothing is resolved or sent yet.

        `allow_private` lets it be on this machine or in a private network, and be plain http.
        `clock` dates the signature: receivers refuse one that is minutes off. `tls` says which
        certificates are believed; without it, those of the system.
        """
        require_httpx("a webhook")
        self._url = url
        self._address, self._path = read_target(url, allow_private=allow_private)
        self._endpoint = Endpoint(self._address, resolve=self._addresses, tls=tls)
        self._key = signing_key(key.reveal())
        self._secret = key
        self._allow_private = allow_private
        self._resolve = resolve
        self._clock = clock
        self._timeout_s = timeout_s
        self._pause_s = pause_s

    def __repr__(self) -> str:
        return f"Webhook({self._address.url!r})"

    def deliver(self, delivery: Delivery) -> None:
        """Send one notice, up to four times while the trouble may pass.

        Raises DeliveryError with the last reason, and `Cancelled` where the caller is told to stop.
        """
        name, body = _event_id(delivery), _event(delivery)
        for attempt in range(1, WEBHOOK_ATTEMPTS + 1):
            reason, passing = self._try(name, body)
            if not reason:
                return
            if not passing or attempt == WEBHOOK_ATTEMPTS:
                times = "" if attempt == 1 else f", tried {attempt} times"
                shown = self._hide(f"{reason} at {self._address.url}{times}")
                raise DeliveryError(channel=self.id, reason=shown)
            (cancel.current() or cancel.Cancel()).wait(self._pause_s * 2 ** (attempt - 1))

    def _try(self, name: str, body: bytes) -> tuple[str, bool]:
        """Return why it was not taken, "" where it was; and whether that may pass."""
        seconds = self._clock() // 1000
        headers = {
            "webhook-id": name,
            "webhook-timestamp": str(seconds),
            "webhook-signature": sign(self._key, name, seconds, body),
        }
        try:
            with self._endpoint.open(
                self._path,
                body,
                timeout_s=self._timeout_s,
                max_bytes=WEBHOOK_REPLY_BYTES,
                headers=headers,
            ) as answer:
                if answer.ok:
                    return "", False
                if 300 <= answer.status < 400:
                    return f"it answered {answer.status}, and redirects are not followed", False
                said = said_in(answer.whole().body)
                reason = f"it answered {answer.status}{f' ({said})' if said else ''}"
                return reason, answer.status in _PASSING
        except Failed as failed:
            return failed.reason, failed.kind in (ModelFailure.CONNECT, ModelFailure.TIMEOUT)

    def _addresses(self) -> Sequence[str]:
        try:
            if not self._allow_private:
                return check_public(self._url, resolve=self._resolve)
            host = urlsplit(self._url)
            port = host.port or (443 if self._address.tls else 80)
            return self._resolve(self._address.host, port)
        except SearchError as error:
            raise Failed(ModelFailure.HTTP, str(error.details["reason"])) from error
        except (OSError, UnicodeError) as error:
            raise Failed(ModelFailure.CONNECT, f"its name has no address ({error})") from error

    def _hide(self, text: str) -> str:
        # a server may repeat what it was sent; the path is a secret of many hooks, too
        text = self._secret.hide(text)
        for shown in (self._path, self._path.partition("?")[0]):
            text = text if len(shown) < 2 else text.replace(shown, "/...")
        return text


def read_target(url: str, *, allow_private: bool) -> tuple[Address, str]:
    """Return where a webhook is, and its path with the query, which may be secrets.

    Raises UsageError, without the address, if it is none. Plain http is taken for private addresses
    alone: what is told of a person stays unread on the way.
    """
    try:
        parts = urlsplit(url)
        address = read_address(f"{parts.scheme}://{parts.netloc}" if parts.netloc else url)
        if not set(parts.path + parts.query).issubset(map(chr, range(0x21, 0x7F))):
            raise ValueError("it holds a space or a character outside ASCII")
        if parts.fragment:
            raise ValueError("it holds a #")
        if not address.tls and not allow_private:
            raise ValueError("it is plain http, which everyone on the way can read")
    except ValueError as error:
        raise UsageError(
            detail=f"The address of the webhook cannot be used ({error}); give one that begins"
            " with https://."
        ) from None
    return address, f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"


# --- what is sent ---------------------------------------------------------------------------------


def _event_id(delivery: Delivery) -> str:
    # of another file with the same number, the notice was made at another time
    return f"notice_{delivery.notice.id}_{delivery.notice.created_at}"


def _event(delivery: Delivery) -> bytes:
    notice = delivery.notice
    return orjson.dumps(
        {
            "type": f"notice.{notice.kind.value}",
            "timestamp": iso(notice.created_at),
            "data": {
                "notice": notice.id,
                "owner": encodable(notice.owner),
                "entity": encodable(delivery.entity),
                "trigger": notice.trigger.value,
                "text": encodable(delivery.text),
                "facts": [
                    {"id": number, "text": encodable(text)}
                    for number, text in delivery.facts.items()
                ],
                "image": encodable(delivery.image) or None,
            },
        }
    )
