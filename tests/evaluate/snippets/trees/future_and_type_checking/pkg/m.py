from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from pkg.nowhere import Never
def f(x: Never) -> Undefined:
    return x
class A:
    a: Missing = 1
out = f(1), A.a, A.__annotations__, f.__annotations__
