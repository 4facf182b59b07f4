"""What a document of the record of typed memories must be before it is believed.

The record is a database that others can write to: a document that is not what it should be is put
aside and named, and the others are taken in. A date is a `datetime`, or milliseconds where no
calendar has it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from factbook.model.facts import Stance, Status, Trigger, Trust
from factbook.store.mongo.record import Document
from factbook.store.rows import claim_digest

Moment = datetime | int
_Share = Annotated[float, Field(ge=0.0, le=1.0)]
_Count = Annotated[int, Field(ge=0)]
_Named = str | dict[str, Any] | None  # a row, as `typed_record` names it


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", arbitrary_types_allowed=False)


class _Whole(_Part):
    subject_id: Annotated[str, Field(pattern=r"^USER:.")]


class _Evidence(_Part):
    summary: _Named
    stance: Stance
    rule: str
    method: str
    quote: str
    start: _Count
    end: _Count
    learned_at: Moment


class _Memory(_Whole):
    type: Literal["USER_FACT", "USER_PATTERN", "SHARED_NARRATIVE"]
    text: str
    statement: str
    subject: str
    status: Status
    confidence: _Share
    trust: Trust
    evidence_count: _Count
    pinned: bool
    embeddable: bool
    confidence_at: Moment
    occurred_at: Moment | None
    retired_at: Moment | None
    valid_to: Moment | None
    learned_at: Moment
    merged_into: _Named
    superseded_by: _Named
    summary: _Named
    evidence: list[_Evidence]
    round: _Count


class _Source(_Part):
    key: Annotated[str, Field(min_length=1)]
    kind: str
    host: str
    session: str
    uri: str


class _Summary(_Whole):
    uid: Annotated[str, Field(min_length=1)]
    kind: Literal["summary"]
    text: str
    occurred_at: Moment | None
    learned_at: Moment
    source: _Source


class _Rejection(_Whole):
    timestamp: Moment
    rejection_reason: str
    extracted_text: str
    confidence_score: _Share | None
    threshold: _Share | None
    type: Annotated[str, Field(min_length=1)]
    validation_details: dict[str, Any]
    detail: str
    rule: str
    predicate: str
    position: _Count
    byte_offset: _Count
    claim: Annotated[str, Field(pattern=r"^([0-9a-f]{2})+$")]
    summary: _Named


class _Proposal(_Whole):
    title: str
    payload: dict[str, Any]
    proposed_at: Moment
    state: Literal["open", "accepted", "edited", "refused"]
    decided_at: Moment | None
    decided_by: str
    reason: str
    claim: Annotated[str, Field(pattern=r"^([0-9a-f]{2})+$")]


class _Target(_Part):
    kind: Literal["fact", "proposal"]
    id: str


class _Event(_Part):
    at: Moment
    actor: str
    trigger: Trigger
    op: str
    target: _Target
    detail: dict[str, Any]


class _Events(_Part):
    subject_id: str
    events: list[_Event]


_SHAPES: Final[dict[str, TypeAdapter[Any]]] = {
    "summaries": TypeAdapter(_Summary),
    "memories": TypeAdapter(_Memory),
    "rejections": TypeAdapter(_Rejection),
    "proposals": TypeAdapter(_Proposal),
    "events": TypeAdapter(_Events),
}


def claim_of(document: Document) -> bytes:
    """Return the claim of a memory."""
    owner = document["subject_id"].removeprefix("USER:")
    return claim_digest(owner, document["subject"], document["type"].lower(), document["text"])


def id_parts(kind: str, document: Document) -> list[str] | None:
    """Return what a document's `_id` is made of beside its subject; None where it is not known."""
    if kind == "summaries":
        return ["summary", document["uid"]]
    if kind == "memories":
        return ["memory", claim_of(document).hex(), str(document["round"])]
    if kind in ("rejections", "proposals"):
        return [kind.removesuffix("s"), document["claim"]]
    return None


def problem(kind: str, document: Document, id_of: Callable[..., str]) -> str:
    """Return why a document is not believed; empty for one that is as it should be."""
    if document.get("erased") is True:
        return ""
    try:
        _SHAPES[kind].validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['type']}"
    parts = id_parts(kind, document)
    if parts is not None and id_of(document["subject_id"], *parts) != document["_id"]:
        return "its _id is of something else"
    return ""
