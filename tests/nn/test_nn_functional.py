"""The functions that no module covers, and their errors, against torch's."""

from __future__ import annotations

import math
from typing import Any

import pytest

import taeda
import taeda.nn.functional as F

torch = pytest.importorskip("torch")

from nn_twin import assert_same, outcome, to_taeda, to_torch, total  # noqa: E402

pytestmark = pytest.mark.torch


def rand(*shape: int) -> Any:
    return torch.rand(shape)


def randn(*shape: int) -> Any:
    return torch.randn(shape)


def trained(*shape: int) -> Any:
    return torch.randn(shape, requires_grad=True)


def ints(high: int, *shape: int) -> Any:
    return torch.randint(0, high, shape)


IMAGE, LINE, VOLUME = (2, 3, 5, 4), (2, 3, 6), (1, 2, 3, 4, 5)

CASES: list[tuple[str, Any]] = (
    [
        ("normalize", lambda: ((trained(2, 3),), {})),
        ("normalize", lambda: ((trained(2, 3), 1.0, -1, 0.5), {})),
        ("gumbel_softmax", lambda: ((trained(4, 3),), {"tau": 0.5})),
        ("gumbel_softmax", lambda: ((trained(4, 3),), {"hard": True, "dim": 0})),
        ("gumbel_softmax", lambda: ((randn(4, 3).t(),), {})),
        ("one_hot", lambda: ((ints(3, 4),), {"num_classes": 5})),
        ("affine_grid", lambda: ((trained(2, 2, 3), (2, 3, 4, 5)), {"align_corners": True})),
        ("affine_grid", lambda: ((trained(1, 3, 4), [1, 1, 2, 3, 4]), {})),
        ("softmax", lambda: ((trained(2, 3),), {"dim": 1, "dtype": "float64"})),
        ("log_softmax", lambda: ((trained(2, 3, 4),), {})),
        ("softmin", lambda: ((trained(2),), {})),
        ("softmax", lambda: ((trained(2, 3, 4, 5),), {})),
        ("pad", lambda: ((trained(*LINE), (1, -2)), {})),
        ("pad", lambda: ((trained(*LINE), (1, 2), "reflect"), {})),
        ("pad", lambda: ((trained(*IMAGE), (1, 2, 0, 1), "circular"), {})),
        ("pad", lambda: ((trained(*IMAGE), (1, 2)), {"value": 3.0})),
        ("mse_loss", lambda: ((trained(2, 3), randn(2, 3)), {"weight": rand(2, 3)})),
        ("mse_loss", lambda: ((trained(2, 3), randn(2, 3)), {"weight": rand(2, 3), "reduction": "none"})),
        ("l1_loss", lambda: ((trained(2, 3), randn(2, 3)), {"weight": rand(2, 3), "reduction": "sum"})),
        ("l1_loss", lambda: ((trained(2, 3), randn(2, 3)), {"weight": rand(2, 3)})),
        ("huber_loss", lambda: ((trained(2, 3), randn(2, 3)), {"weight": rand(2, 3)})),
        ("mse_loss", lambda: ((trained(2, 3), randn(3)), {})),
        ("binary_cross_entropy", lambda: ((rand(2, 3), rand(2, 3), rand(3)), {"reduction": "none"})),
        ("binary_cross_entropy_with_logits", lambda: ((trained(2, 3), rand(2, 3), rand(3)), {"pos_weight": rand(3)})),
        ("cross_entropy", lambda: ((trained(4, 3), ints(3, 4), rand(3)), {"label_smoothing": 0.2})),
        ("nll_loss", lambda: ((trained(4, 3), ints(3, 4), rand(3)), {"reduction": "sum"})),
        ("multilabel_soft_margin_loss", lambda: ((trained(2, 3), ints(2, 2, 3), rand(3)), {})),
        ("multi_margin_loss", lambda: ((trained(2, 3), ints(3, 2)), {"weight": rand(3)})),
        ("gaussian_nll_loss", lambda: ((trained(2, 3), randn(2, 3), rand(2, 1)), {})),
        ("gaussian_nll_loss", lambda: ((trained(2, 3), randn(2, 3), rand(1, 3)), {})),
        ("gaussian_nll_loss", lambda: ((trained(2, 3), randn(2, 3), 0.0), {})),
        ("kl_div", lambda: ((trained(2, 3), rand(2, 3)), {"size_average": False})),
        ("bilinear", lambda: ((trained(2, 3), trained(2, 4), trained(5, 3, 4)), {})),
        ("pdist", lambda: ((trained(4, 3),), {})),
        ("conv_tbc", lambda: ((trained(5, 2, 3), trained(2, 3, 4), trained(4)), {"pad": 1})),
        ("embedding", lambda: ((ints(4, 2, 3), trained(4, 2)), {"padding_idx": -2})),
        ("embedding_bag", lambda: ((ints(4, 2, 3), trained(4, 2)), {"mode": "sum", "per_sample_weights": rand(2, 3)})),
        ("embedding_bag", lambda: ((ints(4, 2, 3), trained(4, 2)), {"padding_idx": 1, "mode": "mean"})),
        ("layer_norm", lambda: ((trained(2, 3), (3,)), {})),
        ("rms_norm", lambda: ((trained(2, 3), [3], trained(3)), {"eps": 0.1})),
        ("scaled_dot_product_attention", lambda: ((trained(2, 3, 4), randn(2, 5, 4), randn(2, 5, 4)), {})),
        ("upsample", lambda: ((trained(*IMAGE),), {"scale_factor": 2})),
        ("upsample_nearest", lambda: ((trained(*IMAGE),), {"size": 3})),
        ("upsample_bilinear", lambda: ((trained(*IMAGE),), {"scale_factor": 2})),
        ("interpolate", lambda: ((trained(*IMAGE), 3), {"mode": "bilinear", "antialias": True})),
        ("interpolate", lambda: ((trained(*IMAGE), (3, 7)), {"mode": "bicubic", "antialias": True})),
        ("interpolate", lambda: ((trained(*LINE),), {"scale_factor": 0.6, "mode": "area"})),
        ("interpolate", lambda: ((trained(*VOLUME), 2), {"mode": "area"})),
        ("interpolate", lambda: ((trained(*VOLUME), 2), {"mode": "nearest-exact"})),
        ("interpolate", lambda: ((trained(*LINE),), {"scale_factor": [1.4], "mode": "linear"})),
        ("dropout1d", lambda: ((randn(3, 4),), {"inplace": True})),
        ("dropout3d", lambda: ((randn(3, 4, 2, 2),), {"inplace": True})),
        ("alpha_dropout", lambda: ((randn(3, 4),), {"training": True, "inplace": True})),
        ("feature_alpha_dropout", lambda: ((randn(3, 4, 2),), {"training": True})),
        ("max_pool2d", lambda: ((trained(*IMAGE), 2, 1, 0, 1, False, True), {})),
        ("max_pool1d_with_indices", lambda: ((trained(*LINE), 2), {})),
        ("max_pool2d_with_indices", lambda: ((trained(*IMAGE), 2), {})),
        ("max_pool3d_with_indices", lambda: ((trained(*VOLUME), 2), {})),
        ("adaptive_max_pool1d_with_indices", lambda: ((trained(*LINE), 2), {})),
        ("adaptive_max_pool2d", lambda: ((trained(*IMAGE), (2, None), True), {})),
        ("lp_pool2d", lambda: ((torch.zeros(1, 1, 4, 4, requires_grad=True), 2, 2), {})),
        ("lp_pool3d", lambda: ((trained(*VOLUME), 1.0, (1, 2, 2)), {})),
        ("hardtanh", lambda: ((randn(5), -0.1, 0.1, True), {})),
        ("threshold_", lambda: ((randn(5), 0.1, 0.2), {})),
        ("hardtanh_", lambda: ((randn(5), -0.1, 0.1), {})),
        ("leaky_relu_", lambda: ((randn(5), 0.1), {})),
        ("elu_", lambda: ((randn(5), 0.1), {})),
        ("celu_", lambda: ((randn(5), 0.1), {})),
        ("selu_", lambda: ((randn(5),), {})),
        ("relu_", lambda: ((randn(5),), {})),
        ("rrelu_", lambda: ((randn(5),), {})),
    ]
    + [
        (
            "grid_sample",
            lambda mode=mode, padding=padding, corners=corners: (
                (trained(*IMAGE), torch.rand(2, 3, 3, 2, requires_grad=True) * 2.4 - 1.2),
                {"mode": mode, "padding_mode": padding, "align_corners": corners},
            ),
        )
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for corners in (True, False, None)
    ]
    + [
        (
            "grid_sample",
            lambda sizes=sizes, mode=mode, padding=padding, corners=corners: (
                (trained(2, 3, *sizes), (torch.rand(2, *sizes[::-1], len(sizes)) * 3 - 1.5).requires_grad_()),
                {"mode": mode, "padding_mode": padding, "align_corners": corners},
            ),
        )
        for sizes in ((3, 4), (11, 9), (1, 5), (3, 2, 4), (4, 1, 5))
        for mode in ("bilinear", "nearest", "bicubic")[: 5 - len(sizes)]
        for padding in ("zeros", "border", "reflection")
        for corners in (True, False)
    ]
    + [
        (
            "ctc_loss",
            lambda case=case: (
                (torch.randn(*case[0], dtype=torch.float64).log_softmax(-1).requires_grad_(), *case[1:4]),
                case[4],
            ),
        )
        for case in [
            ((6, 2, 5), torch.tensor([[1, 2, 2], [3, 1, 0]]), [6, 5], [3, 2], {}),
            ((6, 2, 5), torch.tensor([1, 2, 2, 3, 1]), [6, 5], [3, 2], {"reduction": "sum"}),
            ((6, 2, 5), torch.tensor([1, 2, 2, 3, 1]).int(), torch.tensor([6, 5]), torch.tensor([3, 2]), {}),
            ((6, 2, 5), torch.tensor([[1, 2, 2], [3, 1, 0]]), [6, 5], [3, 0], {"reduction": "none"}),
            ((3, 2, 5), torch.tensor([[1, 1, 1], [3, 1, 0]]), [3, 3], [3, 2], {"reduction": "none"}),
            ((3, 2, 5), torch.tensor([[1, 1, 1], [3, 1, 0]]), [3, 3], [3, 2], {"zero_infinity": True}),
            ((3, 2, 5), torch.tensor([[0, 1, 1], [3, 1, 0]]), [3, 0], [2, 1], {"blank": 4, "zero_infinity": True}),
            ((4, 3), torch.tensor([1, 2]), (4,), (2,), {"reduction": "none"}),
            ((4, 3), torch.tensor([1, 2]), torch.tensor(4), torch.tensor(2), {}),
            ((70, 3, 40), torch.randint(1, 40, (3, 30)), [70, 64, 50], [30, 20, 25], {"reduction": "none"}),
        ]
    ]
    + [
        (f"fractional_max_pool{n}d", lambda n=n, sizes=sizes: ((trained(2, 3, *(9, 7, 8)[:n]), *sizes), {}))
        for n in (2, 3)
        for sizes in ((2, 3), (3, 1), (1, (5, 6, 4)[:n]), (2, None, (0.4,) * n))
    ]
    + [
        ("pdist", lambda sizes=sizes, p=p: ((trained(*sizes), p), {}))
        for sizes in ((5, 3), (4, 40))
        for p in (0.0, 0.5, 1.0, 1.5, 3.0, float("inf"))
    ]
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, make", CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_function(name: str, make: Any) -> None:
    torch.manual_seed(2)
    args, kwargs = make()
    our_args, our_kwargs = to_taeda(args), to_taeda(kwargs)
    if "dtype" in kwargs:
        our_kwargs["dtype"], kwargs["dtype"] = getattr(taeda, kwargs["dtype"]), getattr(torch, kwargs["dtype"])
    torch.manual_seed(4)
    theirs = getattr(torch.nn.functional, name)(*args, **kwargs)
    taeda.manual_seed(4)
    ours = getattr(F, name)(*our_args, **our_kwargs)
    assert_same(ours, theirs)
    assert_same(our_args, args)
    scalar = total(theirs)
    if scalar is not None and scalar.requires_grad:
        leaves = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.requires_grad and arg.is_leaf]
        our_leaves = [our for our, arg in zip(our_args, args, strict=True) if any(arg is leaf for leaf in leaves)]
        scalar.backward()
        total(ours).backward()
        for our_leaf, leaf in zip(our_leaves, leaves, strict=True):
            assert_same(our_leaf.grad, leaf.grad, rtol=1e-4, atol=1e-5)


O = [1.0, 2.0]
ERRORS: list[tuple[str, Any]] = [
    ("glu", lambda t: (t.tensor(1.0),)),
    ("hardtanh", lambda t: (t.ones(2), 1.0, -1.0)),
    ("dropout", lambda t: (t.ones(2), 1.5)),
    ("dropout", lambda t: (t.ones(2), -0.5)),
    ("alpha_dropout", lambda t: (t.ones(2), 2.0)),
    ("dropout1d", lambda t: (t.ones(2),)),
    ("dropout2d", lambda t: (t.ones(2, 2, 2), 3.0)),
    ("mse_loss", lambda t: (t.ones(2), t.ones(2), None, None, "avg")),
    ("mse_loss", lambda t: (t.ones(2), t.ones(2), None, None, "mean", t.ones(3))),
    ("binary_cross_entropy", lambda t: (t.ones(2), t.ones(1))),
    ("binary_cross_entropy_with_logits", lambda t: (t.ones(2), t.ones(1))),
    ("kl_div", lambda t: (t.ones(2), t.ones(2), None, None, "batch")),
    ("gaussian_nll_loss", lambda t: (t.ones(2), t.ones(2), t.tensor(O) - 2)),
    ("gaussian_nll_loss", lambda t: (t.ones(2), t.ones(2), -1.0)),
    ("gaussian_nll_loss", lambda t: (t.ones(2, 3), t.ones(2, 3), t.ones(3, 1))),
    ("gaussian_nll_loss", lambda t: (t.ones(2, 3), t.ones(2, 3), t.ones(1, 1))),
    ("gaussian_nll_loss", lambda t: (t.ones(2), t.ones(2), t.ones(2), False, 1e-6, "avg")),
    ("multi_margin_loss", lambda t: (t.ones(2, 3), t.ones(2).long(), 3)),
    ("multi_margin_loss", lambda t: (t.ones(2, 3), t.ones(2).long(), 1, 1.0, t.ones(1, 3))),
    ("margin_ranking_loss", lambda t: (t.ones(2), t.ones(1, 2), t.ones(2))),
    ("triplet_margin_loss", lambda t: (t.ones(2), t.ones(2), t.ones(2), -1.0)),
    ("triplet_margin_with_distance_loss", lambda t: (t.ones(2), t.ones(1, 2), t.ones(2))),
    ("cosine_embedding_loss", lambda t: (t.ones(2, 2), t.ones(2, 2), t.ones(2, 2))),
    ("batch_norm", lambda t: (t.ones(1, 2), None, None, None, None, True)),
    ("instance_norm", lambda t: (t.ones(1, 2, 1),)),
    ("group_norm", lambda t: (t.ones(2), 1)),
    ("group_norm", lambda t: (t.ones(1, 2), 2)),
    ("local_response_norm", lambda t: (t.ones(2, 2), 2)),
    ("embedding", lambda t: (t.tensor([0]), t.ones(2, 2), 2)),
    ("embedding_bag", lambda t: (t.tensor([0]), t.ones(2, 2))),
    ("embedding_bag", lambda t: (t.tensor([[0]]), t.ones(2, 2), t.tensor([0]))),
    ("embedding_bag", lambda t: (t.tensor([[[0]]]), t.ones(2, 2))),
    ("embedding_bag", lambda t: (t.tensor([[0]]), t.ones(2, 2), None, None, 2, False, "prod")),
    ("embedding_bag", lambda t: (t.tensor([[0]]), t.ones(2, 2), None, None, 2, True, "max")),
    ("embedding_bag", lambda t: (t.tensor([[0]]), t.ones(2, 2), None, None, 2, False, "mean", False, t.ones(1, 1))),
    ("embedding_bag", lambda t: (t.tensor([[0]]), t.ones(2, 2), None, None, 2, False, "sum", False, t.ones(2, 1))),
    ("interpolate", lambda t: (t.ones(1, 1, 2, 2),)),
    ("interpolate", lambda t: (t.ones(1, 1, 2, 2), 3, 2.0)),
    ("interpolate", lambda t: (t.ones(1, 1, 2, 2), (1, 2, 3))),
    ("interpolate", lambda t: (t.ones(1, 1, 2, 2), 3, None, "linear")),
    ("interpolate", lambda t: (t.ones(1, 1, 2, 2), 3, None, "foo")),
    ("interpolate", lambda t: (t.ones(2, 2), 3)),
    ("interpolate", lambda t: (t.ones(1, 1, 2, 2), 3, None, "nearest", True)),
    ("interpolate", lambda t: (t.ones(1, 1, 2, 2), 3, None, "bilinear", False, True)),
    ("interpolate", lambda t: (t.ones(1, 1, 2, 2), 3, None, "nearest", None, None, True)),
    ("grid_sample", lambda t: (t.ones(1, 1, 2, 2), t.ones(1, 2, 2, 2), "foo")),
    ("grid_sample", lambda t: (t.ones(1, 1, 2, 2), t.ones(1, 2, 2, 2), "nearest", "foo")),
    ("affine_grid", lambda t: (t.ones(1, 2, 3), (1, 2, 3))),
    ("affine_grid", lambda t: (t.ones(1, 2, 4), (1, 2, 3, 3))),
    ("affine_grid", lambda t: (t.ones(1, 2, 3), (1, 2, 0, 3))),
    ("affine_grid", lambda t: (t.ones(1, 2, 3).long(), (1, 2, 3, 3))),
    ("adaptive_avg_pool2d", lambda t: (t.ones(2, 2), (None, 2))),
    ("max_unpool1d", lambda t: (t.ones(1, 1, 2), t.tensor([[[0, 2]]]), 2, None, 0, (1, 1, 4, 4))),
    ("max_unpool1d", lambda t: (t.ones(1, 1, 2), t.tensor([[[0, 2]]]), 2, None, 0, (9,))),
    ("fractional_max_pool2d", lambda t: (t.ones(1, 1, 4, 4), 2)),
    ("fractional_max_pool2d", lambda t: (t.ones(1, 1, 4, 4), 2, 4)),
    ("fractional_max_pool2d", lambda t: (t.ones(1, 0, 4, 4), 2, 2)),
    ("fractional_max_pool2d", lambda t: (t.ones(1, 1, 4, 4).long(), 2, 2, None, False, t.ones(1, 1, 2).long())),
    ("fractional_max_pool3d", lambda t: (t.ones(1, 1, 4, 4, 4), 2, 2, None, False, t.ones(1, 1, 2))),
    ("grid_sample", lambda t: (t.ones(1, 1, 2, 2), t.ones(2, 2, 2, 2))),
    ("grid_sample", lambda t: (t.ones(1, 1, 2, 2), t.ones(1, 2, 2, 3))),
    ("grid_sample", lambda t: (t.ones(1, 1, 0, 2), t.ones(1, 2, 2, 2))),
    ("grid_sample", lambda t: (t.ones(1, 1, 2, 2), t.ones(1, 2, 2, 2).double())),
    ("grid_sample", lambda t: (t.ones(1, 1, 2, 2).long(), t.ones(1, 2, 2, 2).long())),
    ("grid_sample", lambda t: (t.ones(1, 1, 2, 2, 2), t.ones(1, 2, 2, 2, 3), "bicubic")),
    ("ctc_loss", lambda t: (t.ones(4, 2, 3), t.ones(2, 2).long(), [5, 4], [2, 1])),
    ("ctc_loss", lambda t: (t.ones(4, 2, 3), t.ones(2, 2).long(), [4, 4], [3, 1])),
    ("ctc_loss", lambda t: (t.ones(4, 2, 3), t.ones(2, 2).long(), [4], [2, 1])),
    ("ctc_loss", lambda t: (t.ones(4, 2, 3), t.ones(2, 2).long(), [4, 4], [2, 1], 3)),
    ("ctc_loss", lambda t: (t.ones(4, 2, 3).half(), t.ones(2, 2).long(), [4, 4], [2, 1])),
    ("ctc_loss", lambda t: (t.ones(4, 2, 3), t.ones(4).long(), [4, 4], [2, 1])),
    ("pdist", lambda t: (t.ones(2, 2), -1.0)),
    ("pdist", lambda t: (t.ones(2),)),
    ("pdist", lambda t: (t.ones(2, 2).long(),)),
    ("pad", lambda t: (t.ones(2), (1, 2, 3))),
    ("pad", lambda t: (t.ones(2), (1, 2), "foo")),
    ("one_hot", lambda t: (t.tensor([3]), 2)),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, args", ERRORS, ids=[f"{i}-{case[0]}" for i, case in enumerate(ERRORS)])
def test_error(name: str, args: Any) -> None:
    expected = outcome(lambda: getattr(torch.nn.functional, name)(*args(torch)))
    assert isinstance(expected, type)
    assert outcome(lambda: getattr(F, name)(*args(taeda))) is expected


def test_every_function_is_there() -> None:
    unrelated = {
        "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Callable", "DType", "Optional",
        "dataclasses", "importlib", "math", "np", "reproducibility_notes",
        "sparse_support_notes", "tf32_notes", "torch", "warnings",
    }  # fmt: skip
    names = {name for name in dir(torch.nn.functional) if not name.startswith("_")}
    assert {name for name in names if not hasattr(F, name)} == unrelated


def test_functions_live_in_the_public_module() -> None:
    assert F.relu.__module__ == "taeda.nn.functional"
    assert F.multi_head_attention_forward.__module__ == "taeda.nn.functional"


def test_embedding_limits_norms_in_place() -> None:
    weight = to_taeda(torch.full((2, 4), 2.0))
    F.embedding(taeda.tensor([1]), weight, max_norm=1.0)
    assert to_torch(weight).norm(dim=1).tolist() == pytest.approx([4.0, 1.0])
    assert math.isclose(float(F.normalize(weight, out=weight).sum()), 4.0, rel_tol=1e-5)


def test_embedding_bag_with_its_arguments_in_the_old_order():
    table, ids = taeda.eye(3), taeda.tensor([[0, 1]])
    with pytest.warns(UserWarning, match="swapped"):
        assert F.embedding_bag(table, ids).tolist() == F.embedding_bag(ids, table).tolist()
