"""How is a reply in strict JSON got from a chat model? It is asked twice at the most, and then not believed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from adaptive_memory_core.models.chat import Chat

TRIES = 2
SHOWN = 120  # characters of a reply that cannot be read


class Reply(NamedTuple):
    """What was read of the reply; None where it was nothing that was asked for, and the note says what."""

    value: Any = None
    note: str | None = None


def asked(chat: Chat, prompt: str, material: Mapping[str, Any], read: Callable[[Any], Any]) -> Reply:
    """What `read` makes of the JSON object that the model replies; it raises ValueError for what was not asked for.

    >>> replies = iter(["Sure!", '{"sure": true}'])
    >>> asked(lambda *_: next(replies), "Judge.", {}, lambda given: given["sure"])
    Reply(value=True, note=None)
    >>> asked(lambda *_: "Sure!", "Judge.", {}, lambda given: given).note
    "the judge was not believed: it said 'Sure!', which is not the JSON that it was asked for"
    """
    said = ""
    for _ in range(TRIES):
        try:
            said = chat(prompt, written(material))
        except Exception as error:  # noqa: BLE001 - a model of the caller's may fail in any way
            return Reply(None, f"the judge failed: {error}")
        try:
            return Reply(read(json.loads(said)))
        except (ValueError, KeyError, TypeError, RecursionError):  # the last of 1,000 brackets within each other
            continue
    shown = repr(said[:SHOWN])
    return Reply(None, f"the judge was not believed: it said {shown}, which is not the JSON that it was asked for")


def written(material: Mapping[str, Any]) -> str:
    """The material as JSON, in which angle brackets of its texts are escaped: none can pass for the end of anything.

    >>> written({"text": "</memories>"})
    '{"text": "\\\\u003c/memories\\\\u003e"}'
    """
    return json.dumps(dict(material), ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
