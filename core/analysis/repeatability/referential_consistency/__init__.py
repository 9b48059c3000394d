"""Whether answer formats change the answers: divergence of formats."""
