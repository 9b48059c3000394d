"""The page Design."""
