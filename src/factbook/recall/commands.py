"""Tell whether a command line does an act: "fly deploy" and "./deploy.sh" do, "grep deploy" not.

Knows: words of a shell's line. Does not know: facts, the store, questions.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["does"]

_PIECES: Final = re.compile(
    r"""'[^']*'|"(?:\\.|[^"\\])*"|(?P<ends>&&|\|\||[;|&\n(){}`])|[^\s'";|&(){}`]+"""
)
_NAME: Final = re.compile(r"[a-z0-9]+")
_ASSIGNMENT: Final = re.compile(r"\w+=")
_LOOKING_PROGRAMS: Final = """
awk bat cat cd cut diff du echo egrep fd file find grep head jq less ls man mkdir more nl od printf
pwd rg sed sort stat tail tee touch tree tr uniq vi vim wc which xargs
"""
_LOOKS: Final = frozenset(_LOOKING_PROGRAMS.split())
"""Programs that look at what they name, and do not do it."""
_LOOKING: Final = frozenset(
    {"log", "show", "diff", "blame", "status", "grep", "list", "help", "merge-base"}
)
"""Subcommands that do so."""
_WRAPPERS: Final = frozenset({"sudo", "time", "env", "nohup", "timeout", "npx", "exec", "nice"})
_BEGINS: Final = 3  # letters of an act that its command holds too, also "lint" for "linter"
_REACH: Final = 3  # words in which an act stands: "docker compose up", "npm run deploy"


def does(command: str, act: str) -> bool:
    """Say whether any part of a command line does an act, which may have several words."""
    wanted = act.lower().split()
    if not wanted or wanted[0][:_BEGINS] not in command.lower():
        return False
    return any(_part_does(part, wanted) for part in _parts(command.lower()))


def _parts(command: str) -> list[list[str]]:
    """Return the words of each command of a line."""
    parts: list[list[str]] = [[]]
    for piece in _PIECES.finditer(command):
        if piece["ends"]:
            parts.append([])
        else:
            parts[-1].append(piece[0])
    return parts


def _part_does(said: list[str], wanted: list[str]) -> bool:
    while said and (said[0] in _WRAPPERS or _ASSIGNMENT.match(said[0]) or said[0].isdigit()):
        del said[0]
    if not said:
        return False
    program = said[0].rsplit("/", 1)[-1]
    acting = [word for word in said if not word.startswith("-")]
    if program == wanted[0]:
        looks = acting[1:2] and acting[1] in _LOOKING and acting[1] not in wanted
        return all(word in acting[1:] for word in wanted[1:]) and not (looks and wanted[1:])
    if program in _LOOKS or any(word in _LOOKING for word in acting[1:2]):
        return False
    if len(wanted) > 1:
        return acting[: len(wanted)] == wanted
    names = {
        name
        for word in acting[:_REACH]
        if word[0] not in "'\"" and "@" not in word
        for name in _NAME.findall(word.rsplit("/", 1)[-1])
    }
    return any(
        name.startswith(wanted[0]) or name.endswith(wanted[0]) or _is_doer(wanted[0], name)
        for name in names
    )


def _is_doer(noun: str, verb: str) -> bool:
    """Say whether a noun names what does a verb: "linter", "formatter"."""
    return noun in (f"{verb}er", f"{verb}{verb[-1]}er")
