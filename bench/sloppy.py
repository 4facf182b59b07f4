"""Judge the redactor on sloppy lines that people write: notes, chats, pastes, in six languages.

    python -m bench.sloppy [--apart] [--kept] [--show]

`sloppy.txt` has one line each, with its secrets between « and »; a line without is benign. What
stands there as «P» or «R» is drawn (`_drawn` says what each letter is). Every second line is kept
aside: rules are written against the others, and `--kept` judges those kept aside.

With --apart the lines of `apart.txt` are judged, in which a secret stands apart from the word that
announces it (the next line, the column of a table, a file that a shell writes) or behind a word
that is written oddly, and their lookalikes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench._common import emit, run
from bench.secret_lines import SecretLine
from bench.secrets import product

_LINES = Path(__file__).with_name("sloppy.txt")
_APART = Path(__file__).with_name("apart.txt")
_SECRET = re.compile("«(.*?)»", re.DOTALL)
_MIXED = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_NAMES = ("Sommer", "Tiger", "liverpool", "Katze", "soleil", "Perro", "gatto", "Benfica", "Hund")


def _base58(data: bytes) -> str:
    data += hashlib.sha256(hashlib.sha256(data).digest()).digest()[:4]
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, rest = divmod(number, 58)
        text = _BASE58[rest] + text
    return text


def _phrase(rng: random.Random, size: int) -> list[str]:
    from factbook.redaction.wallets import _places

    words = list(_places())
    bits = size * 32 // 3
    entropy = rng.randbytes(bits // 8)
    check = hashlib.sha256(entropy).digest()[0] >> (8 - bits // 32)
    number = int.from_bytes(entropy, "big") << (bits // 32) | check
    return [words[number >> (11 * n) & 2047] for n in reversed(range(size))]


def _drawn(rng: random.Random) -> dict[str, Callable[[], str]]:
    def run(size: int, letters: str = _MIXED) -> str:
        return "".join(rng.choices(letters, k=size))

    def chosen() -> str:
        name = rng.choice(_NAMES)
        return rng.choice(
            (
                f"{name}{rng.randrange(10, 9999)}!",
                f"{run(3)}{rng.randrange(9)}{run(4)}#",
                run(10),
                f"{name[:2]}{rng.randrange(9)}{name[2:]}{rng.randrange(99)}",
                f"{name}#{run(4)}",
            )
        )

    def lines(numbered: str = "") -> str:
        rows = [f"MIIEpAIBAAKCAQEA{run(48)}", *(run(64) for _ in range(6)), run(40) + "="]
        return "\n".join(numbered.format(n + 2) + row for n, row in enumerate(rows))

    def b64(data: str) -> str:
        return base64.b64encode(data.encode()).decode()

    def jwt(gap: str) -> str:
        return gap.join(
            (b64('{"alg":"HS256","typ":"JWT"}'), "." + b64('{"sub":"1"}'), "." + run(43))
        )

    return {
        "P": chosen,
        "Q": chosen,
        "R": lambda: run(24),
        "B": lambda: run(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
        "D": lambda: run(4, "0123456789"),
        "S": lambda: " ".join(_phrase(rng, 12)),
        "L": lambda: " ".join(_phrase(rng, 24)),
        "N": lambda: "\n".join(
            f"{n + 1}. {word}" for n, word in enumerate(_phrase(rng, 12))
        ).removeprefix("1. "),
        "C": lambda: ", ".join(_phrase(rng, 12)),
        "W": lambda: _base58(b"\x80" + rng.randbytes(32) + rng.choice((b"", b"\x01"))),
        "X": lambda: _base58(
            bytes.fromhex("0488ade4") + rng.randbytes(41) + b"\0" + rng.randbytes(32)
        ),
        "J": lambda: jwt("").replace("=", ""),
        "K": lambda: jwt("\n").replace("=", ""),
        "E": lambda: b64("-----BEGIN RSA PRIVATE KEY-----\n" + run(90)),
        "A": lambda: b64(f"bob:{run(12)}"),
        "Y": lines,
        "Z": lambda: lines("+").removeprefix("+"),
        "V": lambda: lines("{:>4}: ").removeprefix("   2: "),
    }


def sloppy_lines(*, kept: bool, apart: bool = False) -> Iterator[SecretLine]:
    """Yield the lines to write rules against, or those that are kept aside."""
    rows = (_APART if apart else _LINES).read_text(encoding="utf-8").splitlines()
    for number, row in enumerate(rows):
        if number % 2 != kept:
            continue
        draw = _drawn(random.Random(number))
        text, spans = "", []
        row = row.replace("\\n", "\n").replace("\\t", "\t")
        for n, part in enumerate(_SECRET.split(row)):
            word = draw[part]() if n % 2 and part in draw else part
            if n % 2:
                spans.append((len(text), len(text) + len(word), part))
            text += word
        yield SecretLine(text=text, spans=tuple(spans), family="sloppy", values=())


def main() -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.sloppy", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--apart", action="store_true", help="judge the lines of apart.txt")
    parser.add_argument("--kept", action="store_true", help="judge the lines kept aside")
    parser.add_argument("--show", action="store_true", help="list what went wrong")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    finder = product()
    planted = found = benign = wrong = redactions = right = 0
    for line in sloppy_lines(kept=args.kept, apart=args.apart):
        spans = [(one.start, one.end) for one in finder.find(line.text)]
        covered = {i for low, high in spans for i in range(low, high)}
        hits = [covered.issuperset(range(low, high)) for low, high, _ in line.spans]
        planted += len(hits)
        found += sum(hits)
        redactions += len(spans)
        right += sum(any(a < high and low < b for a, b, _ in line.spans) for low, high in spans)
        if not line.spans:
            benign += 1
            wrong += bool(spans)
        if args.show and (not all(hits) or (spans and not line.spans)):
            sys.stdout.write(f"{'missed' if line.spans else 'wrong '} {line.text!r}\n")
    emit(
        {
            "secrets": planted,
            "recall": round(100 * found / planted, 1),
            "precision": round(100 * right / max(1, redactions), 1),
            "benign_lines": benign,
            "benign_lines_touched": wrong,
        },
        part="sloppy",
        as_json=args.json,
    )
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
