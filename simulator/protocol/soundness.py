"""Whether what was sent is what was to be sent, and came through: else nothing may be scored. Pure.

A session in which the stream has stopped on the way looks like an agent that says nothing. So an
attempt is completed only if everything that the schedule ordered has left in time, and the other
side's receiver reports follow. Lost packets are health; a stream that stops arriving is the
network's fault, one that stops leaving is ours. A peer that never reports cannot be held to it: the
trace says so. Counterparts: `simulator.session.engine` asks each second and at the end,
`simulator.measuring.measure` asks again of what the recording holds.
"""

from __future__ import annotations

from simulator.protocol.events import Fault, Whose
from simulator.protocol.health import Sending, Sent

PACING_LIMIT_MS = 10.0
"""A session whose send-time error p99 is over this has not been played as written."""
HELD_WORTH_SAYING = 0.01
"""Share of a call in which the core was held back from which that may be what was wrong."""
UNSENT = 0.01
"""Share of a track's packets that may stay behind in a session that is said to have been played."""
OVERDUE = 2.0
"""Seconds by which a packet may be late before its stream counts as stopped."""
REFUSED = 2.0
"""Seconds for which this host may refuse every packet of a track."""
UNHEARD = 10.0
"""Seconds for which a track's reports may stand still while the other side goes on reporting:
browsers report on sound each 5 s, and may wait half as long again."""
UNHEARD_LEAST = 3.0
"""The same, at least, for a side that reports more often."""
MISSED_REPORTS = 3.0
"""Times the longest wait for a report so far that make a track's silence long."""


def stopped(sending: Sending, now: float) -> Fault | None:
    """The fault in what is being sent at session time `now`, if there is one: a track that does not
    leave, or does not arrive."""
    for track in sending.tracks:
        fault = _not_leaving(track, now) or _not_arriving(track, sending)
        if fault is not None:
            return fault
    return None


def stood_still(seconds: float) -> Fault | None:
    """The fault in a process that came so late to something, if there is one. Whatever else seems
    to be wrong then, a silence or a call that was ended, has that cause."""
    if seconds <= OVERDUE:
        return None
    message = f"the simulator itself did not run for {seconds:.1f} s (stopped, or its host was)"
    return _fault(Whose.INSTRUMENT, "stalled", message)


def incomplete(sending: Sending, now: float) -> Fault | None:
    """The fault for which a session that has ended was not played as ordered, if there is one."""
    fault = stopped(sending, now)
    if fault is not None:
        return fault
    if not sending.tracks or any(not track.packets for track in sending.tracks):
        silent = [track.track for track in sending.tracks if not track.packets]
        what = f"nothing of {', '.join(silent)}" if silent else "nothing"
        return _fault(Whose.INSTRUMENT, "not_sent", f"{what} has left this host")
    for track in sending.tracks:
        due = track.packets + track.unsent
        if track.unsent > UNSENT * due:
            return _fault(
                Whose.NETWORK,
                "not_sent",
                f"{track.unsent} of {due} packets of {track.track} have not left this host",
            )
    return None


def _not_leaving(track: Sent, now: float) -> Fault | None:
    if track.overdue_s > OVERDUE:
        return _fault(
            Whose.INSTRUMENT,
            "not_sent",
            f"{track.track} has stopped: its next packet is {track.overdue_s:.1f} s overdue",
        )
    since = track.refused_since
    if since is not None and now - since > REFUSED:
        return _fault(
            Whose.NETWORK,
            "refused",
            f"this host's network has refused every packet of {track.track} for "
            f"{now - since:.1f} s",
        )
    return None


def behind(track: Sent, reported_at: float | None) -> float:
    """Seconds by which what the other side has of a track is behind what it could have told, when
    it last reported on anything; 0 where it has said nothing."""
    arrived, left = track.arrived_until, track.left_until
    if arrived is None or reported_at is None or left is None:
        return 0.0
    return min(reported_at, left) - arrived


def _not_arriving(track: Sent, sending: Sending) -> Fault | None:
    patience = UNHEARD
    if track.reports_apart is not None:
        patience = min(UNHEARD, max(UNHEARD_LEAST, MISSED_REPORTS * track.reports_apart))
    if behind(track, sending.reported_at) <= patience:
        return None
    return _fault(
        Whose.NETWORK,
        "not_arriving",
        f"{track.track} has stopped arriving: the agent's side still reports, but on nothing that "
        f"left after {track.arrived_until:.1f} s",
    )


def late(p99_ms: float, held: float) -> str | None:
    """What is wrong with a session that sent with this error, the core held back for a share `held`
    of it; None: nothing."""
    if p99_ms <= PACING_LIMIT_MS:
        return None
    reason = f"pacing: send-time error p99 {p99_ms:.1f} ms is over {PACING_LIMIT_MS:g} ms"
    if held > HELD_WORTH_SAYING:
        reason += f"; for {held:.0%} of the time this core ran at half its usual speed or less"
    return reason


def _fault(whose: Whose, code: str, message: str) -> Fault:
    return Fault(whose=whose, code=code, message=message, fatal=True)
