"""The canonical print of a session-type string: one way to write each tree, and it reads back into that tree."""

from duly.values.errors import fault
from duly.values.expr import Bind, Guard, Literal, Register
from duly.values.protocol import Brackets, Jump, Loop, Mark, Protocol, Step, brackets

from .word import NUMBER, UNRECOGNIZED, is_word, literal_text, name_text, quoted


def protocol_text(protocol: Protocol, structure: Brackets | None = None) -> str:
    """The text of a tree; raises DulyError where a node says what cannot be written (an empty label, NaN)."""
    nodes = protocol.nodes
    structure = structure if structure is not None else brackets(nodes)
    out: list[str] = []
    stack: list[tuple[str, str]] = []  # per open bracket: how its parts are separated, the side its branches share
    bare_sides = len(nodes) > 0 and nodes[0] is Mark.SIDES and structure.parts[0][-1] == len(nodes)
    head, first = False, True
    for at, node in enumerate(nodes):
        if node is Mark.CLOSE:
            separator, _ = stack.pop()
            out.append("}" if separator == ", " else "" if bare_sides and not stack else ")")
            first = False
            continue
        if node is Mark.NEXT:
            out.append(stack[-1][0])
            head, first = stack[-1][0] == ", ", True
            continue
        if not first:
            out.append(".")
        first = False
        if type(node) is Step:
            out.append(step_text(node, side=not head or not stack[-1][1]))
        elif type(node) is Loop:
            out.append("rec " + _variable(node.name))
        elif type(node) is Jump:
            out.append(_variable(node.name))
        elif node is Mark.END:
            out.append("end")
        else:
            side = ""
            if node is Mark.CHOICE:
                sides = {nodes[begin].side for begin in structure.parts[at][:-1]}  # type: ignore[union-attr]
                side = sides.pop() if len(sides) == 1 else ""
                out.append(side + "{")
            elif not (bare_sides and not stack):
                out.append("(")
            stack.append((", " if node is Mark.CHOICE else " || " if node is Mark.SIDES else "", side))
            first, head = True, node is Mark.CHOICE
            continue
        head = False
    return "".join(out)


def step_text(step: Step, *, side: bool = True) -> str:
    """`!label=outcome(clauses)`, without its side where the choice around it says it."""
    if step.label is None:
        label = UNRECOGNIZED
    elif step.group:
        label = "@" + (name_text(step.label) if step.label != UNRECOGNIZED else quoted(step.label))
    else:
        label = name_text(step.label)
    out = (step.side if side else "") + label
    if step.outcome is not None:
        out += "=" + name_text(step.outcome)
    if step.guards or step.binds or step.otherwise:
        out += clauses_text(step.guards, step.binds, otherwise=step.otherwise)
    return out


def clauses_text(guards: tuple[Guard, ...], binds: tuple[Bind, ...], *, otherwise: bool = False) -> str:
    """`(guards, bindings, else)`, or nothing."""
    out = [guard_text(guard) for guard in guards]
    for bind in binds:
        maybe = "maybe " if bind.maybe else ""
        out.append(f"{path_text(bind.path)} as {maybe}{_register(bind.register)}")
    if otherwise:
        out.append("else")
    return "(" + ", ".join(out) + ")" if out else ""


def guard_text(guard: Guard) -> str:
    operand = guard.operand
    right = _register(operand.name) if type(operand) is Register else _literal(operand)
    return f"{path_text(guard.path)} {guard.op} {right}"


def path_text(path: tuple[str | int, ...]) -> str:
    """`a.b[0]`, with quotes around parts that are no plain names."""
    out: list[str] = []
    for part in path:
        if type(part) is int:
            out.append(f"[{part}]")
        else:
            plain = is_word(part) and (part[0].isalpha() or part[0] == "_")  # type: ignore[index, arg-type]
            out.append(("." if out else "") + (str(part) if plain else quoted(str(part))))
    if not path or type(path[0]) is int or any(type(part) is int and not 0 <= part < 10**9 for part in path):
        raise fault(
            "path", "a path must begin with a field and count from 0", help="name the field of the payload first"
        )
    return "".join(out)


def _literal(operand: object) -> str:
    assert type(operand) is Literal
    return literal_text(operand.value)


def _register(name: str) -> str:
    if not is_word(name) or name in ("true", "false", "null") or _is_number(name):
        raise fault("register", f"`{name}` cannot be the name of a register", help="use letters, digits, `_`, `-`, `:`")
    return name


def _is_number(name: str) -> bool:
    found = NUMBER.match(name)
    return found is not None and found.end() == len(name)


def _variable(name: str) -> str:
    if not is_word(name) or name in ("rec", "end"):
        raise fault("rec", f"`{name}` cannot be the name of a loop", help="use letters, digits, `_`, `-`, `:`")
    return name
