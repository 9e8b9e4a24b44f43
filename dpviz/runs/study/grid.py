"""A study as it is asked for: a grid of runs, its trials, and its text as a link and as a file."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, ClassVar
from urllib.parse import urlencode

import numpy as np
import yaml

from dpviz.algorithms import AUTO
from dpviz.core import Accounting, PrivateTable, RequestError, check
from dpviz.runs.request import Contender, Request, format_value, parse_number
from dpviz.runs.run_sentences import demand, make_refusal
from dpviz.words import foreign

STUDY = "trade-off study"
MOST_VALUES = 100
"""Entries of one list of a study."""

_ROUND_EPSILONS = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
_VERSION = 2
# A link or a file by whomever may be this long: more than any page writes, and no work to read.
_MOST_TEXT = foreign.STUDY_FILE.most_bytes


@dataclass(frozen=True)
class Trial:
    """One run of a study: its place in the grid, which alone decides its seed.

    ``n`` is the size of the subsample that it runs on; None means the whole table.
    """

    contender: Contender
    k: int
    epsilon: float
    delta: float
    repeat: int
    n: int | None = None

    @property
    def key(self) -> str:
        """The same text for the same trial in every process: what a resumed study looks up."""
        parameters = json.dumps(dict(self.contender.params), sort_keys=True, default=str)
        place = f"{self.k} {self.epsilon!r} {self.delta!r} {self.repeat}" + f" n={self.n}" * (self.n is not None)
        return f"{self.contender.algorithm} {parameters} {place}"

    def seed(self, study_seed: int) -> int:
        """A seed of this trial's own, whatever else the study contains."""
        mixed = np.random.SeedSequence((study_seed, zlib.crc32(self.key.encode()), self.repeat))
        return int(mixed.generate_state(1, np.uint64)[0])


@dataclass(frozen=True)
class StudyGrid:
    """Many runs: every contender at every k, n, δ and ε, several times.

    * ``deltas``: an algorithm of pure privacy runs at the first only.
    * ``ns``: rows of subsamples; None means the whole table.
    * ``seed``: another draw of the whole study.
    """

    FIELDS: ClassVar[tuple[str, ...]] = ("algorithms", "epsilons", "ks", "deltas", "ns", "repeats", "seed")
    """What a link names."""

    contenders: tuple[Contender, ...]
    ks: tuple[int, ...] = (5,)
    epsilons: tuple[float, ...] = (1.0,)
    deltas: tuple[float, ...] = (0.0,)
    ns: tuple[int | None, ...] = (None,)
    repeats: int = 1
    seed: int = 0

    def list_trials(self) -> list[Trial]:
        """The whole grid, every point once before any point a second time, so that a picture fills evenly."""
        lists = {"algorithms": self.contenders, "epsilons": self.epsilons, "deltas": self.deltas}
        for name, values in {**lists, "sizes": self.ns, "ks": self.ks}.items():
            check.at_least(1, **{f"number_of_{name}": len(values)})
        check.repeats(repeats=self.repeats)
        for k, epsilon, delta in product(self.ks, self.epsilons, self.deltas):
            Request(self.contenders[0], k, epsilon, delta, self.seed).check_numbers()
        for k, n in product(self.ks, self.ns):
            check.records(n=k if n is None else n)
            if n is not None and k > n:
                raise RequestError(f"k is {k} but n is {n:,}: ask for at most as many clusters as rows.")
        for contender, k in product(self.contenders, self.ks):
            demand(contender.settings.points_per_row(k) <= 1, "several_points", who=contender.label, k=k)
        for contender, epsilon, delta in product(self.contenders, self.epsilons, self.deltas):
            contender.check_budget(epsilon, delta)
        return [
            Trial(contender, k, epsilon, delta, repeat, n)
            for repeat, n, k, delta, (place, epsilon), contender in product(
                range(self.repeats), self.ns, self.ks, self.deltas, enumerate(self.epsilons), self.contenders
            )
            # Without privacy there is no ε, and under pure privacy no δ: once is enough.
            if (contender.card.private or place == 0) and self._is_first_of_its_kind(contender, delta)
        ]

    def make_request(self, trial: Trial) -> Request:
        """What one of its trials asks for."""
        return Request(trial.contender, trial.k, trial.epsilon, trial.delta, trial.seed(self.seed))

    def check(self, table: PrivateTable) -> None:
        """Refuse a grid that cannot be served whole."""
        self.list_trials()
        for sentence in self.list_refusals(table).values():
            raise RequestError(sentence)

    def list_refusals(self, table: PrivateTable) -> dict[str, str]:
        """Of each contender, by label, the first reason why it cannot serve all of it; empty if all of them can."""
        sentences: dict[str, str] = {}
        for contender, k, epsilon, delta, n in product(self.contenders, self.ks, self.epsilons, self.deltas, self.ns):
            try:
                if n is not None and table.n_public is not None and n > table.n_public:
                    raise RequestError(f"n is {n:,} of {table.n_public:,} records: ask for a smaller subsample.")
                Request(contender, k, epsilon, delta).check(table)
            except RequestError as error:
                sentences.setdefault(contender.label, str(error))
        return sentences

    def to_query(self) -> str:
        """The query of a link.

        >>> StudyGrid((Contender("auto"), Contender("dplloyd", {"preset": "su"})), epsilons=(0.1, 1.0)).to_query()
        'algorithms=auto,dplloyd:preset=su&epsilons=0.1,1&ks=5&deltas=0&repeats=1'
        """
        said = self._to_plain().items()
        texts = {key: ",".join(map(format_value, value if isinstance(value, list) else [value])) for key, value in said}
        return urlencode(texts, safe=",:=")

    @classmethod
    def from_query(cls, query: Mapping[str, str], *, usual: StudyGrid | None = None) -> StudyGrid:
        """Reads a link; what it does not say is as ``usual``, and what is not said of a grid is left alone."""
        said = {name: query[name] for name in StudyGrid.FIELDS if name in query}
        if sum(map(len, said.values())) > _MOST_TEXT:
            raise RequestError(f"This link is longer than {_MOST_TEXT:,} characters: ask for less.")
        lists = {name: [part for part in text.split(",") if part] for name, text in said.items()}
        return _make_grid(lists | {name: said[name] for name in ("repeats", "seed") if name in said}, usual or USUAL)

    def to_yaml(self) -> str:
        """YAML with one setting a line."""
        head = {"dpviz": STUDY, "version": _VERSION}
        return yaml.safe_dump({**head, **self._to_plain()}, sort_keys=False, allow_unicode=True)

    @classmethod
    def from_yaml(cls, text: str) -> StudyGrid:
        """Reads ``to_yaml``, perhaps changed by hand, and what the first version of it wrote."""
        from dpviz.runs.study.study_document import FirstStudyDocument, StudyDocument  # slow to import
        from dpviz.words import documents

        said = _parse(text)
        if said.get("dpviz") != STUDY or said.get("version") not in (1, _VERSION):
            raise make_refusal("no_settings", what=STUDY, version=_VERSION)
        if said["version"] == _VERSION:
            given = documents.read_document(StudyDocument, said, RequestError, at="settings").list_given()
        else:  # the first version has two ends of ε, one k and one δ
            first = documents.read_document(FirstStudyDocument, said, RequestError, at="settings")
            ends = {"epsilon_from": first.epsilon_from, "epsilon_to": first.epsilon_to}
            low, high = (check.epsilon(**{name: parse_number(name, value)}) for name, value in ends.items())
            check.within(low, check.MOST_EPSILON, epsilon_to=high)
            one = {"ks": [first.k], "deltas": [first.delta], "repeats": first.repeats}
            given = {"algorithms": first.algorithms, "epsilons": list(StudyGrid.list_epsilons(low, high)), **one}
        return _make_grid({name: given[name] for name in StudyGrid.FIELDS if name in given}, USUAL)

    def _to_plain(self) -> dict[str, Any]:
        """Plain values by name; n and the seed only where they are not the usual ones."""
        plain = {
            "algorithms": [contender.to_text() for contender in self.contenders],
            **{name: list(getattr(self, name)) for name in ("epsilons", "ks", "deltas")},
            "ns": ["all" if n is None else n for n in self.ns],
            "repeats": self.repeats,
            "seed": self.seed,
        }
        return {name: value for name, value in plain.items() if (name, value) not in (("ns", ["all"]), ("seed", 0))}

    def _is_first_of_its_kind(self, contender: Contender, delta: float) -> bool:
        """Whether ``contender`` uses this δ, or uses none of them and this is the first that it would not use."""
        card, params = contender.card, contender.settings
        unused = [d for d in self.deltas if card.accounting(params, d) in (Accounting.PURE, Accounting.NONE)]
        return delta not in unused or delta == unused[0]

    @staticmethod
    def list_epsilons(low: float, high: float) -> tuple[float, ...]:
        """Both ends and the round values of ε between them, about even on a logarithmic axis."""
        return tuple(sorted({low, *(epsilon for epsilon in _ROUND_EPSILONS if low < epsilon < high), high}))


USUAL = StudyGrid(
    (Contender(AUTO),), epsilons=StudyGrid.list_epsilons(0.1, 10.0), deltas=(check.choose_usual_delta(None),), repeats=5
)
"""What a study asks for where nothing else is said."""


def _make_grid(said: Mapping[str, Any], usual: StudyGrid) -> StudyGrid:
    """The grid of plain values by name, checked; what is not ``said`` is as ``usual``."""
    fields = {"contenders" if name == "algorithms" else name: _read_field(name, said[name]) for name in said}
    return replace(usual, **fields)


def _read_field(name: str, value: Any) -> Any:
    if name in ("repeats", "seed"):
        return _read_one(name, value)
    if len(value) > MOST_VALUES:
        raise RequestError(f"{name} has more than {MOST_VALUES} entries: give fewer.")
    return tuple(dict.fromkeys(_read_one(name, entry) for entry in value))


def _read_one(field: str, value: Any) -> Any:
    if field == "algorithms":
        return Contender.from_text(value) if isinstance(value, str) else Contender.parse(value.algorithm, value.params)
    if field == "ns" and value == "all":
        return None
    name, checked = _NUMBERS[field]
    return checked(**{name: parse_number(name, value)})


# How a number of a field is called in a sentence, and what checks it.
_NUMBERS: dict[str, tuple[str, Callable[..., float | int]]] = {
    "epsilons": ("epsilon", check.epsilon),
    "ks": ("k", check.clusters),
    "deltas": ("delta", partial(check.check_delta, None)),
    "ns": ("n", check.records),
    "repeats": ("repeats", check.repeats),
    "seed": ("seed", check.seed),
}


def _parse(text: str) -> dict[Any, Any]:
    try:
        said = foreign.read_yaml(text, most=_MOST_TEXT)
    except foreign.NoYaml:
        said = None
    if not isinstance(said, dict):
        raise make_refusal("no_yaml")
    return said
