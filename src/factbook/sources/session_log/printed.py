"""Find in what a script printed the result of each call, as the script says that it prints them.

    for (const r of results) text(r.output);

A program may print what looks like a result, so a part is read as one only where the script does
nothing else than call and print.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import orjson

from factbook.sources.session_log.scripts import Script, unescaped

UNTOLD: Final[Mapping[str, str]] = {"end": "untold"}  # the mark of a result that tells no end
_LIST: Final = (-1, "whole")  # what prints the results of all calls as one list
_GOES_ON: Final = [(0, "output"), (0, "process")]  # in the order in which it is printed
_NAME: Final = r"[\w$]++"
_STATEMENT: Final = re.compile(
    r'(?:const NAME = ""(?: \+ "")*'
    r"|(?:const (?P<one>NAME) = )?await @(?P<call>\d+)"
    r"|const (?P<all>NAME|\[ NAME(?: , NAME)* \]) = await Promise \. all "
    r"\( \[ (?P<calls>@\d+(?: , @\d+)*)(?: ,)? \] \)"
    r"|if \( (?P<process>NAME) \. session_id \) "
    r"text \( `[^`$\d\\]{0,40}\$\{(?P=process)\.session_id\}` \)"
    r"|(?:(?:for \( const (?P<each>NAME) of (?P<of>NAME) \)"
    r"|(?P<in>NAME) \. forEach \( (?:\( )?(?P<given>NAME)(?: , NAME)?(?: \))? =>) (?P<block>\{ )?)?"
    r"text \( (?:(?P<json>JSON \. stringify \( )?(?P<whole>NAME|await @\d+)"
    r"(?(json)(?: , null , 2)? \))"
    r"|JSON \. stringify \( \{ exit_code : (?P<picked>NAME) \. exit_code , "
    r"output : (?P=picked) \. output \} \)"
    r"|(?P<output>NAME|\( await @\d+ \)) \. output"
    r"|(?P<coded>`[^`\\$]{0,80}(?:\$\{[\w +]+\})?[^`\\$]{0,80}\\n\$\{(?P<whose>NAME)\.output\}"
    r"\\n[^`\\$\d]{0,40}\$\{(?P=whose)\.exit_code\}`)"
    r"|(?P<drawn>`(?:[^`\\]|\\.)*+`)) \)(?(block)(?: ;)? \})(?(in) \))"
    r") (?:; )?".replace("NAME", _NAME)
)
"""What a script may do that is read: name a text, call, and print. In its words the calls are
numbered. A group is called as what is printed, in which form."""
_TRUNCATED: Final = re.compile(
    r"(?:Warning: truncated output \(original token count: \d{1,12}\)\n"
    r"(?:Total output lines: \d{1,12}\n)?\n?)++"
)
_HEAD: Final = re.compile(r'\{(?:"\w+":(?:"[^"\\]*"|[-\w.]+),)*+"output":"')
_STATED: Final = re.compile(r'"(exit_code|session_id)":(\d{1,12}),')
_CUT_ESCAPE: Final = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z")
_CODE: Final = re.compile(r"\D{0,40}?(-?\d{1,10})")

Print = tuple[int, str]
"""What a `text(...)` of a script prints: the result of which call, and in which form."""


class Result(NamedTuple):
    """What is known of the result of one call."""

    text: str
    code: str = ""  # exit code
    failed: bool = False
    marks: Mapping[str, str] = {}


def of_shell(text: str, code: str = "", process: str = "") -> Result:
    """Return a result of the shell: with its exit code, the process that goes on, or neither."""
    marks = {} if code else {"process": process} if process else UNTOLD
    return Result(text, code, code not in {"", "0"}, marks)


def prints_of(script: Script) -> list[Print]:
    """Return what a script prints, in its order; nothing where that is unclear."""
    code = f"{script.code} "
    results = {f"await @{call}": call for call in range(len(script.calls))}  # by their names
    results |= {f"( {name} )": call for name, call in results.items()}
    lists: dict[str, list[int]] = {}
    prints: list[Print] = []
    at = 0
    while at < len(code):
        found = _STATEMENT.match(code, at)
        if found is None:
            return []
        at = found.end()
        form = found.lastgroup
        each = found["each"] or found["given"]
        if form == "call":
            results[found["one"]] = int(found["call"])
        elif form == "calls":
            calls = [int(call) for call in re.findall(r"\d+", found["calls"])]
            names = re.findall(_NAME, found["all"])
            if names == [found["all"]]:
                lists[names[0]] = calls
            else:
                results |= zip(names, calls, strict=False)
        elif form and each:
            if form != "drawn" and (found["whose"] or found[form]) != each:
                return []
            prints += [(call, form) for call in lists.get(found["of"] or found["in"], ())]
        elif form == "whole" and found[form] in lists:
            prints.append(_LIST)
        elif form:
            if found[form] not in results:
                return []
            prints.append((results[found[form]], form))
    return prints


def results_in(
    prints: Sequence[Print], shells: Sequence[bool], parts: Sequence[str]
) -> list[Result] | None:
    """Return the result of each call in the parts that were printed; None where they are unclear.

    `shells` says of each call whether it is one of the shell, whose result has an exit code. All
    that is printed belongs to a call that is alone.
    """
    parts, prints = [_without_warning(part) for part in parts], [*prints]
    if prints == _GOES_ON and len(parts) == len(prints):
        return [of_shell(parts[0], process=re.sub(r"\D", "", parts[1]))]
    listed = _json(parts[0]) if prints == [_LIST] and len(parts) == 1 else None
    if isinstance(listed, list):
        with suppress(orjson.JSONEncodeError):  # nested deeper than orjson writes
            parts = [orjson.dumps(one).decode() for one in listed]
            prints = [(number, "whole") for number in range(len(shells))]
    if len(parts) == len(prints) and sorted(call for call, _ in prints) == [*range(len(shells))]:
        told = sorted(zip(prints, parts, strict=True))
        return [_result(form, part, shell=shells[call]) for (call, form), part in told]
    return [_result("", "\n".join(parts), shell=shells[0])] if len(shells) == 1 else None


def _result(form: str, text: str, *, shell: bool) -> Result:
    """Return what a part says of a result; the JSON of one may be cut."""
    told: Any = _json(text) if form in {"whole", "picked"} else None
    if not shell:
        content = told.get("content") if isinstance(told, dict) else None
        if not isinstance(content, list):
            return Result(text)
        # A server has answered.
        texts = [str(part["text"]) for part in content if isinstance(part, dict) and "text" in part]
        return Result("\n".join(texts) or text, failed=told.get("isError") is True)
    head = _HEAD.match(text) if form == "whole" and told is None else None
    if head is not None:
        told = {name: int(value) for name, value in _STATED.findall(head[0])}
        rest = _CUT_ESCAPE.sub(r"\1", text[head.end() :])
        told["output"] = unescaped(rest.removesuffix("}").removesuffix('"'))
    if form == "coded":  # between a line of its own and that of the exit code
        text, _, last = text.partition("\n")[2].rpartition("\n")
        code = _CODE.fullmatch(last)
        return of_shell(text, code[1] if code else "")
    if not isinstance(told, dict) or not isinstance(told.get("output"), str):
        return of_shell(text)
    stated = {name: str(value) for name, value in told.items() if type(value) is int}
    output = _without_warning(told["output"])
    return of_shell(output, stated.get("exit_code", ""), stated.get("session_id", ""))


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _without_warning(text: str) -> str:
    """Return a text without the lines above it that say that it was cut."""
    return text[match.end() :] if (match := _TRUNCATED.match(text)) else text
