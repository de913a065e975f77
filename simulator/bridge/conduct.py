"""What a cued baseline says and when: pure, driven by cues, heard speech and time.

    handle(event, now) -> what to say; wake() -> when time alone will bring another

A cue says which turn comes and what is right; when to speak is taken from what is heard. Only where
a question was due and nothing of it was heard does the cue's own time stand in, so that a poor
microphone does not turn a baseline into another one. Counterpart: `simulator.bridge.baseline` runs
one for each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from simulator.bridge.events import CallEvent, Cued, CuedTurn, ResponseAsked, SpeechEnded
from simulator.protocol.conduct import Wants
from simulator.protocol.silence import TOKEN

OKAY = "Okay."
"""What is said where something may be said."""
COURTEOUS = 1.5
"""Seconds within which an acknowledgement still is one; a slower baseline leaves it out, since it
would land in the next turn."""
REMARK = "That looks interesting."
"""What a talkative one says where nothing should be."""
IDLE = 1.5
"""Seconds into a quiet turn without speech at which a talkative one speaks."""
_EARLY = 0.6
"""Seconds by which the speech heard may end before the cue's due time and still be all of the
question: its last words can be too soft for the detector."""
_PATIENCE = 0.5
"""Seconds after the due time until which the end of the question is expected to be known."""
_KNOWN = 0.32
"""Seconds after the end of speech at which it is known at the latest."""
_LEAD = 0.15
"""Seconds before its time at which something to say is given out, so that it can be made ready."""
_EDGE = 0.1
"""Seconds that a turn may seem to have begun before speech that ended in the turn before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """Something to say, so that it can first be heard at `at`."""

    text: str
    at: float
    turn: str
    by: str
    """What set its time: `heard`, `cue` or `asked`."""
    written: bool = False
    """It is not to be said aloud: the silence token."""


@dataclass(slots=True)
class _Turn:
    cue: CuedTurn
    start: float
    said: bool = False
    """Its answer has been planned."""
    heard: bool = False
    """Some speech of it has ended."""

    @property
    def due(self) -> float | None:
        return None if self.cue.due_in is None else self.start + self.cue.due_in


@dataclass(slots=True)
class Conduct:
    """The behaviour of a cued baseline on one call."""

    delay: float
    """Seconds from the due time to the first audible sample of the answer."""
    answers: bool = True
    """It answers what it is asked."""
    talkative: bool = False
    """It speaks in quiet turns as well."""
    asked_only: bool = False
    """It says something when it is asked to, once, and at no other time."""
    turns: list[_Turn] = field(default_factory=list)

    def handle(self, event: CallEvent, now: float) -> Sequence[Saying]:
        """Take in what happened; what is to be said for sure now, with its times."""
        sayings = self.time(now)
        match event:
            case Cued(turn=turn, start=start):
                self.turns.append(_Turn(turn, start))
                return [*sayings, *self._event(self.turns[-1])]
            case SpeechEnded(time=time) if not self.asked_only:
                return [*sayings, *self._heard(time)]
            case ResponseAsked():
                return [*sayings, *self._asked(now)]
        return sayings

    def time(self, now: float) -> list[Saying]:
        """Time has passed; what it brings to say."""
        sayings: list[Saying] = []
        if self.asked_only:
            return sayings
        for turn in self.turns[-2:]:
            alarm = self._alarm(turn)
            if alarm is None or now < alarm:
                continue
            if turn.cue.wants is Wants.SILENCE:
                turn.said = True
                sayings.append(self._saying(REMARK, turn.start + IDLE, turn, "cue"))
            elif turn.due is not None:
                sayings += self._answer(turn, turn.due, "cue")
        return sayings

    def wake(self) -> float | None:
        """When to call `time` next, if nothing happens before."""
        if self.asked_only:
            return None
        alarms = [a for t in self.turns[-2:] if (a := self._alarm(t)) is not None]
        return min(alarms, default=None)

    # ------------------------------------------------------------ what each brings

    def _alarm(self, turn: _Turn) -> float | None:
        if turn.said:
            return None
        if turn.cue.wants is Wants.SILENCE:
            idle = self.talkative and not turn.heard
            return turn.start + IDLE - _LEAD if idle else None
        if self.answers and turn.cue.asked and not turn.cue.event and turn.due is not None:
            return turn.due + min(max(self.delay - _LEAD, _KNOWN), _PATIENCE)
        return None

    def _event(self, turn: _Turn) -> Sequence[Saying]:
        """An answer that falls due by itself is planned as soon as its turn is known."""
        if turn.cue.event and turn.due is not None and self.answers and not self.asked_only:
            return self._answer(turn, turn.due, "cue")
        return ()

    def _heard(self, time: float) -> Sequence[Saying]:
        """Speech has ended at `time`."""
        begun = [t for t in self.turns if t.start <= time - _EDGE]
        if not begun:
            return ()
        turn = begun[-1]
        turn.heard = True
        if turn.cue.wants is Wants.SILENCE:
            if not self.talkative:
                return ()
            turn.said = True
            return [self._saying(REMARK, time + self.delay, turn, "heard")]
        if turn.said or turn.cue.event or not turn.cue.asked or not self.answers:
            return ()
        if turn.due is not None and not -_EARLY <= time - turn.due <= _PATIENCE:
            return ()  # a pause inside the question, or somebody else
        return self._answer(turn, time, "heard")

    def _asked(self, now: float) -> Sequence[Saying]:
        """The caller wants a response at once."""
        begun = [t for t in self.turns if t.start <= now]
        if not begun:
            return [Saying(text=OKAY, at=now, turn="", by="asked")]
        turn = begun[-1]
        if not self.asked_only:
            return self._answer(turn, now - self.delay, "asked")
        # It was made to decide: what it would not have answered is kept quiet with the token.
        turn.said = True
        if turn.cue.wants is Wants.SILENCE:
            text = REMARK if self.talkative else TOKEN
        else:
            text = (turn.cue.answer if turn.cue.wants is Wants.ANSWER else None) or OKAY
        saying = self._saying(text, now + self.delay, turn, "asked")
        return [replace(saying, written=text == TOKEN)]

    def _answer(self, turn: _Turn, due: float, by: str) -> list[Saying]:
        turn.said = True
        if turn.cue.wants is Wants.NOTHING and self.delay > COURTEOUS:
            return []
        text = turn.cue.answer if turn.cue.wants is Wants.ANSWER else OKAY
        return [self._saying(text or OKAY, due + self.delay, turn, by)]

    def _saying(self, text: str, at: float, turn: _Turn, by: str) -> Saying:
        return Saying(text=text, at=at, turn=turn.cue.id, by=by)
