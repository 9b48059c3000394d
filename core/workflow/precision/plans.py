"""The plan of a study, of any number of contexts or repetitions, answered by simulated people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.collect.monte_carlo import SimulatedAnswers, simulate_answers
from core.domain.frames import OPTION_COUNTS
from core.domain.instrument import Instrument, coin
from core.domain.study import INITIAL, OPPOSING, SimulationSettings, Status
from core.domain.values import stable_id
from core.errors import DesignError
from core.workflow.designs import studies
from core.workflow.statistics import frames
from core.workflow.workspace import Workspace

Axis = Literal["context", "repetition"]
AXES: dict[Axis, tuple[str, str]] = {
    "context": ("context", "contexts"),
    "repetition": ("repetition", "repetitions"),
}
"""What a study can have more or fewer of: the word for one, and for several."""

_REPLICATION = "\x1e"  # between a context and the number of a replication
_QUESTION = [
    "language",
    "context",
    "entity",
    "entity_b",
    "form",
    "format",
    "template",
    "label_order",
    "item",
]

_Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RespondentPlan:
    """What a study asks one respondent, as a frame of trials.

    `trials` is an ITEM_SCORES frame of the first phase; `unit` the place of each trial's context or
    repetition among all of them, `levels` these contexts or repetitions. `second_phase` is the
    template of a second phase, empty for none.
    """

    study: str
    respondent: str
    instrument: Instrument
    axis: Axis
    trials: pd.DataFrame
    unit: _Integers
    levels: tuple[Any, ...]
    order_seed: int
    second_phase: str = ""
    ask_again: int = 0
    whole_calls: bool = False

    @property
    def planned(self) -> int:
        """The planned number of contexts or repetitions."""
        return len(self.levels)

    def trials_of(self, number: int) -> int:
        """How many trials that many contexts or repetitions have."""
        whole, rest = divmod(number, self.planned)
        phases = 2 if self.second_phase else 1
        return phases * (whole * len(self.trials) + int((self.unit < rest).sum()))


def load_plan(
    workspace: Workspace, study: str, *, respondent: str = "", axis: Axis | Literal[""] = ""
) -> RespondentPlan:
    """What a frozen study asks one respondent: the one of that label, else the first.

    Without `axis`, the study has more or fewer contexts where it plans several, else repetitions.

    Raises
    ------
    DesignError
        The study was imported, asks for texts, or does not ask that respondent.
    """
    record = studies.load(workspace, study)
    respondents = {one.label: one for one in studies.respondents_of(workspace, study)}
    people = list(respondents)
    if not people:
        raise DesignError(
            f"The answers of study '{study}' were imported, so there is no plan to simulate.",
            "Choose a study that was planned on the page Design.",
        )
    if respondent and respondent not in people:
        raise DesignError(
            f"Study '{study}' does not ask the respondent '{respondent}'.",
            f"Choose one of: {', '.join(people)}.",
        )
    chosen = respondent or people[0]
    levels_of_settings = record.design.stated_settings(respondents[chosen])
    where = {"respondent": [respondents[chosen].name], "phase": [INITIAL]}
    where |= {name: [level] for name, level in levels_of_settings.items() if level}
    if record.design.whole_calls and not set(record.design.block_sizes) <= {0, 1}:
        raise DesignError(
            f"Study '{study}' counts calls as a whole, and its calls hold some of the items.",
            "Plan the precision of a study with one item or all items in a call.",
        )
    trials = frames.item_scores(workspace, [study], where)
    axis = axis or ("context" if len(trials["context"].unique()) > 1 else "repetition")
    # In an order of their own, so that the first ones are a sample of personas and conversations.
    codes, levels = pd.factorize(trials[axis].astype(object))
    order = np.random.default_rng(record.design.seed).permutation(len(levels))
    return RespondentPlan(
        study,
        chosen,
        studies.frozen_bank(workspace, study),
        axis,
        trials,
        np.argsort(order)[codes],
        tuple(levels[order]),
        record.design.seed,
        record.design.second_phase,
        record.design.ask_again,
        record.design.whole_calls,
    )


@dataclass(frozen=True, eq=False)
class SimulatedStudy:
    """A plan of some number of contexts or repetitions, with the answers of simulated people."""

    plan: RespondentPlan
    trials: pd.DataFrame
    unit: _Integers
    answers: SimulatedAnswers

    def item_scores(self, number: int) -> pd.DataFrame:
        """ITEM_SCORES of the first so many contexts or repetitions."""
        own = self.unit < number
        return self.trials[own].assign(
            status=pd.Categorical(self.answers.status[own]), score=self.answers.score[own]
        )

    def option_counts(
        self, number: int, factors: Sequence[str], seed: int | None = None
    ) -> pd.DataFrame:
        """OPTION_COUNTS of the first so many, kept apart by some factors."""
        own = np.flatnonzero(self.unit < number)
        kept = tuple(dict.fromkeys(("study", *factors)))
        trials, option = self.trials.iloc[own], self.answers.option[own]
        facts = _Facts(self.plan.instrument, trials, option)
        thrown = np.zeros(len(own), dtype=np.int64)
        if seed is not None:
            trial = trials["administration"].to_numpy() ^ facts.item_keys
            thrown = np.where(facts.stance == 0, coin(trial, seed), 0)
        status = pd.Categorical(self.answers.status[own])
        parts = [pd.factorize(trials[name])[0] for name in dict.fromkeys((*kept, "format"))]
        parts += [facts.item, facts.direction + 1, option + 1, thrown, status.codes]
        cell = np.zeros(len(own), dtype=np.int64)
        for part in parts:
            cell = cell * (int(part.max()) + 1) + part
        _, first, count = np.unique(cell, return_index=True, return_counts=True)
        counted = (
            facts.columns()
            .iloc[first]
            .assign(
                **{name: trials[name].array[first] for name in dict.fromkeys((*kept, "format"))},
                status=status[first],
                count=count,
                coin=np.where(
                    (facts.stance[first] == 0) & (seed is not None), thrown[first], np.nan
                ),
            )
        )
        order = np.lexsort([first, counted["position"].to_numpy(), facts.item[first]])
        names = (*kept, *(name for name in OPTION_COUNTS.columns if name not in kept))
        return counted.iloc[order].reset_index(drop=True)[list(names)]


class _Facts:
    """What the bank says of the item, form, format and option of each of some trials."""

    def __init__(self, instrument: Instrument, trials: pd.DataFrame, option: _Integers) -> None:
        self._items = instrument.items
        codes = pd.Index([item.code for item in self._items])
        own, levels = pd.factorize(trials["item"])
        self.item = codes.get_indexer(pd.Index(levels))[own]
        keys = np.array([stable_id("item", item.code) for item in self._items], dtype=np.int64)
        self.item_keys = keys[self.item]
        form, forms = pd.factorize(trials["form"])
        directions = np.array([[i.direction(str(f)) for i in self._items] for f in forms])
        self.direction = directions[form, self.item]
        self._format, formats = pd.factorize(trials["format"])
        self._formats = [f for code in formats for f in instrument.formats if f.code == code]
        first = np.cumsum([0, *(len(f.options) for f in self._formats)])
        self._options = [o for f in self._formats for o in f.options]
        self._slot = np.where(option >= 0, first[self._format] + option, len(self._options))
        self._option = option
        self.stance = self._of_options([o.stance for o in self._options])

    def columns(self) -> pd.DataFrame:
        """The columns of OPTION_COUNTS that the bank fills."""
        ends = [f.points_range() or (math.nan, math.nan) for f in self._formats]
        chosen = [o.code for o in self._options] + [""]
        return pd.DataFrame(
            {
                **{name: self._of_items(name) for name in ("subscale", "pair", "genre")},
                "item": self._of_items("code"),
                "keyed": np.array([item.keyed for item in self._items])[self.item],
                "direction": self.direction,
                "option": _texts(chosen, self._slot),
                "position": np.where(self._option >= 0, self._option + 1.0, math.nan),
                "points": self._of_options([o.points for o in self._options]),
                "stance": self.stance,
                "lowest": np.array([low for low, _ in ends], np.float64)[self._format],
                "highest": np.array([high for _, high in ends], np.float64)[self._format],
                "n_options": np.array(
                    [sum(o.points is not None for o in f.options) for f in self._formats]
                )[self._format],
                "midpoint": _texts([f.midpoint for f in self._formats], self._format),
            }
        )

    def _of_items(self, name: str) -> pd.Categorical:
        return _texts([getattr(item, name) for item in self._items], self.item)

    def _of_options(self, values: Sequence[float | None]) -> npt.NDArray[np.float64]:
        """A number of each trial's option, NaN for none."""
        return np.array([*values, None], dtype=np.float64)[self._slot]


def _texts(values: Sequence[str], places: _Integers) -> pd.Categorical:
    """The text at each place, in categories."""
    codes, levels = pd.factorize(np.array(values, dtype=object))
    return pd.Categorical.from_codes(codes[places], categories=pd.Index(levels))


def simulate(
    plan: RespondentPlan, number: int, truth: SimulationSettings, replication: int = 0
) -> SimulatedStudy:
    """A plan of `number` contexts or repetitions, answered by simulated people of known truth.

    More than planned are asked what the planned ones are asked, in turn. Replication 0 has the
    people who answer on the page Collect; each other replication has other people, and the same
    items and entities.
    """
    trials, unit = _with_number(plan, number)
    answers = _answers(plan, trials, truth, replication)
    if not plan.second_phase:
        return SimulatedStudy(plan, trials, unit, answers)
    second, repeated = _second_phase(plan, trials, answers)
    later = _answers(plan, second, truth, replication)
    both = SimulatedAnswers(
        np.concatenate([answers.option, later.option]),
        np.concatenate([answers.status, later.status]),
        np.concatenate([answers.score, later.score]),
    )
    together = pd.concat([trials, second.drop(columns="opinion")], ignore_index=True)
    return SimulatedStudy(plan, together, np.concatenate([unit, unit[repeated]]), both)


def _answers(
    plan: RespondentPlan, trials: pd.DataFrame, truth: SimulationSettings, replication: int
) -> SimulatedAnswers:
    """The answers of the people of one replication, after all tries."""
    asked = trials
    if 0 < truth.refusing_tries <= plan.ask_again:
        truth = replace(truth, refusal_rate=0.0)
    if replication:
        contexts = trials["context"].cat.categories
        others = [f"{code}{_REPLICATION}{replication}" for code in contexts]
        asked = trials.assign(context=trials["context"].cat.rename_categories(others))
    answers = simulate_answers(truth, asked, plan.instrument, order_seed=plan.order_seed)
    if not plan.whole_calls:
        return answers
    call = asked["administration"].where(asked["items_per_call"] == "all", np.arange(len(asked)))
    usable = pd.Series(answers.option >= 0)
    left_out = (usable & ~usable.groupby(call.to_numpy()).transform("all")).to_numpy()
    return SimulatedAnswers(
        np.where(left_out, -1, answers.option),
        np.where(left_out, Status.INVALID_CALL.value, answers.status),
        np.where(left_out, np.nan, answers.score),
    )


def _with_number(plan: RespondentPlan, number: int) -> tuple[pd.DataFrame, _Integers]:
    """The trials of so many contexts or repetitions, and the place of each one's."""
    copies = -(-number // plan.planned)
    rows, units = [], []
    for copy in range(copies):
        own = np.flatnonzero(plan.unit + copy * plan.planned < number)
        rows.append(own)
        units.append(plan.unit[own] + copy * plan.planned)
    unit = np.concatenate(units)
    trials = plan.trials.iloc[np.concatenate(rows)].reset_index(drop=True)
    copy_of = unit // plan.planned
    trials["administration"] = trials["administration"].to_numpy() ^ copy_of
    names = [_name(plan, place) for place in range(number)]
    if plan.axis == "context":
        trials["context"] = _texts(names, unit)
    else:
        trials["repetition"] = np.array(names, dtype=np.int64)[unit]
        trials["context"] = trials["context"].astype("category")
    return trials, unit


def _name(plan: RespondentPlan, place: int) -> Any:
    """The context or repetition of that place; beyond the plan, one that is not planned."""
    copy, own = divmod(place, plan.planned)
    level = plan.levels[own]
    if plan.axis == "context":
        return f"{level} #{copy + 1}" if copy else str(level)
    return int(level) + copy * max(map(int, plan.levels))


def _second_phase(
    plan: RespondentPlan, trials: pd.DataFrame, answers: SimulatedAnswers
) -> tuple[pd.DataFrame, npt.NDArray[np.bool_]]:
    """The trials of the second phase, each with the opinion that opposes the first answers.

    As core/store/plans.py plans them: against where the mean stance of the first answers is 0 or
    more, else in favor, in the words of the option farthest from the middle; none where no first
    answer chose an option. The mask says which trials of the first phase are repeated.
    """
    stance = np.zeros(len(trials))
    sides: dict[tuple[str, int], str] = {}
    for code in trials["format"].unique():
        response_format = plan.instrument.format(str(code))
        ends = response_format.points_range() if response_format else None
        if response_format is None or ends is None:
            continue
        options, middle = response_format.options, sum(ends) / 2
        own = (trials["format"] == code).to_numpy() & (answers.option >= 0)
        stances = np.array([option.stance or 0 for option in options], dtype=np.float64)
        stance[own] = stances[answers.option[own]]
        for side in (-1, 1):
            those = [o for o in options if o.stance == side and o.points is not None]
            if not those:
                raise DesignError(
                    f"The options of the format '{code}' have no stance, so none opposes an answer "
                    "in the second phase.",
                    "Give its options a stance (-1 and 1) in the bank, and freeze the study again.",
                )
            farthest = max(those, key=lambda option: abs((option.points or 0) - middle))
            sides[str(code), side] = farthest.code
    questions = [trials[name] for name in _QUESTION]
    mean = pd.Series(stance).groupby(questions, observed=True)
    chosen = pd.Series(answers.option >= 0).groupby(questions, observed=True)
    repeated = chosen.transform("any").to_numpy(dtype=bool)
    opposite = np.where(mean.transform("mean").to_numpy() >= 0, -1, 1).tolist()
    opinions = [sides.get(key, "") for key in zip(trials["format"], opposite, strict=True)]
    second = trials.assign(
        administration=trials["administration"].to_numpy() ^ (1 << 40),
        phase=OPPOSING,
        template=plan.second_phase,
        items_per_call="1",
        history="none",
        opinion=np.array(opinions, dtype=object),
    )
    return second[repeated].reset_index(drop=True), repeated
