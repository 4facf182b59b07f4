"""Write the asker as 8-bit ONNX that shares its table of words with the embedder, and run it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

import make_embedder
from factbook.embed.runtime import open_session
from reader import export as shared
from reader import files
from reader.network import Encoder

FILE: Final = "asker.onnx"
RECORD: Final = "asker.json"

Floats = NDArray[np.float32]


def asker(encoder: Encoder, folder: Path) -> None:
    """Write `asker.onnx`: the words' vectors (texts, tokens, DIM) to unit `vectors` (texts, DIM).

    All texts of a batch have the same number of tokens, as those of the embedder have.
    """
    weights = {
        name.replace("/", "."): values.detach().float().numpy()
        for name, values in encoder.layers.items()
    }
    weights["words"] = np.zeros((make_embedder.BLOCK, make_embedder.DIM), np.float32)  # goes again
    # each token of a question is of segment 0 and shape 0, so both go where the positions are
    first = encoder.segments[0] + encoder.shapes[0]
    weights["positions"] = (encoder.positions + first).detach().float().numpy()
    model = make_embedder.build(weights, quantised=True)
    shared.words_for_ids(model)
    shared.save(model, folder / FILE)


def record(
    folder: Path, embedder: Path, figures: Mapping[str, Any], questions: int
) -> dict[str, Any]:
    """Write `asker.json`: what was written, where the table of words lies, and how good it is."""
    made = {
        "files": {FILE: files.written(folder)[FILE]},
        "words": shared.places(embedder),
        "figures": dict(figures),
        "questions": questions,
    }
    (folder / RECORD).write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    return made


class Asker:
    """The written asker, run as factbook runs it: each text by itself."""

    def __init__(self, path: Path, embedder: Path, tokenizer: Tokenizer) -> None:
        """`path` is that of `asker.onnx`, `embedder` that of the embedder's `model.onnx`."""
        self._session = open_session(path, path.stat().st_size)
        self._words = make_embedder.dequantised_weights(embedder)["words"]
        self._tokenizer = tokenizer

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Return one row for each text, shape (texts, DIM), each of length 1."""
        encodings = self._tokenizer.encode_batch(list(texts))
        rows = [
            self._session.run(None, {"words": self._words[encoding.ids][None]})[0]
            for encoding in encodings
        ]
        return np.concatenate(rows)
