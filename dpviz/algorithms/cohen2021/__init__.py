"""The algorithms of Cohen et al. 2021, on tuples of points."""

FAMILY = "Cohen et al. 2021"
PAPER = "Cohen, Kaplan, Mansour, Stemmer & Tsfadia: Differentially-Private Clustering of Easy Instances. ICML 2021"
