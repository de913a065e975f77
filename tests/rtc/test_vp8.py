"""Pictures in VP8, for agents without H264: from a clip to what such an agent sees."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from aiortc.codecs import depayload
from aiortc.rtcrtpparameters import RTCRtpCodecParameters

from simulator.agent import Dial
from simulator.clock import WallClock
from simulator.media.cache import Cache
from simulator.media.encode import Encoding
from simulator.media.packets import PacketFile
from simulator.media.prepare import prepare
from simulator.plugins import content_root
from simulator.protocol.tap import NullTap
from simulator.rtc.peer import dial
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.types import Clip, Scenario, Turn

CLOCK = WallClock()
VP8 = RTCRtpCodecParameters(mimeType="video/VP8", clockRate=90_000)
BLOCKS = content_root("scenarios") / "starter/mer-blocks/media/blocks.mp4", 10.0
BOTTLES = "bottles_remove_replace.mp4", 5.0
"""A real camera: a hand takes the left bottle."""
SECONDS = 3.0


def prepared(path: Path, start: float, folder: Path) -> PacketFile:
    turn = Turn(id="t1", index=0, clip="main", start=start, end=start + SECONDS, expect=Quiet())
    scenario = Scenario(
        id="vp8",
        path=path,
        sha256="0" * 64,
        clips={"main": Clip(name="main", path=path)},
        turns=(turn,),
    )
    made = prepare(scenario, cache=Cache(folder), encoding=Encoding(codec="vp8"))
    assert made.codec == "vp8"
    return PacketFile.open(made.turns[0].segment.path)


def luma(frame: av.VideoFrame) -> Any:
    return frame.to_ndarray()[: frame.height]


def decoded(frames: list[bytes]) -> list[Any]:
    decoder: Any = av.CodecContext.create("vp8", "r")
    return [luma(f) for data in frames for f in decoder.decode(av.Packet(data))]


def source(path: Path, start: float) -> list[Any]:
    """What the clip shows, 30 pictures a second as in a 720p canvas."""
    with av.open(str(path)) as container:
        shown = [
            (float(f.time), luma(f.reformat(1280, 720, "yuv420p")))
            for f in container.decode(video=0)
            if f.time is not None and start - 0.1 <= f.time < start + SECONDS + 0.1
        ]
    times = np.array([t for t, _ in shown])
    return [
        shown[int(np.searchsorted(times, start + k / 30 + 1e-6, "right")) - 1][1] for k in range(90)
    ]


@pytest.mark.parametrize("clip", [BLOCKS, BOTTLES], ids=["blocks", "bottles"])
def test_it_looks_like_the_clip_with_a_keyframe_each_second(
    request: pytest.FixtureRequest, tmp_path: Path, clip: tuple[Path | str, float]
) -> None:
    named, start = clip
    path = named if isinstance(named, Path) else request.getfixturevalue("media_dir") / named
    part = prepared(path, start, tmp_path)
    video = part.tracks["video"]
    assert (part.info["video"], video.codec) == ("vp8", "vp8")
    assert np.flatnonzero(video.key).tolist() == [0, 30, 60]
    assert video.size.max() < 70_000
    pictures = decoded([video.payload(i) for i in range(len(video))])
    assert len(pictures) == 90
    for seen, sent in zip(pictures, source(path, start), strict=True):
        difference = seen.astype(float) - sent.astype(float)
        assert 10 * np.log10(255**2 / (difference**2).mean()) > 34


async def test_an_agent_without_h264_gets_every_picture(agent: Any, tmp_path: Path) -> None:
    part = await asyncio.to_thread(prepared, *BLOCKS, tmp_path)

    def only_vp8(connection: Any) -> None:
        video = next(t for t in connection.getTransceivers() if t.kind == "video")
        video._codecs = [c for c in video._codecs if c.name in ("VP8", "rtx")]

    agent.codecs = only_vp8
    origin = CLOCK.now()
    async with dial(
        Dial(url=agent.url),
        clock=CLOCK,
        origin=origin,
        tap=NullTap(),
        video="vp8",
    ) as peer:
        assert peer.negotiated["tracks"]["video"]["codec"].lower() == "vp8"
        peer.playlist.play(part, round((peer.now() + 0.1) / 0.02) * 0.02)
        await asyncio.sleep(SECONDS + 0.5)
        kind = peer.negotiated["tracks"]["video"]["payload_type"]
    frames: dict[bytes, bytes] = {}
    for _, packet in agent.heard.of("video", kind):
        body = 12 + (4 + 4 * int.from_bytes(packet[14:16]) if packet[0] & 0x10 else 0)
        stamp = packet[4:8]
        frames[stamp] = frames.get(stamp, b"") + depayload(VP8, packet[body:])
    assert list(frames.values()) == [part.tracks["video"].payload(i) for i in range(90)]
