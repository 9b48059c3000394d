"""Five published studies beside the user's own: what was printed, and what answers give."""
