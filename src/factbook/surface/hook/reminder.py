"""What is put before the model at one event, out of what is known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import apsw

from factbook.model.frame import is_last_resort, memory_line, memory_pieces, one_line
from factbook.surface.hook.lookup import Lookup, Memory, Unusable, source_of, terms_of

ITEMS: Final = 4  # memories with one prompt
PREPARED: Final = 2  # of them, at most so many that the turns before suggest
DIGEST_ITEMS: Final = 10
ANSWER_CHARS: Final = 1_500
ITEM_CHARS: Final = 300
LEAST_WORDS: Final = 2  # of a prompt that memories may bear on

_CUT: Final = " [...]"
_COMMAND: Final = re.compile(r"\s*[/!#][\w:.-]*(?:\s|$)")
_CONTEXT: Final = ("<hook_context>", "</hook_context>")  # around what stands before a prompt


class Reminder:
    """Reminds of what one database holds of its owner."""

    def __init__(self, db: str, *, owner: str, until: float, now: int) -> None:
        """Take where it is, when the time is over (monotonic seconds), and what time it is."""
        self._db = db
        self._owner = owner
        self._until = until
        self._now = now

    def remind(
        self,
        state: dict[str, Any],
        prompt: str | None,
        prepared: Mapping[str, Any],
        *,
        again: bool = False,
    ) -> str:
        """Return what is to be said, and note it in the state of the session.

        Without a prompt, a session begins; `again` where it goes on in the middle of a turn, and
        what was said with its prompt is gone from before the model. Where the database cannot be
        asked, nothing is said and the state says why.
        """
        state.pop("failed", None)
        prompt = None if prompt is None else _without_context(prompt)
        terms = terms_of(prompt or "")
        memories: list[Memory] = []
        try:
            if prompt is None:
                memories = self._digest(state, again=again)
            elif (
                terms
                and len(prompt.split(None, LEAST_WORDS)) >= LEAST_WORDS
                and not _COMMAND.match(prompt)
            ):
                memories = self._bearing_on(prompt, state, prepared)
        except apsw.Error as error:
            state["failed"] = type(error).__name__
        except Unusable as error:
            if str(error):  # one that is not made yet is no failure: the first turn makes it
                state["failed"] = str(error)
        said, shown = rendered(memories, terms, now=self._now)
        if shown:
            sources = [source_of(memory.episode) for memory in memories if memory.id in shown]
            state["shown"] = [*state.get("shown", []), *shown, *sources]
            state["seq"] = state.get("seq", 0) + 1
            given = {"seq": state["seq"], "turn": state.get("turn", 0), "at": self._now}
            state["given"] = [*state.get("given", []), given | {"ids": shown}]
        return said

    def _digest(self, state: Mapping[str, Any], *, again: bool) -> list[Memory]:
        lookup, session = self._lookup(state), state["name"]
        shown = frozenset(state.get("shown", ()))
        digest = lookup.digest(state.get("cwd", ""), without=shown, session=session)
        turn = state.get("turn") if again else None
        given = [each for each in state.get("given", ()) if each["turn"] == turn]
        bore = [id_ for each in given for id_ in each["ids"]]
        first = lookup.named(bore, without=shown, session=session)
        return _each_once([*first, *digest])[:DIGEST_ITEMS]

    def _bearing_on(
        self, prompt: str, state: Mapping[str, Any], prepared: Mapping[str, Any]
    ) -> list[Memory]:
        lookup, session = self._lookup(state), state["name"]
        shown = frozenset(state.get("shown", ()))
        ids = prepared.get("items", ()) if prepared.get("turn") == state["turn"] else ()
        suggested = _told_first(lookup.named(list(ids), without=shown, session=session))[:PREPARED]
        try:
            bearing = lookup.bearing_on(prompt, without=shown, session=session)
            first = bearing[: ITEMS - len(suggested)]
            return lookup.apart(_told_first(_each_once([*first, *suggested, *bearing])), ITEMS)
        except apsw.InterruptError:  # the time was over: what was prepared is there
            return suggested

    def _lookup(self, state: Mapping[str, Any]) -> Lookup:
        return Lookup(
            self._db,
            owner=self._owner,
            until=self._until,
            now=self._now,
            project=state.get("cwd", ""),
            anew=state.get("anew", 0),
        )


def _without_context(prompt: str) -> str:
    """Return a prompt without what hooks put into it, in a time that grows with its length."""
    begins, ends = _CONTEXT
    parts, at = [], 0
    while (start := prompt.find(begins, at)) >= 0 and (end := prompt.find(ends, start)) >= 0:
        parts.append(prompt[at:start])
        at = end + len(ends)
    return "".join([*parts, prompt[at:]])


def _told_first(memories: list[Memory]) -> list[Memory]:
    """Return what people and facts say, and what others say only where there is none of it."""
    return [memory for memory in memories if not is_last_resort(memory)] or memories


def _each_once(memories: Sequence[Memory]) -> list[Memory]:
    """Return the first of those that say the same, or come from the same words."""
    seen: set[object] = set()
    kept = []
    for memory in memories:
        if memory.episode not in seen and memory.text not in seen:
            kept.append(memory)
            seen |= {memory.episode, memory.text}
    return kept


def rendered(
    memories: Sequence[Memory], terms: Sequence[str], *, now: int
) -> tuple[str, list[str]]:
    """Return memories as a block of at most so many characters, and the ids that are in it."""
    lines: list[tuple[Memory, str]] = []
    said = ""
    for memory in _each_once(memories):
        line = memory_line(memory, clipped(memory.text, terms), now)
        tried = "".join(memory_pieces([*lines, (memory, line)])).rstrip("\n")
        if len(tried) <= ANSWER_CHARS:
            lines.append((memory, line))
            said = tried
    return said, [memory.id for memory, _ in lines]


def clipped(text: str, terms: Sequence[str]) -> str:
    """Return a text, or the part of a long one that begins shortly before a word of the prompt."""
    text = one_line(text)
    if len(text) <= ITEM_CHARS:
        return text
    folded = text.lower()
    places = [place for place in (folded.find(term) for term in terms) if place >= 0]
    start = max(0, min(places, default=0) - ITEM_CHARS // 4)
    start = text.rfind(" ", 0, start) + 1 if start else 0
    part = text[start : start + ITEM_CHARS]
    if start + ITEM_CHARS < len(text):
        part = f"{part[: part.rfind(' ')] if ' ' in part else part}{_CUT}"
    return f"{_CUT.strip()} {part}" if start else part
