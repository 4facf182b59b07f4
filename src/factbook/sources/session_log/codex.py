"""Codex CLI: one JSON record per line, `{timestamp, type, payload}`.

What people and the assistant say is logged twice, as an event for the screen and as an item for
the model. The event of the user is the clean one (the item also carries injected context); of the
assistant the item is read. The first versions wrote items only, without an envelope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar, Final, NamedTuple

import orjson

from factbook import policy
from factbook.model.ours import SERVER
from factbook.sources.session_log.echo import is_ours, own_command
from factbook.sources.session_log.open_scripts import Came, OpenScript, OpenScripts, came
from factbook.sources.session_log.parser import (
    BadRecord,
    OpenCall,
    Parser,
    RecordOutcome,
    items_in,
    outcome_of,
    rows_in,
    text_in,
)
from factbook.sources.session_log.printed import Result, prints_of
from factbook.sources.session_log.scripts import mentioned, read_script
from factbook.sources.session_log.text import ident, kind_name, storable
from factbook.sources.session_log.toolcall import command_line

_IGNORED: Final[Mapping[str, str]] = {
    "token_usage_record": "token usage",
    "turn_context": "turn context",
    "world_state": "state of the surroundings",
}

ENVELOPES: Final = frozenset({"compacted", "event_msg", "response_item", "session_meta", *_IGNORED})
"""Types of records with a payload."""

_BARE: Final = """
custom_tool_call custom_tool_call_output function_call function_call_output local_shell_call
message reasoning web_search_call
"""
ITEMS: Final = frozenset(_BARE.split())
"""Items that the first versions wrote without an envelope."""

_UNREAD_ITEMS: Final = """
additional_tools agent_message compaction context_compaction ghost_snapshot image_generation_call
other reasoning tool_search_output
"""
_IGNORED_ITEMS: Final = frozenset(_UNREAD_ITEMS.split())

_UNREAD_EVENTS: Final = """
agent_message agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break
background_event collab_agent_interaction_end collab_agent_spawn_end collab_close_end
collab_resume_end collab_waiting_end context_compacted deprecation_notice dynamic_tool_call_request
dynamic_tool_call_response entered_review_mode error exited_review_mode image_generation_end
item_completed mcp_tool_call_end model_reroute patch_apply_end plan_update stream_error
sub_agent_activity task_complete thread_goal_updated thread_rolled_back thread_settings_applied
token_count turn_aborted turn_complete turn_diff undo_completed view_image_tool_call warning
web_search_end
"""
_IGNORED_EVENTS: Final = frozenset(_UNREAD_EVENTS.split())

_TURN_STARTS: Final = frozenset({"task_started", "turn_started"})
_IDE_CONTEXT: Final = "# Context from my IDE setup"
_IDE_REQUEST: Final = "## My request for Codex:"
_INSTRUCTIONS: Final = "# AGENTS.md instructions"
_WRAPPED: Final = re.compile(r"<([A-Za-z_][\w -]*)\b[^>]{0,200}>")
_HEADER: Final = re.compile(
    r"(?:Chunk ID: [^\n]{0,80}\n|Wall time: [^\n]{0,80}\n|Original token count: \d{1,12}\n"
    r"|Total output lines: \d{1,12}\n"
    r"|Process running with session ID (?P<process>[^\n]{0,80})\n"
    r"|Process exited with code (?P<exited>-?\d{1,10})\n|Exit code: (?P<code>-?\d{1,10})\n)+"
    r"(?:Output:(?:\n|$))?"
)
_COMMAND: Final = re.compile(r"Command: (?:[^\n]*\n)+?(?=Chunk ID: |Wall time: )")
_EXITED: Final = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_HEADER_CHARS: Final = 1_000
_COMMAND_CHARS: Final = 20_000  # of the command that some versions write above the header
_CODES: Final = 256  # exit codes that are known before their output
_HELD: Final = 16  # copies of prompts that wait for their event
_SCRIPT: Final = "exec"  # the tool that runs a script, which calls tools
_WAIT: Final = "wait"  # the tool that waits for a script that goes on


class _Held(NamedTuple):
    """The model's copy of a prompt, for which no event has come yet."""

    text: str  # redacted
    timestamp: str | float | None
    position: int
    offset: int


class CodexParser(Parser):
    """Reads the records of one Codex rollout."""

    host: ClassVar[str] = "codex"

    def begin(self, state: Mapping[str, object]) -> None:
        super().begin(state)
        get = state.get
        self._turn = text_in(state, "turn")
        self._prompts = _count(get("prompts"))  # of this turn
        self._replies = _count(get("replies"))
        self._events = get("events") is True  # whether the file has an event of any kind
        self._heard = get("heard") is True  # whether an event gave a prompt
        self._by_model = get("by_model") is True  # whether another agent writes the prompts
        self._held = [_Held(*row) for row in rows_in(state, "held", 4)]
        self._codes = {call_id: str(code) for call_id, code in items_in(state, "codes")}
        self._scripts = OpenScripts(get("scripts"))
        # A fork goes on in copies of another session, line by line: which, and how far below.
        self._origin = text_in(state, "origin")
        self._below = _count(get("below"))

    def save(self) -> dict[str, object]:
        state = super().save()
        state["turn"] = self._turn
        state["prompts"] = self._prompts
        state["replies"] = self._replies
        state["events"] = self._events
        state["heard"] = self._heard
        state["by_model"] = self._by_model
        state["held"] = [list(held) for held in self._held]
        state["codes"] = dict(self._codes)
        state["scripts"] = self._scripts.save()
        state["origin"] = self._origin
        state["below"] = self._below
        return state

    def somewhere(self) -> str:
        """Return a uid for a record that the log gives none; copies of it in forks share it."""
        return f"{self._origin or self.scope}:{self.position - self._below}"

    @property
    def file_agent(self) -> str:
        return self.session if self._by_model else ""

    def feed(self, record: dict[str, object], position: int, offset: int) -> RecordOutcome:
        self.place(position, offset, record.get("timestamp"))
        kind = record.get("type")
        payload = record.get("payload")
        if not isinstance(payload, dict):
            return self._bare(record, kind)
        if kind == "response_item":
            return self._item(payload)
        if kind == "event_msg":
            return self._event(payload)
        if isinstance(kind, str) and kind in _IGNORED:
            if kind == "turn_context":
                self._folder(payload.get("cwd"))
            return RecordOutcome("ignored", _IGNORED[kind])
        if kind == "session_meta":
            return self._meta(payload)
        if kind == "compacted":
            text = payload.get("message")
            kept = isinstance(text, str) and self.summary(
                text, uid=f"{self.somewhere()}:summary", subject=f"session_{self.named}"
            )
            return outcome_of(kept, "compaction summary")
        return RecordOutcome("unknown", kind_name(kind))

    def _bare(self, record: dict[str, object], kind: object) -> RecordOutcome:
        """Take a record of the first versions, which had no envelope."""
        if isinstance(kind, str) and kind in ITEMS:
            return self._item(record)
        if record.get("record_type") == "state":
            return RecordOutcome("ignored", "state")
        if kind is None and "id" in record and ("git" in record or "instructions" in record):
            return self._meta(record)
        if isinstance(kind, str) and kind in ENVELOPES:
            raise BadRecord(f"a {kind} record without a payload")
        return RecordOutcome("unknown", kind_name(kind))

    def _meta(self, payload: dict[str, object]) -> RecordOutcome:
        """Take the head of the session; a fork repeats that of the session it came from.

        Below it stands what that session says, line by line, with the times of the fork.
        """
        own = ident(payload.get("id"))
        if not self.session:
            self.session = own
            parent = payload.get("parent_thread_id")
            origin = payload.get("thread_source")
            by_user = origin is None or origin == "user"
            if parent or isinstance(payload.get("source"), dict) or not by_user:
                self._by_model = True
                self.agent = own
        elif own and own != self.session:
            self._origin, self._below = own, self.position - 1
            return RecordOutcome("ignored", "head of the session that this one came from")
        self._folder(payload.get("cwd"))
        git = payload.get("git")
        before = len(self.episodes)
        if isinstance(git, dict):
            self.note_branch(git.get("branch"))
            repository = self.small(git.get("repository_url"))
            if repository:
                uid = f"{self.scope}:repository:{repository}"
                if self.first_time(uid):
                    self.record(uid, {"repository": repository})
        if len(self.episodes) > before:
            return RecordOutcome("kept", "session head")
        return RecordOutcome("ignored", "session head")

    def _folder(self, cwd: object) -> None:
        if cwd:
            self.project = self.small(cwd)
            self.home = self.home or self.project

    def _start_turn(self, payload: dict[str, object]) -> None:
        turn = ident(payload.get("turn_id"))
        if turn != self._turn or not turn:
            self._turn = turn
            self._prompts = self._replies = 0

    def _event(self, payload: dict[str, object]) -> RecordOutcome:
        kind = payload.get("type")
        self._events = True
        if kind == "user_message":
            self._heard = True
            self._held.clear()
            return self._prompt(_without_context(_message_text(payload)))
        if isinstance(kind, str):
            if kind in _TURN_STARTS:
                self._start_turn(payload)
                return RecordOutcome("ignored", "event: task_started")
            if kind in _IGNORED_EVENTS:
                if kind in {"task_complete", "turn_aborted", "turn_complete"}:
                    self._release()
                return RecordOutcome("ignored", f"event: {kind}")
            if handler := _EVENTS.get(kind):
                return handler(self, payload)
        return RecordOutcome("unknown", f"event: {kind_name(kind)}")

    def _exec_end(self, payload: dict[str, object]) -> RecordOutcome:
        """Take the end of a command: its exit code, which the output may not state."""
        call_id = ident(payload.get("call_id"))
        code = ident(payload.get("exit_code"))
        if payload.get("source") == "user_shell":
            return self._user_shell(payload, call_id, code)
        if call_id and code and call_id in self.calls:
            self._codes[call_id] = code
            if len(self._codes) > _CODES:
                del self._codes[next(iter(self._codes))]
        return RecordOutcome("ignored", "event: exec_command_end")

    def _user_shell(self, payload: dict[str, object], call_id: str, code: str) -> RecordOutcome:
        command = payload.get("command")
        text = command_line(command) if isinstance(command, list) else str(command or "")
        if not text.strip():
            return RecordOutcome("ignored", "event: exec_command_end")
        subject = f"task_{call_id or self.here()}"
        self.shell_prompt(text, uid=f"shell:{call_id or self.somewhere()}", subject=subject)
        self.result(
            text_in(payload, "aggregated_output"),
            self.typed_call(subject),
            call_id=call_id,
            uid=f"result:{call_id or self.somewhere()}",
            is_error=code not in {"", "0"},
            code=code,
        )
        return RecordOutcome("kept", "command that the user ran")

    def _thread_name(self, payload: dict[str, object]) -> RecordOutcome:
        if self.note_title(payload.get("thread_name"), "thread-name"):
            return RecordOutcome("kept", "title")
        return RecordOutcome("ignored", "event: thread_name_updated")

    def _prompt(self, text: str) -> RecordOutcome:
        scope = self._turn or self._origin or self.scope
        number = self._prompts if self._turn else self.position - self._below
        self._prompts += 1
        kept = self.prompt(
            text,
            uid=f"{scope}:prompt:{number}",
            subject=f"task_{self.here()}",
            by_model=self._by_model,
        )
        return outcome_of(kept, "prompt of a sub-agent" if self._by_model else "prompt")

    def _user_item(self, payload: dict[str, object]) -> RecordOutcome:
        """Take the model's copy of a prompt, which counts only in files without the event.

        Where the file has events, the copy is held back until the event or the answer comes.
        """
        text = _typed_text(payload)
        if text and not self._heard:
            if not self._events:
                return self._prompt(text)
            redacted = storable(self.redactor.redact(text))[: policy.PROMPT_CHARS]
            self._held.append(_Held(redacted, self.stamp(), self.position, self.offset))
            del self._held[:-_HELD]
        return RecordOutcome("ignored", "item: user message (context or copy of a prompt)")

    def _release(self) -> None:
        """Count the held copies of prompts as prompts: the answer came, and no event before it."""
        if not self._held:
            return
        position, offset, timestamp = self.position, self.offset, self.timestamp
        for held in self._held:
            self.place(held.position, held.offset, held.timestamp)
            self._prompt(held.text)
        self._held.clear()
        self.place(position, offset, timestamp)

    def _item(self, payload: dict[str, object]) -> RecordOutcome:
        kind = payload.get("type")
        if not isinstance(kind, str):
            return RecordOutcome("unknown", f"item: {kind_name(kind)}")
        if kind == "message":
            return self._message(payload)
        if kind in _IGNORED_ITEMS:
            return RecordOutcome("ignored", f"item: {kind}")
        if handler := _ITEMS.get(kind):
            self._release()
            return handler(self, payload)
        return RecordOutcome("unknown", f"item: {kind_name(kind)}")

    def _message(self, payload: dict[str, object]) -> RecordOutcome:
        role = payload.get("role")
        if role == "user":
            return self._user_item(payload)
        if role != "assistant":
            return RecordOutcome("ignored", f"item: {kind_name(role)} message")
        self._release()
        number = self._replies
        self._replies += 1
        uid = f"{self._turn}:reply:{number}" if self._turn else f"{self.somewhere()}:reply"
        kept = self.reply(
            _content_text(payload.get("content")),
            uid=ident(payload.get("id")) or uid,
            subject=f"action_{self.here()}",
            group=self._turn,
        )
        if kept:
            return RecordOutcome("kept", "assistant: text")
        return RecordOutcome("ignored", "assistant: empty")

    def _take_call(
        self, name: str, given: object, payload: dict[str, object], *, ours: bool = False
    ) -> RecordOutcome:
        call_id = ident(payload.get("call_id"))
        known = call_id or ident(payload.get("id"))
        namespace = self.small(payload.get("namespace"))
        attributes = {"namespace": namespace} if namespace else {}
        if payload.get("status") == "completed" and not call_id:
            attributes["status"] = "completed"  # nothing comes of it but the answer of the model
        self.call(
            name,
            given,
            call_id=call_id,
            uid=f"call:{known}" if known else f"{self.somewhere()}:call",
            subject=f"action_{call_id or self.here()}",
            group=self._turn,
            namespace=namespace,
            attributes=attributes,
            ours=ours,
        )
        return RecordOutcome("kept", "assistant: tool call")

    def _function_call(self, payload: dict[str, object]) -> RecordOutcome:
        name = text_in(payload, "name")
        given = _arguments(payload.get("arguments"))
        if name == _WAIT and isinstance(given, dict):
            self._scripts.asks(ident(payload.get("call_id")), f"cell {ident(given.get('cell_id'))}")
        return self._take_call(name, given, payload)

    def _custom_call(self, payload: dict[str, object]) -> RecordOutcome:
        name, given = text_in(payload, "name"), payload.get("input")
        if name == _SCRIPT and isinstance(given, str):
            return self._script_call(given, payload)
        return self._take_call(name, given, payload)

    def _shell_call(self, payload: dict[str, object]) -> RecordOutcome:
        action = payload.get("action")
        given = dict(action) if isinstance(action, dict) else {}
        given.pop("type", None)
        return self._take_call("local_shell", given, payload)

    def _web_search(self, payload: dict[str, object]) -> RecordOutcome:
        action = payload.get("action")
        given = dict(action) if isinstance(action, dict) else {}
        if given.get("type") == "search":
            del given["type"]
        if given.get("queries") == [given.get("query")]:
            del given["queries"]
        return self._take_call("web_search", given, payload)

    def _tool_search(self, payload: dict[str, object]) -> RecordOutcome:
        return self._take_call("tool_search", _arguments(payload.get("arguments")), payload)

    def _script_call(self, text: str, payload: dict[str, object]) -> RecordOutcome:
        """Take a script as the calls that it makes; one that cannot be read is a call itself."""
        call_id = ident(payload.get("call_id"))
        read = read_script(text) if call_id else None
        if read is None:
            self._scripts.runs(call_id, OpenScript())
            return self._take_call(_SCRIPT, text, payload, ours=_asks_us(text))
        tools = tuple(self.small(call.tool) for call in read.calls)
        script = OpenScript(tools, tuple(prints_of(read)))
        self._scripts.runs(call_id, script)
        for one, call in zip(script.calls_of(call_id), read.calls, strict=True):
            self._take_call(call.tool, call.given, {**payload, "call_id": one})
        return RecordOutcome("kept", "assistant: tool call")

    def _script_output(
        self, what: Came, call_id: str, runs: str, script: OpenScript, cell: str
    ) -> None:
        """Take what came of a script, which a call runs, or waits for as a cell."""
        ids = script.calls_of(runs)
        results, together = script.results(what)
        waits = self.calls.pop(call_id, None) if cell else None
        ours = any(map(self._may_be_ours, ids))
        calls = [self.calls.get(id_) or OpenCall("", f"action_{id_}") for id_ in ids]
        if what.cell:
            self._scripts.asks(what.cell, runs)
            if cell:
                results, together = [], "\n".join(what.parts)
        else:
            self._scripts.ended(runs, cell)
            answers = [together or result.text for result in results] or [together] * len(ids)
            for id_, call, answer in zip(ids, calls, answers, strict=True):
                self.calls.pop(id_, None)
                asked = self._decide(id_, answer, is_error=what.end == "failed")
                call.ours = asked or call.ours
            ours = any(call.ours for call in calls)
        if together or not results:
            whole = waits or OpenCall(_SCRIPT, f"action_{call_id}")
            whole.ours = whole.ours or ours
            marks = {"process": what.cell} if what.cell and cell else {}
            failed = what.end == "failed"
            self._told(call_id, whole, Result(together, failed=failed, marks=marks))
        at = script.calls_of(call_id)
        for number, result in enumerate(results):
            call = calls[number]
            if cell:
                process = script.calls_of(cell)[number]
                result = result._replace(marks={**result.marks, "cell": process})
                call = OpenCall(_WAIT, f"action_{at[number]}", call.ours)
            if not what.cell or ids[number] not in self._undecided:
                self._told(at[number], call, result)

    def _may_be_ours(self, call_id: str) -> bool:
        call = self.calls.get(call_id)
        return call_id in self._undecided or (call is not None and call.ours)

    def _told(self, call_id: str, call: OpenCall, told: Result) -> None:
        self.result(
            told.text,
            call,
            call_id=call_id,
            uid=f"result:{call_id}",
            is_error=told.failed,
            code=told.code,
            attributes=dict(told.marks),
        )

    def _output(self, payload: dict[str, object]) -> RecordOutcome:
        call_id = ident(payload.get("call_id"))
        runs, script, cell = self._scripts.asked_by(call_id) or ("", None, "")
        what = came(_parts(payload.get("output"))) if script else None
        if script is None or (what is None and cell):
            return self._plain_output(payload, call_id)
        if what is not None:
            self._script_output(what, call_id, runs, script, cell)
        else:
            # A script may say something while it runs, or be stopped: how it ended is not told.
            ours = any(map(self._may_be_ours, script.calls_of(runs)))
            call = OpenCall(_SCRIPT, f"action_{call_id}", ours)
            text, _ = _output_text(payload.get("output"))
            self.result(text, call, call_id="", uid=f"{self.somewhere()}:result")
        return RecordOutcome("kept", "tool result")

    def _plain_output(self, payload: dict[str, object], call_id: str) -> RecordOutcome:
        call = self.calls.pop(call_id, None) if call_id else None
        if call is None:
            call = OpenCall("", f"action_{call_id or self.here()}")
        text, code = _output_text(payload.get("output"))
        structured = self._codes.pop(call_id, "")
        text, stated, process = without_header(text)
        code = structured or code or stated
        output = payload.get("output")
        failed = isinstance(output, dict) and output.get("success") is False
        kept = self.result(
            text,
            call,
            call_id=call_id,
            uid=f"result:{call_id}" if call_id else f"{self.somewhere()}:result",
            is_error=failed or code not in {"", "0"},
            code=code,
            attributes={"process": process} if process and not code else None,
        )
        if kept:
            return RecordOutcome("kept", "tool result")
        return RecordOutcome("ignored", "tool result without text")


_EVENTS: Final[Mapping[str, Callable[[CodexParser, dict[str, object]], RecordOutcome]]] = {
    "exec_command_end": CodexParser._exec_end,
    "thread_name_updated": CodexParser._thread_name,
}

_ITEMS: Final[Mapping[str, Callable[[CodexParser, dict[str, object]], RecordOutcome]]] = {
    "custom_tool_call": CodexParser._custom_call,
    "custom_tool_call_output": CodexParser._output,
    "function_call": CodexParser._function_call,
    "function_call_output": CodexParser._output,
    "local_shell_call": CodexParser._shell_call,
    "tool_search_call": CodexParser._tool_search,
    "web_search_call": CodexParser._web_search,
}


def _asks_us(script: str) -> bool:
    """Tell whether a script that cannot be read may ask factbook, by its tools or its command."""
    if SERVER not in script:
        return False
    tools, texts = mentioned(script)
    return any(map(is_ours, tools)) or any(own_command(text).runs for text in texts)


def _parts(output: object) -> list[str]:
    """Return what a script printed, part by part; the first is the header, or begins with it."""
    if isinstance(output, dict):
        output = output.get("content", output.get("output"))
    if isinstance(output, str):
        return [output]
    listed = output if isinstance(output, list) else []
    return [_content_text([part]) for part in listed]


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _arguments(value: object) -> object:
    """Return the arguments of a call, which are JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        return value  # a malformed call: kept as the model wrote it
    return parsed if isinstance(parsed, dict) else value


def _content_text(content: object) -> str:
    """Return the texts of a message; pictures are only named."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict):
            text = part.get("text")
            if isinstance(text, str):
                texts.append(text)
            elif part.get("type") == "input_image":
                texts.append("[image]")
    return "\n".join(texts)


def _message_text(payload: dict[str, object]) -> str:
    text = text_in(payload, "message")
    pictures = sum(
        len(listed)
        for key in ("images", "local_images")
        if isinstance(listed := payload.get(key), list)
    )
    return "\n".join([text, *["[image]"] * min(pictures, 20)]) if pictures else text


def _typed_text(payload: Mapping[str, object]) -> str:
    """Return what the user typed of the model's copy of a message.

    Newer versions say what each part of it is; in older ones the form of the text has to tell.
    """
    content = payload.get("content")
    said = payload.get("internal_chat_message_metadata_passthrough")
    kinds = said.get("content_item_kinds") if isinstance(said, dict) else None
    if isinstance(content, list) and isinstance(kinds, list) and len(kinds) == len(content):
        parts = zip(content, kinds, strict=True)
        return _content_text([part for part, kind in parts if str(kind).startswith("user.")])
    return _without_context(_content_text(content))


def _without_context(text: str) -> str:
    """Return what the user typed of a message, empty where it is injected context alone."""
    bare = text.strip()
    if bare.startswith(_IDE_CONTEXT):
        return bare.partition(_IDE_REQUEST)[2].strip()
    if bare.startswith(_INSTRUCTIONS):
        return ""
    opening = _WRAPPED.match(bare)
    if opening is not None and bare.endswith(f"</{opening[1]}>"):
        return ""
    return bare


def _output_text(output: object) -> tuple[str, str]:
    """Return the text of an output, and the exit code where it is stated beside the text."""
    if isinstance(output, dict):
        output = output.get("content", output.get("output"))
    if isinstance(output, list):
        return _content_text(output), ""
    if not isinstance(output, str):
        return "", ""
    if output.startswith('{"output":'):
        # The first versions wrapped output and exit code in JSON.
        try:
            inner = orjson.loads(output)
        except orjson.JSONDecodeError:
            return output, ""
        metadata = inner.get("metadata")
        code = ident(metadata.get("exit_code")) if isinstance(metadata, dict) else ""
        return text_in(inner, "output"), code
    return output, ""


def without_header(text: str) -> tuple[str, str, str]:
    """Return an output without the lines that Codex writes above it, and what these say.

    That is the exit code, or the number of the process that goes on.
    """
    command = _COMMAND.match(text[:_COMMAND_CHARS])
    start = command.end() if command else 0
    match = _HEADER.match(text[start : start + _HEADER_CHARS])
    if match is None:
        return text, "", ""
    code = _EXITED.search(match[0])
    process = match["process"] or ""
    if command and not code and not process:
        return text, "", ""  # a program that writes of commands itself
    return text[start + match.end() :], code[1] if code else "", process
