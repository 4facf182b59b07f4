"""Ask memory whose matter a text is, and whether it may be sent to somebody.

A text is read (`extract.private_matters`), what its owner said and what pages say of its names is
looked up (`recall.known`), and `gate.outgoing` decides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from factbook.extract.asked import (
    asked_text,
    asks_for_search,
    is_broad_word,
    search_query,
    wanted,
)
from factbook.extract.mentions import hear, spoken_of
from factbook.extract.opinions import HEARD_CHARS
from factbook.extract.private_matters import (
    OWN_LATELY,
    Before,
    Pronoun,
    as_things,
    own_names_in,
    privacy,
    pronoun_in,
    refers_to_own,
    spoken_in,
    titles_in,
    told_names,
    with_article,
)
from factbook.extract.things import Earlier, Things, things_asked
from factbook.extract.voice import own_words
from factbook.gate.names import structural_problem
from factbook.gate.outgoing import Matter, OutgoingVerdict, contacts_in, may_leave
from factbook.language.words import stem, words
from factbook.recall.known import is_public, said_about
from factbook.store.derived.entities import known_names

if TYPE_CHECKING:
    from factbook.store.port import Store

RECENT: Final = 8  # ours: texts said before a message that are read for what it means


def things_about(message: str, known: Mapping[str, str], recent: Sequence[str]) -> Things:
    """Return the things that a message is about; `recent` was said before it, newest first."""
    before = [Earlier(said, spoken_of([said], known)) for said in recent]
    return things_asked(message, known, before, problem=structural_problem)


def verdict_on(
    store: Store,
    message: str,
    query: str,
    *,
    owner: str,
    recent: Sequence[str] = (),
    pasted: Sequence[tuple[int, int]] = (),
) -> OutgoingVerdict:
    """Return whether a query may leave that is made for a message of its owner.

    The message has to be one that may, and so has what the query adds to it, whose writer may be a
    model that read more, and may not take up what stayed. `recent` are the texts said before it,
    newest first, and `pasted` are parts of it that ask for nothing in its owner's name.
    """
    message = message[:HEARD_CHARS]
    with store.snapshot():
        near = recent[:RECENT]
        things = things_about(message, known_names(store, owner), near).every
        matter = read_matter(store, message, owner=owner, recent=near, names=things, pasted=pasted)
        withheld = has_withheld(store, query, message, owner=owner, recent=recent, names=things)
        matter = replace(matter, withheld=withheld)
        asks = matter.asked_for or bool(wanted(message))
        if not asks:  # what is sure stays, and the query stands for itself
            matter = replace(matter, private=-math.inf)
        verdict = may_leave(matter)
        said = {word for text in (message, *things) for word in words(text)}
        adds = any(word not in said and not is_broad_word(word) for word in words(query))
        if not verdict.leaves or (asks and not adds):
            return verdict
        return may_leave(read_matter(store, query, owner=owner))


def has_withheld(
    store: Store,
    query: str,
    message: str,
    *,
    owner: str,
    recent: Sequence[str],
    names: Sequence[str] = (),
) -> bool:
    """Tell whether a query has a word of a question that stayed, which its message does not say.

    `recent` are the texts said before the message, newest first. Of what is public, as some of
    `names` may be, whoever is asked knows already.
    """
    return _Earlier(store, owner, recent).lend(query, message, names, since=0)


@dataclass(slots=True)
class _Earlier:
    """The texts that were said before a message, newest first, and which of them stayed."""

    store: Store
    owner: str
    texts: Sequence[str]
    stayed: dict[int, bool] = field(default_factory=dict)

    def lend(self, query: str, message: str, names: Sequence[str], *, since: int) -> bool:
        """Tell whether one that stayed, from a place on, has a word that only the query has."""
        lent = _content(query) - _content(message)
        if all(lent.isdisjoint(_content(said)) for said in self.texts[since:]):
            return False
        heard = hear(query, known=known_names(self.store, self.owner))
        for name in {*names, *(mention.name for mention in heard)}:
            if is_public(self.store, self.owner, name):
                lent -= _content(name)
        return any(
            not lent.isdisjoint(_content(self.texts[at])) and self._stays(at)
            for at in range(since, len(self.texts))
        )

    def _stays(self, at: int) -> bool:
        if at not in self.stayed:  # each is read once, however many go on about it
            self.stayed[at] = self._is_withheld(at)
        return self.stayed[at]

    def _is_withheld(self, at: int) -> bool:
        said, before = self.texts[at], self.texts[at + 1 : at + 1 + RECENT]
        if said.startswith("/") or not wanted(said):
            return False
        names = things_about(said, known_names(self.store, self.owner), before).every
        matter = read_matter(
            self.store, said, owner=self.owner, recent=before, names=names, pasted=()
        )
        lent = self.lend(search_query(said, names), said, names, since=at + 1)
        return not may_leave(replace(matter, withheld=lent)).leaves


def _content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if not is_broad_word(word)}


def read_matter(
    store: Store,
    text: str,
    *,
    owner: str,
    recent: Sequence[str] = (),
    names: Sequence[str] = (),
    pasted: Sequence[tuple[int, int]] | None = None,
) -> Matter:
    """Return what is read of a text that would be searched for.

    `recent` are the texts said before it in its conversation, newest first, and `names` the things
    that it is about where it only points at them ("how heavy is it?"). `pasted` are its parts that
    are not its owner's words; None where all of it is a query, which asks for nothing.
    """
    text = text[:HEARD_CHARS]
    known = known_names(store, owner)
    things = list(dict.fromkeys([*names, *(mention.name for mention in hear(text, known=known))]))
    no_person = [thing for thing in things if with_article(thing, (text, *recent[:OWN_LATELY]))]
    asked = as_things(asked_text(text, names), no_person)
    read = tuple(thing for thing in things if is_public(store, owner, thing))
    marked = (*titles_in(asked), *no_person)
    said = said_about(store, f"{asked} {' '.join(names)}", owner)
    pronoun = Pronoun.NONE if things else pronoun_in(asked)
    before = [
        Before(past, bool(own_names(store, past, owner=owner)), bool(spoken_of([past], known)))
        for past in recent[: pronoun.looked_back]
    ]
    told = told_names(asked, [*read, *marked], said)
    spoken = spoken_in(asked)
    named = f"{asked}. {'. '.join(names).title()}"
    this = words(text)
    earlier = [heard for heard in said if words(heard) != this]
    own = _own(store, named, [*earlier, *recent[:OWN_LATELY]], owner)
    first = _own(store, named, said, owner)  # that nothing but the text itself may bring in
    return Matter(
        asked_for=pasted is not None and asks_for_search(own_words(text, pasted=pasted).text),
        own=own,
        pronoun=refers_to_own(pronoun, before),
        recalls=spoken.recalls,
        possessive=spoken.possessive,
        first_person=spoken.first_person,
        told=(
            *(word for word in told if not is_public(store, owner, word)),
            *(name for name in first if name not in own),
        ),
        read=read,
        marked=marked,
        contacts=contacts_in(text),
        # what a page tells of a thing holds of everybody's, so of one's own
        private=privacy(as_things(asked, read, owned=True) if read else asked),
    )


def own_names(store: Store, text: str, *, owner: str) -> list[str]:
    """Return the names in a text that are known from its owner's own words alone, in lower case.

    Whom they only met counts where nothing says that the name is public.
    """
    text = text[:HEARD_CHARS]
    return list(_own(store, text, said_about(store, text, owner), owner))


def _own(store: Store, text: str, said: Sequence[str], owner: str) -> tuple[str, ...]:
    return tuple(
        name.name
        for name in own_names_in(text, said)
        if name.introduced or not is_public(store, owner, name.name)
    )
