"""Join the calls of a log with their results, and what failed with what made it pass.

A result names its call by id; it may come in a later batch or in another run, so what waits is
handed on with the cursor of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from factbook import policy
from factbook.extract import commits, outcomes, tests_run
from factbook.model.facts import (
    Answer,
    Episode,
    EpisodeKind,
    Field,
    Mended,
    Millis,
    Outcome,
    Role,
    Staged,
    Trust,
)
from factbook.model.text import shorten

_ASKED_CHARS: Final = 120  # of a command that a sentence names
_NAMING: Final = frozenset({"path", "query", "skill", "url"})  # they say what a call is about
_ALLOWED: Final = re.compile(r"^\w*sandbox\w*: .*$", re.MULTILINE | re.IGNORECASE)
"""What a call may reach: a command that passes once it may reach more was mended by that."""
_GIVEN: Final = re.compile(r"^(session_id|chars): (.*)$", re.MULTILINE)
_CONTINUES: Final = "write_stdin"  # the tool that waits for a command which went on, or types to it
_WAITS: Final = "wait"  # the tool that waits for a script which went on
_MENDERS: Final = 12  # files and commands that are remembered between a failure and its end


def waits(episode: Episode) -> bool:
    """Tell whether an episode is a call that a result may answer."""
    if episode.kind is EpisodeKind.PROMPT:
        return bool(episode.fields and episode.subject)  # a command that the user ran
    return episode.kind is EpisodeKind.TOOL_CALL and bool(episode.call_id or _is_over(episode))


def _is_over(episode: Episode) -> bool:
    """Tell whether a call is recorded when it is over, and by itself."""
    ended = episode.attributes.get("status") == "completed"
    return ended and episode.kind is EpisodeKind.TOOL_CALL and not episode.call_id


class _Failure:
    """A command that failed, and what was done since."""

    def __init__(
        self, error: str, files: Iterable[str] = (), commands: Iterable[str] = (), actions: int = 0
    ) -> None:
        self.error = error
        self.files = dict.fromkeys(files)
        self.commands = dict.fromkeys(commands)
        self.actions = actions

    def save(self) -> list[object]:
        return [self.error, list(self.files), list(self.commands), self.actions]


class Joining:
    """What waits in one file: calls for results, failures for their end, files for a commit."""

    def __init__(self, state: object = None) -> None:
        """Take up what `save` returned for the same file, or begin anew."""
        saved: Any = state if isinstance(state, Mapping) else {}
        calls = map(_call, saved.get("open", ()))
        self._open = {call.call_id or call.subject: call for call in calls}
        self._running: dict[str, Episode] = {
            process: _call(row) for process, row in saved.get("running", ())
        }  # commands that went on, by the number of their process
        self._failures: dict[str, _Failure] = {
            key: _Failure(*failure) for key, failure in saved.get("failures", ())
        }
        self._staged = Staged(*map(tuple, saved.get("staged", ())))

    def save(self) -> dict[str, object]:
        """Return what waits as JSON data; its texts are those of episodes, and redacted as they."""
        return {
            "open": [_row(call) for call in self._open.values()],
            "running": [[process, _row(call)] for process, call in self._running.items()],
            "failures": [[key, failure.save()] for key, failure in self._failures.items()],
            "staged": [list(paths) for paths in self._staged],
        }

    def take(self, episode: Episode) -> tuple[Episode, Episode | None]:
        """Take the next episode; return it, and the call that it answers, with its answer.

        A call that waits no longer, as too many do, is returned in its place, without one.
        """
        if episode.injected:
            return episode, None
        if _is_over(episode):
            return episode, replace(episode, answer=Answer(Outcome.DONE, ""))
        if waits(episode):
            self._open[episode.call_id or episode.subject] = episode
            return episode, _bound(self._open)
        if episode.kind is EpisodeKind.TOOL_RESULT:
            call = self._open.pop(episode.call_id or episode.subject, None)
            call = call or self._open.pop(episode.subject, None)
            return self._joined(episode, call)
        return episode, None

    def unanswered(self, now: Millis) -> list[Episode]:
        """Return the calls that will get no result any more, and the commands that still go on."""
        went_on = Answer(Outcome.RUNNING, "")
        waiting = [*self._open.values()]
        waiting += [replace(call, answer=went_on) for call in self._running.values()]
        return [
            call
            for call in waiting
            if call.occurred_at is None or now - call.occurred_at >= policy.UNANSWERED_MS
        ]

    def _joined(self, result: Episode, call: Episode | None) -> tuple[Episode, Episode | None]:
        outcome = outcomes.outcome_of(result)
        # What a script called that went on, and was waited for.
        call = self._running.pop(result.attributes.get("cell", ""), call)
        call = self._continued(call, outcome)
        process = result.attributes.get("process", "")
        if process and call is not None and _goes_on(call, process):
            self._running[process] = call
            _bound(self._running)
            return result, None  # how it ends is not known yet
        if call is None:
            return result, None
        command = call.value("command")
        failed = outcome is Outcome.FAILED
        shown_by = tests_run.shown_by(command) if command and failed else ()
        error = outcomes.error_line(result.text, shown_by) if failed else ""
        if command and outcome is Outcome.DONE:
            error, shown_by = tests_run.hidden_error(command, result.text)
        code = result.attributes.get("exit_code", "").strip()
        answer = Answer(outcome, result.text, code, error)
        files = outcomes.changed_files(call) if outcome is Outcome.DONE else ()
        self._staged = commits.with_changed(self._staged, call.project, files, result.text)
        if command is not None:
            if "git" not in command and outcome is not Outcome.REFUSED:
                self._staged = commits.with_unseen(self._staged, command)
            answer = self._ran(call, command, answer, files)
        elif outcome is Outcome.DONE:
            self._done(files=files)
        if failed or error:
            asked = _asked(call, command)
            typed_to = self._typed_to(call)
            if typed_to is not None:
                asked += f" to {_asked(typed_to, typed_to.value('command'))}"
            result = replace(result, asked=asked, shown_by=shown_by)
        return result, replace(call, answer=answer)

    def _continued(self, call: Episode | None, outcome: Outcome) -> Episode | None:
        """Return the command that a call waited for until it ended; else the call itself."""
        if call is None or call.tool != _CONTINUES or outcome is Outcome.RUNNING:
            return call
        given = dict(_GIVEN.findall(call.text))
        if given.get("chars"):
            return call  # what something was typed to has not ended by itself
        return self._running.pop(given.get("session_id", ""), call)

    def _typed_to(self, call: Episode) -> Episode | None:
        if call.tool != _CONTINUES:
            return None
        given = dict(_GIVEN.findall(call.text))
        return self._running.get(given.get("session_id", ""))

    def _ran(self, call: Episode, command: str, answer: Answer, files: tuple[str, ...]) -> Answer:
        """Follow a command: it may fail, mend something, or pass where it failed before."""
        if answer.outcome in (Outcome.REFUSED, Outcome.STOPPED, Outcome.RUNNING):
            return answer
        if "git" in command:
            answer = answer._replace(staged=self._staged)
            self._staged = commits.staged_after(command, call.project, self._staged, answer)
        main = tests_run.main_command(command)
        if main is None:
            failed = answer.outcome is Outcome.UNTOLD and not outcomes.may_have_passed(answer)
            changes = not files and not failed and tests_run.may_change(command)
            self._done(files=files, command=command if changes else "")
            return answer
        key = "\n".join([call.project, main.key, *_ALLOWED.findall(call.text)])
        verdict = tests_run.verdict(command, main.command, answer)
        failure = self._failures.get(key)
        if verdict == "failed":
            error = answer.error or outcomes.error_line(answer.text)
            if error and not tests_run.is_to_fail(call.value("description") or ""):
                self._failures.pop(key, None)
                self._failures[key] = _Failure(error)
                _bound(self._failures)
        elif verdict == "passed" and failure is not None:
            del self._failures[key]
            if failure.files or failure.commands:
                mended = Mended(failure.error, tuple(failure.files), tuple(failure.commands))
                answer = answer._replace(mended=mended)
        ended_well = answer.outcome is Outcome.DONE and not answer.error
        ended_well = ended_well or outcomes.may_have_passed(answer)
        changes = ended_well and tests_run.may_change(command)
        self._done(files=files, command=command if changes else "", by=key)
        return answer

    def _done(self, *, files: tuple[str, ...] = (), command: str = "", by: str = "") -> None:
        """Note what was done for all that fails yet; what failed, run again as `by`, mends none."""
        for key, failure in list(self._failures.items()):
            if key == by:
                continue
            failure.actions += 1
            failure.files.update(dict.fromkeys(files))
            if command:
                failure.commands[shorten(command, _ASKED_CHARS)] = None
            if (
                failure.actions > policy.MENDED_ACTIONS
                or len(failure.files) + len(failure.commands) > _MENDERS
            ):
                del self._failures[key]  # too much in between is no reason any more


def _bound(waiting: dict[str, Any]) -> Any:
    """Take out and return the oldest where too many wait; else return None."""
    return waiting.pop(next(iter(waiting))) if len(waiting) > policy.OPEN_CALLS else None


def _goes_on(call: Episode, process: str) -> bool:
    """Tell whether it is the call itself that goes on, and not only what it waits for."""
    if call.value("command") is not None:
        return True
    return process.startswith("cell ") and call.tool != _WAITS


def _asked(call: Episode, command: str | None) -> str:
    if command is not None:
        return f"`{shorten(command, _ASKED_CHARS)}`"
    named = [part for part in call.fields if part.name in _NAMING]
    if len(named) != 1:
        return call.tool
    return f"{call.tool} of {shorten(call.text[named[0].start : named[0].end], _ASKED_CHARS)}"


_KEPT: Final = (
    "uid", "source", "text", "position", "offset", "occurred_at", "owner", "subject", "session",
    "project", "tool", "call_id",
)  # fmt: skip
"""What a row has of a call as it is, in this order: rows stand in cursors on disk."""


def _row(call: Episode) -> list[object]:
    fields = [[part.name, part.start, part.end] for part in call.fields]
    kept = (getattr(call, name) for name in _KEPT)
    return [call.kind is EpisodeKind.PROMPT, *kept, fields, dict(call.attributes)]


def _call(row: Any) -> Episode:
    typed, *kept, fields, attributes = row
    return Episode(
        kind=EpisodeKind.PROMPT if typed else EpisodeKind.TOOL_CALL,
        role=Role.USER if typed else Role.ASSISTANT,
        trust=Trust.DIRECT if typed else Trust.OBSERVED,
        fields=tuple(Field(name=name, start=start, end=end) for name, start, end in fields),
        attributes=attributes,
        **dict(zip(_KEPT, kept, strict=True)),
    )
