"""Writes a recording while its session plays, so that it reads up to any moment at which we die.

Events are written line by line, the RTP log at least each second and each 256 groups of packets;
nothing waits in this process for longer. (A lost process loses nothing more; a lost machine may, as
nothing is forced to the disk.) No secret reaches a file, see `simulator.recording.redact`. One
writer belongs to one session and one event loop. Counterparts: `simulator.rtc.taps` calls it as a
`Tap`, `simulator.session.engine` writes the events, `simulator.recording.reader` reads all of it
back; recordings/README.md is the specification.
"""

from __future__ import annotations

import errno
import json
import math
import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from simulator.errors import InputError, InstrumentError
from simulator.protocol.rtp import header_size
from simulator.protocol.tracks import Track
from simulator.recording.manifest import (
    EVENTS,
    MANIFEST,
    RTP_LOG,
    SCENARIO,
    Manifest,
    manifest_to_dict,
)
from simulator.recording.message import wire_record
from simulator.recording.records import Record, RtpRecord, Stamped, Unknown, to_json
from simulator.recording.redact import MARK, Redactor
from simulator.recording.rtplog import FILE_HEADER, RTCP_PORT, Flow, head, stamp
from simulator.scenario.collection import COLLECTION, find_collection
from simulator.whole_file import put_file

FLUSH_GROUPS = 256
"""Groups of packets that left or came together."""
FLUSH_SECONDS = 1.0
LONGEST = 8 * 1024
"""Bytes of a packet in the log; larger ones are cut there."""
MEDIA_BYTES = 2
"""Payload bytes of sent video that are kept behind its header: the kind of NAL unit and whether one
begins, and for a resend the number of the packet that it repeats."""
SAME_DUE = 0.001
"""Seconds by which a due time may differ from the stamps' line before a new line is recorded."""


class RecordingWriter:
    """A recording being made: a `Tap` for packets and messages, `write` for events.

    Raises InputError if the folder is there already or cannot be made. When the disk fills, what
    was recorded is kept and `failure` is set: the next `write`, or closing, raises it
    (InstrumentError) once; taps never raise.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        *,
        secrets: Iterable[str] = (),
        scenario: Path | None = None,
    ) -> None:
        self.folder = folder
        self.failure: InstrumentError | None = None
        """Why recording is not complete any more."""
        self._told = False
        self._redactor = Redactor(secrets)
        self._seq = 0
        self._turn: str | None = None
        self._origins: dict[str, tuple[int, float]] = {}
        self._stamps: dict[str, bytes] = {}
        self._tracks = {track.id: track for track in manifest.tracks}
        self._sent = {track.id: Flow(True, track.port) for track in manifest.tracks}
        self._received = {track.id: Flow(False, track.port) for track in manifest.tracks}
        try:
            folder.mkdir(parents=True)
            put_file(folder / MANIFEST, self._manifest(manifest))
            if scenario is not None:
                put_file(folder / SCENARIO, self._scenario(scenario))
                if (shared := find_collection(scenario)) is not None:
                    put_file(folder / COLLECTION, self._scenario(shared))
            self._events = _Appending(folder / EVENTS)
            self._packets = _Appending(folder / RTP_LOG)
            self._packets.append(FILE_HEADER)
        except FileExistsError:
            raise InputError(
                f"{folder} exists", hint="recordings are never overwritten; name another folder"
            ) from None
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise InstrumentError(f"{folder}: {error.strerror}") from None
            raise InputError(f"cannot record to {folder}: {error.strerror}") from None
        self._log: list[tuple[float, Flow, Sequence[bytes], Sequence[int]]] = []
        """Packets that are not in the file yet, as much as is kept of each, and how large each was.
        """
        self._flushed = 0.0

    # ------------------------------------------------------------ events

    def write(self, t: float, turn: str | None, record: Record | Unknown) -> None:
        """Append an event. Raises InstrumentError once if something could not be recorded."""
        self._turn = turn
        self._write(t, turn, record)
        if t - self._flushed >= FLUSH_SECONDS:
            self._flush(t)
        self._tell()

    def _write(self, t: float, turn: str | None, record: Record | Unknown) -> None:
        line = to_json(Stamped(seq=self._seq, t=t, turn=turn, record=record))
        self._seq += 1
        data = self._line(line).encode(errors="backslashreplace")
        try:
            self._events.append(data)
        except OSError as error:
            self._fail(EVENTS, error)

    def _line(self, line: dict[str, Any]) -> str:
        text = _dumps(line)
        if self._redactor.found(text):
            head = {k: line.pop(k) for k in ("seq", "t", "type")}
            text = _dumps(head | self._redactor.value(json.loads(_dumps(line))))
            if self._redactor.found(text):
                # It came about by the escapes of JSON; this record is not worth a secret.
                text = _dumps(head | {"turn": line["turn"], "removed": MARK})
        return text + "\n"

    # ------------------------------------------------------------ the tap

    def sent_rtp(self, t: float, track: str, packets: Sequence[bytes], due: float | None) -> None:
        known = self._tracks.get(track)
        if known is None:
            self._unnamed(track)
            return
        first = packets[0]
        # A frame's packets leave in groups; the line is that of the first, the frame's own time.
        if due is not None and first[4:8] != self._stamps.get(track) and len(first) >= 12:
            self._stamps[track] = first[4:8]
            self._follow(t, known, first, due)
        sizes = [*map(len, packets)]
        if known.kind == "audio":
            self._add(t, self._sent[track], packets, sizes)
        else:
            # Those of one group have one header, but for its numbers.
            keep = header_size(first) + MEDIA_BYTES
            self._add(t, self._sent[track], [packet[:keep] for packet in packets], sizes)

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        known = self._tracks.get(track)
        if known is None:
            self._unnamed(track)
            return
        size = len(packet)
        if known.kind == "video":
            # Cut once nothing secret can be half in what stays.
            packet = self._redactor.packet(packet)[: header_size(packet)]
        self._add(t, self._received[track], (packet,), (size,))

    def sent_rtcp(self, t: float, packet: bytes) -> None:
        self._add(t, _SENT_RTCP, (packet,), (len(packet),))

    def received_rtcp(self, t: float, packet: bytes) -> None:
        self._add(t, _RECEIVED_RTCP, (packet,), (len(packet),))

    def _unnamed(self, track: str) -> None:
        """Packets of a track that the manifest does not name would be lost without a word."""
        if self.failure is None:
            what = f"{self.folder}: the manifest names no track {track!r}"
            self.failure = InstrumentError(what)

    def wire(self, t: float, dir: Literal["in", "out"], raw: str | bytes) -> None:
        self._write(t, self._turn, wire_record(dir, raw, self._redactor))

    def _follow(self, t: float, track: Track, packet: bytes, due: float) -> None:
        """Record how stamps lie on session time, whenever that is not as recorded."""
        _, pt, _, ticks, ssrc = _RTP.unpack_from(packet)
        origin = self._origins.get(track.id)
        if origin is not None:
            expected = origin[1] + ((ticks - origin[0]) & 0xFFFFFFFF) / track.clock
            if abs(expected - due) < SAME_DUE:
                return
        self._origins[track.id] = (ticks, due)
        record = RtpRecord(
            stream=track.id,
            ssrc=ssrc,
            pt=pt & 0x7F,
            clock=track.clock,
            origin_ticks=ticks,
            origin_t=due,
        )
        self._write(t, self._turn, record)

    def _add(self, t: float, flow: Flow, packets: Sequence[bytes], sizes: Sequence[int]) -> None:
        """Keep packets for the log. It is written in one go now and then: between packets of a
        session that plays, there is time for no more than this."""
        self._log.append((t, flow, packets, sizes))
        if len(self._log) >= FLUSH_GROUPS or t - self._flushed >= FLUSH_SECONDS:
            self._flush(t)

    def _records(self) -> Iterator[bytes]:
        """What has been kept, as records of the log."""
        kept, self._log = self._log, []
        for t, flow, crossed, sizes in kept:
            packets = (
                crossed if flow.sent else [self._redactor.packet(packet) for packet in crossed]
            )
            begin = stamp(t)
            for packet, size in zip(packets, sizes, strict=True):
                kept_of_it = packet[:LONGEST]
                yield begin
                yield head(flow, size, len(kept_of_it))
                yield kept_of_it

    # ------------------------------------------------------------ to the disk

    def check(self) -> None:
        """Write what waits. Raises InstrumentError once if something could not be recorded, or is
        not there any more."""
        self._flush(self._flushed)
        self._tell()

    def _flush(self, t: float) -> None:
        self._flushed = t
        for file in (self._events, self._packets):
            if (gone := file.gone()) and self.failure is None:
                self.failure = InstrumentError(f"{file.path}: {gone} while it was written")
        if self._log:
            try:
                self._packets.append(b"".join(self._records()))
            except OSError as error:
                self._fail(RTP_LOG, error)

    def _fail(self, name: str, error: OSError) -> None:
        if self.failure is None:
            self.failure = InstrumentError(
                f"{self.folder / name}: {error.strerror}; what was recorded before is kept",
                hint="free some disk space" if error.errno == errno.ENOSPC else "",
            )

    def _tell(self) -> None:
        if self.failure is not None and not self._told:
            self._told = True
            raise self.failure

    def _manifest(self, manifest: Manifest) -> bytes:
        value = self._redactor.value(manifest_to_dict(manifest))
        return json.dumps(value, ensure_ascii=False, indent=1).encode(errors="backslashreplace")

    def _scenario(self, path: Path) -> bytes:
        data = path.read_bytes()
        text = data.decode(errors="surrogateescape")
        if not self._redactor.found(text):
            return data
        return self._redactor.text(text).encode(errors="surrogateescape")

    def close(self) -> None:
        """Write what is left. Raises InstrumentError if recording failed and nobody was told."""
        if self._events.closed:
            return
        self._flush(self._flushed)
        self._events.close()
        self._packets.close()
        self._tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # An error on its way out says more than a failure to record the rest.
        self._told = self._told or error is not None
        self.close()


_RTP = struct.Struct(">BBHII")
_SENT_RTCP, _RECEIVED_RTCP = Flow(True, RTCP_PORT), Flow(False, RTCP_PORT)


class _Appending:
    """A new file to which whole pieces are appended: all of a piece, or nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._size = 0
        self.closed = False

    def append(self, data: bytes | memoryview) -> None:
        if self.closed:
            return
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._fd, left) :]
        except OSError:
            os.ftruncate(self._fd, self._size)
            raise
        self._size += len(data)

    def gone(self) -> str:
        """What somebody else has done to it; empty: nothing."""
        if self.closed:
            return ""
        state = os.fstat(self._fd)
        if state.st_nlink == 0:
            return "was removed"
        try:
            there = self.path.stat()
        except OSError:
            return "was moved"
        if (there.st_ino, there.st_dev) != (state.st_ino, state.st_dev):
            return "was replaced"
        return "was cut" if state.st_size < self._size else ""

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            os.close(self._fd)


def _dumps(value: Any) -> str:
    try:
        return _encode(value)
    except ValueError:
        return _encode(_finite(value))


def _encode(value: Any) -> str:
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
    )


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _finite(value: Any) -> Any:
    """`value` with numbers that JSON does not have written as text."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case Mapping():
            return {k: _finite(v) for k, v in value.items()}
        case list() | tuple():
            return [_finite(v) for v in value]
        case _:
            return value
