"""What readers of other libraries' files share: names that YAML reads in two ways are found."""

import pytest
import yaml as pyyaml

from duly.notation.foreign import ELEVEN
from duly.notation.yaml import read_yaml
from duly.values.source import Source

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
