"""PyTorch's values as Taeda's: tensors with their memory, dtypes, generators, functions, and containers of those.

Two makers share one walk: ``Copier`` copies into PyTorch itself, so that a call may write into its arguments, and
``Translator`` makes Taeda's counterpart. Within one maker equal objects stay one object and tensors that share memory
go on sharing it.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import torch

import taeda

# Where public functions and classes are looked for, the most specific first.
NAMESPACES = (
    "nn.functional", "linalg", "fft", "special", "signal.windows", "masked", "", "nn", "nn.init", "nn.attention",
    "functional", "autograd", "_C._nn",
)  # fmt: skip
_PLAIN = (bool, int, float, complex, str, bytes, slice, range, type(None), type(Ellipsis), type(NotImplemented))


class MissingError(Exception):
    """Taeda has no such name."""


def resolve(library: types.ModuleType, path: str) -> Any:
    """``library.path``, dot by dot; MissingError where a name is absent."""
    found: Any = library
    for part in filter(None, path.split(".")):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise MissingError(f"no {library.__name__}.{path}") from None
    return found


@functools.cache
def _names() -> dict[int, str]:
    """The public path of PyTorch's functions, classes and methods by identity."""
    names: dict[int, str] = {}
    for namespace in NAMESPACES:
        module = resolve(torch, namespace)
        for name, value in vars(module).items():
            if callable(value) or isinstance(value, types.ModuleType):
                names.setdefault(id(value), f"{namespace}.{name}".lstrip("."))
    for cls in reversed(torch.Tensor.__mro__[:-1]):
        for name, value in vars(cls).items():
            names.setdefault(id(value), f"Tensor.{name}")
    return names


def counterpart(value: Any) -> Any:
    """Taeda's callable, class or module of the same name; None where PyTorch's own has no public name."""
    if isinstance(value, torch._ops.OpOverload):
        return resolve(taeda.ops.aten, f"{value._schema.name.partition('::')[2]}.{value._overloadname}")
    if isinstance(value, torch._ops.OpOverloadPacket):
        return resolve(taeda.ops.aten, value.__name__)
    if isinstance(value, types.ModuleType):
        is_ours = value.__name__.split(".")[0] == "torch"
        return resolve(taeda, value.__name__.partition(".")[2]) if is_ours else value
    path = _names().get(id(value))
    return resolve(taeda, path) if path is not None else None


class _Globals(dict):
    """A function's globals, translated when they are looked up."""

    def __init__(self, original: dict[str, Any], translator: Translator) -> None:
        super().__init__(__builtins__=original.get("__builtins__", __builtins__))
        self.original, self.translator = original, translator

    def __missing__(self, name: str) -> Any:
        self[name] = self.translator(self.original[name])
        return self[name]


class _Maker:
    """Walks nested values; what it made of an object is kept, so that two references give one object."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}
        self.memory: dict[int, Any] = {}
        self.kept: list[Any] = []  # what ``made`` and ``memory`` are keyed by must stay alive

    def __call__(self, value: Any) -> Any:
        if isinstance(value, _PLAIN):
            return value
        if id(value) not in self.made:
            self.kept.append(value)
            self.made[id(value)] = self.make(value)
        return self.made[id(value)]

    def make(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self(type(value))(*map(self, value))
        if type(value) in (list, tuple, set, frozenset):
            return type(value)(map(self, value))
        if isinstance(value, dict):
            return {self(k): self(v) for k, v in value.items()}
        return self.other(value)

    def tensor(self, value: torch.Tensor) -> Any:
        if value.is_quantized or value.layout != torch.strided:
            made = self.quantized(value) if value.is_quantized else self.sparse(value)
            return made.requires_grad_(value.requires_grad)
        detached = value.detach().resolve_neg()
        made = self.strided(detached.conj()).conj() if detached.is_conj() else self.strided(detached)
        if value.requires_grad:
            made.requires_grad_()
        return made

    library: Any

    def sparse(self, value: torch.Tensor) -> Any:
        """A tensor of any sparse layout, of its parts."""
        layout, value = self(value.layout), value.detach()
        if value.layout == torch.sparse_coo:
            parts = self(value._indices()), self(value._values())
            return self.library.sparse_coo_tensor(*parts, tuple(value.shape), is_coalesced=value.is_coalesced())
        by_rows = value.layout in (torch.sparse_csr, torch.sparse_bsr)
        places = (value.crow_indices(), value.col_indices()) if by_rows else (value.ccol_indices(), value.row_indices())
        parts = (*map(self, places), self(value.values()))
        return self.library.sparse_compressed_tensor(*parts, tuple(value.shape), layout=layout)

    def quantized(self, value: torch.Tensor) -> Any:
        """A quantised tensor, of its integers."""
        if value.qscheme() == torch.per_tensor_affine:
            make = self.library._make_per_tensor_quantized_tensor
            return make(self(value.int_repr()), value.q_scale(), value.q_zero_point())
        make = self.library._make_per_channel_quantized_tensor
        scales = value.q_per_channel_scales(), value.q_per_channel_zero_points()
        return make(self(value.int_repr()), *map(self, scales), value.q_per_channel_axis())

    def strided(self, value: torch.Tensor) -> Any:
        raise NotImplementedError

    def other(self, value: Any) -> Any:
        raise NotImplementedError


class Copier(_Maker):
    """A copy within PyTorch."""

    library = torch

    def strided(self, value: torch.Tensor) -> torch.Tensor:
        if value.device.type != "cpu":
            return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
        storage = value.untyped_storage()
        if storage.data_ptr() not in self.memory or not storage.nbytes():
            self.kept.append(storage)
            self.memory[storage.data_ptr()] = storage.clone()
        memory = self.memory[storage.data_ptr()]
        made = torch.empty(0, dtype=value.dtype)
        return made.set_(memory, value.storage_offset(), value.shape, value.stride())

    def other(self, value: Any) -> Any:
        if isinstance(value, torch.Generator):
            return value.clone_state()
        return value


class Translator(_Maker):
    """Taeda's counterpart of a value."""

    library = taeda

    def strided(self, value: torch.Tensor) -> Any:
        if value.device.type != "cpu":
            return taeda.empty_strided(
                value.shape, value.stride(), dtype=self.other(value.dtype), device=self.other(value.device)
            )
        storage = value.untyped_storage()
        if storage.data_ptr() not in self.memory or not storage.nbytes():
            self.kept.append(storage)
            raw = torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),), (1,))
            self.memory[storage.data_ptr()] = taeda.tensor(raw.numpy()).untyped_storage()
        memory = self.memory[storage.data_ptr()]
        made = taeda.empty(0, dtype=self.other(value.dtype))
        return made.set_(memory, value.storage_offset(), tuple(value.shape), tuple(value.stride()))

    def other(self, value: Any) -> Any:
        if isinstance(value, torch.Size):
            return taeda.Size(value)
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return resolve(taeda, str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return taeda.device(str(value))
        if isinstance(value, torch.Generator):
            made = taeda.Generator()
            made.set_state(self(value.get_state()))
            return made
        if isinstance(value, functools.partial):
            return functools.partial(self(value.func), *map(self, value.args), **self(value.keywords))
        if callable(value) or isinstance(value, types.ModuleType):
            return self.named(value)
        if id(type(value)) in _names() and (slots := getattr(type(value), "__slots__", None)):
            return self.named(type(value))(**{name: self(getattr(value, name)) for name in slots})
        return value

    def named(self, value: Any) -> Any:
        """A function, class, module or op: the one of that name, else its code over translated globals."""
        if value is torch.testing._utils.freeze_rng_state:
            return taeda.random.fork_rng
        found = counterpart(value)
        if found is not None:
            return found
        if isinstance(value, types.FunctionType) and value.__module__.startswith("torch."):
            return self.rebuilt(value)
        if isinstance(value, torch.nn.Module):
            made = self(type(value))()
            vars(made).update({name: self(part) for name, part in vars(value).items() if not name.startswith("_")})
            return made
        return value

    def rebuilt(self, function: types.FunctionType) -> types.FunctionType:
        cells = tuple(types.CellType(self(cell.cell_contents)) for cell in function.__closure__ or ())
        made = types.FunctionType(
            function.__code__,
            _Globals(function.__globals__, self),
            function.__name__,
            self(function.__defaults__),
            cells,
        )
        made.__kwdefaults__ = self(function.__kwdefaults__)
        return made
