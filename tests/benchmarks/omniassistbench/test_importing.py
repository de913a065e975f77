"""A fake release becomes scenarios that load and can be prepared."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.benchmarks.omniassistbench.hearing import question
from simulator.benchmarks.omniassistbench.importing import import_release
from simulator.benchmarks.omniassistbench.release import read_release
from simulator.errors import InputError
from simulator.media.timeline import falls_due
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.either import Either
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.load import load_scenario
from simulator.scenario.types import Embedded, Scenario

from .conftest import RATE, Clip, speech


def imported(out: Path, name: str) -> Scenario:
    return load_scenario(out / name / f"{name}.yaml")


def test_shards(shards: Path, tmp_path: Path) -> None:
    out, clips = tmp_path / "out", tmp_path / "clips"
    done = import_release(read_release(shards), out, clips=clips)
    assert done.failed == []
    assert (done.rows, done.scenarios, done.turns) == (9, 7, 9)
    assert (done.answers, done.quiet, done.unscored) == (5, 2, 2)

    single = imported(out, "VS-q1")
    assert single.task == "II"
    assert single.turns[0].expect == Answer(
        text="Anna", accept=("the woman",), key_points=(("three",),)
    )
    (held,) = single.turns[0].instructions
    assert isinstance(held, Embedded)
    assert held.text == "How many bottles are there?"
    # One second of silence, the question, 0.3 s of silence.
    assert held.start == pytest.approx(1.0, abs=0.1)
    assert held.end == pytest.approx(single.turns[0].end - 0.3, abs=0.1)
    assert held.uncertainty == 0.1
    assert imported(out, "VS-q1.dup2").turns[0].id == "VS-q1.dup2"
    assert any("VS-q1 is there again: another content" in n for n in done.notes)

    chain = imported(out, "u5f.pro")
    assert [t.id for t in chain.turns] == [f"u5f.pro-seg{n}" for n in (1, 2, 3)]
    assert [t.expect.kind for t in chain.turns] == ["quiet", "answer", "quiet"]
    assert chain.turns[0].asked
    assert not chain.turns[1].instructions, "it was asked once"
    assert chain.turns[1].asked_in == "u5f.pro-seg1"
    assert chain.turns[1].event == chain.turns[1].end

    tracked = imported(out, "st")
    assert [t.id for t in tracked.turns] == ["example", "st-seg1"]
    assert tracked.turns[0].expect == Either()
    assert tracked.prior.steps[1:] == ("Cut", "Press")
    assert tracked.turns[1].instructions[0].text == "What is the next step?"
    expect = tracked.turns[1].expect
    assert isinstance(expect, Answer)
    assert expect.key_points == (("cut",), ("press", "push"))

    assert imported(out, "either").turns[0].expect == Either()
    assert imported(out, "meeting").turns[0].expect == Either()
    assert sum("it is in no mean" in n for n in done.notes) == 2
    (sign,) = imported(out, "signs").turns[0].instructions
    assert isinstance(sign, Embedded)
    assert sign.medium == "picture"
    assert sign.uncertainty == pytest.approx(sign.end, abs=0.01)
    assert json.loads((out / "import.json").read_text())["rows"] == 9
    assert Quiet() == imported(out, "u5f.pro").turns[2].expect


def test_an_imported_scenario_can_be_prepared(
    shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from simulator.media.cache import Cache
    from simulator.media.prepare import prepare
    from simulator.scenario.types import Canvas

    out, clips = tmp_path / "out", tmp_path / "clips"
    import_release(read_release(shards), out, clips=clips)
    monkeypatch.setenv("OMNISTAGE_MEDIA", str(clips))
    small = replace(imported(out, "VS-q1"), canvas=Canvas(width=64, height=48, fps=10))
    prepared = prepare(small, cache=Cache(tmp_path / "cache"))
    assert falls_due(prepared.turns[0]).at == pytest.approx(prepared.duration - 0.3, abs=0.1)
    monkeypatch.delenv("OMNISTAGE_MEDIA")
    with pytest.raises(InputError, match=r"once called VS-q1\.mp4"):
        prepare(small, cache=Cache(tmp_path / "cache"))


def test_labels_with_a_folder(clip: Clip, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    release = tmp_path / "release"
    (release / "videos").mkdir(parents=True)
    kept = [r for r in rows if r["example_video"] is None]
    columns = [c for c in kept[0] if not c.endswith("full_path")]
    with (release / "labels.csv").open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", delimiter=";")
        writer.writeheader()
        writer.writerows(kept)
        writer.writerow({**kept[0], "video_name": "gone"})
    for r in kept:
        (release / "videos" / f"{r['video_name']}.mp4").write_bytes(r["video_full_path"]["bytes"])
    done = import_release(read_release(release), tmp_path / "out")
    assert (done.scenarios, done.turns) == (6, 8)
    assert len(done.failed) == 1
    assert "labels.csv" in done.failed[0]
    assert "gone: there is no video of that name" in done.failed[0]
    assert imported(tmp_path / "out", "signs").clips["seg1"].named == "signs.mp4"


def test_what_is_no_release(tmp_path: Path, shards: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        list(read_release(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds neither"):
        list(read_release(tmp_path / "empty"))
    (tmp_path / "empty" / "x.parquet").write_bytes(b"PAR1 not")
    with pytest.raises(InputError, match="not a parquet file"):
        list(read_release(tmp_path / "empty"))
    with pytest.raises(InputError, match="exists and is not empty"):
        import_release([], shards)
    with pytest.raises(InputError, match="it has no rows"):
        import_release([], tmp_path / "out")


def test_the_end_of_a_question_is_heard() -> None:
    said = speech()
    sound = np.concatenate([np.zeros(RATE), said, np.zeros(RATE * 2), said, np.zeros(RATE // 2)])
    found = question(sound.astype(np.float32), 10.0, 10.0 + len(sound) / RATE)
    end = 10.0 + (len(sound) - RATE // 2) / RATE
    assert found.end == pytest.approx(end, abs=0.05)
    assert found.start == pytest.approx(end - len(said) / RATE, abs=0.1)
    assert found.uncertainty == 0.1


def test_words_that_do_not_stand_out_are_less_sure() -> None:
    said = speech()
    noise = np.random.default_rng(3).normal(0, 0.02, len(said) + 3 * RATE)
    noise[2 * RATE : 2 * RATE + len(said)] += said
    found = question(noise.astype(np.float32), 0.0, len(noise) / RATE)
    assert found.uncertainty == 1.0
    assert abs(found.end - 2.0 - len(said) / RATE) <= 1.0


def test_no_speech_is_all_uncertain() -> None:
    found = question(np.zeros(RATE, np.float32), 0.0, 1.0)
    assert (found.start, found.end, found.uncertainty) == (None, 1.0, 1.0)
