"""Leases: who works on what, for how long, and when that has ended.

One rule for everything that one process at a time may do (a night, reading, cleaning) or take a
part of (rows to embed, searches, notices). A lease stands while its holder may still be at work:
never longer than `policy.LEASE_MS`, whatever its holder's clock said, and no moment longer than a
process of this machine that has ended.
"""

from __future__ import annotations

import functools
import os
import socket
import uuid
from pathlib import Path

from factbook import policy
from factbook.model.facts import Millis

__all__ = ["due", "holder_name", "is_dead", "stands"]


def holder_name() -> str:
    """Return a name for whoever takes a lease now; no other has the same.

    It says which process of which machine that is: a number of a process is given out again, its
    start is not.
    """
    pid = os.getpid()
    return f"{_machine()}:{pid}:{_started(pid)}:{uuid.uuid4().hex}"


def stands(holder: str, until: Millis, *, now: Millis) -> bool:
    """Tell whether a lease keeps others out.

    One that would hold for longer than any may is of a clock that was ahead, or ours was set back.
    """
    longest = now + policy.LEASE_MS + policy.CLOCK_SLACK_MS
    return now < until <= longest and not is_dead(holder)


def due(until: Millis, *, now: Millis) -> bool:
    """Tell whether what failed may be tried again; a wait longer than any is of a clock ahead."""
    return not now < until <= now + policy.LONGEST_WAIT_MS


def is_dead(holder: str) -> bool:
    """Tell whether a lease's holder was a process of this machine that has ended."""
    machine, _, rest = holder.partition(":")
    pid, _, rest = rest.partition(":")
    started = rest.partition(":")[0]
    if os.name == "nt":
        return False  # there, signal 0 is no question: it ends the process
    if machine != _machine() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        pass  # it is there, and belongs to somebody else
    now = _started(int(pid))
    return now == "ended" or bool(started and now and started != now)


@functools.cache
def _machine() -> str:
    """Name this machine as long as it runs, and the part of it where its processes are seen."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
        inside = str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")  # of this container
    except (OSError, ValueError):
        boot = inside = ""  # no Linux
    return f"{socket.gethostname()}/{boot}/{inside}".replace(":", "_")


def _started(pid: int) -> str:
    """Return when a process started, in the kernel's ticks, where that can be had, else nothing.

    "ended" is one that was killed and that its parent has not asked for yet.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = status.rpartition(")")[2].split()  # a name may hold anything, also brackets
    if len(fields) < 20:
        return ""
    return "ended" if fields[0] in "ZX" else fields[19]
