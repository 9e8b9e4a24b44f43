"""The algorithms of Balcan et al. 2017."""
