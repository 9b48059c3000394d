"""The parts of the validation report."""
