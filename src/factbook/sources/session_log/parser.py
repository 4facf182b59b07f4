"""What the parsers of all hosts share: where a record stands, and how an episode is made of it.

A parser is fed the records of one file in order. What later records need of earlier ones it keeps
in a small state that goes into the cursor, so that a file that grew is read on as if it had never
been left. The state holds redacted text only.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, NamedTuple
from urllib.parse import urlencode

from factbook import policy
from factbook.model import fast_dataclass
from factbook.model.facts import ME, Episode, EpisodeKind, Field, Millis, Role, Source, Trust
from factbook.redaction.base import Redacting, last_question
from factbook.redaction.records import identity_of
from factbook.sources.session_log.echo import (
    answers_as_we_do,
    asked_of_us,
    asked_server,
    own_command,
    subtract,
)
from factbook.sources.session_log.outputs import condense, exit_code, shape_of
from factbook.sources.session_log.text import MAX_ID_CHARS, abridge, clip, millis, plain, storable
from factbook.sources.session_log.toolcall import Lines, render_call

OPEN_CALLS: Final = 512  # calls whose result is awaited; the oldest is forgotten
SEEN_RECORDS: Final = 256  # branches and titles that were stated already
_SMALL_TEXTS: Final = 1024  # short texts and ids that are remembered while one file is read

_SILENT: Final = "(no output)"

MODEL: Final[Mapping[str, str]] = {"author": "model"}
"""Attribute of a prompt that stands where the user's stand but was written by a model."""

_episode: Final = fast_dataclass.by_name(Episode)
_field: Final = fast_dataclass.by_name(Field)


class RecordOutcome(NamedTuple):
    """What became of a record."""

    where: Literal["kept", "ignored", "unknown"]
    kind: str


def outcome_of(kept: bool, kind: str) -> RecordOutcome:
    """Return what became of a record that may have had no text of its own."""
    if kept:
        return RecordOutcome("kept", kind)
    return RecordOutcome("ignored", f"{kind}: no text of its own")


class Part(NamedTuple):
    """A piece of a file that is read in parts: a record, or what is wrong with the piece."""

    position: int
    offset: int
    record: dict[str, object] | None
    wrong: str = ""


class BadRecord(Exception):
    """A record of a known type lacks a required part; the reader turns it into a rejected line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A session log and the host that wrote it."""

    path: Path
    host: str  # "claude-code", "codex", "gemini-cli" or "specstory"
    owner: str = ME  # whom it is about, where the file does not say


def source_key(file: LogFile, **told: str) -> str:
    """Return the key that identifies a file for ever; for another owner it is another source.

    `told` is what else makes it another one.
    """
    told |= {"owner": file.owner} if file.owner != ME else {}
    asked = f"?{urlencode(told, errors='surrogatepass')}" if told else ""
    return f"file:{printable(file.path)}{asked}"


def printable(path: Path) -> str:
    """Return a path as text that can be stored; bytes that are no UTF-8 become escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


_OUR_PREFIXES: Final = frozenset({"task_", "action_", "session_", "call:", "result:"})


@dataclass(slots=True)
class OpenCall:
    """A tool call whose result has not come yet."""

    tool: str
    subject: str
    ours: bool = False  # a call of factbook itself


@dataclass(frozen=True, slots=True, kw_only=True)
class _UndecidedCall:
    """A call that may be one of ours, until its result tells."""

    server: str
    name: str  # of the tool, as it would be ours
    position: int
    offset: int
    timestamp: str | float | None
    made: Mapping[str, Any]  # what `add` is given; JSON data but for its fields

    def save(self) -> dict[str, object]:
        fields = [[part.name, part.start, part.end] for part in self.made["fields"]]
        return {**asdict(self), "made": {**self.made, "fields": fields}}


class Parser(ABC):
    """The part of a parser that does not depend on the host."""

    host: ClassVar[str]
    in_parts: ClassVar[bool] = False  # whether a file is read as a whole, by `parts`

    def __init__(
        self, file: LogFile, *, redactor: Redacting, now: Millis, state: Mapping[str, object]
    ) -> None:
        self.file = file
        self.key = source_key(file)
        # One log may be read for two owners: what it says of each is recorded by itself.
        self._whose = f"{file.owner}/" if file.owner != ME else ""
        self.redactor = redactor
        self.episodes: list[Episode] = []
        # What a record that holds others made of them, beside its own outcome.
        self.inner: dict[RecordOutcome, int] = {}
        self.refused: list[tuple[str, object]] = []  # (what is wrong, the inner record)
        self.injected = 0  # pieces taken out of records, which factbook or another hook put there
        self._latest = now + policy.CLOCK_SKEW_MS
        self._small: dict[str, str] = {}
        self._plain_ids: set[str] = set()  # sessions, messages and calls name themselves often
        # Where the record at hand stands; set by `place` before each record.
        self.position = 0
        self.offset = 0
        self.timestamp: object = None
        self._dated: tuple[object, Millis | None, bool] = (None, None, False)
        self.begin(state)

    @abstractmethod
    def feed(self, record: dict[str, object], position: int, offset: int) -> RecordOutcome:
        """Take one record; raise BadRecord where a required part is missing."""

    def expand(self, record: dict[str, object]) -> list[object] | None:
        """Return the records that a record of the whole session holds, or None for a plain one."""
        return None

    def parts(self, data: bytes) -> Iterator[Part]:
        """Iterate over the records of a file that is no JSON."""
        raise NotImplementedError

    def begin(self, state: Mapping[str, object]) -> None:
        """Take up what `save` returned: what later records need of earlier ones."""
        self.session = text_in(state, "session")
        self.project = text_in(state, "project")
        self.branch = text_in(state, "branch")
        self.agent = text_in(state, "agent")
        self.task = text_in(state, "task")
        self.title = text_in(state, "title")
        self.home = text_in(state, "home")  # the working folder that the file names first
        self.calls: dict[str, OpenCall] = {
            call_id: OpenCall(str(call[0]), str(call[1]), bool(call[2]))
            for call_id, call in items_in(state, "calls")
            if isinstance(call, list) and len(call) == 3
        }
        self.stated: dict[str, None] = dict.fromkeys(texts_in(state, "stated"))
        self.asked = text_in(state, "asked")  # the prompt that was a command of factbook
        self._question = text_in(state, "question")  # that the agent's last words end with
        self._servers = dict.fromkeys(texts_in(state, "servers"))  # ours, under other names
        self._undecided = {id_: _undecided(raw) for id_, raw in items_in(state, "undecided")}

    def save(self) -> dict[str, object]:
        """Return what reading on needs, as JSON data."""
        return {
            "session": self.session,
            "project": self.project,
            "branch": self.branch,
            "agent": self.agent,
            "task": self.task,
            "title": self.title,
            "home": self.home,
            "calls": {
                key: [call.tool, call.subject, call.ours] for key, call in self.calls.items()
            },
            "stated": list(self.stated),
            "asked": self.asked,
            "question": self._question,
            "servers": list(self._servers),
            "undecided": {call_id: call.save() for call_id, call in self._undecided.items()},
        }

    def source(self) -> Source:
        """Return the file as a source, as far as it is known by now."""
        return Source(
            key=self.key,
            kind="session_log",
            host=self.host,
            session=self.identity(self.main_session),
            uri=printable(self.file.path),
            project=self.home,
            title=self.title,
            agent=self.file_agent,
        )

    def others(self) -> list[Source]:
        """Return the further sources that the episodes at hand belong to, and forget them."""
        return []

    @property
    def main_session(self) -> str:
        """The session that the whole file belongs to."""
        return self.named

    @property
    def file_agent(self) -> str:
        """The sub-agent that the whole file belongs to, empty for the main agent."""
        return ""

    def place(self, position: int, offset: int, timestamp: object) -> None:
        """Note where the record at hand stands, and when it happened."""
        self.position = position
        self.offset = offset
        self.timestamp = timestamp

    def stamp(self) -> str | float | None:
        """Return the date of the record at hand as the state may hold it."""
        stamp = self.timestamp
        if isinstance(stamp, str):
            return stamp[:MAX_ID_CHARS]
        return stamp if isinstance(stamp, (int, float)) else None

    def when(self) -> tuple[Millis | None, bool]:
        """Return the time of the record at hand, and whether it lies in the future.

        A date in the future is none: the clock was wrong.
        """
        timestamp, at, ahead = self._dated
        if timestamp is not self.timestamp:
            # Read only here: half of all records make no episode.
            at = millis(self.timestamp)
            ahead = at is not None and at > self._latest
            at = None if ahead else at
            self._dated = (self.timestamp, at, ahead)
        return at, ahead

    @property
    def named(self) -> str:
        """The session id of the record at hand, or the file's name where the log gives none."""
        return self.session or self.file.path.stem

    @property
    def scope(self) -> str:
        """What uids begin with where the log gives no id of its own."""
        if self.session:
            return self.session
        # Two files of one name may both lack a session id; their records are not copies.
        digest = hashlib.blake2b(str(self.file.path).encode("utf-8", "replace"), digest_size=4)
        return f"{self.file.path.stem}-{digest.hexdigest()}"

    def somewhere(self) -> str:
        """Return a uid for a record that the log gives none."""
        return f"{self.scope}:{self.position}"

    def here(self) -> str:
        """Return `<session>:<position>`, which names a subject where the log gives no id."""
        return f"{self.named}:{self.position}"

    def small(self, text: object) -> str:
        """Return a short value of a record (a path, a branch, a name), redacted."""
        if not isinstance(text, str) or not text:
            return ""
        known = self._small.get(text)
        if known is None:
            if len(self._small) >= _SMALL_TEXTS:
                self._small.clear()
            known = storable(self.redactor.redact(text))[: policy.FIELD_CHARS]
            self._small[text] = known
        return known

    def identity(self, text: str) -> str:
        """Return an id; one that is not like the hosts' own ids is redacted like any text."""
        known = self._plain_ids
        if not text or text in known:
            return text
        # Most ids are what we put before one that was seen a moment ago.
        start = text.find(":") + 1
        if text[:start] not in _OUR_PREFIXES:
            start = text.find("_") + 1
        if text[start:] in known and text[:start] in _OUR_PREFIXES:
            return text
        id_ = identity_of(text, self.small)
        if id_ is text:
            if len(known) >= _SMALL_TEXTS:
                known.clear()
            known.add(text)
        return id_

    def safe(self, value: object) -> object:
        """Return the state that a cursor keeps, its ids as `identity` gives them.

        What is too long for an id is a text that waits, whole and redacted already.
        """
        if isinstance(value, str):
            is_text = len(value) > policy.FIELD_CHARS
            return self.redactor.redact(value) if is_text else self.identity(value)
        if isinstance(value, dict):
            return {self.identity(str(key)): self.safe(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.safe(item) for item in value]
        return value

    def awaits(self, call_id: str, call: OpenCall) -> None:
        """Remember a call until its result comes."""
        if not call_id:
            return
        self.calls[call_id] = call
        if len(self.calls) > OPEN_CALLS:
            oldest = next(iter(self.calls))
            del self.calls[oldest]
            self._decide(oldest, "")

    def first_time(self, uid: str) -> bool:
        """Tell whether a branch or title has not been stated by this file before."""
        if uid in self.stated:
            return False
        self.stated[uid] = None
        if len(self.stated) > SEEN_RECORDS:
            del self.stated[next(iter(self.stated))]
        return True

    def add(
        self,
        kind: EpisodeKind,
        role: Role,
        trust: Trust,
        *,
        uid: str,
        text: str,
        subject: str,
        group: str = "",
        tool: str = "",
        call_id: str = "",
        fields: tuple[Field, ...] = (),
        attributes: Mapping[str, str] | None = None,
        is_error: bool = False,
        cut: int = 0,
        injected: bool = False,
        embed: bool = True,
        session: str | None = None,
    ) -> None:
        """Add an episode that stands where the record at hand stands."""
        at, ahead = self.when()
        if ahead:
            attributes = {**(attributes or {}), "clock": "ahead"}
        call_id = self.identity(call_id)  # first: the uid of a call is made of it
        known, session = self._plain_ids, self.named if session is None else session
        self.episodes.append(
            _episode(
                uid=self._whose + self.identity(uid),
                source=self.key,
                kind=kind,
                role=role,
                trust=trust,
                text=text,
                position=self.position,
                offset=self.offset,
                occurred_at=at,
                subject=self.identity(subject),
                # What nearly every episode has in common with the one before is asked here.
                group=group if not group or group in known else self.identity(group),
                session=session if session in known else self.identity(session),
                project=self.project,
                branch=self.branch,
                agent=self.identity(self.agent) if self.agent else "",
                tool=tool,
                call_id=call_id,
                fields=fields,
                attributes=attributes or {},
                is_error=is_error,
                cut=cut,
                injected=injected,
                embed=embed,
                owner=self.file.owner,
            )
        )

    def own(self, text: str) -> str:
        """Return a text without what factbook had put into it, which is counted."""
        subtracted = subtract(text)
        self.injected += subtracted.blocks
        return subtracted.text

    def prompt(
        self,
        text: str,
        *,
        uid: str,
        subject: str,
        by_model: bool = False,
        attributes: Mapping[str, str] | None = None,
        embed: bool = True,
        asks_us: bool = False,
    ) -> bool:
        """Add a prompt, typed by the human unless `by_model`; return whether there was any text.

        One that `asks_us` is an echo like the calls of our tools.
        """
        text = self.own(text).strip()
        if not text:
            return False
        self.redactor.learn_answer(self._question, text)
        self._question = ""
        text, cut = abridge(storable(self.redactor.redact(text)), policy.PROMPT_CHARS)
        self.task = subject
        self.add(
            EpisodeKind.PROMPT,
            Role.USER,
            Trust.DERIVED if by_model else Trust.DIRECT,
            uid=uid,
            text=text,
            subject=subject,
            cut=cut,
            attributes={**MODEL, **(attributes or {})} if by_model else attributes,
            injected=asks_us,
            embed=embed and not asks_us,
        )
        return True

    def shell_prompt(self, command: str, *, uid: str, subject: str) -> None:
        """Add a command that the human typed into the agent's prompt to be run as it is.

        One that asks factbook is an echo like the calls of its tools.
        """
        own = own_command(command.strip())
        command = command.strip() if own.asks else own.rest
        self.asked = subject if own.runs else ""
        text, cut = clip(storable(self.redactor.redact(command)), policy.COMMAND_CHARS)
        mark = "! "
        span = _field(name="command", start=len(mark), end=len(mark) + len(text))
        self.task = subject
        self.add(
            EpisodeKind.PROMPT,
            Role.USER,
            Trust.DIRECT,
            uid=uid,
            text=mark + text,
            subject=subject,
            fields=(span,),
            attributes={"typed": "command"},
            cut=cut,
            injected=own.asks,
            embed=not own.asks,
        )

    def typed_call(self, subject: str) -> OpenCall:
        """Return the call whose result is what a command of the human printed."""
        return OpenCall("", subject, subject == self.asked)

    def reply(self, text: str, *, uid: str, subject: str, group: str = "") -> bool:
        """Add what the assistant wrote; return whether there was any text."""
        return self._written(EpisodeKind.REPLY, text, uid=uid, subject=subject, group=group)

    def summary(
        self, text: str, *, uid: str, subject: str, attributes: Mapping[str, str] | None = None
    ) -> bool:
        """Add a summary that a model wrote; return whether there was any text."""
        kind = EpisodeKind.SUMMARY
        return self._written(kind, text, uid=uid, subject=subject, attributes=attributes)

    def _written(self, kind: EpisodeKind, text: str, **more: Any) -> bool:
        text = self.own(text).strip()
        if not text:
            return False
        text, cut = abridge(storable(self.redactor.redact(text)), policy.REPLY_CHARS)
        self._question = last_question(text)
        self.add(kind, Role.ASSISTANT, Trust.DERIVED, text=text, cut=cut, **more)
        return True

    def call(
        self,
        tool: str,
        given: object,
        *,
        call_id: str,
        uid: str,
        subject: str,
        group: str = "",
        namespace: str = "",
        attributes: Mapping[str, str] | None = None,
        ours: bool = False,
    ) -> OpenCall:
        """Add a tool call, and return what its result needs to know of it.

        A call of factbook's own is kept as `injected`; the host may know that it is `ours`. One
        that may be is added when its result has told.
        """
        tool = self.small(storable(tool))
        asked = asked_of_us(tool, given, namespace=namespace)
        if ours:
            asked = asked._replace(ours=True, echoes=True)
        rendered = render_call(tool, asked.given, self.redactor)
        call = OpenCall(tool, subject, asked.echoes)
        self.awaits(call_id, call)
        made: dict[str, Any] = {
            "uid": uid,
            "text": rendered.text,
            "subject": subject,
            "group": group,
            "tool": tool,
            "call_id": call_id,
            "fields": rendered.fields,
            "attributes": attributes,
            "cut": rendered.cut,
            "embed": rendered.embed,
        }
        server, name = (None, "") if asked.ours else asked_server(tool, namespace)
        if server is not None and call_id:
            self._undecided[call_id] = _UndecidedCall(
                server=server,
                name=name,
                position=self.position,
                offset=self.offset,
                timestamp=self.stamp(),
                made=made,
            )
        else:
            self._add_call(made, ours=asked.ours)
        return call

    def _add_call(self, made: Mapping[str, Any], *, ours: bool) -> None:
        made = {**made, "injected": ours, "embed": made["embed"] and not ours}
        self.add(EpisodeKind.TOOL_CALL, Role.ASSISTANT, Trust.OBSERVED, **made)

    def _decide(self, call_id: str, answer: str, *, is_error: bool = False) -> bool:
        """Add a call that waited for its result, and tell whether it is one of ours.

        A server that answered as we do once is ours in the rest of the file, whatever its name. A
        call of one of our names that reached no server asked for us and missed.
        """
        call = self._undecided.pop(call_id, None)
        if call is None:
            return False
        ours = call.server in self._servers or answers_as_we_do(call.name, answer)
        ours = ours or (is_error and not call.server)
        if ours and call.server:
            self._servers[call.server] = None
        position, offset, timestamp = self.position, self.offset, self.timestamp
        self.place(call.position, call.offset, call.timestamp)
        self._add_call(call.made, ours=ours)
        self.place(position, offset, timestamp)
        return ours

    def result(
        self,
        text: str,
        call: OpenCall,
        *,
        call_id: str,
        uid: str,
        is_error: bool = False,
        code: str = "",
        attributes: dict[str, str] | None = None,
        trust: Trust = Trust.EXTERNAL,
    ) -> bool:
        """Add what a tool gave back; return whether there was anything to keep.

        `code` is the exit code where the record states it apart from the text. The whole output is
        redacted before any of it is left out.
        """
        ours = self._decide(call_id, text, is_error=is_error) or call.ours
        subtracted = subtract(text)
        self.injected += subtracted.blocks
        text = plain(subtracted.text).strip("\r\n").rstrip()
        attributes = attributes or {}
        # Where the end is not told, a program may print what looks like it.
        stated = "" if attributes.get("end") == "untold" else exit_code(text)
        if code and not stated and code != "0":
            text = f"Exit code {code}\n{text}".rstrip()
        code = code or stated
        if code:
            attributes["exit_code"] = code
        if not text:
            if not call.tool:
                return False
            text = _SILENT  # the call ended, which is all that it had to say
        text = self.redactor.redact(text)
        if trust is Trust.DIRECT:  # what a person answered is a prompt, and no output
            text, cut = abridge(text, policy.PROMPT_CHARS)
        else:
            text, cut = condense(text, shape_of(call.tool, is_error=is_error))
        self.add(
            EpisodeKind.TOOL_RESULT,
            Role.TOOL,
            trust,
            uid=uid,
            text=storable(text),
            subject=call.subject,
            tool=call.tool,
            call_id=call_id,
            attributes=attributes,
            is_error=is_error,
            cut=cut,
            injected=ours or subtracted.torn,
            embed=False,
        )
        return True

    def record(
        self,
        uid: str,
        values: Mapping[str, str],
        *,
        labels: Mapping[str, str] | None = None,
        trust: Trust = Trust.OBSERVED,
    ) -> None:
        """Add values that the host states exactly, as an episode about the session."""
        lines = Lines()
        for name, value in values.items():
            lines.add((labels or {}).get(name, name), value, field=name)
        self.add(
            EpisodeKind.RECORD,
            Role.SYSTEM,
            trust,
            uid=uid,
            text=lines.text,
            subject=f"session_{self.named}",
            fields=tuple(lines.fields),
            attributes=dict(values),
            embed=False,
        )

    def note_branch(self, branch: object) -> None:
        """Take the git branch of a record, and state it where the session has not named it yet."""
        name = self.small(branch)
        self.branch = "" if name == "HEAD" else name
        if self.branch:
            uid = f"{self.scope}:branch:{self.branch}"
            if self.first_time(uid):
                self.record(uid, {"branch": self.branch}, labels={"branch": "git branch"})

    def note_title(self, title: object, kind: str, *, by_user: bool = False) -> bool:
        """Take a title of the session; return whether it is a new one."""
        name = self.small(title)
        if not name:
            return False
        self.title = name
        digest = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).hexdigest()
        uid = f"{self.scope}:{kind}:{digest}"
        if not self.first_time(uid):
            return False
        self.record(uid, {"title": name}, trust=Trust.DIRECT if by_user else Trust.DERIVED)
        return True


def _undecided(value: object) -> _UndecidedCall:
    saved: Any = value
    fields = tuple(_field(name=name, start=a, end=b) for name, a, b in saved["made"]["fields"])
    return _UndecidedCall(**{**saved, "made": {**saved["made"], "fields": fields}})


def text_in(state: Mapping[str, object], name: str) -> str:
    """Return a text of what `save` returned; empty where there is none."""
    value = state.get(name)
    return value if isinstance(value, str) else ""


def texts_in(state: Mapping[str, object], name: str) -> list[str]:
    """Return the texts of a list of what `save` returned."""
    value = state.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def rows_in(state: Mapping[str, object], name: str, size: int) -> list[list[Any]]:
    """Return the rows of so many values of a list of what `save` returned."""
    value = state.get(name)
    rows = value if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, list) and len(row) == size]


def items_in(state: Mapping[str, object], name: str) -> list[tuple[str, object]]:
    value = state.get(name)
    return [(str(key), item) for key, item in value.items()] if isinstance(value, Mapping) else []
