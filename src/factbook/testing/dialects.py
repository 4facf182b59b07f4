"""How two protocols write a reply down: OpenAI's and Ollama's, whole or streamed."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.client import responses
from typing import Any, Final

from factbook.testing.replies import Reply, Request

MODEL_PATHS: Final = frozenset(
    {"/api/chat", "/api/embed", "/v1/chat/completions", "/v1/embeddings"}
)

# Content that is no UTF-8 is put in after the JSON is written: JSON itself cannot carry it.
_PLACE: Final = "@@factbook:bytes@@"
_ERROR_TYPES: Final = {429: "requests", 403: "permission_error"}
_DIGEST: Final = "845dbda0ea48ed749caafd9e6037047aa19acfcfd82e704d7ca97d631a0b697e"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    code: int
    content_type: str
    pieces: Sequence[bytes]  # the body; one piece is one event, where it is streamed
    streamed: bool = False
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What the server says of its models."""

    models: Sequence[str]  # the names that it lists
    any_model: bool  # answer for other names too
    context_length: int
    dimension: int  # of an embedding
    version: str  # of Ollama


class BadRequest(Exception):
    """The request is not one that the real servers take."""

    def __init__(self, message: str, *, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status  # of HTTP
        self.code = code  # the word that OpenAI's error object has for it


def is_ollama(path: str) -> bool:
    """Say whether a path belongs to Ollama's own protocol."""
    return path.startswith("/api/")


def render(request: Request, reply: Reply) -> Wire:
    ollama = is_ollama(request.path)
    if reply.echoes:
        asked = json.dumps(request.schema) if reply.echoes == "schema" else request.prompt
        reply = replace(reply, content=asked)
    if reply.body is not None:
        kind = reply.content_type or "application/json"
        return Wire(code=reply.code, content_type=kind, pieces=[reply.body], headers=reply.headers)
    if reply.code >= 300:
        message = reply.content or responses.get(reply.code, "unknown status")
        return _error(request, message, reply.code, reply=reply)
    if request.path not in MODEL_PATHS:  # a route of its own: what is said is the body
        said = reply.content or ""
        body = said if isinstance(said, bytes) else said.encode()
        kind = reply.content_type or "application/json"
        return Wire(code=reply.code, content_type=kind, pieces=[body], headers=reply.headers)
    if request.path in ("/api/embed", "/v1/embeddings"):
        if reply.embeddings is None:
            return _error(request, "the script has no vectors for this request", 500)
        events: Iterator[dict[str, Any]] = iter([_embeddings(request, reply, ollama=ollama)])
        streamed = False
    elif reply.embeddings is not None:
        return _error(request, "the script has vectors, but this request is a chat", 500)
    else:
        streamed = bool(request.body.get("stream", ollama))  # Ollama streams unless told not to
        events = (_ollama_chat if ollama else _openai_chat)(request, reply, streamed=streamed)
    return _wire(reply, list(events), ollama=ollama, streamed=streamed)


def refuse(request: Request, problem: BadRequest) -> Wire:
    return _error(request, problem.message, problem.status, word=problem.code)


def _error(
    request: Request,
    message: str | bytes,
    status: int,
    *,
    word: str | None = None,
    reply: Reply | None = None,
) -> Wire:
    text = message if isinstance(message, str) else message.decode("utf-8", "replace")
    body: Any = {"error": text}
    if not is_ollama(request.path):
        kind = (
            "server_error" if status >= 500 else _ERROR_TYPES.get(status, "invalid_request_error")
        )
        body = {"error": {"message": text, "type": kind, "param": None, "code": word}}
    for change in reply.changes if reply else ():
        body = change(body)
    return Wire(
        code=status,
        content_type="application/json",
        pieces=[json.dumps(body).encode()],
        headers=reply.headers if reply else {},
    )


def _wire(reply: Reply, events: Sequence[dict[str, Any]], *, ollama: bool, streamed: bool) -> Wire:
    pieces = []
    for event in events:
        value: Any = event
        for change in reply.changes:
            value = change(value)
        data = _with_bytes(json.dumps(value, separators=(",", ":")).encode(), reply.content)
        if not streamed:
            pieces.append(data)
        else:
            pieces.append(data + b"\n" if ollama else b"data: " + data + b"\n\n")
    if streamed and not ollama:
        pieces.append(b"data: [DONE]\n\n")
    own = "application/json"
    if streamed:
        own = "application/x-ndjson" if ollama else "text/event-stream; charset=utf-8"
    elif ollama:
        own = "application/json; charset=utf-8"
    return Wire(
        code=reply.code,
        content_type=reply.content_type or own,
        pieces=pieces,
        streamed=streamed,
        headers=reply.headers,
    )


def _with_bytes(data: bytes, content: str | bytes | None) -> bytes:
    """Put content that may be no UTF-8 where the JSON holds its place."""
    if not isinstance(content, bytes):
        return data
    plain = re.sub(
        rb'[\x00-\x1f"\\]', lambda match: b"\\u%04x" % match.group()[0], content, flags=re.DOTALL
    )
    return data.replace(_PLACE.encode(), plain)


def _said(reply: Reply) -> str | None:
    return _PLACE if isinstance(reply.content, bytes) else reply.content


def _tokens(text: str) -> int:
    """Estimate how many tokens a text has: a real count is the tokenizer's, which is not here."""
    return (len(text) + 3) // 4


def _usage(request: Request, reply: Reply) -> tuple[int, int]:
    if reply.tokens is not None:
        return reply.tokens
    said = reply.content or ""
    answer = said if isinstance(said, str) else said.decode("utf-8", "replace")
    spent = _tokens(answer) + sum(
        _tokens(json.dumps(dict(call), default=str)) for call in reply.calls
    )
    return _tokens(request.prompt) + 4 * len(request.messages), spent


def _pieces_of(text: str) -> list[str]:
    """Cut a text into what a model streams: about a word at a time."""
    return re.findall(r"\s*[^\s]{1,12}|\s+$", text) if text != _PLACE else [text]


def _arguments(call: Mapping[str, Any]) -> str:
    given = call.get("arguments", {})
    return given if isinstance(given, str) else json.dumps(given)


def _openai_chat(request: Request, reply: Reply, *, streamed: bool) -> Iterator[dict[str, Any]]:
    said = _said(reply)
    content, refusal = (None, said) if reply.refused else (said, None)
    calls = [
        {
            "id": str(call.get("id", f"call_{request.number}_{at}")),
            "type": "function",
            "function": {"name": str(call["name"]), "arguments": _arguments(call)},
        }
        for at, call in enumerate(reply.calls)
    ]
    prompt, answer = _usage(request, reply)
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
    }
    head = {
        "id": f"chatcmpl-{request.number}",
        "object": "chat.completion.chunk" if streamed else "chat.completion",
        "created": request.at // 1000,
        "model": request.model,
        "system_fingerprint": "fp_factbook",
    }
    if not streamed:
        message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": refusal}
        if calls:
            message["tool_calls"] = calls
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": reply.finish,
        }
        yield {**head, "choices": [choice], "usage": usage}
        return

    def event(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice]}

    yield event({"role": "assistant", "content": None if refusal or calls else "", "refusal": None})
    for piece in _pieces_of(content or ""):
        yield event({"content": piece})
    for piece in _pieces_of(refusal or ""):
        yield event({"refusal": piece})
    for at, call in enumerate(calls):
        function: Any = call["function"]
        opened = {**call, "index": at, "function": {**function, "arguments": ""}}
        yield event({"tool_calls": [opened]})
        for piece in _pieces_of(function["arguments"]):
            yield event({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    yield event({}, reply.finish)
    options = request.body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        yield {**head, "choices": [], "usage": usage}


def _ollama_chat(request: Request, reply: Reply, *, streamed: bool) -> Iterator[dict[str, Any]]:
    said = _said(reply) or ""
    calls = []
    for at, call in enumerate(reply.calls):
        text = _arguments(call)
        try:
            arguments: object = json.loads(text)
        except ValueError:
            arguments = text  # what a broken server would send
        function = {"index": at, "name": str(call["name"]), "arguments": arguments}
        made = f"call_{request.number}_{at}"
        calls.append({"id": str(call.get("id", made)), "function": function})
    prompt, answer = _usage(request, reply)
    head = {"model": request.model, "created_at": _moment(request)}
    last = {
        "done": True,
        "done_reason": "stop" if reply.finish == "tool_calls" else reply.finish,
        "total_duration": 2_000_000 * (answer + 1),
        "load_duration": 1_000_000,
        "prompt_eval_count": prompt,
        "prompt_eval_duration": 500_000,
        "eval_count": answer,
        "eval_duration": 1_500_000 * (answer + 1),
    }

    def message(text: str, asked: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
        made: dict[str, Any] = {"role": "assistant", "content": text}
        if asked:
            made["tool_calls"] = list(asked)
        return made

    if not streamed:
        yield {**head, "message": message(said, calls), **last}
        return
    for piece in _pieces_of(said):
        yield {**head, "message": message(piece), "done": False}
    for call in calls:
        yield {**head, "message": message("", [call]), "done": False}
    yield {**head, "message": message(""), **last}


def _moment(request: Request) -> str:
    at = datetime.fromtimestamp(request.at / 1000, UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"  # Go writes nanoseconds


def _embeddings(request: Request, reply: Reply, *, ollama: bool) -> dict[str, Any]:
    vectors = reply.embeddings or []
    spent = reply.tokens[0] if reply.tokens else sum(_tokens(text) for text in request.inputs)
    if ollama:
        return {
            "model": request.model,
            "embeddings": [list(vector) for vector in vectors],
            "total_duration": 3_000_000,
            "load_duration": 1_000_000,
            "prompt_eval_count": spent,
        }
    packed = request.body.get("encoding_format") == "base64"
    return {
        "object": "list",
        "data": [
            {
                "object": "embedding",
                "index": at,
                "embedding": _base64(vector) if packed else list(vector),
            }
            for at, vector in enumerate(vectors)
        ],
        "model": request.model,
        "usage": {"prompt_tokens": spent, "total_tokens": spent},
    }


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def about(request: Request, catalogue: Catalogue) -> Wire | None:
    """Answer a request for the models or the version; None where the path is another one."""
    path = request.path
    answer: object
    if path == "/":
        return Wire(code=200, content_type="text/plain", pieces=[b"Ollama is running"], headers={})
    if path == "/v1/models":
        answer = {"object": "list", "data": [_openai_model(name) for name in catalogue.models]}
    elif path.startswith("/v1/models/"):
        name = path.removeprefix("/v1/models/")
        _known(request, name, catalogue)
        answer = _openai_model(name)
    elif path == "/api/tags":
        answer = {"models": [_ollama_model(name) for name in catalogue.models]}
    elif path == "/api/version":
        answer = {"version": catalogue.version}
    elif path == "/api/show":
        name = _text_field(request, "model")
        _known(request, name, catalogue)
        answer = _show(name, catalogue)
    else:
        return None
    kind = "application/json; charset=utf-8" if is_ollama(path) else "application/json"
    return Wire(code=200, content_type=kind, pieces=[json.dumps(answer).encode()], headers={})


def _openai_model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 1_760_000_000, "owned_by": "factbook"}


def _details() -> dict[str, object]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": "qwen2",
        "families": ["qwen2"],
        "parameter_size": "7.6B",
        "quantization_level": "Q4_K_M",
    }


def _ollama_model(name: str) -> dict[str, object]:
    return {
        "name": name,
        "model": name,
        "modified_at": "2025-10-01T12:00:00.000000000Z",
        "size": 4_683_087_332,
        "digest": _DIGEST,
        "details": _details(),
    }


def _show(name: str, catalogue: Catalogue) -> dict[str, object]:
    return {
        "modelfile": f"FROM {name}",
        "parameters": "",
        "template": "{{ .Prompt }}",
        "details": _details(),
        "model_info": {
            "general.architecture": "qwen2",
            "general.parameter_count": 7_615_616_512,
            "qwen2.context_length": catalogue.context_length,
            "qwen2.embedding_length": catalogue.dimension,
        },
        "capabilities": ["completion", "tools"],
        "modified_at": "2025-10-01T12:00:00.000000000Z",
    }


def check(request: Request, catalogue: Catalogue) -> None:
    """Raise BadRequest where the real servers would not take a chat or an embedding."""
    if request.method != "POST":
        raise BadRequest(f"{request.method} is not allowed here", status=405)
    if not isinstance(request.body, dict):
        raise BadRequest("the body is not a JSON object")
    name = _text_field(request, "model")
    _known(request, name, catalogue)
    if request.path in ("/api/embed", "/v1/embeddings"):
        given = request.body.get("input")
        if not isinstance(given, str) and not (
            isinstance(given, list) and all(isinstance(item, str) for item in given)
        ):
            raise BadRequest("'input' has to be a text or a list of texts")
        return
    messages = request.body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("'messages' has to be a list with at least one message")
    for at, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("system", "developer", "user", "assistant", "tool"):
            raise BadRequest(f"Invalid value for 'messages[{at}].role': {role!r}")
    limit = catalogue.context_length
    if is_ollama(request.path):
        _check_ollama(request.body)
        asked = (request.body.get("options") or {}).get("num_ctx")
        limit = min(limit, asked) if isinstance(asked, int) else limit
        # unless it is told not to, it cuts a prompt that is too long and says nothing
        if request.body.get("truncate") is False and _tokens(request.prompt) > limit:
            raise BadRequest("the input length exceeds the context length")
    else:
        _check_openai(request.body)
        if _tokens(request.prompt) > limit:
            raise BadRequest(
                f"This model's maximum context length is {limit} tokens.",
                code="context_length_exceeded",
            )


def _check_ollama(body: Mapping[str, Any]) -> None:
    wanted = body.get("format")
    if wanted not in (None, "", "json") and not isinstance(wanted, dict):
        raise BadRequest(f'invalid format: {json.dumps(wanted)}; expected "json" or a JSON schema')
    if not isinstance(body.get("options", {}) or {}, dict):
        raise BadRequest("'options' has to be an object")


def _check_openai(body: Mapping[str, Any]) -> None:
    for at, message in enumerate(body["messages"]):
        if message["role"] == "tool" and not isinstance(message.get("tool_call_id"), str):
            raise BadRequest(f"Missing parameter 'messages[{at}].tool_call_id'")
    for at, tool in enumerate(body.get("tools") or []):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.get("type") != "function":
            raise BadRequest(f"Invalid value for 'tools[{at}]'")
        _check_name(function.get("name"), f"tools[{at}].function.name")
    wanted = body.get("response_format")
    if wanted is None:
        return
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if kind not in ("text", "json_object", "json_schema"):
        raise BadRequest(f"Invalid value for 'response_format.type': {kind!r}")
    if kind != "json_schema":
        return
    form = wanted.get("json_schema")
    if not isinstance(form, dict):
        raise BadRequest("Missing required parameter: 'response_format.json_schema'")
    _check_name(form.get("name"), "response_format.json_schema.name")
    schema = form.get("schema")
    if not isinstance(schema, dict):
        raise BadRequest("Missing required parameter: 'response_format.json_schema.schema'")
    if form.get("strict"):
        if schema.get("type") != "object":
            raise _bad_schema(form["name"], (), "the top has to be of the type object")
        _check_strict(schema, form["name"], ())


def _check_name(name: object, where: str) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        raise BadRequest(f"Invalid '{where}': {name!r}")


def _bad_schema(name: str, where: tuple[str, ...], problem: str) -> BadRequest:
    return BadRequest(f"Invalid schema for response_format '{name}': In context={where}, {problem}")


def _check_strict(schema: Mapping[str, Any], name: str, where: tuple[str, ...]) -> None:
    """Hold a schema to the subset that is allowed under "strict": true."""
    if "$ref" in schema and len(schema) > 1:
        raise _bad_schema(name, where, "$ref cannot have keywords beside it")
    for word in ("default", "allOf", "oneOf", "not", "if", "patternProperties"):
        if word in schema:
            raise _bad_schema(name, where, f"'{word}' is not permitted")
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            raise _bad_schema(name, where, "'additionalProperties' has to be given, and false")
        left_out = sorted(set(schema.get("properties", {})) - set(schema.get("required", [])))
        if left_out:
            raise _bad_schema(name, where, f"'required' has to name every key; missing {left_out}")
    for part in ("properties", "$defs", "definitions"):
        for key, inner in schema.get(part, {}).items():
            _check_strict(inner, name, (*where, part, key))
    if isinstance(schema.get("items"), dict):
        _check_strict(schema["items"], name, (*where, "items"))
    for at, inner in enumerate(schema.get("anyOf", [])):
        _check_strict(inner, name, (*where, "anyOf", str(at)))


def _text_field(request: Request, name: str) -> str:
    value = request.body.get(name) if isinstance(request.body, dict) else None
    if not isinstance(value, str) or not value:
        raise BadRequest(f"you must provide a {name}")
    return value


def _known(request: Request, name: str, catalogue: Catalogue) -> None:
    if catalogue.any_model or name in catalogue.models:
        return
    message = (
        f"model '{name}' not found"
        if is_ollama(request.path)
        else f"The model `{name}` does not exist or you do not have access to it."
    )
    raise BadRequest(
        message, status=404, code=None if is_ollama(request.path) else "model_not_found"
    )
