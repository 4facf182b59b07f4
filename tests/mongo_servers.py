"""A proxy in front of a server that speaks MongoDB's protocol: it fails at chosen commands."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import bson
import pymongo
import pymongo.common

from factbook.store.mongo.record import KINDS, Document, TypedRecord

# A client that lost a connection asks no sooner than this whether the server is there: half a
# second unless told, and no option of a URL says less. What it then does is the same.
pymongo.common.MIN_HEARTBEAT_INTERVAL = 0.01

_HEADER = struct.Struct("<iiii")
_MESSAGE = 2013
_MORE_TO_COME, _EXHAUST_ALLOWED = 2, 1 << 16


@dataclass(frozen=True, slots=True)
class Command:
    """One command on its way to the server."""

    name: str
    body: dict[str, Any]
    batch: list[dict[str, Any]]  # the documents or writes that go with it

    @property
    def collection(self) -> str:
        """The collection that it is about; empty for one about none."""
        named = self.body[self.name]
        return named if isinstance(named, str) else ""


Answer = Callable[[Command], "str | dict[str, Any] | None"]
"""What a proxy does with a command: None lets it pass, "lose" breaks the connection before the
server has it, "lose answer" afterwards, "slow" answers late, a document is the answer instead, and
one under "after" is laid over the server's."""


@dataclass(slots=True)
class Proxy:
    """A listener that hands commands on to a server, as scripted."""

    target: str
    answer: Answer = lambda command: None
    seen: list[Command] = field(default_factory=list)
    set_name: str = ""  # what `hello` says that the replica set is called; empty: none
    patience: float = 3.0  # seconds that a slow answer takes
    _listener: socket.socket = field(default_factory=socket.socket)
    _aborted: set[bytes] = field(default_factory=set)
    _stopped: bool = False

    @property
    def address(self) -> str:
        """Where it listens."""
        host, port = self._listener.getsockname()
        return f"{host}:{port}"

    def start(self) -> None:
        """Listen."""
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        """Listen no more."""
        self._stopped = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while not self._stopped:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        host, _, port = self.target.partition(":")
        with (
            client,
            socket.create_connection((host, int(port))) as server,
            contextlib.suppress(OSError),
        ):
            while (message := _read(client)) is not None:
                request, command = message[:16], _command(message)
                if command is None:  # the older form of hello
                    server.sendall(message)
                    client.sendall(_read(server) or b"")
                    continue
                is_hello = command.name.lower() in ("hello", "ismaster")
                if not is_hello:
                    self.seen.append(command)
                said = None if is_hello else self.answer(command)
                transaction = _transaction(command)
                if said != "lose" and transaction in self._aborted:
                    said = NO_TRANSACTION
                elif said == "lose" or (isinstance(said, dict) and "after" not in said):
                    self._abort(server, transaction)
                if said == "lose":
                    return
                if isinstance(said, dict) and "after" not in said:
                    client.sendall(_reply(request, said))
                    continue
                server.sendall(message)
                reply = _read(server)
                if reply is None or said == "lose answer":
                    return
                if said == "slow":
                    time.sleep(self.patience)
                if isinstance(said, dict):
                    reply = _reply(request, {**_body(reply), **said["after"]})
                if is_hello and self.set_name and reply[12:16] == _HEADER.pack(0, 0, 0, 2013)[12:]:
                    reply = _reply(request, {**_body(reply), **self._as_set()})
                client.sendall(reply)

    def _abort(self, server: socket.socket, transaction: bytes) -> None:
        """End a transaction of which a command never came, as a server does some time later."""
        if transaction and transaction not in self._aborted:
            self._aborted.add(transaction)
            body = {"abortTransaction": 1, **bson.decode(transaction), "$db": "admin"}
            server.sendall(_reply(_HEADER.pack(0, 0, 0, 0), body))
            _read(server)

    def _as_set(self) -> dict[str, Any]:
        me = self.address
        return {"setName": self.set_name, "hosts": [me], "primary": me, "me": me, "setVersion": 1}


@contextmanager
def proxy(target: str, answer: Answer | None = None, *, set_name: str = "") -> Iterator[Proxy]:
    """Run a proxy in front of a server."""
    made = Proxy(target, set_name=set_name)
    if answer is not None:
        made.answer = answer
    made.start()
    try:
        yield made
    finally:
        made.stop()


def _transaction(command: Command) -> bytes:
    """Return what names the transaction of a command; empty for one in none."""
    if command.body.get("autocommit") is not False:
        return b""
    return bson.encode({name: command.body[name] for name in ("lsid", "txnNumber", "autocommit")})


def _read(connection: socket.socket) -> bytes | None:
    header = _exactly(connection, 16)
    if header is None:
        return None
    rest = _exactly(connection, _HEADER.unpack(header)[0] - 16)
    return None if rest is None else header + rest


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            return None
        found += part
    return found


def _command(message: bytes) -> Command | None:
    if _HEADER.unpack(message[:16])[3] != _MESSAGE:
        return None
    place, body, batch = 20, dict[str, Any](), list[dict[str, Any]]()
    while place < len(message):
        kind, place = message[place], place + 1
        size = struct.unpack_from("<i", message, place)[0]
        if kind == 0:
            body = bson.decode(message[place : place + size])
        else:
            at = message.index(b"\0", place + 4) + 1
            while at < place + size:
                one = struct.unpack_from("<i", message, at)[0]
                batch.append(bson.decode(message[at : at + one]))
                at += one
        place += size
    return Command(next(iter(body)), body, batch)


def _body(message: bytes) -> dict[str, Any]:
    size = struct.unpack_from("<i", message, 21)[0]
    body: dict[str, Any] = bson.decode(message[21 : 21 + size])
    return body


def _reply(request: bytes, body: dict[str, Any]) -> bytes:
    asked = _HEADER.unpack(request)[1]
    content = struct.pack("<i", 0) + b"\0" + bson.encode(body)
    return _HEADER.pack(16 + len(content), 1, asked, _MESSAGE) + content


def at(step: str, said: Any, *, times: int = 1) -> Answer:
    """Do something with the first commands of a kind, and let the others pass."""
    left = [times]

    def answer(command: Command) -> Any:
        if f"{command.name} {command.collection}" == step and left[0]:
            left[0] -= 1
            return said
        return None

    return answer


PASSING: dict[str, Any] = {"ok": 0.0, "errorLabels": ["TransientTransactionError"]}
NO_TRANSACTION = PASSING | {"code": 251, "codeName": "NoSuchTransaction", "errmsg": "aborted"}
NOT_PRIMARY: dict[str, Any] = {
    "ok": 0.0,
    "code": 10107,
    "codeName": "NotWritablePrimary",
    "errmsg": "not primary",
}
NO_MAJORITY: dict[str, Any] = {
    "after": {
        "writeConcernError": {
            "code": 64,
            "codeName": "WriteConcernFailed",
            "errmsg": "waiting for replication timed out",
            "errInfo": {"wtimeout": True},
        }
    }
}


def raw_client(url: str) -> pymongo.MongoClient[dict[str, Any]]:
    """Return a client that asks for nothing in particular."""
    return pymongo.MongoClient(url)


def documents_of(address: str, name: str = "factbook") -> dict[str, list[dict[str, Any]]]:
    """Return everything that a server holds, by collection."""
    with raw_client(f"mongodb://{address}") as client:
        database = client[name]
        return {one: list(database[one].find()) for one in database.list_collection_names()}


def drop_index(address: str, name: str, collection: str, *keys: str) -> None:
    """Take an index from a collection, whatever the server calls it."""
    with raw_client(f"mongodb://{address}") as client:
        indexes = client[name][collection]
        for index in list(indexes.list_indexes()):
            if tuple(index["key"]) == keys:
                indexes.drop_index(index["name"])


def changed(record: TypedRecord, after: int = 0) -> tuple[int, dict[str, list[Document]]]:
    """Return (the last commit, documents by kind)."""
    upto, found = after, {kind: dict[str, Document]() for kind in KINDS}
    for commit, kind, documents in record.changed(after):
        upto = commit
        found[kind] |= {document["_id"]: document for document in documents}
    return upto, {kind: [*documents.values()] for kind, documents in found.items()}
