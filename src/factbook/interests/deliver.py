"""Deliver the notices that wait: to whoever chats, to the desktop, to a webhook.

`Notifier.pass_once` takes them in order, one for each owner: the next one has to wait after it,
unless its owner does something in between. It claims a notice before it delivers it, and the store
refuses the claim where the back-off says no, under its write lock: however many processes try, none
sends too many and no notice goes twice. What nothing is left of is dropped with the reason.
"""

from __future__ import annotations

import html
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from factbook import policy
from factbook.errors import DeliveryError
from factbook.interests.notify import notice_text
from factbook.model.backoff import may_send
from factbook.model.entities import Entity, Notice, NoticeState
from factbook.model.facts import ME, Everyone, Millis, Trigger, whose
from factbook.model.interest_ops import ClaimNotice, FinishNotice
from factbook.net import cancel
from factbook.net.address import is_public
from factbook.net.http import one_line
from factbook.store.derived.entities import entities_of
from factbook.store.derived.notices import notices_of, notify_state
from factbook.store.leases import holder_name, is_held, notice_lease

if TYPE_CHECKING:
    from factbook.context import Context

_LOG = logging.getLogger(__name__)

RETRY_MS: Final = 24 * 3600 * 1000  # ours: a notice that no channel took is tried so long
DESKTOP_TIMEOUT_S: Final = 5.0  # ours: a notifier that hangs is ended
DESKTOP_CHARS: Final = 400  # ours: a desktop shows no more in its corner


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One notice, ready to be shown."""

    notice: Notice
    entity: str  # its name
    text: str  # what is said: plain, one line for each fact, fit for a terminal
    facts: Mapping[int, str]  # id -> text, of those that are still held
    image: str = ""  # http(s) address of a picture, empty without one


class Channel(Protocol):
    """A way to somebody; the whole of what a new one must have."""

    @property
    def id(self) -> str:
        """The name of the channel, as it is noted with what it took."""

    def deliver(self, delivery: Delivery) -> None:
        """Show or send one notice; raises DeliveryError where it was not taken."""


class ChatChannel:
    """A chat that is open in this process."""

    id = "chat"

    def __init__(self, show: Callable[[Delivery], None]) -> None:
        """Take what shows a notice; it may raise DeliveryError."""
        self._show = show

    def deliver(self, delivery: Delivery) -> None:
        """Show one notice."""
        self._show(delivery)


class Desktop:
    """The notifier of the desktop, as a program that is given the text as plain values.

    No shell ever reads the text: it stands in the argument list or in the environment.
    """

    id = "desktop"

    def __init__(
        self, program: Path, *, platform: str = sys.platform, timeout_s: float = DESKTOP_TIMEOUT_S
    ) -> None:
        """Name the program (`find` does); `platform` says in which of three ways it is called."""
        self._program = program
        self._platform = platform
        self._timeout_s = timeout_s

    @classmethod
    def find(cls, environ: Mapping[str, str], *, platform: str = sys.platform) -> Desktop | None:
        """Return the notifier of this desktop; None where there is none, as on a server."""
        name = {"darwin": "osascript", "win32": "powershell.exe"}.get(platform, "notify-send")
        program = shutil.which(name, path=environ.get("PATH"))
        return None if program is None else cls(Path(program), platform=platform)

    def deliver(self, delivery: Delivery) -> None:
        """Show one notice; raises DeliveryError where the program fails or hangs."""
        arguments, more = self._call(delivery.entity, delivery.text)
        try:
            done = _run(
                [str(self._program), *arguments], env=os.environ | more, timeout_s=self._timeout_s
            )
        except subprocess.TimeoutExpired:
            reason = f"{self._program} did not end within {self._timeout_s:g} seconds"
            raise DeliveryError(channel=self.id, reason=reason) from None
        except OSError as error:
            reason = f"{self._program} cannot be run: {error.strerror or error}"
            raise DeliveryError(channel=self.id, reason=reason) from error
        if done.returncode:
            said = one_line(done.stderr.decode("utf-8", "replace"))
            reason = f"{self._program} ended with {done.returncode}{f': {said}' if said else ''}"
            raise DeliveryError(channel=self.id, reason=reason)

    def _call(self, entity: str, text: str) -> tuple[list[str], dict[str, str]]:
        """Return the arguments and the variables of one call."""
        title = f"factbook: {one_line(entity, limit=80)}"
        body = text if len(text) <= DESKTOP_CHARS else text[: DESKTOP_CHARS - 1] + "…"
        if self._platform == "darwin":
            return ["-e", _APPLE, title, body], {}
        if self._platform == "win32":
            script = ["-NoProfile", "-NonInteractive", "-Command", _WINDOWS]
            return script, {"FACTBOOK_NOTICE_TITLE": title, "FACTBOOK_NOTICE_TEXT": body}
        # a notification daemon reads the body as markup, with links and pictures; not the title
        return ["--app-name=factbook", "--", title, html.escape(body, quote=False)], {}


# Its arguments are values of the script, never its text.
_APPLE: Final = """on run argv
display notification (item 2 of argv) with title (item 1 of argv)
end run"""
# PowerShell reads arguments after -Command as more of the script, so the text comes by variables
# and into the toast as text of its document, not of its source.
_WINDOWS: Final = """$ErrorActionPreference = 'Stop'
[void][Windows.UI.Notifications.ToastNotificationManager,Windows.UI.Notifications,ContentType=WindowsRuntime]
$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent('ToastText02')
$nodes = $xml.GetElementsByTagName('text')
[void]$nodes.Item(0).AppendChild($xml.CreateTextNode($env:FACTBOOK_NOTICE_TITLE))
[void]$nodes.Item(1).AppendChild($xml.CreateTextNode($env:FACTBOOK_NOTICE_TEXT))
$toast = [Windows.UI.Notifications.ToastNotification]::new($xml)
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show($toast)
"""


def _run(
    command: Sequence[str], *, env: Mapping[str, str], timeout_s: float
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end; it is killed at the deadline and where the caller is to stop."""
    with subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as child:
        token = cancel.current()
        try:
            if token is None:
                _, err = child.communicate(timeout=timeout_s)
            else:
                with token.on_cancel(child.kill):
                    _, err = child.communicate(timeout=timeout_s)
                token.check()
        except BaseException:
            child.kill()
            raise
        return subprocess.CompletedProcess(command, child.returncode, None, err)


@dataclass(slots=True, kw_only=True)
class NotifyReport:
    """What one pass over the waiting notices did."""

    sent: list[Delivery] = field(default_factory=list)
    failed: int = 0  # no channel took them
    dropped: int = 0  # nothing was left to tell
    held: int = 0  # wait on: their owners have to be left alone for now
    next_at: Millis | None = None  # when the first of these may go; None where that is not known
    problems: list[str] = field(default_factory=list)  # what each channel that failed said


class Notifier:
    """Delivers the waiting notices of one store."""

    def __init__(
        self,
        context: Context,
        *,
        channels: Sequence[Channel],
        owner: str | Everyone = ME,
    ) -> None:
        """Compose the notifier.

        Every text is redacted again, as a rule that was learned today protects what was stored
        yesterday. Only `owner` is told: a chat is with one person. A worker, which serves all, says
        EVERYONE.
        """
        self._context = context
        self._store = context.store
        self._clock = context.clock
        self._redact = context.redact
        self._channels = tuple(channels)
        self._owner = whose(owner)

    def pass_once(self) -> NotifyReport:
        """Deliver what may go now, which is one notice of each owner; the others wait.

        Without a channel nothing is claimed and nothing is lost. A channel that fails is in the
        report; the notice counts as sent where another one took it. Raises `Cancelled` where the
        caller is told to stop; a notice that was being delivered then counts as failed.
        """
        report = NotifyReport()
        self._clear_claims(report)
        if not self._channels:
            return report
        waiting: dict[str, list[Notice]] = {}
        for notice in notices_of(self._store, self._owner, states=(NoticeState.WAITING,)):
            waiting.setdefault(notice.owner, []).append(notice)
        for owner, notices in waiting.items():
            cancel.check()
            self._tell(owner, notices, report)
        return report

    def _tell(self, owner: str, notices: Sequence[Notice], report: NotifyReport) -> None:
        for number, notice in enumerate(notices):
            now = self._clock()
            first = may_send(notify_state(self._store, owner), now)
            if first != now:
                report.held += len(notices) - number
                if first is not None and (report.next_at is None or first < report.next_at):
                    report.next_at = first
                return
            delivery = self._compose(notice)
            if isinstance(delivery, str):
                self._finish(notice, NoticeState.DROPPED, reason=delivery)
                report.dropped += 1
            elif self._claim(notice):
                self._deliver(delivery, report)

    def _compose(self, notice: Notice) -> Delivery | str:
        """Return what there is to show, or why there is nothing."""
        entities: Sequence[Entity] = entities_of(self._store, notice.owner, ids=[notice.entity_id])
        if not entities:
            return "its entity is gone"
        if entities[0].muted:
            return "its entity is muted"
        held = self._store.facts_by_id(notice.fact_ids)
        since = self._clock() - policy.NOTICE_STALE_MS
        if held and all(fact.learned_at < since for fact in held.values()):
            return "it waited for so long that it is no news"
        facts = {
            id_: self._redact(held[id_].object)
            for id_ in notice.fact_ids
            if id_ in held and held[id_].retired_at is None and held[id_].learned_at >= since
            if held[id_].confidence > 0  # its owner called it wrong
        }
        name = self._redact(entities[0].name)
        text = notice_text(name, notice.kind, list(facts.values()))
        if not text:
            return "too little is left of its facts" if facts else "its facts are gone"
        # whoever shows it fetches it, and no page may have them ask their own network for things
        image = notice.image if is_public(notice.image) else ""
        return Delivery(notice=notice, entity=name, text=text, facts=facts, image=image)

    def _deliver(self, delivery: Delivery, report: NotifyReport) -> None:
        took: list[str] = []
        problems: list[str] = []
        try:
            for channel in self._channels:
                try:
                    channel.deliver(delivery)
                except DeliveryError as error:
                    problems.append(str(error))
                    _LOG.warning("%s", error)
                else:
                    took.append(channel.id)
        except BaseException:
            # Also a stop: whether it arrived is not known, and it must not go twice.
            state = NoticeState.SENT if took else NoticeState.FAILED
            self._finish(delivery.notice, state, channels=took, reason="it was interrupted")
            raise
        # Where nobody can be reached for an hour it is told later: the back-off counts it anyway.
        fresh = self._clock() - delivery.notice.created_at < RETRY_MS
        state = NoticeState.WAITING if fresh else NoticeState.FAILED
        state = NoticeState.SENT if took else state
        self._finish(delivery.notice, state, channels=took, reason=" ".join(problems))
        report.problems += problems
        if took:
            report.sent.append(delivery)
        else:
            report.failed += 1

    def _clear_claims(self, report: NotifyReport) -> None:
        """Let go of what a process that was killed had begun to deliver."""
        for notice in notices_of(self._store, self._owner, states=(NoticeState.CLAIMED,)):
            if not is_held(self._store, notice_lease(notice.id), now=self._clock()):
                reason = "whoever delivered it ended before it was done"
                self._finish(notice, NoticeState.FAILED, reason=reason)
                report.failed += 1

    def _claim(self, notice: Notice) -> bool:
        claim = ClaimNotice(notice_id=notice.id, holder=holder_name())
        return self._context.write([claim], Trigger.UPKEEP).notices > 0

    def _finish(
        self, notice: Notice, state: NoticeState, *, channels: Sequence[str] = (), reason: str = ""
    ) -> None:
        done = FinishNotice(notice_id=notice.id, state=state, channels=channels, reason=reason)
        self._context.write([done], Trigger.UPKEEP)
