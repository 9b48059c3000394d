"""What the edit of a factor model changes: the edited model against the bank's, in each group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from core.analysis.factors.cfa_comparison.models import Nested
from core.analysis.kit.factor_models.fit import ReportedFit, reported_fit
from core.analysis.kit.sentences import (
    Light,
    TableRow,
    coefficient_text,
    decimal_text,
    judged_text,
    p_text,
    rows_by_group,
    table_of,
)
from core.domain.results import AnalysisResult
from core.stats.validation import FEWEST_ROWS

BANK_MODEL = "The bank's model"
EDITED_MODEL = "Your model"
"""What the two models are called in the comparison."""

CHANGE_BOUNDS = (
    "Better or worse by the test of Δχ² (p < .05) where one model is a special case of the other; "
    "else by BIC (a difference above 2; Raftery, 1995), and without a likelihood by CFI (above "
    ".01; Chen, 2007)"
)
"""When one of two models fits better."""

Verdict = Literal["better", "worse", "alike", "unknown"]
_SIGNIFICANT = 0.05
_LITTLE_BIC = 2.0
"""A difference of BIC up to which neither model is preferred; Raftery (1995)."""
_LITTLE_CFI = 0.01
"""A difference of CFI up to which neither model is preferred; Chen (2007)."""
_WORDS = {"better": "fits better", "worse": "fits worse", "unknown": "no verdict"}
_WHY_NO_TEST: dict[Nested, str] = {
    "yes": "at least one of the models has no test",
    "no": "as many free parameters in both",
    "not known": "not nested as far as can be seen",
}
_LIGHTS: dict[Verdict, Light] = {
    "better": "green",
    "worse": "red",
    "alike": "grey",
    "unknown": "grey",
}


@dataclass(frozen=True)
class ModelChange:
    """The edited model less the bank's model in one group.

    Parameters
    ----------
    group : its name.
    bank, edited : test and indices of both, None where a model has no test.
    bank_bic, edited_bic : NaN without a likelihood.
    chi2, df, p : test of the restrictions of the one that has more of them; `df` is 0 or more,
        `chi2` and `p` are NaN where neither is known to be a special case of the other.
    cfi, rmsea, aic, bic : edited less bank's, in the version that `cfa_comparison` compares.
    edited_is_freer : whether the edited model has fewer restrictions.
    nested : whether the one is a special case of the other, or of other items.
    remark : why there is no comparison.
    few : whether there are too few rows for a verdict.
    """

    group: str
    bank: ReportedFit | None
    edited: ReportedFit | None
    bank_bic: float = math.nan
    edited_bic: float = math.nan
    chi2: float = math.nan
    df: int = 0
    p: float = math.nan
    cfi: float = math.nan
    rmsea: float = math.nan
    aic: float = math.nan
    bic: float = math.nan
    edited_is_freer: bool = False
    nested: Nested = "no"
    remark: str = ""
    few: bool = False

    @property
    def is_tested(self) -> bool:
        """Whether the difference of χ² has a test."""
        return math.isfinite(self.p)

    @property
    def verdict(self) -> Verdict:
        """Which model fits better.

        By the test of Δχ² where there is one: the freer model fits better if the restrictions do
        not hold (p < .05). Else by BIC, and without a likelihood by CFI. Unknown of few rows.
        """
        if self.few:
            return "unknown"
        if self.is_tested:
            if self.p >= _SIGNIFICANT:
                return "alike"
            return "better" if self.edited_is_freer else "worse"
        for gain, little in ((-self.bic, _LITTLE_BIC), (self.cfi, _LITTLE_CFI)):
            if math.isfinite(gain):
                return "alike" if abs(gain) <= little else "better" if gain > 0 else "worse"
        return "unknown"

    @property
    def light(self) -> Light:
        """The verdict as a light."""
        return _LIGHTS[self.verdict]

    @property
    def sentence(self) -> str:
        """The change in one sentence, with the reason where there is no test."""
        start = f"Your model against the bank's, {self.group}"
        if self.bank is None or self.edited is None:
            return f"{start}: not compared. {self.remark}".strip()
        if self.nested == "other items":
            return (
                f"{start}: {self.edited.indices}; the bank's: {self.bank.indices}. No test: the "
                "two models have different items or covariates."
            )
        numbers = [f"ΔCFI {_signed(self.cfi, _LITTLE_CFI, 3)}"]
        if self.is_tested:
            chi2 = decimal_text(self.chi2, 1)
            test = f"Δχ²({self.df}) = {chi2}, {p_text(self.p)}"
            return f"{start}: {', '.join([test, *numbers])}: {self._verdict_words}."
        numbers.insert(0, f"{self.edited.chi2_words} instead of {self.bank.chi2_words}")
        if math.isfinite(self.bic):
            numbers.append(f"ΔBIC {_signed(self.bic, _LITTLE_BIC, 1)}")
        return (
            f"{start}: {', '.join(numbers)}: {self._verdict_words}. No test of Δχ² "
            f"({_WHY_NO_TEST[self.nested]})."
        )

    @property
    def _verdict_words(self) -> str:
        """The verdict as the end of the sentence."""
        if self.verdict != "alike":
            return _WORDS[self.verdict]
        if not self.is_tested:
            return "both fit alike"
        if self.edited_is_freer:
            return "fits no better"
        return "fits no worse, with fewer parameters"


def model_changes(result: AnalysisResult) -> tuple[ModelChange, ...]:
    """What the edited model changes in each group.

    Parameters
    ----------
    result : AnalysisResult
        Of `cfa_comparison`, of two models named `BANK_MODEL` and `EDITED_MODEL`.

    Returns
    -------
    tuple of ModelChange
        One per group; every number is one of the tables of `result`, or its negative.
    """
    differences = rows_by_group(table_of(result, "differences"))
    fits = rows_by_group(table_of(result, "fit"))
    return tuple(
        _change(group, {row["factor_model"]: row for row in rows}, differences.get(group, []))
        for group, rows in fits.items()
    )


def _change(group: str, fits: dict[str, TableRow], differences: list[TableRow]) -> ModelChange:
    """The change of one group."""
    rows = fits[BANK_MODEL], fits[EDITED_MODEL]
    bank, edited = map(reported_fit, rows)
    bics = rows[0]["bic"], rows[1]["bic"]
    if not differences:
        reasons = [f"{row['factor_model']}: {row['remark']}" for row in rows if row["remark"]]
        return ModelChange(group, bank, edited, *bics, remark=" ".join(reasons))
    (row,) = differences
    is_freer = bool(row["freer"] == EDITED_MODEL)
    sign = -1.0 if is_freer else 1.0  # the table has the restricted model less the freer one
    return ModelChange(
        group,
        bank,
        edited,
        *bics,
        chi2=row["chi2_difference"],
        df=int(row["df_difference"]),
        p=row["p_difference"],
        cfi=sign * row["cfi_difference"],
        rmsea=sign * row["rmsea_difference"],
        aic=sign * row["aic_difference"],
        bic=sign * row["bic_difference"],
        edited_is_freer=is_freer,
        nested=row["nested"],
        few=rows[0]["n"] < FEWEST_ROWS,
    )


def _signed(value: float, little: float, places: int) -> str:
    """The number with its sign, as its bound judges it; of three places without a leading zero."""
    write = coefficient_text if places == 3 else decimal_text
    text = judged_text(value, (-little, little), places, write)
    return text if value < 0 or not math.isfinite(value) else f"+{text}"
