"""Where commands that evaluate put what they find: in a folder that holds nothing they read; pages where they can."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def result_folder(
    out: Path, overwrite: bool, inputs: Sequence[str], named: Iterable[str]
) -> Iterator[tuple[list[Path], Path]]:
    """The files of the inputs, and a folder that becomes `out` in one step when the block ends well.

    `named`: configs and labels, which may be files that `out` must not hold, too.
    """
    from cascade.io.place import output_folder
    from cascade.io.read import find_inputs

    paths = [source.path for source in find_inputs(inputs, outside=out)]
    with output_folder(out, overwrite, [*paths, *existing(named)]) as work:
        yield paths, work


def existing(named: Iterable[str]) -> list[Path]:
    """Those of some names that are files, and no presets or words."""
    return [Path(name) for name in named if Path(name).is_file()]


def write_or_tell(path: Path, make: Callable[[], str]) -> list[str]:
    """Writes what `make` gives; where a package is missing for that, says so in a line."""
    from cascade.errors import BackendUnavailable
    from cascade.io.write import write_text

    try:
        write_text(path, make())
    except BackendUnavailable as error:
        return [f"no {path.name}: {error}"]
    return []
