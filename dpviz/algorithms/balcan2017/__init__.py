"""The algorithms of Balcan et al. 2017."""

FAMILY = "Balcan et al. 2017"
PAPER = (
    "Balcan, Dick, Liang, Mou & Zhang: "
    "Differentially Private Clustering in High-Dimensional Euclidean Spaces. ICML 2017"
)
