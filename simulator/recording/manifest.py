"""`manifest.json`: what was played to whom, under which conditions; written before anything plays.

With it, a recording's folder and the scenario are all that is needed to compute everything said
about a session again. It names prepared media by their content address, never by a path of the
machine. Counterparts: `simulator.recording.writer` stores it, `simulator.recording.reader` reads
it.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import PurePath
from typing import Any

from pydantic import TypeAdapter, ValidationError

from simulator.agent import Traits
from simulator.clock import utc_now
from simulator.errors import RecordingError
from simulator.media.timeline import Asset, Prepared, PreparedTurn, falls_due
from simulator.protocol.conditions import USUAL, Conditions, Decide
from simulator.protocol.conduct import BY_NAME, Conduct, stated
from simulator.protocol.tracks import OURS, Track
from simulator.recording.records import FORMAT_VERSION
from simulator.recording.rtplog import FIRST_PORT, RTCP_PORT

FORMAT = "omnistage-recording"

MANIFEST = "manifest.json"
SCENARIO = "scenario.yaml"
EVENTS = "events.jsonl"
RTP_LOG = "rtp.pcap"
"""Names of the files in a recording's folder."""

CONVENTIONS: Mapping[str, str] = {
    "time": "seconds on one monotonic clock since dialling",
    "user_sample": "the time at which it was spoken; its packet is due at the packet's end",
    "agent_sample": "RTP time mapped to arrival by minimum arrival, plus its offset in the packet",
    "video_frame": "due at its time on the stream; its packets in groups of 8, 1 ms apart",
    "latency": "onset - due time, with one packet (20 ms) and the agent's Opus (6.5 ms) in it",
}
"""How the times of this version are meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartInfo:
    """A prepared part: what was sent, by its content address."""

    asset: str
    duration: float
    file: str = ""
    """Where it lies below a cache's root, if it came from one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackInfo(Track):
    """A track of the session, both ways: what is sent and what comes back in its section."""

    port: int
    """By which its packets are known in the log."""


def track_infos(tracks: Iterable[Track]) -> tuple[TrackInfo, ...]:
    """Tracks with a port each: the first has 5004, and RTCP that between it and the second."""
    ports = count(FIRST_PORT, 2)
    return tuple(TrackInfo(id=t.id, kind=t.kind, port=next(ports)) for t in tracks)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenInfo:
    """One instruction as it lies in the segment's sound, measured on the samples."""

    index: int
    kind: str
    voice: str
    text: str
    start: float
    """Segment time of its first audible sample."""
    end: float
    """Segment time just after its last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInfo:
    """A turn as it was prepared."""

    id: str
    index: int
    expect: str
    """Name of what it expects (`simulator.scenario.expectations`)."""
    clip: str
    start: float
    """Clip time, as is `end`."""
    end: float
    stream_start: float
    """Stream time at which its segment begins."""
    segment: PartInfo
    hold: PartInfo
    spoken: tuple[SpokenInfo, ...] = ()
    within: float = 8.0
    due: float | None = None
    """Segment time at which it falls due, by the prepared sound or the event."""
    event: float | None = None
    """Clip time."""
    asked_in: str | None = None
    conduct: Conduct = BY_NAME
    """How it is treated."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "conduct", stated(self.conduct, self.expect))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioInfo:
    id: str
    sha256: str
    """Of the YAML file; `scenario.yaml` is a copy of it."""
    file: str = ""
    """Its name, without folders."""
    task: str = "custom"
    title: str = ""
    pace: str = "wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInfo:
    reference: str
    options: Mapping[str, str] = field(default_factory=dict)
    dialect: str = ""
    """Its name; of a file without folders."""
    model: str = ""
    summary: str = ""
    computes_here: bool = False
    cued: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    format: str = FORMAT
    version: int = FORMAT_VERSION
    software: Mapping[str, str] = field(default_factory=dict)
    """Versions of what made the recording."""
    created: str = ""
    """Date and time, UTC; for people, never for timing."""
    scenario: ScenarioInfo
    agent: AgentInfo
    tracks: tuple[TrackInfo, ...] = field(default_factory=lambda: track_infos(OURS))
    turns: tuple[TurnInfo, ...] = ()
    conditions: Conditions = USUAL
    """What the run imposed on the scenario."""
    shared_host: bool = False
    """The agent computed on this machine beside others: its latencies are marked."""
    attempt: Mapping[str, Any] = field(default_factory=dict)
    """Which attempt of which run this is."""
    host: Mapping[str, Any] = field(default_factory=dict)
    conventions: Mapping[str, str] = field(default_factory=lambda: dict(CONVENTIONS))


def describe(
    prepared: Prepared,
    *,
    reference: str,
    traits: Traits,
    dialect: str = "openai",
    agent_options: Mapping[str, str] | None = None,
    conditions: Conditions = USUAL,
    shared_host: bool = False,
    attempt: Mapping[str, Any] | None = None,
) -> Manifest:
    """The manifest of a session that is about to be played."""
    scenario = prepared.scenario
    return Manifest(
        software=_software(),
        created=utc_now(),
        scenario=ScenarioInfo(
            id=scenario.id,
            sha256=scenario.sha256,
            file=scenario.path.name,
            task=scenario.task,
            title=scenario.title,
            pace=scenario.pace.value,
        ),
        agent=AgentInfo(
            reference=reference,
            options=dict(agent_options or {}),
            dialect=PurePath(dialect).name,
            model=traits.model,
            summary=traits.summary,
            computes_here=traits.computes_here,
            cued=traits.cued,
        ),
        tracks=track_infos(prepared.tracks),
        turns=tuple(_turn(t, conditions.decide) for t in prepared.turns),
        conditions=conditions,
        shared_host=shared_host,
        attempt=dict(attempt or {}),
        host=_host(),
    )


def _turn(prepared: PreparedTurn, decide: Decide) -> TurnInfo:
    turn = prepared.turn
    return TurnInfo(
        id=turn.id,
        index=turn.index,
        expect=turn.expect.kind,
        clip=turn.clip,
        start=turn.start,
        end=turn.end,
        stream_start=prepared.stream_start,
        segment=_part(prepared.segment),
        hold=_part(prepared.hold),
        spoken=tuple(
            SpokenInfo(
                index=s.index,
                kind=turn.instructions[s.index].kind,
                voice=turn.instructions[s.index].voice,
                text=turn.instructions[s.index].text,
                start=s.start,
                end=s.end,
            )
            for s in prepared.spoken
        ),
        within=turn.within,
        due=falls_due(prepared, decide).at,
        event=turn.event,
        asked_in=turn.asked_in,
        conduct=turn.expect.conduct,
    )


def _part(asset: Asset) -> PartInfo:
    place = asset.path.parts[-4:]
    cached = len(place) == 4 and place[0] == "parts"
    return PartInfo(
        asset=asset.key, duration=asset.duration, file="/".join(place) if cached else ""
    )


def _software() -> dict[str, str]:
    out = {"python": platform.python_version()}
    for package in ("omnistage", "aiortc", "av", "numpy"):
        try:
            out[package] = version(package)
        except PackageNotFoundError:
            out[package] = ""
    return out


def _host() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "cores": os.cpu_count() or 0,
    }


_ADAPTER: TypeAdapter[Manifest] = TypeAdapter(Manifest)


def manifest_to_dict(manifest: Manifest) -> dict[str, Any]:
    value: dict[str, Any] = _ADAPTER.dump_python(manifest, mode="json", fallback=str)
    return value


def manifest_from_json(data: bytes) -> Manifest:
    """Raises RecordingError if it is not a manifest, or of a version that we cannot read."""
    try:
        head = json.loads(data)
    except ValueError:
        raise RecordingError("manifest.json is damaged") from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise RecordingError("not a recording: its manifest.json is of something else")
    if head.get("version") == 1:
        head = _of_version_1(head)
    elif head.get("version") != FORMAT_VERSION:
        raise RecordingError(
            f"recording format version {head.get('version')!r}; "
            f"this omnistage reads versions 1 and {FORMAT_VERSION}",
            hint="use the omnistage version that it names under software",
        )
    else:
        _check_conditions(head.get("conditions"))
    try:
        manifest = _ADAPTER.validate_python(head)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        raise RecordingError(f"manifest.json: {where}: {first['msg']}") from None
    _check_tracks(manifest.tracks)
    return manifest


def _check_tracks(tracks: Sequence[TrackInfo]) -> None:
    """Raises RecordingError for tracks that cannot be told apart."""
    names, ports = [t.id for t in tracks], [t.port for t in tracks]
    if not any(t.kind == "audio" for t in tracks):
        raise RecordingError("manifest.json: tracks: none of them is sound")
    if len({*names}) < len(names) or "" in names:
        raise RecordingError("manifest.json: tracks: two have one id, or one has none")
    if len({*ports, RTCP_PORT}) <= len(ports):
        raise RecordingError("manifest.json: tracks: two have one port, or one that of RTCP")


def _check_conditions(said: object) -> None:
    """Raises RecordingError for a condition that is not known here (a newer version's): what was
    recorded under it must not be read as if it were under none."""
    known = {f.name for f in fields(Conditions)}
    unknown = [k for k in said if k not in known] if isinstance(said, dict) else []
    if unknown:
        raise RecordingError(
            f"manifest.json: conditions.{unknown[0]}: not known here",
            hint="use the omnistage version that it names under software",
        )


def _of_version_1(head: Mapping[str, Any]) -> dict[str, Any]:
    """Version 1 had conditions among `options`, with the pace (the scenario's), `commit` (which
    follows from `decide`) and the mark of a shared host; the codec is in what was negotiated."""
    options = head.get("options", {})
    shared = isinstance(options, dict) and options.get("shared_host", False)
    return {**head, "conditions": options, "shared_host": shared}
