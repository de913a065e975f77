"""How a call is doing, as whoever sends it knows: each second, and over the whole of it. Pure.

Counterparts: a `simulator.session.link.Link` tells it, `simulator.protocol.soundness` judges it,
`simulator.recording.records` keeps it, `simulator.measuring.sent` has the same from a recording.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What has become of one track that we send, so far."""

    track: str
    packets: int = 0
    """That have left."""
    unsent: int = 0
    """That were due and have not: this host's network would not take them."""
    refused_since: float | None = None
    """Session time since which it has refused each one; None: the last one left."""
    overdue_s: float = 0.0
    """By how much the next packet of the schedule is late now; 0: nothing is due."""
    left_until: float | None = None
    """Session time at which the last one left; None: none has."""
    arrived_until: float | None = None
    """When the newest one left of which the other side says that it has come; None: it has never
    said anything of this track."""
    lost: int = 0
    """That did not arrive, as the other side counts; resends may have made up for them."""
    reports_apart: float | None = None
    """The longest time between two of its reports on this track, seconds; None: fewer than two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """What has become of all that we send, so far."""

    p99_ms: float = 0.0
    """99th percentile of the send-time errors of the whole call."""
    held_s: float = 0.0
    """Seconds in which the machine held the sending core back."""
    reported_at: float | None = None
    """Session time of the other side's last report on anything; None: it has never reported."""
    tracks: tuple[Sent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The instrument's health over the last second, unless a field says otherwise."""

    send_p99_ms: float = 0.0
    send_max_ms: float = 0.0
    loop_lag_ms: float = 0.0
    lost: int = 0
    """Packets of the agent lost so far."""
    rtt_ms: float | None = None
    drops: int = 0
    """What bounded queues of ours have dropped so far."""
    host_load: float = 0.0
    """One-minute load average over the number of cores."""
    reported: int = 0
    """Receiver reports from the agent's side so far: the proof that our media arrive."""
    core_held_ms: float = 0.0
    """How long the sending core ran at half its usual speed or less since the last such record."""
    tracks: tuple[Sent, ...] = ()
    """What has become of each track that we send, so far."""
