"""What lies and stands about in rendered scenes: crockery, fruit, toys, tools, luggage.

Each function gives an `Art`: its foot, where it touches the table, is at (0, 0). Counterparts:
`table_ink`, which draws it, and `table`, which moves it about. Needs skia-python.
"""

from functools import cache

from table import Art
from table_ink import around, box, curve, oval, poly, rgb, tint

# Crockery and fruit


@cache
def mug(colour):
    def draw(ink):
        ink.rod([(34, -74), (62, -70), (64, -40), (36, -24)], rgb(colour), 11)
        ink.shape(curve("M -40 -88 L -36 -8 Q -34 6 0 6 Q 34 6 36 -8 L 40 -88 Z"), colour)
        ink.shape(oval(0, -88, 40, 12), tint(colour, -0.1))
        ink.shape(oval(0, -86, 33, 8), tint(colour, -0.5), edge=0, flat=True)
        ink.shine(box(-28, -72, 9, 56, 5))

    return Art(draw, 130, 102, waist=84)


@cache
def plate(colour="white", size=1.0):
    def draw(ink):
        w = 105 * size
        ink.shape(oval(0, -4, w, w * 0.5), colour)
        ink.shape(oval(0, -6, w * 0.68, w * 0.32), tint(colour, -0.05), edge=1.5)

    return Art(draw, 210 * size, 62 * size, below=60 * size)


@cache
def bowl(colour):
    def draw(ink):
        ink.shape(curve("M -70 -60 Q -66 6 -26 8 L 26 8 Q 66 6 70 -60 Z"), colour)
        ink.shape(oval(0, -60, 70, 18), tint(colour, 0.1))
        ink.shape(oval(0, -57, 60, 12), tint(colour, -0.4), edge=0, flat=True)

    return Art(draw, 140, 78)


@cache
def apple(colour="red"):
    def draw(ink):
        ink.rod([(0, -62), (5, -84)], rgb("brown"), 4, 1.5)
        ink.shape(curve("M 6 -74 Q 26 -92 40 -78 Q 26 -64 6 -74 Z"), "leaf", edge=1.5)
        ink.shape(curve("M 0 -64 C 22 -80 44 -60 38 -32 C 34 -8 18 4 0 -2 "
                        "C -18 4 -34 -8 -38 -32 C -44 -60 -22 -80 0 -64 Z"), colour)
        ink.shine(oval(-18, -48, 8, 11))

    return Art(draw, 80, 78)


@cache
def orange():
    def draw(ink):
        ink.shape(oval(0, -34, 36), "orange")
        ink.shape(oval(4, -64, 5, 3), "leaf", edge=1)
        ink.shine(oval(-14, -46, 8))

    return Art(draw, 74, 72)


# Toys


@cache
def block(colour, size=74):
    """A wooden cube, seen from the front and a little from above."""
    def draw(ink):
        s, d = size, size * 0.34
        ink.shape(poly((-s / 2, -s), (-s / 2 + d, -s - d), (s / 2 + d, -s - d), (s / 2, -s)),
                  tint(colour, 0.25))
        ink.shape(poly((s / 2, -s), (s / 2 + d, -s - d), (s / 2 + d, -d), (s / 2, 0)),
                  tint(colour, -0.2))
        ink.shape(box(-s / 2, -s, s, s, 3), colour)

    return Art(draw, size * 1.68, size * 1.34, hold=0.4, waist=size, shadow="cast")


@cache
def ball(colour, radius=38):
    def draw(ink):
        ink.shape(oval(0, -radius + 2, radius), colour)
        ink.shine(oval(-radius * 0.38, -radius * 1.35, radius * 0.2))

    return Art(draw, 2 * radius, 2 * radius)


@cache
def duck(colour="yellow"):
    def draw(ink):
        ink.shape(curve("M -58 -46 C -70 -56 -66 -64 -54 -58 Q -30 -46 -8 -52 L 30 -52 "
                        "Q 56 -40 46 -14 Q 34 4 -6 4 Q -56 4 -58 -46 Z"), colour)
        ink.shape(curve("M 46 -78 Q 74 -78 72 -68 Q 66 -60 44 -64 Z"), "orange")
        ink.shape(oval(22, -76, 31), colour)
        ink.shape(curve("M -36 -36 Q -8 -48 16 -28 Q -4 -6 -30 -16 Z"), tint(colour, -0.08))
        ink.shape(oval(32, -82, 5.5), "black", edge=0, flat=True)
        ink.shine(oval(10, -92, 7))

    return Art(draw, 136, 108, waist=104)


@cache
def car(colour="red"):
    def draw(ink):
        ink.shape(curve("M -46 -46 L -30 -78 L 28 -78 L 46 -46 Z"), tint(colour, 0.06), r=8)
        ink.shape(poly((-34, -48), (-24, -70), (-3, -70), (-3, -48)), "sky", edge=1.5)
        ink.shape(poly((3, -48), (3, -70), (23, -70), (34, -48)), "sky", edge=1.5)
        ink.shape(box(-74, -50, 148, 38, 12), colour)
        ink.shape(oval(66, -36, 6), "yellow", edge=1.5)
        for x in (-40, 40):
            ink.shape(oval(x, -10, 18), "black")
            ink.shape(oval(x, -10, 8), "steel", edge=1.5)

    return Art(draw, 150, 82, waist=110)


@cache
def robot(colour="steel"):
    def draw(ink):
        ink.rod([(0, -112), (0, -130)], rgb("dark"), 4, 1.5)
        ink.shape(oval(0, -132, 7), "red", edge=1.5)
        for x in (-42, 42):
            ink.rod([(x * 0.9, -62), (x * 1.12, -26)], rgb("dark"), 10)
        ink.shape(box(-26, -20, 20, 24, 4), "dark")
        ink.shape(box(6, -20, 20, 24, 4), "dark")
        ink.shape(box(-36, -70, 72, 54, 8), colour)
        ink.shape(box(-29, -114, 58, 44, 8), colour)
        for x in (-13, 13):
            ink.shape(oval(x, -96, 8), "yellow", edge=1.5)
        ink.line([(-13, -79), (13, -79)], rgb("dark"), 4)
        for x, c in ((-16, "red"), (0, "green"), (16, "blue")):
            ink.shape(oval(x, -46, 6), c, edge=1.5)

    return Art(draw, 110, 138, waist=84)


@cache
def boat(colour="blue"):
    def draw(ink):
        ink.rod([(-4, -34), (-4, -128)], rgb("brown"), 5, 1.5)
        ink.shape(poly((2, -126), (2, -44), (58, -44)), "white")
        ink.shape(poly((-10, -112), (-10, -44), (-52, -44)), "cream")
        ink.shape(curve("M -72 -36 L 74 -36 Q 62 2 36 4 L -40 4 Q -64 2 -72 -36 Z"), colour)
        ink.line([(-62, -24), (64, -24)], rgb("white"), 5)

    return Art(draw, 150, 130, hold=0.35, waist=110)


@cache
def rocket(colour="green"):
    def draw(ink):
        ink.shape(poly((-22, -40), (-52, 2), (-20, -8)), "red", r=6)
        ink.shape(poly((22, -40), (52, 2), (20, -8)), "red", r=6)
        ink.shape(curve("M 0 -148 Q 34 -108 28 -40 L 22 -4 L -22 -4 L -28 -40 "
                        "Q -34 -108 0 -148 Z"), colour)
        ink.shape(oval(0, -84, 14), "sky", edge=4)
        ink.shine(box(-20, -104, 7, 56, 4), 0.35)

    return Art(draw, 104, 148, waist=70)


@cache
def drum(colour="purple"):
    def draw(ink):
        ink.shape(curve("M -56 -68 L -56 -8 Q 0 18 56 -8 L 56 -68 Z"), colour)
        for i in range(-2, 3):
            ink.line([(i * 22 - 11, -54 + 8 - abs(i) * 2), (i * 22, 0 - abs(i) * 3),
                      (i * 22 + 11, -54 + 8 - abs(i) * 2)], rgb("gold"), 3)
        ink.shape(oval(0, -68, 56, 17), "cream")
        ink.shape(oval(0, -68, 48, 12), "white", edge=1)

    return Art(draw, 116, 86, waist=96)


# Tools, lying on a bench


@cache
def hammer(grip="brown"):
    def draw(ink):
        ink.rod([(-96, -30), (70, -30)], rgb(grip), 19)
        ink.shape(box(66, -68, 30, 68, 6), "steel")
        ink.shape(box(62, -2, 38, 16, 4), "steel")
        ink.shape(poly((68, -66), (94, -66), (104, -96), (92, -90)), "steel")

    return Art(draw, 220, 96, hold=0.32, waist=60, shadow="cast")


@cache
def screwdriver(colour="yellow"):
    def draw(ink):
        ink.rod([(0, -24), (92, -24)], rgb("steel"), 8, 2)
        ink.shape(poly((88, -31), (104, -28), (104, -20), (88, -17)), "steel")
        ink.shape(box(-96, -42, 100, 36, 15), colour)
        for y in (-33, -24, -15):
            ink.line([(-80, y), (-16, y)], tint(colour, -0.3), 3)

    return Art(draw, 210, 46, waist=60, shadow="cast")


@cache
def pliers(colour="blue"):
    def draw(ink):
        for s in (1, -1):
            ink.rod([(20, -34), (-30, -34 + 22 * s), (-96, -34 + 30 * s)], rgb(colour), 16)
            ink.shape(curve(f"M 10 -34 L 30 {-34 - 18 * s} Q 70 {-34 - 16 * s} 92 {-34 - 2 * s} "
                            "L 30 -34 Z"), "steel")
        ink.shape(oval(22, -34, 13), "steel")
        ink.shape(oval(22, -34, 4), "dark", edge=0)

    return Art(draw, 200, 76, waist=70, shadow="cast")


@cache
def handsaw(colour="orange"):
    def draw(ink):
        teeth = [(160 - i * 12 + d, -8 + h) for i in range(17) for d, h in ((0, 0), (-6, 8))]
        ink.shape(poly((-44, -70), (160, -34), *teeth, (-44, -8)), "steel")
        ink.shape(box(-128, -84, 88, 88, 26), colour)
        ink.shape(box(-106, -62, 44, 46, 18), (120, 88, 56), edge=2.5)

    return Art(draw, 300, 88, waist=80, shadow="cast")


@cache
def brush(colour="green"):
    def draw(ink):
        ink.shape(curve("M 58 -50 L 116 -56 Q 126 -32 116 -10 L 58 -14 Z"), "cream")
        for y in (-44, -34, -24):
            ink.line([(64, y), (112, y * 1.1 + 3)], rgb("brown"), 1.5)
        ink.shape(box(24, -54, 38, 44, 4), "steel")
        ink.shape(curve("M 26 -50 Q -8 -48 -28 -42 L -104 -44 Q -118 -32 -104 -20 L -28 -22 "
                        "Q -8 -16 26 -14 Z"), colour)
        ink.shape(oval(-96, -32, 5), "wood", edge=1.5)

    return Art(draw, 244, 58, waist=60, shadow="cast")


@cache
def tape(colour="red"):
    def draw(ink):
        ink.shape(oval(0, -40, 46), colour)
        ink.shape(oval(0, -40, 25), "cream")
        ink.shape(oval(0, -40, 20), (170, 122, 76), edge=1.5)

    return Art(draw, 94, 88, waist=90, shadow="cast")


@cache
def board():
    """A piece of wood on the bench."""
    def draw(ink):
        ink.shape(box(-150, -90, 300, 90, 4), (226, 188, 134))
        ink.shape(box(-150, -2, 300, 18, 3), (190, 146, 96))
        for y in (-70, -46, -22):
            ink.line([(-130, y), (120, y + 4)], (204, 160, 108), 2)

    return Art(draw, 300, 92, below=22, shadow="cast")


@cache
def nail(out):
    """A nail that stands `out` pixels out of the wood."""
    def draw(ink):
        ink.rod([(0, 0), (0, -out)], rgb("dark"), 5, 1.5)
        ink.shape(oval(0, -out, 11, 5), "steel", edge=2)

    return Art(draw, 26, out + 8, shadow="none")


# What one packs


@cache
def toothbrush(colour):
    def draw(ink):
        ink.rod([(-88, -22), (86, -22)], rgb(colour), 11)
        for x in range(50, 90, 8):
            ink.line([(x, -28), (x, -46)], rgb("white"), 6)
            ink.line([(x, -44), (x, -47)], rgb(colour), 6)

    return Art(draw, 190, 50, waist=60, shadow="cast")


@cache
def sunglasses():
    def draw(ink):
        ink.line([(-66, -42), (66, -42)], rgb("black"), 7)
        for x in (-36, 36):
            ink.shape(curve(f"M {x - 33} -46 L {x + 33} -46 Q {x + 34} -4 {x} -4 "
                            f"Q {x - 34} -4 {x - 33} -46 Z"), "black")
            ink.line([(x - 18, -34), (x - 8, -18)], rgb("grey"), 4)

    return Art(draw, 140, 52, waist=80, shadow="cast")


@cache
def towel(colour):
    def draw(ink):
        for i in range(3):
            ink.shape(box(-66, -32 - 24 * i, 132, 30, 13), tint(colour, 0.08 * i))
        for x in (-44, 44):
            ink.line([(x, -74), (x, -8)], tint(colour, 0.6), 7)

    return Art(draw, 134, 84, waist=100, shadow="cast")


@cache
def book(colour):
    def draw(ink):
        ink.shape(box(-48, -126, 100, 126, 5), "cream")
        ink.shape(box(-54, -130, 100, 126, 5), colour)
        ink.line([(-42, -128), (-42, -8)], tint(colour, -0.3), 4)
        ink.shape(box(-24, -108, 56, 30, 4), "cream", edge=1.5)
        ink.shape(oval(4, -44, 17), tint(colour, 0.4), edge=1.5)

    return Art(draw, 108, 132, waist=96, shadow="cast")


@cache
def camera():
    def draw(ink):
        ink.shape(box(-30, -88, 60, 30, 6), "dark")
        ink.shape(box(-64, -76, 128, 76, 12), "black")
        ink.shape(box(-64, -54, 128, 28, 0), "dark", edge=0)
        ink.shape(oval(4, -38, 31), "steel")
        ink.shape(oval(4, -38, 22), "navy")
        ink.shine(oval(-4, -46, 6))
        ink.shape(oval(-46, -80, 10, 6), "red", edge=1.5)

    return Art(draw, 132, 90, waist=100, shadow="cast")


@cache
def socks(colour):
    def draw(ink):
        for dx, dy in ((16, -10), (-10, 0)):
            ink.shape(curve(f"M {-22 + dx} {-100 + dy} L {16 + dx} {-100 + dy} "
                            f"L {16 + dx} {-46 + dy} "
                            f"Q {18 + dx} {-30 + dy} {44 + dx} {-22 + dy} Q {52 + dx} {2 + dy} "
                            f"{28 + dx} {0 + dy} L {-8 + dx} {-6 + dy} Q {-24 + dx} {-14 + dy} "
                            f"{-22 + dx} {-46 + dy} Z"), colour)
            ink.shape(box(-25 + dx, -108 + dy, 44, 18, 6), tint(colour, 0.5), edge=1.5)

    return Art(draw, 120, 112, waist=76, shadow="cast")


# What stands on a counter


@cache
def counter_bell():
    def draw(ink):
        ink.shape(box(-62, -12, 124, 18, 8), "black")
        ink.shape(curve("M -54 -12 Q -54 -64 0 -64 Q 54 -64 54 -12 Z"), "gold")
        ink.shape(box(-5, -78, 10, 16, 3), "steel")
        ink.shape(oval(0, -80, 11, 6), "steel")
        ink.shine(curve("M -40 -24 Q -36 -50 -12 -56 L -16 -48 Q -30 -42 -32 -22 Z"))

    return Art(draw, 128, 88, waist=100)


@cache
def parcel(colour, *, shape="box", tape_="cream"):
    """A thing on a belt: a box, a round tin or a ball of a colour."""
    def draw(ink):
        if shape == "box":
            ink.shape(poly((-46, -76), (-24, -96), (68, -96), (46, -76)), tint(colour, 0.22))
            ink.shape(poly((46, -76), (68, -96), (68, -20), (46, 0)), tint(colour, -0.2))
            ink.shape(box(-46, -76, 92, 76, 3), colour)
            ink.shape(box(-9, -76, 18, 76, 0), tape_, edge=1)
            ink.shape(poly((-9, -76), (13, -96), (31, -96), (9, -76)), tape_, edge=1)
        elif shape == "tin":
            ink.shape(curve("M -38 -86 L -38 -4 Q 0 14 38 -4 L 38 -86 Z"), colour)
            ink.shape(oval(0, -86, 38, 12), tint(colour, 0.2))
            ink.shape(box(-37, -58, 74, 32, 0), tint(colour, 0.55), edge=0)
        else:
            ink.shape(oval(0, -38, 38), colour)
            ink.line(curve("M -37 -44 Q 0 -24 37 -44"), rgb("white"), 6)
            ink.shine(oval(-14, -54, 7))

    wide = {"box": 140, "tin": 80, "ball": 78}[shape]
    return Art(draw, wide, 98, hold=0.42, waist=90, shadow="foot")


@cache
def toaster(down, toast=False):
    """From the front: its lever on the right, up or down, its toast up if `toast`."""
    def draw(ink):
        if toast:
            for x in (-44, 34):
                ink.shape(curve(f"M {x - 36} -128 L {x - 36} -178 Q {x - 40} -206 {x} -206 "
                                f"Q {x + 40} -206 {x + 36} -178 L {x + 36} -128 Z"),
                          (196, 134, 72), edge=6)
        ink.shape(box(-104, -140, 208, 136, 30), "steel")
        ink.shape(box(-84, -136, 168, 12, 6), "dark")
        ink.shape(box(-96, -12, 40, 14, 4), "black")
        ink.shape(box(56, -12, 40, 14, 4), "black")
        ink.line([(86, -116), (86, -40)], rgb("dark"), 6)
        ink.shape(box(70, -60 if down else -118, 34, 18, 5), "black")
        ink.shape(oval(-66, -40, 15), "black")
        ink.line([(-66, -40), (-60, -50)], rgb("white"), 3)
        ink.shine(box(-70, -112, 100, 12, 6), 0.35)
        if down:
            ink.shape(oval(-30, -40, 6), "red", edge=1.5)

    return Art(draw, 212, 210, hold=0.3)


@cache
def egg_timer(minutes):
    """An egg-shaped timer; its red hand shows what is left of ten minutes."""
    def draw(ink):
        ink.shape(curve("M 0 -118 Q 52 -96 52 -44 Q 48 2 0 4 Q -48 2 -52 -44 "
                        "Q -52 -96 0 -118 Z"), "white")
        ink.shape(oval(0, -52, 35), "cream", edge=2)
        for i in range(10):
            ink.line([around(0, -52, 30, 90 - 36 * i), around(0, -52, 25, 90 - 36 * i)],
                     rgb("black"), 3)
        ink.line([(0, -52), around(0, -52, 26, 90 - 36 * minutes)], rgb("red"), 5)
        ink.shape(oval(0, -52, 5), "black", edge=0)

    return Art(draw, 106, 120)
