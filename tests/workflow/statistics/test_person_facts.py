"""Facts about people as groups, compared factors, filters and axes; numbers checked with pandas."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from core import __main__ as command_line
from core.domain.frames import NUMERIC_FACTS
from core.domain.people import PersonFact, bands, proposed_cuts, wanted_range
from core.domain.study import Context, Design
from core.errors import NotEnoughData, UserError
from core.files.contexts import read_contexts
from core.stats.factor.cfa import fit_cfa
from core.workflow import people
from core.workflow.answers import browsing, imports, mappings
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses, explore, frames, person_facts, roles
from core.workflow.statistics.explore import View
from core.workflow.statistics.exported_tables import export_tables, workspace_of_tables
from tests.people_files import spss
from tests.workflow.studies import simulated

ITEMS = [f"q{number}" for number in range(1, 7)]
BANDS = ["under 30", "30 to 44", "45 and over"]


def answers(n=240, seed=7):
    """People with a trait that gender and age move, and item 6 harder for women."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": [f"p{number:03}" for number in range(n)],
            "gender": rng.choice([1.0, 2.0], n),
            "age": rng.integers(18, 70, n).astype(float),
            "education": rng.choice([1.0, 2.0, 3.0], n),
        }
    )
    trait = rng.normal(size=n) + 0.5 * (frame["gender"] == 1) + 0.02 * (frame["age"] - 40)
    for item in ITEMS:
        shift = 1.5 * (frame["gender"] == 1) if item == "q6" else 0
        frame[item] = np.clip(np.round(3 + trait + rng.normal(size=n) - shift), 1, 5)
    frame.loc[[5, 6, 7], "gender"] = math.nan
    return frame


FRAME = answers()
WORDS = FRAME.assign(
    gender=FRAME["gender"].map({1: "female", 2: "male"}).fillna(""),
    education=FRAME["education"].map({1: "low", 2: "middle", 3: "high"}),
    band=pd.cut(FRAME["age"], [0, 29, 44, 200], labels=BANDS),
    mean=FRAME[ITEMS].mean(axis=1),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory, new_database):
    path = tmp_path_factory.mktemp("facts") / "x.duckdb"
    shutil.copyfile(new_database, path)
    workspace = study_of_people(path)
    yield workspace
    workspace.close()


def study_of_people(path):
    """The people as SPSS has them; education in order, and bands of age as typed."""
    workspace = open_workspace(path)
    labels = {
        "gender": {1: "female", 2: "male"},
        "education": {1: "low", 2: "middle", 3: "high"},
    }
    data = spss(FRAME, variable_value_labels=labels)
    guess = mappings.guessed(workspace, mappings.open_file("people.sav", data))
    imports.import_tidy(workspace, "people.sav", data, mapping=guess, study="s")
    typed = [
        people.as_typed(PersonFact("age", "number"), "number", "30 < 45", []),
        PersonFact("education", "ordered", ("low", "middle", "high")),
        PersonFact("gender", "category", ("female", "male")),
    ]
    people.save(workspace, "s", typed, people.table(workspace, "s"))
    return workspace


def table(workspace, name, options, where=None, studies=("s",)):
    result = analyses.run(workspace, name, list(studies), options, where or {})
    return result.tables[0].frame, result


def alpha(rows):
    """Cronbach's alpha by hand."""
    scores = rows[ITEMS]
    k = len(ITEMS)
    return k / (k - 1) * (1 - scores.var(ddof=1).sum() / scores.sum(axis=1).var(ddof=1))


def test_alpha_by_bands_of_age_is_that_of_the_people_in_each(made):
    frame, _ = table(made, "internal_consistency", {"by": ("person.age:bands",)})
    assert frame["person.age:bands"].tolist() == BANDS
    for band, found in zip(BANDS, frame["alpha"], strict=True):
        assert found == pytest.approx(alpha(WORDS[WORDS["band"] == band]), abs=1e-10)


def test_people_without_a_value_are_a_group_and_are_left_out_where_compared(made):
    frame, result = table(made, "internal_consistency", {"by": ("person.gender",)})
    assert frame["person.gender"].tolist() == ["female", "male", ""]
    assert any("3 people have no value of person.gender" in note for note in result.notes)
    frame, result = table(made, "group_comparison", {"factor": "person.gender", "by": ()})
    assert frame["group"].tolist() == ["female", "male"]
    for group, mean in zip(frame["group"], frame["mean"], strict=True):
        assert mean == pytest.approx(WORDS.loc[WORDS["gender"] == group, "mean"].mean())
    assert any("left out" in note and "person.gender" in note for note in result.notes)


def test_groups_of_an_ordered_fact_stand_in_its_order(made):
    frame, _ = table(made, "group_comparison", {"factor": "person.education", "by": ()})
    assert frame["group"].tolist() == ["low", "middle", "high"]
    options = {"by": ("person.education",)}
    frame, _ = table(made, "option_distribution", options)
    assert frame["person.education"].unique().tolist() == ["low", "middle", "high"]
    by_both = {"factor": "person.gender", "by": ("person.education",)}
    frame, _ = table(made, "group_comparison", by_both)
    assert frame["person.education"].unique().tolist() == ["low", "middle", "high"]


def test_one_set_of_contexts_is_no_factor_and_people_are_not_called_administrations(made):
    report = analyses.by_name("validation_report")
    options = {option.name: option.initial for option in report.options}
    assert "context_set" in options["by"]
    every = roles.factor_roles(made, report, ["s"], options, {}, ())
    assert "context_set" not in [one.factor for one in every]
    _, result = table(made, "internal_consistency", {"by": ()})
    assert "Intervals take people as independent." in result.notes


def test_counts_of_options_are_kept_apart_by_facts(made):
    options = {"by": ("person.gender", "person.age:bands")}
    frame, _ = table(made, "option_distribution", options)
    rows = frame[(frame["kind"] == "option") & (frame["item"] == "q1")]
    counted = rows.set_index(["person.gender", "person.age:bands", "option"])["count"]
    long = WORDS.assign(option=WORDS["q1"].astype(int).astype(str))
    expected = long.groupby(["gender", "band", "option"], observed=True).size()
    for key, n in expected.items():
        assert counted[key] == n
    assert counted.sum() == len(WORDS)


def test_attempts_are_counted_by_facts(made):
    frame, _ = table(made, "invalid_answers", {"by": ("person.gender",)})
    assert frame["person.gender"].tolist()[:3] == ["female", "male", ""]


def test_an_item_that_is_harder_for_women_is_flagged_by_gender(made):
    frame, _ = table(made, "dif", {"factor": "person.gender", "by": ()})
    flagged = frame.loc[frame["flagged"].astype(bool), "item"].tolist()
    assert flagged == ["q6"]


def test_facts_are_covariates_of_a_factor_model(made):
    text = f"F =~ {' + '.join(ITEMS)}\nF ~ person.gender + person.age\nq6 ~ person.gender"
    options = {"model_text": text, "estimator": "ml", "missing": "listwise", "by": ()}
    result = analyses.run(made, "cfa", ["s"], options, {})
    tables = {table.name: table.frame for table in result.tables}
    has_gender = FRAME[FRAME["gender"].notna()]
    rows = has_gender[[*ITEMS, "gender", "age"]].to_numpy() - [*[0] * 6, 1, 0]  # female is 0
    fit = fit_cfa(rows, [*ITEMS, "person.gender", "person.age"], text, estimator="ML")
    regressions = tables["regressions"].set_index(["outcome", "predictor"])
    assert len(regressions) == 3
    for (outcome, predictor), row in regressions.iterrows():
        e = fit.estimate(outcome, "~", predictor)
        assert (row["estimate"], row["se"]) == pytest.approx((e.estimate, e.se), rel=1e-6)
    assert tables["fit"]["n"].tolist() == [237]
    assert result.n_used == 237 * 6
    assert any("person.gender as covariate: 0 is female, 1 is male" in n for n in result.notes)
    filled = analyses.run(made, "cfa", ["s"], {**options, "missing": "available"}, {})
    assert filled.tables[0].frame["n"].tolist() == [237]
    assert any("3 rows lack a covariate (person.gender" in n for n in filled.cautions)


def test_scores_name_the_facts_that_are_numbers(made):
    facts = ("person.age", "person.education")
    scores = frames.item_scores(made, ["s"], {}, facts)
    assert scores[NUMERIC_FACTS].unique().tolist() == ["person.age"]
    wide = frames.wide_scores(made, ["s"], {}, facts)
    assert wide.administrations[NUMERIC_FACTS].unique().tolist() == ["person.age"]
    assert NUMERIC_FACTS not in frames.item_scores(made, ["s"], {})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("F ~ person.education", "3 categories"),
        ("F ~ person.height", "person.height"),
        ("F =~ person.age", "can only explain"),
    ],
)
def test_facts_that_can_be_no_covariate_are_refused_by_name(made, line, problem):
    text = f"F =~ {' + '.join(ITEMS)}\n{line}"
    with pytest.raises(UserError) as refusal:
        analyses.run(made, "cfa", ["s"], {"model_text": text, "by": ()}, {})
    assert problem in refusal.value.problem


def test_wide_tables_are_kept_with_facts(made):
    analysis = analyses.by_name("internal_consistency")
    options = {"by": ("person.gender", "person.age:bands")}
    wide = frames.load_frame(made, analysis, ["s"], {}, options, wide=True)
    rows = frames.load_frame(made, analysis, ["s"], {}, options)
    assert not isinstance(wide, pd.DataFrame)
    columns = ["administration", "person.gender", "person.age:bands"]
    first = rows.drop_duplicates("administration")[columns]
    pd.testing.assert_frame_equal(
        wide.administrations[columns].reset_index(drop=True), first.reset_index(drop=True)
    )


WOMEN_UNDER_30 = (WORDS["gender"] == "female") & (WORDS["age"] < 30)
FILTERS = (
    ({"person.gender": ["female"], "person.age": ["..29"]}, WOMEN_UNDER_30),
    ({"person.gender": ["female"], "person.age:bands": ["under 30"]}, WOMEN_UNDER_30),
    ({"person.gender": [""]}, WORDS["gender"] == ""),
    ({"person.gender": ["", "male"]}, WORDS["gender"] != "female"),
    ({"person.age": ["30..44", "61.0"]}, WORDS["age"].between(30, 44) | (WORDS["age"] == 61)),
    ({"person.age:bands": ["45 and over", "30 to 44"]}, WORDS["age"] >= 30),
)


@pytest.mark.parametrize(("where", "passing"), FILTERS)
def test_filters_take_the_people_whose_facts_pass(made, where, passing):
    for wide in (True, False):
        analysis = analyses.by_name("internal_consistency")
        frame = frames.load_frame(made, analysis, ["s"], where, {"by": ()}, wide=wide)
        contexts = (frame if isinstance(frame, pd.DataFrame) else frame.administrations)["context"]
        assert set(contexts) == set(WORDS.loc[passing, "id"])
    _, total = browsing.page(made, "s", where, "", limit=1)
    assert total == passing.sum() * len(ITEMS)
    view = View("mean_score", "item", where={name: tuple(v) for name, v in where.items()})
    assert set(explore.count_view(made, "s", view).frame["n"]) == {passing.sum()}


def test_women_under_30_from_the_command_line(new_database, tmp_path, capsys):
    shutil.copyfile(new_database, tmp_path / "x.duckdb")
    study_of_people(tmp_path / "x.duckdb").close()
    out = tmp_path / "alpha.csv"
    words = ["--where", "person.gender=female", "--where", "person.age=..29", "--out", str(out)]
    code = command_line.main(
        [
            "--db",
            str(tmp_path / "x.duckdb"),
            "analyze",
            "internal_consistency",
            "--study",
            "s",
            *words,
        ]
    )
    assert code == 0, capsys.readouterr().err
    found = pd.read_csv(out)["alpha"].iloc[0]
    assert found == pytest.approx(alpha(WORDS[WOMEN_UNDER_30]), abs=1e-10)


def test_explore_crosses_facts_in_their_order(made):
    result = explore.count_view(made, "s", View("mean_score", "person.education", "person.gender"))
    expected = WORDS.groupby(["education", "gender"])["mean"].mean()
    rows = result.frame
    levels = explore.levels_of_factors(made, "s")
    assert levels["person.education"] == ["low", "middle", "high"]
    assert rows["person.education"].drop_duplicates().tolist() == ["low", "middle", "high"]
    for education, gender, value in rows[["person.education", "person.gender", "value"]].itertuples(
        index=False
    ):
        own = expected[education, gender.replace("(none)", "")]
        assert value == pytest.approx(own, abs=1e-10)
    by_age = explore.count_view(made, "s", View("mean_score", "person.age:bands")).frame
    assert by_age["person.age:bands"].tolist() == BANDS
    follow = explore.follow_up(View("mean_score", "person.gender"), imported=True)
    assert follow.analysis == "group_comparison"
    assert follow.options["factor"] == "person.gender"


def test_averages_over_contexts_stay_within_a_fact(made):
    analysis = analyses.by_name("score_distribution")
    frame = frames.load_frame(made, analysis, ["s"], {}, {"by": ("person.gender",)})
    averaged = frames_over_contexts(frame)
    assert averaged["administration"].nunique() == 3


def frames_over_contexts(frame):
    from core.analysis.kit.rows import average_over

    return average_over(frame, ("context",))


def test_exported_tables_hold_facts(made, tmp_path):
    export_tables(made, ["s"], tmp_path / "tables")
    analysis = analyses.by_name("internal_consistency")
    options = {"by": ("person.age:bands",)}
    with workspace_of_tables(made, analysis, options, tmp_path / "tables", "duckdb") as own:
        frame, _ = table(own, "internal_consistency", options, {"person.gender": ["female"]})
    expected, _ = table(made, "internal_consistency", options, {"person.gender": ["female"]})
    pd.testing.assert_frame_equal(frame, expected)


# Bad input, and studies that differ.


def test_a_fact_that_is_not_there_is_refused_by_name(made):
    for options, where in (
        ({"by": ("person.shoes",)}, {}),
        ({"by": ()}, {"person.shoes": ["44"]}),
        ({"by": ("person.gender:bands",)}, {}),
        ({"by": ()}, {"person.age:bands": ["young"]}),
    ):
        with pytest.raises(NotEnoughData) as refused:
            table(made, "internal_consistency", options, where)
        assert "person.age" in str(refused.value) or "30 to 44" in str(refused.value)
    with pytest.raises(NotEnoughData):
        explore.count_view(made, "s", View("mean_score", "person.shoes"))


def brought_in(workspace, frame, study):
    data = frame.to_csv(index=False).encode()
    guess = mappings.guessed(workspace, mappings.open_file("x.csv", data))
    roles = {**guess.columns, **{n: "group" for n in frame if n not in ("id", *ITEMS)}}
    mapping = replace(guess, columns=roles)
    imports.import_tidy(workspace, "x.csv", data, mapping=mapping, study=study)


def test_facts_of_one_level_and_of_many(workspace):
    n = 260
    frame = answers(n)[["id", *ITEMS]].assign(
        country="DE", income=np.arange(n) * 1000.5, name=[f"n{k}" for k in range(n)]
    )
    brought_in(workspace, frame, "s")
    known = person_facts.known_facts(workspace.database, ["s"])
    assert known["person.income"].levels is None
    assert [len(known[f"person.{name}"].bands) for name in ("income", "name")] == [4, 0]
    assert set(person_facts.levels(workspace, "s")) == {"person.income:bands"}
    frame, result = table(workspace, "internal_consistency", {"by": ("person.country",)})
    assert frame["person.country"].tolist() == ["DE"]
    assert any("Nobody differs in person: country" in note for note in result.notes)
    with pytest.raises(NotEnoughData, match=r"260 levels.*person\.income:bands"):
        table(workspace, "internal_consistency", {"by": ("person.income",)})
    with pytest.raises(NotEnoughData, match="260 levels"):
        table(workspace, "internal_consistency", {"by": ("person.name",)})
    frame, _ = table(workspace, "internal_consistency", {"by": ("person.income:bands",)})
    # the quartiles are near 65,000, 130,000 and 194,000; steps of 50,000 are round beside them
    assert frame["n_administrations"].tolist() == [50, 100, 50, 60]


def test_a_fact_of_two_kinds_in_two_studies_is_said_and_stands(workspace):
    numbers = answers(60)[["id", "age", *ITEMS]]
    words = numbers.assign(age=["young", "old"] * 30)
    brought_in(workspace, numbers, "a")
    brought_in(workspace, words, "b")
    both = ("a", "b")
    frame, result = table(
        workspace, "internal_consistency", {"by": ("person.age:bands",)}, {}, both
    )
    assert sum(frame["n_administrations"]) == 120
    assert frame["person.age:bands"].tolist()[-1] == ""
    assert sum("person.age is a number in a" in note for note in result.notes) == 1
    where = {"person.age": ["old"]}
    frame, _ = table(workspace, "internal_consistency", {"by": ("study",)}, where, both)
    assert frame["study"].tolist() == ["b"]


def test_changed_values_are_seen_at_once(workspace):
    brought_in(workspace, answers(60)[["id", "age", *ITEMS]], "a")
    options = {"by": ("person.age:bands",)}
    before, _ = table(workspace, "option_distribution", options, {}, ("a",))
    known = [people.as_typed(PersonFact("age", "number"), "number", "40", [])]
    people.save(workspace, "a", known, people.table(workspace, "a"))
    after, _ = table(workspace, "option_distribution", options, {}, ("a",))
    assert len(set(before["person.age:bands"])) == 4
    assert after["person.age:bands"].unique().tolist() == ["under 40", "40 and over"]
    assert person_facts.levels(workspace, "a")["person.age:bands"] == ["under 40", "40 and over"]


def test_bands_have_names_that_filters_read():
    for cuts, whole in (((30, 45), True), ((30, 31, 45), True), ((1.5, 2, 1e6), False), ((), True)):
        made = bands(cuts, whole=whole)
        ends = [wanted_range(band.name) for band in made]
        assert [end.low for end in ends] == [band.low for band in made]
        for lower, upper in pairwise(ends):
            assert lower.high < upper.low
            assert not whole or upper.low - lower.high in (1, pytest.approx(0, abs=1e-9))
    assert [band.name for band in bands((30, 31, 45), whole=True)] == [
        "under 30",
        "30",
        "31 to 44",
        "45 and over",
    ]
    assert proposed_cuts((22.0, 22.4, 45.0), 18, 70, whole=True) == (20, 50)
    assert proposed_cuts((19, 20, 22), 17, 40, whole=True) == (20, 22)  # students
    assert proposed_cuts((20, 20, 20), 18, 60, whole=True) == (20,)
    assert proposed_cuts((0.251, 0.5, 0.749), 0, 1, whole=False) == (0.2, 0.6, 0.8)
    assert proposed_cuts((512, 640, 803), 300, 2000, whole=False) == (500, 600, 800)
    assert proposed_cuts((1, 2, 2), 1, 2, whole=True) == (2,)
    assert proposed_cuts((5, 5, 5), 5, 5, whole=True) == ()
    assert proposed_cuts((), math.nan, math.nan, whole=False) == ()


def ask_under(workspace, contexts):
    """A study of a simulated respondent under some contexts, answered."""
    catalog.save(workspace, simulated(seed=3))
    design = Design(
        study="study",
        instrument="attitudes_20",
        respondents=("Simulated",),
        contexts=contexts,
    )
    studies.freeze(workspace, design)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)


def test_facts_about_personas_of_a_design_are_kept_with_the_study(workspace):
    contexts = read_contexts(
        "personas.csv",
        b"code,text,person.gender,person.age\na,A nurse,female,31\nb,A cook,male,44\n"
        b"c,A judge,male,58\n",
    )
    ask_under(workspace, contexts)
    assert people.table(workspace, "study")["age"].tolist() == ["31", "44", "58"]
    view = View("mean_score", "person.gender", where={"person.age": ("40..",)})
    rows = explore.count_view(workspace, "study", view).frame
    assert rows["person.gender"].tolist() == ["male"]
    assert rows["n"].tolist() == [40]
    options = {"by": ("person.gender",)}
    frame, _ = table(workspace, "option_distribution", options, {}, ("study",))
    assert frame["person.gender"].unique().tolist() == ["female", "male"]


def test_answers_are_filtered_by_what_contexts_are(workspace):
    contexts = (
        Context("a", "A nurse"),
        Context("b", "A cook", variant_of="a"),
        Context("c", messages=({"role": "user", "content": "Hello"},)),
    )
    ask_under(workspace, contexts)
    for where, passing in (
        ({"context_set": ["personas"]}, {"a", "b"}),
        ({"context_set": ["conversations"]}, {"c"}),
        ({"rewriting": ["rewritten"]}, {"b"}),
        ({"rewriting": ["original"], "context_set": ["personas"]}, {"a"}),
    ):
        analysis = analyses.by_name("internal_consistency")
        for wide in (True, False):
            frame = frames.load_frame(workspace, analysis, ["study"], where, {}, wide=wide)
            rows = frame if isinstance(frame, pd.DataFrame) else frame.administrations
            assert set(rows["context"]) == passing
        page, _ = browsing.page(workspace, "study", where, "", limit=100)
        assert set(page["context"]) == passing
        view = View("mean_score", "context", where={k: tuple(v) for k, v in where.items()})
        assert set(explore.count_view(workspace, "study", view).frame["context"]) == passing


@pytest.mark.parametrize("name", ["dif", "invariance", "group_comparison"])
def test_a_fact_is_compared_where_nothing_else_varies(made, name):
    analysis = analyses.by_name(name)
    options = analyses.saved_options(made, "s", analysis)
    assert analysis.compared(options) == "person.gender"
    every = roles.factor_roles(made, analysis, ["s"], options, {}, ())
    found = [(one.word, one.role, one.n_levels) for one in every]
    people_of = ("people", "rows", len(FRAME))
    assert found == [people_of, ("values of gender (person)", "compared", 0)]


def test_people_stand_beside_two_models_who_were_asked_in_a_template(workspace):
    for respondent in (simulated("one", seed=1), simulated("two", seed=2)):
        catalog.save(workspace, respondent)
    contexts = tuple(Context(f"c{number}", f"You are nurse {number}.") for number in range(12))
    models = Design("m", "attitudes_20", respondents=("one", "two"), contexts=contexts)
    studies.freeze(workspace, models)
    control.start(workspace, "m")
    control.wait(workspace, "m", every_s=0.02)
    rows = [
        f"s,attitudes_20,{item.code},p{person},people,{1 + (person + number) % 5},{person % 2}"
        for person in range(30)
        for number, item in enumerate(studies.frozen_bank(workspace, "m").items)
    ]
    head = "study,instrument,item,context,model,answer,person.gender"
    imports.import_tidy(workspace, "s.csv", "\n".join([head, *rows]).encode())
    options = {"factor": "respondent", "by": ()}
    frame, result = table(workspace, "group_comparison", options, studies=("s", "m"))
    counts = dict(zip(frame["group"], frame["n"], strict=True))
    assert counts == {"people": 30, "one": 12, "two": 12}
    assert not any("also differ" in caution for caution in result.cautions)
