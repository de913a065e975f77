"""The exception tree: what went wrong, whose fault it is, and how to mend it.

    OmnistageError
      InputError            what the user can mend: options, files, names (exit status 2)
        ScenarioError       a scenario file, with every problem as ``file:line: key: ...``
        MissingExtra        an optional part is not installed; says what to install
      AgentError            the agent refused, broke the protocol or died
      NetworkError          the path between simulator and agent failed
      InstrumentError       we failed: pacing, disk, an invariant of our own
      RecordingError        a recording is cut off, of another version, or not one
      JudgeError            a judgement could not be made (never a score of zero)

Every error has one clear line and, where there is one, a hint on how to mend it. The command line
prints both without a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence


class OmnistageError(Exception):
    """Root of all errors that Omnistage raises on purpose."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        """What is wrong and where, in one line."""
        self.hint = hint
        """How to mend it; empty if there is nothing useful to say."""

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class InputError(OmnistageError):
    """Something that the user gave is wrong; nothing has been spent yet."""


class ScenarioError(InputError):
    """A scenario is wrong; ``problems`` holds every ``file:line: key: ...`` found."""

    def __init__(self, problems: Sequence[str], *, hint: str = "") -> None:
        super().__init__("\n".join(problems), hint=hint)
        self.problems = tuple(problems)


class MissingExtra(InputError):
    """An optional dependency is not installed."""


def install(extra: str) -> str:
    """How an optional part is had: from an installed package, and in a checkout."""
    return f"pip install 'omnistage[{extra}]'; in a checkout: uv run --extra {extra} omnistage ..."


class AgentError(OmnistageError):
    """The agent's fault: refused the call, broke the protocol, died."""


class NetworkError(OmnistageError):
    """The transport's fault: no path, or the path was lost."""


class InstrumentError(OmnistageError):
    """The simulator's own fault; the attempt cannot be trusted."""


class RecordingError(OmnistageError):
    """A recording cannot be read as what it claims to be."""


class JudgeError(OmnistageError):
    """A judgement failed: the turn counts as not judged, not as zero."""


def innermost(error: BaseException) -> BaseException:
    """The first error inside groups of errors, which task groups make; else the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
