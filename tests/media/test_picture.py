"""Pictures: the right one at each time, upright, whole, and in proportion."""

from __future__ import annotations

import gc
import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from simulator.errors import InputError
from simulator.media.picture import Fitter, PictureReader
from simulator.media.probe import probe
from simulator.scenario.types import Canvas

Make = Callable[..., Path]
Picture = NDArray[np.uint8]
CANVAS = Canvas(width=320, height=180)


def grey(level: int, width: int = 64, height: int = 48) -> Picture:
    return np.full((height, width, 3), level, np.uint8)


def level_at(reader: PictureReader, time: float) -> int:
    return round(float(reader.at(time).to_ndarray(format="rgb24").mean()))


def steps(times: list[float]) -> list[tuple[float, Picture]]:
    """A picture at each time, each of its own grey (10, 20, 30...)."""
    return [(time, grey(10 * (i + 1))) for i, time in enumerate(times)]


def test_variable_frame_rate(make_clip: Make) -> None:
    times = [0.0, 0.033, 0.5, 0.533, 0.567, 2.0, 2.1, 3.9]
    path = make_clip("vfr.mkv", steps(times))
    with PictureReader(probe(path)) as reader:
        for k in range(0, 120):
            time = k / 30
            shown = max(i for i, t in enumerate(times) if t <= time + 0.001)
            assert level_at(reader, time) == pytest.approx(10 * (shown + 1), abs=2), time


def test_reading_on_and_seeking_show_the_same(make_clip: Make) -> None:
    pictures = [(i / 25, grey((i * 37) % 200 + 20)) for i in range(300)]
    path = make_clip("long.mp4", pictures, options={"g": "50", "bf": "2"})
    source = probe(path)
    with PictureReader(source) as onwards:
        for k in range(0, 350, 7):
            time = k / 30
            with PictureReader(source) as fresh:
                assert level_at(fresh, time) == level_at(onwards, time)
                assert level_at(fresh, 0.0) == level_at(fresh, 0.02)


def test_an_index_that_lies_is_not_believed(make_clip: Make) -> None:
    path = make_clip(
        "one_key.mp4", [(i / 10, grey(i * 2 + 20)) for i in range(100)], options={"g": "1000"}
    )
    with PictureReader(probe(path)) as reader:
        assert level_at(reader, 9.05) == pytest.approx(200, abs=2)
        assert level_at(reader, 5.05) == pytest.approx(120, abs=2)


def test_pictures_that_begin_late(make_clip: Make) -> None:
    path = make_clip(
        "late.mkv",
        [(1.0 + i / 10, grey(10 * i + 20)) for i in range(10)],
        np.zeros((96_000, 2), np.float32),
    )
    with PictureReader(probe(path)) as reader:
        assert level_at(reader, 0.0) == pytest.approx(20, abs=2)
        assert level_at(reader, 1.15) == pytest.approx(30, abs=2)


def test_pictures_that_end_before_they_should(make_clip: Make) -> None:
    path = make_clip("short.mkv", steps([0.0, 0.1, 0.2]), np.zeros((96_000, 2), np.float32))
    assert probe(path).duration == pytest.approx(2.0, abs=0.05)
    with PictureReader(probe(path)) as reader:
        assert level_at(reader, 0.6) == pytest.approx(30, abs=2)
        with pytest.raises(InputError, match=r"end at 0\.20 s"):
            reader.at(1.5)


def test_a_damaged_file(make_clip: Make, tmp_path: Path) -> None:
    path = make_clip("x.mp4", steps([i / 10 for i in range(20)]))
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match=r"broken\.mp4"):
        probe(broken)
    (tmp_path / "text.mp4").write_text("this is not a video at all")
    with pytest.raises(InputError, match="not a media file"):
        probe(tmp_path / "text.mp4")
    with pytest.raises(InputError, match="no such file"):
        probe(tmp_path / "none.mp4")


# ---------------------------------------------------------------- fitting

CORNERS = {"tl": (200, 30, 30), "tr": (30, 200, 30), "bl": (30, 30, 200), "br": (200, 200, 30)}


def four(width: int, height: int) -> Picture:
    """A colour in each corner."""
    picture = np.zeros((height, width, 3), np.uint8)
    half_h, half_w = height // 2, width // 2
    picture[:half_h, :half_w] = CORNERS["tl"]
    picture[:half_h, half_w:] = CORNERS["tr"]
    picture[half_h:, :half_w] = CORNERS["bl"]
    picture[half_h:, half_w:] = CORNERS["br"]
    return picture


def fit(path: Path) -> tuple[Picture, tuple[int, int, int, int]]:
    """The first picture on the canvas, and left, top, right, bottom of what is not black."""
    with PictureReader(probe(path)) as reader:
        frame = reader.at(0.0)
        fitted: Any = Fitter(CANVAS).fit(frame, reader.aspect).to_ndarray(format="rgb24")
    lit = np.argwhere(fitted.max(axis=2) > 25)
    top, left = lit.min(axis=0)
    bottom, right = lit.max(axis=0) + 1
    assert fitted.shape == (CANVAS.height, CANVAS.width, 3)
    return fitted, (int(left), int(top), int(right), int(bottom))


def corners(fitted: Picture, box: tuple[int, int, int, int]) -> list[str]:
    """Names of the colours at the box's corners: top left, top right, bottom left, bottom right."""
    left, top, right, bottom = box
    names = []
    for y in (top + (bottom - top) // 4, top + (bottom - top) * 3 // 4):
        for x in (left + (right - left) // 4, left + (right - left) * 3 // 4):
            colour = fitted[y, x].astype(int)
            names.append(min(CORNERS, key=lambda n: int(np.abs(colour - CORNERS[n]).sum())))
    return names


UPRIGHT = ["tl", "tr", "bl", "br"]


@pytest.mark.parametrize(
    ("width", "height", "pixel", "box"),
    [
        (320, 180, "yuv420p", (0, 0, 320, 180)),
        (160, 120, "yuv420p", (40, 0, 280, 180)),
        (640, 180, "yuv420p", (0, 45, 320, 135)),
        (101, 75, "yuv444p", (39, 0, 281, 180)),
        (33, 99, "yuv444p", (130, 0, 190, 180)),
    ],
)
def test_sizes(
    make_clip: Make, width: int, height: int, pixel: str, box: tuple[int, int, int, int]
) -> None:
    path = make_clip("size.mkv", [(0.0, four(width, height))], pixel=pixel)
    fitted, found = fit(path)
    assert np.abs(np.array(found) - box).max() <= 2
    assert corners(fitted, found) == UPRIGHT


def test_pixels_that_are_not_square(make_clip: Make) -> None:
    path = make_clip("sar.mkv", [(0.0, four(90, 90))], aspect=Fraction(4, 3))
    fitted, found = fit(path)
    assert np.abs(np.array(found) - (40, 0, 280, 180)).max() <= 2
    assert corners(fitted, found) == UPRIGHT


MATRICES = {
    "quarter": ((0, 1, -1, 0), ["bl", "tl", "br", "tr"]),
    "half": ((-1, 0, 0, -1), ["br", "bl", "tr", "tl"]),
    "three": ((0, -1, 1, 0), ["tr", "br", "tl", "bl"]),
    "mirror": ((-1, 0, 0, 1), ["tr", "tl", "br", "bl"]),
    "flip": ((1, 0, 0, -1), ["bl", "br", "tl", "tr"]),
    "transpose": ((0, 1, 1, 0), ["tl", "bl", "tr", "br"]),
}


@pytest.mark.parametrize("name", MATRICES)
def test_rotation_of_a_phone(make_clip: Make, name: str) -> None:
    (a, b, c, d), expected = MATRICES[name]
    path = make_clip("turned.mp4", [(i / 10, four(160, 80)) for i in range(3)])
    data = bytearray(path.read_bytes())
    header = data.find(b"tkhd")
    matrix = header + 4 + 4 + 36
    one = 1 << 16
    assert struct.unpack_from(">i", data, matrix)[0] == one
    struct.pack_into(">9i", data, matrix, a * one, b * one, 0, c * one, d * one, 0, 0, 0, 1 << 30)
    path.write_bytes(data)
    fitted, found = fit(path)
    turned = a == 0
    width, height = (90, 180) if turned else (320, 160)
    assert abs(found[2] - found[0] - width) <= 3
    assert abs(found[3] - found[1] - height) <= 3
    assert corners(fitted, found) == expected


def test_full_range_and_rgb_come_out_alike(make_clip: Make) -> None:
    for name, codec, pixel in (
        ("full.mkv", "mjpeg", "yuvj420p"),
        ("rgb.mkv", "libx264rgb", "rgb24"),
        ("ten.mkv", "libx264", "yuv420p10le"),
    ):
        path = make_clip(name, [(0.0, grey(180, 320, 180))], video_codec=codec, pixel=pixel)
        fitted, _ = fit(path)
        assert float(fitted.mean()) == pytest.approx(180, abs=3), name


def test_fitting_leaves_no_picture_to_the_garbage_collector(make_clip: Make) -> None:
    """Side data stands in a cycle with its picture: looked at for each, it fills the memory."""
    clip = make_clip("many.mkv", steps([i / 30 for i in range(20)]))
    fitter = Fitter(Canvas(width=64, height=36))
    gc.collect()
    gc.disable()
    try:
        with PictureReader(probe(clip)) as reader:
            for i in range(20):
                fitter.fit(reader.at(i / 30), reader.aspect)
        left = sum(isinstance(o, av.VideoFrame) for o in gc.get_objects())
    finally:
        gc.enable()
    assert left <= 2


def test_what_is_passed_on_the_way_is_told(make_clip: Make) -> None:
    pictures = [(i / 10, np.full((48, 64, 3), i, np.uint8)) for i in range(60)]
    path = make_clip("one_key.mp4", pictures, options={"g": "1000"})
    passed: list[int] = []

    def enough() -> None:
        passed.append(1)
        if len(passed) == 20:
            raise InputError("enough")

    with PictureReader(probe(path), enough) as reader, pytest.raises(InputError, match="enough"):
        reader.at(5.5)
    assert len(passed) == 20
