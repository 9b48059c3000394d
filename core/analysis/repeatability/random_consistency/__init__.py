"""Whether the same answers come again: entropy of repeated answers."""
