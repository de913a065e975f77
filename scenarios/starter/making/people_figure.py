"""Drawn people: the body, the arms, and what was drawn last.

Flat shapes with cairo. Lengths are in head radii, with the origin at the base of the neck and y
downwards. Counterparts: `people` says who does what when, `people_head` draws the head,
`people_room` what stands around.
"""

import math
from collections.abc import Callable

import cairo
from people_head import Head
from people_look import BLACK, WHITE, Look, Pose, mixed, rgb

_REACH = (3.4, 3.7, 4.8)
"""How far a figure goes from the base of its neck: to a side, up, down."""


class Figure:
    """Draws one person. `draw` leaves the arms for `draw_arms`, which come before a table.

    What was drawn last is kept, as most people keep still most of the time.
    """

    def __init__(self, look: Look, size: float) -> None:
        self.look = look
        self.size = size
        self._head = Head(look)
        self._kept: dict[str, tuple[Pose, cairo.ImageSurface]] = {}

    # ------------------------------------------------------------ the whole

    def draw(self, ctx: cairo.Context, pose: Pose) -> None:
        self._show(ctx, pose, "body", self._body)

    def draw_arms(self, ctx: cairo.Context, pose: Pose) -> None:
        if any(pose.arms.values()):
            self._show(ctx, pose, "arms", self._both_arms)

    def _show(self, ctx: cairo.Context, pose: Pose, part: str,
              paint: Callable[[cairo.Context, Pose], None]) -> None:
        side, up, down = (math.ceil(r * self.size) for r in _REACH)
        left, top = math.floor(pose.x) - side, math.floor(pose.y) - up
        known = self._kept.get(part)
        if known is None or known[0] != pose:
            surface = cairo.ImageSurface(cairo.FORMAT_ARGB32, 2 * side, up + down)
            inner = cairo.Context(surface)
            inner.translate(pose.x - left, pose.y - top)
            inner.scale(self.size, self.size)
            inner.set_line_cap(cairo.LINE_CAP_ROUND)
            inner.set_line_join(cairo.LINE_JOIN_ROUND)
            paint(inner, pose)
            self._kept[part] = known = (pose, surface)
        ctx.set_source_surface(known[1], left, top)
        ctx.paint()

    def _body(self, ctx: cairo.Context, pose: Pose) -> None:
        dress = pose.coat or self.look
        self._head.draw_behind(ctx, pose)
        for side, hand in (("left", -1), ("right", 1)):
            if pose.arms.get(side) is None:
                self._hanging(ctx, hand, dress)
        self._torso(ctx, dress)
        self._head.draw(ctx, pose)

    def _both_arms(self, ctx: cairo.Context, pose: Pose) -> None:
        for side, hand in (("left", -1), ("right", 1)):
            goal = pose.arms.get(side)
            if goal is not None:
                self._arm(ctx, hand, goal, pose.coat or self.look)

    # ------------------------------------------------------------ body

    def _torso(self, ctx: cairo.Context, dress: Look) -> None:
        skin, top = rgb(self.look.skin), rgb(dress.top)
        # the neck
        ctx.set_source_rgb(*mixed(skin, rgb("#a05a3c"), 0.22))
        ctx.rectangle(-0.34, -0.75, 0.68, 1.0)
        ctx.fill()
        ctx.new_path()
        ctx.move_to(-0.42, -0.02)
        ctx.curve_to(-0.8, 0.12, -1.35, 0.12, -1.52, 0.62)
        ctx.curve_to(-1.62, 1.3, -1.55, 2.2, -1.42, 4.6)
        ctx.line_to(1.42, 4.6)
        ctx.curve_to(1.55, 2.2, 1.62, 1.3, 1.52, 0.62)
        ctx.curve_to(1.35, 0.12, 0.8, 0.12, 0.42, -0.02)
        if dress.cut == "round":
            ctx.curve_to(0.3, 0.38, -0.3, 0.38, -0.42, -0.02)
        else:
            ctx.curve_to(0.2, 0.1, -0.2, 0.1, -0.42, -0.02)
        ctx.close_path()
        ctx.set_source_rgb(*top)
        ctx.fill()
        dark = mixed(top, BLACK, 0.18)
        if dress.cut == "round":
            ctx.set_source_rgb(*dark)
            ctx.set_line_width(0.10)
            ctx.move_to(-0.42, 0.0)
            ctx.curve_to(-0.3, 0.40, 0.3, 0.40, 0.42, 0.0)
            ctx.stroke()
        elif dress.cut == "shirt":
            ctx.set_source_rgb(*mixed(top, WHITE, 0.35))
            for s in (-1, 1):
                ctx.move_to(s * 0.46, -0.14)
                ctx.line_to(0, 0.34)
                ctx.line_to(s * 0.55, 0.48)
                ctx.line_to(s * 0.62, 0.04)
                ctx.close_path()
                ctx.fill()
            ctx.set_source_rgb(*dark)
            ctx.set_line_width(0.04)
            ctx.move_to(0, 0.34)
            ctx.line_to(0, 4.5)
            ctx.stroke()
            for y in (0.8, 1.4, 2.0):
                ctx.arc(0.09, y, 0.05, 0, 7)
                ctx.fill()
        elif dress.cut == "hood":
            ctx.set_source_rgb(*dark)
            ctx.move_to(-0.66, 0.02)
            ctx.curve_to(-0.5, 0.6, 0.5, 0.6, 0.66, 0.02)
            ctx.curve_to(0.4, 0.3, -0.4, 0.3, -0.66, 0.02)
            ctx.fill()
            ctx.set_source_rgb(0.95, 0.95, 0.95)
            ctx.set_line_width(0.05)
            for s in (-1, 1):
                ctx.move_to(s * 0.24, 0.42)
                ctx.line_to(s * 0.22, 0.95)
                ctx.stroke()
        elif dress.cut == "blazer":
            ctx.set_source_rgb(0.97, 0.96, 0.93)
            ctx.move_to(-0.42, -0.02)
            ctx.line_to(0, 1.5)
            ctx.line_to(0.42, -0.02)
            ctx.curve_to(0.2, 0.25, -0.2, 0.25, -0.42, -0.02)
            ctx.fill()
            ctx.set_source_rgb(*dark)
            for s in (-1, 1):
                ctx.move_to(s * 0.42, -0.04)
                ctx.line_to(s * 0.74, 0.42)
                ctx.line_to(s * 0.58, 0.56)
                ctx.line_to(s * 0.68, 0.72)
                ctx.line_to(0, 1.62)
                ctx.close_path()
                ctx.fill()

    def _arm(self, ctx: cairo.Context, hand: int, goal: tuple[float, float], dress: Look) -> None:
        sx, sy = hand * 1.22, 0.62
        gx, gy = goal
        upper, lower = 1.45, 1.35
        dx, dy = gx - sx, gy - sy
        far = min(math.hypot(dx, dy), upper + lower - 0.02)
        along = math.atan2(dy, dx)
        cos = (upper**2 + far**2 - lower**2) / (2 * upper * max(far, 0.2))
        bend = math.acos(max(-1.0, min(1.0, cos)))
        # The elbow points outwards and down.
        options = [(sx + upper * math.cos(along + b), sy + upper * math.sin(along + b))
                   for b in (bend, -bend)]
        ex, ey = max(options, key=lambda p: hand * p[0] + 0.6 * p[1])
        hx, hy = sx + far * math.cos(along), sy + far * math.sin(along)
        top = rgb(dress.top)
        skin = rgb(self.look.skin)
        wx, wy = ex + (hx - ex) * 0.86, ey + (hy - ey) * 0.86
        for width, colour in ((0.74, mixed(top, BLACK, 0.16)), (0.64, mixed(top, BLACK, 0.04))):
            ctx.set_source_rgb(*colour)
            ctx.set_line_width(width)
            ctx.set_line_cap(cairo.LINE_CAP_ROUND)
            ctx.set_line_join(cairo.LINE_JOIN_ROUND)
            ctx.move_to(sx, sy)
            ctx.line_to(ex, ey)
            ctx.line_to(wx, wy)
            ctx.stroke()
        ctx.set_source_rgb(*skin)
        turn = math.atan2(hy - ey, hx - ex)
        ctx.save()
        ctx.translate(hx, hy)
        ctx.rotate(turn)
        ctx.save()
        ctx.scale(0.36, 0.28)
        ctx.arc(0, 0, 1, 0, 7)
        ctx.restore()
        ctx.fill()
        ctx.set_line_width(0.13)
        raised = hy < 0.3
        if raised:
            for k in (-0.5, -0.17, 0.17, 0.5):
                ctx.move_to(0.15, k * 0.42)
                ctx.line_to(0.15 + 0.42 * math.cos(k * 0.7), k * 0.42 + 0.42 * math.sin(k * 0.7))
                ctx.stroke()
        ctx.move_to(0.0, -hand * 0.15)
        ctx.line_to(0.24, -hand * 0.36)
        ctx.stroke()
        ctx.restore()

    def _hanging(self, ctx: cairo.Context, hand: int, dress: Look) -> None:
        top = rgb(dress.top)
        for width, colour in ((0.74, mixed(top, BLACK, 0.16)), (0.64, mixed(top, BLACK, 0.04))):
            ctx.set_source_rgb(*colour)
            ctx.set_line_width(width)
            ctx.move_to(hand * 1.26, 0.66)
            ctx.line_to(hand * 1.62, 2.0)
            ctx.line_to(hand * 1.52, 3.15)
            ctx.stroke()
        ctx.set_source_rgb(*rgb(self.look.skin))
        ctx.arc(hand * 1.5, 3.5, 0.3, 0, 7)
        ctx.fill()
