"""The manifest of a study: what was asked of a folder of results, so that it can be gone on with or made again."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from dpviz.core import MOST_SEED
from dpviz.words import Document, key

_Number = int | float


class StudyManifest(Document):
    """What was asked of a study: by ``dpviz sweep``, or by a page, which writes its link down."""

    called: ClassVar = "manifest of a study"
    shown: ClassVar = '{"dpviz": "0.1.0", "seed": 0}'
    dpviz: str = key("", "text", "the version of dpviz")
    study: str = key("", "text", "the query of the page's link")
    libraries: dict[str, str] = key({}, "an object of texts", "versions that the numbers depend on", each="text")
    python: str = key("", "text", "the version of Python")
    what: str = key("", "text", "that the results are measured on the rows")
    data: str = key("", "text", "the name of the file or sample")
    columns: list[str] = key([], "a list of names", "the clustered columns")
    lower: list[_Number] = key([], "a list of numbers", "declared bounds")
    upper: list[_Number] = key([], "a list of numbers", "declared bounds")
    radius: _Number | None = key(None, "a number", "largest distance from the middle of the bounds")
    scaling: str = key("", "text", "unit or common")
    relation: str = key("", "text", "how neighbouring tables differ")
    unit: str = key("", "text", "the unit of privacy")
    n_public: int | None = key(None, "a whole number", "the number of rows, where it is public")
    delta: _Number | list[_Number] = key(0.0, "a number or a list of them", "δ")
    seed: Annotated[int, Field(ge=0, le=MOST_SEED)] = key(0, "a whole number", "of the whole study")
    algorithms: list[dict[str, Any]] = key([], "a list of objects", "each with its id and its parameters")
    epsilons: list[_Number] = key([], "a list of numbers", "the budgets ε")
    ks: list[int] = key([], "a list of whole numbers", "the numbers of clusters")
    ns: list[int | None] | None = key(None, "a list of whole numbers", "rows of subsamples")
    repeats: int = key(0, "a whole number", "draws of each point")
