"""Read facts off the commands of a shell: hosts, archives, checks, installed packages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from factbook.extract import outcomes, shell
from factbook.extract.base import Rule, RuleHit, word_set
from factbook.model.facts import Episode, Outcome

_HOST: Final = re.compile(r"(?!.*REDACTED)[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?")
_IPV6: Final = re.compile(r"[0-9A-Fa-f:.]{2,45}(?:%\w{1,16})?")
_LABEL: Final = re.compile(r"\[REDACTED:")

_COPY_VALUED: Final = {
    "scp": "cDFiJloPSX",
    "sftp": "BbcDFiJloPRSsX",
    "rsync": "efMTB@",
    "sshfs": "opF",
    "mosh": "p",
    "ssh-copy-id": "ioptF",
}
_COPY_LONG_VALUED: Final = word_set("""
    --rsh --rsync-path --exclude --include --exclude-from --include-from --files-from --filter
    --bwlimit --log-file --password-file --port --timeout --out-format --chown --chmod
    --compress-level --max-size --min-size --partial-dir --temp-dir --backup-dir --suffix
    --block-size --ssh --client --server --bind-server
    """)
_NO_LOGIN: Final = "255"  # the exit code of ssh where it reached nobody
_URL_SCHEMES: Final = ("ssh://", "scp://", "sftp://", "rsync://")


def hosts(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the machines that the command logs in to or copies to and from."""
    del rule
    answer = episode.answer
    stopped = answer is not None and answer.outcome is Outcome.STOPPED  # perhaps as nobody answered
    if outcomes.is_refused(episode) or stopped or (answer and answer.code == _NO_LOGIN):
        return
    for command in shell.parse(text):
        name = command.name
        if name in {"ssh", "autossh"}:
            destination, _ = shell.ssh_parts(command.args, name=name)
            words = [destination] if destination else []
            bare = True
        elif name in _COPY_VALUED:
            _, words = shell.options_and_operands(
                command.args, valued=_COPY_VALUED[name], long_valued=_COPY_LONG_VALUED
            )
            bare = name in {"sftp", "mosh", "ssh-copy-id"}
            words = words[:1] if bare else words
        else:
            continue
        untold = answer if answer and answer.outcome is Outcome.UNTOLD else None
        if untold and outcomes.error_line(untold.text, (name,)):
            continue  # the program says that it did not get there
        for word in words:
            if found := _destination(word, bare=bare):
                host, at = found
                start, end = word.span(at, at + len(host))
                yield RuleHit(host, start, end, {"program": name})


def _destination(word: shell.ShellWord, *, bare: bool) -> tuple[str, int] | None:
    """Return (host, place) of `[user@]host`, with a path, or of a URL; only if `bare` of a word."""
    value = word.value
    at, end = 0, len(value)
    url = value.startswith(_URL_SCHEMES)
    if url:
        at = value.index("://") + 3
        slash = value.find("/", at)
        end = end if slash < 0 else slash
    bracket = value.find("[", at, end)
    if bracket >= 0 and not _LABEL.match(value, bracket):
        close = value.find("]", bracket, end)
        inside = value[bracket + 1 : close]
        return (inside, bracket + 1) if close > 0 and _is_ipv6(inside) else None
    colon = value.find(":", at, end)
    slash = value.find("/", at, end)
    if not bare and not url and (colon < 0 or 0 <= slash < colon):
        return None  # a local file
    user = value.rfind("@", at, colon if colon >= 0 and not bare else end)
    start = user + 1 if user >= 0 else at
    if bare and not url and _is_ipv6(value[start:end]):
        return value[start:end], start
    colon = value.find(":", start, end)
    host = value[start : colon if colon >= 0 else end]
    if len(host) == 1 and not bare and value[colon + 1 : colon + 2] in {"\\", "/"}:
        return None  # C:/Users
    return (host, start) if _HOST.fullmatch(host) else None


def _is_ipv6(text: str) -> bool:
    return text.count(":") >= 2 and _IPV6.fullmatch(text) is not None


_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^\s/?#@]*@)?(\[[^\]]*\]|[^\s/?#:\[\]]+)", re.I)
_NAMELESS: Final = re.compile(
    r"(?:.*\.)?(?:localhost|local(?:host)?domain|example(?:\.(?:com|org|net))?|test|invalid)"
    r"|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1?\]?",
    re.IGNORECASE,
)  # this very machine, and names that stand for any
_URL_CLIENTS: Final = word_set(
    "curl wget http https httpie xh aria2c psql mysql mariadb redis-cli mongosh mongo mongodump"
    " mongorestore pg_dump pg_restore wscat websocat grpcurl docker kubectl"
)
_HOST_OPTIONS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        word_set("psql pg_dump pg_restore createdb mysql mysqldump mariadb mongodump"),
        word_set("-h --host"),
    ),
    "redis-cli": word_set("-h"),
    "mongosh": word_set("--host"),
    "docker": word_set("-H --host"),
    "kubectl": word_set("--context -s --server"),
    "helm": word_set("--kube-context"),
}
_CALLED: Final = {"nc": "eIiLmOPpqSsTVWwXx", "ncat": "cegiopsuvwx", "telnet": "bel"}
_LISTENS: Final = re.compile(r"-[a-zA-Z]*l[a-zA-Z]*|--listen")


def url_host(url: str) -> tuple[str, int] | None:
    """Return the host of a URL and where it stands; None for a file's and for this machine's."""
    match = _URL.match(url)
    if match is None or url.lower().startswith("file:"):
        return None
    return _named_host(match[1], match.start(1))


def _named_host(host: str, at: int) -> tuple[str, int] | None:
    if host.startswith("["):
        return (host[1:-1], at + 1) if _is_ipv6(host[1:-1]) and host != "[::1]" else None
    if not _HOST.fullmatch(host) or _NAMELESS.fullmatch(host):
        return None
    return host, at


def urls(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the machine that a page was fetched from."""
    del rule, episode
    lead = len(text) - len(text.lstrip())
    if found := url_host(text.strip()):
        host, at = found
        yield RuleHit(host, lead + at, lead + at + len(host))


def clients(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the machines that curl, wget, nc and the clients of databases and clusters talk to."""
    del rule
    commands = shell.parse(text)
    for n, command in enumerate(commands):
        found = list(_client_hosts(command))
        answer = episode.answer if found else None
        if answer is not None and _gave_way(text, commands[n:], answer.text):
            continue
        for word, host, at in found:
            start, end = word.span(at, at + len(host))
            yield RuleHit(host, start, end, {"program": command.name})


def _gave_way(text: str, commands: Sequence[shell.ShellCommand], output: str) -> bool:
    """Tell whether what was to be said if the first command fails ("|| echo DOWN") was said."""
    for before, after in pairwise(commands):
        between = text[before.end : after.start]
        if "||" in between:
            said = " ".join(word.value for word in after.args)
            return after.name == "echo" and said in map(str.strip, output.splitlines())
        if "&&" not in between:
            return False
    return False


def _client_hosts(command: shell.ShellCommand) -> Iterator[tuple[shell.ShellWord, str, int]]:
    name, args = command.name, command.args
    options = _HOST_OPTIONS.get(name, frozenset())
    for at, word in enumerate(args):
        value = word.value
        option, sign, _ = value.partition("=")
        offset = len(option) + 1 if sign and option in options else 0
        named = offset > 0 or (at > 0 and args[at - 1].value in options)
        found = url_host(value[offset:]) if named or name in _URL_CLIENTS else None
        if named and found is None:
            found = _named_host(value[offset:], 0)
        if found:
            yield word, found[0], found[1] + offset
    if name in _CALLED and not any(_LISTENS.fullmatch(word.value) for word in args):
        _, operands = shell.options_and_operands(args, valued=_CALLED[name])
        called = _named_host(operands[0].value, 0) if len(operands) > 1 else None
        if called:
            yield operands[0], *called


_UNPACK: Final = word_set(
    "unzip gunzip unrar bunzip2 unxz unzstd untar unlzma uncompress zcat bzcat xzcat zstdcat"
)
_TOGGLED: Final = word_set("gzip bzip2 xz zstd lz4 lzma pigz")  # -d turns them round
_TARS: Final = word_set("tar bsdtar gtar")
_TAR_DOES: Final = {
    "x": "unpacked", "c": "packed", "t": "listed", "r": "packed", "u": "packed", "l": "listed"
}  # fmt: skip
_SEVENS: Final = word_set("7z 7za 7zz rar unrar")
_SEVEN_DOES: Final = {
    "x": "unpacked", "e": "unpacked", "a": "packed", "u": "packed", "l": "listed", "t": "tested"
}  # fmt: skip
_LETTERS: Final = re.compile(r"-\d*([A-Za-z]+)")  # -9d, -T0, -xzfarchive.tgz
_LONG_LETTERS: Final = {
    "--extract": "x", "--get": "x", "--create": "c", "--list": "l", "--append": "r",
    "--update": "u", "--test": "t", "--decompress": "d",
}  # fmt: skip


def archives(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the commands that pack, unpack or list archives."""
    del episode
    programs = frozenset(rule.keywords)
    for command in shell.parse(text):
        if command.name not in programs or not command.args:
            continue
        if verb := _archive_verb(command):
            details = {"verb": verb, "part": text[command.start : command.end]}
            yield RuleHit("archive_manipulation", command.start, command.end, details)


def _archive_verb(command: shell.ShellCommand) -> str:
    """Say what is done to the archive; empty where only help or the version is asked for."""
    name = command.name
    values = [word.value for word in command.args]
    first = values[0] if values else ""
    if not first or (name != "gzip" and not {"--help", "--version", "-h"}.isdisjoint(values)):
        return ""
    if name in _SEVENS:
        return _SEVEN_DOES.get(first[0], "")
    letters = "".join(found[1] for value in values if (found := _LETTERS.match(value)))
    letters += "".join(_LONG_LETTERS.get(value, "") for value in values)
    if name in _TARS:
        letters += first if not first.startswith("-") else ""  # `tar xzf` has no dash
        return next((verb for letter, verb in _TAR_DOES.items() if letter in letters), "")
    if "T" in letters if name == "zip" else "t" in letters:
        return "tested"
    if name == "zip":
        return "packed"
    if "l" in letters or name == "zipinfo":
        return "listed"
    return "unpacked" if name in _UNPACK or (name in _TOGGLED and "d" in letters) else "packed"


_QUOTES_OTHERS: Final = word_set(
    "echo printf grep egrep fgrep rg ag ack sed awk gawk find fd jq cat man which type export"
)  # a flag among their words is a text that they search or print
_CHECK_FLAGS: Final = ("--verify", "--check", "--dry-run", "--test")
_ONLY_ASKS: Final = word_set(
    "--help --version --markers --collect-only --co --listTests --list-tests --fixtures"
)  # tells about tests and runs none
_TESTED: Final = _TARS | _SEVENS | word_set("unzip gzip gunzip bzip2 xz zstd zip")
_SUMS: Final = re.compile(r"(?:(?:sha\d*|md5|b2|b3|ck)sum|shasum)")
_RUNNERS: Final = word_set("""
    npm pnpm yarn bun deno cargo go make gmake just task mise dotnet mvn mvnw gradle gradlew mix
    swift flutter dart rails bazel nx turbo lerna rush hatch pdm poetry uv tox nox ng forge
    """)
_TEST_TASK: Final = re.compile(r"tests?(?:[:_-][\w:.-]+)?")
_TEST_PROGRAMS: Final = word_set(
    "pytest py.test vitest jest mocha ava rspec phpunit ctest unittest tox nox bats"
)
_LAUNCHERS: Final = word_set("npx pnpx bunx uvx pnpm yarn bun npm uv poetry pdm hatch rye")
_LAUNCHED_BY: Final = frozenset({"run", "exec", "dlx", "x"})
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")


def checks(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the commands that check something: verification flags, checksums, tests."""
    del rule
    for command in () if outcomes.is_refused(episode) else shell.parse(text):
        if is_check(command):
            part = {"part": text[command.start : command.end]}
            yield RuleHit("verification", command.start, command.end, part)


def check_commands(text: str) -> list[shell.ShellCommand]:
    """Return the commands whose outcome says whether something is as it should be."""
    commands = shell.parse(text)
    return [command for command in commands if command.name != "test" and is_check(command)]


def is_check(command: shell.ShellCommand) -> bool:
    """Tell whether a command checks something and changes nothing."""
    name, args = command.name, command.args
    values = [word.value for word in args]
    if not name or name in _QUOTES_OTHERS or not _ONLY_ASKS.isdisjoint(values):
        return False
    if name == "test" or name in _TEST_PROGRAMS:
        return bool(args) or name != "test"
    before_dashes = values[: values.index("--")] if "--" in values else values
    if any(_is_check_flag(value) for value in before_dashes):
        return True
    if _SUMS.fullmatch(name):
        return any(value in {"-c", "--check"} for value in values)
    if name in _TESTED:
        return _archive_verb(command) == ("listed" if name in _TARS else "tested")
    return _runs_tests(name, values)


def _is_check_flag(value: str) -> bool:
    flag, _, setting = value.partition("=")
    return flag in _CHECK_FLAGS and setting.lower() not in {"false", "no", "none", "0"}


def runs_tests(command: shell.ShellCommand) -> bool:
    """Tell whether a command runs tests, and does not check something else."""
    values = [word.value for word in command.args]
    return command.name in _TEST_PROGRAMS or _runs_tests(command.name, values)


def aim(command: shell.ShellCommand) -> tuple[str, list[str]]:
    """Return the program that a command is about, without what launches it, and its operands.

    Which options take a value is not known of any program, so their values are among the operands.
    """
    args: Sequence[shell.ShellWord] = command.args
    if command.name == "git":  # another message makes no other commit
        messages = frozenset({"--message", "--file"})
        _, args = shell.options_and_operands(git_command(args), valued="mF", long_valued=messages)
    words = [command.name, *(word.value for word in args)]
    tester = next((n for n, word in enumerate(words) if word in _TEST_PROGRAMS), None)
    if tester is not None and runs_tests(command):
        words = words[tester:]
    elif _PYTHON.fullmatch(words[0]) and "-m" in words[:-1]:
        words = words[words.index("-m") + 1 :]
    words = [word for word in words if not word.startswith("-")] or [command.name]
    if words[0] in _LAUNCHERS:
        words = [word for word in words[1:] if word not in _LAUNCHED_BY] or words[:1]
    name, *rest = words
    if rest and name in _RUNNERS and _TEST_TASK.fullmatch(rest[0]):
        name = f"{name} {rest.pop(0)}"
    return name, rest


def asks_only(command: shell.ShellCommand) -> frozenset[str]:
    """Return the options of a command by which it only tells what it would do."""
    return frozenset(word.value for word in command.args) & (_ONLY_ASKS | {"--dry-run"})


def _runs_tests(name: str, values: Sequence[str]) -> bool:
    """Tell `npm run test:unit`, `cargo test` and `uv run pytest` from everything else."""
    plain = [value for value in values if not value.startswith("-")]
    if name in _RUNNERS:
        tasks = plain[1:2] if plain[:1] in (["run"], ["workspace"], ["exec"]) else plain[:1]
        if any(_TEST_TASK.fullmatch(value) for value in tasks):
            return True
        if "test" in plain[:3] and name in {"npm", "pnpm", "yarn", "mvn", "gradle", "gradlew"}:
            return True
    if name in _LAUNCHERS:
        rest = [value for value in plain if value not in _LAUNCHED_BY]
        return bool(rest) and rest[0] in _TEST_PROGRAMS
    if _PYTHON.fullmatch(name):
        return any(flag == "-m" and module in _TEST_PROGRAMS for flag, module in pairwise(values))
    return False


def git_command(args: Sequence[shell.ShellWord]) -> Sequence[shell.ShellWord]:
    """Return the words from git's own subcommand on (`git -C folder log`)."""
    at = 0
    while at < len(args) and args[at].value.startswith("-"):
        at += 2 if args[at].value in {"-C", "-c", "--git-dir", "--work-tree"} else 1
    return args[at:]


_INSTALLERS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        word_set(
            "pip pip3 pipx conda mamba gem brew apt apt-get dnf yum zypper snap choco winget scoop"
        ),
        word_set("install"),
    ),
    **dict.fromkeys(("uv", "poetry", "pdm", "yarn", "apk"), word_set("add")),
    **dict.fromkeys(("npm", "pnpm", "bun"), word_set("install i add")),
    "cargo": word_set("add install"),
    "go": word_set("get install"),
    "composer": word_set("require"),
}
_PACKAGE: Final = re.compile(r"@?[A-Za-z0-9][\w.+/-]*")
_VERSION: Final = re.compile(r"[<>=!~\[;^]|(?<=.)@")
_VALUED: Final[dict[str, frozenset[str]]] = {
    # options that take the next word, by family of package managers
    "python": word_set("""
        -r -c -e -i -f -t -p -n -G -C --requirement --constraint --editable --index-url --find-links
        --extra-index-url --index --target --prefix --python --group --extra --optional --source
        --channel --name
        """),
    "npm": word_set("-w -F -C --workspace --filter --registry --prefix --cwd --dir --tag --omit"),
    "apt": word_set("-t -o -c --target-release --repo --repository --enablerepo --virtual"),
    "other": word_set("""
        -v -F -p --version --features --path --git --branch --tag --rev --registry --source --id
        --bucket --channel --root --target
        """),
}
_FAMILY: Final = {
    **dict.fromkeys(("pip", "pip3", "pipx", "uv", "poetry", "pdm", "conda", "mamba"), "python"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), "npm"),
    **dict.fromkeys(("apt", "apt-get", "dnf", "yum", "zypper", "apk"), "apt"),
}

_REHEARSED: Final = word_set("""
    --dry-run --simulate --just-print --no-act --recon --download-only --help
    """)  # tells what would be installed, or only fetches it
_REHEARSED_SHORT: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("apt", "apt-get"), word_set("-s -d")),
    "brew": word_set("-n"),
    "apk": word_set("-s"),
}


def packages(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the packages that a package manager installed by name, with their versions."""
    del rule
    answer = episode.answer
    ended = (Outcome.DONE, Outcome.UNTOLD)
    if answer is None or answer.outcome not in ended or outcomes.shows_failure(answer.text):
        return
    for command in shell.parse(text):
        name, args = command.name, list(command.args)
        if _PYTHON.fullmatch(name) and [word.value for word in args[:2]] == ["-m", "pip"]:
            name, args = "pip", args[2:]
        elif name == "uv" and args and args[0].value in {"pip", "tool"}:
            name, args = "pip", args[1:]
        verbs = _INSTALLERS.get(name)
        if verbs is None:
            continue
        family = _FAMILY.get(name, "other")
        valued = _VALUED[family]
        _, operands = shell.options_and_operands(args, long_valued=valued)
        if not operands or operands[0].value not in verbs:
            continue
        rehearsed = _REHEARSED | _REHEARSED_SHORT.get(name, frozenset())
        if any(word.value in rehearsed for word in args):
            continue
        # A folder or a file stands for packages that only the output names.
        whole = [word for option, word in pairwise(args) if option.value in _ALL_OF]
        whole += [word for word in operands[1:] if _FOLDER.fullmatch(word.value)]
        for package, version in _listed(answer.text) if whole and family == "python" else ():
            details = {"program": name, "named": f"{package} {version}"}
            yield RuleHit(package, *whole[0].span(0, len(whole[0].value)), details)
        for word in operands[1:]:
            package = _VERSION.split(word.value, maxsplit=1)[0]
            if not _PACKAGE.fullmatch(package) or _is_place(name, word.value, package):
                continue
            if not _was_there(package, family, answer.text):
                start, end = word.span(0, len(package))
                version = _version(word.value[len(package) :], package, answer.text)
                details = {"program": name, "named": f"{package} {version}".rstrip()}
                yield RuleHit(package, start, end, details)


_LISTED: Final = re.compile(
    r"^Successfully installed (?P<pip>.+)$|^ [+~] (?P<uv>\S+)==(?P<release>[^\s(]+)", re.MULTILINE
)  # what an installer of Python says it put there, whole
_RELEASE: Final = re.compile(r"-\d[^\s-]*(?=\s|$)")
_ONE: Final = re.compile(r"(?P<name>\S+?)-(?P<release>\d[^\s…-]*)(?=\s|$)")
_ALL_OF: Final = frozenset({"-e", "--editable", "-r", "--requirement"})
_FOLDER: Final = re.compile(r"\.{0,2}/.*|\.{1,2}(?:\[.*\])?")
_ALREADY: Final = re.compile(r"^.*\balready\b.*$", re.MULTILINE | re.IGNORECASE)
_PARTS: Final = re.compile(r"[-_.]+")
_NAMES: Final = re.compile(r"[a-z0-9][a-z0-9-]*")


def _listed(output: str) -> Iterator[tuple[str, str]]:
    """Yield the packages that an installer of Python says it put there, with their versions."""
    for match in _LISTED.finditer(output):
        if match["uv"]:
            yield match["uv"], match["release"]
        else:
            yield from ((one["name"], one["release"]) for one in _ONE.finditer(match["pip"]))


def _was_there(package: str, family: str, output: str) -> bool:
    """Tell whether an installer had nothing to do for a package, as its output says."""
    listed = list(_LISTED.finditer(output)) if family == "python" else []
    names = " ".join(match["uv"] or _RELEASE.sub("", match["pip"]) for match in listed)
    told = names or "\n".join(_ALREADY.findall(output))
    named = _names(package) <= _names(told)
    whole = not any(match[0].endswith("…") for match in listed)
    return whole and not named if names else named


def _names(text: str) -> set[str]:
    return set(_NAMES.findall(_PARTS.sub("-", text.lower())))


_PINNED: Final = re.compile(r"(?:\[[^\]]*\])?(?:===?|@|=)v?(\d[\w.+!-]*)")
_BEFORE_RELEASE: Final = r"(?:-[A-Za-z][\w.]*(?![\w.-]))?"  # "-rc.1", not a file's "-py3-…"
_MAX_PACKAGE: Final = 100  # characters of a name that the output is searched for


def _version(asked: str, package: str, output: str) -> str:
    """Return the version that the installer names, else the one that was asked for."""
    pinned = _PINNED.match(asked)
    if pinned and pinned[1] in output:
        return pinned[1]  # not the one before it: "upgraded 1.0 => 1.1"
    if package.lower() in output.lower() and len(package) <= _MAX_PACKAGE:
        name = "[-_.]".join(map(re.escape, re.split(r"[-_.]", package)))
        # `requests-2.31.0`, `requests==2.31.0`, `react@18.2.0`, `serde v1.0.2`, `jq (1.7)`
        written = re.search(
            rf"(?<![\w/-]){name}(?:==|@| ?[-=] ?| v?\(?| v)(\d+(?:\.[\w+]+)+{_BEFORE_RELEASE})",
            output,
            re.IGNORECASE,
        )
        if written:
            return written[1].rstrip(".")
    return pinned[1] if pinned else ""


def _is_place(program: str, value: str, package: str) -> bool:
    """Tell a file or a URL (or a bare number) from the name of a package."""
    if package.startswith("@"):
        return "/" not in package
    if "://" in value or not any(char.isalpha() for char in package):
        return True
    if package.endswith((".whl", ".gz", ".zip", ".txt", ".deb", ".tgz", ".rpm", "/")):
        return True
    owner_and_name = package.count("/") == 1 and "." not in package
    return owner_and_name and program not in {"composer", "brew"}
