"""Judge a name before an entity may be made of it: by structure, then by meaning.

The structural layer does the heavy lifting and refuses nothing that names a thing; the semantic one
catches what stands on the same page by accident: sponsors, authors, the page's own menu.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.gate.outgoing import has_figures
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_everyday, is_function_word, is_greeting, is_place
from factbook.language.numbers import ORDINALS, SEVERAL
from factbook.language.questions import ends_asking
from factbook.language.words import word_set
from factbook.model.keys import entity_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME_THRESHOLD: Final = 0.20
"""From this cosine on a name belongs to what was asked. Seed 003's ~0.35 is for its own embedder;
this one is for the shipped one, over `name_text`: `scripts/calibrate_names.py` prints the curve."""
NAME_CHARS: Final = 100  # ours: of a name; eight words of everyday length are half as long


@dataclass(frozen=True, slots=True, kw_only=True)
class NameVerdict:
    """Whether a name may become an entity's."""

    name: str  # canonical (`keys.entity_name`)
    problem: str | None  # why not, in words; None where it may
    layer: str  # that decided: "structure" or "meaning"
    similarity: float | None = None  # to what was asked, where that was looked at

    @property
    def accepted(self) -> bool:
        """Tell whether nothing speaks against it."""
        return self.problem is None

    @property
    def reason(self) -> str:
        """Why it is refused (of policy.CANDIDATE_REJECTIONS)."""
        return "not_a_name" if self.layer == "structure" else "unrelated_name"


def name_text(name: str, context: str = "") -> str:
    """Return the text by which a name is compared: with the sentence that it stands in.

    The name alone says too little: "ls50" is near to nothing.
    """
    context = " ".join(context.split())
    return f"{name} – {context}" if context else name


def semantic_ok(similarity: float) -> bool:
    """Say whether a name is near enough to what was asked; NaN is not."""
    return similarity >= NAME_THRESHOLD


def judge_name(
    name: str,
    *,
    query_vector: NDArray[np.float32] | None = None,
    name_vector: NDArray[np.float32] | None = None,
) -> NameVerdict:
    """Judge a candidate for the name of a new entity.

    Args:
        name: As it was written or answered.
        query_vector: Unit vector of the search or the message that brought it on, or None where
            meaning is not asked: what its owner names is what its owner means.
        name_vector: Unit vector of `name_text(name, context)`.
    """
    canonical = entity_name(name)
    problem = structural_problem(name)
    if problem is not None or query_vector is None or name_vector is None:
        return NameVerdict(name=canonical, problem=problem, layer="structure")
    similarity = float(query_vector @ name_vector)
    if not semantic_ok(similarity):
        low = f"{similarity:.2f} < {NAME_THRESHOLD}"
        problem = f"it has too little to do with what was asked ({low})"
    return NameVerdict(name=canonical, problem=problem, layer="meaning", similarity=similarity)


_URL: Final = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://|\bwww\.\w|(?:^|\s)(?:mailto|javascript|data|file):"
    r"|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/\S",
    re.IGNORECASE,
)
_MAIL: Final = re.compile(r"\S@\S+\.\w")
_MARKDOWN: Final = re.compile(
    r"\*\*|__\S|\S__|`[^`]*`|\]\(|^\s*(?:#{1,6}|[-*+>|])\s|^\||~~|^\s*!\["
)
_MARKUP: Final = re.compile(r"</?[a-zA-Z][^<>]*>|&(?:amp|lt|gt|quot|nbsp|#\d+);|<\||\|>|</|/>")
_SLOT: Final = re.compile(
    r"[{}]|<[^<>]*>?|\[[^\]]*\]|\$\w*\{|%\(?\w*\)?s\b|^\s*x{3,}\s*$|\.{3}|…|_{2,}"
)
_LIST_ITEM: Final = re.compile(r"\s*(?:\d+\s*\.|\d+\)\s|\(\d+\)|[a-z]\)\s|#\d)", re.IGNORECASE)
_LABELLED: Final = re.compile(
    r"\s*(?:name|names|entity|entities|title|topic|subject|type|category|fact|facts|note|answer"
    r"|output|result|results|summary|query|confidence|score|source|sources|url|content"
    r"|description|user|human|assistant|system|ai|bot|example|item|candidate|json|keyword"
    r"|keywords)\s*[:=]|.*\b(?:confidence|relevance|similarity)\s*(?:score)?\s*[:=(]",
    re.IGNORECASE,
)
_ANSWERED: Final = re.compile(
    r"(?:sure|certainly|of course)[,!.]|here(?:['’]s| is| are) (?:the|a|an|your|some|my|what)\b"
    r"|as an ai\b|i(?:['’]m| am) (?:sorry|unable|not able)|i (?:cannot|can['’]?t|could not"
    r"|couldn['’]?t|don['’]?t|do not|was unable to|did not|didn['’]?t) (?:find|determine|identify"
    r"|see|have|provide|access|extract|answer|know|think)|(?:based on|according to) the\b"
    r"|there (?:is|are) (?:no|not|several|many|various|an?)\b|the (?:text|article|document|page"
    r"|passage|user) (?:is|does|mentions?|says?|talks?|about|above|below)|no (?:new |other |more "
    r"|known )?(?:entit|names?\b|relevant|match|results?\b)|not (?:mentioned|specified|applicable"
    r"|available|provided|found|stated|given|sure)|none (?:of the|found)|in (?:this|the) (?:text"
    r"|article|document|passage)",
    re.IGNORECASE,
)
_COMMAND: Final = re.compile(r"\s*[/!][a-z]", re.IGNORECASE)
_CODE: Final = re.compile(
    r"\b[A-Za-z]:\\|\w\(.*\)|[=;]\s|[;{}]$|=>|->|::|\\\\|\\[nrtu]|^[\w.-]*/[\w./-]*/[\w./-]*$|\"\s*:"
)
_DIGEST: Final = re.compile(
    r"[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{20,}|(?=\w*\d\w*\d)(?=\w*[a-z])\w{24,}",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|(?:[0-9a-f]{0,4}:){3,}[0-9a-f]{0,4}", re.I
)
_FIGURE: Final = re.compile(
    r"[^\w\s]*v?\d[\d.,:'/x×–—]*(?:%|°[cf]?|[kmbgpxshdwv]|st|nd|rd|th|[ap]m|ms|km|cm|mm|kg|mg|lbs?"
    r"|oz|[kmgt]b|[kmg]?hz|db|mah|fps|mph|kmh|inch|in|ft|mins?|hrs?|yrs?)?[^\w\s]*",
    re.IGNORECASE,
)
_COUNTED: Final = word_set("""
    of the and to in on at by since until from next last this every early mid late per each ago old
    later more left out percent second seconds minute minutes min mins hour hours hrs day days week
    weeks weekend weekday month months year years yrs century decade season holiday morning
    afternoon evening night noon midnight today tonight tomorrow yesterday now spring summer autumn
    fall winter daily weekly monthly yearly recently soon currently am pm utc gmt est pst cet bc ad
    ce bce q1 q2 q3 q4 h1 h2 o'clock km cm mm miles feet ft inch inches meters metres kg lbs oz gb
    mb hz db watts volts points stars times votes downloads
    views likes comments dozen hundred thousand million billion dollars euros pounds bucks cents yen
    usd eur gbp jpy chf inr no fy
    """)
_LEADING: Final = word_set("under over about around only nearly approx least")
_NUMERAL: Final = re.compile(
    rf"(?:zero|one|{SEVERAL}|{'|'.join(ORDINALS)}|i{{2,3}}|iv|vi{{2,3}}|ix)", re.IGNORECASE
)
_PLACEHOLDER: Final = frozenset(
    """
    unknown|n/a|na|none|null|nil|nan|undefined|unnamed|untitled|anonymous|tbd|tba|todo|test|testing
    sample|placeholder|dummy|foo|bar|baz|foobar|qux|lorem|lorem ipsum|ipsum|asdf|qwerty|xxx|xyz|abc
    unspecified|first name|last name|full name|string|value|text|various|several|multiple|misc
    miscellaneous|john doe|jane doe|acme|acme corp|redacted|deleted|removed|hidden|error|true|false
    yes|no|ok|empty|blank|default|object|array|me|owner|assistant|ai|bot|chatbot|ai assistant
    language model|factbook|someone|somebody|everyone|anyone|nobody|anything|everything|nothing
    """.replace("\n    ", "|").split("|")
)
_FURNITURE: Final = re.compile(
    r"(?:copyright|©|powered by|sponsored|posted (?:by|on|in)|published|updated|written by"
    r"|photos? (?:by|credit|courtesy)|images? (?:by|credit|courtesy)|verify you are)\b.*",
    re.IGNORECASE,
)
_PAGE: Final = word_set("""
    add read learn see show load view find discover know click tap press sign log login register
    create account subscribe join follow contact support email call inbox privacy cookie cookies
    policy policies conditions legal accessibility accept reject allow manage preferences settings
    consent rights reserved advertising ads ad affiliate promoted sponsored skip jump back search
    share print save bookmark copy download cart basket wishlist checkout stock free trial gift card
    contents older newer related recommended popular trending breaking featured comment help admin
    min minute enable loading found access denied forbidden external edit citation needed our my
    here
    """)
_ENDS: Final = word_set("""
    the a an and or of with for from by at to than that which because my your our their its vs vs.
    versus & per including
    """)
_BEGINS: Final = word_set("""
    or than which vs versus therefore however although whereas including etc & , also such
    """)
_GENERIC: Final = word_set("""
    thing things stuff item items something people person man woman men women guy guys user users
    customer customers company companies business brand brands manufacturer maker product products
    model models version versions edition service services website websites site page pages article
    articles post posts blog author authors writer editor reviewer expert experts review reviews
    result results option options alternative alternatives feature features spec specs specification
    specifications detail details overview summary introduction conclusion information info data
    content source sources link links list lists guide guides tip tips question questions answer
    answers fact facts news update updates report reports study studies research example examples
    pros cons price prices cost costs value quality performance design size weight color colour type
    types kind category part parts section chapter figure table image photo video file document name
    names title date time day week month year place places city town country state world region home
    way ways reason reasons problem problems issue issues idea ideas topic topics subject term terms
    word words number numbers group team member members event events conference conferences meeting
    project projects system device devices tool tools app apps software hardware series set range
    line lot lots bit best better top new old good great latest more other others most many
    advertisement sitemap imprint disclaimer homepage navigation newsletter unsubscribe menu footer
    header sidebar gallery comments careers faq faqs archives categories tags captcha
    references coupons some all any every each both first second last next previous key main general
    overall verdict rating ratings score scores comparison offer deal deals warranty shipping today
    """)
_FAINT: Final = word_set("""
    last first second next good great old new line lot bit day time year place world home way men
    man woman women people person guy guys us them it best better top set town country main key
    """)  # also words of titles: "The Last of Us", "The Good Place"
_JOINERS: Final = frozenset("\u200c\u200d")  # they join letters and emoji
_COLOUR: Final = re.compile(r"\[\d{1,3}(?:;\d{1,3})*m")  # of a terminal, its first sign taken out


def _whole(*patterns: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda name: any(pattern.fullmatch(name) for pattern in patterns)


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda name: pattern.match(name) is not None


def structural_problem(name: str) -> str | None:
    """Say why a text cannot be the name of an entity; None where nothing speaks against it.

    What seed 003 lists and what was learned since (`_CHECKS`, `_MEANT`).
    """
    written = name.strip()
    for reason, finds, _ in _CHECKS:
        if finds(written):
            return reason
    canonical = entity_name(name)
    if not any(unicodedata.category(char)[0] == "L" for char in canonical):
        return "it has no letter: a number or a sign is no name"
    for reason, finds in _MEANT:
        if finds(canonical):
            return reason
    return None


def command_problem(name: str) -> str | None:
    """Say why a name that a person typed after a command cannot be one; None where it can.

    Whoever types `/like 1984` or `/like The Who` means a thing: only what is no name in any
    reading is refused.
    """
    written = name.strip()
    if not entity_name(written):
        return _CHECKS[0][0]
    for reason, finds, of_typed in _CHECKS:
        if of_typed and finds(written):
            return reason
    return None


def _too_many_words(name: str) -> bool:
    return len(name.split()) > policy.NAME_WORDS


def _is_artifact(name: str) -> bool:
    low = name.casefold()
    return any(sign in low for sign in policy.NAME_ARTIFACTS) or any(
        pattern.search(low) is not None for pattern in (_SLOT, _MARKUP)
    )


def _is_hidden(name: str) -> bool:
    """Say whether a text steers a terminal or its own direction, or hides a part of itself."""
    return _COLOUR.search(name) is not None or any(
        char not in _JOINERS and unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
        for char in name
    )


_ABBREVIATED: Final = re.compile(r"(?:\b\w{1,4}|\b(?:\w\.)+)\.$")
_ASKING: Final = word_set("""
    what what's how which why when where who is are do does did can could should would will
    """)


def _is_spoken(name: str) -> bool:
    """Say whether a text speaks to somebody, or is a model's word about its own answer."""
    words = name.casefold().replace("’", "'").split()
    if _ANSWERED.match(name) and len(words) > 1:
        return True
    if len(words) < 4 or _is_headline(name):
        return False
    if ends_asking(name):
        return words[0] in _ASKING
    if name.endswith((".", "!")):
        return _ABBREVIATED.search(name) is None
    return name.endswith((";", ":"))


def _is_headline(name: str) -> bool:
    weighty = [word for word in name.split() if not is_function_word(word.casefold())]
    words = weighty or name.split()
    return all(word[:1].isupper() or not word[:1].isalpha() for word in words)


def _is_amount(name: str) -> bool:
    words = [word.strip("(),.") for word in re.split(r"[\s,]+|(?<=\w)-(?=\w)", name)]
    if len(words) > 1 and words[0] in _LEADING:
        words = words[1:]
    if all(map(_NUMERAL.fullmatch, words)):
        return True
    return all(
        word in _COUNTED or is_calendar_word(word) or _FIGURE.fullmatch(word) for word in words
    )


def _is_generic(name: str) -> bool:
    """Say whether no word of a name names anything: "the best products", "more details".

    Titles are made of such words too ("The Last of Us"): three and more need one that only a page
    about things uses.
    """
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)?", name)
    if all(is_greeting(word) or is_function_word(word) for word in words) and (
        is_greeting(words[0]) if words else True
    ):
        return True
    single = len(words) == 1 or words[0] == "the"  # "cookies" and "The Menu" name something
    nothing = _GENERIC if single else _GENERIC | _PAGE
    if not all(word in nothing or is_function_word(word) or word.isdigit() for word in words):
        return False
    return (
        len(words) < 3
        or any(word in nothing and word not in _FAINT for word in words)
        or (all(map(is_function_word, words)) and not any(word in _BEING for word in words))
    )


_BEING: Final = frozenset(("is", "are", "was", "were", "be"))  # "This Is Us"


def _is_fragment(name: str) -> bool:
    words = name.split()
    if words[-1] == "a" and len(words) == 2:
        return False  # Plan A, Vitamin A
    return len(words) > 1 and (words[-1] in _ENDS or words[0] in _BEGINS)


def _is_letter(name: str) -> bool:
    return len(name) == 1 and unicodedata.category(name) in ("Ll", "Lu", "Lt")


def _is_clause(name: str) -> bool:
    """Say whether a text says something instead of naming it: "it is the best one"."""
    words = name.casefold().replace("’", "'").split()
    return (
        len(words) > 3
        and words[0] in _SUBJECTS
        and all(map(is_everyday, words))
        and not _is_headline(name)
    )


_SUBJECTS: Final = word_set("""
    i we you he she it they this that these those there who which i'm it's that's there's
    """)

_CHECKS: Final[Sequence[tuple[str, Callable[[str], bool], bool]]] = (
    ("it is empty", lambda name: not name, False),
    ("it holds a line break", lambda name: "\n" in name or "\r" in name, True),
    (f"it has more than {policy.NAME_WORDS} words", _too_many_words, True),
    ("it is longer than a name", lambda name: len(name) > NAME_CHARS, True),
    ("it holds what a model wrote around its answer", _is_artifact, True),
    ("it is an item of a list", _matches(_LIST_ITEM), False),
    ("it holds an address", lambda name: any(p.search(name) for p in (_URL, _MAIL)), True),
    ("it holds Markdown", lambda name: _MARKDOWN.search(name) is not None, True),
    ("it holds signs that cannot be seen", _is_hidden, True),
    ("it is a label, not a name", _matches(_LABELLED), False),
    ("it is a command", _matches(_COMMAND), False),
    ("it is code", lambda name: _CODE.search(name) is not None, False),
    ("it is a sentence", _is_spoken, False),
    ("it is a clause", _is_clause, False),
)
"""Asked of a name as it was written; the first that finds something gives the reason.

The last field says whether the reason holds for what a person typed as well.
"""

_MEANT: Final[Sequence[tuple[str, Callable[[str], bool]]]] = (
    ("it is one letter", _is_letter),
    ("it is a placeholder", lambda name: name in _PLACEHOLDER),
    ("it is an address of a machine or a digest", _whole(_ADDRESS, _DIGEST)),
    ("it holds a number by which somebody is reached or paid", has_figures),
    ("it is a number, a measure or a date", _is_amount),
    ("it is a place", is_place),
    ("it is what a web page says of itself", _whole(_FURNITURE)),
    ("it names nothing in particular", _is_generic),
    ("it is a part of a sentence", _is_fragment),
)
"""Asked of its canonical form."""
