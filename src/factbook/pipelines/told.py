"""What is told: the way of what a person says on purpose, which meets what is known at once.

    text -> its episode -> one claim -> judged against the nearest facts -> Ops -> Receipt
                           asserted | supports its twin | takes the place of others

The nightly work would find the same pairs; here the person waits for the answer, so only the facts
nearest to the new one are judged: what says the same takes the text as evidence, and what it takes
the place of is retired at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.errors import UsageError
from factbook.extract.sentences import content_words
from factbook.gate.judge import JudgedClaim, Relation, judge, read
from factbook.gate.related import REWORDED
from factbook.gate.slots import place_of
from factbook.language.reader.relate import RELATER
from factbook.language.verbs import as_said
from factbook.model.facts import Fact, FactKind, Millis, Receipt, Trigger, Trust
from factbook.model.keys import without_hidden
from factbook.model.ops import MergeFacts, Op, PinFact, SupersedeFact
from factbook.pipelines.claims import Witness, asserted, supported
from factbook.pipelines.stated import STATES, claim_of, statement
from factbook.redaction.labels import without_labels
from factbook.sources.conversation.turn import clean, own_text, within
from factbook.sources.told import digest, said_ops
from factbook.store.derived.facts import lives_by_id, standing
from factbook.store.port import Store
from factbook.store.rows import Life, claim_digest

if TYPE_CHECKING:
    from factbook.context import Context

_RULE: Final = "told"
_LABEL: Final = re.compile(r"\[REDACTED:([^:\]\s]+)")
_METHOD: Final = "Its owner said so on purpose"


def tell(
    context: Context,
    text: str,
    *,
    owner: str,
    at: Millis | None = None,
    like: Callable[[str, str], Mapping[int, float]],
    instead_of: Sequence[int] = (),
    receipt: Receipt | None = None,
) -> Fact:
    """Keep a statement and return the fact that holds it.

    It takes the place of the facts `instead_of`, pinned or not, however alike they look: its owner
    says that they are wrong. `receipt` is given what was changed.

    `like` finds the facts of an owner that a text may meet, with their cosines (NaN for one that
    waits for its vector). `at` is when it was said (now, if not given): a later time is now, one
    before 1970 is none, and a fact that is dated later is not retired by it.

    Raises UsageError for a text that is empty, nothing but a secret, or longer than a statement may
    be.
    """
    now = context.clock()
    # What was copied from a page may hold signs that nobody sees. The lines stay for the redactor.
    seen = "\n".join(map(without_hidden, own_text(clean(text)).splitlines()))
    said = " ".join(context.redact(seen).split())
    if not said:
        raise UsageError(detail="there is nothing to remember: the text is empty")
    taken_out(context, seen, said)
    if len(said) > policy.PROMPT_CHARS:
        raise UsageError(
            detail=f"the text has {len(said)} characters; a fact may have {policy.PROMPT_CHARS}, so"
            " keep it as a note (`factbook ingest --kind note FILE`)"
        )
    moment, _ = within(now if at is None else min(at, now), now)
    uid = f"told:{digest(owner, said, str(moment))}"
    return keep(
        context,
        said,
        Witness(uid, owner, Trust.DIRECT, said),
        (0, len(said)),
        at=moment,
        now=now,
        like=like,
        instead_of=instead_of,
        first=said_ops(said, uid=uid, owner=owner, at=moment),
        receipt=Receipt() if receipt is None else receipt,
    )


def taken_out(context: Context, raw: str, said: str) -> tuple[str, ...]:
    """Return the kinds of the secrets of a text that `said` is without.

    Raises UsageError where it says nothing else: "my API key is" is the shell of one. The secret is
    known from then on all the same.
    """
    before = set(_LABEL.findall(raw))
    kinds = tuple(kind for kind in dict.fromkeys(_LABEL.findall(said)) if kind not in before)
    called = content_words(" ".join(kinds).replace("-", " "))
    if kinds and not content_words(without_labels(said)) - called:
        context.write([], Trigger.COMMAND)
        raise UsageError(detail="there is nothing to remember but a secret, and none is kept")
    return kinds


def keep(
    context: Context,
    said: str,
    heard: Witness,
    shown: tuple[int, int],
    *,
    at: Millis | None,
    now: Millis,
    like: Callable[[str, str], Mapping[int, float]],
    receipt: Receipt,
    instead_of: Sequence[int] = (),
    first: Sequence[Op] = (),
    method: str = _METHOD,
) -> Fact:
    """Keep what an owner said at a moment, which `heard` shows in its characters `shown`.

    Arguments as of `tell`; `first` are the Ops that record what `heard` stands for, where nothing
    has recorded it yet.
    """
    store, owner, uid = context.store, heard.owner, heard.uid
    twin, retired, similar = meet(store, said, owner, at, like, instead_of, now)
    ops = list(first)
    candidate = statement(owner, said, shown, rule=_RULE, method=method, sure=policy.TOLD)
    if twin is None:
        ops.append(asserted(candidate, heard))
    receipt.add(context.write(ops, Trigger.COMMAND, now=now))
    # Either may have been merged into another fact, long ago or just now: that one holds it.
    claim = claim_digest(owner, owner, STATES, said) if twin is None else twin.claim
    fact_id = standing(store, [claim])[claim]
    followers: list[Op] = []
    if twin is not None:
        # Its episode has its number now, so it can be evidence for the fact that says the same.
        stored = heard._replace(id=store.episode_ids([uid])[uid])
        followers.append(supported(fact_id, candidate, stored))
    for old, rule, detail in retired:
        if old.id == fact_id:
            continue
        followers.append(
            _joined(store, fact_id, old, detail)
            if rule == REWORDED
            else SupersedeFact(
                old_id=old.id, new_id=fact_id, rule=rule, detail=detail, similarity=similar[old.id]
            )
        )
    for old in lives_by_id(store, instead_of).values():
        if old.current and old.id != fact_id:
            # A pin holds against everything but its owner, whose word this is.
            followers += [PinFact(fact_id=old.id, pinned=False)] if old.pinned else []
            why = "its owner corrected it"
            followers.append(
                SupersedeFact(old_id=old.id, new_id=fact_id, rule=policy.CORRECTION, detail=why)
            )
    if followers:
        receipt.add(context.write(followers, Trigger.COMMAND, now=now))
    return store.facts_by_id([fact_id])[fact_id]


def _joined(store: Store, fact_id: int, old: Life, detail: str) -> Op:
    """Return what joins an older fact to one that likely says the same: the newer words stand."""
    fact = store.facts_by_id([fact_id])[fact_id]
    return MergeFacts(
        winner_id=fact_id,
        loser_ids=[old.id],
        evidence_counts=[fact.evidence_count, old.evidence_count],
        rule=REWORDED,
        detail=detail,
    )


def meet(
    store: Store,
    said: str,
    owner: str,
    at: Millis | None,
    like: Callable[[str, str], Mapping[int, float]],
    besides: Sequence[int],
    now: Millis,
) -> tuple[Life | None, list[tuple[Life, str, str]], dict[int, float]]:
    """Return (the fact that says the same, those it retires with rule and reason, similarities).

    What it likely only words anew is among the latter, by the rule REWORDED.

    `besides` are facts that it is not judged against.
    """
    near = [pair for pair in _nearest(store, said, owner, like) if pair[0].id not in besides]
    told = JudgedClaim(
        text=as_said(said),
        subject=owner,
        predicate=STATES,
        object=said,
        kind=FactKind.STATEMENT,
        occurred_at=at,
    )
    reading = read(told.text)
    twin: Life | None = None
    retired: list[tuple[Life, str, str]] = []
    for place, (life, cosine) in enumerate(near):
        held = replace(claim_of(life), text=as_said(life.statement))
        known = read(held.text)
        # What was said later takes the place of what was said before, in whatever order we hear it;
        # what is known was said by now, and is dated ahead by a clock that was wrong.
        later = min(life.occurred_at or 0, now) > (at or 0)
        judgement = judge(
            told if later else held,
            held if later else told,
            similarity=cosine,
            older_reading=reading if later else known,
            newer_reading=known if later else reading,
            net=RELATER if place < policy.RELATED_NEIGHBOURS else None,
            closest=partial(_closest, near, life, lambda text: like(text, owner), besides),
        )
        reworded = judgement.rule == REWORDED
        if judgement.relation is Relation.SAME and not reworded:
            twin = twin or life
            continue
        first = not any(rule == REWORDED for _, rule, _ in retired)
        ends = judgement.relation in (Relation.CONTRADICTION, Relation.SUPERSEDES)
        if not later and ((reworded and first) or ends):
            retired.append((life, judgement.rule, judgement.detail))
    return twin, retired, {life.id: cosine for life, cosine in near}


def _closest(
    near: Sequence[tuple[Life, float]],
    life: Life,
    like: Callable[[str], Mapping[int, float]],
    besides: Sequence[int],
) -> bool:
    """Tell whether neither what is said nor a statement near it has a nearer one."""
    best, cosine = max(near, key=lambda pair: pair[1])
    if best.id != life.id:
        return False
    others = like(life.statement).items()
    return not any(c > cosine for id_, c in others if id_ != life.id and id_ not in besides)


def _nearest(
    store: Store, said: str, owner: str, like: Callable[[str, str], Mapping[int, float]]
) -> list[tuple[Life, float]]:
    """Return the owner's statements that are close enough to be judged, the closest first."""
    cosines = like(said, owner)
    place = place_of(read(as_said(said)))
    near: list[tuple[float, int]] = []
    further: list[tuple[float, int]] = []  # of whose words none may be shared
    # Of the hundreds that may be like it only the texts are read, and the rows of the few that are.
    for fact_id, words in store.texts("fact", list(cosines)).items():
        cosine = cosines[fact_id]
        # What waits for its vector is compared by its words: an equal text must not be kept twice.
        if math.isnan(cosine):
            cosine = float(words.casefold() == said.casefold())
        alike = cosine >= policy.JUDGED_SIMILARITY
        if alike or (place and place == place_of(read(as_said(words)))):
            near.append((-cosine, fact_id))
        elif cosine >= policy.RELATED_SIMILARITY:
            further.append((-cosine, fact_id))
    near = sorted(near)[: policy.TOLD_NEIGHBOURS]
    near += sorted(further)[: max(0, policy.RELATED_NEIGHBOURS - len(near))]
    nearest = {fact_id: -less for less, fact_id in near}
    lives = lives_by_id(store, list(nearest))
    return [(lives[fact_id], cosine) for fact_id, cosine in nearest.items() if fact_id in lives]
