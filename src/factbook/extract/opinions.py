"""Read what the speaker of a message says to like and to dislike, and in which words.

Knows: the ways in which people state that they like something, in the first person, and what "it"
then stands for. Wishes, suppositions, questions and the likes of others state nothing. Does not
know where sentences are (`message_sentences`), or which names are known already (`mentions`).

The rules are English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.extract.message_sentences import SPOKEN_OF, spaced
from factbook.language.common_words import (
    is_function_word,
    is_greeting,
    opens_sentences,
)
from factbook.net import cancel

__all__ = [
    "BLAME",
    "DOT",
    "FAN",
    "FAVORITE_AFTER",
    "HEARD_CHARS",
    "NO_MORE_OF_IT",
    "PART",
    "SOMEONE",
    "UNREAL",
    "NamePlace",
    "Opinion",
    "is_object",
    "judged",
    "names_other_things",
    "opens_clause",
    "opinions",
    "pronoun_at",
    "referred",
]

HEARD_CHARS: Final = 20_000  # ours: of one message; what follows is pasted material


# --- what is said of liking -----------------------------------------------------------------------

_ADVERB: Final = (
    r"(?:(?:really|absolutely|also|just|still|truly|always|totally|completely|genuinely|honestly"
    r"|actually|both|all|do|quite|very much|so|very|particularly|especially|definitely|certainly"
    r"|mostly|mainly|usually|generally|sometimes|often|kinda|kind of|sort of|pretty|super|now"
    r"|currently|personally|simply|only|even|too|secretly|deeply|love love|fucking|freaking|damn"
    r"|recently|lately|rather|already|big time|seriously|low-?key|literally) )*"
)
_BIG: Final = (
    r"(?:(?:really|such|quite|super) )?(?:an? )?(?:(?:really|very|big|huge|massive|great|avid"
    r"|lifelong|long-?time|life-?long|major|total|real|die-?hard|hardcore|proud|fellow) )*"
)
FAN: Final = r"(?:fan(?:atic|boy|girl)?|lover|enthusiast|nerd|geek|addict|buff|junkie|devotee)"
_LIKES: Final = (
    r"(?:love|loved|like|liked|enjoy|enjoyed|adore|adored|dig|prefer|admire|appreciate|cherish)"
)
_FOND: Final = (
    rf"(?:into|obsessed (?:with|by)|crazy about|nuts about|mad about|hooked on|fond of"
    rf"|passionate about|keen on|addicted to|in love with|interested in|excited about|enjoying"
    rf"|loving|digging|all about|{_BIG}(?:fans?|lovers?|sucker) (?:of|for)|fascinated (?:by|with)"
    rf"|impressed (?:by|with)|partial to|enamou?red with)"
)
_NOT: Final = r"(?:not|n['’]?t|never)"
_HATES: Final = (
    r"(?:hate|hated|dislike|disliked|despise|detest|loathe|hating|can(?:no|['’]?)t (?:stand|bear"
    r"|abide))"
)
_TIRED: Final = (
    r"(?:(?:so |really |getting )*(?:sick(?: and tired)?|tired|fed up|bored|done|through) (?:of"
    r"|with)|(?:so )?over(?= (?:the|this|that)\b)|allergic to the hype (?:of|about))"
)
_I: Final = r"(?:i|we|my \w+ and i|\w+ and i)"
_AM: Final = (
    r"(?:i['’]?m|i am|we['’]?re|we are|i['’]?ve (?:always )?been|i have (?:always )?been"
    r"|i['’]?ve become|i became|i got|i['’]?ve gotten|i was|we were)"
)
_DO_NOT: Final = (
    r"(?:do not|don['’]?t|did not|didn['’]?t|never|no longer|can(?:no|['’]?)t say (?:that )?(?:i"
    r"|we))"
)
_AT: Final = r"(?:^|(?<=[\s,;:(–—-]))"
_START: Final = (
    r"^\W*(?:(?:oh|wow|yes|yeah|and|but|also|still|just|so|really|lol|haha+|honestly|man|ok"
    r"|omg)\b\W*)*"
)

_LIKING: Final[Sequence[tuple[re.Pattern[str], str]]] = tuple(
    (spaced(pattern + r"(?=\s)"), why)
    for pattern, why in (
        (rf"{_AT}{_I}\s+(?:have\s+|['’]ve\s+)?{_ADVERB}{_LIKES}", "says to like it"),
        (rf"{_AT}i['’]ve\s+{_ADVERB}{_LIKES}", "says to like it"),
        (rf"{_AT}{_AM}\s+{_ADVERB}{_FOND}", "says to be fond of it"),
        (
            rf"{_AT}{_I} {_ADVERB}(?:can(?:no|['’]?)t get enough of|fell in love with"
            rf"|have a soft spot for|live for|swear by|could not live without|can(?:no"
            rf"|['’]?)t live without)",
            "says to be fond of it",
        ),
        (rf"{_AT}{_AM}(?=\s+{_BIG}[\w\s'’.&+-]{{2,40}}\s{FAN}\b)", "says to be fond of it"),
        (
            rf"{_START}(?:love|loving|adore|enjoying|digging|obsessed with|hooked on|really into"
            rf"|so into|{_BIG}(?:fan|lover) of|can(?:no|['’]?)t get enough of|in love with)"
            rf"(?! (?:and|or|is|are|was|can|should|will|has|does)\b)",
            "says to like it",
        ),
        (
            rf"{_AT}(?:my|our) (?:all[\s-]time |absolute |personal |current |new "
            rf"|own )*(?:favou?rites?|fave|favs?)(?: (?!of\b|part\b|thing\b|memory\b|time\b"
            rf"|moment\b|aspect\b|line\b|quote\b|day\b|month\b)[\w-]+){{0,4}}? (?:is|are|was"
            rf"|has to be|would be|include|includes|has always been)(?: (?:definitely|probably"
            rf"|still|always|by far|either|currently|actually|called))*",
            "names it as a favorite",
        ),
        (
            rf"{_START}(?:(?:(?:some|a few|all) of )?(?:my|our) (?:all[\s-]time |absolute "
            rf"|personal |current |new |own )*)?(?:favou?rites?|faves?|favs?)"
            rf"(?:\s+[\w-]+){{0,3}}?\s*"
            rf"(?:\([^()\n]{{1,30}}\)\s*)?(?::|(?<=\s)[-–—](?=\s))",
            "names it as a favorite",
        ),
    )
)
_CLAUSE: Final = r"(?:^\W*|[,;:]\s*|\b(?:please|and|but|so|then|just) )(?:please )?"
_MATTER: Final = (
    r"(?:stuff|news|updates?|talk|messages?|facts|content|articles?|posts?|notifications?|alerts?"
    r"|recommendations?|reminders?|things|spam|ads?|crap|videos?|links|trivia|suggestions?)"
)
_ABOUT_IT: Final = rf"(?: [\w'’.&+-]+){{1,4}}? {_MATTER}\b"
NO_MORE_OF_IT: Final = "asks to hear no more of it"
_ORDEAL: Final = (
    r"(?:eat|chew|swallow|lick|drink) (?:\w+ ){0,2}?(?:glass|dirt|sand|nails|worms|bugs|hat|shoes?"
    r"|mud|soap|bleach|poison|sandpaper|gravel|cardboard|rocks|tacks|toenails)|die|starve|be dead"
    r"|be shot|be eaten|gouge|poke|stab|stick (?:needles|pins|a fork|forks)|jump off"
    r"|walk (?:barefoot|on)|pull (?:out )?(?:my|all)|have (?:a root canal|my teeth|teeth)"
    r"|get a root canal|watch paint|watch grass|burn|quit|cut off|sleep on|do (?:anything|taxes"
    r"|my taxes)|set myself|be set on"
)
_DISLIKING: Final[Sequence[tuple[re.Pattern[str], str]]] = tuple(
    (spaced(pattern + r"(?=\s)"), why)
    for pattern, why in (
        (rf"{_AT}{_I}\s+{_ADVERB}{_HATES}", "says to dislike it"),
        (rf"{_AT}i['’]?ve\s+{_ADVERB}{_HATES}", "says to dislike it"),
        (
            rf"{_AT}{_I} {_ADVERB}{_DO_NOT} {_ADVERB}(?:think (?:that )?i )?(?:{_LIKES}"
            rf"|care (?:for|about)|get (?=the (?:hype|appeal)))",
            "says not to like it",
        ),
        (
            rf"{_AT}{_AM} {_ADVERB}{_NOT} (?:that |too |a big |much (?:of a )?)*{_ADVERB}{_FOND}",
            "says not to like it",
        ),
        (
            rf"{_AT}{_I} {_ADVERB}(?:(?:was|were|am|are|have been) never"
            rf"|was\s*n['’]?t) {_ADVERB}{_FOND}",
            "says not to like it",
        ),
        (rf"{_AT}{_AM}\s+(?:{_ADVERB}){_TIRED}", "says to be tired of it"),
        (
            rf"{_AT}{_I}(?:['’]ve| have)? (?:had enough of|could\s*n['’]?t care less about"
            rf"|could care less about|lost interest in|gave up on)",
            "says to be tired of it",
        ),
        (
            rf"{_START}(?:not (?:really |so |that |much |too )*{_FOND}|{_HATES}|{_TIRED}"
            rf"|don['’]?t (?:really )?(?:like|enjoy|care for)|never liked|never been into)",
            "says not to like it",
        ),
        (
            r"(?:^|[,;:]\s*|\b(?:please|and|but|so|then|just) )(?:please )?(?:stop"
            r"|quit) (?:telling|sending|messaging|showing|bothering) (?:me|us) (?:(?:stuff|things"
            r"|news|updates?|messages?|anything|more) )?(?:about|on|regarding)",
            NO_MORE_OF_IT,
        ),
        (
            rf"{_CLAUSE}(?:stop|quit) (?:recommending|suggesting)(?: (?:me|us)"
            rf"|(?= [^\W\d_]))(?! (?:it|this|that|them|these|those|to)\b)(?: (?:any|more|all|the"
            rf"|so|much|many))*",
            NO_MORE_OF_IT,
        ),
        (
            rf"{_CLAUSE}(?:(?:stop|quit) (?:showing|sending|feeding|giving|pushing)|(?:do\s*n['’]?t"
            rf"|do not|never) (?:show|send|feed|give|push))(?: (?:me|us))(?: (?:any|more|all|the"
            rf"|so|much|many))*(?={_ABOUT_IT})",
            NO_MORE_OF_IT,
        ),
        (
            rf"{_CLAUSE}(?:do\s*n['’]?t|do not|never) (?:recommend|suggest)(?: (?:me|us)"
            rf"|(?= [^\W\d_]))(?! (?:it|this|that|them|these|those|to)\b)(?: (?:any|more|all"
            rf"|the|so|much|many))*",
            NO_MORE_OF_IT,
        ),
        (
            rf"{_CLAUSE}(?:enough|no more)(?! (?:of|about|on|with)\b)(?: (?:of|the))*"
            rf"(?={_ABOUT_IT}|(?= (?-i:[A-Z]))(?: [\w'’.&+-]+){{1,4}},? (?:please|pls"
            rf"|plz|thanks|thank you)\W*$)",
            NO_MORE_OF_IT,
        ),
        (
            rf"{_AT}(?:i|we)(?:['’]?d| would) (?:much |really |honestly )*(?:rather|sooner) "
            rf"(?:{_ORDEAL})\b[^,.;:!?]{{0,40}}? than(?: (?:ever|again|have to|keep|be))*"
            rf"(?: (?:us|watch|hear|eat|drink|play|read|touch|buy|try|see|install|writ|learn|own"
            rf"|wear|support|visit|work|listen|deal|go|put up|sit)(?:e|ing)?"
            rf"(?: (?:with|to|through|back to|another|any|more))*)?",
            "says not to like it",
        ),
        (
            r"(?:^|[,;:]\s*|\b(?:please|and|but|so) )(?:enough|no more) (?:(?:stuff|news|updates?"
            r"|talk|messages?|facts) )?(?:about|of|on|with)?",
            NO_MORE_OF_IT,
        ),
        (
            r"(?:^|[,;:]\s*|\b(?:please|and|but|so) )(?:please )?(?:(?:i|we) )?(?:do\s*n['’]?t"
            r"|do not) (?:want to hear|(?:ever )?tell (?:me|us)|want (?:any(?: more)?|more) \w+"
            r"|talk) (?:anything |any ?more |more )*(?:about|on)",
            NO_MORE_OF_IT,
        ),
    )
)
_GOING_ON: Final = spaced(
    rf"\b(?:but|and|yet) (?:also |really |absolutely |still )*(?:(?P<hates>{_HATES}|(?:do not"
    rf"|don['’]?t|never) (?:really |much )?(?:like|liked|enjoy|enjoyed|care for)"
    rf"|not (?:really )?(?:into|a (?:big )?fan of))|love|adore|enjoy)(?=\s)",
)
"""A second statement without a subject of its own: "I love jazz but hate country"."""
FAVORITE_AFTER: Final = spaced(
    r" (?:(?:is|are|was|were|remains?|has (?:always )?been|will always be)|['’]s) (?P<not>not "
    r"|n['’]t |hardly |never )?(?:definitely |probably |still |also |by far |always |easily "
    r"|really |one of )*(?:my|our) (?:all[\s-]time |absolute |personal |current |new |own "
    r"|least )*?(?P<least>least )?(?:favou?rites?|fave|favs?|(?:go-to|jam|thing|happy place"
    r"|cup of tea|passion|obsession))\b",
)
_PRAISE: Final = (
    r"amazing|awesome|great|fantastic|incredible|brilliant|excellent|wonderful|superb|perfect"
    r"|phenomenal|outstanding|the best|so good|really good|very good|so cool|really cool"
    r"|delicious|stunning|gorgeous|legendary|underrated|a masterpiece|magical|fire|goated"
)
BLAME: Final = (
    r"terrible|awful|horrible|overrated|boring|garbage|trash|rubbish|the worst|disgusting"
    r"|dreadful|crap|lame|annoying|useless|a joke|a scam|unbearable|disappointing|a disappointment"
)
_JUDGED_AFTER: Final = spaced(
    rf"(?: (?:is|are|was|were)|['’]s) (?P<not>not |n['’]t )?(?:(?:just|really|absolutely|so"
    rf"|simply|truly|pretty|totally|honestly|all|still|such|quite|very"
    rf"|too) )*(?:(?P<praise>{_PRAISE})|(?P<blame>{BLAME}))\b(?! (?:at|for|when|if|but|with)\b)"
    rf"| (?:totally |really |just |absolutely )?(?:(?P<rocks>rocks?|rules?)|(?P<sucks>sucks?"
    rf"|stinks?))(?=\W*$|\s*[,;.!])",
)

UNREAL: Final = spaced(
    r"\b(?:if|unless|whether|suppose|supposing|imagine|pretend|what if|wish|wished|would|['’]d"
    r"|might|could|may|should|not sure|don['’]?t know|no idea|doubt|used to|said|says|saying|told"
    r"|tells|thinks|thought|claims?|claimed|asks?|asked|believes?|assumes?|joked|pretended"
    r"|as though|in case|until|the (?:thing|reason|way|only|one|part)|things?|what|who|that"
    r"|everything|all|when|before|once)\b",
)
_FINE_LEAD: Final = spaced(
    r"\b(?:if you ask me|if i['’]?m (?:being )?honest|what can i say|i (?:must|have to|gotta"
    r"|should|would|could) (?:say|admit|confess)|i guess|i think|i thought|i told you|i said"
    r"|as i said|you could say|that said|that['’]?s why|the thing is|not gonna lie|everyone knows"
    r"|you know|did you know|i think that|all in all|after all|first of all|above all"
    r"|that being said|that['’]?s \w+)\b",
)
PART: Final = spaced(
    r"[,;:–—] | -+ | (?:but|and|because|cause|cuz|since|so|though|although|while|whereas|plus|yet"
    r"|or) |^\W*(?:but|and|because|so|since|though|although|while|plus|yet) ",
)
DOT: Final = r"\.(?!\w)"  # not of "Node.js"
_INITIAL: Final = re.compile(
    r"(?:[A-Z][\w'’-]{0,30}\.?|,|\band|\b(?:is|are)) ?(?:[A-Z]\. ?)?[A-Z]\Z"
)
_BREAK: Final = spaced(
    rf"[;!?:()\n\x1f\x1e]|{DOT}|\s-+\s|[–—]|\b(?:but|because|cuz|since|when|whenever|while|if|unless"
    r"|so(?! much)|although|though|whereas|which|who|whose|where|until|after|before|as(?! well\b)"
    r"|despite|except|instead|yet)\b|,? (?:and|or) (?=(?:i|i['’]\w+|we|he|she|they|it|you|my|our"
    r"|his|her|that|this|would|was|is|are|have|had|did|do|can|will|hate|love|like|don['’]?t|not"
    r"|then|also i)\b)|, (?=(?:i|i['’]\w+|we|he|she|they|it|you|my|that|this|what|how|do|are|have"
    r"|is|don['’]?t|not|would|thanks?|please|especially)\b)",
)
_BLOCKS: Final = spaced(
    r"\b(?:with|in|at|on|near|than|over|without|not|i|he|she|they|it|you|him|her|them|me|that|how"
    r"|what|why|think|say|see|believe|wish|being|having|working|meeting|living|am|is|are|was|were"
    r"|during|through|around|across|against|between|under|like|more|less|most|for(?! the love)"
    r"|told|said|instead)\b"
    r"|(?<!thing\x20)(?<!stuff\x20)(?<!music\x20)(?<!songs\x20)(?<!books\x20)(?<!things\x20)(?<!movies\x20)\bfrom\b",
)
_THAN: Final = spaced(
    r"\b(?:more|better|rather) than\b|\bover\b|\binstead of\b",
)


class Opinion(NamedTuple):
    """Where a sentence says what is liked or disliked."""

    start: int  # of what is liked or disliked, in its sentence
    end: int
    liked: bool
    why: str


def opinions(text: str) -> list[Opinion]:
    """Return where a sentence says what its speaker likes or dislikes."""
    read_opinions: list[Opinion] = []
    heads: list[int] = []
    for patterns, liked in ((_DISLIKING, False), (_LIKING, True)):
        for pattern, why in patterns:
            cancel.check()
            for whole in pattern.finditer(text):
                head = whole if _is_meant(text, whole) else _without_other(pattern, text, whole)
                at = head.start() if head else 0
                read = any(
                    begin - 2 < at < opinion.start
                    for begin, opinion in zip(heads, read_opinions, strict=True)
                )
                if head is None or read:
                    continue
                read_opinions.append(Opinion(head.end(), _end(text, head.end(), why), liked, why))
                heads.append(at)
    for head in _GOING_ON.finditer(text):
        if any(opinion.start < head.start() for opinion in read_opinions):
            read_opinions.append(
                Opinion(
                    head.end(), _end(text, head.end()), head["hates"] is None, "goes on to say so"
                )
            )
    return read_opinions


_OTHER_AND: Final = spaced(r"(?:my )?\w+ and (?=i\b)")


def _without_other(
    pattern: re.Pattern[str], text: str, head: re.Match[str]
) -> re.Match[str] | None:
    """Return a statement that begins at its "I": "I tried the Q40 and I hate it" is about one."""
    other = _OTHER_AND.match(head[0].lstrip())
    if other is None:
        return None
    alone = pattern.match(text, head.end() - len(head[0].lstrip()) + other.end())
    return alone if alone and _is_meant(text, alone) else None


_OF_MATTER: Final = spaced(rf"(?<=\w) {_MATTER}\b")


def _is_initial(text: str, match: re.Match[str]) -> bool:
    """Say whether a dot belongs to an initial: "Ursula K. Le Guin", not "vitamin C. Anna"."""
    at = match.start()
    return match[0] == "." and _INITIAL.search(text, max(0, at - 40), at) is not None


def _end(text: str, start: int, why: str = "") -> int:
    """Return where what is liked ends: at the next clause, or at what it is liked better than.

    Of "no more Elon Musk news" it ends before the news.
    """
    stops = (_BREAK, _THAN, _OF_MATTER) if why == NO_MORE_OF_IT else (_BREAK, _THAN)
    ends = [
        stop_match.start()
        for stop in stops
        if (
            stop_match := next(
                (match for match in stop.finditer(text, start) if not _is_initial(text, match)),
                None,
            )
        )
    ]
    return min(ends, default=len(text))


def _is_meant(text: str, head: re.Match[str]) -> bool:
    """Say whether the words before a statement let it stand: no wish, no "she said that ..."."""
    before = text[: head.start()].replace("’", "'")
    if SPOKEN_OF in head[0]:
        return False
    plain = _FINE_LEAD.sub(" ", before)
    if re.search(
        r"\b(?:if|unless|whether|suppose|supposing|imagine|pretend|wish|what if"
        r"|according to (?!me\b))\b",
        plain,
        re.I,
    ):
        return False
    parts = list(PART.finditer(plain))
    clause = plain[parts[-1].end() :] if parts else plain
    if parts and parts[-1][0].strip(" ,").casefold() in ("and", "or") and not clause.strip():
        clause = ""
    if UNREAL.search(clause):
        return False
    # "My wife thinks that jazz is fine, and I love it": only the last clause counts.
    return re.search(r"[^\W\d_]{3,}\s*$", clause) is None or _fills(clause)


def _fills(clause: str) -> bool:
    """Say whether a clause holds only words that may stand before a statement."""
    words = re.findall(r"[\w']+", clause.casefold())
    return len(words) <= 1 or all(
        is_greeting(word) or opens_sentences(word) or is_function_word(word) for word in words
    )


def is_object(text: str, begin: int, start: int) -> bool:
    """Say whether what stands at `start` is itself what an opinion that begins before is about.

    "I love Radiohead and Muse" is about both; in "I love Radiohead with Anna" Anna is not loved.
    """
    return _BLOCKS.search(text, begin, start) is None


def judged(text: str, start: int, end: int) -> tuple[bool, str] | None:
    """Return whether a sentence judges what it names at a place well, and how; None if it does not.

    "Dune is my favorite", "Dune rocks", "Dune is overrated".
    """
    favorite = FAVORITE_AFTER.match(text, end)
    match = favorite or _JUDGED_AFTER.match(text, end)
    if match is None or not opens_clause(text, start):
        return None
    if favorite:
        if favorite["not"]:
            return None  # "not my favorite" is no dislike
        return "least" not in favorite[0].casefold(), "names it as a favorite"
    good = bool(match["praise"] or match["rocks"])
    return good is not bool(match["not"]), "judges it"


def opens_clause(text: str, at: int) -> bool:
    """Say whether a name is what its clause speaks of: nothing but an article stands before it."""
    before = _FINE_LEAD.sub(" ", text[:at].replace("’", "'"))
    parts = list(PART.finditer(before))
    clause = before[parts[-1].end() :] if parts else before
    if UNREAL.search(clause) or re.search(r"\b(?:if|whether|unless)\b", before, re.IGNORECASE):
        return False
    words = re.findall(r"[\w']+", clause.casefold())
    return all(
        word
        in (
            "the",
            "my",
            "our",
            "these",
            "those",
            "this",
            "that",
            "new",
            "both",
            "i",
            "think",
            "guess",
        )
        or is_greeting(word)
        or (is_function_word(word) and word in ("so", "and", "but", "just", "yes", "well", "all"))
        for word in words
    )


# --- what "it" stands for -------------------------------------------------------------------------


class NamePlace(NamedTuple):
    """A name, and where it stands in its sentence."""

    name: str
    start: int
    end: int


_PEOPLE: Final = (
    r"(?:(?:step|grand|great|half|ex)[- ]?)?(?:mother|father|mum|mom|mommy|mummy|dad|daddy|sister"
    r"|brother|sis|bro|sibling|son|daughter|child|children|kid|baby|aunt|auntie|uncle|cousin|niece"
    r"|nephew|grandma|grandpa|granny|nana|parent|wife|husband|spouse|partner|girlfriend|boyfriend"
    r"|fianc[eé]e?|ex|friend|bestie|mate|buddy|pal|roommate|housemate|flatmate|boss|manager"
    r"|colleague|coworker|co-worker|workmate|neighbou?r|teacher|professor|tutor|coach|trainer"
    r"|doctor|dentist|therapist|nurse|landlord|student|classmate|teammate|bandmate|twin"
    r"|guy|man|woman|men|women|lady|girl|boy|dude|person|people|family|folk)(?:-in-law)?s?"
)
_PERSON_BEFORE: Final = spaced(
    rf"\b(?:my|our|his|her|your|their|an?|the|this|that) (?:[\w-]+ ){{0,2}}?{_PEOPLE}"
    r"(?:,| (?:called|named))? $"
    r"|\b(?:met|meet|meeting|texted|phoned|emailed|hugged|married|dating) $"
)
_FEELS: Final = (
    r"(?:(?:also|really|always|absolutely|just|never|still|both|all) )*(?:loves?|loved|likes?"
    r"|liked|hates?|hated|adores?|enjoys?|prefers?|can['’]?t stand|dislikes?|says?|said|thinks?"
    r"|thought|told|tells|asked|asks|wants?|wanted|knows?|knew|recommend(?:s|ed)|listens?|watches"
    r"|watched|reads|bought|buys|gave|sent|showed|texted|called|plays|played|owns|uses|used"
    r"|is (?:into|obsessed|crazy|a (?:big |huge )?fan))\b"
)  # what people do; that somebody says "I ..." of a thing comes after it
_PERSON_AFTER: Final = spaced(
    rf"(?:,? (?:my|our|his|her|a) (?:[\w-]+ ){{0,2}}?{_PEOPLE}\b"
    rf"|(?: (?:and|or) (?!(?:i|we)\b)\w+)? {_FEELS}"
    r"| and (?:i|me)(?= (?:both|all|are|were|have|went|saw)\b))"
)
_PRONOUN_OBJECT: Final = spaced(
    r"\s*(?P<pronoun>it|them|him|her|(?:those|these|this|that)"
    r"(?=\s*(?:$|[.,;:!?)…]|(?:so much|too|a lot|very much)\b)))\b"
    r"(?! (?:when|that|how|if|to|was|is|are|here|there|\w+ing\b))",
)
_DETERMINED: Final = spaced(
    r"(?P<before>\w+ )?\b(?:an?|the|my|our|his|her|their|your|its|this|that|these|those|some"
    r"|another)(?P<noun>(?: [a-z][\w'’-]*+){1,4}+)(?! \x02)"
)
_WHEN: Final = word_set("""
    for in on at from to by during after before since until this that last next every
    morning afternoon evening night week weekend month year day days time times summer winter
    spring autumn fall moment while bit lot few
    """)  # before a noun or as one they say when, where and what for
SOMEONE: Final = spaced(rf" (?:[\w-]+ ){{0,2}}?{_PEOPLE}\b")
_BESIDE: Final = spaced(
    r"(?P<first>\w+)(?: (?:and|or|nor|&)|,(?: (?:and|or))?) (?:the |an? )?\x02"
    r"|\x02(?: (?:and|or|&)|,(?: (?:and|or))?) (?:the |an? |some )?(?P<second>\w+)"
)
_STAYS: Final = spaced(
    r"(?:['’]s| (?:is|are|was|were|isn['’]?t|aren['’]?t|has|have|had|arrived"
    r"|came(?! (?:over|by|to|home|back)\b)|looked|sounded|felt|tasted|turned out"
    r"|\w{2,}(?<!s)s))\b(?! \w+ing\b)|\W*$"
)
"""Behind the name of a thing that is spoken of still: "the Q40 is heavy", not "they broke up"."""


def pronoun_at(words: str, at: int) -> re.Match[str] | None:
    """Return the pronoun that an opinion is about; its group `pronoun` is the word."""
    return _PRONOUN_OBJECT.match(words, at)


def referred(words: str, places: Sequence[NamePlace], pronoun: str) -> NamePlace | None:
    """Return the one thing that a pronoun behind some words means; None where it may be another.

    `places` are the names in the words. "My sister Klara loves Coldplay but I can't stand them"
    means the band: whoever has a name is nobody's like or dislike, unless "him" or "her" says so.
    """
    someone = pronoun.casefold() in ("him", "her")
    things = [
        place
        for place in places
        if not _PERSON_BEFORE.search(words, 0, place.start)
        and (someone or not _PERSON_AFTER.match(words, place.end))
    ]
    if len({place.name for place in things}) != 1:
        return None
    place = things[-1]
    if not someone and (names_other_things(words, places) or _is_event(words, place, pronoun)):
        return None
    return place


def names_other_things(words: str, places: Sequence[NamePlace] = ()) -> bool:
    """Say whether words speak of a thing beside those that they name: "my car", "jazz and Muse"."""
    signs = list(words)
    for place in places:
        signs[place.start : place.end] = "\x02" * (place.end - place.start)
    plain = re.sub("\x02+", "\x02", "".join(signs))
    for match in _DETERMINED.finditer(plain):
        before = (match["before"] or "").strip().casefold()
        nouns = match["noun"].split()
        if before in _WHEN or SOMEONE.match(match["noun"]) or _WHEN.intersection(nouns):
            continue
        if not all(map(is_function_word, nouns)):
            return True
    return any(
        not is_function_word(word.casefold()) and not word.casefold().endswith("ed")
        for beside in _BESIDE.finditer(plain)
        for word in (beside["first"] or beside["second"],)
    )


def _is_event(words: str, place: NamePlace, pronoun: str) -> bool:
    """Say whether "it" may be what a thing did: "Coldplay broke up and I hate it"."""
    if pronoun.casefold() not in ("it", "this", "that") or not opens_clause(words, place.start):
        return False
    parts = PART.search(words, place.end)
    return _STAYS.match(words[: parts.start() if parts else None], place.end) is None
