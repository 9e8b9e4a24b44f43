"""Mutation testing: what the tests catch when one line of the package is wrong.

``forked`` runs chosen tests on a changed module, ``warm`` changes one that is loaded already, ``places`` finds and
samples possible changes, ``reached`` knows which tests reach a line, ``results`` judges and reports. The command is
``python -m benchmarks.mutation``.
"""
