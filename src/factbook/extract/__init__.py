"""2 extract: propose candidates from episodes.

Knows rules and text. Does not know a store, and decides nothing: the gate does.
"""
