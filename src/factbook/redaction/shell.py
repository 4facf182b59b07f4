"""Find secrets that a program takes in its own way: `sshpass -p`, `curl -u`, `mysql -pSECRET`.

Options that name their secret (`--password X`) are found by that name wherever they stand. This is
for the rest: short options, pairs of user and password, words at a fixed place, standard input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from factbook.redaction.headers import cookie_spans
from factbook.redaction.lazy import Lazy
from factbook.redaction.names import classify
from factbook.redaction.reading import Value, line_end, match_end, read_quoted
from factbook.redaction.spans import Span
from factbook.redaction.values import is_random, is_stand_in, is_stop_word
from factbook.redaction.vocabulary import vocabulary

KINDS: Final = frozenset({"password", "token", "secret", "cookie"})


class _Program:
    """How a group of programs takes secrets; every text but the kind is a list of words."""

    def __init__(
        self,
        *,
        names: str,  # the programs
        option: str = "",  # options before the secret
        glued: str = "",  # options that may be written in one word with the secret
        clusters: bool = False,  # short options may be written together, the secret's last
        pair: str = "",  # options before a user:password
        cookie: str = "",  # options before a cookie header
        after: str = "",  # bare words before the secret
        place: int = 0,  # the secret's place among the bare words, from 1; -1 is the last
        needs: str = "",  # one of these words must stand in the command
        wraps: bool = False,  # the first bare word begins another command, with options of its own
        kind: str = "password",  # the label's kind
    ) -> None:
        # Short options that may be written together stand behind other letters: -su for -s -u.
        letters = "-[A-Za-z]{0,6}" if clusters else "-"
        parts = [
            letters + re.escape(mark[1:]) if mark[0] == "-" and len(mark) == 2 else re.escape(mark)
            for mark in f"{option} {glued} {pair} {cookie} {after}".split()
        ]
        self.names = names.split()
        self.option = vocabulary(f"{option} {after}")  # and bare words: the secret follows them
        self.glued, self.pair, self.needs = glued.split(), pair.split(), needs.split()
        self.takes = vocabulary(f"{option} {after} {pair} {cookie}")  # what the secret follows
        self.begins = (*self.glued, *self.pair)  # what a word with its secret in it begins with
        # What stands in every command that has a secret.
        self.mark = Lazy(rf"(?:^|[\s\"'\\])(?:{'|'.join(parts)})")
        self.place, self.wraps, self.clusters, self.kind = place, wraps, clusters, kind


_PROGRAMS: Final[tuple[_Program, ...]] = (
    _Program(names="sshpass", option="-p", glued="-p", wraps=True),
    _Program(
        names="mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlpump mysqlsh "
        "mysqlbinlog mysqlslap mariadb mariadb-dump mariadb-admin mariabackup xtrabackup",
        glued="-p",
    ),
    _Program(names="mycli", option="-p"),
    _Program(names="curl", clusters=True, pair="-u --user -U --proxy-user", cookie="-b --cookie"),
    _Program(names="http https xh httpie", pair="-a --auth"),
    _Program(names="ab", pair="-A -P"),
    _Program(names="redis-cli valkey-cli keydb-cli", option="-a"),
    _Program(
        names="mongosh mongo mongodump mongorestore mongoexport mongoimport mongostat mongotop",
        option="-p",
    ),
    _Program(
        names="docker podman nerdctl buildah helm oras crane skopeo az oc cf argocd rancher",
        option="-p",
        glued="-p",
        needs="login auth",
    ),
    _Program(names="skopeo", pair="--creds --src-creds --dest-creds"),
    _Program(names="7z 7za 7zz 7zr rar unrar", glued="-p -hp"),
    _Program(names="zip unzip zipcloak", clusters=True, option="-P", glued="-P"),
    _Program(names="htpasswd", place=-1, needs="-b -bc -cb -nb -bn -nbB -nbBC -bB -Bb -cbB -bcB"),
    _Program(names="openssl", option="-k"),
    _Program(names="ssh-keygen", option="-N -P", glued="-N -P"),
    _Program(
        names="sqlcmd bcp osql tsql ipmitool mosquitto_pub mosquitto_sub", option="-P", glued="-P"
    ),
    _Program(
        names="ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldappasswd",
        option="-w",
        glued="-w",
    ),
    _Program(names="cqlsh twine evil-winrm nxc netexec crackmapexec psexec", option="-p"),
    _Program(names="plink pscp psftp", option="-pw"),
    _Program(names="xfreerdp wfreerdp", glued="/p:"),
    _Program(names="nmcli", after="password"),
    _Program(names="wpa_passphrase", place=2),
    _Program(names="useradd usermod", option="-p"),
    _Program(names="etcdctl", pair="--user"),
    _Program(names="odoo odoo-bin", option="-w"),
    _Program(names="az", option="-p", needs="create"),
    _Program(names="az", option="--value", needs="keyvault", kind="secret"),
    _Program(names="aws", option="--value", needs="SecureString", kind="secret"),
    _Program(names="aws", option="--secret-string", needs="secretsmanager", kind="secret"),
    _Program(names="eas", option="--value", needs="secret:create", kind="secret"),
    _Program(names="gh", option="--body -b", glued="-b --body", needs="secret", kind="secret"),
    _Program(names="nuget", option="-p", needs="add update"),
    _Program(names="dotnet", option="-p", needs="nuget"),
    _Program(names="dotnet", place=4, needs="user-secrets", kind="secret"),
    _Program(names="composer", place=-1, needs="http-basic github-oauth gitlab-token"),
    _Program(names="schtasks", option="/rp /p /RP /P"),
    _Program(names="snmp-server", after="community"),
    _Program(names="doctl", option="-t", needs="auth", kind="token"),
    _Program(names="snmpwalk snmpget snmpset", option="-A -X"),
    _Program(names="security", option="-w", needs="add-generic-password add-internet-password"),
    _Program(names="smbclient rpcclient", pair="-U --user"),
    _Program(names="lftp", pair="-u"),
    _Program(names="rclone", place=2, needs="obscure"),
    _Program(names="bw", place=2, needs="unlock"),
    _Program(names="bw", place=3, needs="login"),
    _Program(names="rdesktop cypher-shell snowsql hydra ncftpput ncftpget isql", option="-p -P"),
    _Program(names="xfreerdp wfreerdp", option="-p"),
    _Program(names="isql", place=3),
    _Program(names="security", option="-p", needs="unlock-keychain create-keychain"),
    _Program(names="security", place=2, needs="set-keychain-password"),
    _Program(names="signtool signtool.exe", option="/p"),
    _Program(names="openssl", place=2, needs="passwd"),
    _Program(names="cargo wandb", place=2, needs="login", kind="token"),
    _Program(names="ngrok", place=-1, needs="authtoken add-authtoken add-api-key", kind="token"),
    _Program(names="mc mcli", place=6, needs="alias", kind="secret"),
    _Program(names="mc mcli", place=7, needs="config", kind="secret"),
    _Program(names="nuget", option="-k -ApiKey --api-key", kind="token"),
    _Program(names="nuget", place=2, needs="setapikey setApiKey", kind="token"),
    _Program(names="altool notarytool", option="-p --password"),
    _Program(names="rabbitmqctl rabbitmqadmin", place=3, needs="add_user change_password"),
    _Program(names="influx", option="-password"),
    _Program(names="dscl", place=-1, needs="-passwd"),
    _Program(names="networksetup", place=-1, needs="-setairportnetwork"),
    _Program(names="pdftk", after="user_pw owner_pw input_pw"),
    _Program(names="drush", place=-1, needs="upwd user:password"),
    _Program(names="occ", place=-1, needs="user:resetpassword"),
    _Program(names="poetry", place=-1, needs="pypi-token http-basic", kind="token"),
)

_BY_NAME: Final[dict[str, list[_Program]]] = {}
for _row in _PROGRAMS:
    for _name in _row.names:
        _BY_NAME.setdefault(_name, []).append(_row)

_LONGEST: Final = 1024  # characters of a command that are read
_QUOTED: Final = 48  # strings in one that are; nobody writes more, and each takes its time
_ECHO_BACK: Final = 480  # and before a pipe
_BARE: Final = r"[^\s\"'`\\|;&<>()$]++"
_SIMPLE: Final = Lazy(rf"[ \t]*+({_BARE})(?=[ \t])")  # a word without anything to look at
_PLAIN: Final = Lazy(rf"(?:{_BARE}|&(?=\w)|\"{{6}}|'{{6}}|\\\"\\\")+")  # quotes of nothing, too
_BLANKS: Final = Lazy(r"(?:[ \t]|\\\r?\n|\\\\+n)+")
_QUOTES: Final = frozenset("\"'`")
_SLASHES: Final = Lazy(r"\\*")
_STRING_END: Final = Lazy(r"\"(?:[}\],:]|$)")  # of the JSON that the command stands in


class _Word(NamedTuple):
    """One word of a command line; a tuple, because many are made at every program."""

    start: int
    end: int  # behind it, with its quotes
    text: str  # as written, with its quotes


def _words(text: str, pos: int, *, most: int = 40) -> list[_Word]:
    """Cut a command into words, from `pos` to where the command ends."""
    words: list[_Word] = []
    limit = min(len(text), pos + _LONGEST)
    quotes = 0
    behind = pos  # the backslashes at `pos`; they are counted once, however many they are
    while pos < limit and len(words) < most:
        simple = _SIMPLE.match(text, pos, limit)
        if simple is not None:
            if simple[1] in _BY_NAME:
                break
            words.append(_Word(simple.start(1), simple.end(1), simple[1]))
            pos = simple.end()
            continue
        blank = _BLANKS.match(text, pos, limit)
        start = pos = blank.end() if blank is not None else pos
        while pos < limit:
            plain = _PLAIN.match(text, pos, limit)
            if plain is not None:
                pos = plain.end()
                continue
            if pos >= behind:
                slashes = _SLASHES.match(text, pos, limit + 1)
                behind = slashes.end() if slashes is not None else pos
            mark = text[behind : behind + 1]
            if pos > start and mark == '"' and _STRING_END.match(text, behind) is not None:
                limit = pos
            elif mark in _QUOTES and behind < limit:
                quotes += 1
                quoted = read_quoted(text, pos, within=limit - pos) if quotes <= _QUOTED else None
                pos = quoted.after if quoted is not None else limit
            elif text.startswith("$(", pos):
                close = text.find(")", pos, limit)
                pos = close + 1 if close >= 0 else limit
            elif text[pos] == "$":
                pos += 1
            elif pos == behind or mark in {"n", "r"} or (pos + 1 == behind and mark in "\r\n"):
                break
            else:  # what a backslash stands before is part of the word
                pos += max(2, (behind - pos) // 2 * 2)
        pos = min(pos, limit)
        if pos == start or text[start:pos] in _BY_NAME:  # the next program reads its own words
            break
        words.append(_Word(start, pos, text[start:pos]))
    return words


def _inside(text: str, start: int, end: int) -> tuple[int, int]:
    """Take the quotes off a word, or off the part of one that follows its option."""
    quoted = read_quoted(text, start) if start < end else None
    if quoted is not None and quoted.after <= end:
        return quoted.start, quoted.end
    return start, end


def _secret(text: str, start: int, end: int, kind: str) -> Iterator[Span]:
    """Give the secret at a place where nothing but a secret can stand."""
    if text.startswith("-", start):  # the next option
        return
    start, end = _inside(text, start, end)
    if start < end and text[start] != "{" and not is_stand_in(text[start:end]):
        yield start, end, kind


_USER: Final = Lazy(r"(?:[\w.-]+[/\\]+)?[^\s:%,/]*[:%,]")


def _pair(text: str, start: int, end: int) -> Iterator[Span]:
    """Give the password of a word such as `user:password` (also `user%password`)."""
    start, end = _inside(text, start, end)
    user = _USER.match(text, start, end)
    if user is None:
        return
    word = text[user.end() : end]
    ids = word.isdigit() and user[0][:-1].isdigit()  # 1000:1000
    if word and not ids and not is_stand_in(word):
        yield user.end(), end, "password"


def _program_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the secrets of a program of the table."""
    words: list[_Word] | None = None
    line = text[end : line_end(text, end, end + _LONGEST)]
    for row in _BY_NAME[text[at:end].strip().removesuffix(".exe")]:
        if not (row.place or line.endswith("\\") or row.mark.search(line)):
            continue  # most mentions of a program are not commands
        if words is None:
            words = _words(text, end)
        if not row.needs or any(_has(words, need) for need in row.needs):
            yield from _row_spans(text, row, words)


def _has(words: Sequence[_Word], need: str) -> bool:
    """Tell whether one of a command's words is, or is about, what a row needs."""
    return any(word.text == need or word.text.startswith(need + ".") for word in words)


_CLUSTER: Final = Lazy(r"-[A-Za-z]{2,6}")


def _row_spans(text: str, row: _Program, words: Sequence[_Word]) -> Iterator[Span]:
    for i, word in enumerate(words):
        option = word.text.strip("\"'\\")
        if row.clusters and _CLUSTER.fullmatch(option) is not None:
            option = "-" + option[-1]
        if row.wraps and option[:1] != "-":
            return
        following = words[i + 1] if i + 1 < len(words) else None
        if option not in row.takes:
            if word.text.startswith(row.begins):
                yield from _glued_spans(text, row, word)
        elif following is None:
            return
        elif option in row.option:
            yield from _secret(text, following.start, following.end, row.kind)
            if row.wraps:
                return
        elif option in row.pair:
            yield from _pair(text, following.start, following.end)
        else:
            start, end = _inside(text, following.start, following.end)
            yield from cookie_spans(text, Value(start=start, end=end, quote='"', after=end))
    bare = [word for word in words if word.text[0] != "-"]
    if row.place and len(bare) >= max(row.place, 2):
        chosen = bare[row.place - 1 if row.place > 0 else -1]
        yield from _secret(text, chosen.start, chosen.end, row.kind)


def _glued_spans(text: str, row: _Program, word: _Word) -> Iterator[Span]:
    """Give the secret that is written in one word with its option: `-pSECRET`, `--user=a:b`."""
    for option in row.glued:
        if word.text.startswith(option) and len(word.text) > len(option):
            begin = word.start + len(option)
            if text[begin] == "=" and begin + 1 < word.end:
                begin += 1
            yield from _secret(text, begin, word.end, row.kind)
            return
    for option in row.pair:
        joined = option + "=" if option.startswith("--") else option
        if word.text.startswith(joined) and len(word.text) > len(joined):
            yield from _pair(text, word.start + len(joined), word.end)
            return


def _setting_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the value of `setenv NAME value`, `set -x NAME value`, `config set name value`."""
    verb = text[at:end].strip()
    words = [word for word in _words(text, end, most=6) if word.text[0] != "-"]
    if verb in {"requirepass", "masterauth"}:
        if words and not is_stop_word(words[0].text):
            yield from _secret(text, words[0].start, words[0].end, "password")
        return
    if len(words) < 2 or "=" in words[0].text:
        return
    name = classify(words[0].text.rpartition(":")[2].strip("\"'"))
    start, stop = _inside(text, words[1].start, words[1].end)
    value = text[start:stop]
    if name is not None and value and not is_stand_in(value) and (name.plain or is_random(value)):
        yield start, stop, name.kind


_OPEN_FIELDS: Final = vocabulary(
    """
    user username login email host hostname port name db database url endpoint region type
    """
)
_KEY_VALUE: Final = Lazy(r"[= ](\\*[\"'])?([\w.-]+)=")


def _literal_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the value of `--from-literal=key=value`."""
    match = _KEY_VALUE.match(text, end, end + 160)
    if match is None or match[2].lower() in _OPEN_FIELDS:
        return
    quoted = read_quoted(text, match.start(1)) if match[1] else None
    words = _words(text, match.end(), most=1)
    if quoted is not None:
        yield from _secret(text, match.end(), quoted.end, "secret")
    elif words:
        yield from _secret(text, words[0].start, words[0].end, "secret")


_OPENSSL: Final = Lazy(
    r"-pass(?:in|out|word)?[ =]\\*[\"']?pass:\\*[\"']?((?:[^\s\"'`\\;|&)]|&(?=\w)){1,256})"
)


def _openssl_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password of OpenSSL's `-passin pass:word`."""
    match = _OPENSSL.match(text, at)
    if match is not None and not is_stand_in(match[1]):
        yield *match.span(1), "password"


_SECURE: Final = Lazy(r"ConvertTo-SecureString\s+(?:-String\s+)?(?=\\*[\"'])")


def _powershell_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the text of PowerShell's `ConvertTo-SecureString "word" -AsPlainText`."""
    match = _SECURE.match(text, at, at + 80)
    value = read_quoted(text, match.end()) if match is not None else None
    if value is not None and value.start < value.end:
        yield from _secret(text, value.start, value.end, "password")


_READS_A_SECRET: Final = Lazy(
    r"""(?x)(?:
      sudo\s(?:-[A-Za-z]+\s+){0,4}?(?:-[A-Za-z]*S|--stdin)\b | su\s | kinit | keyctl
    | (?:sudo\s+)?(?:smbpasswd|vncpasswd|pdbedit|passwd)\b
    | (?:sudo\s+)?(?:chpasswd|cryptsetup) | (?:sudo\s+)?passwd\s[^|]{0,60}--stdin | sshpass
    | [\w./-]+(?:[ ]+[^\s|]+){0,8}[ ]+
      (?:--password-stdin|--with-token|--stdin|--passphrase-fd[ =]0|-pass[ ]stdin)
    | (?:docker|podman)\s+secret\s+create | gh\s+secret\s+set | op\s | secret-tool\s+store
    | (?:npx\s+)?wrangler\s+(?:pages\s+)?secret\s+put | vault\s+login\s+- | pass\s+insert
    | ansible-vault\s+encrypt_string | vercel\s+env\s+add | doppler\s+secrets | kubeseal | ssh-add
    | security\s+add | rclone\s+obscure | htpasswd\s+-\w*i
    )"""
)
_READER: Final = Lazy(  # without one of these no program reads a secret
    r"sudo|su\s|kinit|keyctl|pass|pdbedit|crypt|stdin|token|secret|op\s|env\s|vault|seal|ssh-add"
    r"|add|obscure|read\s"
)
_WRITTEN: Final = r"""
    \b(?:echo|printf|print|yes|Write-Output)\s+(?:-[neE]+\s+){0,3}(?:\\*["']?%s(?:\\+n)?\\*["']?\s+)?
    (?:(?P<left>'\\{1,15}'')(?P<nested>[^'\n]{1,400}?)(?:\\+n)?(?P=left)
      |(?P<quote>\\*["'])(?P<quoted>(?:(?!(?P=quote))[^\n]|'\\{1,15}''){1,400}?)(?:\\+n)?(?P=quote)
      |(?P<bare>(?:[^\s"'|;&]|&(?=\w)){1,400}))"""
_ECHO: Final = Lazy(rf"(?x){_WRITTEN}\s*$")
_ECHO_IN_GROUP: Final = Lazy(rf"(?x){_WRITTEN}")
_GROUP: Final = Lazy(r"[({]([^(){}\n]{4,400})[)}]\s*$")
_PART: Final = Lazy(r"(?:(?!\\+n)[^\n])+")
_AFTER_PIPE: Final = Lazy(r"\|(?:[ \t]|\\\r?\n|\\\\+n)*")


def _piped_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give what `echo` writes into a program that reads a secret there."""
    start = match_end(_AFTER_PIPE, text, at, at + 40)
    reader = text[start : line_end(text, start, start + 240)]
    if _READS_A_SECRET.match(reader) is None:
        return
    low = max(0, at - _ECHO_BACK)
    group = _GROUP.search(text, low, at)
    if group is not None:  # (echo hunter2; echo hunter2) | passwd bob
        for start, stop in echoed(text, *group.span(1)):
            yield from _handed(text, start, stop, reader)
        return
    for start, stop in echoed(text, low, at, pattern=_ECHO):
        yield from _handed(text, start, stop, reader)


def echoed(
    text: str, low: int, high: int, *, pattern: Lazy = _ECHO_IN_GROUP
) -> Iterator[tuple[int, int]]:
    """Give the lines that the commands of a line write: of `echo a; printf '%s' b` both.

    Of `hunter2\\nhunter2` these are two.
    """
    for match in pattern.finditer(text, low, high):
        group = next(name for name in ("nested", "quoted", "bare") if match[name] is not None)
        start, stop = match.span(group)
        for part in _PART.finditer(text, start, stop):
            yield part.span()


def _here_string_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give what a here-string hands to a program that reads a secret there."""
    reader = re.split(r"[|;&\n<]", text[max(0, at - 240) : at])[-1]
    if not reader or _READER.search(reader) is None:
        return
    variable = _READ_INTO.search(reader)
    told = variable is not None and classify(variable[1]) is not None
    if not told and _READS_A_SECRET.search(reader) is None:
        return
    for word in _words(text, end, most=1):
        start, stop = _inside(text, word.start, word.end)
        yield from _handed(text, start, stop, reader)


_READ_INTO: Final = Lazy(r"\bread (?:-\S+ (?:''|\"\")? ?)*(\w+) *$")


_SETS: Final = Lazy(r"\benv\s+add\s+([\w.-]+)")


def _handed(text: str, start: int, end: int, reader: str) -> Iterator[Span]:
    """Give the secret in what a program reads; `chpasswd` reads the user before it."""
    if "chpasswd" in reader:
        start = text.find(":", start, end) + 1 or end
    word = text[start:end]
    variable = _SETS.search(reader)
    if variable is not None and classify(variable[1]) is None and not is_random(word):
        return  # settings of programs are kept there, too: `vercel env add NODE_ENV`
    if word and not is_stand_in(word) and word.lower() not in {"y", "yes", "n", "no"}:
        yield start, end, "password"


_SENT: Final = Lazy(r"(?:--\s)?(.*?)(?:\\+[rn])*$")


def _sent_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give what an expect script sends when it was asked for a password."""
    before = text[max(0, at - 160) : at]
    asked = max(before.rfind("assword"), before.rfind("assphrase"))
    if asked < 0 or "send" in before[asked:] or text.startswith("`", end):
        return
    value = read_quoted(text, end)
    if value is not None:
        word = _SENT.match(text[value.start : value.end])
        if word is not None and word[1]:
            start = value.start + word.start(1)
            yield from _secret(text, start, start + len(word[1]), "password")


def _user_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password of `--user name:password`, whichever program takes it."""
    for word in _words(text, end, most=1):
        start, stop = _inside(text, word.start, word.end)
        user, _, password = text[start:stop].partition(":")
        named = re.fullmatch(r"[\w.@+-]{1,64}", user) is not None
        group = password.isdigit() or re.fullmatch(r"[a-z_-]*", password) is not None
        if named and not group and "/" not in password and not is_stand_in(password):
            yield start + len(user) + 1, stop, "password"


_NO_PASSWORD: Final = Lazy(r"[A-Za-z]:$|[\"']?\\|/|\*|&|\|")
_ARGUMENT: Final = Lazy(r"\"[^\"\n]*\"|[^\s\"']+")


def _windows_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password of Windows' `net user name password /add` and `net use`."""
    # Paths of Windows look like escapes to a reader of shell words: \\\\server\\reports
    words = [
        _Word(start=match.start(), end=match.end(), text=match[0])
        for match in islice(_ARGUMENT.finditer(text, end, line_end(text, end, end + 300)), 10)
    ]
    plain = [word.text.lower() for word in words]
    if "user" in text[at:end].split():
        if len(words) >= 3 and plain[1][0] != "/" and any(w[0] == "/" for w in plain[2:]):
            yield from _secret(text, words[1].start, words[1].end, "password")
    elif any(word.startswith("/user:") for word in plain):
        for word in words:
            if _NO_PASSWORD.match(word.text) is None:
                yield from _secret(text, word.start, word.end, "password")
                return


_TUPLE: Final = Lazy(
    r"\s*(?:\w+\s*=\s*)?(\\*[\"'])[^\"'\n]{0,80}\1\s*,\s*(?:\w+\s*=\s*)?(?=\\*[\"'])"
)


def _tuple_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password of `auth=("user", "password")`."""
    match = _TUPLE.match(text, end, end + 200)
    value = read_quoted(text, match.end()) if match is not None else None
    if value is not None and not is_stop_word(text[value.start : value.end]):
        yield from _secret(text, value.start, value.end, "password")


_CONNECT: Final = Lazy(
    r"(?i)(?:\n|\\n)\s*conn(?:ect)? [\w$#]{1,64}/(?:\"([^\"\n]+)\"|([^\s/]+))@\w"
)
_LOGON: Final = Lazy(r"(\\*[\"'])?[\w$#]{1,64}/([^\s@\"'`/\\]{1,128})@?")


def _oracle_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password of Oracle's `sqlplus user/password@base`."""
    for word in _words(text, end, most=4):
        match = _LOGON.match(text, word.start, word.end)
        if match is not None and not is_stand_in(match[2]):
            yield *match.span(2), "password"
            return
    later = _CONNECT.search(text, end, end + _SCRIPT)
    if later is not None and not is_stand_in(later[later.lastindex or 0]):
        yield *later.span(later.lastindex or 0), "password"


_SCRIPT: Final = 400  # characters of a here-document that are read
_FTP_USER: Final = Lazy(r"(?:^|\n|\\n|[;\"']) ?(?:quote )?user (\S{1,64}) (\S{3,128})")


def _ftp_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password that a script of `ftp` logs in with."""
    match = _FTP_USER.search(text, end, end + _SCRIPT)
    if match is not None:
        yield from _secret(text, *match.span(2), "password")


_ACCOUNT: Final = Lazy(r"(?<![\w./-])[\w.-]{1,64}/[\w.$-]{1,64}:([^\s\"'`]{3,128})@[\w.-]+")


def _domain_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the password of `domain/user:password@host`."""
    match = _ACCOUNT.search(text, end, line_end(text, end, end + 300))
    if match is not None:
        yield from _secret(text, *match.span(1), "password")


_FEEDS: Final = Lazy(r"(?i)(?:pass|auth|cred|secret|token|key)[\w-]*[= ]?(?:[\"']|<\()?$")
_FED: Final = Lazy(
    r"""(?x)(?:echo|printf)[ ](?:-[neE]+[ ])?(?:["']?%s(?:\\+n)?["']?[ ])?
    (?: (?P<q>\\*["'])(?P<quoted>[^"'\n]{3,200}?(?:\n[^"'\n]{3,200})?)(?:\\+n|\n)?(?P=q)
      | (?P<bare>[^\s"'()|;]{3,200}) )"""
)


def _fed_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give what `--password-file=<(echo hunter2)` or `--password-command 'echo hunter2'` feeds."""
    words = max(text.rfind("echo", at, end), text.rfind("printf", at, end))
    if _FEEDS.search(text, max(0, words - 60), words) is None:
        return
    match = _FED.match(text, words, words + _SCRIPT)
    if match is None:
        return
    start, stop = match.span("quoted" if match["quoted"] is not None else "bare")
    parts = [part.span() for part in _PART.finditer(text, start, stop)]
    yield from _secret(text, *parts[-1], "password")  # behind the user, if there is one


def _masked_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give what a workflow of GitHub masks in its log."""
    for word in _words(text, end, most=1):
        yield from _secret(text, word.start, word.end, "secret")


_ASSIGNED: Final = Lazy(r"([\w.-]+)=(?!@)(?=.)")


def _vault_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give what is put into a store of secrets, and the token that opens it."""
    words = _words(text, end, most=16)
    if "login" in text[at:end]:
        first = next((word for word in words if word.text[0] != "-"), None)
        if first is not None and is_random(first.text.strip("\"'")):
            yield from _secret(text, first.start, first.end, "token")
        return
    for word in words[1:]:
        match = _ASSIGNED.match(word.text)
        name = classify(match[1]) if match is not None else None
        if match is not None and name is not None:
            yield from _secret(text, word.start + match.end(), word.end, name.kind)


_Finder = Callable[[str, int, int], Iterator[Span]]
_PIPED: Final = vocabulary(
    """
    sudo su docker podman nerdctl gh glab helm chpasswd passwd kinit cryptsetup wrangler npx vault
    gpg gpg2 op oc crane skopeo oras secret-tool smbpasswd pass ansible-vault vercel keyctl kubeseal
    doppler openssl sshpass ssh-add htpasswd security rclone pdbedit vncpasswd
    """
)
_FORMS: Final[tuple[tuple[str, _Finder], ...]] = (
    (r"\b(?:" + "|".join(sorted(_BY_NAME, reverse=True)) + r")(?:\.exe)? ", _program_spans),
    (
        r"\b(?:set -[a-zA-Z]{1,3}|setenv|setx|ENV|requirepass|masterauth|"
        r"(?:config|configure|secrets?)[ :]set) ",
        _setting_spans,
    ),
    (r"--from-literal", _literal_spans),
    (r"-pass(?:in|out|word)?[ =][\\\"']*pass:", _openssl_spans),
    (r"ConvertTo-SecureString", _powershell_spans),
    (r"\|[ \t\\\n]*(?:" + "|".join(sorted(_PIPED, reverse=True)) + r")\b", _piped_spans),
    (r"<<< ?", _here_string_spans),
    (r"<\((?:echo|printf) |-command[ =][\"'](?:echo|printf) ", _fed_spans),
    (r"\bftp -", _ftp_spans),
    (r"\bimpacket-|\b(?:secretsdump|wmiexec|smbexec|dcomexec)(?:\.py)? ", _domain_spans),
    (r"[sS]end(?:line|_line|Line)?[ (]", _sent_spans),
    (r"--user[ =]", _user_spans),
    (r"\b(?:sqlplus|expdp|impdp|sqlldr) ", _oracle_spans),
    (r"::add-mask::", _masked_spans),
    (r"\bnet use(?:r)? ", _windows_spans),
    (r"(?:auth ?= ?|Auth|\.auth)\(", _tuple_spans),
    (r"\bvault (?:login|kv put|kv patch|write) ", _vault_spans),
)
HINT: Final = "|".join(hint for hint, _ in _FORMS)
_BEGINNINGS: Final = tuple((Lazy(hint), finder) for hint, finder in _FORMS)


def command_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the secrets of the command at a hint."""
    form = _form(text[at:end])
    if form is not None:
        yield from form(text, at, end)


@lru_cache(maxsize=1024)
def _form(hint: str) -> _Finder | None:
    found = (finder for beginning, finder in _BEGINNINGS if beginning.match(hint) is not None)
    return next(found, None)
