"""Resizing of images, one dimension after another. Inputs are (N, C, ...)."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f

# Modes: 0 nearest, 1 nearest-exact, 2 linear, 3 cubic, 4 and 5 the last two averaging over all pixels when shrinking.


@kernel(
    "resample(Tensor self, int dim, int size, int mode, bool align_corners, float? scale) -> Tensor",
    shape="resample",
    files="upsample",
    unbound=True,
    batch="along",
)
def resample(self, dim, size, mode, align_corners, scale):
    """``self`` with dimension ``dim`` resized to ``size``; ``scale`` is the factor, if that is not the sizes' ratio."""


@resample.backward
def _(grad, self, dim, mode, align_corners, scale):
    return {"self": op.resample_backward(grad, dim, self.size(dim), mode, align_corners, scale)}


@kernel(
    "resample_backward(Tensor upper, int dim, int size, int mode, bool align_corners, float? scale) -> Tensor",
    shape="resample_backward",
    files="upsample",
    unbound=True,
    batch="along",
)
def resample_backward(upper, dim, size, mode, align_corners, scale):
    """The gradient of ``resample`` for an input with ``size`` along ``dim``."""


@resample_backward.backward
def _(grad, upper, dim, mode, align_corners, scale):
    return {"upper": op.resample(grad, dim, upper.size(dim), mode, align_corners, scale)}


@composite(
    "upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
    samples=[S(f(2, 3, 4), [8]), S(f(2, 3, 4), [7]), S(f(2, 3, 4), [2])],
)
def upsample_nearest1d(self, output_size, scales):
    """The last 1 dimension resized to ``output_size`` by the nearest pixel, rounding down."""


@composite(
    "upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
    module="nn",
    files="upsample",
)
def upsample_nearest1d_vec(input, output_size, scale_factors):
    """The last 1 dimension resized to ``output_size``, or by ``scale_factors``, by the nearest pixel, rounding down."""


upsample_nearest1d_vec.samples([
    S(f(2, 3, 4), [8], None), S(f(2, 3, 4), [7], None), S(f(2, 3, 4), [2], None), S(f(2, 3, 4), None, [2.0]),
    S(f(2, 3, 4), None, [1.6]), S(f(2, 3, 4), None, [0.5]),
])  # fmt: skip


@composite(
    "upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
    samples=[S(f(2, 3, 4, 4), [8, 8]), S(f(2, 3, 4, 4), [7, 7]), S(f(2, 3, 4, 4), [2, 2])],
)
def upsample_nearest2d(self, output_size, scales_h, scales_w):
    """The last 2 dimensions resized to ``output_size`` by the nearest pixel, rounding down."""


@composite(
    "upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
    module="nn",
    files="upsample",
)
def upsample_nearest2d_vec(input, output_size, scale_factors):
    """The last 2 dimensions resized to ``output_size``, or by ``scale_factors``, by the nearest pixel, rounding
    down."""


upsample_nearest2d_vec.samples([
    S(f(2, 3, 4, 4), [8, 8], None), S(f(2, 3, 4, 4), [7, 7], None), S(f(2, 3, 4, 4), [2, 2], None),
    S(f(2, 3, 4, 4), None, [2.0, 2.0]), S(f(2, 3, 4, 4), None, [1.6, 1.6]), S(f(2, 3, 4, 4), None, [0.5, 0.5]),
])  # fmt: skip


@composite(
    "upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? "
    "scales_w=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
    samples=[S(f(2, 3, 4, 4, 4), [8, 8, 8]), S(f(2, 3, 4, 4, 4), [7, 7, 7]), S(f(2, 3, 4, 4, 4), [2, 2, 2])],
)
def upsample_nearest3d(self, output_size, scales_d, scales_h, scales_w):
    """The last 3 dimensions resized to ``output_size`` by the nearest pixel, rounding down."""


@composite(
    "upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
    module="nn",
    files="upsample",
)
def upsample_nearest3d_vec(input, output_size, scale_factors):
    """The last 3 dimensions resized to ``output_size``, or by ``scale_factors``, by the nearest pixel, rounding
    down."""


upsample_nearest3d_vec.samples([
    S(f(2, 3, 4, 4, 4), [8, 8, 8], None), S(f(2, 3, 4, 4, 4), [7, 7, 7], None),
    S(f(2, 3, 4, 4, 4), [2, 2, 2], None), S(f(2, 3, 4, 4, 4), None, [2.0, 2.0, 2.0]),
    S(f(2, 3, 4, 4, 4), None, [1.6, 1.6, 1.6]), S(f(2, 3, 4, 4, 4), None, [0.5, 0.5, 0.5]),
])  # fmt: skip


@composite(
    "_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
    samples="upsample_nearest1d",
)
def _upsample_nearest_exact1d(self, output_size, scales):
    """The last 1 dimension resized to ``output_size`` by the nearest pixel."""


@composite(
    "_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
    module="nn",
    files="upsample",
    samples="upsample_nearest1d.vec",
)
def _upsample_nearest_exact1d_vec(input, output_size, scale_factors):
    """The last 1 dimension resized to ``output_size``, or by ``scale_factors``, by the nearest pixel."""


@composite(
    "_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> "
    "Tensor",
    variants="function out",
    module="nn",
    files="upsample",
    samples="upsample_nearest2d",
)
def _upsample_nearest_exact2d(self, output_size, scales_h, scales_w):
    """The last 2 dimensions resized to ``output_size`` by the nearest pixel."""


@composite(
    "_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
    module="nn",
    files="upsample",
    samples="upsample_nearest2d.vec",
)
def _upsample_nearest_exact2d_vec(input, output_size, scale_factors):
    """The last 2 dimensions resized to ``output_size``, or by ``scale_factors``, by the nearest pixel."""


@composite(
    "_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? "
    "scales_w=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
    samples="upsample_nearest3d",
)
def _upsample_nearest_exact3d(self, output_size, scales_d, scales_h, scales_w):
    """The last 3 dimensions resized to ``output_size`` by the nearest pixel."""


@composite(
    "_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
    module="nn",
    files="upsample",
    samples="upsample_nearest3d.vec",
)
def _upsample_nearest_exact3d_vec(input, output_size, scale_factors):
    """The last 3 dimensions resized to ``output_size``, or by ``scale_factors``, by the nearest pixel."""


@composite(
    "upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
)
def upsample_linear1d(self, output_size, align_corners, scales):
    """The last 1 dimension resized to ``output_size`` by linear interpolation."""


upsample_linear1d.samples([
    S(f(2, 3, 4), [8], False), S(f(2, 3, 4), [8], True), S(f(2, 3, 4), [7], False), S(f(2, 3, 4), [7], True),
    S(f(2, 3, 4), [2], False), S(f(2, 3, 4), [2], True),
])  # fmt: skip


@composite(
    "upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
    module="nn",
    files="upsample",
)
def upsample_linear1d_vec(input, output_size, align_corners, scale_factors):
    """The last 1 dimension resized to ``output_size``, or by ``scale_factors``, by linear interpolation."""


upsample_linear1d_vec.samples([
    S(f(2, 3, 4), [8], False, None), S(f(2, 3, 4), [8], True, None), S(f(2, 3, 4), [7], False, None),
    S(f(2, 3, 4), [7], True, None), S(f(2, 3, 4), [2], False, None), S(f(2, 3, 4), [2], True, None),
    S(f(2, 3, 4), None, False, [2.0]), S(f(2, 3, 4), None, True, [2.0]), S(f(2, 3, 4), None, False, [1.6]),
    S(f(2, 3, 4), None, True, [1.6]), S(f(2, 3, 4), None, False, [0.5]), S(f(2, 3, 4), None, True, [0.5]),
])  # fmt: skip


@composite(
    "upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? "
    "scales_w=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
)
def upsample_bilinear2d(self, output_size, align_corners, scales_h, scales_w):
    """The last 2 dimensions resized to ``output_size`` by linear interpolation."""


upsample_bilinear2d.samples([
    S(f(2, 3, 4, 4), [8, 8], False), S(f(2, 3, 4, 4), [8, 8], True), S(f(2, 3, 4, 4), [7, 7], False),
    S(f(2, 3, 4, 4), [7, 7], True), S(f(2, 3, 4, 4), [2, 2], False), S(f(2, 3, 4, 4), [2, 2], True),
])  # fmt: skip


@composite(
    "upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
    "Tensor",
    module="nn",
    files="upsample",
)
def upsample_bilinear2d_vec(input, output_size, align_corners, scale_factors):
    """The last 2 dimensions resized to ``output_size``, or by ``scale_factors``, by linear interpolation."""


upsample_bilinear2d_vec.samples([
    S(f(2, 3, 4, 4), [8, 8], False, None), S(f(2, 3, 4, 4), [8, 8], True, None),
    S(f(2, 3, 4, 4), [7, 7], False, None), S(f(2, 3, 4, 4), [7, 7], True, None),
    S(f(2, 3, 4, 4), [2, 2], False, None), S(f(2, 3, 4, 4), [2, 2], True, None),
    S(f(2, 3, 4, 4), None, False, [2.0, 2.0]), S(f(2, 3, 4, 4), None, True, [2.0, 2.0]),
    S(f(2, 3, 4, 4), None, False, [1.6, 1.6]), S(f(2, 3, 4, 4), None, True, [1.6, 1.6]),
    S(f(2, 3, 4, 4), None, False, [0.5, 0.5]), S(f(2, 3, 4, 4), None, True, [0.5, 0.5]),
])  # fmt: skip


@composite(
    "upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float? "
    "scales_h=None, float? scales_w=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
)
def upsample_trilinear3d(self, output_size, align_corners, scales_d, scales_h, scales_w):
    """The last 3 dimensions resized to ``output_size`` by linear interpolation."""


upsample_trilinear3d.samples([
    S(f(2, 3, 4, 4, 4), [8, 8, 8], False), S(f(2, 3, 4, 4, 4), [8, 8, 8], True),
    S(f(2, 3, 4, 4, 4), [7, 7, 7], False), S(f(2, 3, 4, 4, 4), [7, 7, 7], True),
    S(f(2, 3, 4, 4, 4), [2, 2, 2], False), S(f(2, 3, 4, 4, 4), [2, 2, 2], True),
])  # fmt: skip


@composite(
    "upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
    "Tensor",
    module="nn",
    files="upsample",
)
def upsample_trilinear3d_vec(input, output_size, align_corners, scale_factors):
    """The last 3 dimensions resized to ``output_size``, or by ``scale_factors``, by linear interpolation."""


upsample_trilinear3d_vec.samples([
    S(f(2, 3, 4, 4, 4), [8, 8, 8], False, None), S(f(2, 3, 4, 4, 4), [8, 8, 8], True, None),
    S(f(2, 3, 4, 4, 4), [7, 7, 7], False, None), S(f(2, 3, 4, 4, 4), [7, 7, 7], True, None),
    S(f(2, 3, 4, 4, 4), [2, 2, 2], False, None), S(f(2, 3, 4, 4, 4), [2, 2, 2], True, None),
    S(f(2, 3, 4, 4, 4), None, False, [2.0, 2.0, 2.0]), S(f(2, 3, 4, 4, 4), None, True, [2.0, 2.0, 2.0]),
    S(f(2, 3, 4, 4, 4), None, False, [1.6, 1.6, 1.6]), S(f(2, 3, 4, 4, 4), None, True, [1.6, 1.6, 1.6]),
    S(f(2, 3, 4, 4, 4), None, False, [0.5, 0.5, 0.5]), S(f(2, 3, 4, 4, 4), None, True, [0.5, 0.5, 0.5]),
])  # fmt: skip


@composite(
    "upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? "
    "scales_w=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
    samples="upsample_bilinear2d",
)
def upsample_bicubic2d(self, output_size, align_corners, scales_h, scales_w):
    """The last 2 dimensions resized to ``output_size`` by cubic interpolation."""


@composite(
    "upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
    module="nn",
    files="upsample",
    samples="upsample_bilinear2d.vec",
)
def upsample_bicubic2d_vec(input, output_size, align_corners, scale_factors):
    """The last 2 dimensions resized to ``output_size``, or by ``scale_factors``, by cubic interpolation."""


@composite(
    "_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? "
    "scales_w=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
    samples="upsample_bilinear2d",
)
def _upsample_bilinear2d_aa(self, output_size, align_corners, scales_h, scales_w):
    """The last 2 dimensions resized to ``output_size`` by linear interpolation with anti-aliasing."""


@composite(
    "_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
    "Tensor",
    module="nn",
    files="upsample",
    samples="upsample_bilinear2d.vec",
)
def _upsample_bilinear2d_aa_vec(input, output_size, align_corners, scale_factors):
    """The last 2 dimensions resized to ``output_size``, or by ``scale_factors``, by linear interpolation with
    anti-aliasing."""


@composite(
    "_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? "
    "scales_w=None) -> Tensor",
    variants="function out",
    module="nn",
    files="upsample",
    samples="upsample_bilinear2d",
)
def _upsample_bicubic2d_aa(self, output_size, align_corners, scales_h, scales_w):
    """The last 2 dimensions resized to ``output_size`` by cubic interpolation with anti-aliasing."""


@composite(
    "_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
    "Tensor",
    module="nn",
    files="upsample",
    samples="upsample_bilinear2d.vec",
)
def _upsample_bicubic2d_aa_vec(input, output_size, align_corners, scale_factors):
    """The last 2 dimensions resized to ``output_size``, or by ``scale_factors``, by cubic interpolation with
    anti-aliasing."""
