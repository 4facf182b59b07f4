"""Read what a text says of known things, and which new things a search is about.

Knows: sentences whose subject is a known thing (`about`), pronouns and nouns that stand for it, and
the lists under its name; which sentences state nothing (questions, advertising, opinions, orders).
Does not know: whether it is true, what is known already, and who may bring a thing in.

A fact is what one sentence says of the thing that is its subject, in the words of the source. From
a text of others nothing else is taken, so whatever else such a text wants has no way in.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from factbook import cancel, policy
from factbook.commonplace import is_calendar_word, is_everyday, is_nationality, is_place
from factbook.extract import sentences
from factbook.extract.about import (
    Names,
    Subject,
    SubjectKind,
    is_a,
    is_part,
    singular,
    subject_of,
)
from factbook.extract.base import word_set
from factbook.extract.external import Taint, TaintKind, hostile, is_tainted_document, taint
from factbook.extract.kinds import (
    Kind,
    asked_kinds,
    denies,
    fits,
    named_kinds,
    nouns_of,
    plural_of,
    rival,
    said_kinds,
    says,
    says_it_is,
)
from factbook.extract.remarks import in_passing, unowned
from factbook.extract.wrapped import may_be_name, needs_object, unwrapped
from factbook.keys import entity_name
from factbook.nouns import is_plural

__all__ = [
    "Discovery",
    "ResultText",
    "WorldClaim",
    "corroborated",
    "discover",
    "facts_about",
    "incomplete",
    "is_kind",
    "no_statement",
]

LEAST_CHARS: Final = 20  # ours: a shorter sentence says too little to be worth a notice
MOST_CHARS: Final = 400  # ours: a longer one says several things
LEAST_ITEM_CHARS: Final = 8  # ours: of a line under a name: "Age: 10+"
STEERED: Final = "it stands in a page that tries to steer its reader"
MAX_REFUSED: Final = 24  # ours: refusals that one text gives; a page of advertising has hundreds
MAX_FACTS: Final = 60  # ours: facts that one text gives
CORROBORATED: Final = 2  # ours: hosts or files that must know of a thing that nobody named
MAX_DOUBTED: Final = 24  # ours: things of one text that its other sentences are read for
MAX_DISCOVERED: Final = 8  # ours: new things of one search
REFERRED: Final = 0.55  # ours: a pronoun may stand for another thing; under policy.EXTERNAL_FACT


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldClaim:
    """What a text says of a known thing; `start` and `end` are its place in the text."""

    entity: str  # canonical name
    content: str  # the sentence, without marks of emphasis and targets of links; of a row of a
    # table "Weight: 7.8 kg"
    start: int
    end: int
    rule: str  # "world:" with a `SubjectKind`, or world:listed
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultText:
    """One result of a search."""

    text: str
    title: str
    host: str  # who answers for it: a host of the web, or a file


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """A new thing that a person's search is about."""

    name: str  # canonical
    surface: str  # as it is written
    spans: Sequence[tuple[int, int, int]]  # (index of the result, start, end)
    hosts: Sequence[str]  # different ones that speak of it
    why: str


class LeftOut(NamedTuple):
    """A thing that results show and that is not brought in."""

    one: Discovery
    reason: str  # of policy.CANDIDATE_REJECTIONS
    why: str


class Discovered(NamedTuple):
    """What results show of what a person's search is about."""

    found: Sequence[Discovery]  # most widely known first
    left_out: Sequence[LeftOut]


# --- what a sentence must not be ------------------------------------------------------------------


class _Refusal(NamedTuple):
    why: str
    pattern: re.Pattern[str]


def _no(why: str, pattern: str) -> _Refusal:
    return _Refusal(why, re.compile(pattern, re.IGNORECASE))


_TESTED: Final = (
    r"(?:this|the|our|that) (?:[\w-]+ )?(?:tests?|testing|reviews?|comparisons?|articles?"
    r"|round-?ups?|shoot-?outs?|photo ?shoots?|deadline|guide)\b"
    r"(?! (?:track|drives?|facilit\w+|cent(?:er|re)))"
)
_OF_TEST: Final = (
    rf"(?:\b(?:for|in|of|at|before|by|from|during|to be (?:part of|included in)) (?:{_TESTED}"
    rf"|testing\b|review\b|(?:the )?time of (?:testing|the test|review|publication))"
    rf"|\bto be (?:tested|reviewed|included|measured|compared)\b|\bwhen {_TESTED} )"
)
_REFUSED: Final = (
    _no("it asks", r"\?[\"'”’)\]\s]*$|^(?:did|do|does|have|has|is|are|can|could|would) you\b"),
    _no(
        "it is cut off",
        r"(?:\.\.\.|…)[\"'”’)\]\s]*$|\b(?:the|a|an|of|and|or|with|to|for|in|by|from|at|into|onto"
        r"|between|without|during|per|via|than|which|whose|its|their|my|our|your)\s*$|,\s*$",
    ),
    _no("it holds an address", r"\bhttps?:|\bwww\.|\bftp:|\b[\w.+-]+@[\w-]+\.\w|\bmagnet:|\btel:"),
    _no("it holds code", r"[{}<>|\\]|\w_\w|=>|==|::|\w\(\)|;\s*$"),
    _no("it speaks of its writer", r"\b(?:I|I'm|I've|I'd|my|mine|me|we|we're|we've|our|ours|us)\b"),
    _no(
        "it is advice",
        r"\b(?:should|must|ought to|needs? to be|has to be|have to be|had better|would|might be"
        r"|could be|may want|is worth (?:a|your|buying|every|the)|recommended (?:for|to) (?:you|any"
        r"|every)|worth (?:buying|a look|checking))\b",
    ),
    _no(
        "it speaks of the test and not of the thing",
        rf"(?:\b(?:not|never)|n['’]t) (?:yet |currently |still )?(?:available|ready|tested"
        rf"|reviewed|included|measured|compared|considered|provided|supplied|delivered|part)\b.{{0,60}}"
        rf"{_OF_TEST}"
        r"|\b(?:could|can)(?: not|n['’]t|not) be (?:tested|reviewed|included|measured|compared"
        r"|tried|examined)\b"
        r"|\b(?:is|was|were|are|has|have|had)(?: not|n['’]t) (?:yet )?(?:been )?(?:tested|reviewed)"
        r"(?: yet)?\W*$"
        rf"|\btoo late\b.{{0,60}}{_OF_TEST}"
        rf"|\b(?:missing|absent|left out|excluded|withdrawn|missed) (?:from|of|out on)?\s*{_TESTED}"
        rf"|\b(?:provided|supplied|lent|loaned|sent|bought|purchased)\b.{{0,40}}{_OF_TEST}"
        r"|\b(?:was|were|been) (?:tested|reviewed) (?:for|over) (?:[\w-]+ ){1,3}?"
        r"(?:days?|weeks?|months?|hours?)\b",
    ),
    _no(
        "it promises",
        r"\b(?:will (?:change|make|give|bring|help|blow|save|let|turn|never|always)|guarantee[sd]?"
        r"|best (?:on the market|in the world|ever|value|choice|buy)|unbeatable|unmatched"
        r"|second to none|life-?changing|game-?chang\w+|revolutionary|perfect (?:for|choice|gift)"
        r"|look no further|one and only|dream come true|every penny)\b|(?<!\d)100 ?% (?:safe|free"
        r"|natural|satisf)|!\s*$",
    ),
    _no(
        "it is an opinion",
        r"^\W*[\w.'’-]+(?: [\w.'’-]+){0,7}? (?:is|are|was|were|looks|sounds|feels|tastes|seems)"
        r"(?: (?:really"
        r"|so|very|quite|just|simply|truly|absolutely|pretty|totally|still|a|an|the|such|my|one of"
        r"|our))*"
        r" (?:great|good|bad|amazing|awesome|fantastic|terrible|awful|beautiful|wonderful|best"
        r"|worst|lovely|nice|perfect|incredible|excellent|superb|stunning|gorgeous|boring|ugly"
        r"|overrated|underrated|brilliant|favou?rite|disappointing|joke|scam|bargain|steal"
        r"|must)(?:\W*$| (?:thing|stuff|choice|pick|option|value|deal|buy|idea|ever|in my)\b)",
    ),
)
_READER: Final = re.compile(r"\b(?:you|your|yours|you're|you'll|you've|yourself)\b", re.IGNORECASE)
_LETS_YOU: Final = re.compile(
    r"\b(?:lets?|allow(?:s|ed|ing)?|help(?:s|ed|ing)?|enabl(?:es|ed|ing)|gives?|shows?|offers?"
    r"|makes? it (?:easy|possible) for) you\b(?! (?:now|today|to (?:buy|order|save)))",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(
    r"\W*(?:please |just |also |always |never |do not |don't )*(?:add|buy|click|check|read|see"
    r"|learn|subscribe|follow|share|try|get|visit|order|download|call|contact|sign|join|save"
    r"|remember|store|ignore|search|ask|tell|use|go|record|register|insert|mark|create|delete"
    r"|make sure|keep|note|take|watch|listen|compare|choose|pick|shop|browse|enter|enjoy|discover"
    r"|install|run|type|write|say|answer|reply|forget|disregard|like|unlike|dislike|schedule"
    r"|mute)\b(?! (?:is|are|was|were|has)\b)",
    re.IGNORECASE,
)
_JOINT: Final = re.compile(r";\s+|\s[–—]\s+|,\s+(?P<word>and|but|so|while|whereas|then|yet)\s+")
_LETTER: Final = re.compile(r"[A-Za-z]")


# In a few words of its owner: "Pim weighs 12 kg.", "Pim is a beagle."
_SAYS_ENOUGH: Final = re.compile(r"\w \w.*\d|\b(?:is|are|was|were) an? \w", re.IGNORECASE)


def no_statement(plain: str, *, external: bool, item: bool = False) -> str:
    """Say in words why a sentence states nothing; "" where it does.

    `external` is for sentences of others, `item` for a line of a list, which is no whole sentence.
    What its owner writes may be as short as that where it gives a number or says what a thing is.
    """
    short = item or (not external and _SAYS_ENOUGH.search(plain) is not None)
    least = LEAST_ITEM_CHARS if short else LEAST_CHARS
    if len(plain) < least:
        return f"it has less than {least} characters"
    if len(plain) > MOST_CHARS:
        return f"it has more than {MOST_CHARS} characters"
    for refusal in _REFUSED:
        if refusal.pattern.search(plain):
            return refusal.why
    if _READER.search(_LETS_YOU.sub("", plain)) and external:
        return "it speaks to its reader"
    if len(_LETTER.findall(plain)) < len(plain) / 2 and not item:
        return "it has few words"
    return ""


# Verbs in a form that is no noun's, so that one behind "and" is a second verb without its object.
_SURE_VERBS: Final = word_set("""
    takes has includes contains weighs requires provides allows enables keeps gets gives lets makes
    carries delivers produces brings becomes receives consists belongs depends adds is are was were
    """)
_MEANS_NOTHING_ALONE: Final = word_set("""
    is are was were can cannot will could would may might must should does do did
    """)
# "The Q40 made in Norway" is no sentence, "The Q40 launched in 2021" is one.
_PARTICIPLES: Final = word_set("""
    made built designed reviewed compared tested used sold manufactured priced rated based powered
    equipped named given called written composed developed produced invented owned recommended
    bought seen shown taken found explained spotted captured ranked described presented repaired
    restored modified upgraded
    """)
_BEHIND_PARTICIPLES: Final = word_set("""
    by in at with from for against on as under after to
    """)
# Verbs in the past that are adjectives and nouns as well: "the Q40 left channel".
_DOUBTFUL: Final = word_set("left set cut split shot hit read cost")
_BEHIND_DOUBTFUL: Final = word_set("""
    a an the its their his her in on at into off up out about over more less around nearly almost
    no some many all from for to
    """)
_TRAILING: Final = word_set("also too only now still often always never usually then again")


def incomplete(words: str, said: Subject) -> str:
    """Say why words with a subject are no whole sentence; "" where they are.

    `said` is what `about.subject_of` returns for them.
    """
    behind = [token.lower() for token in _MEMBER.findall(words[said.verb :])]
    while len(behind) > 1 and behind[-1] in _TRAILING:
        behind.pop()
    if not said.verb or not behind:
        return "it has no verb"
    verb, last = behind[0], behind[-1]
    if len(behind) == 1:
        lacks = needs_object(verb) or verb in _MEANS_NOTHING_ALONE
        return "it ends in its verb" if lacks else ""
    if verb in _PARTICIPLES and behind[1] in _BEHIND_PARTICIPLES and behind[1:3] != ["to", "be"]:
        return "it has no verb"
    if verb in _DOUBTFUL and not (behind[1] in _BEHIND_DOUBTFUL or behind[1][0].isdigit()):
        follows = words[said.verb + len(verb) :].lstrip()
        if not follows[:1].isupper():
            return "it has no verb"
    cut = not words.rstrip().endswith((".", "!", "?"))
    if behind[-2] in ("and", "or", "but") and (
        last in _SURE_VERBS or (cut and last.endswith("s") and needs_object(last))
    ):
        return "it ends in a verb"
    return ""


_BEHIND_NOUN: Final = word_set("for of and or")
_ARTICLES: Final = word_set("the a an this that these those its their his her")


def _is_label(words: str, said: Subject) -> bool:
    """Tell whether a line of others is a title, and its verb a noun: "Sourdough course dates".

    Such a line has no full stop, no article before its name and no number behind its last noun.
    """
    behind = [token.lower() for token in _MEMBER.findall(words[said.verb :])]
    if not behind or words.rstrip().endswith((".", "!", "?")) or behind[0] in _SURE_VERBS:
        return False
    first = _MEMBER.search(words)
    if first is None or first[0].lower() in _ARTICLES or any(map(str.isdigit, words[said.verb :])):
        return False
    return is_plural(behind[0]) and (len(behind) == 1 or behind[1] in _BEHIND_NOUN)


# --- markup ---------------------------------------------------------------------------------------

_LINK: Final = re.compile(r"!?\[(?P<words>[^\]\n]{0,200})\]\((?:[^()\n]|\([^()\n]*\)){0,500}\)")
_NOTE: Final = re.compile(r"\[(?:\d{1,3}|[a-z]|note \d+|citation needed|edit)\]")
_EMPHASIS: Final = re.compile(
    r"`+|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)"
)


@lru_cache(maxsize=16)
def _unmarked(text: str) -> str:
    """Return a text of the same length without marks of links, notes and emphasis."""
    text = _LINK.sub(_words_of_link, text)
    for pattern in (_NOTE, _EMPHASIS):
        text = pattern.sub(lambda match: "\0" * len(match[0]), text)
    return text


def _words_of_link(match: re.Match[str]) -> str:
    whole, words = match[0], match["words"]
    if whole.startswith("!"):
        return "\0" * len(whole)
    return "\0" + words + "\0" * (len(whole) - len(words) - 1)


def _plain(unmarked: str) -> str:
    return " ".join(unmarked.replace("\0", "").split())


# --- lists under a name ---------------------------------------------------------------------------

_LINE: Final = re.compile(r"[^\n]*\n?")
_HEADING: Final = re.compile(r"[ \t]*#{1,6}[ \t]+(?P<words>.*?)[ \t#]*$")
_BOLD_LINE: Final = re.compile(r"[ \t]*\*\*(?P<words>[^*\n]{2,80})\*\*:?[ \t]*$")
_BULLET: Final = re.compile(r"[ \t>]*(?:[-*+•‣▪·–]|\d{1,2}[.)])[ \t]+")
_NUMBERED: Final = re.compile(r"[ \t>]*(?:[02-9]|\d\d{1,2})[.)][ \t]")
_PAIR: Final = re.compile(
    r"(?P<key>[A-Za-z][^\W_]*(?:[ /&'’\-]{1,3}[^\W_]+){0,4}(?: \([^\W_]{1,20}\))?)\s?:\s+"
    r"(?P<value>\S.*)$"
)
_ABOUT_IT: Final = word_set("""
    specifications specification specs spec overview summary details detail facts fact key features
    feature data technical info information history description characteristics properties at a
    glance in brief quick the about profile main and general product more essentials basics sheet
    """)
_NO_KEY: Final = word_set("""
    related see also read more tags tag category categories share photo photos image images picture
    credit credits source sources by author posted updated published date sponsored ad ads
    advertisement link links contact tel phone fax email comments comment next previous note notes
    tip tips warning important attention hint human user users assistant system q a question answer
    entity entities memory preference preferences instruction instructions prompt owner valence
    continue video videos advertiser disclaimer disclosure click order buy reply response context
    known learned remembered interest interests similar alternative alternatives competitor rival
    compare vs versus recommended trending popular sign subscribe follow follows home menu search
    results result ps nb update edit hi hello dear to
    """)


# Words before a colon that make what follows no statement of the text's own.
_SAYS_MORE: Final = _NO_KEY | word_set("says said claims claimed rumour rumor if unless not never")


class _Item(NamedTuple):
    start: int
    end: int
    entity: str
    loose: bool = False  # it stands anywhere, and not directly under the name
    row: str = ""  # of a table: its two cells as a line of a list, "Weight: 7.8 kg"
    problem: str = ""


# --- tables ---------------------------------------------------------------------------------------

_ROW: Final = re.compile(r"[ \t>]*\|(?P<cells>[^\n]{1,600})\|[ \t]*$")
_RULER: Final = re.compile(r"[ \t>]*\|(?:[ \t]*:?-{1,40}:?[ \t]*\|){1,20}[ \t]*$")
_CELLS: Final = re.compile(r"(?<!\\)\|")
_PROPERTIES: Final = _ABOUT_IT | word_set("""
    property attribute attributes parameter parameters spec item items field category type metric
    name aspect criterion criteria what
    """)
_VALUES: Final = _ABOUT_IT | word_set(
    "value values description measurement measurements content setting settings amount data"
)


class _Row(NamedTuple):
    """A row of a table of Markdown; `words` are "" for its head and the line below it."""

    words: str
    problem: str


def _rows(text: str, plain: str, names: Names, begin: int) -> dict[int, _Row]:
    """Return the rows of the tables of a text, by where their lines begin.

    A table has a property of one thing in each row only where it has two columns and its head
    names no other thing: "Model | Price" lists things.
    """
    found: dict[int, _Row] = {}
    head: tuple[int, list[str]] | None = None
    table: str | None = None  # why its rows are none; "" where they are, None outside a table
    for match in _LINE.finditer(text, begin):
        line = match[0].rstrip()
        if not _ROW.match(line):
            head, table = None, None
            continue
        start = match.start()
        cells = _cells(plain[start : start + len(line)])
        if _RULER.match(line) and head is not None and table is None:
            found[head[0]] = found[start] = _Row("", "")
            if _is_property(head[1]):
                table, found[head[0]] = "", _Row(": ".join(head[1]), "")
            else:
                table = _table_problem(head[1], names)
            continue
        if table is None:
            head = (start, cells)
            continue
        pair = f"{cells[0].rstrip(' :')}: {cells[1]}" if len(cells) > 1 else ""
        if table or not all(cells) or _PAIR.match(pair) is None:
            found[start] = _Row(" | ".join(filter(None, cells)), table or "it is no property")
        else:
            found[start] = _Row(pair, "")
    return found


def _cells(row: str) -> list[str]:
    found = _ROW.match(row.rstrip())
    return [_plain(cell) for cell in _CELLS.split(found["cells"])] if found else []


def _is_property(head: Sequence[str]) -> bool:
    """Tell whether the head of a table is a row of it: "Price | 49 euros"."""
    return (
        len(head) == 2
        and any(map(str.isdigit, head[1]))
        and _PAIR.match(": ".join(head)) is not None
        and all(is_everyday(word) for word in _MEMBER.findall(head[0].lower()))
    )


def _table_problem(head: Sequence[str], names: Names) -> str:
    """Say why the rows of a table are not what its one thing has; "" where they are."""
    if len(head) != 2:
        return "its table has more than two columns" if len(head) > 2 else "it is no property"
    first, second = (_MEMBER.findall(cell.lower()) for cell in head)
    if all(word in _PROPERTIES for word in first) and (
        all(word in _VALUES for word in second) or _is_name_line(head[1], names)
    ):
        return ""
    return "its table may be about other things"


# --- lists ----------------------------------------------------------------------------------------


def _items(text: str, plain: str, names: Names, title_entity: str, begin: int) -> list[_Item]:
    """Return the lines and the rows of tables that stand under the name of a known thing.

    They stand directly under it, as a heading or as the title. As `loose` a list of properties
    counts wherever it stands in a text whose title is the thing's name.
    """
    rows = _rows(text, plain, names, begin)
    found: list[_Item] = []
    group: list[_Item] = []  # lines under a title alone, or anywhere: one may be anything
    owner, lists, blank, headed = title_entity, bool(title_entity), True, False

    def close() -> None:
        if len(group) > 1:
            found.extend(group)
        group.clear()

    for match in _LINE.finditer(text, begin):
        cancel.check()
        line = match[0].rstrip()
        if not line.strip():
            blank = True
            continue
        start, end = match.start(), match.start() + len(line)
        heading = _HEADING.match(line) or _BOLD_LINE.match(line)
        words = _plain(plain[start:end])
        if heading or _is_name_line(words, names):
            close()
            said = _plain(heading["words"]) if heading else words
            owner = _heading_owner(said, names, title_entity)
            lists, blank, headed = bool(owner), False, True
            continue
        row = rows.get(start)
        if row is not None and not row.words:
            continue  # the head of a table
        bullet = _BULLET.match(line)
        first = start + (bullet.end() if bullet else len(line) - len(line.lstrip()))
        pair = _PAIR.match(_plain(plain[first:end]))
        item = _Item(first, end, owner)
        if row is not None:
            item = item._replace(row=row.words, problem=row.problem)
        # A list stands directly under its heading; a paragraph, or a gap within it, ends it.
        if not (bullet or pair or row) or (
            blank and (group or (found and found[-1].entity == owner))
        ):
            lists = False
            close()
        if lists and owner:
            (found if headed else group).append(item)
        elif owner and owner == title_entity and ((bullet and pair) or row):
            group.append(item._replace(loose=True))
        blank = False
    close()
    return found


def _is_name_line(words: str, names: Names) -> bool:
    bare = words.strip(" :*_")
    places = names.find(bare)
    return len(places) == 1 and places[0][0] == 0 and places[0][1] == len(bare)


def _heading_owner(words: str, names: Names, title_entity: str) -> str:
    """Return whose lists stand under a heading: its name alone, or "Specifications"."""
    places = names.find(words)
    if len({owner for _, _, owner in places}) > 1:
        return ""
    rest, owner = words, title_entity
    if places:
        start, end, owner = places[0]
        rest = words[:start] + " " + words[end:]
    rest = re.sub(r"['’]s\b|[^\w\s]", " ", rest)
    return owner if all(word in _ABOUT_IT for word in rest.lower().split()) else ""


def _item_problem(words: str, names: Names) -> str:
    """Say why a line under a name is no fact about it; "" where it is one."""
    pair = _PAIR.match(words)
    if pair:
        keys = re.split(r"[^\w]+", pair["key"].lower())
        if any(key in _NO_KEY for key in keys):
            return "it is no property"
        words = pair["value"]
        if all(key in _PROPERTIES for key in keys if key) and all(
            word in _VALUES for word in _MEMBER.findall(words.lower())
        ):
            return "it is the head of a table"
        if _ORDER.match(words) and " " in words:
            return "it is an order"
    elif _ORDER.match(words):
        return "it is an order"
    elif len(words.split()) < 3:
        return "it has less than three words"
    said = subject_of(words, names)
    if said.words:
        return "it speaks of something else"
    return ""


# --- facts ----------------------------------------------------------------------------------------

# What may stand for a thing that was just spoken of, whatever it is.
_ANYTHING: Final = word_set("""
    company product device model brand project site place city town village area region building
    book film movie game album song band group team artist author writer app application tool
    software library framework program service platform website festival event museum park river
    mountain lake island machine camera speaker phone car bike instrument species animal plant dish
    drink restaurant school university organisation organization foundation manufacturer version
    """)
_AGAINST: Final = re.compile(
    r"\b(?:vs\.?|versus|or|and|compared|alternatives?|rivals?|instead|better than|beats|not)\b",
    re.I,
)
_PASTED: Final = frozenset(
    {TaintKind.COMMAND, TaintKind.SPEECH, TaintKind.MEMORY, TaintKind.HIDDEN}
)
_CORPORATE: Final = word_set("inc ltd llc gmbh corp corporation company co group ag sa plc limited")
_MEMBER: Final = re.compile(r"[^\W_]+", re.UNICODE)


def facts_about(
    text: str,
    *,
    names: Mapping[str, Sequence[str]],
    title: str = "",
    external: bool = True,
) -> tuple[list[WorldClaim], list[tuple[str, str]]]:
    """Return what a text says of known things, and what it says of them that is no fact.

    `names` gives for every canonical name the names of the thing, the canonical one among them.
    `title` is the title of the text; where the text begins with it, that line is no sentence.
    `external` is for text of others; in a message of its owner advice to a reader and boilerplate
    are not looked for. A refusal is (the sentence, why), in words.
    """
    return _Reader(text, Names(names), title, external=external).read()


class _Reader:
    """Reads one text from its beginning to its end, and remembers what it spoke of last."""

    def __init__(self, text: str, names: Names, title: str, *, external: bool) -> None:
        begin = 0
        if title and text.startswith(title) and text[len(title) : len(title) + 1] in ("", "\n"):
            begin = len(title)
        self._begin = begin
        # of the same length: all places are those of the text itself
        self._text = unwrapped(text, begin=begin)
        self._plain = _unmarked(self._text)
        title = title or _top_heading(self._text)
        known = names.within(f"{title}\n{self._plain}".replace("\0", ""))
        short = _short_names(known, f"{title}\n{self._plain}")
        self._full = known
        self._names = known.with_short(short)
        self._topics = _topics(known, self._plain[begin:])
        self._external = external
        self._title_entity = _title_entity(title, self._names)
        self._taints = [one for one in taint(text) if external or one.kind in _PASTED]
        self._focus = self._title_entity
        self._nouns: dict[
            str, str
        ] = {}  # "speaker" -> the thing that was said to be one, "" for others
        self._claims: list[WorldClaim] = []
        self._refused: dict[str, str] = {}
        self._rows_refused: dict[str, str] = {}  # last: a page of tables has hundreds
        self._seen: set[tuple[str, str]] = set()

    def read(self) -> tuple[list[WorldClaim], list[tuple[str, str]]]:
        """Return the facts and the refusals."""
        if not self._names:
            return [], []
        steers = any(map(hostile, self._taints))
        items = _items(self._text, self._plain, self._names, self._title_entity, self._begin)
        listed = [
            (item.start, item.end)
            for item in items
            if (self._kept_back(item) if steers and item.loose else self._listed(item))
        ]
        read = self._begin
        for start, end in _sentences(self._text):
            cancel.check()
            if start < self._begin:
                continue
            if self._focus and self._leaves_it(read, start):
                self._focus = ""
            read = end
            if not _within(start, listed):
                self._sentence(start, end)
        claims = sorted(self._claims, key=lambda one: one.start)
        refused = self._refused | {
            row: why for row, why in self._rows_refused.items() if row not in self._refused
        }
        return claims[:MAX_FACTS], list(refused.items())[:MAX_REFUSED]

    def _leaves_it(self, start: int, end: int) -> bool:
        """Tell whether a heading between two sentences says that something else comes now."""
        for line in self._plain[start:end].splitlines():
            heading = _HEADING.match(line)
            if heading is None:
                continue
            words = _plain(heading["words"])
            if _AGAINST.search(words):
                return True
            if self._names.find(words):
                if self._focus not in {owner for _, _, owner in self._names.find(words)}:
                    return True
            elif any(not is_everyday(word.lower()) for word in _MEMBER.findall(words)):
                return True
        return False

    def _listed(self, item: _Item) -> bool:
        """Take a line under a name; False where it is a sentence and is read as one."""
        words, problem = self._read_item(item)
        if not words:
            return False
        if problem and item.row:
            self._rows_refused.setdefault(words[:MOST_CHARS], problem)
        elif problem:
            self._refuse(words, problem)
        else:
            entities = [item.entity]
            self._take(
                entities, item.start, item.end, "listed", policy.EXTERNAL_FACT, content=item.row
            )
        return True

    def _kept_back(self, item: _Item) -> bool:
        """Refuse a line that only an honest page is believed; False, as a sentence is read too."""
        words, problem = self._read_item(item)
        if words and not problem:
            self._refuse(words, STEERED)
        return False

    def _read_item(self, item: _Item) -> tuple[str, str]:
        """Return the words of a line under a name and why they are no fact; ("", "") for others.

        Others are sentences.
        """
        words = item.row or _plain(self._plain[item.start : item.end])
        pair = _PAIR.match(words)
        said = subject_of(pair["value"] if pair else words, self._names)
        if said.kind is not SubjectKind.OTHER or said.words:
            return "", ""
        touched = self._touching(item.start, item.end)
        problem = touched.why if touched else item.problem
        problem = problem or no_statement(words, external=self._external, item=True)
        return words, problem or _item_problem(words, self._names)

    def _sentence(self, start: int, end: int) -> None:
        # `\0` stands where marks were: blanks keep the places of words
        marked = self._plain[start:end]
        words = marked.replace("\0", " ") if "\0" in marked else marked
        touched = self._touching(start, end)
        if touched is not None:
            if hostile(touched):
                self._focus = ""  # what "it" means behind an order, its writer decides
            if self._names.find(words):
                self._refuse(_plain(marked), touched.why)
            return
        label = _PAIR.match(words)
        if label and not _SAYS_MORE.intersection(re.split(r"\W+", label["key"].lower())):
            # "Location: Osterlund lies ..." is what stands behind its label
            start += label.start("value")
            marked, words = marked[label.start("value") :], label["value"]
        said = subject_of(words, self._names, topics=self._topics)
        entities = self._meant(said)
        noun = is_a(words, said.verb) if said.verb else ""
        if noun:
            single = entities[0] if len(entities) == 1 else ""
            if single or said.words:
                self._nouns[noun] = single
        self._focus = entities[0] if len(entities) == 1 else ""
        if said.kind is SubjectKind.TOPIC:
            self._focus = ""  # "it" is then the starter, and not all sourdough
        if not entities:
            if self._names.find(words):
                self._refuse(_plain(marked), "a known thing is not its subject")
            return
        if self._external:
            cut = self._first_clauses(words)
            marked, end = marked[:cut], start + cut
        own = words if self._external else unowned(words, self._names.find(words))
        judged = marked if own == words else own
        problem = no_statement(_plain(judged), external=self._external)
        problem = problem or incomplete(words[: len(marked)], said)
        if not problem and self._external and _is_label(words[: len(marked)], said):
            problem = "it has no verb"
        if not problem and not self._external:
            places = self._names.find(words[said.verb :])
            others = any(owner not in entities for _, _, owner in places)
            problem = in_passing(words, said, names_another=others)
        if not problem and len(marked) == len(words):
            problem = self._unfinished(start, end)
        if problem:
            self._refuse(_plain(marked), problem)
            return
        self._take(entities, start, end, str(said.kind), self._sure(said))

    def _first_clauses(self, words: str) -> int:
        """Return where a sentence goes over to an order or to what is said of another thing."""
        for joint in _JOINT.finditer(words):
            rest = words[joint.end() :]
            said = subject_of(rest, self._names)
            if said.words or _ORDER.match(rest) or (said.names and joint["word"] is None):
                return joint.start()
        return len(words)

    def _meant(self, said: Subject) -> Sequence[str]:
        """Return the known things that a subject means."""
        if said.names:
            return said.names
        if said.kind is SubjectKind.PRONOUN and self._focus:
            return [self._focus]
        if said.kind is SubjectKind.NOUN:
            if said.noun in self._nouns:
                owner = self._nouns[said.noun]
                return [owner] if owner else []
            if said.noun in _ANYTHING and self._focus:
                return [self._focus]
            if is_part(said.noun) and self._focus and self._focus == self._title_entity:
                return [self._focus]
        return []

    def _sure(self, said: Subject) -> float:
        direct = policy.EXTERNAL_FACT if self._external else policy.STATED
        if said.kind in (SubjectKind.PRONOUN, SubjectKind.NOUN):
            return min(direct, REFERRED)
        return direct

    def _unfinished(self, start: int, end: int) -> str:
        """Say that a sentence has no end; one of others may be cut where its text was."""
        last, rest = self._text[end - 1], self._text[end:]
        closed = last in ".!\"'”’)]*_…。"
        if not rest.strip():
            room = policy.RESULT_TEXT_CHARS if closed else policy.RESULT_TEXT_CHARS // 2
            if self._external and len(self._text) >= room:
                return "its text was cut there"
            return "" if closed or _ends_line(last) else "it has no end"
        if closed:
            return ""
        if not rest.startswith("\n") or not _ends_line(last):
            return "it has no end"
        if rest.lstrip().startswith(("[...]", "[…]", "...", "…")):
            return "it has no end"
        line = rest[1:].partition("\n")[0]
        if _BULLET.match(self._text, self._text.rfind("\n", 0, start) + 1):
            return ""  # an item; what goes on with it is joined to it
        below = line.strip(" \t>\0")
        named = self._names.find(below)
        if not below or (named and named[0][0] == 0):
            return ""
        # "the Lindqvist / Prize": a name that goes on
        named_so_far = self._text[start:end].rsplit(None, 1)[-1][0].isupper()
        if not _goes_on(line, below) and not (named_so_far and below[0].isupper()):
            return ""
        # of somebody who writes without capitals lower case says nothing
        if not self._external and self._text[start].islower() and below[0].islower():
            return ""
        return "it has no end"

    def _touching(self, start: int, end: int) -> Taint | None:
        touching = [one for one in self._taints if one.start < end and start < one.end]
        return max(touching, key=hostile, default=None)

    def _take(
        self,
        entities: Sequence[str],
        start: int,
        end: int,
        rule: str,
        confidence: float,
        *,
        content: str = "",
    ) -> None:
        content = content or _plain(self._plain[start:end])
        for entity in entities:
            key = (entity, content.casefold())
            if key in self._seen:
                continue
            self._seen.add(key)
            self._claims.append(
                WorldClaim(
                    entity=entity,
                    content=content,
                    start=start,
                    end=end,
                    rule=f"world:{rule}",
                    confidence=confidence,
                )
            )

    def _refuse(self, content: str, why: str) -> None:
        if content:
            self._refused.setdefault(content[:MOST_CHARS], why)


def _goes_on(line: str, words: str) -> bool:
    """Tell whether a line may be the rest of a sentence that has no end in the one above."""
    if _NUMBERED.match(line):
        return True  # "with version / 3. It": a list begins with 1
    if _BULLET.match(line) or _HEADING.match(line) or _PAIR.match(words) or words[0] in "|`~<=_-*":
        return False
    first = _MEMBER.search(words)
    if first is None or not first[0][0].isupper():
        return first is not None
    return may_be_name(first[0])


def _ends_line(last: str) -> bool:
    """Tell whether a line without a full stop may end so: "costs 40 %"."""
    return last.isalnum() or last in "%€$£°+″′"


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the sentences of an unwrapped text: a line break ends one as well."""
    for sentence in sentences.split(text):
        at = sentence.start
        for line in sentence.text.split("\n"):
            bare = line.lstrip(" \t>\0")
            start = at + len(line) - len(bare)
            end = start + len(bare.rstrip(" \t\r\0"))
            at += len(line) + 1
            if start < end:
                yield start, end


def _within(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


_TITLE_LEAD: Final = re.compile(
    r"^(?:(?:review|all about|about|introducing|meet|what is|who is|guide to|a guide to|the"
    r"|getting to know|hands-on|test)\b[:\s-]*)+",
    re.IGNORECASE,
)


def _title_entity(title: str, names: Names) -> str:
    """Return the one known thing that a text is about by its title; "" for none or several."""
    places = names.find(title)
    if len({owner for _, _, owner in places}) != 1:
        return ""
    start, end, owner = places[0]
    lead = _TITLE_LEAD.match(title)
    if start > (lead.end() if lead else 0) or _AGAINST.search(title[end:]):
        return ""
    # "Halden Q40 Pro review" is about another thing
    follows = re.match(r"\s+(?P<word>[^\W_][\w.]*)", title[end:])
    if follows and (follows["word"][0].isupper() or follows["word"][0].isdigit()):
        word = follows["word"].lower()
        return owner if word in _ABOUT_IT or word in ("review", "test", "wikipedia") else ""
    return owner


def _top_heading(text: str) -> str:
    """Return the heading that a text begins with, which is its title; "" for none."""
    heading = _HEADING.match(text.lstrip().partition("\n")[0])
    return _plain(_unmarked(heading["words"])) if heading else ""


def _short_names(names: Names, text: str) -> dict[str, str]:
    """Return by which shorter names a text may call the things that it names in full.

    What stands before the last words may go ("the Q40", "Verhoeven"), what stands behind may not:
    the LS50 is another thing than the LS50 Meta. Only "Ltd" and its like may go there.
    """
    found: dict[str, str] = {}
    shared: set[str] = set()
    named = {owner for _, _, owner in names.find(text)}
    for key, owner in names.surfaces.items():
        if owner not in named:
            continue
        words = key.split()
        shorter = [words[at:] for at in range(1, len(words))]
        if len(words) > 1 and words[-1].rstrip(".") in _CORPORATE:
            shorter = [words[:-1]]
        for parts in shorter:
            short = " ".join(parts)
            if _stands_alone(parts) and found.setdefault(short, owner) != owner:
                shared.add(short)
    return {short: owner for short, owner in found.items() if short not in shared}


_BEGINS: Final = re.compile(r"(?:^|[.!?:]\s)[\"'“‘(\s>*_\-\0]*$", re.MULTILINE)
LEAD_CHARS: Final = 40  # ours: marks and blanks between the beginning of a sentence and a name
_SPACE: Final = re.compile(r"[\s\-]+")


def is_kind(name: str, texts: Sequence[str]) -> bool | None:
    """Say whether texts speak of a known thing as a kind or a matter: "green tea", not "Notion".

    None where none of them names it, or only texts that have no capitals.
    """
    names = Names({name: [name]})
    text = "\n".join(texts)
    if not any(map(str.isupper, text)) or not names.find(text):
        return None
    return name in _topics(names, text)


def _topics(names: Names, text: str) -> frozenset[str]:
    """Return the known things that a text speaks of as a kind or a matter, in lower case.

    That tells only where the text has capitals: "the halden q40 stand" is written in haste.
    """
    if not any(map(str.isupper, text)):
        return frozenset()
    found: dict[str, bool] = {}
    for start, end, owner in names.find(text):
        cancel.check()
        line = text.rfind("\n", 0, start) + 1
        if _HEADING.match(text[line:end]):
            continue  # headings have capitals of their own
        words = text[start:end]
        before = max(line, start - LEAD_CHARS)
        common = words.islower() or (words[1:].islower() and _BEGINS.search(text, before, start))
        plain = all(part.isalpha() for part in _SPACE.split(words))
        found[owner] = found.get(owner, True) and plain and bool(common)
    return frozenset(owner for owner, common in found.items() if common)


def _stands_alone(words: Sequence[str]) -> bool:
    """Tell whether the last words of a name may stand for it: none of everyday words does."""
    if all(is_everyday(word) or word.isdigit() or is_calendar_word(word) for word in words):
        return False
    first = words[0]
    if len(words) == 1 and not first.isalpha():
        return any(c.isalpha() for c in first) and any(c.isdigit() for c in first)
    return len(first) > 2 or len(words) > 1


# --- new things -----------------------------------------------------------------------------------

_PLACE_KINDS: Final = word_set("""
    city town village country island region place destination state county district capital
    continent municipality
    """)
_LISTS: Final = re.compile(
    r"\b(?:best|top|list|recommended|favou?rite|great|guide|\d{1,3})\b", re.I
)
_LIST_NAME: Final = re.compile(
    r"[ \t>]*(?:#{1,6}[ \t]+)?(?:[-*+•‣▪·][ \t]+)?(?:\(?\d{1,3}[.):][ \t]+)?[*\0]*"
    r"(?P<name>[^\W_][^\n:*()\[\]–—|,;]{1,80}?)[*\0]*[ \t]*(?=$|[:(–—|,;]|\s-\s)",
    re.MULTILINE,
)
_MARKED: Final = re.compile(r"[ \t>]*(?:#{1,6}[ \t]|[-*+•‣▪·][ \t]|\(?\d{1,3}[.):][ \t]|\*\*)")
_JOINTS: Final = word_set("of the de la le du van von der den di da and & y et for in")


def discover(results: Sequence[ResultText], *, query: str, topic: str) -> Discovered:
    """Return the new things that a person's search is about, and which of them are left out.

    A thing counts when a result says that it is of the kind that was asked about ("is a speaker",
    or an item of a list of speakers; for "green tea" a tea that it says to be green), when results
    of at least two hosts or files speak of it, and when no result that tries to steer its reader
    does. At most eight.
    """
    kinds = asked_kinds(query, topic)
    nouns = nouns_of(kinds)
    if not kinds:
        return Discovered([], [])
    found: dict[str, Discovery] = {}
    for index, result in enumerate(results):
        cancel.check()
        if is_tainted_document(f"{result.title}\n{result.text}"):
            continue
        for one in _named_kinds(result, kinds):
            name = _bare_name(one.surface)
            if not name or not _is_name(one.surface, nouns):
                continue
            known = found.get(name)
            spans = [*(known.spans if known else ()), (index, one.start, one.end)]
            found[name] = Discovery(
                name=name,
                surface=known.surface if known else one.surface,
                spans=spans,
                hosts=(),
                why=known.why if known else one.why,
            )
    return corroborated(list(found.values()), results, topic=topic)


def corroborated(
    offered: Sequence[Discovery],
    results: Sequence[ResultText],
    *,
    query: str = "",
    topic: str = "",
) -> Discovered:
    """Return the offered new things that results of two hosts or files speak of, and the others.

    A thing that a result speaks of which tries to steer its reader is none, however many others
    do; one that the query names needs no second host. Also for what a model offers: that it sees a
    name in one page is no reason to believe the page, and what is no name is none to a model too.
    """
    nouns = nouns_of(asked_kinds(query, topic))
    tainted = []
    for result in results:
        cancel.check()
        tainted.append(is_tainted_document(f"{result.title}\n{result.text}"))
    found = []
    left: list[LeftOut] = []
    for one in offered:
        pattern = _mention(one.name)
        speaking = [
            index
            for index, result in enumerate(results)
            if pattern.search(f"{result.title}\n{result.text}")
        ]
        hosts = sorted({results[index].host or f"result {index}" for index in speaking})
        asked = bool(query) and pattern.search(query) is not None
        sure = asked and _is_capital(one.surface, results)
        if not _is_name(one.surface, nouns, sure=sure):
            continue
        if any(tainted[index] for index in speaking):
            why = "a page that tries to steer its reader speaks of it"
            left.append(LeftOut(one, "external_instruction", why))
            continue
        if len(hosts) < CORROBORATED and not asked:
            why = f"nothing but {hosts[0] if hosts else 'one source'} speaks of it"
            left.append(LeftOut(one, "one_source", why))
            continue
        found.append(
            Discovery(
                name=one.name,
                surface=one.surface,
                spans=one.spans,
                hosts=hosts,
                why=f"{one.why}; {len(hosts)} sources speak of it",
            )
        )
    found.sort(key=lambda one: (-len(one.hosts), one.spans[0] if one.spans else (0, 0, 0)))
    more = f"a search brings in {MAX_DISCOVERED} things, and others are more widely known"
    left += [LeftOut(one, "too_many", more) for one in found[MAX_DISCOVERED:]]
    return Discovered(found[:MAX_DISCOVERED], left[:MAX_REFUSED])


@lru_cache(maxsize=512)
def _mention(name: str) -> re.Pattern[str]:
    words = r"[\s\-‐‑–_]+".join(re.escape(word) for word in name.split())
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


class _Page(NamedTuple):
    """A result that is read for what it says to be of a kind."""

    result: ResultText
    text: str  # with its lines joined
    plain: str  # of the same length, without marks
    begin: int  # behind its title
    taints: Sequence[Taint]

    def is_tainted(self, start: int, end: int) -> bool:
        return any(one.start < end and start < one.end for one in self.taints)


class _Named(NamedTuple):
    """Something that a result says to be of a kind."""

    surface: str
    start: int
    end: int
    why: str
    doubt: Sequence[Kind] = ()  # what another sentence about it must narrow the kind with
    sure: bool = True  # False where that sentence has to say just that of it


def _named_kinds(result: ResultText, kinds: Sequence[Kind]) -> Iterator[_Named]:
    """Yield what a result says to be of one of the kinds, as narrow as that was asked for."""
    begin = len(result.title) if result.text.startswith(result.title) else 0
    text = unwrapped(result.text, begin=begin)
    page = _Page(result, text, _unmarked(text), begin, taint(result.text))
    found = [*_said_kinds(page, kinds), *_listed_kinds(page, kinds)]
    told = _told(result, [one.surface for one in found if one.doubt])
    for one in found:
        says_so = says if one.sure else says_it_is
        if not one.doubt or any(
            says_so(sentence, kind)
            for sentence in told.get(_bare_name(one.surface), ())
            for kind in one.doubt
        ):
            yield one


def _told(result: ResultText, surfaces: Sequence[str]) -> dict[str, list[str]]:
    """Return what a result says of things, by their names."""
    bare = {_bare_name(one): one for one in surfaces[:MAX_DOUBTED]}
    names = {name: [name, surface] for name, surface in bare.items() if name}
    found: dict[str, list[str]] = {}
    if names:
        claims, _ = facts_about(result.text, names=names, title=result.title, external=True)
        for claim in claims:
            found.setdefault(claim.entity, []).append(claim.content)
    return found


def _bare_name(surface: str) -> str:
    return entity_name(re.sub(r"^(?:the|a|an)\s+", "", surface, flags=re.IGNORECASE))


def _said_kinds(page: _Page, kinds: Sequence[Kind]) -> Iterator[_Named]:
    """Yield the subjects of sentences that say of which kind something is."""
    nothing = Names({})
    heads = [
        (match.start(), _plain(heading["words"]))
        for match in _LINE.finditer(page.plain)
        if (heading := _HEADING.match(match[0].rstrip()))
    ]
    for first, last in _sentences(page.text):
        if first < page.begin or page.is_tainted(first, last):
            continue
        marked = page.plain[first:last]
        words = marked.replace("\0", " ")
        said = subject_of(words, nothing)
        if not said.words or not said.verb or not is_a(words, said.verb):
            continue
        pairs = fits(said_kinds(words[said.verb :]), kinds)
        if not pairs or no_statement(_plain(marked), external=True):
            continue
        above = [page.result.title, *(words for _, words in heads[: bisect(heads, (first,))][-1:])]
        near = [other for one, other in pairs if not (rival(one, other) or denies(words, other))]
        stated = any(
            says(" ".join(one.modifiers), other)
            or (other in near and any(says(part, other) for part in (words, *above)))
            for one, other in pairs
        )
        start = first + said.start
        yield _Named(
            surface=said.words,
            start=start,
            end=start + len(said.words),
            why=f"a result says that it is a {pairs[0][0].noun}",
            doubt=() if stated else [other for _, other in pairs],
            sure=bool(near),
        )


def _listed_kinds(page: _Page, kinds: Sequence[Kind]) -> Iterator[_Named]:
    """Yield the items of a list of things of a kind."""
    title = page.result.title
    listed, asked = _listed_kind(title, kinds)
    if asked is None:
        return
    for match in _LINE.finditer(page.text, page.begin):
        line = match[0].rstrip("\n")
        end = match.start() + len(line)
        named = _LIST_NAME.match(page.plain, match.start(), end)
        if named is None or not _MARKED.match(line):
            continue
        if page.is_tainted(match.start(), end):
            continue
        surface = _plain(named["name"])
        if not _is_titled(surface):
            continue
        about = _plain(page.plain[named.end("name") : end])[:MOST_CHARS]
        other = denies(about, asked) or any(rival(one, asked) for one in named_kinds(about, asked))
        stated = says(f"{surface} {about}", asked) or says(title, asked)
        yield _Named(
            surface=surface,
            start=named.start("name"),
            end=named.end("name"),
            why=f"a list of {listed} has it",
            doubt=[asked] if other or not stated else (),
            sure=not other,
        )


def _listed_kind(title: str, kinds: Sequence[Kind]) -> tuple[str, Kind | None]:
    """Return the plural that a title lists, and its kind: "10 best bookshelf speakers"."""
    few = len(re.findall(r"[^\W\d_]+", title)) < 4
    if few or _LISTS.search(title):
        for kind in kinds:
            word = plural_of(title, kind)
            if word:
                return word, kind
    return "", None


def _is_titled(surface: str) -> bool:
    """Tell whether every word of an item has a capital or a digit, as names in lists do."""
    words = surface.split()
    return bool(words) and all(
        word[:1].isupper() or any(c.isdigit() for c in word) or word.lower() in _JOINTS
        for word in words
    )


def _is_capital(surface: str, results: Sequence[ResultText]) -> bool:
    """Tell whether results write a name with a capital wherever they have it."""
    return surface[:1].isupper() and not any(
        re.search(rf"(?<!\w){re.escape(surface.lower())}(?!\w)", one.text) for one in results
    )


def _is_name(surface: str, kinds: Collection[str], *, sure: bool = False) -> bool:
    """Tell whether words may be the name of one thing.

    `sure` is for one that was asked for by name: it may be an everyday word.
    """
    words = [word.strip("'’\".,").lower() for word in surface.split()]
    if words and words[0] in ("the", "a", "an"):
        words = words[1:]
    if not words or len(words) > policy.NAME_WORDS:
        return False
    if not any(character.isalpha() for character in surface) or len(surface) < 3:
        return False
    telling = [
        word
        for word in words
        if not (
            is_everyday(word) or is_calendar_word(word) or is_nationality(word) or word in kinds
        )
        and not word.isdigit()
    ]
    if not sure and not telling and len(words) < 2:
        return False
    if not sure and not telling and any(singular(word) in kinds for word in words):
        return False  # "Bookshelf Speakers", "Best Speakers"
    return not is_place(" ".join(words)) or bool(_PLACE_KINDS & set(kinds))
