"""What the user may bring into the validation report, beside the bands of its ratings."""

from __future__ import annotations

from typing import Annotated

import pandas as pd

from core.analysis.options import SCORE_RULES
from core.analysis.registry import Choice, Number, OtherData, Text
from core.psychometrics.scale_scores import ScoreRule

_LEVEL_HELP = "A name as in the design; empty: {} if it is there, else the first other one."

Form = Annotated[str, Text("Alternate form", help=_LEVEL_HELP.format("alternate or paraphrase"))]
Order = Annotated[str, Text("Other order of options", help=_LEVEL_HELP.format("random"))]
Alternate = Annotated[
    pd.DataFrame | None,
    OtherData(
        "Study with the alternate form", "item_scores",
        help="Only where it is a study by itself; scores are matched on all else.",
    ),
]  # fmt: skip
Reordered = Annotated[
    pd.DataFrame | None,
    OtherData(
        "Study with shuffled options", "item_scores",
        help="Only where it is a study by itself; scores are matched on all else.",
    ),
]  # fmt: skip
Convergent = Annotated[
    pd.DataFrame | None,
    OtherData(
        "Study of another scale (convergent)", "item_scores",
        help="Of the same construct, asked of the same respondents under the same contexts.",
    ),
]  # fmt: skip
Texts = Annotated[
    pd.DataFrame | None,
    OtherData(
        "Study of texts (concurrent)", "texts",
        help="Written by the same respondents under the same contexts, scored by words.",
    ),
]  # fmt: skip
Missing = Annotated[
    ScoreRule,
    Choice(
        "Missing answers", SCORE_RULES,
        help="Which administrations have a score, for all criteria but internal consistency and "
        "factor model, which are of complete ones (full information: of all).",
    ),
]  # fmt: skip
Resamples = Annotated[
    int,
    Number("Bootstrap resamples", 100, 10_000, help="For the interval of internal consistency."),
]
Seed = Annotated[
    int, Number("Seed", 0, 2_147_483_647, help="The same seed draws the same resamples.")
]
