"""Values that change over time: smoothly, or at once.

Counterpart: `people` sets them as its script goes and reads them picture by picture.
"""

import bisect


def _ease(share: float) -> float:
    return share * share * (3 - 2 * share)


class Track:
    """A value over time: keys, each reached within some seconds. They may be set in any order."""

    def __init__(self, first: tuple[float, ...]) -> None:
        self._keys: list[tuple[float, tuple[float, ...], float]] = [(-1.0, first, 0.0)]
        self._starts: list[tuple[float, ...]] | None = None
        self._times: list[float] = []

    def set(self, t: float, value: tuple[float, ...], over: float = 0.35) -> None:
        self._keys.append((t, value, over))
        self._starts = None

    def at(self, t: float) -> tuple[float, ...]:
        if self._starts is None:
            self._keys.sort(key=lambda k: k[0])
            self._times = [k[0] for k in self._keys]
            self._starts = []
            for i, (when, value, _) in enumerate(self._keys):
                self._starts.append(value if i == 0 else self._from(i - 1, when))
        return self._from(bisect.bisect_right(self._times, t) - 1, t)

    def _from(self, i: int, t: float) -> tuple[float, ...]:
        assert self._starts is not None
        when, value, over = self._keys[i]
        if over <= 0 or t >= when + over:
            return value
        share = _ease((t - when) / over)
        return tuple(a + (b - a) * share for a, b in zip(self._starts[i], value, strict=True))


class Steps:
    """Something that changes at once: the latest of what was set."""

    def __init__(self, first: object) -> None:
        self._keys: list[tuple[float, object]] = [(-1.0, first)]

    def set(self, t: float, value: object) -> None:
        self._keys.append((t, value))
        self._keys.sort(key=lambda k: k[0])

    def at(self, t: float) -> object:
        return self._keys[bisect.bisect_right([k[0] for k in self._keys], t) - 1][1]

    def since(self, t: float) -> float:
        return self._keys[bisect.bisect_right([k[0] for k in self._keys], t) - 1][0]
