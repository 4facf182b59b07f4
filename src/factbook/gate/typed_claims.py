"""Judge typed memories: stored, stored as a proposal, or refused with its reason.

Pure but for its log, whose lines are the seed's. The layers are asked in the seed's order, and the
first that refuses names the reason:

1. grounded in the owner's words, or in what is told of the owner
2. at least the confidence under which nothing of any type is let in
3. none of the rules of its type is broken, and the threshold of its type is reached
4. says something that could be true
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from factbook import policy
from factbook.gate.grounding import Grounding, Passage
from factbook.gate.grounding.bound import unbound
from factbook.gate.grounding.claim import shows_in_talk
from factbook.gate.grounding.inverted import inverted
from factbook.gate.scoring import Embed, Score, ground_claim, partly_supported, score
from factbook.gate.type_rules import Exclusion, broken_rule
from factbook.gate.type_sanity import is_nonsensical, reading_of
from factbook.gate.type_signs import shown_by
from factbook.language.reader.relate import Relater
from factbook.language.words import word_set
from factbook.model.memory_types import MemoryType, RefusedItem, RejectionReason, TypedClaim

log: Final = logging.getLogger("factbook.model.memory_types")
SHOWN_CHARS: Final = 120  # ours: of a claim in a line of the log


class Action(StrEnum):
    """Say what becomes of a claim."""

    STORED_ACTIVE = "stored_active"  # it is applied from now on
    STORED_PROPOSED = "stored_proposed"  # a pattern that waits for a yes or for being seen again
    REJECTED = "rejected"  # nothing is stored of it; the refusal is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedVerdict:
    """What the gate says of one claim, with all that it went by."""

    claim: TypedClaim
    action: Action
    reason: RejectionReason | None  # why it was refused; None where it was stored
    detail: str  # one clause for a person; "" where it was stored as active
    proposal: bool  # refused, and kept as a candidate for a proposal
    threshold: float  # of its type; the floor of every type where that refused it
    final: float  # the confidence that the gate went by, Score.final
    score: Score
    grounding: Grounding
    rule: Exclusion | None  # the rule of its type that it breaks
    shown: tuple[str, ...]  # what it shows of its type: explicit, current, factual ...

    @property
    def stored(self) -> bool:
        """Say whether it is stored, active or waiting."""
        return self.action is not Action.REJECTED


def threshold_of(kind: MemoryType) -> float:
    """Return the confidence from which on a memory of a type is stored."""
    return policy.TYPE_THRESHOLD[kind]


def judge_typed(
    claim: TypedClaim,
    passage: Passage,
    *,
    embed: Embed | None = None,
    known: Sequence[str] = (),
    net: Relater | None = None,
) -> TypedVerdict:
    """Judge one claim against the passage that it is said to come from.

    `known` are texts of what is known of the owner. Without `embed` nothing is grounded by
    similarity. With `net` the reader says whether a summary bears a claim out. A pattern is stored
    as a proposal from its threshold on and as active from `policy.PATTERN_APPLIES` on, if it was
    seen more than once or is told of as a habit; below its threshold it is refused and from
    `policy.PROPOSED_FROM` on kept as a candidate.
    """
    grounding, objection = _grounding(claim, passage, embed, net)
    scored = score(claim, grounding, known=known)
    refusal = _refusal(claim, passage, grounding, scored, objection)
    threshold = threshold_of(claim.type)
    action, detail = Action.REJECTED, ""
    shown: tuple[str, ...] = ()
    if refusal is None:
        shown = shown_by(claim, grounding)
        action, detail = _stored(claim, scored, shown)
    elif refusal.reason is RejectionReason.LOW_CONFIDENCE:
        threshold = policy.ANY_TYPE_FLOOR
    return TypedVerdict(
        claim=claim,
        action=action,
        reason=refusal.reason if refusal else None,
        detail=refusal.detail if refusal else detail,
        proposal=(
            refusal is not None
            and refusal.reason is RejectionReason.FACT_BELOW_THRESHOLD
            and claim.type is MemoryType.USER_PATTERN
            and scored.final >= policy.PROPOSED_FROM
        ),
        threshold=threshold,
        final=scored.final,
        score=scored,
        grounding=grounding,
        rule=refusal.rule if refusal else None,
        shown=shown,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refusal:
    reason: RejectionReason
    detail: str
    rule: Exclusion | None = None


def _grounding(
    claim: TypedClaim, passage: Passage, embed: Embed | None, net: Relater | None
) -> tuple[Grounding, str]:
    """Return what grounds a claim in its owner's words, and what stands against that all the same.

    What the assistant did is no fact about the user; of a narrative a summary's writer may tell it.
    """
    pattern = claim.type is MemoryType.USER_PATTERN
    if pattern and shows_in_talk(claim.text):
        net = None  # what questions show the words' own rules read better (docs/grounding.md)
    grounding = ground_claim(claim, passage, embed=embed)
    if grounding.grounded and (objection := _turned(claim, grounding, passage)):
        return grounding, objection
    if net is not None and passage.told_by_oneself:
        # No claim in the third person stands beside what is said in the first: so what the rules of
        # words let pass stays, and the reader, which knows it less, has to be surer.
        if not (grounding.grounded or grounding.conflict):
            least = policy.CLAIM_SUPPORTED_IN_TALK
            read = ground_claim(claim, passage, embed=embed, net=net, least=least)
            grounding = read if read.grounded else grounding
        net = None
    elif net is not None:
        # What is said in other words the reader finds; how words are bound that are all there, and
        # what is denied of them, the rules of words know better.
        grounding = ground_claim(claim, passage, embed=embed, net=net)
    if grounding.grounded or all(line.speaker in _OWNERS for line in passage.lines):
        return grounding, ""
    anybody = ground_claim(claim, passage, embed=embed, speaker=None, net=net)
    if not anybody.grounded:
        return grounding, ""
    utterance = passage.speaker_at(anybody.start)
    unnamed = utterance is not None and not utterance.speaker
    if unnamed and claim.type is MemoryType.SHARED_NARRATIVE:
        return anybody, ""
    if anybody.speaker == "assistant" or utterance is None or not utterance.name:
        return grounding, "said by the assistant, and not by the user"
    return grounding, f"said by {' '.join(utterance.name.split())}, and not by the user"


def _turned(claim: TypedClaim, grounding: Grounding, passage: Passage) -> str:
    """Say what a claim turns round although its words are there; "" for nothing."""
    pattern = claim.type is MemoryType.USER_PATTERN
    if why := inverted(claim.text, grounding.quote, pattern=pattern):
        return why
    whole = grounding.exact_match and len(claim.text) >= len(grounding.quote.rstrip(_STOPS))
    if whole or (pattern and shows_in_talk(claim.text)):
        return ""  # nobody says "I prefer" where they ask for something
    if broken_rule(claim, grounding, passage):
        return ""  # which is the better reason
    return unbound(claim.text, grounding.quote)


_STOPS: Final = " .!?\"'"  # that end a sentence and may be missing from a claim


def _refusal(
    claim: TypedClaim, passage: Passage, grounding: Grounding, scored: Score, objection: str
) -> _Refusal | None:
    """Ask the layers in their order; None where all of them let the claim pass."""
    refusal: _Refusal | None = None
    if objection or not grounding.grounded:
        refusal = _ungrounded(claim, grounding, objection)
    elif scored.final < policy.ANY_TYPE_FLOOR:
        refusal = _Refusal(
            reason=RejectionReason.LOW_CONFIDENCE,
            detail=_below(claim, scored, policy.ANY_TYPE_FLOOR),
        )
    elif rule := broken_rule(claim, grounding, passage):
        refusal = _Refusal(
            reason=RejectionReason.TYPE_RULE_VIOLATION,
            detail=f"{rule.name}: refuses {rule.refuses}",
            rule=rule,
        )
    elif scored.final < threshold_of(claim.type):
        refusal = _Refusal(
            reason=RejectionReason.FACT_BELOW_THRESHOLD,
            detail=_below(claim, scored, threshold_of(claim.type)),
        )
    # What says nothing is grounded nowhere and no proposal, and why is the better reason for it.
    if (refusal is None or refusal.reason in _OUTRANKED) and is_nonsensical(claim.text):
        return _NONSENSE
    return refusal


_OWNERS: Final = frozenset({"owner", ""})
_OUTRANKED: Final = frozenset(
    {RejectionReason.NOT_GROUNDED_IN_SUMMARY, RejectionReason.FACT_BELOW_THRESHOLD}
)
_NONSENSE: Final = _Refusal(
    reason=RejectionReason.SEMANTICALLY_INVALID, detail="it says nothing that could be true"
)
_SAID_OTHERWISE: Final = word_set(
    "negated hypothetical question over someone_else speaker reported hearsay"
)  # conflicts of words that are all there: nothing was made up, and still nothing supports it


def _ungrounded(claim: TypedClaim, grounding: Grounding, objection: str) -> _Refusal:
    """Say whether nothing supports a claim, or a part of it, or a name, was made up."""
    if objection:
        return _Refusal(reason=RejectionReason.NOT_GROUNDED_IN_SUMMARY, detail=objection)
    named = not reading_of(claim.text).names.isdisjoint(grounding.missing)
    made_up = grounding.conflict not in _SAID_OTHERWISE and (
        named or partly_supported(claim.text, grounding)
    )
    return _Refusal(
        reason=(
            RejectionReason.HALLUCINATION if made_up else RejectionReason.NOT_GROUNDED_IN_SUMMARY
        ),
        detail=grounding.why.rstrip("."),
    )


def _below(claim: TypedClaim, scored: Score, threshold: float) -> str:
    parts = [f"{number(scored.final)} < {number(threshold)}"]
    if scored.factor != 1.0:
        parts.append(f"{number(claim.confidence)} by the model, supported by similarity alone")
    if scored.contradicts:
        parts.append(f'contradicts "{_short(scored.contradicts)}"')
    return "; ".join(parts)


def _stored(claim: TypedClaim, scored: Score, shown: Sequence[str]) -> tuple[Action, str]:
    """Say whether a claim that passed is applied, or waits."""
    if claim.type is not MemoryType.USER_PATTERN:
        return Action.STORED_ACTIVE, ""
    if scored.final < policy.PATTERN_APPLIES:
        return (
            Action.STORED_PROPOSED,
            f"{number(scored.final)} < {number(policy.PATTERN_APPLIES)}, "
            "from where on a pattern is applied",
        )
    if "consistent" not in shown:
        return Action.STORED_PROPOSED, "it was seen once; waits for a second time, or for a yes"
    return Action.STORED_ACTIVE, ""


def number(value: float) -> str:
    """Write a confidence with two decimals, or with more where two would round it up to a bound."""
    short = f"{value:.2f}"
    return short if float(short) <= value or abs(float(short) - value) < 1e-9 else f"{value:.4f}"


def judge_all(
    claims: Sequence[TypedClaim],
    passage: Passage,
    *,
    subject: str,
    refused: Sequence[RefusedItem] = (),
    embed: Embed | None = None,
    known: Sequence[str] = (),
    net: Relater | None = None,
) -> list[TypedVerdict]:
    """Judge all claims of one answer, and log it in the seed's lines.

    `subject` is whom it is about ("user:12345"), `refused` the items of the answer that are no
    claims; they are counted and named in the log.
    """
    log.info("[EXTRACTION] Processing summary for %s", _short(subject))
    log.info("[EXTRACT] Found %d candidate extractions", len(claims) + len(refused))
    for item in refused:
        log.info(
            '[VALIDATE] %s "%s" → validation: FAIL (%s)',
            item.claim.type.label,
            _short(item.claim.text),
            item.detail,
        )
    verdicts = [judge_typed(claim, passage, embed=embed, known=known, net=net) for claim in claims]
    for verdict in verdicts:
        _log_validation(verdict)
    for kind in MemoryType:
        _log_gate(
            kind,
            [verdict for verdict in verdicts if verdict.claim.type is kind and _validated(verdict)],
        )
    return verdicts


def log_stored(stored: int, extracted: int, *, store: str) -> None:
    """Log what was written of one answer: `stored` memories of `extracted` items, into `store`.

    To be called with the store's own count once its transaction is committed.
    """
    log.info("[STORE] Writing %d memories to %s", stored, store)
    log.info("[RESULT] %d/%d extractions stored successfully", stored, extracted)


_INVALID: Final = frozenset(
    {
        RejectionReason.NOT_GROUNDED_IN_SUMMARY,
        RejectionReason.HALLUCINATION,
        RejectionReason.SEMANTICALLY_INVALID,
    }
)


def _validated(verdict: TypedVerdict) -> bool:
    return verdict.reason not in _INVALID


def _log_validation(verdict: TypedVerdict) -> None:
    claim = verdict.claim
    if _validated(verdict):
        outcome = f"PASS ({number(claim.confidence)} confidence)"
    elif verdict.reason is RejectionReason.NOT_GROUNDED_IN_SUMMARY and (
        not verdict.grounding.conflict and verdict.detail == verdict.grounding.why.rstrip(".")
    ):
        outcome = "FAIL (not in summary)"
    else:
        outcome = f"FAIL ({verdict.detail})"
    log.info('[VALIDATE] %s "%s" → validation: %s', claim.type.label, _short(claim.text), outcome)


def _log_gate(kind: MemoryType, verdicts: Sequence[TypedVerdict]) -> None:
    if not verdicts:
        return
    threshold = number(threshold_of(kind))
    passed = [verdict for verdict in verdicts if verdict.stored]
    parts = []
    if passed:
        parts.append(f"{', '.join(number(verdict.final) for verdict in passed)} >= {threshold}")
    parts += [verdict.detail for verdict in verdicts if not verdict.stored]
    log.info(
        "[GATE] %s %d/%d passed confidence gate (%s)",
        kind.label,
        len(passed),
        len(verdicts),
        "; ".join(parts),
    )


def rejection_details(verdict: TypedVerdict) -> Mapping[str, object]:
    """Return the `validation_details` of the seed's rejection record."""
    grounding = verdict.grounding
    return {
        "exact_match": grounding.exact_match,
        "key_phrases": grounding.key_phrases,
        "semantic_similarity": grounding.similarity,
        "reason": verdict.detail,
    }


def _short(text: str) -> str:
    """Return a text as one short line: a log's lines are not the model's to break."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…"
