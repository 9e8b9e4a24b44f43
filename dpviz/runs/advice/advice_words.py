"""What advice says, in sentences: on the page and in the shell alike."""

from __future__ import annotations

from dpviz.algorithms import find_card, format_apart
from dpviz.runs.advice.advice import Advice, Change, Outlook
from dpviz.words import round_percent

# So much more loss is not worth a word, and so much more time is.
_SLIGHTLY, _MUCH_CHEAPER = 1.02, 3.0

WHERE_FROM = (
    "Read from a stored study of made-up tables; no row of yours is read. They are groups of rows, most of them of "
    "like size, k of them or a third more, that reach the bounds or fill a part of them. Rows that fill less of their "
    "bounds, or whose groups overlap or are of unlike size, may lose more. So may a table in one scale for all columns "
    "where one of them has most of the spread, as amounts may: there is none in the study."
)


def describe_certainty(advice: Advice) -> str:
    """On how many made-up tables that held, and how far they lie apart."""
    outlook = advice.leading
    if outlook is None:
        return "No algorithm can serve this request, or none was tried on so few rows."
    tables = f"{advice.n_tables} made-up tables of about this size"
    low, high = format_apart(outlook.low, outlook.high)
    spread = f"half of them lie between {low} and {high} ×"
    if advice.best is None:
        return (
            f"The nearest is {_format_title(outlook)} at ε = {outlook.epsilon:g}: it got there on "
            f"{round_percent(outlook.share)} of "
            f"{tables}; {spread}."
        )
    beyond = " Your sizes lie beyond those that were studied: the nearest of them answered." if advice.beyond else ""
    return f"At ε = {outlook.epsilon:g} it held on {round_percent(outlook.share)} of {tables}; {spread}.{beyond}"


def list_alternatives(advice: Advice) -> list[str]:
    """What else would do at this ε: what is as good and cheaper, and what is better."""
    best, sentences = advice.best, []
    for other in advice.others if best is not None else ():
        assert best is not None
        if other.share < advice.target.share - 1e-9:
            continue
        if other.behind * _SLIGHTLY <= best.behind:
            why = "loses less ({} × against {} ×)".format(*format_apart(other.median, best.median))
        elif other.behind <= _SLIGHTLY * best.behind:
            why = f"does as well ({format_apart(other.median)[0]} ×)"
        elif other.seconds * _MUCH_CHEAPER <= best.seconds:
            why = f"loses more ({format_apart(other.median)[0]} ×), in a fraction of the computing time"
        else:
            continue
        sentences.append(f"{_format_title(other)} {why}; it held on {round_percent(other.share)}.")
    return sentences


def describe_change(change: Change, advice: Advice) -> str:
    """What another request would lead to.

    Parameters
    ----------
    change : Change
        Another request.
    advice : Advice
        What the stored study answers.

    Returns
    -------
    str
        The end of a sentence.
    """
    outlook = change.outlook
    if outlook is None:
        return f"With {change.words} it would still be out of reach."
    if change.asks_epsilon:
        (median,) = format_apart(outlook.median)
        return f"With {change.words}, expect {median} × the loss of k-means++ ({_format_title(outlook)})."
    if advice.best is None or outlook.epsilon < advice.best.epsilon:
        return f"With {change.words}, ε = {outlook.epsilon:g} would do ({_format_title(outlook)})."
    still = "still " * (outlook.epsilon == advice.best.epsilon)
    return f"With {change.words}, ε = {outlook.epsilon:g} would {still}be needed ({_format_title(outlook)})."


def _format_title(outlook: Outlook) -> str:
    return find_card(outlook.algorithm).title
