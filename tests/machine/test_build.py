"""Compiled contracts: equal questions are one cell, and the cost of a label does not grow with the rules."""

from duly import Contract, LabelRule, Tool, at_most, must_precede, protocol


def test_equal_questions_of_several_rules_become_one_cell() -> None:
    contract = Contract(
        at_most("a", 3), at_most("a", 5, id="loose"), must_precede("x", "a"), must_precede("x", "b"),
        at_most("a", 1, scope="turn"),
    )  # fmt: skip
    assert (len(contract.bits), len(contract.counts)) == (1, 2)
    assert contract.acts["a"].limits == ((0, 3), (1, 1))


def test_a_plan_asks_only_what_its_label_touches() -> None:
    contract = Contract(*(at_most(f"t{n}", 1) for n in range(500)), must_precede("t0", "t1"))
    plan = contract.acts["t7"]
    assert (len(plan.limits), len(plan.takes), plan.want, plan.wins) == (1, 1, 0, 0)


def test_a_name_that_is_only_learnt_has_no_plan() -> None:
    contract = Contract(protocol("?Yes.!pay"), must_precede("Yes", "pay"), at_most("Yes", 1))
    assert sorted(contract.acts) == ["pay"]
    assert sorted(contract.hearings) == ["Yes"]


def test_a_declared_name_is_what_it_is_declared_as() -> None:
    contract = Contract(protocol("?scan.?Yes.!pay"), tools=[Tool("scan"), Tool("pay")], labels=[LabelRule("Yes")])
    assert [(label, plan.message) for label, plan in contract.acts.items()] == [
        ("Yes", True), ("pay", False), ("scan", False),
    ]  # fmt: skip
    assert contract.acts["Yes"].answer is None


def test_bare_names_know_their_servers() -> None:
    contract = Contract(tools=[Tool("db1/sql"), Tool("db2/sql"), Tool("fs/read"), Tool("ls")])
    assert contract.owners == {"sql": ("db1/sql", "db2/sql"), "read": ("fs/read",)}


def test_sides_have_cursors_of_their_own() -> None:
    contract = Contract(protocol("!s.(!a || !b || !c).!d"), protocol("!x"))
    first, second = contract.lines
    assert (len(first.slots), second.slots, len(contract.start.cursors)) == (4, (4,), 5)
    assert contract.start.movers == (None,) * 5
    assert contract.start.cursors[1:4] == (-1, -1, -1)
