"""How a kit says what is wrong: plain sentences in an AssertionError."""

from collections.abc import Callable

from duly.journal.journal import JournalError


def holds(fact: bool, sentence: str) -> None:
    if not fact:
        raise AssertionError(sentence)


def fails(kind: str, act: Callable[[], object], sentence: str) -> JournalError:
    try:
        act()
    except JournalError as error:
        holds(error.kind == kind, f"{sentence}: the error is `{kind}`, not `{error.kind}`")
        return error
    raise AssertionError(f"{sentence}: it is an error of kind `{kind}`")
