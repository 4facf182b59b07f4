"""Find in what a script printed the result of each call, as the script says that it prints them.

    for (const r of results) text(`${r.output}\nexit=${r.exit_code}`);

A program may print what looks like a result, so a part is read as one only where the script says
that it prints one. Knows: what `text(...)` prints, and how a result of the shell is written. Does
not know logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson
import re2

from factbook.sources.session_log.scripts import (
    Script,
    Token,
    Unreadable,
    text_at,
    tokens_of,
    unescaped,
)

__all__ = ["Print", "Result", "prints_of", "results_in"]

_PRINTS: Final = 50  # of a script; one with more prints lines and no results
_FORM_CHARS: Final = 200  # of what stands around a result; more is a text of its own
_COMPUTED: Final = 2  # values in a form of which nothing is known
_TRUNCATED: Final = re.compile(
    r"(?:Warning: truncated output \(original token count: \d{1,12}\)\n"
    r"(?:Total output lines: \d{1,12}\n)?\n?)++"
)
_PLACEHOLDER: Final = re.compile(r"\\[\s\S]|\$\{((?:[^`{}]|\{[^`{}]*+\})*+)\}")
_HEAD: Final = re.compile(r'\{(?:"\w+":(?:"[^"\\]*"|[-\w.]+),)*+"output":"')
_STATED: Final = re.compile(r'"(exit_code|session_id)":(\d{1,12}),')
_CUT_ESCAPE: Final = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z")
_WHOLE: Final = "${result}"
_ALL: Final = "${results}"
_OUTPUT: Final = "${output}"
_OTHER: Final = "${}"
_FILLED: Final = {
    _WHOLE: r"(?P<result>(?s:.*))",
    _OUTPUT: r"(?P<output>(?s:.*))",
    "${exit_code}": r"(?P<exit_code>-?\d{1,10}|undefined|null)",
    "${session_id}": r"(?P<session_id>\d{1,12}|undefined|null)",
    _OTHER: r".{0,200}?",
}
_IN_FORM: Final = re.compile(r"(\$\{\w*\})")


class Print(NamedTuple):
    """A `text(...)` of a script."""

    calls: tuple[int, ...]  # whose result it prints: one call's, or one after the other
    form: str  # what it prints, with `${output}` and the like in it; empty where that is unclear
    maybe: bool  # whether it may print nothing


class Result(NamedTuple):
    """What is known of the result of one call."""

    text: str
    code: str = ""  # exit code
    process: str = ""  # the number of the process that goes on
    failed: bool = False  # a server says so
    printed: bool = True  # whether the script printed any of it


class _Names(NamedTuple):
    """What stands for results in a script."""

    one: Mapping[str, tuple[int, ...]]  # names of a result, or of each in a loop
    all: Mapping[str, tuple[int, ...]]  # names of lists of results
    spans: Mapping[int, tuple[int, int]]  # number and end of a call, by the token it begins with


# --- what a script prints -------------------------------------------------------------------------


def prints_of(script: Script) -> list[Print]:
    """Return what a script prints, in the order of its text."""
    tokens = script.tokens
    places = [at for at in range(len(tokens) - 1) if _is_print(tokens, at)]
    if len(places) > _PRINTS:
        return [Print((), "", True)]
    names = _names(script)
    prints: list[Print] = []
    for at in places:
        calls, form = _form(tokens, at + 2, _closing(tokens, at + 1), names)
        looped = len(calls) > 1 and form != _ALL
        maybe = _is_conditional(tokens, at) if looped else at in script.unsure
        prints.append(Print(calls, form if len(form) <= _FORM_CHARS else "", maybe))
    return prints


def _is_print(tokens: Sequence[Token], at: int) -> bool:
    is_text = tokens[at] == ("name", "text") and tokens[at + 1].text == "("
    return is_text and text_at(tokens, at - 1) not in {".", "?."}


def _is_conditional(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a condition stands between the head of a loop and what is printed in it."""
    while at > 0 and tokens[at].text not in {"of", "forEach", "map"}:
        at -= 1
        if tokens[at].text in {"if", "?", "&&", "||"}:
            return True
    return False


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Return where the bracket that opens there closes."""
    depth = 0
    for end in range(at, len(tokens)):
        depth += (tokens[end].text in {"(", "[", "{"}) - (tokens[end].text in {")", "]", "}"})
        if not depth:
            return end
    return len(tokens)


def _names(script: Script) -> _Names:
    """Find `const r = await`, `const [a, b] = await Promise.all([...])` and the heads of loops."""
    tokens = script.tokens
    spans = {call.start: (number, call.end) for number, call in enumerate(script.calls)}
    one: dict[str, tuple[int, ...]] = {}
    every: dict[str, tuple[int, ...]] = {}
    opened = 0
    for at, (_, word) in enumerate(tokens):
        if word == "[":
            opened = at
        elif word == "await" and text_at(tokens, at - 1) == "=":
            numbers = tuple(_awaited(tokens, at + 1, spans))
            name = text_at(tokens, at - 2)
            if name == "]":
                listed = [part.text for part in tokens[opened + 1 : at - 2] if part.text != ","]
                one |= {name: (n,) for name, n in zip(listed, numbers, strict=False)}
            else:
                (one if at + 1 in spans else every)[name] = numbers
        elif word == "of" and text_at(tokens, at + 1) in every:
            one[text_at(tokens, at - 1)] = every[text_at(tokens, at + 1)]
        elif word in {"forEach", "map"} and text_at(tokens, at - 2) in every:
            given = at + 2 + (text_at(tokens, at + 2) == "(")
            one[text_at(tokens, given)] = every[text_at(tokens, at - 2)]
    return _Names(one, every, spans)


def _awaited(
    tokens: Sequence[Token], at: int, spans: Mapping[int, tuple[int, int]]
) -> Iterator[int]:
    """Iterate over the calls that are awaited there: one, or those of a `Promise.all`."""
    if text_at(tokens, at) == "Promise":
        at += 5  # Promise . all ( [
    while at in spans:
        number, end = spans[at]
        yield number
        at = end + (text_at(tokens, end) == ",")


def _form(
    tokens: Sequence[Token], start: int, end: int, names: _Names
) -> tuple[tuple[int, ...], str]:
    """Return whose results are printed there, and in what form; (), "" where that is unclear."""
    parts: list[tuple[tuple[int, ...], str]] = []
    depth, begin = 0, start
    for at in range(start, end + 1):
        word = text_at(tokens, at)
        depth += (word in {"(", "[", "{"}) - (word in {")", "]", "}"}) if at < end else 0
        if at == end or (word == "+" and not depth):
            parts.append(_part(tokens, begin, at, names))
            begin = at + 1
    return _joined(parts)


def _joined(parts: Sequence[tuple[tuple[int, ...], str]]) -> tuple[tuple[int, ...], str]:
    whose = {calls for calls, _ in parts if calls}
    form = "".join(form for _, form in parts)
    filled = [each for each in _IN_FORM.findall(form) if each != _OTHER]
    if len(whose) > 1 or not all(form for _, form in parts) or len(filled) != len({*filled}):
        return (), ""
    if form.count(_OTHER) > _COMPUTED or (form != _ALL and _ALL in form) or not (filled or whose):
        return ((), form) if not whose and _OTHER not in form else ((), "")
    return next(iter(whose), ()), form


def _part(
    tokens: Sequence[Token], start: int, end: int, names: _Names
) -> tuple[tuple[int, ...], str]:
    """Return the form of what is printed between two `+`."""
    if end - start == 1 and tokens[start].kind in {"string", "template"}:
        return _template(tokens[start].text[1:-1], names, filled=tokens[start].kind == "template")
    whose: set[tuple[int, ...]] = set()
    words: list[str] = []
    lists = False
    at = start
    while at < end:
        word = tokens[at].text
        if at in names.spans:
            number, at = names.spans[at]
            whose.add((number,))
            words.append("tools")
            continue
        if text_at(tokens, at - 1) not in {".", "?."} and text_at(tokens, at + 1) != ":":
            lists = lists or word in names.all
            calls = names.one.get(word) or names.all.get(word)
            if calls:
                whose.add(calls)
        if word not in {"await", "(", ")"}:
            words.append(word)
        at += 1
    if len(whose) > 1:
        return (), ""
    if lists:
        return next(iter(whose), ()), _ALL
    return next(iter(whose), ()), _kind(words) if whose else _OTHER


def _kind(words: Sequence[str]) -> str:
    """Return which part of a result is printed."""
    if len(words) == 1 or words[:3] == ["JSON", ".", "stringify"]:
        return _WHOLE
    if len(words) > 2 and words[2] == "output":
        return _OUTPUT
    stated = f"${{{words[2]}}}" if len(words) == 3 else ""
    return stated if stated in _FILLED else _OTHER


def _template(inner: str, names: _Names, *, filled: bool) -> tuple[tuple[int, ...], str]:
    """Return the form of a literal; one in quotes has nothing that is `filled` in."""
    if not filled:
        literal = unescaped(inner)
        return (), "" if "${" in literal else literal
    parts: list[tuple[tuple[int, ...], str]] = []
    at = 0
    for match in _PLACEHOLDER.finditer(inner):
        if match[1] is None:
            continue
        parts.append(((), unescaped(inner[at : match.start()])))
        at = match.end()
        try:
            tokens = tokens_of(match[1])
        except Unreadable:
            return (), ""
        parts.append(_part(tokens, 0, len(tokens), names._replace(spans={})))
    parts.append(((), unescaped(inner[at:])))
    if any("${" in form for _, form in parts[::2]):
        return (), ""
    whose = {calls for calls, _ in parts if calls}
    if len(whose) > 1 or not all(form for _, form in parts[1::2]):
        return (), ""
    return next(iter(whose), ()), "".join(form for _, form in parts)


# --- what it printed ------------------------------------------------------------------------------


def results_in(
    prints: Sequence[Print], shells: Sequence[bool], parts: Sequence[str]
) -> list[Result] | None:
    """Return the result of each call in the parts that were printed; None where they are unclear.

    `shells` says of each call whether it is one of the shell, whose result has an exit code. All
    that is printed belongs to a call that is alone.
    """
    aligned = _aligned(prints, parts, alone=len(shells) == 1)
    if len(shells) == 1:
        if aligned is None:
            return [Result("\n".join(_without_warning(part) for part in parts))]
        aligned = [(number, form, part) for number, form, part in aligned if number >= 0]
        if not aligned and parts:
            return [Result("\n".join(parts))]
    elif aligned is None or not any(number >= 0 for number, _, _ in aligned):
        return None
    results: list[Result] = []
    for number, shell in enumerate(shells):
        told = [_told(form, part, shell) for call, form, part in aligned if call == number]
        results.append(_together(told))
    return results


def _together(told: Sequence[Result]) -> Result:
    """Return what several prints tell of one call."""
    return Result(
        "\n".join(one.text for one in told if one.text),
        next((one.code for one in told if one.code), ""),
        next((one.process for one in told if one.process), ""),
        any(one.failed for one in told),
        bool(told),
    )


def _aligned(
    prints: Sequence[Print], parts: Sequence[str], *, alone: bool
) -> list[tuple[int, str, str]] | None:
    """Return (call, form, part) of each part; None where it is unclear what printed which.

    A call of -1 is none: what is printed there is no result. A call that is alone
    may have put out nothing.
    """
    if sum(len(each.calls) > 1 for each in prints) > 1 or not all(each.form for each in prints):
        return None
    wanted: list[tuple[int, str, bool]] = []
    for calls, form, maybe in prints:
        if form == _ALL:
            if len(prints) > 1 or len(parts) != 1:
                return None
            return _listed(calls, parts[0])
        wanted += [(call, form, maybe) for call in calls or (-1,)]
    left = [*parts]
    found: list[tuple[int, str, str]] = []
    # From the end on, where what may not have been printed stands.
    for call, form, maybe in reversed(wanted):
        if maybe and form in _FILLED:
            return None
        if left and _match(form, _without_warning(left[-1])) is not None:
            found.append((call, form, left.pop()))
        elif not maybe and not (alone and form == _OUTPUT):
            return None
    return None if left else found[::-1]


def _listed(calls: Sequence[int], part: str) -> list[tuple[int, str, str]] | None:
    """Return the results of a list that was printed as JSON."""
    try:
        listed = orjson.loads(_without_warning(part))
    except orjson.JSONDecodeError:
        return None
    if not isinstance(listed, list) or len(listed) != len(calls):
        return None
    texts = [one if isinstance(one, str) else orjson.dumps(one).decode() for one in listed]
    return [(call, _WHOLE, text) for call, text in zip(calls, texts, strict=True)]


def _told(form: str, part: str, shell: bool) -> Result:
    """Return what a part says, which the form fits."""
    part = _without_warning(part)
    found = _match(form, part) or {}
    if not shell:
        return _of_server(found["result"]) if found.get("result") else Result(part)
    if found.get("result") is not None:
        return _read(found["result"] or "")
    code, process = found.get("exit_code") or "", found.get("session_id") or ""
    return Result(
        _without_warning(found.get("output") or ""),
        code if code.lstrip("-").isdigit() else "",
        process if process.isdigit() else "",
    )


def _of_server(text: str | None) -> Result:
    """Return what a result of an MCP server says; of any other tool, the text as it is."""
    text = text or ""
    try:
        told: Any = orjson.loads(text) if text.startswith("{") else None
    except orjson.JSONDecodeError:
        told = None
    content = told.get("content") if isinstance(told, dict) else None
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return Result(text)
    texts = [str(part.get("text") or f"[{part.get('type')}]") for part in content]
    structured = told.get("structuredContent")
    if structured and not _repeats(texts, structured):
        texts.append(orjson.dumps(structured).decode())
    return Result("\n".join(texts), failed=told.get("isError") is True)


def _repeats(texts: Sequence[str], structured: object) -> bool:
    """Tell whether a text of a result is what it states beside its texts, as JSON."""
    try:
        return any(orjson.loads(text) == structured for text in texts if text.startswith("{"))
    except orjson.JSONDecodeError:
        return False


def _read(text: str) -> Result:
    """Return what a result of the shell says that was printed as JSON, also where that is cut."""
    try:
        told: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        head = _HEAD.match(text)
        if head is None:
            return Result(text)
        told = {name: int(value) for name, value in _STATED.findall(head[0])}
        rest = _CUT_ESCAPE.sub(r"\1", text[head.end() :])
        told["output"] = unescaped(rest.removesuffix("}").removesuffix('"'))
    if isinstance(told, str):
        return Result(told)
    if not isinstance(told, dict):
        return Result(text)
    output, code, process = (told.get(name) for name in ("output", "exit_code", "session_id"))
    return Result(
        _without_warning(output) if isinstance(output, str) else text,
        str(code) if type(code) is int else "",
        str(process) if type(process) is int else "",
    )


def _without_warning(text: str) -> str:
    """Return a text without the lines above it that say that it was cut."""
    match = _TRUNCATED.match(text)
    return text[match.end() :] if match else text


def _match(form: str, part: str) -> dict[str, str | None] | None:
    """Return what is filled into a form, or None where the part has not that form."""
    match = _pattern(form).fullmatch(part.encode("utf-8", "replace"))
    if match is None:
        return None
    filled: dict[bytes, bytes | None] = match.groupdict()
    return {
        name.decode(): None if value is None else value.decode("utf-8", "replace")
        for name, value in filled.items()
    }


@lru_cache(maxsize=64)
def _pattern(form: str) -> Any:
    """Return a form as a pattern; RE2's time is linear whatever is computed in it."""
    pieces = [_FILLED.get(piece) or re2.escape(piece) for piece in _IN_FORM.split(form)]
    return re2.compile("".join(pieces).encode())
