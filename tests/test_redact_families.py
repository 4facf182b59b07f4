"""Redaction: families of secrets that are told by a sentence, a call, a command or their place."""

from __future__ import annotations

import random
import re

import pytest
from bench.secret_lines import generate
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook.redaction import Redactor, scanner
from factbook.redaction.lazy import Lazy
from rows import every

REDACTOR = Redactor(key=bytes(range(32)))
SECRETS = ["Tr0ub4dor&3", "x9K!mQ2@vLp7", "kR8vTq2mWz5pLx7n"]
LINES = [
    # sentences
    "the password for the NAS is {} and the user is admin",
    "The wifi password (attic-5G) is {}",
    "the old password was {}, please rotate it",
    "The master password, {}, is in the safe",
    "the root password was changed from {} to something else",
    "{} is the password for the admin account",
    "use {} as the password",
    "{} is my #1 favorite password",
    "log in with {} as password",
    "login is bob / {}",
    "default login admin/{}",
    "use bob / {} to log in",
    "the router password's {}",
    "VPN: vpn.example.org, user bob, pass {}",
    "credentials: bob / {}",
    "la clave del wifi es {}",
    "La contrase\u00f1a de la base es {} y el usuario es bob",
    "le mot de passe est {}",
    "Das Passwort lautet {}",
    "Das Passwort f\u00fcr den Server nas.example.org ist {}",
    "\u5bc6\u7801\u662f{}",
    "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f{}\u3067\u3059",
    "\ube44\ubc00\ubc88\ud638\ub294 {} \uc785\ub2c8\ub2e4",
    "\u043f\u0430\u0440\u043e\u043b\u044c \u043e\u0442 \u0431\u0430\u0437\u044b {}",
    # calls
    'new mysqli("localhost", "bob", "{}", "shop");',
    'DriverManager.getConnection(url, "bob", "{}");',
    'x = "new NetworkCredential(\\"bob\\", \\"{}\\", \\"CORP\\");"',
    'smtp.login(user, "{}")',
    'assert login("bob", "{}") == 200',
    'User.objects.create_user("bob", "bob@example.org", "{}")',
    'session.auth = ("bob", "{}")',
    "bcrypt.hashSync('{}', 10)",
    'WiFi.begin("HomeNet", "{}");',
    "jwt.sign({ id: 1 }, '{}', { expiresIn: 3 })",
    "INSERT INTO users (id, password, role) VALUES (1, '{}', 'admin')",
    "page.locator('[name=password]').type('{}')",
    'cookies={"sessionid": "{}"}',
    "process.env.SESSION_SECRET || '{}'",
    # output and files
    "$ echo $DB_PASSWORD\n{}",
    "$ op read op://vault/item/password\n{}",
    "WIFI:S:Home;T:WPA;P:{};;",
    "username bob password 0 {}",
    "snmp-server community {} RO",
    '{"ParameterKey":"DBPassword","ParameterValue":"{}"}',
    "ldap_bind_pw = {}",
    "EXEC sp_addlogin 'bob', '{}';",
    "ALTER USER bob IDENTIFIED BY 'Old9word' REPLACE '{}';",
    "cat > auth.txt <<EOF\nbob\n{}\nEOF",
    'cat > /etc/ppp/chap-secrets <<EOF\nbob * "{}" *\nEOF',
    'bob : EAP "{}"',
    "ftp -n ftp.example.org <<EOF\nuser bob {}\nput a.txt\nEOF",
    '"db_password": {\n  "sensitive": true,\n  "value": "{}"',
    'variable "db_password" {\n  default = "{}"\n}',
    '{"secretString": "{}"}',
    '<property name="password" value="{}"/>\n<property name="url" value="x"/>',
    "<Password><Value>{}</Value></Password>",
    "<keyMaterial>{}</keyMaterial>",
    "user bob@example.org\n+password {}\n",
    # settings that stand in a list, in quotes with their name, or alone in an escaped line
    "sqlserver://db:1433;databaseName=orders;user=app;password={};encrypt=true",
    '"ConnectionString": "Host=pg;Username=app;Password={};Database=app"',
    "DRIVER={ODBC Driver 18};SERVER=db;UID=sa;PWD={{}};Encrypt=yes",
    "terraform apply -var 'db_password={}' -var region=x",
    'docker run -e "MYSQL_ROOT_PASSWORD={}" mysql:8',
    'Environment="SMTP_PASSWORD={}" "PORT=25"',
    "mount -t cifs //nas/s /mnt -o username=bob,password={},vers=3.0",
    '{"output":"keyId=E7\\nsigning.password={}\\nnext=1"}',
    # programs
    "rdesktop -u bob -p {} host",
    "openssl passwd -6 '{}'",
    "security unlock-keychain -p '{}' login.keychain",
    "rabbitmqctl add_user bob '{}'",
    "wandb login {}",
    "signtool sign /f cert.pfx /p {} /fd SHA256 app.exe",
    "net use Z: \\\\nas\\reports {} /user:CORP\\bob",
    "net use Z: \\\\nas\\notes /user:CORP\\bob {}",
    "echo '{}\\n{}' | sudo smbpasswd -s -a bob",
    "(echo '{}'; echo '{}') | passwd bob",
    "openvpn --config a.ovpn --auth-user-pass <(printf 'bob\\n{}\\n')",
    "restic --password-command 'echo {}' snapshots",
    "gh secret set NAME --repo o/r --body '{}'",
    "aws ssm put-parameter --name /a/db --type SecureString --value '{}'",
    "az keyvault secret set --vault-name kv --name db --value '{}'",
    "dotnet user-secrets set 'Smtp:Password' '{}'",
    "etcdctl --endpoints=https://h:2379 --user 'root:{}' get /k",
    "read -r API_SECRET <<< '{}'",
    'sqlplus /nolog <<EOF\nconnect scott/"{}"@orcl\nEOF',
    # a command that is quoted as a whole
    "bash -lc 'mysqldump -p'\\''{}'\\'' shop'",
    "bash -lc 'mongosh -u bob -p '\\''{}'\\'' --host db'",
    "ssh host 'psql -c \"ALTER USER app WITH PASSWORD '\\''{}'\\''\"'",
    "bash -lc 'echo '\\''{}'\\'' | docker login --password-stdin'",
    "bash -c 'PGPASSWORD='\"'\"'{}'\"'\"' psql'",
]


@every("line", LINES)
@every("secret", SECRETS)
def test_a_secret_goes_and_redaction_is_final(line: str, secret: str) -> None:
    redacted = REDACTOR.redact(line.replace("{}", secret))
    assert secret not in redacted
    assert REDACTOR.redact(redacted) == redacted


WHOLE = [
    # quotes inside a value, as shells, SQL, YAML and JSON write them
    ("export DB_PASSWORD='it'\\''s7B7'", "it'\\''s7B7"),
    ("sqlcmd -S db -U sa -P 'Map6514'\\''x' -Q 'SELECT 1'", "Map6514'\\''x"),
    ("CREATE USER 'bob'@'%' IDENTIFIED BY 'Pq''x9wN4';", "Pq''x9wN4"),
    ("redis:\n  password: 'Bea5309''x'\n  db: 0", "Bea5309''x"),
    ("ALTER USER 'bob'@'%' IDENTIFIED BY 'ke1\\msN}B-w5';", "ke1\\msN}B-w5"),
    ("ALTER ROLE bob WITH PASSWORD 'AW8Kv7(yaJ|n{kap';", "AW8Kv7(yaJ|n{kap"),
    # marks that end other values
    ("jdbc:x://h:1433;user=app;password=r@jFm+ZSE;encrypt=true", "r@jFm+ZSE"),
    ("Host=db;Username=app;Password=ONq@Rz*v9)X4#3;Database=u", "ONq@Rz*v9)X4#3"),
    ("docker run -e 'SA_PASSWORD=hAU&ai0)t{R;5/[=[Z' -p 1433:1433 x", "hAU&ai0)t{R;5/[=[Z"),
    ("REDISCLI_AUTH=VWer,4V_3h:eM%Ed/K redis-cli ping", "VWer,4V_3h:eM%Ed/K"),
    ("passwd = W(!a+nR4HKv]2LQ5\nport = 1", "W(!a+nR4HKv]2LQ5"),
    # plain words where nothing but a password can stand
    ("gpg --batch --passphrase 'maple.cinder.granite' -d x", "maple.cinder.granite"),
    ('{"passphrase": "cobalt.hazel.nectar"}', "cobalt.hazel.nectar"),
    ("kafkacat -X sasl.username=a,sasl.password=ember,x=1", "ember"),
    ("server.ssl.key-store-password=lemonbutterfly", "lemonbutterfly"),
    ("cat > auth.txt <<EOF\nbob\nosprey\nEOF", "osprey"),
    # keys that only a word or two announce
    ("echo 'MAIL_KEY=Ltky5j8iZouGppWlsxAQc3iM' | sudo tee -a .env", "Ltky5j8iZouGppWlsxAQc3iM"),
    ("the secret key is PAq2EV3bD5a5qs5V5WkTT6uZ - keep it", "PAq2EV3bD5a5qs5V5WkTT6uZ"),
    ("The API key is H6lWaT587gbEjn4vKdfGHqZi (new)", "H6lWaT587gbEjn4vKdfGHqZi"),
    ("use the token D6GnsCWm9hyAvpPwRTYGjafP when you call", "D6GnsCWm9hyAvpPwRTYGjafP"),
    ("otpauth://totp/A:bob?secret=SBMXAT6WFBQQOXXL&issuer=A", "SBMXAT6WFBQQOXXL"),
    ('cs = f("Password=O)q]z9X;Server=db;")', "O)q]z9X"),
    ("admin_passwd = Tundra5043.rx\nport = 1", "Tundra5043.rx"),
    ('password = "fZTp/64zDzsRxMpz6/NMmtg97"', "fZTp/64zDzsRxMpz6/NMmtg97"),
    ("//npm.example.org/:_password=fZTp/64zDzsRxMpz6NMmtg97", "fZTp/64zDzsRxMpz6NMmtg97"),
    ("Recovery codes: 48a41-c5ce1 8eb9c-d2df9", "8eb9c-d2df9"),
    ("JWT_SECRET=bluebird-falcon60", "bluebird-falcon60"),
    ("./deploy.sh key-006e5ab3c0ae7b7fb26833c130d6046d x", "key-006e5ab3c0ae7b7fb26833c130d6046d"),
    ("password is M1p8, user is bob", "M1p8"),
]


@every(("line", "secret"), WHOLE)
def test_the_whole_secret_goes_and_nothing_else(line: str, secret: str) -> None:
    found = [line[one.start : one.end] for one in REDACTOR.find(line)]
    assert secret in found
    assert all(one in secret or "-" in one for one in found)


BENIGN = [
    'sshpass -p "$PASS" ssh -p 2222 bob@host',
    "sshpass -f pw.txt ssh -p 2222 bob@host",
    "ssh -i ~/.ssh/deploy_key bob@10.0.0.5",
    "ssh -i key bob@host",
    "    pub password: Option<String>,",
    "password VARCHAR(255) NOT NULL,",
    '"arn:aws:secretsmanager:eu-west-1:123456789012:secret:app-db-x1Y2z3"',
    "UPDATE users SET password = crypt($1, gen_salt('bf'));",
    "password = Column(String(255), nullable=False)",
    "password = request.form['password']",
    "const [password, setPassword] = useState('');",
    "password = getpass.getpass('Password: ')",
    '"login.password": "Passwort", "login.forgot": "Passwort vergessen?"',
    '{"out":"{\\"out\\":\\"password = getpass.getpass(\'Password: \')\\",\\"c\\":{\\"e\\":0}}"}',
    "Use `default_test.limit` for the inherited pass mark",
    "REGION_KEY=eu-west-1a",
    "FEATURE_KEY=new_checkout_2",
    "pin the dependency to 2024.1",
    "CACHE_KEY=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c",
    "primary key: tenant_id, sort key: created_at",
    "the monkey is in disk-usage of task-runner-42",
    "vault login -method=oidc",
    "gh secret set NPM_TOKEN < token.txt",
    "net use Z: \\\\nas\\share /persistent:yes",
    "cat <<EOF\nfirst line\nsecond\nEOF",
    "signtool sign /f cert.pfx /fd sha256 app.exe",
    "recovery codes are shown once",
]


@every("line", BENIGN)
def test_what_only_looks_like_one_stays(line: str) -> None:
    assert REDACTOR.redact(line) == line


def test_only_the_password_of_a_wrapped_command_goes() -> None:
    line = 'sshpass -p "x9K!mQ2@vLp7" ssh -o StrictHostKeyChecking=no -p 2222 bob@10.0.0.5 uptime'
    rest = line.replace("x9K!mQ2@vLp7", REDACTOR.label("password", "x9K!mQ2@vLp7"))
    assert REDACTOR.redact(line) == rest


def test_what_stands_beside_a_secret_stays() -> None:
    for line in (
        "The wifi password (attic-5G) is {}",
        "Das Passwort f\u00fcr den Server nas.example.org ist {}",
        'Environment="SMTP_PASSWORD={}" "PORT=25"',
        'docker run --rm -e "MYSQL_ROOT_PASSWORD={}" mysql:8',
        "user=bob password={} host=192.0.2.4",
    ):
        secret = "x9K!mQ2@vLp7"
        redacted = REDACTOR.redact(line.replace("{}", secret))
        assert redacted == line.replace("{}", REDACTOR.label("password", secret))


def test_a_secret_goes_also_where_nothing_announces_it() -> None:
    text = "export DB_PASSWORD='x9K!mQ2@vLp7'\nthen I typed x9K!mQ2@vLp7 again\n"
    assert REDACTOR.redact(text).count("[REDACTED:password:") == 2
    plain = "password: sunshine\nthe sunshine was warm\n"
    assert "the sunshine was warm" in REDACTOR.redact(plain)


def test_searching_again_near_the_labels_is_enough() -> None:
    """Texts of many secrets, joined and cut anyhow, are final after one redaction."""
    draw = random.Random(11)
    lines = [line.text for line in generate(seed=31, n=400)]
    for _ in range(120):
        text = draw.choice(["\n", "\n", " ", "\\n"]).join(draw.choices(lines, k=12))
        text = text[draw.randrange(40) : len(text) - draw.randrange(40)]
        redacted = REDACTOR.redact(text)
        assert REDACTOR.redact(redacted) == redacted


def test_what_a_secret_hid_is_found_when_it_is_gone() -> None:
    """No program begins inside the key, so its password shows only behind the key's label."""
    text = "note AKIAO5JPKYZF26WCAUS0curl -u bob:x9Kmq2vLp7 https://example.org"
    for before in (0, 3_000, 40_000):
        redacted = REDACTOR.redact("z " * before + text + " z" * before)
        assert "x9Kmq2vLp7" not in redacted
        assert REDACTOR.redact(redacted) == redacted


def test_a_secret_that_another_one_hid_is_found_behind_any_distance() -> None:
    hidden = "password='x9K!mQ2@vLp7 and token=kR8vTq2mWz5pLx7nkR8v'"
    for gap in (0, 500, 1_500, 9_000):
        text = hidden + " " * gap + "\npassword=Tr0ub4dor&3\n" + "y" * gap + hidden
        redacted = REDACTOR.redact(text)
        assert "Tr0ub4dor" not in redacted
        assert REDACTOR.redact(redacted) == redacted


def test_a_lazy_pattern_is_the_pattern() -> None:
    lazy, plain = Lazy(r"(\d+)-(?P<b>x)"), re.compile(r"(\d+)-(?P<b>x)")
    for text in ("12-x", "a 3-x", ""):
        assert str(lazy.match(text)) == str(plain.match(text))
        assert str(lazy.search(text, 1)) == str(plain.search(text, 1))
        assert [m.span() for m in lazy.finditer(text)] == [m.span() for m in plain.finditer(text)]
    with pytest.raises(AttributeError):
        _ = lazy.missing


# --------------------------------------------------------------------------- hints, in their order

_IN_TURN = scanner._compile("|".join(f"(?:{hint})" for hint, _, _ in scanner._FAMILIES))
_ALTERNATIVES = [one for hint, _, _ in scanner._FAMILIES for one in scanner._alternatives(hint)]


def _hits(automaton: object, text: str) -> list[tuple[int, int]]:
    found = automaton.finditer(text.encode("ascii", "replace"))  # type: ignore[attr-defined]
    return [hit.span() for hit in found]


def test_a_pattern_is_cut_at_its_outermost_bars() -> None:
    cut = scanner._alternatives(r"a\|b|[|)]c|(?:d|(?:e|f)|[(|])|[^]|]g")
    assert cut == [r"a\|b", "[|)]c", "(?:d|(?:e|f)|[(|])", "[^]|]g"]
    assert "|".join(_ALTERNATIVES) == "|".join(hint for hint, _, _ in scanner._FAMILIES)


def test_sorting_the_hints_changes_no_hit_in_lines_with_secrets() -> None:
    for line in generate(seed=11):
        assert _hits(scanner._HINTS, line.text) == _hits(_IN_TURN, line.text)


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(
        st.sampled_from(_ALTERNATIVES).flatmap(lambda one: st.from_regex(one, fullmatch=True))
        | st.sampled_from([" ", "", "x", "_", "\n", "passwort", "SECRET_", "key", "="]),
        max_size=6,
    )
)
def test_sorting_the_hints_changes_no_hit_in_texts_made_of_hints(parts: list[str]) -> None:
    text = "".join(parts)
    assert _hits(scanner._HINTS, text) == _hits(_IN_TURN, text)
