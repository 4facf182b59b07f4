"""JSON-RPC 2.0 on lines: requests in, answers out, in any order.

Knows: messages, threads, how a request is called off. Does not know: what any method does.
"""

from __future__ import annotations

import json
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from factbook.net.cancel import Cancel

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
LINE_BYTES: Final = 16 * 1024 * 1024  # of one message; a longer one is refused and passed over
THREADS: Final = 4  # calls at work at once; more wait

Params = Mapping[str, Any]
Method = Callable[[Params], Mapping[str, Any]]


class RPCError(Exception):
    """What a request is answered with where it cannot be done."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        """Take one of the codes, a sentence, and what belongs to it."""
        super().__init__(message)
        self.code = code
        self.data = data


class Loop:
    """Reads requests until the input ends, and answers each.

    What may take long (`slow`) runs in threads, so that a ping is answered meanwhile and a request
    can be called off; the rest is answered in the order of the requests.
    """

    def __init__(
        self,
        methods: Mapping[str, Method],
        *,
        slow: frozenset[str],
        out: IO[bytes],
        debug: bool = False,
    ) -> None:
        """Take what the methods do; `out` gets one line for each answer, stderr one for each fault.

        With `debug` that is a traceback, whose last line may hold what was asked or is remembered.
        """
        self._methods = methods
        self._slow = slow
        self._out = out
        self._debug = debug
        self._writing = threading.Lock()
        self._at_work: dict[Any, Cancel] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._gone = False  # nobody reads the answers any more

    def run(self, lines: IO[bytes]) -> None:
        """Read to the end of the input; what is at work then is finished."""
        while not self._gone:
            line = lines.readline(LINE_BYTES + 1)
            if not line:
                break
            if len(line) > LINE_BYTES:
                while line and not line.endswith(b"\n"):
                    line = lines.readline(LINE_BYTES)
                self._fail(None, RPCError(INVALID_REQUEST, "the message is too long"))
            elif line.strip():
                self._read(line)
        if self._pool is not None:
            self._pool.shutdown(wait=True)

    def behind(self, work: Callable[[], object]) -> None:
        """Do something in a thread, behind what waits already; nobody is told how it went.

        Once the input has ended nothing more is begun.
        """
        with suppress(RuntimeError):  # of threads that are shut down
            self._threads().submit(self._guarded, work)

    def _read(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._fail(None, RPCError(PARSE_ERROR, "the line is no JSON"))
            return
        batch = message if isinstance(message, list) else [message]
        if not batch:
            self._fail(None, RPCError(INVALID_REQUEST, "the batch is empty"))
        for part in batch:
            self._take(part)

    def _take(self, message: object) -> None:
        if not isinstance(message, dict):
            self._fail(None, RPCError(INVALID_REQUEST, "a message is a JSON object"))
            return
        name, number, params = message.get("method"), message.get("id"), message.get("params") or {}
        if name is None and ("result" in message or "error" in message):
            return  # an answer, and nothing was asked
        if not isinstance(name, str) or isinstance(number, bool | float | dict | list):
            self._fail(None, RPCError(INVALID_REQUEST, "a request has a method and an id"))
        elif not isinstance(params, dict):
            self._fail(number, RPCError(INVALID_PARAMS, "params is a JSON object"))
        elif number is None:
            self._note(name, params)
        elif name in self._slow:
            from factbook.net.cancel import Cancel

            self._at_work[number] = token = Cancel()
            self._threads().submit(self._guarded, lambda: self._work(name, number, params, token))
        else:
            self._answer(name, number, params)

    def _note(self, name: str, params: Params) -> None:
        number = params.get("requestId")
        token = self._at_work.get(number) if isinstance(number, int | str) else None
        if name == "notifications/cancelled" and token is not None:
            token.cancel()

    def _work(self, name: str, number: Any, params: Params, token: Cancel) -> None:
        from factbook.net.cancel import Cancelled, cancelling

        try:
            with cancelling(token):
                token.check()
                self._answer(name, number, params)
        except Cancelled:
            pass  # who called it off wants no answer
        finally:
            self._at_work.pop(number, None)

    def _answer(self, name: str, number: Any, params: Params) -> None:
        method = self._methods.get(name)
        try:
            if method is None:
                raise RPCError(METHOD_NOT_FOUND, f"there is no method {name:.80}")
            result = method(params)
        except RPCError as error:
            self._fail(number, error)
            return
        except Exception as error:  # noqa: BLE001 - one request must not end the server
            self._tell(error)
            self._fail(number, RPCError(INTERNAL_ERROR, f"{type(error).__name__} (see stderr)"))
            return
        self._write({"jsonrpc": "2.0", "id": number, "result": result})

    def _fail(self, number: Any, error: RPCError) -> None:
        told: dict[str, Any] = {"code": error.code, "message": str(error)}
        if error.data is not None:
            told["data"] = error.data
        self._write({"jsonrpc": "2.0", "id": number, "error": told})

    def _write(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        data = line.encode("utf-8", "replace") + b"\n"
        with self._writing:
            try:
                self._out.write(data)
                self._out.flush()
            except (BrokenPipeError, ValueError):
                self._gone = True

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="mcp")
        return self._pool

    def _guarded(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - nobody waits for it; it is on stderr
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        """Say on stderr where something went wrong."""
        if self._debug:
            traceback.print_exception(error, file=sys.stderr)
            return
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{last.filename}, line {last.lineno}, in {last.name}"
        print(
            f"factbook mcp: {type(error).__name__} ({where}); --debug tells more", file=sys.stderr
        )
