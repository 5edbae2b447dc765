"""Start-up: what `import duly` costs over a bare interpreter."""

from .measure import Figure, process


def figures() -> list[Figure]:
    bare = process("pass")
    ours = process("import duly")
    theirs = process("import llmcontract")
    return [
        Figure("import duly, over bare Python", ours - bare, "ms", 60.0, theirs - bare, None,
               f"llmcontract {theirs - bare:.0f} ms, bare {bare:.0f} ms"),
    ]  # fmt: skip
