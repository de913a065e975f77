"""A scenario held against its clips and sounds: what lies outside them, what does not fit.

Nothing is encoded and nothing downloaded. Counterparts: `simulator.media.prepare` refuses the same
when it comes to it, one thing at a time; `simulator.authoring.check` asks this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from simulator.authoring.findings import Findings
from simulator.authoring.pauses import Given, lacking, rms
from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.media.card import card
from simulator.media.clips import local
from simulator.media.encode import level
from simulator.media.layers import GestureLayer, Layer, Stretch, WritingLayer
from simulator.media.lettering import Lettering
from simulator.media.loudness import gain
from simulator.media.mix import audible
from simulator.media.played import look, pictures_of
from simulator.media.probe import Probe
from simulator.media.sound import load
from simulator.media.subtitle import draw
from simulator.media.timeline import PTIME, on_grid
from simulator.protocol.tracks import AUDIO_CLOCK
from simulator.scenario.before import listed
from simulator.scenario.types import Anchor, Embedded, Gesture, Pace, Say, Scenario, Show, Turn

_LATE = 0.05
"""As in preparing: an author's last `until` may be rounded up."""
_WORDS_A_SECOND = 2.7
"""How fast people read out, for instructions that have no sound yet."""


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
        given = [g for turn in self._scenario.turns for g in self._turn(turn, probes)]
        self._evidence(given, probes)
        if self._scenario.pace is Pace.CONTINUOUS:
            for one in given:
                if one.user and one.kind != "embedded":
                    self._pause(one, given, probes)

    def _pause(self, one: Given, given: Sequence[Given], probes: Mapping[str, Probe]) -> None:
        where = self._at(one.turn, one.kind)
        try:
            for why in lacking(one, given, self._scenario, probes):
                self._out.warn(where, why)
        except InputError as error:
            self._out.error(where, str(error))

    def _picture(self) -> None:
        canvas, subtitle = self._scenario.canvas, self._scenario.subtitle
        lettering = Lettering(file=self._scenario.font)
        if level(canvas) is None or canvas.width % 2 or canvas.height % 2:
            self._out.error(
                ("canvas",), "must be even and at most 4096x2304 at 26 pictures a second"
            )
            return
        try:
            if subtitle:
                draw(subtitle, canvas, lettering)
            for turn in self._scenario.turns:
                if turn.card:
                    card(turn.card, canvas, lettering)
        except InputError as error:
            where = ("goal",) if self._written("goal") else ("prior", "steps")
            self._out.error(where, str(error))

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

    def _at(self, turn: Turn, *below: str | int) -> tuple[str | int, ...]:
        """The place of a turn in the file."""
        if turn.prior:
            return ("prior", *below)
        return ("turns", listed(self._scenario, turn), *below)

    def _turn(self, turn: Turn, probes: Mapping[str, Probe]) -> list[Given]:
        source = probes.get(turn.clip)
        for key, time in (("from", turn.start), ("until", turn.end)):
            if source is not None and time > source.duration + _LATE:
                if key == "from" and not self._written(*self._at(turn, "from")):
                    continue
                self._out.error(
                    self._at(turn, key),
                    f"{time:g} s is after the end of {source.path.name}, which lasts "
                    f"{source.duration:.2f} s{source.told}",
                )
        given, counts = [], dict[str, int]()
        for instruction in turn.instructions:
            index = counts.get(instruction.kind, 0)
            counts[instruction.kind] = index + 1
            where = self._at(turn, instruction.kind, index)
            match instruction:
                case Say():
                    one = self._heard(turn, instruction, where)
                case Show() | Gesture():
                    one = self._seen(turn, instruction, where, probes)
                case Embedded(start=start, end=end):
                    one = Given(turn=turn, kind="embedded", start=start, end=end, user=True)
            if one is not None:
                given.append(one)
        return given

    def _seen(
        self,
        turn: Turn,
        instruction: Show | Gesture,
        where: tuple[str | int, ...],
        probes: Mapping[str, Probe],
    ) -> Given | None:
        """Where something written or signed lies, as preparing would lay it."""
        canvas = self._scenario.canvas
        start, end = on_grid(turn.start), on_grid(turn.end)
        count = -(-round((end - start) / PTIME) * canvas.fps // round(1 / PTIME))
        stretch = Stretch(name="turn", start=start, count=count, fps=canvas.fps)
        try:
            if isinstance(instruction, Show):
                lettering = Lettering(style=instruction.style, file=self._scenario.font)
                layer: Layer = WritingLayer(0, instruction, canvas, stretch, lettering)
                last = layer.newest
            else:
                source = probes.get(instruction.clip)
                if source is None:
                    return None
                if not source.picture:
                    self._out.error((*where, "clip"), f"{source.path.name} has no picture")
                    return None
                pictures, lasts = pictures_of(source), source.duration
                layer = GestureLayer(0, instruction, canvas, stretch, pictures, lasts)
                last = layer.until - 1
        except InputError as error:
            told = error.message.removeprefix("turn: ").removeprefix("show: ")
            self._out.error(where, f"{told} ({error.hint})" if error.hint else told)
            return None
        return Given(
            turn=turn,
            kind=instruction.kind,
            start=start + layer.first / canvas.fps,
            end=start + last / canvas.fps,
            user=True,
        )

    def _heard(self, turn: Turn, say: Say, where: tuple[str | int, ...]) -> Given | None:
        """Where something spoken lies, if it can be heard."""
        sound = say.sound
        if not sound.is_file():
            self._reading_time(turn, say.text, where)
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
        match say.placement.within.anchor:
            case Anchor.END:
                start = turn.end - length
            case Anchor.TIME:
                start = say.placement.at
            case _:
                start = turn.start
        if start < turn.start - 0.01 or start + length > turn.end + 0.01:
            self._out.error(
                where,
                f"lasts {length:.2f} s and does not fit: from {start:.2f} to {start + length:.2f} "
                f"in a segment from {turn.start:g} to {turn.end:g}; move `until`, or say it in "
                "fewer words",
            )
        said = samples[span[0] : span[1]]
        return Given(
            turn=turn,
            kind="say",
            start=start,
            end=start + length,
            loudness=rms(said) + 20 * float(np.log10(gain(said))) + say.level,
            user=say.voice == "user",
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

    def _evidence(self, given: list[Given], probes: Mapping[str, Probe]) -> None:
        before: list[Turn] = []
        for turn in self._scenario.turns:
            ends = [g.end for g in given if g.turn is turn and g.user]
            due = turn.event if turn.event is not None else max(ends, default=None)
            source = probes.get(turn.clip)
            for n, (start, end) in enumerate(turn.evidence):
                if source is not None and end > source.duration + _LATE:
                    self._out.error(
                        self._at(turn, "evidence", n),
                        f"{end:g} s is after the end of its clip, which lasts "
                        f"{source.duration:.2f} s{source.told}",
                    )
                # After a jump back it may lie later in the clip, and yet have been played.
                shown = any(t.clip == turn.clip and t.start <= start < t.end for t in before)
                if due is not None and start > due and not shown:
                    self._out.warn(
                        self._at(turn, "evidence", n),
                        f"begins at {start:g} s, after the answer falls due ({due:.2f} s)",
                    )
            before.append(turn)
