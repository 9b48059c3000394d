"""How much of the variance of answers is due to which facets of the asking."""
