"""Opinions on what a user says, and whether models give way."""
