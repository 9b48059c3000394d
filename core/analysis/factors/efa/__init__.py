"""Exploratory factors."""
