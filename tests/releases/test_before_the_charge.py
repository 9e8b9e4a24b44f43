"""Whatever stands against a release is said before the account is charged; the card says how the account stood then."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from dpviz.core.check import RequestError
from dpviz.releases import playing, releasing
from dpviz.releases.account import Account, Taken
from dpviz.releases.package import CARD
from dpviz.releases.playing import play
from dpviz.releases.releasing import draw, make_transcript, preflight, publish, refuse_unpaid
from dpviz.tables.csv_intake import CsvOnDisk
from dpviz.tables.named import open_file
from tests.releases.charges import a_charge
from tests.releases.people import account_in, declare_people, order_for, ready_in

TOWN = {"town": {"categories": ["North", "South"]}}


def refused(release_request, content, said, account, words: str, **named) -> None:
    """The release is refused in these words, and nothing is charged."""
    with pytest.raises(RequestError, match=words):
        publish(preflight(release_request, content, said, account, **named))
    assert account.standing().entries == ()


@pytest.mark.parametrize("bounds", [{"age": [0, 100], "income": [0, 90000]}, {"age": [0, 100], "income": [None, None]}])
def test_a_described_column_that_is_not_there_is_refused(tmp_path, bounds):
    declared = {"describe": TOWN, "bounds": bounds, "bounds_origin": "law", "origins": {}, "n_public": None}
    data, said = declare_people(tmp_path, **declared)
    refused(order_for(said, segments=0.2), open_file(data), said, account_in(tmp_path), "town")


def test_a_described_column_of_a_file_beyond_memory_is_refused(tmp_path):
    data, said = declare_people(tmp_path, describe=TOWN)
    data.write_text(
        data.read_text()
        .replace("age,income", "age,income,town")
        .replace("\n", ",North\n")
        .replace("town,North", "town")
    )
    refused(order_for(said, segments=0.2), CsvOnDisk(data), said, account_in(tmp_path), "would be described")
    release = publish(preflight(order_for(said), CsvOnDisk(data), said, Account.open(tmp_path / "people.sqlite")))
    assert release.number == 1, "nothing is described where segments get nothing"


@pytest.mark.parametrize("cell", ["1e400", "many"])
def test_an_id_column_that_is_missing_is_refused_where_bounds_are_bought(tmp_path, cell):
    bounds = {"age": [0, 100], "income": [None, None]}
    data, said = declare_people(
        tmp_path, bounds=bounds, bounds_origin="law", origins={}, n_public=None, id_column="who"
    )
    refused(order_for(said), open_file(data), said, account_in(tmp_path), "who")


def test_noise_that_cannot_be_drawn_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dpviz.core.exact_noise.MOST_GAUSSIAN", 5)
    prepared = ready_in(tmp_path, algorithm="dplloyd:preset=gaussian")
    with pytest.raises(RequestError, match="draws Gaussian noise on at most"):
        publish(prepared)
    assert prepared.account.standing().entries == ()


@pytest.mark.parametrize("declared", [{}, {"n_public": None}, {"n_public": None, "relation": "replace"}])
def test_a_rehearsal_reads_no_row(tmp_path, monkeypatch, declared):
    prepared = ready_in(tmp_path, declared=declared, segments=0.2)

    class NoRows:
        """Stands where rows would be: its public number is all that may be asked."""

        n_public = prepared.table.private.n_public

    releasing.rehearse(replace(prepared, content=None, table=NoRows()))


def test_a_card_tells_how_the_account_stood_at_its_own_charge(tmp_path):
    prepared = ready_in(tmp_path)
    account = prepared.account
    account.charge(replace(a_charge(0.25), unit="1 row"))  # another program, after the check
    publish(
        replace(
            prepared,
            release_request=replace(
                prepared.release_request, request=replace(prepared.release_request.request, epsilon=0.5)
            ),
        )
    )
    second = publish(prepared)
    said = yaml.safe_load(second.files[CARD])["deployment"]["deployment_model"]["release_type_details"]
    assert "Before this release ε = 0.75" in said and "after it ε = 1.75" in said
    assert account.standing().spent_epsilon == 1.75


def test_what_an_account_is_charged_is_what_the_parts_may_spend(tmp_path):
    _, said = declare_people(tmp_path, describe={}, n_public=None)
    for shares in ({"segments": 0.0}, {"segments": 0.3, "missing": 0.1}, {"segments": 0.2, "bounds": 0.1}):
        release_request = replace(order_for(said), **shares)
        parts = release_request.shares(said).values()
        assert release_request.charge(said).epsilon == pytest.approx(sum(part.epsilon for part in parts))


def test_a_release_that_nobody_could_check_in_bounded_time_is_refused(tmp_path):
    _, said = declare_people(tmp_path, n_public=None)
    release_request = order_for(said)
    large = replace(release_request, request=replace(release_request.request, k=10_000))
    large.check(said)
    names = tuple(f"c{place}" for place in range(3))
    wide = replace(said, columns=names, lower=(0.0,) * 3, upper=(1.0,) * 3, origins=("documentation",) * 3)
    with pytest.raises(RequestError, match="ask for at most 9459 clusters"):
        large.check(wide)


def test_a_word_that_no_file_can_hold_is_refused(tmp_path):
    data, said = declare_people(tmp_path)
    half = order_for(said, chosen_after_looking="k \udcff")
    refused(half, open_file(data), said, account_in(tmp_path), "half a character")


@pytest.mark.parametrize(
    "broken", ["dpviz.releases.render.make_card_page", "dpviz.releases.render.write_assign_script"]
)
def test_files_that_cannot_be_made_are_found_before_the_charge(tmp_path, monkeypatch, broken):
    def breaks(*given, **named):
        raise ZeroDivisionError

    monkeypatch.setattr(broken, breaks)
    prepared = ready_in(tmp_path)
    with pytest.raises(ZeroDivisionError):
        publish(prepared)
    assert prepared.account.standing().entries == ()


def test_the_last_guard_lets_nothing_leave_that_was_not_charged_or_not_drawn(tmp_path):
    prepared = ready_in(tmp_path, algorithm="dplloyd:preset=gaussian", segments=0.2)
    charge = prepared.charge
    drawn, other = draw(prepared), draw(prepared)
    played = play(make_transcript(prepared, Taken.rehearse(prepared.before, charge), drawn))
    refuse_unpaid(drawn.parts, played, charge)
    for less, words in (({"epsilon": 0.9}, "more ε than the account was charged"), ({"delta": 0.0}, "more δ than")):
        with pytest.raises(RequestError, match=words):
            refuse_unpaid(drawn.parts, played, replace(charge, **less))
    told = drawn.parts.told._replace(report=other.parts.told.report)
    for part in ({"clustered": other.parts.clustered}, {"told": told}):  # centres alone, then segments alone
        mixed = replace(drawn.parts, **part)
        assert mixed.entries == drawn.parts.entries
        with pytest.raises(RequestError, match="comes to something else"):
            refuse_unpaid(mixed, played, charge)


def test_a_part_that_adds_up_its_own_ledger_wrongly_is_found_by_the_library_that_adds_up_apart(tmp_path, monkeypatch):
    prepared = ready_in(tmp_path, algorithm="dplloyd", segments=0.2)
    parts, shares = draw(prepared).parts, prepared.shares
    halved = {name: share._replace(epsilon=share.epsilon / 2) for name, share in shares.items()}
    monkeypatch.setattr(playing, "compute_total_epsilon", lambda *_, **__: 0.0)
    assert playing.describe_overspending(parts, shares, epsilon=1.0, delta=1e-6) == ()
    found = playing.describe_overspending(parts, halved, epsilon=1.0, delta=1e-6)
    assert [words.split()[2] for words in found] == ["algorithm", "segments"]
