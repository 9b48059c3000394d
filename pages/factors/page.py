"""The page of factor models: pages/shared/analysis_page.py draws what core/analysis computes."""

from core.analysis.kit.factor_models.models import FactorModelText
from pages.factors import editor, model_change
from pages.shared import analysis_page
from pages.shared.analysis_options import Editor

analysis_page.show(
    "factors",
    "Factor models",
    "Do the items measure what the bank says? Fit the model of the bank, edit it, check it with "
    "another program, compare several models, or explore the factors without a model.",
    editors={FactorModelText: Editor(editor.options_set, editor.controls)},
    above=model_change.show_change,
    tabs=model_change.tabs,
)
