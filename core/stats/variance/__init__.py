"""Variance components of crossed and nested designs, and coefficients of generalizability."""
