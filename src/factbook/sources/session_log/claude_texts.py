"""The texts of Claude Code's records: what was typed, a tool's result, a report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from factbook.sources.session_log.text import ident, kind_name, without

_CONTEXT_TAGS: Final = (
    "system-reminder",
    "ide_diagnostics",
    "ide_opened_file",
    "ide_selection",
    "local-command-caveat",
    "user-prompt-submit-hook",
)  # what the host writes into the user's text
_WRAPPERS: Final = ("system_instruction", "system-instruction")
"""What a program that runs Claude Code for its user puts before what the user typed."""
_COMMENT: Final = re.compile(
    r"^File: (?P<file>[^\n]+)\nLines?: (?P<lines>[^\n]+)\n"
    r'User comment: "(?P<said>.+?)"(?=\n\n|\Z)',
    re.MULTILINE | re.DOTALL,
)  # in such a block: what the user wrote beside a change


def unwrapped(text: str) -> tuple[str, str]:
    """Return (what was typed, the last block around it) of a text that hosts wrote into.

    What the user wrote beside a change stands inside the blocks, and was typed, too.
    """
    for tag in _CONTEXT_TAGS:
        text = without(text, tag)
    text, inner, typed = text.strip(), "", []
    while tag := next((tag for tag in _WRAPPERS if text.startswith(f"<{tag}>")), ""):
        inner, closed, rest = text.removeprefix(f"<{tag}>").partition(f"</{tag}>")
        if not closed:
            break
        inner, text = inner.strip(), rest.strip()
        typed += [f"{at['file']}:{at['lines']}\n{at['said']}" for at in _COMMENT.finditer(inner)]
    return "\n\n".join(filter(None, [*typed, text])), inner


def joined(content: object) -> str:
    """Return the texts of a content that is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            if isinstance(text, str):
                texts.append(text)
            elif part.get("type") in ("image", "document"):
                texts.append(f"[{part['type']}]")
    return "\n\n".join(texts)


def result_text(content: object) -> str:
    """Return the text of a tool result; pictures are only named."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    texts: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            kind = part.get("type")
            text = part.get("text")
            if isinstance(text, str):
                texts.append(text)
            elif kind == "tool_reference":
                texts.append(f"[tool {ident(part.get('tool_name')) or ident(part.get('name'))}]")
            elif kind == "web_search_result":
                texts.append(f"{ident(part.get('title'))} {ident(part.get('url'))}".strip())
            elif isinstance(kind, str):
                texts.append(f"[{kind_name(kind)}]")
    return "\n".join(texts)


def flat(value: object) -> str:
    """Return a report as lines of `name: value`."""
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {flat(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "; ".join(flat(item) for item in value)
    return str(value)
