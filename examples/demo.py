"""Show the main job on the example logs: read them, ask, and look at what an answer rests on.

Runs the very commands that a user would type, on a database of its own in `.demo/`.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = Path(os.environ.get("LOGS", ROOT / "examples"))
PLACE = ROOT / ".demo"
QUESTIONS = (
    "which hosts did I connect to?",
    "what did I change in the auth module last week?",
    "show me every archive I unpacked",
)


def run(*arguments: str, quiet: bool = False) -> str:
    """Print a factbook command as a user would type it, and run it."""
    if not quiet:
        shown = " ".join(shlex.quote(part) for part in arguments)
        print(
            f"\n\033[1m$ factbook {shown}\033[0m"
            if sys.stdout.isatty()
            else f"\n$ factbook {shown}"
        )
        sys.stdout.flush()
    done = subprocess.run(
        [sys.executable, "-m", "factbook", *arguments],
        env={
            **os.environ,
            "FACTBOOK_DB": str(PLACE / "factbook.db"),
            "FACTBOOK_KEY_FILE": str(PLACE / "redaction.key"),
        },
        check=True,
        text=True,
        stdout=subprocess.PIPE if quiet else None,
    )
    return done.stdout or ""


def main() -> None:
    """Run the demo from an empty database."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    run("ingest", os.path.relpath(LOGS))
    for question in QUESTIONS:
        run("recall", question, "--limit", "5")
    found = json.loads(
        run("facts", "--predicate", "connects_to_host", "--limit", "1", "--json", quiet=True)
    )
    if found["facts"]:
        run("explain", f"f{found['facts'][0]['id']}".replace("ff", "f"))
    run("doctor")
    print(
        "\nThat was the demo; its database is .demo/factbook.db. Now with your own logs:\n"
        "  .venv/bin/factbook ingest                 reads ~/.claude, ~/.codex and ~/.gemini\n"
        "  .venv/bin/factbook recall 'what broke the build yesterday?'\n"
        "  .venv/bin/factbook --help                 everything else; README.md says more"
    )


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
