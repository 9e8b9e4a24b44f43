"""The house keeps its rules in every file, and each rule sees what it is for: that is planted, and must be found."""

from itertools import pairwise

import pytest

from tests import house_rules as rules
from tests.house_rules import PACKAGE, PAGES, ROOMS, Rule, Source, broken, of

EVERYWHERE = PACKAGE + PAGES
GLUE = [source for source in PACKAGE if source.inside.startswith("app/ui/release/")]
DRAWER = [source for source in PACKAGE if source.inside == "app/ui/bench/drawer.py"]
PLANTED_HERE = "tests/test_house_rules.py"
RULES: list[tuple[Rule, list[Source]]] = [
    (rules.reaches_for_rows, EVERYWHERE),
    (rules.weighs_answers, EVERYWHERE),
    (rules.goes_round_the_front_door, of("algorithms")),
    (rules.imports_what_stands_on_it, PACKAGE),
    (rules.passes_a_door, PAGES),
    (rules.takes_a_whole_door, EVERYWHERE),
    (rules.draws_or_talks_in_the_core, PACKAGE),
    (rules.accesses_while_releasing, [*of("releases"), *DRAWER, *GLUE]),
    (rules.scatters_slowly_or_draws_globally, EVERYWHERE),
    (rules.draws_noise_itself, of("core")),
    (rules.takes_a_shortcut_of_the_page_library, EVERYWHERE),
    (rules.is_large_or_nameless, EVERYWHERE),
    (rules.waits_by_the_clock, [source for source in rules.TESTS if source.name != PLANTED_HERE]),
    (rules.is_not_spoken_for, PACKAGE),
    (rules.tells_more_than_it_does, PACKAGE),
    (rules.releases_without_a_guarantee, of("algorithms", "core")),
    (rules.calls_something_private, of(*rules.CORE)),
    (rules.prices_by_a_name, of("core")),
    (rules.writes_what_is_written_once, PACKAGE),
    (rules.reads_past_the_doors, EVERYWHERE + rules.EXPERIMENTS),
]


@pytest.mark.parametrize(("rule", "sources"), RULES, ids=[rule.__name__ for rule, _ in RULES])
def test_nobody_breaks_a_rule_of_the_house(rule: Rule, sources: list[Source]):
    rules.check(rule, sources)


def test_each_rule_has_files_that_it_is_for():
    assert all(sources for _, sources in RULES) and GLUE and DRAWER
    assert {source.room for source in PACKAGE} == {*ROOMS, "__init__", "__main__"}, "a room has no place in ROOMS"
    assert any(source.name == rules.WAITING for source in rules.TESTS)
    idle = rules.list_idle_readers(EVERYWHERE + rules.EXPERIMENTS)
    assert not idle, f"named in dpviz/words/doors.toml, and no file or none that reads: {', '.join(sorted(idle))}"


def test_no_modules_import_each_other_in_a_circle():
    cycle = rules.cycle_of(PACKAGE)
    assert not cycle, " imports ".join(cycle)


def test_no_two_rooms_have_a_file_of_one_name():
    shared = rules.shared_names(PACKAGE)
    offences = [
        f"{', '.join(files)}: find names that tell them apart"
        for name, files in shared.items()
        if name not in rules.SHARED_NAMES
    ]
    offences += [f"SHARED_NAMES: no rooms share {name} any more" for name in rules.SHARED_NAMES.keys() - shared.keys()]
    assert not offences, "\n" + "\n".join(offences)


def test_no_class_name_stands_twice():
    twice = rules.classes_of_one_name(PACKAGE)
    offences = [f"{name}: {', '.join(places)}: say what each is where it stands" for name, places in twice.items()]
    assert not offences, "\n" + "\n".join(offences)


# What each rule is for: a rule, the file it is planted in, and the text that breaks it in its last line.
PLANTED: list[tuple[Rule, str, str]] = [
    (rules.reaches_for_rows, "pages/data.py", "rows = table._rows"),
    (rules.reaches_for_rows, "dpviz/app/ui/a.py", "x = run.compute_non_private"),
    (rules.reaches_for_rows, "dpviz/runs/a.py", "class Mine(PrivateSession): ..."),
    (rules.weighs_answers, "dpviz/runs/a.py", "from dpviz.core.transcripts import compute_log_ratio"),
    (rules.weighs_answers, "dpviz/releases/a.py", "from dpviz.core.replay import Recording"),
    (rules.goes_round_the_front_door, "dpviz/algorithms/a.py", "x = session._n"),
    (rules.goes_round_the_front_door, "dpviz/algorithms/a.py", "x = session.reveal(note='')"),
    (rules.goes_round_the_front_door, "dpviz/algorithms/a.py", "x = getattr(session, '_n')"),
    (rules.goes_round_the_front_door, "dpviz/algorithms/a.py", "from dpviz.core.rows import Rows"),
    (rules.goes_round_the_front_door, "dpviz/algorithms/a.py", "x = session.release.__self__"),
    (rules.goes_round_the_front_door, "dpviz/algorithms/a.py", "def plan(session):\n    import gc"),
    (rules.imports_what_stands_on_it, "dpviz/app/ui/a.py", "from experiments.claim import Claim"),
    (rules.imports_what_stands_on_it, "dpviz/app/ui/a.py", "import benchmarks.soak"),
    (rules.passes_a_door, "pages/a.py", "from dpviz.core.rows import Rows"),
    (rules.passes_a_door, "pages/a.py", "import dpviz.runs.open_table as o"),
    (rules.draws_or_talks_in_the_core, "dpviz/app/charts/a.py", "import streamlit as st"),
    (rules.draws_or_talks_in_the_core, "dpviz/runs/a.py", "from plotly import graph_objects"),
    (rules.draws_or_talks_in_the_core, "dpviz/app/ui/a.py", "from urllib.request import urlopen"),
    (rules.draws_or_talks_in_the_core, "dpviz/app/ui/a.py", "import socket"),
    (rules.draws_or_talks_in_the_core, "dpviz/app/ui/a.py", "from sklearn.datasets import fetch_openml"),
    (rules.accesses_while_releasing, "dpviz/releases/a.py", "from dpviz.runs.evaluation import evaluate"),
    (rules.accesses_while_releasing, "dpviz/app/ui/release/a.py", "from dpviz.app.ui import data_access"),
    (rules.accesses_while_releasing, "pages/release.py", "rows = table.private.reveal(note='')"),
    (rules.scatters_slowly_or_draws_globally, "dpviz/app/charts/a.py", "np.add.at(x, i, 1)"),
    (rules.scatters_slowly_or_draws_globally, "app.py", "np.random.normal()"),
    (rules.scatters_slowly_or_draws_globally, "dpviz/app/charts/a.py", "from random import choice"),
    (rules.draws_noise_itself, "dpviz/core/mechanisms.py", "x = noise_rng.normal()"),
    (rules.takes_a_shortcut_of_the_page_library, "pages/a.py", "st.markdown(x, unsafe_allow_html=True)"),
    (rules.takes_a_shortcut_of_the_page_library, "dpviz/app/ui/a.py", "st.components.html(x)"),
    (rules.takes_a_shortcut_of_the_page_library, "dpviz/app/ui/a.py", "st.fragment(f, run_every=1)"),
    (rules.is_large_or_nameless, "dpviz/app/ui/a.py", "\n" * rules.MOST_LINES + "x = 1"),
    (rules.is_large_or_nameless, "dpviz/app/ui/utils.py", "x = 1"),
    (rules.waits_by_the_clock, "tests/app/ui/test_a.py", "visit.page.wait_for_timeout(150)"),
    (rules.waits_by_the_clock, "tests/app/ui/test_a.py", "from time import sleep\nsleep(1)"),
    (rules.waits_by_the_clock, "tests/app/ui/test_a.py", "threading.Timer(1, f).start()"),
    (rules.waits_by_the_clock, "tests/app/ui/test_a.py", "assert time.perf_counter() - began < 1"),
    (rules.waits_by_the_clock, "tests/app/ui/test_a.py", "began = time.time()"),
    (rules.waits_by_the_clock, "tests/app/ui/test_a.py", "program = 'import time; time.sleep(60)'"),
    (rules.is_not_spoken_for, "dpviz/app/ui/a.py", "x = 1"),
    (rules.is_not_spoken_for, "dpviz/app/ui/a.py", '"""A."""\ndef f(): ...'),
    (rules.is_not_spoken_for, "dpviz/app/ui/a.py", '"""A."""\nclass A:\n    """A."""\n    def f(self): ...'),
    (rules.tells_more_than_it_does, "dpviz/app/ui/a.py", 'def f(): "A,\\n\\nB."; return 1'),
    (rules.tells_more_than_it_does, "dpviz/runs/a.py", 'class A:\n    def f(self): "A,\\nb."; return 1'),
    (rules.tells_more_than_it_does, "dpviz/runs/a.py", 'def _f(): "A.\\n\\n>>> _f()\\n1\\n"; return 1'),
    (rules.releases_without_a_guarantee, "dpviz/algorithms/a.py", "def plan(session): session.release(1)"),
    (rules.calls_something_private, "dpviz/runs/a.py", "private_n = 1"),
    (rules.calls_something_private, "dpviz/runs/a.py", "def f(private_n): ..."),
    (rules.prices_by_a_name, "dpviz/core/ledger.py", "x = entry.mechanism == 'laplace'"),
    (rules.prices_by_a_name, "dpviz/core/ledger.py", "x = name.startswith('laplace')"),
    *(
        (rules.reads_past_the_doors, "dpviz/app/ui/a.py", text)
        for text in (
            *("pd.read_csv(x)", "json.loads(x)", "yaml.safe_load(x)", "open(x)", "np.load(x)", "pickle.loads(x)"),
            *("gzip.open(x)", "zipfile.ZipFile(x)", "sqlite3.connect(x)", "path.read_bytes()", "path.open('rb')"),
            *("from pickle import loads", "from zipfile import ZipFile as Z", "foreign.open_file(path)"),
        )
    ),
    (rules.writes_what_is_written_once, "dpviz/app/ui/a.py", "def _format_percent(part): ..."),
    (rules.writes_what_is_written_once, "dpviz/app/ui/a.py", "x = f'{share:.0%} of it'"),
    (rules.writes_what_is_written_once, "dpviz/api/cli/a.py", "out.write_text(card)"),
    (rules.writes_what_is_written_once, "dpviz/api/cli/a.py", "with out.open('xb') as file: ..."),
    (rules.goes_round_the_front_door, "dpviz/algorithms/a.py", "from dpviz.core import Rows as R"),
    (rules.goes_round_the_front_door, "dpviz/algorithms/a.py", "from dpviz.core import PrivateTable"),
    (rules.reaches_for_rows, "dpviz/runs/a.py", "class Mine(core.PrivateSession): ..."),
    (rules.weighs_answers, "dpviz/runs/a.py", "def f():\n    from dpviz.core import compute_log_ratio"),
    (rules.accesses_while_releasing, "dpviz/releases/a.py", "from dpviz.runs import evaluation"),
    (rules.takes_a_whole_door, "dpviz/runs/a.py", "from dpviz import core"),
    (rules.takes_a_whole_door, "dpviz/runs/a.py", "import dpviz.core as p"),
    (rules.takes_a_whole_door, "pages/data.py", "from dpviz.core import *"),
]


def test_every_rule_sees_what_it_is_for():
    for rule, name, text in PLANTED:
        lines = {message.split(":")[1] for message in broken(rule, [Source(name, text)])}
        assert lines == {str(len(text.splitlines()))}, f"{rule.__name__} lets pass: {text[-80:]}"


def test_who_may_pass_a_door_is_let_through_and_a_cycle_is_seen():
    for name, taken in (("dpviz/runs/a.py", "Ledger"), ("dpviz/runs/meaning/membership.py", "compute_log_ratio")):
        assert not broken(rules.weighs_answers, [Source(name, f"from dpviz.core import {taken}")])
    one = Source("dpviz/core/rows.py", "from dpviz.core import Ledger")
    assert rules.cycle_of([one, Source("dpviz/core/ledger.py", "from dpviz.core import Rows")])


def test_a_circle_and_a_shared_name_are_seen():
    one = Source("dpviz/tables/a.py", "from dpviz.core import b\nfrom dpviz import check")
    two = Source("dpviz/core/b.py", "try:\n    from dpviz.app.ui.c import x\nexcept ImportError: ...")
    three = Source("dpviz/app/ui/c.py", "import dpviz.tables.a")
    lazy = Source(
        "dpviz/app/ui/c.py", "if TYPE_CHECKING:\n    import dpviz.tables.a\ndef f():\n    import dpviz.tables.a"
    )
    package = Source("dpviz/__init__.py", "import dpviz.tables.a")
    assert rules.cycle_of([one, two, lazy, package]) == []
    first, *_, last = cycle = rules.cycle_of([one, two, three, package])
    assert first == last
    around = {
        ("dpviz.tables.a", "dpviz.core.b"),
        ("dpviz.core.b", "dpviz.app.ui.c"),
        ("dpviz.app.ui.c", "dpviz.tables.a"),
    }
    assert set(pairwise(cycle)) == around
    twice = Source("dpviz/app/ui/b.py", "")
    assert rules.shared_names([one, two, twice, package]) == {"b.py": ["dpviz/core/b.py", "dpviz/app/ui/b.py"]}


def test_a_class_name_that_stands_twice_is_seen():
    one = Source("dpviz/tables/a.py", "class Rows: ...\nclass Row: ...")
    two = Source(
        "dpviz/app/ui/b.py", "from dpviz.tables.a import Rows\ndef f():\n    class Rows: ...\n    class Cell: ..."
    )
    assert rules.classes_of_one_name([one, two]) == {"Rows": ["dpviz/tables/a.py:1", "dpviz/app/ui/b.py:3"]}
