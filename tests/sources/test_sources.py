"""Is a further source of candidates one file and one line? A toy one is added here, and recalled with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, PolicyError, Weights
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, SourceQuery
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.sources import ask
from adaptive_memory_core.sources.request import Request

Vectors = list[list[float]]
BOTH = Policy(channels=("dense", "toy"), weights=Weights(0, 0, 1), recall_k=2)


class Toy:
    """Finds what ends like the cue, by asking the collection for everything; a lead of its own, and all it is told."""

    name = "toy"

    def __init__(self) -> None:
        self.told: list[SourceQuery] = []

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        self.told.append(asked)
        end = request.cue.text[-1]
        pages = list(ports.records.pages(request.scope))
        ids = [one.stored_id for page in pages for one in page if (one.text or "").endswith(end)]

        def leads(these: Candidates) -> dict[str, list[float]]:
            return {"toy": [float(text.endswith(end)) for text in these.columns.texts]}

        return Answer(self.name, named=ids, leads=leads)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    added = Toy()
    monkeypatch.setattr(ask, "SOURCES", (*ask.SOURCES, added))  # the one line
    return added


@pytest.fixture
def letters() -> Callable[[list[str]], Vectors]:
    return lambda texts: [[float(text.count(letter)) for letter in "abcxyz"] for text in texts]


def test_a_source_is_added_in_one_file_and_one_line(collection: Collection, letters: Any, toy: Toy) -> None:
    with closing(AdaptiveMemory(collection, embedder=letters, policy=BOTH)) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"text": text, "id": text} for text in ("aab", "aac", "abc", "xyz!")])
        found = alice.recall("aa!", k=3)
    assert "xyz!" in found.ids  # no vector is near it
    own = next(one for one in found if one.id == "xyz!")
    assert own.parts["toy"] == pytest.approx(0.5)
    assert sum(own.parts.values()) == pytest.approx(own.score)
    assert "toy" in found.explain()
    (asked,) = toy.told
    assert [one.source for one in asked.earlier] == ["dense"]
    assert asked.earlier[0].cue is not None
    assert asked.earlier[0].cue.vector is not None


def test_its_weight_is_set_by_its_name(collection: Collection, letters: Any, toy: Toy) -> None:
    heavy = BOTH.replace(advanced={"channel_weights": {"toy": 3.0}})
    with closing(AdaptiveMemory(collection, embedder=letters, policy=heavy)) as memory:
        alice = memory.for_user("alice")
        alice.remember("aa!", id="it")
        assert alice.recall("aa!", k=1)[0].parts["toy"] == pytest.approx(0.75)
    assert toy.told


def test_a_source_that_is_not_there_is_refused(collection: Collection, letters: Any) -> None:
    with pytest.raises(PolicyError, match="This memory has: dense, lexical"):
        AdaptiveMemory(collection, embedder=letters, policy=BOTH)
