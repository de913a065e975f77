"""From a reference to a plug-in: agents, judges, dialects, and the responders behind local agents.

One grammar everywhere: ``name[:model][@url]`` (bundled, or installed through an entry point),
``path.py[:Class]``, ``recording:PATH``. Options ``-o key=value`` become keyword strings of the
constructor. The plug-ins themselves are in `agents/` and `judges/`, which are content like the
scenarios: they are loaded by file under a private module name and never imported by name, since
`agents` is the import name of other packages. Counterpart: `simulator.contracts` says what each
kind has to have.
"""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, cast

from simulator.contracts import CONTRACTS, Kind
from simulator.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from simulator.agent import Agent
    from simulator.judging.judge import Judge

_FILE = re.compile(r"^(?P<path>.+\.py)(?::(?P<name>[A-Za-z_]\w*))?$", re.DOTALL)
_URL = re.compile(r"@(?=[A-Za-z][A-Za-z0-9+.-]*://)")
_NO_URL = re.compile(r"@$|@(localhost|[\w.-]+:\d+)(/.*)?$")
"""Meant for a URL: nothing, or a host without a scheme. (A model's name may have an `@`.)"""
_NAME = re.compile(r"^[A-Za-z][A-Za-z0-9_-]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A reference, taken apart."""

    text: str
    """As it was given."""
    form: Literal["name", "file", "recording"]
    name: str = ""
    """For a name: the plug-in's name."""
    model: str = ""
    url: str = ""
    path: Path | None = None
    """For a file or a recording."""
    cls: str = ""
    """For a file: the class asked for; empty means the only one that fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Available:
    """One plug-in as `omnistage agents` and `omnistage judges` list it."""

    name: str
    summary: str
    source: str
    """`bundled`, or the installed distribution."""
    error: str = ""
    """Why it cannot be loaded; empty if it can."""


# ---------------------------------------------------------------- references


def parse_reference(text: str) -> Reference:
    """Take a reference apart. Raises InputError for what is none."""
    if text.startswith("recording:"):
        where = text.removeprefix("recording:")
        if not where:
            raise InputError(
                f"{text!r}: no recording named", hint="write recording:PATH with its folder"
            )
        return Reference(text=text, form="recording", path=Path(where))
    if match := _FILE.match(text):
        return Reference(text=text, form="file", path=Path(match["path"]), cls=match["name"] or "")
    head, *urls = _URL.split(text, maxsplit=1)
    name, _, model = head.partition(":")
    if not _NAME.match(name) or _NO_URL.search(head):
        raise InputError(
            f"{text!r} is not a reference",
            hint="write NAME[:MODEL][@URL], PATH.py[:CLASS] or recording:PATH; "
            "a URL begins with its scheme, as in @http://127.0.0.1:8710",
        )
    return Reference(text=text, form="name", name=name, model=model, url=urls[0] if urls else "")


# ---------------------------------------------------------------- where plug-ins are


def content_root(kind: str) -> Path:
    """The folder of bundled `agents`, `judges` or `scenarios`: in the wheel, or in the checkout."""
    package = Path(__file__).parent
    bundled = package / "_bundled" / kind
    # In site-packages a folder called `agents` beside us belongs to somebody else, so the one
    # beside the package counts only in a checkout.
    if bundled.is_dir() or not (package.parent / "pyproject.toml").is_file():
        return bundled
    return package.parent / kind


def _bundled(kind: Kind, root: Path | None) -> dict[str, Path]:
    folder = content_root(kind) if root is None else root
    found: dict[str, Path] = {}
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        if path.name.startswith(("_", ".")):
            continue
        if path.suffix == ".py":
            found[path.stem] = path
        elif (path / "__init__.py").is_file():
            found[path.name] = path / "__init__.py"
    return found


def _installed(kind: Kind) -> dict[str, importlib.metadata.EntryPoint]:
    return {e.name: e for e in importlib.metadata.entry_points(group=f"omnistage.{kind}")}


# ---------------------------------------------------------------- loading


def load_agent(
    reference: str, options: Mapping[str, str] | None = None, *, root: Path | None = None
) -> Agent:
    """The agent that `reference` names, made with `options`. Raises InputError."""
    return cast("Agent", load("agents", reference, options, root=root))


def load_judge(
    reference: str, options: Mapping[str, str] | None = None, *, root: Path | None = None
) -> Judge:
    """The judge that `reference` names, made with `options`. Raises InputError."""
    return cast("Judge", load("judges", reference, options, root=root))


def load(
    kind: Kind,
    reference: str,
    options: Mapping[str, str] | None = None,
    *,
    root: Path | None = None,
) -> object:
    """An instance of the plug-in; `root` overrides the folder of bundled ones.

    Raises InputError for an unknown name, a file that cannot be loaded, a class that does not meet
    the contract and options that its constructor does not take.
    """
    ref = parse_reference(reference)
    cls = find_class(kind, ref, root=root)
    given = dict(options or {})
    for key, value in (("model", ref.model), ("url", ref.url)):
        if not value:
            continue
        if key in given:
            raise InputError(f"{reference}: {key} is given both in the reference and as an option")
        given[key] = value
    return make(kind, cls, given, said=reference)


def find_class(kind: Kind, ref: Reference, *, root: Path | None = None) -> type[Any]:
    """The plug-in's class, checked against its contract. Raises InputError."""
    if ref.form == "recording":
        raise InputError(
            f"{ref.text}: recordings cannot be played as {kind} yet",
            hint="omnistage judge scores a recording again",
        )
    if ref.path is not None:
        return _class_in(kind, load_file(ref.path, f"{kind}_file"), ref.cls, ref.text)
    bundled = _bundled(kind, root)
    if path := bundled.get(ref.name):
        return _class_in(kind, load_file(path, kind), "", ref.text)
    installed = _installed(kind)
    if entry := installed.get(ref.name):
        return _load_entry(kind, entry)
    names = sorted({*bundled, *installed})
    near = difflib.get_close_matches(ref.name, names, n=3, cutoff=0.5)
    raise InputError(
        f"no {CONTRACTS[kind].one} is called {ref.name!r}",
        hint=(f"did you mean {' or '.join(near)}? " if near else "")
        + f"There are: {', '.join(names) or 'none'}; or name a file, as in ./mine.py",
    )


def load_file(path: Path, prefix: str) -> ModuleType:
    """The module in a file, under a private name; loaded once. Raises InputError."""
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file")
    full = path.resolve()
    stem = full.parent.name if full.name == "__init__.py" else full.stem
    name = f"_omnistage_{prefix}_{stem}"
    if prefix.endswith("_file"):
        name += "_" + sha256(str(full).encode()).hexdigest()[:8]
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(full):
        return known
    spec = importlib.util.spec_from_file_location(name, full)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and relative imports look their module up while it is being executed.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    # A plug-in is somebody's code: whatever it raises becomes one clear line with its place.
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _broken(full, error) from error
    return module


def make(kind: Kind, cls: type[Any], options: Mapping[str, str], *, said: str) -> object:
    """`cls` made with `options`. Raises InputError naming the options that it takes."""
    parameters = inspect.signature(cls).parameters.values()
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    takes = {p.name: p for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    listed = ", ".join(n if p.default is p.empty else f"{n}={p.default}" for n, p in takes.items())
    for key in options:
        if key not in takes and not open_ended:
            near = difflib.get_close_matches(key, takes, n=1)
            raise InputError(
                f"{said}: there is no option {key!r}",
                hint=(f"did you mean {near[0]}? " if near else "")
                + (f"Its options: {listed}" if takes else "It has no options"),
            )
    missing = [n for n, p in takes.items() if p.default is p.empty and n not in options]
    if missing:
        raise InputError(
            f"{said}: option {missing[0]!r} must be given", hint=f"-o {missing[0]}=..."
        )
    try:
        made = cls(**options)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{said}: {error}", hint=f"Its options: {listed}") from error
    except Exception as error:
        # As when it is loaded: a plug-in may raise anything while it is made.
        raise InputError(f"{said}: it cannot be made: {type(error).__name__}: {error}") from error
    if wrong := CONTRACTS[kind].unlike(made):
        raise InputError(f"{said}: {cls.__name__} is no {CONTRACTS[kind].one}: {wrong}")
    return cast("object", made)


def available(kind: Kind, *, root: Path | None = None) -> list[Available]:
    """All plug-ins of a kind; one that is broken is listed with its error."""
    found: list[Available] = []
    bundled = _bundled(kind, root)
    for name, path in bundled.items():
        try:
            summary = _summary(_class_in(kind, load_file(path, kind), "", name))
            found.append(Available(name=name, summary=summary, source="bundled"))
        except InputError as error:
            found.append(Available(name=name, summary="", source="bundled", error=str(error)))
    for name, entry in sorted(_installed(kind).items()):
        if name in bundled:
            continue
        source = entry.dist.name if entry.dist else "installed"
        try:
            summary = _summary(_load_entry(kind, entry))
            found.append(Available(name=name, summary=summary, source=source))
        except InputError as error:
            found.append(Available(name=name, summary="", source=source, error=str(error)))
    return found


# ---------------------------------------------------------------- checks and words


def _load_entry(kind: Kind, entry: importlib.metadata.EntryPoint) -> type[Any]:
    try:
        loaded = entry.load()
    except Exception as error:
        # As with files: an installed plug-in may raise anything while it is imported.
        raise _broken(Path(entry.value), error) from error
    return _checked(kind, loaded, f"{entry.name} ({entry.value})")


def _class_in(kind: Kind, module: ModuleType, wanted: str, said: str) -> type[Any]:
    contract = CONTRACTS[kind]
    own = {
        n: c
        for n, c in vars(module).items()
        if inspect.isclass(c) and c.__module__ == module.__name__
    }
    if wanted:
        if wanted not in own:
            raise InputError(
                f"{said}: there is no class {wanted!r} in the file",
                hint=f"it has: {', '.join(own) or 'none'}",
            )
        return _checked(kind, own[wanted], said)
    fitting = [c for n, c in own.items() if not n.startswith("_") and not contract.lacking(c)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(c.__name__ for c in fitting)
        raise InputError(
            f"{said}: several classes could be the {contract.one}: {names}",
            hint=f"name one, as in {module.__file__}:{fitting[0].__name__}",
        )
    nearly = [
        f"; {n} lacks {', '.join(lacking)}"
        for n, c in own.items()
        if len(lacking := contract.lacking(c)) < len(contract.members)
    ]
    raise InputError(
        f"{said}: no class in {module.__file__} is one of our {kind}{''.join(nearly)}",
        hint=f"it needs a class with {contract.needs}",
    )


def _checked(kind: Kind, cls: object, said: str) -> type[Any]:
    if not inspect.isclass(cls):
        raise InputError(f"{said}: is not a class")
    contract = CONTRACTS[kind]
    if lacking := contract.lacking(cls):
        raise InputError(
            f"{said}: {cls.__name__} is no {contract.one}, it lacks {', '.join(lacking)}",
            hint=f"it needs {contract.needs}",
        )
    return cls


def _summary(cls: type[Any]) -> str:
    traits = getattr(cls, "traits", None)
    said = getattr(traits, "summary", None) or getattr(cls, "summary", None)
    if isinstance(said, str) and said:
        return said
    return (inspect.getdoc(cls) or "").partition("\n")[0]


def _broken(path: Path, error: BaseException) -> InputError:
    """What a plug-in raised, as one line with the last place in its own file."""
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, SyntaxError) and error.filename:
        return InputError(f"{error.filename}:{error.lineno}: {what}")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path]
    place = f"{path}:{frames[-1].lineno}" if frames else str(path)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return MissingExtra(
            f"{place}: it needs the module {error.name!r}, which is not installed",
            hint=f"python -m pip install {error.name.partition('.')[0]}",
        )
    return InputError(f"{place}: it cannot be loaded: {what}")
