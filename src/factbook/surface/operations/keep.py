"""The operations by which a person looks after a memory: their word, and what waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from factbook import policy
from factbook.errors import FactbookError, ModelError, UsageError
from factbook.language.values import count, home_path
from factbook.model.facts import ME, Everyone, Status, one_owner
from factbook.surface import views
from factbook.surface.operations.arguments import FactId, Llm, Owner, Planner, Whose, fact_number
from factbook.surface.operations.base import KEEP, READ, Arg, Effect, Outcome, Run, operation
from factbook.surface.operations.model import failed_by, key_values

if TYPE_CHECKING:
    from factbook.model.facts import Receipt
    from factbook.surface.output import Page

_VERDICTS: Final = {"merge": "MERGE", "keep": "KEEP_BOTH", "contradiction": "CONTRADICTION"}
_ANSWERS: Final = {  # of what was overheard, and of what a person alone may say
    "accept": "ACCEPT",
    "refuse": "REFUSE",
    "newer": "NEWER",
    **_VERDICTS,
}
_SETTLED: Final = {
    "MERGE": "They are one fact now; `factbook unmerge` takes them apart.",
    "KEEP_BOTH": "Both stay, and are not asked about again.",
    "CONTRADICTION": "They contradict each other.",
    "NEWER": "The newer one holds; the older one keeps its row, and is in no answer.",
    "ACCEPT": "What was overheard is its owner's word now, in the place of the other.",
    "REFUSE": "What was overheard is wrong, and is not asked about again.",
}
_REVIEW_HOW: Final = (
    "give accept ID, refuse ID, or pair LOW HIGH merge|keep|newer|contradiction; `factbook review`"
    " alone shows what waits"
)

Statement = Annotated[
    str, Arg("One statement, in your own words.", metavar="TEXT", given="words", called="TEXT")
]


@operation(KEEP, Effect.OWN, tool=False)
def version(run: Run) -> Outcome:
    """Print the version."""
    from factbook import __version__

    del run
    return Outcome(record={"version": __version__}, show=f"factbook {__version__}")


@operation(READ, Effect.CREATES, examples=("/remember I moved to Oslo",))
def remember(run: Run, said: Statement, owner: Owner = ME) -> Outcome:
    """Keep a statement as a fact; it meets what is known at once."""
    began = run.memory.clock()
    return _stored(run, run.memory.remember(_statement(said), owner=owner).id, since=began)


@operation(READ, Effect.WRITES)
def correct(run: Run, fact: FactId, said: Statement, owner: Owner = ME) -> Outcome:
    """Put a statement in the place of a fact, which keeps its history."""
    number, statement = fact_number(fact), _statement(said)
    began = run.memory.clock()
    return _stored(run, run.memory.correct(number, statement, owner=owner).id, since=began)


def _statement(said: str) -> str:
    if not said:
        raise UsageError(detail="there is nothing to remember: the text is empty")
    return said


def _stored(run: Run, number: int, *, since: int) -> Outcome:
    """Embed what was just told, so that the next one meets it, and say what became of it.

    The statement is kept either way, and found by its words. In a conversation the worker embeds.
    """
    from factbook.memory.standing import fact_now, replaced_by

    trouble: FactbookError | None = None
    try:
        if run.alone:
            run.memory.embed(limit=policy.EMBED_BATCH)
    except FactbookError as error:
        trouble = error
    kept = fact_now(run.memory, number, now=run.memory.clock())
    is_new = kept.evidence_count == 1 and kept.learned_at >= since
    retired = replaced_by(run.memory, number, since=since)

    def show(page: Page) -> None:
        views.keep.fact_line(page, kept)
        if not is_new:
            page.say("  known already; what you said is one more piece of evidence", "dim")
        for old, why in retired:
            said = f"f{old.id}  {old.statement}" + (f" ({why})" if why else "")
            page.say(f"  takes the place of {said}", "dim")

    return Outcome(
        record={
            "new": is_new,
            "fact": kept,
            "superseded": [
                {"id": f"f{old.id}", "statement": old.statement, "why": why} for old, why in retired
            ],
        },
        show=show,
        trouble=trouble,
    )


@operation(KEEP, Effect.WRITES)
def feedback(
    run: Run,
    fact: FactId,
    verdict: Annotated[str, Arg("What is true of it.", metavar="right|wrong", given="argument")],
    owner: Owner = ME,
) -> Outcome:
    """Say whether a fact is right; a wrong one leaves all retrieval."""
    number = fact_number(fact)
    if verdict not in ("right", "wrong"):
        raise UsageError(detail=f"{verdict!r} is neither right nor wrong; give one of the two")
    receipt = run.memory.review.feedback(number, right=verdict == "right", owner=owner)
    said = "sure from now on" if verdict == "right" else "out of all retrieval from now on"
    return _changed(run, number, receipt, said)


@operation(KEEP, Effect.WRITES)
def pin(run: Run, fact: FactId, owner: Owner = ME) -> Outcome:
    """Keep a fact as it is: it does not fade, and nothing doubts it."""
    said = "pinned: it does not fade, and nothing doubts it or takes its place"
    return _pin(run, fact, owner, said, pinned=True)


@operation(KEEP, Effect.WRITES)
def unpin(run: Run, fact: FactId, owner: Owner = ME) -> Outcome:
    """Let a pinned fact fade again."""
    said = "not pinned: it fades from now on, where its kind does"
    return _pin(run, fact, owner, said, pinned=False)


def _pin(run: Run, fact: str, owner: str, said: str, *, pinned: bool) -> Outcome:
    number = fact_number(fact)
    receipt = run.memory.review.pin(number, pinned=pinned, owner=owner)
    return _changed(run, number, receipt, "it was so already" if receipt.unchanged else said)


@operation(KEEP, Effect.WRITES)
def unmerge(run: Run, fact: FactId, owner: Owner = ME) -> Outcome:
    """Take a merged fact out again; the two stay apart from then on."""
    number = fact_number(fact)
    receipt = run.memory.review.unmerge(number, owner=owner)
    return _changed(run, number, receipt, "a fact of its own again, with its evidence")


def _changed(run: Run, number: int, receipt: Receipt, said: str) -> Outcome:
    from factbook.memory.standing import fact_now

    fact = fact_now(run.memory, number, now=run.memory.clock())

    def show(page: Page) -> None:
        views.keep.fact_line(page, fact, said)
        if fact.status is Status.DEPRECATED and fact.pinned:
            page.say(
                "  at this confidence it is out of all retrieval;"
                f" {page.typed(f'feedback f{fact.id} right')} makes it sure",
                "yellow",
            )

    return Outcome(record={"fact": fact, "receipt": receipt}, show=show)


@operation(KEEP, Effect.OWN)
def review(
    run: Run,
    llm: Llm,
    whose: Whose,
    what: Annotated[
        Sequence[str],
        Arg(
            metavar="[accept ID | refuse ID | pair LOW HIGH VERDICT]",
            given="argument",
            known=("accept", "refuse", "pair"),
        ),
    ] = (),
    reason: Annotated[str, Arg("Why, for later.", metavar="TEXT")] = "",
    text: Annotated[str, Arg(metavar="TEXT")] = "",
    planner: Planner = "model",
    rules: Annotated[Path | None, Arg(metavar="FILE", terminal=True)] = None,
    all_: Annotated[bool, Arg(flag="--all", terminal=True)] = False,
) -> Outcome:
    """Decide what waits for a person: proposals, and pairs of facts.

    Args:
        what: A decision; without one, what waits is shown. A pair's verdict is merge, keep,
            newer (it holds, and the older one no more) or contradiction.
        text: With accept: a memory in your own words, or the answer to a question.
        rules: The rule file that an accepted rule is put into, instead of rules.toml in your
            configuration folder.
        all_: Show all that waits, not the first ten of each.
    """
    if not what:
        return _waiting(run, whose, all_=all_)
    from factbook.context import rules_file

    action, *rest = what
    if action in ("accept", "refuse") and len(rest) == 1:
        number = _proposal_number(rest[0])
        # Without a flag the model is looked for only where one is needed.
        run.open(Effect.WRITES, model=llm.config() if llm.named else "configured")
        return _decide(
            run,
            number,
            accept=action == "accept",
            reason=reason,
            words=text,
            planner=planner,
            rules=rules or rules_file(),
            owner=one_owner(whose.about),
        )
    if action == "pair" and len(rest) == 3:
        low, high = sorted((fact_number(rest[0]), fact_number(rest[1])))
        verdict = _ANSWERS.get(rest[2])
        if verdict is None:
            raise UsageError(
                detail=f"{rest[2]!r} is no verdict; give {', '.join(_VERDICTS)} or newer, or accept"
                " or refuse for what was overheard"
            )
        run.open(Effect.WRITES)
        return _settle(run, low, high, verdict, owner=whose.about)
    raise UsageError(detail=f"{' '.join(what)!r} is no decision; {_REVIEW_HOW}")


def _waiting(run: Run, whose: Whose, *, all_: bool) -> Outcome:
    part = run.reading(no_redact=whose.no_redact).review
    proposals = run.shown(part.proposals(owner=whose.about))
    questions = run.shown(part.questions(owner=whose.about))
    return Outcome(
        record={"proposals": proposals, "pairs": questions},
        show=lambda page: views.keep.review(page, proposals, questions, all_=all_),
        nothing_of=None if proposals or questions else whose.about,
    )


def _proposal_number(said: str) -> int:
    if not (said.isascii() and said.isdigit()) or len(said) > 18:
        raise UsageError(
            detail=f"{said!r} is not the number of a proposal; `factbook review` lists them"
        )
    return int(said)


def _decide(
    run: Run,
    number: int,
    *,
    accept: bool,
    reason: str,
    words: str,
    planner: Literal["model", "rules"],
    rules: Path,
    owner: str,
) -> Outcome:
    from factbook.pipelines.keyed import CLARIFICATION
    from factbook.pipelines.keyed_labels import write_label
    from factbook.surface.progress import bar

    part = run.memory.review
    proposal = part.proposal(number, owner=owner)
    ruled = accept and part.write_rule(number, rules, owner=owner)
    found = 0
    if ruled:
        # Before it is decided: what is broken off here still waits, and is done at the next yes.
        total = run.memory.sources.predicates(owner=owner).get("executed_command", 0)
        with bar("reading commands", total=total, unit="commands", quiet=run.quiet) as advance:
            found = part.read_stored(number, owner=owner, progress=advance).stored
    try:
        receipt = part.decide(
            number, accept=accept, reason=reason, text=words, planner=planner, owner=owner
        )
    except ModelError as error:
        return failed_by(error)
    state = "accepted" if accept else "refused"
    told = proposal.kind == CLARIFICATION and accept  # what was answered is told, as by `tell`
    label = write_label(receipt, planner=planner) if told else ""
    holds = key_values(run, receipt, owner=str(proposal.payload["owner"])) if told else ()

    def show(page: Page) -> None:
        if told:
            page.line(page.paint(label, "green"))
            views.model.keys(page, holds)
        page.say(f"{number}  {run.redact(proposal.title)}: {state}")
        if ruled:
            where = f"Its rule stands in {home_path(rules)} now"
            page.say(f"{where}, and applies to all that is read from now on.", "dim")
            page.say(f"{count(found, 'fact')} came of the commands that are stored.")

    return Outcome(
        record={
            "proposal": number,
            "state": state,
            "rules": str(rules) if ruled else None,
            "facts": found,
            "receipt": receipt,
            **({"label": label, "planner": planner} if told else {}),
        },
        show=show,
    )


def _settle(run: Run, low: int, high: int, verdict: str, *, owner: str | Everyone) -> Outcome:
    from factbook.memory.standing import fact_now

    for number in (low, high):
        run.memory.explain(number, owner=owner)  # that of another owner is not there
    receipt = run.memory.review.settle({(low, high): verdict}, owner=owner)
    facts = [fact_now(run.memory, fact_id, now=run.memory.clock()) for fact_id in (low, high)]
    said = _SETTLED[verdict]
    if verdict == "CONTRADICTION" and receipt.superseded:
        said = f"{said} {_SETTLED['NEWER']}"
    elif verdict == "CONTRADICTION" and receipt.contradicted:
        lost = "Both" if receipt.contradicted > 1 else "The one that is not vouched for"
        said = f"{said} {lost} lost half of the confidence."

    def show(page: Page) -> None:
        for fact in facts:
            merged = (
                f"merged into f{fact.merged_into_id}" if fact.merged_into_id is not None else ""
            )
            views.keep.fact_line(page, fact, merged)
        page.say(page.told(said), "dim")

    return Outcome(record={"verdict": verdict, "facts": facts, "receipt": receipt}, show=show)


@operation(KEEP, Effect.WRITES, tool=False)
def reembed(run: Run) -> Outcome:
    """Make all vectors anew with the model of this factbook."""
    from factbook.memory.standing import embedder_of, vectors_of
    from factbook.surface.progress import bar

    memory = run.memory
    before, total = embedder_of(memory), vectors_of(memory)
    mine = (memory.resources.embedder.id, memory.resources.embedder.dim)
    changed = 0
    if before is not None and before != mine:
        try:
            with bar("embedding", total=total, unit="rows", quiet=run.quiet) as advance:
                changed = memory.maintenance.reembed(progress=advance)
        except KeyboardInterrupt:
            return Outcome.interrupted(
                "stopped; the vectors in use are as they were, and `factbook reembed` goes on from"
                " there"
            )
    if before is None:
        said = "There are no vectors yet; `factbook embed` makes them."
    elif before == mine:
        said = f"Nothing had to change: {count(total, 'vector')} of {mine[0]}."
    else:
        said = f"{count(changed, 'vector')} of {mine[0]} in the place of {before[0]}'s."
    return Outcome(
        record={
            "changed": changed,
            "from": None if before is None else before[0],
            "to": mine[0],
            "waiting": memory.maintenance.waiting(),
        },
        show=lambda page: page.say(page.told(said)),
    )
