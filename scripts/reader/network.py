"""The reader's networks in torch: a MiniLM whose word and position tables stay frozen, with heads.

Parameters are named and laid out as `make_embedder.build` takes them (inputs along rows), so that
what is trained is what is exported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everybody writes it

from factbook.language.reader import labels

LAYERS, ATTENTION_HEADS, DIM, EPSILON = 6, 12, 384, 1e-12
SHAPES = 8
ARC, REL, CLAUSE = 192, 96, 192


class Encoder(nn.Module):
    """Token ids to hidden states (texts, tokens, DIM); tables of words and places are fixed."""

    def __init__(self, weights: Mapping[str, Any], segments: Any) -> None:
        """`weights` as `make_embedder.layer_weights` gives them; `segments` (2, DIM)."""
        super().__init__()
        tables = {"words", "positions"}
        for name in tables:
            self.register_buffer(name, torch.tensor(weights[name]), persistent=False)
        self.layers = nn.ParameterDict(
            {
                name.replace(".", "/"): nn.Parameter(torch.tensor(values))
                for name, values in weights.items()
                if name not in tables
            }
        )
        # row 0 of the segments is part of the positions already
        second = torch.tensor(segments[1] - segments[0])
        self.segments = nn.Parameter(torch.stack([torch.zeros_like(second), second]))
        self.shapes = nn.Parameter(torch.zeros(SHAPES, DIM))

    def forward(self, batch: Batch, *, dropout: float) -> Tensor:
        p = self.layers

        def drop(x: Tensor) -> Tensor:
            return F.dropout(x, dropout, self.training)

        def norm(x: Tensor, name: str) -> Tensor:
            return F.layer_norm(x, (DIM,), p[name + "/scale"], p[name + "/bias"], EPSILON)

        def linear(x: Tensor, name: str) -> Tensor:
            return x @ p[name] + p[name + "/bias"]

        texts, tokens = batch.ids.shape
        hidden = self.words[batch.ids] + self.positions[:tokens]
        hidden = hidden + self.segments[batch.segments] + self.shapes[batch.shapes]
        hidden = drop(norm(hidden, "norm"))
        seen = batch.mask[:, None, None, :]
        for i in range(LAYERS):
            three = linear(hidden, f"{i}/qkv").view(texts, tokens, 3, ATTENTION_HEADS, -1)
            q, k, v = three.permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
            mixed = linear(mixed.transpose(1, 2).reshape(texts, tokens, DIM), f"{i}/mix")
            hidden = norm(hidden + drop(mixed), f"{i}/mix/norm")
            wide = F.gelu(linear(hidden, f"{i}/up"))
            hidden = norm(hidden + drop(linear(wide, f"{i}/down")), f"{i}/down/norm")
        return hidden


@dataclass
class Batch:
    """Texts side by side, with what is right of them where that is known."""

    ids: Tensor  # (texts, tokens)
    mask: Tensor  # (texts, tokens), true for a token
    shapes: Tensor
    segments: Tensor
    first: Tensor  # (texts, words): a word's first token
    real: Tensor  # (texts, words), true for a word
    rows: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> Batch:
        """Pad encoded rows to one length."""

        def table(name: str, dtype: torch.dtype = torch.long) -> Tensor:
            return padded([row[name] for row in rows], fill=0).to(dtype)

        lengths = torch.tensor([len(row["ids"]) for row in rows])
        words = torch.tensor([len(row["first"]) for row in rows])
        ids, first = table("ids"), table("first")
        return cls(
            ids=ids,
            mask=torch.arange(ids.shape[1])[None] < lengths[:, None],
            shapes=table("shapes"),
            segments=table("segments"),
            first=first,
            real=torch.arange(first.shape[1])[None] < words[:, None],
            rows=list(rows),
        )


def padded(rows: Sequence[Sequence[int]], *, fill: int, width: int = 0) -> Tensor:
    """Put lists of numbers into one table, short ones filled up."""
    width = max(width, *(len(row) for row in rows))
    table = torch.full((len(rows), width), fill, dtype=torch.long)
    for i, row in enumerate(rows):
        table[i, : len(row)] = torch.tensor(row, dtype=torch.long)
    return table


class Reader(nn.Module):
    """One encoder and a head for everything that is read of a text."""

    TAGS: ClassVar = {
        "pos": labels.POS,
        "name": labels.NAME_TAGS,
        "opinion": labels.OPINION_TAGS,
        "mark": labels.MARK_TAGS,
        "cut": labels.CLAUSE_TAGS,
        "foreign": labels.FOREIGN_TAGS,
        "end": ("inside", "end"),
    }
    CLAUSE_PARTS: ClassVar = {
        "act": len(labels.ACTS),
        "of": len(labels.OWNERS),
        "keep": 1,
        "kind": len(labels.KINDS),
        "flags": len(labels.FLAGS),
        "scope": len(labels.SCOPES),
    }

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.tags = nn.ModuleDict({k: nn.Linear(DIM, len(v)) for k, v in self.TAGS.items()})
        self.arc_head, self.arc_word = nn.Linear(DIM, ARC), nn.Linear(DIM, ARC)
        self.rel_head, self.rel_word = nn.Linear(DIM, REL), nn.Linear(DIM, REL)
        self.arc = nn.Parameter(torch.empty(ARC + 1, ARC))
        nn.init.xavier_uniform_(self.arc)
        self.rel = nn.Parameter(torch.randn(len(labels.RELATIONS), REL + 1, REL + 1) * 0.02)
        self.clause = nn.Linear(2 * DIM, CLAUSE)
        self.parts = nn.ModuleDict({k: nn.Linear(CLAUSE, n) for k, n in self.CLAUSE_PARTS.items()})
        self.prompt = nn.Linear(DIM, len(labels.PROMPT_TYPES))

    def forward(self, batch: Batch, *, dropout: float = 0.1) -> Read:
        hidden = self.encoder(batch, dropout=dropout)
        words = hidden.gather(1, batch.first[..., None].expand(-1, -1, DIM))
        return Read(self, hidden[:, :1], words, batch)


class Read:
    """What the network makes of a batch; each head is computed when it is asked for."""

    def __init__(self, net: Reader, root: Tensor, words: Tensor, batch: Batch) -> None:
        self.net, self.root, self.words, self.batch = net, root, words, batch

    def tags(self, name: str) -> Tensor:
        """Scores (texts, words, labels)."""
        scores: Tensor = self.net.tags[name](self.words)
        return scores.float()

    def arcs(self) -> Tensor:
        """Scores (texts, words, 1 + words): of which word each hangs; column 0 is the root."""
        heads = F.gelu(self.net.arc_head(torch.cat([self.root, self.words], 1)))
        words = F.gelu(self.net.arc_word(self.words))
        words = torch.cat([words, torch.ones_like(words[..., :1])], -1)
        scores = (words @ self.net.arc) @ heads.transpose(1, 2) / 8
        real = torch.cat([torch.ones_like(self.batch.real[:, :1]), self.batch.real], 1)
        return scores.float().masked_fill(~real[:, None], -1e4)

    def relations(self, heads: Tensor) -> Tensor:
        """Scores (texts, words, relations), given each word's head."""
        sources = F.gelu(self.net.rel_head(torch.cat([self.root, self.words], 1)))
        words = F.gelu(self.net.rel_word(self.words))
        sources = sources.gather(1, heads[..., None].expand(-1, -1, REL))
        one = torch.ones_like(words[..., :1])
        words, sources = torch.cat([words, one], -1), torch.cat([sources, one], -1)
        return torch.einsum("bxi,rij,bxj->bxr", words, self.net.rel, sources).float()

    def clauses(self, spans: Sequence[tuple[int, int, int]]) -> dict[str, Tensor]:
        """Scores of stretches of words, each (text, first word, word after the last)."""
        pooled = torch.stack([self.words[i, a:b].mean(0) for i, a, b in spans])
        whole = torch.stack([self.root[i, 0] for i, _, _ in spans])
        state = F.gelu(self.net.clause(torch.cat([pooled, whole], -1)))
        return {name: part(state).float() for name, part in self.net.parts.items()}

    def prompt(self) -> Tensor:
        """Scores (texts, types of prompts)."""
        scores: Tensor = self.net.prompt(self.root[:, 0])
        return scores.float()


class Relater(nn.Module):
    """A second copy that reads two texts at once: what the second is to the first.

    Of a question, with nothing beside it, whose matter it is.
    """

    PARTS: ClassVar = {
        "relation": len(labels.PAIRS),
        "inference": 3,
        "support": 2,
        "matter": len(labels.MATTERS),
    }

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.state = nn.Linear(2 * DIM, DIM)
        self.parts = nn.ModuleDict({k: nn.Linear(DIM, n) for k, n in self.PARTS.items()})

    def forward(self, batch: Batch, *, dropout: float = 0.1) -> dict[str, Tensor]:
        hidden = self.encoder(batch, dropout=dropout)
        real = batch.mask[..., None].to(hidden.dtype)
        mean = (hidden * real).sum(1) / real.sum(1)
        state = F.gelu(self.state(torch.cat([hidden[:, 0], mean], -1)))
        state = F.dropout(state, dropout, self.training)
        return {name: part(state).float() for name, part in self.parts.items()}
