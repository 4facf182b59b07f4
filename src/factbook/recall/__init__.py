"""6 recall: find what bears on a question, order it, and show what it rests on.

Reads a store and never writes one. Knows scores and time; the rules it knows only as words that
point at a predicate.
"""
