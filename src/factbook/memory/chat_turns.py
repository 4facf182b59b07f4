"""Find what an answer in a conversation is made from, and keep what is said in it.

Memory is enough for an answer, or its provider is asked, or neither helps: that is decided here, by
the facts in question, by how near the memories are, and by what may leave the machine.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from factbook import Filters
from factbook.extract.voice import voice_of
from factbook.interests.knowledge import Asking, Knowledge, asking, not_to_be_told
from factbook.interests.scheduler import moved
from factbook.language.words import STOPWORDS, stem, words
from factbook.llm.prompt import estimate_tokens
from factbook.memory.chat_model import SYSTEM, room_for_memory
from factbook.model.entities import ABOUT, KnownFact, PreferenceType
from factbook.model.facts import EpisodeKind, Hit, Role
from factbook.recall.budget import ContextLimits, PromptContext
from factbook.recall.hits import episode_hit, fact_hit
from factbook.recall.plan import Turn
from factbook.recall.query_expansion import seeks_advice
from factbook.sources.conversation.turn import turn_uid
from factbook.sources.files import CONVERSATION
from factbook.store.derived.notices import last_action

if TYPE_CHECKING:
    from factbook.memory import Memory

# All of these are ours.
HISTORY: Final = 40  # turns that are kept at hand; how many a model gets, its window decides
KNOWN_FACTS: Final = 6  # facts of the entities in question that go before what else comes to mind
BEARS: Final = 0.36
"""Cosine of a memory that has to do with a message; of others, 2 in 100 reach it."""
BEARS_BY_WORD: Final = 0.18
"""The same where they share a word: "two tickets, please" has nothing to do with two wheels."""
OF_ONESELF: Final = 8  # statements of an owner of themselves that are shown, the newest
READ_BACK: Final = 200  # turns that are looked through for them
PREFERENCES: Final = 12  # that one line names

_DEFINED: Final = re.compile(  # "what is a lathe?": nobody asks for advice so
    r"\W*what(?:['’]s| is| are) an? (?!(?:good|great|nice|better|fun|healthy|cheap)\b)",
    re.IGNORECASE,
)
_OPENS: Final = r"\W*(?:(?:hey|hi|hello|so|and|but|ok|okay|well|please)\b\W*)*"
_ABOUT_ME: Final = re.compile(  # "what do you know about me?"
    rf"{_OPENS}(?:what (?:do|did|have|can|else do) you (?:\w+ ){{0,4}}?(?:about|of) (?:me|myself)"
    rf"|tell me (?:\w+ ){{0,3}}?about (?:me|myself)|who am i)\W*$",
    re.IGNORECASE,
)
_TASTE: Final = re.compile(  # "which games do I like?"
    r"\b(?:what|which|who)\b[^.?!]{0,40}\bdo(?P<no1>n['’]?t)? i (?P<no2>not )?(?:\w+ly )?"
    r"(?:(?P<liked>like|love|enjoy|prefer)|hate|dislike)\b",
    re.IGNORECASE,
)
_NEWS: Final = re.compile(
    rf"{_OPENS}(?:what(?:['’]?s| is) new|any(?:thing new| news)|what did i miss)\W*$", re.IGNORECASE
)
_OWN: Final = re.compile(r"\b(?:i|i['’]\w+|my|mine|we|our|me)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What an answer stands on, decided before it is given."""

    of: str  # "memory", "search" or "conversation": neither was needed, or neither helps
    why: str  # in words
    query: str = ""  # what was searched for
    facts: Sequence[str] = ()  # ids of the facts that are enough


def asks_for_news(message: str) -> bool:
    return _NEWS.match(message) is not None


class ChatTurns:
    """One conversation of one owner: its turns, and what memory has for the next."""

    def __init__(self, memory: Memory, *, owner: str, session: str) -> None:
        """Read what was said in the conversation when it was held before."""
        self._memory = memory
        self._owner = owner
        self.session = session
        self.history = self._before()  # the newest turns, oldest first

    @property
    def foreground(self) -> Callable[[], object]:
        """What changes whenever somebody acts."""
        store = self._memory.store
        return moved(lambda: store.head().commit, partial(last_action, store))

    def id_of(self, uid: str) -> str:
        """Return the id of a turn as a person sees it, "e12"; empty where it was not kept."""
        id_ = self._memory.store.episode_ids([uid]).get(uid)
        return "" if id_ is None else f"e{id_}"

    def keep(self, said: str, role: Role, *, pasted: Sequence[tuple[int, int]] = ()) -> str:
        """Keep a turn; return its uid, also where it held nothing that could be kept."""
        own = str(uuid.uuid4())
        self._memory.add_turn(
            said, role=role, session=self.session, uid=own, owner=self._owner, pasted=pasted
        )
        turn = Turn(role=role, text=self._memory.resources.redactor.redact(said))
        self.history = [*self.history, turn][-HISTORY:]
        # one with an id of its own, one of a kind, is that turn whatever it says and wherever
        return turn_uid(self._owner, "", own_id=own, role=role, text="", occurred_at=None)

    def _before(self) -> list[Turn]:
        rows = self._memory.store.episodes(
            Filters(owner=self._owner, session=self.session, episode_kinds=(EpisodeKind.TURN,)),
            limit=HISTORY,
            newest_first=True,
        )
        redact = self._memory.resources.redactor.redact
        return [
            Turn(role=row.role, text=redact(row.text), at=row.occurred_at)
            for row in reversed(list(rows))
            if row.role in (Role.USER, Role.ASSISTANT)
        ]

    def hits(self, message: str, known: Knowledge, *, mine: bool) -> list[Hit]:
        """Return what memory has for a message, best first.

        A model has the turns of this conversation before it; without one (`mine`) what its owner
        said in it counts too.
        """
        if _ABOUT_ME.match(message):
            return self._of_oneself()
        own = mine and known.asking is Asking.OWNER  # what pages say of things is no answer to it
        hits = [] if own else [_hit(fact) for fact in known.facts[:KNOWN_FACTS]]
        seen = {hit.id for hit in hits}
        said = {self._memory.resources.redactor.redact(message).strip()}
        said |= {
            turn.text.strip() for turn in self.history if not mine or turn.role is Role.ASSISTANT
        }
        more = [
            hit
            for hit in self._memory.conversation(owner=self._owner).prefetch(message)
            if hit.id not in seen
            and hit.text.strip() not in said
            and not (own and _is_of_pages(hit))
            and (mine or hit.kind == "fact" or hit.session != self.session)
            and (hit.kind == "fact" or asking(hit.text) is Asking.NOTHING)  # no question of before
        ]
        return hits + self._bearing(message, more)

    def _of_oneself(self) -> list[Hit]:
        """Return what the owner said of themselves, newest first."""
        redact = self._memory.resources.redactor.redact
        rows = self._memory.store.episodes(
            Filters(owner=self._owner, episode_kinds=(EpisodeKind.TURN,)),
            limit=READ_BACK,
            newest_first=True,
        )
        told: dict[str, Hit] = {}
        for row in rows:
            said = redact(voice_of(row).text).strip()
            if row.role is not Role.USER or not _OWN.search(said) or said in told:
                continue
            if asking(said) is Asking.NOTHING:
                told[said] = episode_hit(replace(row, overheard=()), text=said, score=1.0)
        return list(told.values())[:OF_ONESELF]

    def tastes(self, message: str) -> str:
        taste = _TASTE.search(message)
        if taste is None and not _ABOUT_ME.match(message):
            return ""
        wanted = [PreferenceType.LIKE, PreferenceType.DISLIKE]
        if taste is not None:
            liked = bool(taste["liked"]) != bool(taste["no1"] or taste["no2"])
            wanted = wanted[:1] if liked else wanted[1:]
        every = self._memory.interests.preferences(owner=self._owner)
        parts = []
        for kind in wanted:
            topics = [preference.topic for preference in reversed(every) if preference.type is kind]
            more = f", and {len(topics) - PREFERENCES} more" if len(topics) > PREFERENCES else ""
            if topics:
                parts.append(f"you {kind} {', '.join(topics[:PREFERENCES])}{more}")
        return self._memory.resources.redactor.redact("; ".join(parts))

    def _bearing(self, message: str, hits: Sequence[Hit]) -> list[Hit]:
        """Return the hits that have anything to do with a message.

        The best of a small memory may be nothing. What advice has to respect shares neither words
        nor meaning with what is asked ("where should I eat?"), so there all is kept that may be a
        wish of whoever asks; what pages say of things is none.
        """
        if not hits:
            return []
        advice = seeks_advice(message) and not _DEFINED.match(message)
        vectors = self._memory.engine.vectors_of(hit.id for hit in hits)
        asked = self._memory.resources.embedder.embed([message])[0]
        terms = {stem(word) for word in words(message) if word not in STOPWORDS}

        def bears(hit: Hit) -> bool:
            if advice and hit.predicate != ABOUT:
                return True
            shares = not terms.isdisjoint(map(stem, words(hit.text)))
            if hit.id not in vectors:  # it waits for its vector
                return shares
            return float(vectors[hit.id] @ asked) >= (BEARS_BY_WORD if shares else BEARS)

        return [hit for hit in hits if bears(hit)]

    def context(self, hits: Sequence[Hit], window: int) -> PromptContext:
        room = room_for_memory(window)
        limits = ContextLimits(
            total=room,
            recent_sure=0,
            recent=0,
            tools_sure=0,
            tools=0,
            facts_sure=room // 6,
            facts=room // 3,
            episodes_sure=room // 12,
            episodes=room // 6,
            system_sure=min(room, estimate_tokens(SYSTEM) + 1),
        )
        return self._memory.context(
            memories=hits,
            system=SYSTEM,
            limits=limits,
            count_tokens=estimate_tokens,
            session=self.session,
            owner=self._owner,
        )

    def is_searched_for(self, known: Knowledge, message: str, *, memories: int) -> bool:
        """Tell whether a message is answered from a search: it asks, and it may leave.

        One's own documents are asked about oneself too, where no memory bears on it.
        """
        if known.asking is Asking.NOTHING or not self._memory.resources.has_search:
            return False
        if known.asking is Asking.OWNER:
            told = memories or self.tastes(message) or _ABOUT_ME.match(message)
            return not told and self._memory.resources.search_is_local
        return not known.enough and (known.verdict.leaves or self._memory.resources.search_is_local)

    def basis(self, known: Knowledge, query: str, *, memories: int = 0) -> Basis:
        """Return what an answer stands on, by the rule; with a query, it was searched for.

        `memories` are at hand for it: what is about its owner is answered from them or not at all.
        """
        if known.asking is Asking.NOTHING:
            return Basis(of="conversation", why="")
        of_owner = known.asking is Asking.OWNER
        if of_owner and memories:
            bear = "memory bears" if memories == 1 else "memories bear"
            return Basis(of="memory", why=f"it is about you, and {memories} {bear} on it")
        if known.enough and not of_owner:
            facts = [f"f{known_fact.fact.id}" for known_fact in known.bearing]
            return Basis(of="memory", why=known.why, facts=facts)
        if query:
            return Basis(of="search", why=known.why, query=query)
        if of_owner and not self._memory.resources.has_search:
            return Basis(of="conversation", why="about you, so nothing is searched for")
        stays = not known.verdict.leaves and self._memory.resources.has_search
        if stays and not self._memory.resources.search_is_local:
            return Basis(of="conversation", why=known.verdict.said)
        return Basis(of="conversation", why=f"not enough in memory: {known.why}")

    def not_to_be_told(self, message: str) -> list[str]:
        """Return the known things of which a message asks to hear no more."""
        return not_to_be_told(self._memory.store, message, owner=self._owner)

    def pages(self, hits: Iterable[Hit]) -> dict[str, str]:
        """Return the address of the page that a fact comes from, by its id; of others nothing."""
        facts = [int(hit.id[1:]) for hit in hits if hit.kind == "fact"]
        redact = self._memory.resources.redactor.redact
        pages = self._memory.interests.pages(facts, owner=self._owner)
        return {f"f{fact}": redact(page) for fact, (page, _) in pages.items() if page}


def _hit(known_fact: KnownFact) -> Hit:
    hit = fact_hit(known_fact.fact, score=min(1.0, known_fact.relevance))
    return replace(hit, source=known_fact.place, host="", project="", session="")


def _is_of_pages(hit: Hit) -> bool:
    """Tell a fact that a page states; what its owner said of a thing is theirs."""
    return hit.predicate == ABOUT and not hit.source.startswith(f"{CONVERSATION}:")
