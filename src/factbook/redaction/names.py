"""Judge a name: does what is assigned to it tend to be a secret?

Names are cut into words (`dbPassword`, `DB_PASSWORD`, `db-password` are the same two), and the last
word decides: `token_count` counts, `password_hash` hashes, `next_page_token` pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from factbook.redaction.vocabulary import vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """What a name says about its value."""

    kind: str  # the label's kind
    plain: bool  # people choose such values, so they may be ordinary words
    bare: bool  # the name alone (`pass`, `pw`, `pwd`) also means other things
    vague: bool = False  # a key of something: a secret only if its value leaves no doubt
    digits: bool = False  # its values are a few digits


KINDS: Final = frozenset({"password", "secret", "token", "api-key", "credential", "cookie"})

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zß-ɏ]+|[0-9]+|[^\x00-\x7f]+")

_PASSWORDS: Final = vocabulary(
    """
    password passwords passwd passwds passphrase passcode passwort passw psw pwd pw pass
    kennwort senha contrasena wachtwoord lozinka haslo losenord storepass keypass requirepass
    masterauth psk userpass heslo jelszo jelszó passord salasana adgangskode
    пароль пароля 密码 口令 パスワード 비밀번호 contraseña hasło lösenord
    """
)
_PASSWORD_TAIL: Final = re.compile(
    r"(?:pas{1,3}o?w(?:or|ro|o|r)?[dt]|passphrase|passcode|kennwort|contrasena|pwd|"
    r"(?:^|my|db|user|login|root|admin|ssh|pg|key|store|redis|require|sudo|become|mysql|smtp|mail|"
    r"ftp|app|ldap|wifi|vnc|rpc|bind|auth|cert|proxy|http|default)pass)$"
)
_SHORT: Final = frozenset({"pass", "pw", "pwd"})
_PASS_OWNERS: Final = vocabulary(
    """
    db database user login root admin ssh pg key store redis sudo become mysql postgres mongo
    smtp mail email imap ftp sftp app ldap wifi vnc rpc bind auth cert proxy http basic default
    rabbitmq mq mariadb sql service svc registry nexus git github docker ansible vault master
    api my test backup
    """
)
_PAT_OWNERS: Final = frozenset(
    {"", "github", "gh", "gitlab", "git", "azure", "devops", "ext", "ado", "my", "user", "ci"}
)
_TOKENS: Final = frozenset(
    {"token", "tokens", "jwt", "bearer", "authtoken", "accesstoken", "apitoken"}
)
_TOKEN_TAIL: Final = re.compile(
    r"(?:auth|access|refresh|api|bot|id|session|user|login|deploy|my|csrf|xsrf|personal|git|"
    r"github|gitlab|npm|gh|hf|slack|vault|bearer|security|oauth|push|device|admin)token$"
)
_SECRETS: Final = frozenset({"secret", "secrets", "clientsecret", "appsecret", "mnemonic"})
_SECRET_TAIL: Final = re.compile(
    r"(?:client|app|api|jwt|session|web|webhook|shared|user|my|auth)secret$"
)
_SECRET_OWNERS: Final = vocabulary(
    """
    client app application api jwt session web webhook shared user my auth nextauth oauth cookie
    signing encryption hmac csrf admin server consumer master refresh
    """
)
_KEY_OWNERS: Final = vocabulary(
    """
    api access secret private signing sign encryption encrypt encrypted crypto decryption
    account auth authentication authorization master shared session license licence app
    application service admin storage subscription write client consumer deploy jwt hmac cookie
    webhook integration ingest ingestion instrumentation bot server ssh sas preshared bearer
    function recovery product activation
    """
)
_KEY_TAIL: Final = re.compile(
    r"(?:api|access|secret|private|signing|encryption|account|auth|master|shared|sharedaccess|"
    r"session|license|subscription|preshared|app|client|storage)keys?$"
)
_CREDENTIALS: Final = frozenset(
    {"auth", "authorization", "credential", "credentials", "creds", "cred"}
)

# Words after the secret word that change nothing: DB_PASSWORD_PROD, secret_key_base, token2.
_SUFFIXES: Final = vocabulary(
    """
    value val plain plaintext b64 base64 base old new prod production dev development staging
    stage test live main backup raw str local current previous primary secondary
    """
)
# The same for constants, whose names carry their owner last (TOKEN_GITHUB), unless the last words
# say that the value is something else.
_OTHER_HEADS: Final = vocabulary(
    """
    and or of stores shadow sock socket agent user username email realm zone domain id ids name
    names file files path dir url uri urls host hosts endpoint type types count counts limit
    length len size ttl expiry expires expiration expire timeout policy format field fields
    header headers prefix suffix regex pattern version algorithm algo alg hint label required
    enabled disabled min max usage usages budget provider providers source store manager arn ref
    env var location cmd command program script helper reset attempts retries rotation hash
    hashes hashed salt digest strength error errors message msg title text placeholder status
    state mode index idx scheme column table schema class auth method methods role scope scopes
    issuer audience group model models window per used rate cost price pair pairs list map
    """
)
# Words before it that make it something else.
_PAGING: Final = vocabulary(
    """
    next prev page continuation continue cursor sync resume start end eos bos pad unk sep cls
    mask stop special max min num total input output prompt completion cached reasoning image
    subword lexer syntax parser cancel cancellation idempotency design fcm
    """
)
_TALK: Final = vocabulary(
    """
    forgot forgotten reset invalid wrong incorrect show hide toggle missing no has is need needs
    requires require validate check verify min max match matches change enter empty bad on
    handle without count num public and or for ask prompt hash encrypt generate compare get
    """
)
_PUBLIC: Final = vocabulary(
    """
    public foreign cache sort partition row hash primary routing idempotency object lookup index
    group dedup message lock event hot map dict query candidate
    """
)


@lru_cache(maxsize=8192)
def classify(key: str) -> Name | None:
    """Classify the name that stands before a value; None when its values are not secrets."""
    words = [word.lower() for word in _WORD.findall(key)]
    while words and (words[-1] in _SUFFIXES or words[-1].isdigit()) and len(words) > 1:
        words.pop()
    if not words:
        return None
    name = _tail(words)
    if name is None and key.isupper():
        for cut in range(len(words) - 1, 0, -1):
            if words[cut] in _OTHER_HEADS:
                return None
            name = _tail(words[:cut])
            if name is not None and name.kind != "credential":
                return name
        vague = words[-1] == "key" and len(words) > 1 and not _PUBLIC.intersection(words)
        return Name(kind="api-key", plain=False, bare=False, vague=True) if vague else None
    return name


def _tail(words: list[str]) -> Name | None:
    last, before = words[-1], words[:-1]
    prior = before[-1] if before else ""
    if last in _PASSWORDS or _PASSWORD_TAIL.search(last):
        if prior in _TALK:
            return None
        bare = last in _SHORT and prior not in _PASS_OWNERS
        return Name(kind="password", plain=True, bare=bare)
    if last in {"word", "phrase", "code"} and prior == "pass":  # passWord, pass_phrase
        return Name(kind="password", plain=True, bare=False)
    if last in {"pin", "puk"}:
        return Name(kind="password", plain=True, bare=not before, digits=True)
    if last == "pat":  # a personal access token; elsewhere a pattern
        return Name(kind="token", plain=False, bare=True) if prior in _PAT_OWNERS else None
    if last in _TOKENS or _TOKEN_TAIL.search(last):
        if _PAGING.intersection(before[-2:]) or "public" in before:
            return None
        return Name(kind="token", plain=False, bare=not before)
    if last in _SECRETS or _SECRET_TAIL.search(last):
        return Name(kind="secret", plain=prior in _SECRET_OWNERS, bare=not before)
    if last == "key" and prior == "security":  # of a network; elsewhere a thing that one plugs in
        return Name(kind="password", plain=True, bare=False, digits=True)
    if last in {"key", "keys"} and prior in {"wpa", "wifi", "wlan"}:
        return Name(kind="password", plain=True, bare=False)
    if last in {"key", "keys"} and prior in _KEY_OWNERS and not _PUBLIC.intersection(before):
        return Name(kind="api-key" if prior != "private" else "secret", plain=False, bare=False)
    if last == "string" and prior == "secret":  # what stores of secrets call a value
        return Name(kind="secret", plain=True, bare=False)
    if last == "material" and prior == "key":  # what Wi-Fi profiles call their password
        return Name(kind="password", plain=True, bare=False)
    if _KEY_TAIL.search(last):
        return Name(kind="api-key", plain=False, bare=False)
    if last in {"phrase", "words"} and prior in {"seed", "recovery", "mnemonic"}:
        return Name(kind="secret", plain=False, bare=False)
    if last == "auth" and prior in {"rediscli", "redis"}:
        return Name(kind="password", plain=True, bare=False)
    if last in _CREDENTIALS and prior not in {"amz", "goog", "no", "basic", "use", "require"}:
        return Name(kind="credential", plain=False, bare=not before)
    if last in {"cookie", "cookies"}:
        return Name(kind="cookie", plain=False, bare=not before)
    return None
