"""A language model, when there is one: it proposes JSON, code decides. Off unless configured."""

from factbook.llm.base import LLM, Call, Message, Meter, Piece, Tool, ToolCall

__all__ = ["LLM", "Call", "Message", "Meter", "Piece", "Tool", "ToolCall"]
