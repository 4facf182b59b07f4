"""The small words of English that decide what a sentence claims. Data only.

Written so that `reading` needs one look-up for each word; a phrase stands with underscores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from factbook.language.calendar import WEEKDAYS
from factbook.language.numbers import CARDINALS, ORDINALS
from factbook.language.verbs import UNCHANGED
from factbook.language.words import word_set

ARTICLES: Final = word_set("a an the")

# Words that carry grammar only and stand in no other list, which is asked before. Prepositions
# without a direction are here: what is "in" a yard is "on" a yard for most writers.
FUNCTION: Final = word_set("""
    and or so as in on at inside within upon while then that which who whom whose where when there
    here it this these those am is are was were be been being do does did done doing has have had
    having will shall ought among during per plus theirs its itself himself herself themselves
    ourselves yourself also too dr etc some several various
    """)

NEGATORS: Final = word_set("""
    not no never none nobody nothing neither nor cannot without hardly barely scarcely nowhere
    noone no_one unable non lack lacks lacking isnt arent wasnt werent dont doesnt didnt cant wont
    couldnt shouldnt wouldnt hasnt havent hadnt ain't nicht kein keine keinen nie niemals pas jamais
    nunca nao não niet geen nooit inte aldrig ikke не нет никогда
    """)

# "not only" and the like deny nothing.
NOT_DENIALS: Final = (
    "not_only", "not_just", "no_doubt", "no_matter", "not_least", "no_more_than", "no_less_than",
    "no_later_than", "no_earlier_than", "not_more_than", "not_less_than", "no_fewer_than",
)  # fmt: skip

MODALS: Final[Mapping[str, str]] = {
    "may": "possible", "might": "possible", "could": "possible", "maybe": "possible",
    "perhaps": "possible", "possibly": "possible", "probably": "possible", "likely": "possible",
    "apparently": "hearsay", "allegedly": "hearsay", "supposedly": "hearsay",
    "reportedly": "hearsay", "rumour": "hearsay", "rumor": "hearsay",
    "must": "duty", "have_to": "duty", "has_to": "duty", "need_to": "duty", "needs_to": "duty",
    "had_to": "duty", "should": "advice", "ought_to": "advice", "had_better": "advice",
    "supposed_to": "advice", "be_required_to": "duty", "required_to": "duty",
    "obliged_to": "duty", "mandatory": "duty", "compulsory": "duty", "optional": "option",
    "can": "able", "able_to": "able", "unable_to": "able", "cannot": "able",
    "capable_of": "able", "allowed_to": "able", "permitted_to": "able",
    "want_to": "wish", "wants_to": "wish", "wanted_to": "wish", "would_like_to": "wish",
    "would_love_to": "wish", "hope_to": "wish", "hopes_to": "wish", "plan_to": "plan",
    "plans_to": "plan", "planning_to": "plan", "intend_to": "plan", "intends_to": "plan",
    "planned_to": "plan", "thinking_about": "wish", "thinking_of": "wish",
    "considering": "wish", "consider": "wish", "considers": "wish", "wish": "wish",
    "wishes": "wish", "said": "hearsay", "says": "hearsay", "dream_of": "wish",
    "dreams_of": "wish", "about_to": "plan",
    "try_to": "attempt", "tries_to": "attempt", "tried_to": "attempt", "trying_to": "attempt",
    "attempt_to": "attempt", "attempts_to": "attempt", "attempted_to": "attempt",
    "fail_to": "failure", "fails_to": "failure", "failed_to": "failure",
    "refuse_to": "failure", "refuses_to": "failure", "refused_to": "failure",
    "if": "condition", "unless": "condition", "would": "condition", "whether": "condition",
    "suppose": "condition", "imagine": "condition", "pretend": "condition",
    "pretends": "condition", "pretending": "condition", "hypothetically": "condition",
    "assuming": "condition", "provided_that": "condition", "almost": "nearly",
    "nearly": "nearly", "former": "former", "formerly": "former", "ex": "former",
    "previous": "former", "previously": "former", "future": "coming", "fake": "fake",
    "alleged": "hearsay", "think": "hearsay", "thinks": "hearsay", "believe": "hearsay",
    "believes": "hearsay", "claims": "hearsay", "guess": "possible", "seems": "possible",
    "seem": "possible", "seemed": "possible", "appears_to": "possible",
}  # fmt: skip

QUANTIFIERS: Final[Mapping[str, str]] = {
    "all": "all", "every": "all", "each": "all", "always": "all", "everyone": "all",
    "everybody": "all", "everything": "all", "all_of": "all", "whole": "all", "daily": "all",
    "entire": "all", "any": "any", "anyone": "any", "both": "both", "half": "half", "most": "most",
    "mostly": "most", "majority": "most", "minority": "few", "many": "many", "lot": "many",
    "lots": "many", "numerous": "many", "much": "many", "plenty": "many", "few": "few",
    "little": "", "only": "only", "solely": "only", "exclusively": "only", "just_one": "only",
    "except": "except", "apart_from": "except", "at_least": ">=", "minimum": ">=", "min": ">=",
    "no_less_than": ">=", "not_less_than": ">=", "no_fewer_than": ">=", "at_most": "<=",
    "maximum": "<=", "max": "<=", "no_more_than": "<=", "not_more_than": "<=", "up_to": "<=",
    "no_later_than": "<=", "no_earlier_than": ">=", "more_than": ">", "greater_than": ">",
    "less_than": "<", "fewer_than": "<", "exactly": "", "approximately": "",
    "roughly": "", "circa": "", "often": "often", "frequently": "often", "sometimes": "sometimes",
    "occasionally": "sometimes", "rarely": "rarely", "seldom": "rarely", "usually": "usually",
    "normally": "usually", "generally": "usually", "typically": "usually", "partly": "partly",
    "partially": "partly", "weekly": "weekly", "monthly": "monthly", "yearly": "yearly",
    "annually": "yearly", "hourly": "hourly",
}  # fmt: skip

# Quantifiers that may stand on one side only: they hold what the other side says without them.
MILD_QUANTIFIERS: Final = frozenset({"usually", "any"})

# Quantifiers of which two different ones cannot both be true of the same statement.
QUANTIFIER_CLASHES: Final = (
    frozenset({"all", "few"}), frozenset({"all", "rarely"}), frozenset({"most", "few"}),
    frozenset({"many", "few"}), frozenset({"often", "rarely"}), frozenset({"usually", "rarely"}),
    frozenset({"weekly", "monthly"}), frozenset({"weekly", "yearly"}),
    frozenset({"monthly", "yearly"}), frozenset({">", "<"}), frozenset({"all", "half"}),
)  # fmt: skip

# Prepositions that give a direction or a relation; phrases are one preposition.
PREPOSITIONS: Final[Mapping[str, str]] = {
    "to": "to", "toward": "to", "towards": "to", "into": "into", "onto": "onto", "from": "from",
    "out_of": "out", "off_of": "off", "off": "off", "out": "out", "with": "with", "using": "with",
    "without": "without", "by": "by", "via": "via", "through": "through", "for": "for",
    "against": "against", "before": "before", "prior_to": "before", "ahead_of": "before",
    "after": "after", "following": "after", "over": "over", "above": "over", "under": "under",
    "below": "under", "beneath": "under", "underneath": "under", "than": "than",
    "instead_of": "instead", "rather_than": "instead", "until": "until", "till": "until",
    "since": "since", "about": "about", "near": "near", "next_to": "near", "close_to": "near",
    "beside": "near", "nearby": "near", "near_to": "near", "far_from": "far", "away_from": "far",
    "in_front_of": "front", "behind": "behind", "around": "around", "across": "across",
    "along": "along", "between": "between", "up": "up", "down": "down", "of": "of",
    "outside_of": "outside", "on_top_of": "ontop", "because_of": "because",
}  # fmt: skip

# Pairs of them that cannot both hold between the same two things.
OPPOSED_PREPOSITIONS: Final = (
    ("to", "from"), ("into", "out"), ("onto", "off"), ("into", "from"), ("with", "without"),
    ("before", "after"), ("over", "under"), ("for", "against"), ("near", "far"), ("up", "down"),
    ("front", "behind"), ("until", "since"), ("onto", "from"), ("on", "off"), ("before", "since"),
    ("until", "after"),
)  # fmt: skip

PERSONS: Final[Mapping[str, str]] = {
    "i": "1", "me": "1", "my": "1", "mine": "1", "myself": "1", "user": "1", "users": "1",
    "im": "1", "ive": "1", "we": "we", "us": "we", "our": "we", "ours": "we", "you": "1",
    "your": "1", "yours": "1", "he": "he", "him": "he", "his": "he", "she": "she", "her": "she",
    "hers": "she", "mr": "he", "sir": "he", "mrs": "she", "ms": "she", "miss": "she",
    "they": "they", "them": "they", "their": "they",
}  # fmt: skip
INDEFINITE: Final = word_set(
    "a an some several two three four five six seven eight nine ten many people nobody no"
)  # first words of a scene in which anyone may act: another number there is another scene

NUMBER_WORDS: Final[Mapping[str, int]] = {
    **{word: number for word, number in CARDINALS.items() if word != "one"},  # a pronoun as often
    **{word: number for word, number in ORDINALS.items() if word != "second"},  # a unit as often
    "twice": 2, "thrice": 3, "dozen": 12, "once": 1,
}  # fmt: skip

DAYS: Final[Mapping[str, str]] = {
    form: name for form, name in WEEKDAYS.items() if form not in {"sun", "sat", "wed"}
}  # those are words of their own

# Unit -> (base unit, how many of it). Sizes of data are left alone: a GB may be 1,000 or 1,024 MB.
UNITS: Final[Mapping[str, tuple[str, float]]] = {
    "ms": ("s", 0.001), "millisecond": ("s", 0.001), "milliseconds": ("s", 0.001),
    "s": ("s", 1), "sec": ("s", 1), "secs": ("s", 1), "second": ("s", 1), "seconds": ("s", 1),
    "min": ("s", 60), "mins": ("s", 60), "minute": ("s", 60), "minutes": ("s", 60),
    "h": ("s", 3600), "hr": ("s", 3600), "hrs": ("s", 3600), "hour": ("s", 3600),
    "hours": ("s", 3600), "day": ("d", 1), "days": ("d", 1), "week": ("d", 7), "weeks": ("d", 7),
    "month": ("mo", 1), "months": ("mo", 1), "year": ("mo", 12), "years": ("mo", 12),
    "yr": ("mo", 12), "yrs": ("mo", 12),
    "mm": ("m", 0.001), "cm": ("m", 0.01), "m": ("m", 1), "km": ("m", 1000), "metre": ("m", 1),
    "metres": ("m", 1), "meter": ("m", 1), "meters": ("m", 1), "kilometre": ("m", 1000),
    "kilometres": ("m", 1000), "kilometer": ("m", 1000), "kilometers": ("m", 1000),
    "mile": ("mi", 1), "miles": ("mi", 1), "mi": ("mi", 1),
    "centimetres": ("m", 0.01), "centimeters": ("m", 0.01), "feet": ("ft", 1), "ft": ("ft", 1),
    "mg": ("g", 0.001), "g": ("g", 1), "gram": ("g", 1), "grams": ("g", 1), "gr": ("g", 1),
    "kg": ("g", 1000), "kgs": ("g", 1000), "kilo": ("g", 1000), "kilos": ("g", 1000),
    "kilogram": ("g", 1000), "kilograms": ("g", 1000), "kilogrammes": ("g", 1000),
    "lb": ("lb", 1), "lbs": ("lb", 1), "pound": ("lb", 1), "pounds": ("lb", 1),
    "ml": ("l", 0.001), "l": ("l", 1), "litre": ("l", 1), "litres": ("l", 1), "liter": ("l", 1),
    "liters": ("l", 1), "%": ("%", 1), "percent": ("%", 1), "pct": ("%", 1),
    "percentage": ("%", 1), "€": ("eur", 1), "euro": ("eur", 1), "euros": ("eur", 1),
    "eur": ("eur", 1), "$": ("usd", 1), "dollar": ("usd", 1), "dollars": ("usd", 1),
    "usd": ("usd", 1), "bucks": ("usd", 1), "£": ("gbp", 1), "gbp": ("gbp", 1),
    "gb": ("gb", 1), "gigabyte": ("gb", 1), "gigabytes": ("gb", 1), "gib": ("gib", 1),
    "mb": ("mb", 1), "megabyte": ("mb", 1), "megabytes": ("mb", 1), "tb": ("tb", 1),
    "terabyte": ("tb", 1), "terabytes": ("tb", 1), "kb": ("kb", 1), "times": ("x", 1),
    "x": ("x", 1), "degrees": ("deg", 1), "°c": ("degc", 1), "°f": ("degf", 1), "°": ("deg", 1),
    "px": ("px", 1), "pixels": ("px", 1), "calories": ("kcal", 1), "kcal": ("kcal", 1),
}  # fmt: skip

UNCHANGED_PARTICIPLES: Final = UNCHANGED | {"come", "become", "run"}

# Phrases that say that something held before and no longer does; "ended" cues of a whole text.
ENDINGS: Final[Mapping[str, str]] = {
    "no_longer": "ended", "not_anymore": "ended", "anymore": "ended", "any_more": "ended",
    "any_longer": "ended", "used_to": "ended", "stop": "stopped", "stops": "stopped",
    "stopped": "stopped", "quit": "stopped", "quits": "stopped", "gave_up": "stopped",
    "given_up": "stopped", "give_up": "stopped", "ceased": "stopped",
    "now": "now", "nowadays": "now", "currently": "now", "these_days": "now", "by_now": "now",
    "as_of": "now", "from_now_on": "now", "starting": "now", "since_then": "now", "lately": "now",
    "recently": "now", "instead": "now", "at_moment": "now", "right_now": "now",
    "moved_to": "moved", "moved_into": "moved", "relocated_to": "moved", "has_moved": "moved",
    "moving_to": "", "switched_to": "switched", "switched_from": "switched",
    "changed_to": "switched", "changed_from": "switched", "migrated_to": "switched",
    "migrated_from": "switched", "upgraded_to": "switched", "upgraded_from": "switched",
    "converted_to": "switched", "moved_from": "moved", "went_from": "switched",
    "renamed_to": "switched", "renamed_from": "switched", "renamed": "switched",
    "replaced": "replaced", "replaced_by": "switched", "replaced_with": "replaced",
    "swapped": "replaced", "traded": "replaced", "became": "now", "has_become": "now",
    "turned_into": "now", "left": "left", "sold": "left", "got_rid_of": "left",
    "divorced": "left", "broke_up_with": "left", "cancelled": "left", "canceled": "left",
    "deleted": "left", "uninstalled": "left", "retired": "left", "resigned": "left",
    "finished": "", "instead_of": "switched", "was_changed": "switched",
    "has_changed": "switched", "changed": "switched",
    "was_moved": "switched", "was_increased": "switched", "was_raised": "switched",
    "was_reduced": "switched", "increased_to": "switched", "raised_to": "switched",
    "lowered_to": "switched", "reduced_to": "switched", "extended_to": "switched",
    "postponed_to": "switched", "postponed": "switched", "rescheduled": "switched",
    "rescheduled_to": "switched", "was_postponed": "switched", "updated_to": "switched",
    "actually": "now", "correction": "now", "turns_out": "now", "turned_out": "now",
}  # fmt: skip

PERSON_NOUNS: Final = word_set("""
    roommat flatmat cowork neighbor neighbour niec nephew parent famili team everyon peopl son
    daughter kid children partner spous fianc fiance ex grandma grandpa mom dad mum client custom
    friend colleagu boss man woman boy girl child babi adult teenag person ladi guy toddler mother
    father brother sister uncl aunt cousin grandmoth grandfath wife husband girlfriend boyfriend
    manag doctor dentist teacher dog cat hors bird
    """)  # stems of who acts: of another one another thing is said

# One-sided, these add colour and no fact, as words in -ly do; both sides may have different ones.
SOFT: Final = word_set("""
    very rather pretty just indeed together also too well so such own same here there then again
    already yet even still ever oh yes ok okay please thanks hey hi
    """)

# These hold a sentence together and name nothing: they count on neither side.
EMPTY: Final = word_set("""
    be have do get own thing something anything stuff kind sort type fact one it this that these
    those what which who whom where when how whose number amount piece part group bunch set_of
    located placed situated other another colored coloured color colour size sized shaped dyed
    """)

# One-sided, these carry a sentence and not its content ("takes a walk", "is called"); with one of
# them on either side, the two texts may well say different things.
LIGHT: Final = word_set("""
    make call name use find go come take keep set put place time way member say stay painted age
    aged
    """)

# Words in -ly that are more than colour.
FIRM_LY: Final = word_set("""
    early only family reply supply apply italy lily fly rely ugly daily weekly monthly yearly
    elderly lonely friendly likely unlikely previously formerly recently temporarily permanently
    partially rarely locally remotely publicly privately manually automatically nightly hourly
    anomaly assembly belly bully butterfly july jelly multiply rally tally ally monopoly wrongly
    falsely poorly badly illegally secretly separately initially finally originally accidentally
    intentionally directly indirectly internally externally simultaneously sequentially
    conditionally emily kelly sally molly polly billy willy carly holly beverly kimberly sicily
    """)

# Words of one everyday meaning each: a claim that is said by one is known again by another.
SAME_WORDS: Final = (
    "live reside dwell", "begin start commence", "end finish conclude", "buy purchase",
    "delete remove erase", "need require", "hire recruit", "restart reboot", "run execute",
    "practice practise", "repair fix mend", "allergic allergy", "keep retain", "break fracture",
    "choose select", "help assist", "ask inquire", "close shut", "try attempt",
    "car automobile", "bike bicycle", "doctor physician", "photo photograph picture",
    "boss manager supervisor", "salary pay wage", "db database", "admin administrator",
    "child kid", "movie film", "sofa couch", "television tv", "big large", "fast quick",
)  # fmt: skip
