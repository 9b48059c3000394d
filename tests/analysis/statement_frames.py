"""OPTION_COUNTS frames of statements out of counts of yes and no, by template, order and form."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.domain.frames import OPTION_COUNTS, check_frame

NAN = float("nan")
FORMS = ("original", "paraphrase_1", "paraphrase_2", "negation", "opposite")


def statements(cells, *, unclear=0, formats=None, directions=None, **factors):
    """Counts of (item, template, order, form) -> (yes, no).

    `unclear` replies without an option come to every cell. `formats` maps templates to formats,
    `directions` forms to 1 or -1.
    """
    usual = {"negation": -1, "opposite": -1, **(directions or {})}
    kinds = (("yes", 1, 1, "answered"), ("no", 0, -1, "answered"), ("", NAN, NAN, "refused"))
    rows = [
        (item, template, order, form, option, position, stance, status, count)
        for (item, template, order, form), (yes, no) in cells.items()
        for (option, position, stance, status), count in zip(kinds, (yes, no, unclear), strict=True)
        if count
    ]
    names = ["item", "template", "label_order", "form", "option", "position", "stance", "status"]
    frame = pd.DataFrame(rows, columns=[*names, "count"])
    frame = frame.astype({"position": float, "stance": float})
    own = {
        "study": "s",
        "subscale": "",
        "keyed": 1,
        "pair": "",
        "genre": "",
        "points": np.nan,
        "coin": np.nan,
        "lowest": np.nan,
        "highest": np.nan,
        "n_options": 0,
        "midpoint": "drop",
    }
    frame = frame.assign(**own)
    frame["format"] = [(formats or {}).get(name, "agree_disagree") for name in frame["template"]]
    frame["direction"] = [usual.get(form, 1) for form in frame["form"]]
    places = ["template", "label_order", "form"]
    frame = frame[[*OPTION_COUNTS.columns, *places]].assign(**{"respondent": "gpt", **factors})
    check_frame(frame, OPTION_COUNTS)
    return frame


def random_cells(n_items, templates, *, seed, n=(6, 12, 13, 20, 30), lean=True):
    """Counts of every item, template, order and form; shares are of any size if `lean`."""
    chance = np.random.default_rng(seed)
    cells = {}
    for item in range(n_items):
        share = chance.choice([0.02, 0.1, 0.3, 0.5, 0.75, 0.97]) if lean else 0.5
        for template in templates:
            for order in ("as_is", "inverted"):
                for form in FORMS if order == "as_is" else FORMS[:1]:
                    size = int(chance.choice(n, p=[0.02, *[0.98 / (len(n) - 1)] * (len(n) - 1)]))
                    own = 1 - share if form in ("negation", "opposite") else share
                    yes = int(chance.binomial(size, own))
                    cells[f"i{item}", template, order, form] = (yes, size - yes)
    return cells
