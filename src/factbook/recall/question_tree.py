"""Walk the tree of a question: its verb, what stands under and over a word, whose act it is.

Names stand in it as one word each (`named_objects`), and a verb that the reader takes for a noun is
put in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Final

from factbook.language.reader.reading import Reading, Token, children
from factbook.language.words import stem
from factbook.recall.named_objects import STAND_IN, Named, names_taken_out


def listed(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


OURS: Final = listed("i we you it they claude codex gemini agent assistant")
BEFORE_NAMED: Final = listed("what which when is was are were 's the my our your show me tell list")
CONTENT: Final = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM", "X", "SYM"})
_AUXILIARIES: Final = listed("did was were do does has have had")
_SAYING_NOTHING: Final = listed("""
    time times thing things number count total be do have make get use see happen occur appear show
    give find want different distinct separate all altogether so far ever most more often frequently
    frequent common recent recently top last latest newest first earliest long take many much keep
    come back recur repeat return list tell
""")
GENERIC_STEMS: Final = frozenset(map(stem, _SAYING_NOTHING))
"""Of words that say nothing of what is counted."""


def _with_verb(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tree of a question with its verb, where the reader takes that for a noun.

    It does where the verb follows "last" ("when did I last commit") or ends the question ("how
    often was the linter run"); what stands before it is its subject.
    """
    said = [token.text.lower() for token in tokens]
    auxiliary = next((n for n, word in enumerate(said) if word in _AUXILIARIES), None)
    if auxiliary is None:
        return tokens
    for n in range(auxiliary + 2, len(said) - 1):
        subject = tokens[n - 1]
        follows = subject.text.lower() in OURS or subject.pos in ("NOUN", "PROPN")
        if said[n] in ("last", "first") and follows and tokens[n + 1].pos not in ("ADP", "PUNCT"):
            return _with_root(tokens, n + 1, n - 1, {n})
    nouns = [n for n, token in enumerate(tokens) if token.pos == "NOUN"]
    if len(nouns) < 2 or any(token.pos == "VERB" for token in tokens):
        return tokens
    verb, subject_at = nouns[-1], nouns[-2]
    if any(token.pos in CONTENT for token in tokens[verb + 1 :]):
        return tokens
    adverbs = {n for n, token in enumerate(tokens[:verb]) if token.pos == "ADV" and token.head < 0}
    return _with_root(tokens, verb, subject_at, adverbs)


def _with_root(
    tokens: Sequence[Token], verb: int, subject: int, adverbs: Set[int]
) -> Sequence[Token]:
    mended = list(tokens)
    mended[verb] = replace(tokens[verb], pos="VERB", relation="root", head=-1)
    mended[subject] = replace(tokens[subject], relation="nsubj", head=verb)
    for n in adverbs:
        mended[n] = replace(tokens[n], pos="ADV", relation="advmod", head=verb)
    return mended


class QuestionTree:
    """The tree of one question."""

    def __init__(
        self,
        question: str,
        read: Callable[[str], Reading],
        is_command: Callable[[Sequence[str]], bool],
    ) -> None:
        """Read a question; `is_command` says whether a command begins with some words."""
        self.is_command = is_command
        text, names = names_taken_out(question, is_command)
        tokens = read(text).tokens
        standing = [n for n, token in enumerate(tokens) if token.text == STAND_IN]
        self.names: dict[int, Named] = dict(zip(standing, names, strict=False))
        self.tokens = _with_verb(tokens)
        self.said = [token.text.lower() for token in tokens]
        self.below = children(self.tokens)

    def pair(self, first: str, second: set[str]) -> int | None:
        """Return where the second of two neighbouring words stands."""
        for n in range(1, len(self.said)):
            if self.said[n] in second and self.said[n - 1] == first:
                return n
        return None

    def opens(self, at: int) -> bool:
        """Say whether what is asked for begins with a word."""
        return all(said in BEFORE_NAMED or said == "total" for said in self.said[:at])

    def ends(self, at: int) -> bool:
        """Say whether nothing follows a word."""
        return all(token.pos == "PUNCT" for token in self.tokens[at + 1 :])

    def verb_over(self, at: int) -> int | None:
        """Return the verb that a word hangs on, or else the first."""
        while at >= 0:
            if self.tokens[at].pos == "VERB":
                return at
            at = self.tokens[at].head
        return next((n for n, token in enumerate(self.tokens) if token.pos == "VERB"), None)

    def verb_under(self, at: int) -> int | None:
        """Return the verb of a clause that says which: "the file that I changed"."""
        below = [b for b in self.below[at] if self.tokens[b].pos == "VERB"]
        over = self.tokens[at].head
        if not below and over > at and self.tokens[over].pos == "VERB":
            return over
        return below[-1] if below else None

    def verb_before(self, at: int) -> int | None:
        """Return the last verb before a word."""
        return next((n for n in range(at - 1, -1, -1) if self.tokens[n].pos == "VERB"), None)

    def asked_noun(self) -> int | None:
        """Return the noun of "which file", "what error"."""
        first = 1 if self.tokens and self.tokens[0].pos == "ADP" else 0  # "in which project"
        if self.said[first : first + 1] not in (["which"], ["what"], ["whose"]):
            return None
        for n in range(first + 1, min(first + 4, len(self.tokens))):
            if self.tokens[n].pos in ("NOUN", "PROPN"):
                return n
            if self.tokens[n].pos not in ("ADJ", "ADV"):
                return None
        return None

    def subject(self, verb: int) -> int | None:
        """Return the subject of a verb; "how many times" is none."""
        relations = ("nsubj", "nsubj:pass", "csubj")
        found = [b for b in self.below[verb] if self.tokens[b].relation in relations]
        return next((b for b in found if self.said[b] != "times"), None)

    def object_of(self, verb: int | None) -> int | None:
        """Return the object of a verb, if it says anything."""
        below = () if verb is None else self.below[verb]
        relations = ("obj", "nsubj:pass")
        found = (b for b in below if self.tokens[b].relation in relations)
        return next((b for b in found if stem(self.said[b]) not in GENERIC_STEMS), None)
