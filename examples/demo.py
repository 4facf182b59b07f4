"""Show the main job on the example logs and chats.

Reads them, asks, looks at what an answer rests on; then three evenings of chat pass, two nights of
work put the facts in order, a context is built for a question, and a list is kept in its order. At
the end it learns about something from a folder of documents. No language model takes part. Runs the
very commands that a user would type, on a database of its own in `.demo/`.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent
LOGS = Path(os.environ.get("LOGS", ROOT / "examples"))
DAYS = ROOT / "examples" / "days.toml"
PLACE = Path(os.environ.get("PLACE", ROOT / ".demo"))
QUESTIONS = (
    "which hosts did I connect to?",
    "what did I change in the auth module last week?",
    "show me every archive I unpacked",
)

ASKED = "Do I like mushrooms, and how do I take my coffee?"
TOLD = "My favorite cakes are plum cake, carrot cake and poppy seed cake"
LISTED = "What are my favorite cakes?"
DOCUMENTS = ROOT / "examples" / "documents"
WANTED = "find me stuff about cargo bikes"
LIKED = "Halden Cargo 3"
SILENT_S = 5.0  # so long a command may show nothing before it is said that it is at work


SETTINGS = {
    "FACTBOOK_DB": str(PLACE / "factbook.db"),
    "FACTBOOK_KEY_FILE": str(PLACE / "redaction.key"),
    "FACTBOOK_SEARCH_PROVIDER": "folder",
    "FACTBOOK_SEARCH_FOLDER": str(DOCUMENTS),
}

Run: TypeAlias = Callable[..., str]  # of the words of a command, and whether nobody is to see it


def title(text: str) -> None:
    """Print a line that a user would type."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def run(*arguments: str, quiet: bool = False) -> str:
    """Print a factbook command as a user would type it, and run it."""
    if not quiet:
        title(f"$ factbook {shlex.join(arguments)}")
    command = [sys.executable, "-m", "factbook", *arguments]
    began = time.monotonic()
    with subprocess.Popen(
        command,
        env={**os.environ, **SETTINGS},
        text=True,
        stdout=subprocess.PIPE if quiet else None,
    ) as process:
        while True:
            try:
                shown, _ = process.communicate(timeout=SILENT_S)
                break
            except subprocess.TimeoutExpired:  # on a slow machine one takes a minute
                waited = time.monotonic() - began
                print(f"  ... at work for {waited:.0f} s", file=sys.stderr, flush=True)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return shown or ""


def write_days() -> list[Path]:
    """Write the chats of the last days, each with the times of its day; the oldest first."""
    folder = PLACE / "chats"
    folder.mkdir()
    written = []
    for day in tomllib.loads(DAYS.read_text(encoding="utf-8"))["day"]:
        began = datetime.now(UTC) - timedelta(days=day["ago"])
        path = folder / f"{began:%Y-%m-%d}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for n, (role, text) in enumerate(day["turns"]):
                turn = {
                    "session_id": f"demo-{began:%Y-%m-%d}",
                    "role": role,
                    "content": text,
                    "timestamp": (began + timedelta(minutes=n)).isoformat(timespec="seconds"),
                }
                file.write(json.dumps(turn, ensure_ascii=False) + "\n")
        written.append(path)
    return written


def number(*arguments: str, run: Run, says: str = "") -> str:
    """Return the id of the first fact of a listing, or of the first that says something."""
    facts = json.loads(run("facts", *arguments, "--json", quiet=True))["facts"]
    return next((str(one["id"]) for one in facts if says in one["statement"]), "")


def main(run: Run = run) -> None:
    """Run the demo from an empty database, each command as `run` does."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    run("ingest", os.path.relpath(LOGS))
    for question in QUESTIONS:
        run("recall", question, "--limit", "5")
    host = number("--predicate", "connects_to_host", "--limit", "1", run=run)
    if host:
        run("explain", host)
    run("doctor")

    first, *later = (os.path.relpath(path) for path in write_days())
    run("ingest", first)
    run("consolidate")
    editor = number("--predicate", "states", run=run, says="Vim")
    run("ingest", *later)
    run("consolidate")
    if editor:
        run("explain", editor)
    run("context", ASKED)

    run("tell", "--planner", "rules", TOLD)
    run("ask", "--planner", "rules", LISTED)

    print(f"\nIt may search a folder: FACTBOOK_SEARCH_FOLDER={os.path.relpath(DOCUMENTS)}")
    run("learn", WANTED)
    run("worker", "--once")  # what it would do beside you while you do something else
    run("learn")
    run("like", LIKED)
    run("memory", LIKED)
    run("why", LIKED)
    print(
        f"\nThat was the demo; its database is {os.path.relpath(PLACE / 'factbook.db')}."
        " Now with your own logs:\n"
        "  .venv/bin/factbook ingest                 reads ~/.claude, ~/.codex and ~/.gemini\n"
        "  .venv/bin/factbook recall 'what broke the build yesterday?'\n"
        "  .venv/bin/factbook consolidate            the nightly work; install-timer has it done\n"
        "  .venv/bin/factbook rejections             what was refused, and why; docs/refused.md\n"
        "  .venv/bin/factbook chat                   talk, learn, like, be told what is new\n"
        "  .venv/bin/factbook --help                 everything else; README.md says more"
    )


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
