"""What the rest of factbook sees of a language model: one protocol with two methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from factbook.model.facts import Millis

if TYPE_CHECKING:
    from pydantic import BaseModel

Answer = TypeVar("Answer", bound="BaseModel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation with a model."""

    role: str  # system, user, assistant or tool
    content: str
    name: str = ""  # of the tool, where the role is tool
    call_id: str = ""  # of the tool call that this answers
    calls: Sequence[ToolCall] = ()  # that this asked for, where the role is assistant


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that a model may ask for."""

    name: str
    description: str
    parameters: Mapping[str, object]  # JSON schema of its arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a model asks for; the arguments are unchecked JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """A part of a streamed answer: text, or calls of tools."""

    text: str = ""
    calls: Sequence[ToolCall] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call of a model, as the meter counts it."""

    purpose: str  # typed, tell, plan, judge, commands, turns, embed, chat or doctor
    model: str  # LLM.id
    at: Millis
    latency_ms: float
    outcome: str  # "ok", the ModelFailure that ended it, or "interrupted" by whoever asked
    prompt_tokens: int = 0
    answer_tokens: int = 0
    estimated: bool = False  # the reply did not say how many tokens: 4 bytes count as one
    money: float | None = None  # in the currency of the configured price; None without one


class Meter(Protocol):
    """Counts calls, and refuses them where the budget of the day is spent."""

    def before(self, purpose: str, model: str) -> None:
        """Let a call begin; raises ModelError of the kind over_budget where it may not."""

    def after(self, call: ModelCall) -> None:
        """Count a call, however it ended."""


class LLM(Protocol):
    """A language model behind an endpoint."""

    @property
    def id(self) -> str:
        """What it is, for the records: "ollama:qwen2.5:7b-instruct"."""

    @property
    def context_tokens(self) -> int:
        """How many tokens a prompt and its answer may have together."""

    def ask(self, messages: Sequence[Message], answer: type[Answer], *, purpose: str) -> Answer:
        """Return the model's answer as a validated object of type `answer`.

        Makes exactly one call. Raises ModelError, whose kind says how it failed.
        """

    def stream(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), *, purpose: str = "chat"
    ) -> Iterator[AnswerPart]:
        """Yield the parts of an answer as they come; raises ModelError."""
