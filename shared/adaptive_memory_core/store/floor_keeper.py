"""When is what unrelated questions find measured? Beside the recalls: where it never was, and as a scope grows."""

from __future__ import annotations

import hashlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from adaptive_memory_core.cue.unrelated import UNRELATED
from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.drive import Flow, attempt, run
from adaptive_memory_core.flow.ports import Store
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.nothing_found import Floor

GROWTH = 1.25  # times as many (or as few) records at which a floor is measured anew; guess
COUNTED_SECONDS = 600.0  # between two looks at how many records a scope has, where nothing was written here
_OURS = frozenset(UNRELATED)
_log = logging.getLogger(__name__)
Measure = Callable[[Scope, Policy, Callable[[], bool]], Flow[object]]


class FloorKeeper:
    """Measures floors one after the other in a thread of its own, which starts when the first is wanted."""

    def __init__(self, embedder: Any, embedder_name: str, store: Store, measure: Measure) -> None:
        self._embedder, self._name, self._store, self._measure = embedder, embedder_name, store, measure
        self._vectors: dict[str, Any] = {}
        self._looked: dict[tuple[Scope, str], float] = {}
        self._wanted: queue.SimpleQueue[tuple[Scope, Policy, Floor | None] | None] = queue.SimpleQueue()
        self._turn, self._stop = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    def manner(self, policy: Policy) -> str:
        """What a floor hangs on besides the records: another embedder or other weights of channels need their own."""
        if policy.ways == ("dense",):
            return f"{self._name}|dense"
        weights = repr((policy.weighing, sorted(policy.own_weights.items()))).encode()
        channels = "+".join(sorted(policy.ways))
        return f"{self._name}|{channels}|{hashlib.blake2b(weights, digest_size=8).hexdigest()}"

    def embed(self, text: str) -> Any:
        """The vector of a question; those of our own are kept, for all scopes are asked the same."""
        vector = self._vectors.get(text)
        if vector is None:
            vector = self._embedder.embed_query(text)
            if text in _OURS:
                self._vectors[text] = vector
        return vector

    def want(self, scope: Scope, policy: Policy, known: Floor | None) -> None:
        """Have it looked after that this floor is there and up to date; returns at once."""
        key, now = (scope, self.manner(policy)), time.monotonic()
        with self._turn:
            if self._stop.is_set() or now - self._looked.get(key, -COUNTED_SECONDS) < COUNTED_SECONDS:
                return
            self._looked[key] = now
            self._wanted.put((scope, policy, known))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="adaptive-memory-floors", daemon=True)
                self._thread.start()

    def wrote(self, scope: Scope) -> None:
        """The scope may have grown: look again when it is recalled from."""
        with self._turn:
            for key in [one for one in self._looked if one[0] == scope]:
                del self._looked[key]

    def close(self) -> None:
        """End what is under way; it begins anew when it is wanted again."""
        with self._turn:
            self._stop.set()
        self._wanted.put(None)
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while (wanted := self._wanted.get()) is not None and not self._stop.is_set():
            outcome = run(attempt(Exception, self._see_to, *wanted))
            if isinstance(outcome.error, AdaptiveMemoryError | OSError) and not self._stop.is_set():
                _log.warning("the relevance floor of a scope could not be measured: %s", outcome.error)
            elif outcome.error is not None and not self._stop.is_set():
                _log.warning("the relevance floor of a scope could not be measured", exc_info=outcome.error)

    def _see_to(self, scope: Scope, policy: Policy, known: Floor | None) -> None:
        records = self._store.count(scope)
        if known is not None and known.records <= GROWTH * records and records <= GROWTH * known.records:
            return
        if records:
            run(self._measure(scope, policy, lambda: not self._stop.is_set()))
