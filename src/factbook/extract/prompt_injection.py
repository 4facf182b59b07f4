"""Find what a text of others holds that is no statement: orders, forgeries, advertising, disguises.

Knows: the marks of text that was written for a program instead of a reader (instructions, forged
turns, commands, memory blocks, hidden letters), and the furniture of pages (cookie banners, menus,
advertisements). Does not know: entities, facts, or whether anything is true.

This is the second line. The first is that `world` takes a sentence only for what it says of a thing
that its owner knows, and that no text of a search can emit anything else; so a trick that is
missing here still changes nothing. What is found is looked for in the text as a reader sees it:
letters that are invisible are left out, and look-alikes are read as what they look like.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from factbook.extract.line_wrapping import unwrapped
from factbook.net import cancel

__all__ = ["Taint", "TaintKind", "hostile", "is_tainted_document", "steers", "taint", "touching"]

_READ_CHARS: Final = 100_000  # ours: of one text; a result of a search has far fewer
_SENTENCE_CHARS: Final = 600  # ours: as far as an order reaches that has no end


class TaintKind(StrEnum):
    """Say what a piece of text is, where it is no statement."""

    INSTRUCTION = "instruction"  # it tells a program what to do
    COMMAND = "command"  # a command, a call of a tool, an operation
    SPEECH = "speech"  # it plays a turn of somebody
    MEMORY = "memory"  # it plays a block of memory or context
    HIDDEN = "hidden"  # written so that a reader does not see it
    PROMOTION = "promotion"  # it sells
    BOILERPLATE = "boilerplate"  # furniture of a page


_SETS_ASIDE: Final = "it sets aside what a program was told"
_GIVES_AWAY: Final = "it gives secrets away"
_HARMLESS: Final = frozenset({TaintKind.PROMOTION, TaintKind.BOILERPLATE})


class Taint(NamedTuple):
    """A piece of a text that is not to be believed; `start` and `end` are its place."""

    start: int
    end: int
    why: str  # in words
    kind: TaintKind


def hostile(piece: Taint) -> bool:
    """Tell whether a taint was written to steer a program, and not only to sell or to navigate."""
    return piece.kind not in _HARMLESS


def steers(text: str, *, own: bool) -> Taint | None:
    """Return what in a line of rules for programs turns them against their owner; None for nothing.

    Such a line speaks to a program by right. In a file of one's `own` only what sets aside what was
    said before, gives secrets away or is hidden counts; in somebody's all that is hostile does.
    """
    worst = (_SETS_ASIDE, _GIVES_AWAY)
    found = (piece for piece in taint(text) if hostile(piece))
    return next((p for p in found if not own or p.why in worst or p.kind is TaintKind.HIDDEN), None)


def touching(taints: Sequence[Taint], start: int, end: int) -> Taint | None:
    """Return what of a text is no statement and touches a place, what is hostile first."""
    touched = [piece for piece in taints if piece.start < end and start < piece.end]
    return max(touched, key=hostile, default=None)


def is_tainted_document(text: str) -> bool:
    """Tell whether a text holds anything hostile: then no name that it pushes is believed."""
    return any(hostile(piece) for piece in taint(text))


@lru_cache(maxsize=64)
def taint(text: str) -> tuple[Taint, ...]:
    """Return what of a text is no statement, in order; pieces may overlap.

    A forged turn and a forged block reach to the end of their paragraph, an instruction that ends
    in a colon takes along what it announces, any other one ends with its sentence, and anything
    else where its words end: a sentence that one of them touches is not to be used.
    """
    text = text[:_READ_CHARS]
    plain, places = _as_seen(text)
    taints = [*_hidden(text), *_matches(text, plain, places)]
    cancel.check()
    joined = unwrapped(text)
    if joined != text:  # an order that goes on in the next line is one all the same
        taints += _matches(joined, *_as_seen(joined))
    cancel.check()
    taints += _encoded(text)
    return tuple(sorted(set(taints)))


# --- the text as it is seen -----------------------------------------------------------------------

# Letters of other alphabets that look like Latin ones; Greek small letters stand in formulas and
# are left alone.
_CYRILLIC: Final = dict(zip("аеорсухіјѕһԁԛԝьАВЕКМНОРСТУХІЈЅ", "aeopcyxijshdqwbABEKMHOPCTYXIJS", strict=True))  # fmt: skip # noqa: E501
_GREEK: Final = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo", strict=True))
_LOOKALIKES: Final = {**_CYRILLIC, **_GREEK}
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)
# Letters without a form, but for those that make the black flag the flag of a region.
_UNSEEN: Final = (
    (
        re.compile("(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007e]+"),
        "it holds invisible letters",
    ),
    (re.compile("[\u202d\u202e]"), "its direction of writing is turned round"),
    (
        re.compile(r"(?<=[A-Za-z])[\u200b\u2060\u2062-\u2064\ufeff]+(?=[A-Za-z])"),
        "a word is broken by invisible characters",
    ),
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_SPELLED: Final = re.compile(r"(?<!\w)(?:[a-z][ ._\-]{1,3}){5,}[a-z](?!\w)", re.IGNORECASE)


def _as_seen(text: str) -> tuple[str, list[int] | None]:
    """Return a text in lower case as a reader sees it, and where each letter stands in the text."""
    if text.isascii():
        return text.lower(), None
    letters: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text):
        if character.isascii():
            letters.append(character.lower())
            places.append(at)
            continue
        if _INVISIBLE.match(character):
            continue
        seen = _LOOKALIKES.get(character) or unicodedata.normalize("NFKC", character)
        for letter in seen.lower():
            letters.append("'" if letter in "‘’" else '"' if letter in "“”" else letter)
            places.append(at)
    return "".join(letters), places


def _hidden(text: str) -> Iterator[Taint]:
    """Find disguises: what is invisible, turned round, spelled out, or of another alphabet."""
    kind = TaintKind.HIDDEN
    for match in _SPELLED.finditer(text):
        yield Taint(match.start(), match.end(), "words are spelled out letter by letter", kind)
    if text.isascii():
        return
    for pattern, why in _UNSEEN:
        for match in pattern.finditer(text):
            yield Taint(match.start(), match.end(), why, kind)
    for match in _WORD.finditer(text):
        word = match[0]
        if word.isascii():
            continue
        alike = sum(character in _LOOKALIKES for character in word)
        if alike and any(character.isascii() for character in word):
            why = "letters of another alphabet stand in for Latin ones"
            yield Taint(match.start(), match.end(), why, kind)


# --- what is written to be decoded ----------------------------------------------------------------

_BASE64: Final = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{32,}={0,2}(?![\w+/=-])")
_READABLE: Final = re.compile(rb"(?:[A-Za-z]+[\t\n\r -@\[-`{-~]+){3,}[A-Za-z]*")


def _encoded(text: str) -> Iterator[Taint]:
    """Find text that is written in a code."""
    for match in _BASE64.finditer(text):
        blob = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            decoded = base64.b64decode(blob + "=" * (-len(blob) % 4), validate=True)
        except binascii.Error:
            continue
        if _READABLE.fullmatch(decoded):
            yield Taint(match.start(), match.end(), "it hides text in base64", TaintKind.HIDDEN)


# --- what it says ---------------------------------------------------------------------------------

_MODEL: Final = (
    r"(?:ais?|llms?|(?:large )?language models?|(?:ai |virtual |digital )?assistants?|chat ?bots?"
    r"|bots?|agents?|models?|crawlers?|summari[sz]ers?|gpt|chatgpt|claude|gemini|copilot)"
)
_ORDERS: Final = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions?|orders?|commands?|constraints?"
    r"|polic(?:y|ies)|restrictions?|programming|training)"
)
_STORE: Final = (
    r"(?:add|save|store|record|remember|memori[sz]e|insert|register|create|log|note|write|put|keep"
    r"|file|enter|append|list|mark|treat|set|update|delete|remove|erase|overwrite|forget)"
)
_OWN: Final = (
    r"(?:(?:long[- ]?term )?memor(?:y|ies)|knowledge (?:base|store|graph)|entit(?:y|ies)"
    r"|preferences?|favou?rites?|interests?|(?:user|owner)(?:'s)? (?:profile|data)|factbook)"
)
_PERSON: Final = (
    r"(?:user|owner|human|operator|reader|person you are (?:talking|speaking) (?:to|with))"
)
_GIVEN_AWAY: Final = (
    r"(?:api keys?|passwords?|credentials|secrets?|tokens?|chat history|memor(?:y|ies)"
    r"|system prompt|private)"
)
_CLOSE: Final = r"[^.!?\n]{0,80}?"


class _Rule(NamedTuple):
    kind: TaintKind
    why: str
    pattern: str  # of the text in lower case
    reach: str = ""  # "block": to the end of the paragraph


# A pattern that begins with a line must not run over its end: "^" matches again behind it, so that
# a text of many empty lines would be read to its end from each of them.
_RULES: Final[tuple[_Rule, ...]] = (
    _Rule(
        TaintKind.INSTRUCTION,
        _SETS_ASIDE,
        rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?"
        rf"|discard|do not (?:follow|obey)|stop (?:following|obeying))\b{_CLOSE}\b(?:{_ORDERS}"
        r"|what (?:you|was|were)|everything|other results|(?:the|any|all) (?:above|previous|text)"
        r"|context)\b"
        r"|\b(?:ignor(?:iere|a|ez)|vergiss|missachte|olvida|oubliez?|dimentica|speichere|guarda"
        r"|enregistrez?)\b[^.!?\n]{0,60}\b(?:anweisungen?|instru\w+|istruzioni|reg(?:eln|las|les)"
        r"|consignes|ged[aä]chtnis|memoria|m[eé]moire)\b",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        "it speaks to a program",
        rf"\b(?:note|message|instructions?|attention|notice|dear|hello|hey|warning|memo)\W+"
        rf"(?:to |for )?(?:all |any |the |every )?{_MODEL}\b|^[^\w\n]*{_MODEL}\s*[,:]\s"
        rf"|\b(?:if|as|since|because|act as|acting as|you are(?: now)?)(?: you(?:'re| are))? an? "
        rf"(?:ai|llm|(?:large )?language model|(?:ai )?assistant|chat ?bot)\b"
        rf"|\b(?:any|every|all|each) (?:{_MODEL} (?:that|which|who|reading|processing|must|should)"
        r"|(?:ai |virtual )?(?:assistants?|chat ?bots?|llms?|ais|language models?))\b"
        rf"|\b{_MODEL} (?:that |which |who )?(?:must|should|(?:has|have|needs?) to|(?:is|are) "
        r"(?:required|instructed|told|expected) to)\b",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        "it gives a program orders",
        r"\byou are now\b|\bfrom now on\b[^.!?\n]{0,40}\b(?:you|your|always|only|recommend|treat"
        r"|answer|reply|say|call)\b|\b(?:new|real|actual|true) (?:instructions?|task|goal|orders?)"
        r"\b\W*(?:is|are|:)|\byour (?:new |real |actual |only )?(?:task|goal|mission|instructions?"
        r"|role|job) (?:is|are|now)\b|\b(?:your|system) (?:override|prompt|instructions?)\b"
        r"|\b(?:developer|debug|admin|god|dan|jailbreak) mode\b",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        "it orders how to answer",
        r"\b(?:when|while|before|after|whenever|if|once) (?:you (?:are )?)?(?:summari[sz]\w+"
        r"|answer\w*|asked|repl(?:y|ying)|respond\w*|process\w*|read(?:ing)? this|cit(?:e|ing))\b"
        r"[^.!?\n]{0,60}?[,:]?\s*(?:always |please |then |only )?(?:state|say|answer|reply"
        r"|recommend|mention|call|list|include|tell|add|claim|output|respond)\b"
        r"|\b(?:do not|don't|never|without) (?:tell|inform|mention|reveal|warn|show)(?:ing)?"
        rf"[^.!?\n]{{0,40}}\b{_PERSON}s?\b|\b(?:call|use|invoke|run|execute) (?:the |your |a )?"
        r"(?:\w+ )?(?:tool|function|command|plugin|action|api|script)\b|\brun the following\b"
        r"|\b(?:respond|reply|answer) (?:only )?with (?:only |exactly |the (?:word|text)|\")",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        _GIVES_AWAY,
        r"(?<!never )(?<!not )(?<!n't )\b(?:send|post|upload|forward|e-?mail|exfiltrate|leak|copy"
        r"|share|disclose)\b(?:[^.!?\n]{0,60}?(?:(?:~|\$home|/root|/home/\w+)?/\.(?:ssh|aws|gnupg"
        r"|kube|netrc|config/gcloud)\b|\bid_(?:rsa|ed25519)\b|\bprivate keys?\b)"
        rf"|(?: (?:me|us|all|the|any|your|its|their))* {_GIVEN_AWAY}\b)",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        "it asks for something to be remembered",
        rf"\b{_STORE}\b{_CLOSE}\b(?:to|in|into|among|under|as|on|from|with) "
        rf"(?:(?:your|the|my|its|a|an|our|their|new|known|user(?:'s)?|owner(?:'s)?) )*(?:\w+ )?"
        rf"{_OWN}\b|\b{_STORE}\b(?: an?| the| new| this| following| known| your)* (?:entity"
        r"|entities|preferences?|engagements?|memory|memories|favou?rites?)\b"
        r"|\b(?:please|kindly|always|and|now|must|permanently) remember\b|\bremember th(?:at|is)\b"
        r"|\b(?:update )?your (?:long[- ]?term )?(?:memor(?:y|ies)|knowledge|beliefs)\b",
    ),
    _Rule(
        TaintKind.SPEECH,
        "it says what its owner wants",
        rf"\b(?:(?:the|this|your|our) )?{_PERSON}s?(?: has| have| is| really| also| just| now)*\s+"
        r"(?:likes?|loved?|loves|adores?|prefers?|hates?|dislikes?|enjoys?|wants?|asks?|asked|said"
        r"|says|tells?|told|requests?|requested|engaged|interested|confirm\w*|approv\w*|decided)\b"
        rf"|\b(?:(?:is|by) (?:the|your|their)|(?:confirm|approv|lov)ed by) {_PERSON}\b"
        rf"|\bconversation (?:so far|history)\b",
    ),
    _Rule(
        TaintKind.SPEECH,
        "it plays a turn of a conversation",
        r"^[ \t>#*_\[(<\-|]*(?:users?|human|assistant|owner|me|you|ai|chatbot|model|prompt|user "
        r"(?:message|request|input|query|prompt))(?: ?\d)?[*_\])]*[ \t]*(?:says?|said|asks?|wrote)?"
        r"[*_]*[ \t]*(?::|>>|->|=>)|(?<=[.!?])[\"')]?[ \t]+(?:user|human|assistant)[ \t]*:"
        r"|^[ \t>*_-]*#{1,6}[ \t]*(?:users?|human|assistant|system|instructions?|prompt|owner)\W*$"
        r"|<\|?/?(?:im_start|im_end|system|user|assistant|human|developer|endoftext|eot_id"
        r"|start_header_id|end_header_id|instructions?|prompt|important|admin|message|turn"
        r"|start_of_turn|end_of_turn)\b[^>\n]*>|\[/?(?:inst|sys|system|user|assistant)\]|<</?sys>>"
        r"|[\"']role[\"']\s*:\s*[\"']|\b(?:end|begin(?:ning)?) of (?:search )?(?:results?"
        r"|documents?|context|conversation|page|input|(?:system )?prompt|instructions?)\b"
        r"|^[ \t*_\[]*system[*_\]]*[ \t]*:"
        r"[^\n]*\b(?:you|your|user|owner|ignore|must|memory|instruction\w*|assistant|entit\w+)\b",
        "block",
    ),
    _Rule(
        TaintKind.MEMORY,
        "it plays a block of memory",
        r"</?(?:factbook|memory|memories|context|facts?|entit(?:y|ies)|knowledge|search_?results?"
        r"|results?|documents?|tool_?results?)\b[\w-]*[^>\n]*>"
        r"|\[/?(?:memory|memories|context|facts?|knowledge|entities)\]"
        r"|^[ \t#>*_-]*(?:(?:long[- ]?term |stored |saved )?memor(?:y|ies)|known (?:entities|facts)"
        r"|(?:user|owner) (?:profile|preferences|interests)|entity|entities|preferences?)\b[*_]*"
        r"[ \t]*(?::|$)|\bvalence[\"']?\s*[:=]|\b(?:like|dislike|learn)_command\b"
        r"|\bfact #\d|\bowner interest\b|\bexplicit_statement\b|\bsearch_initiated\b"
        r"|\bknown entit(?:y|ies)\b",
        "block",
    ),
    _Rule(
        TaintKind.COMMAND,
        "it holds a command",
        r"(?<![\w/.:~\-])[/!](?:learn|like|unlike|dislike|undislike|memory|interests?|schedule|mute"
        r"|unmute|why|forget|erase|remember|save|add|delete|clear|reset|tell|pin)(?![\w/.\-])"
        r"|^[ \t>$`]*/[a-z]{3,}[ \t]+\S"
        r"|<\|?/?(?:\w+:)?(?:tool_?calls?|function_?calls?|invoke|parameter|tool|function|antml)\b"
        r"[^>\n]*>|[\"'](?:op|ops|tool|tools|function|arguments|entities|entity|facts|preferences"
        r"|valence|engagement|action)[\"']\s*:"
        r"|\b\w*(?:entity|entities|preference|engagement|memory|memories|fact|interest)s?\s*\("
        r"|\b(?:remember|learn|like|store|save|search\w*|create\w*|set_\w+)\((?=[^)\n]*[='\"])"
        r"|\b(?:insert\s+into|delete\s+from|drop\s+table|update\s+\w+\s+set)\b[^.\n]*[('=;*]",
    ),
    _Rule(
        TaintKind.HIDDEN,
        "it is written so that a reader does not see it",
        r"\b(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d])"
        r"|font-size\s*:\s*0|text-indent\s*:\s*-\d{3,}"
        r"|color\s*:\s*(?:white|#f{3}(?:f{3})?|transparent))\b[^\n]*"
        r"|<!--(?:(?!<!--)[^\n])*?(?:assistant|ai\b|model|user|owner|memory|entity|ignore"
        r"|instruction|save|store)[^\n]*?(?:-->|$)|aria-hidden=[^\n]*|\bdata:text/[^\n]*",
    ),
    # A comment without an end hides all that follows, as a browser has it.
    _Rule(
        TaintKind.BOILERPLATE,
        "it is markup",
        r"<!--.*?(?:-->|\Z)|</?[a-z][a-z0-9-]*(?: [^<>\n]*)?/?>",
    ),
    _Rule(
        TaintKind.PROMOTION,
        "it sells",
        r"^[^\w\n]*(?:sponsored|advertisement|anzeige|promoted|ad)\b|\bsponsored (?:content|posts?"
        r"|links?)\b|\baffiliate (?:links?|commission|program)|\b(?:promo|coupon"
        r"|discount|with the) code\b|\b\d{1,2} ?% (?:off|discount)\b|\bsave (?:up to )?[$€£\d]"
        r"|\bfree (?:shipping|delivery|trial|returns)\b|\b(?:order|buy|shop|act|call"
        r"|book) (?:it )?(?:now|today)\b"
        r"|\blimited[- ]time\b|\badd to (?:cart|basket|bag)\b|\b(?:best|lowest) (?:prices?"
        r"|deals?|offers?)\b|\bdon't miss\b|\bin stock\b|\bclick here\b|\bonly [$€£]\d|\bsign up\b"
        r"|\bmust[- ]have\b|\bmoney can buy\b",
    ),
    _Rule(
        TaintKind.BOILERPLATE,
        "it is furniture of a page",
        r"\b(?:use|uses|using|accept|accept all) cookies\b|\bcookie (?:policy|settings|notice)\b"
        r"|\ball rights reserved\b|(?:©|\(c\)|\bcopyright) ?\d{4}|\bprivacy policy\b|\bterms (?:of "
        r"(?:service|use)|and conditions)\b|\bskip to (?:main |the )?(?:content|navigation)\b"
        r"|\b(?:log|sign) in (?:to|or|with)\b|\bsubscribe\b[^.\n]{0,60}\b(?:newsletter|now|today"
        r"|updates|channel)\b|\b(?:share|follow us) on\b|^[^\w\n]*(?:read|learn|show|see) more\b"
        r"|\brelated (?:articles|posts|stories)\b|\bback to top\b|\bleave a (?:comment|reply)\b"
        r"|^[^\w\n]*(?:last )?(?:updated|posted|published) (?:on|by|at)\b"
        r"|^[^\n.]{1,24}(?: [|›»·•] [^\n|›»·•.]{1,24}){2,}$",
    ),
)

# The words that at least one hit of a rule holds are many; a text without any of these letters is
# rare, so the rules are simply all tried.
_COMPILED: Final = tuple(
    (rule, re.compile(rule.pattern, re.MULTILINE | (re.DOTALL if "<!--.*?" in rule.pattern else 0)))
    for rule in _RULES
)
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")
_OPENED: Final = re.compile(r"[<\[]\|?(?P<name>[a-z][\w-]*)")
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s|$)|\n[ \t]*(?=\n|[-*+•#|]|\d+[.)]|$)|$")
_REST_OF_LINE: Final = re.compile(r"[^\n.!?]*:[ \t]*(?:\n|$)")


def _matches(text: str, plain: str, places: list[int] | None) -> Iterator[Taint]:
    for rule, pattern in _COMPILED:
        cancel.check()
        for hit in pattern.finditer(plain):
            cancel.check()
            if hit.end() == hit.start():
                continue
            start, end = hit.span()
            if rule.reach == "block" or (
                rule.kind not in _HARMLESS and _REST_OF_LINE.match(plain, end)
            ):
                end = _block_end(plain, start, end)
            elif rule.kind in (TaintKind.INSTRUCTION, TaintKind.SPEECH):
                end = _sentence_end(plain, end)
            if places is None:
                yield Taint(start, end, rule.why, rule.kind)
            else:
                yield Taint(places[start], places[end - 1] + 1, rule.why, rule.kind)


def _sentence_end(plain: str, end: int) -> int:
    """Return where an order ends: with its sentence, over the breaks of its lines."""
    if plain[end - 1] in ".!?\n":
        return end
    limit = min(len(plain), end + _SENTENCE_CHARS)
    match = _SENTENCE_END.search(plain, end, limit)
    return match.start() if match else limit


def _block_end(plain: str, start: int, end: int) -> int:
    """Return where a forged block ends: at its closing mark, or with its paragraph.

    Where the paragraph only announces it ("User:", a heading), with the next one.
    """
    opened = _OPENED.match(plain, start)
    if opened:
        closing = re.search(rf"[<\[]\|?/{re.escape(opened['name'])}\b[^>\]\n]*[>\]]", plain[end:])
        if closing:
            return end + closing.end()
    match = _PARAGRAPH_END.search(plain, end)
    if match is None:
        return len(plain)
    said = plain[start : match.start()].rstrip(" \t*_")
    if said.endswith((":", ">>", "->")) or (
        said.lstrip(" \t>*_-").startswith("#") and "\n" not in said
    ):
        following = _PARAGRAPH_END.search(plain, match.end())
        return following.start() if following else len(plain)
    return match.start()
