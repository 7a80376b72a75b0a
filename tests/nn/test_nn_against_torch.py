"""Every module class against its namesake: same seed, same weights, same printing, same outputs and gradients."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest

import taeda
import taeda.nn as nn
from taeda.nn.modules._hooks import HOOK_TABLES

torch = pytest.importorskip("torch")

from nn_twin import assert_same, to_taeda, to_torch, total  # noqa: E402

pytestmark = pytest.mark.torch


def case(name: str, args: tuple[Any, ...] = (), inputs: Any = ((2, 3),), /, **kwargs: Any) -> Any:
    """A class, its constructor's arguments, and its inputs: shapes, or functions that make a torch tensor."""
    label = f"{name}-{args}-{kwargs}"[:90]
    return pytest.param(name, args, kwargs, inputs, id=label)


def ints(high: int, *shape: int) -> Any:
    return lambda: torch.randint(0, high, shape)


def signs(*shape: int) -> Any:
    return lambda: torch.randint(0, 2, shape) * 2.0 - 1


def unit(*shape: int) -> Any:
    return lambda: torch.rand(shape)


def log_probs(*shape: int) -> Any:
    return lambda: torch.randn(shape).log_softmax(-1)


IMAGE = ((2, 4, 6, 5),)
LINE = ((2, 4, 7),)
VOLUME = ((2, 4, 5, 4, 3),)
SHAPES = {1: LINE, 2: IMAGE, 3: VOLUME}

POINTWISE = [
    case(name, args, **kwargs)
    for name, args, kwargs in [
        ("ReLU", (), {}),
        ("ReLU6", (), {}),
        ("Sigmoid", (), {}),
        ("Hardsigmoid", (), {}),
        ("Tanh", (), {}),
        ("SiLU", (), {}),
        ("Mish", (), {}),
        ("Hardswish", (), {}),
        ("ELU", (0.7,), {}),
        ("CELU", (0.7,), {}),
        ("SELU", (), {}),
        ("GELU", (), {}),
        ("GELU", ("tanh",), {}),
        ("Hardshrink", (0.3,), {}),
        ("Softshrink", (0.3,), {}),
        ("LeakyReLU", (0.2,), {}),
        ("LogSigmoid", (), {}),
        ("Softplus", (2.0, 1.0), {}),
        ("PReLU", (), {}),
        ("PReLU", (3,), {"init": 0.4}),
        ("Softsign", (), {}),
        ("Tanhshrink", (), {}),
        ("Softmin", (1,), {}),
        ("Softmax", (-1,), {}),
        ("LogSoftmax", (0,), {}),
        ("Softmax", (), {}),
        ("Threshold", (0.1, 5.0), {}),
        ("RReLU", (), {}),
        ("RReLU", (0.2, 0.4), {}),
        ("Hardtanh", (-0.5, 0.4), {}),
        ("Identity", (), {}),
        ("Flatten", (), {}),
        ("Unflatten", (1, (3, 1)), {}),
    ]
] + [
    case("GLU", (), ((2, 4),)),
    case("GLU", (0,), ((2, 4),)),
    case("Softmax2d", (), IMAGE),
    case("ReLU", (), inplace=True),
    case("LeakyReLU", (), inplace=True),
    case("ELU", (), inplace=True),
    case("Hardtanh", (), inplace=True),
    case("ReLU6", (), inplace=True),
    case("SiLU", (), inplace=True),
    case("RReLU", (), inplace=True),
    case("Threshold", (0.1, 2), inplace=True),
    case("Hardswish", (), inplace=True),
]

LINEAR = [
    case("Linear", (3, 4)),
    case("Linear", (3, 4), ((5, 2, 3),), bias=False),
    case("Linear", (3, 4), ((3,),)),
    case("Linear", (3, 4), (lambda: torch.randn(2, 3).double(),), dtype="float64"),
    case("Bilinear", (3, 4, 5), ((2, 3), (2, 4))),
    case("Bilinear", (3, 4, 5, False), ((2, 3), (2, 4))),
    case("LazyLinear", (4,), ((2, 3),)),
    case("LazyLinear", (4, False), ((2, 3),)),
    case("Embedding", (5, 3), (ints(5, 2, 4),)),
    case("Embedding", (5, 3, -1), (ints(5, 2, 4),)),
    case("Embedding", (5, 3, 0), (ints(5, 2, 4),), max_norm=1.0, norm_type=1.0, scale_grad_by_freq=True),
    case("EmbeddingBag", (5, 3), (ints(5, 2, 4),)),
    case("EmbeddingBag", (5, 3), (ints(5, 2, 4),), mode="max", padding_idx=2),
    case("EmbeddingBag", (5, 3), (ints(5, 6), lambda: torch.tensor([0, 2, 5])), mode="sum"),
    case("EmbeddingBag", (5, 3), (ints(5, 6), lambda: torch.tensor([0, 2, 6])), mode="sum", include_last_offset=True),
    case("CosineSimilarity", (), ((2, 3), (2, 3))),
    case("PairwiseDistance", (3.0, 1e-3, True), ((2, 3), (2, 3))),
    case("PixelShuffle", (2,), IMAGE),
    case("PixelUnshuffle", (2,), ((2, 4, 6, 4),)),
    case("ChannelShuffle", (2,), IMAGE),
    case("Fold", ((4, 5), (2, 2)), ((2, 12, 12),)),
    case("Unfold", ((2, 3),), IMAGE, dilation=2, padding=1, stride=2),
    case("AdaptiveLogSoftmaxWithLoss", (16, 20, [5, 10]), ((6, 16), lambda: torch.tensor([0, 4, 6, 9, 12, 19]))),
    case("AdaptiveLogSoftmaxWithLoss", (16, 20, [5]), ((16,), lambda: torch.tensor(7)), head_bias=True),
]

CONV = (
    [
        case(f"{kind}{n}d", args, SHAPES[n], **kwargs)
        for n in (1, 2, 3)
        for kind, args, kwargs in [
            ("Conv", (4, 6, 3), {}),
            ("Conv", (4, 6, 3, 2, 1), {"groups": 2, "bias": False}),
            ("Conv", (4, 6, 2), {"padding": "same", "dilation": 2}),
            ("Conv", (4, 6, 3), {"padding": "valid"}),
            ("Conv", (4, 6, 2), {"padding": "same", "padding_mode": "circular"}),
            ("Conv", (4, 6, 3), {"padding": 1, "padding_mode": "reflect"}),
            ("Conv", (4, 6, 3), {"padding": 1, "padding_mode": "replicate"}),
            ("ConvTranspose", (4, 6, 3), {}),
            ("ConvTranspose", (4, 6, 3, 2, 1, 1, 2), {"dilation": 2, "bias": False}),
            ("LazyConv", (6, 3), {"padding": 1}),
            ("LazyConvTranspose", (6, 3), {"stride": 2}),
        ]
    ]
    + [case(f"Conv{n}d", (4, 2, 2), (SHAPES[n][0][1:],)) for n in (1, 2, 3)]
    + [case(f"ConvTranspose{n}d", (4, 2, 2), (SHAPES[n][0][1:],)) for n in (1, 2, 3)]
    + [case("Conv2d", (4, 6, (3, 2)), IMAGE, stride=(1, 2), padding=(2, 1))]
)

POOL = [
    case(f"{kind}{n}d", args, SHAPES[n], **kwargs)
    for n in (1, 2, 3)
    for kind, args, kwargs in [
        ("MaxPool", (2,), {}),
        ("MaxPool", (3, 2, 1), {"ceil_mode": True}),
        ("MaxPool", (2,), {"return_indices": True, "dilation": 1}),
        ("AvgPool", (2,), {}),
        ("AvgPool", (3, 2, 1), {"ceil_mode": True, "count_include_pad": False}),
        ("AdaptiveAvgPool", (2,), {}),
        ("AdaptiveMaxPool", (2,), {}),
        ("AdaptiveMaxPool", (3,), {"return_indices": True}),
        ("LPPool", (2, 2), {}),
        ("LPPool", (3.0, 2, 1), {"ceil_mode": True}),
    ]
] + [
    case("AvgPool2d", (2,), IMAGE, divisor_override=3),
    case("AdaptiveAvgPool2d", ((None, 3),), IMAGE),
    case("AdaptiveMaxPool3d", ((None, 3, 2),), VOLUME),
    case("FractionalMaxPool2d", (2,), IMAGE, output_size=(3, 2)),
    case("FractionalMaxPool2d", (2,), IMAGE, output_ratio=0.5, return_indices=True),
    case("FractionalMaxPool3d", (2,), ((2, 4, 5, 4, 5),), output_size=2),
]

NORM = (
    [case(f"BatchNorm{n}d", (4,), SHAPES[n], **kwargs) for n in (1, 2, 3) for kwargs in (
        {}, {"affine": False}, {"track_running_stats": False}, {"momentum": None}, {"bias": False, "eps": 0.1}
    )]
    + [case(f"InstanceNorm{n}d", (4,), SHAPES[n], **kwargs) for n in (1, 2, 3) for kwargs in (
        {}, {"affine": True}, {"track_running_stats": True}
    )]
    + [case(f"LazyBatchNorm{n}d", (), SHAPES[n]) for n in (1, 2, 3)]
    + [case(f"LazyInstanceNorm{n}d", (), SHAPES[n]) for n in (1, 2, 3)]
    + [
        case("BatchNorm1d", (3,)),
        case("InstanceNorm2d", (4,), ((4, 3, 3),)),
        case("LayerNorm", (3,)),
        case("LayerNorm", ((4, 7), 0.1), LINE, bias=False),
        case("LayerNorm", (3,), elementwise_affine=False),
        case("GroupNorm", (2, 4), IMAGE),
        case("GroupNorm", (2, 4), IMAGE, affine=False),
        case("GroupNorm", (2, 4), IMAGE, bias=False),
        case("RMSNorm", (3,)),
        case("RMSNorm", ([4, 7],), LINE, eps=0.1, elementwise_affine=False),
        case("LocalResponseNorm", (3,), LINE),
        case("LocalResponseNorm", (2, 0.1, 0.5, 2.0), IMAGE),
        case("LocalResponseNorm", (4,), VOLUME),
    ]
)  # fmt: skip

DROPOUT = [
    case("Dropout", (0.3,)),
    case("Dropout", (), inplace=True),
    case("Dropout1d", (), LINE),
    case("Dropout1d", (), ((4, 7),)),
    case("Dropout2d", (), IMAGE),
    case("Dropout2d", (), LINE),
    case("Dropout3d", (), VOLUME),
    case("Dropout3d", (), IMAGE),
    case("AlphaDropout", (0.3,)),
    case("FeatureAlphaDropout", (0.3,), IMAGE),
]

PAD = [
    case(f"{kind}Pad{n}d", args, SHAPES[n])
    for n in (1, 2, 3)
    for kind, args in [
        ("Constant", (1, 2.5)),
        ("Zero", (tuple(range(2 * n)),)),
        ("Reflection", (1,)),
        ("Replication", (2,)),
        ("Circular", (1,)),
    ]
]

RESIZE = [
    case("Upsample", (), LINE, scale_factor=2),
    case("Upsample", ((3, 4),), IMAGE),
    case("Upsample", (), IMAGE, scale_factor=(1.5, 0.7), mode="bilinear"),
    case("Upsample", (), IMAGE, scale_factor=1.7, mode="bicubic", align_corners=True),
    case("Upsample", (5,), LINE, mode="linear"),
    case("Upsample", (), VOLUME, scale_factor=1.5, mode="trilinear", recompute_scale_factor=True),
    case("Upsample", (), IMAGE, scale_factor=0.5, mode="area"),
    case("Upsample", (), IMAGE, scale_factor=0.5, mode="nearest-exact"),
    case("UpsamplingBilinear2d", (), IMAGE, scale_factor=2),
    case("UpsamplingNearest2d", (4,), IMAGE),
]

LOSS = [
    case(name, args, inputs, reduction=reduction, **kwargs)
    for reduction in ("mean", "sum", "none")
    for name, args, kwargs, inputs in [
        ("L1Loss", (), {}, ((2, 3), (2, 3))),
        ("MSELoss", (), {}, ((2, 3), (2, 3))),
        ("SmoothL1Loss", (), {"beta": 0.5}, ((2, 3), (2, 3))),
        ("SmoothL1Loss", (), {"beta": 0.0}, ((2, 3), (2, 3))),
        ("HuberLoss", (), {"delta": 0.5}, ((2, 3), (2, 3))),
        ("NLLLoss", (), {}, (log_probs(4, 3), ints(3, 4))),
        ("NLLLoss", (), {"ignore_index": 1}, (lambda: torch.randn(2, 3, 4).log_softmax(1), ints(3, 2, 4))),
        ("CrossEntropyLoss", (), {}, ((4, 3), ints(3, 4))),
        ("CrossEntropyLoss", (), {"label_smoothing": 0.1}, ((2, 3, 4), ints(3, 2, 4))),
        ("CrossEntropyLoss", (), {}, ((4, 3), lambda: torch.rand(4, 3).softmax(1))),
        ("PoissonNLLLoss", (), {"full": True}, ((2, 3), unit(2, 3))),
        ("PoissonNLLLoss", (), {"log_input": False}, (unit(2, 3), unit(2, 3))),
        ("GaussianNLLLoss", (), {"full": True}, ((2, 3), (2, 3), unit(2, 3))),
        ("GaussianNLLLoss", (), {}, ((2, 3), (2, 3), unit(2))),
        ("GaussianNLLLoss", (), {}, ((2, 3), (2, 3), lambda: 0.7)),
        ("KLDivLoss", (), {}, (log_probs(2, 3), unit(2, 3))),
        ("KLDivLoss", (), {"log_target": True}, (log_probs(2, 3), log_probs(2, 3))),
        ("BCELoss", (), {}, (unit(2, 3), unit(2, 3))),
        ("BCEWithLogitsLoss", (), {}, ((2, 3), unit(2, 3))),
        ("HingeEmbeddingLoss", (), {"margin": 0.5}, ((2, 3), signs(2, 3))),
        ("SoftMarginLoss", (), {}, ((2, 3), signs(2, 3))),
        ("MultiLabelMarginLoss", (), {}, ((2, 3), lambda: torch.tensor([[1, -1, 0], [0, 2, -1]]))),
        ("MultiLabelSoftMarginLoss", (), {}, ((2, 3), ints(2, 2, 3))),
        ("MultiMarginLoss", (), {"p": 2, "margin": 0.5}, ((2, 3), ints(3, 2))),
        ("MarginRankingLoss", (), {"margin": 0.2}, ((3,), (3,), signs(3))),
        ("CosineEmbeddingLoss", (), {"margin": 0.1}, ((2, 3), (2, 3), signs(2))),
        ("TripletMarginLoss", (), {"swap": True}, ((2, 3), (2, 3), (2, 3))),
        ("TripletMarginWithDistanceLoss", (), {"swap": True}, ((2, 3), (2, 3), (2, 3))),
        (
            "CTCLoss",
            (),
            {"zero_infinity": True},
            (log_probs(6, 2, 4), lambda: torch.tensor([[1, 2, 3], [1, 1, 0]]), lambda: torch.tensor([6, 5]),
             lambda: torch.tensor([3, 2])),
        ),
    ]
] + [
    case("KLDivLoss", (), (log_probs(2, 3), unit(2, 3)), reduction="batchmean"),
    case("CrossEntropyLoss", (), ((3,), lambda: torch.tensor(1))),
    case("MSELoss", (False,), ((2, 3), (2, 3))),
    case("MSELoss", (), ((2, 3), (2, 3)), reduce=False),
]  # fmt: skip

RECURRENT = [
    case(name, (3, 4), inputs, **kwargs)
    for name in ("RNN", "GRU", "LSTM")
    for inputs, kwargs in [
        (((5, 2, 3),), {}),
        (((2, 5, 3),), {"num_layers": 2, "bidirectional": True, "batch_first": True, "bias": False}),
        (((5, 3),), {"num_layers": 2, "dropout": 0.5}),
    ]
] + [
    case("RNN", (3, 4, 2, "relu"), ((5, 2, 3), (2, 2, 4))),
    case("GRU", (3, 4), ((5, 3), (1, 4)), batch_first=True),
    case("LSTM", (3, 4), ((5, 2, 3),), proj_size=2, num_layers=2, bidirectional=True),
    case("LSTM", (3, 4), ((5, 2, 3), lambda: (torch.randn(1, 2, 4), torch.randn(1, 2, 4)))),
    case("RNNCell", (3, 4)),
    case("RNNCell", (3, 4), ((2, 3), (2, 4)), nonlinearity="relu", bias=False),
    case("GRUCell", (3, 4), ((3,), (4,))),
    case("LSTMCell", (3, 4)),
    case("LSTMCell", (3, 4), ((3,), lambda: (torch.randn(4), torch.randn(4)))),
]


def causal(size: int) -> Any:
    return lambda: torch.nn.Transformer.generate_square_subsequent_mask(size)


SMALL = {"d_model": 8, "nhead": 2, "dim_feedforward": 16}
ATTENTION = [
    case("MultiheadAttention", (8, 2), ((5, 3, 8), (4, 3, 8), (4, 3, 8))),
    case("MultiheadAttention", (8, 2), ((5, 8), (4, 8), (4, 8)), bias=False),
    case("MultiheadAttention", (8, 2), ((3, 5, 8), (3, 4, 6), (3, 4, 7)), kdim=6, vdim=7, batch_first=True),
    case("MultiheadAttention", (8, 2, 0.5), ((5, 3, 8),) * 3, add_bias_kv=True, add_zero_attn=True),
    case("TransformerEncoderLayer", (), ((5, 3, 8),), **SMALL),
    case("TransformerEncoderLayer", (), ((3, 5, 8), causal(5)), **SMALL, batch_first=True, norm_first=True),
    case("TransformerEncoderLayer", (), ((5, 8),), **SMALL, activation="gelu", bias=False, dropout=0.0),
    case("TransformerDecoderLayer", (), ((5, 3, 8), (4, 3, 8), causal(5)), **SMALL),
    case("TransformerDecoderLayer", (), ((5, 3, 8), (4, 3, 8)), **SMALL, norm_first=True),
    case(
        "Transformer", (), ((5, 3, 8), (4, 3, 8), causal(5), causal(4)), **SMALL, num_encoder_layers=2,
        num_decoder_layers=2
    ),
    case(
        "Transformer", (), ((3, 5, 8), (3, 4, 8)), **SMALL, num_encoder_layers=1, num_decoder_layers=1,
        batch_first=True, norm_first=True
    ),
]  # fmt: skip

CASES = POINTWISE + LINEAR + CONV + POOL + NORM + DROPOUT + PAD + RESIZE + LOSS + RECURRENT + ATTENTION


def build(package: Any, name: str, args: Any, kwargs: Any) -> Any:
    root = taeda if package is nn else torch
    if "dtype" in kwargs:
        kwargs = {**kwargs, "dtype": getattr(root, kwargs["dtype"])}
    root.manual_seed(3)
    return getattr(package, name)(*args, **kwargs)


def make_inputs(inputs: Any) -> tuple[Any, Any]:
    """Twin inputs; those given as shapes require grad."""
    torch.manual_seed(5)
    theirs = [torch.randn(spec).requires_grad_() if isinstance(spec, tuple) else spec() for spec in inputs]
    return to_taeda(theirs), theirs


def rng_states() -> tuple[Any, Any]:
    return to_torch(taeda.get_rng_state()), torch.get_rng_state()


def run(module: Any, root: Any, inputs: Any) -> Any:
    root.manual_seed(7)
    # An in-place module must not get a leaf.
    return module(*(x * 1 if getattr(x, "requires_grad", False) else x for x in inputs))


def rounding(name: str, args: Any, kwargs: Any, inputs: Any) -> float:
    """How far torch's own float32 gradient of the input is from that of float64, for what cancels badly."""
    if name != "LayerNorm":
        return 0.0
    grads = []
    for dtype in (torch.float32, torch.float64):
        module = build(torch.nn, name, args, kwargs).to(dtype)
        (x,) = make_inputs(inputs)[1]
        x = x.detach().to(dtype).requires_grad_()
        total(module(x)).backward()
        grads.append(x.grad.double())
    return float((grads[0] - grads[1]).abs().max())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, args, kwargs, inputs", CASES)
def test_module(name: str, args: Any, kwargs: Any, inputs: Any) -> None:
    ours, theirs = build(nn, name, args, kwargs), build(torch.nn, name, args, kwargs)
    if not name.startswith("Lazy"):
        assert_same(ours.state_dict(), theirs.state_dict(), rtol=0, atol=0)
        assert repr(ours) == repr(theirs)
        assert rng_states()[0].equal(rng_states()[1])
    our_inputs, their_inputs = make_inputs(inputs)
    our_output, their_output = run(ours, taeda, our_inputs), run(theirs, torch, their_inputs)
    assert_same(our_output, their_output)
    assert rng_states()[0].equal(rng_states()[1])
    our_total, their_total = total(our_output), total(their_output)
    if their_total is not None and their_total.requires_grad:
        our_total.backward()
        their_total.backward()
        pairs = [*zip(ours.parameters(), theirs.parameters(), strict=True)]
        pairs += [(o, t) for o, t in zip(our_inputs, their_inputs, strict=True) if getattr(t, "requires_grad", False)]
        for mine, yours in pairs:
            assert (mine.grad is None) == (yours.grad is None)
            if yours.grad is not None:
                tolerance = 1e-5 + rounding(name, args, kwargs, inputs)
                assert_same(mine.grad, yours.grad, rtol=1e-4, atol=tolerance)
    assert repr(ours) == repr(theirs)
    assert_same(ours.state_dict(), theirs.state_dict())
    assert ours.state_dict()._metadata == theirs.state_dict()._metadata

    ours.eval()
    theirs.eval()
    assert_same(run(ours, taeda, our_inputs), run(theirs, torch, their_inputs))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, args, kwargs, inputs", CASES)
def test_copies_work_like_the_original(name: str, args: Any, kwargs: Any, inputs: Any) -> None:
    module = build(nn, name, args, kwargs)
    our_inputs, _ = make_inputs(inputs)
    module(*our_inputs) if "inplace" not in kwargs else None
    module.eval()
    twins = [copy.deepcopy(module)]
    twins.append(pickle.loads(pickle.dumps(module)))
    expected = to_torch(run(module, taeda, our_inputs))
    for twin in twins:
        assert repr(twin) == repr(module)
        assert twin.state_dict()._metadata == module.state_dict()._metadata
        assert not (vars(twin).keys() ^ vars(module).keys()) - HOOK_TABLES  # empty hook tables do not travel
        for key, value in twin.state_dict().items():
            assert value.data_ptr() != module.state_dict()[key].data_ptr() or value.numel() == 0
        assert_same(run(twin, taeda, our_inputs), expected)


def test_every_module_class_is_there() -> None:
    theirs = {name for name in dir(torch.nn) if isinstance(getattr(torch.nn, name), type)}
    assert theirs <= {*dir(nn), *nn.__all__}


@pytest.mark.parametrize("n, kind", [(n, kind) for n in (1, 2, 3) for kind in ("plain", "size", "stride")])
def test_max_unpool(n: int, kind: str) -> None:
    kwargs = {"stride": 1} if kind == "stride" else {}
    size = SHAPES[n][0][2:] if kind == "size" else None
    results = []
    for package, convert in ((nn, to_taeda), (torch.nn, lambda x: x)):
        torch.manual_seed(0)
        x = convert(torch.randn(SHAPES[n][0] if kind == "size" else (2, 3, 4, 6, 4)[: n + 2]))
        pooled, indices = getattr(package, f"MaxPool{n}d")(2, return_indices=True, **kwargs)(x)
        results.append(getattr(package, f"MaxUnpool{n}d")(2, **kwargs)(pooled, indices, output_size=size))
    assert_same(*results)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_transposed_output_size(n: int) -> None:
    ours, theirs = (build(p, f"ConvTranspose{n}d", (4, 2, 3), {"stride": 3}) for p in (nn, torch.nn))
    x = torch.randn(SHAPES[n][0])
    for extra in (0, 1, 2):
        size = [3 * extent + extra for extent in x.shape[2:]]
        assert_same(ours(to_taeda(x), output_size=size), theirs(x, output_size=size))
    for wrong in ([3 * extent + 3 for extent in x.shape[2:]], [1] * (n + 1)):
        with pytest.raises(ValueError, match="output_size"):
            ours(to_taeda(x), output_size=wrong)


MASKS = {
    "none": {},
    "bool": {"attn_mask": lambda: torch.rand(5, 4) > 0.8},
    "float3": {"attn_mask": lambda: torch.randn(6, 5, 4)},
    "padding": {"key_padding_mask": lambda: torch.tensor([[0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1]]).bool()},
    "both": {"attn_mask": lambda: torch.randn(5, 4), "key_padding_mask": lambda: torch.randn(3, 4)},
}


@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("extra", [{}, {"add_bias_kv": True}, {"add_zero_attn": True}])
@pytest.mark.parametrize("average", [True, False])
def test_attention_masks(masks: str, need_weights: bool, extra: Any, average: bool) -> None:
    torch.manual_seed(1)
    given = {name: make() for name, make in MASKS[masks].items()}
    query, key, value = torch.randn(5, 3, 8), torch.randn(4, 3, 8), torch.randn(4, 3, 8)
    ours, theirs = (build(p, "MultiheadAttention", (8, 2), extra) for p in (nn, torch.nn))
    options = {"need_weights": need_weights, "average_attn_weights": average}
    expected = theirs(query, key, value, **given, **options)
    assert_same(ours(*to_taeda([query, key, value]), **to_taeda(given), **options), expected)


@pytest.mark.parametrize("is_causal", [None, True, False])
def test_encoder_with_masks(is_causal: bool | None) -> None:
    encoders = []
    for package in (nn, torch.nn):
        layer = build(package, "TransformerEncoderLayer", (8, 2, 16, 0.0), {})
        encoders.append(package.TransformerEncoder(layer, 2, package.LayerNorm(8), enable_nested_tensor=False))
    assert repr(encoders[0]) == repr(encoders[1])
    x = torch.randn(5, 3, 8)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(5)
    assert_same(nn.Transformer.generate_square_subsequent_mask(5), mask)
    for padding in (None, torch.tensor([[False] * 4 + [True]] * 3)):
        if padding is not None:
            padding = torch.zeros(3, 5).masked_fill(padding, float("-inf"))
        expected = encoders[1](x, mask, padding, is_causal=is_causal)
        assert_same(encoders[0](to_taeda(x), to_taeda(mask), to_taeda(padding), is_causal=is_causal), expected)


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("sort", [True, False])
def test_packed_sequences(name: str, sort: bool) -> None:
    lengths = [5, 3, 2] if sort else [2, 5, 3]
    x = torch.randn(5, 3, 4)
    results = []
    for package, data in ((nn, to_taeda(x)), (torch.nn, x)):
        pack = package.utils.rnn
        module = build(package, name, (4, 3), {"bidirectional": True})
        packed = pack.pack_padded_sequence(data, lengths, enforce_sorted=sort)
        output, state = module(packed)
        again, _ = module(packed, state)
        results.append([pack.pad_packed_sequence(output), state, again.data, again.batch_sizes])
    assert_same(*results)


BAD = [
    ("Linear", (3, 4), lambda m, t: m(t.ones(2, 4))),
    ("Conv2d", (3, 4, 3), lambda m, t: m(t.ones(2, 4, 5, 5))),
    ("BatchNorm1d", (3,), lambda m, t: m(t.ones(1, 3))),
    ("BatchNorm2d", (3,), lambda m, t: m(t.ones(1, 3))),
    ("InstanceNorm1d", (3,), lambda m, t: m(t.ones(1, 3, 1))),
    ("InstanceNorm1d", (3, 1e-5, 0.1, True), lambda m, t: m(t.ones(1, 4, 2))),
    ("GroupNorm", (1, 1), lambda m, t: m(t.ones(1, 1))),
    ("GroupNorm", (1, 1), lambda m, t: m(t.ones(1))),
    ("LSTM", (3, 4), lambda m, t: m(t.ones(2, 2, 2, 3))),
    ("LSTM", (3, 4), lambda m, t: m(t.ones(2, 2, 4))),
    ("LSTM", (3, 4), lambda m, t: m(t.ones(2, 2, 3).double())),
    ("GRU", (3, 4), lambda m, t: m(t.ones(2, 2, 3), t.ones(2, 4))),
    ("GRU", (3, 4), lambda m, t: m(t.ones(2, 3), t.ones(1, 1, 4))),
    ("GRU", (3, 4), lambda m, t: m(t.ones(2, 2, 3), t.ones(1, 2, 5))),
    ("LSTMCell", (3, 4), lambda m, t: m(t.ones(2, 2, 3))),
    ("LSTMCell", (3, 4), lambda m, t: m(t.ones(2, 2))),
    ("GRUCell", (3, 4), lambda m, t: m(t.ones(2, 3), t.ones(1, 3, 3))),
    ("RNNCell", (3, 4, True, "x"), lambda m, t: m(t.ones(2, 3))),
    ("Softmax2d", (), lambda m, t: m(t.ones(2, 3))),
    ("GLU", (), lambda m, t: m(t.ones(2, 3))),
    ("CircularPad2d", (1,), lambda m, t: m(t.ones(2, 3))),
    ("Embedding", (3, 2), lambda m, t: m(t.tensor([3]))),
    ("MultiheadAttention", (8, 2), lambda m, t: m(t.ones(8), t.ones(8), t.ones(8))),
    ("MultiheadAttention", (8, 2), lambda m, t: m(t.ones(2, 6), t.ones(2, 6), t.ones(2, 6))),
    ("MultiheadAttention", (8, 2), lambda m, t: m(*[t.ones(2, 8)] * 3, attn_mask=t.ones(3, 3))),
    ("MultiheadAttention", (8, 2), lambda m, t: m(*[t.ones(2, 8)] * 3, attn_mask=t.ones(2, 2).long())),
    ("MultiheadAttention", (8, 2), lambda m, t: m(*[t.ones(2, 1, 8)] * 3, key_padding_mask=t.ones(3).bool())),
    ("MultiheadAttention", (8, 2), lambda m, t: m(*[t.ones(2, 1, 8)] * 3, is_causal=True)),
    ("Transformer", (8, 2, 1, 1, 8), lambda m, t: m(t.ones(2, 1, 8), t.ones(2, 2, 8))),
    ("Transformer", (8, 2, 1, 1, 8), lambda m, t: m(t.ones(2, 1, 8), t.ones(2, 1, 6))),
    ("ReLU", (), lambda m, t: m()),
    ("Sequential", (3,), None),
    ("Linear", (), None),
    ("Conv2d", (3, 4, 3, 1, "foo"), None),
    ("Conv2d", (3, 4, 3, 2, "same"), None),
    ("Conv2d", (3, 4, 3, 1, 0, 1, 2), None),
    ("Conv2d", (4, 4, 3, 1, 0, 1, 0), None),
    ("Conv2d", (3, 4, 3, 1, 0, 1, 1, True, "foo"), None),
    ("ConvTranspose2d", (3, 4, 3, 1, 0, 0, 1, True, 1, "circular"), None),
    ("Dropout", (1.5,), None),
    ("Bilinear", (0, 1, 1), None),
    ("GroupNorm", (2, 3), None),
    ("Hardtanh", (1, 1), None),
    ("MultiheadAttention", (8, 3), None),
    ("MultiheadAttention", (0, 3), None),
    ("LSTM", (3, 0), None),
    ("LSTM", (3, 4, 0), None),
    ("LSTM", (3.0, 4), None),
    ("LSTM", (3, 4, 1, True, False, 2.0), None),
    ("LSTM", (3, 4, 1, True, False, 0.0, False, 4), None),
    ("RNN", (3, 4, 1, "foo"), None),
    ("Embedding", (3, 4, 3), None),
    ("TripletMarginLoss", (0,), None),
    ("MultiMarginLoss", (3,), None),
    ("Unflatten", (1.0, (2,)), None),
    ("Unflatten", (1, 2), None),
    ("Unflatten", ("a", (2,)), None),
    ("FractionalMaxPool2d", (2,), None),
    ("FractionalMaxPool2d", (2, 2, 0.5), None),
    ("FractionalMaxPool2d", (2, None, 1.5), None),
    ("AdaptiveLogSoftmaxWithLoss", (4, 5, [3, 3]), None),
    ("AdaptiveLogSoftmaxWithLoss", (4, 5, []), None),
    ("TransformerEncoderLayer", (8, 2, 8, 0.1, "tanh"), None),
    ("BatchNorm1d", (3, 0.0), lambda m, t: m(t.ones(2, 3))),
    ("BatchNorm1d", (3, -1.0), lambda m, t: m.eval()(t.ones(2, 3))),
    ("HuberLoss", ("mean", 1j), None),
    ("HuberLoss", ("mean", "1"), None),
    ("CrossEntropyLoss", (), lambda m, t: m(t.ones(2, 3), t.ones(2, 3).long())),
    ("CrossEntropyLoss", (), lambda m, t: m(t.ones(2, 3), t.ones(3).long())),
    ("CrossEntropyLoss", (), lambda m, t: m(t.ones(2, 3, 4), t.ones(2, 2).long())),
    ("NLLLoss", (), lambda m, t: m(t.ones(2, 3), t.ones(2, 3).long())),
    ("LSTM", (0, 2), None),
    ("GRU", (-1, 2), None),
    ("RNN", (2, 2, 1, "tanh", 1), None),
    ("LSTM", (2, 2, 1, True, 0), None),
    ("AdaptiveAvgPool2d", ((),), lambda m, t: m(t.ones(1, 2, 3, 3))),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, args, call", BAD, ids=[f"{i}-{case[0]}" for i, case in enumerate(BAD)])
def test_errors_have_the_same_type(name: str, args: Any, call: Any) -> None:
    def attempt(package: Any, root: Any) -> Any:
        module = getattr(package, name)(*args)
        return call(module, root)

    with pytest.raises(Exception) as theirs:
        attempt(torch.nn, torch)
    with pytest.raises(theirs.type) as ours:
        attempt(nn, taeda)
    assert ours.type is theirs.type


def test_warnings() -> None:
    for make in (
        lambda p: p.LSTM(2, 2, dropout=0.5),
        lambda p: p.MSELoss(size_average=False),
        lambda p: p.NLLLoss2d(),
        lambda p: p.Hardtanh(min_value=-2.0),
        lambda p: p.InstanceNorm1d(3)((taeda if p is nn else torch).ones(1, 2, 4)),
    ):
        kinds = []
        for package in (nn, torch.nn):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                make(package)
            kinds.append([warning.category for warning in caught])
        assert kinds[0] == kinds[1]
