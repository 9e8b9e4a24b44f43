"""Hostile input for everything that reads something: cases made from a seed, and a judge of what becomes of them."""
