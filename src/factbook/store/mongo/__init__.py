"""Typed memories with MongoDB as their record (origins 002.1); all else stays in the other store.

`record` keeps documents, `documents` makes them of rows and rows of them, `split` is a `Store` that
reads its own rows and writes to both.
"""
