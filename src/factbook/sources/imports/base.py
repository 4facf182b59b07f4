"""What all chats have in common: a conversation, its messages, and the blocks they are made of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from factbook.model.facts import Millis, Role
from factbook.sources.session_log.text import ident, kind_name, millis

_DEPTH: Final = 16  # blocks inside blocks; real ones have three levels
_DIGITS: Final = re.compile(r"\d{9,19}(?:\.\d{1,9})?")  # an epoch that was written as a text
_MICROSECONDS_FROM: Final = 1e14  # a larger number counts microseconds,
_NANOSECONDS_FROM: Final = 1e17  # and a still larger one nanoseconds

_ROLES: Final[Mapping[str, Role]] = {
    **dict.fromkeys(("user", "human", "prompter", "customer"), Role.USER),
    **dict.fromkeys(
        ("assistant", "ai", "bot", "chatbot", "gpt", "chatgpt", "claude", "gemini", "model"),
        Role.ASSISTANT,
    ),
    **dict.fromkeys(("function_call", "tool_call"), Role.ASSISTANT),
    **dict.fromkeys(
        ("tool", "function", "function_response", "tool_response", "tool_result", "observation"),
        Role.TOOL,
    ),
    **dict.fromkeys(("system", "developer"), Role.SYSTEM),
}

_THOUGHTS: Final = frozenset(
    {"reasoning", "reasoning_recap", "redacted_thinking", "thinking", "thoughts"}
)  # what a model says to itself is not said to anybody
_CALLS: Final = frozenset({"function_call", "mcp_tool_use", "server_tool_use", "tool_use"})
_MEDIA: Final = ("image", "audio", "video", "file", "document")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCall:
    """A tool call inside a message."""

    name: str
    given: object  # its input, as the file has it
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Text that is nobody's word: what a tool gave back, or a file that was handed over."""

    name: str  # of the tool or the file
    text: str
    call_id: str = ""
    kind: str = "tool result"  # as the account of records names it


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentParts:
    """What the blocks of a content amount to."""

    text: str = ""
    calls: tuple[ImportedCall, ...] = ()
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation, as it was written down: not redacted, not cut."""

    raw: object  # the record itself
    role: Role | None  # None where the file names a role that nobody knows
    role_name: str = ""  # as the file names it
    said: ContentParts = field(default_factory=ContentParts)
    id: str = ""  # its own id, empty without one
    at: object = None  # its time, as the file has it
    name: str = ""  # who says it, or which tool answers
    call_id: str = ""  # the call that a tool answers
    session: str = ""  # the conversation that it names itself
    owner: str = ""  # whom it is about, where the file says
    skip: str = ""  # why it is left out on purpose, as the account of records names it


@dataclass(frozen=True, slots=True, kw_only=True)
class BadMessage:
    """A message that lacks a required part."""

    raw: object
    detail: str  # what is missing, without a word of the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation that one record holds."""

    host: str
    id: str  # empty without one
    messages: Sequence[Message | BadMessage]  # in the order in which they were said
    title: str = ""
    at: object = None  # when it began, as the file has it
    owner: str = ""


Fields: TypeAlias = Mapping[str, object]


def role_of(value: object) -> Role | None:
    """Return the role that a word stands for, or None where it is no such word."""
    return _ROLES.get(value.strip().lower()) if isinstance(value, str) else None


def first(record: Fields, names: Sequence[str]) -> object:
    """Return the first of the named values that is not missing, or None."""
    for name in names:
        value = record.get(name)
        if value is not None:
            return value
    return None


def id_of(record: Fields, names: Sequence[str]) -> str:
    """Return the first of the named values that is an id; of an object its own id."""
    for name in names:
        value = record.get(name)
        if isinstance(value, Mapping):
            value = first(value, ("id", "uuid", "name"))
        id_ = ident(value).strip()
        if id_:
            return id_
    return ""


def name_of(value: object) -> str:
    """Return a name on one line, or an empty string where it is none."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def moment(value: object) -> Millis | None:
    """Return a time in milliseconds, or None where it is none that can be used.

    Takes what `session_log.text.millis` takes, numbers that were written as texts, and epochs in
    microseconds and nanoseconds.
    """
    if isinstance(value, str):
        value = value.strip()
        if not _DIGITS.fullmatch(value):
            return millis(value)
        value = float(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if _NANOSECONDS_FROM <= value < _NANOSECONDS_FROM * 100:
            return round(value / 1e6)
        if _MICROSECONDS_FROM <= value < _NANOSECONDS_FROM:
            return round(value / 1e3)
    return millis(value)


def read_blocks(content: object) -> ContentParts:
    """Return what a content says: a text, a block, or a list of either."""
    texts: list[str] = []
    calls: list[ImportedCall] = []
    results: list[Result] = []
    _walk(content, texts, calls, results, depth=0)
    return ContentParts(text="\n".join(texts), calls=tuple(calls), results=tuple(results))


def _walk(
    block: object, texts: list[str], calls: list[ImportedCall], results: list[Result], *, depth: int
) -> None:
    if isinstance(block, str):
        if block:
            texts.append(block)
    elif depth >= _DEPTH:
        return
    elif isinstance(block, list):
        for part in block:
            _walk(part, texts, calls, results, depth=depth + 1)
    elif isinstance(block, Mapping):
        kind = first(block, ("type", "content_type"))
        kind = kind if isinstance(kind, str) else ""
        if kind in _THOUGHTS:
            return
        if kind in _CALLS:
            calls.append(_call(block))
        elif kind.endswith(("tool_result", "function_call_output")):
            results.append(
                Result(
                    name=name_of(block.get("name")),
                    text=read_blocks(first(block, ("content", "output"))).text,
                    call_id=id_of(block, ("tool_use_id", "call_id")),
                )
            )
        elif (text := _text(block)) is not None:
            texts.append(text)
        elif isinstance(block.get("parts"), list):  # Gemini's form
            _walk(block["parts"], texts, calls, results, depth=depth + 1)
        elif (mark := _mark(kind, block)) and not (mark == "[audio]" and texts):
            texts.append(mark)  # the words of a recording stand before it


def _call(block: Fields) -> ImportedCall:
    return ImportedCall(
        name=name_of(block.get("name")),
        given=first(block, ("input", "arguments")),
        id=id_of(block, ("call_id", "id")),
    )


def _text(block: Fields) -> str | None:
    for name in ("text", "refusal", "transcript"):
        value = block.get(name)
        if isinstance(value, Mapping):  # the form of the Assistants API
            value = value.get("value")
        if isinstance(value, str):
            return value
    return None


def _mark(kind: str, block: Fields) -> str:
    """Return what stands for a block that has no words: `[image]`, `[file: plan.pdf]`."""
    for medium in _MEDIA:
        if medium in kind or any(key in block for key in (medium, f"{medium}_url", f"{medium}_id")):
            inner = block.get(medium)
            named = id_of(block, ("file_name", "filename", "name", "title"))
            if not named and isinstance(inner, Mapping):
                named = id_of(inner, ("file_name", "filename", "name"))
            return f"[{medium}: {named}]" if named else f"[{medium}]"
    return f"[{kind_name(kind)}]" if kind else ""
