"""Redaction: secrets that a sentence, a call, a program's output or a second mention gives away."""

from __future__ import annotations

import pytest

from factbook.sources.redact import Redactor

REDACTOR = Redactor(key=bytes(range(32)))
SECRETS = ["Tr0ub4dor&3", "x9K!mQ2@vLp7", "kR8vTq2mWz5pLx7n"]
LINES = [
    # sentences
    "the password for the NAS is {} and the user is admin",
    "use {} as the password",
    "log in with {} as password",
    "login is bob / {}",
    "credentials: bob / {}",
    "la clave del wifi es {}",
    "La contrase\u00f1a de la base es {} y el usuario es bob",
    "le mot de passe est {}",
    "Das Passwort lautet {}",
    "\u5bc6\u7801\u662f{}",
    "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f{}\u3067\u3059",
    "\ube44\ubc00\ubc88\ud638\ub294 {} \uc785\ub2c8\ub2e4",
    "\u043f\u0430\u0440\u043e\u043b\u044c \u043e\u0442 \u0431\u0430\u0437\u044b {}",
    # calls
    'new mysqli("localhost", "bob", "{}", "shop");',
    'DriverManager.getConnection(url, "bob", "{}");',
    'smtp.login(user, "{}")',
    'WiFi.begin("HomeNet", "{}");',
    "jwt.sign({ id: 1 }, '{}', { expiresIn: 3 })",
    "INSERT INTO users (id, password, role) VALUES (1, '{}', 'admin')",
    "page.locator('[name=password]').type('{}')",
    'cookies={"sessionid": "{}"}',
    # output and files
    "$ echo $DB_PASSWORD\n{}",
    "$ op read op://vault/item/password\n{}",
    "WIFI:S:Home;T:WPA;P:{};;",
    "cat > auth.txt <<EOF\nbob\n{}\nEOF",
    '"db_password": {\n  "sensitive": true,\n  "value": "{}"',
    # programs
    "rdesktop -u bob -p {} host",
    "openssl passwd -6 '{}'",
    "security unlock-keychain -p '{}' login.keychain",
    "rabbitmqctl add_user bob '{}'",
    "wandb login {}",
]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_goes_and_redaction_is_final(line: str, secret: str) -> None:
    redacted = REDACTOR.redact(line.replace("{}", secret))
    assert secret not in redacted
    assert REDACTOR.redact(redacted) == redacted


def test_a_secret_goes_also_where_nothing_announces_it() -> None:
    text = "export DB_PASSWORD='x9K!mQ2@vLp7'\nthen I typed x9K!mQ2@vLp7 again\n"
    assert REDACTOR.redact(text).count("[REDACTED:password:") == 2
    plain = "password: sunshine\nthe sunshine was warm\n"
    assert "the sunshine was warm" in REDACTOR.redact(plain)
