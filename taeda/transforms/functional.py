"""What the transforms do to one image.

An image is a tensor of shape (..., H, W), a NumPy array of shape (H, W) or (H, W, C), or a Pillow image; the result is
of the same kind unless the name says another.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["InterpolationMode", "center_crop", "convert_image_dtype", "crop", "erase", "get_dimensions",
           "get_image_size", "hflip", "normalize", "pad", "pil_to_tensor", "resize", "resized_crop",
           "rgb_to_grayscale", "to_grayscale", "to_pil_image", "to_tensor", "vflip"]  # fmt: skip


class InterpolationMode(Enum):
    """How values between pixels are found."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"


def is_pil(image: Any) -> bool:
    """Whether ``image`` is Pillow's; without loading Pillow, for who has such an image did."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(image, pillow.Image)


def _is_array(image: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(image, numpy.ndarray)


def _check(image: Any, where: str) -> None:
    if isinstance(image, Tensor):
        if image.dim() < 2:
            raise TypeError(f"{where}: an image tensor has at least 2 dimensions; got shape {tuple(image.shape)}")
    elif _is_array(image):
        if image.ndim not in (2, 3):
            raise ValueError(f"{where}: an image array has 2 or 3 dimensions; got {image.ndim}")
    elif not is_pil(image):
        raise TypeError(f"{where}: takes a tensor, a NumPy array or a Pillow image; got {type(image).__name__}")


def _check_tensor(image: Any, where: str) -> None:
    if not isinstance(image, Tensor):
        raise TypeError(f"{where}: takes a tensor; got {type(image).__name__}")


def get_dimensions(img: Any) -> list[int]:
    """``[channels, height, width]``."""
    _check(img, "get_dimensions")
    if isinstance(img, Tensor):
        return [1 if img.dim() == 2 else img.size(-3), img.size(-2), img.size(-1)]
    if is_pil(img):
        return [len(img.getbands()), img.height, img.width]
    return [1 if img.ndim == 2 else img.shape[2], img.shape[0], img.shape[1]]


def get_image_size(img: Any) -> list[int]:
    """``[width, height]``."""
    return get_dimensions(img)[:0:-1]


# --- between the kinds of images


def _array_of(image: Any) -> Any:
    """The pixels of a Pillow image, (H, W) or (H, W, C)."""
    import numpy as np

    if image.mode == "1":
        return np.array(image, np.uint8) * 255
    if image.mode == "P":
        raise TypeError("taeda.transforms: an image with a palette has no brightnesses; convert('RGB') it first")
    return np.array(image)


def pil_to_tensor(pic: Any) -> Tensor:
    """The pixels of a Pillow image as they are, shape (C, H, W)."""
    if not is_pil(pic):
        raise TypeError(f"pil_to_tensor: takes a Pillow image; got {type(pic).__name__}")
    return _from_array(_array_of(pic))


def _from_array(array: Any) -> Tensor:
    import numpy as np

    if array.ndim == 2:
        array = array[:, :, None]
    array = np.ascontiguousarray(array.transpose(2, 0, 1))
    return taeda.from_numpy(array if array.flags.writeable else array.copy())


def to_tensor(pic: Any) -> Tensor:
    """The image as a tensor of shape (C, H, W); bytes become floats from 0 to 1, other values stay.

    Raises:
        TypeError: ``pic`` is neither a NumPy array nor a Pillow image.
        ValueError: an array that is neither 2-D nor 3-D.
    """
    if isinstance(pic, Tensor):
        raise TypeError("to_tensor: takes a NumPy array or a Pillow image; got a tensor")
    _check(pic, "to_tensor")
    tensor = _from_array(_array_of(pic) if is_pil(pic) else pic)
    return tensor.to(taeda.get_default_dtype()).div_(255) if tensor.dtype == taeda.uint8 else tensor


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """A Pillow image of a tensor (C, H, W) or an array (H, W, C); floats from 0 to 1 become bytes.

    Raises:
        TypeError: another type, or values that Pillow has no mode for.
        ValueError: a shape that is no image's, or a ``mode`` of other channels.
    """
    from PIL import Image

    if not isinstance(pic, Tensor) and not _is_array(pic):
        raise TypeError(f"to_pil_image: takes a tensor or a NumPy array; got {type(pic).__name__}")
    if pic.ndim not in (2, 3):
        raise ValueError(f"to_pil_image: an image has 2 or 3 dimensions; got {pic.ndim}")
    if isinstance(pic, Tensor):
        if pic.is_floating_point() and mode != "F":
            pic = pic.mul(255).to(taeda.uint8)
        array = pic.cpu().numpy() if pic.dim() == 2 else pic.cpu().permute(1, 2, 0).numpy()
    else:
        array = pic
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    channels = 1 if array.ndim == 2 else array.shape[2]
    modes = {1: ("L", "1", "F", "I", "I;16"), 2: ("LA",), 3: ("RGB", "YCbCr", "HSV", "LAB"),
             4: ("RGBA", "CMYK", "RGBX")}  # fmt: skip
    if channels not in modes:
        raise ValueError(f"to_pil_image: an image has 1 to 4 channels; got {channels}")
    natural = {"uint8": modes[channels][0], "int16": "I;16", "uint16": "I;16", "int32": "I", "float32": "F"}
    if array.dtype.name not in natural or (channels > 1 and array.dtype.name != "uint8"):
        raise TypeError(f"to_pil_image: no image of {channels} channels has values of type {array.dtype}")
    if mode is not None and mode not in modes[channels]:
        raise ValueError(f"to_pil_image: {channels} channels can be of mode {modes[channels]}; got {mode!r}")
    if natural[array.dtype.name] == "I;16":
        array = array.astype("<u2")
    return Image.frombytes(mode or natural[array.dtype.name], array.shape[1::-1], _packed(array))


def _packed(array: Any) -> bytes:
    import numpy as np

    return np.ascontiguousarray(array).tobytes()


def convert_image_dtype(image: Tensor, dtype: taeda.dtype = taeda.float32) -> Tensor:
    """``image`` in another dtype, its values scaled: floats go from 0 to 1, integers from 0 to their largest.

    Raises:
        TypeError: not a tensor.
        RuntimeError: floats to integers that have more digits than the floats.
    """
    _check_tensor(image, "convert_image_dtype")
    if image.dtype == dtype:
        return image
    if image.dtype.is_floating_point:
        if dtype.is_floating_point:
            return image.to(dtype)
        wide = dtype in (taeda.int32, taeda.int64)
        if (image.dtype == taeda.float32 and wide) or (image.dtype == taeda.float64 and dtype == taeda.int64):
            raise RuntimeError(f"convert_image_dtype: {image.dtype} is too coarse for the whole range of {dtype}")
        return image.mul(_largest(dtype) + 1 - 1e-3).to(dtype)
    if dtype.is_floating_point:
        return image.to(dtype) / _largest(image.dtype)
    before, after = _largest(image.dtype), _largest(dtype)
    if before > after:
        return image.div((before + 1) // (after + 1), rounding_mode="floor").to(dtype)
    return image.to(dtype) * ((after + 1) // (before + 1))


def _largest(dtype: taeda.dtype) -> int:
    return 1 if dtype == taeda.bool else int(taeda.iinfo(dtype).max)


def _on_tensor(image: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """``function`` of a tensor (..., H, W) applied to any kind of image."""
    if isinstance(image, Tensor):
        return function(image)
    if is_pil(image):
        if image.mode == "1":
            return _on_tensor(image.convert("L"), function).convert("1")
        return to_pil_image(function(_from_array(_array_of(image))), image.mode)
    result = function(_from_array(image)).permute(1, 2, 0).contiguous().numpy()
    return result[:, :, 0] if image.ndim == 2 else result


# --- the transforms


def normalize(tensor: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Tensor:
    """``(tensor - mean) / std`` with a mean and a deviation for each channel of a float tensor (..., C, H, W).

    Raises:
        TypeError: not a float tensor.
        ValueError: fewer than 3 dimensions, or a deviation of 0.
    """
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
        kind = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
        raise TypeError(f"normalize: takes a tensor of floats; got {kind}")
    if tensor.dim() < 3:
        raise ValueError(f"normalize: takes a tensor of shape (..., C, H, W); got {tuple(tensor.shape)}")
    middle, spread = (taeda.as_tensor(v, dtype=tensor.dtype, device=tensor.device) for v in (mean, std))
    if bool((spread == 0).any()):
        raise ValueError(f"normalize: a deviation is 0 in {tensor.dtype}: std={std}")
    middle, spread = (v.view(-1, 1, 1) if v.dim() == 1 else v for v in (middle, spread))
    return (tensor if inplace else tensor.clone()).sub_(middle).div_(spread)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """The rectangle at (``top``, ``left``); what lies outside of the image is 0."""
    _check(img, "crop")
    if is_pil(img):
        return img.crop((left, top, left + width, top + height))
    _, rows, columns = get_dimensions(img)
    bottom, right = top + height, left + width
    inside = _slice(img, max(top, 0), max(bottom, 0), max(left, 0), max(right, 0))
    missing = [max(-left, 0), max(-top, 0), max(right - max(columns, left), 0), max(bottom - max(rows, top), 0)]
    return pad(inside, [min(m, (width, height)[i % 2]) for i, m in enumerate(missing)]) if any(missing) else inside


def _slice(image: Any, top: int, bottom: int, left: int, right: int) -> Any:
    return image[..., top:bottom, left:right] if isinstance(image, Tensor) else image[top:bottom, left:right]


def center_crop(img: Any, output_size: int | Sequence[int]) -> Any:
    """The middle of the image; a smaller image gets a margin of 0."""
    _check(img, "center_crop")
    height, width = _pair(output_size)
    _, rows, columns = get_dimensions(img)
    if width > columns or height > rows:
        across, down = max(width - columns, 0), max(height - rows, 0)
        img = pad(img, [across // 2, down // 2, (across + 1) // 2, (down + 1) // 2])
        _, rows, columns = get_dimensions(img)
    return crop(img, round((rows - height) / 2.0), round((columns - width) / 2.0), height, width)


def _pair(size: int | Sequence[int]) -> tuple[int, int]:
    """(height, width) of one number or two."""
    if isinstance(size, int):
        return size, size
    if len(size) not in (1, 2):
        raise ValueError(f"taeda.transforms: a size is a number or (height, width); got {size!r}")
    return int(size[0]), int(size[-1])


def margins(padding: int | Sequence[int]) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) of a padding of 1, 2 (left and right, top and bottom) or 4 numbers."""
    if isinstance(padding, int):
        return padding, padding, padding, padding
    if not isinstance(padding, (tuple, list)):
        raise TypeError(f"pad: padding is a number or a sequence of them; got {type(padding).__name__}")
    if len(padding) not in (1, 2, 4):
        raise ValueError(f"pad: padding has 1, 2 or 4 numbers; got {len(padding)}")
    left, top = padding[0], padding[min(1, len(padding) - 1)]
    return (left, top, padding[2], padding[3]) if len(padding) == 4 else (left, top, left, top)


def check_padding_mode(where: str, mode: str) -> None:
    """Raises ValueError for another mode than `pad` has."""
    if mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError(f"{where}: padding_mode is constant, edge, reflect or symmetric; got {mode!r}")


def pad(img: Any, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> Any:
    """The image with a margin.

    Args:
        padding: one number for all sides; left and right, top and bottom; or left, top, right, bottom.
        fill: the value of a constant margin, or one for each channel.
        padding_mode: ``constant``, ``edge`` (repeats the last pixel), ``reflect`` (mirrors without it) or
            ``symmetric`` (with it).

    Raises:
        TypeError, ValueError: a padding or a mode of another kind.
    """
    _check(img, "pad")
    left, top, right, bottom = margins(padding)
    check_padding_mode("pad", padding_mode)
    if padding_mode == "constant" and min(left, top, right, bottom) >= 0:
        if is_pil(img):
            from PIL import ImageOps

            bands = len(img.getbands())
            colour = tuple(fill) if isinstance(fill, (tuple, list)) else (fill,) * bands if bands > 1 else fill
            return ImageOps.expand(img, (left, top, right, bottom), colour)
        return _on_tensor(img, lambda tensor: _margin(tensor, (left, top, right, bottom), fill))

    def by_index(tensor: Tensor) -> Tensor:
        rows = _source(tensor.size(-2), top, bottom, padding_mode)
        columns = _source(tensor.size(-1), left, right, padding_mode)
        return tensor.index_select(-2, rows).index_select(-1, columns)

    return _on_tensor(img, by_index)


def _margin(tensor: Tensor, sides: tuple[int, int, int, int], fill: Any) -> Tensor:
    left, top, right, bottom = sides
    *front, rows, columns = tensor.shape
    result = tensor.new_empty([*front, rows + top + bottom, columns + left + right])
    if isinstance(fill, (tuple, list)):
        result.copy_(taeda.tensor(fill, dtype=tensor.dtype).view(-1, 1, 1))
    else:
        result.fill_(fill)
    result[..., top : top + rows, left : left + columns] = tensor
    return result


def _source(size: int, before: int, after: int, mode: str) -> Tensor:
    """For each index along a padded side where its value comes from; a negative margin cuts off."""
    indices = taeda.arange(-before, size + after)
    if mode == "edge":
        return indices.clamp(0, size - 1)
    if mode == "constant":
        raise ValueError("pad: a constant margin must not be negative; use crop")
    if mode == "reflect":
        if max(before, after) >= size:
            raise ValueError(f"pad: reflect mirrors fewer than the {size} pixels of a side; got {max(before, after)}")
        period = max(2 * size - 2, 1)
        indices = indices.remainder(period)
        return taeda.where(indices < size, indices, period - indices)
    indices = indices.remainder(2 * size)
    return taeda.where(indices < size, indices, 2 * size - 1 - indices)


def hflip(img: Any) -> Any:
    """The image mirrored left to right."""
    _check(img, "hflip")
    return img.transpose(0) if is_pil(img) else _on_tensor(img, lambda tensor: tensor.flip(-1))


def vflip(img: Any) -> Any:
    """The image mirrored top to bottom."""
    _check(img, "vflip")
    return img.transpose(1) if is_pil(img) else _on_tensor(img, lambda tensor: tensor.flip(-2))


def resize(
    img: Any,
    size: int | Sequence[int],
    interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """The image in another size.

    Args:
        size: (height, width), or the length of the shorter side.
        max_size: the most that the longer side may become; only where ``size`` is the shorter one's.
        antialias: averages when an image is made smaller. Pillow's images are always averaged.

    Raises:
        ValueError: ``max_size`` together with two sizes, or not larger than ``size``.
    """
    _check(img, "resize")
    interpolation = InterpolationMode(interpolation)
    _, rows, columns = get_dimensions(img)
    height, width = _new_size(rows, columns, size, max_size)
    if (height, width) == (rows, columns):
        return img
    if is_pil(img):
        from PIL import Image

        names = {"nearest": "NEAREST", "nearest-exact": "NEAREST", "bilinear": "BILINEAR", "bicubic": "BICUBIC"}
        return img.resize((width, height), getattr(Image.Resampling, names[interpolation.value]))
    return _on_tensor(img, lambda tensor: _interpolate(tensor, (height, width), interpolation, bool(antialias)))


def _new_size(rows: int, columns: int, size: int | Sequence[int], max_size: int | None) -> tuple[int, int]:
    if not isinstance(size, int) and len(size) == 2:
        if max_size is not None:
            raise ValueError("resize: max_size wants one size, that of the shorter side")
        return int(size[0]), int(size[1])
    wanted = size if isinstance(size, int) else int(size[0])
    short, long = sorted((rows, columns))
    new_short, new_long = wanted, int(wanted * long / short)
    if max_size is not None:
        if max_size <= wanted:
            raise ValueError(f"resize: max_size must be larger than size; got {max_size} and {wanted}")
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_short, new_long) if rows <= columns else (new_long, new_short)


def _interpolate(tensor: Tensor, size: tuple[int, int], mode: InterpolationMode, antialias: bool) -> Tensor:
    smooth = mode in (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC)
    floats = tensor if tensor.is_floating_point() else tensor.float()
    batch = floats.reshape(-1, 1 if tensor.dim() == 2 else tensor.size(-3), *tensor.shape[-2:])
    options = {"align_corners": False, "antialias": antialias} if smooth else {}
    resized = taeda.nn.functional.interpolate(batch, size, mode=mode.value, **options)
    if not tensor.is_floating_point():
        info = taeda.iinfo(tensor.dtype)
        resized = resized.round().clamp(info.min, info.max).to(tensor.dtype)
    return resized.reshape(*tensor.shape[:-2], *size)


def resized_crop(
    img: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Sequence[int],
    interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """A rectangle of the image in another size."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Tensor, inplace: bool = False) -> Tensor:
    """The image with the values ``v`` in the rectangle of size (``h``, ``w``) at (``i``, ``j``).

    Raises:
        TypeError: not a tensor.
    """
    _check_tensor(img, "erase")
    result = img if inplace else img.clone()
    result[..., i : i + h, j : j + w] = v
    return result


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The brightness of a colour image, in 1 channel or in 3 that are the same."""
    _check(img, "rgb_to_grayscale")
    if num_output_channels not in (1, 3):
        raise ValueError(f"rgb_to_grayscale: num_output_channels is 1 or 3; got {num_output_channels}")
    if is_pil(img):
        grey = img.convert("L")
        return grey if num_output_channels == 1 else grey.convert("RGB")

    def mix(tensor: Tensor) -> Tensor:
        if tensor.size(-3) == 1:
            grey = tensor
        else:
            red, green, blue = tensor.unbind(-3)
            grey = (0.2989 * red + 0.587 * green + 0.114 * blue).to(tensor.dtype).unsqueeze(-3)
        return grey.expand(*tensor.shape[:-3], num_output_channels, *tensor.shape[-2:]).contiguous()

    if get_dimensions(img)[0] not in (1, 3):
        raise TypeError(f"rgb_to_grayscale: takes 1 or 3 channels; got {get_dimensions(img)[0]}")
    return _on_tensor(img, mix)


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """As :func:`rgb_to_grayscale`."""
    return rgb_to_grayscale(img, num_output_channels)
