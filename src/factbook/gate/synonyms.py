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
cyclist bicyclist biker bike_rider bicycle_rider
biker motorcyclist motorcycle_rider motorbike_rider motorcycle_driver
dog hound canine
puppy pup
cat feline
bunny rabbit
sea ocean
woods forest
rock stone
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
flight plane_trip
suitcase luggage baggage
passport travel_document
ticket fare
clothes clothing garments apparel
trousers pants
sweater jumper pullover
sneakers trainers
hat cap
t_shirt tee_shirt tshirt
sunglasses shades
purse handbag
candy sweets
cookie biscuit
fries chips
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
skateboard skate_board
surfboard surf_board
frisbee flying_disc flying_disk
illness sickness disease
medicine medication drug
operation surgery
injured hurt wounded
ache pain
error mistake
bug defect fault
problem issue trouble
task job_to_do todo to_do
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
morning forenoon
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
enter go_into get_into step_into walk_into come_into
exit leave get_out get_out_of go_out_of step_out_of
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
climb scale climb_up
swim bathe
rest relax
rest lie
sit seat
lie lay recline lie_down lay_down
sleep nap snooze doze asleep
wake_up awake awaken wake
stand stand_up
look watch view observe
look stare gaze look_at stare_at gaze_at
look_at watch study
see spot notice
listen hear
speak talk chat converse
speak say
tell say inform
shout yell scream cry_out
whisper murmur
laugh giggle chuckle
smile grin
cry weep sob
sing chant
perform do make carry_out
play_with toy_with
fight wrestle battle
hit strike knock
throw toss fling hurl
throw pitch
catch grab
seize grab clutch grip
hold carry
hold keep
hold grip clutch
carry bring transport
push shove
pull drag tug
lift raise pick_up hoist
put place set lay
put_on wear
wear dressed clad
put_down lay_down set_down
remove take_off take_out take_away
remove delete erase
add put_in
pour tip_out
cut slice chop dice
slice cut_up chop_up
chop mince
chop_down cut_down cut
peel skin
cut trim clip
grate shred
mix stir blend combine
beat whisk
cook prepare make
cook fry
fry saute
bake cook
boil cook
grill barbecue
heat warm
eat devour consume munch
eat chew
bite snap
drink sip
feed
clean wash rinse
clean wipe
fix repair mend
break crack smash
break fracture
tear rip
fold crease
open unlock
close shut
lock secure
build construct
build create make
create make produce
write compose author
write note_down jot_down write_down
read peruse
type enter
erase rub_out
study learn
study examine inspect
examine inspect check
check verify test
teach instruct
understand comprehend get
know aware
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
attack assault
chase pursue run_after
chase run_behind
follow run_behind
tackle bring_down
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
copy transfer
merge combine
connect link
connect attach
access reach
listen_on bind_to
use utilize utilise employ make_use_of
use work_with
take use
expire run_out lapse
pass succeed
fail crash
fail break
weigh weight
grow increase
shrink decrease
allergic allergy
vegetarian veggie
extract pull
extract pull_out
adopt take_in
wait stay
pose model
emerge come_out
flow run
slide glide
ride go_on
cycle bike
skate rollerblade
box kickbox
kickbox kick_box
race compete
kayak canoe
land touch_down
take_off lift_off
big large
huge enormous gigantic giant massive
small little
tiny very_small minuscule
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
young little
old ancient
blond blonde
blond_hair blond fair_hair
grey gray
colour color
colorful colourful
shirtless topless
shoeless barefoot
naked nude
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
leafless bare
sunlit sunny
animated cartoon
lone single
together jointly with_each_other
completely entirely fully
cup mug
pan skillet frying_pan
pot saucepan
knife blade
rifle gun
camera video_camera
mic microphone
makeup make_up cosmetics
tattoo body_art
bubble soap_bubble
race_car racing_car
body_of_water water
swimming_pool pool
goalkeeper goalie
opponent rival
spectator onlooker
athlete sportsman
hay_bale bale
trunk log
tree_trunk log
happily cheerfully
attentively closely carefully
ship boat
snooze nap
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
consist be_made
belong be_part
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
backup saved_copy
restore recover
push upload
upload put_up
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
language tongue
""".strip()

# What stands left is one of what stands right, and who says one often means the other: two such
# texts may be one memory.
NEAR_KINDS: Final = """
person: man woman boy girl child adult teenager lady guy kid toddler
people: men women boys girls children kids adults
man: boy gentleman male
woman: girl female lady
boy: toddler
girl: toddler
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
person: nurse doctor teacher chef cook student soldier policeman photographer artist hiker climber
person: runner actor friend neighbour neighbor colleague goalkeeper cheerleader drummer guitarist
person: snowboarder skier rollerblader skydiver golfer boxer fighter wrestler violinist pianist fan
person: farmer fisherman cowboy bicyclist motorcyclist wakeboarder spectator racer performer male
person: female youngster
people: men women boys girls children kids adults spectators players students crowd couple
man: boy gentleman male guitarist cowboy
woman: girl female
boy: toddler
girl: toddler
child: boy girl baby toddler
animal: chimp dog cat horse bird monkey panda lion tiger cheetah rabbit cow sheep pig turtle fish
animal: lemur
animal: elephant kangaroo squirrel hamster snake mouse rhino bear deer goat parrot kitten puppy fox
animal: otter lizard frog koala hedgehog duck zebra giraffe wolf
pet: dog cat hamster rabbit parrot goldfish budgie
dog: puppy poodle dachshund bulldog terrier labrador collie retriever husky daschund
cat: kitten tabby
bird: parrot duck eagle owl seagull pigeon chicken
fish: goldfish trout salmon
vehicle: car bus truck bicycle motorcycle van train boat tractor jeep scooter automobile
car: race_car taxi jeep van
bicycle: mountain_bike dirt_bike
boat: canoe kayak raft sailboat ferry
aircraft: helicopter plane glider
food: bread meat fruit vegetable cheese pasta rice soup egg cake pizza sandwich salad chicken fish
food: steak potato tomato onion noodles tofu shrimp prawn corndog cupcake broccoli pepper carrot
meat: steak beef pork chicken ham lamb bacon
fruit: apple banana pear orange mango peach melon strawberry
vegetable: potato carrot onion tomato broccoli pepper cucumber cabbage garlic zucchini capsicum okra
vegetable: eggplant celery leek pea bean
drink: water milk juice coffee tea beer wine soda
instrument: guitar piano violin flute drums trumpet cello harp keyboard
guitar: electric_guitar bass
clothes: shirt dress jacket coat trousers sweater skirt hat jeans uniform gear
toy: doll frisbee teddy
ball: football basketball tennis_ball baseball soccer_ball
sport: football tennis basketball baseball rugby hockey golf swimming
game: football tennis basketball baseball rugby hockey chess
plant: tree flower grass bush
flower: tulip lily
building: house church school hospital library shop store tower
furniture: chair table sofa bed desk
water: lake ocean river sea pool pond stream
place: city town village
tool: hammer knife drill screwdriver axe
move: walk run jump swim crawl climb ride drive fly dance
go: walk run drive fly ride
walk: hike march
touch: hit pet stroke
speak: sing shout whisper yell
cook: fry boil bake roast grill
cut: slice chop dice carve peel trim
clean: wash sweep vacuum mop
exercise: run swim
perform: dance sing play
play: dribble
make: cook build bake
eat: chew bite
look: read examine
create: draw write paint build
ride: cycle
device: laptop phone camera computer
colored: red blue green yellow purple orange pink
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
