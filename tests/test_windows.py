"""What Windows lacks is asked for nowhere: the package is imported and its hooks work without it.

A stand-in, no Windows: modules and functions that only other systems have are taken away from a
process, which is then told that it runs on Windows.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from factbook.surface.hook import events

PREPARED = """
import asyncio, ctypes.util, fcntl, http.server, importlib, json, multiprocessing, os, pkgutil
import shutil, signal, subprocess, sys, time, types, typing

import zoneinfo

import apsw, click._compat, numpy, platformdirs.windows, pydantic, pymongo, rich.live, typer

FUNCTIONS = '''O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK chown fchmod fchown fork getgid getuid
killpg nice posix_fadvise posix_spawn pread pwrite register_at_fork sched_getaffinity setsid'''
SIGNALS = "SIGALRM SIGHUP SIGKILL SIGPIPE SIGQUIT SIGUSR1 SIGUSR2 alarm pthread_sigmask setitimer"
flock, alone = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios"):
    sys.modules[name] = None
for of, names in ((os, FUNCTIONS), (signal, SIGNALS)):
    for name in names.split():
        if hasattr(of, name):
            delattr(of, name)
msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_NBLCK, msvcrt.locking = 2, lambda opened, kind, count: flock(opened, alone)
sys.modules["msvcrt"] = msvcrt
sys.platform = "win32"
"""

IMPORTED = """
import factbook

for module in pkgutil.walk_packages(factbook.__path__, "factbook."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""

WORKED = """
from factbook.memory import Memory
from factbook.sources.spool import Spool, folder_of
from factbook.surface.hook import events
from factbook.surface.hook.events import Hook

db = sys.argv[1]

def fire(name, **more):
    event = {"hook_event_name": name, "session_id": "s1", "transcript_path": __file__, **more}
    hook = Hook(db, owner="me", until=time.monotonic() + 60)
    return hook.answer(event, host="claude-code")

with Memory(db) as memory:
    memory.remember("I love fettuccini with sage.")
    old = memory.remember("I live in Ghent.")
said = fire("UserPromptSubmit", prompt="which fettuccini do I love")
fire("Stop")  # starts the process that reads on
spool = Spool(folder_of(db))
until = time.monotonic() + 60
while not spool.prepared("s1") and time.monotonic() < until:
    time.sleep(0.1)
with Memory(db) as memory, Memory(db, mode="read") as beside:
    memory.erasure.erase_fact(old.id)
    left = [hit.text for hit in beside.recall("Ghent").hits]
print(json.dumps({"said": said, "done": spool.prepared("s1").get("done"), "left": left}))
"""


def as_on_windows(code: str, folder: Path) -> str:
    script = folder / "script.py"
    script.write_text(PREPARED + code, "utf-8")
    env = {"FACTBOOK_KEY_FILE": str(folder / "key"), "HOME": str(folder)}
    env |= {"PYTHONPATH": str(Path(events.__file__).parents[3])}
    ran = subprocess.run(
        [sys.executable, str(script), str(folder / "memory.db")],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_every_module_is_imported(tmp_path: Path) -> None:
    as_on_windows(IMPORTED, tmp_path)


def test_the_hooks_remind_and_what_was_said_is_read(tmp_path: Path) -> None:
    done = json.loads(as_on_windows(WORKED, tmp_path))
    assert "I love fettuccini with sage." in done["said"]
    assert done["done"] == 1
    assert "I live in Ghent." not in done["left"]


@pytest.mark.parametrize(
    ("transcript", "host"),
    [
        (r"C:\Users\ann\.gemini\tmp\a\chats\session-1.json", "gemini-cli"),
        (r"C:\Users\ann\.codex\sessions\2026\rollout-1.jsonl", "codex"),
        (r"C:\Users\ann\.claude\projects\C--shop\1.jsonl", "claude-code"),
    ],
)
def test_paths_with_backslashes_tell_the_client(transcript: str, host: str) -> None:
    event = {"hook_event_name": "SessionStart", "transcript_path": transcript}
    assert events.host_of(event) == host
