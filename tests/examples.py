"""On how many examples a property is tried: on all of them where slow tests run, too, and otherwise on a quarter."""

from hypothesis import HealthCheck, settings

_QUICK, _WHOLE = "quick", "whole"
_COMMON = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
_USUAL, _PART = 100, 4

settings.register_profile(_WHOLE, _COMMON, max_examples=_USUAL)
settings.register_profile(_QUICK, _COMMON, max_examples=_USUAL // _PART)


def load(*, quick: bool) -> None:
    """Choose for this process, before any test is imported."""
    settings.load_profile(_QUICK if quick else _WHOLE)


def examples(most: int) -> int:
    """How many of so many examples to try in this process, for ``settings(max_examples=examples(...))``."""
    return -(-most * settings().max_examples // _USUAL)
