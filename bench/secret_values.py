"""Make random secret values of the right format, one maker per kind.

Knows what each kind of secret looks like (prefix, alphabet, length) and how a password must be
quoted at the place where it stands. Knows nothing of the lines around a secret and nothing of any
redactor. Values are made at run time, so no string of the repository looks like a live key.
"""

from __future__ import annotations

import base64
import html
import json
import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

Maker = Callable[[random.Random], str]

_ALNUM = string.ascii_letters + string.digits
_URLSAFE = _ALNUM + "-_"
_BASE64 = _ALNUM + "+/"
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits
_BASE32 = string.ascii_uppercase + "234567"


def chars(rng: random.Random, alphabet: str, n: int) -> str:
    """Draw `n` characters of an alphabet."""
    return "".join(rng.choices(alphabet, k=n))


def _bytes(rng: random.Random, n: int) -> bytes:
    return bytes(rng.getrandbits(8) for _ in range(n))


def b64(rng: random.Random, n: int) -> str:
    """Encode `n` random bytes in standard base64."""
    return base64.b64encode(_bytes(rng, n)).decode()


def _b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


# one letter per alphabet, for formats such as `ghp_{A36}`
ALPHABETS = {
    "A": _ALNUM,
    "U": _URLSAFE,
    "B": _BASE64,
    "H": _HEX,
    "C": _UPPER,
    "L": string.ascii_letters,
    "l": string.ascii_lowercase + string.digits,
    "D": string.digits,
    "T": _BASE32,
    "X": "0123456789ABCDEF",
    "K": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",  # bech32
}
_SLOT = re.compile(r"\{(\w)(\d+)\}")


def _shape(formats: str) -> Maker:
    """Make values after one of several formats, where `{H32}` is 32 characters of alphabet H."""
    options = formats.split()

    def make(rng: random.Random) -> str:
        def fill(slot: re.Match[str]) -> str:
            return chars(rng, ALPHABETS[slot[1]], int(slot[2]))

        return _SLOT.sub(fill, rng.choice(options))

    return make


def _one_of(*makers: Maker) -> Maker:
    return lambda rng: rng.choice(makers)(rng)


def jwt(rng: random.Random) -> str:
    """Make a signed-looking JSON web token with real header and claims."""
    alg, size = rng.choice([("HS256", 32), ("HS256", 32), ("RS256", 256), ("ES256", 64)])
    header = {"alg": alg, "typ": "JWT"}
    issued = rng.randrange(1_690_000_000, 1_790_000_000)
    claims = {
        "sub": str(rng.randrange(10**5, 10**9)),
        "role": rng.choice(["admin", "service_role", "user"]),
        "iat": issued,
        "exp": issued + 3600,
    }
    packed = [json.dumps(part, separators=(",", ":")).encode() for part in (header, claims)]
    return ".".join([*(_b64url(p) for p in packed), _b64url(_bytes(rng, size))])


def _session_token(rng: random.Random) -> str:
    return "IQoJb3JpZ2luX2Vj" + chars(rng, _BASE64, rng.randrange(280, 520)) + "=="


def _openai(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return f"sk-{chars(rng, _ALNUM, 20)}T3BlbkFJ{chars(rng, _ALNUM, 20)}"
    kind = rng.choice(["proj", "svcacct", "admin"])
    return f"sk-{kind}-{chars(rng, _URLSAFE, 74)}T3BlbkFJ{chars(rng, _URLSAFE, 74)}"


def _discord_bot(rng: random.Random) -> str:
    user = _b64url(str(rng.randrange(10**17, 10**18)).encode())
    return f"{user}.{chars(rng, _URLSAFE, 6)}.{chars(rng, _URLSAFE, 38)}"


def _mapbox(rng: random.Random) -> str:
    claims = json.dumps({"u": chars(rng, string.ascii_lowercase, 8), "a": chars(rng, _ALNUM, 25)})
    return f"sk.{_b64url(claims.encode())}.{chars(rng, _URLSAFE, 22)}"


def _sentry(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return "sntryu_" + chars(rng, _HEX, 64)
    claims = json.dumps({"iat": rng.randrange(10**9, 2 * 10**9), "url": "https://sentry.io"})
    return f"sntrys_{base64.b64encode(claims.encode()).decode()}_{chars(rng, _BASE64, 43)}"


def _uuid(rng: random.Random) -> str:
    h = chars(rng, _HEX, 32)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider's key format."""

    kind: str  # the kind under which its recall is counted
    make: Maker  # draws one value
    names: tuple[str, ...]  # the variable names that people keep it in
    distinct: bool  # recognisable by itself; otherwise it is only planted beside its name


# kind, format (`{H32}`: 32 characters of alphabet H), names; recognisable by themselves
_DISTINCT: tuple[tuple[str, str | Maker, str], ...] = (
    ("aws_access_key_id", "AKIA{T16} ASIA{T16}", "AWS_ACCESS_KEY_ID"),
    ("github_token", "ghp_{A36} gho_{A36} ghu_{A36} ghs_{A36} ghr_{A36}", "GITHUB_TOKEN GH_TOKEN"),
    ("github_fine_grained", "github_pat_{A22}_{A59}", "GITHUB_TOKEN GH_PAT"),
    ("gitlab_token", "glpat-{U19}{A1} gldt-{U19}{A1} glrt-{U19}{A1}", "GITLAB_TOKEN"),
    ("slack_bot_token", "xoxb-{D12}-{D13}-{A24}", "SLACK_BOT_TOKEN"),
    ("slack_user_token", "xoxp-{D12}-{D12}-{D12}-{H32}", "SLACK_USER_TOKEN SLACK_TOKEN"),
    ("slack_app_token", "xapp-1-A0{C9}-{D13}-{H64}", "SLACK_APP_TOKEN"),
    (
        "stripe_key",
        "sk_live_{A24} sk_live_51{A97} sk_test_51{A97} rk_live_{A24}",
        "STRIPE_SECRET_KEY",
    ),
    ("stripe_webhook_secret", "whsec_{A32}", "STRIPE_WEBHOOK_SECRET"),
    ("openai_key", _openai, "OPENAI_API_KEY"),
    ("anthropic_key", "sk-ant-api03-{U93}AA", "ANTHROPIC_API_KEY"),
    ("openrouter_key", "sk-or-v1-{H64}", "OPENROUTER_API_KEY"),
    ("google_api_key", "AIza{U34}{A1}", "GOOGLE_API_KEY GEMINI_API_KEY"),
    ("google_client_secret", "GOCSPX-{U27}{A1}", "GOOGLE_CLIENT_SECRET"),
    ("google_access_token", "ya29.a0{U160}", "GOOGLE_ACCESS_TOKEN"),
    ("azure_client_secret", "{A3}8Q~{U33}{A1}", "AZURE_CLIENT_SECRET ARM_CLIENT_SECRET"),
    ("npm_token", "npm_{A36}", "NPM_TOKEN NODE_AUTH_TOKEN"),
    ("pypi_token", "pypi-AgEIcHlwaS5vcmc{U150}", "PYPI_TOKEN TWINE_PASSWORD UV_PUBLISH_TOKEN"),
    ("sendgrid_key", "SG.{U22}.{U42}{A1}", "SENDGRID_API_KEY"),
    ("twilio_api_key", "SK{H32}", "TWILIO_API_KEY"),
    ("mailgun_key", "key-{H32}", "MAILGUN_API_KEY"),
    ("mailchimp_key", "{H32}-us7 {H32}-us21", "MAILCHIMP_API_KEY"),
    ("discord_bot_token", _discord_bot, "DISCORD_TOKEN DISCORD_BOT_TOKEN"),
    ("shopify_token", "shpat_{H32} shpss_{H32}", "SHOPIFY_ACCESS_TOKEN"),
    ("digitalocean_token", "dop_v1_{H64}", "DIGITALOCEAN_TOKEN DO_TOKEN"),
    ("huggingface_token", "hf_{L34}", "HF_TOKEN HUGGING_FACE_HUB_TOKEN"),
    ("replicate_token", "r8_{A37}", "REPLICATE_API_TOKEN"),
    ("newrelic_key", "NRAK-{C27}", "NEW_RELIC_API_KEY"),
    ("sentry_token", _sentry, "SENTRY_AUTH_TOKEN"),
    ("linear_key", "lin_api_{A40}", "LINEAR_API_KEY"),
    ("notion_token", "secret_{A43} ntn_{A46}", "NOTION_TOKEN NOTION_API_KEY"),
    ("airtable_token", "pat{A14}.{H64}", "AIRTABLE_API_KEY AIRTABLE_TOKEN"),
    ("figma_token", "figd_{U39}{A1}", "FIGMA_TOKEN FIGMA_API_KEY"),
    ("vault_token", "hvs.{U91}{A1}", "VAULT_TOKEN"),
    ("terraform_token", "{A14}.atlasv1.{A67}", "TF_TOKEN_app_terraform_io TFE_TOKEN"),
    ("doppler_token", "dp.pt.{A43}", "DOPPLER_TOKEN"),
    ("dockerhub_token", "dckr_pat_{U26}{A1}", "DOCKERHUB_TOKEN DOCKER_PAT"),
    ("databricks_token", "dapi{H32}", "DATABRICKS_TOKEN"),
    ("supabase_token", "sbp_{H40}", "SUPABASE_ACCESS_TOKEN"),
    ("planetscale_password", "pscale_pw_{U42}{A1}", "PLANETSCALE_PASSWORD"),
    ("groq_key", "gsk_{A52}", "GROQ_API_KEY"),
    ("xai_key", "xai-{A80}", "XAI_API_KEY"),
    ("perplexity_key", "pplx-{A48}", "PERPLEXITY_API_KEY"),
    ("mapbox_token", _mapbox, "MAPBOX_SECRET_TOKEN"),
    ("postman_key", "PMAK-{H24}-{H34}", "POSTMAN_API_KEY"),
    ("rubygems_key", "rubygems_{H48}", "GEM_HOST_API_KEY RUBYGEMS_API_KEY"),
    ("atlassian_token", "ATATT3xFfGF0{U171}={X8}", "JIRA_API_TOKEN ATLASSIAN_API_TOKEN"),
    ("grafana_token", "glsa_{A32}_{H8}", "GRAFANA_TOKEN GRAFANA_API_KEY"),
    ("tailscale_key", "tskey-auth-k{A11}CNTRL-{A32}", "TS_AUTHKEY TAILSCALE_AUTHKEY"),
    ("age_secret_key", "AGE-SECRET-KEY-1{K58}", "SOPS_AGE_KEY"),
    ("fly_token", "fm2_{B180}", "FLY_API_TOKEN"),
    ("netlify_token", "nfp_{A36}", "NETLIFY_AUTH_TOKEN"),
    ("artifactory_key", "AKCp8{A68}", "ARTIFACTORY_API_KEY JFROG_API_KEY"),
    ("brevo_key", "xkeysib-{H64}-{A16}", "BREVO_API_KEY SENDINBLUE_API_KEY"),
    ("buildkite_token", "bkua_{H40}", "BUILDKITE_API_TOKEN"),
    ("contentful_token", "CFPAT-{U42}{A1}", "CONTENTFUL_MANAGEMENT_TOKEN"),
    ("elevenlabs_key", "sk_{H48}", "ELEVENLABS_API_KEY XI_API_KEY"),
    ("pinecone_key", "pcsk_{A6}_{A63}", "PINECONE_API_KEY"),
    ("tavily_key", "tvly-dev-{A32}", "TAVILY_API_KEY"),
)
# the same, for formats that only the name beside them tells from other identifiers
_NAMED: tuple[tuple[str, str | Maker, str], ...] = (
    ("aws_secret_access_key", "{B39}{A1}", "AWS_SECRET_ACCESS_KEY"),
    ("aws_session_token", _session_token, "AWS_SESSION_TOKEN"),
    ("google_refresh_token", "1//0{U98}{A1}", "GOOGLE_REFRESH_TOKEN"),
    ("azure_storage_key", "{B86}==", "AZURE_STORAGE_KEY AZURE_STORAGE_ACCOUNT_KEY"),
    ("twilio_auth_token", "{H32}", "TWILIO_AUTH_TOKEN"),
    ("square_token", "EAAA{U59}{A1}", "SQUARE_ACCESS_TOKEN"),
    ("heroku_key", _uuid, "HEROKU_API_KEY"),
    ("cloudflare_token", "{A1}{U38}{A1}", "CLOUDFLARE_API_TOKEN CF_API_TOKEN"),
    ("datadog_key", "{H32}", "DD_API_KEY DATADOG_API_KEY"),
    ("vercel_token", "{A24}", "VERCEL_TOKEN"),
    ("cohere_key", "{A40}", "COHERE_API_KEY CO_API_KEY"),
    ("algolia_key", "{H32}", "ALGOLIA_ADMIN_API_KEY"),
    ("okta_token", "00{U39}{A1}", "OKTA_API_TOKEN"),
)
PROVIDERS: tuple[Provider, ...] = tuple(
    Provider(
        kind=kind,
        make=_shape(form) if isinstance(form, str) else form,
        names=tuple(names.split()),
        distinct=distinct,
    )
    for rows, distinct in ((_DISTINCT, True), (_NAMED, False))
    for kind, form, names in rows
)


def _basic_auth(rng: random.Random) -> str:
    return base64.b64encode(f"{rng.choice(_USERS)}:{password(rng, 'bare')}".encode()).decode()


def _apple_password(rng: random.Random) -> str:
    return "-".join(chars(rng, string.ascii_lowercase, 4) for _ in range(4))


def _k8s_data(rng: random.Random) -> str:
    plain = chars(rng, _ALNUM + "!-_", rng.randrange(10, 30))
    return base64.b64encode(plain.encode()).decode()


# Secrets that no provider's format marks: the lines around them say what they are.
KINDS: dict[str, Maker] = {
    "jwt": jwt,
    "bearer_token": _shape("{A32} {A1}{U41}{A1} {H40}"),
    "api_key": _one_of(_shape("{A32} {H32} {A24}"), _uuid),
    "client_secret": _one_of(_shape("{A40} {A1}{U41}{A1}"), _uuid),
    "webhook_secret": _shape("{H40} {A28}"),
    "signing_key": _one_of(_shape("{H64} {A1}{U48}{A1}"), lambda rng: b64(rng, 32)),
    "encryption_key": _one_of(_shape("{H64}"), lambda rng: b64(rng, 32)),
    "session_cookie": _shape("{H32} {l26} s%3A{U32}.{A43} {A40}"),
    "access_token": _one_of(_shape("{A40} {A1}{U62}{A1}"), jwt),
    "refresh_token": _shape("{A1}{U46}{A1} {H64}"),
    "login_link_token": _shape("{A1}{U41}{A1} {H64}"),
    "azure_sas_signature": lambda rng: quote(b64(rng, 32), safe=""),
    "azure_account_key": lambda rng: b64(rng, 64),
    "slack_webhook": _shape("{A24}"),
    "discord_webhook": _shape("{U67}{A1}"),
    "telegram_bot_token": _shape("AA{U32}{A1}"),
    "eth_private_key": _shape("0x{H64}"),
    "totp_secret": _shape("{T16} {T32}"),
    "registry_auth": lambda rng: b64(rng, 24),
    "k8s_secret_data": _k8s_data,
    "basic_auth": _basic_auth,
    "pin": _shape("{D4} {D5} {D6}"),
    "generated_password": _shape("{A14}{D2} {l10}{D2}{A2} {A20} {A7}-{A7}-{A7}"),
    "wandb_key": _shape("{H40}"),
    "openshift_token": _shape("sha256~{U42}{A1}"),
    "ngrok_token": _shape("2{A26}_{A21}"),
    "apple_app_password": _apple_password,
    "minio_secret_key": _shape("{A40}"),
    "wireguard_key": lambda rng: b64(rng, 32),
    "azure_bus_key": lambda rng: b64(rng, 32),
    "jupyter_token": _shape("{H48}"),
    "laravel_key": lambda rng: b64(rng, 32),
    "wp_salt": lambda rng: chars(rng, _ALNUM * 2 + "!@#%^&*()-_=+[]{}|;:,.<>?/~", 63) + "x",
    "django_key": lambda rng: chars(rng, ALPHABETS["l"] * 2 + "!@#$%^&*(-_=+)", 49) + "k",
    "fernet_key": lambda rng: b64(rng, 32).replace("+", "-").replace("/", "_"),
    "vault_unseal_key": lambda rng: b64(rng, 33),
    "kubeadm_token": _shape("{l6}.{l16}"),
    "swarm_token": _shape("SWMTKN-1-{l50}-{l25}"),
}

# What stands in front of the random part of a real private key body, by PEM label.
BLOCKS: dict[str, tuple[str, str, int]] = {
    "rsa_private_key": ("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA", 1592),
    "rsa_private_key_4096": ("RSA PRIVATE KEY", "MIIJKQIBAAKCAgEA", 3168),
    "pkcs8_private_key": ("PRIVATE KEY", "MIIEvgIBADANBgkqhkiG9w0BAQEFAASC", 1624),
    "encrypted_private_key": ("ENCRYPTED PRIVATE KEY", "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkq", 1780),
    "ec_private_key": ("EC PRIVATE KEY", "MHcCAQEEI", 160),
    "openssh_private_key": (
        "OPENSSH PRIVATE KEY",
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB",
        400,
    ),
    "pgp_private_key": ("PGP PRIVATE KEY BLOCK", "lQOY", 1400),
}
SHORT_BLOCKS = ("ec_private_key", "openssh_private_key")


def block(rng: random.Random, kind: str) -> tuple[str, str, str]:
    """Make a private key block as (first line, body, last line) with 64-column lines."""
    label, head, size = BLOCKS[kind]
    body = head + chars(rng, _BASE64, size - len(head) - 2) + "=="
    width = 70 if kind == "openssh_private_key" else 64
    lines = [body[i : i + width] for i in range(0, len(body), width)]
    if kind == "pgp_private_key":
        lines.append("=" + chars(rng, _BASE64, 4))
    return f"-----BEGIN {label}-----", "\n".join(lines), f"-----END {label}-----"


# ---------------------------------------------------------------- passwords, by where they stand


def _shell_double(text: str) -> str:
    return "".join("\\" + c if c in '\\"$`' else c for c in text)


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _same(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a password stands, which decides its characters and its quoting."""

    marks: str  # the special characters that may stand there
    rich: bool = False  # quotes protect it: spaces and letters beyond ASCII are possible
    plain_word: bool = True  # a dictionary word may stand there and still be seen as a password
    escape: Callable[[str], str] = _same  # what the surrounding syntax makes of the value


_ALL = "!@#$%^&*()_+-=[]{}|;:,.<>?/~'\"\\`"
PLACES: dict[str, Place] = {
    "bare": Place(marks="!@%^_+-=.,:/"),  # one unquoted shell word
    "flag": Place(marks="!@%_+-."),  # glued to an option, as in -pVALUE
    "alnum": Place(marks=""),
    "sq": Place(marks=_ALL, rich=True, escape=lambda t: t.replace("'", "'\\''")),
    "dq": Place(marks=_ALL, rich=True, escape=_shell_double),
    "json": Place(marks=_ALL, rich=True, escape=_json),
    "code": Place(marks=_ALL, rich=True, escape=_json),
    "code_sq": Place(
        marks=_ALL, rich=True, escape=lambda t: t.replace("\\", "\\\\").replace("'", "\\'")
    ),
    "json_sq": Place(marks="!@#$%^&*()_+-=[]{}|;:,.<>?/~"),  # quotes of two syntaxes at once
    "sql": Place(marks=_ALL, rich=True, escape=lambda t: t.replace("'", "''")),
    "xml": Place(marks=_ALL, rich=True, escape=html.escape),
    "line": Place(marks="!@$%^&*()_+-=[]|:,.?/~"),  # to the end of a line of an INI file
    "yaml": Place(marks="!@$%^_+-.?/~"),
    "word": Place(marks="!@#$%^&*_+-=.?", plain_word=False),  # in prose
    "pgpass": Place(marks="!@#$%^&*_+-=.?/"),
    "semi": Place(marks="!@#$%^&*()_+-.?/:,"),  # in a list divided by semicolons
    "semi_xml": Place(marks="!@#$%^*()_+-.?/:,"),  # the same inside an XML attribute
    "comma": Place(marks="!@#%^*_+-.?/:"),  # in a list divided by commas
    "percent": Place(marks="!@#^*_+-.,"),
    "slash": Place(marks="!#^*_+-.", plain_word=False),
    "url": Place(marks=_ALL, rich=True, escape=lambda t: quote(t, safe="")),
    "rawurl": Place(marks="!$*_-.~"),  # as people type it, the at-sign unescaped
    "form": Place(marks=_ALL, rich=True, escape=quote_plus),
}

_USERS = ("admin", "deploy", "ci-bot", "svc_backup", "jonas", "mila", "app")
_WORD_LIST = """
amber anchor basalt beacon birch bramble cedar cinder cobalt copper coral cypress dune ember
falcon fern fjord flint garnet glacier granite harbor hazel heron indigo iris jasper juniper
kestrel lagoon lantern larch linden lupine maple marble meadow mustard nectar nimbus oasis
ocelot onyx orchid osprey otter pebble pepper prairie quartz raven reef saffron sparrow spruce
summit thistle tundra umber velvet violet walnut willow wren yarrow zephyr
"""
_WORDS = tuple(_WORD_LIST.split())
_FOREIGN = "äöüéèñçøåžßłőğ東京Жλ"
_LEET = str.maketrans("aeios", "43105")


def _safe_ends(rng: random.Random, text: str) -> str:
    """Keep a password from looking like a placeholder or from ending in punctuation.

    A person could not tell a value such as `$Birch` or `<x>` from a variable, nor say whether a
    final full stop belongs to a sentence, so neither may be planted.
    """
    return rng.choice(_ALNUM) + text[1:-1] + rng.choice(_ALNUM)


def password(rng: random.Random, place: str) -> str:
    """Draw a password as people choose them, of 4 to about 30 characters, before quoting."""
    where = PLACES[place]
    marks = where.marks
    word = rng.choice(_WORDS)
    draw = rng.random()
    if draw < 0.22:  # a name, digits, and a mark: what password rules make of people
        tail = rng.choice(marks) if marks and rng.random() < 0.6 else ""
        if tail and not where.rich:
            tail += rng.choice(_ALNUM)
        value = word.capitalize() + str(rng.randrange(10, 9999)) + tail
    elif draw < 0.34:
        value = word.translate(_LEET) + str(rng.randrange(10, 99))
    elif draw < 0.46:
        join = "-" if "-" in marks else ""
        value = join.join(rng.sample(_WORDS, 3)) + join + str(rng.randrange(10, 99))
    elif draw < 0.58:  # short
        value = chars(rng, _ALNUM, rng.randrange(3, 7)) + rng.choice(string.digits)
    elif draw < 0.63 and where.plain_word:
        return word
    else:  # out of a password manager
        alphabet = _ALNUM * 2 + marks
        value = _safe_ends(rng, chars(rng, alphabet, rng.randrange(10, 25)))
    if where.rich and rng.random() < 0.2:
        extra = rng.choice([" ", " ", *_FOREIGN, "'", '"', "\\", "$"])
        at = rng.randrange(1, len(value))
        value = value[:at] + extra + value[at:]
    if place == "rawurl" and rng.random() < 0.15:
        at = rng.randrange(1, len(value))
        value = value[:at] + "@" + value[at:]
    return value


def passphrase(rng: random.Random, place: str) -> str:
    """Draw a passphrase of several words, with spaces where quotes allow them."""
    join = rng.choice([" ", "-", "."]) if PLACES[place].rich else "-" if PLACES[place].marks else ""
    return join.join(rng.sample(_WORDS, rng.randrange(3, 6)))
