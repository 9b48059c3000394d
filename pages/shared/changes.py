"""What changed between two versions of a bank or a template, as a table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.domain.difference import Difference
from pages.shared import widgets

_MOST = 500  # rows


def show_changes(changes: Sequence[Difference]) -> None:
    """How many changes are critical, and a row for each, critical ones first."""
    n_critical = sum(change.critical for change in changes)
    st.write(
        f"Differences: {len(changes):,}, of which {n_critical:,} critical. Results from before and "
        "after a critical change are not directly comparable: models read another text, or an "
        "answer counts otherwise."
    )
    rows = [
        {
            "Weight": "Critical" if change.critical else "Minor",
            "Where": change.where,
            "What": change.what,
            "Words": change.words,
            "Before": change.before,
            "After": change.after,
        }
        for change in sorted(changes, key=lambda change: not change.critical)[:_MOST]
    ]
    if len(changes) > len(rows):
        st.caption(f"The table shows the first {len(rows):,}.")
    widgets.table(
        pd.DataFrame(rows),
        alt=f"Differences: {len(rows)} rows",
        column_config={
            "Words": st.column_config.TextColumn(
                "Changed words",
                width="large",
                help="The words that changed, with those that they became. + is added, − is gone.",
            )
        },
    )
