"""Replies whose onsets are known to the sample, and what is done to them: for `bench_onset` and
`bench_onset_calls`.

A reply is a second of a real voice, cut off before the first audible sample of a word after a
pause: before the cut there is digital silence, so the cut is the onset, whoever looks for it.
Voices of `DEVELOPMENT` are those by which the product was made, those of `HELD_OUT` are only ever
scored: once something was made better by what they showed, they belong to the others. Of each,
`strong` beginnings (most of them vowels and stops) and `soft` ones (s, f, h, nasals, a vowel that
comes slowly) are kept apart, for in noise nobody can tell where a soft one begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np

from simulator.measuring.levels import levels_db
from simulator.media.sound import load
from simulator.protocol.samples import PACKET, RATE, Mono
from simulator.recording.reader import RtpLog

DEVELOPMENT = (
    "moonshine_two_cities.wav",
    "vctk_p260_en.mp3",
    "speech_tourism_en.wav",
    "call_loan_nl.wav",
    "talk_trip_es.wav",
    "news_wind_ar.wav",
    "read_bank_pt.wav",
    "call_bill_it.wav",
    "talk_friends_es.wav",
    "read_dreams_ar.wav",
    "ami_round.wav",
    "read_watson_zh.wav",
)
HELD_OUT = (
    "call_chromecast_en.wav",
    "read_rights_fr.wav",
    "q_three_en_zh.wav",
    "q_hotel_ko.wav",
    "q_delivery_ko.wav",
    "read_es.wav",
    "librivox_notice_es.wav",
    "barista_en_3.wav",
)
BUNDLED = Path(__file__).parents[2] / "scenarios" / "starter"
"""Its instructions, of several made voices, are the third set: nothing was tuned by them either."""
LOOK_AHEAD = 312
LEVEL = -20.0
"""Loudness of the voices, dB of full scale while they sound."""
STRONG = 15.0
"""A strong beginning's first 10 ms are no further than this below the voice;"""
SOFT = 10
"""a soft one comes as near within so many times 10 ms: what takes longer may be breath."""
START = 1.0

Array = np.ndarray[Any, np.dtype[Any]]


# ---------------------------------------------------------------- voices


@dataclass(frozen=True)
class Voice:
    name: str
    strong: list[Mono]
    soft: list[Mono]


def voices(names: str, media: str) -> list[Voice]:
    """The voices of a set: `development`, `held-out`, `bundled`, or of files that are named."""
    if names == "bundled":
        paths = sorted(BUNDLED.glob("*/speech/*.flac"))
        pieces = [utterances(load(p).mean(axis=1)) for p in paths]
        # Every fifth file is a voice, so to say: rows want several.
        return [
            Voice(f"bundled {k}", [s for a, _ in pieces[k::5] for s in a],
                  [s for _, b in pieces[k::5] for s in b])
            for k in range(5)
        ]  # fmt: skip
    sets = {"development": DEVELOPMENT, "held-out": HELD_OUT}
    found = []
    for name in sets.get(names) or names.split(","):
        path = Path(media) / name
        if not media or not path.is_file():
            raise SystemExit(f"no {name} in {media or 'OMNISTAGE_MEDIA, which is not set'}")
        found.append(Voice(path.stem, *utterances(load(path).mean(axis=1))))
    return found


def utterances(sound: Mono) -> tuple[list[Mono], list[Mono]]:
    """Pieces of a voice that begin strongly, and those that begin softly."""
    level = levels_db(sound, 480)
    loud = level > np.percentile(level, 95) - 30
    speaking = float(10 * np.log10(np.mean(10 ** (level[loud] / 10))))
    sound = sound * np.float32(10 ** ((LEVEL - speaking) / 20))
    sound = np.concatenate([np.zeros(4_800, np.float32), sound])
    fine = levels_db(sound, 48)
    above = fine > LEVEL - 20
    strong: list[Mono] = []
    soft: list[Mono] = []
    last = -10_000
    for k in np.flatnonzero(above).tolist():
        quiet = k >= 50 and above[k - 50 : k].mean() < 0.05
        goes_on = k + 1_000 < len(fine) and above[k : k + 300].mean() > 0.4
        if quiet and goes_on and k - last > 400:
            first = k * 48 + int(np.argmax(np.abs(sound[k * 48 : k * 48 + 48]) > 10**-2))
            piece = sound[first : first + 48 * 1_000].astype(np.float32)
            head = levels_db(piece[: SOFT * 480], 480) > LEVEL - STRONG
            if head.any():
                (strong if head[0] else soft).append(piece)
            last = k
    return strong, soft


# ---------------------------------------------------------------- what is said


@dataclass(frozen=True)
class Track:
    payloads: list[bytes]
    onsets: Array
    """First audible samples, as they come out of a decoder."""
    silent: Array
    """Which packets hold nothing."""
    packet: int = PACKET
    """Samples of each."""


def band(count: int, low: float, high: float, rng: Any) -> Array:
    """Noise of a band with a mean square of 1."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    f = np.fft.rfftfreq(count, 1 / RATE)
    spectrum[(f < low) | (f > high)] = 0
    wave = np.fft.irfft(spectrum, count)
    return np.asarray(wave / np.std(wave))


def db(level: float) -> float:
    return float(10 ** (level / 20))


def track(voice: Voice, kind: str, count: int, rng: Any) -> Track:
    """Replies of a voice with what this kind does to them."""
    pieces = voice.soft if kind.startswith("soft") else voice.strong
    gaps = rng.uniform(2.4, 3.2, count)
    starts = np.round(START * RATE + np.cumsum((gaps + 1.0) * RATE) - gaps[0] * RATE).astype(int)
    sound = np.zeros(int(starts[-1]) + 3 * RATE)
    for k, first in enumerate(starts.tolist()):
        piece = pieces[k % len(pieces)].astype(np.float64) * db(rng.uniform(-3, 3))
        until = first + len(piece)
        match kind.split(maxsplit=1)[0]:
            case "fade":
                ramp = round(float(kind.split()[1]) / 1000 * RATE)
                piece[:ramp] *= np.linspace(0, 1, ramp)
            case "quiet":
                piece *= db(-20)
            case "whisper":
                piece = whispered(piece, rng)
            case "inhale":
                length = round(0.3 * RATE)
                before = first - round(rng.uniform(0.01, 0.08) * RATE) - length
                swell = db(rng.uniform(-48, -38)) * np.sin(np.pi * np.arange(length) / length)
                sound[before : before + length] += swell * band(length, 500, 6_000, rng)
            case "hiss":
                begins = first - round(rng.uniform(0.5, 1.5) * RATE)
                swell = np.minimum(1, np.arange(until - begins) / (0.4 * RATE)) * db(-50)
                sound[begins:until] += swell * band(until - begins, 100, 10_000, rng)
            case "step":
                begins, ends = first - round(rng.uniform(0.3, 1.5) * RATE), until + RATE // 2
                sound[begins:ends] += db(-42) * band(ends - begins, 100, 10_000, rng)
            case "agc":
                # The gain creeps up in silence, and so does the room; at the voice it falls back.
                begins = first - round(1.5 * RATE)
                room = np.interp(
                    np.arange(begins, until), [begins, first, first + 0.2 * RATE], [-75, -46, -65]
                )
                sound[begins:until] += 10 ** (room / 20) * band(until - begins, 100, 8_000, rng)
                piece[: RATE // 5] *= 10 ** (np.linspace(8, 0, RATE // 5) / 20)
            case "click":
                at = first - round(rng.uniform(0.06, 0.5) * RATE)
                sound[at : at + 96] += db(-20) * rng.standard_normal(96)
            case "two":
                other = pieces[(k + 1) % len(pieces)] * db(-6)
                after = first + round(rng.uniform(0.1, 0.4) * RATE)
                sound[after : after + len(other)] += other
            case _:
                pass
        sound[first:until] += piece
    if "noise" in kind:
        sound += db(LEVEL - float(kind.rsplit(maxsplit=1)[-1])) * band(len(sound), 60, 8_000, rng)
    elif kind == "comfort":
        sound += db(-62) * band(len(sound), 100, 4_000, rng)
    elif kind == "hum":
        t = np.arange(len(sound)) / RATE
        sound += db(-40) * np.sqrt(2) * np.sin(2 * np.pi * 100 * t)
    elif kind == "music":
        sound += db(LEVEL - 20) * music(len(sound), rng)
    elif kind == "stereo 44.1":
        sound = as_44100(sound)
    packet = PACKET
    if kind.startswith("packets"):
        packet = round(float(kind.split()[1]) / 1000 * RATE)
    payloads = encoded(sound, packet)
    quiet = levels_db(sound.astype(np.float32), packet)[: len(payloads)] < -55
    for _ in range(5):  # an encoder hangs on for 100 ms
        quiet[1:] &= quiet[:-1]
    return Track(payloads, starts + LOOK_AHEAD, quiet, packet)


def whispered(piece: Array, rng: Any) -> Array:
    """The same words without a pitch: noise with the spectrum of each 10 ms."""
    size = 960
    window = np.hanning(size)
    out = np.zeros(len(piece) + size)
    padded = np.concatenate([piece[size // 2 : 0 : -1], piece, np.zeros(size)])
    for at in range(0, len(piece), size // 2):
        shape = np.abs(np.fft.rfft(padded[at : at + size] * window))
        shape = np.convolve(shape, np.ones(7) / 7, "same")
        noise = np.fft.rfft(rng.standard_normal(size))
        out[at : at + size] += np.fft.irfft(shape * noise / np.abs(noise), size) * window
    out = out[size // 2 : size // 2 + len(piece)]
    return np.asarray(out * db(LEVEL - 6) / np.sqrt(np.mean(out**2)))


def music(count: int, rng: Any) -> Array:
    """Chords of four notes, a new one each 0.4 to 0.9 s, that swell and fade."""
    out = np.zeros(count)
    at = 0
    while at < count:
        length = min(round(rng.uniform(0.4, 0.9) * RATE), count - at)
        t = np.arange(length) / RATE
        for note in rng.choice([196, 220, 262, 294, 330, 392, 440, 523], 4, replace=False):
            for k in range(1, 5):
                out[at : at + length] += np.sin(2 * np.pi * note * k * t + k) / k
        out[at : at + length] *= np.minimum(1, np.minimum(t, t[::-1]) / 0.05)
        at += length
    return out / np.std(out)


def as_44100(sound: Array) -> Array:
    """As of a source in stereo of 44.1 kHz."""
    pcm = np.repeat((np.clip(sound, -1, 1) * 32767).astype(np.int16), 2)[None, :]
    for rate, layout in ((44_100, "stereo"), (RATE, "mono")):
        resampler = av.AudioResampler("s16", layout, rate)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(pcm), "s16", "stereo")
        frame.sample_rate = RATE if rate == 44_100 else 44_100
        frames = [*resampler.resample(frame), *resampler.resample(None)]
        pcm = np.concatenate([f.to_ndarray() for f in frames], axis=1)
    return np.asarray(pcm[0] / 32768.0)


def encoded(sound: Array, packet: int = PACKET) -> list[bytes]:
    encoder: Any = av.CodecContext.create("libopus", "w")
    encoder.sample_rate, encoder.layout, encoder.format = RATE, "mono", "s16"
    encoder.bit_rate = 32_000
    encoder.options = {"compression_level": "4", "frame_duration": f"{packet * 1000 / RATE:g}"}
    out = []
    pcm = (np.clip(sound, -1, 1) * 32767).astype(np.int16)
    for i in range(len(pcm) // packet):
        block = np.ascontiguousarray(pcm[i * packet : (i + 1) * packet])
        frame = av.AudioFrame.from_ndarray(block[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts = RATE, i * packet
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
    stamps: Array
    numbers: Array
    pace: float = 1.0
    """Seconds of ours in a second of the sender's clock."""
    twice: float = 0.0
    """Share of the packets that come once more."""


PACES = {"clock 1 %": 1.01, "clock -3 %": 0.97, "clock 0.3 %": 1.003}


def way(kind: str, made: Track, rng: Any) -> Way:
    """When the packets of a track come, in this kind."""
    count = len(made.payloads)
    step = made.packet / RATE
    pace = PACES.get(kind, 1.0)
    ideal = step * np.arange(count)
    sent = 3.0 + pace * ideal
    if kind == "sleep-paced":
        # Each sleep is over by a little, and now and then by much.
        over = rng.exponential(0.0003, count) + 0.01 * (rng.random(count) < 0.01)
        sent = 3.0 + ideal + np.cumsum(over) - over[0]
    arrival = sent + rng.exponential(0.0003, count)
    came = np.ones(count, bool)
    stamps, numbers = 5_000 + made.packet * np.arange(count), np.arange(count)
    onsets = made.onsets / RATE * pace + 3.0
    before = made.onsets // made.packet - rng.integers(8, 30, len(made.onsets))
    twice = 0.0
    if kind in ("dtx", "comfort", "stamps still"):
        came = ~made.silent | (np.arange(count) % 20 == 0)
        if kind == "stamps still":
            came = ~made.silent
            stamps = 5_000 + made.packet * (np.cumsum(came) - 1)
        numbers = np.cumsum(came) - 1
    elif kind.startswith("stall"):
        length = float(kind.split()[1])
        for onset in onsets[::2].tolist():
            begin = onset - rng.uniform(0, length * 0.9)
            held = (sent >= begin) & (sent < begin + length)
            arrival[held] = begin + length + 2e-4 * np.arange(held.sum())
    elif kind == "burst":
        group = np.arange(count) // 42
        arrival = sent[np.minimum(group * 42 + 41, count - 1)] + 2e-4 * (np.arange(count) % 42)
    elif kind == "outage":
        for onset in onsets[::3].tolist():
            begin = onset - rng.uniform(-0.3, 1.2)
            came &= (sent < begin) | (sent > begin + 1.0)
    elif kind == "loss 3 %":
        came = rng.random(count) > 0.03
    elif kind == "jitter 50":
        arrival = sent + rng.uniform(0, 0.05, count)
    elif kind == "reordered":
        arrival = arrival + 0.045 * (rng.random(count) < 0.1)
    elif kind == "doubled":
        twice = 0.2
    elif kind == "stamps jump":
        for k in before.tolist():
            stamps[max(k, 0) :] += int(rng.integers(9_600, 480_000))
    elif kind == "restart":
        for k in before.tolist():
            stamps[max(k, 0) :] = int(rng.integers(0, 2**31)) + made.packet * np.arange(
                count - max(k, 0)
            )
            numbers[max(k, 0) :] = int(rng.integers(0, 2**15)) + np.arange(count - max(k, 0))
    return Way(sent, arrival, came, stamps, numbers, pace, twice)


def log(made: Track, how: Way) -> RtpLog:
    chosen = np.flatnonzero(how.came)
    arrival = how.arrival[chosen]
    if how.twice:
        again = chosen[np.random.default_rng(7).random(len(chosen)) < how.twice]
        arrival = np.concatenate([arrival, how.arrival[again] + 0.007])
        chosen = np.concatenate([chosen, again])
    order = chosen[np.argsort(arrival, kind="stable")]
    sizes = np.array([len(p) for p in made.payloads])
    stops = np.cumsum(sizes)
    n = len(order)
    return RtpLog(
        np.sort(arrival), (100 + how.numbers[order]) & 0xFFFF, how.stamps[order] & 0xFFFFFFFF,
        np.zeros(n, bool), np.full(n, 111), np.full(n, 9), sizes[order],
        (stops - sizes)[order], stops[order], b"".join(made.payloads),
    )  # fmt: skip


SPOKEN = (
    "clean", "hiss", "step", "hum", "inhale", "noise 20", "noise 10", "fade 5", "fade 50",
    "soft", "soft noise 20", "soft noise 10", "quiet", "agc", "click", "comfort", "stereo 44.1",
    "packets 10", "packets 60", "whisper", "music", "two voices",
)  # fmt: skip
"""What is done to the sound,"""
CARRIED = (
    "dtx", "clock 1 %", "stall 0.5", "stall 2", "burst", "loss 3 %", "jitter 50", "reordered",
    "doubled", "outage", "stamps still", "stamps jump", "restart", "clock -3 %", "clock 0.3 %",
    "sleep-paced",
)  # fmt: skip
"""and to the packets of a clean one."""
LATE = ("stall 0.5", "stall 2", "burst")
"""Kinds in which what is heard and what was sent differ."""


def replies(made: Track, how: Way) -> list[tuple[float, float]]:
    """When each reply could truly be heard, and when it was sent."""
    packet = made.onsets // made.packet
    inside = (made.onsets % made.packet) / RATE * how.pace
    arrived = np.where(how.came, np.maximum(how.sent, how.arrival), np.nan)
    # What was lost could not be heard: the truth is then the first packet that came.
    out = []
    for k, rest in zip(packet.tolist(), inside.tolist(), strict=True):
        heard = arrived[k] + rest
        if np.isnan(heard):
            later = arrived[k:]
            heard = float(later[np.flatnonzero(~np.isnan(later))[0]])
        out.append((float(heard), float(how.sent[k] + rest)))
    return out


def sequences(kinds: Sequence[str] = (*SPOKEN, *CARRIED), only: str | None = None) -> list[str]:
    return [k for k in kinds if not only or any(o in k for o in only.split(","))]
