import io
import sys
from pathlib import Path

import pytest

from .conftest import CONTRACT, Duly, sparse

EVERY_FAULT = """\
dully: 1
contract: [1]
mode: enforced
tools:
  a: {effect: maybe, error: "argz.x", eror: "x"}
labels:
  Y: {matches: "("}
protocol: "rec X.X"
rules:
  - must_preceed: [a, b]
  - at_most: {of: a, n: -1}
  - must_precede: [a]
"""


def test_a_good_contract_has_nothing_to_be_said_of_it(duly: Duly, here: Path) -> None:
    said = duly("check", "contract.yaml")
    assert (said.code, said.out, said.err) == (0, "0 errors, 0 warnings\n", "")
    assert duly("check", "contract.yaml", "--json").json == []


def test_faults_are_told_all_at_once_with_their_places(duly: Duly, here: Path) -> None:
    (here / "wrong.yaml").write_text(EVERY_FAULT)
    said = duly("check", "wrong.yaml", "--json")
    assert said.code == 3
    assert {row["severity"] for row in said.json} == {"error"}
    assert sorted({row["line"] for row in said.json}) == [1, 2, 3, 5, 7, 8, 10, 11, 12]
    assert all(row["where"].startswith("wrong.yaml:") for row in said.json)
    unknown = next(row for row in said.json if row["line"] == 10)
    assert (unknown["message"], unknown["column"]) == ("unknown rule `must_preceed`; did you mean `must_precede`?", 5)


BROKEN = {
    "empty.yaml": (b"", "the document is empty"),
    "utf16.yaml": (CONTRACT.encode("utf-16"), "the file is UTF-16"),
    "latin.yaml": (b"duly: 1\ncontract: caf\xe9\n", "byte 21 (line 2) is not UTF-8"),
    "nul.yaml": (b"duly: 1\n\0\0\0", "the text holds the character NUL"),
    "twice.yaml": (b"duly: 1\nduly: 1\n", "the key `duly` is repeated"),
    "twice.json": (b'{"duly": 1, "duly": 1}', "the key `duly` is repeated"),
    "deep.json": (b"[" * 100_000, "nested deeper than 64 levels"),
    "deep.yaml": (b"[" * 100_000, "nest"),
    "torn.yaml": (CONTRACT.encode()[:-30] + b"\n  - {of: [", ""),
    "torn.json": (b'{"duly": 1, "rules": [', ""),
    "torn.toml": (b'duly = 1\ncontract = "a', ""),
    "list.yaml": (b"- a\n- b\n", ""),
    "text.txt": (b"hello there", ""),
    "empty.txt": (b"", "the text is empty"),
    "zeros.txt": (b"\0" * 100, ""),
    "latin.txt": (b"!caf\xe9.end", "byte 4 (line 1) is not UTF-8"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_exits_with_3_and_says_what_is_wrong(name: str, duly: Duly, here: Path) -> None:
    data, message = BROKEN[name]
    (here / name).write_bytes(data)
    said = duly("check", name)
    assert said.code == 3
    assert said.out.startswith(name)
    assert message in said.out


@pytest.mark.parametrize("name", ["huge.yaml", "huge.json", "huge.toml", "huge.txt"])
def test_a_huge_file_is_refused_before_it_is_read(name: str, duly: Duly, here: Path) -> None:
    sparse(here / name)
    said = duly("check", name, "--json")
    assert (said.code, said.json[0]["message"]) == (3, "longer than 4194304 bytes")


def test_a_byte_order_mark_is_no_fault(duly: Duly, here: Path) -> None:
    (here / "bom.yaml").write_bytes(b"\xef\xbb\xbf" + CONTRACT.encode())
    (here / "bom.txt").write_bytes(b"\xef\xbb\xbf!a.?a.end")
    assert duly("check", "bom.yaml", "bom.txt").code == 0


def test_a_protocol_may_come_as_text_a_file_or_standard_input(duly: Duly, here: Path) -> None:
    (here / "desk.duly").write_text("protocol Desk:\n  open: Ask -> open | Bye -> closed\n  closed: end\n")
    good = "rec L.{?Ask.!a.?a.L, ?Bye.end}"
    assert duly("check", "--protocol", good).code == 0
    assert duly("check", "-", stdin=good).code == 0
    said = duly("check", "-", "--json", stdin="rec X.X")
    assert (said.code, said.json[0]["where"]) == (3, "<stdin>:1:1")
    assert duly("check", "-", stdin="").code == 3
    assert duly("check", "-", stdin=b"!\xff.end").code == 3


def test_a_deep_protocol_is_no_special_case(duly: Duly, here: Path) -> None:
    (here / "deep.txt").write_text("!a." * 20_000 + "end")
    (here / "open.txt").write_text("!{a." * 20_000)
    assert duly("check", "deep.txt").code == 0
    assert duly("check", "open.txt").code == 3


def test_a_loop_without_an_end_is_an_error_with_a_witness(duly: Duly, here: Path) -> None:
    said = duly("check", "-p", "!a.rec L.!b.L", "--json")
    assert said.code == 3
    assert [(row["code"], row["witness"]) for row in said.json] == [("no_end", ["!a"])]


def test_warnings_pass_unless_the_check_is_strict(duly: Duly, here: Path) -> None:
    (here / "twice.yaml").write_text(CONTRACT.replace("examples:", "  - at_most: {of: refund_order, n: 5}\nexamples:"))
    said = duly("check", "twice.yaml", "--json")
    assert (said.code, [row["severity"] for row in said.json]) == (0, ["warning"])
    assert duly("check", "twice.yaml", "--strict").code == 3


def test_examples_that_get_another_label_are_errors(duly: Duly, here: Path) -> None:
    (here / "odd.yaml").write_text(CONTRACT.replace('"Yes, please", label: Yes', '"No, yes", label: Yes'))
    said = duly("check", "odd.yaml", "--json")
    assert (said.code, said.json[0]["code"], said.json[0]["line"]) == (3, "example", 14)


GUARDED = """\
import duly

contract = duly.Contract(duly.must_precede("find", "refund"), tools=[duly.Tool("find"), duly.Tool("refund")])
session = duly.Session(contract)
print("side effects of imports stay out of the answer")


@duly.guard(session)
def find(id): ...


@duly.guard(session, name="{label}")
def pay(id): ...
"""


def test_a_module_is_imported_and_its_contract_looked_at(duly: Duly, here: Path) -> None:
    (here / "desk.py").write_text(GUARDED.replace("{label}", "refund"))
    said = duly("check", "desk.py", "--json")
    assert (said.code, said.json) == (0, [])


def test_a_guarded_label_that_the_contract_does_not_know_is_an_error(duly: Duly, here: Path) -> None:
    (here / "desk.py").write_text(GUARDED.replace("{label}", "refunt"))
    said = duly("check", "desk.py", "--json")
    assert said.code == 3
    fault, note = said.json
    assert fault["message"] == "`pay` is guarded as `refunt`, which the contract does not know"
    assert fault["help"] == "did you mean `refund`?"
    assert (note["severity"], note["message"]) == ("info", "declared tools without a guarded function: refund")


def test_a_module_may_be_named_as_python_names_it(duly: Duly, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "shop_for_check").mkdir()
    (here / "shop_for_check" / "__init__.py").write_text("")
    (here / "shop_for_check" / "desk.py").write_text("import duly\nprotocol = duly.protocol('!a.?a.end')\n")
    assert duly("check", "shop_for_check.desk").code == 0
    assert str(here) not in sys.path
    for name in ("shop_for_check", "shop_for_check.desk"):
        monkeypatch.delitem(sys.modules, name)


BAD_MODULES = {
    "raises": ("raise ValueError('no\\nway')", "`raises.py` cannot be imported: ValueError: no way", "raises.py:1"),
    "syntax": ("def f(:\n", "`syntax.py` cannot be imported: SyntaxError", "syntax.py:1"),
    "leaves": ("import sys; sys.exit(0)", "`leaves.py` cannot be imported: SystemExit: 0", "leaves.py:1"),
    "missing": ("import nothing_of_that_name", "`missing.py` cannot be imported: ModuleNotFoundError", "missing.py:1"),
    "faulty": (
        "import duly\nduly.protocol('rec X.X')",
        "`faulty.py` cannot be imported: a definition is faulty",
        "faulty.py:2",
    ),
    "nothing": ("x = 1", "holds no contract, protocol or session at the top level", "nothing.py"),
}


@pytest.mark.parametrize("name", BAD_MODULES)
def test_a_module_that_cannot_be_checked_exits_with_3(name: str, duly: Duly, here: Path) -> None:
    text, message, where = BAD_MODULES[name]
    (here / f"{name}.py").write_text(text)
    said = duly("check", f"{name}.py", "--json")
    assert said.code == 3
    assert said.json[0]["message"].startswith(message)
    assert where in said.json[0]["where"]


def test_wrong_usage_exits_with_2(duly: Duly, here: Path) -> None:
    assert duly("check").code == 2
    assert duly("check", "nowhere.yaml").err == "error: there is no file and no module `nowhere.yaml`\n"
    assert duly("check", "nowhere.yaml").code == 2
    assert duly("check", "no_such_module_here").code == 2
    assert duly("check", "runs").code == 2
    assert duly("check", "--strikt", "contract.yaml").code == 2


def test_standard_input_without_bytes_is_not_waited_for(duly: Duly, here: Path) -> None:
    assert duly("check", "-", stdin=io.BytesIO().getvalue()).code == 3


def test_a_guard_whose_module_is_not_found_is_named_and_none_is_imported(duly: Duly, here: Path) -> None:
    (here / "loud.py").write_text("raise SystemExit(9)\n")
    guards = [f"guards: [{{of: refund_order, run: '{run}:f'}}]\n" for run in ("loud", "json", "no_such_module.part")]
    codes = []
    for guard in guards:
        (here / "guarded.yaml").write_text(CONTRACT + guard)
        said = duly("check", "guarded.yaml", "--strict")
        codes.append((said.code, "is not found here" in said.out))
    # the contract's folder is no place where Python looks
    assert codes == [(3, True), (0, False), (3, True)]
