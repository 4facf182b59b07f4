"""Tell paths of files from everything else that has a slash in it.

Knows: how paths look in prose and as words of commands, and what looks like them: URLs, routes,
closing tags, sed scripts, regular expressions, fractions, dates, `and/or`, package scopes, module
names, mime types. Does not know whether a path exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.extract import shell
from factbook.extract.base import Rule, RuleHit, word_set
from factbook.model.facts import Episode

__all__ = ["in_command", "in_text"]

MAX_PATH_CHARS: Final = 400  # ours: longer pieces without a blank are data

_PIECE: Final = re.compile(r"[^\s\"'`´“”‘’()\[\]{}<>,;|=*]+")
_BEFORE: Final = frozenset(" \t\r\n\"'`´“”‘’([{=,;|:")  # `</tag>` and `**/x` are no paths
_AFTER: Final = re.compile(r"(?:[.,:;!?…\\]|:\d+(?:[-:]\d+)*|#L\d+(?:-L?\d+)?|::\S+)+$")
_CHARS: Final = re.compile(r"(?=.*[^\W\d_])(?!.*//)[\w.@+%~/ -]+")
_WINDOWS: Final = re.compile(r"[A-Za-z]:\\(?:[\w.@+%~ -]+\\)*[\w.@+%~-]+")
_EXTENSION: Final = re.compile(r".\.[A-Za-z]\w{0,11}$")
_REGEX: Final = re.compile(r".*/[dgimsuvy]{1,4}")
_KEY_OR_HOST: Final = re.compile(r"@(?=~/)|[^/]*:(?=/[^/])")
_ROUTE_BEFORE: Final = re.compile(
    r"(?:\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+"
    r"|\b(?:end ?points?|routes?|pages?|slash commands?|urls?)\s*:?\s*)[\"'`]?$",
    re.IGNORECASE,
)
_ROUTE_AFTER: Final = re.compile(
    r"[\"'`]?\s+(?:end ?points?|routes?|pages?|(?:slash )?commands?|urls?)\b", re.IGNORECASE
)
_ROOTS: Final = word_set("""
    Applications Library System Users Volumes private app bin boot cdrom data dev etc home lib
    lib64 media mnt nix opt proc root run sbin snap srv storage sys tmp usr var work workspace
    workspaces config projects repo repos code src
    """)  # first names of absolute paths that are surely folders
_ALONE: Final = word_set("bin boot dev etc home lib mnt opt proc root srv sys tmp usr var")
_ROUTES: Final = word_set("""
    api rest graphql rpc auth oauth oauth2 login logout signin signup sign-in sign-up users user
    admin dashboard health healthz status metrics v1 v2 v3 v4 _next static assets images img docs
    blog posts search settings profile account accounts callback webhook webhooks ws about contact
    """)  # first names of what is rather the path of a URL
_NULLS: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"})
_BARE_FILES: Final = word_set(
    "Makefile Dockerfile Jenkinsfile Rakefile Gemfile Procfile LICENSE NOTICE README CHANGELOG"
)


def in_text(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the paths in what somebody wrote."""
    del rule, episode
    if "/" not in text and ":\\" not in text:
        return
    for match in _PIECE.finditer(text):
        piece, start = match[0], match.start()
        windows = _WINDOWS.match(piece)
        if windows:
            yield RuleHit(windows[0], start, start + windows.end())
        if "/" not in piece or "://" in piece or len(piece) > MAX_PATH_CHARS:
            continue
        if start and text[start - 1] not in _BEFORE:
            continue
        before = _KEY_OR_HOST.match(piece)  # `key:/x/y`, `host:/x/y`
        at = before.end() if before else piece.startswith("@")
        path = _path(piece[at:])
        if path and not _is_route(text, start, match.end(), path):
            yield RuleHit(path, start + at, start + at + len(path))


def _is_route(text: str, start: int, end: int, path: str) -> bool:
    """Tell the path of a URL from the path of a file, by what stands around it."""
    if path[0] != "/" or path.split("/")[1] in _ROOTS:
        return False
    return bool(
        _ROUTE_BEFORE.search(text, max(0, start - 24), start)
        or _ROUTE_AFTER.match(text, end, end + 24)
    )


def _path(piece: str) -> str:
    """Return the path at the start of a piece, without what follows it; or an empty text."""
    path = _AFTER.sub("", piece, count=1)
    if not _CHARS.fullmatch(path) or path in _NULLS:
        return ""
    first, *rest = path.strip("/").split("/")
    last = rest[-1] if rest else first
    if path[0] == "/":
        if first in _ROOTS and (rest or first in _ALONE):
            return path
        if not rest or first.startswith("."):
            return path if _EXTENSION.search(first) or rest else ""
        route = first.lower() in _ROUTES or _REGEX.fullmatch(path) or len(first) < 2
        return "" if route or " " in path else path
    if first in {".", "..", "~"}:
        return path if any(name.strip(".") for name in rest) else ""
    if " " in path or path[0] in "~-@+%" or not rest or ".." in path:
        return ""
    is_folder = (path.endswith("/") and len(first) > 1) or re.match(r"\.[a-z]", first)
    if not is_folder and not _EXTENSION.search(last) and last not in _BARE_FILES:
        return ""
    # `example.org/x`, `Node.js/Next.js`, `application/vnd.ms-excel`
    return "" if "." in first[1:] or last.startswith("vnd.") else path


# --- commands -------------------------------------------------------------------------------------

_FIRST_IS_PATTERN: Final = word_set(
    "grep egrep fgrep rg ag ack sed gsed awk gawk jq yq perl tr ast-grep"
)
_PATTERN_OPTION: Final = re.compile(r"-[ef]|--regexp|--expression|--file")
_NO_PATHS: Final = frozenset({"", "gh", "echo", "printf", "export", "alias", "[["})


def in_command(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the paths among the words of a command."""
    del rule, episode
    if "/" not in text:
        return
    for command in shell.parse(text):
        words = [] if command.name in _NO_PATHS else list(command.words)
        if command.name in _FIRST_IS_PATTERN:
            words = [word for word in shell.operands(command.args, valued="ABCefgm") if word.value]
            given = any(_PATTERN_OPTION.match(word.value) for word in command.args)
            words = words if given else words[1:]
        for word in (*words, *command.targets):
            if "/" in word.value and len(word.value) <= MAX_PATH_CHARS:
                yield from _in_word(word)


def _in_word(word: shell.ShellWord) -> Iterator[RuleHit]:
    value = word.value
    if "://" in value or "$" in value or "`" in value or "*" in value:
        return
    at = value.find("=") + 1  # --out=/x/y, OUT=/x/y
    if value.startswith("-") and not at:
        return
    # `/host/path:/path/inside:ro`, `host:/path`
    for part in re.split(r":(?!:)", value[at:]) if ":/" in value or ":~" in value else [value[at:]]:
        path = _path(part) if part and part[0] not in "@:" else ""
        if path:
            yield RuleHit(path, *word.span(at, at + len(path)))
        at += len(part) + 1
