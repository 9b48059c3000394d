"""Contexts: sets of personas and conversations, and rewriting them with a model."""
