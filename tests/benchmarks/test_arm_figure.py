"""Is the figure a figure: written by the command, a PNG, with lines on it that do what the paper says?"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from adaptive_memory_core import Policy
from benchmarks import arm_figure

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
