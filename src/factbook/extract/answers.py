"""What the answers of models have in common: strict shapes, and the room that a call takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from factbook.llm.base import Message
from factbook.llm.prompt import estimate_tokens, message_tokens

SPARE_TOKENS: Final = 64  # ours: for what an endpoint puts around a prompt and an answer

Sure = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Strict(BaseModel):  # without a docstring, which servers would be told
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def tokens_of(messages: Sequence[Message], answer: type[BaseModel]) -> int:
    """Return how many tokens a prompt and the schema of its answer have."""
    return message_tokens(messages) + estimate_tokens(str(answer.model_json_schema()))
