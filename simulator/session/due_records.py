"""What is to be written down of a session, and when: records of parts, instructions and turns.

Pure. The script orders parts ahead of time, but a record is written when its moment has come, so
that a recording never tells of what was not played. Counterparts: `simulator.session.engine` asks
for what is due, `simulator.recording.records` has the types.
"""

from __future__ import annotations

import heapq
from dataclasses import asdict
from itertools import count

from simulator.media.timeline import Prepared, PreparedTurn
from simulator.protocol.events import (
    AgentSpeech,
    ContextChanged,
    Drained,
    Event,
    Fault,
    Hold,
    Listened,
    Play,
    ResponseEnded,
    ResponseStarted,
    Text,
    TurnChanged,
    UserSpeech,
)
from simulator.recording.records import (
    ContextRecord,
    FaultRecord,
    InstructionRecord,
    Record,
    ResponseRecord,
    SegmentRecord,
    SpeechRecord,
    TextRecord,
    TurnRecord,
)


class DueRecords:
    """Collects what will be so, and gives it out when it is."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._ahead: list[tuple[float, int, Record]] = []
        self._order = count()
        self._open: SegmentRecord | None = None
        self.playing: str | None = None
        """Id of the turn playing now."""

    def note(self, at: float, record: Record) -> None:
        """`record` will be so at session time `at`."""
        heapq.heappush(self._ahead, (at, next(self._order), record))

    @property
    def next_at(self) -> float | None:
        """When the next record falls due."""
        return self._ahead[0][0] if self._ahead else None

    def due(self, now: float, *, agent_audible: bool) -> list[tuple[str | None, Record]]:
        """The records whose moment has come, each with the turn playing then."""
        out: list[tuple[str | None, Record]] = []
        while self._ahead and self._ahead[0][0] <= now:
            _, _, record = heapq.heappop(self._ahead)
            if isinstance(record, SegmentRecord) and record.edge == "start":
                self.playing = record.of
            if isinstance(record, InstructionRecord) and record.edge == "start" and agent_audible:
                record = _overlapped(record)
            out.append((self.playing, record))
        return out

    # ------------------------------------------------------------ what the script ordered

    def ordered(self, command: Play | Hold | TurnChanged) -> None:
        """Note what a command of the script will bring about."""
        match command:
            case Play():
                turn = self._prepared.turns[command.turn]
                self._part(_segment(turn, command.at), command.at)
                self._instructions(turn, command.at)
            case Hold():
                turn = self._prepared.turns[command.turn]
                self._part(_hold(turn, command.at), command.at)
            case TurnChanged():
                turn_id = self._prepared.turns[command.turn].turn.id
                state = command.state.value
                self.note(
                    command.at,
                    TurnRecord(of=turn_id, state=state, at=command.at, cause=command.cause),
                )

    def end(self, now: float) -> None:
        """The stream stops at `now`: what lies ahead will not be."""
        self._ahead = [entry for entry in self._ahead if entry[0] <= now]
        heapq.heapify(self._ahead)
        self._close(now)

    def _part(self, start: SegmentRecord, at: float) -> None:
        self._close(at)
        self.note(at, start)
        self._open = start

    def _close(self, at: float) -> None:
        if self._open is not None:
            o = self._open
            self.note(
                at,
                SegmentRecord(
                    edge="end", part=o.part, of=o.of, at=at, clip=o.clip, start=o.start,
                    end=min(o.end, o.start + at - o.at) if o.part == "play" else o.end,
                    asset=o.asset,
                ),
            )  # fmt: skip
            self._open = None

    def _instructions(self, prepared: PreparedTurn, at: float) -> None:
        for spoken in prepared.spoken:
            said = prepared.turn.instructions[spoken.index]
            for edge, when in (("start", at + spoken.start), ("end", at + spoken.end)):
                self.note(
                    when,
                    InstructionRecord(
                        id=f"{prepared.turn.id}/{spoken.index}",
                        edge="start" if edge == "start" else "end",
                        at=when,
                        kind=said.kind,
                        voice=said.voice,
                        text=said.text,
                        asset=prepared.segment.key,
                    ),
                )


def _segment(prepared: PreparedTurn, at: float) -> SegmentRecord:
    turn = prepared.turn
    return SegmentRecord(
        edge="start", part="play", of=turn.id, at=at, clip=turn.clip, start=turn.start,
        end=turn.end, asset=prepared.segment.key,
    )  # fmt: skip


def _hold(prepared: PreparedTurn, at: float) -> SegmentRecord:
    turn = prepared.turn
    return SegmentRecord(
        edge="start", part="hold", of=turn.id, at=at, clip=turn.clip, start=turn.end,
        end=turn.end, asset=prepared.hold.key,
    )  # fmt: skip


def _overlapped(record: InstructionRecord) -> InstructionRecord:
    return InstructionRecord(**{**asdict(record), "overlapped": True})


def record_of(event: Event) -> Record | None:
    """How an event is written down; None for those that are ours alone."""
    match event:
        case ResponseStarted():
            return ResponseRecord(
                id=event.response,
                edge="start",
                trigger=event.trigger,
                input_item=event.input_item,
            )
        case ResponseEnded():
            return ResponseRecord(
                id=event.response,
                edge="end",
                status=event.status,
                usage=event.usage,
                reason=event.reason,
                message=event.message,
            )
        case Drained():
            return ResponseRecord(id=event.response, edge="cleared" if event.cleared else "drained")
        case Listened():
            return ResponseRecord(id=event.response or "", edge="listened")
        case Text():
            return TextRecord(
                text=event.text,
                response=event.response,
                item=event.item,
                part=event.part,
                kind=event.kind,
                final=event.final,
            )
        case UserSpeech():
            return SpeechRecord(edge=event.edge, by="user", item=event.item)
        case AgentSpeech():
            return SpeechRecord(edge=event.edge, by="agent")
        case ContextChanged():
            return ContextRecord(**asdict(event))
        case Fault():
            return FaultRecord(
                whose=event.whose.value,
                code=event.code,
                message=event.message,
                fatal=event.fatal,
                unanswered=event.unanswered,
                of=event.turn,
            )
        case _:
            return None
