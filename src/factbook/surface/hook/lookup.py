"""Look in a SQLite store for what bears on a prompt, by its words; and for what to begin with.

The full-text index of the store is asked for each word of the prompt alone, so that it is known
which memories share which words, and how rare these are. What may come by itself is what the
passive stream lets through (`recall.hits`), as of now, and less: nothing that only the world says,
nothing that is disputed, of episodes only what the owner said and did not ask.

Reading only.
"""

from __future__ import annotations

import json
import math
import os
import stat
import struct
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import mul
from typing import Any, Final, NamedTuple

import apsw  # which wrote the file: an older SQLite of Python's own may not know its full text

from factbook import policy
from factbook.language.words import SMALL_TALK, STOPWORDS, words
from factbook.model.directives import EVERYWHERE, PROJECT, holds_in, subject_of
from factbook.model.fading import recency, relevance_score, value_then
from factbook.model.frame import authority_of
from factbook.model.owners import spelled
from factbook.sources.project_languages import languages_in

APPLICATION_ID: Final = 0x66616374
SCHEMA: Final = 15
"""Those of the store whose tables these are; a test holds them equal."""

BUSY_MS: Final = 50  # for a writer that lets nobody read
STEPS: Final = 1_000  # of SQLite's machine between two looks at the clock
PROMPT_CHARS: Final = (3_000, 1_000)  # of a long prompt: its beginning and its end
TERMS: Final = 24  # words of a prompt that are looked for
COMMON: Final = 400  # memories with a word, from which on it shows nothing
RARE: Final = 500  # one memory in so many has a word that may show something by itself
FEW: Final = 1_000  # memories, below which it says little how many have a word
POOL: Final = 40  # memories that are read, those that share the weightiest words
DIVERSE: Final = 12  # of them, that are compared with each other
EPISODE_CHARS: Final = 1_200  # longer ones share many words with anything
COVERED: Final = ((1, 0.6), (2, 0.45), (3, 0.35), (5, 0.3))
"""Words that are shared, and the share of the prompt's weight that they must have at least."""
HANDED_ON: Final = "[...]"  # in the place of what its owner only handed on
OWNED: Final = frozenset({"i", "me", "my", "mine", "we", "us", "our", "ours"})
DIGEST_FACTS: Final = 400  # newest facts of each kind that a digest is chosen from
DIGEST_RULES: Final = 6  # rules and decisions that a digest begins with
DIGEST_SOURCES: Final = 12  # newest sessions of the project, that are looked at
ASKED: Final = 3  # prompts of them that are told
ASKED_CHARS: Final = 24  # of a prompt that says by itself what it was about
_TOLD: Final = ("statement", "typed", "keyed")


class Memory(NamedTuple):
    """One memory as it may be shown; what `model.frame` asks for."""

    id: str
    kind: str
    text: str
    predicate: str
    confidence: float
    occurred_at: int | None
    trust: str | None
    role: str | None
    speaker: str
    overheard: tuple[tuple[int, int], ...] = ()  # none: what is shown is its speaker's own part
    score: float = 0.0
    episode: int = 0  # its own number, or that of what a fact was first read in
    session: str = ""


class Unusable(Exception):
    """The database cannot be asked, and why; an empty text for one that is not made yet."""


class Lookup:
    """One database of one owner, as of one moment, within a time."""

    def __init__(
        self, path: str, *, owner: str, until: float, now: int, project: str = "", anew: int = 0
    ) -> None:
        """Open it; `until` is on the monotonic clock.

        `project` is the folder of the session that asks: rules that hold in others alone are none.
        `anew` is when the session that asks began anew: what was said in it before that is as far
        as what was said in others. Raises Unusable, and apsw.Error where SQLite refuses.
        """
        self._now = now
        self._until = until
        self._anew = anew
        self._project = project
        self._languages = cache(lambda: languages_in(project))
        try:
            about = os.stat(path)
        except OSError as error:
            raise Unusable("") from error
        if not stat.S_ISREG(about.st_mode):
            raise Unusable("no file")
        escaped = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        host = "//" * path.startswith("/")  # none: behind `//tmp` would be taken for one
        self._db = apsw.Connection(
            f"file:{host}{escaped}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        self._db.set_busy_timeout(BUSY_MS)
        self._db.set_progress_handler(lambda: time.monotonic() > until, STEPS)
        self._db.execute("PRAGMA trusted_schema=OFF")
        self._db.execute("BEGIN")  # all of one moment
        application = self._rows("PRAGMA application_id")[0][0]
        version = self._rows("PRAGMA user_version")[0][0]
        if application != APPLICATION_ID:
            raise Unusable("not ours")
        if version != SCHEMA:
            raise Unusable(f"schema {version}")
        self._owner = spelled(owner, self._is_known)

    def _is_known(self, owner: str) -> bool:
        sql = "SELECT 1 FROM {} WHERE owner = ? LIMIT 1"
        return any(self._rows(sql.format(one), (owner,)) for one in ("fact_row", "episode_row"))

    def _rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[Any]:
        if time.monotonic() > self._until:
            raise apsw.InterruptError("the time is over")
        return self._db.execute(sql, bindings).fetchall()

    def bearing_on(self, prompt: str, *, without: frozenset[str], session: str) -> list[Memory]:
        """Return what shares enough of the rare words of a prompt, best first.

        Left out are the ids `without`, and what was said in this session.
        """
        terms = terms_of(prompt)
        if not terms:
            return []
        bearing: list[Memory] = []
        facts_of: set[int] = set()  # a fact stands for what it was read from
        for target, read in (("fact", self._facts), ("episode", self._episodes)):
            shared, covers = self._shared(target, terms)
            for memory in read(covers, without=without, session=session):
                if target == "fact":
                    if authority_of(memory) == "observation" and (
                        memory.trust == "direct" or shared[memory.id] < 2
                    ):
                        continue  # the prompt says more, and a call says little by one word
                    facts_of.add(memory.episode)
                elif memory.episode in facts_of or not _tells(memory.text, terms):
                    continue
                near = covers[int(memory.id[1:])]
                score = relevance_score(
                    near, memory.confidence, recency(memory.occurred_at, self._now)
                )
                bearing.append(memory._replace(score=score))
        bearing.sort(key=lambda memory: (-memory.score, memory.id))
        return bearing

    def _shared(
        self, target: str, terms: Sequence[str]
    ) -> tuple[Mapping[str, int], dict[int, float]]:
        """Return how many words each row shares, and the share of weight of those with enough."""
        rows = self._rows(f"SELECT max(id) FROM {target}_row")[0][0] or 0
        holding: dict[str, list[int]] = {}
        whole = 0.0
        for term in terms:
            matched = self._rows(
                f"SELECT rowid FROM {target}_fts WHERE {target}_fts MATCH ? LIMIT ?",
                (f'"{term}"', COMMON + 1),
            )
            if len(matched) <= COMMON:
                holding[term] = [row[0] for row in matched]
                whole += _weight(rows, len(matched))
        weights: dict[int, float] = {}
        counts: dict[int, int] = {}
        alone: dict[int, int] = {}  # memories with the rarest word that a row shares
        for ids in holding.values():
            weight = _weight(rows, len(ids))
            for id_ in ids:
                weights[id_] = weights.get(id_, 0.0) + weight
                counts[id_] = counts.get(id_, 0) + 1
                alone[id_] = min(alone.get(id_, COMMON), len(ids))
        covers = {}
        for id_, weight in weights.items():
            least = next(share for words_, share in reversed(COVERED) if counts[id_] >= words_)
            rare = counts[id_] > 1 or alone[id_] <= max(2, rows // RARE)
            if rare and weight >= least * whole:
                covers[id_] = weight / whole
        best = sorted(covers, key=lambda id_: (-covers[id_], -id_))[:POOL]
        letter = target[0]
        return ({f"{letter}{id_}": counts[id_] for id_ in best}, {id_: covers[id_] for id_ in best})

    def named(self, ids: Sequence[str], *, without: frozenset[str], session: str) -> list[Memory]:
        """Return the memories of these ids that may come by themselves, in their order."""
        numbers: dict[str, list[int]] = {"f": [], "e": []}
        for id_ in ids:
            if id_[:1] in numbers and id_[1:].isdecimal() and id_ not in without:
                numbers[id_[0]].append(int(id_[1:]))
        there = {
            memory.id: memory
            for memories in (
                self._facts(numbers["f"], without=without, session=session),
                self._episodes(numbers["e"], without=without, session=session, every=True),
            )
            for memory in memories
        }
        return [there[id_] for id_ in ids if id_ in there]

    def _facts(self, ids: Iterable[int], *, without: frozenset[str], session: str) -> list[Memory]:
        rows = self._rows(
            f"SELECT {_FACT} WHERE f.id IN (SELECT value FROM json_each(?)) AND {_CURRENT}",
            (json.dumps(list(ids)), self._owner),
        )
        return self._admitted(rows, without, session)

    def _admitted(self, rows: Sequence[Any], without: frozenset[str], session: str) -> list[Memory]:
        disputed = self._disputed() if rows else set()
        memories = []
        for row in rows:
            id_, text, kind, predicate, sure, at, pinned, when, trust, *more = row
            episode, where, subject, until = more
            if kind == "directive" and not holds_in(subject, self._project, self._languages):
                continue
            about = {"kind": kind, "predicate": predicate, "pinned": bool(pinned), "until": until}
            value = value_then(sure, at, self._now, **about)
            name = f"f{id_}"
            passive = value > policy.MIN_CONFIDENCE_PASSIVE and (pinned or id_ not in disputed)
            shown = not without.isdisjoint((name, f"e{episode}"))
            if passive and not shown and self._far(where, when, session):
                memories.append(
                    Memory(
                        id=name,
                        kind="fact",
                        text=text,
                        predicate=predicate,
                        confidence=value,
                        occurred_at=when,
                        trust=trust,
                        role=None,
                        speaker="",
                        episode=episode,
                        session=where,
                    )
                )
        return memories

    def _far(self, where: str, when: int | None, session: str) -> bool:
        """Tell whether what was said somewhere, at a time, is no more before the model there."""
        return where != session or (when is not None and when < self._anew)

    def _disputed(self) -> set[int]:
        """Return the facts of questions that wait for their owner's answer.

        A model's word alone puts nothing in question: it would silence what its owner said.
        """
        disputed: set[int] = set()
        for low, high in self._rows(
            "SELECT low_id, high_id FROM pair_row WHERE relation = 'ambiguous' AND verdict = ''"
            f" AND rule = '{policy.OVERHEARD}'"
        ):
            disputed |= {low, high}
        for (payload,) in self._rows(
            "SELECT p.payload FROM proposal_row p"
            " LEFT JOIN episode_data e ON e.uid = json_extract(p.payload, '$.episode')"
            " WHERE p.state = 'open' AND p.kind = 'memory' AND e.role IS NOT 'assistant'"
        ):
            against = json.loads(payload).get("against")
            for side in against if isinstance(against, list) else ():
                named = side.get("fact") if isinstance(side, dict) else side
                digits = str(named).removeprefix("f")
                if digits.isdecimal():
                    disputed.add(int(digits))
        return disputed

    def _episodes(
        self, ids: Iterable[int], *, without: frozenset[str], session: str, every: bool = False
    ) -> list[Memory]:
        """Return episodes that may come by themselves; `every`: of all kinds and lengths."""
        said = "e.role IN ('user', 'assistant')"  # what a tool gave back may be of anybody
        told = f" AND {said}" if every else f" AND {_TELLS} AND e.chars <= {EPISODE_CHARS}"
        rows = self._rows(
            f"SELECT {_EPISODE} WHERE e.id IN (SELECT value FROM json_each(?)) AND {_OPEN}{told}"
            " ORDER BY e.id",
            (json.dumps(list(ids)), self._owner),
        )
        over = self._outdated([row[0] for row in rows])
        own = {row[0]: own_part(row[1], row[8]) for row in rows}
        return [
            Memory(
                id=f"e{id_}",
                kind="episode",
                text=own[id_],
                predicate=kind,
                confidence=policy.TRUST_CAP.get(trust, 0.0),
                occurred_at=when,
                trust=trust,
                role=role,
                speaker=speaker,
                episode=id_,
                session=where,
            )
            for id_, _, kind, when, trust, role, speaker, where, _ in rows
            if own[id_].replace(HANDED_ON, "").strip()
            and without.isdisjoint((f"e{id_}", source_of(id_)))
            and self._far(where, when, session)
            and id_ not in over
        ]

    def _outdated(self, ids: Sequence[int]) -> set[int]:
        """Return the episodes whose every statement was superseded or rated wrong."""
        old: dict[int, bool] = {}
        for episode, status, confidence in self._rows(
            "SELECT v.episode_id, f.status, f.confidence FROM evidence_row v"
            " JOIN fact_row f ON f.id = v.fact_id"
            " WHERE v.episode_id IN (SELECT value FROM json_each(?)) AND v.stance = 'supports'"
            " AND f.kind <> 'observation' AND f.status <> 'merged_into'",
            (json.dumps(list(ids)),),
        ):
            gone = status == "superseded" or confidence == 0
            old[episode] = old.get(episode, True) and gone
        return {episode for episode, all_gone in old.items() if all_gone}

    def apart(self, memories: Sequence[Memory], limit: int) -> list[Memory]:
        """Return the first so many that do not say the same: of those so near, the first one.

        One that has no vector yet is near to none.
        """
        memories = memories[:DIVERSE]
        vectors: dict[str, tuple[float, ...]] = {}
        for target in ("fact", "episode"):
            ids = [int(memory.id[1:]) for memory in memories if memory.kind == target]
            for id_, vector in self._rows(
                f"SELECT {target}_id, vector FROM {target}_vector"
                f" WHERE {target}_id IN (SELECT value FROM json_each(?))",
                (json.dumps(ids),),
            ):
                vectors[f"{target[0]}{id_}"] = struct.unpack(f"<{len(vector) // 2}e", vector)
        chosen: list[Memory] = []
        for memory in memories:
            own = vectors.get(memory.id, ())
            others = (vectors.get(other.id, ()) for other in chosen)
            if all(sum(map(mul, own, other)) < policy.DIVERSITY_SIMILARITY for other in others):
                chosen.append(memory)
        return chosen[:limit]

    def digest(self, project: str, *, without: frozenset[str], session: str) -> list[Memory]:
        """Return what a session in a project should begin with, what matters most first.

        The rules and decisions that hold in it come first. What was told lasts: what its owner
        pinned, then what was told in this project, then the surest and newest of the rest, its
        owner's own word before a model's; after them what was last asked for in this project.
        """
        rules = self._rules(without, session)
        told: list[Memory] = []
        of_here: set[str] = set()
        for kind in _TOLD:
            rows = self._rows(
                f"SELECT {_FACT} WHERE f.kind = ? AND {_TOLD_ONLY} AND {_CURRENT}"
                " ORDER BY f.id DESC LIMIT ?",
                (kind, self._owner, DIGEST_FACTS),
            )
            pinned = {f"f{row[0]}" for row in rows if row[6]}
            memories = self._admitted(rows, without, session)
            here = self._of_project([memory.episode for memory in memories], project)
            of_here |= {memory.id for memory in memories if memory.episode in here} | pinned
            told += memories
        told.sort(
            key=lambda memory: (
                memory.id not in of_here,
                memory.trust == "derived",  # a model's word last: nobody asked for it
                -relevance_score(0.0, memory.confidence, recency(memory.occurred_at, self._now)),
                memory.id,
            )
        )
        return [*rules, *told, *self._last_asked(project, without, session)]

    def _rules(self, without: frozenset[str], session: str) -> list[Memory]:
        """Return the rules that hold in this project, its own first, then the newest."""
        here = subject_of(PROJECT, self._project, "")
        rows = self._rows(
            f"SELECT {_FACT} WHERE f.kind = 'directive' AND {_TOLD_ONLY} AND {_CURRENT}"
            " AND (f.subject IN (?, ?) OR f.subject LIKE 'language:%')"
            " ORDER BY f.pinned DESC, f.subject = ? DESC, f.occurred_at DESC, f.id DESC LIMIT ?",
            (self._owner, here, EVERYWHERE, here, DIGEST_FACTS),
        )
        return self._admitted(rows, without, session)[:DIGEST_RULES]

    def _of_project(self, episodes: Sequence[int], project: str) -> set[int]:
        if not project:
            return set()
        rows = self._rows(
            "SELECT id FROM episode_row WHERE id IN (SELECT value FROM json_each(?))"
            " AND project = ?",
            (json.dumps(list(episodes)), project),
        )
        return {row[0] for row in rows}

    def _last_asked(self, project: str, without: frozenset[str], session: str) -> list[Memory]:
        if not project:
            return []
        sources = self._rows(
            "SELECT id FROM source_row WHERE project = ? AND session <> ?"
            " ORDER BY last_at DESC LIMIT ?",
            (project, session, DIGEST_SOURCES),
        )
        asked: list[Memory] = []
        for (source,) in sources:
            if len(asked) == ASKED:
                break
            rows = self._rows(
                "SELECT e.id FROM episode_row e WHERE e.source_id = ? AND e.kind = 'prompt'"
                " AND e.chars >= ? ORDER BY e.id DESC LIMIT ?",
                (source, ASKED_CHARS, POOL),
            )
            ids = [row[0] for row in rows]
            asked += self._episodes(ids, without=without, session=session)[-1:]
        return asked


_FACT: Final = (
    "f.id, f.statement, f.kind, f.predicate, f.confidence, f.confidence_at, f.pinned,"
    " f.occurred_at, f.trust, f.episode_id, e.session, f.subject, f.valid_to"
    " FROM fact_row f JOIN episode_row e ON e.id = f.episode_id"
)
_CURRENT: Final = (
    "f.owner = ? AND f.retired_at IS NULL AND f.status IN ('active', 'pending_embed')"
    " AND f.trust <> 'external'"
)
_TOLD_ONLY: Final = "f.kind <> 'observation'"  # it leads to the index of kinds
_EPISODE: Final = (
    "e.id, e.text, e.kind, e.occurred_at, e.trust, e.role, e.speaker, e.session,"
    " json_extract(e.attributes, '$.overheard') FROM episode_row e"
)
_OPEN: Final = (
    "e.owner = ? AND e.injected = 0 AND e.trust <> 'external' AND e.kind <> 'command'"
    " AND NOT EXISTS (SELECT 1 FROM erased_row x WHERE x.target = 'episode' AND x.row_id = e.id)"
)
_TELLS: Final = "e.trust = 'direct' AND e.asks = 0 AND e.kind IN ('prompt', 'turn', 'note')"
_STEM: Final = 4  # letters that the forms of a word share


def source_of(episode: int) -> str:
    """Return how it is noted that a fact was shown: then its episode need not be."""
    return f"~{episode}"


def terms_of(prompt: str) -> list[str]:
    """Return the words of a prompt that carry its subject, each once; none for small talk."""
    head, tail = PROMPT_CHARS
    text = prompt if len(prompt) <= head + tail else f"{prompt[:head]} {prompt[-tail:]}"
    unique = dict.fromkeys(words(text))
    dull = STOPWORDS | SMALL_TALK
    terms = [word for word in unique if word not in dull and (len(word) > 1 or not word.isascii())]
    if len(terms) > TERMS:  # what is asked stands at either end
        terms = [*terms[: TERMS // 2], *terms[-(TERMS // 2) :]]
    return terms


def own_part(text: str, overheard: str | None) -> str:
    """Return a text without what who speaks only hands on: it would come back as their own.

    `overheard` is as the store has it: "3-120 130-140".
    """
    for part in reversed((overheard or "").split()):
        start, _, end = part.partition("-")
        text = f"{text[: int(start)]}{HANDED_ON}{text[int(end) :]}"
    return text


def _tells(text: str, terms: Sequence[str]) -> bool:
    """Tell whether a message says anything about the words of a prompt.

    One that only asks for the same does not: it has no other word of substance, nor "I". Nor does
    one whose part about them was handed on.
    """
    said = words(text)
    if OWNED.isdisjoint(said) and set(terms_of(text)) <= set(terms):
        return False
    own = text.casefold()
    return HANDED_ON not in text or any(term[:_STEM] in own for term in terms)


def _weight(rows: int, holding: int) -> float:
    """Return what a shared word is worth: the rarer, the more; one that none has, as the rarest."""
    return math.log(1.0 + max(rows, FEW) / max(1, holding))
