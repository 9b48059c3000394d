"""The page Factors."""
