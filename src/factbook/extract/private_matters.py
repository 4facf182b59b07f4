"""Read whose matter a text is that somebody would search for: its owner's, or anybody's.

A small model (`scripts/train_matter.py`) tells how much it reads like what people ask of their own
life or of delicate matters. Around it stands what is sure: names that the owner's own words bring
in, "my", "we", "did I", "she" after nothing public. `gate.outgoing` decides.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.embed import bundled
from factbook.extract.asked import (
    asked_text,
    has_word,
    is_bare,
    is_broad_word,
    pointing,
    wanted,
)
from factbook.extract.base import word_set
from factbook.extract.message_sentences import spaced
from factbook.extract.name_tokens import is_english, is_uncommon
from factbook.extract.names import names_in
from factbook.extract.opinions import HEARD_CHARS, OF_TASTE
from factbook.extract.voice import own_words
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_everyday, is_function_word, is_nationality, is_place
from factbook.language.reader.network import shared
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading, Token
from factbook.language.reader.relate import own_matter
from factbook.language.sentences import sentences
from factbook.language.words import STOPWORDS, place_of, words

OWN_LATELY: Final = 4  # ours: texts said before, in which somebody may be meant by "she"

Floats = NDArray[np.float32]


class Asking(StrEnum):
    """Say what a message wants to know."""

    NOTHING = "nothing"  # it tells something, or is small talk
    OWNER = "owner"  # something about whoever asks: only their own memory can know
    WORLD = "world"  # something that can be looked up


def asking(message: str, *, of_owner: bool | None = None, names: bool = False) -> Asking:
    """Say what a message wants to know.

    `of_owner` says that it was decided to be its owner's own matter, or that it was not; without
    that it is only said whether it asks. `names` says that it names a thing of the world.
    """
    if not wanted(message):
        return Asking.NOTHING
    if of_owner:
        return Asking.OWNER
    asked = " ".join(wanted(message))
    if names or not is_bare(asked) or (of_owner is None and spoken_in(asked).first_person):
        return Asking.WORLD
    return Asking.NOTHING  # "what else?"


# What is trained with: Latin, Cyrillic, Han and Kana. Of another script nothing can be told.
_READ: Final = re.compile(r"[A-Za-zÀ-ʯЀ-ӿᴀ-ỿ\u3040-\u30ff\u3400-\u9fff]")
_DENSE: Final = "\u2e80"  # from here on a character says about as much as a word
PIECES: Final = 2048  # numbers that pieces of words are counted in; 4,096 were no better
PIECE_WEIGHT: Final = 2.0  # of all pieces together, beside a vector of length 1
SIGNS: Final = 2048  # numbers that signs are counted in
SIGN_WEIGHT: Final = 2.0  # of all signs together
VECTOR_WEIGHT: Final = 2.0
SENSE_WEIGHT: Final = 3.0  # of the reader's own vector
DELICACY_WEIGHT: Final = 0.3
BESIDE: Final = np.float32(0.7)  # of the pieces, beside what else is read of an English question
_PIECE_CHARS: Final = 300  # of a question; what follows says little more


@lru_cache(maxsize=1)
def _weights() -> dict[str, Floats]:
    held = json.loads(files("factbook.extract").joinpath("data", "matter.json").read_text("utf-8"))
    if held["embedder"] != bundled().id or held["reader"] != shared().checksum:
        return {}  # weights of another model say nothing
    return unpacked(held["weights"])


def unpacked(weights: Mapping[str, Any]) -> dict[str, Floats]:
    """Return weights as numbers that are held as 8-bit numbers and their scale."""
    return {
        name: np.frombuffer(b64decode(packed["int8"]), np.int8).reshape(packed["shape"])
        * np.float32(packed["scale"])
        for name, packed in weights.items()
    }


def trimmed(text: str) -> str:
    """Return a question as its vector is made: without its marks."""
    return text.strip(" ¿¡?!.,;:")


def pieces(text: str) -> Floats:
    """Return which pieces of words a text has, and how long it is: (PIECES + 1,).

    The vectors know English; in another language it tells how words begin and end.
    """
    text = text[:_PIECE_CHARS]
    joined = f" {' '.join(words(text.casefold()))} "
    sizes = (2, 3, 4, 5)
    grams = {joined[at : at + size] for size in sizes for at in range(len(joined) - size + 1)}
    grams |= {char for char in joined if char > _DENSE}
    row = np.zeros(PIECES + 1, dtype=np.float32)
    places = list({place_of(gram, PIECES) for gram in grams})
    if places:
        row[places] = PIECE_WEIGHT / math.sqrt(len(places))
    dense = sum(char > _DENSE for char in text) * 2 > len(text)
    row[PIECES] = min(len(text), 150) / (40 if dense else 100)
    return row


def signs(reading: Reading) -> Floats:
    """Return how a question is built, whatever it names: (SIGNS,).

    Counted are up to three words in a row (grammar as it stands, names by their type, others by
    their part of speech), the types and lengths of the names, and what its clauses do, and whose.
    """
    built = ["^"]
    for token in reading.tokens:
        name = next((n for n in reading.names if n.begin <= token.begin < n.end), None)
        word = token.text.casefold()
        kept = token.pos == "PUNCT" or is_function_word(word) or word in STOPWORDS
        sign = f"<{name.type}>" if name else word if kept else token.pos
        if not name or built[-1] != sign:
            built.append(sign)
    built.append("$")
    seen = {
        " ".join(built[at : at + size]) for size in (1, 2, 3) for at in range(len(built) - size + 1)
    }
    seen |= {f"clause {c.act} {c.of}" for c in reading.clauses}
    seen |= {f"flag {flag}" for clause in reading.clauses for flag in clause.flags}
    seen |= {f"name {n.type} {len(words(reading.text[n.begin : n.end]))}" for n in reading.names}
    seen.add(f"names {min(3, len(reading.names))}")
    row = np.zeros(SIGNS, dtype=np.float32)
    for sign in seen:
        row[place_of(sign, SIGNS)] += SIGN_WEIGHT / math.sqrt(len(seen))
    return row


def delicacy(vector: Floats, weights: Mapping[str, Floats]) -> float:
    """Return how much a question is of health, sex, money, the family or an address."""
    inner = np.maximum(vector @ weights["inner"] + weights["inner_bias"], 0)
    return float(inner @ weights["outer"][:-1] + weights["outer"][-1])


def english_row(text: str, vector: Floats, weights: Mapping[str, Floats]) -> Floats:
    """Return what an English question is judged by: delicacy, vectors, how it is built, pieces."""
    first = np.array([delicacy(vector, weights) * DELICACY_WEIGHT], dtype=np.float32)
    reading = read(text[:_PIECE_CHARS])
    sense = reading.sense * (SENSE_WEIGHT / max(1e-6, float(np.linalg.norm(reading.sense))))
    parts = (first, vector * VECTOR_WEIGHT, sense, signs(reading), pieces(text) * BESIDE)
    return np.concatenate(parts)


def reads_english(text: str) -> tuple[bool, bool]:
    """Return whether a question may be read as English, and whether that is beyond doubt."""
    if not (is_english(text) and any(is_function_word(word) for word in words(text))):
        return False, False
    known = [is_everyday(word) for word in words(text.casefold())]
    return True, sum(known) * 2 > len(known)  # "was hilft gegen", "me queda" are doubtful


def privacy(text: str) -> float | None:
    """Return how private a question reads, as log odds; None where that cannot be told.

    It takes one text through the bundled embedder, some milliseconds. Where it may be English and
    may be not, as a few words without grammar may, it is the mean of what both models say.
    """
    letters = [char for char in text if char.isalpha()]
    if sum(_READ.match(char) is not None for char in letters) * 2 <= len(letters):
        return None
    weights = _weights()
    if not weights:
        return None
    _, sure = reads_english(text)
    vector = bundled().embed([trimmed(text)])[0]
    odds = []
    if sure or is_english(text):
        row = english_row(text, vector, weights)
        linear = float(row @ weights["english"][:-1] + weights["english"][-1])
        if not spoken_in(text).first_person:
            # It was asked for the world's questions, and knows too little of "I" and of new names:
            # so it speaks for a question and never against one.
            whole = own_matter(text[:_PIECE_CHARS]) - policy.MATTER_SHIFT
            linear += policy.MATTER_SHARE * min(0.0, whole)
        odds.append(linear)
    if not sure:
        row = np.concatenate((vector, pieces(text)))
        odds.append(float(row @ weights["any"][:-1] + weights["any"][-1]))
    return sum(odds) / len(odds)


_TITLE_OR_MODEL: Final = re.compile(
    r"[\"“„«‹「『《][^\"“”„«»‹›「」『』《》\n]{2,80}[\"”“»›」』》]"
    r"|(?<![\w/.@-])(?=[\w-]*\d)[^\W\d_]+-?\d[\w-]*(?![\w@])"  # LS50, WH-1000XM5, PS5
)


def titles_in(text: str) -> list[str]:
    """Return what is written in a text as no person is: a title in quotes, a model's number."""
    return [match[0] for match in _TITLE_OR_MODEL.finditer(text)]


def as_things(text: str, names: Sequence[str], *, owned: bool = False) -> str:
    """Return a text with "the" before names that are no person's; with `owned` also for "my"."""
    before = "the|a|an|my|our" if owned else "the|a|an"
    for name in names:
        some = _written(name)
        text = re.sub(rf"(?i)(?:\b(?:{before})\s+)?({some})(?!\w)", r"the \1", text)
    return text


class OwnerMentions(NamedTuple):
    """How a text speaks of its owner and their people."""

    recalls: bool  # of what they did, said, like or own: "did I", "have we", "do I like"
    possessive: bool  # of something as theirs: "my rent"
    first_person: bool  # of who asks: "where do I live?", "we"


_DONE: Final = frozenset({"did", "have", "'ve", "’ve", "had", "was", "were"})
_POSSESSIVE: Final = frozenset({"my", "mine", "our", "ours"})
_FIRST: Final = frozenset({"i", "me", "myself", "we", "us", "ourselves"})
_OWNING: Final = frozenset({"own", "possess"})
_TOLD_TO: Final = frozenset({"iobj", "obj"})  # "tell me", "let us": a root's own


def spoken_in(asked: str) -> OwnerMentions:
    """Return how a text that asks speaks of its owner."""
    english, sure = reads_english(asked)
    said = [] if not english else _of_owner(read(asked))
    elsewhere = not sure and _POSSESSIVE_ELSEWHERE.search(asked) is not None
    possessive = elsewhere or any(word.text.casefold() in _POSSESSIVE for word, _ in said)
    return OwnerMentions(
        recalls=any(done for _, done in said),
        possessive=possessive,
        first_person=possessive or bool(said),
    )


def _of_owner(reading: Reading) -> list[tuple[Token, bool]]:
    """Return the words by which a text speaks of its owner, each with whether it recalls."""
    tokens = reading.tokens
    done = {token.head for token in tokens if _is_done(token) or _is_state(token, tokens)}
    return [
        (token, token.relation == "nsubj" and token.head in done)
        for token in tokens
        if token.text.casefold() in _POSSESSIVE | _FIRST and not _is_addressed(token, tokens)
    ]


def _is_done(token: Token) -> bool:
    return token.relation == "aux" and token.text.casefold() in _DONE


def _is_state(token: Token, tokens: Sequence[Token]) -> bool:
    """Tell the "do" of "do I like it?" and "what do we own?" from that of "how do I own it?"."""
    if token.relation != "aux" or token.text.casefold() != "do" or token.head < 0:
        return False
    if tokens[token.head].text.casefold() not in OF_TASTE | _OWNING:
        return False
    return not has_word(tokens, token.head, ("how", "to"))


def _is_addressed(token: Token, tokens: Sequence[Token]) -> bool:
    """Tell the "me" of "tell me" from the "me" of "what ails me": who is to be answered."""
    if token.relation not in _TOLD_TO or token.head < 0:
        return False
    verb = tokens[token.head]
    subject = any(one.relation == "nsubj" and one.head == token.head for one in tokens)
    return verb.relation == "root" and not subject and verb.begin < token.begin


def with_article(name: str, texts: Sequence[str]) -> bool:
    """Tell whether a name stands behind an article in one of some texts: so no person is called."""
    written = re.compile(rf"\b(?:the|a|an)\s+{_written(name)}(?!\w)", re.IGNORECASE)
    return any(is_english(text) and written.search(text) for text in texts)


def _written(name: str) -> str:
    return r"[\s-]+".join(map(re.escape, name.split()))


def told_names(text: str, public: Sequence[str], said: Sequence[str]) -> list[str]:
    """Return the uncommon words of a text, but of `public` things, that its owner `said`."""
    known = {word for thing in public for word in words(thing)}
    named = {word for name in names_in(text) for word in words(name.name)}
    english = is_english(text)
    candidates = [
        word
        for word in dict.fromkeys(words(text))
        if word not in known
        and (word in named or (english and is_uncommon(word)))
        and not (is_function_word(word) or is_broad_word(word) or is_place(word))
        and not any(map(str.isdigit, word))
    ]
    if not candidates:
        return []
    this = words(text)
    telling = [
        heard
        for heard in said
        if not wanted(heard) and not heard.startswith("/") and words(heard) != this
    ]
    told = {word for heard in telling for word in words(own_words(heard).text)}
    return [candidate for candidate in candidates if candidate in told]


class Pronoun(StrEnum):
    """Say whom or what a text may refer to without a name."""

    NONE = "none"
    THING = "thing"  # "it": of somebody's own too, where they were spoken of last
    SEVERAL = "several"  # "they": of things, too
    PERSON = "person"  # "she"

    @property
    def looked_back(self) -> int:
        """How many texts that were said before may hold what is meant."""
        return {Pronoun.NONE: 0, Pronoun.THING: 1}.get(self, OWN_LATELY)


def pronoun_in(text: str) -> Pronoun:
    """Return whom or what a text may refer to."""
    english, sure = reads_english(text)
    person = _PRONOUN.search(text) if english else None
    if not person and not sure:
        person = _ELSEWHERE.search(text)
        if person and len(words(text[: person.start()])) > _ROOM:
            person = None  # what it refers to may stand before it
    if person:
        return Pronoun.SEVERAL if _THEY.fullmatch(person[0]) else Pronoun.PERSON
    return Pronoun.THING if _IT.search(pointing(text)) else Pronoun.NONE


class Before(NamedTuple):
    """A text that was said before, and whom it names."""

    text: str
    own: bool  # somebody or something of its owner's own
    known: bool  # a known thing


def refers_to_own(pronoun: Pronoun, before: Sequence[Before]) -> bool:
    """Tell whether "she" is somebody whom only the owner can mean: nobody public was asked about.

    `before` are the last `pronoun.looked_back` texts, newest first. Of "them" and "it" it does
    where somebody of the owner's own was spoken of last.
    """
    person = pronoun is not Pronoun.THING
    for said, own, known in before:
        if own or (person and spoken_in(said).possessive):
            return True
        if known:
            return False
        if person and wanted(said) and names_in(said):
            private = privacy(asked_text(said))
            return private is None or private >= policy.LEAVES_PLAIN
    return pronoun is Pronoun.PERSON


# The same, a closed class, of German, Dutch, the Scandinavian, Romance and Slavic languages,
# Turkish, Greek, Chinese, Japanese and Korean. French "ma" is "has" in Polish and "but" in Italian:
# left to the weights.
_POSSESSIVE_ELSEWHERE: Final = spaced(
    r"\b(?:mein(?:e[rmns]?)?|unse?re?[rmns]?|mijne?|m['’]n|onze?|mitt|min[ae]?|vår[ta]?|våra|vores?"
    r"|mon|mes|notre|nos|mi[aeo]|miei|nostr[aeio]|mis?|mí[ao]s?|nuestr[ao]s?|meus?|minhas?|noss[ao]s?"
    r"|mele|mei|noastr[aăe]|nostru|noștri|mój|moj[aeąi]|moje(?:go|mu|j)|moi(?:ch|m|mi)|nasz[aeąy]?"
    r"|nasze(?:go|mu|j)|naszy(?:ch|m|mi)|můj|mého|mojí|naš[eiu]?|našeho|moju|мо[йеёию]|моя|моего|моей"
    r"|моему|моих|моими?|мо[её]м|наш[аеиу]?|нашего|нашей|нашему|наших|нашими?|нашем|мій|моєї|мої|моїх"
    r"|benim|bizim|μου|μας)\b|我的|我们|我們|我[家爸妈媽哥弟姐妹]|咱|私|僕|俺|うち|わたし|ぼく"
    r"|(?<!\w)(?:내|제|우리)(?!\w)"
)
_PRONOUN: Final = spaced(r"\b(?:he|him|his|she|her|hers|they|them|their|theirs)\b")
_THEY: Final = spaced(r"they|them|theirs?")  # of things, too
# The same, a closed class, of the languages of `_POSSESSIVE_ELSEWHERE`, where they are of a person
# more often than of a thing, and mean nothing else more often ("il", "on", "zij").
_ELSEWHERE: Final = spaced(
    r"\b(?:(?-i:er|sie)|sein(?:e[rmns]?)?|ihre?[rmns]?|ihn|ihm|hij|haar|hem|han|hon|hun|ham|honom|henne"
    r"|hennes|hendes|él|ella|ellos|ellas|elle|elles|lui|lei|el[ea]s?|del[ea]s?|ona|jego|je[jm]|jemu"
    r"|niego|niej|nim|jeho|její|jí|он|она|его|него|е[её]|не[её]|ему|ей|вона|він|його|її|onun?|ona|onu"
    r"|του|της|αυτός|αυτή)\b|[他她彼]|그는|그녀|그의"
)
_ROOM: Final = 4  # ours: words before such a word, among which may be what it refers to
_TITLES: Final = word_set("""
    dr mr mrs ms miss prof professor doctor uncle aunt auntie grandma grandpa
    """)
_IT: Final = spaced(r"\b(?:it|its)\b")

_NAMING: Final = frozenset({"called", "named", "call", "name"})
_PUBLIC_TYPES: Final = frozenset({"place", "product", "work"})


class OwnName(NamedTuple):
    """A name in a text that its owner's own words bring in."""

    name: str  # lower case
    introduced: bool  # as theirs, and not only spoken of as a person


def own_names_in(text: str, said: Iterable[str]) -> list[OwnName]:
    """Return the names in a text that are known from its owner's own words.

    These are their people, their animals, and what they named themselves: "my dog is called Pim",
    "my daughter Lena". `said` are their texts that may introduce them; the text itself may, too.
    """
    if not reads_english(text)[0] and not any(map(is_english, said)):
        return []
    asked = {word for word in words(text.casefold()) if not is_function_word(word)}
    public = {
        word
        for name in read(text).names
        if name.type in _PUBLIC_TYPES and name.sure >= policy.NAME_TYPE_SURE
        for word in words(text[name.begin : name.end].casefold())
    }
    names: dict[str, bool] = {}
    for own_text in (*said, text):
        if own_text.startswith("/"):
            continue  # a command says nothing of who somebody is
        own = own_words(own_text).text[:HEARD_CHARS]
        for sentence in sentences(own):
            part = sentence.of(own)
            if asked.isdisjoint(words(part.casefold())):
                continue
            for name, introduced in _people_in(read(part), is_asked=own_text is text):
                if introduced or not public.issuperset(words(name)):
                    names[name] = names.get(name, False) or introduced
    return [OwnName(*pair) for pair in names.items() if _mentions(text, pair[0])]


def _people_in(reading: Reading, *, is_asked: bool) -> Iterator[tuple[str, bool]]:
    """Yield (name in lower case, whether it is introduced as somebody of the writer's own)."""
    for span in reading.names:
        inside = [at for at, one in enumerate(reading.tokens) if span.begin <= one.begin < span.end]
        name = re.sub(r"['’]s?$", "", reading.text[span.begin : span.end]).casefold()
        if not inside or len(name) < 2 or is_calendar_word(name) or is_nationality(name):
            continue
        before = reading.tokens[inside[0] - 1].text.casefold() if inside[0] else ""
        if before in ("the", "a", "an"):
            continue  # nobody is called "the" somebody
        introduced = _is_introduced(reading.tokens, inside, span.type)
        if introduced or (span.type == "person" and not is_asked and not is_place(name)):
            yield name, introduced


def _is_introduced(tokens: Sequence[Token], inside: Sequence[int], kind: str) -> bool:
    """Tell whether a name is of something of the writer's: "my dog Pim"; no work of others is."""
    if kind in ("work", "place"):
        return False
    heads = {tokens[at].head for at in inside if tokens[at].head not in inside}
    owned = {one.head for one in tokens if one.text.casefold() in ("my", "our")} - {-1}
    if kind == "person" and owned.intersection(inside):  # "my daughter Lena", led by the name
        return True
    for at in owned.difference(inside):
        beside = inside[0] - at == 1 or (inside[0] - at == 2 and tokens[at + 1].text == ",")
        if at in heads or tokens[at].head in inside or beside:
            return kind == "person" or has_word(tokens, at, _NAMING)
        if tokens[at].head in heads and tokens[tokens[at].head].text.casefold() in _NAMING:
            return True
    return False


def _mentions(text: str, name: str) -> bool:
    """Tell whether a text names somebody, by the whole name or a part of it."""
    parts = [piece for piece in re.split(r"[\s.]+", name) if len(piece) > 2]
    for number, part in enumerate(parts):
        if part in _TITLES or part in STOPWORDS:
            continue
        for match in re.finditer(rf"(?<!\w){re.escape(part)}(?!\w)", text, re.IGNORECASE):
            if re.match(r"\s+\d", text[match.end() :]):
                continue  # "Apollo 11"
            if len(parts) > 1 and _of_another(text, match, parts, is_first=number == 0):
                continue
            return True
    return False


def _of_another(text: str, match: re.Match[str], parts: Sequence[str], *, is_first: bool) -> bool:
    """Tell whether a part of a name belongs to somebody else: "Max Weber", "Weber Genesis"."""
    before = re.search(r"([^\W\d_][\w'’-]*)\.?\s+$", text[: match.start()])
    behind = re.match(r"\s+([^\W\d_]\w*)", text[match.end() :])
    if behind and behind[1][0].isupper() and behind[1].casefold() not in parts:
        return True
    word = before[1] if before and not is_first else ""
    known = word.casefold() in (*parts, *_TITLES)
    return bool(word) and word[0].isupper() and not known and is_uncommon(word)
