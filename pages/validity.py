"""How scores relate to other variables, to known groups, and to texts."""

from pages.shared import analysis_page

analysis_page.show(
    "validity",
    "Validity and groups",
    "How a score correlates with other variables, whether it distinguishes known groups, and "
    "whether it is visible in the texts that a model writes.",
)
