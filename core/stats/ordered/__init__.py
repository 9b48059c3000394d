"""Factor models of ordered answers: polychoric correlations and WLSMV."""
