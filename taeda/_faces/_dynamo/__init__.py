"""What programs say to the compiler under its inner name; see `taeda.compiler`, which says the same in public."""

from taeda._dynamo import config as config
from taeda._dynamo import eval_frame as eval_frame
from taeda._dynamo import exc as exc
from taeda._dynamo import utils as utils
from taeda._dynamo.eval_frame import is_dynamo_supported as is_dynamo_supported
from taeda.compiler import allow_in_graph as allow_in_graph
from taeda.compiler import assume_constant_result as assume_constant_result
from taeda.compiler import disable as disable
from taeda.compiler import is_compiling as is_compiling
from taeda.compiler import list_backends as list_backends
from taeda.compiler import reset as reset
from taeda.compiler import substitute_in_graph as substitute_in_graph
from taeda.compiler._eager import OptimizedModule as OptimizedModule
from taeda.compiler._eager import compile as _compile


def graph_break(msg: str = "") -> None:
    """Asks for graphs to end here: there are none."""


def optimize(backend: object = "inductor", *, nopython: bool = False, dynamic: bool | None = None) -> object:
    """The old way to write ``taeda.compile`` as a decorator."""
    return _compile(backend=backend, fullgraph=nopython, dynamic=dynamic)  # type: ignore[arg-type]


# What programs tell the compiler about the sizes and the memory of a tensor. While nothing is compiled, nobody asks.


def mark_static_address(t: object, guard: bool = False) -> None:
    """Promises that ``t`` stays where it is in memory."""


def mark_static(t: object, index: object = None) -> None:
    """Promises that the sizes of ``t``, or one of them, will always be the same."""


def mark_dynamic(t: object, index: object, **bounds: object) -> None:
    """Says that a size of ``t`` will change."""


def maybe_mark_dynamic(t: object, index: object) -> None:
    """Says that a size of ``t`` may change."""


def disallow_in_graph(fn: object) -> object:
    """Says that graphs must not hold calls of ``fn``, a function or a list of them; gives it back."""
    return fn
