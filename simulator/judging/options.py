"""A judge's options, which come as strings, as what they mean. Raises ValueError. Pure."""

from __future__ import annotations

from simulator.judging.spending import Prices

_TRUE = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def number(name: str, value: str, *, least: float) -> float:
    found = float(value)
    if not least <= found < float("inf"):
        raise ValueError(f"{name}={value} must be at least {least:g}")
    return found


def flag(name: str, value: str) -> bool:
    if value.lower() not in _TRUE:
        raise ValueError(f"{name}={value} must be true or false")
    return _TRUE[value.lower()]


def prices(price_in: str, price_out: str) -> Prices | None:
    """None where neither is given."""
    if not price_in and not price_out:
        return None
    if not price_in or not price_out:
        raise ValueError("price_in and price_out go together")
    return Prices(
        tokens_in=number("price_in", price_in, least=0),
        tokens_out=number("price_out", price_out, least=0),
    )
