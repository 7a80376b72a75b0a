"""A module of a graph as a folder of Python and files of tensors, which a person can edit."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.fx._python_code import PythonCode

# Whose text is the call that makes them.
_SPELLED = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def write_folder(module: nn.Module, code: PythonCode, folder: str | os.PathLike[str], module_name: str) -> None:
    """Writes ``module.py`` with a class ``module_name``, ``__init__.py``, and the files that it loads.

    Args:
        module: the module.
        code: its ``forward``.
        folder: where to; it is made if need be.
        module_name: the class.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    taeda.save(module.state_dict(), folder / "state_dict.pt")
    library = "torch" if sys.modules.get("torch") is taeda else "taeda"
    lines = [
        "from math import inf, nan", "from pathlib import Path", "from types import NoneType", "",
        f"import {library} as torch", f"from {library} import device, nn",
        f"from {library}.fx import _pytree as fx_pytree", f"from {library}.utils import _pytree as pytree",
    ]  # fmt: skip
    lines += [f"from {v.__module__} import {v.__qualname__} as {k}" for k, v in code.globals.items() if _importable(v)]
    lines += ["", "_folder = Path(__file__).parent", "", "", f"class {module_name}(nn.Module):"]
    lines += ["    def __init__(self):", "        super().__init__()"]
    for name, value in _parts(module):
        lines.append(f"        {_statement(name, value, folder)}")
    lines.append("        self.load_state_dict(torch.load(_folder / 'state_dict.pt'))")
    lines += [f"    {line}" if line else "" for line in ["", *code.src.strip().splitlines()]]
    (folder / "module.py").write_text("\n".join(lines) + "\n")
    (folder / "__init__.py").write_text("from .module import *\n")


def _importable(value: Any) -> bool:
    """Whether a name that the code uses comes from a module, and is none that the file has anyway."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    return bool(module) and name.isidentifier() and module not in ("builtins", "types") and value is not taeda.device


def _parts(module: nn.Module) -> list[tuple[str, Any]]:
    plain = {k: v for k, v in vars(module).items() if isinstance(v, Tensor) or k == "_in_spec"}
    named = {**module._modules, **module._parameters, **module._buffers, **plain}
    return [(name, value) for name, value in named.items() if value is not None]


def _statement(name: str, value: Any, folder: Path) -> str:
    """The statement that makes an attribute anew."""
    if type(value) in _SPELLED:
        return f"self.{name} = nn.{value!r}"
    if isinstance(value, nn.Parameter):
        made = f"torch.empty({list(value.shape)}, dtype={value.dtype})"
        return f"self.{name} = nn.Parameter({made}, requires_grad={value.requires_grad})"
    file = f"{name}.pt"
    taeda.save(value, folder / file)
    loaded = f"torch.load(_folder / {file!r}, weights_only=False)"
    if isinstance(value, Tensor) and name:
        return f"self.register_buffer({name!r}, {loaded})"
    return f"self.{name} = {loaded}"
