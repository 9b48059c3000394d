"""Statistics: running analyses, their frames, computing in the background, factor models."""
