"""Offer the functions of origins 004.5 by the seed's own names.

Holds no rules. What the seed reads from globals (the database, the model) is the argument `memory`;
`project_uuid` must be the tenant that the memory was opened for, which is a UUID kept in the file
(`memory.store.tenant`).

    with Memory("facts.db") as memory:
        project = memory.store.tenant
        persist_facts_synchronously(project, "BTC is my #1 favorite crypto", memory=memory)
        # (1, 0, ["user.favorites.crypto.1"], "6c0e...", None)
        plan = plan_facts_query("What are my favorite cryptos?", memory=memory)
        execute_facts_plan(project, plan, memory=memory).canonical_keys
        # ("user.favorites.crypto",)
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from factbook import policy
from factbook.errors import ModelError
from factbook.extract.keyed.contracts import (
    ApplyResult,
    FactsAnswer,
    FactsOp,
    FactsOpsResponse,
    FactsQueryPlan,
)
from factbook.language.questions import ends_asking
from factbook.memory import Memory
from factbook.memory.answering import search_facts_ranked_list as _ranked_list
from factbook.model.facts import ME, Fact, Receipt
from factbook.model.keys import (
    canonical_list_key,
    canonical_rank_key,
    extract_topic_from_list_key,
    normalize_fact_key,
    normalize_fact_value,
)
from factbook.pipelines.keyed_labels import FAILED, failure_message, read_label, write_label
from factbook.sources.conversation.turn import clean, own_text

__all__ = [
    "ApplyResult",
    "ChatTurn",
    "FactsAnswer",
    "FactsOp",
    "FactsOpsResponse",
    "FactsQueryPlan",
    "apply_facts_ops",
    "canonical_list_key",
    "canonical_rank_key",
    "chat_with_facts",
    "execute_facts_plan",
    "extract_topic_from_list_key",
    "normalize_fact_key",
    "normalize_fact_value",
    "persist_facts_synchronously",
    "plan_facts_query",
    "run_facts_llm",
    "search_facts_ranked_list",
]

FAILED_COUNTS: Final = (-1, -1)  # origins 004.5: negative counts say that the model failed
Persisted = tuple[int, int, list[str], str | None, list[str] | None]


def run_facts_llm(prompt: str, *, memory: Memory) -> str:
    """Return what the configured model answers to a prompt, as text.

    One call, within the configured deadline, no retries. Raises ModelError.
    """
    from factbook.llm.base import Message

    llm, config = memory.resources.llm, memory.resources.model_config
    if config is not None:  # a prompt for facts has the seed's deadline, not that of a chat
        llm = memory.resources.open_model(replace(config, chat_timeout_s=config.timeout_s))
    pieces = llm.stream([Message(role="user", content=prompt)], purpose="tell")
    return "".join(piece.text for piece in pieces)


def persist_facts_synchronously(
    project_uuid: str,
    message_content: str,
    *,
    memory: Memory,
    role: str = "user",
    message_uuid: str | None = None,
    owner: str = ME,
) -> Persisted:
    """Turn a message into facts: (store count, update count, keys, message uuid, topics to ask).

    A failure of the model is (-1, -1, [], message uuid, None), what is ambiguous (0, 0, [], message
    uuid, questions). A message that is not the user's changes nothing, and neither does one without
    words (0, 0, [], message uuid, None); one that is too long to be read at once is a failure.

    Raises ValueError for a project that is not the memory's.
    """
    _check_project(project_uuid, memory)
    message = message_uuid or str(uuid.uuid4())
    if role != "user":
        return 0, 0, [], message, None
    length = _length(message_content, memory)
    if not length:
        return 0, 0, [], message, None
    if length > policy.PROMPT_CHARS:
        return (*FAILED_COUNTS, [], message, None)
    try:
        told = memory.tell(message_content, owner=owner, message_id=message)
    except ModelError:
        return (*FAILED_COUNTS, [], message, None)
    if told.failed or told.errors:  # what the model proposed is of no use: the same as no answer
        return (*FAILED_COUNTS, [], message, None)
    if told.needs_clarification:
        return 0, 0, [], message, list(told.needs_clarification)
    result = told.result
    return result.store_count, result.update_count, list(result.stored_fact_keys), message, None


def apply_facts_ops(
    project_uuid: str,
    message_uuid: str,
    ops_response: FactsOpsResponse,
    *,
    memory: Memory,
    atomic: bool = True,
    owner: str = ME,
) -> ApplyResult:
    """Apply operations; the counts are what the database changed.

    Raises ValueError for a project that is not the memory's.
    """
    _check_project(project_uuid, memory)
    return memory.keyed.apply_facts(
        ops_response, message_id=message_uuid, owner=owner, atomic=atomic
    )


def plan_facts_query(query_text: str, *, memory: Memory, owner: str = ME) -> FactsQueryPlan:
    """Return the model's plan for a question; raises ModelError."""
    return memory.keyed.plan(query_text, owner=owner)


def execute_facts_plan(
    project_uuid: str,
    plan: FactsQueryPlan,
    exclude_message_uuid: str | None = None,
    *,
    memory: Memory,
    owner: str = ME,
) -> FactsAnswer:
    """Read what a plan asks for; no model takes part.

    Raises ValueError for a project that is not the memory's.
    """
    _check_project(project_uuid, memory)
    return memory.keyed.execute_plan(plan, owner=owner, exclude_message=exclude_message_uuid)


def search_facts_ranked_list(
    project_uuid: str, list_key: str, *, memory: Memory, owner: str = ME
) -> list[Fact]:
    """Return the items of a list in the order of their ranks."""
    _check_project(project_uuid, memory)
    return _ranked_list(memory.store, normalize_fact_key(list_key)[0], owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """What the chat shows of one message."""

    facts_actions: Mapping[str, Any]  # S, U and R as counts, F as True
    label: str  # Facts-S(1), ..., Facts-F
    message: str  # what to say where it failed or must be asked back; else ""


def chat_with_facts(project_uuid: str, text: str, *, memory: Memory, owner: str = ME) -> ChatTurn:
    """Take a message as the chat does: what is told is stored, what is asked is read.

    A failure of the model is said, and nothing else is tried in its place. So is a message that is
    too long; one without words changes nothing.
    """
    _check_project(project_uuid, memory)
    length = _length(text, memory)
    if not length:
        return ChatTurn(
            facts_actions={"S": 0, "U": 0},
            label=write_label(Receipt(), planner="model"),
            message="",
        )
    if length > policy.PROMPT_CHARS:
        return _failed(
            f"Facts system failed: the message has {length:,} characters, and at most"
            f" {policy.PROMPT_CHARS:,} are read at once; say it in parts."
        )
    said = own_text(clean(text))
    try:
        if ends_asking(said):
            asked = memory.ask(said, owner=owner)
            keys = len(asked.answer.canonical_keys)
            return ChatTurn(
                facts_actions={"R": keys},
                label=read_label(keys, planner="model"),
                message=" ".join(asked.needs_clarification),
            )
        told = memory.tell(text, owner=owner)
    except ModelError as error:
        return _failed(failure_message(error))
    if told.failed or told.errors:
        return _failed(f"Facts system failed: {'; '.join(told.errors)}")
    receipt: Receipt = told.receipt
    return ChatTurn(
        facts_actions={"S": receipt.stored, "U": receipt.updated},
        label=write_label(receipt, planner="model"),
        message=" ".join(told.needs_clarification),
    )


def _failed(said: str) -> ChatTurn:
    return ChatTurn(facts_actions={"F": True}, label=FAILED, message=said)


def _length(text: str, memory: Memory) -> int:
    """Return how many characters of a message would be read: its own words, as they are kept."""
    return len(" ".join(memory.resources.redactor.redact(own_text(clean(text))).split()))


def _check_project(project_uuid: str, memory: Memory) -> None:
    try:
        given = uuid.UUID(project_uuid)
    except (ValueError, AttributeError, TypeError):
        raise ValueError(f"project_uuid {project_uuid!r} is not a UUID") from None
    if given != uuid.UUID(memory.store.tenant):
        raise ValueError(
            f"project_uuid {project_uuid} is not the tenant of {memory.store.name}, which is"
            f" {memory.store.tenant}"
        )
