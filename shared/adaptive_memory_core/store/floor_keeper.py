"""When are relevance floors measured? In the background: where there is none, and when a scope has grown."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from adaptive_memory_core.cue.unrelated_elsewhere import ENGLISH, UNRELATED_IN
from adaptive_memory_core.flow.calls.drive import Flow, run
from adaptive_memory_core.flow.ports import Embedder, Records
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.nothing_found import Floor
from adaptive_memory_core.store.background import Going

GROWTH = 1.25  # times as many (or as few) records at which a floor is measured anew; guess
COUNTED_SECONDS = 600.0  # between two looks at how many records a scope has, where nothing was written here
_OURS = frozenset(one for questions in UNRELATED_IN.values() for one in questions)
Measure = Callable[[Scope, Policy, str, Going], Flow[object]]


class RememberingEmbedder:
    """An embedder that keeps the vectors of our own questions, for all scopes are asked the same."""

    can_wait = False
    can_wait_for_documents = False

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Any] = {}

    def embed_query(self, text: str) -> Any:
        vector = self._vectors.get(text)
        if vector is None:
            vector = self._embedder.embed_query(text)
            if text in _OURS:
                self._vectors[text] = vector
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Any]:
        return self._embedder.embed_documents(texts)

    async def aembed_query(self, text: str) -> Any:
        return self.embed_query(text)

    async def aembed_documents(self, texts: Sequence[str]) -> Sequence[Any]:
        return self.embed_documents(texts)


class FloorKeeper:
    """Measures the floors that are wanted, one after the other, in the background."""

    name = "relevance floors"

    def __init__(
        self, embedder: Embedder, embedder_name: str, store: Records, measure: Measure, wake: Callable[[], object]
    ) -> None:
        self._name, self._store = embedder_name, store
        self._measure, self._wake = measure, wake
        self.embedder = RememberingEmbedder(embedder)
        self._looked: dict[tuple[Scope, str], float] = {}
        self._wanted: deque[tuple[Scope, Policy, str, Floor | None]] = deque()
        self._turn = threading.Lock()

    def manner(self, policy: Policy, language: str = ENGLISH) -> str:
        """What a floor hangs on besides the records: another embedder, other weights of channels or questions in
        another language need their own."""
        asked = f"|{language}" if language else ""
        if policy.ways == ("dense",):
            return f"{self._name}|dense{asked}"
        weights = repr((policy.weighing, sorted(policy.own_weights.items()))).encode()
        channels = "+".join(sorted(policy.ways))
        return f"{self._name}|{channels}|{hashlib.blake2b(weights, digest_size=8).hexdigest()}{asked}"

    def want(self, scope: Scope, policy: Policy, known: Floor | None, language: str = ENGLISH) -> None:
        """Have it looked after that this floor is there and up to date; returns at once."""
        key, now = (scope, self.manner(policy, language)), time.monotonic()
        with self._turn:
            if now - self._looked.get(key, -COUNTED_SECONDS) < COUNTED_SECONDS:
                return
            self._looked[key] = now
            self._wanted.append((scope, policy, language, known))
        self._wake()

    def wrote(self, scope: Scope) -> None:
        """The scope may have grown: look again when it is recalled from."""
        with self._turn:
            for key in [one for one in self._looked if scope.own in one[0].parts]:
                del self._looked[key]

    def wait(self) -> float | None:
        return 0.0 if self._wanted else None

    def work(self, going: Going) -> None:
        """See to the floor that was wanted first; one that cannot be measured is seen to when it is wanted again."""
        scope, policy, language, known = self._wanted.popleft()
        records = self._store.count(scope)
        if known is not None and known.records <= GROWTH * records and records <= GROWTH * known.records:
            return
        if records:
            run(self._measure(scope, policy, language, going))
