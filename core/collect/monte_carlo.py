"""Answers of simulated respondents to many trials at once, without prompts or replies."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from core.collect import simulated
from core.domain.instrument import ORIGINAL, Instrument, ResponseFormat, keyed_points
from core.domain.study import INITIAL, STANDARD, SimulationSettings, Status
from core.errors import DesignError

# The model is that of core/collect/simulated.py, and every draw is the same hash of the same words.
# So a study that simulated respondents answer on the page Collect gets these answers, trial by
# trial. Only the option that a position bias takes is another one where options are shown in random
# order in calls of several items: there, the administration stands for the call in the hash.

_SEPARATOR = "\x1f"
_PERSON = ["context", "entity", "repetition"]
_ADMINISTRATION = [
    *_PERSON,
    "entity_b",
    "language",
    "form",
    "format",
    "template",
    "phase",
    "label_order",
]

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SimulatedAnswers:
    """What a simulated respondent answers to each of some trials.

    `option` is the place of the option in its format as the bank lists it, -1 for a refusal;
    `status` a Status; `score` is in points after keying, NaN for a refusal.
    """

    option: _Integers
    status: npt.NDArray[np.object_]
    score: _Floats


def simulate_answers(
    simulation: SimulationSettings,
    trials: pd.DataFrame,
    instrument: Instrument,
    *,
    order_seed: int = 1,
) -> SimulatedAnswers:
    """The answers to all trials at once.

    Parameters
    ----------
    simulation : SimulationSettings
        The truth.
    trials : ITEM_SCORES frame
        Its factors, `administration` and `item` are read. A column `opinion` holds the code of the
        option put to the respondent, empty for none.
    instrument : Instrument
        The bank, with every item and format of the trials.
    order_seed : int
        Seed of the design, for options shown in random order.

    Raises
    ------
    DesignError
        A setting describes no respondent, or a format asks for a text or has no points.

    Notes
    -----
    Equal to the answers of SimulatedClient, trial by trial (tests/workflow/precision).
    """
    simulated.check_settings(simulation)
    trials = trials.reset_index(drop=True)
    model = _Draws(simulation, trials, instrument)
    option = np.full(len(trials), -1, dtype=np.int64)
    score = np.full(len(trials), np.nan)
    status = np.full(len(trials), Status.REFUSED.value, dtype=object)
    format_codes, formats = pd.factorize(trials["format"])
    for number, code in enumerate(formats):
        response_format = instrument.format(str(code))
        if response_format is None or not response_format.is_choice:
            raise DesignError(
                f"The response format '{code}' offers no options, and precision is of answers "
                "that choose an option.",
                "Choose a study with answer options.",
            )
        rows = np.flatnonzero(format_codes == number)
        rows = rows[~model.happens("refusal", simulation.refusal_rate, rows)]
        option[rows] = model.options(response_format, rows, order_seed)
        points = np.array(
            [np.nan if o.points is None else o.points for o in response_format.options], np.float64
        )
        ends = np.nanmin(points), np.nanmax(points)
        score[rows] = keyed_points(points[option[rows]], *ends, model.sign[rows])
        explained = model.happens("explanation", simulation.explanation_rate, rows)
        status[rows] = np.where(explained, Status.EXPLAINED.value, Status.ANSWERED.value)
    return SimulatedAnswers(option, status, score)


class _Draws:
    """The draws and the latent answers of some trials. Rows are places of trials."""

    def __init__(
        self, simulation: SimulationSettings, trials: pd.DataFrame, instrument: Instrument
    ) -> None:
        self._simulation = simulation
        self._trials = trials
        item_codes, items = pd.factorize(trials["item"])
        own = [next(i for i in instrument.items if i.code == code) for code in items]
        self._item, self._items = item_codes, own
        grouped = trials.groupby(_ADMINISTRATION, observed=True, sort=False, dropna=False)
        self._asking = grouped.ngroup().to_numpy()
        first = np.unique(self._asking, return_index=True)[1]
        self._askings = trials.loc[first, _ADMINISTRATION].astype(object)
        directions = np.array(
            [[item.direction(form) for item in own] for form in self._askings["form"]]
        ).reshape(len(first), len(own))
        self._direction = directions[self._asking, item_codes]
        keyed = np.array([item.keyed for item in own])
        self.sign = self._direction * keyed[item_codes]
        self._keys = self._asked_keys()

    def _asked_keys(self) -> list[bytes]:
        """What is asked in each trial, as the hashes of SimulatedClient take it."""
        heads, tails = [], []
        for one in self._askings.itertuples(index=False):
            conditions = (one.entity_b, one.form, one.template, one.phase)
            usual = ("", ORIGINAL, STANDARD, INITIAL)
            beyond = () if conditions in (usual, ("", ORIGINAL, "", INITIAL)) else conditions
            heads.append(_bytes(one.context, one.entity, one.repetition, ""))
            tails.append(_bytes("", one.language, one.format, *beyond))
        codes = [_bytes(item.code) for item in self._items]
        return [
            heads[asking] + codes[item] + tails[asking]
            for asking, item in zip(self._asking.tolist(), self._item.tolist(), strict=True)
        ]

    def uniform(self, purpose: str, rows: _Integers) -> _Floats:
        """A number strictly between 0 and 1 for each of some trials."""
        keys = self._keys
        return _uniform(self._simulation, purpose, [keys[row] for row in rows.tolist()])

    def happens(self, purpose: str, rate: float, rows: _Integers) -> _Booleans:
        """Whether something of that rate happens in each of some trials."""
        if not rate:
            return np.zeros(len(rows), dtype=np.bool_)
        return np.asarray(self.uniform(purpose, rows) < rate)

    def options(
        self, response_format: ResponseFormat, rows: _Integers, order_seed: int
    ) -> _Integers:
        """The place of the option chosen in each of some trials of one format."""
        simulation = self._simulation
        shown = list(response_format.options)
        ranked = np.array([shown.index(o) for o in simulated.ranked(response_format)])
        share = scipy.special.ndtr(self._latent(rows))
        chosen = ranked[np.minimum((share * len(ranked)).astype(np.int64), len(ranked) - 1)]
        biased = simulation.noise + simulation.position_bias
        if biased:
            way = self.uniform("way", rows)
            at_random = np.flatnonzero(way < simulation.noise)
            drawn = self.uniform("noise", rows[at_random])
            chosen[at_random] = ranked[(drawn * len(ranked)).astype(np.int64)]
            first = np.flatnonzero((way >= simulation.noise) & (way < biased))
            chosen[first] = self._first_shown(response_format, rows[first], order_seed)
        if "opinion" in self._trials:
            opinions = self._trials["opinion"].to_numpy(dtype=object)[rows]
            held = [response_format.option(str(code)) for code in opinions]
            places = np.array([shown.index(o) if o else -1 for o in held], dtype=np.int64)
            gives_way = (places >= 0) & self.happens("giving way", simulation.giving_way, rows)
            chosen[gives_way] = places[gives_way]
        return np.asarray(chosen)

    def _latent(self, rows: _Integers) -> _Floats:
        """answer* of the model for each of some trials."""
        simulation, item = self._simulation, self._item[rows]
        latent = np.empty(len(rows))
        level, acquiescence, standing = self._people()
        subscales = list(dict.fromkeys(i.subscale for i in self._items))
        subscale = np.array([subscales.index(i.subscale) for i in self._items])
        asking, direction = self._asking[rows], self._direction[rows]
        level_of_row = level[asking, subscale[item]] * direction
        leaning = direction * (simulation.leaning + standing[asking])
        error = scipy.special.ndtri(self.uniform("error", rows))
        shift = self._shifts()[asking, item]
        for place, truth in enumerate(simulated.item_truth(simulation, self._items)):
            own = item == place
            latent[own] = simulated.latent_answer(
                truth, level_of_row[own], error[own], acquiescence[asking[own]], leaning[own]
            )
        return latent + shift

    def _people(self) -> tuple[_Floats, _Floats, _Floats]:
        """Of each way of asking: levels of the traits of all subscales, acquiescence, standing."""
        simulation, askings = self._simulation, self._askings
        keys = [_bytes(*one) for one in askings[_PERSON].itertuples(index=False)]
        people = list(dict.fromkeys(keys))
        place = {key: number for number, key in enumerate(people)}
        places = np.array([place[key] for key in keys])
        lasting = [key.rpartition(_SEPARATOR.encode())[0] for key in people]

        def of_people(purpose: str, of: bytes = b"") -> _Floats:
            own = _normal(simulation, purpose, [key + of for key in people])
            if not simulation.stability:
                return own
            stays = _normal(simulation, f"lasting {purpose}", [key + of for key in lasting])
            return simulated.with_stability(simulation, stays, own)

        common = of_people("common")
        subscales = dict.fromkeys(item.subscale for item in self._items)
        level = np.column_stack(
            [
                simulated.trait(simulation, common, of_people("trait", _bytes("", name)))
                for name in subscales
            ]
        )
        acquiescence = simulation.acquiescence * of_people("acquiescence")
        acquiescence += simulation.acquiescence_mean
        standing = np.array(
            [
                simulated.entity_standing(simulation, str(first))
                - simulated.entity_standing(simulation, str(second))
                for first, second in zip(askings["entity"], askings["entity_b"], strict=True)
            ]
        )
        return level[places], acquiescence[places], standing

    def _shifts(self) -> _Floats:
        """What the language of each way of asking does to each item."""
        languages, spread = self._askings["language"], self._simulation.language_spread
        if not spread:
            return np.zeros((len(languages), len(self._items)))
        places, levels = pd.factorize(languages)
        shifts = [
            _normal(self._simulation, "language", [_bytes(i.code, name) for i in self._items])
            for name in levels
        ]
        return np.asarray(np.stack(shifts)[places] * spread)

    def _first_shown(
        self, response_format: ResponseFormat, rows: _Integers, order_seed: int
    ) -> _Integers:
        """The place of the first scored option that each of some trials shows."""
        scored = [n for n, o in enumerate(response_format.options) if o.points is not None]
        order = self._askings["label_order"].to_numpy()[self._asking[rows]]
        first = np.where(order == "inverted", scored[-1], scored[0])
        drawn = np.flatnonzero(order == "random")
        if len(drawn):
            calls = self._calls(rows[drawn])
            codes = [response_format.options[place].code for place in scored]
            head = hashlib.md5(_bytes("options", order_seed, ""), usedforsecurity=False)
            hashes = [_hashes(head, [call + _bytes("", code) for call in calls]) for code in codes]
            first[drawn] = np.array(scored)[np.argmin(np.stack(hashes), axis=0)]
        return np.asarray(first)

    def _calls(self, rows: _Integers) -> list[bytes]:
        """The call of each of some trials; of a call of several items, its administration."""
        own = self._trials.loc[rows, ["administration", "items_per_call", "item"]]
        head = hashlib.md5(_bytes("trial", ""), usedforsecurity=False)
        keys = [_bytes(a, i) for a, i in zip(own["administration"], own["item"], strict=True)]
        ids = _hashes(head, keys) // 2
        single = (own["items_per_call"].astype(object) == "1").to_numpy()
        calls = np.where(single, ids, own["administration"].to_numpy(dtype=np.uint64))
        return [_bytes(call) for call in calls.tolist()]


def _bytes(*parts: object) -> bytes:
    """The parts as `stable_id` joins them."""
    return _SEPARATOR.join(str(part) for part in parts).encode("utf-8", "surrogatepass")


def _hashes(head: hashlib._Hash, keys: Sequence[bytes]) -> npt.NDArray[np.uint64]:
    """The upper 64 bits of MD5 of a beginning and each key, as `stable_id` reads them."""
    digests = []
    for key in keys:
        one = head.copy()
        one.update(key)
        digests.append(one.digest()[8:])
    return np.frombuffer(b"".join(digests), dtype="<u8")


def _uniform(simulation: SimulationSettings, purpose: str, keys: Sequence[bytes]) -> _Floats:
    """`simulated.uniform` for many keys at once."""
    start = _bytes("simulated", simulation.seed, purpose, "")
    hashes = _hashes(hashlib.md5(start, usedforsecurity=False), keys)
    return np.asarray(((hashes >> np.uint64(12)) + 0.5) / 2.0**52)


def _normal(simulation: SimulationSettings, purpose: str, keys: Sequence[bytes]) -> _Floats:
    """`simulated.normal` for many keys at once."""
    return np.asarray(scipy.special.ndtri(_uniform(simulation, purpose, keys)))
