"""What dpviz reads and writes, a model for each document: its keys, their values and what they mean."""
