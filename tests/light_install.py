"""What an install without any extra does, as one JSON object: the same bytes with whatever versions are allowed.

    python -P tests/light_install.py [--refuse-extras]

It imports the package and nothing of the tests, so that it runs in an environment that has no pytest. With the option
no library of an extra can be imported, and the object has what is said where one would be needed.
"""

import hashlib
import importlib.abc
import io
import json
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd

EXTRAS = {"streamlit", "plotly", "opendp", "cryptography", "dask", "distributed", "duckdb", "pyspark"}
ROWS = np.random.default_rng(0).normal([[-0.6, 0], [0.6, 0], [0, 0.7]], 0.1, (120, 3, 2)).reshape(-1, 2).clip(-1, 1)
PEOPLE = pd.DataFrame(
    {
        "age": 20 + np.arange(200) % 60,
        "region": pd.Series([("North", "South", None)[place % 3] for place in range(200)]),
        "who": [f"person {place // 2}" for place in range(200)],
    }
)


class RefuseExtras(importlib.abc.MetaPathFinder):
    """As if no library of an extra were installed."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def tell_results() -> dict[str, object]:
    """What the estimator, advice, a sweep and the command line say, centres as digests of their bytes."""
    import dpviz

    warnings.simplefilter("ignore", dpviz.PrivacyWarning)
    told: dict[str, object] = {}
    for name in dpviz.CARDS:
        model = dpviz.PrivateKMeans(3, name, epsilon=2.0, bounds=(-1, 1), random_state=1, relation="replace")
        told[name] = _digest(model.fit(ROWS).cluster_centers_)
    known, who = PEOPLE[["age", "region"]], PEOPLE["who"]
    for name, ids in {"people": who, "some of nobody": who.where(PEOPLE["age"] % 5 > 0)}.items():
        people = dpviz.PrivateKMeans(
            *(2, "dplloyd"),
            bounds={"age": [0, 100], "region": {"categories": ["North", "South"]}},
            rows_per_person=2,
            random_state=1,
        ).fit(known, groups=ids)
        told[name] = [_digest(people.cluster_centers_), people.run_.unit, people.predict(known).tolist()[:5]]
    told["advise"] = dpviz.advise(n=12_000, d=6, k=5).sentence
    study = dpviz.sweep("fifteen", algorithms=["dplloyd"], epsilons=[1.0], ks=[3], repeats=2, jobs=1)
    told["sweep"] = study["ratio"].tolist()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "people.csv"
        PEOPLE.to_csv(data, index=False)
        told["declare"] = list(dpviz.declare(data).columns)
        asked = ("--columns", "age", "--bounds", "0,100", "--id-column", "who", "--k", "2", "--epsilon", "1")
        code, out, _ = _call("run", str(data), *asked, "--seed", "1", "--json")
        told["run"] = [code, json.loads(out)["released"]]
    return told


def tell_refusals() -> dict[str, object]:
    """What is said where a library of an extra would be needed."""
    import dpviz

    refused: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        account = dpviz.Account.new(place / "a.sqlite", name="a", cap_epsilon=1)
        (place / "d.json").write_text('{"bounds": {"x": [0, 1000]}, "bounds_origin": "by design"}', encoding="utf-8")
        release = ("--k", "2", "--epsilon", "1", "--account", str(place / "a.sqlite"), "--out", str(place / "r.zip"))
        for words in (
            ("open", "fifteen"),
            ("run", "fifteen", "--k", "2", "--epsilon", "1", "--cluster", "tcp://127.0.0.1:1"),
            ("release", str(place / "d.json"), "fifteen", *release, "--yes"),
        ):
            code, _, said = _call(*words)
            refused[words[0]] = [code, said.strip()]
        refused["charges"] = len(account.standing().entries)
    try:
        refused["show"] = str(dpviz.show)
    except dpviz.RequestError as error:
        refused["show"] = str(error)
    return {"refused": refused}


def _call(*words: str) -> tuple[int, str, str]:
    from dpviz.__main__ import main

    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(words)
    return code, out.getvalue(), err.getvalue()


def _digest(values: object) -> str:
    return hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()[:16]


if __name__ == "__main__":
    refuses = "--refuse-extras" in sys.argv
    if refuses:
        sys.meta_path.insert(0, RefuseExtras())
    print(json.dumps(tell_results() | (tell_refusals() if refuses else {}), indent=1, ensure_ascii=False))
