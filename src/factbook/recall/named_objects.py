"""Find what a question names letter by letter: a quoted text, a path, an identifier, a command.

A reader of English takes such names apart ("prompt-generator.ts" is four words to it), so each is
taken out before, and a stand-in is read in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from factbook.language.nouns import singular

STAND_IN: Final = "Zorg"  # a name that no text has, and that is read as a name
_LONGEST: Final = 4  # words of a command that a question names: "uv run ty check"
_QUOTED: Final = re.compile(r"\"([^\"]+)\"|`([^`]+)`|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)")
_WORD: Final = re.compile(r"[^\s\"`“”]+")
_AROUND: Final = "'\"()[]{}<>,;:!?."
_CODE: Final = re.compile(
    r"(?=.*[^\W\d])(?:.*[/\\].*|\.?[\w-]+(?:\.[\w-]+)+|\w*_\w*|.*[a-z][A-Z].*|.*::.*)"
)
_JOINED: Final = re.compile(r"[^\W\d_]\w*(?:-\w+)+")
_BESIDE: Final = "[\\w-]"  # a name that goes on there is another name


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A name in a question."""

    text: str
    sure: bool = True  # nothing but a name is spelt so; "deep-manifest" may be two words
    is_command: bool = False


def names_taken_out(
    question: str, is_command: Callable[[Sequence[str]], bool]
) -> tuple[str, list[Named]]:
    """Return a question with a stand-in for each name, and the names in their order.

    `is_command` says whether a command of memory begins with some words.
    """
    found = _quoted(question)
    words = [
        match
        for match in _WORD.finditer(question)
        if not any(begin < match.end() and match.start() < end for begin, end, _ in found)
    ]
    spans = [_bare(match) for match in words]
    n = 0
    while n < len(spans):
        length, name = _at(question, spans[n:], is_command)
        if name is not None:
            found.append((spans[n][0], spans[n + length - 1][1], name))
        n += length
    found.sort(key=lambda one: one[0])
    text, end = "", 0
    for begin, after, _ in found:
        text += question[end:begin] + STAND_IN
        end = after
    return text + question[end:], [name for _, _, name in found]


def is_named(name: str, text: str) -> bool:
    """Say whether a name is a text, or the end of it as a path: "cli.py" of "/src/cli.py"."""
    name, text = _flat(name), _flat(text)
    return text == name or text.endswith("/" + name.lstrip("/"))


def holds_name(name: str, text: str) -> bool:
    """Say whether a text holds a name that does not go on at either side."""
    flat = _flat(text)
    name = _flat(name)
    if name not in flat:
        return False
    whole = rf"(?<!{_BESIDE})(?<!\w\.){re.escape(name)}(?!{_BESIDE})(?!\.\w)"
    return re.search(whole, flat) is not None


def _flat(text: str) -> str:
    return text.lower().replace("\\", "/")


def _quoted(question: str) -> list[tuple[int, int, Named]]:
    return [
        (match.start(), match.end(), Named(text=text))
        for match in _QUOTED.finditer(question)
        if (text := (match[1] or match[2] or match[3] or match[4]).strip())
    ]


def _bare(match: re.Match[str]) -> tuple[int, int]:
    """Return where a word begins and ends without the marks around it."""
    left = len(match[0]) - len(match[0].lstrip(_AROUND.replace(".", "")))
    right = len(match[0].rstrip(_AROUND))
    return match.start() + left, match.start() + max(right, left)


def _at(
    question: str, spans: Sequence[tuple[int, int]], is_command: Callable[[Sequence[str]], bool]
) -> tuple[int, Named | None]:
    """Return how many words a name has that begins with the first of some, and the name."""
    for length in range(min(_LONGEST, len(spans)), 1, -1):
        words = [question[begin:end].lower() for begin, end in spans[:length]]
        for last in dict.fromkeys((words[-1], singular(words[-1]))):  # "git pushes"
            said = [*words[:-1], last]
            if is_command(said):
                return length, Named(text=" ".join(said), is_command=True)
    begin, end = spans[0]
    word = question[begin:end]
    if _CODE.fullmatch(word):
        return 1, Named(text=word)
    return 1, Named(text=word, sure=False) if _JOINED.fullmatch(word) else None
