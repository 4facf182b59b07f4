"""Draw the pictures of the README from the program's own output on the example logs.

    .venv/bin/python scripts/make_pictures.py

Runs the commands as the demo does, with colours, and writes what a terminal would show as SVG.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 104
FIRST = "the first hit"  # of the command before
PICTURES = {
    "recall.svg": [
        ["recall", "which hosts did I connect to?", "--limit", "3"],
        ["explain", FIRST],
    ],
}
_ID = re.compile(r"\bf\d+\b")
_FONT_FACE = re.compile(
    r"@font-face \{.*?\}\s*", re.DOTALL
)  # no picture loads a font from elsewhere


def output(arguments: list[str], place: Path) -> str:
    """Return what a command prints to a colour terminal."""
    return subprocess.run(
        [sys.executable, "-m", "factbook", *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "FACTBOOK_DB": str(place / "factbook.db"),
            "FACTBOOK_KEY_FILE": str(place / "key"),
            "FORCE_COLOR": "1",
            "TERM": "xterm-256color",
            "COLUMNS": str(WIDTH),
        },
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def main() -> None:
    """Write every picture to `docs/`."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        output(["ingest", "examples"], place)
        for name, commands in PICTURES.items():
            console = Console(record=True, width=WIDTH, file=Path(os.devnull).open("w"))  # noqa: SIM115
            first = ""
            for command in commands:
                arguments = [first if part == FIRST else part for part in command]
                shown = " ".join(f'"{part}"' if " " in part else part for part in arguments)
                console.print(Text(f"$ factbook {shown}", style="bold"))
                # The checkout's place on this machine is nobody's business.
                text = output(arguments, place).replace(f"{ROOT}/", "")
                found = _ID.search(Text.from_ansi(text).plain)
                first = found[0] if found else ""
                console.print(Text.from_ansi(text))
            picture = console.export_svg(title="factbook")
            path = ROOT / "docs" / name
            path.write_text(_FONT_FACE.sub("", picture), encoding="utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
