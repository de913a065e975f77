"""A latency put in comes out, over the whole real path."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simulator.errors import InputError
from simulator.run.calibrate import CalibrationReport, CalibrationRow, Train, calibrate


async def test_what_is_put_in_comes_out(tmp_path: Path) -> None:
    said: list[str] = []
    report = await calibrate((0.1, 0.3), 5, folder=tmp_path, progress=said.append)
    for row, delay in zip(report.rows, (0.1, 0.3), strict=True):
        assert (row.delay_s, row.n, row.missed) == (delay, 5, 0)
        assert abs(row.bias_ms) <= 3.0
        assert row.sd_ms <= 2.0
    assert report.passed
    assert said
    assert (tmp_path / "delay-0.1" / "manifest.json").is_file()
    assert json.loads(json.dumps(report.to_json()))["passed"] is True


def test_clicks_are_where_the_train_says() -> None:
    train = Train(0.5, 8)
    loud = np.flatnonzero(np.abs(train.samples()[:, 0]) > 0.3)
    firsts = loud[np.diff(loud, prepend=-10_000) > 4_800]
    assert firsts / 48_000 == pytest.approx(train.times, abs=1e-4)
    within = np.round(train.times * 48_000).astype(int) % 960
    assert len(set(within.tolist())) == 8


def test_a_bias_a_spread_or_a_missing_answer_does_not_pass() -> None:
    def row(**but: float) -> CalibrationRow:
        given = {"delay_s": 0.1, "bias_ms": 1.0, "sd_ms": 0.5, "worst_ms": 2.0} | but
        return CalibrationRow(n=10, missed=int(given.pop("missed", 0)), **given)

    def passes(*rows: CalibrationRow) -> bool:
        return CalibrationReport(rows=rows, packet_ms=20, codec_ms=6.5, send_p99_ms=1).passed

    assert passes(row(), row(bias_ms=-3.0))
    for wrong in (row(bias_ms=-3.1), row(sd_ms=2.1), row(missed=1)):
        assert not passes(row(), wrong)


@pytest.mark.parametrize(("delays", "repeats"), [((), 5), ((0.01,), 5), ((0.1,), 0)])
async def test_what_cannot_be_calibrated(delays: tuple[float, ...], repeats: int) -> None:
    with pytest.raises(InputError):
        await calibrate(delays, repeats)
