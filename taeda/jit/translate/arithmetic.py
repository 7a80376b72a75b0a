"""Functions of numbers that are one instruction each."""

from __future__ import annotations

# function -> (instruction, kinds of its operands; swapped or not). i: as it is, f: as a float.
DIRECT: dict[str, tuple[str, str, bool]] = {}
# A comparison that a branch can do by itself.
BRANCHES = {"lt.i", "le.i", "eq.i", "ne.i", "lt.f", "le.f"}

for _name, _sign in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("floordiv", "floordiv"), ("remainder", "mod")):
    DIRECT[f"aten::{_name}.int"] = (f"{_sign}.i", "ii", False)
    for _overload in ("float", "int_float", "float_int"):
        DIRECT[f"aten::{_name}.{_overload}"] = (f"{_sign}.f", "ff", False)
for _function in ("aten::div", "aten::div.int", "aten::div.float"):  # the first one of numbers of two kinds
    DIRECT[_function] = ("div.f", "ff", False)
for _name, _sign, _swapped in (("lt", "lt", False), ("le", "le", False), ("gt", "lt", True), ("ge", "le", True),
                               ("eq", "eq", False), ("ne", "ne", False)):  # fmt: skip
    DIRECT[f"aten::{_name}.int"] = (f"{_sign}.i", "ii", _swapped)
    for _overload in ("float", "int_float", "float_int"):
        DIRECT[f"aten::{_name}.{_overload}"] = (f"{_sign}.f", "ff", _swapped)
DIRECT["aten::eq.bool"], DIRECT["aten::ne.bool"] = ("eq.i", "ii", False), ("ne.i", "ii", False)
for _name in ("and", "or", "xor"):
    for _overload in ("int", "bool"):
        DIRECT[f"aten::__{_name}__.{_overload}"] = (f"{_name}.i", "ii", False)
DIRECT |= {
    "aten::neg.int": ("neg.i", "i", False),
    "aten::neg.float": ("neg.f", "f", False),
    "aten::__not__": ("not", "i", False),
    "aten::Float.int": ("float", "i", False),
    "aten::Float.bool": ("float", "i", False),
    "aten::Int.float": ("int", "f", False),
    "aten::Int.bool": ("copy", "i", False),
    "aten::Bool.int": ("bool.i", "i", False),
    "aten::Bool.float": ("bool.f", "f", False),
}
# Functions with an instruction of their own on other values.
SHORT = {
    "aten::len.t": "len",
    "aten::__getitem__.t": "item",
    "aten::select.t": "item",
    "aten::size.int": "size",
}
