"""What becomes of the items that a model reads off one turn.

    statement, change   -> gate.turn_claims -> asserted | surer, where the reader has it | refused
    directive           -> as the reader's (`pipelines.directives`)
    preference, name    -> as a message's (`pipelines.world_names`)

A change says of a known fact that it is over or otherwise now: the fact that says so takes its
place where the rules agree that both cannot hold, else the pair waits for a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.extract.directives import directive_at
from factbook.extract.entity_prompts import EntitiesFull, EntityItem, read_entities
from factbook.extract.mentions import hear
from factbook.extract.opinions import preferences_in
from factbook.extract.quotes import words_in
from factbook.extract.turn_reading import (
    ChangeItem,
    DirectiveItem,
    NameItem,
    PlacedItem,
    PreferenceItem,
    RefusedItem,
    ShownTurn,
    kind_of,
    text_of,
)
from factbook.extract.voice import OwnWords
from factbook.gate.given_up import GivenUp, given_up
from factbook.gate.judge import JudgedClaim, Relation, judge
from factbook.gate.turn_claims import (
    covers,
    judge_directive,
    judge_order,
    judge_statement,
    judge_topic,
)
from factbook.language.reader.read import read
from factbook.model.directives import DECISION, subject_of
from factbook.model.entities import PreferenceType
from factbook.model.facts import Candidate, FactKind, Receipt, Trigger, Trust
from factbook.model.ops import Op, RejectCandidate, SupersedeFact
from factbook.pipelines.claims import agreed, digest_of, judged
from factbook.pipelines.directives import TURN_RULE as DIRECTIVE_RULE
from factbook.pipelines.directives import Hearing, unsettled
from factbook.pipelines.stated import TURN_RULE, claim_of, own_ops, statement
from factbook.pipelines.world_facts import Gathered, TextVectors
from factbook.pipelines.world_model import named_by
from factbook.pipelines.world_names import EntityIntake
from factbook.store.derived import ledger
from factbook.store.derived.entities import known_names
from factbook.store.derived.facts import current_by_claim, holds, lives_by_id
from factbook.store.rows import Life

if TYPE_CHECKING:
    from factbook.context import Context

_METHOD: Final = "Read off the turn by {}, found there by code"
_SPENT: Final = "its owner said otherwise since"
_IS_RULE: Final = ("duplicate", "the same words are a rule or a decision")
_CHANGES: Final = (Relation.CONTRADICTION, Relation.SUPERSEDES)

Write = Callable[[Sequence[Op]], Receipt]


@dataclass(slots=True)
class Taken:
    """What became of the items of a turn."""

    agreed: int = 0  # that the reader had found in the same words
    cared: Receipt = field(default_factory=Receipt)  # of preferences and names
    refused: list[RefusedItem] = field(default_factory=list)


class TurnKeeper:
    """Keeps what a model reads off one turn."""

    def __init__(self, context: Context, turn: ShownTurn, write: Write) -> None:
        """Compose; `write` is what writes facts, where that belongs to a run."""
        self._context = context
        self._store = context.store
        self._turn = turn
        self._episode = turn.episode
        self._write = write
        self._taken = Taken()
        self._stated: list[tuple[PlacedItem, int]] = []  # of this answer, with their facts
        self._given: list[GivenUp] | None = None
        self._spent = ledger.spent_spans(self._store, [self._episode.id])
        self._directed = ledger.directed_spans(self._store, [self._episode.id])
        self._held = {
            kind: ledger.held_spans(self._store, [self._episode.id], kind).get(self._episode.id, [])
            for kind in (FactKind.STATEMENT, FactKind.DIRECTIVE)
        }

    def keep(self, placed: Sequence[PlacedItem]) -> Taken:
        """Write what the items claim; what was written before stays so when that is repeated."""
        placed = [item for item in placed if not self._is_ordered(item)]
        self._care(placed)
        rules = [item for item in placed if isinstance(item.item, DirectiveItem)]
        for item in rules:
            self._directive(item)
        for item in placed:
            if isinstance(item.item, (DirectiveItem, PreferenceItem, NameItem)):
                continue
            if any(rule.start < item.end and item.start < rule.end for rule in rules):
                self._refuse(item, *_IS_RULE)
            else:
                self._statement(item)
        return self._taken

    def _refuse(self, item: PlacedItem, reason: str, detail: str) -> None:
        kind, text = kind_of(item.item), text_of(item.item)
        self._taken.refused.append(RefusedItem(self._episode.uid, reason, detail, kind, text))

    def _is_secret(self, item: PlacedItem, said: str) -> bool:
        """Refuse what a rule that was learned since would redact; tell whether it did."""
        if self._context.redact(said) == said:
            return False
        self._refuse(item, "redacted", "it holds what is kept secret")
        return True

    def _is_ordered(self, item: PlacedItem) -> bool:
        """Refuse what the turn orders a memory to keep of somebody; tell whether it did."""
        if isinstance(item.item, NameItem):
            return False
        verdict = judge_order(self._turn.text, item.start, item.end)
        if verdict.reason:
            self._refuse(item, verdict.reason, verdict.detail)
        return bool(verdict.reason)

    def _overlapping(self, item: PlacedItem, kind: FactKind) -> list[int]:
        """Return the facts that the same words of the turn speak for already."""
        return [held.fact_id for held in self._held[kind] if held.overlaps(item.start, item.end)]

    def _statement(self, item: PlacedItem) -> None:
        """Write a statement, or let it make one surer that the reader has; then what it changes."""
        candidate = self._candidate(item)
        if candidate is None:
            return
        known = item.known
        old = None if known is None else lives_by_id(self._store, [known.id]).get(known.id)
        if old is not None and old.kind is FactKind.DIRECTIVE:
            self._change_directive(item, old)
            return
        directed = self._directed.get(self._episode.id, ())
        if ledger.is_mostly(directed, item.start, item.end):
            self._refuse(item, *_IS_RULE)
            return
        held = lives_by_id(self._store, self._overlapping(item, FactKind.STATEMENT))
        same = [n for n, life in held.items() if covers(life.statement, candidate.statement)]
        twin = None if same else self._twin(item)
        if same:
            self._agree(same, candidate)
            new = held[same[0]]
        elif twin is not None:
            new = lives_by_id(self._store, [twin])[twin]
            if old is None:
                self._refuse(item, "duplicate", "another item of the same words says the same")
        else:
            op = judged(candidate, self._episode)
            if isinstance(op, RejectCandidate):
                self._refuse(item, op.reason, op.detail)
                return
            self._write([op])
            kept = self._current(candidate)
            if kept is None:
                return
            new = kept
            self._stated.append((item, new.id))
        if old is not None:
            self._follow(old, new, item)

    def _twin(self, item: PlacedItem) -> int | None:
        """Return the fact in which an item before says the same of the same words, if one does."""
        said = text_of(item.item)
        for other, fact_id in self._stated:
            overlaps = other.start < item.end and item.start < other.end
            stated = JudgedClaim(text=text_of(other.item))
            if overlaps and self._judged(stated, said) is Relation.SAME:
                return fact_id
        return None

    def _judged(self, older: JudgedClaim, newer: str) -> Relation:
        """Say how a text stands to an earlier claim by their words."""
        rows = self._context.embedder.embed([older.text, newer])
        similarity = float(rows[0] @ rows[1])
        return judge(older, JudgedClaim(text=newer), similarity=similarity).relation

    def _candidate(self, item: PlacedItem) -> Candidate | None:
        """Return a statement that the turn says; None where it is refused."""
        said, text = text_of(item.item), self._turn.text
        spent = self._spent.get(self._episode.id, ())
        if self._is_secret(item, said):
            return None
        if any(start < item.end and item.start < end for start, end in spent):
            self._refuse(item, "refused_before", _SPENT)
            return None
        verdict = judge_statement(said, text[item.start : item.end], text[slice(*item.around)])
        if verdict.reason:
            self._refuse(item, verdict.reason, verdict.detail)
            if verdict.reason == "hallucination":  # what was quoted may say enough by itself
                self._write(own_ops(self._context, self._episode, item.start, item.end))
            return None
        clause = read(text).clause_at(item.start)
        sure = policy.HEDGED if clause and "hedge" in clause.flags else policy.STATED
        candidate = statement(
            self._episode.owner,
            said,
            (item.start, item.end),
            rule=TURN_RULE,
            method=self._method,
            sure=min(item.item.confidence, sure),
        )
        # Other words than those of its owner are a model's text.
        return candidate if verdict.is_own else replace(candidate, trust=Trust.DERIVED)

    @property
    def _method(self) -> str:
        return _METHOD.format(self._context.llm.id)

    def _agree(self, facts: Sequence[int], candidate: Candidate) -> None:
        self._taken.agreed += 1
        self._write([agreed(fact_id, candidate, self._episode) for fact_id in facts])

    def _current(self, candidate: Candidate) -> Life | None:
        claim = digest_of(self._episode.owner, candidate)
        return current_by_claim(self._store, [claim]).get(claim)

    def _follow(self, old: Life, new: Life, item: PlacedItem) -> None:
        """Let a fact take the place of an earlier one, or let the pair wait for a verdict."""
        earlier = (old.occurred_at or 0) <= (self._episode.occurred_at or 0)
        if old.id == new.id or not holds(old) or not earlier:
            return
        rows = self._context.embedder.embed([old.statement, new.statement])
        cosine = float(rows[0] @ rows[1])
        judgement = judge(claim_of(old), claim_of(new), similarity=cosine)
        if judgement.relation is Relation.SAME:
            return  # the night makes one of them
        if judgement.relation in _CHANGES and not old.pinned and self._turn_says_so(old, new, item):
            change = SupersedeFact(
                old_id=old.id,
                new_id=new.id,
                rule=judgement.rule,
                detail=judgement.detail,
                similarity=cosine,
            )
            self._write([change])
        else:
            self._wait(old, new, item, cosine)

    def _turn_says_so(self, old: Life, new: Life, item: PlacedItem) -> bool:
        """Tell whether the sentences behind a model's wording end the earlier one too."""
        if new.trust is Trust.DIRECT:
            return True  # the wording is theirs
        said = self._turn.text[slice(*item.around)].strip()
        return self._judged(claim_of(old), said) in _CHANGES

    def _wait(self, old: Life, new: Life, item: PlacedItem, cosine: float) -> None:
        assert isinstance(item.item, ChangeItem)
        what = "is over" if item.item.change == "over" else "is otherwise now"
        detail = f"a model reads that the earlier one {what}"
        rule = policy.TURN_CHANGE
        self._write([unsettled(old, new, rule=rule, detail=detail, similarity=cosine)])

    def _directive(self, item: PlacedItem) -> None:
        said = item.item
        assert isinstance(said, DirectiveItem)
        verdict = judge_directive(read(self._turn.text), item.start, item.end)
        if verdict.reason:
            self._refuse(item, verdict.reason, verdict.detail)
            return
        words = self._turn.text[item.start : item.end]
        subject = subject_of(said.scope, self._episode.project, words)
        self._rule(item, subject, said.type, sure=said.confidence >= policy.MODEL_RULE_SURE)

    def _change_directive(self, item: PlacedItem, old: Life) -> None:
        """Keep what changes a rule as a decision; what does not say so outright is asked about."""
        new = self._rule(item, old.subject, DECISION, sure=True)
        now = lives_by_id(self._store, [old.id])[old.id]
        if new is not None and new.id != old.id and holds(now):
            self._wait(old, new, item, 1.0)

    def _rule(self, item: PlacedItem, subject: str, predicate: str, *, sure: bool) -> Life | None:
        """Write a rule or a decision as the reader's are; return the fact that holds it."""
        place = (item.start, item.end)
        candidate = directive_at(
            self._episode, place, subject, predicate, self._method, sure=sure, rule=DIRECTIVE_RULE
        )
        if candidate is None:
            self._refuse(item, "malformed", "it is too short for a rule, or plays somebody")
            return None
        if self._is_secret(item, candidate.object):
            return None
        same = self._overlapping(item, FactKind.DIRECTIVE)
        if same:
            self._agree(same, candidate)
            return lives_by_id(self._store, same)[same[0]]
        if self._given is None:
            self._given = list(given_up(read(self._turn.text)))
        hearing = Hearing(self._context, self._write)
        hearing.keep(candidate, self._episode, self._given)
        return self._current(candidate)

    def _care(self, placed: Sequence[PlacedItem]) -> None:
        """Write what the turn likes and dislikes, and the things that it names."""
        names = [item for item in placed if isinstance(item.item, NameItem)]
        topics = [item for item in placed if isinstance(item.item, PreferenceItem)]
        if not names and not topics:
            return
        intake = EntityIntake(self._context, TextVectors(self._context))
        gained = Gathered(names=intake.known(self._episode.owner))
        if names:
            self._names(names, intake, gained)
        for item in topics:
            self._preference(item, intake, gained)
        if gained.ops:
            # What its owner wrote brings things in, whoever read it.
            self._taken.cared.add(self._context.write(gained.ops, Trigger.USER_MESSAGE))

    def _names(self, items: Sequence[PlacedItem], intake: EntityIntake, gained: Gathered) -> None:
        owner, text = self._episode.owner, self._turn.text
        heard = hear(text, known=known_names(self._store, owner), voice=OwnWords(text, ()))
        known = {mention.name: mention for mention in heard}
        for item in items:
            if self._is_secret(item, text_of(item.item)):
                continue
            answer = EntitiesFull(entities=[EntityItem(name=text_of(item.item), quote="")])
            names, refused = read_entities(
                answer, text, known=gained.names, full=True, external=False
            )
            for _, reason, detail in refused:
                self._refuse(item, reason, detail)
            for name in names:
                self._taken.agreed += name.name in known
                mention = known.get(name.name) or named_by(
                    self._context.llm.id, name, known=gained.names
                )
                intake.hear(mention, self._episode, gained)

    def _preference(self, item: PlacedItem, intake: EntityIntake, gained: Gathered) -> None:
        said, text, topic = item.item, self._turn.text, text_of(item.item)
        assert isinstance(said, PreferenceItem)
        if self._is_secret(item, topic):
            return
        kind = PreferenceType(said.sign)
        words = set(topic.casefold().split())
        same = [
            span
            for span in preferences_in(text, voice=OwnWords(text, ()))
            if span.start < item.end and item.start < span.end
            if words & set(span.topic.casefold().split())
        ]
        likes = said.sign == "like"
        read_as = (same[0].type is PreferenceType.LIKE) if same else None
        place = words_in(text, topic, item.start, item.end) or (item.start, item.end)
        verdict = judge_topic(likes, read_as, read(text), *place)
        if verdict.reason:
            self._refuse(item, verdict.reason, verdict.detail)
            return
        if same:
            self._taken.agreed += 1
            topic = same[0].topic  # one topic, as the rules have it
        intake.prefer(topic, kind, self._episode, gained, text[item.start : item.end])
