"""Factor models of continuous scores: confirmatory, exploratory, invariance."""
