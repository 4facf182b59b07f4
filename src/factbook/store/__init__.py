"""5 store: keep the ledger, and answer plain questions about it.

Knows rows, indexes and transactions. Knows no rule of the domain: what may be written, and what
follows from it, is decided in `apply`.
"""
