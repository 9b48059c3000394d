"""Agreement of raters or coders."""
