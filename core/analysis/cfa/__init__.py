"""Confirmatory factor analysis."""
