"""Answers that cannot be used, and templates that cause them."""
