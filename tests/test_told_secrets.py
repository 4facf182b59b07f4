"""A secret that was told once is known again where nothing announces it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Cli
from factbook.errors import NotFound, UsageError
from factbook.memory import Memory
from factbook.model.facts import Role
from factbook.policy import TOLD_SECRETS
from factbook.recall.plan import Turn
from factbook.redaction import NO_REDACTION, Redactor
from factbook.redaction.told import Said, Told

KEY = bytes(range(32))
SECRET = "Brkl7!" + "quoT42"
TOLD = f"The password for the staging box is {SECRET}, use it to log in."
BARE = f"it says wrong user. so try bob with {SECRET} again"


def redactor() -> Redactor:
    """Return one that remembers."""
    return Redactor(key=KEY, remembers=True)


@pytest.mark.parametrize(
    "bare",
    [
        BARE,
        SECRET,
        f'I entered "{SECRET}" and it worked.',
        f"({SECRET}).",
        f"as bob:{SECRET}, then",
        f"it was {SECRET}, was it not? {SECRET}!",
        f"échec avec {SECRET} hier",
        json.dumps({"stdout": f"trying\n{SECRET}\nfailed"}),
        f"“{SECRET}” or ‘{SECRET}’ or «{SECRET}»",
        f"{SECRET}… and {SECRET}—then {SECRET}–so →{SECRET}",
        f"用{SECRET}登录，{SECRET}。",
        f"/tmp/x/{SECRET} and a/{SECRET}/b",
        f"see h/?p={SECRET}&x=1 #{SECRET} ~~{SECRET}~~ -{SECRET}- {SECRET}+{SECRET}",
        f"user@{SECRET} and &quot;{SECRET}&quot; and %22{SECRET}%22",
        f"\x1b[31m{SECRET}\x1b[0m",
        f"it is {SECRET}!? or {SECRET}!.",
    ],
)
def test_what_was_told_is_known_again(bare: str) -> None:
    one = redactor()
    assert SECRET in one.redact(bare)
    label = one.redact(TOLD).partition(" is ")[2].partition(",")[0]
    assert one.redact(bare) == bare.replace(SECRET, label)
    assert SECRET in Redactor(key=KEY).redact(bare)  # without a memory nothing tells it


@pytest.mark.parametrize(
    "secret", ["sunflower42", "Fluffy2019", "qkvd xxne bhyl bdmd", "tr0ub4dor&3", "maja-2016-x"]
)
def test_passwords_as_people_draw_them_are_known_again(secret: str) -> None:
    one = redactor()
    assert secret not in one.redact(f"my wifi password is {secret}, and {secret} it stays")
    assert secret not in one.redact(f"now i put {secret} on the fridge")


def test_the_lines_of_the_page_are_redacted() -> None:
    page = (Path(__file__).parent.parent / "docs" / "redaction.md").read_text(encoding="utf-8")
    _, _, shown = page.partition("## Told once\n\n```\n")
    one = redactor()
    first, second, *_ = shown.splitlines()
    assert "maple-42-lantern" in second
    assert "maple" not in one.redact(first)
    assert "maple" not in one.redact(second)


@pytest.mark.parametrize(
    "told", ["POSTGRES_PASSWORD={}", '{{"password": "{}"}}', "password: {}", "mysql --password={}"]
)
def test_what_settings_name_hides_no_word(told: str) -> None:
    one = redactor()
    one.redact(told.format("shopfront2"))
    one.redact_value({"password": "shopfront2"})
    assert one.redact("I work on shopfront2 every day") == "I work on shopfront2 every day"


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ("the password moved from {} to another", "Harbor456"),
        ("the login page of {} is slow, its credentials are in {}", "LoginHub2"),
        ("PASSWORD={}", "BrnOffice"),
        ("the password is {}", "BrnOffice"),
        ("password: {}", "RdxOfficeKit"),
        ("the password goes to {} now", "Keyhub24"),
        ("we use {} as the password manager here", "Keyhub24"),
    ],
)
def test_what_things_are_called_is_not_hunted(told: str, word: str) -> None:
    one = redactor()
    one.redact(told.replace("{}", word))
    assert one.redact(f"a README for {word}, please") == f"a README for {word}, please"


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ("the password for the shed is {}", "harbor456"),
        ("their password was changed to {}", "harbor456"),
        ("set the password to {}", "harbor456"),
        ("das Kennwort vom NAS ist {}", "harbor456"),
        ("sign in as eva with {}", "harbor456"),
        ("I use {} for my login, my login is eva and {}", "harbor456"),
        ("please use {} as the password for it", "harbor456"),
        ("log in with eva and {}", "Harbor456"),
        ("creds: eva {}", "Harbor456"),
        ("the pin is {}", "Harbor456"),
        ("salasana on {}", "harbor456"),
        ("echo '{}' | sudo -S apt update", "HarborFox456"),
        ("DB_PASSWORD={}", "Harbor456"),
        ("https://eva:{}@example.org/", "hArb!or456"),
        ("the login is eva / {}", "xK7wQ2mPzt"),
    ],
)
def test_what_is_told_as_a_password_is_hunted(told: str, word: str) -> None:
    one = redactor()
    assert word not in one.redact(told.replace("{}", word))
    assert word not in one.redact(f"then I typed {word} again")


@pytest.mark.parametrize(
    "told",
    [
        "API_KEY={}",
        "X-Api-Key: {}",
        '{{"api_key": "{}"}}',
        "aws_secret_access_key = {}",
        "export DEPLOY_TOKEN={}",
    ],
)
def test_keys_that_only_their_name_tells_are_known_again(told: str) -> None:
    key = "wJalrXUtnFEMI" + "K7MDENGbPxRfiCYzEqAmPLe1"
    one = redactor()
    assert key not in one.redact(told.format(key))
    assert key not in one.redact(f"it printed {key} and stopped")


def test_a_write_that_failed_is_made_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log(tmp_path / "logs" / "a.jsonl", TOLD)
    with opened(tmp_path) as memory:
        with monkeypatch.context() as broken:
            broken.setattr("factbook.apply.apply.apply", _fails)
            with pytest.raises(OSError, match="no room"):
                memory.ingest([tmp_path / "logs"])
        memory.ingest([tmp_path / "logs"])
        assert len(memory.sql("SELECT * FROM told_row")) == 1
        memory.check()


def _fails(*given: object, **named: object) -> None:
    raise OSError("no room")


def test_a_session_that_is_named_by_a_told_secret_is_not(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add_turn(role=Role.USER, text="my wifi password is sunflower42", session="s")
        memory.add_turn(role=Role.USER, text="hello there", session="sunflower42")
        memory.check()
    assert b"sunflower42" not in bytes_of(tmp_path)


def test_an_owner_who_is_erased_leaves_no_digest(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add_turn(role=Role.USER, text=TOLD, session="s", owner="ann")
        memory.erasure.erase_owner("ann")
        assert memory.sql("SELECT * FROM told_row") == []
        memory.check()


@pytest.mark.parametrize(
    "secret", ["sunflower", "1234567890", "abc12", "/etc/passwd1", "$DB_PASS1"]
)
def test_a_word_a_number_a_path_and_what_is_short_are_not_remembered(secret: str) -> None:
    one = redactor()
    one.redact(f"password={secret}")
    assert secret in one.redact(f"we saw {secret} there")


def test_marks_may_stand_in_it_and_around_it() -> None:
    one = redactor()
    one.redact("the password is 'P@ss=w0rd,x1'")
    assert "w0rd" not in one.redact('then "P@ss=w0rd,x1", and in the end `P@ss=w0rd,x1`.')


def test_a_part_of_a_word_is_no_secret() -> None:
    one = redactor()
    one.redact(TOLD)
    assert f"x{SECRET}" in one.redact(f"it is x{SECRET} now")


def test_the_value_of_a_field_is_known_again() -> None:
    one = redactor()
    one.redact_value({"password": SECRET})
    assert SECRET not in one.redact(BARE)


def test_no_letter_of_it_is_kept() -> None:
    told = Told(KEY)
    taken = told.takes(SECRET, "password", said=Said.TOLD)
    assert taken is not None
    assert told.hear([taken])
    ((digest, chars, kind),) = told.fresh()
    assert (len(digest), chars, kind) == (8, len(SECRET), "password")
    assert not Told(bytes(32), told.fresh()).within(BARE)  # another key knows nothing of it
    assert Told(KEY, told.fresh()).within(BARE) == {SECRET: "password"}


def test_so_many_are_remembered_and_no_more() -> None:
    told = Told(KEY, ((n.to_bytes(8, "big"), 12, "password") for n in range(TOLD_SECRETS)))
    assert told.takes(SECRET, "password", said=Said.TOLD) is None


def test_very_many_that_stand_in_one_text_are_all_known_again() -> None:
    one = redactor()
    secrets = [f"Xq7!{n}vB{n * n}zzQ" for n in range(1_500)]
    for secret in secrets:
        one.redact(f"the password is {secret}")
    shown = one.redact("\n".join(f"we saw {secret}" for secret in secrets))
    assert not any(secret in shown for secret in secrets)


def test_a_branch_learns_for_itself() -> None:
    one = redactor()
    one.redact("nothing is said here")
    branch = one.branch()
    assert branch.redact(BARE) == BARE
    branch.redact(TOLD)
    assert SECRET not in branch.redact(BARE)
    assert one.redact(BARE) == BARE
    one.know(branch.told_lately())
    assert SECRET not in one.redact(BARE)
    assert not one.told_lately()
    assert NO_REDACTION.branch().redact(BARE) == BARE
    assert one.plain().redact(BARE) == BARE


@given(st.lists(st.sampled_from([TOLD, BARE, SECRET, "a b", f"{SECRET}\n{SECRET}"]), max_size=6))
def test_redacting_twice_changes_nothing(texts: Sequence[str]) -> None:
    one = redactor()
    for text in texts:
        assert one.redact(one.redact(text)) == one.redact(text)


# --- through a memory -----------------------------------------------------------------------------


def log(path: Path, *said: str) -> None:
    """Write a session in which a person says something."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as out:
        for number, text in enumerate(said):
            record = {
                "type": "user",
                "uuid": f"{path.stem}-{number}-{text[:4]}",
                "sessionId": path.stem,
                "cwd": "/home/a/p",
                "timestamp": f"2026-01-02T10:{number:02}:00Z",
                "message": {"role": "user", "content": text},
            }
            out.write(json.dumps(record) + "\n")


def asked_log(path: Path, question: str, answer: str) -> None:
    """Write a session in which an agent asks and a person answers."""
    log(path, "connect me, please")
    reply = {"role": "assistant", "content": [{"type": "text", "text": question}]}
    record = {
        "type": "assistant",
        "uuid": f"{path.stem}-reply",
        "sessionId": path.stem,
        "cwd": "/home/a/p",
        "timestamp": "2026-01-02T10:00:30Z",
        "message": reply,
    }
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(record) + "\n")
    log(path, answer)


def asked_chat(path: Path, question: str, answer: str) -> None:
    """Write a conversation in which an assistant asks and a person answers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    said = [("user", "connect me, please"), ("assistant", question), ("user", answer)]
    turns = [json.dumps({"role": role, "content": text}) for role, text in said]
    path.write_text("\n".join(turns) + "\n", encoding="utf-8")


ASKED = "I can do that.\nWhat is the password of your wifi?"


@pytest.mark.parametrize("asked", [asked_log, asked_chat])
def test_what_answers_a_question_for_a_password_is_one(
    tmp_path: Path, asked: Callable[[Path, str, str], None]
) -> None:
    asked(tmp_path / "logs" / "a.jsonl", ASKED, "Kranich4471x")
    with opened(tmp_path) as memory:
        memory.ingest([tmp_path / "logs"])
        assert len(memory.sql("SELECT * FROM told_row")) == 1
        memory.check()
    assert b"Kranich4471x" not in bytes_of(tmp_path)


@pytest.mark.parametrize("asked", [asked_log, asked_chat])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the name of your wifi?", "Kranich4471x"),
        (ASKED, "Kranich4471x is how the box is called"),
        (ASKED, "sunflowers"),
        (ASKED + "\nI wait.", "Kranich4471x"),
    ],
)
def test_what_answers_something_else_is_none(
    tmp_path: Path, asked: Callable[[Path, str, str], None], question: str, answer: str
) -> None:
    asked(tmp_path / "logs" / "a.jsonl", question, answer)
    with opened(tmp_path) as memory:
        memory.ingest([tmp_path / "logs"])
        assert memory.sql("SELECT * FROM told_row") == []
        memory.check()
    assert answer.encode() in bytes_of(tmp_path)


def test_a_password_that_a_conversation_asked_for_is_known(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        talk = memory.conversation(session="s")
        talk.add_turn("connect me, please")
        talk.add_turn(ASKED, role=Role.ASSISTANT)
        talk.add_turn("Kranich4471x")
        talk.add_turn("what is my password?")
        talk.add_turn("Kranich9962x", role=Role.ASSISTANT)  # says nothing of its own
        memory.check()
    assert b"Kranich4471x" not in bytes_of(tmp_path)
    assert b"Kranich9962x" in bytes_of(tmp_path)


def opened(folder: Path) -> Memory:
    return Memory(folder / "facts.db", key_file=folder / "key")


def bytes_of(folder: Path) -> bytes:
    """Return all that stands in the files of a memory."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("facts.db*")))


@pytest.mark.parametrize("workers", [None, 2])
def test_a_log_that_tells_a_secret_and_repeats_it_keeps_no_letter(
    tmp_path: Path, workers: int | None
) -> None:
    log(tmp_path / "logs" / "a.jsonl", TOLD, BARE)
    with opened(tmp_path) as memory:
        memory.ingest([tmp_path / "logs"], workers=workers)
        memory.check()
    assert SECRET.encode() not in bytes_of(tmp_path)


def test_another_log_an_exchange_and_a_grown_log_know_it_later(tmp_path: Path) -> None:
    log(tmp_path / "logs" / "a.jsonl", TOLD)
    with opened(tmp_path) as memory:
        memory.ingest([tmp_path / "logs"])
    log(tmp_path / "logs" / "b.jsonl", BARE)
    log(tmp_path / "logs" / "a.jsonl", f"and {SECRET} again")
    with opened(tmp_path) as memory:  # a process of its own would read the same file
        memory.ingest([tmp_path / "logs"])
        memory.add_turn(role=Role.USER, text=f"is {SECRET} good enough?", session="s")
        memory.remember(f"The gate opens with {SECRET}")
        assert memory.recall(BARE) is not None
        memory.check()
    assert SECRET.encode() not in bytes_of(tmp_path)


def test_what_was_stored_before_it_was_told_is_shown_without_it(tmp_path: Path) -> None:
    log(tmp_path / "logs" / "a.jsonl", f"We always deploy with {SECRET} from the notes.")
    with opened(tmp_path) as memory:
        memory.ingest([tmp_path / "logs"])
        memory.add_turn(role=Role.USER, text=TOLD, session="s")
        shown = repr(memory.recall("deploy with the notes"))
        assert "deploy with" in shown
        assert SECRET not in shown
        memory.check()


def test_what_another_process_was_told_is_known_from_then_on(tmp_path: Path) -> None:
    log(tmp_path / "logs" / "b.jsonl", BARE)
    with opened(tmp_path) as memory, opened(tmp_path) as other:
        assert memory.resources.redactor.redact(BARE) == BARE
        other.add_turn(role=Role.USER, text=TOLD, session="s")
        memory.remember(f"The old door opens with {SECRET}")
        memory.add_turn(role=Role.USER, text=BARE, session="s")
        memory.ingest([tmp_path / "logs"])
        assert SECRET not in repr(memory.recall("what opens the old door?"))
        memory.check()
    assert SECRET.encode() not in bytes_of(tmp_path)


OLD = f"The old garden door opens with {SECRET}"


def streamed(memory: Memory, told: Callable[[], None]) -> object:
    stream = memory.conversation(session="c").stream()
    stream.sync_turn([Turn(role=Role.USER, text="what opens the old garden door?")])
    deadline = time.monotonic() + 20
    while stream.searching:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    told()
    return stream.take_prefetched()


def exported(memory: Memory, told: Callable[[], None]) -> object:
    lines = memory.export()
    told()
    return list(lines)


def redacted(memory: Memory, told: Callable[[], None]) -> object:
    held = memory.resources
    assert SECRET in held.redactor.redact(BARE)
    told()
    return held.redactor.redact(BARE)


@pytest.mark.parametrize("shown", [streamed, exported, redacted])
@pytest.mark.parametrize("owner", ["me", "zoe"])
def test_what_is_held_open_knows_what_another_process_was_told(
    tmp_path: Path, shown: Callable[[Memory, Callable[[], None]], object], owner: str
) -> None:
    with opened(tmp_path) as memory, opened(tmp_path) as other:
        memory.remember(OLD)
        memory.embed()
        found = repr(shown(memory, lambda: other.remember(TOLD, owner=owner) and None))
        assert SECRET not in found
        assert "REDACTED" in found or "EMPTY" in found  # what is shown otherwise holds no more


def test_without_redaction_nothing_is_remembered(tmp_path: Path) -> None:
    log(tmp_path / "logs" / "a.jsonl", TOLD, BARE)
    with Memory(tmp_path / "facts.db", redact=False) as memory:
        memory.ingest([tmp_path / "logs"])
        assert memory.sql("SELECT * FROM told_row") == []
        memory.check()


def test_every_log_knows_what_another_told_in_the_same_run(tmp_path: Path) -> None:
    log(tmp_path / "logs" / "a.jsonl", TOLD)
    log(tmp_path / "logs" / "b.jsonl", BARE)
    with opened(tmp_path) as memory:
        memory.ingest([tmp_path / "logs"], workers=2)
        memory.check()
    assert SECRET.encode() not in bytes_of(tmp_path)


def test_a_conversation_keeps_its_name_whatever_was_told(tmp_path: Path) -> None:
    said = [{"role": "user", "content": f"{SECRET} is what I say"}]
    file = tmp_path / "chat.json"
    with opened(tmp_path) as memory:
        file.write_text(json.dumps(said), encoding="utf-8")
        memory.ingest([file])
        memory.add_turn(role=Role.USER, text=TOLD, session="s")
        before = memory.sql("SELECT count(*) FROM source_row")
        more = {"role": "user", "content": "and more"}
        file.write_text(json.dumps([*said, more]), encoding="utf-8")
        memory.ingest([file])
        assert memory.sql("SELECT count(*) FROM source_row") == before
        memory.check()


def test_what_was_taken_for_one_wrongly_is_taken_back(tmp_path: Path) -> None:
    street = "I live at maple-42-lantern, above the shop"
    with opened(tmp_path) as memory, opened(tmp_path) as other:
        memory.remember("my wifi password is maple-42-lantern")
        assert memory.maintenance.told_secrets() == {"password": 1}
        assert "maple" not in other.remember(street).statement
        assert memory.maintenance.take_back_secret("maple-42-lantern") == "password"
        for one in (memory, other):  # the other process looks again, too
            assert "maple-42-lantern" in one.remember(f"{street}, says {one is memory}").statement
            assert one.maintenance.told_secrets() == {"": 1}
        # Announced it is hidden there, and nowhere else: it is not learned again.
        assert "maple" not in memory.remember("the wifi password is maple-42-lantern").statement
        assert "maple-42-lantern" in memory.remember(f"{street}, with a cat").statement
        with pytest.raises(NotFound):
            memory.maintenance.take_back_secret("maple-42-lantern")
        with pytest.raises(NotFound):
            memory.maintenance.take_back_secret(SECRET)
        memory.remember("I like tea", owner="zoe")
        memory.erasure.erase_owner("zoe")  # all that was told is forgotten, but not what is none
        memory.remember("the wifi password is maple-42-lantern")
        assert memory.maintenance.told_secrets() == {"": 1}
        memory.check()
    with opened(tmp_path) as memory:
        assert "maple-42-lantern" in memory.remember(f"{street} and a dog").statement


def test_of_nothing_but_a_secret_no_shell_is_remembered(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        for said in ("my password is Heron77x!q", "the password: Heron77x!q"):
            with pytest.raises(UsageError, match="nothing to remember but a secret"):
                memory.remember(said)
        fact = memory.remember("I like tea")
        with pytest.raises(UsageError, match="nothing to remember but a secret"):
            memory.review.correct(fact.id, "my password is Heron77x!q")
        assert [one.statement for one in memory.query_facts()] == ["I like tea"]
    with opened(tmp_path) as memory:  # and it is known from then on
        assert "Heron77" not in memory.remember("I typed Heron77x!q into the box").statement


def test_the_command_counts_and_takes_back(cli: Cli, tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.remember("my wifi password is maple-42-lantern")
        path, key = memory.path, tmp_path / "key"
    env = {"FACTBOOK_KEY_FILE": str(key)}
    shown = cli("--db", path, "secrets", "--json", env=env).json()
    assert shown == {"kinds": {"password": 1}, "taken_back": 0}
    assert cli("--db", path, "secrets", "--no", "maple-42", code=8, env=env).err
    taken_back = cli("--db", path, "secrets", "--no", "maple-42-lantern", "--json", env=env)
    assert taken_back.json() == {"kind": "password"}
    assert "1 word taken back" in cli("--db", path, "secrets", env=env).out


def test_a_key_that_answers_the_question_for_it_is_known() -> None:
    one = redactor()
    one.learn_answer("I have no access yet. What is the API key?", "Krnch4471xKq77zz91")
    one.learn_answer("What is the limit of the API key?", "12000000")
    assert "Krnch4471xKq77zz91" not in one.redact("Krnch4471xKq77zz91")
    assert one.redact("12000000 rows") == "12000000 rows"
