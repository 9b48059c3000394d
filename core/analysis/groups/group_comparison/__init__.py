"""Groups compared in their mean scores, with the same units or with others in each."""
