"""The pcap's bytes: as the format says, and whatever is cut off."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.protocol.rtp import header_size
from simulator.recording.rtplog import (
    FILE_HEADER,
    Flow,
    NotALogError,
    head,
    scan,
    stamp,
)

FLOWS = [Flow(sent, port) for sent in (True, False) for port in (5004, 5005, 5006, 5008)]
PACKETS = st.lists(
    st.tuples(st.floats(0, 1e5), st.sampled_from(FLOWS), st.binary(max_size=60)), max_size=8
)


def written(packets: list[tuple[float, Flow, bytes]]) -> bytes:
    records = [stamp(t) + head(f, len(p), len(p)) + p for t, f, p in packets]
    return b"".join((FILE_HEADER, *records))


@given(PACKETS)
def test_packets_come_back(packets: list[tuple[float, Flow, bytes]]) -> None:
    data = written(packets)
    found = list(scan(data))
    assert [(c.flow, data[c.start : c.start + c.kept]) for c in found] == [
        (f, p) for _, f, p in packets
    ]
    assert all(abs(c.t - t) < 2e-9 + t * 1e-15 for c, (t, _, _) in zip(found, packets, strict=True))


@given(PACKETS, st.data())
def test_a_log_cut_anywhere_reads_up_to_there(
    packets: list[tuple[float, Flow, bytes]], data: st.DataObject
) -> None:
    whole = written(packets)
    cut = data.draw(st.integers(0, len(whole)))
    assert list(scan(whole[:cut])) == [c for c in scan(whole) if c.start + c.kept <= cut]


def test_the_record_is_ip_and_udp_with_a_right_checksum() -> None:
    data = written([(3.25, Flow(True, 5004), b"\x80" + b"\0" * 19)])[len(FILE_HEADER) :]
    seconds, nanos, kept, whole = struct.unpack_from(">IIII", data)
    assert (seconds, nanos, kept, whole) == (3, 250_000_000, 48, 48)
    header = data[16:36]
    total = sum(struct.unpack(">10H", header))
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF
    assert header[0] == 0x45
    assert header[9] == 17
    assert struct.unpack_from(">HHH", data, 36) == (5004, 5004, 28)


def test_header_sizes() -> None:
    assert header_size(b"\x80" + b"\0" * 30) == 12
    assert header_size(b"\x82" + b"\0" * 30) == 20
    extended = b"\x90" + b"\0" * 11 + b"\xbe\xde\0\x02" + b"\0" * 20
    assert header_size(extended) == 24
    assert header_size(extended[:14]) == 14
    assert header_size(b"\x80\0") == 2


def test_another_file_is_no_log() -> None:
    with pytest.raises(NotALogError):
        list(scan(b"\xd4\xc3\xb2\xa1" + b"\0" * 40))
    assert list(scan(b"")) == []
