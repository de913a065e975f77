"""What was heard beside what was said: the cut of the sound, and both verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, cast

import av
import numpy as np
import pytest

from simulator.errors import InputError
from simulator.judging.by_ear import difference, load_with_ears
from simulator.judging.heard import Listener, load_recogniser
from simulator.judging.judge import Question, Verdict, VerdictState
from simulator.judging.server import Body, JudgeServer, case_in, verdict
from simulator.judging.testing import Said, answers, question, quiet, said
from simulator.measuring.stored import load_trace
from simulator.measuring.stretch import Stretch
from simulator.measuring.trace import Speech
from simulator.protocol.samples import RATE, Mono
from simulator.scenario.load import load_recorded_scenario

RECOGNISER = """
class Table:
    name = "table"
    version = "2"
    said = ""

    def transcribe(self, samples, rate):
        if self.said == "broken":
            raise RuntimeError("no model")
        return self.said if len(samples) else "nothing at all"
"""
TURN = answers("count", "There are three.", asks="How many?")
SAMPLE = Path(__file__).parents[2] / "recordings" / "sample"
SPEECH = Path(__file__).parents[2] / "scenarios" / "demo" / "speech" / "count.flac"


class Measuring:
    """A recogniser that keeps what it was given."""

    name: ClassVar[str] = "measuring"
    version: ClassVar[str] = "1"

    def __init__(self) -> None:
        self.got: Mono = np.zeros(0, np.float32)

    def transcribe(self, samples: Mono, rate: int) -> str:
        assert rate == RATE
        self.got = samples
        return " heard \n"


def stretch(start: float, samples: Any, step: float = 1 / RATE) -> Stretch:
    places = np.arange(0, len(samples), 960)
    sent = np.asarray(start + places * step, np.float64)
    return Stretch(
        places=places, sent=sent, came=sent, seconds_per_sample=step, usual=0.0, samples=samples
    )


async def test_what_came_late_is_cut_out_where_it_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = np.repeat(np.array([0.1, 0.2], np.float32), 2 * RATE)
    monkeypatch.setattr(Listener, "_stretches", lambda *_: [stretch(10.0, sound)])
    recogniser = Measuring()
    late = Speech(start=14.5, end=15.5, sent=12.5, sent_end=13.5)
    assert await Listener(recogniser).hear(Path("nowhere"), [late]) == "heard"
    assert not np.any(np.isclose(recogniser.got, 0.1))
    assert np.sum(np.isclose(recogniser.got, 0.2)) == pytest.approx(RATE * 1.5, abs=2)


async def test_the_sound_of_the_runs_is_cut_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stretches; one run in each, with its margins, and a pause after each."""
    first, second = np.full(2 * RATE, 0.1, np.float32), np.full(RATE, 0.2, np.float32)
    monkeypatch.setattr(
        Listener, "_stretches", lambda *_: [stretch(10.0, first), stretch(20.0, second)]
    )
    recogniser = Measuring()
    runs = [Speech(start=10.5, end=11.0), Speech(start=20.1, end=25.0)]
    assert await Listener(recogniser).hear(Path("nowhere"), runs) == "heard"
    sound = recogniser.got
    assert np.sum(np.isclose(sound, 0.1)) == pytest.approx(RATE * 1.0, abs=2)
    assert np.sum(np.isclose(sound, 0.2)) == pytest.approx(RATE * 1.0, abs=2)
    assert np.sum(sound == 0) == round(0.6 * RATE)
    assert await Listener(recogniser).hear(Path("x"), [Speech(start=90, end=91)]) == ""


@pytest.mark.skipif(not SAMPLE.is_dir(), reason="there is no sample recording")
async def test_the_sound_of_a_recording_is_as_long_as_its_speech() -> None:
    trace = load_trace(SAMPLE, load_recorded_scenario(SAMPLE))
    recogniser = Measuring()
    await Listener(recogniser).hear(SAMPLE, trace.speech)
    spoken = sum(s.end - s.start for s in trace.speech)
    sounding = np.sum(np.abs(recogniser.got) > 0.01) / RATE
    assert 0.3 * spoken < sounding <= 1.2 * spoken


# ---------------------------------------------------------------- both verdicts


def _score(body: Body) -> str:
    return verdict(body, 5 if "three" in str(case_in(body)["candidate"]).lower() else 3)


@pytest.fixture
def recogniser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OMNISTAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        Listener, "_stretches", lambda *_: [stretch(0.0, np.ones(10_000, np.float32), 1 / 100)]
    )
    path = tmp_path / "table.py"
    path.write_text(RECOGNISER, encoding="utf-8")
    return str(path)


async def judged(recogniser: str, heard: str, asked: Question, **options: str) -> Verdict:
    async with JudgeServer(_score) as server:
        given = {"url": server.url, "heard": recogniser, **options}
        (judge,) = cast("Any", load_with_ears([("rubric:m", given)]))
        judge.listener.recogniser.said = heard
        async with judge:
            found: Verdict = await judge.judge(asked)
        return found


async def test_said_and_heard_are_both_kept(recogniser: str) -> None:
    asked = question(TURN, said("There are three of them."))
    found = await judged(recogniser, "There are", asked)
    assert found.score == 1.0
    heard = found.details["heard"]
    assert (heard["candidate"], heard["score"], heard["recogniser"]) == (
        "There are",
        0.6,
        "table 2",
    )
    found = await judged(recogniser, "There are", asked, by="heard")
    assert found.score == 0.6
    assert found.details["said"]["score"] == 1.0
    late = question(TURN, said("There are three of them.", at=8))
    found = await judged(recogniser, "There are", late, by="heard")
    assert (found.score, found.content) == (0.0, 0.6)


async def test_what_is_not_heard_is_no_zero(recogniser: str) -> None:
    asked = question(TURN, said("Three."))
    for heard, state, why in (
        ("", VerdictState.UNMEASURABLE, "table 2 could make out no words"),
        ("broken", VerdictState.JUDGE_FAILED, "recogniser table 2 raised RuntimeError: no model"),
    ):
        found = await judged(recogniser, heard, asked)
        assert (found.score, found.details["heard"]["state"]) == (1.0, state)
        assert why in found.details["heard"]["why"]
        found = await judged(recogniser, heard, asked, by="heard")
        assert (found.state, found.score) == (state, None)
    written = question(TURN, said("Three.", seconds=0))
    found = await judged(recogniser, "x", written)
    assert found.details["heard"]["why"] == "it made no sound"


async def test_sound_without_a_transcript_can_be_judged_by_ear(recogniser: str) -> None:
    mute = question(TURN, Said(text="", at=0.5, transcript=False))
    found = await judged(recogniser, "Three.", mute)
    assert found.state is VerdictState.UNMEASURABLE
    assert found.details["heard"]["score"] == 1.0
    found = await judged(recogniser, "Three.", mute, by="heard")
    assert found.score == 1.0
    calm = question(quiet("calm"), before=said("Hello.", at=1))
    found = await judged(recogniser, "x", calm)
    assert (found.score, "heard" in found.details) == (1.0, False)


async def test_any_judge_can_judge_by_ear(recogniser: str) -> None:
    """After a barge-in: the whole answer was generated, its beginning was heard."""
    (judge,) = cast("Any", load_with_ears([("keypoints", {})], recogniser))
    judge.listener.recogniser.said = "There are"
    cut = question(TURN, said("There are three of them."))
    found: Verdict = await judge.judge(cut)
    assert (found.score, found.details["heard"]["score"]) == (1.0, 0.0)
    assert found.details["heard"]["text"] == "There are"
    assert difference([found]) == (1.0, 0.0, 1, 1)
    missed: Verdict = await judge.judge(question(TURN))
    assert "heard" not in missed.details
    assert difference([missed]) is None
    assert judge.settings == {"heard": "table 2", "by": "said"}


async def test_the_recogniser_that_comes_with_it_hears_real_speech(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("moonshine_voice", reason="needs omnistage[recognise]")
    with av.open(str(SPEECH)) as file:
        parts = [f.to_ndarray().reshape(-1) for f in file.decode(audio=0)]
    spoken = np.repeat(np.concatenate(parts).astype(np.float32) / 32768, 2)  # it has 24 kHz
    monkeypatch.setattr(Listener, "_stretches", lambda *_: [stretch(0.0, spoken)])
    listener = Listener(load_recogniser("moonshine"))
    whole = await listener.hear(SAMPLE, [Speech(start=0, end=len(spoken) / RATE)])
    begun = await listener.hear(SAMPLE, [Speech(start=0, end=0.3)])
    assert "windows" in whole.lower()
    assert "windows" not in begun.lower()


def test_recognisers_are_named_like_other_plugins(recogniser: str) -> None:
    assert load_recogniser(recogniser).name == "table"
    with pytest.raises(InputError, match=r"no recogniser is called 'whisper' .moonshine comes"):
        load_recogniser("whisper")
    with pytest.raises(InputError, match=r"by=heard needs a recogniser .-o heard=moonshine"):
        load_with_ears([("keypoints", {"by": "heard"})])
    with pytest.raises(InputError, match="by=seen must be said or heard"):
        load_with_ears([("keypoints", {"by": "seen"})])
