"""Read whose matter a text is that somebody would search for: its owner's, or anybody's.

A small model over the vectors of the bundled embedder (`scripts/train_matter.py`) tells how much a
question reads like one that people ask of their own life, or of health, sex, money, the family or
an address, whoever asks. Around it stands what is sure:
names that the owner's own words bring in ("my dog is called Pim"), "my wife", "she" after nothing
public. `gate.outgoing` decides.

Knows: vectors, how English speaks of one's people. Does not know: what pages say, a provider.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.embed import bundled
from factbook.extract.asked import (
    asked_text,
    is_bare,
    is_broad_word,
    spaced,
    subject_of,
    wanted,
)
from factbook.extract.name_tokens import (
    is_english,
    is_uncommon,
)
from factbook.extract.names import (
    names_in,
)
from factbook.extract.opinions import HEARD_CHARS
from factbook.extract.voice import own_words
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_everyday, is_function_word, is_nationality, is_place
from factbook.language.words import STOPWORDS, words

__all__ = [
    "OWN_LATELY",
    "Asking",
    "Before",
    "OwnName",
    "OwnerMentions",
    "Pronoun",
    "as_things",
    "asking",
    "own_names_in",
    "pieces",
    "privacy",
    "pronoun_in",
    "reads_english",
    "refers_to_own",
    "spoken_in",
    "titles_in",
    "told_names",
    "trimmed",
    "with_article",
]

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
    if names or not is_bare(asked) or (of_owner is None and _MINE.search(asked)):
        return Asking.WORLD
    return Asking.NOTHING  # "what else?"


# --- how private it reads -------------------------------------------------------------------------

# What is trained with: Latin, Cyrillic, Han and Kana. Of another script nothing can be told.
_READ: Final = re.compile(r"[A-Za-zÀ-ʯЀ-ӿᴀ-ỿ\u3040-\u30ff\u3400-\u9fff]")
_DENSE: Final = "\u2e80"  # from here on a character says about as much as a word
PIECES: Final = 2048  # numbers that pieces of words are counted in; 4,096 were no better
PIECE_WEIGHT: Final = 2.0  # of all pieces together, beside a vector of length 1
_PIECE_CHARS: Final = 300  # of a question; what follows says little more


@lru_cache(maxsize=1)
def _weights() -> dict[str, Floats]:
    held = json.loads(files("factbook.extract").joinpath("data", "matter.json").read_text("utf-8"))
    if held["embedder"] != bundled().id:
        return {}  # weights of another model say nothing
    return {
        name: np.frombuffer(b64decode(packed["int8"]), np.int8).reshape(packed["shape"])
        * np.float32(packed["scale"])
        for name, packed in held["weights"].items()
    }


def trimmed(text: str) -> str:
    """Return a question as its vector is made: without its marks."""
    return text.strip(" ¿¡?!.,;:")


def pieces(text: str) -> Floats:
    """Return which pieces of words a text has, and how long it is: (PIECES + 1,).

    The vectors know English; what tells in another language is how words begin and end, the words
    that carry grammar, and that people ask of their own in few words.
    """
    text = text[:_PIECE_CHARS]
    joined = f" {' '.join(words(text.casefold()))} "
    sizes = (2, 3, 4, 5)
    grams = {joined[at : at + size] for size in sizes for at in range(len(joined) - size + 1)}
    grams |= {char for char in joined if char > _DENSE}
    row = np.zeros(PIECES + 1, dtype=np.float32)
    places = list({zlib.crc32(gram.encode()) % PIECES for gram in grams})
    if places:
        row[places] = PIECE_WEIGHT / math.sqrt(len(places))
    dense = sum(char > _DENSE for char in text) * 2 > len(text)
    row[PIECES] = min(len(text), 150) / (40 if dense else 100)
    return row


def reads_english(text: str) -> tuple[bool, bool]:
    """Return whether a question may be read as English, and whether that is beyond doubt."""
    if not (is_english(text) and any(is_function_word(word) for word in words(text))):
        return False, False
    known = [is_everyday(word) for word in words(text.casefold())]
    return True, sum(known) * 2 > len(known)  # "was hilft gegen", "me queda" are doubtful


def privacy(text: str) -> float | None:
    """Return how private a question reads, as log odds; None where that cannot be told.

    It takes one text through the bundled embedder, some milliseconds. Where it may be English and
    may be not, it counts as what reads more private.
    """
    letters = [char for char in text if char.isalpha()]
    if sum(_READ.match(char) is not None for char in letters) * 2 <= len(letters):
        return None
    weights = _weights()
    if not weights:
        return None
    english, sure = reads_english(text)
    vector = bundled().embed([trimmed(text)])[0]
    read = []
    if english:
        inner = np.maximum(vector @ weights["inner"] + weights["inner_bias"], 0)
        read.append(float(inner @ weights["outer"][:-1] + weights["outer"][-1]))
    if not sure:
        row = np.concatenate((vector, pieces(text)))
        read.append(float(row @ weights["any"][:-1] + weights["any"][-1]))
    return max(read)


# --- what is read of it ---------------------------------------------------------------------------

_TITLE_OR_MODEL: Final = re.compile(
    r"[\"“„«‹「『《][^\"“”„«»‹›「」『』《》\n]{2,80}[\"”“»›」』》]"
    r"|(?<![\w/.@-])(?=[\w-]*\d)[^\W\d_]+-?\d[\w-]*(?![\w@])"  # LS50, WH-1000XM5, PS5
)


def titles_in(text: str) -> list[str]:
    """Return what is written in a text as no person is: a title in quotes, a model's number."""
    return [match[0] for match in _TITLE_OR_MODEL.finditer(text)]


def as_things(text: str, names: Sequence[str]) -> str:
    """Return a text with "the" before names that are no person's."""
    for name in names:
        some = _written(name)
        text = re.sub(rf"(?i)(?:\b(?:the|a|an)\s+)?{some}(?!\w)", f"the {name}", text)
    return text


class OwnerMentions(NamedTuple):
    """How a text speaks of its owner and their people."""

    kin: bool  # of somebody by what they are to them: "my wife"
    recalls: bool  # of what was said or done: "did I", "remind me"
    possessive: bool  # of something as theirs: "my rent"
    first_person: bool  # of who asks: "where do I live?"


def spoken_in(asked: str, text: str, *, public: bool) -> OwnerMentions:
    """Return how a text speaks of its owner.

    `asked` is what it asks; `public` says that it names something public, which may be bought for
    somebody.
    """
    possessive = _is_possessive(asked)
    return OwnerMentions(
        kin=_BY_NAME.search(asked) is not None
        or _MY_PERSON.search(_FOR_PERSON.sub(" ", asked) if public else asked) is not None,
        recalls=_REMIND.search(asked) is not None,
        possessive=possessive,
        first_person=possessive or _MINE.search(subject_of(text) or asked) is not None,
    )


def with_article(name: str, texts: Sequence[str]) -> bool:
    """Tell whether a name stands behind an article in one of some texts: "a Halden", "the LS50".

    Nobody is called "the" somebody, so what is written so is no person.
    """
    written = re.compile(rf"\b(?:the|a|an)\s+{_written(name)}(?!\w)", re.IGNORECASE)
    return any(is_english(text) and written.search(text) for text in texts)


def _written(name: str) -> str:
    return r"[\s-]+".join(map(re.escape, name.split()))


def told_names(text: str, public: Sequence[str], said: Sequence[str]) -> list[str]:
    """Return the uncommon words of a text that its owner told of, in `said`.

    `public` are the things in it that are public, or no person.
    """
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
    return Pronoun.THING if _IT.search(text) else Pronoun.NONE


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
        if own or (person and _MY_PERSON.search(said)):
            return True
        if known:
            return False
        if person and wanted(said) and names_in(said):
            private = privacy(asked_text(said))
            return private is None or private >= policy.LEAVES_PLAIN
    return pronoun is Pronoun.PERSON


# --- whose matter it is: the words
_PERSON_WORDS: Final = """
mother mum mom mummy mommy father dad daddy parent brother sister sibling son daughter kid child
children baby toddler twin uncle aunt auntie cousin niece nephew grandmother grandma granny nan
grandfather grandpa grandson granddaughter grandchild grandchildren grandparent stepson
stepdaughter stepmother stepfather godson goddaughter wife husband spouse partner fiance fiancé
fiancee fiancée girlfriend boyfriend ex in-law mother-in-law father-in-law brother-in-law
sister-in-law son-in-law daughter-in-law friend mate buddy flatmate roommate housemate neighbour
neighbor colleague coworker co-worker boss manager supervisor assistant intern landlord landlady
tenant teacher tutor trainer coach doctor dentist therapist physiotherapist psychologist
psychiatrist gp paediatrician pediatrician midwife nurse vet lawyer accountant nanny babysitter
hairdresser patient student crush
"""
_ANIMAL_WORDS: Final = """
dog puppy puppies pup cat kitten horse pony ponies mare hamster rabbit bunny bunnies guinea-pig
parrot budgie canary bird tortoise turtle goldfish fish ferret rat mouse mice gecko snake lizard
goat sheep donkey hen chicken cow pig pet
"""
_OWN_WORKS: Final = "project startup boat"  # ours: what people name themselves, and speak of by it


def _one_of(listed: str) -> str:
    return "(?:" + "|".join(map(re.escape, listed.split())) + ")s?"


_PERSON: Final = _one_of(_PERSON_WORDS) + (
    r"\b(?! (?:class|process|element|component|theme|director|folder|node|table|key))"
)
_SOMEBODY: Final = rf"(?:my|our) (?:[\w-]+ ){{0,2}}?(?:{_PERSON}|family)\b"
_MY_PERSON: Final = spaced(rf"\b{_SOMEBODY}")
# without an article these are what somebody calls their own: "where did granny put the key"
_BY_NAME: Final = spaced(
    r"\b(?:(?:did|does|do|has|have|had|is|are|was|were|will|would|can|could|should) |['’]s )"
    r"(?:mum(?:my)?|mom(?:my)?|mama|dad(?:dy)?|papa|gran(?:ny|dma|dpa|d?dad)?|nana?|auntie)\b"
)
_FOR_PERSON: Final = spaced(rf"\bfor {_SOMEBODY}")
_POSSESSIVE: Final = spaced(r"\b(?:my|mine|our|ours)\b")
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
_MINE: Final = spaced(
    r"\b(?:my|mine|our|ours|myself)\b"
    r"|(?<!\bshow\s)(?<!\btell\s)(?<!\bgive\s)(?<!\bfind\s)(?<!\bhelp\s)(?<!\blet\s)\b(?:me|us)\b"
    r"|\b(?:i|we)\b"
)
_REMIND: Final = spaced(r"\b(?:remind me|do you remember|did i|have i|did we|have we|was i|am i)\b")


# --- whose matter it is: the names ----------------------------------------------------------------

_NAME_WORD: Final = r"(?-i:[^\W\d_a-z][\w'’-]*)"
_NAME_WORDS: Final = rf"{_NAME_WORD}(?: {_NAME_WORD}){{0,2}}"
_TITLE: Final = r"(?:Dr|Mr|Mrs|Ms|Miss|Prof|Professor|Doctor|Uncle|Aunt|Auntie|Grandma|Grandpa)"
_LOW_TITLED: Final = r"(?:dr|mrs?|prof)\.? [^\W\d_][\w'’-]+"  # these say "person" in any case
_TITLED: Final = rf"(?P<name>(?-i:{_TITLE})\.? {_NAME_WORDS}|{_LOW_TITLED})"
_NAME: Final = rf"(?P<name>(?:(?-i:{_TITLE})\.? )?{_NAME_WORDS}|{_LOW_TITLED})"
_ANY_NAME: Final = rf"(?P<name>{_NAME_WORDS}|[^\W\d_][\w'’-]*)"
# "my cat minka is ill", but not "my cat purring"
_LOW_NAME: Final = (
    r"(?P<name>[^\W\d_][\w-]+)(?=['’]s\b| (?:is|was|has|had|will|can|and i|just|does|did|got|needs"
    r"|wants|likes|loves|hates)\b)"
)
_OF_OWN: Final = rf"(?:{_PERSON}|{_one_of(_ANIMAL_WORDS)}|{_one_of(_OWN_WORKS)})"
_BETWEEN: Final = r"(?:[\w-]+ ){0,2}?"
# What others made, and what is liked: "my favourite film is called Heat" names the film.
_WORKS: Final = (
    r"(?!(?:[\w-]+ ){0,2}?(?:favou?rites?|books?|novels?|films?|movies?|series|shows?|games?|apps?"
    r"|songs?|albums?|bands?|artists?|authors?|singers?|podcasts?|brands?|phones?|bikes?|cars?"
    r"|laptops?)\b)"
)
_INTRODUCED: Final = (
    # "my dog is called Pim", "our daughter's name is Lena", "my wife is Ann"
    spaced(
        rf"\b(?:my|our) {_WORKS}(?:[\w-]+ ){{0,3}}?[\w-]+(?:['’]s name)?"
        rf"(?: (?:is|are|was|were)|['’]s)? (?:called|named) {_ANY_NAME}"
    ),
    spaced(rf"\b(?:my|our) {_BETWEEN}{_OF_OWN}(?:['’]s? (?:first )?name)? (?:is|was) {_NAME}"),
    spaced(rf"\b(?:my|our) {_BETWEEN}{_OF_OWN}['’]s? (?:first )?name (?:is|was) {_ANY_NAME}"),
    spaced(rf"\bthe name of (?:my|our) {_BETWEEN}{_OF_OWN} (?:is|was) {_ANY_NAME}"),
    spaced(
        rf"\b(?:my|our) {_BETWEEN}{_OF_OWN},[^.?!]{{0,60}}, (?:is|was) (?:called|named) {_ANY_NAME}"
    ),
    # "I have a cat named Tom"
    spaced(
        rf"\b(?:i|we)\b[^.?!]{{0,40}} {_OF_OWN},? (?:which |who |that )?(?:is |we )?"
        rf"(?:called|named|call) {_ANY_NAME}"
    ),
    # "my daughter Lena", "our old cat, Tom"
    spaced(rf"\b(?:my|our) {_BETWEEN}{_OF_OWN},? {_NAME}"),
    spaced(rf"\b(?:my|our) {_BETWEEN}{_OF_OWN},? {_LOW_NAME}"),
    # "Lena is my daughter", "Lena, our youngest child"
    spaced(rf"{_NAME}(?:,| is| was|['’]s) (?:my|our) {_BETWEEN}{_OF_OWN}\b"),
)
_TOGETHER: Final = (
    r"(?:appointments?|met|meet|meeting up|dinner|lunch|breakfast|coffee|dates?|drinks|holidays?"
    r"|trip|party|wedding|therapy|lessons?|argument|fight)"
)
_SPOKEN_OF_LIKE_ONE: Final = (
    # what people do with people: "dinner with Ann", "I met Ann", "Ann and I", "Ann's birthday"
    spaced(rf"\b{_TOGETHER} (?:at|with) {_NAME}"),
    spaced(
        r"\b(?:i|we|i['’](?:m|ve|ll)|we['’](?:re|ve|ll)) (?:\w+ ){0,2}?(?:met|meet|meeting|married"
        r"|dated|dating|phoned|texted|hugged|babysat|babysit|babysitting) "
        rf"{_NAME}"
    ),
    spaced(
        r"\b(?:live|lived|living|went|go|going|travel\w*|stay\w*|slept|sat|talk\w*|spoke|speak)"
        rf" (?:[\w-]+ ){{0,3}}?with {_NAME}"
    ),
    spaced(rf"{_NAME} and (?:i|me)\b"),
    spaced(rf"\b(?:me|i) and {_NAME}"),
    spaced(rf"\b(?:his|her|its) name(?: is|['’]s) {_ANY_NAME}"),
    spaced(
        rf"{_NAME}['’]s? (?:\w+ )?(?:birthday|appointment|wedding|kindergarten|homework|funeral"
        r"|vaccination|surgery|operation|diagnosis|school|teacher|graduation|allerg(?:y|ies))\b"
    ),
    spaced(
        r"\b(?:with|to|from|at|by|see|saw|seeing|asked|ask|told|called|call|my|our) "
        rf"{_TITLED}"
    ),
)
_AND_ANOTHER: Final = spaced(rf",? and {_NAME}(?!['’])")
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
_IT: Final = spaced(r"\b(?:it|its)\b")


def _is_possessive(text: str) -> bool:
    """Tell whether a text says "my" or "our", in any language of which that is known."""
    if _POSSESSIVE.search(text):
        return True
    return not reads_english(text)[1] and _POSSESSIVE_ELSEWHERE.search(text) is not None


class OwnName(NamedTuple):
    """A name in a text that its owner's own words bring in."""

    name: str  # lower case
    introduced: bool  # as theirs, and not only spoken of as a person


def own_names_in(text: str, said: Iterable[str]) -> list[OwnName]:
    """Return the names in a text that are known from its owner's own words.

    These are their people, their animals, and what they named themselves: "my dog is called Pim",
    "my daughter Lena". `said` are their texts that may introduce them; the text itself may, too.
    """
    names: dict[str, bool] = {}
    for own_text in (*said, text):
        for name, introduced in _people_in(own_words(own_text).text[:HEARD_CHARS]):
            names[name] = names.get(name, False) or introduced
    return [OwnName(*pair) for pair in names.items() if _mentions(text, pair[0])]


def _people_in(text: str) -> Iterator[tuple[str, bool]]:
    """Yield (name in lower case, whether it is introduced as somebody of the writer's own)."""
    for patterns, introduced in ((_INTRODUCED, True), (_SPOKEN_OF_LIKE_ONE, False)):
        for pattern in patterns:
            for match in pattern.finditer(text):
                name = re.sub(r"['’]s?$", "", match["name"]).casefold()
                first = name.split()[0]
                if len(first) < 2 or first in STOPWORDS or is_calendar_word(first):
                    continue
                if is_nationality(first):  # "my wife is Canadian"
                    continue
                called = re.search("call|name", match[0][: match.start("name") - match.start()])
                loose = not introduced or match["name"].islower() or match["name"].isupper()
                if loose and not called and " " not in name and is_everyday(first):
                    continue  # "my dog really is a fool", "Bread and I are friends"
                if introduced or not is_place(name):
                    yield name, introduced
                also = _AND_ANOTHER.match(text, match.end("name"))
                if introduced and also and also["name"] != "I":  # "my sons Tim and Tom"
                    yield also["name"].casefold(), introduced


def _mentions(text: str, name: str) -> bool:
    """Tell whether a text names somebody, by the whole name or a part of it."""
    parts = [piece for piece in re.split(r"[\s.]+", name) if len(piece) > 2]
    for number, part in enumerate(parts):
        if re.fullmatch(_TITLE, part.capitalize()) or part in STOPWORDS:
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
    known = word.casefold() in parts or re.fullmatch(_TITLE, word) is not None
    return bool(word) and word[0].isupper() and not known and is_uncommon(word)
