"""The operations on the things that are known: what is known, why, and leaving it out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from factbook.errors import NotFound, UsageError
from factbook.language.values import count, home_path
from factbook.language.words import words
from factbook.model.confidence import as_of
from factbook.model.facts import ME, Status
from factbook.surface import records, views
from factbook.surface.operations.arguments import Owner
from factbook.surface.operations.base import ASK, KEEP, Arg, Effect, Outcome, Run, operation
from factbook.surface.operations.world import named
from factbook.surface.text import one_line

if TYPE_CHECKING:
    from factbook.maintenance.erasure import Erased
    from factbook.model.facts import Fact
    from factbook.surface.output import Page

_FACT: Final = re.compile(r"f(\d{1,18})")
_NOTICE: Final = re.compile(r"n(\d{1,18})")
_VERBS: Final = ("delete", "restore")  # behind a thing, in /memory
_NAMED_IN: Final = 10  # facts that are told of, where a name is no thing's
_FINISH: Final = "`factbook erase --finish` cleans it later"


def _split(run: Run, said: str, owner: str, *, verbs: Sequence[str]) -> tuple[str, str]:
    """Return what is spoken of and the verb behind it, "" without one.

    A name that ends in such a word is a name: it is looked for whole first.
    """
    rest, _, last = said.rpartition(" ")
    if last.casefold() not in verbs or not rest or named(run, said, owner) is not None:
        return said, ""
    return rest, last.casefold()


def _owned(run: Run, number: int, owner: str) -> Fact | None:
    """Return a fact of the owner; that of somebody else is not there for them."""
    try:
        fact = run.memory.sources.fact(number, owner=owner)
    except NotFound:
        return None
    return None if fact.status is Status.ERASED else fact


def _fact_of(run: Run, number: int, owner: str) -> Fact:
    fact = _owned(run, number, owner)
    if fact is None:
        raise NotFound(
            what="fact",
            name=f"f{number}",
            hint="`factbook memory NAME` shows the facts of a thing with their ids.",
        )
    return fact


@operation(
    ASK,
    Effect.WRITES,
    examples=("/memory", "/memory 2", "/memory 2 delete", "/memory kef ls50 restore"),
    shows=lambda said: said.rpartition(" ")[2].casefold() not in _VERBS,
    undone_by="memory NAME restore",
)
def memory(
    run: Run,
    what: Annotated[str, Arg(metavar="[NAME|N] [delete|restore]", given="words")] = "",
    owner: Owner = ME,
) -> Outcome:
    """Show what is known about what you care about; forget a thing, or bring it back.

    Args:
        what: A thing, by its name or its number; without it, all of them.
    """
    interests = run.memory.interests
    if not what:
        known = run.shown(interests.entities(owner=owner))
        nothing = f"Nothing is known yet; {run.page.typed('learn TOPIC')} begins."
        return Outcome(
            record={"entities": records.numbered(known)},
            show=(lambda page: views.world.entities(page, known)) if known else nothing,
        )
    target, verb = _split(run, what, owner, verbs=_VERBS)
    if verb == "delete":
        return _deleted(run, target, owner)
    if verb == "restore":
        back = run.shown(interests.restore_entity(target, owner=owner))
        return Outcome(
            record={"restored": back},
            show=f"{one_line(back.name)} is back, with {count(back.fact_count, 'fact')}.",
        )
    return _view(run, target, owner)


def _view(run: Run, target: str, owner: str) -> Outcome:
    from factbook.memory import reasons

    entity_view = run.memory.interests.entity(target, owner=owner)
    brought = reasons.brought_in(run.memory, entity_view.entity)
    place = reasons.place_of(run.memory, entity_view.entity)
    now = run.memory.clock()
    view = run.shown(replace(entity_view, facts=[as_of(fact, now) for fact in entity_view.facts]))
    return Outcome(
        record=records.entity_view(view, brought, place=place),
        show=lambda page: views.world.entity(page, view, brought, place=place),
    )


def _deleted(run: Run, target: str, owner: str) -> Outcome:
    gone = run.shown(run.memory.interests.delete_entity(target, owner=owner))
    name = one_line(gone.name)
    facts = f", with {count(gone.fact_count, 'fact')}" if gone.fact_count else ""
    back = run.page.typed(f"memory {name} restore")
    return Outcome(
        record={"deleted": gone}, show=f"Forgotten: {name}{facts}; {back} brings it back."
    )


@operation(ASK, examples=("/interests",))
def interests(
    run: Run,
    plot: Annotated[Path | None, Arg(metavar="FILE", terminal=True)] = None,
    owner: Owner = ME,
) -> Outcome:
    """Show what you care about, most first, as far as what you did tells.

    Args:
        plot: Draw them over time too, as .png or .svg.
    """
    parts = run.memory.interests
    rows = run.shown(parts.ranked(owner=owner))
    preferences = run.shown(parts.preferences(owner=owner))
    drawn: Path | None = None
    if plot is not None:
        from factbook.memory.reasons import curves
        from factbook.surface.plots import interest_plot

        drawn = interest_plot(curves(run.memory, owner=owner), plot.expanduser())

    def show(page: Page) -> None:
        views.world.interests(page, rows, preferences)
        if not rows and not preferences:
            page.line(f"There is no interest yet; {page.typed('like TOPIC')} begins.")
        if drawn is not None:
            page.lines(["", f"The picture is in {one_line(home_path(drawn))}."])

    return Outcome(
        record={
            "interests": rows,
            "preferences": preferences,
            **({} if drawn is None else {"plot": str(drawn)}),
        },
        show=show,
    )


@operation(ASK, examples=("/why kef ls50 meta", "/why f12", "/why n3"))
def why(
    run: Run, what: Annotated[str, Arg(metavar="NAME|N|f12|n3", given="words")], owner: Owner = ME
) -> Outcome:
    """Show why a thing is cared about or liked, where a fact comes from, why a notice was told.

    Args:
        what: A thing, what somebody likes or dislikes, a fact or a notice.
    """
    from factbook.memory import reasons

    if not what:
        raise UsageError(
            detail="say of what: the name or the number of a thing, a fact as f12, a notice as n3"
        )
    fact, notice = _FACT.fullmatch(what), _NOTICE.fullmatch(what)
    if (fact or notice) and named(run, what, owner) is not None:
        fact = notice = None  # a thing may be called so, too: a plane, a road
    if fact:
        of_fact = reasons.of_fact(run.memory, _fact_of(run, int(fact[1]), owner))
        return Outcome(record=of_fact, show=lambda page: views.world.why_fact(page, of_fact))
    if notice:
        told = reasons.of_notice(run.memory, int(notice[1]), owner)
        return Outcome(record=told, show=lambda page: views.world.why_notice(page, told))
    try:
        entity = run.memory.interests.find_entity(what, owner=owner)
    except NotFound:
        liked = reasons.of_preference(run.memory, what, owner=owner)
        if not liked:
            raise

        def show(page: Page) -> None:
            for held in liked:
                views.world.why_preference(page, held)

        return Outcome(record={"preferences": liked}, show=show)
    cared = reasons.of_entity(run.memory, entity)
    return Outcome(record=cared, show=lambda page: views.world.why_entity(page, cared))


@operation(
    KEEP,
    Effect.ERASES,
    examples=("/forget kef ls50 meta", "/forget f12", "/forget f12 erase"),
    undone_by="memory NAME restore",
)
def forget(
    run: Run,
    what: Annotated[str, Arg(metavar="NAME|N|f12 [erase]", given="words")],
    owner: Owner = ME,
) -> Outcome:
    """Leave a thing or a fact out; with `erase` behind it, take it out for good.

    Args:
        what: A thing or a fact; with erase, it is taken out for good.
    """
    if not what:
        raise UsageError(detail="say what to forget: the name of a thing, or a fact as f12")
    target, verb = _split(run, what, owner, verbs=("erase",))
    match = _FACT.fullmatch(target)
    entity = named(run, target, owner)
    if match and entity is not None and _owned(run, int(match[1]), owner) is not None:
        from factbook.memory.reasons import place_of

        place = place_of(run.memory, entity)
        raise UsageError(
            detail=f"{target} is both a fact and the name of a thing;"
            f" {run.page.typed(f'memory {place} delete')} forgets the thing,"
            f" `factbook feedback {target} wrong` the fact"
        )
    if match and entity is None:
        fact = _fact_of(run, int(match[1]), owner)
        return (_erased_fact if verb else _forgotten_fact)(run, fact, owner)
    try:
        return (_erased_entity if verb else _deleted)(run, target, owner)
    except NotFound:
        facts = _telling_of(run, target, owner)
        if not facts:
            raise
        named_by = ", ".join(f"f{number}" for number in facts)
        how = run.page.typed(" ".join(["forget", f"f{facts[0]}", verb]).strip())
        hint = f"it is named in {named_by}, and {how} does it fact by fact."
        raise NotFound(what="entity", name=target, hint=hint) from None


def _telling_of(run: Run, name: str, owner: str) -> list[int]:
    """Return the facts that are found by a name and have it, word by word."""
    wanted = set(words(name))
    found = run.memory.search_memory(name, "facts", _NAMED_IN, owner=owner)
    return [int(hit.id[1:]) for hit in found if wanted and wanted.issubset(words(hit.text))]


def _forgotten_fact(run: Run, fact: Fact, owner: str) -> Outcome:
    run.memory.review.feedback(fact.id, right=False, owner=owner)
    run.memory.interests.note_action(owner=owner)
    statement = run.redact(fact.statement)
    return Outcome(
        record={"forgotten": {"id": f"f{fact.id}", "statement": statement}},
        show=f"f{fact.id} is out of all retrieval: {one_line(statement)}",
    )


def _erased_fact(run: Run, fact: Fact, owner: str) -> Outcome:
    done = run.memory.erasure.erase_fact(fact.id, owner=owner)
    run.memory.interests.note_action(owner=owner)
    return _erased(f"f{fact.id}", done)


def _erased_entity(run: Run, target: str, owner: str) -> Outcome:
    from factbook.model.keys import entity_name

    known = run.memory.interests.entities(owner=owner)
    numbered = target.isascii() and target.isdigit() and 1 <= int(target) <= len(known)
    name = known[int(target) - 1].name if numbered else entity_name(target)
    done = run.memory.erasure.erase_entity(name, owner=owner)
    run.memory.interests.note_action(owner=owner)
    return _erased(run.redact(name), done)


def _erased(name: str, done: Erased) -> Outcome:
    rows = {what: number for what, number in done.receipt.erased.items() if number}
    file, standing = done.file, done.standing
    notes = []
    if file is not None and file.waiting:
        notes.append(f"its bytes may still be in the file: {file.waiting}; {_FINISH}")
    elif file is not None and not file.clean:
        notes.append(f"short pieces like it still stand in the file; {_FINISH}")
    clean = file is not None and file.clean
    head = f"Erased {one_line(name)}: {count(sum(rows.values()), 'row')} for good."
    said = [f"{head} {views.erased.looked_through(done)}" if clean else head]
    if standing is not None:
        said += views.erased.rows_left(standing)
        notes += views.erased.how_it_goes(standing)
    notes += map(views.erased.file_holds, file.copies if file is not None else ())
    return Outcome(
        record={"erased": {"what": name, "rows": rows, "clean": clean, **records.standing(done)}},
        show="\n".join(said),
        notes=notes,
        code=views.erased.EXIT_STANDS * views.erased.stands(done),
    )
