"""The page Prompt templates."""
