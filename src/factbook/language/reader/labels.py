"""The labels of the reader's network, in the order in which its outputs stand."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


POS: Final = _words(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
)
RELATIONS: Final = _words("""
    acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse
    dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis
    punct reparandum root vocative xcomp
    """)
NAME_TYPES: Final = _words("person place org product work other")
SIGNS: Final = ("like", "dislike")
MATTERS: Final = ("world", "own")  # whose a question is: anybody could ask it, or its owner alone
MARKS: Final = ("rule", "decision")

ACTS: Final = _words("tell ask want chat")
OWNERS: Final = _words("me person thing world none")
KINDS: Final = _words("""
    identity family friends health home work study money possession pet habit skill plan event taste
    belief wish project other
    """)
FLAGS: Final = _words("neg hedge if wish past over future quoted irony habit")
SCOPES: Final = _words("project language everywhere")
PROMPT_TYPES: Final = _words("rule decision one_off question report answer chat")

PAIRS: Final = _words("change reword lookalike")


def spans(types: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags of words that mark stretches of these types: outside, begin, inside."""
    return ("O", *(f"{place}-{name}" for name in types for place in ("B", "I")))


NAME_TAGS: Final = spans(NAME_TYPES)
OPINION_TAGS: Final = spans(SIGNS)
MARK_TAGS: Final = spans(MARKS)
CLAUSE_TAGS: Final = spans(("clause",))
FOREIGN_TAGS: Final = spans(("foreign",))
