"""Tell the words of a message that others wrote, where an exact mark says so.

Behind a paste that shows its own end its writer goes on. A mail and a forged turn reach to the end
of the message: an end is the first thing a forger writes. An own word that is missed can be said
again; a stranger's word that is believed cannot be unsaid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from factbook.model.facts import Overheard

READ_CHARS: Final = 20_000  # ours: of one message; what follows is pasted

# What one line shows of itself.
_LINES: Final = (
    (re.compile(r"[ \t]*>"), "is quoted"),
    (
        re.compile(
            r"[ \t]*(?:[\w.@~:/-]{0,60}[$%❯] \S|[\w.@~:/-]{1,60}# \S|PS [A-Z]:\\"
            r"|Traceback \(most|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d)"
        ),
        "is the output of a program",
    ),
    (re.compile(r"[ \t]*<[\w.@+~-]{1,30}> \S"), "is a turn of a log"),
)
_FENCE: Final = re.compile(r"^[^`~\n]{0,200}?(?P<sign>```|~~~)[^`~\n]*$", re.MULTILINE)
_RULE: Final = re.compile(r"^[ \t]*([-=_*~#])(?:[ \t]?\1){2,}[ \t]*$", re.MULTILINE)
_WRAPPED: Final = re.compile(
    r"^[ \t]*<(?P<tag>[a-z][\w:-]{1,30})>.*?</(?P=tag)>"
    r"|(?<=\n\n)(?:(?: {4}|\t)[^\n]+(?:\n|\Z))+(?=\n|\Z)"
    r"|^[ \t]*(?P<quote>[\"“„«])[^\"“”„«»\n]*\n[^\"“”„«»]*[\"“”»][.!?,]?[ \t]*$",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_MAIL: Final = re.compile(
    r"^[>* \t]*(?:(?:subject|betreff|objet|asunto|reply-to|message-id|return-path)[ \t]*:"
    r"|(?:from|to|von|an|de|à)[ \t]*:[^\n]*@"
    r"|(?:[-_=][-_=* \t]*)?(?:original message|forwarded (?:message|mail)|begin forwarded message)"
    r"|[^\n]{2,120}<[^<>\s]+@[^<>\s]+>[^\n]{0,40}:[ \t]*$(?P<shown>(?=\s*>))?)",
    re.IGNORECASE | re.MULTILINE,
)
_TURN: Final = re.compile(
    r"^[ \t>*_-]*\#{1,6}[ \t]*(?:users?|human|assistant|system|prompt|response)\W*$"
    r"|<\|\w{1,30}\|>|\[/?(?:INST|SYS)\]|</?(?:system|user|assistant|human)>",
    re.IGNORECASE | re.MULTILINE,
)
_BYLINE: Final = re.compile(
    r"^[^\n]{5,120}\n[ \t]*By [A-Z][\w.'’-]+(?: [A-Z][\w.'’-]+){1,3}[ \t]*$", re.MULTILINE
)
_SPEAKER: Final = re.compile(r"^[ \t]*([A-Z]\w{1,30}): \S", re.MULTILINE)


def _marked(text: str) -> Iterator[Overheard]:
    """Yield what marks show to be others', in any order."""
    for pattern, why in ((_FENCE, "stands between fences"), (_RULE, "stands between rules")):
        signs = list(pattern.finditer(text))
        # What is pasted may hold such signs too: those of its writer's own are the outermost.
        if len(signs) > 1:
            yield Overheard(signs[0].start(signs[0].lastindex or 0), signs[-1].end(), why)
        elif signs and pattern is _FENCE:
            yield Overheard(signs[0].start("sign"), len(text), why)
    for wrapped in _WRAPPED.finditer(text):
        yield Overheard(*wrapped.span(), "stands in quotes" if wrapped["quote"] else "is set apart")
    at = 0
    for line in text.splitlines(keepends=True):
        why = next((why for pattern, why in _LINES if pattern.match(line)), "")
        if why:
            block = (text + "\n\n").index("\n\n", at)
            yield Overheard(at, at + len(line) if why == "is quoted" else block, why)
        at += len(line)
    named = list(_SPEAKER.finditer(text))
    if 1 < len({name[1] for name in named}) < len(named):  # and one of them speaks again
        yield Overheard(
            named[0].start(), (text + "\n\n").index("\n\n", named[-1].end()), "is a chat"
        )
    if (mail := _MAIL.search(text)) is not None:
        # what it quotes shows its own end
        end = len(text) if mail["shown"] is None else mail.end()
        yield Overheard(mail.start(), end, "is a mail")
    if (byline := _BYLINE.search(text)) is not None:
        yield Overheard(byline.start(), len(text), "stands under a byline")
    if (turn := _TURN.search(text)) is not None:
        yield Overheard(turn.start(), len(text), "plays a turn of a conversation")


def joined(pieces: Iterable[Overheard]) -> tuple[Overheard, ...]:
    """Return pieces in order, those that overlap or touch as one, and no empty one."""
    found: list[Overheard] = []
    for piece in sorted(piece for piece in pieces if piece.end > piece.start):
        if found and piece.start <= found[-1].end:
            found[-1] = found[-1]._replace(end=max(found[-1].end, piece.end))
        else:
            found.append(piece)
    return tuple(found)


@lru_cache(maxsize=64)
def pasted(text: str) -> tuple[Overheard, ...]:
    """Return the pieces of a message that others wrote, in order, none overlapping."""
    spans = [*_marked(text[:READ_CHARS])]
    if len(text) > READ_CHARS:
        spans.append(Overheard(READ_CHARS, len(text), "is too long to be one's own"))
    return joined(spans)


_MENTIONED: Final = re.compile(
    r"\"[^\"\n]+\"|[“”„][^“”\n]+[“”]|«[^»\n]+»|»[^«\n]+«"
    r"|(?<!\w)(?:'(?:[^'\n]|(?<=\w)'(?=\w))+'|‘(?:[^’\n]|(?<=\w)’(?=\w))+’)(?!\w)"
)


def is_mentioned(message: str, start: int, end: int) -> bool:
    """Tell whether a part of a message stands in quotation marks."""
    return any(a <= start and end <= b for a, b in (m.span() for m in _MENTIONED.finditer(message)))
