"""Charts over many runs, of made-up results: few and many contenders, nothing yet, ties, what is infinite."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpviz.algorithms.synopsis_reading import SuggestedK
from dpviz.app.charts import meaning
from dpviz.app.charts.canvas import Diagram, TitledPlot
from dpviz.app.charts.meaning import load_deployments
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.pictures.segment_profiles import ProfilePicture
from dpviz.app.charts.result_charts import draw_account, draw_segments, draw_shares, draw_spent
from dpviz.app.charts.studies import compare, errors
from dpviz.app.charts.studies.claim_figure import draw_verdicts
from dpviz.app.charts.studies.curves import Curves, draw_curves, draw_k_curve, draw_smallest
from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimResult, ClaimVerdict, MarginInterval
from dpviz.app.charts.view import make_view
from dpviz.app.charts.word_pictures import PICTURES
from dpviz.runs import Contender, Recommendation, Request, SmallestEpsilon, Target, Yardstick, tidy
from dpviz.runs.error_parts import Payer, WhoPays, compute_error_parts
from dpviz.runs.evaluation import Reference
from dpviz.runs.meaning.asking_again import AskingAgain, RepeatedCost
from dpviz.runs.meaning.membership import attack
from dpviz.words import choose_palette
from tests.app.charts.gallery import exhibit
from tests.app.charts.pictures.special import domain
from tests.app.charts.pictures.test_segment_profiles import made_profile
from tests.releases.segment_tables import KINDS, described, described_mixed, middles, mixed_frame, report_of, rows_of

LIGHT = choose_palette("light")
NAMES = [f"Algorithm {letter} (variant)" for letter in "ABCDEFGHIJKLMNOPQR"]


class Drawn(NamedTuple):
    """What is stored of a chart."""

    plot: TitledPlot
    words: str
    table: pd.DataFrame | None = None


Cases = Iterator[tuple[str, Diagram | Drawn]]


def study(names: Sequence[str], epsilons: Sequence[float], repeats: int = 7) -> pd.DataFrame:
    """Runs whose losses fall with ε, the first contender's lowest."""
    rng = np.random.default_rng(0)
    rows = [
        {"contender": name, "algorithm": name, "preset": "", "k": 3, "epsilon": e, "repeat": r}
        | {"trial": f"{name}{e}{r}", "ratio": 1 + (0.02 + 0.3 * i) / e * rng.lognormal(0, 0.3)}
        | {"ari": 1 / (i + 2), "seconds": 0.1 * (i + 1)}
        for (i, name), e, r in product(enumerate(names), epsilons, range(repeats))
    ]
    return tidy(rows)


def list_curves() -> Cases:
    def curves(runs: pd.DataFrame, **more: Any) -> Diagram:
        return draw_curves(Curves(runs, **more))

    usual, two = study(NAMES[:3], [0.1, 1.0, 10.0]), study(NAMES[:2], [0.1, 1.0])
    baselines = {"one centre": 9.0, "k-means++": 1.0}
    for number in (1, 18):
        yield f"{number} contenders", curves(study(NAMES[:number], [0.1, 1.0, 10.0]), baselines=baselines)
    crossing = study(NAMES[:3], [0.1, 1.0])
    crossing.loc[(crossing.contender == NAMES[2]) & (crossing.epsilon == 1.0), "ratio"] = 0.9
    yield "another is best at another ε", curves(crossing)
    yield "cheap privacy", curves(study(NAMES[:2], [0.1, 0.3, 1.0, 3.0]))
    yield "no run yet", curves(usual[:0], places=[0.1, 1.0, 10.0])
    endless = study(NAMES[:2], [0.1, 1.0])
    endless.loc[:9, "ratio"] = np.inf
    both = pd.concat([endless, pd.DataFrame([{"contender": "k-means++", "epsilon": nan, "ratio": 1.0}])])
    yield "infinite losses", curves(both, baselines={"k-means++": 1.0, "one centre": inf})
    yield "infinite scores", compare.draw_scores(both)
    line = [(0.1, 4.0), (1.0, 1.2)]
    predictions = {NAMES[0]: line, NAMES[1]: [(0.1, 5.0), (1.0, 1.5)], NAMES[2]: list(line)}
    yield "predictions", curves(two, predictions=predictions)
    yield "a floor", curves(two, floor=[(0.1, 1.08), (1.0, 1.001)])
    lines = {"line 9": 9.0, "line 8.8": 8.8, "line 1": 1.0}
    yield "baselines close together", curves(study(NAMES[:1], [0.1, 1.0]), baselines=lines)
    tied = study(["Auto", "EUGkM", "DPLloyd"], [0.1, 1.0])
    tied.loc[tied.epsilon == 1.0, "ratio"] = 1.5
    yield "names that make way", curves(tied)
    long = [f"A rather long name {place} (variant)" for place in range(24)]
    yield "labels that would not fit", curves(study(long, [0.1, 1.0], repeats=1))
    yield "an axis that ends", curves(study(NAMES[:4], [0.1, 1.0, 10.0]), most=2.0)
    for over, own in (("k", 5), ("n", 3000)):
        runs = sized(("A", "B"), repeats=2).query("epsilon == 1.0")
        yield f"over {over}", curves(runs, over=over, epsilon=1.0, own=own)
        yield f"over {over}, no run yet", curves(runs[:0], over=over, epsilon=1.0, places=[2.0, 4.0])
    for measure in ("ratio", "ari", "seconds"):
        yield f"scores by {measure}", compare.draw_scores(study(NAMES[:5], [1.0]), measure)
    yield "no score yet", compare.draw_scores(two[:0])


EPSILONS, NS = (0.1, 0.3, 1.0, 3.0, 10.0), (300, 1000, 3000, 10_000)


def sized(names: Sequence[str] = ("A",), *, repeats: int = 5) -> pd.DataFrame:
    """Losses that depend on n · ε alone: 1 + 100 / (n ε)."""
    rng = np.random.default_rng(0)
    rows = [
        {"contender": name, "algorithm": name, "k": 5, "n": float(n), "epsilon": e}
        | {"ratio": 1 + (1 + place) * 100 / (n * e) * rng.lognormal(0, 0.02), "ari": 0.5}
        for (place, name), n, e, _ in product(enumerate(names), NS, EPSILONS, range(repeats))
    ]
    return pd.DataFrame(rows)


def list_maps() -> Cases:
    runs = sized()
    for name, some, own in (
        ("whole", runs, 2800),
        ("empty", runs[:0], 2500),
        ("no ε is enough", runs.query("epsilon <= 0.3"), 300),
        ("no run of this n", runs.query("n < 1000"), 2800),
    ):
        yield name, errors.draw_epsilon_n_map(some, "A (tuned)", EPSILONS, NS, own=own)
    losses = {0.1: 4.0, 0.3: 1.05, 1.0: 1.005}
    close = pd.DataFrame([{"n": 500, "epsilon": epsilon, "ratio": loss} for epsilon, loss in losses.items()])
    yield "lines that begin close together", errors.draw_epsilon_n_map(close, "A", tuple(losses), (500, 1000))


LOSSES, BENDS = np.array([900.0, 400.0, 100.0, 90.0, 82.0, 75.0]), np.array([0, 0.6, 4.1, 1.0, 0.9, 0.8])
READ = SuggestedK(
    **{"ks": np.arange(1, 7), "losses": LOSSES, "lows": 0.9 * LOSSES, "highs": 1.1 * LOSSES, "bends": BENDS},
    **{"kept": np.array([1.0, 0.97, 0.95, 0.72, 0.91, 0.64]), "suggested": 3, "agreeing": 11, "redraws": 12},
)


def list_answers() -> Cases:
    curves, usual = Curves(study(NAMES[:2], [0.1, 1.0, 10.0])), Target()
    reached = SmallestEpsilon(NAMES[0], 0.4, 0.3, inf, 0.1, 10.0, 21, 1.05)
    never = SmallestEpsilon(NAMES[1], inf, inf, inf, 0.1, 10.0, 21, nan)
    for name, answers, target in (
        ("one of two reaches it", [reached, never], usual),
        ("none reaches it", [never], usual),
        ("nobody was asked", [], usual),
    ):
        yield name, draw_smallest(curves, answers, Recommendation.of(target, None, answers))
    long = np.geomspace(900, 75, 60)
    many = {"ks": np.arange(1, 61), "losses": long, "lows": long, "highs": long, "bends": np.ones(60), "suggested": 60}
    many["kept"] = np.linspace(1, 0.3, 60)
    for name, change in {
        **{"k = 3": {}, "k = 3, unsurely": {"agreeing": 4}, "no k": {"suggested": None}},
        **{"no lower ends": {"lows": 0 * READ.losses}, "k = 60, unsurely": {**many, "agreeing": 0}},
    }.items():
        yield name, draw_k_curve(replace(READ, **change))


def list_losses() -> Cases:
    def lost(rows: list[dict[str, float]], kmeans: float = 2.0, clipping: float = 0.1) -> Any:
        yardstick = Yardstick(3, Reference(np.zeros((3, 2)), kmeans, 1), 9.0, 9.0, clipping, clipping / 2)
        return compute_error_parts(yardstick, rows)

    rows = [
        {"private": 3.0 + shift, "quiet": 2.5, "solved": 2.9 + shift, "quiet_solved": 2.4} for shift in (-0.1, 0.0, 0.2)
    ]
    inside = [{"private": 2.5, "quiet": 2.0, "solved": 2.5, "quiet_solved": 2.0}]
    for name, parts in {
        "losses": lost(rows),
        "losses where k-means++ loses nothing": lost(rows, kmeans=0.0),
        "losses that clip no row": lost(inside, clipping=0.0),
        "nothing lost": lost([{"private": 2.0, "quiet": 2.0, "solved": nan, "quiet_solved": nan}], clipping=0.0),
    }.items():
        yield name, errors.draw_waterfall(parts, "EUGkM (su, theta = 3.0)", 0.3)
    first, north = Payer("cluster", "3", 60, 4.2, 0.7, 0.4), Payer("group", "<b>north</b>", 400, 1.6, 0.3, nan)
    more = (Payer("cluster", "2", 1000, 1.1, 0.0, 0.05), Payer("cluster", "1", 3000, 1.02, 0.0, 0.01))
    paid = WhoPays((first, north, *more), 220.0, 20)
    yield "who pays", errors.draw_payers(paid, "Auto", 0.3)
    alone = WhoPays((Payer("cluster", "1", 5, 1.0, 1.0, nan),), nan, 1)
    yield "who pays, one cluster and unknown noise", errors.draw_payers(alone, "EUGkM", 1.0)


YES = ClaimFinding("a", True, "", 3.0, interval=MarginInterval(2.0, 4.0, 5))
NO = ClaimFinding("b", False, "", 0.0)
OPEN = ClaimFinding("c", True, "", 1.1, interval=MarginInterval(0.5, inf, 5))


def verdict_of(claim_id: str, paper: str, *findings: ClaimFinding) -> ClaimResult:
    return ClaimResult(claim_id, paper, "", "", (), "", (), (), (), ClaimVerdict(findings))


VERDICTS = [verdict_of("su-epsilon", "Su et al. 2016, Fig. 1", YES, OPEN), verdict_of("naive", "Cohen", NO)]
REGION = {"N": np.array([0.8, 0.1]), "S": np.array([0.2, 0.9])}
SEX = {"F": np.array([0.5, 0.45]), "M": np.array([0.5, 0.55])}


def list_results() -> Cases:
    yield "verdicts", draw_verdicts(VERDICTS, "t", dark=False)
    for name, spent in {"all": {"number of rows": 0.02, "tree": 0.4, "swap": 0.58}, "half": {"tree": 0.5}}.items():
        yield f"spent, {name}", draw_spent(spent, 1.0)
    for before, this in ((0.5, 1.0), (0.0, 0.5), (1.5, 1.0)):
        yield f"an account of 2, {before} before and {this} now", draw_account(2.0, before, this)
    many = {f"zip {i}": np.full(2, 0.05) for i in range(20)}
    noise = {"region": np.full(2, 0.01), "sex": np.full(2, 0.02)}
    alone = {"sex": {value: share[:1] for value, share in SEX.items()}}
    for name, shares, sd in (
        ("two columns", {"sex": SEX, "region": REGION}, {}),
        ("much noise", {"sex": SEX}, noise),
        ("one cluster", alone, {}),
        ("rare values", {"region": REGION, "zip": many}, noise),
        ("many columns", {f"question {j}": REGION for j in range(9)}, {}),
    ):
        yield f"shares, {name}", draw_shares(shares, sd)
    table = described(rows_of(3000), units={"height": "m"})
    for epsilon in (20.0, 0.002):
        report = report_of(table, epsilon=epsilon).to_dict()
        yield f"segments at ε = {epsilon}", draw_segments(report, ("Westerners", "", ""))
    scales = {"pay": {"bounds": [1, 1_000_000], "scale": "log"}, "age": {"bounds": [-100, 100], "scale": "root"}}
    drowned = {"region": {"categories": [*"NS", *map(str, range(400))]}}
    for name, bounds, epsilon, telling in (
        ("scales", scales, 200.0, ["pay", "age", "hour"]),
        ("a column that drowns", drowned, 4.0, []),
    ):
        mixed = described_mixed(mixed_frame(900), bounds={**KINDS, **bounds})
        report = report_of(mixed, middles(mixed.description), epsilon=epsilon).to_dict()
        for segment in report["segments"]:
            segment["telling"] = telling
        yield f"segments, {name}", draw_segments(report)
    hidden = report_of(table, epsilon=20.0).to_dict()
    for said in hidden["segments"][0]["columns"]:
        if said.get("median"):
            edges = said["histogram"]["edges"]
            said["median"] = {"value": 0.0, "low": edges[0], "high": edges[-1], "range_only": True}
    yield "segments, a median anywhere", draw_segments(hidden)


def list_meanings() -> Cases:
    for prior, epsilon in ((0.5, 1.0), (0.01, 0.1), (0.99, 35.0)):
        yield f"belief {prior} at ε = {epsilon}", meaning.draw_icon_array(prior, epsilon)
    rng = np.random.default_rng(1)
    weak = attack(rng.normal(0.2, 1, 100).tolist(), rng.normal(0, 1, 100).tolist())
    sure = attack(rng.normal(9, 0.1, 100).tolist(), rng.normal(0, 0.1, 100).tolist())
    attackers = [meaning.Attacker("weak", "released", weak), meaning.Attacker("plain", "revealed", sure)]
    yield "attackers", meaning.draw_attack_region(attackers, 1.0, 1e-6)
    told = Request(Contender("auto"), 3, 1.0, 1e-6)
    draws, person = rng.normal(0, 0.1, (200, 3, 2)), np.array([[0.5, 0.5]])
    for shift in (0.0, 0.5):
        clouds = meaning.TwinClouds(person, draws + np.array([shift, 0]), draws[::-1])
        for both in (False, True):
            drawn = meaning.draw_twin_clouds(clouds, make_view(domain(2)), np.zeros((3, 2)), attackers, told, both=both)
            yield f"clouds {shift} apart, {'both' if both else 'one'}", drawn
    prices = [RepeatedCost(times, 0.5 * times, 0.4 * times, 1e-6) for times in (1, 4, 16, 64)]
    noise, chances = {1: 1.0, 4: 0.5, 16: 0.25}, {1: 0.1, 4: 0.3, 16: 0.8, 64: 1.0}
    for name, told in {"asking again": chances, "asking again, no chances": {}}.items():
        asked = AskingAgain(noise, prices, told, 0.5)
        for place, curve in enumerate(meaning.draw_costs(asked), start=1):
            yield f"{name}: {place}", replace(curve, words=f"{meaning.describe_costs(asked)}. {curve.words}")
    yield "deployments", meaning.draw_deployments(load_deployments(), 1.0)


def list_panels() -> Cases:
    """Side by side, small, or a page wide: plots whose titles stand elsewhere."""
    shown, rng = exhibit(2, 5, n=200), np.random.default_rng(0)
    for number in (1, 5):
        moved = {name: np.clip(shown.reference.centers + rng.normal(0, 0.05, (5, 2)), -1, 1) for name in NAMES[:number]}
        losses = dict(zip(NAMES[:number], (3.0, 1.04, 2.0, 5.0, inf), strict=False))
        releases = {name: compare.Typical(centers, losses[name]) for name, centers in moved.items()}
        context = RenderContext(make_view(shown.table.domain), LIGHT, shown.reveal, shown.reference)
        made = compare.draw_compare(releases, context)
        for panel in made.panels:
            yield f"{panel.name} of {number}", Drawn(TitledPlot(made.title, panel.score, panel.plot), made.about)
    for name, picture in PICTURES.items():
        yield f"word {name}", Drawn(TitledPlot("", "", picture.draw(LIGHT)), picture.alt)
    small, wide, many = made_profile(7, 6), made_profile(15, 24), made_profile(40, 4)
    bare = replace(made_profile(3, 3), center_sd=np.full((3, 3), nan), sizes=None, reference=None)
    for name, profile in {
        "failed": ProfilePicture(small, failed=True),
        "in the order of the file": ProfilePicture(small, columns="file", rows="number"),
        "first page": ProfilePicture(wide),
        "second page": ProfilePicture(wide, start=12),
        "lanes around centres": ProfilePicture(wide, lane="centres"),
        "marked": ProfilePicture(small, mark="not <b>what</b> it says"),
        "many segments": ProfilePicture(many),
        "one segment": ProfilePicture(made_profile(1, 1, with_reference=False)),
        "unknown noise": ProfilePicture(bare),
        "unknown noise, narrow": ProfilePicture(bare, narrow=True),
    }.items():
        drawn = TitledPlot("", profile.note, profile.draw(LIGHT))
        yield f"profiles, {name}", Drawn(drawn, profile.words(), profile.table())


SPECIAL: Sequence[Callable[[], Cases]] = (
    *(list_curves, list_maps, list_answers, list_losses, list_results, list_meanings, list_panels),
)
