"""The worldview that reliable stances add up to: domains, leaning, parties."""
