"""Agreement of wordings and templates: published people, other libraries, by hand, messages."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from core.analysis.kit.sentences import table_of
from core.analysis.worldviews.form_agreement import form_agreement
from core.errors import NotEnoughData
from core.stats.agreement import form_kappas, kappas_of_tables, weighted_kappa
from core.stats.resampling import Bootstrap
from core.workflow.statistics import analyses
from tests.analysis.kit.test_statement_verdicts import NO, YES, cells_of
from tests.analysis.score_frames import GOLDEN
from tests.analysis.statement_frames import random_cells, statements

FORMS = {
    "original": "original",
    "paraphrase": "paraphrase_1",
    "negation": "negation",
    "opposite": "opposite",
}


def people():
    """The answers of six people to 50 statements in four forms."""
    table = pd.read_csv(GOLDEN / "probvaa" / "human_patterns.csv")
    frames = []
    for person, rows in table.groupby("person"):
        own = rows.loc[rows.index.repeat(rows["statements"])].reset_index(drop=True)
        cells = {
            (f"i{place}", "", "", form): (1, 0) if row[column] == "agree" else (0, 1)
            for place, row in own.iterrows()
            for column, form in FORMS.items()
        }
        frames.append(statements(cells, respondent=person))
    return pd.concat(frames)


def test_the_kappas_of_six_people_are_the_published_ones():
    result = form_agreement(people(), resamples=50)
    over = table_of(result, "over_groups").frame.set_index("wording")
    assert over.round(3)[["kappa", "sd"]].to_numpy().tolist() == [
        [0.901, 0.081],
        [-0.692, 0.122],
        [-0.649, 0.082],
    ]
    assert over["n_groups"].tolist() == [6, 6, 6]
    assert "There is one template, so agreement of templates is undefined." in result.notes
    answers = analyses.by_name("form_agreement").answer(result)
    assert answers[-1].sentence == (
        "Mean kappa of 6 groups with the original: paraphrases .901 (SD .081), negation −.692 "
        "(SD .122), opposite −.649 (SD .082)."
    )
    assert len(answers) == 7


def stances_of(cells, template, form, order="as_is"):
    own = [cells[f"i{item}", template, order, form] for item in range(40)]
    return np.array([np.sign(yes - no) if yes != no else np.nan for yes, no in own])


def test_kappas_and_alpha_are_those_of_other_libraries():
    templates = ["t1", "t2", "t3"]
    cells = random_cells(40, templates, seed=9)
    result = form_agreement(statements(cells), resamples=20)
    kappas = table_of(result, "template_kappas").frame.set_index(["wording", "template"])["kappa"]
    for title, forms, order in (
        ("Negation", ["negation"], "as_is"),
        ("Inverted labels", ["original"], "inverted"),
        ("Paraphrases", ["paraphrase_1", "paraphrase_2"], "as_is"),
    ):
        own = []
        for template in templates:
            original = np.tile(stances_of(cells, template, "original"), len(forms))
            other = np.concatenate([stances_of(cells, template, f, order) for f in forms])
            known = np.isfinite(original) & np.isfinite(other)
            own.append(cohen_kappa_score(original[known], other[known]))
        np.testing.assert_allclose(kappas[title].to_numpy(), own)
        row = table_of(result, "kappas").frame.set_index("wording").loc[title]
        np.testing.assert_allclose(
            row[["kappa", "sd"]].tolist(), [np.mean(own), np.std(own, ddof=1)]
        )
    raters = np.stack([stances_of(cells, template, "original") for template in templates])
    alpha = table_of(result, "alpha").frame.iloc[0]
    expected = krippendorff.alpha(raters, level_of_measurement="nominal")
    assert alpha["alpha"] == pytest.approx(expected, abs=1e-12)
    complete = np.isfinite(raters).all(axis=0)
    same = (raters[:, complete] == raters[0, complete]).all(axis=0)
    assert alpha[["complete", "same", "statements"]].tolist() == [complete.sum(), same.sum(), 40]


def test_many_kappas_are_those_of_one_table_each():
    tables = np.random.default_rng(4).integers(0, 6, (60, 4)).astype(float)
    tables[:3] = [[5, 0, 0, 0], [0, 0, 0, 0], [3, 2, 0, 0]]
    found = kappas_of_tables(tables)[0]
    assert np.isnan(found[:2]).all()
    assert found[2] == 0
    for table, kappa in zip(tables[2:], found[2:], strict=True):
        first = np.repeat([1, 1, 0, 0], table.astype(int)).astype(float)
        second = np.repeat([1, 0, 1, 0], table.astype(int)).astype(float)
        np.testing.assert_allclose(kappa, weighted_kappa(first, second).value, atol=1e-12)


def test_intervals_redraw_whole_statements():
    chance = np.random.default_rng(6)
    original = chance.choice([-1.0, 1.0], (60, 2))
    keep = chance.random((60, 2, 2)) < 0.8
    others = np.where(keep, original[:, :, None], -original[:, :, None])
    found = form_kappas(original, others, Bootstrap(3000, 1))
    drawn = [
        form_kappas(original[rows], others[rows]).mean
        for rows in chance.integers(60, size=(1500, 60))
    ]
    np.testing.assert_allclose(
        [found.mean_low, found.mean_high], np.quantile(drawn, [0.025, 0.975]), atol=0.02
    )


def test_the_share_as_expected_follows_the_direction_of_the_wording():
    cells = {
        **cells_of(),
        **cells_of("b", original=NO, negation=NO),
        **cells_of("c", original=(15, 15)),
    }
    result = form_agreement(statements(cells), resamples=0, paraphrases="each")
    rows = table_of(result, "kappas").frame.set_index("wording")
    assert rows["agreement"].to_dict() == {
        "Negation": 0.5,
        "Opposite": 0.5,
        "Paraphrase 1": 0.5,
        "Paraphrase 2": 0.5,
        "Inverted labels": 0.5,
    }
    assert rows.loc["Opposite", "expected"] == "near −1"
    fragile = table_of(result, "statements").frame
    assert fragile["item"].tolist() == ["b", "a", "c"]
    assert fragile["agreement"].tolist()[:2] == [0, 1]
    assert math.isnan(fragile["agreement"][2])
    assert "Left out, because as many answers are positive as negative: 1 cell." in result.notes
    assert "no resamples" in result.method


def test_the_sd_of_kappas_is_that_of_templates_within_a_context():
    def of(name, swapped):
        cells = {
            (item, template, "", form): YES if (item in "ab") != (form == "opposite") else NO
            for item in "abcd"
            for template in ("t1", "t2")
            for form in ("original", "opposite")
        }
        cells |= {("a", template, "", "opposite"): YES for template in swapped}
        return statements(cells, context=name)

    kappas = [
        table_of(form_agreement(pd.concat(parts)), "kappas").frame["sd"].iloc[0]
        for parts in (
            [of("p1", ["t1"])],
            [of("p1", ["t1"]), of("p2", [])],
            [of("p1", ["t1", "t2"]), of("p2", [])],
        )
    ]
    # kappas of −.5 and −1 in one context, −1 and −1 in the other; the last differ between contexts
    assert kappas == pytest.approx([0.5 / math.sqrt(2), 0.25 / math.sqrt(2), 0])


def test_templates_have_a_sentence_where_no_statement_has_another_wording():
    # by hand: 2 of 6 coincidences disagree, 18 of 30 by chance, so alpha = 1 - (1 / 3) / .6
    stances = {"a": (YES, YES), "b": (NO, NO), "c": (YES, NO)}
    cells = {
        (item, template, "", "original"): stance
        for item, both in stances.items()
        for template, stance in zip(("t1", "t2"), both, strict=True)
    }
    (answer,) = analyses.by_name("form_agreement").answer(form_agreement(statements(cells)))
    assert answer.sentence.startswith("Alpha across 2 templates .44 [")
    assert answer.sentence.endswith(
        "2 of 3 statements have the same stance in all of these templates."
    )


def test_formats_are_not_called_templates_and_contexts_are_counted():
    cells = {
        (item, template, "", "original"): YES for item in "ab" for template in ("t1", "t2")
    } | {("c", "t1", "", "original"): YES, ("c", "t2", "", "original"): NO}
    parts = [statements(cells, context=f"p{k}") for k in (1, 2, 3)]
    both = [part.assign(format=name) for name in ("f1", "f2") for part in parts]
    result = form_agreement(pd.concat(both))
    row = table_of(result, "alpha").frame.iloc[0]
    assert row[["templates", "conditions", "same", "statements"]].tolist() == [4, 3, 2, 3]
    (answer,) = analyses.by_name("form_agreement").answer(result)
    assert "across 4 pairs of template and format" in answer.sentence
    assert answer.sentence.endswith(
        "2 of 3 statements have the same stance in all of these pairs of template and format in "
        "every one of 3 conditions."
    )


def test_what_is_undefined_is_said_with_the_reason():
    same = form_agreement(statements({**cells_of(opposite=YES), **cells_of("b", opposite=YES)}))
    assert (
        "gpt: kappa of the original with opposite is undefined: all stances are the same."
        in same.cautions
    )
    few = form_agreement(statements({**cells_of(), **cells_of("b", "t2")}), least=40)
    assert any(caution.endswith("no pair of stances.") for caution in few.cautions)
    remark = table_of(few, "alpha").frame["remark"][0]
    assert remark.startswith("Undefined: no unit")
    templates = {("a", "t1", "", "original"): YES, ("a", "t2", "", "original"): YES}
    alone = form_agreement(statements(templates))
    assert "Statements have one wording, so agreement of wordings is undefined." in alone.notes
    with pytest.raises(NotEnoughData, match="one wording"):
        form_agreement(statements({("a", "", "", "original"): YES}))


def test_no_stance_changes_only_where_all_are_as_the_original_lets_expect():
    turned = {YES: NO, NO: YES}
    cells = {
        (item, "t1", "", form): turned[stance] if form == "negation" else stance
        for item, stance in (("a", YES), ("b", NO), ("c", YES))
        for form in ("original", "paraphrase_1", "negation")
    }
    (answer,) = analyses.by_name("form_agreement").answer(form_agreement(statements(cells)))
    assert answer.sentence.startswith("No stance changes with the wording (paraphrases, negation);")
    changed = cells | {("c", "t1", "", "negation"): YES}
    (answer,) = analyses.by_name("form_agreement").answer(form_agreement(statements(changed)))
    assert answer.sentence.startswith("Some stances change with the wording: under another one ")
    assert "100% (paraphrases), 67% (negation)" in answer.sentence
