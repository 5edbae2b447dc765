"""Globs: `*` stands for any characters of one step of a path, `**` for any number of whole steps."""

import re


def fits(glob: str, name: str) -> bool:
    """Whether a glob matches a whole name; never goes back, whatever stars it has."""
    steps, parts = glob.split("/"), name.split("/")
    return len(parts) == len(steps) and all(_step(*pair) for pair in zip(steps, parts, strict=True))


def inside(glob: str, value: str) -> bool:
    """Whether a glob, which may hold `**`, matches a whole text; a path that goes up with `..` is inside of nothing,
    however it is written: with backslashes, or as the escapes that a URL has for these characters."""
    steps, parts = glob.split("/"), value.split("/")
    if ".." in _written_out(value).split("/"):
        return False
    # the numbers of parts that the steps so far can have taken
    reach = {0}
    for step in steps:
        if step == "**":
            reach = set(range(min(reach), len(parts) + 1)) if reach else reach
        else:
            # `` and `.` are no steps: `/srv/` and `/srv/.` are `/srv`, which `/srv/*` does not speak of
            star = "*" in step
            reach = {
                at + 1
                for at in reach
                if at < len(parts) and _step(step, parts[at]) and not (star and parts[at] in ("", "."))
            }
    return len(parts) in reach


def within(narrow: str, wide: str) -> bool:
    """Whether all that ``narrow`` matches lies inside ``wide``; False also where it holds more than one `**`.

    A star is replaced by a character that only a star can match, `**` by any number of such steps.
    """
    steps = narrow.replace("*", _ANY).split("/")
    stars = [at for at, step in enumerate(steps) if step == 2 * _ANY]
    if len(stars) > 1 or any(2 * _ANY in step for at, step in enumerate(steps) if at not in stars):
        return False
    if not stars:
        return inside(wide, "/".join(steps))
    before, behind = steps[: stars[0]], steps[stars[0] + 1 :]
    longest = len(wide.split("/")) + 1
    return all(
        inside(wide, "/".join([*before, *[each] * count, *behind]))
        for count in range(longest + 1)
        for each in (_ANY, "")
    )


_ANY = "\0"


def _written_out(value: str) -> str:
    if "%" in value:
        value = re.sub(r"%(2e|2f|5c)", lambda found: chr(int(found[1], 16)), value, flags=re.IGNORECASE)
    return value.replace("\\", "/")


def _step(step: str, part: str) -> bool:
    pieces = step.split("*")
    if len(pieces) == 1:
        return part == step
    first, *middle, last = pieces
    at, end = len(first), len(part) - len(last)
    if at > end or not part.startswith(first) or not part.endswith(last):
        return False
    for piece in middle:
        found = part.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
