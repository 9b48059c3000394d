"""How reliable scores are: internal consistency, forms, orders of options, repetitions."""

from pages.shared import analysis_page

analysis_page.show(
    "reliability",
    "Reliability",
    "How precise the scores are: whether the items are consistent with one another, and whether "
    "another form, another order of the options or another occasion gives the same scores.",
)
