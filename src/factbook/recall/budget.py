"""Build the context of a turn within a budget of tokens, and account for every piece.

| tier | tokens | claim on the budget |
|---|---|---|
| recent messages | 300 to 500, the last 3 to 5 turns | required: first claim |
| tool results | up to 400 | trimmed to fit with a mark, never dropped |
| streamed facts | 100 to 200, and what is left | what does not fit is skipped |
| streamed episodes | 100 to 200 | the same |
| system | the rest, at least 100 | fills; trimmed to fit |

The whole is at most 1,500 tokens unless the limits say otherwise. What each tier is sure of (300
for messages, 100 for tool results, 100 for the system text) is kept free for it while others take
their share; a budget below the sum shrinks all three alike. What happens at the edges:

- a budget of 0: an empty text, everything in `left_out`;
- a budget that is negative, NaN or no whole number: `UsageError`;
- a budget below the recent messages: the newest come first, the last that fits in part is trimmed
  at a sentence or a word with a mark, older ones are in `left_out`;
- nothing given: an empty text;
- a turn of 100,000 tokens: trimmed likewise; the work grows with the budget, not with the turn.

The text is read in the order system, facts, episodes, tool results, messages: what is newest stands
last, next to the answer. How memories stand in it: `model.frame`.

Tokens are counted by the function that is given, and the finished text once more as a whole; where
the whole has more tokens than its pieces (any function is legal) it is built again with every step
counted as a whole.
"""

from __future__ import annotations

import html
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Final

from factbook import policy
from factbook.errors import UsageError
from factbook.language.sentences import last_end
from factbook.model.facts import Hit, Millis, Trust
from factbook.model.frame import in_frame, is_id, memory_line, memory_pieces, one_line
from factbook.recall.plan import Turn

CUT: Final = " [...]"  # stands where a text was trimmed

TOTAL_TOKENS: Final = 1500  # origins 001.7: "Hard limit: 1500 tokens total (expandable in config)"
RECENT_TOKENS: Final = (300, 500)  # origins 001.7: recent messages
RECENT_TURNS: Final = (3, 5)  # origins 001.3: "Last 3-5 conversation turns"
TOOL_TOKENS: Final = 400  # origins 001.7: tool results
STREAMED_TOKENS: Final = (100, 200)  # origins 001.3: facts, and episodes as many again
SURE_TOKENS: Final = 100  # ours: what tool results and the system text are sure of

_FIRST_GUESS: Final = 64  # characters that a trimmed text is tried with first
_WORTH_READING: Final = 200  # characters of a turn; less of it tells nothing
_KEPT_FOR_SENTENCE: Final = 0.6  # of what fits, that a cut at a sentence must keep
_KEPT_FOR_WORD: Final = 0.5  # and a cut at a word; else it is cut inside one


class Tier(StrEnum):
    """Name the parts of a context, in the order in which they are read."""

    SYSTEM = "system"
    FACTS = "facts"
    EPISODES = "episodes"
    TOOLS = "tool_results"
    RECENT = "recent"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLimits:
    """How many tokens a context and each of its tiers may have."""

    total: int = TOTAL_TOKENS  # the hard limit of the whole text
    recent_sure: int = RECENT_TOKENS[0]  # kept free for messages whatever else there is
    recent: int = RECENT_TOKENS[1]
    turns_sure: int = RECENT_TURNS[0]  # the newest so many are trimmed rather than left out
    turns: int = RECENT_TURNS[1]
    tools_sure: int = SURE_TOKENS
    tools: int = TOOL_TOKENS
    facts_sure: int = STREAMED_TOKENS[0]  # taken before episodes take more than theirs
    facts: int = STREAMED_TOKENS[1]
    episodes_sure: int = STREAMED_TOKENS[0]
    episodes: int = STREAMED_TOKENS[1]
    system_sure: int = SURE_TOKENS
    filled: int = TOTAL_TOKENS  # facts and episodes each may have what nobody else took at the end

    def __post_init__(self) -> None:
        """Refuse what is no count of tokens."""
        for limit in fields(self):
            value = getattr(self, limit.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise UsageError(
                    detail=f"the context limit `{limit.name}` is {value!r};"
                    " give a whole number of tokens, 0 or more."
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What one call of a tool gave: a text, or the memories that `search_memory` found."""

    name: str = "search_memory"
    text: str = ""
    memories: Sequence[Hit] = ()
    id: str = ""  # what names it in the account; empty: its place in the list


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceLeftOut:
    """A piece that is not in the context, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One tier of a context as it stands in the text."""

    kind: Tier
    text: str
    tokens: int  # of this text alone
    ids: tuple[str, ...]  # memories, messages or tool results in it
    trimmed: tuple[str, ...] = ()  # those of them that are there in part


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContext:
    """The context of one turn, with the account of what is in it and what is not."""

    text: str
    blocks: tuple[Block, ...]  # in the order of the text
    included: tuple[str, ...]  # ids of the memories in it, streamed or found by a tool
    left_out: tuple[PieceLeftOut, ...]
    tokens: int  # of the whole text
    limit: int

    @property
    def tier_tokens(self) -> dict[str, int]:
        """Return the tokens of each tier, counted alone."""
        tokens = {block.kind: block.tokens for block in self.blocks}
        return {str(tier): tokens.get(tier, 0) for tier in Tier}


def render_memories(memories: Sequence[Hit], *, now: Millis) -> str:
    """Return memories as one block of data; empty for none."""
    lines = [(memory, memory_line(memory, memory.text, now)) for memory in memories]
    return "".join(memory_pieces(lines)).rstrip("\n")


def _message(turn: Turn, text: str, trust: str) -> str:
    opening = f'<message role="{turn.role}" trust="{trust}">'
    return f"{opening}\n{in_frame(text)}\n</message>\n"


def _trimmed(text: str, fits: Callable[[str], bool]) -> str:
    """Return the longest beginning of a text that fits with the mark, or an empty text.

    The size is doubled until it no longer fits and then bisected, so that a long text costs no more
    than what is kept of it.
    """
    text = text.strip()
    low, high = 0, _FIRST_GUESS
    while high < len(text) and fits(_head(text, high) + CUT):
        low, high = high, high * 2
    high = min(high, len(text))
    while high - low > 1:
        middle = (low + high) // 2
        if fits(_head(text, middle) + CUT):
            low = middle
        else:
            high = middle
    kept = _head(text, low)
    return kept + CUT if kept and fits(kept + CUT) else ""


def _head(text: str, size: int) -> str:
    """Return about the first `size` characters, ended at a sentence, else a word, else inside."""
    part = text[:size]
    if len(part) == len(text):
        return part
    if not text[size : size + 1].isspace():
        start = int(size * _KEPT_FOR_SENTENCE)
        end = last_end(part, start)
        if end:
            return part[:end]
        space = max(part.rfind(" "), part.rfind("\n"))
        if space >= size * _KEPT_FOR_WORD:
            return part[:space].rstrip()
        while part and unicodedata.combining(text[len(part)]):
            part = part[:-1]  # an accent belongs to its letter
    return part.rstrip()


def build_context(
    recent_msgs: Sequence[Turn],
    tool_results: Sequence[ToolResult],
    streamed_memories: Sequence[Hit],
    system: str,
    *,
    limits: ContextLimits | None = None,
    count_tokens: Callable[[str], int],
    trust_of: Callable[[Turn], str],
    now: Millis,
) -> PromptContext:
    """Return the context of a turn: at most `limits.total` tokens as `count_tokens` counts them.

    `recent_msgs` come oldest first, `streamed_memories` best first; `trust_of` says how far each of
    those messages is trusted. The module's docstring lists
    the tiers and what happens at the edges. Raises UsageError for limits or counts that are no
    whole number from 0 on, and for a memory whose id could not stand in a block.
    """
    limits = limits or ContextLimits()
    for memory in (*streamed_memories, *(m for result in tool_results for m in result.memories)):
        if not is_id(memory.id):
            raise UsageError(
                detail=f"a memory has the id {memory.id[:80]!r}; give ids of letters, digits and"
                " _ . : - only, such as f12."
            )
    count = _Counter(count_tokens)
    for exact in (False, True):
        draft = _Draft(limits, count, trust_of, now, exact=exact)
        draft.build(recent_msgs, tool_results, streamed_memories, system)
        context = draft.context()
        if context.tokens <= limits.total:
            break
    else:  # the counter finds tokens in no text at all
        return replace(context, text="", blocks=(), included=())
    return context


class _Counter:
    """Count each text once, and refuse counts that are none."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        tokens = self._known.get(text)
        if tokens is None:
            tokens = self._count(text)
            if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
                raise UsageError(
                    detail=f"count_tokens gave {tokens!r} for a text of {len(text)} characters;"
                    " it must give a whole number, 0 or more."
                )
            self._known[text] = tokens
        return tokens


@dataclass(slots=True)
class _Part:
    """One tier while it is built: its text as pieces, each ending its line."""

    pieces: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    trimmed: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)


class _Draft:
    """Fill the tiers one after the other."""

    def __init__(
        self,
        limits: ContextLimits,
        count: _Counter,
        trust_of: Callable[[Turn], str],
        now: Millis,
        *,
        exact: bool,
    ) -> None:
        self._limits = limits
        self._trust_of = trust_of
        self._count = count
        self._now = now
        self._exact = exact  # every step is counted as a whole, instead of piece by piece
        self._parts: dict[Tier, _Part] = {}
        self._left_out: list[PieceLeftOut] = []
        self._order: Sequence[Hit] = ()  # as they were offered, the best first
        self._offered: dict[Tier, list[Hit]] = {Tier.FACTS: [], Tier.EPISODES: []}
        self._chosen: dict[Tier, dict[str, tuple[Hit, str]]] = {Tier.FACTS: {}, Tier.EPISODES: {}}

    def build(
        self,
        recent: Sequence[Turn],
        tools: Sequence[ToolResult],
        streamed: Sequence[Hit],
        system: str,
    ) -> None:
        limits = self._limits
        system = system.strip()
        sure = {
            Tier.RECENT: limits.recent_sure if recent else 0,
            Tier.TOOLS: limits.tools_sure if tools else 0,
            # a short system text needs less than is kept for it
            Tier.SYSTEM: min(limits.system_sure, self._count(system[: 16 * limits.system_sure]))
            if system
            else 0,
        }
        wanted = sum(sure.values())
        if wanted > limits.total:
            sure = {tier: tokens * limits.total // wanted for tier, tokens in sure.items()}

        self._recent(recent, reserve=sure[Tier.TOOLS] + sure[Tier.SYSTEM])
        self._tools(tools, reserve=sure[Tier.SYSTEM])
        self._streamed(streamed, reserve=sure[Tier.SYSTEM])
        if system:
            self._system(system)
        self._fill()

    def context(self) -> PromptContext:
        parts = {tier: self._parts[tier] for tier in Tier if tier in self._parts}
        texts = {tier: "".join(part.pieces).rstrip("\n") for tier, part in parts.items()}
        blocks = [
            Block(
                kind=tier,
                text=texts[tier],
                tokens=self._count(texts[tier]),
                ids=tuple(part.ids),
                trimmed=tuple(part.trimmed),
            )
            for tier, part in parts.items()
            if part.pieces
        ]
        text = "\n".join(block.text for block in blocks)
        included = dict.fromkeys(memory for part in parts.values() for memory in part.memories)
        # What found no room in one place may stand in another.
        left_out = {piece.id: piece for piece in self._left_out if piece.id not in included}
        return PromptContext(
            text=text,
            blocks=tuple(blocks),
            included=tuple(included),
            left_out=tuple(left_out.values()),
            tokens=self._count(text),
            limit=self._limits.total,
        )

    def _tokens(self, pieces: Iterable[str]) -> int:
        if self._exact:
            return self._count("".join(pieces).rstrip("\n"))
        return sum(self._count(piece) for piece in pieces)

    def _fits(self, tier: Tier, pieces: Sequence[str], *, cap: int, reserve: int) -> bool:
        """Tell whether a tier may stand as these pieces, with `reserve` tokens kept for others."""
        if self._tokens(pieces) > cap:
            return False
        room = self._limits.total - reserve
        parts = (
            pieces if each_tier is tier else self._parts[each_tier].pieces
            for each_tier in Tier
            if each_tier is tier or each_tier in self._parts
        )
        return self._tokens(piece for part in parts for piece in part) <= room

    def _leave(self, id: str, why: str) -> None:
        self._left_out.append(PieceLeftOut(id=id, why=why))

    def _recent(self, turns: Sequence[Turn], *, reserve: int) -> None:
        limits, part = self._limits, _Part()
        full = False
        for place in range(len(turns) - 1, -1, -1):
            turn, kept = turns[place], len(part.ids)
            name, trust = turn.id or f"turn:{place + 1}", self._trust_of(turn)

            def fits(text: str, turn: Turn = turn, trust: str = trust) -> bool:
                pieces = [_message(turn, text, trust), *part.pieces]
                return self._fits(Tier.RECENT, pieces, cap=limits.recent, reserve=reserve)

            if kept >= limits.turns:
                self._leave(name, f"older than the last {limits.turns} turns")
                continue
            if not turn.text.strip():
                self._leave(name, "it is empty")
                continue
            if full:
                self._leave(name, "newer messages took the room for messages")
                continue
            text = turn.text if self._affordable(turn.text, limits.recent) else ""
            if not (text and fits(text)):
                full = True
                text = _trimmed(turn.text, fits) if kept < limits.turns_sure else ""
                if not text:
                    self._leave(name, "no room is left for messages")
                    continue
                part.trimmed.insert(0, name)
            part.pieces.insert(0, _message(turn, text, trust))
            part.ids.insert(0, name)
        self._parts[Tier.RECENT] = part

    def _affordable(self, text: str, tokens: int) -> bool:
        """Tell whether a text may fit so many tokens; long ones are judged by their beginning."""
        part = text[: 16 * tokens + 1]
        return len(part) == len(text) or self._count(part) <= tokens

    def _tools(self, results: Sequence[ToolResult], *, reserve: int) -> None:
        limits = self._limits
        part = _Part()
        # The smallest first, so that what they leave of their share goes to the larger ones.
        order = sorted(range(len(results)), key=lambda n: _size(results[n]))
        shown: dict[int, tuple[list[str], list[str], bool]] = {}
        for done, place in enumerate(order):
            others = [piece for pieces, _, _ in shown.values() for piece in pieces]
            room = self._room(Tier.TOOLS, others, cap=limits.tools, reserve=reserve)
            share = max(0, room) // (len(order) - done)
            name = results[place].id or f"tool:{place + 1}"

            def fits(
                pieces: Sequence[str], others: Sequence[str] = others, share: int = share
            ) -> bool:
                return self._tokens(pieces) <= share and self._fits(
                    Tier.TOOLS, [*others, *pieces], cap=limits.tools, reserve=reserve
                )

            fitted = self._tool(results[place], name, fits)
            if fitted is None:
                self._leave(name, "the budget is too small even for its beginning")
                continue
            shown[place] = fitted
        for place in sorted(shown):
            pieces, memories, cut = shown[place]
            name = results[place].id or f"tool:{place + 1}"
            part.pieces += pieces
            part.ids.append(name)
            part.memories += memories
            if cut:
                part.trimmed.append(name)
        if part.pieces:
            self._parts[Tier.TOOLS] = part

    def _room(self, tier: Tier, pieces: Sequence[str], *, cap: int, reserve: int) -> int:
        """Return how many tokens a tier that stands as these pieces may still grow by."""
        others = [
            piece
            for other in Tier
            if other in self._parts and other is not tier
            for piece in self._parts[other].pieces
        ]
        whole = self._tokens([*others, *pieces])
        return min(cap - self._tokens(pieces), self._limits.total - reserve - whole)

    def _tool(
        self, result: ToolResult, name: str, fits: Callable[[Sequence[str]], bool]
    ) -> tuple[list[str], list[str], bool] | None:
        """Return (pieces, ids of memories, whether it was trimmed), or None without any room."""
        trust = "" if result.memories else f' trust="{Trust.EXTERNAL}"'
        named = html.escape(one_line(result.name), quote=True)
        opening = f'<tool-result name="{named}"{trust}>\n'
        closing = "</tool-result>\n"

        def framed(body: Sequence[str]) -> list[str]:
            return [opening, *body, closing]

        if not result.memories:
            text = in_frame(result.text.strip()) or "nothing was found"
            if self._affordable(text, self._limits.tools) and fits(framed([f"{text}\n"])):
                return framed([f"{text}\n"]), [], False
            text = _trimmed(text, lambda shorter: fits(framed([f"{shorter}\n"])))
            return (framed([f"{text}\n"]), [], True) if text else None

        lines: list[tuple[Hit, str]] = []
        cut = False
        for memory in result.memories:
            if any(memory.id == known.id for known, _ in lines) or not self._is_legal(memory):
                continue

            def tried(text: str, memory: Hit = memory) -> bool:
                more = [*lines, (memory, memory_line(memory, text, self._now))]
                return fits(framed(memory_pieces(more)))

            text = memory.text
            if not (self._affordable(text, self._limits.tools) and tried(text)):
                cut = True
                # One that fits in part would push out those behind it: only the first is trimmed.
                text = _trimmed(text, tried) if not lines else ""
                if not text:
                    self._leave(memory.id, f"no room is left in the result {name}")
                    continue
            lines.append((memory, memory_line(memory, text, self._now)))
        if not lines:
            return None
        return framed(memory_pieces(lines)), [memory.id for memory, _ in lines], cut

    def _is_legal(self, memory: Hit) -> bool:
        legal = 0.0 <= memory.confidence <= 1.0  # NaN is not
        if not legal:
            self._leave(memory.id, f"its confidence is {memory.confidence}")
        return legal

    def _streamed(self, memories: Sequence[Hit], *, reserve: int) -> None:
        limits = self._limits
        tools = self._parts.get(Tier.TOOLS)
        seen = set(tools.memories) if tools is not None else set()
        typed: Counter[str] = Counter()  # origins 002.2: an envelope has bounds by type
        for memory in memories:
            if memory.id in seen:
                continue  # it stands among the tool results, or came twice
            if not self._is_legal(memory):
                continue
            seen.add(memory.id)
            most = policy.CONTEXT_TYPED.get(memory.predicate)
            typed[memory.predicate] += 1
            if most is not None and typed[memory.predicate] > most:
                self._leave(memory.id, f"a context holds at most {most} of {memory.predicate}")
                continue
            tier = Tier.EPISODES if memory.kind == "episode" else Tier.FACTS
            self._offered[tier].append(memory)
        self._order = memories
        for tier, cap in (
            (Tier.FACTS, min(limits.facts_sure, limits.facts)),
            (Tier.EPISODES, min(limits.episodes_sure, limits.episodes)),
            (Tier.FACTS, limits.facts),
            (Tier.EPISODES, limits.episodes),
        ):
            for memory in self._offered[tier]:
                if memory.id in self._chosen[tier] or not self._affordable(memory.text, cap):
                    continue
                pieces = memory_pieces(list(self._tried(tier, memory, memory.text).values()))
                if self._fits(tier, pieces, cap=cap, reserve=reserve):
                    self._take(tier, memory, memory.text)

    def _fill(self) -> None:
        """Let what fits stand where nobody else took the room: shares are sure, and no bounds.

        The best come first, of whatever tier. Of turns of logs the first that is too long for what
        is left is told as far as there is room: what bears on the question most stands first in it.
        """
        limits = self._limits
        caps = {
            Tier.FACTS: max(limits.facts, limits.filled) if limits.facts else 0,
            Tier.EPISODES: max(limits.episodes, limits.filled) if limits.episodes else 0,
        }
        offered = {memory.id: tier for tier, hits in self._offered.items() for memory in hits}
        for memory in self._order:
            tier = offered.get(memory.id)
            if tier is None or memory.id in self._chosen[tier]:
                continue

            def stands(text: str, tier: Tier = tier, memory: Hit = memory) -> bool:
                tried = self._tried(tier, memory, text)
                return self._fits(
                    tier, memory_pieces(list(tried.values())), cap=caps[tier], reserve=0
                )

            if self._affordable(memory.text, caps[tier]) and stands(memory.text):
                self._take(tier, memory, memory.text)
            elif memory.turn is not None and not any(p.trimmed for p in self._parts.values()):
                text = _trimmed(memory.text, stands)
                if len(text) >= _WORTH_READING:
                    self._take(tier, memory, text)
                    self._parts[tier].trimmed.append(memory.id)
        for tier, hits in self._offered.items():
            for memory in hits:
                if memory.id not in self._chosen[tier]:
                    self._leave(memory.id, f"it does not fit what is left for {tier}")

    def _tried(self, tier: Tier, memory: Hit, text: str) -> dict[str, tuple[Hit, str]]:
        """Return what a tier would hold with one memory more, in the order of offering."""
        tried = {**self._chosen[tier], memory.id: (memory, memory_line(memory, text, self._now))}
        return {hit.id: tried[hit.id] for hit in self._offered[tier] if hit.id in tried}

    def _take(self, tier: Tier, memory: Hit, text: str) -> None:
        chosen = self._chosen[tier] = self._tried(tier, memory, text)
        trimmed = self._parts[tier].trimmed if tier in self._parts else []
        self._parts[tier] = _Part(
            pieces=memory_pieces(list(chosen.values())),
            ids=list(chosen),
            trimmed=trimmed,
            memories=list(chosen),
        )

    def _system(self, system: str) -> None:
        system = in_frame(system, host=True)
        total = self._limits.total

        def fits(text: str) -> bool:
            return self._fits(Tier.SYSTEM, [f"{text}\n"], cap=total, reserve=0)

        whole = self._affordable(system, total) and fits(system)
        text = system if whole else _trimmed(system, fits)
        if not (whole or text):
            self._leave("system", "no room is left")
            return
        trimmed = [] if whole else ["system"]
        self._parts[Tier.SYSTEM] = _Part(pieces=[f"{text}\n"], ids=["system"], trimmed=trimmed)


def _size(result: ToolResult) -> int:
    return len(result.text) + sum(len(memory.text) for memory in result.memories)
