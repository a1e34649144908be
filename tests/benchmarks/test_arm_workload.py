"""Is a workload what it says: the same for a seed, with needs that change half-way, and items that hold the gold?"""

from __future__ import annotations

import pytest

from benchmarks.arm_workload import GROUPS, PROBES, workload
from benchmarks.data import Dataset, Item, Question


def made_up(needs: int = 9, said: int = 6) -> Dataset:
    questions = [
        Question(f"{split}-{need}-{n}", f"{split} wording {n} of need {need}", (f"need {need}",), split=split)
        for need in range(needs)
        for split in ("train", "test")
        for n in range(said)
    ]
    items = [Item(f"need {need}", f"need {need}") for need in range(needs)]
    return Dataset("made_up", tuple(items), tuple(questions))


def test_the_same_seed_gives_the_same_workload() -> None:
    assert workload(made_up(), questions=40, seed=1) == workload(made_up(), questions=40, seed=1)
    assert workload(made_up(), questions=40, seed=1) != workload(made_up(), questions=40, seed=2)


def test_needs_of_the_first_half_are_not_those_of_the_second() -> None:
    load = workload(made_up(), questions=40, seed=0)
    first, second = {asked.need for asked in load.first}, {asked.need for asked in load.second}
    assert first
    assert second <= load.newcomers
    assert not first & load.newcomers
    assert (len(load.first), len(load.second)) == (20, 20)
    assert load.right_after == range(20, 22)


def test_every_need_has_gold_and_is_probed_with_what_was_not_asked() -> None:
    load = workload(made_up(), questions=200, seed=0)
    asked = {one.cue for one in load.stream}
    assert {one.need for one in load.probes} == set(load.items)
    assert len(load.probes) == PROBES * len(load.items)
    assert not asked & {one.cue for one in load.probes}
    assert all(2 <= len(load.gold(need)) <= 5 for need in load.items)
    assert all(item.id.startswith("train") for items in load.items.values() for item in items)
    assert all(cue.startswith("test") for cue in asked)


def test_needs_are_grouped_by_when_they_were_asked() -> None:
    load = workload(made_up(), questions=200, seed=0)
    groups = load.groups()
    assert set(groups.values()) <= set(GROUPS)
    never = {need for need, group in groups.items() if group == "never"}
    assert never == set(load.items) - {asked.need for asked in load.stream}
    assert {need for need, group in groups.items() if group == "now"} <= load.newcomers


def test_data_without_recurring_needs_are_refused_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refusal:
        workload(made_up(needs=2), questions=40, seed=0)
    assert refusal.value.code == 2
    assert "made_up has 2 needs" in capsys.readouterr().err
