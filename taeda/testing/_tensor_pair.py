"""Two tensors that should be close, and what is said where they are not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.testing._pairs import Message, Pair, Path, get_tolerances, named

_SHOWN = 3  # the greatest differences listed per tensor
_INDICES = {
    taeda.sparse_csr: ("crow_indices", "col_indices"),
    taeda.sparse_bsr: ("crow_indices", "col_indices"),
    taeda.sparse_csc: ("ccol_indices", "row_indices"),
    taeda.sparse_bsc: ("ccol_indices", "row_indices"),
}


class TensorLikePair(Pair):
    """Two tensors, or what becomes tensors, one's class that of the other or derived from it."""

    def __init__(
        self, actual: Any, expected: Any, *, id: Path = (), allow_subclasses: bool = True, rtol: float | None = None,
        atol: float | None = None, equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True,
        check_layout: bool = True, check_stride: bool = False, **other_parameters: Any,
    ) -> None:  # fmt: skip
        actual, expected = self._process_inputs(actual, expected, id=id, allow_subclasses=allow_subclasses)
        super().__init__(actual, expected, id=id, **other_parameters)
        self.rtol, self.atol = get_tolerances(actual, expected, rtol=rtol, atol=atol, id=id)
        self.equal_nan, self.check_device, self.check_dtype = equal_nan, check_device, check_dtype
        self.check_layout, self.check_stride = check_layout, check_stride

    def _process_inputs(self, actual: Any, expected: Any, *, id: Path, allow_subclasses: bool) -> tuple[Tensor, Tensor]:
        if not (isinstance(actual, type(expected)) or isinstance(expected, type(actual))):
            self._inputs_not_supported()
        if not allow_subclasses and type(actual) is not type(expected):
            self._inputs_not_supported()
        tensors = self._to_tensor(actual), self._to_tensor(expected)
        for tensor in tensors:
            self._check_supported(tensor, id=id)
        return tensors

    def _to_tensor(self, tensor_like: Any) -> Tensor:
        if isinstance(tensor_like, Tensor):
            return tensor_like
        if isinstance(tensor_like, (str, bytes)):
            self._inputs_not_supported()
        try:
            return taeda.as_tensor(tensor_like)
        except Exception:
            self._inputs_not_supported()

    def _check_supported(self, tensor: Tensor, *, id: Path) -> None:
        if tensor.is_mkldnn:
            self._fail(ValueError, f"taeda.testing: tensors of layout {tensor.layout} are not compared", id=id)

    def compare(self) -> None:
        actual, expected = self.actual, self.expected
        self._compare_attributes(actual, expected)
        if actual.is_meta and expected.is_meta:
            return  # neither has values
        if actual.is_meta or expected.is_meta:
            self._fail(AssertionError, "a meta tensor has no values to compare with the other's")
        self._compare_values(*self._equalize_attributes(actual, expected))

    def _compare_attributes(self, actual: Tensor, expected: Tensor) -> None:
        checks: list[tuple[str, Any, Any, bool]] = [
            ("shapes", tuple(actual.shape), tuple(expected.shape), True),
            ("layouts", actual.layout, expected.layout, self.check_layout),
            ("devices", actual.device, expected.device, self.check_device),
            ("dtypes", actual.dtype, expected.dtype, self.check_dtype),
        ]
        if self.check_stride and actual.layout == expected.layout == taeda.strided:
            checks.append(("strides", tuple(actual.stride()), tuple(expected.stride()), True))
        if actual.is_quantized and expected.is_quantized:
            checks.append(("schemes of quantisation", actual.qscheme(), expected.qscheme(), True))
        for name, left, right, checked in checks:
            if checked and left != right:
                self._fail(AssertionError, f"the tensors have different {name}: got {left}, expected {right}")

    def _equalize_attributes(self, actual: Tensor, expected: Tensor) -> tuple[Tensor, Tensor]:
        """Both on one device, of one layout and one dtype."""
        if actual.device != expected.device:
            actual, expected = actual.cpu(), expected.cpu()
        if actual.is_quantized != expected.is_quantized:
            actual, expected = (x.dequantize() if x.is_quantized else x for x in (actual, expected))
        if actual.dtype != expected.dtype and not actual.is_quantized:
            dtype = taeda.promote_types(*(_computing_dtype(x.dtype) for x in (actual, expected)))
            actual, expected = actual.to(dtype), expected.to(dtype)
        if actual.layout != expected.layout:
            actual, expected = (x if x.layout == taeda.strided else x.to_dense() for x in (actual, expected))
        return actual, expected

    def _compare_values(self, actual: Tensor, expected: Tensor) -> None:
        how: dict[str, Any] = {"rtol": self.rtol, "atol": self.atol, "equal_nan": self.equal_nan}
        if actual.is_quantized:
            self._compare_quantized_values(actual, expected, **how)
        elif actual.is_sparse:
            self._compare_sparse_coo_values(actual, expected, **how)
        elif actual.layout in _INDICES:
            self._compare_sparse_compressed_values(actual, expected, **how)
        else:
            self._compare_regular_values_close(actual, expected, **how)

    def _compare_quantized_values(
        self, actual: Tensor, expected: Tensor, *, rtol: float, atol: float, equal_nan: bool
    ) -> None:
        how: dict[str, Any] = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
        self._compare_regular_values_close(actual.dequantize(), expected.dequantize(), **how)

    def _compare_sparse_coo_values(
        self, actual: Tensor, expected: Tensor, *, rtol: float, atol: float, equal_nan: bool
    ) -> None:
        if actual.is_coalesced() != expected.is_coalesced():
            actual, expected = actual.coalesce(), expected.coalesce()
        self._compare_stored(actual._nnz(), expected._nnz())
        self._compare_regular_values_equal(actual._indices(), expected._indices(), identifier="the indices")
        self._compare_regular_values_close(
            actual._values(), expected._values(), rtol=rtol, atol=atol, equal_nan=equal_nan, identifier="the values"
        )

    def _compare_sparse_compressed_values(
        self, actual: Tensor, expected: Tensor, *, rtol: float, atol: float, equal_nan: bool
    ) -> None:
        self._compare_stored(actual._nnz(), expected._nnz())
        for name in _INDICES[actual.layout]:
            left, right = (getattr(x, name)() for x in (actual, expected))
            self._compare_regular_values_equal(left, right, identifier=f"the {name}")
        self._compare_regular_values_close(
            actual.values(), expected.values(), rtol=rtol, atol=atol, equal_nan=equal_nan, identifier="the values"
        )

    def _compare_stored(self, actual: int, expected: int) -> None:
        if actual != expected:
            self._fail(AssertionError, f"the tensors store other numbers of values: got {actual}, expected {expected}")

    def _compare_regular_values_equal(
        self, actual: Tensor, expected: Tensor, *, equal_nan: bool = False, identifier: Message = None
    ) -> None:
        self._compare_regular_values_close(actual, expected, rtol=0, atol=0, equal_nan=equal_nan, identifier=identifier)

    def _compare_regular_values_close(
        self, actual: Tensor, expected: Tensor, *, rtol: float, atol: float, equal_nan: bool, identifier: Message = None
    ) -> None:
        left, right = (x.to(_computing_dtype(x.dtype)) for x in (actual, expected))
        close = taeda.isclose(left, right, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if not bool(close.all()):
            text = make_tensor_mismatch_msg(left, right, close, rtol=rtol, atol=atol, identifier=identifier)
            self._fail(AssertionError, text)

    def extra_repr(self) -> Sequence[str]:
        return "rtol", "atol", "equal_nan", "check_device", "check_dtype", "check_layout", "check_stride"


def _computing_dtype(dtype: taeda.dtype) -> taeda.dtype:
    """A dtype with arithmetic in place of one that only stores."""
    if dtype.is_floating_point and dtype.itemsize < 2:
        return taeda.float32
    return taeda.int64 if dtype in (taeda.uint16, taeda.uint32, taeda.uint64) else dtype


def make_tensor_mismatch_msg(
    actual: Tensor, expected: Tensor, matches: Tensor, *, rtol: float, atol: float, identifier: Message = None
) -> str:
    """How many elements differ, and the greatest absolute and relative differences with their indices."""
    wrong, total = int((~matches).sum()), matches.numel()
    share = f"{wrong} of {total} elements differ ({100 * wrong / total:.1f} %), tolerances: rtol {rtol}, atol {atol}"
    lines = [share if identifier is None else f"{named('the tensors', identifier)}: {share}"]
    wide = taeda.complex128 if actual.is_complex() else taeda.float64
    left, right = actual.to(wide), expected.to(wide)
    absolute = (left - right).abs()
    relative = absolute / right.abs()
    for name, difference in (("absolute", absolute), ("relative", relative)):
        ranked = difference.masked_fill(matches, -1).nan_to_num(nan=math.inf, posinf=math.inf).flatten()
        worst = taeda.topk(ranked, min(_SHOWN, wrong)).indices.tolist()
        lines.append(f"Greatest {name} differences:")
        lines += [_line(actual, expected, difference, index) for index in worst]
    return "\n".join(lines)


def _line(actual: Tensor, expected: Tensor, difference: Tensor, flat: int) -> str:
    index = []
    for size in reversed(actual.shape):
        flat, rest = divmod(flat, size)
        index.append(rest)
    at = tuple(reversed(index))
    value = difference[at].item()
    return f"  {value:.6g} at {at}: got {actual[at].item()}, expected {expected[at].item()}"
