"""What an agent notes: the way of a statement that a model makes of its own accord.

    text, quote -> a prompt of the owner that holds the quote, and says the text -> as told by them
                   none -> an episode of the model's -> the gate -> refused | known | kept | asked

A model's word is derived: it is never surer than `policy.TRUST_CAP` allows, adds nothing to what is
known already (it may have read it here), and takes the place of nothing: what cannot be true beside
what is known waits for its owner's answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from factbook import policy
from factbook.errors import UsageError
from factbook.extract.keyed.contracts import ApplyResult, FactsOpsResponse
from factbook.extract.keyed.told import ToldTree
from factbook.extract.quoted_text import is_mentioned
from factbook.extract.sentences import content_words, split
from factbook.extract.voice import voice_of
from factbook.gate.grounding import ground, read_passage
from factbook.gate.related import REWORDED
from factbook.language.reader.read import read
from factbook.language.verbs import POSSESSIVES, as_said
from factbook.model.facts import ME, Fact, FactKind, Receipt, Role, StoredEpisode, Trigger, Trust
from factbook.model.ops import RateFact, RecordEpisode, RejectCandidate
from factbook.model.text import shorten
from factbook.pipelines.claims import Witness, asked, asserted, judged, refused
from factbook.pipelines.followed import read_active
from factbook.pipelines.keyed import apply_response
from factbook.pipelines.noting import NOTED, forgotten_lately, session_key, stated_lately
from factbook.pipelines.stated import STATES, statement, told_against
from factbook.pipelines.told import keep, meet, taken_out
from factbook.pipelines.typed import REFUSED_BEFORE
from factbook.recall.facts import current_fact, fact_of
from factbook.sources.conversation.turn import clean, own_text
from factbook.sources.told import by_model_ops, digest
from factbook.store.derived.facts import standing, vouched
from factbook.store.rows import Filters, Life, LifeWhere, claim_digest

if TYPE_CHECKING:
    from factbook.context import Context

KEPT_OUT: Final = "kept_out"  # erased before
TOO_MANY: Final = "too_many"  # of a model's own statements
_TOO_MANY: Final = (
    "Nothing was kept: {} is the limit for what a model states of its own accord. All that is known"
    " is as it was. Do not try it again in other words; tell the user what you wanted to keep. What"
    " the user said in their own words, given as quote, is kept all the same."
)
_FORGOT_TOO_MANY: Final = (
    "Nothing was forgotten: {} is the limit for a model. Tell the user, who can leave out more"
    " themselves: `factbook feedback f{} wrong`."
)
_REASON_CHARS: Final = 200
_RULE: Final = "noted"
_IN_NO_PROMPT: Final = (
    "The quote stands in no prompt of the user that was recorded, as their own words."
)
_ONLY_GIVEN: Final = (
    "A prompt of the user holds the quote, but only within what they ask for or name there: quote"
    " all that they wrote."
)
_METHOD: Final = "A model said so of its own accord"
_QUOTED: Final = "A model said so, and the quoted words of its owner say it"
_WORD: Final = re.compile(r"\w+")
_LEAST_WORDS: Final = 3  # of a quote: "yes" stands in too many prompts to show anything
_NAME: Final = re.compile(r"\bmy name(?: is|'s) (?P<name>[\w'-]+)", re.IGNORECASE)
_KEY_OF_NAME: Final = "user.name"
_LOOKED_AT: Final = 50  # prompts that hold its words, best first


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What became of a model's statement."""

    receipt: Receipt
    fact: Fact | None = None  # that holds it now; None where it was refused or kept out
    trust: Trust = Trust.DERIVED
    reason: str = ""  # why it was refused, one of `policy.REJECTION_REASONS`
    say: str = ""  # one sentence for the model that reads it
    secrets: Sequence[str] = field(default_factory=tuple)  # kinds of what was taken out


def note(
    context: Context,
    text: str,
    *,
    owner: str,
    quote: str = "",
    instead_of: int | None = None,
    session: str = "",
    like: Callable[[str, str], Mapping[int, float]],
) -> Noted:
    """Keep a model's statement; as its owner's own word where `quote` is, and says it.

    Of its own accord it may say so much in a `session` and so much in a day (`pipelines.noting`).

    `instead_of` is a fact that it is to take the place of: at once where its owner said so, else
    its owner is asked. `like` is that of `told.tell`. The same text again changes nothing.

    Raises UsageError for a text that is empty or longer than a statement may be, and for a fact
    that was observed in a log; NotFound for a fact that is not there.
    """
    raw = own_text(clean(text))
    said = " ".join(context.redact(raw).split())
    if not _WORD.search(said):
        raise UsageError(detail="there is nothing to remember: the text has no word")
    secrets = taken_out(context, raw, said)
    if len(said) > policy.PROMPT_CHARS:
        raise UsageError(
            detail=f"the text has {len(said)} characters; a fact may have {policy.PROMPT_CHARS}"
        )
    old = None if instead_of is None else current_fact(context, instead_of, owner)
    if old is not None and old.kind is FactKind.OBSERVATION:
        raise UsageError(
            detail=f"f{old.id} was observed in a log, so no words take its place; tell its owner"
        )
    why = ""
    if quote.strip():
        heard = prompt_with(context, quote, owner)
        if heard is None:
            part = prompt_with(context, quote, owner, values=True)
            why = _ONLY_GIVEN if part else _IN_NO_PROMPT
        else:
            episode, start, end = heard
            why = _not_said(said, episode.text, start, end)
            why = why or ("" if old is None else _stays(old, said, episode))
            if not why:
                receipt = Receipt()
                shown = Witness(episode.uid, owner, Trust.DIRECT, episode.text, episode.id)
                fact = keep(
                    context,
                    said,
                    shown,
                    (start, end),
                    at=episode.occurred_at,
                    now=context.clock(),
                    like=like,
                    receipt=receipt,
                    instead_of=() if old is None else (old.id,),
                    method=_QUOTED,
                )
                return Noted(receipt=receipt, fact=fact, trust=Trust.DIRECT, secrets=secrets)
    key = session_key(owner, session)
    noted = _noted(context, said, owner=owner, instead_of=old, session=key, like=like)
    return replace(noted, say=" ".join(filter(None, (why, noted.say))), secrets=secrets)


def _not_said(said: str, text: str, start: int, end: int) -> str:
    """Say why the quoted part of a prompt does not say it, or "" where it does.

    What stands around it counts: "I love PHP" is nobody's word in "do not assume that I love PHP".
    """
    grounding = ground(said, read_passage(text[start:end]))
    if not grounding.grounded:
        return f"The quoted words do not say it: {grounding.why}"
    around = [part for part in split(text) if part.start < end and start < part.end]
    first = min(start, around[0].start) if around else text.rfind("\n", 0, start) + 1
    sentence = ToldTree(text[first : max(end, around[-1].end if around else end)])
    quoted = sentence.at((start - first, end - first))
    problem = sentence.unmeant(sentence.head(quoted), order=True) if quoted else ""
    if problem:
        return f"The sentence of the quote does not say it: {problem}."
    whole = [part.text for part in around] or [text[first:end]]
    groundings = [ground(said, read_passage(part)) for part in whole]
    if any(grounding.grounded for grounding in groundings):
        return ""
    return f"No sentence of the quote says it by itself: {groundings[0].why}"


def _stays(old: Fact, said: str, heard: StoredEpisode) -> str:
    """Say why quoted words do not take the place of a fact without its owner, or "" if they do."""
    if old.pinned:
        return f"The user pinned f{old.id}."
    if (old.occurred_at or 0) > (heard.occurred_at or 0):
        return f"The quoted words are older than f{old.id}."
    if content_words(old.statement).isdisjoint(content_words(said)):
        return f"The quoted words say nothing of what f{old.id} says."
    return ""


def _noted(
    context: Context,
    said: str,
    *,
    owner: str,
    instead_of: Fact | None,
    session: str,
    like: Callable[[str, str], Mapping[int, float]],
) -> Noted:
    store, now = context.store, context.clock()
    besides = () if instead_of is None else (instead_of.id,)
    twin, opposed, _ = meet(store, said, owner, now, like, besides, now)
    if twin is not None:
        known = store.facts_by_id([twin.id])[twin.id]
        return Noted(receipt=Receipt(unchanged=1), fact=known, say="It is known already.")
    against = [life.id for life, rule, _ in opposed if rule != REWORDED]
    met = _met(context, said, owner, against, besides)
    made = stated_lately(store, owner, session=session, now=now)
    if limit := made.reached(asks=bool(met)):
        return Noted(receipt=Receipt(), reason=TOO_MANY, say=_TOO_MANY.format(limit))
    ops = by_model_ops(
        said,
        uid=f"{NOTED}:{digest(owner, said)}",
        owner=owner,
        at=now,
        what=NOTED,
        title="noted by an agent",
        session=session,
    )
    heard = next(op.episode for op in ops if isinstance(op, RecordEpisode))
    shown = (0, len(said))
    candidate = statement(owner, said, shown, rule=_RULE, method=_METHOD, sure=policy.TOLD)
    verdict = judged(candidate, heard)
    claim = claim_digest(owner, owner, STATES, said)
    if store.lives(LifeWhere(claims=[claim], current=False)):
        detail = "what holds no longer is not brought back by a model's word"
        verdict = refused(candidate, heard, REFUSED_BEFORE, detail)
    if isinstance(verdict, RejectCandidate):
        receipt = context.write([*ops, verdict], Trigger.USER_MESSAGE, now=now)
        why = f"It was refused: {verdict.detail}."
        return Noted(receipt=receipt, reason=verdict.reason, say=why)
    if met:
        asserts = asserted(candidate, heard, proposed=True)
        detail = "an agent noted it, and it cannot be true beside what is known"
        sure = asserts.confidence
        asks = asked(candidate, heard, confidence=sure, against=list(met), detail=detail)
        ops += [asserts, asks]
    else:
        ops.append(verdict)
    receipt = context.write(ops, Trigger.USER_MESSAGE, now=now)
    held = standing(store, [claim]).get(claim)
    if held is None:
        why = "It was erased before, and is kept out."
        return Noted(receipt=receipt, reason=KEPT_OUT, say=why)
    others = ", ".join(f"f{number} ({statement!r})" for number, statement in met.items())
    why = f"It cannot be true beside {others}, so it waits until the user is asked." * bool(met)
    return Noted(receipt=receipt, fact=store.facts_by_id([held])[held], say=why)


def _met(
    context: Context, said: str, owner: str, opposed: Sequence[int], besides: Sequence[int]
) -> dict[int, str]:
    """Return the facts that a model's statement cannot be true beside, with what they say.

    What its owner told or pinned is met however the model calls them: "the user", "she", by name.
    """
    told = vouched(context.store, owner)
    as_owner_says = as_said(said, (*POSSESSIVES, *_names(owner, told)))
    against = told_against(context, owner, told, list(dict.fromkeys([said, as_owner_says])))
    numbers = dict.fromkeys([*besides, *opposed, *chain.from_iterable(against.values())])
    facts = context.store.facts_by_id(list(numbers))
    shown = {n: context.redact(facts[n].statement) for n in numbers}
    return {n: shorten(statement, policy.SNIPPET_CHARS) for n, statement in shown.items()}


def _names(owner: str, told: Sequence[Life]) -> list[str]:
    """Return what an owner is called: their name here, and what they told of it."""
    names = [match["name"] for life in told if (match := _NAME.search(life.statement))]
    keyed = [life.object for life in told if life.predicate == _KEY_OF_NAME]
    return [name for name in dict.fromkeys([owner, *names, *keyed]) if name != ME]


def forget(context: Context, number: int, *, owner: str, session: str, reason: str) -> Noted:
    """Leave a fact out of recall on a model's word: so many in a session, and so many in a day.

    Its row stays, and a person's word brings it back. Raises NotFound, and UsageError for what its
    owner pinned.
    """
    fact = fact_of(context, number, owner)
    key = session_key(owner, session)
    made = forgotten_lately(context.store, owner, session=key, now=context.clock())
    if made.reached and fact.confidence > 0:
        say = _FORGOT_TOO_MANY.format(made.reached, number)
        return Noted(receipt=Receipt(), reason=TOO_MANY, say=say)
    why = shorten(context.redact(own_text(clean(reason))), _REASON_CHARS)
    op = RateFact(fact_id=number, right=False, session=key, reason=why)
    receipt = context.write([op], Trigger.COMMAND)
    say = f"f{number} is out of recall; `factbook feedback f{number} right` brings it back."
    return Noted(receipt=receipt, fact=context.store.facts_by_id([number])[number], say=say)


def apply_quoted(
    context: Context, ops: Sequence[Mapping[str, object]], *, quote: str, owner: str, atomic: bool
) -> ApplyResult:
    """Apply a model's operations on keyed facts for the prompt that it quotes (`Keyed`)."""
    try:
        response = FactsOpsResponse.model_validate({"ops": list(ops)})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(detail=f"{where}: {first['msg']}") from None
    heard = prompt_with(context, quote, owner, values=True)
    if heard is None:
        why = "no recorded prompt of the user holds that quote, and only their own words count"
        return ApplyResult(errors=[why], rolled_back=True)
    return apply_response(
        context, response, owner=owner, message_id=heard[0].uid, atomic=atomic, by_command=False
    )


def prompt_with(
    context: Context, quote: str, owner: str, *, values: bool = False
) -> tuple[StoredEpisode, int, int] | None:
    """Return (a prompt of the owner, where a quote begins and ends in it), in their own words.

    What they give as text ("translate: ...") is none of it; `values` may be given as text.
    Case, white space and punctuation do not matter. A quote of few words shows nothing: None. What
    was said just now may stand in no log that was read yet: those of sessions that go on are read.
    """
    words = [match[0].lower() for match in _WORD.finditer(context.redact(clean(quote)))]
    if len(words) < _LEAST_WORDS:
        return None
    pattern = re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE)
    heard = _recorded(context, words, pattern, owner, values)
    if heard is None and read_active(context, owner):
        heard = _recorded(context, words, pattern, owner, values)
    return heard


def _recorded(
    context: Context, words: Sequence[str], pattern: re.Pattern[str], owner: str, values: bool
) -> tuple[StoredEpisode, int, int] | None:
    filters = Filters(owner=owner, roles=[Role.USER], trusts=[Trust.DIRECT])
    terms = list(dict.fromkeys(words))
    numbers = [number for number, _ in context.store.search("episode", terms, filters, _LOOKED_AT)]
    episodes = context.store.episodes_by_id(numbers)
    for number in numbers:
        episode, text = episodes[number], episodes[number].text
        places = [match.span() for match in pattern.finditer(text)]
        spans = voice_of(episode).spans if places else ()
        for start, end in places:
            own = any(a <= start and end <= b for a, b in spans)
            if own and (values or not _is_given(text, start, end)):
                return episode, start, end
    return None


def _is_given(text: str, start: int, end: int) -> bool:
    """Tell whether a part of a message is only named, or a piece of what is asked for.

    "set the subject to I quit my job" wants something, and the verb of that stands before the part.
    """
    if is_mentioned(text, start, end):
        return True
    reading = read(text[: policy.VOICE_CHARS])
    begin = max(text.rfind(sign, 0, start) for sign in "\n,;")
    return any(
        token.pos == "VERB" and begin < token.begin < start
        for clause in reading.clauses
        if clause.act == "want" and clause.begin < start < clause.end
        for token in reading.tokens[clause.first : clause.last]
    )
