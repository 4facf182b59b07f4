"""JSON-RPC 2.0 on lines: requests in, answers out, in any order."""

from __future__ import annotations

import json
import math
import re
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from factbook.net.cancel import Cancel

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
LINE_BYTES: Final = 16 * 1024 * 1024  # of one message; a longer one is refused and passed over
THREADS: Final = 4  # calls at work at once that read, and as many that write; more wait
_DIGITS: Final = 300  # of a whole number that is read as one; a longer one is endless
_ENDS: Final = 300  # bytes of a line that cannot be read in which its id is looked for
_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]*")\s*'
_BEGINS: Final = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2.0"\s*,\s*)?' + _ID + rb"[,}]")
_CLOSES: Final = re.compile(rb"[,{]\s*" + _ID + rb"\}\s*\n\Z")
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BREAKS: Final = str.maketrans({c: f"\\u{ord(c):04x}" for c in "\u2028\u2029\x85"})

Params = Mapping[str, Any]
Method = Callable[[Params], Mapping[str, Any]]
Reply = Callable[[str | None], None]  # is told an answer, or that there is none; once


class RPCError(Exception):
    """What a request is answered with where it cannot be done."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class _Request(NamedTuple):
    name: str
    number: str | float  # its id
    params: Params
    reply: Reply


class _Batch:
    """What is told the answers to several requests of one line, and gives them on as one list."""

    def __init__(self, size: int, reply: Reply) -> None:
        self._left = size
        self._answers: list[str] = []
        self._reply = reply
        self._lock = threading.Lock()

    def __call__(self, answer: str | None) -> None:
        with self._lock:
            self._left -= 1
            self._answers += [] if answer is None else [answer]
            left = self._left
        if not left:
            self._reply(f"[{','.join(self._answers)}]" if self._answers else None)


class Loop:
    """Reads requests until the input ends, and answers each.

    What may take long (`slow`) runs in threads, so that a ping is answered meanwhile and a request
    can be called off; the rest is answered in the order of the requests. What writes has threads of
    its own, for it may wait for the writes of others, and what reads must not wait for it. Answers
    are sent by one thread more: requests are read on while nobody reads the answers.
    """

    def __init__(
        self,
        methods: Mapping[str, Method],
        *,
        slow: frozenset[str],
        writes: Callable[[Params], bool] = lambda params: False,
        out: IO[bytes],
        debug: bool = False,
    ) -> None:
        """Take what the methods do, and which calls of slow ones write.

        `out` gets one line for each answer, stderr one for each fault. With `debug` that is a
        traceback, whose last line may hold what was asked or is remembered.
        """
        self._methods = methods
        self._slow = slow
        self._writes = writes
        self._out = out
        self._debug = debug
        self._answers = SimpleQueue[str | None]()  # None: there are no more
        self._at_work: dict[str | float, Cancel] = {}
        self._pools: dict[bool, ThreadPoolExecutor] = {}  # whether it writes -> its threads
        self._gone = False  # nobody reads the answers any more

    def run(self, lines: IO[bytes]) -> None:
        """Read to the end of the input; what is at work then is finished."""
        sender = threading.Thread(target=self._send, name="mcp-answers")
        sender.start()
        try:
            while not self._gone:
                line = lines.readline(LINE_BYTES + 1)
                if not line:
                    break
                if len(line) > LINE_BYTES:
                    self._pass_over(line, lines)
                elif line.strip():
                    self._read(line)
            for pool in self._pools.values():
                pool.shutdown(wait=True)
        finally:
            self._answers.put(None)
            sender.join()

    def behind(self, work: Callable[[], object]) -> None:
        """Do what writes in a thread, behind what waits already; nobody is told how it went.

        Once the input has ended nothing more is begun.
        """
        with suppress(RuntimeError):  # of threads that are shut down
            self._threads(writing=True).submit(self._guarded, work)

    def _pass_over(self, line: bytes, lines: IO[bytes]) -> None:
        begins, closes = line[:_ENDS], line[-_ENDS:]
        while line and not line.endswith(b"\n"):
            line = lines.readline(LINE_BYTES)
            closes = (closes + line)[-_ENDS:]
        error = RPCError(INVALID_REQUEST, "the message is too long")
        self._reply(_refusal(_number_in(begins, closes), error))

    def _read(self, line: bytes) -> None:
        try:
            message = json.loads(line, parse_int=_whole)
        except (ValueError, RecursionError) as error:
            whole = isinstance(error, RecursionError) or _closed(line)
            number = _number_in(line[:_ENDS], line[-_ENDS:] if whole else b"")
            self._reply(_refusal(number, RPCError(PARSE_ERROR, "the line is no JSON")))
            return
        if not isinstance(message, list):
            self._take(message, self._reply)
        elif message:
            reply = _Batch(len(message), self._reply)
            for part in message:
                self._take(part, reply)
        else:
            self._reply(_refusal(None, RPCError(INVALID_REQUEST, "the batch is empty")))

    def _take(self, message: object, reply: Reply) -> None:
        """Begin what a message asks for; `reply` is told of it once."""
        if not isinstance(message, dict):
            reply(_refusal(None, RPCError(INVALID_REQUEST, "a message is a JSON object")))
            return
        name, number, params = message.get("method"), message.get("id"), message.get("params") or {}
        if name is None and ("result" in message or "error" in message):
            reply(None)  # an answer, and nothing was asked
        elif not isinstance(name, str) or not (number is None or _is_number(number)):
            told = number if _is_number(number) else None
            reply(_refusal(told, RPCError(INVALID_REQUEST, "a request has a method and an id")))
        elif number is None:
            if isinstance(params, dict):
                self._note(name, params)
            reply(None)
        elif not isinstance(params, dict):
            reply(_refusal(number, RPCError(INVALID_PARAMS, "params is a JSON object")))
        else:
            self._begin(_Request(name, number, params, reply))

    def _begin(self, request: _Request) -> None:
        if request.name not in self._slow:
            request.reply(self._answered(request))
            return
        from factbook.net.cancel import Cancel

        self._at_work[request.number] = token = Cancel()
        pool = self._threads(writing=self._writes(request.params))
        pool.submit(self._guarded, lambda: self._work(request, token))

    def _note(self, name: str, params: Params) -> None:
        number = params.get("requestId")
        token = self._at_work.get(number) if _is_number(number) else None
        if name == "notifications/cancelled" and token is not None:
            token.cancel()

    def _work(self, request: _Request, token: Cancel) -> None:
        from factbook.net.cancel import Cancelled, cancelling

        answer = None  # who called it off wants none
        try:
            with cancelling(token):
                token.check()
                answer = self._answered(request)
        except Cancelled:
            pass
        finally:
            if self._at_work.get(request.number) is token:  # the same id may have come again
                del self._at_work[request.number]
            request.reply(answer)

    def _answered(self, request: _Request) -> str:
        method = self._methods.get(request.name)
        try:
            if method is None:
                raise RPCError(METHOD_NOT_FOUND, f"there is no method {request.name:.80}")
            return _answer(request.number, "result", method(request.params))
        except RPCError as error:
            return _refusal(request.number, error)
        except Exception as error:  # noqa: BLE001 - one request must not end the server
            self._tell(error)
            said = f"{type(error).__name__} (see stderr)"
            return _refusal(request.number, RPCError(INTERNAL_ERROR, said))

    def _reply(self, answer: str | None) -> None:
        if answer is not None:
            self._answers.put(answer)

    def _send(self) -> None:
        while (answer := self._answers.get()) is not None:
            if self._gone:
                continue
            try:
                self._out.write(answer.encode("utf-8", "replace") + b"\n")
                self._out.flush()
            except (OSError, ValueError):  # the other end is closed, or this one
                self._gone = True

    def _threads(self, *, writing: bool) -> ThreadPoolExecutor:
        if writing not in self._pools:
            from concurrent.futures import ThreadPoolExecutor

            self._pools[writing] = ThreadPoolExecutor(THREADS, thread_name_prefix="mcp")
        return self._pools[writing]

    def _guarded(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - nobody waits for it; it is on stderr
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if self._debug:
            traceback.print_exception(error, file=sys.stderr)
            return
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{last.filename}, line {last.lineno}, in {last.name}"
        print(
            f"factbook mcp: {type(error).__name__} ({where}); --debug tells more", file=sys.stderr
        )


def _is_number(number: object) -> TypeGuard[str | float]:
    """Tell whether a value can be the id of a request."""
    if isinstance(number, float):
        return math.isfinite(number)
    return isinstance(number, str | int) and not isinstance(number, bool)


def _whole(digits: str) -> float:
    """Read a whole number, of as many digits as there are: Python refuses very long ones."""
    return int(digits) if len(digits) <= _DIGITS else math.inf


def _closed(line: bytes) -> bool:
    """Tell whether the last brace of a line that is no JSON closes its first, as far as one sees.

    Else what stands last may be an argument, of a line that was cut.
    """
    bare = _STRING.sub(b"", line)
    return b'"' not in bare and bare.count(b"{") == bare.count(b"}")


def _number_in(begins: bytes, closes: bytes) -> str | float | None:
    """Return the id of a request that cannot be read, where it stands first or last in its line.

    Where it stands elsewhere it may be one of an argument.
    """
    shown = _BEGINS.match(begins) or _CLOSES.search(closes)
    with suppress(ValueError):
        return json.loads(shown[1]) if shown else None
    return None


def _answer(number: str | float | None, what: str, told: Mapping[str, Any]) -> str:
    """Return an answer as one line; raises ValueError for what JSON cannot say."""
    said = json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if not said.isascii():
        said = said.translate(_BREAKS)  # which end a line for some who read by lines
    # The id as it came: an answer to another one, or to half a character less, is none.
    return f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"{what}":{said}}}'


def _refusal(number: str | float | None, error: RPCError) -> str:
    told: dict[str, Any] = {"code": error.code, "message": str(error)}
    if error.data is not None:
        told["data"] = error.data
    return _answer(number, "error", told)
