"""Decide what is looked up and told by itself, and in which words; pure.

How much is known of an entity and how much its owner cares about it give its mode. When a notice
may go is `factbook.model.backoff`'s to say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from factbook import policy
from factbook.gate.notices import EnrichmentMode
from factbook.model.entities import NoticeKind
from factbook.model.facts import Millis
from factbook.net.http import one_line

NOTICE_CHARS: Final = 20  # learned: a notice whose facts together are shorter says nothing
LISTED: Final = 8  # ours: facts that one notice shows; the others are counted


def notice_text(entity: str, kind: NoticeKind, facts: Sequence[str]) -> str:
    """Return what a notice says: the seed's sentence, then the facts, one on each line.

    Names and facts come from pages of others, so each is one line that no terminal acts upon. It is
    empty where there is nothing to send: the facts together have fewer than `NOTICE_CHARS`
    characters.
    """
    lines = [line for fact in facts if (line := one_line(fact, limit=policy.QUOTE_CHARS))]
    if sum(map(len, lines)) < NOTICE_CHARS:
        return ""
    name = one_line(entity)
    if kind is NoticeKind.DISCOVERED:
        count = f"{len(lines)} fact" if len(lines) == 1 else f"{len(lines)} facts"
        head = f"I just discovered {name} and learned {count} about it"
    else:
        head = f"I just learned some new stuff about {name}..."
    shown = [f"- {line}" for line in lines[:LISTED]]
    if len(lines) > LISTED:
        shown.append(f"(and {len(lines) - LISTED} more)")
    return "\n".join([head, *shown])


_BROAD: Final = ("{name}", "what is {name}", "{name} overview", "{name} facts")
# An aspect of a thing, and the words by which a known fact shows that it speaks of it. They fit
# products, places, people and ideas alike; what makes no sense for one finds nothing.
_ASPECTS: Final = (
    ("price", r"priced?|prices|costs?|[$€£] ?[\d.,]+|[\d.,]+ ?(?:dollars?|euros?)|fees?|for free"),
    ("release date", r"released?|launch(?:ed)?|founded|introduced|published|(?:since|in) \d{4}"),
    ("who makes it", r"made by|makers?|manufactur\w+|founders?|(?:designed|created|written) by"),
    ("specifications", r"[\d.,]+ ?(?:[cmk]m|m|k?g|k?w|v|k?hz|[gmt]b|inch(?:es)?|litres?)|specs?"),
    ("how it works", r"works? by|uses?|using|based on|consists? of|mechanism|contains?"),
    ("reviews", r"reviews?|rated|ratings?|praised|critics?|awards?|critici[sz]ed"),
    ("problems", r"problems?|issues?|drawbacks?|complain\w*|recalled|bugs?|lacks?"),
    ("alternatives", r"compared|alternatives?|rivals?|competitors?|competes?|unlike|versus|vs"),
    ("where to find it", r"located|stores?|shops?|available (?:at|in|from)|sold|venue|address"),
    ("history", r"history|predecessor|successor|originally|formerly|replaced|earlier"),
)
_CUES: Final = tuple(
    (aspect, re.compile(rf"(?<!\w)(?:{cues})(?!\w)", re.IGNORECASE)) for aspect, cues in _ASPECTS
)


def enrich_query(
    entity: str,
    mode: EnrichmentMode,
    known: Sequence[str] = (),
    since: Millis | None = None,
    *,
    asked: Sequence[str] = (),
) -> list[str]:
    """Return what to search for about an entity, the most useful query first; [] to skip it.

    Broad: the name and its plain questions. Targeted: the aspects of which no known fact speaks.
    Briefing: what is new since the last one (`since`). Those that stand least often in `asked`,
    the searches made before, come first: a caller who takes the first goes round all of them.
    """
    name = " ".join(entity.split())
    if mode is EnrichmentMode.SKIP or not name:
        return []
    if mode is EnrichmentMode.BROAD:
        queries = [question.replace("{name}", name) for question in _BROAD]
    elif mode is EnrichmentMode.TARGETED:
        queries = [f"{name} {aspect}" for aspect in _unknown(known)]
    elif since is None:
        queries = [f"what's new about {name}", f"{name} latest news"]
    else:
        day = datetime.fromtimestamp(since / 1000, UTC).strftime("%Y-%m-%d")
        queries = [f"what's new about {name} since {day}", f"{name} news since {day}"]
    made = Counter(query.casefold() for query in asked)
    return sorted(queries, key=lambda query: made[query.casefold()])  # a stable sort


def _unknown(known: Sequence[str]) -> list[str]:
    gaps = [aspect for aspect, cue in _CUES if not any(cue.search(fact) for fact in known)]
    # Where every aspect is spoken of, more of each is all that is left to ask for.
    return gaps or [aspect for aspect, _ in _CUES]
