"""Answers calls: the HTTP endpoint of the openai dialect, and one WebRTC connection a caller.

    POST   /v1/realtime/calls               an offer (application/sdp, or multipart with `sdp`)
                                            -> 201, the answer, Location of the call
    POST   /v1/realtime/calls/{id}/hangup   -> 200
    DELETE /v1/realtime/calls/{id}          -> 200

Every request needs the token as `Authorization: Bearer ...`; errors have the API's JSON shape. Many
calls run at once in one event loop, each in a task group of its own: what breaks one leaves the
others alone. Counterparts: `simulator.bridge.connection` is the WebRTC of each,
`simulator.bridge.call` what the agent gets of it, `simulator.rtc.peer` who calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import sys
import traceback
from collections.abc import AsyncIterator

import aiohttp
from aiohttp import web

from simulator.bridge.call import Responder
from simulator.bridge.connection import BadOfferError, Connection
from simulator.clock import WALL, Clock

PATH = "/v1/realtime/calls"
OFFER_LIMIT = 256 * 1024
"""Bytes of a request."""
CONNECT_WITHIN = 30.0
"""Seconds in which a caller has to get through after its offer was answered."""


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
        self._connections: dict[str, Connection] = {}
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
        connection = Connection(f"call_{secrets.token_hex(6)}", self._clock, self._model)
        try:
            answer = await connection.answer(offer)
        except BadOfferError as error:
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

    async def _serve(self, connection: Connection) -> None:
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


async def _until_over(connection: Connection) -> None:
    try:
        async with connection.call.clock.within(CONNECT_WITHIN):
            await connection.through.wait()
    except TimeoutError:
        print(f"{connection.call.id}: the caller did not get through", file=sys.stderr)
        raise _Over from None
    await connection.call.ended.wait()
    raise _Over


def _error(status: int, code: str, message: str) -> web.Response:
    """An error in the API's shape."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    body = {"error": {"type": kind, "code": code, "message": message, "param": None}}
    return web.json_response(body, status=status)
