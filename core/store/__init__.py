"""The DuckDB file. The only package that contains SQL."""
