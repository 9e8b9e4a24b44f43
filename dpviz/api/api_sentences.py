"""What functions, the estimator and commands say, and why they refuse, in whole sentences: ``sentences.toml``."""

from dpviz.words import Sentences

SENTENCES = Sentences(__file__)
make_refusal = SENTENCES.make_refusal
