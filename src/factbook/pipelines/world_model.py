"""What a language model sees in a text, held to the text before anything is made of it.

text -> prompt -> answer -> extract.entity_prompts: does it stand there? -> names, claims
                            gate.grounding: does the text say so?        -> claims | refused
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from factbook import policy
from factbook.extract import entity_prompts
from factbook.extract.mentions import Mention, named_in
from factbook.extract.world import WorldClaim
from factbook.gate.grounding import Support, ground, read_passage
from factbook.model.entities import EngagementType, Valence
from factbook.model.facts import StoredEpisode, Trust
from factbook.model.interest_ops import KeepSeen, SeenName
from factbook.model.ops import Op
from factbook.pipelines.world_facts import Gathered, refusal
from factbook.store.derived.entities import world_facts

if TYPE_CHECKING:
    from pydantic import BaseModel

    from factbook.context import Context
    from factbook.llm.base import Message
    from factbook.model.entities import SearchLog

MODEL_ENTITIES: Final = 12  # ours: entities of one text that a model is asked about, one call each
_Answer = TypeVar("_Answer", bound="BaseModel")


class ModelReading:
    """Asks the model of a context what texts say; code decides of its answers."""

    def __init__(self, context: Context, *, renew: Callable[[], None]) -> None:
        """Compose; `renew` is called before each question and raises where another reads by now."""
        self._context = context
        self._store = context.store
        self._renew = renew

    def look(
        self, log: SearchLog, episode: StoredEpisode, known: Mapping[str, Sequence[str]]
    ) -> list[Op]:
        """Return what keeps the new names that a model sees in a result."""
        names, ops = self._names(log.query, episode, known, full=True)
        new = [name for name in names if name.name not in known]
        seen = [SeenName(start=name.start, end=name.end) for name in new]
        return [*ops, KeepSeen(search_id=log.id, episode_id=episode.id, names=seen)]

    def heard(
        self, message: StoredEpisode, named: Sequence[Mention], gained: Gathered
    ) -> list[Mention]:
        """Return what a message names beside what was `named` already."""
        names, ops = self._names("", message, gained.names, full=True, external=False)
        gained.ops += ops
        heard = {mention.name for mention in named}
        return [
            named_by(self._context.llm.id, name, known=gained.names)
            for name in names
            if name.name not in heard
        ]

    def facts(
        self, query: str, episode: StoredEpisode, gained: Gathered, *, known_only: bool = False
    ) -> list[WorldClaim]:
        """Return what a text says of its entities, held to the text; nothing without a model.

        With `known_only` the model is asked first which of the known ones the text speaks of.
        """
        if self._context.model is None:
            return []
        spoken = named_in(episode.text, gained.names)
        if known_only and spoken:
            names, ops = self._names(query, episode, gained.names, listed=spoken, full=False)
            gained.ops += ops
            spoken = [read.name for read in names]
        claims: list[WorldClaim] = []
        passage = read_passage(episode.text)
        for name in spoken[:MODEL_ENTITIES]:
            facts = world_facts(self._store, episode.owner, name, limit=20)
            known = [fact.object for fact in facts]
            messages = entity_prompts.facts_messages(name, episode.text, known=known)
            offered, refused = entity_prompts.read_facts(
                self._ask(messages, entity_prompts.EntityFacts, "facts"),
                name,
                episode.text,
                names=gained.names.get(name, ()),
                external=episode.trust is Trust.EXTERNAL,
            )
            gained.ops += [refusal(episode, *parts) for parts in refused]
            for world_claim in offered:
                if ground(world_claim.content, passage).support is Support.NONE:
                    why = "its source does not say so"
                    gained.ops.append(refusal(episode, world_claim.content, "not_a_fact", why))
                else:
                    claims.append(world_claim)
        return claims

    def _names(
        self,
        query: str,
        episode: StoredEpisode,
        known: Mapping[str, Sequence[str]],
        *,
        listed: Sequence[str] | None = None,
        full: bool,
        external: bool = True,
    ) -> tuple[list[entity_prompts.ReadName], list[Op]]:
        """Return (the entities that a text speaks of, the ops of what of the answer is refused)."""
        messages = entity_prompts.entities_messages(
            query, episode.text, known=sorted(known if listed is None else listed), full=full
        )
        answer: entity_prompts.EntitiesFull | entity_prompts.EntitiesKnown = (
            self._ask(messages, entity_prompts.EntitiesFull, "entities")
            if full
            else self._ask(messages, entity_prompts.EntitiesKnown, "entities")
        )
        names, refused = entity_prompts.read_entities(
            answer, episode.text, known=known, full=full, external=external
        )
        return names, [refusal(episode, *parts) for parts in refused]

    def _ask(self, messages: Sequence[Message], schema: type[_Answer], purpose: str) -> _Answer:
        """Ask as whoever reads still."""
        self._renew()
        return self._context.llm.ask(messages, schema, purpose=purpose)


def named_by(model: str, name: entity_prompts.ReadName, *, known: Container[str]) -> Mention:
    """Return the mention of a `name` that `model`, its id, read off a message: in passing."""
    _, valence = policy.ENGAGEMENTS[EngagementType.MENTIONED_IN_PASSING]
    return Mention(
        name=name.name,
        start=name.start,
        end=name.end,
        type=EngagementType.MENTIONED_IN_PASSING,
        valence=Valence(valence),
        is_known=name.name in known,
        why=f"named by {model}",
    )
