"""Stances on statements, and how far wordings and annotators agree on them."""
