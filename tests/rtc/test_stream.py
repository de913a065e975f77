"""The events' queue: in order, bounded, its end."""

from __future__ import annotations

import asyncio

from simulator.protocol.events import Drained, Fault, Text, Whose
from simulator.rtc.stream import EventStream


async def test_events_come_in_order_and_end_after_close() -> None:
    stream = EventStream()
    stream.put(1.0, Text(text="a"))
    stream.put(2.0, Text(text="b"))
    stream.close()
    stream.put(3.0, Text(text="lost"))
    assert [(t, e) async for t, e in stream] == [(1.0, Text(text="a")), (2.0, Text(text="b"))]


async def test_a_waiting_reader_is_woken() -> None:
    stream = EventStream()

    async def first() -> float:
        async for t, _ in stream:
            return t
        return -1.0

    async with asyncio.TaskGroup() as group:
        reader = group.create_task(first())
        await asyncio.sleep(0)
        stream.put(5.0, Drained(response="r"))
    assert reader.result() == 5.0


def test_it_is_bounded_and_counts_but_never_drops_the_end() -> None:
    stream = EventStream(limit=10)
    for index in range(30):
        stream.put(index, Text(text="x"))
    assert (len(stream), stream.dropped) == (10, 20)
    for index in range(30):
        stream.put(index, Drained(response="r"))
    assert (len(stream), stream.dropped) == (20, 40)
    stream.put(99, Fault(whose=Whose.AGENT, code="gone", message="", fatal=True))
    assert len(stream) == 21
