"""The same items in several languages: correlations, differences, equivalence, chi-square."""
