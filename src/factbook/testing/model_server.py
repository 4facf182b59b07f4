"""A language model's server for tests: real HTTP on loopback that plays a script.

It speaks OpenAI's protocol and Ollama's, whole and streamed, and fails in every way that a real
server fails:

    with ModelServer([Reply.json({"ops": []}), Reply.hang(), Reply.status(503)]) as server:
        config = ModelConfig(provider="ollama", model="any", url=server.url)
        ...
        assert server.requests[0].schema is not None

A script is one reply for every request, a list of replies in order, or a function of the request.
"""

from __future__ import annotations

import json
import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler
from typing import Any, Final, Self, TypeAlias, cast

from factbook.model.facts import Millis
from factbook.testing.dialects import (
    MODEL_PATHS,
    BadRequest,
    Catalogue,
    Wire,
    about,
    check,
    is_ollama,
    refuse,
    render,
)
from factbook.testing.replies import Ending, Playing, Reply, Request

__all__ = ["Ending", "ModelServer", "Reply", "Request", "Script", "word_vectors"]

Script: TypeAlias = Reply | Sequence[Reply] | Callable[[Request], Reply]
Embed: TypeAlias = Callable[[str], Sequence[float]]

_ENDLESS_PIECE: Final = b"x" * 4096


def word_vectors(dimension: int = 64) -> Embed:
    """Return an embedder for tests: texts that share words have similar vectors."""

    def embed(text: str) -> list[float]:
        vector = [0.0] * dimension
        for word in text.lower().split():
            digest = blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
            at = int.from_bytes(digest[:4], "big") % dimension
            vector[at] += 1.0 if digest[4] & 1 else -1.0
        norm = sum(x * x for x in vector) ** 0.5 or 1.0
        return [x / norm for x in vector]

    return embed


class ModelServer:
    """Serve a script over HTTP on 127.0.0.1; a context manager.

    `models` are the names that are listed: a request for any other is answered with 404 then,
    and with the script where no names are given. With an `api_key` the paths of OpenAI's protocol
    answer 401 without it. `embed` answers embeddings instead of the script. `routes` answer a path
    with one reply, whatever it is: so the lists of models can fail too. `elsewhere` answers the
    paths of other protocols.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        models: Sequence[str] | None = None,
        api_key: str = "",
        embed: Embed | None = None,
        routes: Mapping[str, Reply] | None = None,
        elsewhere: Callable[[Request], Reply] | None = None,
        context_length: int = 32_768,
        dimension: int = 3_584,
        version: str = "0.12.6",
    ) -> None:
        self.script = script
        self.routes = dict(routes or {})
        self.requests: list[Request] = []
        self.stopping = threading.Event()
        self._embed = embed
        self._elsewhere = elsewhere
        self._api_key = api_key
        self._catalogue = Catalogue(
            models=list(models) if models is not None else ["qwen2.5:7b-instruct"],
            any_model=models is None,
            context_length=context_length,
            dimension=dimension,
            version=version,
        )
        self._life = threading.Lock()  # of starting and stopping
        self._lock = threading.Lock()  # of requests, replies and connections
        self._arrived = threading.Condition(self._lock)
        self._open: set[socket.socket] = set()
        self._calls: list[threading.Thread] = []
        self._accepting: threading.Thread | None = None
        self._wake: socket.socket | None = None
        self._socket: socket.socket | None = None
        self._port = 0

    @property
    def url(self) -> str:
        """Its address, without a path: "http://127.0.0.1:40123"."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def script(self) -> Script:
        """What it plays; setting it begins a list anew."""
        return self._playing.script

    @script.setter
    def script(self, script: Script) -> None:
        self._playing = Playing[Request, Reply](script)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Listen; after `stop`, on the same port."""
        with self._life:
            if self._accepting is not None:
                return
            self.stopping.clear()
            listener = self._socket or _bound(self._port)
            listener.listen(64)
            self._socket = listener
            self._port = listener.getsockname()[1]
            self._wake, woken = socket.socketpair()
            self._accepting = threading.Thread(
                target=self._accept, args=(listener, woken), name="model-server", daemon=True
            )
            self._accepting.start()

    def stop(self) -> None:
        """Cut every connection and refuse new ones, as a server that was stopped does.

        The port stays taken, so that `start` finds it free and nobody else answers there. A script
        may stop its own server.
        """
        with self._life:
            self._halt()
        calls = list(self._calls)
        if threading.current_thread() not in calls:
            for thread in calls:
                thread.join()

    def close(self) -> None:
        """Stop for good and give the port back."""
        self.stop()
        with self._life:
            if self._socket is not None:
                self._socket.close()
                self._socket = None

    def _halt(self) -> None:
        if self._accepting is None or self._wake is None:
            return
        self.stopping.set()
        self._wake.close()
        self._accepting.join()
        self._accepting = self._wake = None
        self._socket = _bound(self._port)  # bound and not listening: a connection is refused
        with self._lock:
            for connection in self._open:
                _shut(connection)

    def wait_for(self, count: int, *, timeout_s: float = 5.0) -> bool:
        """Wait until so many requests have arrived; False where they did not in time."""
        with self._arrived:
            return self._arrived.wait_for(lambda: len(self.requests) >= count, timeout_s)

    def _accept(self, listener: socket.socket, woken: socket.socket) -> None:
        with woken, listener, selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(woken, selectors.EVENT_READ)
            while True:
                if any(key.fileobj is woken for key, _ in selector.select()):
                    return
                connection, _ = listener.accept()
                thread = threading.Thread(
                    target=self._serve, args=(connection,), name="model-server-call", daemon=True
                )
                with self._lock:
                    self._open.add(connection)
                thread.start()
                self._calls = [call for call in (*self._calls, thread) if call.is_alive()]

    def _serve(self, connection: socket.socket) -> None:
        try:
            _Conversation(connection, self)
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _received(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        raw: bytes,
        at: Millis,
        *,
        query: str = "",
    ) -> Request:
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None  # `raw` has it; the protocols answer 400
        with self._arrived:
            request = Request(
                number=len(self.requests) + 1,
                method=method,
                path=path,
                headers=headers,
                body=body,
                raw=raw,
                at=at,
                query=query,
            )
            self.requests.append(request)
            self._arrived.notify_all()
        return request

    def _answer(self, request: Request) -> tuple[Wire, Reply]:
        """Return the answer to a request, and how it is to be sent."""
        plain = Reply()
        try:
            self._allow(request)
            if request.path in self.routes:
                reply = self.routes[request.path]
                if request.path in MODEL_PATHS:
                    check(request, self._catalogue)
                return render(request, reply), reply
            told = about(request, self._catalogue)
            if told is not None:
                return told, plain
            if request.path not in MODEL_PATHS and self._elsewhere is not None:
                reply = self._elsewhere(request)
                return render(request, reply), reply
            if request.path not in MODEL_PATHS:
                raise BadRequest(f"there is no {request.path} here", status=404)
            check(request, self._catalogue)
        except BadRequest as problem:
            return refuse(request, problem), plain
        reply = self._next(request)
        return render(request, reply), reply

    def _allow(self, request: Request) -> None:
        given = request.headers.get("authorization", "")
        if self._api_key and not is_ollama(request.path) and given != f"Bearer {self._api_key}":
            raise BadRequest("Incorrect API key provided.", status=401, code="invalid_api_key")

    def _next(self, request: Request) -> Reply:
        if self._embed is not None and request.path in ("/api/embed", "/v1/embeddings"):
            return Reply.vectors([self._embed(text) for text in request.inputs])
        if (reply := self._playing.answer(request)) is not None:
            return reply
        length = len(cast("Sequence[Reply]", self.script))
        return Reply.status(
            500, f"the script of {length} replies has none for request {request.number}"
        )


def _bound(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the old one lingers a while
        made.bind(("127.0.0.1", port))
    except OSError:
        made.close()
        raise
    return made


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the other side was faster


class _Conversation(BaseHTTPRequestHandler):
    """One connection: requests are read and answered until somebody hangs up."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes
    server_version = "factbook-model-server"
    sys_version = ""

    def __init__(self, connection: socket.socket, owner: ModelServer) -> None:
        self.owner = owner
        self.thinking = False  # in the script, whose errors are not the connection's
        super().__init__(connection, ("127.0.0.1", 0), owner)  # type: ignore[arg-type]

    def handle(self) -> None:
        """Answer until the connection ends; that the other side has gone is no error here."""
        try:
            super().handle()
        except OSError:
            if self.thinking:
                raise

    def finish(self) -> None:
        """Flush and close, though the other side may have gone."""
        try:
            super().finish()
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the requests are kept."""

    def do_GET(self) -> None:
        raw = self._read_body()
        if raw is None:
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        path, _, query = self.path.partition("?")
        at = int(time.time() * 1000)
        self.thinking = True
        request = self.owner._received(self.command, path, headers, raw, at, query=query)
        wire, reply = self.owner._answer(request)
        self.thinking = False
        self._send(wire, reply)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815

    def _read_body(self) -> bytes | None:
        """Return the request's body; None where it is not as its headers say, or broke off."""
        try:
            if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
                return self._read_chunks()
            length = int(self.headers.get("Content-Length") or 0)
        except ValueError:
            return None
        raw = self.rfile.read(length)
        return raw if len(raw) == length else None

    def _read_chunks(self) -> bytes:
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            continue  # trailers
        return b"".join(parts)

    def _send(self, wire: Wire, reply: Reply) -> None:
        if not self._pause(reply.wait_s):
            return
        if reply.wired is not None:
            self.close_connection = True
            self.wfile.write(reply.wired)
            return
        if reply.share > 0 or reply.ending is Ending.WHOLE:
            self._send_body(wire, reply)
        if reply.ending is Ending.HANG:
            self._pause(None)
        if reply.ending is not Ending.WHOLE or reply.length_error:
            self.close_connection = True  # unannounced, as by a server that dies

    def _send_body(self, wire: Wire, reply: Reply) -> None:
        chunked = wire.streamed or reply.chunked
        if self.request_version == "HTTP/1.0":
            chunked, self.close_connection = False, True
        whole = b"".join(wire.pieces)
        announced = len(whole) + reply.length_error
        pieces = list(wire.pieces[: int(len(wire.pieces) * reply.share)])
        if not wire.streamed:
            sent = whole[: int(len(whole) * reply.share)]
            size = reply.piece_bytes or max(1, len(sent))
            pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
        self._send_head(wire, announced=None if chunked else announced)
        if self.command == "HEAD":
            return
        for at, piece in enumerate(pieces):
            if at and not self._pause(reply.every_s):
                return
            self._write(piece, chunked=chunked)
        while reply.ending is Ending.ENDLESS and self._pause(reply.every_s):
            self._write(_ENDLESS_PIECE, chunked=chunked)
        if chunked and reply.ending is Ending.WHOLE:
            self.wfile.write(b"0\r\n\r\n")

    def _send_head(self, wire: Wire, *, announced: int | None) -> None:
        self.send_response(wire.code)
        self.send_header("Content-Type", wire.content_type)
        if announced is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(max(0, announced)))
        for name, value in wire.headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def _write(self, piece: bytes, *, chunked: bool) -> None:
        if chunked:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        else:
            self.wfile.write(piece)

    def _pause(self, seconds: float | None) -> bool:
        """Wait; False where the other side, or the server, has gone meanwhile."""
        if seconds == 0:
            return True
        until = None if seconds is None else time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.connection, selectors.EVENT_READ)
            while not self.owner.stopping.is_set():
                left = None if until is None else until - time.monotonic()
                if (left is not None and left <= 0) or not selector.select(left):
                    return True
                if not self.connection.recv(1, socket.MSG_PEEK):
                    break
                time.sleep(0.01)  # it sends its next request before this one is answered
        self.close_connection = True
        return False
