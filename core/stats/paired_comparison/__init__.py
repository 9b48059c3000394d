"""Paired comparisons: shares of wins, effect of the order of naming, transitivity, strengths."""
