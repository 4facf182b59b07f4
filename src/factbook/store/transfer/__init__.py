"""A whole memory as plain records, and back: the format of `factbook export`, above the port.

Each record is a mapping with its kind under "record"; the first one, the header, says which version
of the format the others have. `docs/export.md` describes them.
"""

from factbook.store.transfer.export import exported
from factbook.store.transfer.records import FORMAT, HEADER, row_of

__all__ = ["FORMAT", "HEADER", "exported", "row_of"]
