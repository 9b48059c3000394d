"""Study packages: everything about a study in one zip, and the study from such a zip."""
