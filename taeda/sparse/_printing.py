"""How sparse tensors print: their parts, then what there is to say of the whole."""

from __future__ import annotations

from collections.abc import Iterator

import taeda
from taeda import _C, Tensor
from taeda._tensor import printing
from taeda.sparse._parts import BY_ROWS, COO, stored


def _named_parts(x: Tensor) -> Iterator[tuple[str, Tensor]]:
    indices, plain, values = _C._sparse_parts(x)
    if x.layout == COO:
        yield "indices", indices
    else:
        first, second = ("crow_indices", "col_indices") if x.layout in BY_ROWS else ("ccol_indices", "row_indices")
        yield first, indices
        assert plain is not None
        yield second, plain
    yield "values", values


def _text(name: str, part: Tensor, indent: int) -> str:
    head = f"{name}=tensor("
    if part.is_meta:
        return f"{head}..., size={tuple(part.shape)})"
    if part.numel() == 0:
        return f"{head}[], size={tuple(part.shape)})"
    return head + printing._tensor_str(part, indent + len(head)) + ")"


def repr_of(x: Tensor, prefix: str, grad: list[str]) -> str:
    """``tensor(indices=..., values=..., size=..., nnz=..., layout=...)``."""
    indent = len(prefix)
    body = (",\n" + " " * indent).join(_text(name, part, indent) for name, part in _named_parts(x.detach()))
    suffixes = [f"size={tuple(x.shape)}", f"nnz={stored(x)}"]
    if x.device.type != "cpu":
        suffixes.append(f"device='{x.device}'")
    if not printing._dtype_is_obvious(x.dtype, taeda.get_default_dtype(), bool(_C._sparse_parts(x)[2].numel())):
        suffixes.append(f"dtype={printing._dtype_name(x.dtype)}")
    suffixes.append(f"layout=torch.{str(x.layout).rpartition('.')[2]}")
    if x.layout == COO:
        return (
            prefix
            + body
            + ",\n"
            + " " * indent
            + printing._join("", suffixes, indent)[2:]
            + "".join(f", {g}" for g in grad)
            + ")"
        )
    return printing._join(prefix + body, [*suffixes, *grad], indent) + ")"
