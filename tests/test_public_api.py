"""The names that scripts and notebooks import, and what importing them costs."""

import json
import os
import pickle
import pickletools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dpviz
from dpviz.api.estimators import PrivateKMeans
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Relation
from dpviz.tables.csv_intake import load_csv
from tests import light_install

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("pandas", "sklearn", "streamlit", "plotly", "dp_accounting", "joblib", "pydantic", "jinja2")


def test_every_public_name_is_there():
    for name in dpviz.__all__:
        assert getattr(dpviz, name) is not None
    assert set(dpviz.__all__) <= set(dir(dpviz))
    assert (dpviz.PrivateKMeans, dpviz.load_csv) == (PrivateKMeans, load_csv)
    assert (dpviz.PrivateTable, dpviz.Relation) == (PrivateTable, Relation)


def test_what_is_exported_is_of_the_package_wherever_it_is_defined():
    exported = [getattr(dpviz, name) for name in dpviz.__all__ if name != "CARDS"]
    assert {one.__module__ for one in exported} == {"dpviz"}
    assert all(pickle.loads(pickle.dumps(one)) is one for one in exported)


def test_a_pickle_of_an_estimator_names_no_module_of_what_is_exported():
    X = np.random.default_rng(0).uniform(0, 1, (60, 2))
    fitted = PrivateKMeans(2, epsilon=1.0, bounds=(0.0, 1.0), random_state=0).fit(X)
    # Module and name of whatever it asks for when it is read.
    told = pickletools.genops(pickle.dumps(fitted, protocol=2))
    asked = {tuple(said.split(" ")) for code, said, _ in told if code.name == "GLOBAL"}
    assert {("dpviz", "PrivateKMeans"), ("dpviz", "Run"), ("dpviz", "Domain")} <= asked
    assert [(home, name) for home, name in asked if name in dpviz.__all__ and home != "dpviz"] == []
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).cluster_centers_, fitted.cluster_centers_)


@pytest.mark.slow
def test_start_up_does_not_wait_for_heavy_libraries():
    steps = (
        "import dpviz",
        "from dpviz import CARDS, Domain, run",
        "from dpviz.__main__ import main; main(['algorithms', '--json'])",
    )
    ask = "import sys\n" + "".join(
        f"{step}\nsys.stderr.write(','.join(m for m in {HEAVY} if m in sys.modules) + ';')\n" for step in steps
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stderr == ";;;"


@pytest.mark.slow
def test_a_first_fit_reads_no_document_and_draws_nothing():
    fit = (
        "import sys, numpy, dpviz\n"
        "points = numpy.random.default_rng(0).uniform(-1, 1, (500, 2))\n"
        "dpviz.PrivateKMeans(3, epsilon=1.0, delta=1e-6, bounds=(-1, 1), random_state=0).fit(points)\n"
        "print(*(m for m in ('streamlit', 'plotly', 'pydantic', 'jinja2') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", fit], capture_output=True, text=True, check=True)
    assert not done.stdout.split()


@pytest.mark.slow
def test_without_any_extra_studies_are_the_same_and_what_is_missing_is_a_command():
    """Nothing of an extra can be imported there, as after ``pip install dpviz`` alone."""
    asked = [sys.executable, "-P", "tests/light_install.py", "--refuse-extras"]
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(asked, cwd=ROOT, env=path, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    refused = told.pop("refused")
    assert told == light_install.tell_results()
    brings = {"open": "app", "run": "cluster", "release": "release"}
    for command, extra in brings.items():
        code, said = refused[command]
        assert code == 2 and said.count("\n") == 0 and f'pip install "dpviz[{extra}]" brings it.' in said, refused
    assert refused["charges"] == 0 and "dpviz[app]" in refused["show"]
