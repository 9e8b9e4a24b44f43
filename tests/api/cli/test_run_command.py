"""``dpviz run`` to the letter: what it prints, and which word goes before which."""

import json

import numpy as np
import pytest

from tests.command_line import call, write_points

BOX = {"bounds": {"x": [-1, 1], "y": [-1, 1]}}
ASK = ("--k", "3", "--epsilon", "1")


@pytest.fixture
def points(tmp_path):
    return write_points(tmp_path / "points.csv", declaration_file=BOX)


@pytest.fixture
def bare(tmp_path):
    return write_points(tmp_path / "bare.csv", label=True)


def test_run_json_has_the_fixed_form(capsys, points):
    said = call(capsys, "run", points, *ASK, "--json", "--n-public", 400)
    assert said.code == 0
    report = said.json
    fixed = {"algorithm", "k", "epsilon", "delta", "relation", "unit", "n_public", "columns", "parameters", "warnings"}
    second = {"format", "declaration", "n", "n_origin", "noise", "seeded", "note", "looks", "version", "date"}
    assert fixed | second | {"released", "ledger", "expected", "verdict"} == set(report)
    assert report["expected"].startswith("Enough for like sizes") and all(
        note in report["expected"] for note in report["warnings"]
    )
    assert report["format"] == 2
    assert "revealed" not in report
    assert (report["algorithm"], report["k"], report["epsilon"], report["n_public"]) == ("auto", 3, 1.0, 400)
    assert (report["relation"], report["unit"], report["columns"]) == ("add_remove", "1 row", ["x", "y"])
    assert np.shape(report["released"]["centers"]) == (3, 2)
    assert set(report["ledger"]) == {"epsilon", "delta", "accounting", "entries"}
    entry = report["ledger"]["entries"][0]
    assert {"mechanism", "query", "note", "epsilon", "delta", "sensitivity", "scale"} <= set(entry)


def test_evaluate_adds_what_was_revealed(capsys, tmp_path):
    path = write_points(tmp_path / "known.csv", declaration_file=BOX | {"label": "label"}, label=True)
    revealed = call(capsys, "run", path, *ASK, "--json", "--evaluate").json["revealed"]
    against_reference = {"ratio", "matched_error", "distance_ratio", "ari", "share_gap"}
    assert (
        set(revealed)
        == {"nicv", "nicv_kmeans", "label_accuracy", "label_ceiling", "unlabelled", "clipping"} | against_reference
    )
    assert revealed["unlabelled"] == 0
    assert revealed["ratio"] == pytest.approx(revealed["nicv"] / revealed["nicv_kmeans"])


def test_evaluate_without_labels_has_no_label_accuracy(capsys, points):
    assert "label_accuracy" not in call(capsys, "run", points, *ASK, "--json", "--evaluate").json["revealed"]


def test_the_reference_is_revealed_and_never_released(capsys, points):
    report = call(capsys, "run", points, *ASK, "--algorithm", "kmeans++", "--json").json
    assert report["released"] == {"centers": None, "weights": None}
    assert report["ledger"] == {"epsilon": None, "delta": 0.0, "accounting": "none", "entries": []}
    assert np.shape(report["revealed"]["centers"]) == (3, 2)
    assert any("never a release" in warning for warning in report["warnings"])


def test_a_seed_repeats_a_run_and_is_warned_about(capsys, points):
    first, second = (call(capsys, "run", points, *ASK, "--json", "--seed", 4).json for _ in range(2))
    fresh = call(capsys, "run", points, *ASK, "--json").json
    assert first["released"] == second["released"] != fresh["released"]
    assert any("seed" in warning for warning in first["warnings"])
    assert not any("seed" in warning for warning in fresh["warnings"])


def test_bounds_come_from_an_option_a_file_or_the_sidecar(capsys, tmp_path, points, bare):
    declared = tmp_path / "declared.json"
    declared.write_text(json.dumps(BOX))
    reports = [
        call(capsys, "run", path, *ASK, "--json", "--seed", 1, *option).json
        for path, option in [
            (points, []),
            (bare, ["--bounds", declared]),
            (bare, ["--bounds", "-1,1"]),
            (bare, ["--bounds=-1,1"]),
            (points, ["--bounds", "-1,1"]),
        ]
    ]
    assert all(report["released"] == reports[0]["released"] for report in reports)
    assert all(report["columns"] == ["x", "y"] for report in reports)


def test_columns_nobody_named_are_told(capsys, bare):
    said = call(capsys, "run", bare, *ASK, "--json", "--bounds", "-1,1")
    assert said.json["columns"] == ["x", "y"]
    assert 'all columns but "label" are read as numbers and used: "x", "y"' in said.err
    chosen = call(capsys, "run", bare, *ASK, "--json", "--bounds", "-1,1", "--columns", "y")
    assert chosen.json["columns"] == ["y"]
    assert chosen.err == ""


def test_an_option_goes_before_the_sidecar(capsys, tmp_path):
    declared = BOX | {"n_public": 400, "scaling": "common", "radius": 0.7}
    path = write_points(tmp_path / "points.csv", declaration_file=declared)
    report = call(capsys, "run", path, *ASK, "--json").json
    assert report["n_public"] == 400
    assert np.linalg.norm(report["released"]["centers"], axis=1).max() <= 0.7
    options = ("--n-public", 500, "--scaling", "unit", "--radius", 0.1, "--relation", "add_remove")
    report = call(capsys, "run", path, *ASK, "--json", *options).json
    assert report["n_public"] == 500
    assert np.linalg.norm(report["released"]["centers"], axis=1).max() <= 0.1


def test_a_radius_belongs_to_the_bounds_it_was_declared_with(capsys, tmp_path):
    path = write_points(tmp_path / "points.csv", declaration_file=BOX | {"radius": 0.01})
    report = call(capsys, "run", path, *ASK, "--json", "--bounds", "-1,1").json
    assert np.linalg.norm(report["released"]["centers"], axis=1).max() > 0.01


def test_replace_makes_the_number_of_rows_public(capsys, points):
    report = call(capsys, "run", points, *ASK, "--json", "--relation", "replace").json
    assert (report["relation"], report["n_public"]) == ("replace", 400)


def test_a_sidecar_may_say_that_rows_are_replaced(capsys, tmp_path):
    path = write_points(tmp_path / "points.csv", declaration_file=BOX | {"relation": "replace"})
    declared = tmp_path / "declared.json"
    declared.write_text(json.dumps(BOX))
    for options, relation in (((), "replace"), (("--relation", "add_remove"), "add_remove")):
        assert call(capsys, "run", path, *ASK, "--json", *options).json["relation"] == relation
    assert call(capsys, "run", path, *ASK, "--json", "--bounds", declared).json["relation"] == "replace"


def test_the_unit_of_privacy_is_declared(capsys, tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("person,x,y\n" + "".join(f"p{i % 50},{i % 9 / 9},{i % 7 / 7}\n" for i in range(300)))
    path.with_suffix(".json").write_text(json.dumps(BOX | {"id_column": "person", "rows_per_person": 3}))
    scale = {}
    for m, options in ((3, []), (2, ["--rows-per-person", 2])):
        report = call(capsys, "run", path, *ASK, "--json", *options).json
        assert report["unit"] == f"1 person, up to {m} rows"
        scale[m] = report["ledger"]["entries"][0]["scale"]
    assert scale[3] == pytest.approx(1.5 * scale[2])
    assert call(capsys, "run", path, *ASK, "--json", "--id-column", "").json["unit"] == "1 row"
    assert (
        call(capsys, "run", path, *ASK, "--json", "--id-column", "x", "--columns", "y").json["unit"].endswith("1 row")
    )


SU = (*ASK, "--algorithm", "dplloyd", "--json")


def test_set_reaches_the_algorithm(capsys, points):
    both = call(capsys, "run", points, *SU, "--set", "preset=su", "rounds=2").json
    twice = call(capsys, "run", points, *SU, "--set", "preset=su", "--set", "rounds=2").json
    assert (
        both["parameters"] == twice["parameters"]
        and {"preset": "su", "rounds": 2}.items() <= both["parameters"].items()
    )


def test_text_for_people_says_what_matters(capsys, points):
    text = call(
        capsys,
        "run",
        points,
        *ASK,
        "--algorithm",
        "dplloyd",
        "--evaluate",
        "--set",
        "preset=gaussian",
        "--delta",
        "1e-6",
    ).out
    for word in ("Released", "ε = 1", "δ = 1e-06", "gdp", "add_remove", "1 row", "Ledger", "gaussian", "round 1"):
        assert word in text
    assert "Revealed" in text
    assert "not hardened" in text
    reference = call(capsys, "run", points, *ASK, "--algorithm", "kmeans++").out
    assert "Privacy: none" in reference
    assert "Released" not in reference


def test_a_regime_that_is_out_of_reach_is_told(capsys, tmp_path):
    path = write_points(tmp_path / "few.csv", n=50, declaration_file=BOX | {"n_public": 50})
    said = call(capsys, "run", path, "--k", 10, "--epsilon", 0.1)
    assert "about" in said.out
    assert "records" in said.out
    assert said.code == 0


def test_a_declaration_file_goes_before_the_sidecar_but_keeps_the_unit_of_privacy(capsys, tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("person,x,y\n" + "".join(f"p{i % 50},{i % 9 / 9},{i % 7 / 7}\n" for i in range(300)))
    declaration_file = BOX | {"id_column": "person", "rows_per_person": 3, "n_public": 300, "radius": 0.001}
    path.with_suffix(".json").write_text(json.dumps(declaration_file))
    declared = tmp_path / "declared.json"
    declared.write_text(json.dumps({"lower": -1, "upper": 1, "n_public": 200}))
    report = call(capsys, "run", path, *ASK, "--json", "--bounds", declared).json
    assert (report["n_public"], report["columns"], report["unit"]) == (200, ["x", "y"], "1 person, up to 3 rows")
    assert np.linalg.norm(report["released"]["centers"], axis=1).max() > 0.001
