"""The systems that can be compared: this project's memory under any policy, plain Chroma, BM25, and your own."""

from __future__ import annotations

import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.blocks import session_blocks
from adaptive_memory_core.errors import InvalidInputError, MissingExtraError
from adaptive_memory_core.evaluate.datasets import Item
from adaptive_memory_core.evaluate.tokens_shown import ShownUnit
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.models.extras import named_object
from adaptive_memory_core.policy import Keeping, Policy
from adaptive_memory_core.reports import Stats

if TYPE_CHECKING:
    from chromadb import Collection
from adaptive_memory_core.context.render import BLOCK_SHARES


class SystemQuery(NamedTuple):
    """One question: who asks it, when (POSIX seconds), for how many hits, and whether they count as read."""

    user: str
    text: str
    k: int
    now: float
    reading: bool = False


class SystemResult(NamedTuple):
    """The ids, best first. `units` returns the ids that are shown together; without it each id is shown alone. `page`
    renders a page for a chat model within a token budget; without it, the texts in order. Neither is timed."""

    ids: Sequence[str]
    units: Callable[[], Sequence[ShownUnit]] | None = None
    page: Callable[[int], str] | None = None


class System(Protocol):
    """Anything that finds texts. `prepare` is called before each `ask` and is not timed."""

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:
        """Take in a user's texts, in their order; called once for each user."""
        ...

    def prepare(self, asked: SystemQuery) -> None: ...

    def ask(self, asked: SystemQuery) -> SystemResult: ...

    def figures(self) -> Sequence[Mapping[str, float]]:
        """Figures about the system at the end, one row per user; may be empty."""
        ...

    def close(self) -> None: ...


Maker = Callable[[Embedder, Mapping[str, Any]], System]


HERE = "adaptive_memory_core.evaluate.systems"
PLACES: Mapping[str, str] = {
    "chroma": f"{HERE}:PlainChroma",
    "bm25": f"{HERE}:ByWords",
    "langchain_time_weighted": "langchain_adaptive_memory.time_weighted:TimeWeighted",
    "llama_time_weighted": "llama_adaptive_memory.time_weighted:TimeWeighted",
    "adaptive": f"{HERE}:Adaptive",
}
EXTRAS: Mapping[str, str] = {"langchain_time_weighted": "peers", "llama_time_weighted": "peers"}
POLICIES: Mapping[str, Policy] = {  # names for `adaptive` under a policy
    "static": Policy.preset("balanced").replace(decay={"rate": 1.0}),  # the profile's ranking, without decay
    "dynamic": Policy.preset("balanced"),
    "graph": Policy(channels=("dense", "lexical", "graph")),
    "hierarchy": Policy(shape="episodes"),
}
ABOUT_SYSTEMS: Mapping[str, str] = {
    "chroma": "the nearest texts, from Chroma's own index",
    "bm25": "the words of the question, textbook BM25",
    "langchain_time_weighted": "LangChain's TimeWeightedVectorStoreRetriever over Chroma",
    "llama_time_weighted": "LlamaIndex's TimeWeightedPostprocessor over its Chroma store",
    "adaptive": "this project's memory",
    "static": "this project's memory by vectors alone, nothing fades",
    "dynamic": "this project's memory under ARM's balanced profile",
    "graph": "this project's memory with vectors, words and graph",
    "hierarchy": "this project's memory, answers as episodes",
}
NAMES = (*PLACES, *POLICIES)


def system_of(use: str, embedder: Embedder, settings: Mapping[str, Any]) -> System:
    """Create a system; its `settings` override the policy of a name such as "static"."""
    if use in POLICIES:
        settings = {"policy": POLICIES[use], **settings}
    return _maker(PLACES["adaptive"] if use in POLICIES else PLACES.get(use, use), use)(embedder, settings)


def _maker(place: str, use: str) -> Maker:
    try:
        maker: Maker = named_object(place)
    except MissingExtraError:
        raise
    except ImportError as error:
        if use in EXTRAS and error.name:
            raise MissingExtraError.of(error.name, EXTRAS[use]) from error
        raise _unknown(use, error) from error
    return maker


def _unknown(use: str, error: Exception) -> InvalidInputError:
    return InvalidInputError(
        f"There is no system {use!r}: {error}. Give one of {', '.join(NAMES)}, or your own class as MODULE:NAME, "
        "which Python can import; evaluate/systems.py describes its methods."
    )


class Adaptive:
    """A memory in a directory. Its clock is set to the time of each query. `settings["policy"]` is its policy."""

    def __init__(self, embedder: Embedder, settings: Mapping[str, Any]) -> None:
        self._policy: Policy = settings.get("policy", Policy())
        self._now, self._users = 0.0, list[str]()
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # on Windows a file may be open
        keeping = Keeping(log=False, lag_seconds=3600)  # nothing is written back meanwhile
        place = Path(self._folder.name, "memory")
        self.memory = AdaptiveMemory.open(
            place, embedder=embedder, policy=self._policy, clock=lambda: self._now, keeping=keeping
        )

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:
        self._now, whose = now, self.memory.for_user(user)
        self._users.append(user)
        if self._policy.shape != "flat" and all(item.session is not None for item in items):
            whose.observe([_message_arguments(item) for item in items])
            whose.themes()
        else:
            alone = self._policy.channels == ("dense",)  # no channel reads metadata, so the speaker is in the text
            whose.remember_many([_text_arguments(item) if alone else _record_arguments(item) for item in items])

    def prepare(self, asked: SystemQuery) -> None:
        self._now = asked.now

    def ask(self, asked: SystemQuery) -> SystemResult:
        recall = self.memory.for_user(asked.user).recall(asked.text, k=asked.k, reinforce=asked.reading)
        return SystemResult(recall.ids, lambda: units_of(recall), lambda tokens: recall.render(max_tokens=tokens))

    def figures(self) -> Sequence[Mapping[str, float]]:
        return [_arm_figures(self.memory.for_user(user).stats()) for user in self._users]

    def close(self) -> None:
        self.memory.close()
        self._folder.cleanup()


def units_of(recall: Recall) -> list[ShownUnit]:
    """The units of a recall's page, in the order in which the page is filled; each unit in conversation order."""
    merge = BLOCK_SHARES[recall.policy.shape]
    whole = session_blocks(list(recall), recall.neighbours, merge=merge, fields=recall.fields, outline=recall.outline)
    found = []
    for unit in whole.by_worth:
        if whole.lines[unit[0]].fact:
            continue
        lines = sorted((whole.lines[number] for number in unit), key=lambda line: line.order)
        found.append(ShownUnit(lines[0].block, [line.record.id for line in lines if not line.fact]))
    return found


def _arm_figures(stats: Stats) -> dict[str, float]:
    """The figures that the ARM paper reports for a memory."""
    figures = {"remembered": stats.remembered_fraction, "stale norm": stats.strengths.stale_norm}
    figures |= {"reads per recall": stats.reads_per_recall} if stats.reads else {}
    figures |= {"memory size": stats.strengths.size / stats.records} if stats.records else {}
    return figures | ({} if stats.update_ms is None else {"update ms": stats.update_ms})


def _text_arguments(item: Item) -> dict[str, Any]:
    """Arguments of `remember_many`, with the title or speaker in the text."""
    return {"text": item.labelled_text, "id": item.id, "created_at": item.ts}


def _record_arguments(item: Item) -> dict[str, Any]:
    """Arguments of `remember_many`, with the speaker, session and position as metadata, and a title in the text."""
    if item.speaker is None:
        arguments = _text_arguments(item)
        return arguments if item.session is None else arguments | {"metadata": _known_fields(item, ("session", "seq"))}
    known = _known_fields(item, ("speaker", "session", "seq"))
    return {"text": item.text, "id": item.id, "created_at": item.ts, "metadata": known}


def _message_arguments(item: Item) -> dict[str, Any]:
    """A message as `observe` takes it."""
    known = _known_fields(item, ("speaker", "session", "seq"))
    return {"id": item.id, "text": item.text} | known | ({} if item.ts is None else {"at": item.ts})


def _known_fields(item: Item, names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(item, name)) is not None}


SATURATION, LENGTH = 0.9, 0.4  # k1 and b, as in Anserini


class BM25:
    """BM25 scores of all texts for a question, over stemmed words without stop words.

    >>> BM25(["green tea", "the blue room", "green leaves"])("What is blue?").argmax().item()
    1

    Source: Robertson and Zaragoza, The probabilistic relevance framework: BM25 and beyond (2009).
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(words(text)) for text in texts]
        long = np.array([sum(one.values()) for one in counts], dtype=float)
        self._held_back = SATURATION * (1 - LENGTH + LENGTH * long / max(1.0, long.mean())) if counts else long
        self._postings: dict[str, dict[int, int]] = {}
        for number, one in enumerate(counts):
            for word, times in one.items():
                self._postings.setdefault(word, {})[number] = times

    def __call__(self, query: str) -> Any:
        found = np.zeros(len(self._held_back))
        for word in words(query):
            own = self._postings.get(word, {})
            places, times = np.array(list(own), dtype=int), np.array(list(own.values()), dtype=float)
            rare = np.log(1 + (len(found) - len(own) + 0.5) / (len(own) + 0.5))
            found[places] += rare * times * (1 + SATURATION) / (times + self._held_back[places])
        return found


class ByWords:
    """A BM25 index per user; texts that share no word with the question are not found."""

    def __init__(self, _: Embedder, __: Mapping[str, Any]) -> None:
        self._indexes: dict[str, tuple[list[str], BM25]] = {}

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:  # noqa: ARG002 - it knows no time
        self._indexes[user] = [item.id for item in items], BM25([item.labelled_text for item in items])

    def prepare(self, asked: SystemQuery) -> None:
        """Do nothing."""

    def ask(self, asked: SystemQuery) -> SystemResult:
        if asked.user not in self._indexes:
            return SystemResult([])
        ids, index = self._indexes[asked.user]
        scores = index(asked.text)
        best = np.argsort(-scores, kind="stable")[: asked.k].tolist()
        return SystemResult([ids[number] for number in best if scores[number] > 0])

    def figures(self) -> Sequence[Mapping[str, float]]:
        return ()

    def close(self) -> None:
        self._indexes.clear()


class OnDisk:
    """An embedded Chroma in a temporary directory."""

    def __init__(self) -> None:
        import chromadb  # takes a second, so reading a plan does not import it

        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # Windows: a file may still be open
        self.client = chromadb.PersistentClient(Path(self._folder.name))

    def new_collection(self) -> Collection:
        """Create an empty collection with cosine distance."""
        settings: Any = {"hnsw": {"space": "cosine"}}
        name = f"compared-{uuid.uuid4().hex}"
        return self.client.create_collection(name, embedding_function=None, configuration=settings)

    def close(self) -> None:
        self.client.close()  # type: ignore[attr-defined] # this client has it
        self._folder.cleanup()


BATCH = 2_000  # texts in one write; Chroma takes 5,461


class PlainChroma:
    """One collection for all users, separated by a filter, as in most programs."""

    def __init__(self, embedder: Embedder, _: Mapping[str, Any]) -> None:
        self._embedder, self._place = embedder, OnDisk()
        self._collection = self._place.new_collection()

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:  # noqa: ARG002 - it knows no time
        for start in range(0, len(items), BATCH):
            own = items[start : start + BATCH]
            vectors: Any = self._embedder.embed_documents([item.labelled_text for item in own])
            whose: Any = [{"user": user}] * len(own)
            self._collection.add([item.id for item in own], embeddings=vectors, metadatas=whose)

    def prepare(self, asked: SystemQuery) -> None:
        """Do nothing."""

    def ask(self, asked: SystemQuery) -> SystemResult:
        vector: Any = [self._embedder.embed_query(asked.text)]
        found = self._collection.query(vector, n_results=asked.k, where={"user": asked.user}, include=[])
        return SystemResult(found["ids"][0])

    def figures(self) -> Sequence[Mapping[str, float]]:
        return ()

    def close(self) -> None:
        self._place.close()
