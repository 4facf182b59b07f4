"""Answer a question: two legs find, the ranking orders, and every hit shows what it rests on.

Full text (stemmed BM25) and vectors each give their best rows of episodes and of facts; facts of
the predicates that the question names join them; the turns around all of these come along, and
`rank.fuse` orders the pool. The seed's relevance (0.6 similarity + 0.3 confidence + 0.1 recency)
then weighs what remains. Facts that say the same are one hit with a count, and an episode is shown
once, by its best hit. Rows that wait for their vector are found by text.

The two legs run side by side: the words here, and the meaning in a thread that is handed the
snapshot. All that one answer reads is of one moment.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.embed import embed_questions
from factbook.embed.halves import unpacked
from factbook.errors import EmbedderMismatch, FactbookError
from factbook.language.reader.read import read
from factbook.language.words import stem
from factbook.model.facts import EVERYONE, Everyone, Fact, FactKind, Hit, Millis
from factbook.recall import query as words
from factbook.recall.counted_questions import kind_asked
from factbook.recall.executor import Beside
from factbook.recall.hits import Showing
from factbook.recall.plan import SearchType
from factbook.recall.pool import PoolRow
from factbook.recall.query_expansion import (
    LEANING_CANDIDATES,
    LEANING_KINDS,
    LEANING_SHARE,
    seeks_advice,
)
from factbook.recall.query_intent import Cued, Intent, is_ours, read_intent
from factbook.recall.rank import CandidatePool, fuse
from factbook.recall.time_expressions import Window, without
from factbook.recall.turns import NO_TURNS, TurnWords, by_turn
from factbook.recall.understood import (
    Understood,
    answers,
    is_told,
    told_then,
    understood,
    window_asked,
    within_first,
)
from factbook.store.derived.counts import count_waiting
from factbook.store.port import Reads, Store
from factbook.store.rows import Filters, Nearest

if TYPE_CHECKING:
    from factbook.embed import Embedder
    from factbook.recall.query_expansion import Associations

_log = logging.getLogger(__name__)

LIKE_ALL: Final = 1_000  # facts of an owner that `facts_like` weighs one and all

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Rules(Protocol):
    """What recall needs of the rules: the words that point at each."""

    @property
    def rules(self) -> Sequence[Cued]:
        """All rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Understood):
    """The hits of one question, best first, and how the question was understood."""

    question: str
    hits: Sequence[Hit]
    predicates: tuple[str, ...]  # what it asked about, as far as rules know it
    waiting: int  # rows without a vector yet: found by text only
    note: str = ""  # why the question was searched by its words alone, where it was


@dataclass(slots=True)
class _Pool:
    absent: frozenset[int] = frozenset()  # episodes that are not to be there
    rows: dict[tuple[str, int], PoolRow] = field(default_factory=dict)  # by (target, id)

    def episode(self, episode_id: int) -> PoolRow | None:
        """Return the row of an episode, made when it is new; None where it is not to be there."""
        return None if episode_id in self.absent else self.row("episode", episode_id, episode_id)

    def episodes(self, ids: Iterable[int]) -> None:
        """Make the rows of episodes that have none yet and are to be there."""
        for id_ in ids:
            if ("episode", id_) not in self.rows and id_ not in self.absent:
                self.rows["episode", id_] = PoolRow("episode", id_, id_)

    def row(self, target: str, row_id: int, episode: int) -> PoolRow:
        """Return the row, made when it is new."""
        row = self.rows.get((target, row_id))
        if row is None:
            row = self.rows[target, row_id] = PoolRow(target, row_id, episode)
        return row


@dataclass(slots=True, kw_only=True)
class _Words:
    episodes: Sequence[tuple[int, float]] = ()
    facts: Mapping[int, float] = field(default_factory=dict)
    named: Mapping[int, Fact] = field(default_factory=dict)  # of the predicates asked about
    read: Mapping[int, Fact] = field(default_factory=dict)  # those of `facts` and of `named`


@dataclass(slots=True, kw_only=True)
class _Near:
    """What the vector of a question finds; None where it was not looked for."""

    vector: NDArray[np.float32] | None = None
    note: str = ""  # why there is no vector
    # of the question's own words, and of what advice on it brings; only where advice is sought
    plain: NDArray[np.float32] | None = None
    towards: NDArray[np.float32] | None = None
    episodes: Nearest | None = None
    facts: Nearest | None = None
    leanings: tuple[Nearest, Nearest] | None = None  # facts near to the question, and to `towards`


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leg:
    """What is looked for by meaning: one kind of rows of one owner."""

    target: str  # "episode" or "fact"
    owner: str | Everyone
    narrowed: bool  # to more than the owner: then the store has to be read for it

    def search(self, moment: Reads, vector: NDArray[np.float32], k: int) -> Nearest | None:
        """Return the nearest rows, beside the thread whose moment it is; None where that must."""
        if self.narrowed:
            return None
        (nearest,) = moment.nearest(self.target, vector[None], Filters(owner=self.owner), k)
        return nearest


class Engine:
    """Recall over one store."""

    def __init__(
        self,
        *,
        store: Store,
        embedder: Callable[[], Embedder],
        rules: Rules,
        clock: Callable[[], Millis],
        redact: Callable[[str], str],
        associations: Callable[[], Associations] | None = None,
        is_interested: Callable[[str, str], bool] = lambda _owner, _entity: False,
    ) -> None:
        """Compose the engine; the embedder is asked for only when the store holds vectors.

        `associations` are asked for when a question seeks advice; without them it is a question
        like any other. `is_interested` tells whether an owner cares about an entity: what only the
        outside world says of it may come by itself then.
        """
        self._store = store
        self._embedder = embedder
        self._rules = rules
        self._clock = clock
        self._redact = redact
        self._showing = Showing(store, redact=redact, is_interested=is_interested)
        self._associations = associations
        self._beside = Beside()
        # the vector of a text, by the model and whether it asks: one is often asked twice, of
        # another time, by turns
        self._embedded: tuple[tuple[str, bool, str], NDArray[np.float32]] | None = None
        self._logged: set[str] = set()

    def close(self) -> None:
        """End the threads of this engine."""
        self._beside.close()

    def snapshot(self) -> AbstractContextManager[Reads]:
        """Let all that this thread asks the engine in the block be answered as of one moment."""
        return self._store.snapshot()

    def recall(
        self,
        question: str,
        *,
        limit: int,
        filters: Filters,
        passive: bool = False,
        search_type: SearchType = "both",
        facts_lead: bool = False,
        leaving_out: frozenset[str] = frozenset(),
        turns: bool = False,
        counting: bool = True,
        asks: bool | None = None,
    ) -> Answer:
        """Return the best `limit` hits; any text is a legal question.

        `asks` says whether the text is one that somebody asks, and not what was said (then it is
        compared as it stands); without it, it is one unless the search is passive.

        With `passive`, only what may come by itself: facts surer than 0.5 (origins 001.3), and
        nothing that only the outside world says, unless it is about what its owner cares about. An
        episode hides the facts that were read from it, and the other way round, unless
        `search_type` leaves only one of them. With `facts_lead`, a fact takes the place of an
        episode that says nothing else. The newest episodes with one of the texts `leaving_out` are
        not there: what was just said is no memory of it, and nothing else is as near to the
        question. With `turns`, what agents' logs hold is found and shown by turns, unless one kind
        of records is asked for. Without `counting` nothing is computed, for whoever only wants
        hits.

        An embedder that fails, or returns no usable vector, leaves the search by words; the
        answer's `note` says so. Raises EmbedderMismatch where the store's vectors are of another
        model.
        """
        now = self._clock()
        asked = question
        if not any(map(str.isalnum, question)):  # nothing is asked
            waiting = count_waiting(self._store)
            return Answer(question=question, hits=[], window=None, predicates=(), waiting=waiting)
        with self.snapshot() as moment:
            window = window_asked(question, self._store, filters, now=now)
            if window is not None and (window.until or now + 1) > now and seeks_advice(question):
                window = None  # "what should I see this year?" is of what comes; wishes are older
            answer_to = partial(
                self._answer,
                question,
                moment=moment,
                window=window,
                now=now,
                limit=limit,
                passive=passive,
                search_type=search_type,
                facts_lead=facts_lead,
                leaving_out=leaving_out,
                turns=turns,
                asks=not passive if asks is None else asks,
            )
            if window is not None and window.exact:
                asked = without(question, window) or question
            answer = None
            # What comes by itself may speak of a month; a question names it to be obeyed.
            if window is not None and (window.exact or not (passive or window.vague)):
                # A log's records are what happened then; in a conversation people tell of other
                # times, unless it is the telling that is asked about: "what did I say last month?"
                for anywhen in (False, True) if told_then(question, window) else (True,):
                    then = replace(
                        filters, since=window.since, until=window.until, turns_any_time=anywhen
                    )
                    answer = answer_to(asked, then)
                    if answers(answer.hits, window):
                        break
            if answer is None or window is None or not answers(answer.hits, window):
                answer = answer_to(asked, filters)
            if passive:
                return answer
            said = understood(
                question,
                answer.hits,
                window,
                self._store,
                filters,
                rules=self._rules.rules,
                redact=self._redact,
                predicates=answer.predicates,
                counting=counting,
                now=now,
            )
            hits = answer.hits
            if said.lacking and said.nearest is not None and window is not None:
                # There are some at other times, which do not have to hold the words of this one.
                hits = answer_to(without(question, window) or question, filters).hits
            elif said.lacking:  # what only resembles them is no answer
                hits = list(filter(is_told, hits))
            hits = within_first(hits, window)
            return replace(
                answer, hits=hits, **{one.name: getattr(said, one.name) for one in fields(said)}
            )

    def still(self, hits: Sequence[Hit], *, filters: Filters) -> list[Hit]:
        """Return what may come by itself of hits found before (`hits.Showing.still`)."""
        return self._showing.still(hits, filters=filters, now=self._clock())

    def _answer(
        self,
        question: str,
        asked: str,
        filters: Filters,
        *,
        moment: Reads,
        window: Window | None,
        now: Millis,
        limit: int,
        passive: bool,
        search_type: SearchType,
        facts_lead: bool,
        leaving_out: frozenset[str],
        turns: bool,
        asks: bool,
    ) -> Answer:
        named = words.named_speakers(asked, self._store.speakers(filters.owner))
        terms = words.without_names(words.content_terms(question), named)
        legs = [
            _leg("episode", filters) if search_type != "facts" else None,
            _leg("fact", filters) if search_type != "episodes" else None,
        ]
        advice = search_type != "episodes" and seeks_advice(asked)
        meant = words.first_person(question, named)
        embedder = self._usable_embedder()
        meaning = None
        if embedder is not None:
            meaning = self._beside.begin(
                partial(self._near, moment, embedder, meant, *legs, advice=advice, asks=asks)
            )
        # What follows needs no vector, down to where the result of the other leg is asked for.
        intent = read_intent(
            words.without_names(words.content_terms(asked), named),
            self._rules.rules,
            ours=is_ours(asked),
        )
        said = self._said(terms, intent, filters, search_type)
        pool = _Pool(absent=self._newest(leaving_out, filters))
        around = self._around(filters)
        for episode_id, score in said.episodes:
            if (row := pool.episode(episode_id)) is not None:
                row.lexical = score
        around(pool, [episode_id for episode_id, _ in said.episodes])
        near = meaning.result() if meaning is not None else _Near()
        vector = near.vector

        episode_leg, fact_leg = legs
        if episode_leg is not None:
            around(pool, self._near_episodes(pool, episode_leg, near, filters))
        if search_type != "episodes":
            self._find_facts(pool, fact_leg, said, near, intent, filters)
            if advice:
                self._find_leanings(pool, fact_leg, near, filters)
        order, scores = self._ranked(pool, filters.owner, vector, named, window)
        listed = "" if passive else self._listed(asked, intent, said)
        if listed:
            facts = [n for n, row in enumerate(order) if row.fact and row.fact.predicate == listed]
            order, scores = [order[n] for n in facts], scores[facts]
        turned = NO_TURNS
        one_kind = (
            filters.episode_kinds
            or filters.roles
            or filters.trusts
            or filters.kinds
            or filters.predicates
        )
        if turns and not one_kind and not listed and search_type != "facts":
            nearness = partial(self._nearness, moment, vector, filters.owner)
            turned = by_turn(moment, order, scores, TurnWords(terms), nearness)
            order, scores = turned.rows, turned.scores
        hits = self._showing.best(
            order,
            scores,
            terms,
            now=now,
            limit=limit,
            filters=filters,
            passive=passive,
            facts_lead=facts_lead,
            turned=turned,
            listed=bool(listed),
        )
        return Answer(
            question=question,
            hits=hits,
            window=window,
            predicates=intent.predicates,
            waiting=count_waiting(self._store),
            note=near.note,
        )

    def _usable_embedder(self) -> Embedder | None:
        """Return the embedder of the store's vectors; None where there is nothing to compare with.

        Raises EmbedderMismatch where the store's vectors are of another model: cosines between two
        models mean nothing.
        """
        held = self._store.embedder()
        if held is None:
            return None  # the model need not be loaded
        embedder = self._embedder()
        given = (embedder.id, embedder.dim)
        if held != given:
            ours, theirs = held[0], given[0]
            if ours == theirs:
                ours, theirs = (f"{name} with {dim} numbers" for name, dim in (held, given))
            raise EmbedderMismatch(path=self._store.name, found=ours, given=theirs)
        return embedder

    def _vector(
        self, embedder: Embedder, text: str, *, asks: bool
    ) -> tuple[NDArray[np.float32] | None, str]:
        """Return (the vector of a text, ""), or (None, why there is none).

        A question is embedded as one; what was said is compared as it stands.
        """
        known = embedder.id, asks, text
        last = self._embedded
        if last is not None and last[0] == known:
            return last[1], ""
        trouble = ""
        try:
            rows = embed_questions(embedder, [text]) if asks else embedder.embed([text])
            made = np.asarray(rows, np.float32)
        except FactbookError:
            raise  # says itself what to do
        except Exception as error:  # noqa: BLE001 - any embedder may be plugged in
            trouble = f"{type(error).__name__}: {error}"
        else:
            if made.shape != (1, embedder.dim):
                trouble = f"an array of shape {made.shape} instead of (1, {embedder.dim})"
            elif not np.isfinite(made).all():
                trouble = "a vector that is not finite"
            elif not made.any():
                trouble = "a vector of zeros"
            else:
                row: NDArray[np.float32] = made[0]
                self._embedded = known, row
                return row, ""
        note = f"searched by words alone: the embedder {embedder.id} gave {trouble}"
        if note not in self._logged:
            self._logged.add(note)
            _log.warning("%s", note)
        return None, note

    def facts_like(self, text: str, *, filters: Filters) -> dict[int, float]:
        """Return current facts that may say what a text says, by id with their cosines.

        NaN stands for a fact that waits for its vector. Of few facts all are returned, of many the
        nearest by vector and the best by words. Raises EmbedderMismatch as `recall` does.
        """
        with self.snapshot():
            return self._facts_like(text, filters)

    def _facts_like(self, text: str, filters: Filters) -> dict[int, float]:
        limit = policy.TOLD_NEIGHBOURS
        ids = self._store.ids("fact", filters)
        embedder = self._usable_embedder() if ids else None
        vector = None if embedder is None else self._vector(embedder, text, asks=False)[0]
        few = len(ids) <= LIKE_ALL
        wanted = ids
        cosines: dict[int, float] = {}
        if not few:
            terms = words.content_terms(text)
            wanted = [id_ for id_, _ in self._store.search("fact", terms, filters, limit)]
        if vector is not None:
            legs = [(len(wanted), wanted)] if few else [(limit, ids), (len(wanted), wanted)]
            for k, allowed in legs:
                if k:
                    among = Filters(owner=filters.owner, ids=allowed)
                    (nearest,) = self._store.nearest("fact", vector[None], among, k)
                    cosines.update(zip(nearest.ids.tolist(), nearest.cosines.tolist(), strict=True))
        return {**dict.fromkeys(wanted, math.nan), **cosines}

    def vectors_of(self, hits: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of hits by id ("f12", "e34"); without those that wait for one."""
        vectors: dict[str, NDArray[np.float32]] = {}
        wanted = list(hits)
        with self.snapshot():
            for letter, target in (("e", "episode"), ("f", "fact")):
                ids = [int(id_[1:]) for id_ in wanted if id_.startswith(letter)]
                stored = unpacked(*self._store.vectors(target, ids))
                names = [f"{letter}{id_}" for id_ in stored.ids]
                vectors.update(zip(names, stored.rows, strict=True))
        return vectors

    def _near(
        self,
        moment: Reads,
        embedder: Embedder,
        text: str,
        episodes: _Leg | None,
        facts: _Leg | None,
        *,
        advice: bool,
        asks: bool,
    ) -> _Near:
        """Embed a question and look for what lies near it; runs beside the search by words."""
        vector, note = self._vector(embedder, text, asks=asks)
        near = _Near(vector=vector, note=note)
        if vector is None:
            return near
        if episodes is not None:
            near.episodes = episodes.search(moment, vector, policy.VECTOR_CANDIDATES)
        if facts is not None:
            near.facts = facts.search(moment, vector, policy.FACT_CANDIDATES)
        if advice and facts is not None and self._associations is not None:
            # Situations are told apart by what a question says, not by what would answer it.
            near.plain = self._vector(embedder, text, asks=False)[0] if asks else vector
            if near.plain is not None:
                near.towards = self._associations().towards(near.plain)
                first = facts.search(moment, near.plain, LEANING_CANDIDATES)
                second = facts.search(moment, near.towards, LEANING_CANDIDATES)
                if first is not None and second is not None:
                    near.leanings = first, second
        return near

    def _nearest(
        self,
        leg: _Leg,
        known: Nearest | None,
        vector: NDArray[np.float32],
        filters: Filters,
        *,
        k: int,
    ) -> Nearest:
        """Return the k nearest rows that pass the filters, unless they are `known` already."""
        if known is None:
            (known,) = self._store.nearest(leg.target, vector[None], filters, k)
        return known

    def _said(
        self, terms: Sequence[str], intent: Intent, filters: Filters, search_type: SearchType
    ) -> _Words:
        """Look for the words of a question, and for facts of the predicates that it names."""
        said = _Words()
        if search_type != "facts" and filters.episodes_wanted:
            said.episodes = self._store.search("episode", terms, filters, policy.LEXICAL_CANDIDATES)
        if search_type == "episodes" or not filters.facts_wanted:
            return said
        said.facts = dict(self._store.search("fact", terms, filters, policy.FACT_CANDIDATES))
        cued = filters
        if not filters.predicates and intent.rules:
            cued = replace(filters, rules=intent.rules)
        elif not filters.predicates and not filters.kinds:  # what an owner told agents
            cued = replace(filters, predicates=intent.predicates, kinds=(FactKind.DIRECTIVE,))
        if cued.rules or cued.predicates:
            said.named = {
                fact.id: fact
                for fact in self._store.facts(cued, limit=policy.CUED_CANDIDATES, newest_first=True)
            }
        # Read here, while the vectors are still looked for.
        rest = [fact for fact in said.facts if fact not in said.named]
        said.read = {**said.named, **self._store.facts_by_id(rest)}
        return said

    def _listed(self, question: str, intent: Intent, said: _Words) -> str:
        """Return the predicate all of whose facts a question asks for: "which hosts did I use".

        They are the whole answer where it names nothing that they are to be about.
        """
        there = {fact.predicate for fact in said.named.values()}
        if intent.rest or not there:
            return ""
        predicate = kind_asked(question, read=read, rules=self._rules.rules)
        return predicate if predicate in there else ""

    def _newest(self, texts: frozenset[str], filters: Filters) -> frozenset[int]:
        """Return those of the newest episodes that have one of the texts."""
        if not texts or not filters.episodes_wanted:
            return frozenset()
        newest = self._store.episodes(filters, limit=2 * len(texts), newest_first=True)
        return frozenset(episode.id for episode in newest if episode.text.strip() in texts)

    def _near_episodes(
        self, pool: _Pool, leg: _Leg, near: _Near, filters: Filters
    ) -> Sequence[int]:
        """Add the episodes whose vectors are near, and return their ids."""
        if near.vector is None:
            return ()
        ids, cosines = self._nearest(
            leg, near.episodes, near.vector, filters, k=policy.VECTOR_CANDIDATES
        )
        episode_ids: list[int] = ids.tolist()
        for episode_id, cosine in zip(episode_ids, cosines.tolist(), strict=True):
            if (row := pool.episode(episode_id)) is not None:
                row.cosine = cosine
        return episode_ids

    def _find_facts(
        self,
        pool: _Pool,
        leg: _Leg | None,
        said: _Words,
        near: _Near,
        intent: Intent,
        filters: Filters,
    ) -> None:
        if not filters.facts_wanted:
            return
        cosines: dict[int, float] = {}
        if leg is not None and near.vector is not None:
            ids, values = self._nearest(
                leg, near.facts, near.vector, filters, k=policy.FACT_CANDIDATES
            )
            cosines = dict(zip(ids.tolist(), values.tolist(), strict=True))
        lexical, named = said.facts, said.named
        facts = dict(said.read)
        facts.update(self._store.facts_by_id([cosine for cosine in cosines if cosine not in facts]))
        rest = [stem(term) for term in intent.rest]
        cues = [stem(term) for term in intent.matched]
        for fact_id, fact in facts.items():
            if fact.retired_at is not None:
                continue
            if fact.predicate in policy.UNRANKED_PREDICATES and fact_id not in named:
                continue
            row = pool.row("fact", fact_id, fact.episode_id)
            row.fact = fact
            row.lexical = lexical.get(fact_id, math.nan)
            row.cosine = cosines.get(fact_id, math.nan)
            if fact_id in named:
                row.cued = _coverage(rest, fact.statement) * (
                    1.0 - policy.CUE_WORDS_SHARE * (1.0 - _coverage(cues, fact.statement))
                )
                if fact.kind is FactKind.DIRECTIVE and row.cosine > policy.DIRECTIVE_ASKED:
                    row.cued = max(row.cued, row.cosine)  # what it is about it may say otherwise

    def _find_leanings(self, pool: _Pool, leg: _Leg | None, near: _Near, filters: Filters) -> None:
        """Add the wishes that advice has to respect, however little they resemble the question."""
        if leg is None or near.plain is None or near.towards is None or self._associations is None:
            return
        if not filters.facts_wanted:
            return
        first, second = near.leanings or (None, None)
        sides = ((first, near.plain), (second, near.towards))
        ids = np.unique(
            np.concatenate(
                [
                    self._nearest(leg, nearest, vector, filters, k=LEANING_CANDIDATES)[0]
                    for nearest, vector in sides
                ]
            )
        )
        if not len(ids):
            return
        stored = unpacked(*self._store.vectors("fact", ids.tolist()))
        leanings = self._associations().leanings(near.plain, stored.rows)
        facts = self._store.facts_by_id(stored.ids)
        weighed = [
            (float(leaning), fact)
            for leaning, id_ in zip(leanings, stored.ids, strict=True)
            if (fact := facts.get(id_)) is not None
            and fact.retired_at is None
            and fact.kind in LEANING_KINDS
        ]
        top = max((leaning for leaning, _ in weighed), default=0.0)
        for leaning, fact in weighed:
            if leaning > 0.0:
                row = pool.row("fact", fact.id, fact.episode_id)
                row.fact = fact
                row.leaning = leaning / top

    def _around(self, filters: Filters) -> Callable[[_Pool, Sequence[int]], None]:
        """Return what adds the turns around some episodes to a pool, unless the filters forbid it.

        An answer often shares no word with its question.
        """
        anywhere = replace(filters, since=None, until=None) if filters.turns_any_time else filters
        allowed = filters.episodes_wanted and not replace(anywhere, owner=EVERYONE).narrows_episodes

        def add(pool: _Pool, ids: Sequence[int]) -> None:
            there = [id_ for id_ in ids if id_ not in pool.absent]
            if allowed and there:
                near = self._store.outlines(there, reach=policy.NEIGHBOURS, owner=filters.owner)
                pool.episodes(near.ids.tolist())

        return add

    def _ranked(
        self,
        pool: _Pool,
        owner: str | Everyone,
        vector: NDArray[np.float32] | None,
        named: frozenset[str],
        window: Window | None,
    ) -> tuple[list[PoolRow], Floats]:
        known = self._store.outlines([row.episode for row in pool.rows.values()])
        there = set(known.ids.tolist())
        # Never another episode's place for what is not there.
        rows = [row for row in pool.rows.values() if row.episode in there]
        if not rows:
            return [], np.zeros(0)
        cosine = np.asarray([row.cosine for row in rows], np.float64)
        if vector is not None:
            self._compare(rows, cosine, vector, owner)
        places = np.searchsorted(known.ids, [row.episode for row in rows])
        is_fact = np.asarray([row.target == "fact" for row in rows])
        for row, value, chars in zip(
            rows, cosine.tolist(), known.chars[places].tolist(), strict=True
        ):
            row.cosine, row.chars = value, chars
        speaking = np.asarray([name in named for name in known.speakers])
        timely = None
        if window is not None:
            # People tell of May in May or soon after: it weighs, and excludes nothing.
            since = -np.inf if window.since is None else window.since
            until = np.inf if window.until is None else window.until + policy.TOLD_WITHIN_MS
            timely = (known.times[places] >= since) & (known.times[places] < until)
        ranking = fuse(
            CandidatePool(
                ids=np.asarray([row.id * 2 + (row.target == "fact") for row in rows], np.int64),
                sources=known.sources[places],
                positions=known.positions[places],
                lexical=np.asarray([row.lexical for row in rows], np.float64),
                cosine=cosine,
                asks=known.asks[places] & ~is_fact,
                named=speaking[places],
                lengths=known.chars[places],
                timely=timely,
            )
        )
        scores = ranking.scores.copy()
        best = float(scores.max())
        for n, row in enumerate(rows):
            if row.cued:
                # A fact of the kind that was asked for stands beside the best of the rest when it
                # also holds the other words of the question.
                scores[n] = max(scores[n], min(1.0, best * row.cued * policy.CUED_SHARE))
            if row.leaning:
                scores[n] = max(scores[n], best * row.leaning * LEANING_SHARE)
        order = np.lexsort((ranking.order.argsort(), -scores))
        return [rows[n] for n in order.tolist()], scores[order]

    def _nearness(
        self,
        moment: Reads,
        vector: NDArray[np.float32] | None,
        owner: str | Everyone,
        ids: Sequence[int],
    ) -> dict[int, float]:
        """Return the cosines of episodes, as far as they have a vector."""
        if vector is None or not ids:
            return {}
        among = Filters(owner=owner, ids=ids)
        (nearest,) = moment.nearest("episode", vector[None], among, len(ids))
        return dict(zip(nearest.ids.tolist(), nearest.cosines.tolist(), strict=True))

    def _compare(
        self,
        rows: Sequence[PoolRow],
        cosine: Floats,
        vector: NDArray[np.float32],
        owner: str | Everyone,
    ) -> None:
        """Write the cosines of the episodes that were found otherwise and have a vector."""
        there = np.asarray([row.target == "episode" for row in rows])
        missing = np.flatnonzero(np.isnan(cosine) & there)
        if not len(missing):
            return
        places = {rows[n].id: n for n in missing.tolist()}
        for id_, found in self._nearness(self._store, vector, owner, list(places)).items():
            cosine[places[id_]] = found


def _leg(target: str, filters: Filters) -> _Leg | None:
    """Return how rows are to be looked for under some filters; None where none can pass."""
    others = replace(filters, owner=EVERYONE)
    if target == "episode":
        wanted, narrowed = filters.episodes_wanted, others.narrows_episodes
    else:
        wanted, narrowed = filters.facts_wanted, others.narrows_facts
    return _Leg(target=target, owner=filters.owner, narrowed=narrowed) if wanted else None


def _coverage(stems: Iterable[str], statement: str) -> float:
    """Return the share of the stems that a statement holds; 1 when there are none to hold."""
    wanted = set(stems)
    if not wanted:
        return 1.0
    held = {stem(word) for word in words.words(statement)}
    return len(wanted & held) / len(wanted)
