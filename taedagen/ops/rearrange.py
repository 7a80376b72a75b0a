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
    unbound=True,
)
def repeat_backward(grad_output, input_sizes, repeats):
    """The sum over all repetitions."""
    lead = len(repeats) - len(input_sizes)
    sizes: list[int] = []
    summed: list[int] = []
    for d, count in enumerate(repeats):
        if count == 0:
            return grad_output.new_zeros(input_sizes)
        if count != 1 or d < lead:
            summed.append(len(sizes))
            sizes.append(count)
        if d >= lead:
            sizes.append(input_sizes[d - lead])
    if len(summed) == 0:
        return grad_output
    return grad_output.reshape(sizes).sum(summed)


@composite(
    "tile(Tensor self, SymInt[] dims) -> Tensor",
    variants="function method",
    samples=[S(f(2, 3), [2]), S(f(3), [2, 2])],
)
def tile(self, dims):
    """``repeat`` that takes missing numbers in front for 1."""
    return self.repeat([*[1] * (self.dim() - len(dims)), *dims])


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
    samples=[S(f(3, 2), v([1, 0, 2]), 0), S(f(2), v(2))],
)
def repeat_interleave(self, repeats, dim, output_size):
    """Each slice of ``dim`` as often as ``repeats`` says for it; without ``dim``, each element."""
    given = self if dim is not None else self.flatten()
    given = given.unsqueeze(0) if given.dim() == 0 else given
    along = wrap_dim(dim if dim is not None else 0, given.dim())
    size = given.size(along)
    check(
        repeats.dim() <= 1,
        f"repeats must have at most one dimension; got shape {repeats.shape}",
    )
    counts = repeats
    if repeats.numel() == 1 and size != 1:
        counts = repeats.reshape([1]).expand([size])
    elif repeats.dim() == 0:
        counts = repeats.unsqueeze(0)
    check(
        counts.numel() == size,
        f"repeats must have one number, or one for each of the {size} slices of dimension {along}; got "
        f"{counts.numel()}",
    )
    return given.index_select(along, op.repeat_interleave(counts, output_size=output_size))


@composite(
    "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    variants="function method",
    samples=[S(f(3, 2), 2), S(f(3, 2), 2, 1)],
)
def repeat_interleave_each(self, repeats, dim, output_size):
    """Each slice of ``dim`` ``repeats`` times in a row; without ``dim``, each element."""
    check(repeats >= 0, f"repeats must not be negative; got {repeats}")
    given = self if dim is not None else self.flatten()
    given = given.unsqueeze(0) if given.dim() == 0 else given
    along = wrap_dim(dim if dim is not None else 0, given.dim())
    before, after = given.shape[:along], given.shape[along + 1 :]
    size = given.size(along)
    wide = given.unsqueeze(along + 1).expand([*before, size, repeats, *after]).clone(memory_format=contiguous_format)
    check(
        output_size is None or output_size == size * repeats,
        f"output_size is {output_size}, but there will be {size * repeats} slices",
    )
    return op._unsafe_view(wide, [*before, size * repeats, *after])


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


@composite("fliplr(Tensor self) -> Tensor", variants="function method", samples=[S(f(2, 3)), S(f(3))])
def fliplr(self):
    """A copy with the order along dimension 1 reversed."""
    check(
        self.dim() >= 2,
        f"takes a tensor with at least two dimensions; got shape {self.shape}",
    )
    return self.flip([1])


@composite("flipud(Tensor self) -> Tensor", variants="function method", samples="fliplr")
def flipud(self):
    """A copy with the order along dimension 0 reversed."""
    check(
        self.dim() >= 1,
        f"takes a tensor with at least one dimension; got shape {self.shape}",
    )
    return self.flip([0])


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


@composite("roll_backward(Tensor grad_output, SymInt[] shifts, int[] dims) -> Tensor", unbound=True)
def roll_backward(grad_output, shifts, dims):
    """``roll`` the other way."""
    for shift in shifts:
        check(shift >= -9223372036854775807, f"there is no shift back from {shift}")
    return grad_output.roll([-shift for shift in shifts], dims)


@composite(
    "rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
    variants="function method out",
    samples=[S(f(2, 3)), S(f(2, 3), 3, [1, 0]), S(f(2, 3, 2), -1, [0, 2])],
)
def rot90(self, k, dims):
    """Rotated ``k`` quarter turns in the plane of two dimensions, from the first towards the second."""
    check(len(dims) == 2, f"dims must name the two dimensions of a plane; got {dims}")
    check(
        self.dim() >= 2,
        f"takes a tensor with at least two dimensions; got shape {self.shape}",
    )
    start, towards = wrap_dim(dims[0], self.dim()), wrap_dim(dims[1], self.dim())
    check(start != towards, f"dims must name two dimensions; got {dims}")
    quarters = k % 4
    if quarters == 1:
        return self.flip([towards]).transpose(start, towards)
    if quarters == 2:
        return self.flip([start, towards])
    if quarters == 3:
        return self.flip([start]).transpose(start, towards)
    return self.clone(memory_format=contiguous_format)
