"""Find what an owner surely chose ("the second one"), in the words that an assistant offered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.sentences import words
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading, children
from factbook.language.words import stem
from factbook.model.text import shorten


class Option(NamedTuple):
    """One of the things that were offered, and where it stands in the message."""

    mark: str  # its number or letter, as it is written; empty for none
    text: str
    start: int
    end: int


class Choice(NamedTuple):
    """What was chosen, of what, and where both messages show it."""

    text: str
    question: str
    offered: tuple[int, int]  # in the message of the assistant
    picked: tuple[int, int]  # in the answer
    sure: bool  # whether it was one of several; a yes to a proposal may be for now alone
    others: Sequence[str] = ()  # what else was offered

    @property
    def statement(self) -> str:
        return f"chose: {self.text}" + (f" (of: {self.question})" if self.question else "")


_CODE: Final = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)", re.MULTILINE | re.DOTALL)
_NAMED: Final = r"(?:option|approach|choice|variant|alternative)[ \t]+"
_ITEM: Final = re.compile(
    rf"^[ \t]*(?:[-*+•][ \t]+)?[*_]{{0,2}}(?:{_NAMED}(?P<named>\d{{1,2}}|[a-z])\b[)\]]?[*_]{{0,2}}"
    r"[ \t]*[-:.–—]?|[(\[]?(?P<mark>\d{1,2}|[a-z])[)\].:])[*_]{0,2}[ \t]+(?P<text>\S.*)$",
    re.MULTILINE | re.IGNORECASE,
)
_EMPHASIS: Final = re.compile(  # an underscore inside a name is none
    r"[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)(?<!_)_{1,3}(?!\w)"
)
_PROPOSAL: Final = re.compile(
    r"\b(?:(?:should|shall|may|can|could) (?:i|we)|(?:(?:do|would) you )?(?:want|like) (?:me|us)"
    r" to) (?P<text>[^?]+)\?",
    re.IGNORECASE,
)
_INNER: Final = frozenset({"amod", "case", "compound", "det", "fixed", "flat", "nmod", "nummod"})
_BESIDE: Final = frozenset({"advmod", "aux", "cc", "conj", "cop", "expl", "mark", "nsubj", "punct"})
_THINGS: Final = frozenset({"NOUN", "PROPN", "NUM"})
_ASKS: Final = word_set("which choose pick prefer preference option options choice choices call")


def _offers(said: str) -> tuple[Sequence[Option], str]:
    """Return (what a message offers, the question), nothing where it is not one question."""
    text = _CODE.sub(lambda code: " " * len(code[0]), said)
    listed = list(_ITEM.finditer(text))
    if listed:
        options = _listed(listed)
        before, behind = text[: listed[0].start()], text[listed[-1].end() :]
        asks = "?" in before + behind or not _ASKS.isdisjoint(words(before + behind))
        leads = before.strip().rsplit("\n", 1)[-1].rstrip(" :")
        return (options, leads or _question(behind)) if options and asks else ((), "")
    asked = _question(text)
    if text.count("?") != 1:
        return (), ""
    return _sides(asked, text.index(asked)), asked


def _listed(items: Sequence[re.Match[str]]) -> Sequence[Option]:
    """Return the items of the one list of a message; nothing where there are two, or a gap."""
    marks = [(item["named"] or item["mark"]).lower() for item in items]
    first = ord("a") if marks[0].isalpha() else 1
    in_order = [str(at + 1) if first == 1 else chr(first + at) for at in range(len(marks))]
    if len(marks) < 2 or marks != in_order:
        return ()
    return [
        Option(mark, item["text"], item.start("text"), item.end("text"))
        for mark, item in zip(marks, items, strict=True)
    ]


def _question(text: str) -> str:
    """Return the last question of a text, in one line; without one, its last line."""
    asked = re.findall(r"[^\n.!?]*[^\s.!?][^\n.!?]*(?:\.\w[^\n.!?]*)*\?", text)
    lines = [line for line in text.splitlines() if line.strip()]
    return (asked or lines or [""])[-1].strip()


def _sides(asked: str, at: int) -> Sequence[Option]:
    """Return what stands around the "or" of a question, as the tree has it."""
    reading = read(asked)
    below = children(reading.tokens)
    for n, token in enumerate(reading.tokens):
        if token.text.lower() != "or" or n == 0 or token.head < n:
            continue
        last = reading.tokens[token.head]
        first = last.head if last.relation == "conj" and last.head >= 0 else n - 1
        while first < n and reading.tokens[first].relation.split(":")[0] in _INNER:
            first = reading.tokens[first].head
        others = (k for k in below[first] if reading.tokens[k].relation == "conj")
        sides = dict.fromkeys((first, *others, token.head))
        return [_side(reading, below, side, at) for side in sorted(sides)]
    return ()


def _side(reading: Reading, below: Sequence[Sequence[int]], head: int, at: int) -> Option:
    mine = {head}
    new = [k for k in below[head] if reading.tokens[k].relation.split(":")[0] not in _BESIDE]
    while new:
        k = new.pop()
        mine.add(k)
        new += [d for d in below[k] if reading.tokens[d].relation not in ("conj", "punct")]
    begin = min(reading.tokens[k].begin for k in mine)
    end = max(reading.tokens[k].end for k in mine)
    return Option("", reading.text[begin:end], at + begin, at + end)


_ORDINALS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("first", "1st", "former"), 0),
    **dict.fromkeys(("second", "2nd"), 1),
    **dict.fromkeys(("third", "3rd"), 2),
    **dict.fromkeys(("fourth", "4th"), 3),
    **dict.fromkeys(("last", "latter"), -1),
}
_YES_LEADS: Final = word_set("yes yep yeah yup sure ok okay absolutely definitely please do go")
_AGREES: Final = word_set("yes yep yeah yup")  # which picks none of two
_YES: Final = _YES_LEADS | {"ahead", "it", "that"}
_CHOOSING: Final = _YES | word_set("""
    going gonna take choose pick prefer use like want say think lets let's let vote option number
    approach choice variant alternative one the a an with in for to i i'd i'll we we'd we'll my me
    us is it's sounds looks seems right good best better fine pls so then just would be thanks you
    after all actually instead
    """)
_OPEN: Final = word_set("""
    or neither both either maybe perhaps not don't unless if but except without
    """)
_PART: Final = re.compile(r"[^,.;:!?()\n–—]+|[,.;:!?()\n–—]")
_REASON: Final = re.compile(r"\s(?:because|cause|since|as|-+)\s", re.IGNORECASE)


def may_choose(answer: str) -> bool:
    """Tell whether a text may be an answer that chooses: it is short, and asks nothing first."""
    first = next(_parts(answer), None)
    return first is not None and len(answer) <= policy.CHOICE_CHARS and not first.asks


def chosen(said: str, answer: str) -> Choice | None:
    """Return what an answer chooses of what an assistant said; None where that is not certain."""
    if not may_choose(answer):
        return None
    parts = [part for part in _parts(answer) if part.words]
    options, question = _offers(said)
    first = parts[0]
    if not _OPEN.isdisjoint(first.words) or (parts[1:] and parts[1].words[0] in _OPEN):
        return None
    if options:
        picked = _picked(options, first)
        while picked is None and len(parts) > 1 and _YES.issuperset(first.words):
            first = parts.pop(1)
            picked = _picked(options, first)
        if picked is None or not _OPEN.isdisjoint(first.words):
            return None
        choice = _choice_of(picked, options, question, first)
        is_bare = not picked.mark and parts[0].words[0] in _AGREES
        return choice and choice._replace(sure=not is_bare)
    return _agreed(said, parts)


def _choice_of(
    picked: Option, options: Sequence[Option], question: str, part: _Part
) -> Choice | None:
    choice = _choice(picked.text, question, (picked.start, picked.end), part, sure=True)
    others = [_one_line(option.text) for option in options if option is not picked]
    return choice and choice._replace(others=others)


def chosen_anew(said: str, asked: str, answer: str) -> Choice | None:
    """Return what an answer chooses of an offer that was answered before.

    It names a noun of `asked`, the prompt that led to the offer, and one option by its words. With
    "" for `asked` a mark is enough: "no, 3 then".
    """
    parts = [part for part in _parts(answer) if part.words] if may_choose(answer) else []
    options, question = _offers(said)
    about = _nouns(f"{asked} {question}") if asked else {"no", "nope"}
    said_again = {stem(word) for part in parts for word in part.words}
    if about.isdisjoint(said_again) or any(not _OPEN.isdisjoint(part.words) for part in parts):
        return None
    for part in parts:
        left = [word for word in part.words if stem(word) not in about]
        picked = _picked(options, part._replace(words=left)) if left else None
        if picked is not None:
            return _choice_of(picked, options, question, part)
    return None


def asks_back(reply: str) -> bool:
    """Tell whether a reply only asks whether its reader is sure: it names no thing."""
    return "?" in reply and not _nouns(reply)


def _nouns(text: str) -> set[str]:
    return {stem(token.text.lower()) for token in read(text).tokens if token.pos in _THINGS}


def _agreed(said: str, parts: Sequence[_Part]) -> Choice | None:
    """Return what a yes agrees to: the one proposal of a message."""
    if said.count("?") != 1 or parts[0].words[0] not in _YES_LEADS:
        return None
    proposals = list(_PROPOSAL.finditer(said))
    if (
        len(proposals) != 1
        or "or" in words(proposals[0]["text"])
        or not _YES.issuperset(parts[0].words)
    ):
        return None
    place = proposals[0].span("text")
    return _choice(proposals[0]["text"], "", place, parts[0], sure=False)


def _choice(
    text: str, question: str, offered: tuple[int, int], part: _Part, *, sure: bool
) -> Choice | None:
    plain = _one_line(text)
    if not sure and len(plain.split()) < policy.DIRECTIVE_WORDS:
        return None
    return Choice(plain, _one_line(question), offered, (part.start, part.end), sure)


def _one_line(text: str) -> str:
    return shorten(_EMPHASIS.sub("", text), policy.CHOSEN_CHARS)


class _Part(NamedTuple):
    """A piece of an answer between its signs."""

    words: Sequence[str]
    start: int
    end: int
    asks: bool


def _parts(answer: str) -> Iterator[_Part]:
    """Yield the pieces of an answer, each cut where its reason begins."""
    pieces = list(_PART.finditer(answer))
    for at, piece in enumerate(pieces):
        if len(piece[0]) == 1 and not piece[0].isalnum():
            continue
        reason = _REASON.search(piece[0])
        said = piece[0][: reason.start()] if reason else piece[0]
        start = piece.start() + len(said) - len(said.lstrip())
        asks = any(sign[0] == "?" for sign in pieces[at + 1 : at + 2])
        if said.strip():
            yield _Part(words(said), start, piece.start() + len(said.rstrip()), asks)


def _picked(options: Sequence[Option], part: _Part) -> Option | None:
    """Return the option that a piece of an answer names by its mark, its place or its words."""
    left = [word for word in part.words if word not in _CHOOSING]
    marks = {option.mark: option for option in options if option.mark}
    if not left and len(part.words) == 1 and part.words[0] in marks:  # "a"
        return marks[part.words[0]]
    if len(left) == 1 and left[0] in marks:
        return marks[left[0]]
    if len(left) == 1 and left[0] in _ORDINALS:
        at = _ORDINALS[left[0]]
        return options[at] if at < len(options) else None
    wanted = {stem(word) for word in left}
    held = [option for option in options if wanted <= {stem(word) for word in words(option.text)}]
    return held[0] if wanted and len(held) == 1 else None


_ANSWERED: Final = re.compile(r'(?<=[:,] )"(?P<question>[^"\n]+)"="(?P<answer>[^"\n]+)"')


def answers_in(result: str) -> list[Choice]:
    """Return what an owner answered to the questions of a host's own tool, as its result has it."""
    return [
        Choice(_one_line(at["answer"]), _one_line(at["question"]), at.span(), at.span(), sure=True)
        for at in _ANSWERED.finditer(result)
    ]
