"""Columns that many analyses declare alike."""

from __future__ import annotations

from dataclasses import replace

from core.analysis.kit.options import StatisticForm, reported_first
from core.domain.results import Column
from core.domain.tables import estimate, point_estimate


def with_upper_help(
    columns: tuple[Column, ...], help: str = "The upper end of the same interval."
) -> tuple[Column, ...]:
    """Columns that end with an interval, of which the upper end has a tooltip of its own."""
    return (*columns[:-1], replace(columns[-1], help=help))


def v_columns(reported: StatisticForm, unit: str, without: str = "") -> tuple[Column, ...]:
    """The columns of Cramér's V, corrected and as published; `unit` is what is resampled.

    `without` ends the tooltip of the interval, and begins with a blank or is empty.
    """
    corrected = estimate(
        "v_corrected",
        "Cramér's V, corrected",
        "correlation",
        "V without what chance adds: 0 where chance alone gives as much, 1 where levels have "
        "nothing in common. Bergsma (2013) doi:10.1016/j.jkss.2012.10.002, with as many "
        f"answers as would vary as much as whole {unit}s do.",
        f"Of V, by resampling whole {unit}s and inverting a test, Carpenter & Bithell (2000): it "
        f"holds V, and 0 where levels do not differ.{without}",
        ends_name="v",
    )
    published = point_estimate(
        "v",
        "Cramér's V",
        "correlation",
        "As published: √(chi-square / (n (k - 1))), 0 to 1. Chance makes it larger.",
    )
    return reported_first(reported, with_upper_help(corrected, "The upper end."), (published,))
