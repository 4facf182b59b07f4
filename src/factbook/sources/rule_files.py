"""Find the files of rules that agents load, and take them apart: CLAUDE.md, AGENTS.md and the like.

They are read and nothing else: never followed out of their folder, never obeyed. What they import
(`@docs/style.md`) is read too, within their project; that of the home folder only where a file says
so that no repository brings along. Whose text one is, is for others to say; what an agent keeps for
itself (its memory files) is a model's, and so is what these import.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from factbook import policy
from factbook.errors import InputError, UsageError
from factbook.language.markdown import front_matter, prose_blocks
from factbook.sources.session_log.discover import default_folders
from factbook.sources.session_log.echo import subtract

_NAMES: Final = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".claude/CLAUDE.md")
_IN_SUBFOLDERS: Final = _NAMES[:4]
_LOCAL: Final = "CLAUDE.local.md"  # what its owner keeps out of a repository
_IMPORTING: Final = ("CLAUDE.md", _LOCAL)
_IMPORTED: Final = frozenset({".md", ".markdown", ".mdc", ".txt"})
_STOPS: Final = r"\s\0`@,;:!?\"'()<>\[\]"  # where a path in a text ends
_IMPORT: Final = re.compile(rf"(?<!\S)\(?@(?P<path>(?!~[^/])[^{_STOPS}]*[^.{_STOPS}])")
_CODE: Final = re.compile(r"`[^`\n]*`")
_OTHERS: Final = frozenset(
    {"node_modules", "vendor", "third_party", "venv", "site-packages", "dist", "build", "target"}
)
"""Folders that hold what others wrote, or what was made."""
_RULES: Final = ".claude/rules"
_MEMORY: Final = "memory"
_MARK: Final = re.compile(r"[ \t>]*(?:(?:[-*+•]+|\(?\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?")

MISSING: Final = "imported by a file of rules, and not there"
OUTSIDE: Final = "imported by a file of rules from outside its project"
TOO_DEEP: Final = "imported by files of rules through too many others"


class RuleFile(NamedTuple):
    """A file of rules, and where they hold."""

    path: Path
    project: str  # its folder; empty for one that holds everywhere
    by_model: bool = False  # an agent keeps it for itself
    root: str = ""  # the folder that no import of it leaves; its project's where none is given
    imported: bool = False  # by another one: it may have any name, and is one for each project


class RuleLine(NamedTuple):
    """A paragraph or an item of such a file."""

    text: str  # without its mark, in one line
    line: int  # from 1
    offset: int  # the byte where its line begins


def rule_files_at(
    paths: Iterable[str | os.PathLike[str]], known: Sequence[RuleFile] = ()
) -> list[RuleFile]:
    """Return the files of rules among paths, and those of folders among them.

    `known` are those of which more is known than their paths tell. Raises UsageError for a path
    that no file can have, and for that of a file of rules that is not there.
    """
    files: list[RuleFile] = []
    for path in map(Path, paths):
        real = _real(path)
        if real.is_dir():
            files += of_project(str(real))
            files += (f for f in known if real in f.path.parents and not is_there(f.path))
            continue
        named = next((file for file in known if file.path == real), None)
        if named is None and _named(real) is not None:
            if not real.exists():
                raise UsageError(detail=f"{real} does not exist")
            named = _named(real)
        files += [named] if named is not None else []
    return files


def is_rule_file(path: Path) -> bool:
    """Tell whether a path is that of a file of rules, by its name and its folder.

    Raises UsageError for one that no file can have.
    """
    real = _real(path)
    kept = real.suffix == ".md" and real.parent.name == _MEMORY
    kept = kept and default_folders()[0] in real.parents
    return real.is_file() and (kept or _named(real) is not None)


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path.expanduser()))
    except ValueError:  # half a character, or a zero byte
        raise UsageError(detail=f"{str(path)!a} is the path of no file") from None


def _named(path: Path) -> RuleFile | None:
    """Return what a file is by its name and its folder; None for one that is no file of rules."""
    for file in of_agents(()):
        if file.path == path:
            return file
    for depth, folder in enumerate(path.parents[:3]):
        inside = path.relative_to(folder).as_posix()
        in_rules = inside.startswith(f"{_RULES}/") and depth == 2 and path.suffix == ".md"
        if in_rules or (inside in _NAMES and folder.name != ".claude"):
            return RuleFile(path, str(folder))
    return None


def of_project(folder: str) -> Iterator[RuleFile]:
    """Yield the files of rules that are in a project's folder, none that a link leads out to."""
    root = Path(folder)
    for name in _NAMES:
        if _is_inside(root / name, root):
            yield RuleFile(root / name, folder)
    for path in _markdown(root / _RULES, root):
        yield RuleFile(path, folder)
    for inside in _subfolders(root):
        for name in _IN_SUBFOLDERS:
            if _is_inside(inside / name, root):
                yield RuleFile(inside / name, str(inside), root=folder)


def _subfolders(root: Path) -> Iterator[Path]:
    """Yield the folders of a project, none hidden, of others, or of another repository."""
    if holds_many(root):
        return
    waiting, seen = [(root, 0)], 0
    while waiting and seen < policy.RULE_FOLDERS:
        folder, depth = waiting.pop()
        seen += 1
        if folder != root:
            yield folder
        if depth == policy.RULE_FOLDER_DEPTH:
            continue
        try:
            inside = [Path(entry.path) for entry in os.scandir(folder) if _is_own(entry)]
        except OSError:
            continue
        waiting += ((path, depth + 1) for path in sorted(inside, reverse=True))


def holds_many(folder: Path) -> bool:
    """Tell whether a folder is no project but has all kinds of them in it.

    It is the home folder, one above it, or one for what is temporary, where anybody may write.
    """
    home = Path.home()
    shared = map(Path, (tempfile.gettempdir(), "/tmp", "/var/tmp"))  # noqa: S108
    return _followed(folder) in set(map(_followed, (home, *home.parents, *shared)))


def _is_own(entry: os.DirEntry[str]) -> bool:
    return (
        entry.is_dir(follow_symlinks=False)
        and not entry.name.startswith((".", "__"))
        and entry.name not in _OTHERS
        and not os.path.lexists(f"{entry.path}/.git")
    )


def imported_by(
    file: RuleFile, text: str, *, from_home: bool
) -> tuple[list[RuleFile], list[tuple[Path, str]]]:
    """Return the files that a file of rules imports, and those that are not read, each with why.

    `from_home` lets those of the home folder be read, where the file is one's own everywhere or the
    local one of a project: any other comes with its repository. What stands in code is no import; a
    word that names no file ("@ann", "@types/node") is one only where it reads as a path of a text.
    """
    if not (file.imported or file.path.name in _IMPORTING):
        return [], []
    files: dict[Path, RuleFile] = {}
    left: dict[Path, str] = {}
    root = Path(file.root or file.project or file.path.parent)
    wide = holds_many(root)
    local = file.path.name == _LOCAL and not file.imported and not wide
    everywhere = not file.project and _claude() in _followed(file.path).parents
    from_home = from_home and (local or everywhere)
    for begin, end in prose_blocks(text):
        for match in _IMPORT.finditer(_CODE.sub("", text[begin:end])):
            said = match["path"]
            path = Path(os.path.normpath(file.path.parent / Path(said).expanduser()))
            if path.suffix not in _IMPORTED:
                continue
            inside = root in path.parents and not wide
            if not inside and not (from_home and _is_shown_at_home(path)):
                left[path] = OUTSIDE
            elif not _is_inside(path, root if inside else path.parent):
                left[path] = MISSING
            else:
                files[path] = _imported(path, file, root)
    return list(files.values()), list(left.items())


def _imported(path: Path, by: RuleFile, root: Path) -> RuleFile:
    """Return an imported file; no more is thought of it than of the one that imports it."""
    by_model = by.by_model or _followed(default_folders()[0]) in _followed(path).parents
    own = None if by_model else _named(path)
    is_own = own is not None and own.project == by.project  # read as such already
    return RuleFile(path, by.project, by_model, root=str(root), imported=not is_own)


def _claude() -> Path:
    return _followed(default_folders()[0].parent)


def _followed(path: Path) -> Path:
    """Return where a path leads; `Path.resolve` fails where links lead in a circle."""
    return Path(os.path.realpath(path))


def _is_shown_at_home(path: Path) -> bool:
    """Tell whether a path is one of the home folder, and in no hidden folder but the agent's."""
    real, home = _followed(path.parent) / path.name, _followed(Path.home())
    if home not in real.parents:
        return _claude() in real.parents
    hidden = any(part.startswith(".") for part in real.relative_to(home).parts)
    return not hidden or _claude() in real.parents


def of_agents(projects: Iterable[str]) -> Iterator[RuleFile]:
    """Yield what agents load everywhere, and what they keep for themselves on these projects."""
    claude, codex, gemini = (folder.parent for folder in default_folders())
    for path in (claude / "CLAUDE.md", codex / "AGENTS.md", gemini / "GEMINI.md"):
        if _is_inside(path, path.parent):
            yield RuleFile(Path(os.path.realpath(path)), "")
    for project in projects:
        kept = claude / "projects" / re.sub(r"[^A-Za-z0-9]", "-", project)
        for path in _markdown(kept / _MEMORY, kept):
            yield RuleFile(path, project, by_model=True)


def _markdown(folder: Path, root: Path) -> Iterator[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".md"))
    except OSError:
        return
    for name in names:
        if _is_inside(folder / name, root):
            yield folder / name


def _is_inside(path: Path, root: Path) -> bool:
    """Tell whether a path is a file, no link, in a folder that no link leads out to."""
    real, inside = os.path.realpath(path.parent), os.path.realpath(root)
    return is_there(path) and os.path.commonpath((real, inside)) == inside


def is_there(path: Path) -> bool:
    """Tell whether a path is a file; a link is none: what was read there before is gone."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def whole(path: Path) -> bytes:
    """Return what a file holds; raises InputError for one that is too large, and OSError."""
    with path.open("rb") as file:
        data = file.read(policy.RULE_FILE_BYTES + 1)
    if len(data) > policy.RULE_FILE_BYTES:
        raise InputError(detail=f"{path} is larger than {policy.RULE_FILE_BYTES:,} bytes")
    return data


def rule_lines(text: str, original: str) -> Iterator[RuleLine]:
    """Yield the paragraphs and items of a redacted text, with where each stands in the original.

    What factbook wrote there itself, code, headings and tables are left out.
    """
    own = subtract(text).text
    lines = own.splitlines(keepends=True)
    skip = sum(map(len, lines[: front_matter([line.rstrip() for line in lines])[0]]))
    at = 0
    for begin, end in prose_blocks(own[skip:]):
        block = own[skip + begin : skip + end]
        said = " ".join(_MARK.sub("", block, count=1).split())
        if not said:
            continue
        first = block.split("\n", 1)[0].split("[REDACTED:", 1)[0].strip()
        place = original.find(first, at) if first else -1
        at = place if place >= 0 else at
        line = original.count("\n", 0, at)
        start = original.rfind("\n", 0, at) + 1
        yield RuleLine(said, line + 1, len(original[:start].encode("utf-8", "surrogatepass")))
