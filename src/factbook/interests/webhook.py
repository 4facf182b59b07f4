"""Deliver notices to a webhook: signed, retried a few times, and never to a private address.

The request follows the open Standard Webhooks format, so libraries that verify it exist for most
languages: `webhook-id` (the same for every try of one notice), `webhook-timestamp` (seconds) and
`webhook-signature` (`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`).

Who can set the address of a webhook could have this machine ask its own network for things
(server-side request forgery). So the name is resolved once, every address that it has must be a
public one, and the connection is made to just that address: a name that resolves to another
address a moment later (DNS rebinding) changes nothing. No redirect is followed and no proxy is
used, as either would choose an address again. `http.client` does that with a socket of one's own;
an HTTP library that resolves by itself does not. The whole try runs in a thread which the caller
leaves at its deadline, because no timeout holds while a name is resolved.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Final
from urllib.parse import unquote, urlsplit

import orjson

from factbook.errors import DeliveryError, SearchError, UsageError
from factbook.interests.deliver import Delivery
from factbook.model.facts import Millis, iso
from factbook.net import cancel
from factbook.net.address import Resolve, check_public, system_resolve
from factbook.net.http import Secret, encodable, said_in

WEBHOOK_ATTEMPTS: Final = 4  # ours: tries of one notice
WEBHOOK_PAUSE_S: Final = 1.0  # ours: before the second try; doubles with each
WEBHOOK_TIMEOUT_S: Final = 10.0  # ours: total deadline of one try
WEBHOOK_REPLY_BYTES: Final = 8 * 1024  # ours: what is read of an answer, for its reason alone
KEY_CHARS: Final = 24  # ours: a shorter key can be guessed
_TELLING: Final = 8  # ours: characters of a part of an address; a shorter one is a plain word
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
        self._target = read_target(url, allow_private=allow_private)
        self._key = signing_key(key.reveal())
        self._secret = key
        self._allow_private = allow_private
        self._resolve = resolve
        self._clock = clock
        self._timeout_s = timeout_s
        self._pause_s = pause_s
        self._tls = tls

    def __repr__(self) -> str:
        return f"Webhook({self._target.origin!r})"

    def deliver(self, delivery: Delivery) -> None:
        """Send one notice, up to four times while the trouble may pass.

        Raises DeliveryError with the last reason, and `Cancelled` where the caller is told to stop.
        """
        name, body = _event_id(delivery), _event(delivery)
        pause = self._pause_s
        for attempt in range(1, WEBHOOK_ATTEMPTS + 1):
            trouble = self._try(name, body)
            if trouble is None:
                return
            if not trouble.passing or attempt == WEBHOOK_ATTEMPTS:
                times = "" if attempt == 1 else f", tried {attempt} times"
                reason = self._hide(f"{trouble.reason} at {self._target.origin}{times}")
                raise DeliveryError(channel=self.id, reason=reason)
            _sleep(pause)
            pause *= 2

    def _try(self, name: str, body: bytes) -> _Trouble | None:
        cancel.check()
        seconds = self._clock() // 1000
        post = _Post(
            target=self._target,
            body=body,
            headers={
                "host": self._target.shown_host,
                "content-type": "application/json",
                "content-length": str(len(body)),
                "accept-encoding": "identity",
                "user-agent": "factbook",
                "connection": "close",
                "webhook-id": name,
                "webhook-timestamp": str(seconds),
                "webhook-signature": sign(self._key, name, seconds, body),
            },
            addresses=self._addresses,
            tls=self._tls,
            timeout_s=self._timeout_s,
            hide=self._hide,
        )
        token = cancel.current()
        with nullcontext() if token is None else token.on_cancel(post.cancel):
            return post.wait()

    def _addresses(self) -> Sequence[str]:
        if self._allow_private:
            return self._resolve(self._target.host, self._target.port)
        return check_public(self._target.url, resolve=self._resolve)

    def _hide(self, text: str) -> str:
        # a server may repeat what it was sent; the path is a secret of many hooks, too
        return self._target.hide(self._secret.hide(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a webhook is; its path and query may be secrets and are not shown."""

    url: str = field(repr=False)
    tls: bool
    host: str  # in lower case; an IPv6 address without brackets
    port: int
    path: str = field(repr=False)  # with the query

    @property
    def origin(self) -> str:
        """Return scheme, host and port, which may be shown."""
        return f"{'https' if self.tls else 'http'}://{self.shown_host}"

    @property
    def shown_host(self) -> str:
        """Return the host as it stands in a request, with the port where it is not the usual."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    def hide(self, text: str) -> str:
        """Return a text without path and query, whole, apart, or as far as they name somebody."""
        path, _, query = self.path.partition("?")
        parts = [self.path, path.rstrip("/"), query, *path.split("/"), *query.split("&")]
        parts += [part.partition("=")[2] for part in query.split("&")]
        hidden = {part: "/..." if part.startswith("/") else "..." for part in parts}
        hidden |= {unquote(part): shown for part, shown in hidden.items()}
        for part in sorted(hidden, key=len, reverse=True):
            if len(part) >= _TELLING or (part.startswith("/") and len(part) > 1):
                text = text.replace(part, hidden[part])
        return text


def read_target(url: str, *, allow_private: bool) -> Target:
    """Read the address of a webhook; raises UsageError, without the address, if it is none.

    Plain http is taken for private addresses alone: what is told of a person stays unread on the
    way.
    """
    trouble = ""
    host, port = "", None
    parts = None
    if not url or any(not "!" <= char <= "~" for char in url):
        trouble = "it is empty, or holds a space or a character outside ASCII"
    else:
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            trouble = "its host or port cannot be read"
    if parts is not None and not trouble:
        scheme = parts.scheme.lower()
        if scheme not in {"http", "https"} or not host:
            trouble = "it does not begin with https:// and a host"
        elif "@" in parts.netloc:
            trouble = "it holds a name or a password"
        elif port == 0 or "%" in host or "\\" in parts.netloc:
            trouble = "its host or port cannot be used"
        elif parts.fragment:
            trouble = "it holds a #"
        elif scheme == "http" and not allow_private:
            trouble = "it is plain http, which everyone on the way can read"
    if parts is None or trouble:
        raise UsageError(
            detail=f"The address of the webhook cannot be used ({trouble}); give one that begins"
            " with https://."
        )
    tls = parts.scheme.lower() == "https"
    path = parts.path or "/"
    return Target(
        url=url,
        tls=tls,
        host=host,
        port=port or (443 if tls else 80),
        path=f"{path}?{parts.query}" if parts.query else path,
    )


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trouble:
    reason: str
    passing: bool  # the same request may succeed a moment later


class _Mark(Enum):
    CANCELLED = "the caller was told to stop"
    TAKEN = "the webhook took it"


class _Post:
    """One request, in a thread of its own that its caller leaves at the deadline."""

    def __init__(
        self,
        *,
        target: Target,
        body: bytes,
        headers: Mapping[str, str],
        addresses: Callable[[], Sequence[str]],
        tls: ssl.SSLContext | None,
        timeout_s: float,
        hide: Callable[[str], str],
    ) -> None:
        self._hide = hide
        self._target = target
        self._body = body
        self._headers = headers
        self._addresses = addresses
        self._tls = tls
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s
        self._found: queue.SimpleQueue[_Trouble | _Mark] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._left = False
        self._socket: socket.socket | None = None
        threading.Thread(target=self._work, name="factbook-webhook", daemon=True).start()

    def wait(self) -> _Trouble | None:
        """Wait for what becomes of it, until the deadline and no longer."""
        try:
            trouble = self._found.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty:
            trouble = self._late()
        finally:
            self._leave()
        if trouble is _Mark.CANCELLED:
            raise cancel.Cancelled
        return trouble if isinstance(trouble, _Trouble) else None

    def cancel(self) -> None:
        """Wake whoever waits, in another thread, with `Cancelled`."""
        self._found.put(_Mark.CANCELLED)
        self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._left = True
            sock = self._socket
        if sock is not None:
            with suppress(OSError):  # closed already, which is what is wanted
                # of the plain socket: shutting down its TLS would wait for the other side
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def _work(self) -> None:
        try:
            self._found.put(self._post())
        except SearchError as error:
            self._found.put(_Trouble(reason=str(error.details["reason"]), passing=False))
        except ssl.SSLCertVerificationError as error:
            reason = f"its certificate is not believed ({error.verify_message})"
            self._found.put(_Trouble(reason=reason, passing=False))
        except TimeoutError:  # it is seen first here where the machine is busy
            self._found.put(self._late())
        except (OSError, UnicodeError, http.client.HTTPException) as error:  # Unicode: of its name
            said = (isinstance(error, OSError) and error.strerror) or type(error).__name__
            self._found.put(_Trouble(reason=f"the connection failed ({said})", passing=True))

    def _late(self) -> _Trouble:
        return _Trouble(reason=f"no answer within {self._timeout_s:g} seconds", passing=True)

    def _post(self) -> _Trouble | _Mark:
        connection = http.client.HTTPConnection(self._target.host, self._target.port)
        connection.sock = self._connect(self._addresses())
        try:
            connection.request("POST", self._target.path, self._body, dict(self._headers))
            # closed as well: while it can be read, it keeps the socket open
            with connection.getresponse() as answer:
                return _judged(answer, self._hide)
        finally:
            connection.close()

    def _connect(self, addresses: Sequence[str]) -> socket.socket:
        """Connect to the first address that answers; raises OSError of the last one."""
        failed = OSError(0, "its name has no address")
        for number, address in enumerate(addresses):
            # the others keep their share of the time, should this one be silent
            left = (self._deadline - time.monotonic()) / (len(addresses) - number)
            try:
                reached = (address, self._target.port)
                sock = socket.create_connection(reached, timeout=max(0.001, left))
                self._keep(sock)
                return self._secured(sock)
            except ssl.SSLCertVerificationError:
                raise
            except OSError as error:
                failed = error
        raise failed

    def _secured(self, sock: socket.socket) -> socket.socket:
        if not self._target.tls:
            return sock
        context = ssl.create_default_context() if self._tls is None else self._tls
        # the handshake comes apart: within it, there would be no socket to take away
        made = context.wrap_socket(
            sock, server_hostname=self._target.host, do_handshake_on_connect=False
        )
        try:
            self._keep(made)
            made.do_handshake()
        except BaseException:
            made.close()
            raise
        return made

    def _keep(self, sock: socket.socket) -> None:
        with self._lock:
            self._socket = sock
            left = self._left
        if left:
            sock.close()
            raise OSError(0, "nobody waits for it any more")


def _judged(answer: http.client.HTTPResponse, hide: Callable[[str], str]) -> _Trouble | _Mark:
    if 200 <= answer.status < 300:
        return _Mark.TAKEN
    if 300 <= answer.status < 400:
        reason = f"it answered {answer.status}, and redirects are not followed"
        return _Trouble(reason=reason, passing=False)
    # Before it is cut: of what is cut, too little is left to be known.
    body = hide(answer.read(WEBHOOK_REPLY_BYTES).decode("utf-8", "replace"))
    said = said_in(body.encode())
    reason = f"it answered {answer.status}{f' ({said})' if said else ''}"
    return _Trouble(reason=reason, passing=answer.status in _PASSING)


def _sleep(seconds: float) -> None:
    token = cancel.current()
    if token is None:
        time.sleep(seconds)
    else:
        token.wait(seconds)
