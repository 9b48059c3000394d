"""The validation report: six criteria, a gate and a verdict."""
