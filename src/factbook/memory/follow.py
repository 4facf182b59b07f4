"""What goes on behind the hooks of a client: a process that nobody waits for.

    python -m factbook.memory.follow FILE

`factbook-hook` starts it when a turn has ended. It reads on in the transcript, embeds what is new,
records which memories were put before the model, and looks for what the next turn may need: what
turns N-2 and N-1 suggest is there when turn N begins. One at a time works on a database; one more
waits, so that nothing that came meanwhile is left; all others leave at once.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from factbook import policy
from factbook.errors import FactbookError
from factbook.memory import Memory
from factbook.model.facts import EpisodeKind, StoredEpisode
from factbook.model.frame import is_last_resort
from factbook.recall.modes import context_question
from factbook.recall.plan import Turn
from factbook.sources.spool import WAITS, WORKS, Spool, folder_of, take, transcripts_of
from factbook.store.rows import Filters

_STEP_S: Final = 0.02  # between two looks whether another has ended
SETTLES_S: Final = 0.5  # until a client has written the end of a turn
EMBEDDED_ROWS: Final = 512  # at once; the rest waits for the next turn, or for the night
TURNS: Final = 2  # origins 001.3: N-2 and N-1
LOOKED_AT: Final = 12  # newest messages of a session, in which these turns are
SUGGESTED: Final = 6
NEAR: Final = 0.45  # ours: cosine to what was said, of what comes unasked (docs/hooks.md)
_MESSAGES: Final = (EpisodeKind.PROMPT, EpisodeKind.REPLY)


def follow(db: str, *, settles_s: float = SETTLES_S) -> None:
    """Do the work of every session that waits for it, until none does."""
    spool = Spool(folder_of(db))
    with _alone(spool.folder) as alone:
        if not alone:
            return
        time.sleep(settles_s)
        try:
            with Memory(db, model=None, search_config=None, actor="hook") as memory:
                kept = True
                while kept and (waiting := _waiting(spool)):
                    for state in waiting:
                        prepared = follow_session(memory, spool, state)
                        session, owner = _of(state)
                        kept = spool.keep_prepared(session, prepared, owner) and kept
        except FactbookError as error:  # it cannot be opened: `factbook doctor` says so
            for state in _waiting(spool):
                session, owner = _of(state)
                failed = {**spool.prepared(session, owner), "failed": type(error).__name__}
                spool.keep_prepared(session, failed, owner)
        spool.prune()


def _waiting(spool: Spool) -> list[dict[str, Any]]:
    return [
        state
        for state in spool.sessions()
        if state.get("asked", 0) > spool.prepared(*_of(state)).get("done", 0)
    ]


def _of(state: Mapping[str, Any]) -> tuple[str, str]:
    """Return which session of which owner a state is of."""
    return state["name"], state["owner"]


def follow_session(memory: Memory, spool: Spool, state: Mapping[str, Any]) -> dict[str, Any]:
    """Do the work of one session, and return what its spool is to hold for the next turn."""
    session, owner = _of(state)
    prepared: dict[str, Any] = {
        "done": state["asked"],
        "recorded": spool.prepared(session, owner).get("recorded", 0),
        "turn": state.get("turn", 0) + 1,
    }
    try:
        owner = memory.sources.spelled(owner)
        if transcripts := [Path(path) for path in transcripts_of(state)]:
            memory.ingest(transcripts[::-1], workers=0, owner=owner)  # as they were written
            memory.read_directives(pages=policy.DIRECTIVE_PAGES)
        memory.embed(limit=EMBEDDED_ROWS)
        said = _messages(memory, session, owner)
        for given in state.get("given", ()):
            if given["seq"] > prepared["recorded"]:
                _record(memory, session, owner, given, said)
                prepared["recorded"] = given["seq"]
        prepared["items"] = suggested(memory, session, owner, said)
    except Exception as error:  # noqa: BLE001 - one session must not keep the others from theirs
        # what is locked now is not when the next turn ends
        prepared["failed"] = type(error).__name__
    return prepared


def _messages(memory: Memory, session: str, owner: str) -> list[StoredEpisode]:
    """Return the newest messages of a session, oldest first."""
    filters = Filters(owner=owner, session=session, episode_kinds=_MESSAGES)
    ids = memory.store.ids("episode", filters)[-LOOKED_AT:]
    stored = memory.store.episodes_by_id(ids)
    return [stored[id_] for id_ in ids if id_ in stored]


def _record(
    memory: Memory,
    session: str,
    owner: str,
    given: Mapping[str, Any],
    said: Sequence[StoredEpisode],
) -> None:
    """Record what was put before the model at one event, and what its answer used of it."""
    replies = [
        message.text
        for message in said
        if message.kind is EpisodeKind.REPLY and (message.occurred_at or 0) >= given["at"]
    ]
    memory.conversation(owner=owner, session=session).record_shown(
        given["ids"],
        mode="passive" if given["turn"] else "context",
        reply="\n".join(replies) if replies else None,
    )


def suggested(memory: Memory, session: str, owner: str, said: Sequence[StoredEpisode]) -> list[str]:
    """Return the ids of what the last turns call to mind from elsewhere, the best first.

    What no person said comes last: a hook shows it only where nothing else bears.
    """
    prompts = [n for n, message in enumerate(said) if message.kind is EpisodeKind.PROMPT]
    turns = [
        Turn(role=message.role, text=message.text, at=message.occurred_at)
        for message in said[prompts[-TURNS:][0] if prompts else 0 :]
    ]
    question = context_question(turns)
    if not question:
        return []
    hits = memory.conversation(owner=owner, session=session).prefetch(turns)
    hits = sorted((hit for hit in hits if hit.session != session), key=is_last_resort)
    ids = [hit.id for hit in hits]
    vectors = memory.engine.vectors_of(ids)
    if not vectors:
        return []
    asked = memory.resources.embedder.embed([question])[0]
    near = [id_ for id_ in ids if id_ in vectors and float(asked @ vectors[id_]) >= NEAR]
    return near[:SUGGESTED]


@contextmanager
def _alone(folder: str) -> Iterator[bool]:
    """Hold the work on a database; False where another does, and one more waits for it."""
    with _lock_file(folder, WORKS) as works:
        with _lock_file(folder, WAITS) as waits:
            if not take(waits):
                yield False
                return
            while not take(works):
                time.sleep(_STEP_S)
        # who comes from here on has work that this one may not see
        yield True


@contextmanager
def _lock_file(folder: str, name: str) -> Iterator[int]:
    opened = os.open(Path(folder, name), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield opened
    finally:
        os.close(opened)


if __name__ == "__main__":
    with suppress(OSError, AttributeError):
        os.nice(10)
    follow(sys.argv[1])
