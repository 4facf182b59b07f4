"""Delivery of notices: channels over real sockets and processes, and passes over a real store."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import shutil
import socket
import ssl
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from factbook import policy
from factbook.apply.apply import apply
from factbook.errors import DeliveryError, UsageError
from factbook.interests.deliver import ChatChannel, Delivery, Desktop, Notifier
from factbook.interests.notify_config import NotifyConfig, load_notify_config, open_channels
from factbook.interests.webhook import WEBHOOK_ATTEMPTS, Webhook, read_target, sign, signing_key
from factbook.model.entities import Notice, NoticeKind, NoticeState
from factbook.model.facts import EVERYONE, ME, Millis, Trigger
from factbook.model.interest_ops import ClaimNotice, MuteEntity, MuteOwner, NoteAction, RetireEntity
from factbook.model.ops import Op, RateFact
from factbook.net.cancel import Cancel, Cancelled, cancelling
from factbook.net.http import Secret
from factbook.store.derived.notices import notices_of, notify_state
from factbook.store.sqlite import SQLiteStore
from factbook.testing import FrozenClock, context_of
from notices import SPEAKERS, announce, announce_all

START: Millis = 1_763_700_000_000
SECRET = "a-long-random-text-for-signing-1234"
DRIVER = "The kef ls50 meta has a MAT driver."
PRICE = "The kef ls50 meta costs 1,600 dollars."


def delivery(text: str = "", *, image: str = "", number: int = 7) -> Delivery:
    notice = Notice(
        number,
        ME,
        3,
        NoticeKind.LEARNED,
        Trigger.ENRICHMENT,
        (11,),
        image,
        NoticeState.CLAIMED,
        START,
        START,
        (),
        "",
    )
    said = text or f"I just learned some new stuff about kef ls50 meta...\n- {DRIVER}"
    return Delivery(
        notice=notice, entity="kef ls50 meta", text=said, facts={11: DRIVER}, image=image
    )


# --- a receiver -----------------------------------------------------------------------------------


class Hook:
    """A webhook on loopback; each request takes the next answer of the script, the last one stays.

    An answer is a status, or a function that does with the connection what it likes.
    """

    def __init__(
        self, *script: int | Callable[[socket.socket], None], tls: ssl.SSLContext | None = None
    ) -> None:
        self.script = list(script) or [204]
        self.says: Callable[[str], str] = lambda path: f"no hook {path} for {SECRET}"
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                hook.requests.append((self.path, headers, body))
                answer = hook.script[min(len(hook.requests), len(hook.script)) - 1]
                if not isinstance(answer, int):
                    answer(self.connection)
                    self.close_connection = True
                    return
                said = json.dumps({"error": hook.says(self.path)}).encode()
                self.send_response(answer)
                if answer in {301, 307}:
                    self.send_header("location", f"http://127.0.0.1:{hook.port}/elsewhere")
                self.send_header("content-length", "0" if answer == 204 else str(len(said)))
                self.end_headers()
                if answer != 204:
                    self.wfile.write(said)

            def log_message(self, *_: Any) -> None:
                """Keep the output of the tests clean."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """Let the client go, as the tests want."""

        self.server = Server(("127.0.0.1", 0), Handler)
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = int(self.server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/hooks/T0PSECRET?x=1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Hook:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def webhook(self, **given: Any) -> Webhook:
        options = {"allow_private": True, "pause_s": 0.01, "clock": lambda: START, **given}
        return Webhook(self.url, Secret(SECRET), **options)


def hang(_: socket.socket) -> None:
    time.sleep(3)


def drop(connection: socket.socket) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def dribble(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for n in range(200):
        connection.sendall(b"x-more-%d: 1\r\n" % n)
        time.sleep(0.02)


# --- the webhook ----------------------------------------------------------------------------------


def test_a_notice_is_posted_and_signed() -> None:
    with Hook(204) as hook:
        hook.webhook().deliver(delivery(image="https://example.org/a.png"))
    [(path, headers, body)] = hook.requests
    assert path == "/hooks/T0PSECRET?x=1"
    assert json.loads(body) == {
        "type": "notice.learned",
        "timestamp": "2025-11-21T04:40:00.000Z",
        "data": {
            "notice": 7,
            "owner": "me",
            "entity": "kef ls50 meta",
            "trigger": "enrichment",
            "text": f"I just learned some new stuff about kef ls50 meta...\n- {DRIVER}",
            "facts": [{"id": 11, "text": DRIVER}],
            "image": "https://example.org/a.png",
        },
    }
    assert headers["content-type"] == "application/json"
    assert headers["webhook-id"] == f"notice_7_{START}"
    assert headers["webhook-timestamp"] == str(START // 1000)
    signed = b".".join(
        [headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body]
    )
    mac = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(mac).decode()}"
    assert SECRET not in str(headers)


def test_a_signature_is_what_other_libraries_expect() -> None:
    key = signing_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    made = sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    "secret", ["t0psecret", "whsec_not base64 at all, is it?", "whsec_c2hvcnQ="]
)
def test_a_weak_secret_is_refused_and_not_shown(secret: str) -> None:
    with pytest.raises(UsageError, match="too short, or not base64") as caught:
        signing_key(secret)
    assert secret not in str(caught.value)


def test_what_may_pass_is_tried_again_under_the_same_id() -> None:
    with Hook(503, drop, 429, 200) as hook:
        hook.webhook().deliver(delivery())
    assert len(hook.requests) == WEBHOOK_ATTEMPTS
    assert len({headers["webhook-id"] for _, headers, _ in hook.requests}) == 1


def test_tries_end_and_the_last_reason_is_told_without_secrets() -> None:
    with Hook(500) as hook, pytest.raises(DeliveryError) as caught:
        hook.webhook().deliver(delivery())
    assert len(hook.requests) == WEBHOOK_ATTEMPTS
    said = str(caught.value)
    assert f"it answered 500 (no hook /... for [key]) at http://127.0.0.1:{hook.port}" in said
    assert "tried 4 times" in said
    assert "it is kept" in said
    assert "T0PSECRET" not in said
    assert SECRET not in said


@pytest.mark.parametrize(
    "says",
    [
        lambda path: f"Cannot POST {path.partition('?')[0]}",
        lambda path: f"there is no {path.partition('?')[0].rpartition('/')[2]}",
        lambda path: f"asked with {path.partition('?')[2]}",
        lambda path: f"the signature {path.rpartition('=')[2]} is wrong",
        lambda path: f"the signature {unquote(path.rpartition('=')[2])} is wrong",
        lambda path: f"{'x' * 180} {path}",  # which is cut within it
        lambda path: f"{'x' * 180} {SECRET}",
    ],
)
def test_what_a_server_repeats_of_an_address_is_not_told(says: Callable[[str], str]) -> None:
    with Hook(404) as hook:
        hook.says = says
        hook.url = f"http://127.0.0.1:{hook.port}/hooks/T0PSECRET0?wait=true&sig=hush%2Fhush%2Bhush"
        with pytest.raises(DeliveryError) as caught:
            hook.webhook().deliver(delivery())
    said = str(caught.value)
    assert "it answered 404 (" in said
    for secret in ("T0PSE", "hush", SECRET[:8]):
        assert secret not in said


@pytest.mark.parametrize("status", [400, 401, 404, 410])
def test_what_will_not_pass_is_not_tried_again(status: int) -> None:
    with Hook(status) as hook, pytest.raises(DeliveryError, match=f"it answered {status}"):
        hook.webhook().deliver(delivery())
    assert len(hook.requests) == 1


@pytest.mark.parametrize("status", [301, 307])
def test_no_redirect_is_followed(status: int) -> None:
    with Hook(status) as hook, pytest.raises(DeliveryError, match="redirects are not followed"):
        hook.webhook().deliver(delivery())
    assert len(hook.requests) == 1


@pytest.mark.parametrize("slow", [hang, dribble])
def test_a_try_ends_at_its_deadline(slow: Callable[[socket.socket], None]) -> None:
    with Hook(slow) as hook:
        begun = time.monotonic()
        with pytest.raises(DeliveryError, match=r"no answer within 0\.1 seconds"):
            hook.webhook(timeout_s=0.1).deliver(delivery())
        assert time.monotonic() - begun < 2


def test_nobody_there_is_a_failure_of_delivery() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    webhook = Webhook(
        f"http://127.0.0.1:{port}/", Secret(SECRET), allow_private=True, pause_s=0.001
    )
    with pytest.raises(DeliveryError, match="the connection failed"):
        webhook.deliver(delivery())


@pytest.mark.parametrize("script", [[hang], [500]])
def test_a_stop_ends_a_try_and_a_pause_at_once(script: list[Any]) -> None:
    """Seed 003, learned: a foreground message cancels background work."""
    token = Cancel()
    with Hook(*script) as hook:
        timer = threading.Timer(0.15, token.cancel)
        timer.start()
        begun = time.monotonic()
        with pytest.raises(Cancelled), cancelling(token):
            hook.webhook(pause_s=60).deliver(delivery())
        assert time.monotonic() - begun < 2
        timer.join()


# --- never to a private address -------------------------------------------------------------------


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.1.2.3"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["8.8.8.8", "192.168.1.1"],
    ],
)
def test_a_name_with_a_private_address_is_refused(addresses: Sequence[str]) -> None:
    """Server-side request forgery: nothing is sent, and it is not tried again."""
    asked: list[str] = []

    def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(f"{host}:{port}")
        return addresses

    webhook = Webhook("https://hooks.example.org/a", Secret(SECRET), resolve=resolve)
    with pytest.raises(DeliveryError, match="which is not public at https://hooks"):
        webhook.deliver(delivery())
    assert asked == ["hooks.example.org:443"]


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/a", "https://2130706433/a", "https://localhost/a", "https://[::1]/a"]
)
def test_an_address_that_is_private_by_its_spelling_is_refused(url: str) -> None:
    def resolve(host: str, port: int) -> Sequence[str]:
        raise AssertionError(f"{host} was resolved")

    with pytest.raises(DeliveryError, match="at https://"):
        Webhook(url, Secret(SECRET), resolve=resolve).deliver(delivery())


def test_the_connection_is_made_to_the_address_that_was_checked() -> None:
    """DNS rebinding: a name is resolved once for each try, and never by the connection itself."""
    asked: list[str] = []

    def resolve(host: str, _: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    with Hook(500, 204) as hook:
        # this name has no address anywhere else
        url = f"http://hooks.invalid:{hook.port}/a"
        options = {"allow_private": True, "resolve": resolve, "pause_s": 0.01}
        Webhook(url, Secret(SECRET), **options).deliver(delivery())  # type: ignore[arg-type]
    assert asked == ["hooks.invalid"] * 2
    assert hook.requests[0][1]["host"] == f"hooks.invalid:{hook.port}"


def test_a_dead_address_leaves_time_for_the_next() -> None:
    with Hook(204) as hook:
        url = f"http://hooks.invalid:{hook.port}/a"
        webhook = Webhook(
            url,
            Secret(SECRET),
            allow_private=True,
            resolve=lambda *_: ["127.255.255.254", "127.0.0.1"],
        )
        webhook.deliver(delivery())
    assert len(hook.requests) == 1


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "it is empty"),
        ("https://a b.org/", "holds a space"),
        ("ftp://example.org/", "does not begin with https"),
        ("https:///a", "does not begin with https:// and a host"),
        ("https://ann:T0PSECRET@example.org/", "holds a name or a password"),
        ("https://example.org:99999/", "cannot be read"),
        ("https://example.org:0/", "cannot be used"),
        ("https://[fe80::1%25eth0]/", "cannot be"),
        ("https://example.org/#T0PSECRET", "holds a #"),
        ("http://example.org/T0PSECRET", "plain http"),
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(url: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        read_target(url, allow_private=False)
    assert "T0PSECRET" not in str(caught.value)


def test_an_address_is_shown_without_its_path() -> None:
    webhook = Webhook("https://Example.org:8443/T0PSECRET?key=1", Secret(SECRET))
    assert repr(webhook) == "Webhook('https://example.org:8443')"
    assert "T0PSECRET" not in repr(NotifyConfig(webhook="https://example.org/T0PSECRET"))
    assert "T0PSECRET" not in repr(read_target("https://example.org/T0PSECRET", allow_private=True))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of hooks.invalid, with its key, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    made = folder / "both.pem"
    names = "/CN=hooks.invalid -addext subjectAltName=DNS:hooks.invalid"
    subprocess.run(
        [
            *"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes".split(),  # noqa: SIM905
            *f"-days 2 -subj {names}".split(),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")),
        ],
        check=True,
        capture_output=True,
    )
    made.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return made


def tls_hook(certificate: Path) -> Hook:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return Hook(204, tls=context)


def secured(hook: Hook, host: str, tls: ssl.SSLContext | None) -> Webhook:
    return Webhook(
        f"https://{host}:{hook.port}/a",
        Secret(SECRET),
        allow_private=True,
        resolve=lambda *_: ["127.0.0.1"],
        pause_s=0.01,
        tls=tls,
    )


def test_tls_is_held_to_the_name_not_to_the_address(certificate: Path) -> None:
    believed = ssl.create_default_context(cafile=str(certificate))
    with tls_hook(certificate) as hook:
        secured(hook, "hooks.invalid", believed).deliver(delivery())
        assert len(hook.requests) == 1
        with pytest.raises(DeliveryError, match="its certificate is not believed"):
            secured(hook, "other.invalid", believed).deliver(delivery())
        with pytest.raises(DeliveryError, match="its certificate is not believed"):
            secured(hook, "hooks.invalid", None).deliver(delivery())
    assert len(hook.requests) == 1


def test_a_handshake_that_hangs_ends_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://hooks.invalid:{silent.getsockname()[1]}/a"
        webhook = Webhook(
            url,
            Secret(SECRET),
            allow_private=True,
            resolve=lambda *_: ["127.0.0.1"],
            timeout_s=0.1,
            pause_s=0.01,
        )
        with pytest.raises(DeliveryError, match=r"no answer within 0\.1 seconds"):
            webhook.deliver(delivery())


# --- the desktop ----------------------------------------------------------------------------------

RECORDER = """#!/bin/sh
printf '%s\\0' "$@" > {out}
printf '%s\\0' "$FACTBOOK_NOTICE_TITLE" "$FACTBOOK_NOTICE_TEXT" > {out}.env
{then}
"""
NASTY = "Deal -u critical $(touch owned) `id` \"; rm -rf ~ #' <b>&</b>"


def notifier_program(folder: Path, name: str, *, then: str = "exit 0") -> Path:
    program = folder / name
    text = RECORDER.format(out=folder / "out", then=then)
    program.write_text(text, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def recorded(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\0")[:-1]


def desktop(folder: Path, platform: str) -> Desktop:
    found = Desktop.find({"PATH": str(folder)}, platform=platform)
    assert found is not None
    return found


def test_linux_gets_the_text_as_plain_arguments(tmp_path: Path) -> None:
    notifier_program(tmp_path, "notify-send")
    desktop(tmp_path, "linux").deliver(delivery(NASTY))
    app, end, title, body = recorded(tmp_path / "out")
    assert (app, end, title) == ("--app-name=factbook", "--", "factbook: kef ls50 meta")
    # a daemon reads the body as markup: no tag of a page may be one there
    assert body == NASTY.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert not (tmp_path / "owned").exists()


def test_macos_gets_the_text_as_values_of_a_fixed_script(tmp_path: Path) -> None:
    notifier_program(tmp_path, "osascript")
    desktop(tmp_path, "darwin").deliver(delivery(NASTY))
    option, script, title, body = recorded(tmp_path / "out")
    assert (option, title, body) == ("-e", "factbook: kef ls50 meta", NASTY)
    assert "Deal" not in script


def test_windows_gets_the_text_by_variables_and_never_as_script(tmp_path: Path) -> None:
    notifier_program(tmp_path, "powershell.exe")
    desktop(tmp_path, "win32").deliver(delivery(NASTY))
    arguments = recorded(tmp_path / "out")
    assert arguments[:3] == ["-NoProfile", "-NonInteractive", "-Command"]
    assert len(arguments) == 4
    assert "Deal" not in arguments[3]
    assert recorded(tmp_path / "out.env") == ["factbook: kef ls50 meta", NASTY]


def test_a_long_text_is_cut_for_the_corner_of_a_screen(tmp_path: Path) -> None:
    notifier_program(tmp_path, "notify-send")
    desktop(tmp_path, "linux").deliver(delivery("x" * 9000))
    assert recorded(tmp_path / "out")[3] == "x" * 399 + "…"


def test_without_a_notifier_there_is_no_desktop(tmp_path: Path) -> None:
    for platform in ("linux", "darwin", "win32"):
        assert Desktop.find({"PATH": str(tmp_path)}, platform=platform) is None


def test_a_notifier_that_fails_says_why(tmp_path: Path) -> None:
    then = "printf 'no \\033[31mbus\\n' >&2; exit 3"
    notifier_program(tmp_path, "notify-send", then=then)
    with pytest.raises(DeliveryError, match=r"ended with 3: no .\[31mbus") as caught:
        desktop(tmp_path, "linux").deliver(delivery())
    assert "\x1b" not in str(caught.value)


def test_a_notifier_that_hangs_is_ended(tmp_path: Path) -> None:
    program = notifier_program(tmp_path, "notify-send", then="exec sleep 60")
    begun = time.monotonic()
    with pytest.raises(DeliveryError, match=r"did not end within 0\.2 seconds"):
        Desktop(program, platform="linux", timeout_s=0.2).deliver(delivery())
    token = Cancel()
    timer = threading.Timer(0.2, token.cancel)
    timer.start()
    with pytest.raises(Cancelled), cancelling(token):
        Desktop(program, platform="linux").deliver(delivery())
    timer.join()
    assert time.monotonic() - begun < 4


def test_a_notifier_that_cannot_be_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(DeliveryError, match="cannot be run: No such file"):
        Desktop(tmp_path / "gone", platform="linux").deliver(delivery())


# --- passes ---------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    made = SQLiteStore(tmp_path / "memory.db")
    yield made
    assert made.check() == []
    made.close()


class Shown:
    """A chat that keeps what it shows, or refuses it."""

    def __init__(self, *, id: str = "chat", refuses: bool = False) -> None:
        self.id = id
        self.refuses = refuses
        self.seen: list[Delivery] = []

    def deliver(self, delivery: Delivery) -> None:
        if self.refuses:
            raise DeliveryError(channel=self.id, reason="nobody is there")
        self.seen.append(delivery)


def notifier(store: SQLiteStore, clock: FrozenClock, *channels: Any, **more: Any) -> Notifier:
    owner = more.pop("owner", ME)
    return Notifier(context_of(store, clock=clock, **more), channels=channels, owner=owner)


def write(store: SQLiteStore, op: Op, clock: FrozenClock, trigger: Trigger) -> None:
    apply(store, [op], trigger=trigger, actor="test", now=clock())


def the_notice(store: SQLiteStore, state: NoticeState) -> Notice:
    [found] = notices_of(store, EVERYONE, states=(state,))
    return found


def test_one_notice_of_an_entity_with_its_new_facts(store: SQLiteStore) -> None:
    """Seed 003, notifications: one message per (entity, new facts), with the image."""
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, PRICE, now=START, image="https://example.org/a.png")
    report = notifier(store, clock, chat).pass_once()
    [seen] = chat.seen
    assert seen.text == (
        f"I just discovered kef ls50 meta and learned 2 facts about it\n- {DRIVER}\n- {PRICE}"
    )
    assert seen.image == "https://example.org/a.png"
    assert list(seen.facts.values()) == [DRIVER, PRICE]
    assert [one.entity for one in report.sent] == ["kef ls50 meta"]
    notice = the_notice(store, NoticeState.SENT)
    assert (list(notice.channels), notice.sent_at) == (["chat"], START)
    state = notify_state(store, ME)
    assert (state.unanswered, state.last_sent_at) == (1, START)


@pytest.mark.parametrize("image", ["http://192.168.1.1/reboot.png", "file:///etc/passwd", "a.png"])
def test_a_picture_in_a_private_network_is_left_out(store: SQLiteStore, image: str) -> None:
    chat = Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START, image=image)
    notifier(store, FrozenClock(START), chat).pass_once()
    assert chat.seen[0].image == ""


def test_the_next_one_waits_for_the_back_off_or_an_engagement(store: SQLiteStore) -> None:
    """Seed 003, notifications: doubling per unanswered message, zero after any action."""
    clock, chat = FrozenClock(START), Shown()
    announce_all(store, now=START, count=4)
    run = notifier(store, clock, chat)
    assert len(run.pass_once().sent) == 1
    report = run.pass_once()
    assert (report.sent, report.held, report.next_at) == ([], 3, START + 60_000)
    clock.now += 59_999
    assert run.pass_once().sent == []
    clock.now += 1
    assert len(run.pass_once().sent) == 1
    assert run.pass_once().next_at == START + 60_000 + 120_000
    write(store, NoteAction(owner=ME), clock, Trigger.USER_MESSAGE)
    assert len(run.pass_once().sent) == 1
    assert [one.entity for one in chat.seen] == SPEAKERS[:3]


def test_owners_do_not_wait_for_each_other(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START, owner="ann")
    announce(store, "kef ls50 meta", PRICE, now=START, owner="ben")
    assert len(notifier(store, clock, chat, owner=EVERYONE).pass_once().sent) == 2
    assert {one.notice.owner for one in chat.seen} == {"ann", "ben"}


def test_a_chat_tells_its_own_owner_alone(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START, owner="ann")
    announce(store, "kef ls50 meta", PRICE, now=START, owner="ben")
    notifier(store, clock, chat, owner="ben").pass_once()
    assert [one.notice.owner for one in chat.seen] == ["ben"]
    assert the_notice(store, NoticeState.WAITING).owner == "ann"


def test_muted_owners_are_left_alone_and_nothing_is_lost(store: SQLiteStore) -> None:
    """Seed 003, learned: /mute."""
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START)
    write(store, MuteOwner(owner=ME, muted=True), clock, Trigger.COMMAND)
    report = notifier(store, clock, chat).pass_once()
    assert (report.sent, report.held, report.next_at) == ([], 1, None)
    write(store, MuteOwner(owner=ME, muted=False), clock, Trigger.COMMAND)
    assert len(notifier(store, clock, chat).pass_once().sent) == 1


def test_nothing_is_told_of_what_is_muted_or_gone(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    first = announce(store, "kef ls50 meta", DRIVER, now=START)[0]
    write(store, MuteEntity(entity_id=first.entity_id, muted=True), clock, Trigger.COMMAND)
    second = announce(store, "wharfedale denton", "The wharfedale denton is heavy.", now=START)[0]
    gone = RetireEntity(entity_id=second.entity_id, why="its owner removed it")
    write(store, gone, clock, Trigger.COMMAND)
    notifier(store, clock, chat).pass_once()
    assert chat.seen == []
    assert {one.state for one in notices_of(store)} == {NoticeState.DROPPED}
    assert notify_state(store, ME).unanswered == 0  # what is dropped takes nobody's turn


def test_what_its_owner_called_wrong_is_not_told(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    [notice] = announce(store, "kef ls50 meta", DRIVER, PRICE, now=START)
    wrong = next(n for n, one in store.facts_by_id(notice.fact_ids).items() if one.object == PRICE)
    write(store, RateFact(fact_id=wrong, right=False), clock, Trigger.COMMAND)
    notifier(store, clock, chat).pass_once()
    [told] = chat.seen
    assert DRIVER in told.text
    assert "1,600" not in told.text
    assert wrong not in told.facts


def test_too_short_a_notice_is_dropped_and_the_next_one_goes(store: SQLiteStore) -> None:
    """Seed 003, learned: minimum length."""
    clock, chat = FrozenClock(START), Shown()
    announce(store, "golf", "It is.", now=START)
    announce(store, "kef ls50 meta", DRIVER, now=START)
    report = notifier(store, clock, chat).pass_once()
    assert (report.dropped, len(report.sent)) == (1, 1)
    assert the_notice(store, NoticeState.DROPPED).reason == "too little is left of its facts"


def test_a_text_is_redacted_when_it_is_told(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START)
    notifier(
        store,
        clock,
        chat,
        redactor=SimpleNamespace(redact=lambda one: one.replace("MAT", "[hidden]")),
    ).pass_once()
    assert chat.seen[0].text.endswith("The kef ls50 meta has a [hidden] driver.")
    assert "MAT" not in str(chat.seen[0].facts)


def test_without_a_channel_notices_wait(store: SQLiteStore) -> None:
    clock = FrozenClock(START)
    announce(store, "kef ls50 meta", DRIVER, now=START)
    report = notifier(store, clock).pass_once()
    assert (report.sent, report.failed) == ([], 0)
    assert notify_state(store, ME).unanswered == 0
    the_notice(store, NoticeState.WAITING)


def test_what_waited_for_a_month_is_no_news(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    announce(store, "kef ls50 meta", DRIVER, now=START)
    announce(store, "wharfedale denton", "The wharfedale denton is heavy.", now=START)
    clock.now += policy.NOTICE_STALE_MS + 1
    announce(store, "kef ls50 meta", PRICE, now=clock.now)
    notifier(store, clock, chat).pass_once()
    assert [list(one.facts.values()) for one in chat.seen] == [[PRICE]]
    clock.now += policy.NOTICE_CAP_MS
    notifier(store, clock, chat).pass_once()
    assert "no news" in the_notice(store, NoticeState.DROPPED).reason
    assert len(chat.seen) == 1


def test_one_channel_that_takes_it_is_enough(store: SQLiteStore) -> None:
    clock, chat, broken = FrozenClock(START), Shown(), Shown(id="other", refuses=True)
    announce(store, "kef ls50 meta", DRIVER, now=START)
    report = notifier(store, clock, broken, chat).pass_once()
    notice = the_notice(store, NoticeState.SENT)
    assert list(notice.channels) == ["chat"]
    assert notice.reason == report.problems[0]
    assert "by other (nobody is there); it is kept" in notice.reason


def test_a_notice_that_no_channel_takes_fails_and_counts(store: SQLiteStore) -> None:
    clock = FrozenClock(START)
    announce(store, "kef ls50 meta", DRIVER, now=START)
    announce(store, "wharfedale denton", "The wharfedale denton is heavy.", now=START)
    report = notifier(store, clock, Shown(refuses=True)).pass_once()
    # no burst of tries at a channel that is broken: a failure takes its turn, too
    assert (report.failed, report.held) == (1, 1)
    assert notify_state(store, ME).unanswered == 1


def test_a_stop_in_the_middle_never_sends_twice(store: SQLiteStore) -> None:
    clock, chat, token = FrozenClock(START), Shown(), Cancel()
    announce(store, "kef ls50 meta", DRIVER, now=START)
    with Hook(hang) as hook:
        timer = threading.Timer(0.15, token.cancel)
        timer.start()
        with pytest.raises(Cancelled), cancelling(token):
            notifier(store, clock, hook.webhook()).pass_once()
        timer.join()
    notice = the_notice(store, NoticeState.FAILED)
    assert notice.reason == "it was interrupted"
    clock.now += 10**9
    assert notifier(store, clock, chat).pass_once().sent == []


def test_what_a_killed_process_had_claimed_is_let_go(store: SQLiteStore) -> None:
    clock, chat = FrozenClock(START), Shown()
    [waiting] = announce(store, "kef ls50 meta", DRIVER, now=START)
    claim = ClaimNotice(notice_id=waiting.id, holder="elsewhere:1:1:x")
    write(store, claim, clock, Trigger.UPKEEP)
    clock.now += policy.LEASE_MS - 1
    assert notifier(store, clock, chat).pass_once().failed == 0  # it may still be at it
    clock.now += 1
    assert notifier(store, clock, chat).pass_once().failed == 1
    assert chat.seen == []
    assert "ended before it was done" in the_notice(store, NoticeState.FAILED).reason


def test_many_workers_send_what_one_would(store: SQLiteStore) -> None:
    """A storm is impossible: eight workers on one file."""
    clock, chat = FrozenClock(START), Shown()
    announce_all(store, now=START)
    gate = threading.Barrier(8)

    def run() -> None:
        gate.wait()
        notifier(store, clock, chat).pass_once()
        store.close_thread()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(chat.seen) == 1


def test_an_open_chat_is_a_channel(store: SQLiteStore) -> None:
    lines: list[str] = []
    announce(store, "kef ls50 meta", DRIVER, now=START)
    chat = ChatChannel(lambda one: lines.append(one.text))
    notifier(store, FrozenClock(START), chat).pass_once()
    assert lines[0].endswith(f"- {DRIVER}")


# --- the configuration ----------------------------------------------------------------------------

URL = "https://hooks.example.org/a"


def test_notices_go_nowhere_unless_something_is_set(tmp_path: Path) -> None:
    assert load_notify_config({}) is None
    assert load_notify_config({"FACTBOOK_NOTIFY_WEBHOOK": " "}, tmp_path / "none.toml") is None
    assert load_notify_config({"FACTBOOK_NOTIFY_KEY": SECRET}) is None
    assert open_channels(None, os.environ) == []


def test_settings_come_from_the_environment_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        f'[notify]\nwebhook = "{URL}"\nkey_env = "MY_KEY"\ndesktop = false\n'
        'on = ["learn_command"]\n',
        encoding="utf-8",
    )
    environ = {"FACTBOOK_NOTIFY_DESKTOP": "yes", "MY_KEY": SECRET}
    config = load_notify_config(environ, path)
    assert config == NotifyConfig(
        webhook=URL,
        key_env="MY_KEY",
        desktop=True,
        on=frozenset({Trigger.LEARN_COMMAND}),
    )
    both = load_notify_config({**environ, "FACTBOOK_NOTIFY_ON": "enrichment, user_message"}, path)
    assert both is not None
    assert both.on == {Trigger.ENRICHMENT, Trigger.USER_MESSAGE}


def test_the_table_of_the_seed_is_the_default_and_may_be_narrowed_alone() -> None:
    """Seed 003: notifications for all three triggers, unless the configuration narrows it."""
    config = load_notify_config({"FACTBOOK_NOTIFY_DESKTOP": "1"})
    assert config is not None
    assert config.on == {Trigger.USER_MESSAGE, Trigger.LEARN_COMMAND, Trigger.ENRICHMENT}
    with pytest.raises(UsageError, match=r"must name some of .*'session_log' is none"):
        load_notify_config({"FACTBOOK_NOTIFY_ON": "session_log"})


def test_channels_that_are_configured_and_there(tmp_path: Path) -> None:
    config = NotifyConfig(webhook=URL, desktop=True)
    environ = {"FACTBOOK_NOTIFY_KEY": SECRET, "PATH": str(tmp_path)}
    assert [one.id for one in open_channels(config, environ)] == ["webhook"]
    for name in ("notify-send", "osascript", "powershell.exe"):
        notifier_program(tmp_path, name)
    assert [one.id for one in open_channels(config, environ)] == ["webhook", "desktop"]


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({"FACTBOOK_NOTIFY_WEBHOOK": URL}, "FACTBOOK_NOTIFY_KEY, with which .* is not set"),
        ({"FACTBOOK_NOTIFY_WEBHOK": URL}, "is no setting; write FACTBOOK_NOTIFY_WEBHOOK or"),
        ({"FACTBOOK_NOTIFY_DESKTOP": "maybe"}, "is 'maybe', but it must be true or false"),
        ({"FACTBOOK_NOTIFY_KEY_ENV": "a key!"}, "must be the name of an environment variable"),
        (
            {"FACTBOOK_NOTIFY_WEBHOOK": "http://example.org", "FACTBOOK_NOTIFY_KEY": SECRET},
            "it is plain http",
        ),
        ({"FACTBOOK_NOTIFY_WEBHOOK": URL, "FACTBOOK_NOTIFY_KEY": "short"}, "is too short"),
        ({"FACTBOOK_NOTIFY_WEBHOOK": URL, "FACTBOOK_NOTIFY_KEY": "a b"}, "without quotes"),
    ],
)
def test_a_wrong_variable_says_what_to_do(environ: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        load_notify_config(environ)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("notify = 3", "write .notify. above its settings"),
        ('[notify]\nsecret = "T0PSECRET"', "holds a key, which a file must not"),
        ("[notify]\ndesktops = true", "is no setting; write desktop or take it away"),
        ("[notify]\nwebhook = 4", "webhook of .notify. in .* must be an address"),
        ("[notify]\non = [1]", "must be a list of"),
        ("[notify", "is not TOML"),
    ],
)
def test_a_wrong_file_says_what_to_do(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=why) as caught:
        load_notify_config({}, path)
    assert "T0PSECRET" not in str(caught.value)


def test_the_receiver_of_the_docs_takes_what_is_sent() -> None:
    page = Path(__file__).parent.parent / "docs" / "notifications.md"
    code = page.read_text("utf-8").split("```python\n")[1].split("```")[0]
    place: dict[str, Any] = {}
    exec(code, place)
    with Hook(204) as hook:
        now = int(time.time() * 1000)
        hook.webhook(clock=lambda: now).deliver(delivery())
        hook.webhook(clock=lambda: now - 10 * 60_000).deliver(delivery())
    (_, headers, body), (_, late, _) = hook.requests
    is_genuine = place["is_genuine"]
    assert is_genuine(headers, body, SECRET)
    assert not is_genuine(headers, body.replace(b"MAT", b"CAT"), SECRET)
    assert not is_genuine(headers, body, SECRET + "x")
    assert not is_genuine(late, body, SECRET)
