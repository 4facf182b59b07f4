"""Order what was found in agents' logs by turns, and read of a turn what bears on a question.

A record of a log rarely answers by itself: the prompt has the question's words, the reply the
answer, the call the command. So the turns of the records that the legs found are weighed: by how
near their prompts and nearest records are, by their best record, and by how many of the question's
words all their records hold, rare ones more. Of a turn is shown what bears on the question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.language.words import stem
from factbook.model.facts import EVERYONE, EpisodeKind, Fact, FactKind, Millis, StoredEpisode, Trust
from factbook.model.turns import Turn
from factbook.recall.pool import PoolRow
from factbook.sources.session_log.outputs import CONTENT, ECHO, shape_of
from factbook.store.kinds import CITED
from factbook.store.port import Reads
from factbook.store.rows import Filters

_SAID: Final = (EpisodeKind.PROMPT, EpisodeKind.REPLY, EpisodeKind.TOOL_CALL, EpisodeKind.SUMMARY)
"""Records whose words are the turn's own; output of tools holds any word."""
_STEM_CHARS: Final = 3  # of a stem by which words are found; shorter ones stand whole
_BREAK: Final = re.compile(r"\n|(?<=[.!?])\s")
_REPLIES: Final = (EpisodeKind.REPLY, EpisodeKind.SUMMARY)
_ACTS: Final = (EpisodeKind.TOOL_CALL, EpisodeKind.TOOL_RESULT)
_NEAR: Final = 6  # records around a call among which its result stands
_CAME_BACK: Final = "-> "
CHANGED: Final = ("modified_file",)
_ENDED: Final = ("verified", "failed_with", "fixed_by", "committed")
_OUTCOMES: Final = {"passed": "checks passed", "failed": "checks failed"}
_INTERRUPTED: Final = "[Request interrupted"

Records = Sequence[tuple[int, EpisodeKind]]


class TurnWords:
    """Finds the words of a question in texts, by their stems."""

    def __init__(self, terms: Sequence[str]) -> None:
        """Take the words that carry the question."""
        begins: dict[str, None] = {}
        for term in terms:
            for word in _lowered(term).split():
                base = stem(word)
                begun = base if word.startswith(base) and len(base) >= _STEM_CHARS else word
                begins[begun] = None
        self._begins = list(begins)
        # The longest first: of two that begin alike the other would never be seen.
        ordered = sorted(self._begins, key=len, reverse=True)
        self._any = re.compile("|".join(map(_at_a_word, ordered)) or r"(?!)")

    @property
    def all(self) -> Sequence[str]:
        """What each of them begins with, in the order of the question."""
        return self._begins

    def places(self, text: str) -> list[tuple[int, str]]:
        """Return where which of them stand."""
        return [(match.start(), match[0]) for match in self._any.finditer(_lowered(text))]

    def counted(self, text: str) -> Counter[str]:
        """Return how often a text holds which of them."""
        return Counter(self._any.findall(_lowered(text)))

    def within(self, text: str) -> set[str]:
        """Return which of them a text holds."""
        return set(self._any.findall(_lowered(text)))


def _lowered(text: str) -> str:
    """Return a text in lower case and of the same length, so that places in it are those in it."""
    return text.replace("İ", "i").lower()  # of all letters the one that would become two


def _at_a_word(begun: str) -> str:
    """Return the pattern of what a word begins with; of a short one, the whole word."""
    # What comes before is looked at last: a pattern that begins with letters is searched for by
    # these, in less than half the time.
    letters = re.escape(begun)
    return rf"{letters}(?<![^\W_]{letters})" + ("" if len(begun) >= _STEM_CHARS else r"(?![^\W_])")


class Turned(NamedTuple):
    """Rows of a pool in the order of their turns, and the turn of each that lies in one."""

    rows: list[PoolRow]
    scores: NDArray[np.float64]
    turns: Mapping[int, Records]  # by the id of an episode of one of the rows
    rarity: Mapping[str, float]  # of the words of the question, among the turns
    held: Mapping[int, Collection[str]]  # words of the question in each turn, by its first record
    near: Callable[[Sequence[int]], Mapping[int, float]]  # cosines of episodes to the question


def in_log(row: PoolRow) -> bool:
    """Tell whether a row stands for what its episode says: a record, or what was seen in it."""
    return row.fact is None or (row.fact.kind is FactKind.OBSERVATION and not row.cued)


def turn_of(row: PoolRow, turns: Mapping[int, Records]) -> int | None:
    """Return the first record of the turn that a row lies in, of those by their episodes' ids."""
    turn = turns.get(row.episode) if in_log(row) else None
    return None if turn is None else turn[0][0]


NO_TURNS: Final = Turned([], np.zeros(0), {}, {}, {}, lambda _ids: {})


def by_turn(
    moment: Reads,
    rows: Sequence[PoolRow],
    scores: NDArray[np.float64],
    words: TurnWords,
    near: Callable[[Sequence[int]], Mapping[int, float]],
) -> Turned:
    """Put rows that lie in turns in the order of these; all others stay where they are.

    All turns are weighed by their vectors and their best record by words, which costs little; the
    best of them also by how many of the question's words they hold together.
    """
    turns = moment.turns([row.episode for row in rows if in_log(row)])
    if not turns:
        return Turned(list(rows), scores, {}, {}, {}, near)
    lying = [turn_of(row, turns) for row in rows]
    known: dict[int, Records] = {}
    lexical: dict[int, float] = {}
    found: dict[int, list[int]] = {}
    for row, begun in zip(rows, lying, strict=True):
        if begun is not None:
            known[begun] = turns[row.episode]
            found.setdefault(begun, []).append(row.episode)
            said = 0.0 if math.isnan(row.lexical) else row.lexical
            lexical[begun] = max(lexical.get(begun, 0.0), said)
    # Of a long turn its first records, and wherever it was found.
    own = {
        begun: list(
            dict.fromkeys([*(id_ for id_, _ in turn[: policy.TURN_RECORDS]), *found[begun]])
        )
        for begun, turn in known.items()
    }
    cosines = near([id_ for ids in own.values() for id_ in ids])
    order = list(known)
    nearness = _nearness(order, own, cosines)
    first = policy.TURN_BM25 * _shares([lexical[begun] for begun in order]) + nearness
    foremost = np.argsort(-first, kind="stable")[: policy.TURNS_READ]
    read = [order[n] for n in foremost.tolist()]
    kinds = {id_: kind for begun in read for id_, kind in known[begun]}
    texts = moment.texts(
        "episode", [id_ for begun in read for id_ in own[begun] if kinds[id_] in _SAID]
    )
    spoken = {begun: "\n".join(texts[id_] for id_ in own[begun] if id_ in texts) for begun in read}
    held = {begun: words.counted(text) for begun, text in spoken.items()}
    count = Counter(word for some in held.values() for word in some)
    rarity = {word: math.log(1 + (len(read) - n + 0.5) / (n + 0.5)) for word, n in count.items()}
    weight = policy.TURN_WORDS * _shares(_covered(held, rarity))
    weight += policy.TURN_WORDS * _shares(_bm25(held, rarity, spoken))
    weight += nearness[foremost]
    weighed = dict(zip(read, _shares(weight.tolist()).tolist(), strict=True))
    # Those that are not read come behind those that are.
    least = min(weighed.values())
    behind = _shares(first.tolist())
    weighed |= {
        begun: least * float(behind[n]) for n, begun in enumerate(order) if begun not in weighed
    }
    top = max(score for score, begun in zip(scores.tolist(), lying, strict=True) if begun)
    values = np.asarray(
        [
            score if begun is None else top * weighed[begun] * (1 + 1e-3 * score)
            for score, begun in zip(scores.tolist(), lying, strict=True)
        ]
    )
    ordered = np.argsort(-values, kind="stable")
    return Turned([rows[n] for n in ordered.tolist()], values[ordered], turns, rarity, held, near)


def _nearness(
    order: Sequence[int], own: Mapping[int, Sequence[int]], cosines: Mapping[int, float]
) -> NDArray[np.float64]:
    """Return how near turns are: their nearest records, and the prompt, which stands for all."""
    nearest = [
        sorted((cosines[id_] for id_ in own[begun] if id_ in cosines), reverse=True)
        for begun in order
    ]
    few = [best[: policy.TURN_NEAREST] for best in nearest]
    return (
        policy.TURN_NEAR * _shares([sum(best) / max(1, len(best)) for best in few])
        + policy.TURN_NEAR_ONE * _shares([max(best, default=0.0) for best in few])
        + policy.TURN_NEAR_PROMPT * _shares([cosines.get(begun, 0.0) for begun in order])
    )


def _covered(held: Mapping[int, Counter[str]], rarity: Mapping[str, float]) -> list[float]:
    """Return how many of the question's words turns hold, rare ones and repeated ones more."""
    return [sum(rarity[word] * n / (n + 1.0) for word, n in some.items()) for some in held.values()]


def _bm25(
    held: Mapping[int, Counter[str]], rarity: Mapping[str, float], spoken: Mapping[int, str]
) -> list[float]:
    """Return BM25 of whole turns, whose length tells how much a word in them says."""
    usual = sum(map(len, spoken.values())) / max(1, len(spoken)) or 1.0
    k1, b = policy.TURN_K1, policy.TURN_B
    return [
        sum(
            rarity[word] * n * (k1 + 1) / (n + k1 * (1 - b + b * len(spoken[begun]) / usual))
            for word, n in some.items()
        )
        for begun, some in held.items()
    ]


def _shares(values: Sequence[float]) -> NDArray[np.float64]:
    array = np.maximum(np.asarray(values, np.float64), 0.0)
    return array / max(float(array.max(initial=0.0)), 1e-9)


class Shown(NamedTuple):
    """What of the records of turns may be shown."""

    hidden: Callable[[Sequence[int]], Collection[int]]  # of some: what was taken back, called wrong
    since: Millis | None = None
    until: Millis | None = None
    unasked: bool = False  # it comes by itself: then nothing that only the outside world says

    def allows(self, episode: StoredEpisode) -> bool:
        """Tell whether a record may be shown, but for what is hidden."""
        if episode.injected or not episode.text.strip():
            return False
        if self.unasked and episode.trust is Trust.EXTERNAL:
            return False
        return self.in_time(episode.occurred_at)

    def in_time(self, at: Millis | None) -> bool:
        """Tell whether a moment lies in the time that is asked about."""
        if self.since is None and self.until is None:
            return True
        return at is not None and (self.since or 0) <= at < (self.until or math.inf)


class Question(NamedTuple):
    """What is known of a question when turns are read for it."""

    words: TurnWords
    rarity: Mapping[str, float]
    cosines: Mapping[int, float]  # how near to it records are
    redact: Callable[[str], str]


def read_turns(
    moment: Reads,
    turns: Sequence[tuple[Records, Sequence[int]]],
    asked: Question,
    shown: Shown,
    known: Mapping[int, StoredEpisode],
) -> list[Turn]:
    """Return what is shown of turns for a question, each given with its records that were found.

    `known` are episodes that were read before.
    """
    wanted = [_wanted(turn, found, asked.cosines) for turn, found in turns]
    ids = sorted({id_ for some in wanted for id_ in some})
    hidden = shown.hidden(ids)
    read = {**known, **moment.episodes_by_id([id_ for id_ in ids if id_ not in known])}
    episodes = {
        id_: read[id_]
        for id_ in ids
        if id_ in read and id_ not in hidden and shown.allows(read[id_])
    }
    done = done_in(moment, [turn for turn, _ in turns])
    return [
        _read_turn(
            turn,
            {id_: episodes[id_] for id_ in some if id_ in episodes},
            [one for one in done.get(turn[0][0], ()) if shown.in_time(one.fact.occurred_at)],
            asked,
            policy.CONTEXT_TURN if shown.unasked else policy.TURN_SHOWN,
        )
        for (turn, _), some in zip(turns, wanted, strict=True)
    ]


def _wanted(turn: Records, found: Sequence[int], cosines: Mapping[int, float]) -> list[int]:
    """Return the records of a turn that are read for what is shown.

    They are its prompt, those found and what came back of them, the nearest, and the last replies.
    """
    hits = list(dict.fromkeys(found))[: policy.TURN_FOUND]
    near = sorted((id_ for id_, _ in turn if id_ in cosines), key=lambda id_: -cosines[id_])
    hits += near[: policy.TURN_READ]
    return sorted(
        {turn[0][0], *hits, *_around(turn, hits), *_replies(turn)[-policy.TURN_REPLIES :]}
    )


def _replies(turn: Records) -> list[int]:
    return [id_ for id_, kind in turn if kind in _REPLIES]


def _read_turn(
    turn: Records,
    episodes: Mapping[int, StoredEpisode],
    done: Sequence[Done],
    asked: Question,
    room: int,
) -> Turn:
    words, rarity, redact = asked.words, asked.rarity, asked.redact
    begun = turn[0][0]
    texts, joined = _joined(episodes)
    last = next((id_ for id_ in reversed(_replies(turn)) if id_ in texts), 0)
    bearing = {
        id_: bearing_parts(text, words, rarity, policy.PASSAGE_CHARS)
        for id_, text in texts.items()
        if id_ != begun or len(text) > 2 * policy.PROMPT_SHOWN
    }
    parts = [(part, id_) for id_, some in bearing.items() for part in some]
    most = max((part.weight for part, _ in parts), default=0.0) or 1.0
    nearest = max((asked.cosines.get(id_, 0.0) for _, id_ in parts), default=0.0) or 1.0
    weighed = sorted(
        (
            policy.WORDS_WEIGHT * part.weight / most
            + policy.NEAR_WEIGHT * max(0.0, asked.cosines.get(id_, 0.0)) / nearest
            + policy.REPLY_WEIGHT * (episodes[id_].kind in _REPLIES)
            + policy.LAST_WEIGHT * (id_ == last)
            - policy.CALL_WEIGHT * (episodes[id_].kind in _ACTS)
            - policy.ASKED_WEIGHT * (id_ == begun)
            - policy.FILE_WEIGHT * _shows_file(episodes[id_]),
            -id_,
            -part.begin,
            part.end - part.begin,
        )
        for part, id_ in parts
    )[::-1]
    chosen: Counter[int] = Counter()
    for _, id_, _, chars in weighed:
        if (room := room - chars) < 0:
            break
        chosen[-id_] += 1

    def passage(id_: int) -> str:
        whole = redact(texts[id_])  # before it is cut: half a secret is not seen
        own = bearing[id_]
        if whole != texts[id_]:
            own = bearing_parts(whole, words, rarity, policy.PASSAGE_CHARS)
        own = own[: chosen[id_]]
        if id_ == last:
            own = [*own, Part(0.0, 0, sentence_end(whole, 0, policy.ENDED_CHARS))]
        return joined_parts(whole, own)

    prompt = ""
    if begun in texts:
        whole = redact(texts[begun])
        prompt = joined_parts(whole, [best_part(whole, words, rarity, policy.PROMPT_SHOWN)])
    said = sorted(chosen)
    times = [e.occurred_at for e in episodes.values() if e.occurred_at is not None]
    return Turn(
        id=f"e{begun}",
        asked=prompt,
        passages=list(dict.fromkeys(passage(id_) for id_ in said)),
        ended=passage(last) if last and last not in chosen else "",
        outcome=redact(_outcome(done, episodes.values())),
        files=tuple(
            dict.fromkeys(redact(fact.object) for fact, _ in done if fact.predicate in CHANGED)
        ),
        records=len(turn),
        began=min(times, default=None),
        until=max(times, default=None),
        trust=_worst([Trust.EXTERNAL if id_ in joined else episodes[id_].trust for id_ in said]),
    )


def _shows_file(episode: StoredEpisode) -> bool:
    """Tell whether a record holds a file that was read, or one that a change shows back."""
    shape = shape_of(episode.tool, is_error=episode.is_error)
    return shape is CONTENT or (shape is ECHO and episode.kind is EpisodeKind.TOOL_RESULT)


def _worst(trusts: Sequence[Trust]) -> Trust:
    """Return the least trust of what is shown; an agent's own word is the most that it can be."""
    return max([Trust.DERIVED, *trusts], key=policy.TRUST_ORDER.index)


def _around(turn: Records, hits: Sequence[int]) -> list[int]:
    """Return the calls and results near some of them: what came back, and what it came back to."""
    near = []
    for n, (id_, kind) in enumerate(turn):
        if id_ in hits and kind in _ACTS:
            near += [other for other, k in turn[max(0, n - _NEAR) : n + _NEAR + 1] if k in _ACTS]
    return near


def _joined(episodes: Mapping[int, StoredEpisode]) -> tuple[dict[int, str], set[int]]:
    """Return the texts to show, by their records, and which hold what came back of a call."""
    shown = {id_: episode.text for id_, episode in episodes.items()}
    joined = set()
    calls = {
        episode.call_id: id_
        for id_, episode in episodes.items()
        if episode.kind is EpisodeKind.TOOL_CALL and episode.call_id
    }
    for id_, episode in episodes.items():
        call = calls.get(episode.call_id) if episode.kind is EpisodeKind.TOOL_RESULT else None
        if call is not None:
            shown[call] = f"{episodes[call].text}\n{_CAME_BACK}{episode.text}"
            joined.add(call)
            del shown[id_]
    return shown, joined


class Part(NamedTuple):
    """A part of a text, some sentences, and the weight of the words of a question in it."""

    weight: float
    begin: int
    end: int


def bearing_parts(
    text: str, words: TurnWords, rarity: Mapping[str, float], size: int
) -> list[Part]:
    """Return the parts of a text, of up to `size` characters, those with words of a question first.

    None overlaps another. Parts without such a word are those of the beginning of the text.
    """
    found: list[Part] = []
    places = words.places(text)
    at = 0
    while at < len(places):
        place, word = places[at]
        begin = _sentence_begin(text, place, found[-1].end if found else 0, size)
        # The word that it is shown for stands in it, wherever a sentence ends.
        end = max(sentence_end(text, begin, size), min(begin + size, place + len(word)))
        held = set()
        while at < len(places) and places[at][0] < end:
            held.add(places[at][1])
            at += 1
        found.append(Part(sum(rarity.get(word, 1.0) for word in held), begin, end))
    found += _between(text[: policy.PART_CHARS], found, size)
    return sorted(found, key=lambda part: (-part.weight, part.begin))


def _between(text: str, parts: Sequence[Part], size: int) -> Iterable[Part]:
    """Yield the rest of a text in parts of up to `size` characters."""
    begin = 0
    for first, end in [*((part.begin, part.end) for part in parts), (len(text), len(text))]:
        while begin < min(first, len(text)):
            cut = min(sentence_end(text, begin, size), first)
            if text[begin:cut].strip():
                yield Part(0.0, begin, cut)
            begin = cut
        begin = max(begin, end)


def best_part(text: str, words: TurnWords, rarity: Mapping[str, float], size: int) -> Part:
    """Return the part of a text that holds most, and all of a text that is no longer than that."""
    whole = Part(0.0, 0, min(size, len(text)))
    if len(text) <= size:
        return whole
    return next(iter(bearing_parts(text, words, rarity, size)), whole)


def _sentence_begin(text: str, place: int, least: int, size: int) -> int:
    """Return where the sentence of a place begins, and at most half of `size` before the place."""
    if place - least <= size // 8:  # too little to be left out
        return least
    least = max(least, place - size // 2)
    breaks = [match.end() for match in _BREAK.finditer(text, least, place)]
    if breaks or least == 0 or text[least - 1].isspace():
        return breaks[-1] if breaks else least
    return text.rfind(" ", least, place) + 1 or place  # one long line


def sentence_end(text: str, begin: int, size: int) -> int:
    """Return where a part that begins there ends: behind its last whole sentence, if it has one."""
    end = begin + size
    if end >= len(text):
        return len(text)
    breaks = [match.end() for match in _BREAK.finditer(text, begin + size // 2, end)]
    if breaks:
        return breaks[-1]
    space = text.rfind(" ", begin + size // 2, end)
    return space if space > begin else end


def joined_parts(text: str, parts: Iterable[Part]) -> str:
    """Return parts of a text in their order, in one line, with an ellipsis for what is left out."""
    shown, end = "", 0
    for part in sorted(parts, key=lambda part: part.begin):
        if part.end <= end:
            continue
        begin = max(part.begin, end)
        gap = text[end:begin].strip() if shown else ""
        shown += (" … " if gap else " ") + text[begin : part.end]
        end = part.end
    return " ".join(shown.split())


class Done(NamedTuple):
    """What was done in a turn, as a fact says it."""

    fact: Fact
    last: bool  # nothing was done after it


def done_in(moment: Reads, turns: Sequence[Records]) -> dict[int, list[Done]]:
    """Return what was done in turns, in their order; by a turn's first record."""
    begun: dict[int, int] = {}
    last: set[int] = set()
    for turn in turns:
        acts = [id_ for id_, kind in turn[-policy.TURN_RECORDS :] if kind in _ACTS]
        begun.update((id_, turn[0][0]) for id_ in acts)
        last.update(acts[-1:])
    where = {"episode_id": list(begun), "predicate": (*CHANGED, *_ENDED)}
    cited = moment.tally(CITED, ("fact_id", "episode_id"), where)
    places = dict(cited.keys())  # an episode of each fact
    told = Filters(ids=sorted(places), owner=EVERYONE)
    found: dict[int, list[Done]] = {}
    for fact in sorted(moment.facts(told, limit=None), key=lambda fact: fact.id) if places else ():
        episode = places[fact.id]
        found.setdefault(begun[episode], []).append(Done(fact, episode in last))
    return found


def _outcome(done: Sequence[Done], episodes: Iterable[StoredEpisode]) -> str:
    """Say how a turn ended, as far as its records tell.

    A failure is how it ended only if nothing was done after it.
    """
    host = (EpisodeKind.PROMPT, EpisodeKind.RECORD)
    said = (e for e in episodes if e.kind in host or e.is_error)
    if any(episode.text.startswith(_INTERRUPTED) for episode in said):
        return "interrupted"
    ends = [
        one.fact
        for one in done
        if one.fact.predicate in _ENDED and (one.last or one.fact.predicate != "failed_with")
    ]
    committed = sum(fact.predicate == "committed" for fact in ends)
    parts = []
    if ends and ends[-1].predicate == "failed_with":
        parts.append("ended failing")
    elif ends and ends[-1].predicate == "verified":
        parts.append(_OUTCOMES.get(ends[-1].object, ""))
    parts += [f"{committed} committed"] if committed else []
    return ", ".join(filter(None, parts))
