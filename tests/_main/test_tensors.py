"""What the main namespace asks of tensors and sizes."""

import pytest

import taeda

VALUES = [
    lambda T: 1, lambda T: True, lambda T: 1.5, lambda T: 1j, lambda T: T.ones(()), lambda T: T.ones(1).double(),
    lambda T: T.ones(2).half(), lambda T: T.ones((), dtype=T.int32), lambda T: T.ones(1, dtype=T.int64),
    lambda T: T.ones(1, dtype=T.bool), lambda T: T.ones((), dtype=T.complex64), lambda T: T.ones(1).bfloat16(),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("default", ["float32", "float64"])
def test_result_types_are_torchs(default):
    torch = pytest.importorskip("torch")
    try:
        for T in (taeda, torch):
            T.set_default_dtype(getattr(T, default))
        for a in VALUES:
            for b in VALUES:
                theirs = str(torch.result_type(a(torch), b(torch)))
                assert str(taeda.result_type(a(taeda), b(taeda))) == theirs
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.torch
def test_type_names_are_torchs():
    torch = pytest.importorskip("torch")
    for get in (lambda T: T.nn.Linear, lambda T: T.nn.Linear(1, 1), lambda T: T.ones(1), lambda T: T.FloatTensor,
                lambda T: 3, lambda T: int, lambda T: len, lambda T: []):  # fmt: skip
        assert taeda.typename(get(taeda)).replace("taeda", "torch") == torch.typename(get(torch))


def test_small_functions():
    assert taeda.sym_sum([1, 2.5]) == 3.5 and taeda.sym_ite(False, 1, 2) == 2 and taeda.sym_sqrt(4) == 2.0
    assert not taeda.is_neg(taeda.ones(1)) and not taeda.is_distributed(taeda.ones(1))
    assert not taeda.is_vulkan_available()
    taeda._assert(True, "fine")
    with pytest.raises(AssertionError, match="not so"):
        taeda._assert(False, "not so")


def test_ranges_of_sizes():
    for call in (taeda.sym_constrain_range, taeda.sym_constrain_range_for_size):
        assert call(5) is call(5, min=3) is call(5, min=5, max=5) is None
        for wrong in (lambda: call(5, min=6), lambda: call(5, max=4), lambda: call(5, min=4, max=3)):  # noqa: B023
            with pytest.raises(RuntimeError, match=call.__name__):
                wrong()
    taeda.sym_constrain_range(-5)
    for options in ({}, {"max": 2}):
        with pytest.raises(RuntimeError, match="for_size"):
            taeda.sym_constrain_range_for_size(-5, **options)
    assert taeda.sym_fresh_size(3) == 3
