"""The one place that starts threads: an ordered map over a pool, with a bounded number of items under way, and a
fold on top of it.

Kernels release the GIL, so threads suffice. Results come in the order of the items, whatever the number of workers.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")


def available_workers() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system can tell
        return os.cpu_count() or 1


def ordered_map(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """function(item) for each item, in order. Items are drawn by the calling thread, at most 2 * workers ahead."""
    if workers <= 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="cascade") as pool:
        under_way: deque[Future[R]] = deque()
        try:
            for item in items:
                under_way.append(pool.submit(function, item))
                if len(under_way) >= 2 * workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()


def fold(
    start: Callable[[], S],
    add: Callable[[S, T], object],
    merge: Callable[[S, S], S],
    items: Iterable[T],
    workers: int,
    after: Callable[[T], object] = lambda item: None,
) -> S:
    """All items added to a value: each thread adds to a partial value of its own, and these are merged at the end.

    There are never more of them than threads. after(item) is called by the calling thread, in the order of the items.
    """
    idle: list[S] = []

    def take(item: T) -> T:
        try:
            partial = idle.pop()
        except IndexError:
            partial = start()
        add(partial, item)
        idle.append(partial)
        return item

    for item in ordered_map(take, items, workers):
        after(item)
    return reduce(merge, idle) if idle else start()
