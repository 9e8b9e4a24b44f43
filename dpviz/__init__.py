"""dpviz: differentially private clustering that shows what privacy costs."""

from typing import Any

import lazy_loader

from dpviz.core import Report, check

__version__ = "0.1.0"
# What ``__init__.pyi`` lists is imported when it is first asked for: the command line and the workers should not wait
# for pandas or scikit-learn. Classes and functions of it are of the module ``dpviz``, said where they are defined
# (``__module__``): what pickles of them name stays where it is when files move.
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# In a notebook a value is shown by a template, which a room above fills.
Report.render_by(lambda *name, **values: str(check.import_extra("dpviz.words.wording").render(*name, **values)))
# In a notebook a run begins with its picture, which a room above draws; imported when the first one is displayed.
Report.illustrate("Run", lambda run: str(__getattr__("show")(run)._repr_html_()))


def __getattr__(name: str) -> Any:
    return check.import_extra(name, _load)
