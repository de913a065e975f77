"""Pictures as RTP payloads: what a receiver joins again is the picture, unit by unit."""

from __future__ import annotations

from aiortc.codecs import depayload
from aiortc.rtcrtpparameters import RTCRtpCodecParameters
from hypothesis import given
from hypothesis import strategies as st

from simulator.media.packets import PacketFile
from simulator.rtc.packetise import PAYLOAD_MAX, Piece, h264, packetised, vp8

H264 = RTCRtpCodecParameters(mimeType="video/H264", clockRate=90_000)
VP8 = RTCRtpCodecParameters(mimeType="video/VP8", clockRate=90_000)
START = b"\0\0\0\1"


def payloads(picture: bytes, pieces: tuple[Piece, ...]) -> list[bytes]:
    return [head + picture[a:b] for head, a, b in pieces]


def unit(kind: int, size: int) -> bytes:
    """A NAL unit with no start code in it and no zero at its end."""
    return bytes((0x60 | kind,)) + bytes(1 + i % 251 for i in range(size - 1))


SIZES = st.integers(2, 9_000) | st.integers(1_290, 1_310) | st.integers(2, 40)


@given(st.lists(st.tuples(st.sampled_from((1, 5, 6, 7, 8)), SIZES), min_size=1, max_size=6))
def test_joined_again_it_is_the_same_picture(units: list[tuple[int, int]]) -> None:
    picture = b"".join(START + unit(kind, size) for kind, size in units)
    sent = payloads(picture, h264(picture))
    assert b"".join(depayload(H264, p) for p in sent) == picture
    assert all(0 < len(p) <= PAYLOAD_MAX for p in sent)


@given(st.binary(min_size=1, max_size=5_000))
def test_so_is_a_frame_of_vp8(frame: bytes) -> None:
    sent = payloads(frame, vp8(frame))
    assert b"".join(depayload(VP8, p) for p in sent) == frame
    assert all(1 < len(p) <= PAYLOAD_MAX for p in sent)
    assert [p[0] for p in sent] == [0x10] + [0] * (len(sent) - 1)


def test_small_units_go_together_and_fragments_are_of_one_size() -> None:
    sets, slice_ = unit(7, 20) + b"", unit(5, 4_000)
    picture = START + sets + START + unit(8, 5) + b"\0\0\1" + slice_
    sent = payloads(picture, h264(picture))
    assert [p[0] & 0x1F for p in sent] == [24, 28, 28, 28, 28]
    assert [len(p) for p in sent[1:]] == [1_002, 1_002, 1_002, 3_999 - 3_000 + 2]
    assert [p[1] >> 6 for p in sent[1:]] == [2, 0, 0, 1]
    assert {p[1] & 0x1F for p in sent[1:]} == {5}


def test_what_is_no_picture_makes_no_packets() -> None:
    assert h264(b"") == h264(b"no start code") == h264(START) == vp8(b"") == ()


def test_a_track_is_packetised_once_for_all_its_sessions(part: PacketFile) -> None:
    data = part.tracks["video"].payload(0)
    pieces = packetised(part.tracks["video"]).of(0, data)
    assert packetised(part.tracks["video"]).of(0, data) is pieces
    assert pieces == h264(data)
