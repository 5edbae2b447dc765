"""What names mean: aliases, groups, globs, servers."""

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from duly.machine.names import Names
from duly.machine.terms import LabelRule, Terms, Tool


def names(*tools: str, **terms: object) -> Names:
    return Names(Terms(tools={name: Tool(name, effect="write") for name in tools}, **terms))  # type: ignore[arg-type]


def said(found: Names) -> list[tuple[str, str]]:
    return [(fault.message, fault.help) for fault in found.faults]


def test_a_member_is_a_name_a_group_or_a_glob() -> None:
    found = names("a", "b1", "b2", "c", groups={"some": ["a", "b*"], "w": {"effect": "write"}, "r": ["@some", "c"]})
    assert [sorted(found.members(member)) for member in ("a", "@some", "b*", "@b*", "@w", "@r", "zzz")] == [
        ["a"], ["a", "b1", "b2"], ["b1", "b2"], ["b1", "b2"], ["a", "b1", "b2", "c"], ["a", "b1", "b2", "c"], ["zzz"],
    ]  # fmt: skip
    assert found.faults == []


def test_a_glob_matches_whole_names_and_does_not_cross_a_slash() -> None:
    found = names("delete_a", "undelete_a", "s/delete_b", "s/t/delete", "delete.x")
    assert [sorted(found.members(glob)) for glob in ("delete_*", "*/*", "*delete*", "delete.*")] == [
        ["delete_a"], ["s/delete_b"], ["delete.x", "delete_a", "undelete_a"], ["delete.x"],
    ]  # fmt: skip


def test_an_alias_means_its_tool_in_members_too() -> None:
    found = names("write", aliases={"w": "write"}, groups={"g": ["w"]})
    assert (found.canonical("w"), found.members("w"), found.members("@g")) == (
        "write", frozenset({"write"}), frozenset({"write"}),
    )  # fmt: skip


def test_what_means_nothing_is_a_fault_with_help() -> None:
    found = names("a", groups={"change": ["a"], "empty": {"effect": "none"}})
    for member in ("x*", "@chnge", "@y*"):
        found.members(member)
    assert said(found) == [
        ("the group `empty` has no member", "name a tool, or an effect that a tool has"),
        ("nothing is called `x*`", "globs expand where tools are declared"),
        ("unknown group `chnge`", "did you mean `change`?"),
        ("nothing is called `y*`", "globs expand where tools are declared"),
    ]


def test_globs_need_declared_tools() -> None:
    found = Names(Terms())
    found.members("x*")
    assert said(found) == [("nothing is called `x*`", "declare the tools under `tools`")]


def test_one_name_is_not_two_things() -> None:
    found = names("Yes", "a", labels={"Yes": LabelRule("Yes")}, aliases={"a": "Yes", "b": "a"})
    assert [message for message, _ in said(found)] == [
        "`Yes` is declared as a tool and as a message",
        "the alias `a` is also declared under its own name",
        "the alias `b` stands for another alias, `a`",
    ]


def test_a_group_inside_itself_adds_nothing() -> None:
    assert names("a", groups={"g": ["@g", "a"]}).members("@g") == frozenset({"a"})


def test_groups_that_name_each_other_have_the_same_members_whichever_is_asked_first() -> None:
    groups = {"one": ["@two"], "two": ["@one", "@three", "a"], "three": ["@one", "b"], "out": ["@three", "c"]}
    for order in itertools.permutations(groups):
        found = names("a", "b", "c", groups=groups)
        asked = {name: sorted(found.members(f"@{name}")) for name in order}
        assert asked == {"one": ["a", "b"], "two": ["a", "b"], "three": ["a", "b"], "out": ["a", "b", "c"]}
        assert found.faults == []


def test_no_chain_of_groups_is_too_long() -> None:
    groups: dict[str, list[str]] = {f"g{n}": [f"@g{n - 1}"] for n in range(5_000, 0, -1)}
    assert names("a", groups={**groups, "g0": ["a"]}).members("@g5000") == frozenset({"a"})


def test_a_glob_of_many_stars_is_matched_without_going_back() -> None:
    found = names("a" * 300, "a" * 300 + "b", "x/" + "a" * 300 + "b")
    assert found.members("*a" * 30 + "*b") == frozenset({"a" * 300 + "b"})
    assert found.members("*/" + "*a" * 30 + "*b") == frozenset({"x/" + "a" * 300 + "b"})


@given(st.text("ab*/", max_size=8).filter(lambda text: "*" in text), st.text("ab/", max_size=8).filter(bool))
def test_a_glob_matches_what_its_pattern_matches(glob: str, name: str) -> None:
    pattern = "[^/]*".join(re.escape(part) for part in glob.split("*"))
    assert bool(names(name, "~").members(glob) - {"~"}) is bool(re.fullmatch(pattern, name))
