"""The session and its books: the only code that reads rows, and what it has spent."""
