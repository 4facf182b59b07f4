"""Write a language model of random weights, small enough to be made on the spot.

It knows nothing: it is there so that a real server has something to run. Two things are not left to
chance. Its vocabulary is the 256 bytes, so that every text has tokens. And one dimension of its
state is the same for every token, by which the output layer leans to the signs that end a text, a
list or an object: else a text, once begun, would go on until the context is full.
"""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

CONTEXT = 8_192
WIDTH = 64
HEADS = 4
HIDDEN = 128
LAYERS = 1
NAME = "tiny-random"

_SPECIAL = ("<unk>", "<s>", "</s>")
_SPECIAL_TYPES = (
    int(gguf.TokenType.UNKNOWN),
    int(gguf.TokenType.CONTROL),
    int(gguf.TokenType.CONTROL),
)
_TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}assistant:"
)
_LEANINGS = {'"': 4.0, "{": 4.0, "]": 3.0, "}": 3.0}  # in logits
_END = 5.0  # so that free text ends too
_NEVER = -30.0  # bytes that alone are no UTF-8: a server that checks its output fails by them
_CHANCE = 2.0  # how far random weights spread the logits
_LETTERS = 2.0  # so that a text is letters rather than control characters


def write_model(path: Path, *, seed: int = 1) -> None:
    """Write a model file of about 300 kB; the same one for the same seed."""
    rng = np.random.default_rng(seed)
    tokens = [*(word.encode() for word in _SPECIAL), *(b"<0x%02X>" % one for one in range(256))]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name(NAME)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([*_SPECIAL_TYPES, *[int(gguf.TokenType.BYTE)] * 256])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_chat_template(_TEMPLATE)

    def random(*shape: int, scale: float = 1.0) -> NDArray[np.float32]:
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    one = np.ones(WIDTH, dtype=np.float32)
    inner = 1 / WIDTH**0.5
    embedding, output = (
        random(len(tokens), WIDTH),
        random(len(tokens), WIDTH, scale=_CHANCE * inner),
    )
    embedding[:, 0] = 4.0
    output[:, 0] = _leanings(len(tokens))
    writer.add_tensor("token_embd.weight", embedding)
    for layer in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", random(WIDTH, WIDTH, scale=inner))
        writer.add_tensor(f"blk.{layer}.attn_norm.weight", one)
        writer.add_tensor(f"blk.{layer}.ffn_norm.weight", one)
        writer.add_tensor(f"blk.{layer}.ffn_gate.weight", random(HIDDEN, WIDTH, scale=inner))
        writer.add_tensor(f"blk.{layer}.ffn_up.weight", random(HIDDEN, WIDTH, scale=inner))
        writer.add_tensor(f"blk.{layer}.ffn_down.weight", random(WIDTH, HIDDEN, scale=inner))
    writer.add_tensor("output_norm.weight", one)
    writer.add_tensor("output.weight", output)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _leanings(count: int) -> NDArray[np.float32]:
    """Return how much each token is preferred, as weights of the dimension that is always there."""
    logits = np.zeros(count, dtype=np.float32)
    logits[_SPECIAL.index("</s>")] = _END
    begin = len(_SPECIAL)
    logits[begin + 0x80 :] = _NEVER
    logits[begin + ord("a") : begin + ord("z") + 1] = _LETTERS
    for sign, logit in _LEANINGS.items():
        logits[begin + ord(sign)] = logit
    return logits / 3.0  # about what that dimension is after the norm
