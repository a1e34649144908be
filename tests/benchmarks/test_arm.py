"""Do the benchmarks of ARM do what the paper prints: its loop, workloads, profiles, the figure?"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from adaptive_memory_core import Policy
from benchmarks import arm_figure, arm_profiles
from benchmarks.arm_run import run
from benchmarks.arm_shadow import DAY, Shadow
from benchmarks.arm_workload import GROUPS, PROBES, workload
from benchmarks.data import Dataset, Item, Question, load
from tests.behaviour.naive_arm import NaiveARM


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


@pytest.mark.parametrize("profile", ["balanced", "ultra_efficient", "conservative", "aggressive"])
def test_the_columns_are_the_paper_s_loop(profile: str) -> None:
    policy, chance = Policy.preset(profile), np.random.default_rng(0)
    vectors = chance.normal(size=(30, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    shadow, naive = Shadow(policy, 8), NaiveARM()
    for step in range(60):
        if step % 20 == 0:
            new = [str(row) for row in range(step // 2, step // 2 + 10)]
            shadow.add(new, vectors[[int(name) for name in new]], now=0.0)
            for name in new:
                naive.add(name, vectors[int(name)])
        cue = chance.normal(size=8)
        cue /= np.linalg.norm(cue)
        best = shadow.best(cue, 3, now=0.0)
        assert best.scores == pytest.approx(sorted(naive.scores(cue).values(), reverse=True)[:3], abs=1e-12)
        shadow.read(best.ids, now=0.0)
        theta, gamma, alpha = policy.decay.remembrance_threshold, int(policy.decay.grace), policy.decay.rate
        naive.query(best.ids, theta=theta, gamma=gamma, alpha=alpha)
        assert shadow.strengths == pytest.approx([item.norm for item in naive.items.values()], rel=1e-9)
        assert list(shadow.remembered) == [item.remembered for item in naive.items.values()]


def test_a_fixed_search_misses_the_strong_record_behind_the_faded() -> None:
    shadow = Shadow(Policy.preset("aggressive"), 2)
    shadow.add(["near", "far"], np.array([[1.0, 0.0], [0.6, 0.8]]), now=0.0)
    for _ in range(30):
        shadow.read(["far"], now=0.0)
    cue = np.array([1.0, 0.0])
    assert shadow.best(cue, 1, now=0.0, nearest=1).ids == ["near"]
    assert shadow.best(cue, 1, now=0.0).ids == ["far"]


def test_in_days_time_fades_and_recalls_do_not() -> None:
    policy = Policy.preset("balanced").replace(decay={"unit": "days", "grace": 1, "rate": 0.5, "restore_on_read": 1.0})
    shadow = Shadow(policy, 2)
    shadow.add(["a", "b"], np.array([[1.0, 0.0], [0.0, 1.0]]), now=0.0)
    shadow.read(["a"], now=DAY)
    assert list(shadow.strengths) == [1.0, 1.0]
    shadow.best(np.array([1.0, 0.0]), 1, now=3 * DAY)
    assert shadow.strengths == pytest.approx([0.5, 0.25])
    shadow.read(["b"], now=3 * DAY)
    assert shadow.strengths == pytest.approx([0.5, 1.0])


WORDS = ("river", "violin", "tax return", "football", "passport", "recipe for soup")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six needs, each said in eight ways."""
    data = tmp_path / "data" / "tiny"
    data.mkdir(parents=True)
    questions = [
        {"id": f"{split}-{word}-{n}", "query": f"{ask} {word}?", "gold_ids": [word], "split": split}
        for word in WORDS
        for split, asks in (
            ("train", ("where is my", "tell me of the", "is there a", "what about the")),
            ("test", ("how is the", "whose is the", "do I need the", "when comes the")),
        )
        for n, ask in enumerate(asks)
    ]
    for name, rows in (("corpus", [{"id": word, "text": word} for word in WORDS]), ("queries", questions)):
        with gzip.open(data / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    return data.parent


@pytest.mark.hard("large")
def test_the_tables_and_the_report_hold_every_policy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "report.json"
    policies = ["static", "aggressive", "balanced, in days"]
    command = ["arm_profiles", "--data", str(folder), "--sets", "tiny", "--questions", "40", "--json", str(out)]
    monkeypatch.setattr(sys, "argv", [*command, "--policies", *policies])
    arm_profiles.main()
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert [(row["items come"], row["policy"]) for row in rows] == [
        (a, p) for a in ("start", "drift") for p in policies
    ]
    assert all(row["exact"] == 1.0 and row["questions"] == 40 for row in rows)
    assert all(0.0 <= row[name] <= 1.0 for row in rows for name in ("NDCG@5", "P@5", "R@5", "kept", "fixed wrong"))
    assert (rows[0]["vs static"], rows[0]["kept"]) == (None, 1.0)
    assert rows[1]["kept"] < 1.0
    assert rows[1]["vs static all"]["low"] <= rows[1]["vs static all"]["high"]
    assert capsys.readouterr().out.count("aggressive") == 6


@pytest.mark.hard("large")
def test_a_run_counts_what_the_ledger_counts(folder: Path) -> None:
    tiny = workload(load(folder, "tiny"), questions=30, seed=3)
    outcome = run(tiny, Policy.preset("balanced"), arrival="drift")
    assert outcome.stats.recalls == 30  # the probes changed nothing
    assert len(outcome.stream("right after")) == len(outcome.needs("right after")) == 1
    assert len(outcome.probes) == len(outcome.pruned) == len(outcome.needs("probes"))
    assert all(answer.exact for answer in outcome.answers)


def test_missing_data_are_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["arm_profiles", "--data", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit) as refusal:
        arm_profiles.main()
    assert refusal.value.code == 2
    assert "nowhere" in capsys.readouterr().err


def test_plain_search_never_fades() -> None:
    outcome = run(workload(made_up(), questions=12, seed=0), arm_profiles.POLICIES["static"], arrival="start")
    assert (outcome.kept, outcome.stats.strengths.stale) == (1.0, 0)
    assert all(answer.exact and answer.fixed_same for answer in outcome.answers)
    assert outcome.probes == outcome.pruned == outcome.pruned_by_similarity


SIGNATURE = b"\x89PNG\r\n\x1a\n"


def test_the_command_writes_a_png_with_more_than_nothing_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = pytest.importorskip("matplotlib.image")
    out = tmp_path / "new" / "figure.png"
    monkeypatch.setattr(
        sys, "argv", ["arm_figure", "--out", str(out), "--queries", "12", "--profiles", "balanced", "aggressive"]
    )
    arm_figure.main()
    assert out.read_bytes().startswith(SIGNATURE)
    pixels = image.imread(out)
    assert min(pixels.shape[:2]) > 300
    assert 0.0 < (pixels[..., :3] < 0.99).mean() < 0.5
    for colour in arm_figure.COLOURS[:2]:
        rgb = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        assert (abs(pixels[..., :3] - rgb).max(axis=-1) < 0.02).any()


def test_an_item_that_is_read_is_consolidated_and_one_that_is_not_fades() -> None:
    read, unread = arm_figure.strengths(Policy.preset("balanced"), 40)
    assert [strength for step, strength in read if step >= 24] == [pytest.approx(0.95**6)] * 17
    assert unread[40][1] == pytest.approx(0.95**35)


def test_the_remembered_fraction_is_sampled_over_time() -> None:
    samples = arm_figure.fared(Policy.preset("broad_adaptation"), 40, seed=0)
    assert [sample.step for sample in samples] == list(range(1, 41))
    fractions = [sample.remembered_fraction for sample in samples]
    assert fractions == sorted(fractions)
    assert 0.0 < fractions[-1] < 1.0
    assert samples[-1].strengths.stale_norm > 0.0


def test_no_queries_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["arm_figure", "--queries", "0"])
    with pytest.raises(SystemExit):
        arm_figure.main()
    assert "--queries is 0" in capsys.readouterr().err
