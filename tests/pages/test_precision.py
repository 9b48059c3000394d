"""The page Precision: from the assumed truth to half-widths and the recommended number."""

from __future__ import annotations

import time

from core.workflow.precision import study as precision_study
from tests.pages import apps
from tests.workflow.studies import freeze, simulated


def test_a_frozen_study_is_simulated_from_the_page_and_a_reload_has_the_result(workspace):
    freeze(workspace, simulated(), n_personas=12)
    at = apps.open_page("precision", study="study")
    assert "12 personas" in " ".join(one.value for one in at.markdown)
    at.number_input(key="precision:study:simulation_noise").set_value(0.8).run()
    at.number_input(key="precision:study:simulation_position_bias").set_value(0.5).run()
    apps.fine(at.button(key="precision_start").click().run())
    assert "add up to more than all" in at.error[0].value
    at.number_input(key="precision:study:simulation_position_bias").set_value(0.1).run()
    at.number_input(key="precision:study:simulation_noise").set_value(0.1).run()
    at.multiselect(key="precision:study:statistics").set_value(["alpha", "r_language"]).run()
    at.number_input(key="precision:study:target_alpha").set_value(0.45).run()
    at.number_input(key="precision:study:replications").set_value(3).run()
    apps.fine(at.button(key="precision_start").click().run())
    deadline = time.monotonic() + 60
    while precision_study.saved_result(workspace, "study") is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    at = apps.open_page("precision", study="study")
    request, result = precision_study.saved_result(workspace, "study")
    assert request.truth.position_bias == 0.1
    assert (request.replications, request.targets["alpha"]) == (3, 0.45)
    shown = " ".join(one.value for one in at.markdown)
    assert "Cronbach's α, of " in shown
    assert "which needs most" in shown
    assert "at the 12 planned contexts" in shown
    cautions = " ".join(one.value for one in at.warning)
    assert "Simulated people are no models" in cautions
    assert "The design has one language only" in cautions
    tables = [one.value for one in at.dataframe]
    table = next(one for one in tables if "Recommended" in one.columns)
    half = result.tables[0].frame["half_width"]
    assert [f"{value:.4f}" for value in table["Half-width ±"]] == [f"{v:.4f}" for v in half]
    assert len(at.get("vega_lite_chart")) == 2
    at.number_input(key="precision:study:replications").set_value(4).run()
    assert "The choices below have changed" in at.info[0].value
