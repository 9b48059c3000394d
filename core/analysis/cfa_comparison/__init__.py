"""Comparison of factor models."""
