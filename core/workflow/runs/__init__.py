"""Runs: planned calls, the collector, the second phase, amendments of frozen studies."""
