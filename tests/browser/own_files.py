"""Made-up files of three owners, as their programs write them: of places, of customers, of a hospital."""

from datetime import date, timedelta

import numpy as np


def make_places(n: int = 4_000) -> bytes:
    """Places of a town, two columns."""
    rng = np.random.default_rng(0)
    middles = rng.uniform(2, 18, (4, 2))
    rows = middles[rng.integers(0, 4, n)] + rng.normal(0, 0.6, (n, 2))
    return ("east,north\n" + "\n".join(f"{x:.3f},{y:.3f}" for x, y in rows) + "\n").encode()


def make_customers(n: int = 6_000) -> bytes:
    """Customers of a shop, a row each, as a spreadsheet in German writes them: money, dates, categories, yes and no."""
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 4, n)
    age = np.clip(rng.normal(np.array([24, 38, 55, 70])[kind], 5), 18, 99).astype(int)
    sales = np.exp(rng.normal(np.array([4.0, 6.5, 7.5, 5.0])[kind], 0.5))
    days = np.clip(rng.normal(np.array([3_200, 2_000, 600, 1_200])[kind], 250), 0, 3_650).astype(int)
    channel = np.array(["Online", "Filiale", "Telefon", "Post"])[(kind + (rng.random(n) < 0.15)) % 4]
    letters = np.where(rng.random(n) < np.array([0.8, 0.6, 0.3, 0.1])[kind], "ja", "nein")
    lines = ["kunde;alter;umsatz;seit;kanal;newsletter"]
    for number, *row in zip(rng.permutation(n) + 10_000, age, sales, days, channel, letters, strict=True):
        years, spent, since, *said = row
        money = f"{spent:,.2f} €".translate(str.maketrans(",.", ".,"))
        day = date(2015, 1, 1) + timedelta(days=int(since))
        lines.append(";".join([f"{number}", f"{years}", money, f"{day:%d.%m.%Y}", *said]))
    return ("\n".join(lines) + "\n").encode()


def make_hospital(n: int = 8_000) -> bytes:
    """Stays in a hospital: several of one patient, empty cells, and −9 where a value was not taken."""
    rng = np.random.default_rng(2)
    patient = rng.integers(0, 3_000, n)
    kind = patient % 3
    age = np.clip(rng.normal(np.array([30, 55, 78])[kind], 6), 0, 110).round()
    pressure = np.clip(rng.normal(np.array([115, 140, 160])[kind], 9), 60, 250).round()
    crp = np.clip(np.exp(rng.normal(np.array([1.0, 2.5, 4.0])[kind], 0.4)), 0.1, 500)
    ward = np.array(["surgery", "internal", "geriatrics"])[(kind + (rng.random(n) < 0.1)) % 3]
    gone = rng.random((n, 3)) < [0.01, 0.06, 0.12]
    lines = ["patient,age,systolic,crp,ward"]
    for who, *values, where, (no_age, no_pressure, no_crp) in zip(patient, age, pressure, crp, ward, gone, strict=True):
        cells = ["" if no_age else f"{values[0]:.0f}", "" if no_pressure else f"{values[1]:.0f}"]
        lines.append(",".join([f"P{who:05d}", *cells, "-9" if no_crp else f"{values[2]:.1f}", where]))
    return ("\n".join(lines) + "\n").encode()
