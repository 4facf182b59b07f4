"""What several test files share: the command line as a real process, and a sample log."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

import forked

if TYPE_CHECKING:
    from mongo_house import House

pytest.register_assert_rewrite("factbook.testing.contract")

# How fast something is shows in `make bench`: a busy machine makes no test wrong. `make test` looks
# at some examples of each property, the same each time, so that what fails was changed;
# `make test-slow` looks at many, and at others each time (HYPOTHESIS_PROFILE=thorough).
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
settings.register_profile(
    "tests",
    deadline=None,
    max_examples=1_000 if THOROUGH else 40,
    derandomize=not THOROUGH,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tests")


def examples(count: int) -> int:
    """Return how many examples a property is held to: so many, or twenty times that."""
    return 20 * count if THOROUGH else count


# A shell that runs the tests in the background has them ignore Ctrl-C, and every process that they
# start inherits that; the tests that send one need it to arrive.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


MEMORY = Path("/dev/shm")
ROOM = 4 << 30  # bytes that must be free there


def pytest_configure() -> None:
    """Keep the files of tests in memory where it has room: they wait for no disk."""
    if (
        "TMPDIR" not in os.environ
        and os.access(MEMORY, os.W_OK)
        and shutil.disk_usage(MEMORY).free > ROOM
    ):
        tempfile.tempdir = str(MEMORY)


def pytest_collection_finish() -> None:
    """Have the collector leave alone what lives until the end: thousands of tests."""
    gc.collect()
    gc.freeze()


SESSION = "5a3e1c00-0000-4000-8000-000000000001"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Return what was printed as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cli:
    """Runs `factbook` as a process of its own, with a home of its own."""

    home: Path
    env: Mapping[str, str] = field(default_factory=dict)

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a process: nothing of the machine but the way to programs."""
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "FACTBOOK_KEY_FILE": str(self.home / "redaction.key"),
            "TZ": "UTC",
            "PYTHONWARNINGS": "error",
            **({"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}),
            **self.env,
            **(more or {}),
        }

    def __call__(
        self,
        *args: str | Path,
        code: int = 0,
        env: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> Done:
        """Run one command to its end and hold it to its exit code."""
        if before is None and not any(key.startswith(forked.SETTLED) for key in env or ()):
            ended = forked.run([*map(str, args)], env=self.environment(env))
        else:
            ended = subprocess.run(
                [sys.executable, "-m", "factbook", *map(str, args)],
                env=self.environment(env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=120,
                preexec_fn=before,
                check=False,
            )
        done = Done(
            code=ended.returncode,
            out=ended.stdout.decode("utf-8"),
            err=ended.stderr.decode("utf-8"),
        )
        assert done.code == code, f"exit {done.code}\n{done.out}\n{done.err}"
        assert "Traceback" not in done.err, done.err
        return done


def record(kind: str, uuid: str, content: object, **more: object) -> str:
    """Return one record of a Claude Code log; `at` gives its time."""
    at = more.pop("at", "2026-11-17T14:03:00.000Z")
    return json.dumps(
        {
            "type": kind,
            "uuid": uuid,
            "parentUuid": None,
            "sessionId": SESSION,
            "timestamp": at,
            "cwd": "/home/ann/shop",
            "gitBranch": "main",
            "message": {"role": kind, "content": content},
            **more,
        }
    )


def call(uuid: str, name: str, **given: object) -> str:
    """Return the record of a tool call."""
    block = {"type": "tool_use", "id": f"toolu_{uuid}", "name": name, "input": given}
    return record("assistant", uuid, [block])


def sample_lines() -> list[str]:
    """Return a short session: a question, commands, an edit, a failure, an answer."""
    failed = {
        "type": "tool_result",
        "tool_use_id": "toolu_a3",
        "content": "tar: backup.tgz: Cannot open: No such file or directory",
        "is_error": True,
    }
    return [
        record("user", "u1", "Copy the backup from the tower and unpack it in /srv/restore"),
        call("a1", "Bash", command="sshpass -p 'Tr0ub4dor&3' ssh root@192.168.20.4 'ls -la'"),
        call("a2", "Bash", command="scp ann@tower:/mnt/user/backup.tgz /srv/restore/"),
        call("a3", "Bash", command="tar -xzf backup.tgz -C /srv/restore"),
        record("user", "r3", [failed]),
        call("a4", "Edit", file_path="/home/ann/shop/auth.py", old_string="a", new_string="b"),
        record("assistant", "a5", [{"type": "text", "text": "The login redirect works again."}]),
        json.dumps({"type": "file-history-snapshot", "messageId": "m1", "snapshot": {}}),
        "",
    ]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line, in a home where nobody has been."""
    home = tmp_path / "home"
    home.mkdir()
    return Cli(home=home)


@pytest.fixture
def sample_log(tmp_path: Path) -> Path:
    """A log of one short session."""
    folder = tmp_path / "logs"
    folder.mkdir()
    path = folder / f"{SESSION}.jsonl"
    path.write_text("\n".join(sample_lines()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def mongo_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A MongoDB server's address, its own for each file of tests."""
    from factbook.testing.mongo_server import mongo_server

    with mongo_server(tmp_path_factory.mktemp("mongo")) as address:
        yield address


@pytest.fixture
def house(mongo_address: str, tmp_path: Path) -> Iterator[House]:
    """Files that share a new record there."""
    from mongo_house import House

    made = House(mongo_address, tmp_path)
    yield made
    made.close()
