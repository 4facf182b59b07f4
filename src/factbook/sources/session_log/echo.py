"""What came out of factbook and came back in a log: its text, its tools, its command line.

Text of ours is known by its tag, in whatever way a host has escaped it; calls by the names of our
tools where the server is ours; commands by what they run. What is subtracted is counted, and
nothing around it is lost: a tag that somebody typed hides no more than what it encloses.
"""

from __future__ import annotations

import re
import shlex
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import orjson

from factbook.model.ours import GRAPH_TOOLS, MEMORY_TAG, SERVER, TOOL_RESULTS, WORKING_COMMANDS
from factbook.sources.session_log.toolcall import command_line

_TAG: Final = re.compile(
    # `<` as it is, escaped for HTML once or more, or escaped for JSON once or more.
    r"(?P<open><|&(?:amp;){0,8}lt;|(?<!\\)\\{1,8}u003[cC])(?P<closes>\\{0,8}/)?"
    rf"{MEMORY_TAG}(?![\w-])(?P<attributes>(?:(?!{MEMORY_TAG})[^<>]){{0,2000}}?)"
    r"(?:>|&(?:amp;){0,8}gt;|\\{1,8}u003[eE])"
)
_GAP: Final = re.compile(r"\n[ \t\r]*\n|(?:\\{1,8}n){2}")  # our blocks have no blank line


class Subtracted(NamedTuple):
    """A text without what factbook had put into it."""

    text: str
    blocks: int = 0  # how many were taken out
    torn: bool = False  # whether the end of a block was left whose beginning is missing


def subtract(text: str) -> Subtracted:
    """Take out every block of ours, whatever its tags are escaped as.

    A block ends at the tag that is escaped as its beginning is, for what is inside is escaped once
    more. One that is cut off before its end reaches to the next blank line, if its tag names ids
    as ours do; any other tag without its partner is what somebody wrote.
    """
    if MEMORY_TAG not in text:
        return Subtracted(text)
    tags = list(_TAG.finditer(text))
    spans: list[tuple[int, int]] = []
    # What is escaped least stands outermost, so a tag inside it closes nothing outside.
    for escape in sorted({tag["open"] for tag in tags}, key=lambda form: ("&" in form, len(form))):
        alike = [tag for tag in tags if tag["open"] == escape]
        spans = _merged([*spans, *_pairs(_outside(alike, spans))])
    whole, reach, torn = len(spans), 0, False
    for tag in _outside(tags, spans):
        torn = torn or tag["closes"] is not None
        if tag["closes"] is None and "ids=" in tag["attributes"] and tag.start() >= reach:
            gap = _GAP.search(text, tag.end())
            reach = gap.start() if gap else len(text)
            after = bisect_left(spans, tag.span(), hi=whole)
            if after < whole:
                reach = min(reach, spans[after][0])
            spans.append((tag.start(), reach))
    parts: list[str] = []
    end = 0
    for start, after in sorted(spans):
        parts.append(text[end:start])
        end = after
    return Subtracted(joined([*parts, text[end:]]), len(spans), torn)


def _pairs(tags: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Iterate over the spans from an opening tag to its partner."""
    opened: list[int] = []
    for tag in tags:
        if tag["closes"] is None:
            opened.append(tag.start())
        elif opened:
            yield opened.pop(), tag.end()


def _outside(tags: list[re.Match[str]], spans: list[tuple[int, int]]) -> list[re.Match[str]]:
    """Return the tags that stand in none of the spans, which are sorted and apart."""
    starts = [start for start, _ in spans]
    before = [(tag, bisect_right(starts, tag.start()) - 1) for tag in tags]
    return [tag for tag, n in before if n < 0 or spans[n][1] <= tag.start()]


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in their order, each that lies in another left out."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not merged or start >= merged[-1][1]:
            merged.append((start, end))
    return merged


def joined(parts: list[str]) -> str:
    """Return what is left of a text; two words that only a block had parted stay two."""
    text = parts[0]
    for part in parts[1:]:
        gap = " " if text[-1:].isalnum() and part[:1].isalnum() else ""
        text += gap + part
    return text


_OWN_NAME: Final = re.compile(rf"mcp__(?:plugin_.+_)?{SERVER}__.+|(?:mcp_)?{SERVER}__?[a-z].*")
_LONGEST_FIRST: Final = sorted({*TOOL_RESULTS, *GRAPH_TOOLS}, key=lambda name: (-len(name), name))


def is_ours(tool: str, namespace: str = "") -> bool:
    """Tell whether a tool is one of factbook's own, by its name and its server's.

    A server that is called factbook has no tools but ours; one whose name holds the word has other
    tools too (`mcp__factbook-docs__fetch`), so there the tool's name must be one of ours as well.
    """
    name = f"{namespace}__{tool}" if namespace else tool
    if SERVER not in name:
        return False
    return _OWN_NAME.fullmatch(name) is not None or SERVER in (_server(name)[0] or "")


def is_our_prompt(command: str) -> bool:
    """Tell whether a slash command is a prompt of our server, or a skill of our plugin."""
    return command.startswith(f"/{SERVER}:") or is_ours(command.removeprefix("/"))


def is_sent_prompt(text: str) -> bool:
    """Tell whether a text is a prompt of our server as Gemini CLI sends one: as JSON has it."""
    if not text.startswith(f'"<{MEMORY_TAG}'):
        return False
    try:
        return isinstance(orjson.loads(text), str)
    except orjson.JSONDecodeError:
        return False


def asked_server(tool: str, namespace: str = "") -> tuple[str | None, str]:
    """Return (server, tool) of a call that may be one of ours, for its result to tell.

    The server is empty where the name tells none, and None where the tool has no name of ours.
    Names of the graph profile are everybody's and tell nothing.
    """
    server, name = _server(f"{namespace}__{tool}" if namespace else tool)
    return (server, name) if name in TOOL_RESULTS else (None, "")


def _server(name: str) -> tuple[str | None, str]:
    """Return the server and our own name of a tool as hosts write them, or (None, "")."""
    for tool in _LONGEST_FIRST:
        if name.endswith(tool):
            before = name[: -len(tool)]
            if not before:
                return "", tool
            if before.endswith("_"):
                return before.removeprefix("mcp_").strip("_"), tool
    return None, ""


class AskedOfUs(NamedTuple):
    """What a tool call has to do with factbook."""

    ours: bool  # all of it is asked of factbook or told to it
    echoes: bool  # its result is no evidence
    given: object  # its input without what was asked or told


def asked_of_us(tool: str, given: object, *, namespace: str = "") -> AskedOfUs:
    """Tell what of a tool call goes to factbook: a tool, a resource, a skill or a command of it."""
    if is_ours(tool, namespace):
        return AskedOfUs(True, True, given)
    if isinstance(given, Mapping):
        for key in ("command", "cmd"):
            command = given.get(key)
            if isinstance(command, list):
                command = command_line(command)
            if isinstance(command, str) and SERVER in command:
                own = own_command(command)
                if own.rest != command and not own.asks:
                    # What the model says that the call is for says what it asks.
                    kept = {name: item for name, item in given.items() if name != "description"}
                    return AskedOfUs(False, True, {**kept, key: own.rest})
                return AskedOfUs(own.asks, own.runs, given)
        server, skill = given.get("server"), given.get("skill")
        reads_us = isinstance(server, str) and SERVER in server and "uri" in given
        ours = reads_us or (isinstance(skill, str) and skill.startswith(f"{SERVER}:"))
        return AskedOfUs(ours, ours, given)
    return AskedOfUs(False, False, given)


def answers_as_we_do(tool: str, text: str) -> bool:
    """Tell whether a result has the form that ours have: names in a JSON object, or our tag."""
    if f"<{MEMORY_TAG}" in text:
        return True
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return False
    try:
        value = orjson.loads(text[start : end + 1])
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and TOOL_RESULTS[tool] <= value.keys()


_QUOTED: Final = r"""\\.|'[^']*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)"""
_TOKEN: Final = re.compile(
    rf"""{_QUOTED}|(?<!<)<<(?!<)-?[ \t]*(?P<quote>['"]?)(?P<heredoc>\w+)(?P=quote)"""
    r"|(?P<separator>;|&&|\|\||(?<![<>&])&(?![>&])|\n)",
    re.DOTALL,
)
_PIPE: Final = re.compile(rf"{_QUOTED}|(?P<pipe>\|&?)", re.DOTALL)
_INNER: Final = re.compile(rf"(?:\$\(|`)\s*(?:[\w./~-]*/)?{SERVER}\b")
_LITERAL: Final = re.compile(r"'[^']*'")
_COUNT: Final = re.compile(r"[\d.]+[smhd]?")  # as `timeout 5s` and `nice 10` have it
_LAUNCHERS: Final = frozenset({"pipx", "python", "python3", "run", "tool", "uv", "uvx"})
_GIVEN: Final = frozenset({"--directory", "--from", "--project", "--python", "--with", "-p"})
_PREFIXES: Final = frozenset(
    {"!", "command", "do", "else", "env", "exec", "if", "nice", "nohup", "sudo", "then", "time"}
    | {"timeout", "until", "while", "xargs"}
)
_SHELLS: Final = frozenset({"bash", "dash", "sh", "zsh"})
_SETTLING: Final = frozenset(
    {".", "cd", "done", "echo", "export", "fi", "for", "printf", "pwd", "set", "sleep", "source"}
)  # what may stand around a question and does nothing of its own
_DEPTH: Final = 3  # shells in shells
_CUT: Final = f"{SERVER} [...]"


class OwnCommand(NamedTuple):
    """What a command line has to do with factbook."""

    runs: bool  # it runs factbook: what it prints is no evidence
    asks: bool  # it does nothing else than ask factbook or tell it something
    rest: str  # the command line without what was asked or told


def own_command(command: str, *, depth: int = 0) -> OwnCommand:
    """Tell what of a command line runs factbook.

    A pipeline belongs together: what is piped into factbook is told to it, and what its answer is
    piped into reads the answer.
    """
    if SERVER not in command:
        return OwnCommand(runs=False, asks=False, rest=command)
    runs = asks = works = False
    rest: list[str] = []
    for pipeline, separator in _pipelines(command):
        asked = _asks(pipeline, depth)
        runs = runs or asked is not None
        asks = asks or asked is True
        works = works or asked is False or (asked is None and not _settles(pipeline))
        indent = pipeline[: len(pipeline) - len(pipeline.lstrip())]
        rest += [f"{indent}{_CUT}" if asked else pipeline, separator]
    return OwnCommand(runs=runs, asks=asks and not works, rest="".join(rest))


def _pipelines(command: str) -> Iterator[tuple[str, str]]:
    """Iterate over the pipelines of a command line, each with what parts it from the next."""
    start = at = 0
    heredoc = ""
    while token := _TOKEN.search(command, at):
        at = token.end()
        heredoc = token["heredoc"] or heredoc
        separator = token["separator"]
        if separator is None:
            continue
        if heredoc and separator == "\n":
            ends = re.compile(rf"^[ \t]*{heredoc}[ \t]*$", re.MULTILINE).search(command, at)
            heredoc, at = "", ends.end() if ends else len(command)
            yield command[start:at], ""
        else:
            yield command[start : token.start()], separator
        start = at
    if start < len(command):
        yield command[start:], ""


def _asks(pipeline: str, depth: int) -> bool | None:
    """Tell whether a pipeline asks factbook or tells it something; None where it runs another."""
    if SERVER not in pipeline:
        return None
    start = 0
    pipes = [match.span() for match in _PIPE.finditer(pipeline) if match["pipe"]]
    for end, after in [*pipes, (len(pipeline), 0)]:
        part, start = pipeline[start:end], after
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            words = part.split()
        asked = _asked_by(words, depth)
        if asked is not None:
            return asked
    return True if _INNER.search(_LITERAL.sub("''", pipeline)) else None


def _asked_by(words: list[str], depth: int) -> bool | None:
    """Tell whether a command asks factbook or tells it something; None where it runs another."""
    launched = given = False
    for number, word in enumerate(words):
        name = word.lstrip("({").rsplit("/", 1)[-1]
        if given or (launched and word.startswith("-")):
            given = word in _GIVEN and not given
        elif name == SERVER:
            return _command_of(words[number + 1 :]) not in WORKING_COMMANDS
        elif name in _SHELLS:
            inner = next((argument for argument in words[number + 1 :] if SERVER in argument), "")
            own = own_command(inner, depth=depth + 1) if depth < _DEPTH else None
            return own.rest != inner if own is not None and own.runs else None
        elif name in _LAUNCHERS:
            launched = True
        elif launched or not (name in _PREFIXES or "=" in word or _COUNT.fullmatch(word)):
            return None
    return None


def _command_of(words: list[str]) -> str:
    """Return the command that follows the name of the program and its options."""
    before = ""
    for word in words:
        if not word.startswith("-") and before != "--db":
            return word.strip(")}`;")
        before = word
    return ""


def _settles(pipeline: str) -> bool:
    words = pipeline.split(maxsplit=1)
    does_nothing = not words or words[0] in _SETTLING or "=" in words[0]
    return does_nothing and ">" not in pipeline
