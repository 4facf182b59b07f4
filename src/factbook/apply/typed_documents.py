"""What a document of the record of typed memories must be before it is believed.

The record is a database that others can write to: a document that is not what it should be is put
aside and named, and the others are taken in. A date is a `datetime`, or milliseconds where no
calendar has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Strict, TypeAdapter, ValidationError

from factbook.apply.typed_names import millis
from factbook.model.facts import SourceState, Stance, Status, Trigger, Trust
from factbook.store.mongo.record import Document
from factbook.store.rows import KeptEpisode, claim_digest
from factbook.store.transfer.records import BadRecord, row_of

Moment = datetime | int
_Share = Annotated[float, Field(ge=0.0, le=1.0)]
_Count = Annotated[int, Field(ge=0)]
_Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
_Stance = Annotated[Stance, Strict(strict=False)]
_Status = Annotated[Status, Strict(strict=False)]
_Trigger = Annotated[Trigger, Strict(strict=False)]
_Trust = Annotated[Trust, Strict(strict=False)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", arbitrary_types_allowed=False)


class _Local(_Part):
    ledger: str
    id: int


_Named = _Key | _Local | None  # a row, as `typed_names` names it


class _Whole(_Part):
    subject_id: Annotated[str, Field(pattern=r"^USER:.")]


class _Evidence(_Part):
    summary: _Named
    stance: _Stance
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
    status: _Status
    confidence: _Share
    trust: _Trust
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
    validation_details: dict[str, JsonValue]
    detail: str
    rule: str
    predicate: str
    position: _Count
    byte_offset: _Count
    claim: Annotated[str, Field(pattern=r"^([0-9a-f]{2})+$")]
    summary: _Named


class _Proposal(_Whole):
    title: str
    payload: dict[str, JsonValue]
    proposed_at: Moment
    state: Literal["open", "accepted", "edited", "refused"]
    decided_at: Moment | None
    decided_by: str
    reason: str
    claim: Annotated[str, Field(pattern=r"^([0-9a-f]{2})+$")]


class _Target(_Part):
    kind: Literal["fact", "proposal"]
    id: _Key


class _Event(_Part):
    at: Moment
    actor: str
    trigger: _Trigger
    op: str
    target: _Target
    detail: dict[str, JsonValue]


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


def summary_of(document: Document) -> KeptEpisode:
    """Return the episode that a document says; raises BadRecord."""
    record = {
        **document,
        "record": "episode",
        "id": 0,
        "source_id": 0,
        "owner": document["subject_id"].removeprefix("USER:"),
        "occurred_at": millis(document["occurred_at"]),
        "learned_at": millis(document["learned_at"]) or 0,
    }
    kept: KeptEpisode = row_of(record)
    return kept._replace(episode=replace(kept.episode, source=document["source"]["key"]))


def source_of(source: Mapping[str, Any]) -> SourceState:
    """Return the source that a summary's document says that it is of; raises BadRecord."""
    state: SourceState = row_of({"record": "source", "id": 0, **source})
    return state


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
    if not isinstance(document.get("schema_version"), int):
        return "schema_version: int_type"
    try:
        _SHAPES[kind].validate_python(document)
        if kind == "summaries":
            summary_of(document)
            source_of(document["source"])
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['type']}"
    except BadRecord as error:
        return str(error)
    parts = id_parts(kind, document)
    if parts is not None and id_of(document["subject_id"], *parts) != document["_id"]:
        return "its _id is of something else"
    return ""
