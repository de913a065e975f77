"""Receiver reports: what counts as proof that our media arrived."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.protocol.rtcp import Arrival, Report, reports


def block(ssrc: int, highest: int, lost: int = 0) -> bytes:
    return struct.pack(">IIIIII", ssrc, lost & 0xFFFFFF, highest, 0, 0, 0)


def receiver_report(*blocks: bytes) -> bytes:
    body = b"".join(blocks)
    return struct.pack(">BBHI", 0x80 | len(blocks), 201, 1 + len(body) // 4, 42) + body


def sender_report(*blocks: bytes) -> bytes:
    body = b"\0" * 20 + b"".join(blocks)
    return struct.pack(">BBHI", 0x80 | len(blocks), 200, 1 + len(body) // 4, 42) + body


def test_blocks_of_compound_packets() -> None:
    sdes = struct.pack(">BBH", 0x81, 202, 2) + b"\0\0\0\x2a\1\0\0\0"
    packet = (
        sender_report(block(7, 100, lost=-2)) + sdes + receiver_report(block(8, 5), block(7, 6))
    )
    assert list(reports(packet)) == [
        Report(7, -2, 100, 0, 0.0),
        Report(8, 0, 5, 0, 0.0),
        Report(7, 0, 6, 0, 0.0),
    ]


def followed(*steps: tuple[str, float, int]) -> Arrival:
    """An arrival that saw packets leave and reports come: (what, when, sequence number)."""
    arrival = Arrival()
    for what, t, number in steps:
        if what == "left":
            arrival.left(number & 0xFFFF, t)
        else:
            arrival.reported(number, t)
    return arrival


def test_arrival_is_when_the_newest_packet_left_that_is_reported() -> None:
    arrival = followed(
        ("left", 1.0, 100),
        ("left", 1.5, 125),
        ("told", 1.8, 140),
        ("left", 2.0, 150),
        ("left", 2.5, 175),
        ("told", 3.0, 151),
    )
    assert arrival.until == 2.0
    assert arrival.apart == pytest.approx(1.2)


def test_nothing_has_arrived_as_long_as_nothing_is_reported() -> None:
    assert followed(("left", 1.0, 100)).until is None
    assert followed(("told", 1.0, 100)).until is None
    assert followed(("left", 1.0, 100), ("told", 1.2, 3)).until is None


def test_a_stream_that_stops_arriving_stays_where_it_was() -> None:
    steps = [("left", n / 4, 1_000 + 12 * n) for n in range(80)]
    told = [("told", 0.1 + n, min(1_000 + 48 * n, 1_200)) for n in range(20)]
    arrival = followed(*sorted([*steps, *told], key=lambda step: step[1]))
    assert arrival.until == pytest.approx(4.0)
    assert arrival.apart == pytest.approx(1.0)


def test_numbers_that_wrap_are_followed() -> None:
    """Whether the other side counts cycles, or not, or began with another."""
    for cycles in (0, 1 << 16, 5 << 16):
        arrival = followed(
            ("left", 1.0, 65_500),
            ("left", 2.0, 65_500 + 50),
            ("told", 2.1, cycles + (65_500 + 60) % 65_536),
        )
        assert arrival.until == 2.0


def test_a_side_that_says_nonsense_proves_nothing() -> None:
    """That it has what has not left, or has lost what it had."""
    left = [("left", n / 4, 1_000 + 12 * n) for n in range(40)]
    for told in (
        [("told", 1.05, 1_000 + 30_000)],
        [("told", 1.05, 1_040), ("told", 2.05, 1_090), ("told", 3.05, 1_000 - 20_000)],
        [("told", float(n) + 0.05, 0) for n in range(1, 9)],
    ):
        arrival = followed(*sorted([*left, *told], key=lambda step: step[1]))
        assert arrival.until is None, told


@given(st.binary(max_size=80))
def test_anything_else_is_harmless(packet: bytes) -> None:
    list(reports(packet))
    list(reports(receiver_report(block(7, 1))[: len(packet)]))
