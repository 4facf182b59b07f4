"""What is announced in a sentence is redacted, and what only stands beside such a word stays."""

from __future__ import annotations

import pytest

from factbook.redaction import Redactor

KEY = bytes(range(32))
REDACTOR = Redactor(key=KEY)


def found(text: str) -> list[str]:
    """Return the secrets that are found in a text."""
    return [text[one.start : one.end] for one in REDACTOR.find(text)]


@pytest.mark.parametrize(
    "text",
    [
        *("username: martha77", "user: deploy3", "user=frieda82", "login: frieda82"),
        *("my username is tom2001", "> user: python3?", "User: hello456"),
        *("we pass Terraform1 around", "did you pass Math101?", "it must pass SOC2 audits"),
        *("please pass config7 to it", "bus pass: zone3", "season pass: Silver2025"),
        *(
            "PASS: read3Lines",
            "user=ab&#x26;find=one%2Cthree",
            "PASS test_loader4",
            "let it pass Level9 first",
            "FAIL test_a1, pass test_b6",
        ),
        *("log in with Okta2", "Credentials: Entra2", "the guest account is guest2025"),
        *("we moved the password policy to ISO27002", "the password goes to LastPass4"),
        *("password protected PDF: Invoice2024.pdf", "the password is 12 characters long"),
        *("pin 1030", "I use pin 4000 for the servo", "pin 2048 bytes", "the GPIO pin is 1024"),
        *("error code is 4472", "the code for class 20301 is done", "code to review: 58213"),
        *("exit code 13700", "the zip code is 94110", "security code review on 2024-05-13"),
    ],
)
def test_a_name_with_a_number_is_no_password_beside_a_word_for_one(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        *("zip code of building 94110", "source code for the door 3072", "exit code for gate 1030"),
        *("code to unlock 8192 bytes", "building code 1987", "pwd 40718263 bytes"),
        *("passwd 20000000 rounds", "security code 403", "CVC 204 lesson", "network key: wlan1"),
        *("web:20alpine@10.0.0.4", "client_secret: shop-client", "recovery words: one two three"),
        '{"pin":"3907","mode":"INPUT"}',
    ],
)
def test_a_number_that_counts_or_names_something_else_stays(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("eva@example.net / Autumn2031", "Autumn2031"),
        ("eva@example.net:Harbor456", "Harbor456"),
        ("u: eva p: Autumn2031", "Autumn2031"),
        ("credentials eva:Autumn2031", "Autumn2031"),
        ("SSID Dachs, key Harbor456", "Harbor456"),
        ("guest wifi: Dachs, key: Herbst2031", "Herbst2031"),
        ("we set password Spring41", "Spring41"),
        ("the password (Spring41) is gone", "Spring41"),
        ("my old password, Spring41, is out", "Spring41"),
        ("eva's pass Autumn2031", "Autumn2031"),
        ("her pass: Autumn2031", "Autumn2031"),
        ("spotify pass Autumn2031", "Autumn2031"),
        ("credentials: hunter9", "hunter9"),
        ("PIN 40718263", "40718263"),
        ("PIN code 7719", "7719"),
        ("the pin of the card 7719", "7719"),
        ("my pin for eva: Autumn2031", "Autumn2031"),
    ],
)
def test_a_word_and_a_number_is_a_password_where_it_is_told_as_one(text: str, secret: str) -> None:
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "set up git with default user credentials (`BrnWorks Bot <bot@brnworks.example>`)",
        "credentials: BrnWorks <dev@brnworks.example>",
        "The default machine size is dedicated-cpu-4x",
        "the machine login happens on render-node-7",
        "Recorded as **R9** (machine identity) and **R10** (gating)",
        "instead of accessing it as a property, import the type from kysely-pg3",
        "the accessibility notes map every widget to RdxKit",
        "access to ui-forms3 is denied, we access it with RdxKit",
        "we access `scene.root` but it was renamed to `scene.p7root` there",
        "the account page takes its data from useStr2 and zod-form3",
        "users log in with GitHub and land on AcmeHub2",
        "the two that matter (`hasLoss`, `isTyped`, `status`)",
        "change the caller to pass `v.fxCache` and pass isFolded along",
        "season pass: zone3-adult",
        "this may be a way for secrets to slip into nightly backup archives",
        "**Token Structure** (session.go:56-59):",
        "Unexpected token 'if' (at list-view.js?v=ab67224b:148:16)",
        "the commits with the secrets (`7cd81de`, `caf048e`)",
        "Credential events (rt#1426) come from notify",
        "Requests must ask for the password, then send `X-Probe-Name`",
        "dotnet ef migrations add FirstOne -p src/Shop.Data -s src/Shop.Web",
        "example.org/token v1.4.0/go.mod h1:UGzOrNV1mAFSEB63lOFHIpNRUVMvYTc6yu1SMY0=",
        "kim@WORKSTATION-8:/srv/shop$ echo $SHOP_API_KEY\n\nkim@WORKSTATION-8:/srv/shop$ \n",
        "<summary>openssl rand -base64 32</summary>\n\n```bash\nls\n```",
        "these GitHub secrets:\n\nAZURE_TENANT=e7d1365f-72df-449b-a0a4-ebf49239829c",
        "return TEST_PASSWORD\n\n@pytest.fixture\ndef one(): ...",
        'echo "production" | vercel env add NODE_ENV production',
    ],
)
def test_what_things_are_called_is_no_password(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("credentials (`Brn7!works`)", "Brn7!works"),
        ("machine ftp.example.org login eva password plainword", "plainword"),
        ("default login eva password tulip77x", "tulip77x"),
        ("chiave di accesso: 4ntZ6sUB#", "4ntZ6sUB#"),
        ("accès : eva / Tulpe!77", "Tulpe!77"),
        ("access to the attic box: eva / t7lpen4wald", "t7lpen4wald"),
        ("you access the shop db with Qp1bT=jW%$rEoK", "Qp1bT=jW%$rEoK"),
        ("mdp: tulpe.hafen26", "tulpe.hafen26"),
        ("log in with eva and Brn7!works", "Brn7!works"),
        ("the account (eva/tulip77x)", "tulip77x"),
        ("the login for the box is xK7wQ2mPzt", "xK7wQ2mPzt"),
        ("hasło: Tulipan88", "Tulipan88"),
        ("echo 'Brn7!works' | vercel env add DB_PASSWORD production", "Brn7!works"),
        ("dotnet nuget add source https://n.example.org -u eva -p Brn7!works", "Brn7!works"),
        ("echo $SHOP_API_KEY\nqR7wxK2mPz9tLv4\n", "qR7wxK2mPz9tLv4"),
        ("these credentials:\n\nSHOP_PASSWORD=Brn7works!", "Brn7works!"),
    ],
)
def test_what_stands_in_their_place_is_one_all_the_same(text: str, secret: str) -> None:
    assert found(text) == [secret]


def test_the_number_of_a_card_is_not_known_again() -> None:
    one = Redactor(key=KEY, remembers=True)
    one.redact("visa 4556737586899855")
    assert one.redact("row 4556737586899855") == "row 4556737586899855"


def test_what_was_passed_is_not_known_again() -> None:
    one = Redactor(key=KEY, remembers=True)
    one.redact("PASS test_parser22\nuser bob, pass Hotel2077")
    later = "test_parser22 was slow, and Hotel2077 is fully booked"
    assert one.redact(later) == later
    one.redact("the wifi password is Hotel3088")
    assert "Hotel3088" not in one.redact("Hotel3088 is what I typed")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the router password is 40718263951740268853, see its sticker", "40718263951740268853"),
        ("my password is 90417728", "90417728"),
        ("the password for my aunt's tablet is 771204", "771204"),
        ("passcode is 530917", "530917"),
        ("phone passcode 284460 btw", "284460"),
        ("wifi pw 71930462850913746628", "71930462850913746628"),
        ("wifi key 71930462850913746628", "71930462850913746628"),
        ("WPA key: 18840273659102746351", "18840273659102746351"),
        ("network security key: 55019283746610293847", "55019283746610293847"),
        ("mein WLAN Schlüssel ist 66310948275501938274", "66310948275501938274"),
        ("le mot de passe du wifi est 93047715", "93047715"),
        ("meine PIN ist 7719", "7719"),
        ("die PIN von der Kreditkarte ist 3308", "3308"),
        ("el pin de mi tarjeta es 6120", "6120"),
        ("le code pin est 9043", "9043"),
        ("il pin del bancomat e' 2217", "2217"),
        ("my pin's 8806", "8806"),
        ("card pin 4812", "4812"),
        ('{"pin": "3907"}', "3907"),
        ("alarm code is 5029", "5029"),
        ("gate code is #7741", "#7741"),
        ("code for the lockbox: 9175", "9175"),
    ],
)
def test_digits_are_a_password_where_they_are_told_as_one(text: str, secret: str) -> None:
    assert found(text) == [secret]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the keypad of the barn is 6418", "6418"),
        ("keypad: 6418#", "6418#"),
        ("the otp they sent me just now is 604817", "604817"),
        ("Your verification code is 604 817.", "604 817"),
        ("her bsn is 111222333", "111222333"),
        ("passport number: NX482913B", "NX482913B"),
        ("my national insurance number is QQ 12 34 56 C", "QQ 12 34 56 C"),
        ("our iban is DE89 3704 0044 0532 0130 00, thanks", "DE89 3704 0044 0532 0130 00"),
        ("GB82WEST12345698765432 is the IBAN", "GB82WEST12345698765432"),
    ],
)
def test_digits_that_open_or_name_what_is_somebodys_are_found(text: str, secret: str) -> None:
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        *("the keypad is 2024 stock", "the keypad has 12 keys", "keypad events: 4096 of them"),
        *("2fa is on since 2023", "the otp window is 300000 ms", "otp code length is 6"),
        *("verification code is required for 200000 users", "we use passport-jwt 4.0.1"),
        *("the bsn check took 123456 ms", "the passport number is a required field"),
        *("iban DE89370400440532013001", "the iban test is in iban_test.py", "bsn: 1234"),
    ],
)
def test_digits_beside_such_words_stay(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("What is your wifi password?\nKranich4471x", "Kranich4471x"),
        ("what's the password for the box?\n\n> Blue_Kettle7", "Blue_Kettle7"),
        ("Wie lautet das Passwort vom NAS?\nTulpe!77b", "Tulpe!77b"),
        ("quel est le mot de passe ?\nLivre-9F3a", "Livre-9F3a"),
    ],
)
def test_the_line_below_a_question_for_a_password_is_one(text: str, secret: str) -> None:
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "Forgot your password?\nLogin2FA",
        "What password manager do you use?\nBitwarden2",
        "What is the admin password?\nit is in the vault",
        "What is your password?\nno",
        "What is your user name?\nkranich4471x",
    ],
)
def test_the_line_below_another_question_is_none(text: str) -> None:
    assert found(text) == []


def test_a_pin_is_a_secret_as_text_and_may_be_a_boards_as_a_number() -> None:
    assert REDACTOR.redact_value({"pin": "3907"}) == {"pin": "[REDACTED:password]"}
    assert REDACTOR.redact_value({"pin": 3907}) == {"pin": 3907}


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("visa 4929 1234 5678 9015 thru march", ["4929 1234 5678 9015"]),
        ("it is 4556737586899855, cvv 318", ["4556737586899855", "318"]),
        ("amex 3782 822463 10005", ["3782 822463 10005"]),
        ("5425-2334-3010-9903 security code 417", ["5425-2334-3010-9903", "417"]),
        ("my ssn is 219-09-9481", ["219-09-9481"]),
        ("order 4929 1234 5678 9016", []),  # the check digit is another
        ("order 9400 1000 0000 0000 0000 00", []),  # no scheme begins so
        ("loss: 0.4556737586899855", []),
        ("id_4556737586899855", []),
        ("my card number is 4556737586899855", ["4556737586899855"]),
        ("Kreditkarte: 4929 1234 5678 9015 04/31", ["4929 1234 5678 9015"]),
        ("4556737586899855 4929 1234 5678 9015", []),  # nothing says that it is a card's
        ("card 3 took 4312 4929 1234 5678 9015 4318 ms", []),  # a row of numbers
        *((f"the card has {name}4556737586899855", []) for name in ("span=", "order_id: ")),
        *((f"credit {name}4556737586899855", []) for name in ("userId=", "trace ", '"time": ')),
        ("1717171717171717 ms, then 219-09-9481", []),
    ],
)
def test_the_number_of_a_payment_card_is_announced(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("JWT_SECRET=unsersupergeheimnis", "unsersupergeheimnis"),
        ("client_secret: hinterland", "hinterland"),
        ("SESSION_SECRET=lazy otter", "lazy otter"),
        ("A=1\nexport JWT_SECRET=lazy otter in the sun\nB=2", "lazy otter in the sun"),
        ("SESSION_SECRET=lazyotter npm start -- --port 80", "lazyotter"),
        ('{"secret":"Gurke#4z"}', "Gurke#4z"),
        ('NEXTAUTH_SECRET="my very own secret value"', "my very own secret value"),
        ("os.getenv('PW', 'Otter55q')", "Otter55q"),
        ("passphrase for the backup: harbor lemon quiet fox", "harbor lemon quiet fox"),
        ("my password is correct donkey paperclip anchor", "correct donkey paperclip anchor"),
        ("recovery key is EsUa 9FWK QmPt x4Ld 77Rb", "EsUa 9FWK QmPt x4Ld 77Rb"),
        ("product key TX9XD-98N7V-6WMQ6-BX7FG-H8Q99", "TX9XD-98N7V-6WMQ6-BX7FG-H8Q99"),
        ("?appid=9c1f0e7ab2d34586a7b8c9d0e1f23a45", "9c1f0e7ab2d34586a7b8c9d0e1f23a45"),
        ("my ssh password for nas.example.org is\nDompfaff61k", "Dompfaff61k"),
        ("nas: bob:rosenkohl31@192.168.7.20", "rosenkohl31"),
        ("creds: bob tulpenweg77", "tulpenweg77"),
        ("my password is marigold and my user is bob", "marigold"),
        ("pasword is Zaunkoenig4", "Zaunkoenig4"),
        ("passwrod: Igel2299x", "Igel2299x"),
        ("p/w: Amsel771q", "Amsel771q"),
        ("heslo je Sojka44x", "Sojka44x"),
    ],
)
def test_what_is_named_a_secret_is_one_whatever_it_looks_like(text: str, secret: str) -> None:
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        *("JWT_SECRET=changeme", "CLIENT_SECRET=${CLIENT_SECRET}", "SECRET_NAME=prod-db"),
        *("existingSecret: shop-postgres", "client_secret: str", "the client secret is required"),
        *("passphrase: required for all new keys", "my password is not working again today"),
        *("the recovery key is stored in the vault", "npm:react@18.2.0", "host:8080@10.0.0.3"),
        *("my recovery plan has 12 steps and 3 backups", "creds: bob only"),
    ],
)
def test_what_says_something_of_a_secret_stays(text: str) -> None:
    assert found(text) == []
