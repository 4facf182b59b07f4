"""Tell what was committed, and of its files those that the log shows to be in it.

Git says which commit it made, how many files that holds, and of some their names; what was added
before it tells others. Both are counted against each other, for what a turn changed is not what it
committed: a file may be ignored, or lie outside.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract import outcomes, shell, tests_run
from factbook.extract.base import Rule, RuleHit, word_set
from factbook.extract.shell_facts import git_command
from factbook.model.facts import Answer, Episode, Outcome, Staged
from factbook.model.text import file_names, shorten

_SHOWN: Final = re.compile(
    r"^\[[^\]\n]{1,200}?(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.+)$",
    re.MULTILINE,
)
_NONE: Final = re.compile(
    r"^nothing (?:to commit|added to commit)|^no changes added to commit|^Aborting commit"
    r"|\bhooks?\b.{0,60}\b(?:failed|exited with|error)|^CONFLICT\b|^On branch\b|\.Failed$",
    re.MULTILINE | re.IGNORECASE,
)
_COUNTED: Final = re.compile(r"\b(?P<count>\d+) files? changed\b.*")
_NAMED: Final = re.compile(
    r"\s*(?:(?:create|delete) mode \d+ (?P<path>.*[^…])|(?:rename|copy) (?P<to>.+) \(\d+%\))"
)
_CREATED: Final = re.compile(r"\bcreated\b", re.IGNORECASE)  # in what a tool says that writes
_RENAMED: Final = re.compile(r"\{.*? => (.*?)\}|^.* => ")
_ADDS: Final = word_set("add stage rm mv")
_UNSTAGES: Final = word_set("reset restore stash")
_ALL: Final = re.compile(r"-[a-zA-Z]*[aAu][a-zA-Z]*|--(?:all|update|no-ignore-removal)")
_VALUED: Final = "mFCct"  # options of `git commit` that take the next word
_LONG_VALUED: Final = word_set(
    "--message --file --author --date --template --cleanup --trailer --reuse-message"
    " --reedit-message --fixup --squash"
)
_ENDING: Final = re.compile(r"[^/]\.\w{1,8}$")  # of a file's name: ".github" has none
_PATTERN: Final = re.compile(r"[*?$`]|^:")  # no name of a file as it stands
_MOST: Final = 100  # paths of a kind that are remembered until they are committed


class _Step(NamedTuple):
    """A command that makes a commit."""

    command: shell.ShellCommand
    words: Sequence[shell.ShellWord]  # from `commit` on
    staged: Staged  # what it is to hold


def commits(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the subject lines of the commits that were made, with their hashes and files.

    Git says which; where its line is not shown, a commit that ended well and shows no failure was
    made too.
    """
    del rule
    answer = episode.answer
    if answer is None:
        return
    shown = list(_SHOWN.finditer(answer.text))
    quiet = _is_quiet(answer)
    steps, _ = _steps(text, episode.project, answer.staged or Staged())
    for n, step in enumerate(steps):
        subject, start, end = _subject(text, step.command, step.words)
        if n < len(shown):
            made = shown[n]
            # Git shortens no subject, so a message that differs was changed by a hook or an editor.
            subject, deed = made["subject"], f"committed {made['hash']}"
            stop = shown[n + 1].start() if n + 1 < len(shown) else len(answer.text)
            told = answer.text[made.end() : stop]
        elif quiet and subject:
            deed, told = "committed", answer.text if len(steps) == 1 else ""
        else:
            continue
        details = {"deed": deed, "files": _files(step, told)}
        yield RuleHit(shorten(subject, policy.SNIPPET_CHARS), start, end, details)


def staged_after(text: str, folder: str, staged: Staged, answer: Answer) -> Staged:
    """Return what the next commit will hold, once a command line has ended."""
    made = _SHOWN.search(answer.text) is not None or _is_quiet(answer)
    return _steps(text, folder, staged, made=made)[1]


def with_changed(staged: Staged, folder: str, paths: Iterable[str], told: str) -> Staged:
    """Return what is known of the next commit once files were changed, as a tool has told."""
    changed = [whole_path(folder, path) for path in paths]
    created = changed if _CREATED.search(told.partition("\n")[0]) else ()
    return staged._replace(
        changed=_joined(staged.changed, changed), created=_joined(staged.created, created)
    )


def with_unseen(staged: Staged, text: str) -> Staged:
    """Return what is known of the next commit once a command line ran that may change files."""
    programs = (command.name for command in shell.parse(text) if tests_run.changes(command))
    return staged._replace(unseen=_joined(staged.unseen, programs))


def _is_quiet(answer: Answer) -> bool:
    return (
        answer.outcome is Outcome.DONE
        and not _NONE.search(answer.text)
        and not outcomes.shows_failure(answer.text)
    )


def _steps(
    text: str, folder: str, staged: Staged, *, made: bool = True
) -> tuple[list[_Step], Staged]:
    """Return the commits of a command line, and what is staged behind it, if they were `made`."""
    steps: list[_Step] = []
    for command in shell.parse(text):
        if command.name == "cd" and command.args:
            folder = whole_path(folder, command.args[-1].value)
        words = git_command(command.args) if command.name == "git" else ()
        verb = words[0].value if words else ""
        if verb not in _ADDS and tests_run.changes(command):
            staged = staged._replace(unseen=_joined(staged.unseen, [command.name]))
        if not verb or any(word.value == "--dry-run" for word in words):
            continue
        before = [word.value for word in command.args[: len(command.args) - len(words)]]
        where = whole_path(folder, before[before.index("-C") + 1]) if "-C" in before else folder
        if verb in _ADDS:
            staged = _added(staged, where, *shell.options_and_operands(words[1:]))
        elif verb in _UNSTAGES:
            staged = staged._replace(named=(), swept=())
        elif verb == "commit":
            options, operands = shell.options_and_operands(
                words[1:], valued=_VALUED, long_valued=_LONG_VALUED
            )
            # Files that a commit names are committed alone, whatever else was added.
            held = staged._replace(named=(), swept=()) if operands else staged
            held = _added(held, where, options, operands)
            steps.append(_Step(command, words, held))
            if made:
                gone = {*held.named, *_under(held)}
                staged = Staged(
                    changed=tuple(path for path in held.changed if path not in gone),
                    created=tuple(path for path in held.created if path not in gone),
                    unseen=() if held.swept else held.unseen,
                )
    return steps, staged


def _added(
    staged: Staged,
    folder: str,
    options: Sequence[shell.ShellWord],
    operands: Sequence[shell.ShellWord],
) -> Staged:
    """Return what is staged once files were added; what may be a folder is kept apart."""
    named: list[str] = []
    swept: list[str] = []
    if not operands and any(_ALL.fullmatch(word.value) for word in options):
        swept.append(f"{folder}/")
    for value in (word.value for word in operands):
        path = whole_path(folder, value)
        is_file = _ENDING.search(path) or path in staged.changed
        if _PATTERN.search(value) or value.endswith((".", "/")):
            swept.append(f"{path}/")
        else:
            (named if is_file else swept).append(path)
    return staged._replace(named=_joined(staged.named, named), swept=_joined(staged.swept, swept))


def _files(step: _Step, told: str) -> str:
    """Return the names of the files of a commit in brackets; empty where none is sure to be in it.

    What was added as a whole is told only where it is as many as git counted, and where nothing
    else may have changed a file: of what is new, git says the names.
    """
    staged = step.staged
    counted = _COUNTED.search(told)
    if counted is None:
        amends = any(word.value == "--amend" for word in step.words)
        paths = [] if staged.swept or amends else list(staged.named)
        count = len(paths)
    else:
        count = int(counted["count"])
        by_git = _named_by_git(told[counted.end() :])
        sure = _besides(by_git, staged.named)
        under = () if staged.unseen else _under(staged)
        under = [path for path in under if path not in staged.created]
        whole = _besides(sure, [*under, *_unopened(staged, by_git)])
        paths = next((some for some in (whole, sure) if len(some) == count), [])
        paths = paths or (sure if len(sure) < count else by_git)
    return f"({file_names(paths, policy.TURN_FILES, count)})" if paths else ""


def _named_by_git(told: str) -> list[str]:
    """Return the files that git names behind the count: those that are new, gone or moved."""
    paths: list[str] = []
    for line in told.splitlines()[1:]:
        named = _NAMED.fullmatch(line)
        if named is None:
            break
        paths.append(named["path"] or _RENAMED.sub(r"\1", named["to"]))
    return paths


def _under(staged: Staged) -> list[str]:
    """Return the changed files that were added with a folder, or with everything."""
    return [
        path
        for path in staged.changed
        if any(path == each or path.startswith(f"{each.rstrip('/')}/") for each in staged.swept)
    ]


def _unopened(staged: Staged, by_git: Sequence[str]) -> list[str]:
    """Return what was added and may be a file as well as a folder: nothing in it is known."""
    inside = [*staged.changed, *by_git]
    return [
        path
        for path in staged.swept
        if not path.endswith("/")
        and not any(f"/{posixpath.basename(path)}/" in f"/{each}" for each in inside)
    ]


def _besides(paths: Sequence[str], more: Iterable[str]) -> list[str]:
    """Return paths of the repository, and of others those that are not among them."""
    others = (path for path in more if not any(f"/{path}".endswith(f"/{one}") for one in paths))
    return list(dict.fromkeys([*paths, *others]))


def _joined(paths: Sequence[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*paths, *more]))[-_MOST:]


def whole_path(folder: str, path: str) -> str:
    """Return a path as it stands in a folder, in one way of writing."""
    return posixpath.normpath(posixpath.join(folder.replace("\\", "/"), path.replace("\\", "/")))


def _subject(
    text: str, command: shell.ShellCommand, words: Sequence[shell.ShellWord]
) -> tuple[str, int, int]:
    """Return the first line of a commit's message, and what shows it; empty where none is given."""
    message = _message(words)
    if message is None:
        return "", command.start, command.end
    body = next((doc for doc in command.heredocs if message.start < doc[0] < message.end), None)
    if body:
        written = text[slice(*body)]
    elif message.value.startswith("$("):
        return "", command.start, command.end
    else:
        written = message.value
    subject = next((line for line in written.split("\n") if line.strip()), "").strip()
    if not subject or subject.startswith(("$", "`")):
        return "", command.start, command.end
    at = text.find(subject, message.start, message.end)
    # Escapes in a message can make it differ from how it is written.
    place = (at, at + len(subject)) if at >= 0 else (message.start, message.end)
    return subject, *place


def _message(words: Sequence[shell.ShellWord]) -> shell.ShellWord | None:
    for at, word in enumerate(words):
        value = word.value
        if value.startswith("--message="):
            cut = len("--message=")
            inner = word.inner + cut if word.inner >= 0 else -1
            return shell.ShellWord(value[cut:], word.start, word.end, inner)
        is_flag = value == "--message" or re.fullmatch(r"-[a-zA-Z]*m", value) is not None
        if is_flag and at + 1 < len(words):
            return words[at + 1]
    return None
