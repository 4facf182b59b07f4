"""Tell whether a command line does an act: "fly deploy" and "./deploy.sh" do, "grep deploy" not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

ACTS: Final[Mapping[str, tuple[str, ...]]] = {
    "release": ("release", "publish", "git tag"),
    "deploy": ("deploy",),
    "push": ("git push",),
    "merge": ("merge",),
    "publish": ("publish",),
}
"""What people do by a command and speak of by its name, and what such a command does."""
_PIECES: Final = re.compile(
    r"""'[^']*'|"(?:\\.|[^"\\])*"|(?P<ends>&&|\|\||[;|&\n(){}`])|[^\s'";|&(){}`]+"""
)
_HEREDOC: Final = re.compile(
    r"<<-?[ ]?(['\"]?)([A-Za-z_]\w*+)\1([^\n]*)\n(?:(?![ \t]*\2\b)[^\n]*\n)*+[ \t]*\2\b"
)
_NAME: Final = re.compile(r"[a-z0-9]+")
_ASSIGNMENT: Final = re.compile(r"\w+=")
_LOOKING_PROGRAMS: Final = """
awk bat cat cd chmod chown cp cut diff du echo egrep fd file find grep head jq less ln ls man mkdir
more mv nl od printf pwd rg rm rmdir sed sort stat tail tee touch tree tr uniq vi vim wc which xargs
"""
_LOOKS: Final = frozenset(_LOOKING_PROGRAMS.split())
"""Programs that look at what they name, or handle it as a file, and do not do it."""
_LOOKING: Final = frozenset(
    {"log", "show", "diff", "blame", "status", "grep", "list", "help", "merge-base"}
)
"""Subcommands that do so."""
_WRAPPERS: Final = frozenset({"sudo", "time", "env", "nohup", "timeout", "npx", "exec", "nice"})
_BEGINS: Final = 3  # letters of an act that its command holds too, also "lint" for "linter"
_RUNS: Final = frozenset({"run", "exec", "apply"})
_SUBCOMMAND: Final = re.compile(r"[a-z][\w:-]*")
_FILE: Final = re.compile(r"\.\w{1,5}$")
_GIT_REACH: Final = 2  # of git what it is told to do; the rest are names and files
_GIT_GROUPS: Final = frozenset({"stash", "submodule", "worktree", "remote", "bisect", "lfs"})
"""Subcommands of git with subcommands of their own."""
_GIT_VALUED: Final = frozenset({"-c", "--git-dir", "--work-tree"})  # `-C` in lower case is one too
_REACH: Final = 3  # words in which an act stands: "docker compose up", "npm run deploy"


def does(command: str, act: str) -> bool:
    """Say whether any part of a command line does an act, which may have several words."""
    return bool(doing(command, act))


def doing(command: str, act: str) -> str:
    """Return the parts of a command line, in lower case, that do an act; empty where none does."""
    wanted = act.lower().split()
    if not wanted or wanted[0][:_BEGINS] not in command.lower():
        return ""
    parts = _parts(command.lower())
    return "\n".join(" ".join(part) for part in parts if _part_does(part, wanted))


def begins(command: str, words: Sequence[str]) -> bool:
    """Say whether any part of a command line begins with some words, and does what they say."""
    return any(
        _acting(part)[: len(words)] == list(words)
        for part in _parts(command.lower())
        if part[:1] and part[0] not in _LOOKS
    )


def _parts(command: str) -> list[list[str]]:
    """Return the words of each command of a line."""
    parts: list[list[str]] = [[]]
    if "<<" in command:
        command = _HEREDOC.sub(r"\3\n", command)  # what a file or a message says is not done
    for piece in _PIECES.finditer(command):
        if piece["ends"]:
            parts.append([])
        else:
            parts[-1].append(piece[0])
    return parts


def _part_does(said: list[str], wanted: list[str]) -> bool:
    said = _acting(said)
    if not said:
        return False
    program = said[0].rsplit("/", 1)[-1]
    if program == "test":  # the shell's own, which only looks: "test -f .env"
        return False
    if program == "git":
        while len(said) > 1 and said[1].startswith("-"):
            said = [said[0], *said[3 if said[1] in _GIT_VALUED else 2 :]]
    acting = [word for word in said if not word.startswith("-")]
    if program == wanted[0]:
        first = not wanted[1:] or said[1:2] == wanted[1:2] or "".join(said[1:2]).startswith("-")
        return first and all(word in acting[1:] for word in wanted[1:])
    if program in _LOOKS or any(word in _LOOKING for word in acting[1:2]):
        return False
    if len(wanted) > 1:
        starts = range(min(_REACH, len(acting)))  # "rtk git push", "uv run ruff format"
        return any(acting[n : n + len(wanted)] == wanted for n in starts)
    of_git = program == "git" and _GIT_GROUPS.isdisjoint(acting[1:2])
    reach = acting[: _GIT_REACH if of_git else _REACH]
    names = {
        name
        for n, word in enumerate(reach)
        if word[0] not in "'\"" and "@" not in word and not _is_given(reach, n)
        for name in _NAME.findall(word.rsplit("/", 1)[-1])
    }
    return any(
        name.startswith(wanted[0])
        or name.endswith(wanted[0])
        or wanted[0] in (f"{name}er", f"{name}{name[-1]}er")  # it does it: "linter", "formatter"
        for name in names
    )


def _is_given(acting: list[str], n: int) -> bool:
    """Tell whether a word names a place that a subcommand is given: "open http://web/test".

    A file is done where a program gets nothing else, or is told to run it: "bash deploy.sh", also
    on another machine.
    """
    before = acting[n - 1]
    if n < _REACH - 1 or acting[0] == "ssh" or before in _RUNS or not _SUBCOMMAND.fullmatch(before):
        return False
    return "/" in acting[n] or _FILE.search(acting[n]) is not None


def _acting(said: list[str]) -> list[str]:
    """Return the words of a command without what only wraps it."""
    begin = 0
    while begin < len(said) and (
        said[begin] in _WRAPPERS or _ASSIGNMENT.match(said[begin]) or said[begin].isdigit()
    ):
        begin += 1
    return said[begin:]
