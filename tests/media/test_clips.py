"""Finding clips: in the media folders, in the cache, or over the network once."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.media.clips import locate
from simulator.scenario.types import Clip

CONTENT = bytes(range(256)) * 4_000
SHA = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Server:
    """What the test server does, and what it was asked for."""

    address: str = ""
    content: bytes = CONTENT
    status: int = 200
    cut_after: int | None = None
    """Close the connection after so many bytes of a reply."""
    ranges: bool = True
    length: str | None = None
    """What it says of the length, if not the truth."""
    asked: list[str | None] = field(default_factory=list)
    """The Range header of each request."""


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            state.asked.append(wanted)
            if state.status == 302:
                self.send_response(302)
                self.send_header("Location", "http://[x/")
                self.end_headers()
                return
            if state.status != 200:
                self.send_error(state.status)
                return
            first = int(wanted[6:-1]) if wanted and state.ranges else 0
            if first >= len(state.content):
                self.send_error(416)
                return
            body = state.content[first:]
            self.send_response(206 if first else 200)
            self.send_header("Content-Length", state.length or str(len(body)))
            self.end_headers()
            self.wfile.write(body if state.cut_after is None else body[: state.cut_after])
            if state.cut_after is not None:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.address = f"http://127.0.0.1:{http.server_address[1]}/a%20clip.mp4"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield state
        http.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    monkeypatch.delenv("OMNISTAGE_MEDIA", raising=False)
    return Cache(tmp_path / "cache")


def clip(url: str, sha256: str = SHA) -> Clip:
    return Clip(name="desk", url=url, sha256=sha256, licence="CC0-1.0")


def test_a_clip_is_downloaded_once(server: Server, cache: Cache) -> None:
    told: list[tuple[str, float]] = []
    found = locate(clip(server.address), cache, lambda what, share: told.append((what, share)))
    assert found.path.read_bytes() == CONTENT
    assert found.path.name == f"{SHA}.mp4"
    assert told[-1] == (f"download {server.address}", 1.0)
    assert [s for _, s in told] == sorted(s for _, s in told)
    assert locate(clip(server.address), Cache(cache.root)).path == found.path
    assert server.asked == [None]


def test_another_hash_is_refused(server: Server, cache: Cache) -> None:
    wrong = "0" * 64
    with pytest.raises(InputError) as caught:
        locate(clip(server.address, wrong), cache)
    assert server.address in str(caught.value)
    assert SHA in str(caught.value)
    assert f"put a file with sha256 {wrong}" in caught.value.hint
    assert list(cache.clips.iterdir()) == []


def test_an_error_of_the_server(server: Server, cache: Cache) -> None:
    server.status = 404
    with pytest.raises(InputError, match="404 Not Found") as caught:
        locate(clip(server.address), cache)
    assert "OMNISTAGE_MEDIA" in caught.value.hint


def test_no_network(cache: Cache) -> None:
    with pytest.raises(InputError, match=r"http://127\.0\.0\.1:9/x\.mp4 cannot be downloaded"):
        locate(clip("http://127.0.0.1:9/x.mp4"), cache)


@pytest.mark.parametrize("ranges", [True, False])
def test_a_download_that_breaks_off_is_taken_up_again(
    server: Server, cache: Cache, ranges: bool
) -> None:
    server.cut_after = 300_000
    server.ranges = ranges
    with pytest.raises(InputError, match="broke off"):
        locate(clip(server.address), cache)
    server.cut_after = None
    server.asked.clear()
    assert locate(clip(server.address), cache).path.read_bytes() == CONTENT
    assert server.asked[0] is not None
    assert not list(cache.clips.glob("*.part"))


@pytest.mark.parametrize("kept", [b"something else" * 10, CONTENT + b"and more"])
def test_a_kept_piece_of_another_file(server: Server, cache: Cache, kept: bytes) -> None:
    cache.clips.mkdir(parents=True)
    (cache.clips / f"{SHA}.mp4.part").write_bytes(kept)
    assert locate(clip(server.address), cache).path.read_bytes() == CONTENT


def test_the_media_folders_come_first(
    server: Server, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    (second / "deep").mkdir(parents=True)
    first.mkdir()
    (first / "other.mp4").write_bytes(b"no")
    (second / "deep" / "renamed.mp4").write_bytes(CONTENT)
    monkeypatch.setenv("OMNISTAGE_MEDIA", f"{first}:{second}")
    assert locate(clip(server.address), cache).path == second / "deep" / "renamed.mp4"
    assert server.asked == []


def test_a_media_folder_that_is_not_there(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNISTAGE_MEDIA", "/nowhere/at/all")
    with pytest.raises(InputError, match="/nowhere/at/all, which is not a folder"):
        locate(clip("http://127.0.0.1:9/x.mp4"), cache)


def test_a_file(cache: Cache, tmp_path: Path) -> None:
    file = tmp_path / "own.mp4"
    file.write_bytes(CONTENT)
    assert locate(Clip(name="main", path=file), cache).sha256 == SHA
    with pytest.raises(InputError, match=r"clip main: .*gone\.mp4: no such file"):
        locate(Clip(name="main", path=tmp_path / "gone.mp4"), cache)


def test_a_clip_by_its_hash_alone(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other name.mp4").write_bytes(CONTENT)
    alone = Clip(name="main", sha256=SHA, named="one.mp4")
    monkeypatch.setenv("OMNISTAGE_MEDIA", str(tmp_path))
    assert locate(alone, cache).path == tmp_path / "other name.mp4"
    monkeypatch.delenv("OMNISTAGE_MEDIA")
    with pytest.raises(InputError, match=r"once called one\.mp4.*set OMNISTAGE_MEDIA"):
        locate(alone, cache)


@pytest.mark.parametrize(
    "url",
    [
        "http://[bad/x.mp4",
        "http://./x.mp4",
        f"http://{'a' * 70}.example/x.mp4",
        "http://u:s3cret@127.0.0.1:9/x.mp4?key=s3cret",
        f"http://127.0.0.1:9/x.{'a' * 300}",
        "http://127.0.0.1:9/\udce9.mp4",
    ],
)
def test_an_address_that_cannot_be_called_is_one_line(cache: Cache, url: str) -> None:
    with pytest.raises(InputError, match="cannot be downloaded") as caught:
        locate(clip(url), cache)
    assert "s3cret" not in str(caught.value)


def test_a_redirect_to_nowhere_is_one_line(server: Server, cache: Cache) -> None:
    server.status = 302
    with pytest.raises(InputError, match="cannot be downloaded"):
        locate(clip(server.address), cache)


def test_an_address_as_people_write_it(server: Server, cache: Cache) -> None:
    server.length = "abc"
    written = server.address.replace("a%20clip.mp4", "été/a clip.mp4?part=1&name=é")
    assert locate(clip(written), cache).path.name == f"{SHA}.mp4"


def test_the_kept_name_holds_no_unknown_kind(server: Server, cache: Cache) -> None:
    found = locate(clip(server.address.replace("mp4", "x" * 300)), cache)
    assert found.path.name == SHA
