"""What is true of simulated respondents, to set beside what the statistics say of them."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from core.collect import simulated_model
from core.workflow import studies
from core.workflow.workspace import Workspace


@dataclass(frozen=True, eq=False)
class KnownTruth:
    """The truth behind one simulated respondent of a study.

    `items`: item, subscale, keyed, loading (standardized, of the latent answer on its trait) and
    difficulty (in SDs of the latent answer). `alphas`: subscale and the alpha to expect of scored
    answers, by Monte Carlo (20,000 administrations).
    """

    respondent: str
    items: pd.DataFrame
    alphas: pd.DataFrame


def known_truth(workspace: Workspace, study: str) -> tuple[KnownTruth, ...]:
    """The truth of each simulated respondent of a study; none where it has none."""
    bank = studies.frozen_bank(workspace, study)
    record = studies.load(workspace, study)
    chosen = record.design.formats
    response_format = bank.format(chosen[0]) if len(chosen) == 1 else None
    found = []
    for person in studies.people(workspace, study):
        if person.simulation is None or response_format is None:
            continue
        items = simulated_model.item_truth(person.simulation, bank.items)
        alphas = simulated_model.expected_alpha(person.simulation, bank.items, response_format)
        found.append(
            KnownTruth(
                person.label,
                pd.DataFrame([vars(item) for item in items]),
                pd.DataFrame({"subscale": list(alphas), "alpha": list(alphas.values())}),
            )
        )
    return tuple(found)
