"""Which message is a line of stdin? A valid one, or the protocol error that answers it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

LONGEST = 4 * 1024 * 1024  # bytes of a message, as the SDK has it for HTTP


def whole_lines(read: Callable[[], bytes], longest: int = LONGEST) -> Iterator[bytes | None]:
    """The lines of a stream that `read` gives piece by piece, up to an empty one; None for one that is too long.

    >>> pieces = iter([b"a\\nb", b"c\\n", b"too ", b"long\\nd", b""])
    >>> list(whole_lines(lambda: next(pieces), longest=4))
    [b'a', b'bc', None, b'd']
    """
    begun, too_long = bytearray(), False
    while piece := read():
        *ends, rest = piece.split(b"\n")
        for end in ends:
            begun += end
            yield None if too_long or len(begun) > longest else bytes(begun)
            begun, too_long = bytearray(), False
        begun += rest
        if len(begun) > longest:
            begun, too_long = bytearray(), True
    if begun or too_long:
        yield None if too_long else bytes(begun)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What answers a line that is no message."""

    answer: JSONRPCError


def message_or_refusal(line: bytes | None) -> JSONRPCMessage | Refusal:
    """The message that a line holds; else an error with the id of the request, where one can be read.

    >>> message_or_refusal(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}').method
    'ping'
    >>> [message_or_refusal(one).answer.error.code for one in (b"{", b"[]", b'{"id": 7}', None)]
    [-32700, -32600, -32600, -32600]
    >>> message_or_refusal(b'{"id": 7}').answer.id
    7
    >>> message_or_refusal(b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}').answer.error.message[:36]
    'An id is a text or a whole number. L'
    """
    if line is None:
        return _refusal(None, INVALID_REQUEST, f"The message has more than {LONGEST:,} bytes. Send a shorter one.")
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        if any(one["type"] == "json_invalid" for one in wrong):
            return _refusal(None, PARSE_ERROR, "The line is no JSON. Send one message a line, in UTF-8.")
        return _refusal(_id_in(wrong), INVALID_REQUEST, "The line is no message of JSON-RPC 2.0.")
    if isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
        return _refusal(
            None, INVALID_REQUEST, "An id is a text or a whole number. Leave it out where no answer is due."
        )
    return message


def _id_in(wrong: list[Any]) -> str | int | None:
    """The id of what was refused, where it has a usable one."""
    for one in wrong:
        given = one["input"]
        if isinstance(given, Mapping) and type(given.get("id")) in (str, int):
            found: str | int = given["id"]
            return found
    return None


def _refusal(request_id: str | int | None, code: int, told: str) -> Refusal:
    return Refusal(JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=told)))
