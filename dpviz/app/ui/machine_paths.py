"""The one switch before every path of the machine that serves the pages: files by their path, accounts."""

from __future__ import annotations

import streamlit as st

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# What a proxy adds to what it hands on; names that begin with x-forwarded- or cf- are all of this kind.
_OF_PROXIES = frozenset(
    ("forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip", "x-original-host")
)
_BEGINNINGS = ("x-forwarded", "cf-", "x-envoy-")


def may_name_paths() -> bool:
    """Whether this visit may name files of the machine: it listens to itself alone, and nobody hands pages on.

    Off at any other address, at none, and as soon as one header of a proxy is seen: whoever sits behind it could be
    anybody.
    """
    if st.get_option("server.address") not in _LOOPBACK:
        return False
    names = {name.lower() for name in st.context.headers}
    return names.isdisjoint(_OF_PROXIES) and not any(name.startswith(_BEGINNINGS) for name in names)
