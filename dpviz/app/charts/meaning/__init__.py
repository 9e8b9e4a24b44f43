"""The pictures of what ε means: a belief, an attack's record, two neighbouring tables, asking again, and others' ε."""
