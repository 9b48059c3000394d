"""Answers: reading, importing, exporting, auditing, judging, reading again, and texts."""
