"""From a scenario to prepared media: each turn cut, spoken into, subtitled and encoded, once.

A cut lies on the 20 ms grid of clip time (each border is rounded by itself, so nothing adds up),
and a turn's first sample and picture follow the last of the turn before. What a turn's bytes depend
on is its cache key: a change of gold answers encodes nothing, a changed turn only itself. Memory
does not grow with the clip. Counterparts: `simulator.media.timeline` holds the result,
`simulator.session.script` plays it.
"""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from simulator.errors import InputError, ScenarioError
from simulator.media.beds import BEDS, Beds
from simulator.media.build import Job, Maker
from simulator.media.cache import Cache, key_of
from simulator.media.card import CARD, card
from simulator.media.clips import Located, locate
from simulator.media.encode import Encoding, level
from simulator.media.layers import LAYERS
from simulator.media.lettering import Lettering
from simulator.media.packets import PacketFile
from simulator.media.picture import Fitter
from simulator.media.played import Pictures, Sounds, look, pictures_of, sounds_of
from simulator.media.played import key as key_as_played
from simulator.media.probe import Probe
from simulator.media.subtitle import Overlay, draw
from simulator.media.timeline import PTIME, Asset, Prepared, PreparedTurn, Spoken
from simulator.scenario.before import listed
from simulator.scenario.types import Embedded, Gesture, Say, Scenario, Show, Turn

_LATE = 0.05
"""Seconds by which an author's last `until` may pass the end of the clip (rounded up)."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class _Made:
    """A turn's entry in the cache, read back."""

    segment: Asset
    hold: Asset
    spoken: tuple[Spoken, ...]


def prepare(
    scenario: Scenario,
    *,
    cache: Cache,
    progress: Progress | None = None,
    workers: int = 1,
    encoding: Encoding | None = None,
) -> Prepared:
    """Prepare `scenario`, taking from the cache what is there.

    `progress` gets what is being done and the share of it (0 to 1), from any thread. `workers`
    turns are prepared at a time, each on a core. Raises InputError (ScenarioError where it lies in
    the scenario itself) for what the user can mend.
    """
    tell = progress or (lambda what, share: None)
    encoding = encoding or Encoding()
    if level(scenario.canvas) is None or scenario.canvas.width % 2 or scenario.canvas.height % 2:
        size = f"{scenario.canvas.width}x{scenario.canvas.height} at {scenario.canvas.fps}"
        raise InputError(
            f"canvas {size}: must be even and at most 4096x2304 at 26 pictures a second"
        )
    used = {turn.clip for turn in scenario.turns if not turn.card} | {
        sign.clip for sign in _gestures(scenario)
    }
    located = {n: locate(c, cache, progress) for n, c in scenario.clips.items() if n in used}
    jobs = [_job(scenario, turn, located, cache, encoding) for turn in scenario.turns]
    made: dict[int, _Made] = {}
    for job in jobs:
        found = cache.find(job.key, _reader(job))
        if found is not None:
            made[job.turn.index] = found
    missing = [job for job in jobs if job.turn.index not in made]
    if missing:
        probes = {n: look(scenario.clips[n], clip, cache) for n, clip in located.items()}
        _check(scenario, probes)
        lettering = Lettering(file=scenario.font)
        subtitle = scenario.subtitle
        overlay = draw(subtitle, scenario.canvas, lettering) if subtitle else None
        work = _Work(cache, probes, overlay, tell, missing)
        made |= work.run(workers)
    turns, at = [], 0.0
    for packets, job in _starts(jobs):
        entry = made[job.turn.index]
        at = packets * PTIME
        turns.append(
            PreparedTurn(
                turn=job.turn,
                segment=entry.segment,
                hold=entry.hold,
                spoken=(*entry.spoken, *_embedded(job)),
                stream_start=at,
            )
        )
    tell("prepare", 1.0)
    return Prepared(scenario=scenario, turns=tuple(turns), codec=encoding.codec)


def _starts(jobs: Sequence[Job]) -> Iterator[tuple[int, Job]]:
    at = 0
    for job in jobs:
        yield at, job
        at += job.last - job.first


def packet_at(seconds: float) -> int:
    """The packet border of clip time nearest to `seconds`."""
    return round(seconds / PTIME)


def _gestures(scenario: Scenario) -> Iterator[Gesture]:
    for turn in scenario.turns:
        yield from (i for i in turn.instructions if isinstance(i, Gesture))


def _job(
    scenario: Scenario, turn: Turn, located: Mapping[str, Located], cache: Cache, encoding: Encoding
) -> Job:
    says = [i for i in turn.instructions if isinstance(i, Say)]
    for say in says:
        if not say.sound.is_file():
            raise InputError(f"{_name(scenario, turn)}: say: {say.sound}: no such file")
    first, last = packet_at(turn.start), packet_at(turn.end)
    if last <= first:
        raise InputError(
            f"{_name(scenario, turn)}: until: {turn.end:g} leaves less than 20 ms "
            f"after {turn.start:g}"
        )
    return Job(
        name=_name(scenario, turn),
        turn=turn,
        clip=Located(scenario.path, "card") if turn.card else located[turn.clip],
        first=first,
        last=last,
        sounds=tuple(cache.sha256(say.sound) for say in says),
        subtitle="" if turn.card else scenario.subtitle,
        canvas=scenario.canvas,
        encoding=encoding,
        extras=tuple(_extras(scenario, turn, located, cache)),
        font=scenario.font,
        backgrounds=tuple(b for b in scenario.backgrounds if b.under(turn)),
    )


def _embedded(job: Job) -> Iterator[Spoken]:
    """The instructions that the clip itself holds: they decide no bytes, only what is due when."""
    begin, end = job.first * PTIME, job.last * PTIME
    for index, held in enumerate(job.turn.instructions):
        if isinstance(held, Embedded):
            start = max(held.start, begin) - begin
            yield Spoken(index=index, start=start, end=min(held.end, end) - begin)


def _extras(
    scenario: Scenario, turn: Turn, located: Mapping[str, Located], cache: Cache
) -> Iterator[object]:
    """What decides a turn's bytes besides its clip, speech and subtitle: nothing, as a rule."""
    if turn.card:
        yield "card", CARD, turn.card
        if scenario.font is None:
            yield "font", cache.sha256(Lettering().path)
    elif played := key_as_played(scenario.clips[turn.clip]):
        yield played
    for index, given in enumerate(turn.instructions):
        if isinstance(given, Embedded):
            continue
        instruction = dataclasses.replace(given, placement=given.placement.within)
        match instruction:
            case Show():
                yield "show", LAYERS, index, dataclasses.asdict(instruction)
                if scenario.font is None:
                    yield "font", cache.sha256(Lettering(style=instruction.style).path)
            case Say(level=level) if level:
                yield "level", index, level
            case Gesture():
                sign = dataclasses.asdict(dataclasses.replace(instruction, means=""))
                played = key_as_played(scenario.clips[instruction.clip], heard=False)
                yield "gesture", LAYERS, index, located[instruction.clip].sha256, sign, *played
    for background in scenario.backgrounds:
        if background.under(turn):
            if not background.sound.is_file():
                raise InputError(f"{scenario.path}: backgrounds: {background.sound}: no such file")
            sha256 = cache.sha256(background.sound)
            yield "bed", BEDS, sha256, background.level, background.at, background.until
    if scenario.font is not None:
        yield "font", cache.sha256(scenario.font)


def _name(scenario: Scenario, turn: Turn) -> str:
    if turn.prior:
        return f"{scenario.path}: prior ({turn.id})"
    return f"{scenario.path}: turns[{listed(scenario, turn)}] ({turn.id})"


def _check(scenario: Scenario, probes: dict[str, Probe]) -> None:
    """Every time that lies outside its clip, all at once."""
    problems = []
    for turn in scenario.turns:
        if turn.card:
            continue
        source = probes[turn.clip]
        end = source.duration
        for key, time in (("from", turn.start), ("until", turn.end)):
            if time > end + _LATE:
                problems.append(
                    f"{_name(scenario, turn)}: {key}: {time:g} s is after the end of "
                    f"{source.path.name}, which lasts {end:.2f} s{source.told}"
                )
        for sign in turn.instructions:
            if isinstance(sign, Gesture) and not probes[sign.clip].picture:
                problems.append(
                    f"{_name(scenario, turn)}: gesture: {probes[sign.clip].path.name} has no "
                    "picture"
                )
    if problems:
        raise ScenarioError(problems)


def _reader(job: Job) -> Callable[[Path], _Made]:
    def read(folder: Path) -> _Made:
        spoken = json.loads((folder / "turn.json").read_text())
        assets = []
        for name in ("segment", "hold"):
            path = folder / name
            part = PacketFile.open(path)
            assets.append(Asset(key=key_of(job.key, name), path=path, duration=part.duration))
        return _Made(
            assets[0],
            assets[1],
            tuple(Spoken(index=s["index"], start=s["start"], end=s["end"]) for s in spoken),
        )

    return read


def _card(job: Job) -> Overlay:
    try:
        return card(job.turn.card, job.canvas, Lettering(file=job.font))
    except InputError as error:
        raise InputError(f"{job.name}: {error.message}", hint=error.hint) from error


def _nothing(job: Job) -> Probe:
    """What a card lies over: black and silence."""
    return Probe(
        path=job.clip.path, zero=0.0, duration=job.turn.duration, picture=False, sound=False
    )


class _Work:
    """The turns that are not in the cache yet."""

    def __init__(
        self,
        cache: Cache,
        probes: dict[str, Probe],
        overlay: Overlay | None,
        tell: Progress,
        jobs: Sequence[Job],
    ) -> None:
        self._cache = cache
        self._probes = probes
        self._overlay = overlay
        self._beds = Beds()
        self._tell = tell
        self._jobs = jobs
        self._total = sum(job.last - job.first for job in jobs)
        self._done = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def run(self, workers: int) -> dict[int, _Made]:
        shares = self._shares(max(1, workers))
        if len(shares) == 1:
            return self._make(shares[0])
        made: dict[int, _Made] = {}
        with ThreadPoolExecutor(len(shares), thread_name_prefix="prepare") as pool:
            futures = [pool.submit(self._make, share) for share in shares]
            try:
                for future in futures:
                    made |= future.result()
            finally:
                # After an error, or Ctrl-C, the others stop at their next picture, whether it is
                # wanted or on the way, and do not wait for another process to finish its own.
                self._stop.set()
        return made

    def _shares(self, workers: int) -> list[list[Job]]:
        """Runs of neighbouring turns of about the same length, so that each decodes on."""
        shares: list[list[Job]] = [[]]
        length = 0
        for job in self._jobs:
            if length >= self._total * len(shares) / workers and shares[-1]:
                shares.append([])
            shares[-1].append(job)
            length += job.last - job.first
        return shares

    def _make(self, jobs: Sequence[Job]) -> dict[int, _Made]:
        made = {}
        with ExitStack() as stack:
            pictures: dict[str, Pictures] = {}
            fitters: dict[str, Fitter] = {}
            sounds: dict[str, Sounds] = {}
            for job in jobs:
                name, overlay = job.turn.clip, self._overlay
                if job.turn.card:
                    source = _nothing(job)
                    overlay = _card(job)
                else:
                    source = self._probes[name]
                if source.picture and name not in pictures:
                    pictures[name] = stack.enter_context(pictures_of(source, self._check))
                if source.sound and name not in sounds:
                    sounds[name] = stack.enter_context(sounds_of(source))
                signs = [i for i in job.turn.instructions if isinstance(i, Gesture)]
                maker = Maker(
                    dataclasses.replace(job, insets={s.clip: self._probes[s.clip] for s in signs}),
                    source,
                    pictures=pictures.get(name),
                    fitter=fitters.setdefault(name, Fitter(job.canvas)),
                    sounds=sounds.get(name),
                    overlay=overlay,
                    beds=[self._beds.get(background) for background in job.backgrounds],
                    advance=partial(self._advance, job.turn),
                )
                made[job.turn.index] = self._cache.entry(
                    job.key, _reader(job), maker.build, waiting=self._check
                )
        return made

    def _check(self) -> None:
        """Raises InputError when another worker has failed, or the user has had enough."""
        if self._stop.is_set():
            raise InputError("preparing was stopped")

    def _advance(self, turn: Turn, packets: int) -> None:
        """Tell how far everything is; raises as `_check`."""
        self._check()
        with self._lock:
            self._done += packets
            self._tell(f"prepare {turn.id}", min(0.999, self._done / self._total))
