"""The embedder that ships: unit vectors, of a text alone, from the very files that are recorded."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from factbook.embed import Embedder, bundled, embed_questions, minilm
from factbook.embed.minilm import MAX_CHARS, TOKENISE_TEXTS, BundledEmbedder, readable
from factbook.errors import EmbedderError
from factbook.memory.doctor import examine
from factbook.net.cancel import Cancel, Cancelled, cancelling

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "src" / "factbook" / "embed" / "data"
RECORD = json.loads((DATA / "model.json").read_text(encoding="utf-8"))
ASKER = json.loads((DATA / "asker.json").read_text(encoding="utf-8"))
ROUNDING = 2e-6  # of float32 sums that another batch adds up in another order

VARIED = [
    "Connect to the staging host and restart the queue worker.",
    "yes",
    "",
    "The backup failed because the disk of the archive host was full. " * 3,
    "tar -xzf release.tar.gz -C /tmp/release",
    "サーバーの証明書は来週に期限が切れます。",
    "one line\nand another\tone, with\x00a NUL and \ud83d\ude42 and a lone \udc80 surrogate",
    "🙂🚀",
    "Anna moved from Tartu to Porto in May. " * 60,
    "yes",
]


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return bundled()


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "make_embedder", ROOT / "scripts" / "make_embedder.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def folder_with(tmp_path: Path, **contents: bytes) -> Path:
    """Make a folder of the model's files, with other contents for some; None of them is copied."""
    for name in ("model.json", "model.onnx", "tokenizer.json", "asker.json", "asker.onnx"):
        other = contents.get(name.replace(".", "_"))
        if other is None:
            (tmp_path / name).symlink_to(DATA / name)
        else:
            (tmp_path / name).write_bytes(other)
    return tmp_path


def python(code: str, **environment: str) -> str:
    """Run a program in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "", **environment},
    )
    assert not done.stderr
    return done.stdout.strip()


# --- what a vector is -----------------------------------------------------------------------------


def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder: BundledEmbedder) -> None:
    vectors = embedder.embed(VARIED)
    assert vectors.shape == (len(VARIED), 384)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(vectors[1], vectors[9])
    for text, vector in zip(VARIED, vectors, strict=True):
        np.testing.assert_allclose(embedder.embed([text])[0], vector, atol=ROUNDING)


def test_the_same_texts_give_the_same_numbers(embedder: BundledEmbedder) -> None:
    np.testing.assert_array_equal(embedder.embed(VARIED), embedder.embed(VARIED))


def test_no_texts_give_no_rows(embedder: BundledEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


def test_it_is_an_embedder_and_the_same_one_everywhere(embedder: BundledEmbedder) -> None:
    def use(one: Embedder) -> tuple[str, int]:
        return one.id, one.dim

    assert use(embedder) == (RECORD["id"], 384)
    assert bundled() is embedder
    assert bundled() is embedder  # also once the module has been imported
    with ThreadPoolExecutor(4) as pool:
        assert {id(one) for one in pool.map(lambda _: bundled(), range(8))} == {id(embedder)}


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        (
            "Which machines did I log in to over ssh?",
            "I opened a secure shell to the host web-3.",
            "She bakes rye bread on Sundays.",
        ),
        (
            "The nightly backup failed.",
            "Saving a copy of the data did not work last night.",
            "The choir rehearses on the third floor.",
        ),
        (
            "He prefers tea to coffee.",
            "Tea is what he would rather drink.",
            "The compiler reports an unused variable.",
        ),
        (
            "Revert the last commit.",
            "Undo the most recent change in git.",
            "The lake was frozen until April.",
        ),
    ],
)
def test_a_paraphrase_is_nearer_than_an_unrelated_text(
    embedder: BundledEmbedder, text: str, paraphrase: str, unrelated: str
) -> None:
    one, near, far = embedder.embed([text, paraphrase, unrelated])
    assert one @ near > one @ far + 0.2


def test_case_and_accents_make_no_difference(embedder: BundledEmbedder) -> None:
    vectors = embedder.embed(["A café in Málaga", "a cafe in malaga", "A CAFE\u0301 IN MALAGA"])
    np.testing.assert_allclose(vectors, vectors[[0, 0, 0]], atol=ROUNDING)


# --- a text's vector depends on that text alone ---------------------------------------------------

_ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
WORDS = ["archive", "host", "queue", "worker", "disk", "retry", "river", "is", "full", "42"]
_MANY_WORDS = st.lists(st.sampled_from(WORDS), max_size=30)


@settings(max_examples=30, deadline=None)
@given(st.lists(_ANY_TEXT | _MANY_WORDS.map(" ".join), min_size=1, max_size=6))
def test_any_strings_alone_or_together(embedder: BundledEmbedder, texts: list[str]) -> None:
    together = embedder.embed(texts)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=ROUNDING)


def test_neighbours_threads_and_chunks_change_nothing(embedder: BundledEmbedder) -> None:
    rng = random.Random(5)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(0, 2))) for _ in range(TOKENISE_TEXTS + 60)]
    vectors = BundledEmbedder(threads=3).embed(texts)
    np.testing.assert_allclose(BundledEmbedder(threads=1).embed(texts), vectors, atol=ROUNDING)
    for i in [0, 1, TOKENISE_TEXTS - 1, TOKENISE_TEXTS, len(texts) - 1]:
        np.testing.assert_allclose(embedder.embed([texts[i]])[0], vectors[i], atol=ROUNDING)


def test_many_threads_may_use_one_embedder() -> None:
    fresh = BundledEmbedder(threads=2)  # not loaded yet: the threads race for that as well
    expected = bundled().embed(VARIED)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: fresh.embed(VARIED), range(8)):
            np.testing.assert_allclose(vectors, expected, atol=ROUNDING)


# --- long and odd texts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "word " * 200_000,
        "x" * 1_000_000,
        "e\u0301" * 500_000,
        "\udc80" * 1_000_000,
        "字" * 1_000_000,
    ],
    ids=["words", "one word", "combining", "surrogates", "wide"],
)
def test_a_megabyte_is_read_up_to_max_chars(embedder: BundledEmbedder, text: str) -> None:
    vectors = embedder.embed([text, text[:MAX_CHARS]])
    np.testing.assert_array_equal(vectors[0], vectors[1])


def test_what_follows_256_tokens_is_not_read(embedder: BundledEmbedder) -> None:
    filled = "disk " * 254  # and the two marks that every text gets
    vectors = embedder.embed([filled, filled + "a different ending", "disk " * 253 + "ending"])
    np.testing.assert_array_equal(vectors[0], vectors[1])
    assert np.abs(vectors[0] - vectors[2]).max() > 1e-4


def test_readable_joins_surrogate_pairs_and_replaces_lone_ones() -> None:
    assert readable("a\ud83d\ude42b\udc80c") == "a🙂b\ufffdc"
    assert readable("plain") == "plain"


def test_a_lone_surrogate_and_a_nul_are_skipped(embedder: BundledEmbedder) -> None:
    vectors = embedder.embed(["the \udc80disk is\x00 full", "the disk is full"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=ROUNDING)


def test_one_text_instead_of_a_list_is_refused(embedder: BundledEmbedder) -> None:
    with pytest.raises(TypeError, match="put it in a list"):
        embedder.embed("a text")


def test_no_threads_are_refused() -> None:
    with pytest.raises(ValueError, match="give 1 or more"):
        BundledEmbedder(threads=0)


# --- the files ------------------------------------------------------------------------------------


def test_the_shipped_files_are_the_recorded_ones(script: ModuleType) -> None:
    for name, entry in RECORD["files"].items():
        data = (DATA / name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"])
    assert sum(entry["bytes"] for entry in RECORD["files"].values()) < 25e6
    assert RECORD["source"]["sha256"] == script.SHA256
    bundled().verify()


def test_the_id_names_the_weights_the_tokenisation_and_the_cut(script: ModuleType) -> None:
    files = [(DATA / name).read_bytes() for name in ("model.onnx", "tokenizer.json")]
    assert script.model_id(*files) == RECORD["id"] == bundled().id


def test_the_recorded_figures_meet_the_targets_and_are_the_documented_ones(
    script: ModuleType,
) -> None:
    script.check_targets(RECORD["figures"])
    assert script.table(RECORD) in (ROOT / "docs" / "embedder.md").read_text(encoding="utf-8")
    assert len(script.proof_texts()) == RECORD["figures"]["texts"]


def test_quantising_rounds_to_half_a_step_and_keeps_zeros(script: ModuleType) -> None:
    matrix = np.random.default_rng(3).normal(size=(64, 5)).astype(np.float32)
    matrix[:32, 0] = 0
    integers, scales = script.quantise(matrix, block=32)
    wide = np.repeat(scales.astype(np.float32), 32, axis=0)
    assert not integers[:32, 0].any()
    assert (np.abs(integers * wide - matrix) <= 0.502 * wide + 1e-9).all()


# --- questions ------------------------------------------------------------------------------------

# Ours: what people say, and what they ask of it in other words.
SAID_AND_ASKED = [
    ("We moved the nightly job to 3 am, as backups hold the disk until then.",
     "why is the cleanup script running later than it used to"),
    ("The upload failed because the certificate had expired on Sunday.",
     "what broke sending files to the server that weekend"),
    ("I dropped the cache: it gave users prices of the day before.",
     "reason for getting rid of the thing that remembers results"),
    ("Login now goes through the company's own identity provider.",
     "how do people sign in these days"),
    ("The tests took nine minutes; running them side by side made it four.",
     "what did we do about checks being so slow"),
    ("Customers without a postal code crashed the invoice page.",
     "which clients made billing fall over"),
]  # fmt: skip


def test_questions_lie_in_the_space_of_records_and_nearer_to_what_answers_them() -> None:
    records = bundled().embed([said for said, _ in SAID_AND_ASKED])
    asked = [question for _, question in SAID_AND_ASKED]
    plain = bundled().embed(asked)
    vectors = bundled().embed_questions(asked)
    assert vectors.shape == (len(asked), bundled().dim)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert ((vectors * plain).sum(1) > 0.6).all()  # the same meaning still
    others = ~np.eye(len(asked), dtype=bool)

    def apart(rows: NDArray[np.float32]) -> float:
        cosines = rows @ records.T
        return float(np.diag(cosines).mean() - cosines[others].mean())

    assert apart(vectors) > apart(plain)


def test_a_question_depends_on_its_own_text_alone_and_any_text_is_legal() -> None:
    odd = ["", "\ud800", "x" * 20_000, "why\x00?", "🦊 " * 400]
    vectors = bundled().embed_questions(odd)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[2], bundled().embed_questions([odd[2]])[0], atol=1e-6)
    assert bundled().embed_questions([]).shape == (0, bundled().dim)


def test_an_embedder_without_a_way_for_questions_embeds_them_as_texts() -> None:
    class Plain:
        id, dim = "plain", 2

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.full((len(texts), 2), 0.5, np.float32)

    assert embed_questions(Plain(), ["why?"]).tolist() == [[0.5, 0.5]]


def test_the_network_of_questions_is_the_recorded_one_and_belongs_to_the_model(
    tmp_path: Path,
) -> None:
    data = (DATA / "asker.onnx").read_bytes()
    entry = ASKER["files"]["asker.onnx"]
    assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"])
    assert ASKER["words"]["embedder_sha256"] == RECORD["files"]["model.onnx"]["sha256"]
    embedder = BundledEmbedder(folder=folder_with(tmp_path, asker_onnx=data[:-1]))
    with pytest.raises(EmbedderError, match=r"asker\.onnx has"):
        embedder.embed_questions(["why?"])
    with pytest.raises(EmbedderError, match="recorded checksum"):
        embedder.verify()
    (tmp_path / "asker.json").unlink()
    with pytest.raises(EmbedderError, match=r"asker\.json cannot be read"):
        embedder.embed_questions(["why?"])
    embedder.embed(["what is remembered does not wait for it"])


def test_questions_are_refused_beside_another_model(tmp_path: Path) -> None:
    other = json.loads(json.dumps(ASKER))
    other["words"]["embedder_sha256"] = "0" * 64
    folder = folder_with(tmp_path, asker_json=json.dumps(other).encode())
    with pytest.raises(EmbedderError, match=r"belongs to another model\.onnx"):
        BundledEmbedder(folder=folder).embed_questions(["why?"])


@pytest.mark.parametrize("cut", [b"short", None])
def test_questions_need_the_words_of_the_model(tmp_path: Path, cut: bytes | None) -> None:
    folder = folder_with(tmp_path, model_onnx=cut or b"")
    if cut is None:
        (tmp_path / "model.onnx").unlink()
    with pytest.raises(EmbedderError, match=r"model\.onnx (has 5 bytes|cannot be read)"):
        BundledEmbedder(folder=folder).embed_questions(["why?"])


def test_one_question_is_no_list_and_who_is_told_to_stop_stops() -> None:
    with pytest.raises(TypeError, match="put it in a list"):
        bundled().embed_questions("why?")
    token = Cancel()
    token.cancel()
    with cancelling(token), pytest.raises(Cancelled):
        bundled().embed_questions(["why?"])


def test_many_threads_ask_and_embed_at_once() -> None:
    embedder = BundledEmbedder()
    with ThreadPoolExecutor(8) as pool:
        ways = [embedder.embed, embedder.embed_questions] * 8
        rows = list(pool.map(lambda way: way(["When does the ferry leave?"])[0], ways))
    for row, way in zip(rows, ways, strict=True):
        np.testing.assert_allclose(row, way(["When does the ferry leave?"])[0], atol=ROUNDING)


def test_the_doctor_finds_that_questions_cannot_be_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_with(tmp_path)
    (tmp_path / "asker.onnx").unlink()
    monkeypatch.setattr(minilm, "_shared", lambda: BundledEmbedder(folder=folder))
    (found,) = [one for one in examine(tmp_path / "none.db") if one.name == "embedder"]
    assert (found.level, "asker.onnx" in found.detail) == ("fail", True)


def test_the_documented_figures_of_questions_are_the_recorded_ones() -> None:
    spec = importlib.util.spec_from_file_location(
        "figures", ROOT / "scripts" / "asker" / "figures.py"
    )
    assert spec
    assert spec.loader
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    assert figures.table(ASKER) in (ROOT / "docs" / "embedder.md").read_text(encoding="utf-8")


def test_a_missing_record_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"model\.json cannot be read"):
        BundledEmbedder(folder=tmp_path)


def test_a_broken_record_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"model\.json is not JSON"):
        BundledEmbedder(folder=folder_with(tmp_path, model_json=b"{"))


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_one_clear_sentence(tmp_path: Path, missing: str) -> None:
    embedder = BundledEmbedder(folder=folder_with(tmp_path))
    (tmp_path / missing).unlink()
    with pytest.raises(EmbedderError, match=f"{missing} cannot be read"):
        embedder.embed(["text"])
    with pytest.raises(EmbedderError, match=f"{missing} cannot be read"):
        embedder.verify()


def test_a_model_cut_short_is_one_clear_sentence(tmp_path: Path) -> None:
    embedder = BundledEmbedder(folder=folder_with(tmp_path, model_onnx=b"\x08\x0a"))
    with pytest.raises(EmbedderError, match="has 2 bytes, not"):
        embedder.load()


def test_a_model_of_other_bytes_is_one_clear_sentence(tmp_path: Path) -> None:
    zeros = bytes(RECORD["files"]["model.onnx"]["bytes"])
    embedder = BundledEmbedder(folder=folder_with(tmp_path, model_onnx=zeros))
    with pytest.raises(EmbedderError, match=r"onnxruntime: .* reinstall factbook"):
        embedder.load()
    with pytest.raises(EmbedderError, match="recorded checksum"):
        embedder.verify()


def test_another_tokenizer_is_one_clear_sentence(tmp_path: Path) -> None:
    data = (DATA / "tokenizer.json").read_bytes().replace(b'"disk"', b'"disc"', 1)
    embedder = BundledEmbedder(folder=folder_with(tmp_path, tokenizer_json=data))
    with pytest.raises(EmbedderError, match="recorded checksum"):
        embedder.embed(["text"])


# --- as a new process -----------------------------------------------------------------------------


def test_importing_loads_no_model() -> None:
    code = (
        "import sys, factbook.embed as e; one = e.bundled(); print(one.dim);"
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    assert python(code).split("\n") == ["384", "[]"]


def test_embedding_loads_no_library_that_downloads() -> None:
    code = """
import sys
from factbook.embed import bundled
print(bundled().embed(["nothing is downloaded"]).shape)
print(sorted({"huggingface_hub", "requests", "httpx", "torch", "onnx"} & set(sys.modules)))
"""
    printed = python(code, HF_HUB_OFFLINE="1", HF_HOME="/nonexistent", HOME="/nonexistent")
    assert printed.split("\n") == ["(1, 384)", "[]"]
