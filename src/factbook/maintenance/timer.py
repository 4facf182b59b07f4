"""Have the night read new logs and consolidate: a systemd user timer, or a line of the crontab.

Files and lines that this module writes are marked as such, and only marked ones are replaced or
removed. It never starts, stops or enables anything: it says what to type.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from factbook.errors import FactbookError, UsageError

AT: Final = "03:30"
NAME: Final = "factbook-consolidate"
_MARK: Final = "# Written by `factbook install-timer`; with --remove it removes this file."
_CRON_MARK: Final = "# factbook: the next line was written by `factbook install-timer --cron`"
_TIME: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_CRONTAB_SECONDS: Final = 30
_SPECIAL: Final = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the night is to run."""

    commands: Sequence[Sequence[str]]  # in order, whatever became of those before; absolute paths
    environment: Mapping[str, str]
    hour: int
    minute: int


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file that is to be written."""

    path: Path
    text: str


def job(*, db: Path | str, key_file: Path, at: str) -> Job:
    """Compose the nightly run of a database.

    Database and key are named in full, for the night has another environment than a shell.

    Raises UsageError for a time that is none, and for names that no such file can hold.
    """
    matched = _TIME.fullmatch(at)
    if matched is None:
        raise UsageError(detail=f"--at {at} is no time of day; give one like {AT}")
    called = [*program(), "--db", str(_absolute(db) if isinstance(db, Path) else db)]
    commands = [[*called, "ingest"], [*called, "consolidate"]]
    environment = {"FACTBOOK_KEY_FILE": str(_absolute(key_file))}
    for text in (*called, *environment.values()):
        if _SPECIAL.search(text):
            raise UsageError(
                detail=f"{text!r} holds a control character, which neither systemd nor cron can"
                " keep; rename it"
            )
    return Job(
        commands=commands, environment=environment, hour=int(matched[1]), minute=int(matched[2])
    )


def program(name: str = "factbook", *otherwise: str) -> list[str]:
    """Return how to start a program of ours: its script beside this Python, else by this Python.

    `otherwise` are the arguments that Python needs for it; the module factbook by default.
    """
    script = Path(sys.executable).with_name(f"{name}.exe" if sys.platform == "win32" else name)
    if script.is_file() and os.access(script, os.X_OK):
        return [str(script)]
    # -P: the folder in which it happens to start must not lend its modules.
    return [sys.executable, "-P", *(otherwise or ("-m", "factbook"))]


def _absolute(path: Path) -> Path:
    # Not resolved: a link that names the database is meant to.
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 - Path.absolute keeps `..`


def unit_folder() -> Path:
    """Return where a user's own units are: $XDG_CONFIG_HOME/systemd/user."""
    named = os.environ.get("XDG_CONFIG_HOME", "")
    # The specification says that a relative one is to be ignored.
    config = Path(named) if named and Path(named).is_absolute() else Path.home() / ".config"
    return config / "systemd" / "user"


def unit_files(nightly: Job, *, folder: Path) -> list[File]:
    """Return the service and the timer of a job."""
    settings = "".join(
        f"Environment={_unit_word(f'{name}={value}')}\n"
        for name, value in sorted(nightly.environment.items())
    )
    *before, last = (
        " ".join(_unit_word(part, command=True) for part in command) for command in nightly.commands
    )
    # "-": the night is kept also where a log could not be read.
    starts = "".join(f"ExecStart=-{command}\n" for command in before)
    service = f"""{_MARK}
[Unit]
Description=Keep the memory of factbook in order

[Service]
Type=oneshot
{settings}{starts}ExecStart={last}
Nice=10
IOSchedulingClass=idle
"""
    timer = f"""{_MARK}
[Unit]
Description=Keep the memory of factbook in order, every night

[Timer]
OnCalendar=*-*-* {nightly.hour:02d}:{nightly.minute:02d}:00
Persistent=true

[Install]
WantedBy=timers.target
"""
    return [
        File(path=folder / f"{NAME}.service", text=service),
        File(path=folder / f"{NAME}.timer", text=timer),
    ]


def _unit_word(text: str, *, command: bool = False) -> str:
    """Quote one word of a unit file; in a command a dollar sign would name a variable."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return '"' + (quoted.replace("$", "$$") if command else quoted) + '"'


def install(files: Sequence[File]) -> list[Path]:
    """Write the files, all or none of them, and return those that stood there before.

    Raises UsageError where a file of the name is not one of ours.
    """
    before = _ours([file.path for file in files], otherwise="move it away first")
    try:
        for file in files:
            file.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = file.path.with_name(file.path.name + ".new")
            fresh.write_text(file.text, encoding="utf-8")
            fresh.replace(file.path)
    except OSError as error:
        raise FactbookError(
            detail=f"{error.filename or files[0].path} cannot be written ({error.strerror}); make"
            " the folder writable, or use --cron"
        ) from error
    return before


def remove(folder: Path) -> list[Path]:
    """Remove our units, and the link by which the timer was enabled; return what was removed.

    Raises UsageError where a file of the name is not one of ours.
    """
    units = [folder / f"{NAME}.timer", folder / f"{NAME}.service"]
    there = _ours(units, otherwise="it was left alone")
    link = folder / "timers.target.wants" / f"{NAME}.timer"
    if link.is_symlink():
        there.append(link)
    for path in there:
        path.unlink(missing_ok=True)
    return there


def _ours(paths: Sequence[Path], *, otherwise: str) -> list[Path]:
    """Return the paths where something stands; raises UsageError where that is not ours."""
    there = [path for path in paths if path.exists() or path.is_symlink()]
    for path in there:
        if not _is_ours(path):
            raise UsageError(
                detail=f"{path} was not written by `factbook install-timer`; {otherwise}"
            )
    return there


def _is_ours(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline().rstrip("\n") == _MARK
    except OSError:
        return False


def cron_line(nightly: Job) -> str:
    """Return the line of a crontab for a job."""
    named = [f"{name}={shlex.quote(value)}" for name, value in sorted(nightly.environment.items())]
    commands = (
        " ".join([*named, *(shlex.quote(part) for part in command), ">/dev/null"])
        for command in nightly.commands
    )
    # cron ends a command at a percent sign, also within quotes.
    line = "; ".join(commands).replace("%", r"\%")
    return f"{nightly.minute} {nightly.hour} * * * {line}"


def install_cron(line: str) -> bool:
    """Put a line into the user's crontab in the place of an older one of ours.

    Returns whether there was an older one.
    """
    kept, was_there = _without_ours(_crontab())
    _write_crontab([*kept, _CRON_MARK, line])
    return was_there


def remove_cron() -> bool:
    """Take our line out of the user's crontab; return whether there was one."""
    kept, was_there = _without_ours(_crontab())
    if was_there:
        _write_crontab(kept)
    return was_there


def _without_ours(lines: Sequence[str]) -> tuple[list[str], bool]:
    kept = [line for before, line in pairwise(("", *lines)) if _CRON_MARK not in (before, line)]
    return kept, _CRON_MARK in lines


def _crontab() -> list[str]:
    done = _run_crontab(["-l"], "")
    if done.returncode == 0:
        return done.stdout.splitlines()
    if "no crontab" in done.stderr.lower():
        return []
    # Anything else must not end in a crontab that holds our line alone.
    said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
    raise FactbookError(
        detail=f"the crontab cannot be read ({said}); --dry-run prints the line, to be put in by"
        " `crontab -e`"
    )


def _write_crontab(lines: Sequence[str]) -> None:
    done = _run_crontab(["-"], "".join(f"{line}\n" for line in lines))
    if done.returncode:
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise FactbookError(
            detail=f"crontab refused the new line ({said}); --dry-run prints it, to be put in by"
            " `crontab -e`"
        )


def _run_crontab(args: Sequence[str], given: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("crontab")
    if program is None:
        raise UsageError(
            detail="there is no crontab here; --dry-run prints the line for whatever runs things at"
            " night instead, or leave --cron out for a systemd timer"
        )
    try:
        return subprocess.run(
            [program, *args],
            input=given,
            env={**os.environ, "LC_ALL": "C"},  # what it says is read
            capture_output=True,
            text=True,
            check=False,
            timeout=_CRONTAB_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FactbookError(
            detail=f"{program} cannot be run ({error}); --dry-run prints the line, to be put in by"
            " `crontab -e`"
        ) from error
