"""How a table comes in, and the whole of what is declared of it."""
