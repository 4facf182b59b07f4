"""Recognise secrets by their own shape: the key formats that providers print on purpose.

One row per format. `hint` is what the prefilter stops at (RE2; short, because what it reads ahead
costs on every character of every text); `pattern` is the whole secret, tried only around a hint.
Lengths are lower bounds below the published ones: a key that was cut by some program's output is
still most of a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from factbook.redaction.spans import Span
from factbook.redaction.values import is_random, is_wordy


@dataclass(frozen=True, slots=True)
class Format:
    """One key format."""

    kind: str  # the label's kind
    hint: str  # RE2: a part of it that is found quickly
    pattern: str  # Python re: all of it; a named group is the part that is secret
    back: int = 0  # how far before the hint it may begin


_W = r"[A-Za-z0-9_-]"  # the letters of base64url
_A = r"[A-Za-z0-9]"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

FORMATS: Final[tuple[Format, ...]] = (
    # --- language models ---------------------------------------------------------------------
    Format("anthropic-key", r"sk-ant-", rf"sk-ant-{_W}{{16,}}"),
    Format("openrouter-key", r"sk-or-", rf"sk-or-{_W}{{16,}}"),
    Format(
        "openai-key",
        r"sk-(?:proj|svcacct|admin|None|lf|live|test|prod)-",
        rf"sk-(?:proj|svcacct|admin|None|lf|live|test|prod)-{_W}{{16,}}",
    ),
    Format("openai-key", r"sk-[A-Za-z0-9]", rf"sk-{_A}{{18,}}"),
    Format("openai-session", r"sess-[A-Za-z0-9]", rf"sess-{_A}{{30,}}"),
    Format("huggingface-token", r"hf_[A-Za-z0-9]", rf"hf_{_A}{{28,}}"),
    Format("huggingface-token", r"api_org_", rf"api_org_{_A}{{28,}}"),
    Format("groq-key", r"gsk_", rf"gsk_{_A}{{28,}}"),
    Format("xai-key", r"xai-", rf"xai-{_W}{{28,}}"),
    Format("replicate-token", r"r8_", rf"r8_{_A}{{28,}}"),
    Format("tavily-key", r"tvly-", rf"tvly-(?:dev-|prod-)?{_W}{{16,}}"),
    Format("perplexity-key", r"pplx-", rf"pplx-{_A}{{28,}}"),
    Format("nvidia-key", r"nvapi-", rf"nvapi-{_W}{{28,}}"),
    Format("cerebras-key", r"csk-", rf"csk-{_A}{{28,}}"),
    Format("fireworks-key", r"fw_", rf"fw_{_A}{{20,}}"),
    Format("langsmith-key", r"lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{20,}(?:_[0-9a-f]+)?"),
    Format("pinecone-key", r"pcsk_", rf"pcsk_{_W}{{28,}}"),
    Format("jina-key", r"jina_", rf"jina_{_W}{{28,}}"),
    Format("firecrawl-key", r"fc-[0-9a-f]", r"fc-[0-9a-f]{28,}"),
    Format("elevenlabs-key", r"sk_[0-9a-f]", r"sk_[0-9a-f]{32,}"),
    # --- code hosts, registries, CI ----------------------------------------------------------
    Format("github-token", r"gh[pousr]_", rf"gh[pousr]_{_A}{{20,}}"),
    Format("github-token", r"github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    Format(
        "gitlab-token",
        r"gl(?:pat|dt|ptt|rt|cbt|ft|imt|agent|soat|oas|ffct)-",
        r"gl(?:pat|dt|ptt|rt|cbt|ft|imt|agent|soat|oas|ffct)-[A-Za-z0-9_=.-]{16,}",
    ),
    Format("gitlab-token", r"GR1348941", rf"GR1348941{_W}{{16,}}"),
    Format("bitbucket-token", r"ATBB", rf"ATBB{_A}{{24,}}"),
    Format("atlassian-token", r"AT(?:ATT|CTT)3", r"AT(?:ATT|CTT)3[A-Za-z0-9_=.-]{20,}"),
    Format("npm-token", r"npm_[A-Za-z0-9]", rf"npm_{_A}{{28,}}"),
    Format("pypi-token", r"pypi-A", rf"pypi-A{_W}{{28,}}"),
    Format("docker-token", r"dckr_(?:pat|oat)_", rf"dckr_(?:pat|oat)_{_W}{{16,}}"),
    Format("rubygems-token", r"rubygems_", r"rubygems_[0-9a-f]{32,}"),
    Format("crates-token", r"cio[A-Za-z0-9]", rf"cio{_A}{{29,}}"),
    Format("nuget-key", r"oy2[a-z0-9]", r"oy2[a-z0-9]{40,}"),
    Format("clojars-token", r"CLOJARS_", r"CLOJARS_[0-9a-z]{40,}"),
    Format("artifactory-key", r"AKC[a-z]", rf"AKC[a-z]{_A}{{40,}}"),
    Format("artifactory-key", r"cmVmdGtu", rf"cmVmdGtu{_A}{{28,}}"),
    Format("circleci-token", r"CCI(?:PAT|PRJ)_", rf"CCI(?:PAT|PRJ)_{_A}+_[0-9a-f]{{20,}}"),
    Format("buildkite-token", r"bk[up]a_", r"bk[up]a_[0-9a-f]{32,}"),
    Format("sonar-token", r"sq[pua]_", r"sq[pua]_[0-9a-f]{32,}"),
    Format("sourcegraph-token", r"sgp_", r"sgp_(?:[A-Za-z0-9]+_)?[0-9a-f]{32,}"),
    Format("octopus-key", r"API-[A-Z0-9]", r"API-[A-Z0-9]{25,}"),
    # --- clouds and hosting ------------------------------------------------------------------
    Format("aws-access-key", r"AKIA|ASIA|ABIA|ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}"),
    Format("google-api-key", r"AIza", rf"AIza{_W}{{28,}}"),
    Format("google-oauth", r"ya29\.", r"ya29\.[A-Za-z0-9_.-]{20,}"),
    Format("google-oauth", r"GOCSPX-", rf"GOCSPX-{_W}{{16,}}"),
    Format("google-oauth", r"1//0", rf"1//0{_W}{{24,}}"),
    Format("firebase-key", r"AAAA[A-Za-z0-9_-]", rf"AAAA{_W}{{7}}:{_W}{{100,}}"),
    Format("azure-client-secret", r"Q~", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{28,}", back=4),
    Format("alibaba-key", r"LTAI", rf"LTAI{_A}{{12,}}"),
    Format("tencent-key", r"AKID", rf"AKID{_A}{{24,}}"),
    Format("digitalocean-token", r"do[opr]_v1_", r"do[opr]_v1_[0-9a-f]{32,}"),
    Format("heroku-key", r"HRKU-", rf"HRKU-{_W}{{28,}}"),
    Format("fly-token", r"fm[12][ar]?_", r"fm[12][ar]?_[A-Za-z0-9+/=_-]{40,}"),
    Format("fly-token", r"fo1_", rf"fo1_{_W}{{28,}}"),
    Format("render-key", r"rnd_", rf"rnd_{_A}{{24,}}"),
    Format("netlify-token", r"nf[a-z]_", rf"nf[a-z]_{_A}{{30,}}"),
    Format("vercel-token", r"vc[pkrai]_", rf"vc[pkrai]_{_W}{{20,}}"),
    Format("cloudflare-key", r"v1\.0-[0-9a-f]", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    Format("supabase-key", r"sbp_", r"sbp_(?:v0_)?[0-9a-f]{32,}"),
    Format("supabase-key", r"sb_secret_", rf"sb_secret_{_W}{{16,}}"),
    Format("planetscale-token", r"pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{28,}"),
    Format("neon-password", r"npg_", rf"npg_{_A}{{10,}}"),
    Format("tailscale-key", r"tskey-", rf"tskey-[a-z]+-{_W}{{16,}}"),
    Format("pulumi-token", r"pul-[0-9a-f]", r"pul-[0-9a-f]{32,}"),
    Format("terraform-token", r"\.atlasv1\.", rf"{_A}{{14}}\.atlasv1\.{_W}{{40,}}", back=14),
    Format("vault-token", r"hv[sbr]\.", rf"hv[sbr]\.{_W}{{20,}}"),
    Format(
        "doppler-token",
        r"dp\.[psca]",
        rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{1,40}}\.)?{_A}{{28,}}",
    ),
    Format("databricks-token", r"dapi[0-9a-f]", r"dapi[0-9a-f]{28,}(?:-\d)?"),
    Format("onepassword-token", r"ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=_-]{40,}"),
    # --- chat, mail, phone -------------------------------------------------------------------
    Format(
        "slack-token",
        r"xox[a-z]-|xoxe\.xox|xapp-[0-9]-",
        r"(?:xoxe\.)?(?:xox[a-z]-|xapp-[0-9]-)[A-Za-z0-9-]{10,}",
    ),
    Format(
        "slack-webhook",
        r"hooks\.slack(?:-gov)?\.com/",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<slack>[A-Za-z0-9/_+-]{16,})",
    ),
    Format(
        "discord-webhook",
        r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/",
        rf"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/\d+/(?P<discord>{_W}{{16,}})",
    ),
    Format(
        "discord-token",
        r"\.[A-Z][A-Za-z0-9_-]{5}\.[A-Za-z0-9_-]",
        rf"[MNO]{_W}{{22,27}}\.{_W}{{6}}\.{_W}{{20,}}",
        back=28,
    ),
    Format(
        "teams-webhook",
        r"webhook\.office\.com/webhookb2/",
        r"webhook\.office\.com/webhookb2/(?P<teams>[A-Za-z0-9@/-]{40,})",
    ),
    Format("telegram-token", r":AA", rf"(?:bot)?(?P<telegram>\d{{8,10}}:AA{_W}{{28,}})", back=13),
    Format("twilio-key", r"(?:SK|AC)[0-9a-f]", r"(?:SK|AC)[0-9a-f]{32}(?![0-9A-Za-z])"),
    Format("sendgrid-key", r"SG\.", rf"SG\.{_W}{{12,}}\.{_W}{{16,}}"),
    Format("mailgun-key", r"key-[0-9a-f]", r"key-[0-9a-f]{32}(?![0-9a-f])"),
    Format("mailchimp-key", r"-us[0-9]", r"[0-9a-f]{32}-us\d{1,2}", back=32),
    Format(
        "brevo-key", r"x(?:keysib|smtpsib)-", r"x(?:keysib|smtpsib)-[0-9a-f]{32,}-[A-Za-z0-9]{12,}"
    ),
    Format("resend-key", r"re_[A-Za-z0-9]", rf"re_{_A}{{8}}_{_A}{{20,}}"),
    # --- money -------------------------------------------------------------------------------
    Format("stripe-key", r"[sr]k_(?:live|test)_", rf"[sr]k_(?:live|test)_{_A}{{16,}}"),
    Format("stripe-webhook-secret", r"whsec_", r"whsec_[A-Za-z0-9+/=]{16,}"),
    Format("square-token", r"sq0[a-z]{3}-", rf"sq0[a-z]{{3}}-{_W}{{20,}}"),
    Format("square-token", r"EAAA", rf"EAAA{_W}{{60}}(?![A-Za-z0-9+/=_-])"),
    Format("shopify-token", r"shp(?:at|ca|pa|ss|ua)_", r"shp(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{28,}"),
    Format(
        "plaid-token",
        r"(?:access|public)-(?:sandbox|development|production)-",
        rf"(?:access|public)-(?:sandbox|development|production)-{_UUID}",
    ),
    Format("razorpay-key", r"rzp_(?:live|test)_", rf"rzp_(?:live|test)_{_A}{{14,}}"),
    Format("flutterwave-key", r"FLWSECK", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z-]{12,}"),
    Format(
        "paypal-token", r"access_token\$", r"access_token\$(?:production|sandbox)\$[0-9a-z$]{30,}"
    ),
    Format("easypost-key", r"EZ[AT]K", rf"EZ[AT]K{_A}{{54,}}"),
    Format("shippo-key", r"shippo_(?:live|test)_", r"shippo_(?:live|test)_[0-9a-f]{32,}"),
    # --- work, design, watching --------------------------------------------------------------
    Format("linear-key", r"lin_(?:api|oauth)_", rf"lin_(?:api|oauth)_{_A}{{28,}}"),
    Format("notion-token", r"ntn_", rf"ntn_{_A}{{28,}}"),
    Format("notion-token", r"secret_[A-Za-z0-9]", rf"secret_{_A}{{40,}}"),
    Format("airtable-token", r"pat[A-Za-z0-9]{14}\.", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}"),
    Format("hubspot-token", r"pat-(?:na|eu)[0-9]-", rf"pat-(?:na|eu)\d-{_UUID}"),
    Format("asana-token", r"[12]/[0-9]{4}", r"[12]/\d{12,20}(?:/\d{12,20})?:[0-9a-f]{32,}"),
    Format("clickup-token", r"pk_[0-9]", r"pk_\d{6,10}_[A-Z0-9]{28,}"),
    Format("figma-token", r"fig[dour]_", rf"fig[dour]_{_W}{{20,}}"),
    Format("postman-key", r"PMAK-", r"PMAK-[0-9a-f]{20,}-[0-9a-f]{28,}"),
    Format("grafana-token", r"glsa_", r"glsa_[A-Za-z0-9]{28,}_[0-9a-fA-F]{8}"),
    Format("grafana-token", r"glc_eyJ", r"glc_eyJ[A-Za-z0-9+/=_-]{28,}"),
    Format("grafana-token", r"eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/=_-]{40,}"),
    Format(
        "newrelic-key", r"NR(?:AK|JS|II|IQ|RA|SP|MA)-", rf"NR(?:AK|JS|II|IQ|RA|SP|MA)-{_W}{{16,}}"
    ),
    Format("newrelic-key", r"NRAL", r"[0-9a-f]{36}NRAL", back=36),
    Format("sentry-token", r"sntry[su]_", r"sntry[su]_[A-Za-z0-9+/=_-]{28,}"),
    Format("posthog-key", r"phx_", rf"phx_{_W}{{28,}}"),
    Format("launchdarkly-key", r"(?:sdk|api|mob)-[0-9a-f]{4}", rf"(?:sdk|api|mob)-{_UUID}"),
    Format("mapbox-token", r"sk\.eyJ", r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    Format("dropbox-token", r"sl\.[A-Za-z0-9]", rf"sl\.(?:u\.)?{_W}{{100,}}"),
    Format("facebook-token", r"EAA[A-Z]", r"EAA[A-Z][A-Za-z0-9]{60,}"),
    Format(
        "twitter-token",
        r"AAAA[A-Za-z0-9_-]",
        r"A{18,24}[B-Za-z0-9][A-Za-z0-9]{4,60}%[0-9A-F]{2}[A-Za-z0-9%]{20,}",
    ),
    Format("contentful-token", r"CFPAT-", rf"CFPAT-{_W}{{28,}}"),
    Format("typeform-token", r"tfp_", r"tfp_[A-Za-z0-9_.=-]{30,}"),
    Format("prefect-key", r"pn[ub]_", rf"pn[ub]_{_A}{{28,}}"),
    Format("wakatime-key", r"waka_", rf"waka_{_UUID}"),
    Format("readme-key", r"rdme_", r"rdme_[a-z0-9]{40,}"),
    Format("duffel-token", r"duffel_(?:live|test)_", rf"duffel_(?:live|test)_{_W}{{28,}}"),
    Format(
        "zapier-webhook",
        r"hooks\.zapier\.com/",
        r"hooks\.zapier\.com/hooks/catch/(?P<zapier>\d+/\w+)",
    ),
    # --- keys of programs --------------------------------------------------------------------
    Format("age-key", r"AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,}"),
    # Hashes of passwords: not the password, but enough to search for it at leisure.
    Format("password-hash", r"\$2[abxy]\$[0-9]{2}\$", r"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{40,53}"),
    Format("password-hash", r"\$argon2(?:id|i|d)\$", r"\$argon2(?:id|i|d)\$[A-Za-z0-9$,=+/]{30,}"),
    Format(
        "password-hash",
        r"\$(?:[156y7]|apr1|gy)\$",
        r"\$(?:[156y7]|apr1|gy)\$(?:rounds=\d+\$)?[./A-Za-z0-9$]{24,}",
    ),
    Format("password-hash", r"\$pbkdf2", r"\$pbkdf2(?:-sha\d+)?\$[A-Za-z0-9$./=+,-]{30,}"),
    Format("password-hash", r"pbkdf2_sha[0-9]{3}\$", r"pbkdf2_sha\d{3}\$\d+\$[A-Za-z0-9+/=$]{30,}"),
    # The shape that providers have agreed on since: product_environment_random.
    Format(
        "api-key",
        r"_(?:live|prod|secret|sk|pat)_[A-Za-z0-9]",
        rf"[a-z]{{2,12}}_(?:live|prod|secret|sk|pat)_{_A}{{20,}}",
        back=12,
    ),
)

KINDS: Final = frozenset(row.kind for row in FORMATS) | {"aws-secret-key", "jwt"}
HINT: Final = "|".join(dict.fromkeys(row.hint for row in FORMATS)) + r"|eyJ[A-Za-z0-9_-]"

_TAIL: Final = 64  # behind a hint inside its key; no format needs more to tell itself
_LONGEST: Final = 1024  # a longer run is followed to its end all the same
_ESCAPE: Final = re.compile(r"(?:\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9a-fA-F]{4}|\[[0-9;]{1,12}m)$")
_LONGEST_NAME: Final = 48
_NAMED: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?:(?:[A-Za-z]?[a-z]{1,15}|[A-Z]{1,15}|[0-9]{1,8})?[_-]){1,6}$"
)
_STANDS_IN: Final = re.compile(r"(?i)x{4}|\*{3}|\.{3}|your|[-_]here\b|example-|placeholder")
_BLOB: Final = re.compile(r"[A-Za-z0-9+/=]{25}")
_RUN: Final = re.compile(r"[A-Za-z0-9_-]*")
_WRAP: Final = re.compile(rf"{_W}{{12,}}+((?:\r?\n|\\n)[ \t]*)({_W}{{8,}}+)(?!\S)")
_HEX: Final = re.compile(r"[0-9a-f]+$")
_JWT: Final = re.compile(
    r"eyJ[A-Za-z0-9_-]{8,4096}+={0,2}+(?:\\n|\s)?+\.[A-Za-z0-9_-]{8,}+={0,2}+"
    r"(?P<rest>(?:(?:\\n|\s)?\.[A-Za-z0-9_-]++={0,2}){0,3})"
)
_LONGEST_JWT: Final = 32_768
_AWS_SECRET: Final = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_HEX_SECRET: Final = re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{32}(?![A-Za-z0-9])")
_NEAR: Final = 160  # how far from its id a secret is looked for that has no shape of its own


@cache  # compiled when the first key is met: most programs that import this meet none
def _front() -> re.Pattern[str]:
    """Compile the formats that begin with their hint, as one pattern.

    The group that tells which one it is stands behind it and is empty, because what begins with a
    letter is passed over faster than what begins with a group.
    """
    rows = (f"(?:{row.pattern})(?P<f{i}>)" for i, row in enumerate(FORMATS) if not row.back)
    return re.compile("|".join(rows))


@cache
def _inner() -> tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], Format], ...]]:
    """Compile the formats whose hint stands inside them, and their hints as one pattern.

    No two of these hints begin alike, so the one that matches is the only one.
    """
    rows = [row for row in FORMATS if row.back]
    hints = re.compile("|".join(f"({row.hint})" for row in rows))
    return hints, tuple((re.compile(row.pattern), row) for row in rows)


def begins_word(text: str, at: int) -> bool:
    """Tell whether a key can begin at `at`: no letter or digit before it, save an escape's.

    Letters of other scripts are none of a key's, and some are written without blanks. Before an
    underscore must stand the words of a name (`backup_ghp_...`), for base64url has it too.
    """
    before = text[at - 1] if at else " "
    if not (before.isascii() and (before.isalnum() or before == "_")):
        return True
    if before == "_" and _NAMED.search(text, max(0, at - _LONGEST_NAME), at) is not None:
        return True
    return _ESCAPE.search(text, max(0, at - 14), at) is not None


def format_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the provider key whose hint begins at `at`, with the secret that stands beside an id."""
    span = _find_jwt(text, at) if text.startswith("eyJ", at) else _find_key(text, at)
    if span is None:
        return
    yield span
    if span[2] == "aws-access-key":
        yield from _beside(text, span, _AWS_SECRET, "aws-secret-key")
    elif span[2] == "twilio-key":
        yield from _beside(text, span, _HEX_SECRET, "twilio-key")


def _find_key(text: str, at: int) -> Span | None:
    if begins_word(text, at):  # most hints stand inside a word, as the `sk-` of `disk-usage`
        wrapped = _wrapped_key(text, at)
        if wrapped is not None:
            return wrapped
        match = _front().match(text, at, at + _LONGEST)
        if match is not None and match.lastgroup is not None:
            return _checked(text, match, FORMATS[int(match.lastgroup[1:])].kind)
    hints, rows = _inner()
    hint = hints.match(text, at)
    if hint is None or hint.lastindex is None:
        return None
    pattern, row = rows[hint.lastindex - 1]
    first = pattern.search(text, max(0, at - row.back), at + _TAIL)
    for start in range(first.start() if first is not None else at + 1, at + 1):
        match = pattern.match(text, start, start + _LONGEST)
        escaped = start > 0 and text[start - 1] == "\\" and text[start] in "nrt"
        if match is not None and not escaped and begins_word(text, start):
            return _checked(text, match, row.kind)
    return None


def _wrapped_key(text: str, at: int) -> Span | None:
    """Find a key that goes on in the next line, because a terminal was too narrow for it."""
    wrap = _WRAP.match(text, at, at + _LONGEST)
    if wrap is None or _front().match(wrap[2]) or not is_random(wrap[2]) or _HEX.match(wrap[2]):
        return None
    match = _front().match(text[at : wrap.start(1)] + wrap[2])
    if match is None or match.lastgroup is None or at + match.end() <= wrap.start(1):
        return None
    span = _checked(match.string, match, FORMATS[int(match.lastgroup[1:])].kind)
    return None if span is None else (at + span[0], at + span[1] + len(wrap[1]), span[2])


def _checked(text: str, match: re.Match[str], kind: str) -> Span | None:
    """Tell a key from what stands for one (`sk-xxxxxxxx`, `ghp_your_token_here`) and from a word.

    The first third is left out of that, because the prefix says nothing about the rest.
    """
    parts = [name for name, value in match.groupdict().items() if value]
    start, end = match.span(parts[-1] if parts else 0)
    longer = end == match.start() + _LONGEST
    while text[end - 1] == ".":  # the end of its sentence
        end -= 1
    body = text[start:end]
    if body.isalnum() and any(
        _in_blob(beside)
        for beside in (text[max(0, start - 25) : start][::-1], text[end : end + 25])
    ):
        return None
    drawn = body[len(body) // 3 :]
    mixed = any(c.isdigit() for c in drawn) or (drawn.lower() != drawn and drawn.upper() != drawn)
    word = not mixed and kind != "aws-access-key" and is_wordy(drawn)
    if word or len(set(drawn)) < 4 or _STANDS_IN.search(body):
        return None
    rest = _RUN.match(text, end) if longer else None
    return start, rest.end() if rest is not None else end, kind


def _in_blob(beside: str) -> bool:
    """Tell whether what stands beside a key, read from the key on, is base64 around it."""
    return (
        beside[:1] in {"+", "/"}
        and _BLOB.fullmatch(beside) is not None
        and beside.lower() != beside
        and any(c.isdigit() for c in beside)
    )


def _find_jwt(text: str, at: int) -> Span | None:
    """Find a JSON Web Token, signed or encrypted, also one that was cut behind its payload."""
    match = _JWT.match(text, at, at + _LONGEST_JWT) if begins_word(text, at) else None
    if match is None:
        return None
    payload = text.find(".", at) + 1
    if not match["rest"] and not text.startswith("eyJ", payload):
        return None  # base64 of some JSON, and the end of its sentence
    return at, match.end(), "jwt"


def _beside(text: str, span: Span, pattern: re.Pattern[str], kind: str) -> Iterator[Span]:
    """Give the secrets without a shape of their own that stand near the id they belong to."""
    for low, high in ((max(0, span[0] - _NEAR), span[0]), (span[1], span[1] + _NEAR)):
        for match in pattern.finditer(text, low, high):
            if is_random(match[0]):
                yield *match.span(), kind
