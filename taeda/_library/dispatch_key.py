"""``_C.DispatchKey``: the names of the dispatch keys as an enumeration."""

from __future__ import annotations

import enum

_BACKENDS = ("CPU", "CUDA", "XPU", "MPS", "Meta", "PrivateUse1", "PrivateUse2", "PrivateUse3")
_PER_BACKEND = ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd", "Autocast")
_OVERALL = (
    "CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Autograd",
    "Conjugate", "Negative", "BackendSelect", "ADInplaceOrView", "PythonTLSSnapshot", "Python",
    "FuncTorchDynamicLayerFrontMode", "FuncTorchDynamicLayerBackMode", "FuncTorchBatched", "Functionalize",
)  # fmt: skip
_NAMES = (*_OVERALL, *(f"{layer}{backend}" for layer in _PER_BACKEND for backend in _BACKENDS))

# A member is a str, its own name: it goes wherever a key is named by text.
DispatchKey = enum.Enum("DispatchKey", [(name, name) for name in _NAMES], type=str, module="taeda._C")  # type: ignore[misc]
