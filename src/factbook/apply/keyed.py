"""4 apply: set, move and clear keyed facts. Called by `apply` alone, in its transaction.

The lists are read under the write lock, the steps are taken on them one after the other, and what
is written is the difference between before and after: so ranks stay unique whoever writes beside
us, and what counts as stored or updated is what the database really changed. A key has one current
row; what it held before is superseded by it and stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from factbook import policy
from factbook.apply.ranked_lists import RankProblem, rank_of, stepped
from factbook.errors import Overtaken, UsageError
from factbook.extract.voice import OwnWords, in_layout, overheard_at
from factbook.model.facts import FactKind, Millis, Stance, Status, Trust
from factbook.model.keys import fold_value, split_rank_key, topic_title
from factbook.model.ops import ChangeKeys, KeyStep
from factbook.store.derived.keyed import current_keys, key_times
from factbook.store.derived.ledger import stances
from factbook.store.rows import EvidenceRow, Life, claim_digest, latest

if TYPE_CHECKING:
    from factbook.apply.fact_rows import FactRows


class KeyChanges:
    """The changes of keyed facts that one message asks for."""

    def __init__(self, facts: FactRows) -> None:
        self._writer, self._receipt, self._now = facts.writer, facts.receipt, facts.now
        self._facts = facts

    def run(self, op: ChangeKeys) -> None:
        """Take the steps; raises UsageError, with nothing written, where one cannot be taken.

        Without `op.atomic` such a step is left out and said in the receipt. With `op.late` nothing
        is changed that a later message has changed since: raises Overtaken.
        """
        episode_id, text, at = self._message(op)
        # What is told to factbook itself is its owner's, but for what its layout shows as a paste.
        voice = self._facts.voice(episode_id)
        if not voice.in_question:
            voice = OwnWords(text, in_layout(text))
        keys = sorted({change.key for change in op.steps})
        before = current_keys(self._writer, op.owner, keys)
        times = key_times(self._writer, op.owner, keys) if op.late else {}
        after = {key: life.object for key, life in before.items()}
        by: dict[str, KeyStep] = {}  # key -> the step that gave it its value
        problems: list[str] = []
        for step in op.steps:
            was, was_by = dict(after), dict(by)
            problem = self._check(step, voice) or self._take(step, after, by)
            if problem is None and op.late:
                _check_later(step, was, after, times, at)
            if problem is not None:
                after, by = was, was_by
                problems.append(f"operation {step.number or 1}: {problem}")
        if problems and op.atomic:
            raise UsageError(detail="; ".join(problems) + "; nothing was changed")
        self._receipt.problems += problems
        self._write(op, episode_id, text, at, before, after, by)

    def _message(self, op: ChangeKeys) -> tuple[int, str, Millis | None]:
        ids = self._writer.episode_ids([op.episode])
        if op.episode not in ids:
            raise UsageError(detail=f"there is no message {op.episode}; record it in the same call")
        episode_id = ids[op.episode]
        witness = self._writer.heads([episode_id])[episode_id]
        if witness.injected or witness.owner != op.owner:
            whose = "text of our own" if witness.injected else f"a message of {witness.owner}"
            raise UsageError(detail=f"{op.episode} is {whose} and says nothing of {op.owner}")
        if witness.trust not in (Trust.DIRECT, Trust.OBSERVED):
            raise UsageError(
                detail=f"{op.episode} is {witness.trust}: only its owner's own words change keys"
            )
        text = self._writer.texts("episode", [episode_id])[episode_id]
        return episode_id, text, witness.occurred_at

    def _check(self, step: KeyStep, voice: OwnWords) -> str | None:
        text = voice.message
        if step.action not in policy.KEY_STEPS:
            return f"{step.action!r} is no step; use one of {', '.join(policy.KEY_STEPS)}"
        if not 0.0 <= step.confidence <= 1.0:  # also refuses NaN
            return f"the confidence {step.confidence} is not between 0 and 1"
        if not 0 <= step.start < step.end <= len(text):
            return f"the span {step.start} to {step.end} does not stand in the message"
        if why := overheard_at(voice, step.start, step.end):
            return f"{text[step.start : step.end]!r} is not in the owner's own words: it {why}"
        return None

    def _take(self, step: KeyStep, after: dict[str, str], by: dict[str, KeyStep]) -> str | None:
        """Take one step on the state as it is; return why it cannot be taken."""
        if step.action == "set":
            if not step.value.strip():
                return "the value is empty"
            if fold_value(after.get(step.key, "")) != fold_value(step.value):
                after[step.key] = step.value
            by[step.key] = step
            return None
        if step.action == "unset":
            if after.pop(step.key, None) is None:
                return f"nothing stands under {step.key}"
            return None
        ranks = _ranks(after, step.key)
        try:
            done = stepped(ranks, step)
        except RankProblem as problem:
            return str(problem)
        for rank in ranks:
            del after[f"{step.key}.{rank}"]
        after.update({f"{step.key}.{rank}": value for rank, value in done.items()})
        changed = [rank for rank in {*ranks, *done} if ranks.get(rank) != done.get(rank)]
        if step.action in ("rank", "append") and not changed:
            changed = [held for held in [rank_of(done, step.value)] if held]  # said again
        by.update({f"{step.key}.{rank}": step for rank in changed})
        return None

    def _write(
        self,
        op: ChangeKeys,
        episode_id: int,
        text: str,
        at: Millis | None,
        before: Mapping[str, Life],
        after: Mapping[str, str],
        by: Mapping[str, KeyStep],
    ) -> None:
        changed = [key for key, value in after.items() if _differs(before.get(key), value)]
        gone = [key for key in before if key not in after]
        said_again = [key for key in by if key in after and key in before and key not in changed]
        retired = [before[key] for key in (*changed, *gone) if key in before]
        # First out, then in: a key has one current row.
        self._writer.put_facts([(life, _out(life, self._now, at, heir=None)) for life in retired])
        new = [_new(op, key, after[key], by[key], episode_id, at, self._now) for key in changed]
        ids = dict(zip(changed, self._writer.add_facts(new), strict=True))
        holders = {fold_value(after[key]): ids[key] for key in changed}
        self._writer.add_evidence(
            [_evidence(ids[key], episode_id, op, by[key], text) for key in changed]
        )
        self._receipt.evidence += len(changed)
        for key in changed:
            action = "update" if key in before else "store"
            sure = by[key].confidence
            detail: dict[str, object] = {"key": key, "action": action, "confidence": sure}
            if key in before:
                detail |= {"before": before[key].object, "replaces": before[key].id}
            self._facts.event("store", "fact", ids[key], detail)
            self._count(key, action)
        for life in retired:
            # What moved to another rank lives on there; what gave way, in what took its place.
            heir = ids.get(life.predicate, holders.get(fold_value(life.object)))
            out, how = _out(life, self._now, at, heir=heir), "supersede" if heir else "retract"
            self._facts.change(how, life, out, why=op.rule, detail={"episode": episode_id})
        self._writer.drop_vectors("fact", [life.id for life in retired])
        for key in gone:
            self._count(key, "clear")
        for key in said_again:
            self._say_again(before[key], episode_id, op, by[key], text)
            self._count(key, "noop")

    def _say_again(
        self, life: Life, episode_id: int, op: ChangeKeys, step: KeyStep, text: str
    ) -> None:
        """Let a message that says what is known be evidence for it; it counts as no change."""
        if episode_id in stances(self._writer, [life.id])[life.id]:
            return
        self._writer.add_evidence([_evidence(life.id, episode_id, op, step, text)])
        self._receipt.evidence += 1
        place = self._writer.heads([episode_id])[episode_id]
        after = life._replace(
            evidence_count=life.evidence_count + 1,
            occurred_at=latest([life.occurred_at, place.occurred_at]),
            confidence=max(life.confidence, step.confidence),
        )
        self._facts.change("support", life, after, why="said again", detail={"added": [episode_id]})

    def _count(self, key: str, action: str) -> None:
        self._receipt.keys.append((key, action))
        if action == "store":
            self._receipt.stored += 1
        elif action == "update":
            self._receipt.updated += 1
        elif action == "clear":
            self._receipt.retracted += 1
        else:
            self._receipt.unchanged += 1


def _check_later(
    step: KeyStep,
    was: Mapping[str, str],
    now: Mapping[str, str],
    times: Mapping[str, Millis],
    at: Millis | None,
) -> None:
    """Raise Overtaken where a step changes what a later message has changed, or cleared, since."""
    if at is None:
        return
    for key, changed_at in times.items():
        same_list = key == step.key or key.startswith(step.key + ".")
        if same_list and changed_at > at and was.get(key) != now.get(key):
            raise Overtaken(key=key)


def statement_of(key: str, value: str) -> str:
    """Return the readable sentence of a keyed fact: "Favorite crypto #1: BTC"."""
    ranked = split_rank_key(key)
    if ranked is not None:
        return f"Favorite {topic_title(ranked[0])} #{ranked[1]}: {value}"
    name = key.removeprefix("user.").replace(".", " ").replace("_", " ")
    return f"{name[:1].upper()}{name[1:]}: {value}"


def _ranks(state: Mapping[str, str], list_key: str) -> dict[int, str]:
    ranks: dict[int, str] = {}
    for key, value in state.items():
        ranked = key.rpartition(".")
        if ranked[0] == list_key and ranked[2].isdigit():
            ranks[int(ranked[2])] = value
    return ranks


def _differs(known: Life | None, value: str) -> bool:
    return known is None or fold_value(known.object) != fold_value(value)


def _new(
    op: ChangeKeys,
    key: str,
    value: str,
    step: KeyStep,
    episode_id: int,
    at: Millis | None,
    now: Millis,
) -> Life:
    return Life(
        id=0,
        claim=claim_digest(op.owner, op.owner, key, value),
        owner=op.owner,
        subject=op.owner,
        predicate=key,
        object=value,
        statement=statement_of(key, value),
        kind=FactKind.KEYED,
        status=Status.PENDING_EMBED,
        confidence=min(step.confidence, policy.TRUST_CAP[op.trust]),
        trust=op.trust,
        evidence_count=1,
        episode_id=episode_id,
        occurred_at=at,
        embeddable=True,  # its sentence is: "what coins do I like" must find it
        confidence_at=now,
        retired_at=None,
        valid_to=None,
        merged_into_id=None,
        superseded_by=None,
        pinned=False,
    )


def _evidence(
    fact_id: int, episode_id: int, op: ChangeKeys, step: KeyStep, text: str
) -> EvidenceRow:
    end = min(step.end, step.start + policy.QUOTE_CHARS)
    return EvidenceRow(
        fact_id=fact_id,
        episode_id=episode_id,
        rule=op.rule,
        method=op.method,
        stance=Stance.SUPPORTS,
        quote=text[step.start : end],
        start=step.start,
        end=step.end,
    )


def _out(life: Life, now: Millis, at: Millis | None, *, heir: int | None) -> Life:
    """Return a keyed fact that holds no more: in favour of another one, or taken back."""
    return life._replace(
        status=Status.SUPERSEDED if heir else Status.RETRACTED,
        superseded_by=heir,
        retired_at=now,
        valid_to=at if at is not None else now,
    )
