"""Whether an attempt is played again, and after how long."""

from __future__ import annotations

import pytest

from simulator.run.tries import LONGEST_WAIT, wait_asked


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        (
            "agent_error: in 2 of 4 turns, first rate_limit: Please try again in 6.5s. See docs.",
            6.5,
        ),
        ("Please try again in 1m30.5s.", 90.5),
        ("try again in 20ms", 0.02),
        ("retry after 2 days", LONGEST_WAIT),
        ("Try again in 1 week.", LONGEST_WAIT),
        ("try again in 3 months", LONGEST_WAIT),
        ("try again in 1d", LONGEST_WAIT),
        ("Retry after 30 seconds", 30.0),
        ("retry-after: 7", 7.0),
        ("retry_after=3", 3.0),
        ("try again in 2 minutes 5 sec", 125.0),
        ("try again in 24 hours", LONGEST_WAIT),
        ("try again in " + "9" * 400, LONGEST_WAIT),
        ("no reply within 10 s", 0.0),
        ("try again later", 0.0),
        ("", 0.0),
    ],
)
def test_how_long_a_provider_wants_to_be_left_alone(words: str, seconds: float) -> None:
    assert wait_asked(words) == pytest.approx(seconds)
