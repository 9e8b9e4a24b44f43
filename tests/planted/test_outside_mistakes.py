"""Mistakes that the outside auditor has to object to, where it lies beside the checkout."""

from tests.audits.test_outside_audit import SHOWN, needs_auditor


@needs_auditor
def test_the_auditor_objects_to_planted_mistakes(nursery):
    for planted in SHOWN[::6]:
        assert planted.plant(nursery), f"{planted.mistake.mistake}: the auditor objects to nothing"
