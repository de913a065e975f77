"""Drawn heads: hair, faces and what they feel.

A head turns as a ball does: every feature has its place on the ball, so that eyes, nose, ears and
hair move as they should when somebody looks aside. Lengths are in head radii, y downwards.
Counterpart: `people_figure` draws the rest of a person.
"""

import math

import cairo
from people_look import BLACK, INK, Colour, Look, Pose, mixed, rgb

# What makes an expression: corners of the mouth (up 1), how far the brows go up (outer and inner
# end), how far the lower lids come up (a real smile does that, a forced one does not), how far the
# upper lids hang, teeth.
FACES: dict[str, dict[str, float]] = {
    "smile": {"corners": 0.75, "outer": 0.03, "inner": 0.03, "lower": 0.30, "cheeks": 0.6},
    "joy": {"corners": 1.15, "outer": 0.10, "inner": 0.10, "lower": 0.55, "teeth": 1.0,
            "cheeks": 1.0},
    "forced": {"corners": 0.55, "outer": -0.06, "inner": 0.12, "lower": 0.0, "teeth": 1.0,
               "stretch": 0.4, "upper": 0.08},
    "frown": {"corners": -0.55, "outer": 0.04, "inner": -0.16, "lower": 0.10, "upper": 0.12},
    "angry": {"corners": -0.75, "outer": 0.10, "inner": -0.26, "lower": 0.25, "upper": 0.20,
              "red": 0.6},
    "sad": {"corners": -0.65, "outer": -0.10, "inner": 0.16, "upper": 0.25},
    "bored": {"corners": -0.25, "outer": 0.02, "inner": 0.02, "upper": 0.5},
    "scorn": {"corners": -0.30, "outer": 0.20, "inner": 0.12, "upper": 0.10},
    "surprise": {"corners": 0.0, "outer": 0.22, "inner": 0.22, "upper": -0.25},
    "worried": {"corners": -0.35, "outer": -0.08, "inner": 0.18, "upper": -0.05},
}

_RX, _RY = 0.82, 1.0
_TURN = math.radians(52)
"""How far a head turns at a yaw of 1."""


def _on(angle: float, yaw: float) -> tuple[float, float]:
    """(x, width factor) of a feature at an angle to the face's middle, in degrees."""
    at = math.radians(angle) + yaw * _TURN
    return _RX * math.sin(at), max(0.0, math.cos(at))


class Head:
    """Draws one person's head, from the base of the neck."""

    def __init__(self, look: Look) -> None:
        self.look = look

    def draw(self, ctx: cairo.Context, pose: Pose) -> None:
        feel = _feel(pose.face)
        skin = rgb(self.look.skin)
        if feel["red"]:
            skin = mixed(skin, rgb("#d9534a"), 0.35 * feel["red"])
        ctx.save()
        ctx.translate(0, -0.55)
        ctx.rotate(pose.roll)
        ctx.translate(pose.yaw * 0.08, -0.85 + 0.05 * pose.pitch)
        bald = self.look.style == "bald"
        self._ears(ctx, pose, skin, behind=True)
        # the skull, as hair, and on it the face
        _ball(ctx)
        ctx.set_source_rgb(*(skin if bald else rgb(self.look.hair)))
        ctx.fill()
        ctx.save()
        _ball(ctx)
        ctx.clip()
        lean = pose.yaw * 0.30
        ctx.set_source_rgb(*skin)
        ctx.save()
        ctx.translate(lean, 0.16 + 0.06 * pose.pitch)
        ctx.scale(0.76, 0.92)
        ctx.arc(0, 0, 1, 0, 7)
        ctx.restore()
        ctx.fill()
        # the jaw
        ctx.rectangle(-0.9 + max(0.0, lean) * 1.5, 0.28, 1.8 - abs(lean) * 1.5, 1)
        ctx.fill()
        if self.look.beard:
            self._beard(ctx, pose)
        ctx.restore()
        self._ears(ctx, pose, skin, behind=False)
        self._cheeks(ctx, pose, feel)
        for side in (-1, 1):
            self._eye(ctx, pose, feel, side, skin)
        self._nose(ctx, pose, skin)
        self._mouth(ctx, pose, feel)
        if self.look.glasses:
            self._glasses(ctx, pose)
        self._hair_before(ctx, pose)
        for side in (-1, 1):
            self._brow(ctx, pose, feel, side)
        if pose.tears is not None:
            self._tears(ctx, pose, pose.tears)
        ctx.restore()

    def _ears(self, ctx: cairo.Context, pose: Pose, skin: Colour, *, behind: bool) -> None:
        for side in (-1, 1):
            at = math.radians(92 * side) + pose.yaw * _TURN
            turned = math.cos(at)
            if (turned > 0.12) == behind or turned < -0.75:
                continue
            x = 0.84 * math.sin(at)
            ctx.save()
            ctx.translate(x, 0.12)
            ctx.scale(0.15, 0.22)
            ctx.arc(0, 0, 1, 0, 7)
            ctx.restore()
            ctx.set_source_rgb(*mixed(skin, rgb("#b0603f"), 0.12))
            ctx.fill()

    def _cheeks(self, ctx: cairo.Context, pose: Pose, feel: dict[str, float]) -> None:
        warm = 0.10 + 0.22 * feel["cheeks"]
        for side in (-1, 1):
            x, wide = _on(38 * side, pose.yaw)
            if wide < 0.25:
                continue
            ctx.save()
            ctx.translate(x, 0.36)
            ctx.scale(0.19 * wide, 0.12)
            ctx.arc(0, 0, 1, 0, 7)
            ctx.restore()
            ctx.set_source_rgba(0.87, 0.36, 0.32, warm)
            ctx.fill()

    def _eye(self, ctx: cairo.Context, pose: Pose, feel: dict[str, float], side: int,
             skin: Colour) -> None:
        x, wide = _on(25 * side, pose.yaw)
        y = 0.04 + 0.07 * pose.pitch
        rx, ry = 0.185 * (0.35 + 0.65 * wide), 0.165 * (1 + max(0.0, -feel["upper"]) * 0.7)
        if wide < 0.12:
            return
        shut = pose.lids
        if shut > 0.85:
            ctx.set_source_rgb(*INK)
            ctx.set_line_width(0.055)
            ctx.move_to(x - rx, y + 0.02)
            ctx.curve_to(x - rx / 2, y + 0.10, x + rx / 2, y + 0.10, x + rx, y + 0.02)
            ctx.stroke()
            return
        ctx.save()
        ctx.translate(x, y)
        ctx.save()
        ctx.scale(rx, ry)
        ctx.arc(0, 0, 1, 0, 7)
        ctx.restore()
        ctx.set_source_rgb(1, 1, 1)
        ctx.fill_preserve()
        ctx.clip()
        gx = max(-1.0, min(1.0, pose.gaze[0])) * rx * 0.62
        gy = max(-1.0, min(1.0, pose.gaze[1])) * ry * 0.62
        ctx.set_source_rgb(*rgb(self.look.eyes))
        ctx.arc(gx, gy, 0.105, 0, 7)
        ctx.fill()
        ctx.set_source_rgb(0.05, 0.04, 0.04)
        ctx.arc(gx, gy, 0.055, 0, 7)
        ctx.fill()
        ctx.set_source_rgb(1, 1, 1)
        ctx.arc(gx - 0.035, gy - 0.04, 0.025, 0, 7)
        ctx.fill()
        # lids: the upper one hangs, the lower one comes up with a real smile
        lid = mixed(skin, rgb("#a05a3c"), 0.18)
        upper = max(shut, 0.0, feel["upper"])
        ctx.set_source_rgb(*lid)
        if upper > 0.02:
            ctx.rectangle(-1, -1, 2, 1 - ry + 2 * ry * upper)
            ctx.fill()
        lower = feel["lower"]
        if lower > 0.02:
            ctx.save()
            ctx.translate(0, ry * (2.3 - 1.1 * lower))
            ctx.scale(rx * 1.5, ry * 1.3)
            ctx.arc(0, 0, 1, 0, 7)
            ctx.restore()
            ctx.fill()
        ctx.restore()
        # the lash line goes with the upper lid
        ctx.set_source_rgb(*INK)
        ctx.set_line_width(0.05)
        if upper > 0.02:
            edge = y - ry + 2 * ry * upper
            half = rx * math.sqrt(max(0.0, 1 - ((edge - y) / ry) ** 2))
            ctx.move_to(x - half, edge)
            ctx.line_to(x + half, edge)
        else:
            ctx.save()
            ctx.translate(x, y)
            ctx.scale(rx, ry)
            ctx.arc(0, 0, 1, math.pi * 1.08, math.pi * 1.92)
            ctx.restore()
        ctx.stroke()

    def _brow(self, ctx: cairo.Context, pose: Pose, feel: dict[str, float], side: int) -> None:
        inner, wide_in = _on(11 * side, pose.yaw)
        outer, wide_out = _on(41 * side, pose.yaw)
        if max(wide_in, wide_out) < 0.2:
            return
        y = -0.26 + 0.05 * pose.pitch
        colour = self.look.beard if self.look.style == "bald" and self.look.beard else ""
        ctx.set_source_rgb(*mixed(rgb(colour or self.look.hair), BLACK, 0.30))
        ctx.set_line_width(0.085)
        mid = (inner + outer) / 2
        yi, yo = y - feel["inner"], y - feel["outer"] + 0.03
        ctx.move_to(inner, yi)
        ctx.curve_to(mid, min(yi, yo) - 0.07, mid, min(yi, yo) - 0.05, outer, yo)
        ctx.stroke()

    def _nose(self, ctx: cairo.Context, pose: Pose, skin: Colour) -> None:
        x = 0.98 * math.sin(pose.yaw * _TURN)
        lean = 0.09 * (1 if pose.yaw >= -0.05 else -1)
        ctx.set_source_rgb(*mixed(skin, rgb("#8a4a30"), 0.45))
        ctx.set_line_width(0.065)
        y = 0.06 * pose.pitch
        ctx.move_to(x - lean * 0.4, 0.14 + y)
        ctx.curve_to(x + lean * 1.3, 0.30 + y, x + lean * 1.4, 0.36 + y, x - lean * 0.6, 0.36 + y)
        ctx.stroke()

    def _mouth(self, ctx: cairo.Context, pose: Pose, feel: dict[str, float]) -> None:
        x, narrow = _on(0, pose.yaw)
        x *= 0.98
        y = 0.60 + 0.05 * pose.pitch
        half = (0.25 + 0.07 * max(0.0, feel["corners"]) + 0.10 * feel["stretch"]
                + 0.05 * pose.wide) * (0.45 + 0.55 * narrow)
        lift = -0.15 * feel["corners"]
        opened = 0.34 * pose.mouth
        teeth = feel["teeth"] * (0.15 if feel["corners"] > 0 else 0.0)
        gape = max(opened, teeth)
        lips = rgb(self.look.lips)
        left, right, end = x - half, x + half, y + lift * 0.6
        top = y - lift * 0.55 - gape * 0.22
        low = y - lift * 0.9 + gape
        if gape < 0.03:
            ctx.set_source_rgb(*mixed(lips, BLACK, 0.25))
            ctx.set_line_width(0.07)
            ctx.move_to(left, end)
            ctx.curve_to(left + half * 0.6, y - lift * 1.1, right - half * 0.6, y - lift * 1.1,
                         right, end)
            ctx.stroke()
            return
        ctx.move_to(left, end)
        ctx.curve_to(left + half * 0.55, top, right - half * 0.55, top, right, end)
        ctx.curve_to(right - half * 0.25, low + 0.03, left + half * 0.25, low + 0.03, left, end)
        ctx.close_path()
        shape = ctx.copy_path()
        ctx.save()
        ctx.clip()
        ctx.set_source_rgb(0.36, 0.09, 0.10)
        ctx.paint()
        ctx.set_source_rgb(0.99, 0.98, 0.96)
        if teeth >= opened - 0.02 and teeth > 0:
            ctx.paint()
            ctx.set_source_rgba(0.5, 0.45, 0.45, 0.5)
            ctx.set_line_width(0.02)
            ctx.move_to(left, (end + low) / 2)
            ctx.curve_to(left + half * 0.6, y - lift * 0.8 + gape * 0.5,
                         right - half * 0.6, y - lift * 0.8 + gape * 0.5, right, (end + low) / 2)
            ctx.stroke()
        else:
            ctx.rectangle(left, y - 1, 2 * half, 1 - lift * 0.5 + 0.02 + gape * 0.1)
            ctx.fill()
            ctx.set_source_rgb(0.80, 0.36, 0.36)
            ctx.save()
            ctx.translate(x, low + 0.06)
            ctx.scale(half * 0.7, max(0.05, gape * 0.55))
            ctx.arc(0, 0, 1, 0, 7)
            ctx.restore()
            ctx.fill()
        ctx.restore()
        ctx.append_path(shape)
        ctx.set_source_rgb(*lips)
        ctx.set_line_width(0.055)
        ctx.stroke()

    def _beard(self, ctx: cairo.Context, pose: Pose) -> None:
        x = 0.30 * pose.yaw
        ctx.set_source_rgb(*rgb(self.look.beard))
        ctx.move_to(-1, 0.18)
        ctx.curve_to(x - 0.75, 0.42, x - 0.62, 0.40, x * 1.6 - 0.40, 0.42)
        ctx.curve_to(x * 1.8 - 0.2, 0.40, x * 1.8 + 0.2, 0.40, x * 1.6 + 0.40, 0.42)
        ctx.curve_to(x + 0.62, 0.40, x + 0.75, 0.42, 1, 0.18)
        ctx.line_to(1, 1.2)
        ctx.line_to(-1, 1.2)
        ctx.close_path()
        ctx.fill()

    def _glasses(self, ctx: cairo.Context, pose: Pose) -> None:
        ctx.set_source_rgb(*rgb(self.look.glasses))
        ctx.set_line_width(0.06)
        y = 0.05 + 0.07 * pose.pitch
        edges = []
        for side in (-1, 1):
            x, wide = _on(25 * side, pose.yaw)
            r = 0.27 * (0.3 + 0.7 * wide)
            ctx.save()
            ctx.translate(x, y)
            ctx.scale(r, 0.25)
            ctx.arc(0, 0, 1, 0, 7)
            ctx.restore()
            ctx.stroke()
            edges.append(x - side * r)
            ear = math.radians(88 * side) + pose.yaw * _TURN
            if math.cos(ear) > -0.3:
                ctx.move_to(x + side * r, y - 0.03)
                ctx.line_to(0.84 * math.sin(ear), y - 0.02)
                ctx.stroke()
        ctx.move_to(edges[0], y - 0.05)
        ctx.line_to(edges[1], y - 0.05)
        ctx.stroke()

    def _tears(self, ctx: cairo.Context, pose: Pose, age: float) -> None:
        for side in (-1, 1):
            x, wide = _on(27 * side, pose.yaw)
            if wide < 0.2:
                continue
            reach = min(1.0, age / 1.2)
            ctx.set_source_rgba(0.45, 0.72, 0.95, 0.75)
            ctx.set_line_width(0.10)
            ctx.move_to(x, 0.20)
            ctx.curve_to(x + side * 0.04, 0.34, x + side * 0.05, 0.5, x + side * 0.03,
                         0.20 + 0.55 * reach)
            ctx.stroke()
            drop = (age * 0.55 + 0.3 * (side > 0)) % 1.0
            dy = 0.20 + 0.62 * drop
            if drop < reach:
                ctx.set_source_rgba(0.62, 0.85, 1.0, 0.98)
                ctx.move_to(x + side * 0.04, dy - 0.14)
                ctx.curve_to(x + side * 0.04 - 0.11, dy + 0.04, x + side * 0.04 - 0.06, dy + 0.11,
                             x + side * 0.04, dy + 0.11)
                ctx.curve_to(x + side * 0.04 + 0.06, dy + 0.11, x + side * 0.04 + 0.11, dy + 0.04,
                             x + side * 0.04, dy - 0.14)
                ctx.fill()

    # ------------------------------------------------------------ hair

    def draw_behind(self, ctx: cairo.Context, pose: Pose) -> None:
        """The hair that falls behind the shoulders."""
        style, hair = self.look.style, rgb(self.look.hair)
        back = mixed(hair, BLACK, 0.16)
        ctx.save()
        ctx.translate(0, -0.55)
        ctx.rotate(pose.roll)
        ctx.translate(pose.yaw * 0.08, -0.85 + 0.05 * pose.pitch)
        drift = -0.16 * pose.yaw
        ctx.set_source_rgb(*back)
        if style == "long":
            ctx.move_to(-1.0 + drift, -0.1)
            ctx.curve_to(-1.25 + drift, 0.9, -1.22 + drift, 1.7, -1.02 + drift, 2.3)
            ctx.line_to(1.02 + drift, 2.3)
            ctx.curve_to(1.22 + drift, 1.7, 1.25 + drift, 0.9, 1.0 + drift, -0.1)
            ctx.close_path()
            ctx.fill()
        elif style == "bob":
            ctx.move_to(-0.98 + drift, -0.2)
            ctx.curve_to(-1.2 + drift, 0.5, -1.16 + drift, 0.9, -0.98 + drift, 1.08)
            ctx.line_to(0.98 + drift, 1.08)
            ctx.curve_to(1.16 + drift, 0.9, 1.2 + drift, 0.5, 0.98 + drift, -0.2)
            ctx.close_path()
            ctx.fill()
        elif style == "bun":
            ctx.arc(drift * 2.2, -1.22, 0.42, 0, 7)
            ctx.fill()
        elif style == "curly":
            for k in range(15):
                at = math.pi * (0.82 + 1.36 * k / 14)
                ctx.arc(1.0 * math.cos(at) + drift, -0.06 + 1.06 * math.sin(at), 0.36, 0, 7)
                ctx.fill()
        ctx.restore()

    def _hair_before(self, ctx: cairo.Context, pose: Pose) -> None:
        style, hair = self.look.style, rgb(self.look.hair)
        yaw = pose.yaw
        ctx.save()
        ctx.set_source_rgb(*hair)
        if style in ("short", "side", "bun"):
            part = -0.35 if style == "side" else 0.0
            x, _ = _on(-40 + part * 40, yaw)
            end, _ = _on(62, yaw)
            start, _ = _on(-62, yaw)
            high = 0.05 * yaw
            ctx.move_to(start * 1.14, -0.16)
            ctx.curve_to(-1.05, -0.75, -0.66, -1.16, 0.0, -1.14)
            ctx.curve_to(0.66, -1.16, 1.05, -0.75, end * 1.14, -0.16)
            if style == "short":
                ctx.curve_to(end, -0.5, end * 0.8, -0.62, yaw * 0.3 + 0.1, -0.50 + high)
                ctx.curve_to(start * 0.5, -0.68, start, -0.50, start * 1.14, -0.16)
            elif style == "side":
                ctx.curve_to(end * 0.95, -0.50, x + 0.9, -0.50, x + 0.1, -0.72)
                ctx.curve_to(start * 0.95, -0.55, start * 1.0, -0.4, start * 1.14, -0.16)
            else:
                ctx.curve_to(end * 0.9, -0.60, yaw * 0.3 + 0.35, -0.80, yaw * 0.3, -0.82)
                ctx.curve_to(yaw * 0.3 - 0.35, -0.80, start * 0.9, -0.60, start * 1.14, -0.16)
            ctx.close_path()
            ctx.fill()
        elif style in ("long", "bob"):
            low = 1.9 if style == "long" else 1.02
            for side in (-1, 1):
                edge, _ = _on(66 * side, yaw)
                out = side * 1.04 - 0.10 * yaw
                if math.cos(math.radians(66 * side) + yaw * _TURN) < -0.1:
                    edge = side * 0.80
                ctx.move_to(yaw * 0.22 - 0.12, -1.12)
                ctx.curve_to(side * 0.9, -1.2, out * 1.06, -0.5, out * 1.05, 0.2)
                ctx.curve_to(out * 1.1, low * 0.6, out * 1.06, low * 0.9, out * 0.94, low)
                ctx.curve_to(edge * 0.98, low * 0.7, edge * 1.02, 0.3, edge * 0.98, -0.1)
                ctx.curve_to(edge * 0.85, -0.5, yaw * 0.25 + side * 0.25 - 0.1, -0.72,
                             yaw * 0.28 - 0.12, -0.78)
                ctx.close_path()
                ctx.fill()
        elif style == "curly":
            for k in range(7):
                at, _ = _on(-66 + 22 * k, yaw)
                ctx.arc(at * 1.05, -0.66 - 0.16 * math.cos(math.radians(-66 + 22 * k)), 0.25, 0, 7)
                ctx.fill()
        ctx.restore()


def _ball(ctx: cairo.Context) -> None:
    """The outline of a head: round above, narrower at the chin."""
    ctx.new_path()
    ctx.move_to(-0.88, -0.12)
    ctx.curve_to(-0.90, -0.75, -0.52, -1.06, 0, -1.06)
    ctx.curve_to(0.52, -1.06, 0.90, -0.75, 0.88, -0.12)
    ctx.curve_to(0.88, 0.50, 0.60, 0.98, 0, 1.02)
    ctx.curve_to(-0.60, 0.98, -0.88, 0.50, -0.88, -0.12)
    ctx.close_path()


def _feel(face: dict[str, float]) -> dict[str, float]:
    """The weighted sum of expressions."""
    total = dict.fromkeys(
        ("corners", "outer", "inner", "lower", "upper", "teeth", "stretch", "cheeks", "red"), 0.0)
    for name, share in face.items():
        for part, much in FACES[name].items():
            total[part] += share * much
    return total
