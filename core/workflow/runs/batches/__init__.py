"""Asking through batch services: files of requests, files of replies, and the service itself."""
