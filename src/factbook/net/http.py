"""Exchange bytes with the endpoint of a model: never longer, never more than was allowed.

One exchange is one HTTP request: nothing is retried, no redirect is followed, no connection is kept
for a later one (a server may close a kept one at the very moment it is used again, and a request
that is not retried would fail by that). httpx2 is imported by the first exchange. An exchange obeys
the token of its caller (`factbook.net.cancel`): it ends at once with `Cancelled`, which is no
failure of the endpoint.
"""

from __future__ import annotations

import ipaddress
import queue
import re
import socket
import ssl
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

import orjson

from factbook.errors import ModelFailure, UsageError
from factbook.net import cancel

if TYPE_CHECKING:
    import httpx2

ERROR_BYTES: Final = 64 * 1024  # what is read of the body of an error
REASON_CHARS: Final = 200  # what is shown of what a server says

_CUT: Final = "…"  # at the end of a line that was cut
_PART_OF_KEY: Final = 4  # characters of a key that are some of it; fewer stand in any text

_PLAIN_URL: Final = re.compile(r"[!-~]+")
_WORD_PART: Final = re.compile(r"[!-~]*\Z")  # other scripts have no blanks, and no secrets
_HOST: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?")
_KEY: Final = re.compile(r"[!-~]+")


class Failed(Exception):
    """An exchange with a model that gave nothing usable: how, and why in one clause.

    `said` is what it said instead, whole: it is redacted before it is cut, for a part of a secret
    is none that is known.
    """

    def __init__(
        self,
        kind: ModelFailure,
        reason: str,
        *,
        said: str = "",
        unread: bool = False,
        endpoint: bool = False,
        status: int = 0,
        wait_s: float = 0.0,
    ) -> None:
        self.kind = kind
        self.reason = reason
        self.said = said
        self.unread = unread  # nobody read what was sent: not reached, or refused at the door
        self.endpoint = endpoint  # it is the endpoint's, whatever it is sent
        self.status = status  # of HTTP, where that is the failure
        self.wait_s = wait_s  # how long the endpoint asks to be left alone
        super().__init__(f"{kind}: {reason}")


class Secret:
    """Hold a key so that it is shown nowhere by accident; `reveal` is the only way to it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Keep a key; raises ValueError (without the key) where it cannot stand in a header."""
        if not _KEY.fullmatch(value):
            raise ValueError("it is empty, or holds a space or a character outside ASCII")
        self._value = value

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not pickled")

    def reveal(self) -> str:
        """Return the key."""
        return self._value

    def hide(self, text: str) -> str:
        """Return a text without the key: some servers repeat it in their errors.

        Where a text was cut within it, a part of it stands, which goes, too.
        """
        *cut, last = text.replace(self._value, "[key]").split(_CUT)
        return _CUT.join([*map(self._without_part, cut), last])

    def _without_part(self, text: str) -> str:
        for size in range(len(self._value) - 1, _PART_OF_KEY - 1, -1):
            if text.endswith(self._value[:size]):
                return f"{text[:-size]}[key]"
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where an endpoint is."""

    url: str  # scheme, host, port and path; no slash at its end
    host: str  # in lower case
    path: str  # "" or "/v1"
    tls: bool  # whether what is sent can be read on the way
    loopback: bool  # whether it is this machine


def read_address(url: str) -> Address:
    """Read the address of an endpoint; raises ValueError that says what is wrong with it.

    The error never repeats the address, which may hold a password.
    """
    if not _PLAIN_URL.fullmatch(url):
        raise ValueError("it is empty, or holds a space or a character outside ASCII")
    parts = urlsplit(url)
    if parts.scheme.lower() not in {"http", "https"}:
        raise ValueError("it does not begin with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("it holds a name or a password, which belong into an environment variable")
    if parts.query or parts.fragment:
        raise ValueError("it holds a ? or a #")
    try:
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise ValueError("its port is not a number from 0 to 65535") from None
    address = _ip(host)
    if address is None and not _HOST.fullmatch(host):
        raise ValueError("it names no host")
    shown = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/")
    return Address(
        url=f"{parts.scheme.lower()}://{shown}{'' if port is None else f':{port}'}{path}",
        host=host,
        path=path,
        tls=parts.scheme.lower() == "https",
        loopback=_is_local(host, address),
    )


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_local(host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> bool:
    if address is not None:
        return address.is_loopback or address.is_unspecified  # 0.0.0.0 connects to this machine
    name = host.removesuffix(".")
    return name == "localhost" or name.endswith(".localhost")


def one_line(text: str, *, limit: int = REASON_CHARS) -> str:
    """Return what a server or a model said as one short line that no terminal acts upon.

    A cut leaves no part of a word, which may be part of a secret.
    """
    # the cut comes first: a body may be megabytes long; more words than this are more than fit
    short = " ".join(text.split(maxsplit=limit))[: limit + 1]
    # C: controls, format characters (which can turn the reading order), surrogates, unassigned
    plain = "".join("\ufffd" if unicodedata.category(char)[0] == "C" else char for char in short)
    if len(plain) <= limit:
        return plain
    return _WORD_PART.sub("", plain[:limit])[: limit - 1] + _CUT


def encodable(text: str) -> str:
    """Return a text that has a UTF-8 form: a lone surrogate becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def require_httpx(what: str, *, extra: str = "llm") -> None:
    """Raise UsageError where the package that speaks HTTP is not installed."""
    if find_spec("httpx2") is None:
        how = f"`pip install factbook[{extra}]`"
        raise UsageError(detail=f"{what} needs the package httpx2; install it by {how}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class HTTPReply:
    """What came back, whole; of a status other than 2xx the first 64 KiB."""

    status: int
    location: str  # where a redirect points to
    body: bytes = b""
    retry_after: str = ""  # the header: when to ask again, in seconds or as a date

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300


def said_in(body: bytes) -> str:
    """Return what the body of an error says, in one line; "" where it says nothing.

    Knows the objects of OpenAI's protocol, of Ollama's and of FastAPI.
    """
    try:
        said: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        cut = _CUT if len(body) >= ERROR_BYTES else ""  # more of it was not read
        return one_line(body.decode("utf-8", "replace") + cut)
    while isinstance(said, dict):
        said = next((said[key] for key in _SAYING if key in said), "")
    if isinstance(said, str):
        return one_line(said)
    return one_line(orjson.dumps(said).decode()) if said else ""


_SAYING: Final = ("error", "message", "detail")


class _Mark(Enum):
    END = "the answer is complete"
    GONE = "the thread is gone"
    CANCELLED = "the caller was told to stop"


_Item: TypeAlias = HTTPReply | bytes | Failed | _Mark


class Endpoint:
    """An endpoint of a model; safe to share between threads."""

    def __init__(
        self, address: Address, *, key: Secret | None = None, key_header: str = ""
    ) -> None:
        """Name an endpoint; nothing is sent or imported yet.

        `key_header` is where the key stands alone; without it, it is a bearer's authorization.
        """
        self.address = address
        self._key = key
        self._key_header = key_header
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None

    def __repr__(self) -> str:
        return f"Endpoint({self.address.url!r})"

    def send(
        self, path: str, body: Mapping[str, object] | None, *, timeout_s: float, max_bytes: int
    ) -> HTTPReply:
        """Send one request and return the whole answer; without a body it is a GET.

        `path` follows the address as it is, and may end in a query. `timeout_s` is for everything
        together, the resolution of the name and the last byte of the answer included. Raises
        `Failed` of the kind timeout, connect, http or too_large, and `Cancelled` where the caller
        is told to stop.
        """
        with self.open(path, body, timeout_s=timeout_s, max_bytes=max_bytes) as answer:
            return answer.whole()

    @contextmanager
    def open(
        self,
        path: str,
        body: Mapping[str, object] | None,
        *,
        timeout_s: float,
        max_bytes: int,
        silence_s: float | None = None,
    ) -> Iterator[Answering]:
        """Send one request and give its answer as it comes.

        `silence_s` is how long the server may say nothing, within `timeout_s` for everything.
        The connection is closed with the context, whatever was read until then.
        """
        cancel.check()
        exchange = _Exchange(
            client=self._open_client,
            url=self.address.url + path,
            body=None if body is None else orjson.dumps(body),
            headers=self._headers(),
            timeout_s=timeout_s,
            silence_s=timeout_s if silence_s is None else silence_s,
            max_bytes=max_bytes,
        )
        token = cancel.current()
        try:
            with nullcontext() if token is None else token.on_cancel(exchange.cancel):
                yield Answering(exchange)
        except Failed as failed:
            raise Failed(
                failed.kind,
                self.hide(failed.reason),
                said=failed.said,
                unread=failed.unread,
                endpoint=failed.endpoint,
                status=failed.status,
                wait_s=failed.wait_s,
            ) from failed
        finally:
            exchange.leave()

    def hide(self, text: str) -> str:
        """Return a text without the key of this endpoint."""
        return text if self._key is None else self._key.hide(text)

    def _headers(self) -> dict[str, str]:
        headers = {
            "accept": "application/json",
            # a compressed answer could be a thousand times what was counted
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": "factbook",
        }
        if self._key is not None and self._key_header:
            headers[self._key_header] = self._key.reveal()
        elif self._key is not None:
            headers["authorization"] = f"Bearer {self._key.reveal()}"
        return headers

    def _open_client(self) -> httpx2.Client:
        with self._lock:
            if self._client is None:
                self._client = self._new_client()
            return self._client

    def _new_client(self) -> httpx2.Client:
        import httpx2

        try:
            return httpx2.Client(
                # what stays on this machine goes through no proxy, whatever the environment
                # says; for other hosts its proxies and NO_PROXY hold
                trust_env=not self.address.loopback,
                # to read the certificates of the system takes a while, and http needs none
                verify=True if self.address.tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                follow_redirects=False,
                limits=httpx2.Limits(max_keepalive_connections=0),
            )
        except (OSError, ValueError) as error:
            what = "the certificates or the proxy that the environment names cannot be used"
            reason = f"{what} ({_why(error)})"
            raise Failed(ModelFailure.CONNECT, reason, unread=True, endpoint=True) from error


class Answering:
    """An answer that is coming: its status, and its bytes by iteration."""

    def __init__(self, exchange: _Exchange) -> None:
        """Wait for the status; raises `Failed`."""
        self._exchange = exchange
        self._head = exchange.head()
        self.ok = self._head.ok  # whether the status is 2xx

    def __iter__(self) -> Iterator[bytes]:
        return self._exchange.chunks()

    def whole(self) -> HTTPReply:
        """Wait for the end of the answer, and return all of it."""
        return replace(self._head, body=b"".join(self._exchange.chunks()))


_BEFORE_SENDING: Final = frozenset(
    {
        "connection.connect_tcp.started",
        "connection.start_tls.started",
        "http11.send_request_headers.started",
    }
)


class _Left(Exception):
    """The caller did not wait for this exchange."""


@dataclass(kw_only=True, eq=False, repr=False)  # its headers hold a key
class _Exchange:
    """One request, in a thread of its own.

    The timeouts of an HTTP library count from byte to byte, and none holds while a name is
    resolved. So the caller waits for a queue, until its deadline and no longer; the thread that
    it leaves behind loses its socket, and sends no request if it has not sent one yet.
    """

    client: Callable[[], httpx2.Client]
    url: str
    body: bytes | None
    headers: Mapping[str, str]
    timeout_s: float
    silence_s: float
    max_bytes: int
    _items: queue.SimpleQueue[_Item] = field(init=False, default_factory=queue.SimpleQueue)
    _left: threading.Event = field(init=False, default_factory=threading.Event)
    _cancelled: threading.Event = field(init=False, default_factory=threading.Event)
    _stream: Any = field(init=False, default=None)  # of httpcore2, which gives its socket
    _answered: bool = field(init=False, default=False)  # a status came

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.timeout_s
        threading.Thread(target=self._work, name="factbook-http", daemon=True).start()

    def head(self) -> HTTPReply:
        """Wait for the status line and the headers."""
        item = self._next()
        assert isinstance(item, HTTPReply)  # what the thread gives first, or a failure
        return item

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it comes."""
        while isinstance(item := self._next(), bytes):
            yield item

    def leave(self) -> None:
        """Wait no longer: take the socket from the thread, so that it ends."""
        self._left.set()
        stream = self._stream
        sock = None if stream is None else stream.get_extra_info("socket")
        if isinstance(sock, socket.socket):
            with suppress(OSError):  # closed already, which is what is wanted
                # of the plain socket: shutting down its TLS would wait for the other side
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def cancel(self) -> None:
        """Wake whoever waits, in another thread, with `Cancelled`."""
        self._cancelled.set()
        self._items.put(_Mark.CANCELLED)
        self.leave()

    def _next(self) -> HTTPReply | bytes | _Mark:
        self._obey()
        left = self._deadline - time.monotonic()
        if left <= 0:  # an answer that dribbles fills the queue for ever: the deadline comes first
            raise self._timed_out()
        try:
            item = self._items.get(timeout=min(left, self.silence_s))
        except queue.Empty:
            raise self._timed_out() from None
        self._obey()  # whatever came: a socket that is taken away fails, too
        if isinstance(item, Failed):
            raise item
        if item is _Mark.GONE:
            raise RuntimeError("the thread of an HTTP exchange died; its traceback tells why")
        return item

    def _obey(self) -> None:
        if self._cancelled.is_set():
            raise cancel.Cancelled

    def _timed_out(self) -> Failed:
        silent = time.monotonic() < self._deadline and self.silence_s < self.timeout_s
        seconds = self.silence_s if silent else self.timeout_s
        what = "nothing came" if silent else "no complete answer came"
        reason = f"{what} within {seconds:g} seconds"
        return Failed(ModelFailure.TIMEOUT, reason, endpoint=not self._answered)

    def _work(self) -> None:
        import httpx2

        try:
            self._exchange()
        except _Left:
            pass
        except Failed as failed:
            self._items.put(failed)
        except httpx2.TimeoutException:
            self._items.put(self._timed_out())
        except (httpx2.ConnectError, httpx2.ProxyError) as error:
            asked = self.url.partition("?")[0]  # what is asked may be private
            reason = f"nobody answers at {asked} ({_why(error)})"
            self._items.put(Failed(ModelFailure.CONNECT, reason, unread=True, endpoint=True))
        except httpx2.TransportError as error:
            self._fail(ModelFailure.CONNECT, f"the connection broke ({_why(error)})")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            self._fail(ModelFailure.HTTP, f"the request could not be made ({_why(error)})")
        finally:  # behind what is waited for, if all went as it should
            self._items.put(_Mark.GONE)

    def _exchange(self) -> None:
        with self.client().stream(
            "GET" if self.body is None else "POST",
            self.url,
            content=self.body,
            headers=self.headers,
            timeout=self.timeout_s,
            extensions={"trace": self._trace},
        ) as response:
            location = response.headers.get("location", "")
            coding = response.headers.get("content-encoding", "identity").strip().lower()
            if coding not in {"", "identity"}:
                what = (
                    f"the answer is compressed ({one_line(coding, limit=20)}) without being asked"
                )
                self._fail(ModelFailure.HTTP, what)
                return
            announced = response.headers.get("content-length", "")
            if response.is_success and announced.isdecimal() and int(announced) > self.max_bytes:
                self._too_large()
                return
            self._answered = True
            after = response.headers.get("retry-after", "")
            head = HTTPReply(status=response.status_code, location=location, retry_after=after)
            self._items.put(head)
            received = 0
            for chunk in response.iter_raw():
                if self._left.is_set():
                    return
                received += len(chunk)
                if not response.is_success and received >= ERROR_BYTES:
                    break  # that much of an error is enough
                if received > self.max_bytes:
                    self._too_large()
                    return
                self._items.put(chunk)
            self._items.put(_Mark.END)

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            self._stream = info["return_value"]
        # only here: raised while the library closes a connection, it would leave the socket open
        if event in _BEFORE_SENDING and self._left.is_set():
            raise _Left

    def _too_large(self) -> None:
        limit = self.max_bytes
        self._fail(ModelFailure.TOO_LARGE, f"the answer has more than the {limit:,} bytes allowed")

    def _fail(self, kind: ModelFailure, reason: str) -> None:
        self._items.put(Failed(kind, reason))


def _why(error: Exception) -> str:
    return one_line(str(error) or type(error).__name__)
