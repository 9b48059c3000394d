"""Question banks as files: CSV and Excel, read and written."""
