"""Truth of a condition for one compute capability, three-valued.

Local names bound from the capability are followed (`major, minor = get_compute_capability(...)`);
functions of the library are called through the interpreter; everything else is unknown.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from sgl_audit.evaluate.values import MISSING, Unknown
from sgl_audit.kernels.flashinfer.declared import Evaluated
from sgl_audit.kernels.flashinfer.library import ModuleText
from sgl_audit.kernels.flashinfer.world import asking, device
from sgl_audit.syntax.comparing import COMPARE


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Any = _Unknown()
ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
CASTS: dict[str, Callable[[Any], Any]] = {"int": int, "tuple": tuple, "str": str}
# Functions that give the capability.
GIVES = ("get_device_capability", "get_compute_capability")


class Conditions:
    """Conditions inside one function of one module."""

    def __init__(self, done: Evaluated, text: ModuleText) -> None:
        self.done = done
        self.text = text
        self._local: dict[str, tuple[ast.expr, int | None]] = {}
        self._asked: dict[tuple[str, int], Any] = {}

    def assign(self, statement: ast.stmt) -> None:
        """Take note of what a statement binds; what it binds under a condition is unknown."""
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            if isinstance(target, ast.Name):
                self._local[target.id] = (statement.value, None)
                return
            if isinstance(target, ast.Tuple):
                for index, item in enumerate(target.elts):
                    if isinstance(item, ast.Name):
                        self._local[item.id] = (statement.value, index)
                return
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._local[node.id] = (ast.Constant(value=...), -1)

    def about_capability(self, test: ast.expr, depth: int = 0) -> bool:
        """Whether a condition asks the capability, directly or through a local name."""
        for node in ast.walk(test):
            name = getattr(node, "attr", getattr(node, "id", ""))
            if any(word in str(name) for word in ("_capability", "is_sm", "sm_version")):
                return True
            local = self._local.get(node.id) if isinstance(node, ast.Name) else None
            if local is not None and depth < 4 and self.about_capability(local[0], depth + 1):
                return True
        return False

    def truth(self, test: ast.expr, number: int) -> Any:
        """True, False or UNKNOWN."""
        value = self.value(test, number)
        return UNKNOWN if value is UNKNOWN else bool(value)

    def value(self, node: ast.expr, number: int) -> Any:
        """The value of an expression on that capability, or UNKNOWN."""
        try:
            return self._value(node, number)
        except (TypeError, ValueError, IndexError, KeyError, ZeroDivisionError, RecursionError):
            return UNKNOWN

    def _value(self, node: ast.expr, number: int) -> Any:
        match node:
            case ast.Constant():
                return UNKNOWN if node.value is ... else node.value
            case ast.Tuple() | ast.List() | ast.Set():
                items = [self.value(item, number) for item in node.elts]
                return UNKNOWN if UNKNOWN in items else tuple(items)
            case ast.BoolOp():
                return self._joined(node, number)
            case ast.UnaryOp(op=ast.Not()):
                inner = self.value(node.operand, number)
                return UNKNOWN if inner is UNKNOWN else not inner
            case ast.Compare():
                return self._compared(node, number)
            case ast.BinOp():
                left, right = self.value(node.left, number), self.value(node.right, number)
                known = left is not UNKNOWN and right is not UNKNOWN
                run = ARITHMETIC.get(type(node.op))
                return run(left, right) if known and run else UNKNOWN
            case ast.Subscript():
                owner, key = self.value(node.value, number), self.value(node.slice, number)
                return UNKNOWN if owner is UNKNOWN or key is UNKNOWN else owner[key]
            case ast.IfExp():
                test = self.truth(node.test, number)
                arm = node.body if test else node.orelse
                return UNKNOWN if test is UNKNOWN else self.value(arm, number)
            case ast.Name():
                return self._name(node, number)
            case ast.Call():
                return self._called(node, number)
        return UNKNOWN

    def _joined(self, node: ast.BoolOp, number: int) -> Any:
        stops = isinstance(node.op, ast.Or)
        values = [self.truth(item, number) for item in node.values]
        if stops in values:
            return stops
        return UNKNOWN if UNKNOWN in values else not stops

    def _compared(self, node: ast.Compare, number: int) -> Any:
        left = self.value(node.left, number)
        for kind, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, number)
            if left is UNKNOWN or right is UNKNOWN:
                return UNKNOWN
            if not COMPARE[type(kind)](left, right):
                return False
            left = right
        return True

    def _name(self, node: ast.Name, number: int) -> Any:
        if node.id not in self._local:
            value = self.done.library.literal(self.text, node)
            return UNKNOWN if value is None else value
        expression, index = self._local[node.id]
        value = self.value(expression, number)
        return value if value is UNKNOWN or index is None else value[index]

    def _called(self, node: ast.Call, number: int) -> Any:
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        if name in GIVES or name.removeprefix("_") in GIVES:
            return divmod(number, 10)
        if name in ("int", "tuple", "str") and len(node.args) == 1 and not node.keywords:
            value = self.value(node.args[0], number)
            return (
                UNKNOWN
                if value is UNKNOWN
                else {"int": int, "tuple": tuple, "str": str}[name](value)
            )
        if not isinstance(node.func, ast.Name) or node.func.id in self._local:
            return UNKNOWN
        key = (ast.unparse(node), number)
        if key not in self._asked:
            self._asked[key] = self._library_call(node, node.func.id, number)
        return self._asked[key]

    def _library_call(self, node: ast.Call, name: str, number: int) -> Any:
        found = self.done.library.resolve(f"{self.text.name}.{name}")
        module = self.done.load(found[0].name) if found is not None else None
        function = MISSING if module is None or found is None else module.ns.get(found[1], MISSING)
        if function is MISSING or node.keywords:
            return UNKNOWN
        with asking(self.done.session, number):
            args = [self._argument(item, number) for item in node.args]
            if any(item is UNKNOWN for item in args):
                return UNKNOWN
            answer = self.done.ask(function, *args)
        if isinstance(answer, Unknown) or not isinstance(answer, (bool, int, str, tuple)):
            return UNKNOWN
        return answer

    def _argument(self, node: ast.expr, number: int) -> Any:
        text = ast.unparse(node)
        if text.endswith("device") or text.startswith("torch.device("):
            return device(self.done.session, number)
        value = self.value(node, number)
        return list(value) if isinstance(node, ast.List) and value is not UNKNOWN else value
