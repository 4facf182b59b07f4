"""Print the thresholds of `recall.known`, and what they stand on.

    python scripts/calibrate_knowledge.py

Two curves over things, facts and questions that were written for it:
- `ANSWERS`: does a fact say what a question asks, both without the name of the thing;
- `NEAR`: is a question without names about a thing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from factbook.embed import bundled
from factbook.extract.things import without_names
from factbook.recall.known import ANSWERS, NEAR

# thing -> (facts, questions that they answer, questions that they do not answer,
#           questions without its name)
THINGS: dict[str, tuple[list[str], list[str], list[str], list[str]]] = {
    "brenner kettle": (
        [
            "The Brenner Kettle is an electric kettle with a gooseneck.",
            "The Brenner Kettle holds 0.9 litres.",
            "It heats water to any degree between 40 and 100.",
            "The kettle costs 139 euros.",
            "The Brenner Kettle was awarded a design prize in Milan.",
            "Its base draws 1,200 watts.",
        ],
        [
            "how much water fits into the brenner kettle?",
            "what does the brenner kettle cost?",
            "how much power does the brenner kettle need?",
            "can the brenner kettle be set to a temperature?",
            "did the brenner kettle win any awards?",
        ],
        [
            "how long does the brenner kettle's warranty last?",
            "is the brenner kettle noisy?",
            "which colours does the brenner kettle come in?",
            "who owns the company that makes the brenner kettle?",
            "how do I descale the brenner kettle?",
        ],
        ["which gooseneck kettle did I look at?", "what are good electric kettles?"],
    ),
    "lake tarnsee": (
        [
            "Lake Tarnsee is a mountain lake at 1,640 metres.",
            "Lake Tarnsee is up to 62 metres deep.",
            "Its water rarely gets warmer than 16 degrees.",
            "A cable car runs from the village to the lake between May and October.",
            "Camping is forbidden on its shores.",
            "Brown trout and char live in Lake Tarnsee.",
        ],
        [
            "how deep is lake tarnsee?",
            "how warm is lake tarnsee?",
            "how do I get up to lake tarnsee?",
            "may I camp at lake tarnsee?",
            "which fish are in lake tarnsee?",
        ],
        [
            "who discovered lake tarnsee?",
            "is there a hotel at lake tarnsee?",
            "are dogs allowed at lake tarnsee?",
            "what does parking cost at lake tarnsee?",
            "how long is the path around lake tarnsee?",
        ],
        ["which mountain lake can be reached by cable car?", "is there a lake high up to swim in?"],
    ),
    "ostrava quartet": (
        [
            "The Ostrava Quartet is a string quartet that was founded in 1998.",
            "The Ostrava Quartet plays mostly Czech music.",
            "Its first violinist is Jana Novotna.",
            "The quartet has recorded all quartets by Janacek.",
            "The Ostrava Quartet will tour Japan in the autumn.",
            "Its cellist plays an instrument from 1730.",
        ],
        [
            "when was the ostrava quartet founded?",
            "who plays first violin in the ostrava quartet?",
            "where does the ostrava quartet tour?",
            "what has the ostrava quartet recorded?",
            "what kind of music does the ostrava quartet play?",
        ],
        [
            "how much are tickets for the ostrava quartet?",
            "is the ostrava quartet on social media?",
            "did the ostrava quartet ever play jazz with a singer?",
            "which agency books the ostrava quartet?",
            "are members of the ostrava quartet married?",
        ],
        ["which string quartet recorded Janacek?", "tell me about Czech chamber music groups"],
    ),
    "pine language": (
        [
            "Pine Language is a programming language for small devices.",
            "Pine Language compiles to a single binary.",
            "Its type checker runs while you type.",
            "Pine Language has no garbage collector.",
            "Version 2 was released in March.",
            "The compiler of Pine Language is written in Rust.",
        ],
        [
            "when was the last version of pine language released?",
            "does pine language have a garbage collector?",
            "what is the pine language compiler written in?",
            "what does pine language compile to?",
            "does pine language check types?",
        ],
        [
            "does pine language run on windows?",
            "who invented pine language?",
            "is there a package manager for pine language?",
            "what salary do pine language developers get?",
            "are there conferences about pine language?",
        ],
        [
            "which programming languages suit small devices?",
            "a compiled language without garbage collection?",
        ],
    ),
    "marrow bread": (
        [
            "Marrow bread is a rye bread with pumpkin.",
            "Marrow bread keeps fresh for eight days.",
            "The dough of marrow bread rests overnight.",
            "Marrow bread is baked at 230 degrees for fifty minutes.",
            "It was first baked in Styria.",
            "A slice has about 110 calories.",
        ],
        [
            "how long does marrow bread keep?",
            "how hot must the oven be for marrow bread?",
            "where does marrow bread come from?",
            "how many calories has marrow bread?",
            "how long does the dough of marrow bread rest?",
        ],
        [
            "is marrow bread gluten free?",
            "which wine goes with marrow bread?",
            "where can I buy marrow bread in Berlin?",
            "can I freeze marrow bread?",
            "what does a loaf of marrow bread cost?",
        ],
        ["which rye bread has pumpkin in it?", "a bread that keeps for a week?"],
    ),
    "solvay trail": (
        [
            "The Solvay Trail is a hiking trail of 87 kilometres.",
            "The Solvay Trail takes five days to walk.",
            "It climbs 4,100 metres in all.",
            "There are four huts on the way, each with thirty beds.",
            "The trail is closed by snow until the end of June.",
            "The Solvay Trail begins at the station of Andermatt.",
        ],
        [
            "how long is the solvay trail?",
            "where does the solvay trail start?",
            "how many days does the solvay trail take?",
            "where can I sleep on the solvay trail?",
            "when does the solvay trail open?",
        ],
        [
            "what should I pack for the solvay trail?",
            "are there bears on the solvay trail?",
            "is there mobile reception on the solvay trail?",
            "who maintains the solvay trail?",
            "has anybody died on the solvay trail?",
        ],
        ["which hike has huts on the way?", "a trail that takes about five days?"],
    ),
}
APART = (
    "how do I repair a bicycle tyre?",
    "who won the football match?",
    "what is the capital of Mongolia?",
    "how does photosynthesis work?",
    "what is the best way to learn Spanish?",
    "is it going to rain tomorrow?",
    "how do I file my tax return?",
    "what are good books about Roman history?",
    "how do vaccines work?",
    "when does the post office close?",
    "how can I sleep better?",
    "what is the exchange rate of the yen?",
)


def curve(right: Sequence[float], wrong: Sequence[float], chosen: float) -> None:
    """Print for each threshold how much of both reaches it."""
    print("| cosine | reached by the right | reached by the wrong |")
    print("|---|---|---|")
    for step in range(20, 76, 4):
        at = step / 100
        held = sum(one >= at for one in right) / len(right)
        let = sum(one >= at for one in wrong) / len(wrong)
        print(f"| {at:.2f} | {held:.0%} | {let:.0%} |")
    held = sum(one >= chosen for one in right) / len(right)
    let = sum(one >= chosen for one in wrong) / len(wrong)
    print(f"| **{chosen:.2f}** | **{held:.0%}** | **{let:.0%}** |")


def main() -> None:
    """Print both curves."""
    embed = bundled().embed
    answered: list[float] = []
    unanswered: list[float] = []
    near: list[float] = []
    apart: list[float] = []
    others = np.asarray(embed(APART))
    for name, (facts, answers, misses, unnamed) in THINGS.items():
        surfaces = [name, *(" ".join(name.split()[n:]) for n in range(1, len(name.split())))]
        said = np.asarray(embed([without_names(one, surfaces) for one in facts]))
        for questions, found in ((answers, answered), (misses, unanswered)):
            asked = np.asarray(embed([without_names(one, surfaces) for one in questions]))
            found += (asked @ said.T).max(axis=1).tolist()
        statements = [one if name in one.casefold() else f"{name}: {one}" for one in facts]
        rows = np.asarray(embed([name, *statements]))
        near += (np.asarray(embed(unnamed)) @ rows.T).max(axis=1).tolist()
        apart += (others @ rows.T).max(axis=1).tolist()
        elsewhere = [one for key, (*_, some) in THINGS.items() if key != name for one in some]
        apart += (np.asarray(embed(elsewhere)) @ rows.T).max(axis=1).tolist()
    print(f"\nANSWERS: {len(answered)} answered questions, {len(unanswered)} unanswered ones\n")
    curve(answered, unanswered, ANSWERS)
    print(f"\nNEAR: {len(near)} questions about a thing, {len(apart)} about something else\n")
    curve(near, apart, NEAR)


if __name__ == "__main__":
    main()
