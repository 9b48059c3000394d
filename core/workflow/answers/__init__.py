"""Answers: reading, importing, exporting, auditing, reading again, and texts."""
