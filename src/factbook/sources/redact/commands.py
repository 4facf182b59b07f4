"""Find secrets that a program takes in its own way: `sshpass -p`, `curl -u`, `mysql -pSECRET`.

Options that name their secret (`--password X`) are found by name wherever they stand. This table is
for the rest: short options, pairs of user and password, words at a fixed place, standard input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from factbook.sources.redact.headers import cookie_spans
from factbook.sources.redact.names import classify
from factbook.sources.redact.reading import Value, read_quoted
from factbook.sources.redact.values import is_random, is_stand_in

Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """How one group of programs takes secrets."""

    names: str  # the programs, separated by blanks
    secret: str = ""  # options whose next word is the secret; short ones may be glued to it
    glued: str = ""  # options that are always glued to the secret
    pair: str = ""  # options whose word is user:password
    needs: str = ""  # a word that must stand in the command, else the options mean something else
    cookie: str = ""  # options whose word is a cookie header
    last: str = ""  # an option that makes the last word the secret
    after: str = ""  # bare words behind which the secret stands
    at: int = 0  # the secret's place among the bare words (1 is the first; 0: none)
    kind: str = "password"  # the label's kind


PROGRAMS: Final[tuple[Program, ...]] = (
    Program(names="sshpass", secret="-p"),
    Program(
        names="mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlpump mysqlsh mariadb "
        "mariadb-dump mariadb-admin mysqlbinlog mysqlslap xtrabackup mariabackup",
        glued="-p",
    ),
    Program(names="mycli pgcli", secret="-p"),
    Program(names="curl", pair="-u --user -U --proxy-user", cookie="-b --cookie"),
    Program(names="http https xh httpie aria2c", pair="-a --auth"),
    Program(names="wget2 ab", pair="-A -P"),
    Program(names="redis-cli valkey-cli keydb-cli", secret="-a"),
    Program(
        names="mongosh mongo mongodump mongorestore mongoexport mongoimport mongostat mongotop",
        secret="-p",
    ),
    Program(
        names="docker podman nerdctl buildah helm oras crane az oc cf skopeo vercel rancher argocd",
        secret="-p",
        needs="login auth",
    ),
    Program(names="skopeo", pair="--creds --src-creds --dest-creds"),
    Program(names="7z 7za 7zz 7zr rar unrar", glued="-p -hp"),
    Program(names="zip unzip zipcloak zipinfo", secret="-P"),
    Program(names="htpasswd", last="b"),
    Program(names="openssl", secret="-k"),
    Program(names="ssh-keygen", secret="-N -P"),
    Program(names="sqlcmd bcp osql isql tsql", secret="-P"),
    Program(names="ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldappasswd ldapcompare", secret="-w"),
    Program(names="ipmitool mosquitto_pub mosquitto_sub", secret="-P"),
    Program(names="cqlsh twine evil-winrm nxc netexec crackmapexec psexec influx", secret="-p"),
    Program(names="plink pscp psftp", secret="-pw"),
    Program(names="nmcli", after="password", needs="password"),
    Program(names="wpa_passphrase", at=2),
    Program(names="useradd usermod", secret="-p"),
    Program(names="doctl", secret="-t", needs="auth", kind="token"),
    Program(names="snmpwalk snmpget snmpset", secret="-A -X"),
    Program(names="security", secret="-w", needs="add-generic-password add-internet-password"),
    Program(names="smbclient rpcclient", pair="-U --user"),
    Program(names="bw", at=2, needs="unlock"),
    Program(names="bw", at=3, needs="login"),
    Program(names="lftp", pair="-u"),
)

_NAMES: Final = sorted({name for row in PROGRAMS for name in row.names.split()})
_SETTERS: Final = r"(?:set -[a-zA-Z]{1,4}|setenv|setx|ENV|requirepass|masterauth|(?:config|configure|secret|secrets)[ :]set)"
_SINKS: Final = (
    r"\|[ \t\\\n]{0,6}(?:sudo|su|docker|podman|nerdctl|gh|glab|helm|chpasswd|passwd|kinit|cryptsetup|wrangler|npx|vault|gpg|gpg2|op|oc|"
    r"crane|skopeo|oras|secret-tool|smbpasswd|pass|ansible-vault|vercel|heroku|fly|flyctl|supabase|keyctl|kubectl|kubeseal|doppler|"
    r"pbcopy|xclip|openssl|sshpass|ssh-add|htpasswd|security|rclone|restic|borg|age)\b"
)
HINT: Final = (
    r"\b(?:" + "|".join(_NAMES) + r")(?:\.exe)? "
    r"|\b" + _SETTERS + r" |--from-literal|-(?:passin|passout|pass|password)[ =]pass:|\bpass:[^\s\"']|<<< ?|"
    + _SINKS
    + r"|ConvertTo-SecureString|[sS]end(?:line|_line|Line)?[ (]{1,2}[\"'\\]|gpg(?:2)? "
    r"|\b(?:sqlplus|expdp|impdp|sqlldr|rman) |--(?:secret-string|user|proxy-user|auth|creds)[ =]|net (?:user|use) "
    r"|(?:http-basic|pypi-token)\.[a-z.-]{1,40} |poetry config |vault (?:login|kv put|write) |(?i:auth=\(|BasicAuth\()|--with-token"
)
_LONGEST: Final = 2048

_BREAK: Final = re.compile(r"\\+n|\\+r")
_PLAIN: Final = re.compile(r"""[^\s"'`\\|;&<>()]+""")
_BLANKS: Final = re.compile(r"(?:[ \t]|\\\r?\n|\\\\+n)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """One word of a command line."""

    start: int
    end: int  # behind it, with its quotes
    text: str  # as written, with its quotes


def _words(text: str, pos: int) -> list[_Word]:
    """Cut a command line into words, from `pos` to the end of the command."""
    words: list[_Word] = []
    limit = min(len(text), pos + _LONGEST)
    while pos < limit:
        blank = _BLANKS.match(text, pos, limit)
        if blank is not None:
            pos = blank.end()
            continue
        start = pos
        while pos < limit:
            plain = _PLAIN.match(text, pos, limit)
            if plain is not None:
                pos = plain.end()
                continue
            char = text[pos]
            if char in "\"'`" or (char == "\\" and re.match(r"\\+[\"'`]", text[pos : pos + 8])):
                value = read_quoted(text, pos)
                if value is None or value.after <= pos:
                    break
                pos = value.after
            elif char == "\\":
                if _BREAK.match(text, pos) or text[pos + 1 : pos + 2] in {"", "\n", "\r"}:
                    break
                pos += 2
            elif char == "$" or (char == "(" and pos > start and text[pos - 1] == "$"):
                close = text.find(")", pos, limit)
                pos = close + 1 if close >= 0 else limit
            else:
                break
        if pos == start:
            break
        words.append(_Word(start=start, end=min(pos, limit), text=text[start : min(pos, limit)]))
    return words


def _inside(text: str, start: int, end: int) -> tuple[int, int]:
    """Take the quotes off a word or off the part of one that follows its option."""
    quoted = read_quoted(text, start) if start < end else None
    if quoted is not None and quoted.after <= end + 1:
        return quoted.start, min(quoted.end, end)
    return start, end


def _secret(text: str, start: int, end: int, kind: str) -> Iterator[Span]:
    """Give the secret that stands at a place where only a secret can stand."""
    start, end = _inside(text, start, end)
    word = text[start:end][:256]
    if end - start >= 1 and not is_stand_in(word) and not word.startswith("-"):
        yield start, end, kind


def _paired(text: str, start: int, end: int) -> Iterator[Span]:
    """Give the password of a `user:password` word (also `user%password`, `user,password`)."""
    start, end = _inside(text, start, end)
    found = re.match(r"[^\s:%,/]*[:%,]", text[start:end])
    if found is None or text[start:end].startswith("$("):
        return
    begin = start + found.end()
    word = text[begin:end][:256]
    if not word or is_stand_in(word) or (word.isdigit() and found[0][:-1].isdigit()):
        return
    yield begin, end, "password"


def command_spans(text: str, at: int, hint: str) -> Iterator[Span]:
    """Give the secrets of the command whose hint begins at `at`."""
    word = hint.rstrip(" ").removesuffix(".exe")
    end = at + len(hint)
    if hint[0] == "|":
        yield from _piped(text, at, end)
    elif hint.startswith("<<<"):
        yield from _here_string(text, at, end)
    elif hint == "--from-literal":
        yield from _literal(text, end)
    elif hint == "--with-token":
        return
    elif "pass:" in hint:
        begin = at + hint.index("pass:") + 5
        yield from _pass_word(text, at, begin)
    elif hint.startswith("ConvertTo"):
        found = re.compile(r"\s+(?:-String\s+)?(?=\\*[\"'])").match(text, end, end + 40)
        if found is not None:
            value = read_quoted(text, found.end())
            if value is not None and not is_stand_in(text[value.start : value.end][:256]):
                yield value.start, value.end, "password"
    elif hint.lower().startswith("send"):
        yield from _sent(text, at, end)
    elif hint.startswith("--"):
        yield from _long_pair(text, end)
    elif hint.startswith("net "):
        yield from _net(text, at)
    elif hint.lower().startswith(("auth=(", "basicauth(")):
        yield from _auth_tuple(text, end)
    elif word in {"sqlplus", "expdp", "impdp", "sqlldr", "rman"}:
        for part in _words(text, end)[:6]:
            found = re.match(r"[\"']?[\w$#]+/([^\s@\"'/]+)@", part.text)
            if found is not None and not is_stand_in(found[1]):
                yield part.start + found.start(1), part.start + found.end(1), "password"
    elif word in {"gpg", "gpg2"}:
        return
    elif word.startswith(("http-basic", "pypi-token", "poetry", "vault")):
        yield from _stored(text, at, end, word)
    elif word in _BY_NAME:
        words = _words(text, end)
        for row in _BY_NAME[word]:
            yield from _row_spans(text, row, words)
    else:
        yield from _set(text, end)


def _index() -> dict[str, list[Program]]:
    rows: dict[str, list[Program]] = {}
    for row in PROGRAMS:
        for name in row.names.split():
            rows.setdefault(name, []).append(row)
    return rows


_BY_NAME: Final = _index()


def _row_spans(text: str, row: Program, words: Sequence[_Word]) -> Iterator[Span]:
    """Apply one row of the table to the words behind the program's name."""
    plain = [word.text for word in words]
    if row.needs and not any(need in plain for need in row.needs.split()):
        return
    secret, glued, pair, cookie = (
        row.secret.split(), row.glued.split(), row.pair.split(), row.cookie.split(),
    )
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else None
        bare = word.text.strip("\"'\\")
        if bare in secret:
            if following is not None:
                yield from _secret(text, following.start, following.end, row.kind)
            continue
        if bare in pair:
            if following is not None:
                yield from _paired(text, following.start, following.end)
            continue
        if bare in cookie:
            if following is not None:
                start, end = _inside(text, following.start, following.end)
                yield from cookie_spans(text, Value(start=start, end=end, quote='"', after=end))
            continue
        for option in pair:
            if option.startswith("--") and word.text.startswith(option + "="):
                yield from _paired(text, word.start + len(option) + 1, word.end)
            elif len(option) == 2 and word.text.startswith(option) and len(word.text) > 2:
                yield from _paired(text, word.start + 2, word.end)
        for option in (*secret, *glued):
            if word.text.startswith(option) and len(word.text) > len(option) and not option.startswith("--"):
                begin = word.start + len(option) + (word.text[len(option)] == "=" and option in secret)
                if option == "-p" and re.match(r"-p(?:rofile|ort|rogress|ath|refix)\b", word.text):
                    continue
                if option == "-P" and row.names.startswith("zip") and False:
                    continue
                yield from _secret(text, begin, word.end, row.kind)
                break
        if row.after and bare in row.after.split() and following is not None:
            yield from _secret(text, following.start, following.end, row.kind)
    bare_words = [word for word in words if not word.text.startswith("-")]
    if row.at and len(bare_words) >= row.at:
        chosen = bare_words[row.at - 1]
        yield from _secret(text, chosen.start, chosen.end, row.kind)
    if row.last and len(bare_words) >= 2 and any(
        word.text.startswith("-") and not word.text.startswith("--") and row.last in word.text for word in words
    ):
        yield from _secret(text, bare_words[-1].start, bare_words[-1].end, row.kind)


def _set(text: str, pos: int) -> Iterator[Span]:
    """Give the value of `setenv NAME value`, `set -x NAME value`, `config set name value`."""
    words = _words(text, pos)
    words = [word for word in words[:6] if not re.match(r"-{1,2}\w[\w-]*$", word.text)]
    if len(words) < 2:
        return
    if "=" in words[0].text:
        return
    name = classify(words[0].text.rpartition(":")[2].strip("\"'"))
    if name is None:
        return
    start, end = _inside(text, words[1].start, words[1].end)
    word = text[start:end][:256]
    if word and not is_stand_in(word) and (name.plain or is_random(word)):
        yield start, end, name.kind


def _literal(text: str, pos: int) -> Iterator[Span]:
    """Give the value of `--from-literal=key=value`."""
    found = re.compile(r"[= ](\\*[\"'])?([\w.-]+)=").match(text, pos, pos + 120)
    if found is None:
        return
    start = found.end()
    if found[1]:
        value = read_quoted(text, found.start(1))
        end = value.end if value is not None else start
    else:
        inner = read_quoted(text, start)
        if inner is not None:
            start, end = inner.start, inner.end
        else:
            word = re.compile(r"[^\s\"'`\\]+").match(text, start, start + 1024)
            end = word.end() if word is not None else start
    if end > start and not is_stand_in(text[start:end][:256]):
        yield start, end, "secret"


def _pass_word(text: str, at: int, begin: int) -> Iterator[Span]:
    """Give the password of OpenSSL's `pass:word`."""
    before = text[max(0, at - 24) : begin - 5]
    if not re.search(r"-(?:passin|passout|pass|password)[ =]\\*[\"']?$", before):
        return
    found = re.compile(r"[^\s\"'`\\;|&)]+").match(text, begin, begin + 256)
    if found is not None and not is_stand_in(found[0]):
        yield *found.span(), "password"


_STDIN: Final = re.compile(
    r"""(?x)(?:
      sudo\s(?:-[A-Za-z]+\s+)*?(?:-[A-Za-z]*S|--stdin)\b | (?:sudo\s+)?chpasswd | (?:sudo\s+)?passwd\s.*--stdin | su\s
    | \S+(?:\s+\S+){0,8}\s+(?:--password-stdin|--with-token|--stdin|--passphrase-fd(?:[ ]|=)0|-pass\sstdin|--pinentry-mode)
    | (?:sudo\s+)?cryptsetup | kinit | smbpasswd | keyctl
    | (?:docker|podman)\s+secret\s+create | gh\s+secret\s+set | (?:npx\s+)?wrangler\s+(?:pages\s+)?secret\s+put | op\s | secret-tool\s+store
    | vault\s+login\s+- | pass\s+insert | kubeseal | ansible-vault\s+encrypt_string | vercel\s+env\s+add | doppler\s+secrets | ssh-add
    | sshpass | security\s+add | rclone\s+obscure | htpasswd\s+-\w*i
    )"""
)
_ECHO: Final = re.compile(
    r"""(?x)
    \b(?:echo|printf|print|Write-Output)\s+(?:-[neE]+\s+)*(?:\\*["']?%s(?:\\+n)?\\*["']?\s+)?
    (?:(?P<quote>\\*["'])(?P<quoted>[^"'\n]{1,400}?)(?:\\+n)?(?P=quote)|(?P<bare>[^\s"'|;&]{1,400}))\s*\\?\s*$"""
)


def _piped(text: str, at: int, end: int) -> Iterator[Span]:
    """Give what `echo` writes into a program that reads a secret there."""
    pipe = at + 1
    rest = re.compile(r"[\s\\]*").match(text, pipe, pipe + 12)
    begin = rest.end() if rest is not None else pipe
    if _STDIN.match(text[begin : begin + 240].partition("\n")[0]) is None:
        return
    found = _ECHO.search(text, max(0, at - 480), at)
    if found is None:
        return
    start, stop = found.span("quoted" if found["quoted"] is not None else "bare")
    word = text[start:stop]
    if "chpasswd" in text[begin : begin + 20]:
        user, colon, _ = word.partition(":")
        if not colon:
            return
        start += len(user) + 1
        word = text[start:stop]
    if word and not is_stand_in(word) and word.lower() not in {"y", "yes", "n", "no"}:
        yield start, stop, "password"


def _here_string(text: str, at: int, end: int) -> Iterator[Span]:
    """Give what a here-string hands to a program that reads a secret there."""
    before = text[max(0, at - 240) : at].rpartition("\n")[2]
    found = re.search(r"[^|;&]*$", before)
    if found is None or _STDIN.search(found[0]) is None:
        return
    words = _words(text, end)
    if words:
        start, stop = _inside(text, words[0].start, words[0].end)
        word = text[start:stop]
        if "chpasswd" in found[0]:
            start += len(word.partition(":")[0]) + 1
        if start < stop and not is_stand_in(word[:256]):
            yield start, stop, "password"


def _sent(text: str, at: int, end: int) -> Iterator[Span]:
    """Give what an expect script sends when it was asked for a password."""
    before = text[max(0, at - 160) : at]
    asked = max(before.rfind("assword"), before.rfind("assphrase"))
    if asked < 0 or re.search(r"send", before[asked:]):
        return
    pos = end - 1
    while text[pos - 1] == "\\":
        pos -= 1
    value = read_quoted(text, pos)
    if value is None:
        return
    word = re.match(r"(?:--\s)?(.*?)(?:\\+[rn])*$", text[value.start : value.end])
    if word is not None and word[1] and not is_stand_in(word[1]):
        start = value.start + word.start(1)
        yield start, start + len(word[1]), "password"


def _long_pair(text: str, pos: int) -> Iterator[Span]:
    """Give the password of `--user name:password`, whichever program takes it."""
    words = _words(text, pos)
    if not words:
        return
    start, end = _inside(text, words[0].start, words[0].end)
    word = text[start:end]
    user, colon, password = word.partition(":")
    if (
        colon
        and re.fullmatch(r"[\w.@+-]{1,64}", user)
        and not password.isdigit()
        and "/" not in password
        and len(password) >= 3
        and not is_stand_in(password[:256])
        and not re.fullmatch(r"[a-z_-]+", password)
    ):
        yield start + len(user) + 1, end, "password"


def _net(text: str, at: int) -> Iterator[Span]:
    """Give the password of Windows' `net user name password /add` and `net use`."""
    words = _words(text, at)
    plain = [word.text for word in words]
    if len(words) >= 4 and plain[1] == "user" and re.match(r"[^/\s]", plain[3]) and any(w.lower() == "/add" or w.startswith("/") for w in plain[4:]):
        yield from _secret(text, words[3].start, words[3].end, "password")
    if len(plain) >= 4 and plain[1] == "use" and any(w.lower().startswith("/user:") for w in plain):
        for word in words[2:]:
            if not re.match(r"[A-Za-z]:$|\\|/|[\"']?\\\\", word.text):
                yield from _secret(text, word.start, word.end, "password")
                return


_TUPLE: Final = re.compile(r"""\s*(?:\w+\s*=\s*)?(\\*["'])[^"'\n]{0,80}\1\s*,\s*(?:\w+\s*=\s*)?(?=\\*["'])""")


def _auth_tuple(text: str, pos: int) -> Iterator[Span]:
    """Give the password of `auth=("user", "password")`."""
    found = _TUPLE.match(text, pos, pos + 200)
    if found is None:
        return
    value = read_quoted(text, found.end())
    if value is not None and value.end - value.start >= 3:
        word = text[value.start : value.end][:256]
        if not is_stand_in(word) and word.lower() not in {"password", "pass", "passwd"}:
            yield value.start, value.end, "password"


def _stored(text: str, at: int, end: int, word: str) -> Iterator[Span]:
    """Give what is put into a store of secrets."""
    words = _words(text, end)
    if word.startswith("vault"):
        if word == "vault login":
            for part in words[:2]:
                if not part.text.startswith("-") and "=" not in part.text:
                    if is_random(part.text.strip("\"'"), least=8):
                        yield from _secret(text, part.start, part.end, "token")
                    return
            return
        for part in words[1:]:
            found = re.match(r"([\w.-]+)=(?!@)", part.text)
            if found is not None and len(part.text) > found.end():
                name = classify(found[1])
                start, stop = _inside(text, part.start + found.end(), part.end)
                if name is not None and stop > start and not is_stand_in(text[start:stop][:256]):
                    yield start, stop, name.kind
        return
    if word.startswith("poetry"):
        if not words or not re.match(r"(?:http-basic|pypi-token)\.", words[0].text):
            return
        words = words[1:]
    if word.startswith("pypi-token") and words:
        yield from _secret(text, words[0].start, words[0].end, "token")
    elif len(words) >= 2:
        yield from _secret(text, words[1].start, words[1].end, "password")
