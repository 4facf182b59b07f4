"""Redaction: secrets that stand apart from the word that announces them, or behind an odd one."""

from __future__ import annotations

import json

import pytest
from bench.sloppy import sloppy_lines

from factbook.redaction import Redactor
from rows import every

REDACTOR = Redactor(key=bytes(range(32)))
SECRET = "Tern-Colony_44x"
KEY = "Zt8qLm2PvR7wYc3KsXx91HfGdm"
CASES = [
    # the line below
    "the db password is\n\n    {}\n\nplease put it in the env",
    "the db password is:\n{}",
    "password:\r\n{}\r\n",
    "Password\n{}",
    "Username\nkim\nPassword\n{}",
    "user: kim\npass:\n  {}",
    "here is the password\n```\n{}\n```",
    "auth:\n  password:\n    {}",
    "> password:\n> {}",
    "<dt>Password</dt>\n<dd>{}</dd>",
    "Das Passwort lautet:\n{}",
    "mot de passe :\n{}",
    "пароль:\n{}",
    # words in the quotes of a setting
    'PASSWORD="{} and more"',
    'export DB_PASSWORD="my {} is 14 Years!"',
    # what goes into a file that is called so
    "cat > pw.txt <<EOF\n{}\nEOF",
    "cat <<'END' > ~/.config/db.passwd\n{}\nEND",
    "PASSWORD=$(cat <<EOF\n{}\nEOF\n)",
    "echo '{}' > ~/.vault_pass",
    "printf '%s' '{}' > secrets/db_password.txt",
    'echo "{}" | sudo tee /etc/otter/smtp_password >/dev/null',
    'Path("db_password.txt").write_text("{}")',
    "Set-Content -Path pw.txt -Value '{}'",
    # a line that a backslash goes on with
    "export PASS=\\\n{}",
    "otterctl login --password \\\n  {} \\\n  --host h1",
    # tables
    "| user | password |\n|---|---|\n| kim | {} |",
    "user,password\nkim,{}",
    '"name","password"\n"bank","{}"',
    "name;login;pwd\nrouter;admin;{}",
    "host\tuser\tpassword\nweb1\troot\t{}",
    "USER      PASSWORD   ROLE\nkim       {}   admin",
    " user | passwd\n------+--------\n kim  | {}\n(1 row)",
    # a word that is written oddly
    '{"p\\u0061ssword":"{}"}',
    "http://x.example/?p%61ssword={}",
    "ｐａｓｓｗｏｒｄ: {}",
    "pass\u200bword: {}",
]
DRAWN = [
    "token is\n{}",
    "bot token:\n\n{}",
    "API key\n\n{}",
    'curl -H "Authorization: Bearer \\\n  {}" https://api.otter.example',
    "apikey {}",
    "api key {}",
    "my weather apikey {} works now",
    "echo {} > .token",
    "id,api_token,created\n7,{},2026-10-02",
    "api\\u005fkey = {}",
]
PINS_AND_CODES = [
    ("GPG_PIN=482913", "482913"),
    ("CARD_PIN: 4829", "4829"),
    ('SIM_PIN="0417"', "0417"),
    ('{"card_pin": "4829"}', "4829"),
    ("my puk: 88412093", "88412093"),
    ("pkcs11-tool --login --pin 482913", "482913"),
    ("the 2fa backup code is 83920184", "83920184"),
    ("my recovery codes: 8f3k-2mq9", "8f3k-2mq9"),
    ("use recovery code 7H2K-99QX", "7H2K-99QX"),
]
STAYS = [
    "the password is on the next page",
    "password: see the vault",
    "Password\nMust be at least 12 characters",
    "password:\n  type: string\n  minLength: 8",
    "[sudo] password for kim:\nReading package lists... Done",
    "Password:\nkim@web1:~$ ls",
    "password =\n    os.environ['DB_PASSWORD']",
    "rename token\n\ncommit 9c1b7d4e8f603f2a9c1b7d4e8f603f2a9c1b7d4e",
    "password:\n${DB_PASSWORD}",
    "| token count | cost |\n|---|---|\n| 18234 | 0.42$ |",
    "NAME          TYPE     DATA   AGE\ndb-password   Opaque   1      3d",
    "apt\tlibpam0g:amd64\t1.5.2-6\napt\tpasswd\t1:4.13\napt\tpython3-apt\t2.6.0",
    "look at |passwords for scp, look at |\nnetrw-ssh-hack2|",
    "suite,pass,fail\nauth2,31,0",
    "  password,\n  user1,\n  host2,",
    "r'getpassword|'\nr'getipv4addr|'",
    "cat > token.py <<EOF\nimport os2\nEOF",
    'echo "see vault" > password.txt',
    "echo $DB_PASSWORD > /run/secrets/db_password",
    "export PATH=\\\n/usr/local/bin2",
    "LED_PIN=13",
    "PIN_TIMEOUT=30000",
    "api key rotation v2 is done",
    "backup code lives in backup2.py",
    'password: "must be at least 8 characters"',
    "password: 'does not match'",
    'PASSWORD="$1 $2"',
    "https://x.example/?p%61ge=2",
    "to\u200bkenizer: v2x",
    "keys begin with sk-ant-api03-\nfollowed by 95 characters",
    'kind = "password"\n    MAX_Size2=10',
]


@every("case", CASES)
def test_a_password_goes_that_stands_apart_from_its_name(case: str) -> None:
    check(case, SECRET)


@every("case", DRAWN)
def test_a_key_goes_that_stands_apart_from_its_name(case: str) -> None:
    check(case, KEY)


@every(("text", "secret"), PINS_AND_CODES)
def test_digits_go_where_a_name_says_that_they_are_secret(text: str, secret: str) -> None:
    assert secret not in REDACTOR.redact(text)


def check(case: str, secret: str) -> None:
    text = case.replace("{}", secret)
    safe = REDACTOR.redact(text)
    assert secret not in safe
    before, after = case.split("{}")
    assert safe.startswith(before[:8])
    assert safe.endswith(after[-1:])
    assert REDACTOR.redact(safe) == safe


@every("text", STAYS)
def test_what_only_stands_like_one_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text


def test_passphrases_go_where_quotes_say_where_they_end() -> None:
    for setting in ('RESTIC_PASSWORD="{}"', 'passphrase = "{}"', '{"password": "{}"}'):
        text = setting.replace("{}", "blue otter runs four fast")
        assert "otter" not in REDACTOR.redact(text)


def test_a_passphrase_goes_below_its_name() -> None:
    text = "passphrase for the backup disk:\ncoral lantern seven wolves\n"
    assert "lantern" not in REDACTOR.redact(text)


def test_all_rows_of_a_table_are_read() -> None:
    rows = [f"site{n},kim,Heron{n}-Lake!{n * 7}" for n in range(300)]
    safe = REDACTOR.redact("\n".join(["site,user,password", *rows]))
    assert "Heron" not in safe
    assert safe.count("kim") == 300


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\n  "])
def test_a_key_that_a_terminal_wrapped_goes_whole(gap: str) -> None:
    for key in ("sk-ant-api03-" + KEY + KEY, "ghp_" + KEY + "pQ4nWb6TjE"):
        text = f"use {key[:24]}{gap}{key[24:]} please"
        safe = REDACTOR.redact(text)
        assert key[:24] not in safe
        assert key[24:] not in safe
        assert safe.endswith(" please")
    other = f"sk-ant-{KEY}\nghp_{KEY}pQ4nWb6TjE"
    assert REDACTOR.redact(other).count("[REDACTED:") == 2


def test_a_value_that_is_written_oddly_goes_to_its_end() -> None:
    for text, rest in (
        ('{"p\\u0061ssword":"Kx\\u00617zQ\\u0062"}', '"}'),
        ("http://x/?p%61ssword=Cr4ke-Mi%73%74&a=1", "&a=1"),
        ("pass\u200bword: Cr4ke\u200bMist3 and", " and"),
    ):
        found = REDACTOR.find(text)
        assert [text[one.end :] for one in found] == [rest]


def test_lines_whose_secrets_stand_apart_lose_them_and_nothing_else() -> None:
    lines = list(sloppy_lines(kept=False, apart=True))
    missed = 0
    for line in lines:
        for text in (line.text, json.dumps({"text": line.text}, ensure_ascii=False)):
            safe = REDACTOR.redact(text)
            assert REDACTOR.redact(safe) == safe
            if not line.spans:
                assert safe == text
        covered = {i for one in REDACTOR.find(line.text) for i in range(one.start, one.end)}
        missed += sum(not covered.issuperset(range(low, high)) for low, high, _ in line.spans)
    assert len(lines) >= 150
    assert missed <= 3
