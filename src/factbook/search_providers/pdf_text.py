"""Print the text of a PDF, page by page, as JSON: a program of its own, run by `folder`.

    python -I pdf_text.py < some.pdf

Files that are made to harm can keep a reader busy for hours, or fill the memory. A process can be
ended from outside and its memory bounded, so that is where they are read. It stands alone: nothing
of factbook is imported, so that it starts fast. It reads what it is given and opens no file.

Prints {"title": ..., "pages": [...]}. Exit codes: 0 as it should be, 3 the file is locked by a
password, anything else (with a traceback) it cannot be read.
"""

from __future__ import annotations

import io
import json
import sys

PAGES = 1_000  # ours: what stands behind is not read
CHARS = 4_000_000  # ours: of the text of one file
MEMORY_BYTES = 2 * 1024**3
CPU_SECONDS = 60
LOCKED = 3


def main() -> int:
    """Read standard input, print the text."""
    _bound()
    import pypdf

    document = pypdf.PdfReader(io.BytesIO(sys.stdin.buffer.read()), strict=False)
    if document.is_encrypted and not document.decrypt(""):
        return LOCKED
    title = document.metadata.title if document.metadata else None
    pages: list[str] = []
    size = 0
    for page in document.pages:
        pages.append(page.extract_text()[: CHARS - size])
        size += len(pages[-1])
        if len(pages) >= PAGES or size >= CHARS:
            break
    content = {"title": title if isinstance(title, str) else "", "pages": pages}
    sys.stdout.write(json.dumps(content))  # in ASCII, whatever the encoding of the machine
    return 0


def _bound() -> None:
    """Bound what this process may use, where the system lets it."""
    try:
        import resource
    except ImportError:
        return  # not on Windows, where whoever started it ends it at its deadline
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(kind, (most, hard))


if __name__ == "__main__":
    sys.exit(main())
