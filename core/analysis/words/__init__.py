"""Texts scored by lists of words."""
