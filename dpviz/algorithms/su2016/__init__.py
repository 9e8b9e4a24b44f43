"""The algorithms of Su et al. 2016."""

FAMILY = "Su et al. 2016"
PAPER = "Su, Cao, Li, Bertino & Jin: Differentially Private k-Means Clustering. CODASPY 2016"
