"""Lessons: predict, then see. A lesson is a YAML file; here it is read, checked, and held to the numbers it says."""
