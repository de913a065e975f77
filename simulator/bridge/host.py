"""Answers calls: the HTTP endpoint of the openai dialect, and one WebRTC connection a caller.

    POST   /v1/realtime/calls               an offer (application/sdp, or multipart with `sdp`)
                                            -> 201, the answer, Location of the call
    POST   /v1/realtime/calls/{id}/hangup   -> 200
    DELETE /v1/realtime/calls/{id}          -> 200

Every request needs the token as `Authorization: Bearer ...`; errors have the API's JSON shape. Many
calls run at once in one event loop, each in a task group of its own: what breaks one leaves the
others alone. Counterparts: `simulator.bridge.call` is what the agent gets of each,
`simulator.rtc.peer` is who calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import re
import secrets
import sys
import traceback
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any

import aiohttp
from aiohttp import web
from aiortc import (
    RTCConfiguration,
    RTCDataChannel,
    RTCPeerConnection,
    RTCRtpSender,
    RTCSessionDescription,
)

from simulator.bridge.call import Call, Responder
from simulator.bridge.hearing import Hearing
from simulator.bridge.seeing import Seeing
from simulator.bridge.speaking import Speaking
from simulator.bridge.vad import Edge
from simulator.clock import WALL, Clock
from simulator.protocol.tap import NullTap
from simulator.protocol.tracks import Kind
from simulator.rtc.taps import hook, tracks_of

PATH = "/v1/realtime/calls"
OFFER_LIMIT = 256 * 1024
"""Bytes of a request."""
CONNECT_WITHIN = 30.0
"""Seconds in which a caller has to get through after its offer was answered."""
CLOSE_WITHIN = 5.0
"""Seconds that closing a connection may take; aiortc can hang there."""
_SEND_TIME = re.compile(r"^a=extmap:[^\n]*abs-send-time[^\n]*\n", re.MULTILINE)
"""The RTP extension from which aiortc estimates bandwidth. That costs more than all else on a call,
for callers whose video is encoded already; so it is not accepted."""
PRIVATE: Mapping[str, tuple[str, ...]] = {
    "RTCRtpTransceiver": ("_codecs",),
    "RTCRtpReceiver": ("_send_rtcp_pli",),
}
"""Names of aiortc that this module reads; a test holds that each exists."""


class _Over(Exception):
    """The call is over."""


class Host:
    """A server of calls for one responder. Use it as `async with Host(...).listen() as url:`."""

    def __init__(
        self,
        responder: Responder,
        *,
        token: str | None = None,
        clock: Clock | None = None,
        model: str = "",
    ) -> None:
        self.token = secrets.token_urlsafe(24) if token is None else token
        self._responder = responder
        self._clock = clock or WALL
        self._model = model
        self._connections: dict[str, _Connection] = {}
        self._serving: set[asyncio.Task[None]] = set()
        """One for each call; `listen` waits for them."""

    @property
    def calls(self) -> int:
        """How many calls there are now."""
        return len(self._connections)

    @contextlib.asynccontextmanager
    async def listen(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve; yields the endpoint's URL. Raises OSError if the port cannot be had."""
        app = web.Application(client_max_size=OFFER_LIMIT, middlewares=[self._guard])
        app.router.add_post(PATH, self._offered)
        app.router.add_post(PATH + "/{id}/hangup", self._hung_up)
        app.router.add_delete(PATH + "/{id}", self._hung_up)
        runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            bound = runner.addresses[0][1]
            shown = f"[{host}]" if ":" in host else host
            yield f"http://{shown}:{bound}{PATH}"
        finally:
            await runner.cleanup()
            for connection in self._connections.values():
                connection.end()
            await asyncio.gather(*self._serving)

    # ------------------------------------------------------------ HTTP

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: aiohttp.typedefs.Handler
    ) -> web.StreamResponse:
        given = request.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
            return _error(401, "invalid_api_key", "the token is missing or wrong")
        try:
            return await handler(request)
        except web.HTTPRequestEntityTooLarge:
            return _error(413, "request_too_large", f"an offer has at most {OFFER_LIMIT} bytes")
        except web.HTTPException as error:
            return _error(error.status, "not_found", f"{request.method} {request.path}: {error}")

    async def _offered(self, request: web.Request) -> web.Response:
        if request.content_type == "application/sdp":
            offer = await request.text()
        elif request.content_type == "multipart/form-data":
            try:
                form = await request.post()
            except ValueError as error:
                return _error(400, "invalid_form", f"the form cannot be read: {error}")
            part = form.get("sdp")
            if isinstance(part, web.FileField):
                part = part.file.read()
            if isinstance(part, bytes | bytearray):
                part = part.decode("utf-8", "replace")
            if not isinstance(part, str):
                return _error(400, "missing_sdp", "the form has no part called sdp")
            offer = part
        else:
            return _error(
                415,
                "unsupported_content_type",
                f"{request.content_type} is not served here: send application/sdp",
            )
        connection = _Connection(f"call_{secrets.token_hex(6)}", self._clock, self._model)
        try:
            answer = await connection.answer(offer)
        except _BadOfferError as error:
            await connection.close()
            return _error(400, "invalid_offer", str(error))
        self._connections[connection.call.id] = connection
        serving = asyncio.create_task(self._serve(connection))
        self._serving.add(serving)
        serving.add_done_callback(self._serving.discard)
        return web.Response(
            status=201,
            text=answer,
            content_type="application/sdp",
            headers={"Location": f"{PATH}/{connection.call.id}"},
        )

    async def _hung_up(self, request: web.Request) -> web.Response:
        connection = self._connections.get(request.match_info["id"])
        if connection is None:
            return _error(404, "call_id_not_found", "there is no such call")
        connection.end()
        return web.json_response({})

    # ------------------------------------------------------------ calls

    async def _serve(self, connection: _Connection) -> None:
        """Run the responder on a call until one of them ends it."""
        call = connection.call
        try:
            async with asyncio.TaskGroup() as tasks:
                connection.tasks = tasks
                tasks.create_task(_until_over(connection))
                await self._responder.call(call)
                raise _Over
        except* _Over:
            pass
        # The responder is somebody's code: whatever it raises ends this call, and no other.
        except* Exception as errors:  # noqa: BLE001
            for error in errors.exceptions:
                traceback.print_exception(error, file=sys.stderr)
            call.failed()
            await self._clock.sleep(0.05)  # lets the message leave before the connection closes
        finally:
            del self._connections[call.id]
            await connection.close()


async def _until_over(connection: _Connection) -> None:
    try:
        async with connection.call.clock.within(CONNECT_WITHIN):
            await connection.through.wait()
    except TimeoutError:
        print(f"{connection.call.id}: the caller did not get through", file=sys.stderr)
        raise _Over from None
    await connection.call.ended.wait()
    raise _Over


class _BadOfferError(Exception):
    """An offer that cannot be answered; its words go to the caller."""


class _Connection(NullTap):
    """One WebRTC connection and the call on it."""

    def __init__(self, call_id: str, clock: Clock, model: str) -> None:
        self.through = asyncio.Event()
        """Set when the caller has got through, or the call is over before that."""
        self.tasks: asyncio.TaskGroup | None = None
        """Where the call's own work runs, while it is being served."""
        self._clock = clock
        self._pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._channel: RTCDataChannel | None = None
        self._kinds: Mapping[str, Kind] = {}
        """Of the tracks that the caller sends, by name."""
        self.call = Call(
            call_id,
            clock=clock,
            hearing=Hearing(self._edge),
            seeing=Seeing(self._ask_for_keyframe),
            speaking=Speaking(clock, self._spawn),
            send=self._send,
            spawn=self._spawn,
            model=model,
        )
        self._pc.on("datachannel", self._take_channel)
        self._pc.on("connectionstatechange", self._state_changed)

    async def answer(self, offer: str) -> str:
        """Answer an offer. Raises _BadOfferError for one that cannot be."""
        try:
            plain = _SEND_TIME.sub("", offer)
            await self._pc.setRemoteDescription(RTCSessionDescription(sdp=plain, type="offer"))
        # aiortc's parser raises whatever the text made it stumble over.
        except Exception as error:  # noqa: BLE001
            raise _BadOfferError(f"the SDP cannot be read: {error}") from None
        voices = [t for t in self._pc.getTransceivers() if t.kind == "audio"]
        if not voices:
            raise _BadOfferError("the offer has no audio")
        opus = [
            c for c in RTCRtpSender.getCapabilities("audio").codecs if c.mimeType == "audio/opus"
        ]
        voices[0].setCodecPreferences(opus)
        self._pc.addTrack(self.call.speaking.track)
        tracks = tracks_of(self._pc)
        self._kinds = {track.id: track.kind for track in tracks.values()}
        hook(self._pc, self, self._clock.now, tracks=tracks)
        self.call.hearing.payload_types = frozenset(
            c.payloadType
            for c in voices[0]._codecs
            if c.mimeType.lower() == "audio/opus" and c.payloadType is not None
        )
        if not self.call.hearing.payload_types:
            raise _BadOfferError("the offer has no Opus")
        self.call.seeing.codecs = {
            c.payloadType: c
            for t in self._pc.getTransceivers()
            if t.kind == "video"
            for c in t._codecs
            if c.payloadType is not None
        }
        try:
            await self._pc.setLocalDescription(await self._pc.createAnswer())
        except Exception as error:  # noqa: BLE001
            raise _BadOfferError(f"the offer cannot be answered: {error}") from None
        return self._pc.localDescription.sdp

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        self.call.rtp(t, self._kinds[track], packet)

    def end(self) -> None:
        """The caller has gone, or has to."""
        self.through.set()
        self.call.ended.set()

    async def close(self) -> None:
        self.end()
        with contextlib.suppress(TimeoutError):
            async with self._clock.within(CLOSE_WITHIN):
                await self._pc.close()

    def _take_channel(self, channel: RTCDataChannel) -> None:
        if self._channel is not None:
            return
        self._channel = channel
        channel.on("message", self.call.receive)
        channel.on("close", self.end)
        self.call.opened()

    def _state_changed(self) -> None:
        state = self._pc.connectionState
        if state == "connected":
            self.through.set()
        elif state in ("failed", "closed"):
            self.end()

    def _send(self, message: str) -> None:
        if self._channel is not None and self._channel.readyState == "open":
            self._channel.send(message)

    def _edge(self, edge: Edge) -> None:
        self.call.edge(edge)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self.tasks is None:
            work.close()
            raise RuntimeError("the call is not being served")
        self.tasks.create_task(work)

    def _ask_for_keyframe(self, ssrc: int) -> None:
        for transceiver in self._pc.getTransceivers():
            if transceiver.kind == "video":
                self._spawn(transceiver.receiver._send_rtcp_pli(ssrc))


def _error(status: int, code: str, message: str) -> web.Response:
    """An error in the API's shape."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    body = {"error": {"type": kind, "code": code, "message": message, "param": None}}
    return web.json_response(body, status=status)
