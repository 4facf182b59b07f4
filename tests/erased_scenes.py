"""Labelled scenes of erasing: what went, and which of the rows that stay still tell of it.

Written before the look was, as people write: sloppy, in lower case, with slips. A row is marked `+`
where somebody who erased that text would want to be told of it (a name, a value, a run of its words
stands there), `-` where it shares ordinary words only. `~` and `=` are the same for a row right
beside what went, in the same conversation. Every other scene was kept aside: nothing was fitted to
it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["BACKGROUND", "SCENES", "Scene"]


class Scene(NamedTuple):
    """One erasure."""

    gone: str
    kept: list[tuple[str, bool]]  # (text, whether it still tells)
    beside: list[tuple[str, bool]]


def _scene(written: str) -> Scene:
    gone, *rows = [line.strip() for line in written.strip().splitlines()]
    signs = [(one[0], one[2:]) for one in rows]
    return Scene(
        gone=gone,
        kept=[(text, sign == "+") for sign, text in signs if sign in "+-"],
        beside=[(text, sign == "~") for sign, text in signs if sign in "~="],
    )


_WRITTEN: Final = """
My locker code is 77-zebra-19
+ wrote 77-zebra-19 on the back of my hand lol
- the code review is on friday
- i need a new locker for the gym
~ Noted, I will remember your locker code.
= Anything else I can do for you today?

my sister Tamsin has a new boyfriend and i don't like him
+ tamsin is coming over for dinner on sunday
+ Pick up the cake for Tamsin's birthday
- my brother has a new car and i like it
- i don't like the new office
~ It sounds like you are worried about your sister and her boyfriend.
= Good night!

I earn 84,500 a year at Lindewerk and nobody knows
+ lindewerk called about the contract
+ put 84500 in the tax form
- nobody knows where the keys are
- I earn airmiles with that card
~ A salary like that is above the median for your field, and nobody at work will hear it from me.

im seeing dr okonkwo about my knee next tuesday
+ reminder: bring the x-rays to Okonkwo
- my knee hurts after running
- the dentist is next tuesday too
- Dr. Who is on tonight

call me on 0176 5550 1234 if the door is locked
+ his number: 0176-5550-1234
+ mobile 017655501234 (work)
- the door is locked again
- call me later

I live at 14 Kestrel Lane, Oakhampton
+ the parcel goes to 14 kestrel lane
+ is there a bakery in Oakhampton?
- I saw a kestrel near the lake
- we met at 14:00
- i live alone

the wifi password at mums is sunflower-teapot-9
+ try sunflower-teapot-9 if it asks
- planted a sunflower and broke the teapot
- the wifi is slow again
- mums going to the hospital

I told Bernadette that I'm going to quit in March
+ bernadette hasnt answered yet
- the conference is in march
- i'm going to quit sugar
~ Telling a colleague before you quit can be risky.
= The weather in March is mild.

my email is gus.tromp@example.net for the bank stuff
+ forwarded it to gus.tromp@example.net
- the bank closes at four
- my email is full
- stuff to buy: milk, bread

we are trying for a baby but it isnt working, third ivf round
+ the ivf clinic moved to the second floor
- my cousin had a baby
- third time lucky
- the printer isnt working
~ I'm sorry that the third round has been so hard.

Our daughter Philippa starts at Grangewood Primary on September 4
+ grangewood primary is closed on friday
+ philippa lost another tooth
- september was rainy
- my daughter likes horses
- School starts at 8

I owe Marek 300 euros from the trip to Gdansk
+ marek wants his money back
+ photos from gdansk are on the drive
- the trip was long
- 300 people came
- euros or dollars?

my blood pressure was 152/94 this morning
+ logged 152/94 in the app
- this morning the bus was late
- blood oranges are in season
- tyre pressure is low
~ That blood pressure is a bit high; rest and measure it again.

i have a crush on a guy named teo from the climbing gym
+ teo said the new route is hard
- the climbing gym raised prices
- a guy from work called
- candy crush is boring

Rose is pregnant but keep it to yourself
+ Lunch with Rose at noon
- prices rose again
- keep it short
- the cat is pregnant

the safe combination is 31 left, 7 right, 19 left
+ safe: 31 left, 7 right, 19 left
- turn left at the church
- 19 people signed up
- it is safe to eat

My therapist Wanda Quist thinks I drink too much
+ invoice from W. Quist, 120
+ wanda moved our session to thursday
- I drink tea in the morning
- he thinks too much
~ It is brave to speak to a therapist about drinking.

I was fired from Ostrava Metals for stealing
+ ostrava metals sent my papers
- metals are heavy
- the pottery was fired twice
- stealing second base

license plate of the new car: HG-KT 4471
+ parking permit for HG KT 4471
- the new car is red
- the license was renewed
- plate of pasta

the gift for mum is a ticket to Tosca on the 12th
+ two seats, tosca, row f
- the ticket machine was broken
- gift wrap is sold out
- on the 12th hole he lost the ball

we moved the meeting with Haldane Partners to 3pm
+ haldane wants the slides before
- the meeting was long
- call me at 3pm
- partners in crime

my passport number is L4T7K90X2
+ the form: passport L4T7K90X2, issued in may
- passport photos cost a fortune
- number 9 bus
- my passport is in the drawer

i voted for the greens, dont tell dad
- eat your greens
- dad is asleep
- tell me a story
- i voted for pizza

I can't stand my boss Leopold, he takes credit for my work
+ leopold is on holiday until the 5th
- my boss brought doughnuts
- credit card is maxed out
- I can't stand the heat
~ Taking credit for your work is unfair; does your boss know how you feel?

the dog is called Biscuit and is afraid of thunder
+ biscuit needs his shots
+ Biscuit ate the remote
- thunder all night long
- the dog next door barks

my pin is 4471
+ use 4471 at the machine
- room 447 is free
- pin the note on the board
- a rolling pin

Nach der Trennung von Annegret wohne ich in Bielefeld
+ annegret holt die kinder ab
+ der zug nach bielefeld faellt aus
- nach der arbeit einkaufen
- ich wohne gern hier

J'ai promis à Solène de ne rien dire de l'opération
+ solene arrive demain
- de rien
- rien ne va plus
- j'ai faim

on the 3rd of may 2019 i had my last cigarette
+ 3rd of may 2019: last cigarette
- cigarette butts in the yard
- may i come in
- since 2019 the rent doubled
~ Quitting that cigarette in 2019 was a great step.

project Nightjar ships in June, this is confidential
+ nightjar demo went fine
- the project is late
- june is hot
- ships in the harbour

I weigh 94 kg and want to get down to 80
+ weigh-in: 94 kg
- 94 unread mails
- get down from there
- i want to get bread
- weigh the flour

uncle Ferdinand left me the house in Novigrad
+ the roof in novigrad leaks
+ Ferdinand's grave needs flowers
- the house is cold
- my uncle fishes
- he left me on read

remind me to take the lithium at 9
+ lithium level ok says the lab
- remind me to take the bins out
- take the train at 9
- at 9 the shop opens

my username there is moth_queen_88
+ moth_queen_88 has one new follower
- moths ate my sweater
- queen of hearts
- username or email?

the alimony is 1,240 a month and she is late again
+ transfer 1240 came in
- she is late for school
- a month without coffee
- again and again

i'm allergic to penicillin, ended up in hospital in 2011
+ no penicillin please
- i'm allergic to mondays
- the hospital parking is expensive
- ended up at a bar
- 2011 was a good wine year
~ Being allergic to that can be dangerous; tell every hospital.

Gretchen from accounting is stealing toner
+ gretchen asked for the receipts
- accounting closed the books
- the toner is empty
- stealing time

her new address is ul. Dluga 7/12, Krakow
+ flowers to Dluga 7/12
- her new phone
- what is your address
- chapter 7, page 12

I cheated on the exam in statistics and Professor Abernathy never noticed
+ abernathy gave me a B
- the exam is in june
- statistics is fun
- i never noticed the stain
~ Cheating in an exam can have consequences even if the professor never noticed.

the server root password is Tr0ub4dor&3 on atlas-03
+ ssh root@atlas-03
+ changed it from Tr0ub4dor&3
- the server is down
- root vegetables for dinner
- atlas of the world
"""

SCENES: Final = [_scene(one) for one in _WRITTEN.split("\n\n")]

BACKGROUND: Final = """
what should i cook tonight
the train was late again
i like green tea in the morning
can you write a short poem about the sea
the meeting moved to friday afternoon
my back hurts from sitting all day
remind me to water the plants
how do i undo the last commit in git
we watched a film about whales
the new phone is faster than the old one
i want to learn the guitar this year
please sort this list by name
the kids are asleep at last
lunch at noon with the team
it rained for three days
make the title bold and larger
what is the capital of norway
the heating is broken since monday
i am reading a long book about bees
send the report before five
the coffee machine needs cleaning
my favourite colour is blue
he said the shop opens at nine
let us go for a walk after work
the password reset mail did not arrive
how many people live in japan
i bought a bike last summer
she told me to call back tomorrow
the code does not compile on my machine
run the tests and tell me what fails
thanks, that was helpful
i do not like crowded places
the hospital is next to the station
our house has a small garden
the doctor said to rest for a week
add a column for the price
the bank closed the old branch
my boss is in a good mood today
my sister and i went swimming
there is a hole in the left shoe
""".strip().splitlines()
