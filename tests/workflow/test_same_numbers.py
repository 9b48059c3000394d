"""The same statistic is the same number, wherever it is printed."""

from __future__ import annotations

from core.workflow import sample
from core.workflow.runs import control
from core.workflow.statistics import analyses


def test_alpha_is_the_same_to_the_last_digit_in_every_analysis(workspace):
    study = sample.start_sample(workspace, "simulated")
    control.wait(workspace, study, every_s=0.02)

    def table(name, which=0, **options):
        return analyses.run(workspace, name, [study], options, {}).tables[which].frame

    consistency = table("internal_consistency").set_index("subscale")["alpha"].to_dict()
    own = table("reliability", resamples=100)
    matrix = analyses.run(workspace, "multitrait_matrix", [study], {}, {}).tables
    (scores,) = (found.frame for found in matrix if found.name == "scores")
    of_scores = scores.set_index("score")["alpha"].to_dict()
    # the simulated model refuses some answers, so that complete administrations are too few
    whole_scale = own[own["scale"] == "all items"]
    assert whole_scale["missing_rule"].unique().tolist() == ["fiml"]
    alphas = own[own["coefficient"].str.startswith("α (")]
    assert alphas.groupby("scale")["value"].nunique().eq(1).all()  # whatever their intervals
    found = alphas.drop_duplicates("scale").set_index("scale")["value"].to_dict()
    whole = found.pop("all items")
    assert found == consistency
    assert of_scores == {"all items": whole, **consistency}
