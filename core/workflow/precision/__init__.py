"""The precision that a planned study reaches, by simulated people who answer its plan."""
