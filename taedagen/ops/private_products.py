"""Products and sums that PyTorch keeps for its own modules, and that programs call by their private names."""

import math

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v


@composite(
    "_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool use_gelu=False) "
    "-> Tensor",
    variants="function method out",
    out="same",
    samples=[S(f(2, 4), f(2, 3), f(3, 4)), S(f(4), f(2, 3), f(3, 4), use_gelu=True)],
)
def _addmm_activation(self, mat1, mat2, beta, alpha, use_gelu):
    """``relu`` of ``addmm``, or with ``use_gelu`` its ``gelu``."""
    product = op.addmm(self, mat1, mat2, beta=beta, alpha=alpha)
    if use_gelu:
        return op.gelu(product)
    return op.relu(product)


@composite(
    "_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    variants="function out",
    scalar={"Scalar": "other"},
    out_overload={"Tensor": "out"},
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 3), f(3), alpha=2)],
)
def _add_relu(self, other, alpha):
    """``relu`` of ``self + alpha * other``."""
    return op.relu(op.add(self, other, alpha=alpha))


@composite(
    "_masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor",
    samples=[
        S(f(2, 3, 2, 2), v([[True, False], [False, False]]), 3, 0),
        S(f(2, 3, 4, 2), v([[True, False]] * 2), 3, 1),
    ],
)
def _masked_softmax(self, mask, dim, mask_type):
    """The softmax over the elements where ``mask`` is False; NaN where none is.

    ``mask_type`` 0 is an (L, L) mask for all of (B, H, L, L), 1 a (B, L) mask of keys, 2 one of ``self``'s shape.
    """
    check(mask.dtype == bool_, f"mask must be bool; got {mask.dtype}")
    if mask_type == 0 and mask.dim() == 2:
        return op._masked_softmax(self, mask.expand(self.shape), dim, 2)
    if mask_type == 1 and mask.dim() == 2 and self.dim() == 4:
        return op._masked_softmax(self, op.reshape(mask, [mask.size(0), 1, 1, mask.size(1)]).expand(self.shape), dim, 2)
    along = self.dim() - 1 if dim is None else dim
    return op.softmax(op.masked_fill(self, mask, -math.inf), along)


@composite(
    "_compute_linear_combination(Tensor input, Tensor coefficients) -> Tensor",
    dtypes=FLOATING,
    samples=[S(f(3, 2, 2), f(4, 3)), S(f(2, 3), f(1, 2))],
)
def _compute_linear_combination(input, coefficients):
    """Sums of the ``m`` tensors in ``input`` (m, *), one for each row of ``coefficients`` (n, m): (n, *)."""
    check(
        input.dim() > 0 and coefficients.dim() == 2 and coefficients.size(1) == input.size(0),
        f"coefficients must have a column for each tensor in input; got shapes {coefficients.shape} and {input.shape}",
    )
    rows = op.reshape(input, [input.size(0), -1 if input.numel() > 0 else 0])
    sums = op.mm(op._to_copy(coefficients, dtype=input.dtype), rows)
    return op.reshape(sums, [coefficients.size(0), *input.shape[1:]])


@composite(
    "_compute_linear_combination.out(Tensor input, Tensor coefficients, *, Tensor(a!) out) -> Tensor(a!)",
    dtypes=FLOATING,
    samples=[S(f(3, 2, 2), f(4, 3), out=f(4, 2, 2))],
)
def _compute_linear_combination_out(input, coefficients, out):
    """Adds the sums to what ``out`` holds."""
    out.add_(op._compute_linear_combination(input, coefficients))
    return out
