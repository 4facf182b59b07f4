"""7 surface: what people and programs see: the command line.

Knows terminals, tables, JSON and exit codes. Does not know rules, scores or SQL: it asks `Memory`
and shows what comes back. Stored text is untrusted here: it goes through `text.safe` or is written
as JSON, never straight to a terminal.
"""
