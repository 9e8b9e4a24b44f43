"""The bench: a declaration as a sentence, the picture of its answer, and the axis of ε."""
