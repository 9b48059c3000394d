"""Correlations, means, groups, shares and distributions, and many tests at once."""
