"""What factbook put before a real agent, or was asked by it, does not come back from its log."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.agents import HOSTS, installed, run
from clients.scripted import Say, Use
from factbook.memory import Memory
from factbook.model.ours import MEMORY_TAG

PROMPTS = ["Set the dinner table for six people", "and light the candles"]
REPLIES = ["Six plates are on the table.", "Two candles burn."]
TOLD = "I am allergic to hazelnuts, and Ilse bakes quince cake."
WORDS = ("hazelnut", "fig", "quince")
SHELL = {"claude": "Bash", "codex": "exec_command", "gemini": "run_shell_command"}
COMMAND = f"{sys.executable} -m factbook recall 'who bakes quince cake'"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key") as memory:
        yield memory


TOY = Path(__file__).with_name("hook.py")
REAL = "-c 'import factbook.surface.hook; factbook.surface.hook.main()'"


@pytest.mark.shows("what was injected or asked for comes back through no log")
@pytest.mark.parametrize(
    ("server", "hook", "times"), [("factbook", TOY, 1), ("notes", TOY, 400), ("factbook", REAL, 1)]
)
@pytest.mark.parametrize("host", HOSTS)
def test_a_session_with_injected_memory_gives_its_prompts_and_no_echo(
    memory: Memory, tmp_path: Path, host: str, server: str, hook: object, times: int
) -> None:
    installed(host)
    memory.remember(TOLD)
    memory.embed()
    before = heard(memory)
    search = f"mcp__{server}__search_memory" if host == "claude" else "search_memory"
    asked = {"cmd" if host == "codex" else "command": COMMAND}
    done = run(
        host,
        tmp_path / host,
        PROMPTS,
        [
            Use(search, {"query": "hazelnut allergy"}),
            Use(SHELL[host], {**asked, **({"description": "Ask"} if host == "claude" else {})}),
            Say(REPLIES[0]),
            Say(REPLIES[1]),
        ],
        servers={server: [sys.executable, "-m", "factbook", "--db", str(memory.path), "mcp"]},
        hook=f"{sys.executable} {hook}",
        env={
            "FACTBOOK_KEY_FILE": str(tmp_path / "key"),
            "HOOK_TIMES": str(times),
            "FACTBOOK_DB": str(memory.path),
            "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
        },
    )
    assert done.codes == [0, 0], done.said
    assert f"<{MEMORY_TAG}" in done.asked[0].replace("&lt;", "<"), "the hook reached no model"
    assert any("am allergic to hazelnuts" in one for one in done.asked), "no tool answered"
    memory.ingest([done.logs])  # the hook's own process may have read all of it
    again = memory.ingest([done.logs])
    memory.embed()
    assert again.receipt.stored == 0
    for lines in (source.lines for source in memory.store.sources()):
        assert (lines.unknown, lines.rejected) == ({}, {})
    new = [text for text in heard(memory) if text not in before]
    assert [text for text in new if text in PROMPTS] == PROMPTS
    assert [text for text in new if text in REPLIES] == REPLIES
    assert [text for text in new if any(word in text for word in WORDS)] == []
    for question in ("hazelnut allergy", "who bakes quince cake"):
        hits = [hit.text for hit in memory.recall(question).hits]
        assert hits[0] == TOLD
        assert [hit for hit in hits if hit != TOLD and any(word in hit for word in WORDS)] == []


@pytest.mark.shows("what is asked with a prompt of the server comes back through no log")
@pytest.mark.parametrize("host", [host for host in HOSTS if host != "codex"])  # it has none
def test_what_a_prompt_of_the_server_is_asked_is_no_memory(
    memory: Memory, tmp_path: Path, host: str
) -> None:
    installed(host)
    memory.remember(TOLD)
    memory.embed()
    before = heard(memory)
    named = "/mcp__factbook__" if host == "claude" else "/"
    done = run(
        host,
        tmp_path / host,
        [f"{named}recall hazelnut?", f"{named}review"],
        [Say(reply) for reply in REPLIES],
        servers={"factbook": [sys.executable, "-m", "factbook", "--db", str(memory.path), "mcp"]},
        env={"PYTHONPATH": str(Path(__file__).parents[1] / "src")},
    )
    assert done.codes == [0, 0], done.said
    assert any("am allergic to hazelnuts" in one for one in done.asked), "no prompt was sent"
    assert memory.ingest([done.logs]).receipt.episodes
    assert memory.ingest([done.logs]).receipt.episodes == 0
    new = [text for text in heard(memory) if text not in before]
    assert [text for text in new if text in REPLIES] == REPLIES
    assert [text for text in new if "recall" in text or "review" in text or "hazel" in text] == []


def heard(memory: Memory) -> list[str]:
    """Return what is kept as said or done, and what facts say, in the order that it came."""
    rows = memory.sql("SELECT text FROM episode_row WHERE NOT injected ORDER BY id")
    facts = memory.sql("SELECT statement AS text FROM facts ORDER BY id")
    refused = memory.sql("SELECT * FROM rejection_row")
    return [str(row["text"]) for row in (*rows, *facts)] + [str(row) for row in refused]
