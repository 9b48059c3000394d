"""What the analyses of items and scores share."""
