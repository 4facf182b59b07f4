"""Keep memory true while time passes: what is done at night, and beside the line.

Reads a store (5) as recall (6) does and emits Ops, which go through the one writer (4) like all
others, so nothing here may do what no trigger is allowed to. Knows vectors, confidence, rules of
contradiction and merging, and the order of the nightly run. Does not know where a text came from,
how a file was read, or who asks for memory during the day; the clock, the embedder and the store
are arguments.
"""
