"""Cases of statements: other wordings and templates, worldviews, and replies that are invalid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.coverage.answers import option_counts
from benchmarks.coverage.cases import NULL, Case
from benchmarks.coverage.comparisons import Coders
from benchmarks.coverage.counts import SHAPES, YesNo

_COMPARED = {"comparisons.ci_low": 0.0, "comparisons.p": NULL, "comparisons.p_adjusted": NULL}
_MODELS, _FORMS = ("a", "b"), ("original", "paraphrase_1")
_RESAMPLES = 400


@dataclass(frozen=True)
class Wordings:
    """Statements whose stance comes out with the same chance in every wording and template.

    Two models answer once each, between which nothing differs. `positive` is the share of positive
    stances, None for a half.
    """

    statements: int
    templates: int
    seen: float
    positive: float | None = None

    @property
    def _coders(self) -> Coders:
        """Every wording of every template, of either model, is a coder of the stance."""
        n = len(_MODELS) * self.templates * len(_FORMS)
        return Coders(self.statements, 2, self.seen, ("",) * n, self.positive)

    @property
    def kappa(self) -> float:
        """Of two wordings, and the alpha of templates."""
        return self._coders.kappa

    @property
    def title(self) -> str:
        """The design in words."""
        positive = f", {100 * self.positive:g} % positive" if self.positive else ""
        return (
            f"{self.statements} statements in two wordings and {self.templates} templates, "
            f"kappa {self.kappa:.2f}{positive}"
        )

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Counts of yes and no."""
        factors = {
            "respondent": _MODELS,
            "template": [f"t{number + 1}" for number in range(self.templates)],
            "form": _FORMS,
        }
        shape = [*map(len, factors.values()), self.statements]
        codes = 1 - self._coders.codes(draw).reshape(shape)
        return option_counts(codes, factors, (1, 2), ("template", "form"))


@dataclass(frozen=True)
class Worldview:
    """Statements of one domain answered with yes or no, and parties with positions on them.

    Positions are 1, 0 or -1 alike often; the second party has that of the first with the chance
    `copied`, and any otherwise.
    """

    answered: YesNo
    copied: float = 0.6

    @property
    def agrees(self) -> float:
        """The share of yes among the statements that count."""
        return self.answered.reliable_yes / self.answered.reliable

    def loadings(self, draw: np.random.Generator) -> pd.DataFrame:
        """LOADINGS: agreement with each statement is for the same domain."""
        del draw
        return pd.DataFrame({"study": "s", "item": self._items, "domain": "d", "loading": 1})

    def items(self, draw: np.random.Generator) -> pd.DataFrame:
        """ITEMS of the bank, of one country."""
        del draw
        position = range(1, len(self._items) + 1)
        return pd.DataFrame(
            {"study": "s", "item": self._items, "position": position, "rank": np.nan}
        ).assign(genre="", country="A")

    def positions(self, draw: np.random.Generator) -> pd.DataFrame:
        """POSITIONS of a party of the left and one of the right."""
        first, other = draw.integers(-1, 2, size=(2, len(self._items)))
        second = np.where(draw.random(len(self._items)) < self.copied, first, other)
        parties = (("p", "left", first), ("q", "right", second))
        rows = [
            pd.DataFrame({"item": self._items, "party": name, "leaning": side, "position": stance})
            for name, side, stance in parties
        ]
        return pd.concat(rows, ignore_index=True).assign(study="s", country="A")

    @property
    def _items(self) -> list[str]:
        return [f"i{number + 1:02}" for number in range(self.answered.items)]

    @property
    def case(self) -> Case:
        """All that the analysis shows; a party shares a third of the stances that count."""
        rest = (1 - self.copied) / 3
        same = self.answered.reliable / 3
        truths = {
            "groups.reliable_low": self.answered.reliable,
            "groups.agrees_low": self.agrees,
            "domains.ci_low": 2 * self.agrees - 1,
            "leaning.ci_low": same,
            "parties.ci_low": same,
            "party_pairs.rho_low": self.copied,
            "party_pairs.decided_low": self.copied / (self.copied + 2 * rest),
        }
        several = self.answered.factor == "template"
        return Case(
            f"{self.answered.title}, two {self.answered.factor}s",
            "worldview",
            self.answered.answers,
            truths if several else {**truths, **_COMPARED},
            {"by": ("respondent",) if several else ("language",), "resamples": _RESAMPLES},
            tables={
                "loadings": self.loadings,
                "items": self.items,
                "positions": self.positions,
            },
        )


def tries(counts: pd.DataFrame) -> pd.DataFrame:
    """ATTEMPT_COUNTS of OPTION_COUNTS: each trial is tried once, and a refusal is invalid."""
    answered = counts["status"] == "answered"
    frame = counts.drop(columns=["option", "position", "points", "stance", "status"])
    return frame.assign(
        outcome=np.where(answered, "usable", "unusable"),
        number=1,
        final=True,
        from_attempts=True,
        tokens_in=counts["count"],
        tokens_out=counts["count"],
        tokens_known=counts["count"],
    )


def cases() -> Iterator[Case]:
    """All cases of statements."""
    for items in (6, 10, 30):
        for shape in SHAPES:
            yield _invalid(YesNo(items, shape, refused=True))
    for items in (10, 20, 60):
        for shape in ((0.5, 0.5), (1.5, 0.5)):  # most statements have a stance
            for factor in ("language", "template"):
                yield Worldview(YesNo(items, shape, factor=factor)).case
    for statements in (10, 20, 60):
        for templates, seen, positive in ((1, 0.9, None), (3, 0.7, None), (3, 0.9, 0.8)):
            yield _wordings(Wordings(statements, templates, seen, positive))


def _wordings(design: Wordings) -> Case:
    truths = {f"{table}.ci_low": design.kappa for table in ("kappas", "template_kappas")}
    if design.templates > 1:
        truths["alpha.ci_low"] = design.kappa
    options = {"by": ("respondent",), "resamples": _RESAMPLES}
    return Case(design.title, "form_agreement", design.answers, {**truths, **_COMPARED}, options)


def _invalid(design: YesNo) -> Case:
    invalid = 1 - design.mean
    return Case(
        design.title,
        "invalid_answers",
        lambda draw: tries(design.answers(draw)),
        {"summary.ci_low": invalid, "summary.never_low": invalid, **_COMPARED},
        {"by": ("respondent", "language"), "resamples": _RESAMPLES},
    )
