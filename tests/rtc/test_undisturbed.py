"""The garbage collector: silent while anybody plays, swept in pauses, back as it was after."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from simulator.rtc.undisturbed import Undisturbed


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    yield
    gc.enable()
    gc.unfreeze()


def test_the_first_silences_and_the_last_lets_go() -> None:
    held = Undisturbed()
    with held:
        with held:
            assert not gc.isenabled()
        assert not gc.isenabled()
        assert gc.get_freeze_count() > 0
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_it_stays_off_if_it_was_off() -> None:
    gc.disable()
    with Undisturbed():
        pass
    assert not gc.isenabled()


def test_young_garbage_is_swept_once_a_minute_and_only_in_a_pause() -> None:
    held = Undisturbed()
    with held:
        held.pause(100.0, 100.015)
        assert held.sweeps == 0  # the minute begins
        held.pause(130.0, 130.015)
        held.pause(161.0, 161.005)
        assert held.sweeps == 0  # too early, then too short a pause
        held.pause(161.0, 161.015)
        held.pause(161.1, 161.115)
        assert held.sweeps == 1
    held.pause(300.0, 300.015)
    assert held.sweeps == 1


def test_cycles_made_while_playing_are_collected() -> None:
    class Node:
        alive = 0

        def __init__(self) -> None:
            self.me = self
            Node.alive += 1

        def __del__(self) -> None:
            Node.alive -= 1

    held = Undisturbed()
    with held:
        for _ in range(100):
            Node()
        assert Node.alive == 100
        held.sweep()
        assert Node.alive == 0
