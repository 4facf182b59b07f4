"""Find what a text of others holds that is no statement: orders, forgeries, advertising, disguises.

This is the second line: `world` takes a sentence only for what it says of a known thing, so a trick
that is missing here still changes nothing. The text is read as its reader sees it: without
invisible letters, look-alikes as what they look like.
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
from urllib.parse import unquote_to_bytes

from factbook.extract.line_wrapping import unwrapped
from factbook.net import cancel

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


# Letters of other alphabets that look like Latin ones; Greek small letters stand in formulas and
# are left alone.
_CYRILLIC: Final = dict(zip("аеорсухіјѕһԁԛԝьАВЕКМНОРСТУХІЈЅ", "aeopcyxijshdqwbABEKMHOPCTYXIJS", strict=True))  # fmt: skip # noqa: E501
_GREEK: Final = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo", strict=True))
_ARMENIAN: Final = {"օ": "o", "ս": "u", "հ": "h", "ո": "n"}
_LOOKALIKES: Final = {**_CYRILLIC, **_GREEK, **_ARMENIAN}
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]+")
_FLAG: Final = "\U0001f3f4"  # the black flag, which tags make the flag of a region
_TURNED: Final = re.compile("[\u202d\u202e]")
_INSIDE: Final = re.compile(r"(?<=[A-Za-z])[\u200b\u2060\u2062-\u2064\ufeff]+(?=[A-Za-z])")
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
        yield Taint(*match.span(), "words are spelled out letter by letter", kind)
    if text.isascii():
        return
    for match in _TAGS.finditer(text):
        if text[match.start() - 1 : match.start()] != _FLAG:
            yield Taint(*match.span(), "it holds invisible letters", kind)
    for pattern, why in (
        (_TURNED, "its direction of writing is turned round"),
        (_INSIDE, "a word is broken by invisible characters"),
    ):
        for match in pattern.finditer(text):
            yield Taint(*match.span(), why, kind)
    for match in _WORD.finditer(text):
        word = match[0]
        if word.isascii():
            continue
        alike = sum(character in _LOOKALIKES for character in word)
        if alike and any(character.isascii() for character in word):
            why = "letters of another alphabet stand in for Latin ones"
            yield Taint(*match.span(), why, kind)


_BASE64: Final = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{32,}={0,2}(?![\w+/=-])")
_HEX: Final = re.compile(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){24,}(?![0-9a-fA-F])")
_ESCAPED: Final = re.compile(
    r"(?:%[0-9a-fA-F]{2}){6,}|(?:\\x[0-9a-fA-F]{2}|\\u00[0-9a-fA-F]{2}){6,}"
    r"|(?:&#x?[0-9a-fA-F]{2,4};){6,}"
)
_READABLE: Final = re.compile(rb"[\t\n\r -~]+")
_BLOB: Final = 60  # a run of letters and digits this long is no word in any text


def _encoded(text: str) -> Iterator[Taint]:
    """Find text that is written in a code; a code that is no text is only no sentence."""
    for match in _BASE64.finditer(text):
        blob = match[0]
        decoded = _from_base64(blob)
        if decoded and _is_text(decoded):
            yield Taint(*match.span(), "it hides text in base64", TaintKind.HIDDEN)
        elif len(blob) >= _BLOB and "/" not in blob[:2]:
            yield Taint(*match.span(), "it is data", TaintKind.BOILERPLATE)
    cancel.check()
    for match in _HEX.finditer(text):
        if _is_text(bytes.fromhex(match[0])):
            yield Taint(*match.span(), "it hides text in hexadecimal", TaintKind.HIDDEN)
    cancel.check()
    for match in _ESCAPED.finditer(text):
        if _is_text(_unescaped(match[0])):
            yield Taint(*match.span(), "it hides text in escapes", TaintKind.HIDDEN)


def _from_base64(blob: str) -> bytes:
    padded = blob.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True)
    except binascii.Error:
        return b""


def _is_text(data: bytes) -> bool:
    words = data.split()
    return (
        bool(_READABLE.fullmatch(data))
        and sum(97 <= byte <= 122 or 65 <= byte <= 90 or byte == 32 for byte in data)
        > 0.8 * len(data)
        and (len(words) > 2 or len(data) < 16)
    )


def _unescaped(text: str) -> bytes:
    if text.startswith("%"):
        return unquote_to_bytes(text)
    if text.startswith("&"):
        codes = [part[2:] for part in text.split(";") if part]
        values = [
            int(code[1:], 16) if code[:1] == "x" else int(code)
            for code in codes
            if code[:1] == "x" or code.isdigit()
        ]
        return bytes(value for value in values if value < 256)
    digits = re.findall(r"\\(?:x|u00)([0-9a-fA-F]{2})", text)
    return bytes.fromhex("".join(digits))


_MODEL: Final = (
    r"(?:ais?|a\.i\.|llms?|(?:large )?language models?|(?:ai |chat ?|virtual |digital )?assistants?"
    r"|chat ?bots?|bots?|agents?|models?|crawlers?|summari[sz]ers?|gpt|chatgpt|claude|gemini"
    r"|copilot)"
)
_ORDERS: Final = r"(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|orders?|commands?|constraints?|polic(?:y|ies)|restrictions?|safety settings|programming|training)"  # noqa: E501
_STORE: Final = (
    r"(?:add|save|store|record|remember|memori[sz]e|insert|register|create|commit|log|persist|note"
    r"|write|put|keep|file|index|enter|append|include|list|place|mark|treat|set|update|delete"
    r"|remove|erase|replace|overwrite|forget)"
)
_OWN: Final = (
    r"(?:(?:long[- ]?term |short[- ]?term |working )?memor(?:y|ies)|knowledge (?:base|store|graph)"
    r"|entit(?:y|ies)|preferences?|favou?rites?|(?:topics? of )?interests?|(?:user|owner)(?:'s)? "
    r"(?:profile|data|preferences?|interests?|memory)|facts? (?:store|base|list)|factbook)"
)
_PERSON: Final = (
    r"(?:user|owner|human|person you are (?:talking|speaking|chatting) (?:to|with)|operator|reader)"
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
        rf"|discard|drop|neglect|abandon|do not (?:follow|obey)|stop (?:following|obeying))\b"
        rf"{_CLOSE}\b(?:{_ORDERS}|what (?:you|was|were)|everything|other results|all (?:the )?text"
        r"|(?:the|any|all) (?:above|previous|text (?:above|before))|context)\b",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        _SETS_ASIDE,
        r"\b(?:ignor(?:iere|a|ez|ieren sie)|vergiss|vergessen sie|missachte|olvida|oubliez?|omite"
        r"|dimentica|negeer|esque[cç]a)\b[^.!?\n]{0,60}\b(?:anweisungen?|instru\w+|istruzioni"
        r"|befehle?|vorgaben|reg(?:eln|las|les|ole|els)|indicaciones|consignes)\b"
        r"|\b(?:speichere|guarda|enregistrez?|memorizza|salva|onthoud)\b[^.!?\n]{0,60}"
        r"\b(?:ged[aä]chtnis|memoria|m[eé]moire|geheugen|mem[oó]ria)\b",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        "it speaks to a program",
        rf"\b(?:note|message|instructions?|attention|notice|hint|dear|hello|hi|hey|warning|memo)\W+"
        rf"(?:to |for |from )?(?:all |any |the |every )?{_MODEL}\b"
        rf"|^[^\w\n]*{_MODEL}\s*[,:]\s"
        rf"|\b(?:if|as|since|because) you(?:'re| are) an? {_MODEL}\b"
        rf"|\b(?:act(?:ing)? (?:as|like)|pretend(?:ing)? to be|you are(?: now)?) an? "
        rf"(?:\w+ )?{_MODEL}\b|\bas an? (?:ai|llm|(?:large )?language model|(?:ai )?assistant)\b"
        r"|\b(?:any|every|all|each) (?:ai |virtual )?(?:assistants?|chat ?bots?|llms?|ais|language "
        r"models?)\b|\b(?:its|their|all|our|the) readers? (?:to|must|should)\b"
        rf"|\b(?:any|every|all|each) {_MODEL} (?:that|which|who|reading|processing|must|should|has"
        rf"|have|will|shall)\b"
        rf"|\b{_MODEL} (?:that |which |who )?(?:must|should|shall|(?:has|have|needs?) to"
        rf"|(?:is|are) (?:required|instructed|asked|told|expected) to)\b",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        "it gives a program orders",
        r"\byou are now\b|\bfrom now on\b[^.!?\n]{0,40}\b(?:you|your|i|always|only|recommend|treat"
        r"|answer|reply|say|call)\b|\b(?:new|real|actual|true|next) (?:instructions?|task|goal"
        r"|objective|mission|orders?)\b\W*(?:is|are|:)|\byour (?:new |real |actual |next |only )?"
        r"(?:task|goal|objective|mission|instructions?|role|job) (?:is|are|now)\b"
        r"|\byour (?:system )?"
        r"prompt\b|\bsystem (?:override|prompt|message|instructions?|notice)\b|\b(?:developer|debug"
        r"|maintenance|admin|god|dan|jailbreak) mode\b|\bjailbreak\b|\bend of (?:system )?(?:prompt"
        r"|instructions?)\b|\boverride (?:the |all |any |your )?(?:safety|security|system"
        r"|previous)",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        "it orders how to answer",
        r"\b(?:when|while|before|after|whenever|if|once) (?:you (?:are )?)?(?:summari[sz]\w+"
        r"|answer\w*|asked|repl(?:y|ying|ied)|respond\w*|process\w*|read(?:ing)? this|quot(?:e|ing)"
        r"|cit(?:e|ing)|mention\w*)\b[^.!?\n]{0,60}?[,:]?\s*(?:always |please |then |only )?"
        r"(?:state|say|answer|reply|recommend|mention|call|list|write|include|tell|add|insist"
        r"|claim|use|search|output|respond)\b"
        r"|\b(?:do not|don't|never|without) (?:tell|inform|mention|reveal|warn|show|telling"
        rf"|informing|asking|warning)[^.!?\n]{{0,40}}\b{_PERSON}s?\b"
        r"|\bsay nothing (?:about|of)\b|\bi (?:hereby )?authori[sz]e you\b"
        r"|\bas (?:the|an?|your) (?:administrator|admin|developer|operator|owner|creator)\b"
        r"|\b(?:respond|reply|answer) (?:only )?with (?:only |exactly |the (?:word|text|phrase)|\")"
        r"|\bconvince (?:the|your) (?:reader|user|owner)\b"
        r"|\b(?:call|use|invoke|run|execute) (?:the |your |a |any )?(?:\w+ )?(?:tool|function"
        r"|command|plugin|action|api|script|query)\b"
        r"|\brun the following\b|\b(?:send|post|upload|forward|e-?mail|exfiltrate|reveal|print"
        r"|leak|output|disclose) (?:me |us |all |the |any |your |its |their )*(?:api keys?"
        r"|passwords?|credentials|secrets?|tokens?|conversations?|chat history|memor(?:y|ies)"
        r"|system prompt|private)\b",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        _GIVES_AWAY,
        r"(?<!never )(?<!not )(?<!n't )\b(?:send|post|upload|forward|e-?mail|exfiltrate|leak|copy"
        r"|share|disclose)\b[^.!?\n]{0,60}?(?:(?:~|\$home|/root|/home/\w+)?/\.(?:ssh|aws|gnupg|kube"
        r"|netrc|config/gcloud)\b|\bid_(?:rsa|ed25519)\b|\bprivate keys?\b)",
    ),
    _Rule(
        TaintKind.INSTRUCTION,
        "it asks for something to be remembered",
        rf"\b{_STORE}\b{_CLOSE}\b(?:to|in|into|among|under|as|on|from|with) "
        rf"(?:(?:your|the|my|its|a|an|our|their|new|known|user(?:'s)?|owner(?:'s)?) )*(?:\w+ )?"
        rf"{_OWN}\b"
        rf"|\b{_STORE}\b(?: an?| the| new| this| following| known| your)* (?:entity|entities"
        r"|preferences?|engagements?|memory|memories|favou?rites?)\b"
        r"|\bas (?:a |an )?(?:known |new )?(?:entity|preference|liked|topic of interest)\b"
        r"|\b(?:please|kindly|always|and|now|must"
        r"|permanently) (?:permanently )?remember(?: that)?\b"
        r"|\bremember (?:that|this)\b|\bupdate your (?:memor\w+|knowledge|records|facts|beliefs)\b"
        r"|\byour (?:long[- ]?term )?(?:memory|memories|knowledge base)\b|\bthings your owner\b"
        rf"|(?:^|[.!?:;,]\s+|\b(?:and|please|now|you to|to) ){_STORE} [^.!?\n]{{1,60}} "
        r"(?:permanently|in memory|for ever|forever)\b"
        r"|\bstart (?:learning|researching|reading) about\b",
    ),
    _Rule(
        TaintKind.SPEECH,
        "it says what its owner wants",
        rf"\b(?:the|this|your|our) {_PERSON}(?:s)?(?: has| have| had| is| was| really| also| just"
        rf"| now)*\s+(?:likes?|loves?|loved|adores?|prefers?|hates?|dislikes?|enjoys?|wants?|asks?"
        rf"|asked|said|says|tells?|told|requests?|requested|engaged|interested|cares?|confirm\w*"
        rf"|approv\w*|wish\w*|decided)\b|\b{_PERSON} (?:says|said|asks|asked|wrote|tells|told|likes"
        r"|loves|confirms|confirmed)\b|\b(?:is|by) (?:the|your|their) (?:owner|user)(?:'s)? "
        r"(?:new )?(?:favou?rite|preference|choice|wish|hobby)\b"
        r"|\bloved by the (?:user|owner)\b|\bconfirmed by (?:the )?(?:user|owner)\b"
        r"|\bmentioned by the (?:user|owner)\b|\bconversation (?:so far|history)\b"
        r"|\bwhoever reads this\b",
    ),
    _Rule(
        TaintKind.SPEECH,
        "it plays a turn of a conversation",
        r"^[ \t>#*_\[(<\-|]*(?:q(?:uestion)? ?\()?(?:users?|human|assistant|owner|me|you|ai|chatbot"
        r"|model|prompt|user (?:message|request|input|query|prompt))(?: ?\d)?[*_\])]*[ \t]*"
        r"(?:says?|said|asks?|writes?|wrote)?[*_]*[ \t]*(?::|>>|->|=>)"
        r"|(?<=[.!?])[\"')]?[ \t]+(?:user|human|assistant)[ \t]*:",
        "block",
    ),
    _Rule(
        TaintKind.SPEECH,
        "it plays a turn of a conversation",
        r"^[ \t>*_-]*#{1,6}[ \t]*(?:users?|human|assistant|system|instructions?|prompt|input"
        r"|response|owner)\W*$"
        r"|<\|?/?(?:im_start|im_end|system|user|assistant|human|developer|endoftext|eot_id"
        r"|start_header_id|end_header_id|begin_of_text|instructions?|prompt|important|admin"
        r"|message|turn|start_of_turn|end_of_turn)\b[^>\n]*>|\[/?(?:inst|sys|system|user"
        r"|assistant)\]"
        r"|<</?sys>>|[\"']role[\"']\s*:\s*[\"']|\b(?:end|begin(?:ning)?) of (?:search )?(?:results?"
        r"|documents?|context|data|conversation|page|message|input)\b"
        r"|^[ \t*_\[]*system[*_\]]*[ \t]*:"
        r"[^\n]*\b(?:you|your|user|owner|ignore|must|memory|instruction\w*|assistant|entit\w+)\b",
        "block",
    ),
    _Rule(
        TaintKind.MEMORY,
        "it plays a block of memory",
        r"</?(?:factbook|memory|memories|context|facts?|entit(?:y|ies)|knowledge|search_?results?"
        r"|results?|documents?|tool_?results?|data|source)\b[\w-]*[^>\n]*>"
        r"|\[/?(?:memory|memories|context|facts?|knowledge|entities)\]"
        r"|^[ \t#>*_-]*(?:long[- ]?term |short[- ]?term |working |stored |saved )?(?:memor(?:y|ies)"
        r"|remembered|known (?:entities|facts)|previously remembered|memory update|stored facts"
        r"|user (?:profile|preferences|interests)|owner (?:profile|interests?|preferences?)"
        r"|context from memory|entity|entities|preferences?)\b[*_]*[ \t]*(?::|$)"
        r"|\bfact #\d+|\bvalence[\"']?\s*[:=]|\b(?:like|dislike|learn)_command\b"
        r"|\bexplicit_statement\b"
        r"|\bsearch_initiated\b|\(\d+ facts?\)|\b(?:with|,) \d+ facts?\b|\bowner interest\b"
        r"|\bknown entit(?:y|ies)\b|\binterest score\b",
        "block",
    ),
    _Rule(
        TaintKind.COMMAND,
        "it holds a command",
        r"(?<![\w/.:~\-])[/!](?:learn|like|unlike|dislike|undislike|memory|interests?|schedule|mute"
        r"|unmute|why|forget|help|erase|remember|save|add|search|delete|clear|reset|run|tell|set"
        r"|pin)(?![\w/.\-])|^[ \t>$`]*/[a-z]{3,}[ \t]+\S",
    ),
    _Rule(
        TaintKind.BOILERPLATE,
        "it is a line for a shell",
        r"^[ \t>$`]*(?:factbook|curl|wget|sudo|bash|powershell|rm|pip|npm|invoke-webrequest)[ \t]+"
        r"[-\w/]",
    ),
    _Rule(
        TaintKind.COMMAND,
        "it holds a call of a tool",
        r"<\|?/?(?:\w+:)?(?:tool_?calls?|function_?calls?|invoke|parameter|tool|function|antml)\b"
        r"[^>\n]*>|[\"'](?:op|ops|tool|tools|function|arguments|entities|entity|facts|preferences"
        r"|valence|engagement|action|known)[\"']\s*:"
        r"|\b\w*(?:entity|entities|preference|engagement|memory|memories|fact|interest)s?\s*\("
        r"|\b(?:remember|learn|like|store|save|memori[sz]e|search(?:_memory)?|create\w*"
        r"|recordengag\w*"
        r"|assertfact|set_?\w+)\((?=[^)\n]*[='\"])"
        r"|\b(?:insert\s+into|delete\s+from|drop\s+table|update\s+\w+\s+set"
        r"|select\s+.{1,40}\s+from)"
        r"\b[^.\n]*[('=;*]",
    ),
    _Rule(
        TaintKind.HIDDEN,
        "it is written so that a reader does not see it",
        r"\b(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d])"
        r"|font-size\s*:\s*0"
        r"|text-indent\s*:\s*-\d{3,}|color\s*:\s*(?:white|#f{3}(?:f{3})?|transparent))\b[^\n]*"
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
        r"^[^\w\n]*(?:sponsored|advertisement|anzeige|promoted|advertorial|ad)\b"
        r"|(?<=[.!?])\s+(?:sponsored|advertisement|anzeige|promoted|advertorial|ad)[ \t]*:"
        r"|\bsponsored (?:content|posts?|links?|results?|listings?|messages?|articles?)\b"
        r"|\b(?:this|our) (?:\w+ )?(?:is|was) sponsored\b|\bpaid (?:partnership|promotion|post)\b"
        r"|\baffiliate (?:links?|commission|program)|\b(?:promo|coupon|discount|voucher) codes?\b"
        r"|\bwith the code\b|\b\d{1,2} ?% (?:off|discount)\b|\bsave (?:up to )?(?:[$€£]|\d{1,2} ?%)"
        r"|\bfree (?:shipping|delivery|trial|returns|gift)\b|\b(?:order|buy|shop|act|call|book"
        r"|reserve|get yours|try it|join) (?:it )?(?:now|today)\b|\bfor a limited time\b"
        r"|\blimited[- ]time\b|\bwhile (?:stocks?|supplies) lasts?\b|\badd to (?:cart|basket|bag"
        r"|wish ?list)\b|\b(?:best|lowest|today's(?: best)?|unbeatable|great|special) (?:prices?"
        r"|deals?|offers?)\b|\b(?:money[- ]back|lifetime|satisfaction) guarantee\b"
        r"|\bmoney can buy\b|\bdon't miss\b|\bhurry\b|\bin stock\b|\bclick here\b"
        r"|\bwill change (?:your life|everything)\b|\b(?:number one|no\. ?1|#1) choice\b"
        r"|\bfor only [$€£]|\bonly [$€£]\d|\bhalf the price\b|\bsign up\b"
        r"|\beverybody (?:talks|is talking)\b|\bwhere it's at\b|\bmust[- ]have\b",
    ),
    _Rule(
        TaintKind.BOILERPLATE,
        "it is furniture of a page",
        r"\bwe use cookies\b|\b(?:use|uses|using) cookies (?:to|for)\b|\baccept (?:all )?cookies\b"
        r"|\bcookie (?:policy|settings|preferences|consent|notice)\b|\baccept all\b"
        r"|\ball rights reserved\b|(?:©|\(c\)|\bcopyright) ?\d{4}|\bprivacy policy\b"
        r"|\bterms (?:of (?:service|use)|and conditions)\b|\bskip to (?:main |the )?(?:content"
        r"|navigation)\b|\b(?:log|sign) in (?:to|or|with)\b|\bsubscribe\b[^.\n]{0,60}\b"
        r"(?:newsletter|to our|now|today|updates|channel)\b|\bour newsletter\b"
        r"|\b(?:share|follow us|find us) on\b"
        r"|^[^\w\n]*(?:read|learn|show|see|load|view) more\b|\bread our\b"
        r"|\brelated (?:articles|posts|stories|links)\b|\bback to top\b"
        r"|\b(?:enable|turn on) javascript\b|\bleave a (?:comment|reply)\b|\bpowered by \w+$"
        r"|\btell us (?:below|in the comments)\b"
        r"|^[^\w\n]*photos? (?:by|credit)"
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
    """Return where a forged block ends: at its closing mark, or with the paragraph it announces."""
    if opened := _OPENED.match(plain, start):
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
