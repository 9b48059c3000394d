"""Analyses in processes beside the server, which can be ended and have a bound of memory."""
