"""Hands: a skeleton of five fingers that takes poses, drawn with skin, sleeve and a shadow.

A pose is where the joints are, so that one passes smoothly into another. Drawn is a right hand
seen from its back, its fingers pointing up; `Person` says whose it is and from where it comes.
Counterpart: `table`, which moves hands about. Needs skia-python and numpy.
"""

from dataclasses import dataclass, field

import numpy as np
import skia
from table_ink import Ink, argb, box, curve, rgb, tint

SKINS = {"light": (244, 204, 172), "tan": (214, 160, 116), "brown": (150, 100, 68),
         "dark": (96, 64, 46)}
WIDTHS = (27, 25, 26, 25, 22)
"""Of thumb, index, middle, ring and little finger, in pixels."""
SIDES = {"bottom": 0.0, "left": 90.0, "top": 180.0, "right": -90.0}


@dataclass(frozen=True, kw_only=True)
class Pose:
    joints: tuple
    """Five fingers of three points each, thumb first; the wrist is at (0, 0)."""
    anchor: tuple
    """The point of the hand that is put on its target."""
    over: tuple = ()
    """Fingers that lie over what is held (and over the palm)."""
    palm: bool = False
    """Seen from the palm's side: creases and no nails."""

    def array(self):
        return np.array([*self.joints, (self.anchor,) * 3], float)


def _ray(base, angle, *lengths):
    """Points from a base onwards; angle in degrees from straight up, clockwise."""
    a = np.radians(angle)
    points, at = [base], np.array(base, float)
    for length in lengths:
        at = at + length * np.array([np.sin(a), -np.cos(a)])
        points.append(tuple(at))
    return tuple(points)


_BASES = ((-30, -88), (-9, -95), (13, -92), (34, -80))
_OPEN = (
    ((-30, -30), (-66, -62), (-88, -100)),
    _ray(_BASES[0], -12, 38, 40), _ray(_BASES[1], -2, 44, 44),
    _ray(_BASES[2], 8, 40, 40), _ray(_BASES[3], 20, 32, 30),
)


def grip(width):
    """Thumb to the left, fingers to the right of something `width` pixels wide."""
    half = width / 2
    fingers = []
    for i, (drop, reach) in enumerate(((0, 0), (9, -5), (17, -12), (25, -20))):
        fingers.append((
            (26 + 3 * i, -66 + 8 * i), (half + 16 + i * 2, -112 + drop * 1.4),
            (half + 7 - i, -158 + drop * 1.6 - reach * 0.2)))
    return Pose(joints=(((-26, -34), (-half - 22, -84), (-half - 7, -132)), *fingers),
                anchor=(0, -128), over=(0, 1))


POSES = {
    "open": Pose(joints=_OPEN, anchor=(0, -110)),
    "rest": Pose(joints=(
        ((-30, -30), (-58, -58), (-66, -92)),
        _ray(_BASES[0], -6, 34, 34), _ray(_BASES[1], 0, 38, 38),
        _ray(_BASES[2], 5, 35, 34), _ray(_BASES[3], 12, 28, 25)), anchor=(0, -120)),
    "point": Pose(joints=(
        ((-28, -30), (-46, -62), (-22, -84)),
        _ray(_BASES[0], -3, 42, 42),
        ((-9, -90), (-6, -112), (-6, -90)), ((13, -88), (14, -108), (12, -86)),
        ((32, -78), (33, -96), (30, -76))), anchor=(-34, -178), over=(0,)),
    "push": Pose(joints=(
        ((-28, -30), (-56, -58), (-58, -86)),
        _ray(_BASES[0], 3, 34, 32), _ray(_BASES[1], 2, 36, 34),
        _ray(_BASES[2], -1, 34, 32), _ray(_BASES[3], -5, 28, 24)), anchor=(0, -172)),
    # Signs, as they are shown to the camera: the palm's side, and so with its thumb to the right.
    "palm": Pose(joints=_OPEN, anchor=(0, -110), palm=True),
    "fist": Pose(joints=(
        ((-34, -34), (-44, -66), (4, -70)),
        ((-30, -74), (-32, -112), (-28, -82)), ((-9, -78), (-10, -118), (-7, -84)),
        ((13, -76), (13, -114), (13, -82)), ((34, -68), (35, -102), (32, -74))),
        anchor=(0, -80), over=(1, 2, 3, 4, 0), palm=True),
    "two": Pose(joints=(
        ((-34, -34), (-40, -66), (14, -76)),
        _ray(_BASES[0], -15, 42, 42), _ray(_BASES[1], 9, 46, 44),
        ((13, -76), (15, -114), (13, -84)), ((34, -68), (36, -102), (32, -76))),
        anchor=(0, -110), over=(3, 4, 0), palm=True),
    "one": Pose(joints=(
        ((-34, -34), (-44, -66), (6, -76)),
        _ray(_BASES[0], -2, 42, 42), ((-9, -78), (-8, -118), (-7, -86)),
        ((13, -76), (14, -114), (13, -84)), ((34, -68), (35, -102), (32, -76))),
        anchor=(0, -110), over=(2, 3, 4, 0), palm=True),
    # A fist on its side, the thumb up; the arm comes from the right (turn the hand by -90).
    "thumb": Pose(joints=(
        ((30, -50), (52, -74), (92, -84)),
        ((30, -66), (28, -112), (2, -104)), ((8, -70), (8, -118), (-16, -108)),
        ((-14, -70), (-14, -116), (-34, -104)), ((-34, -62), (-34, -104), (-48, -92))),
        anchor=(0, -80), over=(4, 3, 2, 1, 0), palm=True),
}


@dataclass(frozen=True, kw_only=True)
class Person:
    """Whose hand it is."""

    name: str
    skin: str
    sleeve: object
    """The sleeve's colour."""
    stripe: object = None
    """The colour of the sleeve's stripes, if it has some."""
    side: object = "bottom"
    """Where the arm comes from: a side of the picture, or degrees from the bottom, clockwise."""
    left: bool = False
    """A left hand."""
    extras: tuple = field(default=())
    """`watch`, `nails` (red ones)."""
    size: float = 0.92

    @property
    def angle(self):
        return SIDES[self.side] if isinstance(self.side, str) else float(self.side)


def matrix(person, where, anchor, turn=0.0):
    """From the hand's coordinates to the picture's, its anchor put on `where`."""
    m = skia.Matrix()
    m.setTranslate(*map(float, where))
    m.preRotate(person.angle + turn)
    m.preScale(-person.size if person.left else person.size, person.size)
    m.preTranslate(-float(anchor[0]), -float(anchor[1]))
    return m


def draw_shadow(ink, joints):
    """The silhouette, black."""
    for joint, width in zip(joints, WIDTHS, strict=True):
        ink.line([tuple(p) for p in joint], (0, 0, 0), width + 3)
    ink.shape(box(-48, -100, 98, 110, 34), (0, 0, 0), edge=0, flat=True)
    ink.shape(box(-33, -20, 66, 120, 20), (0, 0, 0), edge=0, flat=True)
    ink.shape(box(-52, 62, 104, 900, 12), (0, 0, 0), edge=0, flat=True)


def _finger(ink, joints, width, skin, nail, lacquer=None):
    ink.line([tuple(p) for p in joints], tint(skin, -0.38), width + 4)
    ink.line([tuple(p) for p in joints], skin, width)
    a, b = np.array(joints[1]), np.array(joints[2])
    side = np.array([-2.2, -1.5])
    ink.line([tuple(a * 0.75 + joints[0] * 0.25 + side), tuple(b + side)], tint(skin, 0.3),
             width * 0.3, alpha=0.5)
    if nail and np.hypot(*(b - a)) > 12:
        d = (b - a) / np.hypot(*(b - a))
        ink.line([tuple(b - d * 3), tuple(b + d * 4)], lacquer or tint(skin, 0.45), width * 0.5)


def draw_hand(ink, joints, person, pose, *, front):
    """The hand behind (`front` false) and over what it holds."""
    skin = SKINS[person.skin]
    lacquer = rgb("red") if "nails" in person.extras else None
    if front:
        for i in pose.over:
            _finger(ink, joints[i], WIDTHS[i], skin, not pose.palm, lacquer)
            if not pose.palm:  # no edge where the finger leaves the hand
                ink.line([tuple(joints[i][0])] * 2, skin, WIDTHS[i] + 6)
        return
    ink.shape(box(-32, -24, 64, 130, 22), skin, edge=2.2)
    palm = curve("M -34 -6 C -52 -30 -52 -60 -46 -86 C -40 -104 34 -104 46 -82 "
                 "C 54 -56 48 -24 34 -6 C 20 6 -20 6 -34 -6 Z")
    ink.line(palm, tint(skin, -0.38), 4.5)
    for i in (4, 3, 2, 1, 0):
        if i not in pose.over or not pose.palm:
            _finger(ink, joints[i], WIDTHS[i], skin, not pose.palm, lacquer)
    ink.canvas.drawPath(palm, skia.Paint(AntiAlias=True, Color=argb(skin)))
    ink.line([(0, -20), (0, 20)], skin, 58)
    if pose.palm:
        ink.line(curve("M -26 -84 C -14 -66 -14 -40 -22 -14"), tint(skin, -0.22), 2.5)
        ink.line(curve("M -38 -62 C -18 -76 8 -74 36 -62"), tint(skin, -0.22), 2.5)
    else:
        for (x, y) in _BASES:
            ink.line([(x - 5, y + 12), (x + 5, y + 12)], tint(skin, -0.2), 2.2)
    if "watch" in person.extras:
        ink.shape(box(-36, 22, 72, 22, 6), "black")
        ink.shape(box(-18, 14, 36, 38, 10), "steel")
        ink.shape(box(-12, 20, 24, 26, 7), "white", edge=1)
    sleeve = person.sleeve
    ink.shape(curve("M -46 76 L 46 76 L 66 980 L -66 980 Z"), sleeve)
    if person.stripe is not None:
        for y in range(112, 960, 44):
            wide = 46 + (y - 76) * 0.022
            ink.line([(-wide + 6, y), (wide - 6, y)], rgb(person.stripe), 12)
    ink.shape(box(-53, 58, 106, 34, 10), tint(sleeve, 0.12))


def show(canvas, person, name, where, turn=0.0):
    """One hand in one pose, for trying out."""
    pose = grip(int(name[4:])) if name.startswith("grip") else POSES[name]
    ink = Ink(canvas)
    for front in (False, True):
        canvas.save()
        canvas.concat(matrix(person, where, pose.anchor, turn))
        draw_hand(ink, np.array(pose.joints, float), person, pose, front=front)
        canvas.restore()
