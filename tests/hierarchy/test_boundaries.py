"""Where do episodes end: at gaps, when full, where it is said, and where vectors and words turn to something else?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaptive_memory_core.hierarchy import episodes
from adaptive_memory_core.hierarchy.episodes import starts
from adaptive_memory_core.hierarchy.nodes import HierarchyMessage
from adaptive_memory_core.policy.advanced import Hierarchies
from tests.conftest import word_vectors

PETS = ["My beagle puppy Rex chews shoes.", "The puppy Rex is a beagle.", "Rex the beagle puppy sleeps."]
WORK = ["Billing servers crashed on Monday.", "Servers for billing restarted.", "Billing servers run on."]


def said(*texts: str, apart: float = 60.0, vectors: bool = True) -> list[HierarchyMessage]:
    rows: Any = word_vectors(texts) if vectors else [None] * len(texts)
    return [HierarchyMessage(str(n), "Ana", text, apart * n, rows[n]) for n, text in enumerate(texts)]


def test_another_topic_in_words_and_vectors_begins_an_episode() -> None:
    assert starts(said(*PETS, *WORK), Hierarchies()) == [0, 3]


def test_words_alone_tell_where_no_vectors_are_known() -> None:
    assert starts(said(*PETS, *WORK, vectors=False), Hierarchies()) == [0, 3]


def test_an_answer_stays_with_its_question() -> None:
    asked = [*PETS[:2], "What happened at work?"]
    assert starts(said(*asked, *WORK), Hierarchies()) != [0, 3]


def test_a_gap_ends_an_episode_whatever_is_said() -> None:
    assert starts(said(*PETS, apart=3_600.0), Hierarchies()) == [0, 1, 2]


@pytest.mark.parametrize(("longest", "characters"), [(2, 4_000), (15, 100)])
def test_an_episode_that_is_full_ends(longest: int, characters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes, "CHARACTERS", characters)
    texts = [f"The puppy Rex chews shoe {number} of the beagle puppy." for number in range(6)]
    found = starts(said(*texts), Hierarchies(episode_messages=longest))
    assert found[1] <= 3


def test_what_says_that_it_turns_to_something_else_begins_an_episode() -> None:
    assert starts(said(*PETS[:2], "By the way, Rex the beagle puppy barks."), Hierarchies()) == [0, 2]


@pytest.mark.parametrize("turn", ["Übrigens", "Au fait", "Por cierto", "对了"])
def test_it_is_told_in_other_languages_that_a_conversation_turns(turn: str) -> None:
    assert starts(said(*PETS[:2], f"{turn}, Rex the beagle puppy barks."), Hierarchies()) == [0, 2]


@pytest.mark.parametrize(
    "bye", [("Tschüss!", "Bis bald!"), ("Au revoir.", "À demain !"), ("Adiós", "Hasta luego."), ("再见!", "晚安")]
)
def test_a_goodbye_in_another_language_ends_an_episode(bye: tuple[str, str]) -> None:
    assert starts(said(PETS[0], *bye, PETS[1]), Hierarchies()) == [0, 3]


def test_after_both_have_said_goodbye_the_next_word_begins_an_episode() -> None:
    assert starts(said(PETS[0], "Bye!", "See you!", PETS[1]), Hierarchies()) == [0, 3]


def test_a_topic_that_may_come_back_is_waited_for_unless_it_is_the_end() -> None:
    turned = said(*PETS, WORK[0])
    assert starts(turned, Hierarchies(), whole=False) == [0]
    assert starts(turned, Hierarchies(), whole=True) == [0, 3]


def test_a_model_decides_where_it_has_a_word_and_the_rule_where_it_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes, "SHORTEST", 1)

    def decided(_: Any, after: Any) -> bool | None:
        return True if "sleeps" in after[0].text else None

    assert starts(said(*PETS, *WORK), Hierarchies(), decided=decided)[:2] == [0, 2]


def test_likeness_is_measured_from_what_unrelated_texts_have_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes, "SAME_TOPIC", 0.5)
    shifted = [one._replace(vector=one.vector + 3.0) for one in said(*PETS, *WORK)]
    rows = np.array([one.vector / np.linalg.norm(one.vector) for one in shifted])
    assert starts(shifted, Hierarchies()) == [0]
    assert starts(shifted, Hierarchies(), unrelated=rows.mean(axis=0)) == [0, 3]
