"""Which replies are known already? Those that a file holds, a line each: a run that broke off goes on from there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, how long it took, and the tokens as its server counted them."""

    text: str
    seconds: float
    input_tokens: int
    output_tokens: int


class Replies:
    """The replies in a file of JSON lines. A line that a killed run left torn is passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Reply] = {}
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, UnicodeError) as error:
            raise InvalidInputError(f"The replies in {path} cannot be read: {error}. Name another `cache`.") from error
        self._before = "" if not text or text.endswith("\n") else "\n"  # ends a line that a killed run left torn
        for line in text.split("\n"):
            self._take(line)

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> Reply | None:
        return self._known.get(key)

    def keep(self, key: str, reply: Reply) -> None:
        """Write it down before the next one is asked for."""
        self._known[key] = reply
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": key, **asdict(reply)})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{self._before}{line}\n")
        self._before = ""

    def _take(self, line: str) -> None:
        try:
            row = json.loads(line)
            key = row.pop("key")
            self._known[key] = Reply(**row)
        except (ValueError, TypeError, KeyError, AttributeError):
            return  # torn


def key_of(request: Mapping[str, Any], server: str | None) -> str:
    """A name of exactly this request to this server.

    >>> key_of({"model": "m"}, None) == key_of({"model": "m"}, "http://localhost:8000/v1")
    False
    """
    told = json.dumps({"server": server, **request}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
