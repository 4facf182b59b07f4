"""1 sources: read what happened and give it on as episodes.

Knows file formats, redaction and where a reader stopped. Does not know facts, rules or a store.
"""
