"""Designs: forms, files, checks, size, presets, and freezing into studies."""
