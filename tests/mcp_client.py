"""A client of `factbook mcp`: starts the server and talks to it line by line."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import Queue
from typing import Any

import forked

WAIT_S = 60  # a busy machine is slow; what hangs is an error
MODERN = "2026-07-28"


class Server:
    """One server at work; answers are kept by the number of their request."""

    def __init__(self, db: Path, *options: str, env: Mapping[str, str] | None = None) -> None:
        given, ours = os.pipe()
        self._stdin = os.fdopen(ours, "wb")
        ours, taken = os.pipe()
        self._stdout = os.fdopen(ours, "rb")
        kept = {
            key: value
            for key, value in os.environ.items()
            if key == "PYTHONPATH" or not key.startswith(forked.SETTLED)
        }
        fixed = {"PYTHONWARNINGS": "error", "FACTS_LLM_PROVIDER": "none"}
        self._child = forked.start(
            ["--db", str(db), "mcp", *options],
            env={**kept, **fixed, **(env or {})},
            files=[given, taken, 2],
        )
        os.close(given)
        os.close(taken)
        self._answers: dict[Any, Queue[dict[str, Any]]] = {}
        self._number = 0
        self._sending = threading.Lock()
        self.unasked: Queue[dict[str, Any]] = Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> int:
        self._stdin.close()
        code = self._child.wait(WAIT_S)
        self._reader.join()
        self._stdout.close()
        return code

    def kill(self) -> None:
        """End it as the machine might."""
        self._child.kill()

    def _read(self) -> None:
        for line in self._stdout:
            answer = json.loads(line)  # stdout carries nothing but the protocol
            self._answers.get(answer["id"], self.unasked).put(answer)

    def say(self, line: bytes) -> None:
        self._stdin.write(line + b"\n")
        self._stdin.flush()

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        with self._sending:
            self._number = number = self._number + 1
            self._answers[number] = Queue()
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
            self.say(json.dumps(message).encode())
        return number

    def wait(self, number: int) -> dict[str, Any]:
        return self._answers[number].get(timeout=WAIT_S)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer = self.wait(self.send(method, params))
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def error(self, method: str, **params: Any) -> dict[str, Any]:
        error: dict[str, Any] = self.wait(self.send(method, params))["error"]
        return error

    def call(self, tool: str, **arguments: Any) -> Any:
        """Return the record of a call that succeeds."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert result["isError"] is False, result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def refused(self, tool: str, **arguments: Any) -> str:
        """Return what is said of a call that fails."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert result["isError"] is True, result
        said: str = result["content"][0]["text"]
        return said


def modern(**params: Any) -> dict[str, Any]:
    """Return the parameters of a request of the newer era."""
    return {**params, "_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}
