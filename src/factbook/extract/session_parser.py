"""THE table of rules: every kind of fact that factbook reads off a session, one row each.

To add a rule, add a row (`base.Rule`): a `pattern`, or a finder, a pure function, where a regular
expression is not enough. Without touching the code: a TOML file (docs/rules.md). Where several
rules find the same (subject, predicate, object) in one episode, the first one counts.
"""

from __future__ import annotations

from typing import Final

from factbook import policy
from factbook.extract import actions, commits, outcomes, paths, prose, shell_facts
from factbook.extract.base import Rule
from factbook.model.facts import Trust

FETCHED: Final = "fetched from host {object}"


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ARCHIVERS: Final = _words(
    "tar bsdtar gtar zip unzip zipinfo gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat "
    "zstd unzstd zstdcat lz4 pigz 7z 7za 7zz rar unrar"
)
_SYSTEMS: Final = (
    "unraid, server, nas, synology, qnap, truenas, freenas, proxmox, vmware, esxi, "
    "raspberry pi, raspberry, home assistant, pi-hole, openwrt, pfsense, opnsense, unifi, "
    "kubernetes, k8s, k3s, docker, podman, vps, ec2, aws, gcp, azure, cloudflare, vercel, "
    "netlify, heroku, fly.io, hetzner, digitalocean, supabase, firebase, postgres, "
    "postgresql, mysql, mariadb, mongodb, redis, sqlite, elasticsearch, kafka, rabbitmq, "
    "nginx, apache, caddy, traefik, grafana, prometheus, jenkins, plex, jellyfin, "
    "nextcloud"
)
_HOST_CUES: Final = _words(
    "host hosts server servers machine machines ssh scp rsync sftp connect connected connection "
    "login logged remote"
)
_PATH_CUES: Final = _words(
    "path paths file files folder folders directory directories mention mentioned"
)
_CHANGE_CUES: Final = _words(
    "change changed changes edit edited modify modified write wrote written create created "
    "touch touched update updated rewrite rewrote"
)
_FETCHERS: Final = (
    "WebFetch|webfetch|web_fetch|fetch|mcp__*fetch*|mcp__*navigate*"
    "|mcp__*scrape*|mcp__*crawl*|mcp__*__open_url|mcp__*read_url*"
)

RULES: Final[tuple[Rule, ...]] = (
    # --- what the record itself states ------------------------------------------------------------
    Rule(
        name="requested_in_session",
        method="Direct from the session id of the user's message",
        subject="task",
        looks_in="attribute session of prompt",
        statement="asked in session {object}: {said}",
        ranks=False,
        cues=_words("ask asked request requested task tasks prompt prompts"),
    ),
    Rule(
        name="used_tool",
        method="Direct from `tool_use.name`",
        subject="action",
        looks_in="tool name",
        statement="used tool {object}",
        ignored=tuple(sorted(policy.INTERNAL_TOOLS)),
        ranks=False,
        cues=_words("tool tools used"),
    ),
    Rule(
        name="executed_command",
        method="Direct from `input.command`",
        find=actions.commands,
        statement="command `{object}`",
        waits_for="answer",
        unanswered="command `{object}`",
        cues=_words("command commands run ran execute executed shell bash"),
    ),
    Rule(
        name="described_as",
        method="Direct from `input.description`",
        subject="action",
        looks_in=(
            "field description of Bash|bash|shell|local_shell|run_shell_command|Monitor|Task|task"
            "|Agent|agent"
        ),
        statement="{object}",
        ranks=False,
        cues=_words("description purpose why"),
    ),
    Rule(
        name="modified_file",
        method="Direct from the path in the input of a tool that writes files, once it did",
        subject="action",
        looks_in=f"field path of {outcomes.WRITERS}",
        find=actions.changes,
        statement="{verb} file {object}{what}",
        waits_for="success",
        unanswered="was to change file {object}; no result is known",
        cues=(*_CHANGE_CUES, "file", "files", "module"),
    ),
    Rule(
        name="discarded_path",
        confidence=policy.PATTERN,
        method="Operand of rm and git rm, or of git checkout -- and git restore, in a command",
        find=actions.discards,
        statement="{verb} {object}",
        hints=("rm", "unlink", "trash", "checkout", "restore"),
        waits_for="success",
        ranks=False,
        cues=_words("discard discarded"),
    ),
    Rule(
        name="read_file",
        method="Direct from the path in the input of a tool that reads files",
        subject="action",
        looks_in=(
            "field path of Read|read|NotebookRead|view|view_image|read_file*|read_many_files"
            "|mcp__*__read_file|mcp__*__read_text_file"
        ),
        statement="read file {object}",
        waits_for="success",
        unanswered="was to read file {object}; no result is known",
        ranks=False,
        cues=_words("read open opened view viewed look looked"),
    ),
    Rule(
        name="fetched_url",
        method="Direct from `input.url`",
        subject="action",
        looks_in=f"field url of {_FETCHERS}",
        statement="fetched {object}",
        waits_for="success",
        unanswered="was to fetch {object}; no result is known",
        cues=_words("url urls page pages site website web fetch fetched link"),
    ),
    Rule(
        name="searched_for",
        method="Direct from `input.query` of a web search",
        subject="action",
        looks_in=(
            "field query of WebSearch|websearch|web_search*|google_web_search|mcp__*web_search*"
            "|mcp__*search_web*|mcp__*brave*search*|mcp__*tavily*search*|mcp__*__search"
        ),
        statement="searched the web for {object}",
        waits_for="success",
        unanswered="was to search the web for {object}; no result is known",
        cues=_words("search searched query queries web google googled research"),
        embed=True,
    ),
    Rule(
        name="searched_code",
        method="Direct from `input.pattern` of a search in files",
        subject="action",
        looks_in=(
            "field pattern of Grep|grep|Glob|glob|search_file_content|search_files|grep_search"
        ),
        statement="searched files for `{object}`",
        waits_for="success",
        unanswered="was to search files for `{object}`; no result is known",
        ranks=False,
        cues=_words("grep search searched pattern glob code"),
    ),
    Rule(
        name="used_mcp_server",
        method="Direct from the server in `tool_use.name`",
        subject="action",
        looks_in="tool name of mcp__*",
        pattern=r"^mcp__(?:plugin_[^_]+_)?(?P<object>.+?)__",
        statement="used the MCP server {object}",
        cues=_words("mcp server servers plugin integration"),
    ),
    Rule(
        name="used_mcp_server.namespace",
        method="Direct from the namespace that the record states beside the tool's name",
        subject="action",
        looks_in="attribute namespace of call",
        pattern=r"^mcp__(?P<object>.+?)(?:__|$)",
        statement="used the MCP server {object}",
        cues=_words("mcp server servers plugin integration"),
    ),
    Rule(
        name="used_skill",
        method="Direct from `input.skill`",
        subject="action",
        looks_in="field skill",
        statement="used the skill {object}",
        waits_for="success",
        unanswered="was to use the skill {object}; no result is known",
        cues=_words("skill skills"),
    ),
    Rule(
        name="delegated_to",
        method="Direct from `input.subagent_type`",
        subject="action",
        looks_in="field agent_type of Task|Agent|task|agent|spawn_agent|delegate*",
        statement="delegated work to the sub-agent {object}{task}",
        find=actions.delegations,
        waits_for="success",
        unanswered="was to delegate work to the sub-agent {object}; no result is known",
        cues=_words("agent agents subagent subagents delegate delegated"),
    ),
    Rule(
        name="exited_with",
        method="Direct from the recorded exit code, where it is not 0",
        looks_in="attribute exit_code of result",
        find=outcomes.exit_code,
        statement="{what} exited with code {object}",
        trust=Trust.OBSERVED,  # the host recorded it; the output around it could be anybody's text
        ranks=False,
        cues=_words("exit exited code status fail failed failing"),
    ),
    Rule(
        name="on_branch",
        method="Direct from the branch that the record states",
        subject="session",
        looks_in="attribute branch of record",
        statement="worked on the git branch {object}",
        ignored=("HEAD",),
        trust=Trust.OBSERVED,
        ranks=False,
        cues=_words("branch branches git"),
    ),
    Rule(
        name="linked_pr",
        method="Direct from the pull request that the record states",
        subject="session",
        looks_in="attribute pr_url of record",
        statement="linked to pull request {object}",
        trust=Trust.OBSERVED,
        cues=_words("pr prs pull request merge review"),
    ),
    # --- what the words of a command tell ---------------------------------------------------------
    Rule(
        name="connects_to_host",
        confidence=policy.RELIABLE_REGEX,
        method="Destination of ssh, scp, sftp, rsync, mosh ... in the command text",
        find=shell_facts.hosts,
        statement="connected to host {object} by {program}",
        waits_for="answer",
        unanswered="connected to host {object} by {program}",
        hints=("ssh", "scp", "sftp", "rsync", "mosh"),
        cues=_HOST_CUES,
    ),
    Rule(
        name="connects_to_host.client",
        confidence=policy.RELIABLE_REGEX,
        method="Host in the URL or the option of curl, wget, nc, psql, redis-cli, kubectl ...",
        find=shell_facts.clients,
        statement="connected to host {object} by {program}",
        waits_for="success",
        hints=_words(
            ":// nc telnet psql pg_ mysql mariadb redis mongo docker kubectl helm createdb"
        ),
        cues=_HOST_CUES,
    ),
    Rule(
        name="connects_to_host.url",
        confidence=policy.RELIABLE_REGEX,
        method="Host of the URL that a page was fetched from",
        subject="action",
        looks_in=f"field url of {_FETCHERS}",
        find=shell_facts.urls,
        statement=FETCHED,
        waits_for="success",
        cues=_HOST_CUES,
    ),
    Rule(
        name="ran",
        method="The command, what it was for, and how its result says that it ended",
        find=actions.runs,
        statement="{deed} `{command}`: {outcome}",
        waits_for="answer",
        cues=_words("command commands run ran execute executed shell bash output result"),
    ),
    Rule(
        name="verified",
        confidence=policy.PATTERN,
        method="Exit code and closing line of a test run, a checksum check or a verification",
        find=actions.verdicts,
        statement="`{command}` {object}{counts}",
        waits_for="answer",
        cues=_words("verify verified check checked test tests tested pass passed passing failing"),
        embed=True,
    ),
    Rule(
        name="fixed_by",
        confidence=policy.PATTERN,
        method="The same command failed before and passes now; what was changed in between",
        find=actions.mends,
        statement="fixed: {error} \u2014 by {ways}; `{command}` passes",
        waits_for="answer",
        cues=_words("fix fixed fixes solve solved solution resolve resolved"),
        embed=True,
    ),
    Rule(
        name="committed",
        confidence=policy.PATTERN,
        method=(
            "What git says it committed, else the message of a commit that shows no failure; the"
            " files that git or what was added before it names"
        ),
        find=commits.commits,
        statement="{deed}: {object} {files}",
        hints=("commit",),
        waits_for="answer",
        cues=_words("commit commits committed git"),
        embed=True,
    ),
    Rule(
        name="installed_package",
        confidence=policy.PATTERN,
        method=(
            "Package named to pip, npm, apt, brew, cargo ... in a command that ended well; what pip"
            " and uv say they installed of a folder or a file"
        ),
        find=shell_facts.packages,
        statement="installed package {named} with {program}",
        hints=("install", " add ", " i ", " get ", "require"),
        waits_for="answer",
        cues=_words("install installed package packages dependency dependencies library"),
    ),
    Rule(
        name="operation_type.archive",
        confidence=policy.PATTERN,
        method="Keywords: programs that pack and unpack archives, as command words",
        find=shell_facts.archives,
        statement="{verb} archive: `{part}`",
        waits_for="success",
        unanswered="archive to be {verb}: `{part}`; no result is known",
        keywords=_ARCHIVERS,
        hints=("tar", "zip", "zcat", "bz", "xz", "zst", "lz4", "pigz", "7z", "rar"),
        ranks=False,
        cues=_words(
            "archive archives unpack unpacked pack packed extract extracted unzip unzipped zip "
            "zipped tar compress compressed decompress"
        ),
    ),
    Rule(
        name="operation_type.verification",
        confidence=policy.PATTERN,
        method="Verification flags, checksum checks and test runs, as words of a command",
        find=shell_facts.checks,
        statement="check: `{part}`",
        waits_for="answer",
        unanswered="check: `{part}`",
        hints=_words(
            "test --verify --check --dry-run sum tar zip xz zst 7z rar tox nox mocha spec ava "
            "phpunit bats"
        ),
        ranks=False,
        cues=_words("verify verified check checked test tests tested dry"),
    ),
    # --- what is written --------------------------------------------------------------------------
    Rule(
        name="mentions_path",
        confidence=policy.PATTERN,
        method="Absolute path in the text (as `/[\\w/\\-_.]+`, with a boundary before it, no URLs)",
        subject="task",
        looks_in="text of prompt",
        find=paths.absolute_in_text,
        statement="mentioned path {object}",
        ranks=False,
        cues=_PATH_CUES,
    ),
    Rule(
        name="mentions_path.relative",
        confidence=policy.PATTERN,
        method="Relative path with a folder and a file's extension in the text",
        subject="task",
        looks_in="text of prompt",
        find=paths.relative_in_text,
        statement="mentioned path {object}",
        ranks=False,
        cues=_PATH_CUES,
    ),
    Rule(
        name="mentions_path.command",
        confidence=policy.PATTERN,
        method="Path as a word of the command text",
        find=paths.in_command,
        statement="mentioned path {object} in a command",
        ranks=False,
        cues=_PATH_CUES,
    ),
    Rule(
        name="targets_system",
        confidence=policy.KEYWORD,
        method="Keywords: names of systems, as whole words",
        subject="task",
        looks_in="text of prompt",
        find=prose.keywords_in_text,
        statement="about the system {object}",
        keywords=tuple(_SYSTEMS.split(", ")),
        ranks=False,
        cues=_words("system systems server servers machine platform service"),
    ),
    Rule(
        name="provides_solution",
        confidence=policy.KEYWORD,
        method="Keywords: solution, fix, workaround ...; the sentence around them",
        subject="action",
        looks_in="text of reply",
        find=prose.snippets,
        statement="{object}",
        keywords=_words("solution solutions fix fixes fixed workaround resolved solved solves"),
        cues=_words("solution solutions solve solved fix fixed resolve resolved"),
        embed=True,
    ),
    Rule(
        name="identifies_issue",
        confidence=policy.KEYWORD,
        method="Keywords: error, failed, failure, bug ...; the sentence around them",
        subject="action",
        looks_in="text of reply",
        find=prose.snippets,
        statement="{object}",
        keywords=_words("error errors failed fails failing failure failures bug bugs"),
        cues=_words(
            "issue issues error errors problem problems bug bugs failed failure failures fail "
            "broken wrong"
        ),
        embed=True,
    ),
    Rule(
        name="discovery",
        confidence=policy.INFERENCE,
        method="Keywords: found, discovered, turns out ...; the sentence around them",
        subject="action",
        looks_in="text of reply",
        find=prose.snippets,
        statement="{object}",
        keywords=("found", "discovered", "turns out", "turned out", "root cause"),
        cues=_words("found find discover discovered discovery learn learned finding"),
        embed=True,
    ),
    Rule(
        name="failed_with",
        confidence=policy.PATTERN,
        method="The line that names the error most exactly in the result of a call that failed",
        looks_in="text of result",
        find=outcomes.first_error,
        statement="{what} failed: {object}",
        cues=_words("error errors fail failed failure failures exception crash"),
        embed=True,
    ),
)

SEED_STRICT: Final = Rule(
    name="connects_to_host.seed_strict",
    confidence=policy.RELIABLE_REGEX,
    method=r"Regex `@([\w\.\-]+)` on command text",
    pattern=r"@([\w\.\-]+)",
    statement="connected to host {object}",
    waits_for="answer",
    unanswered="connected to host {object}",
    hints=("@",),
    cues=_HOST_CUES,
    enabled=False,
)
"""The literal pattern, on every command, so that anyone can see what exactly it does. It takes mail
addresses, package scopes and `git@github.com` for hosts, which is why it is off."""
