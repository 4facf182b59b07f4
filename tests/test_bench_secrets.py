"""Hold the secret generator and the judge to what they promise, without any redactor."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from bench import secret_values as values
from bench._common import BenchError
from bench.secret_lines import SecretLine, benign, generate, planted_values
from bench.secret_templates import BENIGN, COMMANDS, TEXTS
from bench.secrets import (
    Baseline,
    Item,
    predict,
    read_lines,
    real_lines,
    real_texts,
    score,
    show_false,
    show_missed,
    speed,
    workload,
    write_predictions,
)

SEED = 20
_ESCAPES = re.compile(r"\\+u[0-9a-f]{4}|%[0-9A-F]{2}|&(?:quot|amp|lt|gt|#x27);|\\+n|\W|_")


@pytest.fixture(scope="module")
def lines() -> list[SecretLine]:
    """Generate the default set once."""
    return generate(seed=SEED)


def _letters(text: str) -> str:
    """Keep what no quoting changes: ASCII letters and digits."""
    return _ESCAPES.sub("", text.encode("ascii", "ignore").decode())


def test_the_default_set_is_large_and_varied(lines: list[SecretLine]) -> None:
    kinds = Counter(kind for line in lines for _, _, kind in line.spans)
    assert len(lines) >= 600
    assert len(kinds) >= 40
    assert {line.family for line in lines} == {*COMMANDS, *TEXTS}
    assert len({p.kind for p in values.PROVIDERS} & set(kinds)) >= 25


def test_the_default_set_holds_every_kind(lines: list[SecretLine]) -> None:
    kinds = {kind for line in lines for _, _, kind in line.spans}
    assert kinds == {*values.KINDS, *values.BLOCKS, *(p.kind for p in values.PROVIDERS)} | {
        kind for kind in kinds if kind.endswith(("_password", "_passphrase"))
    }
    few = {kind for line in generate(seed=SEED, n=600) for _, _, kind in line.spans}
    assert len(few) >= 40


def test_spans_lie_in_the_text_in_order_and_apart(lines: list[SecretLine]) -> None:
    for line in lines:
        at = 0
        assert line.spans
        for start, end, kind in line.spans:
            assert at <= start < end <= len(line.text), line
            assert kind
            at = end


def test_spans_hold_the_planted_values(lines: list[SecretLine]) -> None:
    verbatim = 0
    for line in lines:
        assert len(line.spans) == len(line.values)
        for (start, end, _), value in zip(line.spans, line.values, strict=True):
            there = line.text[start:end]
            verbatim += there == value
            assert _letters(there) == _letters(value), line
    assert verbatim > len(lines) / 2


def test_no_token_is_left_unfilled(lines: list[SecretLine]) -> None:
    for line in [*lines, *benign(seed=SEED)]:
        assert not set("«»‹›") & set(line.text), line


def test_awkward_values_are_among_them(lines: list[SecretLine]) -> None:
    planted = [value for line in lines for value in line.values]
    assert any(4 <= len(value) <= 7 for value in planted)
    assert any(" " in value for value in planted)
    assert any(not value.isascii() for value in planted)
    assert any("'" in value for value in planted)
    assert any('"' in value for value in planted)
    assert min(map(len, planted)) >= 4
    ends = sum(line.spans[-1][1] == len(line.text) for line in lines)
    assert ends > 50
    assert sum(len(line.spans) > 1 for line in lines) > 50
    assert sum(len(set(line.values)) < len(line.values) for line in lines) > 10


def test_a_seed_repeats_and_another_differs() -> None:
    assert generate(seed=1, n=400) == generate(seed=1, n=400)
    assert generate(seed=1, n=400) != generate(seed=2, n=400)
    assert benign(seed=1) == benign(seed=1)
    assert benign(seed=1) != benign(seed=2)


def test_lines_stand_in_context_so_that_over_redaction_shows(lines: list[SecretLine]) -> None:
    short = [x for x in lines if not any(kind in values.BLOCKS for _, _, kind in x.spans)]
    planted = sum(end - start for line in short for start, end, _ in line.spans)
    assert sum(len(line.text) for line in short) > 2 * planted


def test_benign_lines_are_many_different_and_hold_nothing() -> None:
    lookalikes = benign(seed=SEED)
    assert len(lookalikes) >= 500
    assert len({line.text for line in lookalikes}) == len(lookalikes)
    assert not any(line.spans or line.values for line in lookalikes)
    assert len(BENIGN) >= 200


def test_the_sources_hold_no_string_that_looks_like_a_live_key() -> None:
    live = re.compile(r"(?:gh[pousr]_|npm_|glpat-|sk-ant-api03-|AKIA|AIza)[A-Za-z0-9]{16}")
    for path in Path(values.__file__).parent.glob("*.py"):
        assert not live.search(path.read_text(encoding="utf-8")), path


def test_planted_values_find_plaintext_in_a_file(lines: list[SecretLine], tmp_path: Path) -> None:
    planted = planted_values(lines)
    assert all(len(value) >= 8 for value in planted)
    block = next(line for line in lines if line.family == "key_blocks")
    leak = tmp_path / "leak"
    leak.write_bytes(b"x" + block.values[0].split("\n")[1].encode() + b"y")
    assert any(value in leak.read_bytes() for value in planted)
    leak.write_text("\n".join(line.text for line in benign(seed=SEED)), encoding="utf-8")
    assert not any(value in leak.read_bytes() for value in planted)


def test_planted_values_hold_quoted_and_plain_forms() -> None:
    line = SecretLine(
        text='{"password": "a\\"b-c-d-e-f"}',
        spans=((14, 26, "login_password"),),
        values=('a"b-c-d-e-f',),
        family="json",
    )
    assert planted_values([line]) == {b'a\\"b-c-d-e-f', b'a"b-c-d-e-f'}


# ------------------------------------------------------------------ the judge


def _item(text: str, *planted: str) -> Item:
    spans = tuple((text.index(p), text.index(p) + len(p), "password") for p in planted)
    source = "planted" if planted else "lookalike"
    return Item(text=text, spans=spans, family="json", source=source)


def test_score_counts_whole_secrets_and_single_redactions() -> None:
    items = [_item("pw=abcdef host=x", "abcdef"), _item("pw=abcdef", "abcdef"), _item("nothing")]
    found = [[(3, 9, "p")], [(3, 8, "p"), (0, 2, "p")], [(0, 7, "p")]]
    got = score(items, found)
    assert (got["planted"], got["found"], got["redactions"]) == (2, 1, 4)
    assert got["recall"] == 50.0
    assert got["precision"] == 50.0
    assert got["over_redaction"] == round(100 * 2 / 13, 3)
    assert got["wrong_redactions"] == {"on_lookalike": 1, "on_secret_lines": 1}
    assert [row["source"] for row in show_false(items, found)] == ["planted", "lookalike"]
    assert [row["left"] for row in show_missed(items, found)] == ["1 of 6"]


def test_the_marks_of_a_key_block_may_go_with_it() -> None:
    line = next(x for x in generate(seed=SEED) if x.family == "key_blocks" and x.text[0] == "-")
    item = Item(text=line.text, spans=line.spans, family=line.family, source="planted")
    assert score([item], [[(0, len(line.text), "private_key")]])["over_redaction"] is None


def test_predictions_are_one_line_each_in_order(lines: list[SecretLine], tmp_path: Path) -> None:
    items = [_item(line.text) for line in lines[:50]] + [_item("lone \ud800 surrogate")]
    found = predict(Baseline(), items)
    path = tmp_path / "predictions.jsonl"
    write_predictions(path, items, found)
    rows = [json.loads(row) for row in path.read_text(encoding="utf-8").splitlines()]
    assert [row["line"] for row in rows] == [item.text for item in items]
    assert [[tuple(r) for r in row["redacted"]] for row in rows] == found
    assert all(set(row) == {"line", "redacted"} for row in rows)


def test_lines_from_a_file_are_judged_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"line": "pw=abcdef", "spans": [[3, 9, "password"]]}\n\n', encoding="utf-8")
    (item,) = read_lines(path)
    assert item.spans == ((3, 9, "password"),)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "holds no line"),
        ("nonsense", "line 1 is not"),
        ('{"line": "x"}', "line 1 is not"),
        ('{"line": "x", "spans": [[0, 2, "p"]]}', "outside its text"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BenchError, match=reason):
        read_lines(path)


def test_real_lines_are_what_people_see(tmp_path: Path) -> None:
    record = {
        "type": "assistant",
        "uuid": "not text",
        "message": {
            "id": "msg_1",
            "content": [
                {"type": "text", "text": "one\n\ntwo"},
                {"type": "tool_use", "id": "toolu_1", "input": {"command": "ls"}},
                {"type": "thinking", "thinking": "", "signature": "c2lnbmF0dXJl"},
            ],
        },
    }
    (tmp_path / "log.jsonl").write_text(json.dumps(record) + "\nnot json\n", encoding="utf-8")
    real = real_texts(tmp_path)
    assert real.unread == 1
    assert sorted(real_lines(real.texts, seed=1)) == ["ls", "one", "two"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(BenchError, match=r"no \.jsonl file"):
        real_texts(empty)


def test_the_speed_run_repeats_texts_until_there_is_enough() -> None:
    pieces, total = workload(["x" * 1000], mb=0.01)
    assert len(pieces) == 10
    assert total == pytest.approx(0.01)
    assert speed(Baseline(), ["plain text " * 1000], mb=0.05) > 0


def test_the_baseline_finds_the_plain_cases_only() -> None:
    text = "export API_TOKEN=abcdef123456 # then\ncurl -u bob:hunter22 https://x.dev"
    assert Baseline().redact(text) == (
        "export API_TOKEN=[REDACTED:assignment] # then\ncurl -u bob:[REDACTED:curl_user] https://x.dev"
    )
