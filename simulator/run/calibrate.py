"""Proves the measuring: a latency put into an agent must come out of a recording.

A train of clicks is played over the real path (playlist, WebRTC, taps, recording) to agents that
answer a set time after each click they hear. The recording is measured as any other is, and what
comes out beyond the set time, the packet and the codec is the instrument's own error. Counterparts:
`agents/metronome.py` answers, `simulator.measuring.sound` measures, `omnistage calibrate` prints.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from simulator.agent import Agent, Dial, Launch
from simulator.clock import WALL, Clock
from simulator.errors import AgentError, InputError, InstrumentError
from simulator.measuring.sound import Sound
from simulator.media.encode import LOOKAHEAD, Encoding, PictureEncoder, encode_sound
from simulator.media.packets import PacketWriter
from simulator.media.timeline import PTIME, Asset, on_grid
from simulator.plugins import load_agent
from simulator.protocol.events import Fault, Ready
from simulator.protocol.samples import Stereo
from simulator.protocol.tracks import AUDIO, AUDIO_CLOCK, VIDEO
from simulator.recording.manifest import AgentInfo, Manifest, ScenarioInfo
from simulator.recording.reader import Recording
from simulator.recording.writer import RecordingWriter
from simulator.rtc.dialects import found
from simulator.rtc.peer import dial
from simulator.scenario.types import Canvas

AGENT = "metronome"
DELAYS = (0.1, 0.3, 0.8)
PACKET_MS = 20.0
"""Stated: a sample of the user's sound leaves with its packet, up to 20 ms after it was spoken; the
agent hears it 20 ms later than it was spoken, wherever in the packet it lies."""
CODEC_MS = 1000 * LOOKAHEAD / AUDIO_CLOCK
"""Stated: the look-ahead of the agent's Opus encoder. Preparing media makes up for that of ours."""
BIAS_MS = 3.0
"""The largest bias with which the instrument passes."""
SPREAD_MS = 2.0
"""And the largest standard deviation."""
_LEAD_IN = 0.6
_GAP = 0.25
"""Seconds from the end of an answer to the next click, at least."""
_ANSWER = 0.12
"""Seconds that an answer sounds."""
_CLICK_HZ, _CLICK_S, _CLICK_LEVEL = 1_500.0, 0.010, 0.6
_NEAR = 0.09
"""Seconds by which an answer may be off and still be a click's."""
_CANVAS = Canvas(width=320, height=240, fps=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRow:
    """What came out for one delay."""

    delay_s: float
    """What was put in."""
    n: int
    """Clicks that were answered."""
    missed: int
    """Clicks that were not."""
    bias_ms: float
    """Mean of what came out, less the delay and what is stated."""
    sd_ms: float
    """Its standard deviation."""
    worst_ms: float
    """The largest error of a single answer."""

    @property
    def passed(self) -> bool:
        """Whether bias and spread are within bounds, and nothing is missing."""
        return self.missed == 0 and abs(self.bias_ms) <= BIAS_MS and self.sd_ms <= SPREAD_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """The instrument's error on this machine, now."""

    rows: tuple[CalibrationRow, ...]
    packet_ms: float
    """Stated and taken off: one packet of the user's sound."""
    codec_ms: float
    """Stated and taken off: the agent's Opus encoder."""
    send_p99_ms: float
    """How exactly the clicks were sent meanwhile: due to actual, 99th percentile."""

    @property
    def passed(self) -> bool:
        return all(row.passed for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """As a JSON object, with the bounds and whether they were kept."""
        return {
            **asdict(self),
            "rows": [{**asdict(row), "passed": row.passed} for row in self.rows],
            "bounds": {"bias_ms": BIAS_MS, "sd_ms": SPREAD_MS},
            "passed": self.passed,
        }


async def calibrate(
    delays: Sequence[float] = DELAYS,
    repeats: int = 20,
    *,
    clock: Clock | None = None,
    folder: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> CalibrationReport:
    """Measure what the instrument makes of known delays, all of them at once.

    Takes about `repeats` times the longest delay and 0.4 s. `folder` keeps the recordings (it must
    not hold them already), else they are thrown away. Raises InputError for delays that cannot be
    told apart from the click itself, AgentError and NetworkError as any session does.
    """
    if not delays or min(delays) < 0.05 or repeats < 1:
        raise InputError("calibrate needs delays of 0.05 s or more, and at least one repeat")
    clock = clock or WALL
    say = progress or (lambda words: None)
    with contextlib.ExitStack() as stack:
        if folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="omnistage-calibrate-")
            folder = Path(stack.enter_context(temporary))
        train = Train(max(delays) + _ANSWER + _GAP, repeats)
        part = train.write(_new(folder / "clicks.packets"))
        say(f"{repeats} clicks each to {len(delays)} agents, {part.duration:.0f} s")
        async with asyncio.TaskGroup() as tasks:
            played = [
                tasks.create_task(_play(delay, part, folder / f"delay-{delay:g}", clock))
                for delay in delays
            ]
        say("measuring")
        measured = [await asyncio.to_thread(measure, p.result(), train) for p in played]
    rows = [_row(delay, errors) for delay, (errors, _) in zip(delays, measured, strict=True)]
    return CalibrationReport(
        rows=tuple(rows),
        packet_ms=PACKET_MS,
        codec_ms=CODEC_MS,
        send_p99_ms=max(p99 for _, p99 in measured),
    )


class Train:
    """Clicks at known places, each somewhere else within its packet."""

    def __init__(self, period: float, repeats: int, *, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        steps = on_grid(period) * np.arange(repeats)
        self.times: NDArray[np.float64] = _LEAD_IN + steps + rng.uniform(0, PTIME, repeats)
        """Seconds from the part's start at which each click's first sample is."""
        self.period = on_grid(period)
        self.duration = on_grid(_LEAD_IN + self.period * repeats)

    def samples(self) -> Stereo:
        """Stereo, 48 kHz, full scale 1."""
        made = np.zeros((round(self.duration * AUDIO_CLOCK), 2), np.float32)
        count = round(_CLICK_S * AUDIO_CLOCK)
        # A cosine: the first sample is as loud as any, so that there is no doubt where it begins.
        wave = _CLICK_LEVEL * np.cos(2 * np.pi * _CLICK_HZ * np.arange(count) / AUDIO_CLOCK)
        for time in self.times.tolist():
            first = round(time * AUDIO_CLOCK)
            made[first : first + count] = wave[:, None]
        return made

    def write(self, path: Path) -> Asset:
        """The train as a part to play, with a grey picture."""
        pictures = PictureEncoder(_CANVAS, Encoding(), "bt709")
        grey = np.full((_CANVAS.height, _CANVAS.width, 3), 96, np.uint8)
        units = []
        for _ in range(int(np.ceil(self.duration * _CANVAS.fps - 1e-9))):
            units += pictures.add(av.VideoFrame.from_ndarray(grey, format="rgb24"))
        with PacketWriter(path, {AUDIO: "opus", VIDEO: "h264"}) as writer:
            for unit in [*units, *pictures.finish()]:
                writer.add(VIDEO, unit.pts, unit.data, key=unit.key)
            for number, payload in enumerate(encode_sound(self.samples())):
                writer.add(AUDIO, round(number * PTIME * AUDIO_CLOCK), payload)
            writer.finish(self.duration, {"profile-level-id": "42e01f"})
        return Asset(key="clicks", path=path, duration=self.duration)


async def _play(delay: float, part: Asset, folder: Path, clock: Clock) -> Path:
    """One session with a metronome; the folder of its recording."""
    agent = load_agent(AGENT, {"delay": repr(delay)})
    async with _opened(agent, folder.with_suffix(".log")) as target:
        manifest = Manifest(
            scenario=ScenarioInfo(id="calibration", sha256=""),
            agent=AgentInfo(reference=AGENT, options={"delay": repr(delay)}),
        )
        origin = clock.now()
        with RecordingWriter(folder, manifest, secrets=agent.secrets()) as writer:
            async with dial(target, clock=clock, origin=origin, tap=writer, parts=(part,)) as peer:
                async for _, event in peer.events:
                    if isinstance(event, Ready):
                        break
                    if isinstance(event, Fault) and event.fatal:
                        raise AgentError(event.message)
                at = on_grid(peer.now() + 0.1)
                peer.play(part, at)
                await clock.sleep_until(origin + at + part.duration + 0.3)
    return folder


@contextlib.asynccontextmanager
async def _opened(agent: Agent, log: Path) -> AsyncIterator[Dial]:
    async with agent.open(Launch(log=log)) as target:
        yield found(target, agent)


def measure(folder: Path, train: Train) -> tuple[NDArray[np.float64], float]:
    """The latency of each answer in milliseconds, nan where none came, and the send-time p99."""
    recording = Recording.open(folder)
    sent, due = recording.due(AUDIO.id)
    if not len(due):
        raise InstrumentError(f"{folder}: no sound was sent")
    began = float(due[0]) - PTIME
    spoken = began + train.times
    answers = Sound(recording.received(AUDIO.id)).islands("level")
    # By the agent's stamps: with arrivals our own loop's lag would be taken for its lateness.
    onsets = np.array([s.start if s.sent is None else s.sent for s in answers])
    latencies = np.full(len(spoken), np.nan)
    for n, time in enumerate(spoken.tolist()):
        after = onsets[(onsets > time) & (onsets < time + train.period)]
        if len(after):
            latencies[n] = 1000 * (after[0] - time)
    return latencies, float(np.percentile(1000 * np.abs(sent.t - due), 99))


def _row(delay: float, latencies: NDArray[np.float64]) -> CalibrationRow:
    errors = latencies - 1000 * delay - PACKET_MS - CODEC_MS
    errors = errors[np.abs(errors) < 1000 * _NEAR]
    n = len(errors)
    return CalibrationRow(
        delay_s=delay,
        n=n,
        missed=len(latencies) - n,
        bias_ms=float(np.mean(errors)) if n else float("nan"),
        sd_ms=float(np.std(errors, ddof=1)) if n > 1 else 0.0,
        worst_ms=float(errors[np.argmax(np.abs(errors))]) if n else float("nan"),
    )


def _new(path: Path) -> Path:
    """`path`, in a folder that is there. Raises InputError if it cannot be made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {path.parent}: {error.strerror}") from None
    return path
