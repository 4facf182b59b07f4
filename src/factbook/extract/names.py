"""Find what may be a name in a text.

Knows: the signs of a name (quotes, capitals, digits in a word, a hashtag) and where capitals tell
nothing (the first word of a sentence, titles, shouting, code, other languages). Does not know which
names are known already, who speaks, or what is kept: `heard` reads what an owner says of a name,
and the gate judges it.

Names are read in English text. Of a text in another language only signs that need no grammar are
taken: quoted titles, words with digits, hashtags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.name_runs import (
    BEFORE_NAMES,
    SELF,
    VARIANTS,
    adds,
    is_had,
    is_marked,
    is_model,
    is_name_in_capitals,
    is_numbered,
    is_shouted_word,
    is_sloppy,
    joins_on,
    judged,
    run_at,
    span_of,
    trimmed_run,
    with_capitals,
)
from factbook.extract.name_tokens import (
    MEASURE,
    NEVER,
    TAKEN,
    NameSign,
    NameSpan,
    Token,
    is_capital,
    is_english,
    is_shouting,
    is_title,
    is_uncommon,
    masked,
    sentences_of,
    tokens_of,
)
from factbook.language.common_words import (
    is_function_word,
    is_place,
    opens_sentences,
)
from factbook.language.nouns import is_plural
from factbook.language.sentences import LINE_END
from factbook.model.keys import entity_name
from factbook.net import cancel

__all__ = ["is_headline", "names_in"]

# --- quotes and hashtags --------------------------------------------------------------------------

_QUOTE: Final = re.compile(
    r"(?P<a>(?<![\w\"])\"(?P<at>[^\"\n]{1,120})\"(?![\w\"]))|“(?P<bt>[^”“\n]{1,120})”"
    r"|«(?P<ct>[^»«\n]{1,120})»|《(?P<dt>[^》《\n]{1,60})》|„(?P<et>[^“”„\n]{1,120})[“”]"
    r"|(?<![\w'’])['‘](?P<ft>[A-Z][^'’‘\n\"]{1,60}(?:['’](?=\w)[^'’‘\n\"]{1,40})?)['’](?![\w])"
)
_CALLED: Final = re.compile(
    r"\b(?:called|named|titled|entitled|book|novel|film|movie|song|album|track|show|series|game"
    r"|band|podcast|app|play|musical|anime|manga|comic|poem|documentary|magazine|restaurant|bar"
    r"|cafe|brand|tool|library|channel|product|project|paper|reading|watching|playing|read"
    r"|watched|finished)[,:]?\s*$",
    re.IGNORECASE,
)
_PRESSED: Final = re.compile(
    r"\b(?:click(?:ed|ing)?(?: on)?|press(?:ed|ing)?|hit|select(?:ed)?|choose|tap(?:ped)?"
    r"|type[ds]?|word|words|say|says|said|saying|spell(?:ed)?|means|called it|so-called|phrase"
    r"|error|message|column|field|key|value|string|variable|label)[,:]?\s*(?:the\s*)?$",
    re.IGNORECASE,
)
_PRESSED_AFTER: Final = re.compile(
    r"\s*(?:button|key|tab|menu|option|field|checkbox|link|column|flag|error|label|page|setting"
    r"|command|object|attribute|module|instance|type|exception|parameter"
    r"|argument|string|header|status|state|mode|folder|branch)\b",
    re.IGNORECASE,
)
_SPOKEN: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|you|you're|we|we're|let's|don't|it's|that's|please)\b",
    re.IGNORECASE,
)
_HASHTAG: Final = re.compile(r"(?<![\w&/#])#(?P<tag>[^\W\d_][\w-]{1,50})")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[-_]")


def _quoted(text: str, *, english: bool) -> Iterator[NameSpan]:
    for match in _QUOTE.finditer(text):
        group = next(name for name in ("at", "bt", "ct", "dt", "et", "ft") if match[name])
        start, end = match.span(group)
        inner = match[group]
        words = inner.split()
        if LINE_END in inner or not 1 <= len(words) <= policy.NAME_WORDS:
            continue
        if group == "dt":
            yield from span_of(text, start, end, NameSign.QUOTED)
            continue
        before, after = text[: match.start()][-60:], text[match.end() : match.end() + 30]
        called = _CALLED.search(before) is not None
        if not called and (_PRESSED.search(before) or _PRESSED_AFTER.match(after)):
            if len(words) < 3:
                yield NameSpan(inner, "", start, end, NameSign.QUOTED)  # no name, however written
            continue
        headline = is_headline(words)
        if inner[-1] in ".!?,;:…":
            end -= len(inner) - len(inner.rstrip(".,;:"))
            if inner[-1] in ".!?…" and not headline and not called:
                continue
        if _SPOKEN.search(inner) and not headline:
            continue
        lows = [word.casefold().strip(".,:;!?'’") for word in words]
        if not called and not headline and not (english and any(map(is_uncommon, lows))):
            continue
        if len(lows) == 1 and not called and (opens_sentences(lows[0]) or lows[0] in NEVER):
            continue
        if lows[0] in ("the", "a", "an") and (len(lows) > 2 or is_uncommon(lows[-1])):
            start += len(words[0]) + 1
        yield from span_of(text, start, end, NameSign.QUOTED)


def is_headline(words: list[str]) -> bool:
    """Say whether every word that carries meaning has a capital."""
    weighty = [word for word in words if len(word) > 3 or not is_function_word(word.casefold())]
    return words[0][:1].isupper() and all(not word[:1].islower() for word in weighty)


def _hashtags(text: str) -> Iterator[NameSpan]:
    """Yield every hashtag; one of everyday words ("#fun") has no name."""
    for match in _HASHTAG.finditer(text):
        tag, start, end = match["tag"], match.start("tag"), match.end("tag")
        colour = re.fullmatch(r"[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8}", tag)
        words = [word.casefold() for word in _HUMP.split(tag) if word]
        named = not colour and (len(words) > 1 or is_uncommon(tag))
        name = entity_name(" ".join(words)) if named else ""
        yield NameSpan(tag, "" if is_place(name) else name, start, end, NameSign.HASHTAG)


# --- capitals and digits --------------------------------------------------------------------------


def names_in(text: str) -> list[NameSpan]:
    """Return what may be names in a text, in its order, no two of them overlapping.

    Words of everyday use, months, days, languages and large places are none by themselves, and the
    first word of a sentence is one only where something else says so.
    """
    plain = _without_items(masked(text))
    signed = _SIGNATURE.search(plain)
    if signed and not _is_listed(plain, signed):
        plain = plain[: signed.start("by")] + LINE_END * (len(plain) - signed.start("by"))
    cancel.check()
    english = is_english(plain.replace(LINE_END, " "))
    cancel.check()
    spans = [*_quoted(plain, english=english), *_hashtags(plain)]
    taken = list(plain)
    for span in spans:
        taken[span.start : span.end] = TAKEN * (span.end - span.start)
    tokens = tokens_of("".join(taken))
    read = "".join(taken)
    cancel.check()
    inside = _named_inside(tokens) | _taken_up(read)
    for sentence in sentences_of(tokens):
        cancel.check()
        spans += _in_sentence(read, sentence, inside=inside, english=english)
    ordered = sorted((span for span in spans if span.name), key=lambda span: span.start)
    return _subtitled(plain, ordered, tokens)


_MARGIN: Final = 12  # of blanks before the first word of a line, at most
_ITEM: Final = re.compile(r"(?<![^\s(])(?P<number>\d{1,2})[.)](?=\s)")
_SIGNATURE: Final = re.compile(
    r"\n\s{0,8}(?:(?P<dash>--?|[–—~])[ \t]?|(?i:(?:kind |best |warm )?(?:regards|wishes)|best"
    r"|cheers|sincerely(?: yours)?|yours(?: truly| sincerely| faithfully)?|love|thanks"
    r"|many thanks|thank you|xo{1,4}x?o?)[,.!]?[ \t\n]{1,4})"
    r"(?P<by>[^\W\d_][\w'’-]{0,30}\.?(?: [^\W\d_][\w'’-]{0,30}\.?){0,2})\s{0,8}\Z"
)


def _without_items(text: str) -> str:
    """Blot out the numbers of a list within a line: "1. call Tom 2. email Lisa 3. book flights".

    A number is one of a list where the number before it was one as well.
    """
    items = list(_ITEM.finditer(text))
    numbers = {int(item["number"]) for item in items}
    seen: set[int] = set()
    signs = list(text)
    for item in items:
        number = int(item["number"])
        if number - 1 in seen or (number == 1 and 2 in numbers):
            seen.add(number)
            begin, end = item.span()
            lead = text[max(0, begin - _MARGIN) : begin]
            opens = ("\n" in lead or begin <= _MARGIN) and not lead.rpartition("\n")[2].strip()
            if not opens:
                signs[begin:end] = LINE_END * (end - begin)
    return "".join(signs)


def _is_listed(text: str, signed: re.Match[str]) -> bool:
    """Say whether the last line is an item of a list or tells whom a quote is of, no signature."""
    if not signed["dash"]:
        return not signed["by"][0].isupper()
    before = text[: signed.start()].rstrip()
    last = before[before.rfind("\n") + 1 :].lstrip()
    return (
        not before
        or before.endswith((":", '"', "”"))
        or last.startswith(signed["dash"])
        or (signed["dash"] == "-" and _GOODBYE.search(before[-40:]) is None)
    )


_GOODBYE: Final = re.compile(
    r"(?:[.!?,)…]|\b(?i:thanks|cheers|best|regards|love|bye|xo{0,4}|you|soon|later|luck))\s*\Z"
)  # a message ends here, no list begins


def _named_inside(tokens: list[Token]) -> frozenset[str]:
    """Return the words that stand with a capital inside a sentence: names, wherever they stand."""
    words = set()
    for token in tokens:
        cancel.check()
        owns = token.low.endswith("'s")
        if not (token.opens or owns) and is_capital(token.text) and is_uncommon(token.low):
            words.add(token.low)
    return frozenset(words)


_TAKEN_UP: Final = re.compile(
    r"(?:^|(?<=[.!?\n]))\s{0,4}(?P<name>[A-Z][\w'’&-]{1,30})\s?\?{1,3}\s{1,4}[^.?!\n]{0,60}?"
    r"(?i:\b(?:it|them|those|him|her|that)\b)"
)


def _taken_up(text: str) -> frozenset[str]:
    """Return the words that are asked and then spoken of: "Radiohead? Never liked them"."""
    return frozenset(
        match["name"].casefold() for match in _TAKEN_UP.finditer(text) if is_uncommon(match["name"])
    )


_SUBTITLE: Final = re.compile(r": (?:(?:the|a|an) )?", re.IGNORECASE)
_TITLE_PARTS: Final = word_set("part episode chapter volume season book act series")
_TITLE_ENDS: Final = re.compile(
    r"\s{0,4}(?:[.!?)…]|\Z|\n)|\s(?:today|tonight|tomorrow|yesterday|again|soon|next|this|last|on"
    r"|in|at|with|for|so|right|now|and then|when|to come|release|trailer|soundtrack)\b"
)


def _subtitled(text: str, spans: list[NameSpan], tokens: list[Token]) -> list[NameSpan]:
    """Join a title and its second part: "can't wait for Hollow Knight: Silksong!".

    A name that opens its line and stands before a colon is whoever speaks, or heads a list.
    """
    opening = {token.start for token in tokens if token.opens}
    joined: list[NameSpan] = []
    for span in spans:
        cancel.check()
        last = joined[-1] if joined else None
        if last is not None and _is_subtitle(text, last, span, opening):
            surface = text[last.start : span.end]
            joined[-1] = NameSpan(surface, entity_name(surface), last.start, span.end, last.how)
        else:
            joined.append(span)
    return joined


def _is_subtitle(text: str, name: NameSpan, after: NameSpan, opening: set[int]) -> bool:
    """Say whether a name behind a colon belongs to the name before it."""
    words, more = name.surface.split(), after.surface.split()
    return (
        NameSign.QUOTED not in (name.how, after.how)
        and _SUBTITLE.fullmatch(text, name.end, after.start) is not None
        and name.start not in opening
        and len(words) + len(more) < policy.NAME_WORDS
        and (len(words) > 1 or more[0].casefold() in _TITLE_PARTS)
        and (after.start - name.end > 2 or not is_plural(words[-1].casefold()))
        and _TITLE_ENDS.match(text, after.end) is not None
    )


def _in_sentence(
    text: str, tokens: list[Token], *, inside: frozenset[str], english: bool
) -> Iterator[NameSpan]:
    listed = any("," in text[left.end : right.start] for left, right in pairwise(tokens))
    title = is_title(tokens) and (not listed or all(token.text.isupper() for token in tokens))
    if english and is_shouting(tokens):
        yield from _in_shouting(text, tokens)
        return
    sloppy = english and not title and is_sloppy(tokens)
    if english and not title:
        tokens = _calmed(text, tokens)
    index = 0
    while index < len(tokens):
        cancel.check()
        token = tokens[index]
        if not english:
            run = [token]
            if (
                is_marked(token.text)
                and is_capital(token.text)
                and not MEASURE.fullmatch(token.low)
            ):
                run = with_capitals(text, tokens, index)
                yield from judged(text, run, english=False)
            index += len(run)
            continue
        if is_capital(token.text) and token.low not in SELF:
            run = run_at(text, tokens, index, title=title, inside=inside)
            ahead = tokens[index - 1] if index else None
            kept = trimmed_run(run, tokens, index, title=title, sloppy=sloppy, inside=inside)
            if (
                kept
                and ahead
                and kept[0] is token
                and ahead.text in ("van", "von", "de", "di", "da")
                and joins_on(text, tokens, index - 1)
            ):
                kept = [ahead, *kept]
            yield from judged(text, kept)
            index += len(run)
        elif is_had(text, tokens, index):
            end = index + 2
            while end < len(tokens) and joins_on(text, tokens, end - 1):
                if tokens[end].low not in VARIANTS and not adds(tokens[end]):
                    break
                end += 1
            yield from judged(text, tokens[index:end], how=NameSign.MODEL_NUMBER)
            index = end
        elif is_model(token) or is_numbered(text, tokens, index):
            before, after = index, index + 1
            while before and joins_on(text, tokens, before - 1) and adds(tokens[before - 1]):
                before -= 1
            while after < len(tokens) and joins_on(text, tokens, after - 1) and adds(tokens[after]):
                after += 1
            yield from judged(text, tokens[before:after], how=NameSign.MODEL_NUMBER)
            index = after
        else:
            index += 1


def _in_shouting(text: str, tokens: list[Token]) -> Iterator[NameSpan]:
    """Yield the names of a sentence in capitals: those of uncommon words alone.

    Which everyday words beside them belong to a name ("ELDEN RING", "KELP FARMERS") nothing tells,
    and half of a name is none.
    """
    calm = [token._replace(text=token.text.lower()) for token in tokens]
    index = 0
    while index < len(calm):
        cancel.check()
        begin = index
        while index < len(calm) and _adds_shouted(calm[index]):
            index += 1
            if index == len(calm) or not joins_on(text, calm, index - 1):
                break
        run = calm[begin:index]
        if not run:
            index += 1
            continue
        before = calm[begin - 1] if begin and joins_on(text, calm, begin - 1) else None
        after = calm[index] if index < len(calm) and joins_on(text, calm, index - 1) else None
        if (before is None or is_function_word(before.low) or before.low in BEFORE_NAMES) and (
            after is None or is_function_word(after.low)
        ):
            yield from judged(text, run)


def _adds_shouted(token: Token) -> bool:
    return is_uncommon(token.low) and token.low not in NEVER and len(token.low) > 2


def _calmed(text: str, tokens: list[Token]) -> list[Token]:
    """Return the words of a sentence with those in lower case that are shouted: "I LOVE Jira".

    Beside a name in capitals an everyday word may be part of it ("ELDEN RING"); a verb or a word of
    grammar before it is none.
    """
    calm = list(tokens)
    begin = 0
    while begin < len(tokens):
        end = begin + 1
        while end < len(tokens) and joins_on(text, tokens, end - 1) and tokens[end].text.isupper():
            end += 1
        shouted = tokens[begin:end]
        if not tokens[begin].text.isupper():
            begin += 1
            continue
        named = next((at for at, token in enumerate(shouted) if is_name_in_capitals(token)), None)
        for at, token in enumerate(shouted):
            if (named is None or at < named) and is_shouted_word(token):
                calm[begin + at] = token._replace(text=token.text.lower())
        begin = end
    return calm
