"""How factbook's own text and tools are known again when an agent's log brings them back.

Whoever injects or serves takes them from here, and the readers of logs subtract by them. Imports
the standard library alone: hooks load this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SERVER: Final = "factbook"
"""The name that factbook's MCP server and its plug-ins go by, unless somebody gives another."""

MEMORY_TAG: Final = "factbook-memory"
"""What is injected stands between `<factbook-memory ids="...">` and `</factbook-memory>`."""

_RECEIPT: Final = frozenset({"stored", "updated", "unchanged", "proposed", "rejected"})

TOOL_RESULTS: Final[Mapping[str, frozenset[str]]] = {
    "search_memory": frozenset({"memories", "waiting"}),
    "explain_memory": frozenset({"memory", "status", "evidence", "history"}),
    "get_context": frozenset({"text", "included", "left_out", "tokens"}),
    "timeline": frozenset({"days"}),
    "remember": _RECEIPT,
    "correct_memory": _RECEIPT,
    "forget_memory": _RECEIPT,
    "apply_facts": _RECEIPT,
}
"""The tools of the MCP server, each with names that the JSON object of its result always has.

Other memories have tools of the same names: where the server's name does not say that it is
factbook, the result has to."""

_GRAPH: Final = """
add_observations create_entities create_relations delete_entities delete_observations
delete_relations open_nodes read_graph search_nodes
"""
GRAPH_TOOLS: Final = frozenset(_GRAPH.split())
"""The tools of the graph profile, which many servers have."""

_WORKING: Final = """
consolidate doctor embed erase export extract import ingest install install-timer mcp predicates
reembed reread secrets stats version worker
"""
WORKING_COMMANDS: Final = frozenset(_WORKING.split())
"""Commands of the command line that do some work: that one was run is worth knowing. All others
ask memory something or tell it something, and come back as an echo."""
