"""Words of which one denies the other. Data only.

A claim that says one of them, where the passage says the other in its place, says something else.
Listed are those whose vectors are so close that likeness alone would take one for the other, and
those that people say of their things, tastes and moods: the later of two replaces the earlier.
"""

from __future__ import annotations

import functools
from itertools import product
from typing import Final

from factbook.language.words import stem

OPPOSITES: Final = """
like|love|enjoy|adore hate|dislike|detest|loathe|despise
hot|warm cold|cool
enable|enabled disable|disabled
increase|rise|growth|gain|boost|surge|climb decrease|decline|drop|reduction|fall|loss|plunge
high|higher|highest|elevated low|lower|lowest
large|big|huge|massive|significant small|minor|tiny|insignificant|negligible
long|longer|lengthy short|shorter|brief
fast|faster|quick|quickly|rapid|rapidly slow|slower|slowly
early|earlier late|later
old|older|elderly young|younger|new|newer
simple|easy|straightforward complex|complicated|hard|difficult
open|opened|opening close|closed|closing|shut
win|won|victory lose|lost|defeat
buy|bought|purchase|acquire sell|sold|sale
lend borrow
send|sent receive|received
remember|recall forget|forgot
calm|relaxed angry|nervous|anxious|worried
interested|intrigued uninterested|bored|indifferent
good|great|excellent|positive bad|poor|terrible|awful|negative
cheap|inexpensive|affordable expensive|costly|unaffordable
safe|safely|secure dangerous|unsafe|insecure
legal|legally|lawful illegal|illegally|unlawful
guilty innocent
alive|living dead|deceased
public|publicly private|privately
temporary|temporarily permanent|permanently
common|frequent|frequently|often|usual rare|rarely|infrequent|seldom|unusual
many|numerous few
all|every|everyone|everybody none|nobody|some
male female
aware|conscious unaware|unconscious
online offline
""".strip()


@functools.cache
def opposite_pairs() -> frozenset[tuple[str, str]]:
    """Return the pairs of stems that are opposites, both ways round."""
    pairs: set[tuple[str, str]] = set()
    for row in OPPOSITES.splitlines():
        left, _, right = row.partition(" ")
        for a, b in product(map(stem, left.split("|")), map(stem, right.split("|"))):
            if a != b:
                pairs |= {(a, b), (b, a)}
    return frozenset(pairs)
