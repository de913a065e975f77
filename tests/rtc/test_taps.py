"""The hooks on aiortc's private names: each must still exist, and what is gone must be told."""

from __future__ import annotations

import pytest
from aioice import ice

from simulator.protocol.rtcp import is_rtcp
from simulator.rtc import taps


async def test_every_private_name_still_exists() -> None:
    assert await taps.find_missing_names() == ()


def test_a_name_that_is_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {**taps.PRIVATE, "RTCRtpReceiver": ("_handle_disconnect", "_never_there")}
    monkeypatch.setattr(taps, "PRIVATE", names)
    assert taps.missing_names() == ("RTCRtpReceiver._never_there",)


async def test_a_host_without_an_address_lacks_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ice, "get_host_addresses", lambda *_, **__: [])
    assert await taps.find_missing_names() == ()


@pytest.mark.parametrize(("second", "rtcp"), [(200, True), (206, True), (96, False), (224, False)])
def test_rtcp_is_told_from_rtp(second: int, rtcp: bool) -> None:
    assert is_rtcp(bytes([0x80, second, 0, 0])) is rtcp
