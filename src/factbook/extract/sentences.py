"""Say which of the sentences that people write state something worth keeping.

Knows: which opening and closing words say nothing, and a table of rules (`RULES`) that tells a
lasting statement from questions, greetings, thanks, requests, moods, plans and suppositions. Does
not know who speaks, vectors, or other sentences.

The rules are English. A text in another script has sentences, and no rule keeps one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from factbook.extract.base import word_set
from factbook.language.sentences import markdown_sentences

__all__ = [
    "MAX_STATEMENT_CHARS",
    "MAX_STATEMENT_WORDS",
    "MIN_STATEMENT_WORDS",
    "RULES",
    "Sentence",
    "StatementRule",
    "StatementVerdict",
    "content_words",
    "core",
    "markdown_table",
    "names",
    "ruling",
    "split",
    "statements",
    "words",
]

MAX_TEXT_CHARS: Final = 100_000  # ours: of one episode; what follows is pasted material
MAX_STATEMENT_CHARS: Final = 240  # origins 000.3: a snippet is a sentence of at most 240 characters
MAX_STATEMENT_WORDS: Final = 30  # ours: a longer sentence says several things at once
MIN_STATEMENT_WORDS: Final = 3  # ours: "I agree." has no subject matter

Use = Literal["keep", "refuse"]


class Sentence(NamedTuple):
    """One sentence and its place; `text` is exactly what stands there."""

    text: str
    start: int
    end: int


class StatementVerdict(NamedTuple):
    """Whether a sentence is a statement worth keeping, and the rule that says so."""

    kept: bool
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementRule:
    """One row of the table: the first row whose pattern matches decides."""

    name: str
    use: Use
    says: str  # in words, for people
    example: str  # a sentence that this row decides
    pattern: str  # tried at the start of the lower-case sentence, typewriter apostrophes


# --- splitting ------------------------------------------------------------------------------------


def split(text: str) -> list[Sentence]:
    """Return the sentences of a text in order, each with its place (`markdown_sentences`).

    Code blocks, headings and tables hold none. Texts over 100,000 characters are read up to there.
    """
    spans = markdown_sentences(text[:MAX_TEXT_CHARS])
    return [Sentence(text[start:end], start, end) for start, end in spans]


# --- words ----------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"[^\W_]+(?:['’.\-+#&/][^\W_]+)*[+#]*")

_FUNCTION_WORDS: Final = word_set("""
    a an the this that these those such i me my mine myself we us our ours ourselves you your yours
    he him his himself she her hers herself it its itself they them their theirs one ones
    and or but nor so if then than because while although though unless until as of in on at by to
    from for with without about into onto over under between among through during before after since
    up down out off am is are was were be been being do does did doing done has have had having can
    could will would shall should may might must not no yes too very just also only even still yet
    ever never again already here there where when why how what which who whom whose any some each
    every either neither both all most more much many few other another own same let
    i'm i've i'd i'll it's that's there's don't doesn't didn't isn't aren't wasn't weren't can't
    cannot couldn't won't wouldn't haven't hasn't hadn't we're we've we'll we'd you're you've
    they're he's she's im ive dont cant
    """)
"""English words that carry grammar and no subject matter."""

_WEAK_WORDS: Final = word_set("""
    like likes liked love loves loved enjoy enjoyed think thinks thought know knew known feel felt
    get gets got getting go goes going went gone come comes came make makes made take takes took
    try tries tried trying want wants wanted need needs needed see seen saw say said tell told
    say look looks looking looked find found use used keep start started really lot lots thing
    things something anything everything nothing stuff way ways fun funny good great nice bad best
    better worse well interesting amazing awesome cool sure right true kind sort bit little big
    pretty quite always often sometimes usually maybe definitely actually probably especially
    people person someone everyone anyone time times day days much back now long different new
    favorite favourite able happy glad sorry okay ok fine hard easy idea question first last next
    important lucky life experience part reason point place
    """)
"""Words that say too little to be the only ones of a statement."""


def _plain(text: str) -> str:
    """Lower a text, with typewriter apostrophes."""
    return text.replace("’", "'").replace("‘", "'").lower()


def words(text: str) -> list[str]:
    """Return the words of a text in order, lower case."""
    return _WORD.findall(_plain(text))


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry its subject matter."""
    return frozenset(word for word in words(text) if word not in _FUNCTION_WORDS)


_NEVER_NAMES: Final = word_set("I I'm I've I'd I'll Im Ive OK TV Mom Dad Mum God")
_TITLE_LEAD: Final = re.compile(r"[.!?:\"“(]\s*$")


def names(text: str) -> frozenset[str]:
    """Return the capitalised words inside a sentence, lower case: names of people, places, things.

    The first word is left out, since every first word has a capital; it is a name where it stands
    inside the sentence again, or where it has a digit or a second capital ("SQLite", "GPT4").
    """
    named = set()
    for match in _WORD.finditer(text):
        word = match[0].replace("’", "'")
        bare = word.removesuffix("'s")
        opens = match.start() == 0 or _TITLE_LEAD.search(text, 0, match.start())
        marked = any(c.isupper() or c.isdigit() for c in bare[1:]) and not bare[0].isdigit()
        if word in _NEVER_NAMES or bare.isdigit():
            continue
        if marked or (bare[0].isupper() and not opens and bare != "A"):
            named.add(bare.lower())
    return frozenset(named)


# --- what surrounds a statement -------------------------------------------------------------------

_LEAD_IN: Final = re.compile(
    r"(?:(?:well|oh|ah|aw+|yes|yeah|yep|yup|no|nope|nah|so|and|but|also|plus|actually|honestly"
    r"|haha+|ha|lol|hmm+|um+|uh+|wow|ok|okay|sure|right|cool|nice|great|awesome|anyway|anyways"
    r"|hi|hey|hello|thanks|thank you|me too|same here|of course|for sure|i see|i know|you know"
    r"|to be honest|in fact|as for me|for me|personally|basically|by the way|btw|fyi|unfortunately"
    r"|luckily|fortunately|exactly|absolutely|definitely|indeed|true|agreed)"
    r"(?: there| too| man| dude| buddy| friend)?(?:,|\.\.+|…|!|:| -| –| —)\s*"
    r"|(?:and|but|so|well|oh|yes|yeah|because|since)\s+(?=(?:i|i'm|i've|my|we|we're|we've"
    r"|our)\b))+",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(r"[^\W\d_][\w.'’-]{0,39}(?: [\w.'’-]{1,40}){0,2}: ")
_TAIL: Final = re.compile(
    r"(?:,?\s+(?:too|as well|lol|haha+|though|you know|i guess|to be honest|myself|by the way|btw"
    r"|:\)|:-\)|;\)|:d|xd))+[\s.!,;…]*$",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"(?:,\s*(?:and|but|so|although|though|because)|;|\s[-–—]|,)\s+"
    r"(?=(?:i|i'm|i've|my|we|we're|we've|our)\s)",
    re.IGNORECASE,
)


def core(sentence: Sentence) -> Sentence:
    """Leave out the words around a statement that say nothing ("Well, yes, ...", "..., too").

    The place moves along, so that what is left still stands in the text word for word.
    """
    text, start, _ = sentence
    label = _LABEL.match(text)
    at = label.end() if label and label[0].count(" ") <= 2 and label.end() < len(text) else 0
    lead = _LEAD_IN.match(text.replace("’", "'"), at)
    if lead and lead.end() < len(text):
        at = lead.end()
    tail = _TAIL.search(text, at)
    stop = tail.start() if tail and tail.start() > at else len(text)
    return Sentence(text[at:stop], start + at, start + stop)


def _clauses(sentence: Sentence) -> Iterator[Sentence]:
    """Cut a sentence where a new clause in the first person begins."""
    text, start, end = sentence
    begin = 0
    for joint in _CLAUSE.finditer(text.replace("’", "'")):
        yield Sentence(text[begin : joint.start()], start + begin, start + joint.start())
        begin = joint.end()
    yield Sentence(text[begin:], start + begin, end)


# --- the rules ------------------------------------------------------------------------------------

_ADVERBS: Final = (
    r"(?:(?:also|really|just|currently|still|always|usually|often|sometimes|mostly|mainly"
    r"|actually|recently|absolutely|totally|both|only|already|even|now|originally|generally"
    r"|typically|personally|regularly|rarely|never|definitely|particularly|especially|truly"
    r"|kind of|kinda|sort of|do|very much|much|simply|primarily|normally|all|officially|happily"
    r"|almost|soon|once|secretly|finally) )*"
)
_I_AM: Final = rf"(?:i'm|im|i am|i was|we're|we are) {_ADVERBS}"
_I: Final = rf"(?:i|we) {_ADVERBS}"
_KIN: Final = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fiancee?|fiancée?|son|sons|daughter"
    r"|daughters|kids?|child|children|baby|mom|mum|mother|dad|father|parents?|brothers?|sisters?"
    r"|siblings?|family|grand\w+|aunts?|uncles?|cousins?|nieces?|nephews?|boss|manager|team"
    r"|company|friends?|roommates?|teacher|dogs?|cats?|pets?|puppy|kitten|horses?|birds?)"
)


def _refuse(name: str, says: str, example: str, pattern: str) -> StatementRule:
    return StatementRule(name=name, use="refuse", says=says, example=example, pattern=pattern)


def _keep(name: str, says: str, example: str, pattern: str) -> StatementRule:
    return StatementRule(name=name, use="keep", says=says, example=example, pattern=pattern)


RULES: Final[tuple[StatementRule, ...]] = (
    _refuse(
        "question",
        "it asks",
        "Do you live in Oslo?",
        r".*\?[\"')\]*\s!]*$|(?:what|whats|what's|which|who|whose|where|why|how|do you|did you"
        r"|are you|is it|is there|have you|can you|could you|would you|will you|shall we"
        r"|does anyone)\b",
    ),
    _refuse(
        "placeholder",
        "a name that was never filled in",
        "My name is [name].",
        r".*(?:[\[<({](?:user|your|my|name|insert)\b|\buser ?[12]\b|\[[a-z][^\]]*\])",
    ),
    _keep(
        "standing",
        "a standing wish of how things are to be done",
        "Always write British English in my letters.",
        r"(?:(?:please|from now on|in future|in general),? )*(?:always|never) (?!mind\b|again\b"
        r"|ever\b|say never\b|a\b|the\b|been\b|heard\b|seen\b|tried\b|knew\b|thought\b|had\b"
        r"|wanted\b|happy\b|good\b|nice\b|fun\b|gets?\b|have\b)[a-z]+ ",
    ),
    _refuse(
        "request",
        "it asks the assistant to do something",
        "Please summarise my notes about Oslo.",
        r"(?:please|pls|let's|lets|let us|let me|give me|tell me|show me|help me|remind me|imagine"
        r"|suppose|pretend|assume|write|make|create|generate|explain|summari[sz]e|translate|fix"
        r"|run|add|change|update|remove|delete|find|search|list|check|try|use|do|don't|look|go"
        r"|stop|wait|keep|consider|think|rewrite|convert|implement|refactor|act)\b"
        r"|i (?:just )?(?:want|need|would like|'d like|asked) you to\b|i'd like you to\b"
        r"|(?:i|we) need (?:some |your |a bit of |any )?(?:help|advice|tips|ideas|suggestions"
        r"|recommendations)\b|i (?:have|had|'ve got) (?:a|another|one|some) (?:quick |more )?"
        r"(?:questions?|request|favou?r)\b",
    ),
    _refuse(
        "greeting",
        "hello, goodbye, thanks, wishes",
        "Thanks for your help today.",
        r"(?:hi|hello|hey|howdy|greetings|good (?:morning|afternoon|evening|night|luck)|goodbye"
        r"|bye|see (?:you|ya)|take care|talk to you|have (?:a|an|fun|some)\b|thanks|thank you|thx"
        r"|cheers|welcome|you're welcome|no (?:problem|worries)|congrat\w*|happy (?:birthday|new)"
        r"|(?:it|it's|it is|it was|was) (?:so |really |very )?(?:nice|great|good|lovely"
        r"|a pleasure)"
        r" (?:to|talking|meeting|chatting|speaking)|nice (?:to|talking|chatting|meeting)"
        r"|pleased to meet|sorry|me too|me neither|same here|you too)\b"
        r"|(?:i|we) (?:really )?(?:appreciate|thank|apologi[sz]e)\b"
        r"|(?:i|we) (?:should|have to|need to|must|gotta|got to|better|'d better) (?:get )?"
        r"(?:go|going|run|head|get back|get ready|leave)\b"
        r"|(?:i|we) (?:really )?(?:enjoy\w*|lov\w*|like\w*) (?:talking|chatting|speaking) "
        r"(?:to|with) you\b|i'll (?:let|talk|see|be|get)\b",
    ),
    _refuse(
        "reaction",
        "it answers the other speaker and says nothing of its own",
        "I'm glad you like Oslo.",
        r"(?:i|we) (?:really |also |totally |completely |can |do |don't |definitely |couldn't )*"
        r"(?:agree|disagree|see what|understand|hear you|bet|hope|wish|guess|suppose|imagine|doubt"
        r"|know(?!n)|think|believe|mean|wonder|thought|feel like|relate|figured?|heard|hear"
        r"|didn't know|get it|get that|remember when you)\b"
        r"|i(?:'ve| have) (?:never |always |also |only )*(?:heard|thought|wondered)\b"
        rf"|{_I_AM}(?:so |very |really |pretty |quite |not |too )*(?:sure|glad|sorry|certain"
        r"|curious"
        r"|jealous|impressed|surprised|happy (?:to|for|that|you)|afraid (?:so|not|that)"
        r"|excited (?:to|for|about)|looking forward|hoping|thinking|wondering|guessing|interested "
        r"in (?:learning|hearing|knowing) more|not sure|confident)\b"
        r"|(?:i'm|i am) (?:always |also )?(?:happy|here|free|available|open|willing) to\b"
        r"|(?:it|its|it's|that|that's|thats|this|these|those|they|they're|he|he's|she|she's|you"
        r"|you're|your|there|there's|what a|how)\b",
    ),
    _refuse(
        "supposition",
        "it tells what would or might be, not what is",
        "I would like to live in Oslo someday.",
        r"(?:if|unless|when i (?:grow|retire|win|get)|maybe|perhaps|hopefully|probably|one day"
        r"|someday)\b"
        r"|(?:i'd|i would|we'd|i might|i may|i could|i should|i can (?:see|tell|only|imagine"
        r"|totally"
        r"|definitely|relate)|we should|we could|we might|i think i|i wouldn't|i shouldn't)\b"
        r"|.*\b(?:would love|would like|would be|might be|if i (?:could|had|were|was|did))\b",
    ),
    _refuse(
        "plan",
        "it tells what is about to happen and is over tomorrow",
        "I'm going to visit Oslo tomorrow.",
        r"(?:i'll|i will|we'll|we will|i won't)\b"
        rf"|{_I_AM}(?:not )?(?:going to|gonna|about to|going (?:on|out|there|hiking|camping|home)"
        r"|planning|trying to|heading|getting ready|waiting|leaving)\b"
        r"|(?:i|we) (?:just |really |still |also )*(?:can't wait|plan|need to|have to|want to "
        r"(?:go|see|try|do|watch|make sure|know|get|hear|check|buy|meet)|gotta|got to go|look "
        r"forward)\b"
        r"|.*\b(?:today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening|weekend|week)"
        r"|next (?:week|weekend|month|time)|last (?:night|week|weekend)|the other day|a few "
        r"(?:minutes|hours|days) ago|sometime|later|right now|in a bit)\b",
    ),
    _refuse(
        "mood",
        "it tells how somebody feels at the moment",
        "I'm so tired and bored.",
        rf"(?:{_I_AM}|i feel |i'm feeling |feeling )(?:doing |feeling )?(?:so |very |really "
        r"|pretty "
        r"|quite |too |a (?:little|bit) |just |super |extremely |such )*(?:good|well|fine|great|ok"
        r"|okay|alright|tired|bored|sad|happy|excited|angry|mad|upset|nervous|stressed|hungry"
        r"|thirsty|sleepy|busy|exhausted|depressed|lonely|scared|worried|confused|frustrated"
        r"|annoyed|sick|cold|hot|lazy|grateful|thankful|blessed|proud|fortunate|lucky|amazed"
        r"|shocked|overwhelmed|relieved|down|blue|awful|terrible|better|ready|back|there|done"
        r"|kidding|joking|serious)\b(?! (?:teacher|of (?:spiders|heights|snakes|flying|dogs|the"
        r" dark|clowns)))",
    ),
    _refuse(
        "pointing",
        "it speaks of something named elsewhere",
        "I love that song.",
        rf"(?:{_I}|i've {_ADVERBS}|i have {_ADVERBS}|{_I_AM})\S+ (?:\S+ )?(?:it|that|this|these"
        r"|those|them|him|her|there|so)(?:\b(?!')|$)"
        rf"|(?:{_I}|{_I_AM})\S+ one[.! ]*$"
        rf"|(?:{_I}|{_I_AM})(?:(?!and\b|but\b)[^\s,]+ ){{1,5}}(?:it|them|him)\b(?!')"
        r"|(?:i|we) used to(?: when\b|[.! ]*$)|we can\b"
        r"|(?:i|we) (?:do|did|have|am|was|can|would|don't|didn't|haven't|can't|could)[,.!\s]*"
        r"(?:$|,|but|too|not|as well|though)"
        r"|.*\b(?:that|this|those|these) (?:one|ones|kinds?|sorts?|types?|songs?|movies?|books?"
        r"|games?|places?|shows?"
        r"|artists?|bands?|things?|foods?|areas?|episodes?|characters?|schools?|jobs?)\b"
        r"|.*\b(?:like you|what you|as you|with you|to you|for you|your|you're|you've|about you"
        r"|of you)\b"
        r"|(?:mine|ours|my (?:favou?rites?|own)) (?:is|are|too|was)\b(?: (?:the same|too|that))?"
        r"|.*\b(?:the same|both of (?:them|those)|all of (?:them|those)|(?:is|are|was|of) "
        r"(?:that|it|them|those))[.! ]*$",
    ),
    _refuse(
        "remark",
        "it dwells on the subject of the moment, and nobody would look for it",
        "I love being able to help people.",
        rf"(?:{_I}|i've |i have )(?:like|love|enjoy|adore|hate|always loved|can't stand) (?:being "
        r"able|the (?:feeling|challenge|fact|way|idea|part|whole|sense|thrill|rush|freedom)|how"
        r"|(?:to )?(?:all|both|most|some|any|a lot|lots|many|tons) (?:of )?(?:the |them|those"
        r"|kinds"
        r"|sorts|types))\b"
        r"|.*\b(?:all (?:kinds|sorts|types)|a (?:lot|variety) of (?:different )?(?:things|stuff"
        r"|kinds|types|people|favou?rites)|lots of (?:things|stuff|different))\b"
        r"|(?:i've|i have) never (?!been (?:married|able|in)\b|had an?\b|learned|driven|owned"
        r"|left).*"
        r"\b(?:before|yet|myself|much|really)\b|(?:i've|i have) never (?:met|seen|been to"
        r"|been much"
        r"|really|tried|heard|read|watched|played|thought)\b"
        rf"|{_I}(?:like|love|enjoy|try|always try) (?:to )?(?:help(?:ing)?|keep(?:ing)?|have"
        r"|having|make|making|meet(?:ing)?|relax(?:ing)?|spend(?:ing)? (?:my )?time with (?:my )?"
        r"(?:family|friends|kids|loved ones)(?: and (?:my )?(?:family|friends))?)"
        r"(?: (?:people|others|busy|fun|active|in shape|things|new|sure|everyone|and|friends))*"
        r"[.! ]*$"
        rf"|{_I}(?:learned|learn) (?:a lot|so much|something|everything|that|from)\b"
        rf"|{_I}(?:always )?(?:feel|felt) |{_I_AM}(?:learning a lot|still learning|having|enjoying|"
        r"in (?:the|a) (?:mood|hurry|rush|good place|bad place))\b",
    ),
    _refuse(
        "trouble",
        "it tells of an error or an errand of the moment",
        "I have a bug in my parser.",
        rf"(?:{_I}(?:have|had|got|get|see|found|hit)|i've got|i'm getting|we're getting) (?:an?"
        r"|the"
        r"|some|this|another|no|few)? ?(?:\w+ )?(?:bugs?|issues?|problems?|errors?|trouble|crash"
        r"|exceptions?|warnings?|failures?|typo|meeting|appointment|deadline|call|idea|feeling"
        r"|doubts?|headache|cold|flu|deadlines)\b"
        r"|(?:my|our) (?:\w+ ){0,2}(?:code|tests?|build|script|query|function|app|page|program"
        r"|file"
        r"|branch|command|output|screen|wifi|internet) (?:\w+ )?(?:is not|isn't|does not|doesn't"
        r"|won't|fails?|failed|crashe[ds]|broke|is broken|is failing|keeps|returns|shows|gives"
        r"|throws|hangs)\b"
        r"|(?:i|we) (?:just )?(?:read|watch|spend|play|walk|use|test|store|make|take) (?:the|this"
        r"|that) \w+ (?:you|above|below|again)\b",
    ),
    _keep(
        "favourite",
        "what somebody likes best",
        "My favourite city is Oslo.",
        r"my (?:\w+ ){0,2}favou?rite\b.* (?:is|are|was|would be|has to be|must be)\b"
        r"|.* (?:is|are) (?:also |one of |probably |definitely )*my (?:absolute |all-time )?"
        r"(?:favou?rites?|passion|hobby|life|dream)\b",
    ),
    _keep(
        "named",
        "what somebody, or something of theirs, is called",
        "My dog is called Rex.",
        r"(?:my|our) (?:[\w'-]+ ){0,4}(?:is|are|was|were) (?:called|named)\b|(?:my|our) "
        r"(?:[\w'-]+ ){0,3}names? (?:is|are)\b|(?:i'm|i am) called\b|(?:people|friends) call me\b",
    ),
    _keep(
        "is",
        "what somebody is: work, age, home, condition, family",
        "I'm a carpenter from Oslo.",
        rf"{_I_AM}(?:(?:not )?(?:an?|the|one of) |\d|from |on (?:windows|linux|mac|macos|ubuntu"
        r"|debian|arch|python|a mac)|in (?:my|the|an?|college|love with"
        r"|high school|\w+ (?:school|grade))\b|looking for (?:a|an|another|new) (?:\w+ )?(?:job"
        r"|work"
        r"|house|home|apartment|flat|roommate|wife|husband|partner)|close to|ex[- ]\w+|blonde?\b"
        r"|(?:rather |very |quite )?(?:skinny|thin|overweight|bald|muscular|athletic|shy"
        r"|introverted"
        r"|outgoing|religious|christian|jewish|muslim|buddhist|hindu|atheist)"
        r"|married|single|divorced|engaged|widowed|retired|vegan|vegetarian|pregnant|disabled"
        r"|blind"
        r"|deaf|color ?blind|allergic|addicted|obsessed|afraid of|scared of|terrified of|fond of"
        r"|studying|learning|majoring|working|training|raising|writing|saving|living|teaching"
        r"|building|fluent|into|using|migrating|moving to|running|not allowed|interested in"
        r"|passionate about|good at|bad at|great at|terrible at"
        r"|an only|adopted|born|raised|self|left|right-handed|tall|short|taller|shorter|old|young"
        r"|on (?:a|the|my)|employed|unemployed|member|responsible|enrolled|based|more of an?"
        r"|getting (?:married|divorced)|dating|expecting|named)",
    ),
    _keep(
        "has",
        "what somebody has",
        "I have two cats and a boat.",
        rf"(?:{_I}(?:have|own|had|adopted|bought|inherited|drive|wear|carry|rent)"
        rf"|(?:i've|we've) {_ADVERBS}(?:got|had)) (?:to have )?(?!to\b|been\b|never\b|a lot of fun"
        r"|so much|fun\b|no idea|heard|always|some (?:good|great)|seen)",
    ),
    _keep(
        "likes",
        "what somebody likes or dislikes",
        "I love skiing in the dark.",
        rf"(?:{_I}(?:like|love|enjoy|hate|dislike|prefer|adore|despise|loathe|can't stand"
        r"|don't like"
        r"|don't enjoy|don't eat|don't drink|fear|miss|crave|collect|fancy|want to (?:be|become)"
        r"|dream|aspire|hope to)|(?:i've|i have) always (?:wanted|loved|been|dreamed))\b",
    ),
    _keep(
        "family",
        "what somebody's people and animals are or do",
        "My sister works in Oslo.",
        rf"(?:my|our|both my) (?:[\w'-]+ ){{0,2}}{_KIN}(?:'s [\w'-]+)?(?: and [\w' ]+?)? "
        r"(?:(?:also|always|both|all|really|never|recently|just) )*(?!(?:will|would|could|might"
        r"|should)\b)\w+",
    ),
    _keep(
        "life",
        "where somebody comes from and what they have done",
        "I grew up on a farm near Oslo.",
        r"i (?:was|were) (?:born|raised|adopted|diagnosed|homeschooled|married|in the|on the"
        r"|an?)\b"
        rf"|{_I}(?:no longer|stopped|gave up|switched|grew|used to|studied|graduated|served"
        r"|moved|immigrated|emigrated|retired|quit"
        r"|lost|won|broke|met my|married|got (?:married|divorced|engaged|my|a new|a job|into|fired"
        r"|laid)|started|became|joined|founded|raised|worked|lived|went to|dropped out|majored"
        r"|survived|competed|learned|published|wrote|built|recently)\b"
        r"|(?:i've|i have|we've|we have) (?:been (?:an?|in|on|to|married|retired|with|working"
        r"|living"
        r"|playing|doing|teaching|vegan|vegetarian|learning|studying|writing|running|collecting"
        r"|training|sober)|worked|lived|played|had|published|won|written|run|traveled|visited"
        r"|never (?:been|learned|married|left|eaten|driven|owned|met my|broken|seen snow))\b",
    ),
    _keep(
        "does",
        "what somebody does, uses, or can do",
        "We use a shared calendar for the boat.",
        rf"{_I}(?:live|work|play|study|teach|run|volunteer|use|write|read|speak|drink|eat|cook"
        r"|bake|draw|paint|sing|dance|knit|sew|garden|fish|hunt|hike|ski|surf|swim|climb|ride|bike"
        r"|walk|go (?!ahead)|travel|work out|train|compete|spend|watch|listen|make|build|grow"
        r"|raise"
        r"|breed|sell|produce|perform|coach|lead|manage|design|develop|code|program|host|attend"
        r"|belong|smoke|vape|sleep|wake|get up|stay|shop|dye|suffer|deploy|ship|test|store|keep"
        r"|support|follow|believe in|practice|meditate|pray|exercise|jog|lift|help|care for|take"
        r"|visit|come from|earn|make|cannot|can't (?!wait|imagine|believe|go|remember|complain)"
        r"|can (?!imagine|see|tell|only|relate|understand|definitely|do|give|help)"
        r"|don't (?!know|think|mind|worry|see|understand|get|really|have (?:time|any (?:idea"
        r"|plans|favou?r"
        r"|questions|experience|problem|other)|much))"
        r"|always|never|only|helped (?:to )?(?:design|build|found|write|make|create|start)|met"
        r"|married"
        r"|fantasi[sz]e|speak|prefer|do not|did not)\b",
    ),
    _keep(
        "ours",
        "how something of theirs is",
        "Our server runs on solar power.",
        r"(?:my|our) (?:[\w'-]+ ){1,5}?(?:is|are|was|were|has|have|had|runs?|uses?|lives?|works?"
        r"|likes?|loves?|hates?|comes?|includes?|needs?|starts?|ends?)\b (?!(?:so|really|very"
        r"|just)"
        r" (?:good|great|fun|nice|cool))",
    ),
)
"""Who speaks of lasting things, and how: read from the top, the first row that matches decides.

A sentence that no row matches is refused (rule `other`): what is kept has to be recognised.
"""


def markdown_table() -> str:
    """Return the rules as a Markdown table, for the documentation."""
    lines = ["| rule | does | because | example |", "|---|---|---|---|"]
    lines += [f"| `{rule.name}` | {rule.use} | {rule.says} | {rule.example} |" for rule in RULES]
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[StatementRule, re.Pattern[str]], ...]:
    return tuple((rule, re.compile(rule.pattern, re.DOTALL)) for rule in RULES)


_ABOUT: Final = re.compile(
    r"(?:the |our |their )?(?:[\w.'+#&/-]+ ){1,6}?(?:is|are|was|were|has|have|had|can|cannot|can't"
    r"|does|doesn't|isn't|aren't|[a-z]{2,}(?:[^s\W]s|ed))\b ?\S"
)
"""A subject of a few words and a verb; asked only of sentences that name something."""


@lru_cache(maxsize=4096)
def ruling(text: str, *, recurring: bool = False) -> StatementVerdict:
    """Say whether a sentence states something worth keeping, and by which rule.

    Beside the rows of `RULES`: `long` and `short` (its length), `vague` (no word of substance, or
    it only announces), `other` (no row knows it). The rules read the sentence as it is given, so
    leave its opening words out first (`core`).

    `recurring` is for what may be said several times: a sentence that no row knows is then kept
    when it says something of a thing that it names (rule `about`: "The Fjord server runs Debian").
    """
    plain = " ".join(_plain(text).split())
    count = len(words(plain))
    if len(plain) > MAX_STATEMENT_CHARS or count > MAX_STATEMENT_WORDS:
        return StatementVerdict(False, "long")
    if count < MIN_STATEMENT_WORDS:
        return StatementVerdict(False, "short")
    for rule, pattern in _compiled():
        if pattern.match(plain):
            if rule.use == "refuse":
                return StatementVerdict(False, rule.name)
            if plain.endswith(":") or not content_words(plain) - _WEAK_WORDS:
                return StatementVerdict(False, "vague")
            return StatementVerdict(True, rule.name)
    if recurring and _names_its_subject(text) and _ABOUT.match(plain):
        return StatementVerdict(True, "about")
    return StatementVerdict(False, "other")


def _names_its_subject(text: str) -> bool:
    """Tell whether a sentence names something, also where the name opens it ("Rex is a beagle")."""
    first = _WORD.search(text)
    opening = first[0].removesuffix("'s") if first else ""
    plain = opening.lower()
    is_name = opening[:1].isupper() and plain not in _FUNCTION_WORDS and plain not in _WEAK_WORDS
    return bool(names(text)) or is_name


def statements(text: str, *, recurring: bool = False) -> list[tuple[Sentence, str]]:
    """Return the statements of a text that are worth keeping, each with the rule that keeps it.

    Opening words are left out, and a sentence of several clauses in the first person gives each of
    them that is a statement by itself. What is returned stands in the text word for word.
    `recurring` as in `ruling`.
    """
    parts = []
    for sentence in split(text):
        if len(sentence.text) > 2 * MAX_STATEMENT_CHARS:
            continue
        whole = core(sentence)
        if ruling(whole.text).rule in {"question", "request"}:
            continue
        for clause in _clauses(whole):
            part = core(clause)
            kept, rule = ruling(part.text, recurring=recurring)
            if kept:
                parts.append((part, rule))
    return parts
