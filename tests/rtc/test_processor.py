"""How fast the core runs: what takes longer than usual says when the machine took it away."""

from __future__ import annotations

import pytest

from simulator.rtc.processor import Core
from simulator.rtc.vitals import Vitals

USUAL = 2e-6


def ran(core: Core, start: float, seconds: float, took: float) -> float:
    """A sample each 2 ms; when the last one was."""
    count = round(seconds / 0.002)
    for k in range(1, count + 1):
        core.add(start + k * 0.002, took)
    return start + count * 0.002


def test_a_spell_at_a_tenth_of_the_speed_is_seen_with_its_length() -> None:
    core = Core(lambda: 0.0)
    at = ran(core, 0.0, 4.0, USUAL)
    assert core.held == 0
    at = ran(core, at, 0.1, 10 * USUAL)
    assert core.held == pytest.approx(0.1)
    at = ran(core, at, 1.0, 1.2 * USUAL)
    assert core.held == pytest.approx(0.1)
    (spell,) = core.spells
    assert spell == pytest.approx((4.0, 4.1))


def test_what_is_usual_follows_the_machine_and_nothing_is_said_before_it_is_known() -> None:
    core = Core(lambda: 0.0)
    at = ran(core, 0.0, 0.1, 10 * USUAL)
    assert core.held == 0
    at = ran(core, at, 8.0, USUAL)
    at = ran(core, at, 0.05, 3 * USUAL)
    assert core.held == pytest.approx(0.05)


def test_one_slow_sample_is_an_interrupt() -> None:
    core = Core(lambda: 0.0)
    at = ran(core, 0.0, 4.0, USUAL)
    for _ in range(20):
        at = ran(core, at, 0.002, 50 * USUAL)
        at = ran(core, at, 0.002, USUAL)
    assert core.held == 0
    assert not core.spells


def test_a_pause_in_which_nobody_looked_is_not_held_against_the_machine() -> None:
    core = Core(lambda: 0.0)
    at = ran(core, 0.0, 4.0, USUAL)
    core.add(at + 30.0, 10 * USUAL)
    core.add(at + 30.002, 10 * USUAL)
    assert core.held == pytest.approx(0.05)


def test_a_sample_is_timed_on_the_clock_given() -> None:
    times = iter([5.000_002])
    core = Core(lambda: next(times))
    core.sample(5.0)
    assert core.next == pytest.approx(5.001_002)


def test_each_second_says_how_long_and_a_call_counts_only_its_own() -> None:
    core = Core(lambda: 0.0)
    at = ran(core, 0.0, 4.0, USUAL)
    at = ran(core, at, 0.2, 10 * USUAL)
    vitals = Vitals(core)
    at = ran(core, at, 0.3, 10 * USUAL)
    assert vitals.health(1.0, drops=0).core_held_ms == pytest.approx(300)
    at = ran(core, at, 0.5, USUAL)
    assert vitals.health(2.0, drops=0).core_held_ms == 0
    assert vitals.held_s == pytest.approx(0.3)
    assert Vitals().health(1.0, drops=0).core_held_ms == 0
