"""The transforms as objects. The random ones draw from the default generator: a seed gives the same images."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn

from . import functional as F
from .functional import InterpolationMode

__all__ = ["CenterCrop", "Compose", "ConvertImageDtype", "Grayscale", "Lambda", "Normalize", "PILToTensor", "Pad",
           "RandomApply", "RandomChoice", "RandomCrop", "RandomErasing", "RandomHorizontalFlip", "RandomOrder",
           "RandomResizedCrop", "RandomVerticalFlip", "Resize", "ToPILImage", "ToTensor"]  # fmt: skip

_TRIES = 10  # rectangles drawn before one in the middle is taken


class Compose:
    """The ``transforms`` one after the other."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return "\n    ".join(["Compose(", *(repr(transform) for transform in self.transforms)]) + "\n)"


class _Plain:
    """A transform without parameters worth showing."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ToTensor(_Plain):
    """See :func:`functional.to_tensor`."""

    def __call__(self, pic: Any) -> Tensor:
        return F.to_tensor(pic)


class PILToTensor(_Plain):
    """See :func:`functional.pil_to_tensor`."""

    def __call__(self, pic: Any) -> Tensor:
        return F.pil_to_tensor(pic)


class ToPILImage(_Plain):
    """See :func:`functional.to_pil_image`."""

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        return F.to_pil_image(pic, self.mode)


class Lambda(_Plain):
    """Any function of the image."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        if not callable(lambd):
            raise TypeError(f"Lambda: takes a function; got {type(lambd).__name__}")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        return self.lambd(img)


class ConvertImageDtype(nn.Module):
    """See :func:`functional.convert_image_dtype`."""

    def __init__(self, dtype: taeda.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, image: Tensor) -> Tensor:
        """The image in the other dtype."""
        return F.convert_image_dtype(image, self.dtype)


class Normalize(nn.Module):
    """See :func:`functional.normalize`."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor: Tensor) -> Tensor:
        """The normalised image."""
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self) -> str:
        return f"Normalize(mean={self.mean}, std={self.std})"


class Resize(nn.Module):
    """See :func:`functional.resize`."""

    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        if not isinstance(size, (int, list, tuple)):
            raise TypeError(f"Resize: size is a number or (height, width); got {type(size).__name__}")
        if not isinstance(size, int) and len(size) not in (1, 2):
            raise ValueError(f"Resize: size has 1 or 2 numbers; got {len(size)}")
        self.size, self.interpolation, self.max_size, self.antialias = size, interpolation, max_size, antialias

    def forward(self, img: Any) -> Any:
        """The image in the other size."""
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def extra_repr(self) -> str:
        """The parameters."""
        return f"size={self.size}, interpolation={InterpolationMode(self.interpolation).value}"


class CenterCrop(nn.Module):
    """See :func:`functional.center_crop`."""

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = F._pair(size)

    def forward(self, img: Any) -> Any:
        """The middle of the image."""
        return F.center_crop(img, self.size)

    def extra_repr(self) -> str:
        """The parameters."""
        return f"size={self.size}"


class Pad(nn.Module):
    """See :func:`functional.pad`."""

    def __init__(self, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        F.margins(padding)
        F.check_padding_mode("Pad", padding_mode)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img: Any) -> Any:
        """The image with a margin."""
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def extra_repr(self) -> str:
        """The parameters."""
        return f"padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode}"


class RandomCrop(nn.Module):
    """A rectangle of the given ``size`` anywhere in the image.

    Args:
        padding: a margin that the image gets first, see :func:`functional.pad`.
        pad_if_needed: an image that is too small gets a margin.
        fill, padding_mode: of the margins.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        self.size = F._pair(size)
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    @staticmethod
    def get_params(img: Any, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        """Draws (top, left, height, width).

        Raises:
            ValueError: the image is smaller than the rectangle.
        """
        _, rows, columns = F.get_dimensions(img)
        height, width = output_size
        if rows < height or columns < width:
            raise ValueError(
                f"RandomCrop: a rectangle of {(height, width)} is larger than the image, {(rows, columns)}"
            )
        if (rows, columns) == (height, width):
            return 0, 0, rows, columns
        return _below(rows - height + 1), _below(columns - width + 1), height, width

    def forward(self, img: Any) -> Any:
        """The rectangle."""
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        _, rows, columns = F.get_dimensions(img)
        height, width = self.size
        if self.pad_if_needed and columns < width:
            img = F.pad(img, [width - columns, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and rows < height:
            img = F.pad(img, [0, height - rows], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def extra_repr(self) -> str:
        """The parameters."""
        return f"size={self.size}, padding={self.padding}"


def _below(end: int) -> int:
    return int(taeda.randint(0, end, size=(1,)).item())


def _draw_sides(area: int, scale: Sequence[float], ratio: Sequence[float]) -> Iterator[tuple[int, int]]:
    """The sides, the first by the second in ``ratio``, of rectangles that have a share of ``area`` in ``scale``."""
    bounds = taeda.log(taeda.tensor(ratio)).tolist()
    for _ in range(_TRIES):
        share = area * float(taeda.empty(1).uniform_(*scale).item())
        aspect = float(taeda.empty(1).uniform_(*bounds).exp_().item())
        yield round(math.sqrt(share * aspect)), round(math.sqrt(share / aspect))


class _WithProbability(nn.Module):
    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def _chosen(self) -> bool:
        return bool(taeda.rand(1) < self.p)

    def extra_repr(self) -> str:
        """The parameters."""
        return f"p={self.p}"


class RandomHorizontalFlip(_WithProbability):
    """Mirrors the image left to right with probability ``p``."""

    def forward(self, img: Any) -> Any:
        """The image, mirrored or not."""
        return F.hflip(img) if self._chosen() else img


class RandomVerticalFlip(_WithProbability):
    """Mirrors the image top to bottom with probability ``p``."""

    def forward(self, img: Any) -> Any:
        """The image, mirrored or not."""
        return F.vflip(img) if self._chosen() else img


class RandomResizedCrop(nn.Module):
    """A rectangle of random size and position, brought to ``size``.

    Args:
        scale: the smallest and the largest share of the image's area.
        ratio: the smallest and the largest width by height.
        interpolation, antialias: of the resizing, see :func:`functional.resize`.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size = F._pair(size)
        self.scale, self.ratio, self.interpolation, self.antialias = scale, ratio, interpolation, antialias

    @staticmethod
    def get_params(img: Any, scale: Sequence[float], ratio: Sequence[float]) -> tuple[int, int, int, int]:
        """Draws (top, left, height, width)."""
        _, rows, columns = F.get_dimensions(img)
        for width, height in _draw_sides(rows * columns, scale, ratio):
            if 0 < width <= columns and 0 < height <= rows:
                return _below(rows - height + 1), _below(columns - width + 1), height, width
        height, width = rows, columns
        if columns / rows < min(ratio):
            height = round(columns / min(ratio))
        elif columns / rows > max(ratio):
            width = round(rows * max(ratio))
        return (rows - height) // 2, (columns - width) // 2, height, width

    def forward(self, img: Any) -> Any:
        """The rectangle in the new size."""
        top, left, height, width = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, top, left, height, width, self.size, self.interpolation, self.antialias)

    def extra_repr(self) -> str:
        """The parameters."""
        return f"size={self.size}, scale={tuple(self.scale)}, ratio={tuple(self.ratio)}"


class RandomErasing(_WithProbability):
    """Overwrites a random rectangle of a tensor (..., C, H, W) with probability ``p``.

    Args:
        scale: the smallest and the largest share of the image's area.
        ratio: the smallest and the largest height by width.
        value: what to write: a number, one for each channel, or ``"random"`` for normal noise.
        inplace: changes the image itself.
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
    ) -> None:
        super().__init__(p)
        if not 0 <= p <= 1:
            raise ValueError(f"RandomErasing: p must lie in [0, 1]; got {p}")
        if not 0 <= min(scale) <= max(scale) <= 1:
            raise ValueError(f"RandomErasing: scale must lie in [0, 1]; got {scale}")
        if isinstance(value, str) and value != "random":
            raise ValueError(f"RandomErasing: value is a number, numbers or 'random'; got {value!r}")
        self.scale, self.ratio, self.value, self.inplace = scale, ratio, value, inplace

    def _draw(self, img: Tensor) -> tuple[int, int, int, int, Tensor] | None:
        channels, rows, columns = F.get_dimensions(img)
        for height, width in _draw_sides(rows * columns, self.scale, self.ratio):
            if height < rows and width < columns:
                value = self._value(channels, height, width)
                return _below(rows - height + 1), _below(columns - width + 1), height, width, value
        return None

    def _value(self, channels: int, height: int, width: int) -> Tensor:
        if self.value == "random":
            return taeda.empty([channels, height, width], dtype=taeda.float32).normal_()
        numbers = list(self.value) if isinstance(self.value, (tuple, list)) else [self.value]
        if len(numbers) not in (1, channels):
            raise ValueError(f"RandomErasing: value has {len(numbers)} numbers for {channels} channels")
        return taeda.tensor(numbers, dtype=taeda.float32)[:, None, None]

    def forward(self, img: Tensor) -> Tensor:
        """The image, with or without the rectangle."""
        drawn = self._draw(img) if self._chosen() else None
        return img if drawn is None else F.erase(img, *drawn, inplace=self.inplace)


class Grayscale(nn.Module):
    """See :func:`functional.rgb_to_grayscale`."""

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img: Any) -> Any:
        """The brightness."""
        return F.rgb_to_grayscale(img, self.num_output_channels)


class _Several(_Plain):
    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        if not isinstance(transforms, Sequence):
            raise TypeError(f"{type(self).__name__}: takes a sequence of transforms; got {type(transforms).__name__}")
        self.transforms = transforms


class RandomChoice(_Several):
    """One of the ``transforms``, chosen by Python's generator with the weights ``p``."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]], p: Sequence[float] | None = None) -> None:
        super().__init__(transforms)
        self.p = p

    def __call__(self, img: Any) -> Any:
        return random.choices(self.transforms, weights=self.p)[0](img)


class RandomOrder(_Several):
    """All ``transforms`` in an order of Python's generator."""

    def __call__(self, img: Any) -> Any:
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class RandomApply(nn.Module):
    """All ``transforms`` one after the other with probability ``p``, or none."""

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, img: Any) -> Any:
        """The image, transformed or not."""
        if self.p < taeda.rand(1):
            return img
        for transform in self.transforms:
            img = transform(img)
        return img
