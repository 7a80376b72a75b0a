"""Each op through ``onnx.export`` and ONNX Runtime against eager, where ONNX can say it."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from declared import Op, base_ops, find, report, samples_of, seed_for

import taeda
from taeda import Tensor, nn
from taeda.onnx.errors import OnnxExporterError
from taeda.testing._samples import make
from taeda.utils import _pytree as pytree
from taedagen.opdef.samples import Sample

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

SAMPLES = 2
RANDOM = {"random", "dropout", "create"}


def is_plain(sample: Sample) -> bool:
    """Whether it is small, and of types that runtimes compute in."""
    kinds = {x.dtype for x in sample.fills}
    return bool(kinds) and kinds <= {"float32", "int64", "bool"} and all(s <= 64 for x in sample.fills for s in x.shape)


OPS = [op for op in base_ops() if op.variant == "functional" and op.declaration.family not in RANDOM
       and any(map(is_plain, samples_of(op)))]  # fmt: skip


class Call(nn.Module):
    """A call of an op, whose tensors are inputs."""

    def __init__(self, function: Any, args: Any, kwargs: Any) -> None:
        super().__init__()
        self.function = function
        self.leaves, self.spec = pytree.tree_flatten((tuple(args), kwargs))

    def forward(self, *tensors: Tensor) -> Any:
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, Tensor) else leaf for leaf in self.leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        return self.function(*args, **kwargs)


def difference(op: Op, sample: Sample) -> str | None:
    """How ONNX Runtime's results differ from eager ones; None if they do not, or nothing says the call."""
    args, kwargs = make(sample, taeda, seed_for(op))
    module = Call(find(taeda, op.schema.name, op.schema.overload), args, kwargs).eval()
    tensors = tuple(leaf for leaf in module.leaves if isinstance(leaf, Tensor))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module(*tensors)
        except Exception:
            return None
        try:
            program = taeda.onnx.export(module, tensors, verify=False)
        except (OnnxExporterError, taeda.export.errors.UserError):
            return None
        return program.difference()


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.schema.full_name)
def test_numbers_are_those_of_eager(op: Op) -> None:
    plain = [sample for sample in samples_of(op) if is_plain(sample)]
    found = (difference(op, sample) for sample in plain[:SAMPLES])
    report(op, [said for said in found if said is not None])
