"""Several cases in one test: what fails says of which it was."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any


@contextmanager
def about(*what: object) -> Iterator[None]:
    """Whatever is raised inside is noted to be about this."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"about {', '.join(map(str, what))}")
        raise


def for_each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """In place of ``pytest.mark.parametrize``, where a case costs less than a test of its own: all of them in one."""
    asked = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    listed = list(cases)

    def looped(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        assert set(asked) <= set(signature.parameters)

        @wraps(test)
        def whole(**fixtures: Any) -> None:
            for case in listed:
                values = [case] if len(asked) == 1 else case
                with about(*(getattr(value, "id", None) or getattr(value, "__name__", value) for value in values)):
                    test(**fixtures, **dict(zip(asked, values, strict=True)))

        rest = [parameter for name, parameter in signature.parameters.items() if name not in asked]
        whole.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return whole

    return looped
