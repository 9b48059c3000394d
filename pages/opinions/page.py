"""Opinions from yes-or-no answers, and how far they give way to a user's opinion."""

from pages.opinions import questions
from pages.shared import analysis_page

analysis_page.show(
    "opinions",
    "Opinions",
    "Which opinions are held, how firmly, and in which language; and whether they give way when "
    "the user states the opposite.",
    above=questions.firmest,
    tabs=questions.tabs,
)
