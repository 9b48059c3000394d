"""Word association: which words stand on which side again and again, and which come first."""
