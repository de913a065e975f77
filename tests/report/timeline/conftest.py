"""A timeline as lines that can be read, and what holds of every one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from simulator.report.timeline.lanes import Span, Timeline


def told(timeline: Timeline) -> dict[str, list[str]]:
    """Each lane's spans in words: `9-10.5 say by user of ask: Which one? (cut) {score: 1}`."""
    return {lane.id: [_words(span) for span in lane.spans] for lane in timeline.lanes}


def _words(span: Span) -> str:
    when = f"{span.start:g}" + (f"-{span.end:g}" if span.end > span.start else "")
    parts = [
        f"{when} {span.kind}",
        f"by {span.by}" if span.by else "",
        f"of {span.turn}" if span.turn else "",
        f"= {span.response}" if span.response else "",
        f"({', '.join(span.flags)})" if span.flags else "",
        " ".join(f"{k}={v:g}" for k, v in span.numbers.items()),
        f"| {span.text}" if span.text else "",
    ]
    return " ".join(filter(None, parts))


def check(timeline: Timeline) -> None:
    """What holds of every timeline."""
    for lane in timeline.lanes:
        for span in lane.spans:
            assert 0 <= span.start <= span.end <= timeline.end, (lane.id, span)
        starts = [span.start for span in lane.spans]
        assert starts == sorted(starts)
    for spans in (timeline.spans("turns"), timeline.spans("video")):
        assert all(one.end <= other.start for one, other in pairwise(spans))
    turns = [t for t in timeline.spans("turns") if "not_reached" not in t.flags]
    assert all(one.end == other.start for one, other in pairwise(turns))


class Reading:
    """The functions above, for tests."""

    told = staticmethod(told)
    check = staticmethod(check)


@pytest.fixture(scope="session")
def reading() -> type[Reading]:
    return Reading
