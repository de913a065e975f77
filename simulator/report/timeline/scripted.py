"""The spans of a timeline that a scenario's text decides, wherever its turns come to lie. Pure.

Counterparts: `.session` and `.stream` know the times and ask this for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from simulator.media.timeline import on_grid
from simulator.report.timeline.lanes import Span
from simulator.scenario.types import Embedded, Instruction, Say, Scenario, Turn

_SAME = 1e-6
"""Seconds; times that differ by less are one."""


def turn_span(turn: Turn, start: float, end: float, *flags: str, **numbers: float) -> Span:
    """A turn, with what it wants."""
    return Span(
        start=start,
        end=end,
        kind=turn.expect.kind,
        by=turn.expect.wants,
        text=turn.expect.told,
        turn=turn.id,
        flags=("prior", *flags) if turn.prior else flags,
        numbers=numbers,
    )


def play_span(turn: Turn, start: float, end: float) -> Span:
    """A turn's segment, from its clip's first picture on."""
    return Span(
        start=start,
        end=end,
        kind="play",
        by=turn.clip,
        turn=turn.id,
        numbers={"clip_start": on_grid(turn.start)},
    )


def instruction_span(turn: Turn, index: int, start: float, end: float, *flags: str) -> Span:
    """One of a turn's instructions."""
    given = turn.instructions[index]
    return Span(
        start=start,
        end=end,
        kind=given.kind,
        by=given.voice,
        text=given.text,
        turn=turn.id,
        flags=flags if _heard(given) else ("seen", *flags),
    )


def _heard(instruction: Instruction) -> bool:
    held = isinstance(instruction, Embedded) and instruction.medium == "sound"
    return held or isinstance(instruction, Say)


def window_span(
    turn: Turn,
    due: float,
    within: float,
    until: float,
    *,
    why: str,
    early: str = "cut",
    **numbers: float,
) -> Span:
    """The time in which a response must begin: so long from `due` on, but for what lies after
    `until`; `early` is the flag of one that ends there."""
    last = due + within
    return Span(
        start=due,
        end=max(due, min(last, until)),
        kind=turn.expect.kind,
        by=why,
        turn=turn.id,
        flags=(early,) if last > until else (),
        numbers={"within_s": within, **numbers},
    )


def evidence_spans(scenario: Scenario, played: Iterable[Span]) -> Iterator[Span]:
    """Where each turn's answer can be seen or heard, as far as it plays; one that goes on from a
    segment into the next is two."""
    shown = [span for span in played if span.kind == "play"]
    for turn in scenario.turns:
        for first, last in turn.evidence:
            for span in shown:
                if span.by != turn.clip:
                    continue
                shift = span.start - span.numbers["clip_start"]
                start, end = max(first + shift, span.start), min(last + shift, span.end)
                moment = first == last and span.start <= first + shift + _SAME < span.end
                if moment or end - start > _SAME:
                    yield Span(
                        start=start,
                        end=max(start, end),
                        kind="evidence",
                        by=turn.clip,
                        turn=turn.id,
                    )
