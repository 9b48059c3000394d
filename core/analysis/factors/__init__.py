"""Models of factors: exploratory, confirmatory, compared, and across groups."""
