"""Words and phrases that say the same, and words that hold what others hold. Data only.

One line is one group. A phrase is written with underscores, without articles ("take_flight" stands
for "took a flight"); inflected forms follow from the stem, irregular ones from `grammar.IRREGULAR`.
A word may stand in several groups: two words say the same when they share one, and that is not
passed on ("run" is "execute" and "operate"; those two are not the same).

A group holds only what may replace each other in everyday statements without changing what is true
of whom: a more general word belongs to `KINDS`.
"""

from __future__ import annotations

from typing import Final

SYNONYMS: Final = """
child kid youngster
baby newborn
woman lady
man guy gentleman fellow
someone somebody person individual human anyone anybody one_person
people persons folks humans
mother mom mum mommy mummy
father dad daddy
grandmother grandma granny
grandfather grandpa granddad
husband hubby
teenager teen adolescent
friend buddy pal mate
colleague coworker co_worker workmate
boss manager supervisor
employee worker staff_member
veterinarian vet animal_doctor
attorney lawyer
cop policeman police_officer
cat feline
sea ocean
path track trail way
road street roadway
yard garden lawn
beach shore seashore
bicycle bike pushbike
motorcycle motorbike
car automobile auto
truck lorry
plane airplane aeroplane aircraft
boat vessel
subway metro underground
phone telephone cellphone mobile_phone cell_phone telephonic_device
call phone telephone
laptop notebook
television tv
photo photograph picture pic image
movie film motion_picture
house home
apartment flat
sofa couch settee
shop store
pub bar tavern
holiday vacation
suitcase luggage baggage
clothes clothing garments apparel
hat cap
sunglasses shades
capsicum bell_pepper pepper
football soccer
soccer_player football_player footballer
match game
contest competition
trick stunt
song tune
violin fiddle
drums drum_kit percussion
illness sickness disease
medicine medication drug
operation surgery
injured hurt wounded
error mistake
problem issue trouble
job work occupation profession
job position role post
salary pay wage wages
income earnings
firm company business
deadline due_date
aim goal objective target
answer reply response respond
question query ask
question ask inquire
email e_mail mail
letter mail
draw sketch
documentation docs manual documents
database db
repository repo
administrator admin sysadmin
application app program software
environment env
production prod
website site web_site
server machine host
meter metre
start begin commence
launch release ship publish
end finish conclude
finish complete
stop quit cease give_up
continue go_on keep_on carry_on
leave depart go_away
return come_back go_back
visit go_to see
travel journey go
travel commute
fly flight
drive ride
walk stroll wander pace
walk hike trek
run sprint dash race jog
run execute
jump leap hop bound
swim bathe
rest lie
sit seat
lie lay recline lie_down lay_down
sleep nap snooze doze asleep
wake_up awake awaken wake
look watch view observe
look stare gaze look_at stare_at gaze_at
look_at watch study
see spot notice
listen hear
speak talk chat converse
speak say
tell say inform
shout yell scream cry_out
laugh giggle chuckle
cry weep sob
perform do make carry_out
fight wrestle battle
hit strike knock
throw pitch
hold carry
hold keep
hold grip clutch
carry bring transport
put place set lay
put_on wear
wear dressed clad
remove take_off take_out take_away
remove delete erase
add put_in
cut slice chop dice
slice cut_up chop_up
chop_down cut_down cut
mix stir blend combine
cook prepare make
cook fry
bake cook
boil cook
grill barbecue
eat devour consume munch
eat chew
bite snap
clean wash rinse
fix repair mend
break crack smash
break fracture
close shut
build create make
create make produce
write compose author
type enter
study learn
examine inspect check
check verify test
understand comprehend get
decide choose
choose pick select
love adore
like enjoy
like fond
like love
prefer like_better favor favour like_best
favorite favourite preferred like_best best_liked
need require
own belong_to
get receive obtain
give hand
give donate
lend loan
buy purchase acquire
pay spend
cost price
rent lease hire
hire recruit employ
employ work
live reside dwell
live stay
move relocate
call name
marry wed get_married
join become_member
lead head run
responsible in_charge
manage run administer handle
help assist aid
help support
guard defend protect
chase pursue run_after
chase run_behind
train practice practise exercise work_out
practice practise
try attempt
search look_for seek
find discover
hide conceal
show exhibit
send mail
store save keep
keep retain
store write
save write
collect gather pick_up
book reserve
schedule plan
cancel call_off
postpone delay put_off
install set_up
enable turn_on switch_on activate
configure set_up set
restart reboot
change alter modify
change switch
edit modify change
use utilize utilise employ make_use_of
use work_with
take use
expire run_out lapse
fail crash
fail break
weigh weight
allergic allergy
extract pull
ride go_on
cycle bike
big large
tall high
fast quick rapid swift
quickly fast rapidly swiftly very_fast
angry mad furious
sick ill unwell
afraid scared frightened
funny amusing humorous
old elderly aged
blond_hair blond fair_hair
outdoors outside in_open
airborne in_air midair mid_air
full packed crowded
wrong incorrect
expensive costly
snowy snow
grassy grass
rocky rock
sandy sand
sunny sun
speech speak
marriage wedding
stairs steps
grass lawn
bloke man
jump dive
sword blade
strum play
muddy dirty
animated cartoon
together jointly with_each_other
cup mug
pan skillet frying_pan
mic microphone
makeup make_up cosmetics
body_of_water water
attentively closely carefully
ship boat
rehearse practise
deny refuse
allow permit let
accept agree
approve sign_off
reject decline refuse
request ask_for
advise recommend
invite ask
celebrate party
save put_aside
count number
hand_over give
compile build
back_up backup
restore recover
deliver bring
ship send
""".strip()

# What stands left is one of what stands right, and who says one often means the other: two such
# texts may be one memory.
NEAR_KINDS: Final = """
person: man woman boy girl child adult teenager lady guy kid toddler
people: men women boys girls children kids adults
man: boy gentleman male
woman: girl female lady
boy: toddler
child: boy girl baby toddler
dog: puppy
cat: kitten
animal: dog cat horse bird
move: walk run drive ride
speak: sing shout whisper
cook: fry boil bake roast grill
cut: slice chop dice peel
clean: wash sweep vacuum mop
make: cook build bake
""".strip()

# More of the same kind, where the special word holds too much to be lost in a merge. A denial of
# the general denies the special.
KINDS: Final = """
people: men women boys girls children kids adults spectators players students crowd couple
man: boy gentleman male guitarist cowboy
animal: chimp dog cat horse bird monkey panda lion tiger cheetah rabbit cow sheep pig turtle fish
pet: dog cat hamster rabbit parrot goldfish budgie
dog: puppy poodle dachshund bulldog terrier labrador collie retriever husky daschund
cat: kitten tabby
bird: parrot duck eagle owl seagull pigeon chicken
vehicle: car bus truck bicycle motorcycle van train boat tractor jeep scooter automobile
car: race_car taxi jeep van
food: bread meat fruit vegetable cheese pasta rice soup egg cake pizza sandwich salad chicken fish
food: steak potato tomato onion noodles tofu shrimp prawn corndog cupcake broccoli pepper carrot
meat: steak beef pork chicken ham lamb bacon
drink: water milk juice coffee tea beer wine soda
instrument: guitar piano violin flute drums trumpet cello harp keyboard
game: football tennis basketball baseball rugby hockey chess
plant: tree flower grass bush
building: house church school hospital library shop store tower
water: lake ocean river sea pool pond stream
move: walk run jump swim crawl climb ride drive fly dance
go: walk run drive fly ride
perform: dance sing play
""".strip()

# One-sided, these add colour and no fact; both sides may have different ones.
SOFT: Final = """
very really rather extremely fairly pretty highly truly totally simply just actually indeed
definitely certainly surely basically essentially literally personally carefully quickly slowly
happily calmly gently quietly loudly playfully peacefully fiercely strongly hungrily steadily
attentively cheerfully together closely also too well nicely easily clearly easily pleasantly
energetically silently softly gracefully joyfully eagerly skillfully enthusiastically intently
seriously casually smoothly vigorously difficultly funnily repeatedly thoroughly rapidly
so such own same here there then again already yet even still ever
oh yes ok okay please thanks well hey hi
""".strip()

# These hold a sentence together and name nothing: they count on neither side.
EMPTY: Final = """
be have do get own thing something anything stuff kind sort type fact one it this that these those
what which who whom where when how whose number amount piece part group bunch set_of
located placed situated other another colored coloured color colour size sized shaped dyed
""".strip()

# One-sided, these carry a sentence and not its content ("takes a walk", "is called"); with one of
# them on either side, the two texts may well say different things.
LIGHT: Final = """
make call name use find go come take keep set put place time way member say stay painted age aged
""".strip()

# One-sided, these describe what the other side names without them; only very similar texts may
# differ in one.
FAINT: Final = "young little small big large tall old wooden own".strip()

# Words in -ly that are more than colour.
FIRM_LY: Final = """
early only family reply supply apply italy lily fly rely ugly daily weekly monthly yearly elderly
lonely friendly likely unlikely previously formerly recently temporarily permanently partially
rarely locally remotely publicly privately manually automatically nightly hourly anomaly assembly
belly bully butterfly july jelly multiply rally tally ally monopoly wrongly falsely poorly badly
illegally secretly separately initially finally originally accidentally intentionally directly
indirectly internally externally simultaneously sequentially conditionally
emily kelly sally molly polly billy willy carly holly beverly kimberly sicily
""".strip()
