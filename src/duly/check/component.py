"""Strongly connected components, after R. Tarjan (1972), with a stack of our own."""

from collections.abc import Iterable, Mapping, Sequence


def bottoms(states: Iterable[int], leading: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """The components that nothing leaves: where every run from these states stays in the end."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    inside: dict[int, int] = {}  # state to the number of its finished component
    open_states: list[int] = []
    found: list[list[int]] = []
    closed: set[int] = set()
    for root in states:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        open_states.append(root)
        path = [(root, iter(leading.get(root, ())))]
        while path:
            state, targets = path[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    open_states.append(target)
                    path.append((target, iter(leading.get(target, ()))))
                    break
                if target not in inside:
                    low[state] = min(low[state], index[target])
                else:
                    closed.add(state)  # an edge leaves the component of this state
            else:
                path.pop()
                if path and low[state] < index[state]:
                    low[path[-1][0]] = min(low[path[-1][0]], low[state])
                elif path:
                    closed.add(path[-1][0])
                if low[state] == index[state]:
                    component: list[int] = []
                    while not component or component[-1] != state:
                        component.append(open_states.pop())
                        inside[component[-1]] = len(found)
                    found.append(component)
    return [component for component in found if not closed.intersection(component)]
