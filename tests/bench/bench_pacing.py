"""How well many sessions in one process keep time, and what each costs.

Each session sends 720p30 at about 1.6 Mbps with Opus, with taps and a recording on; the receivers
are another process on another core. The alternative in the same run: aiortc's MediaPlayer, which
decodes and encodes for each session.

A machine shared with others may take most of a core away for some hundredths of a second, which no
timer shows: everything runs at a tenth of its speed (`simulator.rtc.processor` sees it). So beside
the figures of all packets stand those of the times at which the core ran at half its usual speed or
better.

    python tests/bench/bench_pacing.py [--sessions 64[,96,128]] [--seconds S] [--json] [--quick]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import aiohttp
import av
import numpy as np
import psutil
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.contrib.media import MediaPlayer
from numpy.typing import NDArray
from receivers import pin, receivers  # type: ignore[import-not-found]

from simulator.agent import Dial
from simulator.clock import WallClock, cpu_seconds
from simulator.media.packets import PacketFile, PacketWriter
from simulator.protocol.tracks import AUDIO, VIDEO
from simulator.recording.manifest import AgentInfo, Manifest, ScenarioInfo
from simulator.recording.writer import RecordingWriter
from simulator.rtc.pacer import pacer
from simulator.rtc.peer import Peer, dial
from simulator.rtc.playlist import Playlist

CLOCK = WallClock()
BITRATE = 1_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    sessions: int
    p50_ms: float
    p99_ms: float
    max_ms: float
    steady: float
    """Share of the time at which the core ran at half its usual speed or better,"""
    steady_p99_ms: float
    """and how late packets were then."""
    sent: int
    lost: int
    back: int
    """Packets received from the other side,"""
    lost_back: int
    """and lost on the way."""
    core_per_session: float
    mb_per_session: float
    mbps: float


BACKLOG = 0.050
"""Seconds after such a spell in which what has piled up leaves, and is not counted either."""


def slow(times: NDArray[np.float64], spells: Sequence[tuple[float, float]]) -> NDArray[np.bool_]:
    """Which of `times` fall into a spell in which the core was held back, or soon after one."""
    found = np.zeros(len(times), np.bool_)
    for start, end in spells:
        found |= (times >= start) & (times < end + BACKLOG)
    return found


class Errors:
    """A recording, with the errors of the send times beside it."""

    def __init__(self, recording: RecordingWriter) -> None:
        self.recording = recording
        self.times: list[float] = []
        self.errors: list[float] = []
        self.bytes = 0
        self.count = 0
        self.received_rtp = recording.received_rtp
        self.sent_rtcp = recording.sent_rtcp
        self.received_rtcp = recording.received_rtcp
        self.wire = recording.wire

    def sent_rtp(self, t: float, track: str, packets: Sequence[bytes], due: float | None) -> None:
        self.count += len(packets)
        self.bytes += sum(map(len, packets))
        if due is not None:
            self.errors += [abs(t - due)] * len(packets)
            self.times += [CLOCK.now()] * len(packets)
        self.recording.sent_rtp(t, track, packets, due)


MANIFEST = Manifest(
    scenario=ScenarioInfo(id="pacing", sha256=""), agent=AgentInfo(reference="receivers")
)


def clip(folder: Path, seconds: int) -> tuple[Path, Path]:
    """A made-up 720p30 clip at the wanted rate: as an MP4, and as a part. Returns both."""
    encoder: Any = av.CodecContext.create("libx264", "w")
    encoder.width, encoder.height, encoder.pix_fmt = 1280, 720, "yuv420p"
    encoder.time_base, encoder.framerate = Fraction(1, 30), Fraction(30, 1)
    encoder.bit_rate, encoder.gop_size, encoder.profile = BITRATE, 30, "Baseline"
    rate = str(BITRATE)
    encoder.options = {
        "preset": "superfast",
        "tune": "zerolatency",
        "maxrate": rate,
        "bufsize": rate,
    }
    rng = np.random.default_rng(3)
    small = rng.integers(0, 255, (90, 160), dtype=np.uint8)
    luma = np.kron(small, np.ones((8, 8), np.uint8))
    mp4, part = folder / "clip.mp4", folder / "clip.part"
    sound: Any = av.CodecContext.create("libopus", "w")
    sound.sample_rate, sound.layout, sound.format, sound.bit_rate = 48_000, "mono", "s16", 64_000
    noise = (rng.standard_normal(48_000 * seconds) * 3_000).astype(np.int16)
    with (
        av.open(str(mp4), "w") as container,
        PacketWriter(part, {AUDIO: "opus", VIDEO: "h264"}) as writer,
    ):
        stream: Any = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        stream.bit_rate, stream.options = BITRATE, {"preset": "superfast"}
        for index in range(30 * seconds):
            picture = np.full((1080, 1280), 128, np.uint8)
            picture[:720] = np.roll(luma, (2 * index, 3 * index), axis=(0, 1))
            picture[:720:4] ^= rng.integers(0, 32, (180, 1280), dtype=np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts = index
            for packet in encoder.encode(frame):
                writer.add(VIDEO, packet.pts * 3_000, bytes(packet), key=packet.is_keyframe)
            frame.pts = index
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
        for index in range(50 * seconds):
            piece = noise[960 * index : 960 * (index + 1)].reshape(1, -1)
            frame_ = av.AudioFrame.from_ndarray(piece, format="s16", layout="mono")
            frame_.sample_rate, frame_.pts = 48_000, 960 * index
            for packet in sound.encode(frame_):
                writer.add(AUDIO, 960 * index, bytes(packet))
        writer.finish(float(seconds), {"profile-level-id": "42e01f"})
    return mp4, part


async def play(base: str, part: PacketFile, sessions: int, seconds: float, folder: Path) -> Figures:
    process = psutil.Process()
    taps: list[Errors] = []
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(aiohttp.ClientSession())
        peers: list[tuple[Peer, Playlist]] = []
        first_rss = 0
        for index in range(sessions):
            recording = RecordingWriter(folder / f"{sessions}-{index}", MANIFEST)
            tap = Errors(stack.enter_context(recording))
            origin = CLOCK.now()
            target = Dial(url=f"{base}/v1/realtime/calls")
            peer = await stack.enter_async_context(
                dial(target, clock=CLOCK, origin=origin, tap=tap, http=http)
            )
            peers.append((peer, peer.playlist))
            taps.append(tap)
            if index == min(3, sessions - 1):
                first_rss = process.memory_info().rss
        await (await http.post(f"{base}/quiet")).release()
        start = CLOCK.now() + 0.2
        rng = np.random.default_rng(sessions)
        for _, playlist in peers:
            # Sessions begin whenever they like, so their keyframes do not all fall due at once.
            at = start + rng.uniform(0, part.duration) - (CLOCK.now() - playlist.now())
            playlist.play(part, round(at / 0.02) * 0.02, loop=True)
        await CLOCK.sleep_until(start + part.duration + 0.5)
        for tap in taps:
            tap.errors.clear()
            tap.times.clear()
            tap.bytes = 0
        cpu, began = cpu_seconds(), CLOCK.now()
        await CLOCK.sleep_until(began + seconds)
        cpu, lasted = cpu_seconds() - cpu, CLOCK.now() - began
        errors = np.concatenate([np.asarray(tap.errors) for tap in taps]) * 1e3
        times = np.concatenate([np.asarray(tap.times) for tap in taps])
        steady = errors[~slow(times, pacer(CLOCK).core.spells)]
        grid = np.arange(began, began + lasted, 0.001)
        held = float(slow(grid, pacer(CLOCK).core.spells).mean())
        rate = sum(tap.bytes for tap in taps) * 8 / lasted / sessions
        rss = process.memory_info().rss
        counts_before = [tap.count for tap in taps]
        await asyncio.sleep(0.2)
        async with http.get(f"{base}/counts") as response:
            counts = await response.json()
        heard = [c["audio"] + c["video"] for c in counts]
        # Against both counts: a receiver that died would not report a gap.
        lost = sum(
            max(c["lost"], s - h) for c, h, s in zip(counts, heard, counts_before, strict=True)
        )
        lost_back = sum(peer.vitals.lost for peer, _ in peers)
        back = sum(peer.vitals.received for peer, _ in peers)
        await (await http.post(f"{base}/clear")).release()
    return Figures(
        sessions=sessions,
        p50_ms=float(np.percentile(errors, 50)),
        p99_ms=float(np.percentile(errors, 99)),
        max_ms=float(errors.max()),
        steady=1 - held,
        steady_p99_ms=float(np.percentile(steady, 99)) if len(steady) else 0.0,
        sent=sum(counts_before),
        lost=max(0, lost),
        back=back,
        lost_back=lost_back,
        core_per_session=cpu / lasted / sessions,
        mb_per_session=(rss - first_rss) / max(1, sessions - 4) / 1e6,
        mbps=rate / 1e6,
    )


async def media_player(base: str, mp4: Path, seconds: float) -> float:
    """Cores that one session takes the ordinary way: decode, then encode."""
    player = MediaPlayer(str(mp4), loop=True)
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    assert player.video is not None
    video = connection.addTransceiver(player.video, "sendonly")
    capabilities = type(video.sender).getCapabilities("video").codecs
    video.setCodecPreferences([c for c in capabilities if c.name == "H264"])
    connection.addTransceiver("audio", "recvonly")
    connection.createDataChannel("oai-events")
    await connection.setLocalDescription(await connection.createOffer())
    async with aiohttp.ClientSession() as http:
        offer = connection.localDescription.sdp
        async with http.post(f"{base}/v1/realtime/calls", data=offer) as response:
            answer = RTCSessionDescription(await response.text(), "answer")
        await connection.setRemoteDescription(answer)
        await asyncio.sleep(1.0)
        cpu, began = cpu_seconds(), CLOCK.now()
        await asyncio.sleep(seconds)
        cores = (cpu_seconds() - cpu) / (CLOCK.now() - began)
        async with http.get(f"{base}/counts") as response:
            assert (await response.json())[-1]["video"] > 100
        await connection.close()
        await (await http.post(f"{base}/clear")).release()
    return cores


async def measure(args: argparse.Namespace) -> dict[str, Any]:
    pin(0)
    with tempfile.TemporaryDirectory() as name, receivers(1) as base:
        folder = Path(name)
        mp4, path = clip(folder, 4)
        part = PacketFile.open(path)
        rows = []
        for sessions in args.sessions:
            rows.append(await play(base, part, sessions, args.seconds, folder))
            row = rows[-1]
            print(
                f"{row.sessions:4d} sessions  p50 {row.p50_ms:6.2f}  p99 {row.p99_ms:6.2f}  max "
                f"{row.max_ms:6.2f} ms  (core steady {row.steady:.0%} of the time: p99 then "
                f"{row.steady_p99_ms:.2f})   "
                f"lost {row.lost} of {row.sent} sent, {row.lost_back} of {row.back} received   "
                f"core {row.core_per_session:.4f}  {row.mb_per_session:.2f} MB a session  "
                f"{row.mbps:.2f} Mbps",
                flush=True,
            )
        cores = await media_player(base, mp4, min(args.seconds, 8.0))
    ratio = cores / rows[0].core_per_session
    print(f"MediaPlayer (decode + encode): core {cores:.3f} a session, {ratio:.0f} times as much")
    within = [r.sessions for r in rows if r.p99_ms < 10 and r.lost == 0]
    steady = [r.sessions for r in rows if r.steady_p99_ms < 10 and r.lost == 0]
    return {
        "bench": "pacing",
        **asdict(rows[0]),
        "media_player_core": cores,
        "ratio": ratio,
        "sweep": [asdict(row) for row in rows],
        "most_within_10_ms": max(within, default=0),
        "most_within_10_ms_steady": max(steady, default=0),
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sessions", default="64", type=lambda s: [int(n) for n in s.split(",")])
    parser.add_argument("--seconds", default=20.0, type=float)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args(arguments)
    if args.quick:
        args.seconds = min(args.seconds, 5.0)
    figures = asyncio.run(measure(args))
    if args.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
