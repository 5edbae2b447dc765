"""An independent reading of session-type strings: what may happen next, derived step by step from the tree.

Shares no code with the compiler: it never builds states, it carries what is left to do as nested frames, as the
rules of the language say it. A configuration is None (ended), ("at", items, scope, rest) with the items of one list
still to do, or ("sides", configurations, rest). Small protocols only: it recurses where the tree nests.
"""

from duly.values.protocol import Jump, Loop, Mark, Protocol, Step


class Silent(Exception):
    """A loop comes back to itself without a step."""


def begin(protocol: Protocol):
    items, _ = _list(protocol.nodes, 0)
    return settle(("at", items, {}, None))


def _list(nodes, at):
    """The items of one list as nested Python values, and where the list ends."""
    items = []
    while at < len(nodes) and nodes[at] not in (Mark.NEXT, Mark.CLOSE):
        node = nodes[at]
        at += 1
        if node in (Mark.CHOICE, Mark.GROUP, Mark.SIDES):
            parts = []
            while True:
                part, at = _list(nodes, at)
                parts.append(part)
                at += 1
                if nodes[at - 1] is Mark.CLOSE:
                    break
            items.append((node, parts))
        else:
            items.append((node, None))
    return tuple(items), at


def settle(config):
    """Go on, without any step, to where a step is next (or the end)."""
    for _ in range(1000):
        if config is None:
            return None
        kind, items, scope, *rest = config
        if kind == "sides":
            sides = tuple(settle(side) for side in items)
            if any(side is not None for side in sides):
                return ("sides", sides, scope)
            config = scope
            continue
        (rest,) = rest
        if not items:
            config = rest
            continue
        (node, parts), after = items[0], ("at", items[1:], scope, rest)
        if type(node) is Step or node is Mark.CHOICE:
            return config
        if type(node) is Loop:
            config = ("at", items[1:], {**scope, node.name: config}, rest)
        elif type(node) is Jump:
            config = scope[node.name]
        elif node is Mark.END:
            return None
        elif node is Mark.GROUP:
            config = ("at", parts[0], scope, after)
        else:
            config = ("sides", tuple(("at", part, {}, None) for part in parts), after)
    raise Silent


def moves(config):
    """What may happen next: each step, with the configuration it leads to."""
    if config is None:
        return {}
    if config[0] == "sides":
        _, sides, after = config
        found = {}
        for at, side in enumerate(sides):
            for step, to in moves(side).items():
                found[step] = settle(("sides", (*sides[:at], to, *sides[at + 1 :]), after))
        return found
    _, items, scope, rest = config
    node, parts = items[0]
    after = ("at", items[1:], scope, rest)
    if node is Mark.CHOICE:
        return {part[0][0]: settle(("at", part[1:], scope, after)) for part in parts}
    return {node: settle(after)}
