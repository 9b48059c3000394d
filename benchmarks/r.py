"""The same statistics by R, where it and its packages are installed."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).with_name("r_scripts")
MARK = "\t"  # between the name and the value of each number that a script prints


@dataclass(frozen=True)
class Ran:
    """What a script printed, and how long its process took.

    Scripts print what they clocked as "NAME s" and "NAME cpu", and their whole as "script".
    """

    numbers: Mapping[str, float]
    seconds: float

    @property
    def start_up(self) -> float:
        """Seconds that R took to start and to load packages, by the script's own clock."""
        return self.seconds - self.numbers["script s"]


@functools.cache
def version(package: str = "") -> str:
    """Version of a package of R, or of R itself; empty where it is not installed."""
    if shutil.which("Rscript") is None:
        return ""
    asked = f"packageVersion('{package}')" if package else "getRversion()"
    done = subprocess.run(
        ["Rscript", "-e", f"cat(as.character({asked}))"],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode else done.stdout.strip()


def has(*packages: str) -> bool:
    """Whether R and all of these packages are installed."""
    return bool(version()) and all(map(version, packages))


def versions(*packages: str) -> str:
    """R and those packages that are installed, with their versions."""
    found = [f"{package} {version(package)}" for package in packages if version(package)]
    return ", ".join([f"R {version()}", *found]) if version() else ""


def run(script: str, *arguments: object) -> Ran:
    """The numbers that a script of this folder prints, each on a line with its name before it."""
    started = time.perf_counter()
    done = subprocess.run(
        ["Rscript", "--vanilla", str(SCRIPTS / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    seconds = time.perf_counter() - started
    if done.returncode:
        raise RuntimeError(f"{script} failed:\n{done.stderr}")
    lines = [line.split(MARK) for line in done.stdout.splitlines() if line.count(MARK) == 1]
    return Ran({name: float(value) for name, value in lines}, seconds)
