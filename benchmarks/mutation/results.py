"""What became of each change: killed, explained or alive, kept in a file and compared with an earlier one."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from benchmarks.mutation.forked import Outcome
from benchmarks.mutation.places import Place, source_of

EXPLANATIONS = Path(__file__).parent / "survivors.yaml"


@dataclass(frozen=True)
class Result:
    """One change and its end."""

    key: str
    file: str
    line: int
    operator: str
    diff: str
    outcome: str
    test: str
    why: str
    tests: int
    seconds: float
    explanation: str = ""

    @property
    def red(self) -> bool:
        return self.outcome in ("killed", "hangs")

    @property
    def part(self) -> str:
        return Path(self.file).parts[1]

    @classmethod
    def of(cls, place: Place, outcome: Outcome, *, tests: int, explained: Mapping[str, str]) -> Result:
        found = outcome.outcome if tests else "no tests"
        why = "" if outcome.red else explained.get(place.key, "")
        return cls(
            key=place.key,
            file=place.file,
            line=place.line,
            operator=place.operator,
            diff=_diff(place),
            outcome=found,
            test=outcome.test,
            why=outcome.why,
            tests=tests,
            seconds=outcome.seconds,
            explanation=why,
        )


def explanations(path: Path = EXPLANATIONS) -> dict[str, str]:
    """The reason for each change that is equivalent or harmless, by its key."""
    return {
        f"{file} | {row['change']} | {row['line']}": str(row["because"])
        for file, rows in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).items()
        for row in rows
    }


def report(results: Sequence[Result]) -> str:
    """How many of each folder, and all that live."""
    lines = [f"{'':12}{'changes':>8}{'killed':>8}{'explained':>11}{'alive':>7}{'caught or explained':>21}"]
    for part in [*dict.fromkeys(result.part for result in results), ""]:
        those = [result for result in results if not part or result.part == part]
        ends = Counter("killed" if one.red else "explained" if one.explanation else "alive" for one in those)
        share = 1 - ends["alive"] / max(1, len(those))
        lines.append(
            f"{part or 'all':12}{len(those):8}{ends['killed']:8}{ends['explained']:11}{ends['alive']:7}{share:21.1%}"
        )
    for result in results:
        if not result.red:
            lines += [
                "",
                f"{result.explanation or 'ALIVE'} -- {result.file}:{result.line}, {result.tests} tests",
                result.diff,
            ]
            lines.append(f"  key: {result.key}")
    hanging = sum(result.outcome == "hangs" for result in results)
    seconds = sum(result.seconds for result in results)
    lines.append(
        f"{hanging} of the killed passed their time; {seconds / max(1, len(results)):.1f} s of the processor each."
    )
    return "\n".join(lines)


def killed_before(results: Iterable[Result], earlier: Iterable[Result]) -> list[str]:
    """Changes that an earlier run's tests caught and these do not, each with the test that caught it."""
    killers = {result.key: result.test for result in earlier if result.red}
    return [
        f"{result.file}:{result.line} was killed by {killers[result.key]}\n{result.diff}"
        for result in results
        if not result.red and result.key in killers
    ]


def store(results: Sequence[Result], path: Path) -> None:
    path.write_text(json.dumps([asdict(result) for result in results], indent=1), encoding="utf-8")


def stored(path: Path) -> list[Result]:
    return [Result(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def _diff(place: Place) -> str:
    before, after = source_of(place.file).splitlines(), place.mutated().splitlines()
    changed = difflib.unified_diff(before, after, n=0, lineterm="")
    return "\n".join(f"    {line}" for line in changed if line[:1] in "+-" and line[:3] not in ("+++", "---"))
