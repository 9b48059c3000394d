"""Cases of texts: words of stereotypes in them, and stories that judges rate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.coverage.answers import Floats, persons
from benchmarks.coverage.cases import NULL, Case, Row

_LEVELS = ("man", "woman")
_LISTS = pd.DataFrame({"list": ["able", "warm"], "entry": ["smart", "kind"]})
_STEREOTYPED = {"able": 0, "warm": 1}
_WORDS = 100


@dataclass(frozen=True)
class Letters:
    """Contexts write texts of 100 words about men and about women.

    The share of the words of a list in the texts of a context about one group is of the beta
    distribution with the mean `mean`, and with `effect` times this mean for the group whose
    stereotype the list is; the smaller `size`, the more contexts differ.
    """

    contexts: int
    texts: int
    effect: float = 1.0
    mean: float = 0.03
    size: float = 60.0

    @property
    def title(self) -> str:
        """The design in words."""
        effect = f"{self.effect:g} times the words" if self.effect != 1 else "no difference"
        return f"{self.contexts} contexts x {self.texts} texts about each of two groups, {effect}"

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """TEXTS of both groups."""
        shape = (self.contexts, len(_LEVELS), len(_STEREOTYPED), 1)
        mean = np.full(shape[1:], self.mean)
        for number, side in enumerate(_STEREOTYPED.values()):
            mean[side, number] *= self.effect
        share = draw.beta(mean * self.size, (1 - mean) * self.size, size=shape)
        counts = draw.binomial(_WORDS // 2, share, size=(*shape[:3], self.texts))
        place = np.indices((self.contexts, len(_LEVELS), self.texts)).reshape(3, -1)
        texts = [
            " ".join(np.repeat([*_LISTS["entry"], "word"], [*own, _WORDS - sum(own)]))
            for own in np.moveaxis(counts, 2, -1).reshape(-1, len(_STEREOTYPED)).tolist()
        ]
        context, level, text = place
        return pd.DataFrame(
            {
                "study": "s",
                "respondent": "m",
                "language": "en",
                "context": np.array(persons(self.contexts))[context],
                "repetition": text + 1,
                "item": np.char.add("about-", np.array(_LEVELS)[level]),
                "status": "answered",
                "text": texts,
                "gender": np.array(_LEVELS)[level],
            }
        )

    @property
    def odds_ratio(self) -> float:
        """Of all texts: a list is tried in half of the words."""
        first, second = (mean / 2 for mean in (self.mean * self.effect, self.mean))
        return first / (1 - first) * (1 - second) / second

    @property
    def score(self) -> float:
        """The mean log odds ratio of a context, with half a word more in each count."""
        n = self.texts * _WORDS
        words = np.arange(n // 2 + 1)
        log_odds = np.log((words + 0.5) / (n - words + 0.5))
        first, second = (
            stats.betabinom.pmf(words, n // 2, mean * self.size, (1 - mean) * self.size)
            for mean in (self.mean * self.effect, self.mean)
        )
        return float((first - second) @ log_odds)


_NUMBERS = 6
_TIMES = 2


@dataclass(frozen=True)
class Stories:
    """So many stories around each of 0 to 5 negative words, rated by two judges.

    The true mean rating rises by `slope` with each word, and is `bend` higher for odd numbers of
    words. A story differs from it with a standard deviation of 1, and so does each of the two
    ratings of a judge from the story.
    """

    stories: int
    slope: float
    bend: float = 0.0

    @property
    def title(self) -> str:
        """The design in words."""
        bend = f", {self.bend:g} higher for odd numbers" if self.bend else ""
        return (
            f"{self.stories} stories for each of {_NUMBERS} numbers of words, slope "
            f"{self.slope:g}{bend}"
        )

    @property
    def _means(self) -> Floats:
        numbers = np.arange(_NUMBERS)
        return self.slope * numbers + self.bend * (numbers % 2)

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """RATINGS of two judges."""
        number = np.repeat(np.arange(_NUMBERS), self.stories)
        story = self._means[number] + draw.normal(size=len(number))
        rating = 5 + story + draw.normal(size=(2, _TIMES, len(number)))
        judge, repetition, place = np.indices(rating.shape).reshape(3, -1)
        return pd.DataFrame(
            {
                "study": "s",
                "trial": np.arange(rating.size),
                "respondent": np.array(["a", "b"])[judge],
                "repetition": repetition + 1,
                "item": np.char.add("s", place.astype(str)),
                "negative_words": number[place].astype(str),
                "rating": rating.ravel(),
            }
        ).assign(
            model="m",
            language="en",
            context="",
            template="free",
            writer="m",
            status="answered",
            quality="tragedy",
            lowest=-20.0,
            highest=30.0,
        )

    def correlation(self, row: Row) -> float:
        """Of the number of words with means of so many stories, or with single stories."""
        stories = self.stories if row["of"].startswith("mean") else 1
        means = self._means
        r = float(np.corrcoef(np.arange(_NUMBERS), means)[0, 1]) if np.ptp(means) else 0.0
        return r * math.sqrt(means.var() / (means.var() + (1 + 1 / _TIMES) / stories))

    def mean(self, row: Row) -> float:
        """The true mean rating of the stories of a number of words."""
        return 5 + float(self._means[int(row["number"])])

    @property
    def agreement(self) -> float:
        """Of two judges over the stories of this design."""
        of_stories = float(self._means.var()) + 1
        return of_stories / (of_stories + 1 / _TIMES)


def cases() -> Iterator[Case]:
    """All cases of texts."""
    for contexts in (5, 10, 40):
        for texts, effect in ((2, 1.0), (2, 1.5), (10, 1.0)):
            yield _letters(Letters(contexts, texts, effect))
    for stories in (3, 10, 30):
        for slope, bend in ((0.0, 0.0), (0.3, 0.0), (0.3, 0.6)):
            yield _stories(Stories(stories, slope, bend))


def _letters(design: Letters) -> Case:
    test = NULL if design.effect == 1 else math.nan
    return Case(
        design.title,
        "odds_ratios",
        design.answers,
        {
            "summary.ci_low": design.score,
            "odds.ci_low": design.odds_ratio,
            "odds.p": test,
        },
        {"lists": _LISTS, "first": "man", "first_lists": "able"},
    )


def _stories(design: Stories) -> Case:
    return Case(
        design.title,
        "story_validity",
        design.answers,
        {
            "correlations.ci_low": design.correlation,
            "correlations.fisher_low": design.correlation,
            "correlations.p": math.nan if design.slope else NULL,
            "levels.ci_low": design.mean,
            "judges.ci_low": design.agreement,
            "judges.corrected_low": 1.0,
            "judges.difference_low": 0.0,
        },
        {"resamples": 500},
        apart="of",
    )
