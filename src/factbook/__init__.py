"""Long-term memory for AI agents and assistants that can show its sources.

Everything that a caller names is here: what is made, what is given to it, and what it raises.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from factbook.embed import Embedder
    from factbook.errors import (
        EmbedderError,
        EmbedderMismatch,
        FactbookError,
        InputError,
        KeyFileError,
        ModelError,
        ModelFailure,
        NotFound,
        NotText,
        RejectionError,
        RuleError,
        SearchError,
        SearchFailure,
        StoreCorrupt,
        StoreError,
        StoreFull,
        StoreLocked,
        StoreMissing,
        StoreReadOnly,
        StoreReplaced,
        StoreTooNew,
        StoreTooOld,
        UsageError,
    )
    from factbook.extract.keyed.contracts import FactsOpsResponse, FactsQueryPlan
    from factbook.extract.rules import RuleSet
    from factbook.gate.typed_claims import TypedVerdict
    from factbook.interests.deliver import Delivery
    from factbook.interests.scheduler import LoopStep
    from factbook.language.reader.reading import Reader
    from factbook.llm import LLM
    from factbook.llm.config import ModelConfig
    from factbook.maintenance.consolidate import Resolver, RunReport
    from factbook.maintenance.embedding import EmbedReport
    from factbook.maintenance.erasure import Erased
    from factbook.memory import Memory, Stats
    from factbook.memory.aio import AsyncConversation, AsyncMemory
    from factbook.memory.answering import Asked
    from factbook.memory.conversation import Conversation
    from factbook.memory.keyed import Planner
    from factbook.model.entities import NoticeState, SearchState
    from factbook.model.facts import (
        EVERYONE,
        Episode,
        Event,
        Everyone,
        Evidence,
        Fact,
        FactKind,
        Hit,
        Receipt,
        Role,
        Source,
        Status,
        StoredEpisode,
        Trigger,
        Trust,
    )
    from factbook.pipelines.graph import GraphEntity, GraphObserved, GraphRelation
    from factbook.pipelines.imported import ImportReport
    from factbook.pipelines.keyed import Told
    from factbook.pipelines.observed import IngestReport
    from factbook.pipelines.sources import Explanation
    from factbook.recall.budget import ContextLimits, PromptContext, ToolResult
    from factbook.recall.plan import SearchType, Turn
    from factbook.recall.prefetch import Streamed
    from factbook.recall.search import Answer
    from factbook.search_providers.base import SearchProvider
    from factbook.search_providers.config import SearchConfig
    from factbook.sources.discover import Paths
    from factbook.sources.session_log import Discovery
    from factbook.store.rows import Filters, Problem, RejectionFilters

__all__ = [
    "EVERYONE",
    "LLM",
    "Answer",
    "Asked",
    "AsyncConversation",
    "AsyncMemory",
    "ContextLimits",
    "Conversation",
    "Delivery",
    "Discovery",
    "EmbedReport",
    "Embedder",
    "EmbedderError",
    "EmbedderMismatch",
    "Episode",
    "Erased",
    "Event",
    "Everyone",
    "Evidence",
    "Explanation",
    "Fact",
    "FactKind",
    "FactbookError",
    "FactsOpsResponse",
    "FactsQueryPlan",
    "Filters",
    "GraphEntity",
    "GraphObserved",
    "GraphRelation",
    "Hit",
    "ImportReport",
    "IngestReport",
    "InputError",
    "KeyFileError",
    "LoopStep",
    "Memory",
    "ModelConfig",
    "ModelError",
    "ModelFailure",
    "NotFound",
    "NotText",
    "NoticeState",
    "Paths",
    "Planner",
    "Problem",
    "PromptContext",
    "Reader",
    "Receipt",
    "RejectionError",
    "RejectionFilters",
    "Resolver",
    "Role",
    "RuleError",
    "RuleSet",
    "RunReport",
    "SearchConfig",
    "SearchError",
    "SearchFailure",
    "SearchProvider",
    "SearchState",
    "SearchType",
    "Source",
    "Stats",
    "Status",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreLocked",
    "StoreMissing",
    "StoreReadOnly",
    "StoreReplaced",
    "StoreTooNew",
    "StoreTooOld",
    "StoredEpisode",
    "Streamed",
    "Told",
    "ToolResult",
    "Trigger",
    "Trust",
    "Turn",
    "TypedVerdict",
    "UsageError",
    "__version__",
]

__version__ = "0.1.0"

_HOMES: Final = {
    "factbook.memory.aio": "AsyncConversation AsyncMemory",
    "factbook.memory.answering": "Asked",
    "factbook.memory.keyed": "Planner",
    "factbook.memory.conversation": "Conversation",
    "factbook.embed": "Embedder",
    "factbook.errors": (
        "EmbedderError EmbedderMismatch FactbookError InputError "
        "KeyFileError ModelError ModelFailure NotFound NotText RejectionError RuleError "
        "SearchError SearchFailure StoreCorrupt StoreError StoreFull StoreLocked "
        "StoreMissing StoreReadOnly StoreReplaced StoreTooNew StoreTooOld UsageError"
    ),
    "factbook.extract.rules": "RuleSet",
    "factbook.gate.typed_claims": "TypedVerdict",
    "factbook.interests.deliver": "Delivery",
    "factbook.interests.scheduler": "LoopStep",
    "factbook.language.reader.reading": "Reader",
    "factbook.extract.keyed.contracts": "FactsOpsResponse FactsQueryPlan",
    "factbook.llm": "LLM",
    "factbook.llm.config": "ModelConfig",
    "factbook.memory": "Memory Stats",
    "factbook.model.facts": (
        "EVERYONE Episode Event Everyone Evidence Fact FactKind Hit Receipt Role Source "
        "Status StoredEpisode Trigger Trust"
    ),
    "factbook.pipelines.graph": "GraphEntity GraphObserved GraphRelation",
    "factbook.pipelines.imported": "ImportReport",
    "factbook.pipelines.keyed": "Told",
    "factbook.pipelines.observed": "IngestReport",
    "factbook.recall.budget": "ContextLimits PromptContext ToolResult",
    "factbook.pipelines.sources": "Explanation",
    "factbook.recall.plan": "SearchType Turn",
    "factbook.recall.search": "Answer",
    "factbook.recall.prefetch": "Streamed",
    "factbook.search_providers.base": "SearchProvider",
    "factbook.search_providers.config": "SearchConfig",
    "factbook.sources.discover": "Paths",
    "factbook.sources.session_log": "Discovery",
    "factbook.store.rows": "Filters Problem RejectionFilters",
    "factbook.maintenance.consolidate": "Resolver RunReport",
    "factbook.maintenance.embedding": "EmbedReport",
    "factbook.maintenance.erasure": "Erased",
    "factbook.model.entities": "NoticeState SearchState",
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    # Loaded when first named: the command line starts without numpy and the parsers.
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
