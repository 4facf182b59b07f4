"""Show what was found: what may be shown at all, what says the same once, and what it rests on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.language.words import stem
from factbook.model.confidence import as_of, is_deprecated, is_passive
from factbook.model.directives import EVERYWHERE
from factbook.model.facts import (
    EpisodeKind,
    Evidence,
    Fact,
    FactKind,
    Hit,
    Millis,
    Role,
    Stance,
    StoredEpisode,
    Trust,
)
from factbook.model.fading import recency, relevance_score
from factbook.model.text import file_names
from factbook.model.told import told_on_purpose
from factbook.model.turns import Turn, as_text, is_fragment
from factbook.recall import query as words
from factbook.recall.bearing import bearing, covered
from factbook.recall.given_up import given_up
from factbook.recall.pool import PoolRow
from factbook.recall.turns import (
    NO_TURNS,
    Question,
    Records,
    Shown,
    Turned,
    TurnWords,
    best_part,
    read_turns,
    turn_of,
)
from factbook.store.derived.ledger import called_wrong, evidence_of, outdated, replaced
from factbook.store.port import Store
from factbook.store.rows import Filters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAYS_ONLY: Final = 0.75  # share of a turn's words that its fact holds where it says nothing else


class Showing:
    """What makes hits of rows that were found."""

    def __init__(
        self,
        store: Store,
        *,
        redact: Callable[[str], str],
        is_interested: Callable[[str, str], bool],
    ) -> None:
        self._store = store
        self._redact = redact
        self._is_interested = is_interested

    def best(
        self,
        rows: Sequence[PoolRow],
        scores: NDArray[np.float64],
        terms: Sequence[str],
        *,
        now: Millis,
        limit: int,
        filters: Filters,
        passive: bool,
        facts_lead: bool,
        turned: Turned = NO_TURNS,
        listed: bool = False,
    ) -> list[Hit]:
        """Return the best `limit` hits of ranked rows, each with what it rests on.

        Rows that lie in one of the turns of `turned` are one hit, which shows the turn. Where the
        rows are `listed`, several of one episode are hits: one command installs five packages.
        """
        turns = turned.turns
        top = _foremost(rows, scores, limit=limit, turns=turns)
        episodes = self._store.episodes_by_id(
            sorted({row.id for row, _ in top if row.target == "episode"})
        )
        taken_back = outdated(self._store, list(episodes))
        # What was told and called wrong says nothing else; who asks finds the rest, further below.
        wrong = called_wrong(self._store, taken_back)
        best = max((score for _, score in top), default=0.0) or 1.0
        asked = TurnWords(terms)
        weighed: list[tuple[float, float, int, PoolRow]] = []
        bears: dict[int, float] = {}
        for n, (row, score) in enumerate(top):
            if row.fact is not None:
                row.fact = as_of(row.fact, now)  # of the few that are weighed, not of the pool
            memory = row.fact or episodes.get(row.id)
            if memory is None or not self._admitted(memory, taken_back, filters, passive=passive):
                continue
            if row.fact is None and row.id in wrong:
                continue
            held = _held(row, memory, asked, turned)
            bears[n] = bearing(row.cosine, covered(held, asked.all, turned.rarity))
            if passive and bears[n] < policy.PASSIVE_BEARS and not row.leaning:
                continue
            asked_for = not passive and asked.all and _is_plain(row, filters)
            if asked_for and bears[n] < policy.SAID_BEARS:
                continue
            relevance = relevance_score(
                (score / best) ** policy.SIMILARITY_POWER,
                # that a turn took place is certain
                _confidence(memory) if turn_of(row, turns) is None else 1.0,
                recency(memory.occurred_at, now),
            )
            if row.fact is None and row.id in taken_back:
                relevance *= policy.OUTDATED_SHARE
            weighed.append((relevance, score, n, row))
        abandoned: Mapping[int, Sequence[str]] = {}
        if turns:
            weighed = _bearing_ones(weighed, bears)
            lying = {
                begun: turns[row.episode]
                for *_, row in sorted(weighed, key=lambda entry: -entry[0])
                if (begun := turn_of(row, turns)) is not None
            }
            # Twice as many as are shown: those that sink make room for others.
            abandoned = given_up(self._store, dict(islice(lying.items(), 2 * limit)))
            for at, (relevance, score, n, row) in enumerate(weighed):
                if turn_of(row, turns) in abandoned:
                    weighed[at] = relevance * policy.OUTDATED_SHARE, score, n, row
        leading = _leading(weighed, bears)
        weighed.sort(key=lambda entry: (entry[2] not in leading, -entry[0], entry[2]))
        groups: dict[object, list[tuple[float, PoolRow]]] = {}
        taken: dict[int, object] = {}
        standing: dict[object, object] = {}  # facts that took an episode's place, with that place
        most: dict[object, float] = {}  # how much the best row of each group bears on the question
        for relevance, _, n, row in weighed:
            key: object = row.id if row.fact is None else _same(row.fact)
            key = standing.get(key, key)
            if (begun := turn_of(row, turns)) is not None:
                key = "turn", begun
            if key not in groups:
                if row.episode in taken and not listed:
                    # This episode is shown already, by something better.
                    place = taken[row.episode]
                    score, shown = groups[place][0]
                    if facts_lead and row.fact is not None and shown.fact is None:
                        said = episodes[shown.id].text
                        if shown.id == row.episode and _says_only(said, row.fact):
                            groups[place] = [(score, row)]
                            standing[key] = place
                    continue
                if len(groups) == limit:
                    continue
                groups[key] = []
            taken.setdefault(row.episode, key)
            groups[key].append((relevance, row))
            most[key] = max(most.get(key, 0.0), bears[n])
        evidence = evidence_of(
            self._store,
            [rows[0][1].id for rows in groups.values() if rows[0][1].fact is not None],
            limit=policy.SHOWN_EVIDENCE,
        )
        of_log = {
            key: turns[group[0][1].episode]
            for key, group in groups.items()
            if isinstance(key, tuple) and key[0] == "turn"
        }
        cosines = turned.near(
            [id_ for turn in of_log.values() for id_, _ in turn[: policy.TURN_VECTORS]]
        )
        read = read_turns(
            self._store,
            [(turn, [row.episode for _, row in groups[key]]) for key, turn in of_log.items()],
            Question(asked, turned.rarity, cosines, self._redact),
            Shown(self._taken_back, filters.since, filters.until, passive),
            episodes,
        )
        told: dict[object, Turn] = dict(zip(of_log, read, strict=True))
        prompts = self._store.episodes_by_id([turn[0][0] for turn in of_log.values()])
        over = replaced(
            self._store, {shown[0][1].episode for shown in groups.values()} & taken_back
        )
        hits = []
        for key, group in groups.items():
            (relevance, first), turn = group[0], told.get(key)
            score = round(relevance, 6)
            if first.fact is not None:
                count = len(group) if turn is None else 1
                hit = self._fact_hit(first.fact, score, count, evidence.get(first.id, ()))
            else:
                text = self._redact(episodes[first.id].text)
                # Stems of every word tell best; of a turn its passages are what is read.
                if turn is None:
                    span = passage(text, terms)
                else:
                    span = best_part(text, asked, turned.rarity, policy.SNIPPET_CHARS)[1:]
                hit = self._episode_hit(episodes[first.id], text, score, span)
                hit = replace(hit, replaced_by=over.get(first.id))
            if turn is not None:
                gone = [self._redact(path) for path in abandoned.get(int(turn.id[1:]), ())]
                marked = _marked(turn, gone)
                hit = _of_turn(hit, marked, prompts.get(int(turn.id[1:])))
            hits.append(replace(hit, bearing=round(most[key], 3)))
        return hits

    def _taken_back(self, ids: Sequence[int]) -> Collection[int]:
        return outdated(self._store, ids) if ids else ()

    def still(self, hits: Sequence[Hit], *, filters: Filters, now: Millis) -> list[Hit]:
        """Return what may come by itself of hits found before, each as it is now, in their order.

        Left out is what is retired, erased, somebody else's, less sure than the stream asks for, or
        no longer in the same words. Read by id, of one moment; nothing new is looked for.
        """
        there: list[Hit] = []
        with self._store.snapshot():
            facts = self._store.facts_by_id([int(hit.id[1:]) for hit in hits if hit.kind == "fact"])
            episodes = self._store.episodes_by_id(
                [int(hit.id[1:]) for hit in hits if hit.kind == "episode"]
            )
            taken_back = outdated(self._store, list(episodes))
            evidence = evidence_of(self._store, list(facts), limit=policy.SHOWN_EVIDENCE)
            rows: dict[str, Fact | StoredEpisode] = {
                **{f"f{id_}": as_of(fact, now) for id_, fact in facts.items()},
                **{f"e{id_}": episode for id_, episode in episodes.items()},
            }
            for hit in hits:
                row = rows.get(hit.id)
                if row is None or not self._admitted(row, taken_back, filters, passive=True):
                    continue
                if isinstance(row, Fact):
                    fresh = self._fact_hit(row, hit.score, hit.count, evidence[row.id])
                else:
                    span = hit.evidence[0].start, hit.evidence[0].end
                    fresh = self._episode_hit(row, self._redact(row.text), hit.score, span)
                if fresh.text == hit.text:
                    there.append(replace(fresh, bearing=hit.bearing))
        return there

    def _admitted(
        self,
        memory: Fact | StoredEpisode,
        taken_back: Collection[int],
        filters: Filters,
        *,
        passive: bool,
    ) -> bool:
        """Tell whether what was found, a fact as it is now, may be shown."""
        if not filters.of_owner(memory.owner):
            return False
        confidence = _confidence(memory)
        if isinstance(memory, Fact):
            if memory.retired_at is not None or is_deprecated(confidence):
                return False
        elif (
            _says_nothing(memory)
            or not _shown(memory, filters)
            or (passive and memory.id in taken_back)
        ):
            # What its owner has taken back since does not come by itself; who asks finds it below.
            return False
        return not passive or self._comes_by_itself(memory, confidence)

    def _comes_by_itself(self, memory: Fact | StoredEpisode, confidence: float) -> bool:
        if isinstance(memory, StoredEpisode):
            # A command to factbook itself says nothing that is worth repeating.
            return memory.trust is not Trust.EXTERNAL and memory.kind is not EpisodeKind.COMMAND
        if memory.trust is Trust.EXTERNAL:
            about_known = memory.kind is FactKind.WORLD
            if not about_known or not self._is_interested(memory.owner, memory.subject):
                return False
        if memory.kind is FactKind.DIRECTIVE and memory.subject != EVERYWHERE:
            return False  # it is not known here in which project somebody asks
        return is_passive(confidence)

    def _fact_hit(self, fact: Fact, score: float, count: int, evidence: Sequence[Evidence]) -> Hit:
        shown = [replace(piece, quote=self._redact(piece.quote)) for piece in evidence]
        text, said = self._redact(fact.statement), self._redact(fact.object)
        fact = replace(fact, statement=text, object=said)
        return fact_hit(fact, score=score, count=count, evidence=shown)

    def _episode_hit(
        self, episode: StoredEpisode, text: str, score: float, span: tuple[int, int]
    ) -> Hit:
        """Return an episode as a hit, with a span of its text, redacted, as evidence."""
        start, end = span
        return episode_hit(
            episode,
            text=text,
            score=score,
            predicate=episode.kind,
            evidence=[
                Evidence(
                    fact_id=0,
                    episode_id=episode.id,
                    rule=episode.kind,
                    method="the episode itself",
                    stance=Stance.SUPPORTS,
                    quote=text[start:end],
                    start=start,
                    end=end,
                    occurred_at=episode.occurred_at,
                    source=episode.source,
                    position=episode.position,
                    offset=episode.offset,
                )
            ],
        )


def _marked(turn: Turn, gone: Sequence[str]) -> Turn:
    """Return a turn that says which of its files are gone."""
    if not gone:
        return turn
    given = f"given up later: {file_names(gone, policy.TURN_FILES)} discarded"
    return replace(turn, outcome=", ".join(filter(None, [turn.outcome, given])))


def _of_turn(hit: Hit, turn: Turn, prompt: StoredEpisode | None) -> Hit:
    """Return a hit whose text is what is shown of its turn.

    An agent, its owner and its tools speak in it, so it is as trusted as the least of them; where
    nothing but its prompt is shown, that one speaks.
    """
    said = episode_hit(prompt, text=prompt.text) if prompt is not None and turn.asked else None
    if said is not None:
        turn = replace(turn, asked_by=said.by, asked_trust=str(said.trust))
    whole = _whole_turn(hit, turn)
    if said is None or turn.passages or turn.ended or turn.outcome or turn.files:
        return whole
    return replace(
        whole,
        confidence=said.confidence,
        trust=said.trust,
        role=said.role,
        speaker=said.speaker,
        overheard=((0, len(whole.text)),) if said.overheard else (),
    )


def _whole_turn(hit: Hit, turn: Turn) -> Hit:
    return replace(
        hit,
        id=turn.id,
        kind="episode",
        text=as_text(turn),
        confidence=policy.TRUST_CAP[turn.trust],
        trust=Trust(turn.trust),
        role=Role.ASSISTANT,
        speaker="",
        overheard=(),
        predicate="turn",
        object="",
        turn=turn,
        replaced_by=None,
    )


def _held(
    row: PoolRow, memory: Fact | StoredEpisode, asked: TurnWords, turned: Turned
) -> Collection[str]:
    """Return which words of a question something holds, of a record its turn."""
    held = turned.held.get(turn_of(row, turned.turns) or 0)
    if held is None:
        held = asked.within(memory.statement if isinstance(memory, Fact) else memory.text)
    return held


def _is_plain(row: PoolRow, filters: Filters) -> bool:
    """Tell whether a row is a statement that nothing but its words and meaning can have found.

    Who asks about what nobody said is to be told so, and not of something else.
    """
    is_said = row.fact is not None and row.fact.kind is FactKind.STATEMENT
    timed = filters.since is not None or filters.until is not None
    return is_said and not row.cued and not timed and not math.isnan(row.cosine)


def _bearing_ones(
    weighed: Sequence[tuple[float, float, int, PoolRow]], bears: Mapping[int, float]
) -> list[tuple[float, float, int, PoolRow]]:
    """Return what bears on a question, where something does: a list ends where nothing does.

    What stands far behind the best must bear the more, as a turn of many records holds most words
    of any question. A fact that was asked for by its predicate bears, whatever its words.
    """
    cued = any(row.cued for *_, row in weighed)
    if not cued and max((bears[n] for *_, n, _ in weighed), default=0.0) < policy.LOG_BEARS_BESIDE:
        return list(weighed)
    return [one for one in weighed if one[3].cued or one[0] + bears[one[2]] >= policy.LOG_BEARS]


def _leading(
    weighed: Sequence[tuple[float, float, int, PoolRow]], bears: Mapping[int, float]
) -> frozenset[int]:
    """Return which rows lead: what was told on purpose and bears on the question, the surest.

    Of rules and decisions all do that a question asks for.
    """
    told = [
        (bears[n], relevance, n)
        for relevance, _, n, row in weighed
        if row.fact is not None
        and bears[n] >= policy.TOLD_BEARS
        and told_on_purpose(
            kind=row.fact.kind, trust=row.fact.trust, host=row.fact.host, pinned=row.fact.pinned
        )
    ]
    surest = {n for *_, n in sorted(told, reverse=True)[: policy.TOLD_LEADS]}
    asked = {
        n
        for *_, n, row in weighed
        if row.cued and row.fact is not None and row.fact.kind is FactKind.DIRECTIVE
    }
    return frozenset(surest | asked)


def _same(fact: Fact) -> tuple[str, str, str]:
    """Return what facts that say the same have in common."""
    # An object that the sentence does not even name is a category: there the sentence tells apart.
    said = fact.object if fact.object in fact.statement else fact.statement
    return fact.owner, fact.predicate, said


def _says_only(text: str, fact: Fact) -> bool:
    said = words.words(text)
    held = set(words.words(fact.statement))
    return bool(said) and sum(word in held for word in said) >= SAYS_ONLY * len(said)


def _foremost(
    rows: Sequence[PoolRow],
    scores: NDArray[np.float64],
    *,
    limit: int,
    turns: Mapping[int, Records],
) -> list[tuple[PoolRow, float]]:
    """Return the best rows with their scores, and after them all facts that are asked for.

    They are more than the `limit` that is shown, and so are the turns and other rows among them.
    Of episodes that say the very same only the best is there: said often, they would leave no room
    for others. Equal texts have equal lengths and cosines.
    """
    depth, apart = max(policy.SHOWN_POOL, 4 * limit), policy.SHOWN_APART * limit
    seen: set[tuple[float, int]] = set()
    of_turn: Counter[int] = Counter()
    again = 0  # rows of turns that another row is of
    top: list[tuple[PoolRow, float]] = []
    for row, score in zip(rows, scores.tolist(), strict=True):
        if len(top) >= depth and len(top) - again >= apart and not row.cued:
            continue
        if row.fact is None and not math.isnan(row.cosine):
            key = (round(row.cosine, 6), row.chars)
            if key in seen:
                continue
            seen.add(key)
        if (begun := turn_of(row, turns)) is not None:
            of_turn[begun] += 1
            if of_turn[begun] > policy.TURN_FOUND:
                continue
            again += of_turn[begun] > 1
        top.append((row, score))
    return top


def _says_nothing(episode: StoredEpisode) -> bool:
    """Tell whether a record of a log says nothing by itself: "/exit", "Of course.", a title."""
    if episode.kind is EpisodeKind.SUMMARY:
        return len(episode.text.split()) < policy.TITLE_WORDS
    return episode.kind in (EpisodeKind.PROMPT, EpisodeKind.REPLY) and is_fragment(episode.text)


def _shown(episode: StoredEpisode, filters: Filters) -> bool:
    if episode.injected:
        return False
    if episode.kind is EpisodeKind.COMMAND and episode.trust is Trust.DERIVED:
        return False  # a model told it on purpose: what was let in of it is a fact
    if filters.turns_any_time and episode.kind is not EpisodeKind.TURN:
        after = filters.since is None or (episode.occurred_at or 0) >= filters.since
        before = filters.until is None or (episode.occurred_at or 0) < filters.until
        if not (after and before):
            return False  # a neighbour of what was found, from another time
    return not filters.episode_kinds or episode.kind in filters.episode_kinds


def fact_hit(
    fact: Fact, *, score: float = 0.0, count: int = 1, evidence: Sequence[Evidence] = ()
) -> Hit:
    """Return a fact, redacted and as it is now, as a hit."""
    return Hit(
        id=f"f{fact.id}",
        kind="fact",
        text=fact.statement,
        score=score,
        confidence=fact.confidence,
        occurred_at=fact.occurred_at,
        source=evidence[0].source if evidence else "",
        position=evidence[0].position if evidence else 0,
        host=fact.host,
        project=fact.project,
        session=fact.session,
        predicate=fact.predicate,
        object=fact.object,
        count=count,
        evidence=list(evidence),
        trust=fact.trust,
    )


def episode_hit(
    episode: StoredEpisode,
    *,
    text: str,
    score: float = 0.0,
    predicate: str = "",
    evidence: Sequence[Evidence] = (),
) -> Hit:
    """Return an episode as an answer of recall; `text` is its text, redacted.

    It is shown as its speaker's own word only where all of it is.
    """
    heard, overheard = episode.heard(), episode.overheard
    if overheard and text != episode.text:
        overheard = ((0, len(text)),)  # where their words stand in it now cannot be told
    return Hit(
        id=f"e{episode.id}",
        kind="episode",
        text=text,
        score=score,
        confidence=policy.TRUST_CAP[heard],
        occurred_at=episode.occurred_at,
        source=episode.source,
        position=episode.position,
        host=episode.host,
        project=episode.project,
        session=episode.session,
        trust=heard,
        role=episode.role,
        speaker=episode.speaker,
        overheard=overheard,
        predicate=predicate,
        evidence=evidence,
    )


def _confidence(memory: Fact | StoredEpisode) -> float:
    return memory.confidence if isinstance(memory, Fact) else policy.TRUST_CAP[memory.trust]


def passage(
    text: str, terms: Sequence[str], *, size: int = policy.SNIPPET_CHARS
) -> tuple[int, int]:
    """Return the span of the lines of a text, about `size` characters, that hold most terms."""
    if len(text) <= size:
        return 0, len(text)
    wanted = {stem(term) for term in terms}
    best, best_count, start = (0, min(size, len(text))), -1, 0
    for line in text.splitlines(keepends=True):
        for offset in range(0, len(line), size):
            part = line[offset : offset + size]
            held = len(wanted & {stem(word) for word in words.words(part)})
            if held > best_count and part.strip():
                begin = start + offset
                best, best_count = (begin, begin + len(part.rstrip())), held
        start += len(line)
    begin, end = best
    return begin, max(end, begin + 1)
