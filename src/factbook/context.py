"""What every part of a memory is given: the store, the clock, who acts, and what it works with.

One frozen object goes through all of them, so that a part names what it needs and nothing is handed
on argument by argument. What is costly (the embedding model, the redactor's key, a client of a
language model) is made when it is first needed, once for all that share it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import platformdirs

from factbook.errors import ModelError, ModelFailure, SearchError, SearchFailure
from factbook.model.facts import Millis, Receipt, Trigger
from factbook.store.damage import naming_damage
from factbook.store.named import named_owners, place_of
from factbook.store.overtaken import again_if_overtaken
from factbook.store.screened import screening

if TYPE_CHECKING:
    from factbook.embed import Embedder
    from factbook.extract.rules import RuleSet
    from factbook.language.reader.reading import Reader
    from factbook.llm import LLM
    from factbook.llm.config import ModelConfig
    from factbook.model.ops import Op
    from factbook.redaction.base import Redacting
    from factbook.redaction.records import Screening
    from factbook.redaction.told import ToldSecret
    from factbook.search_providers.base import SearchProvider
    from factbook.search_providers.config import SearchConfig
    from factbook.store.port import Store
    from factbook.store.rows import Wiped

__all__ = [
    "Context",
    "Resources",
    "default_db",
    "default_key_file",
    "look_again",
    "part",
    "place_of",
    "rules_file",
    "rules_in_force",
]
_T = TypeVar("_T")
_C = TypeVar("_C")


def part(kind: type[_C]) -> type[_C]:
    """Let every public method of a part keep what all promise of owners, names and damage.

    An owner that is none is refused, a session is compared as it was kept, and the error of a
    damaged file says so. The class has its Context in `_context`.
    """
    named = screening(at="_context.resources.screened", only=("owner", "session"))(
        named_owners(kind)
    )
    return naming_damage(at="_context.store", first=look_again)(named)


def look_again(of: Any) -> None:
    """Know the secrets that other processes were told by now, before a part is called.

    Once for each call: the redactor itself is asked a hundred times while a question is answered.
    """
    of._context.resources.look_again()


def default_db() -> Path | str:
    """Return where the database is by default: $FACTBOOK_DB, else the user's data folder.

    It is a URL where a store of another package is named.
    """
    named = os.environ.get("FACTBOOK_DB")
    return place_of(named) if named else platformdirs.user_data_path("factbook") / "factbook.db"


def default_key_file() -> Path:
    """Return where the redaction key is: $FACTBOOK_KEY_FILE, else the user's configuration folder.

    It never stands beside the database, so that a copied database gives no secret away.
    """
    named = os.environ.get("FACTBOOK_KEY_FILE")
    return Path(named) if named else platformdirs.user_config_path("factbook") / "redaction.key"


def rules_file() -> Path:
    """Return where a user's own rules are, where none are named."""
    return platformdirs.user_config_path("factbook") / "rules.toml"


def rules_in_force(path: Path | None, *, strict: bool = False) -> RuleSet | None:
    """Return the rules with those of a user's file; None where the table alone is in force.

    Raises RuleError for a file that is not as docs/rules.md says.
    """
    if path is None:
        usual = rules_file()
        path = usual if usual.exists() else None
    if path is None and not strict:
        return None
    from factbook.extract.rules import RuleSet
    from factbook.extract.user_rules import load_user_rules

    user = load_user_rules(path.expanduser()) if path is not None else ()
    return RuleSet.default(strict=strict, user=user)


class Resources:
    """What reads, embeds, asks and searches for a memory; each is made when it is first needed.

    What is not given is what the environment and the configuration file say, or the default.
    """

    def __init__(
        self,
        *,
        redactor: Redacting | None = None,
        redact: bool = True,
        key_file: str | os.PathLike[str] | None = None,
        reading: bool = False,
        rules: RuleSet | None = None,
        reader: Reader | None = None,
        embedder: Embedder | None = None,
        llm: LLM | None = None,
        model: ModelConfig | Literal["configured"] | None = None,
        open_model: Callable[[ModelConfig], LLM] | None = None,
        search: SearchProvider | None = None,
        search_config: SearchConfig | Literal["configured"] | None = None,
    ) -> None:
        """Take what is given; see `Memory`. `reading` says that nothing will be stored."""
        self._redactor = redactor
        self._redact = redact
        self._key_file = Path(key_file) if key_file is not None else None
        self._reading = reading
        self._screening: Screening | None = None
        self._secrets: tuple[Callable[[], Sequence[ToldSecret]], Callable[[], object]] | None = None
        self._at: object = None  # where the file was when they were asked for
        self._rules = rules
        self.reader = reader  # of what people say; None for the one that ships
        self._embedder = embedder
        self._llm = llm
        self._model = model
        self._open_model = open_model
        self._provider = search
        self._search = search_config

    @property
    def redactor(self) -> Redacting:
        """The redactor, which knows what other processes were told by now."""
        redactor = self.held_redactor
        self.look_again()
        return redactor

    @property
    def held_redactor(self) -> Redacting:
        """The redactor, with the key that stands outside the database.

        It knows what was told when `look_again` was called last: before every part of a memory.
        """
        if self._redactor is None:
            from factbook.redaction import NO_REDACTION, Redactor, load_key

            key_file = self._key_file or default_key_file()
            if not self._redact:
                self._redactor = NO_REDACTION
            elif self._reading and not key_file.exists():
                # Nothing is stored, so nothing need be joinable: a key for this process will do.
                self._redactor = Redactor(key=os.urandom(32))
            else:
                self._redactor = Redactor(key=load_key(key_file), remembers=True)
            self.look_again()
        return self._redactor

    def look_again(self) -> None:
        """Know the secrets that were told since this was called last, here or elsewhere."""
        if self._redactor is None or self._secrets is None:
            return  # a redactor that is made later looks then
        kept, moved = self._secrets
        if self._at != (at := moved()):
            self._at = at  # first: what is asked of a store goes through the redactor
            self._redactor.know(kept())

    def keep_secrets(
        self, kept: Callable[[], Sequence[ToldSecret]], moved: Callable[[], object]
    ) -> None:
        """Say where the secrets are that were told, and what changes when there may be more.

        They are known from the next call on, also those that another process was told.
        """
        self._secrets = (kept, moved)

    def screened(self, record: _T, /) -> _T:
        """Return a record as it may be kept: with no secret in any of its texts."""
        if not self._redact:
            return record
        if self._screening is None:
            from factbook.redaction.records import Screening

            # A quote is compared with its episode, which went through here: it holds no more.
            self._screening = Screening(self.redactor, without=("quote",))
        return self._screening(record)

    def readers(self) -> dict[str, str]:
        """Return with what texts are read here: the versions of the redactor and of the rules.

        Rules that nothing was read with yet are not made ready for it.
        """
        from factbook.extract.versions import redactor_version, rules_version

        versions = {"redactor": redactor_version(self.redactor) if self._redact else "none"}
        if self._rules is not None:
            versions["rules"] = rules_version(self._rules)
        return versions

    @property
    def rules(self) -> RuleSet:
        """The rules in force."""
        if self._rules is None:
            from factbook.extract.rules import RuleSet

            self._rules = RuleSet.default()
        return self._rules

    @property
    def reader_version(self) -> str:
        """The version of the reader of what people say; raises ReaderError where it has none."""
        if self.reader is not None:
            return self.reader.version
        from factbook.language.reader.network import shared

        return shared().version

    @property
    def embedder(self) -> Embedder:
        """The embedding model: the given one, an endpoint that is configured, else the bundled."""
        if self._embedder is None:
            self._embedder = self._endpoint_embedder()
        if self._embedder is None:
            from factbook.embed import bundled

            self._embedder = bundled()
        return self._embedder

    def _endpoint_embedder(self) -> Embedder | None:
        from factbook.llm.config import ModelConfig, load_embed_config
        from factbook.net.settings import config_path

        if self._model is None:
            return None
        if isinstance(self._model, ModelConfig):
            config = self._model.embed
        else:
            config = load_embed_config(os.environ, config_path(os.environ))
        if config is None:
            return None
        from factbook.llm.client import open_embedder

        return open_embedder(config)

    @property
    def model_config(self) -> ModelConfig | None:
        """How the model is configured; None where it is off."""
        if self._model == "configured":
            from factbook.llm.config import load_config
            from factbook.net.settings import config_path

            self._model = load_config(os.environ, config_path(os.environ))
        return self._model

    def open_model(self, config: ModelConfig) -> LLM:
        """Return the model of a configuration, with its calls counted as the memory counts them."""
        if self._open_model is not None:
            return self._open_model(config)
        from factbook.llm.client import open_llm

        return open_llm(config, redact=lambda text: self.redactor.redact(text))

    @property
    def has_model(self) -> bool:
        """Tell whether a model is given or configured."""
        return self._llm is not None or self.model_config is not None

    @property
    def llm(self) -> LLM:
        """The configured model; raises ModelError of the kind not_configured without one."""
        if self._llm is None:
            config = self.model_config
            if config is None:
                raise ModelError(
                    kind=ModelFailure.NOT_CONFIGURED,
                    model="none",
                    reason="no model is configured; set FACTS_LLM_PROVIDER, FACTS_LLM_URL or"
                    " another FACTS_LLM_ variable, or [llm] in the configuration file",
                )
            self._llm = self.open_model(config)
        return self._llm

    @property
    def search_config(self) -> SearchConfig | None:
        """How searching is configured; None where it is off."""
        if self._search == "configured":
            from factbook.net.settings import config_path
            from factbook.search_providers.config import load_search_config

            self._search = load_search_config(os.environ, config_path(os.environ))
        return self._search

    @property
    def has_search(self) -> bool:
        """Tell whether a search provider is given or configured."""
        return self._provider is not None or self.search_config is not None

    @property
    def search_provider(self) -> SearchProvider:
        """The search provider; raises SearchError (not_configured) without one."""
        if self._provider is None:
            config = self.search_config
            if config is None:
                raise SearchError(
                    kind=SearchFailure.NOT_CONFIGURED,
                    provider="none",
                    reason="no search provider is configured; set FACTBOOK_SEARCH_PROVIDER, for"
                    " example to folder with FACTBOOK_SEARCH_FOLDER",
                )
            from factbook.search_providers import open_search

            self._provider = open_search(config)
        return self._provider

    @property
    def search_is_local(self) -> bool:
        """Tell whether searching sends nothing: it reads files of this machine alone."""
        from factbook.search_providers import is_local

        return self.has_search and is_local(self.search_provider)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a part of a memory works with. `replace` gives one of another store or clock."""

    store: Store
    clock: Callable[[], Millis]
    actor: str  # who the history names for what is written
    resources: Resources
    notify_on: Collection[Trigger] | None = None  # None: as the configuration says

    def write(
        self,
        ops: Sequence[Op],
        trigger: Trigger,
        *,
        now: Millis | None = None,
        run_id: int | None = None,
        screened: bool = False,
        on_wiped: Callable[[Wiped], None] | None = None,
    ) -> Receipt:
        """Write all of the ops in one transaction, at `now` (the clock's, if not given).

        Secrets are taken out of them first, unless they went through `propose.batch_ops`, which
        does it while a log is read. What was decided on what another process has changed since is
        decided again (RecordChanged, where that went on). See `apply`, which says what it raises.
        """
        from factbook.apply.apply import apply
        from factbook.store.screened import unscreened

        now = self.clock() if now is None else now
        redactor = self.resources.redactor
        kept: list[ToldSecret] = []

        def told() -> Sequence[ToldSecret]:
            lately = redactor.told_lately()
            kept.extend(lately)
            return lately

        receipt = again_if_overtaken(
            lambda: apply(
                self.store,
                ops,
                trigger=trigger,
                actor=self.actor,
                now=now,
                run_id=run_id,
                screen=unscreened if screened else self.resources.screened,
                readers=self.resources.readers,
                told=told,
                on_wiped=on_wiped,
            )
        )
        redactor.know(kept)
        return receipt

    def redact(self, text: str) -> str:
        """Return a text without its secrets, for a part that was called a moment ago."""
        return self.resources.held_redactor.redact(text)

    @property
    def embedder(self) -> Embedder:
        """The embedding model."""
        return self.resources.embedder

    @property
    def llm(self) -> LLM:
        """The language model; raises ModelError of the kind not_configured without one."""
        return self.resources.llm

    @property
    def model(self) -> LLM | None:
        """The language model; None without one."""
        return self.llm if self.resources.has_model else None
