"""Opinions: the page, and the map of all questions."""
