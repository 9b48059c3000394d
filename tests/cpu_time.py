"""CPU time of an action, for tests that a hostile input costs no more than its length."""

import time
from collections.abc import Callable


def least_cpu_seconds(action: Callable[[], object], *, times: int = 3) -> float:
    """The least of several runs: others compute on the same machine, which only adds time."""
    seconds = []
    for _ in range(times):
        started = time.process_time()
        action()
        seconds.append(time.process_time() - started)
    return min(seconds)
