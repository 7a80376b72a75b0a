"""Images sampled at points. A point's coordinates run from -1 to 1 over the image, the last dimension first.

Modes of interpolation: 0 linear, 1 nearest, 2 cubic. Beyond the image: 0 zeros, 1 the border's pixels, 2 mirrored.
With ``align_corners`` -1 and 1 are the centres of the outermost pixels, else their outer edges.
"""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@composite(
    "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
    files="grid_sampler",
    autocast="fp32",
)
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """``input`` (N, C, H, W) or (N, C, D, H, W) at the points ``grid`` (N, ..., 2 or 3)."""


grid_sampler.samples([
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 0, 0, True),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 0, 0, False),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 0, 1, True),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 0, 1, False),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 0, 2, True),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 0, 2, False),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 1, 0, True),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 1, 0, False),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 1, 1, True),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 1, 1, False),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 1, 2, True),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 1, 2, False),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 2, 0, True),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 2, 0, False),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 2, 1, True),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 2, 1, False),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 2, 2, True),
    S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), 2, 2, False),
])  # fmt: skip


@kernel(
    "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) "
    "-> Tensor",
    variants="function out",
    shape="grid_sampler_2d",
    files="grid_sampler",
    autocast="fp32",
    batch="folded",
    samples="grid_sampler",
)
def grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners):
    """``input`` (N, C, H, W) at the points ``grid`` (N, H', W', 2): (N, C, H', W')."""


@grid_sampler_2d.backward
def _(grad, input, grid, interpolation_mode, padding_mode, align_corners, needs):
    g = op.grid_sampler_2d_backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, needs)
    return {"input": g[0], "grid": g[1]}


@kernel(
    "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) "
    "-> Tensor",
    variants="function out",
    shape="grid_sampler_3d",
    files="grid_sampler",
    autocast="fp32",
    batch="folded",
)
def grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners):
    """``input`` (N, C, D, H, W) at the points ``grid`` (N, D', H', W', 3): (N, C, D', H', W')."""


@grid_sampler_3d.backward
def _(grad, input, grid, interpolation_mode, padding_mode, align_corners, needs):
    g = op.grid_sampler_3d_backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, needs)
    return {"input": g[0], "grid": g[1]}


grid_sampler_3d.samples(
    [
        S(f(1, 2, 3, 2, 3), f(1, 2, 2, 2, 3, low=-1.4, high=1.4), mode, pad, flag)
        for mode, pad, flag in ((0, 0, True), (0, 1, False), (0, 2, False), (1, 0, True), (1, 2, False))
    ]
)


@composite(
    "grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
    files="grid_sampler",
    unbound=True,
)
def grid_sampler_2d_backward(
    grad_output,
    input,
    grid,
    interpolation_mode,
    padding_mode,
    align_corners,
    output_mask,
):
    """The gradients of ``grid_sampler_2d`` for input and grid, where ``output_mask`` asks for them."""


@composite(
    "grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
    files="grid_sampler",
    unbound=True,
)
def grid_sampler_3d_backward(
    grad_output,
    input,
    grid,
    interpolation_mode,
    padding_mode,
    align_corners,
    output_mask,
):
    """The gradients of ``grid_sampler_3d`` for input and grid, where ``output_mask`` asks for them."""


@kernel(
    "grid_sampler_grads(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
    shape="grid_sampler_grads",
    files="grid_sampler",
    unbound=True,
    not_differentiable=True,
    batch="folded",
)
def grid_sampler_grads(
    grad_output,
    input,
    grid,
    interpolation_mode,
    padding_mode,
    align_corners,
    output_mask,
):
    """The fused form of both gradients."""


@composite(
    "_grid_sampler_2d_cpu_fallback(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners) -> Tensor",
    variants="function out",
    autocast="fp32",
    samples=[S(f(1, 2, 3, 3, dtype="float32"), f(1, 2, 2, 2, low=-1.2, high=1.2, dtype="float32"), 0, 0, True)],
)
def _grid_sampler_2d_cpu_fallback(input, grid, interpolation_mode, padding_mode, align_corners):
    """``grid_sampler_2d``."""
    return op.grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)


@composite(
    "affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
    variants="function out",
    files="grid_sampler",
)
def affine_grid_generator(theta, size, align_corners):
    """The points of an image of ``size`` (N, C, ...), moved by the affine maps ``theta`` (N, 2, 3) or (N, 3, 4)."""


@affine_grid_generator.backward
def _(grad, size, align_corners):
    return {"theta": op.affine_grid_generator_backward(grad, size, align_corners)}


affine_grid_generator.samples(
    [S(f(2, 2, 3), [2, 1, 4, 5], flag) for flag in (True, False)]
    + [S(f(1, 3, 4), [1, 1, 2, 1, 3], True), S(f(1, 2, 3), [2, 1, 4, 5], True)]
)


@composite(
    "affine_grid_generator_backward(Tensor grad, SymInt[] size, bool align_corners) -> Tensor",
    files="grid_sampler",
    unbound=True,
)
def affine_grid_generator_backward(grad, size, align_corners):
    """The gradient of the maps, which the points depend on linearly."""
