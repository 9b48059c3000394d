"""Whether the same question gets the same answer again, or in another format."""
