"""Word lists from texts: taggers of languages, counts of nouns and verbs, banks of words."""
