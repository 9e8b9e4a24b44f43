"""How a checkout becomes a wheel: requirements.txt has its dependencies, and the dashboard goes inside the package.

A checkout has app.py, pages/, samples, lessons and the stored results beside the package; nothing else of a wheel may
lie there, so a wheel has them in ``dpviz/beside/``, each at its own place (``dpviz.words.resources`` says which of
both it is).
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

RESOURCES = (
    "app.py",
    "pages/*.py",
    ".streamlit/config.toml",
    "sample_data/*.csv",
    "sample_data/*.json",
    "sample_data/*.npz",
    "lessons/*.yaml",
    "docs/reproduced/**/*.csv",
    "docs/reproduced/**/verdicts.json",
)


class Requirements(MetadataHookInterface):
    """What every install needs stands in requirements.txt above the headings of extras, what an extra needs below."""

    def update(self, metadata: dict[str, Any]) -> None:
        needed: list[str] = []
        extras: dict[str, list[str]] = {"all": []}
        names: list[str] = []
        for line in (Path(self.root) / "requirements.txt").read_text("utf-8").splitlines():
            if line.startswith("# extra: "):
                names = [*line.removeprefix("# extra: ").partition(" (")[0].split(), "all"]
            elif not line.startswith("#"):
                for listed in [extras.setdefault(name, []) for name in names] or [needed]:
                    listed.append(line)
        metadata["dependencies"] = needed
        metadata["optional-dependencies"] = extras


class Dashboard(BuildHookInterface):
    """Puts what lies beside the package into a wheel; an editable install uses the checkout's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            root = Path(self.root)
            for pattern in RESOURCES:
                for path in sorted(root.glob(pattern)):
                    build_data["force_include"][str(path)] = f"dpviz/beside/{path.relative_to(root).as_posix()}"
