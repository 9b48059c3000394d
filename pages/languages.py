"""Whether a study finds the same in every language: correlations, equivalence, items."""

from pages.shared import analysis_page

analysis_page.show(
    "languages",
    "Languages",
    "Whether a study finds the same in every language: correlations between languages over items, "
    "mean differences and their equivalence, counts of answers, and the items that differ most.",
)
