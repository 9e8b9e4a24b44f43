"""Charts over many runs: scores, trade-off, side by side, the budget."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.result_charts import MeterReading, draw_spent, list_shares
from dpviz.app.charts.studies.compare import Typical, draw_compare, draw_scores
from dpviz.app.charts.studies.curves import Curves, _spread_apart, choose_styles, draw_curves
from dpviz.app.charts.view import make_view
from dpviz.runs.one_run import run
from dpviz.runs.study.study import summarise, tidy
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import exhibit, subtitle_of, title_of
from tests.app.charts.laws import has_finite_coordinates, is_sound, keeps_its_ranges, shows_kinds

LIGHT = choose_palette("light")
NAMES = [f"Algorithm {letter} (variant)" for letter in "ABCDEFGHIJKLMNOPQR"]


def figure_of(curves: Curves) -> go.Figure:
    return draw_curves(curves).draw(LIGHT).headed(LIGHT)


def study(names: list[str], epsilons: list[float], repeats: int = 7) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        {
            "contender": name,
            "algorithm": name,
            "preset": "",
            "k": 3,
            "epsilon": e,
            "repeat": r,
            "trial": f"{name}{e}{r}",
        }
        | {"ratio": 1 + (0.02 + 0.3 * i) / e * rng.lognormal(0, 0.3), "ari": 1 / (i + 2), "seconds": 0.1 * (i + 1)}
        for i, name in enumerate(names)
        for e in epsilons
        for r in range(repeats)
    ]
    return tidy(rows)


@pytest.mark.parametrize("number", [1, 18])
def test_trade_off_draws_medians_and_middle_halves(number: int) -> None:
    table = study(NAMES[:number], [0.1, 1.0, 10.0])
    figure = figure_of(Curves(table, baselines={"one centre": 9.0, "k-means++": 1.0}))
    is_sound(figure)
    expected = summarise(table).set_index(["contender", "epsilon"])
    for line in (trace for trace in figure.data if trace.meta == "median"):
        for epsilon, median, (low, high, runs) in zip(line.x, line.y, line.customdata, strict=True):
            row = expected.loc[(line.name, epsilon)]
            assert (median, low, high, runs) == pytest.approx((row["median"], row["q25"], row["q75"], 7))
    labels = [note.text for note in figure.layout.annotations]
    shown = [text.replace("<br>\u2003", " ") for text in labels]
    assert sum(name in text for name in NAMES[:number] for text in shown) == number
    assert any("one centre: 9.00×" in text for text in labels)
    assert "7 runs each" in subtitle_of(figure)
    assert any(trace.meta == "hull" for trace in figure.data) == (number > 1)
    assert draw_curves(Curves(table)).words.count("goes from") == number


def test_the_hull_is_the_best_median_at_each_epsilon() -> None:
    table = study(NAMES[:3], [0.1, 1.0])
    table.loc[(table.contender == NAMES[2]) & (table.epsilon == 1.0), "ratio"] = 0.9
    figure = figure_of(Curves(table))
    (hull,) = [trace for trace in figure.data if trace.meta == "hull"]
    behind = draw_curves(Curves(table)).table()
    assert len(behind) == 6
    on_it = behind[behind["best at this ε"]]
    assert list(on_it.sort_values("ε")["algorithm"]) == [NAMES[0], NAMES[2]]
    np.testing.assert_allclose(hull.y, on_it.sort_values("ε")["median"])
    more = figure_of(Curves(table, "ari"))
    (hull,) = [trace for trace in more.data if trace.meta == "hull"]
    np.testing.assert_allclose(hull.y, [1 / 2, 1 / 2])


def test_the_trade_off_title_says_from_which_epsilon_on_privacy_is_cheap() -> None:
    table = study(NAMES[:2], [0.1, 0.3, 1.0, 3.0])
    assert (
        title_of(figure_of(Curves(table)))
        == f"From ε = 0.3 on, {NAMES[0]} stays within 10 % of k-means++ in 8 of 10 runs"
    )
    assert f"At ε = 1, {NAMES[1]} comes first" in title_of(figure_of(Curves(table[table.contender == NAMES[1]])))


def test_the_trade_off_axis_does_not_move_while_it_fills() -> None:
    table, every = study(NAMES[:3], [0.1, 1.0, 10.0]), [0.1, 1.0, 10.0]
    live = figure_of(Curves(table[table.epsilon == 0.1], places=every))
    assert live.layout.xaxis.range == figure_of(Curves(table, places=every)).layout.xaxis.range
    empty = figure_of(Curves(table[:0], places=every))
    assert title_of(empty) == "No run yet" and empty.layout.xaxis.range == live.layout.xaxis.range


def test_runs_that_are_infinitely_worse_and_the_reference_itself_do_no_harm() -> None:
    table = study(NAMES[:2], [0.1, 1.0])
    table.loc[:9, "ratio"] = np.inf
    reference = pd.DataFrame([{"contender": "k-means++", "epsilon": np.nan, "ratio": 1.0}])
    both = pd.concat([table, reference])
    is_sound(figure_of(Curves(both, baselines={"k-means++": 1.0, "one centre": np.inf})))
    is_sound(draw_scores(both).draw(LIGHT).headed(LIGHT))


def test_predictions_are_dashed_named_once_each_and_leave_the_plot_its_size() -> None:
    table, curve = study(NAMES[:2], [0.1, 1.0]), [(0.1, 4.0), (1.0, 1.2)]
    prediction = {NAMES[0]: curve, NAMES[1]: [(0.1, 5.0), (1.0, 1.5)], NAMES[2]: list(curve)}
    figure = figure_of(Curves(table, predictions=prediction))
    predicted = [trace for trace in figure.data if trace.meta == "prediction"]
    assert {trace.line.dash for trace in predicted} == {"dash"} and list(predicted[0].y) == [4.0, 1.2]
    named = [trace.name for trace in figure.data if trace.showlegend]
    assert named == [f"predicted: {NAMES[0]}, {NAMES[2]}", f"predicted: {NAMES[1]}"]
    plain = figure_of(Curves(table))
    heights = [f.layout.height - f.layout.margin.t - f.layout.margin.b for f in (figure, plain)]
    assert heights[0] == heights[1] and plain.layout.showlegend is False


def test_the_floor_lies_under_all_lines_and_says_what_it_is() -> None:
    table, floor = study(NAMES[:2], [0.1, 1.0]), [(0.1, 1.08), (1.0, 1.001)]
    figure = figure_of(Curves(table, floor=floor))
    drawn = [trace.meta for trace in figure.data]
    (line,) = [trace for trace in figure.data if trace.meta == "floor"]
    assert list(zip(line.x, line.y, strict=True)) == floor and "none beats by much" in line.name
    assert drawn.index("floor") < drawn.index("median") and line.showlegend
    assert "floor" not in [trace.meta for trace in figure_of(Curves(table)).data]


def test_a_baseline_is_labelled_where_the_next_one_leaves_session() -> None:
    table = study(NAMES[:1], [0.1, 1.0])
    for losses, below in (((9.0, 8.8, 1.0), {"8.8", "1"}), ((9.0, 4.0, 1.0), {"1"})):
        figure = figure_of(Curves(table, baselines={f"line {loss:g}": loss for loss in losses}))
        notes = [note for note in figure.layout.annotations if note.text.startswith("line")]
        assert {note.text.split(":")[0].removeprefix("line ") for note in notes if note.yanchor == "top"} == below


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 2)), min_size=1, max_size=18))
def test_labels_keep_their_distance_and_their_order(ends: list[tuple[float, int]]) -> None:
    heights, sizes = np.array([height for height, _ in ends]), np.array([0.025 * rows for _, rows in ends])
    placed = np.array(_spread_apart(heights.tolist(), sizes.tolist()))
    order = np.argsort(heights, kind="stable")
    apart = (sizes[order][1:] + sizes[order][:-1]) / 2
    assert (np.diff(placed[order]) >= apart - 1e-9).all()
    assert (placed - sizes / 2).min() >= -1e-9 and (placed + sizes / 2).max() <= 1 + 1e-9
    lone = len(ends) == 1 or (np.diff(heights[order]) >= apart).all()
    if lone and heights.min() >= 0.025 and heights.max() <= 0.975:
        np.testing.assert_allclose(placed, heights, atol=1e-9)


def test_a_name_that_makes_way_is_tied_to_the_end_of_its_line() -> None:
    table = study(["Auto", "EUGkM", "DPLloyd"], [0.1, 1.0])
    table.loc[table.epsilon == 1.0, "ratio"] = 1.5
    figure = figure_of(Curves(table))
    names = [note for note in figure.layout.annotations if note.hovertext]
    tied = [note for note in names if note.showarrow]
    colors = {style.color for style in choose_styles(["Auto", "EUGkM", "DPLloyd"]).values()}
    assert len(names) == 3 and len(tied) == 2 and {note.arrowcolor for note in tied} < colors
    assert np.ptp([note.y for note in names]) < 1e-9, "threads begin where the lines end"
    assert sorted(note.ay for note in tied) == pytest.approx([-14, 14], abs=1)
    far = study(["Auto", "EUGkM"], [1.0])
    far.loc[far.contender == "EUGkM", "ratio"] = 9.0
    assert not [note for note in figure_of(Curves(far)).layout.annotations if note.showarrow]


def test_a_chart_grows_for_labels_that_would_not_fit() -> None:
    table = study([f"A rather long name {place} (variant)" for place in range(24)], [0.1, 1.0], repeats=1)
    assert figure_of(Curves(table)).layout.height > figure_of(Curves(table[:4])).layout.height


def test_all_algorithms_with_all_their_presets_look_different() -> None:
    styles = choose_styles([str(place) for place in range(36)])
    assert len({(style.color, style.dash) for style in styles.values()}) == 36
    assert len({(style.color, style.marker) for style in styles.values()}) == 36


def test_scores_put_the_best_on_top_whether_more_or_less_is_better() -> None:
    table = study(NAMES[:5], [1.0])
    for measure in ("ratio", "ari", "seconds"):
        figure = draw_scores(table, measure).draw(LIGHT).headed(LIGHT)
        is_sound(figure)
        assert NAMES[0] in figure.layout.yaxis.ticktext[0].replace("<br>", " ")
        assert f"At ε = 1, {NAMES[0]} comes first" in title_of(figure)
        dots = [trace for trace in figure.data if trace.meta == "run"]
        assert [len(trace.x) for trace in dots] == [7] * 5
        assert NAMES[4] in draw_scores(table, measure).words
    assert title_of(draw_scores(study(NAMES[:1], [1.0])[:0]).draw(LIGHT).headed(LIGHT)) == "No run yet"


@pytest.mark.parametrize("number", [1, 5])
def test_panels_share_their_axes(number: int) -> None:
    shown = exhibit(2, 5, n=200)
    view, rng = make_view(shown.table.domain), np.random.default_rng(0)
    moved = {name: np.clip(shown.reference.centers + rng.normal(0, 0.05, (5, 2)), -1, 1) for name in NAMES[:number]}
    releases = {name: Typical(centers, 1.0) for name, centers in moved.items()}
    made = draw_compare(releases, RenderContext(view, LIGHT, shown.reveal, shown.reference))
    assert [panel.name for panel in made.panels] == list(releases)
    assert all(name in made.about for name in view.name)
    figures = [panel.plot.figure() for panel in made.panels]
    for panel, figure in zip(made.panels, figures, strict=True):
        has_finite_coordinates(figure)
        keeps_its_ranges(figure, view)
        shows_kinds(figure, LIGHT, {"released", "revealed"})
        np.testing.assert_allclose(
            view.plane(releases[panel.name].centers)[:, 0],
            next(t.x for t in figure.data if t.name == "centres"),
            rtol=1e-5,
        )
    assert len({(figure.layout.height, str(figure.layout.margin)) for figure in figures}) == 1


def test_panels_stand_in_the_order_of_their_losses() -> None:
    shown = exhibit(2, 5, n=100)
    losses = zip(NAMES[:3], (3.0, 1.04, 2.0), strict=True)
    releases = {name: Typical(shown.reference.centers, loss) for name, loss in losses}
    made = draw_compare(releases, RenderContext(make_view(shown.table.domain), LIGHT))
    assert [panel.score for panel in made.panels] == ["1.04×", "2.00×", "3.00×"]
    assert made.title == f"{NAMES[1]} comes closest to k-means++"


def test_shares_of_the_budget_add_up_to_what_was_spent() -> None:
    finished = run("dplloyd", exhibit(2, 3, n=200).table, k=3, epsilon=1.0, seed=1)
    shares = list_shares(finished.entries, spent_fraction=finished.spent_fraction)
    assert sum(shares.values()) == pytest.approx(finished.spent_fraction)
    assert list(shares) == ["round"]
    half = list_shares(finished.entries, spent_fraction=finished.spent_fraction, upto=2)
    assert 0 < sum(half.values()) < 1
    figure = draw_spent(shares, 1.0, half).draw(LIGHT).headed(LIGHT)
    is_sound(figure)
    assert "of ε = 1 is spent" in title_of(figure)
    assert "Nothing" in title_of(draw_spent(shares, 1.0, {"round": 0.0}).draw(LIGHT).headed(LIGHT))
    assert "round 100 %" in draw_spent(shares, 1.0).words


def test_shares_follow_the_meter_where_amounts_do_not_add_up() -> None:
    finished = run("auto", exhibit(2, 3, n=2000).table, k=3, epsilon=2.0, delta=1e-6, seed=0)
    meter = [MeterReading(frame.entries, frame.spent_fraction) for frame in finished.frames]
    shares = list_shares(finished.entries, spent_fraction=finished.spent_fraction, meter=meter)
    after_grid = next(frame for frame in finished.frames if frame.entries == 2)
    assert shares["zoom: coarse cells"] + shares["grid cells"] == pytest.approx(after_grid.spent_fraction)
    assert sum(shares.values()) == pytest.approx(finished.spent_fraction)


def test_an_algorithm_looks_the_same_whichever_of_them_comes_first() -> None:
    table = study(NAMES[:3], [0.1, 1.0])
    named = table.assign(contender=pd.Categorical(table["contender"], NAMES[:3]))
    for runs in (named, named[::-1], named[named.contender == NAMES[2]]):
        assert Curves(runs).styles == choose_styles(NAMES[:3])
        assert list(Curves(runs).lines) == [name for name in NAMES[:3] if (runs.contender == name).any()]
        is_sound(draw_scores(runs).draw(LIGHT).headed(LIGHT))


def test_an_axis_that_ends_says_that_something_lies_beyond() -> None:
    table = study(NAMES[:4], [0.1, 1.0, 10.0])
    whole, cut = (
        figure_of(Curves(table)),
        figure_of(Curves(table, most=2.0)),
    )
    assert "outside" not in subtitle_of(whole)
    assert "what lies above 2× is outside" in subtitle_of(cut)
    assert cut.layout.yaxis.range[1] < 2.2 and whole.layout.yaxis.range[1] != cut.layout.yaxis.range[1]
