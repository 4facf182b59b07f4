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
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from factbook import policy
from factbook.model.entities import SearchState, SearchTask
from factbook.model.facts import EVERYONE, Millis
from factbook.store.kinds import EMBED_TASK, LEASE, SEARCH_TASK, Above, EmbedTask, Lease
from factbook.store.port import QuietWriter, Reads, Store, first

_EMBEDDING: Final = "embedding"
"""The lease that only counts the tokens which claims of rows are given; theirs have the token
behind it. Each is given out once, so that what comes with an older one is known."""


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


def search_lease(task_id: int) -> str:
    """Return the name of the lease on a search that was asked for."""
    return f"search {task_id}"


def notice_lease(notice_id: int) -> str:
    """Return the name of the lease on a notice that is delivered."""
    return f"notice {notice_id}"


def lease_of(reads: Reads, name: str) -> Lease:
    """Return who took a lease last; nobody, where nobody has."""
    return first(reads, LEASE, {"name": name}) or Lease(name, "", 0, 0)


def is_held(reads: Reads, name: str, *, now: Millis) -> bool:
    """Tell whether somebody has a lease."""
    lease = lease_of(reads, name)
    return stands(lease.holder, lease.until, now=now)


def hold(writer: QuietWriter, name: str, holder: str, *, now: Millis, token: int = 0) -> None:
    """Let somebody hold a lease from now on, for as long as any may."""
    writer.put(LEASE, [Lease(name, holder, token, now + policy.LEASE_MS)])


def take_lease(store: Store, name: str, *, holder: str, now: Millis) -> int | None:
    """Take or renew work that one process at a time may do; None when another holds it.

    Returns the lease's token; a renewed one keeps it.
    """
    with store.locked() as writer:
        last = lease_of(writer, name)
        token = last.token
        if last.holder != holder:
            if stands(last.holder, last.until, now=now):
                return None
            token += 1
        hold(writer, name, holder, now=now, token=token)
        return token


def drop_lease(store: Store, name: str, *, token: int) -> None:
    """Give a lease back; nothing where another has it, or had it since."""
    with store.locked() as writer:
        if lease_of(writer, name).token == token:
            writer.put(LEASE, [Lease(name, "", token, 0)])


class Claimed(NamedTuple):
    """Rows that one worker may embed until its lease ends."""

    target: str
    token: int
    rows: Sequence[tuple[int, str]]  # (id, text)


def claim_waiting(store: Store, target: str, *, limit: int, holder: str, now: Millis) -> Claimed:
    """Lease waiting rows that nobody holds; their token makes older claims worthless."""
    with store.locked() as writer:
        standing = _standing(writer, now)
        rows = writer.waiting(target, limit=limit, due=now, besides=standing)
        if not rows:
            return Claimed(target, 0, ())
        token = lease_of(writer, _EMBEDDING).token + 1
        writer.put(LEASE, [Lease(_EMBEDDING, "", token, 0)])
        hold(writer, f"{_EMBEDDING} {token}", holder, now=now, token=token)
        ids = [id_ for id_, _ in rows]
        tried = {task.row_id: task for task in _tasks(writer, target, ids)}
        new = EmbedTask(target, 0, 0, 0, 0, "", False)
        tasks = [tried.get(id_, new)._replace(row_id=id_, token=token, until=0) for id_ in ids]
        writer.put(EMBED_TASK, tasks)
        end_claims(writer)  # of those that these rows were taken over from
    return Claimed(target, token, rows)


def release(
    store: Store,
    claim: Claimed,
    ids: Sequence[int],
    *,
    error: str,
    until: Millis,
    aside: bool = False,
    tried: bool = True,
) -> None:
    """Give claimed rows back, not to be tried before `until`, or put aside.

    `tried` tells that they failed, and not what was to embed them.
    """
    with store.locked() as writer:
        tasks = [
            task._replace(
                token=0, until=until, attempts=task.attempts + tried, error=error, aside=aside
            )
            for task in _tasks(writer, claim.target, ids)
            if task.token == claim.token
        ]
        writer.put(EMBED_TASK, tasks)
        end_claims(writer)


def retry_aside(store: Store) -> int:
    """Let rows that were put aside be tried again; return how many."""
    with store.locked() as writer:
        return writer.drop(EMBED_TASK, {"aside": True})


def set_aside(reads: Reads) -> list[tuple[str, int, str]]:
    """Return (target, id, error) of rows that cannot be embedded."""
    tasks = reads.find(EMBED_TASK, {"aside": True})
    return [(task.target, task.row_id, task.error) for task in tasks]


def held_now(reads: Reads, *, now: Millis) -> int:
    """Return how many rows are being embedded at this moment."""
    groups = reads.tally(EMBED_TASK, ("token",), {"token": _standing(reads, now)})
    return sum(tally.rows for tally in groups.values())


def held_rows(reads: Reads, target: str, ids: Sequence[int], token: int) -> set[int]:
    """Return the rows that are still claimed under this token."""
    return {task.row_id for task in _tasks(reads, target, ids) if task.token == token}


def end_claims(writer: QuietWriter) -> None:
    """Forget the leases under which no row is being embedded any more."""
    claims = _claims(writer)
    used = writer.tally(EMBED_TASK, ("token",), {"token": [claim.token for claim in claims]})
    ended = [claim.name for claim in claims if (claim.token,) not in used]
    if ended:
        writer.drop(LEASE, {"name": ended})


def _tasks(reads: Reads, target: str, ids: Sequence[int]) -> list[EmbedTask]:
    return reads.find(EMBED_TASK, {"target": target, "row_id": ids})


def _claims(reads: Reads) -> list[Lease]:
    return [lease for lease in reads.find(LEASE) if lease.name.startswith(f"{_EMBEDDING} ")]


def _standing(reads: Reads, now: Millis) -> list[int]:
    """Return the tokens of the claims that keep others out."""
    return [claim.token for claim in _claims(reads) if stands(claim.holder, claim.until, now=now)]


def claim_search(store: Store, *, claimer: str, now: Millis, after: int = 0) -> SearchTask | None:
    """Take the oldest search that may be made and that nobody makes; None without any.

    It is taken under the write lock; `after` is the id of the one before.
    """
    if _free_search(store, now, after) is None:
        return None  # nobody waits for the write lock where nothing is to be done
    with store.locked() as writer:
        task = _free_search(writer, now, after)
        if task is not None:
            hold(writer, search_lease(task.id), claimer, now=now)
        return task


def _free_search(reads: Reads, now: Millis, after: int) -> SearchTask | None:
    waiting = (SearchState.QUEUED, SearchState.FAILED)
    where = {"owner": EVERYONE, "id": Above(after), "state": waiting}
    tasks = [task for task in reads.find(SEARCH_TASK, where) if due(task.until, now=now)]
    names = [search_lease(task.id) for task in tasks]
    leases = reads.find(LEASE, {"name": names}) if names else []
    held = {lease.name for lease in leases if stands(lease.holder, lease.until, now=now)}
    return next((task for task in tasks if search_lease(task.id) not in held), None)


def release_search(store: Store, task_id: int, *, claimer: str) -> None:
    """Give a search back that was taken and not made; nothing where another has it."""
    with store.locked() as writer:
        if lease_of(writer, search_lease(task_id)).holder == claimer:
            writer.drop(LEASE, {"name": search_lease(task_id)})


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
