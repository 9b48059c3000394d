"""Whether answers come again: when the same is asked twice, and in another answer format."""

from pages.shared import analysis_page

analysis_page.show(
    "consistency",
    "Consistency",
    "Whether the same question gets the same answer again, and whether another answer format "
    "changes it.",
)
