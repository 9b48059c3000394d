"""Replies that are not just the label of an option, and how often one has to ask again."""

from pages.shared import analysis_page

analysis_page.show(
    "unexpected_outputs",
    "Unexpected outputs",
    "How often replies explain, evade, refuse or break off, in which language and for which items.",
)
