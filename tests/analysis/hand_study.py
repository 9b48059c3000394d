"""A study by hand: perfectly consistent under each condition, and different between conditions.

Two models of one mind, 3 contexts, 2 templates, 2 formats, 2 languages, 3 repetitions. What is
said of an item turns to the opposite with every step of each factor, so that all repetitions under
one condition are alike and half of all answers of a group are yes.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from core.domain.frames import OPTION_COUNTS, check_frame
from core.domain.study import FACTORS

NAN = float("nan")
ITEMS, CONTEXTS, TEMPLATES, FORMATS, LANGUAGES, REPETITIONS = 4, 3, 2, 2, 2, 3
N = ITEMS * CONTEXTS * TEMPLATES * FORMATS * LANGUAGES * REPETITIONS


def hand_study(
    keeps,
    *,
    forms=("original",),
    phases=("initial",),
    pairs=False,
    items=ITEMS,
    seed=None,
    **factors,
):
    """OPTION_COUNTS of the study, kept apart as the workflow would for an analysis.

    A negation, and the second phase, get the opposite answer. `pairs` makes items compare two
    entities. With a seed, every fifth answer or so is the other one.
    """
    chance = None if seed is None else np.random.default_rng(seed)
    rows = []
    for item, context, template, form_at, language in product(
        range(items), range(CONTEXTS), range(TEMPLATES), range(FORMATS), range(LANGUAGES)
    ):
        for form, phase in product(forms, phases):
            turned = (form == "negation") + (phase == "opposing")
            yes = (item + context + template + form_at + language + turned) % 2 == 0
            said = [
                yes if chance is None or chance.random() > 0.2 else not yes
                for _ in range(REPETITIONS)
            ]
            rows += [
                {
                    "item": f"i{item}",
                    "context": f"c{context}",
                    "template": f"t{template}",
                    "format": f"f{form_at}",
                    "language": "en" if language else "de",
                    "form": form,
                    "phase": phase,
                    "direction": -1 if form == "negation" else 1,
                    "repetition": repetition,
                    "option": "yes" if answer else "no",
                    "position": float(answer),
                    "points": float(answer),
                    "stance": 1.0 if answer else -1.0,
                    "entity": "A" if pairs else "",
                    "entity_b": "B" if pairs else "",
                }
                for repetition, answer in enumerate(said, 1)
            ]
    usual = {
        "study": "s",
        "subscale": "",
        "keyed": 1,
        "pair": "",
        "genre": "",
        "coin": NAN,
        "status": "answered",
        "lowest": 0.0,
        "highest": 1.0,
        "n_options": 2,
        "midpoint": "drop",
        "respondent": "gpt",
        "model": "gpt",
        **factors,
    }
    frame = pd.DataFrame(rows).assign(**usual)
    kept = [name for name in FACTORS if name in keeps or name == "respondent"]
    cell = [*(name for name in OPTION_COUNTS.columns if name != "count"), *kept]
    cell = [name for name in dict.fromkeys(cell) if name in frame]
    counts = frame.groupby(cell, sort=False, dropna=False).size().rename("count").reset_index()
    check_frame(counts, OPTION_COUNTS)
    return counts
