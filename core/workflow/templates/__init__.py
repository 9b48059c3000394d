"""Prompt templates: edit with versions, preview, try out, import and export."""
