"""Where others can see these pages nobody names a file of this machine: there, the command line releases."""

from __future__ import annotations

import shlex

import streamlit as st

from dpviz.charts.wording import number
from dpviz.glossary import explained
from dpviz.release.order import BOUNDS, Order
from dpviz.runs.request import written


def by_command_line(order: Order) -> list[str]:
    """Draw the commands for what is asked; why the page cannot do it."""
    st.subheader("The account", divider="gray", anchor=False, help=explained("account"))
    st.info(
        "This server listens to other machines, too: whoever can see this page could name a file of it. So an account "
        "is opened by the command line, where the rows are.",
        title="Released by the command line",
        icon=":material/terminal:",
    )
    st.code("\n".join(commands(order)), language="bash")
    return ["This server is not this machine's alone: release by the command line, with the commands below."]


def commands(order: Order) -> list[str]:
    """An account, a release and its check, as they are typed."""
    request = order.request
    settings = [f"{name}={written(value)}" for name, value in request.params.items()]
    of_algorithm = f" --algorithm {request.algorithm}" if request.algorithm != "auto" else ""
    said = f" --set {' '.join(map(shlex.quote, settings))}" if settings else ""
    said += f" --segments {order.segments:g}"
    said += f" --buy-bounds {order.bounds:g}" if order.bounds != BOUNDS else ""
    said += f" --missing {order.missing:g}" if order.missing else ""
    return [
        f"dpviz account new people.sqlite --name people --cap-epsilon {number(2 * request.epsilon)} --cap-delta 1e-5",
        f"dpviz release people.json people.csv --k {request.k} --epsilon {request.epsilon:g} --delta {order.delta:g}"
        f"{of_algorithm}{said} --account people.sqlite --out release.zip",
        "dpviz verify release.zip",
    ]
