"""A stage for recordings: sounds known to the sample, encoded and written as in a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from struct import pack
from typing import Any, Protocol

import av
import numpy as np
import pytest

from simulator.protocol.conditions import USUAL, Conditions
from simulator.protocol.samples import PACKET, RATE, Mono
from simulator.protocol.tracks import AUDIO, Track
from simulator.recording.manifest import AgentInfo, Manifest, ScenarioInfo, TurnInfo, track_infos
from simulator.recording.writer import RecordingWriter

OUR_AUDIO, THEIRS = 1001, 2001
"""SSRCs."""


def voice(seconds: float, *, pitch: float = 130.0, level: float = 0.25) -> Mono:
    """Something like a voice: harmonics under two formants, swelling four times a second, of a
    pitch that moves as no tone's does; its very first and very last samples are audible."""
    t = np.arange(round(seconds * RATE)) / RATE
    moved = 0.12 * np.sin(2 * np.pi * 3.1 * t) / (2 * np.pi * 3.1)
    sound = np.zeros(len(t))
    for k in range(1, 28):
        f = k * pitch
        weight = np.exp(-(((f - 600) / 300) ** 2)) + 0.5 * np.exp(-(((f - 1700) / 400) ** 2)) + 0.03
        sound += weight * np.cos(2 * np.pi * f * (t + moved) + k * k)
    sound *= level / np.abs(sound).max() * (0.7 + 0.3 * np.cos(2 * np.pi * 4 * t))
    return sound.astype(np.float32)


def silence(seconds: float) -> Mono:
    return np.zeros(round(seconds * RATE), np.float32)


def placed(seconds: float, *sounds: tuple[float, Mono]) -> Mono:
    """A track of silence with sounds that begin at given seconds."""
    track = silence(seconds)
    for at, sound in sounds:
        first = round(at * RATE)
        track[first : first + len(sound)] += sound[: len(track) - first]
    return track


def opus(samples: Mono) -> list[bytes]:
    """As packets of 20 ms; like every libopus encoder's they come out 312 samples late."""
    return list(_opus(samples.tobytes()))


@lru_cache(maxsize=32)
def _opus(data: bytes) -> tuple[bytes, ...]:
    samples = np.frombuffer(data, np.float32)
    encoder: Any = av.CodecContext.create("libopus", "w")
    encoder.sample_rate, encoder.layout, encoder.format = RATE, "mono", "s16"
    encoder.bit_rate = 48_000
    out = []
    pcm = (np.clip(samples, -1, 1) * 32767).astype(np.int16)
    for i in range(len(pcm) // PACKET):
        block = np.ascontiguousarray(pcm[i * PACKET : (i + 1) * PACKET])
        frame = av.AudioFrame.from_ndarray(block[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts = RATE, i * PACKET
        out += [bytes(p) for p in encoder.encode(frame)]
    return tuple(out)


def rtp(seq: int, stamp: int, ssrc: int, payload: bytes, *, pt: int = 111) -> bytes:
    return pack(">BBHII", 0x80, pt, seq & 0xFFFF, stamp & 0xFFFFFFFF, ssrc) + payload


@dataclass
class Stage:
    """Writes one recording; session times throughout."""

    folder: Path
    turns: tuple[TurnInfo, ...] = ()
    tracks: tuple[Track, ...] = (AUDIO,)
    """A stage has no pictures, unless a test shows some."""
    conditions: Conditions = USUAL
    shared_host: bool = False
    secrets: Sequence[str] = ()
    packets: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        manifest = Manifest(
            scenario=ScenarioInfo(id="stage", sha256="00"),
            agent=AgentInfo(reference="fake"),
            tracks=track_infos(self.tracks),
            turns=self.turns,
            conditions=self.conditions,
            shared_host=self.shared_host,
        )
        self.writer = RecordingWriter(self.folder, manifest, secrets=self.secrets)

    def event(self, t: float, record: Any, turn: str | None = None) -> None:
        self.packets.append((t, lambda: self.writer.write(t, turn, record)))

    def user(self, start: float, samples: Mono, *, late: Callable[[float], float]) -> None:
        """Our sound from session time `start`; each packet is due at its end."""
        for i, payload in enumerate(opus(samples)):
            due = start + (i + 1) * 0.02
            packet = rtp(i, 5_000 + i * PACKET, OUR_AUDIO, payload)
            self.packets.append(
                (due + late(due), lambda p=packet, d=due: self._sent("audio", d + late(d), p, d))  # type: ignore[misc]
            )

    def _sent(self, kind: Any, t: float, packet: bytes, due: float) -> None:
        self.writer.sent_rtp(t, kind, [packet], due)

    def packet(self, t: float, packet: bytes) -> None:
        """A packet of the agent's sound arrives."""
        self.packets.append((t, lambda: self.writer.received_rtp(t, "audio", packet)))

    def agent(
        self,
        start: float,
        samples: Mono,
        *,
        seq: int = 100,
        stamp: int = 77_000,
        ppm: float = 0.0,
        jitter: Callable[[int], float] = lambda i: 0.0,
        lost: Callable[[int], bool] = lambda i: False,
        send: Callable[[int], bool] = lambda i: True,
        ssrc: int = THEIRS,
    ) -> None:
        """The agent's sound: its first packet arrives at `start`, so that its first sample can be
        heard then. `ppm`: how much faster than ours its clock runs. `send` False: not sent, and
        the sequence numbers go on without it; `lost`: sent and lost."""
        number = seq
        for i, payload in enumerate(opus(samples)):
            if not send(i):
                continue
            packet = rtp(number, stamp + i * PACKET, ssrc, payload)
            number += 1
            if lost(i):
                continue
            t = start + i * 0.02 / (1 + ppm * 1e-6) + jitter(i)
            self.packets.append(
                (t, lambda t=t, p=packet: self.writer.received_rtp(t, "audio", p))  # type: ignore[misc]
            )

    def close(self) -> Path:
        """Write everything in order of time."""
        with self.writer:
            for _, write in sorted(self.packets, key=lambda entry: entry[0]):
                write()
        return self.folder


class MakeStage(Protocol):
    def __call__(self, **options: Any) -> Stage: ...


@pytest.fixture
def stage(tmp_path: Path) -> MakeStage:
    """Makes stages in a folder of their own."""

    def make(name: str = "recording", **options: Any) -> Stage:
        return Stage(tmp_path / name, **options)

    return make


class Sounds:
    """The functions above, for tests."""

    voice = staticmethod(voice)
    silence = staticmethod(silence)
    placed = staticmethod(placed)
    opus = staticmethod(opus)
    rtp = staticmethod(rtp)


@pytest.fixture(scope="session")
def sounds() -> type[Sounds]:
    return Sounds
