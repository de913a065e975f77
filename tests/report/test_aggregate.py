"""Our aggregation on the published tables: what it reproduces, and what comes out where not.

`published.json` has the figures with their sources.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.report.aggregate import POINTS, ScoreTable, TaskUnit, aggregate
from simulator.report.statistics import weighted_mean
from simulator.scenario.taxonomy import TASKS

PUBLISHED: dict[str, Any] = json.loads((Path(__file__).parent / "published.json").read_text())
OAB, GAME, TUNA = (PUBLISHED[k] for k in ("omniassistbench", "gameplayqa", "tuna"))
MODELS = list(OAB["percent"])
NO_GOLD = "no right answer"
"""Two turns of the real cases (meeting-seg6, handcraft-seg4) have none."""
MAJORS = {
    "social": "social perception",
    "temporal": "temporal perception",
    "referential": "referential perception",
    "nonaudio": "non-audio prompt following",
    "proactive": "proactive response",
    "process": "process tracking",
}


def table_of(model: str) -> ScoreTable:
    """687 turns that score what the model's published sub-task means say, aggregated by us."""
    units = []
    for task, turns in OAB["turns"].items():
        cases = OAB["cases"][task]
        for n in range(turns):
            units.append(
                TaskUnit(
                    score=OAB["raw0to5"][model][task] / POINTS,
                    scenario=(task, n % cases),
                    turn=n,
                    task=task,
                    excluded=NO_GOLD if task == "RC" and n < 2 else "",
                )
            )
    return aggregate(units)


TABLES = {m: table_of(m) for m in ("Gemini-3-Pro", "Doubao-Seed-2.0-lite")}


def test_the_release_is_687_turns_of_which_685_are_scored() -> None:
    table = TABLES["Gemini-3-Pro"]
    assert sum(OAB["turns"].values()) == 687
    assert sum(OAB["cases"].values()) == 300
    assert table.excluded == {NO_GOLD: 2}
    assert table.overall.planned == table.overall.scored == 685
    assert table.by_task["RC"].planned == 45
    assert list(table.by_task) == [t for t in TASKS if t in OAB["turns"]]
    assert [table.by_tier[t].planned for t in ("basic", "advanced", "real")] == [241, 399, 45]
    assert table.by_major["process tracking"].planned == 246
    majors = [s.planned for s in table.by_major.values()]
    assert majors == [69, 47, 49, 76, 20, 133, 246, 45]
    # The site's 685 is another one: 67 + 47 + 49 + 76 + 20 + 133 + 246 + 47, without the two
    # duplicate rows and before the exclusions.
    assert sum(majors) == 685


@pytest.mark.parametrize("model", MODELS)
def test_overall_is_reproduced_within_a_fifth_of_a_point(model: str) -> None:
    """Turn-weighted over sub-task means that are rounded to 2 decimals of 5."""
    raw = OAB["raw0to5"][model]
    turns = {**OAB["turns"], "RC": OAB["turns"]["RC"] - 2}
    ours = 20 * weighted_mean([raw[t] for t in turns], [turns[t] for t in turns])
    assert ours == pytest.approx(OAB["percent"][model]["overall"], abs=0.205)
    if model in TABLES:
        assert TABLES[model].overall.mean == pytest.approx(ours)


@pytest.mark.parametrize("model", MODELS)
def test_percent_is_twenty_times_the_points(model: str) -> None:
    """3.32 of 5 is 66.4, exactly; Doubao's table has been rounded in another way."""
    off = [
        task
        for task, points in OAB["raw0to5"][model].items()
        if task != "RC" and abs(20 * points - OAB["percent"][model][task]) > 1e-6
    ]
    if model == "Doubao-Seed-2.0-lite":
        assert off, "it has been corrected: take the exception out"
        assert all(
            abs(20 * OAB["raw0to5"][model][t] - OAB["percent"][model][t]) <= 0.1 + 1e-6 for t in off
        )
    else:
        assert off == []


@pytest.mark.parametrize("model", MODELS)
def test_tiers_and_majors_are_turn_weighted(model: str) -> None:
    """Within 0.2, but for the cells named in NOT_REPRODUCED, where this is what comes out."""
    percent, raw = OAB["percent"][model], OAB["raw0to5"][model]
    found: dict[str, float] = {}
    for shown, group in (*MAJORS.items(), ("basic", "basic"), ("advanced", "advanced")):
        own = [t for t in TASKS if group in (TASKS[t].major, TASKS[t].tier)]
        ours = 20 * weighted_mean([raw[t] for t in own], [OAB["turns"][t] for t in own])
        if abs(ours - percent[shown]) > 0.205:
            found[shown] = round(ours, 1)
    assert found == NOT_REPRODUCED.get(model, {})


NOT_REPRODUCED: dict[str, dict[str, float]] = {
    "Gemini-3-Pro": {"proactive": 57.7, "advanced": 67.6},
    "Gemini-2.5-Pro": {"proactive": 54.2, "advanced": 66.2},
    "MiMo-V2-Omni": {"nonaudio": 34.2, "proactive": 43.1},
    "Baichuan-Omni-1.5": {"proactive": 52.4},
    "Qwen2.5-Omni": {"proactive": 51.5, "advanced": 46.8},
    "MiniCPM-o-2.6": {"proactive": 37.1},
    "VITA-1.5": {"proactive": 29.3},
}
"""What comes out with the release's counts. The proactive cells of these seven models (and no
others') fit 70 SER and 63 MER turns; the release has 64 and 69."""


CLOSED = (
    "Gemini-3-Pro",
    "Gemini-2.5-Pro",
    "Doubao-Seed-2.0-lite",
    "MiMo-V2-Omni",
    "Qwen3.5-Omni-Plus",
)


def test_real_cases_of_closed_and_open_models() -> None:
    """Said elsewhere to be 51.2 and 34.8; the published table gives 48.0 and 37.9."""
    real = {m: OAB["percent"][m]["real"] for m in MODELS}
    closed = weighted_mean([real[m] for m in CLOSED], [1.0] * 5)
    opened = weighted_mean([v for m, v in real.items() if m not in CLOSED], [1.0] * 6)
    assert (round(closed, 1), round(opened, 1)) == (48.0, 37.9)


# ------------------------------------------------------------------ GameplayQA


def test_gameplayqa_density_and_shares_of_labels() -> None:
    labels = GAME["labels"]
    total = sum(labels.values())
    assert total == 2709
    assert round(total / GAME["seconds"], 4) == 1.2206
    shares = [round(100 * n / total, 1) for n in labels.values()]
    assert shares == [24.3, 26.9, 5.9, 7.0, 15.4, 20.5]


def weighted_game(model: str) -> float:
    cells = GAME["accuracy"][model]
    asked = GAME["questions"]
    return weighted_mean([cells[c] for c in asked], list(asked.values()))


def test_gameplayqa_is_question_weighted() -> None:
    models = [m for m in GAME["accuracy"] if m not in ("Human", "All Models")]
    assert len(models) == 16
    off = {
        m: (GAME["accuracy"][m]["all"], round(weighted_game(m), 1))
        for m in models
        if abs(weighted_game(m) - GAME["accuracy"][m]["all"]) > 0.1
    }
    # Known inconsistencies of the paper's table: (printed, what comes out of its own cells).
    assert off == {"Gemini 2.5 Pro": (71.3, 72.4), "Seed 1.6 Flash": (56.5, 55.8)}
    # People answered 120 questions of another mixture than the whole.
    assert round(weighted_game("Human"), 1) == 82.2
    assert GAME["accuracy"]["Human"]["all"] == 80.5


LEVELS = {
    "L1": ("ActRec", "StaRec", "ObjRec", "EvtRec", "SOC"),
    "L2": ("X-Ent", "TsRef", "TimLoc", "AbsRec", "OccCnt", "Order", "Intent"),
    "L3": ("SyncRef", "X-VOrd", "POV-ID"),
}


@pytest.mark.parametrize(
    ("level", "printed", "weighted"), [("L1", 61.2, 62.9), ("L2", 56.0, 57.0), ("L3", 49.4, 51.3)]
)
def test_gameplayqa_levels_are_plain_means_of_categories(
    level: str, printed: float, weighted: float
) -> None:
    """Not question-weighted, unlike its overall: both come out as stated."""
    cells = GAME["accuracy"]["All Models"]
    own = LEVELS[level]
    plain = weighted_mean([cells[c] for c in own], [1.0] * len(own))
    assert plain == pytest.approx(printed, abs=0.06)
    models = [c for m, c in GAME["accuracy"].items() if m not in ("Human", "All Models")]
    each = [weighted_mean([m[c] for c in own], [1.0] * len(own)) for m in models]
    assert sum(each) / len(each) == pytest.approx(printed, abs=0.06)
    counted = weighted_mean([cells[c] for c in own], [GAME["questions"][c] for c in own])
    assert counted == pytest.approx(weighted, abs=0.06)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("full", 62.67), ("no_video", 29.41), ("random_frame", 41.72), ("shuffled", 54.86)],
)
def test_gameplayqa_ablation_is_level_weighted(kind: str, value: float) -> None:
    printed, *levels = GAME["ablation_gpt5mini"][kind]
    sizes = [sum(GAME["questions"][c] for c in own) for own in LEVELS.values()]
    assert sizes == [469, 1383, 513]
    ours = weighted_mean(levels, sizes)
    assert ours == pytest.approx(value, abs=0.01)
    assert ours == pytest.approx(printed, abs=0.1)


# ------------------------------------------------------------------ TUNA


def test_tuna_choice_questions_are_count_weighted() -> None:
    asked = TUNA["mcq_questions"]
    assert sum(asked.values()) == 1432
    differences = {
        m: abs(round(weighted_mean([c[t] for t in asked], list(asked.values())), 1) - c["Overall"])
        for m, c in TUNA["mcq"].items()
    }
    assert len(differences) == 17
    assert {m for m, d in differences.items() if d > 0.051} == {
        "LongVA-7B",
        "Tarsier-7B",
        "Tarsier-34B",
    }
    assert max(differences.values()) <= 0.2


def test_tuna_f1_is_a_mean_over_clips_not_the_f1_of_means() -> None:
    precision, recall, printed = TUNA["gpt4o_prf"]["Overall"]
    of_means = 2 * precision * recall / (precision + recall)
    assert round(of_means, 1) == 59.5
    assert printed == 58.5


# ------------------------------------------------------------------ what nobody can reproduce


def test_fits_seventy_and_sixty_three() -> None:
    """The explanation given for NOT_REPRODUCED."""
    for model in NOT_REPRODUCED:
        raw = OAB["raw0to5"][model]
        ours = 20 * weighted_mean([raw["SER"], raw["MER"]], [70, 63])
        assert ours == pytest.approx(OAB["percent"][model]["proactive"], abs=0.155)


def test_levels_follow_turns_not_tasks() -> None:
    """A sub-task of three turns outweighs one of a single turn; what is missing stays in sight."""
    units = [
        TaskUnit(score=1.0, scenario=n, turn="t", task="SER" if n else "MER") for n in range(4)
    ]
    units += [TaskUnit(score=0.0, scenario=9, turn="t", task="MER")]
    units += [TaskUnit(score=None, scenario=10, turn="t", task="odd")]
    table = aggregate(units)
    assert table.by_major["proactive response"].mean == pytest.approx(80.0)
    assert (table.by_task["SER"].mean, table.by_task["MER"].mean) == (100.0, 50.0)
    assert (table.overall.planned, table.overall.scored) == (6, 5)
    assert table.by_tier["odd"].mean is None
