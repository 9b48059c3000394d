"""Groups set against each other: scores, items that work differently, languages."""
