"""A person at a terminal: prompts, a compaction or a new session, the end; and trust in hooks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clients.agents import FOLDER, Agent, agent, on_path
from clients.scripted import Say
from clients.terminal import Terminal
from factbook.memory import Memory

FACTBOOK = [sys.executable, "-m", "factbook"]
TOLD = "I love fettuccini with sage."
PROMPTS = ["Tell me of the fettuccini that I love", "Set the table for six people"]
SUMMARY = "<summary>A table was set for six people.</summary>"
REPLIES = ["With sage it was.", "Six plates are there."]
AGAIN = ["Name the fettuccini that I love", "The same one."]
READY = {
    "claude": "auto mode on",
    "codex": "Ask Codex to do anything",
    "gemini": "Type your message",
}
LEAVE = {"claude": "/exit", "codex": "/exit", "gemini": "/quit"}
EVENTS = {
    "claude": {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"},
    "codex": {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"},
    "gemini": {"SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"},
}


@contextmanager
def set_up(host: str, folder: Path, turns: list[Say]) -> Iterator[Agent]:
    """Yield an agent that `factbook install` was run for, in a home where something was told."""
    if not (FOLDER / "terminal").exists():
        pytest.skip(f"no terminal is installed in {FOLDER}: run `make clients`")
    with agent(host, folder, turns, env=on_path(host, folder)) as at_work:
        if host == "claude":  # as one who has used it before: it asks no more for theme and login
            approved = {"approved": [at_work.env["ANTHROPIC_API_KEY"]], "rejected": []}
            known = {"hasCompletedOnboarding": True, "theme": "dark"}
            known |= {"customApiKeyResponses": approved}
            (at_work.home / ".claude.json").write_text(json.dumps(known), "utf-8")
        if host == "gemini":  # which starts itself anew where a folder comes to be trusted
            trusted = {str(at_work.work): "TRUST_FOLDER"}
            (at_work.home / ".gemini/trustedFolders.json").write_text(json.dumps(trusted), "utf-8")
        for line in ([*FACTBOOK, "remember", TOLD], [*FACTBOOK, "install", host]):
            code, said = at_work.do(line)
            assert code == 0, said
        yield at_work


def opened(at_work: Agent) -> Terminal:
    """Start the agent in a terminal, without a server of its own that would outlive it."""
    alone = ["--no-daemon"] if at_work.host == "codex" else []
    return Terminal([*at_work.command, *alone], at_work.work, at_work.env)


def come_in(terminal: Terminal, host: str) -> None:
    """Answer what is asked at the first start, with trust."""
    if host == "claude":
        terminal.wait("Yes, I trust this folder")
        while "❯ Yes" not in terminal.text:  # it may not read keys yet
            terminal.press("down")
        terminal.press("enter")
    elif host == "codex":
        terminal.wait("Hooks need review")
        assert "5 hooks are new or changed" in terminal.text
        terminal.press("down", "enter")  # Trust all and continue
    terminal.wait(READY[host])


def ask(terminal: Terminal, prompt: str, reply: str) -> None:
    terminal.press(prompt, "enter")
    terminal.wait(reply)


@pytest.mark.shows("a session in a terminal: reminded, read, anew after /compact or /clear")
@pytest.mark.parametrize(
    ("host", "command"),
    [
        ("claude", "/compact"),
        ("claude", "/clear"),
        ("codex", "/compact"),
        ("codex", "/clear"),
        ("gemini", "/clear"),
    ],
)
def test_a_session_in_a_terminal(tmp_path: Path, host: str, command: str) -> None:
    # Claude Code asks for a summary as it asks for everything else.
    summary = [SUMMARY] if (host, command) == ("claude", "/compact") else []
    replies = [Say(said) for said in (*REPLIES, *summary, AGAIN[1])]
    with set_up(host, tmp_path / host, replies) as at_work:
        with opened(at_work) as terminal:
            come_in(terminal, host)
            for prompt, reply in zip(PROMPTS, REPLIES, strict=True):
                ask(terminal, prompt, reply)
            terminal.press(command, "enter")
            if command == "/compact":
                terminal.wait("Compacted", "Context compacted")
            else:
                terminal.wait(*REPLIES, gone=True)
            ask(terminal, *AGAIN)
            terminal.press(LEAVE[host], "enter")
            assert terminal.ended() == 0
        at_work.settle()
        spool, asked = at_work.spool, at_work.asked
        _, doctor = at_work.do([*FACTBOOK, "doctor", "--client", host])
    with_prompt = [each for each in asked if PROMPTS[0] in each and TOLD in each]
    assert with_prompt, "the hook reached no model"
    assert with_prompt[0].count("factbook-memory ids") == 1
    anew = [each for each in asked if AGAIN[0] in each]
    assert any(TOLD in each and "factbook-memory ids" in each for each in anew)
    events = {event for state in spool.sessions() for event in state["events"]}
    assert events >= EVENTS[host]
    assert "hooks ran: " in doctor
    assert "of late" not in doctor
    with Memory(spool.folder.removesuffix(".hooks"), key_file=tmp_path / "key") as memory:
        rows = memory.sql("SELECT text FROM episode_row WHERE NOT injected ORDER BY id")
        heard = [str(row["text"]) for row in rows]
    said = [text for text in heard if text in (*PROMPTS, *REPLIES, *AGAIN)]
    assert said == [PROMPTS[0], REPLIES[0], PROMPTS[1], REPLIES[1], *AGAIN]
    assert len([text for text in heard if "ith sage" in text]) == 2  # as told, and in the reply


@pytest.mark.shows("hooks that are not trusted are asked about at the start, and told by doctor")
def test_codex_asks_about_hooks_and_the_doctor_tells_the_answer(tmp_path: Path) -> None:
    with set_up("codex", tmp_path / "codex", [Say(REPLIES[0])]) as at_work:
        doctor = [*FACTBOOK, "doctor", "--client", "codex"]
        assert "not trusted, and skipped: " in at_work.do(doctor)[1]
        with opened(at_work) as terminal:
            terminal.wait("Hooks need review")
            terminal.press("down", "down", "enter")  # Continue without trusting
            terminal.wait(READY["codex"])
            ask(terminal, PROMPTS[0], REPLIES[0])
            terminal.press("/exit", "enter")
            assert terminal.ended() == 0
        assert not any(TOLD in each for each in at_work.asked)
        assert at_work.spool.sessions() == []
        said = at_work.do(doctor)[1]
        assert "not trusted, and skipped: " in said
        assert "no hook has run yet" in said
        with opened(at_work) as terminal:
            come_in(terminal, "codex")
            terminal.press("/exit", "enter")
            assert terminal.ended() == 0
        assert "its hooks are trusted" in at_work.do(doctor)[1]
