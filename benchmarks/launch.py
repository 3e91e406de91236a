"""Starts one command as its only child, waits for it and writes what it took to a file descriptor.

Called as `python -I -S launch.py DESCRIPTOR PROCESSORS DATA COMMAND ...`. A process of its own and small, since a child
begins with the peak memory of the process that started it: whoever measures may hold a whole corpus.
"""

import os
import resource
import sys
import time


def main() -> None:
    descriptor, processors, data = map(int, sys.argv[1:4])
    command = sys.argv[4:]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:processors])
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        try:
            os.close(descriptor)
            if data:
                resource.setrlimit(resource.RLIMIT_DATA, (data, data))
            os.execvp(command[0], command)
        except (OSError, ValueError) as error:
            print(f"{command[0]}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(127)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    told = (os.waitstatus_to_exitcode(status), seconds, usage.ru_utime + usage.ru_stime, peak)
    os.write(descriptor, " ".join(map(str, told)).encode())


if __name__ == "__main__":
    main()
