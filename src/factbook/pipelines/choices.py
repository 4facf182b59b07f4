"""Choices: the way of what owners pick of what an assistant offered.

    an answer + the reply that it answers -> chosen | not certain which
    a host's own question with its answer -> chosen
    -> Ops: asserted by both messages | the earlier choice of the same superseded

The owner decided, so it is the owner's own word; its words are the assistant's, whose message is
evidence beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.extract.choices import Choice, answers_in, asks_back, chosen, chosen_anew, may_choose
from factbook.extract.directives import is_forged
from factbook.model.directives import DECISION, OFFERED, PROJECT, subject_of
from factbook.model.facts import Candidate, EpisodeKind, FactKind, StoredEpisode
from factbook.model.ops import Op, SupersedeFact
from factbook.pipelines.claims import asserted, digest_of, judged
from factbook.store.derived.facts import current_by_claim, holds
from factbook.store.derived.ledger import evidence_of
from factbook.store.rows import Filters, Life, LifeWhere

if TYPE_CHECKING:
    from factbook.context import Context

CHOICE: Final = "choice"
_METHOD: Final = "Chosen by its owner of what an assistant offered"
_OFFERED_METHOD: Final = "Offered by an assistant, and chosen"
_BEFORE: Final = 8  # ours: messages of the session that are looked at for the last reply

Write = Callable[[Sequence[Op]], object]


def choose(context: Context, episode: StoredEpisode, said: str, write: Write) -> None:
    """Write what an episode chooses; `said` is what of it its owner says in person."""
    if episode.agent or episode.injected:
        return
    if episode.kind is EpisodeKind.TOOL_RESULT:
        for answer in answers_in(episode.text):
            _keep(context, answer, episode, None, write)
        return
    if not may_choose(said):
        return
    reply = replied_to(context, episode)
    choice = chosen(reply.text, said) if reply is not None else None
    if choice is None:
        choice, reply = _changed(context, episode, said, reply)
    if reply is None or choice is None:
        return
    if not is_forged(reply.text, *choice.offered):
        _keep(context, choice, episode, reply, write)


def _changed(
    context: Context, episode: StoredEpisode, said: str, reply: StoredEpisode | None
) -> tuple[Choice | None, StoredEpisode | None]:
    """Return what an episode chooses of what its owner chose of before, and who offered it."""
    held = _choices(context, episode.owner, subject_of(PROJECT, episode.project, ""))
    shown = evidence_of(context.store, [life.id for life in held[: policy.CHOICES_LOOKED_AT]])
    offers = [row.episode_id for rows in shown.values() for row in rows if row.rule == OFFERED]
    for offer in context.store.episodes_by_id(offers).values():
        if reply is not None and offer.session == episode.session and asks_back(reply.text):
            choice = chosen_anew(offer.text, "", said)
        else:
            question = _before(context, offer)
            asked = question.text[: policy.CHOICE_CHARS] if question is not None else ""
            choice = chosen_anew(offer.text, asked, said) if asked else None
        if choice is not None and offer.id < episode.id:
            return choice, offer
    return None, None


def replied_to(context: Context, episode: StoredEpisode) -> StoredEpisode | None:
    """Return the reply that stands right before a prompt in its session."""
    before = _before(context, episode)
    answers = before is not None and before.kind is EpisodeKind.REPLY and not before.injected
    return before if answers else None


def _before(context: Context, episode: StoredEpisode) -> StoredEpisode | None:
    """Return the prompt or reply that stands right before another one in its session."""
    if not episode.session:
        return None
    filters = Filters(
        owner=episode.owner,
        session=episode.session,
        episode_kinds=(EpisodeKind.PROMPT, EpisodeKind.REPLY),
        before=episode.id,
    )
    messages = context.store.episodes(filters, limit=_BEFORE, newest_first=True)
    return next((m for m in messages if m.source_id == episode.source_id and not m.agent), None)


def _keep(
    context: Context,
    choice: Choice,
    episode: StoredEpisode,
    reply: StoredEpisode | None,
    write: Write,
) -> None:
    candidate = Candidate(
        subject=subject_of(PROJECT, episode.project, ""),
        predicate=DECISION,
        object=choice.statement,
        statement=choice.statement,
        confidence=policy.DIRECTIVE if choice.sure else policy.DIRECTIVE_UNSURE,
        rule=CHOICE,
        method=_METHOD,
        start=choice.picked[0],
        end=choice.picked[1],
        kind=FactKind.DIRECTIVE,
        embed=True,
    )
    if context.redact(candidate.object) != candidate.object:
        return  # learned since
    claim = digest_of(episode.owner, candidate)
    ops: list[Op] = [judged(candidate, episode)]
    if reply is not None and claim not in current_by_claim(context.store, [claim]):
        begin, end = choice.offered
        shown = replace(candidate, rule=OFFERED, method=_OFFERED_METHOD, start=begin, end=end)
        ops.append(asserted(shown, reply))
    write(ops)
    kept = current_by_claim(context.store, [claim]).get(claim)
    if kept is not None and holds(kept):
        write([_superseding(kept, old) for old in _chosen_before(context, choice, kept)])


def _chosen_before(context: Context, choice: Choice, kept: Life) -> list[Life]:
    """Return what else was chosen of the same: what was offered again, or to the same question."""
    others = {f"chose: {other}" for other in choice.others}
    ends = f" (of: {choice.question})"
    return [
        life
        for life in _choices(context, kept.owner, kept.subject)
        if life.id != kept.id
        if life.statement.partition(" (of: ")[0] in others
        or (not others and choice.question and life.statement.endswith(ends))
    ]


def _choices(context: Context, owner: str, subject: str) -> list[Life]:
    """Return the decisions that hold in a place, the newest first."""
    where = LifeWhere(
        owner=owner,
        kinds=[FactKind.DIRECTIVE],
        subjects=[subject],
        predicates=[DECISION],
        current=True,
    )
    held = [life for life in context.store.lives(where) if holds(life)]
    return sorted(held, key=lambda life: life.id, reverse=True)


def _superseding(kept: Life, other: Life) -> Op:
    later = (kept.occurred_at or 0) >= (other.occurred_at or 0)
    old, new = (other, kept) if later else (kept, other)
    return SupersedeFact(
        old_id=old.id, new_id=new.id, rule="chosen_anew", detail="The later choice counts."
    )
