"""Words of which one stands where another cannot: a sister is no brother. Data only.

`RIVALS` holds sets of kinds of one thing. A claim that says one of them, where the passage never
does but says another one in the same place, says something else; the words are no synonyms, and no
one of a set is a more general word for another. `OPPOSITES` holds words of which one denies the
other.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from factbook.language.calendar import MONTH_NAMES, WEEKDAY_NAMES
from factbook.language.words import stem

RIVALS: Final = """
mother father brother sister son daughter uncle aunt cousin grandmother grandfather nephew niece
wife husband girlfriend boyfriend roommate fiance fiancee ex
friend colleague neighbor stranger rival relative sibling
boy girl man woman
ceo cfo cto founder chairman director manager intern assistant secretary president receptionist
doctor nurse dentist surgeon pharmacist therapist psychologist veterinarian patient
teacher student professor principal pupil lecturer
actor singer dancer painter writer musician comedian director producer drummer guitarist
chef waiter bartender baker butcher
farmer fisherman miner carpenter plumber electrician
army navy police
breakfast lunch dinner supper brunch dessert
morning afternoon evening night midnight noon
spring summer autumn winter
second minute hour day week month quarter year decade century
daily weekly monthly quarterly yearly annual hourly
kilometer mile meter foot inch
dollar euro pound yen rupee
million billion trillion thousand hundred
train bus car plane airplane ship boat bicycle bike motorcycle taxi tram helicopter truck
airport station harbor port
laptop smartphone phone tablet desktop printer television camera
english french german spanish italian chinese japanese russian portuguese arabic korean dutch polish
europe asia africa america australia antarctica
north south east west
northern southern eastern western
red blue green yellow black white purple orange pink brown grey
dog cat horse rabbit bird hamster fish snake parrot
cow pig sheep goat chicken duck
beef pork chicken lamb fish shrimp
tea coffee juice water milk beer wine soda
cake pie cookie bread pizza pasta soup salad sandwich burger
apple banana orange pear grape peach lemon strawberry
football basketball baseball tennis hockey golf volleyball cricket rugby
guitar piano violin drum flute trumpet
kitchen bathroom bedroom garage basement attic
house apartment hotel hostel villa
hospital clinic pharmacy school university church prison museum library restaurant cinema
gym theater stadium
movie book album song podcast painting poem novel series
math physics chemistry biology history geography literature
exam homework lecture seminar
birthday wedding funeral graduation anniversary
christmas easter halloween thanksgiving
rain snow sun storm fog wind
rainy snowy sunny cloudy windy
arrest release
gold silver bronze copper platinum
oil gas coal solar nuclear wind
arm leg hand foot head back knee shoulder
revenue profit cost expense debt loss tax
mars venus jupiter moon earth saturn
hat shirt shoe jacket dress coat glove scarf
sofa table chair bed desk lamp
single double triple
public private
online offline
manual automatic
""".strip()

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
positive|positively negative|negatively
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
love|like|enjoy hate|dislike|detest
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
def rival_sets() -> Mapping[str, frozenset[int]]:
    """Return the numbers of the sets that each stem stands in."""
    sets: defaultdict[str, set[int]] = defaultdict(set)
    rows = [row.split() for row in RIVALS.splitlines()]
    for number, row in enumerate([*rows, WEEKDAY_NAMES, MONTH_NAMES]):
        for word in row:
            sets[stem(word)].add(number)
    return {key: frozenset(members) for key, members in sets.items()}


@functools.cache
def opposite_pairs() -> frozenset[tuple[str, str]]:
    """Return the pairs of stems that are opposites, both ways round."""
    pairs = set()
    for row in OPPOSITES.splitlines():
        left, _, right = row.partition(" ")
        for part in left.split("|"):
            for other in right.split("|"):
                a, b = stem(part), stem(other)
                if a != b:
                    pairs.add((a, b))
                    pairs.add((b, a))
    return frozenset(pairs)
