"""Does a recall from a shell find nothing where letters were struck at random, and still what was asked for?"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.cli.app import app

MEMORY = {
    "tea": "Ana likes green tea.",
    "peanuts": "Ana is allergic to peanuts.",
    "lisbon": "Ana moved to Lisbon in 2021.",
    "cello": "Ana plays the cello on weekends.",
    "cat": "Ana's cat is called Turing.",
    "e4012": "Error E4012 means that the token has expired.",
    "car": "Das Auto steht in der Tiefgarage, Platz 41.",
}
QUESTIONS = {
    "what does Ana drink?": "tea",
    "where does she live?": "lisbon",
    "what instrument does Ana play?": "cello",
    "name of the pet?": "cat",
    "what does E4012 mean?": "e4012",
    "E4012": "e4012",
    "Wo parkt das Auto?": "car",
    "what happened today?": "car",  # any: a time and nothing else was asked for
}
STRUCK = random.Random(3)  # the seed of what keys were struck
NONSENSE = [
    "asdkjh qwelkj",
    *(" ".join("".join(STRUCK.choices("asdfghjklqwertzuiop", k=7)) for _ in range(2)) for _ in range(8)),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("memory")
    with AdaptiveMemory.open(place) as memory:
        memory.for_user("ana").remember_many([{"id": name, "text": text} for name, text in MEMORY.items()])
    return str(place)


def recall(place: str, *args: str) -> Result:
    return CliRunner().invoke(app, ["--path", place, "--user", "ana", "recall", "--look", *args])


def test_keys_struck_at_random_find_nothing(place: str) -> None:
    ended = [recall(place, one) for one in NONSENSE]
    assert [(one.exit_code, one.stdout) for one in ended] == [(1, "")] * len(NONSENSE)
    assert ended[0].stderr == "nothing found that is better than chance; --min-score 0 shows the nearest\n"


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_finds_its_answer(question: str, place: str) -> None:
    found = recall(place, question).stdout.splitlines()
    assert QUESTIONS[question] in [line.split("  ")[1] for line in found]


def test_the_floor_can_be_set(place: str) -> None:
    assert len(recall(place, "asdkjh qwelkj", "--min-score", "0").stdout.splitlines()) == 5
    assert recall(place, "what does Ana drink?", "--min-score", "0.99").exit_code == 1


def test_a_floor_of_the_policy_holds_instead(place: str, tmp_path: Path) -> None:
    Policy(min_score=0.001).save(tmp_path / "policy.json")
    assert recall(place, "asdkjh qwelkj", "--policy", str(tmp_path / "policy.json")).exit_code == 0
