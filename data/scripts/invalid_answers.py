"""Shares of invalid answers with scipy.

Reads data.csv and settings.csv from the folder of this file, and needs shared.py. A row of
data.csv is one item of a group: how many trials have a reply, how many of these were invalid at
first, how many ended, and how many of these never had a usable answer. Intervals are Wilson's;
those by resampling are not repeated, as they depend on the random numbers.
"""

from scipy.stats import binomtest
from shared import NAN, print_row, read_settings, read_table

COUNTS = ("replied", "invalid", "ended", "never")


def share_of(above, below, ci_level):
    """Share with Wilson's interval."""
    if not below:
        return NAN, NAN, NAN
    interval = binomtest(above, below).proportion_ci(ci_level, method="wilson")
    return above / below, interval.low, interval.high


ci_level = float(read_settings()["ci_level"])
groups = {}
for row in read_table("data.csv"):
    groups.setdefault(row["group"], []).append(
        (row["item"], {name: int(row[name]) for name in COUNTS})
    )
header = ("share_invalid", "wilson_low", "wilson_high", "never", "share_never")
print_row("group", "replied", "invalid", *header, "never_low", "never_high")
for group, rows in groups.items():
    total = {name: sum(counts[name] for _, counts in rows) for name in COUNTS}
    invalid = share_of(total["invalid"], total["replied"], ci_level)
    never = share_of(total["never"], total["ended"], ci_level)
    print_row(group, total["replied"], total["invalid"], *invalid, total["never"], *never)
print()
print_row("group", "item", "invalid", "share", "wilson_low", "wilson_high")
for group, rows in groups.items():
    items = [
        (item, counts["invalid"], *share_of(counts["invalid"], counts["replied"], ci_level))
        for item, counts in rows
        if counts["invalid"]
    ]
    for row in sorted(items, key=lambda row: (-row[2], -row[1])):
        print_row(group, *row)
