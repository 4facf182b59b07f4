"""Recognise secrets by their own shape: the key formats that providers print on purpose.

One row per format. `hint` is what the prefilter looks for (RE2, it must match the beginning of
every text that `pattern` matches); `pattern` is the whole secret, tried only where a hint was
found. Lengths are lower bounds below the published ones, because a key that was cut by a program's
output is still most of a key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["FORMATS", "KINDS", "Format", "find_format"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One key format."""

    kind: str  # the label's kind
    hint: str  # RE2: how it begins
    pattern: str  # Python re: all of it


def _row(kind: str, hint: str, pattern: str) -> Format:
    return Format(kind=kind, hint=hint, pattern=pattern)


_W = r"[A-Za-z0-9_-]"  # the letters of base64url
_A = r"[A-Za-z0-9]"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

FORMATS: Final[tuple[Format, ...]] = (
    # --- language models ---------------------------------------------------------------------
    _row("anthropic-key", r"sk-ant-", rf"sk-ant-{_W}{{16,}}"),
    _row("openrouter-key", r"sk-or-", rf"sk-or-{_W}{{16,}}"),
    _row(
        "openai-key",
        r"sk-(?:proj|svcacct|admin|None|lf|live|test|prod)-",
        rf"sk-(?:proj|svcacct|admin|None|lf|live|test|prod)-{_W}{{16,}}",
    ),
    _row("openai-key", r"\bsk-[A-Za-z0-9]{12}", rf"sk-{_A}{{18,}}"),
    _row("openai-session", r"\bsess-[A-Za-z0-9]{12}", rf"sess-{_A}{{30,}}"),
    _row("huggingface-token", r"hf_[A-Za-z0-9]{8}", rf"hf_{_A}{{28,}}"),
    _row("huggingface-token", r"api_org_", rf"api_org_{_A}{{28,}}"),
    _row("groq-key", r"gsk_", rf"gsk_{_A}{{28,}}"),
    _row("xai-key", r"xai-", rf"xai-{_W}{{28,}}"),
    _row("replicate-token", r"\br8_", rf"r8_{_A}{{28,}}"),
    _row("tavily-key", r"tvly-", rf"tvly-(?:dev-|prod-)?{_W}{{16,}}"),
    _row("perplexity-key", r"pplx-", rf"pplx-{_A}{{28,}}"),
    _row("nvidia-key", r"nvapi-", rf"nvapi-{_W}{{28,}}"),
    _row("cerebras-key", r"csk-", rf"csk-{_A}{{28,}}"),
    _row("fireworks-key", r"\bfw_[A-Za-z0-9]{8}", rf"fw_{_A}{{20,}}"),
    _row("langsmith-key", r"lsv2_", rf"lsv2_(?:pt|sk)_[0-9a-f]{{20,}}(?:_[0-9a-f]+)?"),
    _row("pinecone-key", r"pcsk_", rf"pcsk_{_W}{{28,}}"),
    _row("jina-key", r"jina_[A-Za-z0-9]{8}", rf"jina_{_W}{{28,}}"),
    _row("firecrawl-key", r"\bfc-[0-9a-f]{12}", r"fc-[0-9a-f]{28,}"),
    _row("elevenlabs-key", r"\bsk_[0-9a-f]{12}", r"sk_[0-9a-f]{32,}"),
    # --- code hosts, registries, CI ----------------------------------------------------------
    _row("github-token", r"gh[pousr]_", rf"gh[pousr]_{_A}{{20,}}"),
    _row("github-token", r"github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    _row(
        "gitlab-token",
        r"gl(?:pat|dt|ptt|rt|cbt|ft|imt|agent|soat|oas|ffct)-",
        rf"gl(?:pat|dt|ptt|rt|cbt|ft|imt|agent|soat|oas|ffct)-[A-Za-z0-9_=.-]{{16,}}",
    ),
    _row("gitlab-token", r"GR1348941", rf"GR1348941{_W}{{16,}}"),
    _row("bitbucket-token", r"ATBB", rf"ATBB{_A}{{24,}}"),
    _row("atlassian-token", r"AT(?:ATT|CTT)3", r"AT(?:ATT|CTT)3[A-Za-z0-9_=.-]{20,}"),
    _row("npm-token", r"npm_[A-Za-z0-9]{12}", rf"npm_{_A}{{28,}}"),
    _row("pypi-token", r"pypi-A", rf"pypi-A{_W}{{28,}}"),
    _row("docker-token", r"dckr_(?:pat|oat)_", rf"dckr_(?:pat|oat)_{_W}{{16,}}"),
    _row("rubygems-token", r"rubygems_", r"rubygems_[0-9a-f]{32,}"),
    _row("crates-token", r"\bcio[A-Za-z0-9]{12}", rf"cio{_A}{{29,}}"),
    _row("nuget-key", r"\boy2[a-z0-9]{20}", r"oy2[a-z0-9]{40,}"),
    _row("clojars-token", r"CLOJARS_", r"CLOJARS_[0-9a-z]{40,}"),
    _row("artifactory-key", r"\bAKC[a-z]", rf"AKC[a-z]{_A}{{40,}}"),
    _row("artifactory-key", r"cmVmdGtu", rf"cmVmdGtu{_A}{{28,}}"),
    _row("circleci-token", r"CCI(?:PAT|PRJ)_", rf"CCI(?:PAT|PRJ)_{_A}+_[0-9a-f]{{20,}}"),
    _row("buildkite-token", r"bk[up]a_", r"bk[up]a_[0-9a-f]{32,}"),
    _row("sonar-token", r"sq[pua]_[0-9a-f]{8}", r"sq[pua]_[0-9a-f]{32,}"),
    _row("sourcegraph-token", r"sgp_[A-Za-z0-9_]{12}", r"sgp_(?:[A-Za-z0-9]+_)?[0-9a-f]{32,}"),
    _row("octopus-key", r"\bAPI-[A-Z0-9]{20}", r"API-[A-Z0-9]{25,}"),
    # --- clouds and hosting ------------------------------------------------------------------
    _row(
        "aws-access-key",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{8}",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}",
    ),
    _row("google-api-key", r"AIza", rf"AIza{_W}{{28,}}"),
    _row("google-oauth", r"ya29\.", r"ya29\.[A-Za-z0-9_.-]{20,}"),
    _row("google-oauth", r"GOCSPX-", rf"GOCSPX-{_W}{{16,}}"),
    _row("google-oauth", r"\b1//0[A-Za-z0-9_-]{12}", rf"1//0{_W}{{24,}}"),
    _row("firebase-key", r"\bAAAA[A-Za-z0-9_-]{7}:", rf"AAAA{_W}{{7}}:{_W}{{100,}}"),
    _row(
        "azure-client-secret",
        r"[A-Za-z0-9_~.]{3}[0-9]Q~",
        r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{28,}",
    ),
    _row("alibaba-key", r"\bLTAI[A-Za-z0-9]{8}", rf"LTAI{_A}{{12,}}"),
    _row("tencent-key", r"\bAKID[A-Za-z0-9]{12}", rf"AKID{_A}{{24,}}"),
    _row("digitalocean-token", r"do[opr]_v1_", r"do[opr]_v1_[0-9a-f]{32,}"),
    _row("heroku-key", r"HRKU-", rf"HRKU-{_W}{{28,}}"),
    _row("fly-token", r"\bfm[12][ar]?_", r"fm[12][ar]?_[A-Za-z0-9+/=_-]{40,}"),
    _row("fly-token", r"\bfo1_", rf"fo1_{_W}{{28,}}"),
    _row("render-key", r"\brnd_[A-Za-z0-9]{12}", rf"rnd_{_A}{{24,}}"),
    _row("netlify-token", r"\bnf[a-z]_[A-Za-z0-9]{12}", rf"nf[a-z]_{_A}{{30,}}"),
    _row("vercel-token", r"\bvc[pkrai]_[A-Za-z0-9]{12}", rf"vc[pkrai]_{_W}{{20,}}"),
    _row("cloudflare-key", r"\bv1\.0-[0-9a-f]{12}", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    _row("supabase-key", r"sbp_", r"sbp_(?:v0_)?[0-9a-f]{32,}"),
    _row("supabase-key", r"sb_secret_", rf"sb_secret_{_W}{{16,}}"),
    _row("planetscale-token", r"pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{28,}"),
    _row("neon-password", r"\bnpg_[A-Za-z0-9]{8}", rf"npg_{_A}{{10,}}"),
    _row("tailscale-key", r"tskey-", rf"tskey-[a-z]+-{_W}{{16,}}"),
    _row("pulumi-token", r"\bpul-[0-9a-f]{8}", r"pul-[0-9a-f]{32,}"),
    _row("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.", rf"{_A}{{14}}\.atlasv1\.{_W}{{40,}}"),
    _row("vault-token", r"\bhv[sbr]\.", rf"hv[sbr]\.{_W}{{20,}}"),
    _row(
        "doppler-token",
        r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.",
        rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{1,40}}\.)?{_A}{{28,}}",
    ),
    _row("databricks-token", r"\bdapi[0-9a-f]{12}", r"dapi[0-9a-f]{28,}(?:-\d)?"),
    _row("onepassword-token", r"ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=_-]{40,}"),
    # --- chat, mail, phone -------------------------------------------------------------------
    _row(
        "slack-token",
        r"xox[a-z]-|xoxe\.xox|\bxapp-[0-9]-",
        r"(?:xoxe\.)?(?:xox[a-z]-|xapp-[0-9]-)[A-Za-z0-9-]{10,}",
    ),
    _row(
        "slack-webhook",
        r"hooks\.slack(?:-gov)?\.com/",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<slack>[A-Za-z0-9/_+-]{16,})",
    ),
    _row(
        "discord-webhook",
        r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/",
        rf"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/\d+/(?P<discord>{_W}{{16,}})",
    ),
    _row(
        "discord-token",
        r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{16}",
        rf"[MNO]{_W}{{22,27}}\.{_W}{{6}}\.{_W}{{20,}}",
    ),
    _row(
        "teams-webhook",
        r"webhook\.office\.com/webhookb2/",
        r"webhook\.office\.com/webhookb2/(?P<teams>[A-Za-z0-9@/-]{40,})",
    ),
    _row("telegram-token", r"\b[0-9]{8,10}:AA", rf"\d{{8,10}}:AA{_W}{{28,}}"),
    _row("twilio-key", r"\b(?:SK|AC)[0-9a-f]{12}", r"(?:SK|AC)[0-9a-f]{32}(?![0-9A-Za-z])"),
    _row("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{12}", rf"SG\.{_W}{{12,}}\.{_W}{{16,}}"),
    _row("mailgun-key", r"\bkey-[0-9a-f]{12}", r"key-[0-9a-f]{32}(?![0-9a-f])"),
    _row("mailchimp-key", r"\b[0-9a-f]{32}-us[0-9]", r"[0-9a-f]{32}-us\d{1,2}"),
    _row("brevo-key", r"x(?:keysib|smtpsib)-", r"x(?:keysib|smtpsib)-[0-9a-f]{32,}-[A-Za-z0-9]{12,}"),
    _row("resend-key", r"\bre_[A-Za-z0-9]{8}_", rf"re_{_A}{{8}}_{_A}{{20,}}"),
    # --- money -------------------------------------------------------------------------------
    _row("stripe-key", r"[sr]k_(?:live|test)_", rf"[sr]k_(?:live|test)_{_A}{{16,}}"),
    _row("stripe-webhook-secret", r"whsec_", r"whsec_[A-Za-z0-9+/=]{16,}"),
    _row("square-token", r"sq0[a-z]{3}-", rf"sq0[a-z]{{3}}-{_W}{{20,}}"),
    _row("square-token", r"\bEAAA[A-Za-z0-9_-]{20}", rf"EAAA{_W}{{50,}}"),
    _row("shopify-token", r"shp(?:at|ca|pa|ss|ua)_", r"shp(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{28,}"),
    _row(
        "plaid-token",
        r"\b(?:access|public)-(?:sandbox|development|production)-",
        rf"(?:access|public)-(?:sandbox|development|production)-{_UUID}",
    ),
    _row("razorpay-key", r"rzp_(?:live|test)_", rf"rzp_(?:live|test)_{_A}{{14,}}"),
    _row("flutterwave-key", r"FLWSECK", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z-]{12,}"),
    _row("paypal-token", r"access_token\$", r"access_token\$(?:production|sandbox)\$[0-9a-z$]{30,}"),
    _row("easypost-key", r"\bEZ[AT]K[A-Za-z0-9]{20}", rf"EZ[AT]K{_A}{{54,}}"),
    _row("shippo-key", r"shippo_(?:live|test)_", r"shippo_(?:live|test)_[0-9a-f]{32,}"),
    # --- work, design, watching --------------------------------------------------------------
    _row("linear-key", r"lin_(?:api|oauth)_", rf"lin_(?:api|oauth)_{_A}{{28,}}"),
    _row("notion-token", r"\bntn_", rf"ntn_{_A}{{28,}}"),
    _row("notion-token", r"\bsecret_[A-Za-z0-9]{30}", rf"secret_{_A}{{40,}}"),
    _row("airtable-token", r"\bpat[A-Za-z0-9]{14}\.", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}"),
    _row("hubspot-token", r"\bpat-(?:na|eu)[0-9]-", rf"pat-(?:na|eu)\d-{_UUID}"),
    _row("asana-token", r"\b[12]/[0-9]{12,20}[:/]", r"[12]/\d{12,20}(?:/\d{12,20})?:[0-9a-f]{32,}"),
    _row("clickup-token", r"\bpk_[0-9]{6,10}_", r"pk_\d{6,10}_[A-Z0-9]{28,}"),
    _row("figma-token", r"fig[dour]_", rf"fig[dour]_{_W}{{20,}}"),
    _row("postman-key", r"PMAK-", r"PMAK-[0-9a-f]{20,}-[0-9a-f]{28,}"),
    _row("grafana-token", r"glsa_", r"glsa_[A-Za-z0-9]{28,}_[0-9a-fA-F]{8}"),
    _row("grafana-token", r"glc_eyJ", r"glc_eyJ[A-Za-z0-9+/=_-]{28,}"),
    _row("grafana-token", r"eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/=_-]{40,}"),
    _row("newrelic-key", r"NR(?:AK|JS|II|IQ|RA|SP|MA)-", rf"NR(?:AK|JS|II|IQ|RA|SP|MA)-{_W}{{16,}}"),
    _row("newrelic-key", r"[0-9a-f]{36}NRAL", r"[0-9a-f]{36}NRAL"),
    _row("sentry-token", r"sntry[su]_", r"sntry[su]_[A-Za-z0-9+/=_-]{28,}"),
    _row("posthog-key", r"\bphx_[A-Za-z0-9]{12}", rf"phx_{_W}{{28,}}"),
    _row("launchdarkly-key", r"\b(?:sdk|api|mob)-[0-9a-f]{8}-", rf"(?:sdk|api|mob)-{_UUID}"),
    _row("mapbox-token", r"\bsk\.eyJ", r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    _row("dropbox-token", r"\bsl\.(?:u\.)?[A-Za-z0-9_-]{40}", rf"sl\.(?:u\.)?{_W}{{100,}}"),
    _row("facebook-token", r"\bEAA[A-Z][A-Za-z0-9]{40}", r"EAA[A-Z][A-Za-z0-9]{60,}"),
    _row("twitter-token", r"\bAAAAAAAAAAAAAAAAAAAA", r"A{20,24}[A-Za-z0-9%]{50,}"),
    _row("contentful-token", r"CFPAT-", rf"CFPAT-{_W}{{28,}}"),
    _row("typeform-token", r"\btfp_", r"tfp_[A-Za-z0-9_.=-]{30,}"),
    _row("prefect-key", r"\bpn[ub]_[A-Za-z0-9]{12}", rf"pn[ub]_{_A}{{28,}}"),
    _row("wakatime-key", r"waka_[0-9a-f]{8}-", rf"waka_{_UUID}"),
    _row("readme-key", r"\brdme_", r"rdme_[a-z0-9]{40,}"),
    _row("duffel-token", r"duffel_(?:live|test)_", rf"duffel_(?:live|test)_{_W}{{28,}}"),
    _row("zapier-webhook", r"hooks\.zapier\.com/", r"hooks\.zapier\.com/hooks/catch/(?P<zapier>\d+/\w+)"),
    # --- keys of programs --------------------------------------------------------------------
    _row("age-key", r"AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,}"),
    # Hashes of passwords: not the password, but enough to search for it at leisure.
    _row("password-hash", r"\$2[abxy]\$[0-9]{2}\$", r"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{40,53}"),
    _row("password-hash", r"\$argon2(?:id|i|d)\$", r"\$argon2(?:id|i|d)\$[A-Za-z0-9$,=+/]{30,}"),
    _row("password-hash", r"\$(?:[156y]|apr1|7|gy)\$", r"\$(?:[156y7]|apr1|gy)\$(?:rounds=\d+\$)?[./A-Za-z0-9$]{24,}"),
    _row("password-hash", r"\$pbkdf2", r"\$pbkdf2(?:-sha\d+)?\$[A-Za-z0-9$./=+,-]{30,}"),
    _row("password-hash", r"pbkdf2_sha[0-9]{3}\$", r"pbkdf2_sha\d{3}\$\d+\$[A-Za-z0-9+/=$]{30,}"),
    # The shape that providers have agreed on since: product_environment_random.
    _row(
        "api-key",
        r"\b[a-z]{2,12}_(?:live|prod|secret|sk|pat)_[A-Za-z0-9]{20}",
        rf"[a-z]{{2,12}}_(?:live|prod|secret|sk|pat)_{_A}{{20,}}",
    ),
)

KINDS: Final = frozenset(row.kind for row in FORMATS)

_ALL: Final = re.compile("|".join(f"(?P<f{i}>{row.pattern})" for i, row in enumerate(FORMATS)))
_CHUNK: Final = 4096  # a key is never longer; a longer run is taken on by the caller
_MASKED: Final = re.compile(r"(?i)x{4}|\*{3}|\.{3}|your|_here\b|-here\b|<|example-|placeholder")
_RUN: Final = re.compile(r"[A-Za-z0-9_-]*")


def find_format(text: str, start: int) -> tuple[int, int, str] | None:
    """Find the provider key that begins at `start`: where its secret part is, and its kind.

    Not a key: one that stands for another (`sk-xxxxxxxx`, `ghp_your_token_here`), and a word that
    merely begins like one, which shows by having neither a digit nor both cases.
    """
    found = _ALL.match(text, start, start + _CHUNK)
    if found is None or found.lastgroup is None:
        return None
    names = [name for name, value in found.groupdict().items() if value is not None]
    row = FORMATS[int(names[0][1:])]
    part = names[-1] if len(names) > 1 else 0
    begin, end = found.span(part)
    if end == start + _CHUNK:  # the run goes on
        rest = _RUN.match(text, end)
        end = rest.end() if rest is not None else end
    body = text[begin:end]
    # The prefix says nothing about whether the rest is random.
    tail = body[len(body) // 3 :]
    mixed = any(c.isdigit() for c in tail) or (tail.lower() != tail and tail.upper() != tail)
    if not mixed or len(set(tail)) < 5 or _MASKED.search(body):
        return None
    return begin, end, row.kind
