"""What an operation is: one declaration, from which every way to call it is made.

An operation is a function. Its parameters are declared once, by their annotations:

    @operation(ASK)
    def timeline(run: Run, narrow: Narrow, limit: Limit = 100) -> Outcome:
        \"\"\"Show what was asked and done, day by day.\"\"\"

`Annotated[type, Arg(...)]` says which values a parameter takes and what it means, which may also
stand in the docstring, under `Args:`; a dataclass of such fields is a group that several operations
share. Annotations are read when an operation is first used and not before. The JSON Schema of its
arguments is made of the same, without pydantic: to import that takes as long as a client of MCP may
have to wait for all tools.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from factbook.errors import FactbookError, StoreMissing, UsageError
from factbook.model.facts import ME, Everyone

if TYPE_CHECKING:
    from factbook import RuleSet
    from factbook.llm.config import ModelConfig
    from factbook.memory import Memory
    from factbook.surface.output import Page, Screen

READ: Final = "Put in"
ASK: Final = "Ask"
KEEP: Final = "Look after"
CHAT: Final = ""  # no command of a shell
TOOL: Final = "tool"  # of models alone
_NO_REDACT: Final = "--no-redact is on: what is stored is shown as it is, secrets too"
_REQUIRED: Final = object()
_MOST: Final = 2**62  # what SQLite can count, with room for one more
_JSON_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    Path: "string",
    dict: "object",
}
_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True, slots=True)
class Arg:
    """What a parameter means: its help, how it is given in a shell, which values it takes."""

    help: str = ""  # "" where the docstring of the operation says it, under `Args:`
    short: str = ""  # a second flag, of one letter
    metavar: str = ""
    flag: str = ""  # where it is not the parameter's name
    given: Literal["option", "argument", "words"] = "option"  # words: all that are left, as one
    least: int | None = None
    most: int | None = None
    choices: Sequence[str] = ()
    schema: Mapping[str, object] | None = None  # of one value, where its type is no plain one
    called: str = ""  # what a value is a kind of, where the parameter's name does not say it
    known: Sequence[str] | Callable[[], Iterable[str]] = ()  # values that a shell completes
    terminal: bool = False  # only of use to who sits at a terminal: no tool has it


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of an operation, as read from its annotation."""

    name: str
    kind: type  # str, int, float, bool or Path; of a tool also dict
    many: bool  # whether it takes several values
    default: Any
    arg: Arg
    group: str = ""  # the parameter that it is a field of
    typed: bool = True  # at a shell; else as JSON

    @property
    def required(self) -> bool:
        return self.default is _REQUIRED

    @property
    def flag(self) -> str:
        if not self.typed:
            return self.key
        return self.arg.flag or "--" + self.name.rstrip("_").replace("_", "-")

    @property
    def key(self) -> str:
        return self.name.rstrip("_")

    def check(self, value: Any) -> None:
        """Raise UsageError for a value out of bounds."""
        arg = self.arg
        if value is None or value == self.default:
            return
        for choice in (value if self.many else [value]) if arg.choices else ():
            if choice not in arg.choices:
                what, known = arg.called or self.flag.lstrip("-"), ", ".join(arg.choices)
                raise UsageError(detail=f"{choice!r} is no {what}; give one of {known}")
        if arg.least is not None and value < arg.least:
            raise UsageError(detail=f"{self.flag} {value} is too small; give {arg.least} or more")
        if arg.least is not None and value > (arg.most or _MOST):
            fewer = f"at most {arg.most}" if arg.most else "a smaller number"
            raise UsageError(detail=f"{self.flag} {value} is too large; give {fewer}")

    @property
    def schema(self) -> dict[str, object]:
        arg, plain = self.arg, {"type": _JSON_TYPES[self.kind]}
        bounds = {"enum": list(arg.choices), "minimum": arg.least, "maximum": arg.most}
        item = arg.schema or plain | {
            name: bound for name, bound in bounds.items() if bound not in (None, [])
        }
        whole = {"type": "array", "items": item} if self.many else dict(item)
        told = {} if self.default in (_REQUIRED, None, "", ()) else {"default": self.default}
        return whole | ({"description": arg.help} if arg.help else {}) | told

    def read(self, value: object) -> Any:
        """Return a value of JSON in the parameter's type; raises UsageError for another one."""
        if self.many:
            if not isinstance(value, list):
                raise UsageError(detail=f"{self.key} is a list")
            return [self._read(item) for item in value]
        return self._read(value)

    def _read(self, value: object) -> Any:
        if self.kind in (int, float) and isinstance(value, str):
            with suppress(ValueError):  # models write numbers as text
                value = self.kind(value)
        if self.kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)
        if self.kind is float and type(value) is int:
            value = float(value)
        if self.kind is Path and isinstance(value, str):
            value = Path(value)
        if type(value) is not self.kind and not (self.kind is Path and isinstance(value, Path)):
            what = _JSON_TYPES[self.kind]
            raise UsageError(detail=f"{self.key} is no {what}: {value!r:.80}")
        return value


def _parameters(call: Callable[..., Any], *, typed: bool) -> list[Parameter]:
    """Read the parameters of an operation, but for the first, which is its Run.

    Of a group every field is one; `Annotated[Group, "a b"]` has these alone.
    """
    hints = get_type_hints(call, include_extras=True)
    parameters: list[Parameter] = []
    for parameter in list(inspect.signature(call).parameters.values())[1:]:
        name, hint = parameter.name, hints[parameter.name]
        kind = get_origin_of(hint)
        if dataclasses.is_dataclass(kind):
            only = hint.__metadata__[0].split() if hint is not kind else None
            parts, told = get_type_hints(kind, include_extras=True), _told(kind.__doc__)
            parameters += [
                _parameter(field.name, parts[field.name], field.default, told, group=name)
                for field in dataclasses.fields(kind)
                if only is None or field.name in only
            ]
        else:
            default = _REQUIRED if parameter.default is parameter.empty else parameter.default
            parameters.append(_parameter(name, hint, default, _told(call.__doc__)))
    return [dataclasses.replace(parameter, typed=typed) for parameter in parameters]


def _told(doc: str | None) -> dict[str, str]:
    """Return what a docstring says of parameters: under `Args:`, `name: what it means`."""
    said = re.split(r"\n {4}(?=\w+: )", inspect.cleandoc(doc or "").partition("\nArgs:")[2])[1:]
    return {
        name: " ".join(words.split()) for name, _, words in (part.partition(": ") for part in said)
    }


def get_origin_of(hint: Any) -> Any:
    return get_args(hint)[0] if hasattr(hint, "__metadata__") else hint


def _parameter(
    name: str, hint: Any, default: Any, told: Mapping[str, str], *, group: str = ""
) -> Parameter:
    arg = hint.__metadata__[0] if hasattr(hint, "__metadata__") else Arg()
    arg = arg if arg.help else dataclasses.replace(arg, help=told.get(name, ""))
    kind, many = get_origin_of(hint), False
    if get_origin(kind) in (UnionType, Union):
        kind = next(option for option in get_args(kind) if option is not type(None))
    if get_origin(kind) is Sequence:
        kind, many = get_args(kind)[0], True
    if get_origin(kind) is Literal:
        arg, kind = dataclasses.replace(arg, choices=get_args(kind)), str
    return Parameter(name=name, kind=kind, many=many, default=default, arg=arg, group=group)


class Effect(StrEnum):
    """What an operation does to a memory, and so how it is opened."""

    READS = "read"
    WRITES = "write"
    CREATES = "create"  # writes, and makes the database where there is none
    ERASES = "erase"  # for good
    OWN = "own"  # it opens the memory itself, or needs none


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an operation found or did: for programs, and for people."""

    INTERRUPTED: ClassVar[int] = 130  # 128 + SIGINT, as shells count

    record: Any  # what `records.plain` makes JSON of; one iterator in it is written as it comes
    show: str | Callable[[Page], str | None] = ""  # a raw text, or what writes to a page
    shown: bool = True  # whether there is anything to show: what talks has done so already
    notes: Sequence[str] = ()  # remarks beside the answer, one sentence each
    warnings: Sequence[str] = ()  # what went wrong with a part, said behind the answer
    trouble: FactbookError | None = None  # what went wrong behind what was done, and is shown
    nothing_of: str | Everyone | None = None  # the owner of whom nothing was found, where it was so
    quit: bool = False  # whether a conversation is to end
    code: int = 0  # what a program ends with that did this alone

    @classmethod
    def interrupted(cls, said: str) -> Outcome:
        return cls(record={}, shown=False, notes=[said], code=cls.INTERRUPTED)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing that can be asked of a memory."""

    name: str  # on the command line, in JSON, and as a tool
    call: Callable[..., Outcome | None]
    panel: str  # of the help; CHAT for one that only a conversation has
    effect: Effect
    slash: str = ""  # its name in a conversation; "" where it has none there
    examples: Sequence[str] = ()  # of its slash form, as they are typed
    shows: Callable[[str], bool] = lambda said: False  # with which words it only reads
    undone_by: str = ""  # what takes it back, as it is typed; "" where nothing does or need
    tool: bool = True  # whether programs and models may call it
    profile: str = "memory"  # of a tool: which set it belongs to
    title: str = ""  # of a tool, as a person reads it in a client
    output: Mapping[str, object] | None = None  # the JSON Schema of its record
    lenient: bool = False  # of a tool: whether arguments that it does not know are passed over

    @property
    def help(self) -> str:
        return (self.call.__doc__ or "").strip().split("\n\n")[0]

    @property
    def about(self) -> str:
        """Return all that its docstring says of it, but for its parameters."""
        return inspect.cleandoc(self.call.__doc__ or "").partition("\nArgs:")[0].strip()

    @cached_property
    def parameters(self) -> Sequence[Parameter]:
        return _parameters(self.call, typed=self.panel != TOOL)

    @property
    def usage(self) -> str:
        """Return what may follow its name in a conversation; in brackets what need not."""
        given = (parameter for parameter in self.parameters if parameter.arg.given != "option")
        return " ".join(parameter.arg.metavar or parameter.name.upper() for parameter in given)

    @property
    def form(self) -> str:
        return f"/{self.slash} {self.usage}".rstrip()

    def reads(self, words: str = "") -> bool:
        """Tell whether it writes nothing, with these words behind it."""
        return self.effect in (Effect.READS, Effect.OWN) or self.shows(words)

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of its call, groups made; raises UsageError where one is none."""
        arguments: dict[str, Any] = {}
        groups: dict[str, dict[str, Any]] = {}
        for parameter in self.parameters:
            value = given.get(parameter.name)
            if value is None:
                if parameter.required and parameter.name not in given:
                    raise UsageError(detail=f"{self.name} needs {parameter.key}")
                value = None if parameter.required else parameter.default
            parameter.check(value)
            # what is of nobody would be found by nobody
            if parameter.name == "owner" and value is not None and not value.strip():
                raise UsageError(
                    detail="--owner is empty; name somebody, or leave it out for yourself"
                )
            held = groups.setdefault(parameter.group, {}) if parameter.group else arguments
            held[parameter.name] = value
        if groups:
            hints = get_type_hints(self.call)
            arguments |= {name: hints[name](**values) for name, values in groups.items()}
        return arguments

    def words(self, said: str) -> dict[str, Any]:
        """Return what a line of a conversation gives: a word for each argument, the rest last."""
        places = [parameter for parameter in self.parameters if parameter.arg.given != "option"]
        if not places:
            if said and self.slash != "quit":
                raise UsageError(detail=f"nothing follows here; /help {self.slash} explains it")
            return {}
        parts = said.split(" ", len(places) - 1)
        return dict(
            zip((place.name for place in places), [*parts, *[""] * len(places)], strict=False)
        )

    def take(self, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Return what JSON gives, as `bind` takes it; raises UsageError for what is no argument."""
        known = {part.key: part for part in self.parameters if not part.arg.terminal}
        for key in () if self.lenient else arguments.keys() - known.keys():
            raise UsageError(detail=f"there is no {key!r:.80} here; give {', '.join(known)}")
        return {
            known[key].name: known[key].read(value)
            for key, value in arguments.items()
            if value is not None and key in known
        }

    @cached_property
    def schema(self) -> dict[str, object]:
        known = [part for part in self.parameters if not part.arg.terminal]
        required = [part.key for part in known if part.required]
        return {
            "type": "object",
            "properties": {part.key: part.schema for part in known},
            **({"required": required} if required else {}),
            **({} if self.lenient else {"additionalProperties": False}),
        }


def tool_schema(of: Operation) -> dict[str, object]:
    erases = of.effect is Effect.ERASES
    return {
        "name": of.name.replace("-", "_"),
        **({"title": of.title} if of.title else {}),
        "description": of.about,
        "inputSchema": of.schema,
        **({"outputSchema": of.output} if of.output else {}),
        "annotations": {
            "readOnlyHint": of.effect is Effect.READS,
            "destructiveHint": erases,
            "idempotentHint": of.effect is Effect.READS or erases or of.panel == TOOL,
            "openWorldHint": of.name == "lookup",
        },
    }


EVERY: Final[dict[str, Operation]] = {}
"""Every operation of a person by its name, in the order of the help."""

TOOLS: Final[dict[str, Operation]] = {}
"""Those of a model (`operations.tools`)."""

_Call = TypeVar("_Call", bound=Callable[..., Any])


def operation(
    panel: str, effect: Effect = Effect.READS, *, name: str = "", **more: Any
) -> Callable[[_Call], _Call]:
    """Make an operation of a function and put it into the table; see `Operation` for the rest.

    One with examples has a slash form, of the same name where no other is given.
    """

    def made(call: _Call) -> _Call:
        called = name or call.__name__.rstrip("_").replace("_", "_" if panel == TOOL else "-")
        if "examples" in more:
            more.setdefault("slash", called)
        table = TOOLS if panel == TOOL else EVERY
        table[called] = Operation(name=called, call=call, panel=panel, effect=effect, **more)
        return call

    return made


def show(outcome: Outcome, page: Page) -> None:
    from factbook.surface.text import safe

    said = page.told(safe(outcome.show)) if isinstance(outcome.show, str) else outcome.show(page)
    if said:
        page.lines(said.split("\n"))


class Run:
    """One operation at work: the memory that it asks, and where a person would see the answer."""

    def __init__(
        self,
        page: Page,
        *,
        memory: Memory | None = None,
        db: Path | str = "",
        owner: str = ME,
        session: str = "",
    ) -> None:
        """Take a memory that is open, or the place of one that `open` opens.

        Of a tool, the owner and the session are these: no model names them.
        """
        self.page = page
        self.db = db
        self.owner = owner
        self.session = session
        self.alone = memory is None  # whether nothing is done behind it: no worker embeds
        self._memory = memory
        self._opened = ExitStack()
        self._screened: Callable[[Any], Any] | None = None

    @property
    def screen(self) -> Screen:
        """The screen, for what shows how far it is; only operations of a shell have one."""
        from factbook.surface.output import Screen

        assert isinstance(self.page, Screen)
        return self.page

    @property
    def quiet(self) -> bool:
        """Whether nobody sees how far it is: a program asks, or its page is kept."""
        from factbook.surface.output import Screen

        return not isinstance(self.page, Screen) or self.page.as_json

    @property
    def memory(self) -> Memory:
        assert self._memory is not None
        return self._memory

    def open(
        self,
        effect: Effect,
        *,
        redact: bool = True,
        rules: RuleSet | None = None,
        model: ModelConfig | Literal["configured"] | None = "configured",
        search: bool = True,
        actor: str = "cli",
    ) -> Memory:
        """Open the memory as an effect needs it; one that is open already stays as it is."""
        from factbook.memory import Memory

        if self._memory is None:
            modes: dict[Effect, Literal["create", "write", "read"]]
            modes = {Effect.READS: "read", Effect.CREATES: "create"}
            self._memory = self._opened.enter_context(
                Memory(
                    self.db,
                    mode=modes.get(effect, "write"),
                    redact=redact,
                    rules=rules,
                    actor=actor,
                    model=model,
                    search_config="configured" if search else None,
                )
            )
        return self._memory

    def open_or_empty(self, *, redact: bool) -> Memory:
        """Open the memory for reading, and an empty one that nobody keeps where there is none."""
        from tempfile import TemporaryDirectory

        from factbook.memory import Memory

        try:
            return self.open(Effect.READS, redact=redact)
        except StoreMissing:
            folder = Path(self._opened.enter_context(TemporaryDirectory(prefix="factbook-")))
            self.db = folder / "empty.db"
            Memory(self.db, key_file=folder / "key", model=None).close()
            return self.open(Effect.READS, redact=redact)

    def spelled(self, owner: str) -> str:
        """Return an owner as the memory writes them, where it knows them."""
        if owner.isascii():
            return owner
        with suppress(FactbookError), Run(self.page, db=self.db) as run:  # the operation says it
            return run.open(Effect.READS, model=None, search=False).sources.spelled(owner)
        return owner

    def reading(self, *, no_redact: bool, rules: RuleSet | None = None) -> Memory:
        """Open the memory for reading, and say so where it shows what is stored as it is."""
        if no_redact:
            self.screen.note(_NO_REDACT)
        return self.open(Effect.READS, redact=not no_redact, rules=rules)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *how: Any) -> None:
        self._opened.__exit__(*how)

    @property
    def redact(self) -> Callable[[str], str]:
        """What takes secrets out of a text: a rule learned today protects what is old."""
        return self.memory.resources.redactor.redact

    def shown(self, value: _T) -> _T:
        """Return a value as it may be shown: every text in it redacted once more."""
        if self._screened is None:
            from factbook.redaction.records import Screening

            self._screened = Screening(self.memory.resources.redactor)
        screened: _T = self._screened(value)
        return screened
