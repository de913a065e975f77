"""Answers calls: the HTTP endpoint of the openai dialect, and one WebRTC connection a caller.

    POST   /v1/realtime/calls               an offer (application/sdp, or a form with `sdp` and
                                            `session`) -> 201, the answer, Location of the call
    POST   /v1/realtime?model=...           the same, as it was before
    POST   /v1/realtime/calls/{id}/hangup   -> 200
    DELETE /v1/realtime/calls/{id}          -> 200
    POST   /v1/realtime/client_secrets      -> a client secret for a session's settings
    POST   /v1/realtime/sessions            the same, as it was before

Every request needs the token as `Authorization: Bearer ...`, or, to open a call, a client secret;
one from a page in a browser is of an origin that is allowed. Errors have the API's JSON shape. Many
calls run at once in one event loop, each in a task group of its own: what breaks one leaves the
others alone. Counterparts: `simulator.bridge.offer` reads requests, `simulator.bridge.connection`
is the WebRTC of each call, `simulator.bridge.call` what the agent gets of it, `simulator.rtc.peer`
who calls.
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
from simulator.bridge.client_secrets import OLDER_LIVES_FOR, ClientSecrets, lifetime
from simulator.bridge.connection import Connection
from simulator.bridge.offer import read_body, read_offer
from simulator.bridge.origins import Origins
from simulator.bridge.refusal import Refusal
from simulator.bridge.settings import Settings, checked, defaults, from_older, merged
from simulator.clock import WALL, Clock

ROOT = "/v1/realtime"
PATH = f"{ROOT}/calls"
OFFER_LIMIT = 256 * 1024
"""Bytes of a request."""
CONNECT_WITHIN = 30.0
"""Seconds in which a caller has to get through after its offer was answered."""
TOLD = 100
"""Origins that the log names as refused, once each."""


class _Over(Exception):
    """The call is over."""


class Host:
    """A server of calls for one responder. Use it as `async with Host(...).listen() as url:`."""

    def __init__(
        self,
        responder: Responder,
        *,
        token: str | None = None,
        origins: Origins | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self._responder = responder
        self._origins = origins or Origins()
        self._clock = clock or WALL
        self._secrets = ClientSecrets(self._clock)
        self._refused: set[str] = set()
        """Origins that the log has named."""
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
        app.router.add_post(ROOT, self._offered)
        app.router.add_post(PATH + "/{id}/hangup", self._hung_up)
        app.router.add_delete(PATH + "/{id}", self._hung_up)
        app.router.add_post(f"{ROOT}/client_secrets", self._mint)
        app.router.add_post(f"{ROOT}/sessions", self._mint_as_before)
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

    # ------------------------------------------------------------ who may ask

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: aiohttp.typedefs.Handler
    ) -> web.StreamResponse:
        """Serve what may be asked, and put every refusal into the API's shape."""
        origin = request.headers.get("Origin")
        if origin is not None and not self._origins.allow(origin):
            return self._strange(origin)
        try:
            if request.method == "OPTIONS" and origin is not None:
                asked = self._origins.preflight(origin, request.headers)
                return web.Response(status=204, headers=asked)
            self._admit(request)
            response = await handler(request)
        except Refusal as refusal:
            response = _error(refusal)
        except web.HTTPRequestEntityTooLarge:
            words = f"a request has at most {OFFER_LIMIT} bytes"
            response = _error(Refusal("request_too_large", words, status=413))
        except web.HTTPException as error:
            words = f"{request.method} {request.path}: {error}"
            response = _error(Refusal("not_found", words, status=error.status))
        if origin is not None:
            response.headers.update(self._origins.headers(origin))
        return response

    def _strange(self, origin: str) -> web.Response:
        """Refuse a page: its browser shows nobody these words, so the log has them as well."""
        words = (
            f"pages of {origin[:200]!r} may not call: start the bridge with --origin to let them"
        )
        if origin not in self._refused and len(self._refused) < TOLD:
            self._refused.add(origin)
            print(words, file=sys.stderr)
        return _error(Refusal("origin_not_allowed", words, status=403))

    def _admit(self, request: web.Request) -> None:
        """Let in who has the token, or a client secret where that is enough. Raises Refusal."""
        given = _bearer(request)
        if hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self.token.encode()):
            return
        if self._secrets.settings(given) is None:
            words = "the token is missing or wrong, or the client secret has expired"
            raise Refusal("invalid_api_key", words, status=401)
        if request.path not in (PATH, ROOT):
            words = "a client secret opens calls, and nothing else: use the token"
            raise Refusal("insufficient_permissions", words, status=403)

    # ------------------------------------------------------------ what is asked

    async def _offered(self, request: web.Request) -> web.Response:
        bound = self._secrets.settings(_bearer(request)) or {}
        offer = await read_offer(request)
        settings = merged(bound, offer.settings)
        connection = Connection(f"call_{secrets.token_hex(6)}", self._clock, settings)
        try:
            answer = await connection.answer(offer.sdp)
        except Refusal:
            await connection.close()
            raise
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
            raise Refusal("call_id_not_found", "there is no such call", status=404)
        connection.end()
        return web.json_response({})

    async def _mint(self, request: web.Request) -> web.Response:
        body = await read_body(request)
        settings = checked(body.get("session", {}))
        secret = self._secrets.mint(settings, lifetime(body.get("expires_after")))
        return web.json_response(
            {
                "value": secret.value,
                "expires_at": secret.expires_at,
                "session": _session(settings),
            }
        )

    async def _mint_as_before(self, request: web.Request) -> web.Response:
        settings = checked(from_older(await read_body(request)))
        secret = self._secrets.mint(settings, OLDER_LIVES_FOR)
        shown = {"value": secret.value, "expires_at": secret.expires_at}
        return web.json_response(_session(settings) | {"client_secret": shown})

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


def _bearer(request: web.Request) -> str:
    """What a request shows for itself."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def _session(settings: Settings) -> Settings:
    """The session that calls with these settings begin with."""
    return merged(defaults(f"sess_{secrets.token_hex(6)}"), settings)


def _error(refusal: Refusal) -> web.Response:
    return web.json_response({"error": refusal.body}, status=refusal.status)
