"""The pictures of what ε means, of where others stand, and of the glossary's words say what their numbers are."""

import numpy as np

from dpviz.app.charts import meaning
from dpviz.app.charts.meaning import Attacker, TwinClouds, draw_attack_region, load_deployments
from dpviz.app.charts.view import make_view
from dpviz.app.charts.word_pictures import HEIGHT, PICTURES
from dpviz.runs import Contender, Request, trace_bound
from dpviz.runs.meaning.membership import Attack, Share, attack
from dpviz.words import choose_palette
from dpviz.words.glossary import read_glossary
from tests.app.charts.pictures.special import domain
from tests.cases import for_each

LOOKS = [choose_palette("light"), choose_palette("dark")]


def test_a_deployment_says_its_delta_as_a_power_of_ten() -> None:
    figure = meaning.draw_deployments(load_deployments(), 1.0).paint(LOOKS[0]).figure()
    told = [note[3] for trace in figure.data if trace.customdata is not None for note in trace.customdata]
    assert "ε = 4, δ = 10⁻⁷" in told and not any("e-" in words for words in told)


def attacker(hits: int, false_alarms: int, *, of: int = 64) -> Attacker:
    """Who had so many hits and false alarms, of as many runs each."""
    steps = np.array([[0.0, 0.0], [false_alarms / of, hits / of], [1.0, 1.0]])
    return Attacker("who reads all answers", "released", Attack(steps, Share(false_alarms, of), Share(hits, of)))


@for_each(
    ("hits", "false_alarms", "said"),
    [
        (40, 12, "the best attack gains 44 points, and none can gain more than 46.3 points"),
        (44, 12, "none can gain more than 46.3 points: the best attack gained 50 points, by luck"),
        (64, 2, "an attack gained 97 points where none should gain more than 46.3 points: do not rely on"),
        (10, 12, "the best attack gains 0 points, and none can gain more than 46.3 points"),
    ],
)
def test_the_title_of_an_attack_says_whether_it_passed_the_line_and_whether_that_was_luck(hits, false_alarms, said):
    attackers, request = [attacker(hits, false_alarms)], Request(Contender("auto"), 2, 1.0)
    assert said in draw_attack_region(attackers, 1.0, 0.0).finding
    clouds = TwinClouds(np.zeros((1, 2)), np.zeros((3, 2, 2)), np.zeros((3, 2, 2)))
    beside = meaning.draw_twin_clouds(clouds, make_view(domain(2)), np.zeros((3, 2)), attackers, request)
    assert said in beside.note, "the tab beside it says the same of the same runs"


def test_a_record_of_the_strongest_attack_is_within_its_band_and_not_always_below_the_line():
    """Randomised response: the answer itself is the best test of ε, so its record crosses the line every other time."""
    rng, yes, epsilon = np.random.default_rng(5), np.e / (1 + np.e), 1.0
    above, outside = 0, 0
    for _ in range(400):
        there, away = ((rng.random(256) < chance) + 1e-6 * rng.random(256) for chance in (yes, 1 - yes))
        record = attack(there.tolist(), away.tolist())
        across, counted = record.staircase.T
        line, band = (np.interp(across, *trace_bound(epsilon=epsilon, reach=reach).T) for reach in (0.0, record.reach))
        above += bool((counted > line + 1e-9).any())
        outside += bool((counted > band + 1e-9).any())
    assert above > 200 and outside <= 20
    drawn = draw_attack_region([Attacker("who reads all answers", "released", record)], epsilon, 0.0)
    traces = {trace["name"]: trace for trace in drawn.paint(LOOKS[0]).traces if "name" in trace}
    assert not [name for name in traces if "no attack passes" in name]
    shade = traces["by luck, in 19 of 20 records"]
    assert np.max(shade["y"]) == 1 and len(shade["x"]) == 2 * len(trace_bound(epsilon=epsilon))


def test_every_picture_of_the_glossary_is_here_small_and_shows_nothing_revealed():
    assert {term.picture for term in read_glossary().values() if term.picture} == PICTURES.keys()
    for place, (name, picture) in enumerate(PICTURES.items()):
        colors = LOOKS[place % 2]
        figure = picture.draw(colors).figure()
        assert figure.layout.height == HEIGHT and figure.data and len(picture.alt.split()) >= 5, name
        assert colors.revealed not in figure.to_json(), name
        assert {trace.meta for trace in figure.data} <= {"public", "released"}, name
