"""What a caller's HTTP request says: the offer of a call, with the settings that come with it.

    Content-Type: application/sdp       the body is the offer; `?model=` names a model
    Content-Type: multipart/form-data   `sdp` is the offer, `session` (JSON) the settings

Counterparts: `simulator.bridge.host` answers, `simulator.bridge.settings` says what can be set.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web

from simulator.bridge.refusal import Refusal, decoded
from simulator.bridge.settings import Settings, checked, merged, parsed

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """An offer as it came."""

    sdp: str
    settings: Settings


async def read_offer(request: web.Request) -> Offer:
    """The offer in a request. Raises Refusal."""
    named = request.query.get("model")
    settings = checked({} if named is None else {"model": named})
    if request.content_type == "application/sdp":
        return Offer(sdp=await _text(request), settings=settings)
    if request.content_type != "multipart/form-data":
        words = f"{request.content_type} is not served here: send application/sdp or a form"
        raise Refusal("unsupported_content_type", words, status=415)
    form = await _form(request)
    sdp, session = form.pop("sdp", None), form.pop("session", None)
    if sdp is None:
        raise Refusal("missing_sdp", "the form has no part called sdp", "sdp")
    if form:
        name = next(iter(form))
        raise Refusal("unknown_parameter", f"the form has a part {name[:60]!r}: none is so called")
    if session is not None:
        settings = merged(settings, parsed(session))
    return Offer(sdp=sdp, settings=settings)


async def read_body(request: web.Request) -> Mapping[str, Any]:
    """The JSON object in a request; one without a body says nothing. Raises Refusal."""
    text = await _text(request)
    body = decoded(text, "the body") if text else {}
    if not isinstance(body, dict):
        raise Refusal("invalid_type", "the body has to be a JSON object")
    return body


async def _text(request: web.Request) -> str:
    return await _read(request.text(), "invalid_encoding", "the body")


async def _form(request: web.Request) -> dict[str, str]:
    """The parts of a form, as text; each has a name of its own."""
    parts = list((await _read(request.post(), "invalid_form", "the form")).items())
    form: dict[str, str] = {}
    for name, part in parts:
        if name in form:
            raise Refusal("invalid_form", f"the form has two parts {name[:60]!r}", name)
        # A part with a file name comes as a file, one with a content type as bytes.
        said = part.file.read() if isinstance(part, web.FileField) else part
        form[name] = said if isinstance(said, str) else bytes(said).decode("utf-8", "replace")
    return form


async def _read(reading: Awaitable[_T], code: str, what: str) -> _T:
    """What aiohttp reads of a request. Raises Refusal."""
    try:
        return await reading
    except web.HTTPException:
        raise  # it is too large
    # There is no end to what encodings, compressions and parts make the readers stumble over.
    except Exception as error:  # noqa: BLE001
        words = getattr(error, "message", "") or error
        raise Refusal(code, f"{what} cannot be read: {words}") from None
