"""What several analyses share: registration, options, rows, matrices, scores, scripts."""
