"""Political worldviews: which stances are reliable, and what they add up to."""

from pages.shared import analysis_page

analysis_page.show(
    "worldview",
    "Political worldviews",
    "On which statements a stance does not depend on how one asks, and what worldview the "
    "reliable stances add up to.",
)
