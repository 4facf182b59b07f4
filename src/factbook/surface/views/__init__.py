"""Lay out for people what the operations found.

Every function writes to a `Page`. Stored text enters a line only through `text.safe`,
`text.one_line`, a `say` or a table cell; what may not be shown was taken out before.
"""
