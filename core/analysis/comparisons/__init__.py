"""What the analyses of reliability and validity share: scores paired, grouped, correlated."""
