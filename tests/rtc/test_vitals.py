"""Health from packets: send errors, loss over wraps, round trip, proof of arrival."""

from __future__ import annotations

import struct

import pytest

from simulator.protocol.rtcp import reports
from simulator.rtc.vitals import Vitals


def rtp(seq: int, ssrc: int = 7) -> bytes:
    return struct.pack(">BBHII", 0x80, 96, seq & 0xFFFF, 0, ssrc) + b"x"


def sender_report(ntp: int, blocks: bytes = b"", count: int = 0) -> bytes:
    body = struct.pack(">IQIII", 7, ntp, 0, 0, 0) + blocks
    return struct.pack(">BBH", 0x80 | count, 200, len(body) // 4) + body


def block(ssrc: int, lost: int, since: int, delay: float) -> bytes:
    fraction_and_lost = lost.to_bytes(3, signed=True)
    return struct.pack(">IB3sIIII", ssrc, 0, fraction_and_lost, 9, 3, since, int(delay * 65_536))


def receiver_report(*blocks: bytes) -> bytes:
    body = struct.pack(">I", 1) + b"".join(blocks)
    return struct.pack(">BBH", 0x80 | len(blocks), 201, len(body) // 4) + body


def test_send_errors_of_the_last_second_and_of_the_call() -> None:
    vitals = Vitals()
    vitals.sent_rtp(1.0, "audio", [rtp(1)], 0.8)
    for index in range(100):
        due = 5.0 + index / 200 - 0.002
        vitals.sent_rtp(5.0 + index / 200, "audio", [rtp(index)], due)
    vitals.sent_rtp(5.5, "video", [rtp(1)], 5.47)
    vitals.sent_rtp(5.5, "video", [rtp(1)], None)
    assert vitals.sent == 103
    record = vitals.health(5.6, drops=3)
    assert record.send_max_ms == pytest.approx(30)
    assert record.send_p99_ms == pytest.approx(2)
    assert record.drops == 3
    assert vitals.send_p99_ms() == pytest.approx(30.0, abs=0.2)
    assert Vitals().send_p99_ms() == 0.0


def test_losses_are_counted_over_a_wrap_and_reordering() -> None:
    vitals = Vitals()
    for seq in [*range(65_530, 65_536), 0, 1, 4, 3, 6]:
        vitals.received_rtp(1.0, "audio", rtp(seq))
    assert vitals.lost == 2  # 2 and 5
    assert vitals.last_heard == 1.0


def test_round_trip_and_reports() -> None:
    vitals = Vitals()
    vitals.sent_rtp(9.0, "audio", [rtp(1, 7)], 9.0)
    vitals.sent_rtp(9.0, "video", [rtp(1, 8)], 9.0)
    vitals.sent_rtcp(10.0, sender_report(0xAAAA_1234_5678_BBBB))
    report = receiver_report(block(7, 4, 0x1234_5678, 0.5), block(8, -1, 0, 0.0))
    vitals.received_rtcp(10.53, report)
    assert vitals.reported == 2
    assert vitals.rtt == pytest.approx(0.03, abs=1e-4)
    assert vitals.lost_there == 3
    sending = vitals.sending()
    assert sending.reported_at == 10.53
    sound, picture = sending.tracks
    assert (sound.track, sound.packets, sound.left_until, sound.arrived_until) == (
        "audio", 1, 9.0, 9.0,
    )  # fmt: skip
    assert picture.track == "video"


@pytest.mark.parametrize("cut", range(0, 60, 3))
def test_reports_that_are_cut_off_are_harmless(cut: int) -> None:
    whole = sender_report(1, block(7, 1, 0, 0), 1) + receiver_report(block(7, 1, 0, 0))
    assert len(list(reports(whole[:cut]))) <= 1
    assert len(list(reports(whole))) == 2
