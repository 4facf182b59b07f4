"""`factbook mcp --profile graph` as an agent meets it that kept its graph elsewhere before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from factbook import Memory
from factbook.errors import NotAllowed
from factbook.model.facts import FactKind, Trigger, Trust
from factbook.model.ops import RetractFact
from factbook.model.ours import GRAPH_TOOLS
from factbook.pipelines.graph import GraphEntity, GraphRelation
from factbook.store.rows import Filters, LifeWhere
from mcp_client import Server

READS = {"read_graph", "search_nodes", "open_nodes"}
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
NOBODY: dict[str, list[Any]] = {"entities": [], "relations": []}


def entity(name: str, *observations: str, type: str = "boat") -> dict[str, Any]:
    return {"name": name, "entityType": type, "observations": list(observations)}


def relation(start: str, type: str, end: str) -> dict[str, str]:
    return {"from": start, "to": end, "relationType": type}


GULL = entity("Gull", "was built in 1931", "leaks at the stern")
TERN = entity("Tern", "is for sale")
TOWS = relation("Gull", "tows", "Tern")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def server(db: Path) -> Iterator[Server]:
    """Return a server of an empty memory, which is sound when it is done."""
    with Server(db, "--profile", "graph") as at_work:
        yield at_work
    with Memory(db, model=None, search_config=None) as memory:
        assert memory.check() == []


def harbour(server: Server) -> None:
    server.call("create_entities", entities=[GULL, TERN])
    server.call("create_relations", relations=[TOWS])


# --- what there is --------------------------------------------------------------------------------


def test_the_nine_tools_say_what_they_take_and_give(server: Server) -> None:
    tools = {tool["name"]: tool for tool in server.ask("tools/list")["tools"]}
    assert set(tools) == GRAPH_TOOLS
    for name, tool in tools.items():
        assert tool["annotations"]["readOnlyHint"] is (name in READS)
        assert tool["annotations"]["destructiveHint"] is name.startswith("delete_")
        assert tool["title"]
        assert tool["outputSchema"]["additionalProperties"] is False
        assert "additionalProperties" not in tool["inputSchema"]
    item = tools["create_entities"]["inputSchema"]["properties"]["entities"]["items"]
    assert item["required"] == ["name", "entityType", "observations"]
    assert tools["delete_entities"]["inputSchema"]["required"] == ["entityNames"]
    assert tools["read_graph"]["inputSchema"] == {"type": "object", "properties": {}}
    assert "search_nodes" in server.ask("initialize")["instructions"]


def test_read_only_offers_the_three_that_read(db: Path, server: Server) -> None:
    harbour(server)
    with Server(db, "--profile", "graph", "--read-only") as reading:
        assert {tool["name"] for tool in reading.ask("tools/list")["tools"]} == READS
        assert reading.call("read_graph") == {"entities": [GULL, TERN], "relations": [TOWS]}
        assert reading.error("tools/call", name="create_entities", arguments={})["code"] == -32602


def test_the_resource_is_the_whole_graph(server: Server) -> None:
    harbour(server)
    uri = "memory://knowledge-graph"
    assert uri in [resource["uri"] for resource in server.ask("resources/list")["resources"]]
    (content,) = server.ask("resources/read", uri=uri)["contents"]
    assert content["mimeType"] == "application/json"
    assert json.loads(content["text"]) == server.call("read_graph")
    assert server.ask("prompts/get", name="recall", arguments={"question": "which boat leaks?"})


# --- telling --------------------------------------------------------------------------------------


def test_a_known_name_is_passed_over_and_only_what_is_new_comes_back(server: Server) -> None:
    assert server.call("create_entities", entities=[GULL]) == {"entities": [GULL]}
    other = entity("Gull", "is another one", type="bird")
    assert server.call("create_entities", entities=[other, TERN]) == {"entities": [TERN]}
    assert server.call("create_entities", entities=[GULL, TERN]) == {"entities": []}
    assert server.call("read_graph") == {"entities": [GULL, TERN], "relations": []}


def test_names_are_told_apart_by_case_and_by_every_character(server: Server) -> None:
    odd = [entity(name, " a\n\tb ", type="") for name in ("", "gull", "Gull", " Gull", "Gü'l%_\"")]
    assert server.call("create_entities", entities=odd) == {"entities": odd}
    assert server.call("read_graph")["entities"] == odd
    assert server.call("open_nodes", names=["Gull"])["entities"] == [odd[2]]


def test_of_doubles_in_one_call_the_first_one_is_kept(server: Server) -> None:
    twice = entity("Gull", "leaks", "leaks")
    created = server.call("create_entities", entities=[twice, entity("Gull", "sails")])
    assert created == {"entities": [entity("Gull", "leaks")]}
    assert server.call("create_relations", relations=[TOWS, TOWS]) == {"relations": [TOWS]}
    added = [
        {"entityName": "Gull", "contents": ["rows", "rows"]},
        {"entityName": "Gull", "contents": ["rows"]},
    ]
    assert server.call("add_observations", observations=added)["results"] == [
        {"entityName": "Gull", "addedObservations": ["rows"]},
        {"entityName": "Gull", "addedObservations": []},
    ]


def test_nothing_of_a_call_is_kept_that_names_nobody(server: Server) -> None:
    server.call("create_entities", entities=[GULL])
    added = [{"entityName": name, "contents": ["is wet"]} for name in ("Gull", "Auk")]
    assert (
        server.refused("add_observations", observations=added) == "Entity with name Auk not found"
    )
    assert server.call("read_graph")["entities"] == [GULL]


def test_fields_that_nobody_knows_are_dropped(server: Server) -> None:
    given = {**GULL, "colour": "grey"}
    assert server.call("create_entities", entities=[given], why="no") == {"entities": [GULL]}
    assert server.call("read_graph", depth=3)["entities"] == [GULL]


BAD: list[tuple[str, dict[str, Any]]] = [
    ("create_entities", {}),
    ("create_entities", {"entities": GULL}),
    ("create_entities", {"entities": [{"name": "Gull"}]}),
    ("create_entities", {"entities": [{**GULL, "observations": [1]}]}),
    ("create_relations", {"relations": [{"from": "Gull", "to": "Tern"}]}),
    ("add_observations", {"observations": [{"entityName": "Gull", "contents": "wet"}]}),
    ("delete_entities", {"entityNames": "Gull"}),
    ("delete_observations", {"deletions": [["Gull"]]}),
    ("search_nodes", {}),
    ("open_nodes", {"names": [None]}),
]


def test_what_is_no_argument_is_refused(server: Server) -> None:
    for tool, arguments in BAD:
        assert server.refused(tool, **arguments)


# --- asking ---------------------------------------------------------------------------------------


def test_a_search_is_for_a_piece_of_one_text(server: Server) -> None:
    harbour(server)
    for query, names in (
        ("GULL", ["Gull"]),
        ("boat", ["Gull", "Tern"]),
        ("the STERN", ["Gull"]),
        ("stern 1931", []),
        ("", ["Gull", "Tern"]),
    ):
        graph = server.call("search_nodes", query=query)
        assert [node["name"] for node in graph["entities"]] == names
        assert graph["relations"] == ([TOWS] if names else [])


def test_a_relation_comes_with_either_end_and_needs_no_entity(server: Server) -> None:
    harbour(server)
    loose = relation("Auk", "races", "Tern")
    assert server.call("create_relations", relations=[loose, TOWS]) == {"relations": [loose]}
    graph = server.call("open_nodes", names=["Tern", "Auk"])
    assert graph == {"entities": [TERN], "relations": [TOWS, loose]}
    assert server.call("open_nodes", names=["Auk"]) == NOBODY


# --- taking out -----------------------------------------------------------------------------------


def test_what_is_deleted_is_gone_and_comes_back_at_the_end(server: Server) -> None:
    harbour(server)
    done = server.call("delete_entities", entityNames=["Gull", "Auk"])
    assert done == {"success": True, "message": "Entities deleted successfully"}
    assert server.call("read_graph") == {"entities": [TERN], "relations": []}
    server.call("create_entities", entities=[GULL])
    assert server.call("read_graph") == {"entities": [TERN, GULL], "relations": []}


def test_observations_and_relations_are_deleted_by_what_they_say(server: Server) -> None:
    harbour(server)
    gone = [
        {"entityName": "Gull", "observations": ["leaks at the stern", "never said"]},
        {"entityName": "Auk", "observations": ["is wet"]},
    ]
    assert server.call("delete_observations", deletions=gone)["success"] is True
    assert server.call("delete_relations", relations=[relation("Gull", "owns", "Tern")])["success"]
    left = {"entities": [entity("Gull", "was built in 1931"), TERN], "relations": [TOWS]}
    assert server.call("read_graph") == left
    server.call("delete_relations", relations=[TOWS])
    assert server.call("read_graph")["relations"] == []


# --- facts of the house ---------------------------------------------------------------------------


def test_a_graph_is_facts_with_evidence_that_are_recalled_until_they_are_deleted(
    db: Path, server: Server
) -> None:
    harbour(server)
    with Memory(db, model=None, search_config=None) as memory:
        facts = list(memory.sources.facts(filters=Filters(kinds=[FactKind.GRAPH])))
        assert len(facts) == 6
        assert {fact.trust for fact in facts} == {Trust.DERIVED}
        assert max(fact.confidence for fact in facts) == 0.8
        leaks = next(fact for fact in facts if "stern" in fact.object)
        assert (leaks.subject, leaks.statement) == ("Gull", "Gull: leaks at the stern")
        told = memory.explain(leaks.id)
        assert [piece.quote for piece in told.evidence] == ["Gull: leaks at the stern"]
        memory.embed()
        assert f"f{leaks.id}" in [hit.id for hit in memory.search_memory("which boat leaks?")]
    server.call("delete_entities", entityNames=["Gull"])
    with Memory(db, model=None, search_config=None) as memory:
        hits = memory.search_memory("Gull leaks at the stern")
        assert not [hit for hit in hits if "Gull" in hit.text]
        past = memory.explain(leaks.id)
        assert past.fact.status == "retracted"
        assert [event.op for event in past.history][-1] == "retract"


def test_the_night_leaves_a_graph_as_it_is(db: Path, server: Server) -> None:
    alike = entity("Gull", "leaks at the stern", "is leaking at the stern", "does not leak at all")
    server.call("create_entities", entities=[alike])
    with Memory(db, model=None, search_config=None) as memory:
        memory.embed()
        memory.consolidate()
    assert server.call("read_graph")["entities"] == [alike]


def test_a_secret_is_taken_out_before_anything_is_kept(db: Path, server: Server) -> None:
    created = server.call("create_entities", entities=[entity("Gull", f"its token is {SECRET}")])
    (observed,) = created["entities"][0]["observations"]
    assert SECRET not in observed
    assert "[REDACTED:" in observed
    assert server.call("read_graph")["entities"] == created["entities"]
    again = [{"entityName": "Gull", "contents": [f"its token is {SECRET}"]}]
    assert (
        server.call("add_observations", observations=again)["results"][0]["addedObservations"] == []
    )
    assert SECRET.encode() not in db.read_bytes()
    gone = [{"entityName": "Gull", "observations": [observed]}]
    server.call("delete_observations", deletions=gone)
    assert server.call("read_graph")["entities"] == [entity("Gull")]


def test_a_secret_is_known_by_what_its_entity_is_called_and_what_it_is(
    db: Path, server: Server
) -> None:
    safe = entity("boat shed password", "value: Dohle5519x", "the value is Dohle5520x", "is new")
    drawn = entity("Vlkq5521x", "opens the shed", type="password")
    plain = [
        entity("Office365", "value: rarely used", type="password"),
        entity("net worth", "value: Gross2024", type="figure"),
    ]
    made = server.call("create_entities", entities=[safe, drawn, *plain])["entities"]
    assert made[0]["observations"][2] == "is new"
    assert made[0]["observations"][0].startswith("value: [REDACTED:password")
    assert made[2:] == plain
    server.call(
        "add_observations",
        observations=[{"entityName": "Vlkq5521x", "contents": ["current value: Dohle5522x"]}],
    )
    gone = {"entityName": "boat shed password", "observations": ["value: Dohle5519x"]}
    server.call("delete_observations", deletions=[gone])
    held = json.dumps(server.call("read_graph"))
    assert "value: [" not in held
    assert "the value is [REDACTED:password" in held
    stored = b"".join(file.read_bytes() for file in db.parent.glob(f"{db.name}*"))
    for secret in ("Dohle5519x", "Dohle5520x", "Vlkq5521x"):
        assert secret not in held
        assert secret.encode() not in stored


def test_what_is_a_secret_side_by_side_is_none_apart(db: Path, server: Server) -> None:
    server.call("create_entities", entities=[entity("password", "hunter2Xk9!vQ")])
    assert b"hunter2Xk9!vQ" not in db.read_bytes()
    assert "hunter2Xk9!vQ" not in json.dumps(server.call("read_graph"))


def graph_facts(memory: Memory) -> dict[str, int]:
    lives = memory.store.lives(LifeWhere(owner="me", kinds=[FactKind.GRAPH], current=True))
    return {life.statement: life.id for life in lives}


def test_what_its_owner_called_wrong_is_not_brought_back(db: Path, server: Server) -> None:
    harbour(server)
    with Memory(db, model=None, search_config=None) as memory:
        facts = graph_facts(memory)
        memory.review.feedback(facts["Tern (boat)"], right=False)
        memory.review.feedback(facts["Gull: leaks at the stern"], right=False)
    dry = entity("Gull", "was built in 1931")
    assert server.call("read_graph")["entities"] == [dry]
    server.call("delete_entities", entityNames=["Gull", "Tern"])
    assert server.call("create_entities", entities=[GULL, TERN]) == {"entities": [dry]}
    assert server.call("read_graph")["entities"] == [dry]


def test_what_its_owner_corrected_is_not_brought_back(db: Path, server: Server) -> None:
    harbour(server)
    with Memory(db, model=None, search_config=None) as memory:
        memory.correct(graph_facts(memory)["Tern: is for sale"], "The Tern was sold in May.")
    again = [{"entityName": "Tern", "contents": ["is for sale", "is blue"]}]
    results = server.call("add_observations", observations=again)["results"]
    assert results == [{"entityName": "Tern", "addedObservations": ["is blue"]}]


def test_what_its_owner_stands_for_is_not_deleted(db: Path, server: Server) -> None:
    harbour(server)
    with Memory(db, model=None, search_config=None) as memory:
        pinned = graph_facts(memory)["Gull: leaks at the stern"]
        memory.review.pin(pinned)
    gone = [{"entityName": "Gull", "observations": GULL["observations"]}]
    done = server.call("delete_observations", deletions=gone)
    assert done["success"] is False
    assert f"f{pinned}" in done["message"]
    assert server.call("open_nodes", names=["Gull"])["entities"] == [
        entity("Gull", "leaks at the stern")
    ]


def test_what_was_erased_stays_out(db: Path, server: Server) -> None:
    harbour(server)
    with Memory(db, model=None, search_config=None) as memory:
        memory.erasure.erase_fact(graph_facts(memory)["Gull: leaks at the stern"])
    again = [{"entityName": "Gull", "contents": ["leaks at the stern"]}]
    results = server.call("add_observations", observations=again)["results"]
    assert results == [{"entityName": "Gull", "addedObservations": []}]


def test_only_what_a_graph_holds_is_retracted(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", model=None, search_config=None) as memory:
        told = memory.remember("I sail a boat called Gull.")
        op = RetractFact(fact_id=told.id, rule="graph")
        assert memory._context.write([op], Trigger.USER_MESSAGE).unchanged == 1
        assert memory.sources.fact(told.id).status == told.status
        with pytest.raises(NotAllowed):
            memory._context.write([op], Trigger.SESSION_LOG)


def test_owners_have_a_graph_each(db: Path, server: Server) -> None:
    harbour(server)
    with Server(db, "--profile", "graph", "--owner", "ben") as other:
        assert other.call("read_graph") == NOBODY
        other.call("create_entities", entities=[entity("Auk")])
        other.call("delete_entities", entityNames=["Gull"])
    assert server.call("read_graph") == {"entities": [GULL, TERN], "relations": [TOWS]}


def test_calls_at_once_keep_each_name_once(server: Server) -> None:
    calls = [
        server.send(
            "tools/call",
            {
                "name": "create_entities",
                "arguments": {"entities": [entity("Gull", type=f"t{n % 3}"), entity(f"B{n % 5}")]},
            },
        )
        for n in range(24)
    ]
    for number in calls:
        assert server.wait(number)["result"]["isError"] is False
    names = [node["name"] for node in server.call("read_graph")["entities"]]
    assert sorted(names) == ["B0", "B1", "B2", "B3", "B4", "Gull"]


def test_what_is_read_is_what_anybody_reads_who_has_read_nothing_before(tmp_path: Path) -> None:
    with (
        Memory(tmp_path / "m.db", model=None, search_config=None) as ours,
        Memory(tmp_path / "m.db", model=None, search_config=None) as theirs,
    ):
        secret = f"its token is {SECRET}"
        names = [f"Box {number}" for number in range(40)]
        steps: list[Callable[[], object]] = [
            lambda: ours.graph.create_entities([GraphEntity(n, "crate", [n]) for n in names]),
            lambda: theirs.graph.create_entities([GraphEntity("Gull", "boat", [secret])]),
            lambda: theirs.graph.create_relations([GraphRelation("Gull", "Box 3", "carries")]),
            lambda: theirs.graph.delete_entities(["Box 3", "Box 4"]),
            lambda: theirs.review.feedback(graph_facts(ours)["Box 5: Box 5"], right=False),
            lambda: theirs.erasure.erase_fact(graph_facts(ours)["Box 6: Box 6"]),
            lambda: ours.erasure.erase_fact(graph_facts(ours)["Box 7: Box 7"]),
            lambda: theirs.review.feedback(graph_facts(ours)["Box 5: Box 5"], right=True),
            lambda: ours.graph.create_entities([GraphEntity("Box 3", "tin", ["Box 3"])]),
        ]
        for step in steps:
            step()
            with Memory(tmp_path / "m.db", mode="read") as fresh:
                assert ours.graph.read() == theirs.graph.read() == fresh.graph.read()
            assert SECRET not in str(ours.graph.read())


# --- files ----------------------------------------------------------------------------------------


LINES = (
    '{"type":"entity","name":"Gull","entityType":"boat","observations":["is wet","é ✓"]}\n'
    '{"type":"entity","name":"","entityType":"","observations":[]}\n'
    '{"type":"relation","from":"Gull","to":"Auk","relationType":"tows"}\n'
)


def exported(memory: Memory) -> str:
    from factbook.surface.export import as_graph

    return "".join(as_graph(memory))


def test_a_file_comes_in_and_goes_out_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    path.write_text(LINES, encoding="utf-8")
    with Memory(tmp_path / "m.db", model=None, search_config=None) as memory:
        assert memory.import_(path, dry_run=True).added["entity"] == 2
        assert exported(memory) == ""
        report = memory.import_(path)
        assert report.added == {"entity": 2, "observation": 2, "relation": 1}
        assert exported(memory) == LINES
        again = memory.import_(path)
        assert (again.added, again.known) == ({}, {"entity": 2, "relation": 1})
        assert exported(memory) == LINES
        assert memory.check() == []


def test_a_file_comes_in_as_somebody_s(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    file.write_text(
        '{"type":"entity","name":"Ann","entityType":"person","observations":["tall"]}\n'
    )
    cli("import", file, "--owner", "bob", "--no-embed")
    with Memory(cli.home / "data/factbook/factbook.db", mode="read", model=None) as memory:
        assert [entity.name for entity in memory.graph.read(owner="bob").entities] == ["Ann"]
        assert memory.graph.read().entities == []
    copy = tmp_path / "all.jsonl"
    cli("export", copy, "--all-owners")
    assert "--owner is for a memory.json" in cli("import", copy, "--owner", "bob", code=2).err


def test_a_file_joins_what_is_there_and_names_the_lines_that_it_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    bad = '{"type":"entity","name":"Auk"}\n{"type":\n{"type":"song"}\n'
    path.write_text("\n" + LINES + bad, encoding="utf-8")
    with Memory(tmp_path / "m.db", model=None, search_config=None) as memory:
        memory.graph.create_entities([GraphEntity("Gull", "boat", ["is dry"])])
        memory.graph.create_relations([GraphRelation("Gull", "Auk", "tows")])
        report = memory.import_(path)
        assert report.added == {"entity": 1, "observation": 2}
        assert report.known == {"entity": 1, "relation": 1}
        assert (report.records, report.unread) == (6, 3)
        assert [line.line for line in report.left] == [5, 6, 7]
        graph = memory.graph.read()
        assert graph.entities[0].observations == ["is dry", "is wet", "é ✓"]
        assert len(memory.sources.rejections()) == 3


def test_a_graph_is_in_the_export_of_everything(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    path.write_text(LINES, encoding="utf-8")
    with (
        Memory(tmp_path / "a.db", model=None, search_config=None) as memory,
        Memory(tmp_path / "b.db", model=None, search_config=None) as other,
    ):
        memory.import_(path)
        memory.graph.delete_entities(["Gull"])
        memory.graph.create_entities([GraphEntity("Gull", "boat", ["is wet"])])
        other.import_(memory.export())
        assert exported(other) == exported(memory)
        assert other.check() == []
