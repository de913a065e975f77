"""What a running session tells whoever watches: the Observer contract. Pure.

Counterparts: `simulator.session.engine` reports turns, `simulator.run.pool` reports attempts,
`simulator.cli.progress` draws them. An observer only looks: it returns at once and never raises.
"""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """Hears of attempts and turns as they happen. All times are in seconds."""

    def attempt_started(
        self, attempt_id: str, scenario_id: str, agent: str, estimate_s: float
    ) -> None:
        """An attempt begins; it will take about `estimate_s`."""
        ...

    def turn_changed(
        self, attempt_id: str, turn_id: str, state: str, elapsed: float, total: float
    ) -> None:
        """A turn enters a state; `elapsed` seconds since dialling, of an estimated `total`."""
        ...

    def attempt_ended(self, attempt_id: str, outcome: str, reason: str) -> None:
        """An attempt is over."""
        ...

    def attempt_measured(self, attempt_id: str, outcome: str, reason: str) -> None:
        """The recording of one that is over shows another outcome, which is the one that counts."""
        ...

    def waiting(self, seconds: float, why: str) -> None:
        """Nothing plays for this long, before attempts are played again."""
        ...


class Unwatched:
    """The observer when nobody looks."""

    def attempt_started(
        self, attempt_id: str, scenario_id: str, agent: str, estimate_s: float
    ) -> None:
        pass

    def turn_changed(
        self, attempt_id: str, turn_id: str, state: str, elapsed: float, total: float
    ) -> None:
        pass

    def attempt_ended(self, attempt_id: str, outcome: str, reason: str) -> None:
        pass

    def attempt_measured(self, attempt_id: str, outcome: str, reason: str) -> None:
        pass

    def waiting(self, seconds: float, why: str) -> None:
        pass
