"""Read facts off the commands of a shell: hosts, archives, checks, commits, installed packages.

Knows: the options of the programs that it names, and what git and package managers answer. Does not
know the shell's grammar (`shell` does).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from factbook import policy
from factbook.extract import outcomes, shell
from factbook.extract.base import Rule, RuleHit, word_set
from factbook.model.facts import Episode, Outcome
from factbook.model.text import shorten

__all__ = [
    "CALLERS",
    "archives",
    "checks",
    "clients",
    "commits",
    "hosts",
    "is_check",
    "packages",
    "urls",
]

# --- hosts ----------------------------------------------------------------------------------------

_NAME: Final = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
_IPV6: Final = r"[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*"
_DESTINATION: Final = re.compile(
    rf"(?P<url>(?:ssh|scp|sftp|rsync)://)?(?:[^@/]*@)?"
    rf"(?:\[(?P<ipv6>{_IPV6})\]|(?P<bare>{_IPV6})$|(?P<host>{_NAME}))(?P<path>:|/|$)"
)
_COPIES: Final = {  # the short options that take a value
    "scp": "cDFiJloPSX",
    "sftp": "BbcDFiJloPRSsX",
    "rsync": "efMTB@",
    "mosh": "p",
}
_COPY_LONG_VALUED: Final = word_set(
    "--rsh --rsync-path --exclude --include --exclude-from --include-from --files-from --filter"
    " --bwlimit --log-file --password-file --port --chown --chmod --max-size --min-size --ssh"
)
_NO_LOGIN: Final = "255"  # the exit code of ssh where it reached nobody


def hosts(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the machines that the command logs in to or copies to and from."""
    del rule
    answer = episode.answer
    if answer is not None and (answer.outcome is Outcome.REFUSED or answer.code == _NO_LOGIN):
        return
    for command in shell.parse(text):
        name = command.name
        words: Sequence[shell.ShellWord] = command.args
        if name == "ssh":
            words = shell.after_options(words, valued=shell.SSH_VALUED)[:1]
        elif name in _COPIES:
            valued = _COPIES[name]
            words = shell.operands(words, valued=valued, long_valued=_COPY_LONG_VALUED)
            words = words if name in {"scp", "rsync"} else words[:1]
        else:
            continue
        for word in words:
            found = _DESTINATION.match(word.value)
            if found is None:
                continue
            kind = next(kind for kind in ("ipv6", "bare", "host") if found[kind])
            copies = name in {"scp", "rsync"} and not found["url"]
            if copies and (kind == "bare" or found["path"] != ":" or len(found[kind]) < 2):
                continue  # a local file, also C:/Users
            yield RuleHit(found[kind], *word.span(*found.span(kind)), {"program": name})


_URL: Final = re.compile(
    rf"(?!file:)[a-z][a-z0-9+.-]*://(?:[^\s/?#@]*@)?(?:\[({_IPV6})\]|({_NAME})(?![^\s/?#:]))", re.I
)
_NAMELESS: Final = re.compile(
    r"(?:.*\.)?(?:localhost|local(?:host)?domain|example(?:\.(?:com|org|net))?|test|invalid)"
    r"|127(?:\.\d+){3}|0\.0\.0\.0|::1?",
    re.IGNORECASE,
)  # this very machine, and names that stand for any
_CLIENTS: Final = word_set("curl wget http https httpie xh aria2c psql mongosh docker")
_HOST_OPTIONS: Final = {
    program: frozenset(options.split())
    for programs, options in (
        ("psql pg_dump pg_restore createdb mysql mysqldump mariadb mongodump", "-h --host"),
        ("redis-cli", "-h"),
        ("mongosh", "--host"),
        ("docker", "-H --host"),
        ("kubectl", "--context -s --server"),
        ("helm", "--kube-context"),
    )
    for program in programs.split()
}
_CALLED: Final = {"nc": "eIiLmOPpqSsTVWwXx", "ncat": "cegiopsuvwx", "telnet": "bel"}
CALLERS: Final = (*_HOST_OPTIONS, *_CALLED)
"""Programs that are given a host without a URL."""
_LISTENS: Final = re.compile(r"-[a-zA-Z]*l[a-zA-Z]*|--listen")


def _url_host(word: str) -> tuple[str, int, int] | None:
    """Return the host of a URL and where it stands; None for a file's and for this machine's."""
    match = _URL.match(word)
    if match is None or _NAMELESS.fullmatch(match[match.lastindex or 0]):
        return None
    return match[match.lastindex or 0], *match.span(match.lastindex or 0)


def urls(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the machine that a page was fetched from."""
    del rule, episode
    found = _url_host(text.strip())
    if found:
        lead = text.index(text.strip())
        yield RuleHit(found[0], lead + found[1], lead + found[2])


def clients(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the machines that curl, wget, nc and the clients of databases and clusters talk to."""
    del rule, episode
    for command in shell.parse(text):
        for word in command.args if command.name in _CLIENTS else ():
            found = _url_host(word.value)
            if found:
                yield RuleHit(found[0], *word.span(*found[1:]), {"program": command.name})
        for word, at in _given_hosts(command):
            host = re.compile(_NAME).match(word.value, at)
            if host and host.end() == len(word.value) and not _NAMELESS.fullmatch(host[0]):
                yield RuleHit(host[0], *word.span(*host.span()), {"program": command.name})


def _given_hosts(command: shell.ShellCommand) -> Iterator[tuple[shell.ShellWord, int]]:
    """Yield the words that give a host without a URL, each with where in it that begins."""
    name, args = command.name, command.args
    options = _HOST_OPTIONS.get(name, frozenset())
    for at, word in enumerate(args):
        option, sign, _ = word.value.partition("=")
        if option in options and sign:
            yield word, len(option) + 1
        elif at and args[at - 1].value in options:
            yield word, 0
    if name in _CALLED and not any(_LISTENS.fullmatch(word.value) for word in args):
        words = shell.operands(args, valued=_CALLED[name])
        yield from ((word, 0) for word in words[:1] if len(words) > 1)


# --- archives and checks --------------------------------------------------------------------------

_ONLY_ASKS: Final = word_set(
    "--help --version --markers --collect-only --co --listTests --list-tests --fixtures"
)  # tells about a program, or about tests, and runs none


_TAKES_APART: Final = word_set("unzip gunzip bunzip2 unxz unzstd unrar zcat bzcat xzcat zstdcat")


def archives(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the commands that pack, unpack or list archives."""
    del episode
    programs = frozenset(rule.keywords)
    for command in shell.parse(text):
        values = [word.value for word in command.args]
        if command.name in programs and values and _ONLY_ASKS.isdisjoint(values):
            verb = _archive_verb(command.name, values)
            yield _part("archive_manipulation", text, command, verb=verb)


def _archive_verb(name: str, values: Sequence[str]) -> str:
    """Say what is done to the archive."""
    options = [value for value in values if value.startswith("-")]
    if name.endswith(("tar", "7z", "rar")):
        options.append(values[0])  # `tar xzf` has no dash
    signs = {sign for each in options for sign in ([each] if each.startswith("--") else each)}
    if signs & {"l", "t", "--list", "--test"}:
        return "listed"
    takes_apart = name in _TAKES_APART or signs & {"x", "d", "--extract", "--get", "--decompress"}
    return "unpacked" if takes_apart else "packed"


def checks(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the commands that check something: verification flags, checksums, tests."""
    del rule, episode
    for command in shell.parse(text):
        if is_check(command):
            yield _part("verification", text, command)


def _part(operation: str, text: str, command: shell.ShellCommand, **more: str) -> RuleHit:
    start, end = command.start, command.end
    return RuleHit(operation, start, end, {"part": text[start:end], **more})


_QUOTES_OTHERS: Final = word_set(
    "echo printf grep egrep fgrep rg ag ack sed awk gawk find fd jq cat man which type export"
)  # a flag among their words is a text that they search or print
_CHECK_FLAG: Final = re.compile(
    r"--(?:verify|check|dry-run|test)(?:=(?!(?:false|no|none|0)$).*)?", re.IGNORECASE
)
_SUMS: Final = re.compile(r"(?:(?:sha\d*|md5|b2|b3|ck)sum|shasum)")
_SUMS_FLAG: Final = re.compile(r"-[a-z]*c|--check")
_ARCHIVERS: Final = word_set("tar bsdtar gtar unzip gzip gunzip bzip2 xz zstd zip 7z")
_TESTS_ARCHIVE: Final = re.compile(r"-[A-Za-wyz]*[tT][A-Za-wyz]*")  # -x takes it apart
_TEST_TASK: Final = re.compile(r"tests?(?:[:_-][\w:.-]+)?")
_TEST_PROGRAMS: Final = word_set(
    "pytest py.test vitest jest mocha ava rspec phpunit ctest unittest tox nox bats"
)
_RUNNERS: Final = word_set("""
    npm pnpm yarn bun deno npx pnpx bunx cargo go make gmake just task dotnet mvn gradle gradlew mix
    swift flutter rails bazel nx turbo hatch pdm poetry uv uvx rye
    """)
_RUN: Final = word_set("run exec dlx x workspace")
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")


def is_check(command: shell.ShellCommand) -> bool:
    """Tell whether a command checks something and changes nothing."""
    name = command.name
    values = [word.value for word in command.args]
    if not name or name in _QUOTES_OTHERS or not _ONLY_ASKS.isdisjoint(values):
        return False
    if name in _TEST_PROGRAMS or (name == "test" and values):
        return True
    options = values[: values.index("--")] if "--" in values else values
    if any(_CHECK_FLAG.fullmatch(value) for value in options):
        return True
    if _SUMS.fullmatch(name):
        return any(_SUMS_FLAG.fullmatch(value) for value in values)
    if name in _ARCHIVERS:
        first = [f"-{value}" for value in values[:1] if name.endswith(("tar", "7z"))]
        return any(_TESTS_ARCHIVE.fullmatch(value) for value in [*first, *options])
    if _PYTHON.fullmatch(name):
        return any(flag == "-m" and module in _TEST_PROGRAMS for flag, module in pairwise(values))
    if name not in _RUNNERS:
        return False
    plain = [value for value in values if not value.startswith("-") and value not in _RUN][:1]
    return any(value in _TEST_PROGRAMS or _TEST_TASK.fullmatch(value) for value in plain)


# --- commits --------------------------------------------------------------------------------------

_SHOWN_COMMIT: Final = re.compile(
    r"^\[[^\]\n]{1,200}?(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.+)$",
    re.MULTILINE,
)
_NO_COMMIT: Final = re.compile(
    r"^nothing (?:to commit|added to commit)|^no changes added to commit|^Aborting commit"
    r"|\bhooks?\b.{0,60}\b(?:failed|exited with|error)|^CONFLICT\b|^On branch\b|\.Failed$",
    re.MULTILINE | re.IGNORECASE,
)
_HEREDOC: Final = re.compile(r"\$\(\w+ <<-?\s*['\"]?\w+['\"]?\n")
_GIT_VALUED: Final = word_set("-C -c --git-dir --work-tree")


def commits(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the subject lines of the commits that were made, with their hashes.

    Git says which; where its line is not shown, a commit that ended well and shows no failure was
    made too.
    """
    del rule
    answer = episode.answer
    if answer is None:
        return
    shown = list(_SHOWN_COMMIT.finditer(answer.text))
    quiet = (
        answer.outcome is Outcome.DONE
        and not _NO_COMMIT.search(answer.text)
        and not outcomes.shows_failure(answer.text)
    )
    for command in shell.parse(text) if shown or quiet else ():
        words = git_command(command.args)
        values = [word.value for word in words]
        if command.name != "git" or values[:1] != ["commit"] or "--dry-run" in values:
            continue
        subject, start, end = _subject(text, command, words)
        deed = "committed"
        if shown:
            # Git shortens no subject, so a message that differs was changed by a hook or an editor.
            made = shown.pop(0)
            subject, deed = made["subject"], f"committed {made['hash']}"
        if subject:
            yield RuleHit(shorten(subject, policy.SNIPPET_CHARS), start, end, {"deed": deed})


def git_command(args: Sequence[shell.ShellWord]) -> Sequence[shell.ShellWord]:
    """Return the words from git's own subcommand on (`git -C folder log`)."""
    return shell.after_options(args, long_valued=_GIT_VALUED)


def _subject(
    text: str, command: shell.ShellCommand, words: Sequence[shell.ShellWord]
) -> tuple[str, int, int]:
    """Return the first line of a commit's message, and what shows it; empty where none is given."""
    message = next(
        (
            value.value.removeprefix("--message=")
            for flag, value in pairwise([words[0], *words])
            if value.value.startswith("--message=")
            or re.fullmatch(r"--message|-[a-zA-Z]*m", flag.value)
        ),
        "",
    )
    message = _HEREDOC.sub("", message, count=1)
    subject = next((line.strip() for line in message.split("\n") if line.strip()), "")
    at = text.find(subject, command.start, command.end)
    if not subject or subject.startswith(("$", "`")) or at < 0:
        return "", command.start, command.end
    return subject, at, at + len(subject)


# --- packages -------------------------------------------------------------------------------------

_INSTALLERS: Final = word_set("""
    pip pip3 pipx uv poetry pdm conda mamba npm pnpm yarn bun cargo go gem composer brew apt apt-get
    dnf yum zypper apk snap
    """)
_INSTALLS: Final = word_set("install add i get require")
_OF_SYSTEM: Final = word_set("apt apt-get dnf yum zypper apk")  # their -i and -p take no value
_VALUED: Final = word_set("""
    -r -c -e -f -t -n -C -F -w -v -p --requirement --constraint --editable --index-url --find-links
    --extra-index-url --index --target --prefix --python --group --extra --channel --name --filter
    --registry --features --path --git --branch --tag --rev --version --root
    """)
_PACKAGE: Final = re.compile(
    r"(?P<name>(?:@[\w.-]+/)?[A-Za-z][\w.+-]*(?:/[\w.+/-]+)?)"
    r"(?:\[[^\]]*\])?(?:(?:===?|@|=)v?(?P<version>\d[\w.+!-]*)|[<>=!~;^@].*)?"
)
_FILE: Final = re.compile(r".*\.(?:whl|gz|zip|txt|deb|tgz|rpm)|(?!@)[^.]+/[^.]+")


def packages(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the packages that a package manager installed by name, with their versions."""
    del rule
    answer = episode.answer
    if answer is None or outcomes.shows_failure(answer.text):
        return
    for command in shell.parse(text):
        name, args = command.name, command.args
        values = [word.value for word in args[:2]]
        if _PYTHON.fullmatch(name) and values == ["-m", "pip"]:
            name, args = "pip", args[2:]
        elif name == "uv" and values[:1] in (["pip"], ["tool"]):
            args = args[1:]
        if name not in _INSTALLERS:
            continue
        words = shell.operands(args, long_valued=_VALUED if name not in _OF_SYSTEM else frozenset())
        for word in words[1:] if words and words[0].value in _INSTALLS else ():
            package = _PACKAGE.fullmatch(word.value)
            if package is None or (name != "composer" and _FILE.fullmatch(package["name"])):
                continue
            version = _version(package["name"], package["version"] or "", answer.text)
            named = f"{package['name']} {version}".rstrip()
            span = word.span(*package.span("name"))
            yield RuleHit(package["name"], *span, {"program": name, "named": named})


_BEFORE_RELEASE: Final = (
    r"(?:-[A-Za-z][\w.]*(?![\w.-]))?"  # "-rc.1", and not the "-py3-…" of a file
)


def _version(package: str, asked: str, output: str) -> str:
    """Return the version that the installer names, else the one that was asked for."""
    if package.lower() not in output.lower() or (asked and asked in output):
        return asked  # not the one before it: "upgraded 1.0 => 1.1"
    # `requests-2.31.0`, `requests==2.31.0`, `react@18.2.0`, `serde v1.0.2`
    written = re.search(
        rf"(?<![\w/-]){re.escape(package)}(?:==|@|-| v)(\d+(?:\.[\w+]+)+{_BEFORE_RELEASE})",
        output,
        re.IGNORECASE,
    )
    return written[1].rstrip(".") if written else asked
