"""assert_close: what passes, what fails and how, with PyTorch's verdict where it is installed."""

import math

import numpy
import pytest

import taeda
from taeda.testing import _comparison, assert_allclose, assert_close, make_tensor

T = taeda.tensor


class Sub(taeda.Tensor):
    pass


PASSES = [
    (T([1.0, 2.0]), T([1.0, 2.0 + 1e-6]), {}),
    (T([1.0]), T([1.5]), {"rtol": 0.5, "atol": 0}),
    (T([1.0, 2.0], dtype=taeda.bfloat16), T([1.0, 2.02], dtype=taeda.bfloat16), {}),
    (T([1]), T([1.0]), {"check_dtype": False}),
    (T([math.nan, math.inf]), T([math.nan, math.inf]), {"equal_nan": True}),
    (T([True, False]), T([True, False]), {}),
    (T([1 + 1j]), T([1 + 1j + 1e-9]), {}),
    (taeda.zeros(0, 3), taeda.zeros(0, 3), {}),
    (taeda.empty(2, device="meta"), taeda.empty(2, device="meta"), {}),
    (taeda.ones(2, 3).t(), taeda.ones(3, 2), {}),
    (taeda.ones(2).as_subclass(Sub), taeda.ones(2), {}),
    ([1, (2.0, None)], [1, (2.0 + 1e-9, None)], {}),
    ({"a": T(1), "b": [True]}, {"b": [True], "a": T(1)}, {}),
    (numpy.ones(3), numpy.ones(3), {}),
    (1.0, 1.0 + 1e-9, {}),
    (math.inf, math.inf, {}),
    (1, 1.0, {"check_dtype": False}),
    (numpy.float64(1.0), 1.0, {}),
]
FAILS = [
    (T([1.0, 2.0]), T([1.0, 2.1]), {}, "1 of 2 elements differ"),
    (T([1.0]), T([1]), {}, "dtypes"),
    (T([1, 2]), T([1, 3]), {}, "got 2, expected 3"),
    (T([1.0]), T([[1.0]]), {}, "shapes"),
    (T([math.nan]), T([math.nan]), {}, "nan"),
    (T([math.inf]), T([-math.inf]), {}, "inf"),
    (taeda.ones(2, 3).t(), taeda.ones(3, 2), {"check_stride": True}, "strides"),
    (taeda.ones(1), taeda.ones(1, device="meta"), {}, "devices"),
    ([1, 2], [1], {}, "2 and 1 entries"),
    ({"a": 1}, {"b": 1}, {}, r"missing \['b'\], unexpected \['a'\]"),
    ({"a": [1, 2]}, {"a": [1, 3]}, {}, r"At \['a'\]\[1\]: the numbers differ"),
    (1, 1.0, {}, "different types"),
    (True, False, {}, "booleans"),
    (None, 1, {}, "None"),
    (1.0, 2.0, {}, "absolute difference 1.0"),
    (math.nan, math.nan, {}, "nan"),
]


@pytest.mark.parametrize(("actual", "expected", "options"), PASSES)
def test_passes(actual, expected, options):
    assert_close(actual, expected, **options)


@pytest.mark.parametrize(("actual", "expected", "options", "text"), FAILS)
def test_fails(actual, expected, options, text):
    with pytest.raises(AssertionError, match=text):
        assert_close(actual, expected, **options)


@pytest.mark.parametrize(
    ("actual", "expected", "options", "error"),
    [
        (T(1.0), T(1.0), {"rtol": 0.1}, ValueError),
        (T(1.0), 1.0, {}, TypeError),
        (T(1.0), numpy.ones(()), {}, TypeError),
        ("a", "a", {}, TypeError),
        (object(), object(), {}, TypeError),
        ([T(1.0)], [[1.0]], {}, TypeError),
        (taeda.ones(2).as_subclass(Sub), taeda.ones(2), {"allow_subclasses": False}, TypeError),
    ],
)
def test_errors(actual, expected, options, error):
    with pytest.raises(error):
        assert_close(actual, expected, **options)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_default_tolerances_are_torchs(dtype):
    torch = pytest.importorskip("torch")
    for factor in (1e-8, 1e-7, 2e-7, 1e-6, 2e-6, 1e-5, 1e-4, 1e-3, 2e-3, 1e-2, 2e-2, 1e-1):
        verdicts = []
        for module, check in ((torch, torch.testing.assert_close), (taeda, assert_close)):
            x = module.full((3,), 100.0, dtype=module.float64)
            a, b = ((x * f).to(getattr(module, dtype)) for f in (1, 1 + factor))
            try:
                check(a, b)
                verdicts.append(True)
            except AssertionError:
                verdicts.append(False)
        assert verdicts[0] == verdicts[1], factor


def test_message_ranks_the_differences():
    with pytest.raises(AssertionError) as caught:
        assert_close(T([[1.0, 200.0], [3.0, 4.0]]), T([[1.0, 100.0], [3.0, 1.0]]))
    lines = str(caught.value).splitlines()
    assert "2 of 4" in lines[0] and "50.0 %" in lines[0] and "rtol 1.3e-06" in lines[0]
    assert lines[2].startswith("  100 at (0, 1)") and lines[5].startswith("  3 at (1, 1)")


def test_every_pair_is_reported():
    with pytest.raises(AssertionError) as caught:
        assert_close([T(1), T(2), T(3)], [T(1), T(0), T(0)])
    assert "At [1]" in str(caught.value) and "At [2]" in str(caught.value)


@pytest.mark.parametrize(("msg", "text"), [("mine", "mine"), (lambda m: "before " + m, "before 1 of 1")])
def test_own_message(msg, text):
    with pytest.raises(AssertionError, match=text):
        assert_close(T([1.0]), T([2.0]), msg=msg)


def test_allclose():
    assert_allclose(T([1.0, math.nan]), [1.0, math.nan])
    with pytest.raises(AssertionError):
        assert_allclose(T([1.0]), [2.0])


def test_gradients_are_not_recorded():
    x = taeda.ones(2, requires_grad=True)
    assert_close(x * 2, T([2.0, 2.0]))
    with pytest.raises(AssertionError, match="got 2.0"):
        assert_close(x * 2, T([2.0, 3.0]))


DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
    "complex128",
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_make_tensor(dtype):
    dtype = getattr(taeda, dtype)
    x = make_tensor(20, 30, dtype=dtype)
    assert x.shape == (20, 30) and x.dtype == dtype and x.is_contiguous()
    wide = x.real.double() if dtype.is_complex else x.double()
    assert len(wide.unique()) > (1 if dtype == taeda.bool else 5)
    low, high = (0, 1) if dtype == taeda.bool else (0, 9) if dtype == taeda.uint8 else (-9, 9)
    assert low <= wide.min() and wide.max() <= high
    assert make_tensor((2, 3), dtype=dtype, noncontiguous=True).stride() == (6, 2)
    assert make_tensor((), dtype=dtype, noncontiguous=True).shape == ()
    assert make_tensor(50, dtype=dtype, low=0, high=2, exclude_zero=True).ne(0).all()
    assert make_tensor([0, 2], dtype=dtype).shape == (0, 2)
    with taeda.device("meta"):
        assert make_tensor(2, dtype=dtype).is_meta and not make_tensor(2, dtype=dtype, device="cpu").is_meta


def test_make_tensor_arguments():
    x = make_tensor(2, 3, 4, 5, dtype=taeda.float32, memory_format=taeda.channels_last, requires_grad=True)
    assert x.is_contiguous(memory_format=taeda.channels_last) and x.requires_grad and x.is_leaf
    assert make_tensor(1000, dtype=taeda.int8, low=-500, high=500).double().std() > 50
    assert make_tensor(100, dtype=taeda.float32, low=-3e38, high=3e38).isfinite().all()
    assert (make_tensor(100, dtype=taeda.int64, low=3, high=4) == 3).all()


@pytest.mark.parametrize(
    "arguments",
    [
        {"dtype": "float32", "low": 2, "high": 1},
        {"dtype": "int64", "low": 1, "high": 1},
        {"dtype": "int64", "low": 0.2, "high": 0.8},
        {"dtype": "float32", "low": math.nan},
        {"dtype": "uint8", "low": -5, "high": -1},
        {"dtype": "int64", "requires_grad": True},
        {"dtype": "float32", "noncontiguous": True, "memory_format": "contiguous_format"},
    ],
)
def test_make_tensor_refuses(arguments):
    named = {k: getattr(taeda, v) if isinstance(v, str) else v for k, v in arguments.items()}
    with pytest.raises(ValueError, match="make_tensor"):
        make_tensor(2, 2, **named)


def stored(values, indices=((0, 1), (1, 0))):
    return taeda.sparse_coo_tensor(T(indices), T(values), (2, 2))


Q = taeda.quantize_per_tensor


@pytest.mark.parametrize(
    ("actual", "expected", "text"),
    [
        (stored([1.0, 2.0]).coalesce(), stored([1.0, 2.0]), None),
        (stored([1.0, 2.0]), stored([1.0, 3.0]), "the values: 1 of 2"),
        (stored([1.0, 0.0]), stored([1.0], ((0,), (1,))), "got 2, expected 1"),
        (stored([1.0]  * 2), stored([1.0] * 2, ((0, 1), (1, 1))), "the indices: 1 of 4"),
        (taeda.eye(2).to_sparse_csr(), taeda.eye(2).to_sparse_csr(), None),
        (taeda.eye(2).to_sparse_csr(), taeda.eye(2).flip(0).to_sparse_csr(), "the col_indices"),
        (taeda.eye(2).to_sparse_csc(), 2 * taeda.eye(2).to_sparse_csc(), "the values"),
        (Q(taeda.ones(2), 0.1, 0, taeda.quint8), Q(taeda.ones(2), 0.05, 0, taeda.quint8), None),
        (Q(taeda.ones(2), 0.1, 0, taeda.quint8), Q(taeda.zeros(2), 0.1, 0, taeda.quint8), "2 of 2"),
    ],
)  # fmt: skip
def test_what_is_stored_is_compared(actual, expected, text):
    if text is None:
        assert_close(actual, expected)
    else:
        with pytest.raises(AssertionError, match=text):
            assert_close(actual, expected)


class MeanPair(_comparison.TensorLikePair):
    """Images: lists of rows count as tensors, and their mean difference is what must be small."""

    def __init__(self, actual, expected, *, mean=False, **other):
        super().__init__(actual, expected, **other)
        self.mean = mean

    def _process_inputs(self, actual, expected, *, id, allow_subclasses):
        if isinstance(actual, set):
            self._inputs_not_supported()
        return super()._process_inputs(actual, expected, id=id, allow_subclasses=allow_subclasses)

    def _compare_values(self, actual, expected):
        if not self.mean:
            super()._compare_values(actual, expected)
        elif (difference := float((actual - expected).abs().mean())) > self.atol:
            self._fail(AssertionError, f"the mean difference is {difference}")


def test_libraries_have_pairs_of_their_own():
    pair_types = (_comparison.NonePair, _comparison.NumberPair, MeanPair, _comparison.ObjectPair)

    def found(actual, expected, **options):
        metas = _comparison.not_close_error_metas(actual, expected, pair_types=pair_types, **options)
        return [(meta.type, meta.id, meta.msg.partition("\n")[0]) for meta in metas]

    two = T([1.0, 2.0])
    assert found([two, {"a": 1}], [two + 0.25, {"a": 1}], mean=True, rtol=0, atol=0.5) == []
    wrong = found([two, {"a": 1}, {3}], [two + 1, {"a": 2}, {4}], mean=True, rtol=0, atol=0.5)
    assert [(kind, place) for kind, place, _ in wrong] == [(AssertionError, (0,)), (AssertionError, (1, "a")),
                                                           (AssertionError, (2,))]  # fmt: skip
    assert wrong[0][2] == "the mean difference is 1.0" and wrong[2][2] == "got {3}, expected {4}"
    (meta,) = _comparison.not_close_error_metas([1], [2])
    assert str(meta.to_error()) == "At [0]: got 1, expected 2" and str(meta.to_error("mine")) == "mine"
    with pytest.raises(AssertionError, match="1 and 2 entries"):
        _comparison.not_close_error_metas([1], [1, 2])
    with pytest.raises(TypeError, match="cannot compare int with str"):
        _comparison.not_close_error_metas(1, "a", pair_types=(MeanPair,))
    with pytest.raises(RuntimeError, match="comparison of this pair fails"):
        _comparison.not_close_error_metas(1, 2, pair_types=(_comparison.Pair,))


def test_pairs_show_themselves():
    (pair,) = _comparison.originate_pairs([1.0], [2.0], pair_types=(_comparison.NumberPair,), more=3)
    assert repr(pair).splitlines()[:4] == ["NumberPair(", "    id=(0,),", "    actual=1.0,", "    expected=2.0,"]
    assert pair._unknown_parameters == {"more": 3} and pair.rtol == 1e-7
    assert _comparison.default_tolerances(taeda.float32, T(1.0, dtype=taeda.bfloat16)) == (1.6e-2, 1e-5)
    with pytest.raises(TypeError, match="of tensors and dtypes; got str"):
        _comparison.default_tolerances("float32")
