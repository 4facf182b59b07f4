"""Redaction: what is found, what stays, and what holds for any text.

Every secret here is made up. They are put together at run time, so that no line of this file looks
like a key to a scanner.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import multiprocessing
import os
import random
import re
import stat
import string
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import re2
from bench import hostile, sloppy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook.errors import KeyFileError, UsageError
from factbook.redaction import NO_REDACTION, Redaction, Redactor, load_key, scanner, wallets
from factbook.redaction.formats import FORMATS
from factbook.redaction.keyfile import _make_in_place
from factbook.redaction.scanner import CROWD_CHARS, KINDS
from rows import every

KEY = bytes(range(32))
REDACTOR = Redactor(key=KEY)

LOWER_HEX = "0123456789abcdef"
MIXED = string.ascii_letters + string.digits
CAPITALS = string.ascii_uppercase + string.digits
URLSAFE = MIXED + "-_"
STANDARD = MIXED + "+/"


def drawn(size: int, alphabet: str = MIXED, *, seed: str = "a") -> str:
    """Draw letters that look random and are the same in every run."""
    stream = b""
    for block in itertools.count():
        if len(stream) >= size:
            break
        stream += hashlib.sha256(f"{seed}:{block}".encode()).digest()
    return "".join(alphabet[byte % len(alphabet)] for byte in stream[:size])


def b64(text: str | bytes) -> str:
    raw = text.encode() if isinstance(text, str) else text
    return base64.b64encode(raw).decode()


def pem(kind: str, *, lines: int = 4, newline: str = "\n") -> str:
    body = [drawn(64, STANDARD, seed=f"{kind}{i}") for i in range(lines)]
    return newline.join(
        [f"-----BEGIN {kind}PRIVATE KEY-----", *body, f"-----END {kind}PRIVATE KEY-----"]
    )


def only(text: str) -> Redaction:
    """Return the one redaction of a text."""
    found = REDACTOR.find(text)
    assert len(found) == 1, (text, found)
    return found[0]


def found_in(text: str) -> list[str]:
    return [text[span.start : span.end] for span in REDACTOR.find(text)]


# ------------------------------------------------------------------------------- the golden lines


def test_the_golden_line_keeps_its_host_and_its_quotes() -> None:
    line = "sshpass -p 'pwd' ssh root@192.168.20.4 'ls -la'"
    golden = "sshpass -p '[REDACTED:password]' ssh root@192.168.20.4 'ls -la'"
    assert REDACTOR.redact(line) == golden
    assert NO_REDACTION.redact(line) == line


def test_only_the_secret_goes() -> None:
    secret = "correct-horse-9"
    label = REDACTOR.label("password", secret)
    for line, left in [
        (
            f"psql postgres://app:{secret}@db.example.com/shop",
            "psql postgres://app:{}@db.example.com/shop",
        ),
        (f"curl -u bob:{secret} https://x.example", "curl -u bob:{} https://x.example"),
        (f'{{"user": "bob", "password": "{secret}"}}', '{{"user": "bob", "password": "{}"}}'),
        (f"mysql -uroot -p{secret} -h db", "mysql -uroot -p{} -h db"),
    ]:
        assert REDACTOR.redact(line) == left.replace("{{", "{").replace("}}", "}").replace(
            "{}", label
        )


# ------------------------------------------------------------------------------------- passwords

PASSWORDS = [
    "hunter2",
    "Tr0ub4dor&3",
    "correct-horse-battery-staple",
    "x9K!mQ2@vLp7",
    "Winter2031!",
]

PASSWORD_LINES = [
    # commands
    "sshpass -p {} ssh root@10.0.0.7 uptime",
    "sshpass -p'{}' scp a b@h:/x",
    'sshpass -p "{}" ssh x@h',
    "curl -u admin:{} https://api.example.com/v1",
    "curl -sSu 'svc:{}' https://x.example/a?b=c",
    "curl --user='bob:{}' http://localhost:8080",
    "curl --proxy-user p:{} https://x.example",
    "wget --user=bob --password={} http://x.example/y",
    "wget --http-password '{}' http://x.example",
    "http -a bob:{} GET x.example",
    "mysql -u root -p{} -h db.local shop",
    "mysqldump -uroot -p'{}' app > dump.sql",
    "mariadb --password='{}' -e 'select 1'",
    "docker exec db mysql -uroot -p'{}' -e 'select 1'",
    "PGPASSWORD='{}' psql -h db -U app",
    "redis-cli -h cache -a '{}' info",
    "mongosh -u admin -p '{}' --host h",
    "docker login -u bob -p '{}' registry.example.com",
    "echo '{}' | docker login --username bob --password-stdin ghcr.io",
    "echo {} | sudo -S apt-get update",
    "printf '%s' '{}' | docker login -u x --password-stdin",
    "sudo -S <<< '{}' id",
    "echo 'bob:{}' | chpasswd",
    "htpasswd -b /etc/nginx/.htpasswd bob '{}'",
    "openssl rsa -in k.pem -passin 'pass:{}' -out k2.pem",
    "openssl enc -aes-256-cbc -k '{}' -in a",
    "7z x secret.7z -p'{}'",
    "zip -r -P '{}' out.zip dir",
    "unzip -P '{}' out.zip",
    "gpg --batch --passphrase '{}' -d f.gpg",
    "ldapsearch -x -D cn=admin -w '{}' -b dc=x",
    "sqlcmd -S h -U sa -P '{}'",
    "ssh-keygen -t ed25519 -N '{}' -f k",
    "plink -ssh u@h -pw '{}' ls",
    "smbclient -U 'bob%{}' //h/share",
    "nmcli dev wifi connect Home password '{}'",
    "keytool -import -storepass '{}' -file a",
    "net user bob '{}' /add",
    'ansible-playbook site.yml -e "ansible_password={}"',
    'ConvertTo-SecureString "{}" -AsPlainText -Force',
    'expect "password:"\nsend "{}\\r"',
    "child.expect('Password:')\nchild.sendline('{}')",
    'requests.get(url, auth=("admin", "{}"))',
    "vault kv put secret/app password='{}'",
    # variables
    "export DB_PASSWORD='{}'",
    'DB_PASSWORD="{}"',
    "docker run -e 'POSTGRES_PASSWORD={}' -p 5432:5432 postgres",
    "set -gx DB_PASSWORD '{}'",
    '$env:DB_PASSWORD = "{}"',
    "setx DB_PASSWORD {}",
    "ENV DB_PASSWORD={}",
    "cat > .env <<EOF\nDB_USER=app\nDB_PASSWORD={}\nEOF",
    ".env:3:DB_PASSWORD={}",
    "     1\u2192DB_PASSWORD={}",
    "+DB_PASSWORD={}",
    # files
    "database:\n  user: app\n  password: {}",
    "password: |\n  {}",
    "[client]\nuser=root\npassword={}",
    'db_password = "{}"',
    "spring.datasource.password={}",
    '"password": "{}"',
    '{{"db": {{"passwd": "{}", "port": 5}}}}',
    '{{"body": "{{\\"user\\": \\"bob\\", \\"password\\": \\"{}\\"}}"}}',
    '"{{\\\\\\"password\\\\\\": \\\\\\"{}\\\\\\"}}"',
    '{{"name": "DB_PASSWORD", "value": "{}"}}',
    "- name: DB_PASSWORD\n  value: '{}'",
    "<password>{}</password>",
    '<add key="Password" value="{}"/>',
    "<key>password</key>\n<string>{}</string>",
    "machine h.example.com login bob password {}",
    "machine h.example.com\n  login bob\n  password {}",
    "db.example.com:5432:app:bob:{}",
    "requirepass '{}'",
    # code
    'conn = connect(host="h", user="bob", password="{}")',
    "const dbPassword = '{}';",
    'String password = "{}";',
    'let password: &str = "{}";',
    'password := "{}"',
    "config['password'] = '{}'",
    "'password' => '{}',",
    "define('DB_PASSWORD', '{}');",
    'user.setPassword("{}");',
    "ALTER USER bob WITH PASSWORD '{}';",
    "CREATE USER bob IDENTIFIED BY '{}';",
    # addresses and connection strings
    "postgres://app:{}@db.example.com:5432/app",
    "mongodb+srv://bob:{}@cluster0.example.mongodb.net/test",
    "redis://:{}@cache:6379/0",
    "git clone https://bob:{}@git.example.com/r.git",
    "root:{}@tcp(127.0.0.1:3306)/app",
    "jdbc:oracle:thin:scott/{}@h:1521:x",
    "Server=tcp:x,1433;User ID=u;Password={};Encrypt=True;",
    "jdbc:mysql://h:3306/d?user=u&password={}",
    'psql "host=h user=u password={} dbname=d"',
    '-d \'{{"password": "{}"}}\'',
    # prose and tables
    "the password is {}",
    "my passwd = {}",
    "ssh root@10.0.0.1 (password: {})",
    "My password for the staging server is {}",
    "Password: {}",
    "**Password:** {}",
    "The admin password is `{}`.",
    'Use the password "{}"',
    "| password | {} |",
    "Passwort: {}",
    "\u043f\u0430\u0440\u043e\u043b\u044c: {}",
    "password \u201c{}\u201d",
]


@every("line", PASSWORD_LINES)
@every("secret", PASSWORDS)
def test_a_password_goes_and_the_rest_stays(line: str, secret: str) -> None:
    text = line.replace("{{", "\0").replace("}}", "\1").replace("{}", secret)
    text = text.replace("\0", "{").replace("\1", "}")
    span = only(text)
    assert text[span.start : span.end] == secret
    assert span.kind in {"password", "secret"}
    assert secret not in REDACTOR.redact(text)


# ------------------------------------------------------------------------ tokens, keys and headers

KEYS = [
    drawn(32, LOWER_HEX, seed="hex"),
    drawn(40, MIXED, seed="mixed"),
    drawn(43, URLSAFE, seed="urlsafe").replace("-", "x"),
    "3f2a9c1e-7b5d-4e8f-9a0b-1c2d3e4f5a6b",
]

KEY_LINES = [
    "export API_TOKEN={}",
    "SECRET_KEY={}",
    "secret_key: {}",
    'api_key = "{}"',
    '"api_key": "{}"',
    '\\"api_key\\": \\"{}\\"',
    "X-Api-Key: {}",
    "curl -H 'X-API-Key: {}' https://x.example",
    "curl -H 'Authorization: Bearer {}' https://x.example",
    "Authorization: Token {}",
    '"authorization": "ApiKey {}"',
    "https://api.example.com/v1?a=b&access_token={}&c=d",
    "https://api.example.com/v1?api_key={}",
    "https://x.blob.example.net/c/b?sv=2020&sig={}",
    "Cookie: theme=dark; session={}; lang=en",
    "Set-Cookie: sid={}; Path=/; HttpOnly; Secure",
    "curl -b 'auth_token={}' https://x.example",
    "deploy --token {}",
    "deploy --api-key='{}'",
    '["deploy", "--auth-token", "{}"]',
    'clientSecret: "{}"',
    "const apiKey = '{}';",
    "webhook_secret = '{}'",
    "signing_key: {}",
    "HEROKU_API_KEY={}",
    "DD_API_KEY={}",
    "aws configure set aws_secret_access_key {}",
    "//registry.example.org/:_authToken={}",
    "npm config set //registry.example.org/:_authToken {}",
    "SharedAccessKeyName=Root;SharedAccessKey={}",
    "AccountKey={};EndpointSuffix=core.example.net",
    "<apiKey>{}</apiKey>",
    "setenv API_TOKEN {}",
    "kubectl create secret generic x --from-literal=api-key={}",
    "echo {} | gh auth login --with-token",
    "the api key is {}",
    "API key: {}",
    "os.getenv('API_KEY', '{}')",
    "process.env.API_KEY || '{}'",
    'headers.set("X-Api-Key", "{}")',
    'tokens = ["{}"]',
    "java -Dapi.key={} -jar x.jar",
    "SENTRY_DSN=https://{}@o1.ingest.example.io/45",
]


@every("line", KEY_LINES)
@every("secret", KEYS)
def test_a_drawn_key_goes_and_the_rest_stays(line: str, secret: str) -> None:
    text = line.replace("{}", secret)
    assert found_in(text) == [secret]


def test_basic_credentials_and_registry_auth() -> None:
    pair = b64("bob:opensesame")
    for line in [
        f"Authorization: Basic {pair}",
        f'"Proxy-Authorization": "Basic {pair}"',
        f'{{"auths": {{"ghcr.io": {{"auth": "{pair}"}}}}}}',
        f"_auth={pair}",
    ]:
        assert found_in(line) == [pair]


def test_digest_and_request_signatures() -> None:
    answer = drawn(32, LOWER_HEX)
    line = f'Authorization: Digest username="bob", realm="r", nonce="n", response="{answer}"'
    assert found_in(line) == [answer]
    signature = drawn(64, LOWER_HEX)
    line = f"https://b.s3.example.com/k?X-Amz-Date=20310101T000000Z&X-Amz-Signature={signature}"
    assert [span.kind for span in REDACTOR.find(line)] == ["signature"]
    assert found_in(line) == [signature]


def test_secrets_without_a_shape_beside_the_id_they_belong_to() -> None:
    key_id, secret = "AKIA" + drawn(16, CAPITALS), drawn(40, STANDARD)
    text = f"Access key ID,Secret access key\n{key_id},{secret}\n"
    assert found_in(text) == [key_id, secret]
    sid, token = "AC" + drawn(32, LOWER_HEX), drawn(32, LOWER_HEX, seed="other")
    assert found_in(f'Client("{sid}", "{token}")') == [sid, token]


def test_a_recovery_phrase_goes() -> None:
    words = "lemon cabin orbit tulip frost ankle mango river solar piano velvet zebra"
    assert found_in(f'mnemonic: "{words}"') == [words]


# ---------------------------------------------------------------------------------- own formats

UUID = "1f2e3d4c-5b6a-4789-8a9b-0c1d2e3f4a5b"
HEX, AN, CAP, SAFE = LOWER_HEX, MIXED, CAPITALS, URLSAFE
EXAMPLES: dict[str, list[str]] = {
    "anthropic-key": ["sk-" + "ant-api03-" + drawn(93, SAFE) + "AA"],
    "openrouter-key": ["sk-" + "or-v1-" + drawn(64, HEX)],
    "openai-key": ["sk-" + "proj-" + drawn(80, SAFE) + "x", "sk-" + drawn(48)],
    "openai-session": ["sess-" + drawn(40)],
    "huggingface-token": ["hf_" + drawn(34), "api_org_" + drawn(34)],
    "groq-key": ["gsk_" + drawn(52)],
    "xai-key": ["xai-" + drawn(80)],
    "replicate-token": ["r8_" + drawn(37)],
    "tavily-key": ["tvly-" + "dev-" + drawn(32)],
    "perplexity-key": ["pplx-" + drawn(48)],
    "nvidia-key": ["nvapi-" + drawn(64)],
    "cerebras-key": ["csk-" + drawn(48)],
    "fireworks-key": ["fw_" + drawn(24)],
    "langsmith-key": ["lsv2_pt_" + drawn(32, HEX) + "_" + drawn(10, HEX)],
    "pinecone-key": ["pcsk_" + drawn(60)],
    "jina-key": ["jina_" + drawn(50)],
    "firecrawl-key": ["fc-" + drawn(32, HEX)],
    "elevenlabs-key": ["sk_" + drawn(48, HEX)],
    "github-token": [
        *("gh" + letter + "_" + drawn(36) for letter in "pousr"),
        "github_" + "pat_" + drawn(22) + "_" + drawn(59),
    ],
    "gitlab-token": ["gl" + "pat-" + drawn(20), "GR1348941" + drawn(20)],
    "bitbucket-token": ["ATBB" + drawn(32)],
    "atlassian-token": ["ATATT3" + drawn(180) + "=" + drawn(8, CAP)],
    "npm-token": ["npm_" + drawn(36)],
    "pypi-token": ["pypi-" + "AgEIcHlwaS5vcmc" + drawn(70)],
    "docker-token": ["dckr_" + "pat_" + drawn(27)],
    "rubygems-token": ["rubygems_" + drawn(48, HEX)],
    "crates-token": ["cio" + drawn(32)],
    "nuget-key": ["oy2" + drawn(43, string.ascii_lowercase + string.digits)],
    "clojars-token": ["CLOJARS_" + drawn(60, HEX)],
    "artifactory-key": ["AKCp" + drawn(60), "cmVmdGtu" + drawn(56)],
    "circleci-token": ["CCIPAT_" + drawn(22) + "_" + drawn(40, HEX)],
    "buildkite-token": ["bkua_" + drawn(40, HEX)],
    "sonar-token": ["sqp_" + drawn(40, HEX)],
    "sourcegraph-token": ["sgp_" + drawn(16, HEX) + "_" + drawn(40, HEX)],
    "octopus-key": ["API-" + drawn(28, CAP)],
    "aws-access-key": ["AKIA" + drawn(16, CAP), "ASIA" + drawn(16, CAP)],
    "google-api-key": ["AIza" + drawn(35)],
    "google-oauth": ["ya29." + drawn(80), "GOCSPX-" + drawn(28), "1//0" + drawn(60)],
    "firebase-key": ["AAAA" + drawn(7) + ":" + drawn(140)],
    "azure-client-secret": [drawn(3) + "8Q~" + drawn(34)],
    "alibaba-key": ["LTAI" + drawn(20)],
    "tencent-key": ["AKID" + drawn(32)],
    "digitalocean-token": ["dop_v1_" + drawn(64, HEX)],
    "heroku-key": ["HRKU-" + drawn(60)],
    "fly-token": ["fm2_" + drawn(100), "fo1_" + drawn(43)],
    "render-key": ["rnd_" + drawn(32)],
    "netlify-token": ["nfp_" + drawn(36)],
    "vercel-token": ["vcp_" + drawn(56)],
    "cloudflare-key": ["v1.0-" + drawn(24, HEX) + "-" + drawn(146, HEX)],
    "supabase-key": ["sbp_" + drawn(40, HEX), "sb_secret_" + drawn(31)],
    "planetscale-token": ["pscale_tkn_" + drawn(43)],
    "neon-password": ["npg_" + drawn(16)],
    "tailscale-key": ["tskey-auth-" + drawn(17) + "-" + drawn(32)],
    "pulumi-token": ["pul-" + drawn(40, HEX)],
    "terraform-token": [drawn(14) + ".atlasv1." + drawn(64)],
    "vault-token": ["hvs." + drawn(24)],
    "doppler-token": ["dp.pt." + drawn(43)],
    "databricks-token": ["dapi" + drawn(32, HEX)],
    "onepassword-token": ["ops_eyJ" + drawn(200)],
    "slack-token": ["xoxb-" + drawn(12, string.digits) + "-" + drawn(24), "xapp-1-" + drawn(60)],
    "discord-token": ["M" + drawn(25) + ".G" + drawn(5) + "." + drawn(38)],
    "telegram-token": [drawn(10, "123456789") + ":AA" + drawn(33)],
    "twilio-key": ["SK" + drawn(32, HEX), "AC" + drawn(32, HEX)],
    "sendgrid-key": ["SG." + drawn(22) + "." + drawn(43)],
    "mailgun-key": ["key-" + drawn(32, HEX)],
    "mailchimp-key": [drawn(32, HEX) + "-us12"],
    "brevo-key": ["xkeysib-" + drawn(64, HEX) + "-" + drawn(16)],
    "resend-key": ["re_" + drawn(8) + "_" + drawn(24)],
    "stripe-key": ["sk_" + "live_" + drawn(24), "rk_" + "test_" + drawn(24)],
    "stripe-webhook-secret": ["whsec_" + drawn(32)],
    "square-token": ["sq0atp-" + drawn(22), "EAAA" + drawn(60)],
    "shopify-token": ["shpat_" + drawn(32, HEX)],
    "plaid-token": ["access-sandbox-" + UUID],
    "razorpay-key": ["rzp_live_" + drawn(14)],
    "flutterwave-key": ["FLWSECK-" + drawn(32, HEX) + "-X"],
    "paypal-token": ["access_token$production$" + drawn(16, HEX) + "$" + drawn(32, HEX)],
    "easypost-key": ["EZAK" + drawn(54)],
    "shippo-key": ["shippo_live_" + drawn(40, HEX)],
    "linear-key": ["lin_api_" + drawn(40)],
    "notion-token": ["ntn_" + drawn(46), "secret_" + drawn(43)],
    "airtable-token": ["pat" + drawn(14) + "." + drawn(64, HEX)],
    "hubspot-token": ["pat-na1-" + UUID],
    "asana-token": ["1/" + drawn(16, string.digits) + ":" + drawn(32, HEX)],
    "clickup-token": ["pk_" + drawn(8, string.digits) + "_" + drawn(32, CAP)],
    "figma-token": ["figd_" + drawn(40)],
    "postman-key": ["PMAK-" + drawn(24, HEX) + "-" + drawn(34, HEX)],
    "grafana-token": ["glsa_" + drawn(32) + "_" + drawn(8, HEX), "glc_eyJ" + drawn(60)],
    "newrelic-key": ["NRAK-" + drawn(27, CAP), drawn(36, HEX) + "NRAL"],
    "sentry-token": ["sntrys_" + drawn(60), "sntryu_" + drawn(64, HEX)],
    "posthog-key": ["phx_" + drawn(43)],
    "launchdarkly-key": ["sdk-" + UUID],
    "mapbox-token": ["sk.eyJ" + drawn(60) + "." + drawn(22)],
    "dropbox-token": ["sl." + drawn(130)],
    "facebook-token": ["EAAC" + drawn(120)],
    "twitter-token": ["A" * 20 + "q" + drawn(20) + "%3D" + drawn(50)],
    "contentful-token": ["CFPAT-" + drawn(43)],
    "typeform-token": ["tfp_" + drawn(44)],
    "prefect-key": ["pnu_" + drawn(36)],
    "wakatime-key": ["waka_" + UUID],
    "readme-key": ["rdme_" + drawn(70, string.ascii_lowercase + string.digits)],
    "duffel-token": ["duffel_live_" + drawn(43)],
    "age-key": ["AGE-SECRET-KEY-1" + drawn(58, CAP)],
    "password-hash": [
        "$2b$" + "12$" + drawn(53),
        "$argon2id$" + "v=19$m=65536,t=3,p=4$" + drawn(22) + "$" + drawn(43),
        "$6$" + drawn(16) + "$" + drawn(86),
        "$pbkdf2-sha256$" + "29000$" + drawn(22) + "$" + drawn(43),
        "pbkdf2_sha256$" + "600000$" + drawn(22) + "$" + drawn(43) + "=",
    ],
    "api-key": ["acme_live_" + drawn(32)],
}
WEBHOOKS = {
    "slack-webhook": (
        "https://hooks.slack.com/services/",
        f"T{drawn(8, CAP)}/B{drawn(8, CAP)}/{drawn(24)}",
    ),
    "discord-webhook": ("https://discord.com/api/webhooks/123456789012345678/", drawn(68)),
    "teams-webhook": (
        "https://acme.webhook.office.com/webhookb2/",
        f"{UUID}@{UUID}/IncomingWebhook/{drawn(32)}",
    ),
    "zapier-webhook": ("https://hooks.zapier.com/hooks/catch/", "1234567/" + drawn(7)),
}
AROUND = [
    "{}",
    "found {} in the log",
    "'{}'",
    '{{"k": "{}"}}',
    'say \\"{}\\" twice',
    "one\\n{}\\ntwo",
    "\x1b[32m{}\x1b[0m",
    "\\u001b[1;31m{}\\u001b[0m",
    "go?x=%3D{}",
    "({}),",
    "caf\u00e9 \u2713 {} \U0001f600",
]
BEHIND = [
    "\u6211\u7684\u4ee4\u724c\u662f",
    "caf\u00e9",
    "backup_",
    "mcp__",
    "PROD_2_",
    "/srv/db-old_",
]


def test_every_format_of_the_table_has_an_example() -> None:
    assert {row.kind for row in FORMATS} == set(EXAMPLES) | set(WEBHOOKS)


@every("around", AROUND)
@every("kind", EXAMPLES)
def test_a_key_in_a_format_of_its_own_goes_wherever_it_stands(kind: str, around: str) -> None:
    for key in EXAMPLES[kind]:
        text = around.replace("{{", "{").replace("}}", "}").replace("{}", key)
        span = only(text)
        assert text[span.start : span.end] == key
        assert span.kind == kind


@every("before", BEHIND)
@every("kind", sorted({row.kind for row in FORMATS} - set(WEBHOOKS)))
def test_a_key_goes_behind_another_script_and_behind_a_name(kind: str, before: str) -> None:
    if kind in ("hubspot-token", "mailgun-key"):  # what reads names of settings comes first there
        return
    for key in EXAMPLES[kind]:
        assert key not in REDACTOR.redact(f"see {before}{key} here"), key


@pytest.mark.parametrize("kind", WEBHOOKS)
def test_a_webhook_keeps_its_host(kind: str) -> None:
    host, secret = WEBHOOKS[kind]
    span = only(f"curl -X POST {host}{secret} -d x")
    assert span.kind == kind
    assert REDACTOR.redact(host + secret) == host + REDACTOR.label(kind, secret)


def test_the_format_says_more_than_the_name() -> None:
    key = EXAMPLES["github-token"][0]
    assert (
        REDACTOR.redact(f"GITHUB_TOKEN={key}")
        == f"GITHUB_TOKEN={REDACTOR.label('github-token', key)}"
    )
    assert found_in(f"https://{key}:x-oauth-basic@github.com/o/r") == [key]


def test_a_web_token_goes_also_when_it_was_cut() -> None:
    head, payload = (b64(part).rstrip("=") for part in ('{"alg":"HS256"}', '{"sub":"bob","n":1}'))
    signed = f"{head}.{payload}.{drawn(43)}"
    assert [span.kind for span in REDACTOR.find(f"cookie jar: {signed}")] == ["jwt"]
    assert found_in(f"'{signed}'") == [signed]
    assert found_in(f"Bearer {head}.{payload}") == [f"{head}.{payload}"]
    assert found_in(f"data:application/json;base64,{head}") == []


# ------------------------------------------------------------------------------------- key blocks


@every("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@every("newline", ["\n", "\r\n", "\\n", "\\\\n", "\n    ", "\n> ", "\n+"])
def test_a_key_block_goes_whole(kind: str, newline: str) -> None:
    block = pem(kind, newline=newline)
    text = f"before {block} after"
    span = only(text)
    assert (text[span.start : span.end], span.kind) == (block, "private-key")


def test_a_key_block_with_headers_and_of_other_makes() -> None:
    body = "\n".join(drawn(64, STANDARD, seed=str(i)) for i in range(3))
    for text in [
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789"
        f"\n\n{body}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{body}\n=abcd\n"
        "-----END PGP PRIVATE KEY BLOCK-----",
        f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 3\n{body}\nPrivate-MAC: {drawn(64, HEX)}",
        "client-key-data: " + b64(f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n"),
        '{"kty": "RSA", "n": "public", "e": "AQAB", "d": "' + drawn(86) + '"}',
    ]:
        left = REDACTOR.redact(text)
        assert "[REDACTED:private-key:" in left
        assert not any(line in left for line in body.split("\n"))


def test_a_key_block_that_was_cut_goes_as_far_as_it_stands() -> None:
    block = pem("RSA ", lines=6)
    for cut in range(80, len(block) - 40, 37):
        start = REDACTOR.redact(f"$ head -c {cut} id_rsa\n{block[:cut]}")
        assert block[60:80] not in start
        assert block[cut - 12 : cut] not in start
    tail = "\n".join(block.split("\n")[3:])
    left = REDACTOR.redact(f"$ tail -5 id_rsa\n{tail}\n$ ls")
    assert not any(line in left for line in block.split("\n")[3:-1])
    assert left.endswith("\n$ ls")


def test_a_key_block_that_a_viewer_shortened_or_another_one_follows() -> None:
    lines = pem("RSA ", lines=8).split("\n")
    shortened = "\n".join([*lines[:3], "[... 4 lines truncated ...]", *lines[-3:]])
    followed = "\n".join([*lines[:4], pem("EC ")])
    for text in (shortened, followed):
        left = REDACTOR.redact(text)
        assert not any(line in left for line in lines[1:-1] if line in text)


def test_one_key_has_one_label_in_a_file_and_in_json() -> None:
    label = REDACTOR.label("private-key", pem("EC "))
    assert REDACTOR.redact(pem("EC ")) == label
    assert REDACTOR.redact('{"k": "' + pem("EC ", newline="\\n") + '"}') == '{"k": "' + label + '"}'


# --------------------------------------------------------------------------------- what must stay

BENIGN = r"""
password = getpass.getpass("Password: ")
token: str
const token = await getToken()
const key = process.env.API_KEY;
token: ${{ secrets.GITHUB_TOKEN }}
token = os.environ["TOKEN"]
api_key=os.getenv("OPENAI_API_KEY")
SECRET_KEY = config("SECRET_KEY")
mysql -u root -p$PASSWORD
mysql -u root -p shop
mysql -uroot -p"${MYSQL_ROOT_PASSWORD}" db
curl -u "$USER:$PASS" https://x.example
curl -u "${USER}:${TOKEN}" https://x.example
curl -H "Authorization: Bearer $(gcloud auth print-access-token)" https://x.example
curl -s https://x.example | sudo bash
--password <password>
--api-key your-api-key-here
API_KEY=xxxxxxxxxxxxxxxx
OPENAI_API_KEY=sk-...
api_key: "sk-xxxxxxxxxxxxxxxxxxxxxxxx"
password: ********
password: null
token: None
password = None
"token": true
password: string;
password?: string
token_count: 123
max_tokens=4096
"input_tokens": 12345, "output_tokens": 99
tokenizer=AutoTokenizer.from_pretrained("bert-base-uncased")
{"token": "the", "pos": "DET"}
except: pass
author: Jane Doe
secretary: Bob
cat /etc/passwd
root:x:0:0:root:/root:/bin/bash
docker run -d -p 127.0.0.1:5432:5432 -u 1000:1000 postgres
docker login --username foo --password-stdin
mkdir -p /tmp/a/b
ssh -p 2222 user@host.example
ssh -i ~/.ssh/id_rsa user@host.example
git push -u origin feature/token-refresh
"id":"toolu_01A09q90qw90lq917835lq9"
msg_01XFDUDYJgAACzvnptvVoYEL
"requestId":"req_011CSHoEeqs5C35K2UUqR7Fy"
"sessionId":"3b1f7e0a-9c1d-4f2e-8a77-1234567890ab"
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
"signature":"EqQBCkgIARABGAIiQL8vYnJhbmNoX3Rlc3RfZGF0YV9mb3Jfc2lnbmF0dXJl"
nginx@sha256:0d17b565c37bcbd895e9d92315a05c1c3c9a29f762b011a10c54a66cd53c9b31
"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedA=="
checksum: sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhg==
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtQ8x9b0y1e5fABCDEFGHIJKLMNOPQRSTUVWXYZ user@host
-----BEGIN PUBLIC KEY-----
if "-----BEGIN RSA PRIVATE KEY-----" in text and "-----END RSA PRIVATE KEY-----" in text:
def login(username: str, password: str) -> Token:
self.password = password
const { password, token } = req.body
user.password = await bcrypt.hash(password, 10);
if password == stored_password:
password: z.string().min(8),
'password' => 'required|string|min:8',
<input type="password" name="password" placeholder="Password" />
"password": {"type": "string"}
"forgotPassword": "Forgot your password?"
Password must be at least 8 characters
The password is incorrect.
the password is required
password is stored in the vault
Error: password authentication failed for user "postgres"
[sudo] password for bob:
Enter password:
-p, --password string   The password to use
Authorization: Bearer <token>
headers: { Authorization: `Bearer ${token}` }
headers["Authorization"] = f"Bearer {token}"
Bearer token authentication
Cookie: theme=dark; lang=en
https://example.com/?page_token=abc
nextPageToken: "CAUQAA"
http://localhost:3000/@vite/client
git@github.com:user/repo.git
npm install @types/node@18.0.0
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
export TOKEN=$(cat token.txt)
PWD=/home/user/project
secretName: my-tls-secret
private_key_path: ~/.ssh/id_rsa
PASS src/app.test.ts
--- PASS: TestFoo (0.00s)
tests: { pass: 5, fail: 0 }
"special_tokens_map": {"eos_token": "<|endoftext|>"}
token = lexer.nextToken()
import { Token } from './token'
auth=none
src/auth/password.service.ts:45:12
PASSWORD_HASHERS = ['django.contrib.auth.hashers.Argon2PasswordHasher']
primary_key: id
cache_key: "user:123:profile"
zip -r out.zip dir
redis-cli -h localhost -p 6379
kubectl create secret generic db --from-literal=password=$PASS
openssl enc -aes-256-cbc -pass env:PASS
openssl req -new -key k.pem -out a.csr
echo y | sudo apt install x
550e8400-e29b-41d4-a716-446655440000
.token.keyword { color: #07a; }
unexpected token '<'
GOOGLE_APPLICATION_CREDENTIALS=/path/to/key.json
credentials: 'same-origin'
username/password: required
| password | string | The password |
connect(user=user, password=pw)
password_min_length=8
ACCESS_TOKEN_EXPIRE_MINUTES = 30
Added password validation to the signup form
The API key is read from the environment
risk-free-rate-calculation-2024
[main 4c1d09e] test: cover the admin login view Saved-State: c81f02ab6d35
make the login to use Change-Id: c81f02ab6d35
log in with the new form (password reset) Reviewed-In: 0c81f02ab6d35e7
file.py:1234:foo:bar:baz
""".strip().split("\n")


@every("line", BENIGN)
def test_what_is_no_secret_stays(line: str) -> None:
    assert REDACTOR.redact(line) == line
    as_json = '{"text": "' + line.replace("\\", "\\\\").replace('"', '\\"') + '"}'
    assert REDACTOR.redact(as_json) == as_json


def test_keys_inside_base64_stay() -> None:
    blob = (
        drawn(300, STANDARD) + "/" + "AKIA" + drawn(16, CAP) + "/" + drawn(300, STANDARD, seed="b")
    )
    assert REDACTOR.redact(blob) == blob


def test_keys_inside_base64_of_addresses_stay() -> None:
    blob = f"id={drawn(300)}_AKIA{drawn(16, CAP)}"
    assert REDACTOR.redact(blob) == blob


# ---------------------------------------------------------------------------------------- labels


def test_labels_join_equal_secrets_and_tell_different_ones_apart() -> None:
    one, other = "hunter2hunter2", "hunter3hunter3"
    assert REDACTOR.label("password", one) == REDACTOR.label("password", one)
    assert REDACTOR.label("password", one) != REDACTOR.label("password", other)
    assert REDACTOR.label("password", one) != Redactor(key=KEY[::-1]).label("password", one)
    left = REDACTOR.redact(f"PGPASSWORD={one} psql; mysql -p{one} db; curl -u a:{other} x")
    labels = [part.split("]")[0] for part in left.split("[REDACTED:")[1:]]
    assert labels[0] == labels[1] != labels[2]


@pytest.mark.parametrize(
    "line",
    [
        "SMTP_PASS={}",
        "app password: {}",
        "my gmail app password is {}, keep it",
        "EMAIL_PASSWORD='{}'",
        "  pass: '{}',",
        "use {} as the app password",
        "gmail pw: {} (app)",
        "Google app-specific password:\n{}",
        "the app password is {}; I put {} into the file",
    ],
)
@pytest.mark.parametrize(
    "drawn", ["qkvd xxne bhyl bdmd", "abqd-rtxe-mnop-qqes", "QKVD XXNE BHYL BDMD"]
)
def test_a_password_in_fours_goes_whole(line: str, drawn: str) -> None:
    redacted = REDACTOR.redact(line.replace("{}", drawn))
    assert not any(four in redacted for four in re.split("[ -]", drawn)), redacted
    assert redacted.count("[REDACTED:password:") == line.count("{}")


@pytest.mark.parametrize(
    "line",
    [
        "the password does this when that test runs well",
        "change your password then come back here soon",
        "pass over from here then test",
    ],
)
def test_four_words_of_four_letters_stay(line: str) -> None:
    assert REDACTOR.redact(line) == line


def test_a_secret_that_could_be_guessed_has_no_digest() -> None:
    assert REDACTOR.label("password", "1234567") == "[REDACTED:password]"
    assert REDACTOR.label("password", "12345678").startswith("[REDACTED:password:")


@pytest.mark.parametrize(
    "line",
    [
        "the login for Admin-Panel: {}",  # a name as a trailer has it, and no id behind it
        "login is broken Db-Password: {}",
        "the wifi here, Guest-Login: {}",
    ],
)
def test_what_looks_like_a_trailer_hides_no_password(line: str) -> None:
    assert REDACTOR.redact(line.format("hunter42x")).endswith("]")


def test_a_trailer_that_names_a_secret_hides_none() -> None:
    assert REDACTOR.redact("login fixed, Db-Password: c81f02ab6d35").endswith("]")
    assert REDACTOR.redact("for the new Nas-Login: c81f02ab6d35").endswith("]")


def test_a_label_stays_where_a_secret_would_stand() -> None:
    for label in (REDACTOR.label("password", "pwd"), REDACTOR.label("token", drawn(40))):
        for line in [
            "password={}",
            '"password": "{}"',
            "sshpass -p '{}' ssh x",
            "curl -u a:{} x",
            "https://u:{}@h/x",
            "Authorization: Bearer {}",
            "mysql -p{}",
            "token: {}",
        ]:
            assert REDACTOR.redact(line.replace("{}", label)) == line.replace("{}", label)


def test_a_label_that_was_cut_stays_too() -> None:
    line = f"password={REDACTOR.label('password', 'hunter2hunter2')}"
    for cut in range(len("password=[REDACTED"), len(line)):
        assert REDACTOR.redact(line[:cut]) == line[:cut]


def test_a_made_up_label_hides_no_key() -> None:
    key = EXAMPLES["github-token"][0]
    assert key not in REDACTOR.redact(f"[REDACTED:{key}]")
    assert key not in REDACTOR.redact(f"password=[REDACTED:token:{key}]")


# -------------------------------------------------------------------------- what holds for any text

FRAGMENTS = [
    *(
        "password",
        "PASSWORD",
        "passwd",
        "token",
        "api_key",
        "secret",
        "Authorization",
        "Cookie",
        "pass",
    ),
    *(
        "=",
        ": ",
        '"',
        "'",
        '\\"',
        "\\n",
        "\n",
        " ",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        ",",
        ";",
        "|",
        "&",
        "?",
    ),
    *("hunter2", "swordfish", drawn(32), drawn(20, HEX), "$X", "${X}", "<x>", "***", "your-key"),
    *("sshpass -p ", "curl -u a:", "mysql -p", "| sudo -S ", "echo ", "<<< ", "Bearer ", "Basic "),
    *("https://", "u:p4ssw0rd@", "host/path", "-----BEGIN RSA PRIVATE KEY-----", "\n" + drawn(64)),
    *("-----END RSA PRIVATE KEY-----", "eyJhbGciOiJIUzI1NiJ9", ".", EXAMPLES["github-token"][0]),
    *(
        "AKIA" + drawn(16, CAP),
        "[REDACTED:password]",
        "[REDACTED:",
        "caf\u00e9",
        "\u2192",
        "\ud800",
        "\U0001f600",
    ),
    *("htpasswd -b ", "docker login ", "login a password ", "-p ", "--token ", "export "),
    *(
        "'\\''",
        "''",
        "-e '",
        "DB_PASSWORD=",
        ";password=",
        "user=a;",
        "<(printf '",
        "IDENTIFIED BY ",
    ),
    *("the password is ", " is the password", "changed from ", " to ", "admin / ", "PWD={", "key "),
    *('variable "password" {\n default = ', "<Value>", "recovery codes: ", "<<EOF\nbob\n", "\nEOF"),
]
ANY_TEXT = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join),
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=8)), max_size=30).map("".join),
)


@settings(max_examples=examples(100), deadline=None)
@given(text=ANY_TEXT)
@example(text="")
@example(text="password")
@example(text="auth=('a','")
@example(text="\ud800password=hunter2\udfff")
def test_any_text_is_redacted_once_and_for_all(text: str) -> None:
    spans = REDACTOR.find(text)
    done = 0
    pieces: list[str] = []
    for span in spans:
        assert done <= span.start < span.end <= len(text)
        assert span.kind in KINDS
        pieces += [text[done : span.start], REDACTOR.label(span.kind, text[span.start : span.end])]
        done = span.end
    redacted = REDACTOR.redact(text)
    assert redacted == "".join([*pieces, text[done:]])
    assert REDACTOR.redact(redacted) == redacted


def test_offsets_hold_behind_any_character() -> None:
    for before in [
        "",
        "caf\u00e9 ",
        "\u65e5\u672c\u8a9e ",
        "\U0001f600\U0001f600 ",
        "\ud800 ",
        "\x00\x01 ",
    ]:
        text = f"{before}password=hunter2"
        assert found_in(text) == ["hunter2"]


HOSTILE = [
    *(
        "password=",
        'password:"',
        '\\"password\\":\\"',
        "a",
        "token=[",
        "eyJ",
        "eyJhbGciOiJI.",
        "://a:",
    ),
    *(
        "sk-",
        "ghp_",
        "AKIA",
        "xoxb-",
        "curl -u a:",
        "sshpass -p ",
        'curl "',
        "curl 'a\\",
        "| sudo ",
    ),
    *(
        "<<< ",
        "Bearer ",
        "Cookie: a=b; ",
        "cookie=",
        "{{",
        "password={{",
        "login a password ",
        ":5432:",
    ),
    *("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "Private-Lines: 1\nAAAA"),
    *('"kty"', "LS0tLS1CRUdJTi", "?sig=", "pass:", "9Q~", "0:AA", ".Abcdef.", "$6$", "[REDACTED:"),
    *(
        "\\",
        '"',
        "`",
        "\u201c",
        "\ud800",
        "htpasswd -b a b ",
        "bw login ",
        "password value=",
        "<password>",
    ),
    *("'\\''", "password='\\''", "''", "a=b;password=", "the password is ", "password (a) is "),
    *(
        "echo a | su ",
        "(echo a; ",
        "<(printf '",
        "ap-secrets\na b c *\n",
        "recovery codes: a1b2-c3d4 ",
    ),
    *("login a/b1 ", "cat <<EOF\na\nb1c2d\n", "password changed from a1b2c to ", "token a1b2-"),
    *('variable "password" {\n', "secret key is ", "-password 'echo ", "impacket-a b/c:d@"),
]


@every("unit", HOSTILE)
def test_the_work_grows_with_the_length_of_a_hostile_text(unit: str) -> None:
    small, large = _work(unit, 2_000), _work(unit, 16_000)
    # Eight times the text; a second pass over what was redacted may double the work.
    assert large <= 20 * small + 2_000


STEPS = 12.0  # for each character; the slowest shape takes 8, and took 446 before crowds were known
SLOWEST = {"'mysql -p' + '`'", "'PAT=' + 'a:'", "'curl -u a:' + '.'", "'' + '<'", "'AKIA' + ''"}
SHAPES = [
    (name, text)
    for n, (name, text) in enumerate(hostile.texts(3 * CROWD_CHARS))
    if n % 307 == 0 or name in SLOWEST or name.startswith("mixed")
]


DEAR_STEPS = 15.0  # for each character; the dearest takes 13, and the first of these took 69
# Hints so far apart that each is read: what reads on from one met most of what the last one did.
DEAR = [
    bait + hostile.text_of(filler, room - len(bait)) + end
    for bait, filler, room, end in (
        ("keyMaterial ", "a:", 60, ""),
        ("mysql -p", '"', 44, ""),
        ("sshpass -p ", "\\", 44, ""),
        ("credential", "=", 44, ""),
        ("PAT=", "-", 44, ""),
        ("passwort ist ", "A1b2C3d4", 60, "\n"),
    )
]


@pytest.mark.parametrize("unit", DEAR)
def test_hints_that_are_dear_to_read_make_a_crowd_sooner(unit: str) -> None:
    text = hostile.text_of(unit, 3 * CROWD_CHARS)
    assert _steps(text) <= DEAR_STEPS * len(text)


# Hints so far apart that each is read, and how many steps each character takes at most: it took
# 5 to 18 while what stands behind a hint was looked at again and again.
REREAD = [
    ("docker run -e A=", "\\", 314, "", 1.5),
    ("mysql -p", '"', 181, "", 1.5),
    ("mysql -p", '\\"', 181, "", 2.0),
    ("curl -u a:", "is ", 214, "", 6.5),
    ("-us1", "a", 14, "\n", 3.5),
    ("client_secret", "\u00e9", 14, "", 5.0),
    ("contrase\u00f1a ", '\\"', 150, "\n", 4.0),
    ("password=", "a1", 33, "\n", 7.5),
    ("PAT=", "A1b2C3d4", 60, "\n", 4.0),
    ("password is ", "a", 61, "\n", 4.7),
]


@pytest.mark.parametrize(("bait", "filler", "room", "end", "most"), REREAD)
def test_what_stands_behind_a_hint_is_read_once(
    bait: str, filler: str, room: int, end: str, most: float
) -> None:
    unit = bait + hostile.text_of(filler, room - len(bait)) + end
    text = hostile.text_of(unit, 3 * CROWD_CHARS)
    assert _steps(text) <= most * len(text)


@pytest.mark.parametrize("length", [1, 20, 60, 5000])
def test_rows_of_the_words_of_wallets_take_few_steps(length: int) -> None:
    words = random.Random(3).choices(list(wallets._places()), k=5000)
    rows = (words[n : n + length] for n in range(0, len(words), length))
    text = " xyzzyqq ".join(map(" ".join, rows))
    redacted = REDACTOR.redact(text)
    assert REDACTOR.redact(redacted) == redacted
    assert _steps(text) <= STEPS / 2 * len(text)
    assert (redacted.count("[REDACTED:seed-phrase:") == 1) == (length == 5000)


def test_what_was_just_redacted_is_not_read_again() -> None:
    redacted = REDACTOR.redact("My password is hunter2x. " + "The sun is warm. " * 200)
    assert _steps(redacted) <= 10


@every(("name", "text"), SHAPES)
def test_no_text_takes_many_steps_for_each_of_its_characters(name: str, text: str) -> None:
    assert _steps(text) <= STEPS * len(text)


def test_what_is_nothing_but_hints_is_withheld_whole() -> None:
    before, behind = "The sun is warm.\n" * 500, "The dog is brown.\n" * 500
    redacted = REDACTOR.redact(f"{before}{'password: a1 ' * 2000}\n{behind}")
    left, _, right = redacted.partition("[REDACTED:unread:")
    assert left.startswith(before[:8000])
    assert right.endswith(behind[-8000:])
    assert len(redacted) < len(before) + len(behind) + 9_000
    assert REDACTOR.redact(redacted) == redacted


def test_a_text_full_of_secrets_is_still_read() -> None:
    lines = [f"DB_{n}_PASSWORD={drawn(14, seed=str(n))} # of host {n}" for n in range(1000)]
    redacted = REDACTOR.redact("\n".join(lines))
    assert "unread" not in redacted
    assert redacted.count("_PASSWORD=[REDACTED:password:") == 1000


def test_every_family_of_hints_has_its_baits() -> None:
    for hint, _, _ in scanner._FAMILIES:
        pattern = re2.compile(hint)
        assert sum(pattern.search(bait + " ") is not None for bait in hostile.BAITS) >= 2, hint


def _work(unit: str, size: int) -> int:
    """Count the calls that redacting a text takes; each looks at a bounded part of it."""
    return _steps((unit * (size // len(unit) + 1))[:size])


def _steps(text: str) -> int:
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        REDACTOR.redact(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("unit", ["API key | ", "token: x\n", "zip file, curl -k x\n", "\u2192 "])
def test_nothing_is_copied_or_searched_to_the_end_of_a_long_text(unit: str) -> None:
    small, large = (_seconds(unit, size) for size in (40_000, 1_280_000))
    # 32 times the text; what grows with the square of it takes a thousand times as long.
    assert large <= 250 * max(small, 0.004)


def _seconds(unit: str, size: int) -> float:
    text = (unit * (size // len(unit) + 1))[:size]
    start = time.process_time()
    REDACTOR.redact(text)
    return time.process_time() - start


@pytest.mark.parametrize(
    "unit", ["x", "://", '\\"', "password ", "-----BEGIN ", "eyJ", "\u2192 ", '{"a": ']
)
def test_a_megabyte_of_anything_is_read_to_its_end(unit: str) -> None:
    text = (unit * (1_000_000 // len(unit)))[:1_000_000] + "\npassword=hunter2\n"
    assert REDACTOR.redact(text).endswith("\npassword=[REDACTED:password]\n")


def test_a_secret_that_is_longer_than_what_is_looked_at_goes_to_its_end() -> None:
    secret = drawn(20_000, MIXED)
    assert found_in(f"API_KEY={secret} next") == [secret]
    assert found_in(f'"api_key": "{secret[:3000]}", "x": 1') == [secret[:3000]]


# ------------------------------------------------------------------------------- decoded objects


def test_the_name_of_a_field_tells_what_its_value_is() -> None:
    value = {
        "user": "bob",
        "password": "swordfish",
        "pin": 1234,
        "passcode": 12345678,
        "nested": [{"apiKey": drawn(32)}, "export TOKEN=" + drawn(32), 3, None, True, 1.5],
        "argv": ["mysql", "--password", "swordfish", "db"],
        "env": [{"name": "DB_PASSWORD", "value": "swordfish"}],
        "headers": {"Authorization": "Bearer " + drawn(40)},
    }
    before = repr(value)
    safe: Any = REDACTOR.redact_value(value)
    assert repr(value) == before
    assert drawn(32) not in repr(safe)
    assert "swordfish" not in repr(safe)
    assert drawn(40) not in repr(safe)
    assert safe["user"] == "bob"
    assert safe["pin"] == 1234
    assert safe["passcode"] == REDACTOR.label("password", "12345678")
    assert safe["nested"][2:] == [3, None, True, 1.5]
    assert safe["argv"][0] == "mysql"
    assert REDACTOR.redact_value(safe) == safe


def test_secrets_in_names_of_fields_go_without_losing_a_field() -> None:
    safe: Any = REDACTOR.redact_value({"password=abc123": 1, "password=abc124": 2})
    assert sorted(safe.values()) == [1, 2]
    assert "abc12" not in repr(safe)


def test_an_object_of_any_depth_is_walked() -> None:
    value: Any = "password=hunter2"
    for _ in range(100_000):
        value = [value]
    safe: Any = REDACTOR.redact_value(value)
    while isinstance(safe, list):
        (safe,) = safe
    assert safe == "password=[REDACTED:password]"


def test_no_redaction_changes_nothing() -> None:
    line = "password=hunter2"
    assert NO_REDACTION.redact(line) == line
    assert NO_REDACTION.find(line) == []
    assert NO_REDACTION.label("password", line) == line
    assert NO_REDACTION.redact_field("password", "swordfish") == "swordfish"
    value = {"password": "swordfish"}
    assert NO_REDACTION.redact_value(value) is value


# --------------------------------------------------------------------------------------- the key


def test_a_short_key_is_refused_in_one_sentence() -> None:
    with pytest.raises(UsageError, match="has 15 bytes and needs 16 or more"):
        Redactor(key=bytes(15))
    Redactor(key=bytes(16))
    Redactor(key=bytes(200))


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "state" / "redaction.key"
    key = load_key(file)
    assert len(key) == 32
    assert load_key(file) == key
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.iterdir()] == ["redaction.key"]
    assert load_key(tmp_path / "other.key") != key


def test_a_key_file_that_others_can_read_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "k"
    key = load_key(file)
    file.chmod(0o644)
    assert load_key(file) == key
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_key_file_that_is_no_key_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "k"
    file.write_bytes(b"short")
    with pytest.raises(
        KeyFileError, match=r"k cannot be used \(it holds 5 bytes, not 32\); restore"
    ):
        load_key(file)
    file.write_bytes(bytes(33))
    with pytest.raises(KeyFileError, match=r"it holds 33 bytes, not 32"):
        load_key(file)
    with pytest.raises(KeyFileError, match="Is a directory"):
        load_key(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(KeyFileError, match=r"Not a directory|File exists"):
        load_key(tmp_path / "file" / "k")


def test_a_reader_waits_for_a_key_that_is_being_written(tmp_path: Path) -> None:
    file = tmp_path / "k"
    file.touch(mode=0o600)

    def fill() -> None:
        time.sleep(0.1)
        file.write_bytes(KEY)

    writer = threading.Thread(target=fill)
    writer.start()
    assert load_key(file) == KEY
    writer.join()


def test_without_hard_links_the_first_writer_wins_too(tmp_path: Path) -> None:
    file = tmp_path / "k"
    _make_in_place(file)
    key = load_key(file)
    _make_in_place(file)
    assert load_key(file) == key


def _load_in_another_process(paths: list[str], gate: Any, answers: Any) -> None:
    for path in paths:
        gate.wait()
        answers.put((path, load_key(path)))


def test_processes_that_make_the_key_at_once_share_one(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    gate, answers = context.Barrier(2), context.Queue()
    paths = [os.fspath(tmp_path / f"key{n}") for n in range(3)]
    workers = [
        context.Process(target=_load_in_another_process, args=(paths, gate, answers))
        for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    found = [answers.get(timeout=60) for _ in paths * len(workers)]
    for worker in workers:
        worker.join()
    assert set(found) == {(path, load_key(path)) for path in paths}


# -------------------------------------------------------------------------------------- the page


def test_the_page_names_every_kind() -> None:
    page = (Path(__file__).parent.parent / "docs" / "redaction.md").read_text(encoding="utf-8")
    assert [kind for kind in sorted(KINDS) if f"`{kind}`" not in page] == []


# --- what people write by hand --------------------------------------------------------------------

SLOPPY = list(sloppy.sloppy_lines(kept=False))


def test_sloppy_lines_lose_their_secrets_and_nothing_else() -> None:
    secrets = found = 0
    for line in SLOPPY:
        spans = REDACTOR.find(line.text)
        if not line.spans:
            assert spans == [], line.text
        covered = {i for one in spans for i in range(one.start, one.end)}
        secrets += len(line.spans)
        found += sum(covered.issuperset(range(low, high)) for low, high, _ in line.spans)
    assert found >= 0.86 * secrets


@given(
    line=st.sampled_from([one.text for one in SLOPPY if one.spans]),
    before=st.text(max_size=30),
    behind=st.text(max_size=30),
)
def test_a_text_with_a_sloppy_secret_is_redacted_once_and_for_all(
    line: str, before: str, behind: str
) -> None:
    redacted = REDACTOR.redact(f"{before}{line}{behind}")
    assert REDACTOR.redact(redacted) == redacted


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("changed the password from Sommer2019! to Winter#2020x", "changed the password from"),
        ("cambié la contraseña de Perro4455 a Gato99perro", "cambié la contraseña de"),
        ("mudei a senha de Carro2020x para Benfica8105", "mudei a senha de"),
        ("user/password (marta/Pferd77!)", "user/password (marta/"),
        ("Zugangsdaten: anna / Kuh5tall!", "Zugangsdaten: anna /"),
        ("credentials → ops@x.example / Kirsche_77", "credentials → ops@x.example /"),
        ("mot de passe : chouette-1987", "mot de passe :"),
    ],
)
def test_both_passwords_and_the_second_of_a_pair_go(text: str, left: str) -> None:
    redacted = REDACTOR.redact(text)
    assert redacted.startswith(left)
    secret = re.compile(r"[A-Za-z]+[#_-]?\d+[A-Za-z0-9!]*")
    assert secret.search(re.sub(r"\[REDACTED:[^\]]*\]", "", redacted)) is None


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("the alarm code is 9031# at night", ["9031#"]),
        ("SSID Elch, key Wq83nTr5xe", ["Wq83nTr5xe"]),
        ("Enter passphrase: mint-otter-plank", ["mint-otter-plank"]),
        ("pass Regen!bogen", ["Regen!bogen"]),
        ("test accounts: (nadia/Quitte2020, omar/Feige2021)", ["Quitte2020", "Feige2021"]),
        ("u: bob p: Kirsche77x", ["Kirsche77x"]),
        ("netflix: ana@x.example / Sommer#88", ["Sommer#88"]),
        ("bob:Kirsche_77@tcp(db:3306)/shop", ["Kirsche_77"]),
    ],
)
def test_a_pair_or_a_word_for_a_key_tells_what_is_no_ordinary_word(
    text: str, secrets: list[str]
) -> None:
    assert [text[one.start : one.end] for one in REDACTOR.find(text)] == secrets


@pytest.mark.parametrize(
    "text",
    [
        *("the error code is 4041", "see issue 903#comment", "SSID Elch, key missing"),
        *("pass the salt! and pepper", "the accounts (nadia/omar) are closed", "u: bob p: none"),
        *("netflix: ana@x.example is the owner", "git@github.com:bob/shop2.git"),
        *("write to ana@x.example about Q3-2024", "the wifi name is FritzBox7590"),
    ],
)
def test_an_ordinary_word_in_such_a_place_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text


ABANDON = " ".join(["abandon"] * 11)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{ABANDON} about", "seed-phrase"),
        (
            "legal winner thank year wave sausage worth useful legal winner thank yellow",
            "seed-phrase",
        ),
        (
            "\n".join(f"{n}. {w}" for n, w in enumerate(f"{ABANDON} about".split(), 1)),
            "seed-phrase",
        ),
        ("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", "wallet-key"),
    ],
)
def test_the_checksum_of_a_wallet_tells_its_key(text: str, kind: str) -> None:
    assert [one.kind for one in REDACTOR.find(text)] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        f"{ABANDON} abandon",  # the checksum is another
        "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTK",
        "any able young people can enter this club after school every day this year again",
    ],
)
def test_what_only_looks_like_the_key_of_a_wallet_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text


@every("mark", ["{:>4}: ", "  {} | ", "{:>6}\t", "+", "> ", "{}→", "    ", '"'])
@every("framed", [True, False])
def test_a_key_with_something_before_each_of_its_lines_goes(mark: str, *, framed: bool) -> None:
    body = [f"MIIEpAIBAAKCAQEA{drawn(48)}", *(drawn(64, seed=str(n)) for n in range(8))]
    lines = body
    if framed:
        lines = ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"]
    redacted = REDACTOR.redact("\n".join(mark.format(n) + one for n, one in enumerate(lines, 1)))
    assert not any(one[i : i + 16] in redacted for one in body for i in (0, 16, 32))


def test_a_line_of_a_cookie_jar_loses_its_value() -> None:
    line = f"#HttpOnly_.example.com\tTRUE\t/\tTRUE\t1893456000\tauth_token\t{drawn(24)}"
    assert REDACTOR.redact(line).rsplit("\t", 1)[1].startswith("[REDACTED:cookie:")
    plain = ".example.com\tTRUE\t/\tFALSE\t0\tlang\tenglish"
    assert REDACTOR.redact(plain) == plain
