"""Say in one sentence what a call did, once its result is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from factbook import policy
from factbook.extract import commits, outcomes, shell, tests_run
from factbook.extract.base import Rule, RuleHit
from factbook.extract.shell_facts import check_commands, git_command
from factbook.model.facts import CUT_SHORT, NOT_TOLD, WENT_ON, Answer, Episode, Outcome
from factbook.model.text import listed, shorten

_COMMAND_CHARS: Final = 160  # of a command in a sentence
_PIECE_CHARS: Final = 70  # of what was written, before and after
_MANY: Final = 4  # files and commands that a sentence names

_CHANGE: Final = {"add": "added", "update": "changed", "delete": "deleted", "move": "moved to"}
_DELETES: Final = frozenset({"rm", "rmdir", "unlink", "trash"})
_SOURCES: Final = frozenset({"--source", "-s"})  # of `git restore`
_WORD: Final = re.compile(r"\w+")
_TRIVIAL: Final = re.compile(r"^[\s{}()\[\];,*/#\"'`-]*$")


def commands(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the command, letter by letter; one that was refused was not executed."""
    del rule
    value = text.strip()
    if value and not outcomes.is_refused(episode):
        start = text.index(value)
        yield RuleHit(value, start, start + len(value))


def runs(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Say that a command ran, what for, and how it ended; one that was refused did not run."""
    del rule
    answer = episode.answer
    if answer is None or outcomes.is_refused(episode) or not text.strip():
        return
    purpose = (episode.value("description") or "").strip().rstrip(".:")
    details = {
        "deed": f"{purpose}: ran" if purpose else "ran",
        "command": shorten(text, _COMMAND_CHARS),
        "outcome": _outcome(text, answer),
    }
    start = len(text) - len(text.lstrip())
    yield RuleHit(shorten(text, policy.SNIPPET_CHARS), start, len(text.rstrip()), details)


def _outcome(command: str, answer: Answer) -> str:
    closed = tests_run.closing(answer.text) if tests_run.may_check(command) else None
    if answer.outcome is Outcome.RUNNING:
        return WENT_ON
    if answer.outcome is Outcome.STOPPED:
        return CUT_SHORT
    if answer.outcome in (Outcome.DONE, Outcome.UNTOLD):
        if closed:
            return closed.text
        if answer.outcome is Outcome.DONE:
            return answer.error or "ok"
        # What only shows a text may show one that failed.
        shown = "" if tests_run.only_looks(command) else outcomes.shown_error(answer.text)
        return f"{shown}; {NOT_TOLD}" if shown else NOT_TOLD
    code = f"exit code {answer.code}" if answer.code else "" if closed else "failed"
    return ": ".join(filter(None, [code, closed.text if closed else "", answer.error]))


def changes(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Say which file was changed, and what was put where."""
    del rule
    path = text.strip()
    if not path:
        return
    at = text.index(path)
    yield RuleHit(path, at, at + len(path), {"verb": _verb(episode, path), "what": _what(episode)})


def discards(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the files and folders that a command deletes, or puts back as git has them."""
    del rule
    folder = episode.project
    for command in shell.parse(text):
        if command.name == "cd" and command.args:
            folder = commits.whole_path(folder, command.args[-1].value)
        words = list(command.args)
        verb = "deleted"
        if command.name == "git":
            words = list(git_command(words))
            said = [word.value for word in words]
            if said[:1] == ["checkout"] and "--" in said:
                words, verb = words[said.index("--") :], "took back the changes of"
            elif said[:1] == ["restore"] and "--staged" not in said:
                verb = "took back the changes of"
            elif said[:1] != ["rm"] or "--cached" in said:
                continue
            words = words[1:]
        elif command.name not in _DELETES:
            continue
        for word in shell.options_and_operands(words, long_valued=_SOURCES)[1]:
            path = word.value.removesuffix("/*")
            if path.strip("./") and not any(sign in path for sign in "*?[$"):
                path = commits.whole_path(folder, path)
                yield RuleHit(path, *word.span(0, len(word.value)), {"verb": verb})


def _verb(episode: Episode, path: str) -> str:
    """Return what a patch did to the file; of any other call, that it was changed."""
    fields = episode.fields
    for part, following in pairwise(fields):
        if following.name == "change" and episode.text[part.start : part.end].strip() == path:
            return _CHANGE.get(episode.text[following.start : following.end], "changed")
    return "changed"


def _what(episode: Episode) -> str:
    """Say what was written: the first line that is new, and the first one that is gone."""
    old = _lines(episode.value("old_string"))
    new = _lines(episode.value("new_string") or episode.value("content"))
    gone = next((line for line in old if line not in new), "")
    added = next((line for line in new if line not in old), "")
    if gone and added and _is_rewritten(gone, added):
        at = _same_until(gone, added) if max(len(gone), len(added)) > _PIECE_CHARS else 0
        return f": `{_piece(gone, at)}` became `{_piece(added, at)}`"
    if gone or added:
        return f": {'wrote' if added else 'took out'} `{_piece(added or gone)}`"
    return ""


def _is_rewritten(gone: str, added: str) -> bool:
    """Tell whether one line stands in the place of the other: they share half of their words."""
    before, after = set(_WORD.findall(gone)), set(_WORD.findall(added))
    return 2 * len(before & after) >= min(len(before), len(after))


def _same_until(gone: str, added: str) -> int:
    """Return where two long lines begin to differ, at a word that leaves some of what is before."""
    same = next((n for n, both in enumerate(zip(gone, added, strict=False)) if len({*both}) > 1), 0)
    return max(0, gone.rfind(" ", 0, max(0, same - _PIECE_CHARS // 3)) + 1)


def _piece(line: str, at: int = 0) -> str:
    return ("\u2026" if at else "") + shorten(line[at:], _PIECE_CHARS)


def _lines(value: str | None) -> dict[str, None]:
    lines = (line.strip() for line in (value or "").split("\n"))
    return dict.fromkeys(line for line in lines if not _TRIVIAL.match(line))


def delegations(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Say which sub-agent was given work, and what it was."""
    del rule
    agent = text.strip()
    if agent:
        at = text.index(agent)
        task = (episode.value("description") or "").strip()
        yield RuleHit(agent, at, at + len(agent), {"task": f": {task}" if task else ""})


def verdicts(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Say of each command that checks something whether it passed, with the runner's counts."""
    del rule
    answer = episode.answer
    if answer is None:
        return
    for command in check_commands(text):
        verdict = tests_run.verdict(text, command, answer)
        if not verdict:
            continue
        closed = tests_run.closing_of(text, command, answer)
        shown = closed.text if closed else answer.error if verdict == "failed" else ""
        details = {
            "command": shorten(text[command.start : command.end], _COMMAND_CHARS),
            "counts": f": {shown}" if shown else "",
        }
        yield RuleHit(verdict, command.start, command.end, details)


def mends(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Say what an error went away by, where the same command passes that failed with it before."""
    del rule
    main = tests_run.main_command(text)
    if episode.answer is None or episode.answer.mended is None or main is None:
        return
    error, files, commands = episode.answer.mended
    ways = []
    if files:
        ways.append(f"editing {listed(files, _MANY)}")
    if commands:
        ways.append(f"running {listed([f'`{command}`' for command in commands], _MANY)}")
    command = main.command
    details = {
        "error": error,
        "ways": " and ".join(ways),
        "command": shorten(text[command.start : command.end], _COMMAND_CHARS),
    }
    yield RuleHit(error, command.start, command.end, details)
