"""Where the rules and decisions of an owner hold: a project, a language, everywhere.

Imports the standard library alone: hooks load this file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Final

PROJECT: Final = "project"
LANGUAGE: Final = "language"
EVERYWHERE: Final = "everywhere"
DECISION: Final = "decision"
PREDICATES: Final = ("rule", DECISION)
OFFERED: Final = "offered"  # the rule of evidence that a choice has its words from

LANGUAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Ada": ".adb .ads",
        "Bash": ".sh .bash",
        "C": ".c .h",
        "C#": ".cs",
        "C++": ".cc .cpp .cxx .h .hpp",
        "Clojure": ".clj .cljs",
        "COBOL": ".cbl .cob",
        "CSS": ".css .less .scss",
        "Dart": ".dart",
        "Elixir": ".ex .exs",
        "Elm": ".elm",
        "Erlang": ".erl .hrl",
        "F#": ".fs .fsx",
        "Fortran": ".f .f03 .f90",
        "Go": ".go",
        "Groovy": ".gradle .groovy",
        "Haskell": ".hs",
        "HTML": ".htm .html",
        "Java": ".java",
        "JavaScript": ".cjs .js .jsx .mjs",
        "Julia": ".jl",
        "Kotlin": ".kt .kts",
        "LaTeX": ".tex",
        "Lua": ".lua",
        "MATLAB": ".m",
        "Nim": ".nim",
        "Objective-C": ".m .mm",
        "OCaml": ".ml .mli",
        "Pascal": ".pas",
        "Perl": ".pl .pm",
        "PHP": ".php",
        "PowerShell": ".ps1",
        "Prolog": ".pl",
        "Python": ".ipynb .py .pyi",
        "R": ".r .rmd",
        "Ruby": ".rb",
        "Rust": ".rs",
        "Scala": ".scala",
        "Shell": ".bash .sh",
        "Solidity": ".sol",
        "SQL": ".sql",
        "Swift": ".swift",
        "Terraform": ".tf",
        "TypeScript": ".ts .tsx",
        "VHDL": ".vhd .vhdl",
        "Verilog": ".sv .v",
        "Zig": ".zig",
    }
)
"""Languages and what the names of their files end with."""

_WORDS: Final = frozenset({"ada", "bash", "c", "dart", "elm", "go", "julia", "pascal", "r", "rust"})
"""Names that are words, or none, where they are not written as names."""
_NAMES: Final[Mapping[str, str]] = MappingProxyType({name.lower(): name for name in LANGUAGES})
_TERM: Final = re.compile(r"(?<![\w./-])[A-Za-z][\w-]*(?:\+\+|#)?(?![\w/]|\.\w)")


def language_named(text: str) -> str:
    """Return the language that a text names first, as `LANGUAGES` has it; empty for none."""
    for term in _TERM.findall(text):
        name = _NAMES.get(term.lower(), "")
        if name and (term == name or term.lower() not in _WORDS):
            return name
    return ""


def subject_of(scope: str, project: str, said: str) -> str:
    """Return the subject of a rule: what it binds, so that those of two projects never meet.

    `project` is the folder that it was said in, empty where none is known. What is of a language
    that it does not name is of the project.
    """
    if scope == EVERYWHERE:
        return EVERYWHERE
    language = language_named(said) if scope == LANGUAGE else ""
    return f"{LANGUAGE}:{language}" if language else f"{PROJECT}:{project}"


def scope_of(subject: str) -> tuple[str, str]:
    """Return (the scope, the project's folder or the language) of a subject."""
    scope, _, of = subject.partition(":")
    return scope, of


def holds_in(subject: str, project: str, languages: Callable[[], Collection[str]]) -> bool:
    """Tell whether a rule of a subject holds in a project's folder.

    `languages` names those of the project; it is asked for a rule of a language alone.
    """
    scope, of = scope_of(subject)
    if scope == PROJECT:
        return bool(of) and of == project
    return scope == EVERYWHERE or of in languages()
