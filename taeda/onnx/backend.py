"""ONNX's backend interface: ``prepare``, ``run_model``, ``run_node``, ``supports_device``."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.onnx.reader.model import OnnxModule, load
from taeda.onnx.reader.values import UnsupportedOp, from_numpy, onnx_package, to_numpy

__all__ = ["TaedaBackendRep", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]


class TaedaBackendRep:
    """A model that is ready to run."""

    def __init__(self, module: OnnxModule, device: str) -> None:
        self.module, self.device = module, device

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs it on NumPy arrays, given in order or by name; returns the outputs as arrays."""
        values = (
            inputs.values() if isinstance(inputs, dict) else inputs if isinstance(inputs, (list, tuple)) else [inputs]
        )
        given = [_given(value, self.device) for value in values]
        with taeda.no_grad():
            names = list(inputs) if isinstance(inputs, dict) else None
            result = self.module(**dict(zip(names, given))) if names is not None else self.module(*given)
        results = result if isinstance(result, tuple) else (result,)
        return tuple(to_numpy(value) for value in results)


def _given(value: Any, device: str) -> Any:
    if isinstance(value, list):
        return [_given(item, device) for item in value]
    if value is None:
        return None
    made = from_numpy(value)
    return made.to(device) if isinstance(made, Tensor) else made


def _device(name: str) -> str:
    return name.lower().partition(":")[0]


def supports_device(device: str) -> bool:
    """Whether models can run on ``"CPU"``, ``"CUDA"`` and the like."""
    kind = _device(device)
    return kind == "cpu" or (kind == "cuda" and taeda.cuda.is_available())


def is_compatible(model: Any, device: str = "CPU", **kwargs: Any) -> bool:
    """Whether every op of the model is known."""
    try:
        load(model)
    except UnsupportedOp:
        return False
    return supports_device(device)


def prepare(model: Any, device: str = "CPU", **kwargs: Any) -> TaedaBackendRep:
    """Makes a model ready to run.

    Raises:
        UnsupportedOp: it has an op that is not known.
        onnx.checker.ValidationError: it is not valid.
    """
    onnx_package().checker.check_model(model)
    module = load(model, device=_device(device))
    return TaedaBackendRep(module.eval(), _device(device))


def run_model(model: Any, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
    """Runs a model on arrays."""
    return prepare(model, device, **kwargs).run(inputs)


def run_node(node: Any, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any) -> tuple[Any, ...]:
    """Runs one node on arrays."""
    onnx = onnx_package()
    helper = onnx.helper
    values = list(inputs.values()) if isinstance(inputs, dict) else list(inputs)
    names = [name for name in node.input if name]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in zip(names, values)
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    version = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
    opsets = [helper.make_opsetid("", version)]
    if node.domain:
        opsets.append(helper.make_opsetid(node.domain, kwargs.get("domain_version", 1)))
    model = helper.make_model(helper.make_graph([node], "node", infos, outputs), opset_imports=opsets)
    return TaedaBackendRep(load(model, device=_device(device)).eval(), _device(device)).run(values)
