"""Lists of tools in the forms in which others write them, and what is wrong with those that are none."""

import pytest

from duly.cli.toolset import Described, tools_of
from duly.values.errors import DulyError


@pytest.mark.parametrize(
    "text",
    [
        '{"tools": [{"name": "pay", "inputSchema": {"type": "object", "properties": {"n": {}}}}]}',
        '{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "pay", "inputSchema": {"properties": {"n": {}}}}]}}',
        '[{"type": "function", "function": {"name": "pay", "parameters": {"properties": {"n": {}}}}}]',
        '[{"type": "function", "name": "pay", "parameters": {"properties": {"n": {}}}}]',
        '{"tools": [{"name": "pay", "input_schema": {"properties": {"n": {}}}}]}',
        '[{"title": "pay", "type": "object", "properties": {"n": {}}}]',
        '\ufeff{"functions": [{"name": "pay", "parameters": {"properties": {"n": {}}}}]}',
    ],
)
def test_every_form_names_the_same_tool(text: str) -> None:
    assert tools_of(text, name="t.json") == [Described("pay", "write", arguments=("n",))]


def test_names_alone_are_enough_and_hints_are_taken() -> None:
    assert tools_of('["get_order", "pay"]', name="t.json") == [Described("get_order", "none"), Described("pay", "write")]
    hinted = '[{"name": "get_it", "annotations": {"readOnlyHint": false, "idempotentHint": true}}]'
    assert tools_of(hinted, name="t.json") == [Described("get_it", "write", True, True)]


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("", "t.json", "the list of tools is empty"),
        ("{", "t.json:1:2", ""),
        ("[]", "t.json", "the list names no tools"),
        ('{"a": 1}', "t.json", "this is no list of tools"),
        ("7", "t.json", "this is no list of tools"),
        ('["a", 7]', "t.json:1:7", "expected a tool with a `name`, got `7`"),
        ('["a", "a"]', "t.json:1:7", "the tool `a` is listed twice"),
        ('[{"name": ""}]', "t.json:1:11", "expected the name of a tool, a text of 1 to 500 characters, got an empty text"),
        ('[{"name": 5}]', "t.json:1:11", "expected the name of a tool, a text of 1 to 500 characters, got `5`"),
        ('[{"name": "a", "name": "b"}]', "t.json:1:16", "the key `name` is repeated"),
    ],
)  # fmt: skip
def test_what_is_no_list_is_said_at_its_place(text: str, where: str, message: str) -> None:
    with pytest.raises(DulyError) as caught:
        tools_of(text, name="t.json")
    assert caught.value.diagnostics[0].where() == where
    assert not message or caught.value.diagnostics[0].message == message
