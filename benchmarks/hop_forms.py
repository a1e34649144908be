"""Which ways of learning are compared on questions of several steps? A memory with the graph, and GAM-RAG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.graph.build import Passage, build_passage, split_title
from adaptive_memory_core.graph.names import handle, known_names
from adaptive_memory_core.graph.paper import PublishedQuestion, propagate_as_published
from adaptive_memory_core.graph.ports import SENTENCE_BITS, SentenceKey, passage_of
from adaptive_memory_core.judges import TimeJudge
from adaptive_memory_core.learn.gain import Belief, corrected, cosine, gate, unit_vector, updated
from benchmarks.data import Item
from benchmarks.graph_in_memory import GraphInMemory
from benchmarks.rot import Clock

HOUR, SHOWN, STEP = 3_600.0, 5, 0.1  # seconds between questions; what is judged; the gain where it is fixed
CHANNELS: Any = ("dense", "lexical", "graph")
WITHOUT = ("nothing", "task", "time", "uncertainty", "gain")  # GAM-RAG's ablations
Embed = Callable[[Sequence[str]], Any]


class Learner(Protocol):
    """It ranks what a question needs, and learns of it where it is told the right ones."""

    def ranked(self, question: str) -> Sequence[str]: ...
    def learn(self, question: str, gold: Sequence[str]) -> Sequence[str]: ...


class OfMemory:
    """A memory as users have it, with verdicts on the five best."""

    def __init__(self, memory: AdaptiveMemory, clock: Clock, **policy: Any) -> None:
        self._user, self._clock = memory.for_user("a reader"), clock
        self._policy = Policy(channels=CHANNELS).replace(**policy)

    def ranked(self, question: str) -> Sequence[str]:
        return self._user.recall(question, k=SHOWN, policy=self._policy, reinforce=False).ids

    def learn(self, question: str, gold: Sequence[str]) -> Sequence[str]:
        self._clock.now += HOUR
        found = self._user.recall(question, k=SHOWN, policy=self._policy)
        good = [one for one in found.ids if one in gold]
        self._user.feedback(found, helpful=good, unhelpful=[one for one in found.ids if one not in gold])
        return found.ids


class Corpus(NamedTuple):
    """Passages that several learners ask of, with the graph of them."""

    ids: Sequence[str]
    vectors: Any
    passages: Sequence[Passage]
    graph: GraphInMemory
    embed: Embed


class PaperGraph:
    """GAM-RAG as published, equations 3 to 13: each sentence has a task and a time memory, and those that a question
    activated are judged by whether they are in a passage that it needs."""

    def __init__(self, corpus: Corpus, without: str = "nothing") -> None:
        self._ids, self._vectors, self._passages, self._graph, self._embed = corpus
        self._without = without
        self._task: dict[SentenceKey, Belief] = {}
        self._time: dict[SentenceKey, Belief | None] = {}
        self._texts: dict[str, Any] = {}
        self._settings = Policy.preset("gam_rag").advanced.graph

    def ranked(self, question: str) -> Sequence[str]:
        return self._ask(question)[0]

    def learn(self, question: str, gold: Sequence[str]) -> Sequence[str]:
        best, activated = self._ask(question)
        asked, when = self._of_text(question), self._of_time(question)
        for key in activated:
            supports = self._ids[passage_of(key)] in gold
            if self._without != "task":
                self._task[key] = self._moved(self._memory(key), asked, supports)
            own = self._time_memory(key) if when is not None and self._without != "time" else None
            if own is not None:
                self._time[key] = self._moved(own, when, supports)
        return best

    def _ask(self, question: str) -> tuple[list[str], list[SentenceKey]]:
        vector, when = self._of_text(question), self._of_time(question)
        linked = known_names(question, self._known) or known_names(question, self._known, loose=True)
        near = self._vectors @ vector
        gates = {key: self._gate(key, vector, when) for key in {*self._task, *self._time}}
        asked = PublishedQuestion(
            dict.fromkeys(linked, 1.0), vector, lambda key, similarity, *_: similarity * gates.get(key, 1.0)
        )
        found = propagate_as_published(lambda: nullcontext(self._graph), asked, self._settings)
        scores = Policy.preset("gam_rag").advanced.fusion.vectors * near
        for one, score in found.passages.items():
            scores[one] += score
        return [self._ids[one] for one in np.argsort(-scores, kind="stable")[:SHOWN]], list(found.steps)

    def _gate(self, key: SentenceKey, vector: Any, when: Any) -> float:
        task = self._opened(self._task[key], vector) if key in self._task else 1.0
        own = self._time.get(key)
        return task if own is None or when is None else task * self._opened(own, when)

    def _opened(self, belief: Belief, asked: Any) -> float:
        return 1.0 + cosine(belief.vector, asked) if self._without == "uncertainty" else gate(belief, asked)

    def _moved(self, belief: Belief, asked: Any, supports: bool) -> Belief:
        after = updated(belief, asked, supports=supports, process_noise=self._settings.process_noise)
        if self._without != "gain":
            return after
        return Belief(unit_vector(corrected(belief.vector, asked, float(supports), STEP)), after.uncertainty)

    def _memory(self, key: SentenceKey) -> Belief:
        return self._task.get(key) or Belief(self._vectors[passage_of(key)])

    def _time_memory(self, key: SentenceKey) -> Belief | None:
        if key not in self._time:
            sentence = self._passages[passage_of(key)].sentences[key & ((1 << SENTENCE_BITS) - 1)]
            named = self._of_time(sentence.text)
            self._time[key] = None if named is None else Belief(named)
        return self._time[key]

    def _of_time(self, text: str) -> Any:
        named = TimeJudge()(text).words
        return None if named is None else self._of_text(named)

    def _of_text(self, text: str) -> Any:
        if text not in self._texts:
            self._texts[text] = unit_vector(np.asarray(self._embed([text]))[0])
        return self._texts[text]

    def _known(self, possible: Any) -> set[str]:
        return set(self._graph.frequencies(possible))


def _passages(items: Sequence[Item]) -> list[Passage]:
    titles = {handle(title) for one in items if (title := split_title(one.text, one.title)[0])}

    def known(possible: Any) -> set[str]:
        return titles & set(possible)

    return [build_passage(one.text, one.title, known) for one in items]


def of_paper(items: Sequence[Item], embed: Embed) -> Mapping[str, Callable[[], Learner]]:
    """GAM-RAG, and its ablations."""
    texts = [one.text for one in items]
    made = np.concatenate([np.asarray(embed(texts[at : at + 256])) for at in range(0, len(texts), 256)])
    vectors = made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9)
    passages = _passages(items)
    corpus = Corpus([one.id for one in items], vectors, passages, GraphInMemory(passages, vectors), embed)
    named = {"paper" if one == "nothing" else f"paper without {one}": one for one in WITHOUT}
    return {name: partial(PaperGraph, corpus, one) for name, one in named.items()}
