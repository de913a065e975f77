"""recordings/README.md and the code say the same."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from simulator.protocol.conditions import Conditions
from simulator.protocol.tracks import OURS
from simulator.recording import rtplog
from simulator.recording.manifest import FORMAT, Manifest, TurnInfo, track_infos
from simulator.recording.message import CAP
from simulator.recording.records import FORMAT_VERSION, TYPES
from simulator.recording.redact import MARK

README = (Path(__file__).parents[2] / "recordings" / "README.md").read_text(encoding="utf-8")
EVENTS = README[README.index("## events.jsonl") : README.index("## rtp.pcap")]


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_every_event_is_specified_with_its_fields(kind: str) -> None:
    (row,) = re.findall(rf"^\| `{kind}` \|(.*)$", EVENTS, re.MULTILINE)
    fields = {f.name for f in dataclasses.fields(TYPES[kind])}
    named = set(re.findall(r"`(\w+)`", row))
    assert fields <= named | ({"ssrc"} if kind == "rtp" else set())


@pytest.mark.parametrize("cls", [Manifest, TurnInfo, Conditions])
def test_every_field_of_the_manifest_is_specified(cls: type) -> None:
    for field in dataclasses.fields(cls):
        assert f"`{field.name}`" in README, field.name


def test_the_numbers_are_the_codes() -> None:
    assert f"version {FORMAT_VERSION}" in README.splitlines()[0]
    assert f"`{FORMAT}`" in README
    assert f"{CAP:,}" in README
    assert MARK in README
    for address in (rtplog.SIMULATOR, rtplog.AGENT):
        assert ".".join(map(str, address)) in README
    ports = [track.port for track in track_infos(OURS)]
    for port in (*ports, rtplog.RTCP_PORT):
        assert f"udp.port=={port}" in README
