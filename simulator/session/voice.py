"""What the agent is doing: its sound, its open responses, and when a reply counts as ended. Pure.

Counterpart: `simulator.session.script` keeps one for a session and tells it what happens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

REST_DRAINED = 0.7
"""Silence that ends a reply whose sound the wire has called drained, seconds."""
REST_UNSAID = 1.5
"""Silence that ends a reply of which the wire has said nothing."""
EPS = 1e-6


@dataclass(slots=True)
class Reply:
    """A response that the wire has told us of."""

    began: float
    ended: bool = False
    sounding: float | None = None
    """When the wire said that its sound begins, until something is heard or it has drained."""
    drained: bool = False


@dataclass(slots=True)
class Voice:
    """What the agent is doing: its sound and its open responses."""

    speaking_since: float | None = None
    """When its present sound began; None while it makes none, and once that has lasted too long."""
    busy_since: float | None = None
    """When the present reply began; None at rest."""
    quiet_since: float = -math.inf
    """The last end of sound or of a response."""
    began: float | None = None
    """When it first became audible in the present turn."""
    stopped: float | None = None
    """When it last fell silent in the present turn."""
    replies: dict[str, Reply] = field(default_factory=dict)
    """The responses of the present reply."""
    first_seen: dict[str, float] = field(default_factory=dict)
    """When each response of the whole session was first heard of."""

    def see(self, response: str, now: float) -> float:
        """Note a response; returns when it was first heard of."""
        return self.first_seen.setdefault(response, now)

    def reply(self, response: str, now: float, *, ended: bool = False) -> Reply:
        """The response as part of the present reply."""
        self.see(response, now)
        return self.replies.setdefault(response, Reply(began=now, ended=ended))

    def sounds(self, response: str, now: float) -> None:
        """The wire says that the sound of a response begins, which may be heard only later."""
        # One that is no part of the present reply has ended before.
        reply = self.reply(response, now, ended=True)
        if self.speaking_since is None and not reply.drained:
            reply.sounding = now
            self.busy_since = now if self.busy_since is None else self.busy_since

    def heard(self, now: float) -> None:
        """Its sound begins."""
        self.speaking_since = now
        self.began = now if self.began is None else self.began
        self.busy_since = now if self.busy_since is None else self.busy_since
        for reply in self.replies.values():
            reply.sounding = None

    def writes(self, began: float, now: float, longest: float) -> None:
        """Text came of a response that began at `began`; one that goes on for too long is no reply
        that anybody waits for."""
        if now - began >= longest:
            return
        self.quiet_since = max(self.quiet_since, now)
        if self.busy_since is None:
            self.busy_since = began

    def expire(self, before: float) -> None:
        """What has gone on since `before` or longer no longer counts: its end may never come."""
        if self.speaking_since is not None and self.speaking_since <= before + EPS:
            self.speaking_since = None
        for reply in self.replies.values():
            reply.ended = reply.ended or reply.began <= before + EPS

    def open(self) -> bool:
        """Whether it is speaking, or has not finished a response."""
        return self.speaking_since is not None or any(not r.ended for r in self.replies.values())

    def unfinished(self) -> str | None:
        """A response that has not ended; None if there is none."""
        return next((name for name, r in self.replies.items() if not r.ended), None)

    def rest_at(self, longest: float, patience: float) -> float:
        """When the reply will count as ended if nothing more comes.

        What goes on is expected to last for `longest` seconds in all, and no longer; sound that the
        wire has told of is waited for as long as for an answer, `patience` seconds.
        """
        if self.busy_since is None:
            return -math.inf
        going_on = [r.began for r in self.replies.values() if not r.ended]
        if self.speaking_since is not None:
            going_on.append(self.speaking_since)
        if going_on:
            return max(going_on) + longest
        drained = bool(self.replies) and all(r.drained for r in self.replies.values())
        rests = self.quiet_since + (REST_DRAINED if drained else REST_UNSAID)
        told = [r.sounding for r in self.replies.values() if r.sounding is not None]
        return max([rests, *(t + min(patience, longest) for t in told)])
