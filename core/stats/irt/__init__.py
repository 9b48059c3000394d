"""Item response theory and differential item functioning."""
