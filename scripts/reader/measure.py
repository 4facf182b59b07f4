"""Measure the reader on rows that it was not trained on."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from factbook.language.reader import labels
from factbook.language.reader.decode import stretches
from factbook.language.reader.pieces import Pieces
from reader.network import Batch, Reader, Relater
from reader.rows import IGNORED, Row
from reader.train import by_size, encoded

Spans = set[tuple[int, int, str]]


class Count:
    """Right, wrongly given and missed."""

    def __init__(self) -> None:
        self.right = self.given = self.wanted = 0

    def add(self, given: set[Any], wanted: set[Any]) -> None:
        self.right += len(given & wanted)
        self.given += len(given)
        self.wanted += len(wanted)

    def figures(self) -> dict[str, float]:
        p, r = self.right / max(1, self.given), self.right / max(1, self.wanted)
        return {"P": round(p, 3), "R": round(r, 3), "F": round(2 * p * r / max(1e-9, p + r), 3)}


def spans_of(scores: np.ndarray, tags: Sequence[str], bias: float = 0.0) -> Spans:
    """Decode tags as the product does: (first, behind the last, type)."""
    return {(s.first, s.last, s.type) for s in stretches(scores, tags, bias=bias)}


def wanted_spans(tags: Sequence[int], names: Sequence[str]) -> Spans:
    """Turn tag numbers back into stretches."""
    found: Spans = set()
    i = 0
    while i < len(tags):
        if tags[i] <= 0 or not names[tags[i]].startswith("B"):
            i += 1
            continue
        kind = names[tags[i]][2:]
        j = i + 1
        while j < len(tags) and tags[j] > 0 and names[tags[j]] == f"I-{kind}":
            j += 1
        found.add((i, j, kind))
        i = j
    return found


@torch.no_grad()
def readings(net: Reader, rows: Sequence[Row], pieces: Pieces) -> list[dict[str, Any]]:
    """Run the network over rows; scores of each as numpy, cut to its words."""
    net.eval()
    numbered = [{**encoded(row, pieces, None), "n": i} for i, row in enumerate(rows)]
    results: list[dict[str, Any]] = [{} for _ in rows]
    for batch in by_size(numbered, 4000):
        read = net(Batch.of(batch))
        tags = {k: read.tags(k).numpy() for k in net.TAGS}
        arcs = read.arcs()
        heads = arcs.argmax(-1)
        relations = read.relations(heads).argmax(-1).numpy()
        prompt = read.prompt().numpy()
        for i, row in enumerate(batch):
            n = len(row["first"])
            made: dict[str, Any] = {k: v[i, :n] for k, v in tags.items()}
            made["head"], made["rel"] = heads[i, :n].numpy(), relations[i, :n]
            made["prompt"] = prompt[i]
            made["spans"] = [s[:2] for s in sorted(spans_of(made["cut"], labels.CLAUSE_TAGS))]
            right = [c["span"] for c in row.get("clauses", []) if c["span"][1] <= n]
            right += [s["span"] for s in row.get("scopes", []) if s["span"][1] <= n]
            for key, spans in (("clauses", made["spans"]), ("given", right)):
                if spans:
                    parts = read.clauses([(i, a, b) for a, b in spans])
                    made[key] = {k: v.numpy() for k, v in parts.items()}
            results[row["n"]] = made
    return results


def tree_figures(rows: Sequence[Row], read: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Share of words with the right part of speech, head, head and relation, and sentence ends."""
    c: collections.Counter[str] = collections.Counter()
    ends = Count()
    for n, (row, made) in enumerate(zip(rows, read, strict=True)):
        pos = made["pos"].argmax(-1)
        for i in range(len(pos)):
            c["words"] += 1
            c["pos"] += pos[i] == row["pos"][i]
            right = made["head"][i] == row["head"][i]
            c["uas"] += right
            c["las"] += right and made["rel"][i] == row["rel"][i]
        given = {(n, i) for i in np.flatnonzero(made["end"].argmax(-1))}
        ends.add(given, {(n, i) for i, e in enumerate(row["end"][: len(pos)]) if e})
    figures = {k: round(float(c[k] / c["words"]), 4) for k in ("pos", "uas", "las")}
    return {**figures, "ends F": ends.figures()["F"]}


def span_figures(
    rows: Sequence[Row],
    read: Sequence[dict[str, Any]],
    key: str,
    tags: Sequence[str],
    bias: float = 0.0,
) -> dict[str, dict[str, float]]:
    """Precision and recall of stretches, with and without their type."""
    typed, untyped = Count(), Count()
    for n, (row, made) in enumerate(zip(rows, read, strict=True)):
        given = {(n, *s) for s in spans_of(made[key], tags, bias)}
        unscored = {i for i, t in enumerate(row[key]) if t == IGNORED}
        given = {s for s in given if not unscored.intersection(range(s[1], s[2]))}
        lacks = {tags[i][2:] for i in row.get("lacks", ())}
        given = {s for s in given if s[3] not in lacks}
        wanted = {(n, *s) for s in wanted_spans(row[key][: len(made[key])], tags)}
        typed.add(given, wanted)
        untyped.add({s[:3] for s in given}, {s[:3] for s in wanted})
    return {"typed": typed.figures(), "spans": untyped.figures()}


def clause_figures(rows: Sequence[Row], read: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How clauses are cut, what is read of the right ones, and what would be kept of a turn."""
    cut, flags = Count(), {f: Count() for f in labels.FLAGS}
    right: collections.Counter[str] = collections.Counter()
    kept = {t: Covered() for t in (0.3, 0.4, 0.5, 0.6, 0.7)}
    given_kept = Count()
    for n, (row, made) in enumerate(zip(rows, read, strict=True)):
        clauses = [c for c in row["clauses"] if c["span"][1] <= len(made["cut"])]
        cut.add({(n, *s) for s in made["spans"]}, {(n, *c["span"]) for c in clauses})
        scores = made.get("given")
        for i, clause in enumerate(clauses):
            right["clauses"] += 1
            for part in ("act", "of", "kind"):
                if clause[part] != IGNORED:
                    right[part + " n"] += 1
                    right[part] += int(scores[part][i].argmax() == clause[part])
            given = scores["keep"][i, 0] > 0
            if clause["keep"] != IGNORED:
                kept_right = {(n, i)} if clause["keep"] else set()
                given_kept.add({(n, i)} if given else set(), kept_right)
            for j, f in enumerate(labels.FLAGS):
                flags[f].add(
                    {(n, i)} if scores["flags"][i, j] > 0 else set(),
                    {(n, i)} if clause["flags"][j] else set(),
                )
        _count_kept(kept, made, clauses)
    return {
        "cut": cut.figures(),
        **{p: round(right[p] / max(1, right[p + " n"]), 3) for p in ("act", "of", "kind")},
        "keep of right clauses": given_kept.figures(),
        "kept of turns": {t: count.figures() for t, count in kept.items()},
        "flags": {f: {**c.figures(), "n": c.wanted} for f, c in flags.items()},
    }


def _count_kept(
    kept: Mapping[float, Covered], made: dict[str, Any], clauses: Sequence[dict[str, Any]]
) -> None:
    """Count clauses that are read as kept; those on which readers differ count for nothing."""
    wanted = [c["span"] for c in clauses if c["keep"] == 1]
    unsure = [c["span"] for c in clauses if c["keep"] == IGNORED]
    chances = 1 / (1 + np.exp(-made["clauses"]["keep"][:, 0])) if made["spans"] else []
    for least, count in kept.items():
        given = [s for s, p in zip(made["spans"], chances, strict=True) if p > least]
        given = [s for s in given if not any(covers(s, u) for u in unsure)]
        count.wanted += len(wanted)
        count.given += len(given)
        count.found += sum(any(covers(w, g) for g in given) for w in wanted)
        count.right += sum(any(covers(w, g) for w in wanted) for g in given)


class Covered:
    """Stretches that are wanted or given, and those of either that the others cover."""

    def __init__(self) -> None:
        self.wanted = self.given = self.found = self.right = 0

    def figures(self) -> dict[str, float]:
        return {
            "P": round(self.right / max(1, self.given), 3),
            "R": round(self.found / max(1, self.wanted), 3),
        }


def covers(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Say whether two stretches share more than half of the shorter."""
    shared = min(a[1], b[1]) - max(a[0], b[0])
    return shared * 2 > min(a[1] - a[0], b[1] - b[0])


@torch.no_grad()
def pair_scores(net: Relater, rows: Sequence[Row], pieces: Pieces, part: str) -> np.ndarray:
    """Probabilities (rows, answers) of one question about pairs."""
    net.eval()
    numbered = [{**encoded(row, pieces, None), "n": i} for i, row in enumerate(rows)]
    chances = np.zeros((len(rows), Relater.PARTS[part]), np.float32)
    for batch in by_size(numbered, 4000):
        scores = torch.softmax(net(Batch.of(batch))[part], -1).numpy()
        for i, row in enumerate(batch):
            chances[row["n"]] = scores[i]
    return chances


def confusion(
    chances: np.ndarray, wanted: Sequence[int], names: Sequence[str]
) -> Mapping[str, Any]:
    """Share right, and for each answer what was given for it."""
    given = chances.argmax(-1)
    table = {
        names[w]: {
            names[g]: int(sum(1 for a, b in zip(wanted, given, strict=False) if a == w and b == g))
            for g in range(len(names))
        }
        for w in range(len(names))
    }
    return {"right": round(float(np.mean(given == np.array(wanted))), 3), "given": table}
