"""The alarm clock: calls in order of time, also those added meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from simulator.rtc.pacer import Pacer, pacer


class FakeTimer:
    def __init__(self, when: float, call: Callable[[], None]) -> None:
        self.when, self.call, self.cancelled = when, call, False

    def cancel(self) -> None:
        self.cancelled = True


class FakeLoop:
    """A loop whose time is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[FakeTimer] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, call: Callable[[], None]) -> FakeTimer:
        self.timers.append(FakeTimer(when, call))
        return self.timers[-1]

    def advance(self, to: float) -> None:
        while ready := [t for t in self.timers if not t.cancelled and t.when <= to]:
            first = min(ready, key=lambda t: t.when)
            self.timers.remove(first)
            self.now = max(self.now, first.when)
            first.call()
        self.now = to


def test_calls_come_in_order_whatever_the_order_of_asking() -> None:
    loop, called = FakeLoop(), list[str]()
    alarm = Pacer(loop)  # type: ignore[arg-type]
    alarm.at(3.0, lambda: called.append("c"))
    alarm.at(1.0, lambda: called.append("a"))
    alarm.at(2.0, lambda: called.append("b"))
    loop.advance(2.5)
    assert called == ["a", "b"]
    loop.advance(9.0)
    assert called == ["a", "b", "c"]
    assert sum(not timer.cancelled for timer in loop.timers) == 0


def test_a_call_may_ask_for_the_next() -> None:
    loop, called = FakeLoop(), list[float]()
    alarm = Pacer(loop)  # type: ignore[arg-type]

    def again() -> None:
        called.append(loop.now)
        if len(called) < 4:
            alarm.at(loop.now + 0.5, again)

    alarm.at(1.0, again)
    loop.advance(5.0)
    assert called == [1.0, 1.5, 2.0, 2.5]


def test_what_is_due_together_goes_in_one_go() -> None:
    loop, called = FakeLoop(), list[int]()
    alarm = Pacer(loop)  # type: ignore[arg-type]
    for number in range(100):
        alarm.at(1.0, lambda number=number: called.append(number))  # type: ignore[misc]
    assert len(loop.timers) - sum(timer.cancelled for timer in loop.timers) == 1
    loop.advance(1.0)
    assert called == list(range(100))


async def test_one_for_each_loop() -> None:
    done = asyncio.Event()
    assert pacer() is pacer()
    pacer().at(asyncio.get_running_loop().time() + 0.01, done.set)
    await asyncio.wait_for(done.wait(), 2)
