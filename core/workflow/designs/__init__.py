"""Designs: forms, files, checks, size, presets, freezing into studies, the second phase."""
