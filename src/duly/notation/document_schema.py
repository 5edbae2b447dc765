"""The table of keys as JSON Schema (2020-12) for editors, and as the reference page for people."""

import json
from typing import Any, Final

from duly.machine.approvals import LONGEST

from .duration import EXAMPLES, PATTERN
from .keys import DOCUMENT
from .shape import (
    Anything,
    Choice,
    Duration,
    Either,
    Exactly,
    Flag,
    Key,
    Listing,
    Mapping,
    Number,
    Record,
    Rows,
    Shape,
    Text,
    Whole,
    expected,
)  # fmt: skip

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def document_schema() -> dict[str, Any]:
    """The schema of contract documents; it accepts what the parser accepts, texts inside of values excepted."""
    return {"$schema": DIALECT, "title": "duly contract document", **schema_of(DOCUMENT)}


def schema_text() -> str:
    """The published schema, as the file has it."""
    return json.dumps(document_schema(), indent=2, ensure_ascii=False) + "\n"


def schema_of(shape: Shape) -> dict[str, Any]:
    """The schema of one shape."""
    match shape:
        case Text(nullable=nullable):
            return {"type": ["string", "null"] if nullable else "string"}
        case Whole(least=least):
            return {"type": "integer", "minimum": least}
        case Number():
            return {"type": "number"}
        case Duration():
            # each bound speaks of one of the two kinds only
            limits = {"exclusiveMinimum": 0, "maximum": int(LONGEST), "minLength": 2, "pattern": PATTERN}
            return {"type": ["number", "string"], **limits}
        case Exactly(value=value):
            return {"const": value}
        case Flag():
            return {"type": "boolean"}
        case Choice(options=options):
            return {"enum": list(options)}
        case Anything():
            return {}
        case Listing(item=item, length=length, unique=unique):
            size = {} if length is None else {"minItems": length, "maxItems": length}
            return {"type": "array", "items": schema_of(item), **size} | ({"uniqueItems": True} if unique else {})
        case Mapping(item=item):
            # a name must hold something that is seen
            return {"type": "object", "propertyNames": {"pattern": "\\S"}, "additionalProperties": schema_of(item)}
        case Record():
            return _object(shape.keys)
        case Rows(heads=heads, options=options, others=others):
            return {"type": "array", "items": {"oneOf": [_row(head, options) for head in (*heads, *others)]}}
        case Either(shapes=shapes):
            return {"anyOf": [schema_of(each) for each in shapes]}


def _object(keys: tuple[Key, ...]) -> dict[str, Any]:
    required = [key.name for key in keys if key.required]
    return {
        "type": "object",
        "properties": {key.name: _property(key) for key in keys},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _row(head: Key, options: Record) -> dict[str, Any]:
    return {**_object((head, *options.keys)), "description": head.about, "required": [head.name]}


def _property(key: Key) -> dict[str, Any]:
    return {"description": key.about, **schema_of(key.shape)}


def reference_page() -> str:
    """The reference page, in Markdown."""
    lines = [
        "# The contract document",
        "",
        "One file, YAML (1.2, core schema), JSON or TOML. The published schema is"
        " [contract.schema.json](contract.schema.json); this page and the schema are made from the same table as the"
        " parser (`python docs/reference/generate.py`).",
        "",
        "Unknown keys are errors with their place and a suggestion; all faults of a document are reported at once.",
        "A key of a later version is refused by name: a contract is never loaded with a part of it ignored.",
        "",
        "## Keys",
        "",
        *_rows(DOCUMENT.keys),
    ]
    for title, keys in _sections():
        lines += ["", f"## {title}", "", *_rows(keys)]
    lines += [
        "", "## Not supported yet", "",
        "Refused by name: " + ", ".join(f"`{name}`" for name in DOCUMENT.planned) + ".",
        "", _NOTES,
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


_NOTES: Final = f"""## How values are read

- YAML: `yes` and `1:30` are texts, decimals are exact. Refused are repeated keys, tags, merge keys, several documents
  in one file, and aliases that come to more than 200,000 values.
- JSON: repeated keys, `NaN` and whatever follows the document are refused.
- TOML: faults name the path, as `tools.refund.effect`; dates are refused.
- All: UTF-8 (a byte order mark is accepted), at most 4 MiB, nested at most 64 levels.
- The format follows the extension (`.yaml`, `.yml`, `.json`, `.toml`), else the first characters.

## Durations

A number of seconds, or a text of whole days, hours, minutes and seconds in this order: {EXAMPLES}.

## Includes

Paths are relative to the document that names them and stay in the folder of the outermost one. Own labels are tried
first, then those of the included documents in their order. One name that two documents declare differently is an
error. `mode`, `withdraw_on`, `breaker`, `on_violation`, `show`, `audit`, `forever`, `view` and `undeclared` belong in
the outermost document. Name and version of an included document are its own.

## Packs of llmcontract

A pack (`pack_version`, `name`, `protocol`, `requirements`, …) loads as it is while `requirements` is empty. `layout`
and `description` say nothing of what may happen, and are not kept."""


def _rules() -> Rows:
    key = DOCUMENT.key("rules")
    assert key is not None
    assert isinstance(key.shape, Rows)
    return key.shape


def _sections() -> list[tuple[str, tuple[Key, ...]]]:
    """Every mapping with keys of its own, in the order in which the table mentions it."""
    found: list[tuple[str, tuple[Key, ...]]] = []
    for key in DOCUMENT.keys:
        _collect(key.name, key.shape, found)
    return found


def _collect(title: str, shape: Shape, found: list[tuple[str, tuple[Key, ...]]]) -> None:
    if isinstance(shape, Record):
        keys = shape.keys
        if (keys not in [each for _, each in found]) and shape is not DOCUMENT:
            found.append((f"`{title}`", keys))
            for key in keys:
                _collect(f"{title}.{key.name}", key.shape, found)
    elif isinstance(shape, Listing | Mapping):
        _collect(f"{title}[…]", shape.item, found)
    elif isinstance(shape, Either):
        for each in shape.shapes:
            _collect(title, each, found)
    elif isinstance(shape, Rows):
        found.append((f"`{title}`: one of", (*shape.heads, *shape.others)))
        found.append((f"`{title}`: beside it", shape.options.keys))
        for head in shape.heads:
            _collect(f"{title}[…].{head.name}", head.shape, found)


def _rows(keys: tuple[Key, ...]) -> list[str]:
    lines = ["| key | value | meaning | default |", "|---|---|---|---|"]
    for key in keys:
        name = f"`{key.name}`" + (" (required)" if key.required else "")
        default = f"`{key.default}`" if key.default else ""
        cells = (name, expected(key.shape), key.about, default)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines
