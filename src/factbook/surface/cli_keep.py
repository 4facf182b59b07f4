"""The commands that keep a memory in order: the queue, the night, and a person's word.

As in `cli`: each command turns options into arguments, asks `Memory`, and hands what comes back to
`render_keep` or `records_keep`; what costs time to import is imported where it is used.
"""

from __future__ import annotations

import shlex
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from factbook import policy
from factbook.errors import FactbookError, ModelError, NotFound, UsageError
from factbook.model.facts import EVERYONE, ME, Everyone, Status, one_owner
from factbook.surface.options import (
    KEEP,
    READ,
    AllOwners,
    Call,
    Command,
    Db,
    Json,
    LlmModel,
    LlmProvider,
    LlmTimeout,
    LlmUrl,
    NoRedact,
    Owner,
    PlannerOption,
    RuleFile,
    app,
    at_least,
    begin,
    fact_number,
    facts_failed,
    model_from,
    planner_of,
    reading,
    say_others,
    whose_of,
)

if TYPE_CHECKING:
    from factbook.maintenance.changes_report import Account
    from factbook.maintenance.consolidate import RunReport
    from factbook.memory import Memory
    from factbook.memory.keyed import Planner
    from factbook.memory.standing import Unanswered
    from factbook.model.facts import Fact, Proposal, Receipt, Run
    from factbook.store.base import Store
    from factbook.surface.output import Screen
    from factbook.surface.progress import Say

EXIT_INTERRUPTED: Final = 130  # 128 + SIGINT, as shells count
RUNS_SHOWN: Final = 20
_VERDICTS: Final = {"merge": "MERGE", "keep": "KEEP_BOTH", "contradiction": "CONTRADICTION"}
_HEARD: Final = {"accept": "ACCEPT", "refuse": "REFUSE", **_VERDICTS}  # of what was overheard
_REVIEW_HOW: Final = (
    "give accept ID, refuse ID, or pair LOW HIGH merge|keep|contradiction; `factbook review` alone"
    " shows what waits"
)

FactArgument = Annotated[
    str, typer.Argument(metavar="FACT", help="Its id, as f12 or 12.", show_default=False)
]
TextArgument = Annotated[
    list[str],
    typer.Argument(metavar="TEXT", help="One statement, in your own words.", show_default=False),
]


# --- a person's word ------------------------------------------------------------------------------


@app.command(cls=Command, rich_help_panel=READ)
def remember(
    ctx: typer.Context,
    said: TextArgument,
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Keep a statement as a fact; it meets what is known at once."""
    call = begin(ctx, db, as_json)
    statement = _statement(said)
    with call.memory("create") as memory:
        began = _now()
        found = memory.remember(statement, owner=owner)
        trouble = _embed_few(memory)
        _tell_stored(call, memory, found, since=began)
        if trouble is not None:
            raise trouble


@app.command(cls=Command, rich_help_panel=READ)
def correct(
    ctx: typer.Context,
    fact: FactArgument,
    said: TextArgument,
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Put a statement in the place of a fact, which keeps its history."""
    call = begin(ctx, db, as_json)
    number, statement = fact_number(fact), _statement(said)
    with call.memory("write") as memory:
        began = _now()
        found = memory.correct(number, statement, owner=owner)
        trouble = _embed_few(memory)
        _tell_stored(call, memory, found, since=began)
        if trouble is not None:
            raise trouble


def _statement(said: list[str]) -> str:
    statement = " ".join(said).strip()
    if not statement:
        raise UsageError(detail="there is nothing to remember: the text is empty")
    return statement


def _embed_few(memory: Memory) -> FactbookError | None:
    """Embed what was just told, so that the next one meets it; return what went wrong.

    The statement is kept either way, and found by its words.
    """
    try:
        memory.embed(limit=policy.EMBED_BATCH)
    except FactbookError as error:
        return error
    return None


def _tell_stored(call: Call, memory: Memory, found: Fact, *, since: int) -> None:
    from factbook.maintenance.verdict_queue import judged_pairs
    from factbook.memory.standing import fact_now

    now = _now()
    stored = fact_now(memory, found.id, now=now)
    is_new = stored.evidence_count == 1 and stored.learned_at >= since
    retired = [
        (fact_now(memory, one.low_id if one.low_id != found.id else one.high_id, now=now), one)
        for one in judged_pairs(memory.store)
        if one.relation == "supersedes"
        and one.judged_at >= since
        and found.id in (one.low_id, one.high_id)
    ]
    redact = memory.resources.redactor.redact
    if call.screen.as_json:
        from factbook.surface import records

        call.screen.json(
            {
                "new": is_new,
                "fact": records.fact(stored),
                "superseded": [
                    {"id": f"f{old.id}", "statement": old.statement, "why": redact(pair.detail)}
                    for old, pair in retired
                ],
            }
        )
        return
    _say_fact(call.screen, stored)
    if not is_new:
        call.screen.say("  known already; what you said is one more piece of evidence", "dim")
    for old, pair in retired:
        why = f" ({redact(pair.detail)})" if pair.detail else ""
        call.screen.say(f"  takes the place of f{old.id}  {old.statement}{why}", "dim")


def _say_fact(screen: Screen, fact: Fact, more: str = "") -> None:
    from factbook.surface import text

    lead = f"f{fact.id}  {fact.confidence:.2f}  "
    lines = text.wrap(text.one_line(fact.statement), screen.prose - len(lead))
    screen.line(screen.paint(lead, "dim") + screen.paint(lines[0], "bold"))
    screen.lines(" " * len(lead) + screen.paint(one, "bold") for one in lines[1:])
    if more:
        screen.say("  " + more, "dim")


@app.command(cls=Command, rich_help_panel=KEEP)
def feedback(
    ctx: typer.Context,
    fact: FactArgument,
    verdict: Annotated[
        str,
        typer.Argument(metavar="right|wrong", help="What is true of it.", show_default=False),
    ],
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Say whether a fact is right; a wrong one leaves all retrieval."""
    call = begin(ctx, db, as_json)
    number = fact_number(fact)
    if verdict not in ("right", "wrong"):
        raise UsageError(detail=f"{verdict!r} is neither right nor wrong; give one of the two")
    with call.memory("write") as memory:
        receipt = memory.review.feedback(number, right=verdict == "right", owner=owner)
        said = "sure from now on" if verdict == "right" else "out of all retrieval from now on"
        _show_change(call, memory, number, receipt, said)


@app.command(cls=Command, rich_help_panel=KEEP)
def pin(
    ctx: typer.Context,
    fact: FactArgument,
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Keep a fact as it is: it does not fade, and nothing doubts it."""
    _pin(begin(ctx, db, as_json), fact_number(fact), pinned=True, owner=owner)


@app.command(cls=Command, rich_help_panel=KEEP)
def unpin(
    ctx: typer.Context,
    fact: FactArgument,
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Let a pinned fact fade again."""
    _pin(begin(ctx, db, as_json), fact_number(fact), pinned=False, owner=owner)


def _pin(call: Call, number: int, *, pinned: bool, owner: str) -> None:
    with call.memory("write") as memory:
        receipt = memory.review.pin(number, pinned=pinned, owner=owner)
        if pinned:
            said = "pinned: it does not fade, and nothing doubts it or takes its place"
        else:
            said = "not pinned: it fades from now on, where its kind does"
        _show_change(call, memory, number, receipt, said, same="it was so already")


@app.command(cls=Command, rich_help_panel=KEEP)
def unmerge(
    ctx: typer.Context,
    fact: FactArgument,
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Take a merged fact out again; the two stay apart from then on."""
    call = begin(ctx, db, as_json)
    number = fact_number(fact)
    with call.memory("write") as memory:
        receipt = memory.review.unmerge(number, owner=owner)
        _show_change(call, memory, number, receipt, "a fact of its own again, with its evidence")


def _show_change(
    call: Call, memory: Memory, number: int, receipt: Receipt, said: str, *, same: str = ""
) -> None:
    from factbook.memory.standing import fact_now

    found = fact_now(memory, number, now=_now())
    if call.screen.as_json:
        from factbook.surface import records, records_keep

        call.screen.json({"fact": records.fact(found), "receipt": records_keep.receipt(receipt)})
        return
    _say_fact(call.screen, found, same if same and receipt.unchanged else said)
    if found.status is Status.DEPRECATED and found.pinned:
        call.screen.say(
            "  at this confidence it is out of all retrieval;"
            f" `factbook feedback f{found.id} right` makes it sure",
            "yellow",
        )


# --- what waits for a person ----------------------------------------------------------------------


def _complete_review(incomplete: str) -> list[str]:
    return [one for one in ("accept", "refuse", "pair") if one.startswith(incomplete)]


@app.command(cls=Command, rich_help_panel=KEEP)
def review(
    ctx: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[accept ID | refuse ID | pair LOW HIGH VERDICT]",
            help="A decision; without one, what waits is shown. A pair's verdict is merge, keep or"
            " contradiction.",
            autocompletion=_complete_review,
            show_default=False,
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why, for later.", show_default=False)
    ] = "",
    words_: Annotated[
        str,
        typer.Option(
            "--text",
            metavar="TEXT",
            help="With accept: a memory in your own words, or the answer to a question.",
            show_default=False,
        ),
    ] = "",
    planner: PlannerOption = "model",
    provider: LlmProvider = None,
    model: LlmModel = None,
    url: LlmUrl = None,
    timeout: LlmTimeout = None,
    rules: RuleFile = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Show all that waits.", show_default=False)
    ] = False,
    owner: Owner = ME,
    all_owners: AllOwners = False,
    no_redact: NoRedact = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Decide what waits for a person: proposals, and pairs of facts."""
    call = begin(ctx, db, as_json)
    words, about = what or [], whose_of(owner, all_owners)
    if not words:
        with reading(call, no_redact=no_redact) as memory:
            _show_review(call, memory, all_=all_, owner=about)
        return
    action, rest = words[0], words[1:]
    if action in ("accept", "refuse") and len(rest) == 1:
        number, how = _proposal_number(rest[0]), planner_of(planner)
        flagged = any(one is not None for one in (provider, model, url, timeout))
        # Without a flag the model is looked for only where one is needed.
        with call.memory(
            "write", model=model_from(provider, model, url, timeout) if flagged else "configured"
        ) as memory:
            _decide(
                call,
                memory,
                number,
                accept=action == "accept",
                reason=reason,
                words=words_,
                planner=how,
                rules=rules,
                owner=one_owner(about),
            )
    elif action == "pair" and len(rest) == 3:
        low, high = sorted((fact_number(rest[0]), fact_number(rest[1])))
        verdict = _HEARD.get(rest[2])
        if verdict is None:
            raise UsageError(
                detail=f"{rest[2]!r} is no verdict; give {', '.join(_VERDICTS)}, or accept or"
                " refuse for what was overheard"
            )
        with call.memory("write") as memory:
            _settle(call, memory, low, high, verdict, owner=about)
    else:
        raise UsageError(detail=f"{' '.join(words)!r} is no decision; {_REVIEW_HOW}")


def _show_review(call: Call, memory: Memory, *, all_: bool, owner: str | Everyone) -> None:
    proposals, questions = (
        memory.review.proposals(owner=owner),
        memory.review.questions(owner=owner),
    )
    if not (proposals or questions):
        say_others(call, memory, owner)
    if call.screen.as_json:
        from factbook.surface import records_keep

        redact_value = memory.resources.redactor.redact_value
        call.screen.json(
            {
                "proposals": [
                    records_keep.proposal(one, redact_value=redact_value) for one in proposals
                ],
                "pairs": [records_keep.question(one) for one in questions],
            }
        )
        return
    from factbook.surface import render_keep

    render_keep.review(
        call.screen,
        proposals,
        questions,
        redact=memory.resources.redactor.redact,
        program=_program(call),
        all_=all_,
    )


def _program(call: Call) -> str:
    """Return how to call factbook on this database, as it is typed."""
    from factbook.context import default_db
    from factbook.surface import text

    if call.db == default_db():
        return "factbook"
    return text.one_line(f"factbook --db {shlex.quote(str(call.db))}")


def _proposal_number(said: str) -> int:
    if not (said.isascii() and said.isdigit()) or len(said) > 18:
        raise UsageError(
            detail=f"{said!r} is not the number of a proposal; `factbook review` lists them"
        )
    return int(said)


def _decide(
    call: Call,
    memory: Memory,
    number: int,
    *,
    accept: bool,
    reason: str,
    words: str,
    planner: Planner,
    rules: Path | None,
    owner: str,
) -> None:
    from factbook.pipelines.keyed import CLARIFICATION
    from factbook.pipelines.keyed_labels import write_label

    found = next((one for one in memory.review.proposals(owner=owner) if one.id == number), None)
    if found is None:
        decided = [
            one
            for state in ("accepted", "refused")
            for one in memory.review.proposals(state=state, owner=owner)
        ]
        if any(one.id == number for one in decided):
            raise UsageError(detail=f"proposal {number} was decided already")
        raise NotFound(
            what="proposal", name=number, hint="`factbook review` lists those that wait."
        )
    path = _append_rule(memory, found, rules) if accept else None
    try:
        receipt = memory.review.decide(
            number, accept=accept, reason=reason, text=words, planner=planner, owner=owner
        )
    except ModelError as error:
        facts_failed(call, error)
        raise
    state = "accepted" if accept else "refused"
    told = found.kind == CLARIFICATION and accept  # what was answered is told, as by `tell`
    label = write_label(receipt, planner=planner) if told else ""
    if call.screen.as_json:
        from factbook.surface import records_keep

        more = {"label": label, "planner": planner} if told else {}
        call.screen.json(
            {
                "proposal": number,
                "state": state,
                "rules": None if path is None else str(path),
                "receipt": records_keep.receipt(receipt),
                **more,
            }
        )
        return
    from factbook.surface import text

    if told:
        from factbook.surface.cli_model import show_keys

        call.screen.line(call.screen.paint(label, "green"))
        show_keys(call.screen, memory, receipt, owner=str(found.payload["owner"]))
    call.screen.say(f"{number}  {memory.resources.redactor.redact(found.title)}: {state}")
    if path is not None:
        call.screen.say(
            f"Its rule stands in {text.home_path(path)} now, and applies to all that is read from"
            " now on.",
            "dim",
        )


def _append_rule(memory: Memory, found: Proposal, rules: Path | None) -> Path | None:
    """Put the rule of a proposal into the user's rules; None where it has none."""
    toml = found.payload.get("toml")
    if not isinstance(toml, str) or not toml.strip():
        return None
    if memory.resources.redactor.redact(toml) != toml:
        raise UsageError(
            detail=f"the rule of proposal {found.id} holds what is redacted as a secret by now;"
            f" `factbook review refuse {found.id}` puts it away"
        )
    from factbook.context import rules_file
    from factbook.surface.user_rules import append_rule

    path = rules.expanduser() if rules is not None else rules_file()
    append_rule(path, toml)
    return path


def _settle(
    call: Call, memory: Memory, low: int, high: int, verdict: str, *, owner: str | Everyone
) -> None:
    from factbook.memory.standing import fact_now

    for number in (low, high):
        memory.explain(number, owner=owner)  # that of another owner is not there
    receipt = memory.review.settle({(low, high): verdict}, owner=owner)
    facts = [fact_now(memory, one, now=_now()) for one in (low, high)]
    if call.screen.as_json:
        from factbook.surface import records, records_keep

        call.screen.json(
            {
                "verdict": verdict,
                "facts": [records.fact(one) for one in facts],
                "receipt": records_keep.receipt(receipt),
            }
        )
        return
    for one in facts:
        more = f"merged into f{one.merged_into_id}" if one.merged_into_id is not None else ""
        _say_fact(call.screen, one, more)
    said = {
        "MERGE": "They are one fact now; `factbook unmerge` takes them apart.",
        "KEEP_BOTH": "Both stay, and are not asked about again.",
        "CONTRADICTION": "They contradict each other: both lost half of their confidence.",
        "ACCEPT": "What was overheard is its owner's word now, in the place of the other.",
        "REFUSE": "What was overheard is wrong, and is not asked about again.",
    }[verdict]
    call.screen.say(said, "dim")


# --- the embedding queue --------------------------------------------------------------------------


@app.command(cls=Command, rich_help_panel=KEEP)
def reembed(ctx: typer.Context, db: Db = None, as_json: Json = False) -> None:
    """Make all vectors anew with the model of this factbook."""
    call = begin(ctx, db, as_json)
    screen = call.screen
    with call.memory("write") as memory:
        before = memory.store.embedder()
        counts = memory.store.counts()
        total = counts["episode_vectors"] + counts["fact_vectors"]
        mine = (memory.resources.embedder.id, memory.resources.embedder.dim)
        changed = 0
        if before is not None and before != mine:
            from factbook.surface.progress import bar

            try:
                with bar("embedding", total=total, unit="rows", quiet=screen.as_json) as advance:
                    changed = memory.maintenance.reembed(progress=advance)
            except KeyboardInterrupt:
                screen.note(
                    "stopped; the vectors in use are as they were, and `factbook reembed` goes on"
                    " from there"
                )
                raise typer.Exit(EXIT_INTERRUPTED) from None
        if screen.as_json:
            screen.json(
                {
                    "changed": changed,
                    "from": None if before is None else before[0],
                    "to": mine[0],
                    "waiting": memory.maintenance.waiting(),
                }
            )
            return
        from factbook.surface.text import count

        if before is None:
            screen.say("There are no vectors yet; `factbook embed` makes them.")
        elif before == mine:
            screen.say(f"Nothing had to change: {count(total, 'vector')} of {mine[0]}.")
        else:
            screen.say(f"{count(changed, 'vector')} of {mine[0]} in the place of {before[0]}'s.")


# --- the night ------------------------------------------------------------------------------------


@app.command(cls=Command, rich_help_panel=KEEP)
def consolidate(
    ctx: typer.Context,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Do it on a copy in memory, and show what would change.",
            show_default=False,
        ),
    ] = False,
    undo: Annotated[
        int | None,
        typer.Option(
            "--undo", metavar="RUN", help="Take back what a run changed.", show_default=False
        ),
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Show every change.", show_default=False)
    ] = False,
    owner: Owner = ME,
    all_owners: AllOwners = False,
    no_redact: NoRedact = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Do the nightly work: what recurs, what is supported, what contradicts, what is the same."""
    call, about = begin(ctx, db, as_json), whose_of(owner, all_owners)
    if undo is not None:
        if dry_run:
            raise UsageError(detail="--undo and --dry-run exclude each other")
        at_least(1, undo, "--undo")
        _undo(call, undo, no_redact=no_redact)
        return
    from factbook.maintenance.changes_report import account, run_of
    from factbook.maintenance.consolidate import PHASES
    from factbook.maintenance.verdict_queue import TASK
    from factbook.memory.standing import unanswered
    from factbook.surface.progress import phases

    found: list[_Left] = []
    began = time.perf_counter()
    # A dry run works on a copy: the database itself is only read.
    with call.memory("read" if dry_run else "write", redact=not no_redact) as memory:

        def keep(store: Store, report: RunReport) -> None:
            run = run_of(store, report.run_id)
            assert run is not None
            asked = unanswered(memory, owner=about, store=store)
            found.append(
                _Left(
                    changes=account(store, run, owner=about),
                    aside=store.set_aside(),
                    unanswered=[one for one in asked if one.kind == TASK],
                )
            )

        try:
            with phases(PHASES, quiet=call.screen.as_json) as begun:
                report = _consolidate(memory, begun, keep, dry_run=dry_run)
        except KeyboardInterrupt:
            call.screen.note(
                "nothing was changed"
                if dry_run
                else "stopped; all that was written before is kept, and `factbook consolidate` goes"
                " on from there"
            )
            raise typer.Exit(EXIT_INTERRUPTED) from None
        _show_run(
            call,
            memory,
            report,
            found[0],
            dry_run=dry_run,
            seconds=time.perf_counter() - began,
            all_=all_,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    """What a run left behind, read before a copy is gone."""

    changes: Account
    aside: list[tuple[str, int, str]]  # rows that cannot be embedded
    unanswered: list[Unanswered]  # pairs that a model was asked about in vain


def _consolidate(memory: Memory, begun: Say, keep: Any, *, dry_run: bool) -> RunReport:
    return memory.consolidate(dry_run=dry_run, on_phase=begun, on_done=keep)


def _show_run(
    call: Call,
    memory: Memory,
    report: RunReport,
    left: _Left,
    *,
    dry_run: bool,
    seconds: float,
    all_: bool,
) -> None:
    redact, changes, aside = memory.resources.redactor.redact, left.changes, left.aside
    if call.screen.as_json:
        from factbook.surface import records_keep, records_model

        call.screen.json(
            {
                **records_keep.run(changes.run),
                "dry_run": dry_run,
                "receipt": records_keep.receipt(report.receipt),
                "changes": records_keep.account(changes, redact=redact),
                "pairs_waiting": report.waiting,
                "aside": records_keep.aside(aside, redact=redact),
                "error": redact(report.error),
                "calls": [asdict(one) for one in report.calls],
                "unanswered": records_model.unanswered(left.unanswered),
            }
        )
        return
    from factbook.surface import render_keep, render_model
    from factbook.surface.text import amount, moment

    when = f"{moment(report.as_of)}, {amount(seconds)}"
    head = f"run {report.run_id} · {when}"
    if dry_run:
        head = f"dry run · {when}; this is what would change"
    render_keep.account(
        call.screen,
        changes,
        redact=redact,
        head=head,
        embedded=report.receipt.embedded,
        waiting=report.waiting,
        all_=all_,
    )
    render_keep.aside(call.screen, aside, redact=redact)
    for one in report.calls:
        call.screen.say(f"asked the model about {redact(one.told())}", "dim")
    if report.error:
        call.screen.warn(f"the judge gave no answer, and the pairs wait on: {redact(report.error)}")
    render_model.unanswered(call.screen, left.unanswered)


def _undo(call: Call, run_id: int, *, no_redact: bool) -> None:
    with call.memory("write", redact=not no_redact) as memory:
        # the night serves all
        receipt = memory.maintenance.undo(run_id, owner=EVERYONE).receipt
        if call.screen.as_json:
            from factbook.surface import records_keep

            call.screen.json(
                {"run": run_id, "state": "undone", "receipt": records_keep.receipt(receipt)}
            )
            return
        from factbook.surface.text import count

        left = ""
        if receipt.unchanged:
            left = f"; {count(receipt.unchanged)} stay, for what they changed has changed since"
        call.screen.say(f"run {run_id}: {count(receipt.reverted, 'change')} taken back{left}.")


@app.command(cls=Command, rich_help_panel=KEEP)
def runs(
    ctx: typer.Context,
    number: Annotated[
        int | None,
        typer.Argument(metavar="RUN", help="Show the changes of this one.", show_default=False),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="The newest N; 0 for all.")
    ] = RUNS_SHOWN,
    all_: Annotated[
        bool, typer.Option("--all", help="With RUN, show every change.", show_default=False)
    ] = False,
    owner: Owner = ME,
    all_owners: AllOwners = False,
    no_redact: NoRedact = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List consolidations, the newest first, or show one."""
    call = begin(ctx, db, as_json)
    at_least(0, limit, "--limit")
    with reading(call, no_redact=no_redact) as memory:
        if number is not None:
            _show_past_run(call, memory, number, all_=all_, owner=whose_of(owner, all_owners))
            return
        found = memory.maintenance.runs(limit=limit or 1 << 30)
        if call.screen.as_json:
            from factbook.surface import records_keep

            call.screen.json({"runs": [records_keep.run(one) for one in found]})
            return
        from factbook.surface import render_keep

        if not found:
            call.screen.say("There was no consolidation yet; `factbook consolidate` does one.")
            return
        render_keep.runs(call.screen, found)


def _show_past_run(
    call: Call, memory: Memory, number: int, *, all_: bool, owner: str | Everyone
) -> None:
    from factbook.maintenance.changes_report import account, run_of

    run = run_of(memory.store, number)
    if run is None:
        raise NotFound(what="run", name=number, hint="`factbook runs` lists them.")
    changes = account(memory.store, run, owner=owner)
    redact = memory.resources.redactor.redact
    if call.screen.as_json:
        from factbook.surface import records_keep

        call.screen.json(
            {**records_keep.run(run), "changes": records_keep.account(changes, redact=redact)}
        )
        return
    from factbook.surface import render_keep
    from factbook.surface.text import moment

    render_keep.account(
        call.screen,
        changes,
        redact=redact,
        head=f"run {run.id} · {moment(run.started_at)}, {_state(run)}",
        embedded=_embedded(run),
        waiting=0,
        all_=all_,
    )


def _state(run: Run) -> str:
    return run.state if run.state != "running" else f"running, after {run.phase or 'its start'}"


def _embedded(run: Run) -> int:
    receipt = run.report.get("receipt")
    found = receipt.get("embedded", 0) if isinstance(receipt, dict) else 0
    return found if isinstance(found, int) else 0


@app.command("install-timer", cls=Command, rich_help_panel=KEEP)
def install_timer(
    ctx: typer.Context,
    at: Annotated[
        str, typer.Option("--at", metavar="HH:MM", help="When, in local time.")
    ] = "03:30",
    cron: Annotated[
        bool,
        typer.Option(
            "--cron", help="A line of your crontab, instead of systemd.", show_default=False
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print it, and write nothing.", show_default=False)
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take it away again.", show_default=False)
    ] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Have `factbook consolidate` run every night."""
    call = begin(ctx, db, as_json)
    if cron:
        _cron(call, at, dry_run=dry_run, remove=remove)
    else:
        _systemd(call, at, dry_run=dry_run, remove=remove)


def _systemd(call: Call, at: str, *, dry_run: bool, remove: bool) -> None:
    from factbook.context import default_key_file
    from factbook.maintenance import timer

    screen, folder, name = call.screen, timer.unit_folder(), f"{timer.NAME}.timer"
    if remove:
        gone = [] if dry_run else timer.remove(folder)
        commands = [f"systemctl --user stop {name}", "systemctl --user daemon-reload"]
        _tell_timer(screen, removed=[str(one) for one in gone], commands=commands if gone else [])
        return
    one = timer.job(db=call.db, key_file=default_key_file(), at=at)
    files = timer.unit_files(one, folder=folder)
    commands = ["systemctl --user daemon-reload", f"systemctl --user enable --now {name}"]
    before = [] if dry_run else timer.install(files)
    if screen.as_json:
        screen.json(
            {
                "dry_run": dry_run,
                "files": [{"path": str(file.path), "text": file.text} for file in files],
                "replaced": [str(path) for path in before],
                "commands": commands,
            }
        )
        return
    from factbook.surface.text import home_path, safe

    for file in files:
        if dry_run:
            screen.line(screen.paint(safe(f"# {file.path}"), "dim"))
            screen.lines(safe(file.text).splitlines())
            screen.line()
        else:
            verb = "replaced" if file.path in before else "written"
            screen.say(f"{verb}: {home_path(file.path)}")
    screen.say("To start it, type:")
    screen.lines(f"  {command}" for command in commands)


def _tell_timer(screen: Screen, *, removed: list[str], commands: list[str]) -> None:
    if screen.as_json:
        screen.json({"removed": removed, "commands": commands})
        return
    if not removed:
        screen.say("There was no timer of ours.")
        return
    from factbook.surface.text import home_path

    for one in removed:
        screen.say(f"removed: {home_path(one)}")
    if commands:
        screen.say("To end it now, type:")
        screen.lines(f"  {command}" for command in commands)


def _cron(call: Call, at: str, *, dry_run: bool, remove: bool) -> None:
    from factbook.context import default_key_file
    from factbook.maintenance import timer

    screen = call.screen
    if remove:
        gone = not dry_run and timer.remove_cron()
        _tell_timer(screen, removed=["the line in your crontab"] if gone else [], commands=[])
        return
    one = timer.job(db=call.db, key_file=default_key_file(), at=at)
    line = timer.cron_line(one)
    replaced = not dry_run and timer.install_cron(line)
    if screen.as_json:
        screen.json({"dry_run": dry_run, "line": line, "replaced": replaced})
        return
    from factbook.surface.text import safe

    if not dry_run:
        screen.say("replaced in your crontab:" if replaced else "put into your crontab:")
    screen.line(safe(line))


# --- shared ---------------------------------------------------------------------------------------


def _now() -> int:
    from factbook.recall.time_expressions import now_ms

    return now_ms()
