"""Tell the words of a message that its writer pasted from the writer's own, where layout shows it.

Knows: the marks of what people hand on: quoted lines, mails with their headers, logs with a name
before each line, output of programs, what stands between fences, rules and quotation marks. Does
not know names, nor what is said; what has none of these marks the reader judges (`voice`).

Where a paste shows its own end (a closing quote, the last quoted line, a fence, the last turn of a
log), what follows is its writer's again. A mail shows none: it reaches to the end of the message,
whatever it says of its own end, for that is the first thing a forger writes. A word of one's own
that is missed can be said again; a stranger's word that is believed cannot be unsaid.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from factbook.language.common_words import is_everyday, is_function_word

__all__ = ["Pasted", "is_mentioned", "pasted"]

READ_CHARS: Final = 20_000  # ours: of one message; what follows is pasted
FULL_LINE: Final = 45  # ours: a shorter line was not wrapped by a program
LINE_CHARS: Final = 400  # ours: of a line, to see what it is


class Pasted(NamedTuple):
    """A piece of a message that others wrote."""

    start: int
    end: int
    why: str  # in words


_PIECES: Final = re.compile(r"(\\.|\[(?:\\.|[^\]\\])*\])| ([?*]?)")


def _spaced(pattern: str) -> re.Pattern[str]:
    """Compile a pattern, case aside, in which a blank stands for blanks inside a line.

    A blank that may be missing (" ?", " *") stands for any number of them; those in brackets stay.
    """
    spread = _PIECES.sub(lambda piece: piece[1] or ("[ \\t]*" if piece[2] else "[ \\t]+"), pattern)
    return re.compile(spread, re.IGNORECASE)


_OPENING_QUOTES: Final = {
    '"': '"',
    "“": "”",
    "”": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "'": "'",
    "‘": "’",
}


def _closing(quote: str) -> str:
    return _OPENING_QUOTES.get(quote, "")


# --- lines ----------------------------------------------------------------------------------------


class _Line(NamedTuple):
    start: int
    end: int  # with its break
    text: str  # without its break
    said: str  # the same with single blanks, cut where it is long

    @property
    def blank(self) -> bool:
        """Tell whether nothing stands in it."""
        return not self.said

    @property
    def begin(self) -> int:
        """Return where its first word stands."""
        return self.start + len(self.text) - len(self.text.lstrip())


def _lines(text: str) -> list[_Line]:
    lines = []
    for match in re.finditer(r"[^\n]*\n|[^\n]+", text):
        line = match[0].rstrip("\r\n")
        said = " ".join(line.split())
        if len(said) > LINE_CHARS:
            said = said[:LINE_CHARS] + "\0"  # so that nothing takes it for a whole line
        lines.append(_Line(match.start(), match.end(), line, said))
    return lines


_FENCES: Final = re.compile(
    r'(?:[^`\n]{0,200}: )?(?P<sign>`{3,}|~{3,})|(?P<quote>"{3,}|\'{3,}|<{3,})'
)
_FENCE_ENDS: Final = {"<": ">"}
_CLOSING_TAG: Final = re.compile(r"(?:</|\[/)([a-z][\w:-]{0,30})[>\]]", re.IGNORECASE)
_RULE: Final = re.compile(r"[ \t]*([-=_*~#])[ \t]?(?:\1[ \t]?){2,}[ \t]*$")
_WRAPPER: Final = re.compile(
    r"[ \t]*(?:<(?P<tag>[a-z][\w:-]{1,30})(?: [^<>\n]{0,200})?>"
    r"|\[(?P<bracket>quote|paste|article|mail|email|page|log|code|spoiler|text)(?:=[^\]\n]{0,80})?\])",
    re.IGNORECASE,
)
_HEADER: Final = _spaced(
    r"[>* \t]*(?P<key>from|to|cc|bcc|subject|date|sent|reply-to|message-id|received|return-path|von"
    r"|an|betreff|gesendet|datum|de|à|objet|asunto|para|fecha|onderwerp)\**[ \t]*:\**(?:[ \t]|$)"
)
_ONLY_MAIL: Final = frozenset(
    ("subject", "betreff", "reply-to", "message-id", "return-path", "objet", "asunto")
)
_ATTRIBUTION: Final = _spaced(
    r"[> \t]*(?:(?:on|at|am|le|el|op) [^\n]{4,200}?(?:wrote|writes|schrieb(?: [^\n:]{0,80})?"
    r"|a écrit|escribió|schreef) ?:[ \t]*$|[^\n]{2,120}<[^<>\s]+@[^<>\s]+>[^\n]{0,40}:[ \t]*$)"
)
_FORWARDED: Final = _spaced(
    r"[> \t]*(?:[-_=* \t]{2,}(?:original message|forwarded (?:message|mail)|original mail"
    r"|ursprüngliche nachricht|weitergeleitete nachricht|message transféré|mensaje reenviado)"
    r"|begin forwarded message|(?:fwd?|fw) ?:)"
)
_CLOCK: Final = r"\d{1,2}[:.h]\d\d(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?"
_STAMP: Final = (
    rf"(?:\[[^\]\n]{{0,20}}{_CLOCK}[^\]\n]{{0,12}}\]|\(?(?:\d[\d./-]{{5,10}},? )?{_CLOCK}\)?)"
)
_ROLE: Final = (
    r"(?:users?|human|assistant|system|ai|bot|chatbot|chatgpt|gpt|claude|gemini|model|agent|tool"
    r"|developer|customer|support|moderator|admin|owner|seller|buyer|interviewer|speaker|client"
    r"|host|guest|q|a|op)"
)
_OWN_LABELS: Final = (
    r"(?:me|i|ps|p\.s|note|edit|update|btw|fyi|also|question|todo|to do|tl;?dr|favou?rites?"
    r"(?: \w+)*|facts?|reminder|thought|idea|plan|goal|task|decision|status|summary"
    r"|my \w+(?: \w+)*|currently \w+|\w*ing|likes?|dislikes?|loves?|hates?)"
)
_STAMPED: Final = _spaced(
    rf"[ \t>*-]*(?:{_STAMP}[ \t\-–—|*]*[<@]?[\w.'’~-]{{1,30}}(?: [\w.'’~-]{{1,30}}){{0,2}}[>*]*"
    r"[ \t]?(?::|>|-)(?:[ \t]|$)"
    r"|<[\w.@+~-]{1,30}> \S|@[\w.+~-]{1,30} ?: \S|[\w.+~-]{1,30}> \S"
    r"|\[[A-Z][\w.'’ -]{0,30}\] ?:? \S"
    # a line of underscores is signs of both kinds, and of none it can be said where they part
    rf"|[*_]{{0,3}}(?P<who>[\w.'’-]{{1,30}}(?: [\w.'’-]{{1,30}}){{0,2}})[*_]{{0,3}},?[ \t]*{_STAMP}"
    r"[*_]*[ \t]*"
    r"(?::|>|$))"
)
_ROLED: Final = _spaced(
    rf"[ \t>*_#\[(-]*{_ROLE}(?: ?\d{{1,2}})?(?: ?\([^)\n]{{1,30}}\))?[*_\])]*[ \t]*(?::|>>|->|=>)"
    rf"[*_]*(?:[ \t]|$)"
)
_TURN: Final = re.compile(
    r"^[ \t>*_-]*\#{1,6}[ \t]*(?:users?|human|assistant|system|prompt|response)\W*$"
    r"|<\|\w{1,30}\|>|\[/?(?:INST|SYS)\]|</?(?:system|user|assistant|human)>",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(
    rf"[ \t]*(?:[-*][ \t]+)?[*_]{{0,2}}(?!{_OWN_LABELS.replace(' ', '[ ]')}[ \t]*:)"
    r"(?P<who>[^\W\d_][\w.'’-]{0,30}(?:[ ][^\W_][\w.'’-]{0,30}){0,2})"
    r"(?:[ ]?\([^)\n]{1,30}\))?[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]+\S",
    re.IGNORECASE,
)
_OWN_TURN: Final = _spaced(r"[ \t]*(?:me|i|myself|you)[ \t]*: \S")
_PROMPT: Final = _spaced(
    r"[ \t]*(?:[\w.@~:/-]{0,60}[$%❯] \S|[\w.@~:/-]{1,60}# \S|>>> \S|PS [A-Z]:\\|Traceback \(most"
    r"|npm (?:ERR|WARN)|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|(?:INFO|DEBUG|WARN|WARNING|ERROR|FATAL"
    r"|TRACE)\b[ :\]]|\[(?:INFO|DEBUG|WARN|WARNING|ERROR|FATAL|TRACE)\]|error(?:\[\w+\])?: "
    r"|warning: )"
)


_CLOSED: Final = re.compile(r"[.!?…。！？:;,][\"'”’)\]*_]*$")


class _Reader:
    """Reads one message line by line, and notes what others wrote."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = _lines(text)
        self.theirs: list[Pasted] = []
        self.free = [True] * len(self.lines)  # whether a line begins with its writer's own words
        self.first = list(range(len(self.lines)))  # where the paragraph of each line begins
        self.last = list(self.first)  # and with which line it ends
        for n in range(1, len(self.lines)):
            if not self.lines[n].blank and not self.lines[n - 1].blank:
                self.first[n] = self.first[n - 1]
        for n in range(len(self.lines) - 2, -1, -1):
            if not self.lines[n].blank and not self.lines[n + 1].blank:
                self.last[n] = self.last[n + 1]

    def read(self) -> list[Pasted]:
        """Return the pieces that others wrote, in order, none overlapping."""
        self._fenced()
        self._ruled()
        self._quoted()
        self._speech_over_lines()
        self._logs()
        self._mails()
        self._turns()
        self._single_turns()
        self._outputs()
        return _joined(self.theirs)

    # --- parts

    def _mark(self, first: int, last: int, why: str) -> None:
        """Note the lines from `first` to `last`, both included."""
        self.theirs.append(Pasted(self.lines[first].start, self.lines[last].end, why))
        self.free[first : last + 1] = [False] * (last + 1 - first)

    def _own(self) -> list[tuple[int, str]]:
        """Return (number, words) of the lines that are the writer's as far as is known."""
        return [(n, line.said) for n, line in enumerate(self.lines) if self.free[n] and line.said]

    def _next(self, index: int) -> int:
        """Return the next line that holds something; the number of lines where there is none."""
        while index < len(self.lines) and self.lines[index].blank:
            index += 1
        return index

    def _to_the_end(self, first: int, why: str) -> None:
        """Note everything from a line on."""
        self._mark(first, len(self.lines) - 1, why)

    # --- pieces that show their end

    def _fenced(self) -> None:
        closed: dict[str, int] = {}  # the last line that closes each tag
        for n, line in enumerate(self.lines):
            for tag in _CLOSING_TAG.finditer(line.said):
                closed[tag[1].casefold()] = n
        index = 0
        while index < len(self.lines):
            end = self._fence_end(index, closed)
            if end > index:
                self._mark(index, end, "stands between fences")
            index = max(end, index) + 1

    def _fence_end(self, index: int, closed: Mapping[str, int]) -> int:
        """Return the line that closes what a line opens; -1 where it opens nothing."""
        said = self.lines[index].said
        fence = _FENCES.match(said)
        if fence is not None:
            opening = (fence["sign"] or fence["quote"])[0]
            sign = _FENCE_ENDS.get(opening, opening) * 3
            if sign in said[fence.end() :]:
                return -1  # closed in its own line
            ends = [n for n in range(index + 1, len(self.lines)) if self._closes(n, sign)]
            # What is pasted may hold fences too: those of its writer's own are the outermost.
            return ends[-1] if ends else len(self.lines) - 1
        wrapper = _WRAPPER.match(said)
        if wrapper is None:
            return -1
        return closed.get((wrapper["tag"] or wrapper["bracket"]).casefold(), -1)

    def _closes(self, index: int, sign: str) -> bool:
        return self.lines[index].said.endswith(sign)

    def _ruled(self) -> None:
        """Note what stands between two rules, the first and the last."""
        rules = [n for n, said in self._own() if _RULE.match(said)]
        if len(rules) > 1:
            self._mark(rules[0], rules[-1], "stands between rules")

    def _quoted(self) -> None:
        for index, said in self._own():
            if not self.free[index] or not said.startswith(">"):
                continue
            last = index
            # a program wraps quoted lines without quoting what it wrapped
            while (
                last < self.last[index]
                and not self.lines[last + 1].said.startswith(">")
                and len(self.lines[last].said) >= FULL_LINE
                and not _CLOSED.search(self.lines[last].said)
            ):
                last += 1
            self._mark(index, last, "is quoted")
        own = [n for n, _ in self._own()]
        indented = {n for n in own if self.lines[n].text.startswith((" " * 4, "\t"))}
        if indented and len(indented) < len(own):  # code, as Markdown writes it
            for n in sorted(indented):
                if {self.first[n], self.last[n]} <= indented:
                    self._mark(n, n, "is indented")

    def _speech_over_lines(self) -> None:
        """Note a quote that is opened at the beginning of a line and closed at the end of another.

        Of the ends of lines that may close it, the last one does: what is quoted may quote.
        """
        closed: dict[str, int] = {}
        for n, said in self._own():
            bare = said.rstrip(".!?,")
            closed[bare[-1:]] = n
        for index, said in self._own():
            closing = _closing(said[0])
            if not self.free[index] or not closing or any(sign in said[1:] for sign in closing):
                continue
            end = max(closed.get(sign, -1) for sign in closing)
            if end > index:
                self._mark(index, end, "stands in quotes")

    def _logs(self) -> None:
        """Note the turns of a log: lines with a name or a time before them, and what is between."""
        sure, named = self._labelled()
        counts = Counter(who.casefold() for who in named.values())
        again = {who for who, count in counts.items() if count > 1}
        mine = [n for n, said in self._own() if _OWN_TURN.match(said)]
        beside = [n for n in mine if n - 1 in named or n + 1 in named]
        names = {n for n, who in named.items() if _is_name(who)}
        turns = {*sure, *(n for n, who in named.items() if sure or who.casefold() in again)}
        # two lines with other names are turns where they stand together
        together = Counter(self.first[n] for n in names)
        if sure or again or beside:
            turns |= names
        turns |= {n for n in names if together[self.first[n]] > 1}
        if len(turns) > 1 or beside:
            turns.update(mine)
        if len(turns) > 1:
            self._mark(min(turns), self.last[max(turns)], "is a turn of a log")

    def _labelled(self) -> tuple[list[int], dict[int, str]]:
        """Return the lines that are somebody's turn for sure, and those with a name before them."""
        own = self._own()
        sure = [n for n, said in own if _is_stamped(said) or _ROLED.match(said)]
        named: dict[int, str] = {}
        for n, said in own:
            label = _LABEL.match(said)
            if label is not None and not _HEADER.match(said):
                named[n] = label["who"]
        return sure, named

    def _single_turns(self) -> None:
        """Note a turn that stands alone: "user: i love jazz", "anna: i love jazz"."""
        sure, named = self._labelled()
        for n in sure:
            self._mark(n, self.last[n], "is a turn of a log")
        for n, who in named.items():
            if self.free[n] and " " not in who and not is_everyday(who.casefold()):
                self._mark(n, n, "is what somebody else said")

    def _outputs(self) -> None:
        for index, said in self._own():
            if self.free[index] and _PROMPT.match(said):
                self._mark(index, self.last[index], "is the output of a program")

    # --- pieces that do not

    def _mails(self) -> None:
        for index, said in self._own():
            if not self.free[index]:
                continue
            letter = _ATTRIBUTION.match(said) or _FORWARDED.match(said)
            header = _HEADER.match(said)
            if letter is not None:
                below = self._next(index + 1)
                if below < len(self.lines) and not self.free[below]:
                    self._mark(index, index, "is a mail")  # what it quotes shows its own end
                else:
                    self._to_the_end(index, "is a mail")
            elif header is not None and self._heads(header, index):
                self._to_the_end(index, "is a mail")

    def _heads(self, header: re.Match[str], index: int) -> bool:
        """Say whether a line is a header of a mail: another one is near, or it can be no other."""
        if header["key"].casefold() in _ONLY_MAIL or "@" in header.string:
            return True
        beside = [n for n in (index - 1, index + 1) if 0 <= n < len(self.lines)]
        return any(_HEADER.match(self.lines[n].said) for n in beside)

    def _turns(self) -> None:
        """Note a forged turn of a conversation: whatever comes after it is of nobody."""
        for index, _ in self._own():
            line = self.lines[index]
            turn = _TURN.search(line.text)
            if turn is not None:
                start = line.start + turn.start()
                why = "plays a turn of a conversation"
                self.theirs.append(Pasted(start, len(self.text), why))
                self.free[index + (start > line.begin) :] = [False] * len(self.free)
                return


def _is_stamped(said: str) -> bool:
    """Say whether a time stands beside a name: "Anna, 12:03", not "see you at 12:03"."""
    match = _STAMPED.match(said)
    return match is not None and not any(
        is_function_word(word.casefold()) for word in (match["who"] or "").split()
    )


def _is_name(label: str) -> bool:
    """Say whether a label is written as a name."""
    words = label.split()
    tall = all(word[:1].isupper() or word[:1].isdigit() for word in words)
    return tall and not (len(words) == 1 and is_everyday(label.casefold()))  # "Pros: ..."


def _joined(spans: Sequence[Pasted]) -> list[Pasted]:
    """Return spans in order, those that overlap or touch as one."""
    pasteds: list[Pasted] = []
    for span in sorted(spans):
        if pasteds and span.start <= pasteds[-1].end:
            pasteds[-1] = pasteds[-1]._replace(end=max(pasteds[-1].end, span.end))
        else:
            pasteds.append(span)
    return pasteds


@lru_cache(maxsize=64)
def pasted(text: str) -> tuple[Pasted, ...]:
    """Return the pieces of a message that others wrote, in order, none overlapping."""
    read = text[:READ_CHARS]
    pasteds = _Reader(read).read()
    if len(text) > READ_CHARS:
        pasteds = _joined([*pasteds, Pasted(READ_CHARS, len(text), "is too long to be one's own")])
    return tuple(pasteds)


_MENTIONED: Final = re.compile(
    r"\"[^\"\n]+\"|[“”„][^“”\n]+[“”]|«[^»\n]+»|»[^«\n]+«|(?<!\w)(?:'[^'\n]+'|‘[^’\n]+’)(?!\w)"
)


def is_mentioned(message: str, start: int, end: int) -> bool:
    """Tell whether a part of a message stands in quotation marks."""
    return any(a <= start and end <= b for a, b in (m.span() for m in _MENTIONED.finditer(message)))
