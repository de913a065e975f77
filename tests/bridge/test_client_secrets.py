"""Client secrets: minted, shown, forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.bridge.client_secrets import LIMIT, LIVES_FOR, ClientSecrets, lifetime
from simulator.bridge.refusal import Refusal
from simulator.clock import ManualClock, unix_now


async def test_one_opens_calls_until_it_expires() -> None:
    clock = ManualClock(50.0)
    secrets = ClientSecrets(clock)
    first, other = (secrets.mint({"instructions": i}, 10 * (n + 1)) for n, i in enumerate("ab"))
    assert first.value.startswith("ek_")
    assert len(first.value) > 30
    assert first.expires_at - unix_now() == pytest.approx(10, abs=1)
    assert secrets.settings("ek_no") is None
    for _ in range(2):
        assert secrets.settings(first.value) == {"instructions": "a"}
    await clock.advance(9.9)
    assert secrets.settings(first.value) is not None
    await clock.advance(0.2)
    assert secrets.settings(first.value) is None
    assert secrets.settings(other.value) == {"instructions": "b"}


async def test_there_are_so_many_and_those_that_expired_make_room() -> None:
    clock = ManualClock()
    secrets = ClientSecrets(clock)
    for _ in range(LIMIT):
        secrets.mint({}, 10)
    with pytest.raises(Refusal, match="have not expired") as refused:
        secrets.mint({}, 10)
    assert refused.value.status == 429
    await clock.advance(10)
    secrets.mint({}, 10)
    assert len(secrets._kept) == 1


async def test_no_secret_is_kept_as_it_is() -> None:
    secrets = ClientSecrets(ManualClock())
    value = secrets.mint({}).value
    assert value not in repr(vars(secrets))


def test_how_long_one_lives() -> None:
    assert lifetime(None) == LIVES_FOR
    assert lifetime({"anchor": "created_at"}) == LIVES_FOR
    assert lifetime({"anchor": "created_at", "seconds": 7200}) == 7200


@pytest.mark.parametrize("seconds", [9, 7201, 60.0, "60", True, None])
def test_a_lifetime_that_cannot_be_had_is_refused(seconds: Any) -> None:
    with pytest.raises(Refusal, match="from 10 to 7200"):
        lifetime({"seconds": seconds})
