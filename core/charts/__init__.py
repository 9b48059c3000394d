"""Charts of results: what is drawn, the same in words, and as a table.

Column names in a chart are ours and everything a user or a model wrote is data, so no text can
become a field, a link, an image or an expression. Color never stands alone: options carry labels,
unusable answers a dashed outline, ratings a shape and a word, groups a panel of their own.
"""

from core.charts.item_texts import with_item_texts
from core.charts.panels import MAX_MARKS, Chart, page_spec, with_data, with_theme_ink

__all__ = ["MAX_MARKS", "Chart", "page_spec", "with_data", "with_item_texts", "with_theme_ink"]
