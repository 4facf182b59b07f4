"""Tell whether an English sentence states anything, and read it without its marks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

LEAST_CHARS: Final = 20  # ours: a shorter sentence says too little to be worth a notice
MOST_CHARS: Final = 400  # ours: a longer one says several things
TOO_LONG: Final = f"it has more than {MOST_CHARS} characters"
LEAST_ITEM_CHARS: Final = 8  # ours: of a line under a name: "Age: 10+"
MEMBER: Final = re.compile(r"[^\W_]+", re.UNICODE)


def _no(why: str, pattern: str) -> tuple[str, re.Pattern[str]]:
    return why, re.compile(pattern, re.IGNORECASE)


_REFUSED: Final = (
    _no("it asks", r"\?[\"'”’)\]\s]*$|^(?:did|do|does|have|has|is|are|can|could|would) you\b"),
    _no(
        "it is cut off",
        r"(?:\.\.\.|…)[\"'”’)\]\s]*$|\b(?:the|a|an|of|and|or|with|to|for|in|by|from|at|into|onto"
        r"|between|without|during|per|via|than|which|whose|its|their|my|our|your)\s*$|,\s*$",
    ),
    _no("it holds an address", r"\bhttps?:|\bwww\.|\bftp:|\b[\w.+-]+@[\w-]+\.\w|\bmagnet:|\btel:"),
    _no("it holds code", r"[{}<>|\\]|\w_\w|=>|==|::|\w\(\)|;\s*$"),
    _no("it speaks of its writer", r"\b(?:I|I'm|I've|I'd|my|mine|me|we|we're|we've|our|ours|us)\b"),
    _no(
        "it is advice",
        r"\b(?:should|must|ought to|needs? to be|has to be|have to be|had better|would|might be"
        r"|could be|may want|is worth (?:a|your|buying|every|the)|recommended (?:for|to) (?:you|any"
        r"|every)|worth (?:buying|a look|checking))\b",
    ),
    _no(
        "it is an opinion",
        r"^\W*[\w.'’-]+(?: [\w.'’-]+){0,7}? (?:is|are|was|were|looks|sounds|feels|tastes|seems)"
        r"(?: (?:really"
        r"|so|very|quite|just|simply|truly|absolutely|pretty|totally|still|a|an|the|such|my|one of"
        r"|our))*"
        r" (?:great|good|bad|amazing|awesome|fantastic|terrible|awful|beautiful|wonderful|best"
        r"|worst|lovely|nice|perfect|incredible|excellent|superb|stunning|gorgeous|boring|ugly"
        r"|overrated|underrated|brilliant|favou?rite|disappointing|joke|scam|bargain|steal"
        r"|must)(?:\W*$| (?:thing|stuff|choice|pick|option|value|deal|buy|idea|ever|in my)\b)",
    ),
)
_READER: Final = re.compile(r"\b(?:you|your|yours|you're|you'll|you've|yourself)\b", re.IGNORECASE)
_LETTER: Final = re.compile(r"[A-Za-z]")

# In a few words of its owner: "Pim weighs 12 kg.", "Pim is a beagle."
_SAYS_ENOUGH: Final = re.compile(r"\w \w.*\d|\b(?:is|are|was|were) an? \w", re.IGNORECASE)


def no_statement(plain: str, *, external: bool, item: bool = False) -> str:
    """Say in words why a sentence states nothing; "" where it does.

    `external` is for sentences of others, `item` for a line of a list, which is no whole sentence.
    What its owner writes may be as short as that where it gives a number or says what a thing is.
    """
    short = item or (not external and _SAYS_ENOUGH.search(plain) is not None)
    least = LEAST_ITEM_CHARS if short else LEAST_CHARS
    if len(plain) < least:
        return f"it has less than {least} characters"
    if len(plain) > MOST_CHARS:
        return TOO_LONG
    for why, pattern in _REFUSED:
        if pattern.search(plain):
            return why
    if _READER.search(plain) and external:
        return "it speaks to its reader"
    if len(_LETTER.findall(plain)) < len(plain) / 2 and not item:
        return "it has few words"
    return ""


_LINK: Final = re.compile(r"!?\[(?P<words>[^\]\n]{0,200})\]\((?:[^()\n]|\([^()\n]*\)){0,500}\)")
_NOTE: Final = re.compile(r"\[(?:\d{1,3}|[a-z]|note \d+|citation needed|edit)\]")
_EMPHASIS: Final = re.compile(
    r"`+|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)"
)


@lru_cache(maxsize=16)
def without_marks(text: str) -> str:
    """Return a text of the same length without marks of links, notes and emphasis."""
    text = _LINK.sub(_words_of_link, text)
    for pattern in (_NOTE, _EMPHASIS):
        text = pattern.sub(lambda match: "\0" * len(match[0]), text)
    return text


def _words_of_link(match: re.Match[str]) -> str:
    words = "" if match[0].startswith("!") else match["words"]
    return "\0" + words + "\0" * (len(match[0]) - len(words) - 1)


def plain_words(unmarked: str) -> str:
    return " ".join(unmarked.replace("\0", "").split())
