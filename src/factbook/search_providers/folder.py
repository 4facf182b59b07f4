"""Search a folder of one's own documents: offline, by words, following its changes.

Reads plain text, Markdown and its kin, HTML, and PDF where the package pypdf is installed. The
index is in memory alone: nothing is written, beside the documents or anywhere else, so what is
erased there is nowhere else. Every search looks for what has changed since the last one and reads
only that, newest first, for as long as its deadline lets; what is not read yet is said.

The folder is never left: links are not followed, and a file is read only where its real path is the
one that was listed. Files that are no documents, hidden ones and what tools keep for themselves are
skipped. Everything is bounded: files, their size, the text of them all.

Passages are ranked by BM25 and shown by file: a short document whole, of a long one its best
passages in their order, `[...]` between them. A file must hold at least half of the words that the
query is about.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import apsw
import orjson

from factbook import policy
from factbook.errors import SearchError, SearchFailure
from factbook.model.entities import SearchAnswer, SearchResult
from factbook.model.facts import Millis
from factbook.net import cancel
from factbook.search_providers import pdf_text
from factbook.search_providers.base import TITLE_CHARS, bounded, plain_query, room_below, tidy
from factbook.search_providers.config import FOLDER
from factbook.search_providers.documents import (
    HTML_SUFFIXES,
    PDF_SUFFIX,
    TEXT_SUFFIXES,
    Document,
    NoTextFile,
    Pulse,
    read_html,
    read_pages,
    read_text,
)

# All of these are ours.
FILES: Final = 20_000  # documents of a folder
ENTRIES: Final = 200_000  # of all its folders, that are looked at
DEPTH: Final = 32  # folders within each other
TEXT_BYTES: Final = 4 * 1024 * 1024  # of one text
HTML_BYTES: Final = 2 * 1024 * 1024
PDF_BYTES: Final = 32 * 1024 * 1024
TOTAL_CHARS: Final = 64_000_000  # of all documents together
READING: Final = 0.8  # share of the deadline that reading may take
COVERED: Final = 0.5  # share of the query's words that a file must hold
FULL_ENOUGH: Final = 1_000  # passages that are ranked for one query
TERMS: Final = 32  # words of a query that are looked for
WEIGHTS: Final = (8.0, 4.0, 1.0)  # of a hit in the title, in a heading, in the text

_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "__MACOSX"})
_WORD: Final = re.compile(r"[^\W_]+")
_GAP: Final = "\n\n[...]\n\n"
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_FLAGS: Final = (
    os.O_RDONLY
    | _NO_FOLLOW
    | getattr(os, "O_NONBLOCK", 0)  # a pipe that took the place of a file must not be waited for
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

# Words that a question is put in, and no document has to hold.
_FILLERS: Final = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "it", "its", "of", "in", "on", "at"),
        *("by", "to", "from", "for", "with", "without", "about", "as", "and", "or", "but", "not"),
        *("is", "are", "was", "were", "be", "been", "do", "does", "did", "has", "have", "had"),
        *("can", "could", "will", "would", "should", "i", "me", "my", "you", "your", "we", "our"),
        *("what", "which", "who", "when", "where", "why", "how", "s", "t", "there", "any", "some"),
        *("find", "show", "tell", "search", "look", "learn", "up", "stuff", "things", "thing"),
        *("latest", "new", "news", "recent", "recently", "now", "today", "since", "update"),
        *("updates", "compared", "compare", "comparison", "versus", "vs", "better", "best"),
        *("review", "reviews", "information", "info", "details", "facts", "overview", "use"),
        *("using", "guide", "more", "like"),
    )
)


class FolderSearch:
    """A folder of documents; safe to share between threads."""

    id = FOLDER
    local: Final = True  # it reads files of this machine, and nothing is sent

    def __init__(self, folder: Path, *, timeout_s: float = policy.SEARCH_TIMEOUT_S) -> None:
        """Name a folder; nothing is read yet."""
        self._folder = folder
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}  # by path
        self._index = _Index()

    def __repr__(self) -> str:
        return f"FolderSearch({str(self._folder)!r})"

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Return the files that a query is about; see `SearchProvider.search`.

        The address of a result is that of its file, with the line (of a PDF the page) where the
        best passage begins. It is dated by what the document says of itself, else by its file.
        """
        cancel.check()
        began = time.monotonic()
        limit = bounded(limit, most=FILES)
        terms = terms_of(plain_query(query))
        deadline = began + self._timeout_s
        self._take_lock(deadline)
        try:
            remarks = self._refresh(began + READING * self._timeout_s)
            cancel.check()
            results = [
                self._result(document, hits)
                for document, hits in self._index.best(terms, limit=limit)
            ]
        finally:
            self._lock.release()
        return SearchAnswer(
            provider=self.id,
            results=results,
            duration_ms=int((time.monotonic() - began) * 1000),
            remarks=tuple(remarks),
        )

    def _take_lock(self, deadline: float) -> None:
        while not self._lock.acquire(timeout=0.02):
            cancel.check()
            if time.monotonic() > deadline:
                raise self._failed(
                    SearchFailure.TIMEOUT,
                    f"another search was busy for {self._timeout_s:g} seconds",
                )

    def _refresh(self, until: float) -> list[str]:
        """Read what has changed; return what is to be said of what was not."""
        listing = _list(self._root())
        stamps, known_now = listing.stamps, self._known.items()
        gone = [path for path, known in known_now if stamps.get(path) != known.file.stamp]
        freed = [path for path in gone if self._forget(path)]
        if freed:
            for path in [path for path, known in self._known.items() if known.trouble == _OVER]:
                self._forget(path)
        waiting = [file for file in listing.files if file.path not in self._known]
        left = self._read_all(waiting, until)
        if left and not self._index.documents:
            what = f"none of the {left} files in {self._folder} could be read in time"
            raise self._failed(SearchFailure.TIMEOUT, what)
        troubles = [known for known in self._known.values() if known.trouble]
        bad = [trouble for trouble in troubles if trouble.trouble not in _NO_FAULT]
        if bad and len(bad) == len(listing.files):
            what = f"no file in {self._folder} can be read: {bad[0].file.name} {bad[0].trouble}"
            raise self._failed(SearchFailure.UNREADABLE, what)
        return _remarks(listing, troubles, left)

    def _root(self) -> str:
        root = os.path.realpath(self._folder)
        try:
            mode = os.stat(root).st_mode  # noqa: PTH116 - beside the other calls of its kind
        except OSError as error:
            what = f"the folder {self._folder} cannot be read ({error.strerror or error})"
            raise self._failed(SearchFailure.UNREADABLE, what) from error
        if not stat.S_ISDIR(mode):
            raise self._failed(SearchFailure.UNREADABLE, f"{self._folder} is no folder")
        return root

    def _forget(self, path: str) -> bool:
        known = self._known.pop(path)
        if known.document is None:
            return False
        self._index.remove(known.document)
        return True

    def _read_all(self, waiting: Sequence[_File], until: float) -> int:
        """Read files, newest first; return how many there was no time for."""
        waiting = sorted(waiting, key=lambda file: (-file.stamp[0], file.path))
        for count, file in enumerate(waiting):
            began = time.monotonic()
            if began > until:
                return len(waiting) - count
            cancel.check()
            try:
                self._known[file.path] = self._read(file, until)
            except _Late:
                if time.monotonic() - began < READING / 2 * self._timeout_s:
                    return len(waiting) - count
                # it would take all the time of every search to come
                self._known[file.path] = _Known(file=file, trouble=_SLOW)
        return 0

    def _read(self, file: _File, until: float) -> _Known:
        if self._index.chars >= TOTAL_CHARS:
            return _Known(file=file, trouble=_OVER)

        def pulse() -> None:
            cancel.check()
            if time.monotonic() > until:
                raise _Late

        try:
            document, digest = _document(file, pulse, until)
        except NoTextFile as error:
            return _Known(file=file, trouble=str(error))
        except OSError as error:
            return _Known(file=file, trouble=f"cannot be read ({error.strerror or error})")
        if not document.passages:
            return _Known(file=file, trouble=_EMPTY)
        return _Known(file=file, document=self._index.add(file, document, digest, pulse))

    def _result(self, document: _Indexed, hits: Sequence[int]) -> SearchResult:
        title = " ".join(tidy(document.title, limit=TITLE_CHARS).split())
        room = room_below(title)
        place, text = self._index.excerpt(document, hits, room=room)
        return SearchResult(
            title=title,
            url=f"{Path(document.file.path).as_uri()}#{place}",
            text=tidy(text, limit=room),
            image=document.image,
            published_at=document.published_at or document.file.stamp[0] // 1_000_000,
        )

    def _failed(self, kind: SearchFailure, reason: str) -> SearchError:
        return SearchError(kind=kind, provider=self.id, reason=reason)


def terms_of(query: str) -> Mapping[str, bool]:
    """Return the words of a query, each with whether a file should hold it.

    Of a query of nothing but fillers ("the who") every word counts.
    """
    words = list(dict.fromkeys(_WORD.findall(query.lower())))[:TERMS]
    counts = {word: word not in _FILLERS for word in words}
    return counts if any(counts.values()) else dict.fromkeys(words, True)


class _Late(Exception):
    """The time for reading is up."""


_OVER: Final = "does not fit: the folder holds too much text"
_SLOW: Final = "takes too long to read"
_EMPTY: Final = "holds no text"
_BEYOND: Final = f"what is behind the first {FILES:,} documents, or {ENTRIES:,} files"
_NO_PDF: Final = "is a PDF, and the package pypdf is not installed"
_NO_FAULT: Final = frozenset({_OVER, _EMPTY, _NO_PDF})
_LARGEST: Final[Mapping[str, int]] = {
    **dict.fromkeys(TEXT_SUFFIXES, TEXT_BYTES),
    **dict.fromkeys(HTML_SUFFIXES, HTML_BYTES),
    PDF_SUFFIX: PDF_BYTES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    path: str  # real and absolute
    name: str  # below the folder
    suffix: str  # in lower case
    stamp: tuple[int, int, int, int]  # changed at (ns), its entry changed at, bytes, inode


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What became of a file that was read."""

    file: _File
    document: int | None = None  # its number in the index
    trouble: str = ""  # why it is not in the index, after its name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    files: Sequence[_File]
    stamps: Mapping[str, tuple[int, int, int, int]]  # by path
    left_out: Counter[str]  # why -> how many


def _list(root: str) -> _Listing:
    """List the documents of a folder; raises nothing for what cannot be listed, and counts it."""
    files: list[_File] = []
    left_out: Counter[str] = Counter()
    waiting = [(root, 0)]
    seen = 0
    while waiting:
        folder, depth = waiting.pop()
        cancel.check()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            left_out["folders that cannot be read"] += 1
            continue
        for entry in listed:
            seen += 1
            if seen > ENTRIES or len(files) >= FILES:
                left_out[_BEYOND] += 1
                continue
            _sort(entry, root, depth, files=files, folders=waiting, left_out=left_out)
    return _Listing(
        files=files, stamps={file.path: file.stamp for file in files}, left_out=left_out
    )


def _sort(
    entry: os.DirEntry[str],
    root: str,
    depth: int,
    *,
    files: list[_File],
    folders: list[tuple[str, int]],
    left_out: Counter[str],
) -> None:
    if entry.name.startswith("."):
        return
    try:
        about = entry.stat(follow_symlinks=False)
    except OSError:
        return  # gone since it was listed
    suffix = os.path.splitext(entry.name)[1].lower()  # noqa: PTH122 - of names by the ten thousand
    junction = getattr(entry, "is_junction", None)  # of Windows, from Python 3.12 on
    if stat.S_ISLNK(about.st_mode) or (junction is not None and junction()):
        left_out["links, which are not followed"] += 1
    elif stat.S_ISDIR(about.st_mode):
        if entry.name in _SKIPPED:
            return
        if depth < DEPTH:
            folders.append((entry.path, depth + 1))
        else:
            left_out[f"folders deeper than {DEPTH} levels"] += 1
    elif stat.S_ISREG(about.st_mode) and suffix in _LARGEST:
        if about.st_size > _LARGEST[suffix]:
            left_out[f"{suffix} files of more than {_LARGEST[suffix] >> 20} MB"] += 1
            return
        files.append(
            _File(
                path=entry.path,
                name=os.path.relpath(entry.path, root),
                suffix=suffix,
                stamp=(about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino),
            )
        )


def _document(file: _File, pulse: Pulse, until: float) -> tuple[Document, bytes]:
    """Read a file; return what it says, and a digest of its bytes."""
    if file.suffix == PDF_SUFFIX and find_spec("pypdf") is None:
        raise NoTextFile(_NO_PDF)
    data = _bytes(file)
    digest = blake2b(data, digest_size=16).digest()
    if file.suffix == PDF_SUFFIX:
        title, pages = _pdf(data, until)
        return read_pages(pages, title=title, pulse=pulse), digest
    read = read_html if file.suffix in HTML_SUFFIXES else read_text
    return read(data, pulse=pulse), digest


def _bytes(file: _File) -> bytes:
    """Return the bytes of a file, if it is still the one inside the folder; raises OSError."""
    descriptor = os.open(file.path, _FLAGS)
    with open(descriptor, "rb") as opened:  # noqa: PTH123 - a descriptor has no path
        about = os.fstat(descriptor)
        real = os.stat(os.path.realpath(file.path))  # noqa: PTH116
        # a link may have taken the place of a folder above it since it was listed
        inside = os.path.realpath(file.path) == file.path
        same = (about.st_dev, about.st_ino) == (real.st_dev, real.st_ino)
        if not (inside and same and stat.S_ISREG(about.st_mode)):
            raise OSError(0, "it is not the file that was listed")
        data = opened.read(_LARGEST[file.suffix] + 1)
    if len(data) > _LARGEST[file.suffix]:
        raise OSError(0, "it has grown too large")
    return data


def _pdf(data: bytes, until: float) -> tuple[str, list[str]]:
    """Return title and pages of a PDF, read by a process that is ended at the deadline."""
    # -I: nothing of the current folder or of the environment decides what is imported
    command = [sys.executable, "-I", pdf_text.__file__]
    token = cancel.current()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            with nullcontext() if token is None else token.on_cancel(process.kill):
                out, _ = process.communicate(data, timeout=max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise _Late from None
        finally:
            process.kill()  # which does nothing where it has ended
    cancel.check()
    if process.returncode == pdf_text.LOCKED:
        raise NoTextFile("is locked by a password")
    if process.returncode:
        raise NoTextFile("is no PDF that can be read")
    loads = orjson.loads(out)
    return loads["title"], loads["pages"]


def _remarks(listing: _Listing, troubles: Sequence[_Known], left: int) -> list[str]:
    """Say what of the folder was not searched, one sentence a reason."""
    remarks = []
    if not listing.files:
        remarks.append("The folder holds no documents.")
    if left:
        remarks.append(f"Not searched: files that there was no time to read yet ({left:,}).")
    names_of: defaultdict[str, list[str]] = defaultdict(list)
    for known in troubles:
        names_of[known.trouble].append(known.file.name)
    for trouble, names in sorted(names_of.items()):
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        remarks.append(f"{tidy(names[0], limit=200)}{more} {trouble}.")
    remarks += [f"Not searched: {why} ({n:,})." for why, n in sorted(listing.left_out.items())]
    return remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class _Indexed:
    """A document in the index."""

    number: int
    file: _File
    title: str
    image: str
    published_at: Millis | None
    digest: bytes  # copies of a file are one result
    passages: int
    chars: int


_PASSAGES: Final = 1 << 20  # numbers of passages that a document may have


class _Index:
    """Passages by words, in a database that lives in memory."""

    def __init__(self) -> None:
        self.documents: dict[int, _Indexed] = {}
        self.chars = 0
        self._next = 1
        self._db = apsw.Connection(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE passage USING fts5(title, heads, body, place UNINDEXED,"
            " tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        ranked = f"bm25({', '.join(str(weight) for weight in WEIGHTS)})"
        self._db.execute("INSERT INTO passage(passage, rank) VALUES ('rank', ?)", (ranked,))

    def add(self, file: _File, document: Document, digest: bytes, pulse: Pulse) -> int:
        """Add a document, whole or not at all; return its number."""
        number = self._next
        stem = Path(file.name).stem
        title = document.title or " ".join(stem.replace("_", " ").replace("-", " ").split())
        chars = 0
        with self._db:
            for count, part in enumerate(document.passages[:_PASSAGES]):
                if count % 64 == 0:
                    pulse()
                chars += len(part.text)
                heads = "\n".join(part.headings)
                row = (number * _PASSAGES + count, f"{title} {stem}", heads, part.text, part.place)
                self._db.execute(
                    "INSERT INTO passage(rowid, title, heads, body, place) VALUES (?, ?, ?, ?, ?)",
                    tuple(_stored(value) for value in row),
                )
        self._next += 1
        self.chars += chars
        self.documents[number] = _Indexed(
            number=number,
            file=file,
            title=title or file.name,
            image=document.image,
            published_at=document.published_at,
            digest=digest,
            passages=len(document.passages[:_PASSAGES]),
            chars=chars,
        )
        return number

    def remove(self, number: int) -> None:
        """Take a document out."""
        first = number * _PASSAGES
        with self._db:
            self._db.execute(
                "DELETE FROM passage WHERE rowid >= ? AND rowid < ?", (first, first + _PASSAGES)
            )
        self.chars -= self.documents.pop(number).chars

    def best(
        self, terms: Mapping[str, bool], *, limit: int
    ) -> Iterator[tuple[_Indexed, Sequence[int]]]:
        """Yield the documents that the terms are about, best first, with their best passages."""
        holding = {term: self._matching(_quoted(term)) for term, counts in terms.items() if counts}
        # a number that stands nowhere is a date, or a price: it says what is asked, not of what
        holding = {
            term: numbers for term, numbers in holding.items() if numbers or not term.isdecimal()
        } or holding
        covered = Counter(number for numbers in holding.values() for number in numbers)
        wanted = {number for number, held in covered.items() if held / len(holding) >= COVERED}
        asked = " OR ".join(_quoted(term) for term in terms)
        if len(holding) == 2:
            # half of two words is one, and "late" alone says nothing of a "late blight"
            both = " AND ".join(_quoted(term) for term in holding)
            if close := self._matching(both):
                # behind these, what has the word that the other says more of: "movies" for
                # "heist movies", and not each "late" for "late blight"
                wanted = close | holding[list(holding)[-1]]
            else:
                first, second = holding.values()
                rarer = min(filter(None, (first, second)), key=len, default=set())
                wanted = first & second or rarer
        scores: dict[int, float] = {}
        hits: defaultdict[int, list[int]] = defaultdict(list)
        ranked = self._db.execute(
            "SELECT rowid, rank FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT ?",
            (asked, FULL_ENOUGH),
        )
        for rowid, rank in ranked:
            number = rowid // _PASSAGES
            if number not in wanted:
                continue
            share = covered[number] / len(holding)
            hits[number].append(rowid)
            scores.setdefault(number, -rank * share)
        seen: set[bytes] = set()
        for number in sorted(scores, key=lambda score: (-scores[score], score)):
            document = self.documents[number]
            if document.digest in seen:
                continue
            seen.add(document.digest)
            yield document, hits[number]
            if len(seen) >= limit:
                return

    def excerpt(self, document: _Indexed, hits: Sequence[int], *, room: int) -> tuple[str, str]:
        """Return where the best passage of a document begins, and what of it is shown."""
        first = document.number * _PASSAGES
        if document.chars + 2 * document.passages <= room:
            rows = self._rows(range(first, first + document.passages))
        else:
            rows, size = {}, 0
            for rowid, row in self._rows(hits).items():
                size += len(row[0]) + len(row[1]) + len(_GAP)
                if size > room and rows:
                    break
                rows[rowid] = row
        text: list[str] = []
        before = first - 1
        for rowid in sorted(rows):
            body, heads, _ = rows[rowid]
            if rowid == before + 1:
                text += ["\n\n" if text else "", body]
            else:
                text += [_GAP if text else "", f"{heads}\n\n" if heads else "", body]
            before = rowid
        place = self._rows(hits[:1])[hits[0]][2]
        return place, "".join(text)

    def _matching(self, asked: str) -> set[int]:
        """Return the documents with a passage that matches an expression."""
        cursor = self._db.execute(
            "SELECT DISTINCT rowid / ? FROM passage WHERE passage MATCH ?", (_PASSAGES, asked)
        )
        return {number for (number,) in cursor}

    def _rows(self, numbers: Sequence[int]) -> dict[int, tuple[str, str, str]]:
        sql = "SELECT body, heads, place FROM passage WHERE rowid = ?"
        return {number: row for number in numbers for row in self._db.execute(sql, (number,))}


def _quoted(term: str) -> str:
    return f'"{term}"'  # a term is letters and digits, so no quote is in it


def _stored(value: int | str) -> int | str:
    # a lone surrogate has no UTF-8 form
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
