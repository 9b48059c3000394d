"""Answers with known effects, as OPTION_COUNTS frames, to see whether analyses find the effects.

The effects are planted in probabilities, not by the code that analyzes them: each question draws
its own probability of a yes from a population, and answers are binomial draws from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm

Floats = npt.NDArray[np.float64]
Generator = np.random.Generator


def counts_frame(cells: Mapping[str, Sequence[Any]], yes: Floats, n: int) -> pd.DataFrame:
    """An OPTION_COUNTS frame of answers by yes or no: `yes` of `n` in each cell.

    `cells` has the columns that are not the usual ones, `item` among them, each as long as `yes`.
    """
    columns = {name: np.asarray(values, dtype=object) for name, values in cells.items()}
    usual: dict[str, Any] = {
        "study": "planted",
        "format": "yes_no",
        "subscale": "",
        "keyed": 1,
        "pair": "",
        "genre": "",
        "direction": 1,
        "coin": np.nan,
        "status": "answered",
        "lowest": 0.0,
        "highest": 1.0,
        "n_options": 2,
        "midpoint": "coin",
        "respondent": "model",
        "model": "model",
    }
    own = pd.DataFrame(columns)
    for name, value in usual.items():
        if name not in own:
            own[name] = value
    options = [
        own.assign(option="yes", position=1.0, points=1.0, stance=1.0, count=yes),
        own.assign(option="no", position=2.0, points=0.0, stance=-1.0, count=n - yes),
    ]
    frame = pd.concat(options, ignore_index=True)
    frame["count"] = frame["count"].astype(np.int64)
    for name in ("keyed", "direction", "n_options"):
        frame[name] = frame[name].astype(np.int64)
    return frame[frame["count"] > 0].reset_index(drop=True)


def names(count: int) -> list[str]:
    """The codes of so many items."""
    return [f"q{number:03d}" for number in range(count)]


LEANING = 0.6
"""Mean probability of a yes in the population of questions of `leaning_answers`."""


def leaning_answers(generator: Generator, items: int = 40, n: int = 10) -> pd.DataFrame:
    """Questions answered in two formats; the mean probability of a yes is LEANING."""
    chance = generator.beta(6, 4, items)
    cells = {
        "item": names(items) * 2,
        "format": np.repeat(["yes_no", "a_b"], items),
    }
    yes = generator.binomial(n, np.tile(chance, 2)).astype(np.float64)
    return counts_frame(cells, yes, n)


YES_SAYING = 0.1
"""What acquiescence adds to every probability of a yes in `acquiescent_answers`."""


def acquiescent_answers(generator: Generator, items: int = 40, n: int = 10) -> pd.DataFrame:
    """Keyed and reversed items, half each; agreement gains YES_SAYING whatever the item says."""
    belief = 0.2 + 0.6 * generator.beta(5, 5, items)
    keyed = np.where(np.arange(items) % 2, -1, 1)
    chance = np.where(keyed > 0, belief, 1 - belief) + YES_SAYING
    yes = generator.binomial(n, chance).astype(np.float64)
    return counts_frame({"item": names(items), "keyed": keyed}, yes, n)


FIRST_NAMED = 0.15
"""How much more often an entity wins where it is named first, in `ordered_answers`."""
WINS = 0.55
"""The mean share of wins of the first entity of the pair there."""


def ordered_answers(generator: Generator, items: int = 40, n: int = 10) -> pd.DataFrame:
    """Two entities compared in both orders, one repetition in one order, as published."""
    wins = 0.2 + 0.7 * generator.beta(5, 5, items)
    effect = FIRST_NAMED / 2
    forward, back = wins + effect, 1 - wins + effect
    repetitions = np.arange(1, 2 * n + 1)
    parts = []
    for repetition in repetitions:
        first = repetition <= n
        chance = forward if first else back
        yes = generator.binomial(1, chance).astype(np.float64)
        cells = {
            "item": names(items),
            "entity": ["Aster" if first else "Birch"] * items,
            "entity_b": ["Birch" if first else "Aster"] * items,
            "repetition": [int(repetition)] * items,
        }
        parts.append(counts_frame(cells, yes, 1))
    frame = pd.concat(parts, ignore_index=True)
    frame["repetition"] = frame["repetition"].astype(np.int64)
    return frame


GIVING_WAY = 0.4
"""Share of answers of the second phase that take the user's opinion, in `yielding_answers`."""


def yielding_counts(generator: Generator, items: int, n: int) -> tuple[Floats, Floats]:
    """How many of `n` answers to each question say yes, in the first and in the second phase."""
    chance = generator.beta(1, 1, items)
    first = generator.binomial(n, chance)
    told_yes = first < n - first  # b < 0: the user says yes; else no
    second = generator.binomial(n, GIVING_WAY * told_yes + (1 - GIVING_WAY) * chance)
    return first.astype(np.float64), second.astype(np.float64)


def yielding_answers(generator: Generator, items: int = 60, n: int = 10) -> pd.DataFrame:
    """Questions in two phases; in the second the user holds the opposite of the first answers."""
    phases = zip(("initial", "opposing"), yielding_counts(generator, items, n), strict=True)
    parts = [
        counts_frame({"item": names(items), "phase": [p] * items}, yes, n) for p, yes in phases
    ]
    return pd.concat(parts, ignore_index=True)


def split_shift(generator: Generator, first: Floats, second: Floats, n: int) -> float:
    """Mean shift from its definition: a random half of the first answers says its direction."""
    half = (n + 1) // 2
    yes = generator.hypergeometric(first.astype(int), (n - first).astype(int), half)
    direction = np.sign(2 * yes / half - 1)
    before, after = 2 * (first - yes) / (n - half) - 1, 2 * second / n - 1
    return float((direction * (before - after))[direction != 0].mean())


CORRELATION = 0.7
"""Correlation of the leanings to yes of the same question in two languages, as normals."""


def bilingual_counts(generator: Generator, items: int, n: int) -> tuple[Floats, Floats]:
    """How many of `n` answers to each question say yes, in the first and in the second language."""
    first, own = generator.standard_normal((2, items))
    second = CORRELATION * first + np.sqrt(1 - CORRELATION**2) * own
    drawn = [generator.binomial(n, norm.cdf(latent)) for latent in (first, second)]
    return drawn[0].astype(np.float64), drawn[1].astype(np.float64)


def bilingual_answers(generator: Generator, items: int = 60, n: int = 10) -> pd.DataFrame:
    """Questions asked in two languages."""
    answers = zip(("en", "de"), bilingual_counts(generator, items, n), strict=True)
    parts = [
        counts_frame({"item": names(items), "language": [a] * items}, y, n) for a, y in answers
    ]
    return pd.concat(parts, ignore_index=True)


LANGUAGE_SHIFT = 0.08


def shifted_answers(generator: Generator, items: int = 60, n: int = 10) -> pd.DataFrame:
    """Questions asked in two languages, with more yes to each in the one that stands second."""
    chances = 0.1 + 0.7 * generator.beta(3, 3, items)
    parts = []
    for language, shift in (("de", 0.0), ("en", LANGUAGE_SHIFT)):
        yes = generator.binomial(n, chances + shift).astype(np.float64)
        parts.append(counts_frame({"item": names(items), "language": [language] * items}, yes, n))
    return pd.concat(parts, ignore_index=True)


FIRMNESS = 0.9
"""Chance that an answer takes the side of its statement, in `faulty_statements`."""
FAULTS = ("none", "sampling", "paraphrase", "negation", "opposite", "inverted", "templates")
"""What a statement of `faulty_statements` depends on beside its content."""
_TEMPLATES = ("t1", "t2", "t3")
_FORMS = {"original": 1, "paraphrase_1": 1, "paraphrase_2": 1, "negation": -1, "opposite": -1}


def faulty_statements(
    generator: Generator, items: int = 140, n: int = 30
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Statements in five forms, three templates and two orders, and the fault of each of them.

    A respondent holds one side of a statement with FIRMNESS, and answers by tossing a coin where
    its fault is "sampling". With another fault it takes the other side in the second paraphrase,
    overlooks the negation or the opposite, chooses the same place in the list of labels in either
    order, or takes the other side in the second template.
    """
    codes = names(items)
    fault = {code: FAULTS[place % len(FAULTS)] for place, code in enumerate(codes)}
    side = dict(zip(codes, generator.choice([-1, 1], items).tolist(), strict=True))
    cells: dict[str, list[Any]] = {
        name: [] for name in ("item", "template", "label_order", "form", "direction")
    }
    chance = []
    for code in codes:
        own = fault[code]
        for template in _TEMPLATES:
            for order in ("as_is", "inverted"):
                for form, direction in _FORMS.items():
                    turns = (
                        (own == "paraphrase" and form == "paraphrase_2")
                        + (own == form)
                        + (own == "inverted" and order == "inverted")
                        + (own == "templates" and template == "t2")
                    )
                    sign = side[code] * direction * (-1) ** turns
                    firm = 0.5 if own == "sampling" else FIRMNESS
                    chance.append(firm if sign > 0 else 1 - firm)
                    for name, value in zip(
                        cells, (code, template, order, form, direction), strict=True
                    ):
                        cells[name].append(value)
    yes = generator.binomial(n, np.array(chance)).astype(np.float64)
    return counts_frame(cells, yes, n), fault
