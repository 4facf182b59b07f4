"""A memory whose vectors come from an endpoint: the same file, the same rules, another model."""

from __future__ import annotations

from pathlib import Path

import pytest

from factbook.errors import EmbedderMismatch
from factbook.llm.config import EmbedConfig, ModelConfig
from factbook.memory import Memory
from factbook.testing.model_server import ModelServer, word_vectors


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_vectors_of_an_endpoint_find_what_was_said(provider: str, tmp_path: Path) -> None:
    with ModelServer([], embed=word_vectors(64)) as server:
        url = server.url if provider == "ollama" else f"{server.url}/v1"
        embed = EmbedConfig(provider=provider, model="all-minilm", url=url)
        model = ModelConfig(provider=provider, model="m", url=url, embed=embed)
        with Memory(tmp_path / "a.db", key_file=tmp_path / "key", model=model) as memory:
            memory.add_turn("The ferry to Naxos leaves at noon.", session="s")
            memory.add_turn("My dog is called Rex.", session="s")
            assert memory.embed().receipt.embedded == 2
            hits = memory.recall("when does the ferry leave?").hits
            assert hits[0].text == "The ferry to Naxos leaves at noon."
            assert memory.store.embedder() is not None
            assert memory.check() == []
        # The bundled model gives other vectors: it is named, and nothing is mixed.
        with Memory(tmp_path / "a.db", key_file=tmp_path / "key", model=None) as memory:
            memory.add_turn("Another turn.", session="s")
            with pytest.raises(EmbedderMismatch, match="factbook reembed"):
                memory.embed()
            assert memory.maintenance.reembed() == 2
            assert memory.embed().receipt.embedded == 1
            assert memory.check() == []
