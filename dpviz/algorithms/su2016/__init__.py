"""The algorithms of Su et al. 2016."""
