"""Name the reader's files: how large they are, their checksums, and the version that they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import make_embedder


def write(folder: Path, told: Mapping[str, Any]) -> dict[str, Any]:
    """Write `reader.json` of a folder, with what else is told of it, and return it."""
    named = written(folder)
    joined = " ".join(entry["sha256"] for entry in named.values())
    version = "reader-" + make_embedder.digest(joined.encode())[:12]
    made = {
        "version": version,
        "words": told["words"],
        "files": named,
        "figures": told["figures"],
    }
    (folder / "reader.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    return made


def written(folder: Path) -> dict[str, Any]:
    """Say how large the networks' files of a folder are, and their checksums."""
    files = [p for p in sorted(folder.iterdir()) if p.suffix in (".onnx", ".npz")]
    return {
        p.name: {"bytes": p.stat().st_size, "sha256": make_embedder.digest(p.read_bytes())}
        for p in files
    }
