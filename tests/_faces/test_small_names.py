"""Small private names that libraries import: they do what PyTorch's do, or say that there is nothing of the kind."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import taeda
from taeda import _decomp
from taeda._dynamo.utils import disable_cache_limit, warn_once
from taeda._higher_order_ops.inline_asm_elementwise import inline_asm_elementwise
from taeda._inductor import config, decomposition
from taeda._prims_common import make_contiguous_strides_for, suggest_memory_format
from taeda._utils import _set_obj_state
from taeda.ao.quantization.fx import _decomposed
from taeda.sparse import _triton_ops_meta
from taeda.utils import _triton

SHAPES = [(), (3,), (2, 3), (2, 0, 3), (2, 3, 4), (1, 1), (0, 2)]


@pytest.mark.torch
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("row_major", [True, False])
def test_strides_are_those_of_pytorch(shape: tuple[int, ...], row_major: bool) -> None:
    theirs = pytest.importorskip("torch._prims_common")
    assert make_contiguous_strides_for(shape, row_major) == theirs.make_contiguous_strides_for(shape, row_major)


def test_strides() -> None:
    for shape in SHAPES:
        assert make_contiguous_strides_for(shape) == taeda.empty(shape).stride()
    with pytest.raises(ValueError, match="at least 0"):
        make_contiguous_strides_for((2, -1))


@pytest.mark.torch
@pytest.mark.parametrize(
    "shape",
    [
        (2, 3, 4, 5),
        (2, 1, 4, 5),
        (2, 3, 1, 1),
        (0, 3, 4, 5),
        (1, 1, 1, 1),
        (2, 1, 1, 5),
        (2, 3, 4, 5, 6),
        (2, 1, 4, 5, 1),
        (2, 3),
    ],
)
def test_memory_formats_are_those_of_pytorch(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    from torch._prims_common import suggest_memory_format as theirs

    formats = ["contiguous_format", *{4: ["channels_last"], 5: ["channels_last_3d"]}.get(len(shape), [])]
    for name in formats:
        ours = suggest_memory_format(taeda.empty(shape, memory_format=getattr(taeda, name)))
        assert str(ours) == str(theirs(torch.empty(shape, memory_format=getattr(torch, name))))


def test_what_is_said_once() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            warn_once("said by test_what_is_said_once")
    assert len(told) == 1
    with disable_cache_limit():
        pass


def test_settings_and_tables_of_the_compiler() -> None:
    assert decomposition.register_decomposition is _decomp.register_decomposition
    config.triton.unique_kernel_names = True
    with config.patch(max_autotune=True):
        assert config.max_autotune
    assert not config.max_autotune
    with pytest.raises(AttributeError, match="no setting"):
        config.patch("no_such_setting", 1)


def test_what_needs_a_gpu_says_so() -> None:
    assert not (_triton.has_triton() or _triton.has_triton_package() or _triton.has_triton_tma())
    with pytest.raises(RuntimeError, match="CUDA device; got cpu"):
        inline_asm_elementwise(taeda.ones(1), asm_str="", constraints="", dtype=taeda.float32)
    assert _triton_ops_meta.get_meta("op", (1, 2)) is None
    _triton_ops_meta.update("op", "a device", 1, (1, 2), {"warps": 4})
    assert _triton_ops_meta.get_meta("op", (1, 2), "a device", 1) == {"warps": 4}
    with pytest.raises(RuntimeError, match="no kernels in Triton"):
        _triton_ops_meta.minimize(None)


class Slots:
    __slots__ = ("__dict__", "b")


def test_states_of_objects() -> None:
    for state, wanted in (({"a": 1}, (1, None)), (({"a": 1}, {"b": 2}), (1, 2)), ((None, {"b": 2}), (None, 2))):
        made: Any = _set_obj_state(Slots(), state)
        assert (getattr(made, "a", None), getattr(made, "b", None)) == wanted
    with pytest.raises(RuntimeError, match="a dict or a tuple"):
        _set_obj_state(Slots(), 3)


def test_which_tensors_data_may_be_exchanged() -> None:
    x = taeda.ones(2, 3)
    kinds = [x, x.double()[0], x.to("meta"), x.to_sparse(), x.to_sparse_csr()]
    same = [[taeda._has_compatible_shallow_copy_type(a, b) for b in kinds] for a in kinds]
    assert same == [[a // 2 == b // 2 and (a == b or a < 2) for b in range(5)] for a in range(5)]


def test_rows_have_a_scale_each() -> None:
    x, scales, zeros = taeda.ones(2, 3), taeda.ones(2, 1), taeda.zeros(2, 1)
    q = _decomposed.quantize_per_token(x, scales, zeros, -128, 127, taeda.int8)
    assert taeda.equal(_decomposed.dequantize_per_token(q, scales, zeros, -128, 127, taeda.int8), x)
    with pytest.raises(AssertionError, match="2 rows"):
        _decomposed.quantize_per_token(x, scales[:1], zeros, -128, 127, taeda.int8)


@pytest.mark.parametrize(
    "device, options, index",
    [
        (2, {}, 2),
        ("cuda:1", {}, 1),
        (taeda.device("cuda:3"), {}, 3),
        ("cpu", {"allow_cpu": True}, -1),
        ("cuda", {"optional": True}, None),
        (None, {"optional": True}, None),
    ],
)
def test_numbers_of_devices(device, options, index):
    assert taeda._utils._get_device_index(device, **options) == index


@pytest.mark.parametrize("device, options", [("cpu", {"optional": True}), ("cuda", {}), (None, {"allow_cpu": True})])
def test_devices_without_a_number(device, options):
    with pytest.raises(ValueError, match="_get_device_index"):
        taeda._utils._get_device_index(device, **options)
