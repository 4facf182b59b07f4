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
toddler infant
baby newborn
woman lady
man guy gentleman fellow
someone somebody person individual human anyone anybody one_person
people persons folks humans
mother mom mum mommy mummy
father dad daddy
grandmother grandma granny
grandfather grandpa granddad
parents mother_and_father
husband hubby
spouse partner
teenager teen adolescent
friend buddy pal mate
colleague coworker co_worker workmate
boss manager supervisor
employee worker staff_member
owner proprietor
physician doctor
veterinarian vet animal_doctor
attorney lawyer
cop policeman police_officer
cat feline
sea ocean
path track trail way
road street roadway
sidewalk pavement
yard garden lawn
beach shore seashore
bicycle bike pushbike
motorcycle motorbike
car automobile auto
truck lorry
plane airplane aeroplane aircraft
boat vessel
train railway
subway metro underground
phone telephone cellphone mobile_phone cell_phone telephonic_device
call phone telephone
laptop notebook
computer pc
television tv
photo photograph picture pic image
movie film motion_picture
house home
apartment flat
sofa couch settee
fridge refrigerator
stove cooker
garbage trash rubbish
shop store
supermarket grocery_store
restaurant diner eatery
pub bar tavern
chemist pharmacy drugstore
cinema movie_theater movie_theatre
gym fitness_studio fitness_center fitness_centre
holiday vacation
journey trip
suitcase luggage baggage
ticket fare
clothes clothing garments apparel
trousers pants
sweater jumper pullover
hat cap
t_shirt tee_shirt tshirt
sunglasses shades
purse handbag
cookie biscuit
aubergine eggplant
courgette zucchini
prawn shrimp
soda soft_drink
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
ache pain
error mistake
bug defect fault
problem issue trouble
job work occupation profession
job position role post
salary pay wage wages
income earnings
firm company business
team group crew
meeting appointment
deadline due_date
birthday birth_date date_of_birth
address residence
aim goal objective target
idea thought
answer reply response respond
question query ask
question ask inquire
message note
email e_mail mail
letter mail
draw sketch
paint colour
newspaper paper
magazine journal
documentation docs manual documents
database db
repository repo
directory folder
configuration config settings setting
parameter option setting
administrator admin sysadmin
application app program software
program script
environment env
function method routine
variable parameter
production prod
development dev
deployment deploy deploy_step
deploy deployment roll_out
authentication auth login
password passphrase
website site web_site
homepage home_page
server machine host
virtual_machine vm
container docker_container
kilometer kilometre km
meter metre
centimeter centimetre cm
kilogram kilo kg kilogramme
gram gramme
liter litre
pound lb lbs
gigabyte gb gib
megabyte mb mib
terabyte tb tib
kilobyte kb kib
second sec secs
minute min mins
millisecond ms msec
percent per_cent percentage pct
euro eur euros
dollar usd dollars buck
midday noon
start begin commence
start launch boot
launch release ship publish
end finish conclude
finish complete
stop quit cease give_up
stop halt
continue go_on keep_on carry_on
leave depart go_away
arrive reach get_to come_to
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
run operate
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
smile grin
cry weep sob
perform do make carry_out
fight wrestle battle
hit strike knock
throw pitch
catch grab
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
heat warm
eat devour consume munch
eat chew
bite snap
drink sip
clean wash rinse
clean wipe
fix repair mend
break crack smash
break fracture
open unlock
close shut
lock secure
build construct
build create make
create make produce
write compose author
type enter
study learn
study examine inspect
examine inspect check
check verify test
teach instruct
understand comprehend get
remember recall
think believe
think consider
decide choose
choose pick select
love adore
hate detest loathe despise
like enjoy
like fond
like love
prefer like_better favor favour like_best
favorite favourite preferred like_best best_liked
need require
own have possess have_got
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
find locate
lose misplace
hide conceal
show display
show exhibit
send dispatch
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
disable turn_off switch_off deactivate
configure set_up set
start_up boot
restart reboot
upgrade update
update refresh
change alter modify
change switch
edit modify change
replace substitute swap
copy duplicate
merge combine
connect link
connect attach
use utilize utilise employ make_use_of
use work_with
take use
expire run_out lapse
pass succeed
fail crash
fail break
weigh weight
shrink decrease
allergic allergy
vegetarian veggie
extract pull
wait stay
ride go_on
cycle bike
big large
small little
tall high
fast quick rapid swift
quickly fast rapidly swiftly very_fast
slow sluggish
happy glad joyful cheerful
sad unhappy
angry mad furious
tired exhausted sleepy
sick ill unwell
afraid scared frightened
beautiful pretty gorgeous lovely
nice pleasant
funny amusing humorous
hard difficult
easy simple
smart clever intelligent
rich wealthy
poor needy
old elderly aged
old ancient
blond blonde
blond_hair blond fair_hair
grey gray
colour color
colorful colourful
outdoors outside in_open
indoors inside
airborne in_air midair mid_air
empty vacant
full packed crowded
correct right accurate
wrong incorrect
ready prepared
broken defective
available free
busy occupied
cheap inexpensive
expensive costly
main primary
important crucial
dangerous unsafe
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
participate take_part
strum play
partly partially
muddy dirty
animated cartoon
together jointly with_each_other
completely entirely fully
cup mug
pan skillet frying_pan
camera video_camera
mic microphone
makeup make_up cosmetics
body_of_water water
opponent rival
attentively closely carefully
ship boat
rehearse practise
crucial essential
deny refuse
allow permit let
forbid prohibit ban
accept agree
approve sign_off
reject decline refuse
request ask_for
order ask_for
complain grumble
explain describe
discuss talk_about
recommend suggest
advise recommend
promise pledge
meet get_together
meet run_into
invite ask
celebrate party
graduate finish_school
die pass_away
save put_aside
waste squander
measure gauge
count number
contain hold include
include comprise
depend rely
differ vary
equal amount
hand_over give
hand_in submit
submit send_in
review look_over
approve ok
debug troubleshoot
compile build
crash hang
back_up backup
restore recover
download fetch
log record
record tape
monitor observe
scan check
host serve
serve offer
offer provide
provide supply
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
