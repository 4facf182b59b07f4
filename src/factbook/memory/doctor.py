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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, ParamSpec

from factbook import policy
from factbook.errors import FactbookError, StoreMissing
from factbook.language.values import amount, count, home_path, moment, size

if TYPE_CHECKING:
    from factbook.llm.config import ModelConfig
    from factbook.memory import Memory

Level = Literal["ok", "warn", "fail"]

_PROBLEMS_SHOWN: Final = 10
_LITTLE_ROOM: Final = 500_000_000  # bytes free below which a large ingest may not fit
_NO_ROOM: Final = 20_000_000  # bytes free below which SQLite cannot be expected to work
_TRIED: Final = "world"  # what a search provider is asked to see whether it answers
_RESULTS_TRIED: Final = 3
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class CheckResult(NamedTuple):
    level: Level
    name: str  # what was looked at
    detail: str  # what was seen, and what to do where it is not well


_P = ParamSpec("_P")
_Found = Iterator[tuple[Level, str]]


def _of(name: str) -> Callable[[Callable[_P, _Found]], Callable[_P, Iterator[CheckResult]]]:
    """Name what a check looks at; where it cannot be made, that is what it found."""

    def named(check: Callable[_P, _Found]) -> Callable[_P, Iterator[CheckResult]]:
        def results(*args: _P.args, **more: _P.kwargs) -> Iterator[CheckResult]:
            try:
                for level, detail in check(*args, **more):
                    yield CheckResult(level, name, detail)
            except (FactbookError, OSError) as error:
                yield _failed(name, error)

        return results

    return named


def _failed(name: str, error: Exception) -> CheckResult:
    return CheckResult("fail", name, str(error))


def examine(
    place: Path | str, *, clean: bool = False, rebuild: bool = False
) -> Iterator[CheckResult]:
    """Make every check, the cheap ones first, and yield each finding as it comes.

    With `clean` the files that killed processes left behind are deleted, and nothing else. With
    `rebuild` what the file holds of typed memories is made anew from their record.
    """
    yield from _version()
    yield from _packages()
    yield from _sqlite()
    folders = [place.absolute().parent] if isinstance(place, Path) else []
    yield from _memory(place)
    yield from _typed_store(place, rebuild=rebuild)
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
            "warn",
            "model",
            "off: nothing is configured; set FACTS_LLM_URL, FACTS_LLM_MODEL or another"
            " FACTS_LLM_ variable, or [llm] in the configuration file",
        )
        return
    from factbook.llm.probe import probe

    levels: dict[bool | None, Level] = {True: "ok", False: "fail", None: "warn"}
    for finding in probe(config).findings:
        yield CheckResult(levels[finding.ok], finding.name, finding.text)


@_of("factbook")
def _version() -> _Found:
    from factbook import __version__

    yield "ok", f"{__version__}, Python {platform.python_version()} on {platform.system()}"


@_of("packages")
def _packages() -> _Found:
    versions, missing = [], []
    for package in ("apsw", "numpy", "onnxruntime", "orjson", "tokenizers", "google-re2"):
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(package)
    yield "ok", ", ".join(versions)
    if missing:
        yield "fail", f"{', '.join(missing)} cannot be found; install factbook again"


@_of("sqlite")
def _sqlite() -> _Found:
    try:
        import apsw
    except ImportError as error:
        yield "fail", f"apsw cannot be loaded ({error})"
    else:
        own = f"Python's own is {sqlite3.sqlite_version} and is not used"
        yield "ok", f"{apsw.sqlite_lib_version()} ({own})"


@_of("typed store")
def _typed_store(place: Path | str, *, rebuild: bool) -> _Found:
    if not os.environ.get("FACTBOOK_TYPED_STORE"):
        if rebuild:
            yield "fail", "FACTBOOK_TYPED_STORE names no record to rebuild typed memories from"
        elif _has_record(place):
            lost = "it is as old as its last use with it, and nothing is erased in it"
            yield "warn", f"the file's record is not named in FACTBOOK_TYPED_STORE: {lost}"
        return
    from factbook.memory import Memory

    if isinstance(place, Path) and not place.exists() and not rebuild:
        yield "warn", "there is no database yet; --rebuild-typed makes one from the record"
        return
    with Memory(place, mode="create" if rebuild else "write", actor="cli") as memory:
        if rebuild:
            memory.typed.rebuild_record()
        began = time.perf_counter()
        state = memory.typed.record_state()
        took = round((time.perf_counter() - began) * 1000)
        assert state is not None, "a URL is configured"
        done = "made anew from" if rebuild else "as new as"
        held = f"{count(state.memories, 'memory', 'memories')}, {done} commit {state.generation}"
        yield "ok", f"{held} of {state.name} ({took} ms)"
        for problem in state.problems:
            yield "fail", problem.detail


def _has_record(place: Path | str) -> bool:
    """Tell whether a file that can be read has had its record in MongoDB."""
    from factbook.memory import Memory
    from factbook.store.kinds import BOUND, RECORDED
    from factbook.store.port import first

    if not isinstance(place, Path):
        return False
    with suppress(FactbookError), Memory(place, mode="read", actor="cli", typed_store="") as memory:
        return first(memory.store, RECORDED, BOUND) is not None
    return False


@_of("key")
def _key_file() -> _Found:
    from factbook.context import default_key_file

    path = default_key_file()
    where = home_path(path)
    if not path.exists():
        yield "ok", f"none yet; it is made at {where} when something is first redacted"
    elif not os.access(path, os.R_OK):
        yield "fail", f"the redaction key {where} cannot be read; check its permissions"
    else:
        yield "ok", f"{where} is there and readable"
        yield from _private(path, "it keys the digests of redacted secrets")


def _private(path: Path, why: str) -> _Found:
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & _OTHERS:
        others = f"{home_path(path)} can be read by others (mode {mode:04o})"
        yield "warn", f"{others} and {why}; run `chmod 600 {home_path(path)}`"


@_of("left behind")
def _left_behind(*folders: Path, clean: bool) -> _Found:
    """Name what a kill left of an export or a copy: it holds what the memory held."""
    from factbook.memory.export import left_behind

    left = left_behind(*folders)
    for path in left:
        detail = f"{home_path(path)} holds stored text, and was left by a process that was killed"
        if not clean:
            yield "warn", f"{detail}; `factbook doctor --clean` deletes it"
            continue
        try:
            path.unlink()
        except OSError as error:
            yield "fail", f"{detail}; it stays: {error.strerror or error}"
        else:
            yield "ok", f"deleted {home_path(path)}"
    if clean and not left:
        yield "ok", "nothing; nothing was deleted"


@_of("logs")
def _folders() -> _Found:
    from factbook.sources.session_log import default_folders

    folders = [folder for folder in default_folders() if folder.is_dir()]
    for folder in folders:
        try:
            logs = sum(1 for path in folder.rglob("*.json*") if path.is_file())
        except OSError as error:
            yield "warn", f"{home_path(folder)} cannot be read ({error.strerror})"
        else:
            yield "ok", f"{home_path(folder)} holds {count(logs, 'file')}"
    if not folders:
        named = ", ".join(home_path(folder) for folder in default_folders())
        none = f"none of the agents' own folders is here ({named})"
        yield "warn", f"{none}; name a folder: `factbook ingest FOLDER`"


@_of("disk")
def _disk(folder: Path) -> _Found:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        yield "warn", f"{home_path(folder)}: {error.strerror}"
        return
    level: Level = "fail" if free < _NO_ROOM else "warn" if free < _LITTLE_ROOM else "ok"
    advice = "" if level == "ok" else "; make some room"
    yield level, f"{size(free)} free at {home_path(folder)}{advice}"


def _memory(place: Path | str) -> Iterator[CheckResult]:
    from factbook.memory import Memory

    try:
        memory = Memory(place, mode="read", actor="cli")
    except FactbookError as error:
        none = f"there is none yet at {home_path(place)}; `factbook ingest` makes it"
        missing = isinstance(error, StoreMissing)
        yield CheckResult("warn", "database", none) if missing else _failed("database", error)
        yield from _embedder(None)
        return
    with memory:
        yield from _database(memory)
        yield from _audit(memory)
        yield from _embedder(memory)
        yield from _readers(memory)
        yield from _echoes(memory)


@_of("database")
def _database(memory: Memory) -> _Found:
    files = memory.store.files
    if files is None:
        yield "ok", f"{memory.store.name} opens; it is no file with bytes or copies to look at"
        return
    path = files.path
    yield "ok", f"{home_path(path)} opens, {size(path.stat().st_size)}"
    yield from _private(path, "it can hold what you typed")


def _audit(memory: Memory) -> Iterator[CheckResult]:
    began = time.perf_counter()
    try:
        problems = [f"{problem.what}: {problem.detail}" for problem in memory.check()]
        counts = memory.stats().counts
    except FactbookError as error:
        yield _failed("integrity", error)
        return
    yield from _integrity(problems, counts, time.perf_counter() - began)
    yield from _waiting(counts["episodes_waiting"] + counts["facts_waiting"])
    yield from _outdated(memory.maintenance.outdated())
    yield from _passive(memory)
    yield from _unanswered(memory)
    yield from _noted(memory)


@_of("integrity")
def _integrity(problems: Sequence[str], counts: Mapping[str, int], took: float) -> _Found:
    from factbook.memory.standing import NOT_SEEN

    if not problems:
        agree = f"{count(counts['facts'], 'fact')}, {count(counts['episodes'], 'episode')}"
        pieces = count(counts["evidence"], "piece")
        yield "ok", f"{agree} and {pieces} of evidence agree ({amount(took)})"
        yield "ok", f"it cannot see {NOT_SEEN}"
        return
    for problem in problems[:_PROBLEMS_SHOWN]:
        yield "fail", problem
    if len(problems) > _PROBLEMS_SHOWN:
        yield "fail", f"and {count(len(problems) - _PROBLEMS_SHOWN, 'more problem')}"
    yield (
        "warn",
        "copy the file away; `factbook export` saves what is still readable, and"
        " `factbook ingest` into a new file builds the rest anew from the logs",
    )


@_of("waiting")
def _waiting(rows: int) -> _Found:
    alone = "to embed, found by words alone until `factbook embed` has finished them"
    yield (
        ("warn", f"{count(rows, 'row')} {alone}")
        if rows
        else ("ok", "nothing waits to be embedded")
    )


@_of("waiting")
def _outdated(vectors: int) -> _Found:
    if vectors:
        anew = "to make anew, of what an older factbook embedded by; `factbook embed` does it, and"
        told = f"{count(vectors, 'vector')} {anew} recall goes on with the old ones until then"
        yield "warn", told


@_of("passive recall")
def _passive(memory: Memory) -> _Found:
    """Say how many passive recalls have failed of late: the turns that they were for went on."""
    day = datetime.now(UTC) - timedelta(days=policy.FAILURES_TOLD_DAYS)
    failed = memory.conversations.failures(since=day.strftime("%Y-%m-%d"))
    if failed:
        kinds = ", ".join(f"{kind} {number}" for kind, number in failed.items())
        yield (
            "warn",
            f"{count(sum(failed.values()), 'recall')} of the last"
            f" {policy.FAILURES_TOLD_DAYS} days failed and brought nothing ({kinds}); the log of"
            " the program that asked has the first of each kind",
        )


@_of("unanswered")
def _unanswered(memory: Memory) -> _Found:
    """Name what a language model was asked about in vain, and what to do about it."""
    from factbook.memory.standing import unanswered

    unanswereds = unanswered(memory)
    for question in unanswereds[:_PROBLEMS_SHOWN]:
        what = f" “{question.what}”" if question.what else ""
        state = f"{'is set aside' if question.aside else 'waits'}, {question.tried}"
        why = f"; the last: {question.reason}" if question.reason else ""
        named = f"{question.kind} {' '.join(question.ids)}{what} {state}"
        yield "warn", f"{named}; {question.command} asks the model again{why}"
    if len(unanswereds) > _PROBLEMS_SHOWN:
        rest = count(len(unanswereds) - _PROBLEMS_SHOWN, "more input")
        yield "warn", f"and {rest} of the model; `factbook stats --json` names every one"


@_of("models' statements")
def _noted(memory: Memory) -> _Found:
    """Say how much models stated and forgot of late, and where a limit is reached."""
    from factbook.memory.standing import noted_lately
    from factbook.model.facts import EVERYONE
    from factbook.pipelines.noting import forgotten_lately

    for owner, made in noted_lately(memory).items():
        told = f"{made.in_day} of {policy.NOTED_IN_DAY} in 24 hours about {owner}"
        asked = f"{told}, {made.asked} of {policy.ASKED_IN_DAY} asked about"
        if limit := made.reached(asks=True):
            yield "warn", f"{asked}; the limit of {limit} is reached: `factbook review` shows them"
        else:
            yield "ok", asked
    forgotten = forgotten_lately(memory.store, EVERYONE, now=memory.clock()).in_day
    if forgotten:
        yield (
            "warn" if forgotten >= policy.FORGOTTEN_IN_DAY else "ok",
            f"{count(forgotten, 'fact')} left out of recall in 24 hours; `factbook facts"
            " --include-deprecated` lists them, `factbook feedback FACT right` brings one back",
        )


@_of("embedder")
def _embedder(memory: Memory | None) -> _Found:
    from factbook.embed import bundled
    from factbook.memory.standing import embedder_of

    began = time.perf_counter()
    try:
        model = bundled()
        vectors = {
            "a text": model.embed(["The ferry to the island leaves at noon."])[0],
            "a question": model.embed_questions(["When does the ferry leave?"])[0],
        }
    except ImportError as error:
        yield "fail", f"a part of it cannot be loaded ({error}); install factbook again"
        return
    for what, vector in vectors.items():
        length = float((vector.astype("float64") ** 2).sum() ** 0.5)
        if len(vector) != model.dim or not 0.99 < length < 1.01:
            yield (
                "fail",
                f"{model.id} gave {len(vector)} numbers of length {length:.2f} for {what}, where"
                f" {model.dim} of length 1 belong; install factbook again",
            )
            return
    took = amount(time.perf_counter() - began)
    yield "ok", f"{model.id} loads and embeds, {model.dim} dimensions ({took})"
    held = embedder_of(memory) if memory is not None else None
    if held is not None and held[0] != model.id:
        yield "fail", f"the database holds vectors of {held[0]}; `factbook reembed` makes them anew"


@_of("echoes")
def _echoes(memory: Memory) -> _Found:
    """Say how much of our own text logs brought back, and where some was taken for a user's."""
    if memory.store.files is None:  # only a file has tables to ask
        return
    rows = memory.sql(
        "SELECT host, sum(coalesce(lines ->> '$.repaired.injected', 0) + (SELECT count(*)"
        " FROM episode_row e WHERE e.source_id = s.id AND e.injected = 1)) AS known,"
        " sum((SELECT count(*) FROM episode_row e WHERE e.source_id = s.id AND e.injected = 0"
        " AND e.role = 'user' AND e.text LIKE '%<factbook-memory ids=%')) AS taken"
        " FROM source_row s GROUP BY host ORDER BY host"
    )
    for host, known, taken in (tuple(map(str, row.values())) for row in rows):
        if known != "0":
            own = count(int(known), "piece")
            yield "ok", f"{own} of what we put there came back in logs of {host}, left out"
        if taken != "0":
            prompts = count(int(taken), "prompt")
            yield "warn", f"{prompts} in logs of {host} hold what looks like our own text"


@_of("readers")
def _readers(memory: Memory) -> _Found:
    """Say where texts were read by another redactor, reader or rules than are in force now."""
    from factbook.context import rules_in_force
    from factbook.memory.standing import reader_versions, readers_used

    now = reader_versions(memory, rules_in_force(None))
    told = {
        "redactor": "what it finds today is covered wherever it is shown, and stands in the file as"
        " it was read",
        "rules": "what today's find in them is not in memory",
    }
    used = [use for use in readers_used(memory) if use.part in now]
    others = [use for use in used if use.version != now[use.part]]
    for other in others[:_PROBLEMS_SHOWN]:
        which = "no redactor" if other.version == "none" else f"{other.part} {other.version}"
        yield (
            "warn",
            f"{count(other.sources, 'source')} read with {which}, last on"
            f" {moment(other.last_at)}; yours is {now[other.part]}: {told[other.part]}."
            " `factbook ingest --db NEW.db` reads the logs anew, into another file",
        )
    reader = memory.resources.reader_version
    if again := memory.maintenance.read_by_others():
        yield (
            "warn",
            f"what people say in {count(again, 'source')} was read by another version of the"
            f" language reader than yours, {reader}: `factbook reread` reads it again",
        )
    if not others and not again:
        both = ", ".join([*(f"{part} {version}" for part, version in now.items()), reader])
        yield "ok", f"{both}: nothing was read with others"


@_of("search")
def _searching(*, ask: bool) -> _Found:
    from factbook.net.settings import config_path
    from factbook.search_providers import open_search
    from factbook.search_providers.config import load_search_config

    config = load_search_config(os.environ, config_path(os.environ))
    if config is None:
        yield (
            "ok",
            "off: nothing is configured, so `/learn` and lookups wait; set FACTBOOK_SEARCH_FOLDER"
            " to a folder of your documents, or [search] in the configuration file",
        )
        return
    where = home_path(config.folder) if config.folder is not None else config.url
    what = f"{config.provider} {where}".rstrip()
    provider = open_search(config)
    if not ask:
        yield "ok", f"{what} is configured; `factbook doctor --search` tries it"
        return
    began = time.perf_counter()
    answer = provider.search(_TRIED, limit=_RESULTS_TRIED)
    hits = f"{count(len(answer.results), 'result')} for {_TRIED!r}"
    yield "ok", f"{what} answers: {hits} ({amount(time.perf_counter() - began)})"
    for remark in answer.remarks[:_PROBLEMS_SHOWN]:
        yield "warn", remark


@_of("notices")
def _notices() -> _Found:
    from factbook.net.settings import config_path
    from factbook.pipelines.notify_config import load_notify_config

    load_notify_config(os.environ, config_path(os.environ))
    yield "ok", "only in an open chat"
