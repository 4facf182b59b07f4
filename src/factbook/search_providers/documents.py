"""Take a document of one's own apart: its title, and passages with the line where each begins.

What a page does not show its reader (scripts, hidden elements, comments) is not text of it, and
what surrounds its content (navigation, footers, forms) is left out. Marks inside a text
(`**bold**`, `[link](address)`) go, as markdown-it reads them, so that a sentence reads as it is
shown; headings and bullets stay.

A saved page may be made to harm: every step here takes time in proportion to the text. That is why
lxml reads pages. For some of 1 MB the reader of the standard library takes hours and that of Lexbor
two minutes; libxml2 takes 0.1 seconds, and ends a page at 2,048 elements within each other.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final, TypeAlias

from lxml import etree
from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.token import Token

from factbook.language.markdown import front_matter
from factbook.model.facts import Millis
from factbook.net.address import is_public
from factbook.search_providers.base import moment

Pulse: TypeAlias = Callable[[], None]
"""Called now and then while a document is read; what it raises ends the reading."""

TEXT_SUFFIXES: Final = frozenset(
    {".txt", ".text", ".md", ".markdown", ".mdown", ".rst", ".org", ".adoc"}
)
HTML_SUFFIXES: Final = frozenset({".html", ".htm", ".xhtml"})
PDF_SUFFIX: Final = ".pdf"

PASSAGE_CHARS: Final = 1_000  # ours: about a screenful; what is ranked is one of these
_LINE_CHARS: Final = 20_000  # ours: of a line that somebody wrote
_HEADINGS: Final = 4  # above a passage that are shown with it
_HEADING_CHARS: Final = 200
_PULSE_EVERY: Final = 512  # lines, or elements of a page

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHARSET: Final = re.compile(
    rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})""", re.I
)
_BINARY: Final = b"\0"
_SNIFFED: Final = 8_192

_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"\s{0,3}(#{1,6}|={1,6}|\*{1,6})\s+(\S.*)")  # Markdown, AsciiDoc, Org
_UNDERLINE: Final = re.compile(r"([=\-~^\"'`#*+])\1{2,}\s*")
_DATED: Final = ("date", "published", "updated", "created", "modified")
_WIKI: Final = re.compile(r"\[\[(?:[^\[\]|]{1,200}\|)?([^\[\]|]{1,200})\]\]")
_MARKS: Final = re.compile(r"[*_`\[<\\&]")  # without one a text is shown as it is written


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """A part of a document, about a screenful."""

    text: str
    place: str  # where it begins, as the end of an address: "L12", "page=3"
    headings: Sequence[str] = ()  # the lines above it that it stands under, outermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a file says."""

    title: str  # "" where it has none
    passages: Sequence[DocumentPart]
    image: str = ""  # the first public picture of it
    published_at: Millis | None = None  # where it says so itself


class NoTextFile(Exception):
    """The file is not what its name says; the message follows that name: "is no text"."""


def read_text(data: bytes, *, pulse: Pulse) -> Document:
    """Read plain text, Markdown or one of its kin; raises NotText for what is binary."""
    return _outline(_decoded(data, html=False), pulse)


def read_html(data: bytes, *, pulse: Pulse) -> Document:
    """Read a page as it is shown; raises NotText for what is binary."""
    text = _decoded(data, html=True)
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    root = etree.HTML(text.encode("utf-8", "replace"), parser) if text.strip() else None
    if root is None:
        return Document(title="", passages=())
    page = _Page()
    page.read(root, pulse)
    meta = [(_name(node), node.get("content", "")) for node in root.iter("meta")]
    image = next((content.strip() for name, content in meta if name == "og:image"), "")
    dates = (moment(content) for name, content in meta if name in _PUBLISHED)
    titles = (
        " ".join((node.text or "").split()) for node in root.xpath("//title[not(ancestor::svg)]")
    )
    return Document(
        title=next(filter(None, titles), page.heading)[:_HEADING_CHARS],
        passages=list(_passages(page.lines, pulse)),
        image=image if is_public(image) else "",
        published_at=next((date for date in dates if date is not None), None),
    )


def read_pages(pages: Sequence[str], *, title: str, pulse: Pulse) -> Document:
    """Make a document of the texts of pages, as a PDF has them."""
    passages: list[DocumentPart] = []
    for number, page in enumerate(pages, 1):
        pulse()
        lines = [_Line(number, line.rstrip()) for line in page.split("\n")]
        passages += _passages(lines, pulse, place="page=")
    return Document(title=title[:_HEADING_CHARS], passages=passages)


def _decoded(data: bytes, *, html: bool) -> str:
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data.decode(name, "replace")
    if _BINARY in data[:_SNIFFED]:
        raise NoTextFile("is no text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        said = _CHARSET.search(data[:_SNIFFED]) if html else None
        return data.decode(_charset(said[1].decode("ascii") if said else ""), "replace")


def _charset(name: str) -> str:
    try:
        # what turns text into text, or bytes into bytes, is a codec too
        known = codecs.lookup(name)
        return known.name if name and known._is_text_encoding else "cp1252"
    except LookupError:
        return "cp1252"  # of old files in the West; other bytes become other letters, none is lost


@dataclass(frozen=True, slots=True)
class _Line:
    number: int  # in the file, from 1; of a PDF the page
    text: str  # "" between paragraphs
    level: int = 0  # of a heading, from 1


@dataclass(slots=True)
class _Building:
    """The passage that is being filled."""

    place: str
    lines: list[_Line] = field(default_factory=list)
    size: int = 0
    headings: tuple[str, ...] = ()

    def add(self, line: _Line, open_headings: Sequence[tuple[int, str]]) -> None:
        if not self.lines:
            if not line.text:
                return
            self.headings = tuple(shown for level, shown in open_headings if level != line.level)
        self.lines.append(line)
        self.size += len(line.text) + 1

    def done(self) -> DocumentPart | None:
        while self.lines and not self.lines[-1].text:
            self.lines.pop()
        if not self.lines:
            return None
        return DocumentPart(
            text="\n".join(line.text for line in self.lines),
            place=f"{self.place}{self.lines[0].number}",
            headings=self.headings[-_HEADINGS:],
        )


def _passages(lines: Sequence[_Line], pulse: Pulse, *, place: str = "L") -> Iterator[DocumentPart]:
    """Fill passages with lines: a heading begins one, and a full one ends with its paragraph."""
    above: list[tuple[int, str]] = []
    at_hand = _Building(place)
    for count, line in enumerate(lines):
        if count % _PULSE_EVERY == 0:
            pulse()
        if line.level:
            # headings alone say little: they stay with what comes below them
            more = at_hand.size >= PASSAGE_CHARS or not all(
                held.level or not held.text for held in at_hand.lines
            )
            if more and (document_part := at_hand.done()):
                yield document_part
                at_hand = _Building(place)
            while above and above[-1][0] >= line.level:
                above.pop()
            shown = f"{'#' * line.level} {line.text}"
            above.append((line.level, shown))
            at_hand.add(_Line(line.number, shown, line.level), above)
            continue
        full = at_hand.size >= PASSAGE_CHARS
        if full and (not line.text or at_hand.size >= 2 * PASSAGE_CHARS):
            if document_part := at_hand.done():
                yield document_part
            at_hand = _Building(place)
        for more_pieces, piece in enumerate(_pieces(line)):
            if more_pieces % _PULSE_EVERY == 1:
                pulse()
            if at_hand.size + len(piece.text) > 2 * PASSAGE_CHARS and (
                document_part := at_hand.done()
            ):
                yield document_part
                at_hand = _Building(place)
            at_hand.add(piece, above)
    if document_part := at_hand.done():
        yield document_part


def _pieces(line: _Line) -> Iterator[_Line]:
    """Cut a line that is longer than a passage at the ends of its sentences, or of words."""
    text, at = line.text, 0
    while len(text) - at > 2 * PASSAGE_CHARS:
        window = text[at : at + 2 * PASSAGE_CHARS]
        cut = max(window.rfind(end, PASSAGE_CHARS) for end in (". ", "! ", "? ", "。")) + 1
        cut = cut or window.rfind(" ", PASSAGE_CHARS) + 1 or len(window)
        yield _Line(line.number, window[:cut].strip())
        at += cut
    yield _Line(line.number, text[at:].strip() if at else text, line.level)


def _outline(text: str, pulse: Pulse) -> Document:
    pulse()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = _without_comments(text).split("\n")
    begin, head = front_matter(raw)
    shown, images = _unmarked(raw, begin, pulse)
    lines = list(_lines(raw, shown, begin, pulse))
    top = min((line.level for line in lines if line.level), default=0)
    heading = next((line.text for line in lines if line.level and line.level == top), "")
    dates = (moment(head.get(key, "")) for key in _DATED)
    return Document(
        title=(head.get("title", "") or heading)[:_HEADING_CHARS],
        passages=list(_passages(lines, pulse)),
        image=next((image for image in images if is_public(image)), ""),
        published_at=next((date for date in dates if date is not None), None),
    )


def _without_comments(text: str) -> str:
    """Take away what a rendered page does not show, and no line with it."""
    if "<!--" not in text:
        return text
    kept = []
    at = 0
    while (begin := text.find("<!--", at)) >= 0:
        end = text.find("-->", begin + 4)
        if end < 0:
            break  # it is never closed, so it is text
        kept += [text[at:begin], "\n" * text.count("\n", begin, end)]
        at = end + 3
    return "".join([*kept, text[at:]])


def _lines(
    raw: Sequence[str], shown: Sequence[str | None], begin: int, pulse: Pulse
) -> Iterator[_Line]:
    fence = ""
    held: _Line | None = None  # a line waits for the next one, which may underline it
    for number, written in enumerate(raw[begin:], begin + 1):
        if number % _PULSE_EVERY == 0:
            pulse()
        unmarked = shown[number - 1]
        if unmarked is None:
            continue
        line = unmarked.rstrip()
        opening = _FENCE.match(line)
        if fence or opening:
            if held is not None:
                yield held
                held = None
            if opening and not fence:
                fence = opening[1]
            elif opening and line.strip().startswith(fence):
                fence = ""
            else:
                yield _Line(number, line)
            continue
        if _UNDERLINE.fullmatch(line):
            if held is not None and held.text and not held.level:
                level = {"=": 1, "-": 2}.get(line.strip()[0], 3)
                yield _Line(held.number, held.text, level)
            elif held is not None:
                yield held
            held = None
            continue
        if held is not None:
            yield held
        heading = _HEADING.fullmatch(line[:_LINE_CHARS])
        if heading and not (heading[1] == "*" and written[:1] != "*"):
            level = len(heading[1])
            title = heading[2].rstrip("#= ")[:_HEADING_CHARS]
            # a bullet of Markdown looks as a heading of Org does: only the first is common
            held = (
                _Line(number, f"- {title}") if heading[1][0] == "*" else _Line(number, title, level)
            )
        else:
            held = _Line(number, line)
    if held is not None:
        yield held


def _unmarked(
    raw: Sequence[str], begin: int, pulse: Pulse
) -> tuple[Sequence[str | None], Sequence[str]]:
    """Return each line as it is shown, without the marks of Markdown in it, and the pictures.

    None stands for a line that is shown within the one above it. What is longer than anybody
    writes stays as it is.
    """

    def rest(*_: object) -> bool:
        pulse()
        return False  # no block begins here by this

    shown: list[str | None] = list(raw)
    images: list[str] = []
    markdown = MarkdownIt("commonmark")
    within: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    markdown.block.ruler.before("code", "pulse", rest, within)
    blocks: list[Token] = []
    links: dict[str, object] = {}  # those that are written below the text
    markdown.block.parse("\n".join(raw[begin:]), markdown, links, blocks)
    for block in blocks:
        text = block.content
        if block.type != "inline" or block.map is None or len(text) > _LINE_CHARS:
            continue
        if not _MARKS.search(text):
            continue
        pulse()
        pieces: list[Token] = []
        markdown.inline.parse(text, markdown, links, pieces)
        images += [str(piece.attrs.get("src", "")) for piece in pieces if piece.type == "image"]
        parts = "".join("\n" if "break" in piece.type else piece.content for piece in pieces)
        for at, (line, part) in enumerate(zip_longest(text.split("\n"), parts.split("\n"))):
            written = raw[begin + block.map[0] + at]
            before = written[: max(0, written.find(line.strip()))]  # bullets, quotes, blanks
            shown[begin + block.map[0] + at] = (
                None if part is None else before + _WIKI.sub(r"\1", part.strip())
            )
    return shown, images


_AROUND: Final = frozenset({"nav", "footer", "form", "dialog", "menu"})  # of the content
_LEFT_OUT: Final = _AROUND | frozenset(
    (
        *("head", "title", "script", "style", "noscript", "template", "svg", "math", "iframe"),
        *("object", "canvas", "button", "select", "textarea", "audio", "video"),
    )
)
_BLOCK: Final = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details"),
        *("div", "dl", "dt", "fieldset", "figcaption", "figure", "header", "hr", "html", "li"),
        *("main", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead"),
        *("tr", "ul"),
    )
)
_PARAGRAPH: Final = frozenset({"p", "blockquote", "table", "ul", "ol", "dl", "pre", "section"})
_CELLS: Final = frozenset({"td", "th"})
_HIDING: Final = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0*)?\s*(?:;|!|$)"
    r"|font-size\s*:\s*0(?:\.0*)?\s*(?:[a-z%]{0,3})\s*(?:;|!|$))",
    re.IGNORECASE,
)
_PUBLISHED: Final = frozenset({"article:published_time", "date", "dc.date", "datepublished"})


class _Page:
    """What a page shows, line by line."""

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self.heading = ""  # its first of the first level
        self._at = 1  # the line of the file that is being read
        self._text: list[str] = []
        self._number = 1  # the line where that text begins
        self._row: list[str] | None = None  # the cells of the row of a table
        self._bullet = ""
        self._pre = 0  # how many of these elements are open

    def read(self, root: etree._Element, pulse: Pulse) -> None:
        """Read all of a page."""
        hidden: etree._Element | None = None
        walk = etree.iterwalk(root, events=("start", "end"))
        for count, (event, element) in enumerate(walk):
            if count % _PULSE_EVERY == 0:
                pulse()
            if event == "start":
                self._at = max(self._at, element.sourceline or 1)
                if _is_hidden(element):
                    hidden = element
                    walk.skip_subtree()
                    if self._row is None and (element.tag in _BLOCK or element.tag in _AROUND):
                        self._end_line()
                    self._at += sum(text.count("\n") for text in element.itertext())
                else:
                    self._begin(element.tag)
                    self._say(element.text or "")
            else:
                if element is not hidden:
                    self._close(element.tag)
                self._say(element.tail or "")
        self._end_line()

    def _begin(self, tag: str) -> None:
        self._pre += tag == "pre"
        if tag == "tr":
            self._end_line()
            self._row = []
        elif self._row is None and (tag in _BLOCK or _level(tag)):
            self._end_line()
            if tag in _PARAGRAPH:
                self._blank()
            self._bullet = "- " if tag == "li" else self._bullet

    def _say(self, text: str) -> None:
        if self._pre and self._row is None:
            for count, line in enumerate(text.split("\n")):
                if count:
                    self._end_line(blank=True)
                self._add(line, self._at + count)
        else:
            lead = len(text) - len(text.lstrip())
            self._add(text, self._at + text.count("\n", 0, lead))
        self._at += text.count("\n")

    def _add(self, text: str, line: int) -> None:
        if not self._text:
            if not text.strip():
                return
            self._number = line
        self._text.append(text)

    def _close(self, tag: str) -> None:
        self._pre -= tag == "pre"
        level = _level(tag)
        if self._row is not None:
            if tag in _CELLS:
                self._row.append(self._taken())
            elif tag == "tr":
                self._end_row(self._row)
            elif tag in _BLOCK:
                self._text.append(" ")
        elif level:
            text = self._taken()[:_HEADING_CHARS]
            if text:
                self.lines.append(_Line(self._number, text, level))
                self.heading = self.heading or (text if level == 1 else "")
        elif tag in _BLOCK:
            self._end_line()
            if tag in _PARAGRAPH:
                self._blank()

    def _end_line(self, *, blank: bool = False) -> None:
        text = self._taken()
        if text:
            self.lines.append(_Line(self._number, self._bullet + text))
            self._bullet = ""
        elif blank:
            self._blank()

    def _end_row(self, cells: list[str]) -> None:
        self._row = None
        filled = [cell for cell in (*cells, self._taken()) if cell]
        two = len(filled) == 2
        text = f"{filled[0].rstrip(' :')}: {filled[1]}" if two else " | ".join(filled)
        if text:
            self.lines.append(_Line(self._number, text))

    def _taken(self) -> str:
        text = " ".join("".join(self._text).split())
        self._text = []
        return text

    def _blank(self) -> None:
        if self.lines and self.lines[-1].text:
            self.lines.append(_Line(self._number, ""))


def _is_hidden(element: etree._Element) -> bool:
    return (
        element.tag in _LEFT_OUT
        or "hidden" in element.attrib
        or element.get("aria-hidden", "").lower() == "true"
        or bool(_HIDING.search(element.get("style", "")))
    )


def _name(meta: etree._Element) -> str:
    name: str = meta.get("property") or meta.get("name") or meta.get("itemprop", "")
    return name.lower()


def _level(tag: str) -> int:
    """Return the level of a heading; 0 for any other element."""
    return int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456" else 0
