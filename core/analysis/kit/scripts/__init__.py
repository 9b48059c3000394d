"""Scripts for R and Python that compute the same, with their data."""
