"""Say which words name nothing in particular: everyday English words, days and months, places.

A name stands out because it is none of these, so both who looks for names in a text and who judges
a name ask here. Words are looked up in lower case and in any form: "watched", "cities", "nicest".
The lists are English; of a word of another language nothing is known.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from factbook.language.gazetteer import PLACES
from factbook.language.verbs import UNCHANGED
from factbook.language.words import base_of

__all__ = [
    "is_everyday",
    "is_function_word",
    "is_greeting",
    "is_nationality",
    "is_place",
    "opens_sentences",
]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that carry grammar: they are never a name by themselves, nor the first word of one.
_FUNCTION: Final = _set("""
a about across after again against ain't all along already also although am among an and another any
anybody anyone anything are aren't around as at be because been before behind being beside besides
between beyond both but by can can't cannot cant could couldn't despite did didn't didnt do does
doesn't doesnt doing don't done dont down during each either enough etc even ever every everybody
everyone everything except few for from gonna gotta had hadn't has hasn't have haven't having he
he's her here here's hers herself him himself his how how's i i'd i'll i'm i've id if ill im in into
is isn't isnt it it's its itself ive just least less let let's lets like many may me might mine more
most much must my myself n near neither never no nobody none nor not nothing of off on one ones only
onto or other our ours ourselves out over own per r same several shall she she's should shouldn't
since so some somebody someone something still such than that that's thats the their theirs them
themselves then there there's these they they'll they're they've this those though through to too
toward towards u under unless unlike until up upon ur us versus very via vs wanna was wasn't we we'd
we'll we're we've were weren't what what's whatever whats when whenever where where's wherever
whether which while who who's whoever whom whose why will with within without won't wont would
wouldn't yes yet you you'd you'll you're you've your youre yours yourself
""")

# What people say to each other, and of no thing.
_GREETING: Final = _set("""
afaik ah asap aw aww btw bye cheers congrats congratulations damn er fyi gee goodbye gosh greetings
haha hahaha hello hey heya hi hiya hm hmm howdy huh idk imho imo k lmao lol nah ngl no nope nvm oh
ok okay okey omg ooh oops please pls plz psa rofl smh sorry tbh thank thanks thx tldr ty ugh uh um
welcome well whoa wow wtf yay yeah yep yes yikes yo yup
""")

# Words that open a sentence or a message without belonging to what follows.
_OPENING: Final = _GREETING | _set("""
absolutely according actually agreed alright also always amazing anyone anyway anyways apparently
awesome based basically brand bro buddy certainly clearly concerning considering cool correct
currently damn dear definitely depending dude edit especially even eventually everyone exactly false
finally first firstly folks fortunately frankly funny gee glad good gosh great guys happy honestly
hooray hopefully however imagine indeed instead interesting last lastly lately later listen
literally look luckily mainly man maybe meanwhile moreover mostly new next nice note now obviously
often once oops otherwise ouch overall perhaps personally plus probably question quick random really
recently regarding remember reminder right sadly second secondly seriously somebody sometimes soon
speaking sure thanks then therefore third today tomorrow tonight totally true twice ugh
unfortunately update usually wait wrong yes-no yesterday yikes
""")

# Verbs in their first form; other forms are derived.
_VERBS: Final = _set("""
accept achieve act add admire adopt adore advise afford agree aim allow announce annoy answer appear
apply appreciate approve argue arrange arrive ask assume attach attack attempt attend avoid back
backup bake ban bark base bath beat become beg begin behave believe belong bend bet bike bite blame
bleed bless blow boil book borrow bother bounce bow brainstorm break breathe breed bring browse
brush build bump burn bury buy call calm camp cancel care carry carve catch cause celebrate change
charge chase chat cheat check cheer chew choose chop clap clean clear climb close coach code collect
come comment commit commute compare compete complain complete compose concern confirm confuse
connect consider contact contain continue contribute control convert convince cook cope copy correct
cost cough count cover crack crash crawl create cross crush cry cut cycle damage dance dare date
deal debate debug decide decline decorate define delay delete deliver deny depend deploy describe
deserve design desire despise destroy detect detest develop die differ dig dip disagree disappear
disappoint discover discuss dislike dive divide divorce donate download draft drag draw dream dress
drink drive drop dry earn eat edit educate email embarrass employ encourage end enjoy enter
entertain escape establish examine excite excuse exercise exist expand expect experience explain
explore express extend face fail fall fancy fear feed feel fetch fight figure file fill film find
finish fire fish fit fix flash float flow fly focus fold follow force forget forgive form freeze fry
function gain game garden gather get give glow glue go google govern grab graduate greet grill grind
grow guarantee guard guess guide hack hand handle hang happen harm hate head heal hear heat help
hide hike hire hit hold hook hop hope hug hunt hurry hurt identify ignore imagine impress improve
include increase influence inform insist inspire install intend interest interrupt introduce invent
invest invite involve itch jog join joke judge jump keep kick kid kill kiss kneel knit knock know
lack land last laugh launch lay lead lean learn leave lend let lick lie lift light link list listen
live load loathe lock log look lose love lower maintain make manage march mark marry match matter
mean measure meditate meet melt mend mention merge message mind miss mix moan moderate move mow
multiply need nod note notice number obey object observe obsess obtain occur offer open operate
order organise organize outline own pack paint park pass pause pay perform permit phone photograph
pick pin place plan plant play please plug point polish pop possess post pour practice practise
praise pray predict prefer prepare present press pretend prevent print produce program promise
promote protect prove provide publish pull pump punch purchase push put qualify quit race rain raise
rank reach react read realise realize receive recognise recognize recommend record recover recycle
reduce refactor refer reflect refuse regret relate relax release rely remain remember remind remove
rent repair repeat replace reply report request require rescue research reset resolve respect rest
restart retire return reveal review ride ring rise risk roast rock roll row rub ruin rule run rush
sail save say scan scare schedule scratch scream search see seem select sell send separate serve set
settle sew shake share shave shine shiver shock shoot shop shout show shrink shut sign sing sink sip
sit skate skateboard ski skip sleep slip slow smash smell smile smoke sneeze snow solve sort sound
spare speak spell spend spill spin split spoil spray spread squeeze stand stare start stay steal
step stick stir stop stream stretch struggle study stuff submit succeed suck suffer suggest suit
supply support suppose surf surprise surround suspect swap swear swim swing switch take talk tape
taste teach tear tell tempt tend test thank think throw tidy tie touch tour trace track trade train
translate travel treat trick trip trust try tune turn type understand undo unlock unpack update
upgrade upload use vanish visit volunteer vote wait wake walk wander want warm warn wash waste watch
water wave wear weigh whisper whistle win wink wipe wish wonder work worry wrap wreck write yawn
yell zip zoom
""")

# Things, people and qualities that everybody speaks of.
_WORDS: Final = _set("""
ability able abroad abstract abuse ac accessory accident account accountant acid acoustic active
activist activity actor actress ad adapter addict address adult advanced adventure advice afk afraid
afternoon age agency agent aggressive ago ahead ai air airline airplane airport aka alarm album
alcohol alcoholic algorithm alive allergic allergy almost alone alpha alternative am amount
amplifier analysis analytical anatomy ancient anger angle angry animal anime ankle anniversary
answer ant anthem anti anxiety anyhow anymore anytime apart apartment api app appendix apple
application appointment aptitude aquatic ar archaeologist architect architecture area arm army array
art article artificial artist artwork aside asleep asmr aspect assassin assistant association
astronomy athlete athletic atm atmosphere attendant attention attire attitude audio aunt auntie
authentic author auto automatic autumn available average avid awake award away b2b ba baby back
backend background backlog backyard bacon bad badge badminton bag bagel baker bakery balance
balanced ball ballet balloon ballroom bamboo banana band bank bar barbecue barbeque barber barista
baseball basement basic basics basket basketball bass bat bathroom battery battle bay bbq beach
beagle bean bear beard beast beautiful beauty bed bedroom bee beef beer beginner beginning behavior
belief bell beloved belt bench benefit best beta better beverage bicycle big bike biking bill
billion biologist biology bird birdwatching birth birthday biscuit bit black blanket blast blender
block blog blogging blonde blood blue blues bluetooth board boat bobsled body bold bomb bone bonus
book bookshelf bookstore boost boot border bored boring born boss botanical bottle bottom bouquet
bowl bowling box boxing boy boyfriend brain branch brand brave brb bread breakfast breath breeze
brew brewery brick bridge brief brigade bright broccoli broken brother brown brownies browser brunch
bs bubble bucket budget bug bulb bull bulldog bumblebee bunch bunny burger burrito bus business busy
butter butterfly button buyer cabin cable cache cafe cake calculator calendar calf calligraphy
camera camper campfire camping campus can canary candle candy canvas canyon cap capacity cappuccino
captain capture car card cardio career cargo carpenter carrot cartoon cartoonist case cash cashier
casino castle casual cat category caterpillar cause cave cd ceiling celebrity cell center central
century ceo ceramics cereal ceremony certain cfo chain chair challenge champion championship chance
channel chapter character charge charger charity chart cheap cheese cheeseburger cheesecake chef
chemical chemist chemistry chess chic chicken chihuahua child childhood children chili chill chip
chiropractor chocolate choice choir chord chore christmas chronic church cigarette cinema circle
city class classic classical classmate classroom clay cli client climate climbing clinic clock cloth
clothes clothing cloud clown club clue cluster coast coaster coat cocktail coconut code coffee coin
cold colleague collection college color colour column combat comedian comedy comfort comfortable
comic comment commercial commit common community compact companion company comparison competition
competitor complex computer concept concert condition conference confidence confident config
conflict conscious console constantly consultant container contemporary content contest context
continent contract controller convenient conversation coo cookbook cookie cooking cool copy core
corgi corn corner corporate cosmetic costume cotton couch council country countryside county couple
courage course court cousin coverage cow coworker cozy cpu crab craft crazy cream creative
creativity creature credit creed crew cricket crime criminal crisis crochet croissant crop cross
crossfit crossword crowd cruise crypto css csv cto cuddle cuisine cultural culture cup cupcake
curious curly currency curry curtain custom customer cute cycling dachshund dad dad's daddy dads
dairy dance danger dangerous dark darts dashboard data database date daughter dawn day dc dead
deadline deaf deal dear death debate debt decade decaf decision deck deep deer defense degree
delicious delta demand demo dentist department deploy depot depressed depression depth desert design
designer desk desktop dessert detail detective developer development device diabetes dialogue
diamond diary dice diesel diet dietary difference different difficult dig dining dinner dinosaur
direct direction director dirt dirty disability disaster disc discount discussion disease dish
display distance district diverse division diy dj dm dms docs doctor document documentary
documentation dog doll dollar dolphin domain domestic donut door double doubt dough downstairs dozen
dr dragon drama dramatic drawing dress drink driver drone drop drug drum drummer duck dude due
dumpling durable dust duty dvd eagle ear earbuds early earphones earring earth earthquake east
easter easy economics economist economy edge edition editor education effect effective efficient
effort egg eight eighteen eighth elder election electric electrician electricity electronic elegant
elementary elephant eleven em email embroidery emergency emotion emotional employee employer empty
encounter end endpoint endurance enemy energy engine engineer engineering enlightening enormous
entertainment enthusiast entirely entrance entrepreneur entry environment environmental eod episode
equal equipment ergonomic error esports espresso essay essential est estate eta etc eu evening event
everyday everywhere evidence evil exact exam example excellent excessive exchange excited exciting
executive exercise exhibit exhibition exotic expense expensive experience experiment expert
explanation expressive extension extra extreme eye fabric fabulous face fact factor factory faint
fair faith fake falafel fall fam family famous fan fantastic fantasy faq far farm farmer fascinated
fascinating fashion fast fat father fault fave favorite favourite feather feature fee feedback
feeling fellow female fence ferret festival fi fiance fiancee fiction field fifteen fifty fight
figure file film filter final finance financial fine finger fire firefighter firm fish fishing
fitness five flag flat flavor flavour flexible flight flood floor flour flower flu fluent fluffy fog
folder folk food foot football force foreign forest forever fork form formal format formula
fortunate fortune forty forum forward foundation four fox fps fragrance frame framework france free
freedom freelance freelancer freezer french frequent fresh fridge friend friendly friendship fries
frog front frontend frozen fruit fuel full fun function fund funeral funny fur furious furniture
future gadget galaxy gallery gamble game gamer gaming gamma gang garage garbage garden gardening
garlic gas gasoline gate gay gear gecko gender genealogy general generation generous genetic genius
genre gentle genuine geography geology ghost giant gift gig giraffe girl girlfriend glad glass
glasses global glove gluten gmt goal goat god gold goldfish golf gonna good gorgeous gospel gossip
government gpa gps gpu grade grain grammar gran grand grandad grandchild granddaughter grandfather
grandkid grandma grandmother grandpa grandparent grandson granny grape graphics grass grateful
gratitude gravity gray great green grey grinder grocery groom ground group growth guest gui guidance
guitar guitarist gun guy gym gymnast gymnastics habit hair haircut hairdresser half hall halloween
ham hamburger hammer hamster handball handsome hanukkah happiness happy hard hardware hat hd hdd hdr
headache headline headphone headphones headset health healthcare healthy heart heaven heavy hedgehog
height helicopter hell helmet helpful herbal hero high highlight highway hiking hilarious hill hip
historian historical history hobby hockey hole holiday home homecoming homemade hometown homework
honest honey honor hood horizon horror horse horseback hospital host hot hotel hour house household
housewife hr html http https hubby hug huge human hummus humor humour hundred hunger hungry hunter
hurricane husband husky hut hybrid ice icon iconic id ide idea ideal identity iguana illness image
impact importance important impossible impressive inch incident income incredible independent index
individual indoor industry infant info information ingredient injury inner innocent innovative
insect inside insight inspiration instance instruction instrument insurance integer integration
intelligence intelligent intense interest interface interior internal international internet
internship interview introduction invention investigation investment investor invisible invoice ip
iron island issue it item jacket jail jam janitor jar jazz jealous jeans jewelry job jogging joint
journal journaling journalism journalist journey joy json judo juice juicy jungle junior junk
justice juvenile karaoke karate kayak kayaking keen kettle key keyboard kid kidney kimchi kind kinda
kindergarten king kiss kit kitchen kite kitten knee knife knitting knowledge kombucha kpi kpis la
lab label labor labrador ladder lady ladybug lake lamb lamp land landlord landscape language laptop
large lasagna laser late later latte laughter laundry law lawn lawyer layer lazy leader leaf league
leather lecture led left leftovers leg legacy legal legend legging lemon length lesson letter
lettuce level liar librarian library license life lifeguard lifestyle lifetime light lightweight
likely lime limit line lineup linguist lion lip liquid list literature little live liver lizard llm
llms loan lobster local location logic login lonely long lord loss lot lottery loud lovely lover low
loyal luck lucky lunch lung luxurious luxury lyric machine mad madam magazine magic magical mail
main mainstream maintenance major makeup male mall mama mammal man management manager mango manner
manual map marathon margin marine market marketing marriage married mask massage massive master mat
matcha material math mathematician mathematics maximum maybe mba meal meaning meat mechanic
mechanical media medical medication medicine medieval meditation medium meeting meetup member
membership memorable memory mental menu mess metal method mexican microphone microwave middle
midnight mild mile military milk million mind mindfulness mine mineral mini minimal minimum minister
minor minus minute mirror miss mission mistake mister mix mixture ml mmo mobile mockingbird mode
model modem modern module mom mom's moment mommy moms money monitor monk monkey monster month mood
moon moonlight moral morning mortgage mosquito mother motion motivation motor motorbike motorcycle
mountain mouse mouth movie mr mrs ms mud muffin mug multiplayer multiple mum mums mural muscle
museum mushroom music musical musician mutual mvp mystery myth na nachos nail naked name nan nap
narrative narrow nation national native natural nature navy nearby nearly neat necessary neck
necklace negative neighbor neighborhood neighbour neighbourhood nephew nerd nerve nervous net
network neutral news newsletter newspaper newyear nice nicer niche niece night nightmare nine ninth
noble node noise noisy noodle noodles noon normal north nose notebook novel novelist nowadays
numerous nurse nut nyc object ocean odd offer office officer official oil okr okrs old olive
omelette one onion online opera operation opinion opponent opportunity opposite option optometrist
orange orchestra organic organization origami original orphan os others otherwise ours outdoor
outdoors outfit outgoing outlet outside oven overview owner oxygen package paella page pain painful
painter painting pair palace pale pan pancake pancakes panda panel panic pants papa paper parade
paradise parakeet paramedic paranormal parent parenting park parrot part particular particularly
partner party passenger passion passionate password past pasta pastry path patience patient pattern
payment pc pdf peace peach peanut pedicure pen pencil penguin people pepper pepperoni perfect
performance perfume period permanent person personal personality perspective pet petrol pharmacist
phd philosopher philosophy phobia phone photo photographer photography phrase physical physicist
physics pianist piano picnic picture pie piece pig pigeon pilates pillar pilot ping pink pipe pitch
pizza plane planet plastic plate platform player playground playlist pleasant pleasure plenty plot
plugin plumber plus pm poc pocket pod podcast podcasting poem poet poetry poison poker police policy
polite political politician politics pollution polyester pond pong pony poodle pool poor pop popcorn
popular population porch pork port portrait pose position positive possible postal postcard poster
pot potato potential pottery pound pov poverty powder power powerful pr practical prayer preferably
pregnancy pregnant prejudice prequel presence president press-release pressure prestigious pretty
pretzel previous price pride priest primary prime prince princess principal principle printer
priority prison prisoner private prize pro problem process product production prof profession
professional professor profit programmer programming progress project projector proof proper
property proposal protein protest proud pst psychologist psychology pto pub public puddle pug
pumpkin punishment punk puppy pure purple purpose purse puzzle qa quality quantity quarter queen
query quesadilla queue quick quiet quilt quilting quite quiz quote rabbit radio rafting rainbow
raincoat ram ramadan ramen random range rap rapper rare rate rather ratio raw razor ready real
reality reason recent reception recipe recluse red reference refreshing refrigerator refugee
regardless reggae region regular relationship relative release relevant reliable relief religion
religious remake remote rent repo reporter repository republic reputation resident resort resource
response responsibility responsible restaurant result retail retirement retriever retro review rgb
rhythm rice rich rid ride right ring risotto river road roadmap roastery robot rock roguelike roi
role rollercoaster romance romantic roof room roommate root rope rose rough round route router
routine row royal rpg rsvp ruffle rugby rum running rural saas sad safe safety sail sailing sailor
saint salad salary sale salesman salmon salon salt salty same sample sand sandal sandwich sat
satisfaction sauce sausage scale scarf scary scene scenery scent schema scholarship school science
scientist scone scooter score scrapbooking screen script sculpture sdk sea seafood season seat
secret secretary section security seed self selfish semester senior sense sensibility sentence
sequel series serious server service session setlist setting settings setup seven seventh severe sex
sexy sf shade shadow shallow shame shampoo shape shark sharp sheep sheet shelf shell shelter
shepherd shift ship shirt shoe shopping shore short shoulder shower shrimp shy sibling sick side
sidewalk sight signal significant silence silent silk silly silver similar simple singer single sir
sis sister sitcom site situation six sixteen sixth sixty size skateboarding skating sketching skiing
skill skin skinny skirt sky skydiving sleepy slice slide slight slow small smart smartphone
smartwatch smooth smoothie snack snail snake snare sneaker snorkeling snowboard snowboarding snowman
soap soccer social society sociologist sock soda sofa soft softball software soil solar soldier
solid solo solution someday sometime somewhere son song soon sore soul soundbar soup sour source
sourdough south space spaghetti span spare speaker special species specific speech speed speedrun
spice spicy spider spinach spirit spiritual spirituality spoiler spook spoon sport spot spring
sprint sql square squirrel ssd ssh ssl st stable stadium staff stage stair stamp standard standup
star stargazing startup state station statistic statue status steady steak steakhouse steam steel
stomach stone store storm story stove straight strange stranger strategy strawberry streamer street
strength stress strict string stripe strong structure student studio stunt stupid style subject
suburb subway subwoofer success successful sudden sugar suitcase summer sun sunday sunflower
sunlight sunny sunrise sunset super superhero supermarket supernatural surface surfing surgeon
surgery survey survival sushi suspense sustainable sweater sweet swimmer swimming sword symbol
sympathy symptom system tabby table tablet taco tacos tail takeout tale talent talented tall tango
tank target task tattoo tax taxi tba tbd tea teacher team teammate tech technique technology teen
teenager television temperature temple ten tennis tent tenth term terminal terrible terrier test
text texture thanksgiving theater theatre theirs theme theory therapist therapy thick thin thing
thirsty thirty thought thousand thread three thrifting thriller throat ticket tiger tight till time
tiny tip tire tired title toast tobacco today's toe tofu together toilet tomato tomorrow's tone
tongue tool tooth top topic topping tornado tortoise total tough tourism tourist tournament towel
tower town toy track tractor tradition traditional traffic trail trailer trainer training transport
transportation trash traveler treadmill treasure treatment tree trend trial triangle tribe trick
trilogy trip trophy tropical trouble truck truly trumpet trunk truth tuna turkey turntable turtle
tutor tv twelve twenty twin twist two typical ugly uhd ui uk ukulele umbrella uncle unique unit
universe university upbeat upset upstairs urban url us usa usb user username usual utc ux vacation
vacuum valentine valley valuable value van vanilla variable variety various vase vegan vegetable
vegetarian vehicle venture venue version vet veteran veterinarian vibe vibrant victim victory video
view village vinegar vintage vinyl violence violent violin virtual virus vision visual vitamin vivid
vlog vlogging voice volleyball volume volunteering vp vr waffle wage waist waiter waitress wall
wallet war wardrobe warm warmth warrior watercolor waterfall watermelon way weak wealth weapon
weather web website wedding weed week weekday weekend weekly weight weird west wet wfh whale wheel
white whoever whole wide widow wife wifi wild wilderness wildlife willing wind window wine wing
winner winter wireless wise witch wizard wolf woman wonderful wood wooden woodworking wool word
worker workout workshop world worm worry worse worst worth wrestler wrestling wrist writer wrong
xmas xml y'all yacht yard year yellow yesterday's yoga yogurt young youth zebra zero zombie zone zoo
zucchini zumba
""")

_NATIONALITIES: Final = _set("""
afghan african albanian american arab arabian arabic argentinian armenian asian australian austrian
aztec baptist bavarian belgian benedictine brazilian british buddhism buddhist bulgarian californian
cambodian canadian cantonese caribbean catalan catholic celtic chilean chinese christian
christianity colombian croatian cuban czech danish democrat dutch egyptian english ethiopian
european filipino finnish french georgian german greek hawaiian hebrew hindi hindu hinduism
hungarian icelandic indian indonesian iranian iraqi irish islam islamic israeli italian jamaican
japanese jewish judaism kenyan korean latin latina latino lebanese lithuanian lutheran malaysian
mandarin maori mayan mediterranean methodist mexican mongolian mormon moroccan muslim nepalese
nigerian nordic norwegian pakistani persian peruvian polish portuguese protestant punjabi republican
roman romanian russian scandinavian scottish serbian sicilian singaporean slovak somali spanish
swahili swedish swiss syrian taiwanese tamil thai tibetan tunisian turkish ukrainian urdu venezuelan
vietnamese welsh western yiddish zulu
""")

_PLACE_MODIFIERS: Final = _set("""
central downtown east eastern greater in inner lower mainland mid near north northern old outer
rural south southern the upper uptown west western
""")
_WORDISH: Final = _VERBS | _WORDS | _OPENING
_PLACE_PART: Final = re.compile(r"\s*(?:,|/|\band\b|&)\s*")
_ENDINGS: Final = (
    ("ies", ("y", "ie")),
    ("ves", ("f", "fe", "ve")),
    ("es", ("", "e")),
    ("s", ("",)),
    ("ied", ("y",)),
    ("ed", ("", "e")),
    ("ing", ("", "e")),
    ("in", ("ing",)),
    ("iest", ("y",)),
    ("ier", ("y",)),
    ("est", ("", "e")),
    ("er", ("", "e")),
    ("or", ("", "e")),
    ("ily", ("y",)),
    ("ly", ("", "le")),
    ("ful", ("",)),
    ("less", ("",)),
    ("ness", ("",)),
    ("able", ("", "e")),
    ("ment", ("",)),
    ("ion", ("", "e")),
    ("y", ("", "e")),
)
_LEAST: Final = {"y": 4, "in": 4, "or": 4, "er": 3, "ion": 4, "ment": 4}  # letters before
_COMMON_ENDINGS: Final = re.compile(
    r".{3,}(?:ness|ment|ments|tion|tions|sion|sions|ology|ologist|ologists|graphy|ically|fully|lessly"
    r"|ously|ingly|edly|ability|ibility|ically|istic|ational|aholic)"
    r"|.{4,}(?:ity|ities|ive|ous|ances?|ences?|[ai]ble|ships?|hood|wards?|isms?|ical|ional|mental"
    r"|i[sz]ed?|i[sz]ing)"
)


@lru_cache(maxsize=16_384)
def is_function_word(word: str) -> bool:
    """Say whether a lower-case word carries grammar only."""
    return word.replace("’", "'") in _FUNCTION


@lru_cache(maxsize=16_384)
def is_everyday(word: str) -> bool:
    """Say whether a lower-case word is one that everybody uses, in any of its forms.

    A word of two parts ("long-term") is one where both are. What has a digit is none.
    """
    word = word.replace("’", "'").removesuffix("'s").removesuffix("'")
    if word in _FUNCTION or word in _WORDISH or base_of(word) != word or word in UNCHANGED:
        return True
    if "-" in word or "/" in word:
        parts = [part for part in re.split(r"[-/]", word) if part]
        return bool(parts) and all(len(part) < 2 or is_everyday(part) for part in parts)
    if not word.isalpha():
        return False
    return _COMMON_ENDINGS.fullmatch(word) is not None or any(
        base in _WORDISH for base in _bases(word)
    )


def _bases(word: str) -> list[str]:
    """Return the words that a word may be a form of."""
    bases = []
    for ending, replacements in _ENDINGS:
        if not word.endswith(ending) or len(word) - len(ending) < _LEAST.get(ending, 2):
            continue
        stem = word.removesuffix(ending)
        bases += [stem + replacement for replacement in replacements]
        if ending in ("ed", "ing", "er", "est") and len(stem) > 2 and stem[-1] == stem[-2]:
            bases.append(stem[:-1])  # running, biggest
    if word.startswith(("un", "re", "non", "pre", "mis", "over", "out")) and len(word) > 6:
        bases.append(re.sub(r"^(?:un|re|non|pre|mis|over|out)", "", word))
    return bases


@lru_cache(maxsize=16_384)
def opens_sentences(word: str) -> bool:
    """Say whether a lower-case word may open a sentence before a name that it is no part of.

    "Watching", "Yesterday" and "Hi" are; "Dark" and "Stranger" may begin a name.
    """
    word = word.replace("’", "'")
    if word in _FUNCTION or word in _OPENING or word in _VERBS:
        return True
    return any(base in _VERBS for base in _bases(word)) and word not in _WORDS


def is_greeting(word: str) -> bool:
    """Say whether a lower-case word greets, thanks, agrees or exclaims."""
    return word in _GREETING


def is_nationality(word: str) -> bool:
    """Say whether a lower-case word is a nation's adjective, a language or a faith."""
    return word in _NATIONALITIES or (word.endswith("s") and word[:-1] in _NATIONALITIES)


def is_place(name: str) -> bool:
    """Say whether a lower-case name is nothing but a country, a region or a large city.

    "northern italy", "malmö" and "paris, france" are; "paris hilton" and "bank of england" are not.
    """
    plain = _without_marks(name.replace("’", "'"))
    parts = [part for part in _PLACE_PART.split(plain) if part]
    return plain in PLACES or (bool(parts) and all(map(_one_place, parts)))


def _one_place(name: str) -> bool:
    words = name.removesuffix("'s").split()
    while words and " ".join(words) not in PLACES:
        if words[0] not in _PLACE_MODIFIERS:
            return False
        words = words[1:]
    return bool(words)


_LETTERS: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)  # what has no mark that could be taken off


def _without_marks(name: str) -> str:
    """Return a name in the letters in which places are listed: "Malmö" and "Malmo" are one."""
    if name.isascii():
        return name
    parted = unicodedata.normalize("NFD", name.translate(_LETTERS))
    return "".join(char for char in parted if not unicodedata.combining(char))
