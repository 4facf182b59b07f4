"""The one place that imports onnxruntime, so that it is told first to send nothing.

From 1.29 on, onnxruntime reports its use to its maker from the moment it is imported: it keeps an
id of the machine and a queue of events with the path of Python in the user's cache folder, and
looks up the host that it sends them to. Only a variable that is set before the import prevents it;
the call prevents the events that older versions trace on Windows.
"""

from __future__ import annotations

import functools
import os
from typing import Any

__all__ = ["runtime"]


@functools.cache
def runtime() -> Any:
    """Return onnxruntime, imported without its telemetry; raises ImportError as the import does."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # nothing is sent that its owner did not ask for
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime
