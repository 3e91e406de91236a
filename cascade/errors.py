"""The exceptions that cascade raises for what a user can mend. What is not among them is a bug.

CascadeError
├── ConfigError         the YAML or an option is wrong: every problem at once, each with path and line
├── InputError          a file cannot be read or its content is not what was announced
├── OutputError         the result cannot be written where it was asked for
├── StageError          a stage cannot do what the plan asks of it on this corpus
└── BackendUnavailable  a device or an optional package is asked for and is not there
"""

from __future__ import annotations

from collections.abc import Sequence


class CascadeError(Exception):
    """Base of all errors that a user can mend; its text says what was found, what was expected and what to do."""


class ConfigError(CascadeError):
    """The configuration is wrong. `problems` holds one line for each fault, in the order of the file."""

    def __init__(self, problems: Sequence[str] | str) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class InputError(CascadeError):
    """An input cannot be read, or holds nothing that can be used."""


class OutputError(CascadeError):
    """The output cannot be written; nothing was left half-written."""


class StageError(CascadeError):
    """A stage cannot do what the plan asks of it on this corpus."""


class BackendUnavailable(CascadeError):
    """A device or an optional package was asked for and is not there; the text names what to install."""
