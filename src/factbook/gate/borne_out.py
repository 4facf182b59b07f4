"""Say whether two texts bear out what a model says of them: that one ends the other, or repeats it.

A model may be wrong of any pair. What nothing exact forbids (`related.vetoed`) is done at its word
only where a second reading ties both to one matter: their words, or the reader's network.
"""

from __future__ import annotations

from typing import Final

from factbook.gate import kin
from factbook.gate.lexicon import tables
from factbook.gate.reading import TextReading, read
from factbook.gate.related import proposed, tells_apart, vetoed
from factbook.language.reader.relate import Relater

OTHER: Final = "other"  # both are about two persons or things: there is nothing to ask either
UNTIED: Final = "untied"  # nothing exact stands against it, and nothing but a model says it


def against_end(older: str, newer: str, similarity: float, net: Relater) -> str:
    """Return why the newer text may not end the older one at a model's word; "" for nothing.

    It is a reason of `related.vetoed`, OTHER among them, or UNTIED. `similarity` is their cosine.
    Raises ReaderError where the network cannot be loaded.
    """
    old, new = read(older), read(newer)
    if no_end := vetoed((net.read(older), old), (net.read(newer), new))[1]:
        return no_end
    shared = any(not tables().mild(key) for key in old.keys & new.keys)
    if shared and (new.cues or not (_own_words(old, new) or _own_words(new, old))):
        return ""
    told = proposed((older, old), (newer, new), similarity, net)
    return UNTIED if told is None or told.relation == "same" else ""


def against_merge(older: str, newer: str, similarity: float, net: Relater) -> str:
    """Return why two texts may not be one at a model's word; "" for nothing.

    It is a reason of `related.tells_apart`, or UNTIED: each has a word of substance that the other
    lacks, and the network does not hear the same in them. Arguments and errors as of `against_end`.
    """
    if what := tells_apart(older, newer, net):
        return what
    old, new = read(older), read(newer)
    if not (_own_words(old, new) and _own_words(new, old)):
        return ""
    told = proposed((older, old), (newer, new), similarity, net)
    return "" if told is not None and told.relation == "same" else UNTIED


def _own_words(text: TextReading, other: TextReading) -> set[str]:
    """Return the content words of a text for which another has none of their family."""
    mild = tables().mild
    return {
        key
        for key in text.keys - other.keys - text.cue_keys
        if not mild(key) and not any(kin.derived(key, word) for word in other.keys)
    }
