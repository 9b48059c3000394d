"""An example of an analysis in a package of its own."""
