"""What the figures were measured on, without saying whose machine it is."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil

BUSY = ("user", "nice", "system", "irq", "softirq")
NOTEWORTHY = 0.1  # cores that other programs kept busy


class Watch:
    """Sees how much of the machine other programs took meanwhile."""

    others = 0.0  # cores on average

    def __enter__(self) -> Watch:
        self._before = time.perf_counter(), _busy(), _own()
        return self

    def __exit__(self, *_exc: object) -> None:
        began, busy, own = self._before
        seconds = time.perf_counter() - began
        self.others = max(0.0, (_busy() - busy - (_own() - own)) / seconds)


def described(packages: Sequence[str], watch: Watch) -> str:
    """Date, machine and versions in one line, and a warning where the machine was shared."""
    memory = psutil.virtual_memory().total / 2**30
    versions = [f"Python {platform.python_version()}", *(f"{p} {version(p)}" for p in packages)]
    parts = [
        f"{datetime.now(UTC):%Y-%m-%d}",
        f"{os.cpu_count()} cores ({_processor()}), {memory:.0f} GB, {platform.system()}",
        ", ".join(versions),
    ]
    line = f"*Measured {'; '.join(parts)}.*"
    if watch.others > NOTEWORTHY:
        line += (
            f" *The machine was shared: other programs kept {watch.others:.1f} of its "
            f"{os.cpu_count()} cores busy meanwhile.*"
        )
    return line


def memory_peak() -> int:
    """The most memory this process has held so far, in bytes."""
    if platform.system() == "Linux":  # ru_maxrss would start from the parent's
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    found = psutil.Process().memory_info()
    if platform.system() == "Windows":
        return int(found.peak_wset)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _busy() -> float:
    """Processor seconds of all programs since the machine was started."""
    times = psutil.cpu_times()
    return float(sum(getattr(times, name, 0.0) for name in BUSY))


def _own() -> float:
    """Processor seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _processor() -> str:
    if platform.system() == "Linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
