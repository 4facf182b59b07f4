"""Gemini CLI: one JSON document per session, or (newer versions) one record per line.

The document is rewritten as a whole at every message, and the newer form writes a message again
when its tool calls have finished; the ids of messages and calls make both harmless.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import ClassVar, Final

from factbook.sources.session_log.echo import is_sent_prompt, joined
from factbook.sources.session_log.parser import (
    SEEN_RECORDS,
    BadRecord,
    Parser,
    RecordOutcome,
    outcome_of,
    text_in,
    texts_in,
)
from factbook.sources.session_log.text import ident, kind_name

_NOTICES: Final = frozenset({"error", "info", "warning"})
_REFERENCED: Final = "\n--- Content from referenced files ---"
_FINISHED: Final = frozenset({"cancelled", "error", "success"})
EXIT_LINE_WITHIN: Final = 2_000  # characters from the end
EXIT_LINE: Final = re.compile(r"^Exit Code: (-?\d{1,10})$", re.MULTILINE)
_HOOK: Final = re.compile(r"<hook_context>[^<>]*</hook_context>")  # both signs are escaped inside
_PREAMBLE: Final = "<session_context>\nThis is the Gemini CLI."
_PREAMBLE_ENDS: Final = "</session_context>"
_UNTRUSTED: Final = ("<untrusted_context>\n", "\n</untrusted_context>")
_GLOBAL_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


class GeminiParser(Parser):
    """Reads the messages of one Gemini CLI session."""

    host: ClassVar[str] = "gemini-cli"

    def begin(self, state: Mapping[str, object]) -> None:
        super().begin(state)
        self._by_model = state.get("by_model") is True
        self._copying = state.get("copying") is True  # the history is written again, by new ids
        self._said = dict.fromkeys(texts_in(state, "said"))
        self._plain = self.redactor.plain()  # what was said is the same whatever was told since

    def save(self) -> dict[str, object]:
        more = {"by_model": self._by_model, "copying": self._copying, "said": list(self._said)}
        return {**super().save(), **more}

    @property
    def file_agent(self) -> str:
        return self.session if self._by_model else ""

    def expand(self, record: dict[str, object]) -> list[object] | None:
        messages = record.get("messages")
        if not isinstance(messages, list) or "id" in record:
            return None
        self.place(1, 0, None)
        self._header(record)
        return messages

    def feed(self, record: dict[str, object], position: int, offset: int) -> RecordOutcome:
        self.place(position, offset, record.get("timestamp"))
        kind = record.get("type")
        if kind == "user":
            return self._user(record)
        if kind == "gemini":
            return self._gemini(record)
        if isinstance(kind, str):
            if kind in _NOTICES:
                return RecordOutcome("ignored", f"message: {kind}")
            return RecordOutcome("unknown", kind_name(kind))
        changed = record.get("$set")
        if isinstance(changed, dict):
            return self._set(changed)
        if "$rewindTo" in record:
            return RecordOutcome("ignored", "rewind")
        if "sessionId" in record:
            self._header(record)
            return RecordOutcome("ignored", "session head")
        return RecordOutcome("unknown", kind_name(kind))

    def _header(self, record: Mapping[str, object]) -> None:
        self.session = ident(record.get("sessionId")) or self.session
        if record.get("kind") == "subagent":
            self._by_model = True
            self.agent = self.session
        folders = record.get("directories")
        if isinstance(folders, list) and folders:
            self.project = self.small(folders[0])
            self.home = self.home or self.project
        if record.get("summary"):
            self.note_title(record.get("summary"), "summary")

    def _set(self, changed: Mapping[str, object]) -> RecordOutcome:
        self._header(changed)
        messages = changed.get("messages")
        if not isinstance(messages, list):
            return RecordOutcome("ignored", "change of the session head")
        before = len(self.episodes)
        self._copying = True
        for message in messages:
            if isinstance(message, dict) and "$set" not in message:
                self.feed(message, self.position, self.offset)
        self._copying = False
        if len(self.episodes) > before:
            return RecordOutcome("kept", "rewritten history")
        return RecordOutcome("ignored", "rewritten history")

    def _uid(self, record: Mapping[str, object]) -> str:
        own = ident(record.get("id"))
        if not own:
            return self.somewhere()
        return own if _GLOBAL_ID.fullmatch(own) else f"{self.scope}:{own}"

    def _user(self, record: dict[str, object]) -> RecordOutcome:
        sent = record.get("content")
        content = record.get("displayContent") or sent
        if content is None:
            raise BadRecord("a user message without content")
        parts = content if isinstance(content, list) else [content]
        texts = [text for part in parts if (text := _text(part))]
        if texts and texts[0].startswith(_PREAMBLE):
            texts[0] = texts[0].rpartition(_PREAMBLE_ENDS)[2].strip()
            if not any(texts):
                return RecordOutcome("ignored", "context of the session")
            self._copying = True  # the preamble stands alone where it is no copy
        text, injected = _without_hooks("\n".join(texts))
        self.injected += injected
        text = text.partition(_REFERENCED)[0].strip()
        kind = "prompt of a sub-agent" if self._by_model else "prompt"
        if self._again(text, copied=self._copying):
            return RecordOutcome("ignored", f"{kind}: a copy")
        kept = self.prompt(
            text,
            uid=self._uid(record),
            subject=f"task_{self.here()}",
            by_model=self._by_model,
            asks_us=is_sent_prompt(_text(sent)),
        )
        return outcome_of(kept, kind)

    def _again(self, text: str, *, copied: bool) -> bool:
        """Note what was said, and tell of a copy whether it is one of what is known.

        A history that was shortened is written again under new ids.
        """
        if not text:
            return False
        redacted = self._plain.redact(text).encode("utf-8", "replace")
        digest = hashlib.blake2b(redacted, digest_size=8).hexdigest()
        known = digest in self._said
        self._said[digest] = None
        if len(self._said) > SEEN_RECORDS:
            del self._said[next(iter(self._said))]
        return known and copied

    def _gemini(self, record: dict[str, object]) -> RecordOutcome:
        uid = self._uid(record)
        group = ident(record.get("id"))
        content = record.get("content")
        text = _text(content)
        # Only a history that is written again has an answer in parts.
        replied = not self._again(text, copied=isinstance(content, list)) and self.reply(
            text, uid=uid, subject=f"action_{self.here()}", group=group
        )
        listed = record.get("toolCalls")
        calls = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        for number, call in enumerate(calls):
            self._call(call, uid, number, group)
        if replied and calls:
            return RecordOutcome("kept", "assistant: text and tool call")
        if calls:
            return RecordOutcome("kept", "assistant: tool call")
        if replied:
            return RecordOutcome("kept", "assistant: text")
        return RecordOutcome("ignored", "assistant: empty")

    def _call(self, call: dict[str, object], uid: str, count: int, group: str) -> None:
        call_id = ident(call.get("id"))
        unnamed = f"{uid}:call:{count}"
        written = self.timestamp
        if call.get("timestamp") is not None:
            self.place(self.position, self.offset, call.get("timestamp"))
        known = self.call(
            text_in(call, "name"),
            call.get("args"),
            call_id=call_id,
            uid=f"call:{call_id}" if call_id else unnamed,
            subject=f"action_{call_id or self.here()}",
            group=group,
        )
        status = call.get("status")
        result = call.get("result")
        if result is None and isinstance(status, str) and status in _FINISHED:
            result = call.get("resultDisplay")
        if result is not None:
            self.calls.pop(call_id, None)
            text, injected = _without_hooks(_result(result))
            self.injected += injected
            text = _unwrapped(text)
            match = EXIT_LINE.search(text[-EXIT_LINE_WITHIN:])
            code = match[1] if match else ""
            self.result(
                text,
                known,
                call_id=call_id,
                uid=f"result:{call_id}" if call_id else f"{unnamed}:result",
                is_error=status == "error" or code not in {"", "0"},
                code=code,
                attributes={"denied": "true"} if status == "cancelled" else None,
            )
        self.timestamp = written


def _without_hooks(text: str) -> tuple[str, int]:
    """Return a text without what hooks of any program had added, and how many pieces those were.

    The host closes each piece and escapes all angle brackets in it, so an opening tag that a user
    typed hides nothing: neither what follows it nor the piece that is added behind it.
    """
    if "<hook_context>" not in text:
        return text, 0
    parts = _HOOK.split(text)
    return joined(parts), len(parts) - 1


def _unwrapped(text: str) -> str:
    """Return a tool's output without the tags that the host puts around what is not trusted."""
    text = text.strip()
    opening, closing = _UNTRUSTED
    return text.removeprefix(opening).removesuffix(closing) if text.startswith(opening) else text


def _text(content: object) -> str:
    """Return the texts of a content: a text, a part, or a list of either."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for part in content if (text := _text(part)))
    if isinstance(content, dict):
        words = content.get("text")
        if isinstance(words, str):
            return "" if content.get("thought") is True else words
        if "inlineData" in content or "fileData" in content:
            return "[image]"
    return ""


def _result(result: object) -> str:
    """Return the text of a tool's result, whose parts wrap it in a response."""
    if isinstance(result, list):
        return "\n".join(text for part in result if (text := _result(part)))
    if isinstance(result, dict):
        answer = result.get("functionResponse")
        if isinstance(answer, dict):
            response = answer.get("response")
            if isinstance(response, dict):
                for key in ("output", "error", "content", "result"):
                    value = response.get(key)
                    if isinstance(value, str):
                        return value
                    if isinstance(value, list):
                        return _text(value)
            return response if isinstance(response, str) else ""
        changes = result.get("fileDiff")
        if isinstance(changes, str):
            return changes
    return _text(result)
