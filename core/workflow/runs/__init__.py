"""Runs: start, pause and stop; the collector, the reading of replies, amendments of studies."""
