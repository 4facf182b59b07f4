"""Put the asker's figures where people read them; needs nothing that trains."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

BEGIN: Final = "<!-- figures of scripts/make_asker.py: begin -->"
END: Final = "<!-- figures of scripts/make_asker.py: end -->"
_GROUPS: Final = {"log": "in the log's words", "other": "in other words"}


def table(record: Mapping[str, Any]) -> str:
    """Return the figures of `asker.json` as a table of Markdown, held questions apart."""
    turns = record["figures"]["turns"]
    cuts = list(turns["all other"]["after"])
    lines = [
        f"| questions | | {' | '.join(cuts)} |",
        f"|---|---|{'---:|' * len(cuts)}",
    ]
    for part in ("all", "held"):
        for words, told in _GROUPS.items():
            group = turns[f"{part} {words}"]
            name = f"{group['questions']} {told}" + (", `held` alone" if part == "held" else "")
            for way, label in (("before", "as texts"), ("after", "as questions")):
                values = " | ".join(f"{group[way][cut]:.1f}" for cut in cuts)
                lines.append(f"| {name if way == 'before' else ''} | {label} | {values} |")
    return "\n".join(lines)


def write(path: Path, record: Mapping[str, Any]) -> None:
    """Write the table between its marks in a page; raises ValueError where they are not there."""
    page = path.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{path} has no place for the figures: {BEGIN} ... {END}")
    path.write_text(f"{before}{BEGIN}\n{table(record)}\n{END}{after}", encoding="utf-8")
