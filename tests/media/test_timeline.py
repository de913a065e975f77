"""When packets are due, and how times are rounded."""

from __future__ import annotations

import pytest

from simulator.media.timeline import SPREAD, on_grid, spread


def test_a_small_frame_leaves_at_once() -> None:
    assert [spread(i, 8) for i in range(8)] == [0.0] * 8


def test_a_keyframe_leaves_in_groups_of_eight_a_millisecond_apart() -> None:
    assert [spread(i, 50) for i in (0, 7, 8, 15, 16, 49)] == pytest.approx(
        [0, 0, 0.001, 0.001, 0.002, 0.006]
    )


@pytest.mark.parametrize("count", [1, 8, 9, 128, 129, 1_000, 12_345])
def test_every_frame_has_left_within_the_spread(count: int) -> None:
    times = [spread(i, count) for i in range(count)]
    assert times == sorted(times)
    assert times[-1] < SPREAD


def test_times_round_to_whole_packets_of_sound() -> None:
    assert on_grid(5.507) == pytest.approx(5.5)
    assert on_grid(5.511) == pytest.approx(5.52)
