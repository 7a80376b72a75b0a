"""Copies whose elements are repeated, reversed or shifted."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v


@kernel(
    "repeat(Tensor self, SymInt[] repeats) -> Tensor",
    variants="method out",
    shape="repeat",
    files="rearrange",
    batch="repeat",
    samples=[S(f(2, 3), [2, 1]), S(f(3), [2, 2]), S(f(3), [0]), S(f(2, 3), [2])],
)
def repeat(self, repeats):
    """``self`` laid ``repeats[d]`` times side by side along each dimension; more repeats add dimensions in front."""


@repeat.backward
def _(grad, self, repeats):
    return {"self": op.repeat_backward(grad, self.sizes(), repeats)}


@composite(
    "repeat_backward(Tensor grad_output, SymInt[] input_sizes, SymInt[] repeats) -> Tensor",
    files="rearrange",
    unbound=True,
)
def repeat_backward(grad_output, input_sizes, repeats):
    """The sum over all repetitions."""


@composite(
    "tile(Tensor self, SymInt[] dims) -> Tensor",
    variants="function method",
    files="rearrange",
    samples=[S(f(2, 3), [2]), S(f(3), [2, 2])],
)
def tile(self, dims):
    """``repeat`` that takes missing numbers in front for 1."""


@kernel(
    "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
    variants="function method",
    shape="dynamic",
    files="rearrange",
    not_differentiable=True,
    samples=[S(v([1, 0, 2]))],
)
def repeat_positions(repeats, output_size):
    """Each position i of the 1-d integer tensor ``repeats``, repeats[i] times."""


@composite(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    variants="function method",
    files="rearrange",
    samples=[S(f(3, 2), v([1, 0, 2]), 0), S(f(2), v(2))],
)
def repeat_interleave(self, repeats, dim, output_size):
    """Each slice of ``dim`` as often as ``repeats`` says for it; without ``dim``, each element."""


@composite(
    "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    variants="function method",
    files="rearrange",
    samples=[S(f(3, 2), 2), S(f(3, 2), 2, 1)],
)
def repeat_interleave_each(self, repeats, dim, output_size):
    """Each slice of ``dim`` ``repeats`` times in a row; without ``dim``, each element."""


@kernel(
    "flip(Tensor self, int[] dims) -> Tensor",
    variants="function method out",
    shape="flip",
    files="rearrange",
    batch="flip",
    samples=[S(f(2, 3), [0]), S(f(2, 3), [0, -1]), S(f(2, 3), [0, 0])],
)
def flip(self, dims):
    """A copy with the order along ``dims`` reversed."""


@flip.backward
def _(grad, dims):
    return {"self": op.flip(grad, dims)}


@composite(
    "fliplr(Tensor self) -> Tensor", variants="function method", files="rearrange", samples=[S(f(2, 3)), S(f(3))]
)
def fliplr(self):
    """A copy with the order along dimension 1 reversed."""


@composite("flipud(Tensor self) -> Tensor", variants="function method", files="rearrange", samples="fliplr")
def flipud(self):
    """A copy with the order along dimension 0 reversed."""


@kernel(
    "roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
    variants="function method out",
    shape="roll",
    files="rearrange",
    batch="roll",
    samples=[S(f(2, 3), 1), S(f(2, 3), [1, -2], [0, 1]), S(f(2, 3), 5, 1), S(f(2, 3), [1, 2], [0])],
)
def roll(self, shifts, dims):
    """Elements moved by ``shifts`` along ``dims``, those pushed out coming in again; without ``dims``, as if flat."""


@roll.backward
def _(grad, shifts, dims):
    return {"self": op.roll_backward(grad, shifts, dims)}


@composite("roll_backward(Tensor grad_output, SymInt[] shifts, int[] dims) -> Tensor", files="rearrange", unbound=True)
def roll_backward(grad_output, shifts, dims):
    """``roll`` the other way."""


@composite(
    "rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
    variants="function method out",
    files="rearrange",
    samples=[S(f(2, 3)), S(f(2, 3), 3, [1, 0]), S(f(2, 3, 2), -1, [0, 2])],
)
def rot90(self, k, dims):
    """Rotated ``k`` quarter turns in the plane of two dimensions, from the first towards the second."""
