"""The alarm clock: calls in order of time, also those added meanwhile."""

from __future__ import annotations

import asyncio

from simulator.clock import WALL, ManualClock, WallClock
from simulator.rtc.pacer import Pacer, pacer


async def test_calls_come_in_order_whatever_the_order_of_asking() -> None:
    clock, called = ManualClock(), list[str]()
    alarm = Pacer(clock)
    alarm.at(3.0, lambda: called.append("c"))
    alarm.at(1.0, lambda: called.append("a"))
    alarm.at(2.0, lambda: called.append("b"))
    await clock.advance(2.5)
    assert called == ["a", "b"]
    await clock.advance(9.0)
    assert called == ["a", "b", "c"]
    assert clock.next_at is None


async def test_a_call_may_ask_for_the_next() -> None:
    clock, called = ManualClock(), list[float]()
    alarm = Pacer(clock)

    def again() -> None:
        called.append(clock.now())
        if len(called) < 4:
            alarm.at(clock.now() + 0.5, again)

    alarm.at(1.0, again)
    await clock.advance(5.0)
    assert called == [1.0, 1.5, 2.0, 2.5]


async def test_what_is_due_together_goes_in_one_go() -> None:
    clock, called = ManualClock(), list[int]()
    alarm = Pacer(clock)
    for number in range(100):
        alarm.at(1.0, lambda number=number: called.append(number))  # type: ignore[misc]
    assert clock.next_at == 1.0
    assert await clock.leap()
    assert called == list(range(100))
    assert not await clock.leap()


async def test_it_goes_by_the_clock_that_it_is_given() -> None:
    """One that is five seconds off the event loop's once sent nothing at all."""

    class Ahead(WallClock):
        def now(self) -> float:
            return WALL.now() + 5.0

    done, clock = asyncio.Event(), Ahead()
    pacer(clock).at(clock.now() + 0.01, done.set)
    async with WALL.within(2):
        await done.wait()


async def test_one_for_each_clock_of_a_loop() -> None:
    assert pacer(WALL) is pacer(WALL)
    assert pacer(WALL) is not pacer(ManualClock())
