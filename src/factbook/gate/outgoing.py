"""Decide whether a text may be sent to a search provider, from what was read of it. Pure.

Nothing leaves without a reason: its owner asked for just that, or it reads like a question that
anybody could ask, and the less is known of the names in it, the more it must. What only its owner
can mean stays whatever else it says, and an address or a number by which somebody is reached in any
case, also of what was asked for (`without_contacts`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from factbook import policy

SEND_ANYWAY: Final = "`/learn` or `/search` with these words sends them all the same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What was read of a text that somebody would search for."""

    withheld: bool = False  # it has words of an earlier question that stayed, and not its own
    asked_for: bool = False  # its owner asked for a search in these words: `/learn`, "look up"
    own: tuple[str, ...] = ()  # names of somebody or something of its owner's
    pronoun: bool = False  # "she", and nothing public was spoken of before
    recalls: bool = False  # asks what was said or done: "did I", "remind me"
    possessive: bool = False  # speaks of something as its owner's: "my rent"
    first_person: bool = False  # speaks of who asks: "where do I live?"
    told: tuple[str, ...] = ()  # names that its owner told of and no page says anything of
    read: tuple[str, ...] = ()  # names of which a page that was read says something
    marked: tuple[str, ...] = ()  # written as no person is: a title in quotes, a model, "the X"
    contacts: tuple[str, ...] = ()  # addresses and numbers by which somebody is reached
    private: float | None = None  # how private it reads, as log odds; None where none can read it


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingVerdict:
    """Whether a text may leave, and why."""

    leaves: bool
    why: str  # in words, for people
    of_owner: bool = False  # what stays is its owner's own matter, and not only in doubt

    @property
    def said(self) -> str:
        """Say to whoever asked that nothing is sent, why, and how it is sent all the same."""
        about = "about you, so nothing" if self.of_owner else "nothing"
        return f"{about} is searched for: {self.why}; {SEND_ANYWAY}"


def may_leave(matter: Matter) -> OutgoingVerdict:
    """Return whether a text may be sent, by what was read of it."""
    if matter.withheld:  # whatever is asked for: the words are not in what asks for it
        return _stays("it goes on about a question that was not sent")
    if matter.contacts:
        if matter.asked_for:
            return OutgoingVerdict(
                leaves=True, why="you asked for it; the address or number in it stays"
            )
        return _stays("it holds an address or a number of somebody", of_owner=True)
    if matter.asked_for:
        return OutgoingVerdict(leaves=True, why="you asked for it")
    if matter.own:
        names = ", ".join(matter.own)
        return _stays(f"{names} is known from your own words alone", of_owner=True)
    if matter.pronoun:
        return _stays("it is about somebody you know", of_owner=True)
    if matter.recalls:
        return _stays("only you can know it", of_owner=True)
    public = (*matter.read, *matter.marked)
    if matter.private is None:
        if public and not matter.possessive and not matter.told:
            return OutgoingVerdict(leaves=True, why=_of(public))
        return _stays("nothing says that it is about something public")
    if matter.possessive and not matter.read:
        return _stays("it reads like a matter of your own", of_owner=True)
    if matter.told:
        limit = policy.LEAVES_TOLD
    elif matter.first_person and not matter.possessive:
        limit = policy.LEAVES_FIRST  # "do I like the Halden?" is no matter of the Halden
    elif matter.read:
        limit = policy.LEAVES_PUBLIC
    else:
        limit = policy.LEAVES_MARKED if matter.marked else policy.LEAVES_PLAIN
    if matter.private < limit:
        return OutgoingVerdict(leaves=True, why=_of(public) if public else "anybody could ask it")
    if matter.possessive or matter.first_person:
        return _stays("it reads like a matter of your own", of_owner=True)
    if matter.told and matter.private < policy.LEAVES_PLAIN:
        return _stays(f"nobody but you has spoken of {', '.join(matter.told)}")
    return _stays("it may be a private matter")


def _of(public: tuple[str, ...]) -> str:
    return f"{', '.join(dict.fromkeys(public))} is public"


def _stays(why: str, *, of_owner: bool = False) -> OutgoingVerdict:
    return OutgoingVerdict(leaves=False, why=why, of_owner=of_owner)


_MAIL: Final = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
# nine figures or more, or seven behind a sign or a zero: a phone, an account, a card
_FIGURES: Final = (
    r"(?<![\w.,])(?:(?:\+|\(?0|[A-Z]{2}\d{2} ?)\d?(?:[ ./()-]{0,2}\d){6,33}"
    r"|\d(?:[ -]?\d){8,33})(?![\w]|[.,]\d)"
    r"|(?<![\w-])\d{2}-\d{2}-\d{2}(?![\w-])"
    # an IBAN (ISO 13616), whose bank has letters in many countries: in one, or by fours
    r"|(?<!\w)[A-Z]{2}\d{2}(?=(?:[A-Z ]{0,12}\d){8})(?:[A-Z0-9]{11,30}"
    r"|(?: [A-Z0-9]{4})(?: (?=[A-Z]{0,3}\d)[A-Z0-9]{4}){1,6}(?: [A-Z0-9]{1,3})?)(?!\w)"
)
# the number of a house beside a name that begins or ends as names of streets do
_STREET_END: Final = (
    r"(?:street|road|avenue|lane|grove|crescent|terrace|stra(?:ß|ss)e|str\.|weg|gasse|allee|platz"
    r"|straat|laan|gatan|sokak|caddesi)"
)
_STREET_BEGIN: Final = r"(?:rue|via|viale|calle|avenida|rua|ulica|ul\.|avenue)"
_STREET: Final = (
    rf"\b\d{{1,4}}[a-z]?,? (?:(?-i:[A-ZÀ-Þ])[\w'’-]* ){{1,3}}"
    rf"(?:{_STREET_END}|drive|close|court)\b"
    rf"|\b\d{{1,4}}[a-z]? [^\W\d_]+ {_STREET_END}(?=\W*$|[,.?!])"
    rf"|(?<!\w)(?:(?-i:[A-ZÀ-Þ])[\w'’-]*[ -])?[^\W\d_]*{_STREET_END} \d{{1,4}}[a-z]?\b"
    rf"|\b\d{{1,4}},? {_STREET_BEGIN}(?: (?:de|du|des|la|le|l['’]|del|della|di))*"
    r" [^\W\d_][\w'’-]+"
    rf"|(?<!\w){_STREET_BEGIN} (?:[^\W\d_][\w'’-]* ){{1,4}}\d{{1,4}}\b"
)
_NUMBERED: Final = re.compile(_FIGURES, re.IGNORECASE)
_CONTACT: Final = re.compile(f"{_MAIL}|{_FIGURES}|{_STREET}", re.IGNORECASE)


def contacts_in(text: str) -> tuple[str, ...]:
    """Return the mail and street addresses, phone and account numbers in a text."""
    return tuple(match[0] for match in _CONTACT.finditer(text))


def has_figures(text: str) -> bool:
    """Tell whether a text holds a number by which somebody is reached or paid."""
    return _NUMBERED.search(text) is not None


def without_contacts(text: str) -> str:
    """Return a text without addresses and numbers by which somebody is reached."""
    return " ".join(_CONTACT.sub(" ", text).split()) if _CONTACT.search(text) else text
