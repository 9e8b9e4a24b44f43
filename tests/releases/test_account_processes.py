"""Accounts among processes: they race, and die at every step."""

from pathlib import Path
from shutil import copytree

from dpviz.releases.account import Account, AccountExceeded
from dpviz.releases.account_file import AccountLocked
from tests.cases import about
from tests.releases.charges import a_charge, at_each_statement


def new(path: Path, *, cap: float = 1.0) -> Account:
    return Account.new(path, name="people", cap_epsilon=cap)


def test_whoever_comes_between_any_two_steps_of_a_charge_for_the_last_half_one_wins(monkeypatch, tmp_path):
    steps, outcomes, at = iter(range(1)), [], 0

    def come_in_between(*_):
        if next(steps, None) == 0:
            outcomes[-1].append(_tries(Account(account.path, patience=0.0)))

    while True:
        account = new(tmp_path / f"{at}.sqlite")
        account.charge(a_charge(0.5))
        outcomes.append([])
        with monkeypatch.context() as patch:
            steps = iter(range(-at, 1))
            at_each_statement(patch, come_in_between)
            outcomes[-1].append(_tries(account))
        assert account.standing().spent_epsilon == 1.0 and account.standing().broken_at is None
        if len(outcomes[-1]) == 1:  # it has no such step
            break
        at += 1
    # Until BEGIN IMMEDIATE whoever comes wins; from then on it has to wait.
    assert [outcome for place, outcome in enumerate(outcomes[:-1]) if not place or outcome != outcomes[place - 1]] == [
        ["won", "refused"],
        ["locked", "won"],
    ]
    assert outcomes[-1] == ["won"] and at > 10


def _tries(account: Account) -> str:
    try:
        account.charge(a_charge(0.5))
    except AccountExceeded:
        return "refused"
    except AccountLocked:
        return "locked"
    return "won"


def test_wherever_a_process_dies_its_charge_is_there_whole_or_not_at_all_and_from_commit_on(monkeypatch, tmp_path):
    """Behind each statement the files are kept as whoever is killed there leaves them."""
    account, left = new(tmp_path / "a.sqlite"), []
    account.charge(a_charge(0.25))

    def keep(_, said):
        left.append((said, copytree(tmp_path, tmp_path.with_name(f"left{len(left)}"))))

    with monkeypatch.context() as patch:
        at_each_statement(patch, keep, behind=True)
        account.charge(a_charge(0.5))
    begun = [said for said, _ in left].index("BEGIN IMMEDIATE")
    commit = [said for said, _ in left].index("COMMIT", begun)
    for at, (said, folder) in enumerate(left):
        found = Account.open(folder / "a.sqlite")
        with about(at, said):
            assert found.standing().spent_epsilon == (0.75 if at >= commit else 0.25)
            assert found.charge(a_charge(0.25)) == len(found.standing().entries) and found.standing().broken_at is None
