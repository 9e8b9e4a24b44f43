"""Lower bounds on ε from frequencies alone: of whole runs, of mechanisms, of tuples and of messages."""
