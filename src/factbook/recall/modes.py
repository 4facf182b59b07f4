"""Recall in two modes over one engine: what comes by itself, and what is asked for.

`search_memory` is the seed's tool. `stream` is what the passive stream runs in its thread
(`PassiveStream(modes.stream, still=modes.still, ...)`): it looks with the newest words of the
conversation, brings what bears on them, and stays silent after words that are about nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.language.words import SMALL_TALK
from factbook.model.facts import Hit, Role
from factbook.recall import query as words
from factbook.recall.corrections import Judging, put_right
from factbook.recall.diversity import clusters
from factbook.recall.plan import (
    DEFAULT_TOOL_LIMIT,
    Mode,
    SearchPlan,
    SearchType,
    Turn,
    plan_search,
    select,
)
from factbook.recall.query_expansion import seeks_advice
from factbook.recall.search import Engine
from factbook.recall.understood import within_first
from factbook.store.rows import Filters

ENOUGH_TERMS: Final = 16
"""Words of a conversation that are searched for, the newest first: full text costs by the word."""


class TwoModes:
    """Search one owner's memory passively and on request; any thread may call it."""

    def __init__(self, engine: Engine, *, judging: Judging, filters: Filters | None = None) -> None:
        """Take the engine, who judges corrections, and what all searches are narrowed to."""
        self._engine = engine
        self._judging = judging
        self._filters = filters or Filters()

    def search_memory(
        self, query: str, search_type: SearchType = "both", limit: int = DEFAULT_TOOL_LIMIT
    ) -> list[Hit]:
        """Search facts, episodes or both, and return at most `limit` hits, best first.

        Any text is a legal query, and time phrases ("last month") narrow it. Each hit has its text,
        its confidence now and when it happened. Blocks until the answer is there.
        """
        plan = plan_search(Mode.ACTIVE, search_type=search_type, limit=limit)
        return self._run(query, plan, asks=True)

    def stream(self, turns: Sequence[Turn], *, asks: bool = False) -> list[Hit]:
        """Return what bears on the newest turns of a conversation: up to 5 facts and 5 episodes.

        Nothing comes back for small talk, and nothing that the turns themselves say. `asks` says
        that they are a question to the memory.
        """
        question = context_question(turns)
        if not question:
            return []
        said = frozenset(turn.text.strip() for turn in turns)
        return self._run(question, plan_search(Mode.PASSIVE), said=said, asks=asks)

    def turns(self, question: str) -> list[Hit]:
        """Return the turns of agents' logs that bear on a question, each told as one text."""
        found = self._engine.recall(
            question,
            limit=policy.CONTEXT_HITS,
            filters=self._filters,
            passive=True,
            leaving_out=frozenset({question.strip()}),
            turns=True,
            counting=False,
            asks=True,
        )
        bear = [hit for hit in found.hits if hit.turn is not None and hit.turn.passages]
        return bear[: policy.CONTEXT_TURNS]

    def still(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return what still holds of what `stream` returned before, as it is now."""
        return self._engine.still(hits, filters=self._filters)

    def _run(
        self, question: str, plan: SearchPlan, *, asks: bool, said: frozenset[str] = frozenset()
    ) -> list[Hit]:
        """Search and choose; what was just said (`said`) is no answer."""
        with self._engine.snapshot():
            answer = self._engine.recall(
                question,
                limit=plan.candidates,
                filters=self._filters,
                passive=plan.mode is Mode.PASSIVE,
                search_type=plan.search_type,
                facts_lead=True,
                leaving_out=said,
                counting=False,
                turns=plan.mode is Mode.ACTIVE,
                asks=asks,
            )
            # Before any is chosen: else the question would stand for what it resembles, and go.
            told = policy.TOLD_BY_TURNS if plan.mode is Mode.PASSIVE else ()
            hits = [
                hit
                for hit in answer.hits
                if hit.text.strip() not in said and hit.predicate not in told
            ]
            vectors = self._engine.vectors_of(hit.id for hit in hits)
        hits, corrected = put_right(hits, question=question, vectors=vectors, judging=self._judging)
        admitted = [hit for hit in hits if plan.admits(hit.confidence)]
        chosen = select(_led_by_facts(admitted, vectors, corrected), plan, vectors=vectors)
        return within_first(chosen, None if plan.mode is Mode.PASSIVE else answer.window)


def _led_by_facts(
    hits: Sequence[Hit], vectors: Mapping[str, NDArray[np.float32]], corrected: Collection[str]
) -> list[Hit]:
    """Let the best fact of a cluster stand for it: it has a confidence, and what it rests on.

    One that a turn corrects (`put_right`) stands for none.
    """
    leading: list[Hit] = []
    for group in clusters(hits, vectors=vectors):
        facts = (hit for hit in group if hit.kind == "fact" and hit.id not in corrected)
        fact = next(facts, None)
        leading.append(group[0] if fact is None else replace(fact, score=group[0].score))
    return leading


def context_question(turns: Sequence[Turn]) -> str:
    """Return what to look for after these turns, oldest first; empty when they are about nothing.

    What the user said last stands whole where it seeks advice: older words would only blur what the
    advice is about. Else the turns are taken from the newest back, until there are enough words.
    """
    spoken = [turn.text for turn in turns if turn.role in (Role.USER, Role.ASSISTANT)]
    asked = [turn.text for turn in turns if turn.role is Role.USER]
    if asked and seeks_advice(asked[-1]) and len(_subject(asked[-1])) > 1:
        return asked[-1]
    parts: list[str] = []
    room = ENOUGH_TERMS
    # The user's own words first: a reply says much, and little of it is about them.
    for text in [*reversed(asked), *(reply for reply in reversed(spoken) if reply not in asked)]:
        terms = _subject(text)
        if not terms or room <= 0:
            continue
        parts.append(text if len(terms) <= room else " ".join(terms[:room]))
        room -= len(terms)
    return "\n".join(reversed(parts))


def _subject(text: str) -> list[str]:
    unique = dict.fromkeys(words.words(text))
    return [word for word in unique if word not in words.STOPWORDS and word not in SMALL_TALK]
