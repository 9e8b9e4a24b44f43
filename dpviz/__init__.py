"""dpviz: differentially private clustering that shows what privacy costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpviz.core import Report, check

if TYPE_CHECKING:
    from dpviz.algorithms import CARDS
    from dpviz.api import PrivateKMeans, declare, open_table, release, select_k, sweep
    from dpviz.app import show
    from dpviz.core import ChoiceWarning, Domain, PrivacyWarning, PrivateTable, Relation, RequestError, Scaling
    from dpviz.releases import Account, ReadRelease, read_release, verify
    from dpviz.runs import Run, advise, run
    from dpviz.tables import LoadedTable, load_csv, sample

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
    "advise": "dpviz.runs",
    "CARDS": "dpviz.algorithms",
    "Account": "dpviz.releases",
    "ChoiceWarning": "dpviz.core",
    "Domain": "dpviz.core",
    "LoadedTable": "dpviz.tables",
    "PrivacyWarning": "dpviz.core",
    "PrivateKMeans": "dpviz.api",
    "PrivateTable": "dpviz.core",
    "ReadRelease": "dpviz.releases",
    "Relation": "dpviz.core",
    "RequestError": "dpviz.core",
    "Run": "dpviz.runs",
    "Scaling": "dpviz.core",
    "declare": "dpviz.api",
    "open_table": "dpviz.api",
    "release": "dpviz.api",
    "select_k": "dpviz.api",
    "sweep": "dpviz.api",
    "verify": "dpviz.releases",
    "load_csv": "dpviz.tables",
    "read_release": "dpviz.releases",
    "run": "dpviz.runs",
    "sample": "dpviz.tables",
    "show": "dpviz.app",
}

# In a notebook a value is shown by a template, which a floor above fills.
Report.render_by(
    lambda *name, **values: str(check.import_extra("dpviz.words.templates.rendering").render(*name, **values))
)
# In a notebook a run begins with its picture, which a floor above draws; imported when the first one is displayed.
Report.illustrate("Run", lambda run: str(check.import_extra("dpviz.app.charts.player.shown").show(run)._repr_html_()))


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(check.import_extra(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
