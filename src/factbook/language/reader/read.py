"""Read a text: one pass of the network over each part of it that fits."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

import numpy as np

from factbook import policy
from factbook.language.reader import labels
from factbook.language.reader.decode import Floats, Stretch, softmax, stretches, tree
from factbook.language.reader.layer import Seen
from factbook.language.reader.network import Networks, shared
from factbook.language.reader.pieces import AFTER_TOKENS, MAX_TOKENS
from factbook.language.reader.reading import Clause, Reading, Span, Token
from factbook.language.reader.standing import sentence_places, sentence_seen
from factbook.language.reader.taste import Thing, things
from factbook.language.reader.words import Word, words_of
from factbook.language.reader.worth import seen_of

ROOM = MAX_TOKENS - AFTER_TOKENS - 6  # tokens of a part; the rest for the line that is answered
FLAGGED = 0.5
BETWEEN = 2  # words between two pieces of one rule
_FROM_ON = frozenset(("from", when, "on") for when in ("now", "here", "today"))
_EVER = frozenset(
    ("always", "never", "whenever")
)  # words by which a sentence says that it holds on
WIDTH = 384  # of the vector of a word
_APART = frozenset(':;"“”„«»()–—-')  # signs that set apart what another says
# What it takes for another's words to begin or end there, as logarithms. It is much, as words that
# follow each other are scored alike: twenty of them say little more than one.
_PARAGRAPH, _SET_APART, _SENTENCE, _CLAUSE, _NOWHERE = 5.0, 10.0, 80.0, 100.0, 1e9
_CLOSES = {'"': '"', "“": "”", "„": "“", "«": "»"}  # a quote by the mark that opens it
_FOREIGN = math.log(1 / policy.FOREIGN - 1)
_QUOTED, _TOLD = 4.0, 6.0  # what it adds that a clause is flagged so, or told: "He wrote: ..."
_LABELLED = 1.0  # instead, of one line: "update: I moved" and "boss: you moved" look alike
_ORDERED = 12.0  # and that an order stands behind the colon of another: it is given as text
_BESIDE = 2.0  # and that a request stands beside a block
_ROLES = frozenset(("user", "assistant", "human"))  # by which transcripts name who speaks
_SPEAKERS = frozenset(("i", "we", "you"))  # of whom nothing is handed on
_BLOCK_WORDS = 25  # of a block that a request may be about
_REQUEST_WORDS = 40  # of the paragraph that asks
FEW_WORDS = 24  # at once: a product so small is made without threads, which would wait for others


@functools.lru_cache(maxsize=512)
def read(text: str, answers: str = "", *, networks: Networks | None = None) -> Reading:
    """Return what is said in a text.

    `answers` is the line that it answers, read beside it. A long text is read in parts, cut where
    a line or a sentence ends. Raises ReaderError where the network cannot be loaded.
    """
    nets = networks or shared()
    after = [word.text for word in words_of(answers)]
    whole = _Parts(text)
    for words in _parts(nets, words_of(_plain(text)), text):
        whole.add(nets, words, after)
        after = []
    return Reading(
        text=text,
        tokens=tuple(whole.tokens),
        sentences=tuple(whole.sentences),
        clauses=tuple(whole.clauses),
        names=tuple(whole.names),
        opinions=tuple(whole.opinions),
        marks=tuple(whole.marks),
        sense=whole.sense(),
        foreign=tuple(whole.foreign),
    )


def sentences_of(text: str) -> Iterator[tuple[int, int, Seen, frozenset[str]]]:
    """Yield the sentences of a text: first and behind the last character, what is known, flags.

    Flags are those of the clauses that stand in it. The network runs: a caller keeps what it tells.
    """
    nets = shared()
    for words in _parts(nets, words_of(_plain(text)), text):
        scores = nets.words([word.text for word in words])
        known = words[: len(scores["tokens"])]
        clauses, types = _clauses(*_cut_up(nets, scores), known, 0), _types(nets, scores)
        for place in sentence_places(known, _ends(scores), text):
            seen = sentence_seen(scores, known, place, clauses, types)
            begin, end = known[place[0]].begin, known[place[1] - 1].end
            own = (one.flags for one in clauses if one.begin < end and begin < one.end)
            yield begin, end, seen, frozenset().union(*own)


def things_of(text: str) -> Iterator[tuple[int, int, Thing]]:
    """Yield the things that a text names: first and behind the last character, what is known.

    Only what learns from a text asks for it.
    """
    nets = shared()
    whole = _Parts(text)
    for words in _parts(nets, words_of(_plain(text)), text):
        base = len(whole.tokens)
        scores, known, ends = whole.grow(nets, words, ())
        clauses = _clauses(*_cut_up(nets, scores), known, base)
        for thing in things(whole.tokens[base:], base, scores, _runs(ends), clauses):
            yield known[thing.first].begin, known[thing.last - 1].end, thing


def clauses_of(text: str, answers: str = "") -> Iterator[tuple[int, int, Seen]]:
    """Yield the clauses of a text: first and behind the last character, what is known.

    Only what learns from a text asks for it.
    """
    nets = shared()
    whole = _Parts(text)
    after = [word.text for word in words_of(answers)]
    for words in _parts(nets, words_of(_plain(text)), text):
        base = len(whole.tokens)
        scores, known, ends = whole.grow(nets, words, after)
        after = []
        spans, told = _cut_up(nets, scores)
        seen = seen_of(scores, told, spans, whole.tokens[base:], _runs(ends))
        for span, one in zip(spans, seen, strict=True):
            yield known[span.first].begin, known[span.last - 1].end, one


# A tag or what begins a comment, what stands where a secret stood, and a face: nobody's words.
_SIGNS: Final = re.compile(
    r"""
      <!--(?:[^<>]{0,2000}-->)?
    | <\s{0,3}[/!?|]?\s{0,3}[^\W\d][^\s<>=]{0,60}
      (?:\s{1,3}[\w:-]{1,40}=(?:'[^'<>]{0,200}'|"[^"<>]{0,200}"|[^\s<>'"]{1,200})){0,9}
      (?:\s{0,3}[/?|]?>|(?<=['"])(?=\n\n|\Z))  # or what is set apart begins with its end
    | ^-{2,10}[ ]?(?:Begin[ ])?(?i:forwarded|original)[ ]\w[\w ]{2,30}-{2,10}$  # of a mail
    | (?<!\S)[:;=][-']?[()\[\]|/\\DPpOo]{1,5}(?!\S)
    | &lt;/?[^\W\d][^\s&<>=]{0,60}(?:&gt;|>)
    | (?P<secret>\[REDACTED:[a-z0-9:-]{1,60}\]?)
    """,
    re.VERBOSE | re.MULTILINE,
)
_PLAIN_WORD: Final = "something"


def _plain(text: str) -> str:
    """Return a text of the same length without markup, and with a plain word for each secret."""
    return _SIGNS.sub(lambda m: (_PLAIN_WORD if m["secret"] else "").ljust(len(m[0])), text)


def _parts(nets: Networks, words: Sequence[Word], text: str) -> list[list[Word]]:
    """Cut words into parts that the network reads at once: at an empty line, a line, a stop."""
    parts: list[list[Word]] = []
    part: list[Word] = []
    size = 0
    for word in words:
        cost = len(nets.pieces.of(word.text))
        if part and size + cost > ROOM:
            cut = _cut(part, text)
            parts.append(part[:cut])
            part = part[cut:]
            size = sum(len(nets.pieces.of(w.text)) for w in part)
        part.append(word)
        size += cost
    if part:
        parts.append(part)
    return parts


def _cut(words: Sequence[Word], text: str) -> int:
    half = len(words) // 2
    for strong in ("\n\n", "\n"):
        for i in range(len(words) - 1, half, -1):
            if strong in text[words[i - 1].end : words[i].begin]:
                return i
    for i in range(len(words) - 1, half, -1):
        if words[i - 1].text[-1] in ".!?;":
            return i
    return len(words)


class _Parts:
    """Gathers what is read of the parts of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.sentences: list[tuple[int, int]] = []
        self.clauses: list[Clause] = []
        self.names: list[Span] = []
        self.opinions: list[Span] = []
        self.marks: list[Span] = []
        self.foreign: list[Span] = []
        self.vectors: list[Floats] = []

    def sense(self) -> Floats:
        if not self.vectors:
            return np.zeros(WIDTH, dtype=np.float32)
        mean: Floats = np.concatenate(self.vectors).mean(axis=0)
        return mean

    def grow(
        self, nets: Networks, words: Sequence[Word], after: Sequence[str]
    ) -> tuple[dict[str, Floats], Sequence[Word], list[int]]:
        """Add the words of a part in their trees; return its scores, its words and their ends."""
        scores = nets.words([word.text for word in words], after)
        words = words[: len(scores["tokens"])]
        base = len(self.tokens)
        ends = _ends(scores)
        heads = _trees(scores["arcs"], ends)
        relations = _relations(nets, scores, heads)
        parts_of_speech = scores["tag.pos"].argmax(axis=-1)
        for i, word in enumerate(words):
            head = heads[i] - 1 + base if heads[i] else -1
            self.tokens.append(
                Token(
                    word.text,
                    word.begin,
                    word.end,
                    labels.POS[int(parts_of_speech[i])],
                    head,
                    labels.RELATIONS[relations[i]],
                )
            )
        return scores, words, ends

    def add(self, nets: Networks, words: Sequence[Word], after: Sequence[str]) -> None:
        base = len(self.tokens)
        scores, words, ends = self.grow(nets, words, after)
        if not words:
            return
        self.vectors.append(scores["tokens"])
        sentences = _runs(ends)
        self.sentences += [(words[a].begin, words[b - 1].end) for a, b in sentences]
        self.names += [
            Span(words[s.first].begin, words[s.last - 1].end, s.type, s.chance, sure=s.sure)
            for s in stretches(scores["tag.name"], labels.NAME_TAGS)
        ]
        spans, told = _cut_up(nets, scores)
        clauses = _clauses(spans, told, words, base)
        tokens = self.tokens[base:]
        self.opinions += _opinions(nets, things(tokens, base, scores, sentences, clauses), words)
        self.marks += _marks(nets, scores, words, ends, clauses, self.text)
        self.clauses += [
            replace(clause, keep=nets.worth.chances(seen)[0])
            for clause, seen in zip(
                clauses, seen_of(scores, told, spans, tokens, sentences), strict=True
            )
        ]
        costs = _costs(self.text, words, ends, {clause.first - base for clause in clauses})
        self.foreign += [
            Span(words[s.first].begin, words[s.last - 1].end, s.type, s.mean)
            for s in stretches(
                scores["tag.foreign"],
                labels.FOREIGN_TAGS,
                bias=_leaning(self.text, self.tokens[base:], clauses, self.names, costs, base),
                costs=costs,
            )
        ]


def _runs(ends: Sequence[int]) -> list[tuple[int, int]]:
    cuts = [i + 1 for i in range(len(ends)) if ends[i] or i == len(ends) - 1]
    return list(itertools.pairwise([0, *cuts]))


def _opinions(nets: Networks, told: Iterator[Thing], words: Sequence[Word]) -> list[Span]:
    """Return which of the things of a part its writer may like or dislike, in their order."""
    found = []
    for thing in told:
        chances = nets.taste.chances(thing.seen)
        chance = sum(chances)
        if chance >= policy.TASTE_LIKELY:
            sign = labels.SIGNS[chances[1] > chances[0]]
            place = words[thing.first].begin, words[thing.last - 1].end
            found.append(Span(*place, sign, chance, sure=max(chances) / chance))
    return found


def _trees(arcs: Floats, ends: Sequence[int]) -> list[int]:
    heads: list[int] = []
    for first, last in _runs(ends):
        rows = arcs[first:last]
        inner = np.concatenate([rows[:, :1], rows[:, first + 1 : last + 1]], axis=1)
        heads += [head + first if head else 0 for head in tree(inner)]
    return heads


def _costs(
    text: str, words: Sequence[Word], ends: Sequence[int], clauses: AbstractSet[int]
) -> list[float]:
    """Return how unlikely another begins or ends to speak before each word; who does goes on."""
    costs = [0.0]
    for i in range(1, len(words)):
        last, word = words[i - 1], words[i]
        between = text[last.end : word.begin]
        if "\n" in between:
            costs.append(_PARAGRAPH if between.count("\n") > 1 else _SET_APART)
        elif between and (
            last.text[-1] in _APART
            or word.text[0] in _APART
            or (last.text in ".!?" and i > 1 and words[i - 2].text in _CLOSES.values())
        ):
            costs.append(_SET_APART)
        elif ends[i - 1] or last.text[-1] in ".!?…":
            costs.append(_SENTENCE)
        else:
            costs.append(_CLAUSE if i in clauses else _NOWHERE)
    return costs


def _leaning(
    text: str,
    tokens: Sequence[Token],
    clauses: Sequence[Clause],
    names: Sequence[Span],
    costs: Sequence[float],
    base: int,
) -> Floats:
    """Return how much likelier each word is another's than its own score says, as logarithms."""
    lean = np.full(len(costs), _FOREIGN, np.float32)
    if base == 0 and len(tokens) > 2 and tokens[1].text == ":" and "\n" not in text.strip():
        first, low = tokens[0].begin, tokens[0].text.lower()
        if low != "me":  # "Anna: I love it"
            named = any(name.type == "person" and name.begin == first for name in names)
            lean[:] = _FOREIGN if named or low in _ROLES else _LABELLED
        else:
            lean[:] = 0.0
    for clause in clauses:
        if "quoted" in clause.flags:
            lean[clause.first - base : clause.last - base] += _QUOTED
    wanted = {n for c in clauses if c.act == "want" for n in range(c.first, c.last)}
    for at, token in enumerate(tokens):
        first = _announced_from(text, tokens, at, base) if token.text == ":" else at
        if first < at:
            end = _announced_to(tokens, at + 1, costs)
            lean[first : at + 1], lean[at + 1 : end] = _FOREIGN, _FOREIGN + _TOLD
        elif token.text == ":" and wanted.issuperset((base + at - 1, base + at + 1)):
            end = next((n for n in range(at + 2, len(costs)) if costs[n] == _PARAGRAPH), len(costs))
            lean[at + 1 : end] += _ORDERED * (tokens[at + 1].pos == "VERB")
    cuts = [0, *(i for i, cost in enumerate(costs) if cost == _PARAGRAPH), len(costs)]
    blocks = list(itertools.pairwise(cuts))
    asking = {
        n
        for n, (first, last) in enumerate(blocks)
        for clause in clauses
        if clause.act in ("want", "ask")
        and first <= clause.first - base < last <= first + _REQUEST_WORDS
    }
    for n, (first, last) in enumerate(blocks):
        if asking - {n} and last - first >= _BLOCK_WORDS:
            lean[first:last] += _BESIDE
    return lean


def _announced_to(tokens: Sequence[Token], first: int, costs: Sequence[float]) -> int:
    """Return where what is announced ends: with its quote, where it is one, or its paragraph."""
    closes = _CLOSES.get(tokens[first].text) if first < len(costs) else None
    for at in range(first + 1, len(costs)):
        if costs[at] == _PARAGRAPH:
            return at
        if tokens[at].text == closes:
            return at + 1 + (tokens[at + 1 : at + 2] != [] and tokens[at + 1].text in ".!?")
    return len(costs)


def _announced_from(text: str, tokens: Sequence[Token], at: int, base: int) -> int:
    """Return where the clause before a colon begins in which somebody acts, or the colon."""
    first = at
    while first and tokens[first - 1].text[-1] not in ".!?:;":
        if "\n" in text[tokens[first - 1].end : tokens[first].begin]:
            break
        first -= 1
    verbs = [n for n in range(first, at) if tokens[n].pos == "VERB"]
    doers = [t for t in tokens[first:at] if t.relation == "nsubj" and t.head - base in verbs[-1:]]
    return first if any(doer.text.lower() not in _SPEAKERS for doer in doers) else at


def _relations(nets: Networks, scores: dict[str, Floats], heads: Sequence[int]) -> list[int]:
    one = np.ones((len(heads), 1), np.float32)
    words = np.concatenate([scores["rel.word"], one], axis=1)
    sources = np.concatenate([scores["rel.head"][list(heads)], one], axis=1)
    found: list[int] = []
    for at in range(0, len(heads), FEW_WORDS):
        few, theirs = words[at : at + FEW_WORDS], sources[at : at + FEW_WORDS]
        scored = (np.matmul(few[None], nets.small["rel"]) * theirs[None]).sum(axis=-1)
        found += [int(i) for i in scored.argmax(axis=0)]
    return found


def _cut_up(nets: Networks, scores: dict[str, Floats]) -> tuple[list[Stretch], dict[str, Floats]]:
    """Return the clauses of a part, and by name what the small matrices say of each."""
    spans: list[Stretch] = stretches(scores["tag.cut"], labels.CLAUSE_TAGS)
    if not spans:
        return [], {}
    state = _state(nets, scores, spans)
    parts = ("act", "of", "keep", "kind", "flags")
    return spans, {"state": state} | {part: _linear(state, nets.small, part) for part in parts}


def _clauses(
    spans: Sequence[Stretch], told: Mapping[str, Floats], words: Sequence[Word], base: int
) -> list[Clause]:
    if not spans:
        return []
    keep = 1 / (1 + np.exp(-told["keep"][:, 0]))
    flags = 1 / (1 + np.exp(-told["flags"]))
    return [
        Clause(
            begin=words[s.first].begin,
            end=words[s.last - 1].end,
            act=labels.ACTS[int(told["act"][i].argmax())],
            of=labels.OWNERS[int(told["of"][i].argmax())],
            keep=float(keep[i]),
            kind=labels.KINDS[int(told["kind"][i].argmax())],
            flags=frozenset(flag for j, flag in enumerate(labels.FLAGS) if flags[i, j] >= FLAGGED),
            first=base + s.first,
            last=base + s.last,
        )
        for i, s in enumerate(spans)
    ]


def _linear(rows: Floats, small: Mapping[str, Floats], name: str) -> Floats:
    """A layer for the few clauses of a text; a product by BLAS would wait for its idle threads."""
    result: Floats = np.einsum("ri,io->ro", rows, small[f"{name}.w"]) + small[f"{name}.b"]
    return result


def _marks(
    nets: Networks,
    scores: dict[str, Floats],
    words: Sequence[Word],
    ends: Sequence[int],
    clauses: Sequence[Clause],
    text: str,
) -> list[Span]:
    """Return what the sentences state that may hold on: what is tagged so, or a sentence whole."""
    types = _types(nets, scores)
    holding = float(sum(types[labels.PROMPT_TYPES.index(mark)] for mark in labels.MARKS))
    tagged = _joined(stretches(scores["tag.mark"], labels.MARK_TAGS), words)
    found: list[Stretch] = []
    for place in sentence_places(words, ends, text):
        said = words[slice(*place)]
        own = [
            s._replace(last=min(s.last, place[1]))
            for s in tagged
            if place[0] <= s.first < place[1] and _is_clear(s)
        ]
        (chance,) = nets.standing.chances(sentence_seen(scores, words, place, clauses, types))
        outright = holding if _says_how_long(said) else 0.0
        found += [
            s._replace(chance=max(chance, s.mean * outright))
            for s in own or [_whole(scores["tag.mark"], words, place)]
        ]
    marks = [mark for mark in found if mark.chance >= policy.MARKED]
    if not marks:
        return []
    scopes = _linear(_state(nets, scores, marks), nets.small, "scope").argmax(axis=-1)
    return [
        Span(
            words[mark.first].begin,
            words[mark.last - 1].end,
            mark.type,
            mark.chance,
            labels.SCOPES[int(scope)],
        )
        for mark, scope in zip(marks, scopes, strict=True)
    ]


def _says_how_long(words: Sequence[Word]) -> bool:
    """Tell whether a sentence itself says that it holds on ("always", "from now on")."""
    said = [word.text.lower() for word in words]
    runs = zip(said, said[1:], said[2:], strict=False)
    return not _EVER.isdisjoint(said) or any(run in _FROM_ON for run in runs)


def _ends(scores: Mapping[str, Floats]) -> list[int]:
    return [int(end) for end in scores["tag.end"].argmax(axis=-1)]


def _types(nets: Networks, scores: Mapping[str, Floats]) -> Floats:
    types: Floats = softmax(_linear(scores["root"], nets.small, "prompt"))[0]
    return types


def _is_clear(mark: Stretch) -> bool:
    return mark.mean >= policy.MARK_CLEAR and mark.last - mark.first >= policy.DIRECTIVE_WORDS


def _whole(tags: Floats, words: Sequence[Word], place: tuple[int, int]) -> Stretch:
    """Return a sentence without the signs around it, as what it is likelier: rule or decision."""
    first, last = place
    spoken = [n for n in range(first, last) if any(map(str.isalnum, words[n].text))]
    sums = softmax(tags[first:last]).sum(axis=0)
    kinds = {
        kind: float(sum(sums[n] for n, tag in enumerate(labels.MARK_TAGS) if tag[2:] == kind))
        for kind in labels.MARKS
    }
    kind = max(kinds, key=kinds.__getitem__)
    begin, end = (spoken[0], spoken[-1] + 1) if spoken else place
    return Stretch(begin, end, kind, 0.0, 0.0, 0.0)


def _joined(marks: Sequence[Stretch], words: Sequence[Word]) -> list[Stretch]:
    """Return stretches of one type that few words part as one: "From", "now on", "always ..."."""
    made: list[Stretch] = []
    for mark in marks:
        last = made[-1] if made else None
        between = words[last.last : mark.first] if last else ()
        near = len(between) <= BETWEEN and all(word.text.isalpha() for word in between)
        if last and last.type == mark.type and near:
            sure = max(last, mark, key=lambda stretch: stretch.last - stretch.first)
            made[-1] = sure._replace(first=last.first, last=mark.last)
        else:
            made.append(mark)
    return made


def _state(nets: Networks, scores: dict[str, Floats], spans: Sequence[Stretch]) -> Floats:
    """Return what is known of stretches of words in their text, shape (stretches, 192)."""
    small = nets.small
    pooled = np.stack([scores["tokens"][s.first : s.last].mean(axis=0) for s in spans])
    root = np.repeat(scores["root"], len(spans), axis=0)
    return _gelu(_linear(np.concatenate([pooled, root], axis=1), small, "state"))


def _gelu(x: Floats) -> Floats:
    """The exact form, as the network was trained with; by a series good to 1.5e-7."""
    z = np.abs(x) / np.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    series = ((((1.061405429 * t - 1.453152027) * t) + 1.421413741) * t - 0.284496736) * t
    erf = np.sign(x) * (1 - (series + 0.254829592) * t * np.exp(-z * z))
    result: Floats = (0.5 * x * (1 + erf)).astype(np.float32)
    return result
