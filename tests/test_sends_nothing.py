"""Nothing leaves this machine, and nothing is written outside of our folders.

It is used in a process whose system calls are filtered where the system can: whoever opens a socket
of the Internet there, Python or native code, a child or a thread, is killed. Its home, its folders
and its temporary folder are new, and what they hold at the end is listed.
"""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A filter of system calls (seccomp, Linux): socket() for IPv4 or IPv6 kills the process. Elsewhere
# the hook of Python sees what Python does.
GUARD = r"""
import ctypes, platform, struct, sys
NUMBERS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
machine = NUMBERS.get(platform.machine())
if sys.platform == "linux" and machine:
    LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
    KILL, ALLOW = 0x80000000, 0x7FFF0000
    arch, number = machine
    steps = [
        (LOAD, 0, 0, 4), (EQUAL, 0, 5, arch),
        (LOAD, 0, 0, 0), (EQUAL, 0, 3, number),
        (LOAD, 0, 0, 16), (EQUAL, 2, 0, 2), (EQUAL, 1, 0, 10),
        (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, KILL),
    ]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in steps))
    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
    libc = ctypes.CDLL(None, use_errno=True)
    filter = Filter(len(steps), ctypes.addressof(program))
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # no new privileges: no root is needed
    assert libc.prctl(22, 2, ctypes.byref(filter), 0, 0) == 0, ctypes.get_errno()
else:
    import os, socket
    def hook(event, args):
        inet = event == "socket.__new__" and args[1] in (socket.AF_INET, socket.AF_INET6)
        if inet or event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
            os.abort()
    sys.addaudithook(hook)
"""

USE = """
from factbook.memory import Memory
with Memory() as memory:
    memory.remember("I live in Oslo")
    memory.add_turn("I love the Pelle Mini, and my bike is blue.", session="s")
    assert memory.embed().receipt.embedded > 0
    assert memory.recall("where do I live?").hits
    memory.search_memory("bike")
    assert memory.check() == []

from factbook.surface.cli import main
for arguments in (["chat"], ["worker", "--once"], ["recall", "tea"]):
    sys.argv = ["factbook", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, arguments
"""


def run(home: Path, code: str, *, said: str = "") -> subprocess.CompletedProcess[str]:
    """Run code under the guard, in a new home."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    keep = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    env = keep | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "TMPDIR": str(home / "tmp"),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        env[f"XDG_{name}_HOME"] = str(home / name.lower())
    return subprocess.run(
        [sys.executable, "-c", GUARD + code],
        env=env,
        cwd=home,
        input=said,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def files(home: Path) -> list[str]:
    """Return the files that are not in a folder of ours."""
    found = [one.relative_to(home) for one in home.rglob("*") if not one.is_dir()]
    return sorted(str(one) for one in found if "factbook" not in one.parts)


def test_nothing_is_sent_and_nothing_is_left_elsewhere(tmp_path: Path) -> None:
    done = run(tmp_path, USE, said="I love green tea.\nwhere do I live?\n/quit\n")
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert files(tmp_path) == []
    assert "green tea" in done.stdout


def test_the_guard_sees_what_is_sent_and_what_is_left(tmp_path: Path) -> None:
    sent = run(tmp_path, "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)")
    killed = (-signal.SIGSYS, -signal.SIGABRT) if hasattr(signal, "SIGSYS") else (3,)
    assert sent.returncode in killed
    looked_up = run(tmp_path, "import socket; socket.getaddrinfo('host.example', 80)")
    assert looked_up.returncode in killed
    left = run(tmp_path, "import pathlib; (pathlib.Path.home() / 'id').write_text('1')")
    assert left.returncode == 0
    assert files(tmp_path) == ["id"]


@pytest.mark.skipif(sys.platform != "linux", reason="where it keeps its id is known of Linux")
def test_onnxruntime_by_itself_is_seen(tmp_path: Path) -> None:
    import importlib.metadata

    version = importlib.metadata.version("onnxruntime")
    done = run(tmp_path, "import onnxruntime; onnxruntime.disable_telemetry_events()")
    reports = tuple(map(int, version.split(".")[:2])) >= (1, 29)
    assert reports == (done.returncode != 0 or files(tmp_path) != [])


def test_one_module_imports_onnxruntime() -> None:
    """Any other import could come first, and then nothing holds it back."""
    found = set()
    for folder in ("src", "bench", "scripts", "tests", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if "onnxruntime" not in text:
                continue
            for node in ast.walk(_without_types(ast.parse(text))):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                if any(one.split(".")[0] == "onnxruntime" for one in names):
                    found.add(path.relative_to(ROOT).as_posix())
    assert found == {"src/factbook/embed/runtime.py"}


def _without_types(tree: ast.Module) -> ast.Module:
    tree.body = [
        one
        for one in tree.body
        if not (isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING")
    ]
    return tree
