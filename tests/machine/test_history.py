"""Histories from Python and from text: one form, and every fault at its place."""

import pytest

from duly import DulyError, Past, count, did, did_all, did_any, did_at_least, did_at_most, history
from duly.machine.history import canonical, history_of, names_of, renamed


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (did("kyc") & (count("check") >= 2) & ~did("denied"), "did(kyc) and count(check) >= 2 and not did(denied)"),
        (did("a") | did("b") & did("c"), "did(a) or did(b) and did(c)"),
        ((did("a") | did("b")) & did("c"), "(did(a) or did(b)) and did(c)"),
        (did_all("a", "b") | did_any("c", "d"), "all(a, b) or any_of(c, d)"),
        (~(did_at_least(2, "a", "b", "c") & did_at_most(1, "x", "y")),
         "not (at_least(2, a, b, c) and at_most(1, x, y))"),
        (did("@change") & (count("a b", where="args.n > 1") != 3), 'did(@change) and count("a b"{args.n > 1}) != 3'),
        ((count("a") == 1) | (count("a") < 2) | (count("a") <= 3) | (count("a") > 4),
         "count(a) == 1 or count(a) < 2 or count(a) <= 3 or count(a) > 4"),
    ],
)  # fmt: skip
def test_python_and_text_say_the_same(built: Past, text: str) -> None:
    assert (str(built), canonical(built), canonical(text)) == (text, text, text)
    assert history("pay", built) == history("pay", text)


def test_layout_and_brackets_do_not_matter() -> None:
    assert canonical(" ( did( a ) )and(count(b)>=2)# why\n") == "did(a) and count(b) >= 2"


def test_a_past_is_no_truth_value_and_a_count_is_compared_with_whole_numbers() -> None:
    with pytest.raises(TypeError, match="join with `&`"):
        bool(did("a"))
    with pytest.raises(TypeError, match="a count is compared"):
        bool(count("a"))
    for wrong in (True, 1.5, "2"):
        with pytest.raises(TypeError, match="whole number"):
            _ = count("a") >= wrong  # type: ignore[operator]
    with pytest.raises(DulyError, match="never below 0"):
        _ = count("a") > -1
    with pytest.raises(TypeError):
        _ = did("a") & "did(b)"  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("did(a) and G(!b)", ["1:12: a history has no `G`",
                             "1:13: a label by itself says nothing of what has happened"]),
        ("true", ["1:1: `true` says nothing of what has happened"]),
        ("count(a) >= 0 or count(a) < 0", ["1:1: `count(…) >= 0` is always true", "1:18: `count(…) < 0` is never true"]),
        ("count(a) > 10001", ["1:1: a history counts to 10,000, not to 10001"]),
        ("all(a, b, a)", ["1:1: a name stands twice in `all`"]),
        ("at_least(0, a)", ["1:1: `at_least(0, …)` is always true"]),
        ("at_least(2, a)", ["1:1: `at_least` asks for 2 of 1 names, which is never true"]),
        ("at_most(2, a, b)", ["1:1: `at_most` allows 2 of 2 names, which is always true"]),
        ("did(?a=denied)", ["1:1: a history does not tell outcomes apart: `=denied`"]),
        ("count(a)", ["1:8: a comparison is missing at the end"]),
        ("didd(a)", ["1:1: `didd` needs its side"]),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_said_at_its_place(text: str, said: list[str]) -> None:
    with pytest.raises(DulyError) as caught:
        history_of(text)
    assert [f"{each.where().partition(':')[2]}: {each.message}" for each in caught.value.diagnostics][: len(said)] == said


def test_faults_of_what_python_builds_are_said() -> None:
    for built in (did_all(), did_at_least(True, "a"), did(" "), did_at_least(2, "a")):
        with pytest.raises(DulyError):
            history("pay", built)


def test_names_are_found_and_changed_wherever_they_stand() -> None:
    text = "did(a) and count(@g{args.x}) >= 2 and at_least(1, a, b)"
    assert names_of(text) == ["a", "@g", "b"]
    assert renamed(text, lambda name: f"{name}2") == "did(a2) and count(@g2{args.x}) >= 2 and at_least(1, a2, b2)"


def test_a_deep_history_is_no_problem() -> None:
    deep = did("a")
    for _ in range(5000):
        deep = ~deep
    assert history("pay", deep).args["that"] == "not " * 5000 + "did(a)"
