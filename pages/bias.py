"""Which way answers lean, and which of two entities they prefer."""

from pages.shared import analysis_page

analysis_page.show(
    "bias",
    "Bias and preference",
    "Which way the answers lean: how often they are positive, about which entities, whether "
    "opposite statements are both affirmed, and which of two entities they prefer.",
)
