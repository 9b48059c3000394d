"""Measurement invariance."""
