"""Episodes, themes, names and diversity don't depend on how high an embedder's similarities are.

v -> (sqrt(0.3) v, sqrt(0.7)) makes each cosine 0.3 cos + 0.7 and orders pairs of texts as before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, ReadState, Record, Scored
from adaptive_memory_core.models.embedder import as_embedder
from adaptive_memory_core.policy import Advanced, Graphs
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.select import pick
from adaptive_memory_core.score.signals import Use, since_useful
from benchmarks.embedders import trigrams
from tests.conftest import START

GRAPH = Policy(channels=("dense", "lexical", "graph"), advanced=Advanced(graph=Graphs(names_alike=0.75)))
TOPICS = [
    ["I adopted a beagle puppy in May.", "The beagle puppy chews every shoe.", "My puppy sleeps beside the shoes."],
    ["The billing server failed on Monday.", "I restarted that billing server.", "Billing needs a faster server."],
    ["We booked a cabin in the mountains.", "The mountain cabin has a stove.", "A stove warms that cabin well."],
    ["My sourdough bread rose overnight.", "Bread from sourdough keeps a week.", "I bake sourdough on Sundays."],
    ["The violin lesson was difficult.", "My violin teacher plays Bach.", "Bach on a violin sounds bright."],
    ["Our tax report is due in March.", "The tax office lost our report.", "I sent that tax report again."],
]
PAGES = {
    "Ashbrook": "It was sold to Kathrin Bigelow.",
    "Kathryn Bigelow": "She moved to a village by the sea.",
    "Teutberga": "She was married to Lothair II.",
    "Lothair II": "He ruled. His father was Lothair I.",
    "Lothair I": "He died in the abbey of Prüm.",
    **{f"Bridge over the {name}": f"It was built in stone near {name}." for name in ("Elbe", "Rhine", "Oder", "Inn")},
    **{name: f"{name} is a river." for name in ("Elbe", "Rhine", "Oder", "Inn")},
}
FILL = ("old", "quiet", "second", "broken", "green", "early", "heavy", "plain", "small", "northern", "late", "round")
NOTES = [f"A {one} {other} thing." for one in FILL[:6] for other in FILL[6:]]
ASKED = (
    "Where did Kathryn Bigelo retire?",
    "Where did the buyer of Ashbrook retire?",
    "Where did the father of Teutberga's husband die?",
    "A stone bridge",
)


def shifted(texts: Sequence[str]) -> Any:
    vectors = trigrams(texts)
    return np.hstack([math.sqrt(0.3) * vectors, np.full((len(texts), 1), math.sqrt(0.7))]).astype(np.float32)


def rotated(texts: Sequence[str]) -> Any:
    return np.roll(trigrams(texts), 100, axis=1)


def scaled(texts: Sequence[str]) -> Any:
    return 5.0 * trigrams(texts)


def opened(collection: Collection, embed: Any, policy: Policy | None = None) -> AdaptiveMemory:
    return AdaptiveMemory(collection, embedder=as_embedder(embed, name="trigrams"), policy=policy, clock=lambda: START)


def grouped(collection: Collection, embed: Any) -> tuple[Any, Any]:
    """Episodes and themes, as the texts in them."""
    said = [text for _ in range(2) for topic in TOPICS for text in topic]
    with closing(opened(collection, embed)) as memory:
        ana = memory.for_user("ana")
        ana.observe(
            [
                {"speaker": "Ana", "text": f"{text} {number // 18 or ''}".strip(), "at": START - 9e4 + 60.0 * number}
                for number, text in enumerate(said)
            ]
        )
        ana.themes()
        view: Any = memory.ports().hierarchy.view(ana.scope)
        texts = {one: view.semantics[one].text for one in view.semantics}
        return (
            [len(one.messages) for one in view.episodes.values()],
            sorted(sorted(texts[key] for key in theme.semantics) for theme in view.themes.values()),
        )


@pytest.mark.parametrize("embed", [shifted, rotated, scaled])
def test_episodes_and_themes_are_the_same(new_collection: Callable[..., Collection], embed: Any) -> None:
    episodes, themes = grouped(new_collection(), trigrams)
    assert len(episodes) > 5
    assert len(themes) > 3
    assert max(map(len, themes)) > 1
    assert grouped(new_collection(), embed) == (episodes, themes)


def led_to(collection: Collection, embed: Any) -> list[dict[str, float]]:
    """What the graph says of each record that it reaches."""
    with closing(opened(collection, embed, GRAPH)) as memory:
        ana = memory.for_user("ana")
        ana.remember_many([{"id": name, "text": text, "metadata": {"title": name}} for name, text in PAGES.items()])
        ana.remember_many(NOTES)
        memory.sync()
        answers = [ana.recall(one, k=60, reinforce=False) for one in ASKED]
    return [{one.id: one.signals["graph"] for one in found if one.id in PAGES} for found in answers]


@pytest.mark.parametrize("embed", [shifted, rotated, scaled])
def test_the_graph_leads_to_the_same_records(new_collection: Callable[..., Collection], embed: Any) -> None:
    plain = led_to(new_collection(), trigrams)
    assert plain[0]["Kathryn Bigelow"] > 0.0  # misspelled in the question
    for before, after in zip(plain, led_to(new_collection(), embed), strict=True):
        assert after == pytest.approx(before, abs=0.01)


def chosen(vectors: Any, baseline: float) -> list[str]:
    hits = [
        Scored(Hit(Record(str(one), f"text {one}"), 0.5, str(one)), 0.9 - one / 100, {}, {"baseline": baseline})
        for one in range(len(vectors))
    ]
    kept, _ = pick(hits, Policy(diversity=0.1), k=8, vectors=dict(zip(map(str, range(12)), vectors, strict=True)))
    return [one.id for one in kept]


@pytest.mark.parametrize("seed", range(5))
def test_diversity_chooses_the_same_records(seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(12, 6))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    high = np.hstack([math.sqrt(0.3) * vectors, np.full((12, 1), math.sqrt(0.7))])
    assert chosen(high, 0.7) == chosen(vectors, 0.0)
    assert chosen(high, 0.7) != sorted(chosen(high, 0.7), key=int)


def test_usefulness_stands_back_for_the_same_text_and_not_for_a_similar_one() -> None:
    """0.97 is the same text for an embedder whose unrelated texts score 0, and not if they score 0.75."""
    read = ReadState(useful_at=START)
    for baseline, near, gains in ((0.0, 0.97, 0.6), (0.75, 0.97, 1.0)):
        reads, similarities = [ReadState(), read], [near, near - 0.01]
        leads = {"baseline": [baseline] * 2, "spread": [0.05] * 2}
        used = since_useful(reads, similarities, [0.9, 0.9], leads, use=Use(), now=START)
        assert used[1] == pytest.approx(gains)
