"""Start `factbook` processes from one that has the modules loaded already.

A test that runs a command gets a process of its own, with its own environment, files and exit code;
only the second that Python takes to load the same modules is spent once. Tests of what is loaded,
of signals and of files that are closed start Python themselves.

Run as a program this is the process that is forked: it listens at the Unix socket that it is given,
and takes from each connection the arguments (JSON) and the three files of a command.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, NoReturn

SETTLED: Final = ("PYTHON", "LC_", "LANG", "TERMINAL_")
"""What Python and libraries look at when they start: no process is forked where it differs."""
LATE: Final = ("httpx2", "sklearn.cluster")
"""What factbook imports when it is needed."""
_MOST_BYTES: Final = 1_000_000  # of a request


class Gone(RuntimeError):
    """The process that is forked has ended, or says nothing."""


class Child:
    """A command that was started."""

    def __init__(self, args: Sequence[str], connection: socket.socket) -> None:
        self._args, self._connection = args, connection
        self._code: int | None = None
        self.pid = int.from_bytes(_received(connection, 4), "big")

    def wait(self, timeout: float) -> int:
        """Return its exit code, or the negative number of the signal that ended it."""
        if self._code is None:
            self._connection.settimeout(timeout)
            try:
                found = _received(self._connection, 4)
            except TimeoutError:
                raise subprocess.TimeoutExpired(self._args, timeout) from None
            self._code = int.from_bytes(found, "big", signed=True)
            self._connection.close()
        return self._code

    def ends_within(self, seconds: float) -> bool:
        """Wait so long for its end, and tell whether it came; kill it if not."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(seconds)
        ended = self._code is not None
        self.kill()
        return ended

    def kill(self) -> None:
        """End it, if it has not ended."""
        if self._code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self.wait(60)


def start(
    args: Sequence[str], *, env: Mapping[str, str], files: Sequence[int] = (), script: str = ""
) -> Child:
    """Start `factbook ARGS`, or `python -c SCRIPT ARGS`, with exactly this environment.

    Without standard files it reads nothing, and what it says goes unread but for its errors. A
    terminal that is its standard input is the one that controls it.
    """
    if not files:
        with Path(os.devnull).open("r+b") as null:
            files = [null.fileno(), null.fileno(), 2]
            return start(args, env=env, files=files, script=script)
    server = _server(tuple(sorted(_settled(env).items())))
    request = json.dumps(
        {"args": list(args), "env": dict(env), "cwd": str(Path.cwd()), "script": script}
    ).encode()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(60)
    connection.connect(str(server))
    socket.send_fds(connection, [len(request).to_bytes(4, "big")], files)
    connection.sendall(request)
    return Child(args, connection)


def run(
    args: Sequence[str], *, env: Mapping[str, str], data: bytes = b"", timeout: float = 120
) -> subprocess.CompletedProcess[bytes]:
    """Run `factbook ARGS` with exactly this environment, and return how it ended.

    Raises `subprocess.TimeoutExpired` as `subprocess.run` does.
    """
    given, out, err = _Given(data), _Taken(), _Taken()
    pipes = (given, out, err)
    child = start(args, env=env, files=[pipe.theirs for pipe in pipes])
    for pipe in pipes:
        pipe.start()
    try:
        code = child.wait(timeout)
    finally:
        child.kill()
        for pipe in pipes:
            pipe.end()
    return subprocess.CompletedProcess(list(args), code, out.text, err.text)


def _settled(env: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in env.items() if key.startswith(SETTLED)}


class _Pipe:
    """One of the standard files of a command, with a thread at the other end."""

    def __init__(self, *, theirs: int, ours: int) -> None:
        self.theirs, self._ours = theirs, ours
        self._thread = threading.Thread(target=self._work, daemon=True)

    def _work(self) -> None:
        raise NotImplementedError

    def start(self) -> None:
        """Begin; the other end is the command's alone from here on."""
        os.close(self.theirs)
        self._thread.start()

    def end(self) -> None:
        """Wait until everybody who holds the other end has ended."""
        self._thread.join(timeout=60)
        if self._thread.is_alive():
            raise Gone("somebody holds the output of a command that has ended")


class _Given(_Pipe):
    def __init__(self, data: bytes) -> None:
        theirs, ours = os.pipe()
        super().__init__(theirs=theirs, ours=ours)
        self._data = data

    def _work(self) -> None:
        with suppress(BrokenPipeError), os.fdopen(self._ours, "wb", buffering=0) as file:
            file.write(self._data)


class _Taken(_Pipe):
    def __init__(self) -> None:
        ours, theirs = os.pipe()
        super().__init__(theirs=theirs, ours=ours)
        self.text = b""

    def _work(self) -> None:
        with os.fdopen(self._ours, "rb") as file:
            self.text = file.read()


@cache
def _server(settled: tuple[tuple[str, str], ...]) -> Path:
    """Start the process that is forked, for the rest of this one; return where it listens."""
    path = Path(tempfile.mkdtemp(prefix="forked-")) / "socket"
    process = subprocess.Popen(
        [sys.executable, __file__, str(path)],
        env={"PATH": os.environ.get("PATH", ""), "TZ": "UTC", **dict(settled)},
        stdin=subprocess.PIPE,  # it ends when this one does, which closes it
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    if process.stdout.readline() != b"ready\n":
        raise Gone(f"the process that is forked ended with {process.wait()}")
    _RUNNING.append(process)
    return path


_RUNNING: Final[list[subprocess.Popen[bytes]]] = []  # a process that nobody holds is said to leak


# --- the process that is forked -------------------------------------------------------------------


def _serve(path: str) -> tuple[dict[str, Any], list[int]]:
    """Fork for every connection until stdin ends; in each command return what it is to do."""
    running: dict[int, socket.socket] = {}  # who waits for a command, by its process
    ended, wake = socket.socketpair()
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # it is enough that it is written to `wake`
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen(16)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listener, sys.stdin, ended], [], [])
            if ended in ready:
                ended.recv(_MOST_BYTES)
                _answer(running)
            if sys.stdin in ready:
                Path(path).unlink()
                Path(path).parent.rmdir()
                os._exit(0)
            if listener not in ready:
                continue
            connection, _ = listener.accept()
            head, files, _, _ = socket.recv_fds(connection, 4, 3)
            request = json.loads(_received(connection, int.from_bytes(head, "big")))
            pid = os.fork()
            if pid:
                for file in files:
                    os.close(file)
                running[pid] = connection
                connection.sendall(pid.to_bytes(4, "big"))
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (connection, ended, wake, *running.values()):
                one.close()
            os.chdir(request["cwd"])
            settled = _settled(os.environ)  # with what Python adds of its own: the locale
            os.environ.clear()
            os.environ.update({**request["env"], **settled})
            return request, files


def _answer(running: dict[int, socket.socket]) -> None:
    """Tell those whose command has ended how it did."""
    for pid in [*running]:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            with running.pop(pid) as connection, suppress(ConnectionError):  # nobody waits
                connection.sendall(code.to_bytes(4, "big", signed=True))


def _received(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        more = connection.recv(min(count - len(found), _MOST_BYTES))
        if not more:
            raise Gone("the process that is forked has ended")
        found += more
    return found


def _take(files: Sequence[int]) -> None:
    """Have the standard files of this process be those that it was given."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        was = getattr(sys, f"__{name}__")
        now = open(  # noqa: SIM115 - open as long as the process is
            was.fileno(),
            mode,
            buffering=1 if name == "stderr" else -1,
            encoding=was.encoding,
            errors=was.errors,
            closefd=False,
        )
        setattr(sys, name, now)
        setattr(sys, f"__{name}__", now)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _load() -> None:
    """Import all of factbook that a command may use, and read the model that embeds.

    A session of onnxruntime with one thread has none of its own, so that it outlives a fork.
    """
    import factbook
    from factbook.embed import bundled

    for found in pkgutil.walk_packages(factbook.__path__, "factbook."):
        if found.name.startswith("factbook.testing") or found.name.endswith("__main__"):
            continue
        with suppress(ImportError):  # of an extra that is not installed
            importlib.import_module(found.name)
    for late in LATE:
        importlib.import_module(late)
    bundled().load()


def _end(exit_: SystemExit) -> NoReturn:
    """End the process as Python does, but for what was loaded before the fork.

    To take thousands of modules apart takes longer than most commands, and tells nothing of them.
    """
    if not (exit_.code is None or isinstance(exit_.code, int)):
        raise exit_
    threading._shutdown()  # type: ignore[attr-defined]  # it waits for threads, as the end does
    atexit._run_exitfuncs()
    gc.collect()  # what was left open says so
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_.code or 0)


if __name__ == "__main__":
    _load()
    gc.collect()
    gc.freeze()
    wanted, standard = _serve(sys.argv[1])
    _take(standard)
    time.tzset()
    sys.path.pop(0)  # the folder of this file
    try:
        if wanted["script"]:
            sys.argv = ["-c", *wanted["args"]]
            exec(wanted["script"], {"__name__": "__main__"})
        else:
            sys.argv = ["factbook", *wanted["args"]]
            runpy.run_module("factbook", run_name="__main__", alter_sys=True)
        sys.exit()
    except SystemExit as exit_:
        _end(exit_)
