"""What PyTorch keeps in ``torch._higher_order_ops``, and in the modules of that package, one for each function."""

import importlib
import sys

from taeda._control_flow import associative_scan as associative_scan
from taeda._control_flow import cond as cond
from taeda._control_flow import map as map
from taeda._control_flow import scan as scan
from taeda._control_flow import while_loop as while_loop
from taeda._control_flow.auto_functionalize import auto_functionalized as auto_functionalized
from taeda._control_flow.auto_functionalize import auto_functionalized_v2 as auto_functionalized_v2
from taeda._control_flow.inline_asm_elementwise import inline_asm_elementwise as inline_asm_elementwise
from taeda._control_flow.out_dtype import out_dtype as out_dtype

__path__: list[str] = []  # a package, whose modules are these
for _name in (
    "associative_scan",
    "auto_functionalize",
    "cond",
    "inline_asm_elementwise",
    "map",
    "out_dtype",
    "scan",
    "while_loop",
):
    sys.modules[f"{__name__}.{_name}"] = importlib.import_module(f"taeda._control_flow.{_name}")
