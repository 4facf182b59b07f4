"""Read searches and messages for entities, facts and engagements (seed 003, loop 1).

    search or message -> who is spoken of -> gates -> what is said of them -> Ops -> Receipt

Two modes. *Full*: what a person caused may bring entities in. *Known-only*: what we looked up by
ourselves is read for facts about known entities and for nothing else, with a prompt of its own
where there is a model; `apply` refuses the rest whatever this module, a rule or a model says.

Everything of one search or message is one transaction, so a step that is stopped leaves nothing
half done and is taken up again. A model that fails leaves its input unread, visibly: it is never
"no facts".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from factbook import cancel, policy
from factbook.apply import apply
from factbook.errors import ModelError, ModelFailure
from factbook.extract import entity_prompts
from factbook.extract.external import hostile, taint
from factbook.extract.heard import Named, hear, preferences_in
from factbook.extract.topics import topic_of
from factbook.extract.world import (
    Discovery,
    ResultText,
    WorldClaim,
    corroborated,
    discover,
    facts_about,
)
from factbook.gate.grounding import Support, ground, read_passage
from factbook.gate.judge import Claim, Reading, Relation, judge, read
from factbook.gate.names import judge_name, name_text, structural_problem
from factbook.gate.restated import RESTATED_SIMILARITY, restates
from factbook.gate.same_entity import known_as, part_of
from factbook.interest.notify import Find, mode_of, worth_telling
from factbook.keys import entity_name
from factbook.model import (
    Candidate,
    Fact,
    FactKind,
    Millis,
    Receipt,
    Status,
    StoredEpisode,
    Trigger,
    Trust,
)
from factbook.ops import (
    AddAlias,
    Announce,
    AssertFact,
    CreateEntity,
    FailTask,
    FinishTask,
    MarkExtracted,
    MarkHeard,
    Op,
    RecordEngagement,
    RejectCandidate,
    SetPreference,
    SupportFact,
)
from factbook.world import EngagementType, PreferenceType, SearchLog, Valence

if TYPE_CHECKING:
    from factbook.embed import Embedder
    from factbook.llm.base import LLM
    from factbook.store.base import Store

__all__ = ["ABOUT", "Extraction", "ExtractionReport", "spoken_of"]

ABOUT: Final = "about"
SEARCH_TASK: Final = "search"  # kinds of model tasks
HEAR_TASK: Final = "hear"
RECENT_MESSAGES: Final = 6  # ours: of the conversation, that "it" and a follow-up may refer to
MODEL_ENTITIES: Final = 12  # ours: entities of one text that a model is asked about, one call each


@dataclass(slots=True, kw_only=True)
class ExtractionReport:
    """What one pass over unread searches and messages did."""

    searches: int = 0  # read
    messages: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)  # (what, why), unread still
    receipt: Receipt = field(default_factory=Receipt)


@dataclass(slots=True)
class _Read:
    """What one text or search comes to, before it is written."""

    ops: list[Op] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)  # canonical -> surfaces, known or new
    new: set[str] = field(default_factory=set)
    told: dict[str, list[Find]] = field(default_factory=dict)  # entity -> its new facts
    images: dict[str, str] = field(default_factory=dict)  # entity -> address of a picture


@dataclass(slots=True, kw_only=True)
class _Known:
    """A fact about an entity, ready to be compared with."""

    fact: Fact | None  # None for one that this very call brings
    says: str  # its object: the sentence as it was found
    text: str  # its statement, which can be read alone
    vector: NDArray[np.float32]
    reading: Reading


class Extraction:
    """Reads what one store holds unread."""

    def __init__(
        self,
        store: Store,
        *,
        embedder: Callable[[], Embedder],
        clock: Callable[[], Millis],
        actor: str,
        redact: Callable[[str], str],
        llm: Callable[[], LLM | None] = lambda: None,
        interests: Callable[[str], Mapping[int, float]],
        notify_on: Collection[Trigger] = policy.NOTIFY_ON,
    ) -> None:
        """Compose; `interests` gives an owner's interest by entity id.

        `notify_on` are the triggers whose new facts are told (seed 003's table; a configuration
        may narrow it).
        """
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._actor = actor
        self._redact = redact
        self._llm = llm
        self._interests = interests
        self._notify_on = frozenset(notify_on)
        self._cache: dict[tuple[str, str], list[_Known]] = {}  # facts of entities, for one input

    # --- passes ---------------------------------------------------------------------------------

    def run(self, *, limit: int | None = None) -> ExtractionReport:
        """Read unread searches, then unread messages, oldest first; `limit` of both at most."""
        report = ExtractionReport()
        done = 0
        held = self._held()
        for log in self._store.search_logs(extracted=False):
            if limit is not None and done >= limit:
                return report
            if (SEARCH_TASK, log.id) in held:
                continue
            done += 1
            if not self._guarded(
                SEARCH_TASK, log.id, f"search {log.id}", report, self._search, log
            ):
                return report
        while limit is None or done < limit:
            waiting = [
                one
                for one in self._store.unheard(limit=len(held) + 1)
                if (HEAR_TASK, one.id) not in held
            ]
            if not waiting:
                break
            done += 1
            message = waiting[0]
            if not self._guarded(
                HEAR_TASK, message.id, f"message {message.id}", report, self._message, message
            ):
                return report
            held = self._held()
        return report

    def _held(self) -> set[tuple[str, int]]:
        """Return what failed and may not be tried yet, or was set aside."""
        if self._llm() is None:
            return set()  # rules read what no model could
        now = self._clock()
        return {
            (one.kind, one.target)
            for one in self._store.model_tasks()
            if one.kind in (SEARCH_TASK, HEAR_TASK) and (one.state == "aside" or one.until > now)
        }

    def _guarded(
        self,
        kind: str,
        target: int,
        what: str,
        report: ExtractionReport,
        work: Callable[..., tuple[list[Op], Trigger]],
        given: object,
    ) -> bool:
        """Read one input and write what it says; False where the next ones would fail alike."""
        cancel.check()
        self._cache.clear()
        trigger = given.trigger if isinstance(given, SearchLog) else Trigger.USER_MESSAGE
        try:
            ops, trigger = work(given)
        except ModelError as error:
            report.failed.append((what, str(error)))
            if error.kind in (ModelFailure.NOT_CONFIGURED, ModelFailure.OVER_BUDGET):
                return False  # it was not tried: its count stays
            op = FailTask(
                kind=kind,
                target=target,
                version=entity_prompts.PROMPT_VERSION,
                error=self._redact(str(error)),
            )
            apply(self._store, [op], trigger=trigger, actor=self._actor, now=self._clock())
            return error.kind is not ModelFailure.CONNECT
        cancel.check()
        if self._llm() is not None:
            ops.append(FinishTask(kind=kind, target=target, version=entity_prompts.PROMPT_VERSION))
        receipt = apply(self._store, ops, trigger=trigger, actor=self._actor, now=self._clock())
        report.receipt.add(receipt)
        if kind == SEARCH_TASK:
            report.searches += 1
        else:
            report.messages += 1
        return True

    # --- searches -------------------------------------------------------------------------------

    def _search(self, log: SearchLog) -> tuple[list[Op], Trigger]:
        """Return what a search says, and its trigger, which decides what it may do."""
        allow_new_entities = log.trigger in (Trigger.USER_MESSAGE, Trigger.LEARN_COMMAND)
        stored = self._store.episodes_by_id(log.episode_ids)
        results = [stored[one] for one in log.episode_ids]
        attributes = self._store.attributes_of(log.episode_ids)
        found = _Read(names=self._names(log.owner))
        llm = self._llm()
        if allow_new_entities:
            self._discover(log, results, attributes, found, llm)
        for episode in results:
            cancel.check()
            details = attributes[episode.id]
            claims, refused = facts_about(
                episode.text, names=found.names, title=details.get("title", ""), external=True
            )
            claims = [
                *claims,
                *self._model_facts(
                    log.query, episode, found, llm, allow_new_entities=allow_new_entities
                ),
            ]
            self._keep(claims, episode, found, details)
            orders = {one.why for one in taint(episode.text) if hostile(one)} if refused else set()
            for content, why in refused:
                reason = "external_instruction" if why in orders else "not_a_fact"
                found.ops.append(_refusal(episode, log.owner, content, reason, why))
        self._tell(log, found)
        found.ops.append(MarkExtracted(search_id=log.id))
        return found.ops, log.trigger

    def _discover(
        self,
        log: SearchLog,
        results: Sequence[StoredEpisode],
        attributes: Mapping[int, Mapping[str, str]],
        found: _Read,
        llm: LLM | None,
    ) -> None:
        """Bring in what the results of a person's search show to be what was asked about."""
        topic = topic_of(log.query).topic
        texts = [
            ResultText(
                text=one.text,
                title=attributes[one.id].get("title", ""),
                host=attributes[one.id].get("host", ""),
            )
            for one in results
        ]
        offered = discover(texts, query=log.query, topic=topic)
        if llm is not None:
            seen = self._model_names(log, results, texts, found, llm)
            offered = [*offered, *corroborated(seen, texts, query=log.query)]
        query_vector: NDArray[np.float32] | None = None
        for one in offered:
            if one.name in found.names:
                continue
            if part_of(one.name, list(found.names)) is not None:
                continue  # a page that calls a known thing by a part of its name
            index = one.spans[0][0]
            episode = results[index]
            problem = structural_problem(one.name)
            if problem:
                found.ops.append(_refusal(episode, log.owner, one.name, "not_a_name", problem))
                continue
            if query_vector is None:
                query_vector = self._vectors([topic or log.query])[0]
            context = _context(one, episode)
            vector = self._vectors([name_text(one.name, context)])[0]
            said = judge_name(one.name, query_vector=query_vector, name_vector=vector).problem
            if said is not None:
                found.ops.append(_refusal(episode, log.owner, one.name, "unrelated_name", said))
                continue
            name = self._bring_in(one.name, one.surface, episode, log.owner, found)
            if name:
                self._engage_discovered(log, name, found)

    def _engage_discovered(self, log: SearchLog, name: str, found: _Read) -> None:
        """Note what its owner did to bring an entity in: a search for things like it."""
        if log.cause_id is None:
            return
        cause = self._store.episodes_by_id([log.cause_id])[log.cause_id]
        learning = log.trigger is Trigger.LEARN_COMMAND
        kind = EngagementType.SEARCH_INITIATED if learning else EngagementType.MENTIONED_IN_PASSING
        found.ops.append(_engagement(log.owner, name, kind, cause.uid))

    def _bring_in(
        self, name: str, surface: str, episode: StoredEpisode, owner: str, found: _Read
    ) -> str:
        """Return the entity of a name: a known one that is the same thing, or a new one.

        Empty for one that its owner removed: a mention does not bring it back.
        """
        known = self._store.known_names(owner)
        known.update({one: one for one in found.new})
        cosines = self._name_cosines(name, owner)
        canonical = known_as(name, known, cosines=cosines)
        if canonical is not None:
            found.ops.append(AddAlias(owner=owner, entity=canonical, alias=name))
            found.names.setdefault(canonical, [canonical]).append(name)
            found.names[name] = []  # it has no facts of its own
            return canonical
        deleted = known_as(name, {one: one for one in self._store.deleted_names(owner)})
        if deleted is not None:
            why = f"its owner removed {deleted}"
            found.ops.append(_refusal(episode, owner, surface, "deleted_by_owner", why))
            return ""
        found.ops.append(CreateEntity(owner=owner, name=name, episode=episode.uid))
        found.names[name] = sorted({name, entity_name(surface), surface} - {""})
        found.new.add(name)
        return name

    def _name_cosines(self, name: str, owner: str) -> dict[str, float]:
        """Return the cosine of a name and each known one that has its vector."""
        embedder = self._embedder()
        if self._store.embedder() != (embedder.id, embedder.dim):
            return {}
        by_id = self._store.entity_ids(owner)
        ids, raw = self._store.target_vectors("entity", list(by_id))
        if not ids:
            return {}
        rows = np.frombuffer(raw, np.float16).reshape(-1, embedder.dim).astype(np.float32)
        near = rows @ self._vectors([name])[0]
        return {by_id[one]: float(near[n]) for n, one in enumerate(ids)}

    # --- messages -------------------------------------------------------------------------------

    def _message(self, message: StoredEpisode) -> tuple[list[Op], Trigger]:
        """Return what a message of its owner says: who is spoken of, and how they are seen."""
        owner, text = message.owner, message.text
        known = self._store.known_names(owner)
        found = _Read(names=self._names(owner))
        before = self._store.said_before(message.id, limit=RECENT_MESSAGES)
        recent = spoken_of([one.text for one in before], known)
        llm = self._llm()
        named = hear(text, known=known, recent=recent)
        if llm is not None:
            named = [*named, *self._model_heard(message, named, found, llm)]
        for one in named:
            self._hear(one, message, found)
        for topic, kind, start, end in preferences_in(text):
            self._prefer(topic, kind, message, found, text[start:end])
        spoken = {one.name for one in named} & found.names.keys()
        mine = {name: found.names[name] for name in sorted(spoken) if found.names[name]}
        claims, _ = facts_about(text, names=mine, external=False)
        if llm is not None and mine:
            claims = [*claims, *self._model_facts("", message, found, llm, allow_new_entities=True)]
        self._keep(claims, message, found, {})
        found.ops.append(MarkHeard(episode_id=message.id))
        return found.ops, Trigger.USER_MESSAGE

    def _hear(self, one: Named, message: StoredEpisode, found: _Read) -> None:
        owner, name = message.owner, one.name
        if not one.is_known and name not in found.names:
            problem = structural_problem(name)
            if problem:
                found.ops.append(_refusal(message, owner, name, "not_a_name", problem))
                return
            name = self._bring_in(name, message.text[one.start : one.end], message, owner, found)
            if not name:
                return
        found.ops.append(_engagement(owner, name, one.type, message.uid, valence=one.valence))

    def _prefer(
        self,
        topic: str,
        kind: PreferenceType,
        message: StoredEpisode,
        found: _Read,
        quote: str,
    ) -> None:
        name = entity_name(topic)
        problem = structural_problem(name)
        if problem:
            found.ops.append(_refusal(message, message.owner, quote, "not_a_name", problem))
            return
        found.ops.append(
            SetPreference(owner=message.owner, topic=name, type=kind, episode=message.uid)
        )
        strength, positive = policy.ENGAGEMENTS[EngagementType.EXPLICIT_STATEMENT]
        valence = positive if kind is PreferenceType.LIKE else Valence.NEGATIVE
        if name not in found.names:
            found.ops.append(
                RecordEngagement(
                    owner=message.owner,
                    type=EngagementType.EXPLICIT_STATEMENT,
                    valence=valence,
                    strength=strength,
                    preference=name,
                    episode=message.uid,
                )
            )

    # --- with a model ---------------------------------------------------------------------------

    def _model_names(
        self,
        log: SearchLog,
        results: Sequence[StoredEpisode],
        texts: Sequence[ResultText],
        found: _Read,
        llm: LLM,
    ) -> list[Discovery]:
        """Return the new entities that a model sees in results; code decides about each."""
        offered: list[Discovery] = []
        for index, episode in enumerate(results):
            messages = entity_prompts.entities_messages(
                log.query, episode.text, known=sorted(found.names), full=True
            )
            answer = llm.ask(messages, entity_prompts.EntitiesFull, purpose="entities")
            names, refused = entity_prompts.read_entities(
                answer, episode.text, known=found.names, full=True
            )
            found.ops += [
                _refusal(episode, log.owner, what, reason, why) for what, reason, why in refused
            ]
            offered += [
                Discovery(
                    name=one.name,
                    surface=one.surface,
                    spans=[(index, one.start, one.end)],
                    hosts=(texts[index].host,),
                    why=f"named by {llm.id}",
                )
                for one in names
                if one.name not in found.names
            ]
        return offered

    def _model_heard(
        self, message: StoredEpisode, named: Sequence[Named], found: _Read, llm: LLM
    ) -> list[Named]:
        messages = entity_prompts.entities_messages(
            "", message.text, known=sorted(found.names), full=True
        )
        answer = llm.ask(messages, entity_prompts.EntitiesFull, purpose="entities")
        names, refused = entity_prompts.read_entities(
            answer, message.text, known=found.names, full=True, external=False
        )
        found.ops += [
            _refusal(message, message.owner, what, reason, why) for what, reason, why in refused
        ]
        heard = {one.name for one in named}
        _, valence = policy.ENGAGEMENTS[EngagementType.MENTIONED_IN_PASSING]
        return [
            Named(
                name=one.name,
                start=one.start,
                end=one.end,
                type=EngagementType.MENTIONED_IN_PASSING,
                valence=valence,
                is_known=one.name in found.names,
                why=f"named by {llm.id}",
            )
            for one in names
            if one.name not in heard
        ]

    def _model_facts(
        self,
        query: str,
        episode: StoredEpisode,
        found: _Read,
        llm: LLM | None,
        *,
        allow_new_entities: bool,
    ) -> list[WorldClaim]:
        """Return what a model says is said of the entities of a text, held to the text."""
        if llm is None:
            return []
        spoken = _named_in(episode.text, found.names)
        if not allow_new_entities and spoken:
            messages = entity_prompts.entities_messages(
                query, episode.text, known=sorted(spoken), full=False
            )
            answer = llm.ask(messages, entity_prompts.EntitiesKnown, purpose="entities")
            names, refused = entity_prompts.read_entities(
                answer, episode.text, known=found.names, full=False
            )
            found.ops += [
                _refusal(episode, episode.owner, what, reason, why) for what, reason, why in refused
            ]
            spoken = [one.name for one in names]
        claims: list[WorldClaim] = []
        passage = read_passage(episode.text)
        for name in spoken[:MODEL_ENTITIES]:
            known = [one.object for one in self._store.world_facts(episode.owner, name, limit=20)]
            messages = entity_prompts.facts_messages(name, episode.text, known=known)
            answered = llm.ask(messages, entity_prompts.EntityFacts, purpose="facts")
            offered, refused = entity_prompts.read_facts(
                answered,
                name,
                episode.text,
                names=found.names.get(name, ()),
                external=episode.trust is Trust.EXTERNAL,
            )
            found.ops += [
                _refusal(episode, episode.owner, what, reason, why) for what, reason, why in refused
            ]
            for one in offered:
                held = ground(one.content, passage)
                if held.support is Support.NONE:
                    found.ops.append(
                        _refusal(
                            episode,
                            episode.owner,
                            one.content,
                            "not_a_fact",
                            "its source does not say so",
                        )
                    )
                else:
                    claims.append(one)
        return claims

    # --- facts ----------------------------------------------------------------------------------

    def _keep(
        self,
        claims: Sequence[WorldClaim],
        episode: StoredEpisode,
        found: _Read,
        details: Mapping[str, str],
    ) -> None:
        """Add the ops for what is said: new facts, or evidence for those that say the same."""
        for claim in claims:
            cancel.check()
            vector = self._vectors([_statement(claim.entity, claim.content)])[0]
            says = _statement(claim.entity, claim.content)
            reading = read(says)
            known = self._facts_of(episode.owner, claim.entity)
            nearest, twin = _nearest(claim.entity, says, vector, reading, known)
            if twin is not None:
                # Of what this very call brings, a second assertion is the evidence.
                found.ops.append(
                    _assertion(claim, episode, says=twin.says)
                    if twin.fact is None
                    else _support(twin.fact, claim, episode)
                )
                continue
            op = _assertion(claim, episode)
            found.ops.append(op)
            known.append(
                _Known(fact=None, says=claim.content, text=says, vector=vector, reading=reading)
            )
            published = details.get("published_at", "")
            found.told.setdefault(claim.entity, []).append(
                Find(
                    fact=_unstored(op, episode, self._clock()),
                    nearest=nearest,
                    published_at=int(published) if published.isdigit() else None,
                )
            )
            if details.get("image"):
                found.images.setdefault(claim.entity, details["image"])

    def _facts_of(self, owner: str, name: str) -> list[_Known]:
        key = (owner, name)
        if key not in self._cache:
            facts = self._store.world_facts(owner, name)
            vectors = self._vectors_of(facts)
            self._cache[key] = [
                _Known(
                    fact=one,
                    says=one.object,
                    text=one.statement,
                    vector=vectors[one.id],
                    reading=read(one.statement),
                )
                for one in facts
            ]
        return self._cache[key]

    def _vectors_of(self, facts: Sequence[Fact]) -> dict[int, NDArray[np.float32]]:
        """Return the vectors of facts: those that are stored, and the others made here."""
        embedder = self._embedder()
        found: dict[int, NDArray[np.float32]] = {}
        if self._store.embedder() == (embedder.id, embedder.dim):
            ids, raw = self._store.vector_rows("fact", [one.id for one in facts])
            rows = np.frombuffer(raw, np.float16).reshape(-1, embedder.dim).astype(np.float32)
            found.update(zip(ids, rows, strict=True))
        waiting = [one for one in facts if one.id not in found]
        if waiting:
            made = self._vectors([one.statement for one in waiting])
            found.update({one.id: made[n] for n, one in enumerate(waiting)})
        return found

    def _tell(self, log: SearchLog, found: _Read) -> None:
        """Let new facts be told, as far as the mode of their entity finds them worth it."""
        if log.trigger not in self._notify_on:
            return
        scores: Mapping[int, float] | None = None
        for name, finds in found.told.items():
            known = self._store.entity_named(log.owner, name)
            count, interest, briefed = 0, 0.0, None
            if known is not None:
                if scores is None:
                    scores = self._interests(log.owner)
                count, interest = known.fact_count, scores.get(known.id, 0.0)
                briefed = self._store.told_at(known.id)
            worth = worth_telling(mode_of(count, interest), finds, briefed_at=briefed)
            if worth:
                found.ops.append(
                    Announce(
                        owner=log.owner,
                        entity=name,
                        facts=[one.object for one in worth],
                        image=found.images.get(name, ""),
                    )
                )

    # --- parts ----------------------------------------------------------------------------------

    def _names(self, owner: str) -> dict[str, list[str]]:
        """Return the names under which each current entity is spoken of."""
        found: dict[str, list[str]] = {}
        for surface, name in self._store.known_names(owner).items():
            found.setdefault(name, []).append(surface)
        return found

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder().embed(texts)


def _nearest(
    entity: str,
    says: str,
    vector: NDArray[np.float32],
    reading: Reading,
    known: Sequence[_Known],
) -> tuple[float | None, _Known | None]:
    """Return (greatest cosine to a known fact, the known fact that says the same)."""
    if not known:
        return None, None
    cosines = np.stack([one.vector for one in known]) @ vector
    order = np.argsort(-cosines)
    for index in order[: policy.TOLD_NEIGHBOURS].tolist():
        cosine, one = float(cosines[index]), known[index]
        if one.text.casefold() == says.casefold():
            return cosine, one
        if cosine < policy.JUDGED_SIMILARITY:
            break
        said = judge(
            _claim(entity, one.text),
            _claim(entity, says),
            similarity=cosine,
            older_reading=one.reading,
            newer_reading=reading,
        )
        same = said.relation is Relation.SAME or (
            said.relation in (Relation.AMBIGUOUS, Relation.DIFFERENT)
            and cosine >= RESTATED_SIMILARITY
            and restates(entity, one.text, says)
        )
        if same:
            return cosine, one
    return float(cosines[order[0]]), None


def _claim(entity: str, text: str) -> Claim:
    return Claim(text=text, subject=entity, predicate=ABOUT, object=text, kind=FactKind.WORLD)


_PRONOUN: Final = re.compile(
    r"(?:it|they)\b(?=\s)|its\b(?=\s)|(?:it|they)(?='s\b|’s\b)", re.IGNORECASE
)


def _statement(entity: str, content: str) -> str:
    """Return what is said of an entity so that it can be read alone: its name for "it"."""
    if entity_name(entity) in entity_name(content):
        return content
    pronoun = _PRONOUN.match(content)
    if pronoun is None:
        return f"{entity}: {content}"
    owned = pronoun[0].casefold() == "its"
    return f"{entity}{chr(39) + 's' if owned else ''}{content[pronoun.end() :]}"


def _candidate(claim: WorldClaim, says: str = "") -> Candidate:
    """Return a claim as a candidate; `says` is the fact in other words that it is evidence for."""
    content = says or claim.content
    return Candidate(
        subject=claim.entity,
        predicate=ABOUT,
        object=content,
        statement=_statement(claim.entity, content),
        confidence=claim.confidence,
        rule=claim.rule,
        method="A sentence that says something of a known entity",
        start=claim.start,
        end=claim.end,
        kind=FactKind.WORLD,
        embed=True,
    )


def _assertion(claim: WorldClaim, episode: StoredEpisode, *, says: str = "") -> AssertFact:
    candidate = _candidate(claim, says)
    return AssertFact(
        candidate=candidate,
        episode=episode.uid,
        owner=episode.owner,
        confidence=min(claim.confidence, policy.TRUST_CAP[episode.trust]),
        trust=episode.trust,
        quote=episode.text[claim.start : claim.end][: policy.QUOTE_CHARS],
    )


def _support(fact: Fact, claim: WorldClaim, episode: StoredEpisode) -> SupportFact:
    candidate = _candidate(claim)
    return SupportFact(
        fact_id=fact.id,
        episode_id=episode.id,
        quote=episode.text[claim.start : claim.end][: policy.QUOTE_CHARS],
        start=claim.start,
        end=claim.end,
        rule=candidate.rule,
        method=candidate.method,
        trust=episode.trust,
        confidence=claim.confidence,
    )


def _unstored(op: AssertFact, episode: StoredEpisode, now: Millis) -> Fact:
    """Return a fact as it will stand once it is written."""
    one = op.candidate
    return Fact(
        id=0,
        owner=op.owner,
        subject=one.subject,
        predicate=one.predicate,
        object=one.object,
        statement=one.statement,
        kind=one.kind,
        status=Status.PENDING_EMBED,
        confidence=op.confidence,
        confidence_at=now,
        trust=op.trust,
        evidence_count=1,
        occurred_at=episode.occurred_at,
        learned_at=now,
        episode_id=episode.id,
    )


def _refusal(
    episode: StoredEpisode, owner: str, what: str, reason: str, detail: str
) -> RejectCandidate:
    """Return the op that keeps what was not let in, with the reason."""
    text = what or episode.text[:1]
    at = max(0, episode.text.find(text))
    candidate = Candidate(
        subject=owner,
        predicate=ABOUT,
        object=text,
        statement=text,
        confidence=policy.EXTERNAL_FACT,
        rule=f"world_{reason}",
        method="What was not let in about the world",
        start=at,
        end=min(len(episode.text), at + len(text)),
        kind=FactKind.WORLD,
        trust=Trust(episode.trust),
    )
    return RejectCandidate(
        candidate=candidate, episode=episode.uid, owner=owner, reason=reason, detail=detail
    )


def _engagement(
    owner: str,
    name: str,
    kind: EngagementType,
    episode: str,
    *,
    valence: Valence | None = None,
) -> RecordEngagement:
    strength, usual = policy.ENGAGEMENTS[kind]
    return RecordEngagement(
        owner=owner,
        type=kind,
        valence=valence or usual,
        strength=strength,
        entity=name,
        episode=episode,
    )


def _context(one: Discovery, episode: StoredEpisode) -> str:
    """Return the words around the place where an entity is named."""
    _, start, end = one.spans[0]
    return " ".join(episode.text[max(0, start - 80) : end + 80].split())


def _named_in(text: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    folded = f" {' '.join(entity_name(part) for part in text.split())} "
    return [
        name
        for name, surfaces in names.items()
        if any(f" {entity_name(one)} " in folded for one in surfaces if one)
    ]


def spoken_of(texts: Sequence[str], known: Mapping[str, str]) -> list[str]:
    """Return the entities that the last messages name, those of the newest first."""
    found: dict[str, None] = {}
    names: dict[str, list[str]] = {}
    for surface, name in known.items():
        names.setdefault(name, []).append(surface)
    for text in texts:
        found.update(dict.fromkeys(_named_in(text, names)))
    return list(found)
