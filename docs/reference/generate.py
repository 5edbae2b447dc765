"""Writes the schema and the reference page of contract documents; to be run after changing the table of keys."""

from pathlib import Path

from duly.notation.document_schema import reference_page, schema_text

HERE = Path(__file__).resolve().parent


def written() -> dict[str, str]:
    """The generated files of this folder by name."""
    return {"contract.schema.json": schema_text(), "contract-document.md": reference_page()}


if __name__ == "__main__":
    for name, text in written().items():
        (HERE / name).write_text(text, encoding="utf-8")
