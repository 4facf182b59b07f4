"""Texts that are made to be slow: what begins a secret, over and over, with every kind of filler.

`shapes()` gives a name and a unit for each; a text is its unit, repeated to the size that is asked
for, in one line or in many. Every hint of the redactor has its words here (a test holds it), so a
finder that reads on from each of its hints is met by a text that is nothing but its hints.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

# What makes a finder look; one or more for each hint of the redactor.
BAITS: tuple[str, ...] = (
    *("password", "password:", "password=", "password is ", "password for the ", "pass ", "pw: "),
    *("pin ", "secret", "client_secret", "token ", "api_key", "api key is ", "PAT=", "auth: "),
    *("credential", "creds ", "credentials -> ", "authorization: ", "cookie: "),
    *("Set-Cookie: a=b;", "mnemonic ", "seed phrase ", "psk ", "jwt.", "-key ", "keyMaterial "),
    *("_KEY=", "senha ", "contraseña ", "clave ", "mot de passe ", "parola ", "passwort ist "),
    *("5KQZ7xw2Lp9Kd4Rt6Vb8", "xprv9s21Zr", "MIIEpAIBAA", "\tTRUE\t/", "2fa seed ", "abandon "),
    *("пароль ", "密码", "암호"),
    *("-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----", "LS0tLS1CRUdJTi"),
    *("-----END RSA PRIVATE KEY-----", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"),
    *("Private-Lines: 8\n", '"kty":', '{"kty":"RSA","d":', "Bearer ", "Basic "),
    *("Authorization: Digest ", "://a:", "://a@", "://", "@tcp(", ":thin:", "otpauth:", "?key="),
    *("&sig=", "sshpass -p ", "curl -u a:", "mysql -p", "docker login ", "echo $"),
    *("openssl -passin pass:", "echo x | sudo -S ", "export A=", "docker run -e A=", "--token "),
    *("-p ", "login(", "new PDO(", "insert into t (password) values (", "cookies = {", ".fill("),
    *("Wallet(", "login ", "machine a login b password ", ":5432:a:b:", "identified by "),
    *("user/pass ", "account ", "cat a/pass", "printenv TOKEN", "WIFI:T:", "Unseal Key 1: "),
    *("0x00000000", "<<EOF\n", "recovery codes:", "ap-secrets ", ": PSK ", "kubeadm ", "fernet "),
    *("eyJhbGci", "eyJhbGci.eyJ", "sk-ant-", "ghp_", "AKIA", "AAAA", "Q~", ".atlasv1.", ":AA"),
    *("SG.", "-us1", "_live_", "$2b$10$", "xoxb-", "secret_a", "<password>"),
    *('"name": "password", "value": ', "password |", "password, ", "password ("),
    *("gate code ", "my pin is ", "cvv ", "4111 1111 1111 ", "passphrase: ", "a:b1@10.0.0.1"),
    *("[REDACTED:password]",),
)  # fmt: skip
FILLERS: tuple[str, ...] = (
    *("", " ", "a", "a1", "A1b2C3d4", '"', "'", "\\", '\\"', "`", "=", ":", "(", "[", "{", "<"),
    *("|", " a", " the", "is ", "a:", "a=b;", "é", "漢", "\t", "\n", "\n  3 | ", "\\n", "-", "."),
    *("/", ","),
)  # fmt: skip


def shapes() -> Iterator[tuple[str, str]]:
    """Yield a name and the unit of each shape."""
    for bait in ("", *BAITS):
        for filler in FILLERS:
            if bait or filler:
                yield f"{bait!r} + {filler!r}", bait + filler
    rng = random.Random(7)
    for _ in range(600):  # as far apart as hints may stand that are still read
        bait, filler = rng.choice(BAITS), rng.choice(FILLERS) or "a"
        room, end = rng.choice((44, 60, 90, 150)), rng.choice(("", "\n"))
        filled = bait + text_of(filler, max(0, room - len(bait))) + end
        yield f"{bait!r} + {filler!r} in {room} {end!r}", filled
    for n in range(1500):  # any distance, and up to three baits in turn
        parts = []
        for _ in range(1 if n % 2 else rng.randrange(1, 4)):
            bait, filler = rng.choice(BAITS), rng.choice(FILLERS) or "a"
            room, end = rng.randrange(10, 400), rng.choice(("", "\n", " "))
            parts.append(bait + text_of(filler, max(0, room - len(bait))) + end)
        unit = "".join(parts)
        yield f"spaced {n} {unit[:24]!r} in {len(unit)}", unit
    for run in ("a", "A", "0", "a1B2", "ab/+", "deadbeef", "x=", "word ", "aB3$"):
        for bait in BAITS:  # one bait, then a run without an end, is the other way round
            yield f"{bait!r} then {run!r}...", f"{bait}{run * (4096 // len(run))}"


def text_of(unit: str, size: int) -> str:
    """Repeat a unit to so many characters."""
    return (unit * (size // len(unit) + 1))[:size]


def mixed(seed: int, size: int, *, room: int) -> str:
    """Mix baits and fillers at random, with up to so many other characters between them."""
    rng = random.Random(seed)
    parts: list[str] = []
    while sum(map(len, parts[-64:])) * (len(parts) // 64 + 1) < 2 * size:
        filler = rng.choice(FILLERS) * rng.randrange(1, 12)
        rest = rng.choices("abcXYZ012 $", k=rng.randrange(room + 1))
        parts.append(rng.choice(BAITS) + filler + "".join(rest))
    return text_of("".join(parts), size)


def texts(size: int) -> Iterator[tuple[str, str]]:
    """Yield a name and the text of every shape, and of mixtures of them."""
    for name, unit in shapes():
        yield name, text_of(unit, size)
    for seed in range(8):
        yield f"mixed {seed}", mixed(seed, size, room=8 * seed)


# What makes the readers of sentences look: whose they are, what is liked, names, lists, quotes.
SENTENCES: tuple[str, ...] = (
    *(
        "I like ",
        "I don't like ",
        "not ",
        "and ",
        "the ",
        "My ",
        "Bob said ",
        "Alpha Beta ",
        "Mr. ",
    ),
    *(
        "I like tea. ",
        "I live in Oslo. ",
        "> I moved\n",
        "User: hi\n",
        "- ",
        ". ",
        ", ",
        "> ",
        "a.b",
    ),
    *("http://a/", "12:30 ", "2024-01-01 ", "1,", "|a|b|\n", '{"a":', "$(", "/a", "<a>", "`", "#"),
    *("I prefer A over B, ", "and the Berlin of ", "password %20%20%20%20 that monday was "),
)


def rows_of_words(words: Sequence[str], size: int) -> Iterator[tuple[str, str]]:
    """Yield rows of the words of seed phrases, with another word after so many of them."""
    rng = random.Random(1)
    for length in (12, 20, 60, 1_000_000):
        row: list[str] = []
        while len(row) * 5 < size:
            row += [*rng.choices(words, k=min(length, size // 5)), "xyzzyqq"]
        yield f"rows of {length} words", text_of(" ".join(row), size)


def large(size: int) -> Iterator[tuple[str, str]]:
    """Yield texts of one long line, and one of many short ones."""
    for unit in (*"aA0=\"'\\\n{é ", "a:", "AKIA", "aB3+/x", "key=value;", "([{", "password: "):
        yield repr(unit), text_of(unit, size)
    yield "lines", text_of("The password is hunter2x, said he.\npw=a1b2c3\n", size)
    yield "mixed", mixed(1, size, room=16)
