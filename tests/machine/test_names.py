"""What names mean: aliases, groups, globs, servers."""

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
