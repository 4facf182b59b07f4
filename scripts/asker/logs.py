"""Take the sessions that our questions are asked of out of mirrors of their repositories.

`data/answers/asked_logs.json` names each by the hash that git knows its bytes by, so that what is
read is what the questions were written on.
"""

from __future__ import annotations

import json
import re
import subprocess
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from factbook.memory import Memory

LOGS: Final = Path(__file__).resolve().parents[2] / "data" / "answers" / "asked_logs.json"

# of a call that SpecStory wrote down: as much as the questions were written on
COMMAND_CHARS: Final = 400
RESULT_CHARS: Final = 3_000
UNDATED: Final = "2026-01-01T10:00:00Z"

_SPOKEN: Final = re.compile(r"^_\*\*(User|Agent|Assistant)[^\n]*\*\*_\s*$", re.MULTILINE)
_ASIDE: Final = re.compile(r"<(details|tool-use)\b.*?</\1>|<think>.*?</think>", re.DOTALL)
_SHELL: Final = re.compile(r"Bash|shell|terminal|command", re.IGNORECASE)
_COMMAND: Final = re.compile(r"```(?:bash|sh|shell)?\n(.*?)```", re.DOTALL)
_TOOLS_USED: Final = re.compile(r"^_?Tools? used:.*$", re.MULTILINE)
_BEGUN: Final = re.compile(r"(20\d\d-\d\d-\d\d)[_T ](\d\d)-?:?(\d\d)")


class LogsError(Exception):
    """Sessions cannot be had: says which, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A session that questions are asked of."""

    repository: str  # owner/name
    file: str  # the file's name, and with the repository the log's
    blob: str
    format: str  # "claude" or "specstory"
    path: str = ""  # of what SpecStory wrote, in its repository


def read_logs(path: Path = LOGS) -> dict[str, list[Log]]:
    """Return the sessions of each repository."""
    found: defaultdict[str, list[Log]] = defaultdict(list)
    for name, row in json.loads(path.read_text(encoding="utf-8"))["logs"].items():
        file = name.removeprefix(row["repository"] + "/")
        found[row["repository"]].append(
            Log(
                repository=row["repository"],
                file=file,
                blob=row["blob"],
                format=row["format"],
                path=row.get("path", ""),
            )
        )
    return dict(found)


def mirror(folder: Path, repository: str) -> Path:
    """Return the git directory of a repository's mirror; LogsError where there is none."""
    path = folder / repository.replace("/", "+")
    for place in (path / "repo", path):
        if (place / "HEAD").is_file():
            return place
    raise LogsError(
        f"{folder} holds no mirror of {repository}; make one with "
        f"`git clone --mirror https://github.com/{repository} {path}`"
    )


def read_blob(folder: Path, repository: str, blob: str) -> bytes:
    """Return a log's bytes out of the mirror of its repository; LogsError if it lacks them."""
    place = mirror(folder, repository)
    command = ["git", "-C", str(place), "cat-file", "blob", blob]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise LogsError(f"{place} lacks the log {blob}; fetch all of its refs")
    return done.stdout


def extract(folder: Path, logs: Sequence[Log], out: Path) -> None:
    """Write sessions out of a folder of mirrors as files of Claude Code; LogsError if one lacks."""
    out.mkdir(parents=True, exist_ok=True)
    for log in logs:
        data = read_blob(folder, log.repository, log.blob)
        if log.format == "specstory":
            data = transcript(data.decode("utf-8", "replace"), log.path).encode()
        (out / log.file).write_bytes(data)


def session_of(path: str) -> str:
    """Return the id of the session that SpecStory wrote to a path."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, path))


def transcript(markdown: str, path: str) -> str:
    """Turn what SpecStory wrote of a session into lines of Claude Code.

    Ids are made of the path and the line's number: a second run gives the same. Of calls, those of
    a shell are kept; thoughts are not.
    """
    begun = _BEGUN.search(path)
    stamp = f"{begun[1]}T{begun[2]}:{begun[3]}:00Z" if begun else UNDATED
    lines: list[str] = []

    def put(role: str, content: str | Sequence[Mapping[str, Any]]) -> None:
        line = {
            "type": role,
            "uuid": session_of(f"{path}{len(lines)}"),
            "sessionId": session_of(path),
            "cwd": "/home/dev/proj",
            "timestamp": stamp,
            "message": {"role": role, "content": content},
        }
        lines.append(json.dumps(line))

    parts = _SPOKEN.split(markdown)
    for who, body in zip(parts[1::2], parts[2::2], strict=True):
        if who == "User":
            if said := _trimmed(body):
                put("user", said)
            continue
        for block in _ASIDE.finditer(body):
            # what is called, and with what, stands in its first lines
            call = _COMMAND.search(block[0]) if _SHELL.search(block[0][:300]) else None
            if call is None or block[0].startswith("<think"):
                continue
            name = "toolu_" + uuid.uuid5(uuid.NAMESPACE_URL, f"{path}#{len(lines)}").hex[:20]
            given = {"command": call[1].strip()[:COMMAND_CHARS]}
            put("assistant", [{"type": "tool_use", "id": name, "name": "Bash", "input": given}])
            result = re.sub("<[^>]+>", "", block[0][call.end() :][:RESULT_CHARS]).strip()
            put("user", [{"type": "tool_result", "tool_use_id": name, "content": result}])
        if said := _TOOLS_USED.sub("", _trimmed(_ASIDE.sub("", body))):
            put("assistant", [{"type": "text", "text": said}])
    return "\n".join(lines) + "\n"


def _trimmed(text: str) -> str:
    """Return a text without the rules that SpecStory draws around it."""
    return text.strip().strip("-").strip()


def opened(folder: Path, path: Path, *, embed: bool = True) -> Memory:
    """Return a memory that holds the logs of a folder, with their vectors."""
    from factbook.memory import Memory  # only here: trained weights are written without it

    memory = Memory(path, key_file=path.with_suffix(".key"))
    memory.ingest([folder])
    if embed:
        memory.embed()
    return memory
