"""Reads a recording's folder: its manifest, its events, and its packets as numpy arrays.

It reads whatever a writer left, up to the moment at which it ended or was killed. Counterparts:
`simulator.recording.writer` makes the folder, `simulator.measuring.measure` and
`simulator.report.film` use this; recordings/README.md is the specification.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simulator.errors import RecordingError
from simulator.media.timeline import spread
from simulator.protocol.conditions import Video
from simulator.protocol.rtp import header_size, unwrap
from simulator.protocol.tracks import Kind
from simulator.recording.manifest import (
    EVENTS,
    MANIFEST,
    RTP_LOG,
    Manifest,
    TrackInfo,
    manifest_from_json,
)
from simulator.recording.records import (
    Record,
    RtpRecord,
    SessionRecord,
    Stamped,
    Unknown,
    from_json,
)
from simulator.recording.rtplog import RTCP_PORT, Captured, Flow, NotALogError, scan
from simulator.text import all_well_formed

R = TypeVar("R", bound=Record | Unknown)


@dataclass(frozen=True, slots=True)
class RtpLog:
    """The packets of one stream in the order of their times; arrays of one length."""

    t: NDArray[np.float64]
    """Session time at which it left or arrived, seconds."""
    seq: NDArray[np.int64]
    """Sequence number, 0 to 65535."""
    rtp: NDArray[np.int64]
    """RTP stamp, 0 to 2**32 - 1."""
    marker: NDArray[np.bool_]
    pt: NDArray[np.int64]
    """Payload type."""
    ssrc: NDArray[np.int64]
    size: NDArray[np.int64]
    """Bytes of payload as it was on the wire, padding included."""
    _start: NDArray[np.int64]
    _stop: NDArray[np.int64]
    _data: bytes

    def __len__(self) -> int:
        return len(self.t)

    def payload(self, index: int) -> bytes:
        """What is kept of a payload, without padding: all of it for sound."""
        return self._data[int(self._start[index]) : int(self._stop[index])]

    def __getitem__(self, which: NDArray[Any]) -> RtpLog:
        """The packets that a mask or an array of indices picks."""
        return RtpLog(
            self.t[which],
            self.seq[which],
            self.rtp[which],
            self.marker[which],
            self.pt[which],
            self.ssrc[which],
            self.size[which],
            self._start[which],
            self._stop[which],
            self._data,
        )

    def first_sent(self) -> RtpLog:
        """Without resends: each sequence number the first time that it came, on one SSRC."""
        if not len(self):
            return self
        values, counts = np.unique(self.ssrc, return_counts=True)
        main = self[self.ssrc == values[np.argmax(counts)]]
        unwrapped = unwrap(main.seq, 16)
        _, first = np.unique(unwrapped, return_index=True)
        return main[np.sort(first)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Events:
    """What events.jsonl holds."""

    read: tuple[Stamped, ...]
    damaged: int
    missing: int


class Recording:
    """A recording's folder, open for reading; everything is read when first asked for."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest

    @classmethod
    def open(cls, folder: Path) -> Recording:
        """Raises RecordingError if it is not a recording, or of a version that we cannot read."""
        hint = "name a folder that holds a manifest.json, such as one below a run's recordings/"
        if not folder.is_dir():
            raise RecordingError(f"{folder}: no such recording", hint=hint)
        try:
            data = (folder / MANIFEST).read_bytes()
        except FileNotFoundError:
            raise RecordingError(f"{folder}: not a recording", hint=hint) from None
        except OSError as error:
            raise RecordingError(f"{folder / MANIFEST}: {error.strerror}") from None
        try:
            found = cls(folder, manifest_from_json(data))
        except RecordingError as error:
            raise RecordingError(f"{folder}: {error.message}", hint=error.hint) from None
        if found.manifest.version == 1 and found.codec is not None:
            conditions = replace(found.manifest.conditions, video=found.codec)
            found.manifest = replace(found.manifest, conditions=conditions)
        return found

    @cached_property
    def _read_events(self) -> _Events:
        found: dict[int, Stamped] = {}
        removed: set[int] = set()
        damaged = 0
        for line in self._bytes(EVENTS).split(b"\n"):
            if not line:
                continue
            try:
                value = json.loads(line)
                if not isinstance(value, dict):
                    raise ValueError("not an object")
                if "removed" in value and isinstance(value.get("seq"), int):
                    removed.add(value["seq"])
                # A message stays as it came; what was understood of it goes into texts of ours.
                as_it_came = value.get("type") == "wire"
                event = from_json(value if as_it_came else all_well_formed(value))
                if found.setdefault(event.seq, event) != event:
                    raise ValueError("another event has its number")
            except (ValueError, RecursionError):
                damaged += 1
        numbers = {n for n in found.keys() | removed if n >= 0}
        return _Events(
            read=tuple(found[n] for n in sorted(found)),
            damaged=damaged,
            missing=max(numbers, default=-1) + 1 - len(numbers),
        )

    def events(self) -> tuple[Stamped, ...]:
        """All events in the order in which they were written, by their numbers; each once."""
        return self._read_events.read

    @property
    def damaged(self) -> int:
        """Lines of events that could not be read; 1 if the last one was cut off."""
        return self._read_events.damaged

    @property
    def missing(self) -> int:
        """Events that were written before the last one, and cannot be read or are not there."""
        return self._read_events.missing

    def records(self, kind: type[R]) -> Iterator[tuple[Stamped, R]]:
        """The events of one type."""
        for event in self.events():
            if isinstance(event.record, kind):
                yield event, event.record

    @property
    def codec(self) -> Video | None:
        """Of the sent pictures, as it was negotiated; None if it never was."""
        names = [str(self.negotiated(t).get("codec")).lower() for t in self.tracks("video")]
        return next((Video(name) for name in names if name in tuple(Video)), None)

    @cached_property
    def _log(self) -> tuple[bytes, list[Captured]]:
        data = self._bytes(RTP_LOG)
        try:
            return data, list(scan(data))
        except NotALogError as error:
            raise RecordingError(f"{self.folder / RTP_LOG}: {error}") from None

    def track(self, name: str) -> TrackInfo:
        """A track by its name. Raises RecordingError if there is no such track."""
        for track in self.manifest.tracks:
            if track.id == name:
                return track
        raise RecordingError(f"{self.folder}: no track {name!r}")

    def tracks(self, kind: Kind) -> tuple[str, ...]:
        """The names of the tracks of a kind, in order."""
        return tuple(track.id for track in self.manifest.tracks if track.kind == kind)

    @property
    def voice(self) -> str:
        """The track in which the agent speaks: it answers in the section of our first sound.
        Raises RecordingError if there is no sound."""
        for track in self.manifest.tracks:
            if track.kind == "audio":
                return track.id
        raise RecordingError(f"{self.folder}: no track of sound")

    def negotiated(self, track: str) -> Mapping[str, Any]:
        """What was agreed on for a track; empty if nothing was, or it was not recorded."""
        for _, record in self.records(SessionRecord):
            told = record.negotiated or {}
            # Before tracks were listed apart, each stood beside the path.
            found = told.get("tracks", told)
            mine = found.get(track) if isinstance(found, Mapping) else None
            if isinstance(mine, Mapping):
                return mine
        return {}

    def sent(self, track: str) -> RtpLog:
        """The packets of a track that left, resends and all."""
        return self._rtp(Flow(True, self.track(track).port))

    def received(self, track: str) -> RtpLog:
        """The packets of a track that came, resends and all."""
        return self._rtp(Flow(False, self.track(track).port))

    def _rtp(self, flow: Flow) -> RtpLog:
        data, captured = self._log
        return _columns(data, [c for c in captured if c.flow == flow])

    def rtcp(self, sent: bool) -> list[tuple[float, bytes]]:
        """Compound RTCP packets with their times, sent or received."""
        data, captured = self._log
        flow = Flow(sent, RTCP_PORT)
        return [(c.t, data[c.start : c.start + c.kept]) for c in captured if c.flow == flow]

    def due(self, track: str) -> tuple[RtpLog, NDArray[np.float64]]:
        """The packets of a track that left, without resends, and when each was due (session
        time)."""
        log = self.sent(track).first_sent()
        origins = [(e.t, r) for e, r in self.records(RtpRecord) if r.stream == track and r.clock]
        due = np.full(len(log), np.nan)
        for written, origin in origins:
            # A line is recorded with the first packet that lies on it.
            on = (log.t >= written - 1e-6) & (log.ssrc == origin.ssrc)
            ticks = (log.rtp - origin.origin_ticks) % (1 << 32)
            due[on] = (origin.origin_t + ticks / origin.clock)[on]
        if self.track(track).kind == "video":
            due += _spread(log.rtp)
        known = ~np.isnan(due)
        return log[known], due[known]

    @cached_property
    def end(self) -> float:
        """Session time of the last thing recorded."""
        last = max((e.t for e in self.events()), default=0.0)
        _, captured = self._log
        return max(last, captured[-1].t if captured else 0.0)

    def _bytes(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            # Killed before the file was made: nothing was recorded in it.
            return b""
        except OSError as error:
            raise RecordingError(f"{self.folder / name}: {error.strerror}") from None


def _spread(stamps: NDArray[np.int64]) -> NDArray[np.float64]:
    """How long after its frame each packet was due; packets of one frame have one stamp."""
    starts = np.flatnonzero(np.diff(stamps, prepend=stamps[:1] - 1))
    counts = np.diff(np.append(starts, len(stamps)))
    return np.array([spread(i, n) for n in counts.tolist() for i in range(n)], np.float64)


def _columns(data: bytes, captured: list[Captured]) -> RtpLog:
    rows = [c for c in captured if c.kept >= 12 and data[c.start] >> 6 == 2]
    count = len(rows)
    heads = np.frombuffer(b"".join(data[c.start : c.start + 12] for c in rows), np.uint8)
    heads = heads.reshape(count, 12).astype(np.int64)
    second = heads[:, 1]
    start = np.empty(count, np.int64)
    stop = np.empty(count, np.int64)
    size = np.empty(count, np.int64)
    for i, c in enumerate(rows):
        packet = data[c.start : c.start + c.kept]
        head = header_size(packet)
        padding = packet[-1] if packet[0] & 0x20 and c.kept == c.size else 0
        start[i] = c.start + head
        stop[i] = max(c.start + head, c.start + c.kept - padding)
        size[i] = c.size - head
    return RtpLog(
        np.array([c.t for c in rows], np.float64),
        (heads[:, 2] << 8) | heads[:, 3],
        (heads[:, 4] << 24) | (heads[:, 5] << 16) | (heads[:, 6] << 8) | heads[:, 7],
        (second & 0x80) != 0,
        second & 0x7F,
        (heads[:, 8] << 24) | (heads[:, 9] << 16) | (heads[:, 10] << 8) | heads[:, 11],
        size,
        start,
        stop,
        data,
    )
