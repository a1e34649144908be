"""Does a question find what takes several steps, by our form and by the paper's?"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.graph import propagate as spreading
from adaptive_memory_core.graph.alike_names import sentence_weights
from adaptive_memory_core.graph.build import build_passage, word_key
from adaptive_memory_core.graph.paper import PublishedQuestion, Weight, propagate_as_published, without_memory
from adaptive_memory_core.graph.ports import SENTENCE_BITS, SENTENCES, GraphPort, GraphQuery, PropagationResult
from adaptive_memory_core.graph.propagate import propagate, trust
from adaptive_memory_core.policy.advanced import Graphs
from benchmarks.graph_in_memory import GraphInMemory

TEXTS = [
    ("Teutberga", "Teutberga was a queen. She married Lothair II of the Franks."),
    ("Lothair II", "Lothair II ruled the Franks. His father was Lothair I."),
    ("Lothair I", "Lothair I died at Prüm."),
    ("Prüm", "Prüm is a town."),
    *((f"Town {n}", f"The town number {n} has a market. Many Franks lived there.") for n in range(20)),
]
TITLES = {"teutberga", "lothair ii", "lothair i", "prum"}


def published(
    graph: GraphPort, asked: GraphQuery, settings: Graphs, weight: Weight = without_memory
) -> PropagationResult:
    question = PublishedQuestion(asked.names, np.array([1.0, 0.0])[: len(graph_vector(graph))], weight)
    return propagate_as_published(lambda: nullcontext(graph), question, settings)


def graph_vector(graph: GraphPort) -> Any:
    found = graph.sentence_vectors(None, times=False).vectors
    return found[0] if len(found) else found


FORMS: list[Any] = [propagate, published]


@pytest.fixture(scope="module")
def graph() -> GraphInMemory:
    passages = [build_passage(text, title, lambda names: TITLES & set(names)) for title, text in TEXTS]
    return GraphInMemory(passages, np.ones((len(TEXTS), 2), dtype=np.float32))


def question(text: str, *names: str, **more: object) -> GraphQuery:
    keys = {word_key(word) for word in words(text)}
    return replace(GraphQuery(dict.fromkeys(names, 1.0), np.float32([1, 0]), keys), **more)  # type: ignore[arg-type]


def test_a_second_round_reaches_what_the_question_does_not_name(graph: GraphInMemory) -> None:
    asked = question("Who was the father of Teutberga's husband?", "teutberga")
    one, two = (propagate(graph, asked, Graphs(rounds=rounds)) for rounds in (1, 2))
    assert 0 in one.passages
    assert 1 not in one.passages
    assert 1 in two.passages


def untitled(*texts: str, vectors: Any = None) -> GraphInMemory:
    return GraphInMemory([build_passage(text, None, lambda _: set()) for text in texts], vectors)


def test_a_passage_scores_by_the_round_that_reached_it() -> None:
    graph = untitled("Ada met Bob.", "Bob met Eve.", "Tom left.", vectors=np.ones((3, 1)))
    found = propagate(graph, GraphQuery({"ada": 1.0}, np.ones(1), ()), Graphs(rounds=2))
    assert {one: round(score, 2) for one, score in found.passages.items()} == {0: 0.69, 1: 0.35}


def test_a_rare_name_is_believed_more() -> None:
    graph = untitled("Ada met Bob.", "Ada left.")
    assert [round(trust(graph, GraphQuery({name: 1.0}, None, ())), 2) for name in ("bob", "ada")] == [1.0, 0.4]


def test_a_sentence_weighs_what_its_vector_and_words_say_of_the_question() -> None:
    vectors = np.array([[1, 0], [-1, 0]], dtype=np.float32)
    graph, asked = untitled("Ada met Bob.", "Bob left.", vectors=vectors), vectors[0]
    weights = sentence_weights(graph, GraphQuery({}, asked, ()), {}, np.array([0, 1 << SENTENCE_BITS]), least=0.1)
    assert weights.round(2).tolist() == [0.71, 0.1]


def test_no_sentence_is_taken_twice_and_no_name_of_the_question_again(graph: GraphInMemory) -> None:
    found = propagate(graph, question("Who married Lothair II?", "lothair ii"), Graphs(rounds=3))
    keys = [key for round_ in found.rounds for key in round_]
    assert len(keys) == len(set(keys))
    assert {step.name for step in found.steps.values() if step.round > 1}.isdisjoint({"lothair ii"})


def test_each_step_says_which_sentence_led_to_its_name(graph: GraphInMemory) -> None:
    found = propagate(graph, question("Where did the father of Lothair II die?", "lothair ii"), Graphs(rounds=2))
    step = next(step for step in found.steps.values() if step.sentence >> SENTENCE_BITS == 2)
    assert step.name == "lothair i"
    assert step.found_through == 1 << SENTENCE_BITS | 1


def test_the_papers_form_goes_on_by_the_names_in_a_sentence() -> None:
    texts = ["Ada met Bob.", "Bob met Eve.", "Eve left."]
    graph = GraphInMemory([build_passage(text, None, lambda _: set()) for text in texts], np.ones((3, 2), np.float32))
    found = published(graph, question("?", "ada"), Graphs(form="paper", rounds=2))
    assert found.rounds[0] == {0: 1.0}
    assert found.rounds[1] == pytest.approx({0: 2 / 3, 1 << SENTENCE_BITS: 1 / 3})  # Ada and Bob at 1 each, then Bob
    assert found.passages == pytest.approx({0: math.log(2) + math.log(5 / 3) / 2, 1: math.log(4 / 3) / 2})


@pytest.mark.parametrize("form", FORMS)
def test_a_question_without_names_goes_by_what_other_channels_found(graph: GraphInMemory, form: Any) -> None:
    found = form(graph, question("who was the father of the king?", seeds={1: 1.0}), Graphs(rounds=2))
    assert {1} < set(found.passages)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_comes_of_nothing(graph: GraphInMemory, form: Any) -> None:
    assert not form(graph, question("what?", "nobody"), Graphs()).passages
    assert not form(GraphInMemory([]), question("what?", "nobody"), Graphs()).passages


def test_what_was_learned_of_a_sentence_lifts_it(graph: GraphInMemory) -> None:
    key = 12 << SENTENCE_BITS | 1
    plain = propagate(graph, question("where did they live?", "franks"), Graphs(rounds=1))
    lifted = propagate(graph, question("where did they live?", "franks", lifts={key: 0.5}), Graphs(rounds=1))
    assert key not in plain.steps
    assert lifted.rounds[0][key] == 1.0

    def remembered(one: int, similarity: float, _vector: Any, _time: Any, /) -> float:
        return similarity * (1.5 if one == key else 1.0)

    gated = published(graph, question("?", "franks"), Graphs(rounds=1), remembered)
    assert next(iter(gated.rounds[0])) == key


@given(st.lists(st.sampled_from(["ada", "bob", "eve"]), max_size=3), st.integers(1, 5))
def test_scores_are_finite_and_not_negative(names: list[str], rounds: int) -> None:
    texts = ["Ada met Bob. Bob met Eve.", "Eve left.", "Ada stayed. Nobody came."]
    graph = GraphInMemory([build_passage(text, None, lambda names: set()) for text in texts])
    settings = Graphs(rounds=rounds)
    for form in FORMS:
        found = form(graph, question("who met whom?", *names), settings)
        assert all(math.isfinite(score) and score >= 0.0 for score in found.passages.values())
        assert len(found.rounds) <= rounds
        more = 0 if form is published else len(set(names))  # the best of each name, if it had none
        assert all(len(round_) <= SENTENCES + more for round_ in found.rounds)


def test_each_of_two_things_asked_about_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "SENTENCES", 1)
    told = {
        "Hamlet": "Hamlet is a play by Kyd.",
        "Cats": "Cats is a musical by Lloyd.",
        "Kyd": "He died in London.",
        "Lloyd": "He was born in Kent.",
    }
    known = {title.lower() for title in told}
    passages = [build_passage(text, title, lambda names: known & set(names)) for title, text in told.items()]
    graph = GraphInMemory(passages, np.ones((len(told), 2), dtype=np.float32))
    asked = question("Who was born later, the author of Hamlet or of Cats?", "hamlet", "cats")
    found = propagate(graph, asked, Graphs(rounds=2))
    assert set(found.passages) == {0, 1, 2, 3}
    assert [{found.steps[key].name for key in round_} for round_ in found.rounds] == [
        {"hamlet", "cats"},
        {"kyd", "lloyd"},
    ]


def test_a_sentence_that_says_nothing_of_the_question_is_still_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["Ada's manager is Bob Stone.", "Bob Stone reports to Carla Diaz.", "Carla Diaz lives in Graz."]
    vectors = np.array([[1, 0], [-1, 0], [1, 0]], dtype=np.float32)  # the second one is the opposite of the question
    graph = GraphInMemory([build_passage(text, None, lambda _: set()) for text in texts], vectors)
    asked = question("Where does the boss of Ada's manager live?", "ada")
    assert list(propagate(graph, asked, Graphs()).passages) == [0, 1, 2]
    monkeypatch.setattr(spreading, "UNLIKE", 0.0)
    assert list(propagate(graph, asked, Graphs()).passages) == [0]


class _InAnyOrder(GraphInMemory):
    """A graph that tells what it has in another order each time, as rows come from a file."""

    def __init__(self, shuffle: random.Random) -> None:
        crowded = [("Fair", "Ada went to the fair with " + ", ".join(f"Guest{n} Smith" for n in range(30)) + ".")]
        more = [(f"Guest{n} Smith", f"Guest{n} Smith came by train {n}. Ada waited.") for n in range(30)]
        texts = [*crowded, *more]
        super().__init__(
            [build_passage(text, title, lambda _: set()) for title, text in texts], np.ones((31, 2), dtype=np.float32)
        )
        self._shuffle = shuffle

    def frequencies(self, names: Collection[str]) -> Mapping[str, int]:
        return self._mixed(super().frequencies(names))

    def names_in(self, sentences: Any, *, titles: bool = True) -> Mapping[int, Sequence[str]]:
        found = super().names_in(sentences, titles=titles)
        return self._mixed({key: self._shuffle.sample(own, len(own)) for key, own in found.items()})

    def _mixed(self, found: Mapping[Any, Any]) -> dict[Any, Any]:
        return dict(self._shuffle.sample(sorted(found.items()), len(found)))


@pytest.mark.parametrize("limits", [{}, {"NAMES": 5, "REACH": 10}, {"SENTENCES": 1, "NAMES": 1}])
def test_what_is_found_does_not_hang_on_the_order_in_which_the_graph_tells_its_names(
    limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(spreading, name, value)
    asked = question("Who went to the fair with Ada by train?", "ada", "fair")
    found = [propagate(_InAnyOrder(random.Random(seed)), asked, Graphs()) for seed in range(8)]
    assert len(found[0].steps) > 3
    assert all(one.passages == found[0].passages and one.steps == found[0].steps for one in found)
