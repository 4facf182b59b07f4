"""Read a user's rule file (docs/rules.md), and add a rule to it.

Every refusal names the file, the line, the reason and what to do. Patterns run through RE2, whose
time is linear in the text, so no rule can stall an ingest.
"""

from __future__ import annotations

import difflib
import os
import re
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias, cast

from factbook.errors import FactbookError, RuleError
from factbook.extract.base import SUBJECTS, TEXT_KINDS, Rule, parse_place, parse_template
from factbook.extract.rules import compile_linear
from factbook.extract.session_parser import RULES, SEED_STRICT

MAX_FILE_BYTES: Final = 256 * 1024
MAX_RULES: Final = 200
MAX_PATTERN_CHARS: Final = 1_000
MAX_KEYWORDS: Final = 500
MAX_WORD_CHARS: Final = 60
MAX_STATEMENT_CHARS: Final = 300

RESERVED_PREDICATES: Final = frozenset(
    {"used_tool", "executed_command", "requested_in_session"}  # they mirror the log one to one
    | {"states", "about", "user_fact", "user_pattern", "shared_narrative"}  # other kinds of facts
    | {"rule", "decision"}
)

_BUILT_IN: Final = {rule.name: rule for rule in (*RULES, SEED_STRICT)}
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}(?:\.[a-z0-9_]{1,63})?")
_PREDICATE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_SHORT_PLACES: Final = {"command": "field command"} | {
    kind: f"text of {kind}" for kind in TEXT_KINDS if kind != "call"
}
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "name": (str,),
    "predicate": (str,),
    "confidence": (int, float),
    "looks_in": (str,),
    "pattern": (str,),
    "subject": (str,),
    "statement": (str,),
    "method": (str,),
    "ignored": (list,),
    "cues": (list,),
    "embed": (bool,),
}
_REQUIRED: Final = ("name", "confidence", "looks_in", "pattern", "subject")
_SECTIONS: Final = ("rule", "keywords", "enable", "disable")


def load_user_rules(path: Path) -> list[Rule]:
    """Read a rule file and return its rules, for `RuleSet.default(user=...)`.

    Rules of the table that the file changes (`[keywords]`, `[enable]`, `[disable]`) are among them,
    under their own names, to take the place of the original. Raises RuleError with the file, the
    line and the reason for anything that is not as docs/rules.md says; nothing is used then.
    """
    return rules_of(_read(path), path)


def rules_of(text: str, path: Path) -> list[Rule]:
    """Return the rules of a text as `load_user_rules` does; `path` is what errors name."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        number = int(line[1]) if line else text.count("\n") + 1
        raise RuleError(path=path, line=number, reason=f"this is not TOML: {error}") from error
    except RecursionError as error:
        raise RuleError(path=path, line=1, reason="brackets are nested too deeply") from error
    return _File(path, text).rules(data)


def append_rule(path: Path, toml: str) -> None:
    """Append the TOML of a rule to a file, making the file and its folder where there are none.

    Doing it twice does it once. Raises RuleError where the file as it is, or with the rule, is not
    as docs/rules.md says; it is left untouched then.
    """
    real = path.resolve()  # a link to a file elsewhere stays one
    addition = toml.strip() + "\n"
    try:
        before = real.read_text(encoding="utf-8-sig") if real.exists() else ""
        if addition in before:
            return
        real.parent.mkdir(parents=True, exist_ok=True)
        mode = real.stat().st_mode & 0o777 if real.exists() else 0o644
        lead = before.rstrip("\n") + "\n\n" if before.strip() else before
        handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}-", suffix=".new")
        fresh = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(lead + addition)
                file.flush()
                os.fsync(file.fileno())
            fresh.chmod(mode)
            load_user_rules(fresh)
            fresh.replace(real)
        finally:
            fresh.unlink(missing_ok=True)
    except RuleError as error:
        line, reason = cast("int", error.details["line"]), str(error.details["reason"])
        raise RuleError(path=path, line=line, reason=reason) from error
    except UnicodeDecodeError as error:
        raise RuleError(path=path, line=0, reason="this is not UTF-8; save it as such") from error
    except OSError as error:
        raise FactbookError(
            detail=f"{path} cannot be written ({error.strerror}); nothing was decided, make it"
            " writable or name another file with --rules"
        ) from error


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        reason = f"the file cannot be read ({error.strerror or error}); check its name"
        raise RuleError(path=path, line=0, reason=reason) from error
    if len(data) > MAX_FILE_BYTES:
        reason = f"the file is larger than {MAX_FILE_BYTES:,} bytes; split or shorten it"
        raise RuleError(path=path, line=0, reason=reason)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = "this is not UTF-8; save it as such"
        raise RuleError(path=path, line=line, reason=reason) from error


_Refuse: TypeAlias = Callable[[str, str], NoReturn]
"""Refuse a rule: the key that is wrong, and the reason."""


class _File:
    """One rule file while it is checked."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = _Lines(text)

    def rules(self, data: Mapping[str, Any]) -> list[Rule]:
        """Return what the file says, or refuse it."""
        for section in data:
            if section not in _SECTIONS:
                self._refuse_key(section, _SECTIONS, where="the file", header="")
        tables = data.get("rule", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            self._refuse("rule", 0, "", "`rule` is not a list of tables; write [[rule]]")
        if len(tables) > MAX_RULES:
            self._refuse("rule", MAX_RULES, "", f"there are more than {MAX_RULES} rules")
        rules: dict[str, Rule] = {}
        for index, table in enumerate(tables):
            rule = self._rule(index, table)
            if rule.name in rules:
                reason = f"the name {rule.name!r} is used twice; give this rule another one"
                self._refuse("rule", index, "name", reason)
            rules[rule.name] = rule
        changed: dict[str, Rule] = {}
        self._keywords(data.get("keywords", {}), changed)
        on = self._switched("enable", data.get("enable", {}), rules)
        off = self._switched("disable", data.get("disable", {}), rules)
        for name in on:
            if name in off:
                reason = f"{name} is both enabled and disabled; leave one of the two out"
                self._refuse("disable", 0, "rules", reason)
        for name in (*on, *off):
            changed[name] = replace(changed.get(name, _BUILT_IN[name]), enabled=name in on)
        return [*changed.values(), *rules.values()]

    def _rule(self, index: int, table: Mapping[str, Any]) -> Rule:
        def refuse(key: str, reason: str) -> NoReturn:
            self._refuse("rule", index, key, reason)

        for key, value in table.items():
            if key not in _TYPES:
                self._refuse_key(key, tuple(_TYPES), where="a rule", header="rule", index=index)
            if not isinstance(value, _TYPES[key]) or (
                isinstance(value, bool) and bool not in _TYPES[key]
            ):
                refuse(key, f"{key} is {_shown(value)}, not {_kind_words(_TYPES[key])}")
        for key in _REQUIRED:
            if key not in table:
                refuse("", f"the rule has no {key}; add `{key} = ...`")
        name, pattern, subject = table["name"], table["pattern"], table["subject"]
        self._check_name(name, refuse)
        predicate = table.get("predicate", name.partition(".")[0])
        self._check_predicate(predicate, "predicate" if "predicate" in table else "name", refuse)
        confidence = float(table["confidence"])
        if not 0.0 < confidence <= 1.0:
            refuse("confidence", f"confidence is {confidence:g}; give a number above 0 and up to 1")
        if subject not in SUBJECTS:
            refuse("subject", f"subject is {_shown(subject)}; give one of {', '.join(SUBJECTS)}")
        looks_in = _SHORT_PLACES.get(table["looks_in"], table["looks_in"])
        if parse_place(looks_in) is None:
            refuse(
                "looks_in",
                f"looks_in is {_shown(looks_in)}; give {', '.join(_SHORT_PLACES)}, `tool name`, "
                "`field NAME`, `attribute NAME`, or one of these with ` of A|B`",
            )
        names = self._check_pattern(pattern, refuse)
        statement = table.get("statement", predicate.replace("_", " ") + " {object}")
        self._check_statement(statement, names, refuse)
        return Rule(
            name=name,
            predicate=predicate,
            confidence=confidence,
            method=table.get("method") or f"Regex `{pattern}` on {looks_in}",
            subject=subject,
            looks_in=looks_in,
            statement=statement,
            pattern=pattern,
            ignored=self._words(table.get("ignored", []), "ignored", refuse),
            cues=self._words(table.get("cues", []), "cues", refuse),
            embed=table.get("embed", False),
            linear=True,
        )

    def _check_name(self, name: str, refuse: _Refuse) -> None:
        if not _NAME.fullmatch(name):
            refuse(
                "name",
                f"the name {_shown(name)} is not a lower-case word; use letters, digits, _ and "
                "one dot at most, as in `deploys_to.fly`",
            )
        if name in _BUILT_IN:
            refuse(
                "name",
                f"{name} is a rule of factbook itself; choose another name (`[disable]` switches "
                "the built-in one off)",
            )

    def _check_predicate(self, predicate: str, key: str, refuse: _Refuse) -> None:
        if not _PREDICATE.fullmatch(predicate):
            refuse(
                key,
                f"the predicate {_shown(predicate)} is not a lower-case word; use letters, digits "
                "and _",
            )
        if predicate in RESERVED_PREDICATES:
            refuse(
                key,
                f"the predicate {predicate} is reserved for facts that no pattern may state; "
                "choose another one",
            )

    def _check_pattern(self, pattern: str, refuse: _Refuse) -> frozenset[str]:
        if not pattern or len(pattern) > MAX_PATTERN_CHARS:
            refuse(
                "pattern",
                f"the pattern has {len(pattern):,} characters; give 1 to {MAX_PATTERN_CHARS:,}",
            )
        try:
            compiled = compile_linear(pattern)
        except ValueError as error:
            refuse(
                "pattern",
                f"RE2 refuses the pattern: {error}; it knows no lookaround and no backreferences",
            )
        names = frozenset(compiled.groupindex)
        if "object" not in names:
            refuse("pattern", "the pattern captures no object; mark it with (?P<object>...)")
        return names

    def _check_statement(self, statement: str, names: frozenset[str], refuse: _Refuse) -> None:
        if not statement.strip() or len(statement) > MAX_STATEMENT_CHARS:
            refuse(
                "statement",
                f"the statement has {len(statement):,} characters; give 1 to "
                f"{MAX_STATEMENT_CHARS:,}",
            )
        try:
            parts = parse_template(statement)
        except ValueError as error:
            refuse(
                "statement",
                f"the statement cannot be filled in ({error}); use {{object}} and {{tool}}, and "
                "double the brace where you mean one",
            )
        for _, name in parts:
            if name and name not in names | {"object", "tool"}:
                refuse(
                    "statement",
                    f"the statement names {{{name}}}, which the pattern does not capture; use "
                    f"{', '.join(sorted(names | {'tool'}))}",
                )

    def _words(self, values: Sequence[Any], key: str, refuse: _Refuse) -> tuple[str, ...]:
        reason = _bad_words(values)
        if reason:
            refuse(key, f"{key} {reason}")
        return tuple(dict.fromkeys(word.strip() for word in values))

    def _keywords(self, table: Any, changed: dict[str, Rule]) -> None:
        if not isinstance(table, dict):
            self._refuse("keywords", 0, "", "`keywords` is not a table; write [keywords]")
        takes = {name: rule for name, rule in _BUILT_IN.items() if rule.keywords}
        for name, values in _flat(table).items():
            if name not in takes:
                self._refuse_key(name, tuple(takes), where="[keywords]", header="keywords")
            reason = _bad_words(values)
            if reason or not values:
                self._refuse("keywords", 0, name, f"{name} {reason or 'is empty; name a word'}")
            words: dict[str, None] = {}
            for value in values:
                more = takes[name].keywords if value == "..." else (value.strip(),)
                words.update(dict.fromkeys(more))
            # The hints were chosen for the built-in words and would hide the new ones.
            changed[name] = replace(takes[name], keywords=tuple(words), hints=())

    def _switched(self, section: str, table: Any, own: Mapping[str, Rule]) -> list[str]:
        """Return the names that [enable] or [disable] lists, all of them rules of the table."""
        if not isinstance(table, dict):
            self._refuse(section, 0, "", f"`{section}` is not a table; write [{section}]")
        for key in table:
            if key != "rules":
                self._refuse_key(key, ("rules",), where=f"[{section}]", header=section)
        names: list[str] = table.get("rules", [])
        reason = _bad_words(names)
        if reason:
            self._refuse(section, 0, "rules", f"rules {reason}")
        for name in names:
            if name in own:
                reason = f"{name} is a rule of this file; delete it, or leave it as it is"
                self._refuse(section, 0, "rules", reason)
            if name not in _BUILT_IN:
                hint = _nearest(name, tuple(_BUILT_IN)) or "; `factbook predicates` lists them"
                self._refuse(section, 0, "rules", f"there is no rule {_shown(name)}{hint}")
        return names

    def _refuse_key(
        self, key: str, known: Sequence[str], *, where: str, header: str, index: int = 0
    ) -> NoReturn:
        hint = _nearest(key, known) or f"; known are {', '.join(known)}"
        self._refuse(header, index, key, f"{where} has no key {_shown(key)}{hint}")

    def _refuse(self, header: str, index: int, key: str, reason: str) -> NoReturn:
        line = self._lines.number(header, index, key)
        raise RuleError(path=self._path, line=line, reason=reason)


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Join `a.b = [...]` again, which TOML reads as a table in a table."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            flat.update({f"{name}.{part}": inner for part, inner in value.items()})
        else:
            flat[name] = value
    return flat


def _bad_words(values: Any) -> str:
    """Say what is wrong with a list of words; empty where nothing is."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return f'is {_shown(values)}, not a list of words such as ["nas", "raspberry pi"]'
    if len(values) > MAX_KEYWORDS:
        return f"has {len(values):,} entries; give {MAX_KEYWORDS:,} at most"
    for value in values:
        if not value.strip() or len(value) > MAX_WORD_CHARS:
            return f"holds {_shown(value)}; give words of 1 to {MAX_WORD_CHARS} characters"
    return ""


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _kind_words(types: tuple[type, ...]) -> str:
    if bool in types:
        return "true or false"
    if list in types:
        return "a list of words"
    return "a number" if float in types else "a text in quotes"


class _Lines:
    """Finds the line of a key: `tomllib` gives values without their places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places: dict[tuple[str, int, str], int] = {}
        counts: dict[str, int] = {}
        header, index = "", 0
        inside = ""  # the quotes of a text over several lines
        for number, line in enumerate(text.splitlines(), start=1):
            if inside:
                inside = "" if line.count(inside) % 2 else inside
                continue
            head = re.match(r"\s*(\[\[?)\s*([\w\"'.-]+?)\s*\]\]?", line)
            key = re.match(r"\s*([\w.-]+|\"[^\"]*\"|'[^']*')\s*=", line)
            if head:
                header = head[2].strip("\"'")
                index = counts.get(header, -1) + 1 if head[1] == "[[" else 0
                counts[header] = index
                self._places.setdefault((header, index, ""), number)
            elif key:
                name = key[1].strip("\"'")
                self._places.setdefault((header, index, name), number)
            for quotes in ('"""', "'''"):
                if line.count(quotes) % 2:
                    inside = quotes

    def number(self, header: str, index: int, key: str) -> int:
        """Return the line of a key, else of its table, else of the table's own key, else 1."""
        of_table = ((header, index, key), (header, index, ""))
        wanted = (*of_table, ("", 0, key), ("", 0, header), (key, 0, ""))
        return next((self._places[place] for place in wanted if place in self._places), 1)
