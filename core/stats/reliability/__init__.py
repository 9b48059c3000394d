"""Reliability: alpha, omega, split halves, forms and occasions."""
