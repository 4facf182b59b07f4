"""1 sources: notes and summaries: plain text and Markdown, read as paragraphs under their headings.

A note is what a person wrote: each paragraph is an episode, told directly. A summary is what a
model wrote: it is kept in pieces as long as a summary is meant to be, and believed as derived text.
Nothing is taken for a note unless somebody says so, by naming the file or its kind.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple

from factbook.language.markdown import front_matter
from factbook.language.sentences import last_end
from factbook.model.facts import Cursor, Episode, EpisodeKind, Millis, Role, Source, Trust
from factbook.redaction.base import Redacting
from factbook.sources.base import Batch
from factbook.sources.conversation.turn import clean, within, worth_a_vector
from factbook.sources.encoding import decoded
from factbook.sources.files import NOTE, SUMMARY, SourceFile, file_key
from factbook.sources.session_log.echo import subtract
from factbook.sources.session_log.parser import BadRecord, LogFile, Parser, RecordOutcome, printable
from factbook.sources.session_log.reader import FileReading
from factbook.sources.session_log.reader import read as read_log
from factbook.sources.session_log.text import cut_before, millis

NOTE_BYTES: Final = 16 * 1024 * 1024  # of one file; a book is a tenth of it
PARAGRAPH_CHARS: Final = 2_000  # a longer paragraph becomes several episodes
SUMMARY_CHARS: Final = 8_000  # origins 002.1: up to 2,000 tokens, of about 4 characters
_HEADING_CHARS: Final = 200
_LOOKED_BACK: Final = 400  # characters in which a good place to cut is looked for

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_UNDERLINE: Final = re.compile(r" {0,3}(?:(=+)|-{2,})[ \t]*")
_RULE: Final = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_DATE: Final = re.compile(r"(?<!\d)(\d{4})[-_.]?(\d{2})[-_.]?(\d{2})(?!\d)")
_DATED: Final = ("date", "created", "created_at", "day")


class _Passage(NamedTuple):
    """A part of a note: a paragraph, or a heading with nothing below it."""

    text: str
    line: int  # in the redacted text, from 0
    headings: tuple[str, ...]  # outermost first
    kind: str  # as the account of records names it


@dataclass(slots=True)
class _Outline:
    """A text taken apart."""

    passages: list[_Passage] = field(default_factory=list)
    head: dict[str, str] = field(default_factory=dict)  # the entries of the front matter
    ignored: dict[str, int] = field(default_factory=dict)

    def leave_out(self, kind: str) -> None:
        """Count a part that is left out on purpose."""
        self.ignored[kind] = self.ignored.get(kind, 0) + 1


def read(
    file: LogFile, *, cursor: Cursor | None, redactor: Redacting, now: Millis
) -> Iterator[Batch]:
    """Iterate over what a note or a summary says, if it has changed since it was read.

    Raises PathMissing and PathUnreadable.
    """
    return read_log(
        file, cursor=cursor, redactor=redactor, now=now, parser=_NoteParser, document=_read
    )


class _NoteParser(Parser):
    """Makes the episodes of one file."""

    host: ClassVar[str] = "notes"

    def begin(self, state: Mapping[str, object]) -> None:
        super().begin(state)
        file = self.file
        self.key = file_key(file)
        self.owner = file.owner
        self.by_model = isinstance(file, SourceFile) and file.kind == SUMMARY
        self.kind = SUMMARY if self.by_model else NOTE

    def source(self) -> Source:
        return Source(
            key=self.key,
            kind=self.kind,
            host=self.host,
            session=self.identity(self.named),
            uri=printable(self.file.path),
            title=self.title,
        )

    def feed(self, record: dict[str, object], position: int, offset: int) -> RecordOutcome:
        raise BadRecord("a note has no records")  # it is read by `passage`

    def passage(self, passage: _Passage, text: str, *, at: Millis | None, dated: str) -> None:
        """Add an episode for a passage, or a piece of it."""
        at, clock = within(at, self._latest)
        heading = " > ".join(passage.headings)
        whole = f"{heading}\n{text}" if heading and passage.kind != "heading" else text
        parts = "\0".join((self.owner, self.kind, whole)).encode("utf-8", "surrogatepass")
        uid = f"{self.kind}:{hashlib.blake2b(parts, digest_size=16).hexdigest()}"
        self.episodes.append(
            Episode(
                uid=uid,
                source=self.key,
                kind=EpisodeKind.SUMMARY if self.by_model else EpisodeKind.NOTE,
                role=Role.ASSISTANT if self.by_model else Role.USER,
                trust=Trust.DERIVED if self.by_model else Trust.DIRECT,
                text=whole,
                position=self.position,
                offset=self.offset,
                occurred_at=at,
                owner=self.owner,
                session=self.identity(self.named),
                attributes={
                    **({"heading": heading} if heading else {}),
                    **({"dated": dated} if at is not None else {}),
                    **clock,
                },
                embed=worth_a_vector(text),
            )
        )


def _read(reading: FileReading) -> Iterator[Batch]:
    parser = reading.parser
    assert isinstance(parser, _NoteParser)
    size, mtime_ns = reading.state()
    data = reading.handle.read(NOTE_BYTES + 1)
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    reading.count.lines = reading.line = lines
    if len(data) > NOTE_BYTES:
        detail = f"{size:,} bytes in one note, over {NOTE_BYTES:,}"
        reading.reject("too_long", detail, "", position=1, offset=0)
    elif b"\x00" in data:
        reading.reject("not_json", "binary, not a text", "", position=1, offset=0)
    else:
        _take(reading, parser, data, mtime_ns // 1_000_000)
    reading.offset = size
    yield reading.batch(size=size, mtime_ns=mtime_ns)


def _take(reading: FileReading, parser: _NoteParser, data: bytes, changed_at: Millis) -> None:
    text, repaired = decoded(data.removeprefix(codecs.BOM_UTF8))
    text = clean(text).replace("\r\n", "\n").replace("\r", "\n")
    if repaired:
        reading.count.repaired[repaired] = 1
    said, injected, _ = subtract(text)
    if injected and said.strip():
        reading.count.repaired["injected"] = injected
    if not said.strip():
        if text.strip():
            reading.note(RecordOutcome("ignored", "injected"))
        return
    # All of it is redacted before it is taken apart: a secret may stand on several lines.
    redacted = parser.redactor.redact(said.strip())
    outline = _paragraphs(redacted)
    for kind, times in outline.ignored.items():
        if kind == "blank":
            reading.count.ignored["blank"] = times
        else:
            reading.note(RecordOutcome("ignored", kind), times)
    name = parser.small(parser.file.path.stem)
    headings = [passage.headings[0] for passage in outline.passages if passage.headings]
    parser.title = (outline.head.get("title") or next(iter(headings), "") or name)[:_HEADING_CHARS]
    general = _general_date(outline.head, name, changed_at)
    places = _Places(text, data)
    passages = _pieces(outline.passages) if parser.by_model else outline.passages
    for passage in passages:
        parser.position, parser.offset = places.of(passage.text)
        at, dated = _date_of(passage.headings) or general
        for piece in _split(passage.text, SUMMARY_CHARS if parser.by_model else PARAGRAPH_CHARS):
            parser.passage(passage, piece, at=at, dated=dated)
        reading.note(RecordOutcome("kept", passage.kind))


class _Heads:
    """The headings above the line at hand, and whether anything stands below each."""

    def __init__(self, outline: _Outline) -> None:
        self._outline = outline
        self._open: list[tuple[int, str, int, list[bool]]] = []  # level, title, line, used

    def titles(self) -> tuple[str, ...]:
        return tuple(title for _, title, _, _ in self._open)

    def begin(self, level: int, title: str, line: int) -> None:
        self.close(level)
        self.use()
        self._open.append((level, title[:_HEADING_CHARS], line, [False]))

    def use(self) -> None:
        for *_, used in self._open:
            used[0] = True

    def close(self, level: int) -> None:
        """End the headings from a level on; one with nothing below it says something by itself."""
        while self._open and self._open[-1][0] >= level:
            titles = self.titles()
            _, title, line, used = self._open.pop()
            if used[0] or not title:
                self._outline.leave_out("heading")
            else:
                text = " > ".join(titles)
                self._outline.passages.append(_Passage(text, line, titles[:-1], "heading"))


def _paragraphs(text: str) -> _Outline:
    """Take a text apart: front matter, headings, paragraphs; a code block is one paragraph."""
    outline = _Outline()
    heads = _Heads(outline)
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    number, outline.head = front_matter(lines)
    if number:
        outline.leave_out("front matter")
    buffer: list[str] = []
    began = 0
    fence = ""

    def flush() -> None:
        nonlocal buffer
        if buffer:
            heads.use()
            passage = "\n".join(buffer).strip("\n")
            outline.passages.append(_Passage(passage, began, heads.titles(), "paragraph"))
            buffer = []

    while number < len(lines):
        line = lines[number].rstrip()
        number += 1
        if fence:
            buffer.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if not line:
            flush()
            outline.leave_out("blank")
            continue
        opening = _FENCE.match(line)
        heading = _HEADING.fullmatch(line)
        if heading and len(heading[2] or "") > _HEADING_CHARS:
            heading = None  # a title would lose its end
        underline = _UNDERLINE.fullmatch(line) if len(buffer) == 1 else None
        if underline and len(buffer[0].strip()) > _HEADING_CHARS:
            underline = None  # that is a paragraph, and a rule below it
        if heading:
            flush()
            heads.begin(len(heading[1]), heading[2] or "", number - 1)
        elif underline and not buffer[0].lstrip().startswith(("-", "*", "|", ">")):
            title, buffer = buffer[0].strip(), []
            heads.begin(1 if underline[1] else 2, title, number - 2)
        elif _RULE.fullmatch(line):
            flush()
            outline.leave_out("separator")
        else:
            if not buffer:
                began = number - 1
            buffer.append(line)
            fence = opening[1] if opening else ""
    flush()
    heads.close(1)
    return outline


def _pieces(passages: list[_Passage]) -> list[_Passage]:
    """Join the paragraphs of a summary into pieces as long as a summary may be."""
    pieces: list[_Passage] = []
    texts: list[str] = []
    first: _Passage | None = None
    heading: tuple[str, ...] = ()
    for passage in passages:
        is_new = passage.headings and passage.headings != heading
        shown = [" > ".join(passage.headings)] if is_new else []
        heading = passage.headings
        size = sum(map(len, texts)) + len(passage.text)
        if first is not None and size > SUMMARY_CHARS:
            pieces.append(_Passage("\n\n".join(texts), first.line, (), "summary"))
            texts, first = [], None
        first = first or passage
        texts.append("\n".join((*shown, passage.text)))
    if first is not None:
        pieces.append(_Passage("\n\n".join(texts), first.line, (), "summary"))
    return pieces


def _split(text: str, limit: int) -> Iterator[str]:
    """Cut a long text at the ends of lines, sentences or words, in this order."""
    while len(text) > limit:
        window = text[:limit]
        at = window.rfind("\n", limit - _LOOKED_BACK)
        if at <= 0:
            at = last_end(window, limit - _LOOKED_BACK)
            at = at or window.rfind(" ", limit - _LOOKED_BACK)
        at = cut_before(text, at if at > 0 else limit) or limit
        yield text[:at].strip()
        text = text[at:].lstrip()
    if text:
        yield text


class _Places:
    """Finds passages of the redacted text in the file again, one after the other."""

    def __init__(self, text: str, data: bytes) -> None:
        self._text = text
        self._data = data
        self._at = 0

    def of(self, passage: str) -> tuple[int, int]:
        """Return the line, from 1, and the byte where a passage begins.

        A first line that redaction changed stands where the passage before it ended.
        """
        first = passage.split("\n", 1)[0].split("[REDACTED:", 1)[0].rsplit(" > ", 1)[-1].strip()
        place = self._text.find(first, self._at) if first else -1
        if place >= 0:
            self._at = place
        line = self._text.count("\n", 0, self._at)
        return line + 1, self._byte_of(line)

    def _byte_of(self, line: int) -> int:
        at = 0
        for _ in range(line):
            at = self._data.find(b"\n", at) + 1
            if at == 0:
                return 0  # lines that end in something else
        return at


def _general_date(head: dict[str, str], name: str, changed_at: Millis) -> tuple[Millis, str]:
    """Return the date of a whole note and what it was taken from; the file's own as the last."""
    for key in _DATED:
        at = _date_in(head.get(key, ""))
        if at is not None:
            return at, "front matter"
    at = _date_in(name)
    return (at, "file name") if at is not None else (changed_at, "file")


def _date_of(headings: tuple[str, ...]) -> tuple[Millis, str] | None:
    for heading in reversed(headings):
        at = _date_in(heading)
        if at is not None:
            return at, "heading"
    return None


def _date_in(text: str) -> Millis | None:
    at = millis(text)
    if at is None:
        match = _DATE.search(text)
        at = millis("-".join(match.groups())) if match else None
    return at
