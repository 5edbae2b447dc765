"""Names that a reader takes for one another: they differ only by normalisation, case, width or script (G1)."""

import unicodedata
from collections.abc import Iterable
from typing import Final

# Letters of the Cyrillic and Greek scripts that look like Latin ones; the rest of Unicode's confusables are rarer
# than the cost of their table is small.
_ALIKE: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝкмтвнгαορνικτυχβηγ",
    "aeopcyxijshdqwkmtbhraopviktuxbny",
)


def look_alikes(names: Iterable[str]) -> list[tuple[str, str, str]]:
    """Pairs of different names that look the same, each with what they differ by."""
    met: dict[str, str] = {}
    found: list[tuple[str, str, str]] = []
    for name in dict.fromkeys(names):
        plain = name if name.isascii() else _folded(name)
        key = plain.casefold()
        if key in met:
            found.append((met[key], name, _difference(met[key], name)))
        else:
            met[key] = name
    return found


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold().translate(_ALIKE))


def _difference(first: str, second: str) -> str:
    if unicodedata.normalize("NFC", first) == unicodedata.normalize("NFC", second):
        return "Unicode normalisation"
    if first.casefold() == second.casefold():
        return "case"
    if unicodedata.normalize("NFKC", first).casefold() == unicodedata.normalize("NFKC", second).casefold():
        return "width or form"
    return "script"
