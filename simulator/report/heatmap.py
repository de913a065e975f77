"""The heat map of judges' correlations as an SVG: for papers and pages.

Counterpart: `simulator.report.panel` has the figures, `simulator.cli.agreement` prints them.
"""

from __future__ import annotations

from html import escape

from simulator.report.panel import Agreement

CELL, MARGIN, CHARACTER = 84, 16, 7.6
"""Pixels of a cell, around the picture, and of a letter."""


def heat_map(found: Agreement) -> str:
    """Each pair's Pearson correlation with its interval, the darker, the closer."""
    names = list(dict.fromkeys(n for p in found.pairs for n in (p.a, p.b)))
    by_pair = {frozenset((p.a, p.b)): p.pearson for p in found.pairs}
    left = MARGIN + round(CHARACTER * max((len(n) for n in names), default=0)) + 8
    top = left
    width, height = left + CELL * len(names) + MARGIN, top + CELL * len(names) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for i, name in enumerate(names):
        middle = round((i + 0.5) * CELL)
        parts.append(_text(left - 8, top + middle + 4, name, anchor="end"))
        x, y = left + middle + 4, top - 8
        parts.append(_text(x, y, name, anchor="start", turn=f"rotate(-90 {x} {y})"))
    for row, a in enumerate(names):
        for column, b in enumerate(names):
            figure = None if a == b else by_pair[frozenset((a, b))]
            value = 1.0 if figure is None else figure.value
            shade = round(255 * (1 - max(0.0, min(1.0, value or 0.0))))
            ink = "black" if shade > 110 else "white"
            x, y = left + column * CELL, top + row * CELL
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" stroke="white" '
                f'fill="rgb({shade},{shade},255)"/>'
            )
            middle = x + CELL // 2
            told = "-" if value is None else f"{value:.2f}"
            parts.append(_text(middle, y + CELL // 2, told, ink=ink))
            if figure is not None and figure.low is not None and figure.high is not None:
                span = f"{figure.low:.2f} to {figure.high:.2f}"
                parts.append(_text(middle, y + CELL // 2 + 16, span, ink=ink, size=10))
    return "\n".join([*parts, "</svg>", ""])


def _text(
    x: int,
    y: int,
    text: str,
    *,
    anchor: str = "middle",
    ink: str = "black",
    size: int = 13,
    turn: str = "",
) -> str:
    turned = f' transform="{turn}"' if turn else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{ink}" font-size="{size}"{turned}>'
        f"{escape(text)}</text>"
    )
