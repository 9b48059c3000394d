"""What the Python scripts of several analyses begin with, and functions that they share."""

from __future__ import annotations

from collections.abc import Sequence

ADJUSTED = '''\
def adjusted(p):
    """p adjusted over the tests that have one."""
    p = np.array(p, dtype=float)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    m = len(order)
    if adjustment == "holm":
        steps = np.maximum.accumulate((m - np.arange(m)) * p[order])
    else:
        steps = np.minimum.accumulate((m / np.arange(1, m + 1) * p[order])[::-1])[::-1]
    found = np.full(len(p), nan)
    found[order] = np.minimum(steps, 1)
    return found
'''
"""Needs `adjustment` and `nan`."""


def python_start(
    settings: str,
    labels: str,
    *,
    software: str = " with numpy and scipy",
    imports: Sequence[str] = (),
    scipy: str = "optimize, stats",
) -> str:
    """The template of how a script begins: it imports packages and reads its data.

    Parameters
    ----------
    settings : str
        Lines that set the options of the analysis.
    labels : str
        The name of the first column of the data.
    software : str
        What follows the name of the software in the first line.
    imports : sequence of str
        Lines that import more of the standard library, between those for all.
    scipy : str
        What of scipy is imported.
    """
    more = "".join(f"{line}\n" for line in imports)
    return f"""\
# @software@{software}
# Needs numpy and scipy. Reads data.csv from the folder of this file.
@about@

import csv
import sys
{more}from pathlib import Path

import numpy as np
from scipy import {scipy}

{settings}
@names@
with Path(__file__).with_name("data.csv").open(encoding="utf-8", newline="") as file:
    header, *lines = csv.reader(file)
{labels} = np.array([line[0] for line in lines])
answers = np.array([[float(cell or "nan") for cell in line[1:]] for line in lines])
"""
