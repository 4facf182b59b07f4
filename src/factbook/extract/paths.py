"""Tell paths of files from everything else that has a slash in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from factbook.extract import shell
from factbook.extract.base import Rule, RuleHit, word_set
from factbook.model.facts import Episode

MAX_PATH_CHARS: Final = 400  # ours: longer pieces without a blank are data

_PIECE: Final = re.compile(r"[^\s\"'`´“”‘’()\[\]{}<>,;|=*]+")
_LOCATION: Final = re.compile(r"(?::\d+(?:[-:]\d+)*|#L\d+(?:-L?\d+)?|::\S+)$")
_CHARS: Final = re.compile(r"[\w.@+%~/-]+")
_SPACED: Final = re.compile(r"[\w.@+%~/ -]+")
_LETTER: Final = re.compile(r"[^\W\d_]")
_EXTENSION: Final = re.compile(r"\.([A-Za-z][A-Za-z0-9_]{0,11})$")
_HIDDEN: Final = re.compile(r"\.[a-z]")
_DOMAIN: Final = re.compile(
    r"[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|app|co|edu|gov|me|sh|uk|de|fr|eu|us|info|xyz"
    r"|local|internal|land|cloud|gg|so|to)(?:$|/)"
)
_REGEX_FLAGS: Final = re.compile(r"/[dgimsuvy]{1,4}")
_WINDOWS: Final = re.compile(r"[A-Za-z]:\\(?:[\w.@+%~ -]+\\)*[\w.@+%~-]+")
_HOST_AND_PATH: Final = re.compile(
    r"(?:[\w.-]+@)?(?:[A-Za-z0-9][\w.-]+|\[[0-9A-Fa-f:]+\]):(?=[/~])"
)
_TRAILING: Final = ".,:;!?…\\"
_LEFT_OF_PATH: Final = frozenset(" \t\r\n\"'`´“”‘’([{=,;|:")
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
    workspaces config boot projects repo repos code src
    """)  # first names of absolute paths that are surely folders
_ALONE: Final = word_set("bin boot dev etc home lib mnt opt proc root srv sys tmp usr var")
_ROUTES: Final = word_set("""
    api rest graphql rpc auth oauth oauth2 login logout signin signup sign-in sign-up users user
    admin dashboard health healthz status metrics v1 v2 v3 v4 _next static assets images img docs
    blog posts search settings profile account accounts callback webhook webhooks ws socket.io
    about contact help pricing
    """)  # first names of what is rather the path of a URL
_NULLS: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"})
_MIME: Final = word_set("application text image audio video multipart font model message")
_BARE_FILES: Final = word_set("""
    Makefile Dockerfile Containerfile Jenkinsfile Vagrantfile Rakefile Gemfile Procfile Justfile
    LICENSE NOTICE README CHANGELOG CODEOWNERS
    """)
_SUFFIXED_NAMES: Final = word_set("js ts py net io")  # Node.js/Next.js, socket.io/...


def absolute_in_text(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find absolute paths and those in the home folder, in what somebody wrote."""
    del rule, episode
    if "/" not in text and ":\\" not in text:
        return
    for start, end, piece in _pieces(text):
        if "/" in piece:
            leads = piece[0] in "/~"
            at = 0 if leads else _after_colon_or_at(piece)
            path = _absolute(piece[at:]) if leads or at else ""
            if path and not _is_route(text, start, end, path):
                yield RuleHit(path, start + at, start + at + len(path))
        elif ":\\" in piece:
            windows = _WINDOWS.match(piece)
            if windows:
                yield RuleHit(windows[0], start, start + windows.end())


def relative_in_text(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find relative paths that have a folder and a file's extension, in what somebody wrote."""
    del rule, episode
    if "/" not in text:
        return
    for start, _, piece in _pieces(text):
        if "/" not in piece or piece[0] in "/~":
            continue
        at = 1 if piece[0] == "@" else 0
        path = _relative(piece[at:])
        if path:
            yield RuleHit(path, start + at, start + at + len(path))


@lru_cache(maxsize=2)
def _pieces(text: str) -> tuple[tuple[int, int, str], ...]:
    """Cut a text at blanks, quotes and brackets; return the pieces that could hold a path."""
    pieces: list[tuple[int, int, str]] = []
    done = 0
    for mark in ("/", ":\\"):
        at = text.find(mark)
        while at >= 0:
            # Only lines that hold a slash are cut up: most of what people write has none.
            start = max(done, text.rfind("\n", 0, at) + 1)
            end = text.find("\n", at)
            done = len(text) if end < 0 else end
            pieces += _pieces_of_line(text, start, done, mark)
            at = text.find(mark, done)
        done = 0
    return tuple(pieces)


def _pieces_of_line(
    text: str, line_start: int, line_end: int, mark: str
) -> Iterator[tuple[int, int, str]]:
    for match in _PIECE.finditer(text, line_start, line_end):
        piece = match[0]
        if mark not in piece:
            continue
        start = match.start()
        before = text[start - 1] if start else " "
        # `</tag>`, `<br/>`, and a piece after `*`, as in `**/x` or `*/`, are no paths.
        if before not in _LEFT_OF_PATH or "://" in piece or len(piece) > MAX_PATH_CHARS:
            continue
        yield start, match.end(), piece


def _after_colon_or_at(piece: str) -> int:
    """Return where an absolute path starts in `key:/x/y`, `host:/x/y` or `@/x/y`; 0 for nowhere."""
    if piece.startswith(("@/", "@~/")):
        first = piece[1:].lstrip("~/").partition("/")[0]
        return 1 if first in _ROOTS or piece[1] == "~" else 0  # `@/components` is an alias
    colon = piece.find(":/")
    return colon + 1 if colon > 0 and not piece.startswith("//", colon + 1) else 0


def _is_route(text: str, start: int, end: int, path: str) -> bool:
    """Tell the path of a URL from the path of a file, by what stands around it."""
    first = path.lstrip("~/").partition("/")[0]
    if first in _ROOTS:
        return False
    return bool(
        _ROUTE_BEFORE.search(text, max(0, start - 24), start)
        or _ROUTE_AFTER.match(text, end, end + 24)
    )


def _trimmed(piece: str) -> str:
    """Take off what follows a path: a sentence's punctuation, a line number, a test's name."""
    piece = piece.rstrip(_TRAILING)
    return _LOCATION.sub("", piece, count=1).rstrip(_TRAILING)


def _absolute(piece: str, *, spaces: bool = False) -> str:
    """Return the absolute path at the start of a piece, or an empty text."""
    path = _trimmed(piece)
    if path.startswith("//") or "//" in path or not (_SPACED if spaces else _CHARS).fullmatch(path):
        return ""
    home, *names = path.split("/")
    if names and not names[-1]:
        names.pop()
    if not names or path in _NULLS or not _LETTER.search(path):
        return ""
    if home:  # "~" or "~user"
        return path if home == "~" or home[1:].isidentifier() else ""
    first, several = names[0], len(names) > 1
    if not several:
        plain_file = bool(_EXTENSION.search(first)) and not first.startswith(".")
        return path if first in _ALONE or plain_file else ""
    if first in _ROOTS or first.startswith("."):
        return path
    if first.lower() in _ROUTES or _REGEX_FLAGS.fullmatch("/" + names[-1]) or len(first) < 2:
        return ""
    return path


def _relative(piece: str) -> str:
    """Return the relative path at the start of a piece, or an empty text."""
    path = _trimmed(piece)
    if "//" in path or not _CHARS.fullmatch(path) or path[0] in "/~-@+%":
        return ""
    names = [name for name in path.split("/") if name]
    if not _LETTER.search(path) or "..." in path:
        return ""
    if path.startswith(("./", "../")):
        return path if any(name.strip(".") for name in names) else ""
    first, last = names[0], names[-1]
    if len(names) < 2 or ".." in path:
        return ""
    is_folder = (path.endswith("/") and len(first) > 1) or _HIDDEN.match(first)
    if not is_folder and not _EXTENSION.search(last) and last not in _BARE_FILES:
        return ""
    if first in _MIME and len(names) == 2 and "." in last and last.startswith("vnd."):
        return ""
    if "." in first.lstrip("."):
        suffix = first.rsplit(".", 1)[-1]
        if _DOMAIN.match(path) or suffix in _SUFFIXED_NAMES or len(names) < 3:
            return ""
    return path


_FIRST_IS_PATTERN: Final = {
    # program: short options that take the next word
    **dict.fromkeys(("grep", "egrep", "fgrep"), "ABCDdmef"),
    **dict.fromkeys(("sed", "gsed"), "efl"),
    **dict.fromkeys(("awk", "gawk"), "fFv"),
    "rg": "ABCEefgjMmrtT",
    "ag": "ABCGm",
    "ack": "ABCm",
    "jq": "fL",
    "yq": "",
    "perl": "eEiI",
    "tr": "",
    "ast-grep": "plr",
}
_PATTERN_OPTIONS: Final = ("-e", "-f", "--regexp", "--expression", "--file")
_NO_PATHS: Final = frozenset({"", "gh", "echo", "printf", "export", "alias", "[["})


def in_command(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the paths among the words of a command."""
    del rule, episode
    if "/" not in text:
        return
    for command in shell.parse(text):
        words = command.targets
        if command.name not in _NO_PATHS:
            words = _path_words(command) + words
        for word in words:
            if "/" in word.value and len(word.value) <= MAX_PATH_CHARS:
                yield from _in_word(word)


def _path_words(command: shell.ShellCommand) -> tuple[shell.ShellWord, ...]:
    """Return the words of a command that may name files: no patterns, no scripts."""
    valued = _FIRST_IS_PATTERN.get(command.name)
    if valued is None:
        return command.words
    _, operands = shell.options_and_operands(command.args, valued=valued)
    given = any(word.value.startswith(_PATTERN_OPTIONS) for word in command.args)
    operands = [word for word in operands if word.value]  # `sed -i '' SCRIPT`
    return tuple(operands if given else operands[1:])


def _in_word(word: shell.ShellWord) -> Iterator[RuleHit]:
    value = word.value
    if "://" in value or "$" in value or "`" in value:
        return
    at = 0
    if value.startswith("-") or "=" in value:
        at = value.find("=") + 1  # --out=/x/y, OUT=/x/y
        if at == 0:
            return
    elif value[0] not in "/~.":
        remote = _HOST_AND_PATH.match(value)
        at = remote.end() if remote else 0
    for part_start, part in _mount_parts(value, at):
        path = ""
        if part.startswith(("/", "~")):
            first = part.lstrip("~/").partition("/")[0]
            path = _absolute(part, spaces=first in _ROOTS)
        elif part and part[0] not in "@:" and ":" not in part.partition("::")[0]:
            path = _relative(part)
        if path:
            start, end = word.span(part_start, part_start + len(path))
            yield RuleHit(path, start, end)


def _mount_parts(value: str, at: int) -> Iterator[tuple[int, str]]:
    """Cut `/host/path:/path/inside:ro` at its colons; anything else is one part."""
    if value.startswith("/", at) and ":/" in value[at:]:
        for part in value[at:].split(":"):
            if part.startswith("/"):
                yield at, part
            at += len(part) + 1
    else:
        yield at, value[at:]
