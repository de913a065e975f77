"""References, options and plug-in files: what is found, and what is said when it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.errors import InputError, MissingExtra
from simulator.options import parse_options
from simulator.plugins import (
    available,
    content_root,
    load,
    load_agent,
    parse_reference,
)

GOOD = '''
from simulator.agent import Traits

class Mine:
    """An agent of mine."""

    traits = Traits(summary="answers nothing")

    def __init__(self, *, delay="0.5", url="", model="") -> None:
        self.delay = float(delay)
        self.url, self.model = url, model

    def secrets(self):
        return ()

    def open(self, launch):
        raise NotImplementedError
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "mine.py").write_text(GOOD)
    (folder / "other.py").write_text(GOOD.replace("answers nothing", "another"))
    (folder / "_private.py").write_text("raise SystemExit")
    return folder


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("oracle", ("name", "oracle", "", "", None, "")),
        ("openai:gpt-realtime", ("name", "openai", "gpt-realtime", "", None, "")),
        (
            "vllm:Qwen/Q3:8b@http://h:1/v1",
            ("name", "vllm", "Qwen/Q3:8b", "http://h:1/v1", None, ""),
        ),
        ("vertex:live@001", ("name", "vertex", "live@001", "", None, "")),
        ("pipecat@https://u:p@host/x", ("name", "pipecat", "", "https://u:p@host/x", None, "")),
        ("./a b/mine.py", ("file", "", "", "", Path("./a b/mine.py"), "")),
        ("C:\\x\\mine.py:Mine", ("file", "", "", "", Path("C:\\x\\mine.py"), "Mine")),
        ("recording:runs/a", ("recording", "", "", "", Path("runs/a"), "")),
    ],
)
def test_grammar(text: str, expected: tuple[object, ...]) -> None:
    ref = parse_reference(text)
    assert (ref.form, ref.name, ref.model, ref.url, ref.path, ref.cls) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "oracle@host:80",
        "a b",
        "@http://x",
        "recording:",
        "1x",
        # Sent to the default endpoint, with its key, as a model of that name.
        "rubric:model@",
        "rubric:model@localhost",
        "rubric:model@127.0.0.1:8000/v1",
    ],
)
def test_what_is_no_reference(text: str) -> None:
    with pytest.raises(InputError):
        parse_reference(text)


def test_options() -> None:
    assert parse_options(["delay=0.6", "say-it=a=b", "empty="]) == {
        "delay": "0.6",
        "say_it": "a=b",
        "empty": "",
    }
    for wrong in (["delay"], ["=1"], ["a=1", "a=2"]):
        with pytest.raises(InputError):
            parse_options(wrong)


def test_a_bundled_one_gets_its_options_model_and_url(root: Path) -> None:
    agent = load("agents", "mine:big@http://h:1", {"delay": "2"}, root=root)
    assert (agent.delay, agent.model, agent.url) == (2.0, "big", "http://h:1")  # type: ignore[attr-defined]
    assert type(agent).__module__ == "_omnistage_agents_mine"


def test_a_file_and_its_class(root: Path, tmp_path: Path) -> None:
    assert type(load_agent(f"{root / 'mine.py'}:Mine")).__name__ == "Mine"
    assert type(load_agent(str(root / "mine.py"))).__name__ == "Mine"
    with pytest.raises(InputError, match=r"no class 'Yours'.*it has: Mine"):
        load_agent(f"{root / 'mine.py'}:Yours")
    with pytest.raises(InputError, match="no such file"):
        load_agent(str(tmp_path / "absent.py"))
    two = tmp_path / "two.py"
    two.write_text(GOOD + GOOD.replace("class Mine", "class Yours"))
    with pytest.raises(InputError, match="several classes could be the agent: Mine, Yours"):
        load_agent(str(two))


def test_an_unknown_name_gets_near_ones(root: Path) -> None:
    with pytest.raises(InputError, match=r"called 'mime'.*did you mean mine\?.*mine, other"):
        load("agents", "mime", root=root)


def test_a_wrong_option_lists_the_right_ones(root: Path) -> None:
    with pytest.raises(InputError, match=r"no option 'dellay'.*mean delay\?.*delay=0.5, url="):
        load("agents", "mine", {"dellay": "1"}, root=root)
    with pytest.raises(InputError, match="could not convert string to float"):
        load("agents", "mine", {"delay": "soon"}, root=root)
    with pytest.raises(InputError, match="both in the reference and as an option"):
        load("agents", "mine:a", {"model": "b"}, root=root)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\ny = x / 0\n", "bad.py:2: it cannot be loaded: ZeroDivisionError"),
        ("def f(:\n", "bad.py:1: SyntaxError"),
        ("raise SystemExit(3)\n", "bad.py:1: it cannot be loaded: SystemExit: 3"),
        ("class Mine:\n    def open(self): ...\n", "no class in .*bad.py is one of our agents"),
    ],
)
def test_a_broken_file_is_named_with_its_line(root: Path, source: str, said: str) -> None:
    (root / "bad.py").write_text(source)
    with pytest.raises(InputError, match=said):
        load("agents", "bad", root=root)
    listed = {a.name: a for a in available("agents", root=root)}
    assert sorted(listed) == ["bad", "mine", "other"]
    assert listed["mine"].summary == "answers nothing"
    assert listed["bad"].error


def test_a_missing_module_says_what_to_install(root: Path) -> None:
    (root / "bad.py").write_text("import not_there_at_all.really\n")
    with pytest.raises(MissingExtra, match=r"bad.py:1: .*'not_there_at_all'.*pip install not_th"):
        load("agents", "bad", root=root)


def test_a_class_that_lacks_something_says_what(root: Path) -> None:
    (root / "bad.py").write_text("class Half:\n    def secrets(self): ...\n")
    with pytest.raises(InputError, match="Half is no agent, it lacks traits, open"):
        load("agents", f"{root / 'bad.py'}:Half")


def test_a_recording_cannot_be_played_yet() -> None:
    with pytest.raises(InputError, match="yet"):
        load_agent("recording:runs/x")


def test_the_bundled_folder_is_the_checkouts() -> None:
    assert (content_root("agents") / "README.md").is_file()
    assert not (content_root("agents") / "__init__.py").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('traits = Traits(summary="answers nothing")', "traits: Traits", "`traits` must be Traits"),
        ('traits = Traits(summary="answers nothing")', 'traits = "x"', "`traits` must be Traits"),
        ("self.delay = float(delay)", 'raise RuntimeError("no GPU")', "RuntimeError: no GPU"),
        ("def open(self, launch):", "open = 3\n    def _(self):", "`open` must be a method"),
    ],
)
def test_a_plugin_that_breaks_the_contract_is_one_line(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(GOOD.replace(old, new))
    with pytest.raises(InputError) as caught:
        load_agent(str(tmp_path / "mine.py"))
    assert said in caught.value.message
