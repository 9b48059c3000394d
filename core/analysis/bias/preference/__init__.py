"""Which of two entities wins, in which order they stand, and how strong each is."""
