"""Tests of the pages in Chromium: a package, so that what is made for all of them ends with the last."""
