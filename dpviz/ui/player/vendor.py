"""The drawing library as the player of a page loads it: from the installed package, never over a network."""

from importlib.resources import files

from starlette.routing import Mount
from starlette.staticfiles import StaticFiles


def vendor() -> Mount:
    """What the server answers under ``/vendor``."""
    return Mount("/vendor", StaticFiles(directory=str(files("plotly") / "package_data")))
