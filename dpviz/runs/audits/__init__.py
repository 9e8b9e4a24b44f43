"""Auditing an algorithm: what the contract asks of it, tried out on tables that are made up."""
