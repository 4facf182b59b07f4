"""Lay out what a person cares about: things, interests, searches, notices, and why.

Every function returns a text: a chat shows it as it is, and so does the command line. Stored text
enters lines only through `text.one_line`, `text.safe` or a table cell, so no page and no message
can command a terminal. Values come redacted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.language.sentences import sentences
from factbook.language.words import STOPWORDS, stem, words
from factbook.model.entities import EngagementType, NoticeState, PreferenceType
from factbook.model.facts import Millis, Trigger, Trust
from factbook.surface import text
from factbook.surface.output import Page
from factbook.surface.text import Column, count, every, moment, one_line

if TYPE_CHECKING:
    from factbook.interests.interests import EntityView, InterestRow, LearnStatus
    from factbook.interests.scheduler import LoopReport
    from factbook.maintenance.cleaner import CleanReport
    from factbook.memory.reasons import Cause, Chain, EntityWhy, FactWhy, NoticeWhy, Origin, Part
    from factbook.model.entities import (
        Entity,
        Notice,
        NotifyState,
        Preference,
        Schedule,
        SearchAnswer,
    )
    from factbook.model.facts import Fact

__all__ = [
    "entities",
    "entity",
    "entity_table",
    "help_of",
    "interest_lines",
    "interests",
    "learning",
    "notices",
    "results",
    "schedules",
    "why_entity",
    "why_fact",
    "why_notice",
    "work",
]

_FORM: Final = 22  # cells of a command before what it does
_LABEL: Final = 10  # cells of the words before the links of a chain
_EXCERPT_LINES: Final = 3  # of a search result
_SAID_CHARS: Final = 120  # of what somebody said, as a reason
_EVIDENCE_SHOWN: Final = 5  # ways back from one fact
_MINUTE: Final = 60_000
_HALF: Final = 12  # cells of a bar on either side of zero
_NAME_CELLS: Final = 40  # of a name beside its bar

_DID: Final[Mapping[EngagementType, str]] = {
    EngagementType.LEARN_COMMAND: "asked to learn about it",
    EngagementType.LIKE_COMMAND: "liked it",
    EngagementType.DISLIKE_COMMAND: "disliked it",
    EngagementType.EXPLICIT_STATEMENT: "said so",
    EngagementType.SEARCH_INITIATED: "searched for it",
    EngagementType.FOLLOW_UP_QUESTION: "asked more about it",
    EngagementType.PROACTIVE_NEGATIVE_REACTION: "wanted no notice of it",
    EngagementType.PROACTIVE_POSITIVE_REACTION: "liked a notice of it",
    EngagementType.NORMAL_REACTION: "reacted to an answer",
    EngagementType.MENTIONED_IN_PASSING: "mentioned it",
}
_CAUSED: Final[Mapping[Trigger, str]] = {
    Trigger.USER_MESSAGE: "something that you said or searched for led to it",
    Trigger.LEARN_COMMAND: "you asked to learn about it",
    Trigger.ENRICHMENT: "a search made by itself, for you care about it, led to it",
}
_TRUSTED: Final[Mapping[Trust, str]] = {
    Trust.DIRECT: "in your own words",
    Trust.OBSERVED: "from what was really done",
    Trust.DERIVED: "from what a model wrote",
    Trust.EXTERNAL: "from pages of others",
}
_STATES: Final[Mapping[NoticeState, str]] = {
    NoticeState.WAITING: "waits",
    NoticeState.CLAIMED: "is being told",
    NoticeState.SENT: "told",
    NoticeState.FAILED: "could not be told",
    NoticeState.DROPPED: "dropped",
}


def _wrapped(
    raw: str, look: Page, *, lead: str = "", style: str = "", lines: int | None = None
) -> list[str]:
    """Return a raw text in lines behind a safe lead; the next lines stand under the first."""
    indent = text.cells(lead)
    found = text.wrap(one_line(raw), look.prose - indent, lines=lines)
    return [look.paint(lead, style) + found[0], *(" " * indent + one for one in found[1:])]


def _signed(value: float) -> str:
    found = f"{value:+.2f}"
    return "0.00" if float(found) == 0 else found


def _day(at: Millis | None) -> str:
    return moment(at)[:10]


# --- learning -------------------------------------------------------------------------------------


def learning(found: Sequence[LearnStatus], *, first: int, look: Page) -> str:
    """Return how far everything to be learned has come, in the seed's form; "" for nothing.

    `first` is the number of the first one.
    """
    if not found:
        return ""
    lines = ["Queued learning", ""]
    for number, one in enumerate(found, first):
        done = "(done)" if look.plain else "✓"
        lines.append(f"{number}) '{one_line(one.prompt.text)}' {done if one.done else '...'}")
        lines += [
            f"   - {one_line(entity.name)} ({count(facts, 'fact')})"
            for entity, facts in one.entities
        ]
        if one.done and not one.entities:  # ours: ticked off with nothing below it says too little
            pages = sum(len(search.episode_ids) for search in one.searches)
            single = (
                f"; {count(one.single_source, 'thing')} that one source alone names"
                " (`factbook rejections`)"
            )
            lines += _wrapped(
                f"nothing new: {count(pages, 'result')} read{single * bool(one.single_source)}",
                look,
                lead="   ",
            )
        for query, why in one.failed:  # ours: a search that fails is never "nothing was found"
            lines += _wrapped(f"'{query}' is tried again: {why}", look, lead="   ! ")
    return "\n".join(lines)


def results(found: SearchAnswer, query: str, *, look: Page) -> str:
    """Return what a search found."""
    shown = f"'{one_line(query)}'"
    if not found.results:
        return f"Nothing was found for {shown} by {one_line(found.provider)}."
    lines = [f"{count(len(found.results), 'result')} for {shown} by {one_line(found.provider)}"]
    for number, one in enumerate(found.results, 1):
        lead = f"{number}) "
        titled = _wrapped(one.title or one.url, look, lead=lead)
        lines += ["", *(look.paint(line, "bold") for line in titled)]
        lines.append(" " * len(lead) + look.paint(one_line(one.url), "cyan"))
        excerpt = _excerpt(one.text, one.title, query)
        if excerpt:
            lines += _wrapped(excerpt, look, lead=" " * len(lead), lines=_EXCERPT_LINES)
    return "\n".join(lines)


def _excerpt(found: str, title: str, query: str) -> str:
    """Return a text from its first sentence with most words of the query, without its title."""
    said = [sentence.of(found) for sentence in sentences(found)]
    if len(said) > 1 and one_line(said[0]).lstrip("# ") == one_line(title):
        del said[0]
    asked = {stem(word) for word in words(query) if word not in STOPWORDS}
    shared = [len(asked.intersection(map(stem, words(one)))) for one in said]
    first = shared.index(max(shared)) if said else 0
    return " ".join(["…"] * bool(first) + said[first:])


def schedules(found: Sequence[Schedule]) -> str:
    """Return what is searched for again and again; "" for nothing."""
    return "\n".join(
        f"{number}) {every(one.every_ms)}: '{one_line(one.topic)}' (next {moment(one.next_at)})"
        for number, one in enumerate(found, 1)
    )


# --- things ---------------------------------------------------------------------------------------


def entities(found: Sequence[Entity], *, look: Page) -> str:
    """Return all that is known, with the number of facts, as numbers name it; "" for nothing."""
    width = len(str(len(found)))
    return "\n".join(
        f"{number:>{width}}) {one_line(one.name)} ({count(one.fact_count, 'fact')})"
        + (look.paint(" muted", "dim") if one.muted else "")
        for number, one in enumerate(found, 1)
    )


def entity_table(found: Sequence[Entity], *, look: Page) -> str:
    """Return entities with their ids, other names, and what became of them; "" for none."""
    rows = [
        [
            str(one.id),
            one.name,
            ", ".join(one.aliases),
            count(one.fact_count),
            _day(one.created_at),
            one.trigger,
            _fate(one),
        ]
        for one in found
    ]
    columns = [
        Column(title="id", right=True),
        Column(title="name", style="bold", most=40, flexible=True, least=12),
        Column(title="also", most=60, flexible=True, least=8, optional=True),
        Column(title="facts", right=True),
        Column(title="since", style="dim"),
        Column(title="by", style="dim", optional=True),
        Column(title="", style="dim"),
    ]
    return "\n".join(text.table(columns, rows, width=look.width, color=look.color))


def cleaned(report: CleanReport) -> str:
    """Return what cleaning has merged and dropped."""
    parts = [
        f"{count(report.merged, 'entity', 'entities')} merged",
        f"{count(report.retired)} dropped",
        f"{count(report.merged_facts, 'fact')} merged",
        f"{count(report.waiting, 'pair')} undecided" if report.waiting else "",
    ]
    said = ", ".join(part for part in parts if part)
    return f"{said}. {report.note}".rstrip()


def _fate(one: Entity) -> str:
    if one.merged_into_id is not None:
        return f"merged into {one.merged_into_id}"
    if not one.current:
        return "deleted"
    return "muted" if one.muted else ""


def entity(view: EntityView, brought: Origin, *, place: int, look: Page) -> str:
    """Return one thing with what is known of it, newest first."""
    one = view.entity
    lines = [look.paint(f"{place}) {one_line(one.name)}", "bold")]
    if one.aliases:
        lines += _wrapped("also " + ", ".join(one.aliases), look, lead="   ")
    standing = [
        f"interest {_signed(view.interest)}",
        count(len(view.facts), "fact"),
        f"last activity {moment(one.last_activity)}" if one.last_activity else "",
        "muted" if one.muted else "",
    ]
    lines.append("   " + ", ".join(part for part in standing if part))
    lines += _wrapped(f"here since {_day(one.created_at)}: {_origin(brought)}", look, lead="   ")
    for liked, cosine in view.preferences:
        said = f"near to what you {liked.type}: {liked.topic} (cosine {cosine:.2f})"
        lines += _wrapped(said, look, lead="   ")
    for fact in view.facts:
        lines += ["", *_fact(fact, view.places.get(fact.id, ("", None))[0], look)]
    return "\n".join(lines)


def _fact(one: Fact, url: str, look: Page) -> list[str]:
    lead = f"f{one.id}  "
    lines = _wrapped(one.statement, look, lead=lead)
    marks = [_day(one.learned_at), one_line(url)]
    if one.confidence < policy.MIN_CONFIDENCE_ACTIVE:
        marks.append("out of all retrieval")
    tail = "  ".join(part for part in marks if part)
    return [*lines, " " * len(lead) + look.paint(tail, "dim")]


def interests(rows: Sequence[InterestRow], preferences: Sequence[Preference], *, look: Page) -> str:
    """Return what is cared about, most first, with a bar for each; "" for nothing."""
    lines = interest_lines(rows, look=look)
    for kind in PreferenceType:
        topics = [preference.topic for preference in preferences if preference.type is kind]
        if topics:
            lines += [""] if len(lines) == len(rows) + 1 else []
            lines += _wrapped(", ".join(topics), look, lead=f"you {kind}: ")
    return "\n".join(lines)


def interest_lines(rows: Sequence[InterestRow], *, look: Page) -> list[str]:
    """Return the ranking as lines: a bar to either side of zero, and the numbers.

    The rows stand as they are given; the longest bar is the score farthest from zero.
    """
    most = max((abs(row.score) for row in rows), default=0.0)
    columns = [
        Column(title="#", style="dim", right=True, least=1),
        Column(title="entity", style="bold", most=_NAME_CELLS, flexible=True),
        Column(title="", least=2 * _HALF + 1, optional=True),
        Column(title="interest", right=True),
        Column(title="facts", right=True),
        Column(title="last activity", style="dim", optional=True),
    ]
    table = (
        [
            str(place),
            one.entity.name,
            _bar(one.score / most if most else 0.0, plain=look.plain),
            _signed(one.score),
            count(one.fact_count),
            moment(one.last_activity),
        ]
        for place, one in enumerate(rows, start=1)
    )
    return list(text.table(columns, table, width=look.width, color=look.color))


def _bar(value: float, *, plain: bool) -> str:
    """Return a bar for -1 to 1 around an axis in the middle.

    The blanks on its left are the axis's own, since a table drops those of a cell.
    """
    full, empty, axis = ("#", ".", "|") if plain else ("█", "·", "│")
    cells = min(_HALF, round(_HALF * abs(value)))
    if cells == 0 and value:
        cells = 1  # little is not nothing
    left, right = (cells, 0) if value < 0 else (0, cells)
    return empty * (_HALF - left) + full * left + axis + full * right + empty * (_HALF - right)


# --- why ------------------------------------------------------------------------------------------


def why_entity(why: EntityWhy, *, look: Page) -> str:
    """Return what brought a thing in, and what each thing that was done adds to its interest."""
    lines = [look.paint(f"{one_line(why.entity.name)}: interest {_signed(why.interest)}", "bold")]
    lines += _wrapped(f"here since {_day(why.entity.created_at)}: {_origin(why.brought)}", look)
    if not why.parts:
        return "\n".join([*lines, "", "Nothing that you did counts for it."])
    half = policy.INTEREST_HALF_LIFE_DAYS
    columns = [
        Column(title="adds now", right=True),
        Column(title="strength", right=True),
        Column(title="age", right=True),
        Column(title="you", most=60, flexible=True, least=12),
        Column(title="because you said", style="dim", flexible=True, least=12, optional=True),
    ]
    rows = [
        [
            _signed(part.adds),
            _signed(policy.VALENCE_SIGN[part.engagement.valence] * part.engagement.strength),
            _age(why.at - part.engagement.at),
            _did(part),
            "" if part.cause is None else part.cause.text[:_SAID_CHARS],
        ]
        for part in why.parts
    ]
    lines.append("")
    lines += text.table(columns, rows, width=look.width, color=look.color)
    said = f"Each halves every {half:.0f} days; their sum is the interest."
    lines += ["", look.paint(said, "dim")]
    return "\n".join(lines)


def _did(one: Part) -> str:
    did = _DID[one.engagement.type]
    if one.preference is not None and one.engagement.entity_id is None:
        did = did.replace(" it", f" {one.preference.topic}")
    if one.taken_back:
        return f"{did} (taken back)"
    if one.share < 1.0:
        topic = one.preference.topic if one.preference is not None else "?"
        return f"{_DID[one.engagement.type].replace(' it', f' {topic}')} (near: {one.share:.0%})"
    return did


def _age(ms: int) -> str:
    days = max(0, ms) // (24 * 60 * _MINUTE)
    if days:
        return count(days, "day")
    hours = max(0, ms) // (60 * _MINUTE)
    return count(hours, "hour") if hours else f"{max(0, ms) // _MINUTE} min"


def why_fact(why: FactWhy, *, look: Page) -> str:
    """Return where a fact comes from: every way back to what somebody asked for."""
    fact = why.fact
    about = one_line(why.entity.name) if why.entity else one_line(fact.subject)
    lead = f"f{fact.id}  "
    lines = [look.paint(line, "bold") for line in _wrapped(fact.statement, look, lead=lead)]
    standing = f"confidence {fact.confidence:.2f}, {_TRUSTED[fact.trust]}"
    if fact.confidence <= 0:  # nothing but its owner's word takes all of it
        standing = f"forgotten: you took it out of all retrieval; {_TRUSTED[fact.trust]}"
    lines.append(" " * len(lead) + look.paint(standing, "dim"))
    for chain in why.chains[:_EVIDENCE_SHOWN]:
        lines += ["", *_chain(chain, look)]
    if len(why.chains) > _EVIDENCE_SHOWN:
        lines += ["", f"and {count(len(why.chains) - _EVIDENCE_SHOWN, 'more source')}"]
    if not why.chains:
        lines += ["", "Nothing that speaks for it is left."]
    if why.entity is not None:
        known = count(why.entity.fact_count, "fact")
        lines += _link("about", f"{about} ({known})", look)
    return "\n".join(lines)


def _chain(one: Chain, look: Page) -> list[str]:
    """Return one way back, oldest first: what was asked, searched, found, and what stands there."""
    origin, quote = one.origin, one.evidence.quote
    lines = _asked(origin, look)
    if origin.url:
        lines += _link("found", f"{origin.title}  {origin.url}".strip(), look)
    repeated = origin.search is None and origin.cause is not None and quote in origin.cause.text
    if quote and not repeated:
        lines += _link("it says", f"“{quote}”", look)
    return lines


def _asked(one: Origin, look: Page) -> list[str]:
    lines = []
    if one.prompt:
        lines += _link("you asked", f"to learn '{one.prompt}'", look)
    elif one.cause is not None:
        lines += _link("you typed" if one.cause.is_command else "you said", _said(one.cause), look)
    if one.search is not None:
        own = ", by itself" if one.search.trigger is Trigger.ENRICHMENT else ""
        made = f"'{one.search.query}' with {one.search.provider} on {moment(one.search.at)}{own}"
        lines += _link("searched", made, look)
    return lines


def _link(label: str, said: str, look: Page) -> list[str]:
    return _wrapped(said, look, lead=label.ljust(_LABEL), style="dim")


def why_notice(why: NoticeWhy, *, look: Page) -> str:
    """Return why something was told by itself, or waits to be."""
    one = why.notice
    lines = [look.paint(f"n{one.id}  {one_line(why.entity.name)}: {_STATES[one.state]}", "bold")]
    interest = f"your interest in it is {_signed(why.interest)}"
    lines += _wrapped(f"{_CAUSED.get(one.trigger, 'it is new')}; {interest}", look)
    told = f", told on {moment(one.sent_at)}" if one.state is NoticeState.SENT else ""
    by = f" by {', '.join(one.channels)}" if one.channels else ""
    lines += _wrapped(f"learned on {moment(one.created_at)}{told}{by}", look)
    if one.reason:
        lines += _wrapped(one.reason, look)
    shown: tuple[str, ...] = ()
    for fact in why.facts:
        chain = fact.chains[0] if fact.chains else None
        asked = tuple(_asked(chain.origin, look)) if chain is not None else ()
        lines += ["", *asked] if asked != shown else []  # facts of one search stand together
        shown = asked
        lead = f"f{fact.fact.id}  "
        lines += _wrapped(fact.fact.statement, look, lead=lead)
        if chain is not None and chain.origin.url:
            lines.append(" " * len(lead) + look.paint(one_line(chain.origin.url), "dim"))
    if not why.facts:
        lines += ["", "None of its facts is held any more."]
    return "\n".join(lines)


def _origin(one: Origin) -> str:
    """Return what brought a thing in."""
    found = f"found by the search '{one.search.query}'" if one.search is not None else ""
    if one.prompt:
        return f"{found}, when you asked to learn '{one.prompt}'"
    if one.cause is None:
        return found or "what brought it in was erased"
    did = f"you {'typed' if one.cause.is_command else 'said'} {_said(one.cause)}"
    return f"{found}, when {did}" if found else did


def _said(cause: Cause) -> str:
    said = one_line(cause.text)
    cut = said if len(said) <= _SAID_CHARS else said[: _SAID_CHARS - 1].rstrip() + "…"
    return f"“{cut}”" + (f" on {moment(cause.at)}" if cause.at is not None else "")


# --- notices --------------------------------------------------------------------------------------


def notices(
    found: Sequence[Notice], names: Mapping[int, str], state: NotifyState, *, look: Page
) -> str:
    """Return what was told by itself and what waits, oldest first; "" for nothing."""
    rows = [
        [
            f"n{notice.id}",
            moment(notice.sent_at or notice.created_at),
            names.get(notice.entity_id, ""),
            count(len(notice.fact_ids), "fact"),
            _STATES[notice.state],
            ", ".join(notice.channels) or notice.reason,
        ]
        for notice in found
    ]
    columns = [
        Column(title="id"),
        Column(title="when", style="dim"),
        Column(title="about", style="bold", most=40, flexible=True, least=12),
        Column(title="with", right=True),
        Column(title="state"),
        Column(title="", style="dim", flexible=True, least=10, optional=True),
    ]
    lines = list(text.table(columns, rows, width=look.width, color=look.color))
    if state.muted:
        lines.append(f"There are no notices now; {look.typed('unmute')} turns them on again.")
    return "\n".join(lines)


# --- help -----------------------------------------------------------------------------------------


def help_of(found: Sequence[tuple[str, str]], examples: Sequence[str] = (), *, look: Page) -> str:
    """Return commands, each with what it does, and examples of one."""
    lines = []
    for form, what in found:
        if len(form) + 2 > _FORM:  # what it does stands below it
            lines.append(look.paint(form, "bold"))
            form = ""
        lines += _wrapped(what, look, lead=form.ljust(_FORM), style="bold")
    return "\n".join(
        [*lines, *(["", *("  " + example for example in examples)] if examples else [])]
    )


# --- the work behind ------------------------------------------------------------------------------


def work(
    report: Sequence[LoopReport],
    failed: Sequence[tuple[str, str, bool]],
    *,
    embedded: int,
    waiting: int,
) -> str:
    """Return what the loops did, and what went wrong last.

    `failed` are searches that were not answered: (query, why, whether it was put aside).
    """
    rest = f"{count(waiting)} still waiting" if waiting else "nothing waits"
    lines = [f"{count(embedded, 'row')} embedded; {rest}."]
    for loop_report in report:
        if not loop_report.enabled:
            lines.append(f"{loop_report.name}: off")
            continue
        parts = [
            f"{count(number)} {what}"
            for number, what in (
                (0 if loop_report.name == "embedding" else loop_report.did, "done"),
                (loop_report.cancelled, "interrupted"),
                (loop_report.failed, "failed"),
            )
            if number
        ]
        if parts:
            lines.append(f"{loop_report.name}: {', '.join(parts)}")
        if loop_report.error:
            lines.append(f"  the last error: {one_line(loop_report.error)}")
    again = [one for one in failed if not one[2]]
    aside = [one for one in failed if one[2]]
    if again:
        lines.append(f"{count(len(again), 'search', 'searches')} not answered, to be tried again:")
        lines.append(f"  '{one_line(again[0][0])}': {one_line(again[0][1])}")
    if aside:
        lines.append(
            f"{count(len(aside), 'search', 'searches')} put aside;"
            " `factbook worker --retry` tries them again:"
        )
        lines.append(f"  '{one_line(aside[0][0])}': {one_line(aside[0][1])}")
    return "\n".join(lines)
