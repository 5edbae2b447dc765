"""What readers of other libraries' files share: names that YAML reads in two ways are found."""

import json
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st

from duly.notation.document import parse_terms
from duly.notation.document_print import print_terms
from duly.notation.foreign import ELEVEN
from duly.notation.yaml import read_yaml
from duly.values.errors import DulyError
from duly.values.source import Source
from laws.settings import tried

WORDS = [
    "yes", "No", "ON", "off", "y", "n", "true", "null", "~", "1_000", "0b11", "0x1F", "1:30", "2024-01-01",
    "2024-1-1 10:00:00", "=", "a", "a_b", "10s", "v1.2", "1.2.3", "-", "+1_0", "0o17", "yes!", "1_0.5",
]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_plain_word_is_found_exactly_where_only_yaml_1_1_takes_it_for_no_text(word: str) -> None:
    try:
        theirs = type(pyyaml.safe_load(word)) is str
    except pyyaml.YAMLError:
        theirs = False
    ours = read_yaml(Source("x.yaml", word)).kind == "text"
    assert (ELEVEN.fullmatch(word) is not None and ours) == (ours and not theirs)


KEYS = ["contracts", "groups", "state", "template", "args", "kwargs", "tool", "matches", "field", "group", "n", "limit", "clock",
        "pack_version", "requirements", "action", "require", "message", "type", "label", "labels", "op", "k", "inner", "parts", "protocol",
        "name", "window_seconds", "earlier", "later"]  # fmt: skip
LEAVES = ["must_precede", "at_most_total", "rate_limit", "at_most_n_times", "Did", "Count", "All", "And", "Not", "AtLeast", "1.0", "a", "@a",
          "*", "", "(", "!a.end", ">=", "did(a)", "\ud7ff", 0, 1, -1, 2.5, 10**30, True, None, "a b"]  # fmt: skip
VALUES = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4), st.sampled_from([{}, {"contracts": []}, {"requirements": []}]))
@tried(400, 20_000)
def test_whatever_such_a_file_holds_it_loads_or_its_faults_are_said(said: dict[str, Any], more: dict[str, Any]) -> None:
    text = json.dumps({**more, **said})
    codes: list[str] = []
    try:
        terms = parse_terms(text, name="x.json")
    except DulyError as error:
        codes = [each.code for each in error.diagnostics if each.message]
    else:
        assert print_terms(parse_terms(print_terms(terms), name="again.yaml")) == print_terms(terms)
        return
    assert codes
    assert "internal" not in codes
