"""Read English by a small trained network: sentences, clauses, names, what is said of whom.

Knows: text. Does not know: facts, the store, who asks. Importing it loads no network; the first
text does.
"""
