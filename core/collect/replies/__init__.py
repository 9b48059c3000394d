"""Reading replies: which option a reply names, or the status that says why none."""
