"""Correlations of scores in a multitrait matrix."""
