"""`duly schema`: the JSON Schema of contract documents."""

import typer


def schema() -> None:
    """Prints the JSON Schema of contract documents, with which editors complete and check them.

    \b
    Example:
      duly schema > duly.schema.json
    """
    from duly.notation.document_schema import schema_text

    typer.echo(schema_text(), nl=False)
