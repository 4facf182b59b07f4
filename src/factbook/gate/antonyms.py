"""Words that exclude each other, in statements about people, things and settings. Data only.

`PAIRS` holds opposites, one pair a line; either side may name several words of one meaning, split
by "|". `EXCLUSIVE` holds sets of which one thing can have or do one at a time. `SUBJECTS` holds
words for who acts: "a man" and "a woman" are two people, so what they do is no contradiction.
"""

from typing import Final

PAIRS: Final = """
like|love|enjoy|adore hate|dislike|detest|loathe|despise
love hate
fond sick_of
prefer avoid
open|opened close|closed|shut|locked
unlock lock
enable disable
enabled disabled
activate deactivate
active inactive
start|begin stop|end|finish|quit
start_up shut_down
install uninstall
add remove|delete|subtract
put_in take_out
put_on take_off|remove
wear take_off
set_up put_away|tear_down
play put_away|put_down
hold drop|put_down
pick_up put_down|drop
insert extract|remove
create|make|build destroy|delete|demolish
connect disconnect
attach detach
login logout
log_in log_out
subscribe unsubscribe
follow shun|unfollow|lead
follow ignore
listen|watch|observe ignore
block unblock|allow
allow|permit forbid|prohibit|ban|deny|block
accept|approve reject|refuse|decline|deny
agree disagree
accept refuse
grant revoke|deny
include exclude
increase|raise|grow|rise decrease|lower|reduce|shrink|fall|drop
maximize minimize
expand collapse|contract
fold unfold
wrap unwrap
zip unzip
compress decompress|uncompress
encrypt decrypt
pack unpack
load unload
plug unplug
cover uncover
dress undress
fill|full empty|drain|vacant
full empty|hungry
crowded empty|deserted
win lose
pass|succeed fail
success failure
succeed fail
gain lose
find lose
catch miss|drop
hit miss
buy sell
lend borrow
give take|receive
push pull
send receive
upload download
import export
arrive|come leave|depart|go_away
enter exit|leave|get_out|get_out_of
get_in get_out|get_out_of
get_on get_off
jump_in jump_out
ascend descend
climb descend
rise fall|sink|set
float sink
land take_off
take_off land
lift lower
stand_up sit_down
wake_up|awake asleep|sleep
awake|woke asleep|sleep
sleep wake
live|alive dead|die
born dead
remember forget
know unaware
believe doubt
trust distrust|mistrust
praise criticize|criticise
laugh|smile cry|weep|frown
happy|glad|cheerful|joyful sad|unhappy|depressed|miserable
pleased displeased|annoyed
satisfied dissatisfied|unsatisfied
excited bored
calm nervous|anxious|agitated
relaxed stressed|tense
angry calm
silent|quiet loud|noisy
silent talk|speak|say|sing|shout
silence noise
talk be_silent
eat fast|starve
clean|washed dirty|soil
clean dirty
tidy messy|untidy
wet dry
hot|warm cold|cool|freezing
hot cold
warm cold|chilly
boiling freezing
big|large|huge small|little|tiny
big|huge small|little
huge tiny|very_small|small
tall short
long short
high low
deep shallow
wide|broad narrow
thick thin
fat thin|slim|skinny
heavy light
strong weak
hard soft|easy
difficult easy
rough smooth
sharp blunt|dull
tight loose
fast|quick|rapid slow
quickly slowly
early late
old|aged|elderly young|new
old young
new old|used
ancient modern
first last
next previous
front back|rear
top bottom
upper lower
north south
east west
inside|indoors|indoor outside|outdoors|outdoor
near|close|nearby far|distant
near far
here there
above below
over under
before after
ahead behind
forward|forwards backward|backwards
clockwise counterclockwise
day night
morning evening
dawn dusk
sunrise sunset
summer winter
light dark
bright dark|dim
sunny cloudy|rainy|overcast
black white
rich|wealthy poor|broke
cheap|inexpensive expensive|costly
free paid
good|great|excellent bad|terrible|awful|poor
best worst
better worse
right|correct wrong|incorrect
true false
real fake
valid invalid
legal illegal
safe dangerous|unsafe
secure insecure
healthy sick|ill|unhealthy
fit unfit
well ill|sick|unwell
possible impossible
able unable
available unavailable|occupied
busy free|idle
present absent|missing
presence absence
exist missing
visible invisible|hidden
public private
shared private
local remote
online offline
connected disconnected
synchronous asynchronous
manual automatic|automated
manually automatically
required|mandatory optional
necessary unnecessary
important unimportant
useful useless
interesting boring
beautiful|pretty ugly
kind cruel|mean
polite rude
honest dishonest
brave cowardly|afraid
careful careless
patient impatient
guilty innocent
married single|divorced|unmarried
employed unemployed
employed fired
hire|recruit|employ fire|dismiss|lay_off
join leave|quit
marry divorce
friend enemy
ally enemy
ask answer
question answer
attack defend
help hinder|hurt
save spend|waste
save delete
keep discard|throw_away|lose
keep lose
freeze thaw|melt
heat cool
melt freeze
tie untie
bury dig_up
vegetarian|vegan carnivore|meat_eater
smoker nonsmoker|non_smoker
introvert extrovert|extravert
introverted extroverted|extraverted
optimist pessimist
optimistic pessimistic
liberal conservative
left_handed right_handed
nearsighted farsighted
beginner expert
amateur professional
junior senior
major minor
minimum maximum
majority minority
positive negative
plus minus
odd even
simple complex|complicated
solid liquid
alive dead
naked|nude|undressed dressed|clothed|wear
barefoot shoes
shirtless shirt
dressed naked
immobile swim|run|walk|move|dance
attentive inattentive
asleep awake
appear disappear|vanish
lock unlock
mute unmute
pin unpin
merge split
join separate
together apart
united divided
same different
equal unequal
similar different
common rare
often rarely|seldom
usual unusual
normal abnormal
regular irregular
always never
ever never
everything nothing
everyone nobody
everybody nobody
all none
encourage discourage
appreciate resent
respect despise
welcome reject
comfortable uncomfortable
convenient inconvenient
confident insecure
aware unaware
familiar unfamiliar
willing unwilling
likely unlikely
lucky unlucky
fair unfair
stable unstable|flaky
reliable unreliable
supported unsupported
supported deprecated
tested untested
finished unfinished
complete|completed incomplete
resolved unresolved
solved unsolved
fixed broken
fix break
works broken
broken working
up_to_date outdated
fresh stale|rotten
raw cooked
sweet sour|bitter
spicy mild
urban rural
domestic foreign
native foreign
internal external
incoming outgoing
inbound outbound
input output
read_only writable
read_write read_only
mutable immutable
static dynamic
sync async
strict lenient
verbose quiet
dark_mode light_mode
debug_mode release_mode
up_and_running down
running stopped
paused running
succeeded failed
passing failing
green_build red_build
opt_in opt_out
insured uninsured
vaccinated unvaccinated
allergic immune
pregnant not_pregnant
gain_weight lose_weight
overweight underweight
sober drunk
abroad at_home
indoors outdoors
upstairs downstairs
upstream downstream
uphill downhill
parent child
teacher pupil
buyer seller
winner loser
landlord tenant
host guest
employer employee
husband wife
approve disapprove
cause prevent
permit forbid
promote demote
inhale exhale
attract repel
admire despise
admit deny
advance retreat
assemble disassemble
bless curse
build demolish
comply violate
conceal reveal
confirm deny
construct destroy
continue stop|discontinue
defend attack
deposit withdraw
earn spend
emigrate immigrate
exceed fall_short
hide show|reveal
ignore notice
improve worsen
inflate deflate
lengthen shorten
loosen tighten
lower raise
mend break
obey disobey
protect endanger
punish reward
repair damage
strengthen weaken
simplify complicate
speed_up slow_down
tired energetic|rested
thirsty hydrated
weaken strengthen
won lost
worsen improve
""".strip()

EXCLUSIVE: Final = """
posture: stand sit lie kneel squat crouch
gait: stand sit lie run walk swim climb crawl sleep dance fly
activity: sleep rest run swim jump work play race climb ride move eat cook box
marital: single married divorced widowed engaged
colour: red blue green yellow black white purple orange pink brown grey golden silver turquoise
season: spring summer autumn fall winter
daytime: morning noon afternoon evening night midnight
size: tiny small medium large huge
age: baby toddler child teenager adult elderly
handed: left_handed right_handed ambidextrous
diet: vegan vegetarian pescatarian omnivore carnivore
status: active inactive pending archived deleted
state: open closed
theme: dark light
grade: beginner intermediate advanced expert
religion: christian muslim jewish buddhist hindu atheist
blood: a_positive b_positive o_positive a_negative b_negative o_negative
material: wooden metal plastic glass paper stone
temperature: hot cold lukewarm
room: kitchen bathroom bedroom living_room garage basement attic
outcome: pass fail skip
side: left right middle
""".strip()

# What one does at one moment: it excludes others only in what is going on ("is running").
DOING: Final = frozenset({"posture", "gait", "activity"})

# Words that describe: of a thing ("the tea is hot") they exclude their opposite, but who likes hot
# tea may like it cold as well.
ATTRIBUTES: Final = """
hot warm cold cool chilly freezing boiling big large huge small little tiny old new young aged
elderly ancient modern tall short long high low deep shallow wide broad narrow thick thin fat slim
skinny heavy light strong weak hard soft easy difficult rough smooth sharp blunt dull tight loose
fast quick rapid slow early late dark bright dim sunny cloudy rainy overcast black white cheap
inexpensive expensive costly good great excellent bad terrible awful poor best worst better worse
rich wealthy wet dry clean dirty tidy messy sweet sour bitter raw cooked spicy mild fresh stale
public private shared local remote manual automatic major minor simple complex complicated internal
external incoming outgoing inbound outbound static dynamic left right north south east west upper
lower front back rear top bottom first last next previous same different similar rare common usual
unusual normal abnormal regular irregular domestic foreign native urban rural positive negative odd
even empty full crowded safe dangerous beautiful ugly pretty kind cruel happy sad angry calm quiet
loud noisy silent day night morning evening summer winter real fake used free paid wooden metallic
interesting boring useful useless senior junior professional amateur single multiple
""".strip()

SUBJECTS: Final = """
man woman boy girl child kid baby adult teenager person lady guy toddler
dog cat horse bird monkey panda lion tiger rabbit cow sheep pig lemur turtle fish elephant kangaroo
squirrel hamster snake mouse rhino bear deer goat parrot cheetah otter lizard frog koala hedgehog
mother father brother sister son daughter uncle aunt cousin grandmother grandfather nephew niece
wife husband girlfriend boyfriend boss colleague neighbour friend manager doctor dentist teacher
""".strip()
