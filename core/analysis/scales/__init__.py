"""How good the scores of scales are: reliability, validity, norms."""
