"""A made-up web for the simulated year: things, what is true of them, and pages that say so.

Every page mixes sentences that state a fact of the world, in several wordings, with what surrounds
such sentences in a search result: navigation, cookies, sponsors, bylines, dates, prices, ratings,
other things, events and people. All names are made of syllables by the seed, all sentences were
written for this generator, and every sentence that states a fact is kept with the ids of what it
states, so that a simulation can be judged without reading.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

THINGS_OF_A_KIND: Final = 12
PAGES: Final = 6  # of one search
_LISTED_DAYS: Final = 120  # after which lists and other pages carry a new date

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing that can be true: wordings with {s} for the subject and {v} for the value."""

    name: str
    says: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A family of things, which is a topic that people search for."""

    plural: str
    singular: str
    names: str  # product, title or word: how its things are called
    adjectives: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    asks: tuple[str, ...]  # what people want to know of one


@dataclass(frozen=True, slots=True)
class Known:
    """One thing that is true of one thing of the world."""

    id: str
    says: tuple[str, ...]  # wordings with {s}
    since: int  # day


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that can be cared about."""

    name: str  # as people write it
    kind: Kind
    maker: str  # empty for titles and words
    short: str  # without its maker; the name where it has none
    truths: tuple[Known, ...]

    @property
    def called(self) -> tuple[str, ...]:
        """Return every name that stands for it."""
        bare = self.name.removeprefix("The ")
        return tuple(dict.fromkeys((self.name, self.short, bare)))

    @property
    def the(self) -> str:
        """Return the name with its article, where a sentence gives it one."""
        if self.kind.names == "product":
            return f"the {self.name}"
        return self.name


@dataclass(frozen=True, slots=True)
class Page:
    """One search result."""

    title: str
    url: str
    text: str
    at: datetime


_COMMON = (
    Attribute(
        "warranty",
        (
            "{s} comes with a warranty of {v} years.",
            "{s} has a {v}-year warranty.",
            "The warranty of {s} runs for {v} years.",
        ),
        ("two", "three", "five", "seven", "ten"),
    ),
    Attribute(
        "designer",
        (
            "{s} was designed by {v}.",
            "The designer of {s} is {v}.",
            "{v} designed {s}.",
        ),
        (
            "Ilse Vandermeer", "Tomas Rehak", "Priya Nandakumar", "Oluwaseun Bright",
            "Greta Falkenrath", "Hiro Matsuda", "Noor El-Amin", "Wendell Pryce",
        ),
    ),
    Attribute(
        "made",
        ("{s} is made in {v}.", "{s} is built in {v}.", "The factory that makes {s} is in {v}."),
        ("Portugal", "Slovenia", "Vietnam", "Estonia", "Canada", "Taiwan"),
    ),
)  # fmt: skip

_PRICE = Attribute(
    "price",
    ("{s} costs {v} euros.", "{s} is priced at {v} euros.", "The price of {s} is {v} euros."),
    ("149", "229", "349", "480", "599", "720", "890", "1,250"),
)
_WEIGHT = Attribute(
    "weight",
    ("{s} weighs {v}.", "{s} has a weight of {v}.", "The weight of {s} is {v}."),
    ("180 grams", "420 grams", "1.2 kg", "2.6 kg", "4.1 kg", "7.5 kg", "11 kg"),
)
_PRODUCT = (_PRICE, _WEIGHT, *_COMMON)

KINDS: Final[tuple[Kind, ...]] = (
    Kind(
        "bookshelf speakers", "bookshelf speaker", "product",
        ("compact", "two-way", "sealed", "ported"),
        (
            *_PRODUCT,
            Attribute(
                "tweeter",
                ("{s} uses a {v} tweeter.", "The tweeter of {s} is a {v} unit."),
                ("silk dome", "ribbon", "beryllium", "ceramic"),
            ),
            Attribute(
                "impedance",
                ("{s} has an impedance of {v} ohms.", "The impedance of {s} is {v} ohms."),
                ("four", "six", "eight"),
            ),
            Attribute(
                "cabinet",
                ("The cabinet of {s} is made of {v}.", "{s} has a cabinet of {v}."),
                ("bamboo", "birch plywood", "walnut", "concrete"),
            ),
        ),
        ("bass response", "price", "tweeter", "weight"),
    ),
    Kind(
        "espresso machines", "espresso machine", "product",
        ("dual-boiler", "lever", "semi-automatic", "single-boiler"),
        (
            *_PRODUCT,
            Attribute(
                "boiler",
                ("{s} has a boiler of {v}.", "The boiler of {s} is made of {v}."),
                ("brass", "copper", "stainless steel"),
            ),
            Attribute(
                "heats",
                ("{s} heats up in {v} minutes.", "{s} needs {v} minutes to heat up."),
                ("three", "six", "nine", "twelve"),
            ),
            Attribute(
                "tank",
                ("{s} holds {v} litres of water.", "The water tank of {s} takes {v} litres."),
                ("1.4", "1.8", "2.2", "2.9"),
            ),
        ),
        ("boiler", "price", "water tank", "warranty"),
    ),
    Kind(
        "trail running shoes", "trail running shoe", "product",
        ("cushioned", "light", "waterproof", "wide"),
        (
            *_PRODUCT,
            Attribute(
                "drop",
                ("{s} has a drop of {v} millimetres.", "The drop of {s} is {v} millimetres."),
                ("zero", "four", "six", "eight"),
            ),
            Attribute(
                "lugs",
                ("{s} has lugs of {v} millimetres.", "The lugs of {s} are {v} millimetres deep."),
                ("three", "four", "five", "seven"),
            ),
            Attribute(
                "upper",
                ("The upper of {s} is {v}.", "{s} has an upper of {v}."),
                ("engineered mesh", "recycled nylon", "woven kevlar"),
            ),
        ),
        ("grip", "price", "drop", "weight"),
    ),
    Kind(
        "fountain pens", "fountain pen", "product",
        ("piston-filled", "pocket", "eyedropper", "demonstrator"),
        (
            *_PRODUCT,
            Attribute(
                "nib",
                ("{s} has a {v} nib.", "The nib of {s} is {v}."),
                ("gold", "steel", "titanium", "palladium"),
            ),
            Attribute(
                "ink",
                ("{s} holds {v} millilitres of ink.", "{s} takes {v} millilitres of ink."),
                ("0.7", "1.1", "1.6", "2.3"),
            ),
            Attribute(
                "cap",
                ("The cap of {s} is {v}.", "{s} has a cap that is {v}."),
                ("threaded", "magnetic", "a snap cap"),
            ),
        ),
        ("nib", "price", "ink capacity", "cap"),
    ),
    Kind(
        "film cameras", "film camera", "product",
        ("medium-format", "point-and-shoot", "rangefinder", "half-frame"),
        (
            *_PRODUCT,
            Attribute(
                "lens",
                ("{s} has a lens of {v} millimetres.", "The lens of {s} is a {v} millimetre one."),
                ("28", "35", "40", "50"),
            ),
            Attribute(
                "shutter",
                (
                    "The shutter of {s} reaches {v} of a second.",
                    "{s} shoots at up to {v} of a second.",
                ),
                ("1/500", "1/1000", "1/2000"),
            ),
            Attribute(
                "battery",
                ("{s} runs on {v}.", "{s} takes {v}."),
                ("two button cells", "one CR123 battery", "no battery at all"),
            ),
        ),
        ("lens", "price", "shutter", "weight"),
    ),
    Kind(
        "synthesizers", "synthesizer", "product",
        ("analog", "granular", "modular", "wavetable"),
        (
            *_PRODUCT,
            Attribute(
                "voices",
                ("{s} has {v} voices.", "{s} plays {v} voices at once."),
                ("four", "six", "eight", "sixteen"),
            ),
            Attribute(
                "keys",
                ("{s} has {v} keys.", "The keyboard of {s} has {v} keys."),
                ("25", "37", "49", "61"),
            ),
            Attribute(
                "filter",
                ("The filter of {s} is a {v}.", "{s} has a {v} as its filter."),
                ("ladder filter", "state-variable filter", "comb filter"),
            ),
        ),
        ("filter", "price", "keyboard", "weight"),
    ),
    Kind(
        "folding bikes", "folding bike", "product",
        ("belt-driven", "electric", "light", "three-speed"),
        (
            *_PRODUCT,
            Attribute(
                "gears",
                ("{s} has {v} gears.", "There are {v} gears on {s}."),
                ("two", "three", "six", "eight"),
            ),
            Attribute(
                "wheels",
                ("The wheels of {s} measure {v} inches.", "{s} rolls on wheels of {v} inches."),
                ("14", "16", "18", "20"),
            ),
            Attribute(
                "folds",
                ("{s} folds in {v} seconds.", "Folding {s} takes {v} seconds."),
                ("ten", "fifteen", "twenty"),
            ),
        ),
        ("gears", "price", "folded size", "weight"),
    ),
    Kind(
        "board games", "board game", "title",
        ("cooperative", "card-driven", "solo", "tile-laying"),
        (
            *_COMMON[1:],
            Attribute(
                "players",
                ("{s} is for {v} players.", "{v} players can play {s}."),
                ("two to four", "one to five", "three to six"),
            ),
            Attribute(
                "minutes",
                ("A round of {s} takes {v} minutes.", "{s} is played in {v} minutes."),
                ("30", "45", "60", "90", "120"),
            ),
            Attribute(
                "artist",
                ("{v} painted the art of {s}.", "The art of {s} is by {v}."),
                ("Mirela Stan", "Jonas Quist", "Ayodele Cole", "Beatriz Lobo"),
            ),
            Attribute(
                "cards",
                ("{s} has {v} cards.", "There are {v} cards in {s}."),
                ("54", "80", "110", "144"),
            ),
            _PRICE,
        ),
        ("rules", "length", "price", "art"),
    ),
    Kind(
        "detective novels", "detective novel", "title",
        ("cosy", "historical", "hard-boiled", "rural"),
        (
            Attribute(
                "author",
                ("{s} was written by {v}.", "{v} wrote {s}.", "The author of {s} is {v}."),
                ("Edda Lorne", "Marcus Thiede", "Sunniva Aas", "Calum Roy", "Inès Duhamel"),
            ),
            Attribute(
                "pages",
                ("{s} has {v} pages.", "{s} runs to {v} pages."),
                ("212", "288", "344", "410", "512"),
            ),
            Attribute(
                "set",
                ("{s} is set in {v}.", "The story of {s} takes place in {v}."),
                ("Trieste", "Bergen", "Valparaíso", "Tbilisi"),
            ),
            Attribute(
                "hero",
                ("The detective of {s} is {v}.", "In {s}, {v} leads the case."),
                ("a retired judge", "a ship's doctor", "a young clerk", "a blind tailor"),
            ),
            Attribute(
                "narrator",
                ("{v} reads the audiobook of {s}.", "The audiobook of {s} is read by {v}."),
                ("Dara Whitlock", "Pavel Hron", "Lotte Seger"),
            ),
        ),
        ("ending", "author", "length", "setting"),
    ),
    Kind(
        "note apps", "note app", "word",
        ("encrypted", "offline", "plain-text", "shared"),
        (
            Attribute(
                "fee",
                ("{s} costs {v} euros a month.", "A month of {s} costs {v} euros."),
                ("two", "four", "six", "nine"),
            ),
            Attribute(
                "stores",
                ("{s} keeps its notes in {v}.", "The notes of {s} are kept in {v}."),
                ("plain files", "a local database", "its own cloud"),
            ),
            Attribute(
                "export",
                ("{s} exports notes as {v}.", "Notes in {s} can be exported as {v}."),
                ("Markdown", "PDF", "plain HTML"),
            ),
            Attribute(
                "runs",
                ("{s} runs on {v}.", "{s} is available for {v}."),
                ("Linux and Android", "macOS only", "all desktop systems"),
            ),
            Attribute(
                "team",
                ("{s} is developed by {v}.", "{v} develops {s}."),
                ("a team of three", "one person in Ghent", "a cooperative"),
            ),
        ),
        ("sync", "monthly fee", "export", "encryption"),
    ),
)  # fmt: skip

_ISA = (
    "{s} is {a} {adj} {singular} by {maker}.",
    "{s}, made by {maker}, is {a} {adj} {singular}.",
)
_ISA_BARE = ("{s} is {a} {adj} {singular}.", "{s} is {a} {singular}, and {a2} {adj} one.")
_NEWS = (
    ("{s} is now sold in {v}.", ("dark green", "matte white", "copper red", "slate grey")),
    ("{s} won the {v} award of its class.", ("Golden Lantern", "Blue Heron", "Open Door")),
    ("{s} will be followed by a successor in {v}.", ("the spring", "the autumn", "two years")),
    ("A new edition of {s} adds {v}.", ("a carrying case", "a printed guide", "a second cable")),
    ("{s} was recalled because of {v}.", ("a loose screw", "a misprint", "a faulty seal")),
)

_STARTS = (
    "Hal", "Orr", "Pell", "Nuv", "Tarn", "Vex", "Kel", "Bris", "Lum", "Dov", "Fen", "Gar", "Ist",
    "Jun", "Mar", "Nor", "Ost", "Quil", "Ros", "Sab", "Tol", "Ul", "Ver", "Wen", "Yar", "Zel",
    "Cor", "Mir", "Sel", "Ard", "Bel", "Cal", "Dun", "Eld", "Fir", "Gol", "Hes", "Iv", "Kor",
)  # fmt: skip
_ENDS = (
    "den", "rin", "worth", "olo", "moor", "ley", "tec", "ia", "ano", "ick", "ford", "una", "ett",
    "ova", "by", "and", "is", "ora", "em", "ax", "iel", "usk", "ade", "ent",
)  # fmt: skip
_ADJECTIVES = (
    "Gilded", "Silent", "Hollow", "Crooked", "Amber", "Drifting", "Frozen", "Painted", "Borrowed",
    "Restless", "Salted", "Tangled", "Velvet", "Wandering",
)  # fmt: skip
_NOUNS = (
    "Harbour", "Lantern", "Orchard", "Ferryman", "Compass", "Lighthouse", "Clockmaker", "Quarry",
    "Canal", "Beekeeper", "Staircase", "Archive", "Meadow", "Glasshouse",
)  # fmt: skip
_SPONSORS = (
    "Brightleaf Insurance", "Quantro Bank", "Skyhook VPN", "Mellow Mattress", "Cartwheel Foods",
    "Northgate Telecom", "PureSip Water", "Zenith Payroll", "Lofty Meal Kits", "Rapid Parcel",
    "Evergreen Mobile", "Titan Hosting", "Cobalt Airways", "Hearthside Loans",
)  # fmt: skip
_EVENTS = (
    "Ostrava Makers Days 2026", "Gearfest Antwerp 2025", "Nordic Hobby Expo", "Handmade Summit",
    "Tallinn Craft Week", "Open Bench Conference", "Lakeside Fair 2025",
)  # fmt: skip
_PEOPLE = (
    "Karin Holt", "Desmond Achebe", "Lucia Ferrante", "Peter Vos", "Mina Takahara", "Joel Brandt",
    "Amara Singh", "Rune Dahl",
)  # fmt: skip
_CITIES = ("Lisbon", "Rotterdam", "Kraków", "Nairobi", "Osaka", "Denver", "Antwerp", "Tallinn")
_SITES = (
    "The Patient Reviewer", "Gear Ledger", "Daily Workbench", "Honest Shelf", "Field & Desk",
    "Second Opinion", "Weekend Notes", "Buyers Almanac", "Slow Hobby", "Curious Crate",
)  # fmt: skip

_NOISE_LINES = (
    "Home | Reviews | Deals | Forum | About us",
    "Skip to main content",
    "We use cookies to improve your experience on this site.",
    "Accept all cookies Reject Manage preferences",
    "Subscribe to our newsletter and never miss a deal!",
    "Share on Facebook Share on X Copy link",
    "Sponsored by {sponsor}",
    "This article is presented by {sponsor} and {sponsor2}.",
    "In partnership with {sponsor}",
    "By {person}, {date}",
    "Last updated: {date}",
    "Published {iso}",
    "{person} has written for {site} since 2009.",
    "Rated {stars} out of 5 by {n} readers.",
    "€{p}.00 €{q}.00 Save 20 %",
    "Order today and get free shipping!",
    "You may also like: {other}, {other2}",
    "Read more",
    "Table of contents 1. Introduction 2. Verdict 3. Comments",
    "Seen at {event} in {city}.",
    "{sponsor} has been named the best company in {city} for the third year.",
    "Comments ({n})",
    "I have to say that I love how it looks on my desk.",
    "January 2025 February 2025 March 2025",
    "Privacy policy Terms of service Imprint",
    "© 2025 {site}. All rights reserved.",
    "What do you think? Tell us in the comments below.",
)

_STRAYS = (
    (
        "{event}: programme and sponsors",
        "{event} takes place in {city} on {date}. The main sponsor is {sponsor}. {person} opens the"
        " event. Tickets cost 25 euros. {sponsor2} invites everyone to its stand.",
    ),
    (
        "{sponsor} opens an office in {city}",
        "{sponsor} has opened an office in {city}. {person} leads the team of 40 people there. The"
        " company was founded in 2011. It plans to hire until {date}.",
    ),
    (
        "10 things to do in {city} this weekend",
        "1. Visit the market\n2. Walk along the river\n3. Taste the soup at {person}'s place\n"
        "4. {event}\n5. Take the tram\nUpdated {date}",
    ),
)


class World:
    """Everything there is to find, from a seed."""

    def __init__(self, *, seed: int, start: datetime, days: int) -> None:
        self._seed = seed
        self._start = start
        self._days = days
        self._random = random.Random(f"{seed}-world")
        self.things: list[Thing] = []
        self.stated: dict[str, set[tuple[str, str]]] = defaultdict(set)
        """A sentence as `plain` gives it -> (thing, id of the truth) that it states."""
        self._names: set[str] = set()
        self._taken_words: set[str] = set()
        for kind in KINDS:
            self.things += self._kind(kind)
        self.by_name = {thing.name: thing for thing in self.things}
        self._tokens = {thing.name: frozenset(words(thing.name)) for thing in self.things}
        for thing in self.things:
            for truth in thing.truths:
                for says in truth.says:
                    for subject in _subjects(thing):
                        self._state(says, subject, thing, truth)

    def _state(self, says: str, subject: str, thing: Thing, truth: Known) -> str:
        sentence = _sentence(says, subject)
        self.stated[plain(sentence)].add((thing.name, truth.id))
        return sentence

    # --- things ---------------------------------------------------------------------------------

    def _kind(self, kind: Kind) -> list[Thing]:
        found: list[Thing] = []
        while len(found) < THINGS_OF_A_KIND:
            if kind.names == "product":
                maker, models = self._syllables(), self._models()
                found += [self._thing(kind, f"{maker} {one}", maker, one) for one in models]
            elif kind.names == "title":
                found.append(self._thing(kind, self._title(), "", ""))
            else:
                found.append(self._thing(kind, self._syllables(3), "", ""))
        return found[:THINGS_OF_A_KIND]

    def _syllables(self, most: int = 2) -> str:
        chooser = self._random
        while True:
            word = chooser.choice(_STARTS) + chooser.choice(_ENDS)
            if most > 2:
                word = word[:-1] + chooser.choice(("oro", "alia", "ette", "ista", "ivo"))
            if word not in self._taken_words:
                self._taken_words.add(word)
                return word

    def _models(self) -> list[str]:
        """Return one to three models of one maker; some differ by a number alone."""
        chooser = self._random
        word = self._syllables()
        form = chooser.randrange(5)
        if form == 0:
            return [f"{word} {n}" for n in chooser.sample((2, 3, 5, 7, 9), 2)]
        if form == 1:
            return [word, f"{word} Mini"]
        if form == 2:
            free = [f"{one}{n}0" for one in "BDKRVX" for n in range(11, 99)]
            models = chooser.sample([one for one in free if one not in self._taken_words], 2)
            self._taken_words.update(models)
            return models
        if form == 3:
            return [f"{word} Mk II", f"{word} Mk III"]
        return [word]

    def _title(self) -> str:
        chooser = self._random
        while True:
            first, second = chooser.sample(_NOUNS, 2)
            name = chooser.choice(
                (
                    f"The {chooser.choice(_ADJECTIVES)} {first}",
                    f"{first} of the {second}",
                    f"{chooser.choice(_ADJECTIVES)} {first}",
                )
            )
            bare = name.removeprefix("The ")
            if bare not in self._names:
                self._names.add(bare)
                return name

    def _thing(self, kind: Kind, name: str, maker: str, short: str) -> Thing:
        chooser = self._random
        adjective = chooser.choice(kind.adjectives)
        article = "an" if kind.singular[0] in "aeiou" else "a"
        blank = {
            "adj": adjective,
            "singular": kind.singular,
            "maker": maker,
            "a": "an" if adjective[0] in "aeiou" else "a",
            "a2": "an" if adjective[0] in "aeiou" else "a",
            "s": "{s}",
        }
        kinds = [one.format(**blank) for one in (_ISA if maker else _ISA_BARE)]
        if not maker:  # "is a board game, and a solo one": the first article is the noun's
            kinds[1] = _ISA_BARE[1].format(**{**blank, "a": article})
        truths = [Known(f"{name}/kind", tuple(kinds), 0)]
        for attribute in kind.attributes:
            value = chooser.choice(attribute.values)
            says = tuple(one.replace("{v}", value) for one in attribute.says)
            late = chooser.random() < 0.2
            since = chooser.randrange(1, self._days) if late and self._days > 1 else 0
            truths.append(Known(f"{name}/{attribute.name}", says, since))
        for place, (says_news, values) in enumerate(chooser.sample(_NEWS, 2)):
            news = says_news.replace("{v}", chooser.choice(values))
            since = chooser.randrange(1, self._days) if self._days > 1 else 0
            truths.append(Known(f"{name}/news{place}", (news,), since))
        return Thing(name, kind, maker, short or name, tuple(truths))

    # --- pages ----------------------------------------------------------------------------------

    def search(self, query: str, day: int) -> list[Page]:
        """Return what the made-up web finds for a query on a day, best first, always the same."""
        asked = frozenset(words(query))
        chooser = random.Random(f"{self._seed}-{query}")
        scored = []
        for thing in self.things:
            tokens = self._tokens[thing.name]
            score = len(tokens & asked) / len(tokens)
            if score >= 0.6:
                scored.append((-score, -len(tokens), thing.name))
        kinds = [one for one in KINDS if set(words(one.plural)) & asked - _LOOSE]
        stray = self._stray(chooser, day)
        if scored:
            thing = self.by_name[min(scored)[2]]
            forms = [self._about(thing, form, day) for form in range(4)]
            pages = [*forms, self._best_of(thing.kind, 0, day), stray]
        elif kinds:
            pages = [self._best_of(kinds[0], form, day) for form in range(3)]
            some = chooser.sample([one for one in self.things if one.kind is kinds[0]], 2)
            pages += [self._about(one, 0, day) for one in some]
            pages.append(stray)
        else:
            pages = [self._stray(chooser, day) for _ in range(3)]
        return pages[:PAGES]

    def _about(self, thing: Thing, form: int, day: int) -> Page:
        """Return one of the pages about a thing, with what is known by that day."""
        chooser = random.Random(f"{self._seed}-{thing.name}-{form}")
        known = [one for one in thing.truths if one.since <= day]
        made = max(one.since for one in known)  # a page changes when there is news
        picked = [one for one in known if one.since or chooser.random() < 0.65][-9:]
        chooser.shuffle(picked)
        subject = thing.the if form != 2 else thing.name
        sentences: list[str] = []
        follows = False  # a page goes on with a pronoun, but not after a sentence about another
        for truth in picked:
            says = chooser.choice(truth.says)
            turned = follows and says.startswith("{s}") and chooser.random() < 0.3
            sentences.append(self._state(says, "it" if turned else subject, thing, truth))
            other = chooser.choice([one for one in self.things if one.kind is thing.kind])
            follows = other is thing or chooser.random() >= 0.2
            if not follows:
                fact = chooser.choice([one for one in other.truths if not one.since])
                sentences.append(self._state(fact.says[0], other.the, other, fact))
        lines = _mixed(chooser, sentences, self._noise(chooser, thing.kind, 7, made))
        site = _SITES[(hash_of(thing.name) + form) % len(_SITES)]
        titles = (
            f"{thing.name} review: worth the money?",
            f"{thing.name} - buy online | {site}",
            f"{thing.name}: everything that we know",
            f"Living with {thing.the} for six months",
        )
        return self._page(titles[form], site, slug(thing.name) + f"-{form}", lines, made)

    def _best_of(self, kind: Kind, form: int, day: int) -> Page:
        """Return a list of things of one kind; each form of it names others."""
        chooser = random.Random(f"{self._seed}-{kind.plural}-{form}")
        things = chooser.sample([one for one in self.things if one.kind is kind], 6)
        lines = [
            f"{place}. {thing.name} - "
            + self._state(thing.truths[0].says[0], thing.the, thing, thing.truths[0])
            for place, thing in enumerate(things, start=1)
        ]
        made = day // _LISTED_DAYS * _LISTED_DAYS
        noise = self._noise(chooser, kind, 6, made)
        body = [*noise[:2], f"Our list of {kind.plural}, tested by {chooser.choice(_PEOPLE)}."]
        body += [*lines, *noise[2:]]
        title = (
            f"The best {kind.plural} of 2025",
            f"Six {kind.plural} that we would buy",
            f"{kind.plural.capitalize()}: a buying guide",
        )[form]
        site = _SITES[(hash_of(kind.plural) + form) % len(_SITES)]
        return self._page(title, site, slug(title), body, made)

    def _stray(self, chooser: random.Random, day: int) -> Page:
        title, body = chooser.choice(_STRAYS)
        made = day // _LISTED_DAYS * _LISTED_DAYS
        blanks = self._blanks(chooser, KINDS[0], made)
        said = title.format(**blanks)
        return self._page(said, chooser.choice(_SITES), slug(said), [body.format(**blanks)], made)

    def _page(self, title: str, site: str, path: str, lines: Iterable[str], day: int) -> Page:
        host = slug(site).replace("-", "") + ".example"
        at = self._start + timedelta(days=day)
        return Page(title, f"https://{host}/{path}", "\n".join(lines), at)

    def _noise(self, chooser: random.Random, kind: Kind, count: int, day: int) -> list[str]:
        blanks = self._blanks(chooser, kind, day)
        return [one.format(**blanks) for one in chooser.sample(_NOISE_LINES, count)]

    def _blanks(self, chooser: random.Random, kind: Kind, day: int) -> dict[str, object]:
        sponsor, sponsor2 = chooser.sample(_SPONSORS, 2)
        others = [one.name for one in self.things if one.kind is kind]
        other, other2 = chooser.sample(others, 2)
        at = self._start + timedelta(days=day)
        return {
            "sponsor": sponsor,
            "sponsor2": sponsor2,
            "other": other,
            "other2": other2,
            "person": chooser.choice(_PEOPLE),
            "event": chooser.choice(_EVENTS),
            "city": chooser.choice(_CITIES),
            "site": chooser.choice(_SITES),
            "date": f"{at:%B} {at.day}, {at.year}",
            "iso": f"{at:%Y-%m-%d}",
            "stars": chooser.choice(("3.8", "4.1", "4.5", "4.7")),
            "n": f"{chooser.randrange(20, 4000):,}",
            "p": chooser.randrange(200, 400),
            "q": chooser.randrange(100, 200),
        }

    def bystanders(self) -> Iterable[str]:
        """Return every name that stands in pages without being what a page is about."""
        yield from (*_SPONSORS, *_EVENTS, *_PEOPLE, *_SITES)
        yield from {thing.maker for thing in self.things if thing.maker}
        for kind in KINDS:
            for attribute in kind.attributes:
                if attribute.name in ("designer", "artist", "author", "narrator"):
                    yield from attribute.values
        yield from ("Golden Lantern", "Blue Heron", "Open Door")

    # --- judging --------------------------------------------------------------------------------

    def states(self, content: str) -> set[tuple[str, str]]:
        """Return (thing, id of the truth) for every truth that a text states, by its sentences."""
        found = set(self.stated.get(plain(content), ()))
        for piece in re.split(r"(?<=[.!?])\s+|\n+|\s+[-–—]\s+|(?<=\w):\s+", content):
            found |= self.stated.get(plain(piece), set())
        return found


_LOOSE = frozenset(("a", "of", "the", "note", "film", "running", "board"))


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return _WORD.findall(text.lower())


def plain(text: str) -> str:
    """Return a sentence without what a copy of it may change: case, blanks, signs around it."""
    return " ".join(text.split()).strip(" .,;:!?-–—•*\"'“”").lower()


def slug(text: str) -> str:
    """Return a text as it stands in an address."""
    return "-".join(words(text))


def hash_of(text: str) -> int:
    """Return a number for a text, the same in every process."""
    return sum(place * ord(char) for place, char in enumerate(text, start=1))


def _subjects(thing: Thing) -> Sequence[str]:
    return (thing.name, thing.the, "it", thing.short)


def _sentence(says: str, subject: str) -> str:
    text = says.replace("{s}", subject)
    return text[0].upper() + text[1:]


def _mixed(chooser: random.Random, sentences: Sequence[str], noise: Sequence[str]) -> list[str]:
    """Return paragraphs of two to four sentences with lines of noise between them."""
    lines: list[str] = []
    left = list(sentences)
    while left:
        count = chooser.randint(2, 4)
        lines.append(" ".join(left[:count]))
        left = left[count:]
    for one in noise:
        lines.insert(chooser.randint(0, len(lines)), one)
    return lines
