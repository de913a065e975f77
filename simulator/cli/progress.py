"""Live progress on the terminal: media being prepared, attempts being played.

Where the output is no terminal, each attempt gets a line when it starts and when it ends.
Counterparts: `simulator.run.progress` is the contract, `simulator.run.pool` and the engine report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from simulator.report.plain import clean, plain
from simulator.run.plan import Plan


class _Bars:
    """Bars on a terminal while a context lasts, gone afterwards."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


class PrepareProgress(_Bars):
    """A bar for each scenario that is being prepared; nothing for those in the cache."""

    def __init__(self, console: Console) -> None:
        super().__init__(
            Progress(
                TextColumn("preparing {task.fields[scenario]}", markup=False),
                BarColumn(bar_width=30),
                TextColumn("{task.description}"),
                TimeRemainingColumn(),
                **_on(console),
            )
        )

    def for_scenario(self, scenario_id: str) -> Callable[[str, float], None]:
        """What `prepare` may call with (what is being done, share done from 0 to 1)."""
        task: list[TaskID] = []

        def report(what: str, share: float) -> None:
            if not task:
                task.append(self._progress.add_task("", total=1.0, scenario=scenario_id))
            self._progress.update(task[0], description=what, completed=min(1.0, share))

        return report


class RunProgress(_Bars):
    """An Observer that shows every running attempt with its turn, state and time left."""

    def __init__(self, plan: Plan, console: Console) -> None:
        super().__init__(
            _ByTime(
                TextColumn("{task.fields[agent]}", markup=False),
                BarColumn(bar_width=24),
                _Left(),
                TextColumn("{task.description}", markup=False),
                **_on(console),
            )
        )
        self._plan = plan
        self._console = console
        self._live = console.is_terminal
        self._tasks: dict[str, TaskID] = {}
        self._begun = 0
        self._done = 0

    def attempt_started(
        self, attempt_id: str, scenario_id: str, agent: str, estimate_s: float
    ) -> None:
        self._begun += 1
        self._tasks[attempt_id] = self._progress.add_task(
            f"{scenario_id}: dialling",
            total=max(estimate_s, 0.1),
            agent=clean(agent)[:24],
        )
        if not self._live:
            self._console.print(
                plain(f"{attempt_id}: started, about {estimate_s:.0f} s"), soft_wrap=True
            )

    def turn_changed(
        self, attempt_id: str, turn_id: str, state: str, elapsed: float, total: float
    ) -> None:
        task = self._tasks.get(attempt_id)
        if task is not None:
            self._progress.update(
                task,
                description=f"{turn_id}: {state}",
                total=max(total, elapsed, 0.1),
            )

    def attempt_ended(self, attempt_id: str, outcome: str, reason: str) -> None:
        self._done += 1
        task = self._tasks.pop(attempt_id, None)
        if task is not None:
            self._progress.remove_task(task)
        # Those that are played again come on top.
        count = f"[{self._done}/{max(self._begun, len(self._plan.attempts))}]"
        self._tell(f"{count} {attempt_id}", outcome, reason)

    def attempt_measured(self, attempt_id: str, outcome: str, reason: str) -> None:
        self._tell(f"{attempt_id}, by its recording", outcome, reason)

    def waiting(self, seconds: float, why: str) -> None:
        line = f"waiting {seconds:.3g} s before playing again: {why}"
        self._console.print(plain(line), soft_wrap=True)

    def _tell(self, what: str, outcome: str, reason: str) -> None:
        why = f" ({reason})" if reason else ""
        line = plain(f"{what}: {outcome.replace('_', ' ')}{why}")
        if outcome != "completed":
            line.stylize("red")
        self._console.print(line, soft_wrap=True)


class _ByTime(Progress):
    """Bars that move with the time since their attempt began, not only when a turn changes."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            task.completed = min(task.elapsed or 0.0, task.total or 0.0)
        yield from super().get_renderables()


class _Left(ProgressColumn):
    """Minutes and seconds left, by the estimate."""

    def render(self, task: Task) -> Text:
        minutes, rest = divmod(max(0, round((task.total or 0.0) - (task.elapsed or 0.0))), 60)
        return Text(f"{minutes:3d}:{rest:02d}")


def _on(console: Console) -> dict[str, Any]:
    """Where bars are shown: on a terminal, for as long as they move."""
    return {"console": console, "transient": True, "disable": not console.is_terminal}
