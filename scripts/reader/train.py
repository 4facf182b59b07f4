"""Train the reader's two networks: batches, losses, and the loop with its clock."""

from __future__ import annotations

import collections
import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everybody writes it

from factbook.language.reader.pieces import CLS, SEP, UNKNOWN, Pieces
from reader.network import Batch, Read, Reader, Relater, padded
from reader.rows import IGNORED, Row, joined, spoilt

Rows = Sequence[Any]
HIDDEN, HIDDEN_OF_PAIRS = 0.05, 0.10  # of the pieces of a text
SWAPPED = 0.5
ENTAILED = 0  # of corpora.INFERENCES
TAGGED = ("pos", "opinion", "mark", "cut", "end", "foreign")
WEIGHT = {"cut": 1.0, "act": 0.5, "of": 0.5, "keep": 1.0, "kind": 0.3, "flags": 1.0, "scope": 0.3}


# --- losses ---------------------------------------------------------------------------------------


def tag_loss(scores: Tensor, targets: Sequence[Sequence[int]]) -> Tensor:
    """Cross-entropy of tags of words; rows that are cut or filled up are ignored there."""
    width = scores.shape[1]
    table = padded([t[:width] for t in targets], fill=IGNORED, width=width)
    return F.cross_entropy(scores.flatten(0, 1), table.flatten(), ignore_index=IGNORED)


def name_loss(scores: Tensor, rows: Sequence[Row]) -> Tensor:
    """Loss of names where a corpus lacks a type: its outside is "outside or what it lacks"."""
    width = scores.shape[1]
    table = padded([r["name"][:width] for r in rows], fill=IGNORED, width=width)
    right = torch.zeros_like(scores, dtype=torch.bool)
    right.scatter_(2, table.clamp(min=0)[..., None], True)
    for i, row in enumerate(rows):
        if row.get("lacks"):
            right[i][:, row["lacks"]] |= (table[i] == 0)[:, None]
    logs = torch.log_softmax(scores, -1).masked_fill(~right, -1e4).logsumexp(-1)
    return -logs[table != IGNORED].mean()


def tree_loss(read: Read, rows: Sequence[Row]) -> Tensor:
    """Loss of heads and of their relations; a head that was cut off is ignored."""
    scores = read.arcs()
    width = scores.shape[1]

    def kept(row: Row, values: Sequence[int]) -> list[int]:
        count = len(row["first"])
        return [v if h <= count else IGNORED for h, v in zip(row["head"], values, strict=True)][
            :count
        ]

    heads = padded([kept(r, r["head"]) for r in rows], fill=IGNORED, width=width)
    relations = padded([kept(r, r["rel"]) for r in rows], fill=IGNORED, width=width)
    loss = F.cross_entropy(scores.flatten(0, 1), heads.flatten(), ignore_index=IGNORED)
    named = read.relations(heads.clamp(min=0))
    return loss + F.cross_entropy(named.flatten(0, 1), relations.flatten(), ignore_index=IGNORED)


def clause_loss(read: Read, rows: Sequence[Row]) -> Tensor:
    """Loss of what is said in each clause."""
    spans, right = [], []
    for i, row in enumerate(rows):
        for clause in row["clauses"]:
            begin, end = clause["span"]
            end = min(end, len(row["first"]))
            if begin < end:
                spans.append((i, begin, end))
                right.append(clause)
    scores = read.clauses(spans)
    loss = torch.zeros(())
    for part in ("act", "of", "kind"):
        target = torch.tensor([c[part] for c in right])
        if (target != IGNORED).any():
            loss = loss + WEIGHT[part] * F.cross_entropy(scores[part], target, ignore_index=IGNORED)
    judged = [i for i, c in enumerate(right) if c["keep"] != IGNORED]
    if judged:
        keep = torch.tensor([float(right[i]["keep"]) for i in judged])
        given = scores["keep"][judged, 0]
        loss = loss + WEIGHT["keep"] * F.binary_cross_entropy_with_logits(given, keep)
    flags = torch.tensor([c["flags"] for c in right], dtype=torch.float)
    each = F.binary_cross_entropy_with_logits(scores["flags"], flags, reduction="none")
    return loss + WEIGHT["flags"] * each.sum(1).mean() / 3


def kept_loss(read: Read, rows: Sequence[Row]) -> Tensor:
    """Loss of whether stretches of words are worth keeping, of which nothing else is known."""
    judged = [
        (i, begin, end, keep)
        for i, row in enumerate(rows)
        for begin, end, keep in row["kept"]
        if end <= len(row["first"])
    ]
    if not judged:
        return torch.zeros(())
    given = read.clauses([span[:3] for span in judged])["keep"][:, 0]
    keep = torch.tensor([float(span[3]) for span in judged])
    return F.binary_cross_entropy_with_logits(given, keep)


def reader_loss(net: Reader, rows: Sequence[Row]) -> Tensor:
    """Sum the losses of whatever the rows of one batch have targets for (all rows the same)."""
    return labelled_loss(net(Batch.of(rows)), rows)


def labelled_loss(read: Read, rows: Sequence[Row]) -> Tensor:
    """Sum the losses of whatever the rows of one batch have targets for (all rows the same)."""
    loss = torch.zeros(())
    for key in TAGGED:
        if key in rows[0]:
            loss = loss + tag_loss(read.tags(key), [r[key] for r in rows])
    if "name" in rows[0]:
        loss = loss + name_loss(read.tags("name"), rows)
    if "head" in rows[0]:
        loss = loss + tree_loss(read, rows)
    if "clauses" in rows[0]:
        loss = loss + clause_loss(read, rows)
    if "kept" in rows[0]:
        loss = loss + WEIGHT["keep"] * kept_loss(read, rows)
    if "prompt" in rows[0]:
        kinds = torch.tensor([r["prompt"] for r in rows])
        loss = loss + 0.5 * F.cross_entropy(read.prompt(), kinds)
        scoped = [
            (i, *s["span"], s["scope"])
            for i, r in enumerate(rows)
            for s in r["scopes"]
            if s["span"][1] <= len(r["first"])
        ]
        if scoped:
            scores = read.clauses([s[:3] for s in scoped])["scope"]
            right = torch.tensor([s[3] for s in scoped])
            loss = loss + WEIGHT["scope"] * F.cross_entropy(scores, right)
    return loss


class Anchor:
    """Loss of what a reader says otherwise than the one before it, where nobody labelled it.

    A reader that goes on to learn one thing from new rows drifts in all others, and with it what
    was chosen by its chances. So of each batch, what its rows have no targets for is held to what
    the old weights say (learning without forgetting: Li and Hoiem 2016).
    """

    def __init__(self, before: Reader) -> None:
        self.before = before.eval()

    def __call__(self, net: Reader, rows: Sequence[Row]) -> Tensor:
        batch = Batch.of(rows)
        read = net(batch)
        with torch.no_grad():
            old = self.before(batch, dropout=0.0)
        return labelled_loss(read, rows) + self.drift(read, old, rows)

    def drift(self, read: Read, old: Read, rows: Sequence[Row]) -> Tensor:
        """Sum the divergences of each head without targets, and of the words' own vectors."""
        real, has = read.batch.real, rows[0]
        vectors = F.cosine_similarity(read.words.float(), old.words.float(), dim=-1)
        root = F.cosine_similarity(read.root.float(), old.root.float(), dim=-1)
        loss = 1 - vectors[real].mean() + 1 - root.mean()
        for key in (*TAGGED, "name"):
            if key not in has:
                loss = loss + _apart(read.tags(key)[real], old.tags(key)[real])
        if "head" not in has:
            arcs = old.arcs()
            heads = arcs.argmax(-1)
            loss = loss + _apart(read.arcs()[real], arcs[real])
            loss = loss + _apart(read.relations(heads)[real], old.relations(heads)[real])
        if "clauses" not in has:
            spans = _cut(old)
            now, then = read.clauses(spans), old.clauses(spans)
            for part in ("act", "of", "kind"):
                loss = loss + WEIGHT[part] * _apart(now[part], then[part])
            for part in ("flags",) if "kept" in has else ("keep", "flags"):
                chances = then[part].sigmoid()
                least = F.binary_cross_entropy(chances, chances)
                each = F.binary_cross_entropy_with_logits(now[part], chances) - least
                loss = loss + WEIGHT[part] * each * then[part].shape[1] ** 0.5
        if "prompt" not in has:
            loss = loss + 0.5 * _apart(read.prompt(), old.prompt())
        return loss


def _apart(now: Tensor, then: Tensor) -> Tensor:
    """Kullback-Leibler divergence of scores (rows, labels) from older ones, of a mean row."""
    logs = torch.log_softmax(now, -1)
    return F.kl_div(logs, torch.log_softmax(then, -1), log_target=True, reduction="batchmean")


def _cut(read: Read) -> list[tuple[int, int, int]]:
    """Cut each text where a reader begins clauses: (text, first word, behind the last)."""
    spans = []
    begins = (read.tags("cut").argmax(-1) == 1) & read.batch.real
    for i, count in enumerate(read.batch.real.sum(1).tolist()):
        at = [0, *(n for n in begins[i].nonzero()[:, 0].tolist() if n), count]
        spans += [(i, a, b) for a, b in itertools.pairwise(at) if a < b]
    return spans


def relater_loss(net: Relater, rows: Sequence[Row]) -> Tensor:
    """Cross-entropy of whichever question the pairs of one batch answer."""
    part = next(k for k in Relater.PARTS if k in rows[0])
    scores = net(Batch.of(rows))
    right = torch.tensor([r[part] for r in rows])
    loss = F.cross_entropy(scores[part], right)
    if part == "inference":  # what follows from a text is supported by it, nothing else is
        loss = loss + 0.5 * F.cross_entropy(scores["support"], (right == ENTAILED).long())
    return loss


# --- batches --------------------------------------------------------------------------------------


def encoded(row: Row, pieces: Pieces, rng: random.Random | None) -> Row:
    """Give a row the network's numbers."""
    if "a" in row:
        a, b = row["a"], row["b"]
        if rng is not None and "relation" in row and rng.random() < SWAPPED:
            a, b = b, a  # which came first is known elsewhere; what they are to each other is kept
        made = {**row, **pieces.pair(a, b)._asdict()}
    else:
        if rng is not None:
            row = spoilt(row, rng)
        made = {**row, **pieces.text(row["words"], row.get("after", ()))._asdict()}
    if rng is not None:  # our own rows are few: what stays hidden cannot be learned by heart
        share = HIDDEN_OF_PAIRS if "a" in row and "inference" not in row else HIDDEN
        made["ids"] = [
            UNKNOWN if i not in (CLS, SEP) and rng.random() < share else i for i in made["ids"]
        ]
    return made


def by_size(rows: Sequence[Row], budget: int) -> Iterator[list[Row]]:
    """Group rows of like length so that a batch has at most `budget` pieces."""
    batch: list[Row] = []
    for row in sorted(rows, key=lambda r: len(r["ids"])):
        if batch and len(row["ids"]) * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def endless(rows: Rows, pieces: Pieces, rng: random.Random, budget: int) -> Iterator[list[Row]]:
    """Yield batches for ever, in another order each time round.

    Runs of sentences (lists of rows) are cut into pieces of one to four sentences, each time anew.
    """
    while True:
        order = list(rows)
        rng.shuffle(order)
        if order and isinstance(order[0], list):
            order = [part for run in order for part in parts_of(run, rng)]
            rng.shuffle(order)
        for i in range(0, len(order), 1500):
            some = [encoded(r, pieces, rng) for r in order[i : i + 1500]]
            batches: list[list[Row]] = []
            for alike in _same_targets(some):
                batches += by_size(alike, budget)
            rng.shuffle(batches)
            yield from batches


def parts_of(run: Sequence[Row], rng: random.Random) -> Iterator[Row]:
    i = 0
    while i < len(run):
        count = rng.choices((1, 2, 3, 4), (60, 20, 12, 8))[0]
        part = run[i : i + count]
        if sum(len(s["words"]) for s in part) > 110:
            part = part[:1]
        yield joined(part)
        i += len(part)


def _same_targets(rows: Sequence[Row]) -> list[list[Row]]:
    groups = collections.defaultdict(list)
    for row in rows:
        groups["name" in row].append(row)
    return list(groups.values())


# --- the loop -------------------------------------------------------------------------------------


def train(
    net: nn.Module,
    loss_of: Callable[[Any, Sequence[Row]], Tensor],
    sources: Mapping[str, tuple[float, Rows]],
    pieces: Pieces,
    *,
    steps: int,
    seed: int,
    encoder_rate: float = 2.5e-4,
    head_rate: float = 1e-3,
    budget: int = 1400,
    say: Callable[[str], None] = print,
    stop_after_s: float = float("inf"),
    rate: float = 1.0,
) -> None:
    """Train in place. `sources` maps a name to its share of the steps and its rows.

    `rate` scales both rates of learning: what goes on from trained weights needs less.
    """
    rng = random.Random(seed)
    torch.manual_seed(seed)
    slow = [*list(net.encoder.layers.parameters()), net.encoder.segments]
    held = {id(p) for p in slow}
    fast = [p for p in net.parameters() if id(p) not in held]
    groups = [
        {"params": slow, "lr": encoder_rate, "base": encoder_rate},
        {"params": fast, "lr": head_rate, "base": head_rate},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98))
    batches = {k: endless(rows, pieces, rng, budget) for k, (_, rows) in sources.items()}
    shares = [share for share, _ in sources.values()]
    running: dict[str, float] = {}
    # a processor that does not know the short numbers reckons far slower with them
    short = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    began = time.monotonic()
    net.train()
    for step in range(steps):
        done = max(step / steps, (time.monotonic() - began) / stop_after_s)
        if done >= 1:
            break
        name = rng.choices(list(sources), shares)[0]
        now = rate * min(1.0, (step + 1) / 150) * max(0.02, 1 - done)
        for group in optimiser.param_groups:
            group["lr"] = group["base"] * now
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=short):
            loss = loss_of(net, next(batches[name]))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        running[name] = 0.97 * running.get(name, float(loss)) + 0.03 * float(loss)
        if step % 100 == 99:
            losses = " ".join(f"{k} {v:.2f}" for k, v in running.items())
            say(f"{step + 1}/{steps} {(time.monotonic() - began) / 60:.1f} min {losses}")
    net.eval()
