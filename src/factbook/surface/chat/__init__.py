"""A conversation in a terminal, or through a pipe."""

from __future__ import annotations

from factbook.surface.chat.conversation import Chat, reaction_in

__all__ = ["Chat", "reaction_in"]
