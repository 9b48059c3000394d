"""Respondents: models on offer, their settings, prices, keys and tests."""
