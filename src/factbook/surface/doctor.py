"""Examine everything that factbook stands on, and say of each part whether it is well.

Each check gives one finding; a check that cannot be made is a finding too, never a traceback.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from factbook import policy
from factbook.errors import FactbookError, StoreMissing
from factbook.surface.text import amount, count, home_path, size

if TYPE_CHECKING:
    from factbook.llm.config import ModelConfig
    from factbook.memory import Memory

__all__ = ["CheckResult", "examine", "examine_model", "examine_searching"]

Level = Literal["ok", "warn", "fail"]

_PROBLEMS_SHOWN: Final = 10
_LITTLE_ROOM: Final = 500_000_000  # bytes free below which a large ingest may not fit
_NO_ROOM: Final = 20_000_000  # bytes free below which SQLite cannot be expected to work
_TRIED: Final = "world"  # what a search provider is asked to see whether it answers
_RESULTS_TRIED: Final = 3
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check found."""

    level: Level
    name: str  # what was looked at
    detail: str  # what was seen, and what to do where it is not well


def examine(place: Path | str, *, clean: bool = False) -> Iterator[CheckResult]:
    """Make every check, the cheap ones first, and yield each finding as it comes.

    With `clean` the files that killed processes left behind are deleted, and nothing else.
    """
    yield from _versions()
    folders = [place.absolute().parent] if isinstance(place, Path) else []
    yield from _database(place)
    yield from _left_behind(*folders, Path.cwd(), clean=clean)
    yield from _key_file()
    yield from _folders()
    yield from _searching(ask=False)
    yield from _notices()
    for folder in folders:
        yield from _disk(folder)


def examine_searching() -> Iterator[CheckResult]:
    """Say how searching and notices are set up, and ask the search provider one small thing.

    Neither is needed: off is no failure.
    """
    yield from _searching(ask=True)
    yield from _notices()


def examine_model(config: ModelConfig | None) -> Iterator[CheckResult]:
    """Ask the configured language model what it is and what it can do.

    Without one there is one finding, which is no failure: a model is an option.
    """
    if config is None:
        yield CheckResult(
            level="warn",
            name="model",
            detail="off: nothing is configured; set FACTS_LLM_URL, FACTS_LLM_MODEL or another"
            " FACTS_LLM_ variable, or [llm] in the configuration file",
        )
        return
    from factbook.llm.probe import probe

    levels: dict[bool | None, Level] = {True: "ok", False: "fail", None: "warn"}
    for finding in probe(config).findings:
        yield CheckResult(level=levels[finding.ok], name=finding.name, detail=finding.text)


def _versions() -> Iterator[CheckResult]:
    from factbook import __version__

    yield CheckResult(
        level="ok",
        name="factbook",
        detail=f"{__version__}, Python {platform.python_version()} on {platform.system()}",
    )
    found, missing = [], []
    for package in ("apsw", "numpy", "onnxruntime", "orjson", "tokenizers", "google-re2"):
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(package)
    yield CheckResult(level="ok", name="packages", detail=", ".join(found))
    if missing:
        yield CheckResult(
            level="fail",
            name="packages",
            detail=f"{', '.join(missing)} cannot be found; install factbook again",
        )
    try:
        import apsw
    except ImportError as error:
        yield CheckResult(level="fail", name="sqlite", detail=f"apsw cannot be loaded ({error})")
    else:
        yield CheckResult(level="ok", name="sqlite", detail=_sqlite(apsw.sqlite_lib_version()))


def _sqlite(version: str) -> str:
    return f"{version} (Python's own is {sqlite3.sqlite_version} and is not used)"


def _database(place: Path | str) -> Iterator[CheckResult]:
    from factbook.memory import Memory

    try:
        memory = Memory(place, mode="read", actor="cli")
    except StoreMissing:
        yield CheckResult(
            level="warn",
            name="database",
            detail=f"there is none yet at {home_path(place)}; `factbook ingest` makes it",
        )
        yield from _embedder(None)
        return
    except FactbookError as error:
        yield CheckResult(level="fail", name="database", detail=str(error))
        yield from _embedder(None)
        return
    with memory:
        path = memory.path
        held = f", {size(path.stat().st_size)}" if path.is_file() else ""
        yield CheckResult(level="ok", name="database", detail=f"{home_path(path)} opens{held}")
        if held:
            yield from _private(path, "database", "it can hold what you typed")
        yield from _audit(memory)
        yield from _embedder(memory)
        yield from _readers(memory)


def _private(path: Path, name: str, why: str) -> Iterator[CheckResult]:
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & _OTHERS:
        yield CheckResult(
            level="warn",
            name=name,
            detail=f"{home_path(path)} can be read by others (mode {mode:04o}) and {why};"
            f" run `chmod 600 {home_path(path)}`",
        )


def _left_behind(*folders: Path, clean: bool) -> Iterator[CheckResult]:
    """Name what a kill left of an export or a copy: it holds what the memory held."""
    from factbook.memory.export import left_behind

    left = left_behind(*folders)
    for one in left:
        detail = f"{home_path(one)} holds stored text, and was left by a process that was killed"
        if not clean:
            detail += "; `factbook doctor --clean` deletes it"
            yield CheckResult(level="warn", name="left behind", detail=detail)
            continue
        try:
            one.unlink()
        except OSError as error:
            reason = error.strerror or str(error)
            yield CheckResult(
                level="fail", name="left behind", detail=f"{detail}; it stays: {reason}"
            )
        else:
            yield CheckResult(level="ok", name="left behind", detail=f"deleted {home_path(one)}")
    if clean and not left:
        yield CheckResult(level="ok", name="left behind", detail="nothing; nothing was deleted")


def _audit(memory: Memory) -> Iterator[CheckResult]:
    from factbook.memory.standing import NOT_SEEN

    began = time.perf_counter()
    try:
        problems = memory.check()
        counts = memory.stats().counts
    except FactbookError as error:
        yield CheckResult(level="fail", name="integrity", detail=str(error))
        return
    if not problems:
        yield CheckResult(
            level="ok",
            name="integrity",
            detail=f"{count(counts['facts'], 'fact')}, {count(counts['episodes'], 'episode')} and"
            f" {count(counts['evidence'], 'piece')} of evidence agree"
            f" ({amount(time.perf_counter() - began)})",
        )
        yield CheckResult(level="ok", name="integrity", detail=f"it cannot see {NOT_SEEN}")
    for problem in problems[:_PROBLEMS_SHOWN]:
        yield CheckResult(
            level="fail", name="integrity", detail=f"{problem.what}: {problem.detail}"
        )
    if len(problems) > _PROBLEMS_SHOWN:
        rest = count(len(problems) - _PROBLEMS_SHOWN, "more problem")
        yield CheckResult(level="fail", name="integrity", detail=f"and {rest}")
    if problems:
        yield CheckResult(
            level="warn",
            name="integrity",
            detail="copy the file away; `factbook export` saves what is still readable, and"
            " `factbook ingest` into a new file builds the rest anew from the logs",
        )
    waiting = counts["episodes_waiting"] + counts["facts_waiting"]
    if waiting:
        yield CheckResult(
            level="warn",
            name="waiting",
            detail=f"{count(waiting, 'row')} to embed, found by words alone until `factbook embed`"
            " has finished them",
        )
    else:
        yield CheckResult(level="ok", name="waiting", detail="nothing waits to be embedded")
    yield from _passive(memory)
    yield from _unanswered(memory)


def _passive(memory: Memory) -> Iterator[CheckResult]:
    """Say how many passive recalls have failed of late: the turns that they were for went on."""
    day = datetime.now(UTC) - timedelta(days=policy.FAILURES_TOLD_DAYS)
    failed = memory.conversations.failures(since=day.strftime("%Y-%m-%d"))
    if failed:
        kinds = ", ".join(f"{kind} {number}" for kind, number in failed.items())
        yield CheckResult(
            level="warn",
            name="passive recall",
            detail=f"{count(sum(failed.values()), 'recall')} of the last"
            f" {policy.FAILURES_TOLD_DAYS} days failed and brought nothing ({kinds}); the log of"
            " the program that asked has the first of each kind",
        )


def _unanswered(memory: Memory) -> Iterator[CheckResult]:
    """Name what a language model was asked about in vain, and what to do about it."""
    from factbook.memory.standing import unanswered
    from factbook.surface.views.model import tried

    found = unanswered(memory)
    for one in found[:_PROBLEMS_SHOWN]:
        state = "is set aside" if one.aside else "waits"
        what = f" “{one.what}”" if one.what else ""
        why = f"; the last: {one.reason}" if one.reason else ""
        yield CheckResult(
            level="warn",
            name="unanswered",
            detail=f"{one.kind} {' '.join(one.ids)}{what} {state}, {tried(one)}; {one.command}"
            f" asks the model again{why}",
        )
    if len(found) > _PROBLEMS_SHOWN:
        rest = count(len(found) - _PROBLEMS_SHOWN, "more input")
        yield CheckResult(
            level="warn",
            name="unanswered",
            detail=f"and {rest} of the model; `factbook stats --json` names every one",
        )


def _embedder(memory: Memory | None) -> Iterator[CheckResult]:
    from factbook.embed import bundled
    from factbook.memory.standing import embedder_of

    began = time.perf_counter()
    try:
        model = bundled()
        vector = model.embed(["The ferry to the island leaves at noon."])[0]
    except FactbookError as error:
        yield CheckResult(level="fail", name="embedder", detail=str(error))
        return
    except ImportError as error:
        yield CheckResult(
            level="fail",
            name="embedder",
            detail=f"a part of it cannot be loaded ({error}); install factbook again",
        )
        return
    length = float((vector.astype("float64") ** 2).sum() ** 0.5)
    if len(vector) != model.dim or not 0.99 < length < 1.01:
        yield CheckResult(
            level="fail",
            name="embedder",
            detail=f"{model.id} gave {len(vector)} numbers of length {length:.2f} where"
            f" {model.dim} of length 1 belong; install factbook again",
        )
        return
    yield CheckResult(
        level="ok",
        name="embedder",
        detail=f"{model.id} loads and embeds, {model.dim} dimensions"
        f" ({amount(time.perf_counter() - began)})",
    )
    held = embedder_of(memory) if memory is not None else None
    if held is not None and held[0] != model.id:
        yield CheckResult(
            level="fail",
            name="embedder",
            detail=f"the database holds vectors of {held[0]}; `factbook reembed` makes them anew",
        )


def _readers(memory: Memory) -> Iterator[CheckResult]:
    """Say where texts were read by another redactor or by other rules than are in force now."""
    from factbook.context import rules_in_force
    from factbook.memory.standing import reader_versions, readers_used
    from factbook.surface.text import moment

    try:
        now = reader_versions(memory, rules_in_force(None))
    except FactbookError as error:
        yield CheckResult(level="fail", name="readers", detail=str(error))
        return
    told = {
        "redactor": "what it finds today is covered wherever it is shown, and stands in the file as"
        " it was read",
        "rules": "what today's find in them is not in memory",
    }
    others = [
        reader_use
        for reader_use in readers_used(memory)
        if reader_use.version != now[reader_use.part]
    ]
    for other in others[:_PROBLEMS_SHOWN]:
        which = "no redactor" if other.version == "none" else f"{other.part} {other.version}"
        yield CheckResult(
            level="warn",
            name="readers",
            detail=f"{count(other.sources, 'source')} read with {which}, last on"
            f" {moment(other.last_at)}; yours is {now[other.part]}: {told[other.part]}."
            " `factbook ingest --db NEW.db` reads the logs anew, into another file",
        )
    if not others:
        both = ", ".join(f"{part} {version}" for part, version in now.items())
        yield CheckResult(
            level="ok", name="readers", detail=f"{both}: nothing was read with others"
        )


def _key_file() -> Iterator[CheckResult]:
    from factbook.context import default_key_file

    path = default_key_file()
    if not path.exists():
        yield CheckResult(
            level="ok",
            name="key",
            detail=f"none yet; it is made at {home_path(path)} when something is first redacted",
        )
        return
    if not os.access(path, os.R_OK):
        yield CheckResult(
            level="fail",
            name="key",
            detail=f"the redaction key {home_path(path)} cannot be read; check its permissions",
        )
        return
    yield CheckResult(level="ok", name="key", detail=f"{home_path(path)} is there and readable")
    yield from _private(path, "key", "it keys the digests of redacted secrets")


def _folders() -> Iterator[CheckResult]:
    from factbook.sources.session_log import default_folders

    found = False
    for folder in default_folders():
        if not folder.is_dir():
            continue
        found = True
        try:
            logs = sum(1 for path in folder.rglob("*.json*") if path.is_file())
        except OSError as error:
            yield CheckResult(
                level="warn",
                name="logs",
                detail=f"{home_path(folder)} cannot be read ({error.strerror})",
            )
            continue
        yield CheckResult(
            level="ok", name="logs", detail=f"{home_path(folder)} holds {count(logs, 'file')}"
        )
    if not found:
        named = ", ".join(home_path(folder) for folder in default_folders())
        yield CheckResult(
            level="warn",
            name="logs",
            detail=f"none of the agents' own folders is here ({named}); name a folder:"
            " `factbook ingest FOLDER`",
        )


def _searching(*, ask: bool) -> Iterator[CheckResult]:
    from factbook.errors import SearchError, UsageError
    from factbook.net.settings import config_path
    from factbook.search_providers import open_search
    from factbook.search_providers.config import load_search_config

    try:
        config = load_search_config(os.environ, config_path(os.environ))
        if config is None:
            yield CheckResult(
                level="ok",
                name="search",
                detail="off: nothing is configured, so `/learn` and lookups wait; set"
                " FACTBOOK_SEARCH_FOLDER to a folder of your documents, or [search] in the"
                " configuration file",
            )
            return
        where = home_path(config.folder) if config.folder is not None else config.url
        what = f"{config.provider} {where}".rstrip()
        provider = open_search(config)
        if not ask:
            detail = f"{what} is configured; `factbook doctor --search` tries it"
            yield CheckResult(level="ok", name="search", detail=detail)
            return
        began = time.perf_counter()
        answer = provider.search(_TRIED, limit=_RESULTS_TRIED)
    except (SearchError, UsageError) as error:
        yield CheckResult(level="fail", name="search", detail=str(error))
        return
    found = f"{count(len(answer.results), 'result')} for {_TRIED!r}"
    yield CheckResult(
        level="ok",
        name="search",
        detail=f"{what} answers: {found} ({amount(time.perf_counter() - began)})",
    )
    for remark in answer.remarks[:_PROBLEMS_SHOWN]:
        yield CheckResult(level="warn", name="search", detail=remark)


def _notices() -> Iterator[CheckResult]:
    from factbook.errors import UsageError
    from factbook.interests.notify_config import load_notify_config, open_channels
    from factbook.net.settings import config_path

    try:
        config = load_notify_config(os.environ, config_path(os.environ))
        channels = open_channels(config, os.environ)
    except UsageError as error:
        yield CheckResult(level="fail", name="notices", detail=str(error))
        return
    if (
        config is not None
        and config.desktop
        and "desktop" not in {channel.id for channel in channels}
    ):
        yield CheckResult(
            level="warn",
            name="notices",
            detail="the desktop is asked for, and no program here shows notices on it",
        )
    named = ", ".join(channel.id for channel in channels)
    yield CheckResult(
        level="ok",
        name="notices",
        detail=f"told by {named}, and in an open chat" if named else "only in an open chat",
    )


def _disk(folder: Path) -> Iterator[CheckResult]:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        yield CheckResult(
            level="warn", name="disk", detail=f"{home_path(folder)}: {error.strerror}"
        )
        return
    level: Level = "fail" if free < _NO_ROOM else "warn" if free < _LITTLE_ROOM else "ok"
    advice = "" if level == "ok" else "; make some room"
    yield CheckResult(
        level=level, name="disk", detail=f"{size(free)} free at {home_path(folder)}{advice}"
    )
