"""Tell from a command and its output whether what it checks passed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from factbook.extract import outcomes, shell
from factbook.extract.base import word_set
from factbook.extract.shell_facts import (
    aim,
    asks_only,
    check_commands,
    git_command,
    is_check,
    runs_tests,
)
from factbook.model.facts import Answer, Outcome

_COUNT: Final = (
    r"\d+\ (?:passed|failed|errors?|skipped|todo|xfailed|xpassed|flaky|deselected|total)"
)
_CLOSING: Final = re.compile(
    rf"""
      =*\ *(?P<pytest>(?:{_COUNT}|no\ tests\ ran|\d+\ warnings?|\d+\ rerun)
        (?:,\ (?:{_COUNT}|\d+\ warnings?|\d+\ rerun))*)\ in\ [\d.:]+(?:s|ms)?\b.*
    | \s*Tests:?\s+(?P<jest>(?!0\ total){_COUNT}(?:(?:,|\ \|)\ {_COUNT})*)\b.*
    | test\ result:\ \w+\.\ (?P<cargo>\d+\ passed;\ \d+\ failed).*
    | \s*(?P<mocha>\d+\ (?:passing|failing|pass|fail))(?:\ \(\S+\))?\s*
    | (?:\#|ℹ)\ (?P<node>(?:pass|fail)\ \d+)
    | (?P<rspec>\d+\ examples?,\ \d+\ failures?(?:,\ \d+\ errors?)?).*
    | (?P<unittest>FAILED\ \([^)]*\))
    | (?P<ran>Ran\ \d+\ tests?\ in\ .*)
    | (?P<phpunit>OK\ \(\d+\ tests?,.*\)|Tests:\ \d+,\ Assertions:.*)
    | \s*(?P<playwright>\d+\ (?:passed|failed|flaky))(?:\ \([\d.]+\w+\))?\s*
    | (?P<none>(?:ok|\?)\s+\S+\s.*\[no\ test(?:s\ to\ run|\ files)\])
    | (?P<go>(?:ok|FAIL|---\ FAIL:)\s+\S+)(?:\s+(?:[\d.]+s|\(.*\)|\[.*\]))(?:\s+coverage:.*)?
    """,
    re.VERBOSE,
)
_MAY_CLOSE: Final = re.compile(
    r"\d (?:pass|fail|error|skip|deselect)|(?:pass|fail) \d|no tests ran|^FAILED \(|^OK \("
    r"|^Ran \d|Assertions:|\d examples?, |^(?:ok|\?|FAIL|--- FAIL:)\s",
    re.MULTILINE,
)
_BROKEN: Final = re.compile(
    r"[1-9]\d* (?:fail(?:ed|ing|ures?)?|errors?)\b|\bfail [1-9]|\b(?:failures|errors)[=:] ?[1-9]"
    r"|^(?-i:FAIL|---)",
    re.IGNORECASE,
)
_BROKE: Final = re.compile(
    r"^\(fail\) \S|^\s*--- FAIL: |^FAIL(?:ED)?\s+\S|^E\s{2,}\S|^not ok |\bexited with code [1-9]"
    r"|ELIFECYCLE|^npm (?:ERR!|error) ",
    re.MULTILINE,
)  # of a test run whose closing line is not shown
_SOME_RAN: Final = re.compile(
    r"^ok |[1-9]\d* (?:x?pass(?:ed|ing)?|xfailed|flaky|tests?|examples?)\b|pass [1-9]"
    r"|^Tests: [1-9]",
    re.IGNORECASE,
)
_FILTERS: Final = word_set(
    "tail head grep egrep rg cat tee wc sort uniq sed awk less more cut tr jq column fold"
)
_AROUND: Final = word_set("cd echo export source . true pwd set sleep printf date pushd popd unset")
_CONDITIONS: Final = frozenset({"if", "elif", "while", "until"})
_READS: Final = word_set("""
    ls cat head tail grep egrep fgrep rg ag ack fd wc echo pwd awk jq which type whereis ps df du
    tree stat file env printenv date whoami id uname sleep cd test [ true false printf export source
    less more sort uniq cut tr diff cmp man history xxd od nl basename dirname realpath readlink
    column set tee for hexdump lsof netstat ss top free uptime pgrep nproc hostname
    """)
_TEXTS: Final = _FILTERS | word_set("""
    fgrep ag ack perl diff xxd hexdump od history man git gh docker kubectl
    """)
"""What these print where they only look was written by others."""
_BRINGS: Final = word_set("curl wget http httpie xh")
"""What these print was written elsewhere."""
_RECORDS: Final = re.compile(
    r"(?:(?:[\w-]+[-_.])?logs?|journal\w*|dmesg|tail|show|view|history)|(?s:[\s(]*(?:select|with)\s.*)",
    re.IGNORECASE,
)
"""As a program, its subcommand or what a database is asked: what is shown was written before."""
_GIT_KEEPS: Final = word_set("fetch add commit push tag stash")
_GIT_READS: Final = _GIT_KEEPS | word_set("""
    status log diff show rev-parse ls-files ls-tree blame config describe reflog shortlog cat-file
    grep remote for-each-ref merge-base rev-list help version
    """)  # what they write is no file that a command could fail on
_GH_READS: Final = word_set("view list checks status diff search watch")
_SUBCOMMANDS: Final = {
    "git": (0, _GIT_READS),
    "gh": (1, _GH_READS),
    "go": (0, word_set("doc env list version")),
    "cargo": (0, word_set("tree metadata search")),
    "docker": (0, word_set("ps logs images inspect port version info")),
    "kubectl": (0, word_set("get describe logs version")),
}  # where, and which only look
_LOOKS: Final = re.compile(
    r"(?:lint|check|type-?check|tsc|mypy|pyright|ty|eslint|flake8|pylint|clippy|vet|biome)"
    r"(?:[:_-](?!fix|write)[\w-]+)?"
)
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=")
_FIXES: Final = frozenset({"--fix", "--write", "-w", "--apply", "format", "fmt"})
_WRITE_FLAGS: Final = re.compile(r"-[a-zA-Z]*i[a-zA-Z]*(?:\..*)?|--in-place(?:=.*)?")
_REST: Final = re.compile(r"\s*(?:\d*>&\d+|\d*>\s*/dev/null|&>\s*/dev/null)")
_ALL_THERE: Final = frozenset({".", "./", "./..."})  # as an operand it is as good as none
_NOT_RUN: Final = frozenset({"126", "127"})
_FAILS: Final = frozenset({"fail", "fails"})
_SEEN: Final = frozenset({"ccomp", "xcomp", "parataxis"})  # as what is to be verified, expected
_LEFT_OPEN: Final = word_set(
    "if whether why where when how which what who n't not never no nothing none neither"
)


class Closing(NamedTuple):
    """What a test runner says at its end."""

    text: str  # the counts, as it writes them
    failed: bool
    ran: bool = True  # whether any test ran: one that a filter or a skip leaves out says nothing


class MainCommand(NamedTuple):
    """The one program that a command line is about, and what makes two such lines the same."""

    key: str
    command: shell.ShellCommand


@lru_cache(maxsize=4)
def closing(text: str) -> Closing | None:
    """Return how a test runner closes its output; None where no line is one of its."""
    if not _MAY_CLOSE.search(text):
        return None
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        if "\x1b" in line:
            line = outcomes.ANSI.sub("", line)
        match = _CLOSING.fullmatch(line.rstrip()) if len(line) < 400 else None
        if match:
            kind = match.lastgroup or ""
            found.setdefault(kind, []).append(" ".join(match[kind].split()))
    for alone in ("none", "ran"):
        if len(found) > 1:
            found.pop(alone, None)
    if not found:
        return None
    kind, lines = max(found.items(), key=lambda pair: "passed" in " ".join(pair[1]))
    failed = any(_BROKEN.search(line) for line in lines)
    if kind == "go":
        lines = [line for line in lines if not failed or not line.startswith("ok")]
    elif kind == "ran":
        failed = False
    elif kind == "none":
        return Closing("no tests ran", failed=False, ran=False)
    ran = failed or any(_SOME_RAN.search(line) for line in lines)
    return Closing(", ".join(dict.fromkeys(lines)), failed, ran)


def main_command(text: str) -> MainCommand | None:
    """Return the one program that a command line runs, but for what leads to it and filters it."""
    folders: list[str] = []
    main: shell.ShellCommand | None = None
    for command in shell.parse(text):
        if command.name == "cd":
            folders += [word.value for word in command.args]
        if not command.name or command.name in _AROUND:
            continue
        if main is not None and command.name in _FILTERS:
            continue
        if main is not None:
            return None
        main = command
    if main is None or _use(main) is Use.READS:
        return None  # it fails where nothing is found
    before = [word.value for word in main.words if word not in main.args]
    # What it is run with may be what it takes to pass: other folders of a cache, more rights.
    given = [word for word in before if word == "sudo" or _ASSIGNED.match(word)]
    words = [*given, main.name, *(word.value for word in main.args)]
    return MainCommand("\n".join([*folders, " ".join(words)]), main)


class Aim(NamedTuple):
    """What a command is run for, however it is launched: two commands may have the same."""

    program: str
    operands: tuple[str, ...]
    tests: bool  # its operands choose among all that there are
    asks: frozenset[str]
    folder: str = ""  # where it is run, as far as its line says

    def is_met_by(self, other: Aim) -> bool:
        """Tell whether another command that ended well did what this one was to do."""
        if self.program != other.program or not other.asks <= self.asks:
            return False
        if self.folder and other.folder and self.folder != other.folder:
            return False
        if not other.operands:
            return self.tests or not self.operands
        return bool(self.operands) and all(
            any(_is_within(each, one, chosen=self.tests) for one in other.operands)
            for each in self.operands
        )


@lru_cache(maxsize=256)
def aims(text: str) -> tuple[Aim, ...]:
    """Return what the commands of a line are run for, but for those that only look."""
    found: list[Aim] = []
    folder = ""
    for command in shell.parse(text):
        if command.name == "cd" and command.args and command.args[-1].value.startswith("/"):
            folder = command.args[-1].value.rstrip("/")
        apart = not command.name or command.name in _AROUND or command.name in _FILTERS
        if not apart and (_use(command) is not Use.READS or _keeps(command)):
            program, words = aim(command)
            operands = tuple(word.rstrip("/") for word in words if word not in _ALL_THERE)
            found.append(Aim(program, operands, runs_tests(command), asks_only(command), folder))
    return tuple(found)


def _is_within(operand: str, other: str, *, chosen: bool) -> bool:
    """Tell whether an operand is another, written from elsewhere, or `chosen` from what that holds.

    A test stands in its file as that in its folder.
    """
    one, whole = (f"/{word.replace('::', '/')}/" for word in (operand, other))
    same = one.endswith(whole) or whole.endswith(one)
    return same or (chosen and whole in one)


def is_to_fail(purpose: str) -> bool:
    """Tell whether what a command is for is that it fails: "Verify the new test fails".

    That is what is to be seen, and neither asked ("see why it fails") nor denied.
    """
    if "fail" not in purpose.lower():
        return False
    from factbook.language.reader.read import read

    for token in read(purpose).tokens:
        word = token.text.lower()
        if word in _LEFT_OPEN:
            return False
        if word in _FAILS and token.relation in _SEEN:
            return True
    return False


def may_change(text: str) -> bool:
    """Tell whether a command line may change what another one reads, and not only look at it."""
    return any(map(changes, shell.parse(text)))


def changes(command: shell.ShellCommand) -> bool:
    """Tell whether one command may change what another one reads."""
    return _use(command) is Use.CHANGES


def only_looks(text: str) -> bool:
    """Tell whether a command line shows what there is, and neither checks nor keeps anything."""
    return all(_use(each) is Use.READS and not _keeps(each) for each in shell.parse(text))


def shown_by(text: str) -> tuple[str, ...]:
    """Return the programs of a command line that only looks; none of one that does more."""
    if not only_looks(text):
        return ()
    return tuple({command.name: None for command in shell.parse(text) if command.name})


def hidden_error(text: str, output: str) -> tuple[str, tuple[str, ...]]:
    """Return the error that a program shows whose end its line hides, as in a pipe or behind.

    The programs come with it where other texts are shown too, as those of files and the errors that
    a test provokes: only what they say under their own name is theirs then.
    """
    if outcomes.is_unread(output):
        return outcomes.error_line(output), ()
    commands = shell.parse(text)
    hidden, expected = _hidden(commands)
    hidden = [command for command in hidden if not _only_reads(command)]
    closed = closing(output) if hidden else None
    if not hidden or (closed is not None and not closed.failed):
        return "", ()
    names = tuple(dict.fromkeys(command.name for command in hidden))
    if expected or _shows_others(commands):
        return outcomes.said_error(output, names), names
    if closed is None and any(map(runs_tests, hidden)) and not _BROKE.search(output):
        first, _, rest = output.strip().partition("\n")
        error = outcomes.said_error(output, names) or outcomes.shown_error(first)
        if error or not outcomes.shows_failure(rest.rpartition("\n")[2]):
            return error, names
    error = outcomes.error_line(output) if outcomes.shows_failure(output) else ""
    looking = {command.name for command in commands if _only_reads(command)}
    return ("" if error.partition(":")[0] in looking else error), ()


def _hidden(commands: Sequence[shell.ShellCommand]) -> tuple[list[shell.ShellCommand], bool]:
    """Return the commands that may fail while their line ends well, and if it is ready for others.

    Where a line has another way ready, or tries again, the first one's failure is none of the line.
    """
    expected = False
    hidden: list[shell.ShellCommand] = []
    behind = ""  # the program that stands behind a command
    recovered = False
    lost = False  # what comes behind ends the line, however a chain of `&&` ends
    outer = [command for command in commands if command.then != shell.WITHIN]
    for command in reversed(outer):
        then = command.then
        ends = then in ("\n", ";") and command is not outer[-1]
        lost = lost or ends or then in ("&", "||", ";;")
        if then == "||":
            recovered = behind not in _AROUND
        elif then != "&&":
            recovered = False
        asked = any(word.value in _CONDITIONS for word in command.words[:1])
        if recovered or asked:
            expected = True
        elif lost or then.startswith("|"):
            hidden.append(command)
        recovered = recovered or command.name == "break"
        behind = command.name
    return hidden, expected


def _only_reads(command: shell.ShellCommand) -> bool:
    """Tell whether a program only looks, wherever its output goes."""
    reads = _use(command._replace(targets=())) is Use.READS and not _keeps(command)
    return reads or command.name in _AROUND


def _shows_others(commands: Sequence[shell.ShellCommand]) -> bool:
    """Tell whether a line shows texts that none of its own programs wrote."""
    written = {word.value for command in commands for word in command.targets}
    fed = False
    for command in commands:
        shows = command.name in _BRINGS or (command.name in _TEXTS and _only_reads(command))
        plain = [word.value for word in command.args if not word.value.startswith("-")]
        shows = shows or any(map(_RECORDS.fullmatch, [command.name, *plain[:2]]))
        own = any(word.value in written for word in command.args)
        if shows and not (fed or own or command.targets):
            return True
        fed = command.then in ("|", "|&")
    return False


def _keeps(command: shell.ShellCommand) -> bool:
    words = git_command(command.args)
    return command.name == "git" and bool(words) and words[0].value in _GIT_KEEPS


def may_check(text: str) -> bool:
    """Tell whether a command line may run tests, and not only show what others printed."""
    return any(_use(each) is not Use.READS for each in shell.parse(text))


class Use(Enum):
    """Say what a command is for."""

    READS = "reads"
    CHECKS = "checks"
    CHANGES = "changes"  # or may do so: what is not known to only look


def _use(command: shell.ShellCommand) -> Use:
    name = command.name
    args = git_command(command.args) if name == "git" else command.args
    words = [word.value for word in args]
    plain = [word for word in words if not word.startswith("-")]
    if any(not word.value.startswith(("/dev/", "&")) for word in command.targets):
        return Use.CHANGES
    if is_check(command):
        return Use.CHECKS
    if not name or name in _READS or {"--version", "--help", "-V"} & set(words):
        return Use.READS
    if name in _SUBCOMMANDS:
        at, reads = _SUBCOMMANDS[name]
        return Use.READS if len(plain) <= at or plain[at] in reads else Use.CHANGES
    if name in {"sed", "perl"}:
        changes = any(_WRITE_FLAGS.fullmatch(word) for word in words)
        return Use.CHANGES if changes else Use.READS
    if name == "find":
        return Use.CHANGES if {"-delete", "-exec"} & set(words) else Use.READS
    if any(_LOOKS.fullmatch(word) for word in [name, *plain[:3]]) and not _FIXES & set(words):
        return Use.CHECKS
    return Use.CHANGES


def verdict(text: str, command: shell.ShellCommand, answer: Answer) -> str:
    """Say whether one command of a line passed or failed; empty where nothing shows it.

    Of what ended well as far as its line tells, the error is that of a program that it hides.
    """
    ended = (Outcome.DONE, Outcome.FAILED, Outcome.UNTOLD)
    if answer.outcome not in ended or answer.code in _NOT_RUN:
        return ""
    closed = closing_of(text, command, answer)
    if answer.outcome is Outcome.UNTOLD and not _shows_end(closed, answer):
        return ""
    if closed is not None and closed.failed:
        return "failed"
    if closed is not None and not closed.ran:
        return ""
    rest = _REST.sub("", text[command.end :])
    if answer.outcome is Outcome.FAILED:
        alone = not rest.strip() and _leads_to(text, command)
        return "failed" if alone else ""
    if closed is not None:
        return "passed"
    if answer.error:
        main = main_command(text)
        return "failed" if main is not None and main.command == command else ""
    reported = not any(sign in rest.strip().rstrip(";") for sign in ("|", ";", "\n"))
    return "passed" if reported and not outcomes.shows_failure(answer.text) else ""


def closing_of(text: str, command: shell.ShellCommand, answer: Answer) -> Closing | None:
    """Return how a command of a line closed; what runs no tests did not where another does."""
    others = not runs_tests(command) and any(map(runs_tests, check_commands(text)))
    return None if others else closing(answer.text)


def _shows_end(closed: Closing | None, answer: Answer) -> bool:
    """Tell whether an output shows by itself how a command ended, and shows no other failure."""
    return closed is not None and (closed.failed or not outcomes.shows_failure(answer.text))


def _leads_to(text: str, command: shell.ShellCommand) -> bool:
    """Tell whether what stands before a command cannot be what failed."""
    before = shell.parse(text[: command.start])
    return all(each.name in _AROUND or not each.name for each in before)
