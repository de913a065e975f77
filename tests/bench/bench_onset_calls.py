"""Onsets through real calls: a peer with a truth log says them, our own end records, the recording
is measured as any is, and what is said is held against the log. A row a kind.

`heard` is held against the time at which our socket had the packet that holds the onset (the first
that came, where that one was lost), `sent` against the peer's own clock. Six calls are made at a
time: about 20 s for each six kinds.

    python -m tests.bench.bench_onset_calls [--json] [--only KIND,...] [--voices SET] [--count N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from simulator.agent import Dial
from simulator.clock import WALL
from simulator.measuring.measure import measure
from simulator.measuring.reply import UTTERANCE_GAP
from simulator.measuring.trace import Speech
from simulator.measuring.utterances import join
from simulator.protocol.tracks import AUDIO
from simulator.recording.manifest import AgentInfo, Manifest, ScenarioInfo
from simulator.recording.reader import Recording
from simulator.recording.writer import RecordingWriter
from simulator.rtc.peer import dial
from simulator.testing import prepared, quiet
from tests.bench.bench_onset import HEADS, figures
from tests.bench.onset_cases import sequences

AT_ONCE = 6
NO_CALL = ("restart",)
"""Kinds that no call can be of: SRTP lets no source count its packets anew."""
SCENARIO = prepared(quiet("calls", 1.0)).scenario


@contextmanager
def peer(names: str, kinds: Sequence[str], count: int) -> Iterator[str]:
    """Start it with these kinds; yields its address."""
    media = os.environ.get("OMNISTAGE_MEDIA", "").split(os.pathsep)[0]
    command = [sys.executable, "-m", "tests.bench.onset_peer", "--voices", names]
    command += ["--media", media, "--count", str(count), *kinds]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()


@dataclass
class Called:
    """What became of a call."""

    folder: Path
    origin: float
    log: dict[str, Any]


async def call(url: str, folder: Path) -> Called:
    manifest = Manifest(
        scenario=ScenarioInfo(id=SCENARIO.id, sha256=""), agent=AgentInfo(reference="onset-peer")
    )
    origin = WALL.now()
    with RecordingWriter(folder, manifest) as writer:
        async with (
            aiohttp.ClientSession() as http,
            dial(Dial(url=url), clock=WALL, origin=origin, tap=writer),
            http.get(f"{url}/log") as told,
        ):
            log = await told.json()
            await WALL.sleep(0.3)
    return Called(folder, origin, log)


def measured(made: Called) -> tuple[list[tuple[float, float]], list[Speech]]:
    """When each onset could truly be heard, and was sent, and what the product says."""
    recording = Recording.open(made.folder)
    came = recording.received(AUDIO.id)
    truths = []
    for onset in made.log["onsets"]:
        mine = (came.seq == onset["number"]) & (came.rtp == onset["stamp"])
        sent = onset["sent"] - made.origin
        if mine.any():
            heard = float(came.t[mine][0])
        else:
            later = came.t[came.t > sent]
            heard = float(later[0]) if len(later) else sent
        truths.append((max(heard, sent - onset["into"]) + onset["into"], sent))
    return truths, list(join(measure(recording, SCENARIO).speech, UTTERANCE_GAP))


async def bench(names: str, kinds: Sequence[str], count: int, folder: Path) -> list[dict[str, Any]]:
    rows = []
    for begin in range(0, len(kinds), AT_ONCE):
        some = kinds[begin : begin + AT_ONCE]
        with peer(names, some, count) as url:
            async with asyncio.TaskGroup() as calls:
                made = [
                    calls.create_task(call(f"{url}/{n}", folder / f"{begin + n}"))
                    for n in range(len(some))
                ]
        for kind, task in zip(some, made, strict=True):
            rows.append({"voices": names, **figures(kind, [measured(task.result())])})
            print("".join(f"{rows[-1][h]!s:>14}" for h in HEADS), file=sys.stderr, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", help="kinds whose names hold one of these")
    media = os.environ.get("OMNISTAGE_MEDIA")
    parser.add_argument("--voices", default="held-out" if media else "bundled")
    parser.add_argument("--count", type=int, default=4, help="onsets a kind")
    arguments = parser.parse_args()
    print("".join(f"{h:>14}" for h in HEADS), file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        kinds = [k for k in sequences(only=arguments.only) if k not in NO_CALL]
        rows = asyncio.run(bench(arguments.voices, kinds, arguments.count, Path(folder)))
    if arguments.json:
        print(json.dumps({"bench": "onset_calls", "rows": rows}))


if __name__ == "__main__":
    main()
