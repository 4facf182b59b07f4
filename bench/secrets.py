"""Judge the secret redactor: recall, precision, over-redaction and speed, beside a baseline.

    python -m bench.secrets [--lines FILE] [--benign DIR] [--predictions OUT] [--json] [--seed N]
    python -m bench.secrets --hostile [--json]

The secret lines come from `secret_lines.generate`, or from FILE with one JSON object per line,
`{"line": text, "spans": [[start, end, kind], ...]}` (a line without spans is benign). Benign lines
are generated lookalikes and up to 5,000 lines drawn from the session logs under DIR (by default the
`sessions` folder of the data). With FILE, only its lines are judged, and those of DIR if it is
given. A prediction line is `{"line": text, "redacted": [[start, end, kind], ...]}`, one per judged
line in the same order, and all of them are written before anything is scored.

- recall: percent of the planted secrets whose every character is inside redacted spans
- precision: percent of the redactions that overlap a planted secret; each redaction on a benign
  line counts as wrong, though a real log may hold a real credential: `--show-false` lists them for
  a person to judge
- over_redaction: percent of the other characters of secret lines that were swallowed
- mb_per_s: millions of UTF-8 bytes per second of processor time, one core, in texts of 64 KB of the
  logs (without logs: of lookalikes); mb_per_s_dense: the same where every line is a lookalike

With --hostile only the speed on texts made to be slow is measured (`hostile.py`; minutes): the
slowest of 64 KB each, how long 2 MB of some of them take, and what keeping a turn of a conversation
takes that is one long line of them. All of it is processor time, of the better of two runs.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Protocol

import orjson

from bench import hostile
from bench._common import BenchError, data_dir, emit, print_table, run
from bench.secret_lines import DEFAULT_LINES, SecretLine, Span, benign, generate

PART = "secrets"
DEFAULT_SEED = 7
REAL_LINES = 5_000  # benign lines drawn from real logs
LONGEST_LINE = 4_000  # characters; longer lines of logs are data, not lines
TEXT_SIZE = 64 * 1024  # characters per text of the speed run
WORKLOAD_MB = 20.0  # at least so much is redacted in the speed run
DENSE_MB = 2.0  # the same for text in which every line looks like a secret
HOSTILE_SIZE = 64 * 1024  # characters of a hostile text
LARGE_SIZE = 2_000_000  # and of some of them, in one line
TURN_SIZES = (16_000, 1_000_000)  # characters of a hostile turn of a conversation
WORST_SHOWN = 20  # kinds in the table on the screen


class Finding(Protocol):
    """One secret value that a redactor found."""

    @property
    def start(self) -> int:
        """The first character of the value."""

    @property
    def end(self) -> int:
        """The character after the value."""

    @property
    def kind(self) -> str:
        """What the redactor takes it for."""


class Finder(Protocol):
    """What the bench needs of a redactor."""

    def find(self, text: str) -> Sequence[Finding]:
        """Return the secrets of a text, with character offsets."""

    def redact(self, text: str) -> str:
        """Return the text with every secret replaced."""


# ------------------------------------------------------------------ the baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineFinding:
    """A match of the baseline."""

    start: int  # first character
    end: int  # one past the last
    kind: str  # name of the pattern


class Baseline:
    """Scrub as log scrubbers commonly do: names before `=` or `:`, and a few key prefixes."""

    PATTERNS: Mapping[str, re.Pattern[str]] = {
        "assignment": re.compile(
            r"(?i)(?:pass(?:word|wd|phrase)?|pwd|secret|token|(?:api|access|private)[_-]?key)"
            r"[\w.-]*[\"']?\s*[:=]\s*[\"']?([^\s\"',;]{4,})"
        ),
        "url": re.compile(r"://[^/\s:@]+:([^@\s/]+)@"),
        "authorization": re.compile(r"(?i)\b(?:bearer|basic)\s+([\w.~+/=-]{8,})"),
        "curl_user": re.compile(r"\bcurl\b.*?\s(?:-u|--user)\s*[\"']?[^\s:]+:([^\s\"']+)"),
        "sshpass": re.compile(r"\bsshpass\s+-p\s*[\"']?([^\s\"']+)"),
        "aws_id": re.compile(r"\b((?:AKIA|ASIA)[A-Z0-9]{16})\b"),
        "github": re.compile(r"\b(gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{22,})"),
        "gitlab": re.compile(r"\b(glpat-[\w-]{20})"),
        "slack": re.compile(r"\b(xox[abprs]-[A-Za-z0-9-]{10,})"),
        "slack_hook": re.compile(r"hooks\.slack\.com/services/([\w/]+)"),
        "stripe": re.compile(r"\b([sr]k_(?:live|test)_[A-Za-z0-9]{16,})"),
        "sk": re.compile(r"\b(sk-[\w-]{20,})"),
        "google": re.compile(r"\b(AIza[\w-]{35})"),
        "npm": re.compile(r"\b(npm_[A-Za-z0-9]{36})"),
        "jwt": re.compile(r"\b(eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+)"),
        "private_key": re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(.*?)-----END", re.DOTALL
        ),
    }

    def find(self, text: str) -> list[BaselineFinding]:
        """Return all matches in order, without those that start inside an earlier one."""
        hits = [
            BaselineFinding(start=match.start(1), end=match.end(1), kind=kind)
            for kind, pattern in self.PATTERNS.items()
            for match in pattern.finditer(text)
        ]
        kept: list[BaselineFinding] = []
        for hit in sorted(hits, key=lambda h: (h.start, -h.end)):
            if not kept or hit.start >= kept[-1].end:
                kept.append(hit)
        return kept

    def redact(self, text: str) -> str:
        """Replace every match by a label."""
        parts: list[str] = []
        at = 0
        for hit in self.find(text):
            parts += [text[at : hit.start], f"[REDACTED:{hit.kind}]"]
            at = hit.end
        return "".join([*parts, text[at:]])


def product() -> Finder:
    """Open the redactor of this project with a fixed key."""
    from factbook.redaction import Redactor

    return Redactor(key=b"0" * 32)


# ------------------------------------------------------------------ what is judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One judged line."""

    text: str  # the line
    spans: tuple[Span, ...]  # what is planted in it; empty on benign lines
    family: str  # the form of the secret
    source: str  # planted, lookalike, real or file


@dataclass(frozen=True, slots=True, kw_only=True)
class RealTexts:
    """The texts that people and agents see in session logs."""

    texts: tuple[str, ...]  # messages, commands and outputs, in the order of the files
    unread: int  # records that are not JSON, left out


# The branches of a record that hold what was said and done, and in them the leaves that are
# identifiers, signatures or encoded data.
_BRANCHES = ("message", "payload", "toolUseResult", "content", "summary", "attachment", "messages")
_NOT_TEXT = frozenset(
    {
        "id", "uuid", "type", "role", "model", "signature", "data", "media_type", "stop_reason",
        "tool_use_id", "call_id", "encrypted_content", "name", "parentUuid", "sessionId",
        "requestId", "leafUuid", "timestamp", "version", "status", "phase", "mode", "turn_id",
        "base64", "session_id", "agentId", "service_tier", "stop_sequence", "inference_geo",
    }
)  # fmt: skip


def real_texts(folder: Path) -> RealTexts:
    """Collect the string leaves of messages, commands and tool outputs under a folder."""
    if not folder.is_dir():
        raise BenchError(f"{folder} is no folder; give --benign the folder of the session logs")
    files = sorted(folder.rglob("*.jsonl"))
    if not files:
        raise BenchError(f"no .jsonl file under {folder}; give --benign a folder of session logs")
    texts: list[str] = []
    unread = 0
    for file in files:
        try:
            raw = file.read_bytes()
        except OSError as error:
            raise BenchError(f"cannot read {file}: {error}; leave it out or mend it") from error
        for line in raw.split(b"\n"):
            if not line.strip():
                continue
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError:
                unread += 1
                continue
            if isinstance(record, dict):
                for branch in _BRANCHES:
                    texts.extend(_leaves(record.get(branch)))
    return RealTexts(texts=tuple(texts), unread=unread)


def _leaves(root: object) -> Iterator[str]:
    """Yield the strings in a JSON value, in order, without recursion on deep input."""
    stack: list[object] = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            stack.extend(reversed(value))
        elif isinstance(value, dict):
            inner = [v for k, v in value.items() if k not in _NOT_TEXT]
            stack.extend(reversed(inner))


def real_lines(texts: Iterable[str], *, seed: int, n: int = REAL_LINES) -> list[str]:
    """Draw up to `n` different non-empty lines."""
    distinct: dict[str, None] = {}
    for text in texts:
        for line in text.split("\n"):
            if line.strip() and len(line) <= LONGEST_LINE:
                distinct[line] = None
    every = list(distinct)
    return random.Random(seed).sample(every, min(n, len(every)))


def read_lines(path: Path) -> list[Item]:
    """Read the lines to judge from a file of one JSON object per line."""
    try:
        raw = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BenchError(f"cannot read {path}: {error}; give --lines a UTF-8 file") from error
    items = []
    for number, line in enumerate(raw.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            text = record["line"]
            spans = tuple((int(s), int(e), str(kind)) for s, e, kind in record["spans"])
        except (ValueError, KeyError, TypeError) as error:
            raise BenchError(
                f'{path} line {number} is not {{"line": text, "spans": [[start, end, kind]]}} '
                f"({error!r}); correct it"
            ) from error
        if not isinstance(text, str) or any(not 0 <= s < e <= len(text) for s, e, _ in spans):
            raise BenchError(f"{path} line {number} has a span outside its text; correct it")
        items.append(Item(text=text, spans=spans, family="file", source="file"))
    if not items:
        raise BenchError(f"{path} holds no line; give --lines a file with lines to judge")
    return items


def _items(lines: Iterable[SecretLine], source: str) -> list[Item]:
    return [Item(text=x.text, spans=x.spans, family=x.family, source=source) for x in lines]


# ------------------------------------------------------------------ prediction and score

Redactions = list[Span]


def predict(finder: Finder, items: Iterable[Item]) -> list[Redactions]:
    """Find the secrets of every line."""
    return [[(f.start, f.end, f.kind) for f in finder.find(item.text)] for item in items]


def write_predictions(path: Path, items: Sequence[Item], found: Sequence[Redactions]) -> None:
    """Write one JSON line per judged line, in order."""
    with path.open("w", encoding="ascii") as out:
        for item, redactions in zip(items, found, strict=True):
            # ASCII, because lines of real logs may hold lone surrogates
            out.write(json.dumps({"line": item.text, "redacted": redactions}) + "\n")


# The fixed first and last line of a key block may be redacted with it or not.
_BLOCK_MARK = re.compile(
    r"(?:\\+n|\s)*-----(?:BEGIN|END) [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\\+n|\s)*"
)


def _overlaps(redaction: Span, spans: Iterable[Span]) -> bool:
    return any(redaction[0] < end and start < redaction[1] for start, end, _ in spans)


def _percent(part: int, whole: int) -> float | None:
    return round(100.0 * part / whole, 3) if whole else None


def _rates(hits: Counter[str], all_: Counter[str]) -> dict[str, dict[str, object]]:
    rows: dict[str, dict[str, object]] = {
        name: {"planted": all_[name], "found": hits[name], "recall": _percent(hits[name], n)}
        for name, n in all_.items()
    }
    return dict(sorted(rows.items(), key=lambda row: (hits[row[0]] / all_[row[0]], row[0])))


def score(items: Sequence[Item], found: Sequence[Redactions]) -> dict[str, object]:
    """Score predictions by what was planted."""
    kinds: Counter[str] = Counter()
    kinds_hit: Counter[str] = Counter()
    families: Counter[str] = Counter()
    families_hit: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    redactions = right = other = swallowed = 0
    for item, spans in zip(items, found, strict=True):
        covered = bytearray(len(item.text))
        for start, end, _ in spans:
            covered[start:end] = b"\1" * (min(end, len(covered)) - start)
        for start, end, kind in item.spans:
            whole = all(covered[start:end])
            kinds[kind] += 1
            families[item.family] += 1
            kinds_hit[kind] += whole
            families_hit[item.family] += whole
        hits = sum(_overlaps(span, item.spans) for span in spans)
        redactions += len(spans)
        right += hits
        if len(spans) > hits:
            wrong["on_secret_lines" if item.spans else f"on_{item.source}"] += len(spans) - hits
        if item.spans:
            rest = bytearray(b"\1" * len(item.text))
            marks = [(m.start(), m.end(), "") for m in _BLOCK_MARK.finditer(item.text)]
            for start, end, _ in (*item.spans, *marks):
                rest[start:end] = bytes(end - start)
            other += sum(rest)
            swallowed += sum(a & b for a, b in zip(covered, rest, strict=True))
    planted = sum(kinds.values())
    return {
        "recall": _percent(sum(kinds_hit.values()), planted),
        "precision": _percent(right, redactions),
        "over_redaction": _percent(swallowed, other),
        "planted": planted,
        "found": sum(kinds_hit.values()),
        "redactions": redactions,
        "wrong_redactions": dict(sorted(wrong.items())),
        "recall_by_kind": _rates(kinds_hit, kinds),
        "recall_by_family": _rates(families_hit, families),
    }


def workload(texts: Sequence[str], *, mb: float = WORKLOAD_MB) -> tuple[list[str], float]:
    """Cut texts into pieces of 64 KB until there are `mb` millions of bytes; repeat if too few."""
    joined = "\n".join(texts)
    pieces = [joined[i : i + TEXT_SIZE] for i in range(0, len(joined), TEXT_SIZE)]
    sizes = [len(piece.encode("utf-8", errors="replace")) for piece in pieces]
    chosen: list[str] = []
    total = 0
    for piece, size in cycle(zip(pieces, sizes, strict=True)):
        chosen.append(piece)
        total += size
        if total >= mb * 1e6:
            break
    return chosen, total / 1e6


def speed(finder: Finder, texts: Sequence[str], *, mb: float = WORKLOAD_MB) -> float:
    """Measure `find` in MB per second of processor time, which other processes cannot slow."""
    pieces, total = workload(texts, mb=mb)
    finder.find(pieces[0])
    before = time.process_time()
    for piece in pieces:
        finder.find(piece)
    return round(total / (time.process_time() - before), 3)


def speed_of(finder: Finder, text: str) -> float:
    """Measure `find` of one text in MB per second of processor time, the better of two runs.

    The first run also makes states of the automaton, which later texts find made.
    """
    took = []
    for _ in range(2):
        before = time.process_time()
        finder.find(text)
        took.append(time.process_time() - before)
    return round(len(text.encode("utf-8", "replace")) / 1e6 / max(min(took), 1e-6), 3)


# ------------------------------------------------------------------ the command


def _excerpt(text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - 50) : start], text[end : end + 30]
    return f"{before}⟦{text[start:end][:120]}⟧{after}".replace("\n", "⏎")


def show_false(items: Sequence[Item], found: Sequence[Redactions]) -> list[dict[str, object]]:
    """List the redactions that overlap nothing planted."""
    return [
        {"source": item.source, "kind": kind, "redaction": _excerpt(item.text, start, end)}
        for item, spans in zip(items, found, strict=True)
        for start, end, kind in spans
        if not _overlaps((start, end, kind), item.spans)
    ]


def show_missed(items: Sequence[Item], found: Sequence[Redactions]) -> list[dict[str, object]]:
    """List the planted secrets of which any character stayed."""
    rows: list[dict[str, object]] = []
    for item, spans in zip(items, found, strict=True):
        covered = {i for start, end, _ in spans for i in range(start, end)}
        for start, end, kind in item.spans:
            left = sum(i not in covered for i in range(start, end))
            if left:
                excerpt = _excerpt(item.text, start, end)
                row = {"family": item.family, "kind": kind, "secret": excerpt}
                rows.append({**row, "left": f"{left} of {end - start}"})
    return rows


def _tables(figures: Mapping[str, Mapping[str, object]]) -> None:
    percent = {"recall": "recall", "precision": "precision", "swallowed": "over_redaction"}
    counts = {"planted": "planted", "found": "found", "redactions": "redactions"}
    speeds = {"logs": "mb_per_s", "lookalikes": "mb_per_s_dense"}
    for title, names in (
        ("Secrets (percent, counts)", percent | counts),
        ("Speed (MB per second of one core)", speeds),
    ):
        print_table(
            title,
            [
                {"": who, **{short: of[name] for short, name in names.items()}}
                for who, of in figures.items()
            ],
        )
    print_table(
        "Redactions that overlap no planted secret",
        [{"": who, "wrong": str(of["wrong_redactions"])} for who, of in figures.items()],
    )
    for by in ("recall_by_family", "recall_by_kind"):
        sides = {who: of[by] for who, of in figures.items()}
        ours, theirs = sides["product"], sides["baseline"]
        assert isinstance(ours, dict)
        assert isinstance(theirs, dict)
        rows = [
            {
                by.removeprefix("recall_by_"): name,
                "planted": row["planted"],
                "product": row["recall"],
                "baseline": theirs[name]["recall"],
            }
            for name, row in list(ours.items())[:WORST_SHOWN]
        ]
        print_table(f"Recall, worst {len(rows)} of {len(ours)}", rows)


def _turns() -> dict[str, object]:
    """Measure what keeping a turn takes that is one line of what the readers look for."""
    from factbook.memory import Memory

    rates: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "hostile.db") as memory:
        memory.add_turn("I like warm tea and live in Oslo.", session="first")
        for size in TURN_SIZES:
            for unit in hostile.SENTENCES:
                name = f"{size} of {unit!r}"
                before = time.process_time()
                memory.add_turn(hostile.text_of(unit, size), session=name)
                took = time.process_time() - before
                rates[name] = round(size / 1e6 / max(took, 1e-6), 3)
    slowest = sorted(rates.items(), key=lambda one: one[1])[:WORST_SHOWN]
    return {
        "turns": len(rates),
        "turns_min_mb_per_s": slowest[0][1],
        "turns_slowest": dict(slowest),
    }


def _hostile(*, as_json: bool) -> int:
    """Measure the speed on texts that are made to be slow."""
    finder = product()
    from factbook.redaction.wallets import _places

    rates = {name: speed_of(finder, text) for name, text in hostile.texts(HOSTILE_SIZE)}
    rows_of_words = hostile.rows_of_words(list(_places()), HOSTILE_SIZE)
    rates |= {name: speed_of(finder, text) for name, text in rows_of_words}
    large = {name: speed_of(finder, text) for name, text in hostile.large(LARGE_SIZE)}
    slowest = sorted(rates.items(), key=lambda one: one[1])[:WORST_SHOWN]
    figures: dict[str, object] = {
        "texts": len(rates),
        "characters": HOSTILE_SIZE,
        "min_mb_per_s": slowest[0][1],
        "below_1_mb_per_s": sum(rate < 1.0 for rate in rates.values()),
        "slowest": dict(slowest),
        "large_characters": LARGE_SIZE,
        "large_min_mb_per_s": min(large.values()),
        "large": large,
        **_turns(),
    }
    if not as_json:
        rows = [{"text": name, "MB/s": rate} for name, rate in (*slowest, *large.items())]
        print_table("Hostile texts (MB per second of one core)", rows)
    emit(figures, part=f"{PART}_hostile", as_json=as_json)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.secrets", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--lines", type=Path, metavar="FILE", help="judge these lines instead")
    parser.add_argument("--benign", type=Path, metavar="DIR", help="session logs to draw from")
    parser.add_argument("--predictions", type=Path, metavar="OUT", help="write predictions here")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of lines and drawing")
    parser.add_argument("--n", type=int, default=DEFAULT_LINES, help="generated secret lines")
    parser.add_argument("--mb", type=float, default=WORKLOAD_MB, help="size of the speed run")
    parser.add_argument("--show-false", action="store_true", help="list wrong redactions")
    parser.add_argument("--show-missed", action="store_true", help="list what was missed")
    parser.add_argument("--hostile", action="store_true", help="only the speed on hostile texts")
    args = parser.parse_args(argv)
    if args.hostile:
        return _hostile(as_json=args.json)
    if args.n < 1 or args.mb <= 0:
        raise BenchError("--n and --mb must be positive")

    lookalikes = benign(seed=args.seed)
    if args.lines:
        items = read_lines(args.lines)
    else:
        items = _items(generate(seed=args.seed, n=args.n), "planted")
        items += _items(lookalikes, "lookalike")
    folder: Path | None = args.benign
    if folder is None and not args.lines and (data := data_dir()) and (data / "sessions").is_dir():
        folder = data / "sessions"
    real = RealTexts(texts=(), unread=0) if folder is None else real_texts(folder)
    items += [
        Item(text=line, spans=(), family="real", source="real")
        for line in real_lines(real.texts, seed=args.seed)
    ]

    ours, baseline = product(), Baseline()
    found = predict(ours, items)
    if args.predictions:
        write_predictions(args.predictions, items, found)
    dense = [x.text for x in lookalikes]
    texts = real.texts or dense
    sides: dict[str, dict[str, object]] = {
        "product": score(items, found),
        "baseline": score(items, predict(baseline, items)),
    }
    for name, finder in (("product", ours), ("baseline", baseline)):
        sides[name]["mb_per_s"] = speed(finder, texts, mb=args.mb)
        sides[name]["mb_per_s_dense"] = speed(finder, dense, mb=min(args.mb, DENSE_MB))
    counts = Counter(item.source for item in items)
    figures: dict[str, object] = {
        "seed": args.seed,
        "lines": dict(counts),
        "unread_records": real.unread,
        "mb": args.mb,
        **sides,
    }
    if not args.json:
        _tables(sides)
        if args.show_missed:
            print_table("Missed", show_missed(items, found))
        if args.show_false:
            print_table("Redactions that overlap nothing planted", show_false(items, found))
    emit(figures, part=PART, as_json=args.json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
