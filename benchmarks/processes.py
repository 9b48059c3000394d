"""Measuring in processes of their own, so that one measurement leaves nothing to the next."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def in_child(function: Callable[..., Any], **arguments: Any) -> Any:
    """What a module's function returns in a fresh process; values travel as JSON."""
    order = {"module": function.__module__, "name": function.__name__, "arguments": arguments}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("INKBLOT_")}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.processes"],
        cwd=ROOT,
        input=json.dumps(order),
        capture_output=True,
        text=True,
        check=False,
        env=environment | {"PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"},  # as start.py does
    )
    if done.returncode:
        raise RuntimeError(f"{function.__module__}.{function.__name__} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def caller(*, quick: bool) -> Callable[..., Any]:
    """`in_child`, or for a quick run, which says nothing about speed, a plain call."""
    return _here if quick else in_child


def _here(function: Callable[..., Any], **arguments: Any) -> Any:
    return function(**arguments)


@contextmanager
def service(latency_s: float, *options: str) -> Iterator[dict[str, str]]:
    """Address and key of a chat service in a process of its own that takes that long to answer."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fault_server", "--latency", str(latency_s), *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout is None:
            raise RuntimeError("the service has no output")
        started = json.loads(process.stdout.readline())
        yield {"base_url": started["base_url"], "key": started["key"]}
    finally:
        process.terminate()
        process.communicate(timeout=20)


@dataclass
class Stopwatch:
    """Seconds on the clock and of the processor, of this process with all its threads."""

    seconds: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> Stopwatch:
        self._clock, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.seconds = time.perf_counter() - self._clock
        self.cpu = time.process_time() - self._cpu

    @property
    def figures(self) -> Mapping[str, float]:
        """Both, as JSON values."""
        return {"seconds": self.seconds, "cpu": self.cpu}


def main() -> None:
    """Carry out the order on standard input; the answer is the last line of standard output."""
    order = json.loads(sys.stdin.read())
    function = getattr(importlib.import_module(order["module"]), order["name"])
    answer = function(**order["arguments"])
    sys.stdout.write(f"\n{json.dumps(answer)}\n")
    sys.stdout.flush()
    os._exit(0)  # what a page left computing in the background is not waited for


if __name__ == "__main__":
    main()
