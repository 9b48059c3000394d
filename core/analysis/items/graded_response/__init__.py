"""How well items measure the trait, by item response models."""
