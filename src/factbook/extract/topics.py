"""Read what a request to search, to learn or to tell is about.

Knows: the ways in which people ask ("can you look up", "stuff about", "how much is"), what they ask
of a thing ("the price of X", "X problems", "X compared with Y"), and how to make searches of a
topic. Does not know what is kept or known. English.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.name_tokens import (
    is_shouted,
    is_uncommon,
)
from factbook.extract.names import (
    is_headline,
    names_in,
)
from factbook.language.common_words import is_function_word, is_place
from factbook.language.nouns import is_plural
from factbook.language.numbers import SEVERAL

__all__ = ["TopicSpan", "asks_of", "learn_queries", "named_topic", "request_of", "topic_of"]

REQUEST_CHARS: Final = 2_000  # ours: of a request; nobody asks for more at once


class TopicSpan(NamedTuple):
    """What a request is about, as it stands there, and its place."""

    topic: str
    start: int
    end: int


_POLITE: Final = (
    r"(?:(?:hey|hi|hello|ok(?:ay)?|so|now|then|well|please|pls|plz|kindly|just|also|and|penny"
    r"|thanks|(?:can|could|would|will)\s+(?:you|we)(?:\s+(?:please|kindly|just|maybe))?"
    r"|(?:i(?:['’]d|\s+would)?|we)\s+(?:just\s+|really\s+)?(?:want|need|like"
    r"|love)\s+(?:you\s+)?to|i\s+want\s+(?:you\s+)?to|i(?:['’]m|\s+am)\s+(?:curious|trying"
    r"|looking)\s+(?:to|about|for)|i\s+was\s+wondering(?:\s+if\s+you\s+could)?|go\s+ahead\s+and"
    r"|let['’]?s|help\s+me(?:\s+to)?|do\s+you\s+mind|i\s+wonder|try\s+(?:to|and))\b[\s,:!]*)*"
)
_ABOUT: Final = r"(?:about|on|regarding|concerning|for|of|into|around|related\s+to|to\s+do\s+with)"
_STUFF: Final = (
    r"(?:(?:me|us|out|up|online|the\s+web(?:\s+for)?|the\s+internet(?:\s+for)?|some|any|all|more"
    r"|a\s+bit|a\s+lot|the|latest|newest|recent|new|current|interesting|good|useful|detailed"
    r"|further|general)\s+)*(?:stuff|things?|something|anything|everything|info|information"
    r"|details?|facts?|news|articles?|updates?|resources?|material|data|reviews?|opinions?"
    r"|reports?|research|papers?|posts?|links?|results?|more|background|an?\s+overview"
    r"|the\s+latest|what['’]?s\s+new|what\s+there\s+is)"
)
_VERB: Final = (
    r"(?:search(?:\s+(?:the\s+(?:web|internet|net)|online|around|google))?(?:\s+(?:for|on|about"
    r"|up))?|google(?:\s+for)?|look(?:\s+(?:up|for|into|around\s+for|at))|find(?:\s+out)?|get"
    r"|fetch|dig\s+up|research|learn|study|explore|investigate|read(?:\s+up)?|check(?:\s+out)?|show"
    r"|give|tell|teach|explain|describe|track|follow|monitor|keep\s+an\s+eye\s+on|watch\s+for"
    r"|hear|know|see|do\s+(?:some\s+|a\s+bit\s+of\s+)?(?:research|reading))"
)
_ASKED: Final = (
    r"(?:(?:is|are)\s+there\s+(?=(?:any|some|a|an)\b)|do\s+you\s+(?:have|know)\s+(?=(?:the|any"
    r"|some)\b)"
    r"|what\s+do\s+(?:you|we)\s+know\s+about|(?:do|did|have)\s+you\s+(?:know|heard?"
    r"|have)\s+(?:(?:anything|something|much|any\s+\w+)\s+)?(?:about|of|on)"
    r"|what\s+can\s+you\s+(?:tell\s+me|say)\s+about|what['’]?s\s+(?:new|going\s+on|happening"
    r"|up)\s+(?:with|in|on|at)|what\s+is\s+(?:new|happening)\s+(?:with|in)|what(?:['’]s|\s+(?:is"
    r"|are|was|were))\s+(?:the\s+(?:deal|story|latest)\s+(?:with|on|about)\s+)?|who(?:['’]s"
    r"|\s+(?:is|are|was|were))|what\s+about|how\s+about|any\s+(?:news|updates?|info|word"
    r"|thoughts)\s+(?:about|on|of|from|regarding)|how\s+(?:good|great|bad|big|old|expensive|much"
    r"|heavy|fast)\s+(?:is|are)|how\s+(?:does|do|did)|(?:is|are|was|were)(?=\s+.*\b(?:any\s+good"
    r"|worth\s+it)))"
)
_LEAD: Final = re.compile(
    rf"\s*{_POLITE}(?:(?:{_ASKED}|{_VERB})\b\s*)?(?:{_STUFF}\s+{_ABOUT}\s+|(?:me|us|out|more)\s+"
    rf"|{_ABOUT}\s+)*",
    re.IGNORECASE,
)
_ONLY_LEADS: Final = re.compile(rf"\s*{_POLITE}", re.IGNORECASE)
_STUFF_FIRST: Final = re.compile(rf"\s*{_STUFF}\s+{_ABOUT}\s+", re.IGNORECASE)
_TAIL: Final = re.compile(
    r"(?:[\s,]+(?:please|pls|plz|thanks|thank\s+you|thx|for\s+me|online|on\s+the\s+(?:web"
    r"|internet)|info|information|details|today|at\s+the\s+moment|these\s+days|now|again|right"
    r"\s+now|asap|when\s+you\s+(?:can|have\s+(?:time|a\s+\w+))|if\s+you\s+(?:can"
    r"|could)|or\s+so|stuff|(?:is|are|was|were)(?:\s+(?:all|really))?(?:\s+(?:any\s+good|like"
    r"|about|worth\s+it))?|any\s+good|worth\s+(?:it|buying|the\s+money)|like|work|works)"
    r"|[\s?.!,;:…\"”’')\]]+)+$",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"(?:the|a|an|some|my|our|this|that|these|those|any)\s+(?=\S)", re.I)
_OPENING: Final = re.compile(r"[\s\"“‘'(\[,:;.!?-]+")


# What is asked of a thing; the thing is the topic. Words that are as well the last one of names
# ("history", "museum", "club") are only read in front ("the history of jazz").
_ASPECT: Final = (
    r"(?:(?:best|lowest|current|used|retail|street|new|latest|common|known|main|user|owner['’]?s"
    r"|customer|online|full|technical|detailed|official)\s+)?"
    r"(?:prices?|pricing|costs?|reviews?|ratings?|opinions|problems?|issues?|bugs?|faults?|defects"
    r"|troubles?|troubleshooting|complaints|alternatives?|comparisons?|competitors|manuals?"
    r"|instructions|warranty|guarantee|release\s+dates?|launch\s+date|release\s+notes|changelog"
    r"|specs?|specifications?|spec\s+sheet|data\s*sheet|features|dimensions|measurements"
    r"|battery\s+life|opening\s+(?:hours|times)|hours|firmware|drivers|discounts?|coupons?|deals?"
    r"|availability|pros\s+and\s+cons|advantages|disadvantages|benefits|drawbacks|downsides"
    r"|side\s+effects|faqs?|setup|tutorials?|beginner['’]?s\s+guide|tips|tricks|definition"
    r"|meaning|biography|wiki(?:pedia)?(?:\s+(?:page|article|entry))?"
    r"|website|home\s?page|phone\s+number|lyrics|plot|synopsis"
    r"|spoilers|trailers?|screenshots|accessories|spare\s+parts|replacement\s+parts|maintenance"
    r"|resale\s+value|tests?|test\s+results|benchmarks?|news|updates?)"
)
_ONLY_BEFORE: Final = (
    r"(?:best|histor(?:y|ies)|stor(?:y|ies)\s+behind|origins?|future|quality|weight|size|author"
    r"|designer"
    r"|maker|makers|manufacturer|inventor|founder|guide|introduction|basics|rules|ending|cast"
    r"|summary|recipes?|soundtrack|pictures|photos|videos|list|overview|explanation|differences?"
    r"|colou?rs?|name|age|cause|causes|symptoms|types|kinds|examples)"
)
_SORT: Final = (
    r"(?:movies?|films?|books?|novels?|series|shows?|episodes?|seasons?|games?|apps?|albums?|songs?"
    r"|bands?|podcasts?|channel|sites?|accounts?|stores?|shops?|teams?|fans?|fandom|community"
    r"|thing)"
)  # behind a name these only say of what sort it is
_BESIDE_NAME: Final = re.compile(rf"(?:{_ASPECT}|{_ONLY_BEFORE}|{_SORT})", re.IGNORECASE)
_QUALITY: Final = (
    r"(?:(?:the|some|any|a|an|really|very|most|more)\s+)*(?:best|better|good|great|nice|decent"
    r"|cheap|cheaper|cheapest|affordable|popular|recommended|reliable|latest|newest|upcoming"
    r"|top(?:[\s-]+(?:\d{1,3}|ten"
    r"|five|rated))?|high[\s-]end|inexpensive|expensive|worthwhile)\s+"
)
_ASKED_OF: Final = re.compile(
    rf"(?:(?:the|a|an|any|some|all|its|their)\s+)?(?:{_QUALITY})?"
    rf"(?P<aspect>(?:{_ASPECT}|{_ONLY_BEFORE})(?:\s*(?:,|\band\b|\bor\b|&)\s*(?:the\s+)?"
    rf"(?:{_ASPECT}|{_ONLY_BEFORE}))*)\s+(?:of|for|with|about|on|to|from|(?P<two>between))\s+",
    re.IGNORECASE,
)
_SECOND: Final = re.compile(r"\s+(?:and|&|with|to)\s.*$", re.DOTALL)
_LOOSE_END: Final = re.compile(r"(?:[\s,:;]+(?:and|or|&|of|for|with|the|its)|[\s,:;–—-]+)$", re.I)
_HOW_TO: Final = re.compile(
    r"how\s+(?:to|do\s+(?:i|you|we|people)|can\s+(?:i|you|we)|should\s+i)\s+(?:best\s+|properly"
    r"\s+)?"
    r"(?:(?:get|getting)\s+(?:started\s+(?:with|in|on)|into|better\s+at)|(?:begin|start|work|deal)"
    r"\s+(?:with|on)|take\s+care\s+of|care\s+for|set\s+up|use|fix|repair|clean|maintain|install"
    r"|configure|buy|choose|pick|learn|play|make|build|brew|cook|bake|grow|train|get|find)\s+",
    re.IGNORECASE,
)
_DID: Final = (
    r"(?:made|makes?|designed|designs|wrote|writes|invented|built|builds|founded|created|creates"
    r"|develops?|developed|directed|produced|produces|sang|sings|composed|painted|owns|published"
    r"|publishes|sells|discovered|starred\s+in|stars\s+in|plays\s+in)"
)
_ASKS_WHO: Final = re.compile(
    rf"(?:who|which\s+\w+|what\s+(?:company|brand|band|studio))\s+(?:has\s+|have\s+)?{_DID}\s+",
    re.IGNORECASE,
)
_ASKS_WHEN: Final = re.compile(
    r"(?:(?:how\s+much|how\s+long|when|where)\s+(?P<being>is|are|was|were|can\s+(?:i|you|we)"
    r"\s+(?:buy|get|find|see|watch|read))|(?:how\s+much|how\s+long|how\s+many\s+\w+|what|when"
    r"|where)"
    r"\s+(?:does|do|did|will|would|has|have))\s+(?P<thing>.+?)(?P<done>\s+(?:cost|weigh|measure"
    r"|take|last|mean|do|look\s+like|sound\s+like|coming\s+out"
    r"|come\s+out|going\s+to\s+be\s+released|(?:be(?:en)?\s+)?(?:released|made|built|produced"
    r"|published|founded|invented|designed|written|filmed|sold|set|located|available)|from|out|hold"
    r"|start|open|close|end|be|have|on\s+sale))?",
    re.IGNORECASE,
)
_RATHER: Final = re.compile(
    r"[\s,]+(?:vs\.?|versus|(?:as\s+)?compared\s+(?:with|to|against)|in\s+comparison\s+(?:with|to)"
    r"|instead\s+of|rather\s+than)(?:\s.*|$)|[\s,]+(?:compared|comparison)$",
    re.IGNORECASE | re.DOTALL,
)
_BOUNDS: Final = re.compile(
    r"[\s,]+(?:for\s+(?:beginners|dummies|newbies|me|us|sale)|near\s+(?:me|here|by)|nearby"
    r"|(?:in|of|from|for)\s+(?:19|20)\d\d|(?:under|below|over|above|around|up\s+to|less\s+than"
    r"|cheaper\s+than)\s+(?:[$€£¥]\s?)?\d[\d.,]*k?(?:\s*(?:[$€£¥]|euros?|dollars|bucks|pounds|usd"
    r"|eur|gbp))?|to\s+buy|worth\s+buying|(?:this|next|last)\s+(?:year|month|week)|explained"
    r"|step\s+by\s+step|so\s+far|lately|recently)$",
    re.IGNORECASE,
)
_ASPECT_LAST: Final = re.compile(
    rf"(?P<owned>['’]s?)?[\s,:]+(?P<aspect>(?:{_ASPECT})(?:(?:\s*(?:,|\band\b|\bor\b|&)\s*|\s+)"
    rf"(?:{_ASPECT}))*)$",
    re.IGNORECASE,
)
_AFTER_NAME: Final = re.compile(
    rf"(?P<owned>['’]s?)?\s+(?P<aspect>{_ONLY_BEFORE})$", re.IGNORECASE
)  # behind what is written as a name: "Elden Ring ending"
_LIKE: Final = re.compile(
    r"(?:(?:something|anything|things|stuff|more)\s+(?:like|similar\s+to)|(?P<both>compare)"
    r"|new(?=\s+[A-Z]))\s+(?:(?:the|a|an)\s+)?",
)
_BEST: Final = re.compile(_QUALITY, re.IGNORECASE)
_WANTS_SOME: Final = re.compile(
    r"\b(?:find|get|give|recommend|suggest|name)\s+(?:me|us)\s+$", re.IGNORECASE
)
_COUNTED: Final = re.compile(
    rf"(?P<number>(?:(?:{SEVERAL})|\d{{1,2}})\s+)"
    rf"(?:{_QUALITY})?(?P<noun>[a-z]+)$"
)  # "find me three speakers" asks for speakers; "Nine Lanterns" is a name
_SET_PHRASE: Final = re.compile(
    r"(?:best\s+(?:practices?|buy|man|men|friends?|seller|western)|good\s+(?:friday|faith|morning"
    r"|night|omens|place|doctor|wife|fight|will)|top\s+(?:gun|gear|chef)|cheap\s+(?:trick|thrills"
    r"|talk)|great\s+(?:gatsby|expectations|depression|war|wall|lakes|dane|danes)|better\s+call"
    r"|better\s+things|nice\s+guys)\b",
    re.IGNORECASE,
)  # in lower case too these words are names, or mean something of their own
_QUOTED_WHOLE: Final = re.compile(r"[\"“«](?P<inner>[^\"”»\n]{1,100})[\"”»]")
_NARROWED: Final = 6  # ours: times that a request is taken apart: "the best price of good X"


def topic_of(request: str) -> TopicSpan:
    """Return what a request to search or to learn is about, as it stands in the request.

    "find me stuff about speakers" is about `speakers`, "search for LS50 Meta reviews" and "what
    does the LS50 Meta cost?" about `LS50 Meta`. What is put between quotes is taken as it stands.
    Where nothing else is left, it is about its own words; an empty text has an empty topic.
    """
    text = request[:REQUEST_CHARS]
    start, inner, end = _asked(text)
    whole = _quoted(text, inner)
    if whole is not None:
        return whole
    stop = len(text.rstrip())
    asked = _question(text, start, stop)
    if asked is not None:
        inner, end = asked
    inner, end = _narrowed(text, inner, end, first=start)
    return _topic_span(text, inner, end)


def request_of(request: str) -> TopicSpan:
    """Return what a request asks, without the words that only ask.

    Of "can you look up the LS50 Meta reviews?" these are `LS50 Meta reviews`: what to search for,
    where `topic_of` is the thing.
    """
    text = request[:REQUEST_CHARS]
    _, inner, end = _asked(text)
    return _quoted(text, inner) or _topic_span(text, inner, end)


def _asked(text: str) -> tuple[int, int, int]:
    """Return (where a request begins, where what it asks begins, and ends)."""
    stop = len(text.rstrip())
    start = _past(_OPENING, text, 0)
    lead = _LEAD.match(text, start)
    inner = lead.end() if lead else start
    if inner >= stop:
        inner = start
    again = _STUFF_FIRST.match(text, inner)
    if again and again.end() < stop:
        inner = again.end()
    inner = _past(_OPENING, text, inner)
    inner, end = _without_ends(text, inner, stop)
    counted = _COUNTED.match(text, inner, end) if _WANTS_SOME.search(text, 0, inner) else None
    if counted and is_plural(counted["noun"].casefold()):
        inner = counted.end("number")
    return (start, inner, end) if text[inner:end].strip() else (start, start, stop)


def _quoted(text: str, inner: int) -> TopicSpan | None:
    quoted = _QUOTED_WHOLE.match(text, max(0, inner - 1))
    if quoted is None or not quoted["inner"].strip():
        return None
    return _topic_span(text, *quoted.span("inner"))


def _topic_span(text: str, start: int, end: int) -> TopicSpan:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return TopicSpan(text[start:end], start, max(start, end))


def _without_ends(text: str, start: int, stop: int) -> tuple[int, int]:
    """Leave out an article before a topic, and what only asks or thanks after it."""
    article = _ARTICLE.match(text, start)
    if article and article.end() < stop:
        start = article.end()
    tail = _TAIL.search(text, start)
    return start, tail.start() if tail and tail.start() > start else stop


def _question(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """Return the place of what a question asks something of: "who designed X", "how much is X"."""
    lead = _ONLY_LEADS.match(text, start)
    begin = lead.end() if lead else start
    _, end = _without_ends(text, begin, stop)
    for pattern in (_HOW_TO, _ASKS_WHO):
        match = pattern.match(text, begin, end)
        if match and match.end() < end:
            return _without_ends(text, match.end(), stop)
    match = _ASKS_WHEN.fullmatch(text, begin, end)
    if match is None or not (match["being"] or match["done"]):
        return None
    where = match.span("thing")
    article = _ARTICLE.match(text, where[0], where[1])
    return (article.end() if article else where[0]), where[1]


def _narrowed(text: str, start: int, end: int, *, first: int) -> tuple[int, int]:
    """Return the place of the thing that something is asked of: the X in "the price of X".

    A word with a capital inside a request belongs to a title: "The Price of Salt", "Good Omens".
    """
    for _ in range(_NARROWED):
        before = start, end
        asked = _ASKED_OF.match(text, start, end)
        if (
            asked
            and asked.end() < end
            and (asked.start("aspect") == first or not _titled(text, asked.start("aspect")))
        ):
            start = asked.end()
            article = _ARTICLE.match(text, start, end)
            start = article.end() if article and article.end() < end else start
            second = _SECOND.search(text, start, end) if asked["two"] else None
            end = second.start() if second and second.start() > start else end
        like = _LIKE.match(text, start, end)
        if like and like.end() < end:
            start = like.end()
            second = _SECOND.search(text, start, end) if like["both"] else None
            end = second.start() if second and second.start() > start else end
        best = _BEST.match(text, start, end)
        if (
            best
            and best.end() < end
            and not _SET_PHRASE.match(text, start, end)
            and not _titled(text, best.end() if start == first else start)
        ):
            start = best.end()
        for pattern in (_RATHER, _BOUNDS, _LOOSE_END):
            match = pattern.search(text, start, end)
            if match and match.start() > start:
                end = match.start()
        for pattern in (_ASPECT_LAST, _AFTER_NAME):
            last = pattern.search(text, start, end)
            thing = text[start : last.start()] if last else ""
            if last and thing and _asks_of(thing, text[last.start("aspect") :], pattern, last):
                end = last.start()
        if (start, end) == before:
            break
    return start, end


def _titled(text: str, at: int) -> bool:
    return text[at : at + 1].isupper() and not is_shouted(text)


_LAST_NOUNS: Final = re.compile(
    r".*\b(?:of|for|with|about|on|in|at|to|from|and|or|the|a|an)\s+", re.I | re.DOTALL
)


def _asks_of(thing: str, aspect: str, pattern: re.Pattern[str], last: re.Match[str]) -> bool:
    """Say whether the last words of a request ask something of the words before them.

    "the prices of speakers" do, "gas prices" and "code review" are themselves what is asked about.
    """
    titled = aspect[:1].isupper()
    if titled and (pattern is _AFTER_NAME or not any(map(is_uncommon, thing.split()))):
        return False  # a title: "The Price Guide"; "Wharfedale Denton Reviews" is none
    if pattern is _AFTER_NAME and not is_headline(thing.split()):
        return False
    head = _LAST_NOUNS.sub("", thing)
    words = [word.casefold() for word in _SPOKEN_WORD.findall(head)]
    return last["owned"] is not None or (
        bool(words)
        and not all(map(is_function_word, words))
        and (
            len(words) > 1
            or any(char.isdigit() for char in head)
            or is_uncommon(words[0])
            or is_plural(words[0])
        )
    )


def asks_of(words: str) -> bool:
    """Say whether words behind a name only say what of it is meant: "trailer", "soundtrack"."""
    return _BESIDE_NAME.fullmatch(words) is not None


_NO_PHRASE: Final = word_set("""
    i i'm i've i'd you you're we we're he she they me my mine your our us them it's is isn't are
    aren't was wasn't were be been do does doesn't did didn't don't can can't could should would
    will won't has have had what what's who who's whom whose how why when where which if because
    whether
    """)


def named_topic(request: str) -> TopicSpan | None:
    """Return what a request is about where it names that; None where it only says something.

    "does the LS50 need a subwoofer?" names the LS50; "why do people snore" names nothing that could
    be kept by its words.
    """
    span = topic_of(request)
    owned = _OF_A_NAME.fullmatch(span.topic)
    if owned and (any(map(str.isdigit, owned["name"])) or is_headline(owned["name"].split())):
        return TopicSpan(owned["name"], span.start, span.start + owned.end("name"))
    words = [match[0] for match in _SPOKEN_WORD.finditer(span.topic)]
    said = any(
        word.casefold().replace("’", "'") in _NO_PHRASE and (not at or not word[0].isupper())
        for at, word in enumerate(words)
    )
    titled = len(words) > 1 and all(
        word[0].isupper() or word[0].isdigit() or is_function_word(word.casefold())
        for word in words
    )
    local = _AT_PLACE.fullmatch(span.topic)
    if local and is_place(local["place"].casefold()) and len(local["what"].split()) == 1:
        return None  # "restaurants in Porto": a look at the map
    if not said or (titled and words[0][0].isupper() and words[-1][0].isupper()):
        return span if span.topic else None
    names = [name for name in names_in(request) if span.start <= name.start < span.end]
    if len({name.name for name in names}) != 1:
        return None
    return TopicSpan(names[0].surface, names[0].start, names[0].end)


_OF_A_NAME: Final = re.compile(r"(?P<name>[^'’]+)['’]s\s+[a-z][a-z -]*")
_AT_PLACE: Final = re.compile(r"(?P<what>.+?)\s+(?:in|near|at|around|for|of)\s+(?P<place>.+)", re.I)
_SPOKEN_WORD: Final = re.compile(r"[^\W_]+(?:['’.&+-][^\W_]+)*")


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


_ASKS_ITSELF: Final = re.compile(
    r"(?:what|who|how|why|when|where|which|is|are|do|does|can)\b",
    re.I,
)


def learn_queries(topic: str) -> list[str]:
    """Return the searches by which a topic is learned without a model: 3 to 5, all different.

    They follow fixed patterns: the topic itself; what it is; its latest; what it compares with; how
    to. A topic that is a question already is not asked about once more.

    Raises:
        ValueError: the topic is empty.
    """
    topic = " ".join(topic.split()).strip(" ?!.,;:")
    if not topic:
        raise ValueError("the topic to learn is empty; say what it is, as in `/learn espresso`")
    asks = _ASKS_ITSELF.match(topic) is not None
    last = topic.split()[-1].casefold()
    verb = "are" if is_plural(last) else "is"
    if asks:
        queries = [topic, f"{topic}: the latest", f"{topic}: the answers compared"]
    else:
        queries = [
            topic,
            f"what {verb} {topic}",
            f"latest news about {topic}",
            f"{topic} compared with alternatives",
            f"how to get started with {topic}",
        ]
    return queries[: policy.LEARN_QUERIES[1]]
