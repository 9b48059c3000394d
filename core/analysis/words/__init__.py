"""Words of associations and stories, and the instruments made of them."""
