"""Analyses over the answers of a study that crosses more than one thing."""

from core.workflow import collection, statistics
from tests.workflow.studies import freeze, simulated


def analyzed(workspace, name, **options):
    return statistics.run(workspace, name, ["study"], options, {})


def collected(workspace, **factors):
    freeze(workspace, simulated(), **factors)
    collection.start(workspace, "study")
    collection.wait(workspace, "study", every_s=0.02)


def test_answers_in_different_formats_are_never_pooled(workspace):
    collected(
        workspace, bank="brand_100", formats=("yes_no", "likert_4"), entities=("Acme",),
        templates=("question",), n_personas=3,
    )  # fmt: skip
    result = analyzed(workspace, "item_statistics")
    table = result.tables[0].frame
    assert set(table["format"]) == {"yes_no", "likert_4"}
    assert table.groupby("format")["mean"].max()["yes_no"] <= 1
    assert any("several formats" in note for note in result.notes)
    one = statistics.run(workspace, "item_statistics", ["study"], {}, {"format": ["yes_no"]})
    assert "format" not in one.tables[0].frame.columns


def test_forms_that_point_the_other_way_are_turned_before_they_are_scored(workspace):
    collected(
        workspace, bank="policy_60", formats=("agree_disagree",), n_personas=20,
        forms=("original", "negation"), templates=("personal_1",),
    )  # fmt: skip
    frame = workspace.database.rows(
        "select a.form, i.keyed, r.option, count(*) from trial t"
        " join administration a using (administration_id) join item i using (item_id)"
        " join response r using (trial_id) group by all"
    )
    agreed = {(form, keyed): n for form, keyed, option, n in frame if option == "agree"}
    result = analyzed(workspace, "item_statistics", by=("form",))
    means = result.tables[0].frame.groupby(["form", "keyed"])["mean"].mean()
    items = result.tables[0].frame.groupby(["form", "keyed"])["item"].nunique()
    for form, keyed in agreed:
        share = agreed[form, keyed] / (items[form, keyed] * 20)
        same = keyed == (1 if form == "original" else -1)
        assert abs(means[form, keyed] - (share if same else 1 - share)) < 1e-12
