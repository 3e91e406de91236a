"""How a command ends: the exit code and the message of every error. A user's mistake never shows a traceback."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
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
            with _stoppable():
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
        except Stopped as stopped:
            say(f"stopped by {stopped.by.name}")
            code = 128 + stopped.by  # as a shell has it
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


class Stopped(BaseException):
    """Somebody has asked the process to end."""

    def __init__(self, by: signal.Signals) -> None:
        super().__init__(by.name)
        self.by = by


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM and SIGHUP end what runs by an exception, so that what it was writing is removed."""

    def stop(number: int, _: object) -> None:
        raise Stopped(signal.Signals(number))

    changed: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():
        # Those that are ignored, as behind nohup, or that the caller handles, stay.
        names = [n for n in ("SIGTERM", "SIGHUP") if hasattr(signal, n)]
        changed = [s for s in map(signal.Signals.__getitem__, names) if signal.getsignal(s) is signal.SIG_DFL]
    for each in changed:
        signal.signal(each, stop)
    try:
        yield
    finally:
        for each in changed:
            signal.signal(each, signal.SIG_DFL)


def say(*lines: str) -> None:
    """Writes lines to stderr; that nobody listens there is no reason to fail."""
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()


def _let_go_of_stdout() -> None:
    """What stands in the buffer of a broken stdout would be tried again at exit, and fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
