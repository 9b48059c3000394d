"""Every analysis does something with every factor, or says why not; and what it declares holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.domain.factors import GROUPINGS
from core.domain.study import FACTORS
from core.errors import UserError
from core.workflow.answers import imports
from core.workflow.statistics import analyses
from core.workflow.statistics.uses import NAMED, use_lines, use_of

DOCS = Path(__file__).parents[3] / "docs" / "factors.md"
LEVELS = {
    "model": ["m1", "m2"],
    "language": ["en", "de"],
    "entity": ["A", "B"],
    "form": ["original", "negation"],
    "template": ["t1", "t2"],
    "label_order": ["as_is", "inverted"],
    "phase": ["initial", "opposing"],
    "items_per_call": ["1", "2"],
    "history": ["none", "own"],
    "temperature": [0, 1],
    "top_p": [0.5, 1],
    "max_tokens": [10, 20],
    "repetition": [1, 2, 3],
}
PEOPLE = {"person.gender": ["f", "m"], "person.age": list(range(20, 80))}
ITEMS = [f"nature_{number:02}" for number in range(1, 5)]
FEW = {"resamples": 20, "permutations": 20, "n_random": 5}


@pytest.fixture(scope="module")
def answers() -> bytes:
    """Answers of 15 people, of which each factor of the design varies at random."""
    draw = np.random.default_rng(1)
    facts = [{name: draw.choice(v) for name, v in PEOPLE.items()} for _ in range(15)]
    rows = []
    for number in range(120):
        asked = {name: levels[draw.integers(len(levels))] for name, levels in LEVELS.items()}
        asked |= {"time": f"2026-01-0{1 + number % 2}T12:00:00Z"}
        asked |= {"study": "s", "instrument": "attitudes_20", "context": f"p{number % 15}"}
        trait = draw.normal()
        for item in ITEMS:
            answer = int(np.clip(round(3 + trait + draw.normal()), 1, 5))
            rows.append({**asked, **facts[number % 15], "item": item, "answer": answer})
    frame = pd.DataFrame(rows)
    keys = [name for name in frame if name != "answer"]
    return frame.drop_duplicates(keys).to_csv(index=False).encode()


@pytest.fixture
def study(workspace, answers):
    imports.import_tidy(workspace, "s.csv", answers)
    return workspace


def outcome(workspace, name, options, where=None):
    """The factors that make groups in the result, or why there is none."""
    analysis = analyses.by_name(name)
    names = {option.name for option in analysis.options}
    few = {option: value for option, value in FEW.items() if option in names}
    try:
        result = analyses.run(workspace, name, ["s"], {**few, **options}, where or {})
    except UserError as error:
        return str(error)
    return {column for table in result.tables for column in table.with_role("group")}


def test_every_cell_of_analysis_by_factor_says_yes_or_why_not():
    assert set(GROUPINGS) < set(NAMED)
    for analysis in analyses.all_analyses():
        for factor in NAMED:
            for why in use_of(analysis, factor):
                assert not why or why.endswith(".")
    assert DOCS.read_text(encoding="utf-8").endswith("\n".join(use_lines(NAMED)) + "\n")


FURTHER = [name for name in NAMED if name not in FACTORS]


@pytest.mark.parametrize("name", [analysis.name for analysis in analyses.all_analyses()])
def test_what_an_analysis_is_declared_to_do_with_a_factor_it_does(study, name):
    analysis = analyses.by_name(name)
    for factor in (*FURTHER, "temperature"):
        use = use_of(analysis, factor)
        if not use.grouped:
            found = outcome(study, name, {"by": (factor,)})
            said = isinstance(found, str) and found.endswith(".")
            # people have no set of contexts and no service; an analysis may leave these out
            assert said or factor in found or factor in ("context_set", "service")
            assert "no factor" not in found
        if not use.compared and analysis.factor_option:
            found = outcome(study, name, {analysis.factor_option: factor, "by": ()})
            assert isinstance(found, set) or found.endswith("."), factor
            assert "cannot be" not in found


@pytest.mark.parametrize("factor", [f for f in NAMED if f not in ("study", "item.genre")])
def test_answers_are_filtered_by_every_factor(study, factor):
    every = {**LEVELS, **PEOPLE, "respondent": ["m1"], "context": ["p1"], "format": ["likert_5"]}
    every |= {"entity_b": [""], "person.age:bands": [], "context_set": [""]}
    every |= {"rewriting": ["original"], "service": [""], "day": ["2026-01-01"]}
    levels = every[factor][:1]
    found = analyses.run(
        study, "option_distribution", ["s"], {}, {factor: levels} if levels else {}
    )
    assert found.n_planned


def test_a_factor_that_cannot_be_compared_is_refused_with_the_reason():
    option = next(o for o in analyses.by_name("dif").options if o.name == "factor")
    for factor, words in (("format", "differ in their points"), ("item.genre", "other items")):
        with pytest.raises(UserError, match=words):
            analyses.options_from_text(analyses.by_name("dif"), {"factor": factor})
        assert words in option.kind.why_not(factor)
