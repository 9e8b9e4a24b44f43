"""All families of cases, how often each comes, and case ``i`` of a seed: always the same one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.fuzzing.case import Case
from benchmarks.fuzzing.command_cases import command_case
from benchmarks.fuzzing.declared_cases import sidecar_case
from benchmarks.fuzzing.door_cases import claims_case, key_case, packed_case, stdout_case
from benchmarks.fuzzing.folder_cases import folder_case
from benchmarks.fuzzing.intake_cases import declared_case, proposal_case, read_case, run_case
from benchmarks.fuzzing.lesson_cases import lesson_case
from benchmarks.fuzzing.link_cases import link_case
from benchmarks.fuzzing.name_cases import name_case
from benchmarks.fuzzing.parquet_cases import database_case, parquet_case
from benchmarks.fuzzing.release_cases import account_case, release_case
from benchmarks.fuzzing.request_cases import corner_case, parameter_case
from benchmarks.fuzzing.settings_cases import settings_case
from benchmarks.fuzzing.sparse_cases import sparse_case
from dpviz.words import foreign
from dpviz.words.foreign import Door

_SHARES: Mapping[Callable[[np.random.Generator], Case], float] = {
    read_case: 0.13,
    declared_case: 0.13,
    proposal_case: 0.12,
    run_case: 0.09,
    parameter_case: 0.11,
    corner_case: 0.08,
    sidecar_case: 0.10,
    settings_case: 0.08,
    sparse_case: 0.05,
    folder_case: 0.03,
    command_case: 0.07,
    link_case: 0.01,
    release_case: 0.06,
    account_case: 0.03,
    parquet_case: 0.06,
    lesson_case: 0.03,
    name_case: 0.04,
    packed_case: 0.02,
    claims_case: 0.02,
    key_case: 0.01,
    stdout_case: 0.002,
    database_case: 0.03,
}
KINDS: Mapping[str, Callable[[np.random.Generator], Case]] = {
    make.__name__.removesuffix("_case"): make for make in _SHARES
}
"""What may be asked for alone, by its name."""


DOORS: Mapping[str, tuple[Door, ...]] = {
    "read": (foreign.CSV,),
    "parquet": (foreign.PARQUET,),
    "database": (foreign.DATABASE,),
    "sparse": (foreign.SPARSE,),
    "packed": (foreign.GZIP,),
    "release": (foreign.RELEASE, foreign.TRANSCRIPT),
    "account": (foreign.ACCOUNT,),
    "sidecar": (foreign.DECLARATION,),
    "lesson": (foreign.LESSON,),
    "settings": (foreign.STUDY_FILE,),
    "folder": (foreign.STUDY_FOLDER,),
    "claims": (foreign.EXPERIMENTS,),
    "link": (foreign.LINK,),
    "key": (foreign.KEY,),
    "stdout": (foreign.STDOUT,),
}
"""The doors that a kind comes through; frames, packages and Spark are met by contracts of their own."""


def case_of(seed: int, index: int, *, kind: str | None = None) -> Case:
    """Case ``index`` of ``seed``: of any family, or of one of ``KINDS``."""
    rng = np.random.default_rng([seed, index])
    shares = np.array(list(_SHARES.values()))
    family = int(rng.choice(len(shares), p=shares / shares.sum()))
    make = list(_SHARES)[family] if kind is None else KINDS[kind]
    return make(rng)
