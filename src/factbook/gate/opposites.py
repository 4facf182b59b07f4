"""Words of which one denies the other. Data only.

A claim that says one of them, where the passage says the other in its place, says something else.
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
increase|rise|jump|soar|surge|climb decrease|decline|drop|fall|slump|plummet|tumble
high|higher|highest|elevated low|lower|lowest
more|most less|least|fewer|fewest
large|big|huge|massive|significant small|minor|tiny|insignificant|negligible
long|longer|lengthy short|shorter|brief
fast|faster|quick|quickly|rapid|rapidly slow|slower|slowly
early|earlier late|later
old|older|elderly young|younger|new|newer
new|novel|recent|modern|latest old|outdated|conventional|obsolete|existing
correct|correctly|right incorrect|incorrectly|wrong|wrongly
simple|easy|straightforward complex|complicated|hard|difficult
agree|accept|consent|approve disagree|reject|refuse|decline|disapprove
agreement|acceptance|approval rejection|refusal|disagreement
confirm|acknowledge|admit deny|denied|dispute
allow|permit|authorize|let ban|forbid|prohibit|prevent|block
support|back|endorse|favor oppose|criticize|reject|condemn
praise|applaud criticize|condemn|blame
include|included|including exclude|excluded|excluding|omit
add|added|insert remove|removed|delete|eliminate
open|opened|opening close|closed|closing|shut
start|begin|began|launch|initiate end|stop|finish|halt|cease|terminate
arrive|arrival leave|depart|departure
enter|entrance exit
before|prior after
first last
top bottom
win|won|victory lose|lost|defeat
buy|bought|purchase|acquire sell|sold|sale
hire|hired fire|fired|dismiss
lend borrow
send|sent receive|received
give|gave take|took
ask|asks answer|answers
remember|recall forget|forgot
happy|glad|pleased|delighted|satisfied sad|unhappy|upset|disappointed|dissatisfied|displeased
calm|relaxed angry|nervous|anxious|worried
interested|intrigued uninterested|bored|indifferent
good|great|excellent|positive bad|poor|terrible|awful|negative
cheap|inexpensive|affordable expensive|costly|unaffordable
free paid
safe|safely|secure dangerous|unsafe|insecure
legal|legally|lawful illegal|illegally|unlawful
guilty innocent
alive|living dead|deceased
public|publicly private|privately
temporary|temporarily permanent|permanently
partial|partially|partly complete|completely|full|fully|entire|entirely
common|frequent|frequently|often|usual rare|rarely|infrequent|seldom|unusual
always never
many|numerous few
all|every|everyone|everybody none|nobody|some
together separately|apart|alone
male female
upper lower
inside outside
profit|gain loss|deficit
upgrade downgrade
upload download
aware|conscious unaware|unconscious
exclusive|unique|special ordinary|common|regular
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
