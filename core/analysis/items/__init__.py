"""How single items behave: their statistics, options, and difficulty."""
