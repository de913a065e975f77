"""Times in words, as a preview writes them. Pure.

Counterparts: `simulator.authoring.sheet`, `.film` and `.transcript` show them.
"""

from __future__ import annotations


def clock(seconds: float, digits: int = 2) -> str:
    """`1:02.50`, or `2.50` under a minute."""
    whole = round(seconds, digits)
    minutes, rest = divmod(whole, 60)
    if minutes < 1:
        return f"{rest:.{digits}f}"
    return f"{int(minutes)}:{rest:0{digits + 3 if digits else 2}.{digits}f}"
