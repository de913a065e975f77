"""A scenario held against its clips and sounds: what lies outside them, what does not fit.

Nothing is encoded and nothing downloaded. Counterparts: `simulator.media.prepare` refuses the same
when it comes to it, one thing at a time; `simulator.authoring.check` asks this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simulator.authoring.findings import Findings
from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.media.clips import local
from simulator.media.encode import Samples, level
from simulator.media.mix import audible
from simulator.media.played import look, sounds_of
from simulator.media.probe import Probe
from simulator.media.sound import load
from simulator.media.subtitle import draw
from simulator.media.timeline import AUDIO_CLOCK
from simulator.scenario.types import Anchor, Pace, Scenario, Turn

PAUSE = 0.5
"""Seconds of quiet after an instruction by which a turn detector knows that it has ended."""
_SOON = 0.3
"""It has to begin this soon."""
BELOW = 20.0
"""Sound that is so many dB under the instruction counts as quiet."""
_SILENT = -50.0
"""dBFS under which it is quiet in any case."""
_HEARD = 2.0
"""Seconds after an instruction that are listened to."""
_FRAME = AUDIO_CLOCK // 50
_LATE = 0.05
"""As in preparing: an author's last `until` may be rounded up."""
_WORDS_A_SECOND = 2.7
"""How fast people read out, for instructions that have no sound yet."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """An instruction at its place."""

    turn: Turn
    start: float
    """Clip time of its first audible sample."""
    end: float
    loudness: float
    """dBFS."""
    user: bool


class Material:
    """One scenario's clips and sounds."""

    def __init__(self, scenario: Scenario, cache: Cache, out: Findings) -> None:
        self._scenario = scenario
        self._cache = cache
        self._out = out

    def check(self) -> None:
        """Everything that can be known without encoding."""
        self._picture()
        probes = self._probes()
        heard = [h for turn in self._scenario.turns for h in self._turn(turn, probes)]
        self._evidence(heard)
        if self._scenario.pace is Pace.CONTINUOUS:
            for spoken in heard:
                if spoken.user:
                    self._pause(spoken, heard, probes)

    def _picture(self) -> None:
        canvas, goal = self._scenario.canvas, self._scenario.goal
        if level(canvas) is None or canvas.width % 2 or canvas.height % 2:
            self._out.error(
                ("canvas",), "must be even and at most 4096x2304 at 26 pictures a second"
            )
        elif goal.strip():
            try:
                draw(goal, canvas)
            except InputError as error:
                self._out.error(("goal",), str(error))

    # ------------------------------------------------------------------ clips

    def _probes(self) -> Mapping[str, Probe]:
        used = {turn.clip for turn in self._scenario.turns}
        used |= {getattr(i, "clip", "") for t in self._scenario.turns for i in t.instructions}
        probes = {}
        for name, clip in self._scenario.clips.items():
            where = ("clips", name) if self._written("clips", name) else ("clip",)
            if name not in used:
                self._out.warn(where, "is used by no turn")
            if clip.licence is None:
                self._out.warn(
                    where, "has no licence: say under which terms others may use it (`licence:`)"
                )
            try:
                found = local(clip, self._cache)
                if found is None:
                    self._out.note(where, "is not on this machine, so that times are not checked")
                    continue
                probes[name] = look(clip, found, self._cache)
            except InputError as error:
                self._out.error(where, str(error))
                continue
            if probes[name].duration < 0.02:
                del probes[name]
                self._out.error(where, "has no duration: a moving picture or sound is needed")
        return probes

    def _written(self, *where: str | int) -> bool:
        """Whether the file itself has something there."""
        node = self._out.root
        for step in where:
            value = node.value if node is not None else None
            if isinstance(value, dict) and isinstance(step, str):
                node = value.get(step)
            elif isinstance(value, list) and isinstance(step, int):
                node = value[step] if step < len(value) else None
            else:
                return False
        return node is not None

    # ------------------------------------------------------------------ turns

    def _turn(self, turn: Turn, probes: Mapping[str, Probe]) -> list[_Heard]:
        at = ("turns", turn.index)
        source = probes.get(turn.clip)
        for key, time in (("from", turn.start), ("until", turn.end)):
            if source is not None and time > source.duration + _LATE:
                if key == "from" and not self._written("turns", turn.index, "from"):
                    continue
                self._out.error(
                    (*at, key),
                    f"{time:g} s is after the end of {source.path.name}, which lasts "
                    f"{source.duration:.2f} s{source.told}",
                )
        heard = []
        for index in range(len(turn.instructions)):
            spoken = self._instruction(turn, index)
            if spoken is not None:
                heard.append(spoken)
        return heard

    def _instruction(self, turn: Turn, index: int) -> _Heard | None:
        """Where an instruction lies, if it can be heard and its place is known beforehand."""
        instruction = turn.instructions[index]
        sound = getattr(instruction, "sound", None)
        where = ("turns", turn.index, "say", index)
        if getattr(instruction, "kind", "") != "say":
            return None
        if not isinstance(sound, Path) or not sound.is_file():
            self._reading_time(turn, str(getattr(instruction, "text", "")), where)
            return None
        try:
            samples = load(sound)
        except InputError as error:
            self._out.error((*where, "file"), str(error))
            return None
        span = audible(samples)
        if span is None:
            self._out.error((*where, "file"), f"nothing is audible in {sound.name}")
            return None
        length = (span[1] - span[0]) / AUDIO_CLOCK
        placement = instruction.placement
        start = {
            Anchor.END: turn.end - length,
            Anchor.START: turn.start,
            Anchor.TIME: placement.at,
        }.get(placement.anchor)
        if start is None:
            return None
        if start < turn.start - 0.01 or start + length > turn.end + 0.01:
            self._out.error(
                where,
                f"lasts {length:.2f} s and does not fit: from {start:.2f} to {start + length:.2f} "
                f"in a segment from {turn.start:g} to {turn.end:g}; move `until`, or say it in "
                "fewer words",
            )
        return _Heard(
            turn=turn,
            start=start,
            end=start + length,
            loudness=_loudness(samples[span[0] : span[1]]),
            user=instruction.voice == "user",
        )

    def _reading_time(self, turn: Turn, text: str, where: tuple[str | int, ...]) -> None:
        takes = len(text.split()) / _WORDS_A_SECOND
        if takes > turn.duration:
            self._out.warn(
                where,
                f"{len(text.split())} words take about {takes:.1f} s to say, and the segment "
                f"lasts {turn.duration:.1f} s",
            )

    # ------------------------------------------------------------------ evidence

    def _evidence(self, heard: list[_Heard]) -> None:
        for turn in self._scenario.turns:
            ends = [h.end for h in heard if h.turn is turn and h.user]
            due = turn.event if turn.event is not None else max(ends, default=None)
            for n, (start, _) in enumerate(turn.evidence):
                if due is not None and start > due:
                    self._out.warn(
                        ("turns", turn.index, "evidence", n),
                        f"begins at {start:g} s, after the answer falls due ({due:.2f} s)",
                    )

    # ------------------------------------------------------------------ the pause after

    def _pause(self, spoken: _Heard, heard: list[_Heard], probes: Mapping[str, Probe]) -> None:
        """Warn if no turn detector can hear that the instruction has ended."""
        frames = np.concatenate([self._after(spoken, probes), np.full(25, -120.0)])
        busy = frames > max(_SILENT, spoken.loudness - BELOW)
        for other in heard:
            begin = self._stream(other.turn) + other.start - other.turn.start
            begin -= self._stream(spoken.turn) + spoken.end - spoken.turn.start
            end = begin + other.end - other.start
            if other is not spoken and end > 0:
                busy[max(0, round(begin * 50)) : max(0, round(end * 50))] = True
        need = round(PAUSE * 50)
        run = 0
        for n, loud in enumerate(busy):
            run = 0 if loud else run + 1
            if run == need:
                begins = (n + 1 - need) / 50
                break
        else:
            begins = len(busy) / 50
        if begins > _SOON:
            more = "or more " if begins >= _HEARD else ""
            self._out.warn(
                ("turns", spoken.turn.index, "say"),
                f"sound goes on right after it: under `pace: continuous` a turn detector gets its "
                f"pause of {PAUSE:g} s only {begins:.1f} s {more}later",
            )

    def _stream(self, turn: Turn) -> float:
        return sum(t.duration for t in self._scenario.turns[: turn.index])

    def _after(
        self, spoken: _Heard, probes: Mapping[str, Probe]
    ) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Levels, in dBFS, of the clips' sound in 20 ms frames after an instruction."""
        left, at, levels = _HEARD, spoken.end, []
        for turn in self._scenario.turns[spoken.turn.index :]:
            at = at if turn is spoken.turn else turn.start
            length = min(left, turn.end - at)
            source = probes.get(turn.clip)
            count = round(length * 50)
            if source is None or not source.sound or count <= 0:
                levels += [-120.0] * max(0, count)
            else:
                levels += self._levels(source, round(at * AUDIO_CLOCK), count)
            left -= max(0.0, length)
            if left <= 0.02:
                break
        return np.array(levels)

    def _levels(self, source: Probe, first: int, count: int) -> list[float]:
        try:
            with sounds_of(source) as reader:
                blocks = list(reader.read(first, first + count * _FRAME))
        except InputError as error:
            self._out.error((), str(error))
            return [-120.0] * count
        samples = np.concatenate(blocks)
        return [_loudness(samples[i * _FRAME : (i + 1) * _FRAME]) for i in range(count)]


def _loudness(samples: Samples) -> float:
    """RMS in dBFS."""
    power = float(np.mean(np.square(samples, dtype=np.float64))) if len(samples) else 0.0
    return 10 * float(np.log10(power + 1e-12))
