"""What each factor does in an analysis, by rule and by choice, and what is said of it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.kit.rows import administrations_of
from core.store import frames as stored_frames
from core.workflow.answers import imports
from core.workflow.banks import editing
from core.workflow.runs import control
from core.workflow.statistics import analyses, computing, roles
from core.workflow.statistics import frames as analysis_frames
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.statistics.frames import ChosenAnswers
from tests.workflow.studies import finished, freeze, simulated

STARTER_BANK = Path(__file__).parents[3] / "data" / "banks" / "attitudes_20.csv"
ITEMS = ["nature_01", "nature_02", "nature_03", "nature_04"]


def answered(workspace, study, scores, **factors):
    """A study of four items: `scores` is (rows, items), `factors` have a level for each row."""
    asked = pd.DataFrame(factors).assign(study=study, instrument="attitudes_20")
    parts = [asked.assign(item=item, answer=scores[:, place]) for place, item in enumerate(ITEMS)]
    rows = pd.concat(parts)
    rows["status"] = np.where(rows["answer"].isna(), "refused", "")
    data = rows.astype({"answer": "Int64"}).to_csv(index=False).encode()
    imports.import_tidy(workspace, f"{study}.csv", data)


def of_40_personas(seed=3):
    """Answers of 40 personas to four items that measure one thing."""
    draw = np.random.default_rng(seed)
    latent = draw.normal(size=(40, 1)) + draw.normal(scale=0.8, size=(40, 4))
    return np.clip(np.round(3 + 1.2 * latent), 1, 5).astype(int)


def copies(scores, n):
    """Each row `n` times, with contexts and repetitions."""
    contexts = [f"p{number}" for number in range(len(scores))]
    return np.repeat(scores, n, axis=0), {
        "model": "m",
        "context": np.repeat(contexts, n),
        "repetition": np.tile(range(1, n + 1), len(scores)),
    }


def test_ten_copies_of_each_persona_fit_as_the_personas_do(workspace):
    scores = of_40_personas()
    repeated, factors = copies(scores, 10)
    answered(workspace, "ten", repeated, **factors)
    once, factors = copies(scores, 1)
    answered(workspace, "once", once, **factors)
    fits = [
        analyses.run(workspace, "cfa", [study], {"estimator": "ml"}, {}).tables[0].frame
        for study in ("ten", "once")
    ]
    for name in ("n", "chi2", "p", "rmsea"):
        assert fits[0][name].tolist() == pytest.approx(fits[1][name].tolist()), name
    rows = analyses.run(workspace, "cfa", ["ten"], {"estimator": "ml"}, {}, ())
    assert rows.tables[0].frame["n"].tolist() == [400]
    assert rows.scope == "Rows are 40 contexts. Rows of 10 repetitions are analyzed together."
    assert any("pooled over 10 repetitions" in caution for caution in rows.cautions)


@pytest.mark.parametrize("name", ["internal_consistency", "item_statistics", "score_distribution"])
def test_a_wide_table_is_averaged_as_rows_are(workspace, monkeypatch, name):
    scores = of_40_personas().astype(float)
    repeated, factors = copies(scores, 3)
    repeated = np.where(np.random.default_rng(1).random(repeated.shape) < 0.2, np.nan, repeated)
    answered(workspace, "study", repeated, **factors)
    wide = analyses.run(workspace, name, ["study"], {}, {})
    monkeypatch.setattr(analysis_frames, "wide_scores", lambda *_: None)
    rows = analyses.run(workspace, name, ["study"], {}, {})
    assert wide.scope == rows.scope
    assert wide.scope == "Scores are averaged over 3 repetitions first. Rows are 40 contexts."
    assert (wide.n_used, wide.n_missing) == (rows.n_used, rows.n_missing)
    assert wide.unit == rows.unit
    for of_wide, of_rows in zip(wide.tables, rows.tables, strict=True):
        pd.testing.assert_frame_equal(of_wide.frame, of_rows.frame, check_dtype=False)


def test_repetitions_of_a_respondent_without_contexts_stay_rows_beside_averaged_contexts(workspace):
    scores = of_40_personas()
    repeated, factors = copies(scores[:10], 3)
    factors["model"] = ["with"] * 30
    alone = {"model": ["without"] * 10, "context": [""] * 10, "repetition": range(1, 11)}
    both = {name: [*factors[name], *alone[name]] for name in alone}
    answered(workspace, "study", np.concatenate([repeated, scores[20:30]]), **both)
    result = analyses.run(workspace, "score_distribution", ["study"], {}, {})
    table = result.tables[0].frame.drop_duplicates("respondent").set_index("respondent")
    assert table["n"].to_dict() == {"with": 10, "without": 10}


def test_scores_of_single_options_are_set_apart_by_repetition_and_not_averaged(workspace):
    repeated, factors = copies(of_40_personas(), 2)
    factors["language"] = np.where(np.arange(len(repeated)) % 4 < 2, "en", "de")
    answered(workspace, "study", repeated, **factors)
    for name in ("dif", "graded_response"):
        analysis = analyses.by_name(name)
        by = roles.default_groups(workspace, analysis, ["study"], {}, {})
        assert "repetition" in by
        assert roles.default_average(workspace, analysis, ["study"], {}, {}) == ()


def factor_roles(workspace, name, where=None, over=None, **options):
    """The roles of a request by factor."""
    analysis = analyses.by_name(name)
    complete = analyses.saved_options(workspace, "study", analysis) | options
    request = AnalysisRequest(name, ("study",), complete, where or {}, over)
    return {one.factor: one.role for one in computing.roles_of_request(workspace, request)}


@pytest.fixture
def varied(workspace):
    """Four personas in two languages, two orders of options and two repetitions."""
    freeze(
        workspace,
        simulated(),
        n_personas=4,
        languages=("en", "de"),
        label_orders=("as_is", "inverted"),
        repetitions=2,
    )
    control.start(workspace, "study")
    finished(workspace)
    return workspace


def test_every_factor_that_varies_has_a_role(varied):
    assert factor_roles(varied, "item_statistics") == {
        "language": "apart",
        "context": "rows",
        "label_order": "apart",
        "repetition": "averaged",
    }
    assert factor_roles(varied, "score_correlations", factor="language")["language"] == "compared"
    assert factor_roles(varied, "item_statistics", {"language": ["de"]}).get("language") is None
    assert factor_roles(varied, "option_distribution")["language"] == "together"
    of_repetitions = factor_roles(varied, "score_correlations", factor="repetition")
    assert of_repetitions["repetition"] == "compared"


def test_a_role_that_is_chosen_holds_for_the_study_in_every_analysis(varied):
    analyses.save_role(varied, "study", "language", "averaged")
    analyses.save_role(varied, "study", "repetition", "rows")
    chosen = ChosenAnswers(roles=analyses.saved_roles(varied, "study"))
    for name in ("item_statistics", "internal_consistency"):
        analysis = analyses.by_name(name)
        options = analyses.saved_options(varied, "study", analysis, chosen)
        assert options["by"] == ("respondent", "label_order")
        over = analyses.averaged_factors(varied, "study", analysis, options, chosen)
        assert over == ("language",)
    compared = analyses.by_name("dif")
    options = analyses.saved_options(varied, "study", compared, chosen) | {"factor": "language"}
    assert analyses.averaged_factors(varied, "study", compared, options, chosen) == ()
    analyses.save_role(varied, "study", "language", "")
    assert analyses.saved_roles(varied, "study") == {"repetition": "rows"}


def test_what_is_averaged_or_counted_together_is_said(varied):
    scores = analyses.run(varied, "item_statistics", ["study"], {}, {}, ("language", "repetition"))
    averaged = "Scores are averaged over 2 languages and 2 repetitions first."
    assert scores.scope == f"{averaged} Rows are 4 contexts."
    counts = analyses.run(varied, "option_distribution", ["study"], {}, {})
    assert counts.scope == (
        "Answers of 2 languages, 4 contexts and 2 orders of options are counted together."
    )
    apart = {"by": ("language", "label_order", "context", "repetition")}
    assert analyses.run(varied, "option_distribution", ["study"], apart, {}).scope == ""


IN_TWO_FORMATS = {
    "model": ["m1", "m2"],
    "language": ["en", "de"],
    "context": ["p1", "p2", "p3"],
    "template": ["t1", "t2"],
    "format": ["likert_5", "likert_5b"],
    "temperature": [0, 1],
    "repetition": [1, 2],
}


@pytest.fixture
def in_two_formats(workspace):
    """Three people asked by two models in every way, with their gender, in two formats."""
    bank = STARTER_BANK.read_text(encoding="utf-8")
    options = [line for line in bank.splitlines() if line.startswith("option,")]
    further = "\n".join(line.replace("likert_5", "likert_5b") for line in options)
    codes = bank.replace("attitudes_20", "two_formats").replace(
        options[-1], f"{options[-1]}\n{further}"
    )
    editing.import_bank(workspace, editing.read_instrument("bank.csv", codes.encode()))
    draw = np.random.default_rng(1)
    rows = [
        dict(zip(IN_TWO_FORMATS, levels, strict=True))
        | {"study": "study", "instrument": "two_formats", "item": item}
        | {"answer": draw.integers(1, 6), "person.gender": "f" if levels[2] == "p1" else "m"}
        for levels in itertools.product(*IN_TWO_FORMATS.values())
        for item in ("nature_01", "nature_02", "nature_03")
    ]
    imports.import_tidy(workspace, "s.csv", pd.DataFrame(rows).to_csv(index=False).encode())
    return workspace


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("item_statistics", "apart"),  # points of formats cannot be compared
        ("option_distribution", "apart"),
        ("rater_agreement", "apart"),
        ("bias", "averaged"),
        ("random_consistency", "compared"),
        ("consistency_summary", "compared"),
        ("template_pilot", "together"),
        ("referential_consistency", "compared"),
    ],
)
def test_the_role_of_formats_is_what_the_analysis_does_with_them(in_two_formats, name, role):
    assert factor_roles(in_two_formats, name)["format"] == role


def test_what_is_compared_is_compared_also_where_groups_name_it(in_two_formats):
    by = ("respondent", "language")
    of = factor_roles(in_two_formats, "group_comparison", factor="respondent", by=by)
    assert (of["respondent"], of["language"]) == ("compared", "apart")
    assert factor_roles(in_two_formats, "rater_agreement", by=())["context"] == "apart"
    assert factor_roles(in_two_formats, "template_pilot")["template"] == "compared"


def test_a_row_of_the_multitrait_matrix_is_of_one_language_and_of_all_templates(in_two_formats):
    of = factor_roles(in_two_formats, "multitrait_matrix")
    assert (of["language"], of["template"], of["context"]) == ("apart", "averaged", "rows")
    options = {"split": ("format",)}
    found = analyses.run(in_two_formats, "multitrait_matrix", ["study"], options, {})
    assert "2 templates and 2 repetitions" in found.scope
    assert found.unit.count("averaged") == 1


def test_a_fact_about_people_has_its_role_in_the_line(in_two_formats):
    options = {"by": ("person.gender",)}
    request = AnalysisRequest("item_statistics", ("study",), options)
    line = roles.role_words(computing.roles_of_request(in_two_formats, request))
    assert "values of gender (person)" in line.split(".")[0]


def test_alpha_is_of_averaged_scores_and_is_said_to_be(in_two_formats):
    """Cronbach's alpha by hand of the means over repetitions, which is no mean of alphas."""
    where = {"respondent": ["m1"], "language": ["en"], "template": ["t1"], "temperature": [0]}
    where |= {"format": ["likert_5"]}
    options = {"by": ()}
    found = analyses.run(in_two_formats, "internal_consistency", ["study"], options, where)
    frame = stored_frames.item_scores(in_two_formats.database, ["study"], where)
    wide = frame.groupby(["context", "item"], observed=True)["score"].mean().unstack()
    alpha = 1.5 * (1 - wide.var().sum() / wide.sum(axis=1).var())
    assert found.tables[0].frame["alpha"][0] == pytest.approx(alpha)
    assert found.scope == "Scores are averaged over 2 repetitions first. Rows are 3 people."
    assert "repetition (" not in found.unit
    assert found.unit.endswith("under one context, averaged over repetitions")


def test_repetitions_without_contexts_are_said_to_hold_for_this_model_alone(workspace):
    freeze(workspace, simulated(), n_personas=0, repetitions=5)
    control.start(workspace, "study")
    finished(workspace)
    scope = analyses.run(workspace, "score_distribution", ["study"], {}, {}).scope
    assert "holds for this model and these wordings" in scope
    apart = analyses.run(workspace, "score_distribution", ["study"], {"by": ("repetition",)}, {})
    assert apart.scope == ""


def test_administrations_of_single_contexts_are_not_averaged_by_rule():
    frame = pd.DataFrame(
        {
            "study": "s",
            "respondent": ["a", "a", "b", "b"],
            "context": ["c1", "c2", "", ""],
        }
    )
    assert administrations_of(frame) is frame
    assert roles.rows_to_average(frame).tolist() == [True, True, False, False]


def test_a_study_of_each_respondent_is_compared_with_the_other_and_never_averaged(workspace):
    scores = of_40_personas()
    contexts = [f"p{number}" for number in range(len(scores))]
    for study, model in (("first", "m1"), ("second", "m2")):
        answered(workspace, study, scores, model=model, context=contexts)
    analysis, both = analyses.by_name("group_comparison"), ("first", "second")
    for compared, groups in (("study", ()), ("context_set", ("respondent",))):
        options = {"factor": compared}
        assert roles.default_groups(workspace, analysis, both, options, {}) == groups
        options["by"] = groups
        every = roles.factor_roles(workspace, analysis, both, options, {}, ())
        role = {one.factor: one.role for one in every}
        assert role.get("study", "") == ("compared" if compared == "study" else "")


@pytest.mark.parametrize(
    ("name", "options", "rows"),
    [
        ("cross_language", {"compare": "model"}, "Values are averaged over 40 contexts."),
        ("score_correlations", {"factor": "model"}, "Rows are 40 contexts."),
    ],
)
def test_respondents_are_compared_where_each_is_a_model_that_is(workspace, name, options, rows):
    scores = np.concatenate([of_40_personas(), of_40_personas(4)])
    contexts = [f"p{number}" for number in range(40)] * 2
    answered(workspace, "study", scores, model=np.repeat(["m1", "m2"], 40), context=contexts)
    result = analyses.run(workspace, name, ["study"], options, {})
    assert result.scope == rows
    assert factor_roles(workspace, name, **options)["respondent"] == "compared"


def test_templates_that_are_compared_are_named_though_each_phase_has_one(workspace):
    scores = np.concatenate([of_40_personas(), of_40_personas(4)])
    contexts = [f"p{number}" for number in range(40)] * 2
    factors = {"phase": ["initial", "opposing"], "template": ["plain", "against"]}
    levels = {name: np.repeat(two, 40) for name, two in factors.items()}
    answered(workspace, "study", scores, model="m", context=contexts, **levels)
    assert factor_roles(workspace, "group_comparison", factor="template")["template"] == "compared"
