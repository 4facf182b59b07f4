"""Measure retrieval: evidence recall on dialogs (LoCoMo) and on shared or own pools (LongMemEval).

    python -m bench.retrieval --locomo FILE [--variants] [--predictions OUT] [--json]
    python -m bench.retrieval --longmemeval QUESTIONS --distractors FILE [--predictions OUT]
    python -m bench.retrieval --longmemeval-s FILE [--limit N] [--predictions OUT] [--json]

Without a file it looks for the development sets below the data folder. No language model is in the
loop. Predictions are written before anything is scored.

LoCoMo: each conversation is its own owner and the unit is a dialog turn, "Speaker: text [image:
caption]". Recall of a question is the share of its evidence turns among the first k; questions
without evidence are dropped. LongMemEval: the unit is a session; recall_any@k asks for one evidence
session among the first k, recall_all@k for all of them. The two differ by ten points, so both are
named wherever they are printed.
"""

from __future__ import annotations

import argparse
import atexit
import json
import math
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

import apsw
import numpy as np
from numpy.typing import NDArray

from bench._common import BenchError, data_dir, emit, print_table, run
from factbook.memory import Memory
from factbook.model.facts import Episode, EpisodeKind, Role, Source, Trust
from factbook.recall import query
from factbook.recall.rank import DEFAULT_WEIGHTS, CandidatePool, RankWeights, fuse
from factbook.recall.time_expressions import DAY_MS, find_window, to_ms
from factbook.store.rows import Filters
from factbook.store.sqlite.text import fts_query

CUTS: Final = (5, 10, 25, 50)
SESSION_CUTS: Final = (5, 10)
SESSIONS_KEPT: Final = 20  # sessions in a line of predictions
LEG: Final = 300  # rows taken from each leg before the turns around them are added
CATEGORIES: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
TOLD_WITHIN_DAYS: Final = 7  # people speak of a day some days later
STEMMED: Final = "porter unicode61 remove_diacritics 2"
UNSTEMMED: Final = "unicode61 remove_diacritics 2"

# Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents" (ACL 2024),
# Table 3: the DRAGON retriever over dialog turns, all ten conversations, recall at 5, 10, 25, 50.
PAPER: Final = {
    "all": (56.7, 66.2, 76.7, 82.7),
    "single-hop": (68.0, 77.7, 87.1, 91.1),
    "multi-hop": (35.4, 46.6, 62.5, 73.0),
    "temporal": (70.4, 77.3, 83.5, 89.6),
    "open-domain": (33.1, 40.8, 52.6, 61.7),
    "adversarial": (43.9, 54.7, 66.3, 72.5),
}

Vectors = NDArray[np.float32]
Ranker = Callable[[str, int], list[str]]
"""Order units for a question: the ids of the best k, best first."""


class Embeds(Protocol):
    """Turn texts into normalised vectors, one row each."""

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Embed texts."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One thing that can be found."""

    id: str  # what a prediction names
    text: str
    session: int  # number of the session it belongs to
    position: int  # its ordinal there
    when: datetime | None  # when the session took place


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question and what answers it."""

    id: str
    text: str
    category: str
    gold: tuple[str, ...]  # ids of evidence units


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One owner's memory and the questions put to it."""

    id: str
    units: tuple[Unit, ...]
    questions: tuple[Question, ...]


# The rankers: the product's, and what stands beside it


def product_ranker(conversation: Conversation, embedder: Embeds) -> Ranker:
    """Rank by `Memory.recall`, over a store of the conversation's own."""
    folder = Path(tempfile.mkdtemp(prefix="factbook-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    now = max((to_ms(unit.when) for unit in conversation.units if unit.when), default=0)
    memory = Memory(folder / "bench.db", key_file=folder / "key", redact=False, clock=lambda: now)
    speakers = query.speakers(unit.text for unit in conversation.units)
    by_session: dict[int, list[Unit]] = {}
    for unit in conversation.units:
        by_session.setdefault(unit.session, []).append(unit)
    for session, units in by_session.items():
        key = f"{conversation.id}/{session}"
        source = Source(key=key, kind="conversation", host="bench", session=key, uri=key)
        memory.sources.record(source, [_episode(unit, source.key, speakers) for unit in units])
    memory.embed()
    unit_ids = {_uid(unit): unit.id for unit in conversation.units}
    unit_of = {
        episode.id: unit_ids[episode.uid]
        for episode in memory.store.episodes(Filters(), limit=None)
    }

    def rank(question: str, k: int) -> list[str]:
        hits = memory.recall(question, limit=k).hits
        return [unit_of[int(hit.id[1:])] for hit in hits]

    return rank


def _uid(unit: Unit) -> str:
    """Return what identifies a unit in the store; several of one session may share its id."""
    return f"{unit.id}@{unit.session}.{unit.position}"


def _episode(unit: Unit, source: str, speakers: frozenset[str]) -> Episode:
    said_by = query.speaker_of(unit.text) or ""
    return Episode(
        uid=_uid(unit),
        source=source,
        kind=EpisodeKind.TURN,
        role=Role.USER,
        trust=Trust.DIRECT,
        text=unit.text,
        position=unit.position + 1,
        offset=0,
        occurred_at=to_ms(unit.when) if unit.when else None,
        speaker=said_by if said_by in speakers else "",
    )


def pool_ranker(
    conversation: Conversation,
    embedder: Embeds,
    *,
    weights: RankWeights = DEFAULT_WEIGHTS,
    names: bool = True,
) -> Ranker:
    """Rank in memory: two legs, the turns around what they found, one fusion.

    Without `names` the question stays as it is, and nobody counts as named.
    """
    units = conversation.units
    index = _FullText([unit.text for unit in units], tokenizer=STEMMED)
    vectors = embedder.embed([unit.text for unit in units])
    row_at = {(unit.session, unit.position): row for row, unit in enumerate(units)}
    speakers = query.speakers(unit.text for unit in units) if names else frozenset[str]()
    now = max((unit.when for unit in units if unit.when), default=None)

    def rank(question: str, k: int) -> list[str]:
        named = query.named_speakers(question, speakers)
        terms = query.without_names(query.content_terms(question), named)
        found = index.search(terms, LEG)
        cosine = vectors @ embedder.embed([query.first_person(question, named)])[0]
        near = np.argsort(-cosine, kind="stable")[:LEG]
        around = {
            row_at.get((units[row].session, units[row].position + offset))
            for row in {*found, *map(int, near)}
            for offset in range(-weights.reach, weights.reach + 1)
        }
        rows = sorted(row for row in around if row is not None)
        timely = _in_time(question, now)
        ranking = fuse(
            CandidatePool(
                ids=np.array(rows, np.int64),
                sources=np.array([units[row].session for row in rows], np.int64),
                positions=np.array([units[row].position for row in rows], np.int64),
                lexical=np.array([found.get(row, np.nan) for row in rows], np.float64),
                cosine=cosine[rows].astype(np.float64),
                asks=np.array([query.asks(units[row].text) for row in rows], np.bool_),
                named=np.array([query.speaker_of(units[row].text) in named for row in rows], bool),
                lengths=np.array([len(units[row].text) for row in rows], np.int64),
                timely=np.array([timely(units[row]) for row in rows], np.bool_),
            ),
            weights=weights,
        )
        return [units[rows[place]].id for place in ranking.order[:k]]

    return rank


def _in_time(question: str, now: datetime | None) -> Callable[[Unit], bool]:
    """Return the test whether a unit was told in the time that a question names, or soon after."""
    window = find_window(question, now=to_ms(now), zone=UTC) if now else None
    if window is None:
        return lambda unit: False
    since = -math.inf if window.since is None else window.since
    until = math.inf if window.until is None else window.until + TOLD_WITHIN_DAYS * DAY_MS
    return lambda unit: unit.when is not None and since <= to_ms(unit.when) < until


def bm25_ranker(conversation: Conversation, *, tokenizer: str) -> Ranker:
    """Rank by FTS5's BM25 alone."""
    units = conversation.units
    index = _FullText([unit.text for unit in units], tokenizer=tokenizer)
    return lambda question, k: [
        units[row].id for row in index.search(query.content_terms(question), k)
    ]


def vector_ranker(conversation: Conversation, embedder: Embeds) -> Ranker:
    """Rank by the cosine of the question and the unit alone."""
    units = conversation.units
    vectors = embedder.embed([unit.text for unit in units])

    def rank(question: str, k: int) -> list[str]:
        cosine = vectors @ embedder.embed([question])[0]
        return [units[row].id for row in np.argsort(-cosine, kind="stable")[:k]]

    return rank


def rank_fusion_ranker(conversation: Conversation, embedder: Embeds) -> Ranker:
    """Rank by equal-weight reciprocal rank fusion of stemmed BM25 and vectors."""
    legs = (
        bm25_ranker(conversation, tokenizer=STEMMED),
        vector_ranker(conversation, embedder),
    )

    def rank(question: str, k: int) -> list[str]:
        score: dict[str, float] = {}
        for leg in legs:
            for place, unit in enumerate(leg(question, LEG), start=1):
                score[unit] = score.get(unit, 0.0) + 1 / (60 + place)
        return sorted(score, key=lambda unit: (-score[unit], unit))[:k]

    return rank


PARTS: Final = ("after", "before", "answer", "nearby", "asking", "speaker", "length", "timely")


def variants() -> dict[str, RankWeights]:
    """Name the ranking's weights as they are, and with one of them changed."""
    changes: dict[str, dict[str, float]] = {
        "as shipped": {},
        "legs alone": dict.fromkeys(PARTS, 0.0),
    }
    for part in PARTS:
        value = getattr(DEFAULT_WEIGHTS, part)
        for factor in (0.0, 0.5, 1.5, 2.0):
            changes[f"{part} {value * factor:g}"] = {part: value * factor}
    for value in (0.5, 0.75, 1.25, 2.0):
        changes[f"lexical {value:g}"] = {"lexical": value}
    for value in (1.0, 1.25, 1.75, 2.0):
        changes[f"sharpness {value:g}"] = {"sharpness": value}
    changed = {
        name: RankWeights(**{**asdict(DEFAULT_WEIGHTS), **change})
        for name, change in changes.items()
    }
    return changed | {
        f"reach {value}": replace(DEFAULT_WEIGHTS, reach=value) for value in (3, 5, 12, 20)
    }


def rankers(
    conversation: Conversation, embedder: Embeds
) -> Iterator[tuple[str, Callable[[], Ranker]]]:
    """Name every ranker of a run, the product's first; each is built when it is called."""
    yield "factbook", lambda: product_ranker(conversation, embedder)
    yield "BM25", lambda: bm25_ranker(conversation, tokenizer=UNSTEMMED)
    yield "BM25, stemmed", lambda: bm25_ranker(conversation, tokenizer=STEMMED)
    yield "vectors", lambda: vector_ranker(conversation, embedder)
    yield "rank fusion", lambda: rank_fusion_ranker(conversation, embedder)


class _FullText:
    """An FTS5 index in memory."""

    def __init__(self, texts: Sequence[str], *, tokenizer: str) -> None:
        self._db = apsw.Connection(":memory:")
        self._db.execute(f"CREATE VIRTUAL TABLE unit USING fts5(text, tokenize='{tokenizer}')")
        self._db.executemany("INSERT INTO unit(rowid, text) VALUES (?, ?)", enumerate(texts))

    def search(self, terms: list[str], limit: int) -> dict[int, float]:
        """Return row and BM25 (larger is better) of the best rows, best first."""
        if not terms:
            return {}
        hits = self._db.execute(
            "SELECT rowid, -bm25(unit) FROM unit WHERE unit MATCH ? ORDER BY rank, rowid LIMIT ?",
            (fts_query(terms), limit),
        )
        return {int(row): float(score) for row, score in hits}


class _Remembering:
    """Embed each text once per run: haystacks repeat each other's sessions."""

    def __init__(self, embedder: Embeds) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    def embed(self, texts: Sequence[str], /) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.embed(new), strict=True))
        return np.stack([self._known[text] for text in texts])


# The files


def read_locomo(path: Path) -> list[Conversation]:
    """Read LoCoMo conversations; questions without evidence are dropped."""
    conversations = []
    for sample in _read_list(path):
        dialog = sample["conversation"]
        numbers = sorted(int(m[1]) for key in dialog if (m := re.fullmatch(r"session_(\d+)", key)))
        units = [
            Unit(
                id=turn["dia_id"],
                text=_turn_text(turn),
                session=number,
                position=position,
                when=_locomo_date(dialog.get(f"session_{number}_date_time")),
            )
            for number in numbers
            for position, turn in enumerate(dialog[f"session_{number}"])
        ]
        questions = [
            Question(
                id=str(number),
                text=item["question"],
                category=CATEGORIES[item["category"]],
                gold=gold,
            )
            for number, item in enumerate(sample["qa"])
            if (gold := _evidence(item.get("evidence") or []))
        ]
        conversations.append(
            Conversation(id=sample["sample_id"], units=tuple(units), questions=tuple(questions))
        )
    return conversations


def _turn_text(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['speaker']}: {turn['text']}" + (f" [image: {caption}]" if caption else "")


def _evidence(marks: Iterable[str]) -> tuple[str, ...]:
    """Return the turn ids in the marks, each once: "D8:6; D9:17" names two, "D:11:26" is D11:26."""
    found = (m for mark in marks for m in re.finditer(r"D\s*:?(\d+):(\d+)", mark))
    return tuple(dict.fromkeys(f"D{int(m[1])}:{int(m[2])}" for m in found))


def _locomo_date(text: str | None) -> datetime | None:
    return _moment(text, "%I:%M %p on %d %B, %Y")


def _lme_date(text: str | None) -> datetime | None:
    return _moment(text, "%Y/%m/%d (%a) %H:%M")


def _moment(text: str | None, form: str) -> datetime | None:
    return datetime.strptime(text, form).replace(tzinfo=UTC) if text else None


def read_longmemeval(questions: Path, distractors: Path) -> list[Conversation]:
    """Read questions with their evidence sessions and put all sessions into one shared pool."""
    sessions: list[tuple[str, str | None, list[str]]] = []
    asked = []
    for item in _read_list(questions):
        gold = []
        for number, session in enumerate(item["evidence_sessions"]):
            gold.append(f"{item['question_id']}#{number}")
            texts = [turn["content"] for turn in session["turns"]]
            sessions.append((gold[-1], session.get("date"), texts))
        if gold:
            asked.append(
                Question(
                    id=item["question_id"],
                    text=item["question"],
                    category=item.get("question_type") or "unnamed",
                    gold=tuple(gold),
                )
            )
    sessions += [
        (item["id"], item.get("timestamp"), [item["text"]]) for item in _read_list(distractors)
    ]
    return [Conversation(id="shared", units=_session_units(sessions), questions=tuple(asked))]


def read_longmemeval_s(path: Path, *, limit: int | None = None) -> Iterator[Conversation]:
    """Read `longmemeval_s_cleaned.json`: each question has a haystack of its own.

    Questions that nothing in their haystack answers (`_abs`) are dropped, as the published figures
    do.
    """
    kept = 0
    for item in _read_list(path):
        if item["question_id"].endswith("_abs") or not item["answer_session_ids"]:
            continue
        if limit is not None and kept >= limit:
            return
        kept += 1
        haystack = zip(
            item["haystack_session_ids"],
            item["haystack_dates"],
            item["haystack_sessions"],
            strict=True,
        )
        sessions = [
            (name, date, [turn["content"] for turn in turns]) for name, date, turns in haystack
        ]
        yield Conversation(
            id=item["question_id"],
            units=_session_units(sessions),
            questions=(
                Question(
                    id=item["question_id"],
                    text=item["question"],
                    category=item["question_type"],
                    gold=tuple(item["answer_session_ids"]),
                ),
            ),
        )


def _session_units(sessions: Iterable[tuple[str, str | None, list[str]]]) -> tuple[Unit, ...]:
    """Make a unit of every turn; its id is the session's, which stands as high as its best turn."""
    return tuple(
        Unit(id=name, text=text, session=number, position=position, when=_lme_date(date))
        for number, (name, date, texts) in enumerate(sessions)
        for position, text in enumerate(texts)
        if text.strip()
    )


def _read_list(path: Path) -> list[Any]:
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise BenchError(f"{path} cannot be read ({error.strerror}); give another file") from None
    except ValueError as error:
        raise BenchError(f"{path} is not JSON ({error}); give a file of the named format") from None
    if not isinstance(content, list):
        raise BenchError(f"{path} holds no JSON list; give a file of the named format")
    return content


# Scoring


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One question and what a ranker gave for it."""

    conversation: str
    question: Question
    ranked: list[str]


def answer(
    conversations: Iterable[Conversation], embedder: Embeds, *, keep: int, by_session: bool
) -> dict[str, list[Answered]]:
    """Ask every ranker every question."""
    answered: dict[str, list[Answered]] = {}
    for conversation in conversations:
        for name, build in rankers(conversation, embedder):
            ranker = build()
            # Sessions are as high as their best turn, so more turns than sessions are needed.
            depth = len(conversation.units) if by_session else keep
            answered.setdefault(name, []).extend(
                Answered(
                    conversation=conversation.id,
                    question=question,
                    ranked=list(dict.fromkeys(ranker(question.text, depth)))[:keep],
                )
                for question in conversation.questions
            )
    return answered


def evidence_recall(answers: Iterable[Answered], cuts: Sequence[int] = CUTS) -> dict[str, float]:
    """Return the mean share (percent) of a question's evidence among its first k."""
    shares = [
        [len({*a.ranked[:k]} & {*a.question.gold}) / len(a.question.gold) for k in cuts]
        for a in answers
    ]
    means = np.mean(shares, axis=0) * 100 if shares else np.zeros(len(cuts))
    return {f"R@{k}": round(float(mean), 1) for k, mean in zip(cuts, means, strict=True)}


def session_recall(answers: Iterable[Answered]) -> dict[str, float]:
    """Return recall_any and recall_all (percent) at each cut."""
    judged = [(a.ranked, {*a.question.gold}) for a in answers]
    figures = {}
    for k in SESSION_CUTS:
        found = [(len(gold & {*ranked[:k]}), len(gold)) for ranked, gold in judged]
        total = max(1, len(found))
        figures[f"recall_any@{k}"] = round(100 * sum(n > 0 for n, _ in found) / total, 1)
        figures[f"recall_all@{k}"] = round(100 * sum(n == of for n, of in found) / total, 1)
    return figures


Scorer = Callable[[list[Answered]], dict[str, float]]


def by_group(
    answers: list[Answered], score: Scorer, group: Callable[[Answered], str]
) -> dict[str, dict[str, float]]:
    """Score each group of answers by itself."""
    names = sorted({group(a) for a in answers})
    return {name: score([a for a in answers if group(a) == name]) for name in names}


def figures_of(answered: dict[str, list[Answered]], score: Scorer) -> dict[str, Any]:
    """Return every ranker's figures: over all, by category and by conversation."""
    return {
        name: {
            "all": score(answers),
            "by_category": by_group(answers, score, lambda a: a.question.category),
            "by_conversation": by_group(answers, score, lambda a: a.conversation),
        }
        for name, answers in answered.items()
    }


# The parts of a run


def locomo(path: Path, embedder: Embeds, predictions: Path | None) -> dict[str, Any]:
    """Measure evidence recall on LoCoMo dialog turns."""
    answered = answer(read_locomo(path), embedder, keep=max(CUTS), by_session=False)
    _write(
        predictions,
        (
            {"sample_id": a.conversation, "question": a.question.text, "ranked": a.ranked}
            for a in answered["factbook"]
        ),
    )
    measured = figures_of(answered, evidence_recall)
    product = measured.pop("factbook")
    paper = {
        name: {f"R@{k}": value for k, value in zip(CUTS, values, strict=True)}
        for name, values in PAPER.items()
    }
    return {
        "questions": len(answered["factbook"]),
        "product": product,
        "baselines": measured,
        "paper_dragon_all_ten_conversations": paper,
    }


def compare_variants(path: Path, embedder: Embeds) -> dict[str, Any]:
    """Measure the ranking on LoCoMo with one weight changed at a time, and cross-validate.

    Held out: for each conversation, the variant that is best (R@5 plus R@10) on the others is
    judged on that one alone; the mean over questions is what choosing weights by such a sample
    gives on a dialog that nobody has seen.
    """
    conversations = read_locomo(path)
    answered: dict[str, list[Answered]] = {}
    settings = [(name, weights, True) for name, weights in variants().items()]
    for name, weights, names in [*settings, ("names kept", DEFAULT_WEIGHTS, False)]:
        answered[name] = [
            Answered(conversation=c.id, question=q, ranked=ranker(q.text, max(CUTS)))
            for c in conversations
            for ranker in [pool_ranker(c, embedder, weights=weights, names=names)]
            for q in c.questions
        ]

    def goodness(name: str, left_out: str) -> float:
        figures = evidence_recall(a for a in answered[name] if a.conversation != left_out)
        return figures["R@5"] + figures["R@10"]

    chosen = {c.id: max(answered, key=lambda name: goodness(name, c.id)) for c in conversations}
    held_out = [a for one, name in chosen.items() for a in answered[name] if a.conversation == one]
    return {
        "variants": {name: evidence_recall(answers) for name, answers in answered.items()},
        "held_out": {"chosen": chosen, **evidence_recall(held_out)},
    }


def longmemeval(
    conversations: Iterable[Conversation], embedder: Embeds, predictions: Path | None
) -> dict[str, Any]:
    """Measure recall_any and recall_all of sessions."""
    answered = answer(conversations, embedder, keep=SESSIONS_KEPT, by_session=True)
    if not answered:
        raise BenchError("the file has no questions with evidence; give another file")
    _write(
        predictions,
        ({"question_id": a.question.id, "ranked": a.ranked} for a in answered["factbook"]),
    )
    measured = figures_of(answered, session_recall)
    for figures in measured.values():
        if len(figures["by_conversation"]) > 1:  # one haystack per question says nothing by itself
            del figures["by_conversation"]
    product = measured.pop("factbook")
    return {
        "questions": len(answered["factbook"]),
        "product": product,
        "baselines": measured,
    }


def _write(path: Path | None, lines: Iterable[dict[str, Any]]) -> None:
    if path is not None:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")


def show(title: str, figures: dict[str, Any]) -> None:
    """Print a part's figures: the rankers, then the product by category and by conversation."""
    rows = [{"ranking": "factbook", **figures["product"]["all"]}]
    rows += [{"ranking": name, **of["all"]} for name, of in figures["baselines"].items()]
    paper = figures.get("paper_dragon_all_ten_conversations")
    if paper:
        rows.append({"ranking": "DRAGON (paper, all ten)", **paper["all"]})
    print_table(f"{title}, {figures['questions']} questions", rows)
    for group in ("by_category", "by_conversation"):
        parts = figures["product"].get(group, {})
        if len(parts) > 1:
            print_table(
                f"{title}, {group.replace('_', ' ')}", [{"": n, **f} for n, f in parts.items()]
            )


def show_variants(figures: dict[str, Any]) -> None:
    """Print every variant beside the shipped one, and the cross-validated figure."""
    held_out = {cut: value for cut, value in figures["held_out"].items() if cut != "chosen"}
    rows = [{"weights": name, **of} for name, of in figures["variants"].items()]
    print_table("LoCoMo, weights changed", [*rows, {"weights": "chosen on the others", **held_out}])


def default_files() -> dict[str, Path]:
    """Return the development files of the data folder."""
    folder = data_dir()
    if folder is None:
        raise BenchError(
            "no data folder; name a file with --locomo, --longmemeval and --distractors, or"
            " --longmemeval-s, or a folder in FACTBOOK_DATA"
        )
    return {
        "locomo": folder / "locomo" / "locomo_dev3.json",
        "longmemeval": folder / "longmemeval" / "lme_dev50.json",
        "distractors": folder / "longmemeval" / "distractors.json",
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the part."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--locomo", type=Path, metavar="FILE")
    parser.add_argument("--longmemeval", type=Path, metavar="QUESTIONS")
    parser.add_argument("--distractors", type=Path, metavar="FILE")
    parser.add_argument("--longmemeval-s", type=Path, metavar="FILE", dest="longmemeval_s")
    parser.add_argument("--limit", type=int, metavar="N", help="questions of --longmemeval-s")
    parser.add_argument(
        "--variants", action="store_true", help="also change the weights one by one (--locomo)"
    )
    parser.add_argument("--predictions", type=Path, metavar="OUT")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args(arguments)
    if (options.longmemeval is None) != (options.distractors is None):
        raise BenchError("--longmemeval and --distractors belong together; give both")
    given = [options.locomo, options.longmemeval, options.longmemeval_s]
    if options.predictions is not None and sum(path is not None for path in given) != 1:
        raise BenchError("--predictions takes the lines of one set; name exactly one set")
    if not any(given):
        files = default_files()
        options.locomo, options.longmemeval = files["locomo"], files["longmemeval"]
        options.distractors = files["distractors"]

    from factbook.embed import bundled  # slow to load, and --help needs none

    embedder = _Remembering(bundled())
    figures: dict[str, Any] = {}
    if options.locomo is not None:
        figures["locomo"] = locomo(options.locomo, embedder, options.predictions)
        if options.variants:
            figures["variants"] = compare_variants(options.locomo, embedder)
    if options.longmemeval is not None:
        pool = read_longmemeval(options.longmemeval, options.distractors)
        figures["longmemeval"] = longmemeval(pool, embedder, options.predictions)
    if options.longmemeval_s is not None:
        pools = read_longmemeval_s(options.longmemeval_s, limit=options.limit)
        figures["longmemeval_s"] = longmemeval(pools, embedder, options.predictions)
    if not options.as_json:
        for name, part in figures.items():
            if name == "variants":
                show_variants(part)
            else:
                show(name, part)
    emit(figures, part="retrieval", as_json=options.as_json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
