"""Rule files: the way of what is written into the files that agents load.

    file -> paragraphs and items, each an episode -> those that state a rule or a decision
    -> Ops: asserted | refused: it wants to be obeyed | a changed line superseded | one that is gone
    is over | its owner is asked, where a prompt says otherwise

A file in a project where its owner has worked is the owner's own word; in another it is somebody's
text, and what an agent keeps for itself is a model's: both are only likely, and shown as such.
What a file imports is read behind it, for each project anew, and is no surer than that file.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.errors import InputError
from factbook.extract.directives import line_of, stated_in
from factbook.extract.prompt_injection import steers
from factbook.extract.sentences import content_words
from factbook.language.reader.read import read
from factbook.model.directives import EVERYWHERE, PROJECT, subject_of
from factbook.model.facts import (
    Cursor,
    Episode,
    EpisodeKind,
    FactKind,
    LineCount,
    Role,
    Source,
    SourceState,
    Stance,
    Status,
    Trigger,
    Trust,
)
from factbook.model.ops import (
    AdvanceCursor,
    Op,
    RecordEpisode,
    RecordSource,
    RetractFact,
    SupersedeFact,
    WithdrawEvidence,
)
from factbook.pipelines.claims import judged, refused
from factbook.pipelines.directives import Hearing
from factbook.pipelines.observed import FileReport, IngestReport
from factbook.sources.encoding import decoded
from factbook.sources.rule_files import (
    TOO_DEEP,
    RuleFile,
    holds_many,
    imported_by,
    is_there,
    of_agents,
    of_project,
    rule_lines,
    whole,
)
from factbook.sources.session_log import LogFile
from factbook.sources.session_log.parser import printable, source_key
from factbook.store.derived.facts import holds, lives_by_id
from factbook.store.kinds import EPISODE
from factbook.store.rows import Life

if TYPE_CHECKING:
    from factbook.context import Context

HOST: Final = "rules"
GONE: Final = "line_gone"
CHANGED: Final = "line_changed"
IMPORTS: Final = "imports"  # in the state of a cursor: the keys of what a file imports
IMPORTED: Final = "imported"  # there too: whether it is read because another imports it
WITHDRAWN: Final = "withdrawn"  # there too: uids of lines that speak for nothing: gone, or not yet
BEGUN: Final = "begun"  # the digest of a file whose reading has not come to its end


def known_rule_files(context: Context, *, owner: str) -> list[RuleFile]:
    """Return the files of rules of the projects that an owner's sessions name, and everywhere's.

    With them those that were read and are gone from their folder; none that another one imports.
    """
    projects = sorted(_projects(context, owner))
    states = context.store.sources(owner=owner)
    read_once = [
        (Path(state.source.uri), state.source.project)
        for state in states
        if state.source.host == HOST and not _is_imported(state)
    ]
    found = [file for project in projects for file in of_project(project)]
    return [
        *of_agents(projects),
        *dict.fromkeys(found),
        *(
            RuleFile(path, project)
            for path, project in read_once
            if path.parent.is_dir() and not is_there(path)
        ),
    ]


def read_rule_files(context: Context, files: Iterable[RuleFile], *, owner: str) -> IngestReport:
    """Read files of rules that have changed, and write what holds and what is over.

    A file that cannot be read is reported and the others go on. Raises ReaderError where the reader
    cannot be loaded.
    """
    report = IngestReport()
    worked_in = _projects(context, owner)
    # Where a file of an agent imports the same as one's own, the latter says whose word that is.
    waiting = deque((file, 0) for file in sorted(files, key=lambda file: file.by_model))
    read_now: set[str] = set()
    while waiting:
        file, depth = waiting.popleft()
        key = _key(file, owner)
        if key in read_now:
            continue
        if depth > policy.RULE_IMPORTS:
            report.skipped.append((file.path, TOO_DEEP))
            continue
        read_now.add(key)
        seen = FileReport(path=file.path, host=HOST)
        report.files.append(seen)
        try:
            imported = _Reading(context, file, owner, worked_in).write(report, seen)
        except (OSError, InputError) as error:
            seen.state, seen.error = "failed", str(error)
        else:
            waiting += ((other, depth + 1) for other in imported)
    for state in _imported_no_more(context, owner):  # only now: another one may import it instead
        path = Path(state.source.uri)
        report.files.append(FileReport(path=path, host=HOST, state="replaced"))
        ops = _over(context, owner, state.id, set(), set())
        silent = sorted(_named(state, WITHDRAWN) | _taken_from(context, ops))
        about = {IMPORTED: True, WITHDRAWN: silent}
        cursor = Cursor(offset=0, size=0, tail="", state=about)
        key = state.source.key
        ops.append(AdvanceCursor(source=key, cursor=cursor, lines=LineCount(), restart=True))
        report.receipt.add(context.write(ops, Trigger.COMMAND))
    return report


def _key(file: RuleFile, owner: str) -> str:
    """Return the key of a file of rules; one that is imported holds in each project by itself."""
    told = {"imported_in": file.project} if file.imported else {}
    return source_key(LogFile(path=file.path, host=HOST, owner=owner), kind=HOST, **told)


def _imported_no_more(context: Context, owner: str) -> list[SourceState]:
    """Return what was imported once, and no file of rules leads to any more."""
    states = {s.source.key: s for s in context.store.sources() if s.source.host == HOST}
    waiting = [state for state in states.values() if not _is_imported(state)]
    reached: set[str] = set()
    while waiting:
        more = _named(waiting.pop(), IMPORTS) - reached
        reached |= more
        waiting += (states[key] for key in more if key in states)
    return [
        state
        for state in context.store.sources(owner=owner)
        if _is_imported(state) and state.cursor.tail and state.source.key not in reached
    ]


def _projects(context: Context, owner: str) -> set[str]:
    """Return the working folders that an owner's sessions name."""
    states = context.store.sources(owner=owner)
    return {state.source.project for state in states if state.source.host != HOST} - {""}


class _Reading:
    """One file, read once."""

    def __init__(
        self, context: Context, file: RuleFile, owner: str, worked_in: Collection[str]
    ) -> None:
        self._context = context
        self._file = file
        self._owner = owner
        self._key = _key(file, owner)
        self._worked_in = worked_in
        self._project = file.project
        mine = not file.project or bool(_nearest(file.project, worked_in))
        self._trust = Trust.DERIVED if file.by_model else Trust.DIRECT if mine else Trust.EXTERNAL
        self._subject = subject_of(PROJECT, self._project, "") if self._project else EVERYWHERE

    def write(self, report: IngestReport, seen: FileReport) -> list[RuleFile]:
        """Write what the file says, where that is not as it was; return what it imports."""
        context = self._context
        data = whole(self._file.path) if is_there(self._file.path) else b""
        text, _ = decoded(data)
        imported, left = imported_by(self._file, text, from_home=self._trust is Trust.DIRECT)
        report.skipped += left
        read_by = f"{context.resources.reader_version} {self._trust}".encode()
        key = context.resources.screened(self._key)
        keys = [context.resources.screened(_key(other, self._owner)) for other in imported]
        there = [name.encode("utf-8", "surrogatepass") for name in keys]
        read = b"\0".join((read_by, *there, data))  # an import that comes or goes is a change too
        digest = hashlib.blake2b(read, digest_size=16).hexdigest()
        state = next(iter(context.store.sources(keys=[key])), None)
        if state is not None and state.cursor.tail == digest:
            return imported
        seen.state = "new" if state is None else "replaced"
        seen.read_bytes = len(data)
        report.read_bytes += len(data)
        episodes = list(self._episodes(text))
        uids = [episode.uid for episode in episodes]
        known = context.store.episode_ids(uids)
        silent = set(uids) - set(known) | (set() if state is None else _named(state, WITHDRAWN))
        ops: list[Op] = [RecordSource(source=self._source())]
        ops += [RecordEpisode(episode=episode) for episode in episodes]
        ops.append(self._reached(BEGUN, keys, silent))  # a run that is killed here begins anew
        report.receipt.add(context.write(ops, Trigger.COMMAND))
        current = context.store.episode_ids(uids)
        new = {current[uid] for uid in silent & set(current)}
        stating = new | self._back(known)
        report.receipt.add(context.write(self._stated(stating), Trigger.COMMAND))
        report.receipt.add(context.write(self._questions(stating), Trigger.COMMAND))
        [kept] = context.store.sources(keys=[key])
        lines = LineCount(lines=text.count("\n") + 1, records=len(episodes))
        lines.kept["line of a rule file"] = len(episodes)
        ops = _over(context, self._owner, kept.id, set(current.values()), new)
        silent = (silent | _taken_from(context, ops)) - set(current)
        ops.append(self._reached(digest, keys, silent, size=len(data), lines=lines))
        report.receipt.add(context.write(ops, Trigger.COMMAND))
        report.lines.add(lines)
        return imported

    def _reached(
        self,
        digest: str,
        imports: Sequence[str],
        silent: Collection[str],
        *,
        size: int = 0,
        lines: LineCount | None = None,
    ) -> AdvanceCursor:
        about = {IMPORTS: imports, IMPORTED: self._file.imported, WITHDRAWN: sorted(silent)}
        cursor = Cursor(offset=size, size=size, tail=digest, state=about)
        lines = lines or LineCount()
        return AdvanceCursor(source=self._key, cursor=cursor, lines=lines, restart=True)

    def _source(self) -> Source:
        return Source(
            key=self._key,
            kind=HOST,
            host=HOST,
            session="",
            uri=printable(self._file.path),
            project=self._project,
            title=self._file.path.name,
        )

    def _episodes(self, text: str) -> Iterable[Episode]:
        if not text:
            return
        at = self._file.path.stat().st_mtime_ns // 1_000_000
        redacted = self._context.resources.redactor.redact(text)
        said: set[str] = set()
        for line in rule_lines(redacted, text):
            steering = steers(line.text, own=self._trust is Trust.DIRECT)
            trust = self._trust if steering is None else Trust.EXTERNAL  # nobody's own word
            parts = "\0".join((self._key, trust, line.text))
            uid = hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16)
            if uid.hexdigest() not in said:
                said.add(uid.hexdigest())
                yield Episode(
                    uid=f"{HOST}:{uid.hexdigest()}",
                    source=self._key,
                    kind=EpisodeKind.NOTE,
                    role=Role.SYSTEM,  # what agents load is no message of anybody
                    trust=trust,
                    text=line.text,
                    position=line.line,
                    offset=line.offset,
                    occurred_at=at,
                    owner=self._owner,
                    project=self._project,
                    embed=False,
                )

    def _stated(self, ids: Collection[int]) -> list[Op]:
        """Return what lines state, and what of them wants to be obeyed and is refused."""
        reader = self._context.resources.reader
        reads = read if reader is None else reader.read
        own = self._trust is Trust.DIRECT
        ops: list[Op] = []
        for _, episode in sorted(self._context.store.episodes_by_id(sorted(ids)).items()):
            steering = steers(episode.text, own=own)
            if steering is not None:
                line = line_of(episode, self._subject)
                ops.append(refused(line, episode, "external_instruction", steering.why))
                continue
            candidates = stated_in(episode, reads(episode.text), self._subject, sure=own)
            ops += [judged(candidate, episode) for candidate in candidates]
        return ops

    def _questions(self, ids: Collection[int]) -> list[Op]:
        """Return what asks about the rules of prompts that new lines of one's own speak against."""
        if self._trust is not Trust.DIRECT:
            return []
        hearing = Hearing(self._context, lambda ops: None)
        rows = self._context.store.evidence(episode_ids=sorted(ids))
        episodes = self._context.store.episodes_by_id(sorted(ids))
        lives = lives_by_id(self._context.store, {row.fact_id for row in rows})
        over = _nearest(self._project, self._worked_in)
        return [
            op
            for row in rows
            if (life := lives[row.fact_id]).kind is FactKind.DIRECTIVE and holds(life)
            for op in hearing.questions(life, replace(episodes[row.episode_id], project=over))
        ]

    def _back(self, known: Mapping[str, int]) -> set[int]:
        """Return lines that were gone, and stand in the file again."""
        facts = _facts_of(self._context, list(known.values()))
        back = set(known.values())
        for life, episodes in facts:
            if life.status is not Status.RETRACTED:
                back -= episodes
        stating = {episode for _, episodes in facts for episode in episodes}
        return back & stating


def _over(
    context: Context, owner: str, source_id: int, current: Collection[int], new: Collection[int]
) -> list[Op]:
    """Return what becomes of what lines stated that are gone.

    It is changed or over, or something else still says it, and they speak for it no more.
    """
    where = {"owner": owner, "source_id": source_id}
    ever = {id_ for (id_,) in context.store.tally(EPISODE, ("id",), where)}
    facts = [(life, shown) for life, shown in _facts_of(context, sorted(ever)) if life.current]
    lines = ever - set(current)
    gone = [life for life, shown in facts if shown <= lines]
    came = [life for life, shown in facts if shown & set(new)]
    ops: list[Op] = [
        WithdrawEvidence(fact_id=life.id, episode_id=line, rule=GONE)
        for life, shown in facts
        if not shown <= lines
        for line in sorted(shown & lines)
    ]
    for life in gone:
        likest = max(came, key=lambda other: _alike(life, other), default=None)
        if likest is not None and _alike(life, likest) >= policy.LINE_CHANGED:
            came.remove(likest)
            said = "The line reads otherwise now."
            ops.append(SupersedeFact(old_id=life.id, new_id=likest.id, rule=CHANGED, detail=said))
        else:
            ops.append(RetractFact(fact_id=life.id, rule=GONE))
    return ops


def _taken_from(context: Context, ops: Iterable[Op]) -> set[str]:
    """Return the uids of lines that speak for nothing any more, of what else is still said."""
    ids = sorted({op.episode_id for op in ops if isinstance(op, WithdrawEvidence)})
    return {episode.uid for episode in context.store.episodes_by_id(ids).values()}


def _facts_of(context: Context, episodes: Sequence[int]) -> list[tuple[Life, set[int]]]:
    """Return the directives that episodes state, each with all the episodes that do."""
    store = context.store
    asked = {row.fact_id for row in store.evidence(episode_ids=episodes)}
    shown: dict[int, set[int]] = {}
    for row in store.evidence(fact_ids=sorted(asked)):
        if row.stance is Stance.SUPPORTS:
            shown.setdefault(row.fact_id, set()).add(row.episode_id)
    lives = lives_by_id(store, sorted(shown)).values()
    return [(life, shown[life.id]) for life in lives if life.kind is FactKind.DIRECTIVE]


def _named(state: SourceState, what: str) -> set[str]:
    """Return what was named of a file when it was read last: IMPORTS, or lines WITHDRAWN."""
    names = state.cursor.state.get(what, ())
    return {str(name) for name in names} if isinstance(names, list) else set()


def _is_imported(state: SourceState) -> bool:
    return bool(state.cursor.state.get(IMPORTED))


def _nearest(folder: str, known: Collection[str]) -> str:
    """Return the folder, or the nearest project above it, that sessions name; empty for none.

    Who has worked in the home folder or a temporary one has not worked in all that lies there.
    """
    if folder in known:
        return folder
    above = (path for path in Path(folder).parents if str(path) in known and not holds_many(path))
    return str(next(above, ""))


def _alike(one: Life, other: Life) -> float:
    """Return which share of their words two rules have in common."""
    first, second = content_words(one.statement), content_words(other.statement)
    return len(first & second) / max(1, len(first | second))
