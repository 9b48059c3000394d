"""The page Import and export: answers from files, and studies as files."""
