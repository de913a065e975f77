"""Receiver reports: what counts as proof that our media arrived."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from simulator.protocol.rtcp import Report, media_arrived, reports


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


def test_arrival_needs_reports_on_us_that_move() -> None:
    one = receiver_report(block(7, 100))
    two = receiver_report(block(7, 180))
    assert media_arrived([one, two], {7})
    assert media_arrived([one], {7})
    assert not media_arrived([one, one], {7})
    assert not media_arrived([one, two], {8})
    assert not media_arrived([receiver_report()], {7})
    assert not media_arrived([], {7})


@given(st.binary(max_size=80))
def test_anything_else_is_harmless(packet: bytes) -> None:
    list(reports(packet))
    list(reports(receiver_report(block(7, 1))[: len(packet)]))
