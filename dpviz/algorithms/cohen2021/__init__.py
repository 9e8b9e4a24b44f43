"""The algorithms of Cohen et al. 2021, on tuples of points."""
