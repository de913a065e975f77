"""The session's behaviour as a pure function: handle(event, now) -> commands.

It decides what plays when, what is owed, when the agent has finished, and how the attempt ends. It
knows no wire, no task and no clock: times are arguments, in session seconds. Counterpart:
`simulator.session.engine` feeds it and carries out what it orders.

The stream is laid out ahead: a part's end is known when it begins, so shortly before the end (LEAD)
the script says what follows, the next segment or a hold, and the stream has no seam. In a hold the
next segment is set to begin LEAD ahead, on the stream's 20 ms grid. A segment whose instruction is
tied to the agent's speech begins out of a hold while the agent speaks, or just after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from simulator.media.timeline import PTIME, Prepared, PreparedTurn
from simulator.protocol.conditions import Decide
from simulator.protocol.events import (
    OUTCOMES,
    AgentSpeech,
    Cancelled,
    Command,
    Configure,
    Drained,
    Event,
    Fault,
    Finish,
    Hold,
    Outcome,
    Play,
    Ready,
    ResponseEnded,
    ResponseStarted,
    Sounding,
    Text,
    TurnChanged,
    TurnState,
    WakeAt,
)
from simulator.scenario.types import Anchor, Pace, Turn
from simulator.session.cues import cue
from simulator.session.debts import Debts
from simulator.session.decide import SETTLE, Decision
from simulator.session.voice import Voice

LEAD = 0.06
"""Seconds before a part's first sample at which it is ordered."""
FIRST_LEAD = 0.3
"""The same for the first segment: both tracks start from rest."""
UNINVITED = (
    "turn_detection: it began a response that it was not asked for, so it keeps its own turn "
    "detection, and decide: turn-end cannot be had of it"
)
EPS = 1e-6


class Script:
    """One attempt at one scenario. Call `start` once, then `handle` for every event in order."""

    def __init__(
        self,
        prepared: Prepared,
        *,
        instructions: str,
        ready_within: float = 10.0,
        decide: Decide = Decide.AGENT,
    ) -> None:
        self._prepared = prepared
        self._limits = prepared.scenario.limits
        self._continuous = prepared.scenario.pace is Pace.CONTINUOUS
        self._instructions = instructions
        self._ready_within = ready_within
        self._ready_by = math.inf
        self._told = ""
        """What it tells instead of being ready."""
        self._play_at: float | None = None
        self._current = -1
        self._start = 0.0
        self._holding = False
        self._state = TurnState.PLAYING
        self._voice = Voice()
        self._debts = Debts(quiet_tail=self._limits.quiet_tail, decide=decide)
        self._decide = decide
        self._decision: Decision | None = None
        """What is asked for at the present turn's end, if the simulator decides."""
        self._held_since: float | None = None
        """Since when the present turn waits for a reply to end."""
        self._spoken_at: float | None = None
        """When something was first said to the agent."""
        self._finished = False

    @property
    def play_at(self) -> float | None:
        """Session time of stream time 0; None before the first segment is ordered."""
        return self._play_at

    @property
    def owners(self) -> Mapping[str, str]:
        """Whose each response is, as far as can be told by now: its name (`Onsets`) -> turn id."""
        return self._debts.owners

    @property
    def finished(self) -> bool:
        return self._finished

    def start(self, now: float) -> list[Command]:
        """The first orders, before anything was heard of the agent."""
        self._ready_by = now + self._ready_within
        detects = self._decide is Decide.AGENT
        configure = Configure(instructions=self._instructions, turn_detection=detects)
        return [configure, WakeAt(at=self._ready_by)]

    def handle(self, event: Event, now: float) -> list[Command]:
        """What to do about `event`, which came at session time `now`."""
        if self._finished:
            return []
        match event:
            case Cancelled():
                return self._finish(Outcome.CANCELLED, "cancelled by the user", now)
            case Fault(fatal=True):
                return self._finish(OUTCOMES[event.whose], f"{event.code}: {event.message}", now)
            case Fault() if self._play_at is None:
                self._told = f" but {event.code}: {event.message}"
            case Ready() if self._play_at is None:
                self._play_at = _next_border(0.0, now + FIRST_LEAD)
                return self._begin(0, self._play_at, now)
            case ResponseStarted(trigger=None) if self._uninvited(now):
                return self._finish(Outcome.AGENT_FAILED, UNINVITED, now)
            case _:
                self._hear(event, now)
        if self._play_at is None:
            if now >= self._ready_by - EPS:
                within = f"within {self._ready_within:g} s"
                reason = f"no_reply: its protocol said nothing {within}{self._told}"
                return self._finish(Outcome.AGENT_FAILED, reason, now)
            return [WakeAt(at=self._ready_by)]
        return [*self._ask(event, now), *self._advance(now)]

    # ------------------------------------------------------------ what the agent does

    def _hear(self, event: Event, now: float) -> None:
        voice = self._voice
        # A reply that is over, or whose end never came, is no part of what begins now.
        self._rest(now)
        match event:
            case AgentSpeech(edge="start"):
                voice.heard(now)
            case AgentSpeech(edge="end"):
                voice.speaking_since = None
                voice.quiet_since = voice.stopped = now
            case ResponseStarted():
                voice.reply(event.response, now)
                if voice.busy_since is None:
                    voice.busy_since = now
            case ResponseEnded():
                voice.reply(event.response, now).ended = True
                voice.quiet_since = max(voice.quiet_since, now)
            case Sounding():
                voice.sounds(event.response, now)
            case Drained():
                reply = voice.reply(event.response, now, ended=True)
                reply.drained, reply.sounding = True, None
            case Text(kind="output" | "transcript"):
                began = now if event.response is None else voice.see(event.response, now)
                voice.writes(began, now, self._limits.reply_max)
            case _:
                pass
        self._debts.hear(event, now)

    # ------------------------------------------------------------ what we do

    def _turn(self) -> PreparedTurn:
        return self._prepared.turns[self._current]

    def _end(self) -> float:
        return self._start + self._turn().duration

    def _last(self) -> bool:
        return self._current == len(self._prepared.turns) - 1

    def _begin(self, index: int, at: float, now: float, cause: str = "") -> list[Command]:
        """Order a segment that begins at `at`, and note what it will owe."""
        self._voice.began = self._voice.stopped = None
        out: list[Command] = []
        if index > 0:
            out.append(self._change(TurnState.DONE, at))
        self._current, self._start = index, at
        self._holding = False
        self._held_since = None
        self._state = TurnState.PLAYING
        prepared = self._turn()
        if self._spoken_at is None and prepared.spoken:
            self._spoken_at = at + min(s.start for s in prepared.spoken)
        self._debts.begin(prepared, at)
        forced = self._decide is Decide.TURN_END
        self._decision = self._decides(prepared.turn) if forced else None
        out += [
            cue(prepared, at - now, self._decide),
            Play(turn=index, at=at),
            TurnChanged(turn=index, state=TurnState.PLAYING, at=at, cause=cause),
            WakeAt(at=self._end() - LEAD),
        ]
        return out

    def _decides(self, turn: Turn) -> Decision | None:
        """What is asked for at a turn's end; nothing after what is only shown beforehand."""
        if turn.prior:
            return None
        within = turn.within if turn.expect.conduct.owed else self._limits.answer_within
        return Decision(
            turn=turn.id,
            commit_at=self._end() + SETTLE,
            within=within,
            again_within=self._limits.quiet_tail,
        )

    def _ask(self, event: Event, now: float) -> list[Command]:
        """See to the decision that is asked for in this turn."""
        if self._decision is None:
            return []
        self._decision.hear(event, now)
        voice = self._voice
        return self._decision.orders(now, talks=voice.open(), response=voice.unfinished())

    def _change(self, state: TurnState, at: float, cause: str = "") -> TurnChanged:
        self._state = state
        return TurnChanged(turn=self._current, state=state, at=at, cause=cause)

    def _advance(self, now: float) -> list[Command]:
        """Move the stream on if it may move; else say when to look again."""
        end = self._end()
        if now < end - LEAD - EPS:
            return [WakeAt(at=end - LEAD)]
        self._rest(now)
        free_at, cause = self._free_at(max(now, end))
        at = end if not self._holding and now <= end else self._grid(now + LEAD)
        out: list[Command] = []
        if self._continuous and not self._last():
            return self._begin(self._current + 1, end, now)
        cut_in = self._cut_in(end)
        if cut_in <= at + EPS:
            reacts = self._prepared.turns[self._current + 1].turn.reacts
            return self._begin(self._current + 1, at, now, reacts.anchor.value if reacts else "")
        if free_at <= at + EPS and math.isinf(cut_in):
            if not self._last():
                return self._begin(self._current + 1, at, now)
            if now >= end - EPS:
                return self._finish(Outcome.COMPLETED, "", max(now, end))
        if not self._holding:
            self._holding = True
            out.append(Hold(turn=self._current, at=end))
        state = TurnState.HOLDING if cause == "quiet_tail" else TurnState.AWAITING
        if state is not self._state and free_at > at + EPS:
            out.append(self._change(state, max(now, end), cause))
        # A time that has to come is enough to wait for; everything else wakes us by itself.
        soonest = cut_in if math.isfinite(cut_in) else free_at
        if self._decision is not None and self._decision.next_at is not None:
            return [*out, WakeAt(at=max(self._decision.next_at, now))]
        wake = max(soonest - LEAD, now + PTIME) if math.isfinite(soonest) else now + 1.0
        out.append(WakeAt(at=max(wake, end) if self._last() else wake))
        return out

    def _cut_in(self, end: float) -> float:
        """When the next turn begins because of what the agent does; inf if it is not for that."""
        voice = self._voice
        reacts = None if self._last() else self._prepared.turns[self._current + 1].turn.reacts
        # What it says before its answer is due is not what the author wants to cut in on.
        if reacts is None or self._debts or self._unasked():
            return math.inf
        since = None
        if reacts.anchor is Anchor.SPEAKING and voice.speaking_since is not None:
            since = voice.began
        elif reacts.anchor is Anchor.STOPPED and not voice.open():
            since = voice.stopped
        return math.inf if since is None else max(end, since + reacts.at)

    def _uninvited(self, now: float) -> bool:
        """Whether a response that begins now is the agent's own decision, where those are ours.

        One before anything was said to it is a greeting; what it begins once it was asked in this
        turn, it was asked for.
        """
        said = self._spoken_at is not None and now >= self._spoken_at
        return said and self._decision is not None and self._decision.asked is None

    def _unasked(self) -> bool:
        """Whether the decision of the present turn is still to be asked for."""
        return self._decision is not None and self._decision.asked is None

    def _rest(self, now: float) -> None:
        """Forget a reply that has ended, or that has gone on for too long."""
        voice, longest = self._voice, self._limits.reply_max
        voice.expire(now - longest)
        patience = self._limits.answer_within
        if voice.busy_since is not None and now >= voice.rest_at(longest, patience) - EPS:
            voice.busy_since = self._held_since = None
            voice.replies.clear()

    def _free_at(self, now: float) -> tuple[float, str]:
        """When the turn may be left if nothing more happens, and what it waits for."""
        waits: list[tuple[float, str]] = [(self._end(), "segment")]
        owed = self._debts.until(now)
        if owed is not None:
            waits.append((owed, "answer"))
        if self._decision is not None and self._decision.pending(now):
            waits.append((self._decision.until, "answer"))
        voice = self._voice
        if voice.busy_since is not None:
            if self._held_since is None:
                self._held_since = max(voice.busy_since, self._end())
            # One reply after another without a rest holds up a turn no longer than one.
            longest = self._limits.reply_max
            rests = voice.rest_at(longest, self._limits.answer_within)
            waits.append((min(rests, self._held_since + longest), "reply"))
        prepared = self._turn()
        tail = prepared.speech_end
        conduct = prepared.turn.expect.conduct
        if not conduct.owed and tail is not None:
            waits.append((self._start + tail + self._limits.quiet_tail, "quiet_tail"))
        if conduct.many:
            # What happened last may still be told.
            waits.append((self._end() + self._limits.quiet_tail, "quiet_tail"))
        return max(waits)

    def _grid(self, when: float) -> float:
        """The first packet border of the stream at or after `when`."""
        return _next_border(self._play_at or 0.0, when)

    def _finish(self, outcome: Outcome, reason: str, now: float) -> list[Command]:
        self._finished = True
        out: list[Command] = []
        if self._current >= 0:
            out.append(self._change(TurnState.DONE, now, outcome if reason else ""))
        return [*out, Finish(outcome=outcome, reason=reason)]


def _next_border(origin: float, when: float) -> float:
    """The first of origin, origin + 20 ms, ... at or after `when`."""
    return origin + math.ceil((when - origin) / PTIME - 1e-6) * PTIME
