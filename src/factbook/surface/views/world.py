"""Lay out what a person cares about: things, interests, searches, notices, and why.

A chat shows these pages as they are, and so does the command line. Values come redacted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.interests.score import signed
from factbook.language.sentences import sentences
from factbook.language.values import count, counted, every, moment
from factbook.language.words import STOPWORDS, stem, words
from factbook.model.entities import EngagementType, NoticeState, PreferenceType
from factbook.model.facts import Millis, Trigger, Trust
from factbook.surface.output import Page
from factbook.surface.text import Column, one_line

if TYPE_CHECKING:
    from factbook.interests.interests import EntityView, InterestRow, LearnStatus
    from factbook.interests.scheduler import LoopReport
    from factbook.maintenance.cleaner import CleanReport
    from factbook.memory.reasons import (
        Cause,
        Chain,
        EntityWhy,
        FactWhy,
        NoticeWhy,
        Origin,
        Part,
        PreferenceWhy,
    )
    from factbook.model.entities import (
        Entity,
        Notice,
        NotifyState,
        Preference,
        Schedule,
        SearchAnswer,
    )
    from factbook.model.facts import Fact

_FORM: Final = 22  # cells of a command before what it does
_LABEL: Final = 10  # cells of the words before the links of a chain
_EXCERPT_LINES: Final = 3  # of a search result
_SAID_CHARS: Final = 120  # of what somebody said, as a reason
_EVIDENCE_SHOWN: Final = 5  # ways back from one fact
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


def _say(
    page: Page, raw: str, lead: str = "", *, style: str = "", lines: int | None = None
) -> None:
    """Write a raw text behind a safe lead; the next lines stand under the first."""
    page.say(one_line(raw), lead=page.paint(lead, style), lines=lines)


def _signed(value: float) -> str:
    shown = f"{value:+.2f}"
    return "0.00" if float(shown) == 0 else shown


def _day(at: Millis | None) -> str:
    return moment(at)[:10]


def learning(page: Page, statuses: Sequence[LearnStatus], *, first: int) -> None:
    """Show how far everything to be learned has come, in the seed's form.

    `first` is the number of the first one.
    """
    page.lines(["Queued learning", ""])
    ticked = "(done)" if page.plain else "✓"
    for number, status in enumerate(statuses, first):
        page.line(f"{number}) '{one_line(status.prompt.text)}' {ticked if status.done else '...'}")
        for entity, facts in status.entities:
            page.line(f"   - {one_line(entity.name)} ({count(facts, 'fact')})")
        if status.done and not status.entities:  # ours: a tick with nothing below says too little
            pages = sum(len(search.episode_ids) for search in status.searches)
            said = f"nothing new: {count(pages, 'result')} read (`factbook rejections`)"
            _say(page, page.told(said), "   ")
        for query, why in status.failed:  # ours: a search that fails is never "nothing was found"
            _say(page, f"'{query}' is tried again: {why}", "   ! ")


def results(page: Page, answer: SearchAnswer, query: str) -> None:
    shown = f"'{one_line(query)}' by {one_line(answer.provider)}"
    if not answer.results:
        page.line(f"Nothing was found for {shown}.")
        return
    page.line(f"{count(len(answer.results), 'result')} for {shown}")
    for number, result in enumerate(answer.results, 1):
        lead = f"{number}) "
        blank = " " * len(lead)
        page.line()
        page.say(one_line(result.title or result.url), "bold", lead=page.paint(lead, "bold"))
        page.line(blank + page.paint(one_line(result.url), "cyan"))
        excerpt = _excerpt(result.text, result.title, query)
        if excerpt:
            _say(page, excerpt, blank, lines=_EXCERPT_LINES)


def _excerpt(text: str, title: str, query: str) -> str:
    """Return a text from its first sentence with most words of the query, without its title."""
    said = [sentence.of(text) for sentence in sentences(text)]
    if len(said) > 1 and one_line(said[0]).lstrip("# ") == one_line(title):
        del said[0]
    asked = {stem(word) for word in words(query) if word not in STOPWORDS}
    shared = [len(asked.intersection(map(stem, words(sentence)))) for sentence in said]
    first = shared.index(max(shared)) if said else 0
    return " ".join(["…"] * bool(first) + said[first:])


def schedules(page: Page, scheduled: Sequence[Schedule]) -> None:
    for number, row in enumerate(scheduled, 1):
        said = f"{every(row.every_ms)}: '{one_line(row.topic)}' (next {moment(row.next_at)})"
        page.line(f"{number}) {said}")


def entities(page: Page, things: Sequence[Entity]) -> None:
    width = len(str(len(things)))
    for number, thing in enumerate(things, 1):
        muted = page.paint(" muted", "dim") if thing.muted else ""
        known = f"{one_line(thing.name)} ({count(thing.fact_count, 'fact')})"
        page.line(f"{number:>{width}}) {known}{muted}")


def entity_table(page: Page, things: Sequence[Entity]) -> None:
    columns = [
        Column("id", lambda thing: str(thing.id), right=True),
        Column("name", lambda thing: thing.name, "bold", most=40, least=12),
        Column("also", lambda thing: ", ".join(thing.aliases), most=60, least=8, optional=True),
        Column("facts", lambda thing: count(thing.fact_count), right=True),
        Column("since", lambda thing: _day(thing.since or thing.created_at), "dim"),
        Column("by", lambda thing: thing.trigger, "dim", optional=True),
        Column("", _fate, "dim"),
    ]
    page.table(columns, things)


def cleaned(report: CleanReport) -> str:
    parts = [
        f"{count(report.merged, 'entity', 'entities')} merged",
        f"{count(report.retired)} dropped",
        f"{count(report.merged_facts, 'fact')} merged",
        f"{count(report.waiting, 'pair')} undecided" if report.waiting else "",
    ]
    return f"{', '.join(filter(None, parts))}. {report.note}".rstrip()


def _fate(thing: Entity) -> str:
    if thing.merged_into_id is not None:
        return f"merged into {thing.merged_into_id}"
    if not thing.current:
        return "deleted"
    return "muted" if thing.muted else ""


def entity(page: Page, view: EntityView, brought: Origin, *, place: int) -> None:
    thing = view.entity
    page.line(page.paint(f"{place}) {one_line(thing.name)}", "bold"))
    if thing.aliases:
        _say(page, "also " + ", ".join(thing.aliases), "   ")
    standing = [
        f"interest {_signed(view.interest)}",
        count(len(view.facts), "fact"),
        f"last activity {moment(thing.last_activity)}" if thing.last_activity else "",
        "muted" if thing.muted else "",
    ]
    page.line("   " + ", ".join(filter(None, standing)))
    _say(page, f"here since {_day(thing.since or thing.created_at)}: {_origin(brought)}", "   ")
    for liked, cosine in view.preferences:
        _say(page, f"near to what you {liked.type}: {liked.topic} (cosine {cosine:.2f})", "   ")
    for fact in view.facts:
        page.line()
        _fact(page, fact, view.places.get(fact.id, ("", None))[0])


def _fact(page: Page, fact: Fact, url: str) -> None:
    lead = f"f{fact.id}  "
    _say(page, fact.statement, lead)
    faded = fact.confidence < policy.MIN_CONFIDENCE_ACTIVE
    marks = [
        _day(fact.occurred_at or fact.learned_at),
        one_line(url),
        "out of all retrieval" if faded else "",
    ]
    page.line(" " * len(lead) + page.paint("  ".join(filter(None, marks)), "dim"))


def interests(page: Page, rows: Sequence[InterestRow], preferences: Sequence[Preference]) -> None:
    ranking(page, rows)
    if rows and preferences:
        page.line()
    for kind in PreferenceType:
        topics = [preference.topic for preference in preferences if preference.type is kind]
        if topics:
            _say(page, ", ".join(topics), f"you {kind}: ")


def ranking(page: Page, rows: Sequence[InterestRow]) -> None:
    """Show a ranking in lines: a bar to either side of zero, and the numbers.

    The rows stand as they are given; the longest bar is the score farthest from zero.
    """
    most = max((abs(row.score) for row in rows), default=0.0) or 1.0
    columns = [
        Column("#", lambda row: str(row[0]), "dim", right=True),
        Column("entity", lambda row: row[1].entity.name, "bold", most=_NAME_CELLS, least=4),
        Column("", lambda row: _bar(row[1].score / most, plain=page.plain), optional=True),
        Column("interest", lambda row: _signed(row[1].score), right=True),
        Column("facts", lambda row: count(row[1].fact_count), right=True),
        Column("last activity", lambda row: moment(row[1].last_activity), "dim", optional=True),
    ]
    page.table(columns, enumerate(rows, 1))


def _bar(value: float, *, plain: bool) -> str:
    """Return a bar for -1 to 1 around an axis in the middle.

    The blanks on its left are the axis's own, since a table drops those of a cell.
    """
    full, empty, axis = ("#", ".", "|") if plain else ("█", "·", "│")
    cells = min(_HALF, round(_HALF * abs(value))) or int(value != 0)  # little is not nothing
    left, right = (cells, 0) if value < 0 else (0, cells)
    return empty * (_HALF - left) + full * left + axis + full * right + empty * (_HALF - right)


def why_entity(page: Page, why: EntityWhy) -> None:
    page.line(page.paint(f"{one_line(why.entity.name)}: interest {_signed(why.interest)}", "bold"))
    _say(
        page,
        f"here since {_day(why.entity.since or why.entity.created_at)}: {_origin(why.brought)}",
    )
    for held in why.preferences:
        why_preference(page, held)
    page.line()
    if not why.parts:
        page.line("Nothing that you did counts for it.")
        return
    columns = [
        Column("adds now", lambda part: _signed(part.adds), right=True),
        Column("strength", lambda part: _signed(signed(part.engagement)), right=True),
        Column("age", lambda part: _age(why.at - part.engagement.at), right=True),
        Column("you", _did, most=60, least=12),
        Column(
            "because you said",
            lambda part: "" if part.cause is None else part.cause.text[:_SAID_CHARS],
            "dim",
            least=12,
            optional=True,
        ),
    ]
    page.table(columns, why.parts)
    page.line()
    half = f"Each halves every {policy.INTEREST_HALF_LIFE_DAYS:.0f} days"
    page.line(page.paint(f"{half}; their sum is the interest.", "dim"))


def why_preference(page: Page, why: PreferenceWhy) -> None:
    did = f"you {why.preference.type} {why.preference.topic}"
    for number, cause in enumerate(why.causes[:_EVIDENCE_SHOWN]):
        typed = "typed" if cause.is_command else "said"
        _say(page, f"{'and' if number else did + ':'} you {typed} {_said(cause)}")
    if len(why.causes) > _EVIDENCE_SHOWN:
        page.line(f"and {count(len(why.causes) - _EVIDENCE_SHOWN, 'more message')}")
    if not why.causes:
        _say(page, f"{did}; what said so was erased")


def _did(part: Part) -> str:
    did = _DID[part.engagement.type]
    topic = part.preference.topic if part.preference is not None else "?"
    if part.preference is not None and part.engagement.entity_id is None:
        did = did.replace(" it", f" {topic}")
    if part.taken_back:
        return f"{did} (taken back)"
    if part.share < 1.0:
        return f"{_DID[part.engagement.type].replace(' it', f' {topic}')} (near: {part.share:.0%})"
    return did


def _age(ms: int) -> str:
    minutes = max(0, ms) // 60_000
    if minutes >= 24 * 60:
        return count(minutes // (24 * 60), "day")
    return count(minutes // 60, "hour") if minutes >= 60 else f"{minutes} min"


def why_fact(page: Page, why: FactWhy) -> None:
    fact = why.fact
    lead = f"f{fact.id}  "
    page.say(one_line(fact.statement), "bold", lead=page.paint(lead, "bold"))
    standing = f"confidence {fact.confidence:.2f}, {_TRUSTED[fact.trust]}"
    if fact.confidence <= 0:  # nothing but its owner's word takes all of it
        standing = f"forgotten: you took it out of all retrieval; {_TRUSTED[fact.trust]}"
    page.line(" " * len(lead) + page.paint(standing, "dim"))
    for chain in why.chains[:_EVIDENCE_SHOWN]:
        page.line()
        _chain(page, chain)
    if len(why.chains) > _EVIDENCE_SHOWN:
        page.lines(["", f"and {count(len(why.chains) - _EVIDENCE_SHOWN, 'more source')}"])
    if not why.chains:
        page.lines(["", "Nothing that speaks for it is left."])
    if why.entity is not None:
        known = count(why.entity.fact_count, "fact")
        _link(page, "about", f"{one_line(why.entity.name)} ({known})")


def _chain(page: Page, chain: Chain) -> None:
    origin, quote = chain.origin, chain.evidence.quote
    for label, said in _asked(origin):
        _link(page, label, said)
    if origin.url:
        _link(page, "found", f"{origin.title}  {origin.url}".strip())
    repeated = origin.search is None and origin.cause is not None and quote in origin.cause.text
    if quote and not repeated:
        _link(page, "it says", f"“{quote}”")


def _asked(way: Origin) -> list[tuple[str, str]]:
    links = []
    if way.prompt:
        links.append(("you asked", f"to learn '{way.prompt}'"))
    elif way.cause is not None:
        links.append(("you typed" if way.cause.is_command else "you said", _said(way.cause)))
    if way.search is not None:
        own = ", by itself" if way.search.trigger is Trigger.ENRICHMENT else ""
        made = f"'{way.search.query}' with {way.search.provider} on {moment(way.search.at)}{own}"
        links.append(("searched", made))
    return links


def _link(page: Page, label: str, said: str) -> None:
    _say(page, said, label.ljust(_LABEL), style="dim")


def why_notice(page: Page, why: NoticeWhy) -> None:
    note = why.notice
    page.line(page.paint(f"n{note.id}  {one_line(why.entity.name)}: {_STATES[note.state]}", "bold"))
    interest = f"your interest in it is {_signed(why.interest)}"
    _say(page, f"{_CAUSED.get(note.trigger, 'it is new')}; {interest}")
    told = f", told on {moment(note.sent_at)}" if note.state is NoticeState.SENT else ""
    by = f" by {', '.join(note.channels)}" if note.channels else ""
    _say(page, f"learned on {moment(note.created_at)}{told}{by}")
    if note.reason:
        _say(page, note.reason)
    shown: list[tuple[str, str]] = []
    for fact in why.facts:
        origin = fact.chains[0].origin if fact.chains else None
        asked = [] if origin is None else _asked(origin)
        if asked != shown:  # facts of one search stand together
            page.line()
            for label, said in asked:
                _link(page, label, said)
        shown = asked
        lead = f"f{fact.fact.id}  "
        _say(page, fact.fact.statement, lead)
        if origin is not None and origin.url:
            page.line(" " * len(lead) + page.paint(one_line(origin.url), "dim"))
    if not why.facts:
        page.lines(["", "None of its facts is held any more."])


def _origin(origin: Origin) -> str:
    searched = f"found by the search '{origin.search.query}'" if origin.search is not None else ""
    if origin.prompt:
        return f"{searched}, when you asked to learn '{origin.prompt}'"
    if origin.cause is None:
        return searched or "what brought it in was erased"
    did = f"you {'typed' if origin.cause.is_command else 'said'} {_said(origin.cause)}"
    return f"{searched}, when {did}" if searched else did


def _said(cause: Cause) -> str:
    said = one_line(cause.text)
    cut = said if len(said) <= _SAID_CHARS else said[: _SAID_CHARS - 1].rstrip() + "…"
    return f"“{cut}”" + (f" on {moment(cause.at)}" if cause.at is not None else "")


def notices(
    page: Page, rows: Sequence[Notice], names: Mapping[int, str], state: NotifyState
) -> None:
    columns = [
        Column("id", lambda row: f"n{row.id}"),
        Column("when", lambda row: moment(row.sent_at or row.created_at), "dim"),
        Column("about", lambda row: names.get(row.entity_id, ""), "bold", most=40, least=12),
        Column("with", lambda row: count(len(row.fact_ids), "fact"), right=True),
        Column("state", lambda row: _STATES[row.state]),
        Column(
            "", lambda row: ", ".join(row.channels) or row.reason, "dim", least=10, optional=True
        ),
    ]
    page.table(columns, rows)
    if state.muted:
        page.line(f"There are no notices now; {page.typed('unmute')} turns them on again.")


def help_of(page: Page, forms: Sequence[tuple[str, str]], examples: Sequence[str] = ()) -> None:
    for form, what in forms:
        if len(form) + 2 > _FORM:  # what it does stands below it
            page.line(page.paint(form, "bold"))
            form = ""
        _say(page, what, form.ljust(_FORM), style="bold")
    if examples:
        page.lines(["", *("  " + example for example in examples)])


def work(
    page: Page,
    report: Sequence[LoopReport],
    failed: Sequence[tuple[str, str, bool]],
    *,
    embedded: int,
    waiting: int,
) -> None:
    """Show what the loops did, and what went wrong last.

    `failed` are searches that were not answered: (query, why, whether it was put aside).
    """
    rest = f"{count(waiting)} still waiting" if waiting else "nothing waits"
    page.line(f"{count(embedded, 'row')} embedded; {rest}.")
    for loop in report:
        if not loop.enabled:
            page.line(f"{loop.name}: off")
            continue
        did = 0 if loop.name == "embedding" else loop.did
        parts = counted((did, "done"), (loop.cancelled, "interrupted"), (loop.failed, "failed"))
        if parts:
            page.line(f"{loop.name}: {', '.join(parts)}")
        if loop.error:
            page.line(f"  the last error: {one_line(loop.error)}")
    for put_aside, what in (
        (False, "not answered, to be tried again:"),
        (True, page.told("put aside; `factbook worker --retry` tries them again:")),
    ):
        searches = [(query, why) for query, why, aside in failed if aside is put_aside]
        if searches:
            page.line(f"{count(len(searches), 'search', 'searches')} {what}")
            page.line(f"  '{one_line(searches[0][0])}': {one_line(searches[0][1])}")
