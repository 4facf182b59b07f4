"""The one place that imports onnxruntime, so that it is told first to send nothing.

From 1.29 on, onnxruntime reports its use to its maker from the moment it is imported: it keeps an
id of the machine and a queue of events with the path of Python in the user's cache folder, and
looks up the host that it sends them to. Only a variable that is set before the import prevents it;
the call prevents the events that older versions trace on Windows.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any


class SessionError(Exception):
    """A network cannot be loaded; says why."""


@functools.cache
def runtime() -> Any:
    """Return onnxruntime, imported without its telemetry; raises ImportError as the import does."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # nothing is sent that its owner did not ask for
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def check_size(path: Path, size: int) -> None:
    """Raise SessionError where a file cannot be read or does not have so many bytes."""
    try:
        bytes_ = path.stat().st_size
    except OSError as error:
        raise SessionError(f"{path} cannot be read: {error.strerror}") from error
    if bytes_ != size:
        raise SessionError(f"{path} has {bytes_:,} bytes, not {size:,}")


def open_session(path: Path, size: int) -> Any:
    """Return the network of a file, to run one text at a time on one thread.

    `size` is how many bytes the file must have: a checksum of 24 MB would take as long as reading
    them, and a file cut short shows at once. Raises SessionError.
    """
    check_size(path, size)
    try:
        onnxruntime = runtime()
    except ImportError as error:  # also when a system library that it needs is missing
        raise SessionError(f"{error}") from error

    errors = onnxruntime.capi.onnxruntime_pybind11_state
    options = onnxruntime.SessionOptions()
    # one thread a run: runs go on side by side, and idle threads would spin beside them
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # each length of text is another shape, and caches by shape would grow with every one
    options.enable_mem_pattern = False
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3  # errors, which are raised as well
    # the graph is made as it should run, but for folding the 8-bit weights into float32 ones
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    providers = ["CPUExecutionProvider"]
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=providers)
    except (
        errors.Fail,
        errors.InvalidArgument,
        errors.InvalidGraph,
        errors.InvalidProtobuf,
        errors.NoSuchFile,
        errors.NotImplemented,
        errors.RuntimeException,
    ) as error:
        raise SessionError(f"onnxruntime: {error}") from error
