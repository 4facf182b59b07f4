"""Train the asker: questions go near the records that answer them, whose vectors stay."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everybody writes it

from asker.projects import Project, Question
from reader.network import Batch, Encoder

# EPOCHS, RATE and KEEP were chosen of a few by questions on logs that are not trained on
EPOCHS: Final = 3  # with more it learns its few questions by heart
RATE: Final = 5e-5
KEEP: Final = 1.0  # of the squared distance to where the embedder itself puts a question
HEAT: Final = 0.05  # a cosine's unit in the losses, as usual for vectors of length 1
RECORDS: Final = 0.5  # what the loss of records weighs beside that of turns
BATCH: Final = 48
DROPOUT: Final = 0.1
HIDDEN: Final = 0.05  # of the pieces of a question, so that none is relied on alone
DECAY: Final = 0.01
WARM: Final = 20  # steps up to the full rate
LEAST: Final = 0.05  # of the rate, at the end
STEEPEST: Final = 1.0  # length of a step's gradient
SEED: Final = 1
ROWS: Final = 64  # texts embedded at once where nothing is learnt
LONG: Final = 0.5  # power of a turn's number of records that its score is divided by


class Words:
    """The embedder's pieces of words."""

    def __init__(self, tokenizer: Tokenizer, rng: random.Random) -> None:
        """`tokenizer` cuts off what the embedder does not read; `rng` says what is hidden."""
        self._tokenizer = tokenizer
        self._rng = rng

    def batch(self, texts: Sequence[str], *, hidden: float = 0.0) -> Batch:
        """Encode texts, a share of their pieces left out; never the marks at both ends."""
        rows = []
        for text in texts:
            ids = self._tokenizer.encode(text).ids
            if hidden:
                inner = [i for i in ids[1:-1] if self._rng.random() > hidden]
                ids = [ids[0], *inner, ids[-1]]
            nothing = [0] * len(ids)
            rows.append({"ids": ids, "shapes": nothing, "segments": nothing, "first": [0]})
        return Batch.of(rows)


def embedded(encoder: Encoder, batch: Batch, *, dropout: float = 0.0) -> Tensor:
    """Return the vectors of texts as the embedder makes them, shape (texts, DIM), of length 1."""
    hidden = encoder(batch, dropout=dropout)
    real = batch.mask[..., None].to(hidden.dtype)
    return F.normalize((hidden * real).sum(1) / real.sum(1), dim=-1)


@torch.no_grad()
def vectors(encoder: Encoder, words: Words, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of any number of texts, nothing left out."""
    encoder.eval()
    parts = [
        embedded(encoder, words.batch(texts[n : n + ROWS])) for n in range(0, len(texts), ROWS)
    ]
    found: NDArray[np.float32] = torch.cat(parts).numpy()
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """A project's records among those of all projects."""

    turn_of: Tensor  # (records,)
    sizes: Tensor  # (turns,)
    begin: int
    end: int

    @classmethod
    def of(cls, project: Project, begin: int) -> _Place:
        turn_of = torch.from_numpy(project.turn_of)
        sizes = torch.bincount(turn_of, minlength=len(project.prompts)).float()
        return cls(turn_of, sizes, begin, begin + len(turn_of))


def turn_loss(near: Tensor, place: _Place, question: Question) -> Tensor:
    """Loss of a question among the turns of its project; `near` are their records' cosines.

    A turn's score is the soft maximum of its records, log sum exp(cosine / HEAT), less half the
    logarithm of how many they are: a long turn has more chances to hold something near. The loss
    is the cross-entropy of all right turns together among the turns.
    """
    summed = torch.zeros_like(place.sizes)
    # a cosine is at most 1, so that nothing overflows; 1e-30 keeps the logarithm finite
    summed = summed.scatter_add(0, place.turn_of, torch.exp((near - 1) / HEAT))
    scores = torch.log(summed + 1e-30) - LONG * torch.log(place.sizes)
    return torch.logsumexp(scores, 0) - torch.logsumexp(scores[question.turns], 0)


def record_loss(near: Tensor, place: _Place, question: Question) -> Tensor:
    """Loss of a question among the records of all projects; `near` are their cosines.

    The InfoNCE of contrastive learning (van den Oord et al. 2018), all records that answer taken
    together. As no record's vector ever changes, all stand against them and not a batch's alone;
    but not the others of the right turns, which are no answer and yet not wrong.
    """
    scores = near / HEAT
    right = scores[torch.tensor(question.records) + place.begin]
    beside = torch.zeros_like(scores, dtype=torch.bool)
    beside[place.begin : place.end] = torch.isin(place.turn_of, torch.tensor(question.turns))
    wrong = scores.masked_fill(beside, -1e9)
    return torch.logsumexp(torch.cat([right, wrong]), 0) - torch.logsumexp(right, 0)


def train(
    encoder: Encoder,
    projects: Sequence[Project],
    tokenizer: Tokenizer,
    *,
    say: Callable[[str], None],
) -> None:
    """Teach an encoder, which begins as the embedder, to embed questions.

    This is query-side fine-tuning, as of DensePhrases (Lee et al. 2021): what is searched keeps its
    vectors, and only what embeds a question learns. The loss of a question is that of its turns and
    of its records, and KEEP times the squared distance to its vector by the embedder, from which
    the few questions must not lead far. The tables of words and places, and the norm over them,
    stay as they are.
    """
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    words = Words(tokenizer, rng)
    items = [(n, question) for n, project in enumerate(projects) for question in project.questions]
    home = vectors(encoder, words, [question.text for _, question in items])
    before = {id(question): row for (_, question), row in zip(items, home, strict=True)}
    records = torch.from_numpy(np.concatenate([project.vectors for project in projects]))
    places: list[_Place] = []
    for project in projects:
        places.append(_Place.of(project, places[-1].end if places else 0))

    learnt = []
    for name, values in encoder.named_parameters():
        values.requires_grad_(name.partition(".")[2][:1].isdigit())  # "layers.0/qkv"
        if values.requires_grad:
            learnt.append(values)
    optimiser = torch.optim.AdamW(learnt, lr=RATE, weight_decay=DECAY)
    steps = EPOCHS * math.ceil(len(items) / BATCH)

    def rate(step: int) -> float:
        return min(1.0, (step + 1) / WARM) * max(LEAST, 1 - step / steps)

    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
    for epoch in range(1, EPOCHS + 1):
        rng.shuffle(items)
        encoder.train()
        total = 0.0
        for begin in range(0, len(items), BATCH):
            some = items[begin : begin + BATCH]
            batch = words.batch([question.text for _, question in some], hidden=HIDDEN)
            asked = embedded(encoder, batch, dropout=DROPOUT)
            near = asked @ records.T
            losses = []
            for row, (n, question) in zip(near, some, strict=True):
                place = places[n]
                losses.append(turn_loss(row[place.begin : place.end], place, question))
                if question.records:
                    losses.append(RECORDS * record_loss(row, place, question))
            kept = torch.from_numpy(np.stack([before[id(question)] for _, question in some]))
            distance = (asked - kept).square().sum(1).mean()
            loss = torch.stack(losses).sum() / len(some) + KEEP * distance
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learnt, STEEPEST)
            optimiser.step()
            schedule.step()
            total += float(loss.detach()) * len(some)
        say(f"epoch {epoch} of {EPOCHS}: loss {total / len(items):.3f}")
    encoder.eval()
