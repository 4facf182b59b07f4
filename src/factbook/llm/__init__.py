"""A language model, when there is one: it proposes JSON, code decides. Off unless configured.

Knows: how to ask an endpoint, and what counts as an answer. Does not know: what is asked, or what
becomes of it. This package itself is words alone (messages, calls, the protocol); `llm.config`
says which model and what it costs, `llm.client` opens it, `llm.probe` says what it can.
"""

from factbook.llm.base import LLM, AnswerPart, Message, Meter, ModelCall, Tool, ToolCall

__all__ = ["LLM", "AnswerPart", "Message", "Meter", "ModelCall", "Tool", "ToolCall"]
