"""Annotations are read by tools (command lines made from signatures, checkers at run time): their names resolve."""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Iterator
from typing import Any

import pytest

import taeda

MODULES = (
    "", "accelerator", "amp", "ao.quantization", "autograd", "cuda", "distributed", "distributed.fsdp",
    "distributed.tensor", "distributions", "export", "func", "fx", "hub", "jit", "library", "nested", "nn",
    "nn.functional", "nn.init", "nn.parallel", "nn.utils", "nn.utils.rnn", "onnx", "optim", "optim.lr_scheduler",
    "optim.swa_utils", "overrides", "package", "profiler", "random", "sparse", "testing", "utils.checkpoint",
    "utils.data",
)  # fmt: skip
# Two classes that know each other, in two files, and what another package would have to be loaded for.
CIRCULAR = {"Module", "Graph", "FunctionSchema", "setuptools"}


def functions(holder: Any) -> Iterator[Any]:
    """Public ones of a module or class, methods and properties too."""
    for name in getattr(holder, "__all__", None) or dir(holder):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        found = inspect.getattr_static(holder, name) if inspect.isclass(holder) else getattr(holder, name, None)
        found = getattr(found, "fget", None) or getattr(found, "__func__", found)
        if inspect.isfunction(found):
            yield found
        elif inspect.isclass(found) and not inspect.isclass(holder) and found.__module__.startswith("taeda"):
            yield from functions(found)


@pytest.mark.parametrize("name", MODULES)
def test_names_in_annotations_resolve(name: str) -> None:
    count = 0
    for function in functions(importlib.import_module(f"taeda.{name}".rstrip("."))):
        count += 1
        try:
            typing.get_type_hints(function)
        except NameError as error:
            assert error.name in CIRCULAR, f"{function.__module__}.{function.__qualname__}: {error}"
    assert count > 3


def test_sizes_and_devices() -> None:
    hints = typing.get_type_hints(taeda.nn.Conv2d.__init__)
    assert hints["kernel_size"] == int | tuple[int, int] and taeda.device in typing.get_args(hints["device"])
    assert typing.get_type_hints(taeda.nn.Linear.forward) == {"input": taeda.Tensor, "return": taeda.Tensor}
