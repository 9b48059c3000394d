"""The command `precision`: which precision a planned study reaches, by simulated people."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core import export
from core.commands.shared import Command, argument, pair, write
from core.domain.study import SimulationSettings
from core.errors import FileError
from core.workflow.precision import study as precision_study
from core.workflow.precision.plans import AXES
from core.workflow.precision.statistics import STATISTICS
from core.workflow.precision.study import DEFAULT_TRUTH, PrecisionRequest
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its arguments."""
    return Command(
        _precision,
        (
            argument("study"),
            argument(
                "--target",
                action="append",
                required=True,
                metavar="STATISTIC=HALF-WIDTH",
                help=f"half-width wanted, of one of: {', '.join(STATISTICS)}",
            ),
            argument(
                "--set",
                action="append",
                default=[],
                metavar="SETTING=NUMBER",
                help="the truth behind the simulated people: "
                f"{', '.join(SimulationSettings.__dataclass_fields__)}",
            ),
            argument(
                "--respondent", default="", help="label of the respondent (default: the first)"
            ),
            argument(
                "--vary",
                choices=tuple(AXES),
                default="",
                help="what there may be more or fewer of (default: contexts, if several)",
            ),
            argument(
                "--replications", type=int, default=20, help="simulated studies (default: 20)"
            ),
            argument(
                "--share",
                type=float,
                default=0.8,
                metavar="SHARE",
                help="share of replications that reach the target (default: 0.8)",
            ),
            argument(
                "--table",
                choices=("precision", "curves"),
                default="precision",
                help="the table of a CSV (default: precision)",
            ),
            argument("--out", type=Path, help="file to write: .csv, .zip (all tables) or .json"),
        ),
    )


def _precision(workspace: Workspace, parsed: argparse.Namespace) -> None:
    request = PrecisionRequest(
        parsed.study,
        {name: _number(text, "--target") for name, text in _pairs(parsed.target, "--target")},
        _truth(parsed.set),
        respondent=parsed.respondent,
        axis=parsed.vary,
        replications=parsed.replications,
        assurance=parsed.share,
    )
    result = precision_study.precision(workspace, request)
    precision_study.save_result(workspace, request, result)
    for answer in precision_study.answers(result):
        print(f"{answer.group}: {answer.sentence}", file=sys.stderr)
    suffix = parsed.out.suffix.lower() if parsed.out else ".csv"
    if suffix == ".json":
        data = export.result_json(result)
    elif suffix == ".zip":
        data = export.result_zip(result)
    else:
        data = export.table_csv(next(t for t in result.tables if t.name == parsed.table))
    write(parsed.out, data)
    for note in result.all_notes:
        print(note, file=sys.stderr)


def _pairs(texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    return [pair(text, option) for text in texts]


def _truth(texts: Sequence[str]) -> SimulationSettings:
    """The truth with the settings that are named; whole where the default is whole."""
    truth = DEFAULT_TRUTH
    for name, text in _pairs(texts, "--set"):
        if name not in SimulationSettings.__dataclass_fields__:
            raise FileError(
                f"Simulated people have no setting '{name}'.",
                f"Use: {', '.join(SimulationSettings.__dataclass_fields__)}.",
            )
        number = _number(text, "--set")
        settings: dict[str, Any] = {name: int(number) if name == "seed" else number}
        truth = replace(truth, **settings)
    return truth


def _number(text: str, option: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise FileError(f"{option} '{text}' is not a number.", "Write it as 0.05.")
    return number
