"""Find what goes together when something is erased."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Literal

from factbook import policy
from factbook.apply.repeating import folded, loose_pattern, word_pattern
from factbook.model.facts import EVERYONE, EpisodeKind, FactKind, Role, Stance, Trust
from factbook.store.derived.facts import lives_by_id
from factbook.store.derived.ledger import stances
from factbook.store.kinds import (
    ALIAS,
    ENGAGEMENT,
    ENTITY,
    EPISODE,
    ERASED,
    FACT,
    LEARN_PROMPT,
    PREFERENCE,
    REJECTION,
    SCHEDULE,
    SEARCH_LOG,
    SEARCH_RESULT,
    SEARCH_TASK,
    EntityRow,
    Kind,
)
from factbook.store.port import Reads
from factbook.store.rows import EvidenceRow, LifeWhere

_PAGE: Final = 2_000  # texts that are read at once
_LEAST_WORD: Final = 3  # ours: a shorter value is masked where the fact was read, nowhere else
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")

Spans = list[tuple[int, int]]


@dataclass(slots=True, kw_only=True)
class Doomed:
    """Rows that are to be erased, by what they are."""

    facts: set[int] = field(default_factory=set)
    episodes: set[int] = field(default_factory=set)
    masks: dict[int, Spans] = field(default_factory=dict)  # of episodes that stay
    sources: set[int] = field(default_factory=set)
    rejections: set[int] = field(default_factory=set)
    proposals: set[int] = field(default_factory=set)
    entities: set[int] = field(default_factory=set)
    preferences: set[int] = field(default_factory=set)
    prompts: set[int] = field(default_factory=set)  # what was to be learned
    searches: set[int] = field(default_factory=set)  # that were made
    tasks: set[int] = field(default_factory=set)  # searches that were asked for
    schedules: set[int] = field(default_factory=set)

    def add(self, other: Doomed) -> None:
        """Take over everything of another one."""
        for name in self.__slots__:
            if name == "masks":
                for episode, spans in other.masks.items():
                    self.masks.setdefault(episode, []).extend(spans)
            else:
                getattr(self, name).update(getattr(other, name))

    @property
    def size(self) -> int:
        """Count the rows; it grows with every one that joins."""
        return sum(len(getattr(self, name)) for name in self.__slots__)


# What of an owner goes with them besides facts and episodes: part of Doomed, kind.
OWNED: Final[Sequence[tuple[str, Kind[Any]]]] = (
    ("rejections", REJECTION),
    ("entities", ENTITY),
    ("preferences", PREFERENCE),
    ("prompts", LEARN_PROMPT),
    ("searches", SEARCH_LOG),
    ("tasks", SEARCH_TASK),
    ("schedules", SCHEDULE),
)
# What is about an entity where its words name it.
_NAMING: Final[Sequence[tuple[str, Kind[Any], str]]] = (
    ("prompts", LEARN_PROMPT, "text"),
    ("schedules", SCHEDULE, "topic"),
    ("searches", SEARCH_LOG, "query"),
    ("tasks", SEARCH_TASK, "query"),
)


_LEAST_QUOTED: Final = 8  # characters of a line of output that is told elsewhere
_QUOTED_CHARS: Final = 60  # of it, as sentences shorten it


class DeleteCascade:
    """What goes together, as one write reads it."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._quoted_for: set[int] = set()  # episodes for which that was looked for

    def complete(self, doomed: Doomed) -> None:
        """Add all that cannot stay when these rows go, and unite what is masked."""
        size = -1
        while size != doomed.size:  # what goes may leave more behind
            size = doomed.size
            doomed.add(self.beside(doomed))
            doomed.facts |= self._left_alone(doomed) | self._quoting(doomed)
            doomed.episodes |= self._emptied(doomed)
        doomed.masks = {
            episode: _united(spans)
            for episode, spans in doomed.masks.items()
            if episode not in doomed.episodes
        }

    def lineage(self, fact_ids: Iterable[int]) -> set[int]:
        """Return facts with all that stands behind them.

        That is what was merged into them or superseded by them, older rows of the same claim, and
        everything that the same key has held.
        """
        reached = set(fact_ids)
        new = set(reached)
        while new:
            lives = self._reads.lives(LifeWhere(ids=new))
            wheres = [
                LifeWhere(merged_into=new),
                LifeWhere(superseded_by=new),
                LifeWhere(claims={life.claim for life in lives}, current=False),
            ]
            keys: dict[str, set[str]] = {}
            for life in lives:
                if life.kind is FactKind.KEYED:
                    keys.setdefault(life.owner, set()).add(life.predicate)
            wheres += [
                LifeWhere(owner=owner, kinds=[FactKind.KEYED], predicates=predicates)
                for owner, predicates in keys.items()
            ]
            new = {life.id for where in wheres for life in self._reads.lives(where)} - reached
            reached |= new
        return reached

    def beside(self, doomed: Doomed) -> Doomed:
        """Return what cannot stay when these rows go."""
        more = Doomed()
        caused = {"owner": EVERYONE, "episode_id": doomed.episodes}
        more.prompts = self._ids(LEARN_PROMPT, caused)
        more.schedules = self._ids(SCHEDULE, caused)
        more.rejections = self._ids(REJECTION, caused) | self._ids(
            REJECTION, {"owner": EVERYONE, "source_id": doomed.sources}
        )
        prompts = {"owner": EVERYONE, "learn_prompt_id": doomed.prompts | more.prompts}
        asked = {"owner": EVERYONE, "cause_id": doomed.episodes}
        more.tasks = self._ids(SEARCH_TASK, prompts) | self._ids(SEARCH_TASK, asked)
        more.searches = self._ids(SEARCH_LOG, prompts) | self._ids(SEARCH_LOG, asked)
        entities = self._ids(ENTITY, caused) - doomed.entities
        liked = self._ids(PREFERENCE, caused) - doomed.preferences
        gone = doomed.episodes
        more.entities = entities - self.other_causes("entity_id", entities, gone).keys()
        more.preferences = liked - self.other_causes("preference_id", liked, gone).keys()
        for entity in sorted(more.entities):
            more.add(self.about_entity(entity))
        return more

    def other_causes(
        self, what: Literal["entity_id", "preference_id"], ids: Collection[int], gone: set[int]
    ) -> dict[int, int]:
        """Return the first other thing that an owner did about an entity or topic, of each."""
        causes = [
            (engagement.episode_id, getattr(engagement, what))
            for engagement in self._reads.find(ENGAGEMENT, {"owner": EVERYONE, what: ids})
            if engagement.episode_id is not None and engagement.episode_id not in gone
        ]
        heads = self._reads.heads({episode for episode, _ in causes})
        return {
            target: episode
            for episode, target in sorted(causes, reverse=True)
            if heads[episode].trust is Trust.DIRECT and not heads[episode].injected
        }

    def about_entity(self, entity_id: int) -> Doomed:
        """Return everything that is about an entity."""
        entities = self._same(entity_id)
        owner = entities[entity_id].owner
        doomed = Doomed(entities={*entities})
        names = self.names(entities)
        of_it = LifeWhere(owner=owner, kinds=[FactKind.WORLD], subjects=names)
        doomed.facts = self.lineage(life.id for life in self._reads.lives(of_it))
        preferences = self._reads.find(PREFERENCE, {"owner": owner, "topic": names})
        doomed.preferences = {preference.id for preference in preferences}
        said = word_pattern(names)
        causes: set[int | None] = {entity.episode_id for entity in entities.values()}
        causes |= {preference.episode_id for preference in preferences}
        for part, kind, text in _NAMING:
            for row in self._reads.find(kind, {"owner": owner}):
                if said.search(folded(getattr(row, text))):
                    getattr(doomed, part).add(row.id)
                    causes.add(getattr(row, "episode_id", None))
        about = {"owner": EVERYONE, "entity_id": entities}
        doomed.searches |= self._ids(SEARCH_LOG, about)
        doomed.tasks |= self._ids(SEARCH_TASK, about)
        doomed.episodes = self._only_found_by(doomed.searches)
        done = self._reads.find(ENGAGEMENT, about) + self._reads.find(
            ENGAGEMENT, {"owner": EVERYONE, "preference_id": doomed.preferences}
        )
        causes |= {engagement.episode_id for engagement in done}
        sayings = loose_pattern(names)
        for episode, text in self._texts((causes - {None}) - doomed.episodes):
            # Every occurrence in what its owner said: the rest of the message stays.
            spans = [match.span() for match in sayings.finditer(text)]
            if spans:
                doomed.masks[episode] = spans
        for episode, spans in self._named_in_copies(owner, names, doomed).items():
            doomed.masks.setdefault(episode, []).extend(spans)
        return doomed

    def _same(self, entity_id: int) -> dict[int, EntityRow]:
        """Return an entity with all that was merged into it, by id."""
        rows = self._reads.find(ENTITY, {"id": entity_id})
        entity_rows: dict[int, EntityRow] = {}
        while rows:
            entity_rows.update((row.id, row) for row in rows)
            new = {"owner": EVERYONE, "merged_into_id": [row.id for row in rows]}
            rows = [row for row in self._reads.find(ENTITY, new) if row.id not in entity_rows]
        return entity_rows

    def _named_in_copies(self, owner: str, names: Sequence[str], going: Doomed) -> dict[int, Spans]:
        """Return where names stand in what factbook itself wrote or fetched, by episode.

        Of answers in conversations that is each sentence with a name. In pages that stay, for
        another search found them too, it is the name alone, and not where a fact about something
        else stands on the words around it: that fact would go. A page that has a name in its title
        or address only comes without spans. A part of the longer name of something else that stays
        is none: "kef" in "kef ls50 meta".
        """
        sayings = loose_pattern(names)
        longer = loose_pattern(self.longer_names(sayings, going))
        fetched, answers = self._copies(owner)
        masks: dict[int, Spans] = {}
        for episode, text in self._texts(answers - going.episodes):
            spans = _sentences_around(text, _named_in(text, sayings, longer))
            if spans:
                masks[episode] = spans
        named: dict[int, tuple[str, bool]] = {}  # of pages: the text, and whether by its attributes
        for page in pages(sorted(fetched - going.episodes), _PAGE):
            heads = self._reads.heads(page)
            for episode, text in self._reads.texts("episode", page).items():
                is_named = bool(_named_in(heads[episode].details, sayings, longer))
                if is_named or sayings.search(text):
                    named[episode] = text, is_named
        needed = self._needed(named, going.facts)
        for episode, (text, is_named) in named.items():
            spans = [
                (start, end)
                for start, end in _named_in(text, sayings, longer)
                if not any(a < end and start < b for a, b in needed.get(episode, ()))
            ]
            if spans or is_named:
                masks[episode] = spans
        return masks

    def _needed(self, episodes: Collection[int], going: Collection[int]) -> dict[int, Spans]:
        """Return where facts that stay stand in episodes."""
        needed: dict[int, Spans] = {}
        for span in self._reads.evidence(episode_ids=episodes):
            if span.fact_id not in going:
                needed.setdefault(span.episode_id, []).append((span.start, span.end))
        return needed

    def _copies(self, owner: str) -> tuple[set[int], set[int]]:
        """Return the pages that were fetched for an owner, and the answers in conversations."""
        fetched = self._counted(EPISODE, {"owner": owner, "kind": EpisodeKind.SEARCH_RESULT})
        where = {"owner": owner, "role": Role.ASSISTANT}
        said = self._reads.tally(EPISODE, ["id", "source_id"], where)
        chats = {
            source.id
            for source in self._reads.sources(ids={source_id for _, source_id in said})
            if source.source.kind == "conversation"
        }
        return fetched, {id_ for id_, source_id in said if source_id in chats} - fetched

    def longer_names(self, sayings: re.Pattern[str], going: Doomed) -> list[str]:
        """Return the names of things of the same owners that stay, which hold one that goes."""
        owners = {row.owner for row in self._reads.find(ENTITY, {"id": going.entities})}
        rows = self._reads.find(ENTITY, {"owner": owners, "retired_at": None})
        names = [(row.id, row.name) for row in rows]
        of_them = {"owner": EVERYONE, "entity_id": [row.id for row in rows]}
        names += [(alias.entity_id, alias.name) for alias in self._reads.find(ALIAS, of_them)]
        return [name for id_, name in names if id_ not in going.entities and sayings.search(name)]

    def finder_of_names(self, going: Doomed) -> Callable[[str], bool]:
        """Return what tells whether a text has the name of a thing that goes."""
        sayings = loose_pattern(self.names(going.entities))
        longer = loose_pattern(self.longer_names(sayings, going))
        return lambda text: bool(_named_in(text, sayings, longer))

    def names(self, entity_ids: Collection[int]) -> list[str]:
        """Return the names and aliases of entities."""
        rows = self._reads.find(ENTITY, {"id": entity_ids})
        aliases = self._reads.find(ALIAS, {"owner": EVERYONE, "entity_id": entity_ids})
        return sorted({row.name for row in rows} | {alias.name for alias in aliases})

    def _only_found_by(self, search_ids: set[int]) -> set[int]:
        """Return the results of searches that no other search found."""
        results = {
            row.episode_id for row in self._reads.find(SEARCH_RESULT, {"search_id": search_ids})
        }
        return results - {
            row.episode_id
            for row in self._reads.find(SEARCH_RESULT, {"episode_id": results})
            if row.search_id not in search_ids
        }

    def belonging_to(self, owner: str) -> Doomed:
        """Return everything of an owner."""
        doomed, mine = Doomed(), {"owner": owner}
        for part, kind in OWNED:
            setattr(doomed, part, self._ids(kind, mine) - self._erased(kind.name))
        doomed.facts = self._counted(FACT, mine) - self._erased(FACT.name)
        doomed.episodes = self._counted(EPISODE, mine) - self._erased(EPISODE.name)
        theirs = {id_ for (id_,) in self._reads.tally(EPISODE, ["source_id"], mine)}
        whose = self._reads.tally(
            EPISODE, ["source_id", "owner"], {"owner": EVERYONE, "source_id": theirs}
        )
        doomed.sources = theirs - {id_ for id_, other in whose if other not in (owner, "")}
        doomed.sources |= {  # files that hold nothing but what could not be read
            state.id
            for state in self._reads.sources()
            if not state.episode_count and state.source.reader == owner
        }
        return doomed

    def part_of_source(self, source_id: int) -> Doomed:
        """Return everything of a source."""
        episodes = self._counted(EPISODE, {"owner": EVERYONE, "source_id": source_id})
        return Doomed(sources={source_id}, episodes=episodes - self._erased(EPISODE.name))

    def said_in(self, spans: Sequence[EvidenceRow], facts: set[int]) -> dict[int, Spans]:
        """Return what is to be masked in episodes: the words of facts wherever they stand.

        Of what was told on purpose it is each sentence that was told for them alone: the rest of
        one would say of what it was, and stand as a memory.
        """
        lives = lives_by_id(self._reads, sorted(facts))
        texts = self._reads.texts("episode", sorted({span.episode_id for span in spans}))
        masks: dict[int, Spans] = {}
        for span in spans:
            mine = masks.setdefault(span.episode_id, [])
            mine.append((span.start, span.end))
            mine += _occurrences(texts[span.episode_id], lives[span.fact_id].object)
        told = [id_ for id_, head in self._reads.heads(masks).items() if head.told]
        needed = self._needed(told, facts)
        for episode in told:
            masks[episode] += [
                (start, end)
                for start, end in _sentences_around(texts[episode], masks[episode])
                if not any(a < end and start < b for a, b in needed.get(episode, ()))
            ]
        return {episode: _united(mask) for episode, mask in masks.items()}

    def lost(self, doomed: Doomed) -> dict[int, set[int]]:
        """Return the episodes that facts lose as evidence, by fact."""
        lost: dict[int, set[int]] = {}
        for evidence in self._reads.evidence(episode_ids=doomed.episodes):
            lost.setdefault(evidence.fact_id, set()).add(evidence.episode_id)
        for evidence in self._reads.evidence(episode_ids=doomed.masks):
            masked = doomed.masks[evidence.episode_id]
            if any(start < evidence.end and evidence.start < end for start, end in masked):
                lost.setdefault(evidence.fact_id, set()).add(evidence.episode_id)
        return {fact: episodes for fact, episodes in lost.items() if fact not in doomed.facts}

    def _left_alone(self, doomed: Doomed) -> set[int]:
        """Return facts that nothing speaks for once these rows are gone."""
        alone: set[int] = set()
        lost = self.lost(doomed)
        for fact, said in stances(self._reads, sorted(lost)).items():
            if not any(
                stance is Stance.SUPPORTS and episode not in lost[fact]
                for episode, stance in said.items()
            ):
                alone.add(fact)
        # What was merged into such a fact stands on the same episodes, and on no others.
        return alone

    def _quoting(self, doomed: Doomed) -> set[int]:
        """Return facts of a log's calls that name what came back of one, where that goes.

        `ran` and `fixed_by` stand on the call, and hold a line of its result.
        """
        heads = self._reads.heads(doomed.episodes - self._quoted_for)
        results = [h for h in heads.values() if h.kind is EpisodeKind.TOOL_RESULT]
        self._quoted_for |= doomed.episodes
        if not results:
            return set()
        lines = {
            line.strip()[:_QUOTED_CHARS]
            for text in self._reads.texts("episode", [head.id for head in results]).values()
            for line in text.splitlines()
            if len(line.strip()) >= _LEAST_QUOTED
        }
        found: set[int] = set()
        for source in {head.source_id for head in results}:
            episodes = self._counted(EPISODE, {"owner": EVERYONE, "source_id": source})
            spoken = {row.fact_id for row in self._reads.evidence(episode_ids=episodes)}
            found |= {
                fact.id
                for fact in self._reads.facts_by_id(sorted(spoken - doomed.facts)).values()
                if fact.predicate in policy.ANSWERED_PREDICATES
                and any(line in fact.statement for line in lines)
            }
        return found

    def _emptied(self, doomed: Doomed) -> set[int]:
        """Return episodes of which the masks leave nothing that could be read."""
        empty: set[int] = set()
        for episode, text in self._reads.texts("episode", sorted(doomed.masks)).items():
            left = list(text)
            for start, end in doomed.masks[episode]:
                left[start:end] = " " * (min(end, len(text)) - start)
            if not any(char.isalnum() for char in left):
                empty.add(episode)
        return empty

    def _counted(self, kind: Kind[Any], where: Mapping[str, object]) -> set[int]:
        return {id_ for (id_,) in self._reads.tally(kind, ["id"], where)}

    def _erased(self, target: str) -> set[int]:
        return {row.row_id for row in self._reads.find(ERASED, {"target": target})}

    def _ids(self, kind: Kind[Any], where: Mapping[str, object]) -> set[int]:
        return {row.id for row in self._reads.find(kind, where)}

    def _texts(self, episode_ids: Iterable[Any]) -> Iterator[tuple[int, str]]:
        """Iterate over (id, text) of episodes, by id."""
        for page in pages(sorted(episode_ids), _PAGE):
            yield from self._reads.texts("episode", page).items()


def pages(ids: Iterable[int], size: int) -> Iterator[list[int]]:
    """Cut ids into lists of at most so many."""
    rest = iter(ids)
    while page := list(islice(rest, size)):
        yield page


def _named_in(text: str, sayings: re.Pattern[str], longer: re.Pattern[str]) -> Spans:
    """Return the spans of names in a text that are no part of a longer name."""
    named = [match.span() for match in sayings.finditer(text)]
    taken = [match.span() for match in longer.finditer(text)] if named else []
    return [span for span in named if not any(a < span[1] and span[0] < b for a, b in taken)]


def _sentences_around(text: str, spans: Spans) -> Spans:
    """Return the spans of the sentences of a text in which others lie."""
    if not spans:
        return []
    ends = [match.span() for match in _SENTENCE_END.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(text)]
    return [  # a name may hold the end of a sentence: "dr. dre"
        (max(at for at in starts if at <= start), min(stop for stop in stops if stop >= end))
        for start, end in spans
    ]


def _occurrences(text: str, value: str) -> Spans:
    """Return where a value stands in a text as words of its own, in any case."""
    if len(value.strip()) < _LEAST_WORD:
        return []
    pattern = rf"(?<!\w){re.escape(value.strip())}(?!\w)"
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


def _united(spans: Spans) -> Spans:
    """Return spans in their order, those that overlap as one."""
    united: Spans = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united
