"""Neural networks: modules, the functions behind them, initial values, helpers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda.nn import functional as functional
from taeda.nn import init as init
from taeda.nn import modules as modules
from taeda.nn import parameter as parameter
from taeda.nn import utils as utils
from taeda.nn.modules import *  # noqa: F403
from taeda.nn.parameter import Buffer as Buffer
from taeda.nn.parameter import Parameter as Parameter
from taeda.nn.parameter import UninitializedBuffer as UninitializedBuffer
from taeda.nn.parameter import UninitializedParameter as UninitializedParameter

_LOADED_ON_FIRST_USE = (
    "DataParallel",
    "attention",
    "common_types",
    "grad",
    "intrinsic",
    "parallel",
    "qat",
    "quantizable",
    "quantized",
)


if TYPE_CHECKING:
    from taeda.nn import attention as attention
    from taeda.nn import common_types as common_types
    from taeda.nn import grad as grad
    from taeda.nn import intrinsic as intrinsic
    from taeda.nn import parallel as parallel
    from taeda.nn import qat as qat
    from taeda.nn import quantizable as quantizable
    from taeda.nn import quantized as quantized
    from taeda.nn.parallel import DataParallel as DataParallel
else:
    __all__ = [
        *modules.__all__,
        *_LOADED_ON_FIRST_USE,
        "Buffer",
        "Parameter",
        "UninitializedBuffer",
        "UninitializedParameter",
        "factory_kwargs",
        "functional",
        "init",
        "modules",
        "parameter",
        "utils",
    ]

    def __getattr__(name: str) -> Any:
        if name not in _LOADED_ON_FIRST_USE:
            from taeda._main.absent import missing

            raise missing(__name__, name)
        import importlib

        if name == "DataParallel":
            return importlib.import_module("taeda.nn.parallel").DataParallel
        return importlib.import_module(f"taeda.nn.{name}")


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """The device, dtype and memory_format among a constructor's keyword arguments; TypeError for any other.

    They may also stand in a dictionary ``factory_kwargs``, but none in both places.
    """
    if kwargs is None:
        return {}
    given = dict(kwargs)
    found = dict(given.pop("factory_kwargs", {}))
    unknown = given.keys() - {"device", "dtype", "memory_format"}
    if unknown:
        raise TypeError(f"taeda.nn.factory_kwargs: unexpected {sorted(unknown)}")
    twice = given.keys() & found.keys()
    if twice:
        raise TypeError(f"taeda.nn.factory_kwargs: {sorted(twice)} are given twice")
    return {**found, **given}
