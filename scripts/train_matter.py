"""Train what tells a private question from one that can be looked up, and write its weights.

    python scripts/train_matter.py --corpora CORPORA [FOLDER]

Of English a linear model over the vectors of the bundled embedder and of the reader, over how the
reader takes the question apart, its pieces of words, and over how delicate it is, trained with
`questions.train` of `data/language/ordinary` and the half `built` of `bench/privacy.jsonl`: anew
with every version of the reader, whose weights are others'. Of every other language one over the
vectors of the embedder and the pieces of the words. How delicate an English question is tells a
layer of 24 over the vectors. This layer and the other languages are trained with our own
`matter_questions.txt`, the layer with what lies in FOLDER, too, and kept as they are without it:

- `oos-eval/data/data_full.json`: CLINC150 (Larson et al., 2019, CC BY 3.0), what is not its test;
- `NLU-Evaluation-Data`: what people say to a robot at home (Liu et al., 2019, CC BY 4.0);
- `MedQuAD`: questions of health (Ben Abacha and Demner-Fushman, 2019, CC BY 4.0).

The weights go to `src/factbook/extract/data/matter.json` with the id of the embedder and the
checksum of the reader that they belong to. Their error is measured on other questions:
`python -m bench.privacy` and `python -m bench.ordinary`.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import random
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from factbook.embed import bundled
from factbook.extract.name_tokens import is_english
from factbook.extract.private_matters import (
    english_row,
    pieces,
    trimmed,
    unpacked,
)
from factbook.language.reader.network import shared
from reader import messages
from reader.corpora import Corpora

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HERE: Final = Path(__file__).resolve().parent
ROWS: Final = HERE.parent / "data" / "language" / "ordinary" / "questions.train.jsonl.xz"
BENCH: Final = HERE.parent / "bench" / "privacy.jsonl"
OUT: Final = HERE.parent / "src" / "factbook" / "extract" / "data" / "matter.json"
FILLINGS: Final = 8  # questions that one with a slot makes
ORDINARY: Final = 2.0  # what a question as people ask it weighs beside one of our frames
PUBLISHED: Final = 0.5  # what one in a message that somebody published weighs
OWN: Final = 4.0  # what a question of ours weighs beside one of FOLDER
TAKEN: Final = 0.25  # what one of another language weighs that may be read as English
RIDGE: Final = 1.0  # of 0.5 and 1 no worse on the first half of the authors of the bench
ENGLISH_RIDGE: Final = 2.0
STEPS: Final = 10  # of Newton's method
WIDTH: Final = 24
EPOCHS: Final = 60
BATCH: Final = 256
RATE: Final = 3e-3
DECAY: Final = 1e-4  # of 1e-4 and 1e-3
DROPPED: Final = 0.2
SHIFT: Final = 0.55  # of the English one, so that the limits of `policy` are right for both
SHIFT_ELSEWHERE: Final = 0.4  # of that of other languages, for the same
HEALTH: Final = 700  # of the questions of MedQuAD, which are much alike

# what people ask of their own, and what anybody could ask; the other intents are commands
CLINC: Final = {
    True: "account_blocked application_status apr balance bill_balance bill_due calendar"
    " card_declined confirm_reservation credit_limit credit_score expiration_date gas income"
    " insurance interest_rate last_maintenance meeting_schedule min_payment order_status payday"
    " pin_change pto_balance pto_request_status pto_used reminder rewards_balance shopping_list"
    " spending_history taxes todo_list transactions w2",
    False: "calories carry_on cook_time definition distance exchange_rate food_last fun_fact"
    " how_busy ingredient_substitution ingredients_list international_visa jump_start"
    " meal_suggestion measurement_conversion next_holiday nutrition_info oil_change_how plug_type"
    " recipe restaurant_reviews restaurant_suggestion spelling time timezone translate travel_alert"
    " travel_suggestion vaccines weather",
}
HOME: Final = {
    True: "calendar_query email_query email_querycontact lists_query",
    False: "cooking_recipe datetime_convert news_query qa_currency qa_definition qa_factoid"
    " qa_maths qa_stock recommendation_events recommendation_locations recommendation_movies"
    " transport_query transport_traffic weather_query",
}


def questions() -> list[tuple[str, str, bool]]:
    """Return (language, question, whether it is private), the slots filled; the same each time."""
    lines = (HERE / "matter_questions.txt").read_text("utf-8").splitlines()
    slots: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        if line.startswith("= "):
            _, slot, language, filled = line.split(" ", 3)
            slots.setdefault((slot, language), []).extend(filled.split("|"))
    found: list[tuple[str, str, bool]] = []
    chance = random.Random(3)
    for line in lines:
        if not line or line[0] in "#=":
            continue
        kind, language, frame = line.split(" ", 2)
        for _ in range(FILLINGS if "{" in frame else 2):
            text = frame
            for slot in "nktfghxmdry":
                while f"{{{slot}}}" in text:
                    filling = slots.get((slot, language)) or slots[slot, "*"]
                    text = text.replace(f"{{{slot}}}", chance.choice(filling), 1)
            found.append((language, text, kind == "p"))
    return found


def of_others(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield (question, whether it is private) of the English sets of others."""
    clinc = json.loads((folder / "oos-eval/data/data_full.json").read_text("utf-8"))
    for private, intents in CLINC.items():
        for text, intent in [*clinc["train"], *clinc["val"]]:
            if intent in intents.split():
                yield text, private
    home = "NLU-Evaluation-Data/CrossValidation/autoGeneFromRealAnno"
    (train,) = (folder / home).glob("*/CrossValidation/KFold_1/trainset")
    for private, intents in HOME.items():
        for intent in intents.split():
            with (train / f"{intent}.csv").open(encoding="utf-8") as file:
                for row in csv.DictReader(file, delimiter=";"):
                    yield row["answer_from_anno"], private
    asked = [
        one.strip(" ?").lower()
        for part in ("4_MPlus_Health_Topics_QA", "5_NIDDK_QA", "7_SeniorHealth_QA", "9_CDC_QA")
        for path in sorted((folder / "MedQuAD" / part).glob("*.xml"))
        for one in re.findall(r"<Question [^>]*>([^<]*)", path.read_text("utf-8"))
    ]
    for text in random.Random(5).sample(asked, HEALTH):
        yield text, True


def balanced(private: Floats, weight: Floats) -> Floats:
    """Return the weights with which both classes count the same."""
    share = float((weight * private).sum() / weight.sum())
    return np.where(private > 0, 0.5 / share, 0.5 / (1 - share)) * weight


def ordinary(corpora: Corpora) -> list[tuple[str, bool, float]]:
    """Return (question, whether it is private, its weight) of what may be read as English.

    These are what people really ask, and those of our own in other languages that may be, too.
    """
    with lzma.open(ROWS, "rt", encoding="utf-8") as file:
        asked = [(row["text"], not row["send"], ORDINARY) for row in map(json.loads, file)]
    asked += [
        (row["q"], row["private"], ORDINARY)
        for row in map(json.loads, BENCH.read_text("utf-8").splitlines())
        if row["half"] == "built" and not row.get("before")
    ]
    asked += [(text, not send, PUBLISHED) for text, send in messages.asked(corpora)]
    other = {text: private for language, text, private in questions() if language != "en"}
    asked += [(text, private, TAKEN) for text, private in other.items()]
    return [one for one in asked if is_english(one[0])]


def english(weights: dict[str, Any], rows: list[tuple[str, bool, float]]) -> Floats:
    """Return the weights of the linear model of English, over those of the layer."""
    vectors = bundled().embed([trimmed(text) for text, *_ in rows])
    seen = [
        english_row(text, vector, weights) for (text, *_), vector in zip(rows, vectors, strict=True)
    ]
    return linear(
        np.asarray(seen, dtype=np.float64),
        np.array([float(private) for _, private, _ in rows]),
        np.array([weight for *_, weight in rows]),
        ENGLISH_RIDGE,
    )


def linear(
    rows: Floats, private: Floats, weight: Floats | None = None, ridge: float = RIDGE
) -> Floats:
    """Return the weights and the bias of a ridge logistic regression with balanced classes."""
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    weight = balanced(private, np.ones(len(rows)) if weight is None else weight)
    penalty = np.full(rows.shape[1], ridge)
    penalty[-1] = 1e-3
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        guess = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (weight * (guess - private)) + penalty * found
        found -= newton(rows, weight * guess * (1 - guess), penalty, slope)
    return np.asarray(found, dtype=np.float64)


def newton(rows: Floats, bend: Floats, penalty: Floats, slope: Floats) -> Floats:
    """Return a step of Newton's method, solved over what is fewer: rows or weights (Woodbury)."""
    if len(rows) >= rows.shape[1]:
        return np.asarray(
            np.linalg.solve((rows * bend[:, None]).T @ rows + np.diag(penalty), slope), np.float64
        )
    eased = rows / penalty
    inner = np.diag(1 / np.maximum(bend, 1e-9)) + eased @ rows.T
    return np.asarray(slope / penalty - eased.T @ np.linalg.solve(inner, eased @ slope), np.float64)


def layered(rows: Floats, private: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the inner weights, the inner biases, and the outer weights and bias (by Adam)."""
    chance = np.random.default_rng(0)
    weight = balanced(private, weight)
    weight /= weight.mean()
    width = rows.shape[1]
    params = [
        chance.normal(0, 3 / np.sqrt(width), (width, WIDTH)),
        np.zeros(WIDTH),
        chance.normal(0, 0.3, WIDTH),
        np.zeros(1),
    ]
    first = [np.zeros_like(one) for one in params]
    second = [np.zeros_like(one) for one in params]
    step = 0
    for epoch in range(EPOCHS):
        order = chance.permutation(len(rows))
        for begin in range(0, len(rows), BATCH):
            batch = order[begin : begin + BATCH]
            inner = rows[batch] @ params[0] + params[1]
            kept = (chance.random(inner.shape) > DROPPED) / (1 - DROPPED)
            hidden = np.maximum(inner, 0) * kept
            guess = 1 / (1 + np.exp(-(hidden @ params[2] + params[3])))
            error = (guess - private[batch]) * weight[batch] / len(batch)
            back = np.outer(error, params[2]) * kept * (inner > 0)
            slopes = [
                rows[batch].T @ back + DECAY * params[0],
                back.sum(0),
                hidden.T @ error + DECAY * params[2],
                np.array([error.sum()]),
            ]
            step += 1
            rate = RATE * (1 - epoch / EPOCHS)
            for at, slope in enumerate(slopes):
                first[at] = 0.9 * first[at] + 0.1 * slope
                second[at] = 0.999 * second[at] + 0.001 * slope**2
                ahead = first[at] / (1 - 0.9**step)
                params[at] -= rate * ahead / (np.sqrt(second[at] / (1 - 0.999**step)) + 1e-8)
    return params[0], params[1], np.concatenate((params[2], params[3]))


def packed(weights: Floats) -> dict[str, Any]:
    """Return weights as 8-bit numbers and their scale."""
    scale = float(np.abs(weights).max()) / 127
    held = np.round(weights / scale).astype(np.int8)
    return {
        "shape": list(held.shape),
        "scale": round(scale, 8),
        "int8": b64encode(held.tobytes()).decode("ascii"),
    }


def layers(folder: Path) -> dict[str, dict[str, Any]]:
    """Train what tells how delicate a question is, and the model of other languages."""
    own = questions()
    asked = [(text, private, OWN) for language, text, private in own if language == "en"]
    asked += [(text, private, 1.0) for text, private in of_others(folder)]
    other = [(text, private) for language, text, private in own if language != "en"]

    def vectors(texts: list[str]) -> Floats:
        return np.asarray(bundled().embed([trimmed(one) for one in texts]), dtype=np.float64)

    inner, inner_bias, outer = layered(
        vectors([text for text, *_ in asked]),
        np.array([float(private) for _, private, _ in asked]),
        np.array([weight for *_, weight in asked]),
    )
    outer[-1] -= SHIFT
    rows = np.hstack([vectors([text for text, _ in other]), [pieces(text) for text, _ in other]])
    elsewhere = linear(rows, np.array([float(private) for _, private in other]))
    elsewhere[-1] -= SHIFT_ELSEWHERE
    weights = {
        "inner": inner,
        "inner_bias": inner_bias,
        "outer": outer,
        "any": elsewhere,
    }
    print(f"{len(asked)} English and {len(other)} other questions")
    return {name: packed(one) for name, one in weights.items()}


def main() -> None:
    """Train them and write them."""
    parser = argparse.ArgumentParser(prog="python scripts/train_matter.py", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--corpora", type=Path, required=True, help="clones of open corpora")
    options = parser.parse_args()
    folder = options.folder
    shown = layers(folder) if folder else json.loads(OUT.read_text("utf-8"))["weights"]
    rows = ordinary(Corpora(options.corpora))
    shown["english"] = packed(english(unpacked(shown), rows))
    held = {"embedder": bundled().id, "reader": shared().checksum, "weights": shown}
    OUT.write_text(json.dumps(held, indent=1) + "\n", "utf-8")
    print(f"{len(rows)} ordinary English questions, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
