"""Padding of the last dimensions. ``pad`` lists (before, after) for each, the last dimension first."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@composite('pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor', module="nn", files="pad")
def pad(self, pad, mode, value):
    """``self`` with its last dimensions padded by ``value`` (0), or in ``mode`` reflect, replicate or circular by
    itself."""


pad.samples([
    S(f(2, 3, 4), [1, 2]), S(f(2, 3, 4), [1, 2], "reflect"), S(f(2, 3, 4), [1, 2], "replicate"),
    S(f(2, 3, 4), [1, 2], "circular"), S(f(2), [1, 1], "no"),
])  # fmt: skip


@composite(
    "constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
    variants="function out",
    files="pad",
    batch="natural",
    samples=[S(f(2, 3), [1, 2]), S(f(2, 3), [1, -1, 0, 2], 1.5), S(f(3), [-4, 0])],
)
def constant_pad_nd(self, pad, value):
    """``self`` with ``value`` around it; negative numbers cut."""


@constant_pad_nd.backward
def _(grad, pad):
    return {"self": op.constant_unpad_nd(grad, pad)}


@composite("constant_unpad_nd(Tensor self, SymInt[] pad) -> Tensor", files="pad", unbound=True)
def constant_unpad_nd(self, pad):
    """What ``constant_pad_nd`` padded by zeros; it takes off what that added."""


@composite(
    "_pad_circular(Tensor self, SymInt[] pad) -> Tensor", module="nn", files="pad", samples=[S(f(2, 3, 4), [1, 2])]
)
def _pad_circular(self, pad):
    """``self`` (N, C, ...) as if its last dimensions went round."""


@composite(
    "reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples=[S(f(2, 3, 4), [1, 2]), S(f(3, 4), [0, 1]), S(f(2, 3, 4), [-1, 2])],
)
def reflection_pad1d(self, padding):
    """The last 1 dimension of ``self`` mirrored at its edge elements."""
    return op.pad_by_itself(self, padding, 1, 0)


@composite(
    "reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples=[S(f(2, 3, 4, 4), [1, 2, 1, 2]), S(f(3, 4, 4), [0, 1, 0, 1]), S(f(2, 3, 4, 4), [-1, 2, -1, 2])],
)
def reflection_pad2d(self, padding):
    """The last 2 dimensions of ``self`` mirrored at its edge elements."""
    return op.pad_by_itself(self, padding, 2, 0)


@composite("reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor", variants="function out", module="nn")
def reflection_pad3d(self, padding):
    """The last 3 dimensions of ``self`` mirrored at its edge elements."""
    return op.pad_by_itself(self, padding, 3, 0)


reflection_pad3d.samples([
    S(f(2, 3, 4, 4, 4), [1, 2, 1, 2, 1, 2]), S(f(3, 4, 4, 4), [0, 1, 0, 1, 0, 1]),
    S(f(2, 3, 4, 4, 4), [-1, 2, -1, 2, -1, 2]),
])  # fmt: skip


@composite(
    "replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples="reflection_pad1d",
)
def replication_pad1d(self, padding):
    """The last 1 dimension of ``self`` continued by its edge elements."""
    return op.pad_by_itself(self, padding, 1, 1)


@composite(
    "replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples="reflection_pad2d",
)
def replication_pad2d(self, padding):
    """The last 2 dimensions of ``self`` continued by its edge elements."""
    return op.pad_by_itself(self, padding, 2, 1)


@composite(
    "replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples="reflection_pad3d",
)
def replication_pad3d(self, padding):
    """The last 3 dimensions of ``self`` continued by its edge elements."""
    return op.pad_by_itself(self, padding, 3, 1)


@kernel(
    "pad_by_itself(Tensor self, SymInt[] padding, int rank, int mode) -> Tensor",
    shape="pad_by_itself",
    files="pad",
    unbound=True,
    batch="folded",
    flat="self",
)
def pad_by_itself(self, padding, rank, mode):
    """The last ``rank`` dimensions reflected (mode 0) or replicated (mode 1)."""


@pad_by_itself.backward
def _(grad, self, padding, rank, mode):
    return {"self": op.pad_by_itself_backward(grad, self.sizes(), padding, rank, mode)}


@kernel(
    "pad_by_itself_backward(Tensor upper, SymInt[] sizes, SymInt[] padding, int rank, int mode) -> Tensor",
    shape="pad_by_itself_backward",
    files="pad",
    unbound=True,
    batch="folded",
)
def pad_by_itself_backward(upper, sizes, padding, rank, mode):
    """The gradient of ``pad_by_itself`` for an input of ``sizes``."""


@pad_by_itself_backward.backward
def _(grad, padding, rank, mode):
    return {"upper": op.pad_by_itself(grad, padding, rank, mode)}


# --- channels and pixels


@composite(
    "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
    files="pixel",
    samples=[S(f(1, 8, 2, 3), 2), S(f(1, 6, 2, 3), 2)],
)
def pixel_shuffle(self, upscale_factor):
    """(..., C r r, H, W) as (..., C, H r, W r): channels become pixels."""


@composite(
    "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    files="pixel",
    samples=[S(f(1, 2, 4, 6), 2), S(f(1, 2, 3, 6), 2)],
)
def pixel_unshuffle(self, downscale_factor):
    """(..., C, H r, W r) as (..., C r r, H, W): pixels become channels."""


@composite("channel_shuffle(Tensor self, SymInt groups) -> Tensor", files="pixel", samples=[S(f(1, 6, 2, 2), 3)])
def channel_shuffle(self, groups):
    """(N, C, ...) with the channels of ``groups`` groups dealt out in turn."""


@composite("native_channel_shuffle(Tensor self, SymInt groups) -> Tensor", samples="channel_shuffle")
def native_channel_shuffle(self, groups):
    """``channel_shuffle``."""
    return op.channel_shuffle(self, groups)
