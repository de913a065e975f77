"""A run as CSV and Parquet: every planned turn has its row, with the types that are promised."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from simulator.cli.main import app
from simulator.errors import InputError, MissingExtra
from simulator.report.tables import COLUMNS, tables, write_csv, write_parquet


def test_every_planned_turn_is_a_row(run_folder: Path) -> None:
    found = tables(run_folder)
    assert {name: len(rows) for name, rows in found.items()} == {
        "turns": 36,
        "attempts": 9,
        "scores": 36,
    }
    for name, rows in found.items():
        for row in rows:
            assert list(row) == list(COLUMNS[name])
            for column, value in row.items():
                assert value is None or isinstance(value, COLUMNS[name][column]), (column, value)
    late = next(r for r in found["turns"] if (r["agent"], r["turn"]) == ("late", "left"))
    assert (late["score"], late["content"], late["late"]) == (0.0, 1.0, True)
    broken = [r for r in found["turns"] if r["agent"] == "broken"]
    assert {r["latency_s"] for r in broken} == {None}, "what cannot be trusted is no number"
    never = [r for r in found["turns"] if r["agent"] == "never"]
    assert {r["state"] for r in never} == {"missing"}


def test_csv_and_parquet_say_the_same(run_folder: Path, tmp_path: Path) -> None:
    write_csv(run_folder, tmp_path / "c")
    write_parquet(run_folder, tmp_path / "p")
    for name in COLUMNS:
        table = pq.read_table(tmp_path / "p" / f"{name}.parquet")
        with (tmp_path / "c" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        assert [str(f) for f in table.schema.names] == list(COLUMNS[name])
        said = [{k: "" if v is None else str(v) for k, v in r.items()} for r in table.to_pylist()]
        assert said == lines
    assert table.schema.field("mean").type == pa.float64()


def test_command(run_folder: Path, tmp_path: Path) -> None:
    words = ["report", str(run_folder), "--csv", str(tmp_path / "c"), "--parquet", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1, "not all of this run was scored"
    assert (tmp_path / "c" / "turns.csv").is_file()
    assert (tmp_path / "scores.parquet").is_file()


def test_what_cannot_be_written(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write to"):
        write_csv(run_folder, tmp_path / "file")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'omnistage\[parquet\]'"):
        write_parquet(run_folder, tmp_path / "p")
