"""Who holds a lease: a name that says which process it is, and whether that process has ended."""

from __future__ import annotations

import os
import socket
import uuid

__all__ = ["holder_name", "is_dead"]


def holder_name() -> str:
    """Return a name for whoever takes a lease now; no other has the same."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"


def is_dead(holder: str) -> bool:
    """Tell whether a lease's holder was a process of this machine that has ended."""
    host, _, rest = holder.partition(":")
    pid = rest.partition(":")[0]
    if os.name == "nt":
        return False  # there, signal 0 is no question: it ends the process
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it is there, and belongs to somebody else
    return False
