"""Where onsets are said to be, and how surely, against where they truly are: a row a kind.

Real voices are cut where a word begins and laid out as replies, with what servers, paths and
microphones do to them (`onset_cases`): the truth is known to the sample. `heard` is held against
the arrival of the packet that holds the onset plus its offset in it (where that was lost, the first
that came), `sent` against the sender's own times. Each voice is encoded once for all kinds that
differ in transport only. The figures that count are of voices held out, by which nothing was tuned;
without OMNISTAGE_MEDIA the instructions that are bundled are scored.

    python -m tests.bench.bench_onset [--json] [--quick] [--only KIND,...] [--voices SET,...]

SET: development, held-out, bundled.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simulator.measuring.reply import UTTERANCE_GAP
from simulator.measuring.sound import Sound
from simulator.measuring.trace import Speech
from simulator.measuring.utterances import join
from tests.bench.onset_cases import CARRIED, Track, log, replies, sequences, track, voices, way

REPLIES, QUICK = 210, 72
"""Replies a kind."""
NEAR = 1.2
"""Seconds by which what is found may be off and be the reply's; beyond, it counts as withheld."""
HEADS = ("kind", "n", "bias_ms", "p95_ms", "inside", "half_ms", "withheld", "sent_p95_ms")


def figures(
    kind: str, results: Sequence[tuple[list[tuple[float, float]], list[Speech]]]
) -> dict[str, Any]:
    """A row: `results` are what is true and what was found, voice by voice."""
    errors, sent, halves, count = [], [], [], 0
    for truths, runs in results:
        starts = np.array([r.start for r in runs])
        for heard, wire in truths:
            count += 1
            if not len(starts):
                continue
            k = int(np.argmin(np.abs(starts - heard)))
            if abs(starts[k] - heard) < NEAR:
                errors.append(starts[k] - heard)
                halves.append(runs[k].uncertainty)
                placed = runs[k].sent
                sent.append((starts[k] if placed is None else placed) - wire)
    e, h, s = (1000 * np.array(v or [np.nan]) for v in (errors, halves, sent))
    return {
        "kind": kind,
        "n": count,
        "bias_ms": round(float(e.mean()), 2),
        "p95_ms": round(float(np.percentile(np.abs(e), 95)), 2),
        "inside": round(float((np.abs(e) <= h + 1e-6).mean()), 3),
        "half_ms": round(float(np.median(h)), 2),
        "withheld": round(1 - len(errors) / count, 3),
        "sent_p95_ms": round(float(np.percentile(np.abs(s), 95)), 2),
    }


def bench(
    names: str, count: int, kinds: Sequence[str], show: Callable[[dict[str, Any]], None]
) -> list[dict[str, Any]]:
    """A row a kind, of the voices of a set."""
    found = voices(names, os.environ.get("OMNISTAGE_MEDIA", "").split(os.pathsep)[0])
    clean: dict[str, Track] = {}
    rows = []
    for kind in kinds:
        results = []
        for number, voice in enumerate(found):
            if not (voice.soft if kind.startswith("soft") else voice.strong):
                continue
            rng = np.random.default_rng(number)
            each = -(-count // len(found))
            if kind in CARRIED or kind == "clean":
                if voice.name not in clean:
                    clean[voice.name] = track(voice, "clean", each, rng)
                said = clean[voice.name]
            else:
                said = track(voice, kind, each, rng)
            how = way(kind, said, np.random.default_rng(50 + number))
            runs = list(join(Sound(log(said, how)).islands(), UTTERANCE_GAP))
            results.append((replies(said, how), runs))
        rows.append({"voices": names, **figures(kind, results)})
        show(rows[-1])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="kinds whose names hold one of these")
    media = os.environ.get("OMNISTAGE_MEDIA")
    parser.add_argument("--voices", default="development,held-out,bundled" if media else "bundled")
    arguments = parser.parse_args()
    began = time.perf_counter()

    def show(row: dict[str, Any]) -> None:
        if not arguments.json:
            print("".join(f"{row[h]!s:>14}" for h in HEADS), flush=True)

    rows = []
    for names in arguments.voices.split(","):
        if not arguments.json:
            print(f"{names}\n" + "".join(f"{h:>14}" for h in HEADS))
        count = QUICK if arguments.quick else REPLIES
        rows += bench(names, count, sequences(only=arguments.only), show)
    if arguments.json:
        print(json.dumps({"bench": "onset", "rows": rows}))
    else:
        print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
