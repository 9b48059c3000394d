"""The page Contexts."""
