"""Whether scores of languages, models or forms can be compared."""

from pages.shared import analysis_page

analysis_page.show(
    "comparability",
    "Invariance and DIF",
    "Whether scores of languages, models or forms may be compared: measurement invariance and "
    "differential item functioning.",
)
