"""dpviz: differentially private clustering that shows what privacy costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpviz.check import import_extra
from dpviz.reporting import illustrate, render_by

if TYPE_CHECKING:
    from dpviz.algorithms.registry import CARDS
    from dpviz.charts.player.shown import show
    from dpviz.check import ChoiceWarning, PrivacyWarning, RequestError
    from dpviz.commands import declare, open_table, release, select_k, sweep
    from dpviz.estimators import PrivateKMeans
    from dpviz.privacy.private_session import PrivateTable
    from dpviz.privacy.queries import Relation
    from dpviz.releases.account import Account
    from dpviz.releases.release_reader import ReadRelease, read_release
    from dpviz.releases.verifying import verify
    from dpviz.runs.advice.known_rows import advise
    from dpviz.runs.one_run import Run, run
    from dpviz.table.csv_intake import load_csv
    from dpviz.table.domain import Domain, Scaling
    from dpviz.table.loaded_table import LoadedTable
    from dpviz.table.samples import sample

__version__ = "0.1.0"
# Classes and functions of these are of the module ``dpviz``, said where they are defined (``__module__``): what pickles
# of them name stays where it is when files move.
__all__ = [
    "CARDS",
    "Account",
    "ChoiceWarning",
    "Domain",
    "LoadedTable",
    "PrivacyWarning",
    "PrivateKMeans",
    "PrivateTable",
    "ReadRelease",
    "Relation",
    "RequestError",
    "Run",
    "Scaling",
    "advise",
    "declare",
    "load_csv",
    "open_table",
    "read_release",
    "release",
    "run",
    "sample",
    "select_k",
    "show",
    "sweep",
    "verify",
]

# Imported when first asked for: the command line and the workers should not wait for pandas or scikit-learn.
_HOMES = {
    "advise": "dpviz.runs.advice.known_rows",
    "CARDS": "dpviz.algorithms.registry",
    "Account": "dpviz.releases.account",
    "ChoiceWarning": "dpviz.check",
    "Domain": "dpviz.table.domain",
    "LoadedTable": "dpviz.table.loaded_table",
    "PrivacyWarning": "dpviz.check",
    "PrivateKMeans": "dpviz.estimators",
    "PrivateTable": "dpviz.privacy.private_session",
    "ReadRelease": "dpviz.releases.release_reader",
    "Relation": "dpviz.privacy.queries",
    "RequestError": "dpviz.check",
    "Run": "dpviz.runs.one_run",
    "Scaling": "dpviz.table.domain",
    "declare": "dpviz.commands",
    "open_table": "dpviz.commands",
    "release": "dpviz.commands",
    "select_k": "dpviz.commands",
    "sweep": "dpviz.commands",
    "verify": "dpviz.releases.verifying",
    "load_csv": "dpviz.table.csv_intake",
    "read_release": "dpviz.releases.release_reader",
    "run": "dpviz.runs.one_run",
    "sample": "dpviz.table.samples",
    "show": "dpviz.charts.player.shown",
}

# In a notebook a value is shown by a template, which a floor above fills.
render_by(lambda *name, **values: str(import_extra("dpviz.templates.rendering").render(*name, **values)))
# In a notebook a run begins with its picture, which a floor above draws; imported when the first one is displayed.
illustrate("Run", lambda run: str(import_extra("dpviz.charts.player.shown").show(run)._repr_html_()))


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_extra(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
