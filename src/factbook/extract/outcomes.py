"""Read from the result of a tool call what became of the call, and how it failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice
from typing import Final

from factbook import policy
from factbook.extract.base import Rule, RuleHit, finds
from factbook.model.facts import Answer, Episode, Outcome
from factbook.model.text import shorten

WRITERS: Final = (
    "Edit|Write|MultiEdit|NotebookEdit|apply_patch|edit|write|multiedit"
    "|exec_command|shell|Bash|create|write_file|replace|edit_file*|search_replace|create_file|str_replace*"
    "|mcp__*__write_file|mcp__*__edit_file|mcp__*__create_text_file|mcp__*__replace_*"
)
"""Tools whose input names the files that they write."""

_SHELLS: Final = frozenset({"exec_command", "shell", "Bash"})  # of them those that run commands
ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_RULER: Final = re.compile("━+")
_EXIT_WORDS: Final = r"exit(?:ed)?(?: with)?(?: status)?(?: code)?:?"
_EXIT: Final = re.compile(rf"\b{_EXIT_WORDS}\s*(-?\d{{1,10}})\b", re.IGNORECASE)
_EXIT_LINE: Final = re.compile(
    rf"(?:Error:\s*)?(?:Process |Command )?{_EXIT_WORDS}\s*-?\d+\.?", re.IGNORECASE
)
_TAGS: Final = re.compile(r"</?(?:tool_use_error|error|stderr|stdout|output)>")
_RUN_BY: Final = r"(?:\[[\w:.-]+\] )?"  # what a runner of tasks puts before each line
_EVAL: Final = r"^\(eval\):\S*: "  # what the shell says that a host hands its line to
_SAYS_WHY: Final = re.compile(
    r"(?:^|[\s:\[(])(?:error|fatal|panic|ERR!)(?:\[\w+\])?\s*[:!\]]|\b\w*(?:Error|Exception)\b(?:\s\[\w+\])?:(?!:)"
    r"|: (?:command )?not found\b|\bno such file\b|\bpermission denied\b|^FAILED\b"
    r"|\bfailed with\b|^E\s{2,}\S|^\S.*: line \d+: \S"
    rf"|^{_RUN_BY}--- FAIL: \S|{_EVAL}",
    re.IGNORECASE,
)  # a line like this one names the cause
_STRONG: Final = (
    "rror", "ERROR", "ERR!", "atal", "FATAL", "anic", "Exception", "not found", "o such file",
    "enied", "failed with", "FAILED", "FAIL: ", "E   ", ": line ",
    "(eval):",
)  # fmt: skip
"""Pieces of words, one of which every line that `_SAYS_WHY` finds holds (near enough)."""
_HINTS_AT_IT: Final = re.compile(
    r"\berr(?:or)?s?\b|(?-i:\w(?:Error|Exception))\b|\bfail(?:ed|ure|s)?\b|\bfatal\b|\bpanic\w*"
    r"|\bdenied\b|\bnot found\b|\bno such\b|\bcannot\b|\bcan't\b|\bcould not\b|\bcouldn't\b"
    r"|\bunable to\b|\binvalid\b|\bmissing\b|\btimed out\b|\btimeout\b|\brefused\b"
    r"|\bunrecognized\b|\bunknown\b|\bexceeds?\b|\bdoes not exist\b|\bdoesn't exist\b"
    r"|\bnot allowed\b|\bnot running\b|\bconflict\b|\bno \w+ found\b|[✗✘❌×]|\bfile has\b",
    re.IGNORECASE,
)  # one like this is taken where no line names it
_BESIDE_IT: Final = re.compile(
    r"\((?:pass|skip)\)|\bPASS(?:ED)?\b|\bok\b\s*$|\bwarn(?:ing)?\b|\bhint:|^[⚠ℹi]\s|[│┃]"
    r"|^\d+\s*[|+-]|\"\"\"|^[+>-]\s|\b(?:0|no|zero) (?:errors?|failed|failures?)\b|\berrors?: 0\b"
    r"|\bthrow\b|^\s*(?:def|class|return|assert)\b|^(?:at|❯) .*:\d+\)?$",
    re.IGNORECASE,
)  # passed tests, warnings, quoted source, frames of a stack
_EXACT: Final = re.compile(
    r"\berror(?:\[[\w:-]+\]| [A-Z]+\d+): \S|^E\s{2,}\S|\b\w*(?:Error|Exception)\b(?:\s\[\w+\])?: \S"
    r"|^\S+[:(]\d+(?:[:,]\d+)?\)?:? (?:- )?(?:fatal )?error\b|\bpanic(?:ked at|: )\S|^fatal: \S"
    r"|^npm (?:ERR!|error) \S+ \S|: (?:command )?not found\b|^[A-Z]{1,5}\d{3,4} (?:\[\*\] )?\S"
)  # the line of a compiler, a linter, a test or a program itself
_LOCATED: Final = re.compile(
    rf"^{_RUN_BY}(?:\./)?[\w@./-]+\.\w{{1,6}}:\d+:\d+:? +\S.*$", re.MULTILINE
)  # as compilers and linters have it
_GO_FAILED: Final = re.compile(rf"^{_RUN_BY}[ \t]*--- FAIL: (\S+).*$", re.MULTILINE)
_GO_INSIDE: Final = re.compile(rf"\n{_RUN_BY}[ \t]+(?!--- ).*|\n\[\.\.\. .*")
_GO_TOLD: Final = re.compile(rf"^{_RUN_BY}[ \t]+(\S+\.go:\d+: \S.*)$", re.MULTILINE)
_GO_NEXT: Final = re.compile(r"^(?:===|--- )", re.MULTILINE)
_GO_TESTS: Final = 20  # failed tests of an output that are looked through
_TESTIFY: Final = re.compile(
    r"^[ \t]+Error Trace:.*\n(?:(?![ \t]+Error:).*\n){0,8}?[ \t]+Error:[ \t]*"
    r"((?:\S.*)?(?:\n[ \t]+(?!\w+:[ \t]*$|(?:Test|Messages):)\S.*){0,3})",
    re.MULTILINE,
)  # what was asserted stands beside the word and, in a column, below it
_FAILED_TEST: Final = re.compile(r"^\(fail\) \S.*$", re.MULTILINE)  # its error stands above it
_OTHER_TEST: Final = re.compile(r"\((?:pass|fail|skip|todo)\) |\[\.\.\. ")
_ITS_ERROR: Final = re.compile(r"\w*error: \S", re.IGNORECASE)
_ABOVE: Final = 20  # lines between a failed test and its error
_SUMMARY: Final = re.compile(
    r"\bexit(?:ed)?(?: with)?(?: status)?(?: code)?:? [1-9]|ELIFECYCLE|\bLifecycle script\b"
    r"|\bcommand failed\b|\b(?:task|job|item|step|recipe|script|target|run)\b.{0,60}\bfailed\W*$"
    r"|^make(?:\[\d+\])?: \*\*\*|^[$>] |^(?:Found )?\d+ (?:\w+ )?(?:tests?|errors?|problems?|fail)"
    r"|^npm (?:ERR!|error)(?: (?:code|errno|syscall|path|command|workspace|location|in workspace"
    r"|at|A complete log|Lifecycle)\b.*| \d+)?$|^(?:npm (?:ERR!|error) )?A complete log\b"
    r"|^FAILED\b|\bcould not compile\b|\baborting due to\b|\berrors? (?:were )?emitted\b"
    r"|^\W*\d+%|\[\d+/\d+\]",
    re.IGNORECASE,
)  # says that something failed, and not what
_REFUSED: Final = re.compile(
    r"The user doesn't want to (?:proceed|take this action)|\[Request interrupted by user"
    r"|User rejected|Tool use rejected|requires? approval|requested permissions? to"
    r"|Permission to use \w+|was blocked\. For security|rejected by user|aborted by user"
    r"|\bhook (?:blocking )?error\b|blocked by (?:\w+ )?hook|^patch rejected"
    r"|Cancelled: parallel tool call|Sibling tool call errored",
    re.IGNORECASE,
)
_STOPPED: Final = re.compile(r"(?:command )?aborted by user after \d", re.IGNORECASE)
_RUNNING: Final = re.compile(
    r"Command (?:running in background|was manually backgrounded)|Process running with session ID"
    r"|Async agent launched"
)
_NO_PATCH: Final = re.compile(r"apply_patch verification failed|Invalid patch\b")
_FETCHES: Final = re.compile(r"fetch", re.IGNORECASE)
_NO_PAGE: Final = re.compile(r"\s*(?:The server returned HTTP [45]\d\d\b|REDIRECT DETECTED\b)")
_SPEAKERS: Final = ("(?:ba|z|da|k)?sh", "sudo", "ssh", "xargs", "timeout")  # around any program
_OF_HOST: Final = r"\(eval\):|(?i:(?:error: )?command timed out after\b)"
_UNNAMED: Final = frozenset({"git", "gh", "cargo", "kubectl"})  # `error:` begins what they say
_PLACED: Final = re.compile(r"\S+?:\d+[:-]")  # as a search shows where it found a line
_NO_SEARCH: Final = re.compile(r"^Web search error: \w+$", re.MULTILINE)
_HAS_CODE: Final = frozenset({"exec_command"})  # without an exit code it has not ended
_SHOWN_FAILURE: Final = re.compile(
    rf"^{_RUN_BY}\W{{0,3}}(?:error|fatal|E|npm (?:ERR!|error)|Traceback)\b[:\[( ]"
    r"|\bexited with code [1-9]"
    r"|ELIFECYCLE|: command not found|: No such file or directory|^unknown (?:command|option)"
    rf"|^Usage: |^Node\.js v\d|{_EVAL}",
    re.MULTILINE | re.IGNORECASE,
)  # of what an exit code of 0 hides
_UNREAD: Final = re.compile(
    rf"(?:\s*{_EVAL}.*)+(?:\s*^Shell cwd was reset to .*)?\s*", re.MULTILINE
)
_FRAME: Final = re.compile(
    r"^[ \t]*at (?:.*\()?(?!node:)(?:(?!node_modules).)+:\d+:\d+\)?$", re.MULTILINE
)  # of a stack, in no library
_LINE_CHARS: Final = 2_000
_BETWEEN: Final = re.compile(r"[\s:]+")  # words of a line


def exit_code(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find a recorded exit code other than 0; `text` is the recorded value."""
    del rule
    code = text.strip()
    if not re.fullmatch(r"-?\d{1,10}", code) or int(code) == 0:
        return
    whole = episode.text
    what = {"what": episode.asked or episode.tool}
    for match in _EXIT.finditer(whole):
        if match[1] == code:
            yield RuleHit(code, match.start(), match.end(), what)
            return
    if place := _first_line(whole):
        yield RuleHit(code, *place, what)


def outcome_of(result: Episode) -> Outcome:
    """Say what became of the call that a result answers."""
    marks = result.attributes
    code = marks.get("exit_code", "").strip()
    failed = result.is_error or code not in {"", "0"}
    head = result.text[:400]
    stopped = _STOPPED.match(head)
    if marks.get("denied") or (failed and not stopped and _REFUSED.search(head)):
        return Outcome.REFUSED
    if stopped or marks.get("interrupted"):
        return Outcome.STOPPED
    if failed:
        return Outcome.FAILED
    if marks.get("end") == "untold":
        return Outcome.UNTOLD
    if marks.get("process") or _RUNNING.match(head) or (result.tool in _HAS_CODE and not code):
        return Outcome.RUNNING
    unanswered = fnmatchcase(result.tool.lower(), "web*search") and _NO_SEARCH.search(head)
    lost = _is_page_lost(result) or _NO_PATCH.match(head)
    return Outcome.FAILED if unanswered or lost else Outcome.DONE


def is_refused(call: Episode) -> bool:
    """Tell whether a call was never run, by its answer."""
    return call.answer is not None and call.answer.outcome is Outcome.REFUSED


def may_have_passed(answer: Answer) -> bool:
    """Tell whether a command of whose end nothing is told shows no failure."""
    return answer.outcome is Outcome.UNTOLD and not shows_failure(answer.text)


def changed_files(call: Episode) -> tuple[str, ...]:
    """Return the files that a call names to be written."""
    if not _is_writer(call.tool):
        return ()
    paths = (call.text[part.start : part.end] for part in call.fields if part.name == "path")
    return tuple(dict.fromkeys(paths))


@lru_cache(maxsize=256)
def _is_writer(tool: str) -> bool:
    return any(fnmatchcase(tool, pattern) for pattern in WRITERS.split("|"))


def shows_failure(text: str) -> bool:
    """Tell whether an output shows a failure that an exit code of 0 hides, as that of a pipe."""
    return _SHOWN_FAILURE.search(text) is not None


def is_unread(text: str) -> bool:
    """Tell whether all that came of a line is that the shell did not take it."""
    return _UNREAD.fullmatch(text) is not None


def shown_error(text: str) -> str:
    """Return the error line of an output whose end nothing tells; empty where a line only hints."""
    line = error_line(text) if shows_failure(text) else ""
    names_it = (_SHOWN_FAILURE, _SAYS_WHY, _LOCATED)
    return line if any(pattern.search(line) for pattern in names_it) else ""


def first_error(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the line that says why the call failed, where the host marked it as failed."""
    del rule
    if not episode.asked and outcome_of(episode) is not Outcome.FAILED:
        return  # where the user said no, nothing failed
    # A tool that writes files says why in its first line, and quotes their text below it.
    quotes = _is_writer(episode.tool) and episode.tool not in _SHELLS
    quotes = quotes or _is_page_lost(episode)
    place = _first_line(text) if quotes else _own_place(text, episode.shown_by)
    if place:
        message = shorten(_clean(text[slice(*place)]), policy.SNIPPET_CHARS)
        if message:
            yield RuleHit(message, *place, {"what": episode.asked or episode.tool})


def error_line(text: str, shown_by: Sequence[str] = ()) -> str:
    """Return the line that says why a call failed; empty where none does.

    `shown_by` are the programs of a command that only shows texts: those are no error of it.
    """
    place = _own_place(text, tuple(shown_by))
    return shorten(_clean(text[slice(*place)]), policy.SNIPPET_CHARS) if place else ""


def said_error(text: str, programs: tuple[str, ...]) -> str:
    """Return the error that programs show under their own name, or the shell of them."""
    spoken = _spoken(programs)
    places = (_line_with(text, hits, spoken) for hits in _hits(text))
    place = next(filter(None, places), None)
    return shorten(_clean(text[slice(*place)]), policy.SNIPPET_CHARS) if place else ""


def _own_place(text: str, shown_by: tuple[str, ...]) -> tuple[int, int] | None:
    return _said_place(text, shown_by) if shown_by else _error_place(text)


@lru_cache(maxsize=4)
def _said_place(text: str, programs: tuple[str, ...]) -> tuple[int, int] | None:
    """Return where programs that show texts say why they failed: behind their name, or at once."""
    spoken = _spoken(programs)
    for hits in _hits(text):
        place = _line_with(text, hits, spoken)
        if place:
            return place
    code = _EXIT_LINE.match(text)
    output = text[code.end() :] if code else text
    if not output.strip():
        return None
    start, end = _line_around(text, len(text) - len(output.lstrip()))
    line = text[start:end]
    found = _PLACED.match(line) and line != output.strip()
    return (start, end) if _error_place(line) and not found else None


def _spoken(programs: tuple[str, ...]) -> re.Pattern[str]:
    """Return how what programs say of themselves begins, also where a path leads to them."""
    names = "|".join([*map(re.escape, programs), *_SPEAKERS])
    alone = "" if _UNNAMED.isdisjoint(programs) else r"|(?i:fatal|error)\b"
    return re.compile(
        rf"^(?:\[?(?:\S*/)?[gm]?(?:{names})(?: \w+)?\]?(?::\d+)?:(?:\s|$)|{_OF_HOST}{alone})"
    )


def _is_page_lost(result: Episode) -> bool:
    return _FETCHES.search(result.tool) is not None and _NO_PAGE.match(result.text) is not None


@lru_cache(maxsize=4)
def _error_place(text: str) -> tuple[int, int] | None:
    """Return the first of the lines that name the cause most exactly."""
    if failed := _FAILED_TEST.search(text):
        return _above(text, failed.start()) or failed.span()
    if told := _told_by_go(text):
        return told
    strong, hints = _hits(text)
    located = [hit.start() for hit in _LOCATED.finditer(text)]
    for hits, pattern in ((strong, _EXACT), (located, None), (strong, _SAYS_WHY), (hints, None)):
        place = _line_with(text, hits, pattern, besides=_SUMMARY)
        if place:
            return _with_headline(text, *place)
    place = _line_with(text, strong, _SAYS_WHY) or _line_with(text, hints, None)
    frame = None if place else _FRAME.search(text)  # the end of a stack whose error is cut off
    return _line_around(text, frame.start()) if frame else place


def _hits(text: str) -> tuple[list[int], list[int]]:
    """Return where words stand that may name a cause, and where those that hint at one do."""
    strong = sorted({at for word in _STRONG if word in text for at in finds(text, word)})
    return strong, [hit.start() for hit in _HINTS_AT_IT.finditer(text)]


def _told_by_go(text: str) -> tuple[int, int] | None:
    """Return what a test of Go says why it failed: the last line of its own, for it ends there."""
    asserted = _TESTIFY.search(text)
    if asserted and asserted[1].strip():
        start, end = asserted.span(1)
        lead = len(asserted[1]) - len(asserted[1].lstrip())
        return start + lead, end
    for failed in islice(_GO_FAILED.finditer(text), _GO_TESTS):
        end = failed.end()
        while inside := _GO_INSIDE.match(text, end):
            end = inside.end()
        # where the test ran, as `-v` has it
        ran = text.find(f"=== RUN   {failed[1]}\n", 0, failed.start())
        stop = _GO_NEXT.search(text, ran + 4) if ran >= 0 else None
        places = [(failed.end(), end)] + ([(ran, stop.start())] if stop else [])
        for place in places:
            told = list(_GO_TOLD.finditer(text, *place))
            if told:
                return told[-1].span(1)
    return None


def _with_headline(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a line with the headline above it that names the file, as some linters write one."""
    before = text[max(0, start - _LINE_CHARS) : start].rstrip()
    line = before[before.rfind("\n") + 1 :]
    if not text.startswith("×", start) or "━" not in line:
        return start, end
    return max(0, start - _LINE_CHARS) + before.rfind("\n") + 1, end


def _above(text: str, end: int) -> tuple[int, int] | None:
    """Return the error that a test runner prints above the name of the test that failed."""
    for _ in range(_ABOVE):
        start = text.rfind("\n", 0, end - 1) + 1 if end > 0 else -1
        if start < 0 or _OTHER_TEST.match(text, start, end):
            return None
        if _ITS_ERROR.match(text, start, end):
            return _line_around(text, start)
        end = start
    return None


def _line_with(
    text: str,
    hits: Iterable[int],
    pattern: re.Pattern[str] | None,
    *,
    besides: re.Pattern[str] | None = None,
) -> tuple[int, int] | None:
    """Return the first of the hit lines that the pattern finds and that is the error itself."""
    done = -1
    for hit in hits:
        if hit <= done:
            continue
        start, done = _line_around(text, hit)
        line = _clean(text[start:done])
        if pattern is not None and not pattern.search(line):
            continue
        if besides is not None and besides.search(line):
            continue
        if besides is not None and sum(any(map(str.isalnum, w)) for w in _BETWEEN.split(line)) < 2:
            continue  # `"errors"` in a source that is shown: one word says of nothing what it is
        if not _BESIDE_IT.search(line) and not _EXIT_LINE.fullmatch(line):
            return start, done
    return None


def _line_around(text: str, at: int) -> tuple[int, int]:
    """Return the place of a line without the blanks around it; of a very long one, a part."""
    start = max(text.rfind("\n", max(0, at - _LINE_CHARS), at) + 1, at - _LINE_CHARS)
    end = text.find("\n", at, at + _LINE_CHARS)
    line = text[start : end if end >= 0 else at + _LINE_CHARS]
    start += len(line) - len(line.lstrip())
    return start, max(at + 1, start + len(line.strip()))


def _first_line(text: str) -> tuple[int, int] | None:
    lead = len(text) - len(text.lstrip())
    return _line_around(text, lead) if lead < len(text) else None


def _clean(line: str) -> str:
    if "\x1b" in line:
        line = ANSI.sub("", line)
    if "<" in line:
        line = _TAGS.sub("", line)
    return _RULER.sub(" ", line).strip() if "━" in line else line.strip()
