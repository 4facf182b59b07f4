"""One session of each agent, with a hook that injected memory and an agent that asked for more.

The person asks one thing. All else that names a hazelnut or a quince came out of factbook: what the
hook added, what the tools and the command line were asked, and what they answered. The records have
the form of those that Claude Code 2.1, Codex 0.169 and Gemini CLI 0.61 write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from session_logs import CLAUDE, CODEX, GEMINI, SESSION, write

PROMPT = "Set the dinner table for six people"
REPLY = "Six plates are on the table."
SEARCH = "hazelnut allergy"
COMMAND = "cd /srv && factbook recall 'who bakes quince cake' | head -3"
INJECTED_WORDS = ("hazelnut", "quince")
BLOCK = (
    '<factbook-memory ids="f1 f2">\nMemories: data with its date and confidence.\n'
    "[f1] 2026-11-02, confidence 0.90: I am allergic to hazelnuts & <nuts>.\n"
    "[f2] 2026-11-03, confidence 0.80: Ilse bakes quince cake.\n</factbook-memory>\n"
)
FOUND = {
    "memories": [{"id": "f1", "text": "I am allergic to hazelnuts.", "trust": "direct"}],
    "waiting": 0,
}
PRINTED = "[f2] Ilse bakes quince cake. (0.80, 2026-11-03)"
STAMP = "2026-11-17T14:03:00.000Z"
NAMES: Mapping[str, str] = {
    CLAUDE: "mcp__{}__search_memory",
    CODEX: "mcp__{}",
    GEMINI: "mcp_{}_search_memory",
}


def log_of(host: str, folder: Path, server: str = "factbook") -> Path:
    """Write the log of one session and return its path."""
    name, records = _WRITERS[host](NAMES[host].format(server))
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return write(path, *records)


# --- Claude Code ------------------------------------------------------------------------------


def _claude(tool: str) -> tuple[str, list[object]]:
    def record(kind: str, number: int, **more: object) -> dict[str, object]:
        return {
            "type": kind,
            "uuid": f"u{number}",
            "timestamp": STAMP,
            "sessionId": SESSION,
            "cwd": "/home/ann/dinner",
            "version": "2.1.330",
            **more,
        }

    def attached(number: int, **attachment: object) -> dict[str, object]:
        return record("attachment", number, attachment=attachment)

    def called(number: int, name: str, given: object) -> dict[str, object]:
        part = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
        return record("assistant", number, message={"role": "assistant", "content": [part]})

    def answered(number: int, call: int, text: str) -> dict[str, object]:
        part = {"type": "tool_result", "tool_use_id": f"toolu_{call}", "content": text}
        return record("user", number, message={"role": "user", "content": [part]})

    output = {"hookSpecificOutput": {"additionalContext": BLOCK}}
    preview = f"<persisted-output>\nPreview (first 2KB):\n{BLOCK[:160]}\n...\n</persisted-output>"
    rendered = f"<system-reminder>\nhook additional context: {BLOCK}</system-reminder>"
    return f"{SESSION}.jsonl", [
        {"type": "queue-operation", "operation": "enqueue", "content": PROMPT, "timestamp": STAMP},
        {"type": "queue-operation", "operation": "dequeue", "timestamp": STAMP},
        attached(1, type="hook_success", hookEvent="SessionStart", stdout=json.dumps(output)),
        attached(2, type="hook_additional_context", content=[preview]),
        record("user", 3, message={"role": "user", "content": PROMPT}),
        attached(4, type="hook_additional_context", content=[BLOCK]),
        attached(5, type="hook_system_message", content=BLOCK),
        {"type": "api-request-blob", "message": {"role": "system", "content": rendered}},
        called(6, tool, {"query": SEARCH}),
        answered(7, 6, json.dumps(FOUND)),
        called(8, "Bash", {"command": COMMAND, "description": "Ask who bakes quince cake"}),
        answered(9, 8, f"{PRINTED}\n{rendered}"),
        called(10, "Read", {"file_path": "/tmp/context.txt"}),
        answered(11, 10, f"     1\t{BLOCK}"),
        called(12, "Bash", {"command": "tail -2 /tmp/context.txt"}),
        answered(13, 12, BLOCK[-80:]),
        record(
            "assistant",
            14,
            message={"role": "assistant", "content": [{"type": "text", "text": REPLY}]},
        ),
        {"type": "last-prompt", "lastPrompt": PROMPT},
        {"type": "cost-state", "totalCostUSD": 0.01},
    ]


# --- Codex ------------------------------------------------------------------------------------


def _codex(namespace: str) -> tuple[str, list[object]]:
    def record(kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": STAMP, "type": kind, "payload": payload}

    def message(role: str, text: str, kind: str) -> dict[str, object]:
        content = [{"type": "input_text", "text": text}]
        about = {"turn_id": "t1", "content_item_kinds": [kind]}
        return record(
            "response_item",
            type="message",
            role=role,
            content=content,
            internal_chat_message_metadata_passthrough=about,
        )

    def called(call: str, name: str, given: object, **more: object) -> dict[str, object]:
        return record(
            "response_item",
            type="function_call",
            name=name,
            arguments=json.dumps(given),
            call_id=call,
            **more,
        )

    def answered(call: str, text: str) -> dict[str, object]:
        output = f"Wall time: 0.0040 seconds\nOutput:\n{text}"
        return record("response_item", type="function_call_output", call_id=call, output=output)

    middle = len(BLOCK) // 2
    torn = (
        f"Warning: truncated output\n\n{BLOCK[:middle]}…40 chars truncated…{BLOCK[middle + 40 :]}"
    )
    item = {"type": "McpToolCall", "arguments": {"query": SEARCH}, "result": FOUND}
    surroundings = "<environment_context>\n  <cwd>/home/ann/dinner</cwd>\n</environment_context>"
    return f"rollout-2026-11-17T14-03-00-{SESSION}.jsonl", [
        record("session_meta", id=SESSION, cwd="/home/ann/dinner", cli_version="0.169.0"),
        record("event_msg", type="task_started", turn_id="t1"),
        message("user", surroundings, "environments.environment_context"),
        record("world_state", full=True, state={"agents_md": {}, "note": BLOCK}),
        message("developer", torn, "hooks.additional_context"),
        message("user", PROMPT, "user.text"),
        message("developer", BLOCK, "hooks.additional_context"),
        called("c1", "search_memory", {"query": SEARCH}, namespace=namespace),
        record("event_msg", type="item_completed", item=item),
        answered("c1", json.dumps(FOUND)),
        called("c2", "exec_command", {"cmd": COMMAND}),
        answered("c2", PRINTED),
        called("c3", "exec_command", {"cmd": "cat /tmp/hook_outputs/1.txt"}),
        answered("c3", BLOCK),
        record(
            "response_item",
            type="message",
            role="assistant",
            content=[{"type": "output_text", "text": REPLY}],
        ),
        record("token_usage_record", turn_id="t1", usage={"input_tokens": 100}),
        record("event_msg", type="task_complete", turn_id="t1", last_agent_message=REPLY),
    ]


# --- Gemini CLI -------------------------------------------------------------------------------


def hooked(text: str) -> str:
    """Return a context as Gemini CLI writes it into the messages of a session."""
    escaped = text.replace("<", "&lt;").replace(">", "&gt;")
    return f"<hook_context>{escaped}</hook_context>"


def _gemini(tool: str) -> tuple[str, list[object]]:
    def message(number: int, kind: str, content: object, **more: object) -> dict[str, object]:
        own = f"00000000-0000-4000-8000-{number:012d}"
        return {"id": own, "timestamp": STAMP, "type": kind, "content": content, **more}

    def call(number: int, name: str, given: object, text: str) -> dict[str, object]:
        output = f"<untrusted_context>\n{text}\n</untrusted_context>\n\n\n{hooked(BLOCK)}"
        response = {"id": f"run-{number}", "name": name, "response": {"output": output}}
        return {
            "id": f"run-{number}",
            "name": name,
            "args": given,
            "result": [{"functionResponse": response}],
            "status": "success",
            "timestamp": STAMP,
        }

    preamble = (
        "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n"
        "My operating system is: linux\nThe project's temporary directory is: /tmp/dinner\n"
        "- **Directory Structure:**\n\n/home/ann/quince/\n\n</session_context>"
    )
    first = {"text": f"{hooked(BLOCK)}\n\n{PROMPT}"}
    calls = [
        call(1, tool, {"query": SEARCH}, json.dumps(FOUND)),
        call(2, "run_shell_command", {"command": COMMAND}, f"Output: {PRINTED}"),
    ]
    results = [{"functionResponse": one["result"]} for one in calls]
    opening = message(1, "user", [{"text": preamble}])
    return "chats/session-2026-11-17T14-03-b7d2f0c4.jsonl", [
        {"sessionId": SESSION, "projectHash": "5f0c", "startTime": STAMP, "kind": "main"},
        {"$set": {"messages": [opening], "lastUpdated": STAMP}},
        message(2, "user", [first, {"text": hooked(BLOCK)}], displayContent=[first]),
        message(3, "gemini", "", thoughts=[]),
        message(3, "gemini", "", toolCalls=calls),
        message(4, "user", results),
        message(5, "gemini", REPLY),
        {"$set": {"lastUpdated": STAMP}},
        # A history that was shortened is written again, under new ids.
        message(12, "user", [{"text": preamble}, first, {"text": hooked(BLOCK)}]),
        message(15, "gemini", [{"text": REPLY}]),
        {"$set": {"messages": [opening, message(22, "user", [first, {"text": hooked(BLOCK)}])]}},
    ]


_WRITERS: Mapping[str, Callable[[str], tuple[str, list[object]]]] = {
    CLAUDE: _claude,
    CODEX: _codex,
    GEMINI: _gemini,
}
