"""CSV as people have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.benchmarks.omniassistbench.tables import read_table
from simulator.errors import InputError

COLUMNS = ("video_name", "output_text")


def read(tmp_path: Path, data: bytes) -> list[tuple[str, str]]:
    path = tmp_path / "answers.csv"
    path.write_bytes(data)
    lines = read_table(path, COLUMNS)
    return [(line.cells["video_name"], line.cells["output_text"]) for line in lines]


@pytest.mark.parametrize(
    "data",
    [
        b'video_name,output_text\na,"x, y"\nb,z\n',
        b'\xef\xbb\xbfvideo_name;output_text\r\na;"x, y"\r\nb;z\r\n',
        "Video_Name\tOutput_Text \r\na\tx, y\r\nb\tz".encode("utf-16"),
        b'token_retries,output_text,video_name\n0,"x, y",a\n\n,z,b\n',
    ],
    ids=["script", "excel", "utf-16", "other order"],
)
def test_dialects(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path, data) == [("a", "x, y"), ("b", "z")]


def test_a_very_long_answer(tmp_path: Path) -> None:
    text = "word " * 40_000
    assert read(tmp_path, f"video_name,output_text\na,{text}\n".encode())[0][1] == text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "answers.csv: is empty"),
        (b"\xef\xbb\xbf\r\n", "answers.csv: is empty"),
        (b"video_name,output_text\n", "has a head and no rows"),
        (b"name,text\na,b\n", "no column video_name and no column output_text"),
        (b"video_name,output_text\na,x, y\n", "answers.csv:2: 3 cells, and 2 columns"),
        (b'video_name,output_text\na,"x\n', "answers.csv:2: not CSV"),
        (b"video_name,output_text\na,\xe9t\xe9\n", "answers.csv:2: is not UTF-8"),
        (b"video_name,output_text,output_text\na,b,c\n", "column 'output_text' is there twice"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, data)
    assert why in caught.value.message
    assert "\n" not in caught.value.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_table(tmp_path / "nowhere.csv", COLUMNS)
