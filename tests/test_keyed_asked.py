"""What a message asks for, and what a model only makes of it: seed 004, "no span, no fact".

Each row is a message and an operation in short: `rank crypto 1 BTC`, `append crypto BTC`,
`remove crypto BTC`, `remove crypto #1`, `clear crypto`, `move crypto 2->1`, `move crypto 1 BTC`,
`insert crypto 2 BTC`, `set city Oslo`, `forget city`.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.extract.keyed.clauses import ATTRIBUTES
from factbook.extract.keyed.contracts import FactsOp, op_problem
from factbook.extract.keyed.grounded import op_objection
from factbook.extract.keyed.phrases import parse_tell


def made(short: str) -> FactsOp:
    """Return the operation that a row means."""
    name, what, *rest = short.split(" ", 2)
    said = rest[0] if rest else ""
    if name == "set":
        return FactsOp(op="set", fact_key=f"user.{what}", value=said)
    if name == "forget":
        return FactsOp(op="clear", fact_key=f"user.{what}")
    key = f"user.favorites.{what}"
    if name == "clear":
        return FactsOp(op="ranked_list_clear", list_key=key)
    if name == "append":
        return FactsOp(op="ranked_list_append", list_key=key, values=said.split("/"))
    if name == "remove":
        if said.startswith("#"):
            return FactsOp(op="ranked_list_remove", list_key=key, rank=int(said[1:]))
        return FactsOp(op="ranked_list_remove", list_key=key, value=said)
    if "->" in said:
        old, new = map(int, said.split("->"))
        return FactsOp(op="ranked_list_move", list_key=key, from_rank=old, rank=new)
    rank, value = said.split(" ", 1)
    if name == "move":
        return FactsOp(op="ranked_list_move", list_key=key, rank=int(rank), value=value)
    if name == "insert":
        return FactsOp(op="ranked_list_insert", list_key=key, rank=int(rank), value=value)
    return FactsOp(op="ranked_list_set", list_key=key, rank=int(rank), value=value)


ASKED = [
    # a rank
    ("Make BTC my #1", "rank crypto 1 BTC"),
    ("BTC is still my #1 crypto", "rank crypto 1 BTC"),
    ("BTC is my #1 favorite and SOL is actually my #7 favorite", "rank crypto 1 BTC"),
    ("BTC is my #1 favorite and SOL is actually my #7 favorite", "rank crypto 7 SOL"),
    ("My top coin is BTC", "rank crypto 1 BTC"),
    ("BTC is my top pick", "rank crypto 1 BTC"),
    ("my second favourite is ETH", "rank crypto 2 ETH"),
    ("I like BTC most of all cryptos", "rank crypto 1 BTC"),
    ("Could you make BTC my #1?", "rank crypto 1 BTC"),
    ("Hey, can you put BTC at #1 in my cryptos?", "rank crypto 1 BTC"),
    ("I would like BTC to be my #1", "rank crypto 1 BTC"),
    ("I'd put BTC at #1 and ETH at #2", "rank crypto 2 ETH"),
    ("I rank BTC first and ETH second in my crypto list", "rank crypto 2 ETH"),
    ("I watched Dune again and it is still my #1 movie", "rank movies 1 Dune"),
    ("I watched Dune again. It's my #1 movie now.", "rank movies 1 Dune"),
    ("I love BTC, it's my favorite crypto", "rank crypto 1 BTC"),
    ("I love BTC, my #1 crypto", "rank crypto 1 BTC"),
    ("My favorite crypto, BTC, is up again", "rank crypto 1 BTC"),
    ("BTC, ETH and SOL are my top 3 cryptos", "rank crypto 2 ETH"),
    ("My cryptos in order: BTC, ETH, SOL", "rank crypto 3 SOL"),
    ("My favorite cryptos are BTC, ETH, and SOL", "rank crypto 3 SOL"),
    ("My favorite movies:\n1. Dune\n2. Alien", "rank movies 2 Alien"),
    ("#1 BTC, #2 ETH, #3 SOL", "rank crypto 2 ETH"),
    ("Number one: BTC. Number two: ETH.", "rank crypto 2 ETH"),
    ("My #1 and #2 are BTC and ETH", "rank crypto 1 BTC"),
    ("BTC moves to #3, please", "rank crypto 3 BTC"),
    ("Put ADA at the bottom of my crypto list", "rank crypto 9 ADA"),
    ("Replace SOL with BTC on my crypto list", "rank crypto 4 BTC"),
    ("Is there news? BTC is my #1 crypto.", "rank crypto 1 BTC"),
    ("I've moved BTC to #3", "rank crypto 3 BTC"),
    ("BTC as my #1 crypto, please", "rank crypto 1 BTC"),
    ("user.favorites.crypto.2 = ETH", "rank crypto 2 ETH"),
    ("My favorite crypto? BTC!", "rank crypto 1 BTC"),
    (
        "Insert ETH at #2 of my favorite crypto, move ADA to #1 and remove DOT",
        "insert crypto 2 ETH",
    ),
    ("Insert ETH at #2 of my favorite crypto, move ADA to #1 and remove DOT", "move crypto 1 ADA"),
    ("Insert ETH at #2 of my favorite crypto, move ADA to #1 and remove DOT", "remove crypto DOT"),
    # the end of a list
    (
        "My favorite countries are Spain, Greece and Thailand",
        "append countries Spain/Greece/Thailand",
    ),
    ("Add ADA to my crypto list", "append crypto ADA"),
    ("ADA is great, add it to my cryptos", "append crypto ADA"),
    ("Please include BTC and ADA in my favorite cryptos", "append crypto BTC/ADA"),
    ("Heat is also a favorite movie of mine", "append movies Heat"),
    ("I love the movies Heat and Alien", "append movies Heat/Alien"),
    # a move
    ("Move BTC to #3", "move crypto 3 BTC"),
    ("Move BTC up one spot", "move crypto 1 BTC"),
    ("Put ETH above BTC", "move crypto 1 ETH"),
    ("Swap #1 and #2 in my crypto list", "move crypto 2->1"),
    ("Move my #5 movie to #2", "move movies 5->2"),
    ("Can you move number 4 to number 1 on my list?", "move crypto 4->1"),
    # taken away
    ("Remove BTC", "remove crypto BTC"),
    ("Please remove BTC and ETH from my crypto list", "remove crypto ETH"),
    ("I do not like BTC any more, remove it from my cryptos", "remove crypto BTC"),
    ("I'm done with BTC. Take it off my crypto list.", "remove crypto BTC"),
    ("I no longer like BTC", "remove crypto BTC"),
    ("BTC is no longer on my crypto list", "remove crypto BTC"),
    ("I want BTC removed from my crypto list", "remove crypto BTC"),
    ("I want you to drop BTC", "remove crypto BTC"),
    ("I just dropped BTC from my crypto list", "remove crypto BTC"),
    ("Could you delete BTC from my favorites?", "remove crypto BTC"),
    ("Replace BTC with ETH in my crypto list", "remove crypto BTC"),
    ("Remove #3 from my favorite movies", "remove movies #3"),
    ("remove my third favorite movie", "remove movies #3"),
    ("forget user.favorites.crypto.2", "remove crypto #2"),
    ("Clear my crypto list", "clear crypto"),
    ("clear user.favorites.crypto", "clear crypto"),
    ("Please wipe all of my favorite cryptos", "clear crypto"),
    ("Remove everything from my crypto list", "clear crypto"),
    ("I'm over it. Empty my list of favorite crypto, please.", "clear crypto"),
    ("Clear my list", "clear crypto"),
    ("Clear it", "clear crypto"),
    ("I am done with my crypto list, clear it", "clear crypto"),
    ("Start my crypto list over", "clear crypto"),
    ("I no longer want a crypto list", "clear crypto"),
    ("Clear my colors and cryptos", "clear crypto"),
    ("Replace my crypto list with BTC and ETH", "clear crypto"),
    # a key
    ("my timezone is Europe/Athens", "set timezone Europe/Athens"),
    ("I'm on Lisbon time, Europe/Lisbon to be exact", "set timezone Europe/Lisbon"),
    ("My time zone changed to Europe/Oslo", "set timezone Europe/Oslo"),
    ("Europe/Athens. That's my timezone.", "set timezone Europe/Athens"),
    ("timezone: Europe/Athens", "set timezone Europe/Athens"),
    ("As for my timezone, I am in Europe/Athens", "set timezone Europe/Athens"),
    ("My name is Ann and my city is Oslo.", "set name Ann"),
    ("My name is Ann and my city is Oslo.", "set city Oslo"),
    ("Hi, I'm Ann", "set name Ann"),
    ("I am called Ann", "set name Ann"),
    ("Call me Al", "set nickname Al"),
    ("I live in Athens, Greece", "set city Athens"),
    ("I live in Athens, Greece", "set country Greece"),
    ("I just moved to Oslo", "set city Oslo"),
    ("My home town is Bergen", "set hometown Bergen"),
    ("I was born on May 4, 1990", "set birthday May 4, 1990"),
    ("I'm 34", "set age 34"),
    ("I work at Acme", "set employer Acme"),
    ("I changed jobs and now work for Acme", "set employer Acme"),
    ("I'm a nurse", "set occupation nurse"),
    ("I work as a nurse", "set job nurse"),
    ("My dog's name is Rex", "set dog.name Rex"),
    ("Rex is my dog", "set dog.name Rex"),
    ("My wife is Nora", "set spouse.name Nora"),
    ("I'm allergic to peanuts", "set allergies peanuts"),
    ("I'm vegan", "set diet vegan"),
    ("I speak Greek and German", "set languages Greek and German"),
    ("You can reach me at ann@example.org", "set email ann@example.org"),
    ("I prefer dark mode", "set preferences.theme dark mode"),
    ("set user.editor.theme to dark", "set editor.theme dark"),
    ("My coffee order is flat white", "set coffee_order flat white"),
    ("I use Helix as my editor", "set editor Helix"),
    # a fact that is taken back
    ("Forget my timezone", "forget timezone"),
    ("Forget my time zone, and clear my list of favorite crypto.", "forget timezone"),
    ("Forget my time zone, and clear my list of favorite crypto.", "clear crypto"),
    ("My timezone is wrong, please delete it", "forget timezone"),
    ("forget user.timezone", "forget timezone"),
    ("I no longer live in Oslo", "forget city"),
    ("I don't have a dog any more", "forget dog.name"),
    ("Please forget everything about my dog", "forget dog.name"),
    ("I'd like you to forget my email address", "forget email"),
]


@pytest.mark.parametrize(("message", "short"), ASKED)
def test_what_a_message_asks_for_passes(message: str, short: str) -> None:
    op = made(short)
    assert op_problem(op) is None
    assert op_objection(op, message) is None


NOT_ASKED = [
    # nobody asked for anything
    ("hello, how are you", "clear crypto"),
    ("hello", "forget timezone"),
    ("hello", "remove crypto #1"),
    ("hello", "move crypto 2->1"),
    ("What a nice day. My crypto list is long.", "clear crypto"),
    ("BTC is my #1 crypto", "clear crypto"),
    ("BTC is my #1 crypto", "remove crypto BTC"),
    ("BTC is my #1 crypto", "remove crypto #1"),
    ("My timezone is Europe/Athens", "forget timezone"),
    # questions, negations, suppositions, others
    ("Should I clear my crypto list?", "clear crypto"),
    ("should I clear my crypto list", "clear crypto"),
    ("How do I clear my crypto list", "clear crypto"),
    ("Please don't clear my crypto list", "clear crypto"),
    ("Don't ever clear my crypto list!", "clear crypto"),
    ("Never clear my crypto list", "clear crypto"),
    ("I don't want you to clear my crypto list", "clear crypto"),
    ("Do not move, empty or delete my crypto list", "clear crypto"),
    ("If BTC crashes, clear my crypto list", "clear crypto"),
    ("Clear my crypto list when BTC crashes", "clear crypto"),
    ("Maybe clear my crypto list", "clear crypto"),
    ("Ann said to clear my crypto list", "clear crypto"),
    ("Ann cleared her crypto list", "clear crypto"),
    ("Remind me to clear my crypto list", "clear crypto"),
    ("I was going to clear my crypto list", "clear crypto"),
    # something else than the whole list
    ("Remove BTC from my crypto list", "clear crypto"),
    ("Clear my #2 crypto", "clear crypto"),
    ("Clear my schedule, crypto is dull", "clear crypto"),
    ("Clear my crypto wallet", "clear crypto"),
    ("Clear the table. BTC is on my crypto list.", "clear crypto"),
    ("Clear my grocery list", "clear crypto"),
    ("Delete everything but BTC from my crypto list", "clear crypto"),
    ("BTC is no longer my #1 crypto", "clear crypto"),
    ("The sink is full, please clear it", "clear crypto"),
    ("Forget it, crypto is boring", "clear crypto"),
    ("Reset my crypto password", "clear crypto"),
    ("Clear my crypto list, but keep BTC", "clear crypto"),
    ("x " * 400 + "clear my crypto list", "clear crypto"),
    ("Clear and Present Danger is my favorite movie", "clear movies"),
    ("forget user.favorites.crypto.2", "clear crypto"),
    # values that stay
    ("I never want to remove BTC from my crypto list", "remove crypto BTC"),
    ("Is BTC still on my crypto list?", "remove crypto BTC"),
    ("Don't remove BTC", "remove crypto BTC"),
    ("I no longer want to remove BTC from my list", "remove crypto BTC"),
    ("Remove ETH but keep BTC", "remove crypto BTC"),
    ("Remove ETH and add BTC to my cryptos", "remove crypto BTC"),
    ("Remove ETH, not BTC", "remove crypto BTC"),
    ("Replace SOL with BTC in my crypto list", "remove crypto BTC"),
    ("Remove everything except BTC from my crypto list", "remove crypto BTC"),
    ("Delete BTC from my phone", "remove crypto BTC"),
    ("BTC dropped today", "remove crypto BTC"),
    ("BTC no longer rises", "remove crypto BTC"),
    ("Forget BTC's price, it's still my #1 crypto", "remove crypto BTC"),
    ("Take BTC seriously", "remove crypto BTC"),
    ("Drop BTC to #5", "remove crypto BTC"),
    ("I sold all of my BTC", "remove crypto BTC"),
    ("They removed BTC from the exchange", "remove crypto BTC"),
    ("Remove #2 from my movies", "remove movies #1"),
    ("Delete the first paragraph", "remove crypto #1"),
    ("Delete #3 from the report", "remove crypto #3"),
    ("Don't remove my #1", "remove crypto #1"),
    ("Remove all but #1 from my cryptos", "remove crypto #1"),
    # facts that stay
    ("Don't forget my timezone", "forget timezone"),
    ("Never forget my birthday", "forget birthday"),
    ("I forgot my timezone", "forget timezone"),
    ("I forget my timezone all the time", "forget timezone"),
    ("Delete the email that Ann wrote", "forget email"),
    ("Delete my email from Ann", "forget email"),
    ("Forget my timezone", "forget city"),
    ("Clear my desk, my timezone is UTC", "forget timezone"),
    # ranks that nobody named
    ("BTC dropped today", "rank crypto 5 BTC"),
    ("BTC dropped to #5 today", "rank crypto 5 BTC"),
    ("I sold some SOL at the #3 exchange", "rank crypto 3 SOL"),
    ("I keep some SOL at my #3 exchange", "rank crypto 3 SOL"),
    ("I bought BTC first and ETH later", "rank crypto 1 BTC"),
    ("I bought BTC today", "rank crypto 1 BTC"),
    ("BTC is #1 by market cap", "rank crypto 1 BTC"),
    ("BTC is my brother's #1 crypto", "rank crypto 1 BTC"),
    ("Your favorite crypto is BTC", "rank crypto 1 BTC"),
    ("BTC is my #1 crypto and I sold SOL", "rank crypto 1 SOL"),
    ("BTC is my #1 favorite and SOL is actually my #7 favorite", "rank crypto 7 BTC"),
    ("Make BTC my #1 and ETH my #2", "rank crypto 2 BTC"),
    ("My favorite crypto is BTC", "rank crypto 4 BTC"),
    ("BTC beats SOL", "rank crypto 1 BTC"),
    ("Rex is my second dog", "rank pets 2 Rex"),
    ("Is BTC my #1 crypto", "rank crypto 1 BTC"),
    ("My meeting with Ann is on the 3rd", "rank friends 3 Ann"),
    ("I like BTC, but it's not my #1 crypto", "rank crypto 1 BTC"),
    ("I like BTC. It isn't my #1 crypto.", "rank crypto 1 BTC"),
    ("BTC, no, that is not my #1 crypto", "rank crypto 1 BTC"),
    ("BTC. I never said it is my #1 crypto.", "rank crypto 1 BTC"),
    ("What is my #1 crypto? BTC?", "rank crypto 1 BTC"),
    ("My first car was a Volvo", "rank cars 1 Volvo"),
    ("My #1 goal is to sell BTC", "rank crypto 1 BTC"),
    ("Dune is the second movie I saw today", "rank movies 2 Dune"),
    ("hello BTC", "append crypto BTC"),
    ("I asked my favorite barista about BTC", "append crypto BTC"),
    ("I bought milk", "append crypto milk"),
    ("Add milk", "append crypto milk"),
    ("Don't add BTC to my crypto list", "append crypto BTC"),
    ("Move BTC to #3", "move crypto 2 BTC"),
    ("Move #5 to #2", "move crypto 4->2"),
    ("Don't swap #1 and #2 in my crypto list", "move crypto 2->1"),
    ("BTC is #1, ETH is #2", "move crypto 2->1"),
    # keys that nobody spoke of
    ("I bought BTC today", "set timezone BTC"),
    ("I bought BTC today and my timezone is Europe/Athens", "set timezone BTC"),
    ("My name is Ann", "set password Ann"),
    ("My name is Ann", "set city Ann"),
    ("My dog's name is Rex", "set name Rex"),
    ("The name of my dog is Rex", "set name Rex"),
    ("My dog is called Rex", "set name Rex"),
    ("My name is Ann and my city is Oslo", "set city Ann"),
    ("My name is Ann and my city is Oslo", "set name Oslo"),
    ("Ann's timezone is Europe/Oslo", "set timezone Europe/Oslo"),
    ("Your name is Factbook", "set name Factbook"),
    ("My wife works at Acme", "set employer Acme"),
    ("Ann lives in Oslo", "set city Oslo"),
    ("My parents live in Oslo", "set city Oslo"),
    ("I was in Oslo", "set city Oslo"),
    ("I work with Bob", "set employer Bob"),
    ("I'm tired", "set name tired"),
    ("I'm tired", "set occupation tired"),
    ("I'm 34", "set name 34"),
    ("Is my timezone Europe/Athens", "set timezone Europe/Athens"),
    ("The file name is Report", "set name Report"),
    ("Oslo is cold", "set city Oslo"),
    ("I met Nora at work", "set spouse Nora"),
]


@pytest.mark.parametrize(("message", "short"), NOT_ASKED)
def test_what_a_message_does_not_ask_for_is_refused(message: str, short: str) -> None:
    op = made(short)
    assert op_problem(op) is None
    said = op_objection(op, message)
    assert said is not None
    assert said.startswith("the message ")


@pytest.mark.parametrize("words", ATTRIBUTES)
def test_what_the_rules_read_of_a_person_passes(words: str) -> None:
    """The rules' words for what a person has one of say its key to this gate too."""
    for message in (f"my {words} is Xyz", f"Change my {words} to Xyz", f"forget my {words}"):
        told = parse_tell(message, lists={})
        assert told.understood
        assert [op_objection(parsed.op, message) for parsed in told.ops] == [None]


_WORDS = (
    *("my", "favorite", "favorites", "#1", "second", "is", "are", "make", "BTC", "and", ",", "."),
    *("?", "not", "if", "crypto", "to", "from", "in", "add", '"', "move", "remove", "clear", "it"),
    *("user.x", "=", ":", "\n", "1.", "top", "3", "I", "no longer", "don't", "name", "list", "▮"),
)


@given(
    st.lists(st.sampled_from(_WORDS), max_size=16).map(" ".join),
    st.sampled_from(
        ["rank crypto 1 BTC", "append crypto BTC", "remove crypto BTC", "clear crypto", "set x BTC"]
    ),
)
def test_any_message_is_judged(message: str, short: str) -> None:
    said = op_objection(made(short), message)
    assert said is None or said
