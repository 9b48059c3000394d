"""The commands of `python -m core`, one module for each noun."""
