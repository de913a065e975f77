"""Numbers and stamps of one count are told from those of another."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulator.measuring.sources import counts

Packet = tuple[int, int, int]
"""Source, number, stamp."""


def sent(first: int, stamp: int, packets: int, *, ssrc: int = 1, ticks: int = 960) -> list[Packet]:
    return [(ssrc, (first + i) % 65_536, (stamp + i * ticks) % (1 << 32)) for i in range(packets)]


def told_apart(packets: list[Packet]) -> list[list[int]]:
    ssrc, seq, rtp = np.asarray(packets, np.int64).reshape(-1, 3).T
    return [found.tolist() for found in counts(ssrc, seq, rtp, 48_000)]


def test_one_sender_is_one_count_whatever_becomes_of_its_packets() -> None:
    packets = sent(65_500, (1 << 32) - 9_600, 200)
    assert told_apart(packets) == [list(range(200))]
    swapped = packets[:50] + packets[60:70] + packets[50:60] + packets[70:]
    assert told_apart(swapped) == [list(range(200))]
    assert told_apart(packets[:60] + packets[160:] + packets[150:152]) == [list(range(102))]
    assert told_apart(packets + packets[-3:]) == [list(range(203))]
    # Its stamps may leap, or stand still in silence; a long silence may not be sent.
    leaps = packets[:100] + sent(65_500 + 100, 77, 100)
    assert told_apart(leaps) == [list(range(200))]
    pause = packets[:100] + sent(65_500 + 100, 40 * 48_000, 100)
    late = [*pause[:98], *pause[100:102], *pause[98:100], *pause[102:]]
    assert told_apart(late) == [list(range(200))]


def test_who_counts_anew_is_told_from_who_is_late() -> None:
    before = sent(100, 7_000, 300)
    for number, stamp in ((0, 0), (150, 90_000_000), (399, 5), (40_000, 7_000 + 300 * 960)):
        again = sent(number, stamp, 300)
        assert told_apart(before + again) == [list(range(300)), list(range(300, 600))]


def test_two_at_once_under_one_name() -> None:
    one, two = sent(100, 7_000, 200), sent(180, 2_000_000_000, 200)
    mixed = [p for pair in zip(one, two, strict=True) for p in pair]
    assert told_apart(mixed) == [list(range(0, 400, 2)), list(range(1, 400, 2))]


@given(
    st.integers(0, 65_535),
    st.integers(0, (1 << 32) - 1),
    st.sampled_from([480, 960, 1_920, 2_880]),
    st.lists(st.floats(0, 0.3), min_size=120, max_size=120),
    st.sets(st.integers(0, 119), max_size=60),
)
def test_jitter_and_loss_part_nothing(
    first: int, stamp: int, ticks: int, delays: list[float], lost: set[int]
) -> None:
    packets = sent(first, stamp, 120, ticks=ticks)
    order = sorted(
        (i for i in range(120) if i not in lost), key=lambda i: i * ticks / 48_000 + delays[i]
    )
    assert len(told_apart([packets[i] for i in order])) == 1
