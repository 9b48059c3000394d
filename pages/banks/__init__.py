"""The page Banks."""
