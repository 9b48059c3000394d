"""Reports: what a study asked, how it was analyzed, and the results, as one document."""
