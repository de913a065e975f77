"""What stands around drawn people: rooms, tables, doors, a whiteboard that is written on, things.

Counterparts: `people` shows and moves it, `people_figure` draws the people.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import cairo
import numpy as np
from people_look import BLACK, WHITE, mixed, rgb
from PIL import Image, ImageDraw, ImageFont

from simulator.media.lettering import packaged

WIDTH, HEIGHT = 1280, 720


# ------------------------------------------------------------ text


@cache
def _font(hand: bool, size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(str(packaged("handwritten" if hand else "typed")), size)
    if hand:
        font.set_variation_by_axes([700])  # a marker, not a pen
    return font


@cache
def text_surface(text: str, size: int, colour: str, hand: bool = True) -> cairo.ImageSurface:
    """A line of text, drawn once."""
    font = _font(hand, size)
    left, _, right, _ = font.getbbox(text)
    image = Image.new("L", (right - left + 8, size + size // 2), 0)
    ImageDraw.Draw(image).text((4 - left, 0), text, fill=255, font=font)
    alpha = np.asarray(image, np.float32) / 255
    red, green, blue = rgb(colour)
    data = np.stack([alpha * blue, alpha * green, alpha * red, alpha], axis=-1)
    pixels = np.ascontiguousarray((data * 255).round().astype(np.uint8))
    return cairo.ImageSurface.create_for_data(
        pixels, cairo.FORMAT_ARGB32, image.width, image.height)


def write(ctx: cairo.Context, x: float, y: float, text: str, size: int, colour: str = "#22304a",
          *, hand: bool = True, share: float = 1.0, middle: bool = False) -> None:
    """Text with its top left (or, in the `middle`, its top centre) at a point; `share` of it as a
    pen has come."""
    surface = text_surface(text, size, colour, hand)
    if middle:
        x -= surface.get_width() / 2
    ctx.save()
    ctx.rectangle(x, y - 2, surface.get_width() * share, surface.get_height() + 4)
    ctx.clip()
    ctx.set_source_surface(surface, x, y)
    ctx.paint()
    ctx.restore()


# ------------------------------------------------------------ rooms


def _box(ctx: cairo.Context, x: float, y: float, w: float, h: float, colour: str,
         round_: float = 0) -> None:
    ctx.set_source_rgb(*rgb(colour))
    if not round_:
        ctx.rectangle(x, y, w, h)
    else:
        ctx.new_path()
        for side, low, start in ((1, 0, -90), (1, 1, 0), (0, 1, 90), (0, 0, 180)):
            cx = x + w - round_ if side else x + round_
            cy = y + h - round_ if low else y + round_
            ctx.arc(cx, cy, round_, math.radians(start), math.radians(start + 90))
        ctx.close_path()
    ctx.fill()


def _window(ctx: cairo.Context, x: float, y: float, w: float, h: float) -> None:
    _box(ctx, x - 10, y - 10, w + 20, h + 20, "#ffffff", 6)
    _box(ctx, x, y, w, h, "#bfe0f5")
    ctx.save()
    ctx.rectangle(x, y, w, h)
    ctx.clip()
    ctx.set_source_rgb(*rgb("#9ccf9a"))
    ctx.arc(x + w * 0.25, y + h * 1.35, w * 0.7, 0, 7)
    ctx.fill()
    ctx.set_source_rgb(*rgb("#86c08a"))
    ctx.arc(x + w * 0.9, y + h * 1.4, w * 0.65, 0, 7)
    ctx.fill()
    ctx.restore()
    _box(ctx, x + w / 2 - 4, y, 8, h, "#ffffff")
    _box(ctx, x - 18, y + h + 8, w + 36, 14, "#f2efe8", 4)


def _plant(ctx: cairo.Context, x: float, y: float) -> None:
    for turn in (-0.9, -0.45, 0, 0.45, 0.9):
        ctx.save()
        ctx.translate(x, y)
        ctx.rotate(turn)
        ctx.set_source_rgb(*rgb("#4f9a5f" if turn else "#3f8a52"))
        ctx.move_to(0, 0)
        ctx.curve_to(-22, -50, -16, -90, 0, -112)
        ctx.curve_to(16, -90, 22, -50, 0, 0)
        ctx.fill()
        ctx.restore()
    _box(ctx, x - 30, y - 8, 60, 62, "#c9744f", 6)


def door(ctx: cairo.Context, x: float, ajar: float) -> None:
    """A door, `ajar` from 0 (shut) to 1 (open); its frame is 150 wide and begins at x."""
    top, high, wide = 150, 470, 150
    _box(ctx, x - 12, top - 12, wide + 24, high + 12, "#e9e3d6")
    _box(ctx, x, top, wide, high, "#6d7885")
    _box(ctx, x + 8, top + 8, wide - 16, high - 8, "#8793a0")
    leaf = wide * (1 - 0.86 * ajar)
    ctx.set_source_rgb(*rgb("#a9805a"))
    slant = 26 * ajar
    ctx.move_to(x + wide, top)
    ctx.line_to(x + wide - leaf, top + slant)
    ctx.line_to(x + wide - leaf, top + high)
    ctx.line_to(x + wide, top + high)
    ctx.close_path()
    ctx.fill()
    if ajar < 0.5:
        ctx.set_source_rgb(*rgb("#e4c46a"))
        ctx.arc(x + wide - leaf + 20, top + high * 0.55, 9, 0, 7)
        ctx.fill()


def clock(ctx: cairo.Context, x: float, y: float, hour: int, minute: int, radius: float = 62
          ) -> None:
    """A clock on the wall."""
    ctx.set_source_rgb(*rgb("#33404f"))
    ctx.arc(x, y, radius + 7, 0, 7)
    ctx.fill()
    ctx.set_source_rgb(1, 1, 1)
    ctx.arc(x, y, radius, 0, 7)
    ctx.fill()
    for k in range(1, 13):
        at = math.radians(30 * k - 90)
        write(ctx, x + 0.80 * radius * math.cos(at), y + 0.80 * radius * math.sin(at) - 12, str(k),
              17, "#33404f", hand=False, middle=True)
    ctx.set_line_cap(cairo.LINE_CAP_ROUND)
    for turn, length, width in ((30 * hour + minute / 2, 0.45, 7), (6 * minute, 0.66, 4.5)):
        at = math.radians(turn - 90)
        ctx.set_source_rgb(*rgb("#20252c"))
        ctx.set_line_width(width)
        ctx.move_to(x, y)
        ctx.line_to(x + length * radius * math.cos(at), y + length * radius * math.sin(at))
        ctx.stroke()


def _picture(ctx: cairo.Context, x: float, y: float, w: float, h: float, colours: str) -> None:
    one, two, three = colours.split()
    _box(ctx, x - 8, y - 8, w + 16, h + 16, "#7a5a3c")
    _box(ctx, x, y, w, h, one)
    ctx.save()
    ctx.rectangle(x, y, w, h)
    ctx.clip()
    ctx.set_source_rgb(*rgb(two))
    ctx.arc(x + w * 0.7, y + h * 0.3, h * 0.16, 0, 7)
    ctx.fill()
    ctx.set_source_rgb(*rgb(three))
    ctx.arc(x + w * 0.4, y + h * 1.3, h * 0.8, 0, 7)
    ctx.fill()
    ctx.restore()


def office(ctx: cairo.Context) -> None:
    _box(ctx, 0, 0, WIDTH, HEIGHT, "#dfe5e8")
    _box(ctx, 0, 600, WIDTH, 120, "#b9b1a4")
    _window(ctx, 50, 70, 190, 210)
    _plant(ctx, 62, 560)
    _picture(ctx, 560, 80, 190, 130, "#cfe3ea #f6d263 #5d8fb0")


def living_room(ctx: cairo.Context) -> None:
    _box(ctx, 0, 0, WIDTH, HEIGHT, "#f0dfc4")
    for x in range(0, WIDTH, 80):
        _box(ctx, x, 0, 3, 600, "#ecd8b9")
    _box(ctx, 0, 600, WIDTH, 120, "#a97c50")
    _picture(ctx, 110, 90, 170, 120, "#8fc7d9 #f6d263 #5c8f63")
    _picture(ctx, 470, 60, 120, 130, "#e7a58b #fff3d6 #a2546a")
    _window(ctx, 760, 70, 190, 190)


def kitchen(ctx: cairo.Context) -> None:
    _box(ctx, 0, 0, WIDTH, HEIGHT, "#e3ece0")
    for y in range(0, 600, 60):
        _box(ctx, 0, y, WIDTH, 2, "#d6e0d2")
        for x in range(-60 + (y // 60 % 2) * 60, WIDTH, 120):
            _box(ctx, x, y, 2, 60, "#d6e0d2")
    _box(ctx, 60, 150, 320, 16, "#a9805a")
    for k, colour in enumerate(("#d6584f", "#f1c453", "#5a86c4", "#ffffff")):
        _box(ctx, 85 + k * 72, 98, 46, 52, colour, 8)
    _window(ctx, 980, 70, 210, 190)


ROOMS: dict[str, Callable[[cairo.Context], None]] = {
    "office": office, "living": living_room, "kitchen": kitchen,
}


def table(ctx: cairo.Context, y: float, colour: str = "#b98a5a") -> None:
    """A table before everybody, its far edge at y."""
    top = rgb(colour)
    ctx.set_source_rgb(*top)
    ctx.rectangle(0, y, WIDTH, 86)
    ctx.fill()
    ctx.set_source_rgb(*mixed(top, WHITE, 0.22))
    ctx.rectangle(0, y, WIDTH, 7)
    ctx.fill()
    ctx.set_source_rgb(*mixed(top, BLACK, 0.28))
    ctx.rectangle(0, y + 86, WIDTH, HEIGHT)
    ctx.fill()


# ------------------------------------------------------------ the whiteboard


@dataclass(kw_only=True)
class Note:
    """A line on the board, and when it comes, is crossed out and goes."""

    x: float
    y: float
    text: str
    start: float
    takes: float
    size: int = 40
    colour: str = "#22304a"
    crossed: float | None = None
    gone: float | None = None
    hand: bool = True
    """Written by hand; else typed."""

    @property
    def end(self) -> float:
        return self.start + self.takes


def board(ctx: cairo.Context, x: float, y: float, w: float, h: float) -> None:
    _box(ctx, x - 10, y - 10, w + 20, h + 20, "#8d98a3", 8)
    _box(ctx, x, y, w, h, "#fdfdfb", 4)
    _box(ctx, x + w / 2 - 70, y + h + 8, 140, 10, "#6f7a85", 4)


def note(ctx: cairo.Context, what: Note, t: float) -> None:
    if t < what.start or (what.gone is not None and t >= what.gone):
        return
    share = 1.0 if what.takes <= 0 else min(1.0, (t - what.start) / what.takes)
    write(ctx, what.x, what.y, what.text, what.size, what.colour, hand=what.hand, share=share)
    if what.crossed is not None and t >= what.crossed:
        wide = text_surface(what.text, what.size, what.colour, what.hand).get_width()
        ctx.set_source_rgb(*rgb("#c8322b"))
        ctx.set_line_width(4)
        ctx.move_to(what.x, what.y + what.size * 0.72)
        ctx.line_to(what.x + wide * min(1.0, (t - what.crossed) / 0.4), what.y + what.size * 0.66)
        ctx.stroke()


# ------------------------------------------------------------ things


def gift(ctx: cairo.Context, colour: str, ribbon: str, opened: bool = False) -> None:
    _box(ctx, -58, -80, 116, 80, colour, 4)
    _box(ctx, -9, -80, 18, 80, ribbon)
    if opened:
        _box(ctx, -50, -84, 100, 10, "#4a3a30")
        return
    _box(ctx, -66, -98, 132, 24, colour, 4)
    _box(ctx, -9, -98, 18, 24, ribbon)
    ctx.set_source_rgb(*rgb(ribbon))
    for s in (-1, 1):
        ctx.save()
        ctx.translate(s * 18, -110)
        ctx.rotate(s * 0.5)
        ctx.scale(20, 11)
        ctx.arc(0, 0, 1, 0, 7)
        ctx.restore()
        ctx.fill()


def cup(ctx: cairo.Context, colour: str) -> None:
    ctx.set_source_rgb(*rgb(colour))
    ctx.set_line_width(7)
    ctx.arc(24, -24, 13, -1.4, 1.4)
    ctx.stroke()
    _box(ctx, -24, -48, 48, 48, colour, 7)
    _box(ctx, -24, -48, 48, 8, "#5a3a26", 4)


def socks(ctx: cairo.Context) -> None:
    """A pair of thick, pale socks."""
    for dx in (-30, 14):
        _box(ctx, dx, -92, 30, 74, "#d9d3b4", 6)
        _box(ctx, dx, -34, 52, 30, "#d9d3b4", 12)
        _box(ctx, dx, -92, 30, 16, "#a5a06a", 5)


def camera(ctx: cairo.Context) -> None:
    """A photographer's camera."""
    _box(ctx, -22, -86, 44, 20, "#3b4048", 5)
    _box(ctx, -58, -72, 116, 70, "#2c3036", 10)
    _box(ctx, -58, -52, 116, 14, "#c7402f")
    for radius, colour in ((30, "#9aa3ad"), (24, "#15181c"), (14, "#3d6fa8")):
        ctx.set_source_rgb(*rgb(colour))
        ctx.arc(0, -38, radius, 0, 7)
        ctx.fill()
    ctx.set_source_rgb(1, 1, 1)
    ctx.arc(-5, -44, 4, 0, 7)
    ctx.fill()


def trophy(ctx: cairo.Context) -> None:
    ctx.set_source_rgb(*rgb("#e6b93a"))
    ctx.set_line_width(8)
    for s in (-1, 1):
        ctx.arc(s * 34, -84, 15, 0, 7)
        ctx.stroke()
    ctx.move_to(-38, -112)
    ctx.line_to(38, -112)
    ctx.curve_to(36, -66, 20, -50, 0, -46)
    ctx.curve_to(-20, -50, -36, -66, -38, -112)
    ctx.fill()
    _box(ctx, -7, -50, 14, 28, "#c99d28")
    _box(ctx, -30, -24, 60, 24, "#5b4030", 4)


def salt(ctx: cairo.Context) -> None:
    _box(ctx, -15, -46, 30, 46, "#f7f7f5", 7)
    _box(ctx, -15, -58, 30, 16, "#9aa3ad", 6)
    write(ctx, 0, -42, "S", 26, "#55606b", hand=False, middle=True)


def laptop(ctx: cairo.Context) -> None:
    _box(ctx, -60, -78, 120, 76, "#9aa3ad", 8)
    _box(ctx, -70, -6, 140, 10, "#7f8994", 4)
    ctx.set_source_rgb(*rgb("#d3d9de"))
    ctx.arc(0, -42, 10, 0, 7)
    ctx.fill()


def cake(ctx: cairo.Context, lit: bool = False) -> None:
    _box(ctx, -90, -6, 180, 10, "#eef1f3", 5)
    _box(ctx, -72, -66, 144, 62, "#f4d7b0", 8)
    _box(ctx, -72, -72, 144, 22, "#e57f9b", 10)
    for dx in (-44, 0, 44):
        _box(ctx, dx - 4, -104, 8, 34, "#6fa8dc")
        if lit:
            ctx.set_source_rgb(*rgb("#f7b733"))
            ctx.save()
            ctx.translate(dx, -112)
            ctx.scale(6, 11)
            ctx.arc(0, 0, 1, 0, 7)
            ctx.restore()
            ctx.fill()


THINGS: dict[str, Callable[[cairo.Context], None]] = {
    "red gift": lambda c: gift(c, "#c93a3a", "#f4d35e"),
    "red gift, open": lambda c: gift(c, "#c93a3a", "#f4d35e", True),
    "blue gift": lambda c: gift(c, "#3a6fc9", "#f3f3f3"),
    "blue gift, open": lambda c: gift(c, "#3a6fc9", "#f3f3f3", True),
    "white cup": lambda c: cup(c, "#ffffff"),
    "red cup": lambda c: cup(c, "#d6584f"),
    "blue cup": lambda c: cup(c, "#4a78c0"),
    "yellow cup": lambda c: cup(c, "#f1c453"),
    "socks": socks,
    "camera": camera,
    "trophy": trophy,
    "salt": salt,
    "laptop": laptop,
    "cake": cake,
    "cake, lit": lambda c: cake(c, True),
}
