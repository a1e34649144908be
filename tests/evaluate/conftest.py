"""What are experiments tried on? A small memory of two people as labelled data, and a chat server on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.models.chat_server import FakeChat, serving

EMBEDDER = "tests.conftest:word_vectors"
SAID = {
    "ana": {
        "s1": ["I drink green tea", "my cat is called Turing", "the office has a blue sofa"],
        "s2": ["the tram stops at the harbour", "we deploy on Tuesday", "my desk is by the window"],
        "s3": ["rain all week", "the printer is broken again", "lunch was soup"],
    },
    "ben": {
        "s1": ["I play the cello", "my sister lives in Oslo", "the bus was late"],
        "s2": ["I baked rye bread", "the garden needs water", "we saw a heron"],
        "s3": ["the bike has a flat tyre", "I read about bees", "the lamp flickers"],
    },
}
ASKED = [
    ("ana", "what tea do I drink", ["ana:s1:0"], "green tea"),
    ("ana", "what is my cat called", ["ana:s1:1"], "Turing"),
    ("ana", "when do we deploy", ["ana:s2:1"], "Tuesday"),
    ("ben", "where does my sister live", ["ben:s1:1"], "Oslo"),
    ("ben", "what bread have I baked", ["ben:s2:0"], "rye bread"),
    ("ben", "what does the garden need", ["ben:s2:1"], "water"),
]
START, HOUR = 1_750_000_000.0, 3_600.0


def corpus() -> Iterator[dict[str, Any]]:
    for user, sessions in SAID.items():
        for day, (session, texts) in enumerate(sessions.items()):
            for seq, text in enumerate(texts):
                place = {"tenant": user, "session": session, "seq": 3 * day + seq, "speaker": user.title()}
                yield {"id": f"{user}:{session}:{seq}", "text": text, "ts": START + 24 * HOUR * day, **place}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of labelled data."""
    place = tmp_path / "people"
    place.mkdir()
    questions = [
        {"id": f"q{number}", "tenant": user, "query": text, "gold_ids": gold, "answer": answer}
        for number, (user, text, gold, answer) in enumerate(ASKED)
    ]
    for name, rows in (("corpus", list(corpus())), ("queries", questions)):
        (place / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return place


@pytest.fixture
def server() -> Iterator[FakeChat]:
    with serving() as running:
        yield running
