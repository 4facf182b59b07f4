"""Say whether a claim is grounded in a passage, where, and what speaks against it.

Knows: one claim and one passage, word lists, and vectors where an embedder is handed in. Does not
know: the store, other facts, confidence. Pure. docs/grounding.md tells what is refused and why.
"""

from factbook.gate.grounding.ground import Grounding, Support, ground, validate_fact_against_summary
from factbook.gate.grounding.passage import Passage, Utterance, read_passage

__all__ = [
    "Grounding",
    "Passage",
    "Support",
    "Utterance",
    "ground",
    "read_passage",
    "validate_fact_against_summary",
]
