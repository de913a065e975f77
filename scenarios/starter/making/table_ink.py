"""Drawing with light: every thing in a rendered scene is a few shapes put down with this ink.

A shape is filled with a gradient (light comes from the upper left) and edged in its own colour,
darkened. Coordinates are pixels of a 1280x720 picture, y downwards. Counterparts: `table_things`
and `table_hands`, which draw with it. Needs the package skia-python.
"""

import math
import re

import skia

COLOURS = {
    "red": (214, 48, 49), "orange": (240, 140, 40), "yellow": (246, 205, 60),
    "green": (66, 160, 82), "blue": (52, 112, 205), "purple": (138, 84, 178),
    "pink": (240, 140, 175), "brown": (133, 88, 54), "white": (246, 244, 238),
    "cream": (240, 226, 196), "black": (48, 48, 54), "grey": (150, 154, 160),
    "steel": (184, 192, 200), "dark": (82, 86, 94), "wood": (200, 150, 98),
    "leaf": (88, 150, 62), "navy": (40, 58, 104), "teal": (40, 150, 150),
    "gold": (222, 178, 74), "card": (205, 165, 115), "sky": (150, 196, 232),
}


def rgb(colour):
    """A colour as three numbers, from its name or from three numbers."""
    return COLOURS[colour] if isinstance(colour, str) else tuple(colour)


def tint(colour, by):
    """Lighter (`by` above 0, up to 1) or darker (below 0)."""
    goal = 255 if by > 0 else 0
    return tuple(round(c + (goal - c) * abs(by)) for c in rgb(colour))


def argb(colour, alpha=1.0):
    return skia.Color(*rgb(colour), round(255 * alpha))


def oval(x, y, rx, ry=None):
    ry = rx if ry is None else ry
    path = skia.Path()
    path.addOval(skia.Rect.MakeLTRB(x - rx, y - ry, x + rx, y + ry))
    return path


def box(x, y, width, height, r=0):
    """A rectangle by its upper left corner, with rounded corners."""
    path = skia.Path()
    path.addRoundRect(skia.Rect.MakeXYWH(x, y, width, height), r, r)
    return path


def poly(*points):
    path = skia.Path()
    path.addPoly([skia.Point(*p) for p in points], True)
    return path


def curve(text):
    """A path from absolute `M L Q C Z` commands, as SVG writes them."""
    path = skia.Path()
    verbs = {"M": (path.moveTo, 2), "L": (path.lineTo, 2), "Q": (path.quadTo, 4),
             "C": (path.cubicTo, 6)}
    for verb, rest in re.findall(r"([MLQCZ])([^MLQCZ]*)", text):
        if verb == "Z":
            path.close()
            continue
        put, size = verbs[verb]
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", rest)]
        for i in range(0, len(numbers), size):
            put(*numbers[i:i + size])
    return path


class Ink:
    """Puts shapes on a canvas."""

    def __init__(self, canvas):
        self.canvas = canvas

    def shape(self, path, colour, *, edge=2.5, alpha=1.0, flat=False, r=0):
        """Fill and edge a path; `r` rounds its corners."""
        paint = skia.Paint(AntiAlias=True, Color=argb(colour, alpha))
        if r:
            paint.setPathEffect(skia.CornerPathEffect.Make(r))
        if not flat:
            b = path.getBounds()
            paint.setShader(skia.GradientShader.MakeLinear(
                [skia.Point(b.left(), b.top()),
                 skia.Point(b.left() + b.width() * 0.45, b.bottom() + 1)],
                [argb(tint(colour, 0.2), alpha), argb(colour, alpha),
                 argb(tint(colour, -0.16), alpha)]))
        self.canvas.drawPath(path, paint)
        if edge:
            rim = skia.Paint(
                AntiAlias=True, Color=argb(tint(colour, -0.42), alpha), StrokeWidth=edge,
                Style=skia.Paint.kStroke_Style, StrokeJoin=skia.Paint.kRound_Join)
            if r:
                rim.setPathEffect(skia.CornerPathEffect.Make(r))
            self.canvas.drawPath(path, rim)

    def line(self, points, colour, width, *, alpha=1.0):
        """A line through points with round ends, or along a path."""
        path = points
        if not isinstance(points, skia.Path):
            path = skia.Path()
            path.addPoly([skia.Point(*p) for p in points], False)
        self.canvas.drawPath(path, skia.Paint(
            AntiAlias=True, Color=argb(colour, alpha), Style=skia.Paint.kStroke_Style,
            StrokeWidth=width, StrokeCap=skia.Paint.kRound_Cap, StrokeJoin=skia.Paint.kRound_Join))

    def rod(self, points, colour, width, edge=2.5):
        """A thick line with an edge: a handle, a leg, a cable."""
        self.line(points, tint(colour, -0.42), width + 2 * edge)
        self.line(points, colour, width)
        shifted = [(x - width * 0.18, y - width * 0.18) for x, y in points]
        self.line(shifted, tint(colour, 0.28), width * 0.28, alpha=0.7)

    def shine(self, path, alpha=0.5):
        """A soft highlight."""
        self.canvas.drawPath(path, skia.Paint(
            AntiAlias=True, Color=argb((255, 255, 255), alpha),
            MaskFilter=skia.MaskFilter.MakeBlur(skia.kNormal_BlurStyle, 2)))

    def glow(self, path, colour, alpha, sigma):
        """A blurred shape: a shadow, steam, the heat of a hob."""
        self.canvas.drawPath(path, skia.Paint(
            AntiAlias=True, Color=argb(colour, alpha),
            MaskFilter=skia.MaskFilter.MakeBlur(skia.kNormal_BlurStyle, sigma)))


def around(x, y, radius, degrees):
    """A point on a circle; 0 is to the right, 90 is up."""
    a = math.radians(degrees)
    return x + radius * math.cos(a), y - radius * math.sin(a)
