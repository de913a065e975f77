"""Dialects by reference: what is found, and what is said of one that is missing or lacks a part."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from simulator.agent import Dial
from simulator.errors import InputError, MissingExtra
from simulator.plugins import load_agent
from simulator.rtc.dialects import found, speak
from simulator.rtc.dialects.openai.codec import Codec
from simulator.rtc.dialects.openai.signalling import Signalling

CODEC = """
from simulator.rtc import dialect
from simulator.rtc.dialects.openai.signalling import Signalling

class Words(dialect.Codec):
    channels = ("chat",)
    def __init__(self, settings):
        self.settings = settings
    def read(self, message):
        return []
    def write(self, command):
        return dialect.Written(messages=[])
"""
WHOLE = CODEC + "class Mine:\n    codec = Words\n    signalling = Signalling\n"
AGENT = """
import contextlib
from simulator.agent import Dial, Traits

class Mine:
    traits = Traits(summary="mine")
    def secrets(self):
        return ()
    @contextlib.asynccontextmanager
    async def open(self, launch):
        yield Dial(url="http://x", dialect="words.py")
"""

Reference = Callable[[str], str]


@pytest.fixture
def written(tmp_path: Path) -> Reference:
    """Writes a dialect's file; gives the reference."""

    def write(source: str) -> str:
        path = tmp_path / "words.py"
        path.write_text(source)
        return str(path)

    return write


def dialled(dialect: str, **session: object) -> Dial:
    return Dial(url="http://x", dialect=dialect, session=session)


def test_a_bundled_one_has_both_parts_anew_for_each_call() -> None:
    first, second = speak(dialled("openai")), speak(dialled("openai"))
    assert isinstance(first[0], Codec)
    assert isinstance(first[1], Signalling)
    assert first[0] is not second[0]
    assert first[1] is not second[1]


def test_a_file_has_the_settings_and_may_borrow_a_part(written: Reference) -> None:
    codec, signalling = speak(dialled(written(WHOLE), voice="marin"))
    assert codec.settings == {"voice": "marin"}  # type: ignore[attr-defined]
    assert isinstance(signalling, Signalling)


def test_a_file_with_two_is_asked_which(written: Reference) -> None:
    path = written(WHOLE + "class Yours(Mine):\n    pass\n")
    with pytest.raises(InputError, match="several classes could be the dialect: Mine, Yours"):
        speak(dialled(path))
    assert tuple(speak(dialled(f"{path}:Yours"))[0].channels) == ("chat",)


def test_one_that_is_installed(written: Reference, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(written(WHOLE)).parent)
    entry = importlib.metadata.EntryPoint("wordy", "words:Mine", "omnistage.dialects")

    def entry_points(group: str) -> list[importlib.metadata.EntryPoint]:
        return [entry] if group == "omnistage.dialects" else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert tuple(speak(dialled("wordy"))[0].channels) == ("chat",)


def test_a_file_is_seen_from_the_agents_own(written: Reference, tmp_path: Path) -> None:
    written(WHOLE)
    (tmp_path / "mine.py").write_text(AGENT)
    agent = load_agent(str(tmp_path / "mine.py"))
    assert found(dialled("words.py"), agent).dialect == str(tmp_path / "words.py")
    assert found(dialled("./words.py:Mine"), agent).dialect == f"{tmp_path / 'words.py'}:Mine"
    assert found(dialled("openai"), agent).dialect == "openai"
    with pytest.raises(InputError, match=f"{tmp_path / 'absent.py'}: no such file"):
        found(dialled("absent.py"), agent)
    with pytest.raises(InputError, match=r"is a reference, not <class .*write a name, or a file"):
        found(dialled(Codec), agent)  # type: ignore[arg-type]


def test_an_unknown_one_is_told_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no dialect is called 'opnai' .*mean openai\?.*file"):
        speak(dialled("opnai"))
    with pytest.raises(InputError, match="is not a reference"):
        speak(dialled(""))
    with pytest.raises(InputError, match="there is no option 'model'"):
        speak(dialled("openai:gpt"))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            CODEC + "class Mine:\n    codec = Words\n",
            r"no class in .*words.py is one of our dialects; Mine lacks signalling "
            r"\(it needs a class with codec, signalling\)",
        ),
        (
            "class Mine:\n    def signalling(self, target): ...\n",
            "one of our dialects; Mine lacks codec",
        ),
        (CODEC, r"one of our dialects \(it needs a class with codec, signalling\)"),
        (
            WHOLE.replace("def write", "def wrote"),
            r"words.py: its codec lacks write \(it needs channels, connected, read, tick, write; ",
        ),
        (
            WHOLE.replace("(dialect.Codec)", ""),
            r"words.py: its codec lacks connected, tick \(it needs .*has a class to begin with",
        ),
        (WHOLE.replace('("chat",)', '"chat"'), "its codec is none: `channels` must be a sequence"),
        (WHOLE.replace('("chat",)', "(1, 2)"), "`channels` must be labels, which are text"),
        (
            WHOLE.replace("self.settings = settings", "self.read = 1"),
            "its codec is none: `read` must be a method",
        ),
        (WHOLE.replace("self.settings =", "self.x = 1 /"), r"its codec cannot be made: TypeError"),
        (
            CODEC + "class Mine:\n    codec = Words\n    def signalling(self, target): ...\n",
            "its signalling is none: `servers` must be a method",
        ),
        (
            CODEC + "class Mine:\n    codec = 3\n    signalling = Signalling\n",
            "Mine is no dialect: `codec` must be a method",
        ),
        (
            CODEC + "class Mine(dialect.Dialect):\n    codec = Words\n",
            "Mine lacks signalling",
        ),
        ("import no_such_module\n", r"words.py:1: it needs the module 'no_such_module'"),
        ("class Mine(:\n", r"words.py:1: SyntaxError"),
    ],
)
def test_a_file_that_lacks_something_says_what(written: Reference, source: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        speak(dialled(written(source)))


def test_what_a_codec_refuses_is_told_as_it_says_it(written: Reference) -> None:
    source = WHOLE.replace(
        "        self.settings = settings",
        "        from simulator.errors import MissingExtra\n"
        "        raise MissingExtra('it needs a codebook', hint='pip install codebook')",
    )
    with pytest.raises(MissingExtra, match=r"^it needs a codebook \(pip install codebook\)$"):
        speak(dialled(written(source)))


def test_words_alone_need_no_network() -> None:
    """Pure in truth: a codec imports nothing of the kind, and neither do its packages."""
    code = (
        "import sys, simulator.rtc.dialects.openai.codec, simulator.rtc.interpreter\n"
        "print(*{'asyncio', 'aiohttp', 'aiortc', 'av'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
