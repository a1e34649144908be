"""Do vectors change nothing where a ranking says that it does not depend on them?"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.cue.time.intent import NO_INTENT
from adaptive_memory_core.policy import Updates
from adaptive_memory_core.records import Hit, Record, Scored
from adaptive_memory_core.score.newest_first import Told, put_first, versions_among

CUES = {  # with what answers
    "Who is my barber?": "My barber is Kofi.",
    "Where does Ilse live?": "Ilse lives in Oslo.",
    "Which car does Ilse drive?": "Ilse drives a Volvo.",
    "Which phone does Ilse use?": "Ilse uses a phone by Nokia.",
    "What is Ilse's favourite dish?": "Ilse's favourite dish is soup.",
    "What are my hobbies?": "I walk by the river.",
    "Who was my barber?": "My barber is Kofi.",
}
TEXTS = (
    "My barber is Kofi.",
    "I get my hair done at Luigi's now.",
    "I walk by the river.",
    "I have taken up chess now.",
    "I'm often late these days.",
    "My barber is Luigi.",
    "Ilse lives in Oslo.",
    "Ilse lives in Turin.",
    "Ilse has moved to Turin.",
    "Ilse has settled by the sea.",
    "Colm has settled by the sea.",
    "Ilse drives a Volvo.",
    "Ilse has switched to a Fiat.",
    "Ilse is behind the wheel of a Fiat.",
    "Ilse uses a phone by Nokia.",
    "Ilse now carries a phone by Sony.",
    "Ilse's favourite dish is soup.",
    "Ilse has taken up the cello.",
    "These days Ilse can't get enough of rice.",
    "It rained in Delft.",
)


def ranked(chance: random.Random, first: str) -> list[Scored]:
    """Some of the texts in a random order, told at random times, more or less near to a cue; mostly this one first."""
    texts = chance.sample(TEXTS, chance.randint(4, len(TEXTS)))
    if chance.random() < 0.8:
        texts = [first, *(text for text in texts if text != first)]
    near = sorted((chance.random() for _ in texts), reverse=True)
    times = [chance.choice((None, *range(9))) for _ in texts]
    hits = [
        Hit(Record(text, text, created_at=None if time is None else float(time)), close, text)
        for text, time, close in zip(texts, times, near, strict=True)
    ]
    return [Scored(hit, hit.similarity, {"similarity": hit.similarity}, {}) for hit in hits]


def vectors_of(candidates: Sequence[Scored], chance: random.Random) -> dict[str, Any]:
    """Unit vectors, those of most of the texts."""
    numbers = np.random.default_rng(chance.getrandbits(32)).normal(size=(len(candidates), 4)) + 0.5
    rows = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)
    missing = chance.choice((0.0, 0.0, 0.2))
    return {one.id: row for one, row in zip(candidates, rows, strict=True) if chance.random() >= missing}


def outcome(candidates: Sequence[Scored], cue: str, vectors: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    told = Told(cue, "speaker")
    found = put_first(candidates, versions_among(candidates, told, Updates(), NO_INTENT), None, vectors)
    return [(one.id, one.score, one.older_than, one.hit.older_perhaps, dict(one.parts)) for one in found]


def undecided(candidates: Sequence[Scored], cue: str) -> list[str]:
    versions = versions_among(candidates, Told(cue, "speaker"), Updates(), NO_INTENT)
    return [] if versions is None else versions.undecided()


@given(cue=st.sampled_from(list(CUES)), seed=st.integers(0, 2**32))
def test_only_the_vectors_asked_for_change_a_ranking(cue: str, seed: int) -> None:
    chance = random.Random(seed)
    candidates = ranked(chance, CUES[cue])
    vectors = vectors_of(candidates, chance)
    wanted = {one: vectors[one] for one in undecided(candidates, cue) if one in vectors}
    assert outcome(candidates, cue, wanted) == outcome(candidates, cue, vectors)


def test_most_rankings_ask_for_none_and_vectors_change_some_that_do() -> None:
    chance = random.Random(3)
    given = [(ranked(chance, first), cue) for cue, first in CUES.items() for _ in range(200)]
    asks = [one for one in given if undecided(*one)]
    assert 50 < len(asks) < 700
    changed = [one for one in asks if outcome(*one, vectors_of(one[0], chance)) != outcome(*one, {})]
    assert len(changed) > 10


@pytest.mark.parametrize("texts", [TEXTS[:3], (TEXTS[0], *TEXTS[2:3], *TEXTS[6:]), ("My barber is Kofi.", *TEXTS[6:])])
def test_where_no_text_of_the_subject_announces_a_change_none_is_asked_for(texts: Sequence[str]) -> None:
    hits = [Hit(Record(text, text, created_at=float(day)), 0.9 - 0.01 * day, text) for day, text in enumerate(texts)]
    candidates = [Scored(hit, hit.similarity, {"similarity": hit.similarity}, {}) for hit in hits]
    assert undecided(candidates, "Who is my barber?") == []
