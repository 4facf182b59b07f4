"""1 sources: session logs of coding agents (Claude Code, Codex, Gemini CLI, SpecStory).

Knows how each host writes its logs: where they are, which records they hold, who really speaks in
each, and how damaged lines are read. Does not know facts, rules or the store: it gives episodes,
an account of every line, and a cursor to go on from.

`discover` finds the files and tells their host, `read` gives what a file says beyond a cursor.
"""

from __future__ import annotations

from factbook.sources.session_log.discover import Discovery, default_folders, discover
from factbook.sources.session_log.parser import LogFile, source_key
from factbook.sources.session_log.reader import read

__all__ = ["Discovery", "LogFile", "default_folders", "discover", "read", "source_key"]
