"""`factbook-hook`: what an agent's client runs at its events, to be reminded of what is known.

A client waits for its hook and takes exit code 2 for an order to drop the user's prompt. So this
one imports the standard library and apsw alone, has a deadline of its own, reads the database and
writes none, and leaves with 0 whatever happens. Its work is in `events`; what takes long is done by
a process that it starts and does not wait for.

Knows: events of clients, the tables of a SQLite store, the spool. Does not know: any other part of
factbook but words, numbers and how memories are put before a model.
"""

from __future__ import annotations

import os

DEADLINE_S = 0.2  # from the start to the answer
START_DEADLINE_S = 0.8  # of a session: a digest is made, once


def main() -> None:
    """Answer one event; ends the process with exit code 0."""
    try:
        import signal

        for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
            signal.signal(number, lambda *_: os._exit(0))
        from factbook.surface.hook.deadline import Deadline

        deadline = Deadline(DEADLINE_S)
        from factbook.surface.hook.events import run

        run(deadline)
    except BaseException:  # noqa: BLE001, S110 - a client must never be stopped by its memory
        pass
    finally:
        os._exit(0)
