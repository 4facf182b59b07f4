"""One turn of a conversation as an episode, wherever it comes from: a file, an export or a call.

What comes of odd turns:

- An empty turn, or one of nothing but white space, is no episode.
- One word, emoji alone, or a lone `[image]`: an episode that is found by its words and has no
  vector, which would be near everything.
- A text of any script is kept as it is; scripts that write no spaces are measured by characters.
- A very long turn keeps its first three quarters and last quarter of `policy.PROMPT_CHARS`, with a
  line between them that says how much is missing; it is redacted as a whole before.
- What factbook itself had put into a turn is taken out. Where nothing else is left the episode is
  `injected`: it is kept, never evidence, and never recalled.
- A time that lies more than `policy.CLOCK_SKEW_MS` ahead is no time; the attribute `clock` says
  `ahead`. One before 1970 cannot be written in our times and is none either; 1970 itself is kept.
- The same turn twice is one episode: the same id in the same session, or, without an id, the same
  role, text and time.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from factbook import policy
from factbook.language.words import WORD
from factbook.model.facts import ME, Episode, EpisodeKind, Millis, Role, Source, Trust
from factbook.model.ops import Op, RecordEpisode, RecordSource
from factbook.redaction.base import Redacting
from factbook.redaction.records import identity_of
from factbook.sources.session_log.echo import is_ours, subtract
from factbook.sources.session_log.outputs import condense, shape_of
from factbook.sources.session_log.text import abridge, storable

TRUST: Final[Mapping[Role, Trust]] = {
    Role.USER: Trust.DIRECT,
    Role.ASSISTANT: Trust.DERIVED,
    Role.TOOL: Trust.EXTERNAL,
    Role.SYSTEM: Trust.DERIVED,
}
"""How far each role is believed: the user said it, a model wrote it, it came from elsewhere. What a
system text says was written by whoever built the assistant, not by the user."""

NAME_CHARS: Final = 60  # who speaks; a longer name is no name
MIN_WORDS: Final = 2  # fewer say too little for a vector
MIN_UNSPACED: Final = 3  # characters of a script without spaces that say as much as two words

_LONG_ID: Final = 16  # ids this long are made to be the only one of their kind
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U000323af]"
)  # Thai, Lao, Burmese, Khmer, kana and Han
_MARKS: Final = re.compile(r"\[(?:REDACTED|image|audio|video|file|document)\b[^\]]*\]")


def turn_ops(
    text: str,
    *,
    role: Role,
    session: str,
    occurred_at: Millis | None,
    now: Millis,
    redactor: Redacting,
    uid: str | None = None,
    owner: str = ME,
    name: str = "",
    source_kind: str = "conversation",
    title: str = "",
    pasted: Sequence[tuple[int, int]] = (),
) -> list[Op]:
    """Return what keeps one turn of a conversation; nothing for a turn without any text.

    `uid` is the caller's own id of the turn, `name` who speaks where several people do. The
    module says what comes of odd turns.
    """

    def small(value: str) -> str:
        return redactor.redact(clean(value))[: policy.FIELD_CHARS]

    session = identity_of(clean(session).strip(), small)
    key = scope_key(owner, session, kind=source_kind)
    episode = turn_episode(
        text,
        role=role,
        source=key,
        scope=session,
        session=session,
        occurred_at=occurred_at,
        latest=now + policy.CLOCK_SKEW_MS,
        redactor=redactor,
        own_id=uid or "",
        owner=owner,
        name=name,
        pasted=pasted,
    )
    if episode is None:
        return []
    source = Source(
        key=key,
        kind=source_kind,
        host=source_kind,
        session=session,
        uri=key,
        title=small(" ".join(title.split())),
    )
    return [RecordSource(source=source), RecordEpisode(episode=episode)]


def turn_episode(
    text: str,
    *,
    role: Role,
    source: str,
    scope: str,
    session: str,
    occurred_at: Millis | None,
    latest: Millis,
    redactor: Redacting,
    own_id: str = "",
    owner: str = ME,
    name: str = "",
    position: int = 0,
    offset: int = 0,
    nth: int | None = None,
    attributes: Mapping[str, str] | None = None,
    call_id: str = "",
    ours: bool = False,
    pasted: Sequence[tuple[int, int]] = (),
) -> Episode | None:
    """Return a turn as an episode, or None for one without any text.

    `scope` is what the turn's identity is looked for in, `latest` the last time that can be true,
    `position` and `offset` the place in a file (0 for a turn that was told to us), `nth` how often
    the same was said before, where no time tells two sayings apart. What a tool says is external;
    `name` is the tool then, and `ours` says that the tool is factbook. `pasted` are the parts of
    `text` that are known to be a paste; redaction and cutting only ever widen them.
    """
    given = clean(text)
    said = own_text(given)
    injected = not said
    if injected:
        said = given.strip()
        if not said:
            return None
    name = _name(name, redactor)
    is_tool = role is Role.TOOL
    speaker = "" if is_tool else name
    if speaker and not said.startswith(f"{speaker}: "):
        said = f"{speaker}: {said}"
    redacted = redactor.redact(said)
    at, clock = within(occurred_at, latest)
    uid = turn_uid(
        owner, scope, own_id=own_id, role=role, text=redacted, occurred_at=occurred_at, nth=nth
    )
    subject = "task" if role is Role.USER else "action"
    if is_tool and "file" not in (attributes or {}):
        kept, cut = condense(redacted, shape_of(name, is_error=False))
    else:
        kept, cut = abridge(redacted, policy.PROMPT_CHARS)
    injected = injected or (is_tool and (ours or is_ours(name)))
    return Episode(
        uid=uid,
        source=source,
        kind=EpisodeKind.TOOL_RESULT if is_tool else EpisodeKind.TURN,
        role=role,
        trust=TRUST[role],
        text=kept,
        position=position,
        offset=offset,
        occurred_at=at,
        owner=owner,
        subject=f"{subject}_{uid.partition(':')[2]}",
        session=session,
        speaker=speaker,
        tool=name if is_tool else "",
        call_id=call_id,
        attributes={**(attributes or {}), **clock},
        cut=cut,
        injected=injected,
        embed=not is_tool and not injected and worth_a_vector(kept, speaker=speaker),
        pasted=tuple(
            moved_part(text, kept, start, end, redactor) for start, end in pasted if start < end
        ),
    )


def moved_part(text: str, kept: str, start: int, end: int, redactor: Redacting) -> tuple[int, int]:
    """Return where a part of a text stands in what is kept of it, or more.

    What is before it begins the kept text and what is behind it ends it, as far as both are the
    same: where redaction or cutting has changed something, more counts as the part.
    """
    before = redactor.redact(clean(text[:start])).strip()
    behind = redactor.redact(clean(text[end:])).strip()
    first = _shared(kept, before)
    return first, max(first, len(kept) - _shared(kept[::-1], behind[::-1]))


def _shared(first: str, second: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def own_text(text: str) -> str:
    """Return a text without what factbook had put into it."""
    return subtract(text).text.strip()


def worth_a_vector(text: str, *, speaker: str = "") -> bool:
    """Tell whether a text says enough for a vector: two words, or three unspaced characters."""
    if speaker:
        text = text.removeprefix(f"{speaker}: ")
    unspaced = 0
    for words, match in enumerate(WORD.finditer(_MARKS.sub(" ", text)), 1):
        unspaced += len(_UNSPACED.findall(match[0]))
        if words >= MIN_WORDS or unspaced >= MIN_UNSPACED:
            return True
    return False


def scope_key(owner: str, scope: str, *, kind: str = "conversation") -> str:
    """Return the key of the source that the turns of one owner in one conversation belong to."""
    return f"{kind}:{quote(owner, safe='', errors='surrogatepass')}/{scope}"


def turn_uid(
    owner: str,
    scope: str,
    *,
    own_id: str = "",
    role: Role,
    text: str,
    occurred_at: Millis | None,
    nth: int | None = None,
) -> str:
    """Return what identifies a turn; `text` is redacted, so that no secret can be guessed from it.

    A turn with an id of its own is that turn, in whatever scope where the id is one of a kind.
    """
    if own_id:
        parts = [owner, "" if is_global(own_id) else scope, own_id]
    else:
        # Composed and decomposed accents look the same, and editors write either.
        text = unicodedata.normalize("NFC", text)
        parts = [owner, scope, role.value, str(occurred_at), str(nth or 0), text]
    data = "".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
    return f"turn:{hashlib.blake2b(data, digest_size=16).hexdigest()}"


def is_global(identifier: str) -> bool:
    """Tell whether an id is the same thing wherever it is met: a uuid, or as long as one."""
    return len(identifier) >= _LONG_ID


def clean(text: str) -> str:
    """Return a text that any store can keep: without NUL characters and lone surrogates."""
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return storable(text)


def _name(name: str, redactor: Redacting) -> str:
    name = " ".join(clean(name).split())
    return redactor.redact(name)[:NAME_CHARS].strip() if name else ""


def within(at: Millis | None, latest: Millis) -> tuple[Millis | None, dict[str, str]]:
    """Return a time that can be true, and what to note of one that cannot."""
    if at is None:
        return None, {}
    if at > latest:
        return None, {"clock": "ahead"}
    return (at, {}) if at >= 0 else (None, {"clock": "before 1970"})
