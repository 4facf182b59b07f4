"""Name every failure that factbook reports, once.

    FactbookError                      exit 1
    |-- UsageError                     exit 2   what was asked cannot be done as asked
    |   |-- NotAllowed                 exit 2   a trigger tried an op that the trigger table forbids
    |   |-- RejectionError             exit 2   the gate refused a memory that was to be stored
    |   `-- Overtaken                  exit 2   something was said later under the same key
    |-- InputError                     exit 3   what was given to read
    |   |-- PathMissing
    |   |-- PathUnreadable
    |   |-- NoLogsFound
    |   `-- UnsupportedHost
    |-- StoreError                     exit 4   the database file
    |   |-- StoreMissing
    |   |-- NotAStore
    |   |-- StoreTooNew
    |   |-- StoreTooOld
    |   |-- StoreLocked
    |   |-- StoreReadOnly
    |   |-- StoreFull
    |   |-- StoreCorrupt
    |   |-- StoreReplaced
    |   |-- TakenOver
    |   `-- EmbedderMismatch
    |-- RuleError                      exit 5   a rule file
    |-- KeyFileError                   exit 6   the redaction key
    |-- EmbedderError                  exit 7   the embedding model
    |-- ModelError                     exit 9   the language model, one error with its kind
    |   `-- OperationsUnusable         exit 9
    |-- SearchError                    exit 11  the search provider, one error with its kind
    `-- NotFound                       exit 8   no such fact, episode or source

Each message is one sentence that says what, where and what to do; the class docstring is its
template, so text and reference cannot differ.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class ModelFailure(StrEnum):
    """Say how a call of a language model failed."""

    NOT_CONFIGURED = "not_configured"  # no model is configured: nothing was called
    OVER_BUDGET = "over_budget"  # the budget of the day is spent: nothing was called
    TIMEOUT = "timeout"  # the total deadline passed
    CONNECT = "connect"  # nobody answers there, or the connection broke
    HTTP = "http"  # a status other than 2xx, or a body that is not of the protocol
    REFUSED = "refused"  # the model declined
    TRUNCATED = "truncated"  # the answer was cut at its token limit
    INVALID_JSON = "invalid_json"  # the answer is not one JSON value
    SCHEMA = "schema"  # JSON that does not fit what was asked for
    TOO_LARGE = "too_large"  # the answer, or the prompt, is larger than allowed


class FactbookError(Exception):
    """{detail}"""

    exit_code: ClassVar[int] = 1

    def __init__(self, **details: object) -> None:
        self.details = details
        template = (type(self).__doc__ or "{detail}").strip()
        said = template.format_map(_Missing(details))
        # What was wrong may be a name that no screen can show.
        super().__init__(said.encode("utf-8", "backslashreplace").decode())

    def __reduce__(self) -> tuple[object, ...]:
        """Cross a pipe with the details, from which the message is made again."""
        return _again, (type(self), {name: str(value) for name, value in self.details.items()})


def _again(kind: type[FactbookError], details: dict[str, str]) -> FactbookError:
    return kind(**details)


class _Missing(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return f"<{key}>"


class UsageError(FactbookError):
    """{detail}"""

    exit_code = 2


class NotText(UsageError):
    """{text} is no whole text: it holds half of a character, as bytes that are no UTF-8 do and texts that were cut inside one; give it whole."""  # noqa: E501


class NotAllowed(UsageError):
    """The trigger {trigger} may not emit {op}; policy.MAY_EMIT lists what it may."""


class RejectionError(UsageError):
    """The memory "{text}" was refused ({reason}); {detail}"""


class Overtaken(UsageError):
    """{key} was changed by a later message, which holds; nothing was changed."""


class InputError(FactbookError):
    """{detail}"""

    exit_code = 3


class PathMissing(InputError):
    """{path} does not exist; give a log file or a folder that holds some."""


class PathUnreadable(InputError):
    """{path} cannot be read ({reason}); check its permissions and run again."""


class NoLogsFound(InputError):
    """No agent session logs were found in {path}; give a folder with logs of Claude Code, Codex or Gemini CLI, or with .specstory/history."""  # noqa: E501


class UnsupportedHost(InputError):
    """{path} is a log of {host}, which is recognised but not supported yet; nothing was read from it."""  # noqa: E501


class StoreError(FactbookError):
    """{detail}"""

    exit_code = 4


class StoreMissing(StoreError):
    """There is no database at {path}; run `factbook ingest` first, or name another file with --db."""  # noqa: E501


class NotAStore(StoreError):
    """{path} is not a factbook database ({reason}); it was left untouched, name another file with --db."""  # noqa: E501


class StoreTooNew(StoreError):
    """{path} has schema {found}, and this factbook knows up to {known}; upgrade factbook to open it."""  # noqa: E501


class StoreLocked(StoreError):
    """{path} stayed locked by another process for {seconds} seconds; nothing was changed, run it again when the other one is done."""  # noqa: E501


class StoreReadOnly(StoreError):
    """{path} cannot be written ({reason}); nothing was changed, make the file and its folder writable or name another file with --db."""  # noqa: E501


class StoreTooOld(StoreError):
    """{path} is of an older state of factbook's development (schema {found}; this factbook reads {known}) and was left untouched; {advice}."""  # noqa: E501


class StoreFull(StoreError):
    """The disk that holds {path} is full; the last batch was rolled back and all before it is kept, free some space and run it again."""  # noqa: E501


class StoreCorrupt(StoreError):
    """{path} is damaged ({reason}); copy it away, then `factbook doctor --db {path}` says what is still readable."""  # noqa: E501


class StoreReplaced(StoreError):
    """{path} is no longer the file that is open here ({what}); this write is not acknowledged, and `reopen()` saves what only this process holds and opens what stands there now."""  # noqa: E501


class TakenOver(StoreError):
    """{what} was taken over by another worker meanwhile; what this one had was not written."""


class RecordError(StoreError):
    """The record of typed memories, {name}, did not do as it was asked ({reason}); nothing was acknowledged, and the same can be done again."""  # noqa: E501


class RecordChanged(RecordError):
    """{name} was written to by somebody else meanwhile; nothing was changed here, do it again."""


class EmbedderMismatch(StoreError):
    """{path} holds vectors of {found}, not of {given}; run `factbook reembed` to change the embedding model."""  # noqa: E501


class RuleError(FactbookError):
    """{where}: {reason}"""

    exit_code = 5

    def __init__(self, *, path: object, line: int, reason: str) -> None:
        """Name the place; line 0 is the file itself."""
        where = f"{path}, line {line}" if line else str(path)
        super().__init__(path=path, line=line, reason=reason, where=where)


class KeyFileError(FactbookError):
    """The redaction key {path} cannot be used ({reason}); restore it from a backup or move it away to have a new one made."""  # noqa: E501

    exit_code = 6


class EmbedderError(FactbookError):
    """The embedding model cannot be used ({reason}); reinstall factbook, or go on with text search alone by --no-embed."""  # noqa: E501

    exit_code = 7


class ReaderError(FactbookError):
    """The language reader cannot be used ({reason}); reinstall factbook."""

    exit_code = 7


class ModelError(FactbookError):
    """The language model {model} gave no usable answer ({kind}: {reason}); nothing was written."""

    exit_code = 9

    def __init__(
        self,
        *,
        kind: ModelFailure | str,
        model: str,
        reason: str,
        endpoint: bool | str = False,
        wait_s: float | str = 0.0,
    ) -> None:
        self.kind = ModelFailure(kind)
        # details cross a pipe as text
        self.endpoint = str(endpoint) == "True"  # it is the endpoint's, whatever it is asked
        self.wait_s = float(wait_s)  # seconds that the endpoint asks to be left alone for
        more = {"endpoint": self.endpoint, "wait_s": self.wait_s} if self.endpoint else {}
        super().__init__(kind=self.kind, model=model, reason=reason, **more)


class OperationsUnusable(ModelError):
    """the model's operations cannot be carried out as they are; nothing was written, and what you told waits: `factbook extract` asks again"""  # noqa: E501


class SearchFailure(StrEnum):
    """Say how a search failed."""

    NOT_CONFIGURED = "not_configured"  # no provider is configured: nothing was asked
    TIMEOUT = "timeout"
    CONNECT = "connect"  # nobody answers there, or the connection broke
    HTTP = "http"  # a status other than 2xx, or a body that is not of the protocol
    REFUSED = "refused"  # the key is wrong, or the quota is spent
    TOO_LARGE = "too_large"
    WITHHELD = "withheld"  # it may be a private matter, so it was not sent
    UNREADABLE = "unreadable"  # a folder that is not there, or files that cannot be read


class SearchError(FactbookError):
    """The search with {provider} failed ({kind}: {reason}); nothing was written."""

    exit_code = 11

    def __init__(self, *, kind: SearchFailure | str, provider: str, reason: str) -> None:
        self.kind = SearchFailure(kind)
        super().__init__(kind=self.kind, provider=provider, reason=reason)


class NotFound(FactbookError):
    """There is no {what} {name}; {hint}"""

    exit_code = 8
