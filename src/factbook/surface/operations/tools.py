"""The operations of models: eight tools with short answers, for agents that ask and tell.

What a model says is derived, and what it forgets can be brought back; only its owner erases. The
owner is never an argument. Each record has the shape of its `output`, and a receipt is the same
everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from factbook import policy
from factbook.model.confidence import is_deprecated
from factbook.model.facts import Status, iso
from factbook.model.frame import SHOWN_BY, Shown, said_by
from factbook.model.text import shorten
from factbook.surface import records, views
from factbook.surface.operations.arguments import WHEN, Narrow, fact_number, moment_of
from factbook.surface.operations.ask import CONTEXT_TOKENS, episode_of, rules_of
from factbook.surface.operations.base import TOOL, Arg, Effect, Outcome, Run, operation

if TYPE_CHECKING:
    from factbook import Filters
    from factbook.model.facts import Fact, Hit, Receipt
    from factbook.model.turns import Turn
    from factbook.pipelines.noted import Noted
    from factbook.recall.counting import Computed

HIT_BYTES: Final = 300  # of one memory in short, as JSON: a model reads twenty of them
ANSWER_BYTES: Final = 12_000  # of all memories in an answer, unless the model asks for more or less
QUOTES: Final = 8
_QUOTE_CHARS: Final = 400
_EPISODE_CHARS: Final = 4_000
_LABEL_CHARS: Final = 120
_FACTS_NAMED: Final = 3

_TEXT: Final = {"type": "string"}
_MAYBE: Final = {"type": ["string", "null"]}
_WHOLE: Final = {"type": "integer"}
_SHARE: Final = {"type": "number"}


def _list(of: Mapping[str, object]) -> dict[str, object]:
    return {"type": "array", "items": dict(of)}


def _object(optional: Sequence[str] = (), **fields: Mapping[str, object]) -> dict[str, object]:
    required = [name for name in fields if name not in optional]
    return {"type": "object", "properties": fields, "required": required}


_TURN: Final = _object(
    ["ended", "outcome", "files", "by", "asked_trust"],
    passages=_list(_TEXT),
    ended=_TEXT,
    outcome=_TEXT,
    files=_list(_TEXT),
    records=_WHOLE,
    session=_TEXT,
    bears=_SHARE,
    by=_TEXT,
    asked_trust=_TEXT,
)
_MEMORY: Final = _object(
    ["turn", "replaced_by"],
    id=_TEXT,
    text=_TEXT,
    kind=_TEXT,
    confidence=_SHARE,
    when=_MAYBE,
    trust=_MAYBE,
    by=_TEXT,
    source=_TEXT,
    turn=_TURN,
    replaced_by=_TEXT,
)
_COUNTED: Final = _object(
    ["failed_with"],
    label=_TEXT,
    count=_WHOLE,
    failed_with=_TEXT,
    newest=_MAYBE,
    facts=_list(_TEXT),
)
_MEMORIES: Final = _object(
    ["note", "computed"],
    memories=_list(_MEMORY),
    left_out=_WHOLE,
    waiting=_WHOLE,
    computed=_object(answer=_TEXT, rows=_list(_COUNTED)),
    note=_TEXT,
)
_EVIDENCE: Final = _object(
    quote=_TEXT, method=_TEXT, stance=_TEXT, when=_MAYBE, source=_TEXT, position=_WHOLE
)
_CHANGE: Final = _object(at=_MAYBE, op=_TEXT, why=_TEXT)
_EXPLAINED: Final = _object(
    ["superseded_by", "merged_into"],
    memory=_MEMORY,
    status=_TEXT,
    evidence=_list(_EVIDENCE),
    history=_list(_CHANGE),
    superseded_by=_TEXT,
    merged_into=_TEXT,
)
_LEFT_OUT: Final = _object(id=_TEXT, why=_TEXT)
_CONTEXT: Final = _object(
    text=_TEXT, included=_list(_TEXT), left_out=_list(_LEFT_OUT), tokens=_WHOLE
)
_ENTRY: Final = _object(id=_TEXT, text=_TEXT, by=_TEXT, session=_TEXT)
_DAYS: Final = _object(days=_list(_object(day=_TEXT, entries=_list(_ENTRY))))
_COUNTS: Final = ["stored", "updated", "unchanged", "proposed", "rejected", "superseded", "merged"]
_FACT: Final = _object(id=_TEXT, statement=_TEXT, confidence=_SHARE, status=_TEXT)
_REFUSED: Final = _object(
    ["id", "score", "threshold"],
    id=_TEXT,
    text=_TEXT,
    reason=_TEXT,
    score=_SHARE,
    threshold=_SHARE,
    say=_TEXT,
)
_RECEIPT: Final = _object(
    ["note", "actions"],
    **dict.fromkeys(_COUNTS, _WHOLE),
    facts=_list(_FACT),
    rejections=_list(_REFUSED),
    redacted=_list(_object(kind=_TEXT)),
    note=_TEXT,
    actions=_object(S=_WHOLE, U=_WHOLE, R=_WHOLE),
)

Id = Annotated[str, Arg("The id of a memory: f12 for a fact, e3 for an episode.")]
Since = Annotated[str, Arg(f"Not before: {WHEN}.")]
Until = Annotated[str, Arg("Before this moment.")]
Project = Annotated[str, Arg("Only of this working folder, or of any with this in its path.")]


@operation(TOOL, title="Search memory", output=_MEMORIES)
def search_memory(
    run: Run,
    query: Annotated[str, Arg("What to look for, in plain words: names, topics, a question.")],
    search_type: Annotated[
        Literal["facts", "episodes", "both"],
        Arg("facts: what is known; episodes: what was said and done."),
    ] = "both",
    limit: Annotated[int, Arg("At most so many.", least=1, most=20)] = 5,
    since: Since = "",
    until: Until = "",
    project: Project = "",
    as_of: Annotated[str, Arg(f"As it was known at this moment, not now: {WHEN}.")] = "",
    budget_bytes: Annotated[
        int, Arg("The most bytes all memories may take.", least=HIT_BYTES, most=100_000)
    ] = ANSWER_BYTES,
) -> Outcome:
    """Search long-term memory about the user, their projects and earlier sessions.

    Call it before you answer anything that may depend on what was said, decided or done before.
    Every memory has an id to cite, how sure it is (0 to 1) and where it comes from. What an agent
    did is one `turn` each: the request as text, what bears on the query, how it ended. Where it is
    asked how often, when last or how long, `computed` answers that over all facts.
    """
    filters = _filters(since, until, project)
    hits = run.memory.search_memory(
        query,
        search_type,
        limit,
        filters=filters,
        as_of=moment_of("as_of", as_of or None),
        session=run.session,
        owner=run.owner,
    )
    waiting = run.memory.maintenance.waiting()
    about = replace(filters, owner=run.owner)
    said = None if as_of else run.memory.sources.understood(query, hits, filters=about)
    notes = [] if said is None else views.counted.remarks(said)
    memories = within(budget_bytes, [run.shown(hit) for hit in hits])
    left_out = len(hits) - len(memories)
    if left_out:
        notes = [*notes, f"{left_out} more did not fit into budget_bytes."]
    if not hits and not notes:
        notes = ["Nothing is known that bears on this; other words may find more."]
    return Outcome(
        record={
            "memories": memories,
            "left_out": left_out,
            "waiting": waiting,
            **({"computed": _computed(said.computed)} if said and said.computed else {}),
            **({"note": " ".join(notes)} if notes else {}),
        }
    )


def _computed(counted: Computed) -> dict[str, object]:
    return {
        "answer": counted.title,
        "rows": [
            {
                "label": shorten(row.label, _LABEL_CHARS),
                "count": row.count,
                **({"failed_with": shorten(row.why, _LABEL_CHARS)} if row.why else {}),
                "newest": iso(row.newest_at),
                "facts": [f"f{id_}" for id_ in row.facts[:_FACTS_NAMED]],
            }
            for row in counted.rows
        ],
    }


@operation(TOOL, title="Explain a memory", output=_EXPLAINED)
def explain_memory(run: Run, id_: Id) -> Outcome:
    """Show why a memory is believed: its quotes with their sources, its history, what replaced it.

    Call it before you rely on a memory that matters, or when the user doubts one.
    """
    if id_.strip()[:1] == "e":
        return _episode(run, id_.strip())
    explanation = run.shown(run.memory.explain(fact_number(id_), owner=run.owner))
    fact = explanation.fact
    record: dict[str, object] = {
        "memory": _memory(
            fact, text=fact.statement, kind=fact.kind, by=SHOWN_BY[fact.trust], where=fact.project
        ),
        "status": _status(fact),
        "evidence": [
            {
                "quote": shorten(shown.quote, _QUOTE_CHARS),
                **records.fields(shown, "method stance when=occurred_at source position"),
            }
            for shown in explanation.evidence[:QUOTES]
        ],
        "history": [
            {"at": iso(event.at), "op": event.op, "why": _why(event.detail)}
            for event in explanation.history
        ],
    }
    for name, number in (
        ("superseded_by", fact.superseded_by),
        ("merged_into", fact.merged_into_id),
    ):
        record |= {} if number is None else {name: f"f{number}"}
    return Outcome(record=record)


def _episode(run: Run, said: str) -> Outcome:
    from factbook.recall.hits import episode_hit

    episode = episode_of(run, said, owner=run.owner, hint="search_memory gives the ids.")
    hit = run.shown(episode_hit(episode, text=episode.text))
    text = shorten(hit.text, _EPISODE_CHARS)
    return Outcome(
        record={
            "memory": _memory(hit, text=text, kind=episode.kind, by=hit.by, where=hit.project),
            "status": "recorded",
            "evidence": [],
            "history": [],
        }
    )


def _why(detail: Mapping[str, object]) -> str:
    said = detail.get("why") or detail.get("detail") or detail.get("rule") or ""
    reason = detail.get("reason")
    return shorten(f"{said}: {reason}" if reason else str(said), _QUOTE_CHARS)


@operation(TOOL, title="Get context", output=_CONTEXT)
def get_context(
    run: Run,
    question: Annotated[str, Arg("The question or task that the context is for.")],
    budget_tokens: Annotated[
        int, Arg("The most tokens it may take.", least=50, most=8_000)
    ] = CONTEXT_TOKENS,
    project: Annotated[str, Arg("The working folder; its rules and decisions come first.")] = "",
) -> Outcome:
    """Get the memories that bear on a question as one text within a budget of tokens.

    Call it at the start of a task. It says what was left out, and why.
    """
    from factbook.recall.budget import ContextLimits, ToolResult

    talk = run.memory.conversation(owner=run.owner, session=run.session)
    rules = rules_of(run, project, run.owner) if project else []
    counted = talk.counted(question)
    built = talk.context(
        memories=[*rules, *talk.called_to_mind(question)],
        tool_results=[ToolResult(name="count", text=counted)] if counted else [],
        limits=ContextLimits(total=budget_tokens),
    )
    return Outcome(
        record={
            "text": Shown(run.redact(built.text)),
            "included": list(built.included),
            "left_out": [{"id": piece.id, "why": piece.why} for piece in built.left_out],
            "tokens": built.tokens,
        }
    )


@operation(TOOL, title="Timeline", output=_DAYS)
def timeline(
    run: Run,
    since: Since = "",
    until: Until = "",
    project: Project = "",
    limit: Annotated[int, Arg("At most so many entries, the newest.", least=1, most=200)] = 20,
) -> Outcome:
    """List what was asked and done, day by day.

    Call it for "what did we do yesterday", or to take up earlier work.
    """
    filters = replace(_filters(since, until, project), owner=run.owner)
    days: dict[str, list[dict[str, object]]] = {}
    for hit in run.shown(run.memory.sources.timeline(filters=filters, limit=limit)):
        entry: dict[str, object] = {
            "id": hit.id,
            "text": shorten(hit.text, HIT_BYTES),
            "by": hit.by,
            "session": hit.session,
        }
        days.setdefault((iso(hit.occurred_at) or "no date")[:10], []).append(entry)
    return Outcome(record={"days": [{"day": day, "entries": days[day]} for day in days]})


def _filters(since: str, until: str, project: str) -> Filters:
    return Narrow(since=since or None, until=until or None, project=project).filters()


@operation(TOOL, Effect.CREATES, title="Remember", output=_RECEIPT)
def remember(
    run: Run,
    text: Annotated[str, Arg("One fact in one sentence that stands alone.")],
    quote: Annotated[
        str, Arg("The user's own words that say so, copied exactly from their message.")
    ] = "",
    about: Annotated[
        str, Arg("The name of what the fact is about, where the text says only it or they.")
    ] = "",
) -> Outcome:
    """Keep a lasting fact about the user or their work: a preference, a decision, a convention.

    Give the user's own words as quote where they said it: it is believed more then. Never keep
    secrets, guesses, or what only matters now. The receipt says what became of it.
    """
    if about.strip() and about.strip().casefold() not in text.casefold():
        text = f"{about.strip()}: {text}"
    noted = run.memory.review.note(text, quote=quote, owner=run.owner, session=run.session)
    return _noted(run, noted, text)


@operation(TOOL, Effect.WRITES, title="Correct a memory", output=_RECEIPT)
def correct_memory(
    run: Run,
    id_: Id,
    text: Annotated[str, Arg("The whole fact as it is right, in one sentence.")],
    quote: Annotated[str, Arg("The user's own words that say so, copied exactly.")] = "",
) -> Outcome:
    """Put a right statement in the place of a fact that is wrong or out of date.

    With the user's own words as quote it takes its place at once; without, the user is asked.
    """
    number = fact_number(id_)
    noted = run.memory.review.note(
        text, quote=quote, instead_of=number, owner=run.owner, session=run.session
    )
    return _noted(run, noted, text)


@operation(TOOL, Effect.ERASES, title="Forget a memory", output=_RECEIPT)
def forget_memory(
    run: Run, id_: Id, reason: Annotated[str, Arg("Why, in a few words.")] = ""
) -> Outcome:
    """Leave a fact out of all that is recalled. Only when the user asks for it.

    Its row stays, and the user can bring it back; erasing for good is theirs alone.
    """
    noted = run.memory.review.forget(
        fact_number(id_), reason=reason, owner=run.owner, session=run.session
    )
    return _noted(run, noted, id_)


_OP_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "op": {
            "enum": [
                *("set", "clear", "ranked_list_set", "ranked_list_insert", "ranked_list_append"),
                *("ranked_list_move", "ranked_list_remove", "ranked_list_clear"),
            ]
        },
        "fact_key": {"type": "string", "description": "for set and clear: user.timezone"},
        "list_key": {"type": "string", "description": "for lists: user.favorites.<topic>"},
        "rank": {"type": "integer", "minimum": 1},
        "from_rank": {"type": "integer", "minimum": 1},
        "value": {"type": "string"},
        "values": {"type": "array", "items": {"type": "string"}},
        "mode": {"enum": ["replace", "insert"]},
    },
    "required": ["op"],
}


@operation(TOOL, Effect.WRITES, title="Apply facts", output=_RECEIPT)
def apply_facts(
    run: Run,
    ops: Annotated[
        Sequence[dict],  # type: ignore[type-arg]
        Arg("Changes, in order: what to do, under which key, with which value.", schema=_OP_SCHEMA),
    ],
    quote: Annotated[str, Arg("The user's own words that ask for it, copied exactly.")] = "",
    atomic: Annotated[bool, Arg("Whether one that fails undoes the others.")] = True,
) -> Outcome:
    """Set values under keys, such as user.timezone, and the places of ranked lists.

    For settings and favourites with one current value. Only the user's own words change these: give
    them as quote, with every value as it stands in them.
    """
    keyed = run.memory.keyed
    done = keyed.apply_quoted(ops, quote=quote, owner=run.owner, atomic=atomic)
    kept = keyed.keyed_facts(owner=run.owner)
    facts = [fact for fact in kept if fact.predicate in done.stored_fact_keys]
    record = _empty_receipt() | {
        "stored": done.store_count,
        "updated": done.update_count,
        "unchanged": len(done.unchanged_fact_keys),
        "rejected": len(done.errors),
        "facts": [_fact_record(fact) for fact in facts],
        "rejections": [
            {"text": shorten(why, _QUOTE_CHARS), "reason": "operation_refused", "say": why}
            for why in done.errors
        ],
        "actions": {
            "S": done.store_count,
            "U": done.update_count,
            "R": len(done.cleared_fact_keys),
        },
    }
    if done.warnings:
        record["note"] = " ".join(done.warnings)
    return Outcome(record=record)


@operation(TOOL, title="Statistics", profile="resource")
def stats(run: Run) -> Outcome:
    """Count what is held of the user, and how much more a model may state of its own accord."""
    from factbook.memory.standing import held

    return Outcome(record=held(run.memory, run.owner, session=run.session))


def within(budget: int, hits: Iterable[Hit]) -> list[dict[str, object]]:
    """Return hits, best first, in so many bytes of JSON: as they are, in short, then none more."""
    records: list[dict[str, object]] = []
    left = budget
    for hit in hits:
        small = memory_record(hit)
        forms = [small] if hit.turn is None else [_turn_record(hit, hit.turn), small]
        record = next((form for form in forms if _size(form) <= left), None)
        if record is None:
            break
        records.append(record)
        left -= _size(record)
    return records


def _turn_record(hit: Hit, turn: Turn) -> dict[str, object]:
    told: dict[str, object] = {"passages": list(turn.passages)}
    told |= {"ended": turn.ended} if turn.ended else {}
    told |= {"outcome": turn.outcome} if turn.outcome else {}
    told |= {"files": list(turn.files[: policy.TURN_FILES])} if turn.files else {}
    told |= {"records": turn.records, "session": hit.session, "bears": hit.bearing}
    record = {**memory_record(hit), "text": turn.asked, "turn": told}
    if turn.asked_by:  # what was asked is one's word, and what came of it another's
        told |= {"by": record["by"], "asked_trust": turn.asked_trust}
        record["by"] = turn.asked_by
    return record


def _size(record: Mapping[str, object]) -> int:
    return len(json.dumps(record, ensure_ascii=False).encode())


def memory_record(hit: Hit) -> dict[str, object]:
    """Return a hit in at most HIT_BYTES bytes of JSON; `explain_memory` gives it whole."""
    where = hit.project.rstrip("/").rpartition("/")[2] or hit.source.rpartition("/")[2]
    text = " ".join(hit.text.split())
    record = _memory(hit, text=text, kind=hit.kind, by=hit.by, where=where)
    if hit.replaced_by is not None:
        record["replaced_by"] = f"f{hit.replaced_by}"
    record["source"] = shorten(str(record["source"]), 60)
    while (size := _size(record)) > HIT_BYTES and text:
        text = text[: -max(1, (size - HIT_BYTES) // 4)]
        record["text"] = f"{text.rstrip()}…"
    return record


def _memory(shown: Fact | Hit, *, text: str, kind: str, by: str, where: str) -> dict[str, object]:
    """Return a memory in the shape of `_MEMORY`; it is of a host, and there of `where`."""
    return {
        "id": f"f{shown.id}" if isinstance(shown.id, int) else shown.id,
        "text": text,
        "kind": str(kind),
        "confidence": round(shown.confidence, 2),
        "when": iso(shown.occurred_at),
        "trust": None if shown.trust is None else str(shown.trust),
        "by": by,
        "source": " ".join(filter(None, (shown.host, where))),
    }


def _fact_record(fact: Fact) -> dict[str, object]:
    return {
        "id": f"f{fact.id}",
        "statement": shorten(fact.statement, _QUOTE_CHARS),
        "confidence": round(fact.confidence, 2),
        "status": _status(fact),
    }


def _status(fact: Fact) -> str:
    if is_deprecated(fact.confidence):
        return "deprecated"
    return "active" if fact.status is Status.PENDING_EMBED else str(fact.status)


def _empty_receipt() -> dict[str, Any]:
    return {**dict.fromkeys(_COUNTS, 0), "facts": [], "rejections": [], "redacted": []}


def receipt_record(
    run: Run, receipt: Receipt, *, facts: Iterable[int] = (), note: str = ""
) -> dict[str, Any]:
    counts = asdict(receipt)
    known = [run.shown(run.memory.sources.fact(number, owner=run.owner)) for number in facts]
    return (
        _empty_receipt()
        | {name: counts[name] for name in _COUNTS}
        | {"updated": receipt.updated + receipt.supported}  # new evidence changes a fact as well
        | {"facts": [_fact_record(fact) for fact in known]}
        | ({"note": note} if note else {})
    )


def _noted(run: Run, noted: Noted, text: str) -> Outcome:
    numbers = [] if noted.fact is None else [noted.fact.id]
    record = receipt_record(run, noted.receipt, facts=numbers, note=noted.say)
    if noted.fact is not None and noted.fact.status is Status.PROPOSED:
        record["proposed"], record["stored"] = record["stored"], 0
    record["redacted"] = [{"kind": kind} for kind in noted.secrets]
    if noted.reason:
        text = shorten(run.redact(text), _QUOTE_CHARS)
        record["rejected"] = 1
        record["rejections"] = [{"text": text, "reason": noted.reason, "say": noted.say}]
    return Outcome(record=record)


@operation(TOOL, title="Search", profile="chatgpt")
def search(run: Run, query: Annotated[str, Arg("What to look for, in plain words.")]) -> Outcome:
    """Search long-term memory; `fetch` gives a result whole."""
    hits = run.memory.search_memory(query, limit=20, session=run.session, owner=run.owner)
    return Outcome(
        record={
            "results": [
                {
                    "id": hit.id,
                    "title": shorten(hit.text, 80),
                    "url": _uri(hit.id),
                    "text": f"{said_by(hit)}: {shorten(hit.text, _QUOTE_CHARS)}",
                }
                for hit in map(run.shown, hits)
            ]
        }
    )


@operation(TOOL, title="Fetch", profile="chatgpt")
def fetch(run: Run, id_: Id) -> Outcome:
    """Get a memory whole, with its evidence."""
    told = explain_memory(run, id_).record
    memory = told["memory"]
    quotes = [f"{shown['quote']} ({shown['source']})" for shown in told["evidence"]]
    return Outcome(
        record={
            "id": memory["id"],
            "title": shorten(memory["text"], 80),
            "text": "\n".join([memory["text"], *quotes]),
            "url": _uri(memory["id"]),
            "metadata": {
                name: str(memory[name])
                for name in ("kind", "confidence", "when", "trust", "by", "source")
            },
        }
    )


def _uri(named: str) -> str:
    return f"memory://{'episodes' if named.startswith('e') else 'facts'}/{named}"
