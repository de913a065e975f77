"""The clocks: what is asked for happens at its time, in order, and on no other clock's account."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.clock import WALL, Clock, ManualClock, Timer, WallClock, settle


class Ahead(WallClock):
    """The machine's, but for its zero."""

    def now(self) -> float:
        return WALL.now() + 5.0


async def test_calls_come_at_their_times_in_order() -> None:
    clock, called = ManualClock(10.0), list[tuple[str, float]]()
    for name, when in (("c", 12.0), ("a", 11.0), ("b", 11.0), ("past", 3.0)):
        clock.call_at(when, lambda name=name: called.append((name, clock.now())))  # type: ignore[misc]
    dropped = clock.call_at(11.5, lambda: called.append(("dropped", clock.now())))
    dropped.cancel()
    assert called == []
    await clock.advance(1.5)
    assert called == [("past", 10.0), ("a", 11.0), ("b", 11.0)]
    await clock.advance(1.5)
    assert called[-1] == ("c", 12.0)
    assert (clock.now(), clock.next_at) == (13.0, None)


async def test_who_is_ready_runs_before_the_time_moves() -> None:
    """A chain of tasks that wake each other has run to its end at the time at which it began."""
    clock, seen = ManualClock(), list[float]()
    bells = [asyncio.Event() for _ in range(50)]

    async def link(number: int) -> None:
        await bells[number].wait()
        seen.append(clock.now())
        if number + 1 < len(bells):
            bells[number + 1].set()

    async with asyncio.TaskGroup() as group:
        for number in range(len(bells)):
            group.create_task(link(number))
        clock.call_at(1.0, bells[0].set)
        clock.call_at(1.5, lambda: seen.append(-clock.now()))
        await clock.advance(2.0)
    assert seen == [1.0] * 50 + [-1.5]


async def test_a_leap_goes_to_the_next_time_and_no_further() -> None:
    clock, woken = ManualClock(), list[float]()

    async def sleeper(when: float) -> None:
        await clock.sleep_until(when)
        woken.append(clock.now())

    async with asyncio.TaskGroup() as group:
        for when in (3.0, 1.0, 2.0):
            group.create_task(sleeper(when))
        assert await clock.leap()
        assert (woken, clock.now()) == ([1.0], 1.0)
        while await clock.leap():
            pass
    assert woken == [1.0, 2.0, 3.0]


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20), st.floats(0, 1e9))
@settings(deadline=None)
async def test_nobody_is_woken_before_its_time_or_late(times: list[float], start: float) -> None:
    clock, woken = ManualClock(start), list[tuple[float, float]]()

    async def sleeper(when: float) -> None:
        await clock.sleep_until(when)
        woken.append((when, clock.now()))

    async with asyncio.TaskGroup() as group:
        for after in times:
            group.create_task(sleeper(start + after))
        while await clock.leap():
            pass
    assert len(woken) == len(times)
    assert all(now == max(when, start) for when, now in woken)


@pytest.mark.parametrize("clock", [WALL, Ahead()], ids=["the machine's", "one that is ahead"])
async def test_what_takes_too_long_is_broken_off(clock: Clock) -> None:
    began = WALL.now()
    with pytest.raises(TimeoutError):
        async with clock.within(0.05):
            await asyncio.Event().wait()
    assert 0.04 < WALL.now() - began < 2.0
    async with clock.within(5.0):
        await clock.sleep(0.01)
    assert WALL.now() - began < 3.0


async def test_a_limit_can_be_moved_and_taken_off() -> None:
    clock = ManualClock()

    async def waits(move: Callable[[Clock], float | None]) -> float:
        try:
            async with clock.within(1.0) as limit:
                limit.move(move(clock))
                await clock.sleep_until(9.0)
        except TimeoutError:
            assert limit.expired
        return clock.now()

    async with asyncio.TaskGroup() as group:
        sooner = group.create_task(waits(lambda _: 0.5))
        later = group.create_task(waits(lambda _: 3.0))
        never = group.create_task(waits(lambda _: None))
        while await clock.leap():
            pass
    assert [t.result() for t in (sooner, later, never)] == [0.5, 3.0, 9.0]


async def test_a_clock_of_ones_own_needs_two_things() -> None:
    """Everything else follows from now and call_at."""

    class Twice(Clock):
        """Time passes twice as fast."""

        def now(self) -> float:
            return 2 * WALL.now()

        def call_at(self, when: float, call: Callable[[], object]) -> Timer:
            return WALL.call_at(when / 2, call)

    clock = Twice()
    began, seen = WALL.now(), clock.now()
    await clock.sleep(0.2)
    assert 0.09 < WALL.now() - began < 1.0
    assert clock.now() - seen >= 0.2


async def test_settling_waits_for_what_is_ready_and_not_for_what_waits() -> None:
    done = list[int]()

    async def steps() -> None:
        for number in range(20):
            await asyncio.sleep(0)
            done.append(number)
        await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(steps())
        await settle()
        assert done == list(range(20))
        task.cancel()


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
async def test_a_clock_goes_on(seconds: float) -> None:
    clock = ManualClock(5.0)
    with pytest.raises(ValueError, match="a clock goes on"):
        await clock.advance(seconds)
    assert clock.now() == 5.0
