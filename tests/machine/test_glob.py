"""Globs over names and paths: `*` inside a step, `**` over steps; and whether one lies inside another."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.machine.glob import fits, inside, within


@pytest.mark.parametrize(
    ("glob", "value", "is_inside"),
    [
        ("/srv/**", "/srv/a", True), ("/srv/**", "/srv/a/b", True), ("/srv/**", "/srv", True),
        ("/srv/**", "/srvx/a", False), ("/srv/**", "/srv/../etc", False), ("/srv/*", "/srv/a/b", False),
        ("**/x", "a/b/x", True), ("**/x", "x", True), ("a/**/b", "a/b", True), ("a/**/b/**/c", "a/q/b/c", True),
        ("*", "a/b", False), ("**", "a/b", True), ("a*c", "abc", True), ("..", "..", False),
        ("/srv/**", "/srv/a\\..\\..\\etc", False), ("/srv/*", "..\\x", False), ("/srv/*", "/srv/a\\b..", True),
        ("/srv/*", "/srv/", False), ("/srv/*", "/srv/.", False), ("/srv/*/x", "/srv//x", False),
        ("/srv/*/x", "/srv/./x", False), ("*", "", False), ("*", ".", False), ("/srv/**", "/srv/a/", True),
        ("https://a.b/**", "https://a.b/c", True), ("https://a.b/c/**", "https://a.b/c/%2e%2E/d", False),
        ("https://a.b/c/**", "https://a.b/c/.%2e%2fd", False), ("/srv/**", "/srv/..%5cetc", False),
        ("/srv/**", "/srv/100%/a", True), ("/srv/**", "/SRV/a", False), ("/srv/**", "/srv/\N{ONE DOT LEADER}", True),
        ("/srv/**", "/ſrv/a", False),
    ],
)  # fmt: skip
def test_a_path_lies_inside_a_glob(glob: str, value: str, is_inside: bool) -> None:
    assert inside(glob, value) is is_inside


GLOBS = st.lists(st.sampled_from(["a", "b", "*", "a*", "*b", "**"]), min_size=1, max_size=4).map("/".join)
PATHS = st.lists(st.text("ab.", max_size=3), min_size=1, max_size=4).map("/".join)


@given(GLOBS, PATHS)
def test_a_glob_matches_what_its_pattern_matches(glob: str, path: str) -> None:
    parts = [re.escape(step).replace(r"\*", "[^/]*") if step != "**" else None for step in glob.split("/")]
    # a star stands for a step, and `` and `.` are none
    pattern = "".join(
        "(?:[^/]*/)*" if part is None else f"(?!\\.?/){part}/" if "*" in part else f"{part}/" for part in parts
    )
    assert inside(glob, path) is (".." not in path.split("/") and bool(re.fullmatch(pattern, f"{path}/")))
    if "**" not in glob:
        pairs = zip(glob.split("/"), path.split("/"), strict=False)
        real = all("*" not in step or part not in ("", ".") for step, part in pairs)
        assert inside(glob, path) is (".." not in path.split("/") and fits(glob, path) and real)


@given(GLOBS, GLOBS, st.lists(PATHS, max_size=30))
def test_what_lies_within_a_wider_glob_matches_nothing_outside_of_it(
    narrow: str, wide: str, paths: list[str]
) -> None:  # fmt: skip
    if within(narrow, wide):
        assert [path for path in paths if inside(narrow, path) and not inside(wide, path)] == []


@pytest.mark.parametrize(
    ("narrow", "wide", "is_within"),
    [
        ("/srv/a/**", "/srv/**", True), ("/srv/**", "/srv/**", True), ("/srv/*", "/srv/**", True),
        ("/srv/**", "/srv/*", False), ("/**", "/srv/**", False), ("/srv/*x", "/srv/*", True),
        ("/srv/*", "/srv/*x", False), ("/srv/**/x", "/srv/**", True), ("/srv/../**", "/srv/**", False),
        ("/a/**/b/**", "/**", False),
    ],
)  # fmt: skip
def test_a_narrower_glob_is_told_from_a_wider_one(narrow: str, wide: str, is_within: bool) -> None:
    assert within(narrow, wide) is is_within
