"""Make episodes of the messages of a chat, whatever shape they were written down in."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import orjson

from factbook.model.facts import Episode, EpisodeKind, Millis, Role, Source, Trust
from factbook.redaction.base import last_question
from factbook.sources.conversation.turn import (
    clean,
    is_global,
    scope_key,
    turn_episode,
    turn_uid,
    within,
)
from factbook.sources.files import CONVERSATION
from factbook.sources.imports import (
    EXPORTS,
    BadMessage,
    Conversation,
    Message,
    chat,
    conversation_of,
)
from factbook.sources.imports.base import moment
from factbook.sources.session_log.echo import is_ours, subtract
from factbook.sources.session_log.parser import (
    BadRecord,
    OpenCall,
    Parser,
    RecordOutcome,
    printable,
)
from factbook.sources.session_log.text import MAX_ID_CHARS, kind_name
from factbook.sources.session_log.toolcall import render_call

_LABEL: Final = re.compile(r"([^\W\d_][\w.'’-]{0,39}(?: [\w.'’-]{1,40}){0,2}): ")
_UNDATED: Final[Mapping[str, str]] = {"dated": "conversation"}  # its own time is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """The conversation that a message belongs to, and whose it is."""

    source: Source
    scope: str  # what the identity of its turns is looked for in
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saying:
    """What all episodes of one message share."""

    place: _Place
    at: Millis | None  # as the file dates it, perhaps in the future
    attributes: Mapping[str, str]


class ChatParser(Parser):
    """Reads the messages of chats: one per record, or all of a conversation in one."""

    host: ClassVar[str] = "chat"

    def begin(self, state: Mapping[str, object]) -> None:
        super().begin(state)
        self.owner = self.file.owner
        # A document is read as a whole each time, so its messages can be numbered, and equal ones
        # told apart by counting; of a log of lines only the new ones are seen.
        self.as_document = False
        self.number = 0  # messages of the document so far
        self._asking = ("", "")  # where the last message ends with one
        self._unnamed: Counter[str] = Counter()  # conversations that begin alike
        self._said: Counter[str] = Counter()  # equal messages of the document itself
        self._others: dict[str, Source] = {}

    def source(self) -> Source:
        whole = self.file.host in EXPORTS  # each of its conversations is a source of its own
        return Source(
            key=self.key,
            kind="import" if whole else CONVERSATION,
            host=self.file.host,
            session="" if whole else self.identity(self.named),
            uri=printable(self.file.path),
        )

    def others(self) -> list[Source]:
        others, self._others = self._others, {}
        return list(others.values())

    def small(self, text: object) -> str:
        return super().small(clean(text) if isinstance(text, str) else text)

    def feed(self, record: dict[str, object], position: int, offset: int) -> RecordOutcome:
        self.place(position, offset, None)
        conversation = conversation_of(record)
        if conversation is not None:
            self._conversation(conversation)
            if conversation.messages:
                return RecordOutcome("kept", "conversation")
            return RecordOutcome("ignored", "empty conversation")
        if not chat.is_part(record):
            return RecordOutcome("unknown", kind_name(record.get("type")))
        self._step()
        message = chat.message(record)
        if isinstance(message, BadMessage):
            raise BadRecord(message.detail)
        said = self._said if self.as_document else None
        return self._message(message, self._place_of(message), said)

    def _step(self) -> None:
        if self.as_document:
            self.number += 1
            self.position = self.number

    def _conversation(self, conversation: Conversation) -> None:
        """Take all messages of a conversation, each with an outcome of its own."""
        place = self._place_of_conversation(conversation)
        speakers = _speakers(conversation.messages)
        said: Counter[str] = Counter()
        before = conversation.at
        for message in conversation.messages:
            self._step()
            if isinstance(message, BadMessage):
                self.refused.append((message.detail, message.raw))
                continue
            own = replace(place, owner=self._owner(message.owner)) if message.owner else place
            label = _LABEL.match(message.said.text)
            if not message.name and label and label[1] in speakers:
                message = replace(message, name=label[1])
            outcome = self._message(message, own, said, dated=before)
            if moment(message.at) is not None and not message.skip:
                before = message.at
            self.inner[outcome] = self.inner.get(outcome, 0) + 1

    def _place_of_conversation(self, conversation: Conversation) -> _Place:
        owner = self._owner(conversation.owner)
        name = self.identity(clean(conversation.id))
        if conversation.host in EXPORTS and is_global(name):
            key, scope = scope_key(owner, name, kind=conversation.host), name
        elif name:
            return self._named(name, owner, conversation)
        else:
            name = f"{self.file.path.stem}{self._beginning(conversation)}"
            scope = f"{self.scope}{name}"
            key = f"{self.key}#{name}"
        return self._known(key, scope, name, owner, conversation)

    def _beginning(self, conversation: Conversation) -> str:
        """Return what tells a conversation without an id from the others of the file."""
        if not self.as_document:
            return f":{self.position}"  # lines are only ever added
        first = next(
            (
                f"{message.role}:{message.said.text}"
                for message in conversation.messages
                if isinstance(message, Message)
                and message.role in (Role.USER, Role.ASSISTANT)
                and message.said.text.strip()
            ),
            "",
        )
        digest = _digest(self.redactor.plain().redact(clean(first)))
        self._unnamed[digest] += 1
        again = self._unnamed[digest]
        return f"-{digest}" if again == 1 else f"-{digest}-{again}"

    def _place_of(self, message: Message) -> _Place:
        owner = self._owner(message.owner)
        name = self.identity(clean(message.session))
        if name:
            return self._named(name, owner)
        return _Place(source=self.source(), scope=self.scope, owner=owner)

    def _named(self, name: str, owner: str, conversation: Conversation | None = None) -> _Place:
        """Return the place of a conversation with an id; a short id is one of its file only."""
        if is_global(name):
            return self._known(scope_key(owner, name), name, name, owner, conversation)
        return self._known(f"{self.key}#{name}", f"{self.scope}/{name}", name, owner, conversation)

    def _owner(self, stated: str) -> str:
        return self.small(stated)[:MAX_ID_CHARS] or self.owner

    def _known(
        self, key: str, scope: str, name: str, owner: str, conversation: Conversation | None
    ) -> _Place:
        source = Source(
            key=key,
            kind=CONVERSATION,
            host=self.file.host,
            session=name,
            uri=printable(self.file.path),
            title=self.small(conversation.title) if conversation else "",
        )
        return _Place(source=source, scope=scope, owner=owner)

    def _message(
        self, message: Message, place: _Place, said: Counter[str] | None, *, dated: object = None
    ) -> RecordOutcome:
        """Add what one message says, and return what became of it."""
        if message.skip:
            return RecordOutcome("ignored", message.skip)
        if message.role is None:
            return RecordOutcome("unknown", f"role {kind_name(message.role_name)}")
        if message.role is Role.SYSTEM:
            return RecordOutcome("ignored", "system")
        at, attributes = moment(message.at), dict[str, str]()
        if at is None and (at := moment(dated)) is not None:
            attributes = dict(_UNDATED)
        saying = _Saying(place=place, at=at, attributes=attributes)
        nth = self._nth(message, at, said)
        kinds, uid = self._text(message, message.role, saying, nth)
        if not uid:
            uid = turn_uid(
                place.owner,
                place.scope,
                own_id=message.id,
                role=message.role,
                text=" ".join(self.small(call.name) for call in message.said.calls),
                occurred_at=at,
                nth=nth,
            )
        kinds += self._calls(message, saying, uid)
        kinds += self._results(message, saying, uid)
        if not kinds:
            return RecordOutcome("ignored", f"{message.role.value}: empty")
        return RecordOutcome("kept", kinds[0])

    def _nth(self, message: Message, at: Millis | None, said: Counter[str] | None) -> int | None:
        """Return how often the same was said before, where no id tells two sayings apart."""
        if message.id:
            return None
        if said is None:
            return self.position if at is None else None
        calls = " ".join(call.name for call in message.said.calls)
        same = _digest(f"{message.role}:{at}:{calls}:{message.said.text}")
        said[same] += 1
        return said[same] - 1

    def _text(
        self, message: Message, role: Role, saying: _Saying, nth: int | None
    ) -> tuple[list[str], str]:
        """Add the words of a message; return what they are and the uid that they got."""
        call = self._answered(message.call_id, role)
        scope, text = saying.place.scope, message.said.text
        if role is Role.USER and self._asking[0] == scope:
            self.redactor.learn_answer(self._asking[1], text)
        self._asking = scope, last_question(text)
        episode = self._episode(
            saying,
            message.said.text,
            role,
            own_id=message.id,
            name=message.name or (call.tool if call else ""),
            nth=nth,
            call_id=message.call_id,
            ours=call is not None and call.ours,
        )
        if episode is None:
            return [], ""
        if episode.injected:
            return ["injected"], episode.uid
        return ["tool result" if role is Role.TOOL else f"{role.value} turn"], episode.uid

    def _calls(self, message: Message, saying: _Saying, uid: str) -> list[str]:
        """Add the tool calls of a message: that they were made is observed."""
        at, clock = within(saying.at, self._latest)
        for number, call in enumerate(message.said.calls):
            tool = self.small(call.name)
            rendered = render_call(tool, _given(call.given), self.redactor)
            ours = is_ours(tool)
            self.awaits(call.id, OpenCall(tool, f"action_{uid}", ours))
            self._keep(
                saying.place,
                Episode(
                    uid=f"{uid}:call:{number}",
                    source=saying.place.source.key,
                    kind=EpisodeKind.TOOL_CALL,
                    role=Role.ASSISTANT,
                    trust=Trust.OBSERVED,
                    text=rendered.text,
                    position=self.position,
                    offset=self.offset,
                    occurred_at=at,
                    owner=saying.place.owner,
                    subject=f"action_{uid.partition(':')[2]}",
                    session=saying.place.source.session,
                    tool=tool,
                    call_id=self.identity(clean(call.id)),
                    # A `command` here is a verb of the tool's own, not a command line.
                    fields=tuple(part for part in rendered.fields if part.name != "command"),
                    attributes={**saying.attributes, **clock},
                    cut=rendered.cut,
                    injected=ours,
                    embed=False,
                ),
            )
        return ["tool call"] if message.said.calls else []

    def _results(self, message: Message, saying: _Saying, uid: str) -> list[str]:
        """Add what tools gave back inside a message, and the texts of attached files."""
        kinds: list[str] = []
        for number, result in enumerate(message.said.results):
            attached = result.kind == "attachment"
            if attached:
                named = {**saying.attributes, "file": self.small(result.name)}
                saying = replace(saying, attributes=named)
            call = self._answered(result.call_id, Role.TOOL)
            episode = self._episode(
                saying,
                result.text,
                Role.TOOL,
                own_id=f"{uid}:result:{number}",
                name="" if attached else result.name or (call.tool if call else ""),
                call_id=result.call_id,
                ours=call is not None and call.ours,
            )
            if episode is not None:
                kinds.append("injected" if episode.injected else result.kind)
        return kinds

    def _answered(self, call_id: str, role: Role) -> OpenCall | None:
        return self.calls.pop(call_id, None) if role is Role.TOOL else None

    def _episode(
        self,
        saying: _Saying,
        text: str,
        role: Role,
        *,
        own_id: str,
        name: str,
        call_id: str,
        ours: bool,
        nth: int | None = None,
    ) -> Episode | None:
        """Add an episode where the message at hand stands, unless there is no text."""
        place = saying.place
        episode = turn_episode(
            text,
            role=role,
            source=place.source.key,
            scope=place.scope,
            session=place.source.session,
            occurred_at=saying.at,
            latest=self._latest,
            redactor=self.redactor,
            own_id=own_id,
            owner=place.owner,
            name=name,
            position=self.position,
            offset=self.offset,
            nth=nth,
            attributes=saying.attributes,
            call_id=self.identity(clean(call_id)),
            ours=ours,
        )
        if episode is not None:
            self.injected += 0 if episode.injected else subtract(text).blocks
            self._keep(place, episode)
        return episode

    def _keep(self, place: _Place, episode: Episode) -> None:
        """Add an episode; a conversation is a source once something is kept of it."""
        self.episodes.append(episode)
        if place.source.key != self.key:
            self._others[place.source.key] = place.source


def _speakers(messages: Sequence[Message | BadMessage]) -> frozenset[str]:
    """Return the labels ("Ana: ...") that the turns of a conversation begin with.

    A label counts when it opens two turns, and only where most turns have one: a lone "Error: ..."
    or "Note: ..." speaks for nobody.
    """
    texts = [
        message.said.text
        for message in messages
        if isinstance(message, Message)
        and not message.skip
        and not message.name
        and message.said.text
    ]
    labels = Counter(match[1] for text in texts if (match := _LABEL.match(text)))
    if labels.total() * 2 < len(texts):
        return frozenset()
    return frozenset(label for label, times in labels.items() if times >= 2)


def _given(value: object) -> object:
    """Return the input of a call; OpenAI's form writes it as the text of an object."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value  # cut or wrongly escaped by the model: it is kept as it stands
    return value


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
