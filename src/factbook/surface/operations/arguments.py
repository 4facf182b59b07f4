"""The parameters that several operations have, and the groups of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from factbook.errors import NotFound, UsageError
from factbook.model.facts import EVERYONE, ME, Everyone
from factbook.surface.operations.base import Arg

if TYPE_CHECKING:
    from factbook import Filters
    from factbook.llm.config import ModelConfig
    from factbook.model.facts import Millis

WHEN: Final = "7d, 36h, 2w, yesterday, 2026-11-02 or 2026-11-02T10:30"
_HOSTS: Final = ("claude-code", "codex", "gemini-cli", "specstory")


def _predicates() -> Iterable[str]:
    from factbook import RuleSet

    return dict.fromkeys(rule.predicate for rule in RuleSet.default().rules)


Owner = Annotated[str, Arg("Whose memory it is; yours is `me`.", metavar="NAME")]
Limit = Annotated[int, Arg("At most N; 0 for all.", "-n", metavar="N", least=0)]
NoRedact = Annotated[bool, Arg("Show what is stored as it is.", terminal=True)]
Session = Annotated[str, Arg("Only of this session.", metavar="ID")]
Words = Annotated[str, Arg("In your own words.", metavar="TEXT", given="words")]
FactId = Annotated[str, Arg("Its id, as f12 or 12.", metavar="FACT", given="argument")]
Planner = Annotated[
    Literal["model", "rules"],
    Arg(
        "Who reads the words: model, or rules, which know common phrasings and need no model."
        " Neither stands in for the other.",
        metavar="HOW",
    ),
]
RuleFile = Annotated[
    Path | None,
    Arg(
        "Your own rules (TOML), instead of rules.toml in your configuration folder.",
        metavar="FILE",
        flag="--rules",
        terminal=True,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """Of whom is read, and how much of it is shown."""

    owner: Owner = ME
    all_owners: Annotated[bool, Arg("What is about anybody, not about one owner.")] = False
    no_redact: NoRedact = False

    def __post_init__(self) -> None:
        if self.all_owners and self.owner != ME:
            raise UsageError(
                detail="--owner and --all-owners go against each other; give one of them"
            )

    @property
    def about(self) -> str | Everyone:
        return EVERYONE if self.all_owners else self.owner


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrow:
    """What narrows that which is read.

    Args:
        predicate: Only facts of this predicate; may be repeated.
        min_confidence: Only facts at least this sure, from 0 to 1.
        host: Only of this agent: claude-code, codex, gemini-cli or specstory.
        project: Only of this working folder, or of any that has this in its path.
    """

    predicate: Annotated[Sequence[str], Arg(short="-p", metavar="NAME", known=_predicates)] = ()
    min_confidence: Annotated[float, Arg(metavar="X")] = 0.0
    subject: Annotated[str, Arg("Only of this subject.", metavar="NAME")] = ""
    object_: Annotated[str, Arg("Only with exactly this object.", metavar="TEXT")] = ""
    since: Annotated[str | None, Arg(f"Not before: {WHEN}.", metavar="WHEN")] = None
    until: Annotated[str | None, Arg("Before this moment.", metavar="WHEN")] = None
    host: Annotated[str, Arg(metavar="AGENT", known=_HOSTS)] = ""
    project: Annotated[str, Arg(metavar="FOLDER")] = ""
    session: Session = ""

    def filters(self, owner: str | Everyone = ME) -> Filters:
        """Return it as filters; raises UsageError where nothing could pass them."""
        from factbook import Filters

        if not 0.0 <= self.min_confidence <= 1.0:  # also refuses NaN
            raise UsageError(
                detail=f"--min-confidence {self.min_confidence} is no confidence; give a number"
                " from 0 to 1"
            )
        first, last = moment_of("--since", self.since), moment_of("--until", self.until)
        if first is not None and last is not None and first >= last:
            raise UsageError(
                detail=f"--since {self.since} is not before --until {self.until}; nothing lies"
                " between"
            )
        at_home = self.project.startswith("~")
        return Filters(
            predicates=tuple(self.predicate),
            min_confidence=self.min_confidence,
            since=first,
            until=last,
            host=self.host,
            project=str(Path(self.project).expanduser()) if at_home else self.project,
            session=self.session,
            subject=self.subject,
            object=self.object_,
            owner=owner,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """Which language model is asked.

    Args:
        provider: ollama or openai (any compatible endpoint), instead of $FACTS_LLM_PROVIDER.
        model: Instead of $FACTS_LLM_MODEL.
        url: Instead of $FACTS_LLM_URL.
        timeout: Of a whole call, instead of $FACTS_LLM_TIMEOUT_S.
    """

    provider: Annotated[str | None, Arg(metavar="NAME", flag="--llm-provider", terminal=True)] = (
        None
    )
    model: Annotated[str | None, Arg(metavar="NAME", flag="--llm-model", terminal=True)] = None
    url: Annotated[str | None, Arg(metavar="URL", flag="--llm-url", terminal=True)] = None
    timeout: Annotated[
        float | None, Arg(metavar="SECONDS", flag="--llm-timeout", terminal=True)
    ] = None

    @property
    def named(self) -> bool:
        return any(part is not None for part in (self.provider, self.model, self.url, self.timeout))

    def config(self) -> ModelConfig | None:
        """Return how the model is configured by flags, environment and file; None where off."""
        from factbook.llm.config import load_config
        from factbook.net.settings import config_path

        return load_config(
            os.environ,
            config_path(os.environ),
            provider=self.provider,
            model=self.model,
            url=self.url,
            timeout_s=self.timeout,
        )


def moment_of(option: str, value: str | None) -> Millis | None:
    """Read the moment that an option names; None where it is not given."""
    if value is None:
        return None
    from factbook.recall.time_expressions import now_ms, parse_moment

    try:
        return parse_moment(value, now=now_ms())
    except (OverflowError, ValueError, OSError):  # a year that no clock can tell
        raise UsageError(
            detail=f"{option} {value} lies outside of time; give one like {WHEN}"
        ) from None


def fact_number(text: str) -> int:
    """Read the id of a fact: `f12` or `12`."""
    digits = text.strip().removeprefix("f")
    if not digits.isascii() or not digits.isdigit():
        hint = (
            "; that is an episode"
            if text.startswith("e") and text[1:].isdigit()
            else "; `factbook facts` lists the facts with their ids"
        )
        raise UsageError(detail=f"{text!r} is not the id of a fact, give one like f12{hint}")
    number = int(digits[:20])
    if number >= 2**63:
        raise NotFound(
            what="fact", name=text, hint="`factbook facts` lists the facts with their ids."
        )
    return number
