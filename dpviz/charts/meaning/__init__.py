"""The pictures of what ε means: a belief, an attack's record, two worlds, asking again, and others' ε."""
