"""The page Collect."""
