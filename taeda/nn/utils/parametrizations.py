"""Ready-made parametrizations: orthogonal matrices, weights of a given length, weights of spectral norm 1."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn.modules.module import Module
from taeda.nn.utils import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_NAME = "taeda.nn.utils.parametrizations"
_MAPS = ("matrix_exp", "cayley", "householder")


def _weight_of(module: Module, name: str, function: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"{_NAME}.{function}: {type(module).__name__} has no parameter or buffer '{name}'")
    return weight


def _is_orthogonal(matrix: Tensor) -> bool:
    """Whether the columns are orthonormal up to rounding."""
    size, eps = matrix.size(-1), taeda.finfo(matrix.dtype).eps
    product = matrix.mH @ matrix
    return bool(((product - taeda.eye(size, dtype=matrix.dtype, device=matrix.device)).abs() < 10 * size * eps).all())


def _orthonormalised(matrix: Tensor) -> Tensor:
    """The orthonormal factor whose triangular one has a positive diagonal."""
    q, r = taeda.linalg.qr(matrix)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _reflections(vectors: Tensor, scale: Tensor) -> Tensor:
    """The first columns of the product of ``I - scale[i] v v^T``; v stands below the diagonal, with a one on it."""
    n, k = vectors.shape[-2:]
    ones = taeda.eye(n, k, dtype=vectors.dtype, device=vectors.device)
    all_v, result = vectors + ones, ones.expand_as(vectors)
    for i in range(k - 1, -1, -1):
        v = all_v[..., i : i + 1]
        result = result - scale[..., i, None, None] * v * (v.mT @ result)
    return result


def _reflectors(matrix: Tensor) -> Tensor:
    """The inverse of `_reflections` for orthonormal columns: v below the diagonal, a sign for each column on it."""
    rest, result = matrix.clone(), taeda.zeros_like(matrix)
    for i in range(matrix.size(-1)):
        column = rest[..., i:, i]
        head, tail = column[..., :1], column[..., 1:]
        length = column.norm(dim=-1, keepdim=True) * taeda.where(head < 0, -1, 1)
        trivial = (tail == 0).all(-1, keepdim=True)
        v = taeda.where(trivial, 0, tail / taeda.where(trivial, 1, head + length))
        full = taeda.cat([taeda.ones_like(head), v], -1).unsqueeze(-1)
        scale = (2 / full.pow(2).sum(-2, keepdim=True)) * ~trivial.unsqueeze(-1)
        rest[..., i:, :] = rest[..., i:, :] - scale * full * (full.mT @ rest[..., i:, :])
        result[..., i + 1 :, i] = v
        # The forward map reflects along every vector, the zero one too, which turns its column's sign.
        result[..., i, i] = rest[..., i, i].sign() * taeda.where(trivial.squeeze(-1), -1, 1)
    return result


class _Orthogonal(Module):
    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError(f"{_NAME}.orthogonal: the map 'householder' is for real tensors; got {weight.dtype}")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def _from_skew(self, x: Tensor) -> Tensor:
        n, k = x.shape[-2:]
        lower = F.pad(x.tril(), (0, n - k)) if n != k else x.tril()
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            result = taeda.matrix_exp(skew)
        else:
            one = taeda.eye(n, dtype=skew.dtype, device=skew.device)
            result = taeda.linalg.solve(one - 0.5 * skew, one + 0.5 * skew)
        return result[..., :k]

    def forward(self, x: Tensor) -> Tensor:
        wide = x.size(-2) < x.size(-1)
        if wide:
            x = x.mT
        if self.orthogonal_map == "householder":
            below = x.tril(-1)
            result = _reflections(below, 2 / (1 + below.pow(2).sum(-2)))
            result = result * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            result = self._from_skew(x)
        if hasattr(self, "base"):
            result = self.base @ result
        return result.mT if wide else result

    @taeda.no_grad()
    def right_inverse(self, value: Tensor) -> Tensor:
        if value.shape != self.shape:
            raise ValueError(f"{_NAME}.orthogonal: expected the shape {tuple(self.shape)}; got {tuple(value.shape)}")
        wide = value.size(-2) < value.size(-1)
        tall = value.mT if wide else value
        n, k = tall.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    f"{_NAME}.orthogonal: with the map '{self.orthogonal_map}' and use_trivialization=False the tensor "
                    "cannot be assigned"
                )
            result = _reflectors(tall)
            return result.mT if wide else result
        if n == k:
            self.base = tall.clone() if _is_orthogonal(tall) else _orthonormalised(tall)
        else:
            noise = taeda.randn(*tall.shape[:-1], n - k, dtype=tall.dtype, device=tall.device)
            self.base = _orthonormalised(taeda.cat([tall, noise], -1))
        # The forward map takes this to the first columns of ``base``, whichever of the maps it is.
        result = taeda.zeros_like(value)
        result.diagonal(dim1=-2, dim2=-1).fill_(-1)
        return result


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Makes a matrix (or batch of matrices) orthogonal, or of orthonormal rows or columns; returns the module.

    Args:
        orthogonal_map: matrix_exp, cayley (both of a skew-symmetric matrix) or householder (reflections); None for the
            first for square and complex tensors and the last for others.
        use_trivialization: whether to start from the present value, which costs a matrix and its product.

    Raises:
        ValueError: there is no such tensor, it has less than 2 dimensions, or the map is unknown.
    """
    weight = _weight_of(module, name, "orthogonal")
    if weight.dim() < 2:
        raise ValueError(f"{_NAME}.orthogonal: a matrix or more is wanted; got {weight.dim()} dimensions")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(f"{_NAME}.orthogonal: orthogonal_map must be one of {_MAPS}; got {orthogonal_map!r}")
    parametrization = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, parametrization, unsafe=True)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return taeda._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return taeda.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Makes a weight a length (``original0``) times a direction (``original1``); returns the module.

    States of the hook `taeda.nn.utils.weight_norm` load too.

    Args:
        dim: the dimension of which each index has a length of its own; None for one length of all.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(
        state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing: Any, unexpected: Any, errors: Any
    ) -> None:
        old = [f"{prefix}{name}_{letter}" for letter in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.dim() <= dim < weight.dim():
            raise IndexError(f"{_NAME}.spectral_norm: dimension {dim} is out of range for {weight.dim()} dimensions")
        if n_power_iterations <= 0:
            raise ValueError(f"{_NAME}.spectral_norm: n_power_iterations must be positive; got {n_power_iterations}")
        self.dim = dim if dim >= 0 else dim + weight.dim()
        self.eps = eps
        if weight.dim() > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._as_matrix(weight)
            height, width = matrix.shape
            for side, size in (("_u", height), ("_v", width)):
                start = matrix.new_empty(size).normal_(0, 1)
                self.register_buffer(side, F.normalize(start, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _as_matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    @taeda.no_grad()
    def _power_method(self, matrix: Tensor, iterations: int) -> None:
        for _ in range(iterations):
            self._u = F.normalize(taeda.mv(matrix, self._v), dim=0, eps=self.eps, out=self._u)
            self._v = F.normalize(taeda.mv(matrix.H, self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # The vectors change in place at the next step; this one's gradient needs them as they are.
        u, v = self._u.clone(), self._v.clone()
        return weight / taeda.vdot(u, taeda.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divides a weight by its largest singular value, found by the power method; returns the module.

    Args:
        n_power_iterations: steps of the method in each forward in training mode.
        dim: the dimension that becomes the rows of a matrix; None for 0, or 1 for transposed convolutions.
    """
    weight = _weight_of(module, name, "spectral_norm")
    if dim is None:
        dim = 1 if _is_transposed(module) else 0
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


def _is_transposed(module: Module) -> bool:
    from taeda.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d

    return isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d))
