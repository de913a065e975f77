"""What a drawn person looks like, and how one is at a moment; colours.

Counterparts: `people_head` and `people_figure` draw it.
"""

from dataclasses import dataclass, field

Colour = tuple[float, float, float]


def rgb(code: str) -> Colour:
    """`#rrggbb` as cairo wants it."""
    return tuple(int(code[i:i + 2], 16) / 255 for i in (1, 3, 5))  # type: ignore[return-value]


def mixed(a: Colour, b: Colour, share: float) -> Colour:
    """`a` with a share of `b` in it."""
    return tuple(x + (y - x) * share for x, y in zip(a, b, strict=True))  # type: ignore[return-value]


BLACK, WHITE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
INK = rgb("#3a2a2a")


@dataclass(frozen=True, kw_only=True)
class Look:
    """What somebody looks like. Colours as `#rrggbb`."""

    skin: str = "#f2c9a5"
    hair: str = "#4a2e1e"
    style: str = "short"
    """short, side, bob, long, bun, curly, bald"""
    top: str = "#3f7d4e"
    cut: str = "round"
    """round, shirt, hood, blazer"""
    eyes: str = "#4b3a2a"
    glasses: str = ""
    """Their colour; empty for none."""
    beard: str = ""
    """Its colour; empty for none."""
    lips: str = "#b5544c"
    badge: str = ""
    """A name to wear on the chest."""


@dataclass(kw_only=True)
class Pose:
    """How somebody is at one moment."""

    x: float = 0.0
    y: float = 0.0
    """Where the base of the neck is, in pixels."""
    yaw: float = 0.0
    """The head's turn, -1 (to the picture's left) to 1."""
    pitch: float = 0.0
    """Down 1, up -1."""
    roll: float = 0.0
    """The head's tilt, radians."""
    gaze: tuple[float, float] = (0.0, 0.0)
    """Where the eyes look within the face: right and down, -1 to 1."""
    lids: float = 0.0
    """Shut 1."""
    mouth: float = 0.0
    """How wide open, 0 to 1."""
    wide: float = 0.0
    """Lips spread 1, rounded -1."""
    face: dict[str, float] = field(default_factory=dict)
    """Expressions and how much of each; see FACES."""
    tears: float | None = None
    """Seconds for which tears have been running; None for none."""
    arms: dict[str, tuple[float, float] | None] = field(default_factory=dict)
    """`left` and `right` of the picture: where the hand is; None for an arm that hangs down."""
    coat: Look | None = None
    """Clothes of another look worn over the own."""
