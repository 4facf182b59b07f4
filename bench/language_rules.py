"""Read one row of a labelled set of `data/language` with the rules that the set is about.

A reader takes a row and returns the labels that factbook gives it; the row's `expected` holds those
that are right. A label that no row expects (`misplaced`: a span does not show what was read) says
that something else is broken, and counts against the precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from bench.ordinary import episode_of
from factbook.embed import bundled
from factbook.extract import sentences
from factbook.extract.asked import Amount, amount_asked, holds, search_query
from factbook.extract.choices import chosen
from factbook.extract.directives import directives_in, own_reading
from factbook.extract.discovery import ResultText, discover
from factbook.extract.keyed.ask import Window, parse_ask
from factbook.extract.keyed.contracts import FactsOp, op_values
from factbook.extract.keyed.grounded import op_objection
from factbook.extract.keyed.mentions import locate
from factbook.extract.keyed.tell import parse_tell
from factbook.extract.mentions import asked_about, hear
from factbook.extract.model_reading import CommandAnswer, command_candidates
from factbook.extract.name_tokens import (
    is_english,
)
from factbook.extract.names import (
    names_in,
)
from factbook.extract.opinions import preferences_in
from factbook.extract.rules import RuleSet
from factbook.extract.topics import asks_of, named_topic, request_of, topic_of
from factbook.extract.voice import own_words
from factbook.extract.world import facts_about, is_kind
from factbook.gate import kin
from factbook.gate.directives import ends, stand
from factbook.gate.given_up import given_up, set_free
from factbook.gate.grounding import ground, read_passage
from factbook.gate.grounding.words import read_line, read_lines
from factbook.gate.judge import JudgedClaim, Judgement, Relation, judge
from factbook.gate.names import structural_problem
from factbook.gate.reading import read
from factbook.gate.same_entity import compare, known_as
from factbook.gate.terms import Term, TermKind, near, terms_of
from factbook.gate.type_rules import (
    broken_rule,
)
from factbook.gate.type_sanity import (
    is_nonsensical,
)
from factbook.gate.typed_claims import judge_typed
from factbook.interests.relate import is_family
from factbook.language.common_words import is_everyday, is_place
from factbook.language.coordination import split_spoken_list
from factbook.language.nouns import counted, is_plural, singular
from factbook.language.reader.read import read as read_tree
from factbook.language.reader.relate import RELATER
from factbook.language.sentences import sentences as plain_sentences
from factbook.language.words import stem
from factbook.model.entities import EngagementType
from factbook.model.facts import Answer, Episode, EpisodeKind, Field, Outcome, Role, Trust
from factbook.model.keys import (
    entity_name,
    normalize_fact_key,
    normalize_fact_value,
    normalize_topic,
)
from factbook.model.memory_types import MemoryType, TypedClaim
from factbook.recall import query
from factbook.recall.counted_questions import counted_question
from factbook.recall.query_expansion import seeks_advice
from factbook.recall.time_anchors import find_anchor
from factbook.recall.time_expressions import find_window, without
from factbook.recall.time_unread import unread_time

Row: TypeAlias = Mapping[str, Any]
Labels: TypeAlias = list[str]

RULES: Final = RuleSet.default()
MISPLACED: Final = "misplaced"  # a span shows something else than what was read


def told(**said: bool) -> Labels:
    """Return the names of what is so."""
    return [name for name, so in said.items() if so]


# --- words ----------------------------------------------------------------------------------------


def nouns(row: Row) -> Labels:
    """Read a noun: its singular, the name of a list of such things, and whether it is a plural."""
    text = row["text"]
    kept = counted(text)
    found = [f"one: {singular(text)}"] * 2
    return [*found, f"list: {kept}", f"again: {counted(kept)}", *told(plural=is_plural(text))]


def words(row: Row) -> Labels:
    """Read a word or a name: an everyday word, a place, what is asked of a thing, an opposite."""
    kind, text = row["kind"], row.get("text", "")
    match kind:
        case "everyday":
            return told(everyday=is_everyday(text))
        case "English":
            return told(english=is_english(text))
        case "place":
            return told(place=is_place(text))
        case "asked of a thing":
            return told(asked=asks_of(text))
        case "kind of thing":
            return [str(is_kind(text, [row["within"]]))]
        case "family":
            of = {"is_entity": row["is_entity"], "is_kind": row["is_kind"]}
            return told(family=is_family(text, **of))
    first, second = row["pair"]
    if kind == "support":
        return [str(kin.support(first, second))]
    if kind == "values":
        one, other = read_line(first).values, read_line(second).values
        return told(same=one == other != frozenset())
    return told(opposite=kin.opposed(stem(first), stem(second)))


def cut(row: Row) -> Labels:
    """Cut a text into its sentences, turns or items."""
    text = row["text"]
    match row["kind"]:
        case "chat":
            found = sentences.split(text)
            right = all(text[one.start : one.end] == one.text for one in found)
            return [one.text for one in found] + told(misplaced=not right)
        case "plain":
            return [one.of(text) for one in plain_sentences(text)]
        case "passage":
            return [line.text for line in read_lines(text)]
        case "turns":
            turns = read_passage(text).utterances
            return [f"{one.speaker}: {text[one.start : one.end].strip()}" for one in turns]
    return split_spoken_list(text)


def keys(row: Row) -> Labels:
    """Bring a topic, a key or a value into its one form."""
    match row["kind"]:
        case "topic":
            made = normalize_topic(row["text"])
        case "key":
            made = normalize_fact_key(row["text"])
        case _:
            made = normalize_fact_value(row["text"], row["ranked"])
    return [made[0], *told(warned=made[1] is not None)]


# --- what a message says --------------------------------------------------------------------------


def names(row: Row) -> Labels:
    """Find the names in a text."""
    return [one.name for one in names_in(row["text"])]


def entity_names(row: Row) -> Labels:
    """Say whether a text may be the name of an entity, or what an entity is called."""
    if row["kind"] == "called":
        return [entity_name(row["text"])]
    return told(name=structural_problem(row["text"]) is None)


_KNOWN: Final = {
    "kef ls50 meta": "kef ls50 meta",
    "ls50 meta": "kef ls50 meta",
    "radiohead": "radiohead",
    "espresso machines": "espresso machines",
    "go": "go",
}


def opinions(row: Row) -> Labels:
    """Find what the writer of a message likes, dislikes, asks for or names."""
    text = row["text"]
    if row["kind"] == "preferences":
        return [f"{one.type.value} {one.topic}" for one in preferences_in(text)]
    known = {name: name for name in row["known"]} if "known" in row else _KNOWN
    heard = hear(text, known=known, recent=row.get("recent", ()))
    if row["kind"] == "named":
        return [one.name for one in heard]
    said = EngagementType.EXPLICIT_STATEMENT
    return [
        f"{one.type.value} {one.valence.value} {one.name}"
        for one in heard
        if row["kind"] == "engagements" or one.type is said
    ]


def topics(row: Row) -> Labels:
    """Find what a request is about."""
    text = row["text"]
    match row["kind"]:
        case "named":
            span = named_topic(text)
            return [span.topic] if span else []
        case "search":
            return [f"search: {request_of(text).topic}", f"topic: {topic_of(text).topic}"]
        case "known":
            name = asked_about(text, known={name: name for name in row["known"]})
            return [name] if name else []
        case "query":
            return [search_query(text, row["names"])]
    span = topic_of(text)
    return [span.topic if text[span.start : span.end] == span.topic else MISPLACED]


def questions(row: Row) -> Labels:
    """Read a question: its time, its words, what its answer has to hold."""
    text = row["text"]
    match row["kind"]:
        case "time":
            now = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp() * 1000)  # a Friday
            found = find_window(text, now=now, zone=UTC)
            return [f"{found.phrase} {found.since} {found.until}"] if found else []
        case "terms":
            return query.content_terms(text)
        case "asks":
            return told(asks=query.asks(text))
        case "speaker":
            return list(filter(None, [query.speaker_of(text)]))
        case "advice":
            return told(advice=seeks_advice(text))
        case "amount asked":
            amount = amount_asked(text)
            return [amount.value] if amount else []
    return [one.value for one in Amount if holds(text, one)]


def times(row: Row) -> Labels:
    """Read the window that a question names at the moment `now`, in UTC, or what is unread."""
    now = datetime.fromisoformat(row["now"]).replace(tzinfo=UTC)
    found = find_window(row["text"], now=int(now.timestamp() * 1000), zone=UTC)
    if unread := unread_time(row["text"], now=int(now.timestamp() * 1000), zone=UTC):
        return [f"unread {unread}"]
    if found is None:
        anchor = find_anchor(row["text"])
        return [f"{anchor.relation} {anchor.what}"] if anchor else []
    if found.vague:
        return ["vague"]
    return [f"{_moment(found.since)}/{_moment(found.until)}"]


_ACTS_KNOWN: Final = frozenset(
    {
        *("deploy", "push", "build", "pytest", "grep", "migration", "test"),
        *("npm install", "docker compose", "cargo test"),
    }
)


def counting(row: Row) -> Labels:
    """Read what a question asks to be counted, of a memory that knows some commands."""
    now = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp() * 1000)
    window = find_window(row["text"], now=now, zone=UTC)
    asked = row["text"] if window is None else without(row["text"], window)
    readings = counted_question(
        asked,
        read=read_tree,
        rules=RULES.rules,
        is_command=lambda words: " ".join(words) in _ACTS_KNOWN,
    )
    known = (one for one in readings if not one.act or one.act in _ACTS_KNOWN)
    found = next((one for one in known if not one.whole), None)
    if found is None:
        return []
    what = " ".join(filter(None, [found.measure, found.outcome, found.predicate]))
    of = " ".join(filter(None, [found.act, *found.names, *found.words])).lower()
    return [what + (f": {of}" if of else "") + (f" by {found.by}" if found.by else "")]


def _moment(at: int | None) -> str:
    if at is None:
        return ""
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M").removesuffix("T00:00")


def own(row: Row) -> Labels:
    """Return the writer's own words of a message, without what is pasted."""
    return list(filter(None, [" ".join(own_words(row["text"]).text.split())]))


def lasting(row: Row) -> Labels:
    """Say whether a sentence of a chat states something that lasts."""
    return told(kept=bool(sentences.statements(row["text"])))


def choices(row: Row) -> Labels:
    """Return what an answer to an assistant chooses, or the rules in it.

    A row names what it expects; what covers most of the same words is that.
    """
    choice = chosen(row["before"], row["text"])
    said = [choice.statement.partition(" (of: ")[0]] if choice else []
    if row["kind"] in ("correction", "none"):
        prompt = replace(episode_of(row["text"]), kind=EpisodeKind.PROMPT, host="claude-code")
        reading = own_reading(prompt)
        said += [c.statement for c in directives_in(prompt, reading)] if reading else []
    return [next((e for e in row["expected"] if _alike(e, one)), one) for one in said]


def rule_changes(row: Row) -> Labels:
    """Return whether a later prompt speaks against an earlier rule: it is over, or asked about."""
    older, newer = (read_tree(text) for text in row["pair"])
    given = [*given_up(newer), *set_free(newer)]
    vectors = bundled().embed(row["pair"])
    if newer.marks:
        cosine = float(vectors[0] @ vectors[1])
        told = [stand(older, newer, given=given, similarity=cosine, net=RELATER)]
    else:
        told = [judged for each in given if (judged := ends(older, each, newer.text))]
    speaks = any(judged.relation in (Relation.SUPERSEDES, Relation.AMBIGUOUS) for judged in told)
    return ["over"] * speaks


def _alike(one: str, other: str) -> bool:
    first, second = (set(sentences.words(text)) for text in (one, other))
    return 2 * len(first & second) > len(first | second)


# --- keyed facts ----------------------------------------------------------------------------------

_ONE: Final[Mapping[str, Mapping[int, str]]] = {"user.favorites.crypto": {1: "SOL"}}
_TWO: Final = {**_ONE, "user.favorites.colors": {1: "red"}}


def keyed_operation(short: str) -> FactsOp:
    """Return the operation that a row means: `rank crypto 1 BTC`, `set city Oslo`, `forget city`.

    Also `append crypto BTC`, `remove crypto BTC`, `remove crypto #1`, `clear crypto`,
    `move crypto 2->1`, `move crypto 1 BTC` and `insert crypto 2 BTC`.
    """
    name, what, *rest = short.split(" ", 2)
    said = rest[0] if rest else ""
    if name == "set":
        return FactsOp(op="set", fact_key=f"user.{what}", value=said)
    if name == "forget":
        return FactsOp(op="clear", fact_key=f"user.{what}")
    given: dict[str, Any] = {}
    if name == "append":
        given = {"values": said.split("/")}
    elif name == "remove":
        given = {"rank": int(said[1:])} if said.startswith("#") else {"value": said}
    elif "->" in said:
        old, new = map(int, said.split("->"))
        given = {"from_rank": old, "rank": new}
    elif said:
        rank, value = said.split(" ", 1)
        given = {"rank": int(rank), "value": value}
    op = "ranked_list_" + ("set" if name == "rank" else name)
    return FactsOp.model_validate({"op": op, "list_key": f"user.favorites.{what}", **given})


def keyed_asked(row: Row) -> Labels:
    """Say whether a message asks for an operation."""
    return told(asked=op_objection(keyed_operation(row["operation"]), row["text"]) is None)


def keyed_told(row: Row) -> Labels:
    """Read what a message tells with the rules."""
    message = row["text"]
    found = parse_tell(message, lists=_ONE)
    labels = []
    for op in found.ops:
        values = op_values(op)
        placed = all(locate(value, message) for value in values)
        if not placed or op_objection(op, message) is not None:
            labels.append(MISPLACED)
        key = (op.list_key or op.fact_key or "").removeprefix("user.").removeprefix("favorites.")
        ranks = "->".join(str(one) for one in (op.from_rank, op.rank) if one is not None)
        parts = [op.op.removeprefix("ranked_list_"), key, ranks, "/".join(values)]
        labels.append(" ".join(filter(None, parts)))
    return labels


def keyed_plans(row: Row) -> Labels:
    """Read what a question asks for with the rules."""

    def when(text: str) -> Window | None:
        now = 1_790_000_000_000  # 2026-09-21, a Monday
        found = find_window(text, now=now, zone=UTC)
        return Window(found.phrase, found.since, found.until) if found else None

    asked = parse_ask(row["text"], lists=_TWO, when=when, keys={"user.coffee_order"})
    if asked.plan is None:
        return []
    said = asked.plan.model_dump(exclude_none=True, exclude={"intent", "topic", "include_ranks"})
    return [f"{name}={value}" for name, value in said.items()]


def keyed_values(row: Row) -> Labels:
    """Find a value in a message as whole words."""
    place = locate(row["value"], row["text"])
    return [row["text"][place[0] : place[1]]] if place else []


# --- what is said of the world --------------------------------------------------------------------


_THINGS: Final = {
    "vela nine": ["vela nine"],
    "halden q40": ["halden q40", "q40"],
    "tarn": ["tarn"],
}


def world(row: Row) -> Labels:
    """Read what a text states of known things, and why a sentence states nothing of them."""
    claims, refused = facts_about(
        row["text"],
        names={name: [name] for name in row["names"]} if "names" in row else _THINGS,
        title=row.get("title", ""),
        external=row.get("external", True),
    )
    whys = [why for _, why in refused] if row["kind"] == "refused" else []
    return [f"{one.entity}: {one.content}" for one in claims] + whys


def discovered(row: Row) -> Labels:
    """Find the things of a kind that the pages of two hosts show."""
    results = [
        ResultText(title=title, text=f"{title}\n{text}", host=f"host{number}.example")
        for number, (title, text) in enumerate(row["pages"] * 2)
    ]
    query = f"find me stuff about {row['topic']}"
    return [one.name for one in discover(results, query=query, topic=topic_of(query).topic).things]


# --- the gate -------------------------------------------------------------------------------------


def _judged(pair: Sequence[str], similarity: float = 0.9) -> Judgement:
    older, newer = pair
    return judge(
        JudgedClaim(text=older), JudgedClaim(text=newer), similarity=similarity, net=RELATER
    )


def judge_pairs(row: Row) -> Labels:
    """Judge an older statement and a newer one; what a kind may not be is a label too."""
    kind, pair = row["kind"], row["pair"]
    back = pair[::-1]
    match kind:
        case "same":
            both = [_judged(one, 0.95) for one in (pair, back)]
        case "contradiction":
            both = [_judged(pair), _judged(back)]
        case "apart":
            both = [_judged(one, at) for one in (pair, back) for at in (0.5, 0.8, 0.9, 0.99, 1.0)]
            return told(same=any(one.relation is Relation.SAME for one in both))
        case "compatible":
            both = [_judged(one, at) for one in (pair, back) for at in (0.6, 0.8, 0.9, 0.97)]
            clash = (Relation.CONTRADICTION, Relation.SUPERSEDES)
            return told(clash=any(one.relation in clash for one in both))
        case "another slot":
            at = row["similarity"]
            return told(ended=_judged(pair, at).relation is Relation.SUPERSEDES)
        case _:
            both = [_judged(pair, row["similarity"])]
    return sorted({f"{one.relation.value} {one.rule}" for one in both})


def judge_reading(row: Row) -> Labels:
    """Read a sentence as the judge does."""
    found = read(row["text"])
    match row["kind"]:
        case "values":
            return list(found.values)
        case "names":
            return sorted(found.names)
        case "denials":
            return [f"denials: {found.negations}"]
        case "tense":
            return [found.tense.name]
    return sorted(found.cues)


def same_entity(row: Row) -> Labels:
    """Say whether two names are of one thing; the cosine is that of the shipped embedder."""
    kind = row["kind"]
    if kind == "terms":
        return [f"{one.kind.value} {one.text}" for one in terms_of(row["text"])]
    first, second = row["pair"]
    if kind == "kind of thing":
        return told(same=known_as(first, {second: second}) == second)
    if kind == "spelling":
        one, other = (Term(TermKind(name), text) for name, text in row["pair"])
        return told(alike=near(one, other) > 0, lopsided=near(one, other) != near(other, one))
    a, b = bundled().embed([first, second])
    cosine = float(a @ b)
    there = compare([first], [second], cosine=cosine)
    back = compare([second], [first], cosine=cosine)
    lopsided = (there.verdict, there.score) != (back.verdict, back.score)
    return [there.verdict.value, *told(lopsided=lopsided)]


def typed(row: Row) -> Labels:
    """Say whether a typed memory is stored for the passage that it was made of."""
    claim = TypedClaim(
        text=row["text"],
        type=MemoryType(row["type"]),
        confidence=0.9,
        reasoning="",
    )
    return told(stored=judge_typed(claim, read_passage(row["passage"])).stored)


def type_rules(row: Row) -> Labels:
    """Name the type rule that a claim breaks."""
    text, type_ = row["text"], MemoryType(row["type"])
    passage = read_passage(row.get("passage") or f"User: {text}")
    grounding = ground(text, passage, speaker="owner", pattern=type_ is MemoryType.USER_PATTERN)
    claim = TypedClaim(text=text, type=type_, confidence=0.9, reasoning="")
    rule = broken_rule(claim, grounding, passage)
    return [rule.name] if rule else []


def nonsense(row: Row) -> Labels:
    """Say whether a text says nothing."""
    return told(nonsense=is_nonsensical(row["text"]))


def grounding(row: Row) -> Labels:
    """Hold a claim against its passage: `grounded`, or what stands against it."""
    found = ground(row["text"], read_passage(row["passage"]), speaker="owner")
    return ["grounded"] if found.grounded else [found.conflict]


# --- logs -----------------------------------------------------------------------------------------


def _episode(kind: EpisodeKind, text: str, **given: Any) -> Episode:
    said = kind is EpisodeKind.PROMPT
    more: dict[str, Any] = {
        "subject": "task_0a1b" if said else "action_8bbd47e5",
        "role": Role.USER if said else Role.ASSISTANT,
        "trust": Trust.DIRECT if said else Trust.DERIVED,
        **given,
    }
    return Episode(
        uid="e1", source="file:/log.jsonl", kind=kind, text=text, position=1, offset=0, **more
    )


def _command(text: str) -> Episode:
    whole = f"Bash\ncommand: {text}"
    field = Field(name="command", start=len(whole) - len(text), end=len(whole))
    return _episode(
        EpisodeKind.TOOL_CALL, whole, tool="Bash", fields=(field,), trust=Trust.OBSERVED
    )


def session_rules(row: Row) -> Labels:
    """Read an episode of a log with the rules of one predicate."""
    kind, text = row["kind"], row["text"]
    match row["episode"]:
        case "command":
            episode = _command(text)
        case "tool":
            episode = _episode(EpisodeKind.TOOL_CALL, text, tool=text, trust=Trust.OBSERVED)
        case "prompt":
            episode = _episode(EpisodeKind.PROMPT, text)
        case "reply":
            episode = _episode(EpisodeKind.REPLY, text)
        case _:
            episode = _episode(EpisodeKind.TOOL_RESULT, text, is_error=True, tool="Bash")
    labels = []
    candidates = RULES.extract(episode)
    if episode.kind is EpisodeKind.TOOL_CALL:  # one that was answered: what was done by it
        done = replace(episode, answer=Answer(Outcome.DONE, ""))
        candidates = [*RULES.extract_made(episode), *RULES.extract(done)]
    for one in candidates:
        if one.predicate != kind or one.object not in row.get("only", [one.object]):
            continue
        shown = episode.text[one.start : one.end].strip()
        labels.append(one.object if shown and one.statement.strip() else MISPLACED)
    return labels


def model_reading(row: Row) -> Labels:
    """Take the host or the file that a model reads in a command or a request."""
    text, what = row["text"], row["kind"].split()[-1]
    said = {what: row["value"], "quote": row.get("quote", text), "confidence": 0.5}
    lists = {"hosts": [], "operations": [], "files": [], f"{what}s": [said]}
    answer = CommandAnswer.model_validate({"commands": [{"id": 1, **lists}]})
    asked = row["kind"].startswith("request")
    episode = _episode(EpisodeKind.PROMPT, text) if asked else _command(text)
    reading = command_candidates(answer, [episode], model="ollama:reader")
    return [one.object for found in reading.candidates.values() for one in found]


READERS: Final[Mapping[str, Callable[[Row], Labels]]] = {
    "nouns": nouns,
    "words": words,
    "cut": cut,
    "keys": keys,
    "names": names,
    "entity_names": entity_names,
    "opinions": opinions,
    "topics": topics,
    "questions": questions,
    "times": times,
    "times_held": times,
    "counting": counting,
    "counting_held": counting,
    "own_words": own,
    "lasting": lasting,
    "choices": choices,
    "choices_aside": choices,
    "rule_changes": rule_changes,
    "rule_changes_aside": rule_changes,
    "keyed_asked": keyed_asked,
    "keyed_plain": keyed_asked,
    "keyed_told": keyed_told,
    "keyed_plans": keyed_plans,
    "keyed_values": keyed_values,
    "world": world,
    "discovered": discovered,
    "judge_pairs": judge_pairs,
    "judge_reading": judge_reading,
    "same_entity": same_entity,
    "typed": typed,
    "type_rules": type_rules,
    "nonsense": nonsense,
    "grounding": grounding,
    "session_rules": session_rules,
    "model_reading": model_reading,
}
