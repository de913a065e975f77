"""Where onsets are said to be, and how surely, against where they truly are: a row a kind.

Three real voices in OMNISTAGE_MEDIA (else made ones) are cut where an audible sample begins a word
and laid out as replies, with what servers, paths and microphones do to them: the truth is known to
the sample. `heard` is held against the arrival of the packet that holds the onset plus its offset
in it, `sent` against the sender's own times. Each voice is encoded once for all kinds that differ
in transport only.

    python tests/bench/bench_onset.py [--json] [--quick] [--only KIND]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np

from simulator.measuring.reply import UTTERANCE_GAP
from simulator.measuring.sound import Sound
from simulator.measuring.speech import levels_db
from simulator.measuring.trace import Speech
from simulator.measuring.utterances import join
from simulator.media.sound import load
from simulator.protocol.samples import PACKET, RATE, Mono
from simulator.recording.reader import RtpLog

VOICES = ("moonshine_two_cities.wav", "vctk_p260_en.mp3", "speech_tourism_en.wav")
REPLIES, QUICK = 70, 12
"""Replies a voice and kind."""
LOOK_AHEAD = 312
LEVEL = -20.0
"""Loudness of the voices, dB of full scale while they sound."""
STRONG = 15.0
"""Replies begin with a word whose first 10 ms are no further than this below the voice."""
START = 1.0
NEAR = 1.2
"""Seconds by which what is found may be off and be the reply's; beyond, it counts as withheld."""

Array = np.ndarray[Any, np.dtype[Any]]


# ---------------------------------------------------------------- voices


def voices(media: str) -> dict[str, list[Mono]]:
    found = {}
    for name in VOICES:
        path = Path(media) / name
        if media and path.is_file():
            found[name.split(".")[0]] = utterances(load(path).mean(axis=1))
    return found or {f"made {pitch:g} Hz": [made(pitch)] for pitch in (95.0, 130.0, 210.0)}


def utterances(sound: Mono) -> list[Mono]:
    """Pieces of a voice, each from the first audible sample of a word after a pause."""
    level = levels_db(sound, 480)
    loud = level > np.percentile(level, 95) - 30
    speaking = float(10 * np.log10(np.mean(10 ** (level[loud] / 10))))
    sound = sound * np.float32(10 ** ((LEVEL - speaking) / 20))
    fine = levels_db(sound, 48)
    above = fine > LEVEL - 20
    out = []
    last = -10_000
    for k in np.flatnonzero(above).tolist():
        quiet = k >= 50 and above[k - 50 : k].mean() < 0.05
        strong = levels_db(sound[k * 48 : k * 48 + 480], 480)[0] > LEVEL - STRONG
        goes_on = k + 1_000 < len(fine) and above[k : k + 300].mean() > 0.4
        if quiet and strong and goes_on and k - last > 400:
            first = k * 48 + int(np.argmax(np.abs(sound[k * 48 : k * 48 + 48]) > 10**-2))
            out.append(sound[first : first + 48 * 1_000].astype(np.float32))
            last = k
    return out


def made(pitch: float) -> Mono:
    t = np.arange(RATE) / RATE
    wave = sum(np.cos(2 * np.pi * k * pitch * t + k * k) / k for k in range(1, 20))
    return np.asarray(0.14 * wave / np.std(wave), np.float32)


# ---------------------------------------------------------------- what is said


@dataclass(frozen=True)
class Track:
    payloads: list[bytes]
    onsets: Array
    """First audible samples, as they come out of a decoder."""
    ends: Array
    silent: Array
    """Which packets hold nothing."""


def band(count: int, low: float, high: float, rng: Any) -> Array:
    """Noise of a band with a mean square of 1."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    f = np.fft.rfftfreq(count, 1 / RATE)
    spectrum[(f < low) | (f > high)] = 0
    wave = np.fft.irfft(spectrum, count)
    return np.asarray(wave / np.std(wave))


def track(pieces: Sequence[Mono], kind: str, count: int, rng: Any) -> Track:
    gaps = rng.uniform(2.4, 3.2, count)
    starts = np.round(START * RATE + np.cumsum((gaps + 1.0) * RATE) - gaps[0] * RATE).astype(int)
    sound = np.zeros(int(starts[-1]) + 3 * RATE)
    for k, first in enumerate(starts.tolist()):
        piece = pieces[k % len(pieces)].astype(np.float64).copy()
        piece *= 10 ** (rng.uniform(-3, 3) / 20)
        if kind.startswith("fade"):
            ramp = round(float(kind.split()[1]) / 1000 * RATE)
            piece[:ramp] *= np.linspace(0, 1, ramp)
        if kind == "inhale":
            length = round(0.3 * RATE)
            before = first - round(rng.uniform(0.01, 0.08) * RATE) - length
            shape = 10 ** (rng.uniform(-48, -38) / 20) * np.sin(np.pi * np.arange(length) / length)
            sound[before : before + length] += shape * band(length, 500, 6_000, rng)
        if kind == "hiss":
            begins = first - round(rng.uniform(0.5, 1.5) * RATE)
            until = first + len(piece)
            swell = np.minimum(1, np.arange(until - begins) / (0.4 * RATE)) * 10 ** (-50 / 20)
            sound[begins:until] += swell * band(until - begins, 100, 10_000, rng)
        if kind == "step":
            begins = first - round(rng.uniform(0.3, 1.5) * RATE)
            until = first + len(piece) + RATE // 2
            sound[begins:until] += 10 ** (-42 / 20) * band(until - begins, 100, 10_000, rng)
        sound[first : first + len(piece)] += piece
    if kind.startswith("noise"):
        level = LEVEL - float(kind.split()[1])
        sound += 10 ** (level / 20) * band(len(sound), 60, 8_000, rng)
    if kind == "hum":
        t = np.arange(len(sound)) / RATE
        sound += 10 ** (-40 / 20) * np.sqrt(2) * np.sin(2 * np.pi * 100 * t)
    power = levels_db(sound.astype(np.float32), PACKET)
    quiet = power < -70
    for _ in range(5):  # an encoder hangs on for 100 ms
        quiet[1:] &= quiet[:-1]
    payloads = encoded(sound)
    quiet = quiet[: len(payloads)]
    return Track(payloads, starts + LOOK_AHEAD, starts + LOOK_AHEAD + RATE, quiet)


def encoded(sound: Array) -> list[bytes]:
    encoder: Any = av.CodecContext.create("libopus", "w")
    encoder.sample_rate, encoder.layout, encoder.format = RATE, "mono", "s16"
    encoder.bit_rate, encoder.options = 32_000, {"compression_level": "4"}
    out = []
    pcm = (np.clip(sound, -1, 1) * 32767).astype(np.int16)
    for i in range(len(pcm) // PACKET):
        block = np.ascontiguousarray(pcm[i * PACKET : (i + 1) * PACKET])
        frame = av.AudioFrame.from_ndarray(block[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts = RATE, i * PACKET
        out += [bytes(p) for p in encoder.encode(frame)]
    return out


# ---------------------------------------------------------------- how it comes


@dataclass(frozen=True)
class Way:
    sent: Array
    """When the sender meant each packet to go, by its clock,"""
    arrival: Array
    """and when it came."""
    came: Array
    pace: float = 1.0
    """Seconds of ours in a second of the sender's clock."""


def way(kind: str, made: Track, rng: Any) -> Way:
    count = len(made.payloads)
    pace = 1.01 if kind == "clock 1 %" else 1.0
    sent = 3.0 + 0.02 * pace * np.arange(count)
    arrival = sent + rng.exponential(0.0003, count)
    came = np.ones(count, bool)
    onsets = made.onsets / RATE * pace + 3.0
    if kind == "dtx":
        came = ~made.silent | (np.arange(count) % 20 == 0)
    elif kind.startswith("stall"):
        length = float(kind.split()[1])
        for onset in onsets[::2].tolist():
            begin = onset - rng.uniform(0, length * 0.9)
            held = (sent >= begin) & (sent < begin + length)
            arrival[held] = begin + length + 2e-4 * np.arange(held.sum())
    elif kind == "burst":
        group = np.arange(count) // 42
        arrival = sent[np.minimum(group * 42 + 41, count - 1)] + 2e-4 * (np.arange(count) % 42)
    elif kind == "loss 3 %":
        came = rng.random(count) > 0.03
    elif kind == "jitter 50":
        arrival = sent + rng.uniform(0, 0.05, count)
    return Way(sent, arrival, came, pace)


def log(made: Track, how: Way) -> RtpLog:
    order = np.flatnonzero(how.came)[np.argsort(how.arrival[how.came], kind="stable")]
    sizes = np.array([len(p) for p in made.payloads])
    stops = np.cumsum(sizes)
    n = len(order)
    # What was not sent in silence has no number; what was lost has.
    numbers = np.arange(len(sizes))
    if made.silent.any() and how.came[made.silent].mean() < 0.5:
        numbers = np.cumsum(how.came) - 1
    return RtpLog(
        how.arrival[order], (100 + numbers[order]) & 0xFFFF, (5_000 + PACKET * order) & 0xFFFFFFFF,
        np.zeros(n, bool), np.full(n, 111), np.full(n, 9), sizes[order],
        (stops - sizes)[order], stops[order], b"".join(made.payloads),
    )  # fmt: skip


# ---------------------------------------------------------------- figures

SPOKEN = ("clean", "hiss", "step", "hum", "inhale", "noise 20", "noise 10", "fade 5", "fade 50")
CARRIED = ("dtx", "clock 1 %", "stall 0.5", "stall 2", "burst", "loss 3 %", "jitter 50")


def replies(made: Track, how: Way) -> tuple[list[tuple[float, float, float]], list[Speech]]:
    """What is true of each reply (heard, sent, end) and the runs that were found."""
    packet = made.onsets // PACKET
    inside = (made.onsets % PACKET) / RATE * how.pace
    ends = how.sent[made.ends // PACKET] + (made.ends % PACKET) / RATE
    heard = np.maximum(how.sent, how.arrival)[packet] + inside
    truths = list(zip(heard, how.sent[packet] + inside, ends, strict=True))
    return truths, list(join(Sound(log(made, how)).islands(), UTTERANCE_GAP))


def figures(kind: str, results: Sequence[tuple[Any, list[Speech]]]) -> dict[str, Any]:
    errors, sent, halves, count = [], [], [], 0
    for truths, runs in results:
        starts = np.array([r.start for r in runs])
        for heard, wire, _ in truths:
            count += 1
            if not len(starts):
                continue
            k = int(np.argmin(np.abs(starts - heard)))
            if abs(starts[k] - heard) < NEAR:
                errors.append(starts[k] - heard)
                halves.append(runs[k].uncertainty)
                placed = getattr(runs[k], "sent", None)
                sent.append((starts[k] if placed is None else placed) - wire)
    e, h, s = (1000 * np.array(v) for v in (errors, halves, sent))
    return {
        "kind": kind,
        "n": count,
        "bias_ms": round(float(e.mean()), 2),
        "p95_ms": round(float(np.percentile(np.abs(e), 95)), 2),
        "inside": round(float((np.abs(e) <= h + 1e-6).mean()), 3),
        "half_ms": round(float(np.median(h)), 2),
        "withheld": round(1 - len(e) / count, 3),
        "sent_p95_ms": round(float(np.percentile(np.abs(s), 95)), 2),
    }


def bench(count: int, only: str | None, show: Callable[[dict[str, Any]], None]) -> list[Any]:
    found = voices(os.environ.get("OMNISTAGE_MEDIA", "").split(os.pathsep)[0])
    clean: dict[str, Track] = {}
    rows = []
    for kind in (*SPOKEN, *CARRIED):
        if only and only not in kind:
            continue
        results = []
        for number, (name, pieces) in enumerate(found.items()):
            rng = np.random.default_rng(number)
            if kind in CARRIED or kind == "clean":
                if name not in clean:
                    clean[name] = track(pieces, "clean", count, rng)
                said = clean[name]
            else:
                said = track(pieces, kind, count, rng)
            results.append(replies(said, way(kind, said, np.random.default_rng(50 + number))))
        rows.append(figures(kind, results))
        show(rows[-1])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="kinds whose names hold this")
    arguments = parser.parse_args()
    began = time.perf_counter()
    heads = ("kind", "n", "bias_ms", "p95_ms", "inside", "half_ms", "withheld", "sent_p95_ms")
    if not arguments.json:
        print("".join(f"{h:>12}" for h in heads))
    rows = bench(
        QUICK if arguments.quick else REPLIES,
        arguments.only,
        lambda row: (
            None if arguments.json else print("".join(f"{row[h]!s:>12}" for h in heads), flush=True)
        ),
    )
    if arguments.json:
        print(json.dumps({"bench": "onset", "rows": rows}))
    else:
        print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
