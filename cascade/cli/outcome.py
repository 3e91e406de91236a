"""How a command ends: the exit code and the message of every error. A user's mistake never shows a traceback."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any

from typer.core import TyperGroup

from cascade.errors import CascadeError, ConfigError

FAILED, USAGE, INTERRUPTED = 1, 2, 130


class Group(TyperGroup):
    """Runs a command and turns what it raises into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        # Any name or text can be shown whatever the terminal's encoding, file names that are not UTF-8 included.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return result
        except ConfigError as error:
            say(*error.problems)
            code = USAGE
        except CascadeError as error:
            say(f"error: {error}")
            code = FAILED
        except KeyboardInterrupt:
            say("interrupted; nothing was written")
            code = INTERRUPTED
        except BrokenPipeError:  # the reader has seen enough: `cascade schema | head`
            _let_go_of_stdout()
            code = 0
        except MemoryError:
            say("error: out of memory; fewer documents at once, or a machine with more, would do")
            code = FAILED
        except OSError as error:
            say(f"error: {error}")
            _let_go_of_stdout()
            code = FAILED
        raise SystemExit(code)


def say(*lines: str) -> None:
    """Writes lines to stderr; that nobody listens there is no reason to fail."""
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()


def _let_go_of_stdout() -> None:
    """What stands in the buffer of a broken stdout would be tried again at exit, and fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
