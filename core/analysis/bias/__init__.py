"""Which entities models prefer, and how far an answer follows the entity that is named."""
