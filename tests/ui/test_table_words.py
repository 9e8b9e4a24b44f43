import doctest

from dpviz.ui import table_words


def test_examples_in_the_docstrings() -> None:
    tried = doctest.testmod(table_words)
    assert tried.attempted > 0 and tried.failed == 0
