"""Damage a small ledger in every usual way, use it, and count what is said about it.

Run as a program: `damage.py FIRST MANY [FOLDER]` makes that many damages, each by its number, and
prints how often something went wrong that is no FactbookError, and how often `check` called clean
what says something else than before. The undamaged ledger is kept in FOLDER, for another version.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from factbook.errors import FactbookError
from factbook.memory import Memory

PAGE = 4096
TURNS = (
    ("I live in Oslo and I work at Lindewerk.", "Noted."),
    ("I am allergic to hazelnuts.", "I will keep that in mind."),
    ("I don't like long meetings, but I love cargo bikes.", "Understood."),
    ("My editor is Helix and my shell is fish.", "Good choice."),
    ("We decided to use Postgres for the shop.", "Postgres it is."),
    ("I moved to Bergen in March.", "How is the rain?"),
)


def make(path: Path, logs: Path) -> None:
    """Make a ledger with something in most of its tables: a log, turns, facts, vectors, history."""
    with memory_of(path) as memory:
        memory.ingest([logs], workers=0)
        for number in range(12):
            said, answered = TURNS[number % len(TURNS)]
            memory.sync_turn(f"{said} That is what I said at {number}.", answered, session="chat")
        for number in range(8):
            memory.remember(f"The key of room {number} hangs on hook {number * 7}")
        first = memory.query_facts(limit=1)[0].id
        memory.review.feedback(first, right=True)
        memory.interests.like("cargo bikes")
        memory.embed()
        memory.consolidate()


def memory_of(path: Path, mode: str = "create") -> Memory:
    return Memory(
        path,
        mode=mode,  # type: ignore[arg-type]
        key_file=path.with_name("key"),
        model=None,
        search_config=None,
    )


# --- damages --------------------------------------------------------------------------------------


def flip(data: bytearray, rng: random.Random) -> None:
    """Turn one bit."""
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def scribble(data: bytearray, rng: random.Random) -> None:
    """Write a few bytes of something else."""
    at = rng.randrange(len(data) - 64)
    for n in range(rng.randrange(2, 64)):
        data[at + n] = rng.randrange(256)


def sector(data: bytearray, rng: random.Random) -> None:
    """Lose one sector of a disk."""
    at = rng.randrange(len(data) // 512) * 512
    data[at : at + 512] = bytes(512)


def zero(data: bytearray, rng: random.Random) -> None:
    """Lose one page."""
    at = rng.randrange(len(data) // PAGE) * PAGE
    data[at : at + PAGE] = bytes(PAGE)


def swap(data: bytearray, rng: random.Random) -> None:
    """Exchange two pages."""
    one, other = (rng.randrange(1, len(data) // PAGE) * PAGE for _ in range(2))
    data[one : one + PAGE], data[other : other + PAGE] = (
        data[other : other + PAGE],
        data[one : one + PAGE],
    )


def cut(data: bytearray, rng: random.Random) -> None:
    """Lose the end."""
    del data[rng.randrange(len(data)) :]


KINDS: dict[str, Callable[[bytearray, random.Random], None]] = {
    "flip": flip,
    "scribble": scribble,
    "sector": sector,
    "zero": zero,
    "swap": swap,
    "cut": cut,
}


# --- what is held ---------------------------------------------------------------------------------


def content(path: Path) -> str:
    """Return a digest of all that rows and full text say; of a damaged file what can be read."""
    digest = hashlib.sha256()
    connection = apsw.Connection(str(path))
    try:
        for name, sql in connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type IN"
            " ('table', 'view', 'trigger', 'index') ORDER BY 1"
        ).fetchall():
            digest.update(f"{name} {sql}".encode())
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1"
        ).fetchall():
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                digest.update(repr(row).encode("utf-8", "surrogatepass"))
        if connection.execute("PRAGMA integrity_check(1)").get != "ok":
            return "damaged"
    except (apsw.Error, UnicodeError) as error:
        return f"damaged: {error}"
    finally:
        connection.close()
    return digest.hexdigest()


@dataclass(slots=True)
class Count:
    """What happened in many damages."""

    damages: int = 0
    harmless: int = 0  # what the file holds is the same: a bit of free space
    seen: int = 0  # harmful, and `check` or the opening says so
    missed: Counter[str] = field(
        default_factory=Counter
    )  # harmful, and `check` says clean, by kind
    alarms: Counter[str] = field(default_factory=Counter)  # harmless, and `check` finds something
    raw: Counter[str] = field(default_factory=Counter)  # exceptions that are no FactbookError

    def __str__(self) -> str:
        lines = [
            f"{self.damages} damages: {self.harmless} harmless,"
            f" {self.damages - self.harmless} harmful",
            f"  found by check or open: {self.seen}; called clean: {sum(self.missed.values())}"
            f" {dict(self.missed)}; false alarms: {dict(self.alarms)}",
            f"  exceptions that are no FactbookError: {sum(self.raw.values())}",
        ]
        return "\n".join([*lines, *(f"    {n} x {what}" for what, n in self.raw.most_common())])


def uses(memory: Memory, logs: Path) -> list[tuple[str, Callable[[], object]]]:
    """Return what is done with a damaged ledger: to read first, then to write."""
    return [
        ("check", memory.check),
        ("recall", lambda: memory.recall("where do I live")),
        ("search", lambda: memory.search_memory("allergic", "facts")),
        ("facts", lambda: memory.query_facts(min_confidence=0.1)),
        ("explain", lambda: [memory.explain(one) for one in (1, 9, 17)]),
        ("timeline", memory.sources.timeline),
        ("sessions", memory.sources.sessions),
        ("stats", memory.stats),
        ("export", lambda: sum(1 for _ in memory.export())),
        ("context", lambda: memory.context("what can I bake?")),
        ("entities", memory.interests.entities),
        ("rejections", memory.sources.rejections),
        ("ingest", lambda: memory.ingest([logs], workers=0)),
        ("turn", lambda: memory.sync_turn("I like tea.", "Noted.", session="chat")),
        ("embed", memory.embed),
    ]


def try_one(number: int, good: Path, log: bytes, logs: Path, whole: str, count: Count) -> None:
    """Damage a copy in the way of that number, use it, and count."""
    rng = random.Random(number)
    kind = rng.choice([*KINDS, "log"])
    count.damages += 1
    with tempfile.TemporaryDirectory(prefix="factbook-damage-") as folder:
        path = Path(folder) / "f.db"
        data = bytearray(good.read_bytes())
        if kind == "log":  # the file as it is, and its last writes in a log that is cut or damaged
            journal = bytearray(log)
            rng.choice([flip, scribble, cut, sector])(journal, rng)
            path.with_name("f.db-wal").write_bytes(journal)
        else:
            KINDS[kind](data, rng)
        path.write_bytes(data)
        shutil.copy(good.with_name("key"), path.with_name("key"))
        apart = Path(folder) / "apart"
        apart.mkdir()
        for one in Path(folder).glob("f.db*"):
            shutil.copy(one, apart / one.name)
        # A log that was cut is what a crash leaves: the ledger of some moments before.
        same = kind == "log" or content(apart / "f.db") == whole
        count.harmless += same
        clean = False
        try:
            memory = memory_of(path)
        except FactbookError:
            pass
        except Exception as error:  # noqa: BLE001 - it is what is counted
            count.raw[f"open: {type(error).__name__}: {error}"] += 1
        else:
            for name, use in uses(memory, logs):
                try:
                    found = use()
                    if name == "check":
                        clean = found == []
                        if same and not clean:
                            count.alarms[f"{kind}: {found}"[:120]] += 1
                except FactbookError:
                    pass
                except Exception as error:  # noqa: BLE001
                    where = error.__traceback__
                    while where is not None and where.tb_next is not None:
                        where = where.tb_next
                    line = f"{where.tb_frame.f_code.co_qualname}:{where.tb_lineno}" if where else ""
                    count.raw[f"{name}: {type(error).__name__}: {str(error)[:60]} in {line}"] += 1
            try:
                memory.close()
            except FactbookError:
                pass
            except Exception as error:  # noqa: BLE001
                count.raw[f"close: {type(error).__name__}: {error}"] += 1
        if not same:
            if clean:
                count.missed[kind] += 1
            else:
                count.seen += 1


def prepare(folder: Path) -> tuple[Path, bytes, Path, str]:
    """Make the ledger and a log of its last writes; return both, what is read, and its content."""
    from conftest import sample_lines

    logs, more = folder / "logs.jsonl", folder / "more.jsonl"
    lines = sample_lines()
    logs.write_text("\n".join(lines[:-2]) + "\n", encoding="utf-8")
    more.write_text("\n".join(lines) + "\n", encoding="utf-8")
    good = folder / "good.db"
    if not good.exists():
        make(good, logs)
    whole = content(good)
    copy = folder / "copy.db"
    shutil.copy(good, copy)
    with memory_of(copy) as memory:
        memory.sync_turn("I like the ferry to the island.", "Noted.", session="chat")
        log = copy.with_name("copy.db-wal").read_bytes()
    return good, log, more, whole


def run(first: int, many: int, folder: Path) -> Count:
    """Make damages by their numbers, of a ledger that is kept in a folder."""
    count = Count()
    good, log, logs, whole = prepare(folder)
    for number in range(first, first + many):
        try_one(number, good, log, logs, whole, count)
    return count


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="factbook-damage-") as temporary:
        kept = Path(sys.argv[3] if len(sys.argv) > 3 else temporary)
        print(run(int(sys.argv[1]), int(sys.argv[2]), kept))
