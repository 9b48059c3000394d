"""Which words are positive and negative again and again, and what is made of them."""

from pages.shared import analysis_page

analysis_page.show(
    "words",
    "Word association",
    "Which words are called positive or negative again and again, which come first, and how far "
    "languages, pairs of labels and other conditions agree.",
)
