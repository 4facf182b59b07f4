"""`factbook mcp` as a client meets it: a process, lines of JSON, both eras of the protocol."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import Memory, policy
from factbook.apply.apply import apply
from factbook.memory.doctor import examine
from factbook.model.facts import Trigger
from factbook.model.ops import MergeFacts
from factbook.model.ours import TOOL_RESULTS
from factbook.surface.mcp import protocol
from factbook.surface.mcp.server import INSTRUCTIONS, LEGACY
from factbook.surface.operations import tools
from factbook.surface.operations.base import TOOLS
from mcp_client import MODERN, WAIT_S, Server, modern

READING = ["search_memory", "explain_memory", "get_context", "timeline"]
WRITING = ["remember", "correct_memory", "forget_memory", "apply_facts"]
SAID = "i always use pnpm instead of npm for node stuff"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory with a little in it."""
    path = tmp_path_factory.mktemp("mcp") / "m.db"
    with Memory(path, model=None, search_config=None) as memory:
        memory.add_turn(SAID, session="s1")
        memory.remember("My cat is called Miso.")
        memory.embed()
    return path


@pytest.fixture(scope="module")
def server(db: Path) -> Iterator[Server]:
    """Return a server that only reads; several tests may share it."""
    with Server(db, "--read-only") as at_work:
        yield at_work


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "m.db") as at_work:
        yield at_work
    with Memory(tmp_path / "m.db") as memory:
        assert memory.check() == []


# --- the protocol ---------------------------------------------------------------------------------


@pytest.mark.parametrize("version", LEGACY)
def test_a_session_opens_in_the_version_that_is_asked_for(server: Server, version: str) -> None:
    told = server.ask("initialize", protocolVersion=version, capabilities={})
    assert told["protocolVersion"] == version
    assert told["serverInfo"]["name"] == "factbook"
    assert told["instructions"] == INSTRUCTIONS
    assert server.ask("ping") == {}


def test_an_unknown_version_gets_the_newest_that_opens_a_session(server: Server) -> None:
    assert server.ask("initialize", protocolVersion="1999-01-01")["protocolVersion"] == LEGACY[-1]


def test_the_newer_era_needs_no_session(server: Server) -> None:
    told = server.ask("server/discover", **modern())
    assert (told["supportedVersions"], told["resultType"]) == ([MODERN], "complete")
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        answer = server.ask(method, **modern())
        assert answer["resultType"] == "complete"
        assert answer["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "factbook"
        assert (answer["ttlMs"], answer["cacheScope"]) == (0, "private")
        assert "resultType" not in server.ask(method)
    result = server.ask("tools/call", **modern(name="search_memory", arguments={"query": "cat"}))
    assert result["structuredContent"]["memories"]
    other = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}}
    error = server.error("tools/list", **other)
    assert error["code"] == -32022
    assert error["data"] == {"supported": [MODERN], "requested": "2031-01-01"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"3", -32600),
        (b"[]", -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', -32600),
    ],
)
def test_a_line_that_is_no_request_is_answered_and_ends_nothing(
    server: Server, line: bytes, code: int
) -> None:
    server.say(line)
    assert server.unasked.get(timeout=30)["error"]["code"] == code
    assert server.ask("ping") == {}


def test_what_needs_no_answer_gets_none(server: Server) -> None:
    server.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    server.say(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}')
    server.say(b'{"jsonrpc": "2.0", "id": 77, "result": {}}')
    server.say(b"")
    assert server.ask("ping") == {}
    assert server.unasked.empty()


def lines(db: Path, *said: bytes, options: Sequence[str] = ("--read-only",)) -> list[Any]:
    """Return what a server answers that is told these bytes and then nothing more."""
    done = subprocess.run(
        [sys.executable, "-m", "factbook", "--db", str(db), "mcp", *options],
        input=b"".join(said),
        env={**os.environ, "FACTS_LLM_PROVIDER": "none"},
        capture_output=True,
        timeout=WAIT_S,
        check=True,
    )
    return [json.loads(line, parse_constant=pytest.fail) for line in done.stdout.split(b"\n")[:-1]]


def test_a_batch_is_answered_by_one_list(db: Path) -> None:
    search = b'{"id":"s","method":"tools/call","params":{"name":"search_memory","arguments":%s}}'
    note = b'{"method":"notifications/initialized"}'
    [several] = lines(
        db,
        b'[{"id":"a","method":"ping"},{"id":"b"},4,'
        + note
        + b","
        + search % b'{"query":"cat"}'
        + b"]\n",
        b"[" + note + b',{"id":9,"result":{}}]\n',  # nothing of it wants an answer
    )
    assert [answer["id"] for answer in several] == ["a", "b", None, "s"]
    assert several[1]["error"]["code"] == several[2]["error"]["code"] == -32600
    assert "Miso" in str(several[3]["result"])


PING = b'"method":"ping"'
HUGE = b'"params":{"x":"' + b"a" * protocol.LINE_BYTES + b'"}'
DEEP = b'"params":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
LONG = b'"params":{"x":' + b"7" * 5_000 + b"}"


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (b'{"jsonrpc":"2.0","id":7}\n', 7, -32600),
        (b'{"id":"x","method":5}\n', "x", -32600),
        (b'{"id":8,"method":"ping","params":"x"}\n', 8, -32602),
        (b'{"id":9,"method":"notifications/initialized"}\n', 9, -32601),
        (b'{"jsonrpc":"2.0","id":10,"method":"ping",}\n', 10, -32700),
        (b'{"jsonrpc":"2.0","id":"h","method":"pi', "h", -32700),  # a half line, and the end
        (b'{"method":"tools/call","params":{"arguments":{"id":5}', None, -32700),
        (b'{"jsonrpc":"2.0","method":bad,"params":{"x":"}"},"id":32}\n', 32, -32700),
        (b'{"jsonrpc":"2.0","method":"ping","params":{"y":1,"id":5}\n', None, -32700),  # cut
        (b'{"id":11,' + PING + b"," + HUGE + b"}\n", 11, -32600),
        (b"{" + HUGE + b"," + PING + b',"id":12}\n', 12, -32600),
        (b"{" + HUGE + b"," + PING + b',"jsonrpc":"2.0","id":"z" }\r\n', "z", -32600),
        (b"{" + HUGE + b',"id":13', None, -32600),
        (b'{"id":14,' + PING + b"," + DEEP + b"}\n", 14, -32700),
        (b"{" + DEEP + b"," + PING + b',"id":15}\n', 15, -32700),
        (b"{" + HUGE + b',"y":{"id":5},"id":"\\u0041"}\n', None, -32600),
    ],
)
def test_what_cannot_be_read_is_answered_under_its_id(
    db: Path, line: bytes, number: object, code: int
) -> None:
    *answers, last = lines(db, b'{"id":1,"method":"ping"}\n', line)
    assert [answer["id"] for answer in answers] == [1]
    assert (last["id"], last["error"]["code"]) == (number, code)


@pytest.mark.parametrize(
    ("number", "same"),
    [
        ("-5", -5),
        ("1.5", 1.5),
        ("2.0", 2),
        ('""', ""),
        (r'"\ud800"', "\ud800"),
        (r'"\u2028\"\n"', '\u2028"\n'),
        ("9" * 30, int("9" * 30)),
    ],
)
def test_an_answer_has_the_id_of_its_request(db: Path, number: str, same: object) -> None:
    said = f'{{"id":{number},"method":"ping","params":{{"x":{"7" * 5_000}}}}}'
    [answer] = lines(db, said.encode())  # the last line may be without its end
    assert answer == {"jsonrpc": "2.0", "id": same, "result": {}}


def test_no_argument_costs_an_answer(db: Path) -> None:
    queries = [r'"\ud800 cat"', "NaN", "Infinity", "1e999", "9" * 5_000, "{}", r'"\u0000"']
    call = '{"id":%d,"method":"tools/call","params":{"name":"search_memory","arguments":%s}}\n'
    said = [call % (number, f'{{"query":{query}}}') for number, query in enumerate(queries)]
    said += [
        call % (90, '{"query":"cat","limit":NaN}'),
        call % (91, '{"query":"cat","limit":1e999}'),
    ]
    answers = {answer["id"]: answer for answer in lines(db, *map(str.encode, said))}
    assert sorted(answers) == [*range(len(queries)), 90, 91]
    assert "Miso" in str(answers[0])
    refused = [number for number, answer in answers.items() if answer["result"]["isError"]]
    assert sorted(refused) == [1, 2, 3, 4, 5, 90, 91]


def test_two_requests_of_one_id_are_both_answered(db: Path) -> None:
    call = b'{"id":%s,"method":"tools/call","params":{"name":"search_memory","arguments":%s}}\n'
    said = [call % (b"1", b'{"query":"cat"}')] * 5 + [call % (b'"1"', b'{"query":"cat"}')]
    answers = lines(db, *said)
    assert sorted(str(answer["id"]) for answer in answers) == ["1"] * 6
    assert all("Miso" in str(answer) for answer in answers)


def test_answers_are_one_line_for_whoever_splits_lines(tmp_path: Path) -> None:
    """Node's readline ends a line at U+2028 too, Python's splitlines at U+0085."""
    name = "a\u2028b\u2029c\x85d"
    entity = {"name": name, "entityType": "\ud800", "observations": []}
    call = {"name": "create_entities", "arguments": {"entities": [entity]}}
    with Server(tmp_path / "m.db", "--profile", "graph") as server:
        created = server.ask("tools/call", **call)
        assert created["structuredContent"]["entities"][0]["name"] == name
    done = subprocess.run(
        [sys.executable, "-m", "factbook", "--db", tmp_path / "m.db", "mcp", "--profile", "graph"],
        input=b'{"id":1,"method":"tools/call","params":{"name":"read_graph"}}\n',
        capture_output=True,
        check=True,
        timeout=WAIT_S,
    )
    assert len(done.stdout.decode().splitlines()) == 1


def test_who_sends_all_before_reading_anything_gets_every_answer(db: Path) -> None:
    """More answers than a pipe holds, to more requests than a pipe holds."""
    count = 3_000
    said = [b'{"id":%d,"method":"tools/list"}\n' % number for number in range(count)]
    server = subprocess.Popen(
        [sys.executable, "-m", "factbook", "--db", str(db), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        hung = threading.Timer(WAIT_S, server.kill)
        hung.start()
        server.stdin.write(b"".join(said))
        server.stdin.close()
        answers = [json.loads(line)["id"] for line in server.stdout]
        hung.cancel()
    assert answers == list(range(count))


def test_what_cannot_be_opened_is_said_of_resources_and_prompts_too(tmp_path: Path) -> None:
    with Server(tmp_path / "none.db", "--read-only") as server:
        for method, params in (
            ("resources/read", {"uri": "memory://stats"}),
            ("prompts/get", {"name": "review"}),
        ):
            error = server.error(method, **params)
            assert error["code"] == -32603
            assert "none.db" in error["message"]


def test_errors_of_the_protocol_say_what_is_wrong(server: Server) -> None:
    assert server.error("tools/grow")["code"] == -32601
    assert server.error("tools/call", name="grow")["code"] == -32602
    assert server.error("tools/call", name="remember")["code"] == -32602  # it only reads
    assert server.error("tools/call", name="search_memory", arguments=[1])["code"] == -32602
    assert server.error("prompts/get", name="recall")["code"] == -32602
    gone = server.error("resources/read", uri="memory://facts/f999")
    assert (gone["code"], gone["data"]) == (-32002, {"uri": "memory://facts/f999"})
    assert server.error("resources/read", **modern(uri="file:///etc/passwd"))["code"] == -32602


@given(data=st.binary(max_size=300).filter(lambda data: b"\n" not in data and data.strip()))
def test_no_line_ends_the_loop(data: bytes) -> None:
    class Lines:
        def __init__(self, *lines: bytes) -> None:
            self.lines = [*lines, b""]

        def readline(self, _: int = -1) -> bytes:
            return self.lines.pop(0)

        def write(self, line: bytes) -> None:
            self.lines.append(line)

        def flush(self) -> None:
            pass

    out = Lines()
    loop = protocol.Loop({"ping": lambda _: {}}, slow=frozenset(), out=out)  # type: ignore[arg-type]
    loop.run(Lines(data + b"\n", b'{"id":1,"method":"ping"}\n'))  # type: ignore[arg-type]
    assert json.loads(out.lines[-1]) == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("debug", [False, True])
def test_a_fault_is_told_in_one_line_without_values(
    debug: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(params: object) -> dict[str, object]:
        raise KeyError("I am allergic to hazelnuts")

    out = io.BytesIO()
    loop = protocol.Loop(
        {"now": fails, "slowly": fails}, slow=frozenset({"slowly"}), out=out, debug=debug
    )
    loop.run(io.BytesIO(b'{"id":1,"method":"now"}\n{"id":2,"method":"slowly"}\n'))
    told = capfd.readouterr().err
    assert out.getvalue().count(b"KeyError (see stderr)") == 2
    assert b"hazelnuts" not in out.getvalue()
    if debug:
        assert told.count("Traceback") == 2
    else:
        first, second = told.splitlines()
        assert "KeyError" in first
        assert "in fails" in second
        assert "hazelnuts" not in told


# --- tools ----------------------------------------------------------------------------------------


def test_every_tool_says_what_a_client_wants_to_know(writing: Server) -> None:
    told = {tool["name"]: tool for tool in writing.ask("tools/list")["tools"]}
    assert list(told) == [*READING, *WRITING]
    for name, tool in told.items():
        assert tool["title"]
        assert len(tool["description"]) > 40
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        arguments = tool["inputSchema"]["properties"]
        assert all(argument["description"] for argument in arguments.values())
        assert "owner" not in arguments  # whose memory it is, no model says
        hints = tool["annotations"]
        assert hints["readOnlyHint"] is (name in READING)
        assert hints["destructiveHint"] is (name == "forget_memory")
        assert hints.keys() == {
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
    assert told["search_memory"]["_meta"] == {"anthropic/alwaysLoad": True}


def test_what_a_tool_answers_is_known_again_in_a_log() -> None:
    """`model.ours` names the tools and their results, so that they never come back as memory."""
    mine = {name: tool for name, tool in TOOLS.items() if tool.profile == "memory"}
    assert mine.keys() == TOOL_RESULTS.keys()
    for name, tool in mine.items():
        assert tool.output is not None
        assert TOOL_RESULTS[name] <= set(tool.output["required"])  # type: ignore[call-overload]


def test_reading_offers_no_more_than_it_says(server: Server, db: Path) -> None:
    before = db.stat().st_mtime_ns
    assert [tool["name"] for tool in server.ask("tools/list")["tools"]] == READING
    (hit,) = server.call("search_memory", query="what is my cat called", limit=1)["memories"]
    assert hit["text"] == "My cat is called Miso."
    assert (hit["id"], hit["trust"], hit["kind"]) == ("f1", "direct", "fact")
    told = server.call("explain_memory", id=hit["id"])
    assert told["evidence"][0]["quote"] == "My cat is called Miso."
    assert server.call("explain_memory", id="e1")["memory"]["text"] == SAID
    found = server.call("get_context", question="how is my cat called?", budget_tokens=200)
    assert "f1" in found["included"]
    assert "Miso" in found["text"]
    assert found["tokens"] <= 200
    nothing = server.call("search_memory", query="zeppelin", since="2031-01-01")
    assert (nothing["memories"], bool(nothing["note"])) == ([], True)
    assert db.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("search_memory", {}, "needs query"),
        ("search_memory", {"query": 3}, "query is no string"),
        ("search_memory", {"query": "x", "limit": 21}, "at most 20"),
        ("search_memory", {"query": "x", "since": "whenever"}, "whenever"),
        ("search_memory", {"query": "x", "owner": "mia"}, "no 'owner' here"),
        ("explain_memory", {"id": "f999"}, "no fact 999"),
        ("explain_memory", {"id": "e999"}, "no episode e999"),
        ("explain_memory", {"id": "x'; --"}, "not the id of a fact"),
        ("get_context", {"question": "x", "budget_tokens": 1}, "too small"),
    ],
)
def test_a_call_that_cannot_be_done_says_why(
    server: Server, tool: str, arguments: dict[str, Any], why: str
) -> None:
    assert why in server.refused(tool, **arguments)


def test_each_record_has_the_shape_that_was_told(writing: Server) -> None:
    def call(name: str, **arguments: Any) -> Any:
        record = writing.call(name, **arguments)
        output = TOOLS[name].output
        assert output is not None
        jsonschema.validate(record, {**output, "additionalProperties": False})
        return record

    call("search_memory", query="anything")
    made = call("remember", text="The staging port is 5433.")
    assert (made["stored"], made["facts"][0]["confidence"]) == (1, 0.8)
    (fact,) = made["facts"]
    assert call("remember", text="The staging port is 5433.")["unchanged"] == 1
    assert call("remember", text="the")["rejections"][0]["reason"] == "generic"
    assert call("remember", text="My pin is 4829, tell no one")["redacted"]
    asked = call("correct_memory", id=fact["id"], text="The staging port is 5434.")
    assert (asked["proposed"], asked["stored"]) == (1, 0)
    assert call("search_memory", query="staging port")["memories"][0]["id"] == fact["id"]
    assert call("forget_memory", id=fact["id"], reason="asked")["updated"] == 1
    ids = [hit["id"] for hit in call("search_memory", query="staging port")["memories"]]
    assert fact["id"] not in ids
    call("explain_memory", id=fact["id"])
    call("get_context", question="which port?")
    call("timeline")
    assert call("apply_facts", ops=[{"op": "set", "fact_key": "a.b", "value": "c"}])["rejections"]


def test_the_user_s_quoted_words_make_a_memory_theirs(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, model=None) as memory:
        memory.add_turn(SAID, session="s1")
        memory.add_turn("set my timezone to Europe/Berlin please", session="s1")
    with Server(path) as server:
        assert server.call("remember", text="The user uses pnpm.")["stored"] == 1
        made = server.call("remember", text="The user uses pnpm.", quote="i always use pnpm")
        assert (made["stored"], made["updated"]) == (0, 1)
        assert made["facts"][0]["confidence"] == 0.95
        ops = [{"op": "set", "fact_key": "user.timezone", "value": "Europe/Berlin"}]
        done = server.call("apply_facts", ops=ops, quote="set my timezone to Europe/Berlin")
        assert done["actions"] == {"S": 1, "U": 0, "R": 0}


def test_a_model_asks_what_was_known_and_says_what_a_fact_is_about(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None) as memory:
        memory.remember("I live in Ghent.", at=1_770_000_000_000)  # 2026-02-02
        memory.remember("I live in Lyon.", at=1_780_000_000_000)
        memory.add_turn("the billing service of the shop listens on port 8443", session="s1")
    with Server(path) as server:
        then = server.call("search_memory", query="where do I live", as_of="2026-03-01")
        assert [hit["text"] for hit in then["memories"]] == ["I live in Ghent."]
        assert (
            server.call("search_memory", query="where do I live", as_of="2026-01-01")["memories"]
            == []
        )
        assert "is not a moment" in server.refused("search_memory", query="live", as_of="soon")
        kept = server.call("remember", text="It listens on port 8443.", about="billing service")
        statement = "billing service: It listens on port 8443."
        assert kept["facts"][0]["statement"] == statement
        again = server.call("remember", text="It listens on port 8443.", about="billing service")
        assert again["unchanged"] == 1
        named = "The billing service has two replicas."
        kept = server.call("remember", text=named, about="Billing service")
        assert kept["facts"][0]["statement"] == named
        # Whose words do not name it have not said it of that thing.
        quote = "listens on port 8443"
        kept = server.call("remember", text="It listens on port 8443.", about="PHP", quote=quote)
        assert kept["facts"][0]["confidence"] <= 0.8


def test_a_hit_is_small(writing: Server) -> None:
    writing.call("remember", text="Ünï " * 400)
    writing.call("remember", text="tab\there “quoted” \\ and more, " * 40)
    for hit in writing.call("search_memory", query="tab quoted ünï", limit=20)["memories"]:
        assert len(json.dumps(hit, ensure_ascii=False).encode()) <= tools.HIT_BYTES


def test_who_asks_is_of_one_owner(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, model=None) as memory:
        memory.remember("My cat is called Miso.")
        memory.embed()
        memory.review.note("My cat is called Tofu.")
        assert memory.review.proposals()
    with Server(path, "--owner", "mia") as server:
        for name in ("recall", "review"):
            shown = server.ask("prompts/get", name=name, arguments={"question": "my cat?"})
            assert "Miso" not in str(shown["messages"])
        assert server.call("search_memory", query="my cat")["memories"] == []
        assert "no fact 1" in server.refused("explain_memory", id="f1")
        assert "no episode" in server.refused("explain_memory", id="e1")
        assert server.refused("forget_memory", id="f1")
        assert server.error("resources/read", uri="memory://facts/f1")["code"] == -32002
        server.call("remember", text="The dog is called Rex.")
    with Memory(path, mode="read") as memory:
        assert [fact.owner for fact in memory.query_facts(object="The dog is called Rex.")] == []
        assert [fact.owner for fact in memory.query_facts(owner="mia")] == ["mia"]


def test_statistics_are_of_the_owner_and_say_nothing_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "secret-place.db"
    with Memory(path, model=None, search_config=None) as memory:
        for number in range(3):
            memory.remember(f"Shelf {number} holds crates.")
        memory.remember("My boat is called Nix.", owner="mia")
    for owner, facts in (("me", 3), ("mia", 1), ("bob", 0)):
        with Server(path, "--owner", owner) as server:
            server.call("remember", text="The dog is called Rex.")
            (contents,) = server.ask("resources/read", uri="memory://stats")["contents"]
            told = json.loads(contents["text"])
            assert told["facts"] == {"active": facts + 1}
            assert told["episodes"] == facts + 1
            assert (told["noted_in_session"], told["noted_in_day"]) == (1, 1)
            assert not {"path", "tenant"} & told.keys()
            assert "secret-place" not in contents["text"]


def test_a_model_is_told_that_it_has_stated_enough(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None) as memory:
        memory.add_turn("the night build lives on the machine called larch", session="s1")
    with Server(path) as server:
        for number in range(policy.NOTED_IN_SESSION):
            assert server.call("remember", text=f"Box {number} is green.")["stored"] == 1
        told = server.call("remember", text="The gate is blue.")
        assert (told["stored"], told["proposed"], told["rejected"]) == (0, 0, 1)
        assert told["rejections"][0]["reason"] == "too_many"
        assert "tell the user" in told["rejections"][0]["say"]
        assert server.call("remember", text="Box 1 is green.")["unchanged"] == 1
        said = "night build lives on the machine called larch"
        told = server.call("remember", text="The night build lives on larch.", quote=said)
        assert told["stored"] == 1
        hit = server.call("search_memory", query="Box 7 green")["memories"][0]["id"]
        told = server.call("correct_memory", id=hit, text="Box 7 is red.")
        assert told["rejections"][0]["reason"] == "too_many"
    with Server(path) as server:  # another session
        assert server.call("remember", text="The gate is blue.")["stored"] == 1
    with Memory(path, mode="read") as memory:
        assert memory.check() == []
        assert memory.stats().counts["facts"] == policy.NOTED_IN_SESSION + 2
        assert memory.review.proposals() == []


def test_the_other_set_of_tools(db: Path) -> None:
    with Server(db, "--read-only", "--profile", "chatgpt") as server:
        assert [tool["name"] for tool in server.ask("tools/list")["tools"]] == ["search", "fetch"]
        results = server.call("search", query="my cat")["results"]
        assert results[0]["id"] == "f1"
        assert results[0].keys() == {"id", "title", "url", "text"}
        whole = server.call("fetch", id="f1")
        assert whole.keys() == {"id", "title", "text", "url", "metadata"}
        assert "Miso" in whole["text"]


def test_resources_and_prompts(server: Server) -> None:
    kinds = [one["name"] for one in server.ask("resources/list")["resources"]]
    assert kinds == ["stats", "rejections"]
    templates = server.ask("resources/templates/list")["resourceTemplates"]
    assert templates[0]["uriTemplate"] == "memory://facts/{id}"
    for uri in ("memory://stats", "memory://rejections", "memory://facts/f1"):
        (contents,) = server.ask("resources/read", uri=uri)["contents"]
        assert contents["uri"] == uri
        assert json.loads(contents["text"])
    (message,) = server.ask("prompts/get", name="recall", arguments={"question": "my cat?"})[
        "messages"
    ]
    assert "Miso" in message["content"]["text"]
    assert server.ask("prompts/get", name="review")["messages"]


def test_a_write_before_the_end_of_the_input_has_its_answer(tmp_path: Path) -> None:
    call = {"name": "remember", "arguments": {"text": "My bike is red."}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    done = subprocess.run(
        [sys.executable, "-m", "factbook", "--db", str(tmp_path / "m.db"), "mcp"],
        input=json.dumps(asked).encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["result"]["structuredContent"]["stored"] == 1
    assert done.stderr == b""


def test_no_model_forgets_what_its_owner_pinned(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None) as memory:
        fact = memory.remember("I am allergic to hazelnuts.")
        twin = memory.remember("I am allergic to hazel nuts.")
        merged = MergeFacts(
            winner_id=fact.id, loser_ids=[twin.id], evidence_counts=[1, 1], rule="same"
        )
        apply(memory.store, [merged], trigger=Trigger.UPKEEP, actor="night", now=memory.clock())
        memory.review.pin(fact.id)
    with Server(path) as server:
        assert "pinned" in server.refused("forget_memory", id=f"f{fact.id}")
        assert f"f{fact.id}" in server.refused("forget_memory", id=f"f{twin.id}")
    with Memory(path, mode="read") as memory:
        assert memory.sources.fact(fact.id).pinned


def test_a_model_forgets_so_many_facts_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None) as memory:
        facts = [memory.remember(f"My locker {n} is at pier {n}.").id for n in range(25)]
        bobs = memory.review.remember("I live in Bremen.", owner="bob").id
    done = 0
    for rooms in (policy.FORGOTTEN_IN_SESSION, policy.FORGOTTEN_IN_DAY, 0):
        with Server(path) as server:
            while done < rooms:
                told = server.call("forget_memory", id=f"f{facts[done]}", reason="they\nmoved out")
                assert (told["updated"], told["rejected"]) == (1, 0)
                assert told["facts"][0]["status"] == "deprecated"
                done += 1
            told = server.call("forget_memory", id=f"f{facts[done]}")
            assert (told["updated"], told["rejected"], told["facts"]) == (0, 1, [])
            assert told["rejections"][0]["reason"] == "too_many"
            assert server.call("forget_memory", id=f"f{facts[0]}")["unchanged"] == 1
            history = server.call("explain_memory", id=f"f{facts[0]}")["history"]
            assert [step["why"] for step in history if step["op"] == "rate"] == [
                "wrong: they moved out"
            ]
            if rooms:
                (contents,) = server.ask("resources/read", uri="memory://stats")["contents"]
                held = json.loads(contents["text"])
                assert (held["forgotten_in_session"], held["forgotten_in_day"]) == (
                    policy.FORGOTTEN_IN_SESSION,
                    done,
                )
    with Server(path, "--owner", "bob") as server:
        assert server.call("forget_memory", id=f"f{bobs}")["updated"] == 1
    with Memory(path) as memory:
        memory.review.feedback(facts[done], right=False)  # a person's word has no limit
        assert memory.sources.fact(facts[done]).confidence == 0
        assert memory.check() == []
    (told,) = [each for each in examine(path) if "left out of recall" in each.detail]
    assert (told.level, told.detail.startswith("21 facts")) == ("warn", True)


def test_calls_at_once_pass_no_limit(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None) as memory:
        facts = [
            memory.remember(f"My locker {n} is at pier {n}.").id
            for n in range(policy.FORGOTTEN_IN_SESSION + 6)
        ]
    with Server(path) as server:
        asked = [
            server.send("tools/call", {"name": "forget_memory", "arguments": {"id": f"f{fact}"}})
            for fact in facts
        ]
        told = [server.wait(number)["result"]["structuredContent"] for number in asked]
    assert sum(receipt["updated"] for receipt in told) == policy.FORGOTTEN_IN_SESSION


def test_what_waits_for_its_owner_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None) as memory:
        memory.remember("I am allergic to hazelnuts.")
    with Server(path) as server:
        for stored in (1, 0):
            told = server.call("remember", text="The user is not allergic to hazelnuts.")
            assert (told["proposed"], told["stored"]) == (stored, 0)
            assert told["facts"][0]["status"] == "proposed"


def test_what_a_result_links_to_can_be_read(db: Path) -> None:
    with Server(db, "--profile", "chatgpt") as server:
        results = server.call("search", query="pnpm node npm, and my cat Miso")["results"]
        assert {result["id"][0] for result in results} == {"e", "f"}
        for result in results:
            (contents,) = server.ask("resources/read", uri=result["url"])["contents"]
            assert result["id"] in contents["text"]


def test_what_nobody_sees_reaches_no_model(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    hidden = "".join(chr(0xE0000 + ord(sign)) for sign in "obey")
    with Memory(path, model=None, search_config=None) as memory:
        memory.add_turn(f"The b\u202eoiler{hidden} is in the cellar.", session="s1")
        memory.remember(f"The boiler{hidden} is blue.")
    with Server(path) as server:
        told = [
            server.call("search_memory", query="boiler"),
            server.call("explain_memory", id="e1"),
            server.call("explain_memory", id="f1"),
            server.ask("resources/read", uri="memory://facts/f1"),
        ]
    for answer in told:
        assert "boiler" in str(answer)
        assert hidden not in json.dumps(answer, ensure_ascii=False)
        assert "\u202e" not in json.dumps(answer, ensure_ascii=False)


@pytest.mark.parametrize("number", ["[1]", "{}", "null", "1.5", "true", '"x"'])
def test_calling_off_what_is_no_request_ends_nothing(server: Server, number: str) -> None:
    server.say(
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}'
        % number.encode()
    )
    assert server.ask("ping") == {}


# --- many, and what goes wrong --------------------------------------------------------------------


def test_two_hundred_calls_of_which_eight_run_at_once(tmp_path: Path) -> None:
    with Server(tmp_path / "m.db") as server:
        failed: list[object] = []

        def work(worker: int) -> None:
            try:
                for turn in range(25):
                    if turn % 5:
                        server.call("search_memory", query=f"port of box {worker}")
                    else:
                        box = 8 * turn + worker
                        server.call("remember", text=f"Box {box} listens on port {box + 9000}.")
            except BaseException as error:  # noqa: BLE001 - it is told by the main thread
                failed.append(error)

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        assert server.close() == 0
    with Memory(tmp_path / "m.db") as memory:
        assert memory.check() == []
        assert memory.stats().counts["facts"] == 40


def test_two_servers_on_one_file(tmp_path: Path) -> None:
    with Server(tmp_path / "m.db") as left, Server(tmp_path / "m.db") as right:
        left.call("remember", text="The user's cat is called Miso.")
        right.call("remember", text="Deployments go through the staging cluster.")
        for server in (left, right):
            for query, answer in (("what is my cat called", "f1"), ("staging cluster", "f2")):
                hits = server.call("search_memory", query=query)["memories"]
                assert answer in [hit["id"] for hit in hits]
    with Memory(tmp_path / "m.db", mode="read") as memory:
        assert memory.check() == []


def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    for round_ in range(4):
        server = Server(tmp_path / "m.db")
        for number in range(6):
            text = f"Box {round_}-{number} is in rack {number}."
            server.call("remember", text=text)
            acknowledged.append(text)
        server.send("tools/call", {"name": "remember", "arguments": {"text": f"Late {round_}."}})
        server.kill()
        server.close()
    with Memory(tmp_path / "m.db") as memory:
        assert memory.check() == []
        kept = {fact.statement for fact in memory.query_facts(limit=100)}
        assert set(acknowledged) <= kept


def test_a_call_that_is_called_off_is_not_answered(db: Path) -> None:
    with Server(db, "--read-only") as server:
        numbers = [
            server.send("tools/call", {"name": "search_memory", "arguments": {"query": f"cat {n}"}})
            for n in range(40)
        ]
        for number in numbers[1:]:
            params = {"requestId": number}
            server.say(json.dumps({"method": "notifications/cancelled", "params": params}).encode())
        assert server.wait(numbers[0])["result"]
        assert server.ask("ping") == {}
    answered = sum(not server._answers[number].empty() for number in numbers[1:])
    assert answered < 39  # most of them had not begun


def test_a_memory_that_cannot_be_opened_is_a_result(tmp_path: Path) -> None:
    broken = tmp_path / "m.db"
    broken.write_bytes(b"no database at all" * 100)
    with Server(broken) as server:
        assert server.ask("tools/list")["tools"]
        said = server.refused("search_memory", query="cat")
        assert str(broken) in said
    with Server(tmp_path / "none.db", "--read-only") as server:
        assert "none.db" in server.refused("search_memory", query="cat")
    assert not (tmp_path / "none.db").exists()


def test_nothing_but_the_protocol_is_on_stdout_and_the_end_of_input_ends_it(db: Path) -> None:
    """As a client starts it: Python itself, and no memory of anything before."""
    call = {"name": "search_memory", "arguments": {"query": "cat"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    done = subprocess.run(
        [sys.executable, "-m", "factbook", "--db", str(db), "mcp"],
        input=json.dumps(asked).encode() + b"\n",
        env={**os.environ, "FACTS_LLM_PROVIDER": "none"},
        stdout=subprocess.PIPE,
        timeout=WAIT_S,
        check=True,
    )
    (answer,) = map(json.loads, done.stdout.splitlines())
    assert "Miso" in answer["result"]["content"][0]["text"]
